//! Breadth-first search: choosing the algorithm, running it, making the result.
//!
//! *Invariants.* Only a test has any: it launches a kernel with the array that this expects.

use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use super::cuda::{Loan, OnCuda};
use super::place::{COPYING, HANDING_OVER, OPENING, Place, Placed, Predicted, leaves_it_to_the_cpu, only_on_cuda};
use super::{Request, Search, Solver, plan_search, trim_to_ball};
use crate::algorithms::parse_algorithm;
use crate::cpu::bfs::{ALGORITHMS, BfsAlgorithm, BfsTask, UNREACHED, batch_width, choose, levels_of_many, sequential};
use crate::cuda::bfs::{self as cuda, many_sources};
use crate::graph::{Distances, Graph, Lane, NO_VERTEX, UnitLane, VertexId};
use crate::huge_pages::on_huge_pages;
use crate::problems::{
    Bfs, Problem, Report, Seconds, ShortestPathTree, count_shortest_paths, derive_bfs_predecessors, derive_predecessors,
};
use crate::{Error, Result, memory};
use crate::{Plan, available_memory};

impl Request for Bfs {
    type Answer = ShortestPathTree;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        let place = self.place(solver);
        Ok(match place.engine {
            Place::Cpu => self.plan_on_cpu(solver),
            Place::Cuda => self.plan_on_cuda(solver)?,
        })
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
                Err(error) if place.optional && leaves_it_to_the_cpu(&error) => {
                    self.plan_on_cpu(solver).check(solver.memory)?;
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
            solver.team.install(|| graph.transpose())?;
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
        self.tree(solver, sources, &targets, outcome.levels, None, report)
    }
}

impl Bfs {
    /// Where this search runs.
    fn place(&self, solver: &Solver<'_>) -> Placed {
        let asked = self.algorithm.as_deref();
        let only = || only_on_cuda(asked, ALGORITHMS, |entry| &entry.info, cuda::ALGORITHMS, |entry| &entry.info);
        Placed::of(&solver.engine, only, || self.gpu_pays(solver))
    }

    /// Whether the searches to come are predicted to be done sooner on a GPU, what has to be made ready there included;
    /// and why, or why not. The device is opened only if it pays.
    fn gpu_pays(&self, solver: &Solver<'_>) -> std::result::Result<String, String> {
        /// What one search takes at least, with its launch and its report.
        const SEARCH: f64 = 100e-6;
        /// Arcs and vertices a second, where levels are wide and where they are short.
        const ARCS: f64 = 300e9;
        const VERTICES: f64 = 1e9;
        /// So many threads the memory of a CPU feeds, each with a search of its own.
        const FED: usize = 6;
        /// Arcs and vertices a second of one thread of the CPU, and arcs of one that searches beside others, where hubs let
        /// it skip most.
        const CPU_ARCS: f64 = 1.3e9;
        const CPU_ARCS_ALONE: f64 = 4e9;
        const CPU_VERTICES: f64 = 65e6;
        if let Some(reason) = solver.no_device() {
            return Err(reason);
        }
        let graph = solver.graph;
        let Ok(chosen) = self.on_cuda(solver) else {
            return Err("only the CPU has this algorithm, with these parameters".into());
        };
        let (vertices, arcs) = (graph.vertices() as f64, graph.arcs() as f64);
        let is_thin = chosen.algorithm.info.name == "multi-hop";
        let on_gpu = if is_thin { vertices / VERTICES } else { arcs / ARCS };
        // Where levels are short a search is no quicker on several threads of the CPU.
        let takes_one = is_thin || choose(graph).0 == sequential::ALGORITHM.info.name;
        let searches = solver.cuda().searches_to_come();
        let threads = solver.team.threads() as f64;
        // Many searches run side by side and are handed over meanwhile, unless they share their reads of the graph.
        let side_by_side = searches > 1 && (takes_one || has_hubs(graph));
        let on_cpu = match (takes_one, side_by_side) {
            (true, _) => vertices / CPU_VERTICES,
            (false, true) => arcs / CPU_ARCS_ALONE / threads,
            (false, false) => arcs / CPU_ARCS / threads,
        };
        let together =
            self.goes_together(searches).then(|| self.many_on_cuda(solver, many_sources::WIDEST).ok()).flatten();
        let state = solver.cuda();
        let prepared_for = if together.is_some() { many_sources::ALGORITHM.info.name } else { &chosen.name };
        let ready = if state.has_prepared(prepared_for) {
            0.0
        } else {
            // Room for levels is not copied.
            let bytes = if together.is_some() { graph_bytes(graph) } else { chosen.plan.device_bytes() };
            bytes as f64 / COPYING + if state.is_open() { 0.0 } else { OPENING }
        };
        let searching = if together.is_some() {
            searches.div_ceil(many_sources::WIDEST) as f64 * (many_sources::seconds_of_batch(graph, is_thin) + SEARCH)
        } else {
            searches as f64 * (on_gpu + SEARCH)
        };
        let handing_over = vertices / HANDING_OVER;
        let gpu = ready + searching + searches as f64 * (4.0 * vertices / COPYING + handing_over);
        let at_once = if takes_one { solver.team.threads().min(searches).min(FED) } else { 1 };
        let one = on_cpu / at_once as f64;
        let cpu = searches as f64 * if side_by_side { one.max(handing_over) } else { one + handing_over };
        let bytes = chosen.plan.device_bytes();
        drop(state);
        Predicted { gpu, cpu }.gpu_pays(solver, bytes)
    }

