// Levels of a breadth-first search whose frontiers are bits, one a vertex: `bfs/zero_copy.cu` and `bfs/partitioned.cu` have the
// loops over levels. `src/cuda/bfs/zero_copy.rs` has the essay.
//
// A device may have only some of the vertices, those that `Mine` names, with the arcs from them.
#pragma once

#include "../frontier.cuh"
#include "../ordered.cuh"
#include "../generated/bfs/zero_copy.cuh"

namespace zero_copy {

using ordered::All;
using ordered::Some;

constexpr u32 no_vertex = ~0u;
/// Of a longer row only the first arcs are looked at when the best tails are chosen.
constexpr u32 most_looked_at = 4096;

/// What a warp notes for the next level.
template <class Offset, class Mine>
struct Marker {
    const KernelArgument<Offset>& search;
    const Mine mine;
    u32* const frontier;  // bits of the next level
    const u32 level;
    u32 found = 0;
    u64 arcs = 0;

    /// Visits the head of an arc.
    __device__ __forceinline__ void visit(u32 head) {
        if (!ordered::set_bit(search.visited, head)) return;
        atomicOr(&frontier[head / 32], 1u << head % 32);
        // Whoever has the vertex looks at that bit.
        if (mine.has(head)) give_level(head);
    }

    /// Gives a vertex of this device its level.
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

/// Visits the heads of all arcs that leave the vertices of the frontier in a window.
template <class Offset, class Mine>
__device__ void top_down(const KernelArgument<Offset>& search, Marker<Offset, Mine>& next, const u32* frontier,
                         uint2 begin_of_window, uint2 end_of_window) {
    const u32 lane = lane_index();
    constexpr u32 at_once = 4;
    const auto visit_piece = [&](u32, Offset begin, Offset end) {
        for (Offset first = begin; first < end; first += at_once * lanes_a_warp) {
            u32 head[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const Offset arc = first + k * lanes_a_warp + lane;
                head[k] = arc < end ? load_constant(&search.targets[arc]) : no_vertex;
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                if (head[k] != no_vertex) next.visit(head[k]);
            }
        }
    };
    ordered::for_long_rows(frontier, search.pieces, begin_of_window.y, end_of_window.y, search.offsets, visit_piece);
    ordered::for_vertices(frontier, begin_of_window.x, end_of_window.x, [&](bool has_row, u32 tail) {
        Offset begin = 0;
        u32 degree = 0;
        if (has_row) {
            begin = load_constant(&search.offsets[tail]);
            const Offset end = load_constant(&search.offsets[tail + 1]);
            if (end - begin <= ordered::piece) degree = static_cast<u32>(end - begin);
        }
        const PackedRows<Offset> rows(begin, degree);
        for (u32 base = 0; base < rows.total; base += at_once * lanes_a_warp) {
            u32 head[at_once];
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                const u32 place = min(base + k * lanes_a_warp + lane, rows.total - 1);
                const Offset arc = rows.arc_at(place, rows.lane_of(place));
                head[k] = load_constant(&search.targets[arc]);
            }
#pragma unroll
            for (u32 k = 0; k < at_once; k++) {
                if (base + k * lanes_a_warp + lane < rows.total) next.visit(head[k]);
            }
        }
    });
}

/// Looks, for every vertex that is not visited, whether one of its arcs comes from a visited vertex. A tail that was visited
/// before the last level would have found the vertex itself, so nothing else tells the frontier. The bits of what is found
/// are written to the next frontier alone: `merge` adds them to the visited ones.
template <class Offset, class Mine>
__device__ void bottom_up(const KernelArgument<Offset>& search, Marker<Offset, Mine>& next) {
    const u32 lane = lane_index();
    for (u32 word = next.mine.first_word() + warp_of_grid(); word < next.mine.end_word(); word += warps_of_grid()) {
        const u32 visited = load(&search.visited[word]), vertex = word * 32 + lane;
        const bool looks = vertex < next.mine.end() && !(visited >> lane & 1);
        if (!__any_sync(all_lanes, looks)) continue;
        const uint2 best = looks ? load_once(&search.best_tails[vertex]) : make_uint2(no_vertex, no_vertex);
        bool hit = best.x != no_vertex && ordered::is_set(search.visited, best.x);
        hit = hit || (best.y != no_vertex && ordered::is_set(search.visited, best.y));
        const bool is_unsure = !hit && best.y != no_vertex;  // there may be more
        u32 found = __ballot_sync(all_lanes, hit);
        if (__any_sync(all_lanes, is_unsure)) {
            Offset begin = 0, end = 0;
            if (is_unsure) {
                begin = load_constant(&search.offsets[vertex]);
                end = load_constant(&search.offsets[vertex + 1]);
            }
            // The whole warp looks through one row after another.
            for_lanes_of(__ballot_sync(all_lanes, end - begin > 2), [&](int from) {
                const Offset last = __shfl_sync(all_lanes, end, from);
                for (Offset arc = __shfl_sync(all_lanes, begin, from); arc < last; arc += lanes_a_warp) {
                    const u32 tail = arc + lane < last ? load_constant(&search.targets[arc + lane]) : no_vertex;
                    if (__any_sync(all_lanes, tail != no_vertex && ordered::is_set(search.visited, tail))) {
                        found |= 1u << from;
                        break;
                    }
                }
            });
        }
        if (found == 0) continue;
        if (found >> lane & 1) next.give_level(vertex);
        if (lane == 0) store(&next.frontier[word], found);
    }
}

/// Adds the bits of a frontier to the visited ones.
template <class Offset, class Mine>
__device__ void merge(const KernelArgument<Offset>& search, const Mine& mine, const u32* frontier) {
    const u32 threads = gridDim.x * blockDim.x;
    for (u32 i = mine.first_word() + blockIdx.x * blockDim.x + threadIdx.x; i < mine.end_word(); i += threads) {
        const u32 bits = load(&frontier[i]);
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
/// lane proposes one, so not quite the best are chosen. `degree_of` says how many arcs a tail has. O(arcs) work.
template <class Offset, class Mine, class DegreeOf>
__device__ void choose_best_tails(const Offset* offsets, const u32* targets, const Mine& mine, DegreeOf degree_of, uint2* best_tails) {
    const u32 lane = lane_index();
    for (u32 word = mine.first_word() + warp_of_grid(); word < mine.end_word(); word += warps_of_grid()) {
        uint2 chosen_here = make_uint2(no_vertex, no_vertex);
        for (u32 k = 0; k < lanes_a_warp; k++) {
            const u32 vertex = word * 32 + k;
            Offset begin = 0, end = 0;
            if (vertex < mine.end()) {
                begin = load_constant(&offsets[vertex]);
                end = load_constant(&offsets[vertex + 1]);
            }
            // Number of arcs + 1, and the complement of the tail: the greatest is the best.
            u64 proposal = 0;
            const Offset looked_at = end - begin > most_looked_at ? begin + most_looked_at : end;
            for (Offset arc = begin + lane; arc < looked_at; arc += lanes_a_warp) {
                const u32 tail = load_constant(&targets[arc]);
                const u32 degree = degree_of(tail);
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
        if (word * 32 + lane < mine.end()) best_tails[word * 32 + lane] = chosen_here;
    }
}

}  // namespace zero_copy
