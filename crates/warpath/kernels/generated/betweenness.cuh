// Made from `src/cuda/betweenness.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../layout.cuh"

namespace betweenness {

/// Arcs whose sum is made at once; rows are cut at multiples of it.
constexpr u32 segment = 256;
/// Longer rows are shared by several warps.
constexpr u32 long_row = 512;

/// What a level tells the host.
struct News {
    u32 found;  // Whether any search has reached a vertex.
    u32 inexact;  // The searches with counts that are no exact sums any more.
};
static_assert(sizeof(News) == 8, "");
static_assert(offsetof(News, found) == 0, "");
static_assert(offsetof(News, inexact) == 4, "");

/// The argument.
template <class Offset>
struct KernelArgument {
    const Offset* offsets;  // The rows that are looked through: arcs by head on the way out, by tail on the way back.
    const u32* heads;
    u16* levels;  // For each vertex 32 levels,
    double* values;  // and 32 counts, which become (1 + dependency) / count.
    const u32* active;  // Bits of the vertices that some search has at the level looked for,
    u32* next_active;  // and at the level that is worked on.
    const uint2* pieces;  // Pieces of long rows: the vertex, and which segment of all arcs.
    const uint4* long_rows;  // Long rows: the vertex, its first piece, how many there are.
    double* partial;  // The sums of the pieces, 32 each.
    u64* sums;  // The sums of dependencies in fixed point: for each vertex 64 bits after the point and 64 before it.
    News* news;
    u32 vertices;
    u32 piece_count;
    u32 long_count;
    u32 lanes;  // The searches that there are, a bit each.
    u32 level;
};
using KernelArgumentLayout = KernelArgument<layout::Offset>;
static_assert(sizeof(KernelArgumentLayout) == 112, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, heads) == 8, "");
static_assert(offsetof(KernelArgumentLayout, levels) == 16, "");
static_assert(offsetof(KernelArgumentLayout, values) == 24, "");
static_assert(offsetof(KernelArgumentLayout, active) == 32, "");
static_assert(offsetof(KernelArgumentLayout, next_active) == 40, "");
static_assert(offsetof(KernelArgumentLayout, pieces) == 48, "");
static_assert(offsetof(KernelArgumentLayout, long_rows) == 56, "");
static_assert(offsetof(KernelArgumentLayout, partial) == 64, "");
static_assert(offsetof(KernelArgumentLayout, sums) == 72, "");
static_assert(offsetof(KernelArgumentLayout, news) == 80, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 88, "");
static_assert(offsetof(KernelArgumentLayout, piece_count) == 92, "");
static_assert(offsetof(KernelArgumentLayout, long_count) == 96, "");
static_assert(offsetof(KernelArgumentLayout, lanes) == 100, "");
static_assert(offsetof(KernelArgumentLayout, level) == 104, "");

}  // namespace betweenness
