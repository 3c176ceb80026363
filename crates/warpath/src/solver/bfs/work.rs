//! Breadth-first search: carries out the decision and makes the result.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use super::{Algorithm, ArcsByHead, Choice};
use crate::algorithms::Statistics;
use crate::cpu::bfs::{BfsAlgorithm, BfsTask, UNREACHED, levels_of_many};
use crate::cpu::sssp::hierarchy::in_type_of;
use crate::cuda::bfs::predecessors::DeviceLevels;
use crate::cuda::bfs::{self as cuda, many_sources};
use crate::cuda::peers::company::parts_of;
use crate::graph::{Distances, MinPlus, NO_VERTEX, UnitToU32, VertexId};
use crate::huge_pages::on_huge_pages;
use crate::problems::{
    Bfs, Problem, Report, Seconds, ShortestPathTree, count_shortest_paths, derive_bfs_predecessors, derive_predecessors,
};
use crate::solver::batches::{Batches, Searched, Together, gone};
use crate::solver::decision::Decision;
use crate::solver::device::{Loan, engine_name};
use crate::solver::facts::OnDevice;
use crate::solver::swept::{Swept, only_tree};
use crate::solver::{Search, Solver, plan_search, trim_to_ball};
use crate::team::Team;
use crate::{Control, Error, Result, memory};

/// The findings of a search, and its report.
struct SearchOutcome {
    /// Correct within the cutoff and the farthest target.
    levels: Vec<u32>,
    /// Correct there, too; present if a device derived them.
    predecessors: Option<Vec<VertexId>>,
    report: Report,
}

/// Searches from many sources on a device, up to a cutoff.
struct ManySources<'a> {
    search: &'a mut many_sources::ManySources,
    cutoff: u32,
}

impl Together for ManySources<'_> {
    fn width(&self) -> Result<usize> {
        Ok(self.search.width())
    }

    fn search(&mut self, sources: &[VertexId], control: &Control) -> Result<Searched> {
        let statistics = self.search.search_each(sources, self.cutoff, control)?;
        Ok(Searched { statistics, out_of_range: Vec::new() })
    }
}

impl Search for Bfs {
    fn starting_at(&self, source: VertexId) -> Self {
        Bfs { sources: vec![source], ..self.clone() }
    }

    fn run_batches(
        &self,
        solver: &Solver,
        decision: &Decision<Choice>,
        sources: &[VertexId],
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()> {
        match &decision.choice.0 {
            Algorithm::Batches(width) => self.batches_on_cpu(solver, decision, *width, sources, each),
            Algorithm::Cuda(chosen) => self.batches_on_cuda(solver, decision, chosen, sources, each),
            Algorithm::Cpu(algorithm, _) if algorithm.needs_metric => {
                let mut one = plan_search(solver, 4, self.distances_only);
                self.plan_path_counts(&solver.graph, false, &mut one);
                let at_once = solver.swept_at_once(sources.len(), one.memory_bytes());
                sources.chunks(at_once).try_for_each(|block| {
                    self.sweep(solver, decision, block, solver.swept_on_cpu(&decision.plan, block, true)?, each)
                })
            }
            Algorithm::Swept(sweeps) => sources
                .chunks(sweeps.rows as usize)
                .try_for_each(|block| self.sweep(solver, decision, block, sweeps.sweep(solver, block)?, each)),
            Algorithm::Cpu(..) => Err(Error::invalid("single searches were decided on")),
        }
    }
}

impl Bfs {
    /// Runs one search, as decided.
    pub(in crate::solver) fn search(
        &self,
        solver: &Solver,
        team: &Team,
        decision: &Decision<Choice>,
    ) -> Result<ShortestPathTree> {
        let sources = solver.checked_sources(&self.sources)?;
        if let Algorithm::Swept(sweeps) = &decision.choice.0 {
            let swept = sweeps.sweep(solver, &sources)?;
            return only_tree(|keep| self.sweep(solver, decision, &sources, swept, keep));
        }
        let targets = solver.checked(&self.targets, "target")?;
        let report = Report { semiring: UnitToU32::NAME, ..decision.report() };
        let found = match &decision.choice.0 {
            Algorithm::Cpu(algorithm, arcs_by_head) => {
                let chosen = (*algorithm, *arcs_by_head);
                self.search_on_cpu(solver, team, decision, chosen, (&sources, &targets), report)?
            }
            Algorithm::Cuda(chosen) => self.search_on_cuda(solver, chosen, (&sources, &targets), report)?,
            Algorithm::Batches(_) | Algorithm::Swept(_) => return Err(Error::invalid("batches were decided on")),
        };
        self.tree(solver, team, sources, &targets, found)
    }

