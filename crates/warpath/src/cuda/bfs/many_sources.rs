//! Up to 64 breadth-first searches at once, one bit each, all levels of all of them in one launch.
//!
//! Whoever wants thousands of searches of one graph has them walk the same arcs thousands of times. Here each vertex has a
//! word that says which of 64 searches have *seen* it, and an arc is read once for all that go along it in the same level.
//! Where levels are many and narrow, as on roads, it is not the arcs that are shared but the levels: a barrier and a chain
//! of dependent accesses, some microseconds, are paid once for 64 searches, and their frontiers together are wide enough
//! to be worth a GPU.
//!
//! There is one word a vertex, and no frontier words:
//! - **Top-down** the queue has items of 16 bytes: a run of up to 64 arcs, and the searches that go along it. For each
//!   head, `atomicOr` of the word claims those that had not seen it; whoever claims writes their levels, looks up the arcs
//!   of the head and queues them. A vertex that is found from two tails in a level is queued twice, for different
//!   searches; levels in which that happens much are not searched top-down. There is nothing to clear, an item says where
//!   its arcs are, and a level needs one barrier: queue, arc, word, claim is the whole chain.
//! - **Bottom-up**, once a fair share of all arcs leaves the frontier, every vertex gathers the words of its tails until
//!   nothing is missing. What a tail had seen *before* the last level, the vertex would have seen by now, so the words
//!   themselves tell the frontier; a pass reads one array of them and writes another, without an atomic. Missing can only
//!   be what still goes on: searches without a frontier are left out, or a source in a corner of its own would keep all
//!   vertices looking to the end. Four arcs are taken by one lane, sixteen by eight, the rest by the whole warp.
//! - **The way back** is the difference of the two arrays.
//! - **The queue may be too small.** Each block has a part of it, and tells how much it found with its arrival at the
//!   barrier. What did not fit is in the words all the same: the next level is bottom-up.
//! - **Levels** are an array for each search, each written once: those of a bottom-up level by 32 lanes side by side, and
//!   at the end, by looking at the words, those of vertices that were never reached. Nothing is filled beforehand.
//!
//! Work O(V + E) times the levels in the worst case, and for 64 searches of a small world about three times the arcs of one;
//! span O(levels) barriers. Floors for 64 searches: their levels, 256 bytes a vertex, at 4 TB/s; a random load of a word
//! for every arc that is followed, 160 G/s while the words, 8 bytes a vertex, are in the L2 cache, and 40 G/s beyond; 1.5
//! to 2 microseconds a level (barrier 1.0, four accesses of 0.14 to 0.2). So 0.1 + 0.4 ms for 1 M vertices and 31 M
//! arcs of a Kronecker or uniform graph, 8 microseconds a search (an H200 takes 19 and 14); 1 to 2 ms for the 700 levels of the
//! roads of New York, 15 to 30 microseconds a search (67: two thirds of the levels are searched bottom-up). Compared with a
//! search alone it does not win where searches meet nowhere and have wide levels, as on a large grid.
//!
//! All sources of a table at once are begun without waiting for any launch; where the graph is small they are searched for in
//! blocks of their own instead ([`one_block`]), if that is predicted to be quicker.
//!
//! Memory: 4 bytes a vertex for each search of a batch, 16 for the words, the graph, a queue. With less of it batches are
//! narrower.
//!
//! Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal" (MS-BFS, and its
//! direction-optimized form); for one search as an algorithm of its own, all sources have the same bit.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::one_block::{self, OneBlock, Places};
use super::predecessors::{Arcs, Found};
use super::{BfsAlgorithm, BfsTask, PreparedBfs, Waiting, multi_hop};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Values};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Argument, Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Offsets, has_wide_offsets, plan_array};
use crate::cuda::transpose::{plan_transpose, transpose};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Control, Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "many-sources",
        summary: "up to 64 searches at once, one bit each; for many sources, unless their levels are wide and meet nowhere",
        source: "after Then et al. 2014",
        parameters: &[
            Parameter { name: "width", summary: "searches in a batch, up to 64; 64", values: Values::AtLeast(1.0) },
            Parameter {
                name: "bottom-up",
                summary: "bottom-up once this share of all arcs leaves the frontier; 0.1",
                values: Values::AtLeast(0.0),
            },
            Parameter {
                name: "top-down",
                summary: "top-down again once less than this share of all vertices is in it; 0.02",
                values: Values::AtLeast(0.0),
            },
            Parameter {
                name: "queue",
                summary: "items that a block can queue; as many as fit a queue of twice the vertices",
                values: Values::AtLeast(1.0),
            },
            Parameter {
                name: "threads",
                summary: "threads in a block, a multiple of 32 up to 1024; 1024",
                values: Values::AtLeast(32.0),
            },
            Parameter {
                name: "blocks",
                summary: "blocks, up to 256; as many as run at once",
                values: Values::AtLeast(1.0),
            },
        ],
        negative_weights: true,
    },
    plan: |graph, parameters| plan(graph, width(parameters) as u64),
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters, width(parameters) as u64)?)),
};

