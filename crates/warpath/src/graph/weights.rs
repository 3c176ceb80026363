//! The types of weights, the types of distances, and arrays of them. [`MinPlus`](super::MinPlus) says which go together.
//!
//! *Invariants.* Integers are seen as atomics of the same layout only while they are borrowed mutably.

use std::fmt::{Debug, Display};

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::{Error, Result};

/// The weight of an edge in a graph without weights: 1, in no bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Unit;

impl Display for Unit {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("1")
    }
}

/// The type of a graph's weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WeightKind {
    /// No weights: every edge counts 1.
    Unit,
    /// Unsigned 32-bit integers.
    U32,
    /// Signed 32-bit integers.
    I32,
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
}

impl WeightKind {
    /// The name: `unit`, `u32`, `i32`, `f32` or `f64`.
    pub fn name(self) -> &'static str {
        match self {
            WeightKind::Unit => "unit",
            WeightKind::U32 => "u32",
            WeightKind::I32 => "i32",
            WeightKind::F32 => "f32",
            WeightKind::F64 => "f64",
        }
    }

    /// Bytes a weight takes.
    pub fn bytes(self) -> u64 {
        match self {
            WeightKind::Unit => 0,
            WeightKind::U32 | WeightKind::I32 | WeightKind::F32 => 4,
            WeightKind::F64 => 8,
        }
    }
}

impl Display for WeightKind {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(self.name())
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Unit {}
    impl Sealed for u32 {}
    impl Sealed for i32 {}
    impl Sealed for u64 {}
    impl Sealed for i64 {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A type that edges can be weighted with.
pub trait Weight: sealed::Sealed + Pod + PartialOrd + Debug + Display + Default + Send + Sync {
    /// Its name at run time.
    const KIND: WeightKind;
    /// Whether this weight is below zero.
    fn is_negative(self) -> bool;
    /// The weight as a 64-bit float, exactly for every type.
    fn to_f64(self) -> f64;
    /// Wraps arrays of this type.
    fn into_weights(values: Vec<Self>) -> Weights;
    /// The array in `weights`, if it has this type.
    fn of(weights: &Weights) -> Option<&[Self]>;
}

macro_rules! weight {
    ($type:ty, $kind:ident, $negative:expr, $to_f64:expr) => {
        impl Weight for $type {
            const KIND: WeightKind = WeightKind::$kind;
            #[inline]
            fn is_negative(self) -> bool {
                let negative: fn($type) -> bool = $negative;
                negative(self)
            }
            #[inline]
            fn to_f64(self) -> f64 {
                let to_f64: fn($type) -> f64 = $to_f64;
                to_f64(self)
            }
            fn into_weights(values: Vec<Self>) -> Weights {
                Weights::$kind(values)
            }
            fn of(weights: &Weights) -> Option<&[Self]> {
                match weights {
                    Weights::$kind(values) => Some(values),
                    _ => None,
                }
            }
        }
    };
}

weight!(Unit, Unit, |_| false, |_| 1.0);
weight!(u32, U32, |_| false, f64::from);
weight!(i32, I32, |w| w < 0, f64::from);
weight!(f32, F32, |w| w < 0.0, f64::from);
weight!(f64, F64, |w| w < 0.0, |w| w);

/// The weights of a graph's arcs, in arc order.
#[derive(Debug, Clone)]
pub enum Weights {
    /// No weights; the array of [`Unit`] has the right length and takes no memory.
    Unit(Vec<Unit>),
    /// Unsigned 32-bit integers.
    U32(Vec<u32>),
    /// Signed 32-bit integers.
    I32(Vec<i32>),
    /// 32-bit floats: no NaN, no infinities, no negative zero.
    F32(Vec<f32>),
    /// 64-bit floats: no NaN, no infinities, no negative zero.
    F64(Vec<f64>),
}

/// Runs an expression with `$values` bound to the typed array of weights.
#[macro_export]
#[doc(hidden)]
macro_rules! with_weights {
    ($weights:expr, $values:ident => $body:expr) => {
        match $weights {
            $crate::graph::Weights::Unit($values) => $body,
            $crate::graph::Weights::U32($values) => $body,
            $crate::graph::Weights::I32($values) => $body,
            $crate::graph::Weights::F32($values) => $body,
            $crate::graph::Weights::F64($values) => $body,
        }
    };
}
pub use with_weights;

impl Weights {
    /// The type of the weights.
    pub fn kind(&self) -> WeightKind {
        match self {
            Weights::Unit(_) => WeightKind::Unit,
            Weights::U32(_) => WeightKind::U32,
            Weights::I32(_) => WeightKind::I32,
            Weights::F32(_) => WeightKind::F32,
            Weights::F64(_) => WeightKind::F64,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        with_weights!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Unit weights for `length` arcs.
    pub fn unit(length: usize) -> Self {
        Weights::Unit(vec![Unit; length])
    }

    /// An error, naming an arc, unless float weights are finite and not -0.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = match self {
            Weights::F32(values) => values.par_iter().position_any(|w| !w.is_finite() || w.to_bits() == 1 << 31),
            Weights::F64(values) => values.par_iter().position_any(|w| !w.is_finite() || w.to_bits() == 1 << 63),
            _ => None,
        };
        match bad {
            Some(arc) => Err(Error::invalid(format!("the weight of arc {arc} is NaN, infinite or -0"))),
            None => Ok(()),
        }
    }

