// Made from `src/cuda/matrix/tiles.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace tiles {

/// Threads of a block.
constexpr u32 threads = 256;
/// So many vertices of a stage are in shared memory at a time: a slab.
constexpr u32 slab = 16;
/// So many slabs: one is worked on, the others are on their way.
constexpr u32 slabs_there = 3;
/// Bytes of a row, or a column, of a tile.
constexpr u32 row_bytes = 512;
/// Bytes of a slab, of columns and of rows.
constexpr u32 slab_bytes = 16384;
/// Of bits: vertices of a group,
constexpr u32 group = 4;
/// unions of their rows,
constexpr u32 unions = 16;
/// and how many groups have tables at a time.
constexpr u32 groups = 4;

/// The argument.
template <class Cell>
struct KernelArgument {
    typename Cell::Word* matrix;
    typename Cell::Word* columns;  // Those of all tile rows, for two stages.
    typename Cell::Word* diagonal;  // Closed diagonal blocks, their columns one after another, for two stages.
    u32* stages_done;  // Of each tile.
    u32* tasks_done;  // Of each stage.
    u64* tickets;  // How many tasks of this launch have been taken.
    u32* stopped;
    u64 first_task;  // Of this launch.
    u64 end_task;
    u32 tiles_down;  // As many as stages.
    u32 tiles_across;
    u32 head_start;  // Tasks of the rest between the diagonal of the next stage and its rows and columns.
    u32 one;
};
using KernelArgumentLayout = KernelArgument<layout::Cell>;
static_assert(sizeof(KernelArgumentLayout) == 88, "");
static_assert(offsetof(KernelArgumentLayout, matrix) == 0, "");
static_assert(offsetof(KernelArgumentLayout, columns) == 8, "");
static_assert(offsetof(KernelArgumentLayout, diagonal) == 16, "");
static_assert(offsetof(KernelArgumentLayout, stages_done) == 24, "");
static_assert(offsetof(KernelArgumentLayout, tasks_done) == 32, "");
static_assert(offsetof(KernelArgumentLayout, tickets) == 40, "");
static_assert(offsetof(KernelArgumentLayout, stopped) == 48, "");
static_assert(offsetof(KernelArgumentLayout, first_task) == 56, "");
static_assert(offsetof(KernelArgumentLayout, end_task) == 64, "");
static_assert(offsetof(KernelArgumentLayout, tiles_down) == 72, "");
static_assert(offsetof(KernelArgumentLayout, tiles_across) == 76, "");
static_assert(offsetof(KernelArgumentLayout, head_start) == 80, "");
static_assert(offsetof(KernelArgumentLayout, one) == 84, "");

}  // namespace tiles
