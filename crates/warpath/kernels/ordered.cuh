// A frontier as bits, one a vertex, whose vertices are taken in ascending order.
//
// The order matters where arcs lie in the host's memory. The bus brings 400 million pieces of 128 bytes a second, as long as
// those that are asked for at one time lie within some 256 MB, and 48 million from all over a larger array. Rows lie in the
// order of their tails, so warps go through the bits from front to back. A frontier of many vertices is taken window by window:
// the rows of one window lie that close together, and the whole grid ends one before it begins the next.
//
// A bit for each group of 128 vertices tells whether any of them is there, so that a frontier of few vertices costs little more than
// these.
//
//   Bits            the bits of the vertices, and those of the groups
//   in_windows      a frontier, window by window
//   for_vertices    its vertices, up to 32 at a time for a warp
//   for_groups      its groups, one for each lane
//   for_bits        the vertices of words that a warp has
//   for_long_rows   its long rows, in pieces
//   set_bit         marks a vertex in plain bits, and says whether it was not marked
//   All, Some       the vertices that a device has, with the arcs that leave them
//
// A round reads one array of bits, sets bits in the next one, and clears the one before (`clear`): three take turns.
#pragma once

#include "rows.cuh"
#include "generated/ordered.cuh"

namespace ordered {

/// The bits of a warp's turn: 128, which one lane loads at once.
constexpr u32 group = 128;

/// All vertices.
struct All {
    u32 vertices;
    __device__ __forceinline__ bool has(u32) const { return true; }
    __device__ __forceinline__ u32 first_word() const { return 0; }
    __device__ __forceinline__ u32 end_word() const { return (vertices + 31) / 32; }
    __device__ __forceinline__ u32 first_group() const { return 0; }
    __device__ __forceinline__ u32 end_group() const { return (vertices + group - 1) / group; }
    __device__ __forceinline__ u32 end() const { return vertices; }
};

/// Those from `first`, a multiple of 128, up to `beyond`; none if they are the same, wherever that is.
struct Some {
    u32 first;
    u32 beyond;
    __device__ __forceinline__ bool has(u32 vertex) const { return vertex - first < beyond - first; }
    __device__ __forceinline__ u32 first_word() const { return (first + 31) / 32; }
    __device__ __forceinline__ u32 end_word() const { return (beyond + 31) / 32; }
    __device__ __forceinline__ u32 first_group() const { return (first + group - 1) / group; }
    __device__ __forceinline__ u32 end_group() const { return (beyond + group - 1) / group; }
    __device__ __forceinline__ u32 end() const { return beyond; }
};

__device__ __forceinline__ bool is_set(const u32* bits, u32 vertex) { return load(&bits[vertex / 32]) >> vertex % 32 & 1; }

/// Sets the bit of a vertex; whether it was not set.
__device__ __forceinline__ bool set_bit(u32* bits, u32 vertex) {
    const u32 bit = 1u << vertex % 32;
    return !(load(&bits[vertex / 32]) & bit) && !(atomicOr(&bits[vertex / 32], bit) & bit);
}

/// The bits of the vertices, one word after another, and then those of the groups.
struct Bits {
    u32* words;
    u32 vertices;

