//! Shortest paths from many sources in one launch: hundreds of searches at once, each by one block.
//!
//! A search alone cannot fill a GPU where paths are long: on roads a thousand vertices are ready at a time, and every
//! step costs a barrier of the grid and a chain of dependent accesses. Here a block takes the next source from a counter
//! and searches alone. Its barriers are those of a block, 0.04 microseconds instead of 1, and while it waits for memory
//! the eight or nine other blocks of its multiprocessor, and those of the 131 others, go on. What a source costs is then no
//! longer the length of the chain, but the number of accesses.
//!
//! A block works in steps. It has a *near queue*, of vertices and distances below a threshold, in shared memory, and a *far pile*, of
//! those above, in memory of its own. A step relaxes the arcs of all that is in the queue.
//! - **No marks.** Whatever falls is queued with the distance it fell to, and is passed over later if that is not its
//!   distance any more. A distance falls to a value only once, so nothing is expanded twice with the same.
//! - **The threshold does not wait.** As soon as the queue has less than a quarter of what is wanted, 256 vertices or a
//!   quarter of the pile, it is filled up from the pile: the threshold moves to the least distance there, plus delta. So
//!   what is near is not settled before what is farther begins, as in stepping algorithms; steps stay full, and hardly
//!   anything is expanded in vain, since what is wanted is little.
//! - **Delta follows:** a quarter more when too little was found, a fifth less when too much was, or when distances fall
//!   more than twice as often as vertices are reached. When the queue overflows, as where a tail leads into a
//!   dense part, delta is halved and the threshold goes back at once.
//! - **Queues that are full lose nothing.** What has no room in the near queue goes to the far pile. Before that is full
//!   it is purged of what is out of date; if it still overflows, the least distance that was lost is kept, and when
//!   nothing nearer is left all vertices from there on are looked at.
//! - **Rows are shared out:** a warp spreads the arcs of 32 vertices over its lanes; rows of more than 512 arcs are taken by
//!   the whole block.
//! - **Small graphs in shared memory.** Where the distances of a search fit there, they are there: 15 nanoseconds instead of
//!   142, and many times as many a second.
//!
//! On the emulator, with 256 vertices wanted: on the roads of New York 1,660 steps, 1.06 times each arc, and, simulated,
//! 0.9 entries of the pile looked at for each; on a grid of 700 x 700 with random weights 2,250 steps and 1.01 times; on a
//! random graph of 10,000 vertices and 100,000 arcs 39 steps and 1.15 times; on a Kronecker graph of 2 M arcs 142 steps
//! and 1.20 times. With 512 wanted it is 1.20 times on the roads, with 1,024 1.7: of a front of a thousand vertices, some
//! hundreds are ready.
//!
//! Work O(V + E + what is relaxed again), span O(steps) barriers of a block. Floor for the roads of New York, 730 k arcs: about 2.5
//! M random accesses to L2 a source, at 100 to 160 G a second: 0.02 ms. Steps are no limit: 1,660 of 2
//! microseconds are 3.3 ms a search, with a thousand in flight 0.0035 ms a source. So 0.03 to 0.05 ms a source is
//! predicted where a few hundred sources are asked for. It does not win where one search fills the device and its
//! distances are in L2, but those of hundreds are not: on large graphs of short paths `near-far` one after another
//! is as good.
//!
//! Memory: the graph, the distances of a batch, and for each search in flight 8 bytes a vertex, or 16 of graphs of up to
//! 131,072 vertices. With less of it batches are narrower. Searches whose distances leave 32 bits are repeated in 64; there is
//! room for a sixteenth of the batch.
//!
//! Counters are those of a batch; the statistics that other algorithms keep on request are not kept here.
//!
//! Source: Davidson, Baxter, Garland and Owens 2014, "Work-efficient parallel GPU methods for single-source shortest
//! paths", sect. 4.4; a threshold for so many vertices as in Dong, Gu, Sun and Zhang 2021, "Efficient stepping algorithms
//! and implementations for parallel shortest paths".
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::near_far::{first_delta, upload_arcs};
use super::{DeviceLane, Found, OfLane, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask, lanes_of};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Values};
use crate::cuda::bfs::Waiting;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Argument, Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Offsets, has_wide_offsets, plan_array};
use crate::graph::{Graph, VertexId, WeightKind};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Control, Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "many-sources",
        summary: "hundreds of searches at once, each by one block; wins on roads and small graphs where many sources are \
                  asked for",
        source: "after Davidson et al. 2014; Dong et al. 2021",
        parameters: &[
            Parameter {
                name: "width",
                summary: "searches in a batch, up to 65536; as many as have 2 GB of distances, up to 16384",
                values: Values::AtLeast(1.0),
            },
            Parameter {
                name: "blocks",
                summary: "searches in flight; as many as run at once, up to 1056",
                values: Values::AtLeast(1.0),
            },
            Parameter {
                name: "threads",
                summary: "threads in a block, a multiple of 32 up to 1024; 128, or more where a block takes much shared memory",
                values: Values::AtLeast(32.0),
            },
            Parameter {
                name: "delta",
                summary: "how far the threshold moves at first; chosen from the weights and the average degree",
                values: Values::AtLeast(f64::MIN_POSITIVE),
            },
            Parameter {
                name: "near",
                summary: "vertices that the near queue should have; 256, or as many as there are threads",
                values: Values::AtLeast(1.0),
            },
            Parameter {
                name: "queue",
                summary: "vertices that the near queue has room for, up to 4096; 1024",
                values: Values::AtLeast(4.0),
            },
            Parameter {
                name: "distances",
                summary: "where those of a search in flight are; shared where there is room",
                values: Values::OneOf(&["shared", "global"]),
            },
        ],
        negative_weights: false,
    },
    lanes: &[DeviceLane::Narrow, DeviceLane::Wide, DeviceLane::Single, DeviceLane::Double],
    needs_transpose: |_| false,
    plan: |graph, parameters| plan(graph, &Sizes::of(graph, parameters)),
    prepare: |device, graph, parameters| {
        let sizes = Sizes::of(graph, parameters);
        Ok(Box::new(prepare(device, graph, parameters, &sizes)?))
    },
};

