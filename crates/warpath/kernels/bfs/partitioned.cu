// Breadth-first search on several devices, each with a part of the vertices and the arcs that leave them: one cooperative launch on
// each. The host loop, and the essay, are in `src/cuda/bfs/partitioned.rs`.
//
// Source: Beamer, Asanovic and Patterson 2012 for the directions; the partition in one dimension after Yoo et al. 2005.
//
// registers: 72
// no-sass: STL
#include "best_tails.cuh"
#include "bits.cuh"
#include "../peers.cuh"
#include "../generated/bfs/partitioned.cuh"

namespace partitioned {

using ordered::Bits;
using ordered::Some;

constexpr u32 unreached = ~0u;
/// The arrays that others read: three of frontiers, and from here on two of visited vertices.
constexpr u32 visited_arrays = 3;

/// What a warp notes for the next level.
template <class Offset>
struct Marker {
    const Part<Offset>& search;
    const Some mine;
    u32* const visited;
    const Bits frontier;  // of the next level
    const u32 level;
    u32 found = 0;
    bool has_long_rows = false;
    u64 arcs = 0;

    /// Visits the head of an arc.
    __device__ __forceinline__ void visit(u32 head) {
        if (!ordered::set_bit(visited, head)) return;
        frontier.add(head);
        // Whoever has the vertex looks at that bit.
        const bool is_mine = mine.has(head);
        if (is_mine) store(&search.levels[head], level);
        found++;
        const u32 degree = search.degrees != nullptr ? load_constant(&search.degrees[head]) : 0;
        arcs += degree;
        has_long_rows = has_long_rows || (is_mine && (degree > ordered::piece || search.degrees == nullptr));
    }

