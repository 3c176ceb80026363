//! Whether a result is exact: the weights are looked at before, the distances after.

use super::cells::Cell;
use crate::parallel;

/// The facts about the weights by which the result is judged (see the module documentation).
pub(super) struct WeightSurvey<T> {
    /// The largest finite weight, or zero.
    largest: T,
    /// Results from here up are infinite.
    threshold: T,
    pub(super) non_negative: bool,
}

impl<T: Cell> WeightSurvey<T> {
    /// `None` if infinity would not be recognisable after adding the negative weights. Cells
    /// above infinity are lowered to it.
    pub(super) fn of(matrix: &mut [T], n: usize) -> Option<Self> {
        let mut survey = Self { largest: T::EMPTY, threshold: T::INFINITY, non_negative: true };
        let rows = parallel::collect_taken(matrix.chunks_mut(n.max(1)), |row| {
            let extremes = RowExtremes::of(row, T::INFINITY);
            if extremes.beyond_limit {
                reset_from(row, T::INFINITY);
            }
            extremes
        });
        for row in rows {
            survey.largest = greater(survey.largest, row.largest);
            if row.smallest < T::EMPTY {
                survey.non_negative = false;
                survey.threshold = survey.threshold.plus(row.smallest);
                // Written so that a NaN, infinity plus negative infinity, is refused as well.
                let recognisable = survey.threshold > T::EMPTY;
                if !recognisable {
                    return None;
                }
            }
        }
        Some(survey)
    }

    /// Makes all infinite cells equal to infinity; false if a distance may have been mistaken for another.
    pub(super) fn settle(&self, matrix: &mut [T], n: usize) -> bool {
        if T::OVERFLOWS_TO_INFINITY {
            return true;
        }
        let greatest_of_rows = parallel::collect_taken(matrix.chunks_mut(n.max(1)), |row| {
            if self.threshold < T::INFINITY {
                reset_from(row, self.threshold);
            }
            RowExtremes::of(row, self.threshold).largest
        });
        let largest_distance = greatest_of_rows.into_iter().fold(T::EMPTY, greater);
        largest_distance.plus(self.largest) < self.threshold
    }
}

struct RowExtremes<T> {
    /// At most zero.
    smallest: T,
    /// At least zero, and below the limit.
    largest: T,
    /// Whether a cell exceeds the limit.
    beyond_limit: bool,
}

impl<T: Cell> RowExtremes<T> {
    /// Independent lanes, because the compiler may not reorder float comparisons by itself.
    fn of(row: &[T], limit: T) -> Self {
        const LANES: usize = 32;
        let mut smallest = [T::EMPTY; LANES];
        let mut largest = [T::EMPTY; LANES];
        let mut topmost = [T::EMPTY; LANES];
        for chunk in row.chunks(LANES) {
            for (lane, &cell) in chunk.iter().enumerate() {
                smallest[lane] = smallest[lane].lesser(cell);
                topmost[lane] = greater(topmost[lane], cell);
                largest[lane] = greater(largest[lane], if cell < limit { cell } else { T::EMPTY });
            }
        }
        Self {
            smallest: smallest.into_iter().fold(T::EMPTY, T::lesser),
            largest: largest.into_iter().fold(T::EMPTY, greater),
            beyond_limit: topmost.into_iter().any(|cell| cell > limit),
        }
    }
}

fn reset_from<T: Cell>(row: &mut [T], threshold: T) {
    for cell in row {
        *cell = if *cell < threshold { *cell } else { T::INFINITY };
    }
}

#[inline(always)]
fn greater<T: Cell>(a: T, b: T) -> T {
    if b > a { b } else { a }
}
