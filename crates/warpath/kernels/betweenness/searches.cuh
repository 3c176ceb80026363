// What betweenness breadth-first (`levels.cu`) and by weights (`distances.cu`) share: the state of 32 searches side by side, sums over rows
// in the order of their arcs, and what the way back makes of them. The essay is in `src/cuda/betweenness/mod.rs`.
//
// A *way* is a class that says what a row is looked through for, in the lane of each search:
//
//   is_back                                        whether it is the way back
//   has_arcs                                       whether the share of each arc is added up, too
//   asks(search, level)                            whether a search asks for a vertex that has this level
//   matches(search, is_asked, has, first, head)    for 32 arcs from `first` on, a head a lane, the bits of those that count in this lane's search
//   finish(search, vertex, is_asked, total)        what becomes of a vertex by the sum over its row; whether it is a target that was reached
#pragma once

#include "../rows.cuh"
#include "../generated/betweenness.cuh"

namespace betweenness {

/// The level of a vertex that a search has not reached, or has not counted the paths to.
constexpr u16 unreached = 0xffff;
/// Counts below are exact sums.
constexpr double exact = 9007199254740992.0;
/// 2^64.
constexpr double one = 18446744073709551616.0;
/// Vertices, and neighbors, whose levels or distances are asked for at once, and neighbors whose values are.
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

/// Adds the numbers of all lanes, each of 0 or more, to a sum that no other warp has: 64 bits after the point, then 64 before it.
__device__ __forceinline__ void add_to_sum(u64* sum, double number) {
    // Pieces of so many bits, of which a warp adds up 32 without overflow.
    constexpr u32 bits = 27, mask = (1u << bits) - 1;
    if (!__any_sync(all_lanes, number > 0)) return;
    const u64 whole = static_cast<u64>(number);
    const u64 part = static_cast<u64>(__dmul_rn(__dadd_rn(number, -static_cast<double>(whole)), one));
    const bool is_large = __any_sync(all_lanes, whole > mask);
    const u64 wholes = is_large ? warp_sum(whole) : warp_sum(static_cast<u32>(whole));
    const u64 low = warp_sum(static_cast<u32>(part) & mask), middle = warp_sum(static_cast<u32>(part >> bits) & mask);
    const u64 high = warp_sum(static_cast<u32>(part >> 2 * bits));
    if (lane_index() == 0) {
        const u64 lower = low + (middle << bits), parts = lower + (high << 2 * bits), before = sum[0];
        const u64 carried = (high >> (64 - 2 * bits)) + (parts < lower) + (before + parts < before);
        sum[0] = before + parts;
        sum[1] += wholes + carried;
    }
}

/// The sum of the values at the heads of those arcs of a vertex that count, in their order, for lanes that ask for it. First it is found out which arcs count
/// in some lane, then their values are asked for: loads that do not wait for each other.
template <class Way, class Offset>
__device__ __forceinline__ double sum_of(const KernelArgument<Offset>& search, u32 vertex, bool is_asked, Offset begin, Offset end) {
    double sum = 0, count = 0;
    bool is_counted = false;
    if (Way::has_arcs) {
        is_counted = is_asked && (search.news->inexact >> lane_index() & 1) == 0;
        count = is_counted ? search.values[place_of(vertex)] : 0.0;
    }
    for (Offset first = begin; first < end; first += lanes_a_warp) {
        const bool has = first + lane_index() < end;
        const u32 head = has ? load_constant(&search.heads[first + lane_index()]) : 0;
        const u32 matches = Way::matches(search, is_asked, has, first, head);
        for (u32 left = __reduce_or_sync(all_lanes, matches); left != 0;) {
            int from[values_at_once];
            double values[values_at_once];
            take_lowest(left, from);
#pragma unroll
            for (u32 k = 0; k < values_at_once; ++k) {
                const u32 there = __shfl_sync(all_lanes, head, max(from[k], 0));
                const bool is_match = from[k] >= 0 && (matches >> max(from[k], 0) & 1) != 0;
                values[k] = is_match ? search.values[place_of(there)] : 0.0;
            }
#pragma unroll
            for (u32 k = 0; k < values_at_once; ++k) sum = __dadd_rn(sum, values[k]);
            if (Way::has_arcs) {
#pragma unroll
                for (u32 k = 0; k < values_at_once; ++k) {
                    if (from[k] < 0) break;
                    u64* const sum_of_arc = &search.arc_sums[(static_cast<u64>(first) + static_cast<u32>(from[k])) * 2];
                    add_to_sum(sum_of_arc, is_counted ? __dmul_rn(count, values[k]) : 0.0);
                }
            }
        }
    }
    return sum;
}

/// Adds a vertex to those at the level that is worked on.
template <class Offset>
__device__ __forceinline__ void mark(const KernelArgument<Offset>& search, u32 vertex, bool is_active) {
    if (__any_sync(all_lanes, is_active) && lane_index() == 0) {
        atomicOr(&search.next_active[vertex / 32], 1u << vertex % 32);
    }
}

/// The way back, but for which arcs count: a vertex at the level that is worked on gets its dependency, and its count becomes
/// (1 + dependency) / count.
template <bool arcs>
struct WayBack {
    static constexpr bool is_back = true, has_arcs = arcs;

