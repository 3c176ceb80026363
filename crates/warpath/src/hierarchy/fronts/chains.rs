//! Wide chains: vertices that are eliminated together, by all threads.
//!
//! Near the top of the tree of a graph with large separators a vertex has hundreds or thousands of later neighbours, and most
//! of the work is there. A vertex there and its parent mostly follow each other in a *chain*, with nearly the same
//! neighbours. So a chain of up to [`MOST`] vertices, the *pivots*, gets one front: a row and a column for each pivot and for
//! each later neighbour of the topmost. All ways through the pivots are one min-plus product of the pivots' columns and rows,
//! whose operands stay in the cache. The rows of the front are shared among the threads (Duff, Reid, 1983; Liu, Ng, Peyton, *On
//! finding supernodes for sparse matrix computations*, 1993).
//!
//! *Invariants.* A function compiled for more instructions is called only where the processor was asked for them.

use std::ops::Range;

use super::{Cell, Eliminating, Front, Rows, WHAT, WIDE, lower, relax};
use crate::graph::{DistanceValue, MinPlus};
use crate::hierarchy::elimination::{Elimination, ROOT};
#[cfg(target_arch = "x86_64")]
use crate::instructions::InstructionSet;
use crate::memory::{filled, grow, resize, with_capacity};
use crate::{Result, parallel};

/// The fewest pivots, and the most.
const FEWEST: usize = 4;
const MOST: usize = 32;

/// The rows of a front that a thread works on at a time.
const STRIP: usize = 16;

/// The columns that it works on at a time: the pivots' cells there fit the first level of the cache.
const BLOCK: usize = 256;

/// Threads share the work on a front from so many relaxations on: some tens of microseconds.
const WORTH_SHARING: usize = 1 << 18;

/// What is in no row.
const NONE: u32 = u32::MAX;

/// The end of the wide chain of ranks from this one on, of which `end` is not part; `None` if there is none.
pub(super) fn wide_chain(elimination: &Elimination, first: usize, end: usize) -> Option<usize> {
    let width = |rank: usize| elimination.row(rank).len();
    if width(first) < WIDE {
        return None;
    }
    let mut top = first;
    let mut arcs = width(first);
    while top + 1 < end && top + 1 - first < MOST && elimination.parents[top] as usize == top + 1 {
        let pivots = top + 2 - first;
        arcs += width(top + 1);
        // At least half of the pivots' cells have to be those of shortcuts.
        if 2 * arcs < pivots * width(top + 1) + pivots * (pivots - 1) / 2 {
            break;
        }
        top += 1;
    }
    (top + 1 - first >= FEWEST).then_some(top + 1)
}

/// The rows of a front that go into another, and where.
struct Part<D, const L: usize> {
    front: Front<D, L>,
    /// The place of each of its rows among those of the other.
    places: Vec<u32>,
    /// Its row for each of those of the other, or [`NONE`].
    rows: Vec<u32>,
}

impl<D: DistanceValue, const L: usize> Part<D, L> {
    fn new(front: Front<D, L>, places: Vec<u32>, side: usize) -> Result<Self> {
        let mut rows = filled(WHAT, side, NONE)?;
        for (row, &place) in places.iter().enumerate() {
            rows[place as usize] = row as u32;
        }
        Ok(Part { front, places, rows })
    }

    /// Lowers a row of the other front, of all columns, to the one here.
    fn lower<const DIRECTED: bool>(&self, row: usize, cells: &mut [Cell<D, L>]) {
        let row = self.rows[row];
        if row == NONE {
            return;
        }
        let column = if DIRECTED { 0 } else { row as usize + 1 };
        for (cell, &place) in self.front.row(row as usize, column).iter().zip(&self.places[column..]) {
            lower(&mut cells[place as usize], cell);
        }
    }
}

/// Calls `work` with the first row of each strip, and its cells: by all threads if they may help and that pays.
fn for_each_strip<T: Send>(
    cells: &mut [T],
    side: usize,
    shares: bool,
    relaxations: usize,
    work: impl Fn(usize, &mut [T]) + Sync,
) {
    if !shares || relaxations < WORTH_SHARING {
        cells.chunks_mut(STRIP * side).enumerate().for_each(|(strip, cells)| work(strip * STRIP, cells));
    } else {
        parallel::for_each_chunk(cells, STRIP * side, |strip, cells| work(strip * STRIP, cells));
    }
}

