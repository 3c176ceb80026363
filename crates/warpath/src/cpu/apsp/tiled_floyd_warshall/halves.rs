//! Distances as cells, in place or in half the width.

use super::cells::Cell;
use super::{Outcome, tiled_floyd_warshall};
use crate::cpu::apsp::MinPlusOnCpu;
use crate::graph::DistanceValue;
use crate::{Result, memory, parallel};

/// The cells that a thread converts at one time.
const AT_ONCE: usize = 1 << 14;

/// Eliminates a matrix of distances in place.
pub(super) fn eliminate<D: DistanceValue + Cell>(
    matrix: &mut [D],
    n: usize,
    progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
) -> Result<Outcome> {
    let outcome = tiled_floyd_warshall(matrix, n, progress)?;
    parallel::for_each_chunk(matrix, AT_ONCE, |_, cells| {
        cells.iter_mut().filter(|cell| **cell >= D::INFINITY).for_each(|cell| *cell = D::UNREACHABLE);
    });
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
    parallel::for_each_chunk(&mut cells, AT_ONCE, |chunk, cells| {
        cells.iter_mut().zip(&matrix[chunk * AT_ONCE..]).for_each(|(cell, distance)| *cell = narrow(distance));
    });
    let outcome = tiled_floyd_warshall(&mut cells, n, progress)?;
    if outcome == Outcome::Complete {
        let widen = |cell: L::Half| if cell == L::Half::INFINITY { L::Distance::UNREACHABLE } else { cell.into() };
        parallel::for_each_chunk(matrix, AT_ONCE, |chunk, distances| {
            distances.iter_mut().zip(&cells[chunk * AT_ONCE..]).for_each(|(distance, &cell)| *distance = widen(cell));
        });
    }
    Ok(outcome)
}
