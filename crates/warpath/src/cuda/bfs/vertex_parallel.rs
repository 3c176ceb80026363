//! Breadth-first search with one thread a vertex and a frontier of flags.
//!
//! A level is two launches: threads of frontier vertices mark their unvisited neighbours, then the marked become the
//! frontier. Every launch looks at every vertex: work O(V x levels + E), span O(levels x greatest degree). It wins on
//! graphs of few levels and even degrees, and loses on long thin ones, where nearly all threads find nothing to do.
//!
//! As printed, the algorithm is one launch a level that reads the frontier it writes, and its costs can be too high:
//! with the feature `lab` that is here too, and counts the vertices that come out wrong.
//!
//! Source: Harish and Narayanan 2007, algorithms 1 and 2; Singh 2017, whose flag says whether to go on. Repairs are
//! listed in `kernels/bfs/vertex_parallel.cu`.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::predecessors::DeviceLevels;
use super::{BfsAlgorithm, BfsTask, PreparedBfs, each_level, start};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics, Workload};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Arcs, DeviceGraph};
use crate::cuda::launch::{THREADS, threads};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "vertex-parallel",
        summary: "one thread a vertex, flags for the frontier",
        source: "Harish & Narayanan 2007, alg. 1-2; Singh 2017",
        parameters: &[THREADS],
        negative_weights: true,
        seconds,
    },
    plan,
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters, |_| ())?.0)),
    prepare_on_several: None,
};

/// Predicted seconds of a search that launches a kernel for every level, one thread a vertex.
pub(super) fn seconds(work: &Workload<'_>) -> f64 {
    /// A level, a vertex in each level, and an arc.
    const LEVEL: f64 = 15e-6;
    const VERTEX: f64 = 0.01e-9;
    const ARC: f64 = 0.05e-9;
    /// An arc of the longest row, which one thread goes along.
    const ARC_OF_A_HUB: f64 = 0.1e-6;
    let hub = work.graph.greatest_degree as f64 * ARC_OF_A_HUB;
    work.in_turn(work.levels() * (LEVEL + work.vertices() * VERTEX) + hub + work.arcs() * ARC)
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    frontier: DeviceSlice<u8>,
    visited: DeviceSlice<u8>,
    updating: DeviceSlice<u8>,
    cost: DeviceSlice<u32>,
    predecessors: DeviceSlice<VertexId>,
    flag: DeviceSlice<u32>,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph) -> Arrays {
    let vertices = graph.vertices() as u64;
    Arrays {
        frontier: arena.take("frontier", flags(vertices)),
        visited: arena.take("visited", flags(vertices)),
        updating: arena.take("updating", flags(vertices)),
        cost: arena.take("costs", vertices),
        predecessors: arena.take("predecessors", vertices),
        flag: arena.take("flag", 1),
    }
}

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    DeviceGraph::plan(graph, |arena| layout(arena, graph))
}

/// How long an array of flags is: memory is filled in words of 4 bytes.
pub(super) fn flags(vertices: u64) -> u64 {
    vertices.next_multiple_of(4)
}

