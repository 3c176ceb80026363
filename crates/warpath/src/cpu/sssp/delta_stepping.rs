//! Delta-stepping: settle vertices bucket by bucket, and within a bucket in any order, all threads at once.
//!
//! Bucket `i` holds the vertices whose tentative distance lies between `i` and `i + 1` times delta. The lowest bucket
//! that is not empty is emptied: each vertex in it relaxes all its arcs, and each vertex whose distance falls enters the
//! bucket of its new distance, perhaps the same one. When the bucket stays empty, its vertices are settled. A small
//! delta is Dijkstra's algorithm: no vertex is visited twice, but buckets are small and many; a large one is
//! Bellman-Ford. An entry whose vertex has moved to a lower bucket since is skipped.
//!
//! What makes it fast here:
//! - **One meeting a bucket.** Buckets are lists of small chunks, each thread's own. Full chunks of the current bucket go
//!   to a common queue, the rest stays with its thread; a thread that runs out waits for a chunk or for all the others
//!   to run out too, by when all have said which bucket is next. So a bucket that refills itself costs no further
//!   meeting (this is bucket fusion). Whoever sees others wait gives away parts of the chunk it is at, so that buckets of
//!   a few hundred vertices, as roads have them, are shared, too; a smaller one is emptied by those that have it.
//! - **Rows are fetched before they are needed:** the queue says early which rows come next.
//! - **Filter, then apply.** Nine arcs in ten improve nothing. The first pass over a row only collects those that do,
//!   without a branch, so that dozens of random loads are under way at once; the second pass lowers the distances.
//! - **Most arcs are never followed,** in an undirected graph of eight arcs a vertex or more. With random weights nearly
//!   all vertices are nearer than a typical weight, and an arc heavier than its head is far improves nothing. So for now
//!   only arcs that lead to a distance below some *limit* are relaxed: the others cost a look at the weight, not a
//!   random load. Once the buckets below the limit are empty, the limit moves on, and the arcs between the old one and the new
//!   are caught up on, until four fifths of the arcs belong to settled vertices. Then each of the other vertices looks
//!   at its own few arcs (*pulls*), and the limit is dropped; a vertex that finds all its neighbours settled need not be
//!   visited at all. Limits grow fourfold where no more than twice the arcs were settled since the last one, so that there
//!   are few of them, whatever the graph.
//! - **Few buckets, whatever the weights.** The nearest 1,024 buckets are kept apart, all farther ones together, and
//!   sorted when their time comes. Beyond 2^20 widths from the source, buckets widen with the distance.
//!
//! Work O(V + E + re-visits) for random weights, O(V E) at worst; span O(buckets) meetings. It loses to Dijkstra's
//! algorithm only on graphs so small that starting threads counts. Distances are the same, bit by bit, whatever delta
//! and the number of threads: they fall to the one fixed point.
//!
//! Source: Meyer & Sanders 2003, "Delta-stepping: a parallelizable shortest path algorithm", without its light and heavy
//! arcs; bucket fusion: Zhang et al. 2020, "Optimizing ordered graph algorithms with GraphIt", sect. 5; pulling in place
//! of long arcs: Chakaravarthy et al. 2014, "Scalable single source shortest path algorithms for massively parallel
//! systems".
//!
//! *Invariants.* What is collected has room for every arc that is looked at, which is asserted before each loop; ids of
//! vertices index with a check.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::{SsspAlgorithm, SsspOutcome, SsspTask, for_every_lane};
use crate::algorithms::{AlgorithmInfo, Parameter, Values};
use crate::cpu::Worker;
use crate::graph::{Adjacency, DistanceKey, DistanceValue, Lane, VertexId, Weight, WeightKind};
use crate::prefetch::prefetch;
use crate::problems::Problem;
use crate::sync::Patience;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "delta-stepping",
        summary: "buckets of vertices at similar distances, each relaxed in parallel; wins wherever there is much to do",
        source: "Meyer & Sanders 2003; Zhang et al. 2020 (bucket fusion)",
        parameters: &[Parameter {
            name: "delta",
            summary: "the width of a bucket; chosen from the weights and the average degree if not set",
            values: Values::AtLeast(f64::MIN_POSITIVE),
        }],
        negative_weights: false,
    },
    solve: for_every_lane!(solve),
};

