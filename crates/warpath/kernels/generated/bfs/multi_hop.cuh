// Made from `src/cuda/bfs/multi_hop.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

/// Words of shared memory that a warp takes to make one: the list of what it has found, and a table to know it by.
constexpr u32 build_words = 1536;

/// The arguments.
struct KernelArgument {
    const uint2* places;
    const u32* entries;
    u32* levels;  // Of as many vertices, up to a multiple of four.
    uint4* queue;  // Two, for each block `capacity` items: a vertex and its place.
    u32* sizes;  // Of the parts of the queues: two times `parts`.
    u32* arrivals;  // Three words, 32 apart, zero.
    u32* report;  // Number of steps; whether a part was too small, zero.
    const u32* sources;
    const u32* targets_wanted;
    const u32* cancelled;
    u32 source_count;
    u32 target_count;
    u32 vertices;
    u32 radius;
    u32 capacity;
    u32 cutoff;
};
static_assert(sizeof(KernelArgument) == 104, "");
static_assert(offsetof(KernelArgument, places) == 0, "");
static_assert(offsetof(KernelArgument, entries) == 8, "");
static_assert(offsetof(KernelArgument, levels) == 16, "");
static_assert(offsetof(KernelArgument, queue) == 24, "");
static_assert(offsetof(KernelArgument, sizes) == 32, "");
static_assert(offsetof(KernelArgument, arrivals) == 40, "");
static_assert(offsetof(KernelArgument, report) == 48, "");
static_assert(offsetof(KernelArgument, sources) == 56, "");
static_assert(offsetof(KernelArgument, targets_wanted) == 64, "");
static_assert(offsetof(KernelArgument, cancelled) == 72, "");
static_assert(offsetof(KernelArgument, source_count) == 80, "");
static_assert(offsetof(KernelArgument, target_count) == 84, "");
static_assert(offsetof(KernelArgument, vertices) == 88, "");
static_assert(offsetof(KernelArgument, radius) == 92, "");
static_assert(offsetof(KernelArgument, capacity) == 96, "");
static_assert(offsetof(KernelArgument, cutoff) == 100, "");
