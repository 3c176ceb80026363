//! Transitive closure of dense graphs: Warshall on packed bits, 256 pivots at a time, by tables.
//!
//! One round takes a block of 256 pivots and lets paths through any of them:
//!
//! 1. Warshall on the 256 x 256 bits where the pivots' rows and columns meet: which pivot reaches which through pivots.
//! 2. For every row, the pivots that it reaches, directly or through other pivots: its *selection*, 256 bits.
//! 3. Every row takes on the rows that its selected pivots had before the round.
//!
//! Step 2 gets all the detours among pivots out of the way, so that step 3 is a plain product of Boolean matrices: it
//! has no order to keep, and threads share the rows. It is done by the method of the Four Russians: for each four
//! pivots, a table of the unions of all sixteen subsets, so that four bits of a selection cost one look-up and one
//! `or` of a cache line, whatever they are. The tables for 64 pivots and one line of columns take 16 KB and stay in
//! the first-level cache.
//!
//! Work V^3 / 4 bit operations, 512 to an instruction where there is AVX-512: V^3 / 2,048 look-ups, whatever the graph,
//! except for rows that select none of 64 pivots; span: step 1 of O(V) rounds. V^2 / 8 bytes. It wins on small dense
//! graphs; where arcs are few, [`condensation`](super::condensation) does far less.
//!
//! Sources: S. Warshall, A theorem on Boolean matrices, J. ACM 1962; V. Arlazarov, E. Dinic, M. Kronrod, I. Faradzev,
//! On economical construction of the transitive closure of a directed graph, Soviet Math. Dokl. 1970; the blocks as
//! in Katz & Kider 2008, sect. 4.

use rayon::prelude::*;

use super::{ClosureAlgorithm, ClosureBits, ClosureOutcome, ClosureTask, for_each_instruction_set};
use crate::algorithms::{AlgorithmInfo, Workload};
use crate::cpu::Team;
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::{BitMatrix, Line, Problem};
use crate::{Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Closure,
        name: "bit-warshall",
        summary: "Warshall on packed bits with tables of unions, parallel; wins on small dense graphs",
        source: "Warshall 1962; Arlazarov et al. 1970",
        parameters: &[],
        negative_weights: true,
        seconds,
    },
    plan: |graph, team, _| plan(graph, team),
    solve,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// A pair of bits.
    const PAIR: f64 = 0.24e-12;
    /// What each thread costs at the start, and at the barriers of a stage.
    const START: f64 = 10e-6;
    const STAGE: f64 = 3e-6;
    const ROWS_OF_A_STAGE: f64 = 64.0;
    let threads = work.threads as f64;
    work.triples() * PAIR / threads + threads * (START + (work.vertices() / ROWS_OF_A_STAGE).ceil() * STAGE)
}

/// Pivots in a round.
const PIVOTS: usize = 256;
/// Words in a selection.
const WORDS: usize = PIVOTS / 64;
/// A set of pivots.
type Selection = [u64; WORDS];
/// For each four of 64 pivots, the union of each subset of the four.
type Tables = [[Line; 16]; 16];

fn plan(graph: &Graph, team: &Team) -> Plan {
    let vertices = graph.vertices();
    let mut plan = Plan::new();
    plan.memory("matrix of bits", BitMatrix::bytes(vertices, vertices));
    plan.memory("rows of pivots", BitMatrix::bytes(PIVOTS, vertices));
    plan.memory("selections and tables", vertices as u64 * 32 + team.threads() as u64 * size_of::<Tables>() as u64);
    plan
}

fn solve(task: &ClosureTask<'_>) -> Result<ClosureOutcome> {
    let vertices = task.graph.vertices();
    let rounds = vertices.div_ceil(PIVOTS);
    let bits = task.team.install(|| -> Result<BitMatrix> {
        let mut bits = BitMatrix::new(vertices, vertices)?;
        let lines_per_row = bits.lines_per_row();
        bits.all_lines_mut().par_chunks_exact_mut(lines_per_row.max(1)).enumerate().for_each(|(u, row)| {
            let mut set = |v: usize| row[v / Line::BITS].set(v % Line::BITS);
            task.graph.neighbors(u as VertexId).iter().for_each(|&v| set(v as usize));
            if !task.irreflexive {
                set(u);
            }
        });
        // Each share of rows makes its own tables, so a share should not be small.
        let share = vertices.div_ceil(task.team.threads()).clamp(256, 2048);
        let mut selections: Vec<Selection> = memory::zeroed("the selections of pivots", vertices)?;
        let mut pivot_rows = memory::with_capacity("the rows of pivots", PIVOTS * lines_per_row)?;
        for round in 0..rounds {
            task.control.progress("solve", round as u64, rounds as u64)?;
            let first = round * PIVOTS;
            let pivots = PIVOTS.min(vertices - first);
            pivot_rows.clear();
            pivot_rows.resize(PIVOTS * lines_per_row, Line::ZERO);
            pivot_rows[..pivots * lines_per_row]
                .copy_from_slice(&bits.all_lines_mut()[first * lines_per_row..(first + pivots) * lines_per_row]);
            let block = Block { first_word: first / 64, lines_per_row, pivot_rows: &pivot_rows };
            let among_pivots = block.closed_among_pivots();
            bits.all_lines_mut()
                .par_chunks_mut(share * lines_per_row)
                .zip(selections.par_chunks_mut(share))
                .for_each(|(rows, selections)| join_through_pivots(&block, &among_pivots, rows, selections));
        }
        Ok(bits)
    })?;
    Ok(ClosureOutcome { bits: ClosureBits::Matrix(bits), statistics: vec![("rounds", rounds as u64)] })
}