/// Pieces of work are counted in 32 bits, with much to spare.
pub(crate) const MOST_VERTICES: usize = 1 << 30;
/// The most searches in a batch.
const WIDEST: u64 = 1 << 16;
/// The most searches in flight, unless it is said: eight on each multiprocessor of the largest device.
const IN_FLIGHT: u64 = 1056;
/// What is kept of a device's memory for the kernel's own shared memory.
const OWN_SHARED: u64 = 2048;

/// The widest batch that is taken without being asked for: a power of two.
pub(crate) fn widest(graph: &Graph) -> usize {
    const WORDS: u64 = 1 << 29;
    let most = WORDS / (stride(graph) * lanes_of(graph)[0].words()).max(1);
    1 << most.clamp(8, 1 << 14).ilog2()
}

/// From row to row of the distances: each begins at a cache line.
pub(crate) fn stride(graph: &Graph) -> u64 {
    (graph.vertices() as u64).next_multiple_of(32)
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    /// The lanes there are.
    lanes: &'static [DeviceLane],
    /// Searches in a batch.
    width: u64,
    /// Searches in flight.
    in_flight: u64,
    /// Vertices that a far pile has room for.
    capacity: u64,
    /// Words of all far piles.
    far_words: u64,
}

impl Sizes {
    fn of(graph: &Graph, parameters: &Parameters) -> Self {
        let width = parameters.get("width").map_or(widest(graph) as u64, |width| width as u64).min(WIDEST);
        Self::in_lanes(graph, parameters, lanes_of(graph), width)
    }

    /// For so many searches in a batch, the first of these lanes in mind.
    pub(crate) fn in_lanes(graph: &Graph, parameters: &Parameters, lanes: &'static [DeviceLane], width: u64) -> Self {
        let vertices = graph.vertices() as u64;
        let in_flight = parameters.get("blocks").map_or(IN_FLIGHT, |blocks| blocks as u64).min(width);
        let capacity = vertices.max((2 * vertices).min(1 << 18)).max(1);
        let piles = |(index, lane): (usize, &DeviceLane)| {
            capacity * (1 + lane.words()) * if index == 0 { in_flight } else { 1 }
        };
        let far_words = lanes.iter().enumerate().map(piles).max().unwrap_or(0);
        Sizes { lanes, width, in_flight, capacity, far_words }
    }

