//! What the searches by neighborhoods, `multi-hop` in [`bfs`](super::bfs) and [`sssp`](super::sssp), have in common.

use super::kernel_header::kernel_header;
use crate::algorithms::GraphFacts;
use crate::graph::Growth;

kernel_header! {
    path: "multi_hop";
    namespace: multi_hop;
    constants {
        /// A neighborhood begins at a multiple of this many entries, and is filled up with `none`.
        pub(super) const UNIT: u32 = 8;
        /// The most vertices that a neighborhood can have, the one in the middle included.
        pub(super) const MOST: u32 = 512;
        /// The most blocks, each of which has a part of every queue.
        pub(super) const PARTS: u32 = 128;
        /// An entry of a neighborhood without weights: the vertex below, and above how many arcs away it is, less one.
        const VERTEX_BITS: u32 = 28;
        /// The binary logarithm of the slots of a table of a neighborhood: twice as many as there can be vertices.
        pub(super) const TABLE_BITS: u32 = 10;
        pub(super) const TABLE_SIZE: u32 = 1 << TABLE_BITS;
    }
}

/// Vertices of this number and above do not fit an entry.
pub(super) const MOST_VERTICES: usize = 1 << VERTEX_BITS;

const _: () = assert!(Growth::LARGEST == MOST as usize, "larger neighborhoods are not sampled");
const _: () = assert!(Growth::GREATEST_RADIUS == 1 << (32 - VERTEX_BITS), "an entry holds the radius");

/// Why these searches are right for a graph, if it is: levels are many and short.
pub(super) fn suits(facts: &GraphFacts) -> Option<String> {
    let [near, far] =
        facts.planar_growth.filter(|_| facts.vertices < MOST_VERTICES && facts.arcs <= u32::MAX as usize)?;
    Some(format!("{near:.1} vertices within two arcs and {far:.1} within four mean many short levels"))
}
