//! Breadth-first search on graphs that are larger than the memory of the device: the arcs stay in pinned memory of the host.
//!
//! `sssp/zero_copy.rs` tells how arcs are read over the bus: in the order in which they lie in memory, where frontiers are bits.
//! Beside that, levels are searched bottom-up where that is predicted to read fewer bytes than the rows of the frontier have. There
//! every vertex that is not visited looks for a visited tail, and stops at the first. **The two best tails** of each vertex, those
//! with the most arcs, stay on the device, and answer for most vertices: only the others look into their rows.
//!
//! With best tails a vertex takes 16 and a half bytes on the device (20 where arcs are more than 2^32), without them 8 and a half,
//! and 4 and a half with offsets on the host, too. In undirected graphs the arcs to a vertex are those from it. In directed ones the
//! arcs by head lie in pinned memory, too, and their offsets on the device. To make them takes far longer than a search, so there best
//! tails have to be asked for; without them all levels are searched top-down, which reads each row once.
//!
//! Work O(V + E + levels * V / 4096), span O(levels) barriers of the grid.
//!
//! Source: Min, Mailthody, Qureshi, Xiong, Ebrahimi and Hwu 2020, "EMOGI: efficient memory-access for out-of-memory
//! graph-traversal in GPUs"; Beamer, Asanovic and Patterson 2012, "Direction-optimizing breadth-first search".
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that
//! they expect. Arrays are taken from one pool of device memory or from pinned memory, which live as long as what is prepared
//! here; the ids in them come from a `Csr`, which has checked them, or from sources that were checked.

use std::sync::Arc;

use super::predecessors::DeviceLevels;
use super::{BfsAlgorithm, BfsTask, PreparedBfs, start};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::host_part::HostPart;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Offsets, has_wide_offsets};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, WATCHED, Waiting, threads_up_to, watched, whole_device};
use crate::cuda::zero_copy::{
    OFFSETS, PlacedOffsets, WINDOW, Windows, host_has_offsets, mark, piece_count, pinned_arcs, upload_pieces,
    words_of_bits, words_of_frontier,
};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "zero-copy",
        summary: "arcs stay in the host's memory, and are read over the bus in their order; for graphs larger than the device's memory",
        source: "Min et al. 2020; Beamer et al. 2012",
        parameters: &[
            OFFSETS,
            WINDOW,
            BEST_TAILS,
            Parameter {
                name: "bottom-up",
                summary: "a level is searched bottom-up if that is predicted to read fewer bytes, times this, than top-down",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(1.0)),
            },
            threads_up_to::<MOST_THREADS>(),
            Parameter {
                name: "blocks",
                summary: "blocks",
                values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
            },
        ],
        negative_weights: true,
        seconds: |work| work.in_turn(1e-3 + 4.0 * work.arcs() / 51e9) + 4.0 * work.arcs() / 8e9,
    },
    plan,
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters)?)),
    prepare_on_several: None,
};

/// Whether levels may be searched bottom-up.
pub(super) const BEST_TAILS: Parameter = Parameter {
    name: "best-tails",
    summary: "whether devices keep the best tails of each vertex, to search bottom-up; directed graphs get arcs by head for that",
    values: Values::Or(
        &Values::OneOf(&["yes", NO]),
        Unset::InWords(|| "yes on undirected graphs, if the device has the offsets".into()),
    ),
};

/// Whether best tails are asked for.
pub(super) fn asks_for_best_tails(parameters: &Parameters) -> bool {
    parameters.word(BEST_TAILS.name).is_some_and(|word| word != NO)
}

/// Whether it has best tails by these parameters.
pub(super) fn has_best_tails(graph: &Graph, parameters: &Parameters) -> bool {
    parameters.word(BEST_TAILS.name).map_or(!graph.is_directed(), |word| word != NO)
}

/// This algorithm with ever less on the device.
pub(crate) const LAYOUTS: [&str; 3] = ["zero-copy", "zero-copy:best-tails=no", "zero-copy:offsets=host"];

/// Whether it is right for this graph.
pub(crate) fn takes(_: &Graph) -> bool {
    true
}

/// Bytes of the head of an arc.
const BYTES_OF_ARC: u64 = 4;
/// Without best tails.
const NO: &str = "no";
/// The most threads of a block: more would have too few registers.
pub(super) const MOST_THREADS: u32 = 448;
/// Threads count a little beyond the last vertex.
pub(super) const MOST_VERTICES: usize = u32::MAX as usize - (1 << 20);

