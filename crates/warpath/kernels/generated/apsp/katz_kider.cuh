// Made from `src/cuda/apsp/katz_kider/program.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace katz_kider {

/// The argument of a pass.
template <class Cell>
struct KernelArgument {
    typename Cell::Word* current;  // The page with the cells that may change.
    const typename Cell::Word* column;  // The page with d_ik.
    const typename Cell::Word* row;  // The page with d_kj.
    u64 pitch;  // Cells from row to row of every page.
    u32* stopped;
    u32 first;  // The first vertex of the stage.
    u32 stage;  // The number of the primary block.
    u32 center_x;  // The block to skip from left to right, and from top to bottom; a number beyond all blocks for none.
    u32 center_y;
    u32 line;  // Which row of the second pass's grid comes first.
};
using KernelArgumentLayout = KernelArgument<layout::Cell>;
static_assert(sizeof(KernelArgumentLayout) == 64, "");
static_assert(offsetof(KernelArgumentLayout, current) == 0, "");
static_assert(offsetof(KernelArgumentLayout, column) == 8, "");
static_assert(offsetof(KernelArgumentLayout, row) == 16, "");
static_assert(offsetof(KernelArgumentLayout, pitch) == 24, "");
static_assert(offsetof(KernelArgumentLayout, stopped) == 32, "");
static_assert(offsetof(KernelArgumentLayout, first) == 40, "");
static_assert(offsetof(KernelArgumentLayout, stage) == 44, "");
static_assert(offsetof(KernelArgumentLayout, center_x) == 48, "");
static_assert(offsetof(KernelArgumentLayout, center_y) == 52, "");
static_assert(offsetof(KernelArgumentLayout, line) == 56, "");

/// Distances, and the same as cells of two values.
template <class Cell>
struct Conversion {
    typename Cell::Number* distances;
    u64 distances_pitch;
    typename Cell::Word* pairs;
    u64 pitch;  // Rows, and cells of a row.
    u64 vertices;
};
using ConversionLayout = Conversion<layout::Cell>;
static_assert(sizeof(ConversionLayout) == 40, "");
static_assert(offsetof(ConversionLayout, distances) == 0, "");
static_assert(offsetof(ConversionLayout, distances_pitch) == 8, "");
static_assert(offsetof(ConversionLayout, pairs) == 16, "");
static_assert(offsetof(ConversionLayout, pitch) == 24, "");
static_assert(offsetof(ConversionLayout, vertices) == 32, "");

}  // namespace katz_kider
