//! The numbers that can stand in a matrix of distances.

use bytemuck::Zeroable;

/// A number that can stand in a distance matrix.
///
/// Integers count as infinite from [`Cell::INFINITY`] (half of the type's maximum) up. Floats must
/// be neither NaN nor negative infinity.
pub(crate) trait Cell: Zeroable + Copy + PartialOrd + Send + Sync + 'static {
    /// The empty path.
    const EMPTY: Self;
    /// No path. `INFINITY.plus(INFINITY)` is infinite too and does not wrap.
    const INFINITY: Self;
    /// Whether sums out of range are infinite, and stay so whatever is added.
    const OVERFLOWS_TO_INFINITY: bool;
    /// Whether [`Cell::lesser_of_non_negative`] differs from [`Cell::lesser`].
    const NON_NEGATIVE_IS_FASTER: bool;

    /// The sum. Wrapping for integers, see the module documentation for why it never wraps.
    fn plus(self, other: Self) -> Self;

    /// The minimum.
    fn lesser(self, other: Self) -> Self;

    /// The minimum of two numbers of which neither is negative.
    #[inline(always)]
    fn lesser_of_non_negative(self, other: Self) -> Self {
        self.lesser(other)
    }
}

macro_rules! integer_cells {
    ($($integer:ty),*) => {$(
        impl Cell for $integer {
            const EMPTY: Self = 0;
            const INFINITY: Self = <$integer>::MAX / 2;
            const OVERFLOWS_TO_INFINITY: bool = false;
            const NON_NEGATIVE_IS_FASTER: bool = false;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
        }
    )*};
}
integer_cells!(u16, i16, u32, i32, u64, i64);

macro_rules! float_cells {
    ($($float:ty as $bits:ty),*) => {$(
        impl Cell for $float {
            const EMPTY: Self = 0.0;
            const INFINITY: Self = <$float>::INFINITY;
            const OVERFLOWS_TO_INFINITY: bool = true;
            const NON_NEGATIVE_IS_FASTER: bool = true;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                if other < self { other } else { self }
            }

            // A negative zero reads as the smallest integer, hence as the minimum: still right.
            #[inline(always)]
            fn lesser_of_non_negative(self, other: Self) -> Self {
                let lesser = (self.to_bits() as $bits).min(other.to_bits() as $bits);
                Self::from_bits(lesser.cast_unsigned())
            }
        }
    )*};
}
float_cells!(f32 as i32, f64 as i64);
