//! Shortest paths that settle a bucket of distances a step, for long thin graphs such as roads.
//!
//! As `multi-hop` for breadth-first search, with distances for levels. Each vertex keeps its *neighborhood*: all vertices
//! less than `delta` away, the heads of their arcs, and how far away all of them are by such paths. Distances are cut
//! into buckets of width delta. A step takes the queue of one bucket, and lowers, by atomic minimum, the distances of
//! what is in the neighborhoods of its vertices. Then all distances in the bucket are final, in one step:
//!
//! A shortest path enters the bucket at some vertex, which was found by the step before, and queued. While it stays in
//! the bucket it stays less than delta away, so it is in the neighborhood of that vertex, and so is the first vertex
//! beyond the bucket, which is queued in its turn, in the bucket that it falls into.
//!
//! What is reached through a vertex beyond the bucket is left to that vertex: each entry has the distance that its last
//! arc comes from, rounded down to a byte, and is passed over if that is beyond the bucket. So only vertices that paths
//! enter a bucket by are queued, about one in ten, and each is expanded once, or a little more often: the distance of
//! some of them still falls when they are expanded.
//!
//! Queues for eight buckets take turns; what is farther waits in the last one and is queued again. Each block has a
//! part of every queue, and the barrier tells everybody how long the parts are.
//!
//! Delta is what has [`INSIDE`] vertices within it, on average, in a sample. Memory: some 100 entries of 9 bytes a
//! vertex. Preparing takes a warp a vertex, which relaxes in shared memory until nothing changes. Integer weights only:
//! sums of floats depend on the order, and neighborhoods add them in another one.
//!
//! A neighborhood has at most 511 other vertices. Where a vertex has more arcs than that, or more vertices at distance 0, or
//! weights are 2^31 or more, there are none, and all searches go round by round, as `mask` does; so does a search of which
//! a bucket does not fit its queue. Statistics of such a search are those of `mask`: they have rounds and no steps.
//!
//! Work O(V x neighborhood / 10), span O(greatest distance / delta) barriers of the grid, about 6 microseconds each with
//! what comes with them. It wins where neighborhoods grow like those of a plane; elsewhere `near-far` does.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

use super::counts::{Counts, Frontiers};
use super::predecessors::{Arcs, Derivation};
use super::{
    DeviceLane, Found, OfLane, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask, distance_words, flags_of, mask,
    plan_weights, upload_weights,
};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Values};
use crate::cuda::bfs::direction_optimizing::WATCHED;
use crate::cuda::bfs::{Waiting, multi_hop as bfs_multi_hop, whole_device};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Argument, Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{DeviceGraph, plan_array, plan_graph};
use crate::graph::{Graph, VertexId, WeightKind, Weights};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "multi-hop",
        summary: "a bucket of distances a step, by neighborhoods made beforehand; wins on long thin graphs such as roads",
        source: "this work",
        parameters: &[
            Parameter {
                name: "delta",
                summary: "width of a bucket, up to 2^27; chosen from the graph",
                values: Values::AtLeast(1.0),
            },
            Parameter {
                name: "threads",
                summary: "threads in a block, a multiple of 32 up to 1024; 1024",
                values: Values::AtLeast(32.0),
            },
            Parameter {
                name: "blocks",
                summary: "blocks, up to 128; as many as run at once",
                values: Values::AtLeast(1.0),
            },
        ],
        negative_weights: false,
    },
    lanes: &[DeviceLane::Narrow, DeviceLane::Wide],
    needs_transpose: |_| false,
    plan: |graph, parameters| plan(graph, &Shape::of(graph, delta(parameters))),
    prepare,
};

