// The predecessors of a breadth-first search, from its final levels. The host's side is in
// `src/cuda/bfs/predecessors.rs`.
//
// registers: 40
// no-sass: STL
#include "../rows.cuh"

constexpr u32 unreached = ~0u;
/// Arcs that a warp takes at a time.
constexpr u32 share = 1024;

/// Each head that is one level below its tail learns of the tail, and keeps the least. `predecessors` are all ones
/// before.
template <class Offset>
__device__ void derive(const Offset* offsets, const u32* targets, const u32* levels, u32 vertices, u32* predecessors) {
    const u64 arcs = load_constant(&offsets[vertices]);
    const auto offset_at = [=](u32 row) { return static_cast<u64>(load_constant(&offsets[row])); };
    for_arcs_in_shares(vertices, arcs, share, offset_at, [=](u32 tail, u64 arc) {
        const u32 level = load_constant(&levels[tail]);
        if (level == unreached) return;
        const u32 head = load_once(&targets[arc]);
        if (load_constant(&levels[head]) == level + 1 && load(&predecessors[head]) > tail) {
            atomicMin(&predecessors[head], tail);
        }
    });
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
