//! One level top-down, from a list of vertices: by one thread, or by several that have a part of the list each.
//!
//! The textbook loop waits most of its time: for the row of the vertex that leaves the list, then for the levels of
//! its neighbours, and on the branch "seen before?", which nobody can predict. Three changes make it more than twice as
//! fast on roads. The list says what comes next, so offsets are prefetched [`OFFSETS_AHEAD`] vertices ahead and the
//! row itself [`ROW_AHEAD`] ahead. A neighbour is always written to the end of the next list, and the end moves on only if
//! it was new: no branch. And the first [`ALWAYS_PROBED`] neighbours are probed without asking how many there are, the
//! last one again where there are fewer: by then it is not new, and the usual short row has no unpredictable loop end.
//!
//! That is for roads, whose arcs nobody can predict. The lists that several threads share are those of meshes, of which each vertex is like the next: there branches are predicted, and
//! cost less than what is written in vain (a grid 23 for 31 ms on one thread of a *Xeon*, `rgg:20` 47 for 54; NW 20 for 9).
//!
//! Where several threads work, two may find the same vertex at the same time, and then both have it in their lists. Its level is the same, and
//! so is all that is found from it.
//!
//! Predecessors come on the way, if they are wanted, each the least vertex of the level before. In an undirected graph they take next to nothing: a vertex sees them among its neighbours when
//! its turn comes. Else each head keeps the least tail.
//!
//! *Invariants.* Offsets and heads are a `Csr`'s, which has checked them. There is room for whatever is found.

use std::hint::select_unpredictable;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use super::UNREACHED;
use crate::graph::{Csr, NO_VERTEX, VertexId};
use crate::prefetch::prefetch;

/// How many vertices ahead in the list offsets are prefetched.
const OFFSETS_AHEAD: usize = 64;
/// How many vertices ahead in the list the beginning of a row is prefetched: its offset has come by then.
const ROW_AHEAD: usize = 32;
/// How many neighbours are probed without asking whether there are that many.
const ALWAYS_PROBED: usize = 3;

/// Where a level is noted, and the tails of the arcs that lead to it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Noted<'a> {
    /// A level for each vertex.
    pub(super) levels: &'a [AtomicU32],
    /// A predecessor for each vertex, if they are wanted.
    pub(super) predecessors: Option<&'a [AtomicU32]>,
    /// Whether every arc has its reverse.
    pub(super) undirected: bool,
}

/// How predecessors are found.
trait Tails {
    /// Whether a vertex finds its own among its neighbours.
    const OWN: bool;

    /// Notes an arc from `tail` to `head`, if it leads to the next level; or the vertex that leads to `head`.
    ///
    /// # Safety
    ///
    /// There is room for `head`.
    unsafe fn note(&self, head: VertexId, tail: VertexId, leads_on: bool);
}

/// None are wanted.
struct Nowhere;

impl Tails for Nowhere {
    const OWN: bool = false;

    #[inline(always)]
    unsafe fn note(&self, _: VertexId, _: VertexId, _: bool) {}
}

/// Those of the vertices in the list.
struct OfList<'a>(&'a [AtomicU32]);

impl Tails for OfList<'_> {
    const OWN: bool = true;

    #[inline(always)]
    unsafe fn note(&self, head: VertexId, tail: VertexId, _: bool) {
        // SAFETY: there is room for `head`, by the contract.
        unsafe { self.0.get_unchecked(head as usize) }.store(tail, Relaxed);
    }
}

/// The least tail of each head, found by one thread or by several.
struct OfHeads<'a, const SHARED: bool>(&'a [AtomicU32]);

impl<const SHARED: bool> Tails for OfHeads<'_, SHARED> {
    const OWN: bool = false;

    #[inline(always)]
    unsafe fn note(&self, head: VertexId, tail: VertexId, leads_on: bool) {
        // SAFETY: there is room for `head`, by the contract.
        let slot = unsafe { self.0.get_unchecked(head as usize) };
        let least = slot.load(Relaxed);
        if !SHARED {
            // Without a branch, which nobody could predict.
            slot.store(least.min(select_unpredictable(leads_on, tail, VertexId::MAX)), Relaxed);
        } else if leads_on && tail < least {
            slot.fetch_min(tail, Relaxed);
        }
    }
}

