// Rows over a hierarchy: a warp takes 64 sources, and a part of the elimination tree. The host loop, and the essay, are in
// `src/cuda/apsp/hierarchy/mod.rs`.
//
// Source: Delling, Goldberg, Nowatzyk and Werneck 2013, "PHAST"; Dibbelt, Strasser and Wagner 2016, "Customizable
// contraction hierarchies"; Sao, Kannan, Gera and Vuduc 2020, "A supernodal all-pairs shortest path algorithm".
//
// registers: 112
// no-sass: STL
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

/// A block walks up from a source, until its way is also that of its neighbours. The distances of all ancestors, by depth, are in
/// shared memory, or where the tree is too high for that, in their places from the start. While a vertex is worked on, the arcs of
/// its parent are on their way.
template <class Lane, bool in_shared>
__device__ __forceinline__ void walk_alone(const Climb<Lane>& up) {
    using Distance = typename Lane::Distance;
    using Step = Arc<Distance>;
    DYNAMIC_SHARED(memory);
    const u32 index = blockIdx.x;
    const auto distance = [&](u32 depth) -> Distance& {
        if constexpr (in_shared) return reinterpret_cast<Distance*>(memory)[depth];
        else return up.above[depth * up.stride + index];
    };
    const u32 rank = load_constant(&up.sources[index]);
    const u32 meeting = load_constant(&up.meetings[index / climbing_together]).rank;
    const u32 own_depth = load_constant(&up.positions[rank]).depth;
    for (u32 depth = threadIdx.x; depth <= own_depth; depth += blockDim.x) {
        distance(depth) = depth == own_depth ? 0 : Lane::infinity;
    }
    const auto lower = [&](Distance here, const Step& step) {
        // The heads of a vertex are at different depths.
        const Distance through = Lane::sum(here, step.weight);
        Distance& there = distance(step.head);
        if (through < there) there = through;
    };
    if (rank < meeting) {
        Node node = load_constant(&up.nodes[rank]);
        u32 end = load_constant(&up.nodes[rank + 1]).arcs;
        Step first{};
        if (node.arcs + threadIdx.x < end) first = load_constant(&up.arcs[node.arcs + threadIdx.x]);
        for (u32 depth = own_depth;; depth--) {
            const Node now = node;
            const u32 end_now = end;
            const Step first_now = first;
            // Having no parent counts as the greatest rank.
            const bool is_last = now.parent >= meeting;
            if (!is_last) {
                node = load_constant(&up.nodes[now.parent]);
                end = load_constant(&up.nodes[now.parent + 1]).arcs;
                if (node.arcs + threadIdx.x < end) first = load_constant(&up.arcs[node.arcs + threadIdx.x]);
            }
            __syncthreads();
            const Distance here = distance(depth);
            u32 arc = now.arcs + threadIdx.x;
            if (here < Lane::infinity && arc < end_now) {
                lower(here, first_now);
                for (arc += blockDim.x; arc < end_now; arc += blockDim.x) lower(here, load_constant(&up.arcs[arc]));
            }
            if (is_last) break;
        }
    }
    if constexpr (in_shared) {
        __syncthreads();
        for (u32 depth = threadIdx.x; depth <= own_depth; depth += blockDim.x) {
            store(&up.above[depth * up.stride + index], distance(depth));
        }
    }
}

template <class Lane>
__device__ __forceinline__ void climb_alone(const Climb<Lane>& up) {
    if (up.in_shared) {
        walk_alone<Lane, true>(up);
    } else {
        walk_alone<Lane, false>(up);
    }
}

