// Rows of arcs: which row an arc is in, and how threads divide rows that differ in length.
//
//   share_of(length, part, parts)  one of equal, contiguous parts of a list
//   row_of(vertices, arc, ..)      the row of an arc: a warp searches all offsets
//   for_arcs_in_shares(..)         all arcs of a graph, wherever rows begin and end
//   PackedRows, for_packed_arcs    the arcs of up to 32 rows, one row a lane, spread over the lanes of the warp
//
// For example, a warp counts the arcs to vertex 0 from 32 tails, one a lane:
//
//   const Offset begin = load_constant(&offsets[tail]), end = load_constant(&offsets[tail + 1]);
//   u32 found = 0;
//   for_packed_arcs(begin, static_cast<u32>(end - begin), [&](bool has, u32 lane, Offset arc) {
//       // `lane` brought the row; a value of its tail is `__shfl_sync(all_lanes, value, lane)`.
//       if (has && load_constant(&targets[arc]) == 0) found++;
//   });
#pragma once

#include "collectives.cuh"

/// A part of a list; it is empty where it does not begin before its end.
struct Share {
    u64 begin, end;
};

/// The part of a list that belongs to one of `parts` blocks or warps.
__device__ __forceinline__ Share share_of(u64 length, u32 part, u32 parts) {
    const u64 each = (length + parts - 1) / parts, begin = each * part;
    return {begin, min(begin + each, length)};
}

/// The row of an arc: the last row that begins at or before it, which is not empty. A warp searches for one arc
/// together, each lane at one of 32 rows. `offset_at` tells where a row begins, as 64 bits.
template <class OffsetAt>
__device__ __forceinline__ u32 row_of(u32 vertices, u64 arc, OffsetAt offset_at) {
    u32 first = 0, rows = vertices;
    while (rows > 1) {
        const u32 step = (rows - 1) / lanes_a_warp + 1, skipped = lane_index() * step;
        const bool begins = skipped < rows && offset_at(first + skipped) <= arc;
        // The first row always begins at or before the arc.
        const u32 last = (__popc(__ballot_sync(all_lanes, begins)) - 1) * step;
        first += last;
        rows = min(step, rows - last);
    }
    return first;
}

/// Calls `body(tail, arc)` for every arc, on one lane each, in any order. A warp takes `share` arcs that follow each
/// other, so the lengths of rows do not matter. `offset_at` tells where a row begins, as 64 bits. All threads of the
/// grid call it together; within `body` lanes must not wait for each other.
template <class OffsetAt, class Body>
__device__ __forceinline__ void for_arcs_in_shares(u32 vertices, u64 arcs, u32 share, OffsetAt offset_at, Body body) {
    const u32 lane = lane_index();
    const u64 stride = static_cast<u64>(warps_of_grid()) * share;
    for (u64 first = static_cast<u64>(warp_of_grid()) * share; first < arcs; first += stride) {
        const u64 end = min(first + share, arcs);
        u32 row = 0;
        bool is_known = false;
        // 32 rows at a time: each lane holds where one of them ends.
        for (u64 begin = first; begin < end; row += lanes_a_warp) {
            if (!is_known) row = row_of(vertices, begin, offset_at);
            const u64 row_end = offset_at(vertices - row <= lane ? vertices : row + lane + 1);
            const u64 window_end = min(__shfl_sync(all_lanes, row_end, lanes_a_warp - 1), end);
            // Where all of them are empty, more empty ones may follow.
            is_known = window_end > begin;
            for (; begin < window_end; begin += lanes_a_warp) {
                const u64 arc = begin + lane;
                const u32 ended = lanes_up_to(row_end, arc);
                if (arc < window_end) body(row + ended, arc);
            }
            begin = window_end;
        }
    }
}

/// Rows that the lanes of a warp bring, one each, as one list of arcs. A row may be empty.
template <class Offset>
struct PackedRows {
    u32 start;      // the place in the list where this lane's row starts
    u32 total;      // the length of the list
    Offset offset;  // from a place in the list to the arc in this row; it may have wrapped, and so may the sum

    __device__ __forceinline__ PackedRows(Offset begin, u32 count) {
        const u32 up_to = warp_inclusive_sum(count);
        start = up_to - count;
        total = __shfl_sync(all_lanes, up_to, lanes_a_warp - 1);
        offset = begin - start;
    }

    /// The lane that brought the row of a place, which is below `total`.
    __device__ __forceinline__ u32 lane_of(u32 place) const { return last_lane_from(start, place); }

    /// The arc at a place of the row that `lane` brought.
    __device__ __forceinline__ Offset arc_at(u32 place, u32 lane) const {
        return __shfl_sync(all_lanes, offset, static_cast<int>(lane)) + place;
    }
};

/// Calls `body(has, lane, arc)` for the arcs of the rows that the lanes bring, `count` arcs from `begin` on. All lanes
/// call it together, with or without an arc; `lane` brought the row.
template <class Offset, class Body>
__device__ __forceinline__ void for_packed_arcs(Offset begin, u32 count, Body body) {
    const PackedRows<Offset> rows(begin, count);
    for (u32 base = 0; base < rows.total; base += lanes_a_warp) {
        const u32 place = base + lane_index(), lane = rows.lane_of(place);
        body(place < rows.total, lane, rows.arc_at(place, lane));
    }
}
