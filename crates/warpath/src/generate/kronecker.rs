//! Kronecker graphs as in Graph500: few vertices of very high degree, many of degree 0, a tiny diameter.
//!
//! The adjacency matrix is quartered again and again; an edge falls into the quarters with probabilities A = 0.57,
//! B = 0.19, C = 0.19 and D = 0.05, and after `scale` steps is one cell of the matrix. Vertex ids are then permuted, so
//! that they say nothing about degrees. Loops are dropped and repeated edges merged, as the benchmark's kernels do, so
//! there are fewer edges than were drawn (at scale 20, 16 edges a vertex: 15.7 of 16.8 million).
//!
//! Four steps are drawn at once, one of 256 outcomes in constant time from 32 random bits, by the alias method: a slot
//! of the table is chosen uniformly, and a biased coin chooses between the slot's own outcome and an outcome with more
//! than its share. Surplus steps are cut off, which does not affect the other steps.
//!
//! Work O(scale * edges), fully parallel.
//!
//! Sources: J. Leskovec et al., Kronecker graphs, JMLR 2010; the Graph500 specification, graph500.org, section 3;
//! A. Walker, An efficient method for generating discrete random variables with general distributions, TOMS 1977.

use super::random::{Permutation, Stream};
use super::spec::Options;
use super::{Edges, Generator, GeneratorInfo, purpose};
use crate::Result;

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
        let random = Stream::new(seed, purpose::EDGES);
        let names = Permutation::new(seed, purpose::NAMES, self.vertices());
        let table = AliasTable::new();
        let draws = self.scale.div_ceil(STEPS);
        let surplus = draws * STEPS - self.scale;
        let numbers = u64::from(draws.div_ceil(2));
        Ok(Edges::by_index(self.edges(), move |index| {
            let (mut row, mut column) = (0, 0);
            let mut bits = 0;
            for draw in 0..draws {
                // One number serves two draws.
                bits = if draw % 2 == 0 {
                    random.at(index.wrapping_mul(numbers) + u64::from(draw / 2))
                } else {
                    bits >> 32
                };
                let outcome = table.draw(bits as u32);
                row = row << STEPS | u64::from(outcome >> STEPS);
                column = column << STEPS | u64::from(outcome & ((1 << STEPS) - 1));
            }
            (names.at(row >> surplus), names.at(column >> surplus))
        }))
    }
}

/// The probabilities of the upper left, upper right, lower left and lower right quarter.
const QUARTERS: [f64; 4] = [0.57, 0.19, 0.19, 0.05];
/// Steps drawn at once.
const STEPS: u32 = 4;
const OUTCOMES: usize = 1 << (2 * STEPS);
/// The denominator of a coin's probability: the bits of a draw that do not choose the slot.
const COIN: u32 = 1 << (32 - 2 * STEPS);

/// The outcomes of [`STEPS`] steps, `row << STEPS | column`, with their probabilities.
struct AliasTable {
    /// How many of `COIN` tosses are for the slot's own outcome, and the other outcome.
    slots: [(u32, u8); OUTCOMES],
}

impl AliasTable {
    fn new() -> Self {
        // In units of a slot's share.
        let mut excess: [f64; OUTCOMES] = std::array::from_fn(|outcome| {
            let (row, column) = (outcome >> STEPS, outcome & ((1 << STEPS) - 1));
            let quarter = |step: u32| QUARTERS[(row >> step & 1) << 1 | (column >> step & 1)];
            OUTCOMES as f64 * (0..STEPS).map(quarter).product::<f64>()
        });
        let mut slots = [(COIN, 0); OUTCOMES];
        let (mut poor, mut rich): (Vec<usize>, Vec<usize>) = (0..OUTCOMES).partition(|&outcome| excess[outcome] < 1.0);
        // A poor outcome fills its slot with a part of a rich outcome, which may become poor by that.
        while let (Some(&giver), Some(taker)) = (rich.last(), poor.pop()) {
            slots[taker] = ((excess[taker] * f64::from(COIN)).round() as u32, giver as u8);
            excess[giver] -= 1.0 - excess[taker];
            if excess[giver] < 1.0 {
                rich.pop();
                poor.push(giver);
            }
        }
        AliasTable { slots }
    }

    #[inline]
    fn draw(&self, random: u32) -> u8 {
        let slot = random as usize % OUTCOMES;
        let (own, other) = self.slots[slot];
        // Chosen by a mask: no branch predictor guesses a coin.
        let is_other = u8::from(random >> (2 * STEPS) >= own).wrapping_neg();
        slot as u8 ^ (slot as u8 ^ other) & is_other
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
        for (slot, (own, other)) in table.slots.into_iter().enumerate() {
            shares[slot] += f64::from(own) / f64::from(COIN) / OUTCOMES as f64;
            shares[usize::from(other)] += f64::from(COIN - own) / f64::from(COIN) / OUTCOMES as f64;
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
