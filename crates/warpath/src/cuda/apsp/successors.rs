//! The first vertex after the source on every shortest path, from final distances.
//!
//! # What it finds
//!
//! What a search from each source would: the predecessor of `v` is the smallest `u` with an arc that is tight,
//! `d(i, u) + w(u, v) = d(i, v)`, from a smaller distance, and, where there is none, what [`crate::problems`] says of
//! predecessors; the successor is the first vertex on that way. So the answer is the CPU's, whatever was admitted when,
//! and always a tree, with weights of 0 and below 0, too. Floats are left to the host: here they were added up in another
//! order.
//!
//! # How, and why like this
//!
//! To record, in the work on the matrix, by which vertex a cell was last lowered, would take what the inner loop has
//! least of: registers, and instructions beside the one for a relaxation. And what it gives is another vertex than the
//! smallest. To look, afterwards, at all arcs for all cells would be as many sums as the work itself, each compared,
//! not just the least kept. But an arc can be tight for any source only if it is a shortest path itself: from `d(i, v)
//! = d(i, u) + w(u, v)` and `d(i, v) <= d(i, u) + d(u, v)` follows `w(u, v) = d(u, v)`. One look at the matrix of
//! weights, kept from before the work, beside the matrix of distances tells which arcs are. In a dense graph there are
//! few: with random weights the logarithm of the number of vertices for each, or, if many weights are equal, some
//! percents.
//!
//! **Arcs on paths** are written down by head, tails ascending, 32 columns side by side, so that a warp reads the next arc
//! of 32 vertices at once. A block has the distances from up to four sources in shared memory, side by side, and a warp
//! goes through the arcs of 32 vertices until all have found one for each of these sources: one read of the arc, one of
//! shared memory at random, and four comparisons. Where rows are too long for four there are two, or one; where one is too
//! long, the distances come from the caches.
//!
//! **Where many arcs are shortest paths**, more than one cell in 16, as in a table of distances that are already shortest,
//! writing them down would take more room than the matrix. Then the columns of the matrix of weights itself are read,
//! with tails ascending all the same. Where an arc from the source is a path, as it is there for all vertices, the
//! smallest predecessor is the source or less: so on average half of the column is read.
//!
//! **Weights of 0** make arcs from one distance to the same. Vertices with no other tight arc take rounds, as on the host:
//! each round looks for tight arcs from vertices that had a predecessor before it. With weights below 0 all vertices do.
//!
//! **From predecessors to successors:** every vertex goes up its chain until that ends at a vertex whose predecessor is the
//! source, and writes down, at every step, how far it has come: all together take a logarithm of the length.
//!
//! # Work, memory
//!
//! For `T` arcs on paths: `V * T` tests at most, fewer where many arcs are tight, `V^2` for the rest, and `V^2` times a
//! logarithm for the chains. Memory: the matrix once more, half a byte for each cell for the arcs (a quarter in 16 bits), and
//! a word for each cell of the result.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use super::{Cell, DenseTask};
use crate::Result;
use crate::algorithms::Statistics;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::graph::{NO_VERTEX, VertexId};

/// Columns of a slice: one for each lane of a warp.
const SLICE: u64 = 32;
/// Arcs are written down if at most one in this many cells is an arc.
const CELLS_OF_ARC: u64 = 16;
/// Threads of a block that goes through a matrix.
const THREADS: u32 = 256;
/// The most that may be tested in a launch.
const TESTS_OF_LAUNCH: u64 = 1 << 40;

#[cfg(test)]
thread_local! {
    /// The most room for arcs, and the most shared memory, that tests allow, so that small graphs are treated as large.
    pub(super) static MOST_ARCS: std::cell::Cell<u64> = const { std::cell::Cell::new(u64::MAX) };
    pub(super) static MOST_SHARED: std::cell::Cell<u64> = const { std::cell::Cell::new(u64::MAX) };
}

/// The cells kept from before the work on a matrix, and room for all derived arrays.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    /// The matrix as it was before.
    pub(super) weights: DeviceSlice<u8>,
    counts: DeviceSlice<u32>,
    degrees: DeviceSlice<u32>,
    starts: DeviceSlice<u64>,
    arcs: DeviceSlice<u8>,
    pub(super) sources: DeviceSlice<VertexId>,
    pub(super) successors: DeviceSlice<VertexId>,
    unexplained: DeviceSlice<u32>,
}

