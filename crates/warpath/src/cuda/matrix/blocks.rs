//! The host's side of `kernels/apsp/blocks.cuh`: three launches for each block of vertices. The essay is in
//! [`blocked_floyd_warshall`](super::super::apsp::blocked_floyd_warshall).
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect.

use super::Ended;
use crate::algorithms::{Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Function, LaunchShape, arguments};
use crate::cuda::kernel_header::{DeviceMutPtr, cpp, kernel_header};
use crate::{Control, Result};

/// The rows and columns that a block may have, whatever kernel works on it.
pub(in crate::cuda) const SIDES: Values = Values::OneOf(&[
    "8", "9", "10", "11", "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23", "24", "25", "26",
    "27", "28", "29", "30", "31", "32",
]);
/// The rows and columns of a block, unless they are set.
const USUAL_SIDE: u32 = 16;
/// The parameter that sets the rows and columns of a block.
pub(in crate::cuda) const BLOCK: Parameter = Parameter {
    name: "block",
    summary: "rows and columns of a block: 16 or 32",
    values: Values::Or(&Values::OneOf(&["16", "32"]), Unset::Number(USUAL_SIDE as f64)),
};
/// The same for a matrix with rows and columns enough for blocks of every size.
pub(in crate::cuda) const BLOCK_OF_ANY_SIDE: Parameter = Parameter {
    summary: "rows and columns of a block, from 8 to 32",
    values: Values::Or(&SIDES, Unset::Number(USUAL_SIDE as f64)),
    ..BLOCK
};
/// The widest block.
pub(in crate::cuda) const WIDEST: u64 = 32;

kernel_header! {
    path: "apsp/blocks";
    namespace: blocks;

    /// The argument.
    struct KernelArgument<Cell> {
        matrix: DeviceMutPtr<cpp::Number>,
        pitch: u64,
        stopped: DeviceMutPtr<u32>,
        stage: u32,
    }
}

/// A square matrix on a device.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) struct Square {
    pub(in crate::cuda) cells: DeviceMutPtr<cpp::Number>,
    /// Cells from row to row.
    pub(in crate::cuda) pitch: u64,
    /// Rows and columns that blocks are to cover; there are as many more as the last blocks need.
    pub(in crate::cuda) covered: u64,
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
    /// After this many stages, the host checks for cancellation.
    const STAGES: u32 = 64;
    let side: u32 = parameters.word(BLOCK.name).and_then(|word| word.parse().ok()).unwrap_or(USUAL_SIDE);
    let Square { cells, pitch, covered, bytes } = square;
    let blocks = covered.div_ceil(side.into()) as u32;
    let device = pool.device().clone();
    let others = blocks - 1;
    let grids = [[1, 1, 1], [others, 2, 1], [others, others, 1]];
    let block_bytes = side * side * bytes;
    let launches: Vec<_> = functions
        .into_iter()
        .zip(grids)
        .zip(1..)
        .filter(|((_, grid), _)| grid[0] > 0)
        .map(|((function, grid), blocks_in_shared_memory)| {
            let shared_bytes = blocks_in_shared_memory * block_bytes;
            (function, LaunchShape { grid, block: [side, side, 1], shared_bytes, ..LaunchShape::line(1, 1) })
        })
        .collect();
    let (before, after) = (device.event()?, device.event()?);
    device.record(&before)?;
    pool.fill(stopped, 0)?;
    for stage in 0..blocks {
        let search = KernelArgument { matrix: cells, pitch, stopped: stopped.as_mut_ptr(), stage };
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
