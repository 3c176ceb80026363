// The first vertex after the source on every shortest path, from the matrices of final distances and of weights. The
// essay is in `src/cuda/apsp/successors.rs`.
//
//   apsp_successors_count    for each chunk of tails and each column: how many of its arcs are shortest paths
//   apsp_successors_columns  where the arcs of each chunk begin within their column, and how long slices are
//   apsp_successors_slices   where slices begin
//   apsp_successors_fill     the arcs themselves
//   apsp_successors_find     the predecessor of every vertex that has one at a smaller distance
//   apsp_successors_descend  the others', one tight arc after another
//   apsp_successors_shorten  first vertices after the source, from predecessors
//
// A *slice* is 32 columns, one for each lane of a warp; its arcs lie with the first of every column side by side, then
// the second of every column, and so on. Until the end a vertex has its predecessor, but itself where that is the
// source: so the first vertex after the source is the one that the chain ends in.
//
// registers: 64
// no-sass: STL
#include "../collectives.cuh"
#include "cells.cuh"
#include "../generated/apsp/successors.cuh"

namespace successors {

constexpr u32 no_vertex = 0xffff'ffff;
/// Marks a predecessor that was found in this round.
constexpr u32 is_new = 0x8000'0000;
/// A lane looks at this many arcs of its column before it asks whether more are needed. Slices are padded to it.
constexpr u32 at_once = 4;

/// An arc to some column.
template <class Number>
struct alignas(2 * sizeof(Number)) Arc {
    Number weight;
    u32 tail;
};
/// In one word: of 17 bits and 15.
template <>
struct alignas(4) Arc<u16> {
    u32 weight : 15;
    u32 tail : 17;
};

template <class Number>
__device__ __forceinline__ Arc<Number> arc_of(Number weight, u32 tail) {
    Arc<Number> arc;
    arc.weight = weight;
    arc.tail = tail;
    return arc;
}

template <class Number>
__device__ __forceinline__ bool is_distance(const KernelArgument& search, Number number) {
    return static_cast<long long>(number) < search.threshold;
}

/// Goes through the cells of all chunks, and counts the arcs of each column that are shortest paths themselves, or
/// writes them down.
template <class Cell, bool fills>
__device__ __forceinline__ void collect(const KernelArgument& search) {
    using Number = typename Cell::Number;
    const auto* const distances = static_cast<const Number*>(search.distances);
    const auto* const weights = static_cast<const Number*>(search.weights);
    const u32 chunks = (search.vertices + chunk - 1) / chunk;
    const u32 across = (search.columns + blockDim.x - 1) / blockDim.x;
    for (u64 task = blockIdx.x; task < static_cast<u64>(chunks) * across; task += gridDim.x) {
        const u32 part = static_cast<u32>(task / across);
        const u32 column = static_cast<u32>(task % across) * blockDim.x + threadIdx.x;
        if (column >= search.columns) continue;
        u32* const count = search.counts + static_cast<u64>(part) * search.columns + column;
        const u32 slice = column / lanes_a_warp;
        u32 found = 0;
        u64 place = 0;
        if (fills) place = search.starts[slice] + static_cast<u64>(*count) * lanes_a_warp + column % lanes_a_warp;
        const u32 end = min((part + 1) * chunk, search.vertices);
        for (u32 tail = part * chunk; tail < end && column < search.vertices; tail++) {
            const u64 cell = tail * search.pitch + column;
            const Number weight = load_once(weights + cell);
            if (weight != load_once(distances + cell) || !is_distance(search, weight) || tail == column) continue;
            if (fills) {
                store(static_cast<Arc<Number>*>(search.arcs) + place, arc_of(weight, tail));
                place += lanes_a_warp;
            }
            found++;
        }
        if (!fills) {
            *count = found;
        } else if (part == chunks - 1) {
            for (; place < search.starts[slice + 1]; place += lanes_a_warp) {
                store(static_cast<Arc<Number>*>(search.arcs) + place, arc_of(Cell::infinity, 0));
            }
        }
    }
}

__device__ __forceinline__ void add_up_columns(const KernelArgument& search) {
    const u32 chunks = (search.vertices + chunk - 1) / chunk;
    for (u32 column = blockIdx.x * blockDim.x + threadIdx.x; column < search.columns; column += gridDim.x * blockDim.x) {
        u32 sum = 0;
        for (u32 part = 0; part < chunks; part++) {
            u32* const count = search.counts + static_cast<u64>(part) * search.columns + column;
            const u32 here = *count;
            *count = sum;
            sum += here;
        }
        search.degrees[column] = sum;
        // Whole warps are beyond the last column, or none of their lanes.
        const u64 longest = (warp_max(sum) + at_once - 1) / at_once * at_once;
        if (lane_index() == 0) search.starts[column / lanes_a_warp] = longest * lanes_a_warp;
    }
}

/// One block.
__device__ __forceinline__ void place_slices(const KernelArgument& search) {
    const u32 slices = search.columns / lanes_a_warp;
    u64 total = 0;
    for (u32 first = 0; first < slices; first += blockDim.x) {
        const u32 slice = first + threadIdx.x;
        const auto sum = block_exclusive_sum(slice < slices ? search.starts[slice] : u64{0});
        if (slice < slices) search.starts[slice] = total + sum.before;
        total += sum.total;
    }
    if (threadIdx.x == 0) search.starts[slices] = total;
}

/// A vertex's distances from several sources.
template <class Number, u32 rows>
struct alignas(rows * sizeof(Number)) Distances {
    Number from[rows];
};

/// Two numbers as a word.
__device__ __forceinline__ u32 word_of(const u16* numbers) { return numbers[0] | static_cast<u32>(numbers[1]) << 16; }

/// The least tails of tight arcs that climb, for the vertices of a slice and several sources. `read` finds an arc in
/// `search.arcs`, or in the matrix.
template <class Cell, u32 rows, class Read, class Distance>
__device__ __forceinline__ void least_tails(
    u64 arcs, const Read& read, const Distance& distances_of, typename Cell::Number (&targets)[rows], u32 (&least)[rows]) {
    using Number = typename Cell::Number;
    for (u64 first = 0; first < arcs; first += at_once) {
        Arc<Number> some[at_once];
#pragma unroll
        for (u32 index = 0; index < at_once; index++) some[index] = read(first + index);
        u32 found[rows];
#pragma unroll
        for (u32 row = 0; row < rows; row++) found[row] = no_vertex;
#pragma unroll
        for (u32 back = 0; back < at_once; back++) {
            // Tails ascend: the least is found last.
            const Arc<Number> arc = some[at_once - 1 - back];
            const auto distances = distances_of(arc.tail);
            // An arc of weight 0 does not climb.
            const auto weight = arc.weight != 0 ? static_cast<Number>(arc.weight) : Cell::infinity;
            if constexpr (sizeof(Number) == 2 && rows > 1) {
                // Two in a word: nothing is carried from one to the other.
#pragma unroll
                for (u32 row = 0; row < rows; row += 2) {
                    const u32 differs = (word_of(distances.from + row) + Cell::everywhere(weight)) ^ word_of(targets + row);
                    if (differs << 16 == 0) found[row] = arc.tail;
                    if (differs >> 16 == 0) found[row + 1] = arc.tail;
                }
            } else {
#pragma unroll
                for (u32 row = 0; row < rows; row++) {
                    const auto sum = static_cast<Number>(distances.from[row] + weight);
                    if (sum == targets[row]) found[row] = arc.tail;
                }
            }
        }
        bool is_open = false;
#pragma unroll
        for (u32 row = 0; row < rows; row++) {
            if (least[row] == no_vertex) least[row] = found[row];
            is_open |= least[row] == no_vertex;
        }
        if (!__any_sync(all_lanes, is_open)) return;
    }
}

/// A block takes the rows of `rows` sources at a time, to shared memory unless one row is too long for it; a warp takes
/// slices.
template <class Cell, u32 rows, bool is_shared>
__device__ __forceinline__ void find(const KernelArgument& search) {
    using Number = typename Cell::Number;
    using Group = Distances<Number, rows>;
    // Two distances, or marks of infinity, never add up to this.
    const auto nothing = static_cast<Number>(Cell::is_signed ? 2 * Cell::infinity + 1 : ~Number{});
    const auto* const all = static_cast<const Number*>(search.distances);
    const auto* const weights = static_cast<const Number*>(search.weights);
    const auto* const arcs = static_cast<const Arc<Number>*>(search.arcs);
    DYNAMIC_SHARED(bytes);
    auto* const near = reinterpret_cast<Group*>(bytes);
    bool is_unexplained = false;
    for (u32 first = search.first_row + blockIdx.x * rows; first < search.end_row; first += gridDim.x * rows) {
        u32 source[rows];
        const Number* row_of[rows];
#pragma unroll
        for (u32 row = 0; row < rows; row++) {
            // Beyond the last row, the last one again.
            source[row] = load_constant(search.sources + min(first + row, search.end_row - 1));
            row_of[row] = all + source[row] * search.pitch;
        }
        const auto distances_of = [&](u32 vertex) {
            if constexpr (is_shared) {
                return near[vertex];
            } else {
                return Group{{load_constant(row_of[0] + vertex)}};
            }
        };
        if constexpr (is_shared) {
            __syncthreads();
            for (u32 vertex = threadIdx.x; vertex < search.vertices; vertex += blockDim.x) {
                Group group;
#pragma unroll
                for (u32 row = 0; row < rows; row++) group.from[row] = load_constant(row_of[row] + vertex);
                near[vertex] = group;
            }
            __syncthreads();
        }
        const u32 slices = search.columns / lanes_a_warp;
        for (u32 slice = warp_index(); slice < slices; slice += warps_of_block()) {
            const u32 vertex = slice * lanes_a_warp + lane_index();
            const bool is_there = vertex < search.vertices;
            const Group here = distances_of(is_there ? vertex : 0);
            Number targets[rows];
            u32 least[rows];
#pragma unroll
            for (u32 row = 0; row < rows; row++) {
                const bool has_one = is_there && vertex != source[row] && is_distance(search, here.from[row]);
                targets[row] = has_one ? here.from[row] : nothing;
                least[row] = has_one ? no_vertex : 0;
            }
            if (arcs != nullptr) {
                const u64 start = load_constant(search.starts + slice);
                const auto* const of_lane = arcs + start + lane_index();
                const auto read = [&](u64 index) { return load_constant(of_lane + index * lanes_a_warp); };
                const u64 count = (load_constant(search.starts + slice + 1) - start) / lanes_a_warp;
                least_tails<Cell>(count, read, distances_of, targets, least);
            } else {
                const auto read = [&](u64 index) -> Arc<Number> {
                    const bool is_cell = is_there && index < search.vertices;
                    const Number weight = is_cell ? load_constant(weights + index * search.pitch + vertex) : Cell::infinity;
                    return arc_of(weight, is_cell ? static_cast<u32>(index) : 0);
                };
                least_tails<Cell>(search.vertices, read, distances_of, targets, least);
            }
#pragma unroll
            for (u32 row = 0; row < rows; row++) {
                if (!is_there || first + row >= search.end_row) continue;
                const bool has_one = targets[row] != nothing;
                is_unexplained |= has_one && least[row] == no_vertex;
                const u32 before = least[row] == source[row] ? vertex : least[row];
                store(search.successors + static_cast<u64>(first + row) * search.vertices + vertex,
                      has_one ? before : no_vertex);
            }
        }
    }
    if (is_unexplained) store(search.unexplained, 1);
}

/// The least tail of a tight arc to a vertex from one that had a predecessor before this round.
template <class Cell>
__device__ __forceinline__ u32 least_settled_tail(
    const KernelArgument& search, u32 source, const typename Cell::Number* row, const u32* before, u32 vertex) {
    using Number = typename Cell::Number;
    const auto distance = load_constant(row + vertex);
    const auto suits = [&](u32 tail, Number weight) {
        const Number at_tail = load_constant(row + tail);
        return is_distance(search, at_tail) && static_cast<Number>(at_tail + weight) == distance &&
               (tail == source || load(before + tail) < is_new);
    };
    if (search.arcs != nullptr) {
        const auto* arc = static_cast<const Arc<Number>*>(search.arcs);
        arc += load_constant(search.starts + vertex / lanes_a_warp) + vertex % lanes_a_warp;
        for (u32 left = load_constant(search.degrees + vertex); left > 0; left--, arc += lanes_a_warp) {
            const auto of_arc = load_constant(arc);
            if (suits(of_arc.tail, static_cast<Number>(of_arc.weight))) return of_arc.tail;
        }
    } else {
        const auto* weight = static_cast<const Number*>(search.weights) + vertex;
        for (u32 tail = 0; tail < search.vertices; tail++, weight += search.pitch) {
            const Number of_arc = load_constant(weight);
            if (tail != vertex && is_distance(search, of_arc) && suits(tail, of_arc)) return tail;
        }
    }
    return no_vertex;
}

/// Level by level through tight arcs into vertices that have no predecessor yet. A block takes a row.
template <class Cell>
__device__ __forceinline__ void descend(const KernelArgument& search) {
    using Number = typename Cell::Number;
    for (u32 row = search.first_row + blockIdx.x; row < search.end_row; row += gridDim.x) {
        const u32 source = load_constant(search.sources + row);
        const auto* const distances = static_cast<const Number*>(search.distances) + source * search.pitch;
        u32* const before = search.successors + static_cast<u64>(row) * search.vertices;
        bool goes_on = true;
        while (goes_on) {
            bool found = false;
            for (u32 vertex = threadIdx.x; vertex < search.vertices; vertex += blockDim.x) {
                if (load(before + vertex) != no_vertex || vertex == source) continue;
                if (!is_distance(search, load_constant(distances + vertex))) continue;
                const u32 tail = least_settled_tail<Cell>(search, source, distances, before, vertex);
                if (tail == no_vertex) continue;
                store(before + vertex, (tail == source ? vertex : tail) | is_new);
                found = true;
            }
            goes_on = __syncthreads_or(found) != 0;
            for (u32 vertex = threadIdx.x; vertex < search.vertices; vertex += blockDim.x) {
                const u32 tail = load(before + vertex);
                if (tail != no_vertex && tail >= is_new) store(before + vertex, tail - is_new);
            }
            __syncthreads();
        }
    }
}

/// Every vertex goes up its chain, and takes over, step by step, the predecessor of the vertex that it has come to. All
/// vertices do so at once, so chains grow shorter meanwhile. Whatever the order, it ends at the first vertex after the
/// source.
__device__ __forceinline__ void shorten(const KernelArgument& search) {
    for (u32 row = search.first_row + blockIdx.x; row < search.end_row; row += gridDim.x) {
        u32* const before = search.successors + static_cast<u64>(row) * search.vertices;
        for (u32 vertex = threadIdx.x; vertex < search.vertices; vertex += blockDim.x) {
            u32 at = load(before + vertex);
            if (at == no_vertex) continue;
            for (u32 next = load(before + at); next != at; next = load(before + at)) {
                store(before + vertex, next);
                at = next;
            }
        }
    }
}

}  // namespace successors

