// Rounds of a search for shortest paths whose frontiers are bits, one a vertex: `sssp/zero_copy.cu` and `sssp/partitioned.cu` have the
// loops over rounds. `src/cuda/sssp/zero_copy.rs` has the essay.
//
// A device may have only some of the vertices, those that `Mine` names, with the arcs from them.
#pragma once

#include "../frontier.cuh"
#include "../ordered.cuh"
#include "counts.cuh"
#include "lanes.cuh"
#include "../generated/sssp/zero_copy.cuh"

namespace zero_copy {

using ordered::All;
using ordered::Bits;
using ordered::Some;

/// No distance at all.
constexpr u64 nothing = ~0ull;
/// A round with a wide window has too many arcs if it has this many times the arcs that fill the device.
constexpr u32 too_many = 16;

/// Sums over the warps of a block, before one thread tells the grid.
struct Sums {
    u64 improvements;  // if they are counted
    u32 items;
    u32 entered;
    u64 arcs;
    u64 least;
};

/// The state of the search. Every block keeps its own in shared memory, and decides the same from the same numbers, in
/// one thread.
template <class Distance>
struct State {
    double delta;
    Distance settled;    // nearer vertices have their final distance
    Distance window;     // the least distance that was far when the threshold was set
    Distance threshold;
    u64 least;           // no far vertex is nearer
    u64 arcs;            // since the threshold was set: arcs that were relaxed,
    u64 items;           // how many vertices were marked,
    u64 entered;         // how many of them were not below the threshold before,
    u32 rounds;          // and in how many rounds
    u32 round;
    u32 frontier;        // how many vertices were marked for this round
    u64 marked;          // in all rounds
    u64 relaxations;     // in all rounds
    u32 thresholds;
    bool splits;         // whether this round splits the far vertices
    bool goes_on;
};

/// What happened in a round.
struct News {
    u64 items;
    u64 entered;
    u64 arcs;
    u64 least;
    bool cancelled;
};

/// What a warp notes for the next round.
template <class Lane, class Offset, class Mine>
struct Marker {
    using Distance = typename Lane::Distance;
    const KernelArgument<Lane, Offset>& search;
    const Mine mine;
    const Bits near;  // of the next round
    const Bits far;
    Sums& sums;
    u32 items = 0;
    u32 entered = 0;
    u32 arcs = 0;
    u32 improvements = 0;
    Distance least = ~static_cast<Distance>(0);

    /// Marks a vertex for the next round.
    __device__ __forceinline__ void mark(u32 vertex, bool is_new) {
        if (!near.insert(vertex)) return;
        items++;
        entered += is_new;
    }

    /// A vertex fell from the distance `old` to `distance`.
    __device__ __forceinline__ void fell(u32 vertex, Distance old, Distance distance, Distance threshold) {
        improvements++;
        // Whoever has the vertex looks at the bit, and at the distance.
        if (distance < threshold || !mine.has(vertex)) {
            mark(vertex, old >= threshold);
        } else {
            put_off(vertex, distance);
        }
    }

    /// Notes that a vertex is beyond the threshold.
    __device__ __forceinline__ void put_off(u32 vertex, Distance distance) {
        far.insert(vertex);
        least = min(least, distance);
    }

