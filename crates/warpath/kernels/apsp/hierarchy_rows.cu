// Rows over a hierarchy, from the distances of the vertices of fronts: a block makes 128 columns of some rows. The host's part, and the
// essay, are in `src/cuda/apsp/hierarchy/rows.rs`; what a block has to do is made in `src/hierarchy/rounds.rs`.
//
// registers: 80
// sass sm_90: VIADDMNMX
// no-sass: STL
#include "../overlap.cuh"
#include "hierarchy.cuh"

namespace apsp_hierarchy_rows {

using namespace apsp_hierarchy;

/// How many times as many sources neighbouring blocks have in the same columns.
constexpr u32 groups_together = 8;

/// How shared memory is divided.
template <class Lane>
struct Room {
    using Distance = typename Lane::Distance;
    /// Sources of a block: their distances from a hub take 256 bytes.
    static constexpr u32 sources = bytes_a_hub / sizeof(Distance);
    static constexpr u32 a_thread = sources / lanes_a_warp;
    /// From column to column. Odd: the distances of a source in 32 columns are in 32 banks.
    static constexpr u32 stride = sources + 1;
    static constexpr u32 parts_of_four = four * sizeof(Distance) / sizeof(uint4);
    uint4* const lists;
    Distance* const labels;
    Distance* const hubs;
    Distance* const found;

    __device__ __forceinline__ explicit Room(unsigned char* memory)
        : lists(reinterpret_cast<uint4*>(memory)), labels(reinterpret_cast<Distance*>(lists + most_parts)),
          hubs(labels + four * most_fours), found(hubs + (most_hubs + 1) * sources) {}

    /// The distances to a column, from this lane's first source.
    __device__ __forceinline__ Distance* column(u32 index) const { return &found[index * stride + lane_index()]; }

    /// Where a source is in a column. A thread has neighbouring ones, which are apart there.
    static __device__ __forceinline__ u32 place(u32 source) {
        return source % a_thread * lanes_a_warp + source / a_thread;
    }
};

/// Distances from the sources of a thread.
template <class Lane>
struct alignas(Room<Lane>::a_thread * sizeof(typename Lane::Distance)) Few {
    typename Lane::Distance of[Room<Lane>::a_thread];
};

/// `four` lengths of a label.
template <class Lane>
struct alignas(16) Four {
    typename Lane::Distance of[four];
};

/// Four numbers of a list.
struct alignas(8) FourPlaces {
    u16 of[four];
};

template <class Lane>
__device__ __forceinline__ Few<Lane> from_hub(const Room<Lane>& room, u32 hub) {
    return reinterpret_cast<const Few<Lane>*>(&room.hubs[hub * Room<Lane>::sources])[lane_index()];
}

/// Works on `fours` times four hubs of a share, from the one at `first` on, and on `at_once` columns at a time.
template <class Lane, u32 fours, u32 at_once>
__device__ __forceinline__ void relax(const Room<Lane>& room, const Share& share, u32 first) {
    using Distance = typename Lane::Distance;
    constexpr u32 a_thread = Room<Lane>::a_thread;
    const u16* const lists = reinterpret_cast<const u16*>(room.lists);
    Few<Lane> from[fours * four];
#pragma unroll
    for (u32 part = 0; part < fours; part++) {
        const FourPlaces places = *reinterpret_cast<const FourPlaces*>(&lists[share.hubs + first + part * four]);
#pragma unroll
        for (u32 k = 0; k < four; k++) from[part * four + k] = from_hub(room, places.of[k]);
    }
    const u32 length = share.hub_count / four;
    const Four<Lane>* const labels = reinterpret_cast<const Four<Lane>*>(room.labels) + share.labels + first / four;
    for (u32 begin = 0; begin < share.column_count; begin += at_once) {
        Four<Lane> label[at_once][fours];
        Distance* to[at_once];
        Few<Lane> best[at_once];
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
            // At the end the last column is worked on again.
            const u32 column = min(begin + i, share.column_count - 1u);
            to[i] = room.column(lists[share.columns + column]);
#pragma unroll
            for (u32 part = 0; part < fours; part++) label[i][part] = labels[column * length + part];
        }
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
#pragma unroll
            for (u32 k = 0; k < a_thread; k++) best[i].of[k] = first == 0 ? Lane::infinity : to[i][k * lanes_a_warp];
        }
#pragma unroll
        for (u32 hub = 0; hub < fours * four; hub++) {
#pragma unroll
            for (u32 i = 0; i < at_once; i++) {
#pragma unroll
                for (u32 k = 0; k < a_thread; k++) {
                    best[i].of[k] = min(best[i].of[k], Lane::sum(from[hub].of[k], label[i][hub / four].of[hub % four]));
                }
            }
        }
#pragma unroll
        for (u32 i = 0; i < at_once; i++) {
#pragma unroll
            for (u32 k = 0; k < a_thread; k++) to[i][k * lanes_a_warp] = best[i].of[k];
        }
    }
}

