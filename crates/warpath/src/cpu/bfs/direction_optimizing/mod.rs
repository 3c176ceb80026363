//! Direction-optimizing breadth-first search: top-down while the frontier is small, bottom-up while it is large.
//!
//! Top-down, each vertex of the frontier looks at all its neighbours. Bottom-up, each vertex that has no level yet
//! looks for *one* neighbour in the frontier, and stops at the first: in a small world, where one level holds half of
//! the graph, that skips most arcs. Beamer's rules choose: bottom-up once the arcs out of the frontier exceed
//! `1/alpha` of the arcs not explored, top-down again once the frontier is below `1/beta` of the vertices without a
//! level.
//!
//! The search has three gears. While the frontier is *narrow* it runs on one thread as the queue of
//! [`sequential`](super::sequential): sharing out a few hundred vertices costs more than doing them. In the *middle*, where a level is a small part of the graph
//! and there are hundreds, as in meshes, as many threads as a level is worth go through lists of vertices together ([`lists`]), unless these have to wait for each other too long. When it is *wide*
//! all threads run level after level together, meeting at a barrier, and everything is a bitmap: the frontier, and
//! which vertices are settled (have their level, or can't get one). Queue and bitmap are converted only on the way in
//! and out. No gear has an atomic read-modify-write for each arc, but for predecessors in directed graphs:
//!
//! - *Top-down* stores a 1 into the byte of every neighbour, seen or not: no test, no branch, and two threads that
//!   write the same byte write the same value. A pass over the bytes then keeps those that were not settled, 64 to a
//!   word.
//! - *Bottom-up* takes 512 vertices at a time and skips the settled ones by the word. All the others try their first
//!   neighbour, without a branch on the outcome; those still open go into a list, try their next four, and so on
//!   until a handful is left. Branches that nobody can predict would cost more than the memory. Vertices without arcs
//!   are marked settled when first met, so that no later pass looks at them.
//!
//! Predecessors come on the way, if they are wanted: in lists as [`expand`](super::expand) says, in bitmaps top-down each head without a level keeps the least tail, and bottom-up a vertex the first
//! neighbour, since rows ascend. Tails ascend, too, so hardly any head is written twice.
//!
//! Work O(V + E) and often a small part of E; span O(D) barriers. It wins wherever some level is wide; on long thin
//! graphs it is the queue plus a little bookkeeping.
//!
//! Source: Beamer, Asanović, Patterson 2012, "Direction-Optimizing Breadth-First Search".
//!
//! *Invariants.* Levels are read as plain numbers only between the begin of a run and the first meeting, when nobody writes them.

mod level;
mod lists;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use level::{Level, ones};
use lists::{Lists, Patience, ROOT_OF_ARCS, Start, workers_for};

