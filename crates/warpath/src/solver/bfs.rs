//! Breadth-first search: choosing the algorithm, running it, making the result.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use super::{Request, Search, Solver, plan_search, trim_to_ball};
use crate::algorithms::{Parameters, parse_algorithm};
use crate::cpu::bfs::{ALGORITHMS, BfsAlgorithm, BfsTask, UNREACHED, batch_width, choose, levels_of_many, sequential};
use crate::cuda::bfs as cuda;
use crate::graph::{Distances, Graph, Lane, NO_VERTEX, UnitLane, VertexId};
use crate::huge_pages::on_huge_pages;
use crate::plan::Plan;
use crate::problems::{
    Bfs, Problem, Report, Seconds, ShortestPathTree, count_shortest_paths, derive_bfs_predecessors, derive_predecessors,
};
use crate::{Engine, Error, Result};

impl Request for Bfs {
    type Answer = ShortestPathTree;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        let graph = solver.graph;
        let place = self.place(solver);
        let plan = match place.engine {
            Place::Cpu => plan_search(solver, 4, self.distances_only),
            Place::Cuda => self.plan_on_cuda(solver)?,
        };
        Ok(self.with_more(graph, plan))
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ShortestPathTree> {
        let graph = solver.graph;
        let sources = solver.checked_sources(&self.sources)?;
        let targets = solver.checked(&self.targets, "target")?;
        let mut place = self.place(solver);
        if place.engine == Place::Cuda {
            let answer = self.solve_on_cuda(solver, sources.clone(), &targets, place.reason.clone());
            match answer {
                // It was only predicted that the device would do.
                Err(error @ (Error::Device(_) | Error::NoDevice(_) | Error::OutOfMemory { .. })) if place.optional => {
                    self.check_plan_on_cpu(solver)?;
                    place.reason = error.to_string();
                }
                answer => return answer,
            }
        }
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
        let seconds = Seconds { prepare, solve: start.elapsed().as_secs_f64(), ..Default::default() };
        let report = Report {
            engine: "cpu".into(),
            engine_reason: place.reason,
            algorithm: name.into(),
            reason,
            lane: UnitLane::NAME,
            seconds,
            statistics: outcome.statistics,
            ..Default::default()
        };
        Ok(self.tree(solver, sources, &targets, outcome.levels, None, report))
    }
}

/// The engine a search goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Cpu,
    Cuda,
}

/// An engine, and why.
struct Placed {
    engine: Place,
    reason: String,
    /// Whether the other engine would do, too.
    optional: bool,
}

/// What a search is on the CUDA engine.
#[derive(Debug)]
pub(super) struct OnCuda {
    /// The algorithm, with parameters, as text.
    name: String,
    /// Why this one.
    reason: String,
    algorithm: &'static cuda::BfsAlgorithm,
    parameters: Parameters,
    /// What it takes.
    plan: Plan,
}

impl Bfs {
    /// Where this search runs.
    fn place(&self, solver: &Solver<'_>) -> Placed {
        let placed = |engine, reason: &str| Placed { engine, reason: reason.to_owned(), optional: false };
        match &solver.engine {
            Engine::Cpu => placed(Place::Cpu, "asked for"),
            Engine::Cuda(_) => placed(Place::Cuda, "asked for"),
            Engine::Auto => {
                let name = self.algorithm.as_deref().map(|text| text.split(':').next().unwrap_or(text));
                let only_cuda = cuda::ALGORITHMS.iter().any(|algorithm| Some(algorithm.info.name) == name)
                    && !ALGORITHMS.iter().any(|algorithm| Some(algorithm.info.name) == name);
                if only_cuda {
                    return placed(Place::Cuda, "only there is this algorithm");
                }
                match self.gpu_pays(solver) {
                    Ok(reason) => Placed { engine: Place::Cuda, reason, optional: true },
                    Err(reason) => placed(Place::Cpu, &reason),
                }
            }
        }
    }

