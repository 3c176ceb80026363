// Made from `src/cuda/apsp/hierarchy/arguments.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace apsp_hierarchy {

/// Sources of a warp: two for each thread.
constexpr u32 sources = 64;
/// Sources of a warp that takes a tile in 16 bits: four for each thread.
constexpr u32 offset_sources = 128;
/// Sources of a block that climbs from where their ways have met.
constexpr u32 climbing_together = 32;
/// Warps of it.
constexpr u32 climbing_warps = 16;
/// The most vertices of a front.
constexpr u32 most_columns = 32;
/// The most vertices of a part of a front.
constexpr u32 columns = 8;
/// The vertices of a part that is read as one of so many.
constexpr u32 narrow_columns = 4;
/// Arcs of a tile that are worked on at once.
constexpr u32 batch = 4;
/// Columns that a block makes of some rows, its warps, and the bytes of its distances from a hub.
constexpr u32 columns_a_block = 128;
constexpr u32 row_warps = 8;
constexpr u32 bytes_a_hub = 256;
/// What a round has at most: hubs, lengths of labels in fours, and lists in parts of 16 bytes.
constexpr u32 most_hubs = 63;
constexpr u32 most_fours = 256;
constexpr u32 most_parts = 96;
/// Numbers of a round, and lengths that are read at once.
constexpr u32 round_words = 72;
constexpr u32 four = 4;
/// Counters of a source, to which blocks add by turns, and how many numbers each of them has.
constexpr u32 counters_a_source = 16;
constexpr u32 counted = 4;
/// Warps of a block that gathers lengths, and how many of a column's a warp takes.
constexpr u32 gathering_warps = 8;
constexpr u32 gathered = 256;
/// The parent of a root.
constexpr u32 no_parent = 4294967295;

/// A vertex on the way up.
struct Node {
    u32 arcs;  // Where its arcs to later neighbours begin.
    u32 parent;
};
static_assert(sizeof(Node) == 8, "");
static_assert(offsetof(Node, arcs) == 0, "");
static_assert(offsetof(Node, parent) == 4, "");

/// The subtree of a rank, which ends with it, and how many ancestors it has.
struct Position {
    u32 first;
    u32 depth;
};
static_assert(sizeof(Position) == 8, "");
static_assert(offsetof(Position, first) == 0, "");
static_assert(offsetof(Position, depth) == 4, "");

/// Where the ways up of sources meet: the first front, and the first rank there, that is above all of them.
struct Meeting {
    u32 front;
    u32 rank;
};
static_assert(sizeof(Meeting) == 8, "");
static_assert(offsetof(Meeting, front) == 0, "");
static_assert(offsetof(Meeting, rank) == 4, "");

/// Ranks from `first` on, of which each is the parent of the one before, for climbs.
struct Front {
    u32 first;
    u32 columns;
    u32 depth;  // Of the first.
    u32 depths;  // Where the depths of its targets begin: of its boundary and of its columns.
    u32 targets;
    u32 lengths;  // Where its lengths begin, in rows of eight.
    u32 parent;  // The parent of the topmost column, and its front.
    u32 parent_front;
};
static_assert(sizeof(Front) == 32, "");
static_assert(offsetof(Front, first) == 0, "");
static_assert(offsetof(Front, columns) == 4, "");
static_assert(offsetof(Front, depth) == 8, "");
static_assert(offsetof(Front, depths) == 12, "");
static_assert(offsetof(Front, targets) == 16, "");
static_assert(offsetof(Front, lengths) == 20, "");
static_assert(offsetof(Front, parent) == 24, "");
static_assert(offsetof(Front, parent_front) == 28, "");

/// Up to eight columns of a front, for the sweep down.
struct Part {
    u32 boundary;  // Where the boundary of the front begins among those of all fronts.
    u32 boundary_count;
    u32 lengths;  // Where its lengths begin, in rows of four.
    u32 first;  // The ranks of the front.
    u32 columns;
    u32 place;  // The place of its first column among the vertices of all fronts, and how many it has.
    u32 count;
    u32 unused;
};
static_assert(sizeof(Part) == 32, "");
static_assert(offsetof(Part, boundary) == 0, "");
static_assert(offsetof(Part, boundary_count) == 4, "");
static_assert(offsetof(Part, lengths) == 8, "");
static_assert(offsetof(Part, first) == 12, "");
static_assert(offsetof(Part, columns) == 16, "");
static_assert(offsetof(Part, place) == 20, "");
static_assert(offsetof(Part, count) == 24, "");
static_assert(offsetof(Part, unused) == 28, "");