    /// Adds up what all warps have noted.
    __device__ void finish(Turn* turn) const {
        const u32 all_found = warp_sum(found);
        const u64 all_arcs = warp_sum(arcs);
        if (has_long_rows) store(&turn->long_rows, 1);
        if (lane_index() == 0 && all_found > 0) {
            atomicAdd(&turn->found, all_found);
            atomicAdd(&turn->arcs, all_arcs);
        }
    }
};

/// Whether a vertex has a long row, as far as is known.
template <class Offset>
__device__ __forceinline__ bool has_long_row(const Part<Offset>& search, u32 vertex) {
    return search.degrees == nullptr || load_constant(&search.degrees[vertex]) > ordered::piece;
}

/// Gives this level to the vertices of this device that others have found, and adds them to the frontier.
template <class Offset>
__device__ void receive(const Part<Offset>& search, const peers::Peers& peers, u32* visited, const Bits& frontier, u32 array, u32 level) {
    u32* const long_rows = &search.turns[level % 3].long_rows;
    peers::from_peers(peers, array, [&](u32 mine, uint4 bits) {
        if ((bits.x | bits.y | bits.z | bits.w) != 0) {
            // Nobody else has these words.
            uint4* const there = reinterpret_cast<uint4*>(visited) + mine;
            const uint4 old = load(there), marked = load(frontier.of_group(mine));
            bits = make_uint4(bits.x & ~old.x, bits.y & ~old.y, bits.z & ~old.z, bits.w & ~old.w);
            store(there, make_uint4(old.x | bits.x, old.y | bits.y, old.z | bits.z, old.w | bits.w));
            store(frontier.of_group(mine), make_uint4(marked.x | bits.x, marked.y | bits.y, marked.z | bits.z, marked.w | bits.w));
            if ((bits.x | bits.y | bits.z | bits.w) != 0) frontier.note(mine);
        }
        ordered::for_bits(bits, mine, [&](bool has, u32 vertex) {
            if (!has) return;
            store(&search.levels[vertex], level);
            if (has_long_row(search, vertex)) store(long_rows, 1);
        });
    });
}

/// Makes the vertices of this device that `after` has and `before` has not the frontier, whose array nobody reads, and empties the next.
template <class Offset>
__device__ __forceinline__ void gather(const Part<Offset>& search, const Some& mine, u32* long_rows, const u32* before, const u32* after, const Bits& frontier, const Bits& next) {
    const u32 end = mine.end_group(), step = warps_of_grid() * lanes_a_warp;
    ordered::clear(next);
    for (u32 first = mine.first_group() + warp_of_grid() * lanes_a_warp; first < end; first += step) {
        const u32 g = first + lane_index();
        uint4 fresh = make_uint4(0, 0, 0, 0);
        if (g < end) {
            const uint4 old = load(reinterpret_cast<const uint4*>(before) + g), now = load(reinterpret_cast<const uint4*>(after) + g);
            fresh = make_uint4(now.x & ~old.x, now.y & ~old.y, now.z & ~old.z, now.w & ~old.w);
            store(frontier.of_group(g), fresh);
            if ((fresh.x | fresh.y | fresh.z | fresh.w) != 0) frontier.note(g);
        }
        ordered::for_bits(fresh, g, [&](bool has, u32 vertex) {
            if (has && has_long_row(search, vertex)) store(long_rows, 1);
        });
    }
}

/// How many of the targets on this device have no level below this one; one warp calls it.
template <class Offset>
__device__ u32 unsettled(const Part<Offset>& search, u32 level) {
    u32 count = 0;
    for (u32 i = lane_index(); i < search.target_count; i += lanes_a_warp) {
        count += load(&search.levels[load_constant(&search.targets_wanted[i])]) >= level;
    }
    return warp_sum(count);
}

/// Clears everything, and gives the sources their level. The first levels are the sources of this device, which the host has put there.
template <class Offset>
__device__ void begin(const Part<Offset>& search, const Some& mine, const Bits& frontier) {
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const uint4 zero = make_uint4(0, 0, 0, 0);
    for (u32 g = thread; g < frontier.group_count(); g += threads) {
        const bool is_mine = search.settled != nullptr && g >= mine.first_group() && g < mine.end_group();
        const uint4 settled = is_mine ? load_constant(reinterpret_cast<const uint4*>(search.settled) + g) : zero;
        store(reinterpret_cast<uint4*>(search.visited[0]) + g, settled);
        store(reinterpret_cast<uint4*>(search.visited[1]) + g, settled);
    }
    // What the last search has left there.
    for (u32 k = 0; k < 3; k++) ordered::clear(Bits{search.frontier[k], search.vertices});
    if (thread < 3) search.turns[thread] = Turn{0, 0, 0, 0, 0};
    grid_barrier();
    for (u32 i = thread; i < search.source_count; i += threads) {
        const u32 source = load(&search.levels[mine.first + i]);
        atomicOr(&search.visited[0][source / 32], 1u << source % 32);
        frontier.add(source);
        if (has_long_row(search, source)) store(&search.turns[0].long_rows, 1);
    }
    grid_barrier();
    // Four levels at once.
    for (u32 v = mine.first + 4 * thread; v < mine.beyond; v += 4 * threads) {
        const u32 bits = load(&frontier.words[v / 32]) >> v % 32;
        const auto level = [&](u32 k) { return bits >> k & 1 ? 0 : unreached; };
        store(reinterpret_cast<uint4*>(&search.levels[v]), make_uint4(level(0), level(1), level(2), level(3)));
    }
    grid_barrier();
}

template <class Offset>
__device__ __forceinline__ void run(const Part<Offset>& search, const peers::Peers& peers) {
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    const Some mine{peers.first, peers.beyond};
    const bits::Outgoing<Offset> outgoing = {search.offsets, search.targets, search.pieces};
    const best_tails::Incoming<Offset> incoming = {search.incoming_offsets, search.incoming, search.best_tails};
    const auto frontier_of = [&](u32 level) { return Bits{search.frontier[level % 3], search.vertices}; };
    begin(search, mine, frontier_of(0));
    u32 level = 1, meetings = 0, bottom_up_levels = 0;
    u32 now = 0;          // which of the arrays has the visited vertices
    const bool through_host = peers::is_through_host(peers);
    bool up = false;
    bool waits = false;   // whether others may have found vertices of this device that have no level yet
    for (; level <= search.cutoff; level++) {
        Turn* const last = &search.turns[(level - 1) % 3];
        Turn* const turn = &search.turns[level % 3];
        // The host writes the first letter. A vertex that two devices have found counts twice.
        const peers::Letter* const joined = &peers.here->joined;
        const float found = static_cast<float>(load(&joined->sums[0])), arcs = static_cast<float>(load(&joined->sums[1]));
        const bool is_over = load(&joined->sums[2]) != 0 || (peers.targets_in_all > 0 && load(&joined->sums[3]) == 0);
        if (found == 0 || is_over) break;
        const bool was_up = up;
        if (up) {
            up = found >= search.top_down * static_cast<float>(search.vertices);
        } else if (search.best_tails != nullptr) {
            // Hubs are among the best tails of many vertices: then bottom-up pays earlier.
            const float all = static_cast<float>(search.arcs);
            const bool hubs = arcs * static_cast<float>(search.vertices) > 4 * found * all;
            up = arcs > (hubs ? search.bottom_up / 4 : search.bottom_up) * all;
        }
        if (is_first) {
            search.turns[(level + 1) % 3] = Turn{0, 0, 0, 0, 0};
            if (is_cancelled(search.cancelled)) store(&turn->cancelled, 1);
        }
        if (waits) {
            receive(search, peers, search.visited[now], frontier_of(level - 1), (level - 1) % 3, level - 1);
            const auto little = [] { return peers::Letter{{0, 0, 0, 0, 0}, 0, 0}; };
            if (!up || through_host) grid_barrier();
            if (up) {
                if (through_host) peers::publish_own(peers, visited_arrays + now, search.visited[now]);
                if (!peers::meet(peers, ++meetings, little)) return;
            }
            waits = false;
        }
        if (up) {
            peers::know(peers, visited_arrays + now, search.visited[now]);
            grid_barrier();
            const u32 count = best_tails::bottom_up(incoming, mine, search.visited[now], search.visited[now ^ 1], search.levels, level);
            if (lane_index() == 0 && count > 0) atomicAdd(&turn->found, count);
            now ^= 1;
            bottom_up_levels++;
        } else {
            if (was_up) {
                peers::know(peers, visited_arrays + now, search.visited[now]);
                gather(search, mine, &last->long_rows, search.visited[now ^ 1], search.visited[now], frontier_of(level - 1), frontier_of(level));
                grid_barrier();
            }
            const u32 pieces = load(&last->long_rows) != 0 ? search.piece_count : 0;
            Marker<Offset> next{search, mine, search.visited[now], frontier_of(level), level};
            bits::top_down(outgoing, frontier_of(level - 1), make_uint2(mine.first_group(), 0), make_uint2(mine.end_group(), pieces),
                           [&](u32 head) { next.visit(head); });
            ordered::clear(frontier_of(level + 1));
            next.finish(turn);
            waits = peers.count > 1;
        }
        if (through_host) {
            grid_barrier();
            if (up) {
                peers::publish_own(peers, visited_arrays + now, search.visited[now]);
            } else {
                peers::publish_marks(peers, level % 3, frontier_of(level), [](u32, uint4) {});
            }
        }
        const auto tell = [&] {
            const u32 left = unsettled(search, level + 1);
            return peers::Letter{{load(&turn->found), load(&turn->arcs), load(&turn->cancelled), left, 0}, 0, 0};
        };
        if (!peers::meet(peers, ++meetings, tell)) return;
    }
    if (waits) receive(search, peers, search.visited[now], frontier_of(level - 1), (level - 1) % 3, level - 1);
    if (is_first) {
        store(&search.report[0], level - 1);
        store(&search.report[1], bottom_up_levels);
        store(&search.report[2], meetings);
    }
}

}  // namespace partitioned

