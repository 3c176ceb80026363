//! Many breadth-first searches of a small graph, up to 32 of them in one block: no barrier of the whole device.
//!
//! Where a graph is small the levels of [`many_sources`](super::many_sources) have next to nothing to do, and what there is
//! to wait for is its barriers: 130 microseconds for the eight levels of 64 searches. But the bits of 32 searches of such a
//! graph have room in the shared memory of one multiprocessor, so a block can do them alone, with barriers of its own at a
//! twentieth of a microsecond, and all blocks work beside each other. Nothing of a search is in global memory but the graph,
//! which stays in the L2 cache, and the levels, each written once. All sources are one launch, which is not cooperative: a
//! block for as many of them as make the device full, up to 32.
//!
//! - **Words.** A vertex has three: the searches that have *seen* it, those whose frontier it is in *now*, and those that find
//!   it for the *next* one. An arc is one look at what its head has seen; what is new there is claimed by an atomic operation
//!   on shared memory, and by a second one put into the word for the next level. Who finds that one empty lists the vertex.
//! - **The frontier** is such a list, of 16-bit numbers, while it has no more than a quarter of the vertices, so that
//!   the levels of long thin graphs cost only their vertices; where it is wider there is no list, but all vertices are
//!   looked at in order. Then 32 lanes write the levels of 32 vertices side by side.
//! - **Rows** are shared by as many lanes of a warp as make four arcs of an average row for each. Those with more than
//!   32 a lane are put aside, and taken in pieces by all warps: a hub holds nobody up.
//! - **The end** is when all searches have seen all vertices, or nothing new is found. Only levels wait: a search that is
//!   over costs nothing.
//!
//! It goes along arcs, never back. An arc is looked at once for each distance that its tail has from the 32 sources,
//! which in small worlds is two or three; to look for tails from each vertex that misses something would be once for
//! each level up to the last search that finds it. That is better only where there are enough arcs that looking ends
//! with the first few of them: so graphs with more than 16 million arcs are left to launches of the whole device, which
//! do both.
//!
//! Work O(V + E) for each distance that a vertex has; span O(levels) barriers of a block. Memory: 13.5 bytes of shared
//! memory a vertex, so up to 17,000 vertices where there are 227 KB. Nothing in global memory.
//!
//! Floors for the 4,039 vertices and 176,468 arcs of facebook_combined, in 131 blocks on 132 multiprocessors: 2.5 times the
//! arcs from L2 for each, 0.23 GB at 5.5 TB/s, 0.04 ms; for each of them a random load of shared memory, some 4 cycles a
//! warp, 0.03 ms; levels 65 MB at 4 TB/s, 0.02 ms; eight levels of four barriers and a few chains of accesses, 2 microseconds
//! each, 0.02 ms. None hides all of another, and half of the lanes have no arc: predicted were 0.15 to 0.3 ms, and it takes
//! 0.44 on an H200.
//!
//! Sources: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal"; Shun and Blelloch 2013, "Ligra:
//! A Lightweight Graph Processing Framework for Shared Memory", for the two forms of the frontier.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use crate::algorithms::{GraphFacts, Parameter, Parameters, Unset, Values, Workload};
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Arcs, are_wide};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::graph::VertexId;
use crate::{Error, Result};

/// Where searches are done.
pub(crate) const DISTANCES: Parameter = Parameter {
    name: "distances",
    summary: "memory for the distances, or their bits, of searches in flight",
    values: Values::Or(
        &Values::OneOf(&["shared", "global"]),
        Unset::InWords(|| "shared where there is room and it pays".into()),
    ),
};

/// Searches of a block: there are as many bits in a word.
const WIDEST: usize = 32;
/// Lists have 16 bits for a vertex.
const MOST_VERTICES: usize = 1 << 16;
/// Places of arcs are counted in 32 bits, a little beyond the last.
const MOST_ARCS: usize = 1 << 31;
/// The bytes of a block's shared memory that the kernel's own variables take.
const OWN_SHARED: u64 = 256;
/// How often a lane looks at arcs before a row is long.
const LOOKS: usize = 8;

/// Blocks at once, and shared memory of one, of the device that is predicted for where none is open: an H100 or H200.
const USUAL_BLOCKS: u32 = 132;
const USUAL_SHARED: u32 = 227 << 10;

