// Sweeps over a hierarchy: a warp takes 64 sources, and a part of the elimination tree. The host loop, and the essay, are in
// `src/cuda/apsp/hierarchy/mod.rs`.
//
// Source: Delling, Goldberg, Nowatzyk and Werneck 2013, "PHAST"; Dibbelt, Strasser and Wagner 2016, "Customizable
// contraction hierarchies"; Sao, Kannan, Gera and Vuduc 2020, "A supernodal all-pairs shortest path algorithm".
//
// registers: 112
// no-sass: STL
#include "hierarchy.cuh"

namespace apsp_hierarchy {

/// A block walks up from a source, until its way is also that of its neighbours. The distances of all ancestors, by depth, are in
/// shared memory, or where the tree is too high for that, in their places from the start. While a vertex is worked on, the arcs of
/// its parent are on their way.
template <class Lane, bool in_shared>
__device__ __forceinline__ void walk_alone(const Climb<Lane>& up) {
    using Distance = typename Lane::Distance;
    using Step = Arc<Distance>;
    DYNAMIC_SHARED(memory);
    const u32 index = blockIdx.x;
    const auto distance = [&](u32 depth) -> Distance& {
        if constexpr (in_shared) return reinterpret_cast<Distance*>(memory)[depth];
        else return up.above[depth * up.stride + index];
    };
    const u32 rank = load_constant(&up.sources[index]);
    const u32 meeting = load_constant(&up.meetings[index / climbing_together]).rank;
    const u32 own_depth = load_constant(&up.positions[rank]).depth;
    for (u32 depth = threadIdx.x; depth <= own_depth; depth += blockDim.x) {
        distance(depth) = depth == own_depth ? 0 : Lane::infinity;
    }
    const auto lower = [&](Distance here, const Step& step) {
        // The heads of a vertex are at different depths.
        const Distance through = Lane::sum(here, step.weight);
        Distance& there = distance(step.head);
        if (through < there) there = through;
    };
    if (rank < meeting) {
        Node node = load_constant(&up.nodes[rank]);
        u32 end = load_constant(&up.nodes[rank + 1]).arcs;
        Step first{};
        if (node.arcs + threadIdx.x < end) first = load_constant(&up.arcs[node.arcs + threadIdx.x]);
        for (u32 depth = own_depth;; depth--) {
            const Node now = node;
            const u32 end_now = end;
            const Step first_now = first;
            // Having no parent counts as the greatest rank.
            const bool is_last = now.parent >= meeting;
            if (!is_last) {
                node = load_constant(&up.nodes[now.parent]);
                end = load_constant(&up.nodes[now.parent + 1]).arcs;
                if (node.arcs + threadIdx.x < end) first = load_constant(&up.arcs[node.arcs + threadIdx.x]);
            }
            __syncthreads();
            const Distance here = distance(depth);
            u32 arc = now.arcs + threadIdx.x;
            if (here < Lane::infinity && arc < end_now) {
                lower(here, first_now);
                for (arc += blockDim.x; arc < end_now; arc += blockDim.x) lower(here, load_constant(&up.arcs[arc]));
            }
            if (is_last) break;
        }
    }
    if constexpr (in_shared) {
        __syncthreads();
        for (u32 depth = threadIdx.x; depth <= own_depth; depth += blockDim.x) {
            store(&up.above[depth * up.stride + index], distance(depth));
        }
    }
}

template <class Lane>
__device__ __forceinline__ void climb_alone(const Climb<Lane>& up) {
    if (up.in_shared) {
        walk_alone<Lane, true>(up);
    } else {
        walk_alone<Lane, false>(up);
    }
}

/// A block takes sources whose ways up have met, one a lane, and goes up front after front. Its warps share the vertices of
/// the boundary, eight at a time. In shared memory are the distances of the front.
template <class Lane>
__device__ __forceinline__ void climb_together(const Climb<Lane>& up) {
    using Distance = typename Lane::Distance;
    static_assert(climbing_together == lanes_a_warp, "a lane has a source");
    __shared__ Distance here[most_columns][lanes_a_warp];
    __shared__ Lengths<Lane, columns> staged[climbing_warps][most_columns];
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const u32 index = blockIdx.x * climbing_together + lane;
    const bool is_source = index < up.count;
    const Meeting meeting = load_constant(&up.meetings[blockIdx.x]);
    const auto above = [&](u32 depth) { return &up.above[depth * up.stride + index]; };
    // The sources come to a front at some vertex of it. Those that were on it before have passed what is below.
    u32 next = meeting.front, from_rank = meeting.rank;
    while (next != no_parent) {
        const Front front = load_record(&up.fronts[next]);
        for (u32 column = warp; column < front.columns; column += warps) {
            const bool is_above = is_source && front.first + column >= from_rank;
            here[column][lane] = is_above ? load(above(front.depth - column)) : Lane::infinity;
        }
        __syncthreads();
        for (u32 eighth = warp; eighth * columns < front.targets; eighth += warps) {
            const u32 first = eighth * columns, count = min(front.targets - first, columns);
            // Columns come after the boundary. Those below where the sources came are above none, or done.
            const u32 below = front.targets - front.columns, passed = below + max(from_rank, front.first) - front.first;
            const auto is_target = [&](u32 k) {
                return is_source && k < count && (first + k < below || first + k >= passed);
            };
            u32 depths[columns];
            Distance found[columns];
#pragma unroll
            for (u32 k = 0; k < columns; k++) {
                depths[k] = k < count ? load_constant(&up.depths[front.depths + first + k]) : 0;
                found[k] = is_target(k) ? load(above(depths[k])) : Lane::infinity;
            }
            const u64 row = static_cast<u64>(front.lengths) + eighth * front.columns;
            stage(staged[warp][0].of, &up.lengths[row * columns], front.columns * columns);
            __syncwarp();
#pragma unroll 4
            for (u32 column = 0; column < front.columns; column++) {
                const Lengths<Lane, columns> to = staged[warp][column];
                const Distance from = here[column][lane];
#pragma unroll
                for (u32 k = 0; k < columns; k++) found[k] = min(found[k], Lane::sum(from, to.of[k]));
            }
            __syncwarp();
#pragma unroll
            for (u32 k = 0; k < columns; k++) {
                if (is_target(k)) store(above(depths[k]), found[k]);
            }
        }
        next = front.parent_front;
        from_rank = front.parent;
        __syncthreads();
    }
}

/// A block takes `width` vertices of a front and the sources of a warp. Its warps share the boundary; in shared memory are, for
/// each warp, lengths, and then the distances that it has found.
template <class Lane, bool sums, u32 width>
__device__ __forceinline__ void take_columns(const Sweep<Lane>& sweep, const Part& part, Group<Lane, sums>& group) {
    using Distance = typename Lane::Distance;
    /// Distances that are on their way at once.
    constexpr u32 ahead = 32 / sizeof(Held<Lane>);
    DYNAMIC_SHARED(memory);
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const Distance* const lengths = &sweep.lengths[static_cast<u64>(part.lengths) * narrow_columns];
    Distance* const staged = reinterpret_cast<Distance*>(memory) + warp * width * sources;
    Held<Lane> best[width];
#pragma unroll
    for (u32 column = 0; column < width; column++) best[column] = Held<Lane>::none();
    const u32 top = part.first + part.columns - 1;
    if (group.some_start_in(load_constant(&sweep.positions[top]).first, top)) {
        for (u32 k = warp; k < part.columns; k += warps) {
            Held<Lane> from = Held<Lane>::none();
            group.lower_to_climb(from, part.first + k);
            const Distance* const to = lengths + static_cast<u64>(part.boundary_count + k) * width;
#pragma unroll
            for (u32 column = 0; column < width; column++) best[column].lower(from, load_constant(&to[column]));
        }
    }
    for (u32 first = warp * lanes_a_warp; first < part.boundary_count; first += warps * lanes_a_warp) {
        // A lane reads a vertex of the boundary. Earlier launches have written the distances.
        const u32 left = min(part.boundary_count - first, lanes_a_warp);
        const u32 vertex = lane < left ? load_constant(&sweep.boundaries[part.boundary + first + lane]) : 0;
        stage(staged, lengths + static_cast<u64>(first) * width, left * width);
        __syncwarp();
        for (u32 begin = 0; begin < left; begin += ahead) {
            Held<Lane> from[ahead];
#pragma unroll
            for (u32 k = 0; k < ahead; k++) {
                const u32 of_lane = __shfl_sync(all_lanes, vertex, static_cast<int>(begin + k));
                from[k] = begin + k < left ? load_constant(group.row(of_lane)) : Held<Lane>::none();
            }
#pragma unroll
            for (u32 k = 0; k < ahead; k++) {
                // From those that are too many there is no way.
                const Lengths<Lane, width> to = reinterpret_cast<const Lengths<Lane, width>*>(staged)[min(begin + k, left - 1)];
#pragma unroll
                for (u32 column = 0; column < width; column++) best[column].lower(from[k], to.of[column]);
            }
        }
        __syncwarp();
    }
    if (warps == 1) {
#pragma unroll
        for (u32 column = 0; column < width; column++) {
            if (column < part.count) group.keep(part.place + column, best[column]);
        }
        group.report();
        return;
    }
    const auto found_by = [&](u32 warp, u32 column) {
        return reinterpret_cast<Held<Lane>*>(memory) + (warp * width + column) * lanes_a_warp + lane;
    };
#pragma unroll
    for (u32 column = 0; column < width; column++) *found_by(warp, column) = best[column];
    __syncthreads();
    for (u32 column = warp; column < part.count; column += warps) {
        Held<Lane> least = *found_by(0, column);
        for (u32 other = 1; other < warps; other++) least.lower(*found_by(other, column));
        group.keep(part.place + column, least);
    }
    group.report();
}

/// A block takes a part of a front.
template <class Lane, bool sums>
__device__ __forceinline__ void take_front(const Sweep<Lane>& sweep) {
    Group<Lane, sums> group(sweep, blockIdx.x % sweep.groups);
    const Part part = load_record(&sweep.parts[sweep.level + blockIdx.x / sweep.groups]);
    if (part.count <= narrow_columns) {
        take_columns<Lane, sums, narrow_columns>(sweep, part, group);
    } else {
        take_columns<Lane, sums, columns>(sweep, part, group);
    }
}
/// A block takes some tiles, one after another, each of its warps the sources of one, and counts. In shared memory are the arcs, and for
/// each warp a slot for the distances of each vertex.
template <class Lane>
__device__ __forceinline__ void tile_sums(const Sweep<Lane>& sweep) {
    DYNAMIC_SHARED(memory);
    auto* const arcs = reinterpret_cast<Arc<typename Lane::Distance>*>(memory);
    const u32 warp = warp_index(), warps = warps_of_block();
    Held<Lane>* const own = reinterpret_cast<Held<Lane>*>(arcs + sweep.most_arcs) +
                            static_cast<u64>(warp) * sweep.most_slots * lanes_a_warp + lane_index();
    const u32 runs = (sweep.tile_count + sweep.tiles_a_block - 1) / sweep.tiles_a_block, run = blockIdx.x % runs;
    const u32 group_index = blockIdx.x / runs * warps + warp;
    const bool has_sources = group_index < sweep.groups;
    Group<Lane, true> group(sweep, has_sources ? group_index : 0);
    const u32 end = min((run + 1) * sweep.tiles_a_block, sweep.tile_count);
    for (u32 index = run * sweep.tiles_a_block; index < end; index++) {
        const Tile tile = load_record(&sweep.tiles[index]);
        // Nobody works on the tile before any more.
        __syncthreads();
        for (u32 i = threadIdx.x; i < tile.batch_count * batch; i += blockDim.x) {
            arcs[i] = load_constant(&sweep.arcs[static_cast<u64>(tile.batches) * batch + i]);
        }
        __syncthreads();
        if (!has_sources) continue;
        work_on_tile(sweep, tile, arcs, own, group, [&](u32, const Held<Lane>& found) { group.note(found); });
    }
    if (has_sources) group.report();
}

template <class Lane>
__device__ __forceinline__ void front(const Sweep<Lane>& sweep) { take_front<Lane, false>(sweep); }
template <class Lane>
__device__ __forceinline__ void front_sums(const Sweep<Lane>& sweep) { take_front<Lane, true>(sweep); }

/// A thread adds up what was counted from a source.
template <class Lane>
__device__ __forceinline__ void add_up(const Sums<Lane>& sums) {
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= sums.count) return;
    Facts facts{};
    for (u32 k = 0; k < counters_a_source; k++) {
        const u64* const counters = &sums.counters[static_cast<u64>(k) * counted * sums.stride + index];
        facts.reached += load_constant(&counters[0]);
        facts.greatest = max(facts.greatest, load_constant(&counters[sums.stride]));
        facts.low += load_constant(&counters[2 * sums.stride]);
        facts.high += load_constant(&counters[3 * sums.stride]);
    }
    sums.facts[load_constant(&sums.row_of[index])] = facts;
}

#define WARPATH_HIERARCHY(kind, lane, Lane)                                                            \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##climb_alone, climb_alone, Climb, lane, Lane)         \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##climb_together, climb_together, Climb, lane, Lane)   \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##front, front, Sweep, lane, Lane)                     \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##front_sums, front_sums, Sweep, lane, Lane)           \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##tile_sums, tile_sums, Sweep, lane, Lane)             \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##add_up, add_up, Sums, lane, Lane)

WARPATH_HIERARCHY(, u32_u32, Half<LaneNarrow>)
WARPATH_HIERARCHY(full_, u32_u32, Full<LaneNarrow>)
WARPATH_HIERARCHY(, u32_u64, Half<LaneWide>)

}  // namespace apsp_hierarchy
