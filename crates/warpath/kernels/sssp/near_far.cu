// Shortest paths with a near queue below a threshold and all else far, in one cooperative launch. The host loop, and
// the essay, are in `src/cuda/sssp/near_far.rs`.
//
// Source: Davidson, Baxter, Garland and Owens 2014, "Work-efficient parallel GPU methods for single-source shortest
// paths", sect. 4.4.
//
// registers: 64
// no-sass: STL
#include "../frontier.cuh"
#include "counts.cuh"
#include "lanes.cuh"
#include "../generated/sssp/near_far.cuh"

namespace near_far {

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
    u64 far_size;        // how many the far list would have, if it had room
    u64 arcs;            // since the threshold was set: arcs of the queued vertices,
    u64 items;           // how many vertices were queued,
    u64 entered;         // how many of them were not below the threshold before,
    u32 rounds;          // and in how many rounds
    u32 round;
    u64 queued;          // in all rounds
    u32 short_rows;      // in the near queues
    u32 pieces;
    u32 far_before;      // how many the list has that is split
    u32 far_now;         // which of the lists takes vertices now
    u32 thresholds;
    u32 scans;
    bool far_open;       // whether all that is found far is to be listed
    bool far_whole;      // in a split: whether the list has all
    bool splits;         // whether this round splits the far vertices
    bool goes_on;
};

/// The near queues of the next round.
template <class Lane, class Offset>
struct Queues {
    const KernelArgument<Lane, Offset>& search;
    const State<typename Lane::Distance>& state;

    /// Which of the queues they are.
    __device__ u32 parity() const { return state.round % 2; }

    /// The news of this round for the next.
    __device__ Turn* turn() const { return &search.turns[state.round % 3]; }

    __device__ const Offset* offsets() const { return search.offsets; }
    __device__ u32* short_rows() const { return search.short_rows[parity()]; }
    __device__ uint2* long_rows() const { return search.long_rows[parity()]; }
    __device__ u32* short_count() const { return &turn()->short_rows; }
    __device__ u32* piece_count() const { return &turn()->pieces; }
    __device__ u32 capacity() const { return search.vertices; }
};

/// One warp's way of appending vertices to the near queues of the next round, and to the far list.
template <class Lane, class Offset>
struct Appender {
    using Distance = typename Lane::Distance;
    const KernelArgument<Lane, Offset>& search;
    const State<Distance>& state;
    bool far_open;  // whether the far list still takes vertices
    frontier::Appender<Queues<Lane, Offset>> near_rows;
    frontier::Collection far_rows;
    Sums& sums;
    u32 items = 0;
    u32 entered = 0;
    u32 arcs = 0;
    Distance least = ~static_cast<Distance>(0);

    __device__ Appender(const KernelArgument<Lane, Offset>& search, u32* shared, const State<Distance>& state, Sums& sums)
        : search(search),
          state(state),
          far_open(state.far_open),
          near_rows({search, state}, shared + warp_index() * 2 * frontier::collected),
          far_rows(shared + (warp_index() * 2 + 1) * frontier::collected),
          sums(sums) {}

    __device__ u32 parity() const { return near_rows.queues.parity(); }
    __device__ Turn* turn() const { return near_rows.queues.turn(); }

    /// Counts as many improvements as the ballot has.
    __device__ void count(u32 ballot) const {
        if (lane_index() == 0) atomicAdd(&sums.improvements, static_cast<u64>(__popc(ballot)));
    }

    /// Marks a vertex as queued for the next round; whether it was not.
    __device__ bool mark(u32 vertex) const {
        const u32 bit = 1u << vertex % 32;
        return !(atomicOr(&search.queued[parity()][vertex / 32], bit) & bit);
    }

    /// Queues the vertices of those lanes that have one, which was marked.
    __device__ void near(bool has, u32 vertex) {
        items += has;
        arcs += near_rows.append(has, vertex);
    }

