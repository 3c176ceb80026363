//! Betweenness centrality on a GPU: breadth-first from 32 sources at once with counts of shortest paths, and back.
//!
//! A warp works on one vertex at a time, and each of its lanes has a search of its own. For each lane there is a level of two bytes and a number
//! of eight, side by side, so that a warp reads the state of a neighbor in 32 searches with two loads. On the way out, a vertex that some
//! search has not reached looks for neighbors at the level before, by the arcs that lead to it, and adds up their counts; so a count is
//! there when its level is, without atomics. On the way back, a vertex at a level adds up (1 + dependency) / count of its neighbors at the next one. A bit
//! for each vertex tells whether any search has it at the level that is looked for: only then its state is read.
//!
//! Long rows are cut where the numbers of arcs are multiples of [`SEGMENT`], and warps share the pieces. Sums are made piece by piece in
//! the order of the arcs, as those of the CPU (`cpu/betweenness`), and added up over the sources in fixed point: results have the same bits
//! there and here. Counts are exact up to 2^53; a search with a greater one is not counted, and its source is handed back. So are searches of more than 65,534 levels.
//!
//! Work O(V E) for all sources, but a row is looked through once for every level that any of 32 searches has its vertex at; span O(levels)
//! launches for every 32 sources. It wins on graphs of few levels. Memory 336 bytes a vertex beside the graph.
//!
//! Sources: Brandes 2001, "A faster algorithm for betweenness centrality", algorithm 1; several sources that share their reads after
//! Sariyüce, Kaya, Saule and Çatalyürek 2013, "Betweenness centrality on GPUs and heterogeneous architectures".
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they expect. All
//! arrays are taken from one pool of device memory, which lives through the call; the ids in them come from a `Csr`, which has checked them, or from
//! sources that the solver has checked.

use std::sync::Arc;
use std::time::Instant;

use super::device::arena::{Arena, plan_of};
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, Function, LaunchShape, arguments, images};
use super::graph::{Arcs, has_wide_offsets};
use super::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use super::transpose::Transpose;
use crate::algorithms::{Statistics, Workload};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::{BETWEENNESS_SEGMENT, Sums};
use crate::{Control, Error, Result, memory};

/// Searches at once, one for each lane of a warp.
const LANES: usize = 32;
/// The levels that two bytes tell apart.
const MOST_LEVELS: u32 = u16::MAX as u32 - 1;

kernel_header! {
    path: "betweenness";
    namespace: betweenness;
    constants {
        /// Arcs whose sum is made at once; rows are cut at multiples of it.
        const SEGMENT: u32 = BETWEENNESS_SEGMENT as u32;
        /// Longer rows are shared by several warps.
        const LONG_ROW: u32 = 512;
    }
    /// What a level tells the host.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    struct News {
        /// Whether any search has reached a vertex.
        found: u32,
        /// The searches with counts that are no exact sums any more.
        inexact: u32,
    }

    /// The argument.
    struct KernelArgument<Offset> {
        /// The rows that are looked through: arcs by head on the way out, by tail on the way back.
        offsets: DevicePtr<cpp::Offset>,
        heads: DevicePtr<VertexId>,
        /// For each vertex 32 levels,
        levels: DeviceMutPtr<u16>,
        /// and 32 counts, which become (1 + dependency) / count.
        values: DeviceMutPtr<f64>,
        /// Bits of the vertices that some search has at the level looked for,
        active: DevicePtr<u32>,
        /// and at the level that is worked on.
        next_active: DeviceMutPtr<u32>,
        /// Pieces of long rows: the vertex, and which segment of all arcs.
        pieces: DevicePtr<[u32; 2]>,
        /// Long rows: the vertex, its first piece, how many there are.
        long_rows: DevicePtr<[u32; 4]>,
        /// The sums of the pieces, 32 each.
        partial: DeviceMutPtr<f64>,
        /// The sums of dependencies in fixed point: for each vertex 64 bits after the point and 64 before it.
        sums: DeviceMutPtr<u64>,
        news: DeviceMutPtr<News>,
        vertices: u32,
        piece_count: u32,
        long_count: u32,
        /// The searches that there are, a bit each.
        lanes: u32,
        level: u32,
    }
}

