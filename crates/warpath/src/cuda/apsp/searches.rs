//! All-pairs shortest paths by searches, seen from outside: rows of distances on the device, a batch at a time.
//!
//! A prepared algorithm holds the graph and room for the rows of a batch. A batch is begun and, later, waited for: in
//! between the host has time to bring home what became of the batch before ([`outgoing`](super::outgoing)). Rows begin
//! at cache lines. Whoever wants wider distances than a semiring has prepares again in another one.

use std::fmt::Debug;
use std::sync::Arc;

use super::outgoing::RawFacts;
use super::rows::RowsOnDevice;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::cuda::device::Device;
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::{Graph, VertexId, WeightKind};
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
    /// The sources of the first batch, as far as they are known: what they need on the host can be made while the graph is copied.
    pub(crate) first: &'a [VertexId],
    /// The columns of the rows, if an algorithm makes no others: [`SearchesAlgorithm::targets_alone`].
    pub(crate) targets: Option<&'a [VertexId]>,
    /// Whether facts about rows are wanted, and no rows: [`SearchesAlgorithm::facts_alone`].
    pub(crate) facts: bool,
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
    /// Whether it can gather facts about rows without making rows of all vertices, and how much less memory a row takes then.
    pub(crate) facts_alone: Option<u64>,
    /// This algorithm with ever less on the device: the first is taken that has room for a batch of `few_rows`.
    pub(crate) layouts: fn(WeightKind, &Parameters) -> &'static [&'static str],
    /// If a batch has room for fewer rows, it pays to leave more to the host.
    pub(crate) few_rows: u64,
    /// Whether it searches as a batch is begun, so that nothing else goes on meanwhile.
    pub(crate) searches_at_start: bool,
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

    /// Makes ready on the host what the batch after the one that was begun will need, while the device is busy. It need not be started.
    fn expect(&mut self, _sources: &[VertexId]) -> Result<()> {
        Ok(())
    }

    /// Waits until the searches that were begun are done.
    fn finish(&mut self, control: &Control) -> Result<Finished>;

    /// Where the distances are that the last batch found, as the device has them, row by row.
    fn rows(&self) -> RowsOnDevice<'_>;

    /// The facts about this many rows of the last batch, if they are all that is wanted.
    fn facts(&self, rows: usize) -> Result<Vec<RawFacts>> {
        Err(Error::Device(format!("the device has made {rows} rows instead of facts about them")))
    }
}

/// What a batch of searches tells when it is done.
#[derive(Debug)]
pub(crate) struct Finished {
    /// What they counted together.
    pub(crate) statistics: Statistics,
    /// The rows in which some walk was longer than the semiring's distances go.
    pub(crate) out_of_range: Vec<usize>,
}

impl SearchesAlgorithm {
    /// Its layouts for weights of this type, and their parameters with those that the caller set. If some layout has one of these, the
    /// caller has chosen.
    pub(crate) fn layouts(&self, kind: WeightKind, set: &Parameters) -> Vec<(&'static str, Parameters)> {
        let layouts = (self.layouts)(kind, set).iter();
        let parsed = layouts.filter_map(|&layout| self.info.parameters_in(layout).ok().map(|parsed| (layout, parsed)));
        let layouts: Vec<(&str, Parameters)> = parsed.collect();
        if layouts.is_empty() || layouts.iter().any(|(_, layout)| set.overlaps(layout)) {
            return vec![(self.info.name, set.clone())];
        }
        layouts.into_iter().map(|(layout, parsed)| (layout, set.clone().or(&parsed))).collect()
    }

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