/// Subtrees that a warp works on.
struct Tile {
    u32 first;  // The ranks are among these.
    u32 last;
    u32 loads;
    u32 load_count;
    u32 batches;
    u32 batch_count;
    u32 ranks;  // Where the ranks of its first slots begin, and how many they are.
    u32 count;
};
static_assert(sizeof(Tile) == 32, "");
static_assert(offsetof(Tile, first) == 0, "");
static_assert(offsetof(Tile, last) == 4, "");
static_assert(offsetof(Tile, loads) == 8, "");
static_assert(offsetof(Tile, load_count) == 12, "");
static_assert(offsetof(Tile, batches) == 16, "");
static_assert(offsetof(Tile, batch_count) == 20, "");
static_assert(offsetof(Tile, ranks) == 24, "");
static_assert(offsetof(Tile, count) == 28, "");

/// A slot of a tile, and the place that its distances are read from.
struct Load {
    u32 slot;
    u32 place;
};
static_assert(sizeof(Load) == 8, "");
static_assert(offsetof(Load, slot) == 0, "");
static_assert(offsetof(Load, place) == 4, "");

/// A tile and the sources of a warp.
struct Visit {
    u32 tile;
    u32 group;
};
static_assert(sizeof(Visit) == 8, "");
static_assert(offsetof(Visit, tile) == 0, "");
static_assert(offsetof(Visit, group) == 4, "");

/// The argument of the kernels that make the lengths of fronts.
template <class Lane>
struct Closing {
    const Node* nodes;  // As those of [`Climb`].
    const Arc<typename Lane::Distance>* arcs;
    const Front* fronts;
    const u32* depths;
    const typename Lane::Distance* down;  // The lengths of shortcuts downwards, if they differ.
    const u32* down_rows;  // Where the lengths downwards of each front begin, in rows of four.
    typename Lane::Distance* up_lengths;
    typename Lane::Distance* down_lengths;
    u32 parts;  // Blocks of a front.
    u32 is_directed;
    u32 is_inside;  // Whether targets are columns, or vertices of the boundary.
    u32 unused;
};
using ClosingLayout = Closing<layout::Lane>;
static_assert(sizeof(ClosingLayout) == 80, "");
static_assert(offsetof(ClosingLayout, nodes) == 0, "");
static_assert(offsetof(ClosingLayout, arcs) == 8, "");
static_assert(offsetof(ClosingLayout, fronts) == 16, "");
static_assert(offsetof(ClosingLayout, depths) == 24, "");
static_assert(offsetof(ClosingLayout, down) == 32, "");
static_assert(offsetof(ClosingLayout, down_rows) == 40, "");
static_assert(offsetof(ClosingLayout, up_lengths) == 48, "");
static_assert(offsetof(ClosingLayout, down_lengths) == 56, "");
static_assert(offsetof(ClosingLayout, parts) == 64, "");
static_assert(offsetof(ClosingLayout, is_directed) == 68, "");
static_assert(offsetof(ClosingLayout, is_inside) == 72, "");
static_assert(offsetof(ClosingLayout, unused) == 76, "");

/// The argument of the kernels that walk up from each source.
template <class Lane>
struct Climb {
    const Node* nodes;  // One more than there are ranks.
    const Arc<typename Lane::Distance>* arcs;  // The depth of each later neighbour, and the length of the way there.
    const Position* positions;
    const u32* sources;  // Their ranks, which ascend.
    const Meeting* meetings;  // Of sources that climb together.
    const Front* fronts;
    const u32* depths;
    /// Of each front, for eight targets at a time, from each of its columns to them.
    const typename Lane::Distance* lengths;
    typename Lane::Distance* above;  // For each depth a distance for each source.
    u64 stride;  // From depth to depth.
    u32 count;
    u32 in_shared;  // Whether the distances of all ancestors of a source fit the shared memory of a block.
};
using ClimbLayout = Climb<layout::Lane>;
static_assert(sizeof(ClimbLayout) == 88, "");
static_assert(offsetof(ClimbLayout, nodes) == 0, "");
static_assert(offsetof(ClimbLayout, arcs) == 8, "");
static_assert(offsetof(ClimbLayout, positions) == 16, "");
static_assert(offsetof(ClimbLayout, sources) == 24, "");
static_assert(offsetof(ClimbLayout, meetings) == 32, "");
static_assert(offsetof(ClimbLayout, fronts) == 40, "");
static_assert(offsetof(ClimbLayout, depths) == 48, "");
static_assert(offsetof(ClimbLayout, lengths) == 56, "");
static_assert(offsetof(ClimbLayout, above) == 64, "");
static_assert(offsetof(ClimbLayout, stride) == 72, "");
static_assert(offsetof(ClimbLayout, count) == 80, "");
static_assert(offsetof(ClimbLayout, in_shared) == 84, "");

