// Tests of what several devices see of each other's memory.

#include "peers.cuh"

/// In each round every thread writes to its own device's array, and reads what the others wrote: `rounds` times. Sums must come
/// out, too. Meetings have every `step`-th number.
template <u32 step>
__device__ void meet_often(const peers::Peers& peers, u32* mine, u32* wrong, u32 rounds) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x;
    u32 number = 0;
    for (u32 round = 1; round <= rounds; ++round) {
        store(&mine[thread], round * 100 + peers.rank);
        const auto tell = [&] { return peers::Letter{{round, peers.rank, 0, 1}, round + peers.rank, 0}; };
        if (!peers::meet(peers, number += step, tell)) return;
        for (u32 device = 0; device < peers.count; ++device) {
            const u32 found = load_system(&peers.arrays[device][thread]);
            // With one meeting a round, others may be ahead by one.
            if (found != round * 100 + device && (step == 1 || found != (round + 1) * 100 + device)) atomicAdd(wrong, 1u);
        }
        const u32 count = peers.count;
        if (load(&peers.here->joined.sums[0]) != round * count) atomicAdd(wrong, 1u);
        if (load(&peers.here->joined.sums[1]) != count * (count - 1) / 2) atomicAdd(wrong, 1u);
        if (load(&peers.here->joined.sums[3]) != count || load(&peers.here->joined.least) != round) atomicAdd(wrong, 1u);
        const auto nothing = [] { return peers::Letter{{0, 0, 0, 0}, 0, 0}; };
        if (step == 1 && !peers::meet(peers, number += step, nothing)) return;
    }
}
extern "C" __global__ void test_peers(peers::Peers peers, u32* mine, u32* wrong, u32 rounds) {
    meet_often<1>(peers, mine, wrong, rounds);
}
WARPATH_KERNEL(test_peers)
/// The same with a bug: a number is left out, so that letters of meetings in a row lie in one place.
extern "C" __global__ void bug_number_left_out(peers::Peers peers, u32* mine, u32* wrong, u32 rounds) {
    meet_often<2>(peers, mine, wrong, rounds);
}
WARPATH_KERNEL(bug_number_left_out)

/// One thread of a device tells another device a word, by a flag; what may be wrong with it is planted.
template <bool has_fence, bool flag_is_last>
__device__ void tell_by_flag(const peers::Peers& peers, u32* wrong) {
    if (threadIdx.x != 0 || blockIdx.x != 0) return;
    u64* const flag = &peers.mail[1][0].number;
    u64* const word = &peers.mail[0][0].sums[0];
    if (peers.rank == 0) {
        if (!flag_is_last) store_system(flag, 1);
        store(word, 7);
        if (has_fence) system_fence();
        if (flag_is_last) store_system(flag, 1);
        if (!flag_is_last) system_fence();
    } else {
        while (load_system(flag) == 0) {
        }
        system_fence();
        if (load_system(word) != 7) atomicAdd(wrong, 1u);
    }
}
extern "C" __global__ void test_flag(peers::Peers peers, u32* wrong) { tell_by_flag<true, true>(peers, wrong); }
WARPATH_KERNEL(test_flag)
extern "C" __global__ void bug_missing_system_fence(peers::Peers peers, u32* wrong) { tell_by_flag<false, true>(peers, wrong); }
WARPATH_KERNEL(bug_missing_system_fence)
extern "C" __global__ void bug_flag_before_data(peers::Peers peers, u32* wrong) { tell_by_flag<true, false>(peers, wrong); }
WARPATH_KERNEL(bug_flag_before_data)

/// One device does not come to the meeting.
extern "C" __global__ void bug_meeting_missed(peers::Peers peers) {
    const auto nothing = [] { return peers::Letter{{0, 0, 0, 0}, 0, 0}; };
    if (peers.rank == 0) peers::meet(peers, 1, nothing);
}
WARPATH_KERNEL(bug_meeting_missed)

/// An ordinary access to the memory of another device.
extern "C" __global__ void bug_ordinary_access(peers::Peers peers) {
    if (peers.rank == 0 && threadIdx.x == 0) load(&peers.arrays[1][0]);
}
WARPATH_KERNEL(bug_ordinary_access)
