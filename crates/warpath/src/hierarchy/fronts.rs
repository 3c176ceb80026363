//! Elimination by fronts: the lengths of shortcuts through dense little matrices.
//!
//! Eliminating a vertex offers a way between each two of its later neighbours. Looking up the shortcut between the two is most
//! of the work if it is done for each pair. But all later neighbours of a vertex except its parent are neighbours of the
//! parent. So the vertex hands all ways on to its parent, as a matrix of the parent's later neighbours: a *front*. The parent
//! takes its own lengths out of it, adds the ways through itself, and hands the rest on. Only the places of a vertex's
//! neighbours among those of its parent are looked up, once for all pairs, and where a vertex and its parent have the same
//! neighbours the matrix stays where it is (Duff, Reid, *The multifrontal solution of indefinite sparse symmetric linear
//! equations*, 1983, with minimum and addition). Where fronts are wide, several vertices share one ([`chains`]).
//!
//! A parent may have a thousand times as many later neighbours as a child. Such a child's matrix waits as it is for the parent, as a
//! *part* of the parent's front, until the parent is eliminated, or until all parts have a quarter of the whole front's cells.
//!
//! Children come before their parent. Of two children with large subtrees that with the larger one comes first, so at most
//! log2(vertices) fronts of large subtrees wait at a time, and some of small ones and parts beside each.
//!
//! Several metrics go through together: a cell has a length of each.
//!
//! *Invariants.* A function compiled for more instructions is called only where the processor was asked for them.

mod chains;

use std::ops::Range;

use super::elimination::{Elimination, ROOT};
use crate::Result;
use crate::graph::{DistanceValue, MinPlus};
#[cfg(target_arch = "x86_64")]
use crate::instructions::InstructionSet;
use crate::memory::resize;

/// What memory of these is short of.
const WHAT: &str = "the fronts of an elimination";

/// Whether vertices of this elimination share a front.
#[cfg(test)]
pub(super) fn has_wide_chain(elimination: &Elimination) -> bool {
    let end = elimination.count();
    (0..end).any(|rank| chains::wide_chain(elimination, rank, end).is_some())
}

/// A length of each of several metrics.
pub(super) type Cell<D, const L: usize> = [D; L];

/// Owners with so many later neighbours have fronts in parts.
const WIDE: usize = 64;

/// The best ways so far between a vertex and its later neighbours, or some of these, through vertices below it.
pub(super) struct Front<D, const L: usize> {
    /// The vertex that takes it up.
    owner: u32,
    /// The places of the other vertices in [`Elimination::heads`]: all later neighbours of the owner, or those of a child, of
    /// which the owner is the first.
    others: Range<usize>,
    /// How many rows and columns there are: those of vertices that have been eliminated, the owner's, and those of the others,
    /// in ascending order.
    stride: usize,
    /// How many have been eliminated.
    first: usize,
    /// Of a part: its cells, and those of all parts with the same owner below it in the list of open fronts.
    waiting: usize,
    /// The way from each row's vertex to each column's. Of symmetric lengths those above the diagonal alone.
    cells: Vec<Cell<D, L>>,
}

impl<D: DistanceValue, const L: usize> Front<D, L> {
    /// A row from a column on; both count from the owner on.
    #[inline(always)]
    fn row(&self, row: usize, column: usize) -> &[Cell<D, L>] {
        let start = (self.first + row) * self.stride;
        &self.cells[start + self.first + column..start + self.stride]
    }

    #[inline(always)]
    fn row_mut(&mut self, row: usize, column: usize) -> &mut [Cell<D, L>] {
        let start = (self.first + row) * self.stride;
        &mut self.cells[start + self.first + column..start + self.stride]
    }

    /// How many rows and columns matter: the owner's, and those of the others.
    fn side(&self) -> usize {
        self.stride - self.first
    }

    /// Whether this is the front of a vertex with all its later neighbours.
    #[inline(always)]
    fn is_whole(&self, elimination: &Elimination, owner: u32) -> bool {
        self.owner == owner && self.others == elimination.row(owner as usize)
    }
}

