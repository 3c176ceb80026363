//! One path from one vertex to another.

use std::time::Instant;

use super::{Solver, hierarchy, sssp};
use crate::cpu::sssp::bidirectional::{PathOutcome, fewest_arcs, shortest_path};
use crate::graph::{Csr, DistanceValue, I32ToI64, MinPlus, U32ToU64, UnitToU32, VertexId, WeightKind};
use crate::problems::{Path, Report, Seconds, Sssp};
use crate::{Engine, Error, Result};

impl Solver {
    /// A shortest path from one vertex to another; `None` if there is none.
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
    /// let path = warpath::Solver::new(graph)?.path(0, 2)?.expect("2 is reachable");
    /// assert_eq!(path.vertices(), [0, 1, 2]);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// Its length is the distance that [`Solver::sssp`] gives. If there are several shortest paths, it may be a
    /// different one, since the search runs from both ends where it can: if there are no weights, or integers of 0 or
    /// more, and arcs can be followed backwards without work (an undirected graph, or
    /// [`Graph::transpose`](crate::Graph::transpose) was called before). Elsewhere the search runs from `from` and
    /// stops at the target. Where the solver has a [hierarchy](crate::SolverBuilder::hierarchy) whose lengths are known, or
    /// soon are, the path comes from it.
    ///
    /// # Errors
    ///
    /// If a vertex does not exist, there is a negative cycle, memory does not suffice, or the caller cancels.
    pub fn path(&self, from: VertexId, to: VertexId) -> Result<Option<Path>> {
        Ok(self.path_and_report(from, to)?.0)
    }