    /// The algorithm of the CUDA engine for this search and what it takes there; worked out once for a graph.
    fn on_cuda(&self, solver: &Solver<'_>) -> Result<Arc<OnCuda<cuda::BfsAlgorithm>>> {
        let graph = solver.graph;
        if let Some(known) = solver.cuda().searches_known(&self.algorithm) {
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
        solver.cuda().remember(self.algorithm.clone(), found.clone());
        Ok(found)
    }

    /// Whether so many searches of this kind may be done at once on the CUDA engine.
    fn goes_together(&self, searches: usize) -> bool {
        /// Below, one after another is as good.
        const FEWEST: usize = 8;
        let name = self.algorithm.as_deref().map(|text| text.split(':').next().unwrap_or(text));
        self.targets.is_empty()
            && match name {
                None => searches >= FEWEST,
                Some(name) => name == many_sources::ALGORITHM.info.name,
            }
    }

    /// What so many searches at once are on the CUDA engine, unless the algorithm asked for says how many.
    fn many_on_cuda(&self, solver: &Solver<'_>, width: usize) -> Result<Arc<OnCuda<cuda::BfsAlgorithm>>> {
        let named = || format!("{}:width={width}", many_sources::ALGORITHM.info.name);
        Bfs { algorithm: self.algorithm.clone().or_else(|| Some(named())), ..self.clone() }.on_cuda(solver)
    }

    /// The same for as many at once as fit into the device's memory; `None` if those are too few to pay.
    fn most_on_cuda(&self, solver: &Solver<'_>) -> Result<Option<Arc<OnCuda<cuda::BfsAlgorithm>>>> {
        if self.algorithm.is_some() {
            return Ok(Some(self.many_on_cuda(solver, many_sources::WIDEST)?));
        }
        let available = solver.allowed_on_device()?;
        for width in [64, 32, 16, 8] {
            let many = self.many_on_cuda(solver, width)?;
            if many.plan.device_bytes() <= available {
                return Ok(Some(many));
            }
        }
        Ok(None)
    }

    /// Searches from many sources, batch after batch on a device.
    fn solve_together_on_cuda(
        &self,
        solver: &Solver<'_>,
        sources: &[VertexId],
        place: &Placed,
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<bool> {
        if !self.goes_together(sources.len()) {
            return Ok(false);
        }
        // It was only predicted that the device would do.
        let is_forgiven = |error: &Error| place.optional && leaves_it_to_the_cpu(error);
        let checked = |many: Arc<OnCuda<cuda::BfsAlgorithm>>| solver.check_plan(&many.plan).map(|()| many);
        let many = match self.most_on_cuda(solver).and_then(|many| many.map(checked).transpose()) {
            Ok(Some(many)) => many,
            Ok(None) => return Ok(false),
            Err(error) if is_forgiven(&error) => {
                solver.rest_on_cpu(self, sources, &error, each)?;
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        self.with_tree(solver, Plan::new()).check(available_memory())?;
        let mut batches = Batches { request: self, solver, many: &many, sources, state: None };
        for (index, &source) in sources.iter().enumerate() {
            let (levels, predecessors, mut report) = match batches.found_from(index) {
                Ok(found) => found,
                Err(error) => {
                    // A device may be lost after an error: the next request opens it again.
                    let is_lost = matches!(error, Error::Device(_));
                    if is_lost {
                        batches.state = None;
                        solver.cuda().close();
                    }
                    if !is_forgiven(&error) {
                        return Err(error);
                    }
                    drop(batches);
                    solver.rest_on_cpu(self, &sources[index..], &error, each)?;
                    return Ok(true);
                }
            };
            report.engine_reason.clone_from(&place.reason);
            if self.count_paths && !solver.graph.has_transpose() {
                let start = Instant::now();
                solver.team.install(|| solver.graph.transpose())?;
                report.seconds.prepare += start.elapsed().as_secs_f64();
            }
            each(self.tree(solver, vec![source], &[], levels, predecessors, report)?)?;
        }
        Ok(true)
    }

    fn plan_on_cuda(&self, solver: &Solver<'_>) -> Result<Plan> {
        Ok(self.with_tree(solver, self.on_cuda(solver)?.plan.clone()))
    }

    /// A plan with a tree on the host.
    fn with_tree(&self, solver: &Solver<'_>, mut plan: Plan) -> Plan {
        plan.memory("distances", 4 * solver.graph.vertices() as u64);
        if !self.distances_only {
            plan.memory("predecessors", 4 * solver.graph.vertices() as u64);
        }
        self.plan_path_counts(solver.graph, false, &mut plan);
        plan
    }

    fn plan_on_cpu(&self, solver: &Solver<'_>) -> Plan {
        let mut plan = plan_search(solver, 4, self.distances_only);
        self.plan_path_counts(solver.graph, self.named(|algorithm| algorithm.needs_transpose), &mut plan);
        plan
    }

    /// Adds what counting paths takes on the host, if it is asked for, and the arcs by head if something needs them.
    fn plan_path_counts(&self, graph: &Graph, needs_transpose: bool, plan: &mut Plan) {
        if self.count_paths {
            plan.memory("path counts", 20 * graph.vertices() as u64);
        }
        if !graph.has_transpose() && (self.count_paths || needs_transpose) {
            plan.memory("the arcs by head", transpose_bytes(graph));
        }
    }

    fn solve_on_cuda(
        &self,
        solver: &Solver<'_>,
        sources: Vec<VertexId>,
        targets: &[VertexId],
        engine_reason: String,
    ) -> Result<ShortestPathTree> {
        let graph = solver.graph;
        let chosen = self.on_cuda(solver)?;
        let OnCuda { name, reason, algorithm, parameters, plan } = &*chosen;
        let device_bytes = plan.device_bytes();
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
            let search = state.prepared(name, device_bytes, || (algorithm.prepare)(&device, graph, parameters))?;
            report.seconds.prepare = start.elapsed().as_secs_f64();
            let start = Instant::now();
            report.statistics = search.solve(&cuda::BfsTask {
                sources: &sources,
                targets,
                cutoff: self.cutoff.unwrap_or(UNREACHED),
                control: &solver.control,
            })?;
            report.seconds.solve = start.elapsed().as_secs_f64();
            self.bring_back(&search.found(), &mut report.seconds)
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
            solver.team.install(|| graph.transpose())?;
        }
        report.seconds.prepare += start.elapsed().as_secs_f64();
        self.tree(solver, sources, targets, levels, predecessors, report)
    }

    /// Whether an algorithm was asked for by name, and has this property.
    fn named(&self, property: impl Fn(&BfsAlgorithm) -> bool) -> bool {
        let name = self.algorithm.as_deref().map(|text| text.split(':').next().unwrap_or(text));
        ALGORITHMS.iter().any(|algorithm| Some(algorithm.info.name) == name && property(algorithm))
    }

    /// Copies what a search has found to the host: levels, and predecessors if they are wanted, derived on the device.
    fn bring_back(
        &self,
        found: &cuda::predecessors::Found<'_>,
        seconds: &mut Seconds,
    ) -> Result<(Vec<u32>, Option<Vec<VertexId>>)> {
        let start = Instant::now();
        if !self.distances_only {
            found.derive_predecessors()?;
            seconds.predecessors = start.elapsed().as_secs_f64();
        }
        let start = Instant::now();
        let levels = found.levels()?;
        let predecessors = if self.distances_only { None } else { Some(found.predecessors()?) };
        seconds.download = start.elapsed().as_secs_f64();
        Ok((levels, predecessors))
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
    ) -> Result<ShortestPathTree> {
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
                        derive_bfs_predecessors(graph.transpose()?, &levels)
                    } else {
                        derive_predecessors::<UnitLane>(graph.csr().unweighted(), &sources, &levels, false)
                    }
                })?;
                report.seconds.predecessors = start.elapsed().as_secs_f64();
                Some(predecessors)
            }
        };
        let start = Instant::now();
        let mut path_counts = None;
        if self.count_paths {
            path_counts = Some(solver.team.install(|| count_shortest_paths(graph.transpose()?, &levels))?);
            report.seconds.solve += start.elapsed().as_secs_f64();
        }
        let distances = Distances::U32(levels);
        Ok(ShortestPathTree {
            problem: Problem::Bfs,
            sources,
            distances,
            predecessors,
            path_counts,
            bound,
            report,
            facts: OnceLock::new(),
        })
    }
}

