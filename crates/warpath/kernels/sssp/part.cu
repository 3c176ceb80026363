// Shortest paths by weights in one part of a graph, a step a launch. The host loop, and the essay, are in
// `src/cuda/parts/by_weights.rs`.
//
// Sources: Davidson, Baxter, Garland and Owens 2014, "Work-efficient parallel GPU methods for single-source shortest paths",
// sect. 4.4; Chakaravarthy et al. 2014, "Scalable single source shortest path algorithms for massively parallel systems".
//
// registers: 64
// no-sass: STL
#include "../parts.cuh"
#include "lanes.cuh"
#include "../generated/sssp/part.cuh"

namespace sssp_part {

/// No distance at all.
constexpr u64 nothing = ~0ull;
/// So many short rows, or pieces, of a round give the device enough to do.
constexpr u32 fills_device = 4096;

/// Words of a message: the number of a vertex, and its distance.
template <class Lane>
constexpr u32 words = 1 + sizeof(typename Lane::Distance) / 4;

/// What is queued in a turn for the next.
template <class Lane>
struct Queues {
    const KernelArgument<Lane>& part;
    u32 turn;

    __device__ const u64* offsets() const { return part.offsets; }
    __device__ u32* short_rows() const { return part.short_rows[(turn + 1) % 2]; }
    __device__ uint2* long_rows() const { return part.long_rows[(turn + 1) % 2]; }
    __device__ u32* short_count() const { return &part.turns[(turn + 1) % 3].short_rows; }
    __device__ u32* piece_count() const { return &part.turns[(turn + 1) % 3].pieces; }
    __device__ u32 capacity() const { return part.rows; }
};

/// One warp's way of queueing vertices for the next turn.
template <class Lane>
struct Next {
    const KernelArgument<Lane>& part;
    frontier::Appender<Queues<Lane>> rows;

    __device__ Next(const KernelArgument<Lane>& part, u32 turn, u32* shared)
        : part(part), rows({part, turn}, shared + warp_index() * frontier::collected) {}

