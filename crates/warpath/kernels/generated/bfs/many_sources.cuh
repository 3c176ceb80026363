// Made from `src/cuda/bfs/many_sources/arrays.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace many_sources {

/// The most blocks, each of which has a part of the queue for what it finds.
constexpr u32 most_blocks = 256;

/// The arguments.
template <class Offset>
struct Batch {
    const Offset* offsets;  // Of the arcs by tail.
    const u32* targets;
    const Offset* incoming_offsets;  // Of the arcs by head.
    const u32* incoming;
    u64* seen[2];  // For each vertex the searches that have seen it; those that do not exist have seen all.
    u32* levels;  // A row for each search.
    uint4* queue;  // Two, for each block `capacity` items.
    uint4* parts;  // Two times `most_blocks`: what each block has found: items, arcs, searches.
    u32* arrivals;  // Three words, 32 apart, zero.
    u32* report;  // Number of levels, and of those searched bottom-up.
    const u32* sources;
    const u32* cancelled;
    u64 arcs;
    u64 stride;  // From row to row.
    u32 source_count;
    u32 searches;  // As many as sources, or one from all of them.
    u32 vertices;
    u32 capacity;
    u32 cutoff;
    float bottom_up;  // Bottom-up once this share of all arcs leaves the frontier,
    float top_down;  // and top-down again once less than this share of all vertices is in it.
};
using BatchLayout = Batch<layout::Offset>;
static_assert(sizeof(BatchLayout) == 152, "");
static_assert(offsetof(BatchLayout, offsets) == 0, "");
static_assert(offsetof(BatchLayout, targets) == 8, "");
static_assert(offsetof(BatchLayout, incoming_offsets) == 16, "");
static_assert(offsetof(BatchLayout, incoming) == 24, "");
static_assert(offsetof(BatchLayout, seen) == 32, "");
static_assert(offsetof(BatchLayout, levels) == 48, "");
static_assert(offsetof(BatchLayout, queue) == 56, "");
static_assert(offsetof(BatchLayout, parts) == 64, "");
static_assert(offsetof(BatchLayout, arrivals) == 72, "");
static_assert(offsetof(BatchLayout, report) == 80, "");
static_assert(offsetof(BatchLayout, sources) == 88, "");
static_assert(offsetof(BatchLayout, cancelled) == 96, "");
static_assert(offsetof(BatchLayout, arcs) == 104, "");
static_assert(offsetof(BatchLayout, stride) == 112, "");
static_assert(offsetof(BatchLayout, source_count) == 120, "");
static_assert(offsetof(BatchLayout, searches) == 124, "");
static_assert(offsetof(BatchLayout, vertices) == 128, "");
static_assert(offsetof(BatchLayout, capacity) == 132, "");
static_assert(offsetof(BatchLayout, cutoff) == 136, "");
static_assert(offsetof(BatchLayout, bottom_up) == 140, "");
static_assert(offsetof(BatchLayout, top_down) == 144, "");

}  // namespace many_sources
