// Made from `src/cuda/bfs/partitioned.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace partitioned {

/// What one level tells the next. Three take turns: one is read, one written, one cleared.
struct Turn {
    u32 found;  // How many vertices were found, or marked for others.
    u32 cancelled;
    u32 long_rows;  // Whether some vertex of this device has a long row, if the next level is searched top-down.
    u32 unused;
    u64 arcs;  // How many arcs leave them, if the level was searched top-down.
};
static_assert(sizeof(Turn) == 24, "");
static_assert(offsetof(Turn, found) == 0, "");
static_assert(offsetof(Turn, cancelled) == 4, "");
static_assert(offsetof(Turn, long_rows) == 8, "");
static_assert(offsetof(Turn, unused) == 12, "");
static_assert(offsetof(Turn, arcs) == 16, "");

/// A part of the graph on its device. Offsets are u32 or u64. Arrays of the part are used as if they had all vertices.
template <class Offset>
struct Part {
    const Offset* offsets;
    const u32* targets;
    const Offset* incoming_offsets;  // The arcs by head: the same of an undirected graph.
    const u32* incoming;
    /// For each vertex the first tails to look for, filled up with no_vertex; null if all levels are searched top-down.
    const uint4* best_tails;
    const u32* degrees;  // Of all vertices the numbers of arcs, with best tails.
    const u32* settled;  // Bits of the vertices that nobody looks for, with best tails.
    u32* levels;
    u32* visited[2];  // Bits of all vertices. Two take turns.
    u32* frontier[3];  // The vertices of a level, and their groups, as bits. Three take turns.
    const uint2* pieces;  // Vertices and numbers of the pieces of long rows.
    Turn* turns;  // Three.
    u32* report;  // Number of levels, of those searched bottom-up, and of meetings.
    const u32* targets_wanted;
    const u32* cancelled;
    u64 arcs;  // Of the whole graph.
    u32 source_count;  // How many sources are on this device: before the search, the first levels are these.
    u32 target_count;
    u32 vertices;
    u32 piece_count;
    u32 cutoff;
    float bottom_up;  // Bottom-up once this share of all arcs leaves the frontier,
    float top_down;  // and top-down again once less than this share of all vertices is in it.
    u32 unused;
};
using PartLayout = Part<layout::Offset>;
static_assert(sizeof(PartLayout) == 184, "");
static_assert(offsetof(PartLayout, offsets) == 0, "");
static_assert(offsetof(PartLayout, targets) == 8, "");
static_assert(offsetof(PartLayout, incoming_offsets) == 16, "");
static_assert(offsetof(PartLayout, incoming) == 24, "");
static_assert(offsetof(PartLayout, best_tails) == 32, "");
static_assert(offsetof(PartLayout, degrees) == 40, "");
static_assert(offsetof(PartLayout, settled) == 48, "");
static_assert(offsetof(PartLayout, levels) == 56, "");
static_assert(offsetof(PartLayout, visited) == 64, "");
static_assert(offsetof(PartLayout, frontier) == 80, "");
static_assert(offsetof(PartLayout, pieces) == 104, "");
static_assert(offsetof(PartLayout, turns) == 112, "");
static_assert(offsetof(PartLayout, report) == 120, "");
static_assert(offsetof(PartLayout, targets_wanted) == 128, "");
static_assert(offsetof(PartLayout, cancelled) == 136, "");
static_assert(offsetof(PartLayout, arcs) == 144, "");
static_assert(offsetof(PartLayout, source_count) == 152, "");
static_assert(offsetof(PartLayout, target_count) == 156, "");
static_assert(offsetof(PartLayout, vertices) == 160, "");
static_assert(offsetof(PartLayout, piece_count) == 164, "");
static_assert(offsetof(PartLayout, cutoff) == 168, "");
static_assert(offsetof(PartLayout, bottom_up) == 172, "");
static_assert(offsetof(PartLayout, top_down) == 176, "");
static_assert(offsetof(PartLayout, unused) == 180, "");

}  // namespace partitioned