/// Appends the places of vertices among the pivots, `ranks`, and the `boundary` after these. Both ascend.
fn find_places(heads: impl Iterator<Item = u32>, ranks: &Range<usize>, boundary: &[u32], places: &mut Vec<u32>) {
    let mut at = 0;
    places.extend(heads.map(|head| {
        if (head as usize) < ranks.end {
            return head - ranks.start as u32;
        }
        at += boundary[at..].iter().take_while(|&&other| other != head).count();
        (ranks.len() + at) as u32
    }));
}

impl<D: DistanceValue, const L: usize> Eliminating<'_, D, L> {
    /// Takes the lengths of the vertices of a chain out of a front for all, and hands the ways through them on to the parent.
    pub(super) fn settle_together<S: MinPlus<Distance = D>, const DIRECTED: bool>(
        &mut self,
        ranks: Range<usize>,
        rows: &mut Rows<'_, D, L>,
    ) -> Result<()> {
        let elimination = self.elimination;
        let pivots = ranks.len();
        let boundary = &elimination.heads[elimination.row(ranks.end - 1)];
        let side = pivots + boundary.len();
        let mut cells = self.assemble::<DIRECTED>(&ranks, boundary)?;
        self.read_rows::<DIRECTED>(&ranks, boundary, rows, &mut cells);
        let (panel, rest) = cells.split_at_mut(pivots * side);
        close_panel::<S, L, DIRECTED>(panel, side);
        let relaxations = pivots * boundary.len() * boundary.len();
        for_each_strip(rest, side, self.shares, relaxations, |row, strip| {
            relax_strip::<S, L, DIRECTED>(strip, pivots + row, panel, side);
        });
        self.write_rows::<DIRECTED>(&ranks, boundary, rows, &cells);
        let top = ranks.end - 1;
        let parent = elimination.parents[top];
        if parent == ROOT {
            self.spare.push(cells);
            return Ok(());
        }
        let row = elimination.row(top);
        let mut front =
            Front { owner: parent, others: row.start + 1..row.end, stride: side, first: pivots, waiting: 0, cells };
        if row.len() == elimination.row(parent as usize).len() + 1 {
            front.others = elimination.row(parent as usize);
        }
        self.hand_on::<DIRECTED>(top, front)
    }

    /// The cells of the front for a chain: the ways through all vertices below.
    pub(super) fn assemble<const DIRECTED: bool>(
        &mut self,
        ranks: &Range<usize>,
        boundary: &[u32],
    ) -> Result<Vec<Cell<D, L>>> {
        let elimination = self.elimination;
        let side = ranks.len() + boundary.len();
        let (mut parts, mut small_parts) = (Vec::new(), Vec::new());
        while let Some(front) = self.open.pop_if(|front| (front.owner as usize) < ranks.end) {
            let mut places = with_capacity(WHAT, front.side())?;
            let heads = std::iter::once(front.owner).chain(elimination.heads[front.others.clone()].iter().copied());
            find_places(heads, ranks, boundary, &mut places);
            if front.side() < WIDE {
                grow(WHAT, &mut small_parts, 1)?;
                small_parts.push((front, places));
            } else {
                grow(WHAT, &mut parts, 1)?;
                parts.push(Part::new(front, places, side)?);
            }
        }
        let mut cells = self.spare.pop().unwrap_or_default();
        resize(WHAT, &mut cells, side * side, [D::UNREACHABLE; L])?;
        for_each_strip(&mut cells, side, self.shares, 4 * side * side, |first, strip| {
            for (row, cells) in strip.chunks_mut(side).enumerate() {
                let row = first + row;
                cells[if DIRECTED { 0 } else { row }..].fill([D::UNREACHABLE; L]);
                parts.iter().for_each(|part| part.lower::<DIRECTED>(row, cells));
            }
        });
        // All small parts together have fewer cells than the front, but there may be many of them.
        for (front, places) in small_parts {
            for (row, &place) in places.iter().enumerate() {
                let column = if DIRECTED { 0 } else { row + 1 };
                let cells = &mut cells[place as usize * side..][..side];
                for (cell, &place) in front.row(row, column).iter().zip(&places[column..]) {
                    lower(&mut cells[place as usize], cell);
                }
            }
        }
        self.spare.extend(parts.into_iter().map(|part| part.front.cells));
        Ok(cells)
    }

    /// Lowers the pivots' cells to the lengths of the graph's own arcs.
    fn read_rows<const DIRECTED: bool>(
        &mut self,
        ranks: &Range<usize>,
        boundary: &[u32],
        rows: &Rows<'_, D, L>,
        cells: &mut [Cell<D, L>],
    ) {
        let side = ranks.len() + boundary.len();
        self.for_each_arc(ranks, boundary, |pivot, place, arc| {
            let arc = arc - rows.start;
            lower(&mut cells[pivot * side + place], &std::array::from_fn(|lane| rows.up[lane][arc]));
            if DIRECTED {
                lower(&mut cells[place * side + pivot], &std::array::from_fn(|lane| rows.down[lane][arc]));
            }
        });
    }

    /// Writes the lengths of the pivots' arcs, which are settled.
    fn write_rows<const DIRECTED: bool>(
        &mut self,
        ranks: &Range<usize>,
        boundary: &[u32],
        rows: &mut Rows<'_, D, L>,
        cells: &[Cell<D, L>],
    ) {
        let side = ranks.len() + boundary.len();
        self.for_each_arc(ranks, boundary, |pivot, place, arc| {
            let arc = arc - rows.start;
            let (up, down) = (cells[pivot * side + place], cells[place * side + pivot]);
            (0..L).for_each(|lane| rows.up[lane][arc] = up[lane]);
            if DIRECTED {
                (0..L).for_each(|lane| rows.down[lane][arc] = down[lane]);
            }
        });
    }

    /// Calls `visit` with each pivot, the place of each of its later neighbours in the front, and the arc's own place.
    fn for_each_arc(&mut self, ranks: &Range<usize>, boundary: &[u32], mut visit: impl FnMut(usize, usize, usize)) {
        let elimination = self.elimination;
        for (pivot, rank) in ranks.clone().enumerate() {
            let row = elimination.row(rank);
            self.places.clear();
            find_places(elimination.heads[row.clone()].iter().copied(), ranks, boundary, &mut self.places);
            row.zip(&self.places).for_each(|(arc, &place)| visit(pivot, place as usize, arc));
        }
    }

    /// Hands a front on to the parent of the vertex below it.
    fn hand_on<const DIRECTED: bool>(&mut self, below: usize, front: Front<D, L>) -> Result<()> {
        let is_next = self.parent(below) == below + 1;
        let is_whole = front.is_whole(self.elimination, front.owner);
        self.join_many_parts::<DIRECTED>(front.owner)?;
        if !self.is_open(front.owner) && (is_next || is_whole || self.is_part(below)) {
            self.wait(front);
            return Ok(());
        }
        self.open_above::<DIRECTED>(below)?;
        self.find_places(below);
        let target = self.open.last_mut().expect("it is open");
        let side = target.side();
        let part = Part::new(front, std::mem::take(&mut self.places), side)?;
        let (stride, first) = (target.stride, target.first);
        for_each_strip(&mut target.cells[first * stride..], stride, self.shares, 4 * side * side, |row, strip| {
            for (at, cells) in strip.chunks_mut(stride).enumerate() {
                part.lower::<DIRECTED>(row + at, &mut cells[first..]);
            }
        });
        self.places = part.places;
        self.spare.push(part.front.cells);
        Ok(())
    }
}

