//! Summary facts about a row of distances: how many vertices are reached, the greatest distance, the sum.
//!
//! A search on a GPU takes less time than a careless pass over its distances. So one pass computes all facts, in blocks
//! that stay in the nearest cache and loops that compilers vectorize.

use std::fmt;

use crate::graph::{Distance, DistanceValue, Distances, with_distances};

/// A sum of distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DistanceSum {
    /// A sum of integers: exact.
    Integer(i128),
    /// A sum of floats: rounded at each step.
    Float(f64),
}

impl fmt::Display for DistanceSum {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DistanceSum::Integer(value) => write!(out, "{value}"),
            DistanceSum::Float(value) => write!(out, "{value}"),
        }
    }
}

/// Facts about a row of distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct RowFacts {
    /// How many vertices have a distance.
    pub(crate) reached: u64,
    /// The greatest distance; `None` if nothing was reached.
    pub(crate) greatest: Option<Distance>,
    /// The sum of all distances: exact for integers; floats are added in an order that depends on the length alone.
    pub(crate) sum: DistanceSum,
}

impl RowFacts {
    /// The facts about a row of fewer than 2^32 distances. O(length).
    pub(crate) fn of(row: &Distances) -> Self {
        with_distances!(row, row => Facts::facts(row))
    }
}

/// Number of distances in a block.
const BLOCK: usize = 1 << 11;

/// A distance type whose rows can be summarized.
pub(crate) trait Facts: DistanceValue {
    /// The facts about a row of fewer than 2^32 distances. O(length).
    fn facts(row: &[Self]) -> RowFacts;
}

impl Facts for u32 {
    fn facts(row: &[u32]) -> RowFacts {
        // `above` is one more than the greatest distance: unreached values wrap to 0 without a branch.
        let (mut reached, mut above, mut sum) = (0, 0, 0);
        for block in row.chunks(BLOCK) {
            reached += count(block);
            above = block.iter().map(|&d| d.wrapping_add(1)).fold(above, u32::max);
            sum += block.iter().map(|&d| if d == u32::MAX { 0 } else { u64::from(d) }).sum::<u64>();
        }
        let greatest = found(reached, above.wrapping_sub(1));
        RowFacts { reached, greatest, sum: DistanceSum::Integer(sum.into()) }
    }
}

impl Facts for u64 {
    fn facts(row: &[u64]) -> RowFacts {
        let (mut reached, mut above, mut low, mut high) = (0, 0, 0, 0);
        for block in row.chunks(BLOCK) {
            reached += count(block);
            above = block.iter().map(|&d| d.wrapping_add(1)).fold(above, u64::max);
            let finite = block.iter().map(|&d| if d == u64::MAX { 0 } else { d });
            // The sum of fewer than 2^32 numbers of 32 bits fits into 64 bits.
            low += finite.clone().map(|d| d & 0xffff_ffff).sum::<u64>();
            high += finite.map(|d| d >> 32).sum::<u64>();
        }
        let sum = DistanceSum::Integer((i128::from(high) << 32) + i128::from(low));
        RowFacts { reached, greatest: found(reached, above.wrapping_sub(1)), sum }
    }
}

impl Facts for i64 {
    fn facts(row: &[i64]) -> RowFacts {
        let (mut reached, mut above, mut low, mut high) = (0, i64::MIN, 0, 0);
        for block in row.chunks(BLOCK) {
            reached += count(block);
            above = block.iter().map(|&d| d.wrapping_add(1)).fold(above, i64::max);
            let finite = block.iter().map(|&d| if d == i64::MAX { 0 } else { d });
            low += finite.clone().map(|d| d & 0xffff_ffff).sum::<i64>();
            high += finite.map(|d| d >> 32).sum::<i64>();
        }
        let sum = DistanceSum::Integer((i128::from(high) << 32) + i128::from(low));
        RowFacts { reached, greatest: found(reached, above.wrapping_sub(1)), sum }
    }
}

