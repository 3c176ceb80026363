//! Up to 64 breadth-first searches at once, one bit each, all levels of all of them in one launch.
//!
//! Whoever wants thousands of searches of one graph has them walk the same arcs thousands of times. Here each vertex has a
//! word that says which of 64 searches have *seen* it, and an arc is read once for all that go along it in the same level.
//! Where levels are many and narrow, as on roads, it is not the arcs that are shared but the levels: a barrier and a chain
//! of dependent accesses, some microseconds, are paid once for 64 searches, and their frontiers together are wide enough
//! to be worth a GPU.
//!
//! There is one word a vertex, and no frontier words:
//! - **Top-down** the queue has items of 16 bytes: a run of up to 64 arcs, and the searches that go along it. For each
//!   head, `atomicOr` of the word claims those that had not seen it; whoever claims writes their levels, looks up the arcs
//!   of the head and queues them. A vertex that is found from two tails in a level is queued twice, for different
//!   searches; levels in which that happens much are not searched top-down. There is nothing to clear, an item says where
//!   its arcs are, and a level needs one barrier: queue, arc, word, claim is the whole chain.
//! - **Bottom-up**, once a fair share of all arcs leaves the frontier, every vertex gathers the words of its tails until
//!   nothing is missing. What a tail had seen *before* the last level, the vertex would have seen by now, so the words
//!   themselves tell the frontier; a pass reads one array of them and writes another, without an atomic. Missing can only
//!   be what still goes on: searches without a frontier are left out, or a source in a corner of its own would keep all
//!   vertices looking to the end. Four arcs are taken by one lane, sixteen by eight, the rest by the whole warp.
//! - **The way back** is the difference of the two arrays.
//! - **The queue may be too small.** Each block has a part of it, and tells how much it found with its arrival at the
//!   barrier. What did not fit is in the words all the same: the next level is bottom-up.
//! - **Levels** are an array for each search, each written once: those of a bottom-up level by 32 lanes side by side, and
//!   at the end, by looking at the words, those of vertices that were never reached. Nothing is filled beforehand.
//!
//! Work O(V + E) times the levels in the worst case, and for 64 searches of a small world about three times the arcs of one;
//! span O(levels) barriers. Floors for 64 searches: their levels, 256 bytes a vertex, at 4 TB/s; a random load of a word
//! for every arc that is followed, 160 G/s while the words, 8 bytes a vertex, are in the L2 cache, and 40 G/s beyond; 1.5
//! to 2 microseconds a level (barrier 1.0, four accesses of 0.14 to 0.2). So 0.1 + 0.4 ms for 1 M vertices and 31 M
//! arcs of a Kronecker or uniform graph, 8 microseconds a search (an H200 takes 19 and 14); 1 to 2 ms for the 700 levels of the
//! roads of New York, 15 to 30 microseconds a search (67: two thirds of the levels are searched bottom-up). Compared with a
//! search alone it does not win where searches meet nowhere and have wide levels, as on a large grid.
//!
//! All sources of a table at once are begun without waiting for any launch; where the graph is small they are searched for in
//! blocks of their own instead ([`one_block`]), if that is predicted to be quicker.
//!
//! Memory: 4 bytes a vertex for each search of a batch, 16 for the words, the graph, a queue. With less of it batches are
//! narrower, and then the ends of the arcs stay in pinned memory of the host. All searches of a batch share what is read over the bus.
//!
//! Source: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal" (MS-BFS, and its
//! direction-optimized form); for one search as an algorithm of its own, all sources have the same bit.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

pub(in crate::cuda) mod arrays;

use std::sync::Arc;

use arrays::{Arrays, Batch, ByHead, MOST_BLOCKS, layout, queue_items};
pub(crate) use arrays::{plan, stride};

