// Floyd and Warshall's algorithm in tiles that live in registers, all phases of all stages in one launch: of distances,
// and of bits. The essay is in `src/cuda/apsp/tiled_floyd_warshall.rs`, the host loop in `src/cuda/apsp/tiles.rs`.
//
// Sources: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4 (the three phases).
//
// A *tile* is a square of words: 128 x 128 of 32 bits, 64 x 64 of 64 bits. A block of 256 threads works on one, each
// thread on 8 x 8 (4 x 4) words in registers. A *stage* admits as many vertices as a tile has rows. Its tasks:
//
//   diagonal    closes the diagonal block: rows of the stage, columns of the stage
//   row(j)      rows of the stage, tile column j: what the closed diagonal makes of it
//   column(i)   tile row i, columns of the stage: likewise
//   rest(i, j)  every other tile: what column(i) and row(j) make of it
//
// All but the first are one routine: the min-plus product of a matrix that lies with its columns one after another and
// one that lies with its rows one after another, accumulated in the tile; `strips.cu` has that routine by itself, of any
// depth. For bits it is another one, by tables.
//
// With several cells in a word, a tile has so many times as many columns as a stage. Then the diagonal task does row(j)
// for the tile that it is in, too, and column(i) does all of its tile: old column times new row is what new column times
// new row is, since the diagonal block is closed, and closing it twice changes nothing.
//
// Tasks are numbered so that each depends only on tasks with lower numbers, and blocks take the lowest that is left; so
// they may wait for each other, whatever runs at once. The tasks of the next stage that everything waits for stand
// between those of the rest of a stage: see `task_of`. Columns are kept apart, in buffers that two stages take turns
// with, with their columns one after another; rows are read where they are. What is read by a stage is written again
// only when that stage is done: floats do not depend on timing.
#pragma once

#include "cells.cuh"
#include "../generated/apsp/tiles.cuh"

