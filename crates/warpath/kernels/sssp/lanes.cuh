// The lanes of the shortest-path searches: types of weights with types of distances, and what a relaxation is in each.
//
// A distance is kept as an unsigned number that orders as distances do, so one atomic minimum is right for all lanes:
// floats of 0 or more order as their bits do, signed distances have their top bit flipped. Nothing wraps: what would
// leave the range becomes `unreachable`, which is greater than every distance, and raises a flag.
//
// A kernel is a template over the lane that takes one struct, and `WARPATH_KERNEL_IN_LANES` makes it a kernel of each
// lane: `sssp_mask_relax_u32_u64` and so on.
#pragma once

#include "../device.cuh"

/// Unsigned weights, 32-bit distances.
struct LaneNarrow {
    using Weight = u32;
    using Distance = u32;
    static constexpr Distance unreachable = ~0u;
    static __device__ __forceinline__ Distance extend(Distance distance, Weight weight) {
        const u32 sum = distance + weight;
        return sum < distance ? unreachable : sum;
    }
};

/// Unsigned weights, 64-bit distances, which paths of fewer than 2^32 arcs do not exceed.
struct LaneWide {
    using Weight = u32;
    using Distance = u64;
    static constexpr Distance unreachable = ~0ull;
    static __device__ __forceinline__ Distance extend(Distance distance, Weight weight) { return distance + weight; }
};

/// Signed weights; a distance of 0 is 2^63. What has fallen below 2^32 went around a cycle of negative length, as paths
/// of fewer than 2^32 - 2 arcs do not get there, and falls no further.
struct LaneSigned {
    using Weight = int;
    using Distance = u64;
    static constexpr Distance unreachable = ~0ull;
    static __device__ __forceinline__ Distance extend(Distance distance, Weight weight) {
        constexpr Distance lowest = 1ull << 32;
        return distance < lowest ? unreachable : distance + static_cast<u64>(static_cast<long long>(weight));
    }
};

/// Floats of 0 or more, as their bits.
struct LaneSingle {
    using Weight = float;
    using Distance = u32;
    static constexpr Distance unreachable = 0x7f80'0000;  // infinity
    static __device__ __forceinline__ Distance extend(Distance distance, Weight weight) {
        return __float_as_uint(__uint_as_float(distance) + weight);
    }
};

/// The length of a walk that goes on from a vertex at `from`, which has a distance, over an arc. `unreachable` if it is
/// beyond the limit or the lane's range; the latter raises the flag.
template <class Lane>
__device__ __forceinline__ typename Lane::Distance length_through(
    typename Lane::Distance from, typename Lane::Weight weight, u64 limit, u32* out_of_range) {
    const typename Lane::Distance through = Lane::extend(from, weight);
    if (through == Lane::unreachable) {
        store(out_of_range, 1u);
    }
    return through > limit ? Lane::unreachable : through;
}

#define WARPATH_KERNEL_IN_LANE(name, function, Search, lane, Lane) \
    extern "C" __global__ void name##_##lane(Search<Lane> search) { function(search); } \
    WARPATH_KERNEL(name##_##lane)

/// The lanes for weights of 0 or more.
#define WARPATH_KERNEL_IN_LANES(name, function, Search)                      \
    WARPATH_KERNEL_IN_LANE(name, function, Search, u32_u32, LaneNarrow)      \
    WARPATH_KERNEL_IN_LANE(name, function, Search, u32_u64, LaneWide)        \
    WARPATH_KERNEL_IN_LANE(name, function, Search, f32_f32, LaneSingle)
