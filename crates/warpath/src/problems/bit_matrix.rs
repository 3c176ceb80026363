//! A matrix of bits, stored row by row in cache lines.
//!
//! Rows start on a cache line and are padded with zeros to whole ones, so that algorithms can work on 512 bits at a
//! time. Within a row, column `j` is bit `j % 64` of word `j / 64`.

use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::{Result, memory};

/// 512 bits: a cache line, eight words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub [u64; 8]);

impl Line {
    /// Bits in a line.
    pub const BITS: usize = 512;
    /// No bit set.
    pub const ZERO: Line = Line([0; 8]);

    /// Whether bit `index`, below 512, is set.
    #[inline(always)]
    pub fn get(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 != 0
    }

    /// Sets bit `index`, below 512.
    #[inline(always)]
    pub fn set(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }

    /// Clears bit `index`, below 512.
    #[inline(always)]
    pub fn clear(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }

    /// Sets every bit that `other` has set.
    #[inline(always)]
    pub fn unite(&mut self, other: &Line) {
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    /// How many bits are set.
    #[inline(always)]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
}

/// A matrix of bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitMatrix {
    rows: usize,
    columns: usize,
    lines_per_row: usize,
    lines: Vec<Line>,
}

impl BitMatrix {
    /// A matrix of zeros.
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub fn new(rows: usize, columns: usize) -> Result<Self> {
        let lines_per_row = columns.div_ceil(Line::BITS);
        // In parallel because touching each page for the first time takes most of the time.
        let lines = (0..rows.saturating_mul(lines_per_row)).into_par_iter().with_min_len(1 << 14);
        let lines = memory::collected("the matrix of bits", lines.map(|_| Line::ZERO))?;
        Ok(BitMatrix { rows, columns, lines_per_row, lines })
    }

    /// The bytes that a matrix of this size takes; saturates.
    pub fn bytes(rows: usize, columns: usize) -> u64 {
        let row = (columns as u64).div_ceil(Line::BITS as u64) * size_of::<Line>() as u64;
        row.saturating_mul(rows as u64)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Cache lines in a row.
    pub fn lines_per_row(&self) -> usize {
        self.lines_per_row
    }

    /// The bit at `row` and `column`.
    ///
    /// # Panics
    ///
    /// If either is out of range.
    #[inline]
    pub fn get(&self, row: usize, column: usize) -> bool {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        self.lines(row)[column / Line::BITS].get(column % Line::BITS)
    }

    /// Sets the bit at `row` and `column`.
    ///
    /// # Panics
    ///
    /// If either is out of range.
    #[inline]
    pub fn set(&mut self, row: usize, column: usize, bit: bool) {
        assert!(column < self.columns, "column {column} of {}", self.columns);
        let line = &mut self.lines_mut(row)[column / Line::BITS];
        if bit { line.set(column % Line::BITS) } else { line.clear(column % Line::BITS) }
    }

    /// The words of a row, the last ones padded with zeros to a multiple of eight.
    ///
    /// # Panics
    ///
    /// If `row` is out of range.
    #[inline]
    pub fn row(&self, row: usize) -> &[u64] {
        bytemuck::cast_slice(self.lines(row))
    }

    /// The cache lines of a row.
    ///
    /// # Panics
    ///
    /// If `row` is out of range.
    #[inline]
    pub fn lines(&self, row: usize) -> &[Line] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        &self.lines[row * self.lines_per_row..(row + 1) * self.lines_per_row]
    }

    /// The cache lines of a row, to be written. Bits beyond the last column have to stay 0.
    #[inline]
    pub(crate) fn lines_mut(&mut self, row: usize) -> &mut [Line] {
        assert!(row < self.rows, "row {row} of {}", self.rows);
        &mut self.lines[row * self.lines_per_row..(row + 1) * self.lines_per_row]
    }

    /// All cache lines, row after row, to be written. Bits beyond the last column have to stay 0.
    pub(crate) fn all_lines_mut(&mut self) -> &mut [Line] {
        &mut self.lines
    }

    /// All bits as words of 32, row after row, to be written: as devices have them, on hosts whose numbers begin with the lower half, as those of all devices do. Bits beyond the last column have to stay 0.
    pub(crate) fn all_words_mut(&mut self) -> &mut [u32] {
        bytemuck::cast_slice_mut(&mut self.lines)
    }

    /// The columns of the bits set in a row, ascending.
    ///
    /// # Panics
    ///
    /// If `row` is out of range.
    pub fn ones(&self, row: usize) -> impl Iterator<Item = usize> + '_ {
        self.row(row).iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |word| Some(word & (word - 1)).filter(|&rest| rest != 0))
                .map(move |rest| index * 64 + rest.trailing_zeros() as usize)
        })
    }

    /// How many bits are set in a row.
    ///
    /// # Panics
    ///
    /// If `row` is out of range.
    pub fn count(&self, row: usize) -> u64 {
        self.lines(row).iter().map(|line| u64::from(line.count())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_where_they_were_put() {
        let mut matrix = BitMatrix::new(3, 1030).unwrap();
        let columns = [0, 63, 64, 511, 512, 1023, 1024, 1029];
        columns.iter().for_each(|&column| matrix.set(1, column, true));
        assert_eq!(matrix.ones(1).collect::<Vec<_>>(), columns);
        assert_eq!((matrix.count(0), matrix.count(1), matrix.count(2)), (0, 8, 0));
        matrix.set(1, 511, false);
        assert!(!matrix.get(1, 511) && matrix.get(1, 512));
        assert_eq!(matrix.row(1).len(), 24);
        assert_eq!(BitMatrix::bytes(3, 1030), 3 * 3 * 64);
        assert_eq!(BitMatrix::bytes(usize::MAX, usize::MAX), u64::MAX);
        assert_eq!(BitMatrix::new(0, 0).unwrap().rows(), 0);
    }
}
