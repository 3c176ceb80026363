// Made from `src/cuda/bfs/multi_hop.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

/// Words of shared memory that a warp takes to make one: the list of what it has found, and a table to know it by.
constexpr u32 build_words = 1536;

/// The arguments.
struct Search {
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
static_assert(sizeof(Search) == 104, "");
static_assert(offsetof(Search, places) == 0, "");
static_assert(offsetof(Search, entries) == 8, "");
static_assert(offsetof(Search, levels) == 16, "");
static_assert(offsetof(Search, queue) == 24, "");
static_assert(offsetof(Search, sizes) == 32, "");
static_assert(offsetof(Search, arrivals) == 40, "");
static_assert(offsetof(Search, report) == 48, "");
static_assert(offsetof(Search, sources) == 56, "");
static_assert(offsetof(Search, targets_wanted) == 64, "");
static_assert(offsetof(Search, cancelled) == 72, "");
static_assert(offsetof(Search, source_count) == 80, "");
static_assert(offsetof(Search, target_count) == 84, "");
static_assert(offsetof(Search, vertices) == 88, "");
static_assert(offsetof(Search, radius) == 92, "");
static_assert(offsetof(Search, capacity) == 96, "");
static_assert(offsetof(Search, cutoff) == 100, "");
