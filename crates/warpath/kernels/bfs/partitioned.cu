// Breadth-first search on several devices, each with a part of the vertices and the arcs that leave them: one cooperative launch on
// each. The host loop, and the essay, are in `src/cuda/bfs/partitioned.rs`.
//
// Source: Beamer, Asanovic and Patterson 2012 for the directions; the partition in one dimension after Yoo et al. 2005.
//
// registers: 64
// no-sass: STL
#include "bits.cuh"
#include "../peers.cuh"

namespace partitioned {

using namespace zero_copy;

/// The arrays that others read: three of frontiers, and
constexpr u32 visited_array = 3;

/// Gives levels to the vertices of this device that others have found.
template <class Offset>
__device__ void receive(const KernelArgument<Offset>& search, const peers::Peers& peers, Marker<Offset, Some>& next, u32 array) {
    peers::from_peers(peers, array, [&](u64 first, uint4 bits) {
        const u64 mine = first + lane_index();
        if ((bits.x | bits.y | bits.z | bits.w) != 0) {
            // Nobody else has these words.
            uint4* const visited = reinterpret_cast<uint4*>(search.visited) + mine;
            uint4* const frontier = reinterpret_cast<uint4*>(next.frontier) + mine;
            const uint4 old = load(visited), marked = load(frontier);
            bits = make_uint4(bits.x & ~old.x, bits.y & ~old.y, bits.z & ~old.z, bits.w & ~old.w);
            store(visited, make_uint4(old.x | bits.x, old.y | bits.y, old.z | bits.z, old.w | bits.w));
            store(frontier, make_uint4(marked.x | bits.x, marked.y | bits.y, marked.z | bits.z, marked.w | bits.w));
        }
        ordered::for_bits(bits, first, 1, [&](bool has, u32 vertex) {
            if (has) next.give_level(vertex);
        });
    });
}

/// How many of the targets on this device have no level below this one; one warp calls it.
template <class Offset>
__device__ u32 unsettled(const KernelArgument<Offset>& search, u32 level) {
    u32 count = 0;
    for (u32 i = lane_index(); i < search.target_count; i += lanes_a_warp) {
        count += load(&search.levels[load_constant(&search.targets_wanted[i])]) >= level;
    }
    return warp_sum(count);
}

template <class Offset>
__device__ __forceinline__ void run(const KernelArgument<Offset>& search, const peers::Peers& peers) {
    const u32 groups = (search.vertices + ordered::group - 1) / ordered::group;
    const bool is_first = blockIdx.x == 0 && threadIdx.x == 0;
    const Some mine{peers.first, peers.beyond};
    u32 level = 1, bottom_up_levels = 0;
    Progress now;
    for (; level <= search.cutoff; level++) {
        Turn* const turn = &search.turns[level % 3];
        // The host writes the first numbers.
        const u32 found = static_cast<u32>(load(&peers.joined->sums[0]));
        const u64 new_arcs = load(&peers.joined->sums[1]), cancelled = load(&peers.joined->sums[2]);
        const u64 waiting = load(&peers.joined->sums[3]);
        if (found == 0 || cancelled != 0 || (peers.targets_in_all > 0 && waiting == 0)) break;
        now.found = found;
        now.new_arcs = static_cast<float>(new_arcs);
        now.visited += static_cast<float>(found);
        now.arcs += now.new_arcs;
        const bool up = search.best_tails != nullptr && is_better_bottom_up(search, now);
        if (is_first) {
            search.turns[(level + 1) % 3] = Turn{0, 0, 0};
            if (is_cancelled(search.cancelled)) store(&turn->cancelled, 1);
        }
        u32* const frontier = search.frontier[level % 3];
        Marker<Offset, Some> next{search, mine, frontier, level};
        if (up) {
            peers::know(peers, visited_array, search.visited);
            grid_barrier();
            bottom_up(search, next);
            bottom_up_levels++;
        } else {
            const ordered::Windows windows = {search.windows, search.window_count, search.least_of_window};
            ordered::in_windows(windows, found, [&](uint2 begin, uint2 end) {
                top_down(search, next, search.frontier[(level - 1) % 3], begin, end);
            });
        }
        ordered::clear(search.frontier[(level + 1) % 3], groups);
        const auto nothing = [] { return peers::Letter{{0, 0, 0, 0}, 0, 0}; };
        // Two meetings a level.
        if (!peers::meet(peers, 2 * level - 1, nothing)) return;
        if (up) {
            merge(search, mine, frontier);
        } else {
            receive(search, peers, next, level % 3);
        }
        next.finish(turn);
        const auto tell = [&] {
            return peers::Letter{{load(&turn->found), load(&turn->arcs), load(&turn->cancelled), unsettled(search, level + 1)}, 0, 0};
        };
        if (!peers::meet(peers, 2 * level, tell)) return;
    }
    if (is_first) {
        store(&search.report[0], level - 1);
        store(&search.report[1], bottom_up_levels);
    }
}

}  // namespace partitioned

#define WARPATH_PARTITIONED(bits, Offset)                                                                                  \
    extern "C" __global__ void __launch_bounds__(512, 2)                                                                   \
        bfs_partitioned_##bits(zero_copy::KernelArgument<Offset> search, peers::Peers peers) {                             \
        partitioned::run(search, peers);                                                                                   \
    }                                                                                                                      \
    WARPATH_KERNEL(bfs_partitioned_##bits)                                                                                 \
    extern "C" __global__ void __launch_bounds__(512) bfs_partitioned_best_tails_##bits(                                   \
        const Offset* offsets, const u32* targets, u32 first, u32 beyond, const u32* degrees, uint2* best_tails) {         \
        const auto degree_of = [&](u32 tail) { return load_constant(&degrees[tail]); };                                    \
        zero_copy::choose_best_tails(offsets, targets, zero_copy::Some{first, beyond}, degree_of, best_tails);             \
    }                                                                                                                      \
    WARPATH_KERNEL(bfs_partitioned_best_tails_##bits)

WARPATH_PARTITIONED(32, u32)
WARPATH_PARTITIONED(64, u64)
