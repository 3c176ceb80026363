//! All-pairs shortest distances of a dense graph: Floyd–Warshall in cache-sized blocks.
//!
//! # What it does
//!
//! The input is a row-major `n × n` matrix: `matrix[i * n + j]` is the weight of the edge from `i`
//! to `j`, [`Cell::INFINITY`] where there is none, usually zero on the diagonal. The output, in
//! place, is the length of the shortest path from every `i` to every `j`. Weights may be negative
//! as long as no cycle is.
//!
//! # How, and why like this
//!
//! Floyd (1962) and Warshall (1962): for every vertex `k` in turn, allow paths to pass through
//! `k`, that is, *relax* every pair: `d[i][j] = min(d[i][j], d[i][k] + d[k][j])`. Done literally it
//! streams the whole matrix through the memory bus `n` times, and the bus, not the arithmetic,
//! sets the pace.
//!
//! Blocking (Venkataraman, Sahni & Mukhopadhyaya 2003; in the three-phase form of Katz & Kider
//! 2008) admits [`BLOCK`] vertices at once. With `K` such a block of vertices:
//!
//! 1. the *diagonal tile* `D = d[K][K]` is closed on its own, by recursion into smaller blocks;
//! 2. the *panels*, row panel `d[K][*] = min(d[K][*], D ⊗ d[K][*])` and column panel
//!    `d[*][K] = min(d[*][K], d[*][K] ⊗ D)`, where `⊗` is the matrix product with `min` for `+`
//!    and `+` for `×`;
//! 3. *everything else*: `d[i][j] = min(d[i][j], d[i][K] ⊗ d[K][j])`.
//!
//! Phase 3 is nearly all of the work and is an ordinary matrix product over another semiring, so
//! what is known about fast matrix products applies (Goto & van de Geijn 2008): both panels are
//! *packed* into the order in which the innermost loop reads them, and that loop keeps a tile of
//! results in registers over the whole depth of the block. With AVX-512 the tile is 8 rows × 3
//! vectors: 24 accumulators, 3 vectors of the row panel, 1 broadcast number of the column panel.
//! The matrix itself is read and written once per block, `n / BLOCK` times in all.
//!
//! A relaxation is one addition and one minimum; there is no fused instruction. A Zen 4 core
//! issues two 512-bit integer instructions per cycle, hence one vector of relaxations per cycle:
//! 16 for 32-bit cells, 32 for 16-bit cells, 8 for 64-bit ones. Floating-point additions and
//! minima compete for the same units, which halves the rate; non-negative floats order like their
//! bit patterns, so for them the minimum is taken by the integer units
//! ([`Cell::lesser_of_non_negative`]), which wins back half of the loss.
//!
//! The innermost loop is plain Rust over arrays of constant size. The compiler turns it into the
//! loop described above, once per instruction set (`#[target_feature]`), chosen at run time. It
//! does so only while a row of the register tile has at least 48 cells: shorter rows (32 and 24
//! were tried) get unrolled before they are vectorised and end up scalar, twenty to sixty times
//! slower. Hence the shapes in `close_shaped`.
//!
//! # Infinity, overflow, negative weights
//!
//! Integer cells add without checks: `INFINITY = MAX / 2`, so two infinities do not wrap. (16-bit
//! saturating addition would double the range, but takes 1.4 times as long.) Two questions
//! remain, and both have exact answers that cost one pass over the matrix before and one after.
//!
//! *Does infinity stay recognisable when negative weights are added to it?* Read a missing edge as
//! an edge of weight `INFINITY`. The algorithm then computes the shortest paths of a complete
//! graph. A shortest path repeats no vertex, so it leaves every vertex at most once, and the
//! negative weights on it add up to no less than `-P`, where `P` is the sum over all rows of how
//! far the smallest entry of that row lies below zero. So whatever is unreachable ends at
//! `threshold = INFINITY - P` or above, at any time, without accumulating: a missing edge is paid
//! at least once, `-P` is gained at most once. If `threshold > 0`, missing edges create no
//! negative cycle either, no sum wraps, and one final pass turns every value from `threshold` up
//! back into `INFINITY`.
//!
//! *Has a true distance outgrown the cell type?* It would have to be `threshold` or more, and would look unreachable.
//! Walk along that shortest path: its prefixes are shortest paths too, and their lengths rise from 0 to `threshold` in
//! steps of at most `W`, the largest weight. So some vertex on it has a distance in `threshold - W .. threshold`.
//! Conversely: if the largest finite distance in the result is below `threshold - W`, nothing has overflowed and every
//! cell is exact. Otherwise the answer is [`Outcome::TooNarrow`] and the caller repeats with a wider cell type. A
//! result is never silently wrong; a right result is refused only if it comes within one edge of the limit. Floats
//! overflow into their own infinity, which stays infinite whatever is added: no sum is mistaken for another, and a
//! caller who has the graph can detect a lost distance, since an arc leads from a reached vertex to one that looks
//! unreachable.
//!
//! *Negative cycles.* Let `k` be the last vertex of a negative cycle, in matrix order. Before `k`
//! is admitted, all other vertices of the cycle have been, so `d[k][k] < 0`: looking at the
//! diagonal of each closed diagonal tile finds every negative cycle. Stopping right there also
//! avoids the exponentially growing garbage that Floyd–Warshall is known to produce after it
//! (Hougardy 2010).
//!
//! # Work, span, memory
//!
//! Work: `n³` relaxations, whatever the number of edges. Span: phase 3 is cut into strips of
//! [`STRIP_ROWS`] rows (fewer, if there are many threads), so about `n / 16` threads can be kept
//! busy; there are two barriers per block. The diagonal tile is nearly serial, `BLOCK² · n`
//! relaxations in all. Memory: the matrix, one packed row panel (`n × BLOCK`), and per thread
//! one packed strip of the column panel (`STRIP_ROWS × BLOCK`).
//!
//! # Where it wins and loses
//!
//! It wins on dense graphs, and on small ones of any density: the rate does not depend on the
//! data, there are no branches and no queues. It loses on sparse graphs from a few thousand
//! vertices on, where a Dijkstra per source costs `n · m · log n` instead of `n³`; and beyond some
//! tens of thousands of vertices nobody has the memory.
//!
//! # Sources
//!
//! - R. W. Floyd, *Algorithm 97: Shortest Path*, CACM 5(6), 1962.
//! - S. Warshall, *A Theorem on Boolean Matrices*, JACM 9(1), 1962.
//! - G. Venkataraman, S. Sahni, S. Mukhopadhyaya, *A Blocked All-Pairs Shortest-Paths Algorithm*,
//!   ACM Journal of Experimental Algorithmics 8, 2003.
//! - G. J. Katz, J. T. Kider, *All-Pairs Shortest-Paths for Large Graphs on the GPU*, Graphics
//!   Hardware 2008.
//! - K. Goto, R. A. van de Geijn, *Anatomy of High-Performance Matrix Multiplication*, ACM TOMS
//!   34(3), 2008.
//! - S. Hougardy, *The Floyd–Warshall Algorithm on Graphs with Negative Cycles*, Information
//!   Processing Letters 110, 2010.
//!
//! # Parts
//!
//! `cells` are the numbers in the matrix, `halves` the distances in cells of half the width; `survey` judges whether a result is exact;
//! `packing` and `tiles` are phase 3 inside a strip; `triple_loop` closes small matrices; `blocks` offers products to programs that share a matrix.

