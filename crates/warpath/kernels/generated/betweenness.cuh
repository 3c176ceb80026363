// Made from `src/cuda/betweenness/mod.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
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
    u64* arc_sums;  // The same of the shares of arcs by tail, if they are asked for.
    const u32* targets;  // Bits of the vertices that are targets.
    u32* reached;  // How many targets each search has reached, beside its source.
    News* news;
    const uint2* arcs;  // By weights, heads and weights of the arcs by tail;
    u32* tight;  // for each of these arcs the searches in which it is tight, a bit each;
    /// for each vertex 32 distances, which become numbers of tight arcs from vertices that are not at a level yet.
    u32* distances;
    u32 vertices;
    u32 piece_count;
    u32 long_count;
    u32 lanes;  // The searches that there are, a bit each.
    u32 level;
    u32 endpoints;  // Whether paths count for the vertices at their ends, too.
};
using KernelArgumentLayout = KernelArgument<layout::Offset>;
static_assert(sizeof(KernelArgumentLayout) == 160, "");
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
static_assert(offsetof(KernelArgumentLayout, arc_sums) == 80, "");
static_assert(offsetof(KernelArgumentLayout, targets) == 88, "");
static_assert(offsetof(KernelArgumentLayout, reached) == 96, "");
static_assert(offsetof(KernelArgumentLayout, news) == 104, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 112, "");
static_assert(offsetof(KernelArgumentLayout, tight) == 120, "");
static_assert(offsetof(KernelArgumentLayout, distances) == 128, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 136, "");
static_assert(offsetof(KernelArgumentLayout, piece_count) == 140, "");
static_assert(offsetof(KernelArgumentLayout, long_count) == 144, "");
static_assert(offsetof(KernelArgumentLayout, lanes) == 148, "");
static_assert(offsetof(KernelArgumentLayout, level) == 152, "");
static_assert(offsetof(KernelArgumentLayout, endpoints) == 156, "");

}  // namespace betweenness
