//! What searches with a frontier in two queues have in common: `kernels/frontier.cuh` fills and empties the queues.

use super::graph::Extent;
use super::kernel_header::kernel_header;

kernel_header! {
    path: "frontier";
    namespace: frontier;
    constants {
        /// Rows up to this long are packed, many to a warp; longer ones are cut into pieces.
        const SHORT_ROW: u32 = 32;
        /// Arcs of a long row that one warp takes at a time.
        const PIECE: u32 = 256;
    }
}

/// The most pieces of long rows that a frontier can have.
pub(super) fn most_pieces(graph: &impl Extent) -> u64 {
    most_pieces_of(graph.arcs() as u64, graph.vertices() as u64)
}

/// The same for so many arcs of so many vertices.
pub(super) fn most_pieces_of(arcs: u64, vertices: u64) -> u64 {
    arcs / u64::from(PIECE) + (arcs / u64::from(SHORT_ROW)).min(vertices) + 1
}
