// Searches that relax the arcs of one region of the graph after another, each by one warp in shared memory, in one cooperative
// launch on each device: `bfs/regions.cu` and `sssp/regions.cu` are its kernels. `src/cuda/regions/mod.rs` has the host loop and the
// essay, `src/cuda/regions/records.rs` the layout of a record.
//
//   Warp        what a warp has in shared memory: a record, and distances
//   Marker      notes for later rounds that a vertex fell
//   visit       a warp relaxes a region until nothing changes there, or for so many steps
//   scan        the regions that wait are queued, if they are below a new threshold
//   receive     what other devices found for this one's vertices
//   publish     the same for them, where they do not reach this device's memory
//   run         the rounds
#pragma once

#include "frontier.cuh"
#include "peers.cuh"
#include "sssp/lanes.cuh"
#include "generated/regions.cuh"

namespace regions {

/// No distance at all.
constexpr u64 nothing = ~0ull;
/// The threshold moves twice as far where it moves after fewer rounds than these.
constexpr u32 rounds_of_threshold = 8;
/// No region has this slot.
constexpr u32 nobody = ~0u;
/// The lanes of a team, which take the arcs of a vertex side by side.
constexpr u32 lanes_of_team = 4;
/// The teams of a warp: vertices take turns, so that neighbors are in different ones.
constexpr u32 teams = lanes_a_warp / lanes_of_team;
static_assert(teams == words_of_region && most_vertices == 32 * teams, "a team has one word of the bits of a region");
/// The arrays that others read: messages of even and odd rounds, and their numbers.
constexpr u32 messages_array = 0, numbers_array = 2;

/// The state of the search. Every block keeps its own in shared memory, and decides the same from the same numbers, in one thread.
template <class Distance>
struct State {
    double delta;        // how far the threshold moves
    Distance settled;    // nearer vertices have their final distance
    Distance threshold;
    u64 least;           // no vertex that waits is nearer
    u64 visits;          // of this device, in all rounds
    u32 round;
    u32 queued;          // regions of this device that are to be visited in this round
    u32 thresholds;
    u32 rounds;          // since the threshold was set
    bool scans;          // whether this round looks for regions that have waited
    bool goes_on;
};

/// What a warp has in shared memory.
template <class Lane>
struct Warp {
    using Distance = typename Lane::Distance;
    uint4* record;
    Distance* distances;  // of the vertices of the region, and from `most_vertices` on of its ghosts
    // A word for each team:
    u32* to_expand;       // the vertices that are to be expanded now,
    u32* waiting;         // and those at or above the threshold, or that were there

    __device__ __forceinline__ Warp(const KernelArgument<Lane>& search, unsigned char* memory) {
        unsigned char* const mine = memory + warp_index() * search.bytes_of_warp;
        record = reinterpret_cast<uint4*>(mine);
        distances = reinterpret_cast<Distance*>(mine + search.bytes_of_slot);
        to_expand = reinterpret_cast<u32*>(distances + most_vertices + search.most_ghosts);
        waiting = to_expand + teams;
    }
};

/// The parts of a record in shared memory.
template <class Lane, bool has_weights>
struct Record {
    using Weight = typename Lane::Weight;
    u32 vertices;
    u32 ghosts;
    const Weight* weights;
    const u32* ids;         // of the vertices
    const u32* ghost_ids;
    const u32* positions;   // of the ghosts
    const u16* rows;
    const u16* heads;

    __device__ __forceinline__ explicit Record(const uint4* record) {
        const u32* const header = reinterpret_cast<const u32*>(record);
        vertices = header[0];
        ghosts = header[1];
        weights = reinterpret_cast<const Weight*>(header + 4);
        ids = has_weights ? reinterpret_cast<const u32*>(weights + header[2]) : header + 4;
        ghost_ids = ids + vertices;
        positions = ghost_ids + ghosts;
        rows = reinterpret_cast<const u16*>(positions + ghosts);
        heads = rows + vertices + 1;
    }
    __device__ __forceinline__ Weight weight(u32 arc) const {
        if constexpr (has_weights) {
            return weights[arc];
        } else {
            return 1;
        }
    }
};

/// Notes for later rounds that vertices fell. All lanes of a warp call it together.
template <class Lane>
struct Marker {
    using Distance = typename Lane::Distance;
    const KernelArgument<Lane>& search;
    Turn* const turn;
    const u32 next_round;
    const Distance threshold;
    Distance least = ~static_cast<Distance>(0);

