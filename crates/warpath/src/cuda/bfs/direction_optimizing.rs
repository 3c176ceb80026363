//! Breadth-first search in both directions, all levels in one launch.
//!
//! While the frontier is narrow it searches top-down: the arcs of the frontier are relaxed, and each unvisited head is
//! claimed by one thread. Once the frontier holds a fair share of all arcs it searches bottom-up: every unvisited vertex
//! looks for a visited tail, and stops at the first. The threads decide that by themselves, from counters that all of
//! them read after each level, and meet at a barrier of the whole grid; the host hears of nothing until the end.
//!
//! What makes it fast here:
//! - **No frontier bitmap.** Bottom-up asks whether a tail is *visited*: had it been visited before the last level, the
//!   vertex would be too. So queues need not be turned into bitmaps, nor bitmaps cleared, and hubs, visited early,
//!   answer most questions. A pass reads one bitmap and writes the other, without an atomic.
//! - **The best tails first.** The four tails with the most arcs of each vertex lie in an array of their own, in the order
//!   of the vertices: a warp reads 32 of them at once, and rarely needs more.
//! - **Balance.** Rows up to 32 arcs are packed, longer ones are cut into pieces of 256 that any warp can take. Warps
//!   collect what they claim and append it 64 and more vertices at a time, since all append to one counter.
//!
//! The arcs by head of a directed graph are made on the device, which takes less time than their upload would.
//!
//! Work O(V + E) at worst, and on graphs of few levels far less, as bottom-up skips most arcs; span O(levels) barriers of
//! the grid, about 3 microseconds each with what comes with them. It wins on graphs of few levels. On long thin ones
//! `multi-hop` does.
//!
//! Source: Beamer, Asanovic and Patterson 2012, "Direction-optimizing breadth-first search".
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr` or from `resident/adoption.rs`, which have checked them, or from
//! sources that were checked.

use std::sync::Arc;

use super::predecessors::DeviceLevels;
use super::{BfsAlgorithm, BfsTask, PreparedBfs};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::frontier::most_pieces;
use crate::cuda::graph::{Arcs, Extent, has_wide_offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, WATCHED, Waiting, threads_up_to, watched, whole_device};
use crate::cuda::transpose::Transpose;
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "direction-optimizing",
        summary: "top-down or bottom-up as the frontier demands, in one launch; wins on graphs of few levels",
        source: "Beamer et al. 2012",
        parameters: &[
            Parameter {
                name: "bottom-up",
                summary: "bottom-up once this share of all arcs leaves the frontier, a quarter of it if hubs are there",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(BOTTOM_UP)),
            },
            Parameter {
                name: "top-down",
                summary: "top-down again once less than this share of all vertices is in it",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(TOP_DOWN)),
            },
            threads_up_to::<MOST_THREADS>(),
            Parameter {
                name: "blocks",
                summary: "blocks",
                values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
            },
        ],
        negative_weights: true,
        seconds: |work| work.in_turn(60e-6 + work.vertices() * 0.07e-9 + work.arcs() / 300e9),
    },
    plan,
    prepare,
    prepare_on_several: None,
};

/// The share of all arcs that ends a search top-down, unless it is set.
const BOTTOM_UP: f64 = 0.06;
/// The share of all vertices that ends a search bottom-up, unless it is set.
pub(super) const TOP_DOWN: f64 = 0.02;
/// The most threads of a block.
const MOST_THREADS: u32 = 512;
/// Threads count a little beyond the last vertex.
const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);
/// Levels are written four at a time.
pub(super) fn level_count(graph: &impl Extent) -> u64 {
    (graph.vertices() as u64).next_multiple_of(4)
}

fn words(graph: &impl Extent) -> u64 {
    graph.vertices().div_ceil(32) as u64
}

kernel_header! {
    path: "bfs/direction_optimizing";
    /// What one level tells the next. Three take turns: one is read, one written, one cleared.
    struct Level {
        /// How many vertices the queue of short rows has.
        short_rows: u32,
        /// How many pieces the queue of long rows has.
        pieces: u32,
        /// How many vertices were found.
        found: u32,
        cancelled: u32,
        /// How many arcs leave them, if the level was searched top-down.
        arcs: u64,
    }

    /// The arguments.
    struct KernelArgument<Offset> {
        /// Of the arcs by tail.
        offsets: DevicePtr<cpp::Offset>,
        targets: DevicePtr<VertexId>,
        /// Of the arcs by head.
        incoming_offsets: DevicePtr<cpp::Offset>,
        incoming: DevicePtr<VertexId>,
        /// For each vertex the first four tails to look for, filled up with no_vertex.
        best_tails: DevicePtr<[u32; 4]>,
        /// Bits of what is never looked for: vertices without arcs, and beyond the last one.
        settled: DevicePtr<u32>,
        /// Of as many vertices, up to a multiple of four.
        levels: DeviceMutPtr<u32>,
        /// Bits.
        visited: [DeviceMutPtr<u32>; 2],
        /// Queues of vertices.
        short_rows: [DeviceMutPtr<VertexId>; 2],
        /// Queues of vertices and pieces.
        long_rows: [DeviceMutPtr<[u32; 2]>; 2],
        /// Three.
        turns: DeviceMutPtr<Level>,
        /// Number of levels, and of those searched bottom-up.
        report: DeviceMutPtr<u32>,
        sources: DevicePtr<VertexId>,
        targets_wanted: DevicePtr<VertexId>,
        cancelled: DevicePtr<u32>,
        arcs: u64,
        source_count: u32,
        target_count: u32,
        vertices: u32,
        cutoff: u32,
        /// Bottom-up once this share of all arcs leaves the frontier,
        bottom_up: f32,
        /// and top-down again once less than this share of all vertices is in it.
        top_down: f32,
    }
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    arcs: Arcs,
    /// The arcs by head, where they differ.
    by_head: Option<Transpose>,
    /// The first tails of each row of arcs by head.
    best_tails: DeviceSlice<[u32; 4]>,
    levels: DeviceSlice<u32>,
    settled: DeviceSlice<u32>,
    visited: [DeviceSlice<u32>; 2],
    short_rows: [DeviceSlice<VertexId>; 2],
    long_rows: [DeviceSlice<[u32; 2]>; 2],
    targets_wanted: DeviceSlice<VertexId>,
    turns: DeviceSlice<Level>,
    report: DeviceSlice<u32>,
}

fn layout(arena: &mut Arena<'_>, graph: &impl Extent) -> Arrays {
    let vertices = graph.vertices() as u64;
    Arrays {
        arcs: Arcs::layout(arena, graph),
        by_head: graph.is_directed().then(|| Transpose::layout(arena, graph)),
        best_tails: arena.take("the best tails", vertices),
        levels: arena.take("levels", level_count(graph)),
        settled: arena.take("vertices never looked for", words(graph)),
        visited: arena.take_two(["visited", "visited next"], words(graph)),
        short_rows: arena.take_two(["queue of short rows", "next queue of short rows"], vertices),
        long_rows: arena.take_two(["queue of long rows", "next queue of long rows"], most_pieces(graph)),
        targets_wanted: arena.take("targets", vertices.min(WATCHED)),
        turns: arena.take("counters", 3),
        report: arena.take("report", 2),
    }
}

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    plan_of(|arena| layout(arena, graph))
}

impl Arrays {
    /// Where the sources are put: the second queue is free until they have been read.
    fn sources(&self) -> DeviceSlice<VertexId> {
        self.short_rows[1]
    }

    /// The arguments of a search from no source.
    fn arguments(&self, graph: &impl Extent, parameters: &Parameters, waiting: &Waiting) -> KernelArgument {
        let by_head = self.by_head.map_or(self.arcs, |by_head| by_head.arcs);
        KernelArgument {
            offsets: self.arcs.offsets.as_ptr(),
            targets: self.arcs.targets.as_ptr(),
            incoming_offsets: by_head.offsets.as_ptr(),
            incoming: by_head.targets.as_ptr(),
            best_tails: self.best_tails.as_ptr(),
            settled: self.settled.as_ptr(),
            levels: self.levels.as_mut_ptr(),
            visited: self.visited.map(|bits| bits.as_mut_ptr()),
            short_rows: self.short_rows.map(|queue| queue.as_mut_ptr()),
            long_rows: self.long_rows.map(|queue| queue.as_mut_ptr()),
            turns: self.turns.as_mut_ptr(),
            report: self.report.as_mut_ptr(),
            sources: self.sources().as_ptr(),
            targets_wanted: self.targets_wanted.as_ptr(),
            cancelled: waiting.cancelled(),
            arcs: graph.arcs() as u64,
            source_count: 0,
            target_count: 0,
            vertices: graph.vertices() as u32,
            cutoff: u32::MAX,
            bottom_up: parameters.get("bottom-up").unwrap_or(BOTTOM_UP) as f32,
            top_down: parameters.get("top-down").unwrap_or(TOP_DOWN) as f32,
        }
    }
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    with_arcs(device, graph, parameters, |pool, arcs| arcs.upload(pool, graph.csr()))
}

/// The same of a graph of this extent, whose arcs `fill` puts where they belong, in stream order.
pub(in crate::cuda) fn with_arcs(
    device: &Arc<dyn Device>,
    graph: &impl Extent,
    parameters: &Parameters,
    fill: impl FnOnce(&Pool, Arcs) -> Result<()>,
) -> Result<Box<dyn PreparedBfs>> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    let wide = has_wide_offsets(graph);
    let function = |name| device.function(&images::BFS_DIRECTION_OPTIMIZING, name);
    let (search, choose_best_tails) = if wide {
        (function("bfs_direction_optimizing_64")?, function("bfs_choose_best_tails_64")?)
    } else {
        (function("bfs_direction_optimizing_32")?, function("bfs_choose_best_tails_32")?)
    };
    let shape = whole_device(&**device, search, parameters, MOST_THREADS, u32::MAX)?;

    let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph))?;
    fill(&pool, arrays.arcs)?;
    if let Some(by_head) = arrays.by_head {
        by_head.make(&pool, arrays.arcs)?;
    }
    let waiting = Waiting::new(device)?;
    let arguments = arrays.arguments(graph, parameters, &waiting);

    let threads = device.properties().threads_per_block.min(512);
    let choosing = LaunchShape::line(device.blocks_at_once(choose_best_tails, threads, 0)?.max(1), threads);
    let KernelArgument { incoming_offsets, incoming, offsets, vertices, best_tails, settled, .. } = arguments;
    // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
    unsafe {
        let arguments = arguments![incoming_offsets, incoming, offsets, vertices, best_tails, settled];
        device.launch(choose_best_tails, &choosing, arguments)?;
    }
    device.synchronize()?;
    Ok(Box::new(DirectionOptimizing { pool, search, shape, arguments, arrays, waiting }))
}

#[derive(Debug)]
struct DirectionOptimizing {
    pool: Pool,
    search: Function,
    shape: LaunchShape,
    arguments: KernelArgument,
    arrays: Arrays,
    waiting: Waiting,
}

impl PreparedBfs for DirectionOptimizing {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let Arrays { targets_wanted, report, .. } = self.arrays;
        let watched = watched(task.targets, targets_wanted);
        self.pool.upload(self.arrays.sources(), task.sources)?;
        self.pool.upload(targets_wanted, watched)?;
        let search = KernelArgument {
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
        let report: [u32; 2] = self.pool.read_array(report)?;
        Ok(vec![
            ("levels", report[0].into()),
            ("bottom_up_levels", report[1].into()),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        let Arrays { arcs, levels, short_rows: [predecessors, _], .. } = self.arrays;
        DeviceLevels::with_arcs(&self.pool, levels, (arcs, predecessors))
    }
}