namespace tiles {

using cells::read_vector;
using cells::same_bits;
using cells::Vector;
using cells::write_vector;

/// Why a search stops before its end.
constexpr u32 negative_cycle = 1;

/// What depends on the types.
template <class Cell>
struct Shape {
    using Word = typename Cell::Word;
    /// Cells in a word.
    static constexpr u32 pack = cells::cells_of_word<Cell>;
    /// Words that are moved at once.
    static constexpr u32 vector = 16 / sizeof(Word);
    /// Rows of a tile, words in a row, and vertices in a stage.
    static constexpr u32 side = row_bytes / sizeof(Word);
    /// Words of a row of a tile that are columns of one stage.
    static constexpr u32 stage_words = side / pack;
    /// Rows of a tile that a thread has, and words in a row: two vectors each, half a tile apart.
    static constexpr u32 own = 2 * vector;
};

/// Where a thread is in its tile: a warp has 4 x 8 threads.
struct Place {
    u32 y, x;
};
__device__ __forceinline__ Place place_of(u32 thread) {
    const u32 warp = thread / 32, lane = thread % 32;
    return {warp / 2 * 4 + lane / 8, warp % 2 * 8 + lane % 8};
}
__device__ __forceinline__ Place place_of_thread() { return place_of(threadIdx.x); }
/// The row of a tile that is a thread's `index`-th, or the word of a row, for a thread at `place` of 16.
template <class Cell>
__device__ __forceinline__ u32 own_line(u32 place, u32 index) {
    using S = Shape<Cell>;
    return index / S::vector * (S::side / 2) + place * S::vector + index % S::vector;
}

enum class Kind : u32 { diagonal, row, column, rest };

struct Task {
    Kind kind;
    u32 stage, row, column;
};

/// What is at a place in the order.
///
/// At first the diagonal, rows and columns of stage 0. Then, for each stage: the tiles of the rest in the rows and the
/// columns of the next stage; the diagonal of that; other tiles, so many that the diagonal is likely done by then; the
/// next stage's rows and columns; all other tiles. The last ones, with the last column of the next stage, write where
/// this stage reads, and wait for all of it. (All tasks of a stage but that one come before that.)
template <class Cell>
__device__ __forceinline__ Task task_of(const Search<Cell>& search, u64 number) {
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
__device__ __forceinline__ bool wait_for_turn(const Search<Cell>& search, const Task& task) {
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
        // What this task writes may still be read by the stage before, or, in the buffers, by the one before that.
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
__device__ __forceinline__ void tell(const Search<Cell>& search, const Task& task) {
    __syncthreads();
    if (threadIdx.x == 0) {
        device_fence();
        // Looked up again: registers are for the tile.
        const u32 stage = load_shared(&task.stage), row = load_shared(&task.row), column = load_shared(&task.column);
        store(search.stages_done + static_cast<u64>(row) * search.tiles_across + column, stage + 1);
        atomicAdd(search.tasks_done + stage, 1u);
    }
}

/// Where the matrices of a task are. It is in shared memory: registers are for the tile.
template <class Cell>
struct Operands {
    typename Cell::Word* tile;
    const typename Cell::Word* left;   // columns one after another; or where the tile's own rows have the stage's columns
    bool left_is_turned;               // whether it is that
    const typename Cell::Word* above;  // rows, as far apart as those of the matrix
    u32 pitch;                         // that is so many words; a tile has fewer than 2^32 from its first to its last
    typename Cell::Word* columns;      // where the stage's columns go, one after another; null for nowhere
    u32 part_of_stage;                 // which part of the tile they are, where they are one of several
};

/// Has the vertices of a slab, from `first` on, brought to shared memory.
template <class Cell>
__device__ __forceinline__ void fetch(const Operands<Cell>& operands, u32 first, typename Cell::Word* slot) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
    constexpr u32 vectors = S::side / S::vector;
    Word* const left = slot;
    Word* const above = slot + slab * S::side;
#pragma unroll
    for (u32 at = threadIdx.x; at < slab * vectors; at += threads) {
        const u32 vertex = at / vectors, word = at % vectors * S::vector;
        copy_to_shared(above + vertex * S::side + word, operands.above + (first + vertex) * operands.pitch + word);
        if (!operands.left_is_turned) {
            copy_to_shared(left + vertex * S::side + word, operands.left + (first + vertex) * S::side + word);
        }
    }
    if (operands.left_is_turned) {
        // Threads beside each other take rows below each other, whose numbers end up beside each other.
        constexpr u32 cells_of_vector = S::vector * S::pack;
        for (u32 at = threadIdx.x; at < S::side * slab / cells_of_vector; at += threads) {
            const u32 row = at % S::side, part = at / S::side;
            const Word* const from = operands.left + row * operands.pitch;
            Word* const to = left + part * cells_of_vector * S::side + row;
            const Word* const there = from + first / S::pack + part * S::vector;
            const auto vector = load(reinterpret_cast<const Vector<Word>*>(there));
#pragma unroll
            for (u32 index = 0; index < cells_of_vector; index++) {
                const auto number = cells::cell_of<Cell>(vector.word[index / S::pack], index % S::pack);
                to[index * S::side] = Cell::everywhere(number);
            }
        }
    }
}

/// The product of what a slot holds, accumulated.
template <class Cell>
__device__ __forceinline__ void relax_slab(
    typename Cell::Word (&best)[Shape<Cell>::own][Shape<Cell>::own], const typename Cell::Word* slot, Place place,
    u32 one) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
    const Word* const left = slot + place.y * S::vector;
    const Word* const above = slot + slab * S::side + place.x * S::vector;
    // Vertices that are relaxed together.
    constexpr u32 step = Cell::in_pairs > 0 ? 2 : 1;
    // As far as registers last.
#pragma unroll(Cell::in_pairs == 12 ? 1 : 4 / step)
    for (u32 vertex = 0; vertex < slab; vertex += step) {
        Word a[step][S::own], b[step][S::own];
#pragma unroll
        for (u32 next = 0; next < step; next++) {
#pragma unroll
            for (u32 half = 0; half < 2; half++) {
                const u32 from = (vertex + next) * S::side + half * (S::side / 2);
                const auto of_left = read_vector(left + from), of_above = read_vector(above + from);
#pragma unroll
                for (u32 index = 0; index < S::vector; index++) {
                    a[next][half * S::vector + index] = of_left.word[index];
                    b[next][half * S::vector + index] = of_above.word[index];
                }
            }
        }
#pragma unroll
        for (u32 y = 0; y < S::own; y++) {
#pragma unroll
            for (u32 x = 0; x < S::own; x++) {
                if constexpr (step == 1) {
                    best[y][x] = Cell::relax(a[0][y], b[0][x], best[y][x]);
                } else if ((y * S::own + x) * 5 % 12 < Cell::in_pairs) {
                    // 5 and 12 have no common factor: those in pairs are spread evenly.
                    best[y][x] = Cell::relax_twice(a[0][y], b[0][x], a[1][y], b[1][x], best[y][x], one);
                } else {
                    best[y][x] = Cell::relax(a[0][y], b[0][x], best[y][x]);
                    best[y][x] = Cell::relax(a[1][y], b[1][x], best[y][x]);
                }
            }
        }
    }
}

/// Writes some columns of a tile one after another: those that a thread has in one of its two vectors of a row.
template <class Cell, u32 width>
__device__ __forceinline__ void write_columns(
    const typename Cell::Word (&best)[Shape<Cell>::own][width], u32 first_word, u32 first_column, u32 y,
    typename Cell::Word* to) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
#pragma unroll
    for (u32 word = 0; word < S::vector; word++) {
        Word* column = to + (first_column + word * S::pack) * S::side + y * S::vector;
#pragma unroll
        for (u32 cell = 0; cell < S::pack; cell++) {
#pragma unroll
            for (u32 half = 0; half < 2; half++) {
                Vector<Word> vector;
#pragma unroll
                for (u32 index = 0; index < S::vector; index++) {
                    const Word from = best[half * S::vector + index][first_word + word];
                    vector.word[index] = Cell::everywhere(cells::cell_of<Cell>(from, cell));
                }
                store(reinterpret_cast<Vector<Word>*>(column + half * (S::side / 2)), vector);
            }
            column += S::side;
        }
    }
}

