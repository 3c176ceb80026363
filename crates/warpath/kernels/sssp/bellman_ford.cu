// Bellman-Ford over a list of arcs, of which every warp takes a contiguous share.
//
// Rejaud, "CS516 Project 2 CUDA Report", sect. 2: outcore, incore, and with shared memory. The host loop is
// `src/cuda/sssp/bellman_ford.rs`.
//
// Repairs and choices. The listing has an array of records, `L[i].src`, `.dest` and `.weight`: each kernel exists for
// that, and for an array each of tails, heads and weights, of which a warp reads whole lines. Vertices without a
// distance relax nothing: their distance plus a weight is none. The report swaps the two arrays in its listing and says
// that it means to copy; the host copies. It leaves open how shared memory is used: here a block takes as many arcs at
// a time as it has threads, and a segmented minimum over runs of the same head leaves one atomic operation a run.
//
// registers: 40
// no-sass: STL
#include "../rows.cuh"
#include "counts.cuh"
#include "edges.cuh"
#include "lanes.cuh"
#include "../generated/sssp/bellman_ford.cuh"

namespace bellman_ford {

// The length through an arc from a tail at `from`, which may have no distance.
template <class Edges, class Lane>
__device__ __forceinline__ typename Lane::Distance through(
    const KernelArgument<Lane>& search, typename Lane::Distance from, u32 arc) {
    if (from == Lane::unreachable) {
        return from;
    }
    return length_through<Lane>(from, Edges::weight(search, arc), search.limit, search.out_of_range);
}

template <class Lane>
__device__ __forceinline__ void lower(const KernelArgument<Lane>& search, u32 head, typename Lane::Distance distance) {
    if (search.statistics == nullptr) {
        atomicMin(search.current + head, distance);
    } else if (atomicMin(search.current + head, distance) > distance) {
        atomicAdd(&search.statistics->improvements, u64(1));
    }
    store(search.changed, 1u);
}

// Calls `work` for every arc of this warp's share, one lane an arc.
template <class Work>
__device__ __forceinline__ void for_each_arc(u32 arcs, Work work) {
    const Share share = share_of(arcs, warp_of_grid(), warps_of_grid());
    for (u64 arc = share.begin + lane_index(); arc < share.end; arc += lanes_a_warp) {
        work(static_cast<u32>(arc));
    }
}

// Reads the distances of the round before, lowers those of this one.
template <class Edges, class Lane>
__device__ __forceinline__ void outcore(const KernelArgument<Lane>& search) {
    for_each_arc(search.arcs, [&](u32 arc) {
        const auto length = through<Edges>(search, search.previous[Edges::tail(search, arc)], arc);
        const u32 head = Edges::head(search, arc);
        if (length < search.previous[head]) {
            lower(search, head, length);
        }
    });
}

// One array: other threads may use, in the same round, the distances that a thread lowers.
template <class Edges, class Lane>
__device__ __forceinline__ void incore(const KernelArgument<Lane>& search) {
    for_each_arc(search.arcs, [&](u32 arc) {
        const auto length = through<Edges>(search, load(search.current + Edges::tail(search, arc)), arc);
        const u32 head = Edges::head(search, arc);
        if (length < load(search.current + head)) {
            lower(search, head, length);
        }
    });
}

// As outcore; the least length of each run of the same head is found in shared memory. Heads that are equal and not of
// the same run, as there are where arcs are not sorted by head, do no harm.
template <class Edges, class Lane>
__device__ __forceinline__ void shared(const KernelArgument<Lane>& search) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    Distance* const lengths = reinterpret_cast<Distance*>(memory);
    u32* const heads = reinterpret_cast<u32*>(lengths + blockDim.x);
    const u32 thread = threadIdx.x, threads = blockDim.x;
    const Share share = share_of(search.arcs, blockIdx.x, gridDim.x);
    for (u64 first = share.begin; first < share.end; first += threads) {
        constexpr u32 no_head = ~0u;
        const u64 arc = first + thread;
        u32 head = no_head;
        Distance length = Lane::unreachable;
        if (arc < share.end) {
            head = Edges::head(search, arc);
            length = through<Edges>(search, search.previous[Edges::tail(search, arc)], static_cast<u32>(arc));
        }
        lengths[thread] = length;
        heads[thread] = head;
        __syncthreads();
        for (u32 by = 1; by < threads; by *= 2) {
            const Distance before = thread >= by && heads[thread - by] == head ? lengths[thread - by] : length;
            __syncthreads();
            length = min(length, before);
            lengths[thread] = length;
            __syncthreads();
        }
        const bool ends_run = thread + 1 == threads || heads[thread + 1] != head;
        if (ends_run && head != no_head && length < search.previous[head]) {
            lower(search, head, length);
        }
        __syncthreads();
    }
}

}  // namespace bellman_ford

#define BELLMAN_FORD(name, function)                                                    \
    WARPATH_KERNEL_IN_LANES(name, bellman_ford::function, bellman_ford::KernelArgument) \
    WARPATH_KERNEL_IN_LANE(name, bellman_ford::function, bellman_ford::KernelArgument, i32_i64, LaneSigned)

BELLMAN_FORD(sssp_bellman_ford_outcore, outcore<FromArrays>)
BELLMAN_FORD(sssp_bellman_ford_outcore_records, outcore<FromRecords>)
BELLMAN_FORD(sssp_bellman_ford_incore, incore<FromArrays>)
BELLMAN_FORD(sssp_bellman_ford_incore_records, incore<FromRecords>)
BELLMAN_FORD(sssp_bellman_ford_shared, shared<FromArrays>)
BELLMAN_FORD(sssp_bellman_ford_shared_records, shared<FromRecords>)
