// Devices that search together. Each has some of the vertices: those of `begins[rank]` and up to the next device's first. Its
// kernel reads the memory of the others, and the kernels meet at barriers, without the host.
//
//   meet           a barrier of all threads of all devices, at which each device tells the others a few numbers
//   joined         what they told
//   from_peers     the bits that others have set for this device's vertices
//   know           the bits of other devices' vertices, as these have them
//   publish_marks, publish_own   what others read, where they do not reach this device's memory
//
// A device writes its own memory, and others read it after the next meeting. Between two meetings nobody writes what others may
// read then, but for distances, which fall: an earlier one is as true. Where devices have no access to each other's memory, each
// publishes before a meeting what the others read after it, in memory of the host.
//
// `src/cuda/peers.rs` is the other half.
#pragma once

#include "ordered.cuh"
#include "system.cuh"
#include "generated/peers.cuh"

namespace peers {

using ordered::group;

/// Exchanges letters with the others; one warp calls it. The letter of a device is `mine`; what all told is joined in `here`.
__device__ __forceinline__ void exchange(const Peers& peers, u64 number, const Letter& mine, Meeting* here) {
    const u32 lane = lane_index(), half = static_cast<u32>(number % 2) * most_devices;
    const bool is_device = lane < peers.count;
    const Letter* const letters = &peers.mail[peers.rank][half];
    bool has_come = true;
    if (is_device) {
        Letter* const to = &peers.mail[lane][half + peers.rank];
#pragma unroll
        for (u32 k = 0; k < told; k++) store_system(&to->sums[k], mine.sums[k]);
        store_system(&to->least, mine.least);
        // Before the number comes the letter, and whatever the grid has written.
        system_fence();
        store_system(&to->number, number);
        u32 looks = 0;
        while (load_system(&letters[lane].number) < number) {
            // The host's memory is far away.
            if (++looks % 256 == 0 && is_cancelled(peers.given_up)) {
                has_come = false;
                break;
            }
        }
    }
    system_fence();
    const bool have_come = __all_sync(all_lanes, has_come);
    // A lane for each number.
    if (lane < told) {
        u64 sum = 0;
        for (u32 device = 0; device < peers.count; device++) sum += load_system(&letters[device].sums[lane]);
        store(&here->joined.sums[lane], sum);
    } else if (lane == told) {
        u64 least = ~0ull;
        for (u32 device = 0; device < peers.count; device++) least = min(least, load_system(&letters[device].least));
        store(&here->joined.least, least);
        store(&here->have_come, static_cast<u32>(have_come));
    }
    __syncwarp();
}

/// A barrier of all devices: what each has written before it, all see after it. `read()` makes the numbers that this device
/// tells, once its whole grid has come; it is called by one warp. Meetings of a launch are numbered from 1, and none is left out: letters
/// of odd and even ones lie in two places, so that nobody overwrites one that is not read yet. All threads call it together; whether all devices came: if not, the search has been given up.
template <class Read>
__device__ __forceinline__ bool meet(const Peers& peers, u32 meeting, Read read) {
    const u64 number = peers.number + meeting;
    Meeting* const here = peers.here;
    __syncthreads();
    if (blockIdx.x == 0) {
        if (threadIdx.x < lanes_a_warp) {
            while (load(&here->arrivals) != gridDim.x - 1) {
            }
            device_fence();
            const Letter mine = read();
            exchange(peers, number, mine, here);
            if (lane_index() == 0) {
                // Nobody arrives again before the number is there.
                store(&here->arrivals, 0);
                device_fence();
                store(&here->joined.number, number);
            }
        }
    } else if (threadIdx.x == 0) {
        device_fence();
        atomicAdd(&here->arrivals, 1);
        while (load(&here->joined.number) < number) {
        }
        device_fence();
    }
    __syncthreads();
    return load(&here->have_come) != 0;
}

/// Whether devices exchange through the host's memory.
__device__ __forceinline__ bool is_through_host(const Peers& peers) { return peers.published[0] != nullptr; }

/// The bits that a device has in an array.
__device__ __forceinline__ ordered::Bits bits_of(const Peers& peers, u32 array, u32 device) {
    return {const_cast<u32*>(peers.arrays[array * most_devices + device]), peers.begins[peers.count]};
}

/// Whether a device may have set the bit of a vertex in an array, if some other device has: it has, if devices exchange through the host.
__device__ __forceinline__ bool may_have_found(const Peers& peers, u32 array, u32 device, u32 vertex) {
    if (!is_through_host(peers) || peers.count == 2) return true;
    const ordered::Bits theirs = bits_of(peers, array, device);
    const u32 g = vertex / group;
    return (load_system(&theirs.groups()[g / 32]) >> g % 32 & 1) != 0 && (load_system(&theirs.words[vertex / 32]) >> vertex % 32 & 1) != 0;
}

/// Calls `body(mine, bits)` for the groups of this device's vertices in which other devices have set bits of an array, all lanes of a
/// warp together: a lane gets the bits of the group `mine`.
template <class Body>
__device__ __forceinline__ void from_peers(const Peers& peers, u32 array, Body body) {
    const u32 lane = lane_index(), end = (peers.beyond + group - 1) / group;
    const u64 step = warps_of_grid() * lanes_a_warp;
    const u64 begin = (peers.first + group - 1) / group + warp_of_grid() * static_cast<u64>(lanes_a_warp);
    for (u64 mine = begin + lane; mine - lane < end; mine += step) {
        uint4 bits = make_uint4(0, 0, 0, 0);
        for (u32 device = 0; device < peers.count; device++) {
            if (device == peers.rank || mine >= end) continue;
            const ordered::Bits theirs = bits_of(peers, array, device);
            if (!(load_system(&theirs.groups()[mine / 32]) >> mine % 32 & 1)) continue;
            const uint4 some = load_system(theirs.of_group(mine));
            bits = make_uint4(bits.x | some.x, bits.y | some.y, bits.z | some.z, bits.w | some.w);
        }
        if (__any_sync(all_lanes, (bits.x | bits.y | bits.z | bits.w) != 0)) body(static_cast<u32>(mine), bits);
    }
}

/// Takes over the bits of other devices' vertices, as these have them in an array.
__device__ __forceinline__ void know(const Peers& peers, u32 array, u32* mine) {
    const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u32 device = 0; device < peers.count; device++) {
        if (device == peers.rank) continue;
        const uint4* const theirs = reinterpret_cast<const uint4*>(peers.arrays[array * most_devices + device]);
        const u32 first = (peers.begins[device] + group - 1) / group, end = (peers.begins[device + 1] + group - 1) / group;
        for (u64 g = first + blockIdx.x * blockDim.x + threadIdx.x; g < end; g += threads) {
            store(reinterpret_cast<uint4*>(mine) + g, load_system(theirs + g));
        }
    }
}

