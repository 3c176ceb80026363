// Sums over tiles of a hierarchy in 16 bits: a distance is an offset from the least that the tile can have from the source. Two fit
// a word that one instruction adds to and compares, and shared memory holds twice as many. Which tiles can, and why nothing wraps,
// is in `src/cuda/apsp/hierarchy/offsets.rs`.
//
// registers: 96
// sass sm_90: VIADDMNMX
// no-sass: STL
#include "hierarchy.cuh"

namespace apsp_hierarchy_offsets {

using namespace apsp_hierarchy;

/// Sources of a thread, and the words of their offsets.
constexpr u32 a_thread = offset_sources / lanes_a_warp, words = a_thread / 2;
/// More than every offset that counts; a sum of two fits 16 bits.
constexpr u32 most = 0x7fff;

/// The offsets from the sources of a thread.
struct alignas(words * sizeof(u32)) Offsets {
    u32 of[words];

    static __device__ __forceinline__ Offsets all(u32 offset) {
        Offsets offsets;
#pragma unroll
        for (u32 k = 0; k < words; k++) offsets.of[k] = offset * 0x1'0001u;
        return offsets;
    }

    /// By the way over a vertex with the offsets `from`.
    __device__ __forceinline__ void lower(const Offsets& from, u32 length_twice) {
#pragma unroll
        for (u32 k = 0; k < words; k++) of[k] = __viaddmin_u16x2(from.of[k], length_twice, of[k]);
    }

    /// That from one of the sources.
    __device__ __forceinline__ u32 get(u32 source) const {
        return source % 2 == 0 ? of[source / 2] & 0xffff : of[source / 2] >> 16;
    }

    /// Puts in that from one of the sources, which come one after another.
    __device__ __forceinline__ void put(u32 source, u32 offset) {
        if (source % 2 == 0) of[source / 2] = offset;
        else of[source / 2] |= offset << 16;
    }
};

/// The distances from the sources of a thread.
template <class Distance>
struct alignas(16) Distances {
    Distance of[a_thread];
};

template <class Distance>
__device__ __forceinline__ Distances<Distance> load_distances(const Distance* from) {
    constexpr u32 parts = sizeof(Distances<Distance>) / sizeof(uint4);
    uint4 words[parts];
#pragma unroll
    for (u32 k = 0; k < parts; k++) words[k] = load_constant(reinterpret_cast<const uint4*>(from) + k);
    Distances<Distance> distances;
    memcpy(&distances, words, sizeof distances);
    return distances;
}

/// The sources of a warp, four a thread.
template <class Lane>
struct Sources {
    const Sweep<Lane>& sweep;
    const u32 group;
    const u64 place;  // of this thread's
    /// The ranks between which those of the warp are.
    u32 lowest, highest;

    __device__ __forceinline__ Sources(const Sweep<Lane>& sweep, u32 group)
        : sweep(sweep), group(group), place(static_cast<u64>(group) * offset_sources + a_thread * lane_index()) {
        // They ascend.
        const u32* const ranks = &sweep.sources[static_cast<u64>(group) * offset_sources];
        lowest = load_constant(&ranks[0]);
        highest = load_constant(&ranks[offset_sources - 1]);
    }

    /// Whether some of the warp may be in this tile; a bit for each of this thread's that is.
    __device__ __forceinline__ bool may_be_in(const Tile& tile) const { return lowest <= tile.last && tile.first <= highest; }
    __device__ __forceinline__ u32 in(const Tile& tile) const {
        const Distances<u32> ranks = load_distances(&sweep.sources[place]);
        u32 bits = 0;
#pragma unroll
        for (u32 k = 0; k < a_thread; k++) bits |= (tile.first <= ranks.of[k] && ranks.of[k] <= tile.last) << k;
        return bits;
    }

