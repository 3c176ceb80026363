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

use super::predecessors::{Arcs, Found};
use super::{BfsAlgorithm, BfsTask, PreparedBfs, THREADS, each_level, start, threads};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{DeviceGraph, plan_array, plan_graph};
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
    },
    plan,
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters, &plan(graph, parameters))?)),
};

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    let mut plan = Plan::new();
    plan_graph(graph, &mut plan);
    for what in ["frontier", "visited", "updating"] {
        plan_array::<u8>(&mut plan, what, flags(graph.vertices() as u64));
    }
    plan_array::<u32>(&mut plan, "costs", graph.vertices() as u64);
    plan_array::<VertexId>(&mut plan, "predecessors", graph.vertices() as u64);
    plan_array::<u32>(&mut plan, "flag", 1);
    plan
}

/// How long an array of flags is: memory is filled in words of 4 bytes.
fn flags(vertices: u64) -> u64 {
    vertices.next_multiple_of(4)
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters, plan: &Plan) -> Result<VertexParallel> {
    let threads = threads(parameters, &**device)?;
    let expand = device.function(&images::BFS_VERTEX_PARALLEL, "bfs_vertex_parallel_expand")?;
    let update = device.function(&images::BFS_VERTEX_PARALLEL, "bfs_vertex_parallel_update")?;
    let mut graph = DeviceGraph::upload(device, graph, plan)?;
    let vertices = u64::from(graph.vertices);
    let pool = &mut graph.pool;
    let (frontier, visited) = (pool.take(flags(vertices))?, pool.take(flags(vertices))?);
    let (updating, cost) = (pool.take(flags(vertices))?, pool.take(vertices)?);
    let (predecessors, flag) = (pool.take(vertices)?, pool.take(1)?);
    Ok(VertexParallel { graph, threads, expand, update, frontier, visited, updating, cost, predecessors, flag })
}

#[derive(Debug)]
struct VertexParallel {
    graph: DeviceGraph,
    threads: u32,
    expand: Function,
    update: Function,
    frontier: DeviceSlice<u8>,
    visited: DeviceSlice<u8>,
    updating: DeviceSlice<u8>,
    cost: DeviceSlice<u32>,
    predecessors: DeviceSlice<VertexId>,
    flag: DeviceSlice<u32>,
}

impl VertexParallel {
    fn shape(&self) -> LaunchShape {
        LaunchShape::covering(u64::from(self.graph.vertices), self.threads)
    }

    /// Puts the sources in the frontier, at cost 0.
    fn start(&self, task: &BfsTask<'_>, cost: DeviceSlice<u32>) -> Result<()> {
        let pool = &self.graph.pool;
        start(pool, cost, task.sources)?;
        [self.frontier, self.visited, self.updating].into_iter().try_for_each(|flags| pool.fill(flags, 0))?;
        task.sources.iter().try_for_each(|&source| pool.upload(self.frontier.part(u64::from(source), 1), &[1]))
    }
}

impl PreparedBfs for VertexParallel {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let VertexParallel { graph, frontier, visited, updating, cost, flag, .. } = &*self;
        let DeviceGraph { pool, offsets, targets, vertices } = graph;
        let shape = self.shape();
        self.start(task, *cost)?;
        task.sources.iter().try_for_each(|&source| pool.upload(visited.part(u64::from(source), 1), &[1]))?;
        let levels = each_level(task, |_| {
            pool.fill(*flag, 0)?;
            // SAFETY: the arguments are the kernels', and all arrays have the lengths that they expect.
            unsafe {
                let arguments = arguments![*offsets, *targets, *frontier, *visited, *updating, *cost, *vertices];
                pool.device().launch(self.expand, &shape, arguments)?;
                let arguments = arguments![*frontier, *visited, *updating, *flag, *vertices];
                pool.device().launch(self.update, &shape, arguments)?;
            }
            Ok(pool.read_array(*flag)? != [0])
        })?;
        Ok(vec![("levels", levels.into()), ("kernel_launches", 2 * u64::from(levels))])
    }

    fn found(&self) -> Found<'_> {
        Found {
            pool: &self.graph.pool,
            arcs: Arcs::narrow(self.graph.offsets, self.graph.targets),
            levels: self.cost,
            predecessors: self.predecessors,
        }
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
        },
        plan,
        prepare,
    };

    fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
        let mut plan = super::plan(graph, parameters);
        plan_array::<u32>(&mut plan, "costs as printed", graph.vertices() as u64);
        plan
    }

    fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
        let kernel = device.function(&images::BFS_VERTEX_PARALLEL, "bfs_vertex_parallel_as_printed")?;
        let mut repaired = super::prepare(device, graph, parameters, &plan(graph, parameters))?;
        let cost = repaired.graph.pool.take(u64::from(repaired.graph.vertices))?;
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
            let VertexParallel { graph, frontier, visited, flag, .. } = &self.repaired;
            let DeviceGraph { pool, offsets, targets, vertices } = graph;
            let shape = self.repaired.shape();
            self.repaired.start(task, self.cost)?;
            let levels = each_level(task, |_| {
                pool.fill(*flag, 0)?;
                // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
                unsafe {
                    let arguments = arguments![*offsets, *targets, *frontier, *visited, self.cost, *flag, *vertices];
                    pool.device().launch(self.kernel, &shape, arguments)?;
                }
                Ok(pool.read_array(*flag)? != [0])
            })?;
            self.repaired.solve(task)?;
            let right = self.repaired.found().levels()?;
            let wrong = self.found().levels()?.iter().zip(&right).filter(|(printed, right)| printed != right).count();
            Ok(vec![("wrong_vertices", wrong as u64), ("levels", levels.into()), ("kernel_launches", levels.into())])
        }

        fn found(&self) -> Found<'_> {
            Found { levels: self.cost, ..self.repaired.found() }
        }
    }
}