pub mod blocks;
mod cells;
mod halves;
mod packing;
mod survey;
#[cfg(test)]
mod tests;
mod tiles;
mod triple_loop;

use std::marker::PhantomData;
use std::ops::Range;

pub(crate) use cells::Cell;
use halves::{eliminate, eliminate_halved};
use packing::{PackedAbove, pack_above, pack_left, unpack_above};
use survey::WeightSurvey;
use triple_loop::{TRIPLE_LOOP_LIMIT, triple_loop};

use super::floyd_warshall::with_square_matrix;
use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::graph::DistanceValue;
use crate::instructions::InstructionSet;
use crate::problems::Problem;
use crate::{Error, Result, memory, parallel};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "tiled-floyd-warshall",
        summary: "blocks in cache and tiles in vector registers; for dense graphs",
        source: "Venkataraman et al. 2003; Katz & Kider 2008",
        parameters: &[],
        negative_weights: true,
        seconds,
    },
    needs_matrix: true,
    ends_at_targets: false,
    seconds_before: |_| 0.0,
    rows_together: 1,
    // The matrix in cells of half the width, and the packed row panel.
    workspace_bytes: |vertices, _, _, distance_bytes| {
        let matrix = vertices.saturating_mul(vertices).saturating_mul(distance_bytes) / 2;
        matrix.saturating_add(vertices.saturating_mul(BLOCK as u64 * distance_bytes))
    },
    function: Function::TiledFloydWarshall,
};

