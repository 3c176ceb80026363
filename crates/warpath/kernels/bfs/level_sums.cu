// Breadth-first searches from up to 512 sources at once, of which only sums over the sources are kept. The host loop, and the essay, are in
// `src/cuda/level_sums.rs`.
//
// Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal".
//
// registers: 64
// no-sass: STL
#include "../rows.cuh"
#include "../generated/bfs/level_sums.cuh"

// Templates of all kernels meet when the emulator is linked.
namespace level_sums {

constexpr u32 no_vertex = ~0u;
/// Arcs that a lane has under way.
constexpr u32 at_once = 4;

// A vertex has `words` words, and so many lanes beside each other have a vertex, or an arc to one, together.
template <u32 words>
__device__ __forceinline__ u32 word_of_lane() {
    return lane_index() % words;
}
template <u32 words>
__device__ __forceinline__ u32 place_of_lane() {
    return lane_index() / words;
}

/// Whether it holds in any of the lanes that have the same vertex.
template <u32 words>
__device__ __forceinline__ bool any_of_vertex(bool holds) {
    const u32 lanes = __ballot_sync(all_lanes, holds) >> lane_index() / words * words;
    return (lanes & ((1u << words) - 1)) != 0;
}

/// What a warp finds.
struct Tally {
    u32 vertices = 0;
    u64 pairs = 0;
    u64 searches = 0;

    /// Tells the host. All lanes call it together, at the end.
    template <u32 words>
    __device__ __forceinline__ void tell(News* news) {
#pragma unroll
        for (u32 by = words; by < lanes_a_warp; by *= 2) searches |= __shfl_xor_sync(all_lanes, searches, static_cast<int>(by));
        const u32 all_vertices = warp_sum(vertices);
        const u64 all_pairs = warp_sum(pairs);
        if (all_vertices == 0) return;
        if (lane_index() == 0) {
            atomicAdd(&news->found, all_vertices);
            atomicAdd(&news->pairs, all_pairs);
        }
        if (lane_index() < words && searches != 0) atomicOr(&news->searches[lane_index()], searches);
    }
};

/// Adds a vertex that these searches have found, if any, to its sums: each lane has a word of them.
template <u32 words, class Offset>
__device__ __forceinline__ void add(const Levels<Offset>& search, Tally& tally, u32 vertex, u64 fresh) {
    u32 count = static_cast<u32>(__popc(static_cast<u32>(fresh)) + __popc(static_cast<u32>(fresh >> 32)));
    tally.pairs += count;
    tally.searches |= fresh;
#pragma unroll
    for (u32 by = words / 2; by > 0; by /= 2) count += __shfl_xor_sync(all_lanes, count, static_cast<int>(by));
    if (word_of_lane<words>() != 0 || count == 0) return;
    tally.vertices++;
    search.reached[vertex] += count;
    if (search.sums != nullptr) search.sums[vertex] += static_cast<u64>(count) * search.level;
    if (search.inverse_sums != nullptr) {
        search.inverse_sums[vertex] = __dadd_rn(search.inverse_sums[vertex], __ddiv_rn(static_cast<double>(count), static_cast<double>(search.level)));
    }
    if (search.greatest != nullptr) search.greatest[vertex] = max(search.greatest[vertex], search.level);
}

/// Takes out of `missing` the searches that have seen the tails of some arcs, until none is left. The whole warp has one row; every place of it has a word.
template <u32 words, class Offset>
__device__ __forceinline__ u64 missing_after(const Levels<Offset>& search, u64 missing, Offset arc, Offset end) {
    constexpr u32 places = lanes_a_warp / words;
    const u32 word = word_of_lane<words>(), place = place_of_lane<words>();
    while (arc < end) {
        u32 tail[at_once];
        u64 bits = 0;
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
            tail[k] = end - arc > k * places + place ? load_constant(&search.incoming[arc + k * places + place]) : no_vertex;
        }
#pragma unroll
        for (u32 k = 0; k < at_once; ++k) {
            if (tail[k] != no_vertex) bits |= load_constant(&search.now[static_cast<u64>(tail[k]) * words + word]);
        }
#pragma unroll
        for (u32 by = words; by < lanes_a_warp; by *= 2) bits |= __shfl_xor_sync(all_lanes, bits, static_cast<int>(by));
        missing &= ~bits;
        const bool is_done = !__any_sync(all_lanes, missing != 0) || end - arc <= at_once * places;
        arc = is_done ? end : arc + at_once * places;
    }
    return missing;
}