    __device__ __forceinline__ u32 group_count() const { return (vertices + group - 1) / group; }
    __device__ __forceinline__ u32* groups() const { return words + group_count() * (group / 32); }
    /// The words of a group.
    __device__ __forceinline__ uint4* of_group(u64 g) const { return reinterpret_cast<uint4*>(words) + g; }
    /// Notes that a group has some vertex.
    __device__ __forceinline__ void note(u32 g) const { set_bit(groups(), g); }
    /// Adds a vertex that nobody else adds.
    __device__ __forceinline__ void add(u32 vertex) const {
        atomicOr(&words[vertex / 32], 1u << vertex % 32);
        note(vertex / group);
    }
    /// Adds a vertex; whether it was not there.
    __device__ __forceinline__ bool insert(u32 vertex) const {
        const bool is_new = set_bit(words, vertex);
        if (is_new) note(vertex / group);
        return is_new;
    }
};

/// The place of a bit that is set in a word: of the first one for 0, and so on. The word has that many.
__device__ __forceinline__ u32 place_of_bit(u32 word, u32 index) {
    u32 place = 0;
#pragma unroll
    for (u32 width = 16; width > 0; width /= 2) {
        const u32 below = __popc(word >> place & ((1u << width) - 1));
        if (index >= below) {
            index -= below;
            place += width;
        }
    }
    return place;
}

/// The windows of a graph.
struct Windows {
    const uint2* begins;  // the first group and the first piece of each window, and of the one that would follow
    u32 count;
    u32 least;  // so many vertices of a window are worth it, on average
};

/// Calls `body(begin, end)` for one window after another, of which it gets the first group and the first piece, and those beyond;
/// all at once if a frontier has few vertices. All threads of the grid call it together.
template <class Body>
__device__ __forceinline__ void in_windows(const Windows& windows, u32 frontier, Body body) {
    const bool are_few = frontier / windows.count < windows.least;
    const u32 step = are_few ? windows.count : 1;
    for (u32 window = 0; window < windows.count; window += step) {
        if (window > 0) grid_barrier();
        body(load_constant(&windows.begins[window]), load_constant(&windows.begins[window + step]));
    }
}

/// Calls `body(has, vertex)` for the vertices whose bit is set in the words that the lanes have, 32 lanes together. Those of a lane
/// are the words of the group `mine`.
template <class Body>
__device__ __forceinline__ void for_bits(uint4 words, u32 mine, Body body) {
    const u32 lane = lane_index();
    const u32 count = __popc(words.x) + __popc(words.y) + __popc(words.z) + __popc(words.w);
    const u32 up_to = warp_inclusive_sum(count), start = up_to - count;
    const u32 total = __shfl_sync(all_lanes, up_to, lanes_a_warp - 1);
    for (u32 base = 0; base < total; base += lanes_a_warp) {
        const u32 place = min(base + lane, total - 1);
        const int owner = static_cast<int>(last_lane_from(start, place));
        u32 index = place - __shfl_sync(all_lanes, start, owner);
        u32 word = __shfl_sync(all_lanes, words.x, owner), at = __shfl_sync(all_lanes, mine, owner) * group;
        const u32 others[3] = {__shfl_sync(all_lanes, words.y, owner), __shfl_sync(all_lanes, words.z, owner),
                               __shfl_sync(all_lanes, words.w, owner)};
        bool goes_on = true;
#pragma unroll
        for (u32 k = 0; k < 3; k++) {
            const u32 below = __popc(word);
            goes_on = goes_on && index >= below;
            if (goes_on) {
                index -= below;
                word = others[k];
                at += 32;
            }
        }
        body(base + lane < total, at + place_of_bit(word, index));
    }
}

/// Calls `body(words, mine)` for the groups from `begin` to `end` that have some vertex, 32 lanes together: a lane gets the words of the
/// group `mine`, or none.
///
/// Warps take turns, group by group. A warp looks at the bits of its next 32 turns at once, while those of the 32 after them are under way,
/// and collects groups until it has one for each lane.
template <class Body>
__device__ __forceinline__ void for_groups(const Bits& bits, u32 begin, u32 end, Body body) {
    const u32 lane = lane_index(), warps = warps_of_grid();
    const u32* const groups = bits.groups();
    u32 collected = 0, mine = 0;
    const auto hand_over = [&] {
        uint4 words = make_uint4(0, 0, 0, 0);
        if (lane < collected) words = load(bits.of_group(mine));
        body(words, mine);
        collected = 0;
    };
    // There are fewer than 2^25 groups, so sums do not wrap.
    const auto is_there = [&](u32 g) { return g < end && is_set(groups, g); };
    u32 first = begin + warp_of_grid();
    bool has = is_there(first + lane * warps);
    while (first < end) {
        const u32 next = first + warps * lanes_a_warp;
        const bool has_next = is_there(next + lane * warps);
        const u32 found = __ballot_sync(all_lanes, has), count = __popc(found);
        if (collected + count > lanes_a_warp) hand_over();
        if (lane - collected < count) mine = first + place_of_bit(found, lane - collected) * warps;
        collected += count;
        first = next;
        has = has_next;
    }
    if (collected > 0) hand_over();
}

/// Calls `body(has, vertex)` for all vertices whose bit is set, 32 lanes together: those of the groups from `begin` to `end`.
template <class Body>
__device__ __forceinline__ void for_vertices(const Bits& bits, u32 begin, u32 end, Body body) {
    for_groups(bits, begin, end, [&](uint4 words, u32 mine) { for_bits(words, mine, body); });
}

/// Calls `body(vertex, begin, end)` for the pieces of those long rows whose bit is set, all lanes of a warp together.
/// `pieces` are the vertices and the numbers of all pieces in ascending order, of which those from `first_piece` to `end_piece` count.
template <class Offset, class Body>
__device__ __forceinline__ void for_long_rows(const Bits& bits, const uint2* pieces, u32 first_piece, u32 end_piece,
                                              const Offset* offsets, Body body) {
    const u32 lane = lane_index();
    const u64 warps = warps_of_grid();
    for (u64 first = first_piece + warp_of_grid(); first < end_piece; first += warps * lanes_a_warp) {
        const u64 mine = first + lane * warps;
        const uint2 item = mine < end_piece ? load_constant(&pieces[mine]) : make_uint2(0, 0);
        const u32 found = __ballot_sync(all_lanes, mine < end_piece && is_set(bits.words, item.x));
        for_lanes_of(found, [&](int from) {
            const u32 vertex = __shfl_sync(all_lanes, item.x, from), number = __shfl_sync(all_lanes, item.y, from);
            const Offset begin = load_constant(&offsets[vertex]) + static_cast<Offset>(number) * piece;
            const Offset end = load_constant(&offsets[vertex + 1]);
            body(vertex, begin, end - begin > piece ? begin + piece : end);
        });
    }
}

/// Clears all bits.
__device__ __forceinline__ void clear(const Bits& bits) {
    const u32 lane = lane_index(), words = (bits.group_count() + 31) / 32, warps = warps_of_grid();
    u32* const groups = bits.groups();
    for (u32 word = warp_of_grid(); word < words; word += warps) {
        const u32 some = load(&groups[word]);
        if (some == 0) continue;
        if (some >> lane & 1) store(bits.of_group(word * 32 + lane), make_uint4(0, 0, 0, 0));
        __syncwarp();
        if (lane == 0) store(&groups[word], 0);
    }
}

}  // namespace ordered
