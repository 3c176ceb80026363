// Made from `src/cuda/matrix/by_vertex.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace by_vertex {

/// The argument.
template <class Cell>
struct Search {
    typename Cell::Number* matrix;
    u64 pitch;
    u32* stopped;
    u32 vertices;
    u32 through;
};
using SearchLayout = Search<layout::Cell>;
static_assert(sizeof(SearchLayout) == 32, "");
static_assert(offsetof(SearchLayout, matrix) == 0, "");
static_assert(offsetof(SearchLayout, pitch) == 8, "");
static_assert(offsetof(SearchLayout, stopped) == 16, "");
static_assert(offsetof(SearchLayout, vertices) == 24, "");
static_assert(offsetof(SearchLayout, through) == 28, "");

}  // namespace by_vertex
