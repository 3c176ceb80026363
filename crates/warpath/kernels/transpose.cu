// The arcs by head, made from the arcs by tail. The host's part, and the essay, are in `src/cuda/transpose.rs`.
//
// One array serves three purposes: `places`, the array of the new offsets from its second element on. First it holds
// how many arcs each vertex is the head of, then where they begin. When the last arc is in its place, it holds where
// they end: the offsets.
//
// registers: 40
// no-sass: STL
#include "rows.cuh"

/// Arcs that a warp takes at a time.
constexpr u32 arcs_a_warp = 1024;

/// Counts the arcs by head. `places` is zero.
template <class Offset>
__device__ void count_heads(const u32* targets, u64 arcs, Offset* places) {
    const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 arc = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; arc < arcs; arc += threads) {
        atomicAdd(&places[load_once(&targets[arc])], static_cast<Offset>(1));
    }
}

/// Writes how many arcs the vertices of each block are the heads of.
template <class Offset>
__device__ void sum_counts(const Offset* places, u32 vertices, Offset* sums) {
    const Share share = share_of(vertices, blockIdx.x, gridDim.x);
    Offset sum = 0;
    for (u64 vertex = share.begin + threadIdx.x; vertex < share.end; vertex += blockDim.x) sum += places[vertex];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Turns counts into beginnings, in a grid of the same shape.
template <class Offset>
__device__ void place_rows(Offset* places, u32 vertices, const Offset* sums) {
    const Share share = share_of(vertices, blockIdx.x, gridDim.x);
    Offset before = 0;
    for (u32 block = threadIdx.x; block < blockIdx.x; block += blockDim.x) before += sums[block];
    before = block_sum(before);
    for (u64 first = share.begin; first < share.end; first += blockDim.x) {
        const u64 vertex = first + threadIdx.x;
        const BlockSum<Offset> sum = block_exclusive_sum(vertex < share.end ? places[vertex] : 0);
        if (vertex < share.end) places[vertex] = before + sum.before;
        before += sum.total;
    }
}

/// Puts the tail of each arc into the row of its head, in any order.
template <class Offset>
__device__ void scatter_tails(const Offset* offsets, const u32* targets, u32 vertices, u64 arcs, Offset* places,
                              u32* tails) {
    const auto offset_at = [=](u32 row) { return static_cast<u64>(load_constant(&offsets[row])); };
    for_arcs_in_shares(vertices, arcs, arcs_a_warp, offset_at, [=](u32 tail, u64 arc) {
        const Offset place = atomicAdd(&places[load_once(&targets[arc])], static_cast<Offset>(1));
        store_once(&tails[place], tail);
    });
}

#define TRANSPOSE_KERNELS(bits, Offset)                                                                               \
    extern "C" __global__ void __launch_bounds__(512)                                                                 \
        transpose_count_##bits(const u32* targets, u64 arcs, Offset* places) {                                        \
        count_heads(targets, arcs, places);                                                                           \
    }                                                                                                                 \
    WARPATH_KERNEL(transpose_count_##bits)                                                                            \
    extern "C" __global__ void __launch_bounds__(512)                                                                 \
        transpose_sum_##bits(const Offset* places, u32 vertices, Offset* sums) {                                      \
        sum_counts(places, vertices, sums);                                                                           \
    }                                                                                                                 \
    WARPATH_KERNEL(transpose_sum_##bits)                                                                              \
    extern "C" __global__ void __launch_bounds__(512)                                                                 \
        transpose_place_##bits(Offset* places, u32 vertices, const Offset* sums) {                                    \
        place_rows(places, vertices, sums);                                                                           \
    }                                                                                                                 \
    WARPATH_KERNEL(transpose_place_##bits)                                                                            \
    extern "C" __global__ void __launch_bounds__(512) transpose_scatter_##bits(                                       \
        const Offset* offsets, const u32* targets, u32 vertices, u64 arcs, Offset* places, u32* tails) {              \
        scatter_tails(offsets, targets, vertices, arcs, places, tails);                                               \
    }                                                                                                                 \
    WARPATH_KERNEL(transpose_scatter_##bits)

TRANSPOSE_KERNELS(32, u32)
TRANSPOSE_KERNELS(64, u64)
