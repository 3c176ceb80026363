// Shortest paths from many sources in one launch, each search by one block. The host loop, and the essay, are in
// `src/cuda/sssp/many_sources.rs`.
//
// Source: Davidson, Baxter, Garland and Owens 2014, "Work-efficient parallel GPU methods for single-source shortest
// paths", sect. 4.4; Dong, Gu, Sun and Zhang 2021, "Efficient stepping algorithms and implementations for parallel
// shortest paths".
//
// registers: 64
// no-sass: STL
#include "../rows.cuh"
#include "lanes.cuh"
#include "../generated/sssp/many_sources.cuh"

// Templates of all kernels meet when the emulator is linked.
namespace sssp_many_sources {

/// Longer rows are taken by the whole block.
constexpr u32 long_row = 512;
/// Steps of a block between two looks at the flag that stops it.
constexpr u32 steps_between_looks = 64;

/// Where the near queue is filled up from.
enum class From : u32 { nowhere, sources, far, all };

/// The state of a search that all threads of its block see.
template <class Distance>
struct State {
    Distance threshold;  // lesser distances go to the near queue
    Distance window;     // the least distance that was far when the threshold was set
    Distance least;      // of the far pile
    Distance lost;       // the least distance for which the far pile had no room
    double delta;
    u32 search;
    From from;
    u32 near_size[2];  // how many each queue would have, if it had room
    u32 far_size;      // how many the far pile would have, if it had room
    u32 to_gather;     // from how many the near queue is filled up
    u32 long_rows;
    u32 pure;          // how many the far pile had when it was last purged
    u32 fell;          // since the threshold was set: distances that fell,
    u32 reached;       // and those of them that were the first of their vertex
    u32 aim;           // how many the near queue should have
    u32 steps;
    bool purges;       // whether entries out of date are left out
    bool done;
    bool stops;
};

/// The arrays of a block in dynamic shared memory, in this order.
template <class Distance>
struct Shared {
    Distance* near_distances;  // two queues of `room`
    Distance* distances;       // of the search, if they fit
    u32* near_vertices;
    u16* long_rows;  // places in the near queue

    __device__ Shared(unsigned char* memory, u32 room, u32 distances_here)
        : near_distances(reinterpret_cast<Distance*>(memory)),
          distances(near_distances + 2 * room),
          near_vertices(reinterpret_cast<u32*>(distances + distances_here)),
          long_rows(reinterpret_cast<u16*>(near_vertices + 2 * room)) {}
};

/// A block with a search.
template <class Lane, class Offset>
struct Searcher {
    using Distance = typename Lane::Distance;
    static constexpr Distance nothing = ~static_cast<Distance>(0);
    const Batch<Lane, Offset>& batch;
    State<Distance>& state;
    const Shared<Distance> shared;
    Distance* const far_distances;
    u32* const far_vertices;
    Distance* row = nullptr;  // the distances of this search
    Distance least = nothing;
    Distance lost = nothing;
    u64 expanded = 0;
    u64 relaxations = 0;

    __device__ Searcher(const Batch<Lane, Offset>& batch, State<Distance>& state, unsigned char* memory)
        : batch(batch),
          state(state),
          shared(memory, batch.room, batch.in_shared ? batch.vertices : 0),
          far_distances(batch.far_distances + static_cast<u64>(blockIdx.x) * batch.capacity),
          far_vertices(batch.far_vertices + static_cast<u64>(blockIdx.x) * batch.capacity) {}

    __device__ Distance distance_of(u32 vertex) const {
        return batch.in_shared ? load_shared(&shared.distances[vertex]) : load(&row[vertex]);
    }

    /// Lowers the distance of a vertex; returns the distance before.
    __device__ Distance lower(u32 vertex, Distance to) const {
        return batch.in_shared ? atomicMin(&shared.distances[vertex], to) : atomicMin(&row[vertex], to);
    }