use super::one_block::{self, OneBlock, Places};
use super::predecessors::DeviceLevels;
use super::{BfsAlgorithm, BfsTask, PreparedBfs};
use crate::algorithms::{AlgorithmInfo, GraphFacts, Parameter, Parameters, Statistics, Unset, Values, Workload};
use crate::cuda::device::host_part::HostPart;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Arcs, Extent, has_wide_offsets};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, Waiting, threads_up_to, whole_device};
use crate::cuda::zero_copy::pinned_arcs;
use crate::graph::{Csr, Graph, VertexId};
use crate::problems::Problem;
use crate::{Control, Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "many-sources",
        summary: "up to 64 searches at once, one bit each; for many sources, unless their levels are wide and meet nowhere",
        source: "after Then et al. 2014",
        parameters: &[
            Parameter {
                name: "width",
                summary: "searches in a batch",
                values: Values::Or(&Values::AtLeast(1.0), Unset::InWords(|| format!("the most, {WIDEST}"))),
            },
            Parameter {
                name: "bottom-up",
                summary: "bottom-up once this share of all arcs leaves the frontier",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(BOTTOM_UP)),
            },
            Parameter {
                name: "top-down",
                summary: "top-down again once less than this share of all vertices is in it",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(TOP_DOWN)),
            },
            Parameter {
                name: "queue",
                summary: "items that a block can queue",
                values: Values::Or(
                    &Values::AtLeast(1.0),
                    Unset::InWords(|| "as many as fit a queue of twice the vertices".into()),
                ),
            },
            ARCS,
            threads_up_to::<MOST_THREADS>(),
            Parameter {
                name: "blocks",
                summary: "blocks, up to 256",
                values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
            },
        ],
        negative_weights: true,
        seconds: |work| {
            let launch = seconds_of_launch(&work.graph) + seconds_of_bus(&work.graph, work.parameters);
            work.searches.div_ceil(width(work.parameters).max(1)) as f64 * launch
        },
    },
    plan: |graph, parameters| plan(graph, width(parameters) as u64, are_on_host(parameters)),
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters, width(parameters) as u64)?)),
    prepare_on_several: None,
};

/// Where arcs are.
pub(crate) const ARCS: Parameter = Parameter {
    name: "arcs",
    summary: "where the arcs are: on the device, or in the host's memory, from where all searches of a batch read them over the bus",
    values: Values::Or(&Values::OneOf(&["device", HOST]), Unset::InWords(|| "device".into())),
};
/// In pinned memory of the host.
const HOST: &str = "host";

/// Whether these parameters leave the arcs to the host.
pub(crate) fn are_on_host(parameters: &Parameters) -> bool {
    parameters.word(ARCS.name) == Some(HOST)
}

/// The most searches in a batch: there are as many bits in a word.
pub(crate) const WIDEST: usize = 64;
/// The share of all arcs that ends a level top-down, unless it is set.
const BOTTOM_UP: f64 = 0.1;
/// The share of all vertices that ends levels bottom-up, unless it is set.
const TOP_DOWN: f64 = 0.02;
/// The most threads of a block.
const MOST_THREADS: u32 = 1024;
/// Threads count a little beyond the last vertex.
const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);

/// How many searches a batch can have.
fn width(parameters: &Parameters) -> usize {
    parameters.get("width").map_or(WIDEST, |width| width.min(WIDEST as f64) as usize)
}

/// Predicted seconds of a launch with the most searches.
fn seconds_of_launch(graph: &GraphFacts) -> f64 {
    /// A launch with the barriers of about eight levels, as measured on graphs of 4,039 and 82,168 vertices.
    const LAUNCH: f64 = 125e-6;
    /// Levels a second, where levels are short and where they are wide; there a search passes over all arcs a few
    /// times, at this rate.
    const NARROW: f64 = 4.5e9;
    const WIDE: f64 = 200e9;
    const ARCS: f64 = 100e9;
    const PASSES: f64 = 3.0;
    let levels = WIDEST as f64 * graph.vertices as f64;
    let searching =
        if graph.has_short_levels() { levels / NARROW } else { levels / WIDE + PASSES * graph.arcs as f64 / ARCS };
    LAUNCH + searching
}

/// What a launch takes longer if arcs come over the bus.
fn seconds_of_bus(graph: &GraphFacts, parameters: &Parameters) -> f64 {
    /// Bytes a second, and how many times a launch reads all arcs.
    const BUS: f64 = 51e9;
    const PASSES: f64 = 1.5;
    if are_on_host(parameters) { PASSES * 4.0 * graph.arcs as f64 / BUS } else { 0.0 }
}

/// Predicted seconds of searches if the host waits for none of them: by launches of the whole device or one search a
/// block, whichever is sooner.
pub(crate) fn seconds_without_waiting(work: &Workload<'_>) -> f64 {
    one_block::seconds_at_best(work, (ALGORITHM.info.seconds)(work))
}

