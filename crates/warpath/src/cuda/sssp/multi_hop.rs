//! Shortest paths that settle a bucket of distances a step, for long thin graphs such as roads.
//!
//! As `multi-hop` for breadth-first search, with distances for levels. Each vertex keeps its *neighborhood*: all vertices
//! less than `delta` away, the heads of their arcs, and how far away all of them are by such paths. Distances are cut
//! into buckets of width delta. A step takes the queue of one bucket, and lowers, by atomic minimum, the distances of
//! the neighborhoods of its vertices. Then all distances in the bucket are final, in one step:
//!
//! A shortest path enters the bucket at some vertex, which was found by the step before, and queued. While it stays in
//! the bucket it stays less than delta away, so it is in the neighborhood of that vertex, and so is the first vertex
//! beyond the bucket, which is queued in its turn, in the bucket that it falls into.
//!
//! Vertices reached through a vertex beyond the bucket are left to that vertex: each entry has the distance that its
//! last arc comes from, rounded down to a byte, and is passed over if that is beyond the bucket. So only vertices that
//! paths enter a bucket by are queued, about one in ten, and each is expanded once, or a little more often: the
//! distance of some of them still falls when they are expanded.
//!
//! Queues for eight buckets take turns; farther vertices wait in the last one and are queued again. Each block has a
//! part of every queue, and the barrier tells everybody how long the parts are.
//!
//! [`Shape`] chooses delta. Memory: some 100 entries of 9 bytes a vertex. Preparing takes a warp a vertex, which relaxes in
//! shared memory until nothing changes: the arcs of 32 vertices whose distances fell are handed out to the lanes evenly,
//! and one atomic minimum keeps a distance with what its last arc comes from. Most neighborhoods are made in a small table,
//! so that more warps run at once; those that it has no room for are left to a larger one. Integer weights only: sums of
//! floats depend on the order, and neighborhoods add them in another one.
//!
//! A neighborhood has at most 511 other vertices. Where a vertex has more arcs than that, or more vertices at distance 0, or
//! weights are 2^31 or more, there are none, and all searches go round by round, as `mask` does; so does a search of which
//! a bucket does not fit its queue. Its statistics are like those of `mask`: they count rounds, not steps.
//!
//! Work O(V x neighborhood / 10), span O(greatest distance / delta) barriers of the grid, about 6 microseconds each with
//! what comes with them. It wins where neighborhoods grow like those of a plane; elsewhere `near-far` does.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr` or from `resident/adoption.rs`, which have checked them, or from
//! sources that were checked.

use std::sync::Arc;

use super::counts::{Counters, Counts, Frontiers};
use super::predecessors::{Arcs, Derivation};
use super::{
    DeviceDistances, DeviceSemiring, OfSemiring, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask, distance_words,
    flags_of, layout_weights, mask, upload_weights,
};
use crate::algorithms::{AlgorithmInfo, GraphFacts, Parameter, Parameters, Unset, Values, greatest_degree};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{DeviceGraph, Extent, Offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, WATCHED, Waiting, threads_up_to, watched, whole_device};
use crate::cuda::neighborhoods::{self, MOST, PARTS, TABLE_BITS, UNIT};
use crate::graph::{Graph, VertexId, WeightKind};
use crate::problems::Problem;
use crate::{Error, Result};

mod shape;

pub(in crate::cuda) use shape::Shape;
use shape::WIDEST;

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
                summary: "width of a bucket, up to 2^27",
                values: Values::Or(&Values::AtLeast(1.0), Unset::InWords(|| "chosen from the graph".into())),
            },
            threads_up_to::<MOST_THREADS>(),
            Parameter {
                name: "blocks",
                summary: "blocks, up to 128",
                values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
            },
        ],
        negative_weights: false,
        seconds: |work| work.in_turn(200e-6 + (work.vertices() / 400e6).max(work.levels() * 0.3e-6)),
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide],
    needs_transpose: |_| false,
    plan: |graph, parameters| {
        let shape = Shape::of(graph, delta(parameters));
        DeviceGraph::plan(graph, |arena| layout(arena, graph, &shape))
    },
    prepare,
    prepare_on_several: None,
};

