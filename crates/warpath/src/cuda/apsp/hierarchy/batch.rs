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
        // A rank above its row.
        let both =
            |(row, &source): (usize, &VertexId)| u64::from(elimination.ranks[source as usize]) << 32 | row as u64;
        let sorted = by_rank(crate::memory::listed(WHAT, sources.iter().enumerate().map(both))?)?;
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

    /// The rows of those sources of which this is so.
    pub(super) fn rows_where(&self, is_so: &[u32]) -> Vec<usize> {
        let mut rows: Vec<_> =
            self.row_of.iter().zip(is_so).filter(|&(_, &is)| is != 0).map(|(&row, _)| row as usize).collect();
        rows.sort_unstable();
        rows
    }
}

/// Sorts numbers by their upper halves, which are ranks, digit by digit from the lowest one: quicker than by comparing, and the device waits for it.
fn by_rank(mut sorted: Vec<u64>) -> Result<Vec<u64>> {
    const DIGIT: u32 = 11;
    let mut moved = filled("the sources of a batch", sorted.len(), 0_u64)?;
    let greatest = sorted.iter().copied().max().unwrap_or(0);
    for shift in (32..u64::BITS).step_by(DIGIT as usize).take_while(|shift| greatest >> shift > 0) {
        let digit = |number: u64| (number >> shift) as usize % (1 << DIGIT);
        let mut places = [0_u32; 1 << DIGIT];
        sorted.iter().for_each(|&number| places[digit(number)] += 1);
        let mut begin = 0;
        for place in &mut places {
            begin += std::mem::replace(place, begin);
        }
        for &number in &sorted {
            let place = &mut places[digit(number)];
            moved[*place as usize] = number;
            *place += 1;
        }
        std::mem::swap(&mut sorted, &mut moved);
    }
    Ok(sorted)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn sources_are_sorted_by_rank_and_then_by_row() {
        let mut random = Random(5);
        for (count, ranks) in
            [(0, 1), (1, 1), (9, 3), (5000, 40), (5000, 1 << 11), (5000, 1 << 23), (5000, u32::MAX.into())]
        {
            let numbers: Vec<u64> = (0..count).map(|row| random.below(ranks) << 32 | row).collect();
            let mut expected = numbers.clone();
            expected.sort_unstable();
            assert_eq!(by_rank(numbers).unwrap(), expected, "{count} of {ranks}");
        }
    }
}
