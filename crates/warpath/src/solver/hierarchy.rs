//! The hierarchy of a solver's graph: given, or made when a request first needs it; and when it pays ([`pays`]).

mod pays;
mod plan;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, TryLockError};

use super::Solver;
use crate::algorithms::AlgorithmInfo;
use crate::cpu::sssp::hierarchy::ALGORITHM;
use crate::cuda::apsp::hierarchy as on_device;
use crate::cuda::customization::{self, CustomizingDevice};
use crate::graph::{Graph, VertexId, WeightKind, Weights};
use crate::hierarchy::{Elsewhere, Estimate, Hierarchy, Metric};
use crate::{Engine, Error, Result};

pub(super) use pays::times_as_long;
pub(super) use plan::room_for_labels;

/// The name of the algorithm that answers from a hierarchy.
pub(super) const NAME: &str = ALGORITHM.info.name;

/// Whether this text asks for the algorithm, with parameters or without.
pub(super) fn is_asked_for(algorithm: Option<&str>) -> bool {
    algorithm.is_some_and(|text| text.split(':').next() == Some(NAME))
}

/// An error if one search on a device starts at several sources: each has a row of its own there.
pub(super) fn check_sources(many: Option<usize>, sources: &[VertexId]) -> Result<()> {
    let differ = || sources.iter().any(|source| *source != sources[0]);
    if many.is_none() && differ() {
        return Err(Error::invalid(format!("on a GPU, `{NAME}` searches from one source; engine cpu takes several")));
    }
    Ok(())
}

/// Why some graphs are not answered from a hierarchy on a device.
pub(super) const SIGNED: &str = "on a GPU, `hierarchy` takes integers without a sign; engine cpu takes others";

/// A hierarchy and the lengths of its shortcuts, as far as they are there.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    /// Given, or made.
    hierarchy: OnceLock<Hierarchy>,
    /// With the graph's weights.
    metric: OnceLock<Arc<Metric>>,
    /// With a length of 1 for every arc.
    unweighted: OnceLock<Arc<Metric>>,
    /// What one would be like, once somebody has asked; `None` if nobody can tell.
    estimate: OnceLock<Option<Estimate>>,
    /// The order of its vertices, if it was made beside the estimate.
    order: OnceLock<Vec<VertexId>>,
    /// The nanoseconds that a device took for those with the graph's weights by its own clock; 0 if none did.
    on_device: AtomicU64,
    /// Whether the graph had other weights before.
    is_reweighted: bool,
    /// Held while something is made, so that no two threads make it.
    making: Mutex<()>,
}

impl Prepared {
    pub(super) fn of(given: Option<Hierarchy>) -> Self {
        Prepared { hierarchy: given.map_or_else(OnceLock::new, OnceLock::from), ..Default::default() }
    }

    /// What stays of it for the same graph with other weights.
    pub(super) fn reweighted(&self, graph: &Arc<Graph>) -> Self {
        let there = self.hierarchy.get().map(|hierarchy| hierarchy.reweighted(graph.clone()));
        Prepared { estimate: self.estimate.clone(), order: self.order.clone(), is_reweighted: true, ..Self::of(there) }
    }

    /// The nanoseconds that a device took for the lengths of shortcuts by its own clock, if one made them.
    pub(super) fn nanoseconds_on_device(&self) -> Option<u64> {
        Some(self.on_device.load(Ordering::Relaxed)).filter(|&nanoseconds| nanoseconds > 0)
    }
}

impl Solver {
    /// The hierarchy with the graph's weights. Makes what is not there, on all threads: not for a worker of the team, which
    /// could take up a search that waits for it.
    pub(super) fn metric(&self) -> Result<&Arc<Metric>> {
        self.customized(&self.hierarchy.metric, || None)
    }

    /// The same with a length of 1 for every arc.
    pub(super) fn unweighted_metric(&self) -> Result<&Arc<Metric>> {
        if self.graph.weight_kind() == WeightKind::Unit {
            return self.metric();
        }
        self.customized(&self.hierarchy.unweighted, || Some(Weights::unit(self.graph.arcs())))
    }