    /// Adds up what all warps have noted.
    __device__ void finish(Turn* turn) {
        const u32 all_items = warp_sum(items), all_entered = warp_sum(entered), all_improvements = warp_sum(improvements);
        const u64 all_arcs = warp_sum(static_cast<u64>(arcs));
        const Distance all_least = warp_min(least);
        if (lane_index() == 0) {
            if (all_items > 0) {
                atomicAdd(&sums.items, all_items);
                atomicAdd(&sums.entered, all_entered);
            }
            if (all_arcs > 0) atomicAdd(&sums.arcs, all_arcs);
            if (all_improvements > 0) atomicAdd(&sums.improvements, static_cast<u64>(all_improvements));
            if (all_least != ~static_cast<Distance>(0)) atomicMin(&sums.least, static_cast<u64>(all_least));
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            if (sums.items > 0) {
                atomicAdd(&turn->items, sums.items);
                atomicAdd(&turn->entered, sums.entered);
            }
            if (sums.arcs > 0) atomicAdd(&turn->arcs, sums.arcs);
            if (sums.least != nothing) atomicMin(&turn->least, sums.least);
            if (search.statistics != nullptr) atomicAdd(&search.statistics->improvements, sums.improvements);
            sums = Sums{0, 0, 0, 0, nothing};
        }
    }
};

/// Relaxes `count` arcs a lane at once: those whose length is not `unreachable`.
template <class Lane, class Offset, class Mine, u32 count>
__device__ __forceinline__ void relax(const KernelArgument<Lane, Offset>& search, Marker<Lane, Offset, Mine>& next,
                                      typename Lane::Distance threshold, const u32 (&head)[count],
                                      const typename Lane::Distance (&through)[count]) {
    using Distance = typename Lane::Distance;
    Distance old[count];
#pragma unroll
    for (u32 k = 0; k < count; k++) {
        old[k] = through[k] != Lane::unreachable ? load(&search.distances[head[k]]) : 0;
    }
#pragma unroll
    for (u32 k = 0; k < count; k++) {
        // Most arcs lead to heads that are known to be as near.
        if (through[k] < old[k]) {
            old[k] = atomicMin(&search.distances[head[k]], through[k]);
            if (through[k] < old[k]) next.fell(head[k], old[k], through[k], threshold);
        }
    }
}

/// Relaxes the arcs of the vertices of a window whose bit is set. The device may keep short rows apart if `has_short_rows`.
template <bool has_short_rows, class Lane, class Offset, class Mine>
__device__ void expand(const KernelArgument<Lane, Offset>& search, Marker<Lane, Offset, Mine>& next, const Bits& bits, uint2 begin_of_window,
                       uint2 end_of_window, typename Lane::Distance threshold) {
    using Distance = typename Lane::Distance;
    using ArcOfLane = Arc<typename Lane::Weight>;
    const u32 lane = lane_index(), most_short = has_short_rows ? search.most_short : 0;

    constexpr u32 at_once = sizeof(Distance) == 4 ? 4 : 2;
    const auto relax_piece = [&](u32 tail, Offset begin, Offset end) {
        const Distance distance = load(&search.distances[tail]);
        // The threshold was lowered: whoever has the bit of the vertex puts it back.
        if (distance >= threshold) return;
        for (Offset first = begin; first < end; first += at_once * lanes_a_warp) {
            // Lanes beyond the end look at the last arc, or the loads would wait for each other behind branches.
            ArcOfLane arc[at_once];
            u32 head[at_once];
            Distance through[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                arc[k] = load_constant(&search.arcs[min(first + k * lanes_a_warp + lane, end - 1)]);
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const bool has = first + k * lanes_a_warp + lane < end;
                const Distance length = length_through<Lane>(distance, arc[k].weight, search.limit, search.out_of_range);
                head[k] = arc[k].head;
                through[k] = has ? length : Lane::unreachable;
                next.arcs += has;
            }
            relax(search, next, threshold, head, through);
        }
    };
    ordered::for_long_rows(bits, search.pieces, begin_of_window.y, end_of_window.y, search.offsets, relax_piece);

    constexpr u32 packed_at_once = 2;
    ordered::for_vertices(bits, begin_of_window.x, end_of_window.x, [&](bool has_row, u32 tail) {
        Offset begin = 0;
        u32 degree = 0;
        Distance distance = 0;
        if (has_row) {
            distance = load(&search.distances[tail]);
            begin = load_constant(&search.offsets[tail]);
            const Offset end = load_constant(&search.offsets[tail + 1]);
            if (distance >= threshold) {
                next.put_off(tail, distance);
            } else if (end - begin <= ordered::piece) {
                degree = static_cast<u32>(end - begin);
            }
        }
        // Rows that a device keeps come first, and then all others.
        const bool is_short = degree <= most_short;
        if (is_short && degree > 0) begin = load_constant(&search.short_begins[tail]);
#pragma unroll 1
        for (u32 turn = most_short > 0 ? 0 : 1; turn < 2; turn++) {
            const ArcOfLane* const arcs = turn == 0 ? search.short_arcs : search.arcs;
            const PackedRows<Offset> rows(begin, is_short == (turn == 0) ? degree : 0);
            for (u32 base = 0; base < rows.total; base += packed_at_once * lanes_a_warp) {
                ArcOfLane arc[packed_at_once];
                u32 head[packed_at_once];
                Distance from[packed_at_once], through[packed_at_once];
#pragma unroll
                for (u32 k = 0; k < packed_at_once; k++) {
                    const u32 place = min(base + k * lanes_a_warp + lane, rows.total - 1), row = rows.lane_of(place);
                    from[k] = __shfl_sync(all_lanes, distance, static_cast<int>(row));
                    arc[k] = load_constant(&arcs[rows.arc_at(place, row)]);
                }
#pragma unroll
                for (u32 k = 0; k < packed_at_once; k++) {
                    const bool has = base + k * lanes_a_warp + lane < rows.total;
                    const Distance length = length_through<Lane>(from[k], arc[k].weight, search.limit, search.out_of_range);
                    head[k] = arc[k].head;
                    through[k] = has ? length : Lane::unreachable;
                    next.arcs += has;
                }
                relax(search, next, threshold, head, through);
            }
        }
    });
}

/// Marks the far vertices that are below the new threshold, and forgets those that were settled meanwhile.
template <class Lane, class Offset, class Mine>
__device__ void split(const KernelArgument<Lane, Offset>& search, Marker<Lane, Offset, Mine>& next, typename Lane::Distance settled, typename Lane::Distance threshold) {
    using Distance = typename Lane::Distance;
    const Bits& far = next.far;
    ordered::for_groups(far, next.mine.first_group(), next.mine.end_group(), [&](uint4 words, u32 mine) {
        ordered::for_bits(words, mine, [&](bool has, u32 vertex) {
            if (!has) return;
            const Distance distance = load(&search.distances[vertex]);
            if (distance >= threshold) {
                next.least = min(next.least, distance);
                return;
            }
            atomicAnd(&far.words[vertex / 32], ~(1u << vertex % 32));
            if (distance >= settled) next.mark(vertex, true);
        });
        __syncwarp();
        // Nobody else changes these groups now: those that are empty are not looked at again.
        if ((words.x | words.y | words.z | words.w) != 0) {
            const uint4 left = load(far.of_group(mine));
            if ((left.x | left.y | left.z | left.w) == 0) atomicAnd(&far.groups()[mine / 32], ~(1u << mine % 32));
        }
    });
}

/// The state before the first round, for one thread of a block.
template <class Lane, class Offset>
__device__ State<typename Lane::Distance> first_state(const KernelArgument<Lane, Offset>& search) {
    State<typename Lane::Distance> state{};
    state.delta = search.delta;
    state.threshold = Lane::further(0, search.delta);
    state.least = nothing;
    state.thresholds = 1;
    state.goes_on = true;
    return state;
}

/// What a device noted in a round.
__device__ __forceinline__ News news_of(const Turn* turn) {
    return {load(&turn->items), load(&turn->entered), load(&turn->arcs), load(&turn->least), load(&turn->cancelled) != 0};
}

/// Decides about the next round, from the news of the last one.
template <class Lane, class Offset>
__device__ void decide(const KernelArgument<Lane, Offset>& search, State<typename Lane::Distance>& state, const News& news) {
    state.round++;
    const u32 items = static_cast<u32>(news.items);
    state.least = min(state.least, news.least);
    state.arcs += news.arcs;
    state.relaxations += news.arcs;
    state.items += items;
    state.frontier = items;
    state.marked += items;
    state.entered += news.entered;
    state.rounds++;
    const u64 batch = search.batch;
    state.splits = false;
    if (news.cancelled) {
        state.goes_on = false;
        return;
    }
    if (items > 0) {
        if (search.statistics != nullptr && blockIdx.x == 0) count_frontier(*search.statistics, items);
        const bool is_bulk = static_cast<double>(items) * search.degree > static_cast<double>(batch * too_many);
        if (batch > 0 && is_bulk && state.delta > 2 * search.delta) {
            // The window was widened while there was little to do.
            state.delta = search.delta;
            state.threshold = min(state.threshold, Lane::further(state.window, state.delta));
        }
        return;
    }
    // All below the threshold is settled.
    state.settled = state.threshold;
    if (state.least == nothing) {
        state.goes_on = false;
        return;
    }
    if (batch > 0) {
        if (state.arcs > state.rounds * batch * too_many || state.items > 4 * state.entered + 32) {
            state.delta = max(state.delta / 2, search.delta / 16);
        } else if (state.arcs < state.rounds * batch && state.items <= 2 * state.entered + 32) {
            state.delta *= 2;
        }
    }
    state.window = static_cast<typename Lane::Distance>(state.least);
    state.threshold = Lane::further(state.window, state.delta);
    state.thresholds++;
    state.splits = true;
    state.arcs = state.items = state.entered = 0;
    state.rounds = 0;
    state.least = nothing;
}

/// Stores what the search took.
template <class Lane, class Offset>
__device__ void report(const KernelArgument<Lane, Offset>& search, const State<typename Lane::Distance>& state) {
    store(&search.report[0], static_cast<u64>(state.round));
    store(&search.report[1], static_cast<u64>(state.thresholds));
    store(&search.report[2], state.marked);
    store(&search.report[3], state.relaxations);
}

}  // namespace zero_copy
