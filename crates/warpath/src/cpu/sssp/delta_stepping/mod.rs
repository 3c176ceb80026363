//! Delta-stepping: settle vertices bucket by bucket, and within a bucket in any order, all threads at once.
//!
//! Bucket `i` holds the vertices whose tentative distance lies between `i` and `i + 1` times delta. The lowest bucket
//! that is not empty is emptied: each vertex in it relaxes all its arcs, and each vertex whose distance falls enters
//! the bucket of its new distance, perhaps the same one. When the bucket stays empty, its vertices are settled. A small
//! delta is Dijkstra's algorithm: no vertex is visited twice, but buckets are small and many; a large one is
//! Bellman-Ford. An entry whose vertex has moved to a lower bucket since is skipped.
//!
//! It is fast here for these reasons:
//! - **One meeting a bucket.** Buckets are lists of small chunks, each thread's own. Full chunks of the current
//!   bucket go to a common queue, the rest stays with its thread; a thread that runs out waits for a chunk or for all
//!   the others to run out too, by when all have said which bucket is next. So a bucket that refills itself costs no
//!   further meeting (this is bucket fusion). A thread that sees others wait gives away parts of the chunk it is at, so
//!   that buckets of a few hundred vertices, as in road graphs, are shared, too; a smaller bucket is emptied by the
//!   threads that have it.
//! - **Rows are fetched before they are needed:** the queue says early which rows come next.
//! - **Filter, then apply.** Nine arcs in ten improve nothing. The first pass over a row only collects the arcs that
//!   do, without a branch, so that dozens of random loads are under way at once; the second pass lowers the distances.
//! - **Most arcs are never followed,** in an undirected graph of eight arcs a vertex or more. With random weights
//!   nearly all vertices are nearer than a typical weight, and an arc heavier than its head is far improves nothing. So
//!   for now only arcs that lead to a distance below some *limit* are relaxed: the others cost a look at the weight,
//!   not a random load. Once the buckets below the limit are empty, the limit moves on, and the arcs between the old
//!   limit and the new one are caught up on, until four fifths of the arcs belong to settled vertices. Then each of the
//!   other vertices looks at its own few arcs (*pulls*), and the limit is dropped; a vertex that finds all its
//!   neighbours settled need not be visited at all. Limits grow fourfold where no more than twice the arcs were settled
//!   since the last one, so that there are few of them, whatever the graph.
//! - **Few buckets, whatever the weights.** The nearest 1,024 buckets are kept apart, all farther ones together, and
//!   sorted when their time comes. Beyond 2^20 widths from the source, buckets widen with the distance.
//!
//! Work O(V + E + re-visits) for random weights, O(V E) at worst; span O(buckets) meetings. It loses to Dijkstra's
//! algorithm only on graphs so small that starting threads counts. Distances are the same, bit by bit, whatever delta
//! and the number of threads: they fall to the one fixed point.
//!
//! Source: Meyer & Sanders 2003, "Delta-stepping: a parallelizable shortest path algorithm", without its light and
//! heavy arcs; bucket fusion: Zhang et al. 2020, "Optimizing ordered graph algorithms with GraphIt", sect. 5; pulling
//! in place of long arcs: Chakaravarthy et al. 2014, "Scalable single source shortest path algorithms for massively
//! parallel systems".

mod buckets;
mod relaxation;
mod scope;
mod sharing;
mod width;

use std::sync::atomic::Ordering;

use buckets::{Bucket, Chunk, NEAR, Occupied};
use relaxation::{CANDIDATES, read};
use scope::Scope;
use sharing::Shared;
use width::{Width, choose_delta};

use super::{Function, SsspAlgorithm, SsspTask};
use crate::algorithms::{AlgorithmInfo, Parameter, Statistics, Unset, Values, Workload};
use crate::cpu::Worker;
use crate::graph::{Adjacency, DistanceKey, DistanceValue, MinPlus, VertexId};
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "delta-stepping",
        summary: "buckets of vertices at similar distances, each relaxed in parallel; wins wherever there is much to do",
        source: "Meyer & Sanders 2003; Zhang et al. 2020 (bucket fusion)",
        parameters: &[Parameter {
            name: "delta",
            summary: "the width of a bucket",
            values: Values::Or(
                &Values::AtLeast(f64::MIN_POSITIVE),
                Unset::InWords(|| "chosen from the weights and the average degree".into()),
            ),
        }],
        negative_weights: false,
        seconds,
    },
    uses_team: true,
    function: Function::DeltaStepping,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// A vertex where buckets are small, and a vertex and an arc where they are large.
    const OF_SMALL_BUCKETS: f64 = 28e-9;
    /// Where buckets are small, so many arcs a vertex have no part in the time.
    const FEW_ARCS: f64 = 6.0;
    const VERTEX: f64 = 15e-9;
    const ARC: f64 = 6e-9;
    /// Several searches side by side were measured apart: from this degree on, most arcs are looked at and not followed, and
    /// where buckets are large all takes three quarters of the time.
    const FOLLOWED: f64 = 8.0;
    const NOT_FOLLOWED: f64 = 2.5e-9;
    const SIDE_BY_SIDE: f64 = 0.75;
    /// Greatest weights of more than so many times the least take more buckets where degrees differ, by this power.
    const FEW_BUCKETS: f64 = 100.0;
    const MORE_BUCKETS: f64 = 0.3;
    /// Where no vertex has far more arcs than most, more arcs are followed, whatever the weights.
    const EVEN: f64 = 2.3;
    const START: f64 = 50e-6;
    let is_thin = work.graph.has_short_levels();
    let of_a_dense_graph = (work.arcs() - FEW_ARCS * work.vertices()).max(0.0) * NOT_FOLLOWED;
    let alone = |arcs: f64| match is_thin {
        true => work.vertices() * OF_SMALL_BUCKETS + of_a_dense_graph,
        false => (work.vertices() * VERTEX + arcs) * work.cache_misses(2.5),
    };
    if work.searches > 1 {
        let followed = work.arcs().min(FOLLOWED * work.vertices());
        let less = if is_thin { 1.0 } else { SIDE_BY_SIDE };
        let arcs = followed * ARC + (work.arcs() - followed) * NOT_FOLLOWED;
        let spread = (work.graph.spread_of_weights() / FEW_BUCKETS).clamp(1.0, FEW_BUCKETS);
        let more = match (is_thin, work.graph.is_skewed()) {
            (true, _) => 1.0,
            (false, true) => spread.powf(MORE_BUCKETS),
            (false, false) => EVEN,
        };
        return work.side_by_side(START + less * more * alone(arcs));
    }
    // Threads wait for each other after every bucket.
    let alone = alone(work.arcs() * ARC);
    work.in_turn(START + alone / (work.threads as f64).powf(if is_thin { 0.4 } else { 0.8 }))
}

