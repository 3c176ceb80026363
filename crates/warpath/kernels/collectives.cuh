// Operations of a whole warp, block or grid: prefix sums, reductions, compaction, a barrier with a sum.
//
// All threads of the warp (`warp_...`) or of the block (`block_...`) must call these together, from the same place.
// Blocks are one-dimensional, of any size up to 1024; the last warp may be a part of one. Values are `u32` or `u64`
// (sums wrap, as C++ has it). Costs are for an H100 class chip: a shuffle takes some 25 cycles, a barrier of 1,024
// threads some 70.
//
// The `block_...` functions keep one value a warp in static shared memory of their own, and end with a barrier, so that
// they can be called again at once. They are barriers themselves: a thread sees all that others wrote to shared memory
// before.
#pragma once

#include "device.cuh"

/// The mask of a whole warp. Lanes that the block doesn't have take no part.
constexpr u32 all_lanes = 0xffff'ffff;
constexpr u32 lanes_a_warp = 32;
constexpr u32 most_warps_a_block = 32;

/// This thread's place in its warp.
__device__ __forceinline__ u32 lane_index() { return threadIdx.x % lanes_a_warp; }
/// This warp's place in its block.
__device__ __forceinline__ u32 warp_index() { return threadIdx.x / lanes_a_warp; }
/// How many warps the block has, the last one perhaps in part.
__device__ __forceinline__ u32 warps_of_block() { return (blockDim.x + lanes_a_warp - 1) / lanes_a_warp; }
/// How many warps the grid has.
__device__ __forceinline__ u32 warps_of_grid() { return gridDim.x * warps_of_block(); }
/// This warp's place in the grid, block after block.
__device__ __forceinline__ u32 warp_of_grid() { return blockIdx.x * warps_of_block() + warp_index(); }
/// This warp's place in the grid, where neighbors are in different blocks. Where there are few items, all blocks have
/// some.
__device__ __forceinline__ u32 spread_warp_of_grid() { return warp_index() * gridDim.x + blockIdx.x; }
/// Is this the last lane that its warp has?
__device__ __forceinline__ bool is_last_lane() {
    return lane_index() == lanes_a_warp - 1 || threadIdx.x == blockDim.x - 1;
}
/// The lanes before this one, as a mask.
__device__ __forceinline__ u32 lanes_before() { return (1u << lane_index()) - 1; }

/// Compaction: the place of this lane among those in the ballot, if it is one of them. One POPC.
/// `ballot` is what `__ballot_sync` returned; its population count is the number of places.
__device__ __forceinline__ u32 place_in_ballot(u32 ballot) { return __popc(ballot & lanes_before()); }

/// A warp takes `count` places from a counter; the first of them, in every lane. One atomic addition.
__device__ __forceinline__ u32 warp_take(u32* counter, u32 count) {
    u32 begin = 0;
    if (lane_index() == 0) begin = atomicAdd(counter, count);
    return __shfl_sync(all_lanes, begin, 0);
}

/// Calls `body(lane)` for each lane in a ballot, one after another, all lanes together.
template <class Body>
__device__ __forceinline__ void for_lanes_of(u32 ballot, Body body) {
    for (; ballot != 0; ballot &= ballot - 1) body(__ffs(static_cast<int>(ballot)) - 1);
}

/// The last lane whose `start` is at or before `place`. Starts ascend, and the first is at or before it. Five shuffles.
template <class T>
__device__ __forceinline__ u32 last_lane_from(T start, T place) {
    u32 lane = 0;
#pragma unroll
    for (u32 step = lanes_a_warp / 2; step > 0; step /= 2) {
        if (__shfl_sync(all_lanes, start, static_cast<int>(lane + step)) <= place) lane += step;
    }
    return lane;
}

/// How many lanes have an `end` at or before `place`, if not all 32 have. Ends ascend. Five shuffles.
template <class T>
__device__ __forceinline__ u32 lanes_up_to(T end, T place) {
    u32 lanes = 0;
#pragma unroll
    for (u32 step = lanes_a_warp / 2; step > 0; step /= 2) {
        if (__shfl_sync(all_lanes, end, static_cast<int>(lanes + step - 1)) <= place) lanes += step;
    }
    return lanes;
}

/// The sum of this lane's value and those of the lanes before. Five shuffles (a u64: ten).
template <class T>
__device__ __forceinline__ T warp_inclusive_sum(T value) {
#pragma unroll
    for (u32 by = 1; by < lanes_a_warp; by *= 2) {
        T before = __shfl_up_sync(all_lanes, value, by);
        if (lane_index() >= by) value += before;
    }
    return value;
}

