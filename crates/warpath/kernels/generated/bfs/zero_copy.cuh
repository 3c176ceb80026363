// Made from `src/cuda/bfs/zero_copy.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace zero_copy {

/// What one level tells the next. Three take turns: one is read, one written, one cleared.
struct Turn {
    u32 found;  // How many vertices were found.
    u32 cancelled;
    u64 arcs;  // How many arcs leave them, if the level was searched top-down and there are best tails.
};
static_assert(sizeof(Turn) == 16, "");
static_assert(offsetof(Turn, found) == 0, "");
static_assert(offsetof(Turn, cancelled) == 4, "");
static_assert(offsetof(Turn, arcs) == 8, "");

/// The argument. Offsets are u32 or u64.
template <class Offset>
struct KernelArgument {
    const Offset* offsets;
    const u32* targets;
    /// For each vertex the first two tails to look for, filled up with no_vertex; null if all levels are searched top-down.
    const uint2* best_tails;
    u32* levels;
    u32* visited;  // Bits.
    u32* frontier[3];  // Bits of the vertices of a level. Three take turns.
    const uint2* pieces;  // Vertices and numbers of the pieces of long rows.
    Turn* turns;  // Three.
    u32* report;  // Number of levels, and of those searched bottom-up.
    const u32* targets_wanted;
    const u32* cancelled;
    u64 arcs;
    u32 target_count;
    u32 vertices;
    u32 piece_count;
    u32 cutoff;
    float bottom_up;  // Bottom-up once this share of all arcs leaves the frontier,
    float top_down;  // and top-down again once less than this share of all vertices is in it.
};
using KernelArgumentLayout = KernelArgument<layout::Offset>;
static_assert(sizeof(KernelArgumentLayout) == 136, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, targets) == 8, "");
static_assert(offsetof(KernelArgumentLayout, best_tails) == 16, "");
static_assert(offsetof(KernelArgumentLayout, levels) == 24, "");
static_assert(offsetof(KernelArgumentLayout, visited) == 32, "");
static_assert(offsetof(KernelArgumentLayout, frontier) == 40, "");
static_assert(offsetof(KernelArgumentLayout, pieces) == 64, "");
static_assert(offsetof(KernelArgumentLayout, turns) == 72, "");
static_assert(offsetof(KernelArgumentLayout, report) == 80, "");
static_assert(offsetof(KernelArgumentLayout, targets_wanted) == 88, "");
static_assert(offsetof(KernelArgumentLayout, cancelled) == 96, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 104, "");
static_assert(offsetof(KernelArgumentLayout, target_count) == 112, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 116, "");
static_assert(offsetof(KernelArgumentLayout, piece_count) == 120, "");
static_assert(offsetof(KernelArgumentLayout, cutoff) == 124, "");
static_assert(offsetof(KernelArgumentLayout, bottom_up) == 128, "");
static_assert(offsetof(KernelArgumentLayout, top_down) == 132, "");

}  // namespace zero_copy