/// The words of a tile that a thread has, from a matrix with rows so many words apart.
template <class Cell>
__device__ __forceinline__ void read_tile(
    typename Cell::Word (&best)[Shape<Cell>::own][Shape<Cell>::own], const Operands<Cell>& operands, Place place) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
#pragma unroll
    for (u32 y = 0; y < S::own; y++) {
#pragma unroll
        for (u32 half = 0; half < 2; half++) {
            const Word* const from = operands.tile + own_line<Cell>(place.y, y) * operands.pitch +
                                     own_line<Cell>(place.x, half * S::vector);
            const auto vector = load(reinterpret_cast<const Vector<Word>*>(from));
#pragma unroll
            for (u32 index = 0; index < S::vector; index++) best[y][half * S::vector + index] = vector.word[index];
        }
    }
}

/// The same, written.
template <class Cell>
__device__ __forceinline__ void write_tile(
    const typename Cell::Word (&best)[Shape<Cell>::own][Shape<Cell>::own], typename Cell::Word* const& tile,
    const u32& pitch, Place place) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
#pragma unroll
    for (u32 y = 0; y < S::own; y++) {
#pragma unroll
        for (u32 half = 0; half < 2; half++) {
            Word* const to = tile + own_line<Cell>(place.y, y) * pitch + own_line<Cell>(place.x, half * S::vector);
            Vector<Word> vector;
#pragma unroll
            for (u32 index = 0; index < S::vector; index++) vector.word[index] = best[y][half * S::vector + index];
            store(reinterpret_cast<Vector<Word>*>(to), vector);
        }
    }
}

/// Has the first slabs of a product brought.
template <class Cell>
__device__ __forceinline__ void fetch_first(const Operands<Cell>& operands, typename Cell::Word* shared) {
#pragma unroll
    for (u32 index = 0; index < slabs_there - 1; index++) {
        fetch(operands, index * slab, shared + index * (slab_bytes / sizeof(typename Cell::Word)));
        commit_copies();
    }
}

/// The product of so many slabs, of which the first are on their way, accumulated.
template <class Cell>
__device__ __forceinline__ void relax_slabs(
    typename Cell::Word (&best)[Shape<Cell>::own][Shape<Cell>::own], const Operands<Cell>& operands, const u32& slabs,
    u32 one, typename Cell::Word* shared, Place place) {
    constexpr u32 slot_words = slab_bytes / sizeof(typename Cell::Word);
    u32 here = 0;
#pragma unroll 1
    for (u32 index = 0; index < slabs; index++) {
        wait_for_copies<slabs_there - 2>();
        __syncthreads();
        // Everyone is done with the slab before this one.
        const u32 free_slot = here == 0 ? slabs_there - 1 : here - 1;
        if (index + slabs_there - 1 < slabs) {
            fetch(operands, (index + slabs_there - 1) * slab, shared + free_slot * slot_words);
        }
        commit_copies();
        relax_slab<Cell>(best, shared + here * slot_words, place, one);
        here = here == slabs_there - 1 ? 0 : here + 1;
    }
}

