// Made from `src/cuda/sssp/multi_hop.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace multi_hop {

/// Queues, which take turns: one for the bucket that is being settled, and those for the buckets after it. What is
/// farther waits in the last one.
constexpr u32 queues = 8;
/// Bits of a distance that is kept in one word with what its last arc comes from.
constexpr u32 distance_bits = 24;
/// Bytes of shared memory that a warp takes to make a neighborhood of up to 256 vertices, of up to 512, and of as many with
/// greater distances.
constexpr u32 small_bytes = 5696;
constexpr u32 large_bytes = 11392;
constexpr u32 far_bytes = 15488;

/// The argument of the kernel that makes the neighborhoods.
struct Build {
    const u32* offsets;
    const u32* targets;
    const u32* weights;
    uint2* places;  // Where a neighborhood begins, in units, and how many entries it has.
    uint2* entries;  // Vertex and distance.
    u8* parents;  // The distance that the last arc comes from, rounded down to a multiple of `quantum`.
    u32* used;  // Units.
    u32* failed;  // Set if a neighborhood is too large, or there are more units than `capacity`.
    const u32* only;  // The vertices that get a neighborhood; null for all.
    u32* left;  // Those whose neighborhood is too large for the table are listed here; null if there are to be none.
    u32* left_count;
    u32 vertices;
    u32 delta;
    u32 quantum;
    u32 capacity;
};
static_assert(sizeof(Build) == 104, "");
static_assert(offsetof(Build, offsets) == 0, "");
static_assert(offsetof(Build, targets) == 8, "");
static_assert(offsetof(Build, weights) == 16, "");
static_assert(offsetof(Build, places) == 24, "");
static_assert(offsetof(Build, entries) == 32, "");
static_assert(offsetof(Build, parents) == 40, "");
static_assert(offsetof(Build, used) == 48, "");
static_assert(offsetof(Build, failed) == 56, "");
static_assert(offsetof(Build, only) == 64, "");
static_assert(offsetof(Build, left) == 72, "");
static_assert(offsetof(Build, left_count) == 80, "");
static_assert(offsetof(Build, vertices) == 88, "");
static_assert(offsetof(Build, delta) == 92, "");
static_assert(offsetof(Build, quantum) == 96, "");
static_assert(offsetof(Build, capacity) == 100, "");

/// The argument of the search.
template <class Lane>
struct KernelArgument {
    const uint2* places;
    const uint2* entries;
    const u8* parents;
    typename Lane::Distance* distances;
    uint4* queue;  // Of each of the queues, for each block, `capacity` items: a vertex and its place.
    u32* sizes;  // Of the parts of the queues, twice, taking turns.
    u32* arrivals;  // Three words, 32 apart, zero.
    u64* report;  // Steps, whether a part was too small, vertices expanded, relaxations; zero.
    u32* out_of_range;
    const u32* sources;
    const u32* targets_wanted;
    const u32* cancelled;
    Counts* statistics;  // Null if nothing is to be counted.
    u64 limit;
    u32 source_count;
    u32 target_count;
    u32 vertices;
    u32 delta;
    u32 quantum;
    u32 capacity;
};
using KernelArgumentLayout = KernelArgument<layout::Lane>;
static_assert(sizeof(KernelArgumentLayout) == 136, "");
static_assert(offsetof(KernelArgumentLayout, places) == 0, "");
static_assert(offsetof(KernelArgumentLayout, entries) == 8, "");
static_assert(offsetof(KernelArgumentLayout, parents) == 16, "");
static_assert(offsetof(KernelArgumentLayout, distances) == 24, "");
static_assert(offsetof(KernelArgumentLayout, queue) == 32, "");
static_assert(offsetof(KernelArgumentLayout, sizes) == 40, "");
static_assert(offsetof(KernelArgumentLayout, arrivals) == 48, "");
static_assert(offsetof(KernelArgumentLayout, report) == 56, "");
static_assert(offsetof(KernelArgumentLayout, out_of_range) == 64, "");
static_assert(offsetof(KernelArgumentLayout, sources) == 72, "");
static_assert(offsetof(KernelArgumentLayout, targets_wanted) == 80, "");
static_assert(offsetof(KernelArgumentLayout, cancelled) == 88, "");
static_assert(offsetof(KernelArgumentLayout, statistics) == 96, "");
static_assert(offsetof(KernelArgumentLayout, limit) == 104, "");
static_assert(offsetof(KernelArgumentLayout, source_count) == 112, "");
static_assert(offsetof(KernelArgumentLayout, target_count) == 116, "");
static_assert(offsetof(KernelArgumentLayout, vertices) == 120, "");
static_assert(offsetof(KernelArgumentLayout, delta) == 124, "");
static_assert(offsetof(KernelArgumentLayout, quantum) == 128, "");
static_assert(offsetof(KernelArgumentLayout, capacity) == 132, "");

}  // namespace multi_hop