macro_rules! facts_of_floats {
    ($($float:ty, $bits:ty);*) => {
        $(impl Facts for $float {
            fn facts(row: &[$float]) -> RowFacts {
                // One sum and one maximum per vector lane.
                const LANES: usize = 8;
                let (mut greatest, mut sums) = ([<$float>::NEG_INFINITY; LANES], [0.0; LANES]);
                let mut take = |lane: usize, d: $float| {
                    // Unreached values get a negative sign for the maximum and all bits cleared for the sum: a choice
                    // would compile to a branch.
                    let unreached = <$bits>::from(d == <$float>::UNREACHABLE);
                    let least = <$float>::from_bits(d.to_bits() | unreached << (<$bits>::BITS - 1));
                    greatest[lane] = if greatest[lane] < least { least } else { greatest[lane] };
                    sums[lane] += f64::from(<$float>::from_bits(d.to_bits() & unreached.wrapping_sub(1)));
                };
                let (vectors, rest) = row.as_chunks::<LANES>();
                vectors.iter().for_each(|vector| (0..LANES).for_each(|lane| take(lane, vector[lane])));
                rest.iter().enumerate().for_each(|(lane, &d)| take(lane, d));
                let reached = row.chunks(BLOCK).map(count).sum();
                let greatest = greatest.into_iter().fold(<$float>::NEG_INFINITY, <$float>::max);
                RowFacts { reached, greatest: found(reached, greatest), sum: DistanceSum::Float(sums.iter().sum()) }
            }
        })*
    };
}
facts_of_floats!(f32, u32; f64, u64);

/// How many entries of a block are distances.
fn count<D: DistanceValue>(block: &[D]) -> u64 {
    u64::from(block.iter().map(|&distance| u32::from(distance != D::UNREACHABLE)).sum::<u32>())
}

fn found<D: DistanceValue>(reached: u64, greatest: D) -> Option<Distance> {
    if reached == 0 { None } else { greatest.distance() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    /// Rows of lengths around that of a block, with the least and the greatest distances of a type.
    fn rows<D: DistanceValue>(extremes: &[D]) -> Vec<Vec<D>> {
        let mut random = Random(17);
        let mut pick = |_| extremes[random.below(extremes.len() as u64) as usize];
        let mut rows: Vec<Vec<D>> =
            [0, 1, 7, BLOCK - 1, BLOCK, 2 * BLOCK + 9].map(|length| (0..length).map(&mut pick).collect()).into();
        rows.push(vec![D::UNREACHABLE; 5]);
        rows.push(extremes.to_vec());
        rows
    }

    fn check_integers<D: Facts + Into<i128>>(extremes: &[D]) {
        for row in rows(extremes) {
            let finite: Vec<D> = row.iter().copied().filter(|&d| d != D::UNREACHABLE).collect();
            let greatest = finite.iter().map(|&d| -> (i128, D) { (d.into(), d) }).max_by_key(|&(value, _)| value);
            let expected = RowFacts {
                reached: finite.len() as u64,
                greatest: greatest.and_then(|(_, d)| d.distance()),
                sum: DistanceSum::Integer(finite.iter().map(|&d| -> i128 { d.into() }).sum()),
            };
            assert_eq!(D::facts(&row), expected);
        }
    }

    #[test]
    fn integers_are_summed_up_exactly() {
        check_integers(&[0, 1, 77, 1 << 31, u32::MAX - 1, u32::MAX]);
        check_integers(&[0, 1, 1 << 32, 1 << 63, u64::MAX - 1, u64::MAX]);
        check_integers(&[0, -1, 1 << 40, i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]);
        check_integers(&[i64::MIN, i64::MAX]);
    }

    #[test]
    fn floats_are_summed_up() {
        // Halves of small numbers: no sum is rounded.
        for row in rows(&[0.0, 0.5, 3.0, -2.5, f32::INFINITY]) {
            let finite: Vec<f32> = row.iter().copied().filter(|d| d.is_finite()).collect();
            let greatest = finite.iter().copied().reduce(f32::max);
            let sum = DistanceSum::Float(finite.iter().map(|&d| f64::from(d)).sum());
            let expected = |greatest| RowFacts { reached: finite.len() as u64, greatest, sum };
            assert_eq!(f32::facts(&row), expected(greatest.map(Distance::Single)));
            let wide: Vec<f64> = row.iter().map(|&d| f64::from(d)).collect();
            assert_eq!(f64::facts(&wide), expected(greatest.map(|d| Distance::Double(d.into()))));
        }
    }
}
