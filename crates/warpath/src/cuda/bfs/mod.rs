//! Breadth-first search on a GPU.
//!
//! An algorithm is prepared once for a graph: memory is taken, the graph copied there, the kernels loaded. Then it
//! answers any number of searches, whose levels end on the device. What the papers describe is here as they describe
//! it, with a host loop that launches kernels for every level and asks after each whether there is another.

pub(crate) mod level_parallel;
pub(crate) mod queue;
pub(crate) mod scan;
pub(crate) mod vertex_parallel;

use std::fmt::Debug;
use std::sync::Arc;

use super::device::Device;
use super::device::memory::{DeviceSlice, Pool};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::UNREACHED;
use crate::{Control, Error, Result};

/// One search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BfsTask<'a> {
    /// At least one vertex; none twice.
    pub(crate) sources: &'a [VertexId],
    /// If not empty, the search may stop when all of these are settled.
    #[allow(dead_code, reason = "the papers' algorithms search on")]
    pub(crate) targets: &'a [VertexId],
    /// The search may stop beyond this level.
    pub(crate) cutoff: u32,
    /// Who may cancel.
    pub(crate) control: &'a Control,
}

/// An algorithm with a graph on a device, ready to search.
pub(crate) trait PreparedBfs: Debug + Send {
    /// Searches. When it returns the work is done, and every vertex up to the cutoff or the farthest target has its
    /// final level on the device; others may have theirs or none, or one beyond the cutoff: the solver removes them.
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics>;

    /// The levels that the last search found, [`UNREACHED`] where there is none.
    fn levels(&self) -> Result<Vec<u32>>;
}

/// A breadth-first search algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BfsAlgorithm {
    /// What is known of it before it runs.
    pub(crate) info: AlgorithmInfo,
    /// What it takes on the device, the graph included.
    pub(crate) plan: fn(&Graph) -> Plan,
    /// Takes what was planned and makes everything ready.
    pub(crate) prepare: fn(&Arc<dyn Device>, &Graph, &Parameters) -> Result<Box<dyn PreparedBfs>>,
}

/// Every breadth-first search algorithm of this engine.
pub(crate) static ALGORITHMS: &[BfsAlgorithm] = &[
    vertex_parallel::ALGORITHM,
    level_parallel::ALGORITHM,
    queue::ALGORITHM,
    scan::ALGORITHM,
    #[cfg(feature = "lab")]
    vertex_parallel::AS_PRINTED,
];

/// The algorithm predicted fastest for one search on this graph, by name, and why.
pub(crate) fn choose(_graph: &Graph) -> (&'static str, String) {
    (queue::ALGORITHM.info.name, "the least work for each level".to_owned())
}

/// The parameter that every algorithm with one thread an item has.
const THREADS: Parameter =
    Parameter { name: "threads", summary: "threads in a block, a power of two; 256", minimum: 32.0 };

/// How many threads a block gets.
fn threads(parameters: &Parameters, device: &dyn Device) -> Result<u32> {
    let threads = parameters.get(THREADS.name).unwrap_or(256.0);
    let most = device.properties().threads_per_block;
    if threads > f64::from(most) || threads.fract() != 0.0 || !(threads as u32).is_power_of_two() {
        return Err(Error::invalid(format!("`threads={threads}` is not a power of two from 32 to {most}")));
    }
    Ok(threads as u32)
}

/// Gives every vertex no level, and the sources level 0.
fn start(pool: &Pool, levels: DeviceSlice<u32>, sources: &[VertexId]) -> Result<()> {
    pool.fill(levels, UNREACHED)?;
    sources.iter().try_for_each(|&source| pool.upload(levels.part(u64::from(source), 1), &[0]))
}

/// Expands level after level, until `expand` says that there is no further one or the cutoff is reached; returns how
/// many were expanded.
fn each_level(task: &BfsTask<'_>, mut expand: impl FnMut(u32) -> Result<bool>) -> Result<u32> {
    let (mut level, mut more) = (0, true);
    task.control.check()?;
    while more && level < task.cutoff {
        more = expand(level)?;
        level += 1;
        task.control.check()?;
    }
    Ok(level)
}
