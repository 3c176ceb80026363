//! The k shortest loopless paths between two vertices.

use std::time::Instant;

use super::decision::{Decision, Manner, Placed, number_types};
use super::semirings::other_weights;
use super::{Request, Solver};
use crate::algorithms::Parameters;
use crate::cpu::sssp::yen::{SeveralPathsTask, shortest_loopless_paths};
use crate::graph::{DistanceValue, MinPlus, with_min_plus};
use crate::problems::{KShortestPaths, Path, Report, Seconds, ShortestPaths};
use crate::team::Team;
use crate::{Engine, Error, Plan, Result};

impl Request for KShortestPaths {
    type Answer = ShortestPaths;
    type Choice = ();

    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<()>> {
        let reason = match solver.engine {
            Engine::Cuda(_) => return Err(Error::invalid("only the CPU finds the k shortest paths")),
            Engine::Cpu => "asked for",
            Engine::Auto => "only there are the k shortest paths",
        };
        self.decide_on_cpu(solver, None, reason.into())
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<()>> {
        let graph = &*solver.graph;
        solver.checked(&[self.from], "source")?;
        solver.checked(&[self.to], "target")?;
        if graph.has_negative_weights() {
            return Err(Error::invalid("the k shortest paths need weights of 0 or more"));
        }
        let vertices = graph.vertices() as u64;
        let mut plan = Plan::new();
        plan.memory("distances to the target", vertices * 8);
        plan.memory("distances, parents and marks", vertices * 16 * solver.team.threads() as u64);
        plan.memory("heaps", graph.arcs() as u64 * 24);
        if !graph.has_transpose() {
            plan.memory("the arcs by head", graph.transpose_bytes());
        }
        let types = number_types(graph, false);
        Ok(Decision {
            placed: Placed::on_cpu(reason),
            algorithm: "yen".into(),
            reason: "spur searches guided by distances to the target".into(),
            parameters: Parameters::default(),
            number_types: &types[types.len() - 1..],
            plan,
            fallback: false,
            manner: Manner::InTurn,
            devices: 1,
            choice: (),
        })
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<()>) -> Result<ShortestPaths> {
        with_min_plus!(solver.graph.weight_kind(), true, S => self.paths_in::<S>(solver, team, decision))
    }
}

impl KShortestPaths {
    fn paths_in<L: MinPlus>(&self, solver: &Solver, team: &Team, decision: &Decision<()>) -> Result<ShortestPaths> {
        let start = Instant::now();
        let graph = &*solver.graph;
        let backward = team.install(|| graph.transpose())?;
        let prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let found = shortest_loopless_paths::<L>(&SeveralPathsTask {
            forward: graph.csr().adjacency::<L::Weight>().ok_or_else(other_weights)?,
            backward: backward.adjacency::<L::Weight>().ok_or_else(other_weights)?,
            from: self.from,
            to: self.to,
            most: self.most,
            team,
            control: &solver.control,
        })?;
        let as_path = |(vertices, length): (_, L::Distance)| {
            let length = length.distance().ok_or(Error::DistanceOverflow { semiring: L::NAME })?;
            Ok(Path::new(vertices, length))
        };
        let paths = found.paths.into_iter().map(as_path).collect::<Result<_>>()?;
        let solve = start.elapsed().as_secs_f64();
        let report = Report {
            semiring: L::NAME,
            seconds: Seconds { prepare, solve, ..Default::default() },
            statistics: found.statistics,
            ..decision.report()
        };
        Ok(ShortestPaths { paths, report })
    }
}

#[cfg(test)]
mod tests;
