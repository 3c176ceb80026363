//! Columns of distances from several sources become parts of the rows of each.
//!
//! *Invariants.* The function compiled for AVX-512 is called only where the processor was asked for that.

use bytemuck::Pod;

/// As many columns become parts of rows at once.
pub(super) const COLUMNS: usize = 16;

/// Writes the distances from each of `L` sources, a multiple of 16, to the source's row: those of the columns one after another from
/// place `at`.
#[inline]
pub(super) fn transpose<D: Pod, const L: usize, const N: usize>(
    columns: &[[D; L]; COLUMNS],
    rows: &mut [[D; N]],
    at: usize,
) {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::instructions::InstructionSet;
        if size_of::<D>() == size_of::<u32>() && InstructionSet::detect() == InstructionSet::Avx512 {
            // SAFETY: this processor has these instructions.
            unsafe { transpose_words(columns, rows, at) }
            return;
        }
    }
    for (lane, row) in rows[..L].iter_mut().enumerate() {
        let (first, second) = row[at..at + COLUMNS].split_at_mut(COLUMNS / 2);
        first.copy_from_slice(&std::array::from_fn::<_, { COLUMNS / 2 }, _>(|column| columns[column][lane]));
        second.copy_from_slice(&std::array::from_fn::<_, { COLUMNS / 2 }, _>(|column| {
            columns[COLUMNS / 2 + column][lane]
        }));
    }
}

/// The same for numbers of 32 bits, squares of them by four perfect shuffles: each puts the numbers of rows from either half in turns, which
/// moves one bit of the place in a row to the place of the row.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn transpose_words<D: Pod, const L: usize, const N: usize>(
    columns: &[[D; L]; COLUMNS],
    rows: &mut [[D; N]],
    at: usize,
) {
    use std::arch::x86_64::{__m512i, _mm512_permutex2var_epi32 as from_two, _mm512_setr_epi32 as places};
    let low = places(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    let high = places(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    for (group, rows) in rows[..L].as_chunks_mut::<COLUMNS>().0.iter_mut().enumerate() {
        let mut square: [__m512i; COLUMNS] =
            std::array::from_fn(|column| bytemuck::cast(columns[column].as_chunks::<COLUMNS>().0[group]));
        for _ in 0..COLUMNS.ilog2() {
            square = std::array::from_fn(|row| {
                let (first, second) = (square[row / 2], square[COLUMNS / 2 + row / 2]);
                from_two(first, if row % 2 == 0 { low } else { high }, second)
            });
        }
        for (row, part) in rows.iter_mut().zip(square) {
            row[at..at + COLUMNS].copy_from_slice(&bytemuck::cast::<_, [D; COLUMNS]>(part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<D: Pod + PartialEq + std::fmt::Debug>(value: impl Fn(usize) -> D) {
        let columns: [[D; 32]; COLUMNS] =
            std::array::from_fn(|column| std::array::from_fn(|lane| value(100 * lane + column)));
        let mut rows = [[value(0); 40]; 33];
        transpose(&columns, &mut rows, 7);
        for (lane, row) in rows.iter().enumerate() {
            for (place, &found) in row.iter().enumerate() {
                let is_written = lane < 32 && (7..7 + COLUMNS).contains(&place);
                assert_eq!(found, if is_written { value(100 * lane + place - 7) } else { value(0) }, "{lane} {place}");
            }
        }
    }

    #[test]
    fn columns_become_rows() {
        check(|value| value as u32);
        check(|value| value as u64 + (1 << 40));
    }
}
