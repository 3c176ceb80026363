//! Floyd and Warshall's algorithm on a GPU in blocks of distances, as two papers describe it: three launches a stage.
//!
//! A stage admits a block of vertices: its diagonal block by itself, then the blocks beside, above and below it, then all
//! others. Each block of the matrix is one block of threads, with a thread for each cell. The block and the one or two
//! blocks that it reads come to shared memory first, and a relaxation reads and writes its cell there. So a word of
//! global memory is used `block` times, and shared memory sets the pace: two loads and a store for every relaxation. Work
//! V^3, span 3 V / `block` launches, of which the first keeps one multiprocessor busy.
//!
//! It is there to be compared with. [`katz_kider`](super::katz_kider) is Katz and Kider's whole program, whose cells have
//! an intermediate vertex, too. `tiled-floyd-warshall` keeps the three phases, and its cells in registers.
//!
//! Sources: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.1-4.2; Pathak et al.
//! 2022, "Accelerating large graph algorithms on GPU using CUDA", sect. 5.3.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use super::matrix::{Arrays, Matrix, Work};
use super::{Beyond, CELL_BITS, Cell, DenseTask, MatrixAlgorithm};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::cuda::device::images;
use crate::cuda::matrix::Ended;
use crate::cuda::matrix::blocks::{BLOCK, Square, WIDEST, in_blocks};
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "blocked-floyd-warshall",
        summary: "three launches a block of vertices, one thread a cell, blocks in shared memory",
        source: "Katz & Kider 2008, sect. 4.1-4.2; Pathak et al. 2022, sect. 5.3",
        parameters: &[BLOCK, CELL_BITS],
        negative_weights: true,
        seconds,
    },
    has: |cell, _| cell != Cell::U16,
    multiples: |_| (WIDEST, WIDEST),
    layout: |_, _, arena| Work::flag(arena),
    beyond: Beyond::Nothing,
    eliminate,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// A vertex's share of the launches of its block, and relaxations a second in 32 bits.
    const LAUNCHES: f64 = 0.9e-6;
    const RELAXATIONS: f64 = 1.5e12;
    let words = ALGORITHM.first_cell(&work.graph, work.parameters).bytes() as f64 / 4.0;
    (work.vertices() * LAUNCHES).hypot(work.triples() / RELAXATIONS * words)
}

fn eliminate(matrix: &Matrix, task: &DenseTask<'_>) -> Result<(Ended, Statistics)> {
    let name = matrix.cell.name();
    let image = &images::APSP_BLOCKED_FLOYD_WARSHALL;
    let function = |phase: &str| matrix.device().function(image, &format!("apsp_blocked_{phase}_{name}"));
    let functions = [function("diagonal")?, function("panels")?, function("rest")?];
    let Arrays { cells, work, .. } = matrix.arrays;
    let square = Square {
        cells: cells.as_mut_ptr().cast(),
        pitch: matrix.pitch,
        covered: matrix.pitch,
        bytes: matrix.cell.bytes() as u32,
    };
    in_blocks(&matrix.pool, square, work.stopped(), functions, task.parameters, task.control)
}
