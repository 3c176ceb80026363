//! Rows of consecutive vertices, as files of rows give them.

use crate::graph::{VertexId, Weights};

/// The rows of consecutive vertices: as [`Csr`](crate::graph::Csr), with offsets that count from the first of these rows.
#[derive(Debug, Clone)]
pub struct RowRange {
    /// Where each row begins, and where the last one ends.
    pub offsets: Vec<u64>,
    /// The heads of the arcs.
    pub targets: Vec<VertexId>,
    /// The weights of the arcs.
    pub weights: Weights,
}
