//! Distances as cells, in place or in half the width.

use rayon::prelude::*;

use super::cells::Cell;
use super::{Outcome, tiled_floyd_warshall};
use crate::cpu::apsp::MinPlusOnCpu;
use crate::graph::DistanceValue;
use crate::{Result, memory};

/// Eliminates a matrix of distances in place.
pub(super) fn eliminate<D: DistanceValue + Cell>(
    matrix: &mut [D],
    n: usize,
    progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
) -> Result<Outcome> {
    let outcome = tiled_floyd_warshall(matrix, n, progress)?;
    matrix.par_iter_mut().filter(|cell| **cell >= D::INFINITY).for_each(|cell| *cell = D::UNREACHABLE);
    Ok(outcome)
}

/// Eliminates in cells of half the width; the matrix stays as it is unless that completes.
pub(super) fn eliminate_halved<L: MinPlusOnCpu>(
    matrix: &mut [L::Distance],
    n: usize,
    progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
) -> Result<Outcome> {
    let narrow = |&distance: &L::Distance| L::Half::try_from(distance).unwrap_or(L::Half::INFINITY);
    let mut cells: Vec<L::Half> = memory::zeroed("the matrix of narrow cells", matrix.len())?;
    cells.par_iter_mut().zip(matrix.par_iter()).for_each(|(cell, distance)| *cell = narrow(distance));
    let outcome = tiled_floyd_warshall(&mut cells, n, progress)?;
    if outcome == Outcome::Complete {
        let widen = |cell: L::Half| if cell == L::Half::INFINITY { L::Distance::UNREACHABLE } else { cell.into() };
        matrix.par_iter_mut().zip(&cells).for_each(|(distance, &cell)| *distance = widen(cell));
    }
    Ok(outcome)
}
