//! The semirings as kernels are compiled for them, and the cells of matrices.

use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, Function, Image};
use super::graph::Extent;
use crate::Result;
use crate::graph::{
    DistanceValue, F32ToF32, F64ToF64, I32ToI64, MinPlus, U32ToU32, U32ToU64, UnitToU32, VertexId, with_min_plus,
};

/// A semiring whose distances a device has, in an array or in a matrix.
pub(crate) trait MinPlusOnDevice: MinPlus {
    /// Its kernels.
    const ON_DEVICE: DeviceSemiring;
    /// The cells of a matrix that do, from narrow to wide. Those before the last are tried only if weights are small
    /// for them.
    const CELLS: &'static [Cell];
    /// The cells that do where some weights are below zero.
    const SIGNED_CELLS: &'static [Cell] = Self::CELLS;
    /// Whether it is for what a narrower semiring has turned out too narrow for.
    const REPEATS: bool = false;
    /// A distance as the device has it: unsigned, in order.
    fn on_device(distance: Self::Distance) -> u64;
    /// The distances in these arrays, one after another.
    fn read(arrays: &[(&Pool, DeviceSlice<u32>)]) -> Result<Vec<Self::Distance>> {
        Pool::read_all(&arrays.iter().map(|(pool, distances)| (*pool, distances.cast())).collect::<Vec<_>>())
    }
    /// A distance from a cell of integers, which is in range.
    fn of_integer(cell: i64) -> Self::Distance;
    /// A distance from a cell of floats, which is in range.
    fn of_float(cell: f64) -> Self::Distance;
}

/// A row of the table: the semiring, its kernels, its cells, its distances on a device, and what differs.
macro_rules! on_device {
    ($semiring:ident, $kernels:ident, [$($cell:ident),*], |$distance:ident| $on_device:expr $(, $item:item)*) => {
        impl MinPlusOnDevice for $semiring {
            const ON_DEVICE: DeviceSemiring = DeviceSemiring::$kernels;
            const CELLS: &'static [Cell] = &[$(Cell::$cell),*];
            fn on_device($distance: Self::Distance) -> u64 {
                $on_device
            }
            fn of_integer(cell: i64) -> Self::Distance {
                cell as Self::Distance
            }
            fn of_float(cell: f64) -> Self::Distance {
                cell as Self::Distance
            }
            $($item)*
        }
    };
}
on_device!(UnitToU32, Narrow, [U16, U32], |d| d.into(), const SIGNED_CELLS: &'static [Cell] = &[];);
on_device!(U32ToU32, Narrow, [U16, U32], |d| d.into(), const SIGNED_CELLS: &'static [Cell] = &[];);
on_device!(U32ToU64, Wide, [I64], |d| d, const SIGNED_CELLS: &'static [Cell] = &[];, const REPEATS: bool = true;);
on_device!(
    I32ToI64,
    Signed,
    [U16, I32, I64],
    |d| d.key(),
    const SIGNED_CELLS: &'static [Cell] = &[Cell::I32, Cell::I64];,
    fn read(arrays: &[(&Pool, DeviceSlice<u32>)]) -> Result<Vec<i64>> {
        let keys = arrays.iter().map(|(pool, distances)| (*pool, distances.cast::<u64>()));
        Ok(Pool::read_all(&keys.collect::<Vec<_>>())?.into_iter().map(i64::from_key).collect())
    }
);
// A cutoff may be -0.
on_device!(F32ToF32, Single, [F32], |d| (d + 0.0).to_bits().into());
on_device!(F64ToF64, Double, [F64], |d| (d + 0.0).to_bits());

/// The semirings that kernels are compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DeviceSemiring {
    /// Unsigned weights, 32-bit distances; unit weights, too.
    Narrow,
    /// Unsigned weights, 64-bit distances.
    Wide,
    /// Signed weights.
    Signed,
    /// 32-bit floats.
    Single,
    /// 64-bit floats.
    Double,
}

/// Evaluates an expression with `$semiring` as the [`MinPlus`] of a [`DeviceSemiring`].
macro_rules! with_semiring {
    ($on_device:expr, $semiring:ident => $body:expr) => {
        match $on_device {
            DeviceSemiring::Narrow => with_semiring!(in U32ToU32, $semiring => $body),
            DeviceSemiring::Wide => with_semiring!(in U32ToU64, $semiring => $body),
            DeviceSemiring::Signed => with_semiring!(in I32ToI64, $semiring => $body),
            DeviceSemiring::Single => with_semiring!(in F32ToF32, $semiring => $body),
            DeviceSemiring::Double => with_semiring!(in F64ToF64, $semiring => $body),
        }
    };
    (in $type:ident, $semiring:ident => $body:expr) => {{
        type $semiring = $type;
        $body
    }};
}

/// The semirings of the papers' algorithms.
pub(in crate::cuda) const NON_NEGATIVE: &[DeviceSemiring] =
    &[DeviceSemiring::Narrow, DeviceSemiring::Wide, DeviceSemiring::Single];

impl DeviceSemiring {
    /// Its name, such as `u32->u64`.
    pub(crate) fn name(self) -> &'static str {
        with_semiring!(self, S => S::NAME)
    }

    /// It and no other.
    pub(in crate::cuda) fn alone(self) -> &'static [Self] {
        match self {
            DeviceSemiring::Narrow => &[DeviceSemiring::Narrow],
            DeviceSemiring::Wide => &[DeviceSemiring::Wide],
            DeviceSemiring::Signed => &[DeviceSemiring::Signed],
            DeviceSemiring::Single => &[DeviceSemiring::Single],
            DeviceSemiring::Double => &[DeviceSemiring::Double],
        }
    }

    /// How many 32-bit words a distance is.
    pub(crate) fn words(self) -> u64 {
        with_semiring!(self, S => size_of::<<S as MinPlus>::Distance>() as u64 / 4)
    }

    /// The mark of a vertex without a distance.
    pub(in crate::cuda) fn unreachable(self) -> u64 {
        with_semiring!(self, S => S::on_device(<S as MinPlus>::Distance::UNREACHABLE))
    }

    /// The distance of a source.
    pub(super) fn zero(self) -> u64 {
        with_semiring!(self, S => S::on_device(<S as MinPlus>::Distance::ZERO))
    }

    /// The kernel of this semiring.
    pub(super) fn function(self, device: &dyn Device, image: &'static Image, kernel: &str) -> Result<Function> {
        device.function(image, &format!("{kernel}_{}", self.name().replace("->", "_")))
    }

    /// The part of an array that holds a distance for each of the first `vertices` vertices.
    pub(super) fn part(self, distances: DeviceSlice<u32>, vertices: u32) -> DeviceSlice<u32> {
        distances.part(0, u64::from(vertices) * self.words())
    }
}