/// How many arcs there is room for, and the bytes of one; none if they don't fit the words that they are in.
fn arcs_room(cell: Cell, vertices: u64) -> (u64, u64) {
    /// In words of 32 bits, a tail has 17.
    const MOST_TAILS: u64 = 1 << 17;
    let is_narrow = cell == Cell::U16;
    // Slices are padded to four arcs in each column.
    let arcs = vertices.saturating_mul(vertices) / CELLS_OF_ARC + 4 * vertices.next_multiple_of(SLICE);
    (if is_narrow && vertices > MOST_TAILS { 0 } else { arcs }, 2 * cell.bytes())
}

/// The numbers of chunks, columns and slices.
fn parts(vertices: u64) -> [u64; 3] {
    let columns = vertices.next_multiple_of(SLICE);
    [vertices.div_ceil(CHUNK.into()), columns, columns / SLICE]
}

impl Room {
    /// Takes room for the arrays that a matrix of this many bytes needs.
    pub(super) fn layout(arena: &mut Arena<'_>, cell: Cell, vertices: u64, matrix_bytes: u64, sources: u64) -> Self {
        let [chunks, columns, slices] = parts(vertices);
        let (arcs, arc_bytes) = arcs_room(cell, vertices);
        Room {
            weights: arena.take("matrix of weights", matrix_bytes),
            counts: arena.take("arcs on paths of each chunk", chunks.saturating_mul(columns)),
            degrees: arena.take("arcs on paths of each vertex", columns),
            starts: arena.take("where they begin", slices + 1),
            arcs: arena.take("arcs on paths", arcs.saturating_mul(arc_bytes)),
            sources: arena.take("sources", sources),
            successors: arena.take("successors", sources.saturating_mul(vertices)),
            unexplained: arena.take("flag of successors", 1),
        }
    }
}

kernel_header! {
    path: "apsp/successors";
    namespace: successors;
    constants {
        /// So many tails are a chunk.
        const CHUNK: u32 = 128;
    }

    /// The argument.
    struct KernelArgument {
        distances: DevicePtr<cpp::Void>,
        /// The matrix as it was before the first vertex was admitted.
        weights: DevicePtr<cpp::Void>,
        /// Cells from row to row of both.
        pitch: u64,
        vertices: u32,
        /// Whole slices.
        columns: u32,
        /// Numbers from here on are no distances.
        threshold: i64,
        /// Of each chunk and column: how many arcs, then how many there are before it.
        counts: DeviceMutPtr<u32>,
        /// Of each column.
        degrees: DeviceMutPtr<u32>,
        /// Of each slice, and where the last one ends.
        starts: DeviceMutPtr<u64>,
        /// Null where they are too many: then the matrix of weights is read instead.
        arcs: DeviceMutPtr<cpp::Void>,
        sources: DevicePtr<VertexId>,
        /// A row for each source.
        successors: DeviceMutPtr<VertexId>,
        /// Set if some vertex that is reached has no predecessor yet.
        unexplained: DeviceMutPtr<u32>,
        /// Of this launch.
        first_row: u32,
        end_row: u32,
    }
}

/// A matrix of all distances on a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Distances<'m> {
    pub(super) pool: &'m Pool,
    pub(super) cells: DeviceSlice<u8>,
    pub(super) cell: Cell,
    /// Cells from row to row.
    pub(super) pitch: u64,
    pub(super) vertices: u64,
    /// Numbers from here on are no distances.
    pub(super) threshold: i64,
}

