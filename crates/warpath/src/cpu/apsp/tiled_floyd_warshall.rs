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
//! *Has a true distance outgrown the cell type?* It would have to be `threshold` or more, and
//! would look unreachable. Walk along that shortest path: its prefixes are shortest paths too, and
//! their lengths rise from 0 to `threshold` in steps of at most `W`, the largest weight. So some
//! vertex on it has a distance in `threshold - W .. threshold`. Conversely: if the largest
//! finite distance in the result is below `threshold - W`, nothing has overflowed and every cell is
//! exact. Otherwise the answer is [`Outcome::TooNarrow`] and the caller repeats with a wider cell
//! type. A result is never silently wrong; a right result is refused only if it comes within one
//! edge of the limit. Floats overflow into their own infinity, which stays infinite whatever is added:
//! no sum is mistaken for another, and whoever has the graph can tell a distance that was lost, since
//! an arc leads from a reached vertex to one that looks unreachable.
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
//! *Invariants.* A function that was compiled for more instructions is called only where the processor has been found
//! to have them; a prefetch never faults, whatever the address.

use std::array;
use std::marker::PhantomData;
use std::ops::Range;

use rayon::prelude::*;

use super::floyd_warshall::with_square_matrix;
use super::{ApspAlgorithm, ApspLane, ApspOutput, ApspTask, for_every_lane};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::graph::DistanceValue;
use crate::instructions::InstructionSet;
use crate::problems::Problem;
use crate::{Error, Result, memory};

/// This algorithm's line in the table.
pub const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "tiled-floyd-warshall",
        summary: "blocks in cache and tiles in vector registers; for dense graphs",
        source: "Venkataraman et al. 2003; Katz & Kider 2008",
        parameters: &[],
        negative_weights: true,
    },
    needs_matrix: true,
    // The matrix in cells of half the width, and the packed row panel.
    workspace_bytes: |vertices, _, _, distance_bytes| {
        let matrix = vertices.saturating_mul(vertices).saturating_mul(distance_bytes) / 2;
        matrix.saturating_add(vertices.saturating_mul(BLOCK as u64 * distance_bytes))
    },
    solve: for_every_lane!(solve),
};

/// Tries cells of half the width first where distances will probably fit, then those of the distance itself.
fn solve<L: ApspLane>(task: &ApspTask<'_, L>, output: ApspOutput<'_, L::Distance>) -> Result<Statistics> {
    let (low, high) = task.graph.weight_range();
    if high >= L::Distance::INFINITE_FROM {
        return Err(Error::DistanceOverflow { lane: L::NAME });
    }
    let mut halved = low.abs().max(high.abs()) <= L::Distance::HALF_GREATEST / 8.0;
    with_square_matrix(task, output, |matrix, vertices| {
        let mut cancelled = false;
        let mut progress = |done: usize, total: usize| {
            cancelled = task.control.progress("solve", done as u64, total as u64).is_err();
            !cancelled
        };
        let outcome = task.team.install(|| {
            if halved {
                Dense::eliminate_halved(matrix, vertices, &mut progress)
            } else {
                Dense::eliminate(matrix, vertices, &mut progress)
            }
        })?;
        let bits = (size_of::<L::Distance>() * if halved { 4 } else { 8 }) as u64;
        match outcome {
            Outcome::Complete => Ok(Some(vec![("cell_bits", bits)])),
            Outcome::TooNarrow if halved => {
                halved = false;
                Ok(None)
            }
            Outcome::TooNarrow => Err(Error::DistanceOverflow { lane: L::NAME }),
            Outcome::Cancelled => Err(Error::Interrupted),
            // Negative cycles were looked for before, so this one is of floats, and of rounding alone.
            Outcome::NegativeCycle { vertex } => Err(Error::invalid(format!(
                "rounding makes a cycle through vertex {vertex} negative that is not; `batched` solves this graph"
            ))),
        }
    })
}

/// A distance as a cell, in place or in half the width.
pub trait Dense: DistanceValue {
    /// Weights from here on are infinite as cells.
    const INFINITE_FROM: f64;
    /// The greatest value of the cell of half the width; 0 where there is none.
    const HALF_GREATEST: f64;
    /// Eliminates a matrix of distances in place.
    fn eliminate(
        matrix: &mut [Self],
        n: usize,
        progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
    ) -> Result<Outcome>;
    /// The same in cells of half the width; the matrix stays as it is unless that completes.
    fn eliminate_halved(
        matrix: &mut [Self],
        n: usize,
        progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
    ) -> Result<Outcome>;
}

