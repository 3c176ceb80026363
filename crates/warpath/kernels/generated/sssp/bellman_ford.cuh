// Made from `src/cuda/sssp/bellman_ford.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace bellman_ford {

/// The argument.
template <class Lane>
struct KernelArgument {
    const u32* tails;
    const u32* heads;
    const typename Lane::Weight* weights;
    const Record<typename Lane::Weight>* records;  // Or, if not null, the three side by side.
    typename Lane::Distance* previous;
    typename Lane::Distance* current;
    u32* changed;
    u32* out_of_range;
    Counts* statistics;  // Null if nothing is to be counted.
    u64 limit;
    u32 arcs;
};
using KernelArgumentLayout = KernelArgument<layout::Lane>;
static_assert(sizeof(KernelArgumentLayout) == 88, "");
static_assert(offsetof(KernelArgumentLayout, tails) == 0, "");
static_assert(offsetof(KernelArgumentLayout, heads) == 8, "");
static_assert(offsetof(KernelArgumentLayout, weights) == 16, "");
static_assert(offsetof(KernelArgumentLayout, records) == 24, "");
static_assert(offsetof(KernelArgumentLayout, previous) == 32, "");
static_assert(offsetof(KernelArgumentLayout, current) == 40, "");
static_assert(offsetof(KernelArgumentLayout, changed) == 48, "");
static_assert(offsetof(KernelArgumentLayout, out_of_range) == 56, "");
static_assert(offsetof(KernelArgumentLayout, statistics) == 64, "");
static_assert(offsetof(KernelArgumentLayout, limit) == 72, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 80, "");

}  // namespace bellman_ford
