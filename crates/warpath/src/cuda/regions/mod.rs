//! Searches region by region, on graphs whose paths have many arcs: road networks, meshes, grids. On one device or on several, with the
//! regions on the device or in the host's memory.
//!
//! Level by level such a search is a chain of thousands of barriers and loads, with little work between them. Here vertices are put
//! into regions of 128 that are near each other (`growth.rs`). A warp brings the record of a region (`records.rs`) and the
//! distances of its vertices to shared memory, and relaxes there until nothing changes, at most eight times: all wait for the slowest one. So a search goes
//! through up to eight levels without a barrier. Then the warp writes back what fell, tells the regions around what leaves it, and queues them for the next round. A *threshold*
//! keeps searches from going far along detours: vertices at or above it wait. When nothing is left below it moves on by `delta`
//! from the least distance that waits, and farther where little waits. Distances only fall, and each that fell is expanded, so when nothing waits they are those of
//! shortest paths, whatever the order.
//!
//! Records lie in pinned memory of the host. The device has *slots* for some of them, or all: a record that was brought over the bus gets
//! the slot of its number, unless the region that has it is searched at that time. A search passes through a region within a few
//! rounds, so a few slots are enough for each record to come over the bus once or twice in a search.
//!
//! *Several devices* have the regions of one range of vertices each. What a region finds for a vertex of another device is a message in the
//! memory of its own, which the other reads after the meeting that ends the round: a meeting for several levels.
//!
//! A device takes 4 bytes for each vertex (8 for wide distances), some 50 for each region, 2,048, 3,072 or 4,096 for each slot (for
//! weights of 0, 4 and 8 bytes), and 32 for each arc that leads to another device. Vertices with very many arcs do not fit a record: such graphs are refused.
//!
//! Work O(V + E) for each of the some seven visits of a region; span O(rounds) barriers, and in each round up to eight steps.
//!
//! Source: ours. The threshold is that of delta-stepping (Meyer and Sanders 2003); that one part of the graph after another is relaxed to the
//! end is known from searches on external memory (Meyer and Zeh 2003, "I/O-efficient undirected shortest paths") and from asynchronous
//! engines on GPUs.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they
//! expect. Arrays are taken from one pool of device memory or from pinned memory, which live as long as what is prepared here; ids and
//! positions come from a `Csr`, which has checked them, or from sources that were checked. A record fits its slot and the shared memory of
//! its warp: `growth.rs` ends a region before it does not.

mod growth;
mod parameters;
mod records;
mod room;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

pub(super) use self::parameters::{BLOCKS, DELTA, SLOTS, STEPS, THREADS, VERTICES, delta_for, seconds};
pub(crate) use self::parameters::{LAYOUTS, suits};
use self::parameters::{USUAL_STEPS, USUAL_VERTICES};
use self::records::{Records, Writer};
use self::room::{Room, UNIT};
use super::device::arena::{Arena, plan_of};
use super::device::host_part::HostPart;
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, Function, LaunchShape};
use super::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use super::launch::{WATCHED, Waiting};
use super::peers::company::{MOST, plan_exchange};
use super::peers::{self, Mailbox, Parts, Seen, Together, check_company};
use super::semirings::{DeviceSemiring, start};
use super::zero_copy::set_bits;
use crate::algorithms::{Parameters, Statistics, greatest_degree};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::{Control, Error, Result};