    /// The bytes of the array; none of unit weights.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Weights::Unit(_) => &mut [],
            Weights::U32(values) => bytemuck::cast_slice_mut(values),
            Weights::I32(values) => bytemuck::cast_slice_mut(values),
            Weights::F32(values) => bytemuck::cast_slice_mut(values),
            Weights::F64(values) => bytemuck::cast_slice_mut(values),
        }
    }

    pub(crate) fn owned_bytes(&self) -> u64 {
        with_weights!(self, values => size_of_val(values.as_slice()) as u64)
    }
}

/// A type that distances are computed in.
///
/// `UNREACHABLE` compares greater than every distance, and no distance equals it.
pub trait DistanceValue: sealed::Sealed + Pod + PartialOrd + Debug + Display + Send + Sync {
    /// The distance of a source.
    const ZERO: Self;
    /// The mark of an unreached vertex.
    const UNREACHABLE: Self;
    /// Sums of floats below this are distances in spite of rounding.
    const LIMIT: f64;
    /// An unsigned integer of the same size and order as the distances, for atomics.
    type Key: DistanceKey;
    /// The key of this distance; order-preserving.
    fn key(self) -> Self::Key;
    /// The distance of this key.
    fn from_key(key: Self::Key) -> Self;
    /// The greatest distance that is at most `value`; `UNREACHABLE` if every distance is.
    fn at_most_integer(value: u64) -> Self;
    /// The greatest distance that is at most `value`, which is not NaN; `UNREACHABLE` if every distance is.
    fn at_most_float(value: f64) -> Self;
    /// The distance as the API shows it; `None` where unreachable.
    fn distance(self) -> Option<Distance>;
    /// The distance as a 64-bit float (rounded if it has more than 53 bits); infinity where unreachable.
    fn to_f64(self) -> f64;
    /// Wraps an array of this type.
    fn into_distances(values: Vec<Self>) -> Distances;
    /// The array in `distances`, if it has this type.
    fn of(distances: &Distances) -> Option<&Vec<Self>>;
    /// The array taken out of `distances`, if it has this type.
    fn into_vec(distances: Distances) -> Option<Vec<Self>>;
}

/// An unsigned integer that has an atomic form: [`DistanceValue::Key`].
pub trait DistanceKey: Pod + Ord + Debug + Send + Sync + 'static {
    /// Its atomic form.
    type Atomic: Send + Sync;
    /// These values as atomics, for as long as they are borrowed.
    fn atomics(values: &mut [Self]) -> &[Self::Atomic];
    /// Relaxed load.
    fn load(atomic: &Self::Atomic) -> Self;
    /// Relaxed store.
    fn store(atomic: &Self::Atomic, value: Self);
    /// Relaxed minimum; returns the value before.
    fn fetch_min(atomic: &Self::Atomic, value: Self) -> Self;
}