/// The long rows of a graph by head or by tail, cut into pieces.
#[derive(Debug, Default)]
struct LongRows {
    pieces: Vec<[u32; 2]>,
    rows: Vec<[u32; 4]>,
}

impl LongRows {
    fn of(offsets: &[u64]) -> Self {
        let mut long = LongRows::default();
        for (vertex, row) in offsets.windows(2).enumerate().filter(|(_, row)| row[1] - row[0] > LONG_ROW.into()) {
            let segments = row[0] / u64::from(SEGMENT)..row[1].div_ceil(SEGMENT.into());
            let first = long.pieces.len() as u32;
            long.pieces.extend(segments.map(|segment| [vertex as u32, segment as u32]));
            long.rows.push([vertex as u32, first, long.pieces.len() as u32 - first, 0]);
        }
        long
    }

    /// At most so many pieces and rows does a graph have.
    fn most(graph: &Graph) -> (u64, u64) {
        let rows = (graph.arcs() as u64 / u64::from(LONG_ROW)).min(graph.vertices() as u64);
        // A row may begin and end within segments.
        (graph.arcs() as u64 / u64::from(SEGMENT) + 2 * rows, rows)
    }
}

/// The rows of a direction with room for their pieces.
#[derive(Debug, Clone, Copy)]
struct Rows {
    arcs: Arcs,
    pieces: DeviceSlice<[u32; 2]>,
    long_rows: DeviceSlice<[u32; 4]>,
}

impl Rows {
    fn layout(arena: &mut Arena<'_>, graph: &Graph, arcs: Arcs) -> Self {
        let (pieces, rows) = LongRows::most(graph);
        Rows { arcs, pieces: arena.take("pieces of long rows", pieces), long_rows: arena.take("long rows", rows) }
    }

    /// Copies the pieces there; how many there are, and how many rows.
    fn upload(&self, pool: &Pool, long: &LongRows) -> Result<[u32; 2]> {
        pool.upload(self.pieces, &long.pieces)?;
        pool.upload(self.long_rows, &long.rows)?;
        Ok([long.pieces.len() as u32, long.rows.len() as u32])
    }
}

/// The arrays.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    by_tail: Rows,
    /// Where they differ.
    by_head: Option<(Transpose, Rows)>,
    levels: DeviceSlice<u16>,
    values: DeviceSlice<f64>,
    active: [DeviceSlice<u32>; 2],
    partial: DeviceSlice<f64>,
    sums: DeviceSlice<u64>,
    news: DeviceSlice<News>,
    sources: DeviceSlice<VertexId>,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph) -> Arrays {
    let (vertices, lanes) = (graph.vertices() as u64, LANES as u64);
    let arcs = Arcs::layout(arena, graph);
    Arrays {
        by_tail: Rows::layout(arena, graph, arcs),
        by_head: graph.is_directed().then(|| {
            let transpose = Transpose::layout(arena, graph);
            (transpose, Rows::layout(arena, graph, transpose.arcs))
        }),
        levels: arena.take("levels", vertices * lanes),
        values: arena.take("counts of paths", vertices * lanes),
        active: arena.take_two(["vertices of a level", "vertices of the next level"], vertices.div_ceil(32)),
        partial: arena.take("sums of pieces", LongRows::most(graph).0 * lanes),
        sums: arena.take("sums of dependencies", vertices * 2),
        news: arena.take("news", 1),
        sources: arena.take("sources", lanes),
    }
}

/// What it takes on a device.
pub(crate) fn plan(graph: &Graph) -> Plan {
    plan_of(|arena| layout(arena, graph))
}