/// Searches from many sources on a device, a batch at a time.
struct Batches<'s, 'g> {
    request: &'s Bfs,
    solver: &'s Solver<'g>,
    many: &'s OnCuda<cuda::BfsAlgorithm>,
    sources: &'s [VertexId],
    /// The graph on the device, once the first levels were asked for, and how the present batch went.
    state: Option<BatchState<'s, 'g>>,
}

/// A graph on a device, taken from the solver, and how a batch went.
struct BatchState<'s, 'g> {
    graph: Loan<'s, 'g, Box<dyn cuda::PreparedBfs>>,
    report: Report,
}

impl<'s, 'g> Batches<'s, 'g> {
    fn begin(&self) -> Result<BatchState<'s, 'g>> {
        let OnCuda { algorithm, parameters, .. } = self.many;
        let (graph, report) =
            Loan::take(self.solver, self.many, |device| (algorithm.prepare)(device, self.solver.graph, parameters))?;
        let report = Report {
            algorithm: algorithm.info.name.into(),
            reason: format!("{} sources share their reads of the graph", self.sources.len()),
            lane: UnitLane::NAME,
            ..report
        };
        Ok(BatchState { graph, report })
    }

    /// The levels from the source at this index, which comes after the last one that was asked for, predecessors if
    /// they are wanted, and how they were found.
    fn found_from(&mut self, index: usize) -> Result<(Vec<u32>, Option<Vec<VertexId>>, Report)> {
        let state = match self.state.take() {
            Some(state) => state,
            None => self.begin()?,
        };
        let state = self.state.insert(state);
        let gone = || Error::Device("what was prepared is no search from many sources".into());
        let search = state.graph.search()?.many_sources().ok_or_else(gone)?;
        let place = index % search.width();
        if place == 0 {
            self.solver.control.check()?;
            let start = Instant::now();
            let batch = &self.sources[index..self.sources.len().min(index + search.width())];
            state.report.statistics =
                search.search_each(batch, self.request.cutoff.unwrap_or(UNREACHED), &self.solver.control)?;
            state.report.seconds.solve = start.elapsed().as_secs_f64() / batch.len() as f64;
        }
        let mut report = state.report.clone();
        let (levels, predecessors) = self.request.bring_back(&search.found_from(place), &mut report.seconds)?;
        // Only the first had to wait for that.
        state.report.seconds.prepare = 0.0;
        Ok((levels, predecessors, report))
    }
}

