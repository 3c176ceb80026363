//! A graph in the memory of a device: its arcs by tail, as on the host.
//!
//! *Invariants.* An argument is the address of an array on the device, which lives as long as the graph there.

use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

use super::device::arena::{Arena, plan_of};
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Argument, Device};
use super::kernel_header::{DevicePtr, cpp};
use crate::graph::{Csr, Graph, VertexId, WeightKind};
use crate::plan::Plan;
use crate::{Error, Result, memory};

/// How large a graph is, and of what: all that the room for it on a device depends on.
pub(crate) trait Extent {
    /// How many vertices there are.
    fn vertices(&self) -> usize;
    /// How many arcs.
    fn arcs(&self) -> usize;
    /// Whether the arcs by head differ from those by tail.
    fn is_directed(&self) -> bool;
    /// The type of the weights.
    fn weight_kind(&self) -> WeightKind;
}

impl Extent for Graph {
    fn vertices(&self) -> usize {
        self.vertices()
    }

    fn arcs(&self) -> usize {
        self.arcs()
    }

    fn is_directed(&self) -> bool {
        self.is_directed()
    }

    fn weight_kind(&self) -> WeightKind {
        self.weight_kind()
    }
}

/// The arcs of a graph on a device, by tail or by head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arcs {
    /// Where those of each vertex begin, and where the last one's end.
    pub(crate) offsets: Offsets,
    /// The other ends: the heads of arcs by tail, the tails of arcs by head.
    pub(crate) targets: DeviceSlice<VertexId>,
}

impl Arcs {
    /// Takes room for those of a graph.
    pub(crate) fn layout(arena: &mut Arena<'_>, graph: &impl Extent) -> Self {
        let offsets =
            Offsets::layout(arena, "offsets of the vertices", graph.vertices() as u64 + 1, has_wide_offsets(graph));
        Arcs { offsets, targets: arena.take("heads of the arcs", graph.arcs() as u64) }
    }

    /// With 32-bit offsets.
    pub(crate) fn narrow(offsets: DeviceSlice<u32>, targets: DeviceSlice<VertexId>) -> Self {
        Arcs { offsets: Offsets::Narrow(offsets), targets }
    }

    /// Copies them there, in stream order.
    pub(crate) fn upload(self, pool: &Pool, csr: &Csr) -> Result<()> {
        self.offsets.upload(pool, csr)?;
        pool.upload(self.targets, csr.targets())
    }
}

/// A graph on a device with 32-bit offsets, in a pool that also has room for the work of one algorithm.
#[derive(Debug)]
pub(crate) struct DeviceGraph {
    /// The memory of everything here.
    pub(crate) pool: Pool,
    /// Where each vertex's arcs begin, and where the last one's end.
    pub(crate) offsets: DeviceSlice<u32>,
    /// The heads of the arcs.
    pub(crate) targets: DeviceSlice<VertexId>,
    /// How many vertices there are.
    pub(crate) vertices: u32,
}

