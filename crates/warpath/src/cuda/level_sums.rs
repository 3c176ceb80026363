//! Sums over the levels of many breadth-first searches on a GPU: how many searches reach a vertex, how far it is from their sources together,
//! the inverse of that, and the farthest. Closeness, harmonic centrality, eccentricity and histogram come of it, without a row of distances.
//!
//! A vertex has a bit for each of up to 512 searches, in words, and as many lanes of a warp beside each other have the words of a vertex. So the words of a neighbor, 32 or
//! 64 bytes, are read at once: as many bytes come from memory if one word is asked for, which is why so many searches share an arc.
//! - **Toward the frontier** (*pull*) each vertex that some search has not seen gathers the words of its tails until none is missing, from one array into
//!   another ([`bfs::many_sources`](super::bfs::many_sources) has the same with one word). Rows of more than [`LONG_ROW`] arcs are gathered before, in pieces that
//!   many warps share: some searches reach a hub late, and until then it looks through its whole row.
//! - **Away from it** (*push*), where few arcs leave the frontier, these are queued in pieces, and heads get the words by `atomicOr`.
//!
//! A vertex that searches find is added to its sums once a level, by the lanes that have it. Sums of levels are exact; sums of inverse levels are
//! added up in the order of batches and levels, which does not depend on threads. What each search has seen can be counted at the end of its batch, for the sizes
//! of neighborhoods: each thread adds up one word of many vertices in binary, 64 counters at a time in a few registers.
//!
//! Work O(V E) for all sources, but all searches of a batch share arcs; span O(levels) launches a batch. It wins on graphs of few levels.
//! Floor for a batch: each arc once, 4 bytes, and the words of its tail, which come from memory where those of all vertices don't fit L2: 36 bytes with 256 searches. Memory for
//! 256 searches: 96 bytes a vertex for the words, 4 to 24 for sums, and the graph.
//!
//! Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal".
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
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::{LevelSums, Problem, WantedSums};
use crate::{Control, Error, Result, memory};

/// The facts known before it runs.
pub(crate) const INFO: AlgorithmInfo = AlgorithmInfo {
    problem: Problem::Apsp,
    name: "level-sums",
    summary: "sums over breadth-first searches from 512 sources at a time, for what is reduced from distances without weights",
    source: "after Then et al. 2014",
    parameters: &[],
    negative_weights: true,
    seconds,
};

/// The words of a vertex, with much memory and with less.
const WORDS: [u32; 3] = [8, 4, 1];
/// The most words that a vertex has.
const MOST_WORDS: usize = WORDS[0] as usize;
/// Searches of a word.
const SEARCHES: usize = 64;

kernel_header! {
    path: "bfs/level_sums";
    namespace: level_sums;
    constants {
        /// Arcs of an item in the queue, and of a piece of a long row.
        const PIECE: u32 = 256;
        /// Longer rows are shared by several warps.
        const LONG_ROW: u32 = 1024;
    }
    /// What a level tells the host.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    struct News {
        /// The searches that have found a vertex.
        searches: [u64; 8],
        /// How many vertices a search has found for the first time, added up over searches.
        pairs: u64,
        /// How many arcs leave the frontier.
        arcs: u64,
        /// How many vertices it has.
        found: u32,
        /// Items in the queue; more than it has room for, if they did not fit.
        items: u32,
    }

    /// The argument.
    struct Levels<Offset> {
        /// The arcs by tail,
        offsets: DevicePtr<cpp::Offset>,
        heads: DevicePtr<VertexId>,
        /// and by head.
        incoming_offsets: DevicePtr<cpp::Offset>,
        incoming: DevicePtr<VertexId>,
        /// For each vertex the words of the searches that had seen it before the last level, have now,
        before: DevicePtr<u64>,
        now: DevicePtr<u64>,
        /// and will have.
        next: DeviceMutPtr<u64>,
        /// The searches that have a frontier.
        active: DevicePtr<u64>,
        /// Pieces of rows: the vertex, and which piece.
        queue: DeviceMutPtr<[u32; 2]>,
        /// The same of all long rows by head.
        pieces: DevicePtr<[u32; 2]>,
        news: DeviceMutPtr<News>,
        /// For each vertex how many searches have reached it, the sum of its levels,
        reached: DeviceMutPtr<u32>,
        sums: DeviceMutPtr<u64>,
        /// the sum of their inverses, and the greatest. Those that are not wanted point nowhere.
        inverse_sums: DeviceMutPtr<f64>,
        greatest: DeviceMutPtr<u32>,
        vertices: u32,
        /// Of the queue.
        capacity: u32,
        items: u32,
        piece_count: u32,
        /// The level of the vertices that are found.
        level: u32,
    }
}

