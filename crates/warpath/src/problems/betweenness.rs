//! Betweenness centrality: the request and its result.

use super::Report;
use crate::graph::{Graph, VertexId};

/// How many shortest paths lead through each vertex: betweenness centrality.
///
/// The betweenness of a vertex `v` is the sum, over all pairs of other vertices `s` and `t`, of the share of the shortest paths from `s`
/// to `t` that lead through `v`. Paths differ if their arcs do: parallel arcs count apart, if the graph keeps them. Lengths are by the
/// graph's weights, which must be more than 0, or else by the number of arcs, if it has none. Floats are added along a path and
/// rounded: paths are equally long if these sums are equal, so whole numbers tell ties more reliably.
///
/// ```
/// use warpath::{Betweenness, Graph, Solver};
/// // Both ways round a square lead from one corner to the opposite one.
/// let graph = Graph::from_edges([(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])?;
/// let found = Solver::new(graph)?.solve(Betweenness::new())?;
/// assert_eq!(found.scores(), [0.0, 1.0, 1.0, 3.0, 0.0]);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// On the CPU; on a GPU without weights, and by unsigned integers. O(V E) for all sources breadth-first, O(V E + V^2 log V) by weights; memory of each
/// thread 64 bytes a vertex breadth-first, 80 a vertex and 64 an arc by weights. The result has the same bits for any number of threads, and on a GPU.
///
/// Source: Brandes 2001, "A faster algorithm for betweenness centrality".
#[derive(Debug, Clone, Default)]
pub struct Betweenness {
    pub(crate) sources: Sources,
    pub(crate) targets: Option<Vec<VertexId>>,
    pub(crate) endpoints: bool,
    pub(crate) arcs: bool,
}

/// Over a row, dependencies are added up in the order of its arcs, in pieces that end where the number of an arc among all is a multiple
/// of this; then the sums of the pieces in their order. So every engine rounds alike.
pub(crate) const BETWEENNESS_SEGMENT: usize = 256;

/// Where the paths start.
#[derive(Debug, Clone, Default)]
pub(crate) enum Sources {
    /// At every vertex.
    #[default]
    All,
    /// At these vertices.
    These(Vec<VertexId>),
    /// At so many vertices, drawn at random by this seed.
    Sample(usize, u64),
}

impl Betweenness {
    /// Of every vertex, by the paths between all pairs.
    pub fn new() -> Self {
        Betweenness::default()
    }

    /// Counts only paths from these vertices. A vertex that occurs twice counts twice.
    pub fn from(mut self, sources: impl Into<Vec<VertexId>>) -> Self {
        self.sources = Sources::These(sources.into());
        self
    }

    /// Counts only paths from so many vertices, drawn at random without putting any back, or from all if there are not so many.
    /// [`VertexBetweenness::scores`] are then estimates, and [`VertexBetweenness::error`] says how good these are.
    ///
    /// Source: Brandes and Pich 2007, "Centrality estimation in large networks".
    pub fn sample(mut self, sources: usize, seed: u64) -> Self {
        self.sources = Sources::Sample(sources, seed);
        self
    }

    /// Counts only paths to these vertices.
    pub fn to(mut self, targets: impl Into<Vec<VertexId>>) -> Self {
        self.targets = Some(targets.into());
        self
    }

    /// Counts a path also for the vertices where it starts and ends.
    pub fn with_endpoints(mut self) -> Self {
        self.endpoints = true;
        self
    }

    /// Also finds how many shortest paths lead over each arc. Takes 16 bytes more for each arc and thread.
    pub fn with_arcs(mut self) -> Self {
        self.arcs = true;
        self
    }
}

/// The result of [`Betweenness`].
#[derive(Debug, Clone)]
pub struct VertexBetweenness {
    pub(crate) vertices: Vec<f64>,
    pub(crate) arcs: Option<Vec<f64>>,
    pub(crate) sources: Vec<VertexId>,
    /// Whether the sources stand for all vertices.
    pub(crate) is_sample: bool,
    pub(crate) is_directed: bool,
    pub(crate) endpoints: bool,
    pub(crate) report: Report,
}

impl VertexBetweenness {
    /// The sum over all pairs of source and target, by vertex: in an undirected graph each pair counts both ways.
    pub fn dependencies(&self) -> &[f64] {
        &self.vertices
    }

    /// The same by arc, in the order of the graph's rows, if asked for. In an undirected graph an edge has a number for each direction.
    pub fn arcs(&self) -> Option<&[f64]> {
        self.arcs.as_deref()
    }

