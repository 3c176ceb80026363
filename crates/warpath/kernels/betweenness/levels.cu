// Betweenness breadth-first: levels and counts of shortest paths from 32 sources at once, and back. The host loop is in
// `src/cuda/betweenness/levels.rs`, the essay in `mod.rs` beside it.
//
// Source: Brandes 2001, "A faster algorithm for betweenness centrality", algorithm 1.
//
// registers: 64
// no-sass: STL
#include "searches.cuh"

namespace betweenness {

/// Of 32 arcs, a head a lane, the bits of those whose heads have the level that is looked for in this lane's search. Levels are read of
/// heads alone that some search has at this level.
template <class Offset>
__device__ __forceinline__ u32 at_level(const KernelArgument<Offset>& search, bool is_asked, bool has, u32 head, u16 wanted) {
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
    return matches;
}

/// The way out, over arcs by head: a vertex that a search has not reached gets the sum of the counts at the level before.
struct LevelsOut {
    static constexpr bool is_back = false, has_arcs = false;

    template <class Offset>
    static __device__ __forceinline__ bool asks(const KernelArgument<Offset>& search, u16 level) {
        return (search.lanes >> lane_index() & 1) != 0 && level == unreached;
    }

    template <class Offset>
    static __device__ __forceinline__ u32 matches(const KernelArgument<Offset>& search, bool is_asked, bool has, Offset, u32 head) {
        return at_level(search, is_asked, has, head, static_cast<u16>(search.level - 1));
    }

    template <class Offset>
    static __device__ __forceinline__ bool finish(const KernelArgument<Offset>& search, u32 vertex, bool is_asked, double total) {
        const u64 place = place_of(vertex);
        const bool is_found = is_asked && total > 0;
        if (is_found) {
            search.levels[place] = static_cast<u16>(search.level);
            search.values[place] = total;
        }
        const u32 inexact = __ballot_sync(all_lanes, is_found && total >= exact);
        if (inexact != 0 && lane_index() == 0) atomicOr(&search.news->inexact, inexact);
        mark(search, vertex, is_found);
        if (__any_sync(all_lanes, is_found) && lane_index() == 0) store(&search.news->found, 1u);
        return false;
    }
};

/// The way back, over arcs by tail: those count that lead to the next level.
template <bool arcs>
struct LevelsBack : WayBack<arcs> {
    template <class Offset>
    static __device__ __forceinline__ u32 matches(const KernelArgument<Offset>& search, bool is_asked, bool has, Offset, u32 head) {
        return at_level(search, is_asked, has, head, static_cast<u16>(search.level + 1));
    }

    template <class Offset>
    static __device__ __forceinline__ bool finish(const KernelArgument<Offset>& search, u32 vertex, bool is_asked, double total) {
        mark(search, vertex, is_asked);
        return WayBack<arcs>::finish(search, vertex, is_asked, total);
    }
};

}  // namespace betweenness

/// Puts each of these searches at its source. There is a lane for each source.
extern "C" __global__ void __launch_bounds__(32)
    betweenness_start(const u32* sources, u32 lanes, u16* levels, double* values, u32* active) {
    if ((lanes >> threadIdx.x & 1) != 0) {
        const u32 source = load_constant(&sources[threadIdx.x]);
        levels[betweenness::place_of(source)] = 0;
        values[betweenness::place_of(source)] = 1.0;
        atomicOr(&active[source / 32], 1u << source % 32);
    }
}
WARPATH_KERNEL(betweenness_start)

WARPATH_BETWEENNESS_WAY(out, 32, u32, betweenness::LevelsOut)
WARPATH_BETWEENNESS_WAY(out, 64, u64, betweenness::LevelsOut)
WARPATH_BETWEENNESS_WAY(back, 32, u32, betweenness::LevelsBack<false>)
WARPATH_BETWEENNESS_WAY(back, 64, u64, betweenness::LevelsBack<false>)
WARPATH_BETWEENNESS_WAY(back_with_arcs, 32, u32, betweenness::LevelsBack<true>)
WARPATH_BETWEENNESS_WAY(back_with_arcs, 64, u64, betweenness::LevelsBack<true>)