/// A block takes sources whose ways up have met, one a lane, and goes up front after front. Its warps share the vertices of
/// the boundary, eight at a time. In shared memory are the distances of the front.
template <class Lane>
__device__ __forceinline__ void climb_together(const Climb<Lane>& up) {
    using Distance = typename Lane::Distance;
    static_assert(climbing_together == lanes_a_warp, "a lane has a source");
    __shared__ Distance here[most_columns][lanes_a_warp];
    __shared__ Lengths<Lane, columns> staged[climbing_warps][most_columns];
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const u32 index = blockIdx.x * climbing_together + lane;
    const bool is_source = index < up.count;
    const Meeting meeting = load_constant(&up.meetings[blockIdx.x]);
    const auto above = [&](u32 depth) { return &up.above[depth * up.stride + index]; };
    // The sources come to a front at some vertex of it. Those that were on it before have passed what is below.
    u32 next = meeting.front, from_rank = meeting.rank;
    while (next != no_parent) {
        const Front front = load_record(&up.fronts[next]);
        for (u32 column = warp; column < front.columns; column += warps) {
            const bool is_above = is_source && front.first + column >= from_rank;
            here[column][lane] = is_above ? load(above(front.depth - column)) : Lane::infinity;
        }
        __syncthreads();
        for (u32 eighth = warp; eighth * columns < front.targets; eighth += warps) {
            const u32 first = eighth * columns, count = min(front.targets - first, columns);
            // Columns come after the boundary. Those below where the sources came are above none, or done.
            const u32 below = front.targets - front.columns, passed = below + max(from_rank, front.first) - front.first;
            const auto is_target = [&](u32 k) {
                return is_source && k < count && (first + k < below || first + k >= passed);
            };
            u32 depths[columns];
            Distance found[columns];
#pragma unroll
            for (u32 k = 0; k < columns; k++) {
                depths[k] = k < count ? load_constant(&up.depths[front.depths + first + k]) : 0;
                found[k] = is_target(k) ? load(above(depths[k])) : Lane::infinity;
            }
            const u64 row = static_cast<u64>(front.lengths) + eighth * front.columns;
            stage(staged[warp][0].of, &up.lengths[row * columns], front.columns * columns);
            __syncwarp();
#pragma unroll 4
            for (u32 column = 0; column < front.columns; column++) {
                const Lengths<Lane, columns> to = staged[warp][column];
                const Distance from = here[column][lane];
#pragma unroll
                for (u32 k = 0; k < columns; k++) found[k] = min(found[k], Lane::sum(from, to.of[k]));
            }
            __syncwarp();
#pragma unroll
            for (u32 k = 0; k < columns; k++) {
                if (is_target(k)) store(above(depths[k]), found[k]);
            }
        }
        next = front.parent_front;
        from_rank = front.parent;
        __syncthreads();
    }
}

/// The sources of a warp, and the distances from them: written by place, or, with `sums`, also counted and added up.
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

/// A block takes `width` vertices of a front and the sources of a warp. Its warps share the boundary; in shared memory are, for
/// each warp, lengths, and then the distances that it has found.
template <class Lane, bool sums, u32 width>
__device__ __forceinline__ void take_columns(const Sweep<Lane>& sweep, const Part& part, Group<Lane, sums>& group) {
    using Distance = typename Lane::Distance;
    /// Distances that are on their way at once.
    constexpr u32 ahead = 32 / sizeof(Held<Lane>);
    DYNAMIC_SHARED(memory);
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    const Distance* const lengths = &sweep.lengths[static_cast<u64>(part.lengths) * narrow_columns];
    Distance* const staged = reinterpret_cast<Distance*>(memory) + warp * width * sources;
    Held<Lane> best[width];
#pragma unroll
    for (u32 column = 0; column < width; column++) best[column] = Held<Lane>::none();
    const u32 top = part.first + part.columns - 1;
    if (group.some_start_in(load_constant(&sweep.positions[top]).first, top)) {
        for (u32 k = warp; k < part.columns; k += warps) {
            Held<Lane> from = Held<Lane>::none();
            group.lower_to_climb(from, part.first + k);
            const Distance* const to = lengths + static_cast<u64>(part.boundary_count + k) * width;
#pragma unroll
            for (u32 column = 0; column < width; column++) best[column].lower(from, load_constant(&to[column]));
        }
    }
    for (u32 first = warp * lanes_a_warp; first < part.boundary_count; first += warps * lanes_a_warp) {
        // A lane reads a vertex of the boundary. Earlier launches have written the distances.
        const u32 left = min(part.boundary_count - first, lanes_a_warp);
        const u32 vertex = lane < left ? load_constant(&sweep.boundaries[part.boundary + first + lane]) : 0;
        stage(staged, lengths + static_cast<u64>(first) * width, left * width);
        __syncwarp();
        for (u32 begin = 0; begin < left; begin += ahead) {
            Held<Lane> from[ahead];
#pragma unroll
            for (u32 k = 0; k < ahead; k++) {
                const u32 of_lane = __shfl_sync(all_lanes, vertex, static_cast<int>(begin + k));
                from[k] = begin + k < left ? load_constant(group.row(of_lane)) : Held<Lane>::none();
            }
#pragma unroll
            for (u32 k = 0; k < ahead; k++) {
                // From those that are too many there is no way.
                const Lengths<Lane, width> to = reinterpret_cast<const Lengths<Lane, width>*>(staged)[min(begin + k, left - 1)];
#pragma unroll
                for (u32 column = 0; column < width; column++) best[column].lower(from[k], to.of[column]);
            }
        }
        __syncwarp();
    }
    if (warps == 1) {
#pragma unroll
        for (u32 column = 0; column < width; column++) {
            if (column < part.count) group.keep(part.place + column, best[column]);
        }
        group.report();
        return;
    }
    const auto found_by = [&](u32 warp, u32 column) {
        return reinterpret_cast<Held<Lane>*>(memory) + (warp * width + column) * lanes_a_warp + lane;
    };
#pragma unroll
    for (u32 column = 0; column < width; column++) *found_by(warp, column) = best[column];
    __syncthreads();
    for (u32 column = warp; column < part.count; column += warps) {
        Held<Lane> least = *found_by(0, column);
        for (u32 other = 1; other < warps; other++) least.lower(*found_by(other, column));
        group.keep(part.place + column, least);
    }
    group.report();
}