    fn search_on_cpu(
        &self,
        solver: &Solver,
        team: &Team,
        decision: &Decision<Choice>,
        (algorithm, arcs_by_head): (&BfsAlgorithm, ArcsByHead),
        (sources, targets): (&[VertexId], &[VertexId]),
        mut report: Report,
    ) -> Result<SearchOutcome> {
        let graph = &*solver.graph;
        let start = Instant::now();
        let wants_arcs_by_head = self.count_paths || arcs_by_head != ArcsByHead::NotMade;
        let made = if wants_arcs_by_head { team.install(|| graph.transpose()).map(drop) } else { Ok(()) };
        match made {
            // The search does without them, and so do some more.
            Err(Error::OutOfMemory { .. }) if arcs_by_head == ArcsByHead::Worth && !self.count_paths => {
                solver.facts.without_arcs_by_head.store(0, Relaxed);
            }
            made => made?,
        }
        let metric = algorithm.needs_metric.then(|| solver.unweighted_metric()).transpose()?;
        report.seconds.prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let task = BfsTask {
            graph,
            sources,
            targets,
            cutoff: self.cutoff.unwrap_or(UNREACHED),
            parameters: &decision.parameters,
            metric: metric.map(|metric| &**metric),
            team,
            control: &solver.control,
        };
        let outcome = algorithm.solve(&task, !self.distances_only)?;
        report.seconds.solve = start.elapsed().as_secs_f64();
        let is_wide = outcome.statistics.iter().any(|&(counter, levels)| counter == "top_down_levels" && levels > 0);
        if is_wide && !graph.has_transpose() {
            solver.facts.without_arcs_by_head.fetch_add(1, Relaxed);
        }
        report.statistics = outcome.statistics;
        Ok(SearchOutcome { levels: outcome.levels, predecessors: outcome.predecessors, report })
    }

    fn search_on_cuda(
        &self,
        solver: &Solver,
        chosen: &OnDevice<cuda::BfsAlgorithm>,
        (sources, targets): (&[VertexId], &[VertexId]),
        mut report: Report,
    ) -> Result<SearchOutcome> {
        let OnDevice { name, algorithm, parameters, plan, .. } = chosen;
        report.algorithm = algorithm.info.name.into();
        report.device_bytes = plan.device_bytes();
        let start = Instant::now();
        let mut state = solver.device();
        let devices = state.devices_for_parts(&solver.engine, parts_of(parameters))?;
        report.engine = engine_name(&devices);
        let prepare = || {
            solver.team.install(|| match algorithm.prepare_on_several {
                Some(prepare) => prepare(&devices, &solver.graph, parameters),
                None => (algorithm.prepare)(&devices[0], &solver.graph, parameters),
            })
        };
        let search = state.prepared(name, plan, prepare)?;
        report.seconds.prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        report.statistics = search.solve(&cuda::BfsTask {
            sources,
            targets,
            cutoff: self.cutoff.unwrap_or(UNREACHED),
            control: &solver.control,
        })?;
        report.seconds.solve = start.elapsed().as_secs_f64();
        report.order = search.order()?;
        self.download(&search.device_levels(), report)
    }

    /// Copies the findings of a search to the host: levels and, if wanted, predecessors, which the device derives.
    fn download(&self, found: &DeviceLevels<'_>, mut report: Report) -> Result<SearchOutcome> {
        let start = Instant::now();
        let mut derived = None;
        if !self.distances_only {
            derived = found.derive_predecessors()?;
            report.seconds.predecessors = start.elapsed().as_secs_f64();
        }
        let start = Instant::now();
        let levels = found.levels()?;
        let predecessors = derived.map(|derived| found.pool.read(derived)).transpose()?;
        report.seconds.download = start.elapsed().as_secs_f64();
        Ok(SearchOutcome { levels, predecessors, report })
    }