macro_rules! distance_key {
    ($type:ty, $atomic:ident) => {
        impl DistanceKey for $type {
            type Atomic = std::sync::atomic::$atomic;
            fn atomics(values: &mut [Self]) -> &[Self::Atomic] {
                const { assert!(align_of::<$type>() == align_of::<Self::Atomic>()) };
                // SAFETY: an atomic has the size and bit patterns of its integer, and here its alignment. Nobody else
                // reads or writes the values, since they are borrowed mutably for as long as the atomics.
                unsafe { &*(std::ptr::from_mut(values) as *const [Self::Atomic]) }
            }
            #[inline]
            fn load(atomic: &Self::Atomic) -> Self {
                atomic.load(std::sync::atomic::Ordering::Relaxed)
            }
            #[inline]
            fn store(atomic: &Self::Atomic, value: Self) {
                atomic.store(value, std::sync::atomic::Ordering::Relaxed);
            }
            #[inline]
            fn fetch_min(atomic: &Self::Atomic, value: Self) -> Self {
                atomic.fetch_min(value, std::sync::atomic::Ordering::Relaxed)
            }
        }
    };
}

distance_key!(u32, AtomicU32);
distance_key!(u64, AtomicU64);

macro_rules! distance_value {
    ($type:ty, $variant:ident, $key:ty, $zero:expr, $unreachable:expr, $to_key:expr, $from_key:expr, $shown:expr,
     $at_most_integer:expr, $at_most_float:expr) => {
        impl DistanceValue for $type {
            const ZERO: Self = $zero;
            const UNREACHABLE: Self = $unreachable;
            const LIMIT: f64 = <$type>::MAX as f64 * (1.0 - 1e-6);
            type Key = $key;
            #[inline]
            fn key(self) -> $key {
                let to_key: fn($type) -> $key = $to_key;
                to_key(self)
            }
            #[inline]
            fn from_key(key: $key) -> Self {
                let from_key: fn($key) -> $type = $from_key;
                from_key(key)
            }
            fn at_most_integer(value: u64) -> Self {
                let convert: fn(u64) -> $type = $at_most_integer;
                convert(value)
            }
            fn at_most_float(value: f64) -> Self {
                let convert: fn(f64) -> $type = $at_most_float;
                convert(value)
            }
            fn distance(self) -> Option<Distance> {
                let shown: fn($type) -> Distance = $shown;
                (self != Self::UNREACHABLE).then(|| shown(self))
            }
            #[inline]
            fn to_f64(self) -> f64 {
                if self == Self::UNREACHABLE { f64::INFINITY } else { self as f64 }
            }
            fn into_distances(values: Vec<Self>) -> Distances {
                Distances::$variant(values)
            }
            fn of(distances: &Distances) -> Option<&Vec<Self>> {
                match distances {
                    Distances::$variant(values) => Some(values),
                    _ => None,
                }
            }
            fn into_vec(distances: Distances) -> Option<Vec<Self>> {
                match distances {
                    Distances::$variant(values) => Some(values),
                    _ => None,
                }
            }
        }
    };
}

// Casts from float to integer saturate and round toward zero: at most the value, which is not negative here.
distance_value!(
    u32,
    U32,
    u32,
    0,
    u32::MAX,
    |d| d,
    |k| k,
    |d| Distance::Unsigned(d.into()),
    |value| value.try_into().unwrap_or(u32::MAX),
    |value| value as u32
);
distance_value!(u64, U64, u64, 0, u64::MAX, |d| d, |k| k, Distance::Unsigned, |value| value, |value| value as u64);
distance_value!(
    i64,
    I64,
    u64,
    0,
    i64::MAX,
    |d| d as u64 ^ (1 << 63),
    |k| (k ^ (1 << 63)) as i64,
    Distance::Signed,
    |value| value.try_into().unwrap_or(i64::MAX),
    |value| value.floor() as i64
);
distance_value!(
    f32,
    F32,
    u32,
    0.0,
    f32::INFINITY,
    |d| {
        let bits = d.to_bits();
        bits ^ (((bits as i32 >> 31) as u32) | 1 << 31)
    },
    |k| f32::from_bits(k ^ ((((!k) as i32 >> 31) as u32) | 1 << 31)),
    Distance::Single,
    |value| f32::at_most_float(value as f64),
    |value| {
        let nearest = value as f32;
        if f64::from(nearest) > value { nearest.next_down() } else { nearest }
    }
);
distance_value!(
    f64,
    F64,
    u64,
    0.0,
    f64::INFINITY,
    |d| {
        let bits = d.to_bits();
        bits ^ (((bits as i64 >> 63) as u64) | 1 << 63)
    },
    |k| f64::from_bits(k ^ ((((!k) as i64 >> 63) as u64) | 1 << 63)),
    Distance::Double,
    |value| value as f64,
    |value| value
);

