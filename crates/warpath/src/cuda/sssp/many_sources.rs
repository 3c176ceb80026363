//! Shortest paths from many sources in one launch: hundreds of searches at once, each by one block.
//!
//! A search alone cannot fill a GPU where paths are long: on roads a thousand vertices are ready at a time, and every
//! step costs a barrier of the grid and a chain of dependent accesses. Here a block takes the next source from a counter
//! and searches alone. Its barriers are those of a block, 0.04 microseconds instead of 1, and while it waits for memory
//! the eight or nine other blocks of its multiprocessor, and those of the 131 others, go on. What a source costs is then no
//! longer the length of the chain, but the number of accesses.
//!
//! A block works in steps. It has a *near queue*, of vertices and distances below a threshold, in shared memory, and a *far pile*, of
//! those above, in memory of its own. A step relaxes the arcs of all that is in the queue.
//! - **No marks.** Whatever falls is queued with the distance it fell to, and is passed over later if that is not its
//!   distance any more. A distance falls to a value only once, so nothing is expanded twice with the same.
//! - **The threshold does not wait.** As soon as the queue has less than a quarter of the wanted number, 256 vertices
//!   or a quarter of the pile, it is filled up from the pile: the threshold moves to the least distance there, plus
//!   delta. So near vertices need not settle before farther ones begin, as in stepping algorithms; steps stay full, and
//!   hardly anything is expanded in vain, since the wanted number is small.
//! - **Delta follows:** a quarter more when too little was found, a fifth less when too much was, or when distances fall
//!   more than twice as often as vertices are reached. When the queue overflows, as where a tail leads into a
//!   dense part, delta is halved and the threshold goes back at once.
//! - **Queues that are full lose nothing.** What has no room in the near queue goes to the far pile. Before that is full
//!   it is purged of outdated entries; if it still overflows, the least distance that was lost is kept, and when
//!   nothing nearer is left all vertices from there on are looked at.
//! - **Rows are shared out:** a warp spreads the arcs of 32 vertices over its lanes; rows of more than 512 arcs are taken by
//!   the whole block.
//! - **Small graphs in shared memory.** Where the distances of a search fit there, they are there: 15 nanoseconds instead of
//!   142, and many times as many a second.
//!
//! On the emulator, with 256 vertices wanted: on the roads of New York 1,660 steps, 1.06 times each arc, and, simulated,
//! 0.9 entries of the pile looked at for each; on a grid of 700 x 700 with random weights 2,250 steps and 1.01 times; on a
//! random graph of 10,000 vertices and 100,000 arcs 39 steps and 1.15 times; on a Kronecker graph of 2 M arcs 142 steps
//! and 1.20 times. With 512 wanted it is 1.20 times on the roads, with 1,024 1.7: of a front of a thousand vertices, some
//! hundreds are ready.
//!
//! Work O(V + E + repeated relaxations), span O(steps) barriers of a block. Floor for the roads of New York, 730 k
//! arcs: about 2.5 M random accesses to L2 a source, at 100 to 160 G a second: 0.02 ms. Steps are no limit: 1,660 of 2
//! microseconds are 3.3 ms a search, with a thousand in flight 0.0035 ms a source. So 0.03 to 0.05 ms a source is
//! predicted where a few hundred sources are asked for. It does not win where one search fills the device and its
//! distances are in L2, but those of hundreds are not: on large graphs of short paths `near-far` one after another is
//! as good.
//!
//! Memory: the graph, the distances of a batch, and for each search in flight 8 bytes a vertex, or 16 of graphs of up to
//! 131,072 vertices. With less of it batches are narrower. Searches whose distances leave 32 bits are repeated in 64; there is
//! room for a sixteenth of the batch.
//!
//! Predecessors are derived on the device, too, one tree after another, as they are handed over: on the host that would take
//! longer than the search.
//!
//! Counters are those of a batch; the statistics that other algorithms keep on request are not kept here.
//!
//! Source: Davidson, Baxter, Garland and Owens 2014, "Work-efficient parallel GPU methods for single-source shortest
//! paths", sect. 4.4; a threshold for this many vertices as in Dong, Gu, Sun and Zhang 2021, "Efficient stepping
//! algorithms and implementations for parallel shortest paths".
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

pub(in crate::cuda) mod arrays;

use std::sync::Arc;

use arrays::{Arrays, Batch, IN_FLIGHT, USUALLY_WIDEST, WIDEST, layout};
pub(crate) use arrays::{Sizes, plan, stride, widest};