/// The arrays.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    arcs: Arcs,
    /// The arcs by head, where they differ.
    by_head: Option<Transpose>,
    seen: [DeviceSlice<u64>; 3],
    active: DeviceSlice<u64>,
    queue: DeviceSlice<[u32; 2]>,
    pieces: DeviceSlice<[u32; 2]>,
    news: DeviceSlice<News>,
    sources: DeviceSlice<VertexId>,
    reached: DeviceSlice<u32>,
    sums: Option<DeviceSlice<u64>>,
    inverse_sums: Option<DeviceSlice<f64>>,
    greatest: Option<DeviceSlice<u32>>,
    sizes: Option<DeviceSlice<u32>>,
}

/// What is wanted of the searches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// Sums over the searches, by vertex.
    pub(crate) sums: WantedSums,
    /// How many vertices each search reaches.
    pub(crate) sizes: bool,
    /// The level at which searches end.
    pub(crate) cutoff: u32,
}

impl Wanted {
    /// Sums over whole searches.
    pub(crate) fn sums(sums: WantedSums) -> Self {
        Wanted { sums, sizes: false, cutoff: u32::MAX }
    }

    /// How many vertices each search reaches within so many arcs.
    pub(crate) fn sizes(cutoff: u32) -> Self {
        Wanted { sums: WantedSums::default(), sizes: true, cutoff }
    }
}

/// Items that the queue has room for.
fn queue_items(graph: &Graph) -> u64 {
    graph.vertices() as u64 / 8 + graph.arcs() as u64 / (8 * u64::from(PIECE)) + 4096
}

/// The most pieces that long rows have.
fn most_pieces(graph: &Graph) -> u64 {
    let arcs = graph.arcs() as u64;
    arcs / u64::from(PIECE) + arcs / u64::from(LONG_ROW)
}

/// The pieces of long rows: vertices, each with the number of the piece in its row.
fn pieces_of(offsets: &[u64]) -> Result<Vec<[u32; 2]>> {
    let rows = || offsets.windows(2).zip(0_u32..).map(|(row, vertex)| (vertex, row[1] - row[0]));
    let long = || rows().filter(|&(_, arcs)| arcs > u64::from(LONG_ROW));
    let count: u64 = long().map(|(_, arcs)| arcs.div_ceil(PIECE.into())).sum();
    let mut pieces = memory::with_capacity("pieces of long rows", count as usize)?;
    pieces.extend(long().flat_map(|(vertex, arcs)| (0..arcs.div_ceil(PIECE.into()) as u32).map(move |k| [vertex, k])));
    Ok(pieces)
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, words: u32, wanted: Wanted) -> Arrays {
    let (vertices, words) = (graph.vertices() as u64, u64::from(words));
    let arcs = Arcs::layout(arena, graph);
    Arrays {
        arcs,
        by_head: graph.is_directed().then(|| Transpose::layout(arena, graph)),
        seen: ["seen before", "seen", "seen next"].map(|what| arena.take(what, vertices * words)),
        active: arena.take("searches that go on", MOST_WORDS as u64),
        queue: arena.take("the queue", queue_items(graph)),
        pieces: arena.take("pieces of long rows", most_pieces(graph)),
        news: arena.take("news", 1),
        sources: arena.take("sources", SEARCHES as u64 * words),
        reached: arena.take("searches that reach a vertex", vertices),
        sums: wanted.sums.sums.then(|| arena.take("sums of levels", vertices)),
        inverse_sums: wanted.sums.inverse_sums.then(|| arena.take("sums of inverse levels", vertices)),
        greatest: wanted.sums.greatest.then(|| arena.take("greatest levels", vertices)),
        sizes: wanted.sizes.then(|| arena.take("sizes of neighborhoods", SEARCHES as u64 * words)),
    }
}

/// What it takes on a device with so much memory: as many searches at once as there is room for, or the fewest.
pub(crate) fn plan(graph: &Graph, wanted: Wanted, available: u64) -> Plan {
    let plan = |&words: &u32| plan_of(|arena| layout(arena, graph, words, wanted));
    let mut plans = WORDS.iter().map(plan);
    let fewest = plan(&WORDS[WORDS.len() - 1]);
    plans.find(|plan| plan.device_bytes() <= available).unwrap_or(fewest)
}