impl Room {
    /// Derives the successors from the distances.
    pub(super) fn derive(&self, of: &Distances<'_>, task: &DenseTask<'_>) -> Result<Statistics> {
        let room = self;
        let Distances { pool, cells, vertices, .. } = *of;
        let rows = room.sources.length() as u32;
        let [_, columns, slices] = parts(vertices);
        let device = pool.device();
        let mut search = KernelArgument {
            distances: cells.as_ptr().cast(),
            weights: room.weights.as_ptr().cast(),
            pitch: of.pitch,
            vertices: vertices as u32,
            columns: columns as u32,
            threshold: of.threshold,
            counts: room.counts.as_mut_ptr(),
            degrees: room.degrees.as_mut_ptr(),
            starts: room.starts.as_mut_ptr(),
            arcs: room.arcs.as_mut_ptr().cast(),
            sources: room.sources.as_ptr(),
            successors: room.successors.as_mut_ptr(),
            unexplained: room.unexplained.as_mut_ptr(),
            first_row: 0,
            end_row: rows,
        };
        let cell = of.cell.name();
        let launch = |name: &str, shape: &LaunchShape, search: KernelArgument| -> Result<()> {
            let function = device.function(&images::APSP_SUCCESSORS, &format!("apsp_successors_{name}"))?;
            // SAFETY: the argument is the kernels', and all arrays have the lengths that they expect.
            unsafe { device.launch(function, shape, arguments![search]) }
        };
        let lines = |items: u64| {
            let most = u64::from(device.properties().multiprocessors) * 16;
            LaunchShape::line(items.clamp(1, most) as u32, THREADS)
        };
        let (before, after) = (device.event()?, device.event()?);
        device.record(&before)?;

        // The arcs that are shortest paths.
        let passes = lines(parts(vertices)[0] * columns.div_ceil(THREADS.into()));
        launch(&format!("count_{cell}"), &passes, search)?;
        launch("columns", &lines(columns.div_ceil(THREADS.into())), search)?;
        launch("slices", &LaunchShape::line(1, THREADS), search)?;
        let [padded] = pool.read_array::<u64, 1>(room.starts.part(slices, 1))?;
        let (capacity, _) = arcs_room(of.cell, vertices);
        #[cfg(test)]
        let capacity = capacity.min(MOST_ARCS.get());
        let are_written_down = padded <= capacity;
        if are_written_down {
            launch(&format!("fill_{cell}"), &passes, search)?;
        } else {
            search.arcs = DeviceMutPtr::NULL;
        }

        // Predecessors at smaller distances.
        pool.fill(room.unexplained, 0)?;
        let negative_weights = task.graph.has_negative_weights();
        if negative_weights {
            pool.fill(room.successors, NO_VERTEX)?;
        } else {
            let (together, kernel, shared_bytes) = of.find_kernel();
            let function = device.function(&images::APSP_SUCCESSORS, &kernel)?;
            let threads = columns.min(1024) as u32;
            let at_once = device.blocks_at_once(function, threads, shared_bytes)?.max(1);
            let wave = at_once * together;
            let waves = TESTS_OF_LAUNCH / (vertices * vertices * u64::from(wave)).max(1);
            let of_launch = wave.saturating_mul(waves.clamp(1, u32::MAX.into()) as u32);
            while search.first_row < rows {
                search.end_row = rows.min(search.first_row.saturating_add(of_launch));
                let blocks = (search.end_row - search.first_row).div_ceil(together).min(at_once);
                let shape = LaunchShape { shared_bytes, ..LaunchShape::line(blocks, threads) };
                // SAFETY: as above.
                unsafe { device.launch(function, &shape, arguments![search])? };
                search.first_row = search.end_row;
                if search.first_row < rows {
                    device.synchronize()?;
                    task.control.check()?;
                }
            }
            search.first_row = 0;
        }

        // The others.
        let unexplained = negative_weights || pool.read_array(room.unexplained)? != [0];
        let of_rows = lines(rows.into());
        if unexplained {
            let threads = columns.min(1024) as u32;
            launch(&format!("descend_{cell}"), &LaunchShape::line(of_rows.grid[0], threads), search)?;
        }
        launch("shorten", &of_rows, search)?;
        device.record(&after)?;
        let seconds = device.seconds_between(&before, &after)?;
        Ok(vec![
            ("successor_nanoseconds", (seconds * 1e9) as u64),
            ("arcs_on_paths_padded", padded),
            ("arcs_on_paths_written_down", are_written_down.into()),
        ])
    }
}

