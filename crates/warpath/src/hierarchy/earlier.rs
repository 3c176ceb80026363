//! The earlier neighbours of each vertex: what unpacking a shortcut and changing a weight look at, and nothing else does.

use super::elimination::Elimination;
use crate::Result;
use crate::memory::{copied, filled};

/// For each rank its earlier neighbours.
#[derive(Debug, PartialEq)]
pub(super) struct Earlier {
    /// Where those of each rank begin.
    offsets: Vec<u64>,
    /// Ascending for each rank, with the place of the arc among the heads of the elimination.
    neighbors: Vec<(u32, u32)>,
}

impl Earlier {
    /// Lists them in O(shortcuts).
    pub(super) fn new(elimination: &Elimination) -> Result<Self> {
        const WHAT: &str = "the earlier neighbours of a hierarchy";
        let count = elimination.count();
        let mut ends = filled(WHAT, count + 1, 0_u64)?;
        for &head in &elimination.heads {
            ends[head as usize + 1] += 1;
        }
        for rank in 0..count {
            ends[rank + 1] += ends[rank];
        }
        let offsets = copied(WHAT, &ends)?;
        let mut neighbors = filled(WHAT, elimination.heads.len(), (0, 0))?;
        for rank in 0..count {
            for arc in elimination.row(rank) {
                let end = &mut ends[elimination.heads[arc] as usize];
                neighbors[*end as usize] = (rank as u32, arc as u32);
                *end += 1;
            }
        }
        Ok(Earlier { offsets, neighbors })
    }

    /// Those of a rank.
    pub(super) fn of(&self, rank: u32) -> &[(u32, u32)] {
        let rank = rank as usize;
        &self.neighbors[self.offsets[rank] as usize..self.offsets[rank + 1] as usize]
    }
}
