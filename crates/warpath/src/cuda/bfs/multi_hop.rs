//! Breadth-first search that settles several levels a step, for long thin graphs such as roads.
//!
//! On a road network a level is a few hundred vertices and there are thousands of levels: the time is levels times the
//! latency of one, a barrier and a chain of dependent loads, and hardly any of it is work. So take fewer, larger steps.
//! Each vertex keeps its *neighborhood*: all vertices within `radius` arcs, and how far away they are. The vertices of
//! every radius-th level are the frontier; a step lowers, by atomic minimum, the levels of all vertices in the frontier's
//! neighborhoods. What is within radius arcs of the frontier has its level then: the shortest path to it crosses the
//! frontier. Those at radius arcs are the next frontier. Barriers and chains are paid once a step.
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
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::direction_optimizing::{WATCHED, level_count};
use super::predecessors::{Arcs, Found};
use super::{BfsAlgorithm, BfsTask, PreparedBfs, Waiting, queue};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Values};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Argument, Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{plan_array, upload_narrow_offsets};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
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
                summary: "levels a step, up to 16; chosen from the graph",
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
        negative_weights: true,
    },
    plan: |graph, parameters| plan(graph, &Shape::of(graph, radius(parameters))),
    prepare,
};

/// Must be equal in the kernel.
const UNIT: u64 = 8;
/// Must be equal in the kernel.
const MOST: usize = 512;
/// Words that a warp of the build has in shared memory. Must be equal in the kernel.
const BUILD_WORDS: u32 = MOST as u32 + 1024;
/// Must be equal in the kernel.
const GREATEST_RADIUS: usize = 16;
/// Must be equal in the kernel.
const PARTS: u32 = 128;
/// Vertices of this number and above do not fit an entry.
const MOST_VERTICES: usize = 1 << 28;

/// How far neighborhoods reach in a graph, and what they take.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shape {
    radius: u32,
    /// Units of entries.
    capacity: u64,
    /// Items of each part of the queues.
    part: u64,
}

impl Shape {
    fn of(graph: &Graph, radius: Option<u32>) -> Self {
        let vertices = graph.vertices() as u64;
        let growth = Growth::sample(graph, radius.unwrap_or(0) as usize);
        let radius = radius.unwrap_or(growth.suitable_radius());
        // A fifth more than the sample has, and a start for small graphs, of which it says little.
        let mean = growth.mean(radius).unwrap_or(MOST as f64);
        let entries = (mean + UNIT as f64 / 2.0) * 1.2 * vertices as f64;
        let most = vertices * (MOST as u64).div_ceil(UNIT);
        // A radius of 1 always fits.
        let least = vertices + graph.arcs() as u64 / UNIT;
        let capacity = (entries as u64 / UNIT + 4096).min(most).max(least).min(u64::from(u32::MAX));
        // The queues are also those of the search by levels, of all vertices.
        let part = (vertices / 64).clamp(1024, 1 << 14).max(vertices.div_ceil(1024)).min(vertices);
        Shape { radius, capacity, part }
    }
}

/// How neighborhoods grow with their radius, on a sample of the vertices.
#[derive(Debug)]
struct Growth {
    /// Mean sizes, for radius 1 and more, as long as none in the sample is too large.
    means: Vec<f64>,
    /// The standard deviations of the sizes, likewise.
    deviations: Vec<f64>,
}

impl Growth {
    /// Mean size up to which a greater radius pays.
    const LARGE: f64 = 116.0;
    /// So many standard deviations above the mean the greatest neighborhoods are taken to be, and up to this size they
    /// are taken to have room: the sample does not have the greatest.
    const GREATEST: (f64, f64) = (6.0, 320.0);