/// Allocates the planned memory, with levels of this many searches, at least a batch, and makes everything ready.
pub(crate) fn prepare(
    device: &Arc<dyn Device>,
    graph: &Graph,
    parameters: &Parameters,
    rows: u64,
) -> Result<ManySources> {
    let facts = GraphFacts::without_weights(graph);
    if are_on_host(parameters) && parameters.word(one_block::DISTANCES.name).is_some() {
        return Err(Error::invalid(
            "`distances` is for searches in blocks of their own, which `arcs=host` has none of",
        ));
    }
    if !are_on_host(parameters) {
        return with_arcs(device, graph, &facts, parameters, rows, |pool, arcs| arcs.upload(pool, graph.csr()));
    }
    laid_out(device, graph, &facts, parameters, rows, |pool, arrays| {
        let mut parts = Vec::new();
        let mut place = |arcs: &mut Arcs, csr: &Csr| {
            arcs.offsets.upload(pool, csr)?;
            let ends = csr.targets();
            let part = pinned_arcs(device, ends.len(), |arc| ends[arc])?;
            arcs.targets = DeviceSlice::new(part.address(), ends.len() as u64);
            parts.push(part);
            Ok::<_, Error>(())
        };
        place(&mut arrays.arcs, graph.csr())?;
        if let Some(ByHead::OnHost(arcs)) = &mut arrays.by_head {
            place(arcs, graph.transpose()?)?;
        }
        Ok(parts)
    })
}

/// The same of a graph whose arcs by tail `fill` puts in place.
pub(in crate::cuda) fn with_arcs(
    device: &Arc<dyn Device>,
    graph: &impl Extent,
    facts: &GraphFacts,
    parameters: &Parameters,
    rows: u64,
    fill: impl FnOnce(&Pool, Arcs) -> Result<()>,
) -> Result<ManySources> {
    laid_out(device, graph, facts, parameters, rows, |pool, arrays| {
        fill(pool, arrays.arcs)?;
        if let Some(ByHead::Made(by_head)) = arrays.by_head {
            by_head.make(pool, arrays.arcs)?;
        }
        Ok(Vec::new())
    })
}

/// The same, where `fill` puts everything of the graph in place, and returns what of it the host has.
fn laid_out(
    device: &Arc<dyn Device>,
    graph: &impl Extent,
    facts: &GraphFacts,
    parameters: &Parameters,
    rows: u64,
    fill: impl FnOnce(&Pool, &mut Arrays) -> Result<Vec<HostPart>>,
) -> Result<ManySources> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    if let Some(width) = parameters.get("width").filter(|width| *width > WIDEST as f64 || width.fract() != 0.0) {
        return Err(Error::invalid(format!("`width={width}` is not a number from 1 to {WIDEST}")));
    }
    let width = width(parameters).min(rows as usize);
    let wide = has_wide_offsets(graph);
    let name = if wide { "bfs_many_sources_64" } else { "bfs_many_sources_32" };
    let search = device.function(&images::BFS_MANY_SOURCES, name)?;
    let shape = whole_device(&**device, search, parameters, MOST_THREADS, MOST_BLOCKS)?;

    let on_host = are_on_host(parameters);
    let (pool, mut arrays) = Pool::lay_out(device, |arena| layout(arena, graph, rows, on_host))?;
    let host_parts = fill(&pool, &mut arrays)?;
    let waiting = Waiting::new(device)?;
    let capacity = (queue_items(graph) / u64::from(shape.grid[0])) as u32;
    let arguments = arrays.arguments(graph, parameters, capacity, &waiting);
    let Arrays { arcs, levels, sources, reports, .. } = arrays;
    let places = Places { arcs, levels, stride: stride(graph), reports, sources, cancelled: waiting.cancelled() };
    // A block would read all arcs over the bus, and so would every other one.
    let one_block = match on_host {
        true => None,
        false => OneBlock::prepare(&**device, facts, parameters, shape.block[0], places)?,
    };
    let seconds_of_launch = one_block.as_ref().map_or(0.0, |_| seconds_of_launch(facts));
    Ok(ManySources {
        pool,
        one_block,
        seconds_of_launch,
        search,
        shape,
        arguments,
        arrays,
        width,
        vertices: graph.vertices() as u64,
        waiting,
        begun: Begun::default(),
        _host_parts: host_parts,
    })
}

/// A graph on a device, and room for a batch of searches.
#[derive(Debug)]
pub(crate) struct ManySources {
    pool: Pool,
    /// The other way to many searches, if there is room for it.
    pub(super) one_block: Option<OneBlock>,
    /// What it is compared with.
    seconds_of_launch: f64,
    search: Function,
    shape: LaunchShape,
    arguments: Batch,
    arrays: Arrays,
    width: usize,
    vertices: u64,
    waiting: Waiting,
    begun: Begun,
    /// Dropped after the pool, which waits for the device.
    _host_parts: Vec<HostPart>,
}

/// The searches started last.
#[derive(Debug, Clone, Copy, Default)]
struct Begun {
    launches: usize,
    reports: usize,
    /// Searches that a block has done without others.
    in_one_block: usize,
}

impl ManySources {
    /// How many searches a batch can have.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Searches from each of these sources, which may be equal.
    ///
    /// # Panics
    ///
    /// If they are more than a batch can have.
    pub(crate) fn search_each(&mut self, sources: &[VertexId], cutoff: u32, control: &Control) -> Result<Statistics> {
        assert!(sources.len() <= self.width, "more sources than a batch has searches");
        self.run(sources, sources.len() as u32, cutoff, control)
    }

