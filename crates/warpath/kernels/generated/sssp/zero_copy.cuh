// Made from `src/cuda/sssp/zero_copy.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace zero_copy {

/// What one round tells the next. Three take turns: one is read, one written, one cleared.
struct Turn {
    u32 items;  // How many vertices were marked.
    u32 entered;  // How many of them were not below the threshold before.
    u32 cancelled;
    u32 unused;
    u64 arcs;  // How many arcs were relaxed.
    u64 least;  // The least distance found at or above the threshold.
};
static_assert(sizeof(Turn) == 32, "");
static_assert(offsetof(Turn, items) == 0, "");
static_assert(offsetof(Turn, entered) == 4, "");
static_assert(offsetof(Turn, cancelled) == 8, "");
static_assert(offsetof(Turn, unused) == 12, "");
static_assert(offsetof(Turn, arcs) == 16, "");
static_assert(offsetof(Turn, least) == 24, "");

/// The argument. Offsets are u32 or u64.
template <class Lane, class Offset>
struct KernelArgument {
    const Offset* offsets;
    const Arc<typename Lane::Weight>* arcs;
    const Offset* short_begins;  // Where the short rows of the vertices begin, and their arcs.
    const Arc<typename Lane::Weight>* short_arcs;
    typename Lane::Distance* distances;
    u32* near[3];  // The vertices to be expanded, and their groups, as bits. Three take turns.
    u32* far;  // The same of vertices at or above the threshold; some may be nearer by now.
    const uint2* pieces;  // Vertices and numbers of the pieces of long rows.
    const uint2* windows;  // The first group of vertices and the first piece of each window.
    Turn* turns;  // Three.
    u64* report;  // Rounds, thresholds, vertices marked, relaxations.
    u32* out_of_range;
    const u32* targets_wanted;
    const u32* cancelled;
    Counts* statistics;  // Null if nothing is to be counted.
    u64 limit;
    double delta;
    double degree;  // Arcs of a vertex, on average.
    u32 target_count;
    u32 vertices;
    u32 window_count;
    u32 least_of_window;  // So many vertices of a window have to be in a frontier, on average, or there is one window.
    u32 batch;  // Windows widen while rounds have fewer arcs; 0 if they are not to change.
    u32 most_short;  // The most arcs of a short row; 0 if there are no arrays of them.
};
using KernelArgumentLayout = KernelArgument<layout::Lane, layout::Offset>;
static_assert(sizeof(KernelArgumentLayout) == 184, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 8, "");
static_assert(offsetof(KernelArgumentLayout, short_begins) == 16, "");
static_assert(offsetof(KernelArgumentLayout, short_arcs) == 24, "");
static_assert(offsetof(KernelArgumentLayout, distances) == 32, "");
static_assert(offsetof(KernelArgumentLayout, near) == 40, "");
static_assert(offsetof(KernelArgumentLayout, far) == 64, "");
static_assert(offsetof(KernelArgumentLayout, pieces) == 72, "");
static_assert(offsetof(KernelArgumentLayout, windows) == 80, "");
static_assert(offsetof(KernelArgumentLayout, turns) == 88, "");
static_assert(offsetof(KernelArgumentLayout, report) == 96, "");
static_assert(offsetof(KernelArgumentLayout, out_of_range) == 104, "");
static_assert(offsetof(KernelArgumentLayout, targets_wanted) == 112, "");
static_assert(offsetof(KernelArgumentLayout, cancelled) == 120, "");
static_assert(offsetof(KernelArgumentLayout, statistics) == 128, "");
static_assert(offsetof(KernelArgumentLayout, limit) == 136, "");
static_assert(offsetof(KernelArgumentLayout, delta) == 144, "");
static_assert(offsetof(KernelArgumentLayout, degree) == 152, "");
static_assert(offsetof(KernelArgumentLayout, target_count) == 160, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 164, "");
static_assert(offsetof(KernelArgumentLayout, window_count) == 168, "");
static_assert(offsetof(KernelArgumentLayout, least_of_window) == 172, "");
static_assert(offsetof(KernelArgumentLayout, batch) == 176, "");
static_assert(offsetof(KernelArgumentLayout, most_short) == 180, "");

}  // namespace zero_copy
