//! Tables of distances that stay on the device: a row for each source, a column for each target.
//!
//! Many searches run at once: breadth-first ones share their reads of the arcs, those by weights have a block each. Each batch leaves
//! whole rows on the device; the columns that were asked for are copied from there to the table. Work: a search for each source. Memory:
//! the table, the arcs once more, and the rows of a batch twice.

use std::sync::Arc;

use super::ResidentGraph;
use super::arrays::{DeviceArray, Element};
use super::tree::greatest;
use crate::algorithms::Parameters;
use crate::cuda::apsp::batched;
use crate::cuda::apsp::outgoing::{Outgoing, Wanted};
use crate::cuda::apsp::searches::Searches;
use crate::cuda::bfs::many_sources as by_levels;
use crate::cuda::device::Device;
use crate::cuda::device::memory::Pool;
use crate::cuda::semirings::{DeviceSemiring, semirings_of};
use crate::cuda::sssp::many_sources as by_weights;
use crate::graph::{VertexId, WeightKind};
use crate::{Control, Error, Result};

/// Bytes of the rows of a batch, at most.
const BATCH_BYTES: u64 = 1 << 30;
/// So many searches share their reads; a batch has no fewer unless memory is short.
const WIDTH: u64 = 64;

#[cfg(test)]
std::thread_local! {
    /// How many rows a batch has, if a test says so.
    pub(super) static BATCH_ROWS: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

/// Distances from each of some sources to each of some targets, row by row, in the memory of a GPU.
#[derive(Debug)]
pub struct ResidentTable {
    distances: DeviceArray,
    columns: usize,
}

impl ResidentTable {
    /// The distances, row by row: as those of a [`ResidentTree`](super::ResidentTree).
    pub fn distances(&self) -> &DeviceArray {
        &self.distances
    }

    /// How many targets there are.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The distances alone.
    pub fn into_distances(self) -> DeviceArray {
        self.distances
    }

    pub(super) fn of(
        graph: &ResidentGraph,
        sources: &[VertexId],
        targets: Option<&[VertexId]>,
        control: &Control,
    ) -> Result<Self> {
        let columns = targets.map_or(graph.vertices(), <[VertexId]>::len);
        let found = semirings_of(&graph.rows.size).iter().find_map(|&semiring| {
            let found = in_semiring(graph, sources, targets, semiring, control);
            found.transpose()
        });
        let distances = found.unwrap_or_else(|| Err(Error::invalid("a distance is too great for its type")))?;
        Ok(ResidentTable { distances, columns })
    }
}

/// The table in this semiring; `None` if some distance is too great for it, or for integers with a sign of 32 bits.
fn in_semiring(
    graph: &ResidentGraph,
    sources: &[VertexId],
    targets: Option<&[VertexId]>,
    semiring: DeviceSemiring,
    control: &Control,
) -> Result<Option<DeviceArray>> {
    let device = &graph.device;
    let columns = targets.map_or(graph.vertices(), <[VertexId]>::len) as u64;
    let element = match semiring {
        DeviceSemiring::Narrow => Element::I32,
        DeviceSemiring::Wide | DeviceSemiring::Signed => Element::I64,
        DeviceSemiring::Single => Element::F32,
        DeviceSemiring::Double => Element::F64,
    };
    let words_of_row = columns.saturating_mul(semiring.words());
    let mut is_in_range = true;
    let cells = columns.saturating_mul(sources.len() as u64);
    let table = DeviceArray::filled(device, element, cells, |pool, to| {
        if cells == 0 {
            return Ok(());
        }
        let mut searches = prepared(graph, sources.len() as u64, columns, targets, semiring)?;
        for (index, batch) in sources.chunks(searches.rows as usize).enumerate() {
            is_in_range &= searches.search(batch, control)?;
            if !is_in_range {
                break;
            }
            let first = (index as u64 * searches.rows) * words_of_row;
            searches.outgoing.copy(pool, to.part(first, batch.len() as u64 * words_of_row))?;
        }
        is_in_range = is_in_range && (semiring != DeviceSemiring::Narrow || greatest(device, to)? <= i32::MAX as u64);
        Ok(())
    })?;
    Ok(is_in_range.then_some(table))
}

/// Batches of searches, and what leads from their rows to those of the table.
struct Batches {
    searches: Box<dyn Searches>,
    /// Searches of a batch, at most.
    rows: u64,
    outgoing: Outgoing,
}

/// As many searches a batch as there is memory for.
fn prepared(
    graph: &ResidentGraph,
    sources: u64,
    columns: u64,
    targets: Option<&[VertexId]>,
    semiring: DeviceSemiring,
) -> Result<Batches> {
    let size = &graph.rows.size;
    let row_bytes = 4 * by_levels::stride(size).max(1) * semiring.words();
    let mut rows = (BATCH_BYTES / row_bytes).clamp(WIDTH, 1 << 14).min(sources);
    #[cfg(test)]
    {
        rows = BATCH_ROWS.get().unwrap_or(rows);
    }
    loop {
        match prepared_for(&graph.device, graph, rows, columns, targets, semiring) {
            Err(Error::OutOfMemory { .. }) if rows > 1 => rows /= 2,
            made => return made,
        }
    }
}

fn prepared_for(
    device: &Arc<dyn Device>,
    graph: &ResidentGraph,
    rows: u64,
    columns: u64,
    targets: Option<&[VertexId]>,
    semiring: DeviceSemiring,
) -> Result<Batches> {
    let (size, parameters) = (&graph.rows.size, Parameters::default());
    let wanted = Wanted { semiring, rows, columns, targets, potentials: None, facts: false };
    let searches = if graph.weight_kind() == WeightKind::Unit {
        let facts = graph.facts()?;
        let fill = |pool: &Pool, to| graph.copy_arcs(pool, to);
        batched::unweighted(by_levels::with_arcs(device, size, &facts, &parameters, rows, fill)?, size)
    } else {
        let sizes = by_weights::Sizes::in_semirings(size, &parameters, semiring.alone(), rows);
        let delta = graph.first_delta()?;
        let fill = |pool: &Pool, offsets, pairs| graph.copy_pairs(pool, offsets, pairs);
        batched::weighted(by_weights::with_arcs(device, size, &parameters, &sizes, delta, fill)?, semiring, size)?
    };
    Ok(Batches { searches, rows, outgoing: Outgoing::new(device, &wanted, &[])? })
}

impl Batches {
    /// Searches from each of these sources, and packs what they find; whether all distances are in the range of the semiring.
    fn search(&mut self, sources: &[VertexId], control: &Control) -> Result<bool> {
        self.searches.start(sources, control)?;
        if !self.searches.finish(control)?.out_of_range.is_empty() {
            return Ok(false);
        }
        self.outgoing.pack(self.searches.rows(), sources)?;
        Ok(true)
    }
}