#define WARPATH_SUCCESSORS_FIND(cell, Cell, rows, is_shared, name)                                      \
    extern "C" __global__ void __launch_bounds__(1024, 1) apsp_successors_find_##cell##_##name(         \
        successors::KernelArgument search) {                                                                    \
        successors::find<cells::Cell, rows, is_shared>(search);                                         \
    }                                                                                                   \
    WARPATH_KERNEL(apsp_successors_find_##cell##_##name)
#define WARPATH_SUCCESSORS(cell, Cell)                                                                  \
    extern "C" __global__ void apsp_successors_count_##cell(successors::KernelArgument search) {                \
        successors::collect<cells::Cell, false>(search);                                                \
    }                                                                                                   \
    WARPATH_KERNEL(apsp_successors_count_##cell)                                                        \
    extern "C" __global__ void apsp_successors_fill_##cell(successors::KernelArgument search) {                 \
        successors::collect<cells::Cell, true>(search);                                                 \
    }                                                                                                   \
    WARPATH_KERNEL(apsp_successors_fill_##cell)                                                         \
    extern "C" __global__ void __launch_bounds__(1024) apsp_successors_descend_##cell(successors::KernelArgument search) { \
        successors::descend<cells::Cell>(search);                                                       \
    }                                                                                                   \
    WARPATH_KERNEL(apsp_successors_descend_##cell)                                                      \
    WARPATH_SUCCESSORS_FIND(cell, Cell, 1, false, far)                                                  \
    WARPATH_SUCCESSORS_FIND(cell, Cell, 1, true, 1)                                                     \
    WARPATH_SUCCESSORS_FIND(cell, Cell, 2, true, 2)

WARPATH_SUCCESSORS(u16, U16)
WARPATH_SUCCESSORS_FIND(u16, U16, 4, true, 4)
WARPATH_SUCCESSORS(u32, U32)
WARPATH_SUCCESSORS_FIND(u32, U32, 4, true, 4)
WARPATH_SUCCESSORS(i32, I32)
WARPATH_SUCCESSORS_FIND(i32, I32, 4, true, 4)
WARPATH_SUCCESSORS(i64, I64)

extern "C" __global__ void apsp_successors_columns(successors::KernelArgument search) { successors::add_up_columns(search); }
WARPATH_KERNEL(apsp_successors_columns)
extern "C" __global__ void __launch_bounds__(1024) apsp_successors_slices(successors::KernelArgument search) {
    successors::place_slices(search);
}
WARPATH_KERNEL(apsp_successors_slices)
extern "C" __global__ void apsp_successors_shorten(successors::KernelArgument search) { successors::shorten(search); }
WARPATH_KERNEL(apsp_successors_shorten)