/// A task other than closing the diagonal.
template <class Cell>
__device__ __forceinline__ void relax_tile(const Operands<Cell>& operands, u32 one, typename Cell::Word* shared) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
    const Place place = place_of_thread();
    Word best[S::own][S::own];
    fetch_first<Cell>(operands, shared);
    read_tile<Cell>(best, operands, place);
    relax_slabs<Cell>(best, operands, S::side / slab, one, shared, place);
    write_tile<Cell>(best, operands.tile, operands.pitch, place);
    if (operands.columns != nullptr) {
#pragma unroll
        for (u32 half = 0; half < 2; half++) {
            const u32 word = own_line<Cell>(place.x, half * S::vector);
            if (S::pack == 1 || word / S::stage_words == operands.part_of_stage) {
                const u32 first = word % S::stage_words * S::pack;
                write_columns<Cell>(best, half * S::vector, first, place.y, operands.columns);
            }
        }
    }
}

/// Closes a diagonal block; false if a cycle of negative length goes through it.
///
/// Vertex by vertex: whoever has a part of its row or column puts it into shared memory, in turn in one of two places,
/// so that one barrier a vertex is enough. A diagonal cell below 0 is noticed before its vertex is admitted.
template <class Cell>
__device__ __forceinline__ bool close_diagonal(const Operands<Cell>& operands, typename Cell::Word* shared) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
    // Looked up again where it is needed again: registers are for the tile.
    const auto find_block = [&] {
        return load_shared(&operands.tile) + (S::pack == 1 ? 0 : operands.part_of_stage * S::stage_words);
    };
    Word* block = find_block();
    u32 pitch = load_shared(&operands.pitch);
    constexpr u32 width = S::own / S::pack;
    constexpr u32 together = S::vector * S::pack;
    const Place place = place_of_thread();
    Word best[S::own][width];
#pragma unroll
    for (u32 y = 0; y < S::own; y++) {
#pragma unroll
        for (u32 x = 0; x < width; x += S::vector) {
            const Word* const from = block + (own_line<Cell>(place.y, y) * pitch + own_line<Cell>(place.x, x));
            const auto vector = load(reinterpret_cast<const Vector<Word>*>(from));
#pragma unroll
            for (u32 index = 0; index < S::vector; index++) best[y][x + index] = vector.word[index];
        }
    }
#pragma unroll
    for (u32 half = 0; half < 2; half++) {
#pragma unroll 1
        for (u32 group = 0; group < S::side / 2 / together; group++) {
#pragma unroll
            for (u32 index = 0; index < together; index++) {
                // Its row is one of the thread's, or its column.
                const bool has_row = place.y == group * S::pack + index / S::vector;
                const bool has_column = place.x == (S::pack == 1 ? group : half * 8 + group);
                const u32 own_row = half * S::vector + index % S::vector;
                const u32 own_word = S::pack == 1 ? half * S::vector + index : index / S::pack;
                Word* const row = shared + index % 2 * 2 * S::side;
                Word* const column = row + S::side;
                bool is_negative = false;
                if (has_row) {
#pragma unroll
                    for (u32 x = 0; x < width; x += S::vector) {
                        Vector<Word> vector;
#pragma unroll
                        for (u32 word = 0; word < S::vector; word++) vector.word[word] = best[own_row][x + word];
                        write_vector(row + own_line<Cell>(place.x, x), vector);
                    }
                }
                if (has_column) {
#pragma unroll
                    for (u32 y = 0; y < S::own; y += S::vector) {
                        Vector<Word> vector;
#pragma unroll
                        for (u32 word = 0; word < S::vector; word++) {
                            const auto number = cells::cell_of<Cell>(best[y + word][own_word], index % S::pack);
                            vector.word[word] = Cell::everywhere(number);
                        }
                        write_vector(column + own_line<Cell>(place.y, y), vector);
                    }
                    is_negative = Cell::is_signed && has_row && best[own_row][own_word] < Word{};
                }
                if constexpr (Cell::is_signed) {
                    if (__syncthreads_or(is_negative)) return false;
                } else {
                    __syncthreads();
                }
                Word a[S::own], b[width];
#pragma unroll
                for (u32 y = 0; y < S::own; y += S::vector) {
                    const auto vector = read_vector(column + own_line<Cell>(place.y, y));
#pragma unroll
                    for (u32 word = 0; word < S::vector; word++) a[y + word] = vector.word[word];
                }
#pragma unroll
                for (u32 x = 0; x < width; x += S::vector) {
                    const auto vector = read_vector(row + own_line<Cell>(place.x, x));
#pragma unroll
                    for (u32 word = 0; word < S::vector; word++) b[x + word] = vector.word[word];
                }
#pragma unroll
                for (u32 y = 0; y < S::own; y++) {
#pragma unroll
                    for (u32 x = 0; x < width; x++) best[y][x] = Cell::relax(a[y], b[x], best[y][x]);
                }
            }
        }
    }
    block = find_block();
    pitch = load_shared(&operands.pitch);
