// Direction-optimizing breadth-first search, all levels in one cooperative launch. The host loop, and the essay, are in
// `src/cuda/bfs/direction_optimizing.rs`.
//
// Source: Beamer, Asanovic and Patterson 2012, "Direction-optimizing breadth-first search".
//
// registers: 64
// no-sass: STL
#include "../frontier.cuh"
#include "best_tails.cuh"
#include "../generated/bfs/direction_optimizing.cuh"

constexpr u32 unreached = ~0u;
constexpr u32 no_vertex = ~0u;

/// The queues of a level.
template <class Offset>
struct Queues {
    const KernelArgument<Offset>& search;
    u32 parity;
    Level* level;

    __device__ const Offset* offsets() const { return search.offsets; }
    __device__ u32* short_rows() const { return search.short_rows[parity]; }
    __device__ uint2* long_rows() const { return search.long_rows[parity]; }
    __device__ u32* short_count() const { return &level->short_rows; }
    __device__ u32* piece_count() const { return &level->pieces; }
    __device__ u32 capacity() const { return search.vertices; }
};

/// One warp's way of appending vertices to the queues of the next level, and of counting them and their arcs.
template <class Offset>
struct Appender {
    frontier::Appender<Queues<Offset>> appender;
    u32 found = 0;
    u64 arcs = 0;

    /// The queues of this parity. `collections` is the shared memory of all warps of the block.
    __device__ Appender(const KernelArgument<Offset>& search, u32* collections, u32 parity, Level* level)
        : appender({search, parity, level}, collections + warp_index() * frontier::collected) {}

    /// Appends the vertices of those lanes that have one.
    __device__ void append(bool has, u32 vertex) {
        found += has;
        arcs += appender.append(has, vertex);
    }

    /// Empties the collection, and adds up vertices and arcs.
    __device__ void finish() {
        appender.finish();
        Level* const level = appender.queues.level;
        const u32 all_found = warp_sum(found);
        const u64 all_arcs = warp_sum(arcs);
        if (lane_index() == 0 && all_found > 0) {
            atomicAdd(&level->found, all_found);
            atomicAdd(&level->arcs, all_arcs);
        }
    }
};

/// Relaxes the arcs of the frontier: each unvisited head is claimed by one thread, which sets its level and queues it.
template <class Offset>
__device__ void top_down(const KernelArgument<Offset>& search, Appender<Offset>& next, u32* visited, u32 parity, u32 shorts,
                         u32 pieces, u32 level) {
    const u32 lane = lane_index();

    // Long rows: four arcs a lane at once.
    constexpr u32 at_once = 4;
    frontier::for_pieces(search.offsets, search.long_rows[parity], pieces, [&](uint2, Offset begin, Offset end) {
        for (Offset first = begin; first < end; first += at_once * lanes_a_warp) {
            u32 head[at_once];
            bool mine[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const Offset arc = first + k * lanes_a_warp + lane;
                head[k] = arc < end ? load_constant(&search.targets[arc]) : no_vertex;
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                mine[k] = head[k] != no_vertex && !(load(&visited[head[k] / 32]) >> head[k] % 32 & 1);
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                if (mine[k]) mine[k] = !(atomicOr(&visited[head[k] / 32], 1u << head[k] % 32) >> head[k] % 32 & 1);
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                if (mine[k]) store(&search.levels[head[k]], level);
                if (__any_sync(all_lanes, mine[k])) next.append(mine[k], head[k]);
            }
        }
    });

    frontier::for_items(shorts, warp_of_grid(), warps_of_grid(), [&](bool has_row, u32 item) {
        Offset begin = 0;
        u32 degree = 0;
        if (has_row) {
            const u32 tail = load(&search.short_rows[parity][item]);
            begin = load_constant(&search.offsets[tail]);
            degree = static_cast<u32>(load_constant(&search.offsets[tail + 1]) - begin);
        }
        for_packed_arcs(begin, degree, [&](bool has, u32, Offset arc) {
            u32 head = 0;
            bool mine = false;
            if (has) {
                head = load_constant(&search.targets[arc]);
                const u32 bit = 1u << head % 32;
                mine = !(load(&visited[head / 32]) & bit) && !(atomicOr(&visited[head / 32], bit) & bit);
                if (mine) store(&search.levels[head], level);
            }
            if (__any_sync(all_lanes, mine)) next.append(mine, head);
        });
    });
}

/// Queues the vertices that `after` has and `before` has not.
template <class Offset>
__device__ void gather(const KernelArgument<Offset>& search, Appender<Offset>& queue, const u32* before, const u32* after) {
    const u32 words = (search.vertices + 31) / 32;
    const u32 warps = warps_of_grid(), warp = warp_of_grid();
    for (u32 first = warp * lanes_a_warp; first < words; first += warps * lanes_a_warp) {
        const u32 word = first + lane_index();
        const u32 fresh = word < words ? after[word] & ~before[word] : 0;
        for_lanes_of(__ballot_sync(all_lanes, fresh != 0), [&](int from) {
            const u32 bits = __shfl_sync(all_lanes, fresh, from);
            queue.append(bits >> lane_index() & 1, (first + static_cast<u32>(from)) * 32 + lane_index());
        });
    }
}

