//! Breadth-first search: the request. Its result is a [`ShortestPathTree`](super::ShortestPathTree).

use super::VertexSet;
use crate::graph::VertexId;

/// The number that stands for the distance of an unreached vertex in an array of distances in edges.
pub const UNREACHED: u32 = u32::MAX;

/// A breadth-first search: the least number of edges from the nearest source to every vertex, weights ignored.
///
/// ```
/// use warpath::{Bfs, Graph, Solver};
/// let graph = Graph::from_edges([(0, 1), (1, 2), (2, 3)])?;
/// let tree = Solver::new(graph)?.solve(Bfs::from([0, 3]).within(1))?;
/// assert_eq!(tree.reached(), 3);
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Bfs {
    pub(crate) sources: Vec<VertexId>,
    pub(crate) targets: Vec<VertexId>,
    pub(crate) cutoff: Option<u32>,
    pub(crate) distances_only: bool,
    pub(crate) count_paths: bool,
    pub(crate) algorithm: Option<String>,
}

impl Bfs {
    /// From one source, or from the nearest of several.
    pub fn from(sources: impl VertexSet) -> Self {
        Bfs { sources: sources.into_vertices(), ..Default::default() }
    }

    /// Stop when all targets are settled; vertices farther than the farthest target are not reported. If a target can't
    /// be reached, all reachable vertices are reported.
    pub fn to(mut self, targets: impl VertexSet) -> Self {
        self.targets = targets.into_vertices();
        self
    }

    /// Report only vertices at most this many edges away.
    pub fn within(mut self, cutoff: u32) -> Self {
        self.cutoff = Some(cutoff);
        self
    }

    /// Leave out the predecessors; then there are no paths.
    pub fn distances_only(mut self) -> Self {
        self.distances_only = true;
        self
    }

    /// Count the shortest paths to each vertex. Parallel arcs that the graph has kept count as different paths.
    pub fn count_paths(mut self) -> Self {
        self.count_paths = true;
        self
    }

    /// Solve by this algorithm instead of the algorithm predicted fastest: a name from
    /// [`Engine::algorithms`](crate::Engine::algorithms), with parameters as in `direction-optimizing:alpha=14`.
    pub fn algorithm(mut self, algorithm: impl Into<String>) -> Self {
        self.algorithm = Some(algorithm.into());
        self
    }
}
