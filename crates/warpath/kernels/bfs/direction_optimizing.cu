// Direction-optimizing breadth-first search, all levels in one cooperative launch. The host loop, and the essay, are in
// `src/cuda/bfs/direction_optimizing.rs`.
//
// Source: Beamer, Asanovic and Patterson 2012, "Direction-optimizing breadth-first search".
//
// registers: 64
// no-sass: STL
#include "../frontier.cuh"
#include "../generated/bfs/direction_optimizing.cuh"

constexpr u32 unreached = ~0u;
constexpr u32 no_vertex = ~0u;
/// Of a longer row only the first arcs are looked at when the best tails are chosen.
constexpr u32 most_looked_at = 4096;

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

__device__ bool is_set(const u32* bits, u32 vertex) { return bits[vertex / 32] >> vertex % 32 & 1; }

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

/// Looks, for every vertex that is not in `before`, whether one of its arcs comes from there; `after` has those, too. A
/// tail that was visited before the last level would have found the vertex itself, so nothing else tells the frontier.
template <class Offset>
__device__ void bottom_up(const KernelArgument<Offset>& search, const u32* before, u32* after, Level* turn, u32 level) {
    const u32 lane = lane_index(), words = (search.vertices + 31) / 32;
    const u32 warps = warps_of_grid(), warp = warp_of_grid();
    u32 count = 0;
    // A word takes a chain of loads from memory. Meanwhile the best tails for the next word are under way, and the visited
    // bits of the one after that.
    const auto visited_of = [&](u32 word) { return word < words ? before[word] : all_lanes; };
    const auto heads_for = [&](u32 word, u32 visited) {
        return !(visited >> lane & 1) ? load_once(&search.best_tails[word * 32 + lane]) : make_uint4(no_vertex, no_vertex, no_vertex, no_vertex);
    };
    u32 visited = visited_of(warp), visited_next = visited_of(warp + warps);
    uint4 head = heads_for(warp, visited);
    for (u32 word = warp; word < words; word += warps) {
        const u32 visited_after_next = visited_of(word + 2 * warps);
        const uint4 head_next = heads_for(word + warps, visited_next);
        u32 found = 0;
        if (visited != all_lanes) {
            const u32 vertex = word * 32 + lane;
            bool hit = false, unsure = false;
            if (head.x != no_vertex) {
                hit = is_set(before, head.x);
                if (!hit && head.y != no_vertex) {
                    const bool second = is_set(before, head.y);
                    const bool third = head.z != no_vertex && is_set(before, head.z);
                    const bool fourth = head.w != no_vertex && is_set(before, head.w);
                    hit = second || third || fourth;
                    unsure = !hit && head.w != no_vertex;  // there may be more
                }
            }
            found = __ballot_sync(all_lanes, hit);
            if (__any_sync(all_lanes, unsure)) {
                Offset begin = 0, end = 0;
                if (unsure) {
                    begin = load_constant(&search.incoming_offsets[vertex]);
                    end = load_constant(&search.incoming_offsets[vertex + 1]);
                }
                // The whole warp looks through one row after another.
                for_lanes_of(__ballot_sync(all_lanes, end - begin > 4), [&](int from) {
                    const Offset last = __shfl_sync(all_lanes, end, from);
                    for (Offset arc = __shfl_sync(all_lanes, begin, from); arc < last; arc += lanes_a_warp) {
                        const u32 tail = arc + lane < last ? load_constant(&search.incoming[arc + lane]) : no_vertex;
                        if (__any_sync(all_lanes, tail != no_vertex && is_set(before, tail))) {
                            found |= 1u << from;
                            break;
                        }
                    }
                });
            }
            if (found >> lane & 1) store(&search.levels[vertex], level);
        }
        if (lane == 0) after[word] = visited | found;
        count += __popc(found);
        visited = visited_next;
        visited_next = visited_after_next;
        head = head_next;
    }
    if (lane == 0 && count > 0) atomicAdd(&turn->found, count);
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
            bottom_up(search, search.visited[now], search.visited[now ^ 1], turn, level);
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

/// Chooses for each vertex the tails with the most arcs, which are visited first in all likelihood, and marks the
/// vertices without any arc, in or out. In long rows each lane proposes one, so not quite the best are chosen. O(arcs)
/// work.
template <class Offset>
__device__ void choose_best_tails(const Offset* incoming_offsets, const u32* incoming, const Offset* offsets, u32 vertices,
                             uint4* best_tails, u32* settled) {
    const u32 lane = lane_index(), words = (vertices + 31) / 32;
    const u32 warps = warps_of_grid(), warp = warp_of_grid();
    for (u32 word = warp; word < words; word += warps) {
        u32 without = 0;
        uint4 mine = make_uint4(no_vertex, no_vertex, no_vertex, no_vertex);
        for (u32 k = 0; k < lanes_a_warp; k++) {
            const u32 vertex = word * 32 + k;
            Offset begin = 0, end = 0;
            bool leads_nowhere = true;
            if (vertex < vertices) {
                begin = load_constant(&incoming_offsets[vertex]);
                end = load_constant(&incoming_offsets[vertex + 1]);
                leads_nowhere = load_constant(&offsets[vertex]) == load_constant(&offsets[vertex + 1]);
            }
            if (begin == end && leads_nowhere) without |= 1u << k;
            // Number of arcs + 1, and the complement of the tail: the greatest is the best.
            u64 proposal = 0;
            const Offset looked_at = end - begin > most_looked_at ? begin + most_looked_at : end;
            for (Offset arc = begin + lane; arc < looked_at; arc += lanes_a_warp) {
                const u32 tail = load_constant(&incoming[arc]);
                const u32 degree = static_cast<u32>(load_constant(&offsets[tail + 1]) - load_constant(&offsets[tail]));
                proposal = max(proposal, (static_cast<u64>(degree) + 1) << 32 | static_cast<u32>(~tail));
            }
            u32 chosen[4];
#pragma unroll
            for (u32 j = 0; j < 4; j++) {
                u64 best = proposal;
#pragma unroll
                for (u32 by = lanes_a_warp / 2; by > 0; by /= 2) {
                    best = max(best, __shfl_xor_sync(all_lanes, best, static_cast<int>(by)));
                }
                chosen[j] = best > 0 ? ~static_cast<u32>(best) : no_vertex;
                if (proposal == best) proposal = 0;
            }
            // A vertex with more than four arcs names four tails: parallel arcs may hide the others.
            if (end - begin > 4) {
#pragma unroll
                for (u32 j = 1; j < 4; j++) {
                    if (chosen[j] == no_vertex) chosen[j] = chosen[0];
                }
            }
            if (lane == k) mine = make_uint4(chosen[0], chosen[1], chosen[2], chosen[3]);
        }
        if (word * 32 + lane < vertices) best_tails[word * 32 + lane] = mine;
        if (lane == 0) settled[word] = without;
    }
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
