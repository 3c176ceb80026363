// Breadth-first search that settles several levels a step, all in one cooperative launch. The host loop, and the essay,
// are in `src/cuda/bfs/multi_hop.rs`.
//
// registers: 64
// no-sass: STL
#include "../multi_hop.cuh"
#include "../generated/bfs/multi_hop.cuh"

using namespace multi_hop;

constexpr u32 unreached = ~0u;
constexpr u32 vertex_mask = (1u << vertex_bits) - 1;

/// A warp collects all vertices within `radius` arcs of `vertex`, nearest first, and returns how many; 0 if they are
/// too many.
__device__ u32 collect(const u32* offsets, const u32* targets, u32 vertex, u32 radius, u32* found, u32* table) {
    const u32 lane = lane_index();
    for (u32 slot = lane; slot < table_size; slot += lanes_a_warp) table[slot] = none;
    __syncwarp();
    if (lane == 0) {
        found[0] = vertex;
        find_slot(table, vertex);
    }
    __syncwarp();
    u32 size = 1, layer = 0;
    for (u32 r = 0; r < radius; r++) {
        const u32 end = size;
        // Four lanes take a vertex of the last layer, and go through its arcs side by side.
        constexpr u32 side_by_side = 4;
        for (u32 first = layer; first < end; first += lanes_a_warp / side_by_side) {
            const u32 index = first + lane / side_by_side;
            u32 begin = 0, degree = 0;
            if (index < end) {
                const u32 tail = found[index] & vertex_mask;
                begin = load_constant(&offsets[tail]);
                degree = load_constant(&offsets[tail + 1]) - begin;
            }
            const u32 most_arcs = warp_max(degree);
            for (u32 begun = 0; begun < most_arcs; begun += side_by_side) {
                const u32 arc = begun + lane % side_by_side;
                const u32 head = arc < degree ? load_constant(&targets[begin + arc]) : none;
                const bool fresh = head != none && find_slot(table, head).fresh;
                const u32 ballot = __ballot_sync(all_lanes, fresh);
                if (size + __popc(ballot) > most) return 0;
                if (fresh) found[size + place_in_ballot(ballot)] = head | r << vertex_bits;
                size += __popc(ballot);
            }
        }
        __syncwarp();
        layer = end;
    }
    return size;
}

/// Writes the neighborhoods of all vertices, each made by one warp. A place is where one begins, in units, and how many
/// entries it has. `used` counts units; `failed` is set if a neighborhood is too large, or there are more units than
/// `capacity`. Takes `build_words` words of dynamic shared memory a warp.
extern "C" __global__ void __launch_bounds__(256)
    bfs_multi_hop_build(const u32* offsets, const u32* targets, u32 vertices, u32 radius, uint2* places, u32* entries,
                        u32* used, u32 capacity, u32* failed) {
    DYNAMIC_SHARED(memory);
    u32* const found = reinterpret_cast<u32*>(memory) + warp_index() * build_words;
    u32* const table = found + most;
    const u32 lane = lane_index(), warps = warps_of_grid();
    for (u32 vertex = warp_of_grid(); vertex < vertices; vertex += warps) {
        if (__any_sync(all_lanes, load(failed) != 0)) return;
        const u32 size = collect(offsets, targets, vertex, radius, found, table);
        const u32 begin = take_units(size, used, capacity, failed), length = units_of(size) * unit;
        if (begin == none) return;
        if (lane == 0) places[vertex] = make_uint2(begin, length);
        u32* const to = entries + static_cast<u64>(begin) * unit;
        for (u32 k = lane; k < length; k += lanes_a_warp) to[k] = k + 1 < size ? found[k + 1] : none;
        __syncwarp();
    }
}
WARPATH_KERNEL(bfs_multi_hop_build)

/// The news for every thread after a barrier.
struct Meeting {
    u32 appended;  // by this block
    u32 seen;      // the sum of all arrivals
    PartSizes queue;
};

