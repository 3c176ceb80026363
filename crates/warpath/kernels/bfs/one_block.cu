// Breadth-first searches from many sources, up to 32 of them in one block, whose bits are in its shared memory: no
// block waits for another. The host side, and the essay, are in `src/cuda/bfs/one_block.rs`.
//
// Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal"; the frontier as a list or
// as all vertices: Shun and Blelloch 2013, "Ligra".
//
// registers: 64
// no-sass: STL
#include "../collectives.cuh"
#include "../generated/bfs/one_block.cuh"

// Templates of all kernels meet when the emulator is linked.
namespace one_block {

constexpr u32 unreached = ~0u;
constexpr u32 no_vertex = ~0u;
/// Arcs of a long row that a warp takes at a time.
constexpr u32 piece = arcs_a_lane * lanes_a_warp;
/// How many levels pass between two looks at the host's memory, far away.
constexpr u32 levels_a_look = 64;

/// The numbers that the threads of a block share.
struct Meeting {
    u32 found[2];   // vertices that an even and an odd level have found
    u32 long_rows;  // of the frontier
    u32 missing;    // levels that are not known
    u32 stops;
};

/// Vertices that some search has found in a level: a list, or if they are too many for it, all that have a word.
struct Frontier {
    u32* words;  // for each vertex the searches
    u16* list;
    u32 items;
    bool is_list;

    __device__ Frontier(u32* words, u16* list) : words(words), list(list), items(0), is_list(true) {}

    /// Says how many were found.
    __device__ void close(u32 found, u32 capacity, u32 vertices) {
        is_list = found <= capacity;
        items = is_list ? found : vertices;
    }
    __device__ u32 vertex(u32 item) const { return is_list ? list[item] : item; }
};

/// A block at work.
template <class Offset>
struct Block {
    const Batch<Offset>& batch;
    Meeting& meeting;
    u32* const levels;  // of its searches
    u32* const seen;    // for each vertex the searches that have seen it; those that do not exist have seen all
    Frontier now;
    Frontier next;
    u16* const long_rows;

    __device__ Block(const Batch<Offset>& batch, Meeting& meeting, unsigned char* memory)
        : batch(batch),
          meeting(meeting),
          levels(batch.levels + static_cast<u64>(blockIdx.x) * batch.width * batch.stride),
          seen(reinterpret_cast<u32*>(memory)),
          now(seen + batch.vertices, reinterpret_cast<u16*>(seen + 3 * batch.vertices)),
          next(now.words + batch.vertices, now.list + batch.capacity),
          long_rows(next.list + batch.capacity) {}

    /// Lists those heads of a lane whose place in `first` is set: they are the first to be found in this level.
    __device__ void list(const u32 (&head)[arcs_a_lane], u32 first, u32 level) {
        if (!__any_sync(all_lanes, first != 0)) return;
        const u32 count = __popc(first), up_to = warp_inclusive_sum(count);
        u32 place = 0;
        if (lane_index() == lanes_a_warp - 1) place = atomicAdd(&meeting.found[level % 2], up_to);
        place = __shfl_sync(all_lanes, place, lanes_a_warp - 1) + up_to - count;
#pragma unroll
        for (u32 k = 0; k < arcs_a_lane; k++) {
            if (!(first >> k & 1)) continue;
            if (place < batch.capacity) next.list[place] = static_cast<u16>(head[k]);
            place++;
        }
    }

    /// Takes the searches `bits` of a lane along the arcs from `arc` on that are `step` apart.
    __device__ __forceinline__ void relax(u32 bits, Offset arc, Offset end, u32 step, u32 level) {
        for (; __any_sync(all_lanes, arc < end); arc += arcs_a_lane * step) {
            u32 head[arcs_a_lane], first = 0;
#pragma unroll
            for (u32 k = 0; k < arcs_a_lane; k++) {
                head[k] = arc + k * step < end ? load_constant(&batch.targets[arc + k * step]) : no_vertex;
            }
#pragma unroll
            for (u32 k = 0; k < arcs_a_lane; k++) {
                if (head[k] == no_vertex) continue;
                u32 fresh = bits & ~load_shared(&seen[head[k]]);
                if (fresh == 0) continue;
                fresh &= ~atomicOr(&seen[head[k]], fresh);
                if (fresh != 0 && atomicOr(&next.words[head[k]], fresh) == 0) first |= 1u << k;
            }
            list(head, first, level);
        }
    }

    /// Goes along the arcs of the frontier, and puts long rows aside.
    __device__ void expand(u32 level) {
        const u32 rows = lanes_a_warp / batch.lanes, rank = lane_index() % batch.lanes;
        for (u32 first = warp_index() * rows; first < now.items; first += warps_of_block() * rows) {
            const u32 item = first + lane_index() / batch.lanes;
            u32 bits = 0;
            Offset arc = 0, end = 0;
            if (item < now.items) {
                const u32 vertex = now.vertex(item);
                bits = now.words[vertex];
                if (bits != 0) {
                    arc = load_constant(&batch.offsets[vertex]);
                    end = load_constant(&batch.offsets[vertex + 1]);
                }
                if (end - arc > batch.long_row) {
                    if (rank == 0) long_rows[atomicAdd(&meeting.long_rows, 1u)] = static_cast<u16>(vertex);
                    end = arc;
                }
            }
            relax(bits, arc + rank, end, batch.lanes, level);
        }
    }

