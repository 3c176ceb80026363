// Made from `src/cuda/parts/by_weights.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace sssp_part {

/// The queues of a round.
struct Round {
    u32 short_rows;  // How many vertices the queue of short rows has.
    u32 pieces;  // How many pieces the queue of long rows has.
};
static_assert(sizeof(Round) == 8, "");
static_assert(offsetof(Round, short_rows) == 0, "");
static_assert(offsetof(Round, pieces) == 4, "");

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
    u32* queued[2];  // Bits of the vertices that are in the queues of a round, and of the next.
    u32* short_rows[2];  // Queues of vertices.
    uint2* long_rows[2];  // Queues of vertices and pieces.
    Round* rounds;  // Three, which take turns: one is read, one written, one cleared.
    u32* nearer_ghosts;  // Bits of the ghosts that came nearer since they were last posted.
    News* news;
    u64 bound;  // Vertices below it are relaxed at once.
    u32 rows;
    u32 owned;
};
using KernelArgumentLayout = KernelArgument<layout::Lane>;
static_assert(sizeof(KernelArgumentLayout) == 128, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 8, "");
static_assert(offsetof(KernelArgumentLayout, distances) == 16, "");
static_assert(offsetof(KernelArgumentLayout, expanded) == 24, "");
static_assert(offsetof(KernelArgumentLayout, pending) == 32, "");
static_assert(offsetof(KernelArgumentLayout, queued) == 40, "");
static_assert(offsetof(KernelArgumentLayout, short_rows) == 56, "");
static_assert(offsetof(KernelArgumentLayout, long_rows) == 72, "");
static_assert(offsetof(KernelArgumentLayout, rounds) == 88, "");
static_assert(offsetof(KernelArgumentLayout, nearer_ghosts) == 96, "");
static_assert(offsetof(KernelArgumentLayout, news) == 104, "");
static_assert(offsetof(KernelArgumentLayout, bound) == 112, "");
static_assert(offsetof(KernelArgumentLayout, rows) == 120, "");
static_assert(offsetof(KernelArgumentLayout, owned) == 124, "");

}  // namespace sssp_part