/// Predicted seconds of so many searches.
pub(crate) fn seconds(work: &Workload<'_>) -> f64 {
    /// Launches and waits of a level.
    const LEVEL: f64 = 60e-6;
    /// Bytes a second where a warp reads 32 levels of random vertices, and those for a vertex and an arc in a pass.
    const BYTES: f64 = 2.0e12;
    const OF_VERTEX: f64 = 64.0;
    const OF_ARC: f64 = 140.0;
    /// Passes over all arcs on the way out and back together, where levels are few.
    const PASSES: f64 = 6.0;
    let levels = 2.0 * work.levels();
    let bytes = levels * OF_VERTEX * work.vertices() + PASSES.max(levels / 8.0) * OF_ARC * work.arcs();
    (work.searches as f64 / LANES as f64).ceil() * (levels * LEVEL + bytes / BYTES)
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// By vertex.
    pub(crate) sums: Sums,
    /// The sources that are not among those added up: counts of paths are no exact sums, or there are too many levels.
    pub(crate) left: Vec<VertexId>,
    /// Making it ready, searching, copying the result back.
    pub(crate) seconds: [f64; 3],
    pub(crate) statistics: Statistics,
}

/// Adds up the dependencies of these sources on all vertices.
///
/// # Errors
///
/// If the device has too little memory or fails, or the work is cancelled.
pub(crate) fn solve(
    device: &Arc<dyn Device>,
    graph: &Graph,
    sources: &[VertexId],
    control: &Control,
) -> Result<Outcome> {
    let start = Instant::now();
    let search = Search::prepare(device, graph)?;
    let prepared = Instant::now();
    let mut left = Vec::new();
    let mut levels = 0;
    for (batch, some) in sources.chunks(LANES).enumerate() {
        control.progress("solve", (batch * LANES) as u64, sources.len() as u64)?;
        let (inexact, deepest) = search.add(some, control)?;
        levels += u64::from(deepest);
        left.extend(some.iter().enumerate().filter(|(lane, _)| inexact >> lane & 1 == 1).map(|(_, &source)| source));
    }
    device.synchronize()?;
    control.progress("solve", sources.len() as u64, sources.len() as u64)?;
    let solved = Instant::now();
    let sums = search.sums()?;
    let seconds = [prepared - start, solved - prepared, solved.elapsed()].map(|time| time.as_secs_f64());
    Ok(Outcome { sums, left, seconds, statistics: vec![("levels", levels)] })
}

/// A graph on the device.
struct Search {
    pool: Pool,
    arrays: Arrays,
    vertices: u32,
    /// Pieces and long rows by head and by tail.
    long: [[u32; 2]; 2],
    start: Function,
    /// The kernels of pieces and of vertices, on the way out and back.
    kernels: [[Function; 2]; 2],
    shape: LaunchShape,
}

