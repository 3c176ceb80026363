//! Floyd and Warshall's algorithm on a GPU as it is written down: a launch for each vertex.
//!
//! `floyd-warshall` has a thread for each pair. Every launch reads the whole matrix, for one relaxation a word, and starts
//! V^2 threads that do no more than that; how fast blocks are begun sets the pace. Work V^3, span V launches.
//!
//! `floyd-warshall-rows` has a thread for each row, which goes along it. There are few threads, and those beside each
//! other read words that are rows apart; so each reads whole lines of the memory at a time. Harish and Narayanan compare
//! with it, and find it slower. From some 16,000 vertices on it is the quicker one here, where most pairs stay as they are.
//!
//! Both win where nothing else does: they are there to be compared with. See `tiled-floyd-warshall`.
//!
//! Source: Harish and Narayanan 2007, algorithm 6 and sect. 3.4; Pathak et al. 2022, algorithm 14.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use super::matrix::{Arrays, Matrix, Work};
use super::{CELL_BITS, Cell, DenseTask, Ended, MatrixAlgorithm};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, cpp, kernel_header};
use crate::problems::Problem;
use crate::{Control, Result};

/// The line of `floyd-warshall` in the table.
pub(crate) const ALGORITHM: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "floyd-warshall",
        summary: "one launch a vertex, one thread a pair",
        source: "Harish & Narayanan 2007, alg. 6; Pathak et al. 2022, alg. 14",
        parameters: &[CELL_BITS],
        negative_weights: true,
    },
    has: |cell, _| cell != Cell::U16,
    multiples: |_| (1, LINE),
    layout: |_, _, arena| Work::flag(arena),
    strips: false,
    eliminate: |matrix, task| {
        let shape = one_thread_a_pair(matrix.vertices);
        eliminate(matrix, task, "apsp_floyd_warshall", &shape)
    },
};

/// Rows have a multiple of so many cells: whole lines of 128 bytes, whatever the cells are.
const LINE: u64 = 32;

/// A thread for each pair of so many vertices.
pub(in crate::cuda) fn one_thread_a_pair(vertices: u64) -> LaunchShape {
    /// Threads of a block across: with four down the quickest of those tried.
    const ACROSS: u32 = 64;
    /// Blocks that a grid can have down.
    const MOST: u64 = 65_535;
    let down = [4, 8].into_iter().find(|&down| vertices.div_ceil(down) <= MOST).unwrap_or(16);
    let blocks = [vertices.div_ceil(ACROSS.into()) as u32, vertices.div_ceil(down) as u32, 1];
    LaunchShape { grid: blocks, block: [ACROSS, down as u32, 1], ..LaunchShape::line(1, 1) }
}

/// The line of `floyd-warshall-rows` in the table.
pub(crate) const ROWS: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "floyd-warshall-rows",
        summary: "one launch a vertex, one thread a row",
        source: "Harish & Narayanan 2007, sect. 3.4",
        ..ALGORITHM.info
    },
    strips: false,
    eliminate: |matrix, task| {
        /// Threads of a block: few, for there are few in all, and each multiprocessor is to have some.
        const THREADS: u32 = 32;
        let shape = LaunchShape::covering(matrix.vertices, THREADS);
        eliminate(matrix, task, "apsp_floyd_warshall_rows", &shape)
    },
    ..ALGORITHM
};

kernel_header! {
    path: "apsp/by_vertex";
    namespace: by_vertex;

    /// The argument.
    struct Search<Cell> {
        matrix: DeviceMutPtr<cpp::Number>,
        pitch: u64,
        stopped: DeviceMutPtr<u32>,
        vertices: u32,
        through: u32,
    }
}

fn eliminate(matrix: &Matrix, task: &DenseTask<'_>, kernel: &str, shape: &LaunchShape) -> Result<(Ended, Statistics)> {
    let name = format!("{kernel}_{}", matrix.cell.name());
    let function = matrix.device().function(&images::APSP_FLOYD_WARSHALL, &name)?;
    let Arrays { cells, work, .. } = matrix.arrays;
    let rows = (cells.as_mut_ptr().cast(), matrix.pitch);
    by_vertex(&matrix.pool, rows, work.stopped(), task.graph.vertices() as u32, function, shape, task.control)
}

/// A launch for each vertex, on the matrix at this address and of this pitch, with a word that says why they have stopped
/// before their end.
pub(in crate::cuda) fn by_vertex(
    pool: &Pool,
    (matrix, pitch): (DeviceMutPtr<cpp::Number>, u64),
    stopped: DeviceSlice<u32>,
    vertices: u32,
    function: Function,
    shape: &LaunchShape,
    control: &Control,
) -> Result<(Ended, Statistics)> {
    /// So many launches, the host looks whether it is to go on.
    const LAUNCHES: u32 = 256;
    let device = pool.device().clone();
    let (before, after) = (device.event()?, device.event()?);
    device.record(&before)?;
    pool.fill(stopped, 0)?;
    for through in 0..vertices {
        let search = Search { matrix, pitch, stopped: stopped.as_mut_ptr(), vertices, through };
        // SAFETY: the argument is the kernels', and the matrix has that many rows and columns.
        unsafe { device.launch(function, shape, arguments![search])? };
        if through % LAUNCHES == LAUNCHES - 1 {
            if Ended::by(pool, stopped)? == Ended::NegativeCycle {
                break;
            }
            control.progress("solve", u64::from(through) + 1, vertices.into())?;
        }
    }
    device.record(&after)?;
    let ended = Ended::by(pool, stopped)?;
    let seconds = device.seconds_between(&before, &after)?;
    control.progress("solve", vertices.into(), vertices.into())?;
    let launches = ("kernel_launches", vertices.into());
    Ok((ended, vec![("device_nanoseconds", (seconds * 1e9) as u64), launches]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_grid_has_all_pairs_and_is_not_too_high() {
        for vertices in [1, 63, 64, 65, 4_099, 82_168, 262_140, 262_141, 524_280, 524_281, 1_048_560] {
            let LaunchShape { grid, block, .. } = one_thread_a_pair(vertices);
            for side in 0..2 {
                let threads = u64::from(grid[side]) * u64::from(block[side]);
                assert!(
                    (vertices..vertices + u64::from(block[side])).contains(&threads),
                    "{vertices}: {grid:?} {block:?}"
                );
            }
            assert!(grid[1] <= 65_535 && block[0] * block[1] <= 1024, "{vertices}: {grid:?} {block:?}");
        }
    }
}
