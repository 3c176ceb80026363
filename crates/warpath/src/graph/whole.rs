//! Whole numbers among floats: SciPy's graphs have floats, and nearly all of these are integers.

use rayon::prelude::*;

use crate::instructions::with_widest_instructions;
use crate::on_huge_pages;

/// What was seen of some numbers, in one look at each.
#[derive(Debug, Clone)]
pub struct WholeNumbers {
    /// The least finite number; infinity if there is none.
    pub least: f64,
    /// The greatest finite number; infinity below 0 if there is none.
    pub greatest: f64,
    /// Whether all are finite.
    pub finite: bool,
    /// Whether all finite ones are whole; it counts if none is below 0 or above 2^51.
    pub whole: bool,
    /// The numbers, where these are whole, of 0 or more, and fit.
    pub integers: Vec<u32>,
}

/// Looks at numbers, and writes down those that are whole. O(length) on all of rayon's threads.
pub fn whole_numbers(values: &[f64]) -> WholeNumbers {
    /// What a thread looks at.
    const PART: usize = 1 << 16;
    let mut integers = on_huge_pages(vec![0_u32; values.len()]);
    let parts = values.par_chunks(PART).zip(integers.par_chunks_mut(PART));
    let seen = parts.map(|(values, integers)| Seen::of(values, integers)).reduce(Seen::nothing, Seen::and);
    let Seen { least, greatest, finite, whole } = seen;
    WholeNumbers { least, greatest, finite, whole, integers }
}

/// What was seen.
struct Seen {
    least: f64,
    greatest: f64,
    finite: bool,
    whole: bool,
}

impl Seen {
    fn nothing() -> Self {
        Seen { least: f64::INFINITY, greatest: f64::NEG_INFINITY, finite: true, whole: true }
    }

    fn of(values: &[f64], integers: &mut [u32]) -> Self {
        /// Beyond it, sums have no fractions left; any processor adds several numbers at a time, and few round them so. The last bits of
        /// a sum are those of the integer.
        const NO_FRACTIONS: f64 = 4_503_599_627_370_496.0;
        /// As many numbers as processors look at together.
        const LANES: usize = 8;
        with_widest_instructions!([] [] (values: &[f64] = values, integers: &mut [u32] = integers) -> Seen {
            let (mut least, mut greatest) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
            let (mut infinite, mut broken) = ([0_u64; LANES], [0_u64; LANES]);
            let mut look = |lane: usize, value: f64| {
                let is_finite = value.abs() < f64::INFINITY;
                let sum = value + NO_FRACTIONS;
                infinite[lane] |= u64::from(!is_finite);
                broken[lane] |= u64::from(is_finite & (sum - NO_FRACTIONS != value));
                let (low, high) = if is_finite { (value, value) } else { (f64::INFINITY, f64::NEG_INFINITY) };
                least[lane] = if low < least[lane] { low } else { least[lane] };
                greatest[lane] = if high > greatest[lane] { high } else { greatest[lane] };
                sum.to_bits() as u32
            };
            let ((groups, rest), (to, to_rest)) = (values.as_chunks::<LANES>(), integers.as_chunks_mut::<LANES>());
            for (group, to) in groups.iter().zip(to) {
                (0..LANES).for_each(|lane| to[lane] = look(lane, group[lane]));
            }
            for (&value, to) in rest.iter().zip(to_rest) {
                *to = look(0, value);
            }
            Seen {
                least: least.into_iter().fold(f64::INFINITY, f64::min),
                greatest: greatest.into_iter().fold(f64::NEG_INFINITY, f64::max),
                finite: infinite == [0; LANES],
                whole: broken == [0; LANES],
            }
        })
    }

    fn and(self, other: Self) -> Self {
        Seen {
            least: self.least.min(other.least),
            greatest: self.greatest.max(other.greatest),
            finite: self.finite && other.finite,
            whole: self.whole && other.whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    #[test]
    fn numbers_are_seen_one_by_one() {
        let mut random = Random(1);
        let odd = [0.5, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 4_294_967_295.0, 4_294_967_295.5, 1e-300];
        for length in [0, 1, 7, 8, 9, 1000, 70_000] {
            for &odd in odd.iter().chain([&3.0]) {
                let mut values: Vec<f64> = (0..length).map(|_| random.below(1 << 32) as f64).collect();
                if let Some(value) = values.get_mut(random.below(length.max(1)) as usize) {
                    *value = odd;
                }
                let seen = whole_numbers(&values);
                let finite = || values.iter().copied().filter(|value| value.is_finite());
                assert_eq!(seen.finite, values.iter().all(|value| value.is_finite()));
                assert_eq!(seen.least, finite().fold(f64::INFINITY, f64::min));
                assert_eq!(seen.greatest, finite().fold(f64::NEG_INFINITY, f64::max));
                assert_eq!(seen.whole, finite().all(|value| value.fract() == 0.0), "{odd}");
                let fits = |value: f64| value.fract() == 0.0 && (0.0..=4_294_967_295.0).contains(&value);
                for (&value, &integer) in values.iter().zip(&seen.integers).filter(|(value, _)| fits(**value)) {
                    assert_eq!(value, f64::from(integer));
                }
            }
        }
    }
}
