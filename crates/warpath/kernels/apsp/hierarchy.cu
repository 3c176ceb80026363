// Rows over a hierarchy: a warp takes 64 sources, and a piece of the elimination tree. The host loop, and the essay, are in
// `src/cuda/apsp/hierarchy/mod.rs`.
//
// Source: Delling, Goldberg, Nowatzyk and Werneck 2013, "PHAST"; Dibbelt, Strasser and Wagner 2016, "Customizable
// contraction hierarchies"; Sao, Kannan, Gera and Vuduc 2020, "A supernodal all-pairs shortest path algorithm".
//
// registers: 80
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

/// The distances from the two sources of a thread.
template <class Lane>
struct alignas(2 * sizeof(typename Lane::Distance)) Two {
    using Distance = typename Lane::Distance;
    Distance of[2];

    __device__ __forceinline__ void lower(const Two& from, Distance length) {
        of[0] = min(of[0], Lane::sum(from.of[0], length));
        of[1] = min(of[1], Lane::sum(from.of[1], length));
    }

    __device__ __forceinline__ void lower(const Two& to) {
        of[0] = min(of[0], to.of[0]);
        of[1] = min(of[1], to.of[1]);
    }
};

/// The lengths to all vertices of a front from one vertex, read 16 bytes at a time.
template <class Distance>
struct Lengths {
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

    __device__ __forceinline__ Distance operator[](u32 column) const { return parts[column / each].of[column % each]; }
};

/// A warp walks up from a source. In shared memory each warp has the distances of all ancestors, by depth.
template <class Lane>
__device__ __forceinline__ void climb(const Climb<Lane>& up) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    Distance* const distances = reinterpret_cast<Distance*>(memory) + static_cast<u64>(warp_index()) * up.height;
    const u32 lane = lane_index(), index = warp_of_grid();
    if (index >= up.count) return;
    u32 rank = load_constant(&up.sources[index]);
    const u32 own_depth = load_constant(&up.positions[rank]).depth;
    for (u32 depth = lane; depth <= own_depth; depth += lanes_a_warp) {
        distances[depth] = depth == own_depth ? 0 : Lane::infinity;
    }
    Node node = load_constant(&up.nodes[rank]);
    for (u32 depth = own_depth;; depth--) {
        const u32 end = load_constant(&up.nodes[rank + 1]).arcs;
        const u32 begin = node.arcs, parent = node.parent;
        // The next one is on its way while this one is worked on.
        if (parent != no_parent) node = load_constant(&up.nodes[parent]);
        __syncwarp();
        const Distance here = distances[depth];
        if (here < Lane::infinity) {
            for (u32 arc = begin + lane; arc < end; arc += lanes_a_warp) {
                // The heads of a vertex are at different depths.
                const Arc<Distance> step = load_constant(&up.arcs[arc]);
                const Distance through = Lane::sum(here, step.weight);
                if (through < distances[step.head]) distances[step.head] = through;
            }
        }
        if (parent == no_parent) break;
        rank = parent;
    }
    __syncwarp();
    for (u32 depth = lane; depth <= own_depth; depth += lanes_a_warp) {
        store(&up.above[depth * up.stride + index], distances[depth]);
    }
}

/// The sources of a warp, and their distances by rank.
template <class Lane>
struct Group {
    using Distance = typename Lane::Distance;
    const Sweep<Lane>& sweep;
    const u64 place;  // of this thread's sources
    const uint2 ranks;

    __device__ __forceinline__ Group(const Sweep<Lane>& sweep, u32 group)
        : sweep(sweep),
          place(static_cast<u64>(group) * sources + 2 * lane_index()),
          ranks(load_constant(reinterpret_cast<const uint2*>(&sweep.sources[place]))) {}

    __device__ __forceinline__ Two<Lane>* row(u32 rank) const {
        return reinterpret_cast<Two<Lane>*>(&sweep.by_rank[rank * sweep.stride + place]);
    }