    /// Queues these regions for the next round, each once.
    __device__ __forceinline__ void queue(bool has, u32 region) {
        const bool is_new = has && atomicExch(&search.queued_for[region], next_round) != next_round;
        const u32 ballot = __ballot_sync(all_lanes, is_new);
        if (ballot == 0) return;
        const u32 begin = warp_take(&turn->queued, __popc(ballot));
        if (is_new) store(&search.queues[next_round % 2][begin + place_in_ballot(ballot)], region);
    }

    /// The vertex at a position of this device fell to `distance`, if that is nearer than what is known.
    __device__ __forceinline__ void fell(bool has, u32 position, u32 id, Distance distance) {
        const bool is_nearer = has && distance < atomicMin(&search.distances[id], distance);
        if (!__any_sync(all_lanes, is_nearer)) return;
        // Who sees the bit sees the distance.
        device_fence();
        const u32 region = position / most_vertices, vertex = position % most_vertices;
        if (is_nearer) atomicOr(&search.bits[static_cast<u64>(region) * teams + vertex % teams], 1u << vertex / teams);
        const bool is_near = is_nearer && distance < threshold;
        if (is_nearer && !is_near) {
            atomicMin(&search.least[region], distance);
            least = min(least, distance);
        }
        queue(is_near, region);
    }
};

/// A warp copies a record, 16 bytes a lane at a time. `read(i)` reads them.
template <class Read>
__device__ __forceinline__ void copy(uint4* to, u32 units, Read read) {
    constexpr u32 at_once = 8;
    for (u32 first = lane_index(); first < units; first += at_once * lanes_a_warp) {
        uint4 some[at_once];
#pragma unroll
        for (u32 k = 0; k < at_once; k++) {
            if (first + k * lanes_a_warp < units) some[k] = read(first + k * lanes_a_warp);
        }
#pragma unroll
        for (u32 k = 0; k < at_once; k++) {
            if (first + k * lanes_a_warp < units) to[first + k * lanes_a_warp] = some[k];
        }
    }
}

/// A warp brings the record of a region to shared memory: from its slot, or else from the host's memory, and then it may get a slot.
template <class Lane>
__device__ __forceinline__ void fetch(const KernelArgument<Lane>& search, uint4* record, u32 region, u32 round, u32& missed) {
    const u32 begin = load_constant(&search.begins[region]), units = load_constant(&search.begins[region + 1]) - begin;
    // The region of a slot may change at any time: all lanes take what one has seen.
    const u32 slot = region % search.slot_count, tag = __shfl_sync(all_lanes, load(&search.tags[slot]), 0);
    uint4* const place = search.slots + static_cast<u64>(slot) * (search.bytes_of_slot / sizeof(uint4));
    if (tag == region) {
        copy(record, units, [&](u32 i) { return load(&place[i]); });
        return;
    }
    const uint4* const there = search.records + begin;
    copy(record, units, [&](u32 i) { return load_constant(&there[i]); });
    missed++;
    u32 is_mine = 0;
    if (lane_index() == 0) {
        // Nobody may read what the slot has: its region is not queued for this round, nor was it put there in this round.
        const u32 queued_for = tag == nobody ? 0 : load(&search.queued_for[tag]);
        is_mine = queued_for < round && atomicCAS(&search.tags[slot], tag, region) == tag;
    }
    // All have written their parts of the record, too.
    __syncwarp();
    if (__shfl_sync(all_lanes, is_mine, 0) == 0) return;
    for (u32 i = lane_index(); i < units; i += lanes_a_warp) store(&place[i], record[i]);
}

/// Relaxes all arcs of the vertices that are to be expanded, and of those that fall below the threshold, until there are none; or so many
/// times, as others wait at the end of a round.
template <class Lane, bool has_weights>
__device__ __forceinline__ void settle(const KernelArgument<Lane>& search, const Warp<Lane>& warp, const Record<Lane, has_weights>& record,
                                       typename Lane::Distance threshold) {
    using Distance = typename Lane::Distance;
    const u32 team = lane_index() / lanes_of_team, lane = lane_index() % lanes_of_team;
    for (u32 step = 0; step < search.steps; step++) {
        u32 mine = warp.to_expand[team];
        if (!__any_sync(all_lanes, mine != 0)) return;
        __syncwarp();
        if (lane == 0) warp.to_expand[team] = 0;
        __syncwarp();
        while (mine != 0) {
            const u32 vertex = (__ffs(static_cast<int>(mine)) - 1) * teams + team;
            mine &= mine - 1;
            const Distance distance = load_shared(&warp.distances[vertex]);
            const u32 end = record.rows[vertex + 1];
#pragma unroll 1
            for (u32 arc = record.rows[vertex] + lane; arc < end; arc += lanes_of_team) {
                const u32 head = record.heads[arc];
                const Distance through = length_through<Lane>(distance, record.weight(arc), search.limit, search.out_of_range);
                if (through == Lane::unreachable || through >= load_shared(&warp.distances[head])) continue;
                if (through >= atomicMin(&warp.distances[head], through) || head >= most_vertices) continue;
                u32* const bits = through < threshold ? warp.to_expand : warp.waiting;
                atomicOr(&bits[head % teams], 1u << head / teams);
            }
        }
        __syncwarp();
    }
}

/// The device that has a vertex.
__device__ __forceinline__ u32 device_of(const peers::Peers& peers, u32 id) {
    u32 device = 0;
    while (device + 1 < peers.count && id >= peers.begins[device + 1]) device++;
    return device;
}

/// A warp tells other devices that ghosts of theirs fell. The room for messages has one for each arc that leads there.
template <class Lane>
__device__ __forceinline__ void send(const KernelArgument<Lane>& search, const peers::Peers& peers, u32 round, bool has, u32 position, u32 id,
                                     typename Lane::Distance distance) {
    if (!has) return;
    const u32 device = device_of(peers, id);
    const u32 place = atomicAdd(&search.numbers[round % 3 * peers::most_devices + device], 1);
    const u64 bits = distance;
    const uint4 message = make_uint4(position, id, static_cast<u32>(bits), static_cast<u32>(bits >> 32));
    store(&search.messages[round % 2][search.messages_to[device] + place], message);
}

/// A warp relaxes the arcs of a region until nothing changes there or its steps are over, and tells others what leaves it.
template <class Lane, bool has_weights>
__device__ __forceinline__ void visit(const KernelArgument<Lane>& search, const peers::Peers& peers, const Warp<Lane>& warp,
                                      Marker<Lane>& next, u32 region, u32& missed) {
    using Distance = typename Lane::Distance;
    constexpr u32 of_lane = most_vertices / lanes_a_warp;
    const u32 lane = lane_index(), round = next.next_round - 1;
    const Distance threshold = next.threshold;
    u32* const bits_of_region = &search.bits[static_cast<u64>(region) * teams];
    // Bits first, and then distances: what falls later has its bit set again.
    u32 bits = lane < teams ? atomicExch(&bits_of_region[lane], 0u) : 0;
    if (!__any_sync(all_lanes, bits != 0)) return;
    device_fence();
    fetch(search, warp.record, region, round, missed);
    __syncwarp();
    const Record<Lane, has_weights> record(warp.record);
    // A lane looks after the vertices `lane + 32 k`, which are of one team.
    const auto vertex_at = [&](u32 k) { return k * lanes_a_warp + lane; };
    const auto bit_at = [&](u32 k) { return 1u << (k * lanes_of_team + lane / teams); };
    const auto of_team = [&](u32 mine) {
        mine |= __shfl_xor_sync(all_lanes, mine, 8);
        return mine | __shfl_xor_sync(all_lanes, mine, 16);
    };
    bits = __shfl_sync(all_lanes, bits, static_cast<int>(lane % teams));
    Distance before[of_lane];
#pragma unroll
    for (u32 k = 0; k < of_lane; k++) {
        before[k] = vertex_at(k) < record.vertices ? load(&search.distances[record.ids[vertex_at(k)]]) : Lane::unreachable;
    }
    u32 waiting = 0;
#pragma unroll
    for (u32 k = 0; k < of_lane; k++) {
        warp.distances[vertex_at(k)] = before[k];
        if (before[k] >= threshold) waiting |= bits & bit_at(k);
    }
    waiting = of_team(waiting);
    if (lane < teams) {
        warp.to_expand[lane] = bits & ~waiting;
        warp.waiting[lane] = waiting;
    }
    for (u32 ghost = lane; ghost < record.ghosts; ghost += lanes_a_warp) warp.distances[most_vertices + ghost] = Lane::unreachable;
    __syncwarp();
    settle(search, warp, record, threshold);
    __syncwarp();

    // What fell below the threshold has been expanded and waits no more, unless it is left for the next round.
    const u32 have_waited = warp.waiting[lane % teams], left = warp.to_expand[lane % teams];
    next.queue(lane < teams && left != 0, region);
    Distance least = ~static_cast<Distance>(0);
    waiting = 0;
#pragma unroll
    for (u32 k = 0; k < of_lane; k++) {
        const Distance distance = warp.distances[vertex_at(k)];
        if (distance < before[k]) atomicMin(&search.distances[record.ids[vertex_at(k)]], distance);
        if (distance < threshold) {
            waiting |= left & bit_at(k);
        } else if ((have_waited & bit_at(k)) != 0) {
            waiting |= bit_at(k);
            least = min(least, distance);
        }
    }
    for (u32 first = 0; first < record.ghosts; first += lanes_a_warp) {
        const u32 ghost = first + lane;
        const Distance distance = ghost < record.ghosts ? warp.distances[most_vertices + ghost] : Lane::unreachable;
        const bool fell = distance != Lane::unreachable;
        if (!__any_sync(all_lanes, fell)) continue;
        const u32 position = fell ? record.positions[ghost] : 0, id = fell ? record.ghost_ids[ghost] : 0;
        const bool is_here = peers.count == 1 || (id >= peers.first && id < peers.beyond);
        next.fell(fell && is_here, position, id, distance);
        if (peers.count > 1) send(search, peers, round, fell && !is_here, position, id, distance);
    }
    if (!__any_sync(all_lanes, waiting != 0)) return;
    // The distances of those that wait are written before their bits are set again.
    device_fence();
    waiting = of_team(waiting);
    if (lane < teams && waiting != 0) atomicOr(&bits_of_region[lane], waiting);
    least = warp_min(least);
    if (least == ~static_cast<Distance>(0)) return;
    next.least = min(next.least, least);
    if (lane == 0) atomicMin(&search.least[region], least);
}

/// Queues the regions that have waited and are below the new threshold.
template <class Lane>
__device__ void scan(const KernelArgument<Lane>& search, Marker<Lane>& next) {
    using Distance = typename Lane::Distance;
    const u32 threads = gridDim.x * blockDim.x;
    for (u64 first = blockIdx.x * blockDim.x + threadIdx.x - lane_index(); first < search.regions; first += threads) {
        const u32 region = static_cast<u32>(first) + lane_index();
        const Distance least = region < search.regions ? load(&search.least[region]) : Lane::unreachable;
        const bool is_near = least < next.threshold;
        if (is_near) {
            store(&search.least[region], Lane::unreachable);
        } else if (least != Lane::unreachable) {
            next.least = min(next.least, least);
        }
        next.queue(is_near, region);
    }
}

/// Publishes the messages of this round. Whoever has sent them has met all threads of the grid since.
template <class Lane>
__device__ void publish(const KernelArgument<Lane>& search, const peers::Peers& peers, u32 round) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const u32* const numbers = search.numbers + round % 3 * peers::most_devices;
    const uint4* const messages = search.messages[round % 2];
    uint4* const there = reinterpret_cast<uint4*>(peers.published[messages_array + round % 2]);
    for (u32 device = 0; device < peers.count; device++) {
        const u32 begin = search.messages_to[device], count = load(&numbers[device]);
        for (u64 k = thread; k < count; k += threads) store_system(&there[begin + k], load(&messages[begin + k]));
        if (thread == 0) store_system(&peers.published[numbers_array][round % 3 * peers::most_devices + device], count);
    }
}

