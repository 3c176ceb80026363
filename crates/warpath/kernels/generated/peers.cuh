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

/// Where the blocks of a device meet, in its memory.
struct Meeting {
    Letter joined;  // What the devices told at the last meeting. Its number is written last.
    u32 arrivals;  // Blocks that have come, but for the first one.
    u32 have_come;  // Whether all devices came.
};
static_assert(sizeof(Meeting) == 64, "");
static_assert(offsetof(Meeting, joined) == 0, "");
static_assert(offsetof(Meeting, arrivals) == 56, "");
static_assert(offsetof(Meeting, have_come) == 60, "");

/// The devices that search together, as one of them sees them.
struct Peers {
    Letter* mail[8];  // Two letters from each device, in the memory of each.
    const u32* arrays[40];  // Five arrays of each device.
    Meeting* here;
    const u32* given_up;  // Set by the host if nobody should wait any more.
    u64 number;  // Of the last meeting before the launch.
    u32 begins[9];  // The first vertex of each device, and the end of the last one's.
    u32 count;
    u32 rank;
    u32 first;  // The first vertex of this device, and the end of its vertices.
    u32 beyond;
    u32 targets_in_all;  // How many targets the search waits for on all devices.
};
static_assert(sizeof(Peers) == 464, "");
static_assert(offsetof(Peers, mail) == 0, "");
static_assert(offsetof(Peers, arrays) == 64, "");
static_assert(offsetof(Peers, here) == 384, "");
static_assert(offsetof(Peers, given_up) == 392, "");
static_assert(offsetof(Peers, number) == 400, "");
static_assert(offsetof(Peers, begins) == 408, "");
static_assert(offsetof(Peers, count) == 444, "");
static_assert(offsetof(Peers, rank) == 448, "");
static_assert(offsetof(Peers, first) == 452, "");
static_assert(offsetof(Peers, beyond) == 456, "");
static_assert(offsetof(Peers, targets_in_all) == 460, "");

}  // namespace peers