/// The most searches in a batch: there are as many bits in a word.
pub(crate) const WIDEST: usize = 64;
/// Threads count a little beyond the last vertex.
const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);
/// Must be equal in the kernel.
const MOST_BLOCKS: u32 = 256;
/// Words that a barrier counts in.
const ARRIVALS: u64 = 96;

/// How many searches a batch can have.
fn width(parameters: &Parameters) -> usize {
    parameters.get("width").map_or(WIDEST, |width| width.min(WIDEST as f64) as usize)
}

/// From row to row of the levels: each begins at a cache line.
pub(crate) fn stride(graph: &Graph) -> u64 {
    (graph.vertices() as u64).next_multiple_of(32)
}

/// Items that one of the two queues has.
fn queue_items(graph: &Graph) -> u64 {
    (2 * graph.vertices() as u64).clamp(1 << 14, 1 << 22)
}

/// What it takes with room for the levels of so many searches.
pub(crate) fn plan(graph: &Graph, rows: u64) -> Plan {
    let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
    let mut plan = Plan::new();
    Offsets::plan(&mut plan, "offsets of the vertices", vertices + 1, has_wide_offsets(graph));
    plan_array::<VertexId>(&mut plan, "heads of the arcs", arcs);
    if graph.is_directed() {
        plan_transpose(graph, has_wide_offsets(graph), &mut plan);
    }
    plan_array::<u32>(&mut plan, &format!("levels of {rows} searches"), stride(graph).saturating_mul(rows));
    for what in ["seen", "seen next"] {
        plan_array::<u64>(&mut plan, what, vertices);
    }
    plan_array::<[u32; 4]>(&mut plan, "queues", 2 * queue_items(graph));
    plan_array::<[u32; 4]>(&mut plan, "parts of the queues", 2 * u64::from(MOST_BLOCKS));
    plan_array::<VertexId>(&mut plan, "sources", vertices.max(rows));
    plan_array::<u32>(&mut plan, "arrivals", ARRIVALS);
    plan_array::<[u32; 2]>(&mut plan, "reports", rows);
    plan
}

/// What as many searches at once as there can be are predicted to take.
pub(crate) fn seconds_of_batch(graph: &Graph, is_thin: bool) -> f64 {
    /// Levels a second, where levels are short and where they are wide; there all arcs are gone through a few times, so many
    /// a second.
    const NARROW: f64 = 4.5e9;
    const WIDE: f64 = 200e9;
    const ARCS: f64 = 100e9;
    const PASSES: f64 = 3.0;
    let levels = WIDEST as f64 * graph.vertices() as f64;
    if is_thin { levels / NARROW } else { levels / WIDE + PASSES * graph.arcs() as f64 / ARCS }
}

/// The same if the host does not wait for it.
fn seconds_of_launch(graph: &Graph) -> f64 {
    /// What the barriers of some eight levels take, and a launch, as measured on graphs of 4,039 and 82,168 vertices.
    const BATCH: f64 = 125e-6;
    seconds_of_batch(graph, multi_hop::suits(graph).is_some()) + BATCH
}