/// The argument of the kernels that sweep down.
template <class Lane>
struct Sweep {
    const Position* positions;
    const u32* sources;  // The ranks of sources, which ascend, and beyond their number the greatest number.
    const typename Lane::Distance* above;
    typename Lane::Distance* by_place;  // For each vertex of a front, by its place, a distance for each source.
    const Part* parts;
    const u32* boundaries;  // The places of the boundaries of fronts.
    /// Of each part, from each vertex of its boundary and from each column of its front to each of its columns.
    const typename Lane::Distance* lengths;
    const Tile* tiles;
    const Load* loads;
    /// The slot of the tail, in the lowest byte, and the length of the way from there. For the last arc of a vertex one more
    /// than its slot in the other bytes.
    const Arc<typename Lane::Distance>* arcs;
    const u32* ranks;  // Of the slots of tiles.
    u32* is_doubtful;  // Whether a distance from a source may have been lost; zero.
    u64* counters;  // Where only sums are wanted, for each counter the numbers of a fact, for each source: zero.
    /// For each tile how much the distances of its boundary may differ, if offsets from the least are to fit 16 bits; 0 if
    /// they never do.
    const u32* spans;
    /// As `arcs`: the slot of the tail, in the lowest byte, whether it is the last arc of a vertex, in the next, and in the
    /// upper half the length.
    const u32* short_arcs;
    Visit* left;  // The tiles that do not fit 16 bits, and how many there are: zero.
    u32* left_count;
    /// Where the columns of each slot of a tile begin, in the order of `ranks`, their numbers, and where the label of each begins,
    /// in fours.
    const u32* column_offsets;
    const u32* columns_of;
    const u32* label_of;
    typename Lane::Distance* labels;
    u64* greatest;  // The greatest length of a label: zero.
    const Visit* visits;  // The tiles of sources.
    const u32* row_of;  // The row of each source.
    typename Lane::Distance* rows;
    u64 row_stride;  // From row to row.
    u64 stride;  // From place to place, and from depth to depth.
    u64 doubtful;  // A distance from which on others may have been lost.
    u32 groups;  // How many warps it takes for all sources.
    u32 level;  // The first part of the level.
    u32 tile_count;
    u32 most_slots;  // The most slots of a tile, and the most of its arcs.
    u32 most_arcs;
    u32 most_left;  // For how many of them there is room.
    u32 tiles_a_block;  // How many tiles a block takes for sums.
    u32 unused;
};
using SweepLayout = Sweep<layout::Lane>;
static_assert(sizeof(SweepLayout) == 256, "");
static_assert(offsetof(SweepLayout, positions) == 0, "");
static_assert(offsetof(SweepLayout, sources) == 8, "");
static_assert(offsetof(SweepLayout, above) == 16, "");
static_assert(offsetof(SweepLayout, by_place) == 24, "");
static_assert(offsetof(SweepLayout, parts) == 32, "");
static_assert(offsetof(SweepLayout, boundaries) == 40, "");
static_assert(offsetof(SweepLayout, lengths) == 48, "");
static_assert(offsetof(SweepLayout, tiles) == 56, "");
static_assert(offsetof(SweepLayout, loads) == 64, "");
static_assert(offsetof(SweepLayout, arcs) == 72, "");
static_assert(offsetof(SweepLayout, ranks) == 80, "");
static_assert(offsetof(SweepLayout, is_doubtful) == 88, "");
static_assert(offsetof(SweepLayout, counters) == 96, "");
static_assert(offsetof(SweepLayout, spans) == 104, "");
static_assert(offsetof(SweepLayout, short_arcs) == 112, "");
static_assert(offsetof(SweepLayout, left) == 120, "");
static_assert(offsetof(SweepLayout, left_count) == 128, "");
static_assert(offsetof(SweepLayout, column_offsets) == 136, "");
static_assert(offsetof(SweepLayout, columns_of) == 144, "");
static_assert(offsetof(SweepLayout, label_of) == 152, "");
static_assert(offsetof(SweepLayout, labels) == 160, "");
static_assert(offsetof(SweepLayout, greatest) == 168, "");
static_assert(offsetof(SweepLayout, visits) == 176, "");
static_assert(offsetof(SweepLayout, row_of) == 184, "");
static_assert(offsetof(SweepLayout, rows) == 192, "");
static_assert(offsetof(SweepLayout, row_stride) == 200, "");
static_assert(offsetof(SweepLayout, stride) == 208, "");
static_assert(offsetof(SweepLayout, doubtful) == 216, "");
static_assert(offsetof(SweepLayout, groups) == 224, "");
static_assert(offsetof(SweepLayout, level) == 228, "");
static_assert(offsetof(SweepLayout, tile_count) == 232, "");
static_assert(offsetof(SweepLayout, most_slots) == 236, "");
static_assert(offsetof(SweepLayout, most_arcs) == 240, "");
static_assert(offsetof(SweepLayout, most_left) == 244, "");
static_assert(offsetof(SweepLayout, tiles_a_block) == 248, "");
static_assert(offsetof(SweepLayout, unused) == 252, "");

