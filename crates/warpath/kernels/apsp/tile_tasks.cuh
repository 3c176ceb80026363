// The tasks of `tiles.cuh`: in which order blocks take them, for which others a task waits, and where its matrices are.
//
// Tasks are numbered so that each depends only on tasks with lower numbers, and blocks take the lowest that is left; so
// they may wait for each other, whatever runs at once. The tasks of the next stage that everything waits for stand
// between the rest of a stage: see `task_of`. Two stages take turns with two buffers for columns, one column after
// another; rows are read where they are. Words that a stage reads are written again only when that stage is done:
// floats do not depend on timing.
#pragma once

#include "tile.cuh"

namespace tiles {

enum class Kind : u32 { diagonal, row, column, rest };

struct Task {
    Kind kind;
    u32 stage, row, column;
};

/// The task at a place in the order.
///
/// At first the diagonal, rows and columns of stage 0. Then, for each stage: the tiles of the rest in the rows and the
/// columns of the next stage; its diagonal; other tiles, enough of them that the diagonal is likely done by then; the
/// next stage's rows and columns; all other tiles. The last ones, with the last column of the next stage, write where
/// this stage reads, and wait for all of it. (All tasks of a stage but that one come before that.)
template <class Cell>
__device__ __forceinline__ Task task_of(const KernelArgument<Cell>& search, u64 number) {
    using S = Shape<Cell>;
    const u32 down = search.tiles_down, across = search.tiles_across;
    const auto stage_column = [&](u32 stage) { return stage / S::pack; };
    // The rows, then the columns, of a stage, but for the tile with the diagonal.
    const auto panel = [&](u32 stage, u32 index) -> Task {
        if (index < across - 1) {
            const u32 column = stage_column(stage) + 1 + index;
            return {Kind::row, stage, stage, column < across ? column : column - across};
        }
        const u32 row = stage + 1 + (index - (across - 1));
        return {Kind::column, stage, row < down ? row : row - down, stage_column(stage)};
    };
    const u32 panels = across - 1 + down - 1;
    if (number <= panels) {
        if (number == 0) return {Kind::diagonal, 0, 0, 0};
        return panel(0, static_cast<u32>(number) - 1);
    }
    number -= panels + 1;
    // As many tasks as tiles: the rest of this stage, and all others of the next.
    const u64 tiles = static_cast<u64>(down) * across;
    const u32 stage = static_cast<u32>(number / tiles);
    u64 index = number % tiles;
    const auto rest = [&](u32 y, u32 x) -> Task {
        const u32 row = stage + 1 + y, column = stage_column(stage) + 1 + x;
        return {Kind::rest, stage, row < down ? row : row - down, column < across ? column : column - across};
    };
    const u32 rows = down - 1, columns = across - 1;
    const bool is_last = stage + 1 == down;
    // With one tile across there is no rest.
    const u64 ahead = columns == 0 ? 0 : static_cast<u64>(columns) + (rows - 1);
    if (index < ahead) {
        return index < columns ? rest(0, static_cast<u32>(index)) : rest(static_cast<u32>(index) - columns + 1, 0);
    }
    index -= ahead;
    const u64 others = columns == 0 ? 0 : static_cast<u64>(rows - 1) * (columns - 1);
    if (!is_last) {
        if (index == 0) return {Kind::diagonal, stage + 1, stage + 1, stage_column(stage + 1)};
        index -= 1;
        const u64 before = min(static_cast<u64>(search.head_start), others);
        if (index >= before) {
            // All but the last one, which is the column whose row is this stage's.
            if (index - before < panels - 1) return panel(stage + 1, static_cast<u32>(index - before));
            index -= panels - 1;
        }
        if (index == others) return panel(stage + 1, panels - 1);
    }
    return rest(1 + static_cast<u32>(index / (columns - 1)), 1 + static_cast<u32>(index % (columns - 1)));
}

/// Waits, with all threads, until the task may begin; false if the search has stopped.
template <class Cell>
__device__ __forceinline__ bool wait_for_turn(const KernelArgument<Cell>& search, const Task& task) {
    using S = Shape<Cell>;
    const u32 across = search.tiles_across, stage = task.stage, thread = threadIdx.x;
    const auto tile = [&](u32 row, u32 column) { return search.stages_done + static_cast<u64>(row) * across + column; };
    const u32* waited_for = search.stopped;
    u32 least = 0;
    if (thread == 0) {
        waited_for = tile(task.row, task.column);
        least = stage;
    } else if (thread == 1 && task.kind != Kind::diagonal) {
        // The closed diagonal, and the row through it.
        waited_for = tile(stage, stage / S::pack);
        least = stage + 1;
    } else if (thread == 2 && task.kind == Kind::rest) {
        waited_for = tile(stage, task.column);
        least = stage + 1;
    } else if (thread == 3 && task.kind == Kind::rest) {
        waited_for = tile(task.row, stage / S::pack);
        least = stage + 1;
    } else if (thread == 4) {
        // The stage before may still read where this task writes; in the buffers, the stage before that one.
        const u32 back = task.kind == Kind::diagonal ? 2 : stage > 0 && task.row == stage - 1 ? 1 : 0;
        if (back > 0 && stage >= back) {
            waited_for = search.tasks_done + (stage - back);
            least = static_cast<u32>(static_cast<u64>(search.tiles_down) * across);
        }
    }
    bool stops = false;
    if (thread < 5) {
        while (load(waited_for) < least) {
            if (load(search.stopped) != 0) {
                stops = true;
                break;
            }
            __nanosleep(100);
        }
        device_fence();
    }
    return __syncthreads_or(stops) == 0;
}

/// Tells everyone that a task is done.
template <class Cell>
__device__ __forceinline__ void tell(const KernelArgument<Cell>& search, const Task& task) {
    __syncthreads();
    if (threadIdx.x == 0) {
        device_fence();
        // Looked up again: registers are for the tile.
        const u32 stage = load_shared(&task.stage), row = load_shared(&task.row), column = load_shared(&task.column);
        store(search.stages_done + static_cast<u64>(row) * search.tiles_across + column, stage + 1);
        atomicAdd(search.tasks_done + stage, 1u);
    }
}

/// Where the matrices of a task other than closing the diagonal are.
template <class Cell>
__device__ __forceinline__ Operands<Cell> operands_of(const KernelArgument<Cell>& search, const Task& task) {
    using S = Shape<Cell>;
    constexpr u32 tile_words = S::side * S::side;
    const u32 stage = task.stage;
    Operands<Cell> operands;
    operands.pitch = search.tiles_across * S::side;
    const u64 row_of_tiles = static_cast<u64>(operands.pitch) * S::side;
    auto* const columns = search.columns + (static_cast<u64>(stage % 2) * search.tiles_down + task.row) * tile_words;
    auto* const diagonal = search.diagonal + stage % 2 * tile_words;
    operands.tile = search.matrix + task.row * row_of_tiles + task.column * S::side;
    operands.above = search.matrix + stage * row_of_tiles + task.column * S::side;
    operands.left_is_turned = task.kind == Kind::column;
    operands.columns = task.kind == Kind::diagonal ? diagonal : task.kind == Kind::column ? columns : nullptr;
    operands.part_of_stage = stage % S::pack;
    if (operands.left_is_turned) {
        operands.left = search.matrix + task.row * row_of_tiles + stage * (S::side / S::pack);
    } else {
        operands.left = task.kind == Kind::rest ? columns : diagonal;
    }
    return operands;
}

}  // namespace tiles
