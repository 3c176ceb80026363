// Made from `src/cuda/sssp/near_far.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace near_far {

/// What one round tells the next. Three take turns: one is read, one written, one cleared.
struct Turn {
    u32 short_rows;  // How many vertices the near queue of short rows has.
    u32 pieces;  // How many pieces the near queue of long rows has.
    u32 far;  // How many vertices were appended to the far list.
    u32 cancelled;
    u32 items;  // How many vertices were queued.
    u32 entered;  // How many of them were not below the threshold before.
    u64 arcs;  // How many arcs leave those that were queued.
    u64 least;  // The least distance found at or above the threshold.
};
static_assert(sizeof(Turn) == 40, "");
static_assert(offsetof(Turn, short_rows) == 0, "");
static_assert(offsetof(Turn, pieces) == 4, "");
static_assert(offsetof(Turn, far) == 8, "");
static_assert(offsetof(Turn, cancelled) == 12, "");
static_assert(offsetof(Turn, items) == 16, "");
static_assert(offsetof(Turn, entered) == 20, "");
static_assert(offsetof(Turn, arcs) == 24, "");
static_assert(offsetof(Turn, least) == 32, "");

/// The argument. Offsets are u32 or u64.
template <class Lane, class Offset>
struct KernelArgument {
    const Offset* offsets;
    const Arc<typename Lane::Weight>* arcs;
    typename Lane::Distance* distances;
    typename Lane::Distance* expanded;  // The distance with which a vertex of a short row was last expanded.
    u32* queued[2];  // Bits of what is in the near queues.
    u32* short_rows[2];  // Near queues of vertices.
    uint2* long_rows[2];  // Near queues of vertices and pieces.
    u32* far[2];  // Lists of vertices at or above the threshold, of `far_capacity`.
    Turn* turns;  // Three.
    u64* report;  // Rounds, thresholds, scans, vertices queued, relaxations.
    u32* out_of_range;
    const u32* sources;
    const u32* targets_wanted;
    const u32* cancelled;
    Counts* statistics;  // Null if nothing is to be counted.
    u64 limit;
    double delta;
    u32 source_count;
    u32 target_count;
    u32 vertices;
    u32 far_capacity;
    u32 batch;  // Windows widen while rounds have fewer arcs; 0 if they are not to change.
};
using KernelArgumentLayout = KernelArgument<layout::Lane, layout::Offset>;
static_assert(sizeof(KernelArgumentLayout) == 192, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 8, "");
static_assert(offsetof(KernelArgumentLayout, distances) == 16, "");
static_assert(offsetof(KernelArgumentLayout, expanded) == 24, "");
static_assert(offsetof(KernelArgumentLayout, queued) == 32, "");
static_assert(offsetof(KernelArgumentLayout, short_rows) == 48, "");
static_assert(offsetof(KernelArgumentLayout, long_rows) == 64, "");
static_assert(offsetof(KernelArgumentLayout, far) == 80, "");
static_assert(offsetof(KernelArgumentLayout, turns) == 96, "");
static_assert(offsetof(KernelArgumentLayout, report) == 104, "");
static_assert(offsetof(KernelArgumentLayout, out_of_range) == 112, "");
static_assert(offsetof(KernelArgumentLayout, sources) == 120, "");
static_assert(offsetof(KernelArgumentLayout, targets_wanted) == 128, "");
static_assert(offsetof(KernelArgumentLayout, cancelled) == 136, "");
static_assert(offsetof(KernelArgumentLayout, statistics) == 144, "");
static_assert(offsetof(KernelArgumentLayout, limit) == 152, "");
static_assert(offsetof(KernelArgumentLayout, delta) == 160, "");
static_assert(offsetof(KernelArgumentLayout, source_count) == 168, "");
static_assert(offsetof(KernelArgumentLayout, target_count) == 172, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 176, "");
static_assert(offsetof(KernelArgumentLayout, far_capacity) == 180, "");
static_assert(offsetof(KernelArgumentLayout, batch) == 184, "");

}  // namespace near_far
