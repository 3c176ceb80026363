//! Single-source shortest paths: choosing engine, lane and algorithm, running it, making the result.

mod together;

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use self::together::seconds_alone;
pub(super) use self::together::seconds_together;
use super::bfs::transpose_bytes;
use super::cuda::OnCuda;
use super::place::{COPYING, OPENING, Place, Placed, Predicted, leaves_it_to_the_cpu, only_on_cuda};
use super::{Request, Search, Solver, attach_distances, plan_search, radius_of_ball, trim_to_ball};
use crate::algorithms::parse_algorithm;
use crate::cpu::sssp::{ALGORITHMS, SsspLane, SsspTask};
use crate::cuda::sssp::{self as cuda, LaneOnDevice};
use crate::graph::{
    Adjacency, DistanceValue, Distances, F32Lane, F64Lane, Graph, I32Lane, Lane, U32Narrow, U32Wide, UnitLane,
    VertexId, WeightKind,
};
use crate::plan::Plan;
use crate::problems::{Bfs, Problem, Report, ShortestPathTree, Sssp, starts};
use crate::{Error, Result};

impl Search for Sssp {
    fn starting_at(&self, source: VertexId) -> Self {
        Sssp { sources: vec![source], ..self.clone() }
    }

    fn engine_reason(&self, solver: &Solver<'_>) -> String {
        match self.as_bfs(solver.graph) {
            Ok(Some(bfs)) => bfs.engine_reason(solver),
            _ => self.place(solver).reason,
        }
    }

