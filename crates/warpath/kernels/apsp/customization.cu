// The lengths of a hierarchy's shortcuts from those of the graph's arcs: tiles of the elimination tree by warps, and then its fronts,
// level after level. The host loop, and the essay, are in `src/cuda/customization.rs`.
//
// Source: Dibbelt, Strasser and Wagner 2016, "Customizable contraction hierarchies"; Duff and Reid 1983, "The multifrontal solution
// of indefinite sparse symmetric linear equations".
//
// registers: 168
// no-sass: STL
#include "hierarchy.cuh"
#include "../generated/apsp/customization.cuh"

namespace apsp_customization {

/// Sums that reach the greatest number stay there.
template <class Lane>
__device__ __forceinline__ typename Lane::Distance sum(typename Lane::Distance a, typename Lane::Distance b) {
    return apsp_hierarchy::Full<Lane>::sum(a, b);
}

/// The place of a vertex in an ascending part of a list that has it. `guess` is looked at first.
__device__ __forceinline__ u32 place_of(const u32* list, u32 begin, u32 end, u32 guess, u32 vertex) {
    if (begin <= guess && guess < end && load_constant(&list[guess]) == vertex) return guess;
    while (end - begin > 1) {
        const u32 middle = begin + (end - begin) / 2;
        if (load_constant(&list[middle]) <= vertex) begin = middle;
        else end = middle;
    }
    return begin;
}

/// Lowers a length to that of a way.
template <class Distance>
__device__ __forceinline__ void offer(Distance* length, Distance way) {
    if (way < load(length)) atomicMin(length, way);
}

/// A warp eliminates the vertices of a tile, from the bottom up: each offers the ways through it to shortcuts between its later
/// neighbours, one a lane.
template <class Lane>
__device__ __forceinline__ void tiles(const Customization<Lane>& all) {
    using Distance = typename Lane::Distance;
    const u32 index = warp_of_grid(), lane = lane_index();
    if (index >= all.tile_count) return;
    const Tile tile = load_constant(&all.tiles[index]);
    for (u32 k = tile.count; k-- > 0;) {
        const u32 rank = load_constant(&all.ranks[tile.ranks + k]);
        const u32 first = load_constant(&all.offsets[rank]), width = load_constant(&all.offsets[rank + 1]) - first;
        const bool is_there = lane < width;
        const u32 head = is_there ? load_constant(&all.heads[first + lane]) : 0;
        const Distance up = is_there ? load(&all.up[first + lane]) : Lane::unreachable;
        const Distance down = is_there && all.is_directed ? load(&all.down[first + lane]) : up;
        for (u32 low = 0; low + 1 < width; low++) {
            const u32 lower = __shfl_sync(all_lanes, head, static_cast<int>(low));
            const Distance up_low = __shfl_sync(all_lanes, up, static_cast<int>(low));
            const Distance down_low = __shfl_sync(all_lanes, down, static_cast<int>(low));
            if (lane <= low || !is_there) continue;
            const u32 begin = load_constant(&all.offsets[lower]), end = load_constant(&all.offsets[lower + 1]);
            const u32 place = place_of(all.heads, begin, end, begin + lane - low - 1, head);
            offer(&all.up[place], sum<Lane>(down_low, up));
            if (all.is_directed) offer(&all.down[place], sum<Lane>(down, up_low));
        }
        // The next vertices read what was offered.
        device_fence();
        __syncwarp();
    }
}

/// The cell of a front's panel for the shortcut from a column to a later neighbour. A row has the boundary, and then the columns.
__device__ __forceinline__ u64 cell(const Front& front, u32 column, u32 target) {
    return front.panel + column * static_cast<u64>(front.boundary + front.columns) + target;
}

/// Calls `visit` with some shortcuts of some columns of a front, the column, and the target in the panel. A warp takes a column's.
template <class Lane, class Visit>
__device__ __forceinline__ void for_shortcuts(const Customization<Lane>& all, Visit visit) {
    constexpr u32 groups = most_columns / warps_a_block;
    const u32 index = blockIdx.x / all.parts, part = blockIdx.x % all.parts;
    const Front front = apsp_hierarchy::load_record(&all.fronts[all.level + index / groups]);
    const u32 column = index % groups * warps_a_block + warp_index();
    if (column >= front.columns) return;
    const u32 rank = front.first + column;
    const u32 row = load_constant(&all.offsets[rank]), row_end = load_constant(&all.offsets[rank + 1]);
    const u32 begin = row + part * a_warp, end = min(begin + a_warp, row_end);
    // The boundary is the later neighbours of the topmost column, and comes last in a row.
    const u32 boundary_end = front.boundary_first + front.boundary;
    for (u32 arc = begin + lane_index(); arc < end; arc += lanes_a_warp) {
        const u32 head = load_constant(&all.heads[arc]);
        const u32 above = head - front.first;
        if (above < front.columns) {
            visit(front, arc, column, front.boundary + above);
        } else {
            const u32 guess = boundary_end - (row_end - arc);
            visit(front, arc, column, place_of(all.heads, front.boundary_first, boundary_end, guess, head) - front.boundary_first);
        }
    }
}

/// Copies lengths to the panels of a level.
template <class Lane>
__device__ __forceinline__ void gather(const Customization<Lane>& all) {
    for_shortcuts(all, [&](const Front& front, u32 arc, u32 column, u32 target) {
        const u64 place = cell(front, column, target);
        store(&all.up_panels[place], load(&all.up[arc]));
        if (all.is_directed) store(&all.down_panels[place], load(&all.down[arc]));
    });
}

/// Copies lengths out of all panels.
template <class Lane>
__device__ __forceinline__ void scatter(const Customization<Lane>& all) {
    for_shortcuts(all, [&](const Front& front, u32 arc, u32 column, u32 target) {
        // Settled lengths between columns are below the diagonal.
        const bool is_inside = target >= front.boundary;
        const u64 place = is_inside ? cell(front, target - front.boundary, front.boundary + column) : cell(front, column, target);
        store(&all.up[arc], load_constant(&all.up_panels[place]));
        if (all.is_directed) store(&all.down[arc], load_constant(&all.down_panels[place]));
    });
}

/// Lowers the lengths of a thread's vertex of the boundary, one for each column, to those of the ways over columns below.
template <class Lane>
__device__ __forceinline__ void settle_target(
    typename Lane::Distance* panel, const Front& front, u32 target,
    const typename Lane::Distance (&back)[most_columns][most_columns + 1]) {
    typename Lane::Distance lengths[most_columns];
#pragma unroll
    for (u32 column = 0; column < most_columns; column++) {
        lengths[column] = column < front.columns ? load(&panel[cell(front, column, target)]) : Lane::unreachable;
    }
#pragma unroll
    for (u32 column = 1; column < most_columns; column++) {
        if (column >= front.columns) break;
#pragma unroll
        for (u32 below = 0; below < column; below++) {
            lengths[column] = min(lengths[column], sum<Lane>(back[below][column], lengths[below]));
        }
        store(&panel[cell(front, column, target)], lengths[column]);
    }
}

/// A block settles the lengths from the columns of a front to a part of its boundary. Each block of a front settles those between
/// columns by itself.
template <class Lane>
__device__ __forceinline__ void settle(const Customization<Lane>& all) {
    using Distance = typename Lane::Distance;
    __shared__ Distance inside[2][most_columns][most_columns + 1];
    const Front front = apsp_hierarchy::load_record(&all.fronts[all.level + blockIdx.x / all.parts]);
    const u32 part = blockIdx.x % all.parts;
    if (part > 0 && part * blockDim.x >= front.boundary) return;
    const u32 directions = all.is_directed ? 2 : 1, warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const bool is_inside = lane < front.columns;
    for (u32 direction = 0; direction < directions; direction++) {
        const Distance* const panel = direction == 0 ? all.up_panels : all.down_panels;
        for (u32 column = warp; column < front.columns; column += warps) {
            if (is_inside && column < lane) inside[direction][column][lane] = load(&panel[cell(front, column, front.boundary + lane)]);
        }
    }
    auto& up = inside[0];
    auto& down = inside[directions - 1];
    for (u32 below = 0; below < front.columns; below++) {
        __syncthreads();
        for (u32 column = warp; column < front.columns; column += warps) {
            if (column <= below || lane <= column || !is_inside) continue;
            up[column][lane] = min(up[column][lane], sum<Lane>(down[below][column], up[below][lane]));
            if (all.is_directed) down[column][lane] = min(down[column][lane], sum<Lane>(down[below][lane], up[below][column]));
        }
    }
    __syncthreads();
    for (u32 direction = 0; direction < directions && part == 0; direction++) {
        Distance* const panel = direction == 0 ? all.up_panels : all.down_panels;
        for (u32 column = warp; column < front.columns; column += warps) {
            // Below the diagonal: other blocks may be reading what is above.
            if (is_inside && column < lane) store(&panel[cell(front, lane, front.boundary + column)], inside[direction][column][lane]);
        }
    }
    const u32 target = part * blockDim.x + threadIdx.x;
    if (target >= front.boundary) return;
    settle_target<Lane>(all.up_panels, front, target, down);
    if (all.is_directed) settle_target<Lane>(all.down_panels, front, target, up);
}

/// A warp offers the ways from a vertex of a front's boundary over its columns to some of those that come later there.
template <class Lane>
__device__ __forceinline__ void offer_ways(const Customization<Lane>& all) {
    using Distance = typename Lane::Distance;
    constexpr u32 at_once = 8;
    const u32 index = blockIdx.x / all.parts, part = blockIdx.x % all.parts;
    const Front front = apsp_hierarchy::load_record(&all.fronts[all.level + index / all.rows]);
    const u32 low = index % all.rows * warps_a_block + warp_index(), lane = lane_index();
    const u32 begin = low + 1 + part * a_warp, end = min(begin + a_warp, front.boundary);
    if (begin >= end) return;
    const Distance* const down_panels = all.is_directed ? all.down_panels : all.up_panels;
    const u32 own_column = min(lane, front.columns - 1);
    const Distance up_low = load_constant(&all.up_panels[cell(front, own_column, low)]);
    const Distance down_low = load_constant(&down_panels[cell(front, own_column, low)]);
    const u32 lower = load_constant(&all.heads[front.boundary_first + low]);
    const u32 row = load_constant(&all.offsets[lower]), row_end = load_constant(&all.offsets[lower + 1]);
    for (u32 first = begin; first < end; first += lanes_a_warp) {
        // Lanes beyond the end do what the last one does.
        const u32 high = min(first + lane, end - 1);
        Distance up = Lane::unreachable, down = Lane::unreachable;
        for (u32 first_column = 0; first_column < front.columns; first_column += at_once) {
            Distance up_high[at_once], down_high[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const u64 place = cell(front, min(first_column + k, front.columns - 1), high);
                up_high[k] = load_constant(&all.up_panels[place]);
                if (all.is_directed) down_high[k] = load_constant(&down_panels[place]);
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const int column = static_cast<int>(min(first_column + k, front.columns - 1));
                up = min(up, sum<Lane>(__shfl_sync(all_lanes, down_low, column), up_high[k]));
                const Distance from_low = __shfl_sync(all_lanes, up_low, column);
                if (all.is_directed) down = min(down, sum<Lane>(down_high[k], from_low));
            }
        }
        const u32 head = load_constant(&all.heads[front.boundary_first + high]);
        const u32 place = place_of(all.heads, row, row_end, row_end - (front.boundary - high), head);
        offer(&all.up[place], up);
        if (all.is_directed) offer(&all.down[place], down);
    }
}

#define WARPATH_CUSTOMIZATION(lane, Lane)                                                     \
    WARPATH_KERNEL_IN_LANE(apsp_customization_tiles, tiles, Customization, lane, Lane)        \
    WARPATH_KERNEL_IN_LANE(apsp_customization_gather, gather, Customization, lane, Lane)      \
    WARPATH_KERNEL_IN_LANE(apsp_customization_settle, settle, Customization, lane, Lane)      \
    WARPATH_KERNEL_IN_LANE(apsp_customization_offer, offer_ways, Customization, lane, Lane)   \
    WARPATH_KERNEL_IN_LANE(apsp_customization_scatter, scatter, Customization, lane, Lane)

WARPATH_CUSTOMIZATION(u32_u32, LaneNarrow)
WARPATH_CUSTOMIZATION(u32_u64, LaneWide)

}  // namespace apsp_customization
