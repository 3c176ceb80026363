//! Random numbers by index, so that threads need not agree on an order.
//!
//! A generator that hands out one number after another makes the graph depend on which thread asks first. Here the
//! `i`-th number of a stream is a function of the stream and `i`: the `i`-th output of SplitMix64, whose state after
//! `i` steps is known without taking them (G. Steele, D. Lea, C. Flood, Fast splittable pseudorandom number generators,
//! OOPSLA 2014). It passes BigCrush and costs two multiplications.
//!
//! [`Permutation`] shuffles a range the same way, without an array: rounds of addition, multiplication by an odd
//! number and a shifted exclusive or, each of which can be undone, so that no two indices meet. The Graph500 reference
//! code scrambles vertex ids like this. Ranges that are no power of two are permuted within the next power, again and
//! again until the value is inside, which still is a bijection (cycle walking: J. Black, P. Rogaway, Ciphers with
//! arbitrary finite domains, CT-RSA 2002).

/// What the state of SplitMix64 grows by in a step.
pub(crate) const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of SplitMix64: a bijection without visible pattern.
#[inline]
pub(crate) fn mix(state: u64) -> u64 {
    let mut mixed = state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

/// A sequence of random numbers, each reached by its index.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stream(u64);

impl Stream {
    /// The stream of this seed for one of several purposes.
    pub(super) fn new(seed: u64, purpose: u64) -> Self {
        Stream(mix(seed ^ mix(purpose.wrapping_add(STEP))))
    }

    /// The number at `index`: 64 random bits.
    #[inline]
    pub(super) fn at(self, index: u64) -> u64 {
        mix(self.0.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP)))
    }

    /// The number at `index`, scaled to be below `bound`; uniform up to a total bias of at most `bound / 2^64`.
    #[inline]
    pub(super) fn below(self, index: u64, bound: u64) -> u64 {
        ((u128::from(self.at(index)) * u128::from(bound)) >> 64) as u64
    }
}

/// A random bijection of `0..size` onto itself.
#[derive(Debug, Clone)]
pub(super) struct Permutation {
    size: u64,
    mask: u64,
    shift: u32,
    rounds: [(u64, u64); 4],
}

impl Permutation {
    /// The permutation of `0..size`, which is at most 2^63, that `seed` and `purpose` choose.
    pub(super) fn new(seed: u64, purpose: u64, size: u64) -> Self {
        let keys = Stream::new(seed, purpose);
        let mask = size.next_power_of_two().wrapping_sub(1);
        let bits = mask.count_ones();
        let round = |number: u64| (keys.at(2 * number), keys.at(2 * number + 1) | 1);
        Permutation { size, mask, shift: bits.div_ceil(2).max(1), rounds: std::array::from_fn(|n| round(n as u64)) }
    }

    /// The image of `index`, which is below the size.
    #[inline]
    pub(super) fn at(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            value = self.within_power(value);
            if value < self.size {
                return value;
            }
        }
    }

    /// The image of a value below the next power of two among those values. It is that of [`Permutation::at`] where the
    /// size is a power of two, and has no branch.
    #[inline(always)]
    pub(super) fn within_power(&self, value: u64) -> u64 {
        self.rounds.iter().fold(value, |value, (addend, factor)| {
            let value = value.wrapping_add(*addend).wrapping_mul(*factor) & self.mask;
            value ^ value >> self.shift
        })
    }
}

/// So many different numbers below `size`, or all of them, drawn at random by a seed.
pub(crate) fn sample(count: u64, size: u64, seed: u64) -> impl ExactSizeIterator<Item = u64> {
    let order = Permutation::new(seed, 0, size);
    (0..count.min(size) as usize).map(move |index| order.at(index as u64))
}

/// All unordered pairs of different vertices in random order: distinct edges, reached by index.
///
/// The triangle of pairs `(u, v)` with `v < u` is folded into a rectangle (its longest row beside its shortest), so
/// that a pair is found from its number by one division; a [`Permutation`] shuffles the numbers.
#[derive(Debug, Clone)]
pub(super) struct RandomPairs {
    vertices: u64,
    order: Permutation,
}

impl RandomPairs {
    /// The number of pairs of `vertices` vertices.
    pub(super) fn count(vertices: u64) -> u64 {
        (u128::from(vertices) * u128::from(vertices.saturating_sub(1)) / 2) as u64
    }

    /// The pairs of `vertices` vertices, fewer than 2^32, in the order that `seed` and `purpose` choose.
    pub(super) fn new(seed: u64, purpose: u64, vertices: u64) -> Self {
        RandomPairs { vertices, order: Permutation::new(seed, purpose, Self::count(vertices)) }
    }

    /// The pair at `index`, which is below [`RandomPairs::count`].
    #[inline]
    pub(super) fn at(&self, index: u64) -> (u64, u64) {
        let odd = self.vertices % 2;
        let width = self.vertices - 1 + odd;
        let number = self.order.at(index);
        let (row, column) = (number / width, number % width);
        let long = self.vertices - 1 - row;
        if column < long { (long, column) } else { (row + odd, column - long) }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn numbers_depend_on_seed_purpose_and_index() {
        let mut seen = HashSet::new();
        for (seed, purpose, index) in (0..1000).map(|i| (i % 10, i / 10 % 10, i / 100)) {
            assert!(seen.insert(Stream::new(seed, purpose).at(index)));
        }
        let stream = Stream::new(3, 4);
        let mean = (0..10_000).map(|index| stream.below(index, 101)).sum::<u64>() as f64 / 10_000.0;
        assert!((mean - 50.0).abs() < 1.5, "{mean}");
        assert_eq!((0..10_000).map(|index| stream.below(index, 101)).max(), Some(100));
    }

    #[test]
    fn permutations_hit_everything_once() {
        for size in (1..100).chain([1 << 12, 5000]) {
            let permutation = Permutation::new(9, size, size);
            let mut images: Vec<u64> = (0..size).map(|index| permutation.at(index)).collect();
            if size >= 5000 {
                let fixed = images.iter().zip(0..).filter(|&(&image, index)| image == index).count();
                assert!(fixed < 10, "{fixed} of {size} stay where they are");
                let rises = images.windows(2).filter(|pair| pair[0] < pair[1]).count();
                assert!(rises.abs_diff(2500) < 150, "{rises} of {size} are followed by a greater one");
            }
            images.sort_unstable();
            assert!(images.into_iter().eq(0..size), "{size}");
        }
    }

    #[test]
    fn pairs_are_all_pairs() {
        for vertices in 0..40 {
            let pairs = RandomPairs::new(1, 1, vertices);
            let all: HashSet<(u64, u64)> = (0..RandomPairs::count(vertices)).map(|index| pairs.at(index)).collect();
            assert_eq!(all.len() as u64, RandomPairs::count(vertices), "{vertices}");
            assert!(all.iter().all(|&(u, v)| v < u && u < vertices), "{vertices}");
        }
    }
}
