//! The middle gear: threads go through lists of vertices, level after level.
//!
//! A thread takes its share of the frontier, and what it finds is its part of the next one. Threads meet once a level: lists take turns, so that nobody writes to one that another
//! still reads. How many arcs a frontier has is reckoned from those of the frontier before.
//!
//! The more threads meet, the longer it takes them: a level of `a` arcs takes `a / n` on `n` threads, and their meeting grows with `n`, so `n` is in proportion to the root of `a`
//! ([`workers_for`]). Where other programs run on the same cores, a meeting may take a thousand times as long. So one worker looks at the clock, and the gear ends when its
//! levels have taken longer than a thread alone would take ([`Patience`]).
//!
//! *Invariants.* A worker finds a vertex once at most, since it sees its own stores: so its list has room for all that it finds.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{PoisonError, RwLock};
use std::time::{Duration, Instant};

use super::super::expand::Noted;
use super::{BfsTask, End, GearEnd, Round, Wideness};
use crate::cpu::Worker;
use crate::graph::VertexId;
use crate::{Error, Result, memory};

/// Two lists of each worker, which take turns.
#[derive(Debug, Default)]
pub(super) struct Lists {
    lists: [Vec<RwLock<Vec<VertexId>>>; 2],
    rounds: [Round; 3],
    /// The bytes that a worker could not get for what it might find; else 0.
    lacks: AtomicU64,
}

/// The state of a search when the gear begins.
pub(super) struct Start<'a> {
    pub(super) task: &'a BfsTask<'a>,
    pub(super) noted: Noted<'a>,
    pub(super) level: u32,
    pub(super) frontier: &'a [VertexId],
    /// The gear ends when a frontier has fewer arcs, or is wide, or one for twice or half as many workers of so many threads.
    pub(super) least_arcs: usize,
    pub(super) wide: Wideness,
    pub(super) threads: usize,
    pub(super) patience: Patience,
}

/// How much longer the levels of this gear may take in a search: so many nanoseconds for each arc, and for some arcs more, in which threads wake up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    nanoseconds: f64,
    /// The time that is left, whatever arcs are still to come.
    left: f64,
}

impl Patience {
    const WAKING_UP: f64 = (1 << 16) as f64;

    /// So many nanoseconds for each arc.
    pub(super) fn new(nanoseconds: f64) -> Self {
        Patience { nanoseconds, left: nanoseconds * Self::WAKING_UP * 1e-9 }
    }

    /// The patience that is left after levels with so many arcs that have taken so long; it never grows.
    pub(super) fn after(self, taken: Duration, arcs: usize) -> Self {
        let more = self.nanoseconds * 1e-9 * arcs as f64 - taken.as_secs_f64();
        Patience { left: self.left + more.min(0.0), ..self }
    }

    /// Whether nothing is left.
    fn is_lost(self) -> bool {
        self.left <= 0.0
    }
}

/// How many of so many threads, two at least, do a frontier of so many arcs soonest.
pub(super) fn workers_for(arcs: usize, threads: usize) -> usize {
    (arcs.isqrt() / ROOT_OF_ARCS).clamp(threads.min(2), threads)
}

/// On a *Xeon* four threads were the quickest with 2,000 arcs a level, and sixteen with 55,000.
pub(super) const ROOT_OF_ARCS: usize = 12;

impl Lists {
    /// Has lists for so many workers.
    pub(super) fn make(&mut self, workers: usize) {
        self.lists.iter_mut().for_each(|lists| lists.resize_with(workers, RwLock::default));
        *self.lacks.get_mut() = 0;
    }

    /// The error with which the gear was interrupted.
    pub(super) fn error(&self) -> Error {
        match self.lacks.load(Relaxed) {
            0 => Error::Interrupted,
            bytes => memory::refused("a list of vertices", bytes),
        }
    }

    /// Adds the frontier that the gear has left, or the one before it, to `to`.
    pub(super) fn take_list(&mut self, parity: usize, to: &mut Vec<VertexId>) -> Result<()> {
        for list in &mut self.lists[parity] {
            let list = list.get_mut().unwrap_or_else(PoisonError::into_inner);
            memory::grow("a list of vertices", to, list.len())?;
            to.append(list);
        }
        Ok(())
    }

