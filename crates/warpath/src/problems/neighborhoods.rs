//! Sizes of neighborhoods: the request and its result.

use super::{Cutoff, Report, VertexSet};
use crate::graph::VertexId;

/// How many vertices each vertex reaches within a distance, itself included: in `k` steps on a graph without weights, within
/// a length by weights, none of which may be below 0.
///
/// Distances count from the vertex, along the arcs, as in igraph's `neighborhood_size(mode="out")`; for those that reach the vertex, transpose
/// the graph. A vertex that lies in another component is in no neighborhood.
///
/// ```
/// use warpath::{Graph, Neighborhoods, Solver};
/// let path = Graph::from_edges([(0, 1), (1, 2), (2, 3)])?;
/// let found = Solver::new(path)?.solve(Neighborhoods::within(2_u32))?;
/// assert_eq!(found.sizes(), [3, 3, 2, 1]);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// Without weights, 256 breadth-first searches share what they read on the CPU, and 512 on a GPU; by weights, each thread of the CPU has
/// a search by Dijkstra's algorithm at a time. All of them end at the distance. Work O(V E) at most without weights, O(V (E + V log V)) by weights, far less
/// where neighborhoods are small. Memory of a thread 108 bytes a vertex without weights; by weights 9 or 13 a vertex, and 16 or 32 an arc at most.
///
/// Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal".
#[derive(Debug, Clone)]
pub struct Neighborhoods {
    pub(crate) cutoff: Cutoff,
    pub(crate) sources: Option<Vec<VertexId>>,
}

impl Neighborhoods {
    /// Of every vertex, with all vertices at most this far away.
    pub fn within(cutoff: impl Into<Cutoff>) -> Self {
        Neighborhoods { cutoff: cutoff.into(), sources: None }
    }

    /// Of these vertices alone, in this order, repeats included.
    pub fn from(mut self, sources: impl VertexSet) -> Self {
        self.sources = Some(sources.into_vertices());
        self
    }
}

/// The result of [`Neighborhoods`].
#[derive(Debug, Clone)]
pub struct NeighborhoodSizes {
    pub(crate) sizes: Vec<u64>,
    pub(crate) report: Report,
}

impl NeighborhoodSizes {
    /// How many vertices each neighborhood has: by vertex, or in the order of the vertices that were asked for.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }

    /// The same, handed over.
    pub fn into_sizes(self) -> Vec<u64> {
        self.sizes
    }

    /// How they were found.
    pub fn report(&self) -> &Report {
        &self.report
    }
}
