//! Breadth-first search on a GPU.
//!
//! An algorithm is prepared once for a graph: memory is taken, the graph copied there, the kernels loaded. Then it
//! answers any number of searches, whose levels end on the device. What the papers describe is here as they describe
//! it, with a host loop that launches kernels for every level and asks after each whether there is another.

pub(crate) mod direction_optimizing;
pub(crate) mod level_parallel;
pub(crate) mod multi_hop;
pub(crate) mod queue;
pub(crate) mod scan;
pub(crate) mod vertex_parallel;

use std::fmt::Debug;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::device::memory::{DeviceSlice, Pinned, Pool};
use super::device::{Device, Function, LaunchShape};
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
    direction_optimizing::ALGORITHM,
    multi_hop::ALGORITHM,
    vertex_parallel::ALGORITHM,
    level_parallel::ALGORITHM,
    queue::ALGORITHM,
    scan::ALGORITHM,
    #[cfg(feature = "lab")]
    vertex_parallel::AS_PRINTED,
];

/// The algorithm predicted fastest for one search on this graph, by name, and why.
pub(crate) fn choose(graph: &Graph) -> (&'static str, String) {
    if let Some(reason) = multi_hop::suits(graph) {
        return (multi_hop::ALGORITHM.info.name, reason);
    }
    let directions = if graph.is_directed() && !graph.has_transpose() {
        "few levels are expected; top-down only, as the arcs by head are not at hand"
    } else {
        "few levels are expected"
    };
    (direction_optimizing::ALGORITHM.info.name, directions.into())
}

/// A shape in which all blocks run at once: as many as the device has room for, at most `most_blocks`, unless the
/// parameters `threads` and `blocks` say otherwise.
fn whole_device(
    device: &dyn Device,
    function: Function,
    parameters: &Parameters,
    most_threads: u32,
    most_blocks: u32,
) -> Result<LaunchShape> {
    let most_threads = most_threads.min(device.properties().threads_per_block);
    let threads = parameters.get("threads").unwrap_or(f64::from(most_threads));
    if threads > f64::from(most_threads) || threads % 32.0 != 0.0 {
        return Err(Error::invalid(format!("`threads={threads}` is not a multiple of 32 up to {most_threads}")));
    }
    let at_once = device.blocks_at_once(function, threads as u32, 0)?.min(most_blocks).max(1);
    let blocks = parameters.get("blocks").unwrap_or(f64::from(at_once));
    if blocks > f64::from(at_once) || blocks.fract() != 0.0 {
        return Err(Error::invalid(format!("`blocks={blocks}` is not a number from 1 to {at_once}")));
    }
    Ok(LaunchShape { cooperative: true, ..LaunchShape::line(blocks as u32, threads as u32) })
}

/// Waiting for a launch that takes long, and telling it when the search is cancelled.
#[derive(Debug)]
struct Waiting {
    /// What the kernel looks at, in memory that host and device share.
    flag: Pinned<u32>,
}

impl Waiting {
    fn new(device: &Arc<dyn Device>) -> Result<Self> {
        Ok(Waiting { flag: Pinned::new(device, 1)? })
    }

    /// The device's address of the flag.
    fn flag(&self) -> u64 {
        self.flag.address()
    }

    /// Launches and waits; returns how many seconds that took on the device.
    fn run(&self, device: &Arc<dyn Device>, control: &Control, launch: impl FnOnce() -> Result<()>) -> Result<f64> {
        /// Up to now waiting is done without sleeping.
        const SPINNING: Duration = Duration::from_millis(2);
        const SLEEP: Duration = Duration::from_micros(100);
        self.flag.set(0, u32::from(control.is_cancelled()));
        let before = device.record()?;
        launch()?;
        let after = device.record()?;
        let start = Instant::now();
        while !device.has_passed(&after)? {
            if control.is_cancelled() {
                self.flag.set(0, 1);
            }
            if start.elapsed() < SPINNING { std::hint::spin_loop() } else { std::thread::sleep(SLEEP) }
        }
        control.check()?;
        device.seconds_between(&before, &after)
    }
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