macro_rules! dense {
    ($distance:ty) => {
        impl Dense for $distance {
            const INFINITE_FROM: f64 = <$distance as Cell>::INFINITY as f64;
            const HALF_GREATEST: f64 = 0.0;
            dense!(eliminate $distance);
            fn eliminate_halved(
                matrix: &mut [Self],
                n: usize,
                progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
            ) -> Result<Outcome> {
                Self::eliminate(matrix, n, progress)
            }
        }
    };
    ($distance:ty, $half:ty) => {
        impl Dense for $distance {
            const INFINITE_FROM: f64 = <$distance as Cell>::INFINITY as f64;
            const HALF_GREATEST: f64 = <$half>::MAX as f64;
            dense!(eliminate $distance);
            fn eliminate_halved(
                matrix: &mut [Self],
                n: usize,
                progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
            ) -> Result<Outcome> {
                let narrow = |&cell: &$distance| <$half>::try_from(cell).unwrap_or(<$half as Cell>::INFINITY);
                let mut cells: Vec<$half> = memory::zeroed("the matrix of narrow cells", matrix.len())?;
                cells.par_iter_mut().zip(matrix.par_iter()).for_each(|(cell, distance)| *cell = narrow(distance));
                let outcome = tiled_floyd_warshall(&mut cells, n, progress)?;
                if outcome == Outcome::Complete {
                    let widen = |cell: $half| match cell {
                        <$half as Cell>::INFINITY => <$distance as DistanceValue>::UNREACHABLE,
                        cell => <$distance>::from(cell),
                    };
                    matrix.par_iter_mut().zip(&cells).for_each(|(distance, &cell)| *distance = widen(cell));
                }
                Ok(outcome)
            }
        }
    };
    (eliminate $distance:ty) => {
        fn eliminate(
            matrix: &mut [Self],
            n: usize,
            progress: &mut (dyn FnMut(usize, usize) -> bool + Send),
        ) -> Result<Outcome> {
            let outcome = tiled_floyd_warshall(matrix, n, progress)?;
            let restore = |cell: &mut $distance| {
                if *cell >= <$distance as Cell>::INFINITY {
                    *cell = <$distance as DistanceValue>::UNREACHABLE;
                }
            };
            matrix.par_iter_mut().for_each(restore);
            Ok(outcome)
        }
    };
}
dense!(u32, u16);
dense!(u64);
dense!(i64, i32);
dense!(f32);
dense!(f64);

/// Vertices admitted per step. A multiple of the column counts of all register tiles and of
/// [`STRIP_ROWS`], so that strips and register tiles never straddle a block.
const BLOCK: usize = 192;

/// Rows of the matrix that make one parallel task.
const STRIP_ROWS: usize = 48;

/// Matrices up to this size are closed by the plain triple loop.
const TRIPLE_LOOP_LIMIT: usize = 64;

/// Part of the packed row panel that is reused from the second-level cache (1 MiB on Zen 4,
/// shared with the packed column panel and the passing matrix).
const ROW_PANEL_CACHE_BYTES: usize = 320 * 1024;

const CACHE_LINE_BYTES: usize = 64;

/// A number that can stand in a distance matrix.
///
/// Integers count as infinite from [`Cell::INFINITY`] (half of the type's maximum) up. Floats must
/// be neither NaN nor negative infinity.
trait Cell: Copy + PartialOrd + Send + Sync + 'static {
    /// The empty path.
    const ZERO: Self;
    /// No path. `INFINITY.plus(INFINITY)` is infinite too and does not wrap.
    const INFINITY: Self;
    /// Whether sums out of range are infinite, and stay so whatever is added.
    const OVERFLOWS_TO_INFINITY: bool;
    /// Whether [`Cell::lesser_of_non_negative`] differs from [`Cell::lesser`].
    const NON_NEGATIVE_IS_FASTER: bool;

    /// The sum. Wrapping for integers, see the module documentation for why it never wraps.
    fn plus(self, other: Self) -> Self;

    /// The minimum.
    fn lesser(self, other: Self) -> Self;

    /// The minimum of two numbers of which neither is negative.
    #[inline(always)]
    fn lesser_of_non_negative(self, other: Self) -> Self {
        self.lesser(other)
    }
}

