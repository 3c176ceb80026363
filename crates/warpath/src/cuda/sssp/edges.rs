//! A graph in the memory of a device as a list of arcs with tail, head and weight, sorted by one end or the other.

use std::sync::Arc;

use super::predecessors::{Arcs, Derivation};
use super::{DeviceLane, plan_weights, upload_weights};
use crate::algorithms::{Parameter, Parameters, Values};
use crate::cuda::device::Device;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::graph::plan_array;
use crate::graph::{Csr, Graph, VertexId};
use crate::plan::Plan;
use crate::{Error, Result};

/// By which end arcs are sorted.
pub(super) const ORDER: Parameter = Parameter {
    name: "edge-order",
    summary: "arcs sorted by source or destination; source, but destination with sync=shared",
    values: Values::OneOf(&["source", "destination"]),
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
    pub(super) tails: DeviceSlice<VertexId>,
    pub(super) heads: DeviceSlice<VertexId>,
    pub(super) weights: DeviceSlice<u32>,
    pub(super) arcs: u32,
    pub(super) vertices: u32,
    /// Room for the predecessor of each vertex,
    predecessors: DeviceSlice<VertexId>,
    /// and for when it was found.
    levels: DeviceSlice<u32>,
}

/// Adds what [`DeviceEdges::upload`] takes.
pub(super) fn plan_edges(graph: &Graph, plan: &mut Plan) {
    plan_array::<VertexId>(plan, "tails of the arcs", graph.arcs() as u64);
    plan_array::<VertexId>(plan, "heads of the arcs", graph.arcs() as u64);
    plan_weights(graph, plan);
    plan_array::<VertexId>(plan, "predecessors", graph.vertices() as u64);
    plan_array::<u32>(plan, "rounds of the predecessors", graph.vertices() as u64);
}

impl DeviceEdges {
    /// Takes all the memory that was planned, in one piece, and copies the arcs there.
    ///
    /// # Errors
    ///
    /// If the graph has too many arcs, or the device too little memory.
    pub(super) fn upload(device: &Arc<dyn Device>, graph: &Graph, by_destination: bool, plan: &Plan) -> Result<Self> {
        if graph.arcs() > u32::MAX as usize {
            return Err(Error::invalid(format!(
                "this algorithm takes graphs of fewer than 2^32 arcs on a device; this one has {}",
                graph.arcs()
            )));
        }
        let mut pool = Pool::new(device, plan.device_bytes())?;
        let csr = if by_destination { graph.transpose()? } else { graph.csr() };
        let rows = upload_rows(&mut pool, csr)?;
        let others = pool.take_filled(csr.targets())?;
        let (tails, heads) = if by_destination { (others, rows) } else { (rows, others) };
        let weights = upload_weights(&mut pool, csr)?;
        let (arcs, vertices) = (graph.arcs() as u32, graph.vertices() as u32);
        let (predecessors, levels) = (pool.take(vertices.into())?, pool.take(vertices.into())?);
        Ok(DeviceEdges { pool, tails, heads, weights, arcs, vertices, predecessors, levels })
    }

    /// What predecessors are derived from, with room for one word.
    pub(super) fn derivation(
        &self,
        lane: DeviceLane,
        distances: DeviceSlice<u32>,
        progress: DeviceSlice<u32>,
    ) -> Derivation<'_> {
        let DeviceEdges { pool, predecessors, levels, .. } = self;
        let (predecessors, levels) = (*predecessors, *levels);
        Derivation { pool, lane, arcs: Arcs::of_list(self), distances, predecessors, levels, progress }
    }
}

/// Cuts off an array of the row that each arc is in and fills it.
fn upload_rows(pool: &mut Pool, csr: &Csr) -> Result<DeviceSlice<VertexId>> {
    /// So many are made at a time.
    const PIECE: usize = 1 << 20;
    let rows = pool.take::<VertexId>(csr.arcs() as u64)?;
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
    pool.upload(rows.part(done, piece.len() as u64), &piece)?;
    Ok(rows)
}
