//! A graph in the memory of a device as a list of arcs with tail, head and weight, sorted by one end or the other.
//!
//! The list has one of two forms: an array each of tails, heads and weights, or one array of records. Only the arrays
//! suffice to derive predecessors on the device. Kernels read either through `kernels/sssp/edges.cuh`.

use std::sync::Arc;

use super::predecessors::{Arcs, Derivation};
use super::{DeviceSemiring, layout_weights, upload_weights};
use crate::algorithms::{Parameter, Parameters, Unset, Values};
use crate::cuda::device::Device;
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::kernel_header::{DevicePtr, cpp};
use crate::graph::{Csr, Graph, VertexId, Weights, with_weights};
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

/// Whether arcs are records.
pub(super) const EDGES: Parameter = Parameter {
    name: "edges",
    summary: "arrays (tails, heads and weights apart) or records (the three side by side, as the report's listing has \
              them; the host derives predecessors)",
    values: Values::Or(&Values::OneOf(&["arrays", "records"]), Unset::InWords(|| "arrays".into())),
};

/// How the arcs are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    /// Whether they are sorted by their heads, not by their tails.
    pub(super) by_destination: bool,
    /// Whether they are records.
    pub(super) records: bool,
}

impl Form {
    /// What the parameters say; `by_destination` if the order is not said.
    pub(super) fn of(parameters: &Parameters, by_destination: bool) -> Self {
        Form {
            by_destination: parameters.word(ORDER.name).map_or(by_destination, |order| order == "destination"),
            records: parameters.word(EDGES.name) == Some("records"),
        }
    }
}

/// The arcs of a graph on a device, in a pool that also has room for the work of one algorithm.
#[derive(Debug)]
pub(super) struct DeviceEdges {
    /// The memory of everything here.
    pub(super) pool: Pool,
    list: List,
    pub(super) arcs: u32,
    pub(super) vertices: u32,
}

/// An arc with everything about it, as kernels have it.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
struct Record {
    tail: VertexId,
    head: VertexId,
    /// The bits of a weight of 32.
    weight: u32,
}

/// The arcs, in one of two forms.
#[derive(Debug, Clone, Copy)]
enum List {
    /// An array for each end, and for the weights.
    Arrays {
        tails: DeviceSlice<VertexId>,
        heads: DeviceSlice<VertexId>,
        weights: DeviceSlice<u32>,
        /// Room for the predecessor of each vertex,
        predecessors: DeviceSlice<VertexId>,
        /// and for when it was found.
        levels: DeviceSlice<u32>,
    },
    /// One array.
    Records(DeviceSlice<Record>),
}

/// Where kernels find the arcs; what the form does not have is null.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pointers {
    pub(super) tails: DevicePtr<VertexId>,
    pub(super) heads: DevicePtr<VertexId>,
    pub(super) weights: DevicePtr<cpp::Weight>,
    pub(super) records: DevicePtr<cpp::Record>,
}

impl List {
    fn layout(arena: &mut Arena<'_>, graph: &Graph, form: Form) -> Self {
        let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
        if form.records {
            return List::Records(arena.take("records of the arcs", arcs));
        }
        List::Arrays {
            tails: arena.take("tails of the arcs", arcs),
            heads: arena.take("heads of the arcs", arcs),
            weights: layout_weights(arena, graph),
            predecessors: arena.take("predecessors", vertices),
            levels: arena.take("rounds of the predecessors", vertices),
        }
    }

    fn upload(self, pool: &Pool, csr: &Csr, by_destination: bool) -> Result<()> {
        match self {
            List::Arrays { tails, heads, weights, .. } => {
                let (rows, others) = if by_destination { (heads, tails) } else { (tails, heads) };
                upload_rows(pool, rows, csr)?;
                pool.upload(others, csr.targets())?;
                upload_weights(pool, weights, csr)
            }
            List::Records(records) => upload_records(pool, records, csr, by_destination),
        }
    }
}

impl DeviceEdges {
    /// What the arcs of a graph take, and `layout` after them.
    pub(super) fn plan<A>(graph: &Graph, form: Form, layout: impl FnOnce(&mut Arena<'_>) -> A) -> Plan {
        plan_of(|arena| (List::layout(arena, graph, form), layout(arena)))
    }

    /// Takes that in one piece, and copies the arcs there; the arrays of `layout`, too.
    ///
    /// # Errors
    ///
    /// If the graph has too many arcs, or the device too little memory.
    pub(super) fn upload<A>(
        device: &Arc<dyn Device>,
        graph: &Graph,
        form: Form,
        layout: impl Fn(&mut Arena<'_>) -> A,
    ) -> Result<(Self, A)> {
        if graph.arcs() > u32::MAX as usize {
            return Err(Error::invalid(format!(
                "this algorithm takes graphs of fewer than 2^32 arcs on a device; this one has {}",
                graph.arcs()
            )));
        }
        let (pool, (list, arrays)) = Pool::lay_out(device, |arena| (List::layout(arena, graph, form), layout(arena)))?;
        let csr = if form.by_destination { graph.transpose()? } else { graph.csr() };
        list.upload(&pool, csr, form.by_destination)?;
        Ok((DeviceEdges { pool, list, arcs: graph.arcs() as u32, vertices: graph.vertices() as u32 }, arrays))
    }

    /// What kernels are told.
    pub(super) fn pointers(&self) -> Pointers {
        let none = Pointers {
            tails: DevicePtr::NULL,
            heads: DevicePtr::NULL,
            weights: DevicePtr::NULL,
            records: DevicePtr::NULL,
        };
        match self.list {
            List::Arrays { tails, heads, weights, .. } => {
                Pointers { tails: tails.as_ptr(), heads: heads.as_ptr(), weights: weights.as_ptr().cast(), ..none }
            }
            List::Records(records) => Pointers { records: records.as_ptr().cast(), ..none },
        }
    }

    /// What predecessors are derived from, with room for one word; not from records.
    pub(super) fn derivation(
        &self,
        semiring: DeviceSemiring,
        distances: DeviceSlice<u32>,
        progress: DeviceSlice<u32>,
    ) -> Option<Derivation<'_>> {
        let List::Arrays { tails, heads, weights, predecessors, levels } = self.list else { return None };
        let arcs = Arcs::of_list(tails, heads, weights);
        Some(Derivation { pool: &self.pool, semiring, arcs, distances, predecessors, levels, progress })
    }
}

/// Fills an array with the arcs as records.
fn upload_records(pool: &Pool, records: DeviceSlice<Record>, csr: &Csr, by_destination: bool) -> Result<()> {
    let offsets = csr.offsets();
    let weights: Option<&[u32]> = match csr.weights() {
        Weights::Unit(_) => None,
        weights => with_weights!(weights, values => Some(bytemuck::cast_slice(values))),
    };
    pool.upload_with(records, csr.arcs(), |range, piece| {
        let mut row = offsets.partition_point(|&offset| offset <= range.start as u64).saturating_sub(1);
        for (arc, record) in range.zip(piece) {
            while offsets[row + 1] <= arc as u64 {
                row += 1;
            }
            let (row, other) = (row as VertexId, csr.targets()[arc]);
            let (tail, head) = if by_destination { (other, row) } else { (row, other) };
            *record = Record { tail, head, weight: weights.map_or(1, |weights| weights[arc]) };
        }
    })
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