macro_rules! integer_cells {
    ($($integer:ty),*) => {$(
        impl Cell for $integer {
            const ZERO: Self = 0;
            const INFINITY: Self = <$integer>::MAX / 2;
            const OVERFLOWS_TO_INFINITY: bool = false;
            const NON_NEGATIVE_IS_FASTER: bool = false;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                if other < self { other } else { self }
            }
        }
    )*};
}
integer_cells!(u16, i16, u32, i32, u64, i64);

macro_rules! float_cells {
    ($($float:ty as $bits:ty),*) => {$(
        impl Cell for $float {
            const ZERO: Self = 0.0;
            const INFINITY: Self = <$float>::INFINITY;
            const OVERFLOWS_TO_INFINITY: bool = true;
            const NON_NEGATIVE_IS_FASTER: bool = true;

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }

            #[inline(always)]
            fn lesser(self, other: Self) -> Self {
                if other < self { other } else { self }
            }

            // A negative zero reads as the smallest integer, hence as the minimum: still right.
            #[inline(always)]
            fn lesser_of_non_negative(self, other: Self) -> Self {
                let lesser = (self.to_bits() as $bits).min(other.to_bits() as $bits);
                Self::from_bits(lesser.cast_unsigned())
            }
        }
    )*};
}
float_cells!(f32 as i32, f64 as i64);

/// How [`tiled_floyd_warshall`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Outcome {
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

/// What has to be known about the weights to judge the result (see the module documentation).
struct WeightSurvey<T> {
    /// The largest finite weight, or zero.
    largest: T,
    /// Results from here up are infinite.
    threshold: T,
    non_negative: bool,
}

impl<T: Cell> WeightSurvey<T> {
    /// `None` if infinity would not be recognisable after adding the negative weights. Cells
    /// above infinity are lowered to it.
    fn of(matrix: &mut [T], n: usize) -> Option<Self> {
        let mut survey = Self { largest: T::ZERO, threshold: T::INFINITY, non_negative: true };
        let rows: Vec<RowExtremes<T>> = matrix
            .par_chunks_mut(n.max(1))
            .map(|row| {
                let extremes = RowExtremes::of(row, T::INFINITY);
                if extremes.beyond_limit {
                    reset_from(row, T::INFINITY);
                }
                extremes
            })
            .collect();
        for row in rows {
            survey.largest = greater(survey.largest, row.largest);
            if row.smallest < T::ZERO {
                survey.non_negative = false;
                survey.threshold = survey.threshold.plus(row.smallest);
                // Written so that a NaN, infinity plus negative infinity, is refused as well.
                let recognisable = survey.threshold > T::ZERO;
                if !recognisable {
                    return None;
                }
            }
        }
        Some(survey)
    }

    /// Makes all infinite cells equal to infinity; false if a distance may have been mistaken for another.
    fn settle(&self, matrix: &mut [T], n: usize) -> bool {
        if T::OVERFLOWS_TO_INFINITY {
            return true;
        }
        let largest_distance = matrix
            .par_chunks_mut(n.max(1))
            .map(|row| {
                if self.threshold < T::INFINITY {
                    reset_from(row, self.threshold);
                }
                RowExtremes::of(row, self.threshold).largest
            })
            .reduce(|| T::ZERO, greater);
        largest_distance.plus(self.largest) < self.threshold
    }
}

struct RowExtremes<T> {
    /// At most zero.
    smallest: T,
    /// At least zero, and below the limit.
    largest: T,
    /// Whether a cell exceeds the limit.
    beyond_limit: bool,
}

impl<T: Cell> RowExtremes<T> {
    /// Independent lanes, because the compiler may not reorder float comparisons by itself.
    fn of(row: &[T], limit: T) -> Self {
        const LANES: usize = 32;
        let mut smallest = [T::ZERO; LANES];
        let mut largest = [T::ZERO; LANES];
        let mut topmost = [T::ZERO; LANES];
        for chunk in row.chunks(LANES) {
            for (lane, &cell) in chunk.iter().enumerate() {
                smallest[lane] = smallest[lane].lesser(cell);
                topmost[lane] = greater(topmost[lane], cell);
                largest[lane] = greater(largest[lane], if cell < limit { cell } else { T::ZERO });
            }
        }
        Self {
            smallest: smallest.into_iter().fold(T::ZERO, T::lesser),
            largest: largest.into_iter().fold(T::ZERO, greater),
            beyond_limit: topmost.into_iter().any(|cell| cell > limit),
        }
    }
}

