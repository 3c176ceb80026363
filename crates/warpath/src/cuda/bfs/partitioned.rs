//! Breadth-first search on several devices at once: each has some of the vertices and the arcs that leave them.
//!
//! A level is searched on all devices in the same direction, by the code of `zero_copy.rs` top-down and by that of
//! `direction_optimizing.rs` bottom-up, and ends with one meeting (`peers.rs`), at which the devices tell each other how many vertices
//! they found and how many arcs leave these. So all decide the same about the next level, and no host is in the loop: one persistent
//! kernel on each device.
//!
//! - **Top-down** each device expands the vertices of the frontier that it has. For heads that another device has it sets bits in
//!   its own memory, once for each head in the whole search. At the beginning of the next level each device reads the bits that the
//!   others have set for its vertices, in order, and gives levels to those that had none. So one random access for an arc stays within a
//!   device, and what crosses between devices is dense. Bits of groups of 128 vertices say where some bit is set, so a narrow
//!   frontier costs V / 1024 bytes.
//! - **Bottom-up** each device first takes over which vertices of the others are visited, V / 8 bytes, and then looks for visited
//!   tails of its own vertices that are not. Before the first such level there is one more meeting: all have received by then.
//!
//! In undirected graphs the arcs to a vertex are those from it. Of a directed graph each device gets the arcs that lead to its vertices, too, if
//! that is asked for: to make them takes longer than a search. Without them all levels are searched top-down.
//!
//! A device takes 25 bytes for each of its vertices (29 where it has more than 2^32 arcs), 4 for each of its arcs, and nearly 5 for
//! each vertex of the graph: five bits, and the number of its arcs, by which best tails are chosen. Arcs by head of a directed graph add 4 (8) for each of its
//! vertices, and 4 for each arc that leads there.
//!
//! Work O(V + E + levels * V / 4096) on all devices together, span O(levels) meetings.
//!
//! Source: Beamer, Asanovic and Patterson 2012, "Direction-optimizing breadth-first search"; the partition in one dimension after
//! Yoo, Chow, Henderson, McLendon, Hendrickson and Catalyurek 2005, "A scalable distributed parallel breadth-first search algorithm on
//! BlueGene/L". That kernels exchange dense bits by themselves is this project's own.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that
//! they expect: arrays of a part begin where those of all vertices would. Arrays are taken from one pool on each device, which live
//! as long as what is prepared here, and all devices reach all pools; the ids in them come from a `Csr`, which has checked them, or
//! from sources that were checked.

use std::ops::Range;
use std::sync::Arc;

use super::direction_optimizing::TOP_DOWN;
use super::predecessors::DeviceLevels;
use super::zero_copy::{BEST_TAILS, MOST_VERTICES, has_best_tails};
use super::{BfsAlgorithm, BfsTask, PreparedBfs, direction_optimizing};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values, Workload};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Offsets, are_wide};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::launch::{AS_MANY_AS_RUN_AT_ONCE, WATCHED, Waiting, threads_up_to, whole_device};
use crate::cuda::peers::company::{EXCHANGE, PARTS, parts_of, plan_exchange};
use crate::cuda::peers::{self, Mailbox, Parts, Seen, Together, arcs_of, check_company};
use crate::cuda::zero_copy::{piece_count, upload_pieces, words_of_bits, words_of_frontier};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "partitioned",
        summary: "on several GPUs at once, each with a part of the vertices and their arcs",
        source: "Beamer et al. 2012; Yoo et al. 2005",
        parameters: &[
            PARTS,
            EXCHANGE,
            BEST_TAILS,
            Parameter {
                name: "bottom-up",
                summary: "bottom-up once this share of all arcs leaves the frontier, a quarter of it if hubs are there",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(BOTTOM_UP)),
            },
            Parameter {
                name: "top-down",
                summary: "top-down again once less than this share of all vertices is in it",
                values: Values::Or(&Values::AtLeast(0.0), Unset::Number(TOP_DOWN)),
            },
            threads_up_to::<MOST_THREADS>(),
            Parameter {
                name: "blocks",
                summary: "blocks on each device",
                values: Values::Or(&Values::AtLeast(1.0), AS_MANY_AS_RUN_AT_ONCE),
            },
        ],
        negative_weights: true,
        seconds,
    },
    plan,
    prepare: |device, graph, parameters| prepare(std::slice::from_ref(device), graph, parameters),
    prepare_on_several: Some(prepare),
};

