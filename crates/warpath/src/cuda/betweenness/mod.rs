//! Betweenness centrality on a GPU: from 32 sources at once with counts of shortest paths, and back.
//!
//! A warp works on one vertex at a time, and each of its lanes has a search of its own. For each lane there is a level of two bytes and a number
//! of eight, side by side, so that a warp reads the state of a neighbor in 32 searches with two loads. The way out gives each vertex a level and
//! the count of the shortest paths to it: `levels.rs` breadth-first, `distances.rs` by weights. Shortest paths only ever lead to greater levels. On
//! the way back, level by level, a vertex adds up (1 + dependency) / count of the neighbors to which shortest paths go on.
//!
//! - **Long rows** are cut where the numbers of arcs are multiples of [`SEGMENT`], and warps share the pieces.
//! - **The same bits as on the CPU.** Sums over a row are made piece by piece in the order of the arcs, as there (`cpu/betweenness`). What the sources find is added
//!   up in fixed point, for each vertex and, if they are asked for, for each arc: the share of an arc is its tail's count times its head's number.
//!   A warp has a row or a piece alone, and adds the numbers of its 32 searches at once.
//! - **Counts** are exact up to 2^53. A search with a greater one is not counted, and its source is handed back; so are the 32 sources of searches of which one has more than 65,534 levels.
//! - **Targets** are bits of vertices: in place of 1 + dependency, others have the dependency alone. **With the ends of paths,** a vertex also counts as a
//!   target, which the kernels add; and a source once for each target that it reaches, which they count and the host adds.
//!
//! A row is looked through on the way back once for every level that any of 32 searches has its vertex at; span O(levels) launches for every 32
//! sources. It wins on graphs of few levels. Memory 336 bytes a vertex beside the graph, and 16 an arc where arcs are asked for.
//!
//! Sources: Brandes 2001, "A faster algorithm for betweenness centrality", algorithm 1; Brandes 2008, "On variants of shortest-path
//! betweenness centrality and their generic computation", for arcs, targets and the ends of paths; several sources that share their reads after
//! Sariyüce, Kaya, Saule and Çatalyürek 2013, "Betweenness centrality on GPUs and heterogeneous architectures".
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they expect. All
//! arrays are taken from pools of device memory, which live through the call; the ids in them come from a `Csr`, which has checked them, or from
//! sources that the solver has checked.

mod distances;
mod levels;

use std::sync::Arc;
use std::time::Instant;

use self::distances::Distances;
use self::levels::Levels;
use super::device::arena::{Arena, plan_of};
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, Function, Image, LaunchShape, arguments, images};
use super::graph::{Arcs, has_wide_offsets};
use super::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::algorithms::{Statistics, Workload};
use crate::graph::{Graph, VertexId, WeightKind};
use crate::plan::Plan;
use crate::problems::{BETWEENNESS_SEGMENT, Sums};
use crate::{Control, Error, Result};

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
        /// The same of the shares of arcs by tail, if they are asked for.
        arc_sums: DeviceMutPtr<u64>,
        /// Bits of the vertices that are targets.
        targets: DevicePtr<u32>,
        /// How many targets each search has reached, beside its source.
        reached: DeviceMutPtr<u32>,
        news: DeviceMutPtr<News>,
        /// By weights, heads and weights of the arcs by tail;
        arcs: DevicePtr<[u32; 2]>,
        /// for each of these arcs the searches in which it is tight, a bit each;
        tight: DeviceMutPtr<u32>,
        /// for each vertex 32 distances, which become numbers of tight arcs from vertices that are not at a level yet.
        distances: DeviceMutPtr<u32>,
        vertices: u32,
        piece_count: u32,
        long_count: u32,
        /// The searches that there are, a bit each.
        lanes: u32,
        level: u32,
        /// Whether paths count for the vertices at their ends, too.
        endpoints: u32,
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
    /// How many pieces there are, and how many long rows.
    counts: [u32; 2],
}

impl Rows {
    fn layout(arena: &mut Arena<'_>, graph: &Graph, arcs: Arcs) -> Self {
        let (pieces, rows) = LongRows::most(graph);
        let (pieces, long_rows) = (arena.take("pieces of long rows", pieces), arena.take("long rows", rows));
        Rows { arcs, pieces, long_rows, counts: [0; 2] }
    }

    /// Cuts rows with these offsets into pieces, and copies the pieces there.
    fn upload_pieces(&mut self, pool: &Pool, offsets: &[u64]) -> Result<()> {
        let long = LongRows::of(offsets);
        pool.upload(self.pieces, &long.pieces)?;
        pool.upload(self.long_rows, &long.rows)?;
        self.counts = [long.pieces.len() as u32, long.rows.len() as u32];
        Ok(())
    }
}

