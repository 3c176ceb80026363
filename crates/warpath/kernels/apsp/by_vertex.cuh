// Floyd and Warshall's algorithm as it is written down, one launch for each vertex. The host loop, and the essay, are in
// `src/cuda/apsp/floyd_warshall.rs`.
//
// Sources: Harish and Narayanan 2007, "Accelerating large graph algorithms on the GPU using CUDA", algorithm 6 (a thread
// for each pair) and sect. 3.4 (a thread for each row); Pathak et al. 2022, algorithm 14.
//
// Repair. Through a vertex on a cycle of negative length nothing is relaxed, and a flag is raised: lengths would fall
// without end.
#pragma once

#include "cells.cuh"

namespace by_vertex {

template <class Cell>
struct Search {
    typename Cell::Number* matrix;
    u64 pitch;
    u32* stopped;
    u32 vertices;
    u32 through;
};

/// Whether the vertex is on a cycle of negative length. One thread raises the flag.
template <class Cell>
__device__ __forceinline__ bool is_on_negative_cycle(const Search<Cell>& search, bool tells) {
    const u64 through = search.through;
    const bool is_negative = Cell::is_signed && search.matrix[through * search.pitch + through] < 0;
    if (is_negative && tells) store(search.stopped, 1u);
    return is_negative;
}

/// One thread a pair.
template <class Cell>
__device__ __forceinline__ void relax_pairs(const Search<Cell>& search) {
    const u64 column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= search.vertices || column >= search.vertices) return;
    if (is_on_negative_cycle(search, row == 0 && column == 0)) return;
    auto* const cell = search.matrix + row * search.pitch + column;
    *cell = Cell::relax(search.matrix[row * search.pitch + search.through],
                        search.matrix[search.through * search.pitch + column], *cell);
}

/// One thread a row.
template <class Cell>
__device__ __forceinline__ void relax_rows(const Search<Cell>& search) {
    const u64 row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= search.vertices || is_on_negative_cycle(search, row == 0)) return;
    auto* const cells = search.matrix + row * search.pitch;
    const auto left = cells[search.through];
    const auto* const above = search.matrix + search.through * search.pitch;
    for (u32 column = 0; column < search.vertices; column++) {
        cells[column] = Cell::relax(left, above[column], cells[column]);
    }
}

}  // namespace by_vertex
