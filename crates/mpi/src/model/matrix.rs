//! Predicts what ranks send that share a matrix of all pairs: exactly, since it depends on nothing but sizes, for one attempt. Distances that do not fit
//! their cells, which nobody knows before, take another one with wider cells.
//!
//! Of each pivot of up to [`PIVOT`] vertices, the rank where its rows and columns cross tells the closed cells to the ranks of its row and of its
//! column; the ranks that have its rows tell their columns of these to those below and above, and the ranks that have its columns tell their rows.
//! So every rank tells its block twice: `2 n^2 / ranks` cells, and the crossings, `2 n PIVOT / ranks`, on average.

use crate::grid::{PIVOT, pivots_of, shape, starts_of};

/// What ranks are predicted to send while they solve a matrix, on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PredictedMatrix {
    /// Bytes that a rank tells others.
    pub bytes: f64,
    /// How often it tells something.
    pub messages: f64,
    /// How often it waits for others.
    pub meetings: f64,
}

/// Predicts what ranks send for a matrix of so many rows with cells of so many bytes. O(ranks + vertices / 384).
pub fn predict_matrix(vertices: u64, ranks: usize, cell_bytes: u64) -> PredictedMatrix {
    let [rows, columns] = shape(ranks).map(|parts| starts_of(vertices as usize, parts));
    let (ranks, n) = (ranks as f64, vertices as f64);
    let (mut cells, mut messages, mut meetings) = (0.0, 0.0, 0.0);
    let [row_count, column_count] = [&rows, &columns].map(|starts| starts.len() as f64 - 1.0);
    for pivot in pivots_of(&[rows, columns], PIVOT) {
        let depth = pivot.len() as f64;
        cells += 2.0 * depth * depth + 2.0 * depth * n;
        // Of the crossing twice; of panels once by each rank that has rows or columns of the pivot.
        messages += 2.0 + row_count + column_count - 1.0;
        meetings += row_count + column_count + ranks;
    }
    // Whether all went well, and the farthest distance.
    let at_the_end = 2.0;
    PredictedMatrix {
        bytes: cells * cell_bytes as f64 / ranks,
        messages: messages / ranks,
        meetings: meetings / ranks + at_the_end,
    }
}
