// Made from `src/cuda/bfs/singh.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace singh {

/// The most threads of a block.
constexpr u32 max_threads_per_block = 512;

/// A vertex.
struct Node {
    u32 f_index;  // The index of its first neighbor in the array of the edges.
    u32 tnodes;  // The number of its neighbors.
};
static_assert(sizeof(Node) == 8, "");
static_assert(offsetof(Node, f_index) == 0, "");
static_assert(offsetof(Node, tnodes) == 4, "");

}  // namespace singh
