// Kernels for a matrix of distances in strips, beside the tiles of `tiled_floyd_warshall.cu`: the product of a block of
// columns and a strip of rows, accumulated, and two kernels that bring blocks into the form that others want. The essay
// is in `src/cuda/apsp/strips.rs`.
//
// registers: 128
// no-sass: STL
// sass sm_90: VIADDMNMX
// sass sm_90: VIMNMX3
// sass: LDGSTS
#include "tile_product.cuh"
#include "../generated/apsp/strips.cuh"

namespace strips {

using tiles::Operands;
using tiles::Shape;
using tiles::slab;
using tiles::threads;

template <class Cell>
__device__ __forceinline__ void product(const Product<Cell>& product) {
    using S = Shape<Cell>;
    using Word = typename Cell::Word;
    DYNAMIC_SHARED(bytes);
    Word* const shared = reinterpret_cast<Word*>(bytes);
    __shared__ Operands<Cell> operands;
    __shared__ Word* to;
    // Registers are for the tile.
    __shared__ u32 number, nothing;
    if (threadIdx.x == 0) {
        number = blockIdx.x;
        nothing = 0;
    }
#pragma unroll 1
    while (true) {
        // Everyone is done with the tile before this one.
        __syncthreads();
        if (threadIdx.x == 0) {
            // Tiles below each other follow each other, so all of them read the rows above at about the same time.
            const u32 row = number % product.tiles_down, column = number / product.tiles_down;
            const u32 place = row * S::side * product.pitch + column * S::side;
            operands.tile = column < product.tiles_across ? product.from + place : nullptr;
            operands.left = product.left + static_cast<u64>(row) * product.depth * S::side;
            operands.above = product.above + column * S::side;
            operands.pitch = product.pitch;
            operands.left_is_turned = false;
            to = product.to + place;
            number += gridDim.x;
        }
        __syncthreads();
        if (operands.tile == nullptr) return;
        const tiles::Place place = tiles::place_of_thread();
        Word best[S::own][S::own];
        tiles::fetch_first<Cell>(operands, shared);
        tiles::read_tile<Cell>(best, operands, place);
        tiles::relax_slabs<Cell>(best, operands, product.depth / slab, product.one, shared, place);
        // Where the tile is read and written is not kept through the product: the compiler can't know that nothing is
        // 0.
        const tiles::Place same_place = tiles::place_of(threadIdx.x + load_shared(&nothing));
        tiles::write_tile<Cell>(best, load_shared(&to), load_shared(&operands.pitch), same_place);
    }
}

template <class Cell>
__device__ __forceinline__ void turn(const Turn<Cell>& turn) {
    using S = Shape<Cell>;
    // One more, so that numbers below each other are in different banks.
    __shared__ typename Cell::Number numbers[square][square + 1];
    const u32 across = turn.columns / square, squares = turn.rows / square * across;
    const u32 x = threadIdx.x % square, y = threadIdx.x / square;
    for (u32 number = blockIdx.x; number < squares; number += gridDim.x) {
        const u32 first_row = number / across * square, first_column = number % across * square;
#pragma unroll
        for (u32 line = y; line < square; line += threads / square) {
            numbers[line][x] = load_once(turn.from + (first_row + line) * turn.pitch + first_column + x);
        }
        __syncthreads();
        const u32 row = first_row + x;
        typename Cell::Word* const to = turn.to + static_cast<u64>(row / S::side) * turn.columns * S::side + row % S::side;
#pragma unroll
        for (u32 line = y; line < square; line += threads / square) {
            to[static_cast<u64>(first_column + line) * S::side] = Cell::everywhere(numbers[x][line]);
        }
        __syncthreads();
    }
}

__device__ __forceinline__ void cut(const Block& cut) {
    for (u32 row = blockIdx.x; row < cut.rows; row += gridDim.x) {
        for (u32 column = threadIdx.x; column < cut.width; column += blockDim.x) {
            cut.to[static_cast<u64>(row) * cut.width + column] = load_once(cut.from + row * cut.pitch + column);
        }
    }
}

}  // namespace strips

#define WARPATH_STRIPS(name, Cell)                                                   \
    extern "C" __global__ void __launch_bounds__(tiles::threads, 2)                  \
        apsp_strips_product_##name(strips::Product<cells::Cell> product) {           \
        if constexpr (sizeof(cells::Cell::Number) > 2 || cells::has_pairs) {         \
            strips::product(product);                                                \
        }                                                                            \
    }                                                                                \
    WARPATH_KERNEL(apsp_strips_product_##name)
#define WARPATH_TURN(name, Cell)                                                     \
    extern "C" __global__ void apsp_strips_turn_##name(strips::Turn<cells::Cell> turn) { \
        strips::turn(turn);                                                          \
    }                                                                                \
    WARPATH_KERNEL(apsp_strips_turn_##name)

WARPATH_STRIPS(u16, U16)
WARPATH_STRIPS(u32, U32)
WARPATH_STRIPS(i32, I32)
WARPATH_STRIPS(i64, I64)
WARPATH_STRIPS(f32, F32)
WARPATH_STRIPS(f32_non_negative, F32NonNegative)
WARPATH_STRIPS(f64, F64)
WARPATH_TURN(u16, U16)
WARPATH_TURN(u32, U32)
WARPATH_TURN(i32, I32)
WARPATH_TURN(i64, I64)
WARPATH_TURN(f32, F32)
WARPATH_TURN(f64, F64)
extern "C" __global__ void apsp_strips_cut(strips::Block cut) { strips::cut(cut); }
WARPATH_KERNEL(apsp_strips_cut)
