// A tile, and the part of it that a thread has. `tiles.cuh` has the algorithm.
#pragma once

#include "cells.cuh"
#include "../generated/apsp/tiles.cuh"

namespace tiles {

using cells::read_vector;
using cells::same_bits;
using cells::Vector;
using cells::write_vector;

/// Sizes that depend on the types.
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

/// Where the matrices of a task are. It is in shared memory: registers are for the tile.
template <class Cell>
struct Operands {
    typename Cell::Word* tile;
    const typename Cell::Word* left;   // columns one after another; or where the tile's own rows have the stage's columns
    bool left_is_turned;               // whether it is that
    const typename Cell::Word* above;  // rows, as far apart as the rows of the matrix
    u32 pitch;                         // words from row to row; a tile has fewer than 2^32 from its first to its last
    typename Cell::Word* columns;      // where the stage's columns go, one after another; null for nowhere
    u32 part_of_stage;                 // which part of the tile they are, where they are one of several
};

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

/// Reads the words of a tile that a thread has.
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

/// Writes them, where rows are `pitch` words apart.
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

}  // namespace tiles
