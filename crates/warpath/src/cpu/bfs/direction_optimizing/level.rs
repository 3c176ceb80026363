//! One level of the wide gear: top-down in two parts with a barrier between, or bottom-up. All threads take chunks of it.
//!
//! *Invariants.* Whoever makes a [`Level`] gives it arrays with room for every vertex of the graph, with a bit or a level each; vertices that
//! do not exist are settled. Heads and offsets are those of a `Csr`, which has checked them. Whatever several threads write is atomic.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::{CHUNK, CHUNK_VERTICES, Round};
use crate::graph::{Csr, NO_VERTEX, VertexId};
use crate::prefetch::{prefetch, prefetch_for_writing};

/// One level of the wide gear.
pub(super) struct Level<'a> {
    pub(super) graph: &'a Csr,
    pub(super) level: u32,
    pub(super) levels: &'a [AtomicU32],
    pub(super) settled: &'a [AtomicU64],
    pub(super) frontier: &'a [AtomicU64],
    pub(super) next: &'a [AtomicU64],
    pub(super) round: &'a Round,
}

impl Level<'_> {
    /// The words of the next chunk that nobody has taken.
    fn take_chunk(&self) -> Option<std::ops::Range<usize>> {
        let first = self.round.cursor.fetch_add(CHUNK, Relaxed);
        (first < self.settled.len()).then(|| first..self.settled.len().min(first + CHUNK))
    }

    /// Top-down, first part: marks every neighbour of the frontier. If predecessors are wanted, those that are not settled get the least vertex of
    /// the frontier that leads there.
    pub(super) fn mark_neighbors<const NOTE: bool>(&self, marks: &[AtomicU8], predecessors: &[AtomicU32]) {
        const AHEAD: usize = 8;
        const LINE: usize = 16;
        const WAITING: usize = 1024;
        let (offsets, targets) = (self.graph.offsets(), self.graph.targets());
        let mut members = [0 as VertexId; CHUNK_VERTICES];
        // Neighbours whose marks are on their way into the cache.
        let mut waiting = [0 as VertexId; WAITING];
        // How many neighbours of which vertex are among them, one vertex after another.
        let mut tails = [(0 as VertexId, 0_usize); WAITING];
        assert!(!NOTE || predecessors.len() == self.levels.len(), "a predecessor for each vertex");
        while let Some(words) = self.take_chunk() {
            let mut count = 0;
            for word in words {
                for v in ones(word, self.frontier[word].load(Relaxed)) {
                    members[count] = v;
                    count += 1;
                }
            }
            let members = &members[..count];
            let (mut filled, mut parts) = (0, 0);
            let empty = |waiting: &[VertexId], tails: &[(VertexId, usize)]| {
                mark(marks, waiting);
                if NOTE {
                    self.note(waiting, tails, predecessors);
                }
            };
            for (index, &u) in members.iter().enumerate() {
                let soon = offsets[members[(index + AHEAD).min(count - 1)] as usize] as usize;
                prefetch(targets, soon);
                prefetch(targets, soon + LINE);
                for part in self.graph.neighbors(u).chunks(WAITING / 2) {
                    if filled + part.len() > WAITING {
                        empty(&waiting[..filled], &tails[..parts]);
                        (filled, parts) = (0, 0);
                    }
                    for (slot, &v) in waiting[filled..].iter_mut().zip(part) {
                        *slot = v;
                        prefetch_for_writing(marks, v as usize);
                    }
                    filled += part.len();
                    if NOTE {
                        // No part is empty, so there are as many at most as neighbours.
                        tails[parts] = (u, part.len());
                        parts += 1;
                    }
                }
            }
            empty(&waiting[..filled], &tails[..parts]);
        }
    }

    /// Gives each of these heads that is not settled the least tail: there are so many heads of each tail.
    fn note(&self, mut heads: &[VertexId], tails: &[(VertexId, usize)], predecessors: &[AtomicU32]) {
        for &(tail, count) in tails {
            let (some, later) = heads.split_at(count);
            heads = later;
            for &head in some {
                // SAFETY: heads of arcs are vertices, each of which has a bit and a predecessor.
                let (word, slot) = unsafe {
                    (self.settled.get_unchecked(head as usize / 64), predecessors.get_unchecked(head as usize))
                };
                if word.load(Relaxed) >> (head % 64) & 1 == 0 && tail < slot.load(Relaxed) {
                    slot.fetch_min(tail, Relaxed);
                }
            }
        }
    }

    /// Top-down, second part: of the vertices marked, those not settled are the next frontier. Counts its arcs, but
    /// no further than `enough`.
    pub(super) fn keep_unsettled(&self, marks: &[AtomicU8], words: std::ops::Range<usize>, enough: usize) {
        let (mut discovered, mut arcs) = (0, 0);
        for word in words {
            let mut marked = 0;
            let bytes = marks[64 * word..64 * (word + 1)].as_ptr().cast::<u64>().cast_mut();
            for group in 0..8 {
                // SAFETY: eight of the 64 marks of this word, which nobody else touches between two barriers; read
                // and written without asking for alignment.
                let eight = unsafe { bytes.add(group).read_unaligned() };
                if eight != 0 {
                    // SAFETY: as above; the marks are in cells that may be written through a shared reference.
                    unsafe { bytes.add(group).write_unaligned(0) };
                    // Each byte is 0 or 1: the product gathers the eight in the top byte.
                    marked |= (u64::from_le(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * group);
                }
            }
            let new = marked & !self.settled[word].load(Relaxed);
            self.settle(word, 0, new);
            discovered += new.count_ones() as usize;
            if arcs <= enough {
                arcs += ones(word, new).map(|v| self.graph.row(v).len()).sum::<usize>();
            }
        }
        self.round.discovered.fetch_add(discovered, Relaxed);
        self.round.arcs.fetch_add(arcs, Relaxed);
    }

    /// Writes the outcome for one word: its new vertices get the level, vertices without arcs are only settled.
    #[inline]
    fn settle(&self, word: usize, isolated: u64, new: u64) {
        self.next[word].store(new, Relaxed);
        if new | isolated != 0 {
            self.settled[word].store(self.settled[word].load(Relaxed) | new | isolated, Relaxed);
            for v in ones(word, new) {
                // SAFETY: vertices that do not exist are settled from the start, so `v` is a vertex.
                unsafe { self.levels.get_unchecked(v as usize) }.store(self.level, Relaxed);
            }
        }
    }

    /// Bottom-up: every vertex that is not settled looks for a neighbour in the frontier. Rows ascend, so the first one is its predecessor, which is
    /// noted if they are wanted.
    pub(super) fn bottom_up<const NOTE: bool>(&self, transpose: &Csr, predecessors: &[AtomicU32]) {
        const ONE_BY_ONE: usize = 4;
        let (offsets, targets) = (transpose.offsets(), transpose.targets());
        let in_frontier = |arc: usize| -> u64 {
            // SAFETY: callers ask for arcs that exist; their ends are vertices, and each has a bit.
            unsafe {
                let u = *targets.get_unchecked(arc);
                self.frontier.get_unchecked(u as usize / 64).load(Relaxed) >> (u % 64) & 1
            }
        };
        // Vertices without an answer: their next arc, the end of their row, their place in the chunk.
        let mut next_arc = [0_usize; CHUNK_VERTICES];
        let mut row_end = [0_usize; CHUNK_VERTICES];
        let mut place = [0_u16; CHUNK_VERTICES];
        // The neighbour that each vertex of the chunk has found, where it has.
        let mut neighbor = [NO_VERTEX; CHUNK_VERTICES];
        assert!(!NOTE || predecessors.len() == self.levels.len(), "a predecessor for each vertex");
        let (mut discovered, mut isolated_count) = (0, 0);
        while let Some(words) = self.take_chunk() {
            let mut found = [0_u64; CHUNK];
            let mut isolated = [0_u64; CHUNK];
            let mut open = 0;
            for (index, word) in words.clone().enumerate() {
                for v in ones(word, !self.settled[word].load(Relaxed)) {
                    // SAFETY: a vertex that is not settled exists, and has two offsets.
                    let (first, end) = unsafe {
                        (*offsets.get_unchecked(v as usize) as usize, *offsets.get_unchecked(v as usize + 1) as usize)
                    };
                    prefetch(targets, first);
                    isolated[index] |= u64::from(first == end) << (v % 64);
                    next_arc[open] = first;
                    row_end[open] = end;
                    place[open] = (64 * index) as u16 + (v % 64) as u16;
                    open += usize::from(first < end);
                }
            }
            while open > ONE_BY_ONE {
                let mut still_open = 0;
                for item in 0..open {
                    let (arc, end, at) = (next_arc[item], row_end[item], place[item] as usize);
                    let last = end - 1;
                    let hits = in_frontier(arc)
                        | in_frontier(last.min(arc + 1)) << 1
                        | in_frontier(last.min(arc + 2)) << 2
                        | in_frontier(last.min(arc + 3)) << 3;
                    let hit = u64::from(hits != 0);
                    if NOTE {
                        // SAFETY: an arc of the row, whichever it is; what is no hit is written over, or never read.
                        let first =
                            unsafe { *targets.get_unchecked(last.min(arc + (hits | 8).trailing_zeros() as usize)) };
                        neighbor[at % CHUNK_VERTICES] = first;
                    }
                    found[at / 64 % CHUNK] |= hit << (at % 64);
                    next_arc[still_open] = arc + 4;
                    row_end[still_open] = end;
                    place[still_open] = at as u16;
                    still_open += usize::from((arc + 4 < end) & (hit == 0));
                }
                open = still_open;
            }
            for item in 0..open {
                let at = place[item] as usize;
                let hit = (next_arc[item]..row_end[item]).find(|&arc| in_frontier(arc) != 0);
                if NOTE && let Some(arc) = hit {
                    neighbor[at % CHUNK_VERTICES] = targets[arc];
                }
                found[at / 64 % CHUNK] |= u64::from(hit.is_some()) << (at % 64);
            }
            for (index, word) in words.enumerate() {
                self.settle(word, isolated[index], found[index]);
                if NOTE {
                    for v in ones(word, found[index]) {
                        let at = 64 * index + v as usize % 64;
                        // SAFETY: as in `settle`, `v` is a vertex, and each has a predecessor's place.
                        let slot = unsafe { predecessors.get_unchecked(v as usize) };
                        slot.store(neighbor[at % CHUNK_VERTICES], Relaxed);
                    }
                }
                discovered += found[index].count_ones() as usize;
                isolated_count += isolated[index].count_ones() as usize;
            }
        }
        self.round.discovered.fetch_add(discovered, Relaxed);
        self.round.isolated.fetch_add(isolated_count, Relaxed);
    }
}

#[inline]
fn mark(marks: &[AtomicU8], vertices: &[VertexId]) {
    for &v in vertices {
        // SAFETY: these are heads of arcs, so vertices, and each has a mark.
        unsafe { marks.get_unchecked(v as usize) }.store(1, Relaxed);
    }
}

/// The vertices whose bits are set in the word with this index.
#[inline]
pub(super) fn ones(index: usize, mut word: u64) -> impl Iterator<Item = VertexId> {
    std::iter::from_fn(move || {
        (word != 0).then(|| {
            let bit = word.trailing_zeros();
            word &= word - 1;
            64 * index as VertexId + bit
        })
    })
}
