// The arcs of a graph in equal shares: a warp takes one after another, wherever rows begin and end.
#pragma once

#include "collectives.cuh"

/// The row that an arc is in: the last one that begins at or before it, and is not empty.
template <class OffsetAt>
__device__ __forceinline__ u32 row_of(u32 vertices, u64 arc, OffsetAt offset_at) {
    u32 low = 0, high = vertices;  // offset_at(low) <= arc < offset_at(high)
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (offset_at(middle) <= arc) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Calls `body(tail, arc)` for every arc, on one lane each, in any order. `offset_at` tells where rows begin, as 64 bits.
/// All threads of the grid call it together; within `body` lanes must not wait for each other.
template <class OffsetAt, class Body>
__device__ __forceinline__ void for_arcs_in_shares(u32 vertices, u64 arcs, u32 share, OffsetAt offset_at, Body body) {
    const u32 lane = lane_index();
    const u64 warps = static_cast<u64>(gridDim.x) * warps_of_block();
    const u64 warp = static_cast<u64>(blockIdx.x) * warps_of_block() + warp_index();
    for (u64 first = warp * share; first < arcs; first += warps * share) {
        const u64 end = min(first + share, arcs);
        u32 row = row_of(vertices, first, offset_at);
        // 32 rows at a time: each lane holds where one of them ends.
        for (u64 begin = first; begin < end; row += lanes_a_warp) {
            const u64 row_end = offset_at(min(row + lane, vertices - 1) + 1);
            const u64 window_end = min(__shfl_sync(all_lanes, row_end, lanes_a_warp - 1), end);
            for (; begin < window_end; begin += lanes_a_warp) {
                const u64 arc = begin + lane;
                // How many of the rows end at or before this arc.
                u32 over = 0;
#pragma unroll
                for (u32 step = lanes_a_warp / 2; step > 0; step /= 2) {
                    if (__shfl_sync(all_lanes, row_end, static_cast<int>(over + step - 1)) <= arc) over += step;
                }
                if (arc < window_end) body(row + over, arc);
            }
            begin = window_end;
        }
    }
}