    /// Lowers offsets of a rank to what the climbs have found from those in its tile, whose bases are 0.
    __device__ __forceinline__ void lower_to_climb(Offsets& found, u32 rank) const {
        const Position position = load_constant(&sweep.positions[rank]);
        const typename Lane::Distance* const above = &sweep.above[position.depth * sweep.stride + place];
        const Distances<u32> ranks = load_distances(&sweep.sources[place]);
        Offsets climbed;
#pragma unroll
        for (u32 k = 0; k < a_thread; k++) {
            const bool is_below = position.first <= ranks.of[k] && ranks.of[k] <= rank;
            const u64 distance = is_below ? load_constant(&above[k]) : most;
            climbed.put(k, distance < most ? static_cast<u32>(distance) : most);
        }
        found.lower(climbed, 0);
    }
};

/// What is counted of the distances from the sources of a thread.
template <class Lane>
struct Counted {
    using Distance = typename Lane::Distance;
    static constexpr bool is_wide = sizeof(Distance) == sizeof(u64);
    u32 reached[a_thread] = {};
    Distance greatest[a_thread] = {};
    u64 low[a_thread] = {}, high[a_thread] = {};

    /// Adds the sums of the offsets of so many vertices, and the greatest.
    __device__ __forceinline__ void add(
        const Distances<Distance>& bases, u32 vertices, const u32 (&totals)[a_thread], const Offsets& greatest_offsets) {
#pragma unroll
        for (u32 k = 0; k < a_thread; k++) {
            const Distance base = bases.of[k];
            if (base >= Lane::infinity) continue;
            reached[k] += vertices;
            greatest[k] = max(greatest[k], base + greatest_offsets.get(k));
            low[k] += totals[k] + static_cast<u64>(static_cast<u32>(base)) * vertices;
            if (is_wide) high[k] += (static_cast<u64>(base) >> 32) * vertices;
        }
    }

