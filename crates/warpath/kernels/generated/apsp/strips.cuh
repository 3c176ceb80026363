// Made from `src/cuda/apsp/strips/worker.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace strips {

/// Squares with this many rows pass through shared memory, so that both sides are accessed in whole lines.
constexpr u32 square = 32;

/// `to = min(from, left x above)`: one block of threads works on a tile, through the whole depth.
template <class Cell>
struct Product {
    typename Cell::Word* from;  // A strip of rows.
    typename Cell::Word* to;  // Likewise; it may be the same one.
    /// For each row of tiles, columns one after another, as many as the product is deep.
    const typename Cell::Word* left;
    const typename Cell::Word* above;  // A strip of as many rows, which is not written to.
    u32 pitch;  // Words from row to row in all three strips; a strip has fewer than 2^32.
    u32 tiles_down;  // Of the strip.
    u32 tiles_across;
    u32 depth;  // Vertices, a multiple of a tile's.
    u32 one;
};
using ProductLayout = Product<layout::Cell>;
static_assert(sizeof(ProductLayout) == 56, "");
static_assert(offsetof(ProductLayout, from) == 0, "");
static_assert(offsetof(ProductLayout, to) == 8, "");
static_assert(offsetof(ProductLayout, left) == 16, "");
static_assert(offsetof(ProductLayout, above) == 24, "");
static_assert(offsetof(ProductLayout, pitch) == 32, "");
static_assert(offsetof(ProductLayout, tiles_down) == 36, "");
static_assert(offsetof(ProductLayout, tiles_across) == 40, "");
static_assert(offsetof(ProductLayout, depth) == 44, "");
static_assert(offsetof(ProductLayout, one) == 48, "");

/// A block of columns, one after another for each row of tiles, every number everywhere in a word.
template <class Cell>
struct Turn {
    const typename Cell::Number* from;  // The first number of the block.
    u64 pitch;  // Numbers from row to row.
    typename Cell::Word* to;
    u32 rows;  // Multiples of a tile's.
    u32 columns;
};
using TurnLayout = Turn<layout::Cell>;
static_assert(sizeof(TurnLayout) == 32, "");
static_assert(offsetof(TurnLayout, from) == 0, "");
static_assert(offsetof(TurnLayout, pitch) == 8, "");
static_assert(offsetof(TurnLayout, to) == 16, "");
static_assert(offsetof(TurnLayout, rows) == 24, "");
static_assert(offsetof(TurnLayout, columns) == 28, "");

/// A block of a strip as a matrix of its own.
struct Block {
    const uint4* from;
    u64 pitch;  // Vectors from row to row.
    uint4* to;
    u32 rows;
    u32 width;  // Vectors of a row.
};
static_assert(sizeof(Block) == 32, "");
static_assert(offsetof(Block, from) == 0, "");
static_assert(offsetof(Block, pitch) == 8, "");
static_assert(offsetof(Block, to) == 16, "");
static_assert(offsetof(Block, rows) == 24, "");
static_assert(offsetof(Block, width) == 28, "");

}  // namespace strips
