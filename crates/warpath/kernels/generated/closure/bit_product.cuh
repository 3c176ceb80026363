// Made from `src/cuda/closure/bit_product.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace bit_product {

/// Threads of a block.
constexpr u32 threads = 256;
/// Rows of a tile,
constexpr u32 rows_a_tile = 128;
/// and its columns.
constexpr u32 columns_a_tile = 256;
/// The part of a row that is in shared memory at a time: a slab.
constexpr u32 slab_bits = 512;
/// So many slabs: one is worked on, the others are on their way.
constexpr u32 slabs = 4;
/// The same before compute capability 8.0.
constexpr u32 slabs_of_old = 2;
/// Rows that are packed together.
constexpr u32 packed_rows = 128;
/// Rows, and columns, that a block packs at a time where columns become rows.
constexpr u32 square = 256;

/// The argument of a product.
struct Product {
    const u32* left;  // Packed rows.
    const u32* right;  // Packed columns.
    u32* to;  // What the product is added to,
    u64 pitch;  // and the words of its rows.
    const u32* before;  // Nothing is done if this is there and 0.
    u32* changed;  // Set if this is there and a bit is new.
    u32 tiles_down;  // Those that are worked on.
    u32 tiles_across;
    u32 left_out_from;  // From this row of tiles on,
    u32 left_out;  // so many are left out.
    u32 depth;  // The length of packed rows and columns, in slabs.
};
static_assert(sizeof(Product) == 72, "");
static_assert(offsetof(Product, left) == 0, "");
static_assert(offsetof(Product, right) == 8, "");
static_assert(offsetof(Product, to) == 16, "");
static_assert(offsetof(Product, pitch) == 24, "");
static_assert(offsetof(Product, before) == 32, "");
static_assert(offsetof(Product, changed) == 40, "");
static_assert(offsetof(Product, tiles_down) == 48, "");
static_assert(offsetof(Product, tiles_across) == 52, "");
static_assert(offsetof(Product, left_out_from) == 56, "");
static_assert(offsetof(Product, left_out) == 60, "");
static_assert(offsetof(Product, depth) == 64, "");

/// The argument of the kernels that pack a matrix.
struct Packing {
    const u32* from;
    u64 pitch;
    u32* to;
    const u32* before;  // As for a product.
    u32 rows;
    u32 columns;
};
static_assert(sizeof(Packing) == 40, "");
static_assert(offsetof(Packing, from) == 0, "");
static_assert(offsetof(Packing, pitch) == 8, "");
static_assert(offsetof(Packing, to) == 16, "");
static_assert(offsetof(Packing, before) == 24, "");
static_assert(offsetof(Packing, rows) == 32, "");
static_assert(offsetof(Packing, columns) == 36, "");

}  // namespace bit_product
