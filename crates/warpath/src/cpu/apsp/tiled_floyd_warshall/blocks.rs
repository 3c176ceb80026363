//! Blocks of a matrix of distances that several programs hold together: one closed by itself, and one lowered by the product of two others.
//! All work is done by the thread that asks.
//!
//! See the essay of `tiled_floyd_warshall` for cells without a path, and for when distances are exact.

use std::marker::PhantomData;

use super::cells::Cell;
use super::packing::{pack_above, pack_left};
use super::triple_loop::{TRIPLE_LOOP_LIMIT, triple_loop};
use super::{BLOCK, STRIP_ROWS, TileKernel};
use crate::instructions::InstructionSet;
use crate::{Result, memory};

/// A length of 0 or more in a block of a matrix. Blocks lie row by row.
///
/// ```
/// use warpath::blocks::BlockCell;
/// let none = u32::NO_PATH;
/// // From 0 to 1 to 2.
/// let mut block = [0, 5, none, none, 0, 2, none, none, 0];
/// u32::close(&mut block, 3)?;
/// assert_eq!(block, [0, 5, 7, none, 0, 2, none, none, 0]);
/// # Ok::<(), warpath::Error>(())
/// ```
pub trait BlockCell: Copy + Ord + Send + Sync + 'static {
    /// What stands where there is no path, half of the type's greatest value: a sum of two does not wrap. No length may be greater.
    ///
    /// Distances that began with lengths of at most `w` are exact if the greatest that is below this one is below it by more than `w`: on the way to
    /// one that is not, some vertex has a distance in between.
    const NO_PATH: Self;

    /// Replaces the lengths among `n` vertices by those of shortest paths that pass through these vertices alone. O(n³).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    ///
    /// # Panics
    ///
    /// If the block does not have `n²` cells.
    fn close(block: &mut [Self], n: usize) -> Result<()>;

    /// Puts `depth` rows of `width` columns into the order in which [`BlockCell::lower_by`] reads them. O(cells).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    ///
    /// # Panics
    ///
    /// If there are not so many cells.
    fn pack(above: &[Self], depth: usize, width: usize) -> Result<PackedRows<Self>>;

    /// As [`BlockCell::lower`], with `above` packed: for several targets.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    ///
    /// # Panics
    ///
    /// If the blocks do not fit each other.
    fn lower_by(target: &mut [Self], left: &[Self], above: &PackedRows<Self>) -> Result<()>;

    /// Lowers each cell of `target` to the least sum of a cell in its row of `left` and one in its column of `above`, if that is less: `left` has
    /// `depth` columns, `above` as many rows, and `target` and `above` have `width` columns. O(cells of `target` · depth).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    ///
    /// # Panics
    ///
    /// If the blocks do not fit each other.
    fn lower(target: &mut [Self], left: &[Self], above: &[Self], depth: usize, width: usize) -> Result<()> {
        Self::lower_by(target, left, &Self::pack(above, depth, width)?)
    }
}

/// Rows of a block in the order in which products read them.
#[derive(Debug, Clone)]
pub struct PackedRows<T> {
    /// Up to [`BLOCK`] rows after others, and of these one strip of [`columns`] columns after another.
    cells: Vec<T>,
    depth: usize,
    width: usize,
}

/// Columns of a register tile.
const fn columns<T>() -> usize {
    if size_of::<T>() == 2 { 96 } else { 48 }
}

macro_rules! block_cells {
    ($($cell:ty),*) => {$(
        impl BlockCell for $cell {
            const NO_PATH: Self = <$cell as Cell>::INFINITY;

            fn close(block: &mut [Self], n: usize) -> Result<()> {
                close(InstructionSet::detect(), block, n)
            }

            fn pack(above: &[Self], depth: usize, width: usize) -> Result<PackedRows<Self>> {
                pack::<$cell, { columns::<$cell>() }>(above, depth, width)
            }

            fn lower_by(target: &mut [Self], left: &[Self], above: &PackedRows<Self>) -> Result<()> {
                lower(InstructionSet::detect(), target, left, above)
            }
        }
    )*};
}
block_cells!(u16, u32, u64);

fn close<T: Cell + BlockCell>(instruction_set: InstructionSet, block: &mut [T], n: usize) -> Result<()> {
    assert_eq!(block.len(), n * n, "a block has n * n cells");
    if n <= TRIPLE_LOOP_LIMIT {
        if n > 0 {
            triple_loop(instruction_set, block, n);
        }
        return Ok(());
    }
    const WHAT: &str = "parts of a block";
    let columns_of = |block: &[T], start: usize, end: usize| {
        let mut columns = memory::with_capacity(WHAT, block.len() / n * (end - start))?;
        block.chunks_exact(n).for_each(|row| columns.extend_from_slice(&row[start..end]));
        Ok::<_, crate::Error>(columns)
    };
    for start in (0..n).step_by(BLOCK / 4) {
        let end = n.min(start + BLOCK / 4);
        let (depth, rows) = (end - start, start * n..end * n);
        let mut diagonal = columns_of(&block[rows.clone()], start, end)?;
        triple_loop(instruction_set, &mut diagonal, depth);
        let above = memory::copied(WHAT, &block[rows.clone()])?;
        T::lower(&mut block[rows.clone()], &diagonal, &above, depth, n)?;
        let mut left = columns_of(block, start, end)?;
        let before = memory::copied(WHAT, &left)?;
        T::lower(&mut left, &before, &diagonal, depth, depth)?;
        let above = memory::copied(WHAT, &block[rows])?;
        T::lower(block, &left, &above, depth, n)?;
    }
    Ok(())
}