/// Makes everything ready, with what another layout takes beyond.
fn prepare<A>(
    device: &Arc<dyn Device>,
    graph: &Graph,
    parameters: &Parameters,
    beyond: impl Fn(&mut Arena<'_>) -> A,
) -> Result<(VertexParallel, A)> {
    let threads = threads(parameters, &**device)?;
    let expand = device.function(&images::BFS_VERTEX_PARALLEL, "bfs_vertex_parallel_expand")?;
    let update = device.function(&images::BFS_VERTEX_PARALLEL, "bfs_vertex_parallel_update")?;
    let (graph, (arrays, more)) = DeviceGraph::upload(device, graph, |arena| (layout(arena, graph), beyond(arena)))?;
    Ok((VertexParallel { graph, threads, expand, update, arrays }, more))
}

#[derive(Debug)]
struct VertexParallel {
    graph: DeviceGraph,
    threads: u32,
    expand: Function,
    update: Function,
    arrays: Arrays,
}

impl VertexParallel {
    fn shape(&self) -> LaunchShape {
        LaunchShape::covering(u64::from(self.graph.vertices), self.threads)
    }

    /// Puts the sources in the frontier, at cost 0.
    fn start(&self, task: &BfsTask<'_>, cost: DeviceSlice<u32>) -> Result<()> {
        let pool = &self.graph.pool;
        let Arrays { frontier, visited, updating, .. } = self.arrays;
        start(pool, cost, task.sources)?;
        [frontier, visited, updating].into_iter().try_for_each(|flags| pool.fill(flags, 0))?;
        task.sources.iter().try_for_each(|&source| pool.upload(frontier.part(u64::from(source), 1), &[1]))
    }
}

impl PreparedBfs for VertexParallel {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let Arrays { frontier, visited, updating, cost, flag, .. } = self.arrays;
        let DeviceGraph { pool, offsets, targets, vertices } = &self.graph;
        let shape = self.shape();
        self.start(task, cost)?;
        task.sources.iter().try_for_each(|&source| pool.upload(visited.part(u64::from(source), 1), &[1]))?;
        let levels = each_level(task, |_| {
            pool.fill(flag, 0)?;
            // SAFETY: the arguments are the kernels', and all arrays have the lengths that they expect.
            unsafe {
                let arguments = arguments![*offsets, *targets, frontier, visited, updating, cost, *vertices];
                pool.device().launch(self.expand, &shape, arguments)?;
                let arguments = arguments![frontier, visited, updating, flag, *vertices];
                pool.device().launch(self.update, &shape, arguments)?;
            }
            Ok(pool.read_array(flag)? != [0])
        })?;
        Ok(vec![("levels", levels.into()), ("kernel_launches", 2 * u64::from(levels))])
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        DeviceLevels::with_arcs(
            &self.graph.pool,
            self.arrays.cost,
            (Arcs::narrow(self.graph.offsets, self.graph.targets), self.arrays.predecessors),
        )
    }
}

#[cfg(feature = "lab")]
pub(crate) use as_printed::AS_PRINTED;

#[cfg(feature = "lab")]
mod as_printed {
    use super::*;

    /// The line in the table of the algorithm as it is printed.
    pub(crate) const AS_PRINTED: BfsAlgorithm = BfsAlgorithm {
        info: AlgorithmInfo {
            problem: Problem::Bfs,
            name: "vertex-parallel-as-printed",
            summary: "vertex-parallel with the race that its paper prints: for study, its levels may be wrong",
            source: "Harish & Narayanan 2007, alg. 2, unrepaired",
            parameters: &[THREADS],
            negative_weights: true,
            seconds,
        },
        plan,
        prepare,
        prepare_on_several: None,
    };

    fn cost(arena: &mut Arena<'_>, graph: &Graph) -> DeviceSlice<u32> {
        arena.take("costs as printed", graph.vertices() as u64)
    }

    fn plan(graph: &Graph, _: &Parameters) -> Plan {
        DeviceGraph::plan(graph, |arena| (layout(arena, graph), cost(arena, graph)))
    }

    fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
        let kernel = device.function(&images::BFS_VERTEX_PARALLEL, "bfs_vertex_parallel_as_printed")?;
        let (repaired, cost) = super::prepare(device, graph, parameters, |arena| cost(arena, graph))?;
        Ok(Box::new(AsPrinted { repaired, kernel, cost }))
    }

    /// The printed algorithm, and the repaired one to compare with.
    #[derive(Debug)]
    struct AsPrinted {
        repaired: VertexParallel,
        kernel: Function,
        cost: DeviceSlice<u32>,
    }

    impl PreparedBfs for AsPrinted {
        fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
            let Arrays { frontier, visited, flag, .. } = self.repaired.arrays;
            let DeviceGraph { pool, offsets, targets, vertices } = &self.repaired.graph;
            let shape = self.repaired.shape();
            self.repaired.start(task, self.cost)?;
            let levels = each_level(task, |_| {
                pool.fill(flag, 0)?;
                // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
                unsafe {
                    let arguments = arguments![*offsets, *targets, frontier, visited, self.cost, flag, *vertices];
                    pool.device().launch(self.kernel, &shape, arguments)?;
                }
                Ok(pool.read_array(flag)? != [0])
            })?;
            self.repaired.solve(task)?;
            let right = self.repaired.device_levels().levels()?;
            let wrong =
                self.device_levels().levels()?.iter().zip(&right).filter(|(printed, right)| printed != right).count();
            Ok(vec![("wrong_vertices", wrong as u64), ("levels", levels.into()), ("kernel_launches", levels.into())])
        }

        fn device_levels(&self) -> DeviceLevels<'_> {
            DeviceLevels { levels: self.cost, ..self.repaired.device_levels() }
        }
    }
}