type Atomic<L> = <<<L as Lane>::Distance as DistanceValue>::Key as DistanceKey>::Atomic;

/// Vertices that travel together between buckets and threads, at most.
const CHUNK: usize = 256;
/// Empty chunks that a thread keeps: those that it was given came from others, who have to make new ones.
const SPARE: usize = 4096;
/// About how many vertices are worth giving away when others wait.
const PIECE: usize = 32;
/// Buckets that are kept apart; what is farther away waits in one bucket of its own.
const NEAR: u64 = 1024;
/// No bucket.
const NONE: u64 = u64::MAX;
/// Relaxations that passed the filter and wait to be applied.
const CANDIDATES: usize = 512;
/// Arcs filtered at a time.
const BLOCK: usize = 256;

fn solve<L: Lane>(task: &SsspTask<'_, L>) -> Result<SsspOutcome<L::Distance>> {
    task.check()?;
    let delta = task.parameters.get("delta").unwrap_or_else(|| choose_delta(task));
    let width = Width::new(delta);
    let unreachable = L::Distance::UNREACHABLE.key();
    let vertices = task.adjacency.vertices();
    let distances: Vec<Atomic<L>> = task.team.filled("the array of distances", vertices, || unreachable.atomic())?;
    for &source in task.sources {
        DistanceKey::store(&distances[source as usize], L::Distance::ZERO.key());
    }
    let shared = Shared {
        queue: Queue { chunks: Mutex::new(VecDeque::new()), length: AtomicUsize::new(0) },
        rounds: std::array::from_fn(|_| Round {
            next: AtomicU64::new(NONE),
            idle: AtomicUsize::new(0),
            cancelled: AtomicBool::new(false),
        }),
        settled_arcs: AtomicU64::new(0),
        scanned: AtomicUsize::new(0),
    };
    let scope = Scope::first(task, delta);
    let counts = task.team.run(|worker| {
        if worker.count == 1 {
            Search::<L, true>::new(task, &distances, &shared, width, scope).run(worker)
        } else {
            Search::<L, false>::new(task, &distances, &shared, width, scope).run(worker)
        }
    });
    let mut statistics = Counts::default();
    for count in counts {
        let count = count?;
        statistics.buckets = count.buckets;
        statistics.visits += count.visits;
        statistics.relaxations += count.relaxations;
        statistics.improvements += count.improvements;
    }
    let distances = distances.into_iter().map(|d| L::Distance::from_key(DistanceKey::into_inner(d))).collect();
    Ok(SsspOutcome {
        distances,
        statistics: vec![
            ("buckets", statistics.buckets),
            ("visits", statistics.visits),
            ("relaxations", statistics.relaxations),
            ("improvements", statistics.improvements),
        ],
    })
}

/// A width for which buckets are large enough to share and small enough to visit few vertices twice: about 1 % of a
/// weight at 30 arcs a vertex, a few weights at 2 or 3 (fitted to Kronecker, uniform and road graphs).
fn choose_delta<L: Lane>(task: &SsspTask<'_, L>) -> f64 {
    let delta = typical_weight(task) * 40.0 / average_degree(task).powf(2.5);
    let whole_numbers = !matches!(L::Weight::KIND, WeightKind::F32 | WeightKind::F64);
    if whole_numbers { delta.max(1.0) } else { delta.max(f64::MIN_POSITIVE) }
}

/// About the median of the weights, above 0 if any is.
fn typical_weight<L: Lane>(task: &SsspTask<'_, L>) -> f64 {
    const SAMPLES: usize = 1024;
    let weights = task.adjacency.weights;
    let step = (weights.len() / SAMPLES).max(1);
    let mut sample: Vec<f64> = weights.iter().step_by(step).map(|weight| weight.to_f64()).collect();
    let middle = sample.len() / 2;
    let median = if sample.is_empty() { 1.0 } else { *sample.select_nth_unstable_by(middle, f64::total_cmp).1 };
    if median > 0.0 { median } else { task.graph.weight_range().1 / 2.0 }
}

/// At least 1.
fn average_degree<L: Lane>(task: &SsspTask<'_, L>) -> f64 {
    (task.adjacency.arcs() as f64 / task.adjacency.vertices().max(1) as f64).max(1.0)
}

