// Breadth-first search region by region: shortest paths whose arcs all have the length 1. The essay is in
// `src/cuda/regions/mod.rs`.
//
// registers: 128
// no-sass: STL
#include "../regions.cuh"

extern "C" __global__ void __launch_bounds__(regions::most_threads, 1)
    bfs_regions(regions::KernelArgument<LaneNarrow> search, peers::Peers peers) {
    regions::run<LaneNarrow, false>(search, peers);
}
WARPATH_KERNEL(bfs_regions)
