// What the kernels of sweeps over a hierarchy share: distances, the sources of a warp, and a tile. The host loop, and the essay,
// are in `src/cuda/apsp/hierarchy/mod.rs`.
#pragma once

#include "../collectives.cuh"
#include "../sssp/lanes.cuh"
#include "../generated/apsp/hierarchy.cuh"

namespace apsp_hierarchy {

/// Distances below half of what their type has room for: two of them add up without wrapping.
template <class Lane>
struct Half {
    using Distance = typename Lane::Distance;
    /// The length of a way that there is not.
    static constexpr Distance infinity = ~static_cast<Distance>(0) >> 1;
    static constexpr Distance unreachable = Lane::unreachable;
    static __device__ __forceinline__ Distance sum(Distance a, Distance b) { return a + b; }
};

/// All distances that their type has room for.
template <class Lane>
struct Full {
    using Distance = typename Lane::Distance;
    static constexpr Distance infinity = ~static_cast<Distance>(0);
    static constexpr Distance unreachable = Lane::unreachable;
    static __device__ __forceinline__ Distance sum(Distance a, Distance b) {
        const Distance sum = a + b;
        return sum < a ? infinity : sum;
    }
};

/// The distances from the sources of a thread.
template <class Lane>
struct alignas(sources / lanes_a_warp * sizeof(typename Lane::Distance)) Held {
    using Distance = typename Lane::Distance;
    static constexpr u32 count = sources / lanes_a_warp;
    Distance of[count];

    static __device__ __forceinline__ Held none() {
        Held held;
#pragma unroll
        for (u32 k = 0; k < count; k++) held.of[k] = Lane::infinity;
        return held;
    }

    /// By the way over vertices that have the distances `from`.
    __device__ __forceinline__ void lower(const Held& from, Distance length) {
#pragma unroll
        for (u32 k = 0; k < count; k++) of[k] = min(of[k], Lane::sum(from.of[k], length));
    }

    __device__ __forceinline__ void lower(const Held& to) {
#pragma unroll
        for (u32 k = 0; k < count; k++) of[k] = min(of[k], to.of[k]);
    }
};

/// A record of 32 bytes, both halves at once.
template <class Record>
__device__ __forceinline__ Record load_record(const Record* from) {
    static_assert(sizeof(Record) == 2 * sizeof(uint4), "");
    const uint4* const halves = reinterpret_cast<const uint4*>(from);
    const uint4 both[] = {load_constant(&halves[0]), load_constant(&halves[1])};
    Record record;
    memcpy(&record, both, sizeof record);
    return record;
}

/// `width` lengths, which are read 16 bytes at a time.
template <class Lane, u32 width>
struct alignas(16) Lengths {
    typename Lane::Distance of[width];
};

/// Copies lengths to the shared memory of a warp, 16 bytes a lane.
template <class Distance>
__device__ __forceinline__ void stage(Distance* to, const Distance* from, u32 count) {
    constexpr u32 each = sizeof(uint4) / sizeof(Distance);
    for (u32 i = lane_index(); i * each < count; i += lanes_a_warp) {
        reinterpret_cast<uint4*>(to)[i] = load_constant(reinterpret_cast<const uint4*>(from) + i);
    }
}

/// The sources of a warp, and the distances from them. With `sums` they are also counted and added up.
template <class Lane, bool sums>
struct Group {
    using Distance = typename Lane::Distance;
    static constexpr u32 count = Held<Lane>::count;
    static constexpr bool is_wide = sizeof(Distance) == sizeof(u64);
    const Sweep<Lane>& sweep;
    const u64 place;  // of this thread's sources
    u32 ranks[count];
    /// The least of all distances from which on others may have been lost, less that bound. All others wrap.
    Distance least[count];
    /// The distances that are one: how many, the greatest, and the sums of their lower and upper halves.
    u32 reached[count] = {};
    Distance greatest[count] = {};
    u64 low[count] = {}, high[count] = {};

    __device__ __forceinline__ Group(const Sweep<Lane>& sweep, u32 group)
        : sweep(sweep), place(static_cast<u64>(group) * sources + count * lane_index()) {
#pragma unroll
        for (u32 k = 0; k < count; k++) {
            ranks[k] = load_constant(&sweep.sources[place + k]);
            least[k] = Lane::infinity - doubtful();
        }
    }

    __device__ __forceinline__ Distance doubtful() const { return static_cast<Distance>(sweep.doubtful); }

    /// Of the vertex with this place.
    __device__ __forceinline__ Held<Lane>* row(u32 of) const {
        return reinterpret_cast<Held<Lane>*>(&sweep.by_place[of * sweep.stride + place]);
    }

    /// Takes note of the distances of a vertex.
    __device__ __forceinline__ void note(const Held<Lane>& distances) {
#pragma unroll
        for (u32 k = 0; k < count; k++) {
            least[k] = min(least[k], distances.of[k] - doubtful());
            if (!sums || distances.of[k] >= Lane::infinity) continue;
            reached[k]++;
            greatest[k] = max(greatest[k], distances.of[k]);
            low[k] += static_cast<u32>(distances.of[k]);
            if (is_wide) high[k] += static_cast<u64>(distances.of[k]) >> 32;
        }
    }

