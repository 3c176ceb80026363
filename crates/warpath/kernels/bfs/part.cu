// Breadth-first search in one part of a graph, a step a launch. The host loop, and the essay, are in
// `src/cuda/parts/breadth_first.rs`.
//
// Sources: Buluc and Madduri 2011, "Parallel breadth-first search on distributed memory systems", sect. 3.1; Beamer et al. 2013,
// "Distributed memory breadth-first search revisited".
//
// registers: 64
// no-sass: STL
#include "../parts.cuh"
#include "../generated/bfs/part.cuh"

namespace bfs_part {

constexpr u32 unreached = ~0u;
constexpr u32 no_vertex = ~0u;
/// Arcs of a row that one lane looks at, before its warp does together.
constexpr u32 alone = 4;
/// Arcs of hubs that a warp takes at a time.
constexpr u32 share_of_hubs = 256;

/// The queues of the next frontier.
struct Queues {
    const KernelArgument& part;

    __device__ const u64* offsets() const { return part.offsets; }
    __device__ u32* short_rows() const { return part.next_short_rows; }
    __device__ uint2* long_rows() const { return part.next_long_rows; }
    __device__ u32* short_count() const { return &part.next->short_rows; }
    __device__ u32* piece_count() const { return &part.next->pieces; }
    __device__ u32 capacity() const { return part.rows; }
};

/// The next frontier.
struct Next {
    const KernelArgument& part;
    frontier::Appender<Queues> rows;
    u32 vertices = 0;
    u32 arcs = 0;

    __device__ Next(const KernelArgument& part, u32* shared)
        : part(part), rows({part}, shared + warp_index() * frontier::collected) {}

    /// Appends the vertices of those lanes that have one. Its level is set.
    __device__ void append(bool has, u32 vertex) {
        if (!__any_sync(all_lanes, has)) return;
        // A hub counts with the part that answers for it, on the host.
        vertices += has && vertex < part.owned;
        arcs += rows.append(has, vertex);
    }

    /// Sets the level of the vertices of those lanes that have one without a level, and appends them.
    __device__ void reach(bool has, u32 vertex) {
        u32* const level = &part.levels[vertex];
        append(has && load(level) == unreached && atomicMin(level, part.level + 1) == unreached, vertex);
    }

    /// Empties the collection, and adds up what it had.
    __device__ void finish() {
        rows.finish();
        const u64 all_vertices = warp_sum(static_cast<u64>(vertices)), all_arcs = warp_sum(static_cast<u64>(arcs));
        if (lane_index() == 0) {
            if (all_vertices > 0) atomicAdd(&part.next->vertices, all_vertices);
            if (all_arcs > 0) atomicAdd(&part.next->arcs, all_arcs);
        }
    }
};

/// Whether the head of an arc is in the frontier, as bits.
__device__ __forceinline__ bool is_in_frontier(const KernelArgument& part, u64 arc) {
    const u32 head = load_constant(&part.heads[arc]);
    return head < part.rows ? parts::contains(part.frontier, head) : parts::contains(part.ghosts_in_frontier, head - part.rows);
}

}  // namespace bfs_part

/// Expands the frontier.
extern "C" __global__ void __launch_bounds__(512, 2) bfs_part_expand(bfs_part::KernelArgument part) {
    using namespace bfs_part;
    __shared__ u32 shared[most_warps_a_block * frontier::collected];
    Next next(part, shared);
    const auto visit = [&](u32, bool has, u64 arc) {
        const u32 head = has ? load_constant(&part.heads[arc]) : 0;
        next.reach(has && head < part.owned, head < part.owned ? head : 0);
        if (has && head >= part.owned && head < part.rows && load(&part.levels[head]) == unreached) {
            parts::insert(part.found_hubs, head - part.owned);
        }
        if (has && head >= part.rows) parts::insert(part.met_ghosts, head - part.rows);
    };
    const parts::Frontier now = {part.offsets, part.short_rows, part.long_rows, load_constant(&part.now->short_rows),
                                 load_constant(&part.now->pieces)};
    parts::for_frontier(now, [](u32, bool&) { return 0u; }, [](u32, u32) { return 0u; }, visit);
    next.finish();
}
WARPATH_KERNEL(bfs_part_expand)