fn reset_from<T: Cell>(row: &mut [T], threshold: T) {
    for cell in row {
        *cell = if *cell < threshold { *cell } else { T::INFINITY };
    }
}

#[inline(always)]
fn greater<T: Cell>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// A rectangle of the matrix as the column panel: for every register tile of `ROWS` rows and every
/// vertex of the block, the `ROWS` cells that belong together.
type PackedLeft<T, const ROWS: usize> = [[T; ROWS]];

/// A rectangle of the matrix as the row panel: for every `COLUMNS` columns and every vertex of the
/// block, the `COLUMNS` cells that belong together.
type PackedAbove<T, const COLUMNS: usize> = [[T; COLUMNS]];

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
            return Ok(match (0..n).find(|&vertex| matrix[vertex * n + vertex] < T::ZERO) {
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
        row_panel.par_chunks_exact_mut(depth).enumerate().for_each_init(
            || vec![[T::INFINITY; COLUMNS]; depth],
            |unrelaxed, (strip, relaxed)| {
                pack_above(block_rows, n, strip * COLUMNS, unrelaxed);
                relaxed.copy_from_slice(unrelaxed);
                let relaxed = relaxed.as_flattened_mut();
                self.relax(relaxed, COLUMNS, depth, COLUMNS, &packed_diagonal, unrelaxed, 0..0);
            },
        );
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
        matrix.par_chunks_mut(strip_rows * n).enumerate().for_each_init(
            || vec![[T::INFINITY; ROWS]; strip_rows.div_ceil(ROWS) * depth],
            |column_panel, (strip, rows)| {
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
            },
        );
    }

    /// `target = min(target, left ⊗ above)` for a `height × width` rectangle that starts at
    /// `target[0]` and whose rows are `stride` apart, except for the `skipped` strips of columns.
    #[allow(clippy::too_many_arguments)]
    fn relax(
        &self,
        target: &mut [T],
        stride: usize,
        height: usize,
        width: usize,
        left: &PackedLeft<T, ROWS>,
        above: &PackedAbove<T, COLUMNS>,
        skipped: Range<usize>,
    ) {
        let depth = left.len() / height.div_ceil(ROWS);
        let strips = width.div_ceil(COLUMNS);
        let group = (ROW_PANEL_CACHE_BYTES / (depth * size_of::<[T; COLUMNS]>())).max(1);
        for first in (0..strips).step_by(group) {
            for (tile, left) in left.chunks_exact(depth).enumerate() {
                let row = tile * ROWS;
                for strip in first..strips.min(first + group) {
                    if skipped.contains(&strip) {
                        continue;
                    }
                    let column = strip * COLUMNS;
                    self.relax_tile(
                        &mut target[row * stride + column..],
                        stride,
                        ROWS.min(height - row),
                        COLUMNS.min(width - column),
                        left,
                        &above[strip * depth..][..depth],
                    );
                }
            }
        }
    }

    /// A register tile. At the edge of the matrix, where it would stick out, a padded copy of it.
    #[inline]
    fn relax_tile(
        &self,
        tile: &mut [T],
        stride: usize,
        height: usize,
        width: usize,
        left: &[[T; ROWS]],
        above: &[[T; COLUMNS]],
    ) {
        if (height, width) == (ROWS, COLUMNS) {
            self.relax_full_tile(tile, stride, left, above);
            return;
        }
        let mut full = [[T::INFINITY; COLUMNS]; ROWS];
        for (row, cells) in full[..height].iter_mut().enumerate() {
            cells[..width].copy_from_slice(&tile[row * stride..][..width]);
        }
        self.relax_full_tile(full.as_flattened_mut(), COLUMNS, left, above);
        for (row, cells) in full[..height].iter().enumerate() {
            tile[row * stride..][..width].copy_from_slice(&cells[..width]);
        }
    }

    #[inline]
    fn relax_full_tile(&self, tile: &mut [T], stride: usize, left: &[[T; ROWS]], above: &[[T; COLUMNS]]) {
        match self.instruction_set {
            InstructionSet::Portable => {
                relax_registers::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
            }
            // SAFETY: the instruction set has been detected.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx2 => unsafe {
                relax_registers_avx2::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
            },
            // SAFETY: the instruction set has been detected.
            #[cfg(target_arch = "x86_64")]
            InstructionSet::Avx512 => unsafe {
                relax_registers_avx512::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
            },
        }
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

/// Packs the first `depth` columns of `height` rows that lie `stride` apart, where `depth` follows
/// from the size of `packed`. Missing rows of the last register tile become infinite.
fn pack_left<T: Cell, const ROWS: usize>(source: &[T], stride: usize, height: usize, packed: &mut PackedLeft<T, ROWS>) {
    let depth = packed.len() / height.div_ceil(ROWS);
    for (tile, packed) in packed.chunks_exact_mut(depth).enumerate() {
        let first = tile * ROWS;
        if first + ROWS <= height {
            let rows: [&[T]; ROWS] = array::from_fn(|row| &source[(first + row) * stride..][..depth]);
            for (vertex, cells) in packed.iter_mut().enumerate() {
                *cells = array::from_fn(|row| rows[row][vertex]);
            }
        } else {
            for (vertex, cells) in packed.iter_mut().enumerate() {
                *cells = array::from_fn(|row| {
                    if first + row < height { source[(first + row) * stride + vertex] } else { T::INFINITY }
                });
            }
        }
    }
}

/// Packs `COLUMNS` columns of complete rows, from `column` on. Missing columns become infinite.
fn pack_above<T: Cell, const COLUMNS: usize>(
    rows: &[T],
    n: usize,
    column: usize,
    packed: &mut PackedAbove<T, COLUMNS>,
) {
    let width = COLUMNS.min(n - column);
    for (cells, row) in packed.iter_mut().zip(rows.chunks_exact(n)) {
        cells[..width].copy_from_slice(&row[column..][..width]);
        cells[width..].fill(T::INFINITY);
    }
}

/// The inverse for complete rows: row `first` of the packed panel and the following ones.
fn unpack_above<T: Cell, const COLUMNS: usize>(
    packed: &PackedAbove<T, COLUMNS>,
    depth: usize,
    first: usize,
    rows: &mut [T],
    n: usize,
) {
    for (row, cells) in rows.chunks_exact_mut(n).enumerate() {
        for (strip, cells) in cells.chunks_mut(COLUMNS).enumerate() {
            cells.copy_from_slice(&packed[strip * depth + first + row][..cells.len()]);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn relax_registers_avx512<T: Cell, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool>(
    tile: &mut [T],
    stride: usize,
    left: &[[T; ROWS]],
    above: &[[T; COLUMNS]],
) {
    relax_registers::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn relax_registers_avx2<T: Cell, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool>(
    tile: &mut [T],
    stride: usize,
    left: &[[T; ROWS]],
    above: &[[T; COLUMNS]],
) {
    relax_registers::<T, ROWS, COLUMNS, NON_NEGATIVE>(tile, stride, left, above);
}

/// The innermost loops, which take nearly all of the time. `best` lives in registers.
///
/// The tile itself is needed at the end only. It is prefetched a row at a time in between, because
/// asking for all of it at once would block the cache for the panels.
#[inline(always)]
fn relax_registers<T: Cell, const ROWS: usize, const COLUMNS: usize, const NON_NEGATIVE: bool>(
    tile: &mut [T],
    stride: usize,
    left: &[[T; ROWS]],
    above: &[[T; COLUMNS]],
) {
    let lesser = |a: T, b: T| {
        if NON_NEGATIVE { a.lesser_of_non_negative(b) } else { a.lesser(b) }
    };
    let mut best = [[T::INFINITY; COLUMNS]; ROWS];
    let part = left.len().div_ceil(ROWS).max(1);
    for (row, (left, above)) in left.chunks(part).zip(above.chunks(part)).enumerate() {
        prefetch(&tile[row * stride..][..COLUMNS]);
        for (left, above) in left.iter().zip(above) {
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    let candidate = left[row].plus(above[column]);
                    best[row][column] = lesser(best[row][column], candidate);
                }
            }
        }
    }
    for (row, best) in best.iter().enumerate() {
        for (cell, &best) in tile[row * stride..][..COLUMNS].iter_mut().zip(best) {
            *cell = lesser(*cell, best);
        }
    }
}

#[inline(always)]
fn prefetch<T>(cells: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for offset in (0..size_of_val(cells)).step_by(CACHE_LINE_BYTES) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch accesses nothing, and SSE is part of x86-64.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(cells.as_ptr().cast::<i8>().wrapping_add(offset)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (cells, CACHE_LINE_BYTES);
}

fn triple_loop<T: Cell>(instruction_set: InstructionSet, matrix: &mut [T], n: usize) {
    match instruction_set {
        InstructionSet::Portable => triple_loop_inlined(matrix, n),
        // SAFETY: the instruction set has been detected.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx2 => unsafe { triple_loop_avx2(matrix, n) },
        // SAFETY: the instruction set has been detected.
        #[cfg(target_arch = "x86_64")]
        InstructionSet::Avx512 => unsafe { triple_loop_avx512(matrix, n) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
fn triple_loop_avx512<T: Cell>(matrix: &mut [T], n: usize) {
    triple_loop_inlined(matrix, n);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn triple_loop_avx2<T: Cell>(matrix: &mut [T], n: usize) {
    triple_loop_inlined(matrix, n);
}

/// Floyd–Warshall as in the textbook, for up to [`TRIPLE_LOOP_LIMIT`] vertices. The row of the
/// vertex is copied, so that the compiler sees that it does not change.
#[inline(always)]
fn triple_loop_inlined<T: Cell>(matrix: &mut [T], n: usize) {
    let mut vertex_row = [T::INFINITY; TRIPLE_LOOP_LIMIT];
    let vertex_row = &mut vertex_row[..n];
    for vertex in 0..n {
        vertex_row.copy_from_slice(&matrix[vertex * n..][..n]);
        for row in matrix.chunks_exact_mut(n) {
            let left = row[vertex];
            for (cell, &above) in row.iter_mut().zip(&*vertex_row) {
                *cell = cell.lesser(left.plus(above));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    /// Around the sizes of register tiles, strips and blocks. Unoptimised builds are some hundred
    /// times slower and get the small ones only.
    const SIZES: &[usize] = if cfg!(debug_assertions) {
        &[0, 1, 2, 3, 63, 64, 65, 100]
    } else {
        &[0, 1, 2, 3, 63, 64, 65, 100, 191, 257, 385]
    };

    /// A cell that a test can make from and turn into a wide number; `None` is infinity.
    trait TestCell: Cell + Debug {
        fn from_wide(value: Option<i64>) -> Self;
        fn to_wide(self) -> Option<i64>;
    }

    macro_rules! test_cells {
        ($($cell:ty),*) => {$(
            impl TestCell for $cell {
                fn from_wide(value: Option<i64>) -> Self {
                    value.map_or(Self::INFINITY, |value| value as $cell)
                }
                fn to_wide(self) -> Option<i64> {
                    (self != Self::INFINITY).then_some(self as i64)
                }
            }
        )*};
    }
    test_cells!(u16, i16, u32, i32, u64, i64, f32, f64);

    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: i64) -> i64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((self.0 >> 33) as i64) % bound
        }
    }

    /// About `degree` edges per vertex. Potentials make weights negative but not cycles: every
    /// cycle keeps its length.
    fn random_graph(n: usize, degree: i64, weight: i64, potential: i64) -> Vec<Option<i64>> {
        let mut random = Random(n as u64 * 31 + degree as u64);
        let potentials: Vec<i64> = (0..n).map(|_| random.below(potential + 1)).collect();
        let mut matrix = vec![None; n * n];
        for from in 0..n {
            for to in 0..n {
                if from == to {
                    matrix[from * n + to] = Some(0);
                } else if random.below(n as i64) < degree {
                    let weight = random.below(weight) + 1;
                    matrix[from * n + to] = Some(weight + potentials[from] - potentials[to]);
                }
            }
        }
        matrix
    }

    fn naive(matrix: &[Option<i64>], n: usize) -> Vec<Option<i64>> {
        let mut distances = matrix.to_vec();
        for k in 0..n {
            for i in 0..n {
                let Some(left) = distances[i * n + k] else {
                    continue;
                };
                for j in 0..n {
                    if let Some(above) = distances[k * n + j] {
                        let cell = &mut distances[i * n + j];
                        *cell = Some(cell.map_or(left + above, |cell| cell.min(left + above)));
                    }
                }
            }
        }
        distances
    }

    fn run<T: TestCell>(
        instruction_set: InstructionSet,
        matrix: &[Option<i64>],
        n: usize,
    ) -> (Outcome, Vec<Option<i64>>) {
        let mut cells: Vec<T> = matrix.iter().map(|&value| T::from_wide(value)).collect();
        let outcome = close_with(instruction_set, &mut cells, n, &mut |_, _| true).unwrap();
        (outcome, cells.into_iter().map(T::to_wide).collect())
    }

    fn check<T: TestCell>(matrix: &[Option<i64>], n: usize, expected: &[Option<i64>]) {
        for instruction_set in InstructionSet::available() {
            let (outcome, distances) = run::<T>(instruction_set, matrix, n);
            let context = format!("{} {instruction_set:?} n = {n}", std::any::type_name::<T>());
            assert_eq!(outcome, Outcome::Complete, "{context}");
            assert!(distances == expected, "{context}");
        }
    }

    #[test]
    fn non_negative_weights() {
        for &n in SIZES {
            for (degree, weight) in [(1, 100), (4, 1000), (n as i64, 1000)] {
                let matrix = random_graph(n, degree, weight, 0);
                let expected = naive(&matrix, n);
                check::<u16>(&matrix, n, &expected);
                check::<i16>(&matrix, n, &expected);
                check::<u32>(&matrix, n, &expected);
                check::<i32>(&matrix, n, &expected);
                check::<u64>(&matrix, n, &expected);
                check::<i64>(&matrix, n, &expected);
                check::<f32>(&matrix, n, &expected);
                check::<f64>(&matrix, n, &expected);
            }
        }
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "too slow without optimisation")]
    fn blocks_within_blocks() {
        let n = 4 * BLOCK + 37;
        let matrix = random_graph(n, 6, 1000, 0);
        let expected = naive(&matrix, n);
        check::<u16>(&matrix, n, &expected);
        check::<i32>(&matrix, n, &expected);
        check::<f64>(&matrix, n, &expected);
        let matrix = random_graph(n, 3, 500, 100);
        let expected = naive(&matrix, n);
        check::<i32>(&matrix, n, &expected);
        check::<i64>(&matrix, n, &expected);
        check::<f32>(&matrix, n, &expected);
    }

    #[test]
    fn negative_weights_without_negative_cycles() {
        for &n in SIZES {
            for degree in [1, 2, 4, n as i64] {
                let matrix = random_graph(n, degree, 50, 10);
                let expected = naive(&matrix, n);
                check::<i16>(&matrix, n, &expected);
                check::<i32>(&matrix, n, &expected);
                check::<i64>(&matrix, n, &expected);
                check::<f32>(&matrix, n, &expected);
                check::<f64>(&matrix, n, &expected);
            }
        }
    }

    /// A path of negative edges between unreachable parts: infinity sinks as low as it can.
    #[test]
    fn infinity_does_not_drift() {
        let n = 200;
        let mut matrix = vec![None; n * n];
        for vertex in 0..n - 1 {
            if vertex != n / 2 {
                matrix[vertex * n + vertex + 1] = Some(-82);
            }
        }
        let expected = naive(&matrix, n);
        check::<i16>(&matrix, n, &expected);
        check::<i32>(&matrix, n, &expected);
        check::<f32>(&matrix, n, &expected);

        // 198 edges of -83 exceed what a 16-bit infinity can absorb (16383).
        let steeper: Vec<_> = matrix.iter().map(|cell| cell.map(|weight| weight - 1)).collect();
        assert_eq!(run::<i16>(InstructionSet::detect(), &steeper, n).0, Outcome::TooNarrow);
    }

    #[test]
    fn a_distance_that_does_not_fit_is_reported() {
        let n = 200;
        let path = |weight: i64| {
            let mut matrix = vec![None; n * n];
            for vertex in 0..n - 1 {
                matrix[vertex * n + vertex + 1] = Some(weight);
            }
            matrix
        };
        for instruction_set in InstructionSet::available() {
            // The limit is 32767 and the longest distance 199 edges; 200 edges must fit as well.
            assert_eq!(run::<u16>(instruction_set, &path(163), n).0, Outcome::Complete);
            assert_eq!(run::<u16>(instruction_set, &path(164), n).0, Outcome::TooNarrow);
            assert_eq!(run::<u16>(instruction_set, &path(3000), n).0, Outcome::TooNarrow);
            assert_eq!(run::<u32>(instruction_set, &path(3000), n).0, Outcome::Complete);
            assert_eq!(run::<i32>(instruction_set, &path(1 << 23), n).0, Outcome::TooNarrow);
            assert_eq!(run::<i64>(instruction_set, &path(1 << 23), n).0, Outcome::Complete);
        }
        let mut floats = vec![f32::INFINITY; 9];
        (floats[1], floats[5]) = (f32::MAX, f32::MAX);
        assert_eq!(tiled_floyd_warshall(&mut floats, 3, &mut |_, _| true).unwrap(), Outcome::Complete);
        assert_eq!(floats[2], f32::INFINITY, "the caller, who has the arcs, tells this from no path");
    }

    #[test]
    fn any_large_integer_means_infinity() {
        let n = 70;
        let mut matrix = vec![i32::MAX; n * n];
        (matrix[1], matrix[n + 2]) = (5, -2);
        let mut expected = vec![i32::INFINITY; n * n];
        (expected[1], expected[2], expected[n + 2]) = (5, 3, -2);
        assert_eq!(tiled_floyd_warshall(&mut matrix, n, &mut |_, _| true).unwrap(), Outcome::Complete);
        assert!(matrix == expected);
    }

    #[test]
    fn negative_cycles_are_found() {
        for &n in SIZES.iter().filter(|&&n| n >= 2) {
            for seed in 0..if cfg!(debug_assertions) { 2 } else { 8 } {
                let mut random = Random(seed * 1000 + n as u64);
                let mut matrix = random_graph(n, 4, 100, 20);
                let cycle = if n == 2 { 2 } else { 2 + random.below(2) as usize };
                let start = random.below(n as i64) as usize;
                let step = 1 + random.below((n as i64 - 1) / cycle as i64 + 1) as usize;
                let vertices: Vec<usize> =
                    (0..cycle).map(|i| (start + i * step.min((n - 1) / (cycle - 1))) % n).collect();
                for i in 0..cycle {
                    let edge = vertices[i] * n + vertices[(i + 1) % cycle];
                    matrix[edge] = Some(if i == 0 { -30 } else { 10 });
                }
                let is_negative = naive_has_negative_cycle(&matrix, n);
                for instruction_set in InstructionSet::available() {
                    let (outcome, _) = run::<i32>(instruction_set, &matrix, n);
                    assert_eq!(matches!(outcome, Outcome::NegativeCycle { .. }), is_negative);
                    let (float_outcome, _) = run::<f64>(instruction_set, &matrix, n);
                    assert_eq!(float_outcome, outcome);
                }
            }
        }
    }

    /// Bellman–Ford from a virtual source.
    fn naive_has_negative_cycle(matrix: &[Option<i64>], n: usize) -> bool {
        let mut distances = vec![0; n];
        for _ in 0..n {
            let mut changed = false;
            for from in 0..n {
                for to in 0..n {
                    if let Some(weight) = matrix[from * n + to]
                        && distances[from] + weight < distances[to]
                    {
                        distances[to] = distances[from] + weight;
                        changed = true;
                    }
                }
            }
            if !changed {
                return false;
            }
        }
        true
    }

    #[test]
    fn progress_is_reported_and_can_cancel() {
        let n = 150;
        let cells: Vec<u32> = random_graph(n, 4, 100, 0).into_iter().map(u32::from_wide).collect();
        let mut calls = Vec::new();
        let outcome = tiled_floyd_warshall(&mut cells.clone(), n, &mut |done, total| {
            calls.push((done, total));
            true
        })
        .unwrap();
        assert_eq!(outcome, Outcome::Complete);
        assert_eq!(calls.last(), Some(&(n, n)));
        assert!(calls.is_sorted());
        let outcome = tiled_floyd_warshall(&mut cells.clone(), n, &mut |_, _| false).unwrap();
        assert_eq!(outcome, Outcome::Cancelled);
    }
}
