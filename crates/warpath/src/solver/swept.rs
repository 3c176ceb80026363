//! Searches over a hierarchy: blocks of sources whose rows are swept at once, on the CPU or on a GPU, and become trees one after
//! another.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use super::Solver;
use super::costs::{COPYING, Predicted};
use super::decision::{Manner, Placed};
use super::each::Each;
use super::hierarchy::{SIGNED, room_for_labels};
use crate::algorithms::{Parameters, Statistics};
use crate::cpu::sssp::hierarchy::SHARED;
use crate::cuda::apsp::hierarchy::{ALGORITHM, SHORTCUTS, Sweeps};
use crate::cuda::apsp::rows::RowsOnDevice;
use crate::cuda::apsp::searches::{BATCH_BYTES, Searches, SearchesTask};
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::{Distances, VertexId, WeightKind};
use crate::hierarchy::bytes_of_sweep;
use crate::problems::{Report, Seconds, ShortestPathTree};
use crate::{Error, Plan, Result, available_memory, memory};

/// Bytes of a distance, at most.
const DISTANCE: u64 = 8;

/// The rows of a block of sources, and the part of their report that they share.
#[derive(Debug)]
pub(super) struct Swept {
    pub(super) rows: Vec<Distances>,
    engine: Option<String>,
    device_bytes: u64,
    /// What was made ready for the block, and what one row took.
    seconds: Seconds,
    statistics: Statistics,
}

impl Swept {
    /// The report of a row. What was made ready counts once, with the first.
    pub(super) fn report(&mut self, decided: Report) -> Report {
        let seconds = self.seconds;
        self.seconds.prepare = 0.0;
        Report {
            engine: self.engine.clone().unwrap_or(decided.engine),
            device_bytes: self.device_bytes,
            seconds,
            statistics: self.statistics.clone(),
            ..decided
        }
    }
}

/// Sweeps on a GPU, as decided.
#[derive(Debug, Clone, Copy)]
pub(super) struct SweepsOnDevice {
    /// With a length of 1 for every arc.
    unweighted: bool,
    /// The most sources of a block.
    pub(super) rows: u64,
}

impl SweepsOnDevice {
    /// For one search or many, of which each takes `one` bytes on the host; and the plan.
    ///
    /// # Errors
    ///
    /// If a GPU does not take the weights.
    pub(super) fn new(solver: &Solver, many: Option<usize>, one: &Plan, unweighted: bool) -> Result<(Self, Plan)> {
        if !unweighted {
            solver.check_hierarchy(&ALGORITHM.info)?;
            if solver.graph.weight_kind() == WeightKind::I32 {
                return Err(Error::invalid(SIGNED));
            }
        }
        /// As many rows as these are worth a batch, however long they are.
        const WORTH_A_BATCH: u64 = 256;
        let row = DISTANCE.saturating_mul(solver.graph.vertices() as u64).max(1);
        let on_host = one.memory_bytes().saturating_add(row);
        // Without a device nobody knows how much fits.
        let available = solver.allowed_on_device().unwrap_or(u64::MAX);
        let sought = many.unwrap_or(1).max(1) as u64;
        let most = sought.min(solver.memory / 2 / on_host).min((BATCH_BYTES / row).max(WORTH_A_BATCH));
        let (rows, _, there) = fitting(solver, unweighted, most.max(1), available);
        let mut plan = there.clone();
        plan.memory(format!("{rows} searches at once"), on_host.saturating_mul(rows));
        solver.plan_hierarchy(unweighted, &mut plan);
        Ok((SweepsOnDevice { unweighted, rows }, plan))
    }