/// What a block has in dynamic shared memory: three words a vertex, two lists, and long rows.
fn shared_bytes(vertices: usize, capacity: usize) -> u64 {
    (12 * vertices + 4 * capacity + 2 * (vertices / 4)) as u64
}

/// Whether it is to be considered for a graph, unless it is asked for: with more arcs than these, most need not be looked at
/// where searches also go back.
fn suits(graph: &GraphFacts, shared_bytes_per_block: u32) -> bool {
    const FEW_ARCS: usize = 1 << 24;
    graph.arcs <= FEW_ARCS && fits(graph.vertices, graph.arcs, shared_bytes_per_block)
}

/// Whether a block with so much shared memory has room.
fn fits(vertices: usize, arcs: usize, shared_bytes_per_block: u32) -> bool {
    vertices < MOST_VERTICES
        && arcs < MOST_ARCS
        && shared_bytes(vertices, vertices / 4) + OWN_SHARED <= shared_bytes_per_block.into()
}

/// What there is for any launch, in seconds.
const LAUNCH: f64 = 10e-6;

/// What all blocks that run at once are predicted to take, in seconds.
fn seconds_of_blocks(graph: &GraphFacts) -> f64 {
    /// What there is for any level, where levels are wide and where they are short.
    const WIDE_LEVEL: f64 = 2.5e-6;
    const SHORT_LEVEL: f64 = 1.5e-6;
    /// Arcs that a block goes along in a second, as measured on facebook_combined, how many times it does, and levels that it
    /// writes.
    const ARCS: f64 = 1.1e9;
    const PASSES: f64 = 2.5;
    const LEVELS: f64 = 8e9;
    let vertices = graph.vertices as f64;
    // From end to end of a square.
    let waiting = if graph.has_short_levels() { 2.0 * vertices.sqrt() * SHORT_LEVEL } else { 8.0 * WIDE_LEVEL };
    waiting + PASSES * graph.arcs as f64 / ARCS + WIDEST as f64 * vertices / LEVELS
}

/// How many times as many blocks as run at once are needed.
fn rounds(searches: usize, at_once: u32) -> f64 {
    searches.div_ceil(WIDEST * at_once as usize) as f64
}

/// The predicted seconds of this many searches on a usual device, one way or the other, if launches of the whole
/// device take so long.
pub(super) fn seconds_at_best(work: &Workload<'_>, of_launches: f64) -> f64 {
    let in_blocks = || LAUNCH + rounds(work.searches, USUAL_BLOCKS) * seconds_of_blocks(&work.graph);
    match work.parameters.word(DISTANCES.name) {
        None if suits(&work.graph, USUAL_SHARED) => of_launches.min(in_blocks()),
        Some("shared") => in_blocks(),
        _ => of_launches,
    }
}

kernel_header! {
    path: "bfs/one_block";
    namespace: one_block;
    constants {
        /// Arcs that a lane looks at together.
        const ARCS_A_LANE: u32 = 4;
    }

    /// The arguments.
    struct Batch<Offset> {
        /// Of the arcs by tail.
        offsets: DevicePtr<cpp::Offset>,
        targets: DevicePtr<VertexId>,
        /// A row for each source.
        levels: DeviceMutPtr<u32>,
        /// For each block two words: its levels, and 0, as none was searched bottom-up.
        report: DeviceMutPtr<u32>,
        sources: DevicePtr<VertexId>,
        cancelled: DevicePtr<u32>,
        /// From row to row.
        stride: u64,
        source_count: u32,
        /// Sources of a block, up to 32.
        width: u32,
        /// Below 65,536.
        vertices: u32,
        /// Of a list of the frontier.
        capacity: u32,
        /// That share a row: a power of two up to 32.
        lanes: u32,
        /// A row of more arcs is shared by all warps; such rows are fewer than a quarter of the vertices.
        long_row: u32,
    }
}

/// Where on the device everything is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Places {
    /// The graph's arcs by tail.
    pub(super) arcs: Arcs,
    /// Levels, from row to row.
    pub(super) levels: DeviceSlice<u32>,
    pub(super) stride: u64,
    /// Two words for each source.
    pub(super) reports: DeviceSlice<[u32; 2]>,
    pub(super) sources: DeviceSlice<VertexId>,
    /// The flag that cancels.
    pub(super) cancelled: DevicePtr<u32>,
}

