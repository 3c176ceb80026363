// Breadth-first search with one thread a vertex, as Singh prints it: a record for each vertex, arrays of flags for the
// frontier and for the visited vertices, a barrier in the kernel, and one launch a level.
//
// Singh 2017, "BFS graph traversal algorithm using CUDA", fig. 6 (the kernel) and fig. 7 (the host loop). The names of
// the arguments are his. The host loop is `src/cuda/bfs/singh.rs`, which lists the repairs of the host's part.
//
// Repairs.
// - A thread whose id is beyond the last vertex has nothing to do. As printed, the comparison is `>`, it does not keep
//   the thread from reading beyond the arrays, and it sets `update`: a grid with such threads would never end.
// - The barrier stands in a branch that only some threads of a block take, where it is undefined. Here the branch ends
//   before it and begins again after it, so that all threads of the block reach it.
// - The kernel writes the frontier that it reads. Within one block the barrier keeps reads and writes apart, but a
//   thread of another block may run a vertex of the next level in this level's launch. Here the next level goes to an
//   array of its own, and the host swaps the two.
// - For the same reason, a vertex of the same level may not be marked visited yet, and would get a cost too high. Here
//   a cost is only ever lowered.
// - Indices are unsigned.
//
// Where the paper prints an id, this kernel can record it: `order` is null unless that is asked for.
//
// registers: 32
// no-sass: STL
#include "../device.cuh"
#include "../generated/bfs/singh.cuh"

namespace singh {

// Expands the vertices of the frontier. As printed, `d_next` is `d_frontier`, and any neighbor not visited gets a cost.
template <bool repaired>
__device__ __forceinline__ void expand(const Node* d_vertices, const u32* d_edges, u8* d_frontier, u8* d_next, u8* d_visited,
    u32* d_cost, u8* d_update, u32* order, u32* ordered, u32 number_of_nodes) {
    const u32 id = threadIdx.x + blockIdx.x * max_threads_per_block;
    const bool is_expanded = id < number_of_nodes && load(d_frontier + id) && !load(d_visited + id);
    if (is_expanded) {
        if (order != nullptr) {
            order[atomicAdd(ordered, 1u)] = id;
        }
        store(d_frontier + id, u8(0));
        store(d_visited + id, u8(1));
    }
    __syncthreads();
    if (is_expanded) {
        const u32 f_index = d_vertices[id].f_index;
        const u32 end = f_index + d_vertices[id].tnodes;
        for (u32 i = f_index; i < end; i++) {
            const u32 nid = d_edges[i];
            if (load(d_visited + nid)) {
                continue;
            }
            const u32 cost = load(d_cost + id) + 1;
            if (!repaired || cost < load(d_cost + nid)) {
                store(d_cost + nid, cost);
                store(d_next + nid, u8(1));
                store(d_update, u8(0));
            }
        }
    }
}

}  // namespace singh

extern "C" __global__ void bfs_singh(const singh::Node* d_vertices, const u32* d_edges, u8* d_frontier, u8* d_next,
    u8* d_visited, u32* d_cost, u8* d_update, u32* order, u32* ordered, u32 number_of_nodes) {
    singh::expand<true>(
        d_vertices, d_edges, d_frontier, d_next, d_visited, d_cost, d_update, order, ordered, number_of_nodes);
}
WARPATH_KERNEL(bfs_singh)

// With the races as they are printed, for study: costs may be too high. It ends all the same, since a launch asks for
// another one only if a vertex was expanded in it, and no vertex is expanded twice.
extern "C" __global__ void bfs_singh_as_printed(const singh::Node* d_vertices, const u32* d_edges, u8* d_frontier,
    u8* d_visited, u32* d_cost, u8* d_update, u32 number_of_nodes) {
    singh::expand<false>(
        d_vertices, d_edges, d_frontier, d_frontier, d_visited, d_cost, d_update, nullptr, nullptr, number_of_nodes);
}
WARPATH_KERNEL(bfs_singh_as_printed)
