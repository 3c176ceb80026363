//! Distances as cells, in place or in half the width.

use rayon::prelude::*;

use super::cells::Cell;
use super::{Outcome, tiled_floyd_warshall};
use crate::graph::DistanceValue;
use crate::{Result, memory};

/// A distance as a cell, in place or in half the width.
pub(crate) trait Dense: DistanceValue {
    /// Weights from this value on are infinite as cells.
    const INFINITE_FROM: f64;
    /// The greatest value of the cell of half the width; 0 where there is none.
    const HALF_GREATEST: f64;
    /// Eliminates a matrix of distances in place.
    fn eliminate(
        matrix: &mut [Self],
        n: usize,
        progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
    ) -> Result<Outcome>;
    /// Eliminates in cells of half the width; the matrix stays as it is unless that completes.
    fn eliminate_halved(
        matrix: &mut [Self],
        n: usize,
        progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
    ) -> Result<Outcome>;
}

macro_rules! dense {
    ($distance:ty) => {
        impl Dense for $distance {
            const INFINITE_FROM: f64 = <$distance as Cell>::INFINITY as f64;
            const HALF_GREATEST: f64 = 0.0;
            dense!(eliminate $distance);
            fn eliminate_halved(
                matrix: &mut [Self],
                n: usize,
                progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
            ) -> Result<Outcome> {
                Self::eliminate(matrix, n, progress)
            }
        }
    };
    ($distance:ty, $half:ty) => {
        impl Dense for $distance {
            const INFINITE_FROM: f64 = <$distance as Cell>::INFINITY as f64;
            const HALF_GREATEST: f64 = <$half>::MAX as f64;
            dense!(eliminate $distance);
            fn eliminate_halved(
                matrix: &mut [Self],
                n: usize,
                progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
            ) -> Result<Outcome> {
                let narrow = |&cell: &$distance| <$half>::try_from(cell).unwrap_or(<$half as Cell>::INFINITY);
                let mut cells: Vec<$half> = memory::zeroed("the matrix of narrow cells", matrix.len())?;
                cells.par_iter_mut().zip(matrix.par_iter()).for_each(|(cell, distance)| *cell = narrow(distance));
                let outcome = tiled_floyd_warshall(&mut cells, n, progress)?;
                if outcome == Outcome::Complete {
                    let widen = |cell: $half| match cell {
                        <$half as Cell>::INFINITY => <$distance as DistanceValue>::UNREACHABLE,
                        cell => <$distance>::from(cell),
                    };
                    matrix.par_iter_mut().zip(&cells).for_each(|(distance, &cell)| *distance = widen(cell));
                }
                Ok(outcome)
            }
        }
    };
    (eliminate $distance:ty) => {
        fn eliminate(
            matrix: &mut [Self],
            n: usize,
            progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
        ) -> Result<Outcome> {
            let outcome = tiled_floyd_warshall(matrix, n, progress)?;
            let restore = |cell: &mut $distance| {
                if *cell >= <$distance as Cell>::INFINITY {
                    *cell = <$distance as DistanceValue>::UNREACHABLE;
                }
            };
            matrix.par_iter_mut().for_each(restore);
            Ok(outcome)
        }
    };
}
dense!(u32, u16);
dense!(u64);
dense!(i64, i32);
dense!(f32);
dense!(f64);
