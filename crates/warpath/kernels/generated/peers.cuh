// Made from `src/cuda/peers.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../layout.cuh"

namespace peers {

/// More devices do not search together.
constexpr u32 most_devices = 8;
/// Numbers of a letter that are added up.
constexpr u32 told = 5;

/// What a device tells the others at a meeting.
struct Letter {
    u64 sums[5];  // These are added up,
    u64 least;  // and the least of these counts.
    u64 number;  // Of the meeting; written last.
};
static_assert(sizeof(Letter) == 56, "");
static_assert(offsetof(Letter, sums) == 0, "");
static_assert(offsetof(Letter, least) == 40, "");
static_assert(offsetof(Letter, number) == 48, "");

/// The devices that search together, as one of them sees them.
struct Peers {
    Letter* mail[8];  // Two letters from each device, in the memory of each.
    const u32* arrays[40];  // Five arrays of each device.
    Letter* joined;  // What the devices told at the last meeting, in this device's memory.
    u32* have_come;  // Whether all came.
    const u32* given_up;  // Set by the host if nobody should wait any more.
    u64 number;  // Of the last meeting before the launch.
    u32 begins[9];  // The first vertex of each device, and the end of the last one's.
    u32 count;
    u32 rank;
    u32 first;  // The first vertex of this device, and the end of its vertices.
    u32 beyond;
    u32 targets_in_all;  // How many targets the search waits for on all devices.
};
static_assert(sizeof(Peers) == 472, "");
static_assert(offsetof(Peers, mail) == 0, "");
static_assert(offsetof(Peers, arrays) == 64, "");
static_assert(offsetof(Peers, joined) == 384, "");
static_assert(offsetof(Peers, have_come) == 392, "");
static_assert(offsetof(Peers, given_up) == 400, "");
static_assert(offsetof(Peers, number) == 408, "");
static_assert(offsetof(Peers, begins) == 416, "");
static_assert(offsetof(Peers, count) == 452, "");
static_assert(offsetof(Peers, rank) == 456, "");
static_assert(offsetof(Peers, first) == 460, "");
static_assert(offsetof(Peers, beyond) == 464, "");
static_assert(offsetof(Peers, targets_in_all) == 468, "");

}  // namespace peers
