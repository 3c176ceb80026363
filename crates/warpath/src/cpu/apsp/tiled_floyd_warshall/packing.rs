//! Panels in the order in which the innermost loop reads them.

use std::array;

use super::cells::Cell;

/// A rectangle of the matrix as the column panel: for every register tile of `ROWS` rows and every
/// vertex of the block, the `ROWS` cells that belong together.
pub(super) type PackedLeft<T, const ROWS: usize> = [[T; ROWS]];

/// A rectangle of the matrix as the row panel: for every `COLUMNS` columns and every vertex of the
/// block, the `COLUMNS` cells that belong together.
pub(super) type PackedAbove<T, const COLUMNS: usize> = [[T; COLUMNS]];

/// Packs the first `depth` columns of `height` rows that lie `stride` apart, where `depth` follows
/// from the size of `packed`. Missing rows of the last register tile become infinite.
pub(super) fn pack_left<T: Cell, const ROWS: usize>(
    source: &[T],
    stride: usize,
    height: usize,
    packed: &mut PackedLeft<T, ROWS>,
) {
    let depth = packed.len() / height.div_ceil(ROWS);
    for (tile, packed) in packed.chunks_exact_mut(depth).enumerate() {
        let first = tile * ROWS;
        if first + ROWS <= height {
            let rows: [&[T]; ROWS] = array::from_fn(|row| &source[(first + row) * stride..][..depth]);
            for (vertex, cells) in packed.iter_mut().enumerate() {
                *cells = array::from_fn(|row| rows[row][vertex]);
            }
        } else {
            for (vertex, cells) in packed.iter_mut().enumerate() {
                *cells = array::from_fn(|row| {
                    if first + row < height { source[(first + row) * stride + vertex] } else { T::INFINITY }
                });
            }
        }
    }
}

/// Packs `COLUMNS` columns of complete rows, from `column` on. Missing columns become infinite.
pub(super) fn pack_above<T: Cell, const COLUMNS: usize>(
    rows: &[T],
    n: usize,
    column: usize,
    packed: &mut PackedAbove<T, COLUMNS>,
) {
    let width = COLUMNS.min(n - column);
    for (cells, row) in packed.iter_mut().zip(rows.chunks_exact(n)) {
        cells[..width].copy_from_slice(&row[column..][..width]);
        cells[width..].fill(T::INFINITY);
    }
}

/// The inverse for complete rows: row `first` of the packed panel and the following ones.
pub(super) fn unpack_above<T: Cell, const COLUMNS: usize>(
    packed: &PackedAbove<T, COLUMNS>,
    depth: usize,
    first: usize,
    rows: &mut [T],
    n: usize,
) {
    for (row, cells) in rows.chunks_exact_mut(n).enumerate() {
        for (strip, cells) in cells.chunks_mut(COLUMNS).enumerate() {
            cells.copy_from_slice(&packed[strip * depth + first + row][..cells.len()]);
        }
    }
}
