// Made from `src/cuda/sssp/predecessors.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace predecessors {

/// The argument.
template <class Lane>
struct KernelArgument {
    const void* offsets;  // Where the rows begin,
    const u32* tails;  // or, if not null, the tail of each arc.
    const u32* heads;
    const typename Lane::Weight* weights;
    const Arc<typename Lane::Weight>* pairs;  // Or, if not null, heads and weights side by side.
    const typename Lane::Distance* distances;
    u32* predecessors;  // Of sources themselves, else all ones before.
    u32* levels;  // 0 for what has a predecessor before the first round, else all ones.
    u32* progress;  // The last round in which a predecessor was found.
    u64 limit;  // The greatest distance that counts.
    u64 arcs;
    u32 vertices;
    u32 share;  // So many arcs a warp takes at a time.
    u32 round;  // 0 for tails that are nearer.
    u32 wide_offsets;  // Whether offsets have 64 bits.
};
using KernelArgumentLayout = KernelArgument<layout::Lane>;
static_assert(sizeof(KernelArgumentLayout) == 104, "");
static_assert(offsetof(KernelArgumentLayout, offsets) == 0, "");
static_assert(offsetof(KernelArgumentLayout, tails) == 8, "");
static_assert(offsetof(KernelArgumentLayout, heads) == 16, "");
static_assert(offsetof(KernelArgumentLayout, weights) == 24, "");
static_assert(offsetof(KernelArgumentLayout, pairs) == 32, "");
static_assert(offsetof(KernelArgumentLayout, distances) == 40, "");
static_assert(offsetof(KernelArgumentLayout, predecessors) == 48, "");
static_assert(offsetof(KernelArgumentLayout, levels) == 56, "");
static_assert(offsetof(KernelArgumentLayout, progress) == 64, "");
static_assert(offsetof(KernelArgumentLayout, limit) == 72, "");
static_assert(offsetof(KernelArgumentLayout, arcs) == 80, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 88, "");
static_assert(offsetof(KernelArgumentLayout, share) == 92, "");
static_assert(offsetof(KernelArgumentLayout, round) == 96, "");
static_assert(offsetof(KernelArgumentLayout, wide_offsets) == 100, "");

}  // namespace predecessors
