//! Shortest paths on graphs that are larger than the memory of the device: the arcs stay in pinned memory of the host.
//!
//! The kernel reads the rows that it needs over the bus, no others, and each row as soon as it is to be relaxed: no part of the
//! graph is copied to the device. A bus is ten to a hundred times slower than the device's own memory, and slower by another
//! factor of eight where reads are scattered. So
//! - **rows are read in the order in which they lie in memory.** Vertices to be expanded are bits, not a queue, and all warps go
//!   through the bits from front to back. A random piece of a large pinned array takes a translation of its address first:
//!   48 million come in a second, whatever their size. Pieces near each other come at the full rate of the bus, 400 million of
//!   128 bytes, even if only one row in 64 is read.
//! - **no row is read in vain, if possible.** A threshold moves as in `near-far`: vertices below it are expanded in rounds until
//!   none is left, and those beyond it wait. They are bits, too. So there are no queues, and a vertex takes 4 bits beside its
//!   distance and its offset. With offsets on the host, too, it takes 4 and a half bytes in all, or 8 and a half with distances of
//!   64 bits.
//! - **what is empty is not looked at.** A bit for each group of 128 vertices says whether some of them are there.
//! - **short rows stay on the device, as far as it has room.** A read brings 128 bytes however few arcs a row has, so those with the fewest
//!   gain the most for their bytes.
//! - Rows of more than 256 arcs are cut into pieces, listed when the graph is made ready.
//!
//! Work O(V + E + repeated relaxations + rounds * V / 4096), span O(rounds) barriers of the grid.
//!
//! Source: Min, Mailthody, Qureshi, Xiong, Ebrahimi and Hwu 2020, "EMOGI: efficient memory-access for out-of-memory
//! graph-traversal in GPUs"; the threshold as in `near_far.rs`. The order of the rows is this project's own.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that
//! they expect. Arrays are taken from one pool of device memory or from pinned memory, which live as long as what is prepared
//! here; the ids in them come from a `Csr`, which has checked them, or from sources that were checked.

use std::sync::Arc;

use super::counts::{Counters, Counts, Frontiers};
use super::short_rows::{SHORT_ROWS, ShortRows};
use super::{
    DeviceDistances, DeviceSemiring, OfSemiring, PreparedSssp, SsspAlgorithm, SsspOutcome, SsspTask, distance_words,
    semirings_of, start,
};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Unset, Values};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::host_part::HostPart;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Offsets, has_wide_offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, WATCHED, Waiting, threads_up_to, watched, whole_device};
use crate::cuda::zero_copy::{
    OFFSETS, PlacedOffsets, WINDOW, Windows, mark, piece_count, pinned_arcs, upload_pieces, words_of_frontier,
};
use crate::graph::{Graph, VertexId, WeightKind, Weights};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Error, Result};

/// How far the threshold moves at first.
pub(in crate::cuda) const DELTA: Parameter = Parameter {
    name: "delta",
    summary: "how far the threshold moves at first",
    values: Values::Or(
        &Values::AtLeast(f64::MIN_POSITIVE),
        Unset::InWords(|| "chosen from the weights and the average degree".into()),
    ),
};

/// When it moves farther.
pub(in crate::cuda) const BATCH_OF_ARCS: Parameter = Parameter {
    name: "batch",
    summary: "delta doubles while rounds have fewer arcs, and not at all with 0",
    values: Values::Or(&Values::AtLeast(0.0), Unset::Number(BATCH)),
};

/// How many bits distances have.
pub(super) const DISTANCES: Parameter = Parameter {
    name: "distances",
    summary: "the bits of a distance that there is room for; a search that needs more ends with an error",
    values: Values::Or(&Values::OneOf(&["64", NARROW]), Unset::InWords(|| "as many as may be needed".into())),
};

/// How large blocks are.
pub(in crate::cuda) const THREADS: Parameter = threads_up_to::<MOST_THREADS>();

/// How many there are.
pub(in crate::cuda) const BLOCKS: Parameter =
    Parameter { name: "blocks", summary: "blocks", values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE) };

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "zero-copy",
        summary: "arcs stay in the host's memory, and are read over the bus in their order; for graphs larger than the device's memory",
        source: "Min et al. 2020; Davidson et al. 2014",
        parameters: &[OFFSETS, WINDOW, SHORT_ROWS, DISTANCES, DELTA, BATCH_OF_ARCS, THREADS, BLOCKS],
        negative_weights: false,
        seconds: |work| work.in_turn(1e-3 + 1.5 * 8.0 * work.arcs() / 51e9) + 8.0 * work.arcs() / 8e9,
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide, DeviceSemiring::Single, DeviceSemiring::Double],
    needs_transpose: |_| false,
    plan,
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters)?)),
    prepare_on_several: None,
};

