//! Breadth-first search with one thread a vertex and no frontier: a vertex is expanded when its level is the current
//! one.
//!
//! Every launch reads the level of every vertex, so work is O(V x levels + E), span O(levels x greatest degree). There
//! are no atomics and no second array: a neighbour is written by several threads, all of which write the same. It wins
//! on graphs of few levels, and loses on long thin ones, where nearly all threads find nothing to do.
//!
//! Source: Pathak et al. 2022, algorithms 1 and 2. Repairs are listed in `kernels/bfs/level_parallel.cu`.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::predecessors::DeviceLevels;
use super::{BfsAlgorithm, BfsTask, PreparedBfs, each_level, start};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
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
        name: "level-parallel",
        summary: "one thread a vertex, which tests its level; no frontier",
        source: "Pathak et al. 2022, alg. 1-2",
        parameters: &[THREADS],
        negative_weights: true,
        seconds: super::vertex_parallel::seconds,
    },
    plan,
    prepare,
    prepare_on_several: None,
};

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    levels: DeviceSlice<u32>,
    predecessors: DeviceSlice<VertexId>,
    flag: DeviceSlice<u32>,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph) -> Arrays {
    let vertices = graph.vertices() as u64;
    Arrays {
        levels: arena.take("levels", vertices),
        predecessors: arena.take("predecessors", vertices),
        flag: arena.take("flag", 1),
    }
}

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    DeviceGraph::plan(graph, |arena| layout(arena, graph))
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    let threads = threads(parameters, &**device)?;
    let kernel = device.function(&images::BFS_LEVEL_PARALLEL, "bfs_level_parallel")?;
    let (graph, arrays) = DeviceGraph::upload(device, graph, |arena| layout(arena, graph))?;
    Ok(Box::new(LevelParallel { graph, threads, kernel, arrays }))
}

#[derive(Debug)]
struct LevelParallel {
    graph: DeviceGraph,
    threads: u32,
    kernel: Function,
    arrays: Arrays,
}

impl PreparedBfs for LevelParallel {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let DeviceGraph { pool, offsets, targets, vertices } = &self.graph;
        let Arrays { levels, flag, .. } = self.arrays;
        let shape = LaunchShape::covering(u64::from(*vertices), self.threads);
        start(pool, levels, task.sources)?;
        let expanded = each_level(task, |level| {
            pool.fill(flag, 0)?;
            // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
            unsafe {
                let arguments = arguments![*offsets, *targets, levels, flag, level, *vertices];
                pool.device().launch(self.kernel, &shape, arguments)?;
            }
            Ok(pool.read_array(flag)? != [0])
        })?;
        Ok(vec![("levels", expanded.into()), ("kernel_launches", expanded.into())])
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        DeviceLevels::with_arcs(
            &self.graph.pool,
            self.arrays.levels,
            (Arcs::narrow(self.graph.offsets, self.graph.targets), self.arrays.predecessors),
        )
    }
}
