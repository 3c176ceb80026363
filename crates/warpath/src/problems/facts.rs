//! Summary facts about a row of distances: how many vertices are reached, the greatest distance, the sum.
//!
//! A search on a GPU takes less time than a careless pass over its distances. So one pass computes all facts, in blocks
//! that stay in the nearest cache and loops that compilers vectorize.

use std::fmt;
use std::ops::AddAssign;

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
pub struct RowFacts {
    /// How many vertices have a distance.
    pub reached: u64,
    /// The greatest distance; `None` if nothing was reached.
    pub greatest: Option<Distance>,
    /// The sum of all distances: exact for integers; floats are added in an order that depends on the length alone.
    pub sum: DistanceSum,
}

impl RowFacts {
    /// The facts about a row of fewer than 2^32 distances. O(length).
    pub(crate) fn of(row: &Distances) -> Self {
        with_distances!(row, row => Facts::facts(row))
    }
}

impl From<i128> for DistanceSum {
    fn from(sum: i128) -> Self {
        DistanceSum::Integer(sum)
    }
}

impl From<f64> for DistanceSum {
    fn from(sum: f64) -> Self {
        DistanceSum::Float(sum)
    }
}

/// Number of distances in a block.
const BLOCK: usize = 1 << 11;

/// How many rows are summarized together if their cells come column after column: 32-bit distances of a column fill a vector of
/// 256 bits.
pub(crate) const TOGETHER: usize = 8;

/// A distance type whose rows can be summarized.
pub(crate) trait Facts: DistanceValue {
    /// A sum of distances.
    type Sum: Copy + Default + AddAssign + Into<DistanceSum> + Send;

    /// The facts about a row of fewer than 2^32 distances. O(length).
    fn facts(row: &[Self]) -> RowFacts;

    /// How many cells of each row are distances, the greatest of these and their sum, for fewer than 2^16 columns. O(columns).
    fn of_columns<'a>(columns: impl Iterator<Item = &'a [Self; TOGETHER]>) -> [(u32, Self, Self::Sum); TOGETHER];
}

/// Facts in the making about rows whose cells come column after column.
#[derive(Clone, Copy)]
pub(crate) struct RowsByColumn<D: Facts>([(u64, D, D::Sum); TOGETHER]);

impl<D: Facts> RowsByColumn<D> {
    /// Before the first column.
    pub(crate) fn new() -> Self {
        RowsByColumn([(0, D::UNREACHABLE, D::Sum::default()); TOGETHER])
    }

    /// Adds fewer than 2^16 columns. Compiled for the instructions that the caller may use.
    #[inline(always)]
    pub(crate) fn add<'a>(&mut self, columns: impl Iterator<Item = &'a [D; TOGETHER]>) {
        for ((reached, greatest, sum), (more, most, part)) in self.0.iter_mut().zip(D::of_columns(columns)) {
            if more > 0 {
                *greatest = if *reached == 0 || *greatest < most { most } else { *greatest };
                *reached += u64::from(more);
                *sum += part;
            }
        }
    }

    /// The greatest distance of a row so far; `None` if nothing was reached.
    pub(crate) fn greatest(&self, row: usize) -> Option<D> {
        let (reached, greatest, _) = self.0[row];
        (reached > 0).then_some(greatest)
    }

    /// The facts about a row.
    pub(crate) fn facts(&self, row: usize) -> RowFacts {
        let (reached, greatest, sum) = self.0[row];
        RowFacts { reached, greatest: found(reached, greatest), sum: sum.into() }
    }
}

impl Facts for u32 {
    type Sum = i128;

    #[inline(always)]
    fn of_columns<'a>(columns: impl Iterator<Item = &'a [u32; TOGETHER]>) -> [(u32, u32, i128); TOGETHER] {
        // One more than each distance: unreached values wrap to 0. Halves of 16 bits fit 32 when they are added up.
        let [mut reached, mut above, mut low, mut high] = [[0_u32; TOGETHER]; 4];
        for column in columns {
            let next = column.map(|distance| distance.wrapping_add(1));
            (0..TOGETHER).for_each(|row| reached[row] += u32::from(next[row] != 0));
            (0..TOGETHER).for_each(|row| above[row] = if above[row] < next[row] { next[row] } else { above[row] });
            (0..TOGETHER).for_each(|row| low[row] += next[row] & 0xffff);
            (0..TOGETHER).for_each(|row| high[row] += next[row] >> 16);
        }
        std::array::from_fn(|row| {
            let sum = (i128::from(high[row]) << 16) + i128::from(low[row]) - i128::from(reached[row]);
            (reached[row], above[row].wrapping_sub(1), sum)
        })
    }

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