    /// Begins a search from each of these sources, which may be equal: each with as many others as a block can have, or,
    /// where that does not pay, with a launch for every batch of them, one after another. The levels of the first go to
    /// the first row, and so on.
    ///
    /// # Panics
    ///
    /// If they are more than there are rows.
    pub(crate) fn start_each(&mut self, sources: &[VertexId], control: &Control) -> Result<()> {
        let rows = self.arrays.levels.length() / self.arguments.stride.max(1);
        assert!(sources.len() as u64 <= rows, "more sources than there are rows");
        self.pool.upload(self.arrays.sources, sources)?;
        let launches = sources.len().div_ceil(self.width);
        let of_launches = launches as f64 * self.seconds_of_launch;
        let in_one_block = self.one_block.as_ref().filter(|one_block| one_block.pays(sources.len(), of_launches));
        let mut begun = Begun { launches, reports: launches, in_one_block: 0 };
        self.waiting.start(self.pool.device(), control, || match in_one_block {
            Some(one_block) => {
                let reports = one_block.launch(&**self.pool.device(), sources.len())?;
                begun = Begun { launches: 1, reports, in_one_block: sources.len() };
                Ok(())
            }
            None => self.launch_each(sources),
        })?;
        self.begun = begun;
        Ok(())
    }

    /// A launch for every batch of sources, which the device has.
    fn launch_each(&self, sources: &[VertexId]) -> Result<()> {
        for (index, batch) in sources.chunks(self.width).enumerate() {
            let first = (index * self.width) as u64;
            self.pool.fill(self.arrays.arrivals, 0)?;
            self.launch(Batch {
                levels: self.arrays.levels.part(first * self.arguments.stride, 0).as_mut_ptr(),
                sources: self.arrays.sources.part(first, 0).as_ptr(),
                report: self.arrays.reports.part(index as u64, 1).words().as_mut_ptr(),
                source_count: batch.len() as u32,
                searches: batch.len() as u32,
                cutoff: u32::MAX,
                ..self.arguments
            })?;
        }
        Ok(())
    }

    /// Waits until the searches that were begun are done.
    pub(crate) fn finish(&mut self, control: &Control) -> Result<Statistics> {
        let seconds = self.waiting.finish(self.pool.device(), control)?;
        let reports = self.pool.read(self.arrays.reports.part(0, self.begun.reports as u64))?;
        let sum = |of: usize| reports.iter().map(|report| u64::from(report[of])).sum();
        Ok(vec![
            ("searches_in_one_block", self.begun.in_one_block as u64),
            ("levels", sum(0)),
            ("bottom_up_levels", sum(1)),
            ("kernel_launches", self.begun.launches as u64),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }

    /// Where the levels are, row by row, and the memory that they are in.
    pub(crate) fn rows(&self) -> (&Pool, DeviceSlice<u32>) {
        (&self.pool, self.arrays.levels)
    }

    /// Launches a batch.
    fn launch(&self, batch: Batch) -> Result<()> {
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects; all blocks of the shape
        // run at once.
        unsafe { self.pool.device().launch(self.search, &self.shape, arguments![batch]) }
    }

    /// What the last batch found from the source of this number.
    pub(crate) fn found_from(&self, index: usize) -> DeviceLevels<'_> {
        DeviceLevels::with_arcs(
            &self.pool,
            self.arrays.levels.part(index as u64 * self.arguments.stride, self.vertices),
            (self.arrays.arcs, self.arrays.sources.part(0, self.vertices)),
        )
    }

    /// Runs this many searches: one from each source, or one from all.
    fn run(&mut self, sources: &[VertexId], searches: u32, cutoff: u32, control: &Control) -> Result<Statistics> {
        self.pool.upload(self.arrays.sources, sources)?;
        self.pool.fill(self.arrays.arrivals, 0)?;
        let batch = Batch { source_count: sources.len() as u32, searches, cutoff, ..self.arguments };
        let seconds = self.waiting.run(self.pool.device(), control, || self.launch(batch))?;
        let [[levels, bottom_up_levels]] = self.pool.read_array(self.arrays.reports)?;
        Ok(vec![
            ("searches_in_a_batch", searches.into()),
            ("levels", levels.into()),
            ("bottom_up_levels", bottom_up_levels.into()),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }
}

impl PreparedBfs for ManySources {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        self.run(task.sources, 1, task.cutoff, task.control)
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        self.found_from(0)
    }

    fn many_sources(&mut self) -> Option<&mut ManySources> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