kernel_header! {
    path: "sssp/multi_hop";
    namespace: multi_hop;
    constants {
        /// Queues, which take turns: one for the bucket that is being settled, and those for the buckets after it. What is
        /// farther waits in the last one.
        const QUEUES: u32 = 8;
        /// Bits of a distance that is kept in one word with what its last arc comes from.
        const DISTANCE_BITS: u32 = 24;
        /// Bytes of shared memory that a warp takes to make a neighborhood of up to 256 vertices, of up to 512, and of as many with
        /// greater distances.
        const SMALL_BYTES: u32 = bytes_of_warp(9, 4);
        const LARGE_BYTES: u32 = bytes_of_warp(TABLE_BITS, 4);
        const FAR_BYTES: u32 = bytes_of_warp(TABLE_BITS, 8);
    }

    /// The argument of the kernel that makes the neighborhoods.
    struct Build {
        offsets: DevicePtr<u32>,
        targets: DevicePtr<VertexId>,
        weights: DevicePtr<u32>,
        /// Where a neighborhood begins, in units, and how many entries it has.
        places: DeviceMutPtr<[u32; 2]>,
        /// Vertex and distance.
        entries: DeviceMutPtr<[u32; 2]>,
        /// The distance that the last arc comes from, rounded down to a multiple of `quantum`.
        parents: DeviceMutPtr<u8>,
        /// Units.
        used: DeviceMutPtr<u32>,
        /// Set if a neighborhood is too large, or there are more units than `capacity`.
        failed: DeviceMutPtr<u32>,
        /// The vertices that get a neighborhood; null for all.
        only: DevicePtr<VertexId>,
        /// Those whose neighborhood is too large for the table are listed here; null if there are to be none.
        left: DeviceMutPtr<VertexId>,
        left_count: DeviceMutPtr<u32>,
        vertices: u32,
        delta: u32,
        quantum: u32,
        capacity: u32,
    }

    /// The argument of the search.
    struct KernelArgument<Lane> {
        places: DevicePtr<[u32; 2]>,
        entries: DevicePtr<[u32; 2]>,
        parents: DevicePtr<u8>,
        distances: DeviceMutPtr<cpp::Distance>,
        /// Of each of the queues, for each block, `capacity` items: a vertex and its place.
        queue: DeviceMutPtr<[u32; 4]>,
        /// Of the parts of the queues, twice, taking turns.
        sizes: DeviceMutPtr<u32>,
        /// Three words, 32 apart, zero.
        arrivals: DeviceMutPtr<u32>,
        /// Steps, whether a part was too small, vertices expanded, relaxations; zero.
        report: DeviceMutPtr<u64>,
        out_of_range: DeviceMutPtr<u32>,
        sources: DevicePtr<VertexId>,
        targets_wanted: DevicePtr<VertexId>,
        cancelled: DevicePtr<u32>,
        /// Null if nothing is to be counted.
        statistics: DeviceMutPtr<Counts>,
        limit: u64,
        source_count: u32,
        target_count: u32,
        vertices: u32,
        delta: u32,
        quantum: u32,
        capacity: u32,
    }
}

/// A table of so many slots: keys and values, for each half of them three lists of slots, and bits of queued slots.
const fn bytes_of_warp(bits: u32, value_bytes: u32) -> u32 {
    let slots = 1 << bits;
    slots * (4 + value_bytes) + 3 * 2 * (slots / 2) + slots / 8
}

/// The most threads of a block.
const MOST_THREADS: u32 = 1024;
/// A distance within a neighborhood, the last arc included, has to fit 32 bits.
const GREATEST_WEIGHT: f64 = (1_u32 << 31) as f64;

/// Why this algorithm is right for a graph, if it is.
pub(in crate::cuda) fn suits(graph: &GraphFacts) -> Option<String> {
    let (least, greatest) = graph.weight_range;
    if graph.weight_kind != WeightKind::U32 || least < 1.0 || greatest >= GREATEST_WEIGHT {
        return None;
    }
    neighborhoods::suits(graph)
}

