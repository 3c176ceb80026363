// Distances by tiles in registers: `tiles.cuh` has all of it.
//
// registers: 128
// no-sass: STL
// sass sm_90: VIADDMNMX
// sass sm_90: VIMNMX3
// sass: LDGSTS
#include "tiles.cuh"

#define WARPATH_TILED_FLOYD_WARSHALL(name, Cell)                                    \
    extern "C" __global__ void __launch_bounds__(tiles::threads, 2)  \
        name(tiles::KernelArgument<cells::Cell> search) {                    \
        if constexpr (sizeof(cells::Cell::Number) > 2 || cells::has_pairs) {        \
            tiles::run(search);                                      \
        }                                                                           \
    }                                                                               \
    WARPATH_KERNEL(name)

WARPATH_TILED_FLOYD_WARSHALL(apsp_tiled_u16, U16)
WARPATH_TILED_FLOYD_WARSHALL(apsp_tiled_u32, U32)
WARPATH_TILED_FLOYD_WARSHALL(apsp_tiled_i32, I32)
WARPATH_TILED_FLOYD_WARSHALL(apsp_tiled_i64, I64)
WARPATH_TILED_FLOYD_WARSHALL(apsp_tiled_f32, F32)
WARPATH_TILED_FLOYD_WARSHALL(apsp_tiled_f32_non_negative, F32NonNegative)
WARPATH_TILED_FLOYD_WARSHALL(apsp_tiled_f64, F64)