    /// The lengths that are kept here; with those of the graph if `weights` has no others.
    fn customized<'s>(
        &'s self,
        kept: &'s OnceLock<Arc<Metric>>,
        weights: impl FnOnce() -> Option<Weights> + Send,
    ) -> Result<&'s Arc<Metric>> {
        let _making = self.hierarchy.making.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(metric) = kept.get() {
            return Ok(metric);
        }
        let (made, lost) = self.team.install(|| {
            let hierarchy = match self.hierarchy.hierarchy.get() {
                Some(there) => there,
                None => {
                    let mut builder = Hierarchy::builder(self.graph.clone()).control(self.control.clone());
                    if let Some(order) = self.hierarchy.order.get() {
                        builder = builder.order(order.clone());
                    }
                    let made = builder.memory(self.memory).build()?;
                    self.hierarchy.hierarchy.get_or_init(|| made)
                }
            };
            let device = self.customizing_device(hierarchy);
            let elsewhere = device.as_ref().map(|device| device as &dyn Elsewhere);
            let made = hierarchy.customize_elsewhere(weights().as_ref().unwrap_or(self.graph.weights()), elsewhere)?;
            if std::ptr::eq(kept, &raw const self.hierarchy.metric) {
                let nanoseconds = device.as_ref().map_or(0, CustomizingDevice::nanoseconds);
                self.hierarchy.on_device.store(nanoseconds, Ordering::Relaxed);
            }
            Ok::<_, Error>((made, device.is_some_and(|device| device.is_lost())))
        })?;
        if lost {
            self.device().close();
        }
        Ok(kept.get_or_init(|| Arc::new(made)))
    }

    /// The device that makes the lengths of shortcuts, if there is one that is quicker: none is opened for that alone. Threads of the
    /// team ask this: nobody waits here for a request that has the device, since that one may wait for the team.
    fn customizing_device(&self, hierarchy: &Hierarchy) -> Option<CustomizingDevice> {
        /// The CPU has them where they are needed, so it makes them unless a device is so many times as quick. In tests it always is.
        const QUICKER: f64 = if cfg!(test) { 0.0 } else { 1.3 };
        let (shortcuts, triangles) = (hierarchy.shortcuts() as f64, hierarchy.triangles());
        let vertices = self.graph.vertices() as f64;
        let again = self.hierarchy.is_reweighted;
        let there = customization::seconds(vertices, shortcuts, hierarchy.height() as f64, triangles, again);
        if matches!(self.engine, Engine::Cpu) || QUICKER * there > self.seconds_of_customizing(shortcuts, triangles) {
            return None;
        }
        let mut state = match self.device.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        let may_ask = matches!(self.engine, Engine::Cuda(_)) || state.is_open();
        // If it can't be opened, the request will say so.
        let device = may_ask.then(|| state.device(&self.engine).ok()).flatten()?;
        let free = device.free_bytes().ok()?;
        let allowed = self.limit.map_or(free, |limit| free.min(limit));
        Some(CustomizingDevice::new(device, hierarchy.clone(), allowed))
    }

    /// The hierarchy, if the solver was opened with one or a request has made it. After [`Solver::set_weights`] it is that of the
    /// solver's present graph.
    pub fn prepared_hierarchy(&self) -> Option<&Hierarchy> {
        self.hierarchy.hierarchy.get()
    }

    /// Why there is no device, if a hierarchy is asked for that has yet to be made: how long that takes is estimated only where there is a choice.
    pub(super) fn no_device_for_a_new_hierarchy(&self, asked: Option<&str>) -> Option<String> {
        let is_new = is_asked_for(asked) && self.prepared_hierarchy().is_none();
        is_new.then(|| self.no_device()).flatten()
    }

    /// An error if the algorithm answers from a hierarchy and the graph's weights are floats: shortcuts add these in another
    /// order than walks do, so that distances would differ from those of all other searches in the last digits, and no tree would
    /// have them. Tables may.
    pub(super) fn check_hierarchy(&self, info: &AlgorithmInfo) -> Result<()> {
        let floats = matches!(self.graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
        if info.name == NAME && floats {
            return Err(Error::invalid(format!(
                "`{NAME}` needs weights that are integers to search from a source: sums of {} depend on their order, which it \
                 changes; tables (`apsp`) take floats on the CPU, within a tolerance",
                self.graph.weight_kind().name()
            )));
        }
        Ok(())
    }

    /// Whether a device takes the hierarchy with these weights.
    pub(super) fn suits_a_device(&self) -> bool {
        matches!(self.graph.weight_kind(), WeightKind::Unit | WeightKind::U32)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::graph::Unit;
    use crate::problems::Tolerance;
    use crate::testing::{Random, TestWeight, graphs_of_every_shape, one_of_every_shape};
    use crate::{Apsp, Bfs, Graph, Pairs, Sssp, generate};

    /// A solver with a hierarchy of the graph, and one without.
    fn solvers(graph: Graph, threads: usize) -> [Solver; 2] {
        let graph = Arc::new(graph);
        let open = |builder: crate::SolverBuilder| builder.threads(threads).engine(Engine::Cpu).open().unwrap();
        let hierarchy = Hierarchy::new(graph.clone()).unwrap();
        [open(Solver::builder(graph.clone()).hierarchy(hierarchy)), open(Solver::builder(graph))]
    }

    /// How long it takes to make one matters only where there is a choice.
    #[test]
    fn a_hierarchy_that_is_asked_for_is_not_estimated_without_a_device() {
        let Some(absent) = crate::cuda::plainly_absent() else {
            eprintln!("skipped: there is a CUDA driver");
            return;
        };
        let graph = generate("rgg:12,weights=1..9").unwrap();
        let solver = Solver::builder(graph).threads(1).open().unwrap();
        let of_each = [
            solver.decide(&Sssp::from(0).algorithm(NAME)),
            solver.decide(&Bfs::from(0).algorithm(NAME)),
            solver.decide(&Apsp::all().algorithm(NAME)),
        ];
        for decision in of_each {
            assert_eq!(decision.unwrap().engine_reason(), absent);
        }
        assert!(solver.hierarchy.estimate.get().is_none());
    }

    /// A device makes lengths, but nobody waits for a request that has it.
    #[test]
    fn lengths_do_not_wait_for_a_device() {
        let graph = Arc::new(generate("grid:20x20,weights=1..9").unwrap());
        let hierarchy = Hierarchy::new(graph.clone()).unwrap();
        for device in crate::cuda::device::testing::devices(3) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            assert!(solver.customizing_device(&hierarchy).is_some());
            let held = solver.device();
            assert!(solver.customizing_device(&hierarchy).is_none());
            solver.metric().unwrap();
            drop(held);
        }
    }

    fn agrees_with_searches<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (name, graph) in graphs_of_every_shape::<W>(seed) {
            let count = graph.vertices() as u64;
            let mut any = || random.below(count) as VertexId;
            let requests = [
                Sssp::from(any()),
                Sssp::from([any(), any(), any()]),
                Sssp::from(any()).to([any(), any()]),
                Sssp::from(any()).distances_only(),
            ];
            let sources: Vec<VertexId> = (0..40).map(|_| any()).collect();
            let pairs: Vec<(VertexId, VertexId)> = (0..30).map(|_| (any(), any())).collect();
            for threads in [1, 3] {
                let [with, without] = solvers(graph.clone(), threads);
                for request in &requests {
                    let found = with.solve(request.clone().algorithm(NAME)).unwrap();
                    let right = without.solve(request.clone()).unwrap();
                    found.verify(&graph).unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert_eq!(found.distances(), right.distances(), "{name}");
                    assert_eq!(found.predecessors(), right.predecessors(), "{name}");
                    assert_eq!(found.report().algorithm, NAME);
                    let search =
                        Bfs { sources: request.sources.clone(), targets: request.targets.clone(), ..Bfs::from(0) };
                    let found = with.solve(search.clone().algorithm(NAME)).unwrap();
                    let right = without.solve(search).unwrap();
                    found.verify(&graph).unwrap_or_else(|error| panic!("{name}: {error}"));
                    assert_eq!(found.distances(), right.distances(), "{name}");
                    assert_eq!(found.predecessors(), right.predecessors(), "{name}");
                }
                for search in [Bfs::from(0), Bfs::from(0).to(any()).count_paths()] {
                    let mut index = 0;
                    with.solve_each(search.clone().algorithm(NAME), &sources[..20], |tree| {
                        let right = without.solve(Bfs { sources: vec![sources[index]], ..search.clone() }).unwrap();
                        assert_eq!(
                            (tree.distances(), tree.predecessors(), tree.path_counts()),
                            (right.distances(), right.predecessors(), right.path_counts()),
                            "{name}"
                        );
                        index += 1;
                        Ok(())
                    })
                    .unwrap();
                    assert_eq!(index, 20);
                }
                let mut index = 0;
                let search = Sssp::from(0).algorithm(NAME);
                with.solve_each(search, &sources, |tree| {
                    let right = without.sssp(sources[index]).unwrap();
                    assert_eq!(
                        (tree.distances(), tree.predecessors()),
                        (right.distances(), right.predecessors()),
                        "{name}"
                    );
                    index += 1;
                    Ok(())
                })
                .unwrap();
                assert_eq!(index, sources.len());
                let ask = || Pairs::of(pairs.clone()).algorithm(NAME);
                let (found, right) = (with.solve(ask()).unwrap(), without.solve(Pairs::of(pairs.clone())).unwrap());
                let verified = with.solve(ask().verified()).unwrap();
                let lengths = with.solve(ask().distances_only()).unwrap();
                for (pair, &(source, target)) in pairs.iter().enumerate() {
                    for distance in [found.distance(pair), verified.distance(pair), lengths.distance(pair)] {
                        assert_eq!(distance, right.distance(pair), "{name}");
                    }
                    let alone = with.path(source, target).unwrap();
                    for path in [found.path(pair), verified.path(pair), alone.as_ref()] {
                        assert_eq!(path.map(|path| path.length()), right.distance(pair), "{name}");
                        let Some(path) = path else { continue };
                        let steps = path.steps(&graph).unwrap();
                        assert_eq!(steps.last().unwrap().distance, path.length(), "{name}");
                        assert_eq!((path.vertices()[0], *path.vertices().last().unwrap()), (source, target), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_hierarchy_answers_as_searches_do() {
        agrees_with_searches::<Unit>(71);
        agrees_with_searches::<u32>(72);
        agrees_with_searches::<i32>(73);
    }

    /// A solver whose weights change answers as one that was opened with them, from a hierarchy and without.
    fn weights_change<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (turn, (name, graph)) in one_of_every_shape::<W>(seed).into_iter().step_by(2).enumerate() {
            let source = random.below(graph.vertices() as u64) as VertexId;
            // The same weight both ways.
            let draw = |tail: VertexId, head: VertexId| {
                let edge = u64::from(tail.min(head)) << 32 | u64::from(tail.max(head));
                W::draw(&mut Random(edge.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed))
            };
            let weights = W::into_weights(graph.edges().map(|(tail, head, _)| draw(tail, head)).collect());
            let right = Solver::new(graph.clone().with_weights(weights.clone()).unwrap()).unwrap();
            let mut solvers = Vec::from(solvers(graph.clone(), 2));
            // Devices take long: they have every other graph.
            if (turn as u64 + seed).is_multiple_of(2) {
                let on = |device| Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                solvers.extend(crate::cuda::device::testing::devices(seed).into_iter().map(on));
            }
            for solver in &mut solvers {
                let ask = |solver: &Solver| {
                    let row = solver.suits_a_device().then(|| Apsp::all().from([source]).algorithm(NAME));
                    (solver.sssp(source).unwrap(), row.map(|row| solver.solve(row).unwrap()))
                };
                ask(solver);
                let short = W::into_weights(vec![W::draw(&mut random); graph.arcs() + 1]);
                assert!(matches!(solver.set_weights(short), Err(Error::InvalidRequest(_))));
                solver.set_weights(weights.clone()).unwrap();
                let ((tree, row), (expected, expected_row)) = (ask(solver), ask(&right));
                assert_eq!(tree.distances(), expected.distances(), "{name}");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{name}");
                assert_eq!(
                    row.map(|row| row.distances().clone()),
                    expected_row.map(|row| row.distances().clone()),
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn a_solver_takes_other_weights() {
        weights_change::<Unit>(81);
        weights_change::<u32>(82);
        weights_change::<i32>(83);
        weights_change::<f64>(84);
        // Both directions of an edge, and another type.
        let graph = generate("grid:4x4,weights=1..9").unwrap();
        let mut solver = Solver::new(graph.clone()).unwrap();
        let before = solver.sssp(0).unwrap();
        let differ = Weights::U32((0..graph.arcs() as u32).collect());
        let error = solver.set_weights(differ).unwrap_err().to_string();
        assert!(error.contains("the two directions of some edge"), "{error}");
        assert_eq!(solver.sssp(0).unwrap().distances(), before.distances());
        let halves = graph.edges().map(|(_, _, weight)| weight / 2.0).collect();
        solver.set_weights(Weights::F64(halves)).unwrap();
        let halved = solver.sssp(0).unwrap();
        for v in 0..16 {
            assert_eq!(halved.distance(v).unwrap().to_f64() * 2.0, before.distance(v).unwrap().to_f64());
        }
    }

    fn tables_agree<W: TestWeight>(seed: u64) {
        let mut random = Random(seed);
        for (name, graph) in one_of_every_shape::<W>(seed) {
            let count = graph.vertices() as u64;
            let mut any = |many: usize| (0..many).map(|_| random.below(count) as VertexId).collect::<Vec<_>>();
            let requests = [
                Apsp::all(),
                Apsp::all().verified(),
                Apsp::all().from(any(37)),
                Apsp::all().from(any(5)).to(any(9)),
                Apsp::all().to(any(3)),
                Apsp::all().from(any(4)).to([]),
            ];
            for threads in [1, 3] {
                let [with, without] = solvers(graph.clone(), threads);
                for request in &requests {
                    let found = with.solve(request.clone().algorithm(NAME)).unwrap();
                    let right = without.solve(request.clone()).unwrap();
                    assert_eq!(found.report().algorithm, NAME);
                    for (row, column) in (0..right.rows()).flat_map(|row| (0..right.columns()).map(move |c| (row, c))) {
                        assert_eq!(found.distance(row, column), right.distance(row, column), "{name}");
                    }
                }
            }
        }
    }

    #[test]
    fn tables_over_a_hierarchy_are_those_of_searches() {
        tables_agree::<Unit>(74);
        tables_agree::<u32>(75);
        tables_agree::<i32>(76);
    }

    #[test]
    fn distances_beyond_32_bits_are_found_in_64() {
        let graph = Graph::from_edges((0..40_u32).map(|v| (v, v + 1, 4_000_000_000_u32))).unwrap();
        let [with, without] = solvers(graph, 2);
        let ask = || Sssp::from(0).algorithm(NAME);
        let right = without.sssp(0).unwrap();
        assert_eq!(with.solve(ask()).unwrap().distances(), right.distances());
        let mut types = Vec::new();
        with.solve_each(ask(), &[0, 39], |tree| {
            types.push(tree.report().semiring);
            Ok(())
        })
        .unwrap();
        assert_eq!(types, ["u32->u64", "u32->u32"]);
        assert_eq!(with.solve(Pairs::of([(0, 40)]).algorithm(NAME)).unwrap().distance(0), right.distance(40));
    }

    #[test]
    fn auto_takes_a_hierarchy_where_it_is_given_and_pays() {
        let [with, without] = solvers(generate("roads:5000,weights=1..1000").unwrap(), 2);
        let many = [3; 500];
        assert_eq!(with.decide_each(&Sssp::from(0), &many).unwrap().algorithm(), NAME);
        assert_ne!(without.decide_each(&Sssp::from(0), &many).unwrap().algorithm(), NAME);
        let pairs = || Pairs::of((0..1000).map(|v| (v, 4_999 - v)));
        assert_eq!(with.decide(&pairs()).unwrap().algorithm(), NAME);
        assert_eq!(with.solve(pairs()).unwrap().report().algorithm, NAME);
        assert_ne!(without.decide(&pairs()).unwrap().algorithm(), NAME);
        let table = || Apsp::all().from((0..200).collect::<Vec<_>>()).to([1, 2, 3]);
        assert_eq!(with.decide(&table()).unwrap().algorithm(), NAME);
        assert_ne!(without.decide(&table()).unwrap().algorithm(), NAME);
        // Its lengths are known now.
        assert_eq!(with.path_and_report(5, 4_900).unwrap().1.algorithm, NAME);
        // Searches that end early are for those who ask for them.
        assert_ne!(with.decide(&Sssp::from(0).to(1)).unwrap().algorithm(), NAME);
    }

    #[test]
    fn auto_makes_a_hierarchy_where_many_searches_pay_for_it() {
        let solver = |graph: &Graph| Solver::builder(graph.clone()).threads(2).engine(Engine::Cpu).open().unwrap();
        let many = vec![7; 20_000];
        let picked = |graph: &Graph, sources: &[VertexId]| {
            solver(graph).decide_each(&Sssp::from(0), sources).unwrap().algorithm().to_owned()
        };
        let roads = generate("roads:20000").unwrap();
        assert_eq!(picked(&roads, &many), NAME);
        assert_ne!(picked(&roads, &many[..3]), NAME);
        let pairs = Pairs::of((0..20_000).map(|v| (v, 19_999 - v)));
        assert_eq!(solver(&roads).decide(&pairs).unwrap().algorithm(), NAME);
        // Not where separators are large, nor by floats.
        let random = generate("uniform:13,weights=1..100").unwrap();
        assert_ne!(picked(&random, &many), NAME);
        let floats = crate::graph::Weights::F64(vec![0.5; roads.arcs()]);
        let floats = roads.clone().with_weights(floats).unwrap();
        assert_ne!(picked(&floats, &many), NAME);
        // What it makes answers as searches do.
        let sources: Vec<VertexId> = (0..20_000).collect();
        let (solver, other) = (solver(&roads), solver(&roads));
        let mut next = 0;
        let stopped = solver.solve_each(Sssp::from(0).distances_only(), &sources, |tree| {
            assert_eq!(tree.report().algorithm, NAME);
            let right = other.solve(Sssp::from(next).algorithm("dijkstra").distances_only()).unwrap();
            assert_eq!(tree.distances(), right.distances());
            next += 1;
            if next == 40 { Err(Error::Interrupted) } else { Ok(()) }
        });
        assert!(matches!(stopped, Err(Error::Interrupted)) && next == 40);
    }

    #[test]
    fn little_memory_makes_fewer_searches_at_once() {
        // A quarter of what sweeps for all threads would take.
        let roads = generate("roads:20000").unwrap();
        let solver = Solver::builder(roads.clone()).threads(2).engine(Engine::Cpu).memory(10_000_000).open().unwrap();
        let sources: Vec<VertexId> = (0..20_000).collect();
        for algorithm in [None, Some(NAME)] {
            let search = Sssp { algorithm: algorithm.map(str::to_owned), ..Sssp::from(0).distances_only() };
            let decision = solver.decide_each(&search, &sources).unwrap();
            assert!(decision.plan().memory_bytes() <= 10_000_000, "{:?}", decision.plan());
            let mut trees = 0;
            solver
                .solve_each(search, &sources[..50], |_| {
                    trees += 1;
                    Ok(())
                })
                .unwrap();
            assert_eq!(trees, 50);
        }
        // Where not even one fits, the plan says so before the work.
        let solver = Solver::builder(roads).threads(2).engine(Engine::Cpu).memory(100_000).open().unwrap();
        let refused = solver.solve_each(Sssp::from(0).algorithm(NAME), &sources, |_| Ok(())).unwrap_err();
        assert!(matches!(refused, Error::OutOfMemory { .. }), "{refused}");
    }

    #[test]
    fn bad_targets_are_errors() {
        let graph = Graph::from_edges((0..9_u32).map(|v| (v, v + 1, 1_u32))).unwrap();
        let [with, _] = solvers(graph, 2);
        let bad = with.solve_each(Bfs::from(0).to(999).algorithm(NAME), &[0, 1], |_| Ok(()));
        assert!(matches!(bad, Err(Error::InvalidRequest(_))));
        let bad = with.solve_each(Sssp::from(0).to(999).algorithm(NAME), &[0, 1], |_| Ok(()));
        assert!(matches!(bad, Err(Error::InvalidRequest(_))));
    }

    /// Tables take floats by name alone, and say how far they may be from those of searches.
    #[test]
    fn tables_of_floats_are_within_the_tolerance_that_they_state() {
        let roads = generate("roads:2000,weights=1..1000").unwrap();
        let weights = roads.edges().map(|(_, _, weight)| weight / 7.0).collect();
        let graph = roads.clone().with_weights(Weights::F64(weights)).unwrap();
        let [with, without] = solvers(graph.clone(), 2);
        let request = || Apsp::all().from([3, 1999]);
        let swept = with.solve(request().algorithm(NAME).verified()).unwrap();
        let tolerance = Tolerance::of_reassociated(&graph);
        assert!(swept.report().reason.contains(&format!("{tolerance:.1e}")), "{}", swept.report().reason);
        let searched = without.solve(request().algorithm("repeated-searches")).unwrap();
        let size = |distance: Option<crate::Distance>| distance.unwrap().to_f64();
        for (row, v) in (0..2000).flat_map(|v| [(0, v), (1, v)]) {
            let [a, b] = [&swept, &searched].map(|matrix| size(matrix.distance(row, v)));
            assert!((a - b).abs() <= tolerance * b, "{a} {b}");
        }
        assert_ne!(with.decide(&Apsp::all()).unwrap().algorithm(), NAME);
        // Sums beyond the greatest float are an error, as in searches.
        let long = Graph::from_edges([(0, 1, 3e38_f32), (1, 2, 3e38)]).unwrap();
        let [with, _] = solvers(long, 1);
        let error = with.solve(Apsp::all().algorithm(NAME)).unwrap_err();
        assert!(matches!(error, Error::DistanceOverflow { .. }), "{error}");
        let negative = Graph::from_edges([(0, 1, -1.0_f64), (1, 2, 3.0)]).unwrap();
        let [with, _] = solvers(negative, 1);
        let error = with.solve(Apsp::all().algorithm(NAME)).unwrap_err().to_string();
        assert!(error.contains("floats of 0 or more"), "{error}");
    }

    #[test]
    fn what_a_hierarchy_does_not_do_is_refused() {
        let floats = Graph::from_edges([(0, 1, 0.1_f64), (1, 2, 0.2)]).unwrap();
        let [with, _] = solvers(floats, 1);
        let error = with.solve(Sssp::from(0).algorithm(NAME)).unwrap_err();
        assert!(error.to_string().contains("needs weights that are integers"), "{error}");
        assert_ne!(with.solve(Pairs::of([(0, 2); 100])).unwrap().report().algorithm, NAME);
        let hierarchy = Hierarchy::new(generate("grid:5x5").unwrap()).unwrap();
        let error = Solver::builder(generate("grid:5x5").unwrap()).hierarchy(hierarchy).open().unwrap_err();
        assert!(error.to_string().contains("another graph"), "{error}");
        let cycle = Graph::from_edges([(0, 1, 1), (1, 2, -2), (2, 0, 0)]).unwrap();
        let [with, _] = solvers(cycle, 1);
        let error = with.solve(Sssp::from(0).algorithm(NAME)).unwrap_err();
        assert!(matches!(error, Error::NegativeCycle(_)), "{error}");
    }
}
