//! Betweenness without weights: breadth-first.
//!
//! On the way out, a vertex that some search has not reached looks for neighbors at the level before, by the arcs that lead to it, and adds up their
//! counts; so a count is there when its level is, without atomics. On the way back, a vertex at a level adds up the numbers of its neighbors at
//! the next one. A bit for each vertex tells whether any search has it at the level that is looked for: only then its state is read.
//!
//! Work O(V E) for all sources, but a row is looked through once for every level that any of 32 searches has its vertex at.
//!
//! *Invariants.* As in `mod.rs`.

use std::sync::Arc;

use super::{KernelArgument, Reached, Rows, Search, WayOut, kernels_of, lanes_of};
use crate::algorithms::Workload;
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::Pool;
use crate::cuda::device::{Device, Function, images};
use crate::cuda::transpose::Transpose;
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::{Control, Result};

/// The arcs by head of a directed graph.
fn layout(arena: &mut Arena<'_>, graph: &Graph) -> (Transpose, Rows) {
    let transpose = Transpose::layout(arena, graph);
    (transpose, Rows::layout(arena, graph, transpose.arcs))
}

/// What the way out takes beside the state of the searches.
pub(super) fn plan(graph: &Graph) -> Plan {
    if graph.is_directed() { plan_of(|arena| layout(arena, graph)) } else { Plan::new() }
}

/// Predicted seconds of so many searches.
pub(super) fn seconds(work: &Workload<'_>) -> f64 {
    /// Launches and waits of a level.
    const LEVEL: f64 = 60e-6;
    /// Bytes a second where a warp reads 32 levels of random vertices, and those for a vertex and an arc in a pass.
    const BYTES: f64 = 2.0e12;
    const OF_VERTEX: f64 = 64.0;
    const OF_ARC: f64 = 140.0;
    /// Passes over all arcs on the way out and back together, where levels are few.
    const PASSES: f64 = 6.0;
    let levels = 2.0 * work.levels();
    let bytes = levels * OF_VERTEX * work.vertices() + PASSES.max(levels / 8.0) * OF_ARC * work.arcs();
    (work.searches as f64 / super::LANES as f64).ceil() * (levels * LEVEL + bytes / BYTES)
}

/// The way out breadth-first.
pub(super) struct Levels {
    /// Where they differ from those by tail.
    by_head: Option<(Pool, Rows)>,
    kernels: [Function; 2],
}

impl Levels {
    pub(super) fn prepare(device: &Arc<dyn Device>, graph: &Graph, search: &Search) -> Result<Self> {
        let kernels = kernels_of(&**device, graph, &images::BETWEENNESS_LEVELS, "out")?;
        let by_head = graph.is_directed().then(|| -> Result<_> {
            let (pool, (transpose, mut rows)) = Pool::lay_out(device, |arena| layout(arena, graph))?;
            transpose.make(&pool, search.arrays.by_tail.arcs)?;
            rows.upload_pieces(&pool, &transpose.arcs.offsets.read(&pool)?)?;
            Ok((pool, rows))
        });
        Ok(Levels { by_head: by_head.transpose()?, kernels })
    }
}

impl WayOut for Levels {
    fn go(&mut self, search: &Search, sources: &[VertexId], control: &Control) -> Result<Reached> {
        let lanes = lanes_of(sources);
        search.start(sources, lanes)?;
        let rows = self.by_head.as_ref().map_or(search.arrays.by_tail, |(_, rows)| *rows);
        search.level_by_level(lanes, control, |deepest| {
            let argument = KernelArgument {
                offsets: rows.arcs.offsets.as_ptr(),
                heads: rows.arcs.targets.as_ptr(),
                pieces: rows.pieces.as_ptr(),
                long_rows: rows.long_rows.as_ptr(),
                piece_count: rows.counts[0],
                long_count: rows.counts[1],
                lanes,
                ..search.at(deepest + 1, deepest, deepest + 1)?
            };
            search.launch(self.kernels, argument)
        })
    }

    #[cfg(test)]
    fn used(&self) -> u64 {
        self.by_head.as_ref().map_or(0, |(pool, _)| pool.used())
    }
}