    fn plan_together(&self, solver: &Solver<'_>, sources: &[VertexId]) -> Result<Plan> {
        if let Some(bfs) = self.as_bfs(solver.graph)? {
            return bfs.plan_together(solver, sources);
        }
        if self.place(solver).engine == Place::Cuda && self.goes_together(solver, sources.len())? {
            let available = match solver.allowed_on_device() {
                // Without a device there is no telling how much fits.
                Err(Error::NoDevice(_)) => u64::MAX,
                available => available?,
            };
            if let Some(many) = self.most_on_cuda(solver, sources.len(), available)? {
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
        if let Some(bfs) = self.as_bfs(solver.graph)? {
            return bfs.solve_together(solver, sources, &mut |tree| each(as_sssp(tree)));
        }
        let place = self.place(solver);
        if place.engine == Place::Cpu || !self.goes_together(solver, sources.len())? {
            return Ok(false);
        }
        self.solve_together_on_cuda(solver, sources, &place, each)
    }
}

impl Request for Sssp {
    type Answer = ShortestPathTree;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        if let Some(bfs) = self.as_bfs(solver.graph)? {
            return bfs.plan(solver);
        }
        match self.place(solver).engine {
            Place::Cpu => Ok(plan_search(solver, 8, self.distances_only)),
            Place::Cuda => self.plan_on_cuda(solver),
        }
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ShortestPathTree> {
        if let Some(bfs) = self.as_bfs(solver.graph)? {
            return solve_by_bfs(solver, bfs);
        }
        let mut place = self.place(solver);
        if place.engine == Place::Cuda {
            match self.on_cuda(solver).and_then(|chosen| self.solve_in_lanes(solver, &place, Some(&chosen))) {
                // It was only predicted that the device would do.
                Err(error) if place.optional && leaves_it_to_the_cpu(&error) => {
                    plan_search(solver, 8, self.distances_only).check(solver.memory)?;
                    place.reason = error.to_string();
                }
                answer => return answer,
            }
        }
        self.solve_in_lanes(solver, &place, None)
    }
}

/// The request, checked and in a lane.
struct Checked<L: Lane> {
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    cutoff: L::Distance,
}

/// What an engine has found, and what there is to tell.
struct Found<L: Lane> {
    /// Right within the cutoff and the farthest target.
    distances: Vec<L::Distance>,
    /// Of what is within them, if they are wanted and were derived beside the search.
    predecessors: Option<Vec<VertexId>>,
    /// Whether a walk can have been longer than the lane's distances go.
    out_of_range: bool,
    report: Report,
}

impl Sssp {
    /// The same as a breadth-first search: without weights, distances count edges.
    fn as_bfs(&self, graph: &Graph) -> Result<Option<Bfs>> {
        if graph.weight_kind() != WeightKind::Unit || self.algorithm.is_some() {
            return Ok(None);
        }
        Ok(Some(Bfs {
            sources: self.sources.clone(),
            targets: self.targets.clone(),
            cutoff: self.cutoff.map(|cutoff| cutoff.in_lane::<u32>()).transpose()?,
            distances_only: self.distances_only,
            ..Bfs::default()
        }))
    }

    /// Where this search runs.
    fn place(&self, solver: &Solver<'_>) -> Placed {
        let asked = self.algorithm.as_deref();
        let only = || only_on_cuda(asked, ALGORITHMS, |entry| &entry.info, cuda::ALGORITHMS, |entry| &entry.info);
        Placed::of(&solver.engine, only, || self.gpu_pays(solver))
    }

    /// Whether the searches to come are predicted to be done sooner on a GPU, what has to be made ready there included;
    /// and why, or why not. The device is opened only if it pays.
    fn gpu_pays(&self, solver: &Solver<'_>) -> std::result::Result<String, String> {
        /// Arcs a second of one thread of the CPU.
        const CPU_ARCS: f64 = 60e6;
        if let Some(reason) = solver.no_device() {
            return Err(reason);
        }
        let graph = solver.graph;
        let chosen = self.on_cuda(solver).map_err(|error| error.to_string())?;
        let (vertices, arcs) = (graph.vertices() as f64, graph.arcs() as f64);
        let count = solver.cuda().searches_to_come();
        let searches = count as f64;
        let together = self.goes_together(solver, count).unwrap_or(false);
        let searching =
            if together { seconds_together(graph, count) } else { searches * seconds_alone(chosen.algorithm, graph) };
        let many = together.then(|| self.most_on_cuda(solver, count, u64::MAX).ok()).flatten().flatten();
        let prepared_for = many.as_ref().map_or(&chosen.name, |many| &many.name);
        let state = solver.cuda();
        let bytes = chosen.plan.device_bytes();
        let ready = if state.has_prepared(prepared_for) {
            0.0
        } else {
            // Room for distances is not copied.
            let bytes = if together { 4.0 * vertices + 8.0 * arcs } else { bytes as f64 };
            bytes / COPYING + if state.is_open() { 0.0 } else { OPENING }
        };
        let distance_bytes = if graph.weight_kind() == WeightKind::F64 { 8.0 } else { 4.0 };
        let gpu = ready + searching + searches * distance_bytes * vertices / COPYING;
        let cpu = searches * (vertices + arcs) / CPU_ARCS / solver.team.threads() as f64;
        drop(state);
        Predicted { gpu, cpu }.gpu_pays(solver, bytes)
    }

    /// The algorithm of the CUDA engine for this search and what it takes there; worked out once for a graph.
    fn on_cuda(&self, solver: &Solver<'_>) -> Result<Arc<OnCuda<cuda::SsspAlgorithm>>> {
        let graph = solver.graph;
        if let Some(known) = solver.cuda().known_by_weight(&self.algorithm) {
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
        algorithm.check(graph)?;
        let plan = (algorithm.plan)(graph, &parameters);
        let found = Arc::new(OnCuda { name, reason, algorithm, parameters, plan });
        solver.cuda().remember_by_weight(self.algorithm.clone(), found.clone());
        Ok(found)
    }

    fn plan_on_cuda(&self, solver: &Solver<'_>) -> Result<Plan> {
        let graph = solver.graph;
        let chosen = self.on_cuda(solver)?;
        let mut plan = chosen.plan.clone();
        if (chosen.algorithm.needs_transpose)(&chosen.parameters) && !graph.has_transpose() {
            plan.memory("the arcs by head", transpose_bytes(graph));
        }
        Ok(self.with_tree(solver, plan))
    }

    /// A plan with a tree on the host.
    fn with_tree(&self, solver: &Solver<'_>, mut plan: Plan) -> Plan {
        let vertices = solver.graph.vertices() as u64;
        plan.memory("distances", 8 * vertices);
        if !self.distances_only {
            plan.memory("predecessors", 4 * vertices);
        }
        plan
    }

    /// Solves in the lane of the graph's weights; on the CPU if nothing is chosen on the CUDA engine.
    fn solve_in_lanes(
        &self,
        solver: &Solver<'_>,
        place: &Placed,
        on_cuda: Option<&OnCuda<cuda::SsspAlgorithm>>,
    ) -> Result<ShortestPathTree> {
        match solver.graph.weight_kind() {
            WeightKind::Unit => self.solve_in::<UnitLane>(solver, place, on_cuda),
            WeightKind::U32 => match self.solve_in::<U32Narrow>(solver, place, on_cuda) {
                Err(Error::DistanceOverflow { .. }) => {
                    let mut tree = self.solve_in::<U32Wide>(solver, place, on_cuda)?;
                    tree.report.repeated_wide = true;
                    Ok(tree)
                }
                other => other,
            },
            WeightKind::I32 => self.solve_in::<I32Lane>(solver, place, on_cuda),
            WeightKind::F32 => self.solve_in::<F32Lane>(solver, place, on_cuda),
            WeightKind::F64 => self.solve_in::<F64Lane>(solver, place, on_cuda),
        }
    }

    fn solve_in<L: SsspLane + LaneOnDevice>(
        &self,
        solver: &Solver<'_>,
        place: &Placed,
        on_cuda: Option<&OnCuda<cuda::SsspAlgorithm>>,
    ) -> Result<ShortestPathTree> {
        let graph = solver.graph;
        let Some(adjacency) = graph.csr().adjacency::<L::Weight>() else {
            return Err(Error::invalid("the graph has weights of another type"));
        };
        let checked = self.check::<L>(solver)?;
        let report = Report { engine_reason: place.reason.clone(), lane: L::NAME, ..Default::default() };
        let found = match on_cuda {
            Some(chosen) => run_on_cuda(solver, chosen, &checked, self.distances_only, report)?,
            None => self.run_on_cpu(solver, adjacency, &checked, report)?,
        };
        self.tree(solver, adjacency, checked, found)
    }

    /// The result, if the lane's range was wide enough for it.
    fn tree<L: Lane>(
        &self,
        solver: &Solver<'_>,
        adjacency: Adjacency<'_, L::Weight>,
        checked: Checked<L>,
        found: Found<L>,
    ) -> Result<ShortestPathTree> {
        let graph = solver.graph;
        let Found { mut distances, predecessors, out_of_range, report } = found;
        let bound = trim_to_ball(&mut distances, &checked.targets, checked.cutoff);
        if out_of_range && !narrow_suffices::<L>(graph, adjacency, &distances, bound.is_some()) {
            return Err(Error::DistanceOverflow { lane: L::NAME });
        }
        let mut tree = ShortestPathTree {
            problem: Problem::Sssp,
            sources: checked.sources,
            distances: Distances::U32(Vec::new()),
            predecessors,
            path_counts: None,
            bound,
            report,
            facts: OnceLock::new(),
        };
        attach_distances::<L>(solver, adjacency, &mut tree, distances, self.distances_only)?;
        Ok(tree)
    }

    fn check<L: Lane>(&self, solver: &Solver<'_>) -> Result<Checked<L>> {
        let sources = solver.checked_sources(&self.sources)?;
        let mut targets = solver.checked(&self.targets, "target")?;
        if solver.graph.has_negative_weights() {
            if self.cutoff.is_some() {
                return Err(Error::invalid(
                    "a cutoff needs weights of 0 or more: paths could come back from beyond it",
                ));
            }
            targets.clear();
        }
        let cutoff = self.cutoff.map_or(Ok(L::Distance::UNREACHABLE), |cutoff| cutoff.in_lane())?;
        Ok(Checked { sources, targets, cutoff })
    }

    fn run_on_cpu<L: SsspLane>(
        &self,
        solver: &Solver<'_>,
        adjacency: Adjacency<'_, L::Weight>,
        checked: &Checked<L>,
        mut report: Report,
    ) -> Result<Found<L>> {
        let graph = solver.graph;
        let (name, reason) = match &self.algorithm {
            Some(name) => (name.as_str(), "asked for"),
            None => choose(graph),
        };
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name)?;
        if graph.has_negative_weights() && !algorithm.info.negative_weights {
            return Err(Error::invalid(format!("`{}` needs weights of 0 or more", algorithm.info.name)));
        }
        let start = Instant::now();
        graph.weight_range();
        report.seconds.prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let outcome = L::pick(&algorithm.solve)(&SsspTask {
            adjacency,
            graph,
            sources: &checked.sources,
            targets: &checked.targets,
            cutoff: checked.cutoff,
            parameters: &parameters,
            team: &solver.team,
            control: &solver.control,
        })?;
        report.seconds.solve = start.elapsed().as_secs_f64();
        report.engine = "cpu".into();
        report.algorithm = name.into();
        report.reason = reason.into();
        report.statistics = outcome.statistics;
        Ok(Found { distances: outcome.distances, predecessors: None, out_of_range: true, report })
    }
}

fn run_on_cuda<L: LaneOnDevice>(
    solver: &Solver<'_>,
    chosen: &OnCuda<cuda::SsspAlgorithm>,
    checked: &Checked<L>,
    distances_only: bool,
    mut report: Report,
) -> Result<Found<L>> {
    let OnCuda { name, reason, algorithm, parameters, plan } = chosen;
    let graph = solver.graph;
    report.algorithm = algorithm.info.name.into();
    report.reason.clone_from(reason);
    report.device_bytes = plan.device_bytes();
    let start = Instant::now();
    if (algorithm.needs_transpose)(parameters) {
        solver.team.install(|| graph.transpose())?;
    }
    let mut state = solver.cuda();
    let mut run = || {
        let device = state.device(&solver.engine)?;
        report.engine = format!("cuda:{}", device.properties().ordinal);
        let search: &mut Box<dyn cuda::PreparedSssp> =
            state.prepared(name, plan.device_bytes(), || (algorithm.prepare)(&device, graph, parameters))?;
        report.seconds.prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let outcome = search.solve(&cuda::SsspTask {
            graph,
            lane: L::ON_DEVICE,
            sources: &checked.sources,
            targets: &checked.targets,
            cutoff: L::on_device(checked.cutoff),
            control: &solver.control,
            statistics: solver.statistics,
        })?;
        report.seconds.solve = start.elapsed().as_secs_f64();
        report.statistics = outcome.statistics;
        report.frontiers = outcome.frontiers;
        let start = Instant::now();
        let distances = L::distances(&search.found())?;
        report.seconds.download = start.elapsed().as_secs_f64();
        if solver.statistics {
            let (sources, stops) = (checked.sources.len(), !checked.targets.is_empty());
            cuda::counts::add_waste(&mut report.statistics, graph, sources, stops, &distances);
        }
        let mut predecessors = None;
        if let Some(derivation) = search.derivation().filter(|_| !distances_only) {
            let start = Instant::now();
            let radius = L::on_device(radius_of_ball(&distances, &checked.targets, checked.cutoff));
            let starts: Vec<VertexId> = starts::<L>(&checked.sources, &distances).collect();
            derivation.derive(&starts, radius, graph.has_negative_weights(), &solver.control)?;
            report.seconds.predecessors = start.elapsed().as_secs_f64();
            let start = Instant::now();
            predecessors = Some(derivation.predecessors(&starts)?);
            report.seconds.download += start.elapsed().as_secs_f64();
        }
        Ok((distances, predecessors, outcome.out_of_range))
    };
    match run() {
        Ok((distances, predecessors, out_of_range)) => Ok(Found { distances, predecessors, out_of_range, report }),
        Err(error) => {
            // A device may be lost after an error: the next request opens it again.
            if matches!(error, Error::Device(_)) {
                state.close();
            }
            Err(error)
        }
    }
}

fn solve_by_bfs(solver: &Solver<'_>, bfs: Bfs) -> Result<ShortestPathTree> {
    Ok(as_sssp(bfs.solve_on(solver)?))
}

/// The result of a breadth-first search as one of shortest paths.
fn as_sssp(mut tree: ShortestPathTree) -> ShortestPathTree {
    tree.problem = Problem::Sssp;
    tree.report.reason = format!("breadth-first search, since every edge counts 1; {}", tree.report.reason)
        .trim_end_matches("; ")
        .to_owned();
    tree
}

/// The algorithm of the CPU engine predicted fastest, and why.
fn choose(graph: &Graph) -> (&'static str, &'static str) {
    const SMALL: usize = 1 << 12;
    if graph.has_negative_weights() {
        ("bellman-ford", "some weights are negative")
    } else if graph.vertices() + graph.arcs() <= SMALL {
        ("dijkstra", "the graph is small")
    } else {
        ("delta-stepping", "weights are 0 or more and there is work to share")
    }
}

/// Whether saturated relaxations can't have changed the result: nearly always because the greatest distance plus the
/// greatest weight is in range, else because every head of an arc from a reached vertex is itself reached.
fn narrow_suffices<L: Lane>(
    graph: &Graph,
    adjacency: Adjacency<'_, L::Weight>,
    distances: &[L::Distance],
    bounded: bool,
) -> bool {
    let unreachable = L::Distance::UNREACHABLE;
    let greatest = distances
        .iter()
        .copied()
        .filter(|d| *d != unreachable)
        .fold(L::Distance::ZERO, |a, b| if a < b { b } else { a });
    if distances.iter().any(|distance| distance.to_f64() == f64::NEG_INFINITY) {
        return false;
    }
    if bounded || greatest.to_f64() + graph.weight_range().1 < L::Distance::LIMIT {
        return true;
    }
    (0..graph.vertices() as VertexId).all(|u| {
        let from = distances[u as usize];
        from == unreachable
            || adjacency
                .edges(u)
                .all(|(v, weight)| distances[v as usize] != unreachable || L::extend(from, weight) != unreachable)
    })
}