    /// The answer of [`Solver::path`], and how it was found.
    ///
    /// ```
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
    /// let (path, report) = warpath::Solver::new(graph)?.path_and_report(0, 2)?;
    /// assert_eq!(path.unwrap().edges().len(), 2);
    /// assert_eq!(report.engine, "cpu");
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Solver::path`].
    pub fn path_and_report(&self, from: VertexId, to: VertexId) -> Result<(Option<Path>, Report)> {
        self.answer(|| self.path_here(from, to))
    }

    fn path_here(&self, from: VertexId, to: VertexId) -> Result<(Option<Path>, Report)> {
        self.checked(&[from], "source")?;
        self.checked(&[to], "target")?;
        // Two searches from both ends settle about half of what one does.
        let otherwise = sssp::seconds_here(self, sssp::choose(&self.graph).0, 1) / 2.0;
        if let Some(reason) = self.pairs_pay(1, otherwise) {
            return self.path_up_the_hierarchy(from, to, reason);
        }
        if !self.searches_from_both_ends() {
            let tree = self.solve_here(Sssp::from(from).to(to))?;
            return Ok((tree.path_to(to), tree.report));
        }
        let start = Instant::now();
        let (path, mut report) = match self.graph.weight_kind() {
            WeightKind::Unit => {
                let (forward, backward) = (self.graph.csr().unweighted(), self.graph.transpose()?.unweighted());
                self.met::<UnitToU32>(fewest_arcs(forward, backward, from, to, &self.control)?)
            }
            WeightKind::I32 => self.path_both_ways::<I32ToI64>(from, to)?,
            _ => self.path_both_ways::<U32ToU64>(from, to)?,
        };
        report.seconds = Seconds { solve: start.elapsed().as_secs_f64(), ..Default::default() };
        Ok((path, report))
    }

    fn path_up_the_hierarchy(&self, from: VertexId, to: VertexId, reason: String) -> Result<(Option<Path>, Report)> {
        let start = Instant::now();
        let metric = self.metric()?;
        let prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let path = metric.path(from, to)?;
        let report = Report {
            engine: "cpu".into(),
            engine_reason: self.engine_reason("walks up a hierarchy are quickest there"),
            algorithm: hierarchy::NAME.into(),
            reason,
            semiring: metric.number_types(),
            seconds: Seconds { prepare, solve: start.elapsed().as_secs_f64(), ..Default::default() },
            ..Default::default()
        };
        Ok((path, report))
    }

    /// Why a path is looked for on the CPU: unless it was asked for, this.
    fn engine_reason(&self, otherwise: &str) -> String {
        if matches!(self.engine, Engine::Cpu) { "asked for" } else { otherwise }.into()
    }

    /// Whether [`Solver::path`] searches from both ends on this graph; that is never done on a GPU.
    fn searches_from_both_ends(&self) -> bool {
        let floats = matches!(self.graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
        let on_cpu = !matches!(self.engine, Engine::Cuda(_));
        on_cpu && !floats && self.graph.has_transpose() && !self.graph.has_negative_weights()
    }

    fn path_both_ways<L: MinPlus>(&self, from: VertexId, to: VertexId) -> Result<(Option<Path>, Report)> {
        let typed = |csr: &'_ Csr| csr.adjacency::<L::Weight>().is_some();
        let by_head = self.graph.transpose()?;
        debug_assert!(typed(self.graph.csr()) && typed(by_head));
        let (Some(forward), Some(backward)) =
            (self.graph.csr().adjacency::<L::Weight>(), by_head.adjacency::<L::Weight>())
        else {
            return Err(Error::invalid("the graph has weights of another type"));
        };
        Ok(self.met::<L>(shortest_path::<L>(forward, backward, from, to, &self.control)?))
    }

    /// The path that two searches found when they met, and the report without the time.
    fn met<L: MinPlus>(&self, found: PathOutcome<L::Distance>) -> (Option<Path>, Report) {
        let report = Report {
            engine: "cpu".into(),
            engine_reason: self.engine_reason("only there are searches from both ends"),
            algorithm: "bidirectional".into(),
            reason: "arcs can be followed backwards, too, and two searches that meet settle fewer vertices".into(),
            semiring: L::NAME,
            statistics: vec![("settled", found.settled)],
            ..Default::default()
        };
        let path = found.path.and_then(|(vertices, length)| Some(Path::new(vertices, length.distance()?)));
        (path, report)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::Graph;
    use crate::testing::{Random, TestWeight, graphs_of_every_shape};

    fn paths_are_shortest<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (name, graph) in graphs_of_every_shape::<W>(seed) {
            let graph = Arc::new(graph);
            graph.transpose().unwrap();
            let solver = Solver::builder(graph.clone()).threads(1).open().unwrap();
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
    fn a_path_comes_with_a_report() {
        let graph = Arc::new(Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)]).unwrap());
        let solver = Solver::new(graph.clone()).unwrap();
        let (path, report) = solver.path_and_report(0, 2).unwrap();
        assert_eq!(path, solver.path(0, 2).unwrap());
        let tree = solver.solve(Sssp::from(0).to(2)).unwrap();
        assert_eq!((&report.engine, report.semiring), (&tree.report().engine, tree.report().semiring));
        assert_eq!((&report.algorithm, &report.statistics), (&tree.report().algorithm, &tree.report().statistics));
        graph.transpose().unwrap();
        for (engine, reason) in [(Engine::Cpu, "asked for"), (Engine::Auto, "only there are searches from both ends")] {
            let solver = Solver::builder(graph.clone()).engine(engine).open().unwrap();
            let (path, report) = solver.path_and_report(0, 2).unwrap();
            assert_eq!(path.unwrap().vertices(), [0, 1, 2]);
            assert_eq!(
                (&*report.engine, &*report.algorithm, report.semiring),
                ("cpu", "bidirectional", U32ToU64::NAME)
            );
            assert_eq!(report.engine_reason, reason);
            assert!(matches!(report.statistics[..], [("settled", 1..=3)]), "{report:?}");
            assert!(report.seconds.solve > 0.0);
        }
    }

    #[test]
    fn negative_weights_and_missing_vertices() {
        let graph = Graph::from_edges([(0, 1, 5), (1, 2, -7), (0, 2, 1)]).unwrap();
        let solver = Solver::new(graph.clone()).unwrap();
        assert_eq!(solver.path(0, 2).unwrap().unwrap().vertices(), [0, 1, 2]);
        assert!(solver.path(2, 0).unwrap().is_none());
        assert!(solver.path(0, 3).is_err() && solver.path(9, 0).is_err());
    }
}
