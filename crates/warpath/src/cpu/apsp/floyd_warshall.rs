//! Floyd and Warshall's algorithm as the textbook has it: three nested loops over the matrix.
//!
//! After step `k`, cell `(i, j)` holds the least length of a path from `i` to `j` through vertices up to `k` only. Work
//! V³ whatever the arcs are, span V log V: the rows of a step are spread over the threads. Every step reads and writes
//! the whole matrix, which `tiled-floyd-warshall` avoids. Negative weights are fine.
//!
//! Lengths of floats are added up in the order in which paths were joined, not left to right: they may differ from a
//! search's lengths by rounding, which `verify` allows for.
//!
//! Source: Floyd 1962, "Algorithm 97"; Warshall 1962; Harish & Narayanan 2007, algorithm 6.

use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::all_pairs::potentials::potentials;
use crate::graph::{DistanceValue, MinPlus, VertexId};
use crate::huge_pages::on_huge_pages;
use crate::problems::Problem;
use crate::{Error, Result, memory, parallel};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "floyd-warshall",
        summary: "three nested loops over the matrix, as the textbook has it",
        source: "Floyd 1962; Harish & Narayanan 2007, algorithm 6",
        parameters: &[],
        negative_weights: true,
        seconds: |work| work.triples() * 0.3e-9,
    },
    needs_matrix: true,
    ends_at_targets: false,
    seconds_before: |_| 0.0,
    rows_together: 1,
    workspace_bytes: |_, _, _, _| 0,
    function: Function::FloydWarshall,
};

pub(super) fn solve<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
) -> Result<Statistics> {
    /// The rows that a thread takes at one time.
    const ROWS: usize = 16;
    with_square_matrix(task, output, |matrix, vertices| {
        let mut through = memory::filled("a row of distances", vertices, L::Distance::UNREACHABLE)?;
        for k in 0..vertices {
            through.copy_from_slice(&matrix[k * vertices..][..vertices]);
            task.team.install(|| {
                parallel::for_each_chunk(matrix, ROWS * vertices, |_, rows| {
                    for row in rows.chunks_exact_mut(vertices) {
                        let to = row[k];
                        if to == L::Distance::UNREACHABLE {
                            continue;
                        }
                        for (cell, &from) in row.iter_mut().zip(&through) {
                            let joined = L::join(to, from);
                            *cell = if joined < *cell { joined } else { *cell };
                        }
                    }
                });
            });
            task.control.progress("solve", k as u64 + 1, vertices as u64)?;
        }
        Ok(Some(vec![("steps", vertices as u64)]))
    })
}

