//! Breadth-first search that settles several levels a step, for long thin graphs such as roads.
//!
//! On a road network a level is a few hundred vertices and there are thousands of levels: the time is levels times the
//! latency of one, a barrier and a chain of dependent loads, and hardly any of it is work. So take fewer, larger steps.
//! Each vertex keeps its *neighborhood*: all vertices within `radius` arcs, and how far away they are. The vertices of
//! every radius-th level are the frontier; a step lowers, by atomic minimum, the levels of all vertices in the
//! frontier's neighborhoods. Vertices within radius arcs of the frontier have their levels then: the shortest path to
//! it crosses the frontier. Those at radius arcs are the next frontier. Barriers and chains are paid once a step.
//!
//! A vertex that is queued at the rim of one neighborhood may be found nearer from another one in the same step; its
//! level tells, and it is skipped. Each block appends to a part of the queue of its own, and the barrier tells
//! everybody how long the parts are, so that no counter is contended and every warp gets its share.
//!
//! Neighborhoods of radius r have about 1.5 r^2 vertices on roads and 2 r^2 on grids, so work is O(V r) where a search
//! level by level takes O(V + E). The radius is the greatest for which they have 116 vertices on average, measured on
//! a sample: 8 to 10 on roads, 7 on grids. Memory: about 120 words a vertex. Preparing takes a warp a vertex, with a hash table in
//! shared memory, and time proportional to the neighborhoods.
//!
//! It wins where levels are many and neighborhoods grow like those of a plane. Where they grow by a factor a level, as in
//! social networks, it is not for use. A neighborhood has at most 511 other vertices: where a vertex has more arcs than
//! that, there are none, and all searches go level by level, as `queue` does; so does a search of which a step does not fit
//! its queue. Statistics of such a search are those of `queue`: they have levels and no steps.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr` or from `resident/adoption.rs`, which have checked them, or from
//! sources that were checked.

use std::sync::Arc;

use super::direction_optimizing::level_count;
use super::predecessors::DeviceLevels;
use super::{BfsAlgorithm, BfsTask, PreparedBfs, queue};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values, greatest_degree};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Arcs, DeviceGraph, Extent, Offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, kernel_header};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, WATCHED, Waiting, threads_up_to, watched, whole_device};
use crate::cuda::neighborhoods::{MOST, MOST_VERTICES, PARTS, TABLE_SIZE, UNIT};
use crate::graph::sampling::Rows;
use crate::graph::{Graph, Growth, VertexId};
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "multi-hop",
        summary: "several levels a step, by neighborhoods made beforehand; wins on long thin graphs such as roads",
        source: "this work",
        parameters: &[
            Parameter {
                name: "radius",
                summary: "levels a step, up to 16",
                values: Values::Or(&Values::AtLeast(1.0), Unset::InWords(|| "chosen from the graph".into())),
            },
            threads_up_to::<MOST_THREADS>(),
            Parameter {
                name: "blocks",
                summary: "blocks, up to 128",
                values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
            },
        ],
        negative_weights: true,
        seconds: |work| work.in_turn(100e-6 + (work.vertices() / 1e9).max(work.levels() * 0.3e-6)),
    },
    plan: |graph, parameters| {
        let shape = Shape::of(graph, radius(parameters));
        DeviceGraph::plan(graph, |arena| layout(arena, graph, &shape))
    },
    prepare,
    prepare_on_several: None,
};

/// The most threads of a block.
const MOST_THREADS: u32 = 1024;

kernel_header! {
    path: "bfs/multi_hop";
    constants {
        /// Words of shared memory that a warp takes to make one: the list of what it has found, and a table to know it by.
        const BUILD_WORDS: u32 = MOST + TABLE_SIZE;
    }

    /// The arguments.
    struct KernelArgument {
        places: DevicePtr<[u32; 2]>,
        entries: DevicePtr<u32>,
        /// Of as many vertices, up to a multiple of four.
        levels: DeviceMutPtr<u32>,
        /// Two, for each block `capacity` items: a vertex and its place.
        queue: DeviceMutPtr<[u32; 4]>,
        /// Of the parts of the queues: two times `parts`.
        sizes: DeviceMutPtr<u32>,
        /// Three words, 32 apart, zero.
        arrivals: DeviceMutPtr<u32>,
        /// Number of steps; whether a part was too small, zero.
        report: DeviceMutPtr<u32>,
        sources: DevicePtr<VertexId>,
        targets_wanted: DevicePtr<VertexId>,
        cancelled: DevicePtr<u32>,
        source_count: u32,
        target_count: u32,
        vertices: u32,
        radius: u32,
        capacity: u32,
        cutoff: u32,
    }
}