/// From here on one large copy is quicker than many small ones.
pub(super) const MANY: usize = 64;

/// Gives every vertex no distance, and the sources a distance of zero.
pub(super) fn start(
    pool: &Pool,
    distances: DeviceSlice<u32>,
    semiring: DeviceSemiring,
    sources: &[VertexId],
) -> Result<()> {
    let (words, unreachable) = (semiring.words() as usize, in_words(semiring.unreachable()));
    let zero = &in_words(semiring.zero())[..words];
    let place = |source: &VertexId| *source as usize * words;
    if sources.len() < MANY && (words == 1 || unreachable[0] == unreachable[1]) {
        pool.fill(distances, unreachable[0])?;
        return sources.iter().try_for_each(|v| pool.upload(distances.part(place(v) as u64, words as u64), zero));
    }
    pool.upload_with(distances, distances.length() as usize, |range, piece| {
        range.clone().zip(&mut *piece).for_each(|(index, word)| *word = unreachable[index % words]);
        let later = &sources[sources.partition_point(|v| place(v) + words <= range.start)..];
        let here = later.iter().flat_map(|v| place(v)..place(v) + words).take_while(|&index| index < range.end);
        here.filter(|index| range.contains(index)).for_each(|index| piece[index - range.start] = zero[index % words]);
    })
}

/// The lower word, then the upper one: as devices store numbers.
fn in_words(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

/// The semirings that a search on this graph may need, the one that is tried first at the front.
pub(crate) fn semirings_of(graph: &impl Extent) -> &'static [DeviceSemiring] {
    with_min_plus!(each graph.weight_kind(), S => S::ON_DEVICE)
}

/// What the cells of a matrix are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// 16-bit integers of 0 or more.
    U16,
    /// 32-bit integers of 0 or more.
    U32,
    /// 32-bit integers.
    I32,
    /// 64-bit integers.
    I64,
    /// 32-bit floats.
    F32,
    /// 64-bit floats.
    F64,
}

impl Cell {
    /// Its name, as kernels have it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Cell::U16 => "u16",
            Cell::U32 => "u32",
            Cell::I32 => "i32",
            Cell::I64 => "i64",
            Cell::F32 => "f32",
            Cell::F64 => "f64",
        }
    }

    /// Bytes of a cell.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Cell::U16 => 2,
            Cell::U32 | Cell::I32 | Cell::F32 => 4,
            Cell::I64 | Cell::F64 => 8,
        }
    }

    /// What integers count as infinite from; 0 for floats.
    pub(super) fn infinity(self) -> i64 {
        match self {
            Cell::U16 => (u16::MAX / 2).into(),
            Cell::U32 => (u32::MAX / 2).into(),
            Cell::I32 => (i32::MAX / 2).into(),
            Cell::I64 => i64::MAX / 2,
            Cell::F32 | Cell::F64 => 0,
        }
    }

    /// Whether a matrix of these is made of floats.
    pub(super) fn is_float(self) -> bool {
        matches!(self, Cell::F32 | Cell::F64)
    }
}
