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
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::predecessors::{Arcs, Found};
use super::{BfsAlgorithm, BfsTask, PreparedBfs, Waiting};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Values};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Argument, Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Offsets, has_wide_offsets, plan_array};
use crate::cuda::transpose::{plan_transpose, transpose};
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
                summary: "bottom-up once this share of all arcs leaves the frontier, a quarter of it if hubs are there; 0.06",
                values: Values::AtLeast(0.0),
            },
            Parameter {
                name: "top-down",
                summary: "top-down again once less than this share of all vertices is in it; 0.02",
                values: Values::AtLeast(0.0),
            },
            Parameter {
                name: "threads",
                summary: "threads in a block, a multiple of 32 up to 512; 512",
                values: Values::AtLeast(32.0),
            },
            Parameter { name: "blocks", summary: "blocks; as many as run at once", values: Values::AtLeast(1.0) },
        ],
        negative_weights: true,
    },
    plan,
    prepare,
};

/// Threads count a little beyond the last vertex.
const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);
/// Must be equal in the kernel.
const SHORT_ROW: u64 = 32;
/// Must be equal in the kernel.
const PIECE: u64 = 256;
/// More targets than these are not watched: the search goes on to its end.
pub(in crate::cuda) const WATCHED: u64 = 1 << 12;

/// Levels are written four at a time.
pub(super) fn level_count(graph: &Graph) -> u64 {
    (graph.vertices() as u64).next_multiple_of(4)
}

fn words(graph: &Graph) -> u64 {
    graph.vertices().div_ceil(32) as u64
}

/// Pieces of long rows that one level can have.
fn most_pieces(graph: &Graph) -> u64 {
    let arcs = graph.arcs() as u64;
    arcs / PIECE + (arcs / SHORT_ROW).min(graph.vertices() as u64) + 1
}

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
    let mut plan = Plan::new();
    Offsets::plan(&mut plan, "offsets of the vertices", vertices + 1, has_wide_offsets(graph));
    plan_array::<VertexId>(&mut plan, "heads of the arcs", arcs);
    if graph.is_directed() {
        plan_transpose(graph, has_wide_offsets(graph), &mut plan);
    }
    plan_array::<[u32; 4]>(&mut plan, "the best tails", vertices);
    plan_array::<u32>(&mut plan, "levels", level_count(graph));
    for what in ["vertices never looked for", "visited", "visited next"] {
        plan_array::<u32>(&mut plan, what, words(graph));
    }
    for what in ["queue of short rows", "next queue of short rows"] {
        plan_array::<VertexId>(&mut plan, what, vertices);
    }
    for what in ["queue of long rows", "next queue of long rows"] {
        plan_array::<[u32; 2]>(&mut plan, what, most_pieces(graph));
    }
    plan_array::<VertexId>(&mut plan, "targets", vertices.min(WATCHED));
    plan_array::<[u32; 6]>(&mut plan, "counters", 3);
    plan_array::<u32>(&mut plan, "report", 2);
    plan
}

/// The kernel's arguments: addresses, and numbers.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Search {
    offsets: u64,
    targets: u64,
    incoming_offsets: u64,
    incoming: u64,
    heads: u64,
    settled: u64,
    levels: u64,
    visited: [u64; 2],
    short_rows: [u64; 2],
    long_rows: [u64; 2],
    turns: u64,
    report: u64,
    sources: u64,
    targets_wanted: u64,
    cancelled: u64,
    arcs: u64,
    source_count: u32,
    target_count: u32,
    vertices: u32,
    cutoff: u32,
    alpha: f32,
    beta: f32,
}

