//! Rows of many sources, from labels.
//!
//! Sources share a sweep over the fronts ([`sweep`](super::sweep)), and then each look at a [label](super::labels): the distances of
//! sixteen neighbouring vertices from all of these sources are worked out, transposed, and written to the rows as parts of these, in
//! whole lines that go past the cache. The vertices of a source's own tile can be reached on ways that pass no hub. They are done by
//! themselves at the end.
//!
//! *Invariants.* What is written past the cache is finished before anybody looks at a row.

use super::destination::{Destination, LANES};
use super::labels::{Labels, PART, Part, SHARED};
use super::query::lower;
use super::sweep::{Row, Start, Starts, Swept, Tree};
use super::transposition::{COLUMNS, transpose};
use crate::Result;
use crate::graph::{DistanceValue, MinPlus, VertexId};
use crate::instructions::with_widest_instructions;
use crate::memory::filled;
use crate::past_cache::{copy_past_cache, finish_writing};

/// What memory of these is short of.
const WHAT: &str = "the rows of many sources";

/// What a thread works on.
struct Work<D, O> {
    /// The distances of the fronts, by their places.
    fronts: Vec<Row<D, LANES>>,
    /// The columns of a part, for each source.
    part: Vec<[D; PART]>,
    /// For where rows go.
    own: O,
}

impl<S: MinPlus> Swept<'_, S> {
    /// [`Swept::sweep_each`] by these labels, which are of the same lengths. O(V + shortcuts of fronts + labels) for each source; for each
    /// thread memory for the distances of the fronts, and of the tree's height, from the sources that share a sweep.
    pub(super) fn rows_by_labels(
        &self,
        labels: &Labels<S::Distance>,
        sources: &[VertexId],
        to: &impl Destination<S::Distance>,
    ) -> Result<()> {
        let unreachable = S::Distance::UNREACHABLE;
        let tree = Tree::of(&labels.fronts);
        let vertices = self.elimination.count();
        self.in_blocks::<LANES, _>(
            sources,
            || {
                let fronts = filled(WHAT, labels.fronts.depths.len(), [unreachable; LANES])?;
                let part = filled(WHAT, LANES, [unreachable; PART])?;
                Ok(Work { fronts, part, own: to.prepare(vertices)? })
            },
            |Work { fronts, part, own }, ancestors, first, block| {
                let Starts { selected, others, certain } = self.starts::<LANES>(block, Some(&labels.fronts));
                ancestors.sweep::<S>(tree, 0..fronts.len(), &selected, fronts);
                to.rows(own, first, block.len(), |distances| {
                    let mut are_certain = [true; LANES];
                    for (index, of_part) in labels.parts().enumerate() {
                        fill_part::<S>(of_part, fronts, part);
                        let columns = index * PART..vertices.min((index + 1) * PART);
                        for ((row, part), certain) in distances.iter_mut().zip(&*part).zip(&mut are_certain) {
                            let part = &part[..columns.len()];
                            // SAFETY: `finish_writing` follows below, before anybody looks at the row.
                            unsafe { copy_past_cache(&mut row[columns.clone()], part) };
                            *certain &= self.safe.is_none() || part.iter().all(|&distance| self.is_certain(distance));
                        }
                    }
                    finish_writing();
                    for (lane, row) in distances.iter_mut().enumerate() {
                        let starts = others.iter().filter(|start| start.1 == lane);
                        let is_certain = self.sweep_own_tile(labels, fronts, starts, row);
                        // What was in doubt may have been a way out of the own tile and back.
                        are_certain[lane] =
                            is_certain && (are_certain[lane] || row.iter().all(|&distance| self.is_certain(distance)));
                    }
                    std::array::from_fn(|lane| certain[lane] && are_certain[lane])
                })
            },
        )
    }

    /// Finds the distances in the tile of a source, whose starts there ascend, and puts them in its row. Whether they are certain.
    fn sweep_own_tile<'s>(
        &self,
        labels: &Labels<S::Distance>,
        fronts: &[Row<S::Distance, LANES>],
        starts: impl DoubleEndedIterator<Item = &'s Start<S::Distance>> + Clone,
        row: &mut [S::Distance],
    ) -> bool {
        let elimination = self.elimination;
        let mut starts = starts.rev().peekable();
        let Some(&&(top, lane, _)) = starts.peek() else { return true };
        let mut is_certain = true;
        // In this order a subtree is all that comes right before its topmost rank, as far as parents are in it, too.
        let is_in = |rank: &u32| *rank == top || elimination.parents[*rank as usize] <= top;
        for rank in (0..=top).rev().take_while(is_in) {
            let mut least = S::Distance::UNREACHABLE;
            if let Some(&(_, _, distance)) = starts.next_if(|start| start.0 == rank) {
                least = distance;
            }
            for arc in elimination.row(rank as usize) {
                let head = elimination.heads[arc];
                let theirs = if head <= top {
                    row[elimination.vertices[head as usize] as usize]
                } else {
                    fronts[labels.fronts.places[head as usize] as usize][lane]
                };
                lower(&mut least, S::join(theirs, self.lengths.down()[arc]));
            }
            row[elimination.vertices[rank as usize] as usize] = least;
            is_certain &= self.is_certain(least);
        }
        is_certain
    }
}

