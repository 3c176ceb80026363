// Breadth-first search with one thread for each vertex of a queue, and an atomic counter that is the end of the next.
//
// Pathak et al. 2022, algorithms 3 and 4. The host loop is `src/cuda/bfs/queue.rs`.
//
// Repairs. None in the kernel: the atomic minimum lets only one thread see a neighbour without a level, so each vertex
// enters a queue once, and has one parent written. Without parents, which are derived from the levels afterwards, line 7
// of algorithm 4 is left out.
//
// registers: 32
// no-sass: STL
#include "../device.cuh"

namespace queue {

// Expands a vertex of the queue.
template <bool with_parents>
__device__ __forceinline__ void expand(const u32* offsets, const u32* targets, u32* levels, u32* parents, const u32* queue,
    u32* next, u32* next_size, u32 size, u32 level) {
    constexpr u32 unreached = ~0u;
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= size) {
        return;
    }
    const u32 vertex = queue[index];
    for (u32 arc = offsets[vertex]; arc < offsets[vertex + 1]; arc++) {
        const u32 neighbor = targets[arc];
        if (load(levels + neighbor) == unreached && atomicMin(levels + neighbor, level + 1) == unreached) {
            if (with_parents) {
                parents[neighbor] = vertex;
            }
            next[atomicAdd(next_size, 1u)] = neighbor;
        }
    }
}

}  // namespace queue

extern "C" __global__ void bfs_queue(
    const u32* offsets, const u32* targets, u32* levels, const u32* queue, u32* next, u32* next_size, u32 size, u32 level) {
    queue::expand<false>(offsets, targets, levels, nullptr, queue, next, next_size, size, level);
}
WARPATH_KERNEL(bfs_queue)

extern "C" __global__ void bfs_queue_with_parents(const u32* offsets, const u32* targets, u32* levels, u32* parents,
    const u32* queue, u32* next, u32* next_size, u32 size, u32 level) {
    queue::expand<true>(offsets, targets, levels, parents, queue, next, next_size, size, level);
}
WARPATH_KERNEL(bfs_queue_with_parents)
