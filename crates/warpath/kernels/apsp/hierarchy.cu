// Rows over a hierarchy: a warp takes 64 sources, and a piece of the elimination tree. The host loop, and the essay, are in
// `src/cuda/apsp/hierarchy/mod.rs`.
//
// Source: Delling, Goldberg, Nowatzyk and Werneck 2013, "PHAST"; Dibbelt, Strasser and Wagner 2016, "Customizable
// contraction hierarchies"; Sao, Kannan, Gera and Vuduc 2020, "A supernodal all-pairs shortest path algorithm".
//
// registers: 96
// no-sass: STL
#include "../collectives.cuh"
#include "../sssp/lanes.cuh"
#include "../generated/apsp/hierarchy.cuh"

namespace apsp_hierarchy {

/// Distances below half of what their type has room for: two of them add up without wrapping.
template <class Lane>
struct Half {
    using Distance = typename Lane::Distance;
    /// The length of a way that there is not.
    static constexpr Distance infinity = ~static_cast<Distance>(0) >> 1;
    static constexpr Distance unreachable = Lane::unreachable;
    static __device__ __forceinline__ Distance sum(Distance a, Distance b) { return a + b; }
};

/// All distances that their type has room for.
template <class Lane>
struct Full {
    using Distance = typename Lane::Distance;
    static constexpr Distance infinity = ~static_cast<Distance>(0);
    static constexpr Distance unreachable = Lane::unreachable;
    static __device__ __forceinline__ Distance sum(Distance a, Distance b) {
        const Distance sum = a + b;
        return sum < a ? infinity : sum;
    }
};

/// The distances from the sources of a thread.
template <class Lane>
struct alignas(sources / lanes_a_warp * sizeof(typename Lane::Distance)) Held {
    using Distance = typename Lane::Distance;
    static constexpr u32 count = sources / lanes_a_warp;
    Distance of[count];

    static __device__ __forceinline__ Held none() {
        Held held;
#pragma unroll
        for (u32 k = 0; k < count; k++) held.of[k] = Lane::infinity;
        return held;
    }

    /// By the way over vertices that have the distances `from`.
    __device__ __forceinline__ void lower(const Held& from, Distance length) {
#pragma unroll
        for (u32 k = 0; k < count; k++) of[k] = min(of[k], Lane::sum(from.of[k], length));
    }

    __device__ __forceinline__ void lower(const Held& to) {
#pragma unroll
        for (u32 k = 0; k < count; k++) of[k] = min(of[k], to.of[k]);
    }
};

/// The lengths to all vertices of a front from one vertex, read 16 bytes at a time.
template <class Lane>
struct Lengths {
    using Distance = typename Lane::Distance;
    static constexpr u32 each = 16 / sizeof(Distance);
    struct alignas(16) Part {
        Distance of[each];
    };
    Part parts[columns / each];

    __device__ __forceinline__ explicit Lengths(const Distance* from) {
#pragma unroll
        for (u32 part = 0; part < columns / each; part++) {
            parts[part] = load_constant(reinterpret_cast<const Part*>(from) + part);
        }
    }