    /// Lists the vertices of those lanes that have one, if the list takes any.
    __device__ void far(bool has, u32 vertex) {
        const u32 ballot = __ballot_sync(all_lanes, has && far_open);
        if (ballot == 0) return;
        if (!far_rows.has_room(ballot)) flush_far();
        far_rows.add(ballot, has && far_open, vertex);
    }

    __device__ void flush_far() {
        const u32 start = static_cast<u32>(state.far_size);
        if (!far_rows.flush(search.far[state.far_now], &turn()->far, start, search.far_capacity)) far_open = false;
    }

    /// Empties the collections, and adds up what they had.
    __device__ void finish() {
        near_rows.finish();
        if (far_rows.size > 0) flush_far();
        const u32 all_items = warp_sum(items), all_entered = warp_sum(entered);
        const u64 all_arcs = warp_sum(static_cast<u64>(arcs));
        const Distance all_least = warp_min(least);
        if (lane_index() == 0) {
            if (all_items > 0) {
                atomicAdd(&sums.items, all_items);
                atomicAdd(&sums.entered, all_entered);
                atomicAdd(&sums.arcs, all_arcs);
            }
            if (all_least != ~static_cast<Distance>(0)) atomicMin(&sums.least, static_cast<u64>(all_least));
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            if (sums.items > 0) {
                atomicAdd(&turn()->items, sums.items);
                atomicAdd(&turn()->entered, sums.entered);
                atomicAdd(&turn()->arcs, sums.arcs);
            }
            if (sums.least != nothing) atomicMin(&turn()->least, sums.least);
            if (search.statistics != nullptr) atomicAdd(&search.statistics->improvements, sums.improvements);
            sums = Sums{0, 0, 0, 0, nothing};
        }
    }
};

/// The second of these values comes to the front, and so on.
template <class T, u32 count>
__device__ __forceinline__ void advance(T (&values)[count]) {
#pragma unroll
    for (u32 k = 1; k < count; k++) values[k - 1] = values[k];
}

/// Relaxes `count` arcs a lane at once: those whose length is not `unreachable`. The code for heads whose distance fell
/// is compiled once, not once for each arc of a lane: it is most of the kernel.
template <class Lane, class Offset, u32 count>
__device__ __forceinline__ void relax(const KernelArgument<Lane, Offset>& search, Appender<Lane, Offset>& next,
                                      typename Lane::Distance threshold, u32 (&head)[count],
                                      typename Lane::Distance (&through)[count]) {
    using Distance = typename Lane::Distance;
    Distance old[count];
#pragma unroll
    for (u32 k = 0; k < count; k++) {
        old[k] = through[k] != Lane::unreachable ? load(&search.distances[head[k]]) : 0;
    }
    bool any_fell = false;
#pragma unroll
    for (u32 k = 0; k < count; k++) {
        // Most arcs lead to heads that are known to be as near.
        if (through[k] < old[k]) old[k] = atomicMin(&search.distances[head[k]], through[k]);
        any_fell = any_fell || through[k] < old[k];
    }
    if (!__any_sync(all_lanes, any_fell)) return;
#pragma unroll 1
    for (u32 k = 0; k < count; k++) {
        const bool fell = through[0] < old[0], below = through[0] < threshold;
        const u32 falls = __ballot_sync(all_lanes, fell);
        if (falls != 0) {
            if (search.statistics != nullptr) next.count(falls);
            bool near = fell && below;
            if (near) near = next.mark(head[0]);
            next.entered += near && old[0] >= threshold;
            if (fell && !below) next.least = min(next.least, through[0]);
            if (__any_sync(all_lanes, near)) next.near(near, head[0]);
            // A head that was reached before is listed, or was nearer than the threshold: then all are looked at.
            next.far(fell && !below && old[0] == Lane::unreachable, head[0]);
        }
        advance(head);
        advance(through);
        advance(old);
    }
}

