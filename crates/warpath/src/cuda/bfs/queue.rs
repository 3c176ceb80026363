//! Breadth-first search with one thread for each vertex of a queue, and an atomic counter that is the end of the next.
//!
//! Each vertex is expanded once: work O(V + E), span O(levels x greatest degree), and one launch for each level with
//! exactly as many threads as the frontier has vertices. All threads count up the same word, and one that has a hub
//! keeps its whole warp waiting. It wins over `level-parallel` wherever there are many levels.
//!
//! Source: Pathak et al. 2022, algorithms 3 and 4. Repairs are listed in `kernels/bfs/queue.cu`.
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
use crate::cuda::device::memory::{DeviceSlice, Pool};
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
        name: "queue",
        summary: "one thread for each vertex of a queue, places in the next one by an atomic counter",
        source: "Pathak et al. 2022, alg. 3-4",
        parameters: &[THREADS],
        negative_weights: true,
        seconds: super::vertex_parallel::seconds,
    },
    plan,
    prepare,
};

fn layout(arena: &mut Arena<'_>, graph: &Graph) -> Arrays {
    let vertices = graph.vertices() as u64;
    Arrays {
        levels: arena.take("levels", vertices),
        queues: arena.take_two(["queue", "next queue"], vertices),
        next_size: arena.take("size of the next queue", 1),
    }
}

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    DeviceGraph::plan(graph, |arena| layout(arena, graph))
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    let threads = threads(parameters, &**device)?;
    let kernel = device.function(&images::BFS_QUEUE, "bfs_queue")?;
    let (graph, arrays) = DeviceGraph::upload(device, graph, |arena| layout(arena, graph))?;
    Ok(Box::new(Queue { graph, threads, kernel, arrays }))
}

#[derive(Debug)]
struct Queue {
    graph: DeviceGraph,
    threads: u32,
    kernel: Function,
    arrays: Arrays,
}

impl PreparedBfs for Queue {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let DeviceGraph { pool, offsets, targets, .. } = &self.graph;
        search(pool, self.kernel, self.threads, (*offsets, *targets), self.arrays, task)
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        DeviceLevels {
            pool: &self.graph.pool,
            arcs: Arcs::narrow(self.graph.offsets, self.graph.targets),
            levels: self.arrays.levels,
            predecessors: self.arrays.queues[0],
        }
    }
}

/// The arrays of a search; each queue has room for all vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    pub(super) levels: DeviceSlice<u32>,
    pub(super) queues: [DeviceSlice<VertexId>; 2],
    pub(super) next_size: DeviceSlice<u32>,
}

/// The search itself, along the arcs with these offsets and heads: one launch a level.
pub(super) fn search(
    pool: &Pool,
    kernel: Function,
    threads: u32,
    (offsets, targets): (DeviceSlice<u32>, DeviceSlice<VertexId>),
    arrays: Arrays,
    task: &BfsTask<'_>,
) -> Result<Statistics> {
    let Arrays { levels, queues: [mut queue, mut next], next_size } = arrays;
    start(pool, levels, task.sources)?;
    pool.upload(queue, task.sources)?;
    let (mut size, mut visited) = (task.sources.len() as u32, task.sources.len() as u64);
    let expanded = each_level(task, |level| {
        pool.fill(next_size, 0)?;
        let shape = LaunchShape::covering(u64::from(size), threads);
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects: each vertex is in one
        // queue at most, which has room for all.
        unsafe {
            let arguments = arguments![offsets, targets, levels, queue, next, next_size, size, level];
            pool.device().launch(kernel, &shape, arguments)?;
        }
        [size] = pool.read_array(next_size)?;
        visited += u64::from(size);
        std::mem::swap(&mut queue, &mut next);
        Ok(size > 0)
    })?;
    Ok(vec![("visited", visited), ("levels", expanded.into()), ("kernel_launches", expanded.into())])
}