/// The long rows toward the frontier, of which each warp has pieces: `next`, which has what is seen now, gets what their tails have been seen by.
template <u32 words, class Offset>
__device__ __forceinline__ void pull_pieces(const Levels<Offset>& search) {
    const u32 word = word_of_lane<words>();
    const u64 active = load_constant(&search.active[word]);
    for (u32 index = spread_warp_of_grid(); index < search.piece_count; index += warps_of_grid()) {
        const uint2 item = load_constant(&search.pieces[index]);
        u64* const seen = &search.next[static_cast<u64>(item.x) * words + word];
        // Other pieces may have found some.
        const u64 missing = active & ~load(seen);
        if (!__any_sync(all_lanes, missing != 0)) continue;
        const Offset row_end = load_constant(&search.incoming_offsets[item.x + 1]);
        const Offset begin = load_constant(&search.incoming_offsets[item.x]) + static_cast<Offset>(item.y) * piece;
        const Offset end = row_end - begin > piece ? begin + piece : row_end;
        const u64 found = missing & ~missing_after<words>(search, missing, begin, end);
        if (place_of_lane<words>() == 0 && found != 0) atomicOr(seen, found);
    }
}

/// Toward the frontier: every vertex that some active search has not seen gathers the searches of its tails, until none is missing. A tail that
/// a search had seen before the last level would have told the vertex then, so nothing else tells the frontier. Long rows have been gathered piece by piece.
template <u32 words, class Offset>
__device__ __forceinline__ void pull(const Levels<Offset>& search) {
    constexpr u32 places = lanes_a_warp / words;
    const u32 word = word_of_lane<words>(), place = place_of_lane<words>();
    const u64 active = load_constant(&search.active[word]);
    const auto seen_by = [&](u32 vertex) { return load_constant(&search.now[static_cast<u64>(vertex) * words + word]); };
    Tally tally;
    const u64 stride = static_cast<u64>(warps_of_grid()) * places;
    for (u64 first = static_cast<u64>(warp_of_grid()) * places; first < search.vertices; first += stride) {
        const bool exists = first + place < search.vertices;
        const u32 vertex = static_cast<u32>(exists ? first + place : first);
        u64* const next = &search.next[static_cast<u64>(vertex) * words + word];
        const u64 known = seen_by(vertex);
        u64 missing = exists ? active & ~known : 0;
        Offset arc = 0, end = 0;
        if (any_of_vertex<words>(missing != 0)) {
            arc = load_constant(&search.incoming_offsets[vertex]);
            end = load_constant(&search.incoming_offsets[vertex + 1]);
            if (end - arc > long_row) {
                missing &= ~load(next);
                arc = end;
            }
        }
        // The first arcs of each row, by the lanes of its vertex.
        for (u32 step = 0; step < 2 && __any_sync(all_lanes, arc < end); ++step) {
            u32 tail[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; ++k) tail[k] = end - arc > k ? load_constant(&search.incoming[arc + k]) : no_vertex;
#pragma unroll
            for (u32 k = 0; k < at_once; ++k) {
                if (tail[k] != no_vertex) missing &= ~seen_by(tail[k]);
            }
            const bool is_open = any_of_vertex<words>(missing != 0);
            arc = is_open && end - arc > at_once ? arc + at_once : end;
        }
        // The rest by the whole warp, one row after another.
        for_lanes_of(__ballot_sync(all_lanes, word == 0 && arc < end), [&](int from) {
            const Offset row_arc = __shfl_sync(all_lanes, arc, from), row_end = __shfl_sync(all_lanes, end, from);
            const u64 of_row = __shfl_sync(all_lanes, missing, from + static_cast<int>(word));
            const u64 left = missing_after<words>(search, of_row, row_arc, row_end);
            if (place == static_cast<u32>(from) / words) missing = left;
        });
        const u64 fresh = exists ? active & ~known & ~missing : 0;
        if (exists) *next = known | fresh;
        add<words>(search, tally, vertex, fresh);
    }
    tally.tell<words>(search.news);
}

