//! How vertices are dealt out to the ranks for a search: each rank's own ones, or blocks of consecutive vertices in turn.
//!
//! A wave over a road network or a grid is in one region of it at a time. Where neighbors have near numbers, consecutive vertices are such a
//! region, and the ranks whose parts the wave is not in wait. Blocks in turn give every rank a share of most regions. In other graphs
//! they would add nothing but an exchange of the results.
//!
//! The *place* of a vertex is its number in the order of the ranks that have it, and of the vertices on a rank. Within a search a rank
//! knows vertices by their places alone, so that its own ones are consecutive in any case.
//!
//! Source: block-cyclic distributions, as of matrices in J. Dongarra, R. van de Geijn, D. Walker, Scalability issues affecting the design of
//! a dense linear algebra library, JPDC 22, 1994. When blocks are taken is this project's own.

use warpath::{Error, Result};

use super::Partition;
use crate::source::ArcsOf;
use crate::world::{Outcome, Reduction, World};

/// How the vertices of a graph are shared out among the ranks that search it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Parts {
    /// In blocks on cores if most arcs lead to near vertices, else consecutive ones.
    #[default]
    Auto,
    /// Consecutive vertices for each rank: the parts of the results.
    Consecutive,
    /// Blocks of so many consecutive vertices, a power of two, for the ranks in turn.
    Blocks(u64),
}

impl Parts {
    /// Parts in blocks of so many vertices.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if it is no power of two.
    pub fn blocks(vertices: u64) -> Result<Self> {
        match vertices.is_power_of_two() {
            true => Ok(Parts::Blocks(vertices)),
            false => Err(Error::invalid(format!("blocks of {vertices} vertices: it has to be a power of two"))),
        }
    }
}

/// Each rank has at least so many blocks, so that most regions of a graph are shared by all ranks. More would share it more evenly, and have more
/// of a border.
const BLOCKS_OF_A_RANK: u64 = 4;
/// Smaller blocks have too much of a border.
const LEAST_BLOCK: u64 = 1 << 10;
/// Blocks are taken if at most one in so many arcs leaves its block.
const ARCS_FOR_ONE_THAT_LEAVES: u64 = 6;

/// The vertices of a block, if a graph of so many vertices is dealt out to so many ranks in blocks.
pub(crate) fn block_for(vertices: u64, ranks: u64) -> Option<u64> {
    let share = vertices / (ranks * BLOCKS_OF_A_RANK);
    (ranks > 1 && share >= LEAST_BLOCK).then(|| 1 << share.ilog2())
}

/// Which rank has which vertices during a search, and their places.
#[derive(Debug)]
pub(crate) struct Deal {
    /// The places of each rank.
    places: Partition,
    /// The binary logarithm of the size of a block; without blocks places are vertices.
    block_bits: Option<u32>,
}

impl Deal {
    /// Every vertex with the rank that gets its results.
    pub(super) fn consecutive(home: &Partition) -> Self {
        Deal { places: home.clone(), block_bits: None }
    }

    /// Blocks of so many vertices, a power of two, for the ranks in turn.
    fn in_blocks(block: u64, vertices: u64, ranks: usize) -> Self {
        let (whole, ranks) = (vertices / block, ranks as u64);
        let mut starts = vec![0];
        for rank in 0..ranks {
            let blocks = whole / ranks + u64::from(rank < whole % ranks);
            let rest = if rank == whole % ranks { vertices % block } else { 0 };
            starts.push(starts[rank as usize] + blocks * block + rest);
        }
        Deal { places: Partition::at(starts), block_bits: Some(block.ilog2()) }
    }

    /// Deals out the vertices as it was asked for, or by a sample of the arcs.
    pub(super) fn of(world: &World, arcs_of: &mut ArcsOf<'_>, parts: Parts, home: &Partition) -> Outcome<Self> {
        let vertices = home.vertices();
        let block = match parts {
            Parts::Consecutive => None,
            Parts::Blocks(block) => {
                world.agree(Parts::blocks(block))?;
                Some(block)
            }
            Parts::Auto => match block_for(vertices, world.ranks() as u64) {
                Some(block) if arcs_stay_in_blocks(world, arcs_of, block)? => Some(block),
                _ => None,
            },
        };
        Ok(block.map_or_else(|| Deal::consecutive(home), |block| Deal::in_blocks(block, vertices, world.ranks())))
    }