fn seconds(work: &Workload<'_>) -> f64 {
    const RELAXATION: f64 = 0.02e-9;
    /// What each thread costs at the start, and at the barriers of a stage.
    const START: f64 = 10e-6;
    const STAGE: f64 = 6e-6;
    /// Rows of a tile.
    const TILE: f64 = 64.0;
    let threads = work.threads as f64;
    work.triples() * RELAXATION / threads + threads * (START + (work.vertices() / TILE).ceil() * STAGE)
}

/// Tries cells of half the width first where distances will probably fit, then cells of the distance's own width.
pub(super) fn solve<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
) -> Result<Statistics> {
    let (low, high) = task.graph.weight_range();
    if high >= <L::Distance as Cell>::INFINITY.to_f64() {
        return Err(Error::DistanceOverflow { semiring: L::NAME });
    }
    // Weights this small leave room for some arcs in a path.
    let half: L::Distance = L::Half::INFINITY.into();
    let has_half = size_of::<L::Half>() < size_of::<L::Distance>();
    let mut halved = has_half && low.abs().max(high.abs()) <= half.to_f64() / 4.0;
    with_square_matrix(task, output, |matrix, vertices| {
        let mut progress =
            |done: usize, total: usize| task.control.progress("solve", done as u64, total as u64).is_ok();
        let outcome = task.team.install(|| {
            if halved {
                eliminate_halved::<L>(matrix, vertices, &mut progress)
            } else {
                eliminate(matrix, vertices, &mut progress)
            }
        })?;
        let bits = (size_of::<L::Distance>() * if halved { 4 } else { 8 }) as u64;
        match outcome {
            Outcome::Complete => Ok(Some(vec![("cell_bits", bits)])),
            Outcome::TooNarrow if halved => {
                halved = false;
                Ok(None)
            }
            Outcome::TooNarrow => Err(Error::DistanceOverflow { semiring: L::NAME }),
            Outcome::Cancelled => Err(Error::Interrupted),
            // Negative cycles were looked for before, so this cycle has floats, and is negative by rounding alone.
            Outcome::NegativeCycle { vertex } => Err(Error::invalid(format!(
                "rounding makes a cycle through vertex {vertex} negative that is not; `batched` solves this graph"
            ))),
        }
    })
}

/// Vertices admitted per step. A multiple of the column counts of all register tiles and of
/// [`STRIP_ROWS`], so that strips and register tiles never straddle a block.
const BLOCK: usize = 192;

/// Rows of the matrix that make one parallel task.
const STRIP_ROWS: usize = 48;

/// How [`tiled_floyd_warshall`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Outcome {
    /// The matrix holds the distances, all of them exact (floats: up to rounding, and infinite beyond their range).
    Complete,
    /// This vertex lies on a negative cycle. The matrix holds intermediate results.
    NegativeCycle {
        /// The vertex.
        vertex: usize,
    },
    /// A distance may not fit into the cell type: repeat with a wider one. The matrix holds
    /// intermediate results.
    TooNarrow,
    /// The callback asked to stop. The matrix holds lengths of paths that exist, not necessarily
    /// shortest ones.
    Cancelled,
}