/// Predicted seconds.
fn seconds(work: &Workload<'_>) -> f64 {
    /// A narrow level with its meeting.
    const LEVEL: f64 = 16e-6;
    /// What the calls of the host for a device and the meetings of a few wide levels take.
    const MEETINGS: f64 = 200e-6;
    /// Of the work of one device, what each does.
    const REPEATED: f64 = 0.1;
    let parts = parts_of(work.parameters).max(1) as f64;
    if work.graph.has_short_levels() {
        return work.in_turn(MEETINGS * parts + LEVEL * work.vertices().sqrt());
    }
    let alone = (direction_optimizing::ALGORITHM.info.seconds)(work);
    work.in_turn(MEETINGS * parts) + alone * (REPEATED + (1.0 - REPEATED) / parts)
}

/// The share of all arcs that ends a search top-down, unless it is set: sooner than on one device, where what crosses between devices is
/// no concern.
const BOTTOM_UP: f64 = 0.03;
/// The most threads of a block.
const MOST_THREADS: u32 = 512;

/// The most threads of a block: with wide offsets, more would have too few registers.
fn most_threads(is_wide: bool) -> u32 {
    if is_wide { 448 } else { MOST_THREADS }
}

kernel_header! {
    path: "bfs/partitioned";
    namespace: partitioned;
    /// What one level tells the next. Three take turns: one is read, one written, one cleared.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    struct Turn {
        /// How many vertices were found, or marked for others.
        found: u32,
        cancelled: u32,
        /// Whether some vertex of this device has a long row, if the next level is searched top-down.
        long_rows: u32,
        unused: u32,
        /// How many arcs leave them, if the level was searched top-down.
        arcs: u64,
    }

    /// A part of the graph on its device. Offsets are u32 or u64. Arrays of the part are used as if they had all vertices.
    struct Part<Offset> {
        offsets: DevicePtr<cpp::Offset>,
        targets: DevicePtr<VertexId>,
        /// The arcs by head: the same of an undirected graph.
        incoming_offsets: DevicePtr<cpp::Offset>,
        incoming: DevicePtr<VertexId>,
        /// For each vertex the first tails to look for, filled up with no_vertex; null if all levels are searched top-down.
        best_tails: DevicePtr<[u32; 4]>,
        /// Of all vertices the numbers of arcs, with best tails.
        degrees: DevicePtr<u32>,
        /// Bits of the vertices that nobody looks for, with best tails.
        settled: DevicePtr<u32>,
        levels: DeviceMutPtr<u32>,
        /// Bits of all vertices. Two take turns.
        visited: [DeviceMutPtr<u32>; 2],
        /// The vertices of a level, and their groups, as bits. Three take turns.
        frontier: [DeviceMutPtr<u32>; 3],
        /// Vertices and numbers of the pieces of long rows.
        pieces: DevicePtr<[u32; 2]>,
        /// Three.
        turns: DeviceMutPtr<Turn>,
        /// Number of levels, of those searched bottom-up, and of meetings.
        report: DeviceMutPtr<u32>,
        targets_wanted: DevicePtr<VertexId>,
        cancelled: DevicePtr<u32>,
        /// Of the whole graph.
        arcs: u64,
        /// How many sources are on this device: before the search, the first levels are these.
        source_count: u32,
        target_count: u32,
        vertices: u32,
        piece_count: u32,
        cutoff: u32,
        /// Bottom-up once this share of all arcs leaves the frontier,
        bottom_up: f32,
        /// and top-down again once less than this share of all vertices is in it.
        top_down: f32,
        unused: u32,
    }
}

