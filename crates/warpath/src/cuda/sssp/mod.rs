//! Single-source shortest paths on a GPU.
//!
//! An algorithm is prepared once for a graph: memory is taken, the graph copied there, the kernels of all the semirings
//! that its weights may need loaded. Then it answers any number of searches, whose distances end on the device. What
//! the papers describe is here as they describe it, with a host loop that launches kernels for every round and asks
//! after each whether there is another.
//!
//! On the device a distance is an unsigned number that orders as distances do (`kernels/sssp/semirings.cuh`). Narrow
//! integer distances that would leave their range raise a flag, and the solver repeats the search in the wide semiring,
//! on the same graph and memory.

pub(crate) mod bellman_ford;
pub(crate) mod counts;
mod edges;
pub(crate) mod many_sources;
pub(crate) mod mask;
pub(crate) mod multi_hop;
pub(crate) mod near_far;
mod negative_cycles;
pub(super) mod pairs;
pub(crate) mod partitioned;
pub(crate) mod predecessors;
pub(crate) mod regions;
mod rounds;
pub(in crate::cuda) mod short_rows;
pub(crate) mod work_efficient;
pub(crate) mod zero_copy;

use std::fmt::Debug;
use std::sync::Arc;

use self::predecessors::Derivation;
use super::apsp::hierarchy;
use super::device::arena::Arena;
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, Function, LaunchShape};
use super::graph::Extent;
use super::neighborhoods;
pub(in crate::cuda) use super::semirings::NON_NEGATIVE;
pub(crate) use super::semirings::{DeviceSemiring, MinPlusOnDevice, semirings_of};
use super::semirings::{MANY, start};
use crate::algorithms::{AlgorithmInfo, GraphFacts, Parameter, Parameters, Statistics, Unset, Values};
use crate::graph::{Csr, Graph, VertexId, WeightKind, Weights, with_weights};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Control, Error, Result};

/// One search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SsspTask<'a> {
    /// The graph that was prepared, as the host has it, if the host has it.
    pub(crate) graph: Option<&'a Graph>,
    /// One of the semirings of the graph's weights.
    pub(crate) semiring: DeviceSemiring,
    /// At least one vertex; none twice.
    pub(crate) sources: &'a [VertexId],
    /// If not empty, the search may stop when all of these are settled; the papers' algorithms settle all vertices.
    pub(crate) targets: &'a [VertexId],
    /// The search may stop beyond this distance, as the device has distances.
    pub(crate) cutoff: u64,
    /// Who may cancel.
    pub(crate) control: &'a Control,
    /// Whether to count what takes time to count.
    pub(crate) statistics: bool,
}

/// What a search tells when it is done.
#[derive(Debug)]
pub(crate) struct SsspOutcome {
    /// What it counted.
    pub(crate) statistics: Statistics,
    /// The sizes of the first frontiers, if they were asked for.
    pub(crate) frontiers: Vec<u32>,
    /// Whether some walk was longer than the semiring's distances go.
    pub(crate) out_of_range: bool,
}

/// An algorithm with a graph on a device, ready to search.
pub(crate) trait PreparedSssp: Debug + Send {
    /// Searches. When it returns the work is done, and every vertex up to the cutoff or the farthest target has its
    /// final distance on the device; others may have theirs, a greater one, or none: the solver removes them.
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome>;

    /// Where the distances are that the last search found.
    fn device_distances(&self) -> DeviceDistances<'_>;

    /// The same as the one algorithm that takes many searches at once, if it is that one.
    fn many_sources(&mut self) -> Option<&mut many_sources::ManySources> {
        None
    }

    /// The arrays to derive predecessors from on the device, after a search; `None` if they do not suffice, and the
    /// host derives them.
    fn derivation(&self) -> Option<Derivation<'_>> {
        None
    }
}

/// Distances on the device, as it has them.
#[derive(Debug, Clone)]
pub(crate) struct DeviceDistances<'a> {
    /// The memory they are in, but what is on further devices.
    pub(crate) pool: &'a Pool,
    /// As many words as the distances of all vertices are, in the semiring of the search; or of the first ones, and
    pub(crate) distances: DeviceSlice<u32>,
    /// those of the vertices after these, where further devices have them.
    pub(crate) further: Vec<(&'a Pool, DeviceSlice<u32>)>,
}

impl<'a> DeviceDistances<'a> {
    /// Those of all vertices on one device.
    pub(crate) fn of(pool: &'a Pool, distances: DeviceSlice<u32>) -> Self {
        DeviceDistances { pool, distances, further: Vec::new() }
    }

