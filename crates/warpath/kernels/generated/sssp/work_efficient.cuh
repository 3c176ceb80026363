// Made from `src/cuda/sssp/work_efficient.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace work_efficient {

/// The argument of the kernels that depend on the semiring.
template <class Lane>
struct KernelArgument {
    const u32* tails;
    const u32* heads;
    const typename Lane::Weight* weights;
    const Record<typename Lane::Weight>* records;  // Or, if not null, the three side by side.
    typename Lane::Distance* previous;  // Outcore only: the distances of the round before.
    typename Lane::Distance* current;
    u8* fell;  // Incore only: whose distance fell in the round before,
    u8* falls;  // and in this one.
    u32* marked;
    u32* to_process;
    u32* counts;
    u32* places;
    u32* out_of_range;
    Counts* statistics;  // Null if nothing is to be counted.
    u64 limit;
    u32 arcs;
};
using KernelArgumentLayout = KernelArgument<layout::Lane>;
static_assert(sizeof(KernelArgumentLayout) == 128, "");
static_assert(offsetof(KernelArgumentLayout, tails) == 0, "");
static_assert(offsetof(KernelArgumentLayout, heads) == 8, "");
static_assert(offsetof(KernelArgumentLayout, weights) == 16, "");
static_assert(offsetof(KernelArgumentLayout, records) == 24, "");
static_assert(offsetof(KernelArgumentLayout, previous) == 32, "");
static_assert(offsetof(KernelArgumentLayout, current) == 40, "");
static_assert(offsetof(KernelArgumentLayout, fell) == 48, "");
static_assert(offsetof(KernelArgumentLayout, falls) == 56, "");
static_assert(offsetof(KernelArgumentLayout, marked) == 64, "");
static_assert(offsetof(KernelArgumentLayout, to_process) == 72, "");
static_assert(offsetof(KernelArgumentLayout, counts) == 80, "");
static_assert(offsetof(KernelArgumentLayout, places) == 88, "");
static_assert(offsetof(KernelArgumentLayout, out_of_range) == 96, "");
static_assert(offsetof(KernelArgumentLayout, statistics) == 104, "");
static_assert(offsetof(KernelArgumentLayout, limit) == 112, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 120, "");

}  // namespace work_efficient
