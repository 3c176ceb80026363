//! Delta-stepping.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use super::{SsspAlgorithm, SsspOutcome, SsspTask, for_every_lane};
use crate::cpu::{AlgorithmInfo, Parameter, Patience, Worker};
use crate::graph::{Adjacency, DistanceKey, DistanceValue, Lane, VertexId, Weight};
use crate::problems::Problem;
use crate::{Result, huge_pages};

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
            minimum: f64::MIN_POSITIVE,
        }],
        negative_weights: false,
    },
    solve: for_every_lane!(solve),
};

type Atomic<L> = <<<L as Lane>::Distance as DistanceValue>::Key as DistanceKey>::Atomic;

/// Vertices that travel together between buckets and threads.
const CHUNK: usize = 128;
/// Buckets that are kept apart; what is farther away waits in one heap of its own.
const NEAR: u64 = 1024;
const NONE: u64 = u64::MAX;

fn solve<L: Lane>(task: &SsspTask<'_, L>) -> Result<SsspOutcome<L::Distance>> {
    let delta = task.parameters.get("delta").unwrap_or_else(|| choose_delta(task));
    let width = Width { inverse: (1.0 / delta).min(f64::MAX) };
    let unreachable = L::Distance::UNREACHABLE.key();
    let vertices = task.adjacency.vertices();
    let mut distances: Vec<Atomic<L>> = huge_pages::vec_with_capacity(vertices);
    distances.extend((0..vertices).map(|_| unreachable.atomic()));
    for &source in task.sources {
        DistanceKey::store(&distances[source as usize], L::Distance::ZERO.key());
    }
    let shared = Shared {
        chunks: Mutex::new(Vec::new()),
        length: AtomicUsize::new(0),
        rounds: std::array::from_fn(|_| Round { next: AtomicU64::new(NONE), idle: AtomicUsize::new(0) }),
    };
    let counts = task.team.run(|worker| {
        if worker.count == 1 {
            Search::<L, true>::new(task, &distances, &shared, width).run(worker)
        } else {
            Search::<L, false>::new(task, &distances, &shared, width).run(worker)
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

fn choose_delta<L: Lane>(task: &SsspTask<'_, L>) -> f64 {
    let range = task.graph.weight_range();
    (range.1 / 100.0).max(f64::MIN_POSITIVE)
}

/// The width of the buckets: which bucket a distance belongs to.
#[derive(Debug, Clone, Copy)]
struct Width {
    inverse: f64,
}

impl Width {
    /// Never falls as the distance grows, which is all that the algorithm relies on.
    #[inline(always)]
    fn bucket<D: DistanceValue>(self, distance: D) -> u64 {
        // A cast saturates, and takes NaN (0 times infinity) to 0.
        ((distance.to_f64() * self.inverse) as u64).min(NONE - 1)
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    buckets: u64,
    visits: u64,
    relaxations: u64,
    improvements: u64,
}

struct Shared {
    chunks: Mutex<Vec<Vec<VertexId>>>,
    length: AtomicUsize,
    rounds: [Round; 3],
}

struct Round {
    next: AtomicU64,
    idle: AtomicUsize,
}

impl Shared {
    fn share(&self, chunks: impl Iterator<Item = Vec<VertexId>>) {
        let mut list = self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        list.extend(chunks);
        self.length.store(list.len(), Ordering::Relaxed);
    }

    fn take(&self) -> Option<Vec<VertexId>> {
        if self.length.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let mut list = self.chunks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let chunk = list.pop();
        self.length.store(list.len(), Ordering::Relaxed);
        chunk
    }
}

#[derive(Default)]
struct Bucket {
    open: Vec<VertexId>,
    full: Vec<Vec<VertexId>>,
}

impl Bucket {
    fn is_empty(&self) -> bool {
        self.open.is_empty() && self.full.is_empty()
    }
    #[inline(always)]
    fn push(&mut self, v: VertexId, spare: &mut Vec<Vec<VertexId>>) {
        if self.open.len() == self.open.capacity() {
            self.replace(spare);
        }
        self.open.push(v);
    }
    #[cold]
    #[inline(never)]
    fn replace(&mut self, spare: &mut Vec<Vec<VertexId>>) {
        let fresh = spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK));
        let full = std::mem::replace(&mut self.open, fresh);
        if !full.is_empty() {
            self.full.push(full);
        }
    }
}

struct Search<'a, L: Lane, const ALONE: bool> {
    task: &'a SsspTask<'a, L>,
    graph: Adjacency<'a, L::Weight>,
    distances: &'a [Atomic<L>],
    shared: &'a Shared,
    width: Width,
    current: u64,
    near: Vec<Bucket>,
    far: Bucket,
    far_least: u64,
    spare: Vec<Vec<VertexId>>,
    candidates: Box<[(VertexId, L::Distance)]>,
    counts: Counts,
}

const CANDIDATES: usize = 512;
const BLOCK: usize = 256;

impl<'a, L: Lane, const ALONE: bool> Search<'a, L, ALONE> {
    fn new(task: &'a SsspTask<'a, L>, distances: &'a [Atomic<L>], shared: &'a Shared, width: Width) -> Self {
        Search {
            task,
            graph: task.adjacency,
            distances,
            shared,
            width,
            current: 0,
            near: (0..NEAR).map(|_| Bucket::default()).collect(),
            far: Bucket::default(),
            far_least: NONE,
            spare: Vec::new(),
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
        for round in 0.. {
            let Round { idle, .. } = &self.shared.rounds[round % 3];
            self.empty_current_bucket(idle, worker);
            let Round { next, .. } = &self.shared.rounds[round % 3];
            next.fetch_min(self.next_bucket(), Ordering::Relaxed);
            worker.barrier();
            let next = next.load(Ordering::Relaxed);
            if worker.index == 0 {
                let reset = &self.shared.rounds[(round + 2) % 3];
                reset.next.store(NONE, Ordering::Relaxed);
                reset.idle.store(0, Ordering::Relaxed);
            }
            if next == NONE {
                break;
            }
            self.counts.buckets += 1;
            self.advance_to(next);
        }
        Ok(self.counts)
    }

    fn empty_current_bucket(&mut self, idle: &AtomicUsize, worker: &Worker<'_>) {
        let slot = (self.current % NEAR) as usize;
        loop {
            let bucket = &mut self.near[slot];
            if !ALONE && !bucket.full.is_empty() {
                self.shared.share(bucket.full.drain(..));
            }
            let chunk = if ALONE {
                bucket.full.pop().or_else(|| (!bucket.open.is_empty()).then(|| std::mem::take(&mut bucket.open)))
            } else if !bucket.open.is_empty() {
                Some(std::mem::take(&mut bucket.open))
            } else {
                self.shared.take()
            };
            if let Some(mut chunk) = chunk {
                self.relax_chunk(&chunk);
                chunk.clear();
                self.spare.push(chunk);
                continue;
            }
            if ALONE {
                return;
            }
            idle.fetch_add(1, Ordering::AcqRel);
            let mut patience = Patience::default();
            loop {
                if self.shared.length.load(Ordering::Relaxed) > 0 {
                    idle.fetch_sub(1, Ordering::AcqRel);
                    break;
                }
                if idle.load(Ordering::Acquire) == worker.count {
                    return;
                }
                patience.wait();
            }
        }
    }

    fn next_bucket(&self) -> u64 {
        let near = (self.current..self.current.saturating_add(NEAR))
            .find(|index| !self.near[(index % NEAR) as usize].is_empty())
            .unwrap_or(NONE);
        near.min(self.far_least)
    }

    fn advance_to(&mut self, next: u64) {
        self.current = next;
        if self.far_least <= next {
            self.far_least = NONE;
            let Bucket { open, full } = std::mem::take(&mut self.far);
            for mut chunk in full.into_iter().chain([open]) {
                for &v in &chunk {
                    let index = self.width.bucket(self.distance(v));
                    if index >= next {
                        self.push(v, index);
                    }
                }
                chunk.clear();
                if chunk.capacity() > 0 {
                    self.spare.push(chunk);
                }
            }
        }
    }

    #[inline(always)]
    fn push(&mut self, v: VertexId, index: u64) {
        if index - self.current < NEAR {
            self.near[(index % NEAR) as usize].push(v, &mut self.spare);
        } else {
            self.far_least = self.far_least.min(index);
            self.far.push(v, &mut self.spare);
        }
    }

    #[inline(always)]
    fn distance(&self, v: VertexId) -> L::Distance {
        L::Distance::from_key(DistanceKey::load(&self.distances[v as usize]))
    }

    fn relax_chunk(&mut self, chunk: &[VertexId]) {
        const ROWS_AHEAD: usize = 16;
        const ARCS_AHEAD: usize = 8;
        let graph = self.graph;
        let mut waiting = 0;
        for (index, &u) in chunk.iter().enumerate() {
            if let Some(&v) = chunk.get(index + ROWS_AHEAD) {
                prefetch(&graph.offsets[v as usize]);
                prefetch(&self.distances[v as usize]);
            }
            if let Some(&v) = chunk.get(index + ARCS_AHEAD) {
                let row = graph.row(v);
                prefetch_slice(&graph.targets[row.clone()]);
                prefetch_slice(&graph.weights[row]);
            }
            let from = self.distance(u);
            if self.width.bucket(from) < self.current {
                continue;
            }
            self.counts.visits += 1;
            let row = graph.row(u);
            self.counts.relaxations += row.len() as u64;
            let (targets, weights) = (&graph.targets[row.clone()], &graph.weights[row]);
            for (targets, weights) in targets.chunks(BLOCK).zip(weights.chunks(BLOCK)) {
                if waiting + targets.len() > CANDIDATES {
                    self.apply(waiting);
                    waiting = 0;
                }
                let candidates = &mut self.candidates[waiting..][..targets.len()];
                let mut kept = 0;
                for (&v, &weight) in targets.iter().zip(weights) {
                    let through = L::extend(from, weight);
                    let to = L::Distance::from_key(DistanceKey::load(&self.distances[v as usize]));
                    candidates[kept] = (v, through);
                    kept += (through < to) as usize;
                }
                waiting += kept;
            }
        }
        self.apply(waiting);
    }

    fn apply(&mut self, count: usize) {
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

#[inline(always)]
fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch reads nothing and can't fault; the instruction is part of the baseline.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

#[inline(always)]
fn prefetch_slice<T: Weight>(values: &[T]) {
    const LINES: usize = 4;
    if size_of::<T>() > 0 {
        for value in values.iter().step_by(64 / size_of::<T>().max(1)).take(LINES) {
            prefetch(value);
        }
    }
}
