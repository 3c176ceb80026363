// Betweenness: breadth-first from 32 sources at once with counts of shortest paths, and back. The host loop, and the essay, are in
// `src/cuda/betweenness.rs`.
//
// Source: Brandes 2001, "A faster algorithm for betweenness centrality", algorithm 1.
//
// registers: 64
// no-sass: STL
#include "rows.cuh"
#include "generated/betweenness.cuh"

namespace betweenness {

constexpr u16 unreached = 0xffff;
/// Counts below are exact sums.
constexpr double exact = 9007199254740992.0;
/// 2^64.
constexpr double one = 18446744073709551616.0;
/// Vertices, and neighbors, whose levels are asked for at once, and neighbors whose values are.
constexpr u32 levels_at_once = 8;
constexpr u32 values_at_once = 4;

/// Where the state of a vertex is in the search that this lane has.
__device__ __forceinline__ u64 place_of(u32 vertex) { return static_cast<u64>(vertex) * lanes_a_warp + lane_index(); }

__device__ __forceinline__ bool contains(const u32* bits, u32 vertex) {
    return (load_constant(&bits[vertex / 32]) >> vertex % 32 & 1) != 0;
}

/// Takes the lowest bits out of a set, up to `count` of them; `from[k]` is the place of one, or a negative number.
template <u32 count>
__device__ __forceinline__ void take_lowest(u32& left, int (&from)[count]) {
#pragma unroll
    for (u32 k = 0; k < count; ++k) {
        from[k] = __ffs(static_cast<int>(left)) - 1;
        left &= left - 1;
    }
}

/// The sum of the values at the heads of some arcs that are at the level looked for, in the order of the arcs, for lanes that ask for it. First the levels of all
/// heads are asked for that any search has at this level, then the values of those that match in some lane: loads that do not wait for each other.
template <class Offset>
__device__ __forceinline__ double sum_of(const KernelArgument<Offset>& search, bool is_asked, u16 wanted, Offset begin, Offset end) {
    double sum = 0;
    for (Offset first = begin; first < end; first += lanes_a_warp) {
        const bool has = first + lane_index() < end;
        const u32 head = has ? load_constant(&search.heads[first + lane_index()]) : 0;
        u32 matches = 0;
        for (u32 left = __ballot_sync(all_lanes, has && contains(search.active, head)); left != 0;) {
            int from[levels_at_once];
            u16 levels[levels_at_once];
            take_lowest(left, from);
#pragma unroll
            for (u32 k = 0; k < levels_at_once; ++k) {
                const u32 vertex = __shfl_sync(all_lanes, head, max(from[k], 0));
                levels[k] = from[k] >= 0 ? search.levels[place_of(vertex)] : unreached;
            }
#pragma unroll
            for (u32 k = 0; k < levels_at_once; ++k) {
                if (is_asked && levels[k] == wanted) matches |= 1u << max(from[k], 0);
            }
        }
        for (u32 left = __reduce_or_sync(all_lanes, matches); left != 0;) {
            int from[values_at_once];
            double values[values_at_once];
            take_lowest(left, from);
#pragma unroll
            for (u32 k = 0; k < values_at_once; ++k) {
                const u32 vertex = __shfl_sync(all_lanes, head, max(from[k], 0));
                const bool is_match = from[k] >= 0 && (matches >> max(from[k], 0) & 1) != 0;
                values[k] = is_match ? search.values[place_of(vertex)] : 0.0;
            }
#pragma unroll
            for (u32 k = 0; k < values_at_once; ++k) sum = __dadd_rn(sum, values[k]);
        }
    }
    return sum;
}

/// Whether this lane's search asks for a vertex with this level: on the way out if it has not reached it, on the way back if it has at this
/// level.
template <bool back, class Offset>
__device__ __forceinline__ bool asks(const KernelArgument<Offset>& search, u16 level) {
    const bool is_search = (search.lanes >> lane_index() & 1) != 0;
    return is_search && level == (back ? static_cast<u16>(search.level) : unreached);
}

/// Adds the numbers of all lanes, each of 0 or more, to the sum of a vertex, which no other warp has.
__device__ __forceinline__ void add_to_sum(u64* sum, double number) {
    if (!__any_sync(all_lanes, number > 0)) return;
    const u64 whole = static_cast<u64>(number);
    const u64 part = static_cast<u64>(__dmul_rn(__dadd_rn(number, -static_cast<double>(whole)), one));
    const u64 wholes = warp_sum(whole), low = warp_sum(part & 0xffff'ffff), high = warp_sum(part >> 32);
    if (lane_index() == 0) {
        const u64 parts = low + (high << 32), before = sum[0];
        const u64 carried = (high >> 32) + (parts < low) + (before + parts < before);
        sum[0] = before + parts;
        sum[1] += wholes + carried;
    }
}

/// Gives a vertex its level and count, or its share, in the searches that ask for it. `total` is the sum over its arcs.
template <bool back, class Offset>
__device__ __forceinline__ void finish(const KernelArgument<Offset>& search, u32 vertex, bool asks, double total) {
    const u64 place = place_of(vertex);
    bool is_active = asks;
    if (back) {
        const double count = asks ? search.values[place] : 1.0;
        const double dependency = asks ? __dmul_rn(count, total) : 0.0;
        if (asks) search.values[place] = __ddiv_rn(__dadd_rn(1.0, dependency), count);
        const bool counts = asks && (search.news->inexact >> lane_index() & 1) == 0;
        add_to_sum(&search.sums[static_cast<u64>(vertex) * 2], counts ? dependency : 0.0);
    } else {
        is_active = asks && total > 0;
        if (is_active) {
            search.levels[place] = static_cast<u16>(search.level);
            search.values[place] = total;
        }
        const u32 inexact = __ballot_sync(all_lanes, is_active && total >= exact);
        if (inexact != 0 && lane_index() == 0) atomicOr(&search.news->inexact, inexact);
    }
    if (__any_sync(all_lanes, is_active) && lane_index() == 0) {
        atomicOr(&search.next_active[vertex / 32], 1u << vertex % 32);
        if (!back) store(&search.news->found, 1u);
    }
}

/// The level of the neighbors that count.
template <bool back, class Offset>
__device__ __forceinline__ u16 wanted_level(const KernelArgument<Offset>& search) {
    return static_cast<u16>(back ? search.level + 1 : search.level - 1);
}

/// A piece of each long row: the sum over the arcs of one segment.
template <bool back, class Offset>
__device__ __forceinline__ void sum_pieces(const KernelArgument<Offset>& search) {
    for (u32 index = warp_of_grid(); index < search.piece_count; index += warps_of_grid()) {
        const uint2 piece = load_constant(&search.pieces[index]);
        const bool is_asked = asks<back>(search, search.levels[place_of(piece.x)]);
        if (!__any_sync(all_lanes, is_asked)) continue;
        const Offset begin = load_constant(&search.offsets[piece.x]), end = load_constant(&search.offsets[piece.x + 1]);
        const Offset first = static_cast<Offset>(piece.y) * segment;
        const double sum =
            sum_of(search, is_asked, wanted_level<back>(search), max(begin, first), min(end, first + segment));
        search.partial[static_cast<u64>(index) * lanes_a_warp + lane_index()] = sum;
    }
}

/// All vertices, long rows by the sums of their pieces.
template <bool back, class Offset>
__device__ __forceinline__ void visit(const KernelArgument<Offset>& search) {
    const u32 stride = warps_of_grid() * levels_at_once;
    for (u32 group = warp_of_grid() * levels_at_once; group < search.vertices; group += stride) {
        // A lane for each vertex of the group, and for the end of the last row.
        const u32 place = min(group + lane_index(), search.vertices);
        const Offset offset = load_constant(&search.offsets[place]);
        u16 levels[levels_at_once];
#pragma unroll
        for (u32 k = 0; k < levels_at_once; ++k) {
            levels[k] = group + k < search.vertices ? search.levels[place_of(group + k)] : static_cast<u16>(unreached - 1);
        }
        u32 asked = 0;
#pragma unroll
        for (u32 k = 0; k < levels_at_once; ++k) {
            if (__any_sync(all_lanes, asks<back>(search, levels[k]))) asked |= 1u << k;
        }
        for (; asked != 0; asked &= asked - 1) {
            const int k = __ffs(static_cast<int>(asked)) - 1;
            const Offset begin = __shfl_sync(all_lanes, offset, k), end = __shfl_sync(all_lanes, offset, k + 1);
            // On the way back a vertex without arcs has a share, too.
            if (end - begin > long_row || (!back && begin == end)) continue;
            const u32 vertex = group + static_cast<u32>(k);
            const bool is_asked = asks<back>(search, search.levels[place_of(vertex)]);
            double total = 0;
            for (Offset first = begin; first < end;) {
                const Offset next = min(end, (first / segment + 1) * segment);
                total = __dadd_rn(total, sum_of(search, is_asked, wanted_level<back>(search), first, next));
                first = next;
            }
            finish<back>(search, vertex, is_asked, total);
        }
    }
    for (u32 index = warp_of_grid(); index < search.long_count; index += warps_of_grid()) {
        const uint4 row = load_constant(&search.long_rows[index]);
        const bool is_asked = asks<back>(search, search.levels[place_of(row.x)]);
        if (!__any_sync(all_lanes, is_asked)) continue;
        double total = 0;
        for (u32 piece = 0; piece < row.z; ++piece) {
            total = __dadd_rn(total, search.partial[(static_cast<u64>(row.y) + piece) * lanes_a_warp + lane_index()]);
        }
        finish<back>(search, row.x, is_asked, total);
    }
}

}  // namespace betweenness

/// Puts each search at its source.
extern "C" __global__ void __launch_bounds__(32)
    betweenness_start(const u32* sources, u32 count, u16* levels, double* values, u32* active) {
    if (threadIdx.x < count) {
        const u32 source = load_constant(&sources[threadIdx.x]);
        levels[betweenness::place_of(source)] = 0;
        values[betweenness::place_of(source)] = 1.0;
        atomicOr(&active[source / 32], 1u << source % 32);
    }
}
WARPATH_KERNEL(betweenness_start)

#define WARPATH_BETWEENNESS(bits, Offset)                                                                                         \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                          \
        betweenness_sum_pieces_out_##bits(betweenness::KernelArgument<Offset> search) {                                           \
        betweenness::sum_pieces<false>(search);                                                                                   \
    }                                                                                                                             \
    WARPATH_KERNEL(betweenness_sum_pieces_out_##bits)                                                                             \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                          \
        betweenness_visit_out_##bits(betweenness::KernelArgument<Offset> search) {                                                \
        betweenness::visit<false>(search);                                                                                        \
    }                                                                                                                             \
    WARPATH_KERNEL(betweenness_visit_out_##bits)                                                                                  \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                          \
        betweenness_sum_pieces_back_##bits(betweenness::KernelArgument<Offset> search) {                                          \
        betweenness::sum_pieces<true>(search);                                                                                    \
    }                                                                                                                             \
    WARPATH_KERNEL(betweenness_sum_pieces_back_##bits)                                                                            \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                          \
        betweenness_visit_back_##bits(betweenness::KernelArgument<Offset> search) {                                               \
        betweenness::visit<true>(search);                                                                                         \
    }                                                                                                                             \
    WARPATH_KERNEL(betweenness_visit_back_##bits)

WARPATH_BETWEENNESS(32, u32)
WARPATH_BETWEENNESS(64, u64)