    /// Takes a sample, up to this radius or the first that is too large to pay, whichever is greater.
    fn sample(graph: &Graph, least_radius: usize) -> Self {
        const SAMPLES: usize = 64;
        /// Multiples of it are spread over the vertices evenly, and fall in no step with the rows of a grid.
        const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
        struct Neighborhood {
            found: Vec<VertexId>,
            /// Where the last layer begins, and the one before.
            layer: usize,
            layer_before: usize,
        }
        let vertices = graph.vertices() as u128;
        let mut sample: Vec<Neighborhood> = (0..SAMPLES.min(graph.vertices()) as u64)
            .map(|index| {
                let middle = (u128::from(index.wrapping_mul(GOLDEN_RATIO)) * vertices) >> 64;
                Neighborhood { found: vec![middle as VertexId], layer: 0, layer_before: 0 }
            })
            .collect();
        let (mut means, mut deviations) = (Vec::new(), Vec::new());
        while means.len() < GREATEST_RADIUS {
            if means.len() >= least_radius && means.last().is_some_and(|&mean: &f64| mean > Self::LARGE) {
                break;
            }
            let (mut sizes, mut squares) = (0.0, 0.0);
            for Neighborhood { found, layer, layer_before } in &mut sample {
                let end = found.len();
                for i in *layer..end {
                    for &head in graph.neighbors(found[i]) {
                        // What was found before these layers is not found again, but on a cycle of a directed graph.
                        if !found[*layer_before..].contains(&head) {
                            if found.len() >= MOST {
                                return Growth { means, deviations };
                            }
                            found.push(head);
                        }
                    }
                }
                (*layer_before, *layer) = (*layer, end);
                let size = (found.len() - 1) as f64;
                (sizes, squares) = (sizes + size, squares + size * size);
            }
            let mean = sizes / sample.len().max(1) as f64;
            means.push(mean);
            deviations.push(f64::sqrt((squares / sample.len().max(1) as f64 - mean * mean).max(0.0)));
        }
        Growth { means, deviations }
    }

    /// The mean size for a radius, if all are small enough.
    fn mean(&self, radius: u32) -> Option<f64> {
        self.means.get(radius as usize - 1).copied()
    }

    /// The greatest radius that pays.
    fn suitable_radius(&self) -> u32 {
        let (far, room) = Self::GREATEST;
        let pays = |(mean, deviation): &(&f64, &f64)| **mean <= Self::LARGE && *mean + far * *deviation <= room;
        self.means.iter().zip(&self.deviations).take_while(pays).count().max(1) as u32
    }
}

/// Why this algorithm is right for a graph, if it is: neighborhoods of twice the radius are four times as large on a
/// plane, and far larger on graphs of few levels.
pub(in crate::cuda) fn suits(graph: &Graph) -> Option<String> {
    const PLANAR: f64 = 5.0;
    /// Below, there are too few levels to matter.
    const SMALL: usize = 4096;
    if graph.vertices() < SMALL || graph.vertices() >= MOST_VERTICES || graph.arcs() > u32::MAX as usize {
        return None;
    }
    let most_arcs = graph.csr().offsets().windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let growth = Growth::sample(graph, 4);
    let (near, far) = (growth.mean(2)?, growth.mean(4)?);
    (most_arcs <= 64 && far <= PLANAR * near)
        .then(|| format!("{near:.1} vertices within two arcs and {far:.1} within four mean many short levels"))
}

fn radius(parameters: &Parameters) -> Option<u32> {
    parameters.get("radius").map(|radius| radius as u32)
}

