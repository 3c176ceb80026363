//! A graph in the memory of a device as a list of arcs with tail, head and weight, sorted by one end or the other.

use std::sync::Arc;

use super::predecessors::{Arcs, Derivation};
use super::{DeviceSemiring, layout_weights, upload_weights};
use crate::algorithms::{Parameter, Parameters, Unset, Values};
use crate::cuda::device::Device;
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::graph::{Csr, Graph, VertexId};
use crate::plan::Plan;
use crate::{Error, Result};

/// By which end arcs are sorted.
pub(super) const ORDER: Parameter = Parameter {
    name: "edge-order",
    summary: "arcs sorted by source or destination",
    values: Values::Or(
        &Values::OneOf(&["source", "destination"]),
        Unset::InWords(|| "source, but destination with sync=shared".into()),
    ),
};

/// Whether arcs are to be sorted by their heads; `otherwise` if that is not said.
pub(super) fn by_destination(parameters: &Parameters, otherwise: bool) -> bool {
    parameters.word(ORDER.name).map_or(otherwise, |order| order == "destination")
}

/// The arcs of a graph on a device, in a pool that also has room for the work of one algorithm.
#[derive(Debug)]
pub(super) struct DeviceEdges {
    /// The memory of everything here.
    pub(super) pool: Pool,
    pub(super) list: List,
    pub(super) arcs: u32,
    pub(super) vertices: u32,
}

/// The arrays of the arcs.
#[derive(Debug, Clone, Copy)]
pub(super) struct List {
    pub(super) tails: DeviceSlice<VertexId>,
    pub(super) heads: DeviceSlice<VertexId>,
    pub(super) weights: DeviceSlice<u32>,
    /// Room for the predecessor of each vertex,
    predecessors: DeviceSlice<VertexId>,
    /// and for when it was found.
    levels: DeviceSlice<u32>,
}

impl List {
    fn layout(arena: &mut Arena<'_>, graph: &Graph) -> Self {
        let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
        List {
            tails: arena.take("tails of the arcs", arcs),
            heads: arena.take("heads of the arcs", arcs),
            weights: layout_weights(arena, graph),
            predecessors: arena.take("predecessors", vertices),
            levels: arena.take("rounds of the predecessors", vertices),
        }
    }
}

impl DeviceEdges {
    /// What the arcs of a graph take, and `layout` after them.
    pub(super) fn plan<A>(graph: &Graph, layout: impl FnOnce(&mut Arena<'_>) -> A) -> Plan {
        plan_of(|arena| (List::layout(arena, graph), layout(arena)))
    }

    /// Takes that in one piece, and copies the arcs there; the arrays of `layout`, too.
    ///
    /// # Errors
    ///
    /// If the graph has too many arcs, or the device too little memory.
    pub(super) fn upload<A>(
        device: &Arc<dyn Device>,
        graph: &Graph,
        by_destination: bool,
        layout: impl Fn(&mut Arena<'_>) -> A,
    ) -> Result<(Self, A)> {
        if graph.arcs() > u32::MAX as usize {
            return Err(Error::invalid(format!(
                "this algorithm takes graphs of fewer than 2^32 arcs on a device; this one has {}",
                graph.arcs()
            )));
        }
        let (pool, (list, arrays)) = Pool::lay_out(device, |arena| (List::layout(arena, graph), layout(arena)))?;
        let csr = if by_destination { graph.transpose()? } else { graph.csr() };
        let (rows, others) = if by_destination { (list.heads, list.tails) } else { (list.tails, list.heads) };
        upload_rows(&pool, rows, csr)?;
        pool.upload(others, csr.targets())?;
        upload_weights(&pool, list.weights, csr)?;
        Ok((DeviceEdges { pool, list, arcs: graph.arcs() as u32, vertices: graph.vertices() as u32 }, arrays))
    }

    /// What predecessors are derived from, with room for one word.
    pub(super) fn derivation(
        &self,
        semiring: DeviceSemiring,
        distances: DeviceSlice<u32>,
        progress: DeviceSlice<u32>,
    ) -> Derivation<'_> {
        let List { tails, heads, weights, predecessors, levels } = self.list;
        let arcs = Arcs::of_list(tails, heads, weights);
        Derivation { pool: &self.pool, semiring, arcs, distances, predecessors, levels, progress }
    }
}

/// Fills an array with the row that each arc is in.
fn upload_rows(pool: &Pool, rows: DeviceSlice<VertexId>, csr: &Csr) -> Result<()> {
    /// This many are made at a time.
    const PIECE: usize = 1 << 20;
    let (mut piece, mut done) = (Vec::with_capacity(PIECE.min(csr.arcs())), 0);
    for row in 0..csr.vertices() as VertexId {
        let mut left = csr.row(row).len();
        while left > 0 {
            let now = left.min(PIECE - piece.len());
            piece.resize(piece.len() + now, row);
            left -= now;
            if piece.len() == PIECE {
                pool.upload(rows.part(done, PIECE as u64), &piece)?;
                done += PIECE as u64;
                piece.clear();
            }
        }
    }
    pool.upload(rows.part(done, piece.len() as u64), &piece)
}