    /// Whether the searches to come are predicted to be done sooner on a GPU, what has to be made ready there included;
    /// and why, or why not. The device is opened only if it pays.
    fn gpu_pays(&self, solver: &Solver<'_>) -> std::result::Result<String, String> {
        /// Opening a device, in seconds.
        const OPENING: f64 = 0.3;
        /// What one search takes at least, with its launch and its report.
        const SEARCH: f64 = 100e-6;
        /// Bytes a second, to the device and back, from ordinary memory.
        const COPYING: f64 = 10e9;
        /// Arcs and vertices a second, where levels are wide and where they are short.
        const ARCS: f64 = 300e9;
        const VERTICES: f64 = 1e9;
        /// The same for one thread of the CPU.
        const CPU_ARCS: f64 = 1.3e9;
        const CPU_VERTICES: f64 = 65e6;
        if let Some(reason) = crate::cuda::plainly_absent() {
            return Err(reason);
        }
        let graph = solver.graph;
        let Ok(chosen) = self.on_cuda(solver) else {
            return Err("only the CPU has this algorithm, with these parameters".into());
        };
        let (vertices, arcs) = (graph.vertices() as f64, graph.arcs() as f64);
        let (on_cpu, on_gpu) = match (choose(graph).0 == sequential::ALGORITHM.info.name, chosen.algorithm.info.name) {
            (true, "multi-hop") => (vertices / CPU_VERTICES, vertices / VERTICES),
            (true, _) => (vertices / CPU_VERTICES, arcs / ARCS),
            (false, _) => (arcs / CPU_ARCS / solver.team.threads() as f64, arcs / ARCS),
        };
        let bytes = chosen.plan.device_bytes();
        let mut state = solver.cuda();
        let searches = state.searches_to_come() as f64;
        let ready = if state.has_prepared(&chosen.name) {
            0.0
        } else {
            bytes as f64 / COPYING + if state.is_open() { 0.0 } else { OPENING }
        };
        let (cpu, gpu) = (searches * on_cpu, ready + searches * (on_gpu + SEARCH + 4.0 * vertices / COPYING));
        let predicted = format!("{} there is predicted, {} on the CPU", in_words(gpu), in_words(cpu));
        if gpu >= cpu {
            return Err(format!("a GPU does not pay: {predicted}"));
        }
        if let Err(error) = state.device(&solver.engine) {
            return Err(error.to_string());
        }
        drop(state);
        match solver.device_memory() {
            Ok(available) if bytes <= available => Ok(format!("a GPU pays: {predicted}")),
            Ok(available) => Err(format!("the GPU has {available} bytes of memory to give; the search takes {bytes}")),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The algorithm of the CUDA engine for this search and what it takes there; worked out once for a graph.
    fn on_cuda(&self, solver: &Solver<'_>) -> Result<Arc<OnCuda>> {
        let graph = solver.graph;
        let key = (self.algorithm.clone(), graph.has_transpose());
        if let Some(known) = solver.cuda().searches_known(&key) {
            return Ok(known);
        }
        let (name, reason) = match &self.algorithm {
            Some(name) => (name.clone(), "asked for".to_owned()),
            None => {
                let (name, reason) = cuda::choose(graph);
                (name.to_owned(), reason)
            }
        };
        let (algorithm, parameters) = parse_algorithm(cuda::ALGORITHMS, |entry| &entry.info, &name)?;
        let plan = (algorithm.plan)(graph, &parameters);
        let found = Arc::new(OnCuda { name, reason, algorithm, parameters, plan });
        solver.cuda().remember(key, found.clone());
        Ok(found)
    }

    fn plan_on_cuda(&self, solver: &Solver<'_>) -> Result<Plan> {
        let mut plan = self.on_cuda(solver)?.plan.clone();
        plan.memory("distances", 4 * solver.graph.vertices() as u64);
        if !self.distances_only {
            plan.memory("predecessors", 4 * solver.graph.vertices() as u64);
        }
        Ok(plan)
    }

    fn solve_on_cuda(
        &self,
        solver: &Solver<'_>,
        sources: Vec<VertexId>,
        targets: &[VertexId],
        engine_reason: String,
    ) -> Result<ShortestPathTree> {
        let graph = solver.graph;
        if self.algorithm.is_some() && self.on_cuda(solver)?.algorithm.needs_transpose && !graph.has_transpose() {
            solver.team.install(|| graph.transpose());
            // It goes to the device, too.
            solver.check_plan(&self.on_cuda(solver)?.plan)?;
        }
        let chosen = self.on_cuda(solver)?;
        let OnCuda { name, reason, algorithm, parameters, plan } = &*chosen;
        let device_bytes = plan.device_bytes();
        // What was made ready without the arcs by head does without them.
        let key =
            format!("{name}{}", if algorithm.needs_transpose && graph.has_transpose() { ", both ways" } else { "" });
        let mut report = Report {
            engine_reason,
            algorithm: algorithm.info.name.into(),
            reason: reason.clone(),
            lane: UnitLane::NAME,
            device_bytes,
            ..Default::default()
        };
        let mut state = solver.cuda();
        let mut run = || {
            let start = Instant::now();
            let device = state.device(&solver.engine)?;
            report.engine = format!("cuda:{}", device.properties().ordinal);
            let search = state.prepared(&key, device_bytes, || (algorithm.prepare)(&device, graph, parameters))?;
            report.seconds.prepare = start.elapsed().as_secs_f64();
            let start = Instant::now();
            report.statistics = search.solve(&cuda::BfsTask {
                sources: &sources,
                targets,
                cutoff: self.cutoff.unwrap_or(UNREACHED),
                control: &solver.control,
            })?;
            report.seconds.solve = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let found = search.found();
            if !self.distances_only {
                found.derive_predecessors()?;
                report.seconds.predecessors = start.elapsed().as_secs_f64();
            }
            let start = Instant::now();
            let levels = found.levels()?;
            let predecessors = if self.distances_only { None } else { Some(found.predecessors()?) };
            report.seconds.download = start.elapsed().as_secs_f64();
            Ok((levels, predecessors))
        };
        let (levels, predecessors) = match run() {
            // A device may be lost after an error: the next request opens it again.
            Err(error @ Error::Device(_)) => {
                state.close();
                return Err(error);
            }
            found => found?,
        };
        drop(state);
        let start = Instant::now();
        if self.count_paths {
            solver.team.install(|| graph.transpose());
        }
        report.seconds.prepare += start.elapsed().as_secs_f64();
        Ok(self.tree(solver, sources, targets, levels, predecessors, report))
    }

    /// A plan with what is needed on the host whatever the engine.
    fn with_more(&self, graph: &Graph, mut plan: Plan) -> Plan {
        if self.count_paths {
            plan.memory("path counts", 20 * graph.vertices() as u64);
        }
        if !graph.has_transpose() && (self.count_paths || self.named(|algorithm| algorithm.needs_transpose)) {
            plan.memory("the arcs by head", transpose_bytes(graph));
        }
        plan
    }

    fn check_plan_on_cpu(&self, solver: &Solver<'_>) -> Result<()> {
        self.with_more(solver.graph, plan_search(solver, 4, self.distances_only)).check(solver.memory)
    }

    /// Whether an algorithm was asked for by name, and has this property.
    fn named(&self, property: impl Fn(&BfsAlgorithm) -> bool) -> bool {
        let name = self.algorithm.as_deref().map(|text| text.split(':').next().unwrap_or(text));
        ALGORITHMS.iter().any(|algorithm| Some(algorithm.info.name) == name && property(algorithm))
    }

    /// The result, from levels that are right within the cutoff and the farthest target, and from predecessors that are
    /// right there, too, or are derived now.
    fn tree(
        &self,
        solver: &Solver<'_>,
        sources: Vec<VertexId>,
        targets: &[VertexId],
        mut levels: Vec<u32>,
        predecessors: Option<Vec<VertexId>>,
        mut report: Report,
    ) -> ShortestPathTree {
        let graph = solver.graph;
        let bound = trim_to_ball(&mut levels, targets, self.cutoff.unwrap_or(UNREACHED));
        let predecessors = match predecessors {
            Some(mut predecessors) => {
                if bound.is_some() {
                    let cut_off = levels.iter().zip(&mut predecessors).filter(|(level, _)| **level == UNREACHED);
                    cut_off.for_each(|(_, predecessor)| *predecessor = NO_VERTEX);
                }
                Some(predecessors)
            }
            None if self.distances_only => None,
            None => {
                let start = Instant::now();
                let predecessors = solver.team.install(|| {
                    if graph.has_transpose() {
                        derive_bfs_predecessors(graph.transpose(), &levels)
                    } else {
                        derive_predecessors::<UnitLane>(graph.csr().unweighted(), &sources, &levels, false)
                    }
                });
                report.seconds.predecessors = start.elapsed().as_secs_f64();
                Some(predecessors)
            }
        };
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

/// A time as a person says it.
fn in_words(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

/// What [`Graph::transpose`] takes.
fn transpose_bytes(graph: &Graph) -> u64 {
    8 * graph.vertices() as u64 + graph.arcs() as u64 * (4 + graph.weight_kind().bytes())
}

/// Whether some vertex has far more arcs than most. Then a search that goes bottom-up skips nearly all arcs, and
/// searches have little left to share: measured at 1 M vertices and 31 M arcs, sharing more than
/// halves the time a search takes on a uniform graph and lengthens it by 10 to 50 % on a Kronecker graph.
fn has_hubs(graph: &Graph) -> bool {
    const FAR_MORE: usize = 100;
    let average = graph.arcs() / graph.vertices().max(1) + 1;
    graph.csr().offsets().windows(2).any(|pair| (pair[1] - pair[0]) as usize > FAR_MORE * average)
}

impl Search for Bfs {
    fn starting_at(&self, source: VertexId) -> Self {
        Bfs { sources: vec![source], ..self.clone() }
    }

    fn solve_together(
        &self,
        solver: &Solver<'_>,
        sources: &[VertexId],
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<bool> {
        let graph = solver.graph;
        let threads = solver.team.threads();
        let place = self.place(solver);
        if place.engine == Place::Cuda {
            return Ok(false);
        }
        let has_wide_levels = choose(graph).0 != sequential::ALGORITHM.info.name;
        if self.algorithm.is_some() || !self.targets.is_empty() || !has_wide_levels || has_hubs(graph) {
            return Ok(false);
        }
        // One search takes its own memory, and a block of them: 1.4 bytes a vertex and search while it runs, and 4
        // for its levels until it is their turn. So a quarter for the batches leaves enough for all.
        let mut plan = self.starting_at(0).plan(solver)?;
        if !graph.has_transpose() {
            plan.memory("the arcs by head", transpose_bytes(graph));
        }
        let memory = solver.memory.saturating_sub(plan.memory_bytes()) / 4;
        let width = batch_width(graph, sources.len(), threads, memory);
        if width == 0 {
            return Ok(false);
        }
        let start = Instant::now();
        solver.team.install(|| graph.transpose());
        let mut prepare = start.elapsed().as_secs_f64();
        for block in sources.chunks(width * threads) {
            let start = Instant::now();
            let rows: Vec<Mutex<Vec<u32>>> = block.iter().map(|_| Mutex::default()).collect();
            let emit = |index: usize, levels: &[u32]| {
                let mut row = on_huge_pages(Vec::with_capacity(levels.len()));
                row.extend_from_slice(levels);
                *rows[index].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = row;
                Ok(())
            };
            levels_of_many(graph, block, width, &solver.team, &solver.control, &emit)?;
            let solve = start.elapsed().as_secs_f64() / block.len() as f64;
            for (&source, row) in block.iter().zip(rows) {
                solver.control.check()?;
                let report = Report {
                    engine: "cpu".into(),
                    engine_reason: place.reason.clone(),
                    algorithm: "multi-source".into(),
                    reason: format!("{} sources share their reads of the graph", sources.len()),
                    lane: UnitLane::NAME,
                    seconds: Seconds { prepare: std::mem::take(&mut prepare), solve, ..Default::default() },
                    statistics: vec![("searches_in_a_batch", width as u64)],
                    ..Default::default()
                };
                let levels = row.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
                each(self.tree(solver, vec![source], &[], levels, None, report))?;
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn searches_that_run_together_are_those_that_run_alone() {
        let mut random = Random(11);
        let mut vertex = || random.below(6000) as VertexId;
        let directed = Graph::from_edges((0..40_000).map(|_| (vertex(), vertex())).collect::<Vec<_>>()).unwrap();
        let sources: Vec<VertexId> =
            (0..200).map(|_| vertex()).filter(|&v| (v as usize) < directed.vertices()).collect();
        for threads in [1, 2] {
            let solver = Solver::builder(&directed).threads(threads).open().unwrap();
            for request in [Bfs::from(0).count_paths(), Bfs::from(0).within(3).distances_only()] {
                let mut order = sources.iter();
                let each = |tree: ShortestPathTree| {
                    let single = solver.solve(request.starting_at(*order.next().unwrap()))?;
                    assert_eq!(tree.report().algorithm, "multi-source");
                    assert_eq!(tree.sources(), single.sources());
                    assert_eq!(tree.distances(), single.distances());
                    assert_eq!(tree.predecessors(), single.predecessors());
                    assert_eq!(tree.path_counts(), single.path_counts());
                    tree.verify(&directed)
                };
                solver.solve_each(request.clone(), &sources, each).unwrap();
                assert!(order.next().is_none());
            }
        }
    }

    #[test]
    fn hubs_mean_one_by_one() {
        let even = (0..20_000_u32).flat_map(|v| (1..5).map(move |k| (v, v * k * 7919 % 20_000)));
        let hub = (0..20_000_u32).map(|v| (7, v));
        let sources: Vec<VertexId> = (0..100).collect();
        for (graph, together) in
            [(Graph::from_edges(even.clone()).unwrap(), true), (Graph::from_edges(even.chain(hub)).unwrap(), false)]
        {
            let each = |tree: ShortestPathTree| {
                assert_eq!(tree.report().algorithm == "multi-source", together);
                tree.verify(&graph)
            };
            Solver::builder(&graph).threads(2).open().unwrap().solve_each(Bfs::from(0), &sources, each).unwrap();
        }
    }

    #[test]
    fn little_memory_means_one_by_one() {
        let graph =
            Graph::from_edges((0..40_000_u32).flat_map(|v| (1..5).map(move |k| (v / 4, v * k % 9973)))).unwrap();
        let one = Solver::new(&graph).unwrap().plan(&Bfs::from(0)).unwrap().memory_bytes();
        let solver = Solver::builder(&graph).threads(2).memory(10 * one).open().unwrap();
        let each = |tree: ShortestPathTree| {
            assert_ne!(tree.report().algorithm, "multi-source");
            Ok(())
        };
        solver.solve_each(Bfs::from(0), &[1; 100], each).unwrap();
    }
}
