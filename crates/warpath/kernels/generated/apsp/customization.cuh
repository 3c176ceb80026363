// Made from `src/cuda/customization.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace apsp_customization {

/// The most columns of a front.
constexpr u32 most_columns = 32;
/// Warps of a block that gathers, scatters, offers, or works on tiles.
constexpr u32 warps_a_block = 8;
/// Shortcuts or vertices of a boundary that a warp takes.
constexpr u32 a_warp = 256;

/// The ranks of some subtrees, each after its parent.
struct Tile {
    u32 ranks;
    u32 count;
};
static_assert(sizeof(Tile) == 8, "");
static_assert(offsetof(Tile, ranks) == 0, "");
static_assert(offsetof(Tile, count) == 4, "");

/// Ranks from `first` on, of which each is the parent of the one before.
struct Front {
    u64 panel;  // Where its panel begins.
    u32 first;
    u32 columns;
    /// The place of the later neighbours of its topmost column among `heads`, and how many there are.
    u32 boundary_first;
    u32 boundary;
    u64 unused;
};
static_assert(sizeof(Front) == 32, "");
static_assert(offsetof(Front, panel) == 0, "");
static_assert(offsetof(Front, first) == 8, "");
static_assert(offsetof(Front, columns) == 12, "");
static_assert(offsetof(Front, boundary_first) == 16, "");
static_assert(offsetof(Front, boundary) == 20, "");
static_assert(offsetof(Front, unused) == 24, "");

/// The argument of all kernels.
template <class Lane>
struct Customization {
    const u32* offsets;  // Where the later neighbours of each rank begin, ascending.
    const u32* heads;
    typename Lane::Distance* up;  // The lengths to later neighbours, and back.
    typename Lane::Distance* down;
    const Tile* tiles;
    const u32* ranks;
    const Front* fronts;
    /// Those of fronts, from each column to each of its later neighbours, and back; without a way the greatest number.
    typename Lane::Distance* up_panels;
    typename Lane::Distance* down_panels;
    u32 tile_count;
    u32 level;  // The first front of the level.
    u32 rows;  // Blocks of a front that share rows, and how many share each row.
    u32 parts;
    u32 is_directed;  // Whether the two directions differ.
    u32 unused;
};
using CustomizationLayout = Customization<layout::Lane>;
static_assert(sizeof(CustomizationLayout) == 96, "");
static_assert(offsetof(CustomizationLayout, offsets) == 0, "");
static_assert(offsetof(CustomizationLayout, heads) == 8, "");
static_assert(offsetof(CustomizationLayout, up) == 16, "");
static_assert(offsetof(CustomizationLayout, down) == 24, "");
static_assert(offsetof(CustomizationLayout, tiles) == 32, "");
static_assert(offsetof(CustomizationLayout, ranks) == 40, "");
static_assert(offsetof(CustomizationLayout, fronts) == 48, "");
static_assert(offsetof(CustomizationLayout, up_panels) == 56, "");
static_assert(offsetof(CustomizationLayout, down_panels) == 64, "");
static_assert(offsetof(CustomizationLayout, tile_count) == 72, "");
static_assert(offsetof(CustomizationLayout, level) == 76, "");
static_assert(offsetof(CustomizationLayout, rows) == 80, "");
static_assert(offsetof(CustomizationLayout, parts) == 84, "");
static_assert(offsetof(CustomizationLayout, is_directed) == 88, "");
static_assert(offsetof(CustomizationLayout, unused) == 92, "");

}  // namespace apsp_customization