    /// The distances from each of these sources, no more than there are rows: in 64 bits if those of some source may not fit 32.
    ///
    /// # Errors
    ///
    /// As sweeps, and if the device fails.
    pub(super) fn sweep(&self, solver: &Solver, sources: &[VertexId]) -> Result<Swept> {
        let start = Instant::now();
        let metric = if self.unweighted { solver.unweighted_metric()? } else { solver.metric()? };
        let available = solver.allowed_on_device()?;
        // The hierarchy may be larger than was expected.
        let (rows, parameters, plan) = fitting(solver, self.unweighted, self.rows, available);
        plan.check_device(available)?;
        plan.check(available_memory())?;
        let mut state = solver.device();
        let device = state.device(&solver.engine)?;
        let mut swept = Swept {
            rows: memory::with_capacity("the list of rows", sources.len())?,
            engine: Some(format!("cuda:{}", device.properties().ordinal)),
            device_bytes: plan.device_bytes(),
            seconds: Seconds { prepare: start.elapsed().as_secs_f64(), ..Default::default() },
            statistics: Statistics::new(),
        };
        let name = |semiring: DeviceSemiring| {
            let weights = if self.unweighted { "without weights" } else { "with weights" };
            let shortcuts = parameters.word(SHORTCUTS.name).unwrap_or_default();
            format!("{} of {rows} rows {weights} in {} {shortcuts}", ALGORITHM.info.name, semiring.name())
        };
        // Once 64 bits were needed, they are tried first.
        let is_known = state.has_prepared(&name(DeviceSemiring::Wide));
        let mut semiring = if is_known { DeviceSemiring::Wide } else { DeviceSemiring::Narrow };
        'of_semiring: loop {
            let start = Instant::now();
            let first = &sources[..sources.len().min(rows as usize)];
            let task = SearchesTask { metric: Some(metric), first, ..task(solver, semiring, &parameters, rows) };
            let prepare = || solver.team.install(|| Sweeps::new(&device, &task));
            let sweeps = state.prepared(&name(semiring), &(ALGORITHM.plan)(&task), prepare)?;
            swept.seconds.prepare += start.elapsed().as_secs_f64();
            swept.rows.clear();
            for part in sources.chunks(rows as usize) {
                let start = Instant::now();
                sweeps.start(part, &solver.control)?;
                let finished = sweeps.finish(&solver.control)?;
                swept.seconds.solve += start.elapsed().as_secs_f64() / sources.len() as f64;
                let is_lost = !finished.out_of_range.is_empty() && wide_may_be_needed(solver, self.unweighted);
                if is_lost && semiring == DeviceSemiring::Narrow {
                    semiring = DeviceSemiring::Wide;
                    continue 'of_semiring;
                }
                swept.statistics = finished.statistics;
                swept.statistics.push(("searches_in_a_batch", part.len() as u64));
                let start = Instant::now();
                (0..part.len() as u64).try_for_each(|row| {
                    swept.rows.push(read_row(sweeps.rows(), row, semiring, solver.graph.vertices())?);
                    Ok::<_, Error>(())
                })?;
                swept.seconds.download += start.elapsed().as_secs_f64() / sources.len() as f64;
            }
            return Ok(swept);
        }
    }
}

/// The distances of a row.
fn read_row(found: RowsOnDevice<'_>, row: u64, semiring: DeviceSemiring, vertices: usize) -> Result<Distances> {
    let row = found.words.part(row * found.stride * semiring.words(), vertices as u64 * semiring.words());
    Ok(match semiring {
        DeviceSemiring::Wide => Distances::U64(found.pool.read(row.cast())?),
        _ => Distances::U32(found.pool.read(row)?),
    })
}

/// As many rows as fit this memory in the widest semiring, up to `most`, but at least one; the parameters, by which shortcuts are left to the host if too few
/// fit; and their plan.
fn fitting(solver: &Solver, unweighted: bool, most: u64, available: u64) -> (u64, Parameters, Plan) {
    /// So many rows are as good as more.
    const ENOUGH: u64 = 64;
    let widest = if wide_may_be_needed(solver, unweighted) { DeviceSemiring::Wide } else { DeviceSemiring::Narrow };
    let on_host = available_memory();
    let mut last = Parameters::default();
    for (index, (_, parameters)) in ALGORITHM.layouts(solver.graph.weight_kind(), &last).into_iter().enumerate() {
        let plan_of = |rows| (ALGORITHM.plan)(&task(solver, widest, &parameters, rows));
        if index > 0 && plan_of(1).memory_bytes() > on_host {
            break;
        }
        let mut rows = most;
        while rows >= most.min(ENOUGH) {
            let plan = plan_of(rows);
            if plan.device_bytes() <= available {
                return (rows, parameters, plan);
            }
            rows /= 2;
        }
        last = parameters;
    }
    let mut rows = most.min(ENOUGH);
    loop {
        rows = (rows / 2).max(1);
        let plan = (ALGORITHM.plan)(&task(solver, widest, &last, rows));
        if plan.device_bytes() <= available || rows == 1 {
            return (rows, last, plan);
        }
    }
}

