// Made from `src/cuda/apsp/matrix.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace apsp_matrix {

/// A matrix, of which the first rows and columns are those of vertices.
struct MatrixArgument {
    const void* cells;
    u64 pitch;  // Cells from row to row.
    u64 vertices;
    long long threshold;  // Integers from here on are no distances.
};
static_assert(sizeof(MatrixArgument) == 32, "");
static_assert(offsetof(MatrixArgument, cells) == 0, "");
static_assert(offsetof(MatrixArgument, pitch) == 8, "");
static_assert(offsetof(MatrixArgument, vertices) == 16, "");
static_assert(offsetof(MatrixArgument, threshold) == 24, "");

/// The argument of the kernels that look for the greatest distance.
struct Survey {
    MatrixArgument matrix;
    u64 rows;  // So many of its rows are surveyed.
    u64* greatest;  // As `key_of` has it.
};
static_assert(sizeof(Survey) == 48, "");
static_assert(offsetof(Survey, matrix) == 0, "");
static_assert(offsetof(Survey, rows) == 32, "");
static_assert(offsetof(Survey, greatest) == 40, "");

/// The argument of the kernels that make rows.
struct Rows {
    MatrixArgument matrix;
    u64 first;
    u64 count;
    u64 unreachable;  // The bits of what stands for no distance.
    void* to;
};
static_assert(sizeof(Rows) == 64, "");
static_assert(offsetof(Rows, matrix) == 0, "");
static_assert(offsetof(Rows, first) == 32, "");
static_assert(offsetof(Rows, count) == 40, "");
static_assert(offsetof(Rows, unreachable) == 48, "");
static_assert(offsetof(Rows, to) == 56, "");

}  // namespace apsp_matrix
