// Betweenness by weights: from the distances of 32 searches, counts of shortest paths, and back. The host loop, and the essay, are in
// `src/cuda/betweenness/distances.rs`.
//
// Source: Brandes 2001, "A faster algorithm for betweenness centrality", algorithm 1; the order of the vertices after Kahn 1962,
// "Topological sorting of large networks".
//
// registers: 64
// no-sass: STL
#include "searches.cuh"

namespace betweenness {

/// The distance of a vertex that a search does not reach.
constexpr u32 unreachable = 0xffff'ffff;

/// Calls `body(vertex, begin, end)` with the row of each vertex in a set, or of all if there is no set: long rows in pieces, which all warps
/// share, others at once. A whole warp is called.
template <class Offset, class Body>
__device__ __forceinline__ void for_rows(const KernelArgument<Offset>& search, const u32* wanted, Body body) {
    for (u32 index = warp_of_grid(); index < search.piece_count; index += warps_of_grid()) {
        const uint2 piece = load_constant(&search.pieces[index]);
        if (wanted != nullptr && !contains(wanted, piece.x)) continue;
        const Offset begin = load_constant(&search.offsets[piece.x]), end = load_constant(&search.offsets[piece.x + 1]);
        const Offset first = static_cast<Offset>(piece.y) * segment;
        body(piece.x, max(begin, first), min(end, first + segment));
    }
    constexpr u32 at_once = levels_at_once;
    for (u32 group = warp_of_grid() * at_once; group < search.vertices; group += warps_of_grid() * at_once) {
        u32 left = (1u << min(at_once, search.vertices - group)) - 1;
        if (wanted != nullptr) left &= load_constant(&wanted[group / 32]) >> group % 32;
        if (left == 0) continue;
        // A lane for each vertex of the group, and for the end of the last row.
        const Offset offset = load_constant(&search.offsets[min(group + lane_index(), search.vertices)]);
        for (; left != 0; left &= left - 1) {
            const int k = __ffs(static_cast<int>(left)) - 1;
            const Offset begin = __shfl_sync(all_lanes, offset, k), end = __shfl_sync(all_lanes, offset, k + 1);
            if (end - begin <= long_row) body(group + static_cast<u32>(k), begin, end);
        }
    }
}

/// Notes for each arc in which searches it is tight.
template <class Offset>
__device__ __forceinline__ void find_tight(const KernelArgument<Offset>& search) {
    for_rows(search, nullptr, [&](u32 vertex, Offset begin, Offset end) {
        const u32 here = search.distances[place_of(vertex)];
        const bool is_reached = __any_sync(all_lanes, here != unreachable);
        for (Offset first = begin; first < end; first += lanes_a_warp) {
            const bool has = first + lane_index() < end;
            const uint2 arc = has ? load_constant(&search.arcs[first + lane_index()]) : make_uint2(0, 0);
            const u32 count = is_reached ? static_cast<u32>(min(end - first, static_cast<Offset>(lanes_a_warp))) : 0;
            u32 tight = 0;
            for (u32 from = 0; from < count; from += levels_at_once) {
                u32 there[levels_at_once];
#pragma unroll
                for (u32 k = 0; k < levels_at_once; ++k) {
                    const u32 head = __shfl_sync(all_lanes, arc.x, static_cast<int>(from + k));
                    there[k] = from + k < count ? search.distances[place_of(head)] : unreachable;
                }
#pragma unroll
                for (u32 k = 0; k < levels_at_once; ++k) {
                    const u32 weight = __shfl_sync(all_lanes, arc.y, static_cast<int>(from + k));
                    const bool is_tight = there[k] != unreachable && there[k] > here && there[k] - here == weight;
                    const u32 searches = __ballot_sync(all_lanes, is_tight);
                    if (lane_index() == from + k) tight = searches;
                }
            }
            if (has) search.tight[first + lane_index()] = tight;
        }
    });
}

/// Counts for each vertex, in each search, the tight arcs that lead there: the distances have become zeros.
template <class Offset>
__device__ __forceinline__ void count_tight(const KernelArgument<Offset>& search) {
    for_rows(search, nullptr, [&](u32, Offset begin, Offset end) {
        for (Offset first = begin; first < end; first += lanes_a_warp) {
            const bool has = first + lane_index() < end;
            const u32 tight = has ? load_constant(&search.tight[first + lane_index()]) : 0;
            const u32 some = __ballot_sync(all_lanes, tight != 0);
            const u32 head = tight != 0 ? load_constant(&search.heads[first + lane_index()]) : 0;
            for_lanes_of(some, [&](int from) {
                const u32 vertex = __shfl_sync(all_lanes, head, from);
                const u32 searches = __shfl_sync(all_lanes, tight, from);
                if ((searches >> lane_index() & 1) != 0) atomicAdd(&search.distances[place_of(vertex)], 1u);
            });
        }
    });
}

/// The way out: vertices whose counts are whole add them at the heads of their tight arcs. A head that has waited for this one last gets
/// the next number of a round.
template <class Offset>
__device__ __forceinline__ void push(const KernelArgument<Offset>& search) {
    for_rows(search, search.active, [&](u32 vertex, Offset begin, Offset end) {
        const bool is_asked = search.levels[place_of(vertex)] == static_cast<u16>(search.level);
        const double count = is_asked ? search.values[place_of(vertex)] : 0.0;
        const u32 asked = __ballot_sync(all_lanes, is_asked);
        const u32 inexact = __ballot_sync(all_lanes, count >= exact);
        if (inexact != 0 && lane_index() == 0) atomicOr(&search.news->inexact, inexact);
        for (Offset first = begin; first < end; first += lanes_a_warp) {
            const bool has = first + lane_index() < end;
            const u32 tight = has ? load_constant(&search.tight[first + lane_index()]) & asked : 0;
            const u32 head = tight != 0 ? load_constant(&search.heads[first + lane_index()]) : 0;
            for (u32 left = __ballot_sync(all_lanes, tight != 0); left != 0;) {
                int from[values_at_once];
                u32 heads[values_at_once], before[values_at_once];
                take_lowest(left, from);
#pragma unroll
                for (u32 k = 0; k < values_at_once; ++k) {
                    heads[k] = __shfl_sync(all_lanes, head, max(from[k], 0));
                    const u32 searches = __shfl_sync(all_lanes, tight, max(from[k], 0));
                    before[k] = 0;
                    if (from[k] >= 0 && (searches >> lane_index() & 1) != 0) {
                        atomicAdd(&search.values[place_of(heads[k])], count);
                        before[k] = atomicSub(&search.distances[place_of(heads[k])], 1u);
                    }
                }
#pragma unroll
                for (u32 k = 0; k < values_at_once; ++k) {
                    const bool is_whole = before[k] == 1;
                    if (is_whole) search.levels[place_of(heads[k])] = static_cast<u16>(search.level + 1);
                    mark(search, heads[k], is_whole);
                    if (__any_sync(all_lanes, is_whole) && lane_index() == 0) store(&search.news->found, 1u);
                }
            }
        }
    });
}

/// The way back: tight arcs count, whose heads are all in later rounds.
template <bool arcs>
struct DistancesBack : WayBack<arcs> {
    template <class Offset>
    static __device__ __forceinline__ u32 matches(const KernelArgument<Offset>& search, bool is_asked, bool has, Offset first, u32) {
        const u32 tight = has ? load_constant(&search.tight[first + lane_index()]) : 0;
        const u32 asked = __ballot_sync(all_lanes, is_asked);
        u32 matches = 0;
        for_lanes_of(__ballot_sync(all_lanes, (tight & asked) != 0), [&](int from) {
            const u32 searches = __shfl_sync(all_lanes, tight, from);
            if (is_asked && (searches >> lane_index() & 1) != 0) matches |= 1u << from;
        });
        return matches;
    }
};

}  // namespace betweenness