    __device__ __forceinline__ Distance operator[](u32 column) const {
        return parts[column / each].of[column % each];
    }
};

/// A block walks up from a source. In shared memory are the distances of all ancestors, by depth. While a vertex is worked on,
/// the arcs of its parent are on their way.
template <class Lane>
__device__ __forceinline__ void climb(const Climb<Lane>& up) {
    using Distance = typename Lane::Distance;
    using Step = Arc<Distance>;
    DYNAMIC_SHARED(memory);
    Distance* const distances = reinterpret_cast<Distance*>(memory);
    const u32 index = blockIdx.x;
    const u32 rank = load_constant(&up.sources[index]);
    const u32 own_depth = load_constant(&up.positions[rank]).depth;
    for (u32 depth = threadIdx.x; depth <= own_depth; depth += blockDim.x) {
        distances[depth] = depth == own_depth ? 0 : Lane::infinity;
    }
    const auto lower = [&](Distance here, const Step& step) {
        // The heads of a vertex are at different depths.
        const Distance through = Lane::sum(here, step.weight);
        if (through < distances[step.head]) distances[step.head] = through;
    };
    Node node = load_constant(&up.nodes[rank]);
    u32 end = load_constant(&up.nodes[rank + 1]).arcs;
    Step first{};
    if (node.arcs + threadIdx.x < end) first = load_constant(&up.arcs[node.arcs + threadIdx.x]);
    for (u32 depth = own_depth;; depth--) {
        const Node now = node;
        const u32 end_now = end;
        const Step first_now = first;
        const bool is_last = now.parent == no_parent;
        if (!is_last) {
            node = load_constant(&up.nodes[now.parent]);
            end = load_constant(&up.nodes[now.parent + 1]).arcs;
            if (node.arcs + threadIdx.x < end) first = load_constant(&up.arcs[node.arcs + threadIdx.x]);
        }
        __syncthreads();
        const Distance here = distances[depth];
        u32 arc = now.arcs + threadIdx.x;
        if (here < Lane::infinity && arc < end_now) {
            lower(here, first_now);
            for (arc += blockDim.x; arc < end_now; arc += blockDim.x) lower(here, load_constant(&up.arcs[arc]));
        }
        if (is_last) break;
    }
    __syncthreads();
    for (u32 depth = threadIdx.x; depth <= own_depth; depth += blockDim.x) {
        store(&up.above[depth * up.stride + index], distances[depth]);
    }
}

/// The sources of a warp, and their distances by rank.
template <class Lane>
struct Group {
    using Distance = typename Lane::Distance;
    static constexpr u32 count = Held<Lane>::count;
    const Sweep<Lane>& sweep;
    const u64 place;  // of this thread's sources
    u32 ranks[count];

    __device__ __forceinline__ Group(const Sweep<Lane>& sweep, u32 group)
        : sweep(sweep), place(static_cast<u64>(group) * sources + count * lane_index()) {
#pragma unroll
        for (u32 k = 0; k < count; k++) ranks[k] = load_constant(&sweep.sources[place + k]);
    }

    __device__ __forceinline__ Held<Lane>* row(u32 rank) const {
        return reinterpret_cast<Held<Lane>*>(&sweep.by_rank[rank * sweep.stride + place]);
    }

    /// Whether some source of the warp is in a subtree.
    __device__ __forceinline__ bool some_start_in(u32 first, u32 last) const {
        bool is_there = false;
#pragma unroll
        for (u32 k = 0; k < count; k++) is_there |= first <= ranks[k] && ranks[k] <= last;
        return __ballot_sync(all_lanes, is_there) != 0;
    }

    /// Lowers distances of a rank to what the climbs have found from sources below it.
    __device__ __forceinline__ void lower_to_climb(Held<Lane>& found, u32 rank) const {
        const Position position = load_constant(&sweep.positions[rank]);
        const Distance* const above = &sweep.above[position.depth * sweep.stride + place];
#pragma unroll
        for (u32 k = 0; k < count; k++) {
            if (position.first <= ranks[k] && ranks[k] <= rank) {
                found.of[k] = min(found.of[k], load_constant(&above[k]));
            }
        }
    }
};

/// A block takes a front and the sources of a warp. Its warps share the boundary; in shared memory are the lengths inside the
/// front, and for each warp the distances of all its vertices that the warp has found.
template <class Lane>
__device__ __forceinline__ void take_front(const Sweep<Lane>& sweep) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const u32 index = sweep.level + blockIdx.x / sweep.groups;
    const Group<Lane> group(sweep, blockIdx.x % sweep.groups);
    const Front front = load_constant(&sweep.fronts[index]);
    Distance* const triangle = reinterpret_cast<Distance*>(memory);
    for (u32 i = threadIdx.x; i < front.count * columns; i += blockDim.x) {
        triangle[i] = load_constant(&sweep.triangles[static_cast<u64>(index) * columns * columns + i]);
    }
    Held<Lane> best[columns];
#pragma unroll
    for (u32 column = 0; column < columns; column++) best[column] = Held<Lane>::none();
    if (warp == 0) {
        const u32 top = front.first + front.count - 1;
        if (group.some_start_in(load_constant(&sweep.positions[top]).first, top)) {
#pragma unroll
            for (u32 column = 0; column < columns; column++) {
                if (column < front.count) group.lower_to_climb(best[column], front.first + column);
            }
        }
    }
    for (u32 first = warp * lanes_a_warp; first < front.boundary_count; first += warps * lanes_a_warp) {
        // A lane reads a rank of the boundary. Earlier launches have written the distances.
        const u32 left = min(front.boundary_count - first, lanes_a_warp);
        const u64 at = front.boundary + first;
        const u32 head = lane < left ? load_constant(&sweep.front_boundaries[at + lane]) : 0;
#pragma unroll 4
        for (u32 i = 0; i < left; i++) {
            const u32 rank = __shfl_sync(all_lanes, head, static_cast<int>(i));
            const Held<Lane> from = load_constant(group.row(rank));
            const Lengths<Lane> lengths(&sweep.front_lengths[(at + i) * columns]);
#pragma unroll
            for (u32 column = 0; column < columns; column++) best[column].lower(from, lengths[column]);
        }
    }
    if (warps > 1) {
        // The distances of a vertex that a warp has found.
        const auto found_by = [&](u32 warp, u32 column) {
            return reinterpret_cast<Held<Lane>*>(triangle + columns * columns) +
                   (warp * columns + column) * lanes_a_warp + lane;
        };
#pragma unroll
        for (u32 column = 0; column < columns; column++) *found_by(warp, column) = best[column];
        __syncthreads();
        for (u32 column = warp; column < front.count; column += warps) {
            Held<Lane> least = *found_by(0, column);
            for (u32 other = 1; other < warps; other++) least.lower(*found_by(other, column));
            *found_by(0, column) = least;
        }
        __syncthreads();
        if (warp != 0) return;
#pragma unroll
        for (u32 column = 0; column < columns; column++) best[column] = *found_by(0, column);
    }
    __syncwarp();
#pragma unroll
    for (u32 top = columns - 1; top > 0; top--) {
        // Beyond the front there is nothing, and no way from there.
        if (top >= front.count) continue;
#pragma unroll
        for (u32 column = 0; column < top; column++) best[column].lower(best[top], triangle[top * columns + column]);
    }
#pragma unroll
    for (u32 column = 0; column < columns; column++) {
        if (column < front.count) store(group.row(front.first + column), best[column]);
    }
}