kernel_header! {
    path: "regions";
    namespace: regions;
    constants {
        /// Vertices of a region.
        const MOST_VERTICES: u32 = room::MOST_VERTICES as u32;
        /// Words of the bits of a region: the vertices take turns, so that those that are near each other are in different words.
        const WORDS_OF_REGION: u32 = MOST_VERTICES / 32;
        /// The most threads of a block: more would have too few registers.
        const MOST_THREADS: u32 = parameters::MOST_THREADS;
    }
    /// What one round tells the next. Three take turns: one is read, one written, one cleared.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    struct Turn {
        /// How many regions were queued.
        queued: u32,
        cancelled: u32,
        /// The least distance that was found at or above the threshold.
        least: u64,
    }

    /// The argument.
    struct KernelArgument<Lane> {
        /// In the host's memory.
        records: DevicePtr<[u32; 4]>,
        /// Where the record of each region begins, in units of 16 bytes, and the end of the last.
        begins: DevicePtr<u32>,
        /// Records that the device has,
        slots: DeviceMutPtr<[u32; 4]>,
        /// and the region of each.
        tags: DeviceMutPtr<u32>,
        /// By vertex.
        distances: DeviceMutPtr<cpp::Distance>,
        /// For each region a distance that no vertex is below that waits there.
        least: DeviceMutPtr<cpp::Distance>,
        /// A bit for each vertex, by position: whether it is to be expanded.
        bits: DeviceMutPtr<u32>,
        /// For which round each region was last queued.
        queued_for: DeviceMutPtr<u32>,
        /// The regions of even and of odd rounds.
        queues: [DeviceMutPtr<u32>; 2],
        /// What other devices are told in even and in odd rounds: position, vertex and distance.
        messages: [DeviceMutPtr<[u32; 4]>; 2],
        /// How many messages there are for each device, in three rounds.
        numbers: DeviceMutPtr<u32>,
        /// Three.
        turns: DeviceMutPtr<Turn>,
        /// Rounds, thresholds, visits, and how many records came over the bus.
        report: DeviceMutPtr<u64>,
        out_of_range: DeviceMutPtr<u32>,
        targets_wanted: DevicePtr<VertexId>,
        cancelled: DevicePtr<u32>,
        limit: u64,
        delta: f64,
        /// Where the messages for each device begin,
        messages_to: [u32; 8],
        /// and where those for this one begin there.
        messages_from: [u32; 8],
        target_count: u32,
        regions: u32,
        slot_count: u32,
        bytes_of_slot: u32,
        /// In shared memory.
        bytes_of_warp: u32,
        most_ghosts: u32,
        /// How often the arcs of a region are relaxed in a visit, at most.
        steps: u32,
        unused: u32,
    }
}

/// A search to make ready: what the two problems differ in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// The bytes of a weight in a record; 0 if arcs have the length 1 and no weight.
    pub(super) bytes_of_weight: usize,
    /// The words of a distance that there is room for.
    pub(super) words_of_distance: u64,
}

impl Kind {
    fn room(self, parameters: &Parameters) -> Room {
        let vertices = parameters.get(VERTICES.name).unwrap_or(USUAL_VERTICES) as usize;
        Room::of(vertices.clamp(1, room::MOST_VERTICES), self.bytes_of_weight)
    }
}

/// A part of the vertices, and what is counted there before its regions are known.
#[derive(Debug, Clone)]
struct Part {
    vertices: Range<usize>,
    /// The most regions that there can be.
    most_regions: u64,
    /// How many arcs lead to each of the parts.
    arcs_to: Vec<u64>,
}

impl Part {
    /// The parts. O(V + E) work where there are several.
    fn all(graph: &Graph, parts: &Parts, room: Room) -> Vec<Self> {
        let longest = greatest_degree(graph.csr().offsets());
        let counts = parts.arcs_between(graph);
        let part = |(part, arcs_to): (usize, Vec<u64>)| {
            let vertices = parts.vertices(part);
            let arcs = peers::arcs_of(graph, &vertices).len();
            Part { most_regions: room.most_regions(vertices.len(), arcs, longest), vertices, arcs_to }
        };
        counts.into_iter().enumerate().map(part).collect()
    }

    /// Where messages for each part begin, and the end; there are none for the part itself, which is `rank`.
    fn message_begins(&self, rank: usize) -> Vec<u64> {
        let mut begins = vec![0];
        for (part, &arcs) in self.arcs_to.iter().enumerate() {
            begins.push(begins[part] + if part == rank { 0 } else { arcs });
        }
        begins
    }
}

