//! Rows of distances that searches have left on a device.

use rayon::prelude::*;

use crate::Result;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::{Graph, VertexId};

/// Rows of distances on a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowsOnDevice<'a> {
    /// The memory they are in.
    pub(crate) pool: &'a Pool,
    /// All of them.
    pub(crate) words: DeviceSlice<u32>,
    /// Distances from row to row.
    pub(crate) stride: u64,
}

impl RowsOnDevice<'_> {
    /// Whether a distance in this row left the range of its semiring: some arc leads from a vertex that has one to a vertex that
    /// has none. That a walk left it says little, since there may be a shorter one.
    pub(crate) fn leaves_range(&self, row: usize, semiring: DeviceSemiring, graph: &Graph) -> Result<bool> {
        let (words, vertices) = (semiring.words(), graph.vertices() as u64);
        let words = self.pool.read(self.words.part(row as u64 * self.stride * words, vertices * words))?;
        let lost = |is_reached: &(dyn Fn(usize) -> bool + Sync)| {
            (0..graph.vertices())
                .into_par_iter()
                .with_min_len(1024)
                .any(|u| is_reached(u) && graph.neighbors(u as VertexId).iter().any(|&v| !is_reached(v as usize)))
        };
        Ok(if semiring.words() == 1 {
            lost(&|v| u64::from(words[v]) != semiring.unreachable())
        } else {
            lost(&|v| u64::from(words[2 * v]) | u64::from(words[2 * v + 1]) << 32 != semiring.unreachable())
        })
    }
}