/// Which arcs are relaxed for now: those that lead to a distance below `limit`.
#[derive(Debug, Clone, Copy)]
struct Scope<D> {
    limit: D,
    /// How far the limit was moved last.
    width: f64,
    /// The arcs of the vertices that were settled then.
    settled_arcs: u64,
}

impl<D: DistanceValue> Scope<D> {
    /// The scope of the first buckets. With random weights up to about twice the typical one, the number of vertices
    /// within reach grows e-fold in twice the typical weight over the degree; this is two such steps.
    fn first<L: Lane<Distance = D>>(task: &SsspTask<'_, L>, delta: f64) -> Self {
        /// From here on a look at the weights alone is much cheaper than at the heads, too.
        const DENSE: f64 = 8.0;
        let degree = average_degree(task);
        let width = (4.0 * typical_weight(task) / degree).max(delta);
        let limit = D::at_most_float(width);
        // A limit of 0 would leave out the sources.
        if task.graph.is_directed() || degree < DENSE || limit <= D::ZERO {
            return Scope { limit: D::UNREACHABLE, width: f64::INFINITY, settled_arcs: 0 };
        }
        Scope { limit, width, settled_arcs: 0 }
    }

    fn is_everything(self) -> bool {
        self.limit == D::UNREACHABLE
    }

    /// The scope after this one, when vertices with this many arcs are settled.
    fn next(self, settled_arcs: u64, greatest_weight: f64) -> Self {
        // Nothing at all may have been settled: the sources may have no arcs.
        let width = if settled_arcs <= 2 * self.settled_arcs { 4.0 * self.width } else { self.width };
        let limit = D::at_most_float(self.limit.to_f64() + width);
        let everything = width > greatest_weight || limit <= self.limit;
        Scope { limit: if everything { D::UNREACHABLE } else { limit }, width, settled_arcs }
    }
}

/// The width of the buckets: which bucket a distance belongs to.
#[derive(Debug, Clone, Copy)]
struct Width {
    inverse: f64,
}

impl Width {
    fn new(delta: f64) -> Self {
        Width { inverse: (1.0 / delta).min(f64::MAX) }
    }

    /// Never falls as the distance grows, which is all that the algorithm relies on. Less than 2^22.
    #[inline(always)]
    fn bucket<D: DistanceValue>(self, distance: D) -> u64 {
        /// Up to here all buckets are equally wide, beyond they are a thousandth of the distance wide.
        const EQUAL: f64 = (1 << 20) as f64;
        /// Leaves ten bits of the mantissa.
        const DROPPED_BITS: u32 = 42;
        let widths = distance.to_f64() * self.inverse;
        if widths < EQUAL {
            widths as u64
        } else {
            EQUAL as u64 + ((widths.to_bits() - EQUAL.to_bits()) >> DROPPED_BITS)
        }
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    buckets: u64,
    visits: u64,
    relaxations: u64,
    improvements: u64,
}

/// A list of vertices of the same bucket, at most [`CHUNK`].
type Chunk = Vec<VertexId>;

/// What the threads have in common, beside the distances.
struct Shared {
    queue: Queue,
    /// One is in use, the one before it may still be read, the one after it is fresh.
    rounds: [Round; 3],
    /// The arcs of all settled vertices, when a scope is exhausted.
    settled_arcs: AtomicU64,
    /// Blocks of vertices that have been taken by a thread that goes through all of them.
    scanned: AtomicUsize,
}

/// Chunks of the current bucket that anybody may take, first in, first out. Threads that wait look at it all the time:
/// so it shares no cache line with anything else, nor do the rounds.
#[repr(align(128))]
struct Queue {
    chunks: Mutex<VecDeque<Chunk>>,
    /// How many there are, for a look without the lock.
    length: AtomicUsize,
}

/// What the threads agree on at the end of a bucket. Once all are idle, it stays as it is until they are so again.
#[repr(align(128))]
struct Round {
    /// The lowest bucket that is not empty.
    next: AtomicU64,
    /// How many threads have run out of work.
    idle: AtomicUsize,
    cancelled: AtomicBool,
}

impl Queue {
    fn share(&self, chunks: impl Iterator<Item = Chunk>) {
        let mut list = self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        list.extend(chunks);
        self.length.store(list.len(), Ordering::Relaxed);
    }

