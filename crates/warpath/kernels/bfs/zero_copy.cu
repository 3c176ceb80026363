// Breadth-first search whose arcs stay in the host's memory, in one cooperative launch. The host loop, and the essay, are in
// `src/cuda/bfs/zero_copy.rs`.
//
// Source: Min et al. 2020, "EMOGI: efficient memory-access for out-of-memory graph-traversal in GPUs"; the directions after
// Beamer, Asanovic and Patterson 2012.
//
// registers: 72
// no-sass: STL
#include "../frontier.cuh"
#include "bits.cuh"
#include "../generated/bfs/zero_copy.cuh"

namespace zero_copy {

using bits::no_vertex;
using ordered::Bits;

/// Of a longer row only the first arcs are looked at when the best tails are chosen.
constexpr u32 most_looked_at = 4096;

__device__ __forceinline__ u32 words_of(u32 vertices) { return (vertices + 31) / 32; }

/// What a warp notes for the next level.
template <class Offset>
struct Marker {
    const KernelArgument<Offset>& search;
    const Bits frontier;  // of the next level
    const u32 level;
    u32 found = 0;
    u64 arcs = 0;

    /// Visits the head of an arc.
    __device__ __forceinline__ void visit(u32 head) {
        if (!ordered::set_bit(search.visited, head)) return;
        frontier.add(head);
        give_level(head);
    }

    /// Gives a vertex its level.
    __device__ __forceinline__ void give_level(u32 vertex) {
        store(&search.levels[vertex], level);
        found++;
        // Only who may go bottom-up asks for the number of arcs.
        if (search.best_tails != nullptr) {
            arcs += load_constant(&search.offsets[vertex + 1]) - load_constant(&search.offsets[vertex]);
        }
    }

    /// Adds up what all warps have noted.
    __device__ void finish(Turn* turn) const {
        const u32 all_found = warp_sum(found);
        const u64 all_arcs = warp_sum(arcs);
        if (lane_index() == 0 && all_found > 0) {
            atomicAdd(&turn->found, all_found);
            atomicAdd(&turn->arcs, all_arcs);
        }
    }
};

/// Looks, for every vertex that is not visited, whether one of its arcs comes from a visited vertex. A tail that was visited
/// before the last level would have found the vertex itself, so nothing else tells the frontier. The bits of what is found
/// are written to the next frontier alone: `merge` adds them to the visited ones.
template <class Offset>
__device__ void bottom_up(const KernelArgument<Offset>& search, Marker<Offset>& next) {
    const u32 lane = lane_index();
    for (u32 word = warp_of_grid(); word < words_of(search.vertices); word += warps_of_grid()) {
        const u32 visited = load(&search.visited[word]), vertex = word * 32 + lane;
        const bool looks = vertex < search.vertices && !(visited >> lane & 1);
        if (!__any_sync(all_lanes, looks)) continue;
        const uint2 best = looks ? load_once(&search.best_tails[vertex]) : make_uint2(no_vertex, no_vertex);
        bool hit = best.x != no_vertex && ordered::is_set(search.visited, best.x);
        hit = hit || (best.y != no_vertex && ordered::is_set(search.visited, best.y));
        const bool is_unsure = !hit && best.y != no_vertex;  // there may be more
        u32 found = __ballot_sync(all_lanes, hit);
        if (__any_sync(all_lanes, is_unsure)) {
            Offset begin = 0, end = 0;
            if (is_unsure) {
                begin = load_constant(&search.incoming_offsets[vertex]);
                end = load_constant(&search.incoming_offsets[vertex + 1]);
            }
            // The whole warp looks through one row after another.
            for_lanes_of(__ballot_sync(all_lanes, end - begin > 2), [&](int from) {
                const Offset last = __shfl_sync(all_lanes, end, from);
                for (Offset arc = __shfl_sync(all_lanes, begin, from); arc < last; arc += lanes_a_warp) {
                    const u32 tail = arc + lane < last ? load_constant(&search.incoming[arc + lane]) : no_vertex;
                    if (__any_sync(all_lanes, tail != no_vertex && ordered::is_set(search.visited, tail))) {
                        found |= 1u << from;
                        break;
                    }
                }
            });
        }
        if (found == 0) continue;
        if (found >> lane & 1) next.give_level(vertex);
        if (lane == 0) {
            store(&next.frontier.words[word], found);
            next.frontier.note(word / (ordered::group / 32));
        }
    }
}

/// Adds the bits of a frontier to the visited ones.
template <class Offset>
__device__ void merge(const KernelArgument<Offset>& search, const Bits& frontier) {
    const u32 threads = gridDim.x * blockDim.x;
    for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < words_of(search.vertices); i += threads) {
        const u32 bits = load(&frontier.words[i]);
        if (bits != 0) store(&search.visited[i], load(&search.visited[i]) | bits);
    }
}

/// What is known of a search before a level.
struct Progress {
    float visited = 0;  // how many vertices,
    float arcs = 0;     // and how many arcs leave them
    u32 found = 0;      // how many of them in the last level,
    float new_arcs = 0; // and how many arcs leave those
};

/// Whether the next level is predicted to read fewer bytes bottom-up. That takes most of the rows of which neither of the two best
/// tails is visited, up to the first tail that is.
template <class Offset>
__device__ bool is_better_bottom_up(const KernelArgument<Offset>& search, const Progress& now) {
    constexpr float line = 128, bytes_of_arc = 4;
    const float all = static_cast<float>(search.arcs), vertices = static_cast<float>(search.vertices);
    const float share = now.arcs / all, rest = all - now.arcs;
    const float unsure = min(vertices - now.visited, rest) * (1 - share) * (1 - share);
    const float row = min(bytes_of_arc * all / vertices, bytes_of_arc / share) + line / 2;
    // Hubs are among the best tails of nearly all.
    const bool hubs = now.new_arcs * vertices > 4 * static_cast<float>(now.found) * all;
    const float bottom_up = unsure * row / (hubs ? 8.0f : 1.0f) + vertices / 8;
    return search.bottom_up * bottom_up < bytes_of_arc * now.new_arcs;
}

