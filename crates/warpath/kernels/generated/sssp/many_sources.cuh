// Made from `src/cuda/sssp/many_sources/arrays.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace sssp_many_sources {

/// The argument. Offsets are u32 or u64.
template <class Lane, class Offset>
struct Batch {
    const Offset* offsets;
    const Arc<typename Lane::Weight>* arcs;
    typename Lane::Distance* distances;  // A row for each search.
    typename Lane::Distance* far_distances;  // Of what is far: for each block `capacity`.
    u32* far_vertices;
    u32* next;  // The search that the next free block takes; zero.
    u64* report;  // Steps, thresholds, scans, vertices expanded, relaxations; zero.
    u32* out_of_range;  // For each search.
    const u32* sources;
    const u32* cancelled;
    u64 limit;
    u64 stride;  // From row to row, in distances.
    double delta;  // The first one.
    u32 source_count;
    u32 searches;  // As many as sources, or one from all of them.
    u32 vertices;
    u32 capacity;  // At least as many as there are vertices.
    u32 room;  // Of a near queue.
    u32 wanted;  // So many near vertices are enough for a block.
    u32 in_shared;  // Whether there is shared memory for the distances of a search.
};
using BatchLayout = Batch<layout::Lane, layout::Offset>;
static_assert(sizeof(BatchLayout) == 136, "");
static_assert(offsetof(BatchLayout, offsets) == 0, "");
static_assert(offsetof(BatchLayout, arcs) == 8, "");
static_assert(offsetof(BatchLayout, distances) == 16, "");
static_assert(offsetof(BatchLayout, far_distances) == 24, "");
static_assert(offsetof(BatchLayout, far_vertices) == 32, "");
static_assert(offsetof(BatchLayout, next) == 40, "");
static_assert(offsetof(BatchLayout, report) == 48, "");
static_assert(offsetof(BatchLayout, out_of_range) == 56, "");
static_assert(offsetof(BatchLayout, sources) == 64, "");
static_assert(offsetof(BatchLayout, cancelled) == 72, "");
static_assert(offsetof(BatchLayout, limit) == 80, "");
static_assert(offsetof(BatchLayout, stride) == 88, "");
static_assert(offsetof(BatchLayout, delta) == 96, "");
static_assert(offsetof(BatchLayout, source_count) == 104, "");
static_assert(offsetof(BatchLayout, searches) == 108, "");
static_assert(offsetof(BatchLayout, vertices) == 112, "");
static_assert(offsetof(BatchLayout, capacity) == 116, "");
static_assert(offsetof(BatchLayout, room) == 120, "");
static_assert(offsetof(BatchLayout, wanted) == 124, "");
static_assert(offsetof(BatchLayout, in_shared) == 128, "");

}  // namespace sssp_many_sources
