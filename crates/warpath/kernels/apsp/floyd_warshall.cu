// Distances, one launch for each vertex, as printed and tuned: `by_vertex.cuh` has all of it.
//
// registers: 128
// registers apsp_floyd_warshall_u32: 32
// registers apsp_tuned_floyd_warshall_u32: 32
// sass: LDG.E.128
// no-sass: STL
#include "by_vertex.cuh"

#define WARPATH_BY_VERTEX(name, function, cell, Cell)                                                   \
    extern "C" __global__ void apsp_##name##_##cell(by_vertex::KernelArgument<cells::Cell> search) { \
        by_vertex::function(search);                                                                \
    }                                                                                               \
    WARPATH_KERNEL(apsp_##name##_##cell)
#define WARPATH_FLOYD_WARSHALL(cell, Cell)                                            \
    WARPATH_BY_VERTEX(floyd_warshall, relax_pairs_as_printed, cell, Cell)             \
    WARPATH_BY_VERTEX(floyd_warshall_rows, relax_rows_as_printed, cell, Cell)         \
    WARPATH_BY_VERTEX(tuned_floyd_warshall, relax_pairs, cell, Cell)                  \
    WARPATH_BY_VERTEX(tuned_floyd_warshall_rows, relax_rows, cell, Cell)

WARPATH_FLOYD_WARSHALL(u32, U32)
WARPATH_FLOYD_WARSHALL(i32, I32)
WARPATH_FLOYD_WARSHALL(i64, I64)
WARPATH_FLOYD_WARSHALL(f32, F32)
WARPATH_FLOYD_WARSHALL(f64, F64)
