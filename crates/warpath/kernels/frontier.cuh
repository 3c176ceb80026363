// A frontier: the vertices whose arcs are relaxed next, as two queues. The queue of *short rows* has vertices, of which
// a warp packs up to 32. The queue of *long rows* has pieces: a vertex, and which piece of its row a warp takes.
// Vertices without arcs are in neither.
//
//   Appender             how a warp fills the queues
//   for_items            how warps empty a queue of vertices
//   for_pieces           how warps empty the queue of long rows
//   targets_are_settled  whether a search may end early
//
// For example, a round of a search, where `visit(has, arc)` relaxes an arc and appends the head:
//
//   frontier::Appender<Queues> next(queues, collection);
//   const auto visit = [&](bool has, Offset arc) {
//       const u32 head = has ? load_constant(&targets[arc]) : 0;
//       const bool fresh = has && atomicMin(&levels[head], level) == unreached;
//       if (__any_sync(all_lanes, fresh)) next.append(fresh, head);
//   };
//   frontier::for_pieces(offsets, long_rows, pieces, [&](uint2, Offset begin, Offset end) {
//       for (Offset first = begin; first < end; first += lanes_a_warp) {
//           visit(first + lane_index() < end, first + lane_index());
//       }
//   });
//   frontier::for_items(shorts, warp_of_grid(), warps_of_grid(), [&](bool has, u32 item) {
//       const u32 tail = has ? load(&short_rows[item]) : 0;
//       const Offset begin = has ? load_constant(&offsets[tail]) : 0;
//       const u32 degree = has ? static_cast<u32>(load_constant(&offsets[tail + 1]) - begin) : 0;
//       for_packed_arcs(begin, degree, [&](bool has, u32, Offset arc) { visit(has, arc); });
//   });
//   next.finish();
#pragma once

#include "rows.cuh"
#include "generated/frontier.cuh"

namespace frontier {

/// Vertices that a warp collects before it appends them to a queue.
constexpr u32 collected = 96;

/// Vertices on their way to a queue, collected by one warp in shared memory.
struct Collection {
    u32* vertices;  // `collected` of them
    u32 size = 0;

    __device__ explicit Collection(u32* vertices) : vertices(vertices) {}

    /// Whether the vertices of a ballot still fit.
    __device__ bool has_room(u32 ballot) const { return size + __popc(ballot) <= collected; }

    /// Takes in the vertices of the lanes in the ballot, those that `has` one. There has to be room.
    __device__ void add(u32 ballot, bool has, u32 vertex) {
        if (has) vertices[size + place_in_ballot(ballot)] = vertex;
        size += __popc(ballot);
        __syncwarp();
    }

    /// Appends all to a queue, from `start` on, as far as it has room; returns whether it had.
    __device__ bool flush(u32* queue, u32* counter, u32 start, u32 capacity) {
        const u32 begin = start + warp_take(counter, size);
#pragma unroll 1
        for (u32 k = lane_index(); k < size; k += lanes_a_warp) {
            if (begin + k < capacity) store(&queue[begin + k], vertices[k]);
        }
        const bool fits = begin + size <= capacity;
        size = 0;
        __syncwarp();
        return fits;
    }
};

/// Takes places for the pieces of the rows of those lanes that have a long one, `piece` arcs each. Calls
/// `body(lane, degree, pieces, begin)` for one such lane after another, all lanes together.
template <class Offset, class Body>
__device__ __forceinline__ void cut_long_rows(bool is_long, Offset degree, u32 piece, u32* counter, Body body) {
    for_lanes_of(__ballot_sync(all_lanes, is_long), [&](int lane) {
        const Offset all = __shfl_sync(all_lanes, degree, lane);
        const u32 pieces = static_cast<u32>((all + piece - 1) / piece);
        body(lane, all, pieces, warp_take(counter, pieces));
    });
}

/// One warp's way of appending vertices to the queues of a frontier. `Queues` tells where they are:
///
///   offsets()                      of the graph
///   short_rows(), long_rows()      the queues; that of short rows has room for `capacity()` vertices
///   short_count(), piece_count()   how long they are, which warps count up
template <class Queues>
struct Appender {
    const Queues queues;
    Collection collection;

    /// `vertices` are `collected` words of shared memory, this warp's.
    __device__ Appender(const Queues& queues, u32* vertices) : queues(queues), collection(vertices) {}

    /// Appends the vertices of those lanes that have one; returns the number of its arcs.
    __device__ __forceinline__ u32 append(bool has, u32 vertex) {
        const auto* const offset = queues.offsets() + vertex;
        const u32 degree = has ? static_cast<u32>(load_constant(offset + 1) - load_constant(offset)) : 0;
        const bool is_short = degree > 0 && degree <= short_row;
        const u32 shorts = __ballot_sync(all_lanes, is_short);
        if (shorts != 0) {
            if (!collection.has_room(shorts)) flush();
            collection.add(shorts, is_short, vertex);
        }
        const auto append_pieces = [&](int lane, u32, u32 pieces, u32 begin) {
            const u32 tail = __shfl_sync(all_lanes, vertex, lane);
            uint2* const queue = queues.long_rows();
#pragma unroll 1
            for (u32 k = lane_index(); k < pieces; k += lanes_a_warp) store(&queue[begin + k], make_uint2(tail, k));
        };
        cut_long_rows(degree > short_row, degree, piece, queues.piece_count(), append_pieces);
        return degree;
    }

    /// Appends the vertices that are still collected.
    __device__ void finish() {
        if (collection.size > 0) flush();
    }

private:
    __device__ void flush() { collection.flush(queues.short_rows(), queues.short_count(), 0, queues.capacity()); }
};

/// Hands the items of a list to the lanes of some warps: `body(has, item)`, all lanes of a warp together. A warp takes
/// up to 32 at a time. Where there are few, a warp takes fewer, so that all warps have some.
template <class Body>
__device__ __forceinline__ void for_items(u32 items, u32 warp, u32 warps, Body body) {
    const u32 share = min((items + warps - 1) / warps, lanes_a_warp);
    for (u32 first = warp * share; first < items; first += warps * share) {
        const u32 item = first + lane_index();
        body(lane_index() < share && item < items, item);
    }
}

/// Hands the pieces of long rows to all warps of the grid: `body(item, begin, end)`, all lanes of a warp together. An
/// item is a vertex and the number of the piece.
template <class Offset, class Body>
__device__ __forceinline__ void for_pieces(const Offset* offsets, const uint2* long_rows, u32 pieces, Body body) {
    const u32 warps = warps_of_grid();
    for (u32 index = warp_of_grid(); index < pieces; index += warps) {
        const uint2 item = load(&long_rows[index]);
        const Offset begin = load_constant(&offsets[item.x]) + static_cast<Offset>(item.y) * piece;
        const Offset end = load_constant(&offsets[item.x + 1]);
        body(item, begin, end - begin > piece ? begin + piece : end);
    }
}

/// Whether all targets have a value below the bound, by which they have their final one; false without targets. All
/// threads of the block call it together.
template <class Value, class Bound>
__device__ __forceinline__ bool targets_are_settled(const Value* values, const u32* targets, u32 count, Bound bound) {
    if (count == 0) return false;
    bool are_settled = true;
#pragma unroll 1
    for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
        are_settled = are_settled && load(&values[load_constant(&targets[i])]) < bound;
    }
    return __syncthreads_and(are_settled) != 0;
}

}  // namespace frontier