/// The arrays of a part on its device.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    offsets: Offsets,
    targets: DeviceSlice<VertexId>,
    upward: Option<Upward>,
    levels: DeviceSlice<u32>,
    visited: [DeviceSlice<u32>; 2],
    frontier: [DeviceSlice<u32>; 3],
    pieces: DeviceSlice<[u32; 2]>,
    targets_wanted: DeviceSlice<VertexId>,
    turns: DeviceSlice<Turn>,
    report: DeviceSlice<u32>,
    mailbox: Mailbox,
}

/// What searches bottom-up need.
#[derive(Debug, Clone, Copy)]
struct Upward {
    /// The arcs by head, where they differ.
    incoming: Option<(Offsets, DeviceSlice<VertexId>)>,
    best_tails: DeviceSlice<[u32; 4]>,
    /// Of all vertices.
    degrees: DeviceSlice<u32>,
    settled: DeviceSlice<u32>,
}

/// How many pieces the long rows of a part have, and how many arcs lead to its vertices, if it has these arcs for themselves.
#[derive(Debug, Clone, Copy)]
struct Extent {
    pieces: u64,
    incoming: Option<usize>,
}

impl Extent {
    /// Those of all parts.
    fn of_all(graph: &Graph, parts: &Parts, parameters: &Parameters) -> Vec<Self> {
        let has_incoming = graph.is_directed() && has_best_tails(graph, parameters);
        let into = has_incoming.then(|| parts.arcs_into(graph));
        let of = |part: usize| Extent {
            pieces: piece_count(graph, parts.vertices(part)),
            incoming: into.as_ref().map(|into| into[part]),
        };
        (0..parts.count()).map(of).collect()
    }

    /// Whether offsets of the part take 64 bits, if so many arcs leave it.
    fn is_wide(self, arcs: usize) -> bool {
        are_wide(arcs.max(self.incoming.unwrap_or(0)))
    }
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, part: &Range<usize>, extent: Extent, upward: bool) -> Arrays {
    let (all, mine, arcs) = (graph.vertices() as u64, part.len() as u64, arcs_of(graph, part).len());
    let (pieces, is_wide) = (extent.pieces, extent.is_wide(arcs));
    Arrays {
        offsets: Offsets::layout(arena, "offsets of the vertices", mine + 1, is_wide),
        targets: arena.take("heads of the arcs", arcs as u64),
        upward: upward.then(|| Upward {
            incoming: extent.incoming.map(|arcs| {
                let offsets = Offsets::layout(arena, "offsets of arcs by head", mine + 1, is_wide);
                (offsets, arena.take("tails of arcs by head", arcs as u64))
            }),
            best_tails: arena.take("the best tails", mine),
            degrees: arena.take("numbers of arcs of all vertices", all),
            settled: arena.take("vertices never looked for", words_of_bits(mine)),
        }),
        levels: arena.take("levels", mine.next_multiple_of(4)),
        visited: arena.take_two(["visited", "visited next"], words_of_bits(all)),
        frontier: ["frontier", "next frontier", "last frontier"].map(|what| arena.take(what, words_of_frontier(all))),
        pieces: arena.take("pieces of long rows", pieces),
        targets_wanted: arena.take("targets", mine.min(WATCHED)),
        turns: arena.take("counters", 3),
        report: arena.take("report", 3),
        mailbox: Mailbox::layout(arena),
    }
}

/// The plan of the part that takes most.
fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    let (parts, upward) = (Parts::planned(graph, parameters), has_best_tails(graph, parameters));
    let extents = Extent::of_all(graph, &parts, parameters).into_iter().enumerate();
    let plans =
        extents.map(|(part, extent)| plan_of(|arena| layout(arena, graph, &parts.vertices(part), extent, upward)));
    let mut plan = plans.max_by_key(Plan::device_bytes).unwrap_or_default();
    let all = graph.vertices() as u64;
    plan_exchange(&mut plan, parameters, parts.count(), 4 * (3 * words_of_frontier(all) + 2 * words_of_bits(all)));
    plan
}

/// A part on its device.
#[derive(Debug)]
struct Member {
    vertices: u64,
    kernel: Function,
    shape: LaunchShape,
    argument: Part,
    arrays: Arrays,
    waiting: Waiting,
    pool: Pool,
}

