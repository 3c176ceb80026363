//! Lists of edges, and their parts that threads work on at once.

use std::ops::Range;
use std::sync::Arc;

use super::{Unit, VertexId, Weight};

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

/// Part of a list of edges. A list is freed with its last part.
pub(super) struct Part<W> {
    list: Arc<EdgeList<W>>,
    range: Range<usize>,
}

impl<W: Weight> Part<W> {
    pub(super) fn len(&self) -> usize {
        self.range.len()
    }

    pub(super) fn edges(&self) -> &[(VertexId, VertexId)] {
        &self.list.edges[self.range.clone()]
    }

    pub(super) fn weights(&self) -> &[W] {
        &self.list.weights[self.range.clone()]
    }
}

/// Parts of at most 2^20 edges, in order; fewer under Miri.
pub(super) fn parts<W: Weight>(lists: Vec<EdgeList<W>>) -> Vec<Part<W>> {
    const PART: usize = if cfg!(miri) { 1 << 7 } else { 1 << 20 };
    let mut parts = Vec::new();
    for list in lists.into_iter().map(Arc::new) {
        let length = list.edges.len().min(list.weights.len());
        let starts = (0..length).step_by(PART);
        parts.extend(starts.map(|start| Part { list: list.clone(), range: start..(start + PART).min(length) }));
    }
    parts
}

/// The weight, 0 where it is -0 (which compares equal to 0 but has other bits).
#[inline]
pub(crate) fn without_negative_zero<W: Weight>(weight: W) -> W {
    if weight == W::default() { W::default() } else { weight }
}