#pragma unroll
    for (u32 x = 0; x < width; x += S::vector) {
#pragma unroll
        for (u32 y = 0; y < S::own; y++) {
            Vector<Word> vector;
#pragma unroll
            for (u32 index = 0; index < S::vector; index++) vector.word[index] = best[y][x + index];
            Word* const to = block + (own_line<Cell>(place.y, y) * pitch + own_line<Cell>(place.x, x));
            store(reinterpret_cast<Vector<Word>*>(to), vector);
        }
        write_columns<Cell>(best, x, own_line<Cell>(place.x, x) * S::pack, place.y, operands.columns);
    }
    return true;
}

// ---- Bits -----------------------------------------------------------------------------------------------------------

// With 32 cells in a word, the columns of a stage are one vector of each row, and are kept as that. Rows are not joined one
// by one but in groups: of the rows of four vertices a table has every union, 16 in all, and what a row of the tile takes
// from it is one look-up, instead of four selections. A warp has whole rows of the tile, so its lanes look up the same
// entry, each its own vector of it, and shared memory gives all it can.

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
/// How many such sets of tables there are: here there is no room for two that take turns.
constexpr u32 tables_there = 1;
#else
constexpr u32 tables_there = 2;
#endif
/// Words of their tables.
template <class Cell>
constexpr u32 table_words = groups * unions * Shape<Cell>::side;

__device__ __forceinline__ Vector<u32> joined(const Vector<u32>& a, const Vector<u32>& b) {
    Vector<u32> both;
#pragma unroll
    for (u32 index = 0; index < 4; index++) both.word[index] = a.word[index] | b.word[index];
    return both;
}

/// Closes a diagonal block: a thread has a row of it, in one vector.
template <class Cell>
__device__ __forceinline__ void close_diagonal_of_bits(const Operands<Cell>& operands, u32* shared) {
    using S = Shape<Cell>;
    static_assert(S::stage_words == S::vector && S::side <= threads, "");
    const u32 thread = threadIdx.x, row = thread % S::side;
    u32* const block = operands.tile + operands.part_of_stage * S::stage_words + row * operands.pitch;
    Vector<u32> best = load(reinterpret_cast<const Vector<u32>*>(block));
#pragma unroll
    for (u32 word = 0; word < S::vector; word++) {
#pragma unroll 1
        for (u32 bit = 0; bit < S::pack; bit++) {
            // In turn in one of two places.
            u32* const through = shared + bit % 2 * S::vector;
            if (thread == word * S::pack + bit) write_vector(through, best);
            __syncthreads();
            const auto other = read_vector(through);
            const u32 mask = Cell::everywhere(best.word[word] >> bit & 1);
#pragma unroll
            for (u32 index = 0; index < S::vector; index++) best.word[index] |= other.word[index] & mask;
        }
    }
    if (thread < S::side) {
        store(reinterpret_cast<Vector<u32>*>(block), best);
        store(reinterpret_cast<Vector<u32>*>(operands.columns + row * S::vector), best);
    }
}

