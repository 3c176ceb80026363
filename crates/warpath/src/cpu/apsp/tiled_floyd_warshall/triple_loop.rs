//! Floyd–Warshall as in the textbook, compiled for each instruction set.
//!
//! *Invariants.* A function that was compiled for more instructions is called only where the processor has been found
//! to have them.

use super::cells::Cell;
use crate::instructions::InstructionSet;

/// Matrices up to this size are closed by the plain triple loop.
pub(super) const TRIPLE_LOOP_LIMIT: usize = 64;

pub(super) fn triple_loop<T: Cell>(instruction_set: InstructionSet, matrix: &mut [T], n: usize) {
    match instruction_set {
        InstructionSet::Portable => triple_loop_inlined(matrix, n),
        // SAFETY: the instruction set has been detected.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => unsafe { triple_loop_avx2(matrix, n) },
        // SAFETY: the instruction set has been detected.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => unsafe { triple_loop_avx512(matrix, n) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn triple_loop_avx512<T: Cell>(matrix: &mut [T], n: usize) {
    triple_loop_inlined(matrix, n);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn triple_loop_avx2<T: Cell>(matrix: &mut [T], n: usize) {
    triple_loop_inlined(matrix, n);
}

/// Floyd–Warshall as in the textbook, for up to [`TRIPLE_LOOP_LIMIT`] vertices. The row of the
/// vertex is copied, so that the compiler sees that it does not change.
#[inline(always)]
fn triple_loop_inlined<T: Cell>(matrix: &mut [T], n: usize) {
    let mut vertex_row = [T::INFINITY; TRIPLE_LOOP_LIMIT];
    let vertex_row = &mut vertex_row[..n];
    for vertex in 0..n {
        vertex_row.copy_from_slice(&matrix[vertex * n..][..n]);
        for row in matrix.chunks_exact_mut(n) {
            let left = row[vertex];
            for (cell, &above) in row.iter_mut().zip(&*vertex_row) {
                *cell = cell.lesser(left.plus(above));
            }
        }
    }
}
