// Shortest paths that settle a whole bucket of distances a step, all in one cooperative launch. The host loop, and the
// essay, are in `src/cuda/sssp/multi_hop.rs`.
//
// registers: 64
// no-sass: STL
#include "../multi_hop.cuh"
#include "counts.cuh"
#include "lanes.cuh"
#include "../generated/sssp/multi_hop.cuh"

namespace multi_hop {

// ---- Making the neighborhoods ---------------------------------------------------------------------------------------

/// What a warp has in shared memory while it makes a neighborhood. `Value` holds a distance, and in its low bits the distance that its
/// last arc comes from, in quanta.
template <class Value, u32 Bits>
struct Found {
    static constexpr u32 slots = 1u << Bits, most = slots / 2, low_bits = sizeof(Value) == 4 ? 32 - distance_bits : 32;
    static constexpr Value unknown = ~Value{0};
    u32 keys[slots];  // vertices
    Value values[slots];
    u16 order[most];     // the slots, as they were taken
    u16 queue[2][most];  // slots whose distances fell: those whose arcs are relaxed now, and those after them
    u32 queued[slots / 32];

    __device__ __forceinline__ u32 distance(u32 slot) { return static_cast<u32>(load_shared(&values[slot]) >> low_bits); }
    __device__ __forceinline__ u32 parent(u32 slot) {
        return static_cast<u32>(load_shared(&values[slot]) & ((Value{1} << low_bits) - 1));
    }
    /// Whether a slot was queued before this call.
    __device__ __forceinline__ bool enqueue(u32 slot) {
        const u32 bit = 1u << slot % 32;
        return (atomicOr(&queued[slot / 32], bit) & bit) != 0;
    }
    __device__ __forceinline__ void dequeue(u32 slot) { atomicAnd(&queued[slot / 32], ~(1u << slot % 32)); }
};
static_assert(sizeof(Found<u32, table_bits - 1>) == small_bytes, "");
static_assert(sizeof(Found<u32, table_bits>) == large_bytes, "");
static_assert(sizeof(Found<u64, table_bits>) == far_bytes, "");

/// Arcs of 32 vertices, one vertex a lane, handed out to the lanes evenly.
struct Spread {
    u32 up_to;   // how many arcs this lane's vertex and those of the lanes before have
    u32 offset;  // from the number of an arc to its place
    u32 total;

    __device__ __forceinline__ Spread(u32 begin, u32 degree)
        : up_to(warp_inclusive_sum(degree)), offset(begin - (up_to - degree)),
          total(__shfl_sync(all_lanes, up_to, lanes_a_warp - 1)) {}

