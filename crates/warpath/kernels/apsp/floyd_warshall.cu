// Distances, one launch for each vertex: `by_vertex.cuh` has all of it.
//
// registers: 128
// registers apsp_floyd_warshall_u32: 32
// sass: LDG.E.128
// no-sass: STL
#include "by_vertex.cuh"

#define WARPATH_FLOYD_WARSHALL(cell, Cell)                                                              \
    extern "C" __global__ void apsp_floyd_warshall_##cell(by_vertex::KernelArgument<cells::Cell> search) { \
        by_vertex::relax_pairs(search);                                                            \
    }                                                                                                   \
    WARPATH_KERNEL(apsp_floyd_warshall_##cell)                                                          \
    extern "C" __global__ void apsp_floyd_warshall_rows_##cell(by_vertex::KernelArgument<cells::Cell> search) { \
        by_vertex::relax_rows(search);                                                             \
    }                                                                                                   \
    WARPATH_KERNEL(apsp_floyd_warshall_rows_##cell)

WARPATH_FLOYD_WARSHALL(u32, U32)
WARPATH_FLOYD_WARSHALL(i32, I32)
WARPATH_FLOYD_WARSHALL(i64, I64)
WARPATH_FLOYD_WARSHALL(f32, F32)
WARPATH_FLOYD_WARSHALL(f64, F64)
