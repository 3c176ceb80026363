//! Graphs made from graphs: transposes, other weights, other directions.

use std::ops::Range;

use rayon::prelude::*;

use super::bucket_sort::{Arcs, sort_by_tail};
use super::{Csr, Direction, EdgeList, Graph, GraphBuilder, Labels, VertexId, Weight, Weights, with_weights};
use crate::{Error, Result};

impl Csr {
    /// The arcs by head, in O(V + E). Rows come out ascending, since tails are visited in order.
    pub(crate) fn transposed(&self) -> Csr {
        with_weights!(self.weights(), values => self.transposed_with(values))
    }

    fn transposed_with<W: Weight>(&self, weights: &[W]) -> Csr {
        const PART_ARCS: u64 = 1 << 20;
        let mut parts = Vec::new();
        let mut first = 0;
        while first < self.vertices() {
            let limit = self.offsets()[first] + PART_ARCS;
            let next = self.offsets().partition_point(|&offset| offset <= limit).saturating_sub(1);
            let next = next.clamp(first + 1, self.vertices());
            parts.push(Reversed { csr: self, weights, tails: first as VertexId..next as VertexId });
            first = next;
        }
        sort_by_tail(self.vertices(), parts, false).0
    }
}

/// The arcs of some rows, turned round.
struct Reversed<'a, W> {
    csr: &'a Csr,
    weights: &'a [W],
    tails: Range<VertexId>,
}

impl<W: Weight> Arcs<W> for Reversed<'_, W> {
    fn at_most(&self) -> usize {
        let starts = [self.tails.start, self.tails.end].map(|v| self.csr.offsets()[v as usize]);
        (starts[1] - starts[0]) as usize
    }

    fn for_each(&self, mut visit: impl FnMut(VertexId, VertexId, W)) {
        for tail in self.tails.clone() {
            let row = self.csr.row(tail);
            for (&head, &weight) in self.csr.targets()[row.clone()].iter().zip(&self.weights[row]) {
                visit(head, tail, weight);
            }
        }
    }
}

impl Graph {
    /// The same graph without weights.
    pub fn without_weights(self) -> Graph {
        let (directed, counts) = (self.is_directed(), self.input_counts());
        let (csr, labels) = self.into_parts();
        let (offsets, targets, weights) = csr.into_arrays();
        let csr = Csr::trusted(offsets, targets, Weights::unit(weights.len()));
        Graph::from_parts(csr, directed, labels, counts)
    }

    /// The same graph with other weights, in arc order.
    ///
    /// # Errors
    ///
    /// If their number is not the number of arcs, a float is not finite, or the graph is undirected and the two arcs
    /// of an edge differ.
    pub fn with_weights(self, weights: Weights) -> Result<Graph> {
        let (directed, counts) = (self.is_directed(), self.input_counts());
        let (csr, labels) = self.into_parts();
        if weights.len() != csr.arcs() {
            return Err(Error::invalid(format!("{} weights for {} arcs", weights.len(), csr.arcs())));
        }
        let (offsets, targets, _) = csr.into_arrays();
        let graph = Graph::from_csr(Csr::new(offsets, targets, weights)?, directed, labels)?;
        let (csr, labels) = graph.into_parts();
        Ok(Graph::from_parts(csr, directed, labels, counts))
    }

    /// The same vertices and edges, with or without direction: undirected stores each arc both ways, merging by
    /// minimum; directed keeps the arcs as they are stored.
    pub fn with_direction(self, direction: Direction) -> Result<Graph> {
        let counts = self.input_counts();
        match (self.is_directed(), direction) {
            (true, Direction::Undirected) => with_weights!(self.weights(), values => rebuild(&self, values, direction)),
            (false, Direction::Directed) => {
                let (csr, labels) = self.into_parts();
                Ok(Graph::from_parts(csr, true, labels, counts))
            }
            _ => Ok(self),
        }
    }

    /// The arcs as `(from, to, weight as f64)`, by tail then head.
    pub fn edges(&self) -> impl Iterator<Item = (VertexId, VertexId, f64)> + '_ {
        (0..self.vertices() as VertexId).flat_map(move |u| {
            self.csr().row(u).map(move |arc| {
                let weight = with_weights!(self.weights(), values => values[arc].to_f64());
                (u, self.csr().targets()[arc], weight)
            })
        })
    }
}

fn rebuild<W: Weight>(graph: &Graph, values: &[W], direction: Direction) -> Result<Graph> {
    let csr = graph.csr();
    let edges: Vec<(VertexId, VertexId)> = (0..csr.vertices() as VertexId)
        .into_par_iter()
        .flat_map_iter(|u| csr.neighbors(u).iter().map(move |&v| (u, v)))
        .collect();
    GraphBuilder::new()
        .labels(Labels::clone(graph.labels()))
        .direction(direction)
        .build(vec![EdgeList { edges, weights: values.to_vec() }])
}