    /// The places of each rank.
    pub(super) fn places(&self) -> &Partition {
        &self.places
    }

    /// The vertices of a block, if there are blocks.
    pub(super) fn block(&self) -> Option<u64> {
        self.block_bits.map(|bits| 1 << bits)
    }

    /// The rank that has a vertex, and the vertex's number there.
    #[inline]
    pub(super) fn rank_and_number(&self, vertex: u64) -> (usize, u64) {
        match self.block_bits {
            None => {
                let rank = self.places.owner(vertex);
                (rank, vertex - self.places.starts()[rank])
            }
            Some(bits) => {
                let (block, ranks) = (vertex >> bits, self.places.ranks() as u64);
                ((block % ranks) as usize, ((block / ranks) << bits) + (vertex & ((1 << bits) - 1)))
            }
        }
    }

    /// The place of a vertex.
    #[inline]
    pub(super) fn place_of(&self, vertex: u64) -> u64 {
        match self.block_bits {
            None => vertex,
            Some(_) => {
                let (rank, number) = self.rank_and_number(vertex);
                self.places.starts()[rank] + number
            }
        }
    }

    /// The vertex that has a number on a rank.
    #[inline]
    pub(super) fn vertex_of(&self, rank: usize, number: u64) -> u64 {
        match self.block_bits {
            None => self.places.starts()[rank] + number,
            Some(bits) => {
                let block = (number >> bits) * self.places.ranks() as u64 + rank as u64;
                (block << bits) + (number & ((1 << bits) - 1))
            }
        }
    }

    /// The vertex at a place.
    #[inline]
    pub(super) fn vertex_at(&self, place: u64) -> u64 {
        match self.block_bits {
            None => place,
            Some(_) => {
                let rank = self.places.owner(place);
                self.vertex_of(rank, place - self.places.starts()[rank])
            }
        }
    }
}

/// Whether most arcs join vertices of one block, by what each rank draws or reads first.
fn arcs_stay_in_blocks(world: &World, arcs_of: &mut ArcsOf<'_>, block: u64) -> Outcome<bool> {
    const ARCS: u64 = 1 << 16;
    let (bits, mut all, mut leaving) = (block.ilog2(), 0, 0);
    let sampled = arcs_of.sample(ARCS, |u, v| {
        all += 1;
        leaving += u64::from(u >> bits != v >> bits);
    });
    world.agree(sampled)?;
    let mut sums = [all, leaving];
    world.reduce_all(Reduction::Sum, &mut sums);
    Ok(sums[0] > 0 && sums[1].saturating_mul(ARCS_FOR_ONE_THAT_LEAVES) <= sums[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_has_one_place() {
        for (vertices, ranks, block) in
            [(0, 3, 4), (1, 3, 1), (7, 3, 2), (9, 3, 8), (100, 1, 4), (100, 4, 16), (64, 4, 16), (70, 8, 16)]
        {
            let deal = Deal::in_blocks(block, vertices, ranks);
            assert_eq!(deal.places().vertices(), vertices);
            let mut seen = vec![false; vertices as usize];
            for vertex in 0..vertices {
                let place = deal.place_of(vertex);
                assert!(!std::mem::replace(&mut seen[place as usize], true), "{vertices} on {ranks}");
                assert_eq!(deal.vertex_at(place), vertex);
                let (rank, number) = deal.rank_and_number(vertex);
                assert_eq!((rank as u64, deal.vertex_of(rank, number)), (vertex / block % ranks as u64, vertex));
                assert!(deal.places().range(rank).contains(&place));
            }
        }
        let home = Partition::at(vec![0, 2, 2, 9]);
        let deal = Deal::consecutive(&home);
        assert_eq!((deal.place_of(5), deal.vertex_at(5), deal.rank_and_number(5)), (5, 5, (2, 3)));
    }

    #[test]
    fn blocks_are_neither_too_few_nor_too_small() {
        assert_eq!(block_for(1_000_000, 2), Some(65_536));
        assert_eq!(block_for(1 << 30, 1024), Some(1 << 18));
        assert_eq!((block_for(1_000_000, 1), block_for(8_000, 2), block_for(0, 2)), (None, None, None));
    }
}