    /// Lowers distances of a rank to what the climbs have found from sources below it.
    __device__ __forceinline__ void lower_to_climb(Two<Lane>& found, u32 rank) const {
        const Position position = load_constant(&sweep.positions[rank]);
        const Distance* const above = &sweep.above[position.depth * sweep.stride + place];
        if (position.first <= ranks.x && ranks.x <= rank) found.of[0] = min(found.of[0], load_constant(&above[0]));
        if (position.first <= ranks.y && ranks.y <= rank) found.of[1] = min(found.of[1], load_constant(&above[1]));
    }
};

/// A block takes a front and 64 sources. Its warps share the boundary; in shared memory each has the distances of all
/// vertices of the front that it has found.
template <class Lane>
__device__ __forceinline__ void take_front(const Sweep<Lane>& sweep) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const u32 index = sweep.level + blockIdx.x / sweep.groups;
    const Group<Lane> group(sweep, blockIdx.x % sweep.groups);
    const Front front = load_constant(&sweep.fronts[index]);
    // The lengths inside the front lie behind the distances.
    Distance* const triangle = reinterpret_cast<Distance*>(memory) + static_cast<u64>(warps) * columns * sources;
    for (u32 i = threadIdx.x; i < columns * columns; i += blockDim.x) {
        triangle[i] = load_constant(&sweep.triangles[static_cast<u64>(index) * columns * columns + i]);
    }
    Two<Lane> best[columns];
#pragma unroll
    for (u32 column = 0; column < columns; column++) best[column] = {{Lane::infinity, Lane::infinity}};
#pragma unroll 4
    for (u32 i = warp; i < front.boundary_count; i += warps) {
        const u64 at = front.boundary + i;
        // Earlier launches have written it.
        const Two<Lane> from = load_constant(group.row(load_constant(&sweep.front_boundaries[at])));
        const Lengths<Distance> lengths(&sweep.front_lengths[at * columns]);
#pragma unroll
        for (u32 column = 0; column < columns; column++) best[column].lower(from, lengths[column]);
    }
    // The distances of a vertex that a warp has found.
    const auto found_by = [&](u32 warp, u32 column) {
        return reinterpret_cast<Two<Lane>*>(memory) + (warp * columns + column) * lanes_a_warp + lane;
    };
#pragma unroll
    for (u32 column = 0; column < columns; column++) *found_by(warp, column) = best[column];
    __syncthreads();
    for (u32 column = warp; column < front.count; column += warps) {
        Two<Lane> least = *found_by(0, column);
        for (u32 other = 1; other < warps; other++) least.lower(*found_by(other, column));
        group.lower_to_climb(least, front.first + column);
        *found_by(0, column) = least;
    }
    __syncthreads();
    if (warp != 0) return;
#pragma unroll
    for (u32 column = 0; column < columns; column++) best[column] = *found_by(0, column);
#pragma unroll
    for (u32 top = columns - 1; top > 0; top--) {
        for (u32 column = 0; column < top; column++) best[column].lower(best[top], triangle[top * columns + column]);
    }
#pragma unroll
    for (u32 column = 0; column < columns; column++) {
        if (column < front.count) store(group.row(front.first + column), best[column]);
    }
}