    /// How many searches of this lane can be in a batch: few need the second lane.
    fn rows(&self, lane: DeviceLane) -> u64 {
        if self.lanes[0] == lane { self.width } else { (self.width / 16).max(1) }
    }
}

/// What it takes.
pub(crate) fn plan(graph: &Graph, sizes: &Sizes) -> Plan {
    let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
    let mut plan = Plan::new();
    Offsets::plan(&mut plan, "offsets of the vertices", vertices + 1, has_wide_offsets(graph));
    if graph.weight_kind() == WeightKind::F64 {
        plan_array::<[u64; 2]>(&mut plan, "heads and weights of the arcs", arcs);
    } else {
        plan_array::<[u32; 2]>(&mut plan, "heads and weights of the arcs", arcs);
    }
    for &lane in sizes.lanes {
        let rows = sizes.rows(lane);
        let words = stride(graph).saturating_mul(rows).saturating_mul(lane.words());
        plan_array::<u32>(&mut plan, &format!("distances {} of {rows} searches", lane.name()), words);
    }
    plan_array::<u32>(&mut plan, &format!("far vertices of {} searches in flight", sizes.in_flight), sizes.far_words);
    plan_array::<VertexId>(&mut plan, "sources", vertices.max(sizes.width));
    plan_array::<u32>(&mut plan, "flags", sizes.width);
    plan_array::<u64>(&mut plan, "report", 5);
    plan_array::<u32>(&mut plan, "next search", 1);
    plan
}

/// The kernel's argument.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Batch {
    offsets: u64,
    arcs: u64,
    distances: u64,
    far_distances: u64,
    far_vertices: u64,
    next: u64,
    report: u64,
    out_of_range: u64,
    sources: u64,
    cancelled: u64,
    limit: u64,
    stride: u64,
    delta: f64,
    source_count: u32,
    searches: u32,
    vertices: u32,
    capacity: u32,
    room: u32,
    wanted: u32,
    in_shared: u32,
}

// SAFETY: it is laid out as in the kernels, whichever the lane and the type of the offsets: pointers have one size.
unsafe impl Argument for Batch {}

/// What there is for searches of one lane.
#[derive(Debug)]
struct InLane {
    kernel: Function,
    /// As many blocks as can be in flight.
    shape: LaunchShape,
    /// A row for each search of a batch.
    distances: DeviceSlice<u32>,
    rows: u64,
    wanted: u32,
    in_shared: bool,
}

/// How searches of a lane are launched: the shape, and whether distances are in shared memory.
fn shape(
    device: &dyn Device,
    kernel: Function,
    lane: DeviceLane,
    graph: &Graph,
    parameters: &Parameters,
    room: u32,
) -> Result<(LaunchShape, bool)> {
    let properties = device.properties();
    let bytes = 4 * lane.words();
    let queues = u64::from(room) * (2 * (bytes + 4) + 2);
    let with_distances = queues + graph.vertices() as u64 * bytes;
    let fits = with_distances + OWN_SHARED <= properties.shared_bytes_per_block.into();
    if queues + OWN_SHARED > properties.shared_bytes_per_block.into() {
        let most = properties.shared_bytes_per_block;
        return Err(Error::invalid(format!(
            "`queue={room}` takes {queues} bytes of shared memory in a block; the device has {most}"
        )));
    }
    let in_shared = match parameters.word("distances") {
        Some("shared") if !fits => {
            let most = properties.shared_bytes_per_block;
            let wanted = format!("`distances=shared` takes {with_distances} bytes of shared memory in a block");
            return Err(Error::invalid(format!("{wanted}; the device has {most}")));
        }
        Some(word) => word == "shared",
        None => fits,
    };
    let shared_bytes = if in_shared { with_distances } else { queues } as u32;
    let most = properties.threads_per_block;
    let blocks = |threads: u32| device.blocks_at_once(kernel, threads, shared_bytes);
    let threads = match parameters.get("threads") {
        Some(threads) if threads > f64::from(most) || threads % 32.0 != 0.0 => {
            return Err(Error::invalid(format!("`threads={threads}` is not a multiple of 32 up to {most}")));
        }
        Some(threads) => threads as u32,
        None => {
            // Small blocks, unless larger ones have more threads at work.
            let mut best = (128, blocks(128)? * 128);
            for threads in [256, 512, 1024].into_iter().filter(|threads| *threads <= most) {
                let at_work = blocks(threads)? * threads;
                if at_work > best.1 + best.1 / 8 {
                    best = (threads, at_work);
                }
            }
            best.0
        }
    };
    Ok((LaunchShape { shared_bytes, ..LaunchShape::line(blocks(threads)?.max(1), threads) }, in_shared))
}

