// Distances in blocks, three launches a stage: `blocks.cuh` has all of it.
//
// registers: 64
// no-sass: STL
#include "blocks.cuh"

#define WARPATH_BLOCKED(phase, function, cell, Cell)                                                               \
    extern "C" __global__ void __launch_bounds__(1024)                                                             \
        apsp_blocked_##phase##_##cell(blocks::KernelArgument<cells::Cell> search) {                        \
        blocks::function(search);                                                                  \
    }                                                                                                              \
    WARPATH_KERNEL(apsp_blocked_##phase##_##cell)
#define WARPATH_BLOCKED_FLOYD_WARSHALL(cell, Cell)      \
    WARPATH_BLOCKED(diagonal, close_diagonal, cell, Cell) \
    WARPATH_BLOCKED(panels, relax_panels, cell, Cell)   \
    WARPATH_BLOCKED(rest, relax_rest, cell, Cell)

WARPATH_BLOCKED_FLOYD_WARSHALL(u32, U32)
WARPATH_BLOCKED_FLOYD_WARSHALL(i32, I32)
WARPATH_BLOCKED_FLOYD_WARSHALL(i64, I64)
WARPATH_BLOCKED_FLOYD_WARSHALL(f32, F32)
WARPATH_BLOCKED_FLOYD_WARSHALL(f64, F64)
