// Made from `src/cuda/regions/mod.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../layout.cuh"

namespace regions {

/// Vertices of a region.
constexpr u32 most_vertices = 256;
/// Words of the bits of a region: the vertices take turns, so that those that are near each other are in different words.
constexpr u32 words_of_region = 8;
/// The most threads of a block: more would have too few registers.
constexpr u32 most_threads = 512;

/// What one round tells the next. Three take turns: one is read, one written, one cleared.
struct Turn {
    u32 queued;  // How many regions were queued.
    u32 cancelled;
    u64 least;  // The least distance that was found at or above the threshold.
};
static_assert(sizeof(Turn) == 16, "");
static_assert(offsetof(Turn, queued) == 0, "");
static_assert(offsetof(Turn, cancelled) == 4, "");
static_assert(offsetof(Turn, least) == 8, "");

/// The argument.
template <class Lane>
struct KernelArgument {
    const uint4* records;  // In the host's memory.
    const u32* begins;  // Where the record of each region begins, in units of 16 bytes, and the end of the last.
    uint4* slots;  // Records that the device has,
    u32* tags;  // and the region of each.
    typename Lane::Distance* distances;  // By vertex.
    typename Lane::Distance* least;  // For each region a distance that no vertex is below that waits there.
    u32* bits;  // A bit for each vertex, by position: whether it is to be expanded.
    u32* queued_for;  // For which round each region was last queued.
    u32* queues[2];  // The regions of even and of odd rounds.
    uint4* messages[2];  // What other devices are told in even and in odd rounds: position, vertex and distance.
    u32* numbers;  // How many messages there are for each device, in three rounds.
    Turn* turns;  // Three.
    u64* report;  // Rounds, thresholds, visits, and how many records came over the bus.
    u32* out_of_range;
    const u32* targets_wanted;
    const u32* cancelled;
    u64 limit;
    double delta;
    u32 messages_to[8];  // Where the messages for each device begin,
    u32 messages_from[8];  // and where those for this one begin there.
    u32 target_count;
    u32 regions;
    u32 slot_count;
    u32 bytes_of_slot;
    u32 bytes_of_warp;  // In shared memory.
    u32 most_ghosts;
    u32 steps;  // How often the arcs of a region are relaxed in a visit, at most.
    u32 unused;
};
using KernelArgumentLayout = KernelArgument<layout::Lane>;
static_assert(sizeof(KernelArgumentLayout) == 256, "");
static_assert(offsetof(KernelArgumentLayout, records) == 0, "");
static_assert(offsetof(KernelArgumentLayout, begins) == 8, "");
static_assert(offsetof(KernelArgumentLayout, slots) == 16, "");
static_assert(offsetof(KernelArgumentLayout, tags) == 24, "");
static_assert(offsetof(KernelArgumentLayout, distances) == 32, "");
static_assert(offsetof(KernelArgumentLayout, least) == 40, "");
static_assert(offsetof(KernelArgumentLayout, bits) == 48, "");
static_assert(offsetof(KernelArgumentLayout, queued_for) == 56, "");
static_assert(offsetof(KernelArgumentLayout, queues) == 64, "");
static_assert(offsetof(KernelArgumentLayout, messages) == 80, "");
static_assert(offsetof(KernelArgumentLayout, numbers) == 96, "");
static_assert(offsetof(KernelArgumentLayout, turns) == 104, "");
static_assert(offsetof(KernelArgumentLayout, report) == 112, "");
static_assert(offsetof(KernelArgumentLayout, out_of_range) == 120, "");
static_assert(offsetof(KernelArgumentLayout, targets_wanted) == 128, "");
static_assert(offsetof(KernelArgumentLayout, cancelled) == 136, "");
static_assert(offsetof(KernelArgumentLayout, limit) == 144, "");
static_assert(offsetof(KernelArgumentLayout, delta) == 152, "");
static_assert(offsetof(KernelArgumentLayout, messages_to) == 160, "");
static_assert(offsetof(KernelArgumentLayout, messages_from) == 192, "");
static_assert(offsetof(KernelArgumentLayout, target_count) == 224, "");
static_assert(offsetof(KernelArgumentLayout, regions) == 228, "");
static_assert(offsetof(KernelArgumentLayout, slot_count) == 232, "");
static_assert(offsetof(KernelArgumentLayout, bytes_of_slot) == 236, "");
static_assert(offsetof(KernelArgumentLayout, bytes_of_warp) == 240, "");
static_assert(offsetof(KernelArgumentLayout, most_ghosts) == 244, "");
static_assert(offsetof(KernelArgumentLayout, steps) == 248, "");
static_assert(offsetof(KernelArgumentLayout, unused) == 252, "");

}  // namespace regions
