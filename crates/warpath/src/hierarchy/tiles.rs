//! The bottom of the elimination tree in tiles: what a warp of a device works on at once.
//!
//! A tile takes a subtree, or several that follow each other in the order of elimination. It reads the distances of what is above them and
//! works out those of their vertices. Every distance has a slot: first come those of the vertices, in the order in which they
//! are worked out, then those that are read.
//!
//! Arcs are worked on four at a time. No arc leads from a vertex whose last arc is among the same four, so the distances of four
//! can be read at once. Vertices of the same depth follow each other, which leaves few gaps to be filled.

use rayon::prelude::*;

use super::elimination::Elimination;
use crate::memory::grow;
use crate::{Error, Result};

/// Arcs that are worked on at once.
pub(crate) const BATCH: usize = 4;

/// An arc that is there only to fill a batch. There are fewer arcs than this.
pub(crate) const NO_ARC: u32 = u32::MAX;

/// What memory of these is short of.
const WHAT: &str = "tiles of a hierarchy";

/// How large a tile may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Its vertices and their boundary: at most 254.
    pub(crate) slots: usize,
    /// The arcs of its vertices, and those that fill up batches.
    pub(crate) arcs: usize,
    /// Whether it may have several subtrees.
    pub(crate) together: bool,
}

/// Ranks that follow each other, and are connected in the tree. The last of them is above all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Piece {
    /// The topmost rank.
    pub(crate) fn top(self) -> usize {
        (self.first + self.count) as usize - 1
    }

    /// From the top down.
    pub(crate) fn ranks(self) -> impl DoubleEndedIterator<Item = usize> {
        (self.first as usize..=self.top()).rev()
    }
}

/// Some subtrees: parts of the lists of [`Tiles`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tile {
    /// The ranks are among these.
    pub(crate) first: u32,
    pub(crate) last: u32,
    pub(crate) loads: u32,
    pub(crate) load_count: u32,
    pub(crate) batches: u32,
    pub(crate) batch_count: u32,
    pub(crate) ranks: u32,
    pub(crate) rank_count: u32,
}

/// A vertex of a front whose distances are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Load {
    pub(crate) slot: u32,
    pub(crate) rank: u32,
}

/// An arc to a vertex of a subtree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Step {
    /// The slot of its tail in the lowest byte. If it is the last one of its head, one more than the slot of that in the rest.
    pub(crate) slots: u32,
    /// Its place among the shortcuts, or [`NO_ARC`].
    pub(crate) arc: u32,
}

impl Step {
    /// The slot of the tail.
    pub(crate) fn tail(self) -> usize {
        (self.slots & 0xff) as usize
    }

    /// The slot of the head, if this is its last arc.
    pub(crate) fn ends(self) -> Option<usize> {
        (self.slots as usize >> 8).checked_sub(1)
    }
}

/// All tiles. Each vertex that is in no front is in one of them.
#[derive(Debug, Default)]
pub(crate) struct Tiles {
    pub(crate) tiles: Vec<Tile>,
    pub(crate) loads: Vec<Load>,
    /// Of each tile by slots.
    pub(crate) ranks: Vec<u32>,
    /// [`BATCH`] for each batch.
    pub(crate) steps: Vec<Step>,
    /// The most slots of a tile, one of them for tails of arcs that fill a batch: always the last.
    pub(crate) slots: usize,
    /// The most steps of a tile.
    pub(crate) most_steps: usize,
}

impl Tiles {
    /// How many steps a rank takes at most: to its arcs, or one, and to the end of a batch.
    pub(super) fn most_arcs(elimination: &Elimination, rank: usize) -> u64 {
        (elimination.row(rank).len().max(1) + BATCH - 1) as u64
    }

    /// Tiles of subtrees, which ascend. O(V log V), in parallel.
    pub(super) fn new(elimination: &Elimination, subtrees: &[Piece], limits: Limits) -> Result<Self> {
        /// Tiles that a thread makes at once.
        const TOGETHER: usize = 256;
        let packs = packed(elimination, subtrees, limits)?;
        let parts: Vec<Tiles> = packs
            .par_chunks(TOGETHER)
            .map(|packs| {
                let mut maker = Maker::new(elimination);
                packs.iter().try_for_each(|pack| maker.add(pack)).map(|()| maker.made)
            })
            .collect::<Result<_>>()?;
        let mut all = Tiles::default();
        parts.iter().try_for_each(|part| all.append(part))?;
        all.slots += 1;
        Ok(all)
    }

