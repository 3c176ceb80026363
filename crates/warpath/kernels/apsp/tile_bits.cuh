// The tasks of `tiles.cuh` on bits.
//
// With 32 cells in a word, the columns of a stage are one vector of each row, and are kept as that. Rows are not joined
// one by one but in groups: of the rows of four vertices a table has every union, 16 in all, and what a row of the tile
// takes from it is one look-up, instead of four selections. A warp has whole rows of the tile, so its lanes look up the
// same entry, each its own vector of it, and shared memory gives all it can.
#pragma once

#include "tile.cuh"

namespace tiles {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
/// How many sets of tables there are: this chip has no room for two that take turns.
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

}  // namespace tiles
