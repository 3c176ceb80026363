// Made from `src/cuda/bfs/direction_optimizing.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

/// What one level tells the next. Three take turns: one is read, one written, one cleared.
struct Level {
    u32 short_rows;  // How many vertices the queue of short rows has.
    u32 pieces;  // How many pieces the queue of long rows has.
    u32 found;  // How many vertices were found.
    u32 cancelled;
    u64 arcs;  // How many arcs leave them, if the level was searched top-down.
};
static_assert(sizeof(Level) == 24, "");
static_assert(offsetof(Level, short_rows) == 0, "");
static_assert(offsetof(Level, pieces) == 4, "");
static_assert(offsetof(Level, found) == 8, "");
static_assert(offsetof(Level, cancelled) == 12, "");
static_assert(offsetof(Level, arcs) == 16, "");

/// The arguments.
template <class Offset>
struct KernelArgument {
    const Offset* offsets;  // Of the arcs by tail.
    const u32* targets;
    const Offset* incoming_offsets;  // Of the arcs by head.
    const u32* incoming;
    const uint4* best_tails;  // For each vertex the first four tails to look for, filled up with no_vertex.
    const u32* settled;  // Bits of what is never looked for: vertices without arcs, and beyond the last one.
    u32* levels;  // Of as many vertices, up to a multiple of four.
    u32* visited[2];  // Bits.
    u32* short_rows[2];  // Queues of vertices.
    uint2* long_rows[2];  // Queues of vertices and pieces.
    Level* turns;  // Three.
    u32* report;  // Number of levels, and of those searched bottom-up.
    const u32* sources;
    const u32* targets_wanted;
    const u32* cancelled;
    u64 arcs;
    u32 source_count;
    u32 target_count;
    u32 vertices;
    u32 cutoff;
    float bottom_up;  // Bottom-up once this share of all arcs leaves the frontier,
    float top_down;  // and top-down again once less than this share of all vertices is in it.
};
using KernelArgumentLayout = KernelArgument<layout::Offset>;
static_assert(sizeof(KernelArgumentLayout) == 176, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, targets) == 8, "");
static_assert(offsetof(KernelArgumentLayout, incoming_offsets) == 16, "");
static_assert(offsetof(KernelArgumentLayout, incoming) == 24, "");
static_assert(offsetof(KernelArgumentLayout, best_tails) == 32, "");
static_assert(offsetof(KernelArgumentLayout, settled) == 40, "");
static_assert(offsetof(KernelArgumentLayout, levels) == 48, "");
static_assert(offsetof(KernelArgumentLayout, visited) == 56, "");
static_assert(offsetof(KernelArgumentLayout, short_rows) == 72, "");
static_assert(offsetof(KernelArgumentLayout, long_rows) == 88, "");
static_assert(offsetof(KernelArgumentLayout, turns) == 104, "");
static_assert(offsetof(KernelArgumentLayout, report) == 112, "");
static_assert(offsetof(KernelArgumentLayout, sources) == 120, "");
static_assert(offsetof(KernelArgumentLayout, targets_wanted) == 128, "");
static_assert(offsetof(KernelArgumentLayout, cancelled) == 136, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 144, "");
static_assert(offsetof(KernelArgumentLayout, source_count) == 152, "");
static_assert(offsetof(KernelArgumentLayout, target_count) == 156, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 160, "");
static_assert(offsetof(KernelArgumentLayout, cutoff) == 164, "");
static_assert(offsetof(KernelArgumentLayout, bottom_up) == 168, "");
static_assert(offsetof(KernelArgumentLayout, top_down) == 172, "");
