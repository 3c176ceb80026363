//! From lists of edges to compressed sparse rows. The sorting itself is in [`bucket_sort`](super::bucket_sort).

use rayon::prelude::*;

use super::bucket_sort::{Arcs, SortingBytes, concatenate, sort_by_tail};
use super::edges::{Edge, EdgeList, Part, parts, without_negative_zero};
use super::{Csr, Graph, InputCounts, Labels, MAX_VERTICES, VertexId, Weight, WeightKind};
use crate::{Error, Plan, Result, available_memory, parallel};

/// Whether edges have a direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Each edge is one arc.
    #[default]
    Directed,
    /// Each edge is stored both ways (a self-loop once).
    Undirected,
}

/// What becomes of edges from a vertex to itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelfLoops {
    /// They are kept.
    #[default]
    Keep,
    /// They are dropped.
    Drop,
}

/// What becomes of arcs that have the same ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ParallelEdges {
    /// They become one, of the least weight.
    #[default]
    MergeByMinimum,
    /// All are kept, ascending by weight.
    Keep,
}

/// Makes a [`Graph`] from edges, with every choice spelled out.
///
/// ```
/// use warpath::{GraphBuilder, graph::Direction};
/// let graph = GraphBuilder::new()
///     .vertices(5)
///     .direction(Direction::Undirected)
///     .build_from([(0, 1, 2.5_f64), (1, 0, 1.5)])?;
/// assert_eq!((graph.vertices(), graph.arcs()), (5, 2));
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct GraphBuilder {
    vertices: Option<u64>,
    direction: Direction,
    self_loops: SelfLoops,
    parallel_edges: ParallelEdges,
    labels: Option<Labels>,
    memory: Option<u64>,
}

impl GraphBuilder {
    /// Directed, self-loops kept, parallel arcs merged by minimum, just enough vertices for the greatest id.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares the number of vertices; those without edges are isolated.
    pub fn vertices(mut self, vertices: u64) -> Self {
        self.vertices = Some(vertices);
        self
    }

    /// Whether edges have a direction.
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// What becomes of self-loops.
    pub fn self_loops(mut self, self_loops: SelfLoops) -> Self {
        self.self_loops = self_loops;
        self
    }

    /// What becomes of parallel arcs.
    pub fn parallel_edges(mut self, parallel_edges: ParallelEdges) -> Self {
        self.parallel_edges = parallel_edges;
        self
    }

    /// Names the vertices, and thereby declares their number.
    pub fn labels(mut self, labels: Labels) -> Self {
        self.labels = Some(labels);
        self
    }

    /// The most bytes of memory to take, the edges themselves included; `None` allows all available memory.
    pub(crate) fn memory(mut self, limit: Option<u64>) -> Self {
        self.memory = limit;
        self
    }

    /// Builds from tuples; see [`Graph::from_edges`].
    ///
    /// # Errors
    ///
    /// As [`GraphBuilder::build`].
    pub fn build_from<E: Edge>(self, edges: impl IntoIterator<Item = E>) -> Result<Graph> {
        let mut list = EdgeList::new();
        for edge in edges {
            let (from, to, weight) = edge.parts();
            list.push(from, to, weight);
        }
        self.build(vec![list])
    }

