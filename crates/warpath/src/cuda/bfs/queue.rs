//! Breadth-first search with one thread for each vertex of a queue, and an atomic counter that is the end of the next.
//!
//! Each vertex is expanded once: work O(V + E), span O(levels x greatest degree), and one launch for each level with
//! exactly as many threads as the frontier has vertices. All threads count up the same word, and one that has a hub
//! keeps its whole warp waiting. It wins over `level-parallel` wherever there are many levels.
//!
//! Algorithm 4 also writes each vertex's parent, the one whose thread happened to find it first: with `parents=true`
//! this kernel does so, too. That takes time and is of no other use, since a result has predecessors that do not depend
//! on the order of threads, derived from the levels: it is there to time what is printed.
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
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::graph::{Arcs, DeviceGraph};
use crate::cuda::launch::{THREADS, threads};
use crate::graph::{Graph, NO_VERTEX, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "queue",
        summary: "one thread for each vertex of a queue, places in the next one by an atomic counter",
        source: "Pathak et al. 2022, alg. 3-4",
        parameters: &[PARENTS, THREADS],
        negative_weights: true,
        seconds: super::vertex_parallel::seconds,
    },
    plan,
    prepare: |device, graph, parameters| Ok(Box::new(prepare(device, graph, parameters)?)),
    prepare_on_several: None,
};

/// The parameter that asks for parents in the kernel.
const PARENTS: Parameter = Parameter {
    name: "parents",
    summary: "whether the kernel writes parents, as printed, which only costs time: nobody reads them; true or false",
    values: Values::Or(&Values::OneOf(&["true", "false"]), Unset::InWords(|| "false".into())),
};

/// Whether the kernel writes parents.
fn writes_parents(parameters: &Parameters) -> bool {
    parameters.word(PARENTS.name) == Some("true")
}

fn layout(arena: &mut Arena<'_>, graph: &Graph, parameters: &Parameters) -> Arrays {
    let vertices = graph.vertices() as u64;
    Arrays {
        levels: arena.take("levels", vertices),
        queues: arena.take_two(["queue", "next queue"], vertices),
        next_size: arena.take("size of the next queue", 1),
        parents: writes_parents(parameters).then(|| arena.take("parents", vertices)),
    }
}

fn plan(graph: &Graph, parameters: &Parameters) -> Plan {
    DeviceGraph::plan(graph, |arena| layout(arena, graph, parameters))
}

/// Makes a search ready.
fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Queue> {
    let threads = threads(parameters, &**device)?;
    let kernel = if writes_parents(parameters) { "bfs_queue_with_parents" } else { "bfs_queue" };
    let kernel = device.function(&images::BFS_QUEUE, kernel)?;
    let (graph, arrays) = DeviceGraph::upload(device, graph, |arena| layout(arena, graph, parameters))?;
    Ok(Queue { graph, threads, kernel, arrays })
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
        DeviceLevels::with_arcs(
            &self.graph.pool,
            self.arrays.levels,
            (Arcs::narrow(self.graph.offsets, self.graph.targets), self.arrays.queues[0]),
        )
    }
}

/// The arrays of a search; each queue has room for all vertices.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    pub(super) levels: DeviceSlice<u32>,
    pub(super) queues: [DeviceSlice<VertexId>; 2],
    pub(super) next_size: DeviceSlice<u32>,
    /// Those that the kernel writes, if it does: no vertex for sources and what is not reached.
    pub(super) parents: Option<DeviceSlice<VertexId>>,
}

/// The search itself, along the arcs with these offsets and heads: one launch a level. The kernel is the one with
/// parents if there is room for them.
pub(super) fn search(
    pool: &Pool,
    kernel: Function,
    threads: u32,
    (offsets, targets): (DeviceSlice<u32>, DeviceSlice<VertexId>),
    arrays: Arrays,
    task: &BfsTask<'_>,
) -> Result<Statistics> {
    let Arrays { levels, queues: [mut queue, mut next], next_size, parents } = arrays;
    start(pool, levels, task.sources)?;
    parents.into_iter().try_for_each(|parents| pool.fill(parents, NO_VERTEX))?;
    pool.upload(queue, task.sources)?;
    let (mut size, mut visited) = (task.sources.len() as u32, task.sources.len() as u64);
    let expanded = each_level(task, |level| {
        pool.fill(next_size, 0)?;
        let shape = LaunchShape::covering(u64::from(size), threads);
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects: each vertex is in
        // one queue at most, which has room for all.
        unsafe {
            match parents {
                None => {
                    let arguments = arguments![offsets, targets, levels, queue, next, next_size, size, level];
                    pool.device().launch(kernel, &shape, arguments)?;
                }
                Some(parents) => {
                    let arguments = arguments![offsets, targets, levels, parents, queue, next, next_size, size, level];
                    pool.device().launch(kernel, &shape, arguments)?;
                }
            }
        }
        [size] = pool.read_array(next_size)?;
        visited += u64::from(size);
        std::mem::swap(&mut queue, &mut next);
        Ok(size > 0)
    })?;
    Ok(vec![("visited", visited), ("levels", expanded.into()), ("kernel_launches", expanded.into())])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use crate::cuda::device::testing::devices;
    use crate::graph::Unit;
    use crate::problems::UNREACHED;
    use crate::testing::graphs_of_every_shape;

    #[test]
    fn the_written_parents_are_a_breadth_first_tree() {
        let parameters = ALGORITHM.info.parameters_in("queue:threads=32,parents=true").unwrap();
        for (turn, (name, graph)) in graphs_of_every_shape::<Unit>(5).into_iter().enumerate() {
            let vertices = graph.vertices() as VertexId;
            if vertices > 600 || graph.arcs() > 6000 {
                continue;
            }
            let sources = if turn % 2 == 0 || vertices == 1 { vec![vertices / 2] } else { vec![0, vertices - 1] };
            for device in devices(turn as u64) {
                let mut search = prepare(&device, &graph, &parameters).unwrap();
                let control = Control::new();
                search
                    .solve(&BfsTask { sources: &sources, targets: &[], cutoff: UNREACHED, control: &control })
                    .unwrap();
                let levels = search.device_levels().levels().unwrap();
                let parents = search.graph.pool.read(search.arrays.parents.unwrap()).unwrap();
                for v in 0..vertices {
                    let (parent, level) = (parents[v as usize], levels[v as usize]);
                    if sources.contains(&v) || level == UNREACHED {
                        assert_eq!(parent, NO_VERTEX, "{name}, {v}");
                    } else {
                        assert!(graph.neighbors(parent).contains(&v), "{name}: no arc from {parent} to {v}");
                        assert_eq!(levels[parent as usize] + 1, level, "{name}, {v}");
                    }
                }
            }
        }
    }
}
