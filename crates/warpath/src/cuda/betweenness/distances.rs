//! Betweenness by weights: distances first, then the shortest paths that they tell of.
//!
//! - **Distances** of 32 searches come from `near-far`, one search after another on the whole device, each into its lane. An arc is *tight* in a search if the
//!   distances at its ends differ by its weight. Weights are above 0, so tight arcs make no cycle.
//! - **A word for each arc** tells in which of the 32 searches it is tight. Most arcs are tight in few or none, and all that follows reads rows of heads
//!   and words, and the state of the heads of tight arcs alone.
//! - **The way out** goes in rounds. For each vertex and search it is known how many tight arcs lead there; the room of the distances, which are not needed any more, has
//!   these numbers. A round pushes the counts of vertices that wait for nothing any more along their tight arcs: atomic additions of whole numbers, exact in any
//!   order. A head that has waited for this one last has its count, and belongs to the next round, which is its level.
//! - **The way back** takes the rounds in reverse, and arcs by their words: the heads of tight arcs all have greater levels.
//!
//! Rounds are as many as the longest shortest path has arcs. By the arcs that lead to vertices one could pull counts without atomics, but would look through the rows
//! of all vertices that wait in each round; and a directed graph would have to be transposed with its weights.
//!
//! Searches with distances beyond 32 bits are handed back, as `near-far` tells. Memory 128 bytes a vertex and 4 an arc beside the rest, and what `near-far` takes.
//!
//! Sources: Brandes 2001, "A faster algorithm for betweenness centrality"; Kahn 1962, "Topological sorting of large networks", for the rounds.
//!
//! *Invariants.* As in `mod.rs`. The distances that are copied are those of the graph's vertices, on the same device.

use std::sync::Arc;

use super::{KernelArgument, LANES, Reached, Search, WayOut};
use crate::algorithms::{Parameters, Workload};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, arguments, images};
use crate::cuda::graph::has_wide_offsets;
use crate::cuda::kernel_header::DevicePtr;
use crate::cuda::sssp::near_far::{self, NearFar};
use crate::cuda::sssp::{DeviceSemiring, PreparedSssp, SsspTask};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::{Control, Result};

/// The arrays beside the state of the searches.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    tight: DeviceSlice<u32>,
    distances: DeviceSlice<u32>,
}

fn layout(arena: &mut Arena<'_>, graph: &Graph) -> Arrays {
    Arrays {
        tight: arena.take("searches in which arcs are tight", graph.arcs() as u64),
        distances: arena.take("distances of 32 searches", graph.vertices() as u64 * LANES as u64),
    }
}

/// What the way out takes beside the state of the searches.
pub(super) fn plan(graph: &Graph) -> Plan {
    let mut plan = plan_of(|arena| layout(arena, graph));
    let of_distances = (near_far::ALGORITHM.plan)(graph, &Parameters::default());
    of_distances.device_items().iter().for_each(|item| plan.device(item.what.clone(), item.bytes));
    plan
}

/// Predicted seconds of so many searches.
pub(super) fn seconds(work: &Workload<'_>) -> f64 {
    /// Launches and waits of a round, out and back.
    const ROUND: f64 = 120e-6;
    /// Rounds for each level of a breadth-first search.
    const ROUNDS_OF_LEVEL: f64 = 2.0;
    /// Bytes a second of rows, and of the states of random vertices.
    const BYTES: f64 = 2.0e12;
    /// What is read of a vertex in a round.
    const OF_VERTEX: f64 = 72.0;
    /// Of an arc: its distances once, and its head and word in the rounds that look through its row.
    const OF_ARC: f64 = 800.0;
    /// Of a vertex in a search: the counts and numbers at the heads of tight arcs.
    const OF_TIGHT_ARC: f64 = 128.0;
    let rounds = ROUNDS_OF_LEVEL * work.levels();
    let of_vertices = (2.0 * rounds * OF_VERTEX + LANES as f64 * OF_TIGHT_ARC) * work.vertices();
    let of_a_batch = rounds * ROUND + (of_vertices + OF_ARC * work.arcs()) / BYTES;
    (near_far::ALGORITHM.info.seconds)(work) + (work.searches as f64 / LANES as f64).ceil() * of_a_batch
}

/// The way out by distances.
pub(super) struct Distances {
    pool: Pool,
    arrays: Arrays,
    near_far: NearFar,
    place: Function,
    /// The kernels that find tight arcs, count them, and go out.
    find_tight: Function,
    count_tight: Function,
    push: Function,
}

impl Distances {
    /// Makes it ready, and tells the argument of the way back where the arrays are.
    pub(super) fn prepare(device: &Arc<dyn Device>, graph: &Graph, search: &mut Search) -> Result<Self> {
        let function = |name: &str| device.function(&images::BETWEENNESS_DISTANCES, name);
        let bits = if has_wide_offsets(graph) { 64 } else { 32 };
        let near_far = near_far::prepare(device, graph, &Parameters::default())?;
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, graph))?;
        search.argument.arcs = DevicePtr::new(near_far.pairs().address());
        search.argument.tight = arrays.tight.as_mut_ptr();
        search.argument.distances = arrays.distances.as_mut_ptr();
        Ok(Distances {
            pool,
            arrays,
            near_far,
            place: function("betweenness_place_distances")?,
            find_tight: function(&format!("betweenness_find_tight_{bits}"))?,
            count_tight: function(&format!("betweenness_count_tight_{bits}"))?,
            push: function(&format!("betweenness_push_{bits}"))?,
        })
    }

    /// Finds the distances from each source; the searches that have all of them, a bit each.
    fn find_distances(&mut self, search: &Search, sources: &[VertexId], control: &Control) -> Result<u32> {
        let distances = self.arrays.distances;
        self.pool.fill(distances, u32::MAX)?;
        let mut lanes = 0;
        for (lane, source) in (0_u32..).zip(sources) {
            let outcome = self.near_far.solve(&SsspTask {
                graph: None,
                semiring: DeviceSemiring::Narrow,
                sources: std::slice::from_ref(source),
                targets: &[],
                cutoff: u32::MAX.into(),
                control,
                statistics: false,
            })?;
            if outcome.out_of_range {
                continue;
            }
            lanes |= 1 << lane;
            let (found, vertices) = (self.near_far.device_distances().distances, search.argument.vertices);
            // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
            unsafe {
                let arguments = arguments![found, vertices, lane, distances];
                self.pool.device().launch(self.place, &search.shape, arguments)?;
            }
        }
        Ok(lanes)
    }

    fn launch(&self, search: &Search, kernel: Function, argument: KernelArgument) -> Result<()> {
        // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
        unsafe { self.pool.device().launch(kernel, &search.shape, arguments![argument]) }
    }
}

impl WayOut for Distances {
    fn go(&mut self, search: &Search, sources: &[VertexId], control: &Control) -> Result<Reached> {
        let lanes = self.find_distances(search, sources, control)?;
        if lanes == 0 {
            return Ok(Reached { exact: 0, deepest: 0 });
        }
        self.launch(search, self.find_tight, search.argument)?;
        self.pool.fill(self.arrays.distances, 0)?;
        self.launch(search, self.count_tight, search.argument)?;
        search.pool.fill(search.arrays.values, 0)?;
        search.start(sources, lanes)?;
        search
            .level_by_level(lanes, control, |level| self.launch(search, self.push, search.at(level, level, level + 1)?))
    }

    #[cfg(test)]
    fn used(&self) -> u64 {
        self.pool.used() + self.near_far.device_distances().pool.used()
    }
}