/// Sets up the square matrix and calls `eliminate` on it (again, from the start, if that returns `None`). Then checks
/// that no distance left the range of its type, and hands out the rows and columns asked for.
pub(super) fn with_square_matrix<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
    mut eliminate: impl FnMut(&mut [L::Distance], usize) -> Result<Option<Statistics>>,
) -> Result<Statistics> {
    task.check(&output)?;
    let vertices = task.graph.vertices();
    // Where weights are negative, a cycle that no source reaches must not spoil the rows of others: only vertices that
    // the sources reach take part.
    let reached = match task.graph.has_negative_weights() {
        true => Some(potentials::<L>(task.adjacency, task.graph, task.sources, task.control)?),
        false => None,
    };
    let takes_part = |u: usize| reached.as_ref().is_none_or(|reached| reached[u] != L::Distance::UNREACHABLE);
    let mut compute = |matrix: &mut [L::Distance]| -> Result<Statistics> {
        let rows = |matrix: &mut [L::Distance]| {
            parallel::for_each_chunk(matrix, vertices.max(1), |u, row| {
                row.fill(L::Distance::UNREACHABLE);
                if takes_part(u) {
                    for (v, weight) in task.adjacency.edges(u as VertexId) {
                        let length = L::extend(L::Distance::ZERO, weight);
                        let cell = &mut row[v as usize];
                        *cell = if length < *cell { length } else { *cell };
                    }
                }
                // Loops of negative weight were found above.
                row[u] = L::Distance::ZERO;
            });
        };
        let statistics = loop {
            task.team.install(|| rows(matrix));
            if let Some(statistics) = eliminate(matrix, vertices)? {
                break statistics;
            }
        };
        if task.team.install(|| is_in_range::<L>(task, &takes_part, matrix)) {
            Ok(statistics)
        } else {
            Err(Error::DistanceOverflow { semiring: L::NAME })
        }
    };
    match output {
        ApspOutput::Matrix(matrix) if task.is_square() => compute(matrix),
        ApspOutput::Matrix(rows) => {
            let mut matrix = square_matrix::<L>(vertices)?;
            let statistics = compute(&mut matrix)?;
            if task.columns() > 0 {
                for (row, &source) in rows.chunks_exact_mut(task.columns()).zip(task.sources) {
                    select(task, &matrix[source as usize * vertices..][..vertices], row);
                }
            }
            Ok(statistics)
        }
        ApspOutput::Blocks(consumer) => {
            let order = memory::listed("the order of rows", 0..task.sources.len())?;
            let have = consumer.start(&order)?;
            let mut statistics = Statistics::new();
            if have < order.len() {
                let mut matrix = square_matrix::<L>(vertices)?;
                statistics = compute(&mut matrix)?;
                task.hand_out(&order[have..], 1, consumer, |rows, values| {
                    if task.columns() > 0 {
                        for (cells, &row) in values.chunks_exact_mut(task.columns()).zip(rows) {
                            select(task, &matrix[task.sources[row] as usize * vertices..][..vertices], cells);
                        }
                    }
                    Ok(())
                })?;
            }
            Ok(statistics)
        }
    }
}

/// A square matrix of zeros.
fn square_matrix<L: MinPlus>(vertices: usize) -> Result<Vec<L::Distance>> {
    let matrix = memory::zeroed("the matrix of distances", vertices.saturating_mul(vertices))?;
    Ok(on_huge_pages(matrix))
}

/// The columns asked for.
fn select<L: MinPlus>(task: &ApspTask<'_, L>, row: &[L::Distance], cells: &mut [L::Distance]) {
    match task.targets {
        None => cells.copy_from_slice(row),
        Some(targets) => cells.iter_mut().zip(targets).for_each(|(cell, &target)| *cell = row[target as usize]),
    }
}

/// Whether no distance was lost to saturation: nearly always because the greatest distance plus the greatest weight is
/// in range, else because in no row an arc leads from a reached vertex to an unreached vertex. Floats below 0 must not
/// have become infinite, either.
///
/// Where no weight is below 0, a part of a shortest path is no longer than the whole, so only the rows asked for
/// matter; otherwise, all rows that take part.
fn is_in_range<L: MinPlus>(
    task: &ApspTask<'_, L>,
    takes_part: &(dyn Fn(usize) -> bool + Sync),
    matrix: &[L::Distance],
) -> bool {
    let unreachable = L::Distance::UNREACHABLE;
    let negative = task.graph.has_negative_weights();
    let chunks = || matrix.chunks(1 << 16);
    let greater = |greatest: L::Distance, cell: L::Distance| {
        if cell < unreachable && greatest < cell { cell } else { greatest }
    };
    let greatest_of = |cells: &[L::Distance]| cells.iter().copied().fold(L::Distance::ZERO, greater);
    let greatest = parallel::collect_taken(chunks(), greatest_of).into_iter().fold(L::Distance::ZERO, greater);
    let is_below = |cells: &[L::Distance]| cells.iter().any(|cell| cell.to_f64() == f64::NEG_INFINITY);
    let below_all = || parallel::collect_taken(chunks(), is_below).contains(&true);
    if greatest.to_f64() + task.graph.weight_range().1 < L::Distance::LIMIT && !(negative && below_all()) {
        return true;
    }
    let row_suffices =
        |u: usize| !task.graph.has_left_range(&matrix[u * task.graph.vertices()..][..task.graph.vertices()]);
    if negative {
        parallel::all(task.graph.vertices(), &|u| !takes_part(u) || row_suffices(u))
    } else {
        parallel::all(task.sources.len(), &|index| row_suffices(task.sources[index] as usize))
    }
}