/// The arrays of a device.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    begins: DeviceSlice<u32>,
    slots: DeviceSlice<[u32; 4]>,
    tags: DeviceSlice<u32>,
    distances: DeviceSlice<u32>,
    least: DeviceSlice<u32>,
    bits: DeviceSlice<u32>,
    queued_for: DeviceSlice<u32>,
    queues: [DeviceSlice<u32>; 2],
    messages: [DeviceSlice<[u32; 4]>; 2],
    numbers: DeviceSlice<u32>,
    turns: DeviceSlice<Turn>,
    report: DeviceSlice<u64>,
    out_of_range: DeviceSlice<u32>,
    targets_wanted: DeviceSlice<VertexId>,
    mailbox: Mailbox,
}

/// The place of the bit of the vertex at this position.
fn place_of_bit(position: u32) -> u32 {
    let (region, vertex) = (position / MOST_VERTICES, position % MOST_VERTICES);
    region * MOST_VERTICES + vertex % WORDS_OF_REGION * 32 + vertex / WORDS_OF_REGION
}

fn layout(arena: &mut Arena<'_>, kind: Kind, parameters: &Parameters, part: &Part, rank: usize) -> Arrays {
    let (vertices, regions) = (part.vertices.len() as u64, part.most_regions);
    let share = parameters.get(SLOTS.name).unwrap_or(1.0).min(1.0);
    let slots = ((regions as f64 * share).ceil() as u64).clamp(1, regions);
    let messages = part.message_begins(rank)[part.arcs_to.len()];
    Arrays {
        begins: arena.take("where the records of regions begin", regions + 1),
        slots: arena.take("records of regions", slots * (kind.room(parameters).most / UNIT) as u64),
        tags: arena.take("the regions of the slots", slots),
        distances: arena.take("distances", vertices * kind.words_of_distance),
        least: arena.take("the least distances that wait", regions * kind.words_of_distance),
        bits: arena.take("vertices to expand", regions * u64::from(WORDS_OF_REGION)),
        queued_for: arena.take("rounds of the regions", regions),
        queues: arena.take_two(["queue of regions", "next queue of regions"], regions),
        messages: arena.take_two(["messages to other devices", "earlier messages"], messages),
        numbers: arena.take("numbers of messages", 3 * MOST as u64),
        turns: arena.take("counters", 3),
        report: arena.take("report", 4),
        out_of_range: arena.take("flag", 1),
        targets_wanted: arena.take("targets", vertices.min(WATCHED)),
        mailbox: Mailbox::layout(arena),
    }
}

/// The plan of the part that takes most, and of the records of all parts.
pub(super) fn plan(graph: &Graph, kind: Kind, parameters: &Parameters) -> Plan {
    /// Header, end of the rows and what fills up a record; where its members begin.
    const BYTES_OF_REGION: u64 = 48;
    let parts = Part::all(graph, &Parts::planned(graph, parameters), kind.room(parameters));
    let plans = parts.iter().enumerate();
    let plans = plans.map(|(rank, part)| plan_of(|arena| layout(arena, kind, parameters, part, rank)));
    let mut plan = plans.max_by_key(Plan::device_bytes).unwrap_or_default();
    let regions: u64 = parts.iter().map(|part| part.most_regions).sum();
    let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
    let bytes_of_arc = kind.bytes_of_weight as u64 + 10;
    let records = (BYTES_OF_REGION * regions + 6 * vertices).saturating_add(arcs.saturating_mul(bytes_of_arc));
    plan.memory("records of regions in pinned memory", records);
    plan.memory("regions while they grow", 12 * vertices);
    let messages = |(rank, part): (usize, &Part)| part.message_begins(rank)[parts.len()];
    let most_messages = parts.iter().enumerate().map(messages).max().unwrap_or(0);
    plan_exchange(&mut plan, parameters, parts.len(), 32 * most_messages + 12 * MOST as u64);
    plan
}

/// A part on its device.
#[derive(Debug)]
struct Member {
    vertices: Range<usize>,
    argument: KernelArgument,
    arrays: Arrays,
    waiting: Waiting,
    /// Dropped before what the kernel reads: that waits for the device.
    pool: Pool,
    _records: HostPart,
}

