//! The loops over arcs: filter, then apply.
//!
//! *Invariants.* The list of candidates has room for every arc that is looked at, which is asserted before each loop;
//! indexing by ids of vertices is checked.

use super::buckets::Chunk;
use super::sharing::{PIECE, Round};
use super::{Atomic, ThreadSearch};
use crate::graph::{DistanceKey, DistanceValue, MinPlus, VertexId, Weight};
use crate::prefetch::prefetch;

/// Relaxations that passed the filter and wait to be applied.
pub(super) const CANDIDATES: usize = 512;

/// Arcs filtered at a time.
const BLOCK: usize = 256;

impl<L: MinPlus, const ALONE: bool> ThreadSearch<'_, L, ALONE> {
    /// Relaxes the arcs in scope of each vertex that is still in the current bucket; or, if there is a `floor`, the
    /// arcs of each vertex that lead at least as far as the floor. The search is `LIMITED` unless everything is in
    /// scope. In a `round`, threads that wait get parts of the chunk, which shortens it.
    pub(super) fn relax_chunk<const LIMITED: bool>(
        &mut self,
        chunk: &mut Chunk,
        floor: Option<L::Distance>,
        round: Option<&Round>,
    ) {
        const ROWS_AHEAD: usize = 16;
        const ARCS_AHEAD: usize = 8;
        /// From this length on, a call pays.
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

    /// Lowers the distances of the first `count` candidates that are still shorter. `UNFILTERED` candidates were
    /// collected without a look at the distances, and are filtered first.
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
fn filter<L: MinPlus>(
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
        // most the number of candidates.
        unsafe { *candidates.get_unchecked_mut(kept) = (v, through) };
        kept += (through < to) as usize;
    }
    kept
}

/// [`filter`] on its own, where everything it needs stays in registers: half the instructions, and so twice as many
/// loads under way at once.
#[inline(never)]
fn filter_long<L: MinPlus>(
    distances: &[Atomic<L>],
    from: L::Distance,
    targets: &[VertexId],
    weights: &[L::Weight],
    candidates: &mut [(VertexId, L::Distance)],
) -> usize {
    filter::<L>(distances, from, targets, weights, candidates)
}

/// Collects the relaxations of these arcs, from the same tail, that lead to a distance from `floor` to below `limit`;
/// returns how many. Does not look at the heads: [`keep_shorter`] then looks at the heads of several rows together, so
/// that many random loads are under way at once although few arcs of a row pass.
#[inline(never)]
fn collect_within<L: MinPlus>(
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
fn keep_shorter<L: MinPlus>(distances: &[Atomic<L>], candidates: &mut [(VertexId, L::Distance)]) -> usize {
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
pub(super) fn read<L: MinPlus>(distances: &[Atomic<L>], v: VertexId) -> L::Distance {
    L::Distance::from_key(DistanceKey::load(&distances[v as usize]))
}

/// Asks for the first cache lines of a slice; the hardware finds the rest.
#[inline(always)]
pub(super) fn prefetch_slice<T: Weight>(values: &[T]) {
    const LINES: usize = 4;
    if size_of::<T>() > 0 {
        for index in (0..values.len()).step_by(64 / size_of::<T>().max(1)).take(LINES) {
            prefetch(values, index);
        }
    }
}