/// What there is to say of a row, as [`RawFacts`](crate::cuda::apsp::outgoing::RawFacts) has it.
struct Facts {
    u64 reached;
    u64 greatest;
    u64 low;
    u64 high;
};
static_assert(sizeof(Facts) == 32, "");
static_assert(offsetof(Facts, reached) == 0, "");
static_assert(offsetof(Facts, greatest) == 8, "");
static_assert(offsetof(Facts, low) == 16, "");
static_assert(offsetof(Facts, high) == 24, "");

/// The argument of the kernel that adds up counters.
template <class Lane>
struct Sums {
    const u64* counters;
    const u32* row_of;  // The row of each source.
    Facts* facts;
    u64 stride;  // From number to number.
    u32 count;
    u32 unused;
};
using SumsLayout = Sums<layout::Lane>;
static_assert(sizeof(SumsLayout) == 40, "");
static_assert(offsetof(SumsLayout, counters) == 0, "");
static_assert(offsetof(SumsLayout, row_of) == 8, "");
static_assert(offsetof(SumsLayout, facts) == 16, "");
static_assert(offsetof(SumsLayout, stride) == 24, "");
static_assert(offsetof(SumsLayout, count) == 32, "");
static_assert(offsetof(SumsLayout, unused) == 36, "");

/// How a round begins; the places of its hubs follow.
struct Round {
    u32 lists;  // Where its lists begin, and how many parts they have.
    u32 parts;
    u32 labels;  // Where its labels begin, and how many fours they have.
    u32 fours;
    u32 shares;
    u32 hub_count;
    u32 next;  // The next round of the block, or 0.
    u32 unused;
};
static_assert(sizeof(Round) == 32, "");
static_assert(offsetof(Round, lists) == 0, "");
static_assert(offsetof(Round, parts) == 4, "");
static_assert(offsetof(Round, labels) == 8, "");
static_assert(offsetof(Round, fours) == 12, "");
static_assert(offsetof(Round, shares) == 16, "");
static_assert(offsetof(Round, hub_count) == 20, "");
static_assert(offsetof(Round, next) == 24, "");
static_assert(offsetof(Round, unused) == 28, "");

/// Columns of a round with the same hubs, or of hubs themselves if it has none. Its places are those of numbers of 16 bits.
struct Share {
    u16 columns;
    u16 column_count;
    u16 hubs;
    u16 hub_count;
    u32 labels;  // Where its labels begin, in fours.
    u32 unused;
};
static_assert(sizeof(Share) == 16, "");
static_assert(offsetof(Share, columns) == 0, "");
static_assert(offsetof(Share, column_count) == 2, "");
static_assert(offsetof(Share, hubs) == 4, "");
static_assert(offsetof(Share, hub_count) == 6, "");
static_assert(offsetof(Share, labels) == 8, "");
static_assert(offsetof(Share, unused) == 12, "");

/// The argument of the kernel that makes rows.
template <class Lane>
struct Rows {
    const typename Lane::Distance* by_place;
    const u32* rounds;
    const uint4* lists;
    const typename Lane::Distance* labels;
    const u32* row_of;  // The row of each source.
    typename Lane::Distance* rows;
    u64 stride;  // From place to place.
    u64 row_stride;  // From row to row.
    u32 columns;
    u32 blocks;  // Blocks of columns.
    u32 count;  // Sources, and how many blocks it takes for all of them.
    u32 groups;
};
using RowsLayout = Rows<layout::Lane>;
static_assert(sizeof(RowsLayout) == 80, "");
static_assert(offsetof(RowsLayout, by_place) == 0, "");
static_assert(offsetof(RowsLayout, rounds) == 8, "");
static_assert(offsetof(RowsLayout, lists) == 16, "");
static_assert(offsetof(RowsLayout, labels) == 24, "");
static_assert(offsetof(RowsLayout, row_of) == 32, "");
static_assert(offsetof(RowsLayout, rows) == 40, "");
static_assert(offsetof(RowsLayout, stride) == 48, "");
static_assert(offsetof(RowsLayout, row_stride) == 56, "");
static_assert(offsetof(RowsLayout, columns) == 64, "");
static_assert(offsetof(RowsLayout, blocks) == 68, "");
static_assert(offsetof(RowsLayout, count) == 72, "");
static_assert(offsetof(RowsLayout, groups) == 76, "");

}  // namespace apsp_hierarchy