use super::near_far::first_delta;
use super::pairs::Pairs;
use super::predecessors::{Arcs, Derivation};
use super::{DeviceDistances, DeviceSemiring, OfSemiring, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values, Workload};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Extent, Offsets, has_wide_offsets};
use crate::cuda::launch::Waiting;
use crate::graph::{Graph, VertexId};
use crate::problems::Problem;
use crate::{Control, Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "many-sources",
        summary: "hundreds of searches at once, each by one block; wins on roads and small graphs where many sources are \
                  asked for",
        source: "after Davidson et al. 2014; Dong et al. 2021",
        parameters: &[
            Parameter {
                name: "width",
                summary: "searches in a batch, up to 65536",
                values: Values::Or(
                    &Values::AtLeast(1.0),
                    Unset::InWords(|| format!("as many as have 2 GB of distances, up to {USUALLY_WIDEST}")),
                ),
            },
            Parameter {
                name: "blocks",
                summary: "searches in flight",
                values: Values::Or(
                    &Values::AtLeast(1.0),
                    Unset::InWords(|| format!("as many as run at once, up to {IN_FLIGHT}")),
                ),
            },
            Parameter {
                name: "threads",
                summary: "threads in a block, a multiple of 32 up to 1024",
                values: Values::Or(
                    &Values::AtLeast(32.0),
                    Unset::InWords(|| format!("{FEW_THREADS}, or more where a block takes much shared memory")),
                ),
            },
            Parameter {
                name: "delta",
                summary: "how far the threshold moves at first",
                values: Values::Or(
                    &Values::AtLeast(f64::MIN_POSITIVE),
                    Unset::InWords(|| "chosen from the weights and the average degree".into()),
                ),
            },
            Parameter {
                name: "near",
                summary: "vertices that the near queue should have",
                values: Values::Or(
                    &Values::AtLeast(1.0),
                    Unset::InWords(|| format!("{NEAR}, or as many as there are threads")),
                ),
            },
            Parameter {
                name: "queue",
                summary: "vertices that the near queue has room for, up to 4096",
                values: Values::Or(&Values::AtLeast(4.0), Unset::Number(QUEUE)),
            },
            Parameter {
                name: "distances",
                summary: "memory for the distances of a search in flight",
                values: Values::Or(
                    &Values::OneOf(&["shared", "global"]),
                    Unset::InWords(|| "shared where there is room".into()),
                ),
            },
        ],
        negative_weights: false,
        seconds,
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide, DeviceSemiring::Single, DeviceSemiring::Double],
    needs_transpose: |_| false,
    plan: |graph, parameters| plan(graph, &Sizes::of(graph, parameters)),
    prepare: |device, graph, parameters| {
        let sizes = Sizes::of(graph, parameters);
        Ok(Box::new(prepare(device, graph, parameters, &sizes)?))
    },
    prepare_on_several: None,
};

/// Predicted seconds of searches, each alone in a block: those of all random accesses, or those in which one block after
/// another waits, whichever are more.
pub(crate) fn seconds(work: &Workload<'_>) -> f64 {
    /// A launch with its report.
    const LAUNCH: f64 = 200e-6;
    /// Shared memory of a multiprocessor, and how many of them there are.
    const SHARED: f64 = (227 << 10) as f64;
    const MULTIPROCESSORS: f64 = 132.0;
    /// The most searches in flight.
    const IN_FLIGHT: f64 = 1056.0;
    /// How long a search in shared memory waits for its own steps if the greatest weight is ten times the least.
    const WAITING: f64 = 0.85e-3;
    /// Random accesses a second of the device, and of a block: with distances in shared memory, with short fronts (the
    /// distances in use by all searches fit the L2 cache), and otherwise.
    const OF_SHARED: f64 = 87e9;
    const OF_SHORT_FRONTS: f64 = 40e9;
    /// Vertices of a graph with short levels of which half of the accesses miss the L2 cache.
    const HALF_MISSED: f64 = 400e3;
    const OF_LONG_FRONTS: f64 = 2e9;
    const OF_A_BLOCK: f64 = 50e6;
    /// Vertices whose distances fit shared memory.
    const IN_SHARED: usize = 50_000;
    /// Up to this many arcs a vertex, or else up to this many vertices, fronts are short.
    const FEW_ARCS: usize = 4;
    const FEW_VERTICES: usize = 1 << 17;

    let (vertices, arcs) = (work.graph.vertices, work.graph.arcs);
    // Two a vertex, one an arc.
    let accesses = work.in_turn(2.0 * work.vertices() + work.arcs());
    let more_steps = (work.graph.spread_of_weights() / 10.0).clamp(1.0, 100.0).powf(0.25);
    if vertices <= IN_SHARED {
        let blocks = (SHARED / (4.0 * work.vertices() + OWN_SHARED as f64)).floor().max(1.0);
        let rounds = work.searches as f64 / (blocks * MULTIPROCESSORS).min(IN_FLIGHT);
        return LAUNCH + (rounds.max(1.0) * WAITING * more_steps).hypot(accesses / OF_SHARED);
    }
    let rate = match vertices <= FEW_VERTICES || arcs <= FEW_ARCS * vertices {
        true if work.graph.has_short_levels() => OF_SHORT_FRONTS / (1.0 + work.vertices() / HALF_MISSED),
        true => OF_SHORT_FRONTS / more_steps,
        false => OF_LONG_FRONTS,
    };
    let of_blocks = OF_A_BLOCK * (work.searches as f64).min(IN_FLIGHT);
    LAUNCH + accesses / rate.min(of_blocks.max(1.0))
}