fn delta(parameters: &Parameters) -> Option<u32> {
    parameters.get("delta").map(|delta| delta as u32)
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    weights: DeviceSlice<u32>,
    distances: DeviceSlice<u32>,
    places: DeviceSlice<[u32; 2]>,
    entries: DeviceSlice<[u32; 2]>,
    parents: DeviceSlice<u8>,
    queue: DeviceSlice<[u32; 4]>,
    sizes: DeviceSlice<u32>,
    sources: DeviceSlice<VertexId>,
    targets_wanted: DeviceSlice<VertexId>,
    arrivals: DeviceSlice<u32>,
    report: DeviceSlice<u64>,
    out_of_range: DeviceSlice<u32>,
    counters: Counters,
}

fn layout(arena: &mut Arena<'_>, graph: &impl Extent, shape: &Shape) -> Arrays {
    let (vertices, entries) = (graph.vertices() as u64, shape.capacity * u64::from(UNIT));
    Arrays {
        weights: layout_weights(arena, graph),
        distances: arena.take("distances", distance_words(graph)),
        places: arena.take("places of the neighborhoods", vertices),
        entries: arena.take("neighborhoods", entries),
        parents: arena.take("where last arcs come from", entries),
        queue: arena.take("queues", u64::from(QUEUES * PARTS) * shape.part),
        sizes: arena.take("sizes of the queues", 2 * u64::from(QUEUES * PARTS)),
        sources: arena.take("sources", vertices),
        targets_wanted: arena.take("targets", vertices.min(WATCHED)),
        arrivals: arena.take("arrivals", 96),
        report: arena.take("report", 4),
        out_of_range: arena.take("flag", 1),
        counters: Counters::layout(arena),
    }
}

