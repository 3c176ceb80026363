// Made from `src/cuda/zero_copy.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../layout.cuh"

namespace ordered {

/// Longer rows are cut into pieces of so many arcs, which warps share out.
constexpr u32 piece = 256;

}  // namespace ordered
