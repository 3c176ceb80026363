// Devices that search together. Each has some of the vertices: those of `begins[rank]` and up to the next device's first. Its
// kernel reads the memory of the others, and the kernels meet at barriers, without the host.
//
//   meet           a barrier of all threads of all devices, at which each device tells the others a few numbers
//   joined         what they told
//   from_peers     the bits that others have set for this device's vertices
//   know           the bits of other devices' vertices, as these have them
//
// A device writes its own memory, and others read it after the next meeting. Between two meetings nobody writes what others may
// read then, but for distances, which fall: an earlier one is as true.
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

/// The bits that a device has in an array.
__device__ __forceinline__ ordered::Bits bits_of(const Peers& peers, u32 array, u32 device) {
    return {const_cast<u32*>(peers.arrays[array * most_devices + device]), peers.begins[peers.count]};
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

}  // namespace peers