// SAFETY: it is the kernel's `Search`, field by field, whichever the type of the offsets: pointers have one size.
unsafe impl Argument for Search {}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    let wide = has_wide_offsets(graph);
    let function = |name| device.function(&images::BFS_DIRECTION_OPTIMIZING, name);
    let (search, choose_heads) = if wide {
        (function("bfs_direction_optimizing_64")?, function("bfs_choose_heads_64")?)
    } else {
        (function("bfs_direction_optimizing_32")?, function("bfs_choose_heads_32")?)
    };
    let shape = super::whole_device(&**device, search, parameters, 512, u32::MAX)?;

    let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
    let mut pool = Pool::new(device, plan(graph, parameters).device_bytes())?;
    let offsets = Offsets::upload(&mut pool, graph.csr(), wide)?;
    let targets = pool.take_filled(graph.csr().targets())?;
    let (by_head, tails) =
        if graph.is_directed() { transpose(&mut pool, offsets, targets)? } else { (offsets, targets) };
    let heads: DeviceSlice<[u32; 4]> = pool.take(vertices)?;
    let levels: DeviceSlice<u32> = pool.take(level_count(graph))?;
    let settled: DeviceSlice<u32> = pool.take(words(graph))?;
    let visited: [DeviceSlice<u32>; 2] = [pool.take(words(graph))?, pool.take(words(graph))?];
    let short_rows: [DeviceSlice<VertexId>; 2] = [pool.take(vertices)?, pool.take(vertices)?];
    let long_rows: [DeviceSlice<[u32; 2]>; 2] = [pool.take(most_pieces(graph))?, pool.take(most_pieces(graph))?];
    let targets_wanted: DeviceSlice<VertexId> = pool.take(vertices.min(WATCHED))?;
    let turns: DeviceSlice<[u32; 6]> = pool.take(3)?;
    let report: DeviceSlice<u32> = pool.take(2)?;
    let waiting = Waiting::new(device)?;

    let threads = device.properties().threads_per_block.min(512);
    let choosing = LaunchShape::line(device.blocks_at_once(choose_heads, threads, 0)?.max(1), threads);
    let vertex_count = graph.vertices() as u32;
    // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
    unsafe {
        let arguments = arguments![by_head, tails, offsets, vertex_count, heads, settled];
        device.launch(choose_heads, &choosing, arguments)?;
    }
    device.synchronize()?;
    let search_arguments = Search {
        offsets: offsets.address(),
        targets: targets.address(),
        incoming_offsets: by_head.address(),
        incoming: tails.address(),
        heads: heads.address(),
        settled: settled.address(),
        levels: levels.address(),
        visited: visited.map(|bits| bits.address()),
        short_rows: short_rows.map(|queue| queue.address()),
        long_rows: long_rows.map(|queue| queue.address()),
        turns: turns.address(),
        report: report.address(),
        // The second queue is free until the sources have been read.
        sources: short_rows[1].address(),
        targets_wanted: targets_wanted.address(),
        cancelled: waiting.flag(),
        arcs,
        source_count: 0,
        target_count: 0,
        vertices: vertex_count,
        cutoff: u32::MAX,
        alpha: parameters.get("bottom-up").unwrap_or(0.06) as f32,
        beta: parameters.get("top-down").unwrap_or(0.02) as f32,
    };
    Ok(Box::new(DirectionOptimizing {
        pool,
        search,
        shape,
        arguments: search_arguments,
        arcs: Arcs { offsets, targets },
        levels,
        short_rows: short_rows[0],
        sources: short_rows[1],
        targets_wanted,
        report,
        waiting,
    }))
}

#[derive(Debug)]
struct DirectionOptimizing {
    pool: Pool,
    search: Function,
    shape: LaunchShape,
    arguments: Search,
    arcs: Arcs,
    levels: DeviceSlice<u32>,
    short_rows: DeviceSlice<VertexId>,
    sources: DeviceSlice<VertexId>,
    targets_wanted: DeviceSlice<VertexId>,
    report: DeviceSlice<u32>,
    waiting: Waiting,
}

impl PreparedBfs for DirectionOptimizing {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let watched = if task.targets.len() as u64 <= self.targets_wanted.length() { task.targets } else { &[] };
        self.pool.upload(self.sources, task.sources)?;
        self.pool.upload(self.targets_wanted, watched)?;
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
        Ok(vec![
            ("levels", report[0].into()),
            ("bottom_up_levels", report[1].into()),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }

    fn found(&self) -> Found<'_> {
        Found { pool: &self.pool, arcs: self.arcs, levels: self.levels, predecessors: self.short_rows }
    }
}