/// Replaces the edge weights in the row-major `n × n` `matrix` by shortest distances.
///
/// `progress(done, total)` is called on the calling thread after every block of vertices; the
/// computation is abandoned when it returns `false`. The parallel parts run in the current rayon
/// thread pool.
///
/// [`Outcome::TooNarrow`] cannot occur if `n` times the largest absolute weight is below half of
/// [`Cell::INFINITY`].
///
/// # Errors
///
/// If there is no memory for a block of rows.
///
/// # Panics
///
/// If the matrix does not have `n * n` cells.
fn tiled_floyd_warshall<T: Cell>(
    matrix: &mut [T],
    n: usize,
    progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
) -> Result<Outcome> {
    close_with(InstructionSet::detect(), matrix, n, progress)
}

fn close_with<T: Cell>(
    instruction_set: InstructionSet,
    matrix: &mut [T],
    n: usize,
    progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
) -> Result<Outcome> {
    assert_eq!(matrix.len(), n * n, "the matrix must have n * n cells");
    let Some(weights) = WeightSurvey::of(matrix, n) else {
        return Ok(Outcome::TooNarrow);
    };
    let outcome = if T::NON_NEGATIVE_IS_FASTER && weights.non_negative {
        close_shaped::<T, true>(instruction_set, matrix, n, progress)?
    } else {
        close_shaped::<T, false>(instruction_set, matrix, n, progress)?
    };
    if outcome == Outcome::Complete && !weights.settle(matrix, n) {
        return Ok(Outcome::TooNarrow);
    }
    Ok(outcome)
}

/// Chooses the register tile: 24 accumulators of 64 bytes with AVX-512, which has 32 registers;
/// otherwise 12 of 32 bytes, which suits the 16 registers of AVX2 and, as 24 of 16 bytes, the 32
/// registers of NEON.
fn close_shaped<T: Cell, const NON_NEGATIVE: bool>(
    instruction_set: InstructionSet,
    matrix: &mut [T],
    n: usize,
    progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
) -> Result<Outcome> {
    macro_rules! close {
        ($rows:literal x $columns:literal) => {
            TileKernel::<T, $rows, $columns, NON_NEGATIVE> { instruction_set, cells: PhantomData }
                .close(matrix, n, progress)
        };
    }
    match (instruction_set, size_of::<T>()) {
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 2) => close!(8 x 96),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, 4) => close!(8 x 48),
        #[cfg(target_arch = "x86_64")]
        (InstructionSet::Avx512, _) => close!(4 x 48),
        (_, 2) => close!(2 x 96),
        (_, 4) => close!(2 x 48),
        (_, _) => close!(1 x 48),
    }
}

/// The algorithm for one cell type, one instruction set and one shape of the register tile.
struct TileKernel<T, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool> {
    instruction_set: InstructionSet,
    cells: PhantomData<T>,
}