impl Arrays {
    /// The argument of a search from no source.
    fn argument(&self, graph: &impl Extent, shape: &Shape, delta: u32, waiting: &Waiting) -> KernelArgument {
        KernelArgument {
            places: self.places.as_ptr(),
            entries: self.entries.as_ptr(),
            parents: self.parents.as_ptr(),
            distances: self.distances.as_mut_ptr().cast(),
            queue: self.queue.as_mut_ptr(),
            sizes: self.sizes.as_mut_ptr(),
            arrivals: self.arrivals.as_mut_ptr(),
            report: self.report.as_mut_ptr(),
            out_of_range: self.out_of_range.as_mut_ptr(),
            sources: self.sources.as_ptr(),
            targets_wanted: self.targets_wanted.as_ptr(),
            cancelled: waiting.cancelled(),
            statistics: DeviceMutPtr::NULL,
            limit: 0,
            source_count: 0,
            target_count: 0,
            vertices: graph.vertices() as u32,
            delta,
            quantum: Shape::quantum(delta),
            capacity: shape.part as u32,
        }
    }
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedSssp>> {
    let wanted = delta(parameters);
    if wanted.is_some_and(|delta| delta > WIDEST) {
        return Err(Error::invalid(format!("`delta` is at most {WIDEST}")));
    }
    let can_have_neighborhoods = greatest_degree(graph.csr().offsets()) < MOST as usize;
    let (_, greatest_weight) = graph.weight_range();
    let room = (Shape::of(graph, wanted), can_have_neighborhoods.then_some(greatest_weight));
    let fill_arcs = |pool: &Pool, offsets, targets| {
        Offsets::Narrow(offsets).upload(pool, graph.csr())?;
        pool.upload(targets, graph.csr().targets())
    };
    with_arcs(device, graph, parameters, room, fill_arcs, |pool, to| upload_weights(pool, to, graph.csr()))
}

/// The same of a graph of this extent, with neighborhoods of this shape if vertices have few enough arcs to have any: then the greatest weight is given. `fill_arcs` and `fill_weights`
/// put them where they belong, in stream order.
pub(in crate::cuda) fn with_arcs(
    device: &Arc<dyn Device>,
    graph: &impl Extent,
    parameters: &Parameters,
    (room, greatest_weight): (Shape, Option<f64>),
    fill_arcs: impl FnOnce(&Pool, DeviceSlice<u32>, DeviceSlice<VertexId>) -> Result<()>,
    fill_weights: impl FnOnce(&Pool, DeviceSlice<u32>) -> Result<()>,
) -> Result<Box<dyn PreparedSssp>> {
    let image = &images::SSSP_MULTI_HOP;
    let kernels = OfSemiring::new(graph, |semiring| {
        let kernel = semiring.function(&**device, image, "sssp_multi_hop")?;
        Ok((kernel, whole_device(&**device, kernel, parameters, MOST_THREADS, PARTS)?))
    })?;
    let (on_device, arrays) = DeviceGraph::filled(device, graph, |arena| layout(arena, graph, &room), fill_arcs)?;
    fill_weights(&on_device.pool, arrays.weights)?;
    let waiting = Waiting::new(device)?;
    let greatest_weight = greatest_weight.filter(|&weight| weight < GREATEST_WEIGHT);
    let delta = greatest_weight.map_or(Ok(0), |weight| make_neighborhoods(&on_device, &arrays, &room, weight))?;
    if delta == 0 {
        // All searches will need them: they are loaded while the device has memory.
        OfSemiring::new(graph, |semiring| mask::Kernels::right(&**device, semiring))?;
    }
    let arguments = arrays.argument(graph, &room, delta, &waiting);
    let semiring = DeviceSemiring::Narrow;
    Ok(Box::new(MultiHop { graph: on_device, kernels, arguments, arrays, waiting, semiring }))
}

/// A kernel that makes neighborhoods of up to so many vertices.
struct Building {
    kernel: &'static str,
    warp_bytes: u32,
}

const SMALL_TABLE: Building = Building { kernel: "sssp_multi_hop_build_small", warp_bytes: SMALL_BYTES };
const LARGE_TABLE: Building = Building { kernel: "sssp_multi_hop_build_large", warp_bytes: LARGE_BYTES };
/// For distances of more than [`DISTANCE_BITS`] bits.
const FAR_TABLE: Building = Building { kernel: "sssp_multi_hop_build_far", warp_bytes: FAR_BYTES };

/// Makes the neighborhoods of a graph with this greatest weight; returns how far they reach, 0 if some vertex has none.
fn make_neighborhoods(on_device: &DeviceGraph, arrays: &Arrays, room: &Shape, greatest_weight: f64) -> Result<u32> {
    let mut delta = room.delta;
    while delta > 0 {
        let is_far = f64::from(delta) + greatest_weight >= f64::from((1_u32 << DISTANCE_BITS) - 1);
        if try_to_make(on_device, arrays, room, delta, is_far)? {
            break;
        }
        // The sample has missed large neighborhoods: smaller ones may do.
        delta -= delta.div_ceil(4);
    }
    Ok(delta)
}

/// Tries to make the neighborhoods that reach so far; returns whether all have room.
fn try_to_make(on_device: &DeviceGraph, arrays: &Arrays, room: &Shape, delta: u32, is_far: bool) -> Result<bool> {
    let pool = &on_device.pool;
    let device = pool.device();
    // Used, failed, left.
    let counters = arrays.report.words();
    pool.fill(arrays.report, 0)?;
    let all = Build {
        offsets: on_device.offsets.as_ptr(),
        targets: on_device.targets.as_ptr(),
        weights: arrays.weights.as_ptr(),
        places: arrays.places.as_mut_ptr(),
        entries: arrays.entries.as_mut_ptr(),
        parents: arrays.parents.as_mut_ptr(),
        used: counters.part(0, 1).as_mut_ptr(),
        failed: counters.part(1, 1).as_mut_ptr(),
        only: DevicePtr::NULL,
        left: DeviceMutPtr::NULL,
        left_count: counters.part(2, 1).as_mut_ptr(),
        vertices: on_device.vertices,
        delta,
        quantum: Shape::quantum(delta),
        capacity: room.capacity as u32,
    };
    let launch = |building: &Building, argument: Build| {
        let build = device.function(&images::SSSP_MULTI_HOP, building.kernel)?;
        let warps = (device.properties().shared_bytes_per_block / building.warp_bytes).clamp(1, 8);
        let blocks = device.blocks_at_once(build, warps * 32, building.warp_bytes * warps)?.max(1);
        let shape = LaunchShape { shared_bytes: building.warp_bytes * warps, ..LaunchShape::line(blocks, warps * 32) };
        // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
        unsafe { device.launch(build, &shape, arguments![argument])? };
        pool.read_array::<_, 3>(counters)
    };
    if is_far || !room.is_mostly_small() {
        let [_, failed, _] = launch(if is_far { &FAR_TABLE } else { &LARGE_TABLE }, all)?;
        return Ok(failed == 0);
    }
    // The list of sources is used by searches only.
    let [_, mut failed, left] = launch(&SMALL_TABLE, Build { left: arrays.sources.as_mut_ptr(), ..all })?;
    if failed == 0 && left > 0 {
        [_, failed, _] = launch(&LARGE_TABLE, Build { only: arrays.sources.as_ptr(), vertices: left, ..all })?;
    }
    Ok(failed == 0)
}

#[derive(Debug)]
struct MultiHop {
    graph: DeviceGraph,
    kernels: OfSemiring<(Function, LaunchShape)>,
    arguments: KernelArgument,
    arrays: Arrays,
    waiting: Waiting,
    /// The semiring of the last search.
    semiring: DeviceSemiring,
}

impl MultiHop {
    /// Round by round, with the queues' memory: for buckets that do not fit the parts of the queues, and graphs of which some
    /// vertex has no neighborhood.
    fn search_by_mask(&self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        const THREADS: u32 = 128;
        let Arrays { weights, distances, queue, arrivals, out_of_range, counters, .. } = self.arrays;
        let room = queue.words();
        // Distances come first: those of 64 bits begin at multiples of eight bytes.
        let updating = room.part(0, distances.length());
        let arrays = mask::Arrays {
            weights,
            mask: room.part(updating.length(), flags_of(self.graph.vertices.into()) / 4).cast(),
            cost: distances,
            updating,
            marked: arrivals.part(0, 1),
            out_of_range,
            counters,
        };
        let division = mask::Division::one_each(THREADS);
        // Hardly ever needed: for a graph with neighborhoods they are loaded now, and not when it is prepared.
        let kernels = mask::Kernels::right(&**self.graph.pool.device(), task.semiring)?;
        mask::search(&self.graph, kernels, division, arrays, task)
    }
}

impl PreparedSssp for MultiHop {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.semiring = task.semiring;
        let has_neighborhoods = self.arguments.delta > 0;
        if !has_neighborhoods || task.sources.len() as u64 > u64::from(PARTS) * u64::from(self.arguments.capacity) {
            return self.search_by_mask(task);
        }
        let pool: &Pool = &self.graph.pool;
        let (kernel, shape) = self.kernels.get(task.semiring)?;
        let Arrays { sources, targets_wanted, arrivals, report, out_of_range, counters, .. } = self.arrays;
        let watched = watched(task.targets, targets_wanted);
        pool.upload(sources, task.sources)?;
        pool.upload(targets_wanted, watched)?;
        pool.fill(arrivals, 0)?;
        pool.fill(report, 0)?;
        pool.fill(out_of_range, 0)?;
        let search = KernelArgument {
            statistics: counters.start(pool, task)?,
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
        let report: [u64; 4] = pool.read_array(report)?;
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
        let out_of_range = pool.read_array(out_of_range)? != [0];
        let mut outcome = SsspOutcome { statistics, frontiers: Vec::new(), out_of_range };
        counters.finish(pool, task, Frontiers::default(), &mut outcome)?;
        Ok(outcome)
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        DeviceDistances::of(&self.graph.pool, self.semiring.part(self.arrays.distances, self.graph.vertices))
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        let (vertices, room) = (u64::from(self.graph.vertices), self.arrays.queue.words());
        let DeviceDistances { pool, distances, .. } = self.device_distances();
        Some(Derivation {
            pool,
            semiring: self.semiring,
            arcs: Arcs::of_graph(&self.graph, self.arrays.weights),
            distances,
            predecessors: room.part(0, vertices),
            levels: room.part(vertices, vertices),
            progress: self.arrays.out_of_range,
        })
    }
}