fn plan(graph: &Graph, shape: &Shape) -> Plan {
    let vertices = graph.vertices() as u64;
    let mut plan = Plan::new();
    plan_array::<u32>(&mut plan, "offsets of the vertices", vertices + 1);
    plan_array::<VertexId>(&mut plan, "heads of the arcs", graph.arcs() as u64);
    plan_array::<u32>(&mut plan, "levels", level_count(graph));
    plan_array::<[u32; 2]>(&mut plan, "places of the neighborhoods", vertices);
    plan_array::<u32>(&mut plan, "neighborhoods", shape.capacity * UNIT);
    plan_array::<[u32; 4]>(&mut plan, "queues", 2 * u64::from(PARTS) * shape.part);
    plan_array::<VertexId>(&mut plan, "sources", vertices);
    plan_array::<VertexId>(&mut plan, "targets", vertices.min(WATCHED));
    plan_array::<u32>(&mut plan, "sizes of the queues", 2 * u64::from(PARTS));
    plan_array::<u32>(&mut plan, "arrivals", 96);
    plan_array::<u32>(&mut plan, "report", 2);
    plan
}

/// The kernel's arguments: addresses, and numbers.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Search {
    places: u64,
    entries: u64,
    levels: u64,
    queue: u64,
    sizes: u64,
    arrivals: u64,
    report: u64,
    sources: u64,
    targets_wanted: u64,
    cancelled: u64,
    source_count: u32,
    target_count: u32,
    vertices: u32,
    radius: u32,
    capacity: u32,
    cutoff: u32,
}

// SAFETY: it is the kernel's `Search`, field by field.
unsafe impl Argument for Search {}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    if graph.vertices() >= MOST_VERTICES || graph.arcs() > u32::MAX as usize {
        return Err(Error::invalid("multi-hop takes graphs of fewer than 2^28 vertices and 2^32 arcs"));
    }
    let wanted = radius(parameters);
    if wanted.is_some_and(|radius| radius as usize > GREATEST_RADIUS) {
        return Err(Error::invalid(format!("the radius is at most {GREATEST_RADIUS}")));
    }
    let search = device.function(&images::BFS_MULTI_HOP, "bfs_multi_hop")?;
    let build = device.function(&images::BFS_MULTI_HOP, "bfs_multi_hop_build")?;
    let shape = super::whole_device(&**device, search, parameters, 1024, PARTS)?;

    let room = Shape::of(graph, wanted);
    let vertices = graph.vertices() as u64;
    let mut pool = Pool::new(device, plan(graph, &room).device_bytes())?;
    let offsets = upload_narrow_offsets(&mut pool, graph.csr())?;
    let targets = pool.take_filled(graph.csr().targets())?;
    let levels: DeviceSlice<u32> = pool.take(level_count(graph))?;
    let places: DeviceSlice<[u32; 2]> = pool.take(vertices)?;
    let entries: DeviceSlice<u32> = pool.take(room.capacity * UNIT)?;
    let queues: DeviceSlice<[u32; 4]> = pool.take(2 * u64::from(PARTS) * room.part)?;
    let sources: DeviceSlice<VertexId> = pool.take(vertices)?;
    let targets_wanted: DeviceSlice<VertexId> = pool.take(vertices.min(WATCHED))?;
    let sizes: DeviceSlice<u32> = pool.take(2 * u64::from(PARTS))?;
    let arrivals: DeviceSlice<u32> = pool.take(96)?;
    let report: DeviceSlice<u32> = pool.take(2)?;
    let waiting = Waiting::new(device)?;

    // Each warp of the build has a list and a table in shared memory.
    let warp_bytes = 4 * BUILD_WORDS;
    let warps = (device.properties().shared_bytes_per_block / warp_bytes).clamp(1, 8);
    let blocks = device.blocks_at_once(build, warps * 32, warp_bytes * warps)?.max(1);
    // The sample may have missed large neighborhoods, of which there are a few on most roads: then a smaller radius will
    // do. Whoever finds one has all others stop.
    let can_have_neighborhoods = graph.csr().offsets().windows(2).all(|ends| ends[1] - ends[0] < MOST as u64);
    let mut radius = if can_have_neighborhoods { room.radius } else { 0 };
    while radius > 0 {
        pool.fill(report, 0)?;
        let count = graph.vertices() as u32;
        let capacity = room.capacity as u32;
        let (used, failed) = (report.part(0, 1), report.part(1, 1));
        let shape = LaunchShape { shared_bytes: warp_bytes * warps, ..LaunchShape::line(blocks, warps * 32) };
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe {
            let arguments = arguments![offsets, targets, count, radius, places, entries, used, capacity, failed];
            device.launch(build, &shape, arguments)?;
        }
        if pool.read_array::<_, 2>(report)?[1] == 0 {
            break;
        }
        radius -= 1;
    }
    let arguments = Search {
        places: places.address(),
        entries: entries.address(),
        levels: levels.address(),
        queue: queues.address(),
        sizes: sizes.address(),
        arrivals: arrivals.address(),
        report: report.address(),
        sources: sources.address(),
        targets_wanted: targets_wanted.address(),
        cancelled: waiting.flag(),
        source_count: 0,
        target_count: 0,
        vertices: graph.vertices() as u32,
        radius,
        capacity: room.part as u32,
        cutoff: u32::MAX,
    };
    Ok(Box::new(MultiHop {
        pool,
        search,
        shape,
        arguments,
        offsets,
        targets,
        vertices,
        levels,
        queues,
        sources,
        targets_wanted,
        arrivals,
        report,
        waiting,
    }))
}