    /// Queues the vertices of those lanes that have one, unless they are queued.
    __device__ void queue(bool has, u32 vertex) {
        const bool is_new = has && parts::insert(part.queued[(rows.queues.turn + 1) % 2], vertex);
        if (__any_sync(all_lanes, is_new)) rows.append(is_new, vertex);
    }
};

/// The distance in a message.
template <class Lane>
__device__ __forceinline__ typename Lane::Distance distance_in(const u32* message) {
    u64 bits = load_constant(&message[1]);
    if (words<Lane> > 2) bits |= static_cast<u64>(load_constant(&message[words<Lane> - 1])) << 32;
    return static_cast<typename Lane::Distance>(bits);
}

/// A vertex with a row may have come nearer: then its arcs have to be relaxed.
template <class Lane>
__device__ __forceinline__ void come_nearer(const KernelArgument<Lane>& part, u32 vertex, typename Lane::Distance distance) {
    typename Lane::Distance* const known = &part.distances[vertex];
    if (distance < load(known) && atomicMin(known, distance) > distance) parts::insert(part.pending, vertex);
}

/// Calls `body(is_pending, vertex)` for the vertices of each word of pending bits that is not empty, all lanes of a warp together; it returns
/// which lanes' vertices are pending no more.
template <class Lane, class Body>
__device__ __forceinline__ void for_pending(const KernelArgument<Lane>& part, Body body) {
    const u32 words = (part.rows + lanes_a_warp - 1) / lanes_a_warp;
    // 32 words at a time, since many of them are empty.
    for (u32 begin = warp_of_grid() * lanes_a_warp; begin < words; begin += warps_of_grid() * lanes_a_warp) {
        const u32 own = begin + lane_index() < words ? load(&part.pending[begin + lane_index()]) : 0;
        for_lanes_of(__ballot_sync(all_lanes, own != 0), [&](int lane) {
            const u32 word = __shfl_sync(all_lanes, own, lane), index = begin + static_cast<u32>(lane);
            const u32 settled = body((word >> lane_index() & 1) != 0, index * lanes_a_warp + lane_index());
            if (lane_index() == 0 && settled != 0) store(&part.pending[index], word & ~settled);
        });
    }
}

/// Queues the pending vertices below the threshold, and finds the least distance of the others.
template <class Lane>
__device__ __forceinline__ void collect(const KernelArgument<Lane>& part, u32 turn, typename Lane::Distance threshold, u32* shared) {
    Next<Lane> next(part, turn, shared);
    u64 least = nothing;
    for_pending(part, [&](bool is_pending, u32 vertex) {
        const u64 distance = is_pending ? static_cast<u64>(load(&part.distances[vertex])) : nothing;
        const bool goes = distance < threshold;
        if (!goes) least = min(least, distance);
        next.queue(goes, vertex);
        return __ballot_sync(all_lanes, goes);
    });
    next.rows.finish();
    const u64 of_warp = warp_min(least);
    if (lane_index() == 0 && of_warp != nothing) atomicMin(&part.turns[(turn + 1) % 3].least, of_warp);
}

/// Relaxes the arcs of the queued vertices, of which there are as many as `now` says. Returns whether a hub came nearer.
template <class Lane>
__device__ __forceinline__ bool relax_queued(const KernelArgument<Lane>& part, u32 turn, const Turn& now, typename Lane::Distance threshold,
                                             u32* shared) {
    using Distance = typename Lane::Distance;
    Next<Lane> next(part, turn, shared);
    // Nobody makes a vertex below the threshold pending in this turn.
    const auto leave_queue = [&](u32 vertex) {
        const u32 others = ~(1u << vertex % 32);
        atomicAnd(&part.queued[turn % 2][vertex / 32], others);
        if (parts::contains(part.pending, vertex)) atomicAnd(&part.pending[vertex / 32], others);
    };
    // A vertex that came nearer just before it was expanded is queued once more, and passed over then.
    const auto begin = [&](u32 tail, bool& goes) {
        if (!goes) return Lane::unreachable;
        leave_queue(tail);
        const Distance distance = load(&part.distances[tail]);
        goes = distance != load(&part.expanded[tail]);
        if (goes) store(&part.expanded[tail], distance);
        return distance;
    };
    const auto begin_piece = [&](u32 tail, u32 index) {
        if (index == 0 && lane_index() == 0) leave_queue(tail);
        return load(&part.distances[tail]);
    };
    bool hub_came_nearer = false;
    const auto visit = [&](Distance distance, bool has, u64 at) {
        Arc<typename Lane::Weight> arc = {};
        if (has) arc = load_constant(&part.arcs[at]);
        const Distance through = has ? Lane::extend(distance, arc.weight) : Lane::unreachable;
        Distance* const known = &part.distances[arc.head];
        const bool falls = has && through < load(known) && atomicMin(known, through) > through;
        const bool has_row = falls && arc.head < part.rows;
        hub_came_nearer = hub_came_nearer || (has_row && arc.head >= part.owned);
        if (has_row && through >= threshold) parts::insert(part.pending, arc.head);
        next.queue(has_row && through < threshold, arc.head);
        if (falls && !has_row) parts::insert(part.nearer_ghosts, arc.head - part.rows);
    };
    const parts::Frontier frontier = {part.offsets, part.short_rows[turn % 2], part.long_rows[turn % 2], now.short_rows, now.pieces};
    parts::for_frontier(frontier, begin, begin_piece, visit);
    next.rows.finish();
    return hub_came_nearer;
}

/// Relaxes the arcs of all pending vertices below the bound, and of those that fall below it, the nearest first: the threshold below which
/// vertices are queued rises by delta whenever nothing is queued. Every thread decides the same from the same numbers. All blocks run at
/// once.
template <class Lane>
__device__ __forceinline__ void relax(const KernelArgument<Lane>& argument, u32* shared) {
    using Distance = typename Lane::Distance;
    // In shared memory its arrays can be indexed.
    __shared__ KernelArgument<Lane> part;
    if (threadIdx.x == 0) part = argument;
    __syncthreads();
    const Distance bound = static_cast<Distance>(part.bound);
    double delta = part.delta;
    // Nothing is below the first threshold: the least distance is looked for.
    Distance threshold = 0;
    bool has_collected = false, hub_came_nearer = false;
    u32 work = 0, rounds = 0;
    for (u32 turn = 0;; ++turn) {
        const Turn now = load(&part.turns[turn % 3]);
        if (blockIdx.x == 0 && threadIdx.x == 0) store(&part.turns[(turn + 2) % 3], Turn{nothing, 0, 0});
        if (now.short_rows > 0 || now.pieces > 0) {
            work += min(now.short_rows, fills_device) + min(now.pieces, fills_device);
            rounds++;
            if (relax_queued(part, turn, now, threshold, shared)) hub_came_nearer = true;
            has_collected = false;
        } else {
            if (has_collected) {
                if (now.least >= part.bound) break;
                threshold = min(Lane::further(static_cast<Distance>(now.least), delta), bound);
            } else if (turn > 0) {
                if (threshold >= bound) break;
                // Rounds with too little to do are as long as others.
                if (work < rounds * fills_device) delta *= 2;
                threshold = min(Lane::further(threshold, delta), bound);
            }
            work = 0;
            rounds = 0;
            collect(part, turn, threshold, shared);
            has_collected = true;
        }
        grid_barrier();
    }
    if (hub_came_nearer) store(&part.news->hub_came_nearer, 1);
}

/// Posts the ghosts that came nearer.
template <class Lane>
__device__ __forceinline__ void post(const parts::Mail& mail, const KernelArgument<Lane>& part, u32 ghosts) {
    parts::post(mail, ghosts, [&](u32 index) {
        const u32 nearer = part.nearer_ghosts[index];
        if (nearer != 0) part.nearer_ghosts[index] = 0;
        return nearer;
    });
}

/// Packs the numbers and distances of the ghosts that were posted.
template <class Lane>
__device__ __forceinline__ void pack(const parts::Mail& mail, const KernelArgument<Lane>& part, u32 count) {
    parts::for_posted(mail, count, [&](u32 place, u32 ghost) {
        u32* const message = &mail.words[static_cast<u64>(place) * words<Lane>];
        const u64 distance = part.distances[part.rows + ghost];
        message[0] = load_constant(&mail.numbers[ghost]);
        message[1] = static_cast<u32>(distance);
        if (words<Lane> > 2) message[words<Lane> - 1] = static_cast<u32>(distance >> 32);
    });
}

/// Takes in messages.
template <class Lane>
__device__ __forceinline__ void receive(const KernelArgument<Lane>& part, const u32* messages, u32 count) {
    for (u32 index = blockIdx.x * blockDim.x + threadIdx.x; index < count; index += gridDim.x * blockDim.x) {
        const u32* const message = &messages[static_cast<u64>(index) * words<Lane>];
        const u32 vertex = load_constant(message);
        // Whoever sends from device to device is not looked after by a host.
        if (vertex < part.rows) come_nearer(part, vertex, distance_in<Lane>(message));
    }
}

/// Takes in the distances of hubs.
template <class Lane>
__device__ __forceinline__ void receive_hubs(const KernelArgument<Lane>& part, const typename Lane::Distance* distances) {
    const u32 hubs = part.rows - part.owned;
    for (u32 hub = blockIdx.x * blockDim.x + threadIdx.x; hub < hubs; hub += gridDim.x * blockDim.x) {
        come_nearer(part, part.owned + hub, load_constant(&distances[hub]));
    }
}

/// The least distance of a pending vertex.
template <class Lane>
__device__ __forceinline__ void find_least(const KernelArgument<Lane>& part) {
    u64 least = nothing;
    for_pending(part, [&](bool is_pending, u32 vertex) {
        if (is_pending) least = min(least, static_cast<u64>(load_constant(&part.distances[vertex])));
        return 0u;
    });
    const u64 of_warp = warp_min(least);
    if (lane_index() == 0 && of_warp != nothing) atomicMin(&part.news->least, of_warp);
}

}  // namespace sssp_part

