// Made from `src/cuda/frontier.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../layout.cuh"

namespace frontier {

/// Rows up to this long are packed, many to a warp; longer ones are cut into pieces.
constexpr u32 short_row = 32;
/// Arcs of a long row that one warp takes at a time.
constexpr u32 piece = 256;

}  // namespace frontier
