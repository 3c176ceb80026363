// Floyd and Warshall's algorithm in blocks, three launches a stage, one thread a cell. The host loop, and the essay,
// are in `src/cuda/apsp/blocked_floyd_warshall.rs`.
//
// Sources: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.1 and 4.2; Pathak et al.
// 2022, "Accelerating large graph algorithms on GPU using CUDA", sect. 5.3.
//
// Blocks of threads are as large as blocks of the matrix, 16 x 16 or 32 x 32, and bring what they read to shared
// memory.
//
// Repair. A vertex on a cycle of negative length is noticed in the first phase, which then stops: all later launches
// see the flag and do nothing.
#pragma once

#include "cells.cuh"
#include "../generated/apsp/blocks.cuh"

namespace blocks {

/// The cell of a thread in a block of the matrix.
template <class Cell>
__device__ __forceinline__ typename Cell::Number* cell_in(const KernelArgument<Cell>& search, u32 row, u32 column) {
    const u64 y = row * blockDim.y + threadIdx.y, x = column * blockDim.x + threadIdx.x;
    return search.matrix + y * search.pitch + x;
}

/// The blocks but for the one of the stage.
__device__ __forceinline__ u32 other(u32 index, u32 stage) { return index < stage ? index : index + 1; }

/// Phase 1: the block on the diagonal, by itself.
template <class Cell>
__device__ __forceinline__ void close_diagonal(const KernelArgument<Cell>& search) {
    DYNAMIC_SHARED(bytes);
    auto* const block = reinterpret_cast<typename Cell::Number*>(bytes);
    const u32 side = blockDim.x, y = threadIdx.y, x = threadIdx.x;
    if (load(search.stopped) != 0) return;
    auto* const cell = cell_in(search, search.stage, search.stage);
    block[y * side + x] = *cell;
    __syncthreads();
    for (u32 through = 0; through < side; through++) {
        if (Cell::is_signed && block[through * side + through] < 0) {
            if (y == 0 && x == 0) store(search.stopped, 1u);
            return;
        }
        const auto best = Cell::relax(block[y * side + through], block[through * side + x], block[y * side + x]);
        __syncthreads();
        block[y * side + x] = best;
        __syncthreads();
    }
    *cell = block[y * side + x];
}

/// Phase 2: the blocks in its row, and those in its column.
template <class Cell>
__device__ __forceinline__ void relax_panels(const KernelArgument<Cell>& search) {
    DYNAMIC_SHARED(bytes);
    const u32 side = blockDim.x, y = threadIdx.y, x = threadIdx.x;
    auto* const diagonal = reinterpret_cast<typename Cell::Number*>(bytes);
    auto* const block = diagonal + side * side;
    if (load(search.stopped) != 0) return;
    const u32 index = other(blockIdx.x, search.stage);
    const bool is_row = blockIdx.y == 0;
    auto* const cell = is_row ? cell_in(search, search.stage, index) : cell_in(search, index, search.stage);
    diagonal[y * side + x] = *cell_in(search, search.stage, search.stage);
    block[y * side + x] = *cell;
    __syncthreads();
    const auto* const left = is_row ? diagonal : block;
    const auto* const above = is_row ? block : diagonal;
    for (u32 through = 0; through < side; through++) {
        const auto best = Cell::relax(left[y * side + through], above[through * side + x], block[y * side + x]);
        __syncthreads();
        block[y * side + x] = best;
        __syncthreads();
    }
    *cell = block[y * side + x];
}

/// Phase 3: all other blocks. The block itself is the third in shared memory, as both papers have it.
template <class Cell>
__device__ __forceinline__ void relax_rest(const KernelArgument<Cell>& search) {
    DYNAMIC_SHARED(bytes);
    const u32 side = blockDim.x, y = threadIdx.y, x = threadIdx.x;
    auto* const left = reinterpret_cast<typename Cell::Number*>(bytes);
    auto* const above = left + side * side;
    auto* const block = above + side * side;
    if (load(search.stopped) != 0) return;
    const u32 row = other(blockIdx.y, search.stage), column = other(blockIdx.x, search.stage);
    auto* const cell = cell_in(search, row, column);
    left[y * side + x] = *cell_in(search, row, search.stage);
    above[y * side + x] = *cell_in(search, search.stage, column);
    block[y * side + x] = *cell;
    __syncthreads();
    for (u32 through = 0; through < side; through++) {
        block[y * side + x] =
            Cell::relax(left[y * side + through], above[through * side + x], block[y * side + x]);
    }
    *cell = block[y * side + x];
}

}  // namespace blocks