/// Away from the frontier: an item of the queue is a piece of a row, whose heads get the searches that have found its vertex.
template <u32 words, class Offset>
__device__ __forceinline__ void push(const Levels<Offset>& search) {
    constexpr u32 places = lanes_a_warp / words;
    const u32 word = word_of_lane<words>(), place = place_of_lane<words>();
    for (u32 index = spread_warp_of_grid(); index < search.items; index += warps_of_grid()) {
        const uint2 item = load_constant(&search.queue[index]);
        const u64 at = static_cast<u64>(item.x) * words + word;
        const u64 fresh = load_constant(&search.now[at]) & ~load_constant(&search.before[at]);
        const Offset row_end = load_constant(&search.offsets[item.x + 1]);
        const Offset begin = load_constant(&search.offsets[item.x]) + static_cast<Offset>(item.y) * piece;
        const Offset end = row_end - begin > piece ? begin + piece : row_end;
        for (Offset arc = begin + place; arc < end; arc += places) {
            u64* const seen = &search.next[static_cast<u64>(load_constant(&search.heads[arc])) * words + word];
            const u64 mine = fresh & ~load(seen);
            if (mine != 0) atomicOr(seen, mine);
        }
    }
}

/// Queues the rows of the vertices that `now` has with more searches than `before`. With `adds` they were not added to the sums yet.
template <u32 words, class Offset>
__device__ __forceinline__ void gather(const Levels<Offset>& search, bool adds) {
    constexpr u32 places = lanes_a_warp / words;
    const u32 word = word_of_lane<words>(), place = place_of_lane<words>();
    Tally tally;
    u64 arcs = 0;
    const u64 stride = static_cast<u64>(warps_of_grid()) * places;
    for (u64 first = static_cast<u64>(warp_of_grid()) * places; first < search.vertices; first += stride) {
        const bool exists = first + place < search.vertices;
        const u32 vertex = static_cast<u32>(exists ? first + place : first);
        const u64 at = static_cast<u64>(vertex) * words + word;
        const u64 fresh = exists ? load_constant(&search.now[at]) & ~load_constant(&search.before[at]) : 0;
        const bool has_any = any_of_vertex<words>(fresh != 0);
        if (!__any_sync(all_lanes, has_any)) continue;
        if (adds) {
            add<words>(search, tally, vertex, fresh);
        } else {
            tally.vertices += has_any && word == 0;
            tally.searches |= fresh;
        }
        Offset degree = 0;
        if (has_any && word == 0) degree = load_constant(&search.offsets[vertex + 1]) - load_constant(&search.offsets[vertex]);
        arcs += degree;
        // More pieces than the queue has room for are counted, not written.
        const u32 pieces = static_cast<u32>(min((degree + piece - 1) / piece, static_cast<Offset>(search.capacity) + 1));
        const u32 up_to = warp_inclusive_sum(pieces);
        const u32 all = __shfl_sync(all_lanes, up_to, lanes_a_warp - 1);
        if (all == 0) continue;
        const u32 begin = warp_take(&search.news->items, all) + up_to - pieces;
        for (u32 k = 0; k < pieces && begin < search.capacity && k < search.capacity - begin; ++k) {
            search.queue[begin + k] = make_uint2(vertex, k);
        }
    }
    arcs = warp_sum(arcs);
    if (lane_index() == 0 && arcs > 0) atomicAdd(&search.news->arcs, arcs);
    tally.tell<words>(search.news);
}

}  // namespace level_sums

/// Puts each search at its source.
extern "C" __global__ void __launch_bounds__(512) level_sums_start(const u32* sources, u32 count, u64* seen, u32 words, u32* reached) {
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index < count) {
        const u32 source = load_constant(&sources[index]);
        atomicOr(&seen[static_cast<u64>(source) * words + index / 64], static_cast<u64>(1) << index % 64);
        atomicAdd(&reached[source], 1u);
    }
}
WARPATH_KERNEL(level_sums_start)