    /// Builds from lists of edges; the lists are freed on the way.
    ///
    /// O(V + E) work if the lists are sorted by tail and head; O(V + E log(degree)) otherwise. Several lists are
    /// worked on at once, a long one in parts.
    ///
    /// # Errors
    ///
    /// If an id is not below the number of vertices declared, there are too many vertices, the graph would not fit into
    /// memory, or a float weight is NaN or infinite. A weight of -0 becomes 0.
    pub fn build<W: Weight>(self, lists: Vec<EdgeList<W>>) -> Result<Graph> {
        let parts = parts(lists);
        let surveys = parallel::collect(parts.len(), |part| Survey::of(parts[part].edges()));
        let survey = surveys.iter().fold(Survey::default(), |all, &part| all.followed_by(part));
        let needed = survey.greatest.map_or(0, |id| u64::from(id) + 1);
        let declared = self.labels.as_ref().map(Labels::len).or(self.vertices);
        let vertices = declared.unwrap_or(needed);
        if needed > vertices {
            return Err(Error::invalid(format!(
                "vertex {} is out of range: there are {vertices} vertices",
                needed - 1
            )));
        }
        if vertices > MAX_VERTICES {
            return Err(Error::invalid(format!(
                "{vertices} vertices are too many; at most {MAX_VERTICES} are possible"
            )));
        }
        let undirected = self.direction == Direction::Undirected;
        let drop_loops = self.self_loops == SelfLoops::Drop && survey.self_loops > 0;
        let sorts = !survey.ascending || undirected || drop_loops;
        let edges = parts.iter().map(|part| part.len() as u64).sum();
        check_memory::<W>(vertices, edges, self.direction, sorts, self.memory)?;
        let is_float = matches!(W::KIND, WeightKind::F32 | WeightKind::F64);
        let bad = |part: &Part<W>| part.weights().iter().copied().find(|w| !w.to_f64().is_finite());
        let floats = if is_float { parts.as_slice() } else { &[] };
        if let Some(weight) = parallel::collect(floats.len(), |part| bad(&floats[part])).into_iter().flatten().next() {
            return Err(Error::invalid(format!("a weight of {weight} is not a number to add up")));
        }
        let labels = self.labels.unwrap_or(Labels::range(0, vertices));
        let lines = parts.iter().map(|part| part.edges().len() as u64).sum();
        let merge = self.parallel_edges == ParallelEdges::MergeByMinimum;
        let (csr, arcs_before) = if sorts {
            for_each_shape(vertices as usize, parts, undirected, drop_loops, merge)?
        } else {
            (concatenate(vertices as usize, parts)?, lines)
        };
        let parallel = if merge { arcs_before - csr.arcs() as u64 } else { count_parallel(&csr) };
        let counts = InputCounts { lines, self_loops: survey.self_loops, parallel };
        Ok(Graph::from_parts(csr, !undirected, labels, counts))
    }
}

impl Graph {
    /// A directed graph from pairs `(from, to)` or triples `(from, to, weight)`, parallel arcs merged by minimum.
    /// It has just enough vertices for the greatest id; [`GraphBuilder`] offers all other choices.
    ///
    /// # Errors
    ///
    /// If an id or a weight is not valid, or there are too many vertices.
    pub fn from_edges<E: Edge>(edges: impl IntoIterator<Item = E>) -> Result<Self> {
        GraphBuilder::new().build_from(edges)
    }
}

/// An error if the arrays of the graph, and those needed to sort its arcs, don't fit into memory.
///
/// The lists of edges are in memory already: they count against a limit, not against the available memory. They are freed
/// when the arcs are in buckets, before these are sorted.
fn check_memory<W: Weight>(
    vertices: u64,
    edges: u64,
    direction: Direction,
    sorts: bool,
    limit: Option<u64>,
) -> Result<()> {
    /// For fewer bytes, finding out the available memory is not worth its cost.
    const SMALL: u64 = 1 << 26;
    let arcs = if direction == Direction::Undirected { edges.saturating_mul(2) } else { edges };
    let arrays = (vertices + 1).saturating_mul(8).saturating_add(arcs.saturating_mul(4 + W::KIND.bytes()));
    let lists = edges.saturating_mul(size_of::<(VertexId, VertexId)>() as u64 + W::KIND.bytes());
    let mut plan = Plan::new();
    plan.memory("offsets and arcs", arrays);
    if sorts {
        let sorting = SortingBytes::of(vertices, arcs, W::KIND.bytes());
        plan.memory("sorting arcs", sorting.arcs.saturating_add(sorting.wave.saturating_sub(lists)));
    }
    if plan.memory_bytes() >= SMALL {
        plan.check(available_memory())?;
    }
    plan.memory("edges as they are given", lists);
    plan.check(limit.unwrap_or(u64::MAX))
}