/// Searches in blocks, ready to start.
#[derive(Debug)]
pub(super) struct OneBlock {
    kernel: Function,
    threads: u32,
    /// How many blocks run at once.
    at_once: u32,
    arguments: Batch,
    /// Whether nothing else is wanted.
    is_asked_for: bool,
    /// What all blocks that run at once are predicted to take.
    seconds: f64,
}

impl OneBlock {
    /// Makes it ready for this graph; `None` where it has no room, or is not wanted.
    pub(super) fn prepare(
        device: &dyn Device,
        graph: &GraphFacts,
        parameters: &Parameters,
        threads: u32,
        places: Places,
    ) -> Result<Option<Self>> {
        let most = device.properties().shared_bytes_per_block;
        let (vertices, arcs) = (graph.vertices, graph.arcs);
        let is_asked_for = match parameters.word(DISTANCES.name) {
            Some("global") => return Ok(None),
            Some(_) if !fits(vertices, arcs, most) => {
                return Err(Error::invalid(format!(
                    "`distances=shared` takes {} bytes of shared memory in a block; the device has {most}",
                    shared_bytes(vertices, vertices / 4)
                )));
            }
            None if !suits(graph, most) => return Ok(None),
            word => word.is_some(),
        };
        let name = if are_wide(arcs) { "bfs_one_block_64" } else { "bfs_one_block_32" };
        let kernel = device.function(&images::BFS_ONE_BLOCK, name)?;
        let arcs_a_lane = ARCS_A_LANE as usize;
        let lanes = 1 << (arcs / vertices.max(1) / arcs_a_lane).clamp(1, 32).ilog2();
        // Fewer than a quarter of all rows have more than four times the average.
        let long_row = (LOOKS * arcs_a_lane * lanes).max((4 * arcs).div_ceil(vertices.max(1)));
        let arguments = Batch {
            offsets: places.arcs.offsets.as_ptr(),
            targets: places.arcs.targets.as_ptr(),
            levels: places.levels.as_mut_ptr(),
            report: places.reports.words().as_mut_ptr(),
            sources: places.sources.as_ptr(),
            cancelled: places.cancelled,
            stride: places.stride,
            source_count: 0,
            width: 0,
            vertices: vertices as u32,
            capacity: (vertices / 4) as u32,
            lanes: lanes as u32,
            long_row: long_row.min(u32::MAX as usize) as u32,
        };
        let shared_bytes = shared_bytes(vertices, vertices / 4) as u32;
        let at_once = device.blocks_at_once(kernel, threads, shared_bytes)?.max(1);
        Ok(Some(OneBlock { kernel, threads, at_once, arguments, is_asked_for, seconds: seconds_of_blocks(graph) }))
    }

    /// Whether this many searches are to be done this way, if launches of the whole device are predicted to take this
    /// many seconds.
    pub(super) fn pays(&self, searches: usize, of_launches: f64) -> bool {
        self.is_asked_for || LAUNCH + rounds(searches, self.at_once) * self.seconds < of_launches
    }

    /// How many sources a block gets: enough that all blocks run at once, if there are bits enough.
    fn width(&self, sources: usize) -> usize {
        sources.div_ceil(self.at_once as usize).clamp(1, WIDEST)
    }