/// What so many searches are predicted to keep a device busy for if the host waits for none of them.
pub(crate) fn seconds_on_device(graph: &Graph, parameters: &Parameters, searches: usize) -> f64 {
    let of_launches = searches.div_ceil(WIDEST) as f64 * seconds_of_launch(graph);
    one_block::seconds_at_best(graph, parameters, searches, of_launches)
}

/// The kernel's arguments: addresses, and numbers.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Batch {
    offsets: u64,
    targets: u64,
    incoming_offsets: u64,
    incoming: u64,
    seen: [u64; 2],
    levels: u64,
    queue: u64,
    parts: u64,
    arrivals: u64,
    report: u64,
    sources: u64,
    cancelled: u64,
    arcs: u64,
    stride: u64,
    source_count: u32,
    searches: u32,
    vertices: u32,
    capacity: u32,
    cutoff: u32,
    alpha: f32,
    beta: f32,
}

// SAFETY: it is the kernel's `Batch`, field by field, whichever the type of the offsets: pointers have one size.
unsafe impl Argument for Batch {}

/// Takes what is planned for the levels of so many searches, at least as many as a batch has, and makes everything ready.
pub(crate) fn prepare(
    device: &Arc<dyn Device>,
    graph: &Graph,
    parameters: &Parameters,
    rows: u64,
) -> Result<ManySources> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    if let Some(width) = parameters.get("width").filter(|width| *width > WIDEST as f64 || width.fract() != 0.0) {
        return Err(Error::invalid(format!("`width={width}` is not a number from 1 to {WIDEST}")));
    }
    let width = width(parameters).min(rows as usize);
    let wide = has_wide_offsets(graph);
    let name = if wide { "bfs_many_sources_64" } else { "bfs_many_sources_32" };
    let search = device.function(&images::BFS_MANY_SOURCES, name)?;
    let shape = super::whole_device(&**device, search, parameters, 1024, MOST_BLOCKS)?;

    let vertices = graph.vertices() as u64;
    let mut pool = Pool::new(device, plan(graph, rows).device_bytes())?;
    let offsets = Offsets::upload(&mut pool, graph.csr(), wide)?;
    let targets = pool.take_filled(graph.csr().targets())?;
    let (by_head, tails) =
        if graph.is_directed() { transpose(&mut pool, offsets, targets)? } else { (offsets, targets) };
    let levels: DeviceSlice<u32> = pool.take(stride(graph) * rows)?;
    let seen: [DeviceSlice<u64>; 2] = [pool.take(vertices)?, pool.take(vertices)?];
    let queues: DeviceSlice<[u32; 4]> = pool.take(2 * queue_items(graph))?;
    let parts: DeviceSlice<[u32; 4]> = pool.take(2 * u64::from(MOST_BLOCKS))?;
    let sources: DeviceSlice<VertexId> = pool.take(vertices.max(rows))?;
    let arrivals: DeviceSlice<u32> = pool.take(ARRIVALS)?;
    let reports: DeviceSlice<[u32; 2]> = pool.take(rows)?;
    let waiting = Waiting::new(device)?;
    let capacity = (queue_items(graph) / u64::from(shape.grid[0])) as u32;
    let arguments = Batch {
        offsets: offsets.address(),
        targets: targets.address(),
        incoming_offsets: by_head.address(),
        incoming: tails.address(),
        seen: seen.map(|words| words.address()),
        levels: levels.address(),
        queue: queues.address(),
        parts: parts.address(),
        arrivals: arrivals.address(),
        report: reports.address(),
        sources: sources.address(),
        cancelled: waiting.flag(),
        arcs: graph.arcs() as u64,
        stride: stride(graph),
        source_count: 0,
        searches: 0,
        vertices: graph.vertices() as u32,
        capacity: parameters.get("queue").map_or(capacity, |items| capacity.min(items as u32)),
        cutoff: u32::MAX,
        alpha: parameters.get("bottom-up").unwrap_or(0.1) as f32,
        beta: parameters.get("top-down").unwrap_or(0.02) as f32,
    };
    let places = Places {
        offsets: arguments.offsets,
        targets: arguments.targets,
        levels: arguments.levels,
        stride: arguments.stride,
        report: arguments.report,
        sources: arguments.sources,
        cancelled: arguments.cancelled,
    };
    let one_block = OneBlock::prepare(&**device, graph, parameters, shape.block[0], places)?;
    let seconds_of_launch = one_block.as_ref().map_or(0.0, |_| seconds_of_launch(graph));
    Ok(ManySources {
        pool,
        one_block,
        seconds_of_launch,
        search,
        shape,
        arguments,
        arcs: Arcs { offsets, targets },
        width,
        vertices,
        levels,
        sources,
        arrivals,
        reports,
        waiting,
        begun: Begun::default(),
    })
}