    /// All threads: nothing is reached, and sources are to be queued.
    __device__ void start(u32 search) {
        row = batch.distances + search * batch.stride;
        if (batch.in_shared) {
            for (u32 i = threadIdx.x; i < batch.vertices; i += blockDim.x) shared.distances[i] = Lane::unreachable;
        } else {
            // Rows are whole cache lines.
            constexpr u32 low = static_cast<u32>(Lane::unreachable);
            constexpr u32 high = static_cast<u32>(Lane::unreachable >> (8 * sizeof(Distance) - 32));
            const u64 count = batch.stride * sizeof(Distance) / sizeof(uint4);
            for (u64 i = threadIdx.x; i < count; i += blockDim.x) {
                store(reinterpret_cast<uint4*>(row) + i, make_uint4(low, high, low, high));
            }
        }
        if (threadIdx.x == 0) {
            state.threshold = Lane::further(0, batch.delta);
            state.window = 0;
            state.least = state.lost = nothing;
            state.delta = batch.delta;
            state.from = From::sources;
            state.near_size[0] = state.near_size[1] = state.far_size = 0;
            state.to_gather = batch.searches == 1 ? batch.source_count : 1;
            state.long_rows = state.pure = state.fell = state.reached = 0;
            state.aim = batch.wanted;
            state.steps = 0;
            state.purges = state.done = false;
        }
    }

    /// A warp queues, or puts on the far pile, the vertices of those lanes that have one.
    __device__ __forceinline__ void put(u32 queue, bool has, u32 vertex, Distance distance, Distance threshold) {
        bool near = has && distance < threshold;
        const u32 nears = __ballot_sync(all_lanes, near);
        if (nears != 0) {
            const u32 at = warp_take(&state.near_size[queue], static_cast<u32>(__popc(nears))) + place_in_ballot(nears);
            near = near && at < batch.room;
            if (near) {
                shared.near_distances[queue * batch.room + at] = distance;
                shared.near_vertices[queue * batch.room + at] = vertex;
            }
        }
        const bool far = has && !near;
        const u32 fars = __ballot_sync(all_lanes, far);
        if (fars != 0) {
            const u32 at = warp_take(&state.far_size, static_cast<u32>(__popc(fars))) + place_in_ballot(fars);
            if (far && at < batch.capacity) {
                far_distances[at] = distance;
                far_vertices[at] = vertex;
                least = min(least, distance);
            } else if (far) {
                lost = min(lost, distance);
            }
        }
    }

    /// Each warp tells the least distances that it has put on the pile.
    __device__ void tell() {
        const Distance all_least = warp_min(least), all_lost = warp_min(lost);
        if (lane_index() == 0) {
            if (all_least != nothing) atomicMin(&state.least, all_least);
            if (all_lost != nothing) atomicMin(&state.lost, all_lost);
        }
        least = lost = nothing;
    }

    /// One thread: whether the threshold moves, and from where the queue is filled up then.
    __device__ void decide(u32 queue) {
        state.steps++;
        const u32 found = state.near_size[queue], ready = min(found, batch.room);
        const u32 far = min(state.far_size, batch.capacity);
        state.far_size = far;
        state.near_size[1 - queue] = state.long_rows = 0;
        state.from = From::nowhere;
        if (state.steps % steps_between_looks == 0 && is_cancelled(batch.cancelled)) {
            state.done = state.stops = true;
            return;
        }
        state.aim = min(max(batch.wanted, far / 4), batch.room - batch.room / 4);
        if (found > min(2 * state.aim, batch.room)) {
            // The window was widened while there was little to do, or does not suit this part of the graph.
            state.delta = max(state.delta / 2, batch.delta / 1024);
            state.threshold = Lane::further(state.window, state.delta);
        }
        if (ready > 0 && ready >= state.aim / 4) return;
        if (ready == 0 && state.lost < state.least) {
            // Nearer vertices have their final distance. The others may be anywhere.
            state.window = state.lost;
            state.from = From::all;
            state.to_gather = batch.vertices;
            state.lost = nothing;
        } else if (far > 0) {
            state.window = state.least;
            state.from = From::far;
            state.to_gather = far;
            state.purges = far / 2 > state.pure + 512 || far > batch.capacity - batch.capacity / 4;
        } else {
            state.done = ready == 0;
            return;
        }
        state.threshold = Lane::further(state.window, state.delta);
        state.least = nothing;
        state.far_size = 0;
    }