    fn take(&self) -> Option<Chunk> {
        if self.length.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut list = self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let chunk = list.pop_front();
        self.length.store(list.len(), Ordering::Relaxed);
        chunk
    }
}

/// One thread's share of a bucket.
#[derive(Default)]
struct Bucket {
    open: Chunk,
    full: Vec<Chunk>,
}

impl Bucket {
    fn is_empty(&self) -> bool {
        self.open.is_empty() && self.full.is_empty()
    }

    /// Returns whether a chunk was opened for it, as it is for the first vertex of all.
    #[inline(always)]
    fn push(&mut self, v: VertexId, spare: &mut Vec<Chunk>) -> bool {
        let lacks_room = self.open.len() == self.open.capacity();
        if lacks_room {
            self.open_chunk(spare);
        }
        self.open.push(v);
        lacks_room
    }

    #[cold]
    #[inline(never)]
    fn open_chunk(&mut self, spare: &mut Vec<Chunk>) {
        let full = std::mem::replace(&mut self.open, fresh(spare));
        if !full.is_empty() {
            self.full.push(full);
        }
    }
}

/// An empty chunk.
fn fresh(spare: &mut Vec<Chunk>) -> Chunk {
    spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK))
}

/// Which of a thread's near buckets may not be empty, so that a thread that has none finds that out at a glance.
struct Occupied {
    words: [u64; Self::WORDS],
}

impl Occupied {
    const BITS: usize = u64::BITS as usize;
    const WORDS: usize = NEAR as usize / Self::BITS;

    fn insert(&mut self, slot: usize) {
        self.words[slot / Self::BITS] |= 1 << (slot % Self::BITS);
    }

    fn remove(&mut self, slot: usize) {
        self.words[slot / Self::BITS] &= !(1 << (slot % Self::BITS));
    }

    /// How far ahead of this slot the first occupied one is, itself included.
    fn distance_from(&self, slot: usize) -> Option<usize> {
        let (first, bit) = (slot / Self::BITS, slot % Self::BITS);
        let from_bit = !0 << bit;
        // The word of the slot comes twice: its upper part first, its lower part last.
        (0..=Self::WORDS).find_map(|step| {
            let index = (first + step) % Self::WORDS;
            let mask = match step {
                0 => from_bit,
                Self::WORDS => !from_bit,
                _ => !0,
            };
            let word = self.words[index] & mask;
            let found = index * Self::BITS + word.trailing_zeros() as usize;
            (word != 0).then(|| (found + NEAR as usize - slot) % NEAR as usize)
        })
    }
}

/// One thread's part in the search. A thread that is `ALONE` needs no atomic minimum and shares nothing.
struct Search<'a, L: Lane, const ALONE: bool> {
    task: &'a SsspTask<'a, L>,
    graph: Adjacency<'a, L::Weight>,
    distances: &'a [Atomic<L>],
    shared: &'a Shared,
    width: Width,
    current: u64,
    scope: Scope<L::Distance>,
    /// The number of arcs of vertices that this thread visited and has not yet told the others of.
    visited_arcs: u64,
    /// Bucket `i` is at `i % NEAR`, for the next `NEAR` buckets.
    near: Vec<Bucket>,
    occupied: Occupied,
    far: Bucket,
    /// At most the lowest bucket of a vertex in `far`.
    far_least: u64,
    /// Empty chunks, to be used again.
    spare: Vec<Chunk>,
    unsettled_targets: Vec<VertexId>,
    candidates: Box<[(VertexId, L::Distance)]>,
    counts: Counts,
}

impl<'a, L: Lane, const ALONE: bool> Search<'a, L, ALONE> {
    fn new(
        task: &'a SsspTask<'a, L>,
        distances: &'a [Atomic<L>],
        shared: &'a Shared,
        width: Width,
        scope: Scope<L::Distance>,
    ) -> Self {
        Search {
            task,
            graph: task.adjacency,
            distances,
            shared,
            width,
            current: 0,
            scope,
            visited_arcs: 0,
            near: (0..NEAR).map(|_| Bucket::default()).collect(),
            occupied: Occupied { words: [0; Occupied::WORDS] },
            far: Bucket::default(),
            far_least: NONE,
            spare: Vec::new(),
            unsettled_targets: task.targets.to_vec(),
            candidates: vec![(0, L::Distance::ZERO); CANDIDATES].into(),
            counts: Counts::default(),
        }
    }