/// Takes over what other devices found for this one's vertices in the last round.
template <class Lane>
__device__ void receive(const KernelArgument<Lane>& search, const peers::Peers& peers, Marker<Lane>& next) {
    using Distance = typename Lane::Distance;
    const u32 last = next.next_round - 2, threads = gridDim.x * blockDim.x;
    for (u32 device = 0; device < peers.count; device++) {
        if (device == peers.rank) continue;
        const u32* const numbers = peers.arrays[numbers_array * peers::most_devices + device];
        const u32 count = load_system(&numbers[last % 3 * peers::most_devices + peers.rank]);
        const uint4* const messages = reinterpret_cast<const uint4*>(peers.arrays[(messages_array + last % 2) * peers::most_devices + device]) +
                                      search.messages_from[device];
        for (u64 first = blockIdx.x * blockDim.x + threadIdx.x - lane_index(); first < count; first += threads) {
            const u64 mine = first + lane_index();
            const uint4 message = mine < count ? load_system(&messages[mine]) : make_uint4(0, 0, 0, 0);
            const u64 distance = static_cast<u64>(message.w) << 32 | message.z;
            next.fell(mine < count, message.x, message.y, static_cast<Distance>(distance));
        }
    }
}

/// Decides about the next round. `active` is how many regions are queued and how many messages were sent on all devices.
template <class Lane>
__device__ void decide(State<typename Lane::Distance>& state, u64 active, u64 least, bool cancelled) {
    state.round++;
    state.rounds++;
    state.least = min(state.least, least);
    state.scans = false;
    if (cancelled) {
        state.goes_on = false;
        return;
    }
    if (active > 0) return;
    // All below the threshold is settled.
    state.settled = state.threshold;
    if (state.least == nothing) {
        state.goes_on = false;
        return;
    }
    // A threshold takes a round of its own, which is to be a small part.
    if (state.rounds < rounds_of_threshold) state.delta *= 2;
    state.rounds = 0;
    state.threshold = Lane::further(static_cast<typename Lane::Distance>(state.least), state.delta);
    state.thresholds++;
    state.scans = true;
    state.least = nothing;
}

