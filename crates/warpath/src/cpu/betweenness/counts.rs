//! Numbers of shortest paths, and the shares that are computed from them: as floats, and as numbers of any exponent.

use std::cmp::Ordering;

/// A number of 0 and more that is added, multiplied and divided.
pub(super) trait Counted: Copy + Send {
    const ZERO: Self;
    const ONE: Self;
    /// Whether the number is in range.
    fn is_in_range(self) -> bool;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// This number through a number above 0.
    fn over(self, other: Self) -> Self;
    fn from_f64(number: f64) -> Self;
    fn to_f64(self) -> f64;
}

impl Counted for f64 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;

    /// Its inverse must not be subnormal either.
    #[inline(always)]
    fn is_in_range(self) -> bool {
        self < 1e300
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn times(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    fn over(self, other: Self) -> Self {
        self / other
    }

    #[inline(always)]
    fn from_f64(number: f64) -> Self {
        number
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
}

/// A number of 0 and more: a float from 1 to 2, times a power of two. 0 has the float 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wide {
    mantissa: f64,
    exponent: i64,
}

impl Wide {
    /// The same number with a float from 1 to 2 in place of one of any size.
    fn normal(mantissa: f64, exponent: i64) -> Self {
        if mantissa == 0.0 {
            return Wide::ZERO;
        }
        let power = (mantissa.to_bits() >> 52) as i64 - 1023;
        Wide { mantissa: mantissa * power_of_two(-power), exponent: exponent + power }
    }
}

/// 2^exponent, which is a normal float.
fn power_of_two(exponent: i64) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl Counted for Wide {
    const ZERO: Self = Wide { mantissa: 0.0, exponent: 0 };
    const ONE: Self = Wide { mantissa: 1.0, exponent: 0 };

    /// Fewer than 2^32 levels multiply a count by fewer than 2^64 arcs each, so that no exponent overflows.
    fn is_in_range(self) -> bool {
        true
    }

    fn plus(self, other: Self) -> Self {
        let (large, small) = match self.exponent.cmp(&other.exponent) {
            _ if self.mantissa == 0.0 => return other,
            _ if other.mantissa == 0.0 => return self,
            Ordering::Less => (other, self),
            _ => (self, other),
        };
        match large.exponent - small.exponent {
            // More than the bits of a float.
            64.. => large,
            apart => Wide::normal(large.mantissa + small.mantissa * power_of_two(-apart), large.exponent),
        }
    }

    fn times(self, other: Self) -> Self {
        Wide::normal(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }

    fn over(self, other: Self) -> Self {
        Wide::normal(self.mantissa / other.mantissa, self.exponent - other.exponent)
    }

    fn from_f64(number: f64) -> Self {
        Wide::normal(number, 0)
    }

    fn to_f64(self) -> f64 {
        match self.exponent {
            ..-1000 => 0.0,
            1000.. => f64::INFINITY,
            exponent => self.mantissa * power_of_two(exponent),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_numbers_are_floats_of_any_exponent() {
        let numbers = [0.0, 1.0, 3.0, 0.1, 1e-20, 7e18, 1.5e-305];
        let wide = |number: f64| Wide::from_f64(number);
        for a in numbers {
            assert_eq!(wide(a).to_f64(), if a < 1e-299 { 0.0 } else { a });
            for b in numbers {
                let is_small = |number: f64| number < 1e-299;
                let same = |found: Wide, wanted: f64| is_small(wanted) || found.to_f64() == wanted;
                assert!(same(wide(a).plus(wide(b)), a + b), "{a} + {b}");
                assert!(same(wide(a).times(wide(b)), a * b), "{a} * {b}");
                assert!(b == 0.0 || a / b > 1e299 || same(wide(a).over(wide(b)), a / b), "{a} / {b}");
            }
        }
        let mut doubled = Wide::ONE;
        (0..5000).for_each(|_| doubled = doubled.plus(doubled));
        assert_eq!(doubled, Wide { mantissa: 1.0, exponent: 5000 });
        assert_eq!(doubled.plus(Wide::ONE), doubled);
        assert_eq!(doubled.over(doubled).to_f64(), 1.0);
        assert_eq!((doubled.to_f64(), Wide::ONE.over(doubled).to_f64()), (f64::INFINITY, 0.0));
    }
}