use super::expand::Noted;
use super::sequential::{Queue, all_settled};
use super::{BfsAlgorithm, BfsTask, THREADS_OF_SHORT_LEVELS, UNREACHED};
use crate::algorithms::{AlgorithmInfo, Parameter, Statistics, Unset, Values, Workload};
use crate::cpu::Worker;
use crate::graph::{Csr, DistanceKey, VertexId};
use crate::problems::Problem;
use crate::team::SmallerTeam;
use crate::{Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "direction-optimizing",
        summary: "every core, top-down and bottom-up; wins wherever some level holds much of the graph",
        source: "Beamer et al. 2012",
        parameters: &[
            Parameter {
                name: "alpha",
                summary: "go bottom-up when the frontier's arcs exceed 1/alpha of the unexplored ones",
                values: Values::Or(&Values::AtLeast(1e-3), Unset::Number(ALPHA)),
            },
            Parameter {
                name: "beta",
                summary: "go top-down when the frontier is below 1/beta of the unsettled vertices",
                values: Values::Or(&Values::AtLeast(1e-3), Unset::Number(BETA)),
            },
            Parameter {
                name: "narrow",
                summary: "arcs out of a frontier that one of several threads does alone, if it is no bitmap",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(NARROW as f64)),
            },
            Parameter {
                name: "patience",
                summary: "nanoseconds for each arc after which threads that share lists leave the rest of them to one thread",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(PATIENCE)),
            },
            Parameter {
                name: "wide",
                summary: "arcs out of a frontier from which on it is a bitmap",
                values: Values::Or(
                    &Values::AtLeast(0.0),
                    Unset::InWords(|| {
                        format!(
                            "{WIDE} or 1/{WIDE_SHARE} of the vertices, whichever is more; {WIDE} or 1/{GROWN_SHARE} if the level before had less than 1/{GROWN} as many"
                        )
                    }),
                ),
            },
        ],
        negative_weights: true,
        seconds,
    },
    needs_transpose: true,
    needs_metric: false,
    uses_team: true,
    finds_predecessors: true,
    search,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// A vertex where levels are short: one thread does most of them, or some share them.
    const OF_SHORT_LEVELS: f64 = 24e-9;
    const OF_SHARED_LEVELS: f64 = 15e-9;
    const VERTEX: f64 = 20e-9;
    /// An arc that is looked at, the most of these at a vertex where levels are few, and an arc that bottom-up skips.
    const ARC: f64 = 0.6e-9;
    const LOOKED_AT: f64 = 30.0;
    const SKIPPED: f64 = 0.15e-9;
    /// Arcs a second of each of several searches on a thread of their own, where hubs let them skip most arcs.
    const ARCS_ALONE: f64 = 4e9;
    const START: f64 = 30e-6;
    if work.graph.has_short_levels() && work.searches <= 1 && work.threads >= THREADS_OF_SHORT_LEVELS {
        work.vertices() * OF_SHARED_LEVELS
    } else if work.graph.has_short_levels() {
        work.side_by_side(work.vertices() * OF_SHORT_LEVELS)
    } else if work.searches > 1 && work.graph.has_hubs() {
        work.in_turn(work.arcs() / ARCS_ALONE / work.threads as f64)
    } else {
        let looks = (work.arcs().min(LOOKED_AT * work.vertices()) * ARC).max(work.arcs() * SKIPPED);
        work.in_turn(START + (work.vertices() * VERTEX + looks) / (work.threads as f64).powf(0.75))
    }
}

const ALPHA: f64 = 15.0;
const BETA: f64 = 18.0;
/// One thread alone does a frontier of up to so many arcs: from there on two are quicker.
const NARROW: usize = (2 * ROOT_OF_ARCS).pow(2);
/// A thread alone takes 4 to 10 ns for an arc.
const PATIENCE: f64 = 16.0;
/// A frontier of more arcs than this, and than 1/`WIDE_SHARE` of the vertices, is a bitmap.
const WIDE: usize = 8192;
const WIDE_SHARE: usize = 4;
/// One with so many times the arcs of the frontier before is a bitmap sooner, from 1/`GROWN_SHARE` of the vertices on: the next one will be larger still.
const GROWN: usize = 4;
const GROWN_SHARE: usize = 64;
/// Words of a bitmap that a thread takes at a time.
const CHUNK: usize = 8;
/// Vertices in a chunk.
const CHUNK_VERTICES: usize = 64 * CHUNK;

fn search(task: &BfsTask<'_>, levels: &mut [u32], predecessors: Option<&mut [VertexId]>) -> Result<Statistics> {
    let mut search = DirectionOptimizing::new(task.graph.vertices())?;
    let counters = search.run(task, levels, predecessors, |wide| {
        let mut ends = task.team.run(wide);
        ends.swap_remove(0)
    })?;
    let [narrow, in_lists, top_down, bottom_up] = counters;
    Ok(vec![
        ("narrow_levels", narrow),
        ("levels_in_lists", in_lists),
        ("top_down_levels", top_down),
        ("bottom_up_levels", bottom_up),
    ])
}

/// The memory of one or more searches on the same graph.
#[derive(Debug)]
pub(super) struct DirectionOptimizing {
    queue: Queue,
    /// The level before the queue's first one, if it was found in lists.
    before: Vec<VertexId>,
    lists: Lists,
    wide: Option<Wide>,
}

