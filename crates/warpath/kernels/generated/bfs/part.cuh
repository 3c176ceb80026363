// Made from `src/cuda/parts/breadth_first.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace bfs_part {

/// The size of a frontier.
struct Frontier {
    u64 arcs;  // How many arcs leave its vertices.
    u64 vertices;  // How many owned vertices it has.
    u32 short_rows;  // How many vertices the queue of short rows has.
    u32 pieces;  // How many pieces the queue of long rows has.
};
static_assert(sizeof(Frontier) == 24, "");
static_assert(offsetof(Frontier, arcs) == 0, "");
static_assert(offsetof(Frontier, vertices) == 8, "");
static_assert(offsetof(Frontier, short_rows) == 16, "");
static_assert(offsetof(Frontier, pieces) == 20, "");

/// The argument.
struct KernelArgument {
    const u64* offsets;
    const u32* heads;
    u32* levels;  // Of vertices with rows.
    const u32* short_rows;  // Queues of vertices: of the frontier, and of the next.
    u32* next_short_rows;
    const uint2* long_rows;  // Queues of vertices and pieces.
    uint2* next_long_rows;
    const Frontier* now;  // The sizes of both.
    Frontier* next;
    u32* found_hubs;  // Bits of the hubs that are found in a level.
    u32* met_ghosts;  // Bits of the ghosts that arcs of a frontier lead to,
    u32* known_ghosts;  // and of those that were posted, or were in the frontier.
    u32* frontier;  // Bits of the vertices with rows that are in the frontier,
    const u32* ghosts_in_frontier;  // and of the ghosts.
    u32 rows;
    u32 owned;
    u32 level;  // Of the frontier.
};
static_assert(sizeof(KernelArgument) == 128, "");
static_assert(offsetof(KernelArgument, offsets) == 0, "");
static_assert(offsetof(KernelArgument, heads) == 8, "");
static_assert(offsetof(KernelArgument, levels) == 16, "");
static_assert(offsetof(KernelArgument, short_rows) == 24, "");
static_assert(offsetof(KernelArgument, next_short_rows) == 32, "");
static_assert(offsetof(KernelArgument, long_rows) == 40, "");
static_assert(offsetof(KernelArgument, next_long_rows) == 48, "");
static_assert(offsetof(KernelArgument, now) == 56, "");
static_assert(offsetof(KernelArgument, next) == 64, "");
static_assert(offsetof(KernelArgument, found_hubs) == 72, "");
static_assert(offsetof(KernelArgument, met_ghosts) == 80, "");
static_assert(offsetof(KernelArgument, known_ghosts) == 88, "");
static_assert(offsetof(KernelArgument, frontier) == 96, "");
static_assert(offsetof(KernelArgument, ghosts_in_frontier) == 104, "");
static_assert(offsetof(KernelArgument, rows) == 112, "");
static_assert(offsetof(KernelArgument, owned) == 116, "");
static_assert(offsetof(KernelArgument, level) == 120, "");

}  // namespace bfs_part
