//! Breadth-first search with a queue whose places are found by prefix sums instead of atomics.
//!
//! Five launches a level: neighbours get their level and are claimed by one arc each; each vertex of the queue counts
//! its claims; the counts are summed within blocks; the sums of the blocks are summed; the claimed neighbours are
//! written to their places. Work is O(V + E) with every arc read three times, span O(levels x greatest degree). It
//! shows what contention for one counter costs: where frontiers are wide it gains on `queue`, where levels are many its
//! launches cost it five times as much.
//!
//! Source: Pathak et al. 2022, algorithms 5 to 9. Repairs are listed in `kernels/bfs/scan.cu`.
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
use crate::cuda::launch::{LEAST_THREADS, THREADS, threads};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "scan",
        summary: "one thread for each vertex of a queue, places in the next one by prefix sums",
        source: "Pathak et al. 2022, alg. 5-9",
        parameters: &[THREADS],
        negative_weights: true,
        seconds: super::vertex_parallel::seconds,
    },
    plan,
    prepare,
    prepare_on_several: None,
};

/// No arc: the claim on a vertex that none has claimed.
const UNCLAIMED: u32 = u32::MAX;

/// The most blocks that a queue of all vertices can have.
fn most_blocks(vertices: u64) -> u64 {
    vertices.div_ceil(LEAST_THREADS as u64)
}

/// The arrays of a search.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    levels: DeviceSlice<u32>,
    claims: DeviceSlice<u32>,
    queues: [DeviceSlice<VertexId>; 2],
    counts: DeviceSlice<u32>,
    block_sums: DeviceSlice<u32>,
    next_size: DeviceSlice<u32>,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph) -> Arrays {
    let vertices = graph.vertices() as u64;
    Arrays {
        levels: arena.take("levels", vertices),
        claims: arena.take("claims", vertices),
        queues: arena.take_two(["queue", "next queue"], vertices),
        counts: arena.take("counts", vertices),
        block_sums: arena.take("sums of the blocks", most_blocks(vertices)),
        next_size: arena.take("size of the next queue", 1),
    }
}

fn plan(graph: &Graph, _: &Parameters) -> Plan {
    DeviceGraph::plan(graph, |arena| layout(arena, graph))
}

fn prepare(device: &Arc<dyn Device>, graph: &Graph, parameters: &Parameters) -> Result<Box<dyn PreparedBfs>> {
    let threads = threads(parameters, &**device)?;
    let kernel = |name| device.function(&images::BFS_SCAN, name);
    let kernels = Kernels {
        next_layer: kernel("bfs_scan_next_layer")?,
        count: kernel("bfs_scan_count")?,
        blocks: kernel("bfs_scan_blocks")?,
        block_sums: kernel("bfs_scan_block_sums")?,
        populate: kernel("bfs_scan_populate")?,
    };
    let (graph, arrays) = DeviceGraph::upload(device, graph, |arena| layout(arena, graph))?;
    Ok(Box::new(Scan { graph, threads, kernels, arrays }))
}

#[derive(Debug)]
struct Kernels {
    next_layer: Function,
    count: Function,
    blocks: Function,
    block_sums: Function,
    populate: Function,
}

#[derive(Debug)]
struct Scan {
    graph: DeviceGraph,
    threads: u32,
    kernels: Kernels,
    arrays: Arrays,
}

impl PreparedBfs for Scan {
    fn solve(&mut self, task: &BfsTask<'_>) -> Result<Statistics> {
        let Scan { graph, kernels, .. } = &*self;
        let Arrays { levels, claims, queues: [mut queue, mut next], counts, block_sums, next_size } = self.arrays;
        let DeviceGraph { pool, offsets, targets, .. } = graph;
        let device = pool.device();
        start(pool, levels, task.sources)?;
        pool.fill(claims, UNCLAIMED)?;
        pool.upload(queue, task.sources)?;
        let (mut size, mut visited) = (task.sources.len() as u32, task.sources.len() as u64);
        let level_count = each_level(task, |level| {
            let shape = LaunchShape::covering(u64::from(size), self.threads);
            let summing = LaunchShape { shared_bytes: 4 * self.threads, ..shape };
            let one_block = LaunchShape { grid: [1, 1, 1], ..summing };
            let blocks = shape.grid[0];
            // SAFETY: the arguments are the kernels', and all arrays have the lengths that they expect: each vertex is
            // in one queue at most, which has room for all, and there is a sum for each block of it.
            unsafe {
                let arguments = arguments![*offsets, *targets, levels, claims, queue, size, level];
                device.launch(kernels.next_layer, &shape, arguments)?;
                device.launch(kernels.count, &shape, arguments![*offsets, *targets, claims, queue, counts, size])?;
                device.launch(kernels.blocks, &summing, arguments![counts, block_sums, size])?;
                device.launch(kernels.block_sums, &one_block, arguments![block_sums, next_size, blocks])?;
                let arguments = arguments![*offsets, *targets, claims, queue, counts, block_sums, next, size];
                device.launch(kernels.populate, &shape, arguments)?;
            }
            [size] = pool.read_array(next_size)?;
            visited += u64::from(size);
            std::mem::swap(&mut queue, &mut next);
            Ok(size > 0)
        })?;
        let launches = 5 * u64::from(level_count);
        Ok(vec![("visited", visited), ("levels", level_count.into()), ("kernel_launches", launches)])
    }

    fn device_levels(&self) -> DeviceLevels<'_> {
        DeviceLevels::with_arcs(
            &self.graph.pool,
            self.arrays.levels,
            (Arcs::narrow(self.graph.offsets, self.graph.targets), self.arrays.queues[0]),
        )
    }
}
