// Floyd and Warshall's algorithm in tiles that live in registers, all phases of all stages in one launch: of distances,
// and of bits. The essay is in `src/cuda/apsp/tiled_floyd_warshall.rs`, the host loop in `src/cuda/matrix/tiles.rs`.
//
// Sources: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4 (the three phases).
//
// A *tile* is a square of words: 128 x 128 of 32 bits, 64 x 64 of 64 bits. A block of 256 threads works on one, each
// thread on 8 x 8 (4 x 4) words in registers. A *stage* admits as many vertices as a tile has rows. Its tasks:
//
//   diagonal    closes the diagonal block: rows of the stage, columns of the stage
//   row(j)      rows of the stage, tile column j, by the closed diagonal
//   column(i)   tile row i, columns of the stage, by the closed diagonal
//   rest(i, j)  every other tile, by column(i) and row(j)
//
// `tile_diagonal.cuh` closes the diagonal. All other tasks are one routine: the min-plus product of a matrix that lies
// with its columns one after another and one that lies with its rows one after another, accumulated in the tile.
// `tile_product.cuh` has the routine, and `strips.cu` uses it by itself, of any depth. For bits `tile_bits.cuh` has
// another one, by tables. `tile_tasks.cuh` has the order of the tasks.
//
// With several cells in a word, a tile has as many times the columns of a stage. Then the diagonal task does row(j) for
// its tile, too, and column(i) does all of its tile: old column times new row equals new column times new row, since
// the diagonal block is closed, and closing it twice changes nothing.
#pragma once

#include "tile_bits.cuh"
#include "tile_diagonal.cuh"
#include "tile_product.cuh"
#include "tile_tasks.cuh"

namespace tiles {

/// Why a search stops before its end.
constexpr u32 negative_cycle = 1;

template <class Cell>
__device__ __forceinline__ void run(const KernelArgument<Cell>& search) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
    DYNAMIC_SHARED(bytes);
    Word* const shared = reinterpret_cast<Word*>(bytes);
    __shared__ Task task;
    __shared__ Operands<Cell> operands;
    __shared__ bool is_at_end;
    while (true) {
        // Nobody reads anything of the task before any more: `tell` has a barrier.
        if (threadIdx.x == 0) {
            const u64 number = search.first_task + atomicAdd(search.tickets, u64{1});
            is_at_end = number >= search.end_task;
            if (!is_at_end) {
                task = task_of(search, number);
                operands = operands_of(search, task);
            }
        }
        __syncthreads();
        if (is_at_end || !wait_for_turn(search, task)) return;
        if (task.kind == Kind::diagonal) {
            if constexpr (S::pack > 2) {
                close_diagonal_of_bits<Cell>(operands, shared);
            } else if (!close_diagonal<Cell>(operands, shared)) {
                if (threadIdx.x == 0) store(search.stopped, negative_cycle);
                return;
            }
            // All threads read these words below.
            if (S::pack > 1) {
                device_fence();
                __syncthreads();
                if (threadIdx.x == 0) operands.columns = nullptr;
            }
        }
        if constexpr (S::pack > 2) {
            relax_tile_of_bits<Cell>(operands, shared);
        } else if (task.kind != Kind::diagonal || S::pack > 1) {
            relax_tile<Cell>(operands, search.one, shared);
        }
        tell(search, task);
    }
}

}  // namespace tiles