/// The threads of a block, unless they are set or more of them fit larger blocks.
const FEW_THREADS: u32 = 128;
/// The vertices that the near queue should have, unless they are set or a block has more threads.
const NEAR: u32 = 256;
/// The vertices that the near queue has room for, unless they are set.
const QUEUE: f64 = 1024.0;
/// Pieces of work are counted in 32 bits, with much to spare.
pub(crate) const MOST_VERTICES: usize = 1 << 30;
/// The bytes of shared memory in a block that the kernel's own variables take.
const OWN_SHARED: u64 = 2048;

/// What there is for searches of one semiring.
#[derive(Debug)]
struct Launching {
    kernel: Function,
    /// As many blocks as can be in flight.
    shape: LaunchShape,
    /// A row for each search of a batch.
    distances: DeviceSlice<u32>,
    rows: u64,
    wanted: u32,
    in_shared: bool,
}

/// How searches of a semiring are launched: the shape, and whether distances are in shared memory.
fn shape(
    device: &dyn Device,
    kernel: Function,
    semiring: DeviceSemiring,
    vertices: u64,
    parameters: &Parameters,
    room: u32,
) -> Result<(LaunchShape, bool)> {
    let properties = device.properties();
    let bytes = 4 * semiring.words();
    let queues = u64::from(room) * (2 * (bytes + 4) + 2);
    let with_distances = queues + vertices * bytes;
    let fits = with_distances + OWN_SHARED <= properties.shared_bytes_per_block.into();
    if queues + OWN_SHARED > properties.shared_bytes_per_block.into() {
        let most = properties.shared_bytes_per_block;
        return Err(Error::invalid(format!(
            "`queue={room}` takes {queues} bytes of shared memory in a block; the device has {most}"
        )));
    }
    let in_shared = match parameters.word("distances") {
        Some("shared") if !fits => {
            let most = properties.shared_bytes_per_block;
            let wanted = format!("`distances=shared` takes {with_distances} bytes of shared memory in a block");
            return Err(Error::invalid(format!("{wanted}; the device has {most}")));
        }
        Some(word) => word == "shared",
        None => fits,
    };
    let shared_bytes = if in_shared { with_distances } else { queues } as u32;
    let most = properties.threads_per_block;
    let blocks = |threads: u32| device.blocks_at_once(kernel, threads, shared_bytes);
    let threads = match parameters.get("threads") {
        Some(threads) if threads > f64::from(most) || threads % 32.0 != 0.0 => {
            return Err(Error::invalid(format!("`threads={threads}` is not a multiple of 32 up to {most}")));
        }
        Some(threads) => threads as u32,
        None => {
            // Small blocks, unless larger ones have more threads at work.
            let mut best = (FEW_THREADS, blocks(FEW_THREADS)? * FEW_THREADS);
            for threads in [256, 512, 1024].into_iter().filter(|threads| *threads <= most) {
                let at_work = blocks(threads)? * threads;
                if at_work > best.1 + best.1 / 8 {
                    best = (threads, at_work);
                }
            }
            best.0
        }
    };
    Ok((LaunchShape { shared_bytes, ..LaunchShape::line(blocks(threads)?.max(1), threads) }, in_shared))
}

/// An error if a number is above its most, or not whole.
fn check_whole(parameters: &Parameters, name: &str, most: u64) -> Result<()> {
    match parameters.get(name) {
        Some(value) if value > most as f64 || value.fract() != 0.0 => {
            Err(Error::invalid(format!("`{name}={value}` is not a whole number up to {most}")))
        }
        _ => Ok(()),
    }
}