/// How many vertices are less than delta away, on average.
const INSIDE: usize = 72;
/// Must be equal in the kernel.
const UNIT: u64 = 8;
/// Must be equal in the kernel.
const MOST: usize = 512;
/// Must be equal in the kernel.
const PARTS: u32 = 128;
/// Must be equal in the kernel.
const QUEUES: u32 = 8;
/// Bytes of shared memory that a warp of the build takes: `Neighborhood` in the kernel.
const WARP_BYTES: u32 = 1024 * 6 + MOST as u32 * 12 + MOST as u32 / 8;
/// Distances from one bucket to another have to fit 32 bits many times over.
const WIDEST: u32 = 1 << 27;
/// A distance within a neighborhood, the last arc included, has to fit 32 bits.
const GREATEST_WEIGHT: f64 = (1_u32 << 31) as f64;

/// What neighborhoods there are in a graph, and what they take.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    delta: u32,
    /// Units of entries.
    capacity: u64,
    /// Items of each part of the queues.
    part: u64,
}

impl Shape {
    fn of(graph: &Graph, delta: Option<u32>) -> Self {
        const SAMPLES: u64 = 96;
        /// Multiples of it are spread over the vertices evenly, and fall in no step with the rows of a grid.
        const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
        let vertices = graph.vertices() as u64;
        let sample: Vec<VertexId> = (0..SAMPLES.min(vertices))
            .map(|index| ((u128::from(index.wrapping_mul(GOLDEN_RATIO)) * u128::from(vertices)) >> 64) as VertexId)
            .collect();
        let delta = delta.unwrap_or_else(|| {
            // The distance within which all samples together have that many vertices.
            let nearest = sample.iter().flat_map(|&vertex| Nearest::to(graph, vertex).take(2 * INSIDE));
            let mut distances: Vec<u64> = nearest.map(|(_, distance)| distance).collect();
            distances.sort_unstable();
            let middle = distances.get(sample.len() * INSIDE).or(distances.last()).copied().unwrap_or(1);
            middle.clamp(1, WIDEST.into()) as u32
        });
        let size = |&vertex: &VertexId| {
            let mut nearest = Nearest::to(graph, vertex);
            let inside = nearest.by_ref().take(MOST).take_while(|&(_, distance)| distance < delta.into()).count();
            // One more has been taken, unless all were; others are known by an arc.
            inside + nearest.tentative.len().min(MOST)
        };
        let mean = sample.iter().map(size).sum::<usize>() as f64 / sample.len().max(1) as f64;
        // A fifth more than the sample has, and a start for small graphs, of which it says little.
        let entries = (mean + UNIT as f64 / 2.0) * 1.2 * vertices as f64;
        let most = vertices * (MOST as u64).div_ceil(UNIT);
        let least = vertices + graph.arcs() as u64 / UNIT;
        let capacity = (entries as u64 / UNIT + 4096).min(most).max(least).min(u64::from(u32::MAX));
        // The queues are also the memory of the search by mask: some 16 bytes a vertex.
        let part = (vertices / 64).clamp(1024, 1 << 14).max(vertices.div_ceil(1024)).min(vertices);
        Shape { delta, capacity, part }
    }

    /// Distances that last arcs come from are rounded down to a multiple of this, and then fit a byte.
    fn quantum(delta: u32) -> u32 {
        delta / 255 + 1
    }
}

/// The vertices nearest to one, in the order of their distances: Dijkstra's algorithm, as far as it is asked.
struct Nearest<'g> {
    graph: &'g Graph,
    weights: Option<&'g [u32]>,
    heap: BinaryHeap<Reverse<(u64, VertexId)>>,
    /// The distances of what is known and not yet handed out.
    tentative: HashMap<VertexId, u64>,
    done: Vec<VertexId>,
}

impl<'g> Nearest<'g> {
    fn to(graph: &'g Graph, vertex: VertexId) -> Self {
        let weights = if let Weights::U32(weights) = graph.csr().weights() { Some(&weights[..]) } else { None };
        Nearest {
            graph,
            weights,
            heap: BinaryHeap::from([Reverse((0, vertex))]),
            tentative: HashMap::from([(vertex, 0)]),
            done: Vec::new(),
        }
    }
}