/// How a gear of all threads ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct GearEnd {
    level: u32,
    /// Which of the two bitmaps, or lists, holds the frontier.
    parity: usize,
    end: End,
    /// Arcs out of the frontier before.
    arcs_before: usize,
    /// Arcs of all levels of lists.
    arcs: usize,
    counters: [u64; 4],
}

impl GearEnd {
    /// Before the first level after this one.
    fn at(level: u32) -> Self {
        GearEnd { level, parity: 0, end: End::Done, arcs_before: 0, arcs: 0, counters: [0; 4] }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// Nothing left to do.
    Done,
    /// Another gear may suit the frontier better.
    Other,
    /// One thread is quicker alone.
    Slow,
    Interrupted,
}

impl DirectionOptimizing {
    pub(super) fn new(vertices: usize) -> Result<Self> {
        Ok(DirectionOptimizing {
            queue: Queue::new(vertices)?,
            before: Vec::new(),
            lists: Lists::default(),
            wide: None,
        })
    }

    /// Fills in the levels, all of which are [`UNREACHED`], and predecessors, if there is an array of them; counts levels: narrow, in lists, top-down, bottom-up.
    ///
    /// `on_team` runs a function on every worker of a team, and returns what one of them returned (all return the
    /// same).
    pub(super) fn run(
        &mut self,
        task: &BfsTask<'_>,
        levels: &mut [u32],
        predecessors: Option<&mut [VertexId]>,
        on_team: impl Fn(&(dyn Fn(&Worker<'_>) -> GearEnd + Sync)) -> GearEnd,
    ) -> Result<[u64; 4]> {
        const LEVELS_BETWEEN_CHECKS: u64 = 64;
        let graph = task.graph.csr();
        let mut targets = memory::copied("the list of targets", task.targets)?;
        let mut counters = [0; 4];
        let mut level = 0;
        let mut fresh = true;
        self.queue.restart(task.begin(levels));
        self.before.clear();
        let noted = Noted {
            levels: u32::atomics(levels),
            predecessors: predecessors.map(u32::atomics),
            undirected: !task.graph.is_directed(),
        };
        let asked = |name, usual| task.parameters.get(name).map_or(usual, |arcs| arcs as usize);
        let wide = Wideness {
            arcs: asked("wide", (graph.vertices() / WIDE_SHARE).max(WIDE)),
            if_grown: asked("wide", (graph.vertices() / GROWN_SHARE).max(WIDE)),
        };
        // A thread that has nobody to share with is as quick with its queue.
        let threads = task.team.threads();
        let narrow_arcs = if threads == 1 { wide.arcs } else { asked("narrow", NARROW).min(wide.arcs) };
        let mut patience = Patience::new(task.parameters.get("patience").unwrap_or(PATIENCE));
        let (mut arcs_before, mut shares_lists) = (0, true);
        loop {
            let arcs = arcs_of(graph, self.queue.frontier(), [narrow_arcs, wide.if_grown]);
            let is_done = || self.queue.frontier().is_empty() || level >= task.cutoff;
            if is_done() || all_settled(&mut targets, task, &noted) {
                noted.finish(graph, self.before(), level);
                return Ok(counters);
            }
            let is_wide = wide.has(arcs, arcs_before);
            if !is_wide && (arcs <= narrow_arcs || !shares_lists) {
                arcs_before = arcs;
                if counters[0].is_multiple_of(LEVELS_BETWEEN_CHECKS) {
                    task.control.check()?;
                }
                level += 1;
                counters[0] += 1;
                self.queue.expand(graph, level, &noted);
                continue;
            }
            let frontier = self.queue.frontier();
            let end = if !is_wide {
                let workers = workers_for(arcs, threads);
                self.lists.make(workers);
                // What is a little less is worth staying for.
                let start =
                    Start { task, noted, level, frontier, least_arcs: narrow_arcs / 2, wide, threads, patience };
                let team = SmallerTeam::of(workers);
                let run = |worker: &Worker<'_>| team.run(worker, |worker| self.lists.run(worker, &start));
                let start_of_gear = Instant::now();
                let end = on_team(&|worker: &Worker<'_>| run(worker).unwrap_or(GearEnd::at(level)));
                patience = patience.after(start_of_gear.elapsed(), end.arcs);
                self.before.clear();
                if noted.predecessors.is_none() || !noted.undirected {
                    // Nobody will ask for it.
                } else if end.level == level + 1 {
                    memory::grow("a list of vertices", &mut self.before, self.queue.frontier().len())?;
                    self.before.extend_from_slice(self.queue.frontier());
                } else {
                    self.lists.take_list(1 - end.parity, &mut self.before)?;
                }
                let mut frontier = Vec::new();
                self.lists.take_list(end.parity, &mut frontier)?;
                // Several threads may have found a vertex, and the queue has room for each once.
                frontier.sort_unstable();
                frontier.dedup();
                self.queue.restart(frontier);
                end
            } else {
                noted.finish(graph, self.before(), level);
                let bitmaps = match &mut self.wide {
                    Some(bitmaps) => bitmaps,
                    none => none.insert(Wide::new(graph.vertices())?),
                };
                bitmaps.begin(std::mem::take(&mut fresh), graph.vertices());
                let by_head = if task.graph.has_transpose() { Some(task.graph.transpose()?) } else { None };
                let entry = Entry { task, by_head, noted, level, narrow_arcs: wide.if_grown / 2, frontier };
                let end = on_team(&|worker: &Worker<'_>| bitmaps.run(worker, &entry));
                // These have their predecessors.
                self.before.clear();
                self.queue.restart(bitmaps.take_frontier(end.parity));
                end
            };
            shares_lists &= end.end != End::Slow;
            (level, arcs_before) = (end.level, end.arcs_before);
            counters.iter_mut().zip(end.counters).for_each(|(sum, more)| *sum += more);
            if end.end == End::Interrupted {
                return Err(self.lists.error());
            }
        }
    }
}

impl DirectionOptimizing {
    /// The level before the frontier's.
    fn before(&self) -> &[VertexId] {
        if self.queue.before().is_empty() { &self.before } else { self.queue.before() }
    }
}

/// From how many arcs on a frontier is a bitmap.
#[derive(Debug, Clone, Copy)]
struct Wideness {
    arcs: usize,
    if_grown: usize,
}

impl Wideness {
    /// Whether a frontier with so many arcs is one, after one with so many.
    fn has(&self, arcs: usize, before: usize) -> bool {
        arcs > self.arcs || arcs > self.if_grown && arcs / GROWN > before
    }
}

/// How many arcs lead out of this frontier: reckoned from a sample of its vertices where that is far from both bounds, and counted where it is near one of them. There
/// may be thousands of levels.
#[inline]
fn arcs_of(graph: &Csr, frontier: &[VertexId], [some, many]: [usize; 2]) -> usize {
    const SAMPLES: usize = 256;
    let arcs_of_every = |step| frontier.iter().step_by(step).map(|&u| graph.row(u).len()).sum::<usize>();
    let step = frontier.len().div_ceil(SAMPLES).max(1);
    let estimate = arcs_of_every(step).saturating_mul(step);
    let is_certain = step == 1 || estimate <= some.min(many) / 2 || estimate > 2 * some && estimate <= many / 2;
    if is_certain { estimate } else { arcs_of_every(1) }
}

/// The state of the search when the wide gear begins.
struct Entry<'a> {
    task: &'a BfsTask<'a>,
    /// The arcs by head, if they are at hand: without them no level is searched bottom-up.
    by_head: Option<&'a Csr>,
    noted: Noted<'a>,
    level: u32,
    /// The gear ends when a frontier has no more arcs than this.
    narrow_arcs: usize,
    frontier: &'a [VertexId],
}

/// The counts that the workers share in one level. Three rounds take turns: while a level fills its own, the round
/// before may still be read, and the round after is emptied.
#[derive(Debug, Default)]
struct Round {
    /// The next chunk to be taken.
    cursor: AtomicUsize,
    /// Vertices in the new frontier.
    discovered: AtomicUsize,
    /// Vertices without arcs that were found.
    isolated: AtomicUsize,
    /// Arcs out of the new frontier, or more than enough of them; in lists those out of the old one.
    arcs: AtomicUsize,
    interrupted: AtomicBool,
    /// Whether the levels before have taken too long.
    is_slow: AtomicBool,
}

impl Round {
    fn empty(&self) {
        self.cursor.store(0, Relaxed);
        self.discovered.store(0, Relaxed);
        self.isolated.store(0, Relaxed);
        self.arcs.store(0, Relaxed);
        self.is_slow.store(false, Relaxed);
    }
}

/// The state of the wide gear: bitmaps, 64 vertices to a word.
#[derive(Debug)]
struct Wide {
    /// Vertices that have their level, that have no arcs, or that do not exist (in the last word).
    settled: Vec<AtomicU64>,
    /// The frontier, and the next one: they take turns.
    frontiers: [Vec<AtomicU64>; 2],
    /// One byte a vertex: 1 if top-down came by. All 0 between levels.
    marks: Vec<AtomicU8>,
    rounds: [Round; 3],
    /// How many vertices are settled when a run begins.
    settled_count: AtomicUsize,
    /// How many arcs were explored when the last run ended.
    explored_before: AtomicUsize,
}

impl Wide {
    fn new(vertices: usize) -> Result<Self> {
        let words = vertices.div_ceil(64);
        let bits = || memory::zeroed("a set of vertices", words);
        Ok(Wide {
            settled: bits()?,
            frontiers: [bits()?, bits()?],
            marks: memory::zeroed("the marks of vertices", 64 * words)?,
            rounds: Default::default(),
            settled_count: AtomicUsize::new(0),
            explored_before: AtomicUsize::new(0),
        })
    }

    /// Before a run, the first one of a search or a later one.
    fn begin(&mut self, is_first: bool, vertices: usize) {
        *self.settled_count.get_mut() = 0;
        if !is_first {
            return;
        }
        self.settled.iter_mut().for_each(|word| *word.get_mut() = 0);
        self.frontiers.iter_mut().flatten().for_each(|word| *word.get_mut() = 0);
        if !vertices.is_multiple_of(64) {
            let past_the_end = u64::MAX << (vertices % 64);
            *self.settled[vertices / 64].get_mut() = past_the_end;
        }
        *self.explored_before.get_mut() = 0;
    }

    /// Settles the vertices of these words that have a level.
    fn settle_those_with_levels(&self, words: std::ops::Range<usize>, levels: &[AtomicU32]) {
        let mut count = 0;
        let first = (64 * words.start).min(levels.len());
        // SAFETY: nobody writes levels until all workers have met.
        let levels = unsafe { std::slice::from_raw_parts(levels.as_ptr().cast::<u32>(), levels.len()) };
        for (word, levels) in words.zip(levels[first..].chunks(64)) {
            let mut have_one = 0_u64;
            for (part, levels) in levels.chunks(8).enumerate() {
                let bits = levels.iter().enumerate().map(|(v, &level)| u8::from(level != UNREACHED) << v);
                have_one |= u64::from(bits.fold(0, |all, bit| all | bit)) << (8 * part);
            }
            let all = self.settled[word].fetch_or(have_one, Relaxed) | have_one;
            // Bits past the end are set.
            count += all.count_ones() as usize - (64 - levels.len());
        }
        self.settled_count.fetch_add(count, Relaxed);
    }

    /// The vertices of a frontier, which is empty afterwards.
    fn take_frontier(&mut self, parity: usize) -> impl Iterator<Item = VertexId> {
        self.frontiers[1 - parity].iter_mut().for_each(|word| *word.get_mut() = 0);
        let words = self.frontiers[parity].iter_mut().enumerate();
        words.flat_map(|(index, word)| ones(index, std::mem::take(word.get_mut())))
    }

    /// Runs level after level on one worker of a team, while the others do the same, until the frontier is narrow
    /// again.
    fn run(&self, worker: &Worker<'_>, entry: &Entry<'_>) -> GearEnd {
        let (task, Noted { levels, predecessors, .. }) = (entry.task, entry.noted);
        let (graph, vertices) = (task.graph.csr(), task.graph.vertices());
        let alpha = task.parameters.get("alpha").unwrap_or(ALPHA);
        let beta = task.parameters.get("beta").unwrap_or(BETA);
        let words = worker.share(self.settled.len());
        if worker.index == 0 {
            self.rounds.iter().for_each(Round::empty);
        }
        self.settle_those_with_levels(words.clone(), levels);
        for &v in &entry.frontier[worker.share(entry.frontier.len())] {
            self.frontiers[0][v as usize / 64].fetch_or(1 << (v % 64), Relaxed);
        }
        let mut explored = self.explored_before.load(Relaxed);
        let mut frontier_vertices = entry.frontier.len();
        let mut frontier_arcs = entry.frontier.iter().map(|&u| graph.row(u).len()).sum::<usize>();
        let mut unsettled_targets = task.targets.to_vec();
        let mut at = GearEnd::at(entry.level);
        let mut bottom_up = false;
        worker.barrier();
        let mut settled = self.settled_count.load(Relaxed);
        loop {
            if frontier_vertices == 0 || at.level >= task.cutoff {
                break;
            }
            if !task.targets.is_empty() {
                let mut pending = std::mem::take(&mut unsettled_targets);
                pending.retain(|&target| levels[target as usize].load(Relaxed) == UNREACHED);
                unsettled_targets = pending;
                // No worker may write the next level while another still looks at this one.
                worker.barrier();
                if unsettled_targets.is_empty() {
                    break;
                }
            }
            let unsettled = vertices.saturating_sub(settled);
            if entry.by_head.is_none() {
                bottom_up = false;
            } else if bottom_up {
                bottom_up = frontier_vertices as f64 * beta >= unsettled as f64;
            } else {
                bottom_up = frontier_arcs as f64 * alpha > graph.arcs().saturating_sub(explored) as f64;
            }
            // There is at least one level.
            if at.level > entry.level && !bottom_up && frontier_arcs <= entry.narrow_arcs {
                at.end = End::Other;
                break;
            }
            at.level += 1;
            at.counters[2 + usize::from(bottom_up)] += 1;
            explored += frontier_arcs;
            at.arcs_before = frontier_arcs;
            let round = &self.rounds[at.level as usize % 3];
            if worker.index == 0 {
                self.rounds[(at.level as usize + 1) % 3].empty();
                if task.control.is_cancelled() {
                    round.interrupted.store(true, Relaxed);
                }
            }
            let (frontier, next) = (&self.frontiers[at.parity], &self.frontiers[1 - at.parity]);
            let level = Level { graph, level: at.level, levels, settled: &self.settled, frontier, next, round };
            if let (true, Some(by_head)) = (bottom_up, entry.by_head) {
                match predecessors {
                    Some(predecessors) => level.bottom_up::<true>(by_head, predecessors),
                    None => level.bottom_up::<false>(by_head, &[]),
                }
            } else {
                match predecessors {
                    Some(predecessors) => level.mark_neighbors::<true>(&self.marks, predecessors),
                    None => level.mark_neighbors::<false>(&self.marks, &[]),
                }
                worker.barrier();
                level.keep_unsettled(&self.marks, words.clone(), (graph.arcs() as f64 / alpha) as usize);
            }
            worker.barrier();
            frontier_vertices = round.discovered.load(Relaxed);
            settled += frontier_vertices + round.isolated.load(Relaxed);
            // After bottom-up nobody has counted the arcs; where they matter, the frontier is small.
            frontier_arcs = if bottom_up { frontier_vertices } else { round.arcs.load(Relaxed) };
            at.parity = 1 - at.parity;
            if round.interrupted.load(Relaxed) {
                at.end = End::Interrupted;
                break;
            }
        }
        if worker.index == 0 {
            self.explored_before.store(explored, Relaxed);
        }
        at
    }
}