    /// The distances, which a search in this semiring found.
    pub(crate) fn read<L: MinPlusOnDevice>(&self) -> Result<Vec<L::Distance>> {
        let mut arrays = vec![(self.pool, self.distances)];
        arrays.extend(&self.further);
        L::read(&arrays)
    }
}

/// Makes a search ready on a device.
pub(crate) type Prepare = fn(&Arc<dyn Device>, &Graph, &Parameters) -> Result<Box<dyn PreparedSssp>>;

/// The same on several devices, which share the graph.
pub(crate) type PrepareOnSeveral = fn(&[Arc<dyn Device>], &Graph, &Parameters) -> Result<Box<dyn PreparedSssp>>;

/// A shortest-path algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SsspAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// The semirings that it has.
    pub(crate) semirings: &'static [DeviceSemiring],
    /// Whether it reads the transpose of the graph, with these parameters.
    pub(crate) needs_transpose: fn(&Parameters) -> bool,
    /// What it takes on the device, the graph included.
    pub(crate) plan: fn(&Graph, &Parameters) -> Plan,
    /// Allocates the planned memory and makes everything ready.
    pub(crate) prepare: Prepare,
    /// The same for an algorithm that takes several devices.
    pub(crate) prepare_on_several: Option<PrepareOnSeveral>,
}

/// Every single-source shortest-path algorithm of this engine.
pub(crate) static ALGORITHMS: &[SsspAlgorithm] = &[
    multi_hop::ALGORITHM,
    near_far::ALGORITHM,
    many_sources::ALGORITHM,
    mask::ALGORITHM,
    bellman_ford::ALGORITHM,
    work_efficient::ALGORITHM,
    zero_copy::ALGORITHM,
    partitioned::ALGORITHM,
    regions::ALGORITHM,
    #[cfg(feature = "lab")]
    mask::UNSYNCHRONIZED,
];

/// Sweeps over a hierarchy, which the solver runs: they need more than the graph.
pub(crate) static OVER_HIERARCHY: AlgorithmInfo = AlgorithmInfo {
    problem: Problem::Sssp,
    name: hierarchy::ALGORITHM.info.name,
    summary: "sweeps over shortcuts that are made once, for one source or hundreds at a time; integers of 0 or more, on graphs \
              with small separators",
    parameters: &[],
    ..hierarchy::ALGORITHM.info
};

/// The algorithm predicted fastest for a search on this graph, by name, and why.
pub(crate) fn choose(graph: &GraphFacts) -> (&'static str, String) {
    if let Some(reason) = multi_hop::suits(graph) {
        return (multi_hop::ALGORITHM.info.name, reason);
    }
    let is_float = matches!(graph.weight_kind, WeightKind::F32 | WeightKind::F64);
    if let (true, Some(reason)) = (is_float, neighborhoods::suits(graph)) {
        return (regions::ALGORITHM.info.name, reason);
    }
    let (name, reason) = match graph.weight_kind {
        WeightKind::I32 => (bellman_ford::ALGORITHM.info.name, "weights are signed"),
        _ => (near_far::ALGORITHM.info.name, "paths are expected to have few arcs"),
    };
    (name, reason.into())
}

impl SsspAlgorithm {
    /// An error unless it is right for this graph.
    pub(crate) fn check(&self, graph: &Graph) -> Result<()> {
        let name = self.info.name;
        if let Some(missing) = semirings_of(graph).iter().find(|semiring| !self.semirings.contains(semiring)) {
            let semirings: Vec<_> = self.semirings.iter().map(|semiring| semiring.name()).collect();
            return Err(Error::invalid(format!(
                "`{name}` does not have the semiring {} on a GPU; it has {}; engine cpu has all",
                missing.name(),
                semirings.join(", ")
            )));
        }
        if graph.has_negative_weights() && !self.info.negative_weights {
            return Err(Error::invalid(format!("`{name}` needs weights of 0 or more")));
        }
        if graph.has_negative_weights() && graph.weight_kind() != WeightKind::I32 {
            return Err(Error::invalid(format!("on a GPU, `{name}` takes weights below 0 only as integers")));
        }
        Ok(())
    }
}

/// How many words the distances of the graph's vertices take, in any of its semirings.
fn distance_words(graph: &impl Extent) -> u64 {
    graph.vertices() as u64 * semirings_of(graph).iter().map(|semiring| semiring.words()).max().unwrap_or(0)
}

/// Something for each semiring of a graph.
#[derive(Debug)]
struct OfSemiring<T>(Vec<(DeviceSemiring, T)>);

