// Breadth-first searches from up to 64 sources at once, one bit of a word each, all levels in one cooperative launch.
// The host loop, and the essay, are in `src/cuda/bfs/many_sources.rs`.
//
// Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal".
//
// registers: 64
// no-sass: STL
#include "../frontier.cuh"
#include "../generated/bfs/many_sources.cuh"

// Templates of all kernels meet when the emulator is linked.
namespace many_sources {

constexpr u32 unreached = ~0u;
constexpr u32 no_vertex = ~0u;
/// Parts that a lane adds up.
constexpr u32 parts_a_lane = most_blocks / lanes_a_warp;
/// The most arcs that an item of the queue stands for.
constexpr u32 piece = 64;
/// An item: where its arcs begin, above how many there are, and the searches that go along them.
constexpr u32 count_bits = 16;
/// A warp's count of arcs stops here: the sum over a block fits a word.
constexpr u32 most_arcs = 1u << 26;

/// The news of a block for the others at a barrier, and their news for it.
struct Meeting {
    u32 found;        // by this block: items, or vertices
    u32 arcs;         // that they stand for
    u32 searches[2];  // that they belong to: lower and upper half
    u32 arrived;      // the sum of all arrivals
    u32 total;        // items in the queue
    u32 too_many;     // a part of the queue was too small: it does not have all items
    float all_found;
    float all_arcs;
    u64 active;              // the searches that are not over
    u32 start[most_blocks];  // how many items come before each part
};

// The news of a block in a word (`grid_sum`): whether it has found anything, whether it wants an end.
constexpr u32 finds = 1u << 9, stops = 1u << 18;

__device__ __forceinline__ u64 joined(u32 lower, u32 upper) { return static_cast<u64>(upper) << 32 | lower; }

/// The union over the warp, in every lane.
__device__ __forceinline__ u64 warp_union(u64 bits) {
    return joined(__reduce_or_sync(all_lanes, static_cast<u32>(bits)),
                  __reduce_or_sync(all_lanes, static_cast<u32>(bits >> 32)));
}

/// A barrier of the grid, after which all know the finds of each block.
template <class Offset>
__device__ __forceinline__ void meet(const Batch<Offset>& batch, Meeting& meeting, u32 round, bool may_stop) {
    __syncthreads();
    if (threadIdx.x < lanes_a_warp) {
        const u32 lane = lane_index();
        uint4* const parts = batch.parts + round % 2 * most_blocks;
        if (lane == 0) {
            const u32 found = meeting.found;
            store(&parts[blockIdx.x], make_uint4(found, meeting.arcs, meeting.searches[0], meeting.searches[1]));
            meeting.found = meeting.arcs = meeting.searches[0] = meeting.searches[1] = 0;
            u32 arrival = 0;
            if (found > 0) arrival += finds;
            if (may_stop && blockIdx.x == 0 && is_cancelled(batch.cancelled)) arrival += stops;
            meeting.arrived = grid_sum<finds>(batch.arrivals, round, arrival);
        }
        __syncwarp();
        u32 size[parts_a_lane], sum = 0, most = 0, lower = 0, upper = 0;
        float found = 0, arcs = 0;
#pragma unroll
        for (u32 k = 0; k < parts_a_lane; k++) {
            const u32 part = lane * parts_a_lane + k;
            const uint4 of_part = part < gridDim.x ? load(&parts[part]) : make_uint4(0, 0, 0, 0);
            size[k] = min(of_part.x, batch.capacity);
            sum += size[k];
            most = max(most, of_part.x);
            found += static_cast<float>(of_part.x);
            arcs += static_cast<float>(of_part.y);
            lower |= of_part.z;
            upper |= of_part.w;
        }
        const u32 up_to = warp_inclusive_sum(sum);
        u32 start = up_to - sum;
#pragma unroll
        for (u32 k = 0; k < parts_a_lane; k++) {
            meeting.start[lane * parts_a_lane + k] = start;
            start += size[k];
        }
#pragma unroll
        for (int by = lanes_a_warp / 2; by > 0; by /= 2) {
            found += __shfl_xor_sync(all_lanes, found, by);
            arcs += __shfl_xor_sync(all_lanes, arcs, by);
        }
        const u64 active = warp_union(joined(lower, upper));
        const bool too_many = __any_sync(all_lanes, most > batch.capacity);
        if (lane == lanes_a_warp - 1) {
            meeting.total = up_to;
            meeting.too_many = too_many;
            meeting.all_found = found;
            meeting.all_arcs = arcs;
            meeting.active = active;
        }
    }
    __syncthreads();
}

/// One warp's way of appending items to its block's part of the next queue.
template <class Offset>
struct Appender {
    const Batch<Offset>& batch;
    Meeting& meeting;
    uint4* part;
    u32 arcs = 0;
    u64 searches = 0;

