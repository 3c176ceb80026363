// Made from `src/cuda/parts/by_weights.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace sssp_part {

/// What one turn tells the next.
struct Turn {
    u64 least;  // The least distance of a pending vertex, but for those that were queued.
    u32 short_rows;  // How many vertices the queue of short rows has.
    u32 pieces;  // How many pieces the queue of long rows has.
};
static_assert(sizeof(Turn) == 16, "");
static_assert(offsetof(Turn, least) == 0, "");
static_assert(offsetof(Turn, short_rows) == 8, "");
static_assert(offsetof(Turn, pieces) == 12, "");

/// What the host asks for.
struct News {
    u64 least;  // The least distance of a pending vertex.
    u64 hub_came_nearer;  // Whether the distance of a hub fell.
};
static_assert(sizeof(News) == 16, "");
static_assert(offsetof(News, least) == 0, "");
static_assert(offsetof(News, hub_came_nearer) == 8, "");

/// The argument.
template <class Lane>
struct KernelArgument {
    const u64* offsets;
    const Arc<typename Lane::Weight>* arcs;
    typename Lane::Distance* distances;  // Of all states.
    typename Lane::Distance* expanded;  // The distance with which a vertex of a short row was last expanded.
    u32* pending;  // Bits of the vertices with rows whose arcs have to be relaxed.
    u32* queued[2];  // Bits of the vertices that are in the queues of a turn, and of the next.
    u32* short_rows[2];  // Queues of vertices.
    uint2* long_rows[2];  // Queues of vertices and pieces.
    Turn* turns;  // Three: one is read, one written, one cleared.
    u32* nearer_ghosts;  // Bits of the ghosts that came nearer since they were last posted.
    News* news;
    u64 bound;  // Vertices below it are relaxed,
    double delta;  // in steps that are so wide at first.
    u32 rows;
    u32 owned;
};
using KernelArgumentLayout = KernelArgument<layout::Lane>;
static_assert(sizeof(KernelArgumentLayout) == 136, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 8, "");
static_assert(offsetof(KernelArgumentLayout, distances) == 16, "");
static_assert(offsetof(KernelArgumentLayout, expanded) == 24, "");
static_assert(offsetof(KernelArgumentLayout, pending) == 32, "");
static_assert(offsetof(KernelArgumentLayout, queued) == 40, "");
static_assert(offsetof(KernelArgumentLayout, short_rows) == 56, "");
static_assert(offsetof(KernelArgumentLayout, long_rows) == 72, "");
static_assert(offsetof(KernelArgumentLayout, turns) == 88, "");
static_assert(offsetof(KernelArgumentLayout, nearer_ghosts) == 96, "");
static_assert(offsetof(KernelArgumentLayout, news) == 104, "");
static_assert(offsetof(KernelArgumentLayout, bound) == 112, "");
static_assert(offsetof(KernelArgumentLayout, delta) == 120, "");
static_assert(offsetof(KernelArgumentLayout, rows) == 128, "");
static_assert(offsetof(KernelArgumentLayout, owned) == 132, "");

}  // namespace sssp_part
