//! Transitive closure on packed bits on a GPU: 32 pairs in a word, tiles in registers, all phases in one launch.
//!
//! It is the dense all-pairs algorithm ([`tiled_floyd_warshall`](crate::cuda::apsp::tiled_floyd_warshall)) with another
//! product: a word of a row is joined where the bit of the column is set, which, with the bit made a mask, is one
//! instruction for 32 pairs (LOP3). A tile is 128 rows of 4,096 columns, a stage admits 128 vertices. Column panels are kept
//! as masks, a word for each bit, which is what lets the inner loop do without anything else: they are 128 n words, and
//! come from the second-level cache.
//!
//! Work: n^3 / 32 of these instructions, whatever the arcs are: at 508 T pairs a second on an H200, 0.55 s for 65,536
//! vertices. Memory: n^2 / 8 bytes, and two panels of 512 n. The matrix is read and written once a stage, n^3 / 512 bytes in
//! all. It wins where the closure is dense and has few components; else condensing the graph first leaves far less to do.
//!
//! Source: Warshall 1962; Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.3.

use super::{Bits, ClosureAlgorithm, ClosureTask};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cuda::apsp::tiles::{HEAD_START, STAGES, Tiles};
use crate::cuda::device::images;
use crate::problems::Problem;

/// Rows of a tile, and words in a row.
const SIDE: u64 = 128;

/// This algorithm's line in the table.
pub(super) const ALGORITHM: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Closure,
        name: "bit-warshall",
        summary: "Warshall on packed bits in tiles that live in registers, all phases overlapped",
        source: "Warshall 1962; Katz & Kider 2008, sect. 4.3",
        parameters: &[HEAD_START, STAGES],
        negative_weights: true,
    },
    multiples: (SIDE, SIDE),
    plan: |vertices, plan| {
        let (rows, words) = ALGORITHM.sides(vertices);
        Tiles::of_bits(rows, words).plan(plan);
    },
    close,
};

fn close(bits: &mut Bits, task: &ClosureTask<'_>) -> Result<Statistics> {
    let function = bits.pool.device().function(&images::CLOSURE_BIT_WARSHALL, "closure_bits")?;
    let (tiles, address) = (Tiles::of_bits(bits.rows, bits.pitch), bits.words.address());
    let (_, statistics) = tiles.eliminate(&mut bits.pool, address, function, task.parameters, task.control)?;
    Ok(statistics)
}
