//! Kronecker graphs as Graph500 has them: few vertices of very high degree, many of none, a tiny diameter.
//!
//! The adjacency matrix is quartered again and again; an edge falls into the quarters with probabilities A = 0.57,
//! B = 0.19, C = 0.19 and D = 0.05, and after `scale` steps is one cell of the matrix. Vertex ids are then permuted, so
//! that they say nothing about degrees. Loops are dropped and repeated edges merged, as the benchmark's kernels do, so
//! there are fewer edges than were drawn (at scale 20, 16 edges a vertex: 15.7 of 16.8 million).
//!
//! Work O(scale * edges), fully parallel: 32 random bits an edge and step.
//!
//! Source: J. Leskovec et al., Kronecker graphs, JMLR 2010; the Graph500 specification, graph500.org, section 3.

use super::random::{Permutation, Stream};
use super::spec::Options;
use super::{Edges, Generator, GeneratorInfo, purpose};
use crate::Result;
use crate::graph::VertexId;

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

    fn draw(&self, seed: u64) -> Edges {
        let bits = Stream::new(seed, purpose::EDGES);
        let names = Permutation::new(seed, purpose::NAMES, self.vertices());
        let draws = u64::from(self.scale.div_ceil(2));
        let scale = self.scale;
        Edges::by_index(self.edges(), move |index| {
            let (mut row, mut column) = (0, 0);
            for step in 0..scale {
                // One number serves two steps.
                let random = bits.at(index.wrapping_mul(draws) + u64::from(step / 2)) >> (32 * (step % 2));
                let (lower, right) = quarter(random as u32);
                row = row << 1 | lower;
                column = column << 1 | right;
            }
            (names.at(row) as VertexId, names.at(column) as VertexId)
        })
    }
}

/// Whether 32 random bits mean the lower half and the right half of the matrix.
#[inline]
fn quarter(random: u32) -> (u64, u64) {
    const UNIT: f64 = 4_294_967_296.0;
    const A: u32 = (0.57 * UNIT) as u32;
    const A_B: u32 = (0.76 * UNIT) as u32;
    const A_B_C: u32 = (0.95 * UNIT) as u32;
    let lower = random >= A_B;
    let right = (random >= A) ^ lower ^ (random >= A_B_C);
    (lower.into(), right.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate;

    #[test]
    fn quarters_have_their_shares() {
        let mut counts = [0_u32; 4];
        for index in 0..1 << 16 {
            let (lower, right) = quarter((index << 16) + 32_768);
            counts[(2 * lower + right) as usize] += 1;
        }
        for (count, share) in counts.into_iter().zip([0.57, 0.19, 0.19, 0.05]) {
            assert!((f64::from(count) / 65_536.0 - share).abs() < 1e-4, "{counts:?}");
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