/// This algorithm with ever less on the device.
pub(crate) const LAYOUTS: [&str; 15] = [
    "zero-copy:short-rows=256",
    "zero-copy:short-rows=192",
    "zero-copy:short-rows=128",
    "zero-copy:short-rows=96",
    "zero-copy:short-rows=64",
    "zero-copy:short-rows=48",
    "zero-copy:short-rows=32",
    "zero-copy:short-rows=24",
    "zero-copy:short-rows=16",
    "zero-copy:short-rows=12",
    "zero-copy:short-rows=8",
    "zero-copy:short-rows=4",
    "zero-copy",
    "zero-copy:offsets=host",
    "zero-copy:offsets=host,distances=32",
];

/// With room for the distances of this semiring alone.
pub(in crate::cuda) fn in_one_semiring(semiring: DeviceSemiring, parameters: &Parameters) -> Parameters {
    let bits = if semiring == DeviceSemiring::Wide { "64" } else { NARROW };
    parameters.clone().with_word(DISTANCES.name, bits)
}

/// Whether it is right for this graph.
pub(crate) fn takes(graph: &Graph) -> bool {
    ALGORITHM.check(graph).is_ok()
}

/// The distances that take 32 bits.
const NARROW: &str = "32";
/// The most threads of a block: more would have too few registers.
const MOST_THREADS: u32 = 448;
/// The arcs of a round below which delta doubles, unless they are set.
const BATCH: f64 = 131_072.0;
/// Threads count a little beyond the last vertex.
pub(super) const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);

kernel_header! {
    path: "sssp/zero_copy";
    namespace: zero_copy;
    /// What one round tells the next. Three take turns: one is read, one written, one cleared.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Turn {
        /// How many vertices were marked.
        pub(super) items: u32,
        /// How many of them were not below the threshold before.
        pub(super) entered: u32,
        pub(super) cancelled: u32,
        pub(super) unused: u32,
        /// How many arcs were relaxed.
        pub(super) arcs: u64,
        /// The least distance found at or above the threshold.
        pub(super) least: u64,
    }

    /// The argument. Offsets are u32 or u64.
    pub(super) struct KernelArgument<Lane, Offset> {
        pub(super) offsets: DevicePtr<cpp::Offset>,
        pub(super) arcs: DevicePtr<cpp::Arc>,
        /// Where the short rows of the vertices begin, and their arcs.
        pub(super) short_begins: DevicePtr<cpp::Offset>,
        pub(super) short_arcs: DevicePtr<cpp::Arc>,
        pub(super) distances: DeviceMutPtr<cpp::Distance>,
        /// The vertices to be expanded, and their groups, as bits. Three take turns.
        pub(super) near: [DeviceMutPtr<u32>; 3],
        /// The same of vertices at or above the threshold; some may be nearer by now.
        pub(super) far: DeviceMutPtr<u32>,
        /// Vertices and numbers of the pieces of long rows.
        pub(super) pieces: DevicePtr<[u32; 2]>,
        /// The first group of vertices and the first piece of each window.
        pub(super) windows: DevicePtr<[u32; 2]>,
        /// Three.
        pub(super) turns: DeviceMutPtr<Turn>,
        /// Rounds, thresholds, vertices marked, relaxations.
        pub(super) report: DeviceMutPtr<u64>,
        pub(super) out_of_range: DeviceMutPtr<u32>,
        pub(super) targets_wanted: DevicePtr<VertexId>,
        pub(super) cancelled: DevicePtr<u32>,
        /// Null if nothing is to be counted.
        pub(super) statistics: DeviceMutPtr<Counts>,
        pub(super) limit: u64,
        pub(super) delta: f64,
        /// Arcs of a vertex, on average.
        pub(super) degree: f64,
        pub(super) target_count: u32,
        pub(super) vertices: u32,
        pub(super) window_count: u32,
        /// So many vertices of a window have to be in a frontier, on average, or there is one window.
        pub(super) least_of_window: u32,
        /// Windows widen while rounds have fewer arcs; 0 if they are not to change.
        pub(super) batch: u32,
        /// The most arcs of a short row; 0 if there are no arrays of them.
        pub(super) most_short: u32,
    }
}

