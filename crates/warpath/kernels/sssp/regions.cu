// Shortest paths region by region. The essay is in `src/cuda/regions/mod.rs`.
//
// registers: 128
// no-sass: STL
#include "../regions.cuh"

#define WARPATH_REGIONS(lane, Lane)                                                   \
    extern "C" __global__ void __launch_bounds__(regions::most_threads, 1)            \
        sssp_regions_##lane(regions::KernelArgument<Lane> search, peers::Peers peers) { \
        regions::run<Lane, true>(search, peers);                                      \
    }                                                                                 \
    WARPATH_KERNEL(sssp_regions_##lane)

WARPATH_REGIONS(u32_u32, LaneNarrow)
WARPATH_REGIONS(u32_u64, LaneWide)
WARPATH_REGIONS(f32_f32, LaneSingle)
WARPATH_REGIONS(f64_f64, LaneDouble)