/// One finite distance, as the API shows it.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub enum Distance {
    /// A sum of unsigned weights, or a number of edges.
    Unsigned(u64),
    /// A sum of signed integer weights.
    Signed(i64),
    /// A sum of 32-bit float weights.
    Single(f32),
    /// A sum of 64-bit float weights.
    Double(f64),
}

impl Distance {
    /// The distance as a 64-bit float, rounded if it has more than 53 bits.
    pub fn to_f64(self) -> f64 {
        match self {
            Distance::Unsigned(value) => value as f64,
            Distance::Signed(value) => value as f64,
            Distance::Single(value) => value.into(),
            Distance::Double(value) => value,
        }
    }

    /// A distance as two numbers, such as processes send each other: its type and its bits; zeros for none.
    pub fn to_words(distance: Option<Self>) -> [u64; 2] {
        match distance {
            None => [0, 0],
            Some(Distance::Unsigned(value)) => [1, value],
            Some(Distance::Signed(value)) => [2, value as u64],
            Some(Distance::Single(value)) => [3, value.to_bits().into()],
            Some(Distance::Double(value)) => [4, value.to_bits()],
        }
    }

    /// The distance that [`Distance::to_words`] has made two numbers of.
    pub fn of_words(words: [u64; 2]) -> Option<Self> {
        match words {
            [1, value] => Some(Distance::Unsigned(value)),
            [2, value] => Some(Distance::Signed(value as i64)),
            [3, bits] => Some(Distance::Single(f32::from_bits(bits as u32))),
            [4, bits] => Some(Distance::Double(f64::from_bits(bits))),
            _ => None,
        }
    }
}

impl Display for Distance {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Distance::Unsigned(value) => write!(out, "{value}"),
            Distance::Signed(value) => write!(out, "{value}"),
            Distance::Single(value) => write!(out, "{value}"),
            Distance::Double(value) => write!(out, "{value}"),
        }
    }
}

/// An array of distances; each type marks the unreachable by its [`DistanceValue::UNREACHABLE`].
#[derive(Debug, Clone, PartialEq)]
pub enum Distances {
    /// Unsigned 32-bit; unreachable is the maximum.
    U32(Vec<u32>),
    /// Unsigned 64-bit; unreachable is the maximum.
    U64(Vec<u64>),
    /// Signed 64-bit; unreachable is the maximum.
    I64(Vec<i64>),
    /// 32-bit floats; unreachable is infinity.
    F32(Vec<f32>),
    /// 64-bit floats; unreachable is infinity.
    F64(Vec<f64>),
}

/// Runs an expression with `$values` bound to the typed array of distances.
#[macro_export]
#[doc(hidden)]
macro_rules! with_distances {
    ($distances:expr, $values:ident => $body:expr) => {
        match $distances {
            $crate::graph::Distances::U32($values) => $body,
            $crate::graph::Distances::U64($values) => $body,
            $crate::graph::Distances::I64($values) => $body,
            $crate::graph::Distances::F32($values) => $body,
            $crate::graph::Distances::F64($values) => $body,
        }
    };
}
pub use with_distances;

impl Distances {
    /// How many there are.
    pub fn len(&self) -> usize {
        with_distances!(self, values => values.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distance at `index`; `None` where unreachable.
    ///
    /// # Panics
    ///
    /// If `index` is out of range.
    pub fn get(&self, index: usize) -> Option<Distance> {
        with_distances!(self, values => values[index].distance())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_as_distances_do() {
        let floats = [-f32::MAX, -1.5, -f32::MIN_POSITIVE, 0.0, 1e-45, 1.0, f32::MAX, f32::INFINITY];
        assert!(floats.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(floats.iter().all(|&d| f32::from_key(d.key()).to_bits() == d.to_bits()));
        let doubles = [-f64::MAX, -1.5, 0.0, 5e-324, 1.0, f64::INFINITY];
        assert!(doubles.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(doubles.iter().all(|&d| f64::from_key(d.key()).to_bits() == d.to_bits()));
        let signed = [i64::MIN, -1, 0, 1, i64::MAX];
        assert!(signed.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(signed.iter().all(|&d| i64::from_key(d.key()) == d));
    }
}