/// Chooses for each vertex the two tails with the most arcs, which are visited first in all likelihood. In long rows each
/// lane proposes one, so not quite the best are chosen. The arcs are those by head, and `by_tail` has the offsets of the others. O(arcs) work.
template <class Offset>
__device__ void choose_best_tails(const Offset* offsets, const u32* tails, const Offset* by_tail, u32 vertices, uint2* best_tails) {
    const u32 lane = lane_index();
    for (u32 word = warp_of_grid(); word < words_of(vertices); word += warps_of_grid()) {
        uint2 chosen_here = make_uint2(no_vertex, no_vertex);
        for (u32 k = 0; k < lanes_a_warp; k++) {
            const u32 vertex = word * 32 + k;
            Offset begin = 0, end = 0;
            if (vertex < vertices) {
                begin = load_constant(&offsets[vertex]);
                end = load_constant(&offsets[vertex + 1]);
            }
            // Number of arcs + 1, and the complement of the tail: the greatest is the best.
            u64 proposal = 0;
            const Offset looked_at = end - begin > most_looked_at ? begin + most_looked_at : end;
            for (Offset arc = begin + lane; arc < looked_at; arc += lanes_a_warp) {
                const u32 tail = load_constant(&tails[arc]);
                const u32 degree = static_cast<u32>(load_constant(&by_tail[tail + 1]) - load_constant(&by_tail[tail]));
                proposal = max(proposal, (static_cast<u64>(degree) + 1) << 32 | static_cast<u32>(~tail));
            }
            u32 chosen[2];
#pragma unroll
            for (u32 j = 0; j < 2; j++) {
                u64 best = proposal;
#pragma unroll
                for (u32 by = lanes_a_warp / 2; by > 0; by /= 2) {
                    best = max(best, __shfl_xor_sync(all_lanes, best, static_cast<int>(by)));
                }
                chosen[j] = best > 0 ? ~static_cast<u32>(best) : no_vertex;
                if (proposal == best) proposal = 0;
            }
            // A vertex with more than two arcs names two tails: parallel arcs may hide the others.
            if (end - begin > 2 && chosen[1] == no_vertex) chosen[1] = chosen[0];
            if (lane == k) chosen_here = make_uint2(chosen[0], chosen[1]);
        }
        if (word * 32 + lane < vertices) best_tails[word * 32 + lane] = chosen_here;
    }
}

template <class Offset>
__device__ __forceinline__ void run(const KernelArgument<Offset>& search) {
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    const bits::Outgoing<Offset> outgoing = {search.offsets, search.targets, search.pieces};
    const auto frontier_of = [&](u32 level) { return Bits{search.frontier[level % 3], search.vertices}; };
    u32 level = 1, bottom_up_levels = 0;
    Progress now;
    for (; level <= search.cutoff; level++) {
        const Turn* const last = &search.turns[(level - 1) % 3];
        Turn* const turn = &search.turns[level % 3];
        const u32 found = load(&last->found);
        if (found == 0 || load(&last->cancelled)) break;
        if (frontier::targets_are_settled(search.levels, search.targets_wanted, search.target_count, level)) break;
        now.found = found;
        now.new_arcs = static_cast<float>(load(&last->arcs));
        now.visited += static_cast<float>(found);
        now.arcs += now.new_arcs;
        const bool up = search.best_tails != nullptr && is_better_bottom_up(search, now);
        if (is_first) {
            search.turns[(level + 1) % 3] = Turn{0, 0, 0};
            if (is_cancelled(search.cancelled)) store(&turn->cancelled, 1);
        }
        Marker<Offset> next{search, frontier_of(level), level};
        if (up) {
            bottom_up(search, next);
            bottom_up_levels++;
        } else {
            const ordered::Windows windows = {search.windows, search.window_count, search.least_of_window};
            ordered::in_windows(windows, found, [&](uint2 begin, uint2 end) {
                bits::top_down(outgoing, frontier_of(level - 1), begin, end, [&](u32 head) { next.visit(head); });
            });
        }
        ordered::clear(frontier_of(level + 1));
        next.finish(turn);
        grid_barrier();
        if (up) {
            merge(search, next.frontier);
            grid_barrier();
        }
    }
    if (is_first) {
        store(&search.report[0], level - 1);
        store(&search.report[1], bottom_up_levels);
    }
}

}  // namespace zero_copy

#define WARPATH_ZERO_COPY(bits, Offset)                                                                                    \
    extern "C" __global__ void __launch_bounds__(448, 2) bfs_zero_copy_##bits(zero_copy::KernelArgument<Offset> search) {   \
        zero_copy::run(search);                                                                                            \
    }                                                                                                                      \
    WARPATH_KERNEL(bfs_zero_copy_##bits)                                                                                   \
    extern "C" __global__ void __launch_bounds__(512)                                                                      \
        bfs_zero_copy_best_tails_##bits(const Offset* offsets, const u32* tails, const Offset* by_tail, u32 vertices,       \
                                        uint2* best_tails) {                                                               \
        zero_copy::choose_best_tails(offsets, tails, by_tail, vertices, best_tails);                                       \
    }                                                                                                                      \
    WARPATH_KERNEL(bfs_zero_copy_best_tails_##bits)

WARPATH_ZERO_COPY(32, u32)
WARPATH_ZERO_COPY(64, u64)