/// Facts found in one pass over edges.
#[derive(Debug, Clone, Copy, Default)]
struct Survey {
    greatest: Option<VertexId>,
    self_loops: u64,
    /// Whether every edge is greater than the one before.
    ascending: bool,
    ends: Option<[(VertexId, VertexId); 2]>,
}

impl Survey {
    fn of(edges: &[(VertexId, VertexId)]) -> Self {
        let (mut greatest, mut self_loops, mut ascending) = (0, 0, true);
        let key = |(u, v): (VertexId, VertexId)| u64::from(u) << 32 | u64::from(v);
        let mut before = edges.first().map_or(0, |&edge| key(edge));
        for (index, &(u, v)) in edges.iter().enumerate() {
            greatest = greatest.max(u).max(v);
            self_loops += u64::from(u == v);
            ascending &= index == 0 || before < key((u, v));
            before = key((u, v));
        }
        let ends = edges.first().zip(edges.last()).map(|(&first, &last)| [first, last]);
        Survey { greatest: ends.map(|_| greatest), self_loops, ascending, ends }
    }

    /// The facts about these edges and the edges of `next` together.
    fn followed_by(self, next: Survey) -> Self {
        let (Some([first, last]), Some([next_first, next_last])) = (self.ends, next.ends) else {
            return if self.ends.is_none() { next } else { self };
        };
        Survey {
            greatest: self.greatest.max(next.greatest),
            self_loops: self.self_loops + next.self_loops,
            ascending: self.ascending && next.ascending && last < next_first,
            ends: Some([first, next_last]),
        }
    }
}

/// The arcs that edges stand for.
struct Directed<W, const DROP_LOOPS: bool>(Part<W>);
/// The arcs that edges without direction stand for.
struct Undirected<W, const DROP_LOOPS: bool>(Part<W>);

impl<W: Weight, const DROP_LOOPS: bool> Arcs<W> for Directed<W, DROP_LOOPS> {
    fn about(&self) -> usize {
        self.0.len()
    }

    #[inline]
    fn for_each(&self, mut visit: impl FnMut(VertexId, VertexId, W)) -> Result<()> {
        for (&(u, v), &weight) in self.0.edges().iter().zip(self.0.weights()) {
            if !DROP_LOOPS || u != v {
                visit(u, v, without_negative_zero(weight));
            }
        }
        Ok(())
    }
}

impl<W: Weight, const DROP_LOOPS: bool> Arcs<W> for Undirected<W, DROP_LOOPS> {
    fn about(&self) -> usize {
        2 * self.0.len()
    }

    #[inline]
    fn for_each(&self, mut visit: impl FnMut(VertexId, VertexId, W)) -> Result<()> {
        for (&(u, v), &weight) in self.0.edges().iter().zip(self.0.weights()) {
            let weight = without_negative_zero(weight);
            if u != v {
                visit(u, v, weight);
                visit(v, u, weight);
            } else if !DROP_LOOPS {
                visit(u, v, weight);
            }
        }
        Ok(())
    }
}

fn for_each_shape<W: Weight>(
    vertices: usize,
    parts: Vec<Part<W>>,
    undirected: bool,
    drop_loops: bool,
    merge: bool,
) -> Result<(Csr, u64)> {
    match (undirected, drop_loops) {
        (false, false) => sort_by_tail(vertices, parts.into_iter().map(Directed::<W, false>).collect(), merge),
        (false, true) => sort_by_tail(vertices, parts.into_iter().map(Directed::<W, true>).collect(), merge),
        (true, false) => sort_by_tail(vertices, parts.into_iter().map(Undirected::<W, false>).collect(), merge),
        (true, true) => sort_by_tail(vertices, parts.into_iter().map(Undirected::<W, true>).collect(), merge),
    }
}

fn count_parallel(csr: &Csr) -> u64 {
    (0..csr.vertices() as VertexId)
        .into_par_iter()
        .with_min_len(1024)
        .map(|v| csr.neighbors(v).windows(2).filter(|pair| pair[0] == pair[1]).count() as u64)
        .sum()
}
