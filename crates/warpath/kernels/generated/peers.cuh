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
    Letter* mail[8];  // Two letters from each device, for each.
    const u32* arrays[40];  // Five arrays of each device, where others read them.
    u32* published[5];  // Where this device publishes its arrays; null if others read them where they are.
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
static_assert(sizeof(Peers) == 504, "");
static_assert(offsetof(Peers, mail) == 0, "");
static_assert(offsetof(Peers, arrays) == 64, "");
static_assert(offsetof(Peers, published) == 384, "");
static_assert(offsetof(Peers, here) == 424, "");
static_assert(offsetof(Peers, given_up) == 432, "");
static_assert(offsetof(Peers, number) == 440, "");
static_assert(offsetof(Peers, begins) == 448, "");
static_assert(offsetof(Peers, count) == 484, "");
static_assert(offsetof(Peers, rank) == 488, "");
static_assert(offsetof(Peers, first) == 492, "");
static_assert(offsetof(Peers, beyond) == 496, "");
static_assert(offsetof(Peers, targets_in_all) == 500, "");

}  // namespace peers
