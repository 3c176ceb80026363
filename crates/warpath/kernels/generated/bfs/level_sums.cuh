// Made from `src/cuda/level_sums.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace level_sums {

/// Arcs of an item in the queue, and of a piece of a long row.
constexpr u32 piece = 256;
/// Longer rows are shared by several warps.
constexpr u32 long_row = 1024;

/// What a level tells the host.
struct News {
    u64 searches[8];  // The searches that have found a vertex.
    u64 pairs;  // How many vertices a search has found for the first time, added up over searches.
    u64 arcs;  // How many arcs leave the frontier.
    u32 found;  // How many vertices it has.
    u32 items;  // Items in the queue; more than it has room for, if they did not fit.
};
static_assert(sizeof(News) == 88, "");
static_assert(offsetof(News, searches) == 0, "");
static_assert(offsetof(News, pairs) == 64, "");
static_assert(offsetof(News, arcs) == 72, "");
static_assert(offsetof(News, found) == 80, "");
static_assert(offsetof(News, items) == 84, "");

/// The argument.
template <class Offset>
struct Levels {
    const Offset* offsets;  // The arcs by tail,
    const u32* heads;
    const Offset* incoming_offsets;  // and by head.
    const u32* incoming;
    const u64* before;  // For each vertex the words of the searches that had seen it before the last level, have now,
    const u64* now;
    u64* next;  // and will have.
    const u64* active;  // The searches that have a frontier.
    uint2* queue;  // Pieces of rows: the vertex, and which piece.
    const uint2* pieces;  // The same of all long rows by head.
    News* news;
    u32* reached;  // For each vertex how many searches have reached it, the sum of its levels,
    u64* sums;
    double* inverse_sums;  // the sum of their inverses, and the greatest. Those that are not wanted point nowhere.
    u32* greatest;
    u32 vertices;
    u32 capacity;  // Of the queue.
    u32 items;
    u32 piece_count;
    u32 level;  // The level of the vertices that are found.
};
using LevelsLayout = Levels<layout::Offset>;
static_assert(sizeof(LevelsLayout) == 144, "");
static_assert(offsetof(LevelsLayout, offsets) == 0, "");
static_assert(offsetof(LevelsLayout, heads) == 8, "");
static_assert(offsetof(LevelsLayout, incoming_offsets) == 16, "");
static_assert(offsetof(LevelsLayout, incoming) == 24, "");
static_assert(offsetof(LevelsLayout, before) == 32, "");
static_assert(offsetof(LevelsLayout, now) == 40, "");
static_assert(offsetof(LevelsLayout, next) == 48, "");
static_assert(offsetof(LevelsLayout, active) == 56, "");
static_assert(offsetof(LevelsLayout, queue) == 64, "");
static_assert(offsetof(LevelsLayout, pieces) == 72, "");
static_assert(offsetof(LevelsLayout, news) == 80, "");
static_assert(offsetof(LevelsLayout, reached) == 88, "");
static_assert(offsetof(LevelsLayout, sums) == 96, "");
static_assert(offsetof(LevelsLayout, inverse_sums) == 104, "");
static_assert(offsetof(LevelsLayout, greatest) == 112, "");
static_assert(offsetof(LevelsLayout, vertices) == 120, "");
static_assert(offsetof(LevelsLayout, capacity) == 124, "");
static_assert(offsetof(LevelsLayout, items) == 128, "");
static_assert(offsetof(LevelsLayout, piece_count) == 132, "");
static_assert(offsetof(LevelsLayout, level) == 136, "");

}  // namespace level_sums
