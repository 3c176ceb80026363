//! Sums in fixed point: they do not depend on the order in which numbers are added.

use crate::{Result, memory};

/// Sums of numbers of 0 and more, each with 64 bits before the point and 64 after it. What is smaller than 2^-64 is left out.
#[derive(Debug)]
pub(crate) struct Sums(Vec<u128>);

impl Sums {
    /// The bytes of one sum.
    pub(crate) const BYTES: u64 = 16;
    /// 2^64.
    const ONE: f64 = 18_446_744_073_709_551_616.0;

    /// So many sums of 0.
    pub(crate) fn new(count: usize) -> Result<Self> {
        memory::filled("sums of dependencies", count, 0).map(Sums)
    }

    /// Sums that were added up elsewhere: each with the number before the point in its upper 64 bits.
    pub(crate) fn of(sums: Vec<u128>) -> Self {
        Sums(sums)
    }

    /// Adds a number below 2^63 to one of them.
    #[inline(always)]
    pub(crate) fn add(&mut self, index: usize, number: f64) {
        self.add_times(index, number, 1);
    }

    /// Adds a number below 2^63 so many times.
    #[inline(always)]
    pub(crate) fn add_times(&mut self, index: usize, number: f64, times: u32) {
        debug_assert!((0.0..Self::ONE / 2.0).contains(&number), "{number}");
        let whole = number as i64;
        let part = ((number - whole as f64) * Self::ONE) as u64;
        let fixed = u128::from(whole as u64) << 64 | u128::from(part);
        let sum = &mut self.0[index];
        // Fewer than 2^32 sources depend on fewer than 2^32 targets each: no sum overflows.
        *sum = sum.wrapping_add(fixed.wrapping_mul(times.into()));
    }

    /// Adds other sums to these.
    pub(crate) fn add_all(&mut self, others: &Sums) {
        self.0.iter_mut().zip(&others.0).for_each(|(sum, other)| *sum = sum.wrapping_add(*other));
    }

    /// The sums as floats.
    pub(crate) fn into_floats(self) -> Result<Vec<f64>> {
        memory::listed("sums of dependencies", self.0.iter().map(|&sum| sum as f64 / Self::ONE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_any_order() {
        let numbers = [1.0 / 3.0, 1e9 / 7.0, 0.0, 2f64.powi(-60), 4e18, 0.999_999_999_999];
        let sum_of = |numbers: &mut dyn Iterator<Item = f64>| {
            let mut sums = Sums::new(2).unwrap();
            numbers.for_each(|number| sums.add(1, number));
            sums
        };
        let (forward, backward) = (sum_of(&mut numbers.iter().copied()), sum_of(&mut numbers.iter().rev().copied()));
        assert_eq!(forward.0, backward.0);
        let mut both = sum_of(&mut numbers[..3].iter().copied());
        both.add_all(&sum_of(&mut numbers[3..].iter().copied()));
        assert_eq!(both.0, forward.0);
        assert_eq!(forward.into_floats().unwrap(), [0.0, 4e18 + 1e9 / 7.0 + 1.0]);
        assert_eq!(sum_of(&mut std::iter::repeat_n(0.125, 24)).into_floats().unwrap(), [0.0, 3.0]);
        let (mut at_once, times) = (Sums::new(2).unwrap(), 1000);
        at_once.add_times(1, 1.0 / 3.0, times);
        assert_eq!(at_once.0, sum_of(&mut std::iter::repeat_n(1.0 / 3.0, times as usize)).0);
    }
}
