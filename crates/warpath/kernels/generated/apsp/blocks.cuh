// Made from `src/cuda/matrix/blocks.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace blocks {

/// The argument.
template <class Cell>
struct KernelArgument {
    typename Cell::Number* matrix;
    u64 pitch;
    u32* stopped;
    u32 stage;
};
using KernelArgumentLayout = KernelArgument<layout::Cell>;
static_assert(sizeof(KernelArgumentLayout) == 32, "");
static_assert(offsetof(KernelArgumentLayout, matrix) == 0, "");
static_assert(offsetof(KernelArgumentLayout, pitch) == 8, "");
static_assert(offsetof(KernelArgumentLayout, stopped) == 16, "");
static_assert(offsetof(KernelArgumentLayout, stage) == 24, "");

}  // namespace blocks