impl<T> OfSemiring<T> {
    fn new(graph: &impl Extent, make: impl FnMut(DeviceSemiring) -> Result<T>) -> Result<Self> {
        Self::of(semirings_of(graph), make)
    }

    fn of(semirings: &[DeviceSemiring], mut make: impl FnMut(DeviceSemiring) -> Result<T>) -> Result<Self> {
        Ok(OfSemiring(semirings.iter().map(|&semiring| Ok((semiring, make(semiring)?))).collect::<Result<_>>()?))
    }

    /// The same if nothing can fail.
    fn each(semirings: &[DeviceSemiring], mut make: impl FnMut(DeviceSemiring) -> T) -> Self {
        OfSemiring(semirings.iter().map(|&semiring| (semiring, make(semiring))).collect())
    }

    fn get(&self, semiring: DeviceSemiring) -> Result<&T> {
        let found = self.0.iter().find(|(there, _)| *there == semiring);
        found.map(|(_, value)| value).ok_or_else(|| Error::invalid("the graph has weights of another type"))
    }
}

/// Takes room for the weights of the arcs: for unit weights an array of ones.
fn layout_weights(arena: &mut Arena<'_>, graph: &impl Extent) -> DeviceSlice<u32> {
    let words = graph.weight_kind().bytes().max(4) / 4;
    arena.take("weights of the arcs", graph.arcs() as u64 * words)
}

/// Copies the weights of the arcs there, in stream order.
fn upload_weights(pool: &Pool, to: DeviceSlice<u32>, csr: &Csr) -> Result<()> {
    match csr.weights() {
        Weights::Unit(_) => pool.fill(to, 1),
        weights => with_weights!(weights, values => pool.upload(to, bytemuck::cast_slice(values))),
    }
}

/// Raises the flags of these vertices and lowers all others.
fn start_flags(pool: &Pool, flags: DeviceSlice<u8>, raised: &[VertexId]) -> Result<()> {
    if raised.len() < MANY {
        pool.fill(flags, 0)?;
        return raised.iter().try_for_each(|&v| pool.upload(flags.part(v.into(), 1), &[1]));
    }
    let mut start = vec![0; flags.length() as usize];
    raised.iter().for_each(|&v| start[v as usize] = 1);
    pool.upload(flags, &start)
}

/// How long an array of a flag for each vertex is: memory is filled in words of 4 bytes.
fn flags_of(vertices: u64) -> u64 {
    vertices.next_multiple_of(4)
}

/// The threads of a block of Rejaud's kernels, unless they are set.
const LAUNCHED_THREADS: u32 = 256;

/// How many threads and blocks Rejaud's kernels are launched with.
const LAUNCH: Parameter = Parameter {
    name: "launch",
    summary: "threads of a block and blocks, such as the report's 256x8, 384x5, 512x4, 768x2 and 1024x2",
    values: Values::Or(&Values::Launch, Unset::InWords(|| format!("{LAUNCHED_THREADS} and as many as run at once"))),
};

/// The most warps that a launch can have.
const MOST_WARPS: u32 = 1 << 16;

/// The shape that the parameter says, or the one that fills the device with these kernels as far as `most_warps` do.
fn launch_shape(
    device: &dyn Device,
    kernels: &[Function],
    parameters: &Parameters,
    shared_bytes_a_thread: u32,
    most_warps: u32,
) -> Result<LaunchShape> {
    let (threads, blocks) = match parameters.launch(LAUNCH.name) {
        Some(launch) => launch,
        None => {
            let at_once = kernels.iter().map(|&kernel| {
                device.blocks_at_once(kernel, LAUNCHED_THREADS, shared_bytes_a_thread * LAUNCHED_THREADS)
            });
            let at_once = at_once.collect::<Result<Vec<u32>>>()?.into_iter().min().unwrap_or(1);
            (LAUNCHED_THREADS, at_once.clamp(1, most_warps / (LAUNCHED_THREADS / 32)))
        }
    };
    let most = device.properties().threads_per_block;
    if threads > most || threads % 32 != 0 {
        return Err(Error::invalid(format!(
            "`launch={threads}x{blocks}`: a block has a multiple of 32 threads, up to {most}"
        )));
    }
    if u64::from(blocks) * u64::from(threads / 32) > u64::from(most_warps) {
        let most = most_warps / (threads / 32);
        return Err(Error::invalid(format!("`launch={threads}x{blocks}`: there are at most {most} such blocks")));
    }
    Ok(LaunchShape { shared_bytes: shared_bytes_a_thread * threads, ..LaunchShape::line(blocks, threads) })
}

#[cfg(test)]
mod tests;