/// Relaxes the arcs of all that is queued, and adds up how many arcs this thread has looked at.
template <class Lane, class Offset>
__device__ void expand(const KernelArgument<Lane, Offset>& search, Appender<Lane, Offset>& next,
                       const State<typename Lane::Distance>& state, u32& relaxations) {
    using Distance = typename Lane::Distance;
    using ArcOfLane = Arc<typename Lane::Weight>;
    const u32 lane = lane_index(), parity = 1 - next.parity();
    const Distance threshold = state.threshold;

    // Long rows: some arcs a lane at once.
    constexpr u32 at_once = sizeof(Distance) == 4 ? 4 : 2;
    const uint2* const long_rows = search.long_rows[parity];
    frontier::for_pieces(search.offsets, long_rows, state.pieces, [&](uint2 item, Offset begin, Offset end) {
        const Distance distance = load(&search.distances[item.x]);
        if (lane == 0 && item.y == 0) store(&search.queued[parity][item.x / 32], 0);
        if (distance >= threshold) {
            // The threshold was lowered.
            next.least = min(next.least, distance);
            return;
        }
        for (Offset first = begin; first < end; first += at_once * lanes_a_warp) {
            // Lanes beyond the end look at the last arc, or the loads would wait for each other behind branches.
            ArcOfLane arc[at_once];
            u32 head[at_once];
            Distance through[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                arc[k] = load_once(&search.arcs[min(first + k * lanes_a_warp + lane, end - 1)]);
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const bool has = first + k * lanes_a_warp + lane < end;
                const Distance length = length_through<Lane>(distance, arc[k].weight, search.limit, search.out_of_range);
                head[k] = arc[k].head;
                through[k] = has ? length : Lane::unreachable;
                relaxations += has;
            }
            relax(search, next, threshold, head, through);
        }
    });

    constexpr u32 packed_at_once = 2;
    frontier::for_items(state.short_rows, warp_of_grid(), warps_of_grid(), [&](bool has_row, u32 item) {
        Offset begin = 0;
        u32 degree = 0;
        Distance distance = 0;
        if (has_row) {
            const u32 tail = load(&search.short_rows[parity][item]);
            distance = load(&search.distances[tail]);
            const Distance before = load(&search.expanded[tail]);
            begin = load_constant(&search.offsets[tail]);
            const Offset end = load_constant(&search.offsets[tail + 1]);
            // All bits of this round are cleared, by one or another.
            store(&search.queued[parity][tail / 32], 0);
            if (distance >= threshold) {
                next.least = min(next.least, distance);
            } else if (distance != before) {
                // Else it fell before it was expanded the last time, and was queued again.
                store(&search.expanded[tail], distance);
                degree = static_cast<u32>(end - begin);
            }
        }
        const PackedRows<Offset> rows(begin, degree);
        for (u32 base = 0; base < rows.total; base += packed_at_once * lanes_a_warp) {
            ArcOfLane arc[packed_at_once];
            u32 head[packed_at_once];
            Distance from[packed_at_once], through[packed_at_once];
#pragma unroll
            for (u32 k = 0; k < packed_at_once; k++) {
                const u32 place = min(base + k * lanes_a_warp + lane, rows.total - 1), row = rows.lane_of(place);
                from[k] = __shfl_sync(all_lanes, distance, static_cast<int>(row));
                arc[k] = load_once(&search.arcs[rows.arc_at(place, row)]);
            }
#pragma unroll
            for (u32 k = 0; k < packed_at_once; k++) {
                const bool has = base + k * lanes_a_warp + lane < rows.total;
                const Distance length = length_through<Lane>(from[k], arc[k].weight, search.limit, search.out_of_range);
                head[k] = arc[k].head;
                through[k] = has ? length : Lane::unreachable;
                relaxations += has;
            }
            relax(search, next, threshold, head, through);
        }
    });
}

