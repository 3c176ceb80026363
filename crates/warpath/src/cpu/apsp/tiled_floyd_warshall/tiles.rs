//! A rectangle relaxed register tile by register tile, and the innermost loop, compiled for each instruction set.
//!
//! *Invariants.* A function that was compiled for more instructions is called only where the processor has been found
//! to have them; a prefetch never faults, whatever the address.

use std::ops::Range;

use super::TileKernel;
use super::cells::Cell;
use super::packing::{PackedAbove, PackedLeft};
use crate::instructions::InstructionSet;

/// Part of the packed row panel that is reused from the second-level cache (1 MiB on Zen 4,
/// shared with the packed column panel and the passing matrix).
const ROW_PANEL_CACHE_BYTES: usize = 320 * 1024;

const CACHE_LINE_BYTES: usize = 64;

impl<T: Cell, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool>
    TileKernel<T, ROWS, COLUMNS, NON_NEGATIVE>
{
    /// `target = min(target, left ⊗ above)` for a `height × width` rectangle that starts at
    /// `target[0]` and whose rows are `stride` apart, except for the `skipped` strips of columns.
    #[allow(clippy::too_many_arguments)]
    pub(super) fn relax(
        &self,
        target: &mut [T],
        stride: usize,
        height: usize,
        width: usize,
        left: &PackedLeft<T, ROWS>,
        above: &PackedAbove<T, COLUMNS>,
        skipped: Range<usize>,
    ) {
        let depth = left.len() / height.div_ceil(ROWS);
        let strips = width.div_ceil(COLUMNS);
        let group = (ROW_PANEL_CACHE_BYTES / (depth * size_of::<[T; COLUMNS]>())).max(1);
        for first in (0..strips).step_by(group) {
            for (tile, left) in left.chunks_exact(depth).enumerate() {
                let row = tile * ROWS;
                for strip in first..strips.min(first + group) {
                    if skipped.contains(&strip) {
                        continue;
                    }
                    let column = strip * COLUMNS;
                    self.relax_tile(
                        &mut target[row * stride + column..],
                        stride,
                        ROWS.min(height - row),
                        COLUMNS.min(width - column),
                        left,
                        &above[strip * depth..][..depth],
                    );
                }
            }
        }
    }

    /// A register tile. At the edge of the matrix, where it would stick out, a padded copy of it.
    #[inline]
    fn relax_tile(
        &self,
        tile: &mut [T],
        stride: usize,
        height: usize,
        width: usize,
        left: &[[T; ROWS]],
        above: &[[T; COLUMNS]],
    ) {
        if (height, width) == (ROWS, COLUMNS) {
            self.relax_full_tile(tile, stride, left, above);
            return;
        }
        let mut full = [[T::INFINITY; COLUMNS]; ROWS];
        for (row, cells) in full[..height].iter_mut().enumerate() {
            cells[..width].copy_from_slice(&tile[row * stride..][..width]);
        }
        self.relax_full_tile(full.as_flattened_mut(), COLUMNS, left, above);
        for (row, cells) in full[..height].iter().enumerate() {
            tile[row * stride..][..width].copy_from_slice(&cells[..width]);
        }
    }

    #[inline]
    fn relax_full_tile(&self, tile: &mut [T], stride: usize, left: &[[T; ROWS]], above: &[[T; COLUMNS]]) {
        match self.instruction_set {
            InstructionSet::Portable => {
                relax_registers::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
            }
            // SAFETY: the instruction set has been detected.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe {
                relax_registers_avx2::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
            },
            // SAFETY: the instruction set has been detected.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe {
                relax_registers_avx512::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
            },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn relax_registers_avx512<T: Cell, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool>(
    tile: &mut [T],
    stride: usize,
    left: &[[T; ROWS]],
    above: &[[T; COLUMNS]],
) {
    relax_registers::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn relax_registers_avx2<T: Cell, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool>(
    tile: &mut [T],
    stride: usize,
    left: &[[T; ROWS]],
    above: &[[T; COLUMNS]],
) {
    relax_registers::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
}

/// The innermost loops, which take nearly all of the time. `best` lives in registers.
///
/// The tile itself is needed at the end only. It is prefetched a row at a time in between, because
/// asking for all of it at once would block the cache for the panels.
#[inline(always)]
fn relax_registers<T: Cell, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool>(
    tile: &mut [T],
    stride: usize,
    left: &[[T; ROWS]],
    above: &[[T; COLUMNS]],
) {
    let lesser = |a: T, b: T| {
        if NON_NEGATIVE { a.lesser_of_non_negative(b) } else { a.lesser(b) }
    };
    let mut best = [[T::INFINITY; COLUMNS]; ROWS];
    let part = left.len().div_ceil(ROWS).max(1);
    for (row, (left, above)) in left.chunks(part).zip(above.chunks(part)).enumerate() {
        prefetch(&tile[row * stride..][..COLUMNS]);
        for (left, above) in left.iter().zip(above) {
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let candidate = left[row].plus(above[column]);
                    best[row][column] = lesser(best[row][column], candidate);
                }
            }
        }
    }
    for (row, best) in best.iter().enumerate() {
        for (cell, &best) in tile[row * stride..][..COLUMNS].iter_mut().zip(best) {
            *cell = lesser(*cell, best);
        }
    }
}

#[inline(always)]
fn prefetch<T>(cells: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of_val(cells)).step_by(CACHE_LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch accesses nothing, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(cells.as_ptr().cast::<i8>().wrapping_add(offset)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (cells, CACHE_LINE_BYTES);
}