/// The one tree that is handed over.
pub(super) fn only_tree(hand_over: impl FnOnce(Each<'_>) -> Result<()>) -> Result<ShortestPathTree> {
    let mut tree = None;
    hand_over(&mut |found| {
        tree = Some(found);
        Ok(())
    })?;
    tree.ok_or_else(|| Error::invalid("a search needs a source"))
}

/// Whether distances may exceed 32 bits.
fn wide_may_be_needed(solver: &Solver, unweighted: bool) -> bool {
    !unweighted && solver.graph.weight_kind() == WeightKind::U32 && !solver.narrow_is_certain()
}

fn task<'a>(solver: &'a Solver, semiring: DeviceSemiring, parameters: &'a Parameters, rows: u64) -> SearchesTask<'a> {
    let hierarchy = solver.prepared_hierarchy();
    SearchesTask {
        graph: &solver.graph,
        semiring,
        parameters,
        rows,
        first: &[],
        targets: None,
        facts: false,
        hierarchy,
        metric: None,
    }
}

impl Solver {
    /// How many of this many sources are swept at once, each of whose results takes `one` bytes: as many as the threads share
    /// sweeps for, or as half of the memory has room for.
    pub(super) fn swept_at_once(&self, many: usize, one: u64) -> usize {
        let most = SHARED.saturating_mul(self.threads()).min(many).max(1);
        let each = one.saturating_add(self.bytes_of_rows(1)).max(1);
        ((self.memory / 2 / each) as usize).clamp(1, most)
    }

    /// Bytes of the distances that sweeps for this many sources work on.
    fn bytes_of_rows(&self, sources: usize) -> u64 {
        (sources as u64).saturating_mul(bytes_of_sweep(self.graph.vertices() as u64, DISTANCE))
    }

    /// The manner in which searches over the hierarchy are done on the CPU, and their plan, given the plan of `one`.
    pub(super) fn searches_over_hierarchy(
        &self,
        many: Option<usize>,
        placed: &Placed,
        one: Plan,
        unweighted: bool,
    ) -> (Manner, Plan) {
        if let Some(many) = many {
            return (Manner::InBatches, self.plan_of_sweeps(many, one.memory_bytes(), unweighted));
        }
        let (manner, mut plan) = self.single_searches(None, placed, one);
        self.plan_hierarchy(unweighted, &mut plan);
        (manner, plan)
    }

    /// The distances from each of these sources, by sweeps that they share, on all threads. The plan is that of all blocks.
    pub(super) fn swept_on_cpu(&self, plan: &Plan, sources: &[VertexId], unweighted: bool) -> Result<Swept> {
        let start = Instant::now();
        let metric = if unweighted { self.unweighted_metric()? } else { self.metric()? };
        metric.limit_labels(room_for_labels(plan));
        let prepare = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let found: Vec<Mutex<Option<Distances>>> =
            memory::listed("the list of rows", sources.iter().map(|_| Mutex::default()))?;
        let keep = |place: usize, distances: &Distances| {
            *found[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(distances.clone());
        };
        self.team.install(|| metric.distances_from_each(sources, keep))?;
        let found = found.into_iter().map(|found| found.into_inner().unwrap_or_else(PoisonError::into_inner));
        let rows = found.map(|found| found.ok_or_else(|| Error::invalid("a sweep left out a source")));
        let rows = rows.collect::<Result<Vec<_>>>()?;
        let solve = start.elapsed().as_secs_f64() / sources.len() as f64;
        let seconds = Seconds { prepare, solve, ..Default::default() };
        let statistics = vec![("shortcuts", metric.hierarchy().shortcuts())];
        Ok(Swept { rows, engine: None, device_bytes: 0, seconds, statistics })
    }

    /// The plan of sweeps on the CPU from this many sources, each of whose results takes `one` bytes.
    pub(super) fn plan_of_sweeps(&self, many: usize, one: u64, unweighted: bool) -> Plan {
        let mut plan = Plan::new();
        let at_once = self.swept_at_once(many, one);
        plan.memory(format!("{at_once} searches at once"), one.saturating_mul(at_once as u64));
        plan.memory("rows of the sweeps", self.bytes_of_rows(at_once.next_multiple_of(SHARED).min(many.max(1))));
        self.plan_hierarchy(unweighted, &mut plan);
        self.plan_labels(many, unweighted, &mut plan);
        plan
    }

    /// Predicted seconds of this many searches over the hierarchy on a GPU, with all that is not there yet and the copies of the
    /// distances; `None` if `auto` should not think of it. `otherwise` is how long the quickest other algorithm takes.
    pub(super) fn seconds_of_searches_on_device(&self, searches: usize, otherwise: f64) -> Option<f64> {
        let [making, sweeps] = self.seconds_of_sweeps_on_device(searches, None, false, otherwise)?;
        let back = 4.0 * self.graph.vertices() as f64 * searches as f64 / COPYING;
        Some(self.seconds_until_open() + making + sweeps + back)
    }

    /// Why this many searches over the hierarchy pay on a GPU, or why not, in comparison with this many seconds on the CPU.
    pub(super) fn sweeps_pay_on_device(&self, searches: usize, cpu: f64) -> std::result::Result<String, String> {
        let gpu = self.seconds_of_searches_on_device(searches, f64::INFINITY);
        let gpu = gpu.ok_or_else(|| "nobody knows whether a GPU pays for these weights".to_owned())?;
        Predicted { gpu, cpu }.gpu_pays(self, 0)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::cuda::device::Device;
    use crate::cuda::device::testing::devices;
    use crate::graph::Unit;
    use crate::hierarchy::Hierarchy;
    use crate::testing::{Random, TestWeight, one_of_every_shape};
    use crate::{Apsp, Bfs, Engine, Graph, Sssp, generate};

    const NAME: &str = ALGORITHM.info.name;

    fn on(device: Arc<dyn Device>, graph: &Graph) -> Solver {
        Solver::builder(graph.clone()).threads(2).device(device).open().unwrap()
    }

    fn on_cpu(graph: &Graph) -> Solver {
        Solver::builder(graph.clone()).threads(1).engine(Engine::Cpu).open().unwrap()
    }

    /// Single searches and many, with targets and cutoffs, on one of this many graphs of every shape.
    fn searches_agree_with_the_cpu<W: TestWeight>(seed: u64, every: usize) {
        let mut random = Random(seed);
        for (name, graph) in one_of_every_shape::<W>(seed).into_iter().step_by(every) {
            let vertices = graph.vertices() as u64;
            if vertices == 0 || vertices > 400 || graph.has_negative_weights() {
                continue;
            }
            let mut draw = || random.below(vertices) as VertexId;
            let (source, target) = (draw(), draw());
            let sources: Vec<VertexId> = (0..4).map(|_| draw()).chain([source, source]).collect();
            let cpu = on_cpu(&graph);
            for device in devices(seed) {
                let solver = on(device, &graph);
                let by_weights = Sssp::from(source).algorithm(NAME);
                let expected = cpu.solve(Sssp::from(source).algorithm("dijkstra")).unwrap();
                let found = solver.solve(by_weights.clone()).unwrap();
                assert_eq!(found.report().engine, "cuda:0", "{name}");
                assert_eq!(found.distances(), expected.distances(), "{name}");
                assert_eq!(found.predecessors(), expected.predecessors(), "{name}");
                found.verify(&graph).unwrap();
                let near = solver.solve(by_weights.clone().to(target)).unwrap();
                assert_eq!(near.distance(target), expected.distance(target), "{name}");
                let hops = solver.solve(Bfs::from(source).algorithm(NAME).within(3)).unwrap();
                let expected = cpu.solve(Bfs::from(source).within(3)).unwrap();
                assert_eq!(hops.distances(), expected.distances(), "{name}");
                assert_eq!(hops.predecessors(), expected.predecessors(), "{name}");
                let mut place = 0;
                let next = |tree: ShortestPathTree| {
                    let expected = cpu.solve(Sssp::from(sources[place]).algorithm("dijkstra")).unwrap();
                    assert_eq!(tree.sources(), [sources[place]], "{name}");
                    assert_eq!(tree.distances(), expected.distances(), "{name}");
                    place += 1;
                    Ok(())
                };
                solver.solve_each(by_weights, &sources, next).unwrap();
                assert_eq!(place, sources.len());
                let mut place = 0;
                let next = |tree: ShortestPathTree| {
                    assert_eq!(tree.distances(), cpu.solve(Bfs::from(sources[place])).unwrap().distances(), "{name}");
                    place += 1;
                    Ok(())
                };
                solver.solve_each(Bfs::from(0).algorithm(NAME), &sources, next).unwrap();
                assert_eq!(place, sources.len());
            }
        }
    }

    #[test]
    fn sweeps_on_a_device_agree_with_the_cpu() {
        searches_agree_with_the_cpu::<u32>(3, 1);
        searches_agree_with_the_cpu::<Unit>(4, 2);
    }

    /// A path whose distances leave 32 bits at its far end, and a light one after it.
    #[test]
    fn distances_of_64_bits_are_found_on_a_device() {
        let heavy = (0..6_u32).map(|v| (v, v + 1, 1_u32 << 30));
        let graph = Graph::from_edges(heavy.chain([(7, 8, 5)])).unwrap();
        for device in devices(5) {
            let solver = on(device, &graph);
            for (source, types) in [(7, "u32->u32"), (0, "u32->u64"), (7, "u32->u32"), (1, "u32->u64")] {
                let expected = on_cpu(&graph).solve(Sssp::from(source).algorithm("dijkstra")).unwrap();
                let found = solver.solve(Sssp::from(source).algorithm(NAME)).unwrap();
                assert_eq!(found.distances(), expected.distances());
                assert_eq!((found.report().semiring, expected.report().semiring), (types, types));
            }
        }
    }

    /// Blocks are smaller where memory is short, and the results the same.
    #[test]
    fn little_memory_makes_blocks_smaller() {
        let graph = generate("roads:3000").unwrap();
        let sources: Vec<VertexId> = (0..200).collect();
        let search = || Sssp::from(0).distances_only().algorithm(NAME);
        let sums = |solver: &Solver| {
            let mut sums = Vec::new();
            solver.solve_each(search(), &sources, |tree| {
                let distances = tree.distances();
                sums.push((0..distances.len()).filter_map(|v| distances.get(v)).map(|d| d.to_f64()).sum::<f64>());
                Ok(())
            })?;
            Ok::<_, Error>(sums)
        };
        for device in devices(6) {
            let bytes = |limit: Option<u64>| {
                let builder = Solver::builder(graph.clone()).threads(2).device(device.clone());
                let solver = limit.into_iter().fold(builder, |builder, limit| builder.memory(limit)).open().unwrap();
                let decision = solver.decide_each(&search(), &sources).unwrap();
                let on_host =
                    decision.plan().memory_items().iter().any(|item| item.what == "shortcuts in pinned memory");
                (decision.plan().device_bytes(), sums(&solver), on_host)
            };
            let (all, expected, _) = bytes(None);
            let expected = expected.unwrap();
            let mut leaves_shortcuts = false;
            for limit in (1..8).map(|eighths| all - all * eighths / 8) {
                let (fewer, found, on_host) = bytes(Some(limit));
                match found {
                    Ok(found) => assert!(fewer <= limit && found == expected),
                    Err(error) => assert!(fewer > limit && matches!(error, Error::OutOfMemory { .. }), "{error}"),
                }
                leaves_shortcuts |= fewer <= limit && on_host;
            }
            assert!(leaves_shortcuts);
            let (_, refused, _) = bytes(Some(1000));
            assert!(matches!(refused, Err(Error::OutOfMemory { .. })));
        }
    }

    #[test]
    fn what_a_device_does_not_take_is_refused() {
        let refused = |graph: &Graph, search: Sssp| {
            let device = devices(7).into_iter().next()?;
            Some(on(device, graph).solve(search.algorithm(NAME)).unwrap_err().to_string())
        };
        let graph = generate("grid:5x5,weights=1..9").unwrap();
        let several = refused(&graph, Sssp::from([0, 7]));
        assert!(several.is_none_or(|text| text.contains("searches from one source")));
        let signed = graph.clone().with_weights(crate::graph::Weights::I32(vec![3; graph.arcs()])).unwrap();
        assert!(refused(&signed, Sssp::from(0)).is_none_or(|text| text.contains("integers without a sign")));
        let floats = graph.clone().with_weights(crate::graph::Weights::F32(vec![0.5; graph.arcs()])).unwrap();
        assert!(refused(&floats, Sssp::from(0)).is_none_or(|text| text.contains("needs weights that are integers")));
        let parameter = devices(7).into_iter().next().map(|device| {
            on(device, &graph).solve(Sssp::from(0).algorithm("hierarchy:rows=3")).unwrap_err().to_string()
        });
        assert!(parameter.is_none_or(|text| text.contains("no parameter")));
    }

    /// One solver keeps one thing prepared: what is asked in turn makes the others ready again.
    #[test]
    fn rows_and_searches_may_take_turns() {
        let graph = Arc::new(generate("roads:900").unwrap());
        let hierarchy = Hierarchy::new(graph.clone()).unwrap();
        for device in devices(8) {
            let solver = Solver::builder(graph.clone()).threads(2).hierarchy(hierarchy.clone()).device(device).open();
            let solver = solver.unwrap();
            let matrix = solver.solve(Apsp::all().from([3, 4]).algorithm(NAME)).unwrap();
            for _ in 0..2 {
                let tree = solver.solve(Sssp::from(3).algorithm(NAME)).unwrap();
                assert!((0..900).all(|v| tree.distance(v as VertexId) == matrix.distance(0, v)));
                assert!(solver.solve(Bfs::from(3).algorithm(NAME)).unwrap().reached() == tree.reached());
                assert!(solver.solve(Sssp::from(4).algorithm("near-far")).unwrap().reached() == tree.reached());
            }
        }
    }
}
