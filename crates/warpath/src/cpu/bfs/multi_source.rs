//! Many independent breadth-first searches at once, sharing the reads of the graph: bit-parallel multi-source BFS.
//!
//! Searches from different sources mostly walk through the same vertices, in a small world even at nearly the same
//! time. So a batch of 64 to 512 searches runs as one: each vertex has one bit a search for "seen" and one for "in
//! the frontier", and a single pass over an arc moves a whole machine word of searches along it. Levels with few
//! active vertices are pushed along out-arcs from a list of them; levels with many are pulled along in-arcs, each
//! vertex that some search has not seen yet taking the union of its neighbours, up to the point where nothing is
//! missing. Each thread runs batches of its own, so nothing is shared and nothing is atomic.
//!
//! Work O(D E B / 512) bit operations in the worst case for a batch of B, where D is the number of levels: it wins by a
//! factor on graphs with few levels and even degrees. It loses a little where hubs let a single search skip most arcs
//! by going bottom-up, and much on long thin graphs, where the searches hardly ever meet. A batch that has come to
//! [`DEEPEST`] levels gives up, and each thread then searches from one source at a time.
//!
//! Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal" (MS-BFS, and its
//! direction-optimized form in sect. 4.1.3).

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::UNREACHED;
use super::expand::Noted;
use super::sequential::Queue;
use crate::algorithms::Workload;
use crate::cpu::Team;
use crate::graph::{Csr, DistanceKey, Graph, VertexId};
use crate::huge_pages::on_huge_pages;
use crate::prefetch::prefetch;
use crate::{Control, Error, Result, memory};

/// Predicted seconds of searches that share their reads of the graph.
pub(crate) fn seconds(work: &Workload<'_>) -> f64 {
    /// Arcs a second of one thread, for each search.
    const ARCS: f64 = 1.3e9;
    work.in_turn(work.arcs() / ARCS / work.threads as f64)
}

/// Levels inside a batch are kept in bytes; this byte means "not reached".
const NOT_REACHED: u8 = u8::MAX;
/// The last level that a batch can have.
const DEEPEST: u8 = NOT_REACHED - 1;
/// The most searches that a batch has.
const WIDEST: usize = 512;
/// Below this many sources a batch does not pay.
const FEWEST_IN_A_BATCH: usize = 8;
/// A level is pulled if the arcs out of its frontier exceed this part of all arcs.
const PULL_FROM: usize = 16;

/// Takes the levels of the search from `sources[index]`, by vertex, [`UNREACHED`] where there is none.
pub(crate) type EmitLevels<'a> = dyn Fn(usize, &[u32]) -> Result<()> + Sync + 'a;

/// How many searches share a batch: 0 where each runs alone, else 64, 128, 256 or 512.
///
/// As many as there are sources for each thread, so long as all batches in flight fit into `memory` bytes.
pub(crate) fn batch_width(graph: &Graph, sources: usize, threads: usize, memory: u64) -> usize {
    if sources < FEWEST_IN_A_BATCH {
        return 0;
    }
    let wanted = sources.div_ceil(threads.max(1)).next_power_of_two().clamp(64, WIDEST);
    let fits = |&width: &usize| memory_of_many(graph, width, threads) <= memory;
    [WIDEST, 256, 128, 64].into_iter().filter(|&width| width <= wanted).find(fits).unwrap_or(0)
}

/// Bytes that [`levels_of_many`] takes at most, with batches of this width; the transpose of a directed graph aside.
pub(crate) fn memory_of_many(graph: &Graph, width: usize, threads: usize) -> u64 {
    let (vertices, width) = (graph.vertices() as u64, width as u64);
    // Three bits and a byte for each search and vertex; a row of levels, and a queue or a list of active vertices.
    let for_a_thread = vertices * (width * 3 / 8 + width + 4 + 2 * 4) + 128 * width;
    for_a_thread * threads as u64
}

