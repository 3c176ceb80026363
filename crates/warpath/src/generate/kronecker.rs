//! Kronecker graphs as in Graph500: few vertices of very high degree, many of degree 0, a tiny diameter.
//!
//! The adjacency matrix is quartered again and again; an edge falls into the quarters with probabilities A = 0.57,
//! B = 0.19, C = 0.19 and D = 0.05, and after `scale` steps is one cell of the matrix. Vertex ids are then permuted, so
//! that they say nothing about degrees. Loops are dropped and repeated edges merged, as the benchmark's kernels do, so
//! there are fewer edges than were drawn (at scale 20, 16 edges a vertex: 15.7 of 16.8 million).
//!
//! Four steps are drawn at once, one of 256 outcomes in constant time from 32 random bits, by the alias method: a slot
//! of the table is chosen uniformly, and a biased coin chooses between the slot's own outcome and an outcome with more
//! than its share. Surplus steps are cut off, which does not affect the other steps. Many edges are drawn side by side,
//! by vector instructions: a quarter of the time.
//!
//! Work O(scale * edges), fully parallel.
//!
//! Sources: J. Leskovec et al., Kronecker graphs, JMLR 2010; the Graph500 specification, graph500.org, section 3;
//! A. Walker, An efficient method for generating discrete random variables with general distributions, TOMS 1977.

use super::random::{Permutation, Stream};
use super::spec::Options;
use super::{Edges, Generator, GeneratorInfo, purpose};
use crate::Result;
use crate::instructions::with_widest_instructions;

