// Made from `src/cuda/neighborhoods.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../layout.cuh"

namespace multi_hop {

/// A neighborhood begins at a multiple of this many entries, and is filled up with `none`.
constexpr u32 unit = 8;
/// The most vertices that a neighborhood can have, the one in the middle included.
constexpr u32 most = 512;
/// The most blocks, each of which has a part of every queue.
constexpr u32 parts = 128;
/// An entry of a neighborhood without weights: the vertex below, and above how many arcs away it is, less one.
constexpr u32 vertex_bits = 28;
/// The binary logarithm of the slots of a table of a neighborhood: twice as many as there can be vertices.
constexpr u32 table_bits = 10;
constexpr u32 table_size = 1024;

}  // namespace multi_hop