#define WARPATH_PARTITIONED(bits, Offset, threads)                                                                                   \
    extern "C" __global__ void __launch_bounds__(threads, 2)                                                                   \
        bfs_partitioned_##bits(partitioned::Part<Offset> search, peers::Peers peers) {                                         \
        partitioned::run(search, peers);                                                                                       \
    }                                                                                                                          \
    WARPATH_KERNEL(bfs_partitioned_##bits)                                                                                     \
    extern "C" __global__ void __launch_bounds__(512) bfs_partitioned_best_tails_##bits(                                       \
        const Offset* offsets, const u32* tails, u32 first, u32 beyond, const u32* degrees, uint4* best_tails, u32* settled) { \
        const auto degree_of = [&](u32 vertex) { return load_constant(&degrees[vertex]); };                                    \
        const auto leads_nowhere = [&](u32 vertex) { return load_constant(&degrees[vertex]) == 0; };                           \
        const ordered::Some mine{first, beyond};                                                                               \
        best_tails::choose_best_tails(offsets, tails, mine, leads_nowhere, degree_of, best_tails, settled);                  \
    }                                                                                                                          \
    WARPATH_KERNEL(bfs_partitioned_best_tails_##bits)

WARPATH_PARTITIONED(32, u32, 512)
// More threads would have too few registers.
WARPATH_PARTITIONED(64, u64, 448)
