//! Dense random digraphs: an arc from every vertex to every other, with random weights.
//!
//! The input of the dense all-pairs algorithms, whose work depends on the number of vertices alone. Weights are uniform
//! integers from 1 to 100 unless the recipe says otherwise; the two arcs between two vertices differ.
//!
//! Work O(n^2), in parallel; rows are written where they stay, without a list of edges.

use rayon::prelude::*;

use super::spec::Options;
use super::{Edges, Generator, GeneratorInfo, WeightRange};
use crate::graph::{Csr, Weights};
use crate::{Result, memory};

pub(super) const INFO: GeneratorInfo = GeneratorInfo {
    name: "dense",
    size: "VERTICES",
    summary: "dense random digraph: an arc between any two vertices, weights 1..100",
    source: "textbook",
    options: &[],
};

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Dense {
    vertices: u64,
}

impl Dense {
    pub(super) fn parse(options: &Options<'_>) -> Result<Self> {
        Ok(Dense { vertices: options.vertices(1)? })
    }
}

impl Generator for Dense {
    fn vertices(&self) -> u64 {
        self.vertices
    }

    fn edges(&self) -> u64 {
        self.vertices * (self.vertices - 1)
    }

    fn is_directed(&self) -> bool {
        true
    }

    fn draws_rows(&self) -> bool {
        true
    }

    fn default_weights(&self) -> Option<WeightRange> {
        Some(WeightRange { low: 1, high: 100 })
    }

    fn draw(&self, _seed: u64) -> Result<Edges> {
        let degree = self.vertices - 1;
        let mut offsets = memory::with_capacity("offsets of vertices", self.vertices as usize + 1)?;
        offsets.extend((0..=self.vertices).map(|v| v * degree));
        let mut targets: Vec<u32> = memory::zeroed("heads of arcs", self.edges() as usize)?;
        targets.par_chunks_mut(degree.max(1) as usize).zip(0..self.vertices as u32).for_each(|(row, v)| {
            let others = (0..v).chain(v + 1..self.vertices as u32);
            row.iter_mut().zip(others).for_each(|(slot, head)| *slot = head);
        });
        let weights = Weights::unit(targets.len());
        Ok(Edges::Rows(Csr::trusted(offsets, targets, weights)))
    }
}

#[cfg(test)]
mod tests {
    use crate::generate;
    use crate::graph::{Csr, Weights};

    #[test]
    fn every_pair_is_there_with_a_weight() {
        for vertices in [1_usize, 2, 3, 70] {
            let graph = generate(&format!("dense:{vertices}")).unwrap();
            assert!(graph.is_directed());
            assert_eq!(graph.arcs(), vertices * (vertices - 1));
            for v in 0..vertices as u32 {
                assert!(graph.neighbors(v).iter().copied().eq((0..vertices as u32).filter(|&u| u != v)));
            }
            let csr = graph.csr();
            assert!(Csr::new(csr.offsets().to_vec(), csr.targets().to_vec(), csr.weights().clone()).is_ok());
        }
        let Weights::U32(weights) = generate("dense:70").unwrap().weights().clone() else { panic!("not u32") };
        assert_eq!((weights.iter().min(), weights.iter().max()), (Some(&1), Some(&100)));
    }
}