/// The levels of every vertex from each of many sources, each source a search of its own.
///
/// `emit` is called once for each source, from the team's threads, in no particular order. `width` comes from
/// [`batch_width`]; a greater width counts as the widest batch's.
///
/// # Errors
///
/// The error that `emit` returns, [`Error::Interrupted`], or [`Error::InvalidRequest`] if a source is not a vertex.
pub(crate) fn levels_of_many(
    graph: &Graph,
    sources: &[VertexId],
    width: usize,
    team: &Team,
    control: &Control,
    emit: &EmitLevels<'_>,
) -> Result<()> {
    graph.check_vertices(sources, "source")?;
    let width = width.min(WIDEST);
    let too_deep = AtomicBool::new(width == 0);
    let claimed = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    if width > 0 {
        team.install(|| graph.transpose())?;
    }
    let results = team.run(|_| {
        let mut single = None;
        let mut batch = None;
        let mut work = || -> Result<()> {
            loop {
                let deep = too_deep.load(Ordering::Relaxed);
                let wanted = if deep { 1 } else { width };
                let first = claimed.fetch_add(wanted, Ordering::Relaxed);
                if first >= sources.len() || failed.load(Ordering::Relaxed) {
                    return Ok(());
                }
                control.check()?;
                let end = sources.len().min(first + wanted);
                if !deep {
                    let batch = match &mut batch {
                        Some(batch) => batch,
                        none => none.insert(AnyBatch::new(graph.vertices(), width)?),
                    };
                    if batch.run(graph, &sources[first..end], first, control, emit)? {
                        continue;
                    }
                    too_deep.store(true, Ordering::Relaxed);
                }
                batch = None;
                let single = match &mut single {
                    Some(single) => single,
                    none => none.insert(Single::new(graph.vertices())?),
                };
                for (index, &source) in (first..).zip(&sources[first..end]) {
                    control.check()?;
                    emit(index, single.run(graph.csr(), source))?;
                }
            }
        };
        let result = work();
        if result.is_err() {
            failed.store(true, Ordering::Relaxed);
        }
        result
    });
    // An interruption is the least telling of several errors.
    let mut errors: Vec<Error> = results.into_iter().filter_map(|result| result.err()).collect();
    errors.sort_by_key(|error| matches!(error, Error::Interrupted));
    errors.into_iter().next().map_or(Ok(()), Err)
}

/// One search after another on one thread.
struct Single {
    levels: Vec<u32>,
    queue: Queue,
}

impl Single {
    fn new(vertices: usize) -> Result<Self> {
        Ok(Single { levels: memory::filled("the array of levels", vertices, UNREACHED)?, queue: Queue::new(vertices)? })
    }

    fn run(&mut self, graph: &Csr, source: VertexId) -> &[u32] {
        self.levels.fill(UNREACHED);
        self.levels[source as usize] = 0;
        self.queue.restart([source]);
        let mut level = 0;
        while !self.queue.frontier().is_empty() {
            level += 1;
            let noted = Noted { levels: u32::atomics(&mut self.levels), predecessors: None, undirected: false };
            self.queue.expand(graph, level, &noted);
        }
        &self.levels
    }
}

/// A batch of one of the widths.
enum AnyBatch {
    Of64(Batch<1>),
    Of128(Batch<2>),
    Of256(Batch<4>),
    Of512(Batch<8>),
}

impl AnyBatch {
    fn new(vertices: usize, width: usize) -> Result<Self> {
        Ok(match width {
            ..=64 => AnyBatch::Of64(Batch::new(vertices)?),
            65..=128 => AnyBatch::Of128(Batch::new(vertices)?),
            129..=256 => AnyBatch::Of256(Batch::new(vertices)?),
            _ => AnyBatch::Of512(Batch::new(vertices)?),
        })
    }

    /// Runs the searches and emits their levels, numbered from `first`; false, with nothing emitted, if the graph is
    /// too deep.
    fn run(
        &mut self,
        graph: &Graph,
        sources: &[VertexId],
        first: usize,
        control: &Control,
        emit: &EmitLevels<'_>,
    ) -> Result<bool> {
        match self {
            AnyBatch::Of64(batch) => batch.run(graph, sources, first, control, emit),
            AnyBatch::Of128(batch) => batch.run(graph, sources, first, control, emit),
            AnyBatch::Of256(batch) => batch.run(graph, sources, first, control, emit),
            AnyBatch::Of512(batch) => batch.run(graph, sources, first, control, emit),
        }
    }
}

/// One bit for each search of a batch.
type Searches<const WORDS: usize> = [u64; WORDS];

/// The state of up to 64 `WORDS` searches.
struct Batch<const WORDS: usize> {
    /// The searches that have seen the vertex, and all searches that do not exist, so that "all" is the same for every
    /// batch.
    seen: Vec<Searches<WORDS>>,
    /// The searches whose frontier has the vertex.
    frontier: Vec<Searches<WORDS>>,
    /// The searches whose next frontier has the vertex.
    next: Vec<Searches<WORDS>>,
    /// The vertices in any frontier.
    active: Vec<VertexId>,
    next_active: Vec<VertexId>,
    /// By search, then by vertex: each search has `stride` of them.
    levels: Vec<u8>,
    /// The number of vertices and a few more, so that the levels of one vertex, which are written together, do not all
    /// fall into the same cache set when the number of vertices is a power of 2.
    stride: usize,
    /// The levels of one search, as they are emitted.
    row: Vec<u32>,
}

impl<const WORDS: usize> Batch<WORDS> {
    const NONE: Searches<WORDS> = [0; WORDS];

