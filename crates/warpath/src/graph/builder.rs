//! From lists of edges to compressed sparse rows: a parallel counting sort by tail, then a sort within each row.

use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::{Csr, Graph, InputCounts, Labels, MAX_VERTICES, Unit, VertexId, Weight};
use crate::{Error, Result};

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

/// Edges with weights of one type, in input order. `edges` and `weights` have the same length.
#[derive(Debug, Clone, Default)]
pub struct EdgeList<W> {
    /// Tails and heads.
    pub edges: Vec<(VertexId, VertexId)>,
    /// The weight of each edge; a list of [`Unit`] takes no memory.
    pub weights: Vec<W>,
}

impl<W: Weight> EdgeList<W> {
    /// An empty list.
    pub fn new() -> Self {
        EdgeList { edges: Vec::new(), weights: Vec::new() }
    }

    /// Adds an edge.
    #[inline]
    pub fn push(&mut self, from: VertexId, to: VertexId, weight: W) {
        self.edges.push((from, to));
        self.weights.push(weight);
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.edges.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.edges.is_empty()
    }
}

/// An edge as a tuple: `(from, to)` or `(from, to, weight)`.
pub trait Edge {
    /// The type of its weight.
    type Weight: Weight;
    /// Tail, head and weight.
    fn parts(self) -> (VertexId, VertexId, Self::Weight);
}

impl Edge for (VertexId, VertexId) {
    type Weight = Unit;
    fn parts(self) -> (VertexId, VertexId, Unit) {
        (self.0, self.1, Unit)
    }
}

impl<W: Weight> Edge for (VertexId, VertexId, W) {
    type Weight = W;
    fn parts(self) -> (VertexId, VertexId, W) {
        self
    }
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
}

impl GraphBuilder {
    /// Directed, self-loops kept, parallel arcs merged by minimum, as many vertices as the greatest id asks for.
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

    /// Builds from tuples; see [`Graph::from_edges`].
    pub fn build_from<E: Edge>(self, edges: impl IntoIterator<Item = E>) -> Result<Graph> {
        let mut list = EdgeList::new();
        for edge in edges {
            let (from, to, weight) = edge.parts();
            list.push(from, to, weight);
        }
        self.build(vec![list])
    }

    /// Builds from lists of edges, in O(V + E log(degree)) work; the lists are freed on the way.
    ///
    /// # Errors
    ///
    /// If an id is not below the number of vertices declared, there are too many vertices, or a float weight is NaN
    /// or infinite. A weight of -0 becomes 0.
    pub fn build<W: Weight>(self, chunks: Vec<EdgeList<W>>) -> Result<Graph> {
        let greatest =
            chunks.par_iter().map(|chunk| chunk.edges.par_iter().map(|&(u, v)| u.max(v)).max()).max().flatten();
        let needed = greatest.map_or(0, |id| u64::from(id) + 1);
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
        let bad = chunks.par_iter().flat_map_iter(|chunk| &chunk.weights).find_any(|w| !w.to_f64().is_finite());
        if let Some(weight) = bad {
            return Err(Error::invalid(format!("a weight of {weight} is not a number to add up")));
        }
        let labels = self.labels.unwrap_or(Labels::range(0, vertices));
        let lines = chunks.iter().map(|chunk| chunk.len() as u64).sum();
        let self_loops = chunks.par_iter().map(|c| c.edges.iter().filter(|(u, v)| u == v).count() as u64).sum();
        let undirected = self.direction == Direction::Undirected;
        let drop_loops = self.self_loops == SelfLoops::Drop;
        let (csr, arcs_before) = sort_by_tail(vertices as usize, chunks, undirected, drop_loops, self.parallel_edges);
        let parallel = arcs_before - csr.arcs() as u64;
        let parallel = match self.parallel_edges {
            ParallelEdges::MergeByMinimum => parallel,
            ParallelEdges::Keep => count_parallel(&csr),
        };
        Ok(Graph::from_parts(csr, !undirected, labels, InputCounts { lines, self_loops, parallel }))
    }
}

fn count_parallel(csr: &Csr) -> u64 {
    (0..csr.vertices() as VertexId)
        .into_par_iter()
        .with_min_len(1024)
        .map(|v| csr.neighbors(v).windows(2).filter(|pair| pair[0] == pair[1]).count() as u64)
        .sum()
}

/// A pointer that threads share, each writing where no other does.
struct SharedSlots<T>(*mut T);
// SAFETY: users write disjoint slots only; see the uses.
unsafe impl<T: Send> Sync for SharedSlots<T> {}