/// An error if a number is above its most, or not whole.
fn check_whole(parameters: &Parameters, name: &str, most: u64) -> Result<()> {
    match parameters.get(name) {
        Some(value) if value > most as f64 || value.fract() != 0.0 => {
            Err(Error::invalid(format!("`{name}={value}` is not a whole number up to {most}")))
        }
        _ => Ok(()),
    }
}

/// Takes what is planned, and makes everything ready.
pub(crate) fn prepare(
    device: &Arc<dyn Device>,
    graph: &Graph,
    parameters: &Parameters,
    sizes: &Sizes,
) -> Result<ManySources> {
    const MOST_ROOM: u64 = 4096;
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    for (name, most) in [("width", WIDEST), ("blocks", WIDEST), ("queue", MOST_ROOM), ("near", MOST_ROOM)] {
        check_whole(parameters, name, most)?;
    }
    let wide = has_wide_offsets(graph);
    let vertices = graph.vertices() as u64;
    let room = parameters.get("queue").unwrap_or(1024.0) as u32;

    let mut pool = Pool::new(device, plan(graph, sizes).device_bytes())?;
    let offsets = Offsets::upload(&mut pool, graph.csr(), wide)?;
    let arcs = upload_arcs(&mut pool, graph.csr())?;
    let lanes = OfLane::of(sizes.lanes, |lane| {
        let name = if wide { "sssp_many_sources_64" } else { "sssp_many_sources_32" };
        let kernel = lane.function(&**device, &images::SSSP_MANY_SOURCES, name)?;
        let (mut shape, in_shared) = shape(&**device, kernel, lane, graph, parameters, room)?;
        let piles = sizes.far_words / (sizes.capacity * (1 + lane.words()));
        shape.grid[0] = u64::from(shape.grid[0]).min(piles).max(1) as u32;
        let rows = sizes.rows(lane);
        let distances = pool.take(stride(graph) * rows * lane.words())?;
        let wanted = parameters.get("near").map_or(shape.block[0].max(256), |near| near as u32);
        Ok(InLane { kernel, shape, distances, rows, wanted: wanted.min(room - room / 4), in_shared })
    })?;
    let far: DeviceSlice<u32> = pool.take(sizes.far_words)?;
    let sources: DeviceSlice<VertexId> = pool.take(vertices.max(sizes.width))?;
    let out_of_range: DeviceSlice<u32> = pool.take(sizes.width)?;
    let report: DeviceSlice<u64> = pool.take(5)?;
    let next: DeviceSlice<u32> = pool.take(1)?;
    let waiting = Waiting::new(device)?;
    device.synchronize()?;
    let arguments = Batch {
        offsets: offsets.address(),
        arcs,
        distances: 0,
        far_distances: far.address(),
        far_vertices: 0,
        next: next.address(),
        report: report.address(),
        out_of_range: out_of_range.address(),
        sources: sources.address(),
        cancelled: waiting.flag(),
        limit: 0,
        stride: stride(graph),
        delta: parameters.get("delta").unwrap_or_else(|| first_delta(graph)),
        source_count: 0,
        searches: 0,
        vertices: graph.vertices() as u32,
        capacity: sizes.capacity as u32,
        room,
        wanted: 0,
        in_shared: 0,
    };
    let lane = sizes.lanes[0];
    Ok(ManySources { pool, lanes, arguments, far, sources, out_of_range, report, next, waiting, lane, begun: [0; 2] })
}

