//! All-pairs shortest paths: the request. Its result is a [`DistanceMatrix`], or whatever a [`RowSink`] makes of the
//! rows.

use super::{RowSink, VertexSet};
use crate::graph::VertexId;

/// Distances from all or some sources to all or some targets.
///
/// ```
/// use warpath::{Apsp, Graph, Solver};
/// let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
/// let solver = Solver::new(graph)?;
/// let matrix = solver.solve(Apsp::all())?;
/// assert_eq!(matrix.distance(0, 2).unwrap().to_f64(), 12.0);
/// assert_eq!(matrix.distance(2, 0), None);
/// matrix.verify(solver.graph())?;
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// A matrix takes `sources * targets` distances of memory. Where that is too much, [`Apsp::into_sink`] hands the rows
/// out in blocks: to a file ([`NpyWriter`](super::NpyWriter)), or to be reduced
/// ([`RowReductions`](super::RowReductions)).
#[derive(Debug, Clone, Default)]
pub struct Apsp {
    pub(crate) sources: Option<Vec<VertexId>>,
    pub(crate) targets: Option<Vec<VertexId>>,
    pub(crate) algorithm: Option<String>,
    pub(crate) verified: bool,
    pub(crate) successors: bool,
    pub(crate) intermediates: bool,
}

impl Apsp {
    /// From every vertex to every vertex.
    pub fn all() -> Self {
        Self::default()
    }

    /// Only from these sources: row `i` belongs to the `i`-th source, in the order given, repeats included.
    pub fn from(mut self, sources: impl VertexSet) -> Self {
        self.sources = Some(sources.into_vertices());
        self
    }

    /// Only to these targets: column `j` belongs to the `j`-th target, in the order given, repeats included.
    pub fn to(mut self, targets: impl VertexSet) -> Self {
        self.targets = Some(targets.into_vertices());
        self
    }

    /// Solve by this algorithm instead of the algorithm predicted fastest: a name from
    /// [`Engine::algorithms`](crate::Engine::algorithms), with parameters as in `batched:rows=1024`.
    pub fn algorithm(mut self, algorithm: impl Into<String>) -> Self {
        self.algorithm = Some(algorithm.into());
        self
    }

    /// Check the certificate of every row as soon as it is computed, before anything uses it: O(V + E) a row. Rows that
    /// are not kept can only be verified this way. A matrix can also be verified afterwards.
    pub fn verified(mut self) -> Self {
        self.verified = true;
        self
    }

    /// Also find the first vertex after each source on the path to every vertex;
    /// [`DistanceMatrix::found_successors`](super::DistanceMatrix::found_successors) returns them.
    ///
    /// Successors are derived from final distances, with much less work than the distances take. The GPU derives them
    /// if it holds an integer matrix in one piece and has room for successors beside it; otherwise the host does, for
    /// example for rows computed by searches and for a matrix in strips. A matrix of floats by Floyd-Warshall or a
    /// hierarchy takes a search for each row. Rows that go into a sink have no successors.
    ///
    /// ```
    /// use warpath::{Apsp, Graph, Solver};
    /// let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
    /// let matrix = Solver::new(graph)?.solve(Apsp::all().with_successors())?;
    /// assert_eq!(matrix.found_successors().unwrap().get(0, 2), Some(1));
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn with_successors(mut self) -> Self {
        self.successors = true;
        self
    }

    /// Also keep the vertex over which the path of each pair of vertices was last shortened, whatever columns are asked
    /// for, from all vertices that the sources reach: `katz-kider` finds these as it works, and
    /// [`DistanceMatrix::path_over_intermediates`](super::DistanceMatrix::path_over_intermediates) gathers paths from
    /// them. They may be other shortest paths than those of [`DistanceMatrix::path`](super::DistanceMatrix::path).
    pub fn with_intermediates(mut self) -> Self {
        self.intermediates = true;
        self
    }

    /// Hand the rows to `sink`, in blocks, instead of keeping the matrix.
    pub fn into_sink(self, sink: &mut dyn RowSink) -> ApspIntoSink<'_> {
        ApspIntoSink { request: self, sink, begun: false }
    }
}

/// The request that [`Apsp::into_sink`] makes; its answer is an [`ApspSummary`](super::ApspSummary).
pub struct ApspIntoSink<'s> {
    pub(crate) request: Apsp,
    pub(crate) sink: &'s mut dyn RowSink,
    /// Whether the sink has received rows.
    pub(crate) begun: bool,
}

impl std::fmt::Debug for ApspIntoSink<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("ApspIntoSink").field("request", &self.request).finish_non_exhaustive()
    }
}