/// The arrays of both kinds of searches.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    by_tail: Rows,
    levels: DeviceSlice<u16>,
    values: DeviceSlice<f64>,
    active: [DeviceSlice<u32>; 2],
    partial: DeviceSlice<f64>,
    sums: DeviceSlice<u64>,
    /// Empty unless arcs are asked for.
    arc_sums: DeviceSlice<u64>,
    targets: DeviceSlice<u32>,
    reached: DeviceSlice<u32>,
    news: DeviceSlice<News>,
    sources: DeviceSlice<VertexId>,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, with_arcs: bool) -> Arrays {
    let (vertices, lanes) = (graph.vertices() as u64, LANES as u64);
    let arcs = Arcs::layout(arena, graph);
    let arcs_summed = if with_arcs { graph.arcs() as u64 } else { 0 };
    Arrays {
        by_tail: Rows::layout(arena, graph, arcs),
        levels: arena.take("levels", vertices * lanes),
        values: arena.take("counts of paths", vertices * lanes),
        active: arena.take_two(["vertices of a level", "vertices of the next level"], vertices.div_ceil(32)),
        partial: arena.take("sums of pieces", LongRows::most(graph).0 * lanes),
        sums: arena.take("sums of dependencies", vertices * 2),
        arc_sums: arena.take("sums of the shares of arcs", arcs_summed * 2),
        targets: arena.take("bits of targets", vertices.div_ceil(32)),
        reached: arena.take("targets reached", lanes),
        news: arena.take("news", 1),
        sources: arena.take("sources", lanes),
    }
}

/// What it takes on a device.
pub(crate) fn plan(graph: &Graph, with_arcs: bool) -> Plan {
    let mut plan = plan_of(|arena| layout(arena, graph, with_arcs));
    let of_the_way_out = if is_by_weights(graph) { distances::plan(graph) } else { levels::plan(graph) };
    of_the_way_out.device_items().iter().for_each(|item| plan.device(item.what.clone(), item.bytes));
    plan
}

/// Predicted seconds of so many searches.
pub(crate) fn seconds(work: &Workload<'_>, with_arcs: bool) -> f64 {
    /// What it takes to add up the shares of 32 searches for an arc, at several levels.
    const OF_ARC_SUMMED: f64 = 0.25e-9;
    let batches = (work.searches as f64 / LANES as f64).ceil();
    let arcs = if with_arcs { batches * work.arcs() * OF_ARC_SUMMED } else { 0.0 };
    let is_by_weights = work.graph.weight_kind != WeightKind::Unit;
    arcs + if is_by_weights { distances::seconds(work) } else { levels::seconds(work) }
}

fn is_by_weights(graph: &Graph) -> bool {
    graph.weight_kind() != WeightKind::Unit
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) sources: &'a [VertexId],
    /// Marks of the targets that count; all vertices if there are none.
    pub(crate) targets: Option<&'a [bool]>,
    /// Whether a path also counts for the vertices at its ends.
    pub(crate) endpoints: bool,
    /// Whether shares of arcs are asked for.
    pub(crate) arcs: bool,
    pub(crate) control: &'a Control,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// By vertex.
    pub(crate) vertices: Sums,
    /// By arc, if asked for.
    pub(crate) arcs: Option<Sums>,
    /// The sources that are not among those added up: counts of paths are no exact sums, there are too many levels, or distances leave 32 bits.
    pub(crate) left: Vec<VertexId>,
    /// Making it ready, searching, copying the result back.
    pub(crate) seconds: [f64; 3],
    pub(crate) statistics: Statistics,
}

/// Adds up the dependencies of these sources on all vertices. Weights are unsigned integers above 0, or there are none.
///
/// # Errors
///
/// If the device has too little memory or fails, or the work is cancelled.
pub(crate) fn solve(device: &Arc<dyn Device>, graph: &Graph, task: &Task<'_>) -> Result<Outcome> {
    let start = Instant::now();
    let (search, mut way_out) = prepare(device, graph, task)?;
    let prepared = Instant::now();
    let mut left = Vec::new();
    let mut levels = 0;
    // For each source how many targets it reaches.
    let mut ends = Vec::new();
    for (batch, some) in task.sources.chunks(LANES).enumerate() {
        task.control.progress("solve", (batch * LANES) as u64, task.sources.len() as u64)?;
        let Reached { exact, deepest } = way_out.go(&search, some, task.control)?;
        levels += u64::from(deepest);
        let reached = search.go_back(exact, deepest, task.control)?;
        for (lane, &source) in some.iter().enumerate() {
            match exact >> lane & 1 {
                0 => left.push(source),
                _ => ends.extend(reached.map(|reached| (source, reached[lane]))),
            }
        }
    }
    device.synchronize()?;
    task.control.progress("solve", task.sources.len() as u64, task.sources.len() as u64)?;
    let solved = Instant::now();
    let Arrays { sums, arc_sums, .. } = search.arrays;
    let mut vertices = Sums::of(search.pool.read(sums.cast())?);
    ends.into_iter().for_each(|(source, targets)| vertices.add(source as usize, targets.into()));
    let arcs = task.arcs.then(|| search.pool.read(arc_sums.cast()).map(Sums::of)).transpose()?;
    let seconds = [prepared - start, solved - prepared, solved.elapsed()].map(|time| time.as_secs_f64());
    Ok(Outcome { vertices, arcs, left, seconds, statistics: vec![("levels", levels)] })
}