    fn run(mut self, worker: &Worker<'_>) -> Result<Counts> {
        if worker.index == 0 {
            for &source in self.task.sources {
                self.push(source, 0);
            }
        }
        for number in 0.. {
            let round = &self.shared.rounds[number % 3];
            if ALONE {
                self.empty_bucket_alone(round);
            } else {
                self.empty_bucket_together(round, worker);
            }
            let next = round.next.load(Ordering::Relaxed);
            if round.cancelled.load(Ordering::Relaxed) {
                return Err(Error::Interrupted);
            }
            if worker.index == 0 {
                let fresh = &self.shared.rounds[(number + 2) % 3];
                fresh.next.store(NONE, Ordering::Relaxed);
                fresh.idle.store(0, Ordering::Relaxed);
            }
            if next == NONE {
                let end = self.width.bucket(self.scope.limit);
                if self.scope.is_everything() || self.targets_are_settled(end) {
                    break;
                }
                self.widen_scope(worker);
                continue;
            }
            if self.targets_are_settled(next) {
                break;
            }
            self.counts.buckets += 1;
            self.advance_to(next);
        }
        Ok(self.counts)
    }

    /// Everything below the limit is settled: moves the limit, and catches up on the arcs that this allows.
    fn widen_scope(&mut self, worker: &Worker<'_>) {
        const BLOCK: usize = 1024;
        /// Pull when the settled vertices have this many times the arcs of the others.
        const PULL: u64 = 4;
        let (shared, vertices) = (self.shared, self.graph.vertices());
        shared.settled_arcs.fetch_add(std::mem::take(&mut self.visited_arcs), Ordering::Relaxed);
        if worker.index == 0 {
            shared.scanned.store(0, Ordering::Relaxed);
        }
        worker.barrier();
        let settled_arcs = shared.settled_arcs.load(Ordering::Relaxed);
        let other_arcs = (self.graph.arcs() as u64).saturating_sub(settled_arcs);
        let pull = PULL * other_arcs <= settled_arcs;
        let floor = self.scope.limit;
        self.scope = self.scope.next(settled_arcs, self.task.graph.weight_range().1);
        if pull {
            self.scope.limit = L::Distance::UNREACHABLE;
        }
        let mut chunk = Vec::with_capacity(BLOCK);
        while !self.task.control.is_cancelled() {
            let start = shared.scanned.fetch_add(BLOCK, Ordering::Relaxed).min(vertices);
            if start == vertices {
                break;
            }
            let block = start as VertexId..vertices.min(start + BLOCK) as VertexId;
            chunk.clear();
            chunk.extend(block.filter(|&v| (self.distance(v) < floor) != pull && self.graph.degree(v) > 0));
            if pull {
                self.pull_chunk(&chunk, floor);
            } else {
                self.relax_chunk::<true>(&mut chunk, Some(floor), None);
            }
        }
        // Until here, a distance that was pulled is stored by whoever pulls it, and lowered by nobody.
        worker.barrier();
    }

    /// Gives each of these vertices, none of which is settled, its distance by way of settled neighbours, those below
    /// `floor`. Relies on the graph being undirected.
    fn pull_chunk(&mut self, chunk: &[VertexId], floor: L::Distance) {
        const AHEAD: usize = 8;
        let graph = self.graph;
        for (index, &v) in chunk.iter().enumerate() {
            if let Some(&later) = chunk.get(index + AHEAD) {
                let row = graph.row(later);
                prefetch_slice(&graph.targets[row.clone()]);
                prefetch_slice(&graph.weights[row]);
            }
            let mut least = L::Distance::UNREACHABLE;
            let mut enclosed = true;
            for (u, weight) in graph.edges(v) {
                let from = self.distance(u);
                let through = L::extend(from, weight);
                least = if through < least { through } else { least };
                enclosed &= from < floor;
            }
            if least < L::Distance::UNREACHABLE && least <= self.task.cutoff {
                DistanceKey::store(&self.distances[v as usize], least.key());
                self.counts.improvements += 1;
                if !enclosed {
                    self.push(v, self.width.bucket(least));
                }
            }
        }
    }

    /// Whether all targets, if there are any, are in buckets below `next`. All threads agree on that: others may be at
    /// work in `next` already, but nothing moves below it any more.
    fn targets_are_settled(&mut self, next: u64) -> bool {
        let (distances, width) = (self.distances, self.width);
        self.unsettled_targets.retain(|&v| width.bucket(read::<L>(distances, v)) >= next);
        !self.task.targets.is_empty() && self.unsettled_targets.is_empty()
    }