    /// Launches the searches from this many sources; returns how many reports there will be.
    pub(super) fn launch(&self, device: &dyn Device, sources: usize) -> Result<usize> {
        let width = self.width(sources);
        let blocks = sources.div_ceil(width).max(1);
        let Batch { vertices, capacity, .. } = self.arguments;
        let shape = LaunchShape {
            shared_bytes: shared_bytes(vertices as usize, capacity as usize) as u32,
            ..LaunchShape::line(blocks as u32, self.threads)
        };
        let batch = Batch { source_count: sources as u32, width: width as u32, ..self.arguments };
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe { device.launch(self.kernel, &shape, arguments![batch]) }?;
        Ok(blocks)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::many_sources::{ManySources, prepare, seconds_without_waiting};
    use super::*;
    use crate::algorithms::{Statistics, parse_algorithm};
    use crate::cuda::apsp::batched;
    use crate::cuda::device::testing::devices;
    use crate::graph::{Graph, Unit, VertexId};
    use crate::testing::{Random, one_of_every_shape};
    use crate::{Bfs, Control, Engine, Solver};

    fn parameters(text: &str) -> Parameters {
        parse_algorithm(&[batched::ALGORITHM], |algorithm| &algorithm.info, text).unwrap().1
    }

    fn prepared(device: &Arc<dyn Device>, graph: &Graph, text: &str, rows: usize) -> ManySources {
        prepare(device, graph, &parameters(text), rows as u64).unwrap()
    }

    fn statistic(statistics: &Statistics, name: &str) -> u64 {
        statistics.iter().find(|(counter, _)| *counter == name).unwrap().1
    }

    /// Searches from these sources, compares every level with the CPU engine's, and returns the counters.
    fn check(many: &mut ManySources, graph: &Graph, sources: &[VertexId], context: &str) -> Statistics {
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        many.start_each(sources, &Control::new()).unwrap();
        let statistics = many.finish(&Control::new()).unwrap_or_else(|error| panic!("{context}: {error}"));
        for (index, &source) in sources.iter().enumerate() {
            let expected = cpu.solve(Bfs::from(source).distances_only()).unwrap();
            let levels = many.found_from(index).levels().unwrap();
            assert_eq!(levels.len(), graph.vertices());
            for (vertex, &level) in (0..).zip(&levels) {
                let expected = expected.distance(vertex).map_or(u32::MAX, |d| d.to_f64() as u32);
                assert_eq!(level, expected, "{context}: from {source}, number {index}, to {vertex}");
            }
        }
        statistics
    }

    /// Few and many sources, some of them equal, in more blocks than run at once; lists of the frontier that are too small;
    /// rows for one lane and for a warp, and long ones.
    #[test]
    fn searches_in_a_block_are_those_alone() {
        let mut turn = 0;
        for seed in [1, 2] {
            let mut random = Random(seed);
            // Every other shape, and the others with the next seed.
            for (name, graph) in one_of_every_shape::<Unit>(seed).into_iter().skip(seed as usize - 1).step_by(2) {
                let vertices = graph.vertices();
                let count = [1, 31, 32, 33, 70, 130][turn % 6];
                let sources: Vec<_> = (0..count).map(|_| random.below(vertices as u64) as VertexId).collect();
                for device in devices(seed) {
                    let text =
                        ["batched:distances=shared,threads=64", "batched:distances=shared,threads=32"][turn / 2 % 2];
                    let mut many = prepared(&device, &graph, text, count);
                    let one_block = many.one_block.as_mut().unwrap();
                    one_block.at_once = [1, 1, 3, 1000][turn % 4];
                    if turn % 3 != 0 {
                        one_block.arguments.capacity = [0, 5][turn % 2].min(vertices as u32 / 4);
                    }
                    if turn % 5 != 0 {
                        one_block.arguments.lanes = [2, 4, 8, 32][turn % 5 - 1];
                        one_block.arguments.long_row = (4 * graph.arcs()).div_ceil(vertices) as u32;
                    }
                    let context = format!("{name}, {:?}, {count} sources", one_block.arguments);
                    let statistics = check(&mut many, &graph, &sources, &context);
                    assert_eq!(statistic(&statistics, "searches_in_one_block"), count as u64, "{context}");
                    assert_eq!(statistic(&statistics, "kernel_launches"), 1);
                    turn += 1;
                }
            }
        }
    }

    #[test]
    fn blocks_are_full_only_when_all_run() {
        let graph = Graph::from_edges((0..40_u32).map(|v| (v, v + 1))).unwrap();
        for device in devices(1) {
            let mut many = prepared(&device, &graph, "batched:distances=shared", 41);
            let one_block = many.one_block.as_mut().unwrap();
            one_block.at_once = 4;
            let widths = [1, 4, 5, 41, 128, 129, 10_000].map(|sources| one_block.width(sources));
            assert_eq!(widths, [1, 1, 2, 11, 32, 32, 32]);
            // From one end of a path to the other; from there to nowhere.
            let statistics = check(&mut many, &graph, &[0, 40], "path");
            assert_eq!(statistic(&statistics, "levels"), 40 + 1);
            assert_eq!(statistic(&statistics, "bottom_up_levels"), 0);
        }
    }

    #[test]
    fn offsets_of_64_bits_lead_to_the_same_levels() {
        let arcs = (0..300_u32).flat_map(|v| [(v, v * 5 % 301), (v, (v + 1) % 301), (3, v)]);
        let graph = Graph::from_edges(arcs).unwrap();
        let sources: Vec<VertexId> = (0..40).map(|v| v * 7).collect();
        for device in devices(3) {
            crate::cuda::graph::WIDE_OFFSETS.set(true);
            let mut many = prepared(&device, &graph, "batched:distances=shared,threads=64", 40);
            crate::cuda::graph::WIDE_OFFSETS.set(false);
            many.one_block.as_mut().unwrap().at_once = 2;
            check(&mut many, &graph, &sources, "64 bits");
        }
    }

    /// The largest graph that has room, all of whose vertices but one are in one frontier; one more vertex is too many.
    #[test]
    fn what_has_no_room_is_left_to_the_whole_device() {
        for device in devices(4) {
            let most = device.properties().shared_bytes_per_block;
            let star = |vertices: u32| Graph::from_edges((0..vertices - 1).map(|v| (vertices - 1, v))).unwrap();
            let has_room = |vertices: &u32| fits(*vertices as usize, *vertices as usize - 1, most);
            let vertices = (16_000..20_000).rev().step_by(100).find(has_room).unwrap();
            let vertices = (vertices..vertices + 100).rev().find(has_room).unwrap();
            let large = star(vertices);
            let mut many = prepared(&device, &large, "batched:distances=shared", 2);
            let statistics = check(&mut many, &large, &[vertices - 1, 5], "large");
            assert_eq!(statistic(&statistics, "searches_in_one_block"), 2);
            let larger = star(vertices + 1);
            let mut many = prepared(&device, &larger, "batched", 2);
            assert!(many.one_block.is_none());
            let statistics = check(&mut many, &larger, &[vertices, 5], "larger");
            assert_eq!(statistic(&statistics, "searches_in_one_block"), 0);
            let refused = prepare(&device, &larger, &parameters("batched:distances=shared"), 2).unwrap_err();
            assert!(refused.to_string().contains("bytes of shared memory"), "{refused}");
        }
    }

    #[test]
    fn the_quicker_way_is_taken() {
        let arcs = (0..500_u32).flat_map(|v| [(v, v * 7 % 501), (v, v + 1)]);
        let graph = Graph::from_edges(arcs).unwrap();
        let sources: Vec<VertexId> = (0..70).collect();
        for device in devices(5) {
            for (text, seconds, in_one_block) in [
                ("batched", None, 70),
                ("batched", Some(1.0), 0),
                ("batched:distances=shared", Some(1.0), 70),
                ("batched:distances=global", None, 0),
            ] {
                let mut many = prepared(&device, &graph, text, 70);
                if let (Some(one_block), Some(seconds)) = (&mut many.one_block, seconds) {
                    one_block.seconds = seconds;
                }
                let statistics = check(&mut many, &graph, &sources, text);
                assert_eq!(statistic(&statistics, "searches_in_one_block"), in_one_block, "{text}");
            }
        }
        let predicted = |text, searches| {
            let graph = GraphFacts::without_weights(&graph);
            seconds_without_waiting(&Workload { graph, parameters: &parameters(text), searches, threads: 1 })
        };
        let [whole, shared, global] =
            ["batched", "batched:distances=shared", "batched:distances=global"].map(|text| predicted(text, 501));
        assert!(shared < global / 4.0 && whole == shared, "{whole} {shared} {global}");
    }

    /// Searches that are cancelled before they begin leave rows as they were, and those after them are complete.
    #[test]
    fn cancelling_ends_it() {
        let graph = Graph::from_edges((0..100_u32).map(|v| (v, v + 1))).unwrap();
        for device in devices(6) {
            let mut many = prepared(&device, &graph, "batched:distances=shared", 3);
            let (pool, rows) = many.rows();
            pool.fill(rows, 7).unwrap();
            let control = Control::new();
            control.cancel();
            many.start_each(&[0, 1, 2], &control).unwrap();
            assert!(matches!(many.finish(&control), Err(Error::Interrupted)));
            assert_eq!(many.found_from(2).levels().unwrap()[3..], [7; 98]);
            check(&mut many, &graph, &[0, 1, 2], "after");
        }
    }
}