/// The words of a vertex that a plan has room for.
fn words_in(graph: &Graph, wanted: Wanted, bytes: u64) -> u32 {
    let fits = |&&words: &&u32| plan_of(|arena| layout(arena, graph, words, wanted)).device_bytes() <= bytes;
    WORDS.iter().find(fits).copied().unwrap_or(WORDS[WORDS.len() - 1])
}

/// Predicted seconds of so many searches with the most words.
fn seconds(work: &Workload<'_>) -> f64 {
    seconds_within(work, u32::MAX)
}

/// The same of searches that end at a level.
pub(crate) fn seconds_within(work: &Workload<'_>, cutoff: u32) -> f64 {
    /// Launches and waits of a level.
    const LEVEL: f64 = 60e-6;
    /// Bytes a second of all vertices in turn, and of random ones.
    const IN_TURN: f64 = 3.0e12;
    const AT_RANDOM: f64 = 2.0e12;
    /// Times that a batch looks at each arc.
    const PASSES: f64 = 1.5;
    let words = 8.0 * f64::from(WORDS[0]);
    let batches = work.searches.div_ceil(SEARCHES * MOST_WORDS) as f64;
    let level = LEVEL + 3.0 * words * work.vertices() / IN_TURN;
    let levels = work.levels().min(f64::from(cutoff) + 1.0);
    batches * (levels * level + PASSES.min(levels) * (4.0 + words) * work.arcs() / AT_RANDOM)
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) sums: LevelSums,
    /// How many vertices each search reaches, if wanted.
    pub(crate) sizes: Vec<u64>,
    /// Making it ready, searching, copying the result back.
    pub(crate) seconds: [f64; 3],
    pub(crate) statistics: Statistics,
}

/// Searches from each of these sources, which may be equal, with so many bytes of memory, as planned.
///
/// # Errors
///
/// If the device has too little memory or fails, or the work is cancelled.
pub(crate) fn solve(
    device: &Arc<dyn Device>,
    graph: &Graph,
    sources: &[VertexId],
    wanted: Wanted,
    bytes: u64,
    control: &Control,
) -> Result<Outcome> {
    let start = Instant::now();
    let mut search = Search::prepare(device, graph, wanted, words_in(graph, wanted, bytes))?;
    let prepared = Instant::now();
    let mut by_level = Vec::new();
    let mut sizes = memory::with_capacity("sizes of neighborhoods", if wanted.sizes { sources.len() } else { 0 })?;
    let mut statistics = [("batches", 0), ("levels", 0), ("levels_toward_the_frontier", 0)];
    let at_once = SEARCHES * search.words as usize;
    for (index, batch) in sources.chunks(at_once).enumerate() {
        control.progress("solve", (index * at_once) as u64, sources.len() as u64)?;
        let [levels, pulled] = search.add(batch, &mut by_level, control)?;
        statistics.iter_mut().zip([1, levels, pulled]).for_each(|((_, sum), more)| *sum += more);
        search.count(&mut sizes, batch.len())?;
    }
    control.progress("solve", sources.len() as u64, sources.len() as u64)?;
    let solved = Instant::now();
    let sums = search.sums(by_level)?;
    let seconds = [prepared - start, solved - prepared, solved.elapsed()].map(|time| time.as_secs_f64());
    Ok(Outcome { sums, sizes, seconds, statistics: statistics.to_vec() })
}

/// A graph on the device.
struct Search {
    pool: Pool,
    arrays: Arrays,
    words: u32,
    arcs: u64,
    vertices: u32,
    /// Pieces of long rows by head.
    piece_count: u32,
    start: Function,
    copy: Function,
    count: Function,
    /// Push, pull, gather, and pull pieces.
    kernels: [Function; 4],
    shape: LaunchShape,
    /// The level at which searches end.
    cutoff: u32,
    /// The array of what is seen now; the one before it has what was seen before.
    now: usize,
}