impl Iterator for Nearest<'_> {
    type Item = (VertexId, u64);

    fn next(&mut self) -> Option<(VertexId, u64)> {
        loop {
            let Reverse((distance, vertex)) = self.heap.pop()?;
            if self.tentative.get(&vertex) != Some(&distance) {
                continue;
            }
            self.tentative.remove(&vertex);
            self.done.push(vertex);
            let begin = self.graph.csr().offsets()[vertex as usize] as usize;
            for (index, &head) in self.graph.neighbors(vertex).iter().enumerate() {
                let through = distance + u64::from(self.weights.map_or(1, |weights| weights[begin + index]));
                if !self.done.contains(&head) && self.tentative.get(&head).is_none_or(|&known| through < known) {
                    self.tentative.insert(head, through);
                    self.heap.push(Reverse((through, head)));
                }
            }
            return Some((vertex, distance));
        }
    }
}

/// Why this algorithm is right for a graph, if it is.
pub(super) fn suits(graph: &Graph) -> Option<String> {
    let (least, greatest) = graph.weight_range();
    if graph.weight_kind() != WeightKind::U32 || least < 1.0 || greatest >= GREATEST_WEIGHT {
        return None;
    }
    bfs_multi_hop::suits(graph)
}

/// Whether arcs alone leave a neighborhood to every vertex.
fn can_have_neighborhoods(graph: &Graph) -> bool {
    let fits = |ends: &[u64]| ends[1] - ends[0] < MOST as u64;
    graph.weight_range().1 < GREATEST_WEIGHT && graph.csr().offsets().windows(2).all(fits)
}

fn delta(parameters: &Parameters) -> Option<u32> {
    parameters.get("delta").map(|delta| delta as u32)
}

fn plan(graph: &Graph, shape: &Shape) -> Plan {
    let vertices = graph.vertices() as u64;
    let mut plan = Plan::new();
    plan_graph(graph, &mut plan);
    plan_weights(graph, &mut plan);
    plan_array::<u32>(&mut plan, "distances", distance_words(graph));
    plan_array::<[u32; 2]>(&mut plan, "places of the neighborhoods", vertices);
    plan_array::<[u32; 2]>(&mut plan, "neighborhoods", shape.capacity * UNIT);
    plan_array::<u8>(&mut plan, "where last arcs come from", shape.capacity * UNIT);
    plan_array::<[u32; 4]>(&mut plan, "queues", u64::from(QUEUES * PARTS) * shape.part);
    plan_array::<u32>(&mut plan, "sizes of the queues", 2 * u64::from(QUEUES * PARTS));
    plan_array::<VertexId>(&mut plan, "sources", vertices);
    plan_array::<VertexId>(&mut plan, "targets", vertices.min(WATCHED));
    plan_array::<u32>(&mut plan, "arrivals", 96);
    plan_array::<u64>(&mut plan, "report", 4);
    plan_array::<u32>(&mut plan, "flag", 1);
    Counts::plan(&mut plan);
    plan
}

/// The argument of the kernel that makes the neighborhoods.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Build {
    offsets: u64,
    targets: u64,
    weights: u64,
    places: u64,
    entries: u64,
    parents: u64,
    used: u64,
    failed: u64,
    vertices: u32,
    delta: u32,
    quantum: u32,
    capacity: u32,
}

// SAFETY: it is laid out as in the kernel.
unsafe impl Argument for Build {}

/// The argument of the search.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Search {
    places: u64,
    entries: u64,
    parents: u64,
    distances: u64,
    queue: u64,
    sizes: u64,
    arrivals: u64,
    report: u64,
    out_of_range: u64,
    sources: u64,
    targets_wanted: u64,
    cancelled: u64,
    statistics: u64,
    limit: u64,
    source_count: u32,
    target_count: u32,
    vertices: u32,
    delta: u32,
    quantum: u32,
    capacity: u32,
}

