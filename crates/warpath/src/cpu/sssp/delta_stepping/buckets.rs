//! One thread's buckets: lists of small chunks, near ones kept apart, and all far ones together.

use super::{NONE, ThreadSearch};
use crate::graph::{MinPlus, VertexId};

/// Vertices that travel together between buckets and threads, at most.
const CHUNK: usize = 256;
/// How many empty chunks a thread keeps. Some came from other threads, which then have to make new chunks.
const SPARE: usize = 4096;

/// Buckets that are kept apart; vertices farther away wait together in one more bucket.
pub(super) const NEAR: u64 = 1024;

/// A list of vertices of the same bucket, at most [`CHUNK`].
pub(super) type Chunk = Vec<VertexId>;

/// One thread's share of a bucket.
#[derive(Default)]
pub(super) struct Bucket {
    pub(super) open: Chunk,
    pub(super) full: Vec<Chunk>,
}

impl Bucket {
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.full.is_empty()
    }

    /// Adds a vertex; returns whether that opened a chunk, as it does for the very first vertex.
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
pub(super) fn fresh(spare: &mut Vec<Chunk>) -> Chunk {
    spare.pop().unwrap_or_else(|| Vec::with_capacity(CHUNK))
}

/// Which of a thread's near buckets may not be empty, so that a thread without any sees that at a glance.
pub(super) struct Occupied {
    words: [u64; Self::WORDS],
}

impl Occupied {
    const BITS: usize = u64::BITS as usize;
    const WORDS: usize = NEAR as usize / Self::BITS;

    pub(super) fn new() -> Self {
        Occupied { words: [0; Self::WORDS] }
    }

    fn insert(&mut self, slot: usize) {
        self.words[slot / Self::BITS] |= 1 << (slot % Self::BITS);
    }

    fn remove(&mut self, slot: usize) {
        self.words[slot / Self::BITS] &= !(1 << (slot % Self::BITS));
    }

    /// How far ahead of this slot, itself included, the first occupied slot is.
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

impl<L: MinPlus, const ALONE: bool> ThreadSearch<'_, L, ALONE> {
    pub(super) fn recycle(&mut self, mut chunk: Chunk) {
        chunk.clear();
        if chunk.capacity() > 0 && self.spare.len() < SPARE {
            self.spare.push(chunk);
        }
    }

    /// The lowest of this thread's buckets that may not be empty. The current bucket is empty, and is noted as such.
    pub(super) fn next_bucket(&mut self) -> u64 {
        let slot = (self.current % NEAR) as usize;
        self.occupied.remove(slot);
        let near = self.occupied.distance_from(slot).map_or(NONE, |ahead| self.current + ahead as u64);
        near.min(self.far_least)
    }

    /// Makes `next` the current bucket, and sorts the far vertices into buckets if it is among these.
    pub(super) fn advance_to(&mut self, next: u64) {
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
    pub(super) fn push(&mut self, v: VertexId, index: u64) {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn the_next_occupied_bucket_is_found_around_the_end() {
        let mut random = Random(1);
        for round in 0..2_000 {
            let mut occupied = Occupied::new();
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