    /// Goes along the arcs of long rows. Warps take their pieces in turn, the first of a row after the last of the one
    /// before.
    __device__ void expand_long_rows(u32 level) {
        Offset turn = warp_index();
        for (u32 row = 0; row < meeting.long_rows; row++) {
            const u32 vertex = long_rows[row];
            const Offset begin = load_constant(&batch.offsets[vertex]), end = load_constant(&batch.offsets[vertex + 1]);
            const Offset pieces = (end - begin + piece - 1) / piece;
            for (; turn < pieces; turn += warps_of_block()) {
                const Offset from = begin + turn * piece;
                relax(now.words[vertex], from + lane_index(), min(end, from + piece), lanes_a_warp, level);
            }
            turn -= pieces;
        }
    }

    /// Writes a level to the rows of the searches `bits` of a lane. Where lanes have vertices side by side, they write
    /// to one row after another together.
    __device__ __forceinline__ void write(u32 bits, u32 vertex, u32 level, bool are_side_by_side) {
        u32 some = are_side_by_side ? __reduce_or_sync(all_lanes, bits) : bits;
        for (; some != 0; some &= some - 1) {
            const u32 search = static_cast<u32>(__ffs(static_cast<int>(some)) - 1);
            if (bits >> search & 1) store(&levels[search * batch.stride + vertex], level);
        }
    }

    /// Writes the level of the vertices that were found, and clears the frontier before.
    __device__ void finish(u32 level) {
        u32 written = 0;
        for (u32 first = warp_index() * lanes_a_warp; first < next.items; first += blockDim.x) {
            const u32 item = first + lane_index();
            u32 bits = 0, vertex = 0;
            if (item < next.items) {
                vertex = next.vertex(item);
                bits = next.words[vertex];
            }
            written += __popc(bits);
            write(bits, vertex, level, !next.is_list);
        }
        for (u32 item = threadIdx.x; item < now.items; item += blockDim.x) now.words[now.vertex(item)] = 0;
        written = warp_sum(written);
        if (lane_index() == 0 && written > 0) atomicAdd(&meeting.missing, 0u - written);
    }

    /// Level 0, with nothing before it.
    __device__ void begin() {
        const u32 first = blockIdx.x * batch.width, searches = min(batch.width, batch.source_count - first);
        const u32 absent = searches < 32 ? ~0u << searches : 0;
        for (u32 vertex = threadIdx.x; vertex < batch.vertices; vertex += blockDim.x) {
            seen[vertex] = absent;
            now.words[vertex] = next.words[vertex] = 0;
        }
        if (threadIdx.x == 0) {
            meeting.found[0] = meeting.found[1] = meeting.long_rows = meeting.stops = 0;
            meeting.missing = batch.vertices * searches;
        }
        __syncthreads();
        if (threadIdx.x < searches) {
            const u32 source = load_constant(&batch.sources[first + threadIdx.x]), bit = 1u << threadIdx.x;
            atomicOr(&seen[source], bit);
            if (atomicOr(&next.words[source], bit) == 0) {
                const u32 place = atomicAdd(&meeting.found[0], 1u);
                if (place < batch.capacity) next.list[place] = static_cast<u16>(source);
            }
        }
        __syncthreads();
    }

    __device__ void search() {
        begin();
        u32 level = 0;
        for (;; level++) {
            // All threads: the vertices found in this level become the frontier of the next.
            const u32 found = meeting.found[level % 2];
            next.close(found, batch.capacity, batch.vertices);
            finish(level);
            if (threadIdx.x == 0) {
                meeting.found[(level + 1) % 2] = meeting.long_rows = 0;
                if (level % levels_a_look == 0) meeting.stops = is_cancelled(batch.cancelled);
            }
            const Frontier before = now;
            now = next;
            next = before;
            __syncthreads();
            if (meeting.stops) return;
            if (found == 0 || meeting.missing == 0) break;
            expand(level + 1);
            __syncthreads();
            expand_long_rows(level + 1);
            __syncthreads();
        }

        // Vertices that were never seen have no level yet.
        for (u32 first = warp_index() * lanes_a_warp; first < batch.vertices; first += blockDim.x) {
            const u32 vertex = first + lane_index();
            write(vertex < batch.vertices ? ~seen[vertex] : 0, vertex, unreached, true);
        }
        if (threadIdx.x == 0) {
            store(&batch.report[2 * blockIdx.x], level);
            store(&batch.report[2 * blockIdx.x + 1], 0);
        }
    }
};

template <class Offset>
__device__ __forceinline__ void run(const Batch<Offset>& batch) {
    __shared__ Meeting meeting;
    DYNAMIC_SHARED(memory);
    Block<Offset>(batch, meeting, memory).search();
}

}  // namespace one_block

extern "C" __global__ void __launch_bounds__(1024, 1) bfs_one_block_32(one_block::Batch<u32> batch) {
    one_block::run(batch);
}
WARPATH_KERNEL(bfs_one_block_32)
extern "C" __global__ void __launch_bounds__(1024, 1) bfs_one_block_64(one_block::Batch<u64> batch) {
    one_block::run(batch);
}
WARPATH_KERNEL(bfs_one_block_64)