/// Two arcs that are read at once.
template <class Distance>
struct alignas(4 * sizeof(Distance)) TwoArcs {
    Arc<Distance> arcs[2];
};

/// A block takes a subtree, each of its warps the sources of one. In shared memory are the arcs, where those of each vertex
/// end, and for each warp the distances of the boundary and of a vertex and its ancestors: a stack, since the vertices below one
/// follow it at once.
template <class Lane>
__device__ __forceinline__ void take_subtree(const Sweep<Lane>& sweep) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    TwoArcs<Distance>* const arcs = reinterpret_cast<TwoArcs<Distance>*>(memory);
    u32* const ends = reinterpret_cast<u32*>(arcs + sweep.most_arcs / 2);
    const u32 before = (sweep.most_arcs / 2 * sizeof(TwoArcs<Distance>) + most_vertices * sizeof(u32) + 15) / 16 * 16;
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const u32 parts = (sweep.groups + warps - 1) / warps;
    // Both at once.
    const uint4* const kept = reinterpret_cast<const uint4*>(&sweep.subtrees[blockIdx.x / parts]);
    const uint4 ranks = load_constant(&kept[0]), counts = load_constant(&kept[1]);
    const Subtree subtree{ranks.x, ranks.y, ranks.z, ranks.w, counts.x, counts.y, {0, 0}};
    const u32 group_index = blockIdx.x % parts * warps + warp;
    const u32 top = subtree.first + subtree.count - 1;
    Arc<Distance>* const single = reinterpret_cast<Arc<Distance>*>(memory);
    for (u32 i = threadIdx.x; i < subtree.arc_count; i += blockDim.x) {
        single[i] = load_constant(&sweep.subtree_arcs[subtree.arcs + i]);
    }
    for (u32 i = threadIdx.x; i < subtree.count; i += blockDim.x) ends[i] = load_constant(&sweep.ends[top - i]);
    __syncthreads();
    if (group_index >= sweep.groups) return;

    const Group<Lane> group(sweep, group_index);
    Held<Lane>* const own =
        reinterpret_cast<Held<Lane>*>(memory + before) + static_cast<u64>(warp) * sweep.most_slots * lanes_a_warp + lane;
    for (u32 first = 0; first < subtree.boundary_count; first += lanes_a_warp) {
        // A lane reads a rank of the boundary; the warp reads the distances of eight ranks at a time.
        const u32 left = min(subtree.boundary_count - first, lanes_a_warp);
        const u32 head = lane < left ? load_constant(&sweep.subtree_boundaries[subtree.boundary + first + lane]) : 0;
#pragma unroll 8
        for (u32 i = 0; i < left; i++) {
            const u32 rank = __shfl_sync(all_lanes, head, static_cast<int>(i));
            own[(first + i) * lanes_a_warp] = load_constant(group.row(rank));
        }
    }
    const bool some_start_here = group.some_start_in(subtree.first, top);
    u32 arc = 0;
    for (u32 i = 0; i < subtree.count; i++) {
        const u32 rank = top - i, slot = ends[i] >> 16, end = ends[i] & 0xffff;
        Held<Lane> best = Held<Lane>::none();
        if (some_start_here) group.lower_to_climb(best, rank);
#pragma unroll 2
        for (; arc < end; arc++) {
            const TwoArcs<Distance> two = arcs[arc];
            const Held<Lane> a = own[two.arcs[0].head * lanes_a_warp], b = own[two.arcs[1].head * lanes_a_warp];
            best.lower(a, two.arcs[0].weight);
            best.lower(b, two.arcs[1].weight);
        }
        own[slot * lanes_a_warp] = best;
        store(group.row(rank), best);
    }
}

