// Tests of `collectives.cuh`: every function, on the values of one block a slice.

#include "collectives.cuh"

extern "C" __global__ void test_collectives(const u32* values, u32* before, u32* total, u32* sum, u32* least,
                                            u32* odd_values, u32* odd_count) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u32 value = load_constant(values + thread);
    for (u32 round = 0; round < 3; ++round) {
        BlockSum<u32> prefix = block_exclusive_sum(value);
        before[thread] = prefix.before;
        total[thread] = prefix.total;
        sum[thread] = block_sum(value);
        least[thread] = block_min(value);
    }
    // The odd values of each warp, packed to the front of the warp's places.
    u32 ballot = __ballot_sync(all_lanes, value % 2);
    if (value % 2) odd_values[thread - lane_index() + place_in_ballot(ballot)] = value;
    if (lane_index() == 0) atomicAdd(odd_count, __popc(ballot));
}
WARPATH_KERNEL(test_collectives)

extern "C" __global__ void test_collectives_u64(const u64* values, u64* before, u64* total, u64* sum, u64* least) {
    u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u64 value = load_once(values + thread);
    BlockSum<u64> prefix = block_exclusive_sum(value);
    before[thread] = prefix.before;
    total[thread] = prefix.total;
    sum[thread] = block_sum(value);
    store_once(least + thread, block_min(value));
}
WARPATH_KERNEL(test_collectives_u64)

extern "C" __global__ void test_warp(const u32* values, u32* results) {
    u32 lane = lane_index();
    u32 value = values[lane];
    u32 result = 0;
    // Both halves of the warp do the same apart from each other.
    u32 half = lane < 16 ? 0x0000'ffff : 0xffff'0000;
    if (lane < 16)
        result = __reduce_max_sync(half, value);
    else
        result = __reduce_max_sync(half, value);
    results[lane] = result;
    results[32 + lane] = __shfl_sync(all_lanes, value, 5);
    results[64 + lane] = __shfl_up_sync(all_lanes, value, 3);
    results[96 + lane] = __shfl_down_sync(all_lanes, value, 3, 8);
    results[128 + lane] = __shfl_xor_sync(all_lanes, value, 9);
    results[160 + lane] = __any_sync(all_lanes, lane == 31) + 2 * __all_sync(all_lanes, lane < 31);
    results[192 + lane] = __syncthreads_or(lane == 7) + 2 * __syncthreads_and(lane < 31) + 4 * __syncthreads_count(lane % 3);
    results[224 + lane] = warp_exclusive_sum(value);
}
WARPATH_KERNEL(test_warp)