type Key<L> = <<L as MinPlus>::Distance as DistanceValue>::Key;
type Atomic<L> = <Key<L> as DistanceKey>::Atomic;

/// No bucket.
const NONE: u64 = u64::MAX;

/// The search works on the keys of distances; this is the distance of the same bits as the key of an unreached vertex.
pub(super) fn blank<L: MinPlus>() -> L::Distance {
    bytemuck::cast(L::Distance::UNREACHABLE.key())
}

pub(super) fn solve<L: MinPlus>(task: &SsspTask<'_, L>, room: &mut [L::Distance]) -> Result<Statistics> {
    let delta = task.parameters.get("delta").unwrap_or_else(|| choose_delta(task));
    let width = Width::new(delta);
    let distances = Key::<L>::atomics(bytemuck::cast_slice_mut(room));
    for &source in task.sources {
        DistanceKey::store(&distances[source as usize], L::Distance::ZERO.key());
    }
    let shared = Shared::new();
    let scope = Scope::first(task, delta);
    let counts = task.team.run(|worker| {
        if worker.count == 1 {
            ThreadSearch::<L, true>::new(task, distances, &shared, width, scope).run(worker)
        } else {
            ThreadSearch::<L, false>::new(task, distances, &shared, width, scope).run(worker)
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
    room.iter_mut().for_each(|distance| *distance = L::Distance::from_key(bytemuck::cast(*distance)));
    Ok(vec![
        ("buckets", statistics.buckets),
        ("visits", statistics.visits),
        ("relaxations", statistics.relaxations),
        ("improvements", statistics.improvements),
    ])
}

#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    buckets: u64,
    visits: u64,
    relaxations: u64,
    improvements: u64,
}

/// One thread's part in the search. A thread that is `ALONE` needs no atomic minimum and shares nothing.
struct ThreadSearch<'a, L: MinPlus, const ALONE: bool> {
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
    /// Empty chunks, for reuse.
    spare: Vec<Chunk>,
    unsettled_targets: Vec<VertexId>,
    candidates: Box<[(VertexId, L::Distance)]>,
    counts: Counts,
}

impl<'a, L: MinPlus, const ALONE: bool> ThreadSearch<'a, L, ALONE> {
    fn new(
        task: &'a SsspTask<'a, L>,
        distances: &'a [Atomic<L>],
        shared: &'a Shared,
        width: Width,
        scope: Scope<L::Distance>,
    ) -> Self {
        ThreadSearch {
            task,
            graph: task.adjacency,
            distances,
            shared,
            width,
            current: 0,
            scope,
            visited_arcs: 0,
            near: (0..NEAR).map(|_| Bucket::default()).collect(),
            occupied: Occupied::new(),
            far: Bucket::default(),
            far_least: NONE,
            spare: Vec::new(),
            unsettled_targets: task.targets.to_vec(),
            candidates: vec![(0, L::Distance::ZERO); CANDIDATES].into(),
            counts: Counts::default(),
        }
    }

    /// Empties the lowest bucket until none is left; then widens the scope, until it is everything.
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

    /// Whether all targets, if there are any, are in buckets below `next`. All threads agree on that: other threads may
    /// be at work in `next` already, but nothing moves below it any more.
    fn targets_are_settled(&mut self, next: u64) -> bool {
        // A target that is not settled keeps the others waiting, so that each is looked at once, and one a bucket.
        while let Some(&v) = self.unsettled_targets.last()
            && self.width.bucket(read::<L>(self.distances, v)) < next
        {
            self.unsettled_targets.pop();
        }
        !self.task.targets.is_empty() && self.unsettled_targets.is_empty()
    }

    #[inline(always)]
    fn distance(&self, v: VertexId) -> L::Distance {
        read::<L>(self.distances, v)
    }
}