/// The lengths of some ranks' rows for several metrics. Those downwards are empty if they are the same.
pub(super) struct Rows<'a, D, const L: usize> {
    /// The place of the first length.
    pub(super) start: usize,
    pub(super) up: [&'a mut [D]; L],
    pub(super) down: [&'a mut [D]; L],
}

/// Eliminates one vertex after another.
pub(super) struct Eliminating<'a, D, const L: usize> {
    elimination: &'a Elimination,
    directed: bool,
    /// Whether other threads help with wide fronts.
    shares: bool,
    /// The fronts that wait for their owners, of which each is an ancestor of the next, or the same.
    pub(super) open: Vec<Front<D, L>>,
    /// Memory of fronts that are done.
    spare: Vec<Vec<Cell<D, L>>>,
    /// The lengths of the current vertex.
    up: Vec<Cell<D, L>>,
    down: Vec<Cell<D, L>>,
    /// The places of its later neighbours in the front of its parent.
    places: Vec<u32>,
}

/// Lowers each length to the way `there` and `back`.
#[inline(always)]
fn relax<S: MinPlus, const L: usize>(
    cell: &mut Cell<S::Distance, L>,
    there: &Cell<S::Distance, L>,
    back: &Cell<S::Distance, L>,
) {
    for lane in 0..L {
        let length = S::join(there[lane], back[lane]);
        cell[lane] = if length < cell[lane] { length } else { cell[lane] };
    }
}

#[inline(always)]
fn lower<D: DistanceValue, const L: usize>(cell: &mut Cell<D, L>, other: &Cell<D, L>) {
    for (mine, &theirs) in cell.iter_mut().zip(other) {
        *mine = if theirs < *mine { theirs } else { *mine };
    }
}

impl<'a, D: DistanceValue, const L: usize> Eliminating<'a, D, L> {
    /// `shares` is whether other threads help with wide fronts.
    pub(super) fn new(elimination: &'a Elimination, directed: bool, shares: bool) -> Self {
        Eliminating {
            elimination,
            directed,
            shares,
            open: Vec::new(),
            spare: Vec::new(),
            up: Vec::new(),
            down: Vec::new(),
            places: Vec::new(),
        }
    }