/// A block takes a part of a front.
template <class Lane, bool sums>
__device__ __forceinline__ void take_front(const Sweep<Lane>& sweep) {
    Group<Lane, sums> group(sweep, blockIdx.x % sweep.groups);
    const Part part = load_record(&sweep.parts[sweep.level + blockIdx.x / sweep.groups]);
    if (part.count <= narrow_columns) {
        take_columns<Lane, sums, narrow_columns>(sweep, part, group);
    } else {
        take_columns<Lane, sums, columns>(sweep, part, group);
    }
}

/// Arcs that are read at once.
template <class Distance>
struct alignas(4 * sizeof(Distance)) TwoArcs {
    Arc<Distance> arcs[2];
};

/// A block takes a tile, each of its warps the sources of one. In shared memory are the arcs, and for each warp a slot for the
/// distances of each vertex.
template <class Lane, bool sums>
__device__ __forceinline__ void take_tile(const Sweep<Lane>& sweep) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    Arc<Distance>* const arcs = reinterpret_cast<Arc<Distance>*>(memory);
    const u32 warp = warp_index(), warps = warps_of_block(), lane = lane_index();
    Held<Lane>* const own = reinterpret_cast<Held<Lane>*>(arcs + sweep.most_arcs) +
                            static_cast<u64>(warp) * sweep.most_slots * lanes_a_warp + lane;
    const Tile tile = load_record(&sweep.tiles[blockIdx.x % sweep.tile_count]);
    const u32 group_index = blockIdx.x / sweep.tile_count * warps + warp;
    const u32 arc_count = tile.batch_count * batch;
    for (u32 i = threadIdx.x; i < arc_count; i += blockDim.x) {
        arcs[i] = load_constant(&sweep.arcs[static_cast<u64>(tile.batches) * batch + i]);
    }
    __syncthreads();
    if (group_index >= sweep.groups) return;

    Group<Lane, sums> group(sweep, group_index);
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
    // What arcs lead from that are there only to fill a batch.
    own[(sweep.most_slots - 1) * lanes_a_warp] = Held<Lane>::none();

    const bool some_start_here = group.some_start_in(tile.first, tile.last);
    Held<Lane> best = Held<Lane>::none();
    for (u32 first = 0; first < arc_count; first += batch) {
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
            if (some_start_here) group.lower_to_climb(best, load_constant(&sweep.ranks[tile.ranks + slot]));
            own[slot * lanes_a_warp] = best;
            // Nobody reads them but who makes rows.
            if constexpr (sums) group.note(best);
            else group.keep(tile.place + slot, best);
            best = Held<Lane>::none();
        }
    }
    group.report();
}