/// Copies the words of some vertices, which are in a list with something else.
extern "C" __global__ void __launch_bounds__(512)
    level_sums_copy(const uint2* list, u32 count, u32 words, const u64* from, u64* to) {
    const u32 threads = gridDim.x * blockDim.x;
    for (u64 index = blockIdx.x * blockDim.x + threadIdx.x; index < static_cast<u64>(count) * words; index += threads) {
        const uint2 item = load_constant(&list[index / words]);
        const u64 at = static_cast<u64>(item.x) * words + index % words;
        // The first piece of a row stands for all.
        if (item.y == 0) to[at] = from[at];
    }
}
WARPATH_KERNEL(level_sums_copy)

/// Counts the vertices that each search has seen. A thread adds up one word of a vertex after another: the word `k` of its digits has the binary
/// digits of 2^k of 64 counters.
extern "C" __global__ void __launch_bounds__(512) level_sums_count(const u64* seen, u32 vertices, u32 words, u32* counts) {
    constexpr u32 digits = 6, most = (1u << digits) - 1;
    __shared__ u32 of_block[512];
    for (u32 search = threadIdx.x; search < 512; search += blockDim.x) of_block[search] = 0;
    __syncthreads();
    const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
    const u64 thread = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x, all = static_cast<u64>(vertices) * words;
    // Threads are a multiple of the words, so each stays at the same word of a vertex.
    const u32 word = static_cast<u32>(thread % words);
    for (u64 begin = thread; begin < all; begin += most * threads) {
        u64 digit[digits] = {};
        for (u32 k = 0; k < most && begin + k * threads < all; ++k) {
            u64 carry = seen[begin + k * threads];
#pragma unroll
            for (u32 place = 0; place < digits; ++place) {
                const u64 both = digit[place] & carry;
                digit[place] ^= carry;
                carry = both;
            }
        }
        // Lanes begin at different searches, so that they rarely add to the same counter at once.
        for (u32 step = 0; step < 64; ++step) {
            const u32 bit = (step + lane_index()) % 64;
            u32 count = 0;
#pragma unroll
            for (u32 place = 0; place < digits; ++place) count |= static_cast<u32>(digit[place] >> bit & 1) << place;
            if (count != 0) atomicAdd(&of_block[word * 64 + bit], count);
        }
    }
    __syncthreads();
    for (u32 search = threadIdx.x; search < words * 64; search += blockDim.x) {
        if (of_block[search] != 0) atomicAdd(&counts[search], of_block[search]);
    }
}
WARPATH_KERNEL(level_sums_count)

#define WARPATH_LEVEL_SUMS(words, bits, Offset)                                                                                  \
    extern "C" __global__ void __launch_bounds__(512, 2) level_sums_pull_##words##_##bits(level_sums::Levels<Offset> search) {   \
        level_sums::pull<words>(search);                                                                                         \
    }                                                                                                                            \
    WARPATH_KERNEL(level_sums_pull_##words##_##bits)                                                                             \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                         \
        level_sums_pull_pieces_##words##_##bits(level_sums::Levels<Offset> search) {                                             \
        level_sums::pull_pieces<words>(search);                                                                                  \
    }                                                                                                                            \
    WARPATH_KERNEL(level_sums_pull_pieces_##words##_##bits)                                                                      \
    extern "C" __global__ void __launch_bounds__(512, 2) level_sums_push_##words##_##bits(level_sums::Levels<Offset> search) {   \
        level_sums::push<words>(search);                                                                                         \
    }                                                                                                                            \
    WARPATH_KERNEL(level_sums_push_##words##_##bits)                                                                             \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                         \
        level_sums_gather_##words##_##bits(level_sums::Levels<Offset> search, u32 adds) {                                        \
        level_sums::gather<words>(search, adds != 0);                                                                            \
    }                                                                                                                            \
    WARPATH_KERNEL(level_sums_gather_##words##_##bits)

WARPATH_LEVEL_SUMS(1, 32, u32)
WARPATH_LEVEL_SUMS(1, 64, u64)
WARPATH_LEVEL_SUMS(4, 32, u32)
WARPATH_LEVEL_SUMS(4, 64, u64)
WARPATH_LEVEL_SUMS(8, 32, u32)
WARPATH_LEVEL_SUMS(8, 64, u64)
