// Made from `src/cuda/sssp/mask.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace mask {

/// The argument.
template <class Lane>
struct Search {
    const u32* offsets;
    const u32* targets;
    const typename Lane::Weight* weights;
    u8* mask;
    typename Lane::Distance* cost;
    typename Lane::Distance* updating;
    u32* marked;
    u32* out_of_range;
    Counts* statistics;  // Null if nothing is to be counted.
    u64 limit;
    u32 vertices;
    u32 coarsening;
};
using SearchLayout = Search<layout::Lane>;
static_assert(sizeof(SearchLayout) == 88, "");
static_assert(offsetof(SearchLayout, offsets) == 0, "");
static_assert(offsetof(SearchLayout, targets) == 8, "");
static_assert(offsetof(SearchLayout, weights) == 16, "");
static_assert(offsetof(SearchLayout, mask) == 24, "");
static_assert(offsetof(SearchLayout, cost) == 32, "");
static_assert(offsetof(SearchLayout, updating) == 40, "");
static_assert(offsetof(SearchLayout, marked) == 48, "");
static_assert(offsetof(SearchLayout, out_of_range) == 56, "");
static_assert(offsetof(SearchLayout, statistics) == 64, "");
static_assert(offsetof(SearchLayout, limit) == 72, "");
static_assert(offsetof(SearchLayout, vertices) == 80, "");
static_assert(offsetof(SearchLayout, coarsening) == 84, "");

}  // namespace mask
