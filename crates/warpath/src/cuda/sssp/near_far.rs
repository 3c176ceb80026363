//! Shortest paths with a near queue below a threshold and all else far, for whatever is not long and thin.
//!
//! Vertices whose distance fell below the threshold are in the *near queue*. A round relaxes all arcs of the vertices
//! in it; heads that fall below the threshold are queued for the next round. When the queue stays empty, all distances
//! below the threshold are final. Then the threshold moves to the least distance that is left, plus delta, and every
//! vertex below it now is the near queue. A small delta is Dijkstra's algorithm, with many rounds of little work; a
//! large one is Bellman-Ford, which relaxes arcs again and again.
//!
//! All rounds are in one cooperative launch, and every block decides for itself what comes next, from the same numbers.
//! What makes it fast:
//! - **One look an arc.** Head and weight are read together, in order; then the distance of the head is loaded, and only
//!   if it really falls there is an atomic minimum. What it returns tells who has brought the head below the threshold,
//!   and who has reached it first.
//! - **Nothing is queued twice in a round:** a bit for each vertex sees to that, so queues of as many items as there are
//!   vertices never overflow. A vertex that fell just before it was expanded is queued once more; the distance with
//!   which it was expanded is kept, and it is passed over if that is its distance still.
//! - **The far list is short or not there.** A vertex is listed when it is reached first, at or above the threshold. On
//!   graphs of short paths that is soon most of the graph, and to look up the distances of all that are listed costs more
//!   than to read all distances one after the other. So the list has room for an eighth of the vertices, and when it
//!   was too small all vertices are looked at.
//! - **The window follows the work.** While rounds have too little to do for the device, delta doubles, unless vertices
//!   are expanded too often; it halves where they are. A window that was widened for want of work and then meets the bulk of the graph is cut
//!   back in the middle: vertices above the new threshold go back to the far vertices.
//! - **Rows are shared out** as in `direction-optimizing` breadth-first search: short rows are packed, long ones cut into pieces.
//!
//! The first delta is what the weights and degrees suggest: vertices of many arcs lie close together, about a typical
//! weight over their degree, and closer where there are hubs. Work O(V + E + repeated relaxations), span O(rounds)
//! barriers of the grid, some 5 microseconds each. On long thin graphs `multi-hop` wins, where it has the semiring.
//!
//! Source: Davidson, Baxter, Garland and Owens 2014, "Work-efficient parallel GPU methods for single-source shortest
//! paths", sect. 4.4; the moving delta after Wang, Fussell and Lin 2021, "A fast work-efficient SSSP algorithm for GPUs".
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr` or from `resident/adoption.rs`, which have checked them, or from
//! sources that were checked.

use std::sync::Arc;

use super::counts::{Counters, Counts, Frontiers};
use super::pairs::Pairs;
use super::predecessors::{Arcs, Derivation};
use super::{
    DeviceDistances, DeviceSemiring, OfSemiring, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask, distance_words,
};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Unset, Values};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::frontier::most_pieces;
use crate::cuda::graph::{Extent, Offsets, has_wide_offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, WATCHED, Waiting, threads_up_to, watched, whole_device};
use crate::graph::{Graph, VertexId, WeightKind, Weights};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "near-far",
        summary: "vertices below a moving threshold first, in one launch; wins on graphs of short paths",
        source: "Davidson et al. 2014; Wang et al. 2021",
        parameters: &[
            Parameter {
                name: "delta",
                summary: "how far the threshold moves at first",
                values: Values::Or(
                    &Values::AtLeast(f64::MIN_POSITIVE),
                    Unset::InWords(|| "chosen from the weights and the average degree".into()),
                ),
            },
            Parameter {
                name: "batch",
                summary: "delta doubles while rounds have fewer arcs, and not at all with 0",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(BATCH)),
            },
            Parameter {
                name: "far",
                summary: "vertices that the list of far ones has room for",
                values: Values::Or(&Values::AtLeast(0.0), Unset::InWords(|| "an eighth of all".into())),
            },
            threads_up_to::<MOST_THREADS>(),
            Parameter {
                name: "blocks",
                summary: "blocks",
                values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
            },
        ],
        negative_weights: false,
        seconds: |work| {
            /// A narrow round.
            const ROUND: f64 = 10e-6;
            let rounds = if work.graph.has_short_levels() { ROUND * work.levels() } else { 0.0 };
            work.in_turn(200e-6 + (work.arcs() / 25e9).max(rounds))
        },
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide, DeviceSemiring::Single, DeviceSemiring::Double],
    needs_transpose: |_| false,
    plan,
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters)?)),
    prepare_on_several: None,
};

/// The most threads of a block.
const MOST_THREADS: u32 = 512;
/// The arcs of a round below which delta doubles, unless they are set.
const BATCH: f64 = 131_072.0;
/// Threads count a little beyond the last vertex.
const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);
/// How many vertices the list of far ones has room for.
fn far_capacity(graph: &impl Extent, parameters: &Parameters) -> u64 {
    let vertices = graph.vertices() as u64;
    parameters.get("far").map_or(vertices / 8 + 1024, |far| far as u64).min(vertices)
}

/// Of some arcs, spread over the graph: weights, and how many arcs leave the heads on average.
#[derive(Debug)]
pub(in crate::cuda) struct ArcSample {
    pub(in crate::cuda) weights: Vec<f64>,
    pub(in crate::cuda) degree_of_heads: f64,
}

impl ArcSample {
    /// How many arcs are enough.
    pub(in crate::cuda) const ENOUGH: usize = 1024;

    /// How many arcs there are from one of the sample to the next, and how many are in the sample.
    pub(in crate::cuda) fn spread_over(arcs: usize) -> (usize, usize) {
        let step = (arcs / Self::ENOUGH).max(1);
        (step, arcs.div_ceil(step))
    }

    fn of(graph: &Graph) -> Self {
        let (step, count) = Self::spread_over(graph.arcs());
        let places = (0..count).map(|index| index * step);
        let heads = places.clone().map(|arc| graph.neighbors(graph.csr().targets()[arc]).len() as f64);
        let degree_of_heads = heads.sum::<f64>() / count.max(1) as f64;
        let weights = match graph.csr().weights() {
            Weights::Unit(_) => vec![1.0],
            Weights::U32(weights) => places.map(|arc| weights[arc].into()).collect(),
            Weights::I32(weights) => places.map(|arc| weights[arc].into()).collect(),
            Weights::F32(weights) => places.map(|arc| weights[arc].into()).collect(),
            Weights::F64(weights) => places.map(|arc| weights[arc]).collect(),
        };
        ArcSample { weights, degree_of_heads }
    }
}

/// A first delta for a graph with these arcs, whose greatest weight `greatest` finds: some ten typical weights at 2 or 3 arcs a
/// vertex, and a quarter of one at 16, four over the degree from there on. Where arcs lead to hubs a window of that width has
/// most of the graph: there it is less, a tenth at 16.
pub(in crate::cuda) fn delta_for(graph: &impl Extent, sample: ArcSample, greatest: impl FnOnce() -> f64) -> f64 {
    let ArcSample { weights, degree_of_heads } = sample;
    let typical = typical_of(weights, greatest);
    let degree = (graph.arcs() as f64 / graph.vertices().max(1) as f64).max(1.0);
    let is_even = degree_of_heads <= 2.0 * degree;
    let delta = typical * (90.0 / degree.powf(2.5)).max(if is_even { 4.0 / degree } else { 0.0 });
    match graph.weight_kind() {
        WeightKind::F32 | WeightKind::F64 => delta.clamp(f64::MIN_POSITIVE, f64::MAX),
        _ => delta.max(1.0),
    }
}

/// The weight in the middle of these, or half of the greatest of all if that is 0.
fn typical_of(mut weights: Vec<f64>, greatest: impl FnOnce() -> f64) -> f64 {
    let middle = weights.len() / 2;
    let median = if weights.is_empty() { 1.0 } else { *weights.select_nth_unstable_by(middle, f64::total_cmp).1 };
    if median > 0.0 { median } else { greatest() / 2.0 }
}

/// A weight that is typical of the arcs of a graph: above 0, unless all are 0.
pub(super) fn typical_weight(graph: &Graph) -> f64 {
    typical_of(ArcSample::of(graph).weights, || graph.weight_range().1)
}

/// The same from the graph.
pub(super) fn first_delta(graph: &Graph) -> f64 {
    delta_for(graph, ArcSample::of(graph), || graph.weight_range().1)
}

kernel_header! {
    path: "sssp/near_far";
    namespace: near_far;
    /// What one round tells the next. Three take turns: one is read, one written, one cleared.
    struct Turn {
        /// How many vertices the near queue of short rows has.
        short_rows: u32,
        /// How many pieces the near queue of long rows has.
        pieces: u32,
        /// How many vertices were appended to the far list.
        far: u32,
        cancelled: u32,
        /// How many vertices were queued.
        items: u32,
        /// How many of them were not below the threshold before.
        entered: u32,
        /// How many arcs leave those that were queued.
        arcs: u64,
        /// The least distance found at or above the threshold.
        least: u64,
    }

    /// The argument. Offsets are u32 or u64.
    struct KernelArgument<Lane, Offset> {
        offsets: DevicePtr<cpp::Offset>,
        arcs: DevicePtr<cpp::Arc>,
        distances: DeviceMutPtr<cpp::Distance>,
        /// The distance with which a vertex of a short row was last expanded.
        expanded: DeviceMutPtr<cpp::Distance>,
        /// Bits of what is in the near queues.
        queued: [DeviceMutPtr<u32>; 2],
        /// Near queues of vertices.
        short_rows: [DeviceMutPtr<VertexId>; 2],
        /// Near queues of vertices and pieces.
        long_rows: [DeviceMutPtr<[u32; 2]>; 2],
        /// Lists of vertices at or above the threshold, of `far_capacity`.
        far: [DeviceMutPtr<VertexId>; 2],
        /// Three.
        turns: DeviceMutPtr<Turn>,
        /// Rounds, thresholds, scans, vertices queued, relaxations.
        report: DeviceMutPtr<u64>,
        out_of_range: DeviceMutPtr<u32>,
        sources: DevicePtr<VertexId>,
        targets_wanted: DevicePtr<VertexId>,
        cancelled: DevicePtr<u32>,
        /// Null if nothing is to be counted.
        statistics: DeviceMutPtr<Counts>,
        limit: u64,
        delta: f64,
        source_count: u32,
        target_count: u32,
        vertices: u32,
        far_capacity: u32,
        /// Windows widen while rounds have fewer arcs; 0 if they are not to change.
        batch: u32,
    }
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    offsets: Offsets,
    pairs: Pairs,
    distances: DeviceSlice<u32>,
    expanded: DeviceSlice<u32>,
    queued: [DeviceSlice<u32>; 2],
    short_rows: [DeviceSlice<VertexId>; 2],
    long_rows: [DeviceSlice<[u32; 2]>; 2],
    far: [DeviceSlice<VertexId>; 2],
    targets_wanted: DeviceSlice<VertexId>,
    turns: DeviceSlice<Turn>,
    report: DeviceSlice<u64>,
    out_of_range: DeviceSlice<u32>,
    counters: Counters,
}

fn layout(arena: &mut Arena<'_>, graph: &impl Extent, parameters: &Parameters) -> Arrays {
    let (vertices, words) = (graph.vertices() as u64, distance_words(graph));
    Arrays {
        offsets: Offsets::layout(arena, "offsets of the vertices", vertices + 1, has_wide_offsets(graph)),
        pairs: Pairs::layout(arena, graph),
        distances: arena.take("distances", words),
        expanded: arena.take("distances when expanded", words),
        queued: arena.take_two(["queued vertices", "vertices queued next"], vertices.div_ceil(32)),
        short_rows: arena.take_two(["queue of short rows", "next queue of short rows"], vertices),
        long_rows: arena.take_two(["queue of long rows", "next queue of long rows"], most_pieces(graph)),
        far: arena.take_two(["far vertices", "far vertices left"], far_capacity(graph, parameters)),
        targets_wanted: arena.take("targets", vertices.min(WATCHED)),
        turns: arena.take("counters", 3),
        report: arena.take("report", 5),
        out_of_range: arena.take("flag", 1),
        counters: Counters::layout(arena),
    }
}

fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    plan_of(|arena| layout(arena, graph, parameters))
}

impl Arrays {
    /// Where the sources are put: the second queue is free until they have been read.
    fn sources(&self) -> DeviceSlice<VertexId> {
        self.short_rows[1]
    }

    /// The argument of a search from no source.
    fn argument(&self, graph: &impl Extent, parameters: &Parameters, delta: f64, waiting: &Waiting) -> KernelArgument {
        KernelArgument {
            offsets: self.offsets.as_ptr(),
            arcs: self.pairs.as_ptr(),
            distances: self.distances.as_mut_ptr().cast(),
            expanded: self.expanded.as_mut_ptr().cast(),
            queued: self.queued.map(|bits| bits.as_mut_ptr()),
            short_rows: self.short_rows.map(|queue| queue.as_mut_ptr()),
            long_rows: self.long_rows.map(|queue| queue.as_mut_ptr()),
            far: self.far.map(|list| list.as_mut_ptr()),
            turns: self.turns.as_mut_ptr(),
            report: self.report.as_mut_ptr(),
            out_of_range: self.out_of_range.as_mut_ptr(),
            sources: self.sources().as_ptr(),
            targets_wanted: self.targets_wanted.as_ptr(),
            cancelled: waiting.cancelled(),
            statistics: DeviceMutPtr::NULL,
            limit: 0,
            delta,
            source_count: 0,
            target_count: 0,
            vertices: graph.vertices() as u32,
            far_capacity: far_capacity(graph, parameters) as u32,
            batch: parameters.get("batch").unwrap_or(BATCH) as u32,
        }
    }
}

/// Copies a graph to a device and makes everything ready.
pub(in crate::cuda) fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<NearFar> {
    let delta = parameters.get("delta").unwrap_or_else(|| first_delta(graph));
    with_arcs(device, graph, parameters, delta, |pool, offsets, pairs| {
        offsets.upload(pool, graph.csr())?;
        pairs.upload(pool, graph.csr())
    })
}

/// The same of a graph of this extent with this first delta, whose arcs `fill` puts where they belong, in stream order.
pub(in crate::cuda) fn with_arcs(
    device: &Arc<dyn Device>,
    graph: &impl Extent,
    parameters: &Parameters,
    delta: f64,
    fill: impl FnOnce(&Pool, Offsets, Pairs) -> Result<()>,
) -> Result<NearFar> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    let wide = has_wide_offsets(graph);
    let kernels = OfSemiring::new(graph, |semiring| {
        let name = if wide { "sssp_near_far_64" } else { "sssp_near_far_32" };
        let kernel = semiring.function(&**device, &images::SSSP_NEAR_FAR, name)?;
        Ok((kernel, whole_device(&**device, kernel, parameters, MOST_THREADS, u32::MAX)?))
    })?;
    let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph, parameters))?;
    fill(&pool, arrays.offsets, arrays.pairs)?;
    let waiting = Waiting::new(device)?;
    device.synchronize()?;
    let arguments = arrays.argument(graph, parameters, delta, &waiting);
    Ok(NearFar {
        pool,
        kernels,
        arguments,
        arrays,
        arcs: graph.arcs() as u64,
        waiting,
        semiring: DeviceSemiring::Narrow,
    })
}

#[derive(Debug)]
pub(in crate::cuda) struct NearFar {
    pool: Pool,
    kernels: OfSemiring<(Function, LaunchShape)>,
    arguments: KernelArgument,
    arrays: Arrays,
    arcs: u64,
    waiting: Waiting,
    /// The semiring of the last search.
    semiring: DeviceSemiring,
}

impl NearFar {
    /// The arcs, as the device has them.
    pub(in crate::cuda) fn pairs(&self) -> Pairs {
        self.arrays.pairs
    }
}

impl PreparedSssp for NearFar {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        self.semiring = task.semiring;
        let pool = &self.pool;
        let (kernel, shape) = self.kernels.get(task.semiring)?;
        let Arrays { targets_wanted, report, out_of_range, counters, .. } = self.arrays;
        let watched = watched(task.targets, targets_wanted);
        pool.upload(self.arrays.sources(), task.sources)?;
        pool.upload(targets_wanted, watched)?;
        pool.fill(report, 0)?;
        pool.fill(out_of_range, 0)?;
        let search = KernelArgument {
            statistics: counters.start(pool, task)?,
            limit: task.cutoff,
            source_count: task.sources.len() as u32,
            target_count: watched.len() as u32,
            ..self.arguments
        };
        let device = pool.device();
        let seconds = self.waiting.run(device, task.control, || {
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects; all blocks of the
            // shape run at once.
            unsafe { device.launch(*kernel, shape, arguments![search]) }
        })?;
        let [rounds, thresholds, scans, queued, relaxations] = pool.read_array(report)?;
        let statistics = vec![
            ("rounds", rounds),
            ("thresholds", thresholds),
            ("scans", scans),
            ("queued", queued),
            ("relaxations", relaxations),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ];
        let out_of_range = pool.read_array(out_of_range)? != [0];
        let mut outcome = SsspOutcome { statistics, frontiers: Vec::new(), out_of_range };
        counters.finish(pool, task, Frontiers::default(), &mut outcome)?;
        Ok(outcome)
    }

    fn device_distances(&self) -> DeviceDistances<'_> {
        DeviceDistances::of(&self.pool, self.semiring.part(self.arrays.distances, self.arguments.vertices))
    }

    fn derivation(&self) -> Option<Derivation<'_>> {
        let Arrays { offsets, pairs, short_rows: [predecessors, levels], out_of_range: progress, .. } = self.arrays;
        let DeviceDistances { pool, distances, .. } = self.device_distances();
        let arcs = Arcs::of_pairs(offsets, pairs, self.arcs);
        Some(Derivation { pool, semiring: self.semiring, arcs, distances, predecessors, levels, progress })
    }
}

#[cfg(test)]
mod tests {
    use crate::cuda::device::testing::devices;
    use crate::cuda::graph::WIDE_OFFSETS;
    use crate::testing::{TestWeight, graphs_of_every_shape};
    use crate::{Engine, Solver, Sssp};

    fn wide_offsets_find_the_same<W: TestWeight>(seed: u64) {
        for (name, graph) in graphs_of_every_shape::<W>(seed).into_iter().skip(seed as usize).step_by(9) {
            let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
            let expected = cpu.solve(Sssp::from(0)).unwrap();
            for device in devices(seed) {
                let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                WIDE_OFFSETS.set(true);
                let tree = gpu.solve(Sssp::from(0).algorithm("near-far:threads=64,blocks=3"));
                WIDE_OFFSETS.set(false);
                assert_eq!(tree.unwrap().distances(), expected.distances(), "{name}");
            }
        }
    }

    /// Those that were measured to be good, or nearly: for weights of 1 to 255.
    #[test]
    fn the_first_delta_is_wide_on_even_graphs_and_narrow_where_there_are_hubs() {
        let delta = |name: &str| super::first_delta(&crate::generate(&format!("{name},weights=1..255")).unwrap());
        assert!((24.0..40.0).contains(&delta("uniform:12,edges-per-vertex=8")));
        assert!((1.0..8.0).contains(&delta("kron:12")));
        assert!((300.0..450.0).contains(&delta("grid:64x64")));
    }

    #[test]
    fn offsets_of_64_bits_lead_to_the_same_distances() {
        wide_offsets_find_the_same::<u32>(1);
        wide_offsets_find_the_same::<f32>(2);
        wide_offsets_find_the_same::<f64>(3);
    }
}