    /// The lane that has the vertex of an arc; the last one beyond all arcs.
    __device__ __forceinline__ u32 owner_of(u32 arc) const {
        u32 owner = 0;
#pragma unroll
        for (u32 step = lanes_a_warp / 2; step > 0; step /= 2) {
            if (__shfl_sync(all_lanes, up_to, static_cast<int>(owner + step - 1)) <= arc) owner += step;
        }
        return owner;
    }
};

/// A warp finds all vertices less than `delta` away from `vertex`, and the heads of their arcs, with their distances by
/// such paths: relaxation until nothing changes. Returns how many; 0 if they are too many.
template <class Value, u32 Bits>
__device__ __forceinline__ u32 collect(const Build& build, u32 vertex, Found<Value, Bits>& found) {
    using Table = Found<Value, Bits>;
    const u32 lane = lane_index();
    for (u32 slot = lane; slot < Table::slots; slot += lanes_a_warp) {
        found.keys[slot] = none;
        found.values[slot] = Table::unknown;
    }
    for (u32 word = lane; word < Table::slots / 32; word += lanes_a_warp) found.queued[word] = 0;
    __syncwarp();
    if (lane == 0) {
        const u32 slot = find_slot<Bits>(found.keys, vertex).index;
        found.values[slot] = 0;
        found.order[0] = found.queue[0][0] = static_cast<u16>(slot);
    }
    __syncwarp();
    u32 size = 1, count = 1;
    for (u32 turn = 0; count > 0; turn ^= 1) {
        u32 appended = 0;
        for (u32 first = 0; first < count; first += lanes_a_warp) {
            const bool has_slot = first + lane < count;
            const u32 here = has_slot ? found.queue[turn][first + lane] : 0;
            // If its distance falls from here on, it is queued again.
            if (has_slot) found.dequeue(here);
            __syncwarp();
            const u32 distance = has_slot ? found.distance(here) : none;
            u32 begin = 0, degree = 0;
            if (has_slot) {
                const u32 tail = found.keys[here];
                begin = load_constant(&build.offsets[tail]);
                degree = load_constant(&build.offsets[tail + 1]) - begin;
            }
            const Spread arcs(begin, degree);
            for (u32 first_arc = 0; first_arc < arcs.total; first_arc += lanes_a_warp) {
                const u32 number = first_arc + lane, owner = arcs.owner_of(number);
                const u32 arc = __shfl_sync(all_lanes, arcs.offset, static_cast<int>(owner)) + number;
                const u32 from = __shfl_sync(all_lanes, distance, static_cast<int>(owner));
                const bool has_arc = number < arcs.total;
                const u32 head = has_arc ? load_constant(&build.targets[arc]) : none;
                const u32 through = has_arc ? from + load_constant(&build.weights[arc]) : none;
                const Slot slot = has_arc ? find_slot<Bits>(found.keys, head) : Slot{0, false};
                const u32 fresh = __ballot_sync(all_lanes, slot.fresh);
                if (size + __popc(fresh) > Table::most) return 0;
                if (slot.fresh) found.order[size + place_in_ballot(fresh)] = static_cast<u16>(slot.index);
                size += __popc(fresh);
                bool fell = false;
                if (has_arc) {
                    const Value value = static_cast<Value>(through) << Table::low_bits | from / build.quantum;
                    const Value old = atomicMin(&found.values[slot.index], value);
                    fell = old >> Table::low_bits > through && through < build.delta && !found.enqueue(slot.index);
                }
                const u32 fallen = __ballot_sync(all_lanes, fell);
                if (fell) found.queue[turn ^ 1][appended + place_in_ballot(fallen)] = static_cast<u16>(slot.index);
                appended += __popc(fallen);
            }
        }
        __syncwarp();
        count = appended;
    }
    return size;
}

/// Writes the neighborhoods of vertices, each made by one warp. Takes a `Found` of dynamic shared memory a
/// warp. A neighborhood with too many vertices is left for later, or ends all warps.
template <class Value, u32 Bits>
__device__ __forceinline__ void build_all(const Build& build) {
    DYNAMIC_SHARED(memory);
    Found<Value, Bits>& found = reinterpret_cast<Found<Value, Bits>*>(memory)[warp_index()];
    const u32 lane = lane_index(), warps = warps_of_grid();
    for (u32 number = warp_of_grid(); number < build.vertices; number += warps) {
        if (__any_sync(all_lanes, load(build.failed) != 0)) return;
        const u32 vertex = build.only == nullptr ? number : load_constant(&build.only[number]);
        const u32 size = collect(build, vertex, found);
        if (size == 0 && build.left != nullptr) {
            if (lane == 0) build.left[atomicAdd(build.left_count, 1)] = vertex;
            __syncwarp();
            continue;
        }
        const u32 begin = take_units(size, build.used, build.capacity, build.failed), length = units_of(size) * unit;
        if (begin == none) return;
        if (lane == 0) build.places[vertex] = make_uint2(begin, length);
        const u64 to = static_cast<u64>(begin) * unit;
        for (u32 k = lane; k < length; k += lanes_a_warp) {
            const bool has = k + 1 < size;
            const u32 slot = has ? found.order[k + 1] : 0;
            build.entries[to + k] = has ? make_uint2(found.keys[slot], found.distance(slot)) : make_uint2(none, none);
            build.parents[to + k] = has ? static_cast<u8>(found.parent(slot)) : 0;
        }
        __syncwarp();
    }
}

// The smaller table lets 40 warps run at once on a multiprocessor.
extern "C" __global__ void __launch_bounds__(256, 5) sssp_multi_hop_build_small(Build build) {
    build_all<u32, table_bits - 1>(build);
}
WARPATH_KERNEL(sssp_multi_hop_build_small)
extern "C" __global__ void __launch_bounds__(256) sssp_multi_hop_build_large(Build build) {
    build_all<u32, table_bits>(build);
}
WARPATH_KERNEL(sssp_multi_hop_build_large)
extern "C" __global__ void __launch_bounds__(256) sssp_multi_hop_build_far(Build build) {
    build_all<u64, table_bits>(build);
}
WARPATH_KERNEL(sssp_multi_hop_build_far)

// ---- Searching ------------------------------------------------------------------------------------------------------

/// The news for every thread after a barrier.
struct Meeting {
    u32 appended[queues];  // by this block, to each queue
    bool ends;             // somebody wants an end
    u32 ahead;             // how many buckets ahead the next one is that is not empty; `queues` if all are
    PartSizes queue;       // of that bucket
};

template <class Lane>
__device__ __forceinline__ void run(const KernelArgument<Lane>& search) {
    using Distance = typename Lane::Distance;
    __shared__ Meeting meeting;
    const u32 lane = lane_index(), thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const u32 warp = spread_warp_of_grid(), warps = threads / lanes_a_warp;
    for (u32 i = thread; i < search.vertices; i += threads) store(&search.distances[i], Lane::unreachable);
    // The second half is the first that is read: all sources are in the first queue, one part after the other.
    for (u32 i = thread; i < 2 * queues * parts; i += threads) {
        store(&search.sizes[i], i == queues * parts ? search.source_count : 0);
    }
    if (threadIdx.x < queues) meeting.appended[threadIdx.x] = 0;
    u32 round = 0, bucket = 0;

    // A barrier of the grid, after which all know the next bucket, from `least` on, that is not empty, and how many
    // items each block has appended to it.
    const auto meet_for = [&](bool publish, u32 least) {
        __syncthreads();
        if (threadIdx.x < lanes_a_warp) {
            u32* const sizes = search.sizes + round % 2 * queues * parts;
            bool overfull = false;
            if (publish && lane < queues) {
                // The queue of the bucket that was settled is empty now.
                if (lane == bucket % queues) meeting.appended[lane] = 0;
                const u32 appended = meeting.appended[lane];
                overfull = appended > search.capacity;
                store(&sizes[lane * parts + blockIdx.x], min(appended, search.capacity));
            }
            overfull = __any_sync(all_lanes, overfull);
            if (lane == 0) {
                u32 arrival = 0;
                if (overfull) {
                    store(&search.report[1], 1);
                    arrival += stops;
                }
                if (blockIdx.x == 0 && is_cancelled(search.cancelled)) arrival += stops;
                meeting.ends = grid_sum<appends>(search.arrivals, round, arrival) >= stops;
            }
            __syncwarp();
            u32 ahead = least;
            while (ahead < queues && meeting.queue.gather(sizes + (bucket + ahead) % queues * parts) == 0) ahead++;
            if (lane == 0) meeting.ahead = ahead;
        }
        round++;
        __syncthreads();
    };

    meet_for(false, queues);
    for (u32 i = thread; i < search.source_count; i += threads) {
        const u32 source = load_constant(&search.sources[i]);
        const uint2 place = load_constant(&search.places[source]);
        store(&search.distances[source], 0);
        store(&search.queue[i], make_uint4(source, place.x, place.y, 0));
    }
    meet_for(false, 0);

    u64 start = 0;  // of the bucket
    u32 steps = 0, expanded = 0, relaxations = 0, improvements = 0;
    while (meeting.ahead < queues && !meeting.ends) {
        bucket += meeting.ahead;
        start += static_cast<u64>(meeting.ahead) * search.delta;
        if (start > search.limit) break;
        if (frontier::targets_are_settled(search.distances, search.targets_wanted, search.target_count, start)) break;
        steps++;
        const u64 end = start + search.delta;
        const uint4* const queue = search.queue + static_cast<u64>(bucket % queues) * parts * search.capacity;
        // Appends a vertex to the queue of a bucket, counted from this one.
        const auto append = [&](u32 vertex, uint2 place, u32 ahead) {
            const u32 to = (bucket + ahead) % queues, at = atomicAdd(&meeting.appended[to], 1);
            if (at >= search.capacity) return;
            store(&search.queue[(static_cast<u64>(to) * parts + blockIdx.x) * search.capacity + at],
                  make_uint4(vertex, place.x, place.y, 0));
            // It is read after a barrier.
            for (u32 k = 0; k < place.y; k += 16) prefetch_to_l2(&search.entries[static_cast<u64>(place.x) * unit + k]);
            prefetch_to_l2(&search.parents[static_cast<u64>(place.x) * unit]);
        };
        // Which bucket from this one on a distance is in. Distances too far ahead are in the last one.
        const auto buckets_ahead = [&](Distance distance) {
            const u64 beyond = static_cast<u64>(distance) - start;
            return static_cast<u32>(min(beyond, static_cast<u64>(none))) / search.delta;
        };
        const u32 total = meeting.queue.total;
        const PartFinder finder(meeting.queue);
        if (search.statistics != nullptr && thread == 0) count_frontier(*search.statistics, total);
        for (u32 item_index = warp; item_index < total; item_index += warps) {
            const uint4 item = load(&queue[finder.place_of(item_index, search.capacity)]);
            const Distance distance = load(&search.distances[item.x]);
            // It was found nearer after it was queued, and settled before.
            if (distance < start) continue;
            if (distance >= end) {
                // It was too far to be in its own queue.
                if (lane == 0) append(item.x, make_uint2(item.y, item.z), min(buckets_ahead(distance), queues - 1));
                continue;
            }
            expanded++;
            const u64 entries = static_cast<u64>(item.y) * unit;
            constexpr u32 at_once = 2;
            for (u32 first = 0; first < item.z; first += at_once * lanes_a_warp) {
                uint2 entry[at_once];
                u32 parent[at_once];
#pragma unroll
                for (u32 k = 0; k < at_once; k++) {
                    const u32 index = first + k * lanes_a_warp + lane;
                    const bool has = index < item.z;
                    entry[k] = has ? load_constant(&search.entries[entries + index]) : make_uint2(none, none);
                    parent[k] = has ? load_constant(&search.parents[entries + index]) : 0;
                }
#pragma unroll
                for (u32 k = 0; k < at_once; k++) {
                    const u32 vertex = entry[k].x;
                    // A path through a vertex beyond this bucket is left to the bucket of that vertex.
                    if (vertex == none || static_cast<u64>(distance) + parent[k] * search.quantum >= end) continue;
                    const Distance through =
                        length_through<Lane>(distance, entry[k].y, search.limit, search.out_of_range);
                    if (through == Lane::unreachable) continue;
                    relaxations++;
                    const Distance old = atomicMin(&search.distances[vertex], through);
                    if (through >= old) continue;
                    improvements++;
                    if (through < end) continue;
                    // In this bucket it was queued before.
                    const u32 ahead = buckets_ahead(through);
                    if (old != Lane::unreachable && buckets_ahead(old) == ahead) continue;
                    append(vertex, load_constant(&search.places[vertex]), min(ahead, queues - 1));
                }
            }
        }
        meet_for(true, 1);
    }
    const u64 all_relaxations = warp_sum(static_cast<u64>(relaxations));
    if (lane == 0) {
        atomicAdd(&search.report[2], static_cast<u64>(expanded));
        atomicAdd(&search.report[3], all_relaxations);
    }
    if (search.statistics != nullptr) count_relaxations(*search.statistics, 0, improvements);
    if (thread == 0) store(&search.report[0], static_cast<u64>(steps));
}

}  // namespace multi_hop

#define WARPATH_MULTI_HOP(lane, Lane)                                                                              \
    extern "C" __global__ void __launch_bounds__(1024, 1) sssp_multi_hop_##lane(multi_hop::KernelArgument<Lane> search) { \
        multi_hop::run(search);                                                                                   \
    }                                                                                                             \
    WARPATH_KERNEL(sssp_multi_hop_##lane)

WARPATH_MULTI_HOP(u32_u32, LaneNarrow)
WARPATH_MULTI_HOP(u32_u64, LaneWide)
