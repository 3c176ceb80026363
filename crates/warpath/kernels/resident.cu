// Arrays of other programs on the device as Warpath has them, and answers as other programs want them. The host's part,
// and the essay, are in `src/cuda/resident/`.
//
// registers: 40
// no-sass: STL
#include "rows.cuh"

/// Arcs that a warp takes at a time.
constexpr u32 arcs_a_warp = 1024;

/// Calls `body(index)` for each index below `count`, on one thread each.
template <class Body>
__device__ __forceinline__ void for_each_index(u64 count, Body body) {
    const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
    for (u64 index = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x; index < count; index += threads) body(index);
}

/// Numbers of vertices, which are below `limit`. What is not is written as 0, and flagged. Numbers below 0 are beyond any
/// limit. `greatest` becomes the greatest one if it was 0.
template <class From>
__device__ void copy_ids(const From* from, u64 count, u64 limit, u32* to, u32* wrong, u32* greatest) {
    u32 seen = 0;
    bool is_wrong = false;
    for_each_index(count, [&](u64 index) {
        // Of 32 bits, a number below 0 is far beyond the limit, too.
        const u64 id = load_once(&from[index]);
        const bool fits = id < limit;
        is_wrong |= !fits;
        const u32 narrow = fits ? static_cast<u32>(id) : 0;
        seen = max(seen, narrow);
        store_once(&to[index], narrow);
    });
    if (is_wrong) store(wrong, 1u);
    seen = warp_max(seen);
    if (lane_index() == 0 && seen > 0) atomicMax(greatest, seen);
}

/// Where rows begin: from 0 to `arcs`, never falling. What is not so is flagged. Writes nothing beyond `arcs`.
template <class From, class Offset>
__device__ void copy_offsets(const From* from, u64 count, u64 arcs, Offset* to, u32* wrong) {
    bool is_wrong = false;
    for_each_index(count, [&](u64 index) {
        const u64 offset = from[index];
        const u64 wanted_end = index == count - 1 ? arcs : from[index + 1];
        is_wrong |= offset > arcs || (index == count - 1 ? offset != arcs : offset > wanted_end);
        is_wrong |= index == 0 && offset != 0;
        store_once(&to[index], static_cast<Offset>(min(offset, arcs)));
    });
    if (is_wrong) store(wrong, 1u);
}

/// What a weight is on the device, and whether it can be one: it is not below 0, not beyond what there is, and a number.
template <class From>
struct WeightOf;
template <>
struct WeightOf<u32> {
    using To = u32;
    static __device__ __forceinline__ bool is_one(u32) { return true; }
};
template <>
struct WeightOf<u64> {
    using To = u32;
    static __device__ __forceinline__ bool is_one(u64 weight) { return weight <= 0xffffffffu; }
};
template <>
struct WeightOf<int> {
    using To = u32;
    static __device__ __forceinline__ bool is_one(int weight) { return weight >= 0; }
};
template <>
struct WeightOf<float> {
    using To = float;
    static __device__ __forceinline__ bool is_one(float weight) { return weight >= 0 && weight <= 3.402823466e38f; }
};
template <>
struct WeightOf<double> {
    using To = double;
    static __device__ __forceinline__ bool is_one(double weight) {
        return weight >= 0 && weight <= 1.7976931348623157e308;
    }
};

/// The bits of a weight, which order as weights of 0 or more do.
__device__ __forceinline__ u64 bits_of(u32 weight) { return weight; }
__device__ __forceinline__ u64 bits_of(float weight) { return __float_as_uint(weight); }
__device__ __forceinline__ u64 bits_of(double weight) { return static_cast<u64>(__double_as_longlong(weight)); }

/// Whether a weight is a whole number of 32 bits.
__device__ __forceinline__ bool is_whole(u32) { return true; }
template <class Float>
__device__ __forceinline__ bool is_whole(Float weight) {
    return weight < Float(4294967296.0) && static_cast<Float>(static_cast<u32>(weight)) == weight;
}

/// What is found about weights.
struct WeightFindings {
    u64 greatest;  // the bits of the greatest one, if they were 0
    u64 least;     // those of the least one, if they were all ones
    u64 broken;    // 1 if some is no whole number of 32 bits
};