    /// Blocks add to several counters, by turns, so that they seldom wait for each other.
    __device__ __forceinline__ void report(const Sources<Lane>& sources) const {
        const Sweep<Lane>& sweep = sources.sweep;
        u64* const counters =
            &sweep.counters[static_cast<u64>(blockIdx.x % counters_a_source) * counted * sweep.stride + sources.place];
#pragma unroll
        for (u32 k = 0; k < a_thread; k++) {
            if (reached[k] == 0) continue;
            atomicAdd(&counters[k], static_cast<u64>(reached[k]));
            atomicMax(&counters[sweep.stride + k], static_cast<u64>(greatest[k]));
            atomicAdd(&counters[2 * sweep.stride + k], low[k]);
            if (is_wide) atomicAdd(&counters[3 * sweep.stride + k], high[k]);
        }
    }
};

/// Four arcs: in the lowest byte the slot of the tail, then whether it is the last one of a vertex, in the upper half the length.
struct alignas(16) FourArcs {
    u32 of[batch];
};

/// The bases of the sources of a warp for a tile. Stores the offsets of its boundary in their slots, `own`. Whether they fit. `ahead`
/// distances are on their way at once.
template <u32 ahead, class Lane>
__device__ __forceinline__ bool choose_bases(
    const Sources<Lane>& sources, const Tile& tile, u32 span, u32 starts_here, Offsets* own,
    Distances<typename Lane::Distance>& bases) {
    using Distance = typename Lane::Distance;
    const Sweep<Lane>& sweep = sources.sweep;
    const u32 lane = lane_index();
    bool are_too_far = false;
    for (u32 first = 0; first < tile.load_count; first += lanes_a_warp) {
        // A lane reads a vertex; the warp reads the distances of several vertices at a time. Their slots follow each other.
        const u32 left = min(tile.load_count - first, lanes_a_warp);
        const Load mine = lane < left ? load_constant(&sweep.loads[tile.loads + first + lane]) : Load{0, 0};
        Offsets* const slots = own + __shfl_sync(all_lanes, mine.slot, 0) * lanes_a_warp;
#pragma unroll 1
        for (u32 begin = 0; begin < left; begin += ahead) {
            Distances<Distance> from[ahead];
#pragma unroll
            for (u32 k = 0; k < ahead; k++) {
                // The last one again, where there are no more.
                const u32 vertex = __shfl_sync(all_lanes, mine.place, static_cast<int>(min(begin + k, left - 1)));
                from[k] = load_distances(&sweep.by_place[vertex * sweep.stride + sources.place]);
            }
            if (first + begin == 0) {
                bases = from[0];
#pragma unroll
                for (u32 k = 1; k < ahead; k++) {
#pragma unroll
                    for (u32 source = 0; source < a_thread; source++) {
                        bases.of[source] = min(bases.of[source], from[k].of[source]);
                    }
                }
                // Those that come may be a little less.
                const Distance margin = tile.load_count > ahead ? span / 4 : 0;
#pragma unroll
                for (u32 source = 0; source < a_thread; source++) {
                    Distance& base = bases.of[source];
                    if (base >= Lane::infinity) continue;
                    base = (starts_here >> source & 1) || base <= margin ? 0 : base - margin;
                    // Distances that may be beyond the range of their type are for those who look closer.
                    are_too_far |= sweep.doubtful < most || base > sweep.doubtful - most;
                }
            }
#pragma unroll
            for (u32 k = 0; k < ahead; k++) {
                if (begin + k >= left) break;
                Offsets offsets;
#pragma unroll
                for (u32 source = 0; source < a_thread; source++) {
                    // A distance below the base wraps. If the base is infinite, all distances have to be.
                    const Distance offset = from[k].of[source] - bases.of[source];
                    are_too_far |= offset > span;
                    offsets.put(source, static_cast<u32>(offset) & most);
                }
                slots[(begin + k) * lanes_a_warp] = offsets;
            }
        }
    }
    // Nothing is known of how far it is from a source that the boundary is out of reach of.
#pragma unroll
    for (u32 source = 0; source < a_thread; source++) {
        are_too_far |= (starts_here >> source & 1) && bases.of[source] >= Lane::infinity;
    }
    return __ballot_sync(all_lanes, are_too_far) == 0;
}

/// A warp counts the distances to a tile. What does not fit 16 bits is left for a kernel that comes later.
template <class Lane>
__device__ __forceinline__ void take_tile(
    const Sources<Lane>& sources, u32 tile_index, const Tile& tile, const FourArcs* arcs, Offsets* own, Counted<Lane>& counted) {
    using Distance = typename Lane::Distance;
    /// As many distances as there are registers for, beside what is counted.
    constexpr u32 ahead = 16 / sizeof(Distance);
    const Sweep<Lane>& sweep = sources.sweep;
    const u32 span = load_constant(&sweep.spans[tile_index]);
    const bool some_start_here = sources.may_be_in(tile);
    Distances<Distance> bases;
    if (span == 0 || !choose_bases<ahead>(sources, tile, span, some_start_here ? sources.in(tile) : 0, own, bases)) {
        const u32 index = warp_take(sweep.left_count, 1);
        if (index < sweep.most_left && lane_index() == 0) store(&sweep.left[index], Visit{tile_index, sources.group});
        return;
    }
    // What arcs lead from that are there only to fill a batch.
    own[(sweep.most_slots - 1) * lanes_a_warp] = Offsets::all(most);
    Offsets best = Offsets::all(most), greatest = Offsets::all(0);
    u32 totals[a_thread] = {};
    u32 slot = 0;
    for (u32 four = 0; four < tile.batch_count; four++) {
        const FourArcs these = arcs[four];
        Offsets from[batch];
#pragma unroll
        for (u32 k = 0; k < batch; k++) from[k] = own[(these.of[k] & 0xff) * lanes_a_warp];
#pragma unroll
        for (u32 k = 0; k < batch; k++) {
            best.lower(from[k], __byte_perm(these.of[k], 0, 0x3232));
            if ((these.of[k] & 0x100) == 0) continue;
            if (some_start_here) sources.lower_to_climb(best, load_constant(&sweep.ranks[tile.ranks + slot]));
            own[slot * lanes_a_warp] = best;
#pragma unroll
            for (u32 word = 0; word < words; word++) greatest.of[word] = __vmaxu2(greatest.of[word], best.of[word]);
#pragma unroll
            for (u32 source = 0; source < a_thread; source++) totals[source] += best.get(source);
            best = Offsets::all(most);
            slot++;
        }
    }
    counted.add(bases, slot, totals, greatest);
}

/// A block takes some tiles, one after another, each of its warps the sources of one. In shared memory are the arcs, and for each
/// warp a slot for the offsets of each vertex.
template <class Lane>
__device__ __forceinline__ void tile_sums(const Sweep<Lane>& sweep) {
    DYNAMIC_SHARED(memory);
    FourArcs* const arcs = reinterpret_cast<FourArcs*>(memory);
    const u32 warp = warp_index(), warps = warps_of_block();
    Offsets* const own = reinterpret_cast<Offsets*>(arcs + sweep.most_arcs / batch) +
                         static_cast<u64>(warp) * sweep.most_slots * lanes_a_warp + lane_index();
    const u32 runs = (sweep.tile_count + sweep.tiles_a_block - 1) / sweep.tiles_a_block, run = blockIdx.x % runs;
    const u32 group = blockIdx.x / runs * warps + warp;
    const bool has_sources = group < sweep.groups;
    const Sources<Lane> from(sweep, has_sources ? group : 0);
    Counted<Lane> counted;
    const u32 end = min((run + 1) * sweep.tiles_a_block, sweep.tile_count);
    for (u32 index = run * sweep.tiles_a_block; index < end; index++) {
        const Tile tile = load_record(&sweep.tiles[index]);
        // Nobody works on the tile before any more.
        __syncthreads();
        for (u32 i = threadIdx.x; i < tile.batch_count; i += blockDim.x) {
            arcs[i] = load_constant(reinterpret_cast<const FourArcs*>(sweep.short_arcs) + tile.batches + i);
        }
        __syncthreads();
        if (has_sources) take_tile(from, index, tile, arcs, own, counted);
    }
    if (has_sources) counted.report(from);
}

/// A warp takes tiles that do not fit 16 bits, with the sources that they are left for, in the whole type.
template <class Lane>
__device__ __forceinline__ void left_sums(const Sweep<Lane>& sweep) {
    constexpr u32 parts = offset_sources / sources;
    DYNAMIC_SHARED(memory);
    Held<Lane>* const own = reinterpret_cast<Held<Lane>*>(memory) +
                            static_cast<u64>(warp_index()) * sweep.most_slots * lanes_a_warp + lane_index();
    const u64 count = static_cast<u64>(min(load_constant(sweep.left_count), sweep.most_left)) * parts;
    for (u64 item = warp_of_grid(); item < count; item += warps_of_grid()) {
        const Visit left = load_constant(&sweep.left[item / parts]);
        const Tile tile = load_record(&sweep.tiles[left.tile]);
        Group<Lane, true> group(sweep, left.group * parts + static_cast<u32>(item % parts));
        work_on_tile(
            sweep, tile, &sweep.arcs[static_cast<u64>(tile.batches) * batch], own, group,
            [&](u32, const Held<Lane>& found) { group.note(found); });
        group.report();
    }
}

#define WARPATH_HIERARCHY_OFFSETS(lane, Lane)                                                     \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_offsets_tile_sums, tile_sums, Sweep, lane, Lane)        \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_offsets_left_sums, left_sums, Sweep, lane, Lane)

WARPATH_HIERARCHY_OFFSETS(u32_u32, Half<LaneNarrow>)
WARPATH_HIERARCHY_OFFSETS(u32_u64, Half<LaneWide>)

}  // namespace apsp_hierarchy_offsets
