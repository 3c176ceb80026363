//! Single-source shortest paths: carries out the decision and makes the result.

use std::sync::OnceLock;
use std::time::Instant;

use super::{Algorithm, Choice};
use crate::cpu::sssp::hierarchy::in_type_of;
use crate::cpu::sssp::{SsspAlgorithm, SsspTask};
use crate::cuda::peers::company::parts_of;
use crate::cuda::sssp::predecessors::Derivation;
use crate::cuda::sssp::{self as cuda, MinPlusOnDevice, many_sources};
use crate::graph::{Adjacency, DistanceValue, Distances, Graph, MinPlus, VertexId};
use crate::problems::{Problem, Report, Seconds, ShortestPathTree, Sssp, derive_predecessors, starts};
use crate::solver::batches::{Batches, Searched, Together, gone};
use crate::solver::decision::Decision;
use crate::solver::device::{Loan, engine_name};
use crate::solver::facts::OnDevice;
use crate::solver::semirings::{in_semiring, other_weights};
use crate::solver::swept::{Swept, only_tree};
use crate::solver::{Search, Solver, plan_search, radius_of_ball, trim_to_ball};
use crate::team::Team;
use crate::{Control, Error, Result};

/// The request, checked and in a semiring.
struct Checked<L: MinPlus> {
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    cutoff: L::Distance,
}

/// The findings of a search, and its report.
struct SearchOutcome<L: MinPlus> {
    /// Correct within the cutoff and the farthest target.
    distances: Vec<L::Distance>,
    /// Correct there, too; present if they are wanted and the device derived them.
    predecessors: Option<Vec<VertexId>>,
    /// Whether a walk may have left the range of the semiring's distances.
    out_of_range: bool,
    report: Report,
}

/// Searches from many sources on a device, in a semiring and up to a cutoff.
struct ManySources<'a, L: MinPlusOnDevice> {
    search: &'a mut many_sources::ManySources,
    cutoff: L::Distance,
}

impl<L: MinPlusOnDevice> Together for ManySources<'_, L> {
    fn width(&self) -> Result<usize> {
        self.search.width(L::ON_DEVICE)
    }

    fn search(&mut self, sources: &[VertexId], control: &Control) -> Result<Searched> {
        let outcome = self.search.search_each(L::ON_DEVICE, sources, L::on_device(self.cutoff), control)?;
        Ok(Searched { statistics: outcome.statistics, out_of_range: outcome.out_of_range })
    }
}

impl Search for Sssp {
    fn starting_at(&self, source: VertexId) -> Self {
        Sssp { sources: vec![source], ..self.clone() }
    }

    fn run_batches(
        &self,
        solver: &Solver,
        decision: &Decision<Choice>,
        sources: &[VertexId],
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()> {
        let chosen = match &decision.choice.0 {
            Algorithm::Bfs(decided) => {
                let Some(bfs) = self.as_bfs(&solver.graph)? else { return Err(no_bfs()) };
                return bfs.run_batches(solver, decided, sources, &mut |tree| each(as_sssp(tree)));
            }
            Algorithm::Cuda(chosen) => chosen,
            Algorithm::Cpu(_) if decision.choice.needs_metric() => {
                let one = plan_search(solver, 8, self.distances_only).memory_bytes();
                let at_once = solver.swept_at_once(sources.len(), one);
                return sources.chunks(at_once).try_for_each(|block| {
                    self.sweep(solver, decision, block, solver.swept_on_cpu(&decision.plan, block, false)?, each)
                });
            }
            Algorithm::Swept(sweeps) => {
                return sources
                    .chunks(sweeps.rows as usize)
                    .try_for_each(|block| self.sweep(solver, decision, block, sweeps.sweep(solver, block)?, each));
            }
            Algorithm::Cpu(_) => return Err(Error::invalid("single searches were decided on")),
        };
        let OnDevice { algorithm, parameters, .. } = &**chosen;
        let prepare = |device: &_| (algorithm.prepare)(device, &solver.graph, parameters);
        let (mut graph, report) = Loan::take(solver, chosen, algorithm.info.name, decision.report(), prepare)?;
        let mut batches = Batches::new(sources, &solver.control, report);
        for (index, &source) in sources.iter().enumerate() {
            let search = graph.search()?.many_sources().ok_or_else(gone)?;
            let one = Sssp { sources: vec![source], targets: Vec::new(), ..self.clone() };
            each(
                in_semiring!(solver.graph, L, again => one.tree_of_batch::<L>(solver, search, &mut batches, index, again))?,
            )?;
        }
        Ok(())
    }
}

impl Sssp {
    /// Runs one search, as decided.
    pub(super) fn search(&self, solver: &Solver, team: &Team, decision: &Decision<Choice>) -> Result<ShortestPathTree> {
        if let Algorithm::Bfs(decided) = &decision.choice.0 {
            let Some(bfs) = self.as_bfs(&solver.graph)? else { return Err(no_bfs()) };
            return bfs.search(solver, team, decided).map(as_sssp);
        }
        if let Algorithm::Swept(sweeps) = &decision.choice.0 {
            let sources = solver.checked_sources(&self.sources)?;
            let swept = sweeps.sweep(solver, &sources)?;
            return only_tree(|keep| self.sweep(solver, decision, &sources, swept, keep));
        }
        in_semiring!(solver.graph, L, wide => self.search_in::<L>(solver, team, decision, wide))
    }