impl DeviceGraph {
    /// What a graph takes, and `layout` after it.
    pub(crate) fn plan<A>(graph: &impl Extent, layout: impl FnOnce(&mut Arena<'_>) -> A) -> Plan {
        plan_of(|arena| (Self::arrays(arena, graph), layout(arena)))
    }

    /// Takes that in one piece, and copies the graph there; the arrays of `layout`, too.
    ///
    /// # Errors
    ///
    /// If the graph has too many arcs, or the device too little memory.
    pub(crate) fn upload<A>(
        device: &Arc<dyn Device>,
        graph: &Graph,
        layout: impl Fn(&mut Arena<'_>) -> A,
    ) -> Result<(Self, A)> {
        Self::filled(device, graph, layout, |pool, offsets, targets| {
            upload_narrow_offsets(pool, offsets, graph.csr().offsets())?;
            pool.upload(targets, graph.csr().targets())
        })
    }

    /// The same of a graph of this extent, whose arcs `fill` puts where they belong, in stream order.
    ///
    /// # Errors
    ///
    /// As of [`DeviceGraph::upload`].
    pub(crate) fn filled<A>(
        device: &Arc<dyn Device>,
        graph: &impl Extent,
        layout: impl Fn(&mut Arena<'_>) -> A,
        fill: impl FnOnce(&Pool, DeviceSlice<u32>, DeviceSlice<VertexId>) -> Result<()>,
    ) -> Result<(Self, A)> {
        if graph.arcs() > u32::MAX as usize {
            return Err(Error::invalid(format!(
                "this algorithm takes graphs of fewer than 2^32 arcs on a device; this one has {}",
                graph.arcs()
            )));
        }
        let (pool, ((offsets, targets), arrays)) =
            Pool::lay_out(device, |arena| (Self::arrays(arena, graph), layout(arena)))?;
        fill(&pool, offsets, targets)?;
        device.synchronize()?;
        Ok((DeviceGraph { pool, offsets, targets, vertices: graph.vertices() as u32 }, arrays))
    }

    fn arrays(arena: &mut Arena<'_>, graph: &impl Extent) -> (DeviceSlice<u32>, DeviceSlice<VertexId>) {
        let offsets = arena.take("offsets of the vertices", graph.vertices() as u64 + 1);
        (offsets, arena.take("heads of the arcs", graph.arcs() as u64))
    }
}

/// Fills an array with these offsets, which ascend, in 32 bits.
///
/// # Panics
///
/// If they are too large.
fn upload_narrow_offsets(pool: &Pool, offsets: DeviceSlice<u32>, wide: &[u64]) -> Result<()> {
    assert!(wide.last().is_none_or(|&last| last <= u32::MAX.into()), "offsets do not fit 32 bits");
    pool.upload_with(offsets, wide.len(), |range, narrow| {
        narrow.iter_mut().zip(&wide[range]).for_each(|(narrow, &wide)| *narrow = wide as u32);
    })
}

/// Whether offsets into the arcs of a graph take 64 bits on a device.
pub(crate) fn has_wide_offsets(graph: &impl Extent) -> bool {
    are_wide(graph.arcs())
}

/// Whether offsets into so many arcs do.
pub(crate) fn are_wide(arcs: usize) -> bool {
    #[cfg(test)]
    if WIDE_OFFSETS.get() {
        return true;
    }
    // Threads look a little beyond the last arc.
    arcs > u32::MAX as usize - (1 << 12)
}

#[cfg(test)]
thread_local! {
    /// Has the offsets of all graphs take 64 bits: no graph of a test needs them.
    pub(crate) static WIDE_OFFSETS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Offsets in 32 bits, or in 64 where those don't do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Offsets {
    Narrow(DeviceSlice<u32>),
    Wide(DeviceSlice<u64>),
}

// SAFETY: a kernel takes the address, as of any array.
unsafe impl Argument for Offsets {
    fn pointer(&self) -> *mut c_void {
        match self {
            Offsets::Narrow(offsets) => offsets.pointer(),
            Offsets::Wide(offsets) => offsets.pointer(),
        }
    }
}

impl Offsets {
    /// Takes an array of them. Its contents are undefined.
    pub(crate) fn layout(arena: &mut Arena<'_>, what: &str, length: u64, wide: bool) -> Self {
        if wide { Offsets::Wide(arena.take(what, length)) } else { Offsets::Narrow(arena.take(what, length)) }
    }

    /// Copies those of a graph there, in stream order.
    ///
    /// # Panics
    ///
    /// If there are too many arcs for 32 bits, and these have them.
    pub(crate) fn upload(&self, pool: &Pool, csr: &Csr) -> Result<()> {
        self.upload_values(pool, csr.offsets())
    }

    /// Copies these there, which ascend, in stream order.
    ///
    /// # Panics
    ///
    /// If they are too large for 32 bits, and these have them.
    pub(crate) fn upload_values(&self, pool: &Pool, values: &[u64]) -> Result<()> {
        match self {
            Offsets::Narrow(offsets) => upload_narrow_offsets(pool, *offsets, values),
            Offsets::Wide(offsets) => pool.upload(*offsets, values),
        }
    }

    /// Copies those of some vertices there, and the end of the last one's arcs, as if there were no arcs before them; in stream order.
    pub(crate) fn upload_some(&self, pool: &Pool, csr: &Csr, vertices: Range<usize>) -> Result<()> {
        let (first, wide) = (csr.offsets()[vertices.start], &csr.offsets()[vertices.start..=vertices.end]);
        match self {
            Offsets::Narrow(offsets) => pool.upload_with(*offsets, wide.len(), |range, piece| {
                piece.iter_mut().zip(&wide[range]).for_each(|(there, &offset)| *there = (offset - first) as u32);
            }),
            Offsets::Wide(offsets) => pool.upload_with(*offsets, wide.len(), |range, piece| {
                piece.iter_mut().zip(&wide[range]).for_each(|(there, &offset)| *there = offset - first);
            }),
        }
    }

    /// What they are, once the device has come here.
    pub(crate) fn read(&self, pool: &Pool) -> Result<Vec<u64>> {
        match self {
            Offsets::Narrow(offsets) => {
                memory::listed("offsets of the vertices", pool.read(*offsets)?.into_iter().map(u64::from))
            }
            Offsets::Wide(offsets) => pool.read(*offsets),
        }
    }

    /// The bytes of one.
    pub(crate) fn bytes_of_one(&self) -> u64 {
        if self.is_wide() { 8 } else { 4 }
    }

    /// Where they are, for a kernel.
    pub(crate) fn as_ptr(&self) -> DevicePtr<cpp::Offset> {
        DevicePtr::new(self.address())
    }

    /// Whether they have 64 bits.
    pub(crate) fn is_wide(&self) -> bool {
        matches!(self, Offsets::Wide(_))
    }

    /// How many there are.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Offsets::Narrow(offsets) => offsets.length(),
            Offsets::Wide(offsets) => offsets.length(),
        }
    }

    /// The address of the first one.
    pub(crate) fn address(&self) -> u64 {
        match self {
            Offsets::Narrow(offsets) => offsets.address(),
            Offsets::Wide(offsets) => offsets.address(),
        }
    }

    /// The address of the second one.
    pub(crate) fn address_of_second(&self) -> u64 {
        match self {
            Offsets::Narrow(offsets) => offsets.part(1, 0).address(),
            Offsets::Wide(offsets) => offsets.part(1, 0).address(),
        }
    }

    /// Makes all of them 0, in stream order.
    pub(crate) fn fill_with_zeros(&self, pool: &Pool) -> Result<()> {
        match self {
            Offsets::Narrow(offsets) => pool.fill(*offsets, 0),
            Offsets::Wide(offsets) => pool.fill(*offsets, 0),
        }
    }
}
