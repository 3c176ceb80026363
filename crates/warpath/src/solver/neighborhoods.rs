//! Sizes of neighborhoods: the decision, and the work.

use std::borrow::Cow;
use std::time::Instant;

use super::costs::{COPYING, Predicted};
use super::decision::{Decision, Manner, Placed, number_types};
use super::semirings::other_weights;
use super::{Request, Solver};
use crate::algorithms::Parameters;
use crate::cpu::neighborhoods::{NeighborhoodsTask, by_levels, by_weights, memory_of_distances, memory_of_levels};
use crate::cuda::level_sums::{self, Wanted};
use crate::graph::{Graph, MinPlus, VertexId, WeightKind, with_min_plus};
use crate::problems::{NeighborhoodSizes, Neighborhoods, Report, Seconds};
use crate::team::Team;
use crate::{Engine, Error, Plan, Result, memory};

impl Request for Neighborhoods {
    type Answer = NeighborhoodSizes;
    type Choice = ();

    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<()>> {
        let is_weighted = solver.graph.weight_kind() != WeightKind::Unit;
        const WHY: &str = "neighborhoods by weights are searched on the CPU only";
        if matches!(solver.engine, Engine::Cuda(_)) && is_weighted {
            return Err(Error::invalid(WHY));
        }
        let gpu_pays = || if is_weighted { Err(WHY.to_owned()) } else { self.gpu_pays(solver) };
        let placed = Placed::of(&solver.engine, || false, gpu_pays);
        if placed.is_on_cuda() {
            self.decide_on_cuda(solver, placed)
        } else {
            self.decide_on_cpu(solver, None, placed.reason)
        }
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<()>> {
        self.check(solver)?;
        let graph = &*solver.graph;
        let searches = self.searches(graph);
        let is_weighted = graph.weight_kind() != WeightKind::Unit;
        let of_a_thread = match is_weighted {
            true => with_min_plus!(graph.weight_kind(), true, S => memory_of_distances::<S>(graph.csr())),
            false => memory_of_levels(graph.csr()),
        };
        let mut plan = Plan::new();
        plan.memory("searches of all threads", of_a_thread * solver.team.threads().min(searches.max(1)) as u64);
        self.plan_result(searches, &mut plan);
        let (algorithm, reason_of_algorithm) = match is_weighted {
            true => ("dijkstra", "a search by weights from each source, to the distance"),
            false => ("batched", "breadth-first searches from up to 256 sources at a time, to the distance"),
        };
        let types = number_types(graph, false);
        Ok(Decision {
            placed: Placed::on_cpu(reason),
            algorithm: algorithm.into(),
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

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<()>) -> Result<NeighborhoodSizes> {
        let graph = &*solver.graph;
        let sources: Cow<'_, [VertexId]> = match &self.sources {
            None => memory::listed("the sources", 0..graph.vertices() as VertexId)?.into(),
            Some(sources) => sources.as_slice().into(),
        };
        if decision.placed.is_on_cuda() && !sources.is_empty() {
            return self.on_cuda(solver, team, decision, &sources);
        }
        let task = NeighborhoodsTask { graph: graph.csr(), sources: &sources, team, control: &solver.control };
        with_min_plus!(graph.weight_kind(), true, S => self.on_cpu::<S>(solver, &task, decision))
    }
}

impl Neighborhoods {
    /// How many searches there are.
    fn searches(&self, graph: &Graph) -> usize {
        self.sources.as_ref().map_or(graph.vertices(), Vec::len)
    }

    /// An error unless vertices are those of the graph, and a search can end at the distance.
    fn check(&self, solver: &Solver) -> Result<()> {
        solver.checked(self.sources.as_deref().unwrap_or_default(), "source")?;
        self.cutoff.in_type::<u64>()?;
        if solver.weighted_facts().has_negative_weights() {
            return Err(Error::invalid(
                "neighborhoods need weights of 0 or more: beyond an arc below 0 there may be nearer vertices",
            ));
        }
        Ok(())
    }

    fn plan_result(&self, searches: usize, plan: &mut Plan) {
        plan.memory("sources and sizes of neighborhoods", searches as u64 * (8 + 4));
    }

    /// The number of arcs at which searches without weights end.
    fn levels(&self) -> Result<u32> {
        self.cutoff.in_type()
    }

    /// Why a GPU is predicted to be quicker, or why not.
    fn gpu_pays(&self, solver: &Solver) -> std::result::Result<String, String> {
        /// Seconds of a thread for an arc that up to 256 searches share, and for a source whatever its neighborhood.
        const OF_ARC: f64 = 8.5e-9;
        const OF_SOURCE: f64 = 1e-6;
        let (parameters, graph) = (Parameters::default(), &*solver.graph);
        let cutoff = self.levels().map_err(|error| error.to_string())?;
        let searches = self.searches(graph);
        let work = solver.workload(solver.graph_facts(), &parameters, searches);
        let threads = work.threads.min(searches.max(1)) as f64;
        // Each search looks at the arcs that it can reach; those of a batch at the arcs of all levels at most.
        let degree = graph.arcs() as f64 / graph.vertices().max(1) as f64;
        let alone = match work.graph.planar_growth {
            Some([near, _]) => near / 4.0 * f64::from(cutoff).powi(2) * degree,
            None => degree * degree_of_heads(graph).max(1.0).powf(f64::from(cutoff) - 1.0),
        };
        let levels = work.levels().min(f64::from(cutoff));
        let of_a_batch = (256.0 * alone).min(levels * graph.arcs() as f64);
        let of_all = (searches as f64 / 256.0).max(threads) * of_a_batch * OF_ARC + searches as f64 * OF_SOURCE;
        let cpu = of_all / threads;
        if let Some(why) = solver.no_quicker_device(cpu) {
            return Err(why);
        }
        let copied = (graph.arcs() * 4 + graph.vertices() * 8) as f64;
        let gpu = level_sums::seconds_within(&work, cutoff) + copied / COPYING + solver.seconds_until_open();
        Predicted { gpu, cpu }.gpu_pays(solver, level_sums::plan(graph, Wanted::sizes(cutoff), 0).device_bytes())
    }

    fn decide_on_cuda(&self, solver: &Solver, placed: Placed) -> Result<Decision<()>> {
        self.check(solver)?;
        let graph = &*solver.graph;
        let available = solver.closing_a_lost_device(solver.allowed_on_device())?;
        let mut plan = level_sums::plan(graph, Wanted::sizes(self.levels()?), available);
        self.plan_result(self.searches(graph), &mut plan);
        plan.memory("sums", 24 * graph.vertices() as u64);
        let fallback = placed.optional;
        Ok(Decision {
            placed,
            algorithm: level_sums::INFO.name.into(),
            reason: "breadth-first searches from up to 512 sources at a time, to the distance".into(),
            parameters: Parameters::default(),
            number_types: &number_types(graph, false)[..1],
            plan,
            fallback,
            manner: Manner::InTurn,
            devices: 1,
            choice: (),
        })
    }

    fn on_cpu<L: MinPlus>(
        &self,
        solver: &Solver,
        task: &NeighborhoodsTask<'_>,
        decision: &Decision<()>,
    ) -> Result<NeighborhoodSizes> {
        let start = Instant::now();
        let sizes = match solver.graph.weight_kind() {
            WeightKind::Unit => by_levels(task, self.levels()?)?,
            _ => {
                let adjacency = task.graph.adjacency::<L::Weight>().ok_or_else(other_weights)?;
                by_weights::<L>(task, adjacency, self.cutoff.in_type()?)?
            }
        };
        let seconds = Seconds { solve: start.elapsed().as_secs_f64(), ..Default::default() };
        let statistics = vec![("searches", task.sources.len() as u64)];
        let report = Report { semiring: L::NAME, seconds, statistics, ..decision.report() };
        Ok(NeighborhoodSizes { sizes, report })
    }

    fn on_cuda(
        &self,
        solver: &Solver,
        team: &Team,
        decision: &Decision<()>,
        sources: &[VertexId],
    ) -> Result<NeighborhoodSizes> {
        let mut state = solver.device();
        let device = state.device(&solver.engine)?;
        state.give_up_prepared();
        let (wanted, bytes) = (Wanted::sizes(self.levels()?), decision.plan.device_bytes());
        let outcome =
            team.install(|| level_sums::solve(&device, &solver.graph, sources, wanted, bytes, &solver.control))?;
        drop(state);
        let [prepare, solve, download] = outcome.seconds;
        let report = Report {
            engine: format!("cuda:{}", device.properties().ordinal),
            semiring: decision.number_types[0],
            seconds: Seconds { prepare, solve, download, ..Default::default() },
            statistics: std::iter::once(("searches", sources.len() as u64)).chain(outcome.statistics).collect(),
            device_bytes: bytes,
            ..decision.report()
        };
        Ok(NeighborhoodSizes { sizes: outcome.sizes, report })
    }
}

/// How many arcs leave the head of a random arc, as if every arc had its reverse. O(V).
fn degree_of_heads(graph: &Graph) -> f64 {
    let squares = graph.csr().offsets().windows(2).map(|row| ((row[1] - row[0]) as f64).powi(2));
    squares.sum::<f64>() / graph.arcs().max(1) as f64
}

#[cfg(test)]
mod tests;
