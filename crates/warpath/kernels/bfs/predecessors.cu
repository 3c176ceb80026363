// The predecessors of a breadth-first search, from its final levels. The host's side is in
// `src/cuda/bfs/predecessors.rs`.
//
// registers: 40
// no-sass: STL
#include "../collectives.cuh"

constexpr u32 unreached = ~0u;
/// A warp takes so many arcs at a time.
constexpr u32 share = 1024;

/// The row that an arc is in: the last one that begins at or before it, and is not empty.
template <class Offset>
__device__ u32 row_of(const Offset* offsets, u32 vertices, Offset arc) {
    u32 low = 0, high = vertices;  // offsets[low] <= arc < offsets[high]
    while (high - low > 1) {
        const u32 middle = low + (high - low) / 2;
        if (load_constant(&offsets[middle]) <= arc) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Each head that is one level below its tail learns of the tail, and keeps the least. Warps take equal shares of the
/// arcs, wherever rows begin and end. `predecessors` are all ones before.
template <class Offset>
__device__ void derive(const Offset* offsets, const u32* targets, const u32* levels, u32 vertices, u32* predecessors) {
    const u32 lane = lane_index();
    const Offset arcs = load_constant(&offsets[vertices]);
    const u64 warps = static_cast<u64>(gridDim.x) * warps_of_block();
    const u64 warp = static_cast<u64>(blockIdx.x) * warps_of_block() + warp_index();
    for (u64 first = warp * share; first < arcs; first += warps * share) {
        const u64 end = min(first + share, static_cast<u64>(arcs));
        u32 row = row_of(offsets, vertices, static_cast<Offset>(first));
        // 32 rows at a time: each lane holds where one of them ends.
        for (u64 begin = first; begin < end; row += lanes_a_warp) {
            const u64 row_end = load_constant(&offsets[min(row + lane, vertices - 1) + 1]);
            const u64 window_end = min(__shfl_sync(all_lanes, row_end, lanes_a_warp - 1), end);
            for (; begin < window_end; begin += lanes_a_warp) {
                const u64 arc = begin + lane;
                // How many of the rows end at or before this arc.
                u32 over = 0;
#pragma unroll
                for (u32 step = lanes_a_warp / 2; step > 0; step /= 2) {
                    if (__shfl_sync(all_lanes, row_end, static_cast<int>(over + step - 1)) <= arc) over += step;
                }
                if (arc >= window_end) continue;
                const u32 tail = row + over, level = load_constant(&levels[tail]);
                if (level == unreached) continue;
                const u32 head = load_once(&targets[arc]);
                if (load_constant(&levels[head]) == level + 1 && load(&predecessors[head]) > tail) {
                    atomicMin(&predecessors[head], tail);
                }
            }
            begin = window_end;
        }
    }
}

extern "C" __global__ void __launch_bounds__(512)
    bfs_predecessors_32(const u32* offsets, const u32* targets, const u32* levels, u32 vertices, u32* predecessors) {
    derive(offsets, targets, levels, vertices, predecessors);
}
WARPATH_KERNEL(bfs_predecessors_32)
extern "C" __global__ void __launch_bounds__(512)
    bfs_predecessors_64(const u64* offsets, const u32* targets, const u32* levels, u32 vertices, u32* predecessors) {
    derive(offsets, targets, levels, vertices, predecessors);
}
WARPATH_KERNEL(bfs_predecessors_64)