    /// Settles the lengths of these ranks, ascending, of which every child has been eliminated or is among them.
    pub(super) fn eliminate<S: MinPlus<Distance = D>>(
        &mut self,
        ranks: Range<usize>,
        rows: &mut Rows<'_, D, L>,
    ) -> Result<()> {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx2")]
            fn avx2<S: MinPlus, const L: usize>(
                eliminating: &mut Eliminating<'_, S::Distance, L>,
                ranks: Range<usize>,
                rows: &mut Rows<'_, S::Distance, L>,
            ) -> Result<()> {
                eliminating.eliminate_anywhere::<S>(ranks, rows)
            }
            if InstructionSet::detect() != InstructionSet::Portable {
                // SAFETY: this processor has these instructions.
                return unsafe { avx2::<S, L>(self, ranks, rows) };
            }
        }
        self.eliminate_anywhere::<S>(ranks, rows)
    }

    #[inline(always)]
    fn eliminate_anywhere<S: MinPlus<Distance = D>>(
        &mut self,
        ranks: Range<usize>,
        rows: &mut Rows<'_, D, L>,
    ) -> Result<()> {
        if self.directed { self.settle_all::<S, true>(ranks, rows) } else { self.settle_all::<S, false>(ranks, rows) }
    }

    #[inline(always)]
    fn settle_all<S: MinPlus<Distance = D>, const DIRECTED: bool>(
        &mut self,
        ranks: Range<usize>,
        rows: &mut Rows<'_, D, L>,
    ) -> Result<()> {
        let mut next = ranks.start;
        while next < ranks.end {
            if let Some(end) = chains::wide_chain(self.elimination, next, ranks.end) {
                self.settle_together::<S, DIRECTED>(next..end, rows)?;
                next = end;
            } else {
                self.settle::<S, DIRECTED>(next, rows)?;
                next += 1;
            }
        }
        Ok(())
    }

    /// Takes the lengths of a vertex out of its front, and hands the ways through it on to its parent.
    #[inline(always)]
    fn settle<S: MinPlus<Distance = D>, const DIRECTED: bool>(
        &mut self,
        rank: usize,
        rows: &mut Rows<'_, D, L>,
    ) -> Result<()> {
        let front = self.take_front::<DIRECTED>(rank)?;
        self.read_row::<DIRECTED>(rank, front.as_ref(), rows);
        let parent = self.elimination.parents[rank];
        if parent == ROOT {
            self.spare.extend(front.map(|front| front.cells));
            return Ok(());
        }
        if self.up.len() == 1 {
            // There is no way between two neighbours.
            self.spare.extend(front.map(|front| front.cells));
            return Ok(());
        }
        if let Some(mut front) = front {
            if !self.is_open(parent) && self.up.len() == self.elimination.row(parent as usize).len() + 1 {
                // The parent has the same neighbours.
                self.pass::<S, DIRECTED>(&mut front);
                front.owner = parent;
                front.others = self.elimination.row(parent as usize);
                self.open.push(front);
                return Ok(());
            }
            self.open_above::<DIRECTED>(rank)?;
            self.add::<S, DIRECTED>(rank, |row, cell, column| lower(cell, &front.row(row + 1, 1)[column]));
            self.spare.push(front.cells);
        } else {
            self.open_above::<DIRECTED>(rank)?;
            self.add::<S, DIRECTED>(rank, |_, _, _| ());
        }
        Ok(())
    }

    /// The front of a vertex, if there is one: of all its parts.
    #[inline(always)]
    fn take_front<const DIRECTED: bool>(&mut self, rank: usize) -> Result<Option<Front<D, L>>> {
        let is_owner = |front: &mut Front<D, L>| front.owner as usize == rank;
        let Some(front) = self.open.pop_if(is_owner) else { return Ok(None) };
        if front.is_whole(self.elimination, rank as u32) && !self.open.last_mut().is_some_and(is_owner) {
            return Ok(Some(front));
        }
        self.open.push(front);
        Ok(Some(self.join_parts::<DIRECTED>(rank)?))
    }

    /// The whole front of a vertex, of all parts that wait for it.
    fn join_parts<const DIRECTED: bool>(&mut self, rank: usize) -> Result<Front<D, L>> {
        let others = self.elimination.row(rank);
        let cells = self.assemble::<DIRECTED>(&(rank..rank + 1), &self.elimination.heads[others.clone()])?;
        Ok(Front { owner: rank as u32, stride: others.len() + 1, others, first: 0, waiting: 0, cells })
    }

    /// Settles the lengths of a vertex.
    #[inline(always)]
    fn read_row<const DIRECTED: bool>(&mut self, rank: usize, front: Option<&Front<D, L>>, rows: &mut Rows<'_, D, L>) {
        let row = self.elimination.row(rank);
        let width = row.len();
        let start = row.start - rows.start;
        self.up.clear();
        self.up.extend((0..width).map(|at| std::array::from_fn(|lane| rows.up[lane][start + at])));
        if DIRECTED {
            self.down.clear();
            self.down.extend((0..width).map(|at| std::array::from_fn(|lane| rows.down[lane][start + at])));
        }
        let Some(front) = front else { return };
        for (at, (mine, theirs)) in self.up.iter_mut().zip(front.row(0, 1)).enumerate() {
            lower(mine, theirs);
            (0..L).for_each(|lane| rows.up[lane][start + at] = mine[lane]);
        }
        if DIRECTED {
            for (at, mine) in self.down.iter_mut().enumerate() {
                lower(mine, &front.row(at + 1, 0)[0]);
                (0..L).for_each(|lane| rows.down[lane][start + at] = mine[lane]);
            }
        }
    }

    /// Adds the ways through the owner of a front, whose lengths are settled, to the front.
    #[inline(always)]
    fn pass<S: MinPlus<Distance = D>, const DIRECTED: bool>(&self, front: &mut Front<D, L>) {
        front.first += 1;
        for (at, back) in self.down::<DIRECTED>().iter().enumerate() {
            let column = if DIRECTED { 0 } else { at + 1 };
            for (cell, up) in front.row_mut(at, column).iter_mut().zip(&self.up[column.min(self.up.len())..]) {
                relax::<S, L>(cell, back, up);
            }
        }
    }

    #[inline(always)]
    fn down<const DIRECTED: bool>(&self) -> &[Cell<D, L>] {
        if DIRECTED { &self.down } else { &self.up }
    }

    /// Whether the last front is the whole one of this vertex.
    #[inline(always)]
    fn is_open(&self, owner: u32) -> bool {
        self.open.last().is_some_and(|front| front.is_whole(self.elimination, owner))
    }

    /// Whether a vertex has far fewer later neighbours than its parent, so that its front is a part of the parent's.
    #[inline(always)]
    fn is_part(&self, rank: usize) -> bool {
        let (few, many) = (self.elimination.row(rank).len(), self.elimination.row(self.parent(rank)).len());
        many >= WIDE && many / few >= 2
    }

    fn parent(&self, rank: usize) -> usize {
        self.elimination.parents[rank] as usize
    }

    /// Makes the last front one of a vertex's parent, with all later neighbours of the vertex.
    #[inline(always)]
    fn open_above<const DIRECTED: bool>(&mut self, rank: usize) -> Result<()> {
        let owner = self.elimination.parents[rank];
        self.join_many_parts::<DIRECTED>(owner)?;
        if self.is_open(owner) {
            return Ok(());
        }
        let others = if self.is_part(rank) {
            let row = self.elimination.row(rank);
            row.start + 1..row.end
        } else {
            self.elimination.row(owner as usize)
        };
        let stride = others.len() + 1;
        // A small part would take memory away from whole fronts.
        let is_small = self.is_part(rank) && stride < WIDE;
        let mut cells = if is_small { Vec::new() } else { self.spare.pop().unwrap_or_default() };
        cells.clear();
        resize(WHAT, &mut cells, stride * stride, [D::UNREACHABLE; L])?;
        self.wait(Front { owner, others, stride, first: 0, waiting: 0, cells });
        Ok(())
    }

    /// Lets a front wait for its owner.
    #[inline(always)]
    fn wait(&mut self, mut front: Front<D, L>) {
        let before = self.open.last().filter(|last| last.owner == front.owner).map_or(0, |last| last.waiting);
        if !front.is_whole(self.elimination, front.owner) {
            front.waiting = before + front.cells.len();
        }
        self.open.push(front);
    }

    /// Joins the parts that wait for an owner once they have a quarter of the cells of its whole front.
    #[inline(always)]
    fn join_many_parts<const DIRECTED: bool>(&mut self, owner: u32) -> Result<()> {
        let Some(last) = self.open.last().filter(|last| last.owner == owner && last.waiting > 0) else { return Ok(()) };
        let side = self.elimination.row(owner as usize).len() + 1;
        if last.waiting > side * side / 4 {
            let whole = self.join_parts::<DIRECTED>(owner as usize)?;
            self.open.push(whole);
        }
        Ok(())
    }

    /// Adds the ways through a vertex, whose lengths are settled, to its parent's front, and what else there is between its
    /// later neighbours: `other` lowers a cell to that of a row and a column.
    #[inline(always)]
    fn add<S: MinPlus<Distance = D>, const DIRECTED: bool>(
        &mut self,
        rank: usize,
        other: impl Fn(usize, &mut Cell<D, L>, usize),
    ) {
        self.find_places(rank);
        let mut target = self.open.pop().expect("it is open");
        let (up, down) = (&self.up, self.down::<DIRECTED>());
        for (row, (&place, back)) in self.places.iter().zip(down).enumerate() {
            let cells = target.row_mut(place as usize, 0);
            for column in if DIRECTED { 0 } else { row + 1 }..up.len() {
                let cell = &mut cells[self.places[column] as usize];
                other(row, cell, column);
                relax::<S, L>(cell, back, &up[column]);
            }
        }
        self.open.push(target);
    }

    /// Finds the places of a vertex's later neighbours in the last front, which has all of them.
    #[inline(always)]
    fn find_places(&mut self, rank: usize) {
        let elimination = self.elimination;
        let heads = &elimination.heads[elimination.row(rank)];
        let theirs = &elimination.heads[self.open.last().expect("it is open").others.clone()];
        self.places.clear();
        self.places.push(0);
        let mut at = 0;
        for &head in &heads[1..] {
            while theirs[at] != head {
                at += 1;
            }
            at += 1;
            self.places.push(at as u32);
        }
    }

    /// Takes up a front that others have made.
    pub(super) fn take_up(&mut self, front: Front<D, L>) {
        if !self.is_open(front.owner) || !front.is_whole(self.elimination, front.owner) {
            self.wait(front);
            return;
        }
        let mine = self.open.last_mut().expect("it is open");
        for row in 0..front.side() {
            mine.row_mut(row, 0).iter_mut().zip(front.row(row, 0)).for_each(|(cell, other)| lower(cell, other));
        }
    }
}