/// Publishes the bits that this device has set in an array for the vertices of others, and calls `body(mine, bits)` for their groups as
/// `from_peers` does. Whoever has set them has met all threads of the grid since.
template <class Body>
__device__ __forceinline__ void publish_marks(const Peers& peers, u32 array, const ordered::Bits& marks, Body body) {
    const ordered::Some mine{peers.first, peers.beyond};
    const ordered::Bits there{peers.published[array], marks.vertices};
    const u32 lane = lane_index(), end = marks.group_count();
    const u64 step = warps_of_grid() * lanes_a_warp;
    for (u64 first = warp_of_grid() * static_cast<u64>(lanes_a_warp); first < end; first += step) {
        const u64 g = first + lane;
        // Others look at the groups that this word names.
        const u32 word = load(&marks.groups()[first / 32]);
        if (lane == 0) store_system(&there.groups()[first / 32], word);
        const bool is_mine = g >= mine.first_group() && g < mine.end_group();
        const bool is_theirs = (word >> lane & 1) != 0 && !is_mine;
        uint4 bits = make_uint4(0, 0, 0, 0);
        if (is_theirs) {
            bits = load(marks.of_group(g));
            store_system(there.of_group(g), bits);
        }
        if (__any_sync(all_lanes, is_theirs)) body(static_cast<u32>(g), bits);
    }
}

/// Publishes the bits of this device's vertices in an array. Whoever has set them has met all threads of the grid since.
__device__ __forceinline__ void publish_own(const Peers& peers, u32 array, const u32* bits) {
    const ordered::Some mine{peers.first, peers.beyond};
    uint4* const there = reinterpret_cast<uint4*>(peers.published[array]);
    const u32 threads = gridDim.x * blockDim.x;
    for (u32 g = mine.first_group() + blockIdx.x * blockDim.x + threadIdx.x; g < mine.end_group(); g += threads) {
        store_system(there + g, load(reinterpret_cast<const uint4*>(bits) + g));
    }
}

}  // namespace peers