/// A block makes its columns for some sources, round after round. Neighbouring blocks have the same columns and other sources.
template <class Lane>
__device__ __forceinline__ void rows(const Rows<Lane>& rows) {
    using Distance = typename Lane::Distance;
    using Room = Room<Lane>;
    constexpr u32 threads = row_warps * lanes_a_warp;
    /// Threads that copy the distances from a hub, hubs that are copied at once, and those of a thread.
    constexpr u32 copying = bytes_a_hub / sizeof(uint4), lines = threads / copying, each = (most_hubs + lines - 1) / lines;
    constexpr u32 of_a_warp = Room::sources / row_warps;
    DYNAMIC_SHARED(memory);
    const Room room(memory);
    const u32 warp = warp_index(), lane = lane_index();
    const u32 part = threadIdx.x % copying, line = threadIdx.x / copying;
    const u32 together = groups_together * rows.blocks, first_group = blockIdx.x / together * groups_together;
    const u32 groups = min(groups_together, rows.groups - first_group), index = blockIdx.x % together;
    const u32 block = index / groups, first_source = (first_group + index % groups) * Room::sources;
    // The rows that this warp writes.
    const u32 mine = first_source + warp + lane * row_warps;
    const u32 row_of = lane < of_a_warp && mine < rows.count ? load_constant(&rows.row_of[mine]) : 0;
    for (u32 i = threadIdx.x; i < Room::sources; i += threads) room.hubs[most_hubs * Room::sources + i] = Lane::infinity;
    const Distance* const from = &rows.by_place[first_source + part * (sizeof(uint4) / sizeof(Distance))];
    for (u32 next = block;;) {
        const u32* const record = &rows.rounds[static_cast<u64>(next) * round_words];
        const Round round = load_record(reinterpret_cast<const Round*>(record));
        u32 places[each];
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            places[k] = load_constant(&record[sizeof(Round) / sizeof(u32) + min(line + k * lines, most_hubs)]);
        }
#pragma unroll
        for (u32 k = 0; k < each; k++) {
            const u32 hub = line + k * lines;
            if (hub >= round.hub_count) continue;
            copy_to_shared(reinterpret_cast<uint4*>(room.hubs) + hub * copying + part, &from[places[k] * rows.stride]);
        }
        for (u32 i = threadIdx.x; i < round.parts; i += threads) copy_to_shared(&room.lists[i], &rows.lists[round.lists + i]);
        const uint4* const labels = reinterpret_cast<const uint4*>(rows.labels) + static_cast<u64>(round.labels) * Room::parts_of_four;
        for (u32 i = threadIdx.x; i < round.fours * Room::parts_of_four; i += threads) {
            copy_to_shared(reinterpret_cast<uint4*>(room.labels) + i, &labels[i]);
        }
        commit_copies();
        wait_for_copies<0>();
        __syncthreads();
        for (u32 i = warp; i < round.shares; i += row_warps) {
            const Share share = reinterpret_cast<const Share*>(room.lists)[i];
            if (share.hub_count == 0) {
                const u16* const lists = reinterpret_cast<const u16*>(room.lists);
#pragma unroll 4
                for (u32 k = 0; k < share.column_count; k++) {
                    const Few<Lane> found = from_hub(room, lists[share.hubs + k]);
                    Distance* const to = room.column(lists[share.columns + k]);
#pragma unroll
                    for (u32 source = 0; source < Room::a_thread; source++) to[source * lanes_a_warp] = found.of[source];
                }
                continue;
            }
            u32 first = 0;
            for (; first + 2 * four <= share.hub_count; first += 2 * four) relax<Lane, 2, 2>(room, share, first);
            if (first < share.hub_count) relax<Lane, 1, 4>(room, share, first);
        }
        __syncthreads();
        next = round.next;
        if (next == 0) break;
    }
    const u32 first_column = block * columns_a_block;
    for (u32 k = 0; k < of_a_warp; k++) {
        const u32 source = warp + k * row_warps;
        const u32 row = __shfl_sync(all_lanes, row_of, static_cast<int>(k));
        if (first_source + source >= rows.count) break;
        Distance* const to = &rows.rows[row * rows.row_stride + first_column];
        const Distance* const found = &room.found[Room::place(source)];
        Distance distances[columns_a_block / lanes_a_warp];
#pragma unroll
        for (u32 i = 0; i < columns_a_block / lanes_a_warp; i++) distances[i] = found[(i * lanes_a_warp + lane) * Room::stride];
#pragma unroll
        for (u32 i = 0; i < columns_a_block / lanes_a_warp; i++) {
            const u32 column = i * lanes_a_warp + lane;
            if (first_column + column >= rows.columns) continue;
            store_once(&to[column], distances[i] < Lane::infinity ? distances[i] : Lane::unreachable);
        }
    }
}

