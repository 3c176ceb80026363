//! A list of edges that is shared out among ranks, in memory.

use warpath::graph::{Labels, Weights};

/// Edges of which each rank has some. Of equal ones the shortest counts.
#[derive(Debug, Clone)]
pub struct ListedEdges {
    /// The number of vertices of all ranks.
    pub vertices: u64,
    /// The number of edges of all ranks.
    pub count: u64,
    /// Whether edges have a direction.
    pub directed: bool,
    /// Whether edges from a vertex to itself are kept.
    pub keeps_loops: bool,
    /// The ends of the edges that this rank has.
    pub edges: Vec<(u64, u64)>,
    /// Their weights.
    pub weights: Weights,
    /// The names of the vertices.
    pub names: VertexNames,
}

/// The names of the vertices of a list.
#[derive(Debug, Clone)]
pub enum VertexNames {
    /// Vertex `v` is named this number plus `v`.
    From(u64),
    /// Numbers with gaps, or words.
    Owned {
        /// The first vertex of each rank, and then the number of vertices.
        starts: Vec<u64>,
        /// The names of the vertices that this rank owns.
        names: Labels,
    },
}