    /// One thread, when the queue was filled up: delta follows the number of vertices found.
    __device__ void adapt(u32 queue) {
        const u32 ready = state.near_size[queue];
        if (ready > state.aim || state.fell > 2 * state.reached + 32) {
            state.delta = max(state.delta * 0.8, batch.delta / 1024);
        } else if (ready < state.aim - state.aim / 4) {
            state.delta *= 1.25;
        }
        state.fell = state.reached = 0;
        if (state.purges || state.from == From::all) state.pure = min(state.far_size, batch.capacity);
    }

    /// All threads: vertices below the threshold go to the queue, the rest back to the far pile, over entries that have
    /// been read.
    __device__ void gather(u32 queue) {
        const From from = state.from;
        const u32 count = state.to_gather;
        const bool purges = state.purges;
        const Distance window = state.window, threshold = state.threshold;
        const u32* const sources = batch.sources + (batch.searches == 1 ? 0 : state.search);
        u32 vertex = 0;
        Distance distance = 0;
        const auto fetch = [&](u32 index) {
            if (index >= count) return false;
            if (from == From::far) {
                vertex = far_vertices[index];
                distance = far_distances[index];
                return !purges || distance_of(vertex) == distance;
            }
            if (from == From::all) {
                vertex = index;
                distance = distance_of(vertex);
                return distance >= window && distance != Lane::unreachable;
            }
            vertex = load_constant(&sources[index]);
            lower(vertex, 0);
            return true;
        };
        bool has = fetch(threadIdx.x);
        for (u32 first = 0; first < count; first += blockDim.x) {
            const bool has_now = has;
            const u32 vertex_now = vertex;
            const Distance distance_now = distance;
            has = fetch(first + blockDim.x + threadIdx.x);
            __syncthreads();
            put(queue, has_now, vertex_now, distance_now, threshold);
        }
        tell();
    }