impl Member {
    fn new(
        device: &Arc<dyn Device>,
        graph: &Graph,
        part: Range<usize>,
        extent: Extent,
        parameters: &Parameters,
    ) -> Result<Self> {
        let arcs = arcs_of(graph, &part);
        let is_wide = extent.is_wide(arcs.len());
        let function = |name| device.function(&images::BFS_PARTITIONED, name);
        let (kernel, choose_best_tails) = match is_wide {
            true => (function("bfs_partitioned_64")?, function("bfs_partitioned_best_tails_64")?),
            false => (function("bfs_partitioned_32")?, function("bfs_partitioned_best_tails_32")?),
        };
        let shape = whole_device(&**device, kernel, parameters, most_threads(is_wide), u32::MAX)?;
        let upward = has_best_tails(graph, parameters);
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph, &part, extent, upward))?;
        let (csr, first) = (graph.csr(), part.start as u64);
        arrays.offsets.upload_some(&pool, csr, part.clone())?;
        pool.upload(arrays.targets, &csr.targets()[arcs])?;
        upload_pieces(&pool, arrays.pieces, graph, part.clone())?;
        arrays.mailbox.clear(&pool)?;
        arrays.frontier.iter().try_for_each(|&bits| pool.fill(bits, 0))?;
        let waiting = Waiting::new(device)?;
        // Arrays of a part are used as if they had all vertices.
        let before = |address: u64, bytes: u64| address.wrapping_sub(first * bytes);
        let offsets = DevicePtr::new(before(arrays.offsets.address(), arrays.offsets.bytes_of_one()));
        let mut argument = Part {
            offsets,
            targets: arrays.targets.as_ptr(),
            incoming_offsets: offsets,
            incoming: arrays.targets.as_ptr(),
            best_tails: DevicePtr::NULL,
            degrees: DevicePtr::NULL,
            settled: DevicePtr::NULL,
            levels: DeviceMutPtr::new(before(arrays.levels.address(), 4)),
            visited: arrays.visited.map(|bits| bits.as_mut_ptr()),
            frontier: arrays.frontier.map(|bits| bits.as_mut_ptr()),
            pieces: arrays.pieces.as_ptr(),
            turns: arrays.turns.as_mut_ptr(),
            report: arrays.report.as_mut_ptr(),
            targets_wanted: arrays.targets_wanted.as_ptr(),
            cancelled: waiting.cancelled(),
            arcs: graph.arcs() as u64,
            source_count: 0,
            target_count: 0,
            vertices: graph.vertices() as u32,
            piece_count: extent.pieces as u32,
            cutoff: u32::MAX,
            bottom_up: parameters.get("bottom-up").unwrap_or(BOTTOM_UP) as f32,
            top_down: parameters.get("top-down").unwrap_or(TOP_DOWN) as f32,
            unused: 0,
        };
        if let Some(Upward { incoming, best_tails, degrees, settled }) = arrays.upward {
            if let Some((offsets, tails)) = incoming {
                let by_head = graph.transpose()?;
                let arcs = by_head.offsets()[part.start] as usize..by_head.offsets()[part.end] as usize;
                offsets.upload_some(&pool, by_head, part.clone())?;
                pool.upload(tails, &by_head.targets()[arcs])?;
                argument.incoming_offsets = DevicePtr::new(before(offsets.address(), offsets.bytes_of_one()));
                argument.incoming = tails.as_ptr();
            }
            pool.upload_with(degrees, graph.vertices(), |range, piece| {
                let ends = csr.offsets()[range.start..=range.end].windows(2);
                piece
                    .iter_mut()
                    .zip(ends)
                    .for_each(|(degree, row)| *degree = (row[1] - row[0]).min(u32::MAX.into()) as u32);
            })?;
            pool.fill(settled, 0)?;
            argument.best_tails = DevicePtr::new(before(best_tails.address(), 16));
            argument.degrees = degrees.as_ptr();
            argument.settled = DevicePtr::new(settled.address().wrapping_sub(first / 8));
            let threads = device.properties().threads_per_block.min(512);
            let choosing = LaunchShape::line(device.blocks_at_once(choose_best_tails, threads, 0)?.max(1), threads);
            let Part { incoming_offsets, incoming, best_tails, settled, .. } = argument;
            let [first, beyond] = [part.start as u32, part.end as u32];
            let arguments = arguments![incoming_offsets, incoming, first, beyond, degrees, best_tails, settled];
            // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
            unsafe { device.launch(choose_best_tails, &choosing, arguments)? };
        }
        device.synchronize()?;
        Ok(Member { vertices: part.len() as u64, kernel, shape, argument, arrays, waiting, pool })
    }

    /// Puts what a search begins with on the device: the kernel does the rest.
    fn begin(&self, mine: &[VertexId], watched: &[VertexId], number: u64, in_all: [usize; 2]) -> Result<()> {
        let Arrays { levels, targets_wanted, mailbox, .. } = self.arrays;
        self.pool.upload(levels.part(0, mine.len() as u64), mine)?;
        self.pool.upload(targets_wanted, watched)?;
        let [sources, targets] = in_all.map(|count| count as u64);
        mailbox.begin(&self.pool, number, [sources, 0, 0, targets, 0], 0)
    }
}

