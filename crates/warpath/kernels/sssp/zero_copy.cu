// Shortest paths whose arcs stay in the host's memory, in one cooperative launch. The host loop, and the essay, are in
// `src/cuda/sssp/zero_copy.rs`.
//
// Source: Min et al. 2020, "EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs"; the threshold as in
// `near_far.cu`.
//
// registers: 72
// no-sass: STL
#include "bits.cuh"

namespace zero_copy {

template <class Lane, class Offset>
__device__ __forceinline__ void run(const KernelArgument<Lane, Offset>& search) {
    using Distance = typename Lane::Distance;
    __shared__ Sums sums;
    __shared__ State<Distance> state;
    const All mine{search.vertices};
    const Bits far{search.far, search.vertices};
    const auto near_of = [&](u32 round) { return Bits{search.near[round % 3], search.vertices}; };
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    if (threadIdx.x == 0) {
        sums = Sums{0, 0, 0, 0, nothing};
        state = first_state(search);
    }
    for (;;) {
        __syncthreads();
        if (!state.goes_on) break;
        const u32 round = state.round;
        const Distance threshold = state.threshold, settled = state.settled;
        if (state.splits && frontier::targets_are_settled(search.distances, search.targets_wanted, search.target_count, settled)) {
            break;
        }
        Turn* const turn = &search.turns[round % 3];
        Marker<Lane, Offset, All> next{search, mine, near_of(round + 1), far, sums};
        if (state.splits) {
            split(search, next, settled, threshold);
        } else {
            const ordered::Windows windows = {search.windows, search.window_count, search.least_of_window};
            ordered::in_windows(windows, state.frontier, [&](uint2 begin, uint2 end) {
                expand<true>(search, next, near_of(round), begin, end, threshold);
            });
        }
        ordered::clear(near_of(round + 2));
        if (is_first) {
            search.turns[(round + 1) % 3] = Turn{0, 0, 0, 0, 0, nothing};
            if (is_cancelled(search.cancelled)) store(&turn->cancelled, 1);
        }
        next.finish(turn);
        grid_barrier();
        if (threadIdx.x == 0) decide(search, state, news_of(turn));
    }
    if (is_first) report(search, state);
}

}  // namespace zero_copy

#define WARPATH_ZERO_COPY(lane, Lane, bits, Offset)                                            \
    extern "C" __global__ void __launch_bounds__(448, 2)                                       \
        sssp_zero_copy_##bits##_##lane(zero_copy::KernelArgument<Lane, Offset> search) {       \
        zero_copy::run(search);                                                                \
    }                                                                                          \
    WARPATH_KERNEL(sssp_zero_copy_##bits##_##lane)

WARPATH_ZERO_COPY(u32_u32, LaneNarrow, 32, u32)
WARPATH_ZERO_COPY(u32_u64, LaneWide, 32, u32)
WARPATH_ZERO_COPY(f32_f32, LaneSingle, 32, u32)
WARPATH_ZERO_COPY(f64_f64, LaneDouble, 32, u32)
WARPATH_ZERO_COPY(u32_u32, LaneNarrow, 64, u64)
WARPATH_ZERO_COPY(u32_u64, LaneWide, 64, u64)
WARPATH_ZERO_COPY(f32_f32, LaneSingle, 64, u64)
WARPATH_ZERO_COPY(f64_f64, LaneDouble, 64, u64)
