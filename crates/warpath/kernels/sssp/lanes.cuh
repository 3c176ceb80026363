// The lanes of the shortest-path searches: types of weights with types of distances, and a relaxation in each.
//
// A distance is kept as an unsigned number that orders as distances do, so one atomic minimum is right for all lanes:
// floats of 0 or more order as their bits do, signed distances have their top bit flipped. Nothing wraps: a sum
// that would leave the range becomes `unreachable`, which is greater than every distance, and raises a flag.
//
// Lanes for weights of 0 or more also have `further`: a distance that is greater by so much, or at least by a little;
// `unreachable` if it is beyond all.
//
// A kernel is a template over the lane that takes one struct, and `WARPATH_KERNEL_IN_LANES` makes it a kernel of each
// lane: `sssp_mask_relax_u32_u64` and so on.
#pragma once

#include "../device.cuh"

/// Head and weight of an arc as they are read, at once.
template <class Weight>
struct alignas(2 * sizeof(Weight)) Arc {
    u32 head;
    Weight weight;
};

/// `to`, but greater than `from`, however it was rounded.
template <class Distance>
__device__ __forceinline__ Distance beyond(Distance from, Distance to) {
    return to > from ? to : from + 1;
}

/// Unsigned weights, 32-bit distances.
struct LaneNarrow {
    using Weight = u32;
    using Distance = u32;
    static constexpr Distance unreachable = ~0u;
    static __device__ __forceinline__ Distance extend(Distance distance, Weight weight) {
        const u32 sum = distance + weight;
        return sum < distance ? unreachable : sum;
    }
    static __device__ __forceinline__ Distance further(Distance distance, double by) {
        const double to = static_cast<double>(distance) + by;
        return to < static_cast<double>(unreachable) ? beyond(distance, static_cast<Distance>(to)) : unreachable;
    }
};

/// Unsigned weights, 64-bit distances, which paths of fewer than 2^32 arcs do not exceed.
struct LaneWide {
    using Weight = u32;
    using Distance = u64;
    static constexpr Distance unreachable = ~0ull;
    static __device__ __forceinline__ Distance extend(Distance distance, Weight weight) { return distance + weight; }
    static __device__ __forceinline__ Distance further(Distance distance, double by) {
        const double to = static_cast<double>(distance) + by;
        return to < static_cast<double>(unreachable) ? beyond(distance, static_cast<Distance>(to)) : unreachable;
    }
};

/// Signed weights; a distance of 0 is 2^63. A distance below 2^32 went around a cycle of negative length, as no path of
/// fewer than 2^32 - 2 arcs gets there, and falls no further.
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
    static __device__ __forceinline__ Distance further(Distance distance, double by) {
        const double to = static_cast<double>(__uint_as_float(distance)) + by;
        constexpr double greatest = 3.4e38;
        return to < greatest ? beyond(distance, __float_as_uint(static_cast<float>(to))) : unreachable;
    }
};

/// 64-bit floats of 0 or more, as their bits.
struct LaneDouble {
    using Weight = double;
    using Distance = u64;
    static constexpr Distance unreachable = 0x7ff0'0000'0000'0000;  // infinity
    static __device__ __forceinline__ double number(Distance distance) {
        return __longlong_as_double(static_cast<long long>(distance));
    }
    static __device__ __forceinline__ Distance extend(Distance distance, Weight weight) {
        return static_cast<Distance>(__double_as_longlong(number(distance) + weight));
    }
    static __device__ __forceinline__ Distance further(Distance distance, double by) {
        return beyond(distance, static_cast<Distance>(__double_as_longlong(number(distance) + by)));
    }
};

/// The length of a walk to a vertex with the distance `from`, and over one more arc. `unreachable` if it is beyond the
/// limit or the lane's range; the latter raises the flag.
template <class Lane>
__device__ __forceinline__ typename Lane::Distance length_through(
    typename Lane::Distance from, typename Lane::Weight weight, u64 limit, u32* out_of_range) {
    const typename Lane::Distance through = Lane::extend(from, weight);
    if (through == Lane::unreachable) {
        store(out_of_range, 1u);
    }
    return through > limit ? Lane::unreachable : through;
}

#define WARPATH_KERNEL_IN_LANE(name, function, KernelArgument, lane, Lane) \
    extern "C" __global__ void name##_##lane(KernelArgument<Lane> search) { function(search); } \
    WARPATH_KERNEL(name##_##lane)

/// The lanes for weights of 0 or more.
#define WARPATH_KERNEL_IN_LANES(name, function, KernelArgument)                      \
    WARPATH_KERNEL_IN_LANE(name, function, KernelArgument, u32_u32, LaneNarrow)      \
    WARPATH_KERNEL_IN_LANE(name, function, KernelArgument, u32_u64, LaneWide)        \
    WARPATH_KERNEL_IN_LANE(name, function, KernelArgument, f32_f32, LaneSingle)