impl<T> SharedSlots<T> {
    /// # Safety
    ///
    /// `index` is in range and no other thread touches this slot.
    #[inline]
    unsafe fn write(&self, index: usize, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.0.add(index).write(value) }
    }
}

/// Rows sorted by head then weight, and the number of arcs before parallel ones were merged.
fn sort_by_tail<W: Weight>(
    vertices: usize,
    chunks: Vec<EdgeList<W>>,
    undirected: bool,
    drop_loops: bool,
    parallel_edges: ParallelEdges,
) -> (Csr, u64) {
    let keep = |u: VertexId, v: VertexId| !(drop_loops && u == v);
    // 1. Count the arcs of each tail.
    let cursors: Vec<AtomicU64> = (0..vertices + 1).map(|_| AtomicU64::new(0)).collect();
    chunks.par_iter().for_each(|chunk| {
        for &(u, v) in chunk.edges.iter().filter(|&&(u, v)| keep(u, v)) {
            cursors[u as usize].fetch_add(1, Ordering::Relaxed);
            if undirected && u != v {
                cursors[v as usize].fetch_add(1, Ordering::Relaxed);
            }
        }
    });
    // 2. Prefix sums make them starts.
    let mut offsets = Vec::with_capacity(vertices + 1);
    let mut total = 0;
    for cursor in &cursors {
        offsets.push(total);
        total += cursor.swap(total, Ordering::Relaxed);
    }
    // 3. Scatter.
    let mut arcs: Vec<(VertexId, W)> = Vec::with_capacity(total as usize);
    let slots = SharedSlots(arcs.as_mut_ptr());
    let scatter = |u: VertexId, v: VertexId, weight: W| {
        let slot = cursors[u as usize].fetch_add(1, Ordering::Relaxed);
        // SAFETY: step 1 counted every arc that comes here, so each gets a slot of its own below `total`.
        unsafe { slots.write(slot as usize, (v, weight)) };
    };
    chunks.into_par_iter().for_each(|chunk| {
        for (&(u, v), &weight) in chunk.edges.iter().zip(&chunk.weights).filter(|&(&(u, v), _)| keep(u, v)) {
            let weight = without_negative_zero(weight);
            scatter(u, v, weight);
            if undirected && u != v {
                scatter(v, u, weight);
            }
        }
    });
    // SAFETY: all `total` slots were written.
    unsafe { arcs.set_len(total as usize) };
    // 4. Sort each row, and drop repeats: the first of equal heads has the least weight.
    let mut rows: Vec<&mut [(VertexId, W)]> = Vec::with_capacity(vertices);
    let mut rest = arcs.as_mut_slice();
    for pair in offsets.windows(2) {
        let (row, after) = rest.split_at_mut((pair[1] - pair[0]) as usize);
        rows.push(row);
        rest = after;
    }
    let merge = parallel_edges == ParallelEdges::MergeByMinimum;
    let kept: Vec<u64> = rows
        .into_par_iter()
        .with_min_len(256)
        .map(|row| {
            row.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal)));
            if merge { dedup_front(row) } else { row.len() as u64 }
        })
        .collect();
    // 5. Close the gaps, splitting heads from weights.
    let kept_total: u64 = kept.iter().sum();
    let mut targets = Vec::with_capacity(kept_total as usize);
    let mut weights = Vec::with_capacity(kept_total as usize);
    let mut kept_offsets = Vec::with_capacity(vertices + 1);
    kept_offsets.push(0);
    for (v, &count) in kept.iter().enumerate() {
        let start = offsets[v] as usize;
        for &(head, weight) in &arcs[start..start + count as usize] {
            targets.push(head);
            weights.push(weight);
        }
        kept_offsets.push(targets.len() as u64);
    }
    (Csr::trusted(kept_offsets, targets, W::into_weights(weights.into())), total)
}

/// Moves the first arc of each head to the front of the sorted row; returns how many there are.
fn dedup_front<W: Copy>(row: &mut [(VertexId, W)]) -> u64 {
    let mut kept = 0;
    for index in 0..row.len() {
        if index == 0 || row[index].0 != row[kept - 1].0 {
            row[kept] = row[index];
            kept += 1;
        }
    }
    kept as u64
}

/// The weight, 0 where it is -0 (which compares equal to 0 but has other bits).
fn without_negative_zero<W: Weight>(weight: W) -> W {
    if weight == W::default() { W::default() } else { weight }
}
