//! Powers of real numbers that are the same on every machine.
//!
//! The powers of the standard library come from the system, and systems round them differently. Here a power is made of
//! additions, multiplications and divisions, which every machine rounds alike, so that a seed gives the same graph
//! everywhere. Both series are cut where the rest is below the rounding of a 64-bit float.

use std::f64::consts::{LN_2, LOG2_E, SQRT_2};

const MANTISSA_BITS: u32 = f64::MANTISSA_DIGITS - 1;
/// What is added to an exponent in the bits of a float.
const BIAS: i64 = 1023;

/// A number from 0 up to, but without, 1 that 64 random bits choose.
#[inline]
pub(super) fn unit(random: u64) -> f64 {
    (random >> (u64::BITS - f64::MANTISSA_DIGITS)) as f64 / (1_u64 << f64::MANTISSA_DIGITS) as f64
}

/// The power of a base that is 0 or a normal float above 0; a power of 0 is 0.
#[inline]
pub(super) fn power(base: f64, exponent: f64) -> f64 {
    if base <= 0.0 { 0.0 } else { exp2(exponent * log2(base)) }
}

/// The binary logarithm of a normal float above 0: its exponent, and a series for the rest.
fn log2(value: f64) -> f64 {
    const TERMS: u32 = 11;
    let bits = value.to_bits();
    let mut exponent = (bits >> MANTISSA_BITS) as i64 - BIAS;
    let fraction = bits & ((1 << MANTISSA_BITS) - 1);
    let mut mantissa = f64::from_bits(fraction | (BIAS as u64) << MANTISSA_BITS);
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 (t + t^3 / 3 + t^5 / 5 + ..) with t = (m - 1) / (m + 1), which is at most 0.172.
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let sum = (0..TERMS).rev().fold(0.0, |sum, term| sum * (t * t) + 1.0 / f64::from(2 * term + 1));
    exponent as f64 + 2.0 * LOG2_E * t * sum
}

/// The power of 2: the nearest whole power, and a series for the rest. What is out of range becomes 0 or infinite.
fn exp2(exponent: f64) -> f64 {
    const TERMS: u32 = 15;
    let whole = exponent.round();
    if !(f64::from(f64::MIN_EXP)..f64::from(f64::MAX_EXP)).contains(&whole) {
        return if exponent < 0.0 { 0.0 } else { f64::INFINITY };
    }
    // e^z = 1 + z (1 + z / 2 (1 + z / 3 (1 + ..))), with z at most 0.347.
    let z = (exponent - whole) * LN_2;
    let series = (1..TERMS).rev().fold(1.0, |series, term| 1.0 + z / f64::from(term) * series);
    series * f64::from_bits(((whole as i64 + BIAS) as u64) << MANTISSA_BITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::random::Stream;

    #[test]
    fn powers_are_those_of_the_system_up_to_rounding() {
        let random = Stream::new(1, 2);
        for index in 0..20_000 {
            let base = unit(random.at(2 * index)) * 2_f64.powi((index % 80) as i32 - 40) + 1e-30;
            let exponent = unit(random.at(2 * index + 1)) * 6.0;
            let (found, expected) = (power(base, exponent), base.powf(exponent));
            assert!((found - expected).abs() <= 1e-13 * expected, "{base}^{exponent}: {found}, {expected}");
        }
        assert_eq!((power(0.0, 0.5), power(1.0, 7.0), power(2.0, 10.0)), (0.0, 1.0, 1024.0));
        assert_eq!((power(1e-300, 9.0), power(1e300, 9.0)), (0.0, f64::INFINITY));
    }

    #[test]
    fn units_are_below_one() {
        assert_eq!((unit(0), unit(1 << 63)), (0.0, 0.5));
        assert!(unit(u64::MAX) < 1.0);
    }
}