// SAFETY: it is laid out as in the kernels, whichever the lane: pointers have one size.
unsafe impl Argument for Search {}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
    let wanted = delta(parameters);
    if wanted.is_some_and(|delta| delta > WIDEST) {
        return Err(Error::invalid(format!("delta is at most {WIDEST}")));
    }
    let image = &images::SSSP_MULTI_HOP;
    let build = device.function(image, "sssp_multi_hop_build")?;
    let kernels = OfLane::new(graph, |lane| {
        let kernel = lane.function(&**device, image, "sssp_multi_hop")?;
        Ok((kernel, whole_device(&**device, kernel, parameters, 1024, PARTS)?))
    })?;
    let by_mask = OfLane::new(graph, |lane| mask::Kernels::right(&**device, lane))?;
    let room = Shape::of(graph, wanted);
    let (vertices, words, csr) = (graph.vertices() as u64, distance_words(graph), graph.csr());
    let mut on_device = DeviceGraph::upload(device, graph, &plan(graph, &room))?;
    let pool = &mut on_device.pool;
    let weights = upload_weights(pool, csr)?;
    let distances = pool.take(words)?;
    let places: DeviceSlice<[u32; 2]> = pool.take(vertices)?;
    let entries: DeviceSlice<[u32; 2]> = pool.take(room.capacity * UNIT)?;
    let parents: DeviceSlice<u8> = pool.take(room.capacity * UNIT)?;
    let queue: DeviceSlice<[u32; 4]> = pool.take(u64::from(QUEUES * PARTS) * room.part)?;
    let sizes: DeviceSlice<u32> = pool.take(2 * u64::from(QUEUES * PARTS))?;
    let sources = pool.take(vertices)?;
    let targets_wanted = pool.take(vertices.min(WATCHED))?;
    let arrivals = pool.take(96)?;
    let report: DeviceSlice<u64> = pool.take(4)?;
    let out_of_range = pool.take(1)?;
    let counts = Counts::take(pool)?;
    let waiting = Waiting::new(device)?;

    let warps = (device.properties().shared_bytes_per_block / WARP_BYTES).clamp(1, 8);
    let blocks = device.blocks_at_once(build, warps * 32, WARP_BYTES * warps)?.max(1);
    let shape = LaunchShape { shared_bytes: WARP_BYTES * warps, ..LaunchShape::line(blocks, warps * 32) };
    // The sample may have missed large neighborhoods: then smaller ones will do, as far as there are any.
    let mut delta = if can_have_neighborhoods(graph) { room.delta } else { 0 };
    let counters = report.words();
    while delta > 0 {
        pool.fill(report, 0)?;
        let arguments = Build {
            offsets: on_device.offsets.address(),
            targets: on_device.targets.address(),
            weights: weights.address(),
            places: places.address(),
            entries: entries.address(),
            parents: parents.address(),
            used: counters.part(0, 1).address(),
            failed: counters.part(1, 1).address(),
            vertices: graph.vertices() as u32,
            delta,
            quantum: Shape::quantum(delta),
            capacity: room.capacity as u32,
        };
        // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
        unsafe { device.launch(build, &shape, arguments![arguments])? };
        if pool.read_array::<_, 2>(counters)?[1] == 0 {
            break;
        }
        delta /= 2;
    }
    let arguments = Search {
        places: places.address(),
        entries: entries.address(),
        parents: parents.address(),
        distances: 0,
        queue: queue.address(),
        sizes: sizes.address(),
        arrivals: arrivals.address(),
        report: report.address(),
        out_of_range: out_of_range.address(),
        sources: sources.address(),
        targets_wanted: targets_wanted.address(),
        cancelled: waiting.flag(),
        statistics: 0,
        limit: 0,
        source_count: 0,
        target_count: 0,
        vertices: graph.vertices() as u32,
        delta,
        quantum: Shape::quantum(delta),
        capacity: room.part as u32,
    };
    let lane = DeviceLane::Narrow;
    Ok(Box::new(MultiHop {
        graph: on_device,
        kernels,
        by_mask,
        arguments,
        weights,
        distances,
        queue,
        sources,
        targets_wanted,
        arrivals,
        report,
        out_of_range,
        counts,
        waiting,
        lane,
    }))
}

