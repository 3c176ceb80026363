// Made from `src/cuda/bfs/one_block.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace one_block {

/// Arcs that a lane looks at together.
constexpr u32 arcs_a_lane = 4;

/// The arguments.
template <class Offset>
struct Batch {
    const Offset* offsets;  // Of the arcs by tail.
    const u32* targets;
    u32* levels;  // A row for each source.
    u32* report;  // For each block two words: its levels, and 0, as none was searched bottom-up.
    const u32* sources;
    const u32* cancelled;
    u64 stride;  // From row to row.
    u32 source_count;
    u32 width;  // Sources of a block, up to 32.
    u32 vertices;  // Below 65,536.
    u32 capacity;  // Of a list of the frontier.
    u32 lanes;  // That share a row: a power of two up to 32.
    u32 long_row;  // A row of more arcs is shared by all warps; such rows are fewer than a quarter of the vertices.
};
using BatchLayout = Batch<layout::Offset>;
static_assert(sizeof(BatchLayout) == 80, "");
static_assert(offsetof(BatchLayout, offsets) == 0, "");
static_assert(offsetof(BatchLayout, targets) == 8, "");
static_assert(offsetof(BatchLayout, levels) == 16, "");
static_assert(offsetof(BatchLayout, report) == 24, "");
static_assert(offsetof(BatchLayout, sources) == 32, "");
static_assert(offsetof(BatchLayout, cancelled) == 40, "");
static_assert(offsetof(BatchLayout, stride) == 48, "");
static_assert(offsetof(BatchLayout, source_count) == 56, "");
static_assert(offsetof(BatchLayout, width) == 60, "");
static_assert(offsetof(BatchLayout, vertices) == 64, "");
static_assert(offsetof(BatchLayout, capacity) == 68, "");
static_assert(offsetof(BatchLayout, lanes) == 72, "");
static_assert(offsetof(BatchLayout, long_row) == 76, "");

}  // namespace one_block