/// How far neighborhoods reach in a graph, and what they take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::cuda) struct Shape {
    radius: u32,
    /// Units of entries.
    capacity: u64,
    /// Items of each part of the queues.
    part: u64,
}

impl Shape {
    pub(in crate::cuda) fn of(graph: &impl Rows, radius: Option<u32>) -> Self {
        let vertices = graph.vertices() as u64;
        let growth = Growth::sample(graph, radius.unwrap_or(0) as usize, Growth::GREATEST_RADIUS);
        let radius = radius.unwrap_or(growth.suitable_radius());
        // A fifth more than the sample has, and a start for small graphs, of which it says little.
        let mean = growth.mean(radius).unwrap_or(MOST.into());
        let entries = (mean + f64::from(UNIT) / 2.0) * 1.2 * vertices as f64;
        let most = vertices * u64::from(MOST.div_ceil(UNIT));
        // A radius of 1 always fits.
        let least = vertices + graph.arcs() as u64 / u64::from(UNIT);
        let capacity = (entries as u64 / u64::from(UNIT) + 4096).min(most).max(least).min(u64::from(u32::MAX));
        // The queues are also those of the search by levels, of all vertices.
        let part = (vertices / 64).clamp(1024, 1 << 14).max(vertices.div_ceil(1024)).min(vertices);
        Shape { radius, capacity, part }
    }
}

fn radius(parameters: &Parameters) -> Option<u32> {
    parameters.get("radius").map(|radius| radius as u32)
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    levels: DeviceSlice<u32>,
    places: DeviceSlice<[u32; 2]>,
    entries: DeviceSlice<u32>,
    queues: DeviceSlice<[u32; 4]>,
    sources: DeviceSlice<VertexId>,
    targets_wanted: DeviceSlice<VertexId>,
    sizes: DeviceSlice<u32>,
    arrivals: DeviceSlice<u32>,
    report: DeviceSlice<u32>,
}

fn layout(arena: &mut Arena<'_>, graph: &impl Extent, shape: &Shape) -> Arrays {
    let vertices = graph.vertices() as u64;
    Arrays {
        levels: arena.take("levels", level_count(graph)),
        places: arena.take("places of the neighborhoods", vertices),
        entries: arena.take("neighborhoods", shape.capacity * u64::from(UNIT)),
        queues: arena.take("queues", 2 * u64::from(PARTS) * shape.part),
        sources: arena.take("sources", vertices),
        targets_wanted: arena.take("targets", vertices.min(WATCHED)),
        sizes: arena.take("sizes of the queues", 2 * u64::from(PARTS)),
        arrivals: arena.take("arrivals", 96),
        report: arena.take("report", 2),
    }
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    if graph.vertices() >= MOST_VERTICES || graph.arcs() > u32::MAX as usize {
        return Err(Error::invalid("multi-hop takes graphs of fewer than 2^28 vertices and 2^32 arcs"));
    }
    let wanted = radius(parameters);
    if wanted.is_some_and(|radius| radius as usize > Growth::GREATEST_RADIUS) {
        return Err(Error::invalid(format!("the radius is at most {}", Growth::GREATEST_RADIUS)));
    }
    let longest = greatest_degree(graph.csr().offsets()) as u64;
    with_arcs(device, graph, parameters, (Shape::of(graph, wanted), longest), |pool, offsets, targets| {
        Offsets::Narrow(offsets).upload(pool, graph.csr())?;
        pool.upload(targets, graph.csr().targets())
    })
}

/// The same of a graph of this extent, with neighborhoods of this shape unless more arcs leave a vertex than fit one: `longest` is the
/// most. `fill` puts the arcs where they belong, in stream order.
pub(in crate::cuda) fn with_arcs(
    device: &Arc<dyn Device>,
    graph: &impl Extent,
    parameters: &Parameters,
    (room, longest): (Shape, u64),
    fill: impl FnOnce(&Pool, DeviceSlice<u32>, DeviceSlice<VertexId>) -> Result<()>,
) -> Result<Box<dyn PreparedBfs>> {
    let search = device.function(&images::BFS_MULTI_HOP, "bfs_multi_hop")?;
    let build = device.function(&images::BFS_MULTI_HOP, "bfs_multi_hop_build")?;
    let shape = whole_device(&**device, search, parameters, MOST_THREADS, PARTS)?;

    let (on_device, arrays) = DeviceGraph::filled(device, graph, |arena| layout(arena, graph, &room), fill)?;
    let waiting = Waiting::new(device)?;

    let radius = make_neighborhoods(&on_device, &arrays, longest, &room, build)?;
    let arguments = KernelArgument {
        places: arrays.places.as_ptr(),
        entries: arrays.entries.as_ptr(),
        levels: arrays.levels.as_mut_ptr(),
        queue: arrays.queues.as_mut_ptr(),
        sizes: arrays.sizes.as_mut_ptr(),
        arrivals: arrays.arrivals.as_mut_ptr(),
        report: arrays.report.as_mut_ptr(),
        sources: arrays.sources.as_ptr(),
        targets_wanted: arrays.targets_wanted.as_ptr(),
        cancelled: waiting.cancelled(),
        source_count: 0,
        target_count: 0,
        vertices: graph.vertices() as u32,
        radius,
        capacity: room.part as u32,
        cutoff: u32::MAX,
    };
    Ok(Box::new(MultiHop { graph: on_device, search, shape, arguments, arrays, waiting }))
}

