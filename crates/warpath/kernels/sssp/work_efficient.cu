// Bellman-Ford that relaxes only arcs whose tail's distance fell in the round before: the to-process-edge lists.
//
// Rejaud, "CS516 Project 2 CUDA Report", sect. 3. The host loop is `src/cuda/sssp/work_efficient.rs`. A round marks,
// filters and computes. Mark: every warp lists the arcs of its share that are to be processed, and counts them. Filter:
// a prefix sum of the counts says where the list of each warp begins in the list of all, and all lists are copied there.
// Compute: each warp takes an equal share of the list of all. There are two ways to filter.
//
// As described, one kernel filters: a single block of 64 threads, one for each of at most 64 warps. The block sums the
// counts; threads beyond the last warp add nothing, and drop out after the sum. Then each thread copies the list of its
// warp, one arc after another.
//
// By warps, two kernels filter, for any number of warps: a block sums the counts, as many at a time as it has threads,
// and then the warps of a whole grid copy their lists, 32 arcs at a time.
//
// Repairs and choices. The report does not say how a warp lists its arcs: here it votes, and lanes take places in the
// order of the arcs. Nor does it tell about `incore`: here it has one array of distances, which threads of the same
// launch read and lower, and a flag for each vertex whose distance fell. An arc whose tail falls again after it was
// relaxed is on the next list: its flag is raised then. The listing of the report has an array of records; each kernel
// that reads arcs exists for that and for an array each of tails, heads and weights.
//
// registers: 40
// no-sass: STL
#include "../rows.cuh"
#include "counts.cuh"
#include "edges.cuh"
#include "lanes.cuh"
#include "../generated/sssp/work_efficient.cuh"

namespace work_efficient {

// The part of a list that a warp takes.
__device__ __forceinline__ Share share_of_warp(u32 length) { return share_of(length, warp_of_grid(), warps_of_grid()); }

// Mark: lists the arcs of this warp's share whose tail passes the test, from the share's first place on.
template <class Edges, class Lane, class Test>
__device__ __forceinline__ void mark_with(const KernelArgument<Lane>& search, Test test) {
    const Share share = share_of_warp(search.arcs);
    u32 count = 0;
    for (u64 first = share.begin; first < share.end; first += lanes_a_warp) {
        const u64 arc = first + lane_index();
        const bool takes = arc < share.end && test(Edges::tail(search, arc));
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

template <class Edges, class Lane>
__device__ __forceinline__ void mark_outcore(const KernelArgument<Lane>& search) {
    mark_with<Edges>(search, [&](u32 tail) { return search.current[tail] < search.previous[tail]; });
}

template <class Edges, class Lane>
__device__ __forceinline__ void mark_incore(const KernelArgument<Lane>& search) {
    mark_with<Edges>(search, [&](u32 tail) { return search.fell[tail] != 0; });
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
template <class Edges, class Lane>
__device__ __forceinline__ void compute_outcore(const KernelArgument<Lane>& search) {
    const Share share = share_of_warp(search.places[warps_of_grid()]);
    for (u64 i = share.begin + lane_index(); i < share.end; i += lanes_a_warp) {
        const u32 arc = search.to_process[i], head = Edges::head(search, arc);
        const auto through = length_through<Lane>(
            search.previous[Edges::tail(search, arc)], Edges::weight(search, arc), search.limit, search.out_of_range);
        if (through < search.previous[head]) {
            lower(search, head, through);
        }
    }
}

// Compute, from the distances as they are now.
template <class Edges, class Lane>
__device__ __forceinline__ void compute_incore(const KernelArgument<Lane>& search) {
    const Share share = share_of_warp(search.places[warps_of_grid()]);
    for (u64 i = share.begin + lane_index(); i < share.end; i += lanes_a_warp) {
        const u32 arc = search.to_process[i], head = Edges::head(search, arc);
        const auto through = length_through<Lane>(
            load(search.current + Edges::tail(search, arc)), Edges::weight(search, arc), search.limit,
            search.out_of_range);
        if (through < load(search.current + head)) {
            lower(search, head, through);
            store(search.falls + head, u8(1));
        }
    }
}

}  // namespace work_efficient

#define WORK_EFFICIENT(name, function) \
    WARPATH_KERNEL_IN_LANES(name, work_efficient::function, work_efficient::KernelArgument)

WORK_EFFICIENT(sssp_work_efficient_mark_outcore, mark_outcore<FromArrays>)
WORK_EFFICIENT(sssp_work_efficient_mark_outcore_records, mark_outcore<FromRecords>)
WORK_EFFICIENT(sssp_work_efficient_mark_incore, mark_incore<FromArrays>)
WORK_EFFICIENT(sssp_work_efficient_mark_incore_records, mark_incore<FromRecords>)
WORK_EFFICIENT(sssp_work_efficient_compute_outcore, compute_outcore<FromArrays>)
WORK_EFFICIENT(sssp_work_efficient_compute_outcore_records, compute_outcore<FromRecords>)
WORK_EFFICIENT(sssp_work_efficient_compute_incore, compute_incore<FromArrays>)
WORK_EFFICIENT(sssp_work_efficient_compute_incore_records, compute_incore<FromRecords>)

// Filter as described: a block of 64 threads, one for each warp that marked. The sum of all counts goes behind the last
// place.
extern "C" __global__ void sssp_work_efficient_filter(
    const u32* marked, const u32* counts, u32* places, u32* to_process, u32 arcs, u32 warps) {
    const u32 warp = threadIdx.x, count = warp < warps ? counts[warp] : 0;
    const BlockSum<u32> sum = block_exclusive_sum(count);
    if (warp >= warps) {
        return;
    }
    const u64 begin = share_of(arcs, warp, warps).begin;
    for (u32 i = 0; i < count; i++) {
        to_process[sum.before + i] = marked[begin + i];
    }
    if (warp == 0) {
        places[warps] = sum.total;
    }
}
WARPATH_KERNEL(sssp_work_efficient_filter)

// Filter by warps, first: one block sums the counts. Where each warp's arcs begin in the list of all, and behind them how
// many that has.
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

// Filter by warps, second: every warp copies its arcs to their place.
extern "C" __global__ void sssp_work_efficient_gather(
    const u32* marked, const u32* counts, const u32* places, u32* to_process, u32 arcs) {
    const u32 warp = warp_of_grid(), count = counts[warp], place = places[warp];
    const u64 begin = work_efficient::share_of_warp(arcs).begin;
    for (u32 i = lane_index(); i < count; i += lanes_a_warp) {
        to_process[place + i] = marked[begin + i];
    }
}
WARPATH_KERNEL(sssp_work_efficient_gather)
