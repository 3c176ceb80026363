//! Tentative distances in few bits, and the weights that they are made from.

use crate::graph::{DistanceValue, Unit};

/// The weight of an arc, as labels are made from it.
pub(crate) trait ArcWeight: Copy + Send + Sync {
    /// As an integer; never called for floats.
    fn to_i64(self) -> i64;
    /// As a float, rounded if it has more than 53 bits.
    fn to_f64(self) -> f64;
}

macro_rules! arc_weight {
    ($type:ty, $integer:expr, $float:expr) => {
        impl ArcWeight for $type {
            fn to_i64(self) -> i64 {
                let convert: fn($type) -> i64 = $integer;
                convert(self)
            }
            fn to_f64(self) -> f64 {
                let convert: fn($type) -> f64 = $float;
                convert(self)
            }
        }
    };
}
arc_weight!(Unit, |_| 1, |_| 1.0);
arc_weight!(u32, i64::from, f64::from);
arc_weight!(i32, i64::from, f64::from);
arc_weight!(i64, |w| w, |w| w as f64);
arc_weight!(f32, |w| w as i64, f64::from);
arc_weight!(f64, |w| w as i64, |w| w);

/// A tentative distance, in as few bits as possible.
pub(in crate::cpu::apsp) trait Label: Copy + PartialOrd + Send + Sync + 'static {
    /// The label of a source.
    const ZERO: Self;
    /// The label of a vertex not reached; greater than all others.
    const UNREACHED: Self;
    /// How many bits it has.
    const BITS: u64;
    /// Sums below this can't have saturated.
    const LIMIT: f64;
    /// The label plus a weight, `UNREACHED` if the sum is out of range.
    fn extend(self, weight: Self) -> Self;
    /// The label of an arc's weight, `UNREACHED` if the weight is out of range.
    fn weight(weight: impl ArcWeight) -> Self;
    /// For comparisons with [`Label::LIMIT`].
    fn to_f64(self) -> f64;
    /// Whether it is less than all numbers, as floats below 0 become when they leave their range.
    fn is_below_all(self) -> bool {
        self.to_f64() == f64::NEG_INFINITY
    }
}

macro_rules! label {
    ($type:ty, $unreached:expr, |$label:ident, $weight:ident| $extend:expr, |$arc:ident| $from_arc:expr) => {
        impl Label for $type {
            const ZERO: Self = 0 as $type;
            const UNREACHED: Self = $unreached;
            const BITS: u64 = <$type>::MAX.to_le_bytes().len() as u64 * 8;
            const LIMIT: f64 = <$type>::MAX as f64 * (1.0 - 1e-6);
            #[inline(always)]
            fn extend(self, $weight: Self) -> Self {
                let $label = self;
                $extend
            }
            fn weight($arc: impl ArcWeight) -> Self {
                $from_arc
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    };
}
label!(u8, u8::MAX, |d, w| d.saturating_add(w), |arc| arc.to_i64().try_into().unwrap_or(u8::MAX));
label!(u16, u16::MAX, |d, w| d.saturating_add(w), |arc| arc.to_i64().try_into().unwrap_or(u16::MAX));
// `saturating_add` compiles to more instructions than this.
label!(
    u32,
    u32::MAX,
    |d, w| {
        let room = u32::MAX - w;
        (if d < room { d } else { room }) + w
    },
    |arc| arc.to_i64().try_into().unwrap_or(u32::MAX)
);
label!(u64, u64::MAX, |d, w| d.saturating_add(w), |arc| arc.to_i64().try_into().unwrap_or(u64::MAX));
// A path has fewer than 2^32 arcs of less than 2^31: nothing but `UNREACHED` could overflow.
label!(i64, i64::MAX, |d, w| if d == i64::MAX { d } else { d.wrapping_add(w) }, |arc| arc.to_i64());
label!(f32, f32::INFINITY, |d, w| d + w, |arc| arc.to_f64() as f32);
label!(f64, f64::INFINITY, |d, w| d + w, |arc| arc.to_f64());

/// A label that becomes a distance of type `D`.
pub(in crate::cpu::apsp) trait LabelOf<D>: Label {
    /// The distance; `UNREACHED` becomes `UNREACHABLE`.
    fn distance(self) -> D;
}
macro_rules! label_of {
    ($($label:ty => $distance:ty),*) => {$(
        impl LabelOf<$distance> for $label {
            #[inline(always)]
            fn distance(self) -> $distance {
                if self == Self::UNREACHED { <$distance as DistanceValue>::UNREACHABLE } else { self as $distance }
            }
        }
    )*};
}
label_of!(u8 => u32, u16 => u32, u32 => u32, u8 => u64, u16 => u64, u32 => u64, u64 => u64);
label_of!(u8 => i64, u16 => i64, u32 => i64, i64 => i64, f32 => f32, f64 => f64);