/// Settles the rows of the pivots, one after another.
fn close_panel<S: MinPlus, const L: usize, const DIRECTED: bool>(panel: &mut [Cell<S::Distance, L>], side: usize) {
    for pivot in 1..panel.len() / side {
        let (before, others) = panel.split_at_mut(pivot * side);
        relax_strip::<S, L, DIRECTED>(&mut others[..side], pivot, before, side);
    }
}

/// Lowers the cells of some rows to the ways through all pivots of a panel. `first` is the first row.
fn relax_strip<S: MinPlus, const L: usize, const DIRECTED: bool>(
    strip: &mut [Cell<S::Distance, L>],
    first: usize,
    panel: &[Cell<S::Distance, L>],
    side: usize,
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn avx2<S: MinPlus, const L: usize, const DIRECTED: bool>(
            strip: &mut [Cell<S::Distance, L>],
            first: usize,
            panel: &[Cell<S::Distance, L>],
            side: usize,
        ) {
            relax_strip_anywhere::<S, L, DIRECTED>(strip, first, panel, side);
        }
        if InstructionSet::detect() != InstructionSet::Portable {
            // SAFETY: this processor has these instructions.
            return unsafe { avx2::<S, L, DIRECTED>(strip, first, panel, side) };
        }
    }
    relax_strip_anywhere::<S, L, DIRECTED>(strip, first, panel, side);
}