/// A graph on a device, and room for a batch of searches.
#[derive(Debug)]
pub(crate) struct ManySources {
    pool: Pool,
    lanes: OfLane<InLane>,
    arguments: Batch,
    far: DeviceSlice<u32>,
    sources: DeviceSlice<VertexId>,
    out_of_range: DeviceSlice<u32>,
    report: DeviceSlice<u64>,
    next: DeviceSlice<u32>,
    waiting: Waiting,
    /// That of the last search alone.
    lane: DeviceLane,
    /// How many searches were begun last, and how many of them are in flight.
    begun: [u32; 2],
}

/// What a batch of searches tells when it is done.
#[derive(Debug)]
pub(crate) struct BatchOutcome {
    /// What they counted together.
    pub(crate) statistics: Statistics,
    /// For each search, whether some walk was longer than the lane's distances go.
    pub(crate) out_of_range: Vec<bool>,
}

impl ManySources {
    /// How many searches of this lane a batch can have.
    pub(crate) fn width(&self, lane: DeviceLane) -> Result<usize> {
        Ok(self.lanes.get(lane)?.rows as usize)
    }

    /// Searches from each of these sources, which may be equal. What was found in another lane stays.
    ///
    /// # Panics
    ///
    /// If they are more than a batch can have.
    pub(crate) fn search_each(
        &mut self,
        lane: DeviceLane,
        sources: &[VertexId],
        cutoff: u64,
        control: &Control,
    ) -> Result<BatchOutcome> {
        assert!(sources.len() <= self.width(lane)?, "more sources than a batch has searches");
        self.run(lane, sources, sources.len() as u32, cutoff, control)
    }

    /// What the last batch of this lane found from the source of this number.
    pub(crate) fn found_from(&self, lane: DeviceLane, index: usize) -> Result<Found<'_>> {
        let start = index as u64 * self.arguments.stride * lane.words();
        let distances = self.lanes.get(lane)?.distances;
        let row = distances.part(start, distances.length() - start);
        Ok(Found { pool: &self.pool, distances: lane.part(row, self.arguments.vertices) })
    }

    /// Where the distances of this lane are, row by row.
    pub(crate) fn rows(&self, lane: DeviceLane) -> Result<DeviceSlice<u32>> {
        Ok(self.lanes.get(lane)?.distances)
    }

    /// The memory of everything.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Runs so many searches: one from each source, or one from all.
    fn run(
        &mut self,
        lane: DeviceLane,
        sources: &[VertexId],
        searches: u32,
        cutoff: u64,
        control: &Control,
    ) -> Result<BatchOutcome> {
        self.start(lane, sources, searches, cutoff, control)?;
        self.finish(control)
    }

    /// Begins so many searches: one from each source, or one from all.
    pub(crate) fn start(
        &mut self,
        lane: DeviceLane,
        sources: &[VertexId],
        searches: u32,
        cutoff: u64,
        control: &Control,
    ) -> Result<()> {
        let InLane { kernel, shape, distances, wanted, in_shared, .. } = self.lanes.get(lane)?;
        let pool = &self.pool;
        pool.upload(self.sources, sources)?;
        pool.fill(self.out_of_range, 0)?;
        pool.fill(self.report, 0)?;
        pool.fill(self.next, 0)?;
        let mut shape = *shape;
        shape.grid[0] = shape.grid[0].min(searches).max(1);
        // The distances of all piles, then the vertices.
        let pile_words = u64::from(shape.grid[0]) * u64::from(self.arguments.capacity) * lane.words();
        let batch = Batch {
            distances: distances.address(),
            far_vertices: self.far.part(pile_words, 0).address(),
            limit: cutoff,
            source_count: sources.len() as u32,
            searches,
            wanted: *wanted,
            in_shared: (*in_shared).into(),
            ..self.arguments
        };
        let device = pool.device();
        self.waiting.start(device, control, || {
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
            unsafe { device.launch(*kernel, &shape, arguments![batch]) }
        })?;
        self.begun = [searches, shape.grid[0]];
        Ok(())
    }

    /// Waits until the searches that were begun are done.
    pub(crate) fn finish(&mut self, control: &Control) -> Result<BatchOutcome> {
        let pool = &self.pool;
        let seconds = self.waiting.finish(pool.device(), control)?;
        let [searches, in_flight] = self.begun;
        let [steps, thresholds, scans, expanded, relaxations] = pool.read_array(self.report)?;
        let out_of_range = pool.read(self.out_of_range.part(0, searches.into()))?;
        let statistics = vec![
            ("searches_in_a_batch", searches.into()),
            ("searches_in_flight", in_flight.into()),
            ("steps", steps),
            ("thresholds", thresholds),
            ("scans", scans),
            ("expanded", expanded),
            ("relaxations", relaxations),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ];
        Ok(BatchOutcome { statistics, out_of_range: out_of_range.into_iter().map(|flag| flag != 0).collect() })
    }
}

