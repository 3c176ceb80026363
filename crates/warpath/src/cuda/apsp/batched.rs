//! Many sources at once on one prepared graph: all-pairs shortest paths of sparse graphs.
//!
//! There is nothing new in how is searched: without weights it is breadth-first search from 64 sources at a time, one
//! bit each, which share their reads of the adjacency ([`bfs::many_sources`]), or of a small graph from 32 sources in
//! each block ([`bfs::one_block`]); with weights hundreds of searches are in flight, each in a block of its own
//! ([`sssp::many_sources`]). This file says how a table of as many rows as there are vertices comes out of that. A
//! batch is as many rows as have a gigabyte of distances; without weights it is many launches one after another, none
//! of which the host waits for, or one launch of many blocks. When it is done its rows are packed and, while the next
//! batch is searched, brought to the host; or they are summed up on the device, where nothing else is wanted
//! ([`outgoing`](super::outgoing)).
//!
//! Integer distances that leave 32 bits are noticed, and the rows from there on are searched in 64 bits.
//!
//! For integer weights below zero [`johnson`](super::johnson) does the same.
//!
//! Work: V searches. Memory: the graph, the rows of a batch twice, and what the searches take. It wins on sparse
//! graphs from some thousand vertices on, and it is the only way where a matrix of all pairs has no room. Of dense graphs, and
//! of small ones, `tiled-floyd-warshall` is as good or better.
//!
//! Floors: without weights 256 bytes a vertex and batch at 4 TB/s, with weights two random accesses a vertex and one an
//! arc, 87 G/s where distances are in shared memory. So the 4,039 vertices of facebook_combined take 64 launches of some eight
//! levels, 20 to 40 microseconds each: 2 ms (an H200 takes 8.5); in blocks of 31 sources 0.15 to 0.3 ms (0.44). The 82,168
//! rows of Slashdot 1,284 launches of 0.1 ms: 0.13 s (0.22), and 7 ms to sum them up. 10,000 vertices with 120,000 arcs and
//! weights 1.4 G accesses: 16 ms (17.5).
//!
//! Sources: Then et al. 2014, "The More the Merrier: Efficient Multi-Source Graph Traversal"; Davidson et al. 2014.
//!
//! [`bfs::many_sources`]: crate::cuda::bfs::many_sources
//! [`bfs::one_block`]: crate::cuda::bfs::one_block
//! [`sssp::many_sources`]: crate::cuda::sssp::many_sources

use std::sync::Arc;

use super::rows::RowsOnDevice;
use super::searches::{BATCH_BYTES, Finished, Searches, SearchesAlgorithm, SearchesTask};
use crate::algorithms::{AlgorithmInfo, Parameter, Unset, Values, Workload};
use crate::cuda::bfs::many_sources as bfs;
use crate::cuda::bfs::many_sources::ARCS;
use crate::cuda::bfs::one_block::DISTANCES;
use crate::cuda::device::Device;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::graph::Extent;
use crate::cuda::sssp::{DeviceSemiring, many_sources as sssp};
use crate::graph::{VertexId, WeightKind};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Control, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SearchesAlgorithm = SearchesAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "batched",
        summary: "many sources at once, rows brought back meanwhile; for sparse graphs",
        source: "after Then et al. 2014; Davidson et al. 2014",
        parameters: &[
            ROWS,
            Parameter {
                name: "threads",
                summary: "threads in a block, a multiple of 32 up to 1024",
                values: Values::Or(&Values::AtLeast(32.0), Unset::InWords(|| "as many as suit".into())),
            },
            DISTANCES,
            Parameter {
                values: Values::Or(&ARCS.values, Unset::InWords(|| "on the device if there is room".into())),
                ..ARCS
            },
        ],
        negative_weights: false,
        seconds,
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide, DeviceSemiring::Single, DeviceSemiring::Double],
    needs_metric: false,
    targets_alone: false,
    facts_alone: None,
    layouts: |kind, set| match kind {
        // Blocks of their own have their arcs on the device.
        WeightKind::Unit if set.word(DISTANCES.name).is_none() => &["batched", "batched:arcs=host"],
        _ => &["batched"],
    },
    few_rows: 8,
    searches_at_start: false,
    batch_bytes: BATCH_BYTES,
    plan,
    prepare,
};