impl<T: Cell, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool>
    TileKernel<T, ROWS, COLUMNS, NON_NEGATIVE>
{
    fn close(
        &self,
        matrix: &mut [T],
        n: usize,
        progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
    ) -> Result<Outcome> {
        if n <= TRIPLE_LOOP_LIMIT {
            triple_loop(self.instruction_set, matrix, n);
            return Ok(match (0..n).find(|&vertex| matrix[vertex * n + vertex] < T::EMPTY) {
                Some(vertex) => Outcome::NegativeCycle { vertex },
                None => Outcome::Complete,
            });
        }

        let block = block_size(n);
        let mut diagonal = memory::filled("a block of the matrix", block * block, T::INFINITY)?;
        let strips = n.div_ceil(COLUMNS);
        let mut row_panel = memory::filled("rows of the matrix", strips * block, [T::INFINITY; COLUMNS])?;
        for start in (0..n).step_by(block) {
            let end = n.min(start + block);
            let depth = end - start;

            let diagonal = &mut diagonal[..depth * depth];
            for (row, tile_row) in diagonal.chunks_exact_mut(depth).enumerate() {
                tile_row.copy_from_slice(&matrix[(start + row) * n..][start..end]);
            }
            let outcome = self.close(diagonal, depth, &mut |_, _| true)?;
            if let Outcome::NegativeCycle { vertex } = outcome {
                return Ok(Outcome::NegativeCycle { vertex: start + vertex });
            }

            let row_panel = &mut row_panel[..strips * depth];
            self.relax_row_panel(&matrix[start * n..end * n], n, diagonal, row_panel);
            self.relax_other_rows(matrix, n, start..end, block, diagonal, row_panel);

            if !progress(end, n) && end < n {
                return Ok(Outcome::Cancelled);
            }
        }
        Ok(Outcome::Complete)
    }

    /// Phase 2, first half. Packs the rows of the block and relaxes the packed copy; the matrix
    /// gets it back in [`Self::relax_other_rows`].
    fn relax_row_panel(&self, block_rows: &[T], n: usize, diagonal: &[T], row_panel: &mut PackedAbove<T, COLUMNS>) {
        let depth = block_rows.len() / n;
        let mut packed_diagonal = vec![[T::INFINITY; ROWS]; depth.div_ceil(ROWS) * depth];
        pack_left(diagonal, depth, depth, &mut packed_diagonal);
        let prepare = || vec![[T::INFINITY; COLUMNS]; depth];
        parallel::for_each_chunk_with(row_panel, depth, prepare, |unrelaxed, strip, relaxed| {
            pack_above(block_rows, n, strip * COLUMNS, unrelaxed);
            relaxed.copy_from_slice(unrelaxed);
            let relaxed = relaxed.as_flattened_mut();
            self.relax(relaxed, COLUMNS, depth, COLUMNS, &packed_diagonal, unrelaxed, 0..0);
        });
    }

    /// Phase 2, second half, and phase 3, strip of rows by strip of rows: each needs its own part
    /// of the column panel only.
    fn relax_other_rows(
        &self,
        matrix: &mut [T],
        n: usize,
        vertices: Range<usize>,
        block: usize,
        diagonal: &[T],
        row_panel: &PackedAbove<T, COLUMNS>,
    ) {
        let depth = vertices.len();
        let mut packed_diagonal = vec![[T::INFINITY; COLUMNS]; depth.div_ceil(COLUMNS) * depth];
        for (strip, packed) in packed_diagonal.chunks_exact_mut(depth).enumerate() {
            pack_above(diagonal, depth, strip * COLUMNS, packed);
        }
        // These columns are the column panel, already relaxed when the rest is.
        let panel_strips = vertices.start.div_ceil(COLUMNS)..vertices.end / COLUMNS;

        let strip_rows = strip_rows(n).min(block);
        let prepare = || vec![[T::INFINITY; ROWS]; strip_rows.div_ceil(ROWS) * depth];
        parallel::for_each_chunk_with(matrix, strip_rows * n, prepare, |column_panel, strip, rows| {
            let first = strip * strip_rows;
            if vertices.contains(&first) {
                unpack_above(row_panel, depth, first - vertices.start, rows, n);
                return;
            }
            let height = rows.len() / n;
            let column_panel = &mut column_panel[..height.div_ceil(ROWS) * depth];
            let panel_cells = &mut rows[vertices.start..];
            pack_left(panel_cells, n, height, column_panel);
            self.relax(panel_cells, n, height, depth, column_panel, &packed_diagonal, 0..0);
            pack_left(panel_cells, n, height, column_panel);
            self.relax(rows, n, height, n, column_panel, row_panel, panel_strips.clone());
        });
    }
}

/// Smaller blocks for smaller matrices: the diagonal tile should be a small part of the whole.
fn block_size(n: usize) -> usize {
    if n > 4 * BLOCK { BLOCK } else { BLOCK / 4 }
}

/// At least some tasks per thread, so that all threads finish at about the same time.
fn strip_rows(n: usize) -> usize {
    if n >= 8 * STRIP_ROWS * rayon::current_num_threads() { STRIP_ROWS } else { STRIP_ROWS / 3 }
}
