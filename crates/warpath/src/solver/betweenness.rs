//! Betweenness centrality: the decision, and the work.

use std::borrow::Cow;
use std::time::Instant;

use super::costs::Predicted;
use super::decision::{Decision, Manner, Placed, number_types};
use super::semirings::other_weights;
use super::{Request, Solver};
use crate::algorithms::Parameters;
use crate::cpu::betweenness::{BetweennessTask, Dependencies, by_levels, by_weights, memory_of_a_thread};
use crate::cuda::betweenness as cuda;
use crate::generate::sample_of_vertices;
use crate::graph::{Graph, MinPlus, VertexId, WeightKind, with_min_plus};
use crate::problems::{Betweenness, Report, Seconds, Sources, Sums, VertexBetweenness};
use crate::team::Team;
use crate::{Engine, Error, Plan, Result, available_memory, memory};

impl Request for Betweenness {
    type Answer = VertexBetweenness;
    /// At most so many threads of the CPU search.
    type Choice = usize;

    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<usize>> {
        let needs_cpu = Self::needs_cpu(solver);
        if let (Engine::Cuda(_), Some(why)) = (&solver.engine, needs_cpu) {
            return Err(Error::invalid(why));
        }
        let gpu_pays = || match needs_cpu {
            Some(why) => Err(why.to_owned()),
            None => self.gpu_pays(solver),
        };
        let placed = Placed::of(&solver.engine, || false, gpu_pays);
        if placed.is_on_cuda() {
            self.decide_on_cuda(solver, placed)
        } else {
            self.decide_on_cpu(solver, None, placed.reason)
        }
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<usize>> {
        let graph = &*solver.graph;
        self.check(solver)?;
        let by_weights = graph.weight_kind() != WeightKind::Unit;
        let vertices = graph.vertices() as u64;
        let searches = self.searches(graph);
        let threads = solver.team.threads().min(searches.max(1));
        let mut plan = Plan::new();
        plan.memory(
            "counts of paths and sums",
            memory_of_a_thread(graph.csr(), by_weights, self.arcs) * threads as u64,
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
            choice: threads,
        })
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<usize>) -> Result<VertexBetweenness> {
        with_min_plus!(solver.graph.weight_kind(), true, S => self.found::<S>(solver, team, decision))
    }
}

impl Betweenness {
    /// How many searches there are.
    fn searches(&self, graph: &Graph) -> usize {
        match &self.sources {
            Sources::All => graph.vertices(),
            Sources::These(sources) => sources.len(),
            Sources::Sample(count, _) => graph.vertices().min(*count),
        }
    }

    /// An error unless vertices are those of the graph, and paths can be counted.
    fn check(&self, solver: &Solver) -> Result<()> {
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
        Ok(())
    }