pub(super) const INFO: GeneratorInfo = GeneratorInfo {
    name: "kron",
    size: "SCALE",
    summary: "Graph500 Kronecker graph with 2^SCALE vertices: skewed degrees, tiny diameter",
    source: "Graph500 specification, section 3; Leskovec et al. 2010",
    options: &[super::EDGES_PER_VERTEX],
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Kronecker {
    scale: u32,
    edges_per_vertex: u64,
}

impl Kronecker {
    pub(super) fn parse(options: &Options<'_>) -> Result<Self> {
        Ok(Kronecker { scale: options.scale()?, edges_per_vertex: options.edges_per_vertex()? })
    }
}

impl Generator for Kronecker {
    fn vertices(&self) -> u64 {
        1 << self.scale
    }

    fn edges(&self) -> u64 {
        self.vertices().saturating_mul(self.edges_per_vertex)
    }

    fn draw(&self, seed: u64) -> Result<Edges> {
        let cells = Cells::new(self.scale, seed);
        Ok(Edges::by_block(self.edges(), move |first, edges| cells.draw(first, edges)))
    }
}

/// Draws cells of the matrix by index, with their rows and columns permuted.
struct Cells {
    random: Stream,
    table: AliasTable,
    names: Permutation,
    /// Draws for each cell, and steps that the last one has too many.
    draws: u32,
    surplus: u32,
}

impl Cells {
    fn new(scale: u32, seed: u64) -> Self {
        let draws = scale.div_ceil(STEPS);
        Cells {
            random: Stream::new(seed, purpose::EDGES),
            table: AliasTable::new(),
            names: Permutation::new(seed, purpose::NAMES, 1 << scale),
            draws,
            surplus: draws * STEPS - scale,
        }
    }

    /// The cells from an index on. Several are drawn side by side, by vector instructions.
    fn draw(&self, first: u64, cells: &mut [(u64, u64)]) {
        with_widest_instructions!(
            [] [] (draw: &Cells = self, first: u64 = first, cells: &mut [(u64, u64)] = cells) -> () {
                for (group, first) in cells.chunks_mut(LANES).zip((first..).step_by(LANES)) {
                    let (rows, columns) = draw.draw_lanes(first);
                    for ((cell, row), column) in group.iter_mut().zip(rows).zip(columns) {
                        *cell = (row, column);
                    }
                }
            }
        );
    }

    /// Rows and columns of [`LANES`] cells.
    #[inline(always)]
    fn draw_lanes(&self, first: u64) -> ([u64; LANES], [u64; LANES]) {
        const HALF: u64 = (1 << STEPS) - 1;
        let (mut rows, mut columns, mut bits) = ([0; LANES], [0; LANES], [0; LANES]);
        // One number serves two draws.
        let numbers = u64::from(self.draws.div_ceil(2));
        for draw in 0..self.draws {
            for (lane, bits) in bits.iter_mut().enumerate() {
                *bits = if draw % 2 == 0 {
                    let index = first.wrapping_add(lane as u64);
                    self.random.at(index.wrapping_mul(numbers).wrapping_add(u64::from(draw / 2)))
                } else {
                    *bits >> 32
                };
            }
            for lane in 0..LANES {
                let outcome = u64::from(self.table.draw(bits[lane] as u32));
                rows[lane] = rows[lane] << STEPS | outcome >> STEPS;
                columns[lane] = columns[lane] << STEPS | outcome & HALF;
            }
        }
        for place in rows.iter_mut().chain(&mut columns) {
            *place = self.names.within_power(*place >> self.surplus);
        }
        (rows, columns)
    }
}

/// Cells that are drawn side by side.
const LANES: usize = 64;
/// The probabilities of the upper left, upper right, lower left and lower right quarter.
const QUARTERS: [f64; 4] = [0.57, 0.19, 0.19, 0.05];
/// Steps drawn at once.
const STEPS: u32 = 4;
const OUTCOMES: usize = 1 << (2 * STEPS);
/// The denominator of a coin's probability: the bits of a draw that do not choose the slot.
const COIN: u32 = 1 << (32 - 2 * STEPS);

/// The outcomes of [`STEPS`] steps, `row << STEPS | column`, with their probabilities.
struct AliasTable {
    /// How many of `COIN` tosses are for the slot's own outcome, above the other outcome. A slot of which all are for its
    /// own has itself for the other.
    slots: [u32; OUTCOMES],
}

impl AliasTable {
    fn new() -> Self {
        // In units of a slot's share.
        let mut excess: [f64; OUTCOMES] = std::array::from_fn(|outcome| {
            let (row, column) = (outcome >> STEPS, outcome & ((1 << STEPS) - 1));
            let quarter = |step: u32| QUARTERS[(row >> step & 1) << 1 | (column >> step & 1)];
            OUTCOMES as f64 * (0..STEPS).map(quarter).product::<f64>()
        });
        let mut slots = std::array::from_fn(|outcome| outcome as u32);
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) = (0..OUTCOMES).partition(|&outcome| excess[outcome] < 1.0);
        // A poor outcome fills its slot with a part of a rich outcome, which may become poor by that.
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            let own = (excess[taker] * f64::from(COIN)).round() as u32;
            slots[taker] = if own < COIN { own << (2 * STEPS) | giver as u32 } else { taker as u32 };
            excess[giver] -= 1.0 - excess[taker];
            if excess[giver] < 1.0 {
                rich.pop();
                poor.push(giver);
            }
        }
        AliasTable { slots }
    }

    #[inline(always)]
    fn draw(&self, random: u32) -> u32 {
        const OUTCOME: u32 = OUTCOMES as u32 - 1;
        let own = random & OUTCOME;
        let slot = self.slots[own as usize];
        if random >> (2 * STEPS) >= slot >> (2 * STEPS) { slot & OUTCOME } else { own }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn outcomes_have_their_probabilities() {
        let table = AliasTable::new();
        let mut shares = [0.0; OUTCOMES];
        for (slot, packed) in table.slots.into_iter().enumerate() {
            let (own, other) = (packed >> (2 * STEPS), packed as usize % OUTCOMES);
            shares[slot] += f64::from(own) / f64::from(COIN) / OUTCOMES as f64;
            shares[other] += f64::from(COIN - own) / f64::from(COIN) / OUTCOMES as f64;
        }
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((shares[0] - 0.57_f64.powi(4)).abs() < 1e-6);
        assert!((shares[OUTCOMES - 1] - 0.05_f64.powi(4)).abs() < 1e-6);
        // Rows 0b0101, columns 0b0011: one step into each quarter.
        assert!((shares[0b0101_0011] - 0.57 * 0.19 * 0.19 * 0.05).abs() < 1e-6);
        let stream = Stream::new(1, 1);
        let upper = (0..10_000).filter(|&index| table.draw(stream.at(index) as u32) >> 7 == 0).count();
        assert!(upper.abs_diff(7600) < 200, "{upper} of 10,000 in the upper half");
    }

    /// The cell at an index, drawn alone: each step chooses a quarter by the table's outcomes.
    fn cell_alone(cells: &Cells, scale: u32, index: u64) -> (u64, u64) {
        let (mut row, mut column) = (0, 0);
        let draws = scale.div_ceil(STEPS);
        for draw in 0..draws {
            let number = cells.random.at(index * u64::from(draws.div_ceil(2)) + u64::from(draw / 2));
            let random = (number >> (32 * (draw % 2))) as u32;
            let slot = random % OUTCOMES as u32;
            let packed = cells.table.slots[slot as usize];
            let outcome = if random >> 8 < packed >> 8 { slot } else { packed % OUTCOMES as u32 };
            (row, column) = (row * 16 + u64::from(outcome / 16), column * 16 + u64::from(outcome % 16));
        }
        let surplus = draws * STEPS - scale;
        (cells.names.at(row >> surplus), cells.names.at(column >> surplus))
    }

    #[test]
    fn cells_drawn_side_by_side_are_those_drawn_alone() {
        for scale in [0, 1, 3, 4, 5, 8, 21, 27, 31, 32, 38, 48] {
            let cells = Cells::new(scale, 7);
            for (first, length) in [(0, 0), (0, 1), (5, LANES - 1), (1 << 33, LANES), (77, 3 * LANES + 5)] {
                let mut drawn = vec![(0, 0); length];
                cells.draw(first, &mut drawn);
                let alone = (first..).map(|index| cell_alone(&cells, scale, index)).take(length);
                assert!(drawn.iter().copied().eq(alone), "{length} cells of 2^{scale} rows from {first} on");
                assert!(drawn.iter().all(|&(row, column)| row >> scale == 0 && column >> scale == 0));
            }
        }
    }

    #[test]
    fn degrees_are_skewed() {
        let graph = generate("kron:12,seed=5").unwrap();
        assert_eq!(graph.vertices(), 4096);
        assert_eq!(graph.input_counts().lines, 65_536);
        let greatest = (0..4096).map(|v| graph.degree(v)).max().unwrap();
        let isolated = (0..4096).filter(|&v| graph.degree(v) == 0).count();
        // With all rows 0, the first vertex has an expected 65,536 * 2 * 0.76^12 = 4,868 ends, many of them repeated.
        assert!((800..3000).contains(&greatest), "{greatest}");
        assert!((400..1800).contains(&isolated), "{isolated}");
        let hub = (0..4096).max_by_key(|&v| graph.degree(v)).unwrap();
        let other = generate("kron:12,seed=6").unwrap();
        assert_ne!(Some(hub), (0..4096).max_by_key(|&v| other.degree(v)));
    }
}