/// Queues the listed vertices below the new threshold, and lists the rest anew, except for those settled long ago.
/// Without a list, looks at all vertices.
template <class Lane, class Offset>
__device__ __forceinline__ void split(const KernelArgument<Lane, Offset>& search, Appender<Lane, Offset>& next, const u32* list,
                                      u32 size, typename Lane::Distance settled, typename Lane::Distance threshold) {
    using Distance = typename Lane::Distance;
    constexpr u32 at_once = 4;
    const u64 threads = static_cast<u64>(gridDim.x) * blockDim.x;
    const u64 warp_begin = static_cast<u64>(blockIdx.x) * blockDim.x + threadIdx.x - lane_index();
    // A list may be short, and is spread over as many warps as can be. All vertices are read in long pieces.
    const u64 apart = list != nullptr ? threads : lanes_a_warp;
    for (u64 first = list != nullptr ? warp_begin : warp_begin * at_once; first < size; first += threads * at_once) {
        u32 vertex[at_once];
        Distance distance[at_once];
#pragma unroll
        for (u32 k = 0; k < at_once; k++) {
            const u64 index = first + k * apart + lane_index();
            vertex[k] = static_cast<u32>(index);
            if (list != nullptr && index < size) vertex[k] = load(&list[index]);
            distance[k] = index < size ? load(&search.distances[vertex[k]]) : Lane::unreachable;
        }
#pragma unroll 1
        for (u32 k = 0; k < at_once; k++) {
            bool near = distance[0] >= settled && distance[0] < threshold;
            const bool far = distance[0] >= threshold && distance[0] != Lane::unreachable;
            if (far) next.least = min(next.least, distance[0]);
            const u32 ballot = __ballot_sync(all_lanes, near);
            if (ballot != 0) {
                if (list != nullptr) {
                    if (near) near = next.mark(vertex[0]);
                } else if (lane_index() == 0) {
                    store(&search.queued[next.parity()][vertex[0] / 32], ballot);
                }
                next.entered += near;
                next.near(near, vertex[0]);
            }
            next.far(far, vertex[0]);
            advance(vertex);
            advance(distance);
        }
    }
}