#[derive(Debug)]
struct MultiHop {
    pool: Pool,
    search: Function,
    shape: LaunchShape,
    arguments: Search,
    offsets: DeviceSlice<u32>,
    targets: DeviceSlice<VertexId>,
    vertices: u64,
    levels: DeviceSlice<u32>,
    queues: DeviceSlice<[u32; 4]>,
    sources: DeviceSlice<VertexId>,
    targets_wanted: DeviceSlice<VertexId>,
    arrivals: DeviceSlice<u32>,
    report: DeviceSlice<u32>,
    waiting: Waiting,
}

impl MultiHop {
    /// Level by level, with the queues' memory: for frontiers that do not fit the parts of the queues, and graphs of which
    /// some vertex has no neighborhood.
    fn search_by_queue(&self, task: &BfsTask<'_>) -> Result<Statistics> {
        const THREADS: u32 = 128;
        // Hardly ever needed: it is loaded now, and not when a graph is prepared.
        let by_queue = self.pool.device().function(&images::BFS_QUEUE, "bfs_queue")?;
        let arrays = queue::Arrays {
            offsets: self.offsets,
            targets: self.targets,
            levels: self.levels,
            queues: [self.sources, self.queues.words().part(0, self.vertices)],
            next_size: self.report.part(0, 1),
        };
        queue::search(&self.pool, by_queue, THREADS, arrays, task)
    }
}

impl PreparedBfs for MultiHop {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let has_neighborhoods = self.arguments.radius > 0;
        if !has_neighborhoods || task.sources.len() as u64 > u64::from(PARTS) * u64::from(self.arguments.capacity) {
            return self.search_by_queue(task);
        }
        let watched = if task.targets.len() as u64 <= self.targets_wanted.length() { task.targets } else { &[] };
        self.pool.upload(self.sources, task.sources)?;
        self.pool.upload(self.targets_wanted, watched)?;
        self.pool.fill(self.arrivals, 0)?;
        self.pool.fill(self.report, 0)?;
        let search = Search {
            source_count: task.sources.len() as u32,
            target_count: watched.len() as u32,
            cutoff: task.cutoff,
            ..self.arguments
        };
        let device = self.pool.device();
        let seconds = self.waiting.run(device, task.control, || {
            // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects; all blocks of the
            // shape run at once.
            unsafe { device.launch(self.search, &self.shape, arguments![search]) }
        })?;
        let report: [u32; 2] = self.pool.read_array(self.report)?;
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

    fn found(&self) -> Found<'_> {
        Found {
            pool: &self.pool,
            arcs: Arcs::narrow(self.offsets, self.targets),
            levels: self.levels,
            predecessors: self.sources,
        }
    }
}