    /// Searches in batches on a device.
    fn batches_on_cuda(
        &self,
        solver: &Solver,
        decision: &Decision<Choice>,
        chosen: &OnDevice<cuda::BfsAlgorithm>,
        sources: &[VertexId],
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()> {
        let OnDevice { algorithm, parameters, .. } = chosen;
        let report = Report { semiring: UnitToU32::NAME, ..decision.report() };
        let prepare = |device: &_| (algorithm.prepare)(device, &solver.graph, parameters);
        let (mut graph, report) = Loan::take(solver, chosen, algorithm.info.name, report, prepare)?;
        let mut batches = Batches::new(sources, &solver.control, report);
        for (index, &source) in sources.iter().enumerate() {
            let search = graph.search()?.many_sources().ok_or_else(gone)?;
            let mut together = ManySources { search, cutoff: self.cutoff.unwrap_or(UNREACHED) };
            let located = batches.locate(index, false, &mut together)?;
            let found = self.download(&search.found_from(located.place), located.report)?;
            each(self.tree(solver, &solver.team, vec![source], &[], found)?)?;
        }
        Ok(())
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
        let targets = solver.checked(&self.targets, "target")?;
        let rows = std::mem::take(&mut swept.rows);
        sources.iter().zip(rows).try_for_each(|(&source, row)| {
            solver.control.check()?;
            let report = Report { semiring: UnitToU32::NAME, ..swept.report(decision.report()) };
            let found = SearchOutcome { levels: in_type_of::<UnitToU32>(row)?, predecessors: None, report };
            each(self.tree(solver, &solver.team, vec![source], &targets, found)?)
        })
    }

    /// Searches in batches on the CPU, one batch on each thread at a time.
    fn batches_on_cpu(
        &self,
        solver: &Solver,
        decision: &Decision<Choice>,
        width: usize,
        sources: &[VertexId],
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<()> {
        let (graph, team) = (&*solver.graph, &solver.team);
        let statistics: Statistics = vec![("searches_in_a_batch", width as u64)];
        let start = Instant::now();
        team.install(|| graph.transpose())?;
        let mut prepare = start.elapsed().as_secs_f64();
        for block in sources.chunks(width * team.threads()) {
            let start = Instant::now();
            let rows: Vec<Mutex<Vec<u32>>> =
                memory::listed("the list of rows", block.iter().map(|_| Mutex::default()))?;
            let emit = |index: usize, levels: &[u32]| {
                let mut row = on_huge_pages(memory::with_capacity("the array of levels", levels.len())?);
                row.extend_from_slice(levels);
                *rows[index].lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = row;
                Ok(())
            };
            levels_of_many(graph, block, width, team, &solver.control, &emit)?;
            let solve = start.elapsed().as_secs_f64() / block.len() as f64;
            for (&source, row) in block.iter().zip(rows) {
                solver.control.check()?;
                let seconds = Seconds { prepare: std::mem::take(&mut prepare), solve, ..Default::default() };
                let statistics = statistics.clone();
                let report = Report { semiring: UnitToU32::NAME, seconds, statistics, ..decision.report() };
                let levels = row.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
                let found = SearchOutcome { levels, predecessors: None, report };
                each(self.tree(solver, team, vec![source], &[], found)?)?;
            }
        }
        Ok(())
    }

    /// The result. Predecessors are derived now if they are wanted and missing.
    fn tree(
        &self,
        solver: &Solver,
        team: &Team,
        sources: Vec<VertexId>,
        targets: &[VertexId],
        found: SearchOutcome,
    ) -> Result<ShortestPathTree> {
        let graph = &*solver.graph;
        let SearchOutcome { mut levels, mut predecessors, mut report } = found;
        if self.count_paths && !graph.has_transpose() {
            let start = Instant::now();
            team.install(|| graph.transpose())?;
            report.seconds.prepare += start.elapsed().as_secs_f64();
        }
        let bound = trim_to_ball(&mut levels, targets, self.cutoff.unwrap_or(UNREACHED));
        match &mut predecessors {
            Some(predecessors) if bound.is_some() => {
                let cut_off = levels.iter().zip(predecessors).filter(|(level, _)| **level == UNREACHED);
                cut_off.for_each(|(_, predecessor)| *predecessor = NO_VERTEX);
            }
            None if !self.distances_only => {
                let start = Instant::now();
                let derived = team.install(|| {
                    if graph.has_transpose() {
                        derive_bfs_predecessors(graph.transpose()?, &levels)
                    } else {
                        derive_predecessors::<UnitToU32>(graph.csr().unweighted(), &sources, &levels, false)
                    }
                })?;
                report.seconds.predecessors = start.elapsed().as_secs_f64();
                predecessors = Some(derived);
            }
            _ => {}
        }
        let mut path_counts = None;
        if self.count_paths {
            let start = Instant::now();
            path_counts = Some(team.install(|| count_shortest_paths(graph.transpose()?, &levels))?);
            report.seconds.solve += start.elapsed().as_secs_f64();
        }
        Ok(ShortestPathTree {
            problem: Problem::Bfs,
            sources,
            distances: Distances::U32(levels),
            predecessors,
            path_counts,
            bound,
            report,
            facts: OnceLock::new(),
        })
    }
}