macro_rules! facts_of_64_bits {
    ($($integer:ty),*) => {
        $(impl Facts for $integer {
            type Sum = i128;

            #[inline(always)]
            fn of_columns<'a>(
                columns: impl Iterator<Item = &'a [$integer; TOGETHER]>,
            ) -> [(u32, $integer, i128); TOGETHER] {
                let mut reached = [0_u32; TOGETHER];
                let (mut above, [mut low, mut high]) = ([<$integer>::MIN; TOGETHER], [[0; TOGETHER]; 2]);
                for column in columns {
                    for row in 0..TOGETHER {
                        let distance = column[row];
                        let finite = if distance == <$integer>::MAX { 0 } else { distance };
                        reached[row] += u32::from(distance != <$integer>::MAX);
                        above[row] = above[row].max(distance.wrapping_add(1));
                        low[row] += finite & 0xffff_ffff;
                        high[row] += finite >> 32;
                    }
                }
                std::array::from_fn(|row| {
                    let sum = (i128::from(high[row]) << 32) + i128::from(low[row]);
                    (reached[row], above[row].wrapping_sub(1), sum)
                })
            }

            fn facts(row: &[$integer]) -> RowFacts {
                let (mut reached, mut above, mut low, mut high) = (0, <$integer>::MIN, 0, 0);
                for block in row.chunks(BLOCK) {
                    reached += count(block);
                    above = block.iter().map(|&d| d.wrapping_add(1)).fold(above, <$integer>::max);
                    let finite = block.iter().map(|&d| if d == <$integer>::MAX { 0 } else { d });
                    // The sum of fewer than 2^32 numbers of 32 bits fits into 64 bits.
                    low += finite.clone().map(|d| d & 0xffff_ffff).sum::<$integer>();
                    high += finite.map(|d| d >> 32).sum::<$integer>();
                }
                let sum = DistanceSum::Integer((i128::from(high) << 32) + i128::from(low));
                RowFacts { reached, greatest: found(reached, above.wrapping_sub(1)), sum }
            }
        })*
    };
}
facts_of_64_bits!(u64, i64);

macro_rules! facts_of_floats {
    ($($float:ty, $bits:ty);*) => {
        $(impl Facts for $float {
            type Sum = f64;

            #[inline(always)]
            fn of_columns<'a>(
                columns: impl Iterator<Item = &'a [$float; TOGETHER]>,
            ) -> [(u32, $float, f64); TOGETHER] {
                let mut reached = [0_u32; TOGETHER];
                let (mut greatest, mut sums) = ([<$float>::NEG_INFINITY; TOGETHER], [0.0; TOGETHER]);
                for column in columns {
                    for row in 0..TOGETHER {
                        let is_reached = column[row] != <$float>::UNREACHABLE;
                        let least = if is_reached { column[row] } else { <$float>::NEG_INFINITY };
                        reached[row] += u32::from(is_reached);
                        greatest[row] = if greatest[row] < least { least } else { greatest[row] };
                        sums[row] += if is_reached { f64::from(column[row]) } else { 0.0 };
                    }
                }
                std::array::from_fn(|row| (reached[row], greatest[row], sums[row]))
            }

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

    /// The facts about a row whose cells come in blocks of columns, beside rows of nothing.
    fn by_column<D: Facts>(row: &[D], place: usize) -> RowFacts {
        let mut rows = RowsByColumn::<D>::new();
        let column =
            |&cell: &D| -> [D; TOGETHER] { std::array::from_fn(|at| if at == place { cell } else { D::UNREACHABLE }) };
        let columns: Vec<_> = row.iter().map(column).collect();
        columns.chunks(BLOCK).for_each(|block| rows.add(block.iter()));
        assert_eq!(rows.facts(place ^ 1), RowFacts { reached: 0, greatest: None, sum: D::Sum::default().into() });
        rows.facts(place)
    }

    fn check_integers<D: Facts + Into<i128>>(extremes: &[D]) {
        for (place, row) in rows(extremes).into_iter().enumerate() {
            let finite: Vec<D> = row.iter().copied().filter(|&d| d != D::UNREACHABLE).collect();
            let greatest = finite.iter().map(|&d| -> (i128, D) { (d.into(), d) }).max_by_key(|&(value, _)| value);
            let expected = RowFacts {
                reached: finite.len() as u64,
                greatest: greatest.and_then(|(_, d)| d.distance()),
                sum: DistanceSum::Integer(finite.iter().map(|&d| -> i128 { d.into() }).sum()),
            };
            assert_eq!(D::facts(&row), expected);
            assert_eq!(by_column(&row, place), expected);
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
        for (place, row) in rows(&[0.0, 0.5, 3.0, -2.5, f32::INFINITY]).into_iter().enumerate() {
            let finite: Vec<f32> = row.iter().copied().filter(|d| d.is_finite()).collect();
            let greatest = finite.iter().copied().reduce(f32::max);
            let sum = DistanceSum::Float(finite.iter().map(|&d| f64::from(d)).sum());
            let expected = |greatest| RowFacts { reached: finite.len() as u64, greatest, sum };
            assert_eq!(f32::facts(&row), expected(greatest.map(Distance::Single)));
            let wide: Vec<f64> = row.iter().map(|&d| f64::from(d)).collect();
            assert_eq!(f64::facts(&wide), expected(greatest.map(|d| Distance::Double(d.into()))));
            assert_eq!(by_column(&row, place), expected(greatest.map(Distance::Single)));
            assert_eq!(by_column(&wide, place), f64::facts(&wide));
        }
    }
}