/// Works out the distances of the columns of a part, with the widest vector instructions that there are.
fn fill_part<S: MinPlus>(
    part: Part<'_, S::Distance>,
    fronts: &[Row<S::Distance, LANES>],
    rows: &mut [[S::Distance; PART]],
) {
    with_widest_instructions!(
        [S: MinPlus] [S]
        (
            part: Part<'_, S::Distance> = part,
            fronts: &[Row<S::Distance, LANES>] = fronts,
            rows: &mut [[S::Distance; PART]] = rows,
        ) -> () {
            let (mut hubs, mut lengths) = (part.hubs, part.lengths);
            let mut columns = [[S::Distance::UNREACHABLE; LANES]; COLUMNS];
            let (mut done, mut at) = (0, 0);
            for share in part.shares {
                let (of_share, others) = hubs.split_at(share.hubs.into());
                hubs = others;
                let width = usize::from(share.width);
                let (labels, others) = lengths.split_at(of_share.len() * width);
                lengths = others;
                match width {
                    1 => fill_share::<S, 1>(of_share, labels, fronts, share.columns, &mut columns),
                    2 => fill_share::<S, 2>(of_share, labels, fronts, share.columns, &mut columns),
                    3 => fill_share::<S, 3>(of_share, labels, fronts, share.columns, &mut columns),
                    _ => fill_share::<S, SHARED>(of_share, labels, fronts, share.columns, &mut columns),
                }
                done |= share.columns;
                if done == u16::MAX {
                    transpose(&columns, rows, at);
                    (done, at) = (0, at + COLUMNS);
                }
            }
            if done != 0 {
                transpose(&columns, rows, at);
            }
        }
    );
}

/// Works out the distances of the `W` columns of a share.
#[inline(always)]
fn fill_share<S: MinPlus, const W: usize>(
    hubs: &[u32],
    labels: &[S::Distance],
    fronts: &[Row<S::Distance, LANES>],
    mut places: u16,
    columns: &mut [Row<S::Distance, LANES>; COLUMNS],
) {
    let mut nearest = [[S::Distance::UNREACHABLE; LANES]; W];
    for (&hub, lengths) in hubs.iter().zip(labels.as_chunks::<W>().0) {
        let theirs = &fronts[hub as usize];
        for (mine, &length) in nearest.iter_mut().zip(lengths) {
            for (mine, &theirs) in mine.iter_mut().zip(theirs) {
                let distance = S::join(theirs, length);
                *mine = if distance < *mine { distance } else { *mine };
            }
        }
    }
    for distances in nearest {
        columns[places.trailing_zeros() as usize % COLUMNS] = distances;
        places &= places.wrapping_sub(1);
    }
}