/// A graph on the device, and how its vertices get their levels and counts.
fn prepare(device: &Arc<dyn Device>, graph: &Graph, task: &Task<'_>) -> Result<(Search, Box<dyn WayOut>)> {
    if is_by_weights(graph) {
        let way = if task.arcs { "back_by_weights_with_arcs" } else { "back_by_weights" };
        let mut search = Search::prepare(device, graph, task, &images::BETWEENNESS_DISTANCES, way)?;
        let way_out = Distances::prepare(device, graph, &mut search)?;
        Ok((search, Box::new(way_out)))
    } else {
        let way = if task.arcs { "back_with_arcs" } else { "back" };
        let search = Search::prepare(device, graph, task, &images::BETWEENNESS_LEVELS, way)?;
        let way_out = Levels::prepare(device, graph, &search)?;
        Ok((search, Box::new(way_out)))
    }
}

/// How searches go from up to 32 sources to all vertices that they reach.
trait WayOut {
    /// Gives each vertex a level and a count in each search.
    fn go(&mut self, search: &Search, sources: &[VertexId], control: &Control) -> Result<Reached>;

    /// The memory that it has taken.
    #[cfg(test)]
    fn used(&self) -> u64;
}

/// What is known after the way out.
#[derive(Debug, Clone, Copy)]
struct Reached {
    /// The searches of which all counts are exact and all vertices have levels, a bit each.
    exact: u32,
    /// The greatest level.
    deepest: u32,
}

/// The searches that there are of so many sources, a bit each.
fn lanes_of(sources: &[VertexId]) -> u32 {
    u32::MAX >> (LANES - sources.len())
}

/// The kernels of a way: of pieces, and of vertices.
fn kernels_of(device: &dyn Device, graph: &Graph, image: &'static Image, way: &str) -> Result<[Function; 2]> {
    let bits = if has_wide_offsets(graph) { 64 } else { 32 };
    Ok([
        device.function(image, &format!("betweenness_sum_pieces_{way}_{bits}"))?,
        device.function(image, &format!("betweenness_visit_{way}_{bits}"))?,
    ])
}

/// A graph on the device with the state of 32 searches.
struct Search {
    pool: Pool,
    arrays: Arrays,
    /// Of no level.
    argument: KernelArgument,
    start: Function,
    back: [Function; 2],
    shape: LaunchShape,
}

