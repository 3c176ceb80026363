//! Graphs made from graphs: transposes, other weights, other directions.

use std::ops::Range;

use rayon::prelude::*;

use super::bucket_sort::{Arcs, sort_by_tail};
use super::{
    Csr, Direction, EdgeList, Graph, GraphBuilder, Labels, NO_VERTEX, VertexId, Weight, Weights,
    weakly_connected_components, with_weights,
};
use crate::{Error, Result, memory};

impl Csr {
    /// The arcs by head, in O(V + E). Rows come out ascending, since tails are visited in order. An error if there is
    /// too little memory.
    pub(crate) fn transposed(&self) -> Result<Csr> {
        with_weights!(self.weights(), values => self.transposed_with(values))
    }

    fn transposed_with<W: Weight>(&self, weights: &[W]) -> Result<Csr> {
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
        Ok(sort_by_tail(self.vertices(), parts, false)?.0)
    }
}

/// The arcs of some rows, turned round.
struct Reversed<'a, W> {
    csr: &'a Csr,
    weights: &'a [W],
    tails: Range<VertexId>,
}

impl<W: Weight> Arcs<W> for Reversed<'_, W> {
    fn about(&self) -> usize {
        let starts = [self.tails.start, self.tails.end].map(|v| self.csr.offsets()[v as usize]);
        (starts[1] - starts[0]) as usize
    }

    fn for_each(&self, mut visit: impl FnMut(VertexId, VertexId, W)) -> Result<()> {
        for tail in self.tails.clone() {
            let row = self.csr.row(tail);
            for (&head, &weight) in self.csr.targets()[row.clone()].iter().zip(&self.weights[row]) {
                visit(head, tail, weight);
            }
        }
        Ok(())
    }
}

impl Graph {
    /// The same graph without weights.
    pub fn without_weights(self) -> Graph {
        let arcs = self.arcs();
        self.with_trusted_weights(Weights::unit(arcs))
    }

    /// The same graph with weights that are right by construction: as many as arcs, finite, the same both ways.
    pub(crate) fn with_trusted_weights(self, weights: Weights) -> Graph {
        let (directed, counts) = (self.is_directed(), self.input_counts());
        let (csr, labels) = self.into_parts();
        let (offsets, targets, _) = csr.into_arrays();
        Graph::from_parts(Csr::trusted(offsets, targets, weights), directed, labels, counts)
    }

    /// The same graph with other weights, in arc order.
    ///
    /// # Errors
    ///
    /// If their number is not the number of arcs, a float is not finite, or the graph is undirected and the two arcs
    /// of an edge differ.
    pub fn with_weights(self, weights: Weights) -> Result<Graph> {
        self.check_weights(&weights)?;
        self.with_trusted_weights(weights).with_equal_directions()
    }

    /// A copy with other weights, in arc order. O(V + E).
    ///
    /// # Errors
    ///
    /// As [`Graph::with_weights`], and [`Error::OutOfMemory`].
    pub(crate) fn reweighted(&self, weights: Weights) -> Result<Graph> {
        const WHAT: &str = "the graph with other weights";
        self.check_weights(&weights)?;
        let (offsets, targets) = (self.csr().offsets(), self.csr().targets());
        let csr = Csr::trusted(memory::copied(WHAT, offsets)?, memory::copied(WHAT, targets)?, weights);
        Graph::from_parts(csr, self.is_directed(), self.labels().clone(), self.input_counts()).with_equal_directions()
    }

    /// An error unless there are as many of these weights as arcs, and all are finite.
    fn check_weights(&self, weights: &Weights) -> Result<()> {
        if weights.len() != self.arcs() {
            return Err(Error::invalid(format!("{} weights for {} arcs", weights.len(), self.arcs())));
        }
        weights.check()
    }

    /// An error if the graph is undirected and the two arcs of an edge differ.
    fn with_equal_directions(self) -> Result<Graph> {
        if self.is_directed() || self.csr().is_symmetric() {
            return Ok(self);
        }
        Err(Error::invalid("the graph is undirected, but the two directions of some edge have different weights"))
    }

    /// The same vertices and edges, with or without direction: undirected stores each arc both ways, merging by
    /// minimum; directed keeps the arcs as they are stored.
    ///
    /// # Errors
    ///
    /// As [`GraphBuilder::build`](crate::GraphBuilder::build).
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