#[inline(always)]
fn relax_strip_anywhere<S: MinPlus, const L: usize, const DIRECTED: bool>(
    strip: &mut [Cell<S::Distance, L>],
    first: usize,
    panel: &[Cell<S::Distance, L>],
    side: usize,
) {
    let pivots = panel.len() / side;
    // The ways from each row's vertex to the pivots.
    let mut there = [[[S::Distance::UNREACHABLE; L]; MOST]; STRIP];
    for (row, (there, cells)) in there.iter_mut().zip(strip.chunks_mut(side)).enumerate() {
        for pivot in 0..pivots {
            let line = &panel[pivot * side..][..side];
            there[pivot] = if DIRECTED { cells[pivot] } else { line[first + row] };
            if DIRECTED {
                let to = &there[pivot];
                cells[pivot + 1..pivots].iter_mut().zip(&line[pivot + 1..pivots]).for_each(|(cell, back)| {
                    relax::<S, L>(cell, to, back);
                });
            }
        }
    }
    let block = (BLOCK / L).max(1);
    let from = if DIRECTED { pivots } else { first + 1 };
    for start in (from..side).step_by(block) {
        let end = side.min(start + block);
        for (row, (there, cells)) in there.iter().zip(strip.chunks_mut(side)).enumerate() {
            // Of symmetric lengths those above the diagonal count.
            let start = if DIRECTED { start } else { start.max(first + row + 1).min(end) };
            relax_row::<S, L>(&mut cells[start..end], &there[..pivots], &panel[start..], side);
        }
    }
}

/// Lowers cells of a row to the ways `there` to each pivot and on by the cells of `panel`, whose rows are `side` apart. Four
/// pivots share each look at a cell.
#[inline(always)]
fn relax_row<S: MinPlus, const L: usize>(
    cells: &mut [Cell<S::Distance, L>],
    there: &[Cell<S::Distance, L>],
    panel: &[Cell<S::Distance, L>],
    side: usize,
) {
    let unreachable = [S::Distance::UNREACHABLE; L];
    let width = cells.len();
    let line = |pivot: usize| &panel[pivot * side..][..width];
    let (fours, others) = there.as_chunks::<4>();
    for (four, there) in fours.iter().enumerate() {
        if *there == [unreachable; 4] {
            continue;
        }
        let [a, b, c, d] = std::array::from_fn(|pivot| line(4 * four + pivot));
        for ((((cell, a), b), c), d) in cells.iter_mut().zip(a).zip(b).zip(c).zip(d) {
            let mut least = *cell;
            relax::<S, L>(&mut least, &there[0], a);
            relax::<S, L>(&mut least, &there[1], b);
            relax::<S, L>(&mut least, &there[2], c);
            relax::<S, L>(&mut least, &there[3], d);
            *cell = least;
        }
    }
    for (pivot, there) in others.iter().enumerate().filter(|&(_, there)| *there != unreachable) {
        cells.iter_mut().zip(line(4 * fours.len() + pivot)).for_each(|(cell, back)| relax::<S, L>(cell, there, back));
    }
}