    /// All threads: relax the arcs of the vertices in a queue.
    __device__ void expand(u32 queue) {
        using ArcOfLane = Arc<typename Lane::Weight>;
        const u32 lane = lane_index(), warp = warp_index(), warps = warps_of_block();
        const u32 ready = min(state.near_size[queue], batch.room);
        const u32 share = min((ready + warps - 1) / warps, lanes_a_warp);
        const Distance threshold = state.threshold;
        const Distance* const near_distances = shared.near_distances + queue * batch.room;
        const u32* const near_vertices = shared.near_vertices + queue * batch.room;
        u32* const out_of_range = &batch.out_of_range[state.search];
        u32 fell = 0, reached = 0;
        bool long_rows = false;
        for (u32 first = warp * share;;) {
            // Where the arcs begin that each lane brings, and how many they are.
            Offset begin = 0;
            u32 count = 0;
            Distance distance = 0;
            if (!long_rows) {
                // A warp takes up to 32 vertices; where there are few, fewer.
                if (first >= ready) {
                    __syncthreads();
                    long_rows = true;
                    first = 0;
                    continue;
                }
                const u32 index = first + lane;
                if (lane < share && index < ready) {
                    const u32 tail = near_vertices[index];
                    distance = near_distances[index];
                    begin = load_constant(&batch.offsets[tail]);
                    const Offset end = load_constant(&batch.offsets[tail + 1]);
                    // Else it fell again, and was queued again.
                    if (distance_of(tail) == distance) {
                        expanded++;
                        if (end - begin > long_row) {
                            shared.long_rows[atomicAdd(&state.long_rows, 1u)] = static_cast<u16>(index);
                        } else {
                            count = static_cast<u32>(end - begin);
                        }
                    }
                }
                first += warps * share;
            } else {
                // All warps take their part of a row.
                if (first >= state.long_rows) break;
                const u32 index = shared.long_rows[first];
                const u32 tail = near_vertices[index];
                distance = near_distances[index];
                begin = load_constant(&batch.offsets[tail]);
                const Offset degree = load_constant(&batch.offsets[tail + 1]) - begin;
                const Offset part = (degree + blockDim.x - 1) / blockDim.x, before = part * threadIdx.x;
                if (before < degree) count = static_cast<u32>(min(part, degree - before));
                begin += before;
                first++;
            }
            for_packed_arcs(begin, count, [&](bool has, u32 row, Offset arc) {
                const Distance from = __shfl_sync(all_lanes, distance, static_cast<int>(row));
                u32 head = 0;
                Distance through = 0, old = 0;
                if (has) {
                    relaxations++;
                    const ArcOfLane read = load_once(&batch.arcs[arc]);
                    head = read.head;
                    through = length_through<Lane>(from, read.weight, batch.limit, out_of_range);
                    // Most arcs lead to heads that are known to be as near.
                    old = distance_of(head);
                    if (through < old) old = lower(head, through);
                }
                // A length beyond the limit is `unreachable`, and nothing is farther.
                const bool falls = through < old;
                const u32 all_falls = __ballot_sync(all_lanes, falls);
                if (all_falls == 0) return;
                fell += static_cast<u32>(__popc(all_falls));
                reached += static_cast<u32>(__popc(__ballot_sync(all_lanes, falls && old == Lane::unreachable)));
                put(1 - queue, falls, head, through, threshold);
            });
        }
        if (fell > 0) {
            tell();
            if (lane == 0) {
                atomicAdd(&state.fell, fell);
                atomicAdd(&state.reached, reached);
            }
        }
    }
};

template <class Lane, class Offset>
__device__ __forceinline__ void run(const Batch<Lane, Offset>& batch) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    __shared__ State<Distance> state;
    Searcher<Lane, Offset> searcher(batch, state, memory);
    u64 steps = 0, thresholds = 0, scans = 0;
    if (threadIdx.x == 0) state.stops = false;
    for (;;) {
        __syncthreads();
        if (threadIdx.x == 0) {
            const bool stops = state.stops || is_cancelled(batch.cancelled);
            state.search = stops ? batch.searches : atomicAdd(batch.next, 1u);
        }
        __syncthreads();
        const u32 search = state.search;
        if (search >= batch.searches) break;
        searcher.start(search);
        for (u32 queue = 0;; queue = 1 - queue) {
            __syncthreads();
            if (state.done) break;
            if (state.from != From::nowhere) {
                searcher.gather(queue);
                __syncthreads();
                if (threadIdx.x == 0) {
                    thresholds++;
                    scans += state.from == From::all;
                    searcher.adapt(queue);
                }
                __syncthreads();
            }
            searcher.expand(queue);
            __syncthreads();
            if (threadIdx.x == 0) searcher.decide(1 - queue);
        }
        steps += state.steps;
        if (batch.in_shared) {
            Distance* const row = batch.distances + search * batch.stride;
            for (u32 i = threadIdx.x; i < batch.vertices; i += blockDim.x) {
                store_once(&row[i], searcher.shared.distances[i]);
            }
        }
    }
    const u64 expanded = block_sum(searcher.expanded), relaxations = block_sum(searcher.relaxations);
    if (threadIdx.x == 0) {
        atomicAdd(&batch.report[0], steps);
        atomicAdd(&batch.report[1], thresholds);
        atomicAdd(&batch.report[2], scans);
        atomicAdd(&batch.report[3], expanded);
        atomicAdd(&batch.report[4], relaxations);
    }
}

}  // namespace sssp_many_sources

#define WARPATH_MANY_SOURCES(lane, Lane, bits, Offset)                                      \
    extern "C" __global__ void __launch_bounds__(1024, 1)                                   \
        sssp_many_sources_##bits##_##lane(sssp_many_sources::Batch<Lane, Offset> batch) {   \
        sssp_many_sources::run(batch);                                                      \
    }                                                                                       \
    WARPATH_KERNEL(sssp_many_sources_##bits##_##lane)

WARPATH_MANY_SOURCES(u32_u32, LaneNarrow, 32, u32)
WARPATH_MANY_SOURCES(u32_u64, LaneWide, 32, u32)
WARPATH_MANY_SOURCES(f32_f32, LaneSingle, 32, u32)
WARPATH_MANY_SOURCES(f64_f64, LaneDouble, 32, u32)
WARPATH_MANY_SOURCES(u32_u32, LaneNarrow, 64, u64)
WARPATH_MANY_SOURCES(u32_u64, LaneWide, 64, u64)
WARPATH_MANY_SOURCES(f32_f32, LaneSingle, 64, u64)
WARPATH_MANY_SOURCES(f64_f64, LaneDouble, 64, u64)