    /// The same graph with every arc turned round, so that a search from a vertex finds the distances *to* that vertex.
    /// In its result, the predecessor of a vertex is the next vertex on the way there. An undirected graph stays as it is.
    /// O(V + E), with the arcs of both graphs in memory meanwhile. The arcs by tail of this graph, which are the arcs by
    /// head of the other, are dropped, unless [`Graph::transpose`] has been called.
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7)])?.reversed()?;
    /// let to_the_last = warpath::Solver::new(graph)?.sssp(2)?;
    /// assert_eq!(to_the_last.distance(0).unwrap().to_f64(), 12.0);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Graph::transpose`].
    pub fn reversed(self) -> Result<Graph> {
        let keep = self.has_transpose();
        self.transpose()?;
        Ok(self.with_arcs_turned(keep))
    }

    /// The part of the graph within its largest weakly connected component (the first of several), with the names of
    /// its vertices, in their order. O(V + E).
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 3), (1, 4), (4, 2)])?.largest_component()?;
    /// assert_eq!((graph.vertices(), graph.name(0)), (3, "1".into()));
    /// assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 2, 1.0), (2, 1, 1.0)]);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Graph::from_csr`], or if there is too little memory.
    pub fn largest_component(self) -> Result<Graph> {
        let components = weakly_connected_components(&self)?;
        if components.count <= 1 {
            return Ok(self);
        }
        let largest = components.largest()?;
        let mut kept = memory::with_capacity("the list of vertices", self.vertices())?;
        kept.extend((0..self.vertices() as VertexId).filter(|&v| Some(components.of[v as usize]) == largest));
        let labels = self.labels().of_vertices(&kept)?;
        let csr = with_weights!(self.weights(), values => within(self.csr(), values, &kept)?);
        Graph::from_csr(csr, self.is_directed(), labels)
    }

    /// The arcs as `(from, to, weight)` with typed weights, by tail then head; `None` if they have another type.
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 0, 7)])?;
    /// assert!(graph.edges_of::<u32>().is_some_and(|edges| edges.eq([(0, 1, 5), (1, 0, 7)])));
    /// assert!(graph.edges_of::<f64>().is_none());
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn edges_of<W: Weight>(&self) -> Option<impl Iterator<Item = (VertexId, VertexId, W)> + '_> {
        let adjacency = self.csr().adjacency::<W>()?;
        let tails = 0..self.vertices() as VertexId;
        Some(tails.flat_map(move |u| adjacency.edges(u).map(move |(v, weight)| (u, v, weight))))
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

/// The rows of `kept`, which are ascending and closed under arcs, renumbered by their position.
fn within<W: Weight>(csr: &Csr, values: &[W], kept: &[VertexId]) -> Result<Csr> {
    let mut position = memory::filled("the positions of vertices", csr.vertices(), NO_VERTEX)?;
    kept.iter().zip(0..).for_each(|(&v, place)| position[v as usize] = place);
    let arcs = kept.iter().map(|&v| csr.row(v).len()).sum();
    let mut offsets = memory::with_capacity("offsets of vertices", kept.len() + 1)?;
    let mut heads = memory::with_capacity("heads of arcs", arcs)?;
    let mut weights = memory::with_capacity("weights of arcs", arcs)?;
    offsets.push(0);
    for &v in kept {
        heads.extend(csr.neighbors(v).iter().map(|&head| position[head as usize]));
        weights.extend_from_slice(&values[csr.row(v)]);
        offsets.push(heads.len() as u64);
    }
    Ok(Csr::trusted(offsets, heads, W::into_weights(weights)))
}

fn rebuild<W: Weight>(graph: &Graph, values: &[W], direction: Direction) -> Result<Graph> {
    GraphBuilder::new()
        .labels(Labels::clone(graph.labels()))
        .direction(direction)
        .build(vec![EdgeList { edges: edges(graph.csr())?, weights: memory::copied("weights of arcs", values)? }])
}

