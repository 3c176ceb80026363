//! Shortest paths between pairs of vertices: the request and its result.

use super::{Path, Report};
use crate::graph::{Distance, VertexId};

/// Shortest paths from one vertex to another, for many pairs at once.
///
/// Pairs of the same source share a search, which ends when the targets of all of them are settled. The searches run
/// side by side on all threads of the CPU.
///
/// ```
/// use warpath::{Graph, Pairs, Solver};
/// let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
/// let found = Solver::new(graph)?.solve(Pairs::of([(0, 2), (2, 0), (1, 1)]))?;
/// assert_eq!(found.distance(0).unwrap().to_f64(), 12.0);
/// assert_eq!(found.path(0).unwrap().vertices(), [0, 1, 2]);
/// assert_eq!((found.distance(1), found.path(1)), (None, None));
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// Work: a search for each source, at most. Memory: the arrays of a search for each thread, and the paths.
#[derive(Debug, Clone, Default)]
pub struct Pairs {
    pub(crate) pairs: Vec<(VertexId, VertexId)>,
    pub(crate) distances_only: bool,
    pub(crate) verified: bool,
    pub(crate) algorithm: Option<String>,
}

impl Pairs {
    /// From the first vertex of each pair to the second; repeats are allowed.
    pub fn of(pairs: impl IntoIterator<Item = (VertexId, VertexId)>) -> Self {
        Pairs { pairs: pairs.into_iter().collect(), ..Default::default() }
    }

    /// Leave out the paths, and find their lengths alone.
    pub fn distances_only(mut self) -> Self {
        self.distances_only = true;
        self
    }

    /// Check the certificate of every search as soon as it is done: O(V + E) a search.
    pub fn verified(mut self) -> Self {
        self.verified = true;
        self
    }

    /// Search by this algorithm instead of the algorithm predicted fastest: a name from
    /// [`Engine::algorithms`](crate::Engine::algorithms), with parameters as in `delta-stepping:delta=100`.
    pub fn algorithm(mut self, algorithm: impl Into<String>) -> Self {
        self.algorithm = Some(algorithm.into());
        self
    }
}

/// The paths that [`Pairs`] asks for, in the order of the pairs.
#[derive(Debug, Clone)]
pub struct PathsOfPairs {
    pub(crate) pairs: Vec<(VertexId, VertexId)>,
    pub(crate) distances: Vec<Option<Distance>>,
    /// Empty if the request left the paths out.
    pub(crate) paths: Vec<Option<Path>>,
    pub(crate) report: Report,
}

impl PathsOfPairs {
    /// The pairs, in the order of the request.
    pub fn pairs(&self) -> &[(VertexId, VertexId)] {
        &self.pairs
    }

    /// The distance from the source of a pair to its target; `None` if the target can't be reached.
    ///
    /// # Panics
    ///
    /// If there are not so many pairs.
    pub fn distance(&self, pair: usize) -> Option<Distance> {
        self.distances[pair]
    }

    /// The path of a pair, as [`ShortestPathTree::path_to`](super::ShortestPathTree::path_to) has it; `None` if the
    /// target can't be reached, or if the request left the paths out.
    ///
    /// # Panics
    ///
    /// If there are not so many pairs.
    pub fn path(&self, pair: usize) -> Option<&Path> {
        assert!(pair < self.pairs.len(), "pair {pair} of {}", self.pairs.len());
        self.paths.get(pair)?.as_ref()
    }

    /// The number of pairs whose target can be reached.
    pub fn reachable(&self) -> usize {
        self.distances.iter().flatten().count()
    }

    /// How the result was made; its counters are sums over the searches.
    pub fn report(&self) -> &Report {
        &self.report
    }
}
