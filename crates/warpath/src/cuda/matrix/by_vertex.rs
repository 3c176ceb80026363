//! The host's side of `kernels/apsp/by_vertex.cuh`: a launch for each vertex, as printed or tuned. The essay is in
//! [`floyd_warshall`](super::super::apsp::floyd_warshall).
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect.

use super::Ended;
use crate::algorithms::{Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Function, LaunchShape, arguments};
use crate::cuda::kernel_header::{DeviceMutPtr, cpp, kernel_header};
use crate::{Control, Result};

kernel_header! {
    path: "apsp/by_vertex";
    namespace: by_vertex;

    /// The argument.
    struct KernelArgument<Cell> {
        matrix: DeviceMutPtr<cpp::Number>,
        pitch: u64,
        stopped: DeviceMutPtr<u32>,
        vertices: u32,
        through: u32,
    }
}

/// The threads of a block as printed, unless they are set. No paper says how many it had; the 8800 allows 512.
const USUAL_THREADS: u32 = 256;
/// The parameter that sets the threads of a block as printed.
pub(in crate::cuda) const THREADS: Parameter = Parameter {
    name: "threads",
    summary: "threads of a block: 32, 64, 128, 256, 512 or 1024",
    values: Values::Or(&Values::OneOf(&["32", "64", "128", "256", "512", "1024"]), Unset::Number(USUAL_THREADS as f64)),
};

/// The threads of a block that the caller asked for.
fn threads(parameters: &Parameters) -> u32 {
    parameters.word(THREADS.name).and_then(|word| word.parse().ok()).unwrap_or(USUAL_THREADS)
}

/// Blocks that a grid can have down.
const MOST_DOWN: u64 = 65_535;

/// As printed, a thread for each pair of this many vertices, in blocks with 16 threads across. Blocks get more threads
/// where so few would make the grid too high.
pub(in crate::cuda) fn one_thread_a_pair_as_printed(vertices: u64, parameters: &Parameters) -> LaunchShape {
    pairs_in_blocks(vertices, threads(parameters))
}

fn pairs_in_blocks(vertices: u64, threads: u32) -> LaunchShape {
    const ACROSS: u32 = 16;
    let down = u64::from(threads / ACROSS).max(vertices.div_ceil(MOST_DOWN));
    let blocks = [vertices.div_ceil(ACROSS.into()) as u32, vertices.div_ceil(down) as u32, 1];
    LaunchShape { grid: blocks, block: [ACROSS, down as u32, 1], ..LaunchShape::line(1, 1) }
}

/// As printed, a thread for each row of this many vertices.
pub(in crate::cuda) fn one_thread_a_row_as_printed(vertices: u64, parameters: &Parameters) -> LaunchShape {
    LaunchShape::covering(vertices, threads(parameters))
}

/// Tuned, a thread for each pair of this many vertices.
pub(in crate::cuda) fn one_thread_a_pair(vertices: u64) -> LaunchShape {
    /// Threads of a block across: with four down the quickest of those tried.
    const ACROSS: u32 = 64;
    let down = [4, 8].into_iter().find(|&down| vertices.div_ceil(down) <= MOST_DOWN).unwrap_or(16);
    let blocks = [vertices.div_ceil(ACROSS.into()) as u32, vertices.div_ceil(down) as u32, 1];
    LaunchShape { grid: blocks, block: [ACROSS, down as u32, 1], ..LaunchShape::line(1, 1) }
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
    /// After this many launches, the host checks for cancellation.
    const LAUNCHES: u32 = 256;
    let device = pool.device().clone();
    let (before, after) = (device.event()?, device.event()?);
    device.record(&before)?;
    pool.fill(stopped, 0)?;
    for through in 0..vertices {
        let search = KernelArgument { matrix, pitch, stopped: stopped.as_mut_ptr(), vertices, through };
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
        let sizes = [1, 63, 64, 65, 4_099, 82_168, 131_070, 131_071, 262_140, 262_141, 524_280, 524_281, 1_048_560];
        let shapes = |vertices| {
            let as_printed = [32, 64, 128, 256, 512, 1024].map(|threads| pairs_in_blocks(vertices, threads));
            as_printed.into_iter().chain([one_thread_a_pair(vertices)])
        };
        for (vertices, LaunchShape { grid, block, .. }) in
            sizes.into_iter().flat_map(|vertices| shapes(vertices).map(move |shape| (vertices, shape)))
        {
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
