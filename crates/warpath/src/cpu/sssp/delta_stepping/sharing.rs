//! How the threads empty a bucket: chunks that any thread may take, and the agreement at the end of the bucket.

use std::collections::VecDeque;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use super::buckets::{Bucket, Chunk, NEAR, fresh};
use super::{NONE, ThreadSearch};
use crate::cpu::Worker;
use crate::graph::{MinPlus, VertexId};
use crate::sync::Patience;

/// About how many vertices are worth giving away when others wait.
pub(super) const PIECE: usize = 32;

/// The state that the threads share, besides the distances.
pub(super) struct Shared {
    queue: Queue,
    /// One round is in use, the round before it may still be read, and the round after it is fresh.
    pub(super) rounds: [Round; 3],
    /// The arcs of all settled vertices, when a scope is exhausted.
    pub(super) settled_arcs: AtomicU64,
    /// Blocks of vertices that threads have taken, when they go through all vertices.
    pub(super) scanned: AtomicUsize,
}

impl Shared {
    pub(super) fn new() -> Self {
        Shared {
            queue: Queue { chunks: Mutex::new(VecDeque::new()), length: AtomicUsize::new(0) },
            rounds: std::array::from_fn(|_| Round {
                next: AtomicU64::new(NONE),
                idle: AtomicUsize::new(0),
                cancelled: AtomicBool::new(false),
            }),
            settled_arcs: AtomicU64::new(0),
            scanned: AtomicUsize::new(0),
        }
    }
}

/// Chunks of the current bucket that any thread may take, first in, first out. Waiting threads look at the queue all
/// the time, so it shares no cache line with anything else, nor do the rounds.
#[repr(align(128))]
struct Queue {
    chunks: Mutex<VecDeque<Chunk>>,
    /// How many chunks there are, for a look without the lock.
    length: AtomicUsize,
}

/// The agreement of the threads at the end of a bucket. Once all are idle, it does not change until all are idle again.
#[repr(align(128))]
pub(super) struct Round {
    /// The lowest bucket that is not empty.
    pub(super) next: AtomicU64,
    /// How many threads have run out of work.
    pub(super) idle: AtomicUsize,
    pub(super) cancelled: AtomicBool,
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

impl<L: MinPlus, const ALONE: bool> ThreadSearch<'_, L, ALONE> {
    pub(super) fn empty_bucket_alone(&mut self, round: &Round) {
        let slot = (self.current % NEAR) as usize;
        while !self.near[slot].is_empty() {
            let Bucket { open, full } = std::mem::take(&mut self.near[slot]);
            for chunk in full.into_iter().chain([open]) {
                self.relax_and_recycle(chunk, round);
            }
        }
        self.tell(round);
    }

    pub(super) fn empty_bucket_together(&mut self, round: &Round, worker: &Worker<'_>) {
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
            // idle, there are no chunks, and no thread is busy again before the next bucket.
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

    /// Gives parts of a chunk, from this place on, to waiting threads, if enough of it is left.
    #[inline(always)]
    pub(super) fn give_away(&mut self, chunk: &mut Chunk, start: usize, round: &Round) {
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

    /// Tells the others what this thread knows, when it has emptied its part of the bucket. Anything it told before
    /// stays true: no later bucket is emptied before its turn.
    fn tell(&mut self, round: &Round) {
        let next = self.next_bucket();
        if next < round.next.load(Ordering::Relaxed) {
            round.next.fetch_min(next, Ordering::Relaxed);
        }
        // A thread that has left out work because of a cancellation sees the cancellation here, too.
        if self.task.control.is_cancelled() {
            round.cancelled.store(true, Ordering::Relaxed);
        }
    }
}
