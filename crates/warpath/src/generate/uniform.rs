//! Uniform random graphs G(n, m): `m` different edges, every set of them as likely as any other.
//!
//! Degrees are nearly equal (binomial), the diameter is logarithmic, and there is no locality: each access to a
//! neighbour misses the cache, which makes these graphs the hardest case for memory. Edge `i` is the `i`-th pair of
//! vertices in a random order of all pairs, so edges are distinct, without loops, and exactly `m`.
//!
//! Work O(edges), fully parallel.
//!
//! Source: P. Erdős, A. Rényi, On random graphs I, 1959.

use super::random::RandomPairs;
use super::spec::Options;
use super::{Edges, Generator, GeneratorInfo, purpose};
use crate::Result;
use crate::graph::MAX_VERTICES;

pub(super) const INFO: GeneratorInfo = GeneratorInfo {
    name: "uniform",
    size: "SCALE",
    summary: "uniform random graph G(n, m) with n = 2^SCALE: equal degrees, no locality",
    source: "Erdős and Rényi 1959",
    options: &[super::EDGES_PER_VERTEX],
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Uniform {
    scale: u32,
    edges_per_vertex: u64,
}

impl Uniform {
    pub(super) fn parse(options: &Options<'_>) -> Result<Self> {
        let recipe = Uniform { scale: options.scale()?, edges_per_vertex: options.edges_per_vertex()? };
        // More pairs than 2^64 have no number each.
        if recipe.vertices() > MAX_VERTICES {
            return Err(options.error(format!("`{}` is not a scale from 0 to {}", options.size, MAX_VERTICES.ilog2())));
        }
        let possible = RandomPairs::count(recipe.vertices());
        if recipe.edges() > possible {
            return Err(options.error(format!(
                "{} vertices have room for {possible} different edges, not for {}",
                recipe.vertices(),
                recipe.edges()
            )));
        }
        Ok(recipe)
    }
}

impl Generator for Uniform {
    fn vertices(&self) -> u64 {
        1 << self.scale
    }

    fn edges(&self) -> u64 {
        self.vertices().saturating_mul(self.edges_per_vertex)
    }

    fn draw(&self, seed: u64) -> Result<Edges> {
        let pairs = RandomPairs::new(seed, purpose::EDGES, self.vertices());
        Ok(Edges::by_index(self.edges(), move |index| pairs.at(index)))
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;

    #[test]
    fn edges_are_distinct_and_degrees_binomial() {
        let graph = generate("uniform:14,edges-per-vertex=8").unwrap();
        assert_eq!((graph.vertices(), graph.arcs()), (1 << 14, 16 << 14));
        let counts = graph.input_counts();
        assert_eq!((counts.self_loops, counts.parallel), (0, 0));
        // The variance of a degree is its mean, 16; its estimate from 16,384 vertices deviates by about 0.18.
        let variance = (0..1 << 14).map(|v| (graph.degree(v) as f64 - 16.0).powi(2)).sum::<f64>() / f64::from(1 << 14);
        assert!((variance - 16.0).abs() < 0.9, "{variance}");
        // Ends are uniform: in each sixteenth of the ids a sixteenth of the arcs.
        for part in 0..16 {
            let arcs: usize = (part << 10..(part + 1) << 10).map(|v| graph.degree(v)).sum();
            assert!(arcs.abs_diff(16 << 10) < 700, "{arcs}");
        }
    }

    #[test]
    fn a_complete_graph_is_possible_and_more_is_not() {
        let graph = generate("uniform:3,edges-per-vertex=3").unwrap();
        assert_eq!(graph.arcs(), 48);
        let error = generate("uniform:3,edges-per-vertex=4").unwrap_err().to_string();
        assert!(error.ends_with("8 vertices have room for 28 different edges, not for 32"), "{error}");
    }
}
