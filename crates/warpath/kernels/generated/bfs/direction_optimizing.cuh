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
struct Search {
    const Offset* offsets;  // Of the arcs by tail.
    const u32* targets;
    const Offset* incoming_offsets;  // Of the arcs by head.
    const u32* incoming;
    const uint4* heads;  // For each vertex the first four tails to look for, filled up with no_vertex.
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
using SearchLayout = Search<layout::Offset>;
static_assert(sizeof(SearchLayout) == 176, "");
static_assert(offsetof(SearchLayout, offsets) == 0, "");
static_assert(offsetof(SearchLayout, targets) == 8, "");
static_assert(offsetof(SearchLayout, incoming_offsets) == 16, "");
static_assert(offsetof(SearchLayout, incoming) == 24, "");
static_assert(offsetof(SearchLayout, heads) == 32, "");
static_assert(offsetof(SearchLayout, settled) == 40, "");
static_assert(offsetof(SearchLayout, levels) == 48, "");
static_assert(offsetof(SearchLayout, visited) == 56, "");
static_assert(offsetof(SearchLayout, short_rows) == 72, "");
static_assert(offsetof(SearchLayout, long_rows) == 88, "");
static_assert(offsetof(SearchLayout, turns) == 104, "");
static_assert(offsetof(SearchLayout, report) == 112, "");
static_assert(offsetof(SearchLayout, sources) == 120, "");
static_assert(offsetof(SearchLayout, targets_wanted) == 128, "");
static_assert(offsetof(SearchLayout, cancelled) == 136, "");
static_assert(offsetof(SearchLayout, arcs) == 144, "");
static_assert(offsetof(SearchLayout, source_count) == 152, "");
static_assert(offsetof(SearchLayout, target_count) == 156, "");
static_assert(offsetof(SearchLayout, vertices) == 160, "");
static_assert(offsetof(SearchLayout, cutoff) == 164, "");
static_assert(offsetof(SearchLayout, bottom_up) == 168, "");
static_assert(offsetof(SearchLayout, top_down) == 172, "");