/// A graph on a device, and room for a batch of searches.
#[derive(Debug)]
pub(crate) struct ManySources {
    pool: Pool,
    /// The other way to many searches, if there is room for it.
    pub(super) one_block: Option<OneBlock>,
    /// What it is compared with.
    seconds_of_launch: f64,
    search: Function,
    shape: LaunchShape,
    arguments: Batch,
    arcs: Arcs,
    width: usize,
    vertices: u64,
    levels: DeviceSlice<u32>,
    sources: DeviceSlice<VertexId>,
    arrivals: DeviceSlice<u32>,
    /// For each launch, or block, its levels, and those of them that were bottom-up.
    reports: DeviceSlice<[u32; 2]>,
    waiting: Waiting,
    begun: Begun,
}

/// What was started last.
#[derive(Debug, Clone, Copy, Default)]
struct Begun {
    launches: usize,
    reports: usize,
    /// Searches that a block has done without others.
    in_one_block: usize,
}

impl ManySources {
    /// How many searches a batch can have.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Searches from each of these sources, which may be equal.
    ///
    /// # Panics
    ///
    /// If they are more than a batch can have.
    pub(crate) fn search_each(&mut self, sources: &[VertexId], cutoff: u32, control: &Control) -> Result<Statistics> {
        assert!(sources.len() <= self.width, "more sources than a batch has searches");
        self.run(sources, sources.len() as u32, cutoff, control)
    }

    /// Begins a search from each of these sources, which may be equal: each with as many others as a block can have, or,
    /// where that does not pay, with a launch for every batch of them, one after another. The levels of the first go to
    /// the first row, and so on.
    ///
    /// # Panics
    ///
    /// If they are more than there are rows.
    pub(crate) fn start_each(&mut self, sources: &[VertexId], control: &Control) -> Result<()> {
        let rows = self.levels.length() / self.arguments.stride.max(1);
        assert!(sources.len() as u64 <= rows, "more sources than there are rows");
        self.pool.upload(self.sources, sources)?;
        let launches = sources.len().div_ceil(self.width);
        let of_launches = launches as f64 * self.seconds_of_launch;
        let in_one_block = self.one_block.as_ref().filter(|one_block| one_block.pays(sources.len(), of_launches));
        let mut begun = Begun { launches, reports: launches, in_one_block: 0 };
        self.waiting.start(self.pool.device(), control, || match in_one_block {
            Some(one_block) => {
                let reports = one_block.launch(&**self.pool.device(), sources.len())?;
                begun = Begun { launches: 1, reports, in_one_block: sources.len() };
                Ok(())
            }
            None => self.launch_each(sources),
        })?;
        self.begun = begun;
        Ok(())
    }

    /// A launch for every batch of sources, which the device has.
    fn launch_each(&self, sources: &[VertexId]) -> Result<()> {
        for (index, batch) in sources.chunks(self.width).enumerate() {
            let first = (index * self.width) as u64;
            self.pool.fill(self.arrivals, 0)?;
            self.launch(Batch {
                levels: self.levels.part(first * self.arguments.stride, 0).address(),
                sources: self.sources.part(first, 0).address(),
                report: self.reports.part(index as u64, 1).address(),
                source_count: batch.len() as u32,
                searches: batch.len() as u32,
                cutoff: u32::MAX,
                ..self.arguments
            })?;
        }
        Ok(())
    }