kernel_header! {
    path: "bfs/zero_copy";
    namespace: zero_copy;
    /// What one level tells the next. Three take turns: one is read, one written, one cleared.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Turn {
        /// How many vertices were found.
        pub(super) found: u32,
        pub(super) cancelled: u32,
        /// How many arcs leave them, if there are best tails.
        pub(super) arcs: u64,
    }

    /// The argument. Offsets are u32 or u64.
    pub(super) struct KernelArgument<Offset> {
        pub(super) offsets: DevicePtr<cpp::Offset>,
        pub(super) targets: DevicePtr<VertexId>,
        /// The arcs by head: the same of an undirected graph.
        pub(super) incoming_offsets: DevicePtr<cpp::Offset>,
        pub(super) incoming: DevicePtr<VertexId>,
        /// For each vertex the first two tails to look for, filled up with no_vertex; null if all levels are searched top-down.
        pub(super) best_tails: DevicePtr<[u32; 2]>,
        pub(super) levels: DeviceMutPtr<u32>,
        /// Bits.
        pub(super) visited: DeviceMutPtr<u32>,
        /// The vertices of a level, and their groups, as bits. Three take turns.
        pub(super) frontier: [DeviceMutPtr<u32>; 3],
        /// Vertices and numbers of the pieces of long rows.
        pub(super) pieces: DevicePtr<[u32; 2]>,
        /// The first group of vertices and the first piece of each window.
        pub(super) windows: DevicePtr<[u32; 2]>,
        /// Three.
        pub(super) turns: DeviceMutPtr<Turn>,
        /// Number of levels, and of those searched bottom-up.
        pub(super) report: DeviceMutPtr<u32>,
        pub(super) targets_wanted: DevicePtr<VertexId>,
        pub(super) cancelled: DevicePtr<u32>,
        pub(super) arcs: u64,
        pub(super) target_count: u32,
        pub(super) vertices: u32,
        pub(super) window_count: u32,
        /// So many vertices of a window have to be in a frontier, on average, or there is one window.
        pub(super) least_of_window: u32,
        pub(super) cutoff: u32,
        /// The bytes predicted for a level bottom-up count so many times.
        pub(super) bottom_up: f32,
    }
}

/// The arrays of a search on the device.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    offsets: Option<Offsets>,
    /// Of the arcs by head, where they differ.
    incoming_offsets: Option<Offsets>,
    best_tails: Option<DeviceSlice<[u32; 2]>>,
    levels: DeviceSlice<u32>,
    visited: DeviceSlice<u32>,
    frontier: [DeviceSlice<u32>; 3],
    pieces: DeviceSlice<[u32; 2]>,
    windows: DeviceSlice<[u32; 2]>,
    targets_wanted: DeviceSlice<VertexId>,
    turns: DeviceSlice<Turn>,
    report: DeviceSlice<u32>,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, parameters: &Parameters, pieces: u64, windows: &Windows) -> Arrays {
    let vertices = graph.vertices() as u64;
    let has_best_tails = !host_has_offsets(parameters) && has_best_tails(graph, parameters);
    let by_head = has_best_tails && graph.is_directed();
    let visited = arena.take("visited", words_of_bits(vertices));
    let frontier =
        ["frontier", "next frontier", "last frontier"].map(|what| arena.take(what, words_of_frontier(vertices)));
    Arrays {
        offsets: PlacedOffsets::layout(arena, graph, parameters),
        incoming_offsets: by_head
            .then(|| Offsets::layout(arena, "offsets of arcs by head", vertices + 1, has_wide_offsets(graph))),
        best_tails: has_best_tails.then(|| arena.take("the best tails", vertices)),
        levels: arena.take("levels", vertices),
        visited,
        frontier,
        pieces: arena.take("pieces of long rows", pieces),
        windows: windows.layout(arena),
        targets_wanted: arena.take("targets", vertices.min(WATCHED)),
        turns: arena.take("counters", 3),
        report: arena.take("report", 2),
    }
}

fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    let pieces = piece_count(graph, 0..graph.vertices());
    let windows = Windows::of(graph, BYTES_OF_ARC, parameters);
    let mut plan = plan_of(|arena| layout(arena, graph, parameters, pieces, &windows));
    plan.memory("heads of the arcs in pinned memory", BYTES_OF_ARC * graph.arcs() as u64);
    PlacedOffsets::plan(graph, parameters, &mut plan);
    if graph.is_directed() && !host_has_offsets(parameters) && has_best_tails(graph, parameters) {
        plan.memory("tails of arcs by head in pinned memory", BYTES_OF_ARC * graph.arcs() as u64);
    }
    plan
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<ZeroCopy> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    if host_has_offsets(parameters) && asks_for_best_tails(parameters) {
        return Err(Error::invalid(
            "`best-tails=yes` needs the offsets on the device, and `offsets=host` leaves them on the host",
        ));
    }
    let function = |name| device.function(&images::BFS_ZERO_COPY, name);
    let (kernel, choose_best_tails) = match has_wide_offsets(graph) {
        true => (function("bfs_zero_copy_64")?, function("bfs_zero_copy_best_tails_64")?),
        false => (function("bfs_zero_copy_32")?, function("bfs_zero_copy_best_tails_32")?),
    };
    let shape = whole_device(&**device, kernel, parameters, MOST_THREADS, u32::MAX)?;
    let pieces = piece_count(graph, 0..graph.vertices());
    let windows = Windows::of(graph, BYTES_OF_ARC, parameters);
    let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph, parameters, pieces, &windows))?;
    let heads = graph.csr().targets();
    let targets = pinned_arcs(device, graph.arcs(), |arc| heads[arc])?;
    let offsets = PlacedOffsets::new(&pool, arrays.offsets, graph)?;
    let incoming = match arrays.incoming_offsets {
        Some(offsets) => {
            let by_head = graph.transpose()?;
            offsets.upload(&pool, by_head)?;
            Some(pinned_arcs(device, graph.arcs(), |arc| by_head.targets()[arc])?)
        }
        None => None,
    };
    upload_pieces(&pool, arrays.pieces, graph, 0..graph.vertices())?;
    windows.upload(&pool, arrays.windows)?;
    let waiting = Waiting::new(device)?;
    let argument = KernelArgument {
        offsets: offsets.as_ptr(),
        targets: targets.as_device_ptr(),
        incoming_offsets: arrays.incoming_offsets.map_or_else(|| offsets.as_ptr(), |by_head| by_head.as_ptr()),
        incoming: incoming.as_ref().unwrap_or(&targets).as_device_ptr(),
        best_tails: arrays.best_tails.map_or(DevicePtr::NULL, |tails| tails.as_ptr()),
        levels: arrays.levels.as_mut_ptr(),
        visited: arrays.visited.as_mut_ptr(),
        frontier: arrays.frontier.map(|bits| bits.as_mut_ptr()),
        pieces: arrays.pieces.as_ptr(),
        windows: arrays.windows.as_ptr(),
        turns: arrays.turns.as_mut_ptr(),
        report: arrays.report.as_mut_ptr(),
        targets_wanted: arrays.targets_wanted.as_ptr(),
        cancelled: waiting.cancelled(),
        arcs: graph.arcs() as u64,
        target_count: 0,
        vertices: graph.vertices() as u32,
        window_count: windows.count(),
        least_of_window: windows.least,
        cutoff: u32::MAX,
        bottom_up: parameters.get("bottom-up").unwrap_or(1.0) as f32,
    };
    if let Some(best_tails) = arrays.best_tails {
        let threads = device.properties().threads_per_block.min(512);
        let choosing = LaunchShape::line(device.blocks_at_once(choose_best_tails, threads, 0)?.max(1), threads);
        let KernelArgument { offsets, incoming_offsets, incoming, vertices, .. } = argument;
        let arguments = arguments![incoming_offsets, incoming, offsets, vertices, best_tails];
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe { device.launch(choose_best_tails, &choosing, arguments)? };
    }
    device.synchronize()?;
    Ok(ZeroCopy {
        kernel,
        shape,
        argument,
        arrays,
        waiting,
        pool,
        _offsets: offsets,
        _targets: targets,
        _incoming: incoming,
    })
}

#[derive(Debug)]
struct ZeroCopy {
    kernel: Function,
    shape: LaunchShape,
    argument: KernelArgument,
    arrays: Arrays,
    waiting: Waiting,
    /// Dropped before what the kernel reads: that waits for the device.
    pool: Pool,
    _offsets: PlacedOffsets,
    _targets: HostPart,
    _incoming: Option<HostPart>,
}

impl PreparedBfs for ZeroCopy {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let pool = &self.pool;
        let Arrays { levels, visited, frontier, targets_wanted, turns, report, .. } = self.arrays;
        start(pool, levels, task.sources)?;
        mark(pool, frontier[0], self.argument.vertices.into(), task.sources)?;
        pool.copy(visited, frontier[0].part(0, visited.length()))?;
        frontier[1..].iter().try_for_each(|&bits| pool.fill(bits, 0))?;
        let watched = watched(task.targets, targets_wanted);
        pool.upload(targets_wanted, watched)?;
        let sources = Turn { found: task.sources.len() as u32, ..bytemuck::Zeroable::zeroed() };
        pool.upload(turns, &[sources, bytemuck::Zeroable::zeroed(), bytemuck::Zeroable::zeroed()])?;
        let search = KernelArgument { target_count: watched.len() as u32, cutoff: task.cutoff, ..self.argument };
        let device = pool.device();
        let seconds = self.waiting.run(device, task.control, || {
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects; all blocks of the
            // shape run at once.
            unsafe { device.launch(self.kernel, &self.shape, arguments![search]) }
        })?;
        let report: [u32; 2] = pool.read_array(report)?;
        Ok(vec![
            ("levels", report[0].into()),
            ("bottom_up_levels", report[1].into()),
            ("kernel_launches", 1),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        DeviceLevels::of(&self.pool, self.arrays.levels)
    }
}