fn prepare(devices: &[Arc<dyn Device>], graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    if graph.vertices() > MOST_VERTICES {
        return Err(Error::invalid(format!("this algorithm takes graphs of up to {MOST_VERTICES} vertices")));
    }
    check_company(devices, parameters)?;
    let parts = Parts::of(graph, devices.len());
    let extents = Extent::of_all(graph, &parts, parameters);
    let members = devices
        .iter()
        .zip(extents)
        .enumerate()
        .map(|(part, (device, extent))| Member::new(device, graph, parts.vertices(part), extent, parameters));
    let members = members.collect::<Result<Vec<_>>>()?;
    let seen: Vec<Seen> = members
        .iter()
        .map(|Member { arrays, .. }| {
            let ([one, two, three], [visited, next]) = (arrays.frontier, arrays.visited);
            Seen { mailbox: arrays.mailbox, arrays: vec![one, two, three, visited, next] }
        })
        .collect();
    let together = Together::new(devices, parts, &seen, parameters)?;
    Ok(Box::new(Partitioned { members, together }))
}

#[derive(Debug)]
struct Partitioned {
    members: Vec<Member>,
    together: Together,
}

impl PreparedBfs for Partitioned {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let watched = if task.targets.len() as u64 <= WATCHED { task.targets } else { &[] };
        let (mut arguments, mut members) = (Vec::new(), Vec::new());
        for (part, member) in self.members.iter().enumerate() {
            let [sources, targets] = [task.sources, watched].map(|vertices| self.together.some_of(part, vertices));
            member.begin(sources, targets, self.together.number(), [task.sources.len(), watched.len()])?;
            let [source_count, target_count] = [sources, targets].map(|vertices| vertices.len() as u32);
            arguments.push(Part { source_count, target_count, cutoff: task.cutoff, ..member.argument });
            let &Member { kernel: function, shape, ref pool, ref waiting, ref arrays, .. } = member;
            members.push(peers::Member { function, shape, pool, mailbox: &arrays.mailbox, waiting });
        }
        let seconds = self.together.run(&members, &arguments, watched.len(), task.control)?;
        let report: [u32; 3] = self.members[0].pool.read_array(self.members[0].arrays.report)?;
        self.together.have_met(report[2].into());
        Ok(vec![
            ("levels", report[0].into()),
            ("bottom_up_levels", report[1].into()),
            ("devices", self.members.len() as u64),
            ("kernel_launches", self.members.len() as u64),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ])
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        let levels = |member: &'_ Member| member.arrays.levels.part(0, member.vertices);
        DeviceLevels {
            further: self.members[1..].iter().map(|member| (&member.pool, levels(member))).collect(),
            ..DeviceLevels::of(&self.members[0].pool, levels(&self.members[0]))
        }
    }
}

#[cfg(test)]
mod tests;
