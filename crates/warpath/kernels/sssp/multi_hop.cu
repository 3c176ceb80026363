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

/// A warp goes through the arcs of 32 vertices of the neighborhood, those that have their bit in `lanes`. Each lane is
/// handed its arc with `work(has, head, weight)`, all together.
template <class Work>
__device__ __forceinline__ void for_each_arc(const Build& build, u32 vertex, bool has, Work work) {
    u32 begin = 0, degree = 0;
    if (has) {
        begin = load_constant(&build.offsets[vertex]);
        degree = load_constant(&build.offsets[vertex + 1]) - begin;
    }
    const u32 most_arcs = warp_max(degree);
    for (u32 arc = 0; arc < most_arcs; arc++) {
        const bool here = arc < degree;
        work(here, here ? load_constant(&build.targets[begin + arc]) : none,
             here ? load_constant(&build.weights[begin + arc]) : 0);
    }
}

/// A warp finds all vertices less than `delta` away from `vertex`, and the heads of their arcs, with their distances by
/// such paths: relaxation until nothing changes. Returns how many; 0 if they are too many.
__device__ u32 collect(const Build& build, u32 vertex, Neighborhood& found) {
    const u32 lane = lane_index();
    for (u32 slot = lane; slot < table_size; slot += lanes_a_warp) found.keys[slot] = none;
    for (u32 word = lane; word < most / 32; word += lanes_a_warp) found.changed[word] = word == 0;
    __syncwarp();
    if (lane == 0) {
        found.indices[find_slot(found.keys, vertex).index] = 0;
        found.vertex[0] = vertex;
        found.distance[0] = 0;
    }
    __syncwarp();
    u32 size = 1;
    for (bool more = true; more;) {
        more = false;
        for (u32 first = 0; first < size; first += 32) {
            const u32 changed = found.changed[first / 32];
            __syncwarp();
            if (lane == 0) found.changed[first / 32] = 0;
            __syncwarp();
            const bool fell = changed >> lane & 1;
            const u32 from = fell ? load_shared(&found.distance[first + lane]) : none;
            const bool inside = fell && from < build.delta;
            if (!__any_sync(all_lanes, inside)) continue;
            more = true;
            bool too_many = false;
            for_each_arc(build, inside ? found.vertex[first + lane] : 0, inside, [&](bool has, u32 head, u32 weight) {
                if (too_many) return;
                const Slot slot = has ? find_slot(found.keys, head) : Slot{0, false};
                const u32 ballot = __ballot_sync(all_lanes, slot.fresh);
                too_many = size + __popc(ballot) > most;
                if (too_many) return;
                if (slot.fresh) {
                    const u32 index = size + place_in_ballot(ballot);
                    found.indices[slot.index] = static_cast<u16>(index);
                    found.vertex[index] = head;
                    found.distance[index] = none;
                }
                size += __popc(ballot);
                __syncwarp();
                if (has) {
                    const u32 index = found.indices[slot.index], through = from + weight;
                    if (atomicMin(&found.distance[index], through) > through) {
                        atomicOr(&found.changed[index / 32], 1u << index % 32);
                    }
                }
                __syncwarp();
            });
            if (too_many) return 0;
        }
    }
    for (u32 index = lane; index < size; index += lanes_a_warp) found.parent[index] = none;
    __syncwarp();
    for (u32 first = 0; first < size; first += 32) {
        const u32 from = first + lane < size ? found.distance[first + lane] : none;
        const bool inside = from < build.delta;
        for_each_arc(build, inside ? found.vertex[first + lane] : 0, inside, [&](bool has, u32 head, u32 weight) {
            if (!has) return;
            const u32 index = found.indices[find_slot(found.keys, head).index];
            if (from + weight == found.distance[index]) atomicMin(&found.parent[index], from);
        });
    }
    __syncwarp();
    return size;
}

/// Writes the neighborhoods of all vertices, each made by one warp. Takes a `Neighborhood` of dynamic shared memory a
/// warp.
extern "C" __global__ void __launch_bounds__(256) sssp_multi_hop_build(Build build) {
    DYNAMIC_SHARED(memory);
    Neighborhood& found = reinterpret_cast<Neighborhood*>(memory)[warp_index()];
    const u32 lane = lane_index(), warps = warps_of_grid();
    for (u32 vertex = warp_of_grid(); vertex < build.vertices; vertex += warps) {
        const u32 size = collect(build, vertex, found);
        const u32 begin = take_units(size, build.used, build.capacity, build.failed), length = units_of(size) * unit;
        if (begin == none) return;
        if (lane == 0) build.places[vertex] = make_uint2(begin, length);
        const u64 to = static_cast<u64>(begin) * unit;
        for (u32 k = lane; k < length; k += lanes_a_warp) {
            const bool has = k + 1 < size;
            build.entries[to + k] = has ? make_uint2(found.vertex[k + 1], found.distance[k + 1]) : make_uint2(none, none);
            build.parents[to + k] = has ? static_cast<u8>(found.parent[k + 1] / build.quantum) : 0;
        }
        __syncwarp();
    }
}
WARPATH_KERNEL(sssp_multi_hop_build)

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