/// Posts the ghosts that were met, but for those that were known.
extern "C" __global__ void __launch_bounds__(512, 2) bfs_part_post(parts::Mail mail, bfs_part::KernelArgument part, u32 ghosts) {
    parts::post(mail, ghosts, [&](u32 index) {
        const u32 news = part.met_ghosts[index] & ~part.known_ghosts[index];
        if (news != 0) part.known_ghosts[index] |= news;
        return news;
    });
}
WARPATH_KERNEL(bfs_part_post)

/// Packs the numbers of the ghosts that were posted.
extern "C" __global__ void __launch_bounds__(512, 2) bfs_part_pack(parts::Mail mail, u32 count) {
    parts::for_posted(mail, count, [&](u32 place, u32 ghost) { mail.words[place] = load_constant(&mail.numbers[ghost]); });
}
WARPATH_KERNEL(bfs_part_pack)

/// Gives vertices the next level that have none: those of a list.
extern "C" __global__ void __launch_bounds__(512, 2)
    bfs_part_receive(bfs_part::KernelArgument part, const u32* vertices, u32 count) {
    __shared__ u32 shared[most_warps_a_block * frontier::collected];
    bfs_part::Next next(part, shared);
    frontier::for_items(count, warp_of_grid(), warps_of_grid(), [&](bool has, u32 item) {
        const u32 vertex = has ? load_constant(&vertices[item]) : 0;
        // Whoever sends from device to device is not looked after by a host.
        next.reach(has && vertex < part.rows, vertex < part.rows ? vertex : 0);
    });
    next.finish();
}
WARPATH_KERNEL(bfs_part_receive)

/// The same for the hubs that any part found.
extern "C" __global__ void __launch_bounds__(512, 2) bfs_part_receive_hubs(bfs_part::KernelArgument part) {
    __shared__ u32 shared[most_warps_a_block * frontier::collected];
    bfs_part::Next next(part, shared);
    frontier::for_items(part.rows - part.owned, warp_of_grid(), warps_of_grid(), [&](bool has, u32 hub) {
        next.reach(has && parts::contains(part.found_hubs, hub), part.owned + (has ? hub : 0));
    });
    next.finish();
}
WARPATH_KERNEL(bfs_part_receive_hubs)

/// For each vertex of a list, a bit whether it is in the frontier. The list is as long as whole warps, filled up with `no_vertex`.
extern "C" __global__ void __launch_bounds__(512, 2)
    bfs_part_tell(bfs_part::KernelArgument part, const u32* vertices, u32* bits, u32 count) {
    for (u32 first = warp_of_grid() * lanes_a_warp; first < count; first += warps_of_grid() * lanes_a_warp) {
        const u32 vertex = load_constant(&vertices[first + lane_index()]);
        const bool is_there = vertex != bfs_part::no_vertex && load_constant(&part.levels[vertex]) == part.level;
        const u32 word = __ballot_sync(all_lanes, is_there);
        if (lane_index() == 0) bits[first / lanes_a_warp] = word;
    }
}
WARPATH_KERNEL(bfs_part_tell)

/// Bits of all ghosts, from words that other parts told: those of a part begin at the number of its first ghost / 32, and one word later for each part
/// before it.
extern "C" __global__ void __launch_bounds__(512, 2) bfs_part_join(parts::Mail mail, const u32* told, u32* bits, u32 ghosts) {
    const u32 stride = warps_of_grid() * lanes_a_warp;
    for (u32 first = warp_of_grid() * lanes_a_warp; first < ghosts; first += stride) {
        const u32 ghost = first + lane_index();
        bool is_set = false;
        if (ghost < ghosts) {
            const u32 part = parts::part_of(mail.starts, mail.parts, ghost);
            const u32 start = load_constant(&mail.starts[part]), place = ghost - start;
            is_set = (load_constant(&told[start / 32 + part + place / 32]) >> place % 32 & 1) != 0;
        }
        const u32 word = __ballot_sync(all_lanes, is_set);
        if (lane_index() == 0) bits[first / lanes_a_warp] = word;
    }
}
WARPATH_KERNEL(bfs_part_join)

