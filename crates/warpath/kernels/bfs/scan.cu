// Breadth-first search with a queue whose places are found by prefix sums instead of atomics.
//
// Pathak et al. 2022, algorithms 5 to 9. The host loop is `src/cuda/bfs/scan.rs`. A level takes five launches: give the
// neighbours their level and let one arc claim each; count the claims of each vertex of the queue; sum the counts
// within blocks; sum the sums of the blocks; write the claimed neighbours to the next queue.
//
// Repairs. Algorithm 6 stores the vertex that claims where algorithms 7 and 9 compare the arc: here the arc claims, so
// that of parallel arcs only one counts, and an arc from a vertex to itself never does, as its head has a level.
// Algorithm 8 indexes shared memory by the thread's number in the grid, and synchronizes in code that not all threads
// run: here the number is the one in the block, and threads beyond the queue's end take part with a count of zero. Its
// sum leaves out the last counts of a block; here it is the usual up-sweep and down-sweep. Algorithm 9 adds the count
// before its own instead of the sum before it, and reads one block's offset for all. Line 14 of algorithm 5 takes the
// queue's size from the sums before they are summed.
//
// registers: 40
// no-sass: STL
#include "../device.cuh"

// The sum of `value` over the threads before this one in the block, and over all of them in `total`. The block has a
// power of two of threads, and `sums` has one number for each.
static __device__ u32 sum_of_those_before(u32* sums, u32 value, u32& total) {
    const u32 thread = threadIdx.x, threads = blockDim.x;
    sums[thread] = value;
    for (u32 half = 1; half < threads; half *= 2) {
        __syncthreads();
        if ((thread & (2 * half - 1)) == 0) {
            sums[thread + 2 * half - 1] += sums[thread + half - 1];
        }
    }
    __syncthreads();
    total = sums[threads - 1];
    __syncthreads();
    if (thread == 0) {
        sums[threads - 1] = 0;
    }
    for (u32 half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if ((thread & (2 * half - 1)) == 0) {
            const u32 left = sums[thread + half - 1];
            sums[thread + half - 1] = sums[thread + 2 * half - 1];
            sums[thread + 2 * half - 1] += left;
        }
    }
    __syncthreads();
    const u32 before = sums[thread];
    __syncthreads();
    return before;
}

// Algorithm 6: every neighbour above the next level gets that level, and is claimed by the arc that wrote last.
extern "C" __global__ void bfs_scan_next_layer(
    const u32* offsets, const u32* targets, u32* levels, u32* claims, const u32* queue, u32 size, u32 level) {
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= size) {
        return;
    }
    const u32 vertex = queue[index];
    for (u32 arc = offsets[vertex]; arc < offsets[vertex + 1]; arc++) {
        const u32 neighbor = targets[arc];
        if (load(levels + neighbor) > level + 1) {
            store(levels + neighbor, level + 1);
            store(claims + neighbor, arc);
        }
    }
}
WARPATH_KERNEL(bfs_scan_next_layer)

// Algorithm 7: how many neighbours each vertex of the queue has claimed.
extern "C" __global__ void bfs_scan_count(
    const u32* offsets, const u32* targets, const u32* claims, const u32* queue, u32* counts, u32 size) {
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= size) {
        return;
    }
    const u32 vertex = queue[index];
    u32 count = 0;
    for (u32 arc = offsets[vertex]; arc < offsets[vertex + 1]; arc++) {
        count += claims[targets[arc]] == arc;
    }
    counts[index] = count;
}
WARPATH_KERNEL(bfs_scan_count)

// Algorithm 8: each count becomes the sum of those before it in its block, whose sum goes to `block_sums`.
extern "C" __global__ void bfs_scan_blocks(u32* counts, u32* block_sums, u32 size) {
    DYNAMIC_SHARED(shared);
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    u32 total;
    const u32 before =
        sum_of_those_before(reinterpret_cast<u32*>(shared), index < size ? counts[index] : 0, total);
    if (index < size) {
        counts[index] = before;
    }
    if (threadIdx.x == 0) {
        block_sums[blockIdx.x] = total;
    }
}
WARPATH_KERNEL(bfs_scan_blocks)

// The prefix sum of algorithm 5, line 13, by one block: each block's sum becomes the sum of those before it. The sum of
// all is the next queue's size.
extern "C" __global__ void bfs_scan_block_sums(u32* block_sums, u32* next_size, u32 blocks) {
    DYNAMIC_SHARED(shared);
    u32 done = 0;
    for (u32 first = 0; first < blocks; first += blockDim.x) {
        const u32 index = first + threadIdx.x;
        u32 total;
        const u32 before =
            sum_of_those_before(reinterpret_cast<u32*>(shared), index < blocks ? block_sums[index] : 0, total);
        if (index < blocks) {
            block_sums[index] = done + before;
        }
        done += total;
    }
    if (threadIdx.x == 0) {
        *next_size = done;
    }
}
WARPATH_KERNEL(bfs_scan_block_sums)

// Algorithm 9: every vertex of the queue writes the neighbours it has claimed, from the place that the sums give it.
extern "C" __global__ void bfs_scan_populate(
    const u32* offsets, const u32* targets, const u32* claims, const u32* queue, const u32* counts, const u32* block_sums,
    u32* next, u32 size) {
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= size) {
        return;
    }
    const u32 vertex = queue[index];
    u32 place = block_sums[blockIdx.x] + counts[index];
    for (u32 arc = offsets[vertex]; arc < offsets[vertex + 1]; arc++) {
        const u32 neighbor = targets[arc];
        if (claims[neighbor] == arc) {
            next[place++] = neighbor;
        }
    }
}
WARPATH_KERNEL(bfs_scan_populate)
