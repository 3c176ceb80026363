// The counters of a search that is asked to count. A kernel's argument has a pointer to them, which is null otherwise.
// The test for null is one branch that all threads take alike, outside the innermost loop, and takes no registers
// there.
#pragma once

#include "../device.cuh"
#include "../generated/sssp/counts.cuh"

/// One thread of the grid says how much a round begins with.
__device__ __forceinline__ void count_frontier(Counts& counts, u32 size) {
    if (size == 0) return;
    const u64 before = counts.frontiers;
    if (before < recorded_frontiers) counts.sizes[before] = size;
    counts.frontiers = before + 1;
    counts.expanded += size;
    counts.largest = max(counts.largest, static_cast<u64>(size));
}

/// A thread adds its own counts.
__device__ __forceinline__ void count_relaxations(Counts& counts, u32 relaxations, u32 improvements) {
    if (relaxations > 0) atomicAdd(&counts.relaxations, static_cast<u64>(relaxations));
    if (improvements > 0) atomicAdd(&counts.improvements, static_cast<u64>(improvements));
}