    __device__ Appender(const Batch<Offset>& batch, Meeting& meeting, u32 round)
        : batch(batch),
          meeting(meeting),
          part(batch.queue + (static_cast<u64>(round % 2) * gridDim.x + blockIdx.x) * batch.capacity) {}

    __device__ void put(u32 place, u64 begin, u32 count, u64 bits) {
        const u64 range = begin << count_bits | count;
        if (place < batch.capacity) {
            store(&part[place], make_uint4(static_cast<u32>(range), static_cast<u32>(range >> 32), static_cast<u32>(bits),
                                           static_cast<u32>(bits >> 32)));
        }
    }

    /// Appends the arcs of those lanes that have any searches to take along them.
    __device__ void append(u64 bits, Offset begin, Offset end) {
        const Offset degree = bits != 0 ? end - begin : 0;
        searches |= bits;
        arcs = min(arcs + static_cast<u32>(min(degree, static_cast<Offset>(most_arcs))), most_arcs);
        const bool is_short = degree > 0 && degree <= piece;
        const u32 shorts = __ballot_sync(all_lanes, is_short);
        if (shorts != 0) {
            const u32 at = warp_take(&meeting.found, static_cast<u32>(__popc(shorts))) + place_in_ballot(shorts);
            if (is_short) put(at, begin, static_cast<u32>(degree), bits);
        }
        const auto put_pieces = [&](int lane, Offset all, u32 pieces, u32 at) {
            const Offset first = __shfl_sync(all_lanes, begin, lane);
            const u64 which = __shfl_sync(all_lanes, bits, lane);
            for (u32 k = lane_index(); k < pieces; k += lanes_a_warp) {
                const Offset done = static_cast<Offset>(k) * piece;
                put(at + k, first + done, static_cast<u32>(min(all - done, static_cast<Offset>(piece))), which);
            }
        };
        frontier::cut_long_rows(degree > piece, degree, piece, &meeting.found, put_pieces);
    }

