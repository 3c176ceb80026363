//! Transitive closure on packed bits on a GPU: 32 pairs in a word, tiles in registers, all phases in one launch.
//!
//! It is the dense all-pairs algorithm ([`tiled_floyd_warshall`](crate::cuda::apsp::tiled_floyd_warshall)) with another
//! product: a row of the stage is joined to a row of the tile where the bit of its vertex is set. A tile is 128 rows of
//! 4,096 columns, a stage admits 128 vertices.
//!
//! # How rows are joined
//!
//! One by one, with the bit made a mask, that is one instruction for 32 pairs (LOP3): 64 of these a cycle and
//! multiprocessor, or 2,048 pairs. Four Russians have a better way: of the rows of four vertices, make all 16 unions; then
//! what a row of the tile takes from the four is one look-up, by four of its bits. A multiprocessor reads 32 words of shared
//! memory a cycle, each worth 128 pairs: 4,096 pairs a cycle, twice as many. To make the unions, 16 rows are written for
//! 128 looked up, so nine cycles do the work of eight. For that no two lanes may ask the same bank at once, so a warp has
//! whole rows of the tile: the bits are the same for all its lanes, and each reads its own 16 bytes of one entry. Two
//! look-ups are joined to a register by one LOP3, and it takes two or three more instructions to find the entry, so what
//! computes is half idle.
//!
//! More vertices in a group are worth less than they seem: of five or six, tables have 32 or 64 rows, as many as a quarter
//! or half of what is looked up, and the best mix (5, 5 and 6 bits of 16) would take eight cycles for these nine, but 64
//! instead of 32 KiB for each of two sets of tables, of which two blocks a multiprocessor no longer have two. Of eight: 48
//! cycles for 36.
//!
//! Where no row of a tile has a bit in the stage's columns, the tile is left as it is.
//!
//! # Work, memory
//!
//! Work: n^3 / 128 words looked up, 9/8 times, whatever the arcs are, but for tiles left out: 0.29 s for 65,536 vertices on
//! an H200 at 1.98 GHz, where it takes 0.39; joined one by one it would be 0.55, and was 0.65. Memory: n^2 / 8 bytes, and two panels of 512 n, of
//! which a 32nd is used. The matrix is read and written once a stage, n^3 / 512 bytes in all. It wins where the closure
//! is dense and has few components; else condensing the graph first leaves far less to do.
//!
//! Source: Warshall 1962; Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.3;
//! Arlazarov, Dinic, Kronrod and Faradzev 1970, "On economical construction of the transitive closure of an oriented
//! graph" (the four).

use super::{Bits, ClosureAlgorithm, ClosureTask, Work};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cuda::device::images;
use crate::cuda::matrix::tiles::{HEAD_START, STAGES, Tiles};
use crate::problems::Problem;

/// Rows of a tile, and words in a row.
const SIDE: u64 = 128;

/// This algorithm's line in the table.
pub(super) const ALGORITHM: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Closure,
        name: "bit-warshall",
        summary: "Warshall on packed bits, by tables of unions of rows, all phases overlapped",
        source: "Warshall 1962; Arlazarov et al. 1970; Katz & Kider 2008, sect. 4.3",
        parameters: &[HEAD_START, STAGES],
        negative_weights: true,
        seconds: |work| work.vertices() * 0.3e-6 + work.triples() / 700e12,
    },
    condenses: false,
    kernel: (&images::CLOSURE_BIT_WARSHALL, "closure_bits"),
    multiples: (SIDE, SIDE),
    layout: |vertices, arena| {
        let (rows, words) = ALGORITHM.sides(vertices);
        Work::Tiles(Tiles::of_bits(rows, words).layout(arena))
    },
    close,
};

fn close(bits: &Bits, task: &ClosureTask<'_>) -> Result<Statistics> {
    let function = bits.pool.device().function(&images::CLOSURE_BIT_WARSHALL, "closure_bits")?;
    let Work::Tiles(workspace) = bits.work else { unreachable!("the layout is for tiles") };
    let (tiles, matrix) = (Tiles::of_bits(bits.rows, bits.pitch), bits.words.as_mut_ptr().cast());
    let (_, statistics) = tiles.eliminate(&bits.pool, matrix, workspace, function, task.parameters, task.control)?;
    Ok(statistics)
}