impl Noted<'_> {
    /// Gives `level`, which is above 0, to every neighbour of the vertices in `list` that has none, and writes these neighbours to `found`. Returns how many there
    /// are. If the graph is undirected, the vertices of the list get their predecessors, else the neighbours. With `SHARED`, others may do the same
    /// for other vertices.
    ///
    /// # Safety
    ///
    /// `found` has room for each neighbour that has no level, once, and one more. `list` has vertices of `graph`, which have the level before.
    ///
    /// # Panics
    ///
    /// If there is not a level, and a predecessor, for each vertex.
    pub(super) unsafe fn expand<const SHARED: bool>(
        &self,
        graph: &Csr,
        list: &[VertexId],
        level: u32,
        found: *mut VertexId,
    ) -> usize {
        assert!(self.levels.len() == graph.vertices(), "a level for each vertex");
        let Some(predecessors) = self.predecessors else {
            // SAFETY: the caller's promise.
            return unsafe { self.expand_with::<SHARED, _>(graph, list, level, found, &Nowhere) };
        };
        assert!(predecessors.len() == graph.vertices(), "a predecessor for each vertex");
        // SAFETY: the caller's promise.
        unsafe {
            match self.undirected {
                // Nothing leads to where a search begins.
                true if level == 1 => self.expand_with::<SHARED, _>(graph, list, level, found, &Nowhere),
                true => self.expand_with::<SHARED, _>(graph, list, level, found, &OfList(predecessors)),
                false => self.expand_with::<SHARED, _>(graph, list, level, found, &OfHeads::<SHARED>(predecessors)),
            }
        }
    }

    /// # Safety
    ///
    /// As of [`Noted::expand`], and there is room for the predecessor of each vertex.
    #[inline(always)]
    unsafe fn expand_with<const SHARED: bool, T: Tails>(
        &self,
        graph: &Csr,
        list: &[VertexId],
        level: u32,
        found: *mut VertexId,
        tails: &T,
    ) -> usize {
        let (offsets, targets, levels) = (graph.offsets(), graph.targets(), self.levels);
        // The level before that of the list, which nobody looks for where that is 0.
        let before = level.wrapping_sub(2);
        let mut count = 0;
        let mut probe = |v: VertexId, u: usize, own: &mut VertexId| {
            // SAFETY: heads of arcs are vertices, so there is a level, and room for a predecessor. `count` rises only past
            // vertices that had no level and now have one: at most once for each, and there is room for one more than that.
            unsafe {
                let slot = levels.get_unchecked(v as usize);
                let there = slot.load(Relaxed);
                let unseen = there == UNREACHED;
                if T::OWN {
                    *own = (*own).min(select_unpredictable(there == before, v, NO_VERTEX));
                } else {
                    tails.note(v, u as VertexId, there.min(level) == level);
                }
                if !SHARED {
                    slot.store(there.min(level), Relaxed);
                    found.add(count).write(v);
                    count += usize::from(unseen);
                } else if unseen {
                    slot.store(level, Relaxed);
                    found.add(count).write(v);
                    count += 1;
                }
            }
        };
        for (place, &u) in list.iter().enumerate() {
            let last = list.len() - 1;
            // SAFETY: vertices have two offsets each; these ascend to `targets.len()`, as every `Csr` guarantees.
            unsafe {
                prefetch(offsets, *list.get_unchecked((place + OFFSETS_AHEAD).min(last)) as usize);
                let next = *list.get_unchecked((place + ROW_AHEAD).min(last));
                prefetch(targets, *offsets.get_unchecked(next as usize) as usize);
                let u = u as usize;
                let (first, after) = (*offsets.get_unchecked(u) as usize, *offsets.get_unchecked(u + 1) as usize);
                if first < after {
                    let mut own = NO_VERTEX;
                    let always = if SHARED { 0 } else { ALWAYS_PROBED };
                    for arc in first..first + always {
                        probe(*targets.get_unchecked(arc.min(after - 1)), u, &mut own);
                    }
                    for arc in first + always..after {
                        probe(*targets.get_unchecked(arc), u, &mut own);
                    }
                    if T::OWN {
                        tails.note(u as VertexId, own, true);
                    }
                }
            }
        }
        count
    }

    /// Gives the vertices of this level, which will not be expanded, their predecessors, which are in `before`: at the end of a search, or where it goes on in another way. Of all
    /// vertices with arcs between the two, those before may be few, and have few arcs.
    pub(super) fn finish(&self, graph: &Csr, before: &[VertexId], level: u32) {
        let Some(predecessors) = self.predecessors.filter(|_| self.undirected) else { return };
        for &u in before {
            for &v in graph.neighbors(u) {
                let (there, least) = (&self.levels[v as usize], &predecessors[v as usize]);
                if there.load(Relaxed) == level && u < least.load(Relaxed) {
                    least.store(u, Relaxed);
                }
            }
        }
    }
}