/// Weights. What can't be one is written as 0, and flagged.
template <class From>
__device__ void copy_weights(const From* from, u64 count, typename WeightOf<From>::To* to, u32* wrong,
                             WeightFindings* findings) {
    using To = typename WeightOf<From>::To;
    u64 seen = 0, least = ~static_cast<u64>(0);
    bool is_wrong = false, is_broken = false;
    for_each_index(count, [&](u64 index) {
        const From weight = load_once(&from[index]);
        const bool fits = WeightOf<From>::is_one(weight);
        is_wrong |= !fits;
        // No zero keeps a sign.
        const To kept = fits && weight != From(0) ? static_cast<To>(weight) : To(0);
        seen = max(seen, bits_of(kept));
        least = min(least, bits_of(kept));
        is_broken |= !is_whole(kept);
        store_once(&to[index], kept);
    });
    if (is_wrong) store(wrong, 1u);
    if (is_broken) store(&findings->broken, static_cast<u64>(1));
    seen = ~warp_min(~seen);
    least = warp_min(least);
    if (lane_index() == 0) {
        atomicMax(&findings->greatest, seen);
        atomicMin(&findings->least, least);
    }
}

/// The bits of the weight of an arc: of 32 or 64 bits, or 1 where there are none.
__device__ __forceinline__ u64 weight_at(const void* weights, u32 is_wide, u64 arc) {
    if (weights == nullptr) return 1;
    return is_wide != 0 ? load_once(static_cast<const u64*>(weights) + arc)
                        : load_once(static_cast<const u32*>(weights) + arc);
}

/// Bits well mixed.
__device__ __forceinline__ u64 mixed(u64 bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
}

/// Adds to `sum` a hash of each arc, and takes away that of its reverse: it stays 0 if every arc has its reverse, of equal
/// weight and as often, and else hardly ever.
template <class Offset>
__device__ void sum_asymmetry(const Offset* offsets, const u32* heads, const void* weights, u32 is_wide, u32 vertices,
                              u64 arcs, u64* sum) {
    const auto offset_at = [=](u32 row) { return static_cast<u64>(load_constant(&offsets[row])); };
    u64 own = 0;
    for_arcs_in_shares(vertices, arcs, arcs_a_warp, offset_at, [&](u32 tail, u64 arc) {
        const u32 head = load_once(&heads[arc]);
        const u64 of_weight = mixed(weight_at(weights, is_wide, arc));
        const u64 there = static_cast<u64>(tail) << 32 | head, back = static_cast<u64>(head) << 32 | tail;
        own += mixed(there ^ of_weight) - mixed(back ^ of_weight);
    });
    if (own != 0) atomicAdd(sum, own);
}

/// Writes the tail of each arc.
template <class Offset>
__device__ void write_tails(const Offset* offsets, u32 vertices, u64 arcs, u32* tails) {
    const auto offset_at = [=](u32 row) { return static_cast<u64>(load_constant(&offsets[row])); };
    for_arcs_in_shares(vertices, arcs, arcs_a_warp, offset_at,
                       [=](u32 tail, u64 arc) { store_once(&tails[arc], tail); });
}

/// Adds to the counts of the vertices how many arcs have them as heads, loops left out.
template <class Offset>
__device__ void count_reverses(const u32* tails, const u32* heads, u64 arcs, Offset* counts) {
    for_each_index(arcs, [=](u64 arc) {
        const u32 head = load_once(&heads[arc]);
        if (load_once(&tails[arc]) != head) atomicAdd(&counts[head], static_cast<Offset>(1));
    });
}

/// Puts the head and weight of each arc into the row of its tail, in any order; and, if they are wanted, those of its
/// reverse into the row of its head, loops left out. `places` has where rows begin, and then where they end.
template <class Offset>
__device__ void scatter_arcs(const u32* tails, const u32* heads, const void* weights, u32 is_wide, u64 arcs,
                             u32 with_reverses, Offset* places, u32* to_heads, void* to_weights) {
    const auto put = [=](u32 tail, u32 head, u64 weight) {
        const Offset place = atomicAdd(&places[tail], static_cast<Offset>(1));
        store_once(&to_heads[place], head);
        if (to_weights == nullptr) return;
        if (is_wide != 0) {
            store_once(static_cast<u64*>(to_weights) + place, weight);
        } else {
            store_once(static_cast<u32*>(to_weights) + place, static_cast<u32>(weight));
        }
    };
    for_each_index(arcs, [=](u64 arc) {
        const u32 tail = load_once(&tails[arc]), head = load_once(&heads[arc]);
        const u64 weight = weight_at(weights, is_wide, arc);
        put(tail, head, weight);
        if (with_reverses != 0 && tail != head) put(head, tail, weight);
    });
}

/// Puts heads and weights side by side, in words of 32 or 64 bits.
__device__ void write_pairs(const u32* heads, const void* weights, u32 is_wide, u64 arcs, void* pairs) {
    for_each_index(arcs, [=](u64 arc) {
        const u32 head = load_once(&heads[arc]);
        const u64 weight = weight_at(weights, is_wide, arc);
        if (is_wide != 0) {
            store_once(static_cast<u64*>(pairs) + 2 * arc, static_cast<u64>(head));
            store_once(static_cast<u64*>(pairs) + 2 * arc + 1, weight);
        } else {
            store_once(static_cast<u32*>(pairs) + 2 * arc, head);
            store_once(static_cast<u32*>(pairs) + 2 * arc + 1, static_cast<u32>(weight));
        }
    });
}

