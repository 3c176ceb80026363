// Closing a diagonal block of distances: all paths within the vertices of a stage.
#pragma once

#include "tile.cuh"

namespace tiles {

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

}  // namespace tiles
