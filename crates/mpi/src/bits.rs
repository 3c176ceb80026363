//! Sets of small numbers, a bit each.

use warpath::Result;

use crate::allocation::filled;

/// A set of numbers below a length.
#[derive(Debug, Clone, Default)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    /// The empty set of numbers below `length`.
    pub(crate) fn new(what: &str, length: usize) -> Result<Self> {
        filled(what, length.div_ceil(64), 0).map(Bits)
    }

    /// The numbers of bits in words of 32.
    pub(crate) fn of_words(words: &[u32]) -> Result<Self> {
        let mut bits = Self::new("a set", 32 * words.len())?;
        bits.join(0, words);
        Ok(bits)
    }

    #[inline]
    pub(crate) fn contains(&self, number: usize) -> bool {
        self.0[number / 64] >> (number % 64) & 1 == 1
    }

    /// Adds a number; returns whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, number: usize) -> bool {
        let word = &mut self.0[number / 64];
        let bit = 1 << (number % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    pub(crate) fn remove(&mut self, number: usize) {
        self.0[number / 64] &= !(1 << (number % 64));
    }

    /// Adds the numbers of bits in words of 32, which are those from `first` on. Beyond the length none is set.
    pub(crate) fn join(&mut self, first: usize, words: &[u32]) {
        for (at, &word) in (first..).step_by(32).zip(words) {
            let wide = u128::from(word) << (at % 64);
            for (index, half) in [(at / 64, wide as u64), (at / 64 + 1, (wide >> 64) as u64)] {
                if half != 0 {
                    self.0[index] |= half;
                }
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        self.0.fill(0);
    }

    /// The words, of 64 numbers each.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.0
    }

    /// The numbers, ascending.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |rest| Some(rest & (rest - 1)).filter(|&rest| rest != 0))
                .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_ascending() {
        let mut set = Bits::new("a set", 200).unwrap();
        let numbers = [0, 1, 63, 64, 127, 128, 199];
        assert!(numbers.iter().rev().all(|&number| set.insert(number)));
        assert!(!set.insert(63));
        assert!(set.contains(64) && !set.contains(65));
        assert!(set.iter().eq(numbers));
        set.remove(64);
        assert!(!set.contains(64) && set.contains(63));
        set.clear();
        assert_eq!(set.iter().count(), 0);
    }

    #[test]
    fn words_are_joined_at_any_place() {
        for first in [0, 1, 31, 32, 33, 63, 64, 70] {
            let mut set = Bits::new("a set", first + 50).unwrap();
            set.join(first, &[0x8000_0001, 1 << 17]);
            assert!(set.iter().eq([first, first + 31, first + 49]), "{first}");
        }
    }
}