template <class Lane>
__device__ __forceinline__ void front(const Sweep<Lane>& sweep) { take_front<Lane, false>(sweep); }
template <class Lane>
__device__ __forceinline__ void front_sums(const Sweep<Lane>& sweep) { take_front<Lane, true>(sweep); }
template <class Lane>
__device__ __forceinline__ void tile(const Sweep<Lane>& sweep) { take_tile<Lane, false>(sweep); }
template <class Lane>
__device__ __forceinline__ void tile_sums(const Sweep<Lane>& sweep) { take_tile<Lane, true>(sweep); }

/// A thread adds up what was counted from a source.
template <class Lane>
__device__ __forceinline__ void add_up(const Sums<Lane>& sums) {
    const u32 index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= sums.count) return;
    Facts facts{};
    for (u32 k = 0; k < counters_a_source; k++) {
        const u64* const counters = &sums.counters[static_cast<u64>(k) * counted * sums.stride + index];
        facts.reached += load_constant(&counters[0]);
        facts.greatest = max(facts.greatest, load_constant(&counters[sums.stride]));
        facts.low += load_constant(&counters[2 * sums.stride]);
        facts.high += load_constant(&counters[3 * sums.stride]);
    }
    sums.facts[load_constant(&sums.row_of[index])] = facts;
}

/// A block makes a part of 64 rows, 64 columns at a time.
template <class Lane>
__device__ __forceinline__ void transpose(const Transposition<Lane>& rows) {
    using Distance = typename Lane::Distance;
    constexpr u32 side = transposed, warps = transposing / lanes_a_warp, each = side / warps, halves = side / lanes_a_warp;
    __shared__ Distance distances[side][side + 1];
    const u32 parts = (rows.count + side - 1) / side;
    const u32 first_source = blockIdx.x % parts * side, lane = lane_index(), warp = warp_index();
    const u64 begin = static_cast<u64>(blockIdx.x / parts) * rows.columns_a_block;
    const u32 begin_after = static_cast<u32>(min(begin + rows.columns_a_block, static_cast<u64>(rows.columns)));
    for (u32 first = static_cast<u32>(begin); first < begin_after; first += side) {
        // All loads of a thread are on their way at once.
        Distance read[each][halves];
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            const u32 column = first + warp + k * warps;
#pragma unroll
            for (u32 half = 0; half < halves; half++) read[k][half] = Lane::infinity;
            if (column < begin_after) {
                const u32 place = load_constant(&rows.places[column]);
                const Distance* const from = &rows.by_place[place * rows.stride + first_source + lane];
#pragma unroll
                for (u32 half = 0; half < halves; half++) {
                    if (first_source + half * lanes_a_warp + lane < rows.count) read[k][half] = load_once(from + half * lanes_a_warp);
                }
            }
        }
#pragma unroll
        for (u32 k = 0; k < each; k++) {
#pragma unroll
            for (u32 half = 0; half < halves; half++) {
                const bool is_reached = read[k][half] < Lane::infinity;
                distances[warp + k * warps][half * lanes_a_warp + lane] = is_reached ? read[k][half] : Lane::unreachable;
            }
        }
        __syncthreads();
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            const u32 source = first_source + warp + k * warps;
            if (source >= rows.count) continue;
            Distance* const row = &rows.rows[load_constant(&rows.row_of[source]) * rows.row_stride];
#pragma unroll
            for (u32 half = 0; half < halves; half++) {
                const u32 column = half * lanes_a_warp + lane;
                if (first + column < begin_after) store_once(&row[first + column], distances[column][warp + k * warps]);
            }
        }
        __syncthreads();
    }
}

#define WARPATH_HIERARCHY(kind, lane, Lane)                                                            \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##climb_alone, climb_alone, Climb, lane, Lane)         \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##climb_together, climb_together, Climb, lane, Lane)   \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##front, front, Sweep, lane, Lane)                     \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##front_sums, front_sums, Sweep, lane, Lane)           \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##tile, tile, Sweep, lane, Lane)                       \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##tile_sums, tile_sums, Sweep, lane, Lane)             \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##add_up, add_up, Sums, lane, Lane)                    \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_##kind##transpose, transpose, Transposition, lane, Lane)

WARPATH_HIERARCHY(, u32_u32, Half<LaneNarrow>)
WARPATH_HIERARCHY(full_, u32_u32, Full<LaneNarrow>)
WARPATH_HIERARCHY(, u32_u64, Half<LaneWide>)

}  // namespace apsp_hierarchy