/// A block makes a part of 64 rows, 64 vertices at a time.
template <class Lane>
__device__ __forceinline__ void transpose(const Transposition<Lane>& rows) {
    using Distance = typename Lane::Distance;
    constexpr u32 tile = 64, warps = transposing / lanes_a_warp, each = tile / warps, halves = tile / lanes_a_warp;
    __shared__ Distance distances[tile][tile + 1];
    const u32 parts = (rows.count + tile - 1) / tile;
    const u32 first_source = blockIdx.x % parts * tile, lane = lane_index(), warp = warp_index();
    const u64 begin = static_cast<u64>(blockIdx.x / parts) * transposed;
    const u32 begin_after = static_cast<u32>(min(begin + transposed, static_cast<u64>(rows.vertices)));
    Distance greatest[halves] = {};
    for (u32 first = static_cast<u32>(begin); first < begin_after; first += tile) {
        // All loads of a thread are on their way at once.
        Distance read[each][halves];
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            const u32 vertex = first + warp + k * warps;
#pragma unroll
            for (u32 half = 0; half < halves; half++) read[k][half] = Lane::infinity;
            if (vertex < begin_after) {
                const u32 rank = load_constant(&rows.ranks[vertex]);
                const Distance* const from = &rows.by_rank[rank * rows.stride + first_source + lane];
#pragma unroll
                for (u32 half = 0; half < halves; half++) read[k][half] = load_once(from + half * lanes_a_warp);
            }
        }
#pragma unroll
        for (u32 k = 0; k < each; k++) {
#pragma unroll
            for (u32 half = 0; half < halves; half++) {
                const bool is_reached = read[k][half] < Lane::infinity;
                if (is_reached) greatest[half] = max(greatest[half], read[k][half]);
                distances[warp + k * warps][half * lanes_a_warp + lane] = is_reached ? read[k][half] : Lane::unreachable;
            }
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            const u32 source = first_source + warp + k * warps;
            if (source >= rows.count) continue;
#pragma unroll
            for (u32 half = 0; half < halves; half++) {
                const u32 vertex = half * lanes_a_warp + lane;
                if (first + vertex < begin_after) {
                    store_once(&rows.rows[source * rows.row_stride + first + vertex], distances[vertex][warp + k * warps]);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (u32 half = 0; half < halves; half++) {
        const u32 source = first_source + half * lanes_a_warp + lane;
        if (source < rows.count) atomicMax(&rows.greatest[source], static_cast<u64>(greatest[half]));
    }
}

#define WARPATH_HIERARCHY(kind, lane, Lane)                                                       \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##climb, climb, Climb, lane, Lane)                \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##front, take_front, Sweep, lane, Lane)           \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##subtree, take_subtree, Sweep, lane, Lane)       \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##transpose, transpose, Transposition, lane, Lane)

WARPATH_HIERARCHY(, u32_u32, Half<LaneNarrow>)
WARPATH_HIERARCHY(full_, u32_u32, Full<LaneNarrow>)
WARPATH_HIERARCHY(, u32_u64, Half<LaneWide>)

}  // namespace apsp_hierarchy