/// Makes the frontier a set of bits, of the rows. The ghosts in it are known from now on.
extern "C" __global__ void __launch_bounds__(512, 2) bfs_part_mark(bfs_part::KernelArgument part, u32 ghosts) {
    const u32 stride = warps_of_grid() * lanes_a_warp;
    for (u32 first = warp_of_grid() * lanes_a_warp; first < part.rows; first += stride) {
        const u32 row = first + lane_index();
        const u32 word = __ballot_sync(all_lanes, row < part.rows && load_constant(&part.levels[row]) == part.level);
        if (lane_index() == 0) part.frontier[first / lanes_a_warp] = word;
    }
    const u32 words = (ghosts + 31) / 32;
    for (u32 index = blockIdx.x * blockDim.x + threadIdx.x; index < words; index += gridDim.x * blockDim.x) {
        part.known_ghosts[index] |= load_constant(&part.ghosts_in_frontier[index]);
    }
}
WARPATH_KERNEL(bfs_part_mark)

/// Every owned vertex and every hub without a level looks for a neighbor in the frontier.
extern "C" __global__ void __launch_bounds__(512, 2) bfs_part_look_up(bfs_part::KernelArgument part) {
    using namespace bfs_part;
    __shared__ u32 shared[most_warps_a_block * frontier::collected];
    Next next(part, shared);
    const u32 stride = warps_of_grid() * lanes_a_warp;
    for (u32 first = warp_of_grid() * lanes_a_warp; first < part.owned; first += stride) {
        const u32 vertex = first + lane_index();
        const bool looks = vertex < part.owned && load(&part.levels[vertex]) == unreached;
        if (!__any_sync(all_lanes, looks)) continue;
        const u64 begin = looks ? load_constant(&part.offsets[vertex]) : 0, end = looks ? load_constant(&part.offsets[vertex + 1]) : 0;
        bool found = false;
        for (u64 arc = begin; arc < end && arc < begin + alone && !found; ++arc) found = is_in_frontier(part, arc);
        for_lanes_of(__ballot_sync(all_lanes, !found && end - begin > alone), [&](int lane) {
            const u64 last = __shfl_sync(all_lanes, end, lane);
            for (u64 arc = __shfl_sync(all_lanes, begin, lane) + alone; arc < last; arc += lanes_a_warp) {
                const bool hits = arc + lane_index() < last && is_in_frontier(part, arc + lane_index());
                if (__any_sync(all_lanes, hits)) {
                    found = found || lane_index() == static_cast<u32>(lane);
                    break;
                }
            }
        });
        if (found) store(&part.levels[vertex], part.level + 1);
        next.append(found, vertex);
    }
    next.finish();
    const u64 of_hubs = load_constant(&part.offsets[part.owned]), hub_arcs = load_constant(&part.offsets[part.rows]) - of_hubs;
    const auto offset_at = [&](u32 hub) { return load_constant(&part.offsets[part.owned + hub]) - of_hubs; };
    for_arcs_in_shares(part.rows - part.owned, hub_arcs, share_of_hubs, offset_at, [&](u32 hub, u64 arc) {
        const bool looks = load(&part.levels[part.owned + hub]) == unreached && !parts::contains(part.found_hubs, hub);
        if (looks && is_in_frontier(part, of_hubs + arc)) parts::insert(part.found_hubs, hub);
    });
}
WARPATH_KERNEL(bfs_part_look_up)