    fn new(vertices: usize) -> Result<Self> {
        const LINE: usize = 64;
        Ok(Batch {
            seen: filled(vertices, Self::NONE)?,
            frontier: filled(vertices, Self::NONE)?,
            next: filled(vertices, Self::NONE)?,
            active: memory::with_capacity("the list of active vertices", vertices)?,
            next_active: memory::with_capacity("the list of active vertices", vertices)?,
            levels: Vec::new(),
            stride: vertices.next_multiple_of(LINE) + LINE,
            row: memory::filled("the array of levels", vertices, UNREACHED)?,
        })
    }

    fn run(
        &mut self,
        graph: &Graph,
        sources: &[VertexId],
        first: usize,
        control: &Control,
        emit: &EmitLevels<'_>,
    ) -> Result<bool> {
        let vertices = graph.vertices();
        self.start(sources)?;
        let mut level = 0_u8;
        let mut pulled = false;
        while !self.active.is_empty() {
            control.check()?;
            if level == DEEPEST {
                return Ok(false);
            }
            level += 1;
            let arcs: usize = self.active.iter().map(|&u| graph.degree(u)).sum();
            if arcs > graph.arcs() / PULL_FROM {
                self.pull(graph.transpose()?, level);
                pulled = true;
            } else {
                if std::mem::take(&mut pulled) {
                    self.next.fill(Self::NONE);
                }
                self.push(graph.csr(), level);
            }
        }
        for index in 0..sources.len() {
            let levels = &self.levels[index * self.stride..][..vertices];
            for (wide, &narrow) in self.row.iter_mut().zip(levels) {
                *wide = if narrow == NOT_REACHED { UNREACHED } else { u32::from(narrow) };
            }
            emit(first + index, &self.row)?;
        }
        Ok(true)
    }

    fn start(&mut self, sources: &[VertexId]) -> Result<()> {
        let mut absent = [u64::MAX; WORDS];
        for search in 0..sources.len() {
            absent[search / 64] &= !(1 << (search % 64));
        }
        self.seen.fill(absent);
        self.frontier.fill(Self::NONE);
        self.next.fill(Self::NONE);
        if self.levels.is_empty() {
            let levels = memory::with_capacity("the levels of a batch", sources.len() * self.stride)?;
            self.levels = on_huge_pages(levels);
        }
        self.levels.clear();
        self.levels.resize(sources.len() * self.stride, NOT_REACHED);
        self.active.clear();
        for (search, &source) in sources.iter().enumerate() {
            let v = source as usize;
            self.levels[search * self.stride + v] = 0;
            self.seen[v][search / 64] |= 1 << (search % 64);
            self.frontier[v][search / 64] |= 1 << (search % 64);
            self.active.push(source);
        }
        self.active.sort_unstable();
        self.active.dedup();
        Ok(())
    }

    /// Does one level along the out-arcs of the active vertices. `next` is empty before and after.
    fn push(&mut self, graph: &Csr, level: u8) {
        self.next_active.clear();
        for &u in &self.active {
            let moving = std::mem::replace(&mut self.frontier[u as usize], Self::NONE);
            for &v in graph.neighbors(u) {
                let arriving = without(moving, self.seen[v as usize]);
                if arriving != Self::NONE {
                    let next = &mut self.next[v as usize];
                    if *next == Self::NONE {
                        self.next_active.push(v);
                    }
                    *next = union(*next, arriving);
                }
            }
        }
        for &v in &self.next_active {
            let arrived = self.next[v as usize];
            self.seen[v as usize] = union(self.seen[v as usize], arrived);
            mark(&mut self.levels, self.stride, v, arrived, level);
        }
        std::mem::swap(&mut self.active, &mut self.next_active);
        std::mem::swap(&mut self.frontier, &mut self.next);
    }

    /// Does one level along the in-arcs of every vertex that some search has not seen. Leaves arbitrary bits in `next`.
    fn pull(&mut self, transpose: &Csr, level: u8) {
        const AHEAD: usize = 32;
        let vertices = self.seen.len();
        let tails = transpose.targets();
        self.active.clear();
        for v in 0..vertices {
            let seen = self.seen[v];
            let mut arrived = Self::NONE;
            if seen != [u64::MAX; WORDS] {
                let mut covered = seen;
                for arc in transpose.row(v as VertexId) {
                    // Rows follow each other, so this is right across their ends too.
                    if let Some(&soon) = tails.get(arc + AHEAD) {
                        prefetch(&self.frontier, soon as usize);
                    }
                    let u = tails[arc];
                    covered = union(covered, self.frontier[u as usize]);
                    if covered == [u64::MAX; WORDS] {
                        break;
                    }
                }
                arrived = without(covered, seen);
                if arrived != Self::NONE {
                    self.seen[v] = covered;
                    self.active.push(v as VertexId);
                    mark(&mut self.levels, self.stride, v as VertexId, arrived, level);
                }
            }
            self.next[v] = arrived;
        }
        std::mem::swap(&mut self.frontier, &mut self.next);
    }
}