impl Search {
    fn prepare(device: &Arc<dyn Device>, graph: &Graph) -> Result<Self> {
        /// Threads count a little beyond the last vertex.
        const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);
        const THREADS: u32 = 512;
        if graph.vertices() > MOST_VERTICES {
            return Err(Error::invalid(format!("betweenness on a GPU takes graphs of up to {MOST_VERTICES} vertices")));
        }
        let bits = if has_wide_offsets(graph) { 64 } else { 32 };
        let function = |name: &str| device.function(&images::BETWEENNESS, name);
        let kernels_of = |way: &str| -> Result<[Function; 2]> {
            Ok([
                function(&format!("betweenness_sum_pieces_{way}_{bits}"))?,
                function(&format!("betweenness_visit_{way}_{bits}"))?,
            ])
        };
        let kernels = [kernels_of("out")?, kernels_of("back")?];
        let threads = device.properties().threads_per_block.min(THREADS);
        let shape = LaunchShape::line(device.blocks_at_once(kernels[1][1], threads, 0)?.max(1), threads);
        let start = function("betweenness_start")?;
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph))?;
        arrays.by_tail.arcs.upload(&pool, graph.csr())?;
        let by_tail = arrays.by_tail.upload(&pool, &LongRows::of(graph.csr().offsets()))?;
        let by_head = match arrays.by_head {
            None => by_tail,
            Some((transpose, rows)) => {
                transpose.make(&pool, arrays.by_tail.arcs)?;
                rows.upload(&pool, &LongRows::of(&transpose.arcs.offsets.read(&pool)?))?
            }
        };
        pool.fill(arrays.sums, 0)?;
        device.synchronize()?;
        let vertices = graph.vertices() as u32;
        Ok(Search { pool, arrays, vertices, long: [by_head, by_tail], start, kernels, shape })
    }

    /// Adds the dependencies of up to 32 sources to the sums, but for those of searches with inexact counts or too many levels; these, a bit each, and the
    /// number of the last level.
    fn add(&self, sources: &[VertexId], control: &Control) -> Result<(u32, u32)> {
        let (pool, device, arrays) = (&self.pool, self.pool.device(), &self.arrays);
        pool.fill(arrays.levels.cast::<u32>(), u32::MAX)?;
        pool.fill(arrays.news, 0)?;
        pool.fill(arrays.active[0], 0)?;
        pool.upload(arrays.sources, sources)?;
        let (count, active) = (sources.len() as u32, arrays.active[0]);
        let shape = LaunchShape::line(1, LANES as u32);
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe {
            let arguments = arguments![arrays.sources, count, arrays.levels, arrays.values, active];
            device.launch(self.start, &shape, arguments)?;
        }
        let lanes = u32::MAX >> (LANES - sources.len());
        let mut deepest = 0;
        let inexact = loop {
            control.check()?;
            if deepest == MOST_LEVELS {
                // Nothing was added up yet.
                return Ok((lanes, deepest));
            }
            pool.fill(arrays.news.cast::<u32>().part(0, 1), 0)?;
            self.launch(0, lanes, deepest + 1, deepest)?;
            let [News { found, inexact }] = pool.read_array(arrays.news)?;
            if found == 0 {
                break inexact;
            }
            deepest += 1;
        };
        // Nothing is at the level after the last one.
        pool.fill(arrays.active[(deepest as usize + 1) % 2], 0)?;
        for level in (1..=deepest).rev() {
            self.launch(1, lanes, level, level + 1)?;
        }
        Ok((inexact, deepest))
    }

    /// Works on a level, for which vertices at the level `before` count, on the way out (0) or back (1).
    fn launch(&self, way: usize, lanes: u32, level: u32, before: u32) -> Result<()> {
        let (pool, device, arrays) = (&self.pool, self.pool.device(), &self.arrays);
        let rows = match (way, arrays.by_head) {
            (0, Some((_, rows))) => rows,
            _ => arrays.by_tail,
        };
        let next_active = arrays.active[level as usize % 2];
        pool.fill(next_active, 0)?;
        let [piece_count, long_count] = self.long[way];
        let argument = KernelArgument {
            offsets: rows.arcs.offsets.as_ptr(),
            heads: rows.arcs.targets.as_ptr(),
            levels: arrays.levels.as_mut_ptr(),
            values: arrays.values.as_mut_ptr(),
            active: arrays.active[before as usize % 2].as_ptr(),
            next_active: next_active.as_mut_ptr(),
            pieces: rows.pieces.as_ptr(),
            long_rows: rows.long_rows.as_ptr(),
            partial: arrays.partial.as_mut_ptr(),
            sums: arrays.sums.as_mut_ptr(),
            news: arrays.news.as_mut_ptr(),
            vertices: self.vertices,
            piece_count,
            long_count,
            lanes,
            level,
        };
        let [sum_pieces, visit] = self.kernels[way];
        // SAFETY: the argument is the kernels', and all arrays have the lengths that they expect.
        unsafe {
            if piece_count > 0 {
                device.launch(sum_pieces, &self.shape, arguments![argument])?;
            }
            device.launch(visit, &self.shape, arguments![argument])
        }
    }

    fn sums(&self) -> Result<Sums> {
        let words = self.pool.read(self.arrays.sums)?;
        let sum = |pair: &[u64]| u128::from(pair[1]) << 64 | u128::from(pair[0]);
        Ok(Sums::of(memory::listed("sums of dependencies", words.chunks_exact(2).map(sum))?))
    }
}

#[cfg(test)]
mod tests;