    /// Waits until the searches that were begun are done.
    pub(crate) fn finish(&mut self, control: &Control) -> Result<Statistics> {
        let seconds = self.waiting.finish(self.pool.device(), control)?;
        let reports = self.pool.read(self.reports.part(0, self.begun.reports as u64))?;
        let sum = |of: usize| reports.iter().map(|report| u64::from(report[of])).sum();
        Ok(vec![
            ("searches_in_one_block", self.begun.in_one_block as u64),
            ("levels", sum(0)),
            ("bottom_up_levels", sum(1)),
            ("kernel_launches", self.begun.launches as u64),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }

    /// Where the levels are, row by row, and the memory that they are in.
    pub(crate) fn rows(&self) -> (&Pool, DeviceSlice<u32>) {
        (&self.pool, self.levels)
    }

    /// Launches a batch.
    fn launch(&self, batch: Batch) -> Result<()> {
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects; all blocks of the shape
        // run at once.
        unsafe { self.pool.device().launch(self.search, &self.shape, arguments![batch]) }
    }

    /// What the last batch found from the source of this number.
    pub(crate) fn found_from(&self, index: usize) -> Found<'_> {
        Found {
            pool: &self.pool,
            arcs: self.arcs,
            levels: self.levels.part(index as u64 * self.arguments.stride, self.vertices),
            predecessors: self.sources.part(0, self.vertices),
        }
    }

    /// Runs so many searches: one from each source, or one from all.
    fn run(&mut self, sources: &[VertexId], searches: u32, cutoff: u32, control: &Control) -> Result<Statistics> {
        self.pool.upload(self.sources, sources)?;
        self.pool.fill(self.arrivals, 0)?;
        let batch = Batch { source_count: sources.len() as u32, searches, cutoff, ..self.arguments };
        let seconds = self.waiting.run(self.pool.device(), control, || self.launch(batch))?;
        let [[levels, bottom_up_levels]] = self.pool.read_array(self.reports)?;
        Ok(vec![
            ("searches_in_a_batch", searches.into()),
            ("levels", levels.into()),
            ("bottom_up_levels", bottom_up_levels.into()),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }
}

impl PreparedBfs for ManySources {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        self.run(task.sources, 1, task.cutoff, task.control)
    }

    fn found(&self) -> Found<'_> {
        self.found_from(0)
    }

    fn many_sources(&mut self) -> Option<&mut ManySources> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::devices;
    use super::*;
    use crate::graph::{Direction, GraphBuilder, Unit};
    use crate::testing::{Random, half_of_every_shape};
    use crate::{Bfs, Engine, ShortestPathTree, Solver};

    fn draw(random: &mut Random, graph: &Graph, count: usize) -> Vec<VertexId> {
        (0..count).map(|_| random.below(graph.vertices() as u64) as VertexId).collect()
    }

    /// Searches together on the device, compares each tree with that of a search alone, and returns the last one.
    fn compare(solver: &Solver, request: &Bfs, sources: &[VertexId], context: &str) -> Option<ShortestPathTree> {
        let graph = solver.graph();
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let mut alone = request.clone();
        alone.algorithm = None;
        let (mut count, mut last) = (0, None);
        solver
            .solve_each(request.clone(), sources, |tree| {
                alone.sources = vec![sources[count]];
                let expected = cpu.solve(alone.clone())?;
                assert_eq!(tree.sources(), expected.sources(), "{context}");
                assert_eq!(tree.distances(), expected.distances(), "{context}, source {count}");
                assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                assert_eq!(tree.path_counts(), expected.path_counts(), "{context}");
                assert_eq!(
                    (tree.report().engine.as_str(), tree.report().algorithm.as_str()),
                    ("cuda:0", "many-sources")
                );
                tree.verify(graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                count += 1;
                last = Some(tree);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_eq!(count, sources.len(), "{context}");
        last
    }

    fn statistic(tree: &ShortestPathTree, name: &str) -> u64 {
        tree.report().statistics.iter().find(|(counter, _)| *counter == name).map_or(0, |(_, value)| *value)
    }

    /// Every way to go and to change between them, several shapes, queues that are too small.
    const UNDER_TEST: [&str; 6] = [
        "many-sources:threads=32,blocks=3",
        "many-sources:threads=64,blocks=2,bottom-up=0,top-down=0",
        "many-sources:threads=64,bottom-up=1e9",
        "many-sources:threads=32,width=32,bottom-up=0.01,top-down=0.5",
        "many-sources:threads=96,blocks=1,width=5,bottom-up=0.1,top-down=1",
        "many-sources:threads=32,blocks=2,queue=3,top-down=0.3",
    ];

    #[test]
    fn searches_together_are_those_alone() {
        for seed in [1, 2] {
            let mut random = Random(seed);
            for (index, (name, graph)) in half_of_every_shape::<Unit>(seed).into_iter().enumerate() {
                let sources = draw(&mut random, &graph, [5, 32, 40, 64, 70][(index + seed as usize) % 5]);
                for device in devices(seed) {
                    let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                    let algorithm = UNDER_TEST[(index / 2 + seed as usize) % UNDER_TEST.len()];
                    let context = format!("{name}, {algorithm}, {} sources", sources.len());
                    compare(&solver, &Bfs::from(0).algorithm(algorithm).distances_only(), &sources, &context);
                }
            }
        }
    }

    /// Arcs both ways or not, one way of searching and the other, and a queue that is too small.
    #[test]
    fn every_way_leads_there() {
        let mut random = Random(5);
        let arcs: Vec<(u32, u32)> = (0..900)
            .map(|_| (random.below(250) as u32, random.below(250) as u32))
            .chain((1..200).map(|v| (7, v)))
            .collect();
        for direction in [Direction::Directed, Direction::Undirected] {
            let graph = GraphBuilder::new().direction(direction).build_from(arcs.clone()).unwrap();
            let mut sources = draw(&mut random, &graph, 130);
            sources[17] = sources[3];
            let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
            for device in devices(7) {
                let parameters = Parameters::default();
                // A block that runs ahead may fill its part of the queue; one block has the whole of it.
                for (blocks, alpha, capacity) in [(3, 0.0, 1 << 20), (1, 1e9, 1 << 20), (3, 0.3, 1 << 20), (3, 1e9, 4)]
                {
                    let many = &mut prepare(&device, &graph, &parameters, WIDEST as u64).unwrap();
                    many.shape = LaunchShape { cooperative: true, ..LaunchShape::line(blocks, 64) };
                    many.arguments.alpha = alpha;
                    many.arguments.capacity = capacity.min((queue_items(&graph) / u64::from(blocks)) as u32);
                    for batch in sources.chunks(WIDEST) {
                        for cutoff in [u32::MAX, 3, 0] {
                            let statistics = many.search_each(batch, cutoff, &Control::new()).unwrap();
                            let bottom_up = statistics[2];
                            assert_eq!(bottom_up.0, "bottom_up_levels");
                            match (alpha == 0.0 || capacity == 4, alpha > 1.0 && capacity > 4) {
                                (true, _) if batch.len() > 12 && cutoff > 0 => assert!(bottom_up.1 > 0),
                                (_, true) => assert_eq!(bottom_up.1, 0),
                                _ => {}
                            }
                            for (index, &source) in batch.iter().enumerate() {
                                let single = cpu.solve(Bfs::from(source).within(cutoff)).unwrap();
                                let levels = many.found_from(index).levels().unwrap();
                                let expected = |v| single.distance(v).map_or(u32::MAX, |d| d.to_f64() as u32);
                                assert!(
                                    (0..graph.vertices() as u32).all(|v| levels[v as usize] == expected(v)),
                                    "{alpha}, {capacity}, {cutoff}, {index}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn offsets_of_64_bits_lead_to_the_same_trees() {
        let arcs = (0..300_u32).flat_map(|v| [(v, v * 5 % 301), (v, (v + 1) % 301), (3, v)]);
        let graph = Graph::from_edges(arcs).unwrap();
        for device in devices(3) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for algorithm in ["many-sources:threads=64,blocks=2,queue=2", "many-sources:threads=64,blocks=2"] {
                crate::cuda::graph::WIDE_OFFSETS.set(true);
                compare(&solver, &Bfs::from(0).algorithm(algorithm), &[0, 5, 3, 299], algorithm);
                crate::cuda::graph::WIDE_OFFSETS.set(false);
            }
        }
    }

    #[test]
    fn what_goes_with_a_search_goes_with_many() {
        let graph = Graph::from_edges((0..280_u32).flat_map(|v| [(v, v * 3 % 281), (v, v + 1)])).unwrap();
        let sources: Vec<VertexId> = (0..280).step_by(28).chain([5, 5]).collect();
        for device in devices(4) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            let request = Bfs::from(0).algorithm("many-sources:threads=64,width=8");
            compare(&solver, &request.clone().count_paths().within(4), &sources, "paths");
            let last = compare(&solver, &request, &sources, "predecessors").unwrap();
            assert_eq!(statistic(&last, "searches_in_a_batch"), 4);
            assert!(last.report().device_bytes > 0 && last.report().seconds.prepare == 0.0);
            // One by one, where targets are asked for.
            solver
                .solve_each(Bfs::from(0).to([3]), &[1, 2], |tree| {
                    assert_ne!(tree.report().algorithm, "many-sources");
                    tree.verify(&graph)
                })
                .unwrap();
        }
    }

    #[test]
    #[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other tests run the same kernels")]
    fn little_memory_means_narrow_batches_and_then_none() {
        let arcs = (0..5000_u32).flat_map(|v| [7, 11, 13].map(|by| (v, (v * by + by) % 5001)));
        let graph = Graph::from_edges(arcs).unwrap();
        let sources: Vec<VertexId> = (0..20).collect();
        for device in devices(5) {
            for (memory, together) in
                [(plan(&graph, 64), Some(20)), (plan(&graph, 8), Some(4)), (plan(&graph, 4), None)]
            {
                let memory = memory.device_bytes();
                let solver = Solver::builder(graph.clone()).threads(1).memory(memory).device(device.clone()).open().unwrap();
                let mut last = None;
                solver
                    .solve_each(Bfs::from(0).distances_only(), &sources, |tree| {
                        assert!(tree.report().device_bytes <= memory);
                        last = Some(tree);
                        Ok(())
                    })
                    .unwrap();
                let last = last.unwrap();
                let found =
                    (last.report().algorithm == "many-sources").then(|| statistic(&last, "searches_in_a_batch"));
                assert_eq!(found, together);
            }
        }
    }

    #[test]
    fn cancelling_ends_it_and_nonsense_is_refused() {
        let graph = Graph::from_edges((0..100_u32).map(|v| (v, v + 1))).unwrap();
        for device in devices(6) {
            let control = Control::new();
            let solver = Solver::builder(graph.clone()).threads(1).control(control.clone()).device(device).open().unwrap();
            for wrong in ["many-sources:width=65", "many-sources:width=1.5", "many-sources:blocks=257"] {
                let refused = solver.solve_each(Bfs::from(0).algorithm(wrong), &[0; 9], |_| Ok(()));
                assert!(matches!(refused, Err(Error::InvalidRequest(_))), "{wrong}: {refused:?}");
            }
            let request = Bfs::from(0).algorithm("many-sources:threads=32,width=4");
            let mut handed = 0;
            let cancelled = solver.solve_each(request, &[0; 20], |_| {
                handed += 1;
                if handed == 6 {
                    control.cancel();
                }
                Ok(())
            });
            assert!(matches!(cancelled, Err(Error::Interrupted)));
            assert_eq!(handed, 8, "the batch under way is handed over");
        }
    }
}
