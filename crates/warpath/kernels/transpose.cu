// The arcs by head, made from the arcs by tail. The host's part, and the essay, are in `src/cuda/transpose.rs`.
//
// One array serves three purposes: `places`, which is the array of the new offsets from its second on. First it holds how
// many arcs each vertex is the head of, then where they begin, and when the last arc has been put in its place, where
// they end, which is what offsets are.
//
// registers: 40
// no-sass: STL
#include "collectives.cuh"

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

/// The vertices that this block sums up.
struct Share {
    u64 begin, end;
    __device__ explicit Share(u32 vertices) {
        const u64 each = (static_cast<u64>(vertices) + gridDim.x - 1) / gridDim.x;
        begin = blockIdx.x * each < vertices ? blockIdx.x * each : vertices;
        end = begin + each < vertices ? begin + each : vertices;
    }
};

/// Writes how many arcs the vertices of each block are the heads of.
template <class Offset>
__device__ void sum_counts(const Offset* places, u32 vertices, Offset* sums) {
    const Share share(vertices);
    Offset sum = 0;
    for (u64 vertex = share.begin + threadIdx.x; vertex < share.end; vertex += blockDim.x) sum += places[vertex];
    sum = block_sum(sum);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Turns counts into beginnings, in a grid of the same shape.
template <class Offset>
__device__ void place_rows(Offset* places, u32 vertices, const Offset* sums) {
    const Share share(vertices);
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

/// The row that an arc is in: the last that begins at or before it. All lanes look together, each at one of 32 rows.
template <class Offset>
__device__ u32 row_of(const Offset* offsets, u32 vertices, Offset arc) {
    u32 first = 0, rows = vertices;
    while (rows > 1) {
        const u32 step = (rows - 1) / lanes_a_warp + 1, skipped = lane_index() * step;
        const bool begins = skipped < rows && load_constant(&offsets[first + skipped]) <= arc;
        // The first row always begins at or before the arc.
        const u32 last = (__popc(__ballot_sync(all_lanes, begins)) - 1) * step;
        first += last;
        rows = min(step, rows - last);
    }
    return first;
}

/// Puts the tail of each arc into the row of its head, in any order. A warp takes arcs that follow each other, however
/// many rows that are, so that it does not matter how long the rows are.
template <class Offset>
__device__ void scatter_tails(const Offset* offsets, const u32* targets, u32 vertices, u64 arcs, Offset* places,
                              u32* tails) {
    const u64 warps = static_cast<u64>(gridDim.x) * warps_of_block();
    const u64 warp = static_cast<u64>(blockIdx.x) * warps_of_block() + warp_index();
    for (u64 first = warp * arcs_a_warp; first < arcs; first += warps * arcs_a_warp) {
        const u64 end = first + arcs_a_warp < arcs ? first + arcs_a_warp : arcs;
        for (u64 begin = first; begin < end;) {
            // The row of the first arc, and the 31 after it: each lane knows where one of them ends.
            const u32 row = row_of(offsets, vertices, static_cast<Offset>(begin));
            const u32 after = vertices - row <= lane_index() ? vertices : row + lane_index() + 1;
            const u64 row_end = load_constant(&offsets[after]);
            const u64 last_end = __shfl_sync(all_lanes, row_end, lanes_a_warp - 1);
            const u64 known = last_end < end ? last_end : end;
            for (; begin < known; begin += lanes_a_warp) {
                const u64 arc = begin + lane_index();
                // How many of these rows end at or before this arc. Not all 32 do.
                u32 ended = 0;
#pragma unroll
                for (u32 step = lanes_a_warp / 2; step > 0; step /= 2) {
                    if (__shfl_sync(all_lanes, row_end, static_cast<int>(ended + step - 1)) <= arc) ended += step;
                }
                if (arc < known) {
                    const Offset place = atomicAdd(&places[load_once(&targets[arc])], static_cast<Offset>(1));
                    store_once(&tails[place], row + ended);
                }
            }
            begin = known;
        }
    }
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
