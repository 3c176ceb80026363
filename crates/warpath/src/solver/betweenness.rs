//! Betweenness centrality: the decision, and the work.

use std::borrow::Cow;
use std::time::Instant;

use super::decision::{Decision, Manner, Placed, number_types};
use super::semirings::other_weights;
use super::{Request, Solver};
use crate::algorithms::Parameters;
use crate::cpu::betweenness::{BetweennessTask, by_levels, by_weights, memory_of_a_thread};
use crate::generate::sample_of_vertices;
use crate::graph::{MinPlus, VertexId, WeightKind, with_min_plus};
use crate::problems::{Betweenness, Report, Seconds, Sources, VertexBetweenness};
use crate::team::Team;
use crate::{Engine, Error, Plan, Result, memory};

impl Request for Betweenness {
    type Answer = VertexBetweenness;
    type Choice = ();

    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<()>> {
        let reason = match solver.engine {
            Engine::Cuda(_) => return Err(Error::invalid("betweenness runs on the CPU only")),
            Engine::Cpu => "asked for",
            Engine::Auto => "betweenness runs on the CPU only",
        };
        self.decide_on_cpu(solver, None, reason.into())
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<()>> {
        let graph = &*solver.graph;
        if let Sources::These(sources) = &self.sources {
            solver.checked(sources, "source")?;
        }
        solver.checked(self.targets.as_deref().unwrap_or_default(), "target")?;
        let by_weights = graph.weight_kind() != WeightKind::Unit;
        if by_weights && graph.arcs() > 0 && solver.weighted_facts().weight_range.0 <= 0.0 {
            return Err(Error::invalid(
                "betweenness needs weights above 0: along arcs of weight 0 paths can't be counted",
            ));
        }
        let vertices = graph.vertices() as u64;
        let searches = match &self.sources {
            Sources::All => graph.vertices(),
            Sources::These(sources) => sources.len(),
            Sources::Sample(count, _) => graph.vertices().min(*count),
        };
        let mut plan = Plan::new();
        plan.memory(
            "counts of paths and sums",
            memory_of_a_thread(graph.csr(), by_weights, self.arcs) * solver.team.threads().min(searches.max(1)) as u64,
        );
        let results = vertices + if self.arcs { graph.arcs() as u64 } else { 0 };
        plan.memory("betweenness, sources and marks of targets", results * 8 + searches as u64 * 8 + vertices);
        let types = number_types(graph, false);
        let reason_of_algorithm =
            if by_weights { "a search by weights from each source" } else { "a breadth-first search from each source" };
        Ok(Decision {
            placed: Placed::on_cpu(reason),
            algorithm: "brandes".into(),
            reason: reason_of_algorithm.into(),
            parameters: Parameters::default(),
            number_types: &types[types.len() - 1..],
            plan,
            fallback: false,
            manner: Manner::InTurn,
            devices: 1,
            choice: (),
        })
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<()>) -> Result<VertexBetweenness> {
        with_min_plus!(solver.graph.weight_kind(), true, S => self.found::<S>(solver, team, decision))
    }
}

impl Betweenness {
    fn found<L: MinPlus>(&self, solver: &Solver, team: &Team, decision: &Decision<()>) -> Result<VertexBetweenness> {
        let start = Instant::now();
        let graph = &*solver.graph;
        let vertices = graph.vertices();
        let sources: Cow<'_, [VertexId]> = match &self.sources {
            Sources::All => memory::listed("the sources", 0..vertices as VertexId)?.into(),
            Sources::These(sources) => sources.as_slice().into(),
            &Sources::Sample(count, seed) => {
                memory::listed("the sources", sample_of_vertices(count, vertices, seed))?.into()
            }
        };
        let marks = |targets: &Vec<VertexId>| -> Result<Vec<bool>> {
            let mut marks = memory::zeroed("marks of targets", vertices)?;
            targets.iter().for_each(|&target| marks[target as usize] = true);
            Ok(marks)
        };
        let targets = self.targets.as_ref().map(marks).transpose()?;
        let task = BetweennessTask {
            graph: graph.csr(),
            sources: &sources,
            targets: targets.as_deref(),
            endpoints: self.endpoints,
            arcs: self.arcs,
            team,
            control: &solver.control,
        };
        let prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let found = match graph.weight_kind() {
            WeightKind::Unit => by_levels(&task)?,
            _ => by_weights::<L>(&task, graph.csr().adjacency::<L::Weight>().ok_or_else(other_weights)?)?,
        };
        let solve = start.elapsed().as_secs_f64();
        let report = Report {
            semiring: L::NAME,
            seconds: Seconds { prepare, solve, ..Default::default() },
            statistics: vec![("searches", sources.len() as u64), ("repeated_searches", found.repeated)],
            ..decision.report()
        };
        Ok(VertexBetweenness {
            vertices: found.vertices,
            arcs: self.arcs.then_some(found.arcs),
            is_sample: matches!(self.sources, Sources::Sample(..)),
            sources: sources.into_owned(),
            is_directed: graph.is_directed(),
            endpoints: self.endpoints,
            report,
        })
    }
}

#[cfg(test)]
mod tests;