/// Allocates the planned memory and makes everything ready.
pub(crate) fn prepare(
    device: &Arc<dyn Device>,
    graph: &Graph,
    parameters: &Parameters,
    sizes: &Sizes,
) -> Result<ManySources> {
    let delta = parameters.get("delta").unwrap_or_else(|| first_delta(graph));
    with_arcs(device, graph, parameters, sizes, delta, |pool, offsets, pairs| {
        offsets.upload(pool, graph.csr())?;
        pairs.upload(pool, graph.csr())
    })
}

/// The same of a graph whose offsets, and heads with weights, `fill` puts in place, and whose first threshold is `delta`.
pub(in crate::cuda) fn with_arcs(
    device: &Arc<dyn Device>,
    graph: &impl Extent,
    parameters: &Parameters,
    sizes: &Sizes,
    delta: f64,
    fill: impl FnOnce(&Pool, Offsets, Pairs) -> Result<()>,
) -> Result<ManySources> {
    const MOST_ROOM: u64 = 4096;
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    for (name, most) in [("width", WIDEST), ("blocks", WIDEST), ("queue", MOST_ROOM), ("near", MOST_ROOM)] {
        check_whole(parameters, name, most)?;
    }
    let wide = has_wide_offsets(graph);
    let room = parameters.get("queue").unwrap_or(QUEUE) as u32;

    let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph, sizes))?;
    fill(&pool, arrays.offsets, arrays.pairs)?;
    let vertices = graph.vertices() as u64;
    let semirings = OfSemiring::of(sizes.semirings, |semiring| {
        let name = if wide { "sssp_many_sources_64" } else { "sssp_many_sources_32" };
        let kernel = semiring.function(&**device, &images::SSSP_MANY_SOURCES, name)?;
        let (mut shape, in_shared) = shape(&**device, kernel, semiring, vertices, parameters, room)?;
        let piles = sizes.far_words / (sizes.capacity * (1 + semiring.words()));
        shape.grid[0] = u64::from(shape.grid[0]).min(piles).max(1) as u32;
        let wanted = parameters.get("near").map_or(shape.block[0].max(NEAR), |near| near as u32);
        let wanted = wanted.min(room - room / 4);
        Ok(Launching {
            kernel,
            shape,
            distances: *arrays.distances.get(semiring)?,
            rows: sizes.rows(semiring),
            wanted,
            in_shared,
        })
    })?;
    let waiting = Waiting::new(device)?;
    device.synchronize()?;
    let arguments = arrays.argument(graph, delta, sizes, room, &waiting);
    let arcs = graph.arcs() as u64;
    Ok(ManySources { pool, semirings, arcs, arguments, arrays, waiting, semiring: sizes.semirings[0], begun: [0; 2] })
}

/// A graph on a device, and room for a batch of searches.
#[derive(Debug)]
pub(crate) struct ManySources {
    pool: Pool,
    semirings: OfSemiring<Launching>,
    arcs: u64,
    arguments: Batch,
    arrays: Arrays,
    waiting: Waiting,
    /// The semiring of the last search alone.
    semiring: DeviceSemiring,
    /// How many searches were begun last, and how many of them are in flight.
    begun: [u32; 2],
}

/// What a batch of searches tells when it is done.
#[derive(Debug)]
pub(crate) struct BatchOutcome {
    /// What they counted together.
    pub(crate) statistics: Statistics,
    /// For each search, whether some walk was longer than the semiring's distances go.
    pub(crate) out_of_range: Vec<bool>,
}

impl ManySources {
    /// How many searches of this semiring a batch can have.
    pub(crate) fn width(&self, semiring: DeviceSemiring) -> Result<usize> {
        Ok(self.semirings.get(semiring)?.rows as usize)
    }

    /// Searches from each of these sources, which may be equal. Distances found in another semiring stay.
    ///
    /// # Panics
    ///
    /// If they are more than a batch can have.
    pub(crate) fn search_each(
        &mut self,
        semiring: DeviceSemiring,
        sources: &[VertexId],
        cutoff: u64,
        control: &Control,
    ) -> Result<BatchOutcome> {
        assert!(sources.len() <= self.width(semiring)?, "more sources than a batch has searches");
        self.run(semiring, sources, sources.len() as u32, cutoff, control)
    }