/// A vector for random access.
fn filled<T: Copy>(length: usize, value: T) -> Result<Vec<T>> {
    let mut vector = on_huge_pages(memory::with_capacity("the searches of a batch by vertex", length)?);
    vector.resize(length, value);
    Ok(vector)
}

/// Writes the level of `v` for the searches that have arrived there.
#[inline]
fn mark<const WORDS: usize>(levels: &mut [u8], stride: usize, v: VertexId, arrived: Searches<WORDS>, level: u8) {
    for (index, mut word) in arrived.into_iter().enumerate() {
        while word != 0 {
            let search = 64 * index + word.trailing_zeros() as usize;
            levels[search * stride + v as usize] = level;
            word &= word - 1;
        }
    }
}

#[inline]
fn union<const WORDS: usize>(mut a: Searches<WORDS>, b: Searches<WORDS>) -> Searches<WORDS> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
    a
}

#[inline]
fn without<const WORDS: usize>(mut a: Searches<WORDS>, b: Searches<WORDS>) -> Searches<WORDS> {
    a.iter_mut().zip(b).for_each(|(a, b)| *a &= !b);
    a
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::graph::Unit;
    use crate::testing::{Random, graphs_of_every_shape};

    fn rows(graph: &Graph, sources: &[VertexId], width: usize, threads: usize) -> Vec<Vec<u32>> {
        let rows = Mutex::new(vec![None; sources.len()]);
        let emit = |index: usize, levels: &[u32]| {
            assert!(rows.lock().unwrap()[index].replace(levels.to_vec()).is_none(), "emitted twice");
            Ok(())
        };
        let team = Team::new(threads).unwrap();
        levels_of_many(graph, sources, width, &team, &Control::new(), &emit).unwrap();
        rows.into_inner().unwrap().into_iter().map(|row| row.expect("emitted")).collect()
    }

    /// A search that shares no line with the ones under test.
    fn naive(graph: &Graph, source: VertexId) -> Vec<u32> {
        let mut levels = vec![UNREACHED; graph.vertices()];
        levels[source as usize] = 0;
        for level in 0..graph.vertices() as u32 {
            for u in 0..graph.vertices() {
                if levels[u] == level {
                    for &v in graph.neighbors(u as VertexId) {
                        levels[v as usize] = levels[v as usize].min(level + 1);
                    }
                }
            }
        }
        levels
    }

    #[test]
    fn every_width_agrees_with_a_naive_search() {
        let mut random = Random(7);
        for (name, graph) in graphs_of_every_shape::<Unit>(3) {
            let sources: Vec<VertexId> = (0..150).map(|_| random.below(graph.vertices() as u64) as VertexId).collect();
            let expected: Vec<Vec<u32>> = sources.iter().map(|&source| naive(&graph, source)).collect();
            for width in [0, 64, 128, 256, 512] {
                for threads in [1, 2] {
                    assert!(rows(&graph, &sources, width, threads) == expected, "{name}, {width}, {threads}");
                }
            }
        }
    }

    #[test]
    fn a_deep_graph_goes_one_by_one() {
        let graph = Graph::from_edges((0..1000_u32).map(|v| (v, v + 1))).unwrap();
        let sources: Vec<VertexId> = (0..100).collect();
        for (&source, levels) in sources.iter().zip(rows(&graph, &sources, 64, 2)) {
            let expected = |v: u32| if v < source { UNREACHED } else { v - source };
            assert!((0..1001).all(|v| levels[v as usize] == expected(v)));
        }
    }

    #[test]
    fn an_error_from_the_receiver_comes_back() {
        let graph = Graph::from_edges([(0, 1), (1, 2)]).unwrap();
        let emit = |_: usize, _: &[u32]| Err(Error::invalid("enough"));
        for width in [0, 64] {
            let team = Team::new(2).unwrap();
            let result = levels_of_many(&graph, &[0, 1, 2], width, &team, &Control::new(), &emit);
            assert_eq!(result.unwrap_err().to_string(), "enough");
        }
    }

    #[test]
    fn the_width_fits_the_memory() {
        let graph = Graph::from_edges((0..1000_u32).map(|v| (v, v + 1))).unwrap();
        assert_eq!(batch_width(&graph, 10_000, 2, u64::MAX), 512);
        assert_eq!(batch_width(&graph, 130, 2, u64::MAX), 128);
        assert_eq!(batch_width(&graph, 3, 2, u64::MAX), 0);
        assert_eq!(batch_width(&graph, 10_000, 2, memory_of_many(&graph, 128, 2)), 128);
        assert_eq!(batch_width(&graph, 10_000, 2, 1000), 0);
    }
}
