//! Floyd and Warshall's algorithm on a GPU as two papers print it, and tuned: a launch for each vertex.
//!
//! `floyd-warshall` has a thread for each pair. Every launch reads and writes the whole matrix, for one relaxation a
//! word, and starts V^2 threads that do no more than that. `floyd-warshall-rows` has a thread for each row, which goes
//! along it word by word. There are few threads, and those beside each other read words that are rows apart. Harish and
//! Narayanan compare both, and find a thread a row nine times as slow. Both are here as printed, to be compared with.
//!
//! `tuned-floyd-warshall` has a thread for each pair, too. Most pairs stay as they are in a launch, so it writes only
//! words that change, and it asks for the rows of the blocks below ahead of them. `tuned-floyd-warshall-rows` reads and
//! writes whole lines of 128 bytes, all of one at once. From some 16,000 vertices on it is the quicker one here.
//!
//! All of them win where nothing else does. Work V^3, span V launches. See `tiled-floyd-warshall`.
//!
//! Repairs of what is printed: a vertex on a cycle of negative length raises a flag, and nothing is relaxed through it.
//! The papers do not say how many threads a block has: 256 here, unless the parameter `threads` sets another number.
//!
//! Source: Harish and Narayanan 2007, algorithm 6 and sect. 3.4; Pathak et al. 2022, algorithm 14.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use super::matrix::{Arrays, Matrix, Work};
use super::{Beyond, CELL_BITS, Cell, DenseTask, MatrixAlgorithm};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::cuda::device::{LaunchShape, images};
use crate::cuda::matrix::Ended;
use crate::cuda::matrix::by_vertex::{
    THREADS, by_vertex, one_thread_a_pair, one_thread_a_pair_as_printed, one_thread_a_row_as_printed,
};
use crate::problems::Problem;

/// The line of `floyd-warshall` in the table.
pub(crate) const ALGORITHM: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "floyd-warshall",
        summary: "one launch a vertex, one thread a pair, as printed",
        source: "Harish & Narayanan 2007, alg. 6; Pathak et al. 2022, alg. 14",
        parameters: &[THREADS, CELL_BITS],
        negative_weights: true,
        seconds: |work| seconds(work, work.vertices() * LAUNCH + work.triples() / 0.26e12),
    },
    has: |cell, _| cell != Cell::U16,
    multiples: |_| (1, LINE),
    layout: |_, _, arena| Work::flag(arena),
    beyond: Beyond::Nothing,
    eliminate: |matrix, task| {
        let shape = one_thread_a_pair_as_printed(matrix.vertices, task.parameters);
        eliminate(matrix, task, "apsp_floyd_warshall", &shape)
    },
};

/// The line of `floyd-warshall-rows` in the table.
pub(crate) const ROWS: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        name: "floyd-warshall-rows",
        summary: "one launch a vertex, one thread a row, as printed",
        source: "Harish & Narayanan 2007, sect. 3.4",
        // Threads wait for one word after another, of a line that is theirs alone.
        seconds: |work| {
            seconds(work, work.vertices() * LAUNCH + work.triples() / (work.vertices() / 380e-9).min(0.1e12))
        },
        ..ALGORITHM.info
    },
    eliminate: |matrix, task| {
        let shape = one_thread_a_row_as_printed(matrix.vertices, task.parameters);
        eliminate(matrix, task, "apsp_floyd_warshall_rows", &shape)
    },
    ..ALGORITHM
};

/// The line of `tuned-floyd-warshall` in the table.
pub(crate) const TUNED: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        name: "tuned-floyd-warshall",
        summary: "one launch a vertex, one thread a pair, which writes only what changes",
        source: "Harish & Narayanan 2007, alg. 6, tuned",
        parameters: &[CELL_BITS],
        seconds: |work| seconds(work, work.vertices() * LAUNCH + work.triples() / 0.3e12),
        ..ALGORITHM.info
    },
    eliminate: |matrix, task| {
        let shape = one_thread_a_pair(matrix.vertices);
        eliminate(matrix, task, "apsp_tuned_floyd_warshall", &shape)
    },
    ..ALGORITHM
};

/// The line of `tuned-floyd-warshall-rows` in the table.
pub(crate) const TUNED_ROWS: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        name: "tuned-floyd-warshall-rows",
        summary: "one launch a vertex, one thread a row, by lines of the memory",
        source: "Harish & Narayanan 2007, sect. 3.4, tuned",
        // A thread takes the same time for each relaxation however many there are, until the memory is busy.
        seconds: |work| {
            seconds(work, work.vertices() * LAUNCH + work.triples() / (work.vertices() / 35e-9).min(0.5e12))
        },
        ..TUNED.info
    },
    eliminate: |matrix, task| {
        /// Threads of a block: few, for there are few in all, and each multiprocessor is to have some.
        const THREADS: u32 = 32;
        let shape = LaunchShape::covering(matrix.vertices, THREADS);
        eliminate(matrix, task, "apsp_tuned_floyd_warshall_rows", &shape)
    },
    ..TUNED
};

/// Seconds of a launch; there is one for each vertex.
const LAUNCH: f64 = 4e-6;

/// Predicted seconds, given those with cells of 32 bits: all cells are read and written for every vertex.
fn seconds(work: &Workload<'_>, of_32_bits: f64) -> f64 {
    of_32_bits * ALGORITHM.first_cell(&work.graph, work.parameters).bytes() as f64 / 4.0
}

/// The number of cells in a row is a multiple of this: whole lines of 128 bytes, whatever the cells are.
const LINE: u64 = 32;

fn eliminate(matrix: &Matrix, task: &DenseTask<'_>, kernel: &str, shape: &LaunchShape) -> Result<(Ended, Statistics)> {
    let name = format!("{kernel}_{}", matrix.cell.name());
    let function = matrix.device().function(&images::APSP_FLOYD_WARSHALL, &name)?;
    let Arrays { cells, work, .. } = matrix.arrays;
    let rows = (cells.as_mut_ptr().cast(), matrix.pitch);
    by_vertex(&matrix.pool, rows, work.stopped(), task.graph.vertices() as u32, function, shape, task.control)
}