#define WARPATH_SSSP_PART(lane, Lane)                                                                                            \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                         \
        sssp_part_relax_##lane(sssp_part::KernelArgument<Lane> part) {                                                           \
        __shared__ u32 shared[most_warps_a_block * frontier::collected];                                                         \
        sssp_part::relax(part, shared);                                                                                          \
    }                                                                                                                            \
    WARPATH_KERNEL(sssp_part_relax_##lane)                                                                                       \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                         \
        sssp_part_post_##lane(parts::Mail mail, sssp_part::KernelArgument<Lane> part, u32 ghosts) {                              \
        sssp_part::post(mail, part, ghosts);                                                                                     \
    }                                                                                                                            \
    WARPATH_KERNEL(sssp_part_post_##lane)                                                                                        \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                         \
        sssp_part_pack_##lane(parts::Mail mail, sssp_part::KernelArgument<Lane> part, u32 count) {                               \
        sssp_part::pack(mail, part, count);                                                                                      \
    }                                                                                                                            \
    WARPATH_KERNEL(sssp_part_pack_##lane)                                                                                        \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                         \
        sssp_part_receive_##lane(sssp_part::KernelArgument<Lane> part, const u32* messages, u32 count) {                         \
        sssp_part::receive(part, messages, count);                                                                               \
    }                                                                                                                            \
    WARPATH_KERNEL(sssp_part_receive_##lane)                                                                                     \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                         \
        sssp_part_receive_hubs_##lane(sssp_part::KernelArgument<Lane> part, const Lane::Distance* distances) {                   \
        sssp_part::receive_hubs(part, distances);                                                                                \
    }                                                                                                                            \
    WARPATH_KERNEL(sssp_part_receive_hubs_##lane)                                                                                \
    extern "C" __global__ void __launch_bounds__(512, 2) sssp_part_find_least_##lane(sssp_part::KernelArgument<Lane> part) {     \
        sssp_part::find_least(part);                                                                                             \
    }                                                                                                                            \
    WARPATH_KERNEL(sssp_part_find_least_##lane)

WARPATH_SSSP_PART(u32_u32, LaneNarrow)
WARPATH_SSSP_PART(u32_u64, LaneWide)
WARPATH_SSSP_PART(f32_f32, LaneSingle)
WARPATH_SSSP_PART(f64_f64, LaneDouble)