    fn append(&mut self, other: &Tiles) -> Result<()> {
        let begin = |length: usize, more: usize| -> Result<u32> {
            let fits = u32::try_from(length + more).is_ok();
            if fits { Ok(length as u32) } else { Err(Error::invalid("the hierarchy is too large for a device")) }
        };
        let loads = begin(self.loads.len(), other.loads.len())?;
        let batches = begin(self.steps.len() / BATCH, other.steps.len() / BATCH)?;
        let ranks = begin(self.ranks.len(), other.ranks.len())?;
        grow(WHAT, &mut self.tiles, other.tiles.len())?;
        self.tiles.extend(other.tiles.iter().map(|tile| Tile {
            loads: tile.loads + loads,
            batches: tile.batches + batches,
            ranks: tile.ranks + ranks,
            ..*tile
        }));
        grow(WHAT, &mut self.loads, other.loads.len())?;
        self.loads.extend_from_slice(&other.loads);
        grow(WHAT, &mut self.ranks, other.ranks.len())?;
        self.ranks.extend_from_slice(&other.ranks);
        grow(WHAT, &mut self.steps, other.steps.len())?;
        self.steps.extend_from_slice(&other.steps);
        self.slots = self.slots.max(other.slots);
        self.most_steps = self.most_steps.max(other.most_steps);
        Ok(())
    }
}

/// The vertices above a subtree that its arcs lead from.
fn boundary(elimination: &Elimination, subtree: Piece) -> &[u32] {
    &elimination.heads[elimination.row(subtree.top())]
}

/// The subtrees of each tile: as many as fit, if it may have several.
fn packed<'a>(elimination: &Elimination, subtrees: &'a [Piece], limits: Limits) -> Result<Vec<&'a [Piece]>> {
    let mut packs = Vec::new();
    let (mut above, mut joined): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
    let (mut begin, mut vertices, mut arcs) = (0, 0, 0);
    for (index, &subtree) in subtrees.iter().enumerate() {
        let more: u64 = subtree.ranks().map(|rank| Tiles::most_arcs(elimination, rank)).sum();
        join(&above, boundary(elimination, subtree), &mut joined);
        vertices += subtree.count as usize;
        arcs += more;
        let fits = limits.together && vertices + joined.len() <= limits.slots && arcs <= limits.arcs as u64;
        if fits || index == begin {
            std::mem::swap(&mut above, &mut joined);
            continue;
        }
        grow(WHAT, &mut packs, 1)?;
        packs.push(&subtrees[begin..index]);
        (begin, vertices, arcs) = (index, subtree.count as usize, more);
        above.clear();
        above.extend_from_slice(boundary(elimination, subtree));
    }
    if begin < subtrees.len() {
        grow(WHAT, &mut packs, 1)?;
        packs.push(&subtrees[begin..]);
    }
    Ok(packs)
}

/// Puts two ascending lists together.
fn join(a: &[u32], b: &[u32], to: &mut Vec<u32>) {
    to.clear();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let next = match (a.get(i), b.get(j)) {
            (Some(&x), Some(&y)) => x.min(y),
            (Some(&x), None) => x,
            (_, y) => *y.expect("one list has not ended"),
        };
        i += usize::from(a.get(i) == Some(&next));
        j += usize::from(b.get(j) == Some(&next));
        to.push(next);
    }
}

/// Makes tiles one after another.
struct Maker<'a> {
    elimination: &'a Elimination,
    made: Tiles,
    /// What is above the subtrees, and more of it.
    above: Vec<u32>,
    joined: Vec<u32>,
    /// Each rank that has a slot, with that.
    slots: Vec<(u32, u32)>,
    /// The ranks of subtrees with their depths there, from the top down.
    order: Vec<(u32, u32)>,
}

impl<'a> Maker<'a> {
    fn new(elimination: &'a Elimination) -> Self {
        let (above, joined, slots, order) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Maker { elimination, made: Tiles::default(), above, joined, slots, order }
    }

    fn add(&mut self, subtrees: &[Piece]) -> Result<()> {
        let elimination = self.elimination;
        self.above.clear();
        self.order.clear();
        for &subtree in subtrees {
            join(&self.above, boundary(elimination, subtree), &mut self.joined);
            std::mem::swap(&mut self.above, &mut self.joined);
            let top = elimination.depths[subtree.top()];
            self.order.extend(subtree.ranks().map(|rank| (elimination.depths[rank] - top, rank as u32)));
        }
        self.order.sort_by_key(|&(depth, _)| depth);
        let made = &mut self.made;
        let (loads, ranks, steps) = (made.loads.len(), made.ranks.len(), made.steps.len());
        grow(WHAT, &mut made.ranks, self.order.len())?;
        made.ranks.extend(self.order.iter().map(|&(_, rank)| rank));
        self.slots.clear();
        self.slots.extend(self.order.iter().map(|&(_, rank)| rank).chain(self.above.iter().copied()).zip(0..));
        grow(WHAT, &mut made.loads, self.above.len())?;
        made.loads.extend(self.slots[self.order.len()..].iter().map(|&(rank, slot)| Load { slot, rank }));
        made.slots = made.slots.max(self.slots.len());
        self.slots.sort_unstable();
        self.add_steps()?;
        let made = &mut self.made;
        let step_count = made.steps.len() - steps;
        made.most_steps = made.most_steps.max(step_count);
        grow(WHAT, &mut made.tiles, 1)?;
        made.tiles.push(Tile {
            first: subtrees.first().map_or(0, |subtree| subtree.first),
            last: subtrees.last().map_or(0, |subtree| subtree.top() as u32),
            loads: loads as u32,
            load_count: self.above.len() as u32,
            batches: (steps / BATCH) as u32,
            batch_count: (step_count / BATCH) as u32,
            ranks: ranks as u32,
            rank_count: self.order.len() as u32,
        });
        Ok(())
    }