impl PreparedSssp for ManySources {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.lane = task.lane;
        let outcome = self.run(task.lane, task.sources, 1, task.cutoff, task.control)?;
        let out_of_range = outcome.out_of_range.contains(&true);
        Ok(SsspOutcome { statistics: outcome.statistics, frontiers: Vec::new(), out_of_range })
    }

    fn found(&self) -> Found<'_> {
        let distances = self.lanes.get(self.lane).map_or(self.far, |in_lane| in_lane.distances);
        Found { pool: &self.pool, distances: self.lane.part(distances, self.arguments.vertices) }
    }

    fn many_sources(&mut self) -> Option<&mut ManySources> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::parse_algorithm;
    use crate::cuda::bfs::tests::devices;
    use crate::cuda::graph::WIDE_OFFSETS;
    use crate::graph::{Direction, GraphBuilder};
    use crate::testing::{Random, TestWeight, graphs_of_every_shape};
    use crate::{Engine, ShortestPathTree, Solver, Sssp};

    fn draw(random: &mut Random, graph: &Graph, count: usize) -> Vec<VertexId> {
        (0..count).map(|_| random.below(graph.vertices() as u64) as VertexId).collect()
    }

    /// Searches together on the device, compares each tree with that of a search alone on the CPU, and returns them.
    fn compare(solver: &Solver, request: &Sssp, sources: &[VertexId], context: &str) -> Vec<ShortestPathTree> {
        let graph = solver.graph();
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let mut alone = request.clone();
        let mut trees = Vec::new();
        solver
            .solve_each(request.clone(), sources, |tree| {
                alone.algorithm = Some("dijkstra".into());
                alone.sources = vec![sources[trees.len()]];
                let expected = cpu.solve(alone.clone())?;
                assert_eq!(tree.sources(), expected.sources(), "{context}");
                assert_eq!(tree.distances(), expected.distances(), "{context}, source {}", trees.len());
                assert_eq!(tree.predecessors(), expected.predecessors(), "{context}");
                let (report, expected) = (tree.report(), expected.report());
                assert_eq!((report.lane, report.repeated_wide), (expected.lane, expected.repeated_wide), "{context}");
                assert_eq!((report.engine.as_str(), report.algorithm.as_str()), ("cuda:0", "many-sources"));
                tree.verify(graph).unwrap_or_else(|error| panic!("{context}: {error}"));
                trees.push(tree);
                Ok(())
            })
            .unwrap_or_else(|error| panic!("{context}: {error}"));
        assert_eq!(trees.len(), sources.len(), "{context}");
        trees
    }

    fn statistic(tree: &ShortestPathTree, name: &str) -> u64 {
        tree.report().statistics.iter().find(|(counter, _)| *counter == name).map_or(0, |(_, value)| *value)
    }

    const UNDER_TEST: [&str; 5] = [
        "many-sources:threads=32,width=8",
        "many-sources:threads=64,blocks=2,distances=global,near=30",
        "many-sources:threads=32,blocks=3,width=5,delta=1,near=4,queue=7",
        "many-sources:threads=96,width=16,delta=700,queue=40",
        "many-sources:threads=32,width=40,blocks=1,distances=global,queue=5",
    ];

    fn searches_together_are_those_alone<W: TestWeight>(seed: u64, every: usize) {
        let mut random = Random(seed);
        let graphs = graphs_of_every_shape::<W>(seed).into_iter().enumerate().skip(seed as usize % every);
        for (index, (name, graph)) in graphs.step_by(every) {
            let count = [3, 9, 17][(index + seed as usize) % 3];
            let sources = draw(&mut random, &graph, count);
            for device in devices(seed) {
                let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                let algorithm = UNDER_TEST[(index / every + seed as usize) % UNDER_TEST.len()];
                let mut request = Sssp::from(0).algorithm(algorithm);
                if index % 3 == 0 {
                    request = request.distances_only();
                }
                if index % 4 == 1 {
                    request = request.within(random.below(3000) as f64 / 2.0);
                }
                compare(&solver, &request, &sources, &format!("{name}, {algorithm}, {count} sources"));
            }
        }
    }

    #[test]
    fn searches_together_are_those_alone_in_every_lane() {
        for seed in [1, 2, 3] {
            searches_together_are_those_alone::<u32>(seed, 3);
        }
        searches_together_are_those_alone::<f32>(4, 5);
        searches_together_are_those_alone::<f64>(5, 5);
    }

    #[test]
    fn offsets_of_64_bits_lead_to_the_same_trees() {
        let mut random = Random(8);
        let arcs = (0..300_u32).flat_map(|v| [(v, v * 5 % 301), (v, (v + 1) % 301), (3, v)]);
        let arcs: Vec<_> = arcs.map(|(u, v)| (u, v, 1 + random.below(900) as u32)).collect();
        let graph = Graph::from_edges(arcs).unwrap();
        for device in devices(3) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for algorithm in ["many-sources:threads=64,width=2", "many-sources:threads=32,distances=global"] {
                WIDE_OFFSETS.set(true);
                compare(&solver, &Sssp::from(0).algorithm(algorithm), &[0, 5, 3, 299], algorithm);
                WIDE_OFFSETS.set(false);
            }
        }
    }

    /// Rows longer than a block takes at once; near queues that overflow, so that the window is cut back; a far pile that
    /// is purged, and one that overflows, so that all vertices are looked at.
    #[test]
    fn queues_that_are_full_lose_nothing() {
        let mut random = Random(13);
        let hubs = (0..3_u32).flat_map(|hub| (0..600).map(move |k| (hub, 3 + hub + 2 * k)));
        let tail = (1206..1400_u32).map(|v| (v, v + 1));
        let others = (0..1500_u32).map(|v| (v * 7 % 1207, v * 11 % 1205));
        let edges = tail.chain(hubs).chain(others).map(|(u, v)| (u, v, 1 + random.below(255) as u32));
        let hubs = GraphBuilder::new().direction(Direction::Undirected).build_from(edges.collect::<Vec<_>>()).unwrap();
        // Every one of the first lowers the distances of all others.
        let fan = (1..25_u32).map(|v| (0, v, 1));
        let falls = (1..25_u32).flat_map(|v| (25..400).map(move |w| (v, w, 4000 - 40 * v + w)));
        let on = (25..399_u32).map(|v| (v, v + 1, 1 + v % 7));
        let falling = Graph::from_edges(fan.chain(falls).chain(on).collect::<Vec<_>>()).unwrap();
        for device in devices(13) {
            for distances in ["shared", "global"] {
                let solver = |graph: &Graph| Solver::builder(graph.clone()).threads(1).device(device.clone()).open().unwrap();
                let request = |parameters: &str| {
                    let name = format!("many-sources:distances={distances},{parameters}");
                    Sssp::from(0).algorithm(name).distances_only()
                };
                let trees = compare(&solver(&hubs), &request("threads=128,queue=64,delta=30"), &[1400, 0, 777], "hubs");
                // Relaxed again is less than half.
                assert!(statistic(&trees[0], "relaxations") < 3 * 3 * hubs.arcs() as u64 / 2);
                assert!(statistic(&trees[0], "expanded") >= 3 * 1200);
                let trees = compare(&solver(&falling), &request("threads=64,near=32"), &[0, 0, 30], "falling");
                assert!(statistic(&trees[0], "scans") > 0, "{:?}", trees[0].report());
            }
        }
    }

    /// Some of the searches of a batch leave the narrow lane, more than there is room for at once.
    #[test]
    fn only_searches_that_leave_the_narrow_lane_are_repeated() {
        let long = (0..6_u32).map(|v| (v, v + 1, u32::MAX / 3));
        let graph = Graph::from_edges(long.chain([(6, 7, 2), (7, 8, u32::MAX - 1)])).unwrap();
        let sources = [6, 0, 1, 7, 2, 5, 3, 0, 4, 8, 8, 1];
        for device in devices(2) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            for width in [1, 3, 12] {
                let request = Sssp::from(0).algorithm(format!("many-sources:threads=32,width={width}"));
                let trees = compare(&solver, &request, &sources, "wide");
                assert!(trees.iter().any(|tree| tree.report().repeated_wide));
                assert!(trees.iter().any(|tree| !tree.report().repeated_wide));
            }
        }
    }

    #[test]
    #[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other tests run the same kernels")]
    fn what_goes_with_a_search_goes_with_many() {
        let graph = Graph::from_edges((0..280_u32).flat_map(|v| [(v, v * 3 % 281, 9), (v, v + 1, v % 5)])).unwrap();
        let sources: Vec<VertexId> = (0..280).step_by(28).chain([5, 5]).collect();
        for device in devices(4) {
            let solver = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
            // Without a name, too; batches are of about one size.
            let trees = compare(&solver, &Sssp::from(0).within(40_u32), &sources, "chosen");
            assert_eq!(statistic(&trees[0], "searches_in_a_batch"), 12);
            let trees = compare(&solver, &Sssp::from(0).algorithm("many-sources:width=8"), &sources, "named");
            assert_eq!(statistic(&trees[0], "searches_in_a_batch"), 6);
            assert!(trees[11].report().device_bytes > 0 && trees[11].report().seconds.prepare == 0.0);
            // One by one, where targets are asked for, or where there are few.
            for (request, few) in [(Sssp::from(0).to([3]), &sources[..]), (Sssp::from(0), &sources[..3])] {
                solver
                    .solve_each(request, few, |tree| {
                        assert_ne!(tree.report().algorithm, "many-sources");
                        tree.verify(&graph)
                    })
                    .unwrap();
            }
        }
    }

    #[test]
    #[cfg_attr(emulator_sanitized, ignore = "takes long under sanitizers; the other tests run the same kernels")]
    fn little_memory_means_narrow_batches_and_then_none() {
        let arcs = (0..5000_u32).flat_map(|v| [7, 11].map(|by| (v, (v * by + by) % 5001, v % 90)));
        let graph = Graph::from_edges(arcs).unwrap();
        let sources: Vec<VertexId> = (0..20).collect();
        let bytes = |width| {
            let text = format!("many-sources:width={width}");
            let (_, parameters) = parse_algorithm(&[ALGORITHM], |algorithm| &algorithm.info, &text).unwrap();
            plan(&graph, &Sizes::of(&graph, &parameters)).device_bytes()
        };
        for device in devices(5) {
            for (memory, together) in [(bytes(32), Some(20)), (bytes(8), Some(6)), (bytes(8) - 1, None)] {
                let solver = Solver::builder(graph.clone()).threads(1).memory(memory).device(device.clone()).open().unwrap();
                let mut last = None;
                let request = Sssp::from(0).within(60_u32).distances_only();
                solver
                    .solve_each(request.clone(), &sources, |tree| {
                        assert!(tree.report().device_bytes <= memory);
                        last = Some(tree);
                        Ok(())
                    })
                    .unwrap();
                let planned = solver.decide_each(&request, &sources).unwrap().plan().device_bytes();
                let last = last.unwrap();
                assert_eq!(last.report().device_bytes, planned);
                let found =
                    (last.report().algorithm == "many-sources").then(|| statistic(&last, "searches_in_a_batch"));
                assert_eq!(found, together);
            }
        }
    }

    #[test]
    fn cancelling_ends_it() {
        let graph = Graph::from_edges((0..100_u32).map(|v| (v, v + 1, 3_u32))).unwrap();
        for device in devices(6) {
            let control = Control::new();
            let solver = Solver::builder(graph.clone()).threads(1).control(control.clone()).device(device).open().unwrap();
            let request = Sssp::from(0).algorithm("many-sources:threads=32,width=4");
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