    /// The edges of the graph that was asked about, each with its betweenness as igraph and NetworkX have it: the sum of both
    /// directions where it is undirected, and each pair of source and target once. After [`Betweenness::sample`] these are
    /// estimates. Empty unless asked for by [`Betweenness::with_arcs`]. Of parallel edges, the directions belong together in the order of
    /// the rows. O(E).
    ///
    /// # Panics
    ///
    /// If the graph has another number of vertices or arcs.
    pub fn edges(&self, graph: &Graph) -> Vec<(VertexId, VertexId, f64)> {
        let Some(arcs) = &self.arcs else { return Vec::new() };
        assert_eq!(
            (arcs.len(), self.vertices.len()),
            (graph.arcs(), graph.vertices()),
            "another graph was asked about"
        );
        let factor = self.factor();
        let csr = graph.csr();
        let heads = csr.targets();
        let all = || (0..graph.vertices() as VertexId).flat_map(|u| csr.row(u).map(move |arc| (u, arc)));
        if self.is_directed {
            return all().map(|(u, arc)| (u, heads[arc], arcs[arc] * factor)).collect();
        }
        // Rows are in the order of heads, so the arcs back to a vertex come up in the order of its own row.
        let mut back: Vec<usize> = (0..graph.vertices() as VertexId)
            .map(|u| csr.row(u).start + csr.neighbors(u).partition_point(|&v| v <= u))
            .collect();
        let mut both = arcs.clone();
        for (_, arc) in all().filter(|&(u, arc)| heads[arc] < u) {
            let there = &mut back[heads[arc] as usize];
            both[*there] += arcs[arc];
            *there += 1;
        }
        all().filter(|&(u, arc)| u <= heads[arc]).map(|(u, arc)| (u, heads[arc], both[arc] * factor)).collect()
    }

    /// The vertices where the counted paths start.
    pub fn sources(&self) -> &[VertexId] {
        &self.sources
    }

    /// The betweenness of each vertex, as igraph and NetworkX have it: in an undirected graph each pair counts once. After
    /// [`Betweenness::sample`] these are estimates, V / sources times what was counted. O(V).
    pub fn scores(&self) -> Vec<f64> {
        self.scaled(self.factor(), 1.0)
    }

    /// How many pairs a counted pair stands for.
    fn factor(&self) -> f64 {
        let both_ways = if self.is_directed { 1.0 } else { 0.5 };
        // Without sources, all sums are 0.
        let drawn = if self.is_sample { self.vertices.len() as f64 / self.sources.len().max(1) as f64 } else { 1.0 };
        both_ways * drawn
    }

    /// The share of all pairs of other vertices whose shortest paths lead through each vertex, from 0 to 1; with endpoints, of all
    /// pairs of vertices. After [`Betweenness::sample`] these are estimates, of which those above 1 are set to 1. O(V).
    pub fn normalized(&self) -> Vec<f64> {
        let vertices = self.vertices.len() as f64;
        let (starts, ends) = if self.endpoints { (vertices, vertices - 1.0) } else { (vertices - 1.0, vertices - 2.0) };
        let pairs = starts * ends * if self.is_directed { 1.0 } else { 0.5 };
        let mut shares = self.scaled(self.factor(), if ends < 1.0 { 1.0 } else { pairs });
        if self.is_sample {
            shares.iter_mut().for_each(|share| *share = share.min(1.0));
        }
        shares
    }

    fn scaled(&self, factor: f64, pairs: f64) -> Vec<f64> {
        self.vertices.iter().map(|sum| sum * factor / pairs).collect()
    }

    /// How far the [normalized](VertexBetweenness::normalized) betweenness of any vertex is from the exact one at most, with a
    /// probability of 95 % for all vertices together, after [`Betweenness::sample`]; 0 otherwise.
    ///
    /// By Hoeffding's inequality for draws without putting back, since what one source contributes to a vertex is between 0 and V - 2,
    /// and the union bound over the vertices. The true error is mostly a small part of it.
    pub fn error(&self) -> f64 {
        const DOUBT: f64 = 0.05;
        let (vertices, sources) = (self.vertices.len() as f64, self.sources.len() as f64);
        if !self.is_sample || sources >= vertices {
            return 0.0;
        }
        // Serfling's factor: the last of all sources leaves no doubt.
        let left = 1.0 - (sources - 1.0) / vertices;
        let share = ((2.0 * vertices / DOUBT).ln() * left / (2.0 * sources)).sqrt();
        (share * vertices / (vertices - 1.0)).min(1.0)
    }

    /// How it was found.
    pub fn report(&self) -> &Report {
        &self.report
    }
}