impl Distances<'_> {
    /// How many sources a block takes together, the kernel for that, and its shared memory.
    fn find_kernel(&self) -> (u32, String, u32) {
        let most = u64::from(self.pool.device().properties().shared_bytes_per_block);
        #[cfg(test)]
        let most = most.min(MOST_SHARED.get());
        let row = self.vertices * self.cell.bytes();
        // Vectors have 16 bytes at most.
        let together = [4, 2, 1].into_iter().find(|rows| rows * self.cell.bytes() <= 16 && rows * row <= most);
        let name = together.map_or_else(|| String::from("far"), |rows| rows.to_string());
        let kernel = format!("apsp_successors_find_{}_{name}", self.cell.name());
        (together.unwrap_or(1) as u32, kernel, together.map_or(0, |rows| (rows * row) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::GraphFacts;
    use crate::algorithms::parse_algorithm;
    use crate::cuda::apsp::strips::Room;
    use crate::cuda::apsp::{ALGORITHMS, ApspAlgorithm, MinPlusOnDevice, Solved};
    use crate::cuda::device::testing::devices;
    use crate::graph::{Graph, GraphBuilder, I32ToI64, U32ToU32, U32ToU64, UnitToU32};
    use crate::testing::{Random, TestWeight, graphs_of_every_shape};
    use crate::{Apsp, Control, Engine, Solver};

    /// How large a graph the device is made to believe it has: room for all, arcs that are not written down, rows two of
    /// which, one of which and none of which fit shared memory.
    const ALL: Way = Way { arcs: u64::MAX, rows: u64::MAX };
    const WAYS: [Way; 6] = [
        ALL,
        Way { arcs: 0, ..ALL },
        Way { rows: 2, ..ALL },
        Way { rows: 1, arcs: 0 },
        Way { rows: 0, ..ALL },
        Way { rows: 0, arcs: 0 },
    ];

    #[derive(Debug, Clone, Copy)]
    struct Way {
        arcs: u64,
        rows: u64,
    }

    /// The successors of these sources are those that the CPU derives. Returns whether arcs were written down; `None` if the
    /// semiring is too narrow.
    fn agrees_with_the_cpu<L: MinPlusOnDevice>(
        name: &str,
        graph: &Graph,
        sources: &[VertexId],
        algorithm: &str,
        way: Way,
    ) -> Option<bool> {
        let mut written = false;
        let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
        let expected = cpu.solve(Apsp::all().from(sources).algorithm("batched")).unwrap().successors(graph).unwrap();
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, ApspAlgorithm::info, algorithm).unwrap();
        let ApspAlgorithm::OnMatrix(algorithm) = algorithm else { panic!("no algorithm on a matrix") };
        let room = Room { devices: 1, device_bytes: u64::MAX, host_bytes: u64::MAX, multiprocessors: 1 };
        for device in devices(sources.len() as u64) {
            let task = DenseTask {
                graph,
                takes_part: None,
                successors_of: Some(sources),
                parameters: &parameters,
                control: &Control::new(),
                state: None,
            };
            MOST_ARCS.set(way.arcs);
            let cells = algorithm
                .cells::<L>(&GraphFacts::of(graph), &parameters, Some(device.properties().compute_capability))
                .unwrap();
            MOST_SHARED.set(way.rows.saturating_mul(graph.vertices() as u64 * cells[0].bytes()));
            let solved = algorithm.solve::<L>(&[device], &room, &task).unwrap();
            MOST_ARCS.set(u64::MAX);
            MOST_SHARED.set(u64::MAX);
            let computed = match solved {
                Solved::Matrix(computed) => computed,
                Solved::TooNarrow => return None,
                Solved::NegativeCycle => panic!("{name}"),
            };
            let counted = |name| computed.statistics.iter().find(|(counter, _)| *counter == name).unwrap().1;
            written = counted("arcs_on_paths_written_down") == 1;
            if way.arcs == 0 {
                assert_eq!(written, counted("arcs_on_paths_padded") == 0, "{name}");
            }
            let mut found = vec![7; sources.len() * graph.vertices()];
            assert!(computed.matrix.read_successors(&mut found).unwrap());
            for (row, found) in found.chunks(graph.vertices()).enumerate() {
                assert_eq!(found, expected.row(row), "{name}, {way:?}, from {}", sources[row]);
            }
        }
        Some(written)
    }

    fn agrees_on_every_shape<W: TestWeight, L: MinPlusOnDevice>(seed: u64, every: usize, algorithm: &str) {
        let graphs = graphs_of_every_shape::<W>(seed).into_iter().skip(seed as usize % every).step_by(every);
        for (turn, (name, graph)) in graphs.enumerate() {
            let all: Vec<VertexId> = (0..graph.vertices() as VertexId).collect();
            // On the emulator, all rows of the larger ones would take long.
            let sources: Vec<_> = all.iter().rev().copied().step_by(1 + graph.vertices() / 60).collect();
            let way = WAYS[(turn + seed as usize) % WAYS.len()];
            if agrees_with_the_cpu::<L>(&name, &graph, &sources, algorithm, way).is_none() {
                assert_eq!(L::NAME, "u32->u32", "{name}");
                agrees_with_the_cpu::<U32ToU64>(&name, &graph, &sources, algorithm, way).unwrap();
            }
        }
    }

    #[test]
    fn every_shape_in_every_way() {
        for seed in 0..3 {
            agrees_on_every_shape::<u32, U32ToU32>(seed, 7, "tiled-floyd-warshall");
        }
        agrees_on_every_shape::<crate::graph::Unit, UnitToU32>(1, 9, "tiled-floyd-warshall");
        agrees_on_every_shape::<u32, U32ToU32>(3, 9, "tiled-floyd-warshall:cell-bits=32");
        for seed in 0..2 {
            agrees_on_every_shape::<i32, I32ToI64>(seed, 9, "tiled-floyd-warshall");
        }
    }

    fn random_arcs(seed: u64, vertices: u64, arcs: usize, weights: &[i32]) -> Vec<(VertexId, VertexId, i32)> {
        let mut random = Random(seed);
        let mut vertex = || random.below(vertices) as VertexId;
        let ends: Vec<_> = (0..arcs).map(|_| (vertex(), vertex())).collect();
        ends.into_iter().map(|(u, v)| (u, v, weights[random.below(weights.len() as u64) as usize])).collect()
    }

    fn graph_of(vertices: u64, arcs: Vec<(VertexId, VertexId, i32)>, signed: bool) -> Graph {
        let builder = GraphBuilder::new().vertices(vertices);
        if signed {
            return builder.build_from(arcs).unwrap();
        }
        builder.build_from(arcs.into_iter().map(|(u, v, weight)| (u, v, weight as u32)).collect::<Vec<_>>()).unwrap()
    }

    /// Circles of weight 0, chains of them, ties everywhere.
    #[test]
    #[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
    fn plateaus_become_trees() {
        for (turn, way) in WAYS.into_iter().enumerate() {
            let zeros = graph_of(100, random_arcs(turn as u64, 100, 333, &[0, 0, 0, 1, 2]), false);
            agrees_with_the_cpu::<U32ToU32>("zeros", &zeros, &[0, 99, 50, 3, 3], "floyd-warshall", way);
            if turn % 2 == 1 {
                continue;
            }
            let chain = (0..66_u32).flat_map(|v| [(v, v + 1, 0), (v + 1, v, 0)]).chain([(33, 7, 1), (80, 0, 3)]);
            let chain = graph_of(81, chain.collect(), false);
            agrees_with_the_cpu::<U32ToU32>("chain", &chain, &[66, 0, 80, 73], "floyd-warshall", way);
        }
    }

    /// Differences of heights, here and there a little more: no circle is negative, many are 0.
    #[test]
    #[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
    fn negative_weights() {
        let mut random = Random(11);
        let heights: Vec<i32> = (0..97).map(|_| random.below(40) as i32).collect();
        for (turn, way) in WAYS.into_iter().enumerate() {
            let arcs = random_arcs(20 + turn as u64, 97, 485, &[0, 0, 0, 1, 9]).into_iter();
            let arcs = arcs.map(|(u, v, more)| (u, v, heights[v as usize] - heights[u as usize] + more)).collect();
            let graph = graph_of(97, arcs, true);
            assert!(graph.has_negative_weights());
            let algorithm = ["floyd-warshall", "floyd-warshall:cell-bits=64"][turn % 2];
            agrees_with_the_cpu::<I32ToI64>("heights", &graph, &[96, 0, 46, 47, 48], algorithm, way);
        }
    }

    /// Every arc is a shortest path, so more than there is room for; and a line, on which all vertices between are on the
    /// way.
    #[test]
    #[cfg_attr(emulator_sanitized, ignore = "takes minutes under sanitizers; the other tests run the same kernels")]
    fn tables_of_distances() {
        let pairs = |n: u32| (0..n).flat_map(move |u| (0..n).filter(move |&v| v != u).map(move |v| (u, v)));
        for n in [33_u32, 97] {
            let mut random = Random(n.into());
            let near = pairs(n).map(|(u, v)| (u, v, 1000 + random.below(1000) as i32)).collect();
            let line = pairs(n).map(|(u, v)| (u, v, u.abs_diff(v) as i32)).collect();
            let all: Vec<VertexId> = (0..n).collect();
            for (name, arcs) in [("near", near), ("line", line)] {
                let graph = graph_of(n.into(), arcs, false);
                let written = |way| agrees_with_the_cpu::<U32ToU32>(name, &graph, &all, "tiled-floyd-warshall", way);
                assert_eq!(written(ALL), Some(false), "{name}");
            }
        }
    }

    #[test]
    fn requests_for_successors_are_answered_alike() {
        let arcs = random_arcs(31, 90, 2000, &[1, 2, 3, 50]);
        let positive = graph_of(90, arcs.clone(), false);
        let zeros = graph_of(90, random_arcs(32, 90, 300, &[0, 1, 5]), false);
        let floats = Graph::from_edges(arcs.iter().map(|&(u, v, weight)| (u, v, weight as f32 / 7.0))).unwrap();
        for graph in [&positive, &zeros, &floats] {
            let cpu = Solver::builder(graph.clone()).engine(Engine::Cpu).threads(1).open().unwrap();
            let requests =
                [Apsp::all(), Apsp::all().from([89, 3, 3, 12]), Apsp::all().from([4]).to([2]), Apsp::all().from([])];
            for device in devices(41) {
                let gpu = Solver::builder(graph.clone()).threads(1).device(device).open().unwrap();
                for request in &requests {
                    let expected = cpu.solve(request.clone().with_successors()).unwrap();
                    let found = gpu.solve(request.clone().with_successors().verified()).unwrap();
                    assert!(found.report().engine.starts_with("cuda"));
                    assert_eq!(found.found_successors(), expected.found_successors(), "{request:?}");
                    assert_eq!(found.found_successors(), Some(&found.successors(graph).unwrap()));
                    assert_eq!(gpu.solve(request.clone()).unwrap().found_successors(), None);
                }
                let mut found = gpu.solve(Apsp::all().with_successors()).unwrap();
                let plain = cpu.solve(Apsp::all().algorithm("batched")).unwrap();
                for (from, to) in (0..90).flat_map(|from| [(from, (from * 7 + 1) as VertexId % 90), (from, 0)]) {
                    let (found, plain) = (found.path(graph, from, to).unwrap(), plain.path(graph, from, to).unwrap());
                    assert_eq!(found.as_ref().map(|path| path.vertices()), plain.as_ref().map(|path| path.vertices()));
                }
                found.verify(graph).unwrap();
                found.successors = Some(crate::problems::Successors::new(vec![NO_VERTEX; 90 * 90], 90));
                assert!(found.verify(graph).unwrap_err().to_string().contains("wrong successors"));
                assert!(gpu.solve(Apsp::all().with_successors().into_sink(&mut ())).is_err());
                let plan = |request: &Apsp| gpu.decide(request).unwrap().plan().device_bytes();
                let floats = matches!(graph.weights(), crate::graph::Weights::F32(_));
                let more = plan(&Apsp::all().with_successors()) - plan(&Apsp::all());
                assert!(if floats { more == 0 } else { more > 2 * 90 * 90 * 4 }, "{more}");
            }
        }
    }
}