/// The pivots of a round.
struct Block<'a> {
    /// The word of a row that holds the column of the first pivot.
    first_word: usize,
    lines_per_row: usize,
    /// The rows of the pivots before the round, zeros where there are fewer than [`PIVOTS`].
    pivot_rows: &'a [Line],
}

impl Block<'_> {
    /// The pivots in a row.
    #[inline(always)]
    fn selection(&self, row: &[Line]) -> Selection {
        let line = &row[self.first_word / 8].0;
        std::array::from_fn(|word| line[self.first_word % 8 + word])
    }

    /// Which pivots each pivot reaches through pivots alone.
    fn closed_among_pivots(&self) -> Vec<Selection> {
        let mut reaches: Vec<Selection> =
            self.pivot_rows.chunks_exact(self.lines_per_row).map(|row| self.selection(row)).collect();
        close(&mut reaches);
        reaches
    }
}

for_each_instruction_set! {
    /// Warshall on 256 x 256 bits, without branches: whether a row reaches the pivot is hard to foretell.
    fn close(reaches: &mut [Selection]) {
        for k in 0..PIVOTS {
            let through = reaches[k];
            for row in reaches.iter_mut() {
                let mask = 0_u64.wrapping_sub(row[k / 64] >> (k % 64) & 1);
                for word in 0..WORDS {
                    row[word] |= through[word] & mask;
                }
            }
        }
    }
}

for_each_instruction_set! {
    /// Steps 2 and 3 for some consecutive rows.
    fn join_through_pivots(
        block: &Block<'_>,
        among_pivots: &[Selection],
        rows: &mut [Line],
        selections: &mut [Selection],
    ) {
        let mut tables: Tables = [[Line::ZERO; 16]; 16];
        for (row, selection) in rows.chunks_exact(block.lines_per_row).zip(selections.iter_mut()) {
            *selection = block.selection(row);
        }
        let direct: Vec<Selection> = selections.to_vec();
        for word in 0..WORDS {
            fill_tables(&mut tables, |pivot| {
                let mut line = Line::ZERO;
                line.0[..WORDS].copy_from_slice(&among_pivots[word * 64 + pivot]);
                line
            });
            for (selection, direct) in selections.iter_mut().zip(&direct) {
                if direct[word] != 0 {
                    let mut line = Line::ZERO;
                    unite_selected(&mut line, &tables, direct[word]);
                    selection.iter_mut().zip(&line.0).for_each(|(selected, more)| *selected |= more);
                }
            }
        }
        for column in 0..block.lines_per_row {
            for word in 0..WORDS {
                fill_tables(&mut tables, |pivot| block.pivot_rows[(word * 64 + pivot) * block.lines_per_row + column]);
                for (row, selection) in rows.chunks_exact_mut(block.lines_per_row).zip(selections.iter()) {
                    if selection[word] != 0 {
                        unite_selected(&mut row[column], &tables, selection[word]);
                    }
                }
            }
        }
    }
}

/// Makes the tables for 64 pivots: each subset of four is a smaller subset and one more pivot.
#[inline(always)]
fn fill_tables(tables: &mut Tables, pivot: impl Fn(usize) -> Line) {
    for (four, table) in tables.iter_mut().enumerate() {
        for subset in 1..16_usize {
            let mut union = pivot(four * 4 + subset.trailing_zeros() as usize);
            union.unite(&table[subset & (subset - 1)]);
            table[subset] = union;
        }
    }
}

/// Adds the lines of the selected pivots, out of 64.
#[inline(always)]
fn unite_selected(line: &mut Line, tables: &Tables, mut selected: u64) {
    let mut union = *line;
    for table in tables {
        // Hardly ever true where it would save much. But the check keeps the compiler from gathering single words of
        // several tables into one vector, which takes five times as long as a vector for each line.
        if selected == 0 {
            break;
        }
        union.unite(&table[(selected & 15) as usize]);
        selected >>= 4;
    }
    *line = union;
}