extern "C" __global__ void __launch_bounds__(1024, 1) bfs_multi_hop(KernelArgument search) {
    __shared__ Meeting meeting;
    const u32 lane = lane_index(), thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const u32 warp = spread_warp_of_grid(), warps = threads / lanes_a_warp;
    const uint4 nothing = make_uint4(unreached, unreached, unreached, unreached);
    for (u32 i = thread; i < (search.vertices + 3) / 4; i += threads) reinterpret_cast<uint4*>(search.levels)[i] = nothing;
    for (u32 i = thread; i < 2 * parts; i += threads) search.sizes[i] = i == 0 ? search.source_count : 0;
    if (threadIdx.x == 0) meeting.appended = 0;
    u32 round = 0;

    // A barrier of the grid, after which all know how many items each block has appended to the queue of this parity.
    // A block says so with its arrival, so that nothing else has to be read to know that the search is over.
    const auto meet_for = [&](u32 parity, bool publish) {
        __syncthreads();
        if (threadIdx.x < lanes_a_warp) {
            if (lane == 0) {
                const u32 appended = meeting.appended;
                u32 arrival = 0;
                if (publish) {
                    store(&search.sizes[parity * parts + blockIdx.x], min(appended, search.capacity));
                    meeting.appended = 0;
                    if (appended > 0) arrival += appends;
                    if (appended > search.capacity) {
                        store(&search.report[1], 1);
                        arrival += stops;
                    }
                    if (blockIdx.x == 0 && is_cancelled(search.cancelled)) arrival += stops;
                }
                meeting.seen = grid_sum<appends>(search.arrivals, round, arrival);
            }
            __syncwarp();
            meeting.queue.gather(search.sizes + parity * parts);
        }
        round++;
        __syncthreads();
    };

    meet_for(0, false);
    for (u32 i = thread; i < search.source_count; i += threads) {
        const u32 source = load_constant(&search.sources[i]);
        const uint2 place = load_constant(&search.places[source]);
        store(&search.levels[source], 0);
        store(&search.queue[i], make_uint4(source, place.x, place.y, 0));
    }
    meet_for(0, false);

    const u32 outermost = search.radius - 1;
    u32 steps = 0, level = 0;  // the level of the vertices in the queue
    for (; level < search.cutoff; steps++, level += search.radius) {
        // The level is less than the cutoff.
        if (frontier::targets_are_settled(search.levels, search.targets_wanted, search.target_count, level + 1)) break;
        const u32 parity = steps % 2;
        const uint4* const queue = search.queue + static_cast<u64>(parity) * parts * search.capacity;
        uint4* const own = search.queue + (static_cast<u64>(parity ^ 1) * parts + blockIdx.x) * search.capacity;
        const u32 total = meeting.queue.total;
        const PartFinder finder(meeting.queue);
        for (u32 item_index = warp; item_index < total; item_index += warps) {
            const uint4 item = load(&queue[finder.place_of(item_index, search.capacity)]);
            const u32* const entries = search.entries + static_cast<u64>(item.y) * unit;
            const u32 length = item.z;
            // A vertex that was found nearer after it was queued has been expanded from there.
            const bool stale = load(&search.levels[item.x]) != level;
            constexpr u32 at_once = 2;
            for (u32 first = 0; first < length; first += at_once * lanes_a_warp) {
                u32 entry[at_once], old[at_once], found[at_once], all_found = 0;
                uint2 places[at_once] = {};
#pragma unroll
                for (u32 k = 0; k < at_once; k++) {
                    const u32 index = first + k * lanes_a_warp + lane;
                    entry[k] = index < length ? load_constant(&entries[index]) : none;
                }
                if (stale) break;
#pragma unroll
                for (u32 k = 0; k < at_once; k++) {
                    const u32 vertex = entry[k] & vertex_mask, away = entry[k] >> vertex_bits;
                    old[k] = 0;
                    if (entry[k] != none) {
                        if (away == outermost) {
                            places[k] = load_constant(&search.places[vertex]);
                            old[k] = atomicMin(&search.levels[vertex], level + 1 + away);
                        } else {
                            atomicMin(&search.levels[vertex], level + 1 + away);
                        }
                    }
                }
#pragma unroll
                for (u32 k = 0; k < at_once; k++) {
                    found[k] = __ballot_sync(all_lanes, old[k] == unreached);
                    all_found += __popc(found[k]);
                }
                if (all_found == 0) continue;
                u32 at = warp_take(&meeting.appended, all_found);
#pragma unroll
                for (u32 k = 0; k < at_once; k++) {
                    if (old[k] == unreached) {
                        const u32 to = at + place_in_ballot(found[k]);
                        const uint4 item = make_uint4(entry[k] & vertex_mask, places[k].x, places[k].y, 0);
                        if (to < search.capacity) store(&own[to], item);
                        // It is read after the barrier: the first and the last line, which are most of it.
                        const u32* const neighborhood = search.entries + static_cast<u64>(places[k].x) * unit;
                        prefetch_to_l2(neighborhood);
                        prefetch_to_l2(neighborhood + lanes_a_warp);
                    }
                    at += __popc(found[k]);
                }
            }
        }
        meet_for(parity ^ 1, true);
        if (meeting.seen < appends || meeting.seen >= stops) {
            steps++;
            break;
        }
    }
    if (thread == 0) store(&search.report[0], steps);
}
WARPATH_KERNEL(bfs_multi_hop)
