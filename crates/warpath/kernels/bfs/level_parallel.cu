// Breadth-first search with one thread a vertex and no frontier: a vertex is expanded when its level is the current
// one.
//
// Pathak et al. 2022, algorithms 1 and 2. The host loop is `src/cuda/bfs/level_parallel.rs`.
//
// Repairs. None in the kernel: a thread reads levels that others write in the same launch, but whatever it sees is
// above the current level, and all write the same. The listing declares a parent array and never writes it; parents are
// derived from the levels afterwards.
//
// registers: 32
// no-sass: STL
#include "../device.cuh"

extern "C" __global__ void bfs_level_parallel(
    const u32* offsets, const u32* targets, u32* levels, u32* flag, u32 level, u32 vertices) {
    const u32 vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices || load(levels + vertex) != level) {
        return;
    }
    bool found = false;
    for (u32 arc = offsets[vertex]; arc < offsets[vertex + 1]; arc++) {
        const u32 neighbor = targets[arc];
        if (level + 1 < load(levels + neighbor)) {
            store(levels + neighbor, level + 1);
            found = true;
        }
    }
    if (found) {
        store(flag, 1u);
    }
}
WARPATH_KERNEL(bfs_level_parallel)
