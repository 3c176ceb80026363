//! Shortest paths from many sources at once, batch after batch on a device.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::Found;
use crate::cpu::sssp::SsspLane;
use crate::cuda::sssp::many_sources::{self, ALGORITHM, MOST_VERTICES, widest};
use crate::cuda::sssp::{self as cuda, LaneOnDevice};
use crate::graph::{F32Lane, F64Lane, Graph, I32Lane, U32Narrow, U32Wide, UnitLane, VertexId, WeightKind};
use crate::problems::{Report, Seconds, ShortestPathTree, Sssp};
use crate::solver::Solver;
use crate::solver::cuda::{Loan, OnCuda};
use crate::solver::place::{Placed, leaves_it_to_the_cpu};
use crate::{Error, Result};
use crate::{Plan, available_memory};

/// What a launch takes at least, with its report.
const LAUNCH: f64 = 200e-6;
/// Fewer searches than this go one after another, unless something else is asked for.
const FEWEST: usize = 8;

/// What one search after another is predicted to take each, in seconds.
pub(super) fn seconds_alone(algorithm: &cuda::SsspAlgorithm, graph: &Graph) -> f64 {
    /// Arcs a second of `near-far`, vertices a second of `multi-hop`, and arcs a second of all others.
    const ARCS: f64 = 25e9;
    const VERTICES: f64 = 400e6;
    const OTHERS: f64 = 1e9;
    let (vertices, arcs) = (graph.vertices() as f64, graph.arcs() as f64);
    let searching = match algorithm.info.name {
        "near-far" => arcs / ARCS,
        "multi-hop" => vertices / VERTICES,
        "many-sources" => accesses(graph) / Rates::on(graph).of_a_block,
        _ => arcs / OTHERS,
    };
    LAUNCH + searching
}

/// What so many searches together are predicted to take, in seconds.
pub(in crate::solver) fn seconds_together(graph: &Graph, searches: usize) -> f64 {
    let width = width(graph, searches).min(searches);
    let Rates { of_a_block, of_all } = Rates::on(graph);
    let in_flight = of_all.min(of_a_block * width as f64);
    searches as f64 * accesses(graph) / in_flight + searches.div_ceil(width.max(1)) as f64 * LAUNCH
}

/// Random accesses a second, as measured, of a block that searches and of all blocks at once.
struct Rates {
    of_a_block: f64,
    of_all: f64,
}

impl Rates {
    fn on(graph: &Graph) -> Self {
        /// Vertices whose distances fit shared memory.
        const SHARED: usize = 50_000;
        /// Arcs a vertex that make fronts short, and vertices that make them short anyway: what is in use of the distances
        /// of all searches fits the L2 cache.
        const THIN: usize = 4;
        const SMALL: usize = 1 << 17;
        let (of_a_block, of_all) = if graph.vertices() <= SHARED {
            (160e6, 87e9)
        } else if graph.vertices() <= SMALL || graph.arcs() <= THIN * graph.vertices() {
            (50e6, 40e9)
        } else {
            (10e6, 2e9)
        };
        Rates { of_a_block, of_all }
    }
}

/// Random accesses of one search: two a vertex, one an arc.
fn accesses(graph: &Graph) -> f64 {
    2.0 * graph.vertices() as f64 + graph.arcs() as f64
}

/// How many searches of so many are in a batch, if there is memory.
fn width(graph: &Graph, searches: usize) -> usize {
    searches.next_power_of_two().min(widest(graph))
}

impl Sssp {
    /// Whether so many searches of this kind are done at once on the CUDA engine.
    ///
    /// # Errors
    ///
    /// If there is no such algorithm there, or it does not take this graph.
    pub(super) fn goes_together(&self, solver: &Solver<'_>, searches: usize) -> Result<bool> {
        let graph = solver.graph;
        let chosen = self.on_cuda(solver)?;
        if !self.targets.is_empty() {
            return Ok(false);
        }
        if self.algorithm.is_some() {
            return Ok(chosen.algorithm.info.name == ALGORITHM.info.name);
        }
        Ok(searches >= FEWEST
            && graph.vertices() <= MOST_VERTICES
            && ALGORITHM.check(graph).is_ok()
            && seconds_together(graph, searches) < searches as f64 * seconds_alone(chosen.algorithm, graph))
    }

    /// What so many searches at once are on the CUDA engine, unless the algorithm asked for says how many.
    pub(super) fn many_on_cuda(&self, solver: &Solver<'_>, width: usize) -> Result<Arc<OnCuda<cuda::SsspAlgorithm>>> {
        let named = || format!("{}:width={width}", ALGORITHM.info.name);
        Sssp { algorithm: self.algorithm.clone().or_else(|| Some(named())), ..self.clone() }.on_cuda(solver)
    }

