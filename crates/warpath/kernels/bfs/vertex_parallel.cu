// Breadth-first search with one thread a vertex and a frontier of flags.
//
// Harish and Narayanan 2007, "Accelerating large graph algorithms on the GPU using CUDA", algorithms 1 and 2; the flag
// that tells the host to continue is from Singh 2017. The host loop is `src/cuda/bfs/vertex_parallel.rs`.
//
// Repairs. Algorithm 2 writes the frontier that it reads: a vertex put there may run in the same launch, and a
// neighbour on the same level that is not yet marked visited gets a cost too high. Here a launch that expands puts
// vertices in an `updating` mask, and a second launch moves them to `frontier` and `visited`, as algorithms 3 to 5 of
// the same paper do for shortest paths. Vertices beyond the last, which a grid of whole blocks has, do nothing.
//
// registers: 40
// no-sass: STL
#include "../device.cuh"

// For every vertex of the frontier: takes it out and puts its neighbours that were not visited in `updating`. Several
// threads may write the same neighbour; all write the same.
extern "C" __global__ void bfs_vertex_parallel_expand(
    const u32* offsets, const u32* targets, u8* frontier, const u8* visited, u8* updating, u32* cost, u32 vertices) {
    const u32 vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices || !frontier[vertex]) {
        return;
    }
    frontier[vertex] = 0;
    const u32 next = cost[vertex] + 1;
    for (u32 arc = offsets[vertex]; arc < offsets[vertex + 1]; arc++) {
        const u32 neighbor = targets[arc];
        if (!visited[neighbor]) {
            store(cost + neighbor, next);
            store(updating + neighbor, u8(1));
        }
    }
}
WARPATH_KERNEL(bfs_vertex_parallel_expand)

// Makes the vertices of `updating` the frontier, marks them visited, and sets `flag` if there are any.
extern "C" __global__ void bfs_vertex_parallel_update(
    u8* frontier, u8* visited, u8* updating, u32* flag, u32 vertices) {
    const u32 vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices || !updating[vertex]) {
        return;
    }
    updating[vertex] = 0;
    frontier[vertex] = 1;
    visited[vertex] = 1;
    store(flag, 1u);
}
WARPATH_KERNEL(bfs_vertex_parallel_update)

// Algorithm 2 as it is printed, for study: its costs may be too high. It ends all the same, since a vertex enters the
// frontier only by a thread that saw it not yet visited.
extern "C" __global__ void bfs_vertex_parallel_as_printed(
    const u32* offsets, const u32* targets, u8* frontier, u8* visited, u32* cost, u32* flag, u32 vertices) {
    const u32 vertex = blockIdx.x * blockDim.x + threadIdx.x;
    if (vertex >= vertices || !load(frontier + vertex)) {
        return;
    }
    store(frontier + vertex, u8(0));
    store(visited + vertex, u8(1));
    for (u32 arc = offsets[vertex]; arc < offsets[vertex + 1]; arc++) {
        const u32 neighbor = targets[arc];
        if (!load(visited + neighbor)) {
            store(cost + neighbor, load(cost + vertex) + 1);
            store(frontier + neighbor, u8(1));
            store(flag, 1u);
        }
    }
}
WARPATH_KERNEL(bfs_vertex_parallel_as_printed)
