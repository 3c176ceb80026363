// Bellman-Ford that relaxes only arcs whose tail's distance fell in the round before: the to-process-edge lists.
//
// Rejaud, "CS516 Project 2 CUDA Report", sect. 3. The host loop is `src/cuda/sssp/work_efficient.rs`. A round is mark
// (every warp lists the arcs of its share that are to be processed, and counts them), scan (a prefix sum of the counts,
// by one block), gather (every warp copies its list to its place in the list of all) and compute (each warp takes an
// equal share of that list).
//
// Repairs and choices. The report's prefix sum is over at most 64 warps, by a block of 64 threads; here a block sums
// any number of warps, as many at a time as it has threads. The report does not tell about `incore`: here it has one
// array of distances, which threads of the same launch read and lower, and a flag for each vertex whose distance fell.
// An arc whose tail falls again after it was relaxed is on the next list: its flag is raised then.
//
// registers: 40
// no-sass: STL
#include "../rows.cuh"
#include "counts.cuh"
#include "lanes.cuh"
#include "../generated/sssp/work_efficient.cuh"

namespace work_efficient {

// The part of a list that a warp takes.
__device__ __forceinline__ Share share_of_warp(u32 length) { return share_of(length, warp_of_grid(), warps_of_grid()); }

// Mark: lists the arcs of this warp's share whose tail passes the test, from the share's first place on.
template <class Lane, class Test>
__device__ __forceinline__ void mark_with(const KernelArgument<Lane>& search, Test test) {
    const Share share = share_of_warp(search.arcs);
    u32 count = 0;
    for (u64 first = share.begin; first < share.end; first += lanes_a_warp) {
        const u64 arc = first + lane_index();
        const bool takes = arc < share.end && test(search.tails[arc]);
        const u32 ballot = __ballot_sync(all_lanes, takes);
        if (takes) {
            search.marked[share.begin + count + place_in_ballot(ballot)] = static_cast<u32>(arc);
        }
        count += __popc(ballot);
    }
    if (lane_index() == 0) {
        search.counts[warp_of_grid()] = count;
    }
}

template <class Lane>
__device__ __forceinline__ void mark_outcore(const KernelArgument<Lane>& search) {
    mark_with(search, [&](u32 tail) { return search.current[tail] < search.previous[tail]; });
}

template <class Lane>
__device__ __forceinline__ void mark_incore(const KernelArgument<Lane>& search) {
    mark_with(search, [&](u32 tail) { return search.fell[tail] != 0; });
}

template <class Lane>
__device__ __forceinline__ void lower(const KernelArgument<Lane>& search, u32 head, typename Lane::Distance distance) {
    if (search.statistics == nullptr) {
        atomicMin(search.current + head, distance);
    } else if (atomicMin(search.current + head, distance) > distance) {
        atomicAdd(&search.statistics->improvements, u64(1));
    }
}

// Compute, from the distances of the round before.
template <class Lane>
__device__ __forceinline__ void compute_outcore(const KernelArgument<Lane>& search) {
    const Share share = share_of_warp(search.places[warps_of_grid()]);
    for (u64 i = share.begin + lane_index(); i < share.end; i += lanes_a_warp) {
        const u32 arc = search.to_process[i], head = search.heads[arc];
        const auto through = length_through<Lane>(
            search.previous[search.tails[arc]], search.weights[arc], search.limit, search.out_of_range);
        if (through < search.previous[head]) {
            lower(search, head, through);
        }
    }
}

// Compute, from the distances as they are now.
template <class Lane>
__device__ __forceinline__ void compute_incore(const KernelArgument<Lane>& search) {
    const Share share = share_of_warp(search.places[warps_of_grid()]);
    for (u64 i = share.begin + lane_index(); i < share.end; i += lanes_a_warp) {
        const u32 arc = search.to_process[i], head = search.heads[arc];
        const auto through = length_through<Lane>(
            load(search.current + search.tails[arc]), search.weights[arc], search.limit, search.out_of_range);
        if (through < load(search.current + head)) {
            lower(search, head, through);
            store(search.falls + head, u8(1));
        }
    }
}

}  // namespace work_efficient

WARPATH_KERNEL_IN_LANES(sssp_work_efficient_mark_outcore, work_efficient::mark_outcore, work_efficient::KernelArgument)
WARPATH_KERNEL_IN_LANES(sssp_work_efficient_mark_incore, work_efficient::mark_incore, work_efficient::KernelArgument)
WARPATH_KERNEL_IN_LANES(sssp_work_efficient_compute_outcore, work_efficient::compute_outcore, work_efficient::KernelArgument)
WARPATH_KERNEL_IN_LANES(sssp_work_efficient_compute_incore, work_efficient::compute_incore, work_efficient::KernelArgument)

// The prefix sum, by one block: where each warp's arcs begin in the list of all, and behind them how many that has.
extern "C" __global__ void sssp_work_efficient_scan(const u32* counts, u32* places, u32 warps) {
    u32 before = 0;
    for (u32 first = 0; first < warps; first += blockDim.x) {
        const u32 warp = first + threadIdx.x;
        const BlockSum<u32> sum = block_exclusive_sum(warp < warps ? counts[warp] : 0u);
        if (warp < warps) {
            places[warp] = before + sum.before;
        }
        before += sum.total;
    }
    if (threadIdx.x == 0) {
        places[warps] = before;
    }
}
WARPATH_KERNEL(sssp_work_efficient_scan)

// Gather: every warp copies its arcs to their place.
extern "C" __global__ void sssp_work_efficient_gather(
    const u32* marked, const u32* counts, const u32* places, u32* to_process, u32 arcs) {
    const u32 warp = warp_of_grid(), count = counts[warp], place = places[warp];
    const u64 begin = work_efficient::share_of_warp(arcs).begin;
    for (u32 i = lane_index(); i < count; i += lanes_a_warp) {
        to_process[place + i] = marked[begin + i];
    }
}
WARPATH_KERNEL(sssp_work_efficient_gather)
