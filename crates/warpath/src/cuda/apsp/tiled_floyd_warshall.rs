//! Floyd and Warshall's algorithm on a GPU: tiles in registers, all phases of many stages in one launch.
//!
//! # What it does
//!
//! A stage admits a block of vertices, as many as a tile has rows: 128, or 64 where cells have 64 bits. As Katz and Kider
//! have it, the diagonal block is closed first, then the panels, which are its rows and its columns, then everything else:
//!
//! 1. `d[K][K]` is closed by itself;
//! 2. `d[K][j] = min(d[K][j], d[K][K] x d[K][j])` and `d[i][K] = min(d[i][K], d[i][K] x d[K][K])`;
//! 3. `d[i][j] = min(d[i][j], d[i][K] x d[K][j])`,
//!
//! where `x` is the matrix product with minimum for plus, and plus for times.
//!
//! # How, and why like this
//!
//! **Registers.** A block of 256 threads has a tile of 128 x 128 words, a thread 8 x 8 of them. For each vertex admitted it
//! reads 8 + 8 words of shared memory, by four wide loads, for 64 relaxations, so the arithmetic sets the pace. The panels
//! come to shared memory 16 vertices at a time, by copies that do not pass through registers (LDGSTS), while the 16 before
//! are worked on: three pieces take turns, and one barrier each is enough.
//!
//! **Arithmetic.** An addition with a minimum is one instruction on Hopper (VIADDMNMX), but it takes the unit for integers
//! two cycles, and leaves every second place of the instruction stream empty. So part of the relaxations goes another way:
//! two additions on the unit that multiplies (IMAD), and one minimum of three (VIMNMX3) for two vertices at once. Floats
//! of 0 or more order as their bits do, so that their minima, too, are minima of three integers. `kernels/apsp/cells.cuh`.
//!
//! **Two cells in a word.** Cells of 16 bits are added and compared in pairs, two columns at once. The column panel is
//! stored with every cell twice, so that a word of it goes with any word of a row.
//!
//! **Overlap.** By themselves the diagonal keeps one multiprocessor of 132 busy, and the panels all for a moment, but one
//! after another. So all is one launch. Tasks (a tile in a stage) are numbered; blocks take the lowest number that is left
//! and wait until what it needs is done. In each stage the tiles that the next stage's diagonal and panels need come
//! first, and these come while there is still much of the rest to do. The order is in `task_of` in the kernel. Blocks wait
//! only for lower numbers, so nothing has to run at once, and a launch may end at any number: it does after as many stages
//! as take some tens of milliseconds, so that the host can tell progress and cancel.
//!
//! # Work, span, memory
//!
//! Work: n^3 relaxations for n rounded up to whole tiles. Span: n vertices on the diagonal, each a barrier of a block
//! and 16 k relaxations of a multiprocessor, and three tiles a stage. Memory: the matrix, and two column panels of 128
//! n words. The matrix is read and written once a stage: 2 n^3 / 128 words in all, a quarter of what the memory of an H200
//! can do in that time.
//!
//! # Where it wins and loses
//!
//! It wins on dense graphs, and on any of up to a few thousand vertices: it takes the same time for every graph. It loses
//! where there are few arcs. Beyond the memory of the device, and on several devices, it works on [`strips`](super::strips).
//!
//! Sources: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.1-4.2; Venkataraman, Sahni
//! and Mukhopadhyaya 2003. That a stage runs ahead of another is what LU decompositions call look-ahead.

use super::matrix::{Arrays, Matrix, Work, sides};
use super::strips::{HOME, KEEP, STRIP};
use super::{Beyond, CELL_BITS, Cell, DenseTask, MatrixAlgorithm};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::cuda::device::images;
use crate::cuda::matrix::Ended;
use crate::cuda::matrix::tiles::{HEAD_START, STAGES, Tiles};
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "tiled-floyd-warshall",
        summary: "a matrix in tiles that live in registers, all phases overlapped; for dense graphs",
        source: "Katz & Kider 2008, sect. 4.1-4.2",
        parameters: &[CELL_BITS, HEAD_START, STAGES, STRIP, HOME, KEEP],
        negative_weights: true,
        seconds,
    },
    // Pairs of 16 bits need the instructions of compute capability 9.0.
    has: |cell, capability| cell != Cell::U16 || capability >= (9, 0),
    multiples,
    layout: |cell, vertices, arena| {
        let (rows, pitch) = sides(vertices, multiples(cell));
        Work::Tiles(tiles(cell, rows, pitch).layout(arena))
    },
    beyond: Beyond::Strips,
    eliminate,
};

/// All triples of vertices are relaxed. Beside that run the stages, whose diagonals follow each other; on small matrices
/// they take the most time.
fn seconds(work: &Workload<'_>) -> f64 {
    /// Seconds of a stage.
    const STAGE: f64 = 75e-6;
    let cell = ALGORITHM.first_cell(&work.graph, work.parameters);
    let relaxations = match cell {
        Cell::U16 => 28.9e12,
        Cell::U32 | Cell::I32 => 14.9e12,
        Cell::F32 if work.graph.has_negative_weights() => 11.2e12,
        Cell::F32 => 14e12,
        Cell::I64 => 2.8e12,
        Cell::F64 => 3.8e12,
    };
    let stages = work.graph.vertices.div_ceil(if cell.bytes() == 8 { 64 } else { 128 }) as f64;
    (work.triples() / relaxations).hypot(stages * STAGE)
}

/// Bytes of the word that a cell is in.
fn word(cell: Cell) -> u64 {
    cell.bytes().max(4)
}

fn multiples(cell: Cell) -> (u64, u64) {
    let side = Tiles::side(word(cell));
    (side, side * word(cell) / cell.bytes())
}

fn tiles(cell: Cell, rows: u64, pitch: u64) -> Tiles {
    Tiles::new(rows, pitch * cell.bytes() / word(cell), word(cell))
}

fn eliminate(matrix: &Matrix, task: &DenseTask<'_>) -> Result<(Ended, Statistics)> {
    let is_non_negative_single = matrix.cell == Cell::F32 && !task.graph.has_negative_weights();
    let suffix = if is_non_negative_single { "_non_negative" } else { "" };
    let kernel = format!("apsp_tiled_{}{suffix}", matrix.cell.name());
    let function = matrix.device().function(&images::APSP_TILED_FLOYD_WARSHALL, &kernel)?;
    let tiles = tiles(matrix.cell, matrix.rows, matrix.pitch);
    let Arrays { cells, work, .. } = matrix.arrays;
    let Work::Tiles(workspace) = work else { unreachable!("the layout is for tiles") };
    let cells = cells.as_mut_ptr().cast();
    tiles.eliminate(&matrix.pool, cells, workspace, function, task.parameters, task.control)
}
