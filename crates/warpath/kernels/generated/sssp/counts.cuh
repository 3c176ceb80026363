// Made from `src/cuda/sssp/counts.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

/// How many sizes of frontiers are kept.
constexpr u32 recorded_frontiers = 1024;

/// What a search counts, all 0 at first.
struct Counts {
    u64 relaxations;  // Arcs looked at, where the search does not know it anyway.
    u64 improvements;  // Those that lowered a distance.
    u64 frontiers;  // Rounds that had something to expand.
    u64 expanded;  // How much that was in all of them,
    u64 largest;  // and at most in one.
    u32 sizes[1024];  // Of the first frontiers.
};
static_assert(sizeof(Counts) == 4136, "");
static_assert(offsetof(Counts, relaxations) == 0, "");
static_assert(offsetof(Counts, improvements) == 8, "");
static_assert(offsetof(Counts, frontiers) == 16, "");
static_assert(offsetof(Counts, expanded) == 24, "");
static_assert(offsetof(Counts, largest) == 32, "");
static_assert(offsetof(Counts, sizes) == 40, "");