/// Of every `step`-th arc, `count` of them, the bits of its weight and how many arcs leave its head.
template <class Offset>
__device__ void sample_arcs(const Offset* offsets, const u32* heads, const void* weights, u32 is_wide, u64 step,
                            u64 count, u64* sampled_weights, u64* degrees) {
    for_each_index(count, [=](u64 index) {
        const u64 arc = index * step;
        const u32 head = load_constant(&heads[arc]);
        sampled_weights[index] = weight_at(weights, is_wide, arc);
        degrees[index] = static_cast<u64>(load_constant(&offsets[head + 1])) - load_constant(&offsets[head]);
    });
}

/// Writes the most arcs that leave one vertex, if it was 0. Offsets that fall are flagged: those that were copied may not be those that
/// were looked at, if their owner writes to them.
template <class Offset>
__device__ void find_longest(const Offset* offsets, u32 vertices, u64* longest, u32* wrong) {
    u64 seen = 0;
    bool is_wrong = false;
    for_each_index(vertices, [&](u64 vertex) {
        const u64 begin = load_constant(&offsets[vertex]), end = load_constant(&offsets[vertex + 1]);
        is_wrong |= begin > end;
        seen = max(seen, end - begin);
    });
    if (is_wrong) store(wrong, 1u);
    seen = ~warp_min(~seen);
    if (lane_index() == 0 && seen > 0) atomicMax(longest, seen);
}

/// Writes where the rows of some vertices begin and end, and the first `room` of the heads of each, with their weights as whole
/// numbers of 32 bits.
template <class Offset>
__device__ void gather_rows(const Offset* offsets, const u32* heads, const u32* weights, const u32* vertices, u64 count,
                            u32 room, u64* ends, u32* pairs) {
    for_each_index(count * room, [=](u64 index) {
        const u64 which = index / room, place = index % room;
        const u32 vertex = load_constant(&vertices[which]);
        const u64 begin = load_constant(&offsets[vertex]), end = load_constant(&offsets[vertex + 1]);
        if (place == 0) {
            ends[2 * which] = begin;
            ends[2 * which + 1] = end;
        }
        if (place >= end - begin) return;
        pairs[2 * index] = load_constant(&heads[begin + place]);
        pairs[2 * index + 1] = weights == nullptr ? 1 : load_constant(&weights[begin + place]);
    });
}

/// Weights that are whole numbers as such.
template <class Float>
__device__ void whole_weights(const Float* from, u64 count, u32* to) {
    for_each_index(count, [=](u64 index) { store_once(&to[index], static_cast<u32>(load_once(&from[index]))); });
}

/// Distances of whole numbers as floats, and infinity for those that there are not.
template <class Float>
__device__ void floats_of(const u32* from, u64 count, Float* to) {
    for_each_index(count, [=](u64 index) {
        const u32 distance = load_once(&from[index]);
        store_once(&to[index], distance == 0xffffffffu ? static_cast<Float>(INFINITY) : static_cast<Float>(distance));
    });
}

/// The greatest of these distances but for the greatest number there is, which stands for no distance. `greatest` was 0.
__device__ void find_greatest(const u32* distances, u64 count, u64* greatest) {
    u32 seen = 0;
    for_each_index(count, [&](u64 index) {
        const u32 distance = load_once(&distances[index]);
        if (distance != 0xffffffffu) seen = max(seen, distance);
    });
    seen = warp_max(seen);
    if (lane_index() == 0 && seen > 0) atomicMax(greatest, static_cast<u64>(seen));
}

/// Sources have themselves for predecessors, and nobody else has: they get none.
__device__ void clear_sources(u32* predecessors, u64 count) {
    for_each_index(count, [=](u64 vertex) {
        if (predecessors[vertex] == vertex) predecessors[vertex] = 0xffffffffu;
    });
}

/// Distances of 32 bits in 64.
__device__ void widen(const u32* from, u64 count, u64* to) {
    for_each_index(count, [=](u64 index) {
        const u32 distance = load_once(&from[index]);
        store_once(&to[index], distance == 0xffffffffu ? ~static_cast<u64>(0) : static_cast<u64>(distance));
    });
}

#define KERNEL extern "C" __global__ void __launch_bounds__(512)

#define IDS(bits, From)                                                                                               \
    KERNEL resident_ids_##bits(const From* from, u64 count, u64 limit, u32* to, u32* wrong, u32* greatest) {          \
        copy_ids(from, count, limit, to, wrong, greatest);                                                            \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_ids_##bits)