    /// What the last batch of this semiring found from the source of this number.
    pub(crate) fn found_from(&self, semiring: DeviceSemiring, index: usize) -> Result<DeviceDistances<'_>> {
        let start = index as u64 * self.arguments.stride * semiring.words();
        let distances = self.semirings.get(semiring)?.distances;
        let row = distances.part(start, distances.length() - start);
        Ok(DeviceDistances::of(&self.pool, semiring.part(row, self.arguments.vertices)))
    }

    /// What derives the predecessors of what the last batch of this semiring found from the source of this number. The
    /// far piles, which are done, have room for them.
    pub(crate) fn derivation_from(&self, semiring: DeviceSemiring, index: usize) -> Result<Derivation<'_>> {
        let DeviceDistances { pool, distances, .. } = self.found_from(semiring, index)?;
        let Arrays { offsets, pairs, far, next, .. } = self.arrays;
        let vertices = u64::from(self.arguments.vertices);
        Ok(Derivation {
            pool,
            semiring,
            arcs: Arcs::of_pairs(offsets, pairs, self.arcs),
            distances,
            predecessors: far.part(0, vertices),
            levels: far.part(vertices, vertices),
            progress: next,
        })
    }

    /// Where the distances of this semiring are, row by row.
    pub(crate) fn rows(&self, semiring: DeviceSemiring) -> Result<DeviceSlice<u32>> {
        Ok(self.semirings.get(semiring)?.distances)
    }

    /// The memory of everything.
    pub(crate) fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Runs this many searches: one from each source, or one from all.
    fn run(
        &mut self,
        semiring: DeviceSemiring,
        sources: &[VertexId],
        searches: u32,
        cutoff: u64,
        control: &Control,
    ) -> Result<BatchOutcome> {
        self.start(semiring, sources, searches, cutoff, control)?;
        self.finish(control)
    }

    /// Begins this many searches: one from each source, or one from all.
    pub(crate) fn start(
        &mut self,
        semiring: DeviceSemiring,
        sources: &[VertexId],
        searches: u32,
        cutoff: u64,
        control: &Control,
    ) -> Result<()> {
        let Launching { kernel, shape, distances, wanted, in_shared, .. } = self.semirings.get(semiring)?;
        let pool = &self.pool;
        pool.upload(self.arrays.sources, sources)?;
        pool.fill(self.arrays.out_of_range, 0)?;
        pool.fill(self.arrays.report, 0)?;
        pool.fill(self.arrays.next, 0)?;
        let mut shape = *shape;
        shape.grid[0] = shape.grid[0].min(searches).max(1);
        // The distances of all piles, then the vertices.
        let pile_words = u64::from(shape.grid[0]) * u64::from(self.arguments.capacity) * semiring.words();
        let batch = Batch {
            distances: distances.as_mut_ptr().cast(),
            far_vertices: self.arrays.far.part(pile_words, 0).as_mut_ptr(),
            limit: cutoff,
            source_count: sources.len() as u32,
            searches,
            wanted: *wanted,
            in_shared: (*in_shared).into(),
            ..self.arguments
        };
        let device = pool.device();
        self.waiting.start(device, control, || {
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
            unsafe { device.launch(*kernel, &shape, arguments![batch]) }
        })?;
        self.begun = [searches, shape.grid[0]];
        Ok(())
    }

    /// Waits until the searches that were begun are done.
    pub(crate) fn finish(&mut self, control: &Control) -> Result<BatchOutcome> {
        let pool = &self.pool;
        let seconds = self.waiting.finish(pool.device(), control)?;
        let [searches, in_flight] = self.begun;
        let [steps, thresholds, scans, expanded, relaxations] = pool.read_array(self.arrays.report)?;
        let out_of_range = pool.read(self.arrays.out_of_range.part(0, searches.into()))?;
        let statistics = vec![
            ("searches_in_a_batch", searches.into()),
            ("searches_in_flight", in_flight.into()),
            ("steps", steps),
            ("thresholds", thresholds),
            ("scans", scans),
            ("expanded", expanded),
            ("relaxations", relaxations),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ];
        Ok(BatchOutcome { statistics, out_of_range: out_of_range.into_iter().map(|flag| flag != 0).collect() })
    }
}

impl PreparedSssp for ManySources {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.semiring = task.semiring;
        let outcome = self.run(task.semiring, task.sources, 1, task.cutoff, task.control)?;
        let out_of_range = outcome.out_of_range.contains(&true);
        Ok(SsspOutcome { statistics: outcome.statistics, frontiers: Vec::new(), out_of_range })
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        let distances = self.semirings.get(self.semiring).map_or(self.arrays.far, |launching| launching.distances);
        DeviceDistances::of(&self.pool, self.semiring.part(distances, self.arguments.vertices))
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        self.derivation_from(self.semiring, 0).ok()
    }

    fn many_sources(&mut self) -> Option<&mut ManySources> {
        Some(self)
    }
}

#[cfg(test)]
mod tests;
