//! Transitive closure on a GPU with a word for each pair, as its paper has it.
//!
//! `warshall` has a launch for each vertex and a thread for each pair, as printed; `tuned-warshall` writes only words that
//! change, and asks for rows ahead. `blocked-warshall` has three launches for each block of vertices and a thread for each
//! pair of a block. They are [`floyd_warshall`](crate::cuda::apsp::floyd_warshall) and
//! [`blocked_floyd_warshall`](crate::cuda::apsp::blocked_floyd_warshall) with `or` and `and` for minimum and sum. The bits are
//! made words before, and packed again at the end. Work V^3, memory 4 V^2 bytes. They are there to be compared with
//! `bit-warshall`, which has 32 pairs in a word.
//!
//! Source: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 3.2 (algorithm 1) and 4.3.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use super::{Bits, ClosureAlgorithm, ClosureTask, Work};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, kernel_header};
use crate::cuda::matrix::blocks::{BLOCK_OF_ANY_SIDE, Square, WIDEST, in_blocks};
use crate::cuda::matrix::by_vertex::{THREADS, by_vertex, one_thread_a_pair, one_thread_a_pair_as_printed};
use crate::problems::Problem;

/// The line of `warshall` in the table.
pub(super) const ALGORITHM: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Closure,
        name: "warshall",
        summary: "one launch a vertex, one thread a pair, as printed; for comparison",
        source: "Katz & Kider 2008, sect. 3.2, alg. 1",
        parameters: &[THREADS],
        negative_weights: true,
        seconds: |work| work.vertices() * 5e-6 + work.triples() / 0.26e12,
    },
    condenses: false,
    kernel: (&images::CLOSURE_WARSHALL, "closure_warshall"),
    multiples: (1, 1),
    layout: |vertices, arena| {
        let side = side(vertices);
        Work::Words(arena.take("a word for each pair", side.saturating_mul(side)), arena.take("flag", 1))
    },
    close: |bits, task| {
        let shape = one_thread_a_pair_as_printed(task.graph.vertices() as u64, task.parameters);
        close_by_vertex(bits, task, "closure_warshall", &shape)
    },
};

/// The line of `tuned-warshall` in the table.
pub(super) const TUNED: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        name: "tuned-warshall",
        summary: "one launch a vertex, one thread a pair, which writes only what changes; for comparison",
        source: "Katz & Kider 2008, sect. 3.2, tuned",
        parameters: &[],
        seconds: |work| work.vertices() * 5e-6 + work.triples() / 0.3e12,
        ..ALGORITHM.info
    },
    close: |bits, task| {
        let shape = one_thread_a_pair(task.graph.vertices() as u64);
        close_by_vertex(bits, task, "closure_tuned_warshall", &shape)
    },
    ..ALGORITHM
};

/// Launches a kernel once for each vertex.
fn close_by_vertex(bits: &Bits, task: &ClosureTask<'_>, kernel: &str, shape: &LaunchShape) -> Result<Statistics> {
    with_flags(bits, task, |flags, side, stopped| {
        let function = bits.pool.device().function(&images::CLOSURE_WARSHALL, kernel)?;
        let matrix = (flags.as_mut_ptr().cast(), side);
        let vertices = task.graph.vertices() as u32;
        Ok(by_vertex(&bits.pool, matrix, stopped, vertices, function, shape, task.control)?.1)
    })
}

/// Rows and columns of the matrix of words: enough for whole blocks of every size.
fn side(vertices: u64) -> u64 {
    (vertices + WIDEST - 1).next_multiple_of(WIDEST)
}

/// The line of `blocked-warshall` in the table.
pub(super) const BLOCKED: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        name: "blocked-warshall",
        summary: "three launches a block of vertices, one thread a pair, blocks in shared memory; for comparison",
        source: "Katz & Kider 2008, sect. 4.3",
        parameters: &[BLOCK_OF_ANY_SIDE],
        seconds: |work| work.vertices() * 1e-6 + work.triples() / 1.5e12,
        ..ALGORITHM.info
    },
    close: |bits, task| {
        with_flags(bits, task, |flags, side, stopped| {
            let device = bits.pool.device().clone();
            let function =
                |phase: &str| device.function(&images::CLOSURE_WARSHALL, &format!("closure_blocked_{phase}"));
            let functions = [function("diagonal")?, function("panels")?, function("rest")?];
            let covered = task.graph.vertices() as u64;
            let square = Square { cells: flags.as_mut_ptr().cast(), pitch: side, covered, bytes: 4 };
            Ok(in_blocks(&bits.pool, square, stopped, functions, task.parameters, task.control)?.1)
        })
    },
    ..ALGORITHM
};

kernel_header! {
    path: "closure/warshall";
    namespace: flags;

    /// Words of flags, and the same as bits, 32 in a word.
    struct Packing {
        flags: DevicePtr<u32>,
        pitch: u64,
        bits: DeviceMutPtr<u32>,
        bits_pitch: u64,
        vertices: u32,
    }
}

/// Makes bits words, has them worked on, and makes them bits again.
fn with_flags(
    bits: &Bits,
    task: &ClosureTask<'_>,
    work: impl FnOnce(DeviceSlice<u32>, u64, DeviceSlice<u32>) -> Result<Statistics>,
) -> Result<Statistics> {
    const THREADS: u32 = 256;
    let vertices = task.graph.vertices() as u32;
    let side = side(vertices.into());
    let Work::Words(flags, stopped) = bits.work else { unreachable!("the layout has a word for each pair") };
    let device = bits.pool.device().clone();
    let packing =
        Packing { flags: flags.as_ptr(), pitch: side, bits: bits.words.as_mut_ptr(), bits_pitch: bits.pitch, vertices };
    let shape = LaunchShape::line(side.min(u64::from(device.properties().multiprocessors) * 8) as u32, THREADS);
    let (unpack, pack) = ("closure_unpack", "closure_pack");
    let [unpack, pack] =
        [device.function(&images::CLOSURE_WARSHALL, unpack)?, device.function(&images::CLOSURE_WARSHALL, pack)?];
    // SAFETY: the arguments are the kernel's, and there is a word for each pair.
    unsafe { device.launch(unpack, &shape, arguments![packing, flags])? };
    let statistics = work(flags, side, stopped)?;
    // SAFETY: the argument is the kernel's.
    unsafe { device.launch(pack, &shape, arguments![packing])? };
    Ok(statistics)
}
