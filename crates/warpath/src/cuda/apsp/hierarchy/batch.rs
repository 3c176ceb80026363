//! The sources of a batch, in the order of their places in the tree.

use super::arrays::{Arrays, CLIMBING_TOGETHER, Meeting, NO_PARENT};
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
}

impl Batch {
    pub(super) fn new(elimination: &Elimination, pieces: &Pieces, sources: &[VertexId], places: u64) -> Result<Self> {
        const WHAT: &str = "the sources of a batch";
        let mut sorted = crate::memory::listed(
            WHAT,
            sources.iter().enumerate().map(|(row, &source)| (elimination.ranks[source as usize], row as u32)),
        )?;
        sorted.sort_unstable();
        let mut ranks = filled(WHAT, places as usize, u32::MAX)?;
        let mut row_of = filled(WHAT, places as usize, 0)?;
        for ((rank, row), &from) in ranks.iter_mut().zip(&mut row_of).zip(&sorted) {
            (*rank, *row) = from;
        }
        let together = ranks[..sorted.len()].chunks(CLIMBING_TOGETHER as usize);
        let meetings = crate::memory::listed(
            WHAT,
            together.map(|ranks| match pieces.meeting(elimination, ranks) {
                Some((front, rank)) => Meeting { front, rank },
                None => Meeting { front: NO_PARENT, rank: NO_PARENT },
            }),
        )?;
        Ok(Batch { ranks, row_of, meetings })
    }

    /// The ranks of the sources, which ascend, and then the greatest number.
    pub(super) fn ranks(&self) -> &[u32] {
        &self.ranks
    }

    pub(super) fn upload(&self, pool: &Pool, arrays: &Arrays) -> Result<()> {
        pool.upload(arrays.sources, &self.ranks)?;
        pool.upload(arrays.row_of, &self.row_of)?;
        pool.upload(arrays.meetings, &self.meetings)
    }

    /// The rows of those sources of which this is so.
    pub(super) fn rows_where(&self, is_so: &[u32]) -> Vec<usize> {
        let mut rows: Vec<_> =
            self.row_of.iter().zip(is_so).filter(|&(_, &is)| is != 0).map(|(&row, _)| row as usize).collect();
        rows.sort_unstable();
        rows
    }
}