/// Tail and head of every arc, by tails.
fn edges(csr: &Csr) -> Result<Vec<(VertexId, VertexId)>> {
    let mut edges = memory::with_capacity("the list of edges", csr.arcs())?;
    edges.par_extend(
        (0..csr.vertices() as VertexId)
            .into_par_iter()
            .flat_map_iter(|u| csr.neighbors(u).iter().map(move |&v| (u, v))),
    );
    Ok(edges)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{ParallelEdges, StringLabels};
    use crate::testing::graphs_of_every_shape;

    #[test]
    fn the_transpose_has_every_arc_backwards() {
        for (name, graph) in graphs_of_every_shape::<u32>(1) {
            let mut expected: Vec<_> = graph.edges().map(|(u, v, weight)| (v, u, weight as u32)).collect();
            expected.sort_unstable();
            let csr = graph.csr().transposed().unwrap();
            assert!(Csr::new(csr.offsets().to_vec(), csr.targets().to_vec(), csr.weights().clone()).is_ok());
            let backwards = csr.adjacency::<u32>().unwrap();
            let mut found: Vec<_> = (0..graph.vertices() as u32)
                .flat_map(|v| backwards.edges(v).map(move |(u, weight)| (v, u, weight)))
                .collect();
            found.sort_unstable();
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn a_reversed_graph_has_every_arc_backwards_and_its_names() {
        for (name, graph) in graphs_of_every_shape::<i32>(3) {
            let reversed = graph.clone().reversed().unwrap();
            let mut expected: Vec<_> = graph.edges().map(|(u, v, weight)| (v, u, weight as i64)).collect();
            let mut found: Vec<_> = reversed.edges().map(|(u, v, weight)| (u, v, weight as i64)).collect();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{name}");
            assert!((0..graph.vertices() as VertexId).all(|v| graph.name(v) == reversed.name(v)), "{name}");
            assert_eq!((reversed.is_directed(), reversed.input_counts()), (graph.is_directed(), graph.input_counts()));
            // Only one set of arcs is kept, unless both were there before; and twice is the graph itself.
            assert_eq!(reversed.has_transpose(), !graph.is_directed(), "{name}");
            let arcs_bytes = |graph: &Graph| graph.csr().owned_bytes() + graph.labels().owned_bytes();
            assert_eq!(reversed.owned_bytes(), arcs_bytes(&reversed), "{name}");
            assert_eq!(reversed.transpose().unwrap().offsets(), graph.csr().offsets(), "{name}");
            let again = reversed.reversed().unwrap();
            assert!(again.has_transpose() && again.edges().eq(graph.edges()), "{name}");
        }
    }

    #[test]
    fn directions_can_be_dropped_and_taken_up() {
        for (name, graph) in graphs_of_every_shape::<f64>(2) {
            let undirected = graph.clone().with_direction(Direction::Undirected).unwrap();
            let (csr, labels) = undirected.clone().into_parts();
            assert!(Graph::from_csr(csr, false, labels).is_ok(), "{name}: symmetric");
            let arcs = undirected.arcs();
            assert!(graph.edges().all(|(u, v, _)| undirected.neighbors(v).contains(&u)), "{name}");
            let directed = undirected.with_direction(Direction::Directed).unwrap();
            assert_eq!((directed.is_directed(), directed.arcs()), (true, arcs), "{name}");
        }
    }

    #[test]
    fn weights_are_replaced_only_by_fitting_ones() {
        let edge = || GraphBuilder::new().direction(Direction::Undirected).build_from([(0, 1, 2_u32)]).unwrap();
        assert!(edge().with_weights(Weights::F32(vec![1.0])).is_err(), "too few");
        assert!(edge().with_weights(Weights::F32(vec![1.0, 2.0])).is_err(), "not the same both ways");
        assert!(edge().with_weights(Weights::F32(vec![f32::NAN; 2])).is_err());
        let graph = edge().with_weights(Weights::F32(vec![1.5; 2])).unwrap();
        assert_eq!(graph.weight_range(), (1.5, 1.5));
        assert_eq!(graph.without_weights().edges().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 0, 1.0)]);
    }

    #[test]
    fn the_largest_component_keeps_names_and_weights() {
        let mut names = StringLabels::new();
        for name in ["a", "b", "c", "d", "e"] {
            names.intern(name).unwrap();
        }
        let builder = GraphBuilder::new().labels(Labels::Strings(names)).parallel_edges(ParallelEdges::Keep);
        let graph = builder.build_from([(0, 1, 9_u32), (4, 2, 5), (2, 3, 6), (2, 3, 7), (3, 3, 1)]).unwrap();
        let largest = graph.largest_component().unwrap();
        let edges: Vec<_> = largest.edges().map(|(u, v, w)| (largest.name(u), largest.name(v), w)).collect();
        let expected = [("c", "d", 6.0), ("c", "d", 7.0), ("d", "d", 1.0), ("e", "c", 5.0)];
        assert!(edges.iter().map(|(u, v, w)| (&**u, &**v, *w)).eq(expected));
        assert_eq!(largest.vertex("e").unwrap(), 2);
        let gaps = GraphBuilder::new().labels(Labels::Integers(vec![3, 5, 8])).build_from([(0, 2)]).unwrap();
        let largest = gaps.largest_component().unwrap();
        assert_eq!((largest.name(1), largest.vertex("5").is_err()), ("8".into(), true));
    }

    #[test]
    fn every_shape_has_a_connected_largest_component() {
        for (name, graph) in graphs_of_every_shape::<i32>(4) {
            let sizes = weakly_connected_components(&graph).unwrap().sizes().unwrap();
            let largest = graph.clone().largest_component().unwrap();
            assert_eq!(Some(largest.vertices() as u64), sizes.into_iter().max(), "{name}");
            assert_eq!(weakly_connected_components(&largest).unwrap().count, 1, "{name}");
            let ids = |v: VertexId| graph.vertex(&largest.name(v)).unwrap();
            assert!(largest.edges().all(|(u, v, _)| graph.neighbors(ids(u)).contains(&ids(v))), "{name}");
        }
    }

    #[test]
    fn wrong_slices_are_refused() {
        let ok = |indptr: &[i64], indices: &[i32]| {
            Graph::from_csr_slices(indptr, indices, &vec![1_u32; indices.len()]).is_ok()
        };
        assert!(ok(&[0], &[]) && ok(&[0, 1], &[0]) && ok(&[0, 2, 2], &[1, 0]));
        for (indptr, indices) in [
            (&[][..], &[][..]),
            (&[1, 1], &[0]),
            (&[0, 2], &[0]),
            (&[0, 1, 0, 1], &[0]),
            (&[0, -1, 1], &[0]),
            (&[0, 9, 1], &[0]),
            (&[0, 1], &[1]),
            (&[0, 1], &[-1]),
        ] {
            assert!(!ok(indptr, indices), "{indptr:?} {indices:?}");
        }
        assert!(Graph::from_csr_slices(&[0_u64, 1], &[0_u32], &[0.5_f32, 1.0]).is_err());
    }
}
