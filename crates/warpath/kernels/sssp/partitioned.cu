// Shortest paths on several devices, each with a part of the vertices and the arcs that leave them: one cooperative launch on each.
// The host loop, and the essay, are in `src/cuda/sssp/partitioned.rs`.
//
// Source: the threshold as in `near_far.cu`; the partition in one dimension after Yoo et al. 2005.
//
// registers: 72
// no-sass: STL
#include "bits.cuh"
#include "../peers.cuh"

namespace partitioned {

using namespace zero_copy;

/// The arrays that others read: three of marks, and
constexpr u32 distance_array = 3;

/// Lowers the distances of this device's vertices to what others have found for them in the last round, and marks these for this one,
/// or puts them off.
template <class Lane, class Offset>
__device__ void receive(const KernelArgument<Lane, Offset>& search, const peers::Peers& peers, Marker<Lane, Offset, Some>& next,
                        const Bits& near, u32 array, typename Lane::Distance threshold) {
    using Distance = typename Lane::Distance;
    peers::from_peers(peers, array, [&](u32 mine, uint4 bits) {
        ordered::for_bits(bits, mine, [&](bool has, u32 vertex) {
            if (!has) return;
            Distance distance = Lane::unreachable;
            for (u32 device = 0; device < peers.count; device++) {
                // What was published for a vertex in an earlier search says nothing.
                if (device == peers.rank || !peers::may_have_found(peers, array, device, vertex)) continue;
                const u32* const theirs = peers.arrays[distance_array * peers::most_devices + device];
                distance = min(distance, load_system(reinterpret_cast<const Distance*>(theirs) + vertex));
            }
            const Distance old = load(&search.distances[vertex]);
            if (distance >= old) return;
            // Nobody else has this vertex.
            store(&search.distances[vertex], distance);
            if (distance < threshold) {
                near.insert(vertex);
            } else {
                next.put_off(vertex, distance);
            }
        });
    });
}

/// Publishes what this device has marked for others, and the distances that it has found for these.
template <class Lane, class Offset>
__device__ void publish(const KernelArgument<Lane, Offset>& search, const peers::Peers& peers, const Bits& near, u32 array) {
    using Distance = typename Lane::Distance;
    Distance* const there = reinterpret_cast<Distance*>(peers.published[distance_array]);
    peers::publish_marks(peers, array, near, [&](u32 mine, uint4 bits) {
        ordered::for_bits(bits, mine, [&](bool has, u32 vertex) {
            if (has) store_system(&there[vertex], load(&search.distances[vertex]));
        });
    });
}

/// How many of the targets on this device are not below the threshold; one warp calls it.
template <class Lane, class Offset>
__device__ u32 unsettled(const KernelArgument<Lane, Offset>& search, typename Lane::Distance threshold) {
    u32 count = 0;
    for (u32 i = lane_index(); i < search.target_count; i += lanes_a_warp) {
        count += load(&search.distances[load_constant(&search.targets_wanted[i])]) >= threshold;
    }
    return warp_sum(count);
}

template <class Lane, class Offset>
__device__ __forceinline__ void run(const KernelArgument<Lane, Offset>& search, const peers::Peers& peers) {
    using Distance = typename Lane::Distance;
    __shared__ Sums sums;
    __shared__ State<Distance> state;
    const Some mine{peers.first, peers.beyond};
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
        Turn* const turn = &search.turns[round % 3];
        Marker<Lane, Offset, Some> next{search, mine, near_of(round + 1), far, sums};
        if (state.splits) {
            // Nobody has marked anything in the last round.
            split(search, next, settled, threshold);
        } else {
            // After a split there is nothing from others yet.
            if (peers.count > 1 && (state.thresholds > 1 ? state.rounds > 1 : round > 0)) {
                receive(search, peers, next, near_of(round), round % 3, threshold);
                grid_barrier();
            }
            const ordered::Windows windows = {search.windows, search.window_count, search.least_of_window};
            ordered::in_windows(windows, state.frontier, [&](uint2 begin, uint2 end) {
                expand<false>(search, next, near_of(round), begin, end, threshold);
            });
        }
        ordered::clear(near_of(round + 2));
        if (is_first) {
            search.turns[(round + 1) % 3] = Turn{0, 0, 0, 0, 0, nothing};
            if (is_cancelled(search.cancelled)) store(&turn->cancelled, 1);
        }
        next.finish(turn);
        if (peers::is_through_host(peers) && !state.splits) {
            grid_barrier();
            publish(search, peers, near_of(round + 1), (round + 1) % 3);
        }
        const auto tell = [&] {
            const News news = news_of(turn);
            const u64 left = news.items == 0 ? unsettled(search, threshold) : 0;
            return peers::Letter{{news.items, news.entered, news.arcs, news.cancelled, left}, news.least, 0};
        };
        if (!peers::meet(peers, round + 1, tell)) return;
        if (threadIdx.x == 0) {
            const peers::Letter* const all = &peers.here->joined;
            const News news = {load(&all->sums[0]), load(&all->sums[1]), load(&all->sums[2]), load(&all->least),
                               load(&all->sums[3]) != 0};
            decide(search, state, news);
            // All below the last threshold is settled.
            if (state.splits && peers.targets_in_all > 0 && load(&all->sums[4]) == 0) state.goes_on = false;
        }
    }
    if (is_first) report(search, state);
}

}  // namespace partitioned

#define WARPATH_PARTITIONED(lane, Lane, bits, Offset)                                                       \
    extern "C" __global__ void __launch_bounds__(448, 2) sssp_partitioned_##bits##_##lane(                  \
        zero_copy::KernelArgument<Lane, Offset> search, peers::Peers peers) {                               \
        partitioned::run(search, peers);                                                                    \
    }                                                                                                       \
    WARPATH_KERNEL(sssp_partitioned_##bits##_##lane)

WARPATH_PARTITIONED(u32_u32, LaneNarrow, 32, u32)
WARPATH_PARTITIONED(u32_u64, LaneWide, 32, u32)
WARPATH_PARTITIONED(f32_f32, LaneSingle, 32, u32)
WARPATH_PARTITIONED(f64_f64, LaneDouble, 32, u32)
WARPATH_PARTITIONED(u32_u32, LaneNarrow, 64, u64)
WARPATH_PARTITIONED(u32_u64, LaneWide, 64, u64)
WARPATH_PARTITIONED(f32_f32, LaneSingle, 64, u64)
WARPATH_PARTITIONED(f64_f64, LaneDouble, 64, u64)