    /// The slot of a rank that has one.
    fn slot(&self, rank: u32) -> u32 {
        let place = self.slots.binary_search_by_key(&rank, |&(of, _)| of);
        self.slots[place.expect("everything that a tile needs has a slot")].1
    }

    /// Lists the arcs to the vertices of subtrees.
    fn add_steps(&mut self) -> Result<()> {
        let elimination = self.elimination;
        // The slots that the arcs of the batch before now store.
        let mut stored: Vec<u32> = Vec::with_capacity(BATCH);
        let filler = Step { slots: NO_SLOT, arc: NO_ARC };
        for place in 0..self.order.len() {
            let rank = self.order[place].1 as usize;
            let row = elimination.row(rank);
            grow(WHAT, &mut self.made.steps, row.len() + 2 * BATCH)?;
            // The nearest ancestor last: of all it is the one that may just have been stored.
            for arc in row.clone().rev() {
                let slots = self.slot(elimination.heads[arc]);
                let steps = &mut self.made.steps;
                if stored.contains(&slots) {
                    steps.resize(steps.len().next_multiple_of(BATCH), filler);
                }
                if steps.len().is_multiple_of(BATCH) {
                    stored.clear();
                }
                steps.push(Step { slots, arc: arc as u32 });
            }
            let slot = self.slot(rank as u32);
            let steps = &mut self.made.steps;
            if row.is_empty() {
                if steps.len().is_multiple_of(BATCH) {
                    stored.clear();
                }
                steps.push(filler);
            }
            let last = steps.last_mut().expect("each vertex has a step");
            last.slots |= (slot + 1) << 8;
            stored.push(slot);
        }
        let steps = &mut self.made.steps;
        steps.resize(steps.len().next_multiple_of(BATCH), filler);
        Ok(())
    }
}

/// The slot that arcs lead from that only fill a batch. A device puts its last one there.
pub(crate) const NO_SLOT: u32 = 0xff;

#[cfg(test)]
impl Tiles {
    /// Whether the tiles keep to their definition.
    pub(super) fn check(&self, name: &str, elimination: &Elimination, limits: Limits, is_front: &dyn Fn(u32) -> bool) {
        let count = elimination.count() as u32;
        // All vertices of fronts, and their arcs.
        let mut is_done: Vec<_> = (0..count).map(is_front).collect();
        let mut arcs = vec![false; elimination.heads.len()];
        (0..count).filter(|&rank| is_front(rank)).for_each(|rank| arcs[elimination.row(rank as usize)].fill(true));
        for tile in &self.tiles {
            let ranks = &self.ranks[tile.ranks as usize..][..tile.rank_count as usize];
            // The rank in each slot that has its distance.
            let mut slots = vec![None; self.slots - 1];
            let loads = &self.loads[tile.loads as usize..][..tile.load_count as usize];
            assert!(loads.iter().map(|load| load.slot).eq((tile.rank_count..).take(loads.len())), "{name}: slots");
            for load in loads {
                assert!(is_front(load.rank), "{name}: rank {} is read before it is written", load.rank);
                assert_eq!(slots[load.slot as usize].replace(load.rank), None, "{name}");
            }
            let steps = &self.steps[tile.batches as usize * BATCH..][..tile.batch_count as usize * BATCH];
            assert!(steps.len() <= self.most_steps && ranks.len() + tile.load_count as usize <= limits.slots, "{name}");
            let (mut tails, mut next) = (Vec::new(), 0);
            for batch in steps.chunks(BATCH) {
                let begin = next;
                for step in batch {
                    if step.arc == NO_ARC {
                        assert_eq!(step.slots & 0xff, NO_SLOT, "{name}");
                    } else {
                        assert!(
                            !std::mem::replace(&mut arcs[step.arc as usize], true),
                            "{name}: an arc is there twice"
                        );
                        // What is read in a batch was there before it.
                        let rank = slots[(step.slots & 0xff) as usize].expect("the tail has its distance");
                        assert_eq!(rank, elimination.heads[step.arc as usize], "{name}");
                        tails.push(step.arc as usize);
                    }
                    if step.slots > 0xff {
                        assert_eq!((step.slots >> 8) as usize, next + 1, "{name}: slots don't follow each other");
                        let rank = ranks[next];
                        assert!((tile.first..=tile.last).contains(&rank), "{name}");
                        assert!(!std::mem::replace(&mut is_done[rank as usize], true), "{name}: {rank} is there twice");
                        tails.sort_unstable();
                        assert!(tails.drain(..).eq(elimination.row(rank as usize)), "{name}: other arcs");
                        next += 1;
                    }
                }
                (begin..next).for_each(|slot| assert_eq!(slots[slot].replace(ranks[slot]), None, "{name}"));
            }
            assert_eq!(next, ranks.len(), "{name}");
        }
        assert!(is_done.into_iter().all(|is_done| is_done), "{name}: a vertex has no distance");
        assert!(arcs.into_iter().all(|is_there| is_there), "{name}: an arc is missing");
    }
}
