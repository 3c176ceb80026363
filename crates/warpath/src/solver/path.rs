//! One path from one vertex to another.

use super::Solver;
use crate::cpu::sssp::bidirectional::{fewest_arcs, shortest_path};
use crate::graph::{Csr, DistanceValue, I32Lane, U32Wide, VertexId, WeightKind};
use crate::problems::{Path, Sssp};
use crate::{Engine, Error, Result};

impl Solver<'_> {
    /// A shortest path from one vertex to another; `None` if there is none.
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
    /// let path = warpath::Solver::new(&graph)?.path(0, 2)?.expect("2 is reachable");
    /// assert_eq!(path.vertices(), [0, 1, 2]);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// Its length is the one that [`Solver::sssp`] gives. Of several shortest paths it may be another one, since the
    /// search runs from both ends where it can: integer weights of 0 or more or none, and arcs that can be followed
    /// backwards without work (an undirected graph, or [`Graph::transpose`](crate::Graph::transpose) was called
    /// before). Elsewhere it is a search that stops at the target.
    ///
    /// # Errors
    ///
    /// If a vertex does not exist, there is a negative cycle, memory does not suffice, or the caller cancels.
    pub fn path(&self, from: VertexId, to: VertexId) -> Result<Option<Path>> {
        self.checked(&[from], "source")?;
        self.checked(&[to], "target")?;
        if !self.searches_from_both_ends() {
            return Ok(self.solve(Sssp::from(from).to(to))?.path_to(to));
        }
        let path = match self.graph.weight_kind() {
            WeightKind::Unit => {
                let (forward, backward) = (self.graph.csr().unweighted(), self.graph.transpose().unweighted());
                let found = fewest_arcs(forward, backward, from, to, &self.control)?;
                as_path(found.path)
            }
            WeightKind::I32 => self.path_both_ways::<I32Lane>(from, to, i64::saturating_add)?,
            _ => self.path_both_ways::<U32Wide>(from, to, u64::saturating_add)?,
        };
        self.graph.check_intact()?;
        Ok(path)
    }

    /// Whether [`Solver::path`] searches from both ends on this graph; that is never done on a GPU.
    pub fn searches_from_both_ends(&self) -> bool {
        let floats = matches!(self.graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
        let on_cpu = !matches!(self.engine, Engine::Cuda(_));
        on_cpu && !floats && self.graph.has_transpose() && !self.graph.has_negative_weights()
    }

    fn path_both_ways<L: crate::graph::Lane>(
        &self,
        from: VertexId,
        to: VertexId,
        add: impl Fn(L::Distance, L::Distance) -> L::Distance + Copy,
    ) -> Result<Option<Path>> {
        let typed = |csr: &'_ Csr| csr.adjacency::<L::Weight>().is_some();
        debug_assert!(typed(self.graph.csr()) && typed(self.graph.transpose()));
        let (Some(forward), Some(backward)) =
            (self.graph.csr().adjacency::<L::Weight>(), self.graph.transpose().adjacency::<L::Weight>())
        else {
            return Err(Error::invalid("the graph has weights of another type"));
        };
        Ok(as_path(shortest_path::<L>(forward, backward, from, to, add, &self.control)?.path))
    }
}

fn as_path<D: DistanceValue>(found: Option<(Vec<VertexId>, D)>) -> Option<Path> {
    let (vertices, length) = found?;
    Some(Path::new(vertices, length.distance()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Graph;
    use crate::testing::{Random, TestWeight, graphs_of_every_shape};

    fn paths_are_shortest<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (name, graph) in graphs_of_every_shape::<W>(seed) {
            graph.transpose();
            let solver = Solver::builder(&graph).threads(1).open().unwrap();
            for _ in 0..12 {
                let count = graph.vertices() as u64;
                let (from, to) = (random.below(count) as VertexId, random.below(count) as VertexId);
                let tree = solver.sssp(from).unwrap();
                let path = solver.path(from, to).unwrap();
                assert_eq!(path.as_ref().map(Path::length), tree.distance(to), "{name} {from} {to}");
                let Some(path) = path else { continue };
                assert_eq!((path.vertices().first(), path.vertices().last()), (Some(&from), Some(&to)));
                // Every edge exists, and (rounding aside) each prefix is as long as the distance to its end.
                for (u, v) in path.edges() {
                    assert!(graph.neighbors(u).contains(&v), "{name} {from} {to}");
                    let (_, _, weight) = graph
                        .edges()
                        .filter(|edge| (edge.0, edge.1) == (u, v))
                        .min_by(|a, b| a.2.total_cmp(&b.2))
                        .unwrap();
                    let (near, far) = (tree.distance(u).unwrap().to_f64(), tree.distance(v).unwrap().to_f64());
                    if graph.weight_kind() != WeightKind::F32 && graph.weight_kind() != WeightKind::F64 {
                        assert_eq!(near + weight, far, "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn paths_are_shortest_with_every_weight() {
        paths_are_shortest::<crate::graph::Unit>(21);
        paths_are_shortest::<u32>(22);
        paths_are_shortest::<i32>(23);
        paths_are_shortest::<f32>(24);
        paths_are_shortest::<f64>(25);
    }

    #[test]
    fn negative_weights_and_missing_vertices() {
        let graph = Graph::from_edges([(0, 1, 5), (1, 2, -7), (0, 2, 1)]).unwrap();
        let solver = Solver::new(&graph).unwrap();
        assert_eq!(solver.path(0, 2).unwrap().unwrap().vertices(), [0, 1, 2]);
        assert!(solver.path(2, 0).unwrap().is_none());
        assert!(solver.path(0, 3).is_err() && solver.path(9, 0).is_err());
    }
}
