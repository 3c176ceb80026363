// Tests of barriers over grids and clusters, and of shared memory.

#include "collectives.cuh"

/// Every thread tells its round to the grid, and looks at the round of a thread of another block.
extern "C" __global__ void test_grid_barrier(u32* cells, u32* wrong, u32 rounds) {
    u32 threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 round = 1; round <= rounds; ++round) {
        store(cells + thread, round);
        grid_barrier();
        if (load(cells + (thread + blockDim.x) % threads) != round) atomicAdd(wrong, 1u);
        grid_barrier();
    }
}
WARPATH_KERNEL(test_grid_barrier)

/// The same, with a bug: nobody waits for the readers.
extern "C" __global__ void bug_missing_grid_barrier(u32* cells, u32* wrong, u32 rounds) {
    u32 threads = gridDim.x * blockDim.x, thread = blockIdx.x * blockDim.x + threadIdx.x;
    for (u32 round = 1; round <= rounds; ++round) {
        store(cells + thread, round);
        grid_barrier();
        if (load(cells + (thread + blockDim.x) % threads) != round) atomicAdd(wrong, 1u);
    }
}
WARPATH_KERNEL(bug_missing_grid_barrier)

/// One thread leaves before the barrier.
extern "C" __global__ void bug_grid_barrier_not_reached() {
    if (blockIdx.x == 1 && threadIdx.x == 3) return;
    grid_barrier();
}
WARPATH_KERNEL(bug_grid_barrier_not_reached)

/// Every thread passes its number to the next block of the cluster; all threads count in the first block.
extern "C" __global__ void test_cluster(u32* received, u32* counted) {
    DYNAMIC_SHARED(shared);
    u32* count = reinterpret_cast<u32*>(shared);
    u32* mailbox = count + 1;
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0) *count = 0;
    cluster_barrier();
    u32 next = (cluster_rank() + 1) % cluster_blocks();
    store_shared(of_block(mailbox + threadIdx.x, next), thread);
    atomicAdd(of_block(count, 0), 1u);
    cluster_barrier();
    received[thread] = mailbox[threadIdx.x];
    if (threadIdx.x == 0) counted[blockIdx.x] = load_shared(of_block(count, 0));
    cluster_barrier();  // the first block must not end while others read its count
}
WARPATH_KERNEL(test_cluster)

/// The same without the last barrier: the first block may have ended.
extern "C" __global__ void bug_cluster_block_ends(u32* counted) {
    DYNAMIC_SHARED(shared);
    u32* count = reinterpret_cast<u32*>(shared);
    *count = 1;
    cluster_barrier();
    if (cluster_rank() > 0) store(counted + blockIdx.x, load_shared(of_block(count, 0)));
}
WARPATH_KERNEL(bug_cluster_block_ends)

/// Reverses each block's slice by way of dynamic shared memory.
extern "C" __global__ void test_dynamic_shared(u32* values) {
    DYNAMIC_SHARED(shared);
    u32* slice = reinterpret_cast<u32*>(shared);
    u32* mine = values + blockIdx.x * blockDim.x + threadIdx.x;
    slice[threadIdx.x] = *mine;
    __syncthreads();
    *mine = slice[blockDim.x - 1 - threadIdx.x];
}
WARPATH_KERNEL(test_dynamic_shared)

extern "C" __global__ void bug_missing_barrier(u32* values) {
    DYNAMIC_SHARED(shared);
    u32* slice = reinterpret_cast<u32*>(shared);
    u32* mine = values + blockIdx.x * blockDim.x + threadIdx.x;
    slice[threadIdx.x] = *mine;
    *mine = slice[blockDim.x - 1 - threadIdx.x];
}
WARPATH_KERNEL(bug_missing_barrier)

/// Two threads at different barriers, and a thread at none.
extern "C" __global__ void bug_divergent_barrier(u32* values) {
    if (threadIdx.x % 2 == 0) {
        __syncthreads();
        values[threadIdx.x] = 0;
    } else {
        __syncthreads();
        values[threadIdx.x] = 1;
    }
}
WARPATH_KERNEL(bug_divergent_barrier)

extern "C" __global__ void bug_barrier_and_shuffle(u32* values) {
    u32 value = threadIdx.x;
    if (threadIdx.x < 16) value = __shfl_sync(all_lanes, value, 0);
    __syncthreads();
    values[threadIdx.x] = value;
}
WARPATH_KERNEL(bug_barrier_and_shuffle)

extern "C" __global__ void bug_divergent_shuffle(u32* values) {
    u32 value = threadIdx.x;
    if (threadIdx.x < 16)
        value = __shfl_sync(all_lanes, value, 0);
    else
        value = __shfl_sync(all_lanes, value, 1);
    values[threadIdx.x] = value;
}
WARPATH_KERNEL(bug_divergent_shuffle)

extern "C" __global__ void bug_wrong_mask(u32* values) { values[threadIdx.x] = __shfl_sync(0xffffu, threadIdx.x, 0); }
WARPATH_KERNEL(bug_wrong_mask)

extern "C" __global__ void bug_shared_overrun() {
    DYNAMIC_SHARED(shared);
    reinterpret_cast<u32*>(shared)[threadIdx.x + 1] = threadIdx.x;
}
WARPATH_KERNEL(bug_shared_overrun)