    template <class Offset>
    static __device__ __forceinline__ bool asks(const KernelArgument<Offset>& search, u16 level) {
        return level == static_cast<u16>(search.level);
    }

    template <class Offset>
    static __device__ __forceinline__ bool finish(const KernelArgument<Offset>& search, u32 vertex, bool is_asked, double total) {
        const u64 place = place_of(vertex);
        const double is_target = contains(search.targets, vertex) ? 1.0 : 0.0;
        const double count = is_asked ? search.values[place] : 1.0;
        const double dependency = is_asked ? __dmul_rn(count, total) : 0.0;
        if (is_asked) search.values[place] = __ddiv_rn(__dadd_rn(is_target, dependency), count);
        // No path of a search leads through its source, which is at level 0.
        const bool is_inside = is_asked && search.level > 0;
        const bool is_counted = is_inside && (search.news->inexact >> lane_index() & 1) == 0;
        const double number = search.endpoints != 0 ? __dadd_rn(dependency, is_target) : dependency;
        add_to_sum(&search.sums[static_cast<u64>(vertex) * 2], is_counted ? number : 0.0);
        return is_inside && is_target > 0;
    }
};

/// A piece of each long row: the sum over the arcs of one segment.
template <class Way, class Offset>
__device__ __forceinline__ void sum_pieces(const KernelArgument<Offset>& search) {
    for (u32 index = warp_of_grid(); index < search.piece_count; index += warps_of_grid()) {
        const uint2 piece = load_constant(&search.pieces[index]);
        const bool is_asked = Way::asks(search, search.levels[place_of(piece.x)]);
        if (!__any_sync(all_lanes, is_asked)) continue;
        const Offset begin = load_constant(&search.offsets[piece.x]), end = load_constant(&search.offsets[piece.x + 1]);
        const Offset first = static_cast<Offset>(piece.y) * segment;
        const double sum = sum_of<Way>(search, piece.x, is_asked, max(begin, first), min(end, first + segment));
        search.partial[static_cast<u64>(index) * lanes_a_warp + lane_index()] = sum;
    }
}

/// All vertices, long rows by the sums of their pieces.
template <class Way, class Offset>
__device__ __forceinline__ void visit(const KernelArgument<Offset>& search) {
    u32 reached = 0;
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
            if (__any_sync(all_lanes, Way::asks(search, levels[k]))) asked |= 1u << k;
        }
        for (; asked != 0; asked &= asked - 1) {
            const int k = __ffs(static_cast<int>(asked)) - 1;
            const Offset begin = __shfl_sync(all_lanes, offset, k), end = __shfl_sync(all_lanes, offset, k + 1);
            // On the way back a vertex without arcs has a share, too.
            if (end - begin > long_row || (!Way::is_back && begin == end)) continue;
            const u32 vertex = group + static_cast<u32>(k);
            const bool is_asked = Way::asks(search, search.levels[place_of(vertex)]);
            double total = 0;
            for (Offset first = begin; first < end;) {
                const Offset next = min(end, (first / segment + 1) * segment);
                total = __dadd_rn(total, sum_of<Way>(search, vertex, is_asked, first, next));
                first = next;
            }
            reached += Way::finish(search, vertex, is_asked, total);
        }
    }
    for (u32 index = warp_of_grid(); index < search.long_count; index += warps_of_grid()) {
        const uint4 row = load_constant(&search.long_rows[index]);
        const bool is_asked = Way::asks(search, search.levels[place_of(row.x)]);
        if (!__any_sync(all_lanes, is_asked)) continue;
        double total = 0;
        for (u32 piece = 0; piece < row.z; ++piece) {
            total = __dadd_rn(total, search.partial[(static_cast<u64>(row.y) + piece) * lanes_a_warp + lane_index()]);
        }
        reached += Way::finish(search, row.x, is_asked, total);
    }
    if (Way::is_back && search.endpoints != 0 && reached != 0) atomicAdd(&search.reached[lane_index()], reached);
}

}  // namespace betweenness

/// The two kernels of a way: of pieces, then of all vertices.
#define WARPATH_BETWEENNESS_WAY(name, bits, Offset, ...)                                                                    \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                    \
        betweenness_sum_pieces_##name##_##bits(betweenness::KernelArgument<Offset> search) {                                \
        betweenness::sum_pieces<__VA_ARGS__>(search);                                                                       \
    }                                                                                                                       \
    WARPATH_KERNEL(betweenness_sum_pieces_##name##_##bits)                                                                  \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                    \
        betweenness_visit_##name##_##bits(betweenness::KernelArgument<Offset> search) {                                     \
        betweenness::visit<__VA_ARGS__>(search);                                                                            \
    }                                                                                                                       \
    WARPATH_KERNEL(betweenness_visit_##name##_##bits)