/// Puts the distances that one search found into their lane.
extern "C" __global__ void __launch_bounds__(512)
    betweenness_place_distances(const u32* found, u32 vertices, u32 lane, u32* distances) {
    const u32 threads = gridDim.x * blockDim.x;
    for (u32 vertex = blockIdx.x * blockDim.x + threadIdx.x; vertex < vertices; vertex += threads) {
        distances[static_cast<u64>(vertex) * lanes_a_warp + lane] = load_constant(&found[vertex]);
    }
}
WARPATH_KERNEL(betweenness_place_distances)

#define WARPATH_BETWEENNESS_STEP(step, bits, Offset)                                                                        \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                    \
        betweenness_##step##_##bits(betweenness::KernelArgument<Offset> search) {                                           \
        betweenness::step(search);                                                                                          \
    }                                                                                                                       \
    WARPATH_KERNEL(betweenness_##step##_##bits)

#define WARPATH_BETWEENNESS_BY_WEIGHTS(bits, Offset)                                                                        \
    WARPATH_BETWEENNESS_STEP(find_tight, bits, Offset)                                                                      \
    WARPATH_BETWEENNESS_STEP(count_tight, bits, Offset)                                                                     \
    WARPATH_BETWEENNESS_STEP(push, bits, Offset)                                                                            \
    WARPATH_BETWEENNESS_WAY(back_by_weights, bits, Offset, betweenness::DistancesBack<false>)                               \
    WARPATH_BETWEENNESS_WAY(back_by_weights_with_arcs, bits, Offset, betweenness::DistancesBack<true>)

WARPATH_BETWEENNESS_BY_WEIGHTS(32, u32)
WARPATH_BETWEENNESS_BY_WEIGHTS(64, u64)