impl Search {
    fn prepare(device: &Arc<dyn Device>, graph: &Graph, wanted: Wanted, words: u32) -> Result<Self> {
        /// Threads count a little beyond the last vertex.
        const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);
        const THREADS: u32 = 512;
        if graph.vertices() > MOST_VERTICES {
            return Err(Error::invalid(format!("`{}` takes graphs of up to {MOST_VERTICES} vertices", INFO.name)));
        }
        let bits = if has_wide_offsets(graph) { 64 } else { 32 };
        let function = |name: &str| device.function(&images::BFS_LEVEL_SUMS, name);
        let kernel = |what: &str| function(&format!("level_sums_{what}_{words}_{bits}"));
        let kernels = [kernel("push")?, kernel("pull")?, kernel("gather")?, kernel("pull_pieces")?];
        let threads = device.properties().threads_per_block.min(THREADS);
        let shape = LaunchShape::line(device.blocks_at_once(kernels[1], threads, 0)?.max(1), threads);
        let (start, copy) = (function("level_sums_start")?, function("level_sums_copy")?);
        let count = function("level_sums_count")?;
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph, words, wanted))?;
        arrays.arcs.upload(&pool, graph.csr())?;
        let pieces = match arrays.by_head {
            None => pieces_of(graph.csr().offsets())?,
            Some(by_head) => {
                by_head.make(&pool, arrays.arcs)?;
                pieces_of(&by_head.arcs.offsets.read(&pool)?)?
            }
        };
        pool.upload(arrays.pieces, &pieces)?;
        pool.fill(arrays.reached, 0)?;
        arrays.sums.map_or(Ok(()), |sums| pool.fill(sums, 0))?;
        arrays.inverse_sums.map_or(Ok(()), |sums| pool.fill(sums, 0))?;
        arrays.greatest.map_or(Ok(()), |greatest| pool.fill(greatest, 0))?;
        device.synchronize()?;
        let (vertices, arcs) = (graph.vertices() as u32, graph.arcs() as u64);
        let piece_count = pieces.len() as u32;
        let cutoff = wanted.cutoff;
        Ok(Search {
            pool,
            arrays,
            words,
            arcs,
            vertices,
            piece_count,
            start,
            copy,
            count,
            kernels,
            shape,
            cutoff,
            now: 1,
        })
    }

    /// Searches from these sources, at most as many as the words have bits, and adds what they find. Adds to the numbers of pairs of each level; returns how many levels there were,
    /// and how many of them were found toward the frontier.
    fn add(&mut self, sources: &[VertexId], by_level: &mut Vec<u64>, control: &Control) -> Result<[u64; 2]> {
        /// Arcs are pushed along if they are less than this part of all,
        const PUSHED: u64 = 20;
        /// and after a level toward the frontier queued if it has found less than this part of the vertices.
        const FEW: u32 = 50;
        let arrays = self.arrays;
        self.now = 1;
        self.pool.fill(arrays.seen[0], 0)?;
        self.pool.fill(arrays.seen[1], 0)?;
        self.pool.upload(arrays.sources, sources)?;
        self.begin(sources.len() as u32)?;
        let mut news = self.gather(0, false)?;
        count(by_level, 0, sources.len() as u64)?;
        // A path has fewer arcs than there are vertices, whose numbers have 32 bits.
        let (mut level, mut pulled, mut is_queued) = (0_u32, 0, true);
        loop {
            control.check()?;
            if level == self.cutoff {
                return Ok([u64::from(level), pulled]);
            }
            level += 1;
            let fits = is_queued && u64::from(news.items) <= arrays.queue.length();
            if fits && news.arcs.saturating_mul(PUSHED) <= self.arcs {
                self.pool.copy(self.seen(1), self.seen(0))?;
                self.launch(0, Levels { items: news.items, ..self.argument(level) })?;
                self.now += 1;
                news = self.gather(level, true)?;
                is_queued = true;
            } else {
                self.pool.upload(arrays.active, &news.searches)?;
                self.pool.fill(arrays.news, 0)?;
                self.pull(level)?;
                self.now += 1;
                [news] = self.pool.read_array(arrays.news)?;
                pulled += 1;
                is_queued = news.found > 0 && news.found < self.vertices / FEW;
                if is_queued {
                    news = News { pairs: news.pairs, ..self.gather(level, false)? };
                }
            }
            if news.found == 0 {
                return Ok([u64::from(level), pulled]);
            }
            count(by_level, level as usize, news.pairs)?;
        }
    }

    /// What is seen so many levels from now, or one before.
    fn seen(&self, ahead: usize) -> DeviceSlice<u64> {
        self.arrays.seen[(self.now + ahead) % 3]
    }

    fn begin(&self, count: u32) -> Result<()> {
        let shape = LaunchShape::line(count.div_ceil(self.shape.block[0]).max(1), self.shape.block[0]);
        let (Arrays { sources, reached, .. }, seen, words) = (self.arrays, self.seen(0), self.words);
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe { self.pool.device().launch(self.start, &shape, arguments![sources, count, seen, words, reached]) }
    }

    /// Searches toward the frontier: first along long rows.
    fn pull(&self, level: u32) -> Result<()> {
        if self.piece_count > 0 {
            let (pieces, count, words) = (self.arrays.pieces, self.piece_count, self.words);
            let (now, next) = (self.seen(0), self.seen(1));
            // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
            unsafe {
                let arguments = arguments![pieces, count, words, now, next];
                self.pool.device().launch(self.copy, &self.shape, arguments)?;
            }
            self.launch(3, self.argument(level))?;
        }
        self.launch(1, self.argument(level))
    }

    /// Queues the frontier, and adds it to the sums, if it was not added yet.
    fn gather(&self, level: u32, adds: bool) -> Result<News> {
        self.pool.fill(self.arrays.news, 0)?;
        let (argument, adds) = (self.argument(level), u32::from(adds));
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe { self.pool.device().launch(self.kernels[2], &self.shape, arguments![argument, adds])? };
        let [news] = self.pool.read_array(self.arrays.news)?;
        Ok(news)
    }

    fn launch(&self, kernel: usize, argument: Levels) -> Result<()> {
        // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
        unsafe { self.pool.device().launch(self.kernels[kernel], &self.shape, arguments![argument]) }
    }

    fn argument(&self, level: u32) -> Levels {
        let arrays = &self.arrays;
        let by_head = arrays.by_head.map_or(arrays.arcs, |by_head| by_head.arcs);
        Levels {
            offsets: arrays.arcs.offsets.as_ptr(),
            heads: arrays.arcs.targets.as_ptr(),
            incoming_offsets: by_head.offsets.as_ptr(),
            incoming: by_head.targets.as_ptr(),
            before: self.seen(2).as_ptr(),
            now: self.seen(0).as_ptr(),
            next: self.seen(1).as_mut_ptr(),
            active: arrays.active.as_ptr(),
            queue: arrays.queue.as_mut_ptr(),
            pieces: arrays.pieces.as_ptr(),
            news: arrays.news.as_mut_ptr(),
            reached: arrays.reached.as_mut_ptr(),
            sums: arrays.sums.map_or(DeviceMutPtr::NULL, |sums| sums.as_mut_ptr()),
            inverse_sums: arrays.inverse_sums.map_or(DeviceMutPtr::NULL, |sums| sums.as_mut_ptr()),
            greatest: arrays.greatest.map_or(DeviceMutPtr::NULL, |greatest| greatest.as_mut_ptr()),
            vertices: self.vertices,
            capacity: arrays.queue.length() as u32,
            items: 0,
            piece_count: self.piece_count,
            level,
        }
    }

    /// Adds how many vertices each search of the batch has seen, if that is wanted.
    fn count(&self, sizes: &mut Vec<u64>, searches: usize) -> Result<()> {
        let Some(counts) = self.arrays.sizes else { return Ok(()) };
        self.pool.fill(counts, 0)?;
        let (seen, vertices, words) = (self.seen(0), self.vertices, self.words);
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe { self.pool.device().launch(self.count, &self.shape, arguments![seen, vertices, words, counts])? };
        sizes.extend(self.pool.read(counts)?.into_iter().take(searches).map(u64::from));
        Ok(())
    }

    fn sums(&self, by_level: Vec<u64>) -> Result<LevelSums> {
        let Arrays { reached, sums, inverse_sums, greatest, .. } = self.arrays;
        Ok(LevelSums {
            by_level,
            reached: self.pool.read(reached)?,
            sums: sums.map(|sums| self.pool.read(sums)).transpose()?.unwrap_or_default(),
            inverse_sums: inverse_sums.map(|sums| self.pool.read(sums)).transpose()?.unwrap_or_default(),
            greatest: greatest.map(|greatest| self.pool.read(greatest)).transpose()?.unwrap_or_default(),
        })
    }
}

/// Adds to the number of pairs of a level.
fn count(by_level: &mut Vec<u64>, level: usize, pairs: u64) -> Result<()> {
    if level == by_level.len() {
        memory::grow("pairs of each level", by_level, 1)?;
        by_level.push(0);
    }
    by_level[level] += pairs;
    Ok(())
}

#[cfg(test)]
mod tests;