/// The arrays of a search on the device.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    offsets: Option<Offsets>,
    short_rows: Option<ShortRows>,
    distances: DeviceSlice<u32>,
    near: [DeviceSlice<u32>; 3],
    far: DeviceSlice<u32>,
    pieces: DeviceSlice<[u32; 2]>,
    windows: DeviceSlice<[u32; 2]>,
    targets_wanted: DeviceSlice<VertexId>,
    turns: DeviceSlice<Turn>,
    report: DeviceSlice<u64>,
    out_of_range: DeviceSlice<u32>,
    counters: Counters,
}

/// The words of the distances that there is room for.
pub(super) fn words_of_distances(graph: &Graph, parameters: &Parameters) -> u64 {
    let vertices = graph.vertices() as u64;
    let narrow = vertices * semirings_of(graph).first().map_or(1, |semiring| semiring.words());
    if parameters.word("distances") == Some(NARROW) { narrow } else { distance_words(graph) }
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, parameters: &Parameters, pieces: u64, windows: &Windows) -> Arrays {
    let vertices = graph.vertices() as u64;
    let mut bits = |what: &str| arena.take(what, words_of_frontier(vertices));
    let near = ["vertices to expand", "vertices to expand next", "vertices just expanded"].map(&mut bits);
    let far = bits("vertices that wait");
    Arrays {
        offsets: PlacedOffsets::layout(arena, graph, parameters),
        short_rows: ShortRows::layout(arena, graph, parameters),
        distances: arena.take("distances", words_of_distances(graph, parameters)),
        near,
        far,
        pieces: arena.take("pieces of long rows", pieces),
        windows: windows.layout(arena),
        targets_wanted: arena.take("targets", vertices.min(WATCHED)),
        turns: arena.take("counters", 3),
        report: arena.take("report", 4),
        out_of_range: arena.take("flag", 1),
        counters: Counters::layout(arena),
    }
}

/// Bytes of head and weight of an arc.
fn bytes_of_arc(graph: &Graph) -> u64 {
    if graph.weight_kind() == WeightKind::F64 { 16 } else { 8 }
}

fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    let pieces = piece_count(graph, 0..graph.vertices());
    let windows = Windows::of(graph, bytes_of_arc(graph), parameters);
    let mut plan = plan_of(|arena| layout(arena, graph, parameters, pieces, &windows));
    plan.memory("heads and weights of the arcs in pinned memory", graph.arcs() as u64 * bytes_of_arc(graph));
    PlacedOffsets::plan(graph, parameters, &mut plan);
    plan
}

