//! Breadth-first search: choosing the algorithm, running it, making the result.

use std::time::Instant;

use super::{Request, Search, Solver, attach_distances, plan_search, trim_to_ball};
use crate::Result;
use crate::cpu::bfs::{ALGORITHMS, BfsTask, UNREACHED};
use crate::cpu::parse_algorithm;
use crate::graph::{Distances, Lane, UnitLane, VertexId};
use crate::plan::Plan;
use crate::problems::{Bfs, Problem, Report, Seconds, ShortestPathTree};

impl Search for Bfs {
    fn starting_at(&self, source: VertexId) -> Self {
        Bfs { sources: vec![source], ..self.clone() }
    }
}

impl Request for Bfs {
    type Answer = ShortestPathTree;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        Ok(plan_search(solver, 4, self.distances_only))
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ShortestPathTree> {
        let graph = solver.graph;
        let sources = solver.checked_sources(&self.sources)?;
        let targets = solver.checked(&self.targets, "target")?;
        let name = self.algorithm.as_deref().unwrap_or("sequential");
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name)?;
        let mut seconds = Seconds::default();
        let cutoff = self.cutoff.unwrap_or(UNREACHED);
        let start = Instant::now();
        if algorithm.needs_transpose {
            solver.team.install(|| graph.transpose());
        }
        seconds.prepare = start.elapsed().as_secs_f64();
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
        seconds.solve = start.elapsed().as_secs_f64();
        let mut levels = outcome.levels;
        let bound = trim_to_ball(&mut levels, &targets, cutoff);
        let report = Report {
            engine: "cpu".into(),
            algorithm: name.into(),
            reason: String::new(),
            lane: UnitLane::NAME,
            repeated_wide: false,
            seconds,
            statistics: outcome.statistics,
        };
        let mut tree = ShortestPathTree {
            problem: Problem::Bfs,
            sources,
            distances: Distances::U32(Vec::new()),
            predecessors: None,
            path_counts: None,
            bound,
            report,
        };
        attach_distances::<UnitLane>(solver, graph.csr().unweighted(), &mut tree, levels, self.distances_only);
        Ok(tree)
    }
}