/// A warp makes the labels of a tile: a lane has two hubs, from which it sweeps over the tile.
template <class Lane>
__device__ __forceinline__ void labels(const Sweep<Lane>& sweep) {
    using Distance = typename Lane::Distance;
    DYNAMIC_SHARED(memory);
    Held<Lane>* const slots = reinterpret_cast<Held<Lane>*>(memory) + lane_index();
    const Tile tile = load_record(&sweep.tiles[blockIdx.x]);
    const u32 hub = Held<Lane>::count * lane_index();
    const u32 length = max((tile.load_count + four - 1) / four * four, four);
    for (u32 k = 0; k < tile.load_count; k++) {
        Held<Lane> at = Held<Lane>::none();
#pragma unroll
        for (u32 i = 0; i < Held<Lane>::count; i++) {
            if (hub + i == k) at.of[i] = 0;
        }
        slots[(tile.count + k) * lanes_a_warp] = at;
    }
    Distance greatest = 0;
    sweep_over_tile(sweep, tile, &sweep.arcs[static_cast<u64>(tile.batches) * batch], slots, [&](u32 slot, const Held<Lane>& found) {
#pragma unroll
        for (u32 i = 0; i < Held<Lane>::count; i++) {
            if (found.of[i] < Lane::infinity) greatest = max(greatest, found.of[i]);
        }
        const u32 end = load_constant(&sweep.column_offsets[tile.ranks + slot + 1]);
        for (u32 i = load_constant(&sweep.column_offsets[tile.ranks + slot]); i < end; i++) {
            const u64 label = load_constant(&sweep.label_of[load_constant(&sweep.columns_of[i])]);
            if (hub < length) store(reinterpret_cast<Held<Lane>*>(&sweep.labels[label * four + hub]), found);
        }
    });
    for (u32 i = lanes_a_warp / 2; i > 0; i /= 2) greatest = max(greatest, __shfl_xor_sync(all_lanes, greatest, static_cast<int>(i)));
    if (lane_index() == 0 && greatest > 0) atomicMax(sweep.greatest, static_cast<u64>(greatest));
}

/// A warp works out the distances in a tile from the sources that are in it, which labels do not have, and writes them to their rows.
template <class Lane>
__device__ __forceinline__ void own_tiles(const Sweep<Lane>& sweep) {
    DYNAMIC_SHARED(memory);
    Held<Lane>* const slots = reinterpret_cast<Held<Lane>*>(memory) + lane_index();
    const Visit visit = load_constant(&sweep.visits[blockIdx.x]);
    const Tile tile = load_record(&sweep.tiles[visit.tile]);
    Group<Lane, false> group(sweep, visit.group);
    typename Lane::Distance* rows[Held<Lane>::count];
    bool is_here[Held<Lane>::count];
#pragma unroll
    for (u32 k = 0; k < Held<Lane>::count; k++) {
        is_here[k] = tile.first <= group.ranks[k] && group.ranks[k] <= tile.last;
        const u32 row = is_here[k] ? load_constant(&sweep.row_of[group.place + k]) : 0;
        rows[k] = &sweep.rows[row * sweep.row_stride];
    }
    const auto* const arcs = &sweep.arcs[static_cast<u64>(tile.batches) * batch];
    work_on_tile(sweep, tile, arcs, slots, group, [&](u32 slot, const Held<Lane>& found) {
        // Those of sources elsewhere are not from here.
        Held<Lane> noted = found;
#pragma unroll
        for (u32 k = 0; k < Held<Lane>::count; k++) {
            if (!is_here[k]) noted.of[k] = Lane::infinity;
        }
        group.note(noted);
        const u32 end = load_constant(&sweep.column_offsets[tile.ranks + slot + 1]);
        for (u32 i = load_constant(&sweep.column_offsets[tile.ranks + slot]); i < end; i++) {
            const u32 column = load_constant(&sweep.columns_of[i]);
#pragma unroll
            for (u32 k = 0; k < Held<Lane>::count; k++) {
                if (is_here[k]) store(&rows[k][column], found.of[k] < Lane::infinity ? found.of[k] : Lane::unreachable);
            }
        }
    });
    group.report();
}

// A multiprocessor of an H100 has shared memory for so many blocks at a time.
#define WARPATH_HIERARCHY_ROWS(kind, lane, Lane, blocks)                                             \
    extern "C" __global__ void __launch_bounds__(row_warps* lanes_a_warp, blocks)                    \
        apsp_hierarchy_rows_##kind##rows_##lane(Rows<Lane> argument) {                               \
        rows(argument);                                                                              \
    }                                                                                                \
    WARPATH_KERNEL(apsp_hierarchy_rows_##kind##rows_##lane)                                          \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_rows_##kind##labels, labels, Sweep, lane, Lane)              \
    WARPATH_KERNEL_IN_LANE(apsp_hierarchy_rows_##kind##own_tiles, own_tiles, Sweep, lane, Lane)

WARPATH_HIERARCHY_ROWS(, u32_u32, Half<LaneNarrow>, 4)
WARPATH_HIERARCHY_ROWS(full_, u32_u32, Full<LaneNarrow>, 4)
WARPATH_HIERARCHY_ROWS(, u32_u64, Half<LaneWide>, 3)

}  // namespace apsp_hierarchy_rows
