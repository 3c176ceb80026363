//! Random numbers that depend on the place in the dissection alone (SplitMix64; Steele, Lea, Flood 2014), so that an order
//! is the same on every machine and with every number of threads.

use crate::generate::random::{STEP, mix};

#[derive(Debug, Clone, Copy)]
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mix(self.0)
    }

    /// Below `bound`, which is not 0.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// A generator for a branch of the work, independent of the other branches.
    pub(super) fn branch(self, branch: u64) -> Random {
        Random(mix(self.0.wrapping_add(mix(branch.wrapping_add(1)))))
    }

    pub(super) fn shuffle<T>(&mut self, values: &mut [T]) {
        for end in (1..values.len()).rev() {
            values.swap(end, self.below(end + 1));
        }
    }
}
