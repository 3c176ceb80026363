// Breadth-first search whose arcs stay in the host's memory, in one cooperative launch. The host loop, and the essay, are in
// `src/cuda/bfs/zero_copy.rs`.
//
// Source: Min et al. 2020, "EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs"; the directions after
// Beamer, Asanovic and Patterson 2012.
//
// registers: 64
// no-sass: STL
#include "bits.cuh"

namespace zero_copy {

template <class Offset>
__device__ __forceinline__ void run(const KernelArgument<Offset>& search) {
    const u32 groups = (search.vertices + ordered::group - 1) / ordered::group;
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    const All mine{search.vertices};
    u32 level = 1, bottom_up_levels = 0;
    Progress now;
    for (; level <= search.cutoff; level++) {
        const Turn* const last = &search.turns[(level - 1) % 3];
        Turn* const turn = &search.turns[level % 3];
        const u32 found = load(&last->found);
        if (found == 0 || load(&last->cancelled)) break;
        if (frontier::targets_are_settled(search.levels, search.targets_wanted, search.target_count, level)) break;
        now.found = found;
        now.new_arcs = static_cast<float>(load(&last->arcs));
        now.visited += static_cast<float>(found);
        now.arcs += now.new_arcs;
        const bool up = search.best_tails != nullptr && is_better_bottom_up(search, now);
        if (is_first) {
            search.turns[(level + 1) % 3] = Turn{0, 0, 0};
            if (is_cancelled(search.cancelled)) store(&turn->cancelled, 1);
        }
        u32* const frontier = search.frontier[level % 3];
        Marker<Offset, All> next{search, mine, frontier, level};
        if (up) {
            bottom_up(search, next);
            bottom_up_levels++;
        } else {
            const ordered::Windows windows = {search.windows, search.window_count, search.least_of_window};
            ordered::in_windows(windows, found, [&](uint2 begin, uint2 end) {
                top_down(search, next, search.frontier[(level - 1) % 3], begin, end);
            });
        }
        ordered::clear(search.frontier[(level + 1) % 3], groups);
        next.finish(turn);
        grid_barrier();
        if (up) {
            merge(search, mine, frontier);
            grid_barrier();
        }
    }
    if (is_first) {
        store(&search.report[0], level - 1);
        store(&search.report[1], bottom_up_levels);
    }
}

}  // namespace zero_copy

#define WARPATH_ZERO_COPY(bits, Offset)                                                                                    \
    extern "C" __global__ void __launch_bounds__(512, 2) bfs_zero_copy_##bits(zero_copy::KernelArgument<Offset> search) {   \
        zero_copy::run(search);                                                                                            \
    }                                                                                                                      \
    WARPATH_KERNEL(bfs_zero_copy_##bits)                                                                                   \
    extern "C" __global__ void __launch_bounds__(512)                                                                      \
        bfs_zero_copy_best_tails_##bits(const Offset* offsets, const u32* targets, u32 vertices, uint2* best_tails) {       \
        const auto degree_of = [&](u32 tail) {                                                                             \
            return static_cast<u32>(load_constant(&offsets[tail + 1]) - load_constant(&offsets[tail]));                    \
        };                                                                                                                 \
        zero_copy::choose_best_tails(offsets, targets, zero_copy::All{vertices}, degree_of, best_tails);                   \
    }                                                                                                                      \
    WARPATH_KERNEL(bfs_zero_copy_best_tails_##bits)

WARPATH_ZERO_COPY(32, u32)
WARPATH_ZERO_COPY(64, u64)
