// The searches by neighborhoods, `bfs/multi_hop.cu` and `sssp/multi_hop.cu`, share this: the table and the places of
// the neighborhoods while they are made, and queues of which every block has a part.
#pragma once

#include "frontier.cuh"
#include "generated/multi_hop.cuh"

namespace multi_hop {

constexpr u32 none = ~0u;

// ---- Making neighborhoods -------------------------------------------------------------------------------------------

/// The slot of a vertex in a warp's table of 2^`Bits` slots, and whether it was put there now.
struct Slot {
    u32 index;
    bool fresh;
};
template <u32 Bits = table_bits>
__device__ __forceinline__ Slot find_slot(u32* table, u32 vertex) {
    constexpr u32 golden_ratio = 0x9e37'79b9;
    u32 slot = vertex * golden_ratio >> (32 - Bits);
    for (;;) {
        const u32 there = atomicCAS(&table[slot], none, vertex);
        if (there == none || there == vertex) return {slot, there == none};
        slot = (slot + 1) % (1u << Bits);
    }
}

/// How many units a neighborhood of `size` vertices takes: the vertex in the middle is left out.
__device__ __forceinline__ u32 units_of(u32 size) { return (size - 1 + unit - 1) / unit; }

/// A warp takes the units for a neighborhood of `size` vertices; returns where they begin. Without a neighborhood, as
/// it would have too many vertices, or without units left, the warp raises the flag and returns `none`.
__device__ __forceinline__ u32 take_units(u32 size, u32* used, u32 capacity, u32* failed) {
    const u32 units = units_of(size);
    const u32 begin = warp_take(used, units);
    if (size > 0 && begin + units <= capacity && begin + units >= begin) return begin;
    if (lane_index() == 0) store(failed, 1);
    return none;
}

// ---- Searching ------------------------------------------------------------------------------------------------------

/// How many items the parts of a queue have, in shared memory.
struct PartSizes {
    u32 start[32];    // how many items come before every fourth part
    uint4 sizes[32];  // of four parts each
    u32 total;

    /// One warp reads the sizes of all parts; returns the sum.
    __device__ __forceinline__ u32 gather(const u32* of_parts) {
        const uint4 four = load(reinterpret_cast<const uint4*>(of_parts) + lane_index());
        const u32 sum = four.x + four.y + four.z + four.w, up_to = warp_inclusive_sum(sum);
        start[lane_index()] = up_to - sum;
        sizes[lane_index()] = four;
        const u32 all = __shfl_sync(all_lanes, up_to, lanes_a_warp - 1);
        if (lane_index() == 0) total = all;
        return all;
    }
};

/// Finds items in the parts of a queue. All lanes of a warp ask for the same one; each of them knows four parts.
struct PartFinder {
    u32 start;
    u32 first, second, third;  // where the parts after the first of the four begin

    __device__ __forceinline__ explicit PartFinder(const PartSizes& parts) : start(parts.start[lane_index()]) {
        const uint4 sizes = parts.sizes[lane_index()];
        first = sizes.x;
        second = first + sizes.y;
        third = second + sizes.z;
    }

    /// Where an item is, if parts have room for `capacity` items each.
    __device__ __forceinline__ u64 place_of(u32 item, u32 capacity) const {
        // The lane whose four parts have the item knows where it is.
        const u32 holder = __popc(__ballot_sync(all_lanes, start <= item)) - 1;
        const u32 rest = item - start;
        u32 part = lane_index() * 4, place = rest;
        if (rest >= third) {
            part += 3;
            place -= third;
        } else if (rest >= second) {
            part += 2;
            place -= second;
        } else if (rest >= first) {
            part += 1;
            place -= first;
        }
        part = __shfl_sync(all_lanes, part, static_cast<int>(holder));
        place = __shfl_sync(all_lanes, place, static_cast<int>(holder));
        return static_cast<u64>(part) * capacity + place;
    }
};

/// What a block tells the others at a barrier (`grid_sum`): that it has appended something,
constexpr u32 appends = 1u << 8;
/// that it wants an end; twice, at most.
constexpr u32 stops = 1u << 16;
static_assert(parts < appends && parts * appends < stops, "");

}  // namespace multi_hop
