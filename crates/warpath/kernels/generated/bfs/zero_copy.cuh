// Made from `src/cuda/bfs/zero_copy.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace zero_copy {

/// What one level tells the next. Three take turns: one is read, one written, one cleared.
struct Turn {
    u32 found;  // How many vertices were found.
    u32 cancelled;
    u64 arcs;  // How many arcs leave them, if there are best tails.
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
    const Offset* incoming_offsets;  // The arcs by head: the same of an undirected graph.
    const u32* incoming;
    /// For each vertex the first two tails to look for, filled up with no_vertex; null if all levels are searched top-down.
    const uint2* best_tails;
    u32* levels;
    u32* visited;  // Bits.
    u32* frontier[3];  // The vertices of a level, and their groups, as bits. Three take turns.
    const uint2* pieces;  // Vertices and numbers of the pieces of long rows.
    const uint2* windows;  // The first group of vertices and the first piece of each window.
    Turn* turns;  // Three.
    u32* report;  // Number of levels, and of those searched bottom-up.
    const u32* targets_wanted;
    const u32* cancelled;
    u64 arcs;
    u32 target_count;
    u32 vertices;
    u32 window_count;
    u32 least_of_window;  // So many vertices of a window have to be in a frontier, on average, or there is one window.
    u32 cutoff;
    float bottom_up;  // The bytes predicted for a level bottom-up count so many times.
};
using KernelArgumentLayout = KernelArgument<layout::Offset>;
static_assert(sizeof(KernelArgumentLayout) == 160, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, targets) == 8, "");
static_assert(offsetof(KernelArgumentLayout, incoming_offsets) == 16, "");
static_assert(offsetof(KernelArgumentLayout, incoming) == 24, "");
static_assert(offsetof(KernelArgumentLayout, best_tails) == 32, "");
static_assert(offsetof(KernelArgumentLayout, levels) == 40, "");
static_assert(offsetof(KernelArgumentLayout, visited) == 48, "");
static_assert(offsetof(KernelArgumentLayout, frontier) == 56, "");
static_assert(offsetof(KernelArgumentLayout, pieces) == 80, "");
static_assert(offsetof(KernelArgumentLayout, windows) == 88, "");
static_assert(offsetof(KernelArgumentLayout, turns) == 96, "");
static_assert(offsetof(KernelArgumentLayout, report) == 104, "");
static_assert(offsetof(KernelArgumentLayout, targets_wanted) == 112, "");
static_assert(offsetof(KernelArgumentLayout, cancelled) == 120, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 128, "");
static_assert(offsetof(KernelArgumentLayout, target_count) == 136, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 140, "");
static_assert(offsetof(KernelArgumentLayout, window_count) == 144, "");
static_assert(offsetof(KernelArgumentLayout, least_of_window) == 148, "");
static_assert(offsetof(KernelArgumentLayout, cutoff) == 152, "");
static_assert(offsetof(KernelArgumentLayout, bottom_up) == 156, "");

}  // namespace zero_copy