fn seconds(work: &Workload<'_>) -> f64 {
    match work.graph.weight_kind {
        WeightKind::Unit => bfs::seconds_without_waiting(work),
        _ => sssp::seconds(work),
    }
}

/// How many rows a batch has.
pub(crate) const ROWS: Parameter = Parameter {
    name: "rows",
    summary: "rows of a batch",
    values: Values::Or(&Values::AtLeast(1.0), Unset::InWords(|| "as many as have 1 GB of distances".into())),
};

fn sizes(task: &SearchesTask<'_>) -> sssp::Sizes {
    sssp::Sizes::in_semirings(task.graph, task.parameters, task.semiring.alone(), task.rows)
}

fn plan(task: &SearchesTask<'_>) -> Plan {
    match task.graph.weight_kind() {
        WeightKind::Unit => bfs::plan(task.graph, task.rows, bfs::are_on_host(task.parameters)),
        _ => sssp::plan(task.graph, &sizes(task)),
    }
}

fn prepare<'g>(device: &Arc<dyn Device>, task: &SearchesTask<'g>) -> Result<Box<dyn Searches + 'g>> {
    let SearchesTask { graph, semiring, parameters, rows, .. } = *task;
    if graph.weight_kind() == WeightKind::Unit {
        return Ok(unweighted(bfs::prepare(device, graph, parameters, rows)?, graph));
    }
    weighted(sssp::prepare(device, graph, parameters, &sizes(task))?, semiring, graph)
}

/// Batches of searches without weights on a graph that they have been prepared for.
pub(in crate::cuda) fn unweighted<'g>(searches: bfs::ManySources, graph: &impl Extent) -> Box<dyn Searches + 'g> {
    Box::new(Unweighted { searches, stride: bfs::stride(graph) })
}

/// The same by weights, with distances in this semiring.
pub(in crate::cuda) fn weighted<'g>(
    searches: sssp::ManySources,
    semiring: DeviceSemiring,
    graph: &impl Extent,
) -> Result<Box<dyn Searches + 'g>> {
    let words = searches.rows(semiring)?;
    Ok(Box::new(Weighted { searches, semiring, words, stride: sssp::stride(graph) }))
}

/// Batches without weights.
#[derive(Debug)]
struct Unweighted {
    searches: bfs::ManySources,
    stride: u64,
}

impl Searches for Unweighted {
    fn start(&mut self, sources: &[VertexId], control: &Control) -> Result<()> {
        self.searches.start_each(sources, control)
    }

    fn finish(&mut self, control: &Control) -> Result<Finished> {
        Ok(Finished { statistics: self.searches.finish(control)?, out_of_range: Vec::new() })
    }

    fn rows(&self) -> RowsOnDevice<'_> {
        let (pool, words) = self.searches.rows();
        RowsOnDevice { pool, words, stride: self.stride }
    }
}

/// Batches with weights.
#[derive(Debug)]
struct Weighted {
    searches: sssp::ManySources,
    semiring: DeviceSemiring,
    words: DeviceSlice<u32>,
    stride: u64,
}

impl Searches for Weighted {
    fn start(&mut self, sources: &[VertexId], control: &Control) -> Result<()> {
        self.searches.start(self.semiring, sources, sources.len() as u32, self.semiring.unreachable(), control)
    }

    fn finish(&mut self, control: &Control) -> Result<Finished> {
        let outcome = self.searches.finish(control)?;
        let flagged = outcome.out_of_range.iter().enumerate().filter(|(_, flag)| **flag);
        Ok(Finished { statistics: outcome.statistics, out_of_range: flagged.map(|(row, _)| row).collect() })
    }

    fn rows(&self) -> RowsOnDevice<'_> {
        RowsOnDevice { pool: self.searches.pool(), words: self.words, stride: self.stride }
    }
}
