// Made from `src/cuda/matrix/by_vertex.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace by_vertex {

/// The argument.
template <class Cell>
struct KernelArgument {
    typename Cell::Number* matrix;
    u64 pitch;
    u32* stopped;
    u32 vertices;
    u32 through;
};
using KernelArgumentLayout = KernelArgument<layout::Cell>;
static_assert(sizeof(KernelArgumentLayout) == 32, "");
static_assert(offsetof(KernelArgumentLayout, matrix) == 0, "");
static_assert(offsetof(KernelArgumentLayout, pitch) == 8, "");
static_assert(offsetof(KernelArgumentLayout, stopped) == 16, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 24, "");
static_assert(offsetof(KernelArgumentLayout, through) == 28, "");

}  // namespace by_vertex
