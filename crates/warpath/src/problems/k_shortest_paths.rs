//! The k shortest loopless paths between two vertices: the request and its result.

use super::{Path, Report};
use crate::graph::VertexId;

/// The shortest path from one vertex to another, the next shortest, and so on: paths that visit no vertex twice.
///
/// Paths differ if their vertices do: of parallel arcs, the one of least weight counts. They come in the order of their
/// lengths; among paths of equal length the order is the same in every run, and so is the choice if there are more than
/// are asked for. Weights are 0 or more.
///
/// ```
/// use warpath::{Graph, KShortestPaths, Solver};
/// let graph = Graph::from_edges([(0, 1, 1_u32), (1, 3, 1), (0, 2, 1), (2, 3, 2), (1, 2, 5)])?;
/// let found = Solver::new(graph)?.solve(KShortestPaths::between(0, 3).at_most(9))?;
/// let lengths: Vec<f64> = found.paths().iter().map(|path| path.length().to_f64()).collect();
/// assert_eq!(lengths, [2.0, 3.0, 8.0]);
/// assert_eq!(found.paths()[0].vertices(), [0, 1, 3]);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// On the CPU only: Yen's algorithm with Lawler's improvement, one search for each edge of each path, all of them
/// guided by distances to the target. O(k V (E + V log V)) at worst, with far less in a graph of many ways around. Memory:
/// the transpose of a directed graph, 17 bytes a vertex and thread, and at most `k` paths.
///
/// Source: Yen 1971, "Finding the k shortest loopless paths in a network"; Lawler 1972, "A procedure for computing the k
/// best solutions to discrete optimization problems".
#[derive(Debug, Clone)]
pub struct KShortestPaths {
    pub(crate) from: VertexId,
    pub(crate) to: VertexId,
    pub(crate) most: usize,
}

impl KShortestPaths {
    /// From one vertex to another; one path, unless [`KShortestPaths::at_most`] says otherwise.
    pub fn between(from: VertexId, to: VertexId) -> Self {
        KShortestPaths { from, to, most: 1 }
    }

    /// How many paths to find; fewer are found if there are not so many.
    pub fn at_most(mut self, paths: usize) -> Self {
        self.most = paths;
        self
    }
}

/// The paths that [`KShortestPaths`] asks for.
#[derive(Debug, Clone)]
pub struct ShortestPaths {
    pub(crate) paths: Vec<Path>,
    pub(crate) report: Report,
}

impl ShortestPaths {
    /// The paths, the shortest first; none if the target can't be reached.
    pub fn paths(&self) -> &[Path] {
        &self.paths
    }

    /// How the paths were found.
    pub fn report(&self) -> &Report {
        &self.report
    }
}