    fn search_in<L: MinPlusOnDevice>(
        &self,
        solver: &Solver,
        team: &Team,
        decision: &Decision<Choice>,
        wide: bool,
    ) -> Result<ShortestPathTree> {
        let adjacency = solver.graph.csr().adjacency::<L::Weight>().ok_or_else(other_weights)?;
        let checked = self.check::<L>(solver)?;
        let report = Report { semiring: L::NAME, repeated_wide: wide, ..decision.report() };
        let found = match &decision.choice.0 {
            Algorithm::Cuda(chosen) => search_on_cuda(solver, chosen, &checked, self.distances_only, report)?,
            Algorithm::Cpu(algorithm) => search_on_cpu(solver, team, decision, algorithm, adjacency, &checked, report)?,
            Algorithm::Bfs(_) => return Err(no_bfs()),
            Algorithm::Swept(_) => return Err(Error::invalid("sweeps were decided on")),
        };
        self.tree(solver, team, adjacency, checked, found)
    }

    /// The tree from the request's one source, which is at this index of the sources searched in batches.
    fn tree_of_batch<L: MinPlusOnDevice>(
        &self,
        solver: &Solver,
        search: &mut many_sources::ManySources,
        batches: &mut Batches<'_>,
        index: usize,
        again: bool,
    ) -> Result<ShortestPathTree> {
        let adjacency = solver.graph.csr().adjacency::<L::Weight>().ok_or_else(other_weights)?;
        let checked = self.check::<L>(solver)?;
        let located =
            batches.locate(index, again, &mut ManySources::<L> { search: &mut *search, cutoff: checked.cutoff })?;
        let mut report = Report { semiring: L::NAME, repeated_wide: again, ..located.report };
        let start = Instant::now();
        let distances = search.found_from(L::ON_DEVICE, located.place)?.read::<L>()?;
        report.seconds.download = start.elapsed().as_secs_f64();
        /// Fewer arcs take the host less than the launches.
        const FEW_ARCS: usize = 1 << 14;
        let derivation = search.derivation_from(L::ON_DEVICE, located.place)?;
        let derive = || derived::<L>(solver, &derivation, &checked, &distances, &mut report.seconds);
        let on_device = !self.distances_only && solver.graph.arcs() >= FEW_ARCS && !located.out_of_range;
        let predecessors = on_device.then(derive).transpose()?;
        let found = SearchOutcome { distances, predecessors, out_of_range: located.out_of_range, report };
        self.tree(solver, &solver.team, adjacency, checked, found)
    }

