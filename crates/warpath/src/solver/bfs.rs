//! Breadth-first search: choosing the algorithm, running it, making the result.

use std::sync::Mutex;
use std::time::Instant;

use super::{Request, RequestEach, Solver, plan_search, trim_to_ball};
use crate::Result;
use crate::cpu::bfs::{ALGORITHMS, BfsTask, UNREACHED, batch_width, choose, levels_of_many, memory_of_many};
use crate::cpu::parse_algorithm;
use crate::graph::{Distances, Graph, Lane, UnitLane, VertexId};
use crate::plan::Plan;
use crate::problems::{
    Bfs, Problem, Report, Seconds, ShortestPathTree, count_shortest_paths, derive_bfs_predecessors, derive_predecessors,
};

impl Request for Bfs {
    type Answer = ShortestPathTree;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        let graph = solver.graph;
        let mut plan = plan_search(solver, 4, self.distances_only);
        if self.count_paths {
            plan.memory("path counts", 20 * graph.vertices() as u64);
        }
        if !graph.has_transpose() && (self.count_paths || self.named(|algorithm| algorithm.needs_transpose)) {
            plan.memory("the arcs by head", transpose_bytes(graph));
        }
        Ok(plan)
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ShortestPathTree> {
        let graph = solver.graph;
        let sources = solver.checked_sources(&self.sources)?;
        let targets = solver.checked(&self.targets, "target")?;
        let (name, reason) = match &self.algorithm {
            Some(name) => (name.as_str(), "asked for".to_owned()),
            None => choose(graph),
        };
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name)?;
        let cutoff = self.cutoff.unwrap_or(UNREACHED);
        let start = Instant::now();
        if self.count_paths || (algorithm.needs_transpose && self.algorithm.is_some()) {
            solver.team.install(|| graph.transpose());
        }
        let prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let outcome = (algorithm.solve)(&BfsTask {
            graph,
            sources: &sources,
            targets: &targets,
            cutoff,
            parameters: &parameters,
            team: &solver.team,
            control: &solver.control,
        })?;
        let seconds = Seconds { prepare, solve: start.elapsed().as_secs_f64(), predecessors: 0.0 };
        let report = Report {
            engine: "cpu".into(),
            algorithm: name.into(),
            reason,
            lane: UnitLane::NAME,
            repeated_wide: false,
            seconds,
            statistics: outcome.statistics,
        };
        Ok(self.tree(solver, sources, &targets, outcome.levels, report))
    }
}

impl Bfs {
    /// Whether an algorithm was asked for by name, and has this property.
    fn named(&self, property: impl Fn(&crate::cpu::bfs::BfsAlgorithm) -> bool) -> bool {
        let name = self.algorithm.as_deref().map(|text| text.split(':').next().unwrap_or(text));
        ALGORITHMS.iter().any(|algorithm| Some(algorithm.info.name) == name && property(algorithm))
    }

    /// The result, from levels that are right within the cutoff and the farthest target.
    fn tree(
        &self,
        solver: &Solver<'_>,
        sources: Vec<VertexId>,
        targets: &[VertexId],
        mut levels: Vec<u32>,
        mut report: Report,
    ) -> ShortestPathTree {
        let graph = solver.graph;
        let bound = trim_to_ball(&mut levels, targets, self.cutoff.unwrap_or(UNREACHED));
        let start = Instant::now();
        let predecessors = (!self.distances_only).then(|| {
            solver.team.install(|| {
                if graph.has_transpose() {
                    derive_bfs_predecessors(graph.transpose(), &levels)
                } else {
                    derive_predecessors::<UnitLane>(graph.csr().unweighted(), &sources, &levels, false)
                }
            })
        });
        if predecessors.is_some() {
            report.seconds.predecessors = start.elapsed().as_secs_f64();
        }
        let start = Instant::now();
        let path_counts =
            self.count_paths.then(|| solver.team.install(|| count_shortest_paths(graph.transpose(), &levels)));
        if path_counts.is_some() {
            report.seconds.solve += start.elapsed().as_secs_f64();
        }
        let distances = Distances::U32(levels);
        ShortestPathTree { problem: Problem::Bfs, sources, distances, predecessors, path_counts, bound, report }
    }
}

/// What [`Graph::transpose`] takes.
fn transpose_bytes(graph: &Graph) -> u64 {
    8 * graph.vertices() as u64 + graph.arcs() as u64 * (4 + graph.weight_kind().bytes())
}

impl RequestEach for Bfs {
    fn solve_each_on(
        mut self,
        solver: &Solver<'_>,
        receive: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()> {
        let graph = solver.graph;
        solver.checked_sources(&self.sources)?;
        let sources = std::mem::take(&mut self.sources);
        let threads = solver.team.threads();
        // Half of the memory for the searches, a quarter for their results until it is their turn. A row in a batch
        // takes 1.4 bytes a vertex, a result 4.
        let transpose = if graph.has_transpose() { 0 } else { transpose_bytes(graph) };
        let memory = solver.memory.saturating_sub(transpose) / 8;
        let width = batch_width(graph, sources.len(), threads, memory);
        if self.algorithm.is_some() || !self.targets.is_empty() || width == 0 {
            for source in sources {
                receive(solver.solve(Bfs { sources: vec![source], ..self.clone() })?)?;
            }
            return Ok(());
        }
        let start = Instant::now();
        solver.team.install(|| graph.transpose());
        let mut prepare = start.elapsed().as_secs_f64();
        for block in sources.chunks(width * threads) {
            let start = Instant::now();
            let rows: Vec<Mutex<Vec<u32>>> = block.iter().map(|_| Mutex::default()).collect();
            let emit = |index: usize, levels: &[u32]| {
                *rows[index].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = levels.to_vec();
                Ok(())
            };
            levels_of_many(graph, block, width, &solver.team, &solver.control, &emit)?;
            let solve = start.elapsed().as_secs_f64() / block.len() as f64;
            for (&source, row) in block.iter().zip(rows) {
                let report = Report {
                    engine: "cpu".into(),
                    algorithm: "multi-source".into(),
                    reason: format!("{} sources share their reads", sources.len()),
                    lane: UnitLane::NAME,
                    repeated_wide: false,
                    seconds: Seconds { prepare: std::mem::take(&mut prepare), solve, predecessors: 0.0 },
                    statistics: vec![("searches_in_a_batch", width as u64)],
                };
                let levels = row.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
                solver.control.check()?;
                receive(self.tree(solver, vec![source], &[], levels, report))?;
            }
        }
        Ok(())
    }

    fn plan_each(&self, solver: &Solver<'_>) -> Result<Plan> {
        let graph = solver.graph;
        let threads = solver.team.threads();
        let mut plan = self.plan(solver)?;
        let width = batch_width(graph, self.sources.len(), threads, solver.memory / 8);
        if self.algorithm.is_none() && self.targets.is_empty() && width > 0 {
            plan.memory("searches that run together", memory_of_many(graph, width, threads));
            plan.memory("their results", (width * threads * graph.vertices()) as u64 * 4);
        }
        Ok(plan)
    }
}