/// A task other than closing the diagonal.
template <class Cell>
__device__ __forceinline__ void relax_tile_of_bits(const Operands<Cell>& operands, u32* shared) {
    using S = Shape<Cell>;
    constexpr u32 warps = threads / 32, rows = S::side / warps, steps = S::side / (groups * group);
    static_assert(S::side == 32 * S::vector && warps == 2 * groups && S::pack == 2 * groups * group, "");
    const u32 warp = threadIdx.x / 32, word = threadIdx.x % 32 * S::vector;
    u32* const columns = shared + tables_there * table_words<Cell>;
    // A group's tables are made by two warps, each half of the columns, two words a lane.
    const u32 of_group = warp / 2, words = (threadIdx.x % 64) * 2;
    u64 of_vertex[group];
    // Looked up again where it is needed again: registers are for the tile.
    const auto fetch_rows = [&](u32 step) {
        const u32 pitch = load_shared(&operands.pitch);
        const u32* from = load_shared(&operands.above) + (step * groups + of_group) * group * pitch + words;
#pragma unroll
        for (u32 index = 0; index < group; index++) {
            of_vertex[index] = load(reinterpret_cast<const u64*>(from + index * pitch));
        }
    };
    const auto make_tables = [&](u32* tables) {
        u32* const to = tables + of_group * unions * S::side + words;
        u64 of_union[unions];
        of_union[0] = 0;
#pragma unroll
        for (u32 which = 0; which < unions; which++) {
            // One vertex more than a union before it.
#pragma unroll
            for (u32 last = 0; last < group; last++) {
                if (which >> last == 1) of_union[which] = of_union[which - (1u << last)] | of_vertex[last];
            }
            *reinterpret_cast<u64*>(to + which * S::side) = of_union[which];
        }
    };
    const auto find_tile = [&](u32& pitch) {
        pitch = load_shared(&operands.pitch);
        return load_shared(&operands.tile) + warp * rows * pitch + word;
    };
    bool has_bits = false;
    if (threadIdx.x < S::side) {
        const u32 apart = operands.left_is_turned ? operands.pitch : S::vector;
        const auto of_row = load(reinterpret_cast<const Vector<u32>*>(operands.left + threadIdx.x * apart));
        has_bits = (of_row.word[0] | of_row.word[1] | of_row.word[2] | of_row.word[3]) != 0;
        write_vector(columns + threadIdx.x * S::vector, of_row);
    }
    // Nothing is joined where no row has any of the stage's vertices. (The stage's own columns have to be written.)
    if (!operands.left_is_turned && __syncthreads_or(has_bits) == 0) return;
    fetch_rows(0);
    Vector<u32> best[rows];
    u32 pitch;
    u32* tile = find_tile(pitch);
#pragma unroll
    for (u32 row = 0; row < rows; row++) best[row] = load(reinterpret_cast<const Vector<u32>*>(tile + row * pitch));
    make_tables(shared);
    if (tables_there > 1) fetch_rows(1);
#pragma unroll 1
    for (u32 step = 0; step < steps; step++) {
        if (tables_there == 1 && step > 0) {
            __syncthreads();
            make_tables(shared);
        }
        // These tables are complete, and everyone is done with those before.
        __syncthreads();
        const u32* const tables = shared + step % tables_there * table_words<Cell> + word;
        if (tables_there > 1 && step + 1 < steps) make_tables(shared + (step + 1) % tables_there * table_words<Cell>);
        if (step + tables_there < steps) fetch_rows(step + tables_there);
        const u32* const bits_of = columns + warp * rows * S::vector + step / 2;
#pragma unroll
        for (u32 row = 0; row < rows; row++) {
            const u32 bits = bits_of[row * S::vector] >> (step % 2 * groups * group);
#pragma unroll
            for (u32 first = 0; first < groups; first += 2) {
                const u32 one = bits >> (first * group) & (unions - 1);
                const u32 other = bits >> ((first + 1) * group) & (unions - 1);
                best[row] = joined(best[row], joined(read_vector(tables + (first * unions + one) * S::side),
                                                     read_vector(tables + ((first + 1) * unions + other) * S::side)));
            }
        }
    }
    tile = find_tile(pitch);
#pragma unroll
    for (u32 row = 0; row < rows; row++) store(reinterpret_cast<Vector<u32>*>(tile + row * pitch), best[row]);
    if (operands.columns != nullptr && word == operands.part_of_stage * S::vector) {
#pragma unroll
        for (u32 row = 0; row < rows; row++) {
            store(reinterpret_cast<Vector<u32>*>(operands.columns + (warp * rows + row) * S::vector), best[row]);
        }
    }
}

/// Where the matrices of a task other than closing the diagonal are.
template <class Cell>
__device__ __forceinline__ Operands<Cell> operands_of(const Search<Cell>& search, const Task& task) {
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

template <class Cell>
__device__ __forceinline__ void run(const Search<Cell>& search) {
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
            // What was just written is read below by all threads.
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