/// What the arcs of a graph take on a device.
fn graph_bytes(graph: &Graph) -> u64 {
    4 * (graph.vertices() as u64 + graph.arcs() as u64)
}

/// What [`Graph::transpose`] takes.
pub(super) fn transpose_bytes(graph: &Graph) -> u64 {
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

    fn engine_reason(&self, solver: &Solver<'_>) -> String {
        self.place(solver).reason
    }

    fn plan_together(&self, solver: &Solver<'_>, sources: &[VertexId]) -> Result<Plan> {
        if self.place(solver).engine == Place::Cuda && self.goes_together(sources.len()) {
            // Without a device there is no telling how much fits.
            let many = match self.most_on_cuda(solver) {
                Err(Error::NoDevice(_)) => Some(self.many_on_cuda(solver, many_sources::WIDEST)?),
                many => many?,
            };
            if let Some(many) = many {
                return Ok(self.with_tree(solver, many.plan.clone()));
            }
        }
        sources.first().map_or_else(|| Ok(Plan::new()), |&first| self.starting_at(first).plan(solver))
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
            return self.solve_together_on_cuda(solver, sources, &place, each);
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
        solver.team.install(|| graph.transpose())?;
        let mut prepare = start.elapsed().as_secs_f64();
        for block in sources.chunks(width * threads) {
            let start = Instant::now();
            let rows: Vec<Mutex<Vec<u32>>> =
                memory::listed("the list of rows", block.iter().map(|_| Mutex::default()))?;
            let emit = |index: usize, levels: &[u32]| {
                let mut row = on_huge_pages(memory::with_capacity("the array of levels", levels.len())?);
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
                each(self.tree(solver, vec![source], &[], levels, None, report)?)?;
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
    fn parameters_that_only_a_gpu_has_go_there() {
        let graph = Graph::from_edges([(0, 1), (1, 2)]).unwrap();
        let solver = Solver::new(&graph).unwrap();
        let place = |algorithm: &str| Bfs::from(0).algorithm(algorithm).place(&solver).engine;
        for there in ["direction-optimizing:bottom-up=0.1", "many-sources:width=8"] {
            assert_eq!(place(there), Place::Cuda, "{there}");
        }
        for not in ["direction-optimizing", "sequential", "direction-optimizing:nothing=1"] {
            assert_eq!(place(not), Place::Cpu, "{not}");
        }
    }

    #[test]
    fn searches_that_run_together_are_those_that_run_alone() {
        let mut random = Random(11);
        let mut vertex = || random.below(6000) as VertexId;
        let directed = Graph::from_edges((0..40_000).map(|_| (vertex(), vertex())).collect::<Vec<_>>()).unwrap();
        let sources: Vec<VertexId> =
            (0..200).map(|_| vertex()).filter(|&v| (v as usize) < directed.vertices()).collect();
        for threads in [1, 2] {
            let solver = Solver::builder(&directed).threads(threads).open().unwrap();
            let other = Solver::builder(&directed).threads(threads).open().unwrap();
            for request in [Bfs::from(0).count_paths(), Bfs::from(0).within(3).distances_only()] {
                let mut order = sources.iter();
                let each = |tree: ShortestPathTree| {
                    let single = other.solve(request.starting_at(*order.next().unwrap()))?;
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

    /// The device fails after some trees were handed over: the others come from the CPU, and none twice.
    #[cfg(emulator)]
    #[test]
    fn a_device_that_fails_leaves_the_rest_to_the_cpu() {
        use crate::cuda::device::{Device, Image, LaunchShape, arguments, emulator::Emulator};
        static TESTS: Image = Image { name: "tests", bytes: &[] };
        let graph = Graph::from_edges((0..200_u32).flat_map(|v| [(v, v * 7 % 201), (v, v + 1)])).unwrap();
        let sources: Vec<VertexId> = (0..30).rev().collect();
        for optional in [true, false] {
            let device = Arc::new(Emulator::new(9));
            let solver = Solver::builder(&graph).threads(1).device(device.clone()).open().unwrap();
            let place = Placed { engine: Place::Cuda, reason: "predicted".into(), optional };
            let mut engines = Vec::new();
            let mut each = |tree: ShortestPathTree| {
                assert_eq!(tree.sources(), [sources[engines.len()]]);
                tree.verify(&graph)?;
                engines.push((tree.report().engine.clone(), tree.report().engine_reason.clone()));
                if engines.len() == 12 {
                    let bug = device.function(&TESTS, "bug_divergent_barrier")?;
                    let words = device.allocate(64 * 4)?;
                    // SAFETY: the kernel takes one pointer, to as many words as there are threads.
                    unsafe { device.launch(bug, &LaunchShape::line(1, 64), arguments![words]) }.unwrap_err();
                }
                Ok(())
            };
            let request = Bfs::from(0).algorithm("many-sources:width=8,threads=32,blocks=2");
            let request = if optional { request } else { request.distances_only() };
            let result = if optional {
                // On the CPU there is no such algorithm.
                let many = request.on_cuda(&solver).unwrap();
                solver.cuda().remember(Some("many-sources:width=64".into()), many);
                Bfs::from(0).solve_together_on_cuda(&solver, &sources, &place, &mut each)
            } else {
                request.solve_together_on_cuda(&solver, &sources, &place, &mut |tree| each(tree))
            };
            assert!(engines[..12].iter().all(|(engine, reason)| engine == "cuda:0" && reason == "predicted"));
            if optional {
                assert!(result.unwrap());
                assert_eq!(engines.len(), sources.len());
                assert!(engines[12..].iter().all(|(engine, reason)| engine == "cpu" && reason.contains("lost")));
            } else {
                assert!(matches!(result, Err(Error::Device(_))), "{result:?}");
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