    fn empty_bucket_alone(&mut self, round: &Round) {
        let slot = (self.current % NEAR) as usize;
        while !self.near[slot].is_empty() {
            let Bucket { open, full } = std::mem::take(&mut self.near[slot]);
            for chunk in full.into_iter().chain([open]) {
                self.relax_and_recycle(chunk, round);
            }
        }
        self.tell(round);
    }

    fn empty_bucket_together(&mut self, round: &Round, worker: &Worker<'_>) {
        let (slot, queue) = ((self.current % NEAR) as usize, &self.shared.queue);
        loop {
            let bucket = &mut self.near[slot];
            if !bucket.full.is_empty() {
                queue.share(bucket.full.drain(..));
            }
            let own = (!bucket.open.is_empty()).then(|| std::mem::take(&mut bucket.open));
            if let Some(chunk) = own.or_else(|| queue.take()) {
                self.relax_and_recycle(chunk, round);
                continue;
            }
            // Only a thread that is not idle shares chunks, and it becomes idle after it has found none: when all are
            // idle, there are none, and nobody is busy again before the next bucket.
            self.tell(round);
            round.idle.fetch_add(1, Ordering::AcqRel);
            let mut patience = Patience::default();
            loop {
                let idle = round.idle.load(Ordering::Acquire);
                if idle == worker.count {
                    return;
                }
                let found = queue.length.load(Ordering::Relaxed) > 0;
                let (success, failure) = (Ordering::AcqRel, Ordering::Relaxed);
                if found && round.idle.compare_exchange(idle, idle - 1, success, failure).is_ok() {
                    break;
                }
                worker.wait(&mut patience);
            }
        }
    }

    fn relax_and_recycle(&mut self, mut chunk: Chunk, round: &Round) {
        // Once the search is cancelled, its result is thrown away.
        if !self.task.control.is_cancelled() {
            if self.scope.is_everything() {
                self.relax_chunk::<false>(&mut chunk, None, Some(round));
            } else {
                self.relax_chunk::<true>(&mut chunk, None, Some(round));
            }
        }
        self.recycle(chunk);
    }

    /// Gives parts of what comes at this place of a chunk and after it to those that wait, if it is enough.
    #[inline(always)]
    fn give_away(&mut self, chunk: &mut Chunk, start: usize, round: &Round) {
        if chunk.len() - start < 2 * PIECE {
            return;
        }
        let waiting = round.idle.load(Ordering::Relaxed);
        if waiting > 0 && self.shared.queue.length.load(Ordering::Relaxed) == 0 {
            self.split(chunk, start, waiting + 1);
        }
    }

    #[cold]
    #[inline(never)]
    fn split(&mut self, chunk: &mut Chunk, start: usize, parts: usize) {
        let part = (chunk.len() - start).div_ceil(parts).max(PIECE);
        let copy = |part: &[VertexId]| {
            let mut chunk = fresh(&mut self.spare);
            chunk.extend_from_slice(part);
            chunk
        };
        let given: Vec<Chunk> = chunk[start + part..].chunks(part).map(copy).collect();
        self.shared.queue.share(given.into_iter());
        chunk.truncate(start + part);
    }

    fn recycle(&mut self, mut chunk: Chunk) {
        chunk.clear();
        if chunk.capacity() > 0 && self.spare.len() < SPARE {
            self.spare.push(chunk);
        }
    }