#[derive(Debug)]
struct MultiHop {
    graph: DeviceGraph,
    kernels: OfLane<(Function, LaunchShape)>,
    by_mask: OfLane<mask::Kernels>,
    arguments: Search,
    weights: DeviceSlice<u32>,
    distances: DeviceSlice<u32>,
    queue: DeviceSlice<[u32; 4]>,
    sources: DeviceSlice<VertexId>,
    targets_wanted: DeviceSlice<VertexId>,
    arrivals: DeviceSlice<u32>,
    report: DeviceSlice<u64>,
    out_of_range: DeviceSlice<u32>,
    counts: Counts,
    waiting: Waiting,
    /// That of the last search.
    lane: DeviceLane,
}

impl MultiHop {
    /// Round by round, with the queues' memory: for buckets that do not fit the parts of the queues, and graphs of which some
    /// vertex has no neighborhood.
    fn search_by_mask(&self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        const THREADS: u32 = 128;
        let vertices = self.graph.vertices;
        let room = self.queue.words();
        // Distances come first: those of 64 bits begin at multiples of eight bytes.
        let updating = room.part(0, self.distances.length());
        let arrays = mask::Arrays {
            offsets: self.graph.offsets,
            targets: self.graph.targets,
            weights: self.weights,
            mask: room.part(updating.length(), flags_of(vertices.into()) / 4).cast(),
            cost: self.distances,
            updating,
            marked: self.arrivals.part(0, 1),
            out_of_range: self.out_of_range,
            counts: self.counts,
            vertices,
        };
        mask::search(&self.graph.pool, *self.by_mask.get(task.lane)?, THREADS, 1, arrays, task)
    }
}

impl PreparedSssp for MultiHop {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.lane = task.lane;
        let has_neighborhoods = self.arguments.delta > 0;
        if !has_neighborhoods || task.sources.len() as u64 > u64::from(PARTS) * u64::from(self.arguments.capacity) {
            return self.search_by_mask(task);
        }
        let pool: &Pool = &self.graph.pool;
        let (kernel, shape) = self.kernels.get(task.lane)?;
        let watched = if task.targets.len() as u64 <= self.targets_wanted.length() { task.targets } else { &[] };
        pool.upload(self.sources, task.sources)?;
        pool.upload(self.targets_wanted, watched)?;
        pool.fill(self.arrivals, 0)?;
        pool.fill(self.report, 0)?;
        pool.fill(self.out_of_range, 0)?;
        let search = Search {
            distances: self.distances.address(),
            statistics: self.counts.start(pool, task)?,
            limit: task.cutoff,
            source_count: task.sources.len() as u32,
            target_count: watched.len() as u32,
            ..self.arguments
        };
        let device = pool.device();
        let seconds = self.waiting.run(device, task.control, || {
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects; all blocks of the shape
            // run at once.
            unsafe { device.launch(*kernel, shape, arguments![search]) }
        })?;
        let report: [u64; 4] = pool.read_array(self.report)?;
        if report[1] != 0 {
            return self.search_by_mask(task);
        }
        let statistics = vec![
            ("steps", report[0]),
            ("delta", search.delta.into()),
            ("expanded", report[2]),
            ("relaxations", report[3]),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ];
        let out_of_range = pool.read_array(self.out_of_range)? != [0];
        let mut outcome = SsspOutcome { statistics, frontiers: Vec::new(), out_of_range };
        self.counts.finish(pool, task, Frontiers::default(), &mut outcome)?;
        Ok(outcome)
    }

    fn found(&self) -> Found<'_> {
        Found { pool: &self.graph.pool, distances: self.lane.part(self.distances, self.graph.vertices) }
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        let (vertices, room) = (u64::from(self.graph.vertices), self.queue.words());
        let Found { pool, distances } = self.found();
        Some(Derivation {
            pool,
            lane: self.lane,
            arcs: Arcs::of_graph(&self.graph, self.weights),
            distances,
            predecessors: room.part(0, vertices),
            levels: room.part(vertices, vertices),
            progress: self.out_of_range,
        })
    }
}