    /// Writes the distances of a vertex.
    __device__ __forceinline__ void keep(u32 of, const Held<Lane>& distances) {
        note(distances);
        store(row(of), distances);
    }

    /// Tells which sources may lack distances, and what was counted. Blocks add to several counters, by turns, so that they seldom
    /// wait for each other.
    __device__ __forceinline__ void report() const {
        u64* const counters = &sweep.counters[static_cast<u64>(blockIdx.x % counters_a_source) * counted * sweep.stride + place];
#pragma unroll
        for (u32 k = 0; k < count; k++) {
            if (least[k] < Lane::infinity - doubtful()) store(&sweep.is_doubtful[place + k], 1);
            if (!sums || reached[k] == 0) continue;
            atomicAdd(&counters[k], static_cast<u64>(reached[k]));
            atomicMax(&counters[sweep.stride + k], static_cast<u64>(greatest[k]));
            atomicAdd(&counters[2 * sweep.stride + k], low[k]);
            if (is_wide) atomicAdd(&counters[3 * sweep.stride + k], high[k]);
        }
    }

    /// Whether some source of the warp is one of these ranks.
    __device__ __forceinline__ bool some_start_in(u32 first, u32 last) const {
        bool is_there = false;
#pragma unroll
        for (u32 k = 0; k < count; k++) is_there |= first <= ranks[k] && ranks[k] <= last;
        return __ballot_sync(all_lanes, is_there) != 0;
    }

    /// Lowers distances of a rank to what the climbs have found from sources below it.
    __device__ __forceinline__ void lower_to_climb(Held<Lane>& found, u32 rank) const {
        const Position position = load_constant(&sweep.positions[rank]);
        const Distance* const above = &sweep.above[position.depth * sweep.stride + place];
#pragma unroll
        for (u32 k = 0; k < count; k++) {
            if (position.first <= ranks[k] && ranks[k] <= rank) {
                found.of[k] = min(found.of[k], load_constant(&above[k]));
            }
        }
    }
};
/// Arcs that are read at once.
template <class Distance>
struct alignas(4 * sizeof(Distance)) TwoArcs {
    Arc<Distance> arcs[2];
};

/// A warp works out the distances to the vertices of a tile, in the order of their slots, from those that are read. It has a slot for
/// each of the distances, `own`. `found` takes the slot of a vertex and its distances, and may lower them.
template <class Lane, class Found>
__device__ __forceinline__ void sweep_over_tile(
    const Sweep<Lane>& sweep, const Tile& tile, const Arc<typename Lane::Distance>* arcs, Held<Lane>* own,
    Found found) {
    using Distance = typename Lane::Distance;
    // What arcs lead from that are there only to fill a batch.
    own[(sweep.most_slots - 1) * lanes_a_warp] = Held<Lane>::none();
    Held<Lane> best = Held<Lane>::none();
    for (u32 first = 0; first < tile.batch_count * batch; first += batch) {
        TwoArcs<Distance> two[batch / 2];
        Held<Lane> from[batch];
#pragma unroll
        for (u32 k = 0; k < batch / 2; k++) two[k] = *reinterpret_cast<const TwoArcs<Distance>*>(&arcs[first + 2 * k]);
#pragma unroll
        for (u32 k = 0; k < batch; k++) from[k] = own[(two[k / 2].arcs[k % 2].head & 0xff) * lanes_a_warp];
#pragma unroll
        for (u32 k = 0; k < batch; k++) {
            const Arc<Distance> arc = two[k / 2].arcs[k % 2];
            best.lower(from[k], arc.weight);
            if (arc.head <= 0xff) continue;
            // The last arc of a vertex.
            const u32 slot = (arc.head >> 8) - 1;
            found(slot, best);
            own[slot * lanes_a_warp] = best;
            best = Held<Lane>::none();
        }
    }
}

/// A warp works out the distances from its sources to the vertices of a tile. `keep` takes them with their slots.
template <class Lane, bool sums, class Keep>
__device__ __forceinline__ void work_on_tile(
    const Sweep<Lane>& sweep, const Tile& tile, const Arc<typename Lane::Distance>* arcs, Held<Lane>* own,
    const Group<Lane, sums>& group, Keep keep) {
    const u32 lane = lane_index();
    for (u32 first = 0; first < tile.load_count; first += lanes_a_warp) {
        // A lane reads a vertex and its slot; the warp reads the distances of eight vertices at a time.
        const u32 left = min(tile.load_count - first, lanes_a_warp);
        const Load mine = lane < left ? load_constant(&sweep.loads[tile.loads + first + lane]) : Load{0, 0};
#pragma unroll 8
        for (u32 i = 0; i < left; i++) {
            const u32 place = __shfl_sync(all_lanes, mine.place, static_cast<int>(i));
            const u32 slot = __shfl_sync(all_lanes, mine.slot, static_cast<int>(i));
            own[slot * lanes_a_warp] = load_constant(group.row(place));
        }
    }
    const bool some_start_here = group.some_start_in(tile.first, tile.last);
    sweep_over_tile(sweep, tile, arcs, own, [&](u32 slot, Held<Lane>& found) {
        if (some_start_here) group.lower_to_climb(found, load_constant(&sweep.ranks[tile.ranks + slot]));
        keep(slot, found);
    });
}

}  // namespace apsp_hierarchy