    /// Runs level after level on one worker of a team, while the others do the same.
    pub(super) fn run(&self, worker: &Worker<'_>, start: &Start<'_>) -> GearEnd {
        let task = start.task;
        let graph = task.graph.csr();
        if worker.index == 0 {
            self.rounds.iter().for_each(Round::empty);
        }
        let mut at = GearEnd::at(start.level);
        let (mut vertices, mut is_first) = (start.frontier.len(), true);
        let mut unsettled_targets = task.targets.to_vec();
        let start_of_gear = Instant::now();
        worker.barrier();
        loop {
            if !task.targets.is_empty() {
                unsettled_targets
                    .retain(|&target| start.noted.levels[target as usize].load(Relaxed) == super::UNREACHED);
                // No worker may write the next level while another still looks at this one.
                worker.barrier();
            }
            if vertices == 0 || at.level >= task.cutoff || !task.targets.is_empty() && unsettled_targets.is_empty() {
                return at;
            }
            at.level += 1;
            at.counters[1] += 1;
            let round = &self.rounds[at.level as usize % 3];
            if worker.index == 0 {
                self.rounds[(at.level as usize + 1) % 3].empty();
                if task.control.is_cancelled() {
                    round.interrupted.store(true, Relaxed);
                }
                if start.patience.after(start_of_gear.elapsed(), at.arcs).is_lost() {
                    round.is_slow.store(true, Relaxed);
                }
            }
            let mut found = self.lists[1 - at.parity][worker.index].write().unwrap_or_else(PoisonError::into_inner);
            found.clear();
            let mut expand = |list: &[VertexId]| {
                let arcs = list.iter().map(|&u| graph.row(u).len()).sum::<usize>();
                let before = found.len();
                // A worker finds a vertex once.
                let room = arcs.min(graph.vertices() - before) + 1;
                if memory::grow("a list of vertices", &mut found, room).is_err() {
                    self.lacks.store(memory::bytes_of::<VertexId>(room), Relaxed);
                    round.interrupted.store(true, Relaxed);
                    return;
                }
                // SAFETY: there is room for the heads of all arcs of the list, or for all vertices that are not in it, and one more. The list has vertices of the frontier.
                unsafe {
                    let count = start.noted.expand::<true>(graph, list, at.level, found.as_mut_ptr().add(before));
                    found.set_len(before + count);
                }
                round.arcs.fetch_add(arcs, Relaxed);
            };
            let share = worker.share(vertices);
            if std::mem::take(&mut is_first) {
                expand(&start.frontier[share]);
            } else {
                let mut first = 0;
                for list in &self.lists[at.parity] {
                    let list = list.read().unwrap_or_else(PoisonError::into_inner);
                    let end = first + list.len();
                    let (from, to) = (share.start.max(first), share.end.min(end));
                    if from < to {
                        expand(&list[from - first..to - first]);
                    }
                    first = end;
                }
            }
            round.discovered.fetch_add(found.len(), Relaxed);
            drop(found);
            worker.barrier();
            let discovered = round.discovered.load(Relaxed);
            at.arcs_before = round.arcs.load(Relaxed);
            at.arcs += at.arcs_before;
            let arcs = (at.arcs_before as f64 * discovered as f64 / vertices as f64) as usize;
            vertices = discovered;
            at.parity = 1 - at.parity;
            if round.interrupted.load(Relaxed) {
                at.end = End::Interrupted;
                return at;
            }
            if round.is_slow.load(Relaxed) {
                at.end = End::Slow;
                return at;
            }
            let workers = workers_for(arcs, start.threads);
            let are_others = 2 * workers <= worker.count || workers >= 2 * worker.count;
            if arcs < start.least_arcs || start.wide.has(arcs, at.arcs_before) || are_others {
                at.end = End::Other;
                return at;
            }
        }
    }
}
