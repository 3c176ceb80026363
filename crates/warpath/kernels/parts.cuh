// A part of a graph: the rows that one process of many has, and mail for the others. `src/cuda/parts` is the other half.
//
// States are numbered: owned vertices first, then hubs, then *ghosts*, the vertices of other parts at the heads of arcs. Only the
// first two have rows. Ghosts of which something is found are marked in a set of bits. One kernel *posts* them: their numbers go to the outbox,
// where each part has room for all of its ghosts. Another packs the outboxes one after another into the mail, in words that the host, or
// NCCL, sends as they are.
#pragma once

#include "frontier.cuh"
#include "generated/parts.cuh"

namespace parts {

/// Whether a set of bits has a number.
__device__ __forceinline__ bool contains(const u32* bits, u32 number) {
    return (load(&bits[number / 32]) >> number % 32 & 1) != 0;
}

/// Adds a number to a set of bits; returns whether it is new.
__device__ __forceinline__ bool insert(u32* bits, u32 number) {
    const u32 bit = 1u << number % 32;
    return !contains(bits, number) && !(atomicOr(&bits[number / 32], bit) & bit);
}

/// The part that has a place, where the places of each part begin at its start: the last one that begins at or before it.
__device__ __forceinline__ u32 part_of(const u32* starts, u32 parts, u32 place) {
    u32 part = 0;
    for (u32 count = parts; count > 1;) {
        const u32 half = count / 2;
        if (load_constant(&starts[part + half]) <= place) {
            part += half;
            count -= half;
        } else {
            count = half;
        }
    }
    return part;
}

/// Posts ghosts: those in a set of bits, of which `take(index)` takes a word out. A part's outbox has room for each of its ghosts once.
template <class Take>
__device__ __forceinline__ void post(const Mail& mail, u32 ghosts, Take take) {
    const u32 words = (ghosts + lanes_a_warp - 1) / lanes_a_warp;
    // 32 words at a time, since most of them are empty.
    for (u32 begin = warp_of_grid() * lanes_a_warp; begin < words; begin += warps_of_grid() * lanes_a_warp) {
        const u32 taken = begin + lane_index() < words ? take(begin + lane_index()) : 0;
        for_lanes_of(__ballot_sync(all_lanes, taken != 0), [&](int lane) {
            const u32 word = __shfl_sync(all_lanes, taken, lane);
            const u32 ghost = (begin + static_cast<u32>(lane)) * lanes_a_warp + lane_index();
            const bool has = (word >> lane_index() & 1) != 0;
            const u32 part = has ? part_of(mail.starts, mail.parts, ghost) : 0;
            for (u32 left = word; left != 0;) {
                const u32 first = __shfl_sync(all_lanes, part, __ffs(static_cast<int>(left)) - 1);
                const u32 same = __ballot_sync(all_lanes, has && part == first);
                const u32 start = load_constant(&mail.starts[first]) + warp_take(&mail.posted[first], __popc(same));
                if (has && part == first) store(&mail.outbox[start + place_in_ballot(same)], ghost);
                left &= ~same;
            }
        });
    }
}

/// Calls `body(place, ghost)` for all that was posted, on one thread each; `place` is where its words begin in the mail, in messages.
template <class Body>
__device__ __forceinline__ void for_posted(const Mail& mail, u32 count, Body body) {
    const u32 stride = gridDim.x * blockDim.x;
    for (u32 place = blockIdx.x * blockDim.x + threadIdx.x; place < count; place += stride) {
        const u32 part = part_of(mail.packed, mail.parts, place);
        body(place, load(&mail.outbox[load_constant(&mail.starts[part]) + place - load_constant(&mail.packed[part])]));
    }
}

/// A frontier as it is read: queues of short rows, and of pieces of long ones.
struct Frontier {
    const u64* offsets;
    const u32* short_rows;
    const uint2* long_rows;
    u32 short_count;
    u32 pieces;
};

/// Calls `visit(value, has, arc)` for the arcs of all vertices in a frontier, all lanes of a warp together. The value is what
/// `begin(tail, goes)` returns, which may set `goes` to false for a lane whose row is not to be visited, or, for each piece of a long row,
/// `begin_piece(tail, index)`.
template <class Begin, class BeginPiece, class Visit>
__device__ __forceinline__ void for_frontier(const Frontier& now, Begin begin, BeginPiece begin_piece, Visit visit) {
    frontier::for_pieces(now.offsets, now.long_rows, now.pieces, [&](uint2 item, u64 first, u64 end) {
        const auto value = begin_piece(item.x, item.y);
        for (; first < end; first += lanes_a_warp) visit(value, first + lane_index() < end, first + lane_index());
    });
    frontier::for_items(now.short_count, warp_of_grid(), warps_of_grid(), [&](bool has, u32 item) {
        const u32 tail = has ? load(&now.short_rows[item]) : 0;
        bool goes = has;
        const auto value = begin(tail, goes);
        const u64 first = goes ? load_constant(&now.offsets[tail]) : 0;
        const u32 degree = goes ? static_cast<u32>(load_constant(&now.offsets[tail + 1]) - first) : 0;
        for_packed_arcs(first, degree, [&](bool has_arc, u32 lane, u64 arc) {
            visit(__shfl_sync(all_lanes, value, static_cast<int>(lane)), has_arc, arc);
        });
    });
}

}  // namespace parts
