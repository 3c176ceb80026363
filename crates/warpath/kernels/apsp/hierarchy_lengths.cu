// The lengths of fronts as sweeps read them, from those of shortcuts: closed, in both layouts. The host's part, and the essay, are in
// `src/cuda/apsp/hierarchy/upload.rs`.
//
// registers: 208
// no-sass: STL
#include "hierarchy.cuh"

namespace apsp_hierarchy {

/// The place of a depth in a descending list that has it. `guess` is looked at first.
__device__ __forceinline__ u32 place_of_depth(const u32* depths, u32 count, u32 guess, u32 depth) {
    if (guess < count && load_constant(&depths[guess]) == depth) return guess;
    u32 begin = 0, end = count;
    while (end - begin > 1) {
        const u32 middle = begin + (end - begin) / 2;
        if (load_constant(&depths[middle]) >= depth) begin = middle;
        else end = middle;
    }
    return begin;
}

/// Where the lengths of a front are.
template <class Lane>
struct Room {
    using Distance = typename Lane::Distance;
    const Front front;
    Distance* const up;
    Distance* const down;

    __device__ __forceinline__ Room(const Closing<Lane>& closing, u32 index)
        : front(load_record(&closing.fronts[index])),
          up(&closing.up_lengths[front.lengths * static_cast<u64>(columns)]),
          down(&closing.down_lengths[load_constant(&closing.down_rows[index]) * static_cast<u64>(narrow_columns)]) {}

    __device__ __forceinline__ u32 boundary() const { return front.targets - front.columns; }

    /// Upwards: eight targets side by side, for each column.
    __device__ __forceinline__ Distance* up_cell(u32 column, u32 target) const {
        return &up[(target / columns * static_cast<u64>(front.columns) + column) * columns + target % columns];
    }

    /// How many columns the part of a column is read as.
    __device__ __forceinline__ u32 width(u32 column) const {
        return front.columns - column / columns * columns <= narrow_columns ? narrow_columns : columns;
    }

    /// Downwards: the columns of a part side by side, for each target.
    __device__ __forceinline__ Distance* down_cell(u32 column, u32 target) const {
        const u64 before = static_cast<u64>(column / columns * columns) * front.targets;
        return &down[before + static_cast<u64>(target) * width(column) + column % columns];
    }
};

/// Copies the lengths of shortcuts to their fronts. A warp takes some of a column's.
template <class Lane>
__device__ __forceinline__ void gather_lengths(const Closing<Lane>& closing) {
    constexpr u32 groups = most_columns / gathering_warps;
    const u32 index = blockIdx.x / closing.parts, part = blockIdx.x % closing.parts;
    const Room<Lane> room(closing, index / groups);
    const Front& front = room.front;
    const u32 column = index % groups * gathering_warps + warp_index();
    if (column >= front.columns) return;
    const u32 rank = front.first + column;
    const u32 row = load_constant(&closing.nodes[rank]).arcs, row_end = load_constant(&closing.nodes[rank + 1]).arcs;
    const u32 begin = row + part * gathered, end = min(begin + gathered, row_end);
    const u32 top = front.depth + 1 - front.columns;
    for (u32 arc = begin + lane_index(); arc < end; arc += lanes_a_warp) {
        const auto step = load_constant(&closing.arcs[arc]);
        // The boundary comes last in a row.
        const u32 guess = room.boundary() - (row_end - arc);
        const u32 target = step.head >= top
            ? room.boundary() + front.depth - step.head
            : place_of_depth(&closing.depths[front.depths], room.boundary(), guess, step.head);
        store(room.up_cell(column, target), step.weight);
        if (closing.is_directed) store(room.down_cell(column, target), load_constant(&closing.down[arc]));
    }
}

/// A thread has the lengths between a target and all columns, and lowers them to those of ways over columns above.
template <class Lane>
__device__ __forceinline__ void close_target(
    typename Lane::Distance (&lengths)[most_columns], u32 count,
    const typename Lane::Distance (&steps)[most_columns][most_columns + 1]) {
#pragma unroll
    for (u32 next = 2; next <= most_columns; next++) {
        const u32 column = most_columns - next;
        // All columns beyond the last are out of reach.
        if (column + 1 >= count) continue;
#pragma unroll
        for (u32 above = column + 1; above < most_columns; above++) {
            lengths[column] = min(lengths[column], Lane::sum(steps[column][above], lengths[above]));
        }
    }
}

/// A block closes the lengths between the columns of a front and some vertices of its boundary, or, once that is done for all of them,
/// the columns.
template <class Lane>
__device__ __forceinline__ void close_lengths(const Closing<Lane>& closing) {
    using Distance = typename Lane::Distance;
    __shared__ Distance steps[most_columns][most_columns + 1];
    const u32 part = blockIdx.x % closing.parts;
    const Room<Lane> room(closing, blockIdx.x / closing.parts);
    const Front& front = room.front;
    const u32 boundary = room.boundary();
    const u32 begin = closing.is_inside ? boundary : 0;
    const u32 target = begin + part * blockDim.x + threadIdx.x;
    // Eight targets are read at a time: those that there are not are out of reach.
    const u32 end = closing.is_inside ? (front.targets + columns - 1) / columns * columns : boundary;
    if (begin + part * blockDim.x >= end) return;
    for (u32 direction = 0; direction <= closing.is_directed; direction++) {
        const auto cell = [&](u32 column, u32 of) { return direction == 0 ? room.up_cell(column, of) : room.down_cell(column, of); };
        __syncthreads();
        for (u32 column = warp_index(); column < most_columns; column += warps_of_block()) {
            const u32 above = lane_index();
            const bool is_step = column < above && above < front.columns;
            steps[column][above] = is_step ? min(load(cell(column, boundary + above)), Lane::infinity) : Lane::infinity;
        }
        __syncthreads();
        if (target >= end) continue;
        const u32 own = target - boundary;  // the target's own column
        Distance lengths[most_columns];
#pragma unroll
        for (u32 column = 0; column < most_columns; column++) {
            const bool is_there = column < front.columns && target < front.targets;
            lengths[column] = is_there ? min(load(cell(column, target)), Lane::infinity) : Lane::infinity;
            // A column has ways to those above it alone, and is where it is.
            if (closing.is_inside && column == own && is_there) lengths[column] = 0;
        }
        close_target<Lane>(lengths, front.columns, steps);
#pragma unroll
        for (u32 column = 0; column < most_columns; column++) {
            if (direction == 0 && column < front.columns) store(room.up_cell(column, target), lengths[column]);
            if (direction != closing.is_directed || target >= front.targets) continue;
            // Parts have room for columns that there are not.
            const u32 part_of = column / columns * columns;
            if (part_of < front.columns && column - part_of < room.width(column)) store(room.down_cell(column, target), lengths[column]);
        }
    }
}

#define WARPATH_HIERARCHY_LENGTHS(kind, lane, Lane)                                                          \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_lengths_##kind##gather, gather_lengths, Closing, lane, Lane)       \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_lengths_##kind##close, close_lengths, Closing, lane, Lane)

WARPATH_HIERARCHY_LENGTHS(, u32_u32, Half<LaneNarrow>)
WARPATH_HIERARCHY_LENGTHS(full_, u32_u32, Full<LaneNarrow>)
WARPATH_HIERARCHY_LENGTHS(, u32_u64, Half<LaneWide>)

}  // namespace apsp_hierarchy