fn pack<T: Cell, const COLUMNS: usize>(above: &[T], depth: usize, width: usize) -> Result<PackedRows<T>> {
    assert_eq!(above.len(), depth * width, "rows have so many cells");
    let strips = width.div_ceil(COLUMNS);
    let mut cells = memory::filled("rows of the matrix", strips * depth * COLUMNS, T::INFINITY)?;
    let (packed, _) = cells.as_chunks_mut::<COLUMNS>();
    for first in (0..depth).step_by(BLOCK) {
        let now = BLOCK.min(depth - first);
        let rows = &above[first * width..(first + now) * width];
        let packed = &mut packed[strips * first..strips * (first + now)];
        for (strip, packed) in packed.chunks_exact_mut(now).enumerate() {
            pack_above(rows, width, strip * COLUMNS, packed);
        }
    }
    Ok(PackedRows { cells, depth, width })
}

fn lower<T: Cell>(instruction_set: InstructionSet, target: &mut [T], left: &[T], above: &PackedRows<T>) -> Result<()> {
    let &PackedRows { depth, width, .. } = above;
    if target.is_empty() || depth == 0 {
        return Ok(());
    }
    let height = target.len() / width;
    let fit = target.len() == height * width && left.len() == height * depth;
    assert!(fit, "blocks that are multiplied fit each other");
    macro_rules! lower {
        ($rows:literal x $columns:literal) => {
            lower_by(
                &TileKernel::<T, $rows, $columns, false> { instruction_set, cells: PhantomData },
                target,
                left,
                above,
            )
        };
    }
    // The shapes of `close_shaped`.
    match (instruction_set, size_of::<T>()) {
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 2) => lower!(8 x 96),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 4) => lower!(8 x 48),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, _) => lower!(4 x 48),
        (_, 2) => lower!(2 x 96),
        (_, 4) => lower!(2 x 48),
        (_, _) => lower!(1 x 48),
    }
}

fn lower_by<T: Cell, const ROWS: usize, const COLUMNS: usize>(
    kernel: &TileKernel<T, ROWS, COLUMNS, false>,
    target: &mut [T],
    left: &[T],
    above: &PackedRows<T>,
) -> Result<()> {
    let &PackedRows { depth, width, .. } = above;
    let (packed_above, strips) = (above.cells.as_chunks::<COLUMNS>().0, width.div_ceil(COLUMNS));
    let most = STRIP_ROWS.div_ceil(ROWS) * depth.min(BLOCK);
    let mut packed_left = memory::filled("columns of the matrix", most, [T::INFINITY; ROWS])?;
    for first in (0..depth).step_by(BLOCK) {
        let now = BLOCK.min(depth - first);
        let packed_above = &packed_above[strips * first..strips * (first + now)];
        for (strip, rows) in target.chunks_mut(STRIP_ROWS * width).enumerate() {
            let count = rows.len() / width;
            let packed_left = &mut packed_left[..count.div_ceil(ROWS) * now];
            pack_left(&left[strip * STRIP_ROWS * depth + first..], depth, count, packed_left);
            kernel.relax(rows, width, count, width, packed_left, packed_above, 0..0);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    fn random_cells<T: BlockCell + TryFrom<u64>>(random: &mut Random, count: usize) -> Vec<T>
    where
        T::Error: std::fmt::Debug,
    {
        let cell = |random: &mut Random| match random.below(3) {
            0 => T::NO_PATH,
            _ => T::try_from(random.below(100)).unwrap(),
        };
        (0..count).map(|_| cell(random)).collect()
    }

    fn check<T: BlockCell + TryFrom<u64> + std::ops::Add<Output = T> + std::fmt::Debug>(seed: u64)
    where
        T::Error: std::fmt::Debug,
    {
        let mut random = Random(seed);
        for [height, depth, width] in
            [[1, 1, 1], [0, 3, 2], [3, 0, 2], [5, 200, 49], [97, 30, 100], [50, 193, 7], [49, 64, 48]]
        {
            let [left, above, before] =
                [height * depth, depth * width, height * width].map(|count| random_cells::<T>(&mut random, count));
            let mut target = before.clone();
            T::lower(&mut target, &left, &above, depth, width).unwrap();
            for (at, &cell) in target.iter().enumerate() {
                let sums = (0..depth).map(|k| left[at / width * depth + k] + above[k * width + at % width]);
                assert_eq!(cell, sums.fold(before[at], T::min), "{height} {depth} {width}");
            }
        }
        for n in [0, 1, 2, 63, 64, 65, 100, 145] {
            let mut block = random_cells::<T>(&mut random, n * n);
            let mut expected = block.clone();
            T::close(&mut block, n).unwrap();
            for k in 0..n {
                for i in 0..n {
                    for j in 0..n {
                        let through = expected[i * n + k] + expected[k * n + j];
                        expected[i * n + j] = expected[i * n + j].min(through);
                    }
                }
            }
            assert_eq!(block, expected, "{n}");
        }
    }

    #[test]
    fn blocks_are_those_of_three_loops() {
        check::<u16>(2);
        check::<u32>(3);
        check::<u64>(4);
    }
}