IDS(32, u32)
IDS(64, u64)

#define OFFSETS(from_bits, From, bits, Offset)                                                                        \
    KERNEL resident_offsets_##from_bits##_##bits(const From* from, u64 count, u64 arcs, Offset* to, u32* wrong) {     \
        copy_offsets(from, count, arcs, to, wrong);                                                                   \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_offsets_##from_bits##_##bits)
OFFSETS(32, u32, 32, u32)
OFFSETS(32, u32, 64, u64)
OFFSETS(64, u64, 32, u32)
OFFSETS(64, u64, 64, u64)

#define WEIGHTS(name, From)                                                                                           \
    KERNEL resident_weights_##name(const From* from, u64 count, typename WeightOf<From>::To* to, u32* wrong,          \
                                   WeightFindings* findings) {                                                        \
        copy_weights(from, count, to, wrong, findings);                                                               \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_weights_##name)
// Of 64-bit integers, those below 0 are too great if they are taken to have no sign.
WEIGHTS(i32, int)
WEIGHTS(u32, u32)
WEIGHTS(u64, u64)
WEIGHTS(f32, float)
WEIGHTS(f64, double)

#define OF_ROWS(bits, Offset)                                                                                         \
    KERNEL resident_asymmetry_##bits(const Offset* offsets, const u32* heads, const void* weights, u32 is_wide,       \
                                     u32 vertices, u64 arcs, u64* sum) {                                              \
        sum_asymmetry(offsets, heads, weights, is_wide, vertices, arcs, sum);                                         \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_asymmetry_##bits)                                                                         \
    KERNEL resident_tails_##bits(const Offset* offsets, u32 vertices, u64 arcs, u32* tails) {                         \
        write_tails(offsets, vertices, arcs, tails);                                                                  \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_tails_##bits)                                                                             \
    KERNEL resident_count_reverses_##bits(const u32* tails, const u32* heads, u64 arcs, Offset* counts) {             \
        count_reverses(tails, heads, arcs, counts);                                                                   \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_count_reverses_##bits)                                                                    \
    KERNEL resident_scatter_##bits(const u32* tails, const u32* heads, const void* weights, u32 is_wide, u64 arcs,    \
                                   u32 with_reverses, Offset* places, u32* to_heads, void* to_weights) {              \
        scatter_arcs(tails, heads, weights, is_wide, arcs, with_reverses, places, to_heads, to_weights);              \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_scatter_##bits)                                                                           \
    KERNEL resident_sample_##bits(const Offset* offsets, const u32* heads, const void* weights, u32 is_wide,          \
                                  u64 step, u64 count, u64* sampled_weights, u64* degrees) {                          \
        sample_arcs(offsets, heads, weights, is_wide, step, count, sampled_weights, degrees);                         \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_sample_##bits)                                                                            \
    KERNEL resident_longest_##bits(const Offset* offsets, u32 vertices, u64* longest, u32* wrong) {                   \
        find_longest(offsets, vertices, longest, wrong);                                                              \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_longest_##bits)                                                                           \
    KERNEL resident_gather_##bits(const Offset* offsets, const u32* heads, const u32* weights, const u32* vertices,   \
                                  u64 count, u32 room, u64* ends, u32* pairs) {                                       \
        gather_rows(offsets, heads, weights, vertices, count, room, ends, pairs);                                     \
    }                                                                                                                 \
    WARPATH_KERNEL(resident_gather_##bits)
OF_ROWS(32, u32)
OF_ROWS(64, u64)

#define OF_FLOATS(name, Float)                                                                                        \
    KERNEL resident_whole_##name(const Float* from, u64 count, u32* to) { whole_weights(from, count, to); }           \
    WARPATH_KERNEL(resident_whole_##name)                                                                             \
    KERNEL resident_floats_##name(const u32* from, u64 count, Float* to) { floats_of(from, count, to); }              \
    WARPATH_KERNEL(resident_floats_##name)
OF_FLOATS(f32, float)
OF_FLOATS(f64, double)

KERNEL resident_pairs(const u32* heads, const void* weights, u32 is_wide, u64 arcs, void* pairs) {
    write_pairs(heads, weights, is_wide, arcs, pairs);
}
WARPATH_KERNEL(resident_pairs)
KERNEL resident_greatest(const u32* distances, u64 count, u64* greatest) { find_greatest(distances, count, greatest); }
WARPATH_KERNEL(resident_greatest)
KERNEL resident_clear_sources(u32* predecessors, u64 count) { clear_sources(predecessors, count); }
WARPATH_KERNEL(resident_clear_sources)
KERNEL resident_widen(const u32* from, u64 count, u64* to) { widen(from, count, to); }
WARPATH_KERNEL(resident_widen)
