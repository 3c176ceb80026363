// Levels of a breadth-first search bottom-up: every vertex that is not visited looks for a visited tail, first among the four with the
// most arcs. `src/cuda/bfs/direction_optimizing.rs` has the essay.
//
//   choose_best_tails  the four tails of each vertex, and the vertices without any arc
//   bottom_up          a level
//
// A device may have only some of the vertices, those that `Mine` names, with their arcs.
#pragma once

#include "../ordered.cuh"

namespace best_tails {

constexpr u32 no_vertex = ~0u;
/// Of a longer row only the first arcs are looked at when the best tails are chosen.
constexpr u32 most_looked_at = 4096;

/// The arcs by head.
template <class Offset>
struct Incoming {
    const Offset* offsets;
    const u32* tails;
    const uint4* best;  // filled up with no_vertex
};

/// Looks, for every vertex that is not in `before`, whether one of its arcs comes from there; `after` has those, too. A tail that was
/// visited before the last level would have found the vertex itself, so nothing else tells the frontier. What is found gets the level.
/// Returns how many vertices a warp has found.
template <class Offset, class Mine>
__device__ u32 bottom_up(const Incoming<Offset>& incoming, const Mine& mine, const u32* before, u32* after, u32* levels, u32 level) {
    const u32 lane = lane_index(), words = mine.end_word();
    const u32 warps = warps_of_grid(), warp = mine.first_word() + warp_of_grid();
    u32 count = 0;
    // A word takes a chain of loads from memory. Meanwhile the best tails for the next word are under way, and the visited
    // bits of the one after that.
    const auto visited_of = [&](u32 word) { return word < words ? before[word] : all_lanes; };
    const auto heads_for = [&](u32 word, u32 visited) {
        return !(visited >> lane & 1) ? load_once(&incoming.best[word * 32 + lane]) : make_uint4(no_vertex, no_vertex, no_vertex, no_vertex);
    };
    const auto is_visited = [&](u32 vertex) { return (before[vertex / 32] >> vertex % 32 & 1) != 0; };
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
                hit = is_visited(head.x);
                if (!hit && head.y != no_vertex) {
                    const bool second = is_visited(head.y);
                    const bool third = head.z != no_vertex && is_visited(head.z);
                    const bool fourth = head.w != no_vertex && is_visited(head.w);
                    hit = second || third || fourth;
                    unsure = !hit && head.w != no_vertex;  // there may be more
                }
            }
            found = __ballot_sync(all_lanes, hit);
            if (__any_sync(all_lanes, unsure)) {
                Offset begin = 0, end = 0;
                if (unsure) {
                    begin = load_constant(&incoming.offsets[vertex]);
                    end = load_constant(&incoming.offsets[vertex + 1]);
                }
                // The whole warp looks through one row after another.
                for_lanes_of(__ballot_sync(all_lanes, end - begin > 4), [&](int from) {
                    const Offset last = __shfl_sync(all_lanes, end, from);
                    for (Offset arc = __shfl_sync(all_lanes, begin, from); arc < last; arc += lanes_a_warp) {
                        const u32 tail = arc + lane < last ? load_constant(&incoming.tails[arc + lane]) : no_vertex;
                        if (__any_sync(all_lanes, tail != no_vertex && is_visited(tail))) {
                            found |= 1u << from;
                            break;
                        }
                    }
                });
            }
            if (found >> lane & 1) store(&levels[vertex], level);
        }
        if (lane == 0) after[word] = visited | found;
        count += __popc(found);
        visited = visited_next;
        visited_next = visited_after_next;
        head = head_next;
    }
    return count;
}

/// Chooses for each vertex the tails with the most arcs, which are visited first in all likelihood, and sets the bits of the vertices
/// without any arc, in or out: those that have none in and of which `leads_nowhere` says so. In long rows each lane proposes one tail,
/// so not quite the best are chosen. `degree_of` says how many arcs a tail has. O(arcs) work.
template <class Offset, class Mine, class LeadsNowhere, class DegreeOf>
__device__ void choose_best_tails(const Offset* offsets, const u32* tails, const Mine& mine, LeadsNowhere leads_nowhere,
                                  DegreeOf degree_of, uint4* best_tails, u32* settled) {
    const u32 lane = lane_index(), words = mine.end_word(), vertices = mine.end();
    const u32 warps = warps_of_grid(), warp = mine.first_word() + warp_of_grid();
    for (u32 word = warp; word < words; word += warps) {
        u32 without = 0;
        uint4 chosen_here = make_uint4(no_vertex, no_vertex, no_vertex, no_vertex);
        for (u32 k = 0; k < lanes_a_warp; k++) {
            const u32 vertex = word * 32 + k;
            Offset begin = 0, end = 0;
            bool is_alone = true;
            if (vertex < vertices) {
                begin = load_constant(&offsets[vertex]);
                end = load_constant(&offsets[vertex + 1]);
                is_alone = begin == end && leads_nowhere(vertex);
            }
            if (is_alone) without |= 1u << k;
            // Number of arcs + 1, and the complement of the tail: the greatest is the best.
            u64 proposal = 0;
            const Offset looked_at = end - begin > most_looked_at ? begin + most_looked_at : end;
            for (Offset arc = begin + lane; arc < looked_at; arc += lanes_a_warp) {
                const u32 tail = load_constant(&tails[arc]);
                const u32 degree = degree_of(tail);
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
            if (lane == k) chosen_here = make_uint4(chosen[0], chosen[1], chosen[2], chosen[3]);
        }
        if (word * 32 + lane < vertices) best_tails[word * 32 + lane] = chosen_here;
        if (lane == 0) settled[word] = without;
    }
}

}  // namespace best_tails
