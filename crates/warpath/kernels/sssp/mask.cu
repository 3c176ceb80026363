// Shortest paths with one thread for a few vertices, a mask of those to relax, and costs that are updated on the side.
//
// Harish and Narayanan 2007, "Accelerating large graph algorithms on the GPU using CUDA", algorithms 3 to 5; with
// atomics Pathak et al. 2022, algorithms 10 to 12 and sect. 4.2, with thread coarsening sect. 4.3. The host loop is
// `src/cuda/sssp/mask.rs`.
//
// Repairs. Between the comparison and the store of algorithm 4 another thread may store a lesser value, which is then
// lost: here the two are an atomic minimum, as Pathak et al. have it (their fix; algorithm 11 as printed has the same
// fault). Line 6 of algorithm 5 sets the updating cost to the cost: it is never above it, so there is nothing to set.
// Instead of a flag, a counter tells the host to go on. Vertices beyond the last, which a grid of whole blocks has, do
// nothing.
//
// registers: 40
// no-sass: STL
#include "counts.cuh"
#include "lanes.cuh"
#include "../generated/sssp/mask.cuh"

namespace mask {

// Runs what `coarsening` threads would do, one after the other: for vertices next to each other if `stride` is one, else
// for vertices as far apart as there are threads.
template <class Lane, class Work>
__device__ __forceinline__ void for_each_vertex(const KernelArgument<Lane>& search, Work work) {
    const u64 thread = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x;
    u64 vertex = search.stride == 1 ? thread * search.coarsening : thread;
    for (u32 turn = 0; turn < search.coarsening && vertex < search.vertices; turn++) {
        work(static_cast<u32>(vertex));
        vertex += search.stride;
    }
}

// Phase 1: takes a vertex out of the mask and lowers its neighbours' updating costs by `lower`, which
// returns the costs before.
template <class Lane, class Lower>
__device__ __forceinline__ void relax_with(const KernelArgument<Lane>& search, Lower lower) {
    u32 relaxations = 0, improvements = 0;
    for_each_vertex(search, [&](u32 vertex) {
        if (!search.mask[vertex]) {
            return;
        }
        search.mask[vertex] = 0;
        const typename Lane::Distance cost = search.cost[vertex];
        for (u32 arc = search.offsets[vertex]; arc < search.offsets[vertex + 1]; arc++) {
            const typename Lane::Distance through =
                length_through<Lane>(cost, search.weights[arc], search.limit, search.out_of_range);
            typename Lane::Distance* const updating = search.updating + search.targets[arc];
            relaxations++;
            if (through >= load(updating)) {
                continue;
            }
            if (search.statistics == nullptr) {
                lower(updating, through);
            } else {
                improvements += through < lower(updating, through);
            }
        }
    });
    if (search.statistics != nullptr) {
        count_relaxations(*search.statistics, relaxations, improvements);
    }
}

template <class Lane>
__device__ __forceinline__ void relax(const KernelArgument<Lane>& search) {
    using Distance = typename Lane::Distance;
    relax_with(search, [](Distance* updating, Distance through) { return atomicMin(updating, through); });
}

// Algorithm 4 as it is printed, for study: of several stores to the same place the last one stays.
template <class Lane>
__device__ __forceinline__ void relax_unsynchronized(const KernelArgument<Lane>& search) {
    using Distance = typename Lane::Distance;
    relax_with(search, [](Distance* updating, Distance through) {
        const Distance before = load(updating);
        store(updating, through);
        return before;
    });
}

// Phase 2: makes updating costs that fell the costs, and puts their vertices in the mask.
template <class Lane>
__device__ __forceinline__ void update(const KernelArgument<Lane>& search) {
    u32 marked = 0;
    for_each_vertex(search, [&](u32 vertex) {
        if (search.cost[vertex] > search.updating[vertex]) {
            search.cost[vertex] = search.updating[vertex];
            search.mask[vertex] = 1;
            marked++;
        }
    });
    if (marked > 0) {
        atomicAdd(search.marked, marked);
    }
}

}  // namespace mask

WARPATH_KERNEL_IN_LANES(sssp_mask_relax, mask::relax, mask::KernelArgument)
WARPATH_KERNEL_IN_LANES(sssp_mask_relax_unsynchronized, mask::relax_unsynchronized, mask::KernelArgument)
WARPATH_KERNEL_IN_LANES(sssp_mask_update, mask::update, mask::KernelArgument)