    /// The same for so many searches in all, as many of them at once as are worth it and fit some memory; `None` if
    /// those are too few to pay.
    pub(super) fn most_on_cuda(
        &self,
        solver: &Solver<'_>,
        searches: usize,
        available: u64,
    ) -> Result<Option<Arc<OnCuda<cuda::SsspAlgorithm>>>> {
        let mut width = width(solver.graph, searches);
        loop {
            let many = self.many_on_cuda(solver, width)?;
            if self.algorithm.is_some() || many.plan.device_bytes() <= available {
                return Ok(Some(many));
            }
            width /= 2;
            if width < FEWEST {
                return Ok(None);
            }
        }
    }

    /// Searches from many sources, batch after batch on a device.
    pub(super) fn solve_together_on_cuda(
        &self,
        solver: &Solver<'_>,
        sources: &[VertexId],
        place: &Placed,
        each: &mut dyn FnMut(ShortestPathTree) -> Result<()>,
    ) -> Result<bool> {
        // It was only predicted that the device would do.
        let is_forgiven = |error: &Error| place.optional && leaves_it_to_the_cpu(error);
        let checked = |many: Arc<OnCuda<cuda::SsspAlgorithm>>| solver.check_plan(&many.plan).map(|()| many);
        let most = solver.allowed_on_device().and_then(|available| self.most_on_cuda(solver, sources.len(), available));
        let many = match most.and_then(|many| many.map(checked).transpose()) {
            Ok(Some(many)) => many,
            Ok(None) => return Ok(false),
            Err(error) if is_forgiven(&error) => {
                solver.rest_on_cpu(self, sources, &error, each)?;
                return Ok(true);
            }
            Err(error) => return Err(error),
        };
        self.with_tree(solver, Plan::new()).check(available_memory())?;
        let mut batches = Batches { request: self, solver, many: &many, sources, place, state: None };
        for index in 0..sources.len() {
            match batches.tree(index) {
                Ok(tree) => each(tree)?,
                Err(error) => {
                    // A device may be lost after an error: the next request opens it again.
                    if matches!(error, Error::Device(_)) {
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
            }
        }
        Ok(true)
    }
}

/// Searches from many sources on a device, a batch at a time.
struct Batches<'s, 'g> {
    request: &'s Sssp,
    solver: &'s Solver<'g>,
    many: &'s OnCuda<cuda::SsspAlgorithm>,
    sources: &'s [VertexId],
    place: &'s Placed,
    /// The graph on the device, once the first distances were asked for, and how the present batch went.
    state: Option<BatchState<'s, 'g>>,
}

/// A graph on a device, taken from the solver, and how a batch went.
struct BatchState<'s, 'g> {
    graph: Loan<'s, 'g, Box<dyn cuda::PreparedSssp>>,
    report: Report,
    /// Those of the graph's lane.
    batch: Done,
    /// Some of them again, in the wide lane.
    repeated: Done,
}

/// What was searched for together, and is still on the device.
#[derive(Debug, Default)]
struct Done {
    /// Indices of sources, in ascending order.
    indices: Vec<usize>,
    /// For each of them, whether a walk was longer than the lane's distances go.
    out_of_range: Vec<bool>,
    report: Report,
}

impl<'s, 'g> Batches<'s, 'g> {
    fn begin(&self) -> Result<BatchState<'s, 'g>> {
        let OnCuda { algorithm, parameters, .. } = self.many;
        let (graph, report) =
            Loan::take(self.solver, self.many, |device| (algorithm.prepare)(device, self.solver.graph, parameters))?;
        let report = Report {
            algorithm: algorithm.info.name.into(),
            reason: format!("{} searches hide each other's waiting", self.sources.len()),
            ..report
        };
        Ok(BatchState { graph, report, batch: Done::default(), repeated: Done::default() })
    }

    /// The result for the source at this index, which comes after the last one that was asked for.
    fn tree(&mut self, index: usize) -> Result<ShortestPathTree> {
        match self.solver.graph.weight_kind() {
            WeightKind::Unit => self.tree_in::<UnitLane>(index),
            WeightKind::U32 => match self.tree_in::<U32Narrow>(index) {
                Err(Error::DistanceOverflow { .. }) => {
                    let mut tree = self.tree_in::<U32Wide>(index)?;
                    tree.report.repeated_wide = true;
                    Ok(tree)
                }
                other => other,
            },
            WeightKind::I32 => self.tree_in::<I32Lane>(index),
            WeightKind::F32 => self.tree_in::<F32Lane>(index),
            WeightKind::F64 => self.tree_in::<F64Lane>(index),
        }
    }

    fn tree_in<L: SsspLane + LaneOnDevice>(&mut self, index: usize) -> Result<ShortestPathTree> {
        let solver = self.solver;
        let Some(adjacency) = solver.graph.csr().adjacency::<L::Weight>() else {
            return Err(Error::invalid("the graph has weights of another type"));
        };
        let request = self.request;
        let one = Sssp { sources: vec![self.sources[index]], targets: Vec::new(), ..request.clone() };
        let checked = one.check::<L>(solver)?;
        let found = self.found_from::<L>(index, checked.cutoff)?;
        request.tree(solver, adjacency, checked, found)
    }

    /// The distances from the source at this index, and how they were found.
    fn found_from<L: LaneOnDevice>(&mut self, index: usize, cutoff: L::Distance) -> Result<Found<L>> {
        let state = match self.state.take() {
            Some(state) => state,
            None => self.begin()?,
        };
        let state = self.state.insert(state);
        let search = state.graph.search()?.many_sources().ok_or_else(gone)?;
        let is_repeated = cuda::lanes_of(self.solver.graph)[0] != L::ON_DEVICE;
        let width = search.width(L::ON_DEVICE)?;
        let next: Vec<usize> = if is_repeated {
            // What may need it, too, of those that are done.
            let flagged = state.batch.indices.iter().zip(&state.batch.out_of_range);
            let flagged = flagged.filter(|(other, flag)| **flag && **other >= index);
            flagged.map(|(other, _)| *other).take(width).collect()
        } else {
            share(index..self.sources.len(), width).collect()
        };
        let done = if is_repeated { &mut state.repeated } else { &mut state.batch };
        if done.indices.binary_search(&index).is_err() {
            *done = Self::search::<L>(self.solver, search, self.sources, next, cutoff)?;
        }
        let place = done.indices.binary_search(&index).map_err(|_| gone())?;
        let mut report = Report {
            statistics: done.report.statistics.clone(),
            engine_reason: self.place.reason.clone(),
            lane: L::NAME,
            ..state.report.clone()
        };
        report.seconds.solve = done.report.seconds.solve;
        let start = Instant::now();
        let distances = L::distances(&search.found_from(L::ON_DEVICE, place)?)?;
        report.seconds.download = start.elapsed().as_secs_f64();
        // Only the first had to wait for that.
        state.report.seconds.prepare = 0.0;
        Ok(Found { distances, predecessors: None, out_of_range: done.out_of_range[place], report })
    }

    /// Searches from the sources at these indices.
    fn search<L: LaneOnDevice>(
        solver: &Solver<'_>,
        search: &mut many_sources::ManySources,
        sources: &[VertexId],
        indices: Vec<usize>,
        cutoff: L::Distance,
    ) -> Result<Done> {
        solver.control.check()?;
        let start = Instant::now();
        let batch: Vec<VertexId> = indices.iter().map(|&index| sources[index]).collect();
        let outcome = search.search_each(L::ON_DEVICE, &batch, L::on_device(cutoff), &solver.control)?;
        let solve = start.elapsed().as_secs_f64() / batch.len() as f64;
        let seconds = Seconds { solve, ..Default::default() };
        let report = Report { statistics: outcome.statistics, seconds, ..Default::default() };
        Ok(Done { indices, out_of_range: outcome.out_of_range, report })
    }
}

/// The first of as few batches as it takes, all of about one size.
fn share(rest: Range<usize>, width: usize) -> Range<usize> {
    let batches = rest.len().div_ceil(width.max(1)).max(1);
    rest.start..rest.start + rest.len().div_ceil(batches)
}

fn gone() -> Error {
    Error::Device("what was prepared is no search from many sources".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problems::Problem;

    #[test]
    fn batches_are_of_about_one_size() {
        for (rest, width, expected) in [(0..20, 8, 0..7), (7..20, 8, 7..14), (14..20, 8, 14..20), (3..4, 100, 3..4)] {
            assert_eq!(share(rest, width), expected);
        }
    }

    /// Roads and small graphs are searched together, large graphs of short paths one search after another.
    #[test]
    fn searches_go_together_where_that_is_predicted_to_pay() {
        let near_far = cuda::ALGORITHMS.iter().find(|algorithm| algorithm.info.name == "near-far").unwrap();
        let pays = |vertices: u32, degree: u32, searches: usize| {
            let arcs = (0..vertices).flat_map(|v| (0..degree).map(move |k| (v, (v + 1 + k * 7919) % vertices, k + 1)));
            let graph = Graph::from_edges(arcs).unwrap();
            seconds_together(&graph, searches) < searches as f64 * seconds_alone(near_far, &graph)
        };
        assert!(pays(100_000, 2, 100));
        assert!(pays(2_000, 20, 8) && pays(2_000, 20, 1000));
        assert!(!pays(100_000, 30, 8));
    }

    #[test]
    fn without_weights_they_are_those_of_breadth_first_search() {
        let graph = Graph::from_edges((0..20_000_u32).flat_map(|v| (1..5).map(move |k| (v, v * k * 7919 % 20_000))));
        let graph = graph.unwrap();
        let sources: Vec<VertexId> = (0..100).collect();
        let solver = Solver::builder(&graph).threads(2).open().unwrap();
        let each = |tree: ShortestPathTree| {
            assert_eq!((tree.problem(), tree.report().algorithm.as_str()), (Problem::Sssp, "multi-source"));
            assert!(tree.report().reason.starts_with("breadth-first search, since every edge counts 1"));
            tree.verify(&graph)
        };
        solver.solve_each(Sssp::from(0), &sources, each).unwrap();
    }
}
