//! Min-plus semirings: a type of weight with the type of distance in which lengths of paths are added up and compared.
//!
//! Everything below a solver is generic over [`MinPlus`] and compiled for each semiring of this file.
//! [`with_min_plus!`](with_min_plus) chooses one by the type of a graph's weights.

use super::weights::{DistanceValue, Unit, Weight, WeightKind};

mod sealed {
    pub trait Sealed {}
}

/// A min-plus semiring: weights, and distances, which are sums of weights and of which the least counts.
pub trait MinPlus: sealed::Sealed + Copy + Send + Sync + 'static {
    /// The weights of the arcs.
    type Weight: Weight;
    /// The distances.
    type Distance: DistanceValue;
    /// The name, such as `u32->u64`.
    const NAME: &'static str;
    /// `distance + weight`, rounded for floats. Integers saturate at `UNREACHABLE` instead of wrapping, so that an
    /// overflowing relaxation never wins; the solver finds out afterwards whether that can have mattered
    /// (see `narrow_suffices` in `solver/sssp/work.rs`). `distance` must not be `UNREACHABLE` where weights can be
    /// negative.
    fn extend(distance: Self::Distance, weight: Self::Weight) -> Self::Distance;
    /// The length of two paths joined; `UNREACHABLE` if either is, or if the sum is out of range.
    fn join(to: Self::Distance, from: Self::Distance) -> Self::Distance;
}

macro_rules! min_plus {
    ($(#[$doc:meta])* $semiring:ident, $weight:ty, $distance:ty, $name:literal, |$d:ident, $w:pat_param| $extend:expr,
     |$to:ident, $from:ident| $join:expr) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub struct $semiring;
        impl sealed::Sealed for $semiring {}
        impl MinPlus for $semiring {
            type Weight = $weight;
            type Distance = $distance;
            const NAME: &'static str = $name;
            #[inline(always)]
            fn extend($d: $distance, $w: $weight) -> $distance {
                $extend
            }
            #[inline(always)]
            fn join($to: $distance, $from: $distance) -> $distance {
                $join
            }
        }
    };
}

min_plus!(
    /// Unit weights; distances count edges.
    UnitToU32, Unit, u32, "u32->u32", |d, _| d.saturating_add(1), |to, from| to.saturating_add(from));
min_plus!(
    /// Unsigned weights, 32-bit distances: tried first.
    U32ToU32, u32, u32, "u32->u32", |d, w| d.saturating_add(w), |to, from| to.saturating_add(from));
min_plus!(
    /// Unsigned weights, 64-bit distances: never overflows, since a path has fewer than 2^32 edges.
    U32ToU64, u32, u64, "u32->u64", |d, w| d.saturating_add(w.into()), |to, from| to.saturating_add(from));
min_plus!(
    /// Signed weights, 64-bit distances: never overflows, since a path has fewer than 2^32 edges.
    I32ToI64, i32, i64, "i32->i64", |d, w| d.saturating_add(w.into()),
    // Distances are far below 2^63 in size: only the mark of unreachable vertices could overflow.
    |to, from| if to == i64::MAX || from == i64::MAX { i64::MAX } else { to.saturating_add(from) });
min_plus!(
    /// 32-bit floats, rounded left to right along a path.
    F32ToF32, f32, f32, "f32->f32", |d, w| d + w, |to, from| to + from);
min_plus!(
    /// 64-bit floats, rounded left to right along a path.
    F64ToF64, f64, f64, "f64->f64", |d, w| d + w, |to, from| to + from);

/// Evaluates an expression with `$semiring` as a semiring for weights of this [`WeightKind`]: with the wide distances
/// if `$wide`, and the weights have two types of distance.
///
/// With `each`: an array that lists the value of the expression for each of these semirings, the narrow one first.
#[macro_export]
#[doc(hidden)]
macro_rules! with_min_plus {
    (each $kind:expr, $semiring:ident => $body:expr) => {
        match $kind {
            $crate::graph::WeightKind::Unit => &[$crate::graph::with_min_plus!(in UnitToU32, $semiring => $body)],
            $crate::graph::WeightKind::U32 => {
                &[$crate::graph::with_min_plus!(in U32ToU32, $semiring => $body), $crate::graph::with_min_plus!(in U32ToU64, $semiring => $body)]
            }
            $crate::graph::WeightKind::I32 => &[$crate::graph::with_min_plus!(in I32ToI64, $semiring => $body)],
            $crate::graph::WeightKind::F32 => &[$crate::graph::with_min_plus!(in F32ToF32, $semiring => $body)],
            $crate::graph::WeightKind::F64 => &[$crate::graph::with_min_plus!(in F64ToF64, $semiring => $body)],
        }
    };
    (in $type:ident, $semiring:ident => $body:expr) => {{
        type $semiring = $crate::graph::$type;
        $body
    }};
    ($kind:expr, $wide:expr, $semiring:ident => $body:expr) => {
        match ($kind, $wide) {
            ($crate::graph::WeightKind::Unit, _) => $crate::graph::with_min_plus!(in UnitToU32, $semiring => $body),
            ($crate::graph::WeightKind::U32, false) => $crate::graph::with_min_plus!(in U32ToU32, $semiring => $body),
            ($crate::graph::WeightKind::U32, true) => $crate::graph::with_min_plus!(in U32ToU64, $semiring => $body),
            ($crate::graph::WeightKind::I32, _) => $crate::graph::with_min_plus!(in I32ToI64, $semiring => $body),
            ($crate::graph::WeightKind::F32, _) => $crate::graph::with_min_plus!(in F32ToF32, $semiring => $body),
            ($crate::graph::WeightKind::F64, _) => $crate::graph::with_min_plus!(in F64ToF64, $semiring => $body),
        }
    };
}
pub use with_min_plus;

/// The names of the semirings for weights of this type, the narrow one first.
pub(crate) fn semirings_of(kind: WeightKind) -> &'static [&'static str] {
    with_min_plus!(each kind, S => S::NAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overflowing_relaxations_saturate_at_unreachable() {
        assert_eq!(U32ToU32::extend(u32::MAX - 1, 1), u32::UNREACHABLE);
        assert_eq!(U32ToU32::extend(5, u32::MAX), u32::UNREACHABLE);
        assert_eq!(U32ToU64::extend(u32::MAX.into(), u32::MAX), 2 * u64::from(u32::MAX));
    }
}