impl Search {
    fn prepare(
        device: &Arc<dyn Device>,
        graph: &Graph,
        task: &Task<'_>,
        image: &'static Image,
        way_back: &str,
    ) -> Result<Self> {
        /// Threads count a little beyond the last vertex.
        const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);
        const THREADS: u32 = 512;
        if graph.vertices() > MOST_VERTICES {
            return Err(Error::invalid(format!("betweenness on a GPU takes graphs of up to {MOST_VERTICES} vertices")));
        }
        let back = kernels_of(&**device, graph, image, way_back)?;
        let threads = device.properties().threads_per_block.min(THREADS);
        let shape = LaunchShape::line(device.blocks_at_once(back[1], threads, 0)?.max(1), threads);
        let start = device.function(&images::BETWEENNESS_LEVELS, "betweenness_start")?;
        let (pool, mut arrays) = Pool::lay_out(device, |arena| layout(arena, graph, task.arcs))?;
        arrays.by_tail.arcs.upload(&pool, graph.csr())?;
        arrays.by_tail.upload_pieces(&pool, graph.csr().offsets())?;
        pool.fill(arrays.sums, 0)?;
        pool.fill(arrays.arc_sums, 0)?;
        match task.targets {
            None => pool.fill(arrays.targets, u32::MAX)?,
            Some(marks) => {
                let word = |marks: &[bool]| marks.iter().rev().fold(0, |word, &mark| word << 1 | u32::from(mark));
                pool.upload_with(arrays.targets, marks.len().div_ceil(32), |range, words: &mut [u32]| {
                    let marks = marks[32 * range.start..].chunks(32);
                    words.iter_mut().zip(marks).for_each(|(there, marks)| *there = word(marks));
                })?;
            }
        }
        device.synchronize()?;
        let argument = Self::argument_of(&arrays, graph.vertices() as u32, task.endpoints);
        Ok(Search { pool, arrays, argument, start, back, shape })
    }

    fn argument_of(arrays: &Arrays, vertices: u32, endpoints: bool) -> KernelArgument {
        KernelArgument {
            offsets: arrays.by_tail.arcs.offsets.as_ptr(),
            heads: arrays.by_tail.arcs.targets.as_ptr(),
            levels: arrays.levels.as_mut_ptr(),
            values: arrays.values.as_mut_ptr(),
            active: DevicePtr::NULL,
            next_active: DeviceMutPtr::NULL,
            pieces: arrays.by_tail.pieces.as_ptr(),
            long_rows: arrays.by_tail.long_rows.as_ptr(),
            partial: arrays.partial.as_mut_ptr(),
            sums: arrays.sums.as_mut_ptr(),
            arc_sums: arrays.arc_sums.as_mut_ptr(),
            targets: arrays.targets.as_ptr(),
            reached: arrays.reached.as_mut_ptr(),
            news: arrays.news.as_mut_ptr(),
            arcs: DevicePtr::NULL,
            tight: DeviceMutPtr::NULL,
            distances: DeviceMutPtr::NULL,
            vertices,
            piece_count: arrays.by_tail.counts[0],
            long_count: arrays.by_tail.counts[1],
            lanes: 0,
            level: 0,
            endpoints: endpoints.into(),
        }
    }

    /// Clears the state, and puts these searches at their sources.
    fn start(&self, sources: &[VertexId], lanes: u32) -> Result<()> {
        let (pool, arrays) = (&self.pool, &self.arrays);
        pool.fill(arrays.levels.cast::<u32>(), u32::MAX)?;
        pool.fill(arrays.news, 0)?;
        pool.fill(arrays.reached, 0)?;
        pool.fill(arrays.active[0], 0)?;
        pool.upload(arrays.sources, sources)?;
        let active = arrays.active[0];
        let shape = LaunchShape::line(1, LANES as u32);
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe {
            let arguments = arguments![arrays.sources, lanes, arrays.levels, arrays.values, active];
            pool.device().launch(self.start, &shape, arguments)
        }
    }

    /// The argument of work on a level. The vertices of the level `read` are there; those of the level `written` are to come.
    fn at(&self, level: u32, read: u32, written: u32) -> Result<KernelArgument> {
        let [read, written] = [read, written].map(|level| self.arrays.active[level as usize % 2]);
        self.pool.fill(written, 0)?;
        Ok(KernelArgument { active: read.as_ptr(), next_active: written.as_mut_ptr(), level, ..self.argument })
    }

    /// Sums up the pieces of long rows, then visits all vertices.
    fn launch(&self, [sum_pieces, visit]: [Function; 2], argument: KernelArgument) -> Result<()> {
        let device = self.pool.device();
        // SAFETY: the argument is the kernels', and all arrays have the lengths that they expect.
        unsafe {
            if argument.piece_count > 0 {
                device.launch(sum_pieces, &self.shape, arguments![argument])?;
            }
            device.launch(visit, &self.shape, arguments![argument])
        }
    }

    /// Has `launch` work on one level after another until it finds nothing; what is known then. The number is that of the last level before.
    fn level_by_level(
        &self,
        lanes: u32,
        control: &Control,
        mut launch: impl FnMut(u32) -> Result<()>,
    ) -> Result<Reached> {
        let news = self.arrays.news;
        let mut deepest = 0;
        loop {
            control.check()?;
            if deepest == MOST_LEVELS {
                return Ok(Reached { exact: 0, deepest });
            }
            self.pool.fill(news.cast::<u32>().part(0, 1), 0)?;
            launch(deepest)?;
            let [News { found, inexact }] = self.pool.read_array(news)?;
            if found == 0 {
                return Ok(Reached { exact: lanes & !inexact, deepest });
            }
            deepest += 1;
        }
    }

    /// Adds the dependencies of the searches with exact counts to the sums; if sources count as the ends of paths, how many targets each search has
    /// reached.
    fn go_back(&self, exact: u32, deepest: u32, control: &Control) -> Result<Option<[u32; LANES]>> {
        if exact == 0 {
            return Ok(None);
        }
        let (pool, arrays) = (&self.pool, &self.arrays);
        // Nothing is at the level after the last one.
        pool.fill(arrays.active[(deepest as usize + 1) % 2], 0)?;
        // The sources alone are at level 0: what matters of them are their arcs.
        let last = if arrays.arc_sums.length() > 0 { 0 } else { 1 };
        for level in (last..=deepest).rev() {
            control.check()?;
            self.launch(self.back, self.at(level, level + 1, level)?)?;
        }
        (self.argument.endpoints != 0).then(|| pool.read_array(arrays.reached)).transpose()
    }
}

#[cfg(test)]
mod tests;