impl Member {
    fn new(device: &Arc<dyn Device>, part: &Part, rank: usize, writer: &Writer<'_>, made: &Making<'_>) -> Result<Self> {
        let Making { kind, parameters, .. } = *made;
        let regions = writer.regions.count();
        let Records { memory, begins } = writer.write(device)?;
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, kind, parameters, part, rank))?;
        pool.upload(arrays.begins.part(0, begins.len() as u64), &begins)?;
        pool.fill(arrays.tags, u32::MAX)?;
        arrays.mailbox.clear(&pool)?;
        let waiting = Waiting::new(device)?;
        let slot_count = arrays.tags.length().min(regions.max(1) as u64) as u32;
        let argument = KernelArgument {
            records: memory.as_device_ptr(),
            begins: arrays.begins.as_ptr(),
            slots: arrays.slots.as_mut_ptr(),
            tags: arrays.tags.as_mut_ptr(),
            distances: arrays.distances.as_mut_ptr().cast(),
            least: arrays.least.as_mut_ptr().cast(),
            bits: arrays.bits.as_mut_ptr(),
            queued_for: arrays.queued_for.as_mut_ptr(),
            queues: arrays.queues.map(|queue| queue.as_mut_ptr()),
            messages: arrays.messages.map(|messages| messages.as_mut_ptr()),
            numbers: arrays.numbers.as_mut_ptr(),
            turns: arrays.turns.as_mut_ptr(),
            report: arrays.report.as_mut_ptr(),
            out_of_range: arrays.out_of_range.as_mut_ptr(),
            targets_wanted: arrays.targets_wanted.as_ptr(),
            cancelled: waiting.cancelled(),
            limit: 0,
            delta: parameters.get(DELTA.name).unwrap_or(made.delta),
            messages_to: [0; 8],
            messages_from: [0; 8],
            target_count: 0,
            regions: regions as u32,
            slot_count,
            bytes_of_slot: writer.room.most as u32,
            bytes_of_warp: bytes_of_warp(kind, writer.room),
            most_ghosts: writer.room.most_ghosts() as u32,
            steps: parameters.get(STEPS.name).unwrap_or(USUAL_STEPS) as u32,
            unused: 0,
        };
        device.synchronize()?;
        Ok(Member { vertices: part.vertices.clone(), argument, arrays, waiting, pool, _records: memory })
    }

    /// Has the device begin a search from those of its own vertices that are sources, at these positions.
    fn begin(
        &self,
        search: &Search<'_>,
        positions: &[u32],
        mine: &[VertexId],
        watched: &[VertexId],
        number: u64,
    ) -> Result<()> {
        let Arrays { distances, least, bits, queued_for, numbers, turns, report, out_of_range, mailbox, .. } =
            self.arrays;
        let (pool, semiring) = (&self.pool, search.semiring);
        let first = self.vertices.start as VertexId;
        let places: Vec<VertexId> = mine.iter().map(|v| v - first).collect();
        start(pool, semiring.part(distances, self.vertices.len() as u32), semiring, &places)?;
        let mut bits_to_set: Vec<u32> = mine.iter().map(|&v| place_of_bit(positions[v as usize])).collect();
        bits_to_set.sort_unstable();
        let mut regions: Vec<u32> = bits_to_set.iter().map(|place| place / MOST_VERTICES).collect();
        regions.dedup();
        start(pool, semiring.part(least, least.length() as u32 / semiring.words() as u32), semiring, &regions)?;
        set_bits(pool, bits, &bits_to_set)?;
        pool.fill(queued_for, 0)?;
        pool.fill(numbers, 0)?;
        pool.fill(report, 0)?;
        pool.fill(out_of_range, 0)?;
        pool.upload(self.arrays.targets_wanted, watched)?;
        pool.upload(turns, &[Turn { least: u64::MAX, ..bytemuck::Zeroable::zeroed() }; 3])?;
        mailbox.begin(pool, number, [0; 5], 0)
    }

    /// Where its distances are.
    fn distances(&self, semiring: DeviceSemiring) -> DeviceSlice<u32> {
        semiring.part(self.arrays.distances, self.vertices.len() as u32)
    }
}

