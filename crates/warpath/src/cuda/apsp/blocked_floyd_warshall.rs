//! Floyd and Warshall's algorithm on a GPU in blocks, as Katz and Kider print it: three launches a stage.
//!
//! A stage admits a block of vertices: its diagonal block by itself, then the blocks beside, above and below it, then all
//! others. Each block of the matrix is one block of threads, with a thread for each cell; the two blocks that it reads come
//! to shared memory first. So a word of global memory is used `block` times, and what sets the pace is shared memory: two
//! loads for every relaxation. Work V^3, span 3 V / `block` launches, of which the first keeps one multiprocessor busy.
//!
//! It is there to be compared with; `tiled-floyd-warshall` keeps its three phases, and mends all this.
//!
//! Source: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.1-4.2.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use super::matrix::{Arrays, Matrix, Work};
use super::{CELL_BITS, Cell, DenseTask, Ended, MatrixAlgorithm};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Values};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, cpp, kernel_header};
use crate::problems::Problem;
use crate::{Control, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "blocked-floyd-warshall",
        summary: "three launches a block of vertices, one thread a cell, blocks in shared memory",
        source: "Katz & Kider 2008, sect. 4.1-4.2",
        parameters: &[BLOCK, CELL_BITS],
        negative_weights: true,
    },
    has: |cell, _| cell != Cell::U16,
    multiples: |_| (WIDEST, WIDEST),
    layout: |_, _, arena| Work::flag(arena),
    strips: false,
    eliminate,
};

/// How large the blocks are.
pub(in crate::cuda) const BLOCK: Parameter = Parameter {
    name: "block",
    summary: "rows and columns of a block: 16 or 32; 16",
    values: Values::OneOf(&["16", "32"]),
};
/// The widest block.
pub(in crate::cuda) const WIDEST: u64 = 32;

kernel_header! {
    path: "apsp/blocks";
    namespace: blocks;

    /// The argument.
    struct Search<Cell> {
        matrix: DeviceMutPtr<cpp::Number>,
        pitch: u64,
        stopped: DeviceMutPtr<u32>,
        stage: u32,
    }
}

fn eliminate(matrix: &Matrix, task: &DenseTask<'_>) -> Result<(Ended, Statistics)> {
    let name = matrix.cell.name();
    let image = &images::APSP_BLOCKED_FLOYD_WARSHALL;
    let function = |phase: &str| matrix.device().function(image, &format!("apsp_blocked_{phase}_{name}"));
    let functions = [function("diagonal")?, function("panels")?, function("rest")?];
    let Arrays { cells, work, .. } = matrix.arrays;
    let square = Square { cells: cells.as_mut_ptr().cast(), pitch: matrix.pitch, bytes: matrix.cell.bytes() as u32 };
    in_blocks(&matrix.pool, square, work.stopped(), functions, task.parameters, task.control)
}

/// A square matrix on a device.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) struct Square {
    pub(in crate::cuda) cells: DeviceMutPtr<cpp::Number>,
    /// Cells from row to row.
    pub(in crate::cuda) pitch: u64,
    /// Bytes of a cell.
    pub(in crate::cuda) bytes: u32,
}

/// Three launches for each block of vertices, with a word that says why they have stopped before their end.
pub(in crate::cuda) fn in_blocks(
    pool: &Pool,
    square: Square,
    stopped: DeviceSlice<u32>,
    functions: [Function; 3],
    parameters: &Parameters,
    control: &Control,
) -> Result<(Ended, Statistics)> {
    /// So many stages, the host looks whether it is to go on.
    const STAGES: u32 = 64;
    let side: u32 = parameters.word(BLOCK.name).and_then(|word| word.parse().ok()).unwrap_or(16);
    let Square { cells, pitch, bytes } = square;
    let blocks = (pitch / u64::from(side)) as u32;
    let device = pool.device().clone();
    let others = blocks - 1;
    let grids = [[1, 1, 1], [others, 2, 1], [others, others, 1]];
    let shared_bytes = 2 * side * side * bytes;
    let launches: Vec<_> = functions
        .into_iter()
        .zip(grids)
        .filter(|(_, grid)| grid[0] > 0)
        .map(|(function, grid)| {
            (function, LaunchShape { grid, block: [side, side, 1], shared_bytes, ..LaunchShape::line(1, 1) })
        })
        .collect();
    let (before, after) = (device.event()?, device.event()?);
    device.record(&before)?;
    pool.fill(stopped, 0)?;
    for stage in 0..blocks {
        let search = Search { matrix: cells, pitch, stopped: stopped.as_mut_ptr(), stage };
        for (function, shape) in &launches {
            // SAFETY: the argument is the kernels', and the matrix has that many blocks.
            unsafe { device.launch(*function, shape, arguments![search])? };
        }
        if stage % STAGES == STAGES - 1 {
            if Ended::by(pool, stopped)? == Ended::NegativeCycle {
                break;
            }
            control.progress("solve", u64::from(stage) + 1, blocks.into())?;
        }
    }
    device.record(&after)?;
    let ended = Ended::by(pool, stopped)?;
    let seconds = device.seconds_between(&before, &after)?;
    control.progress("solve", blocks.into(), blocks.into())?;
    let statistics = vec![
        ("device_nanoseconds", (seconds * 1e9) as u64),
        ("stages", blocks.into()),
        ("kernel_launches", u64::from(blocks) * launches.len() as u64),
    ];
    Ok((ended, statistics))
}