/// Decides about the next round, from the news of the last one.
template <class Lane, class Offset>
__device__ void decide(const KernelArgument<Lane, Offset>& search, State<typename Lane::Distance>& state) {
    const Turn* const last = &search.turns[state.round % 3];
    state.round++;
    const u32 short_rows = load(&last->short_rows), pieces = load(&last->pieces), far = load(&last->far);
    const u32 items = load(&last->items), entered = load(&last->entered), cancelled = load(&last->cancelled);
    const u64 arcs = load(&last->arcs), least = load(&last->least);
    state.short_rows = short_rows;
    state.pieces = pieces;
    state.far_size += far;
    state.least = min(state.least, least);
    state.arcs += arcs;
    state.items += items;
    state.queued += items;
    state.entered += entered;
    state.rounds++;
    const u64 batch = search.batch;
    if (cancelled) {
        state.goes_on = false;
        return;
    }
    if (short_rows + pieces > 0) {
        if (search.statistics != nullptr && blockIdx.x == 0) count_frontier(*search.statistics, items);
        if (batch > 0 && arcs > batch * too_many && state.delta > 2 * search.delta) {
            // The window was widened while there was little to do. Vertices that go back are not listed.
            state.delta = search.delta;
            state.threshold = Lane::further(state.window, state.delta);
            state.far_open = false;
        }
        state.far_open = state.far_open && state.far_size <= search.far_capacity;
        state.splits = false;
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
    state.far_whole = state.far_open && state.far_size <= search.far_capacity;
    state.scans += !state.far_whole;
    state.far_before = static_cast<u32>(state.far_size);
    state.far_now ^= 1;
    state.far_open = true;
    state.splits = true;
    state.far_size = state.arcs = state.items = state.entered = 0;
    state.rounds = 0;
    state.least = nothing;
}

template <class Lane, class Offset>
__device__ __forceinline__ void run(const KernelArgument<Lane, Offset>& search) {
    using Distance = typename Lane::Distance;
    __shared__ u32 shared[most_warps_a_block / 2 * 2 * frontier::collected];
    __shared__ Sums sums;
    __shared__ State<Distance> state;
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (u64 i = thread; i < search.vertices; i += threads) {
        store(&search.distances[i], Lane::unreachable);
        store(&search.expanded[i], Lane::unreachable);
    }
    for (u32 i = thread; i < (search.vertices + 31) / 32; i += threads) {
        store(&search.queued[0][i], 0);
        store(&search.queued[1][i], 0);
    }
    if (thread < 3) search.turns[thread] = Turn{0, 0, 0, 0, 0, 0, 0, nothing};
    if (threadIdx.x == 0) {
        sums = Sums{0, 0, 0, 0, nothing};
        state = State<Distance>{};
        state.delta = search.delta;
        state.threshold = Lane::further(0, search.delta);
        state.least = nothing;
        state.thresholds = 1;
        state.far_open = state.far_whole = state.splits = state.goes_on = true;
    }
    grid_barrier();
    // The first round splits the sources, none of which is far. The same thread looks up later the distances that it
    // stores here.
#pragma unroll 1
    for (u32 i = thread; i < search.source_count; i += threads) {
        store(&search.distances[load_constant(&search.sources[i])], 0);
    }
    u32 relaxations = 0;
    for (;;) {
        __syncthreads();
        if (!state.goes_on) break;
        Appender<Lane, Offset> next(search, shared, state, sums);
        if (!state.splits) {
            expand(search, next, state, relaxations);
        } else {
            const Distance settled = state.settled, threshold = state.threshold;
            const bool begins = state.round == 0;
            const u32 targets = begins ? 0 : search.target_count;
            if (frontier::targets_are_settled(search.distances, search.targets_wanted, targets, settled)) break;
            const u32* const listed = begins ? search.sources : search.far[state.far_now ^ 1];
            const u32 size = begins ? search.source_count : state.far_before;
            split(search, next, state.far_whole ? listed : nullptr, state.far_whole ? size : search.vertices, settled,
                  threshold);
        }
        next.finish();
        grid_barrier();
        if (threadIdx.x == 0) {
            decide(search, state);
            if (blockIdx.x == 0) {
                search.turns[(state.round + 1) % 3] = Turn{0, 0, 0, 0, 0, 0, 0, nothing};
                if (is_cancelled(search.cancelled)) store(&search.turns[state.round % 3].cancelled, 1);
            }
        }
    }
    const u64 all_relaxations = block_sum(static_cast<u64>(relaxations));
    if (threadIdx.x == 0) atomicAdd(&search.report[4], all_relaxations);
    if (thread == 0) {
        store(&search.report[0], static_cast<u64>(state.round - 1));
        store(&search.report[1], static_cast<u64>(state.thresholds));
        store(&search.report[2], static_cast<u64>(state.scans));
        store(&search.report[3], state.queued);
    }
}

}  // namespace near_far

#define WARPATH_NEAR_FAR(lane, Lane, bits, Offset)                                      \
    extern "C" __global__ void __launch_bounds__(512, 2)                                \
        sssp_near_far_##bits##_##lane(near_far::KernelArgument<Lane, Offset> search) {          \
        near_far::run(search);                                                          \
    }                                                                                   \
    WARPATH_KERNEL(sssp_near_far_##bits##_##lane)

WARPATH_NEAR_FAR(u32_u32, LaneNarrow, 32, u32)
WARPATH_NEAR_FAR(u32_u64, LaneWide, 32, u32)
WARPATH_NEAR_FAR(f32_f32, LaneSingle, 32, u32)
WARPATH_NEAR_FAR(f64_f64, LaneDouble, 32, u32)
WARPATH_NEAR_FAR(u32_u32, LaneNarrow, 64, u64)
WARPATH_NEAR_FAR(u32_u64, LaneWide, 64, u64)
WARPATH_NEAR_FAR(f32_f32, LaneSingle, 64, u64)
WARPATH_NEAR_FAR(f64_f64, LaneDouble, 64, u64)