/// Makes the neighborhoods; returns how far they reach, 0 if some vertex has none.
fn make_neighborhoods(
    on_device: &DeviceGraph,
    arrays: &Arrays,
    longest: u64,
    room: &Shape,
    build: Function,
) -> Result<u32> {
    let DeviceGraph { pool, offsets, targets, vertices } = on_device;
    let Arrays { places, entries, report, .. } = *arrays;
    let device = pool.device();
    // Each warp of the build has a list and a table in shared memory.
    let warp_bytes = 4 * BUILD_WORDS;
    let warps = (device.properties().shared_bytes_per_block / warp_bytes).clamp(1, 8);
    let blocks = device.blocks_at_once(build, warps * 32, warp_bytes * warps)?.max(1);
    let shape = LaunchShape { shared_bytes: warp_bytes * warps, ..LaunchShape::line(blocks, warps * 32) };
    // The sample may have missed large neighborhoods, of which there are a few on most roads: then a smaller radius will
    // do. Whoever finds one has all others stop.
    let mut radius = if longest < u64::from(MOST) { room.radius } else { 0 };
    let (used, failed, capacity) = (report.part(0, 1), report.part(1, 1), room.capacity as u32);
    while radius > 0 {
        pool.fill(report, 0)?;
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe {
            let arguments = arguments![*offsets, *targets, *vertices, radius, places, entries, used, capacity, failed];
            device.launch(build, &shape, arguments)?;
        }
        if pool.read_array::<_, 2>(report)?[1] == 0 {
            break;
        }
        radius -= 1;
    }
    Ok(radius)
}

#[derive(Debug)]
struct MultiHop {
    graph: DeviceGraph,
    search: Function,
    shape: LaunchShape,
    arguments: KernelArgument,
    arrays: Arrays,
    waiting: Waiting,
}

impl MultiHop {
    /// Level by level, with the queues' memory: for frontiers that do not fit the parts of the queues, and graphs of which
    /// some vertex has no neighborhood.
    fn search_by_queue(&self, task: &BfsTask<'_>) -> Result<Statistics> {
        const THREADS: u32 = 128;
        let DeviceGraph { pool, offsets, targets, vertices } = &self.graph;
        let Arrays { levels, sources, queues, report, .. } = self.arrays;
        // Hardly ever needed: it is loaded now, and not when a graph is prepared.
        let by_queue = pool.device().function(&images::BFS_QUEUE, "bfs_queue")?;
        let arrays = queue::Arrays {
            levels,
            queues: [sources, queues.words().part(0, (*vertices).into())],
            next_size: report.part(0, 1),
            parents: None,
        };
        queue::search(pool, by_queue, THREADS, (*offsets, *targets), arrays, task)
    }
}

impl PreparedBfs for MultiHop {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let has_neighborhoods = self.arguments.radius > 0;
        if !has_neighborhoods || task.sources.len() as u64 > u64::from(PARTS) * u64::from(self.arguments.capacity) {
            return self.search_by_queue(task);
        }
        let pool = &self.graph.pool;
        let Arrays { sources, targets_wanted, arrivals, report, .. } = self.arrays;
        let watched = watched(task.targets, targets_wanted);
        pool.upload(sources, task.sources)?;
        pool.upload(targets_wanted, watched)?;
        pool.fill(arrivals, 0)?;
        pool.fill(report, 0)?;
        let search = KernelArgument {
            source_count: task.sources.len() as u32,
            target_count: watched.len() as u32,
            cutoff: task.cutoff,
            ..self.arguments
        };
        let device = pool.device();
        let seconds = self.waiting.run(device, task.control, || {
            // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects; all blocks of the
            // shape run at once.
            unsafe { device.launch(self.search, &self.shape, arguments![search]) }
        })?;
        let report: [u32; 2] = pool.read_array(report)?;
        if report[1] != 0 {
            return self.search_by_queue(task);
        }
        Ok(vec![
            ("steps", report[0].into()),
            ("levels_a_step", search.radius.into()),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        DeviceLevels::with_arcs(
            &self.graph.pool,
            self.arrays.levels,
            (Arcs::narrow(self.graph.offsets, self.graph.targets), self.arrays.sources),
        )
    }
}