    /// Hands over the trees of sources whose rows were swept.
    fn sweep(
        &self,
        solver: &Solver,
        decision: &Decision<Choice>,
        sources: &[VertexId],
        mut swept: Swept,
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()> {
        let rows = std::mem::take(&mut swept.rows);
        sources.iter().zip(rows).try_for_each(|(&source, row)| {
            solver.control.check()?;
            let one = self.starting_at(source);
            let report = swept.report(decision.report());
            let mut row = Some(row);
            let tree = in_semiring!(solver.graph, L, wide => {
                // Distances of 64 bits may be asked for once more.
                let distances = if let Some(Distances::U64(_)) = row { row.clone() } else { row.take() };
                one.tree_of_sweep::<L>(solver, distances.ok_or_else(other_weights)?, report.clone(), wide)
            })?;
            each(tree)
        })
    }

    fn tree_of_sweep<L: MinPlus>(
        &self,
        solver: &Solver,
        found: Distances,
        report: Report,
        wide: bool,
    ) -> Result<ShortestPathTree> {
        let adjacency = solver.graph.csr().adjacency::<L::Weight>().ok_or_else(other_weights)?;
        let report = Report { semiring: L::NAME, repeated_wide: wide, ..report };
        let distances = in_type_of::<L>(found)?;
        let found = SearchOutcome { distances, predecessors: None, out_of_range: true, report };
        self.tree(solver, &solver.team, adjacency, self.check::<L>(solver)?, found)
    }

    /// The result, if the semiring's range was wide enough for it.
    fn tree<L: MinPlus>(
        &self,
        solver: &Solver,
        team: &Team,
        adjacency: Adjacency<'_, L::Weight>,
        checked: Checked<L>,
        found: SearchOutcome<L>,
    ) -> Result<ShortestPathTree> {
        let graph = &*solver.graph;
        let SearchOutcome { mut distances, mut predecessors, out_of_range, mut report } = found;
        let bound = trim_to_ball(&mut distances, &checked.targets, checked.cutoff);
        if out_of_range && !narrow_suffices::<L>(graph, adjacency, &distances, bound.is_some()) {
            return Err(Error::DistanceOverflow { semiring: L::NAME });
        }
        if predecessors.is_none() && !self.distances_only {
            let start = Instant::now();
            let signed = graph.has_negative_weights();
            let derive = || derive_predecessors::<L>(adjacency, &checked.sources, &distances, signed);
            predecessors = Some(team.install(derive)?);
            report.seconds.predecessors = start.elapsed().as_secs_f64();
        }
        Ok(ShortestPathTree {
            problem: Problem::Sssp,
            sources: checked.sources,
            distances: L::Distance::into_distances(distances),
            predecessors,
            path_counts: None,
            bound,
            report,
            facts: OnceLock::new(),
        })
    }

    fn check<L: MinPlus>(&self, solver: &Solver) -> Result<Checked<L>> {
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
        let cutoff = self.cutoff.map_or(Ok(L::Distance::UNREACHABLE), |cutoff| cutoff.in_type())?;
        Ok(Checked { sources, targets, cutoff })
    }
}

fn search_on_cpu<L: MinPlus>(
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
    algorithm: &SsspAlgorithm,
    adjacency: Adjacency<'_, L::Weight>,
    checked: &Checked<L>,
    mut report: Report,
) -> Result<SearchOutcome<L>> {
    let graph = &*solver.graph;
    let start = Instant::now();
    graph.weight_range();
    let metric = algorithm.needs_metric().then(|| solver.metric()).transpose()?;
    report.seconds.prepare = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let outcome = algorithm.solve::<L>(&SsspTask {
        adjacency,
        graph,
        sources: &checked.sources,
        targets: &checked.targets,
        cutoff: checked.cutoff,
        parameters: &decision.parameters,
        metric: metric.map(|metric| &**metric),
        team,
        control: &solver.control,
    })?;
    report.seconds.solve = start.elapsed().as_secs_f64();
    report.statistics = outcome.statistics;
    Ok(SearchOutcome { distances: outcome.distances, predecessors: None, out_of_range: true, report })
}

fn search_on_cuda<L: MinPlusOnDevice>(
    solver: &Solver,
    chosen: &OnDevice<cuda::SsspAlgorithm>,
    checked: &Checked<L>,
    distances_only: bool,
    mut report: Report,
) -> Result<SearchOutcome<L>> {
    let OnDevice { name, algorithm, parameters, plan, .. } = chosen;
    let graph = &*solver.graph;
    report.algorithm = algorithm.info.name.into();
    report.device_bytes = plan.device_bytes();
    let start = Instant::now();
    if (algorithm.needs_transpose)(parameters) {
        solver.team.install(|| graph.transpose())?;
    }
    let mut state = solver.device();
    let devices = state.devices_for_parts(&solver.engine, parts_of(parameters))?;
    report.engine = engine_name(&devices);
    let prepare = || {
        solver.team.install(|| match algorithm.prepare_on_several {
            Some(prepare) => prepare(&devices, graph, parameters),
            None => (algorithm.prepare)(&devices[0], graph, parameters),
        })
    };
    let search: &mut Box<dyn cuda::PreparedSssp> = state.prepared(name, plan, prepare)?;
    report.seconds.prepare = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let outcome = search.solve(&cuda::SsspTask {
        graph: Some(graph),
        semiring: L::ON_DEVICE,
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
    let distances = search.device_distances().read::<L>()?;
    report.seconds.download = start.elapsed().as_secs_f64();
    if solver.statistics {
        let (sources, stops) = (checked.sources.len(), !checked.targets.is_empty());
        cuda::counts::add_waste(&mut report.statistics, graph, sources, stops, &distances);
    }
    let derivation = search.derivation().filter(|_| !distances_only);
    let derived = derivation.map(|found| derived::<L>(solver, &found, checked, &distances, &mut report.seconds));
    Ok(SearchOutcome { distances, predecessors: derived.transpose()?, out_of_range: outcome.out_of_range, report })
}

/// The predecessors that the device derives from these distances.
fn derived<L: MinPlusOnDevice>(
    solver: &Solver,
    derivation: &Derivation<'_>,
    checked: &Checked<L>,
    distances: &[L::Distance],
    seconds: &mut Seconds,
) -> Result<Vec<VertexId>> {
    let start = Instant::now();
    let radius = L::on_device(radius_of_ball(distances, &checked.targets, checked.cutoff));
    let starts: Vec<VertexId> = starts::<L>(&checked.sources, distances).collect();
    derivation.derive(&starts, radius, solver.graph.has_negative_weights(), &solver.control)?;
    seconds.predecessors = start.elapsed().as_secs_f64();
    let start = Instant::now();
    let predecessors = derivation.predecessors(&starts)?;
    seconds.download += start.elapsed().as_secs_f64();
    Ok(predecessors)
}

/// The result of a breadth-first search as a result of shortest paths.
fn as_sssp(mut tree: ShortestPathTree) -> ShortestPathTree {
    tree.problem = Problem::Sssp;
    tree
}

fn no_bfs() -> Error {
    Error::invalid("breadth-first search does not do where edges have weights")
}

/// Whether saturated relaxations can't have changed the result: nearly always because the greatest distance plus the
/// greatest weight is in range, else because every head of an arc from a reached vertex is itself reached.
fn narrow_suffices<L: MinPlus>(
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
