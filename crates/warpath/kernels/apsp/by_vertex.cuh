// Floyd and Warshall's algorithm, one launch for each vertex: as it is printed, and tuned. The host loop, and the
// essay, are in `src/cuda/apsp/floyd_warshall.rs`.
//
// Sources: Harish and Narayanan 2007, "Accelerating large graph algorithms on the GPU using CUDA", algorithm 6 (a
// thread for each pair) and sect. 3.4 (a thread for each row); Pathak et al. 2022, algorithm 14.
//
// Repair. Through a vertex on a cycle of negative length nothing is relaxed, and a flag is raised: lengths would fall
// without end.
#pragma once

#include "cells.cuh"
#include "../generated/apsp/by_vertex.cuh"

namespace by_vertex {

/// Whether the vertex is on a cycle of negative length. One thread raises the flag.
template <class Cell>
__device__ __forceinline__ bool is_on_negative_cycle(const KernelArgument<Cell>& search, bool tells) {
    const u64 through = search.through;
    const bool is_negative = Cell::is_signed && search.matrix[through * search.pitch + through] < 0;
    if (is_negative && tells) store(search.stopped, 1u);
    return is_negative;
}

/// As printed, one thread a pair: it reads three words and writes one, whether or not the word changes.
template <class Cell>
__device__ __forceinline__ void relax_pairs_as_printed(const KernelArgument<Cell>& search) {
    const u64 column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= search.vertices || column >= search.vertices) return;
    if (is_on_negative_cycle(search, row == 0 && column == 0)) return;
    auto* const matrix = search.matrix;
    const u64 pitch = search.pitch, through = search.through;
    matrix[row * pitch + column] = Cell::relax(matrix[row * pitch + through], matrix[through * pitch + column],
                                               matrix[row * pitch + column]);
}

/// As printed, one thread a row, in a loop over the columns.
template <class Cell>
__device__ __forceinline__ void relax_rows_as_printed(const KernelArgument<Cell>& search) {
    const u64 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= search.vertices || is_on_negative_cycle(search, row == 0)) return;
    auto* const matrix = search.matrix;
    const u64 pitch = search.pitch, through = search.through;
    for (u64 column = 0; column < search.vertices; column++) {
        matrix[row * pitch + column] = Cell::relax(matrix[row * pitch + through], matrix[through * pitch + column],
                                                   matrix[row * pitch + column]);
    }
}

/// Bytes that come from memory together. Rows begin at multiples of these.
constexpr u32 line_bytes = 128;

/// Tuned, one thread a pair. Most pairs stay as they are, and are not written. Blocks start along the rows, so the rows below
/// this block's come next.
template <class Cell>
__device__ __forceinline__ void relax_pairs(const KernelArgument<Cell>& search) {
    const u64 column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= search.vertices || column >= search.vertices) return;
    if (is_on_negative_cycle(search, row == 0 && column == 0)) return;
    auto* const cell = search.matrix + row * search.pitch + column;
    const bool begins_line = column % (line_bytes / sizeof *cell) == 0;
    if (begins_line && row + blockDim.y < search.vertices) prefetch_to_l2(cell + blockDim.y * search.pitch);
    const auto before = *cell;
    const auto best = Cell::relax(search.matrix[row * search.pitch + search.through],
                                  search.matrix[search.through * search.pitch + column], before);
    if (best != before) *cell = best;
}

/// Tuned, one thread a row, which it goes along by lines: a line is all on its way at once, and is written where it has
/// changed.
template <class Cell>
__device__ __forceinline__ void relax_rows(const KernelArgument<Cell>& search) {
    using Vector = cells::Vector<typename Cell::Word>;
    constexpr u32 numbers = sizeof(Vector) / sizeof(typename Cell::Number), vectors = line_bytes / sizeof(Vector);
    const u64 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= search.vertices || is_on_negative_cycle(search, row == 0)) return;
    auto* const own = search.matrix + row * search.pitch;
    const auto left = own[search.through];
    const auto* const above = search.matrix + search.through * search.pitch;
    for (u64 first = 0; first < search.vertices; first += vectors * numbers) {
        Vector old[vectors], from[vectors];
#pragma unroll
        for (u32 i = 0; i < vectors; i++) {
            old[i] = cells::read_vector(own + first + i * numbers);
            from[i] = cells::read_vector(above + first + i * numbers);
        }
#pragma unroll
        for (u32 i = 0; i < vectors; i++) {
            Vector best = old[i];
            bool has_changed = false;
            for (u32 k = 0; k < numbers; k++) {
                best.word[k] = Cell::relax(left, from[i].word[k], old[i].word[k]);
                has_changed |= best.word[k] != old[i].word[k];
            }
            if (has_changed) cells::write_vector(own + first + i * numbers, best);
        }
    }
}

}  // namespace by_vertex
