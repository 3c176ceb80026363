//! Scale-free graphs after the recipe of Harish and Narayanan: a few vertices of high degree among many of low degree.
//!
//! Of the vertices, 0.1 % (rounded up) are hubs with 100 to 1,000 edges each, uniformly. All other edges join two
//! ordinary vertices chosen uniformly; their number makes the average degree 6. (The paper gives the share, the
//! greatest degree and the average, but not the distribution of the hubs' degrees.) The other ends of a hub's edges
//! are different ordinary vertices, so no edge repeats and there are exactly three edges a vertex. Which vertices are
//! hubs is random.
//!
//! Work O(edges), fully parallel.
//!
//! Source: P. Harish, P. J. Narayanan, Accelerating large graph algorithms on the GPU using CUDA, HiPC 2007, section 4.

use super::random::{Permutation, RandomPairs, Stream};
use super::spec::Options;
use super::{Edges, Generator, GeneratorInfo, purpose};
use crate::Result;

pub(super) const INFO: GeneratorInfo = GeneratorInfo {
    name: "scale-free",
    size: "VERTICES",
    summary: "a thousandth of the vertices has up to 1,000 edges, the average degree is 6",
    source: "Harish and Narayanan 2007, section 4",
    options: &[],
};

const VERTICES_PER_HUB: u64 = 1000;
const GREATEST_DEGREE: u64 = 1000;
const LEAST_HUB_DEGREE: u64 = 100;
const EDGES_PER_VERTEX: u64 = 3;
/// With fewer vertices there is no room for that many edges.
const LEAST_VERTICES: u64 = 8;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct ScaleFree {
    vertices: u64,
}

impl ScaleFree {
    pub(super) fn parse(options: &Options<'_>) -> Result<Self> {
        Ok(ScaleFree { vertices: options.vertices(LEAST_VERTICES)? })
    }

    fn hubs(&self) -> u64 {
        self.vertices.div_ceil(VERTICES_PER_HUB)
    }
}

impl Generator for ScaleFree {
    fn vertices(&self) -> u64 {
        self.vertices
    }

    fn edges(&self) -> u64 {
        EDGES_PER_VERTEX * self.vertices
    }

    fn draw(&self, seed: u64) -> Result<Edges> {
        // Hubs come after the ordinary vertices; `names` then hides which is which.
        let ordinary = self.vertices - self.hubs();
        let greatest = GREATEST_DEGREE.min(ordinary);
        let least = LEAST_HUB_DEGREE.min(greatest);
        let degrees = Stream::new(seed, purpose::DEGREES);
        let mut hub_edges = 0;
        let mut first_edges = Vec::new();
        let mut neighbors = Vec::new();
        for hub in 0..self.hubs() {
            first_edges.push(hub_edges);
            hub_edges += least + degrees.below(hub, greatest - least + 1);
            neighbors.push(Permutation::new(seed, purpose::HUBS + hub, ordinary));
        }
        let pairs = RandomPairs::new(seed, purpose::EDGES, ordinary);
        let names = Permutation::new(seed, purpose::NAMES, self.vertices);
        Ok(Edges::by_index(self.edges(), move |index| {
            let (u, v) = if index < hub_edges {
                let hub = first_edges.partition_point(|&first| first <= index) - 1;
                (ordinary + hub as u64, neighbors[hub].at(index - first_edges[hub]))
            } else {
                pairs.at(index - hub_edges)
            };
            (names.at(u), names.at(v))
        }))
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;

    #[test]
    fn a_thousandth_are_hubs_and_the_average_degree_is_6() {
        let graph = generate("scale-free:20000").unwrap();
        assert_eq!((graph.vertices(), graph.arcs()), (20_000, 120_000));
        let counts = graph.input_counts();
        assert_eq!((counts.self_loops, counts.parallel), (0, 0));
        let hubs: Vec<u32> = (0..20_000).filter(|&v| graph.degree(v) >= 100).collect();
        assert_eq!(hubs.len(), 20);
        assert!(hubs.iter().all(|&v| graph.degree(v) <= 1000));
        assert!(hubs[0] < 5000 && hubs[19] > 15_000, "{hubs:?}");
        let mean = hubs.iter().map(|&v| graph.degree(v)).sum::<usize>() / 20;
        assert!((350..750).contains(&mean), "{mean}");
        let ordinary = (0..20_000).map(|v| graph.degree(v)).filter(|&degree| degree < 100).max().unwrap();
        assert!(ordinary < 30, "{ordinary}");
    }

    #[test]
    fn small_ones_have_room() {
        for vertices in (8..40).chain([300, 999, 1000, 1001]) {
            let graph = generate(&format!("scale-free:{vertices}")).unwrap();
            assert_eq!(graph.arcs(), 6 * vertices, "{vertices}");
        }
        assert!(generate("scale-free:7").is_err());
    }
}