/// Copies heads and weights of the arcs into pinned memory, side by side.
fn pinned_pairs(device: &Arc<dyn Device>, graph: &Graph) -> Result<HostPart> {
    let (heads, arcs) = (graph.csr().targets(), graph.arcs());
    match graph.csr().weights() {
        Weights::Unit(_) => pinned_arcs(device, arcs, |arc| [heads[arc], 1]),
        Weights::U32(weights) => pinned_arcs(device, arcs, |arc| [heads[arc], weights[arc]]),
        Weights::I32(weights) => pinned_arcs(device, arcs, |arc| [heads[arc], weights[arc] as u32]),
        Weights::F32(weights) => pinned_arcs(device, arcs, |arc| [heads[arc], weights[arc].to_bits()]),
        Weights::F64(weights) => pinned_arcs(device, arcs, |arc| [u64::from(heads[arc]), weights[arc].to_bits()]),
    }
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<ZeroCopy> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    let kernels = OfSemiring::new(graph, |semiring| {
        let name = if has_wide_offsets(graph) { "sssp_zero_copy_64" } else { "sssp_zero_copy_32" };
        let kernel = semiring.function(&**device, &images::SSSP_ZERO_COPY, name)?;
        Ok((kernel, whole_device(&**device, kernel, parameters, MOST_THREADS, u32::MAX)?))
    })?;
    let pieces = piece_count(graph, 0..graph.vertices());
    let windows = Windows::of(graph, bytes_of_arc(graph), parameters);
    let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph, parameters, pieces, &windows))?;
    let arcs = pinned_pairs(device, graph)?;
    let offsets = PlacedOffsets::new(&pool, arrays.offsets, graph)?;
    arrays.short_rows.map_or(Ok(()), |rows| rows.upload(&pool, graph))?;
    upload_pieces(&pool, arrays.pieces, graph, 0..graph.vertices())?;
    windows.upload(&pool, arrays.windows)?;
    let waiting = Waiting::new(device)?;
    device.synchronize()?;
    let argument = KernelArgument {
        offsets: offsets.as_ptr(),
        arcs: arcs.as_device_ptr(),
        short_begins: arrays.short_rows.map_or(DevicePtr::NULL, |rows| rows.begins()),
        short_arcs: arrays.short_rows.map_or(DevicePtr::NULL, |rows| rows.arcs()),
        distances: arrays.distances.as_mut_ptr().cast(),
        near: arrays.near.map(|bits| bits.as_mut_ptr()),
        far: arrays.far.as_mut_ptr(),
        pieces: arrays.pieces.as_ptr(),
        windows: arrays.windows.as_ptr(),
        turns: arrays.turns.as_mut_ptr(),
        report: arrays.report.as_mut_ptr(),
        out_of_range: arrays.out_of_range.as_mut_ptr(),
        targets_wanted: arrays.targets_wanted.as_ptr(),
        cancelled: waiting.cancelled(),
        statistics: DeviceMutPtr::NULL,
        limit: 0,
        delta: parameters.get("delta").unwrap_or_else(|| super::near_far::first_delta(graph)),
        degree: graph.arcs() as f64 / graph.vertices().max(1) as f64,
        target_count: 0,
        vertices: graph.vertices() as u32,
        window_count: windows.count(),
        least_of_window: windows.least,
        batch: parameters.get("batch").unwrap_or(BATCH) as u32,
        most_short: arrays.short_rows.map_or(0, |rows| rows.most_arcs),
    };
    let semiring = DeviceSemiring::Narrow;
    Ok(ZeroCopy { kernels, argument, arrays, waiting, semiring, pool, _offsets: offsets, _arcs: arcs })
}

#[derive(Debug)]
struct ZeroCopy {
    kernels: OfSemiring<(Function, LaunchShape)>,
    argument: KernelArgument,
    arrays: Arrays,
    waiting: Waiting,
    /// The semiring of the last search.
    semiring: DeviceSemiring,
    /// Dropped before what the kernel reads: that waits for the device.
    pool: Pool,
    _offsets: PlacedOffsets,
    _arcs: HostPart,
}

impl PreparedSssp for ZeroCopy {
    fn solve(&mut self, task: &SsspTask<'_>) -> Result<SsspOutcome> {
        let (pool, vertices) = (&self.pool, u64::from(self.argument.vertices));
        let Arrays { distances, near, far, targets_wanted, turns, report, out_of_range, counters, .. } = self.arrays;
        let needed = vertices * task.semiring.words();
        if needed > distances.length() {
            let (needed, available) = (4 * needed, 4 * distances.length());
            return Err(Error::OutOfMemory { what: "distances of 64 bits on the device".into(), needed, available });
        }
        self.semiring = task.semiring;
        let (kernel, shape) = self.kernels.get(task.semiring)?;
        start(pool, task.semiring.part(distances, self.argument.vertices), task.semiring, task.sources)?;
        mark(pool, near[0], self.argument.vertices.into(), task.sources)?;
        [near[1], near[2], far].into_iter().try_for_each(|bits| pool.fill(bits, 0))?;
        let watched = watched(task.targets, targets_wanted);
        pool.upload(targets_wanted, watched)?;
        pool.upload(turns, &[Turn { least: u64::MAX, ..bytemuck::Zeroable::zeroed() }; 3])?;
        pool.fill(out_of_range, 0)?;
        let search = KernelArgument {
            statistics: counters.start(pool, task)?,
            limit: task.cutoff,
            target_count: watched.len() as u32,
            ..self.argument
        };
        let device = pool.device();
        let seconds = self.waiting.run(device, task.control, || {
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects; all blocks of the
            // shape run at once.
            unsafe { device.launch(*kernel, shape, arguments![search]) }
        })?;
        let [rounds, thresholds, marked, relaxations] = pool.read_array(report)?;
        let statistics = vec![
            ("rounds", rounds),
            ("thresholds", thresholds),
            ("queued", marked),
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
        DeviceDistances::of(&self.pool, self.semiring.part(self.arrays.distances, self.argument.vertices))
    }
}
