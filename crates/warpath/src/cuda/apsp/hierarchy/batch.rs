//! The sources of a batch, in the order of their places in the tree.

use super::arguments::{CLIMBING_TOGETHER, Meeting, NO_PARENT, SOURCES, Visit};
use super::arrays::Arrays;
use crate::Result;
use crate::cuda::device::memory::Pool;
use crate::graph::VertexId;
use crate::hierarchy::{Elimination, Pieces};
use crate::memory::filled;

/// A batch of sources as the kernels have it.
#[derive(Debug)]
pub(super) struct Batch {
    /// Ascending, and the greatest number in the places that are left.
    ranks: Vec<u32>,
    row_of: Vec<u32>,
    meetings: Vec<Meeting>,
    /// The tiles that sources are in, once for each warp of sources.
    visits: Vec<Visit>,
}

impl Batch {
    /// `has_rows` says whether rows are wanted, and not facts about them.
    pub(super) fn new(
        elimination: &Elimination,
        pieces: &Pieces,
        has_rows: bool,
        sources: &[VertexId],
        places: u64,
    ) -> Result<Self> {
        const WHAT: &str = "the sources of a batch";
        // A rank above its row: numbers are sorted in half of the time that pairs take.
        let both =
            |(row, &source): (usize, &VertexId)| u64::from(elimination.ranks[source as usize]) << 32 | row as u64;
        let mut sorted = crate::memory::listed(WHAT, sources.iter().enumerate().map(both))?;
        sorted.sort_unstable();
        let mut ranks = filled(WHAT, places as usize, u32::MAX)?;
        let mut row_of = filled(WHAT, places as usize, 0)?;
        for ((rank, row), &from) in ranks.iter_mut().zip(&mut row_of).zip(&sorted) {
            (*rank, *row) = ((from >> 32) as u32, from as u32);
        }
        let together = ranks[..sorted.len()].chunks(CLIMBING_TOGETHER as usize);
        let meetings = crate::memory::listed(
            WHAT,
            together.map(|ranks| match pieces.meeting(elimination, ranks) {
                Some((front, rank)) => Meeting { front, rank },
                None => Meeting { front: NO_PARENT, rank: NO_PARENT },
            }),
        )?;
        let visits = if has_rows { visits(pieces, &ranks[..sorted.len()])? } else { Vec::new() };
        Ok(Batch { ranks, row_of, meetings, visits })
    }

    /// The ranks of the sources, which ascend, and then the greatest number.
    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    pub(super) fn upload(&self, pool: &Pool, arrays: &Arrays) -> Result<()> {
        pool.upload(arrays.sources, &self.ranks)?;
        pool.upload(arrays.row_of, &self.row_of)?;
        pool.upload(arrays.meetings, &self.meetings)?;
        pool.upload(arrays.visits, &self.visits)
    }

    /// How many times a warp has to sweep over a tile that sources are in.
    pub(super) fn visits(&self) -> u32 {
        self.visits.len() as u32
    }

    /// The rows of those of so many sources of which this is so.
    pub(super) fn rows_where(&self, sources: usize, is_so: impl Fn(usize) -> bool) -> Vec<usize> {
        let here = self.row_of[..sources].iter().enumerate().filter(|&(place, _)| is_so(place));
        let mut rows: Vec<_> = here.map(|(_, &row)| row as usize).collect();
        rows.sort_unstable();
        rows
    }
}

/// The tiles that some of these ranks are in, which ascend, with the warps of sources that these are of. A tile counts without columns,
/// too: a distance may have been lost in it.
fn visits(pieces: &Pieces, ranks: &[u32]) -> Result<Vec<Visit>> {
    let tiles = &pieces.tiles.tiles;
    let mut visits = crate::memory::with_capacity("the tiles of sources", ranks.len())?;
    for (group, ranks) in (0..).zip(ranks.chunks(SOURCES as usize)) {
        let mut left = ranks;
        while let Some(&rank) = left.first() {
            // Tiles ascend, and have no ranks of fronts between their own.
            let tile = tiles.partition_point(|tile| tile.last < rank);
            let is_in = |rank: u32| tiles.get(tile).is_some_and(|tile| (tile.first..=tile.last).contains(&rank));
            let here = left.iter().take_while(|&&rank| is_in(rank)).count();
            if here > 0 {
                visits.push(Visit { tile: tile as u32, group });
            }
            left = &left[here.max(1)..];
        }
    }
    Ok(visits)
}