template <class Offset>
__device__ void run(const KernelArgument<Offset>& search) {
    __shared__ u32 collections[most_warps_a_block * frontier::collected];
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const u32 words = (search.vertices + 31) / 32;
    const uint4 none = make_uint4(unreached, unreached, unreached, unreached);
    for (u64 i = thread; i < (static_cast<u64>(search.vertices) + 3) / 4; i += threads) {
        reinterpret_cast<uint4*>(search.levels)[i] = none;
    }
    for (u32 i = thread; i < words; i += threads) search.visited[0][i] = load_constant(&search.settled[i]);
    if (thread < 3) search.turns[thread] = Level{0, 0, 0, 0, 0};
    grid_barrier();

    {
        Appender<Offset> queue(search, collections, 0, &search.turns[0]);
        const u32 warp = thread / lanes_a_warp;
        for (u32 first = warp * lanes_a_warp; first < search.source_count; first += threads) {
            const bool has = first + lane_index() < search.source_count;
            const u32 source = has ? load(&search.sources[first + lane_index()]) : 0;
            if (has) {
                atomicOr(&search.visited[0][source / 32], 1u << source % 32);
                store(&search.levels[source], 0);
            }
            queue.append(has, source);
        }
        queue.finish();
    }
    grid_barrier();

    u32 level = 1, bottom_up_levels = 0;
    u32 now = 0;  // which of the bitmaps has the visited vertices
    bool up = false;
    for (; level <= search.cutoff; level++) {
        Level* const last = &search.turns[(level - 1) % 3];
        Level* const turn = &search.turns[level % 3];
        const u32 found = load(&last->found);
        if (found == 0 || load(&last->cancelled)) break;
        if (frontier::targets_are_settled(search.levels, search.targets_wanted, search.target_count, level)) break;
        const u32 parity = (level - 1) % 2;
        if (!up) {
            // Hubs are among the best tails of many vertices: then bottom-up pays earlier.
            const float arcs = static_cast<float>(load(&last->arcs)), all = static_cast<float>(search.arcs);
            const bool hubs = arcs * static_cast<float>(search.vertices) > 4 * static_cast<float>(found) * all;
            up = arcs > (hubs ? search.bottom_up / 4 : search.bottom_up) * all;
        } else if (static_cast<float>(found) < search.top_down * static_cast<float>(search.vertices)) {
            up = false;
            Appender<Offset> queue(search, collections, parity, last);
            gather(search, queue, search.visited[now ^ 1], search.visited[now]);
            queue.appender.finish();
            grid_barrier();
        }
        if (thread == 0) {
            search.turns[(level + 1) % 3] = Level{0, 0, 0, 0, 0};
            if (is_cancelled(search.cancelled)) turn->cancelled = 1;
        }
        if (up) {
            const best_tails::Incoming<Offset> incoming = {search.incoming_offsets, search.incoming, search.best_tails};
            const u32 count = best_tails::bottom_up(incoming, ordered::All{search.vertices}, search.visited[now], search.visited[now ^ 1],
                                                    search.levels, level);
            if (lane_index() == 0 && count > 0) atomicAdd(&turn->found, count);
            now ^= 1;
            bottom_up_levels++;
        } else {
            Appender<Offset> next(search, collections, level % 2, turn);
            top_down(search, next, search.visited[now], parity, load(&last->short_rows), load(&last->pieces), level);
            next.finish();
        }
        grid_barrier();
    }
    if (thread == 0) {
        search.report[0] = level - 1;
        search.report[1] = bottom_up_levels;
    }
}

extern "C" __global__ void __launch_bounds__(512, 2) bfs_direction_optimizing_32(KernelArgument<u32> search) { run(search); }
WARPATH_KERNEL(bfs_direction_optimizing_32)
extern "C" __global__ void __launch_bounds__(512, 2) bfs_direction_optimizing_64(KernelArgument<u64> search) { run(search); }
WARPATH_KERNEL(bfs_direction_optimizing_64)

template <class Offset>
__device__ void choose_best_tails(const Offset* incoming_offsets, const u32* incoming, const Offset* offsets, u32 vertices,
                                  uint4* best_tails, u32* settled) {
    const auto degree_of = [&](u32 vertex) {
        return static_cast<u32>(load_constant(&offsets[vertex + 1]) - load_constant(&offsets[vertex]));
    };
    const auto leads_nowhere = [&](u32 vertex) { return degree_of(vertex) == 0; };
    const ordered::All all{vertices};
    best_tails::choose_best_tails(incoming_offsets, incoming, all, leads_nowhere, degree_of, best_tails, settled);
}

extern "C" __global__ void __launch_bounds__(512)
    bfs_choose_best_tails_32(const u32* incoming_offsets, const u32* incoming, const u32* offsets, u32 vertices, uint4* best_tails,
                        u32* settled) {
    choose_best_tails(incoming_offsets, incoming, offsets, vertices, best_tails, settled);
}
WARPATH_KERNEL(bfs_choose_best_tails_32)
extern "C" __global__ void __launch_bounds__(512)
    bfs_choose_best_tails_64(const u64* incoming_offsets, const u32* incoming, const u64* offsets, u32 vertices, uint4* best_tails,
                        u32* settled) {
    choose_best_tails(incoming_offsets, incoming, offsets, vertices, best_tails, settled);
}
WARPATH_KERNEL(bfs_choose_best_tails_64)