/// A block takes a subtree, each of its warps 64 sources. In shared memory are the arcs, where those of each vertex end, and
/// for each warp the distances of the boundary and of the vertices from the top.
template <class Lane>
__device__ __forceinline__ void take_subtree(const Sweep<Lane>& sweep) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    Arc<Distance>* const arcs = reinterpret_cast<Arc<Distance>*>(memory);
    u32* const ends = reinterpret_cast<u32*>(arcs + sweep.most_arcs);
    const u32 before = (sweep.most_arcs * sizeof(Arc<Distance>) + most_vertices * sizeof(u32) + 15) / 16 * 16;
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const u32 parts = (sweep.groups + warps - 1) / warps;
    // Both at once.
    const uint4* const kept = reinterpret_cast<const uint4*>(&sweep.subtrees[blockIdx.x / parts]);
    const uint4 ranks = load_constant(&kept[0]), counts = load_constant(&kept[1]);
    const Subtree subtree{ranks.x, ranks.y, ranks.z, ranks.w, counts.x, counts.y, 0, 0};
    const u32 group_index = blockIdx.x % parts * warps + warp;
    const u32 top = subtree.first + subtree.count - 1;
    for (u32 i = threadIdx.x; i < subtree.arc_count; i += blockDim.x) {
        arcs[i] = load_constant(&sweep.subtree_arcs[subtree.arcs + i]);
    }
    for (u32 i = threadIdx.x; i < subtree.count; i += blockDim.x) ends[i] = load_constant(&sweep.ends[top - i]);
    __syncthreads();
    if (group_index >= sweep.groups) return;

    const Group<Lane> group(sweep, group_index);
    Two<Lane>* const own =
        reinterpret_cast<Two<Lane>*>(memory + before) + static_cast<u64>(warp) * sweep.most_slots * lanes_a_warp + lane;
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
    const auto is_here = [&](u32 rank) { return subtree.first <= rank && rank <= top; };
    const bool some_start_here = __ballot_sync(all_lanes, is_here(group.ranks.x) || is_here(group.ranks.y)) != 0;
    u32 arc = 0;
    for (u32 i = 0; i < subtree.count; i++) {
        const u32 rank = top - i, end = ends[i];
        Two<Lane> best{{Lane::infinity, Lane::infinity}};
#pragma unroll 4
        for (; arc < end; arc++) {
            const Arc<Distance> step = arcs[arc];
            best.lower(own[step.head * lanes_a_warp], step.weight);
        }
        if (some_start_here) group.lower_to_climb(best, rank);
        own[(subtree.boundary_count + i) * lanes_a_warp] = best;
        store(group.row(rank), best);
    }
}

/// A block makes a part of 32 rows, 32 vertices at a time.
template <class Lane>
__device__ __forceinline__ void transpose(const Transposition<Lane>& rows) {
    using Distance = typename Lane::Distance;
    constexpr u32 vertices_a_block = 1024, tile = 32, warps = transposing / lanes_a_warp, each = tile / warps;
    __shared__ Distance distances[tile][tile + 1];
    const u32 parts = (rows.count + tile - 1) / tile;
    const u32 first_source = blockIdx.x % parts * tile, lane = lane_index();
    const u64 begin = static_cast<u64>(blockIdx.x / parts) * vertices_a_block;
    const u32 begin_after = static_cast<u32>(min(begin + vertices_a_block, static_cast<u64>(rows.vertices)));
    Distance greatest = 0;
    for (u32 first = static_cast<u32>(begin); first < begin_after; first += tile) {
        // All loads of a thread are on their way at once.
        Distance read[each];
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            const u32 vertex = first + warp_index() + k * warps;
            read[k] = Lane::infinity;
            if (vertex < begin_after) {
                read[k] = load_once(&rows.by_rank[load_constant(&rows.ranks[vertex]) * rows.stride + first_source + lane]);
            }
        }
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            const bool is_reached = read[k] < Lane::infinity;
            if (is_reached) greatest = max(greatest, read[k]);
            distances[warp_index() + k * warps][lane] = is_reached ? read[k] : Lane::unreachable;
        }
        __syncthreads();
        for (u32 i = warp_index(); i < tile; i += warps) {
            if (first_source + i < rows.count && first + lane < begin_after) {
                store_once(&rows.rows[(first_source + i) * rows.row_stride + first + lane], distances[lane][i]);
            }
        }
        __syncthreads();
    }
    if (first_source + lane < rows.count) atomicMax(&rows.greatest[first_source + lane], static_cast<u64>(greatest));
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
