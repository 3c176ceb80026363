//! All-pairs shortest paths by searches, seen from outside: rows of distances on the device, a batch at a time.
//!
//! A prepared algorithm holds the graph and room for the rows of a batch. A batch is begun and, later, waited for: in
//! between the host has time to bring home what became of the batch before ([`outgoing`](super::outgoing)). Rows begin
//! at cache lines. Whoever wants wider distances than a semiring has prepares again in another one.

use std::fmt::Debug;
use std::sync::Arc;

use rayon::prelude::*;

use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::cuda::device::Device;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::{Graph, VertexId};
use crate::hierarchy::{Hierarchy, Metric};
use crate::plan::Plan;
use crate::{Control, Error, Result};

/// Everything that preparing needs to know.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchesTask<'a> {
    /// The graph; weights are 0 or more.
    pub(crate) graph: &'a Graph,
    /// What distances are.
    pub(crate) semiring: DeviceSemiring,
    /// The parameters that the caller set.
    pub(crate) parameters: &'a Parameters,
    /// How many rows a batch has at most.
    pub(crate) rows: u64,
    /// The columns of the rows, if an algorithm makes no others: [`SearchesAlgorithm::targets_alone`].
    pub(crate) targets: Option<&'a [VertexId]>,
    /// The hierarchy of the graph, if there is one.
    pub(crate) hierarchy: Option<&'a Hierarchy>,
    /// Its lengths, which some algorithms need to be prepared.
    pub(crate) metric: Option<&'a Arc<Metric>>,
}

/// As many bytes as the rows of a batch have where more would not speed searches up.
pub(crate) const BATCH_BYTES: u64 = 1 << 30;

/// Makes searches ready on a device.
pub(crate) type Prepare = for<'g> fn(&Arc<dyn Device>, &SearchesTask<'g>) -> Result<Box<dyn Searches + 'g>>;

/// An all-pairs algorithm that searches.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchesAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// The semirings that it has, once weights are 0 or more.
    pub(crate) semirings: &'static [DeviceSemiring],
    /// Whether a hierarchy answers.
    pub(crate) needs_metric: bool,
    /// Whether rows have the distances of targets alone, in their order.
    pub(crate) targets_alone: bool,
    /// Bytes of the rows of a batch at most, unless the caller sets their number.
    pub(crate) batch_bytes: u64,
    /// What it takes, the graph included.
    pub(crate) plan: fn(&SearchesTask<'_>) -> Plan,
    /// Allocates the planned memory and makes everything ready.
    pub(crate) prepare: Prepare,
}

/// A graph on a device, ready to be searched from batches of sources.
pub(crate) trait Searches: Debug + Send {
    /// Begins a search from each of these sources: no more than there are rows.
    fn start(&mut self, sources: &[VertexId], control: &Control) -> Result<()>;

    /// Waits until the searches that were begun are done.
    fn finish(&mut self, control: &Control) -> Result<Finished>;

    /// Where the distances are that the last batch found, as the device has them, row by row.
    fn rows(&self) -> RowsOnDevice<'_>;
}

/// What a batch of searches tells when it is done.
#[derive(Debug)]
pub(crate) struct Finished {
    /// What they counted together.
    pub(crate) statistics: Statistics,
    /// The rows in which some walk was longer than the semiring's distances go.
    pub(crate) out_of_range: Vec<usize>,
}

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

impl SearchesAlgorithm {
    /// An error unless it has this semiring.
    pub(crate) fn check(&self, semiring: DeviceSemiring) -> Result<()> {
        if self.semirings.contains(&semiring) {
            return Ok(());
        }
        let semirings: Vec<_> = self.semirings.iter().map(|semiring| semiring.name()).collect();
        let (name, missing) = (self.info.name, semiring.name());
        Err(Error::invalid(format!(
            "`{name}` does not have the semiring {missing} on a GPU; it has {}",
            semirings.join(", ")
        )))
    }
}