    /// Why a GPU does not have what is asked for.
    fn needs_cpu(solver: &Solver) -> Option<&'static str> {
        match solver.graph.weight_kind() {
            WeightKind::Unit | WeightKind::U32 => None,
            _ => Some(
                "betweenness by signed or floating-point weights runs on the CPU only; a GPU has that by unsigned ones",
            ),
        }
    }

    /// Why a GPU is predicted to be quicker, or why not.
    fn gpu_pays(&self, solver: &Solver) -> std::result::Result<String, String> {
        /// Seconds of a thread for an arc, there and back: where the state of vertices does not stay in a cache.
        const OF_ARC: f64 = 12e-9;
        /// The same by weights, with a heap.
        const OF_WEIGHTED_ARC: f64 = 60e-9;
        let (parameters, graph) = (Parameters::default(), &*solver.graph);
        let by_weights = graph.weight_kind() != WeightKind::Unit;
        let searches = self.searches(graph);
        let facts = if by_weights { solver.weighted_facts() } else { solver.graph_facts() };
        let work = solver.workload(facts, &parameters, searches);
        let threads = work.threads.min(searches.max(1)) as f64;
        let of_arc = if by_weights { OF_WEIGHTED_ARC } else { OF_ARC };
        let cpu = searches as f64 * (graph.arcs() + graph.vertices()) as f64 * of_arc / threads;
        if let Some(why) = solver.no_quicker_device(cpu) {
            return Err(why);
        }
        if work.graph.has_short_levels() {
            return Err(if by_weights {
                "on long thin graphs shortest paths have more arcs than a GPU follows quickly".into()
            } else {
                "on long thin graphs there are more shortest paths than a GPU counts exactly".into()
            });
        }
        let of_arc = if by_weights { 12 } else { 4 } + if self.arcs { 16 } else { 0 };
        let copied = (graph.arcs() * of_arc + graph.vertices() * 8) as f64;
        let gpu = cuda::seconds(&work, self.arcs) + solver.seconds_until_ready("betweenness", copied);
        Predicted { gpu, cpu }.gpu_pays(solver, cuda::plan(graph, self.arcs).device_bytes())
    }

    fn decide_on_cuda(&self, solver: &Solver, placed: Placed) -> Result<Decision<usize>> {
        /// Searches that a device hands back are few: they get the threads that do with this part of the memory.
        const HANDED_BACK: u64 = 4;
        self.check(solver)?;
        let graph = &*solver.graph;
        let by_weights = graph.weight_kind() != WeightKind::Unit;
        let mut plan = cuda::plan(graph, self.arcs);
        let searches = self.searches(graph);
        let results = graph.vertices() as u64 + if self.arcs { graph.arcs() as u64 } else { 0 };
        // Sums, the numbers that they become, and marks of targets.
        let of_results = results * (Sums::BYTES + 8) + graph.vertices() as u64;
        plan.memory("betweenness and sources", of_results + searches as u64 * 24);
        let of_a_thread = memory_of_a_thread(graph.csr(), by_weights, self.arcs);
        let most = available_memory() / HANDED_BACK / of_a_thread.max(1);
        let threads = most.clamp(1, solver.team.threads().min(searches.max(1)) as u64) as usize;
        plan.memory("searches that are handed back", of_a_thread * threads as u64);
        let fallback = placed.optional;
        Ok(Decision {
            placed,
            algorithm: "brandes".into(),
            reason: if by_weights {
                "searches by weights, and counts of paths from 32 sources at a time".into()
            } else {
                "breadth-first searches from 32 sources at a time".into()
            },
            parameters: Parameters::default(),
            number_types: &number_types(graph, false)[..1],
            plan,
            fallback,
            manner: Manner::InTurn,
            devices: 1,
            choice: threads,
        })
    }

    fn found<L: MinPlus>(&self, solver: &Solver, team: &Team, decision: &Decision<usize>) -> Result<VertexBetweenness> {
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
        let prepare = start.elapsed().as_secs_f64();
        let task = BetweennessTask {
            graph: graph.csr(),
            sources: &sources,
            targets: targets.as_deref(),
            endpoints: self.endpoints,
            arcs: self.arcs,
            threads: decision.choice,
            team,
            control: &solver.control,
        };
        let report = Report { semiring: L::NAME, ..decision.report() };
        let (found, report) = if decision.placed.is_on_cuda() && vertices > 0 {
            on_cuda::<L>(solver, decision, &task, report)?
        } else {
            let start = Instant::now();
            let found = on_cpu::<L>(graph, &task)?;
            let seconds = Seconds { prepare, solve: start.elapsed().as_secs_f64(), ..Default::default() };
            let statistics = vec![("searches", sources.len() as u64), ("repeated_searches", found.repeated)];
            (found, Report { seconds, statistics, ..report })
        };
        Ok(VertexBetweenness {
            vertices: found.vertices.into_floats()?,
            arcs: found.arcs.map(Sums::into_floats).transpose()?,
            is_sample: matches!(self.sources, Sources::Sample(..)),
            sources: sources.into_owned(),
            is_directed: graph.is_directed(),
            endpoints: self.endpoints,
            report,
        })
    }
}

/// On the CPU.
fn on_cpu<L: MinPlus>(graph: &Graph, task: &BetweennessTask<'_>) -> Result<Dependencies> {
    match graph.weight_kind() {
        WeightKind::Unit => by_levels(task),
        _ => by_weights::<L>(task, graph.csr().adjacency::<L::Weight>().ok_or_else(other_weights)?),
    }
}

/// On a device; the CPU searches from the sources whose counts of paths, or distances, a device does not have exactly.
fn on_cuda<L: MinPlus>(
    solver: &Solver,
    decision: &Decision<usize>,
    task: &BetweennessTask<'_>,
    report: Report,
) -> Result<(Dependencies, Report)> {
    let mut state = solver.device();
    let device = state.device(&solver.engine)?;
    state.give_up_prepared();
    let &BetweennessTask { sources, targets, endpoints, arcs, control, .. } = task;
    let asked = cuda::Task { sources, targets, endpoints, arcs, control };
    let outcome = solver.team.install(|| cuda::solve(&device, &solver.graph, &asked))?;
    // Others may have the device while the CPU does the rest.
    drop(state);
    let [prepare, mut solve, download] = outcome.seconds;
    let start = Instant::now();
    let (vertices, arcs) = (outcome.vertices, outcome.arcs);
    let mut found = Dependencies { vertices, arcs, repeated: outcome.left.len() as u64 };
    if !outcome.left.is_empty() {
        let rest = on_cpu::<L>(&solver.graph, &BetweennessTask { sources: &outcome.left, ..*task })?;
        found.vertices.add_all(&rest.vertices);
        if let (Some(sums), Some(rest)) = (&mut found.arcs, &rest.arcs) {
            sums.add_all(rest);
        }
        solve += start.elapsed().as_secs_f64();
    }
    let statistics = [("searches", task.sources.len() as u64), ("repeated_searches", found.repeated)].into_iter();
    let report = Report {
        engine: format!("cuda:{}", device.properties().ordinal),
        device_bytes: decision.plan.device_bytes(),
        seconds: Seconds { prepare, solve, download, ..Default::default() },
        statistics: statistics.chain(outcome.statistics).collect(),
        ..report
    };
    Ok((found, report))
}

#[cfg(test)]
mod tests;
