//! Katz and Kider's own program for all pairs on a GPU, as they print it: cells of two values, three passes a stage.
//!
//! # What it does
//!
//! A cell has a distance and the *intermediate vertex* over which the distance was last lowered, -1 for none: two words,
//! as the paper's float2. A stage admits a block of vertices in three launches, with one thread a cell:
//!
//! 1. the primary block, on the diagonal, by itself;
//! 2. the blocks in its row and in its column, each with the primary block beside it in shared memory;
//! 3. all other blocks, each with the block of its row and that of its column: three blocks in shared memory.
//!
//! A thread relaxes its cell for one vertex of the block after the other, by algorithm 3: where both parts of a path
//! exist and the whole is shorter than what the cell has, the cell gets the vertex and the length. A block has 18 x 18
//! cells unless `block` is set; the paper found that to be the best size on its GPU.
//!
//! `kernels/apsp/katz_kider.cu` lists what was repaired. Beside the paper's program stands `blocked-floyd-warshall`, which
//! has the same passes with cells of a distance alone.
//!
//! # Paths
//!
//! "The shortest path between any two nodes a, b can be found by accessing the cell [a,b] and then recursively gathering
//! the sub paths": [`Intermediates`](crate::problems::Intermediates) does that, and says why it always ends.
//!
//! # Pages
//!
//! Beyond the memory of a device, and on several, the matrix is in square pages of one size in the host's memory
//! (`pages.rs`). A *major* stage admits the vertices of a page, in three *major* passes, which are the passes above with
//! pages for blocks:
//!
//! 1. the primary page, on every device at once, so that all have it for the second pass;
//! 2. the pages in its row and in its column, split among the devices. Each is loaded beside the primary page;
//! 3. all other pages, split among the devices. Each is loaded together with the page of its row and the page of its
//!    column, whether or not these are there already.
//!
//! Every page is returned as soon as it is done, and all devices wait for each other after each pass. On each page the
//! passes of the blocks run as above: all three on the primary page; the second and the third in its row and column,
//! where d_ik or d_kj comes from the primary page; and the third alone elsewhere, with d_ik from the page of the row and
//! d_kj from the page of the column. The paper calls this schedule naive: it does not look at what a device has already,
//! and devices wait for each other. Warpath's [`strips`](super::strips) cross the bus once each way a stage, beside the
//! work; the counters `bytes_to_device` and `bytes_from_device` of both can be compared.
//!
//! With `n` pages from left to right and `g` devices, a major stage loads `g + 2 (n - 1) + 3 (n - 1)^2` pages, and returns
//! `n^2`. Where `page` is not set, several devices get `n - 1` a multiple of `g`: then all passes but the first are split
//! evenly.
//!
//! # Work, span, memory
//!
//! Work: V^3 relaxations, with three loads of two words from shared memory for each. Span: 3 V / `block` launches, of
//! which the first keeps one multiprocessor busy. Memory of the device: the paper's 8 V^2 bytes, or 16 V^2 with wide
//! cells, and the distances once more, in which form the rows come and go. In pages: three pages on each device, and the
//! matrix in the host's memory.
//!
//! # Where it wins and loses
//!
//! It is there to be compared with; `tiled-floyd-warshall` keeps its three phases, and mends all this.
//!
//! Source: Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 3.3 and 4.1 to 4.4.

mod cells;
pub(super) mod pages;
pub(super) mod paging;
pub(in crate::cuda) mod program;

use super::matrix::{Arrays, Matrix, Work};
use super::{Beyond, CELL_BITS, Cell, DenseTask, MatrixAlgorithm};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::cuda::matrix::Ended;
use crate::graph::VertexId;
use crate::problems::Problem;
use crate::{Result, memory};
use cells::{Paired, with_paired};
use paging::PAGE;
use program::{BLOCK, BothForms, Page, Program, Role, pair_bytes, side_of_blocks};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: MatrixAlgorithm = MatrixAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "katz-kider",
        summary: "the paper's own program: cells of distance and intermediate vertex, three passes a stage, and pages",
        source: "Katz & Kider 2008, sect. 4.1-4.4, alg. 3",
        parameters: &[BLOCK, PAGE, CELL_BITS],
        negative_weights: true,
        seconds,
    },
    has: |cell, _| cell != Cell::U16,
    multiples: |_| (1, LINE),
    layout: |cell, vertices, arena| {
        let side = pitch(vertices);
        let bytes = side.saturating_mul(side).saturating_mul(pair_bytes(cell));
        Work::Pairs(arena.take("cells of two values", bytes), arena.take("flag", 1))
    },
    beyond: Beyond::Pages,
    eliminate,
};

/// The number of distances in a row is a multiple of this.
const LINE: u64 = 32;

/// Rows, and cells of a row: enough for whole blocks of every size, and rows begin at whole lines of 128 bytes.
fn pitch(vertices: u64) -> u64 {
    const WIDEST: u64 = 32;
    const CELLS_OF_LINE: u64 = 16;
    vertices.saturating_add(WIDEST - 1).checked_next_multiple_of(CELLS_OF_LINE).unwrap_or(u64::MAX)
}