    /// Tells the block about the items that were appended.
    __device__ void finish() {
        const u32 all_arcs = min(warp_sum(arcs), most_arcs);
        const u64 all_searches = warp_union(searches);
        if (lane_index() == 0 && all_searches != 0) {
            atomicAdd(&meeting.arcs, all_arcs);
            atomicOr(&meeting.searches[0], static_cast<u32>(all_searches));
            atomicOr(&meeting.searches[1], static_cast<u32>(all_searches >> 32));
        }
    }
};

/// Takes the searches `bits` of each lane along its `count` arcs from `begin`, spread over the lanes of the warp. One
/// thread claims a head for a search that has not seen it, writes the level, and queues the arcs from there.
template <class Offset>
__device__ __forceinline__ void relax(const Batch<Offset>& batch, Appender<Offset>& next, u64* seen, u32 level,
                                      Offset begin, u32 count, u64 bits) {
    for_packed_arcs(begin, count, [&](bool has, u32 lane, Offset arc) {
        u64 mine = __shfl_sync(all_lanes, bits, static_cast<int>(lane));
        Offset head_begin = 0, head_end = 0;
        if (has) {
            const u32 head = load_constant(&batch.targets[arc]);
            mine &= ~load(&seen[head]);
            if (mine != 0) {
                head_begin = load_constant(&batch.offsets[head]);
                head_end = load_constant(&batch.offsets[head + 1]);
                mine &= ~atomicOr(&seen[head], mine);
                for (u64 rest = mine; rest != 0; rest &= rest - 1) {
                    const u32 search = static_cast<u32>(__ffsll(static_cast<long long>(rest)) - 1);
                    store(&batch.levels[search * batch.stride + head], level);
                }
            }
        } else {
            mine = 0;
        }
        if (__any_sync(all_lanes, mine != 0)) next.append(mine, head_begin, head_end);
    });
}

/// Top-down: relaxes the arcs of the queue.
template <class Offset>
__device__ void expand(const Batch<Offset>& batch, Meeting& meeting, u32 round, u64* seen, u32 level) {
    const uint4* const queue = batch.queue + static_cast<u64>((round + 1) % 2) * gridDim.x * batch.capacity;
    Appender<Offset> next(batch, meeting, round);
    frontier::for_items(meeting.total, spread_warp_of_grid(), warps_of_grid(), [&](bool has, u32 index) {
        u64 range = 0, bits = 0;
        if (has) {
            // The last part that starts at or before this item.
            u32 part = 0;
#pragma unroll
            for (u32 step = most_blocks / 2; step > 0; step /= 2) {
                if (meeting.start[part + step] <= index) part += step;
            }
            const uint4 item = load(&queue[static_cast<u64>(part) * batch.capacity + (index - meeting.start[part])]);
            range = joined(item.x, item.y);
            bits = joined(item.z, item.w);
        }
        const u32 count = static_cast<u32>(range) & ((1u << count_bits) - 1);
        relax(batch, next, seen, level, static_cast<Offset>(range >> count_bits), count, bits);
    });
    next.finish();
}

/// Bottom-up: every vertex that some active search has not seen gathers the searches of its tails, until none is
/// missing. A tail that a search had seen before the last level would have told the vertex then, so nothing else tells
/// the frontier.
template <class Offset>
__device__ void pull(const Batch<Offset>& batch, Meeting& meeting, const u64* before, u64* after, u32 level) {
    constexpr u32 groups = 4, group = lanes_a_warp / groups;
    const u32 lane = lane_index(), chunks = (batch.vertices + lanes_a_warp - 1) / lanes_a_warp;
    const u32 warp = spread_warp_of_grid(), warps = warps_of_grid();
    u32 found = 0;
    u64 searches = 0;
    for (u32 chunk = warp; chunk < chunks; chunk += warps) {
        const u32 vertex = chunk * lanes_a_warp + lane;
        const bool exists = vertex < batch.vertices;
        const u64 known = exists ? before[vertex] : ~static_cast<u64>(0);
        u64 missing = meeting.active & ~known;
        if (__any_sync(all_lanes, missing != 0)) {
            Offset arc = 0, end = 0;
            if (missing != 0) {
                arc = load_constant(&batch.incoming_offsets[vertex]);
                end = load_constant(&batch.incoming_offsets[vertex + 1]);
            }
            // A lane a row, four arcs.
            {
                u32 tail[4];
#pragma unroll
                for (u32 k = 0; k < 4; k++) tail[k] = arc + k < end ? load_constant(&batch.incoming[arc + k]) : no_vertex;
#pragma unroll
                for (u32 k = 0; k < 4; k++) {
                    if (tail[k] != no_vertex) missing &= ~before[tail[k]];
                }
                arc = end - arc > 4 ? arc + 4 : end;
            }
            // Eight lanes a row, sixteen arcs, twice.
            for (u32 again = 0; again < 2; again++) {
                const bool is_open = missing != 0 && arc < end;
                const u32 open = __ballot_sync(all_lanes, is_open);
                if (__popc(open) < static_cast<int>(groups)) break;
                const u32 rank = place_in_ballot(open);
                u32 rest = open;
                for (u32 first = 0; rest != 0; first += groups) {
                    int row = -1;
#pragma unroll
                    for (u32 k = 0; k < groups; k++) {
                        if (lane / group == k) row = __ffs(static_cast<int>(rest)) - 1;
                        rest &= rest - 1;
                    }
                    const Offset row_arc = __shfl_sync(all_lanes, arc, row & 31), row_end = __shfl_sync(all_lanes, end, row & 31);
                    u32 tail[2];
                    u64 bits = 0;
#pragma unroll
                    for (u32 k = 0; k < 2; k++) {
                        const Offset at = row_arc + k * group + lane % group;
                        tail[k] = row >= 0 && at < row_end ? load_constant(&batch.incoming[at]) : no_vertex;
                    }
#pragma unroll
                    for (u32 k = 0; k < 2; k++) {
                        if (tail[k] != no_vertex) bits |= before[tail[k]];
                    }
#pragma unroll
                    for (int by = group / 2; by > 0; by /= 2) bits |= __shfl_xor_sync(all_lanes, bits, by);
                    bits = __shfl_sync(all_lanes, bits, static_cast<int>((rank - first) % groups * group));
                    if (is_open && rank - first < groups) missing &= ~bits;
                }
                if (is_open) arc = end - arc > 2 * group ? arc + 2 * group : end;
            }
            // The whole warp one row after another.
            for_lanes_of(__ballot_sync(all_lanes, missing != 0 && arc < end), [&](int from) {
                const Offset row_end = __shfl_sync(all_lanes, end, from);
                u64 row_missing = __shfl_sync(all_lanes, missing, from);
                for (Offset row_arc = __shfl_sync(all_lanes, arc, from); row_arc < row_end && row_missing != 0;
                     row_arc += 4 * lanes_a_warp) {
                    u32 tail[4];
                    u64 bits = 0;
#pragma unroll
                    for (u32 k = 0; k < 4; k++) {
                        const Offset at = row_arc + k * lanes_a_warp + lane;
                        tail[k] = at < row_end ? load_constant(&batch.incoming[at]) : no_vertex;
                    }
#pragma unroll
                    for (u32 k = 0; k < 4; k++) {
                        if (tail[k] != no_vertex) bits |= before[tail[k]];
                    }
                    row_missing &= ~warp_union(bits);
                }
                if (static_cast<int>(lane) == from) missing = row_missing;
            });
        }
        const u64 fresh = meeting.active & ~known & ~missing;
        if (exists) after[vertex] = known | fresh;
        if (!__any_sync(all_lanes, fresh != 0)) continue;
        found += fresh != 0;
        searches |= fresh;
        for (u64 some = warp_union(fresh); some != 0; some &= some - 1) {
            const u32 search = static_cast<u32>(__ffsll(static_cast<long long>(some)) - 1);
            if (fresh >> search & 1) store(&batch.levels[search * batch.stride + vertex], level);
        }
    }
    found = warp_sum(found);
    searches = warp_union(searches);
    if (lane == 0 && found > 0) {
        atomicAdd(&meeting.found, found);
        atomicOr(&meeting.searches[0], static_cast<u32>(searches));
        atomicOr(&meeting.searches[1], static_cast<u32>(searches >> 32));
    }
}

/// Queues the vertices with the searches that `after` has and `before` has not.
template <class Offset>
__device__ void gather(const Batch<Offset>& batch, Meeting& meeting, u32 round, const u64* before, const u64* after) {
    const u32 warp = spread_warp_of_grid(), warps = warps_of_grid();
    const u32 chunks = (batch.vertices + lanes_a_warp - 1) / lanes_a_warp;
    Appender<Offset> queue(batch, meeting, round);
    for (u32 chunk = warp; chunk < chunks; chunk += warps) {
        const u32 vertex = chunk * lanes_a_warp + lane_index();
        const u64 fresh = vertex < batch.vertices ? after[vertex] & ~before[vertex] : 0;
        if (!__any_sync(all_lanes, fresh != 0)) continue;
        Offset begin = 0, end = 0;
        if (fresh != 0) {
            begin = load_constant(&batch.offsets[vertex]);
            end = load_constant(&batch.offsets[vertex + 1]);
        }
        queue.append(fresh, begin, end);
    }
    queue.finish();
}

/// The work of all blocks until the next barrier.
enum class Phase { clear, begin, expand, pull, gather };

template <class Offset>
__device__ __forceinline__ void run(const Batch<Offset>& batch) {
    __shared__ Meeting meeting;
    const u32 thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    const u64 absent = batch.searches < 64 ? ~static_cast<u64>(0) << batch.searches : 0;
    if (threadIdx.x == 0) meeting.found = meeting.arcs = meeting.searches[0] = meeting.searches[1] = 0;
    Phase phase = Phase::clear;
    u32 level = 0;  // of the vertices that are found next
    u32 bottom_up_levels = 0;
    u32 now = 0;  // which of the arrays has the seen vertices
    for (u32 round = 0;; round++) {
        u64* const seen = batch.seen[now];
        u64* const other = batch.seen[now ^ 1];
        switch (phase) {
            case Phase::clear:
                for (u32 vertex = thread; vertex < batch.vertices; vertex += threads) seen[vertex] = absent;
                break;
            case Phase::begin: {
                const u32 warp = spread_warp_of_grid(), warps = warps_of_grid();
                if (warp >= batch.source_count) break;
                Appender<Offset> queue(batch, meeting, round);
                for (u32 index = warp; index < batch.source_count; index += warps) {
                    const u32 source = load_constant(&batch.sources[index]), search = batch.searches == 1 ? 0 : index;
                    const u64 bit = static_cast<u64>(1) << search;
                    if (lane_index() == 0) {
                        atomicOr(&seen[source], bit);
                        store(&batch.levels[search * batch.stride + source], 0);
                    }
                    queue.append(lane_index() == 0 ? bit : 0, load_constant(&batch.offsets[source]),
                                 load_constant(&batch.offsets[source + 1]));
                }
                queue.finish();
                break;
            }
            case Phase::expand:
                expand(batch, meeting, round, seen, level);
                break;
            case Phase::pull:
                pull(batch, meeting, seen, other, level);
                break;
            case Phase::gather:
                gather(batch, meeting, round, other, seen);
                break;
        }
        // The flag is in the host's memory, far away: it is not read every time.
        meet(batch, meeting, round, phase != Phase::expand || level % 8 == 0);

        if (meeting.arrived >= stops) return;
        if (phase == Phase::clear) {
            phase = Phase::begin;
            continue;
        }
        if (phase != Phase::gather) level++;
        if (phase == Phase::pull) {
            bottom_up_levels++;
            now ^= 1;
        }
        if (meeting.arrived < finds || level > batch.cutoff) break;
        if (phase == Phase::pull) {
            if (meeting.all_found < batch.top_down * static_cast<float>(batch.vertices)) phase = Phase::gather;
        } else if (meeting.too_many || meeting.all_arcs > batch.bottom_up * static_cast<float>(batch.arcs)) {
            phase = Phase::pull;
        } else {
            phase = Phase::expand;
        }
    }

    // Vertices that were never seen have no level yet.
    const u32 chunks = (batch.vertices + lanes_a_warp - 1) / lanes_a_warp;
    for (u32 chunk = thread / lanes_a_warp; chunk < chunks; chunk += threads / lanes_a_warp) {
        const u32 vertex = chunk * lanes_a_warp + lane_index();
        const u64 unseen = vertex < batch.vertices ? ~load(&batch.seen[now][vertex]) : 0;
        for (u64 some = warp_union(unseen); some != 0; some &= some - 1) {
            const u32 search = static_cast<u32>(__ffsll(static_cast<long long>(some)) - 1);
            if (unseen >> search & 1) store(&batch.levels[search * batch.stride + vertex], unreached);
        }
    }
    if (thread == 0) {
        store(&batch.report[0], level - 1);
        store(&batch.report[1], bottom_up_levels);
    }
}

}  // namespace many_sources

extern "C" __global__ void __launch_bounds__(1024, 1) bfs_many_sources_32(many_sources::Batch<u32> batch) {
    many_sources::run(batch);
}
WARPATH_KERNEL(bfs_many_sources_32)
extern "C" __global__ void __launch_bounds__(1024, 1) bfs_many_sources_64(many_sources::Batch<u64> batch) {
    many_sources::run(batch);
}
WARPATH_KERNEL(bfs_many_sources_64)
