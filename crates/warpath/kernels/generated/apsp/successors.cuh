// Made from `src/cuda/apsp/successors.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace successors {

/// So many tails are a chunk.
constexpr u32 chunk = 128;

/// The argument.
struct KernelArgument {
    const void* distances;
    const void* weights;  // The matrix as it was before the first vertex was admitted.
    u64 pitch;  // Cells from row to row of both.
    u32 vertices;
    u32 columns;  // Whole slices.
    long long threshold;  // Numbers from here on are no distances.
    u32* counts;  // Of each chunk and column: how many arcs, then how many there are before it.
    u32* degrees;  // Of each column.
    u64* starts;  // Of each slice, and where the last one ends.
    void* arcs;  // Null where they are too many: then the matrix of weights is read instead.
    const u32* sources;
    u32* successors;  // A row for each source.
    u32* unexplained;  // Set if some vertex that is reached has no predecessor yet.
    u32 first_row;  // Of this launch.
    u32 end_row;
};
static_assert(sizeof(KernelArgument) == 104, "");
static_assert(offsetof(KernelArgument, distances) == 0, "");
static_assert(offsetof(KernelArgument, weights) == 8, "");
static_assert(offsetof(KernelArgument, pitch) == 16, "");
static_assert(offsetof(KernelArgument, vertices) == 24, "");
static_assert(offsetof(KernelArgument, columns) == 28, "");
static_assert(offsetof(KernelArgument, threshold) == 32, "");
static_assert(offsetof(KernelArgument, counts) == 40, "");
static_assert(offsetof(KernelArgument, degrees) == 48, "");
static_assert(offsetof(KernelArgument, starts) == 56, "");
static_assert(offsetof(KernelArgument, arcs) == 64, "");
static_assert(offsetof(KernelArgument, sources) == 72, "");
static_assert(offsetof(KernelArgument, successors) == 80, "");
static_assert(offsetof(KernelArgument, unexplained) == 88, "");
static_assert(offsetof(KernelArgument, first_row) == 96, "");
static_assert(offsetof(KernelArgument, end_row) == 100, "");

}  // namespace successors
