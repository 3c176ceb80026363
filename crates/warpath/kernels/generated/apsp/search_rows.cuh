// Made from `src/cuda/apsp/outgoing.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace apsp_search_rows {

/// What there is to say of a row.
struct RawFacts {
    u64 reached;  // How many vertices have a distance.
    u64 greatest;  // The greatest distance; of signed ones with the top bit flipped; 0 if nothing was reached.
    u64 low;  // The sum is low + high * 2^32: of the lower halves of the distances,
    u64 high;  // and of the upper ones, which may be below zero.
};
static_assert(sizeof(RawFacts) == 32, "");
static_assert(offsetof(RawFacts, reached) == 0, "");
static_assert(offsetof(RawFacts, greatest) == 8, "");
static_assert(offsetof(RawFacts, low) == 16, "");
static_assert(offsetof(RawFacts, high) == 24, "");

/// Rows of numbers; the greatest of their type stands for no distance.
struct Rows {
    const void* numbers;
    u64 stride;  // From row to row.
    u64 count;
    u64 columns;
    const u32* targets;  // The vertex of each column; null where that is its number.
    const u32* sources;  // The vertex of each row.
    const long long* potentials;  // Of each vertex; distances are those of weights that these have changed.
    void* to;
};
static_assert(sizeof(Rows) == 64, "");
static_assert(offsetof(Rows, numbers) == 0, "");
static_assert(offsetof(Rows, stride) == 8, "");
static_assert(offsetof(Rows, count) == 16, "");
static_assert(offsetof(Rows, columns) == 24, "");
static_assert(offsetof(Rows, targets) == 32, "");
static_assert(offsetof(Rows, sources) == 40, "");
static_assert(offsetof(Rows, potentials) == 48, "");
static_assert(offsetof(Rows, to) == 56, "");

}  // namespace apsp_search_rows
