//! A path from a source to a target.

use crate::graph::{Distance, VertexId};

/// A shortest path: its vertices from source to target, and its length.
#[derive(Debug, Clone, PartialEq)]
pub struct Path {
    vertices: Vec<VertexId>,
    length: Distance,
}

impl Path {
    /// A path over at least one vertex.
    pub(crate) fn new(vertices: Vec<VertexId>, length: Distance) -> Self {
        debug_assert!(!vertices.is_empty());
        Path { vertices, length }
    }

    /// The sum of the path's weights, or its number of edges after a breadth-first search.
    pub fn length(&self) -> Distance {
        self.length
    }

    /// Its vertices, source and target included.
    pub fn vertices(&self) -> &[VertexId] {
        &self.vertices
    }

    /// Its edges, from the source on.
    pub fn edges(&self) -> impl ExactSizeIterator<Item = (VertexId, VertexId)> + '_ {
        self.vertices.windows(2).map(|pair| (pair[0], pair[1]))
    }
}
