// The min-plus product of a matrix that lies with its columns one after another and one that lies with its rows one
// after another, accumulated in a tile. It brings a slab of vertices to shared memory while it works on another one.
#pragma once

#include "tile.cuh"

namespace tiles {

/// Brings the vertices of a slab, from `first` on, to shared memory.
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

/// The product of the slab in a slot, accumulated.
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

/// Brings the first slabs of a product.
template <class Cell>
__device__ __forceinline__ void fetch_first(const Operands<Cell>& operands, typename Cell::Word* shared) {
#pragma unroll
    for (u32 index = 0; index < slabs_there - 1; index++) {
        fetch(operands, index * slab, shared + index * (slab_bytes / sizeof(typename Cell::Word)));
        commit_copies();
    }
}

/// The product of `slabs` slabs, of which the first are on their way, accumulated.
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

}  // namespace tiles
