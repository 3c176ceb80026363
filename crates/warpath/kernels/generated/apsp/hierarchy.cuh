// Made from `src/cuda/apsp/hierarchy/arrays.rs`. `src/cuda/kernel_header.rs` says how to refresh it.
#pragma once
#include "../../layout.cuh"

namespace apsp_hierarchy {

/// Sources of a warp: two for each thread.
constexpr u32 sources = 64;
/// The most vertices of a front.
constexpr u32 columns = 8;
/// The most vertices of a subtree.
constexpr u32 most_vertices = 64;
/// Threads of a block that transposes.
constexpr u32 transposing = 256;
/// Vertices of a block that transposes.
constexpr u32 transposed = 1024;
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

/// Ranks from `first` on, of which each is the parent of the one before.
struct Front {
    u32 first;
    u32 count;
    u32 boundary;  // Where its boundary begins among those of all fronts.
    u32 boundary_count;
};
static_assert(sizeof(Front) == 16, "");
static_assert(offsetof(Front, first) == 0, "");
static_assert(offsetof(Front, count) == 4, "");
static_assert(offsetof(Front, boundary) == 8, "");
static_assert(offsetof(Front, boundary_count) == 12, "");

/// The ranks of a subtree.
struct Subtree {
    u32 first;
    u32 count;
    u32 boundary;  // Where its boundary begins among those of all subtrees.
    u32 boundary_count;
    u32 arcs;  // Where its arcs begin.
    u32 arc_count;
    u32 unused[2];
};
static_assert(sizeof(Subtree) == 32, "");
static_assert(offsetof(Subtree, first) == 0, "");
static_assert(offsetof(Subtree, count) == 4, "");
static_assert(offsetof(Subtree, boundary) == 8, "");
static_assert(offsetof(Subtree, boundary_count) == 12, "");
static_assert(offsetof(Subtree, arcs) == 16, "");
static_assert(offsetof(Subtree, arc_count) == 20, "");
static_assert(offsetof(Subtree, unused) == 24, "");

/// The argument of the kernel that walks up from each source.
template <class Lane>
struct Climb {
    const Node* nodes;  // One more than there are ranks.
    const Arc<typename Lane::Distance>* arcs;  // The depth of each later neighbour, and the length of the way there.
    const Position* positions;
    const u32* sources;  // Their ranks.
    typename Lane::Distance* above;  // For each depth a distance for each source.
    u64 stride;  // From depth to depth.
};
using ClimbLayout = Climb<layout::Lane>;
static_assert(sizeof(ClimbLayout) == 48, "");
static_assert(offsetof(ClimbLayout, nodes) == 0, "");
static_assert(offsetof(ClimbLayout, arcs) == 8, "");
static_assert(offsetof(ClimbLayout, positions) == 16, "");
static_assert(offsetof(ClimbLayout, sources) == 24, "");
static_assert(offsetof(ClimbLayout, above) == 32, "");
static_assert(offsetof(ClimbLayout, stride) == 40, "");

/// The argument of the kernels that sweep down.
template <class Lane>
struct Sweep {
    const Position* positions;
    const u32* sources;  // The ranks of sources, and beyond their number the greatest number.
    const typename Lane::Distance* above;
    typename Lane::Distance* by_rank;  // For each rank a distance for each source.
    const Front* fronts;
    const u32* front_boundaries;  // Ranks of the boundaries of fronts.
    const typename Lane::Distance* front_lengths;  // From each rank of a boundary to each vertex of its front.
    const typename Lane::Distance* triangles;  // Of each front, from each of its vertices to each.
    const Subtree* subtrees;
    const u32* subtree_boundaries;  // Ranks of the boundaries of subtrees.
    /// The slot of a later neighbour, and the length of the way from there. The boundary of a subtree has the first slots, then
    /// come its vertices by depth.
    const Arc<typename Lane::Distance>* subtree_arcs;
    /// Of each rank in a subtree its slot, in the upper half, and where the pairs of its arcs end, counted from those of the
    /// top.
    const u32* ends;
    u64 stride;  // From rank to rank, and from depth to depth.
    u32 groups;  // How many warps it takes for all sources.
    u32 level;  // The first front of the level.
    u32 most_slots;  // The most slots of a subtree, and the most of its arcs.
    u32 most_arcs;
};
using SweepLayout = Sweep<layout::Lane>;
static_assert(sizeof(SweepLayout) == 120, "");
static_assert(offsetof(SweepLayout, positions) == 0, "");
static_assert(offsetof(SweepLayout, sources) == 8, "");
static_assert(offsetof(SweepLayout, above) == 16, "");
static_assert(offsetof(SweepLayout, by_rank) == 24, "");
static_assert(offsetof(SweepLayout, fronts) == 32, "");
static_assert(offsetof(SweepLayout, front_boundaries) == 40, "");
static_assert(offsetof(SweepLayout, front_lengths) == 48, "");
static_assert(offsetof(SweepLayout, triangles) == 56, "");
static_assert(offsetof(SweepLayout, subtrees) == 64, "");
static_assert(offsetof(SweepLayout, subtree_boundaries) == 72, "");
static_assert(offsetof(SweepLayout, subtree_arcs) == 80, "");
static_assert(offsetof(SweepLayout, ends) == 88, "");
static_assert(offsetof(SweepLayout, stride) == 96, "");
static_assert(offsetof(SweepLayout, groups) == 104, "");
static_assert(offsetof(SweepLayout, level) == 108, "");
static_assert(offsetof(SweepLayout, most_slots) == 112, "");
static_assert(offsetof(SweepLayout, most_arcs) == 116, "");

/// The argument of the kernel that makes rows.
template <class Lane>
struct Transposition {
    const typename Lane::Distance* by_rank;
    const u32* ranks;  // The rank of each vertex.
    typename Lane::Distance* rows;
    u64* greatest;  // The greatest distance from each source; zero.
    u64 stride;  // From rank to rank.
    u64 row_stride;  // From row to row.
    u32 vertices;
    u32 count;
};
using TranspositionLayout = Transposition<layout::Lane>;
static_assert(sizeof(TranspositionLayout) == 56, "");
static_assert(offsetof(TranspositionLayout, by_rank) == 0, "");
static_assert(offsetof(TranspositionLayout, ranks) == 8, "");
static_assert(offsetof(TranspositionLayout, rows) == 16, "");
static_assert(offsetof(TranspositionLayout, greatest) == 24, "");
static_assert(offsetof(TranspositionLayout, stride) == 32, "");
static_assert(offsetof(TranspositionLayout, row_stride) == 40, "");
static_assert(offsetof(TranspositionLayout, vertices) == 48, "");
static_assert(offsetof(TranspositionLayout, count) == 52, "");

}  // namespace apsp_hierarchy
