// Made from `src/cuda/matrix/blocks.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace blocks {

/// The argument.
template <class Cell>
struct Search {
    typename Cell::Number* matrix;
    u64 pitch;
    u32* stopped;
    u32 stage;
};
using SearchLayout = Search<layout::Cell>;
static_assert(sizeof(SearchLayout) == 32, "");
static_assert(offsetof(SearchLayout, matrix) == 0, "");
static_assert(offsetof(SearchLayout, pitch) == 8, "");
static_assert(offsetof(SearchLayout, stopped) == 16, "");
static_assert(offsetof(SearchLayout, stage) == 24, "");

}  // namespace blocks