/// The shared memory of a warp.
fn bytes_of_warp(kind: Kind, room: Room) -> u32 {
    let values = room::MOST_VERTICES + room.most_ghosts();
    let words = values * kind.words_of_distance as usize + 2 * WORDS_OF_REGION as usize;
    (room.most + 4 * words).next_multiple_of(UNIT) as u32
}

/// The shape of a launch in which all blocks run at once, with shared memory for each warp.
pub(super) fn shape(device: &dyn Device, kernel: Function, kind: Kind, parameters: &Parameters) -> Result<LaunchShape> {
    /// For what the kernel has beside the memory of its warps.
    const BESIDE: u32 = 1024;
    let (properties, bytes_of_warp) = (device.properties(), bytes_of_warp(kind, kind.room(parameters)));
    let warps = properties.shared_bytes_per_block.saturating_sub(BESIDE) / bytes_of_warp;
    let most = (32 * warps).min(MOST_THREADS).min(properties.threads_per_block);
    let threads = parameters.get(THREADS.name).unwrap_or(f64::from(most));
    if threads > f64::from(most) || threads % 32.0 != 0.0 {
        return Err(Error::invalid(format!("`threads={threads}` is not a multiple of 32 up to {most}")));
    }
    let threads = threads as u32;
    let shared_bytes = threads / 32 * bytes_of_warp;
    let at_once = device.blocks_at_once(kernel, threads, shared_bytes)?.max(1);
    let blocks = parameters.get(BLOCKS.name).unwrap_or(f64::from(at_once));
    if blocks > f64::from(at_once) || blocks.fract() != 0.0 {
        return Err(Error::invalid(format!("`blocks={blocks}` is not a number from 1 to {at_once}")));
    }
    Ok(LaunchShape { cooperative: true, shared_bytes, ..LaunchShape::line(blocks as u32, threads) })
}

/// What a graph is made ready with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Making<'a> {
    pub(super) kind: Kind,
    pub(super) parameters: &'a Parameters,
    /// How far the threshold moves, unless it is set.
    pub(super) delta: f64,
}

/// A search from these sources.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) semiring: DeviceSemiring,
    /// In ascending order.
    pub(super) sources: &'a [VertexId],
    pub(super) targets: &'a [VertexId],
    pub(super) cutoff: u64,
    pub(super) control: &'a Control,
}

/// An array of distances, and the memory that it is in.
type Distances<'a> = (&'a Pool, DeviceSlice<u32>);

/// Devices with the regions of a graph.
#[derive(Debug)]
pub(super) struct OnDevices {
    members: Vec<Member>,
    together: Together,
    /// Of all vertices, each in its part.
    positions: Vec<u32>,
    words_of_distance: u64,
}

impl OnDevices {
    /// Makes regions and puts them there.
    pub(super) fn new(devices: &[Arc<dyn Device>], graph: &Graph, made: &Making<'_>) -> Result<Self> {
        let asked = made.parameters.get(VERTICES.name).unwrap_or(USUAL_VERTICES);
        if asked > room::MOST_VERTICES as f64 {
            return Err(Error::invalid(format!("`vertices={asked}` is more than {}", room::MOST_VERTICES)));
        }
        let (room, longest) = (made.kind.room(made.parameters), greatest_degree(graph.csr().offsets()));
        let most = room.longest_row();
        if longest > most {
            return Err(Error::invalid(format!(
                "this algorithm takes graphs whose vertices have up to {most} arcs each; some vertex has {longest}"
            )));
        }
        check_company(devices, made.parameters)?;
        let parts = Parts::of(graph, devices.len());
        let counted = Part::all(graph, &parts, room);
        let ranges: Vec<_> = counted.iter().map(|part| part.vertices.clone()).collect();
        let (regions, positions) = growth::grow(graph.csr(), &ranges, room)?;
        let mut members = Vec::new();
        for (rank, ((device, part), regions)) in devices.iter().zip(&counted).zip(&regions).enumerate() {
            let vertices = part.vertices.clone();
            let writer = Writer { graph, part: vertices, regions, positions: &positions, room };
            members.push(Member::new(device, part, rank, &writer, made)?);
        }
        let begins: Vec<Vec<u64>> = counted.iter().enumerate().map(|(rank, part)| part.message_begins(rank)).collect();
        for (rank, member) in members.iter_mut().enumerate() {
            for other in 0..begins.len() {
                let place = |begin: u64| {
                    u32::try_from(begin).map_err(|_| Error::invalid("too many arcs lead to other devices"))
                };
                // All places up to the end fit.
                place(begins[rank][begins.len()])?;
                member.argument.messages_to[other] = place(begins[rank][other])?;
                member.argument.messages_from[other] = place(begins[other][rank])?;
            }
        }
        let seen = |Member { arrays, .. }: &Member| {
            let [even, odd] = arrays.messages.map(|messages| messages.cast());
            Seen { mailbox: arrays.mailbox, arrays: vec![even, odd, arrays.numbers] }
        };
        let seen: Vec<Seen> = members.iter().map(seen).collect();
        let together = Together::new(devices, parts, &seen, made.parameters)?;
        Ok(OnDevices { members, together, positions, words_of_distance: made.kind.words_of_distance })
    }

