//! How a closure is stored in memory: as bits between vertices, or between components.

use rayon::prelude::*;

use super::BitMatrix;

/// The bits of a [`Reachability`](super::Reachability).
#[derive(Debug, Clone)]
pub(crate) enum ReachabilityBits {
    /// Between vertices.
    Matrix(BitMatrix),
    /// Between components.
    Condensed(CondensedBits),
}

/// Who reaches whom, by strongly connected components.
#[derive(Debug, Clone)]
pub struct CondensedBits {
    /// The component of each vertex.
    pub component: Vec<u32>,
    /// How many vertices each component has.
    pub sizes: Vec<u64>,
    /// Whether the vertices of each component reach themselves.
    pub reaches_itself: Vec<bool>,
    /// Which component reaches which; `None` if none reaches another one.
    pub bits: Option<BitMatrix>,
}

impl CondensedBits {
    #[inline]
    pub(super) fn reaches(&self, from: u32, to: u32) -> bool {
        match &self.bits {
            Some(bits) => bits.get(from as usize, to as usize),
            None => from == to && self.reaches_itself[from as usize],
        }
    }

    /// How many vertices each component reaches.
    pub(super) fn counts(&self) -> impl IndexedParallelIterator<Item = u64> {
        (0..self.sizes.len()).into_par_iter().map(|from| match &self.bits {
            Some(bits) => bits.ones(from).map(|to| self.sizes[to]).sum(),
            None if self.reaches_itself[from] => self.sizes[from],
            None => 0,
        })
    }
}