template <class Lane, bool has_weights>
__device__ __forceinline__ void run(const KernelArgument<Lane>& search, const peers::Peers& peers) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    __shared__ State<Distance> state;
    __shared__ u64 least_of_block;
    const Warp<Lane> warp(search, memory);
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    u32 missed = 0;
    if (threadIdx.x == 0) {
        // The regions of the sources wait.
        state = State<Distance>{search.delta, 0, Lane::further(0, search.delta), nothing, 0, 1, 0, 1, 0, true, true};
        least_of_block = nothing;
    }
    for (;;) {
        __syncthreads();
        if (!state.goes_on) break;
        const u32 round = state.round;
        const Distance settled = state.settled;
        if (peers.count == 1 && state.scans &&
            frontier::targets_are_settled(search.distances, search.targets_wanted, search.target_count, settled)) {
            break;
        }
        Turn* const turn = &search.turns[round % 3];
        Marker<Lane> next{search, turn, round + 1, state.threshold};
        if (state.scans) {
            scan(search, next);
        } else {
            if (peers.count > 1) receive(search, peers, next);
            const u32* const queue = search.queues[round % 2];
            for (u32 item = spread_warp_of_grid(); item < state.queued; item += warps_of_grid()) {
                visit<Lane, has_weights>(search, peers, warp, next, load(&queue[item]), missed);
                __syncwarp();
            }
        }
        if (is_first) {
            search.turns[(round + 1) % 3] = Turn{0, 0, nothing};
            if (is_cancelled(search.cancelled)) store(&turn->cancelled, 1);
        }
        if (peers.count > 1 && blockIdx.x == 0 && threadIdx.x < peers::most_devices) {
            store(&search.numbers[(round + 1) % 3 * peers::most_devices + threadIdx.x], 0);
        }
        const Distance least = warp_min(next.least);
        if (lane_index() == 0 && least != ~static_cast<Distance>(0)) atomicMin(&least_of_block, static_cast<u64>(least));
        __syncthreads();
        if (threadIdx.x == 0 && least_of_block != nothing) {
            atomicMin(&turn->least, least_of_block);
            least_of_block = nothing;
        }
        if (peers.count == 1) {
            grid_barrier();
        } else {
            if (peers::is_through_host(peers)) {
                grid_barrier();
                publish(search, peers, round);
            }
            // One warp tells the others.
            const auto tell = [&] {
                u32 sent = 0, left = 0;
                if (lane_index() < peers.count) sent = load(&search.numbers[round % 3 * peers::most_devices + lane_index()]);
                for (u32 i = lane_index(); i < search.target_count; i += lanes_a_warp) {
                    left += load(&search.distances[load_constant(&search.targets_wanted[i])]) >= next.threshold;
                }
                sent = warp_sum(sent);
                left = warp_sum(left);
                const u64 queued = load(&turn->queued), cancelled = load(&turn->cancelled);
                return peers::Letter{{queued + sent, cancelled, left, 0, 0}, load(&turn->least), 0};
            };
            if (!peers::meet(peers, round, tell)) return;
        }
        if (threadIdx.x == 0) {
            state.queued = load(&turn->queued);
            state.visits += state.queued;
            if (peers.count == 1) {
                decide<Lane>(state, state.queued, load(&turn->least), load(&turn->cancelled) != 0);
            } else {
                const peers::Letter* const all = &peers.here->joined;
                decide<Lane>(state, load(&all->sums[0]), load(&all->least), load(&all->sums[1]) != 0);
                if (state.scans && peers.targets_in_all > 0 && load(&all->sums[2]) == 0) state.goes_on = false;
            }
        }
    }
    missed = lane_index() == 0 ? missed : 0;
    if (missed > 0) atomicAdd(&search.report[3], static_cast<u64>(missed));
    if (is_first) {
        store(&search.report[0], static_cast<u64>(state.round - 1));
        store(&search.report[1], static_cast<u64>(state.thresholds));
        store(&search.report[2], state.visits);
    }
}

}  // namespace regions
