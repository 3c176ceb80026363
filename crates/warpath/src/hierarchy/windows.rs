//! Where the distances of a sweep go, window by window.
//!
//! A sweep for many sources finds a row of distances for each place of the tree, one after another, but the caller wants an
//! array for each source, by vertex. If all rows were kept until the end, they would leave the cache and come back. So places
//! are divided into *windows* that follow each other. After each window the rows go to the arrays, while they are in the
//! cache. A window's columns are listed in ascending order, because vertices that are near each other in the tree often have
//! numbers that follow each other: then several distances are written at once.

use std::ops::Range;

use crate::Result;
use crate::memory::filled;

/// The most places of a window. Their rows for sixteen sources take 1 MiB if a distance has 32 bits. In tests a few, so that
/// small graphs have several windows.
pub(crate) const WINDOW: usize = if cfg!(test) { 1 << 5 } else { 1 << 14 };

/// The columns of each window of places.
#[derive(Debug)]
pub(super) struct Windows {
    /// How many places there are.
    places: usize,
    /// Where the columns of each window begin in `columns`.
    offsets: Vec<u32>,
    /// The columns of each window, ascending.
    columns: Vec<u32>,
}

impl Windows {
    /// The windows of this many places, and the columns whose distances are those of these places: `of_columns` has one for
    /// each column. There are fewer than 2^32 columns. O(columns + places).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(places: usize, of_columns: &[u32]) -> Result<Self> {
        const WHAT: &str = "the windows of a hierarchy";
        let mut offsets = filled(WHAT, places.div_ceil(WINDOW) + 1, 0_u32)?;
        for &place in of_columns {
            offsets[place as usize / WINDOW + 1] += 1;
        }
        for window in 1..offsets.len() {
            offsets[window] += offsets[window - 1];
        }
        let mut ends = crate::memory::copied(WHAT, &offsets)?;
        let mut columns = filled(WHAT, of_columns.len(), 0)?;
        for (column, &place) in (0..).zip(of_columns) {
            let end = &mut ends[place as usize / WINDOW];
            columns[*end as usize] = column;
            *end += 1;
        }
        Ok(Windows { places, offsets, columns })
    }

    /// How many places the largest window has.
    pub(super) fn most_places(&self) -> usize {
        self.places.min(WINDOW)
    }

    /// The places of each window and its columns, from the last places to the first.
    pub(super) fn descending(&self) -> impl Iterator<Item = (Range<usize>, &[u32])> {
        self.offsets.windows(2).enumerate().rev().map(|(window, ends)| {
            let places = window * WINDOW..((window + 1) * WINDOW).min(self.places);
            (places, &self.columns[ends[0] as usize..ends[1] as usize])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_in_the_window_of_its_place() {
        let mut random = crate::testing::Random(3);
        for places in [0, 1, WINDOW - 1, WINDOW, WINDOW + 1, 5 * WINDOW + 7] {
            let columns = if places == 0 { 0 } else { 3 * WINDOW };
            let of_columns: Vec<u32> = (0..columns).map(|_| random.below(places as u64) as u32).collect();
            let windows = Windows::new(places, &of_columns).unwrap();
            let (mut seen, mut end) = (vec![0; columns], places);
            for (window, columns) in windows.descending() {
                assert!(window.end == end && window.len() <= windows.most_places());
                end = window.start;
                assert!(columns.is_sorted());
                for &column in columns {
                    assert!(window.contains(&(of_columns[column as usize] as usize)));
                    seen[column as usize] += 1;
                }
            }
            assert!(end == 0 && seen.iter().all(|&times| times == 1));
        }
    }
}