/// The sum of the values of the lanes before this one. Five shuffles.
template <class T>
__device__ __forceinline__ T warp_exclusive_sum(T value) {
    return warp_inclusive_sum(value) - value;
}

/// The sum over the warp, in every lane. One REDUX for u32.
__device__ __forceinline__ u32 warp_sum(u32 value) { return __reduce_add_sync(all_lanes, value); }
/// The least value of the warp, in every lane. One REDUX for u32.
__device__ __forceinline__ u32 warp_min(u32 value) { return __reduce_min_sync(all_lanes, value); }
/// The greatest value of the warp, in every lane. One REDUX.
__device__ __forceinline__ u32 warp_max(u32 value) { return __reduce_max_sync(all_lanes, value); }
/// The sum over the warp, in every lane. Ten shuffles: lanes that aren't there count as zero.
__device__ __forceinline__ u64 warp_sum(u64 value) {
    value = warp_inclusive_sum(value);
    u32 missing = threadIdx.x - lane_index() + lanes_a_warp > blockDim.x
                      ? threadIdx.x - lane_index() + lanes_a_warp - blockDim.x
                      : 0;
    return __shfl_sync(all_lanes, value, static_cast<int>(lanes_a_warp - 1 - missing));
}
/// The least value of the warp, in every lane. Two REDUX: the upper halves decide, then the lower ones.
__device__ __forceinline__ u64 warp_min(u64 value) {
    u32 upper = warp_min(static_cast<u32>(value >> 32));
    u32 lower = warp_min(upper == static_cast<u32>(value >> 32) ? static_cast<u32>(value) : 0xffff'ffff);
    return static_cast<u64>(upper) << 32 | lower;
}

/// A sum over part of a block, and over all of it.
template <class T>
struct BlockSum {
    /// Of the threads before this one.
    T before;
    /// Of all threads.
    T total;
};

/// The sum of the values of the threads before this one, and the sum of all. Five shuffles, two barriers, and one
/// (broadcast) load from shared memory for each warp of the block.
template <class T>
__device__ __forceinline__ BlockSum<T> block_exclusive_sum(T value) {
    __shared__ T sum_of_warp[most_warps_a_block];
    T inclusive = warp_inclusive_sum(value);
    if (is_last_lane()) sum_of_warp[warp_index()] = inclusive;
    __syncthreads();
    BlockSum<T> sum = {inclusive - value, 0};
    for (u32 warp = 0; warp < warps_of_block(); ++warp) {
        T of_warp = sum_of_warp[warp];
        if (warp < warp_index()) sum.before += of_warp;
        sum.total += of_warp;
    }
    __syncthreads();
    return sum;
}

/// The sum over the block, in every thread. One warp reduction, two barriers, one load a warp.
template <class T>
__device__ __forceinline__ T block_sum(T value) {
    __shared__ T sum_of_warp[most_warps_a_block];
    value = warp_sum(value);
    if (lane_index() == 0) sum_of_warp[warp_index()] = value;
    __syncthreads();
    T sum = 0;
    for (u32 warp = 0; warp < warps_of_block(); ++warp) sum += sum_of_warp[warp];
    __syncthreads();
    return sum;
}

/// The least value of the block, in every thread. One warp reduction, two barriers, one load a warp.
template <class T>
__device__ __forceinline__ T block_min(T value) {
    __shared__ T least_of_warp[most_warps_a_block];
    value = warp_min(value);
    if (lane_index() == 0) least_of_warp[warp_index()] = value;
    __syncthreads();
    T least = value;
    for (u32 warp = 0; warp < warps_of_block(); ++warp) least = min(least, least_of_warp[warp]);
    __syncthreads();
    return least;
}

/// A barrier of the grid that adds up a number of each block, for one thread of every block. After it, all see what the
/// threads of the blocks wrote before the barriers of their blocks. A block adds 1 and `value`, which is a multiple of
/// `unit`; `unit` is greater than the number of blocks.
/// `arrivals` is three words, 32 apart, which start as zero and take turns.
template <u32 unit>
__device__ __forceinline__ u32 grid_sum(u32* arrivals, u32 round, u32 value) {
    u32* const counter = &arrivals[round % 3 * 32];
    device_fence();
    atomicAdd(counter, 1 + value);
    u32 sum = load(counter);
    while (sum % unit != gridDim.x) sum = load(counter);
    device_fence();
    // Everybody has left the barrier before this one.
    if (blockIdx.x == 0) store(&arrivals[(round + 2) % 3 * 32], 0);
    return sum;
}