    /// Searches; `kernel` has the kernel of each device and the shape of its launch. What was counted, and whether some walk was longer than
    /// distances go.
    pub(super) fn solve(
        &mut self,
        search: &Search<'_>,
        kernel: impl Fn(usize) -> Result<(Function, LaunchShape)>,
    ) -> Result<(Statistics, bool)> {
        if search.semiring.words() > self.words_of_distance {
            let vertices = self.positions.len() as u64;
            let (needed, available) = (4 * vertices * search.semiring.words(), 4 * vertices * self.words_of_distance);
            return Err(Error::OutOfMemory { what: "distances of 64 bits on the device".into(), needed, available });
        }
        let watched = if search.targets.len() as u64 <= WATCHED { search.targets } else { &[] };
        let (mut arguments, mut members) = (Vec::new(), Vec::new());
        for (part, member) in self.members.iter().enumerate() {
            let [sources, targets] = [search.sources, watched].map(|vertices| self.together.some_of(part, vertices));
            member.begin(search, &self.positions, sources, targets, self.together.number())?;
            // Vertices have their numbers in the whole graph.
            let before = member.vertices.start as u64 * 4 * search.semiring.words();
            let distances = DeviceMutPtr::new(member.arrays.distances.address().wrapping_sub(before));
            let target_count = targets.len() as u32;
            arguments.push(KernelArgument { target_count, limit: search.cutoff, distances, ..member.argument });
            let (function, shape) = kernel(part)?;
            let Member { pool, waiting, arrays: Arrays { mailbox, .. }, .. } = member;
            members.push(peers::Member { function, shape, pool, mailbox, waiting });
        }
        let seconds = self.together.run(&members, &arguments, watched.len(), search.control)?;
        let (mut visits, mut fetched, mut out_of_range) = (0, 0, false);
        let [mut rounds, mut thresholds] = [0, 0];
        for member in &self.members {
            let report: [u64; 4] = member.pool.read_array(member.arrays.report)?;
            (rounds, thresholds) = (report[0], report[1]);
            visits += report[2];
            fetched += report[3];
            out_of_range |= member.pool.read_array(member.arrays.out_of_range)? != [0];
        }
        if self.members.len() > 1 {
            self.together.have_met(rounds);
        }
        let regions = self.members.iter().map(|member| u64::from(member.argument.regions)).sum();
        let statistics = vec![
            ("rounds", rounds),
            ("thresholds", thresholds),
            ("regions", regions),
            ("visits_of_regions", visits),
            ("records_over_the_bus", fetched),
            ("devices", self.members.len() as u64),
            ("kernel_launches", self.members.len() as u64),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ];
        Ok((statistics, out_of_range))
    }

    /// Where the distances of a search in this semiring are: those of the first vertices, and of those after these on further devices.
    pub(super) fn distances(&self, semiring: DeviceSemiring) -> (Distances<'_>, Vec<Distances<'_>>) {
        let mut all = self.members.iter().map(|member| (&member.pool, member.distances(semiring))).collect::<Vec<_>>();
        (all.remove(0), all)
    }
}
