//! Ranks in rows and columns, each with a block of a square matrix: what a rank tells the others of its row and of its column.

use std::ops::Range;

use mpi::collective::Root;
use mpi::datatype::Equivalence;
use mpi::topology::{Communicator, SimpleCommunicator};

use crate::world::World;

/// Vertices of a pivot: long products are quick, and a short pivot's own cells are soon closed.
pub(crate) const PIVOT: usize = 384;

/// The ranks in a grid that is as square as their number allows. Rows and columns of the matrix are shared out in ranges of equal length.
pub(crate) struct Grid<'w> {
    pub(crate) world: &'w World,
    /// Where the rows of the matrix begin in each row of ranks, and where they end; then the same of columns.
    starts: [Vec<usize>; 2],
    /// The row and the column of this rank.
    place: [usize; 2],
    /// The ranks in the row of this one, by their columns.
    in_row: SimpleCommunicator,
    /// The ranks in its column, by their rows.
    in_column: SimpleCommunicator,
}

/// Rows and columns of a grid of so many ranks.
pub(crate) fn shape(ranks: usize) -> [usize; 2] {
    let rows = (1..=ranks.isqrt()).rev().find(|&rows| ranks.is_multiple_of(rows)).unwrap_or(1);
    [rows, ranks / rows.max(1)]
}

/// Where so many equal parts of a length begin, and where they end.
pub(crate) fn starts_of(length: usize, parts: usize) -> Vec<usize> {
    (0..=parts).map(|part| (length as u128 * part as u128 / parts as u128) as usize).collect()
}

/// Ranges of up to so many rows, and columns, that no part of these ends in.
pub(crate) fn pivots_of(starts: &[Vec<usize>; 2], most: usize) -> Vec<Range<usize>> {
    let mut bounds = starts.concat();
    bounds.sort_unstable();
    bounds.dedup();
    let cut = |pair: &[usize]| {
        let (start, end) = (pair[0], pair[1]);
        (start..end).step_by(most).map(move |first| first..end.min(first + most))
    };
    bounds.windows(2).flat_map(cut).collect()
}

impl<'w> Grid<'w> {
    /// The grid for a matrix of so many rows and columns. All ranks call it together.
    pub(crate) fn of(world: &'w World, length: usize) -> Self {
        let shape = shape(world.ranks());
        let place = [world.rank() / shape[1], world.rank() % shape[1]];
        let starts = shape.map(|parts| starts_of(length, parts));
        Grid {
            world,
            starts,
            place,
            in_row: world.split(place[0], place[1]),
            in_column: world.split(place[1], place[0]),
        }
    }

    /// Rows of the matrix.
    pub(crate) fn length(&self) -> usize {
        self.starts[0].last().copied().unwrap_or(0)
    }

    fn range(&self, axis: usize) -> Range<usize> {
        self.starts[axis][self.place[axis]]..self.starts[axis][self.place[axis] + 1]
    }

    /// The rows of this rank's block.
    pub(crate) fn rows(&self) -> Range<usize> {
        self.range(0)
    }

    /// Its columns.
    pub(crate) fn columns(&self) -> Range<usize> {
        self.range(1)
    }

    /// The row of ranks that has a row of the matrix, or the column of ranks that has a column.
    fn part(&self, axis: usize, index: usize) -> usize {
        self.starts[axis].partition_point(|&start| start <= index) - 1
    }

    /// The rank that has a cell.
    pub(crate) fn owner(&self, row: usize, column: usize) -> usize {
        self.part(0, row) * (self.starts[1].len() - 1) + self.part(1, column)
    }

    /// Ranges of up to so many rows, and columns, none of which two ranks have parts of.
    pub(crate) fn pivots(&self, most: usize) -> Vec<Range<usize>> {
        pivots_of(&self.starts, most)
    }

    /// Where rows of the matrix are in this rank's block, if it has them.
    pub(crate) fn own_rows(&self, pivot: &Range<usize>) -> Option<Range<usize>> {
        own(self.rows(), pivot)
    }

    /// Where columns of the matrix are in this rank's block, if it has them.
    pub(crate) fn own_columns(&self, pivot: &Range<usize>) -> Option<Range<usize>> {
        own(self.columns(), pivot)
    }

    /// Tells the cells where rows and columns of the matrix cross, those of a pivot, to the ranks that have its rows or its columns.
    pub(crate) fn tell_crossing<T: Equivalence>(&self, pivot: &Range<usize>, cells: &mut [T]) {
        let [row, column] = [0, 1].map(|axis| self.part(axis, pivot.start));
        if self.place[0] == row {
            self.world.broadcast_among(&self.in_row, column, cells);
        }
        if self.place[1] == column {
            self.world.broadcast_among(&self.in_column, row, cells);
        }
    }

    /// Tells the columns of each rank of a pivot's rows to those in its column, and the rows of each rank of its columns to those in its row.
    /// Meanwhile works, a piece at a time, until `work` says that none is left.
    pub(crate) fn tell_panels<T: Equivalence>(
        &self,
        pivot: &Range<usize>,
        above: &mut [T],
        left: &mut [T],
        mut work: impl FnMut() -> bool,
    ) {
        let [row, column] = [0, 1].map(|axis| self.part(axis, pivot.start));
        let told = |is_root: bool, cells: &[T]| if is_root { size_of_val(cells) as u64 } else { 0 };
        let bytes = told(self.place[0] == row, above) + told(self.place[1] == column, left);
        mpi::request::scope(|scope| {
            let in_column = self.in_column.process_at_rank(row as i32);
            let in_row = self.in_row.process_at_rank(column as i32);
            let mut requests =
                vec![in_column.immediate_broadcast_into(scope, above), in_row.immediate_broadcast_into(scope, left)];
            // MPI carries on when it is asked.
            while work() {
                requests = requests.into_iter().filter_map(|request| request.test().err()).collect();
            }
            self.world.wait_for(bytes, || {
                for request in requests {
                    request.wait();
                }
            });
        });
    }
}

fn own(range: Range<usize>, pivot: &Range<usize>) -> Option<Range<usize>> {
    range.contains(&pivot.start).then(|| pivot.start - range.start..pivot.end - range.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_as_square_as_they_can_be() {
        for (ranks, wanted) in [(1, [1, 1]), (2, [1, 2]), (4, [2, 2]), (6, [2, 3]), (7, [1, 7]), (12, [3, 4])] {
            assert_eq!(shape(ranks), wanted);
        }
    }
}
