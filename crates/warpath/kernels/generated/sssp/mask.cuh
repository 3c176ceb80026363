// Made from `src/cuda/sssp/mask.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace mask {

/// The argument.
template <class Lane>
struct KernelArgument {
    const u32* offsets;
    const u32* targets;
    const typename Lane::Weight* weights;
    u8* mask;
    typename Lane::Distance* cost;
    typename Lane::Distance* updating;
    u32* marked;
    u32* out_of_range;
    Counts* statistics;  // Null if nothing is to be counted.
    u64 limit;
    u64 stride;  // How far apart the vertices of a thread are: one, or as many as there are threads.
    u32 vertices;
    u32 coarsening;  // How many vertices a thread has.
};
using KernelArgumentLayout = KernelArgument<layout::Lane>;
static_assert(sizeof(KernelArgumentLayout) == 96, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, targets) == 8, "");
static_assert(offsetof(KernelArgumentLayout, weights) == 16, "");
static_assert(offsetof(KernelArgumentLayout, mask) == 24, "");
static_assert(offsetof(KernelArgumentLayout, cost) == 32, "");
static_assert(offsetof(KernelArgumentLayout, updating) == 40, "");
static_assert(offsetof(KernelArgumentLayout, marked) == 48, "");
static_assert(offsetof(KernelArgumentLayout, out_of_range) == 56, "");
static_assert(offsetof(KernelArgumentLayout, statistics) == 64, "");
static_assert(offsetof(KernelArgumentLayout, limit) == 72, "");
static_assert(offsetof(KernelArgumentLayout, stride) == 80, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 88, "");
static_assert(offsetof(KernelArgumentLayout, coarsening) == 92, "");

}  // namespace mask