/// Each launch takes its time, and each relaxation reads three cells of shared memory, or each stage the matrix four
/// times, whichever takes longer. In pages, nothing of the work is beside a copy.
fn seconds(work: &Workload<'_>) -> f64 {
    /// Seconds of a launch, and bytes a second: of the memory, of all shared memory, and between device and host.
    const LAUNCH: f64 = 4e-6;
    const MEMORY: f64 = 4e12;
    const SHARED_MEMORY: f64 = 33e12;
    const BUS: f64 = 50e9;
    let cell = pair_bytes(ALGORITHM.first_cell(&work.graph, work.parameters)) as f64;
    let side = f64::from(side_of_blocks(work.parameters));
    let stages = (work.vertices() / side).ceil();
    let shared = work.triples() * 3.0 * cell / SHARED_MEMORY;
    let global = work.triples() / side * 4.0 * cell / MEMORY;
    let passes = shared.max(global);
    let Some(page) = work.parameters.get(PAGE.name) else { return stages * 3.0 * LAUNCH + passes };
    let page = ((page / side).ceil() * side).min((work.vertices() / side).ceil() * side).max(side);
    let across = (work.vertices() / page).ceil();
    let others = (across - 1.0).max(0.0);
    let crossings = across * (2.0 + 4.0 * others + 4.0 * others * others);
    let launches = stages * (3.0 + 4.0 * others + others * others);
    launches * LAUNCH + passes + crossings * page * page * cell / BUS
}

fn eliminate(matrix: &Matrix, task: &DenseTask<'_>) -> Result<(Ended, Statistics)> {
    /// After this many stages, the host checks for cancellation.
    const STAGES: u32 = 64;
    let Arrays { cells, work, .. } = matrix.arrays;
    let Work::Pairs(pairs, stopped) = work else { unreachable!("the layout is for cells of two values") };
    let (device, pool) = (matrix.device().clone(), &matrix.pool);
    let program = Program::of(&*device, matrix.cell, task.parameters)?;
    let pitch = pitch(matrix.vertices);
    let blocks = matrix.vertices.div_ceil(side_of_blocks(task.parameters).into()) as u32;
    let forms = BothForms {
        cell: matrix.cell,
        distances: cells,
        distances_pitch: matrix.pitch,
        pairs,
        pitch,
        vertices: matrix.vertices,
    };
    let page =
        Page { role: Role::Primary, current: pairs, column: pairs, row: pairs, pitch, blocks, first: 0, stopped };
    let (before, after) = (device.event()?, device.event()?);
    pool.fill(stopped, 0)?;
    forms.join(&*device)?;
    device.record(&before)?;
    let mut launches = 0;
    for stage in 0..blocks {
        launches += program.queue(&*device, &page, stage)?;
        if stage % STAGES == STAGES - 1 {
            if Ended::by(pool, stopped)? == Ended::NegativeCycle {
                break;
            }
            task.control.progress("solve", u64::from(stage) + 1, blocks.into())?;
        }
    }
    device.record(&after)?;
    forms.split(&*device)?;
    let ended = Ended::by(pool, stopped)?;
    let seconds = device.seconds_between(&before, &after)?;
    task.control.progress("solve", blocks.into(), blocks.into())?;
    let statistics = vec![
        ("device_nanoseconds", (seconds * 1e9) as u64),
        ("stages", blocks.into()),
        // Two launches more make cells of two values and distances of each other.
        ("kernel_launches", launches + 2),
    ];
    Ok((ended, statistics))
}

/// The intermediate vertex of every pair of a matrix in one piece, row by row; false if it has other cells.
pub(super) fn read_intermediates(matrix: &Matrix, to: &mut [VertexId]) -> Result<bool> {
    /// Bytes that come at once, unless a row has more.
    const BYTES: u64 = 32 << 20;
    let Work::Pairs(pairs, _) = matrix.arrays.work else { return Ok(false) };
    let pitch = pitch(matrix.vertices);
    let at_once = (BYTES / (pitch * pair_bytes(matrix.cell))).clamp(1, matrix.vertices);
    with_paired!(matrix.cell, T => {
        let pairs = pairs.cast::<[<T as Paired>::Word; 2]>();
        let none = <T as Paired>::without_vertex(<T as super::matrix::Number>::INFINITY);
        let mut rows = memory::filled("cells of two values", (at_once * pitch) as usize, none)?;
        let vertices = matrix.vertices as usize;
        for (index, to) in to.chunks_mut(at_once as usize * vertices).enumerate() {
            let rows = &mut rows[..to.len() / vertices * pitch as usize];
            matrix.pool.read_into(pairs.part(index as u64 * at_once * pitch, rows.len() as u64), rows)?;
            for (to, row) in to.chunks_mut(vertices).zip(rows.chunks(pitch as usize)) {
                to.iter_mut().zip(row).for_each(|(to, &cell)| *to = T::vertex_in(cell));
            }
        }
    });
    Ok(true)
}

#[cfg(test)]
mod tests;