    /// Tells the others what this thread knows, when it has emptied its part of the bucket. What it told before stays
    /// true: no later bucket is emptied before its turn.
    fn tell(&mut self, round: &Round) {
        let next = self.next_bucket();
        if next < round.next.load(Ordering::Relaxed) {
            round.next.fetch_min(next, Ordering::Relaxed);
        }
        // Whoever has left out work, since it was cancelled, sees that here, too.
        if self.task.control.is_cancelled() {
            round.cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// The lowest of this thread's buckets that may not be empty. The current one is, and is noted as such.
    fn next_bucket(&mut self) -> u64 {
        let slot = (self.current % NEAR) as usize;
        self.occupied.remove(slot);
        let near = self.occupied.distance_from(slot).map_or(NONE, |ahead| self.current + ahead as u64);
        near.min(self.far_least)
    }

    /// Makes `next` the current bucket, and sorts the far ones if it is among them.
    fn advance_to(&mut self, next: u64) {
        self.current = next;
        if self.far_least <= next {
            self.far_least = NONE;
            let Bucket { open, full } = std::mem::take(&mut self.far);
            for chunk in full.into_iter().chain([open]) {
                for &v in &chunk {
                    let index = self.width.bucket(self.distance(v));
                    if index >= next {
                        self.push(v, index);
                    }
                }
                self.recycle(chunk);
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, v: VertexId, index: u64) {
        if index - self.current < NEAR {
            let slot = (index % NEAR) as usize;
            if self.near[slot].push(v, &mut self.spare) {
                self.occupied.insert(slot);
            }
        } else {
            self.far_least = self.far_least.min(index);
            self.far.push(v, &mut self.spare);
        }
    }

    #[inline(always)]
    fn distance(&self, v: VertexId) -> L::Distance {
        read::<L>(self.distances, v)
    }

    /// Relaxes the arcs in scope of each vertex that is still in the current bucket; or, if there is a `floor`, those of
    /// each vertex that lead at least so far. The search is `LIMITED` unless everything is in scope. In a `round`, threads
    /// that wait get parts of the chunk, which is then shorter.
    fn relax_chunk<const LIMITED: bool>(
        &mut self,
        chunk: &mut Chunk,
        floor: Option<L::Distance>,
        round: Option<&Round>,
    ) {
        const ROWS_AHEAD: usize = 16;
        const ARCS_AHEAD: usize = 8;
        /// From here on a call is worth its while.
        const LONG: usize = 16;
        let (graph, distances) = (self.graph, self.distances);
        let (least, limit) = (floor.unwrap_or(L::Distance::ZERO), self.scope.limit);
        let mut waiting = 0;
        let mut after = 0;
        while after < chunk.len() {
            let index = after;
            after += 1;
            if !ALONE
                && index % PIECE == 0
                && let Some(round) = round
            {
                self.give_away(chunk, index, round);
            }
            let u = chunk[index];
            if let Some(&v) = chunk.get(index + ROWS_AHEAD) {
                prefetch(graph.offsets, v as usize);
                prefetch(self.distances, v as usize);
            }
            if let Some(&v) = chunk.get(index + ARCS_AHEAD) {
                let row = graph.row(v);
                prefetch_slice(&graph.targets[row.clone()]);
                prefetch_slice(&graph.weights[row]);
            }
            let from = self.distance(u);
            let row = graph.row(u);
            if !LIMITED || floor.is_none() {
                if self.width.bucket(from) < self.current {
                    continue;
                }
                self.counts.visits += 1;
                self.counts.relaxations += row.len() as u64;
                if LIMITED {
                    self.visited_arcs += row.len() as u64;
                }
            }
            let (targets, weights) = (&graph.targets[row.clone()], &graph.weights[row]);
            for (targets, weights) in targets.chunks(BLOCK).zip(weights.chunks(BLOCK)) {
                if waiting + targets.len() > CANDIDATES {
                    self.apply::<LIMITED>(waiting);
                    waiting = 0;
                }
                let candidates = &mut self.candidates[waiting..];
                waiting += if LIMITED {
                    collect_within::<L>(from, least, limit, targets, weights, candidates)
                } else if targets.len() < LONG {
                    filter::<L>(distances, from, targets, weights, candidates)
                } else {
                    filter_long::<L>(distances, from, targets, weights, candidates)
                };
            }
        }
        self.apply::<LIMITED>(waiting);
    }

    /// Lowers the distances of the first candidates, where they still are shorter. Those that were collected without a
    /// look at the distances have to be filtered first.
    fn apply<const UNFILTERED: bool>(&mut self, mut count: usize) {
        if UNFILTERED {
            count = keep_shorter::<L>(self.distances, &mut self.candidates[..count]);
        }
        for index in 0..count {
            let (v, through) = self.candidates[index];
            let cell = &self.distances[v as usize];
            let key = through.key();
            if <L::Distance as DistanceValue>::Key::load(cell) <= key || self.task.cutoff < through {
                continue;
            }
            if ALONE {
                DistanceKey::store(cell, key);
            } else if <L::Distance as DistanceValue>::Key::fetch_min(cell, key) <= key {
                continue;
            }
            self.counts.improvements += 1;
            self.push(v, self.width.bucket(through));
        }
    }
}

/// Collects the relaxations of these arcs, from the same tail, that lower a distance; returns how many.
#[inline(always)]
fn filter<L: Lane>(
    distances: &[Atomic<L>],
    from: L::Distance,
    targets: &[VertexId],
    weights: &[L::Weight],
    candidates: &mut [(VertexId, L::Distance)],
) -> usize {
    assert!(targets.len() <= candidates.len());
    let mut kept = 0;
    for (&v, &weight) in targets.iter().zip(weights) {
        let through = L::extend(from, weight);
        let to = read::<L>(distances, v);
        // SAFETY: `kept` grows by at most one a round, so that it is less than the number of targets here, which is at
        // most that of candidates.
        unsafe { *candidates.get_unchecked_mut(kept) = (v, through) };
        kept += (through < to) as usize;
    }
    kept
}

/// [`filter`] on its own, where everything it needs stays in registers: half the instructions, and so twice as many
/// loads under way at once.
#[inline(never)]
fn filter_long<L: Lane>(
    distances: &[Atomic<L>],
    from: L::Distance,
    targets: &[VertexId],
    weights: &[L::Weight],
    candidates: &mut [(VertexId, L::Distance)],
) -> usize {
    filter::<L>(distances, from, targets, weights, candidates)
}

/// Collects the relaxations of these arcs, from the same tail, that lead to a distance from `floor` to below `limit`;
/// returns how many. Does not look at the heads: those of several rows are then looked at together, by
/// [`keep_shorter`], so that many random loads are under way at once although few arcs of a row pass.
#[inline(never)]
fn collect_within<L: Lane>(
    from: L::Distance,
    floor: L::Distance,
    limit: L::Distance,
    targets: &[VertexId],
    weights: &[L::Weight],
    candidates: &mut [(VertexId, L::Distance)],
) -> usize {
    assert!(targets.len() <= candidates.len());
    let mut within = 0;
    for (&v, &weight) in targets.iter().zip(weights) {
        let through = L::extend(from, weight);
        // SAFETY: as in `filter`.
        unsafe { *candidates.get_unchecked_mut(within) = (v, through) };
        within += ((floor <= through) & (through < limit)) as usize;
    }
    within
}

/// Moves the relaxations that lower a distance to the front; returns how many there are.
#[inline(never)]
fn keep_shorter<L: Lane>(distances: &[Atomic<L>], candidates: &mut [(VertexId, L::Distance)]) -> usize {
    let mut kept = 0;
    for index in 0..candidates.len() {
        let (v, through) = candidates[index];
        let to = read::<L>(distances, v);
        candidates[kept] = (v, through);
        kept += (through < to) as usize;
    }
    kept
}

#[inline(always)]
fn read<L: Lane>(distances: &[Atomic<L>], v: VertexId) -> L::Distance {
    L::Distance::from_key(DistanceKey::load(&distances[v as usize]))
}

/// Asks for the first cache lines of a slice; the hardware finds the rest.
#[inline(always)]
fn prefetch_slice<T: Weight>(values: &[T]) {
    const LINES: usize = 4;
    if size_of::<T>() > 0 {
        for index in (0..values.len()).step_by(64 / size_of::<T>().max(1)).take(LINES) {
            prefetch(values, index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn the_next_occupied_bucket_is_found_around_the_end() {
        let mut random = Random(1);
        for round in 0..2_000 {
            let mut occupied = Occupied { words: [0; Occupied::WORDS] };
            let mut expected = std::collections::BTreeSet::new();
            for _ in 0..random.below(5) {
                let slot = random.below(NEAR) as usize;
                occupied.insert(slot);
                expected.insert(slot);
            }
            if let Some(&slot) = expected.first().filter(|_| round % 3 == 0) {
                occupied.remove(slot);
                expected.remove(&slot);
            }
            for from in [0, 1, 63, 64, NEAR as usize - 1, random.below(NEAR) as usize] {
                let nearest = expected.iter().map(|slot| (slot + NEAR as usize - from) % NEAR as usize).min();
                assert_eq!(occupied.distance_from(from), nearest, "{expected:?} from {from}");
            }
        }
    }
}
