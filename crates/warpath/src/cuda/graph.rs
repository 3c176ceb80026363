//! A graph in the memory of a device: its arcs by tail, as on the host, with 32-bit offsets.
//!
//! *Invariants.* An argument is the address of an array on the device, which lives as long as the graph there.

use std::ffi::c_void;
use std::sync::Arc;

use super::device::memory::{DeviceSlice, Pool, room};
use super::device::{Argument, Device};
use crate::graph::{Csr, Graph, VertexId};
use crate::plan::Plan;
use crate::{Error, Result};

/// A graph on a device, in a pool that also has room for the work of one algorithm.
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

/// Adds what [`DeviceGraph::upload`] takes.
pub(crate) fn plan_graph(graph: &Graph, plan: &mut Plan) {
    plan_array::<u32>(plan, "offsets of the vertices", graph.vertices() as u64 + 1);
    plan_array::<VertexId>(plan, "heads of the arcs", graph.arcs() as u64);
}

/// Adds an array of the work.
pub(crate) fn plan_array<T>(plan: &mut Plan, what: &str, length: u64) {
    plan.device(what, room::<T>(length));
}

impl DeviceGraph {
    /// Takes all the memory that was planned, in one piece, and copies the graph there.
    ///
    /// # Errors
    ///
    /// If the graph has too many arcs, or the device too little memory.
    pub(crate) fn upload(device: &Arc<dyn Device>, graph: &Graph, plan: &Plan) -> Result<Self> {
        if graph.arcs() > u32::MAX as usize {
            return Err(Error::invalid(format!(
                "this algorithm takes graphs of fewer than 2^32 arcs on a device; this one has {}",
                graph.arcs()
            )));
        }
        let mut pool = Pool::new(device, plan.device_bytes())?;
        let offsets = upload_narrow_offsets(&mut pool, graph.csr())?;
        let targets = pool.take_filled(graph.csr().targets())?;
        device.synchronize()?;
        Ok(DeviceGraph { pool, offsets, targets, vertices: graph.vertices() as u32 })
    }
}

/// Cuts off an array of offsets of 32 bits and fills it.
///
/// # Panics
///
/// If there are too many arcs.
pub(crate) fn upload_narrow_offsets(pool: &mut Pool, csr: &Csr) -> Result<DeviceSlice<u32>> {
    assert!(csr.arcs() <= u32::MAX as usize, "offsets do not fit 32 bits");
    let wide = csr.offsets();
    let offsets = pool.take(wide.len() as u64)?;
    pool.upload_with(offsets, wide.len(), |range, narrow| {
        narrow.iter_mut().zip(&wide[range]).for_each(|(narrow, &wide)| *narrow = wide as u32);
    })?;
    Ok(offsets)
}

/// Whether offsets into the arcs of a graph take 64 bits on a device.
pub(crate) fn has_wide_offsets(graph: &Graph) -> bool {
    #[cfg(test)]
    if WIDE_OFFSETS.get() {
        return true;
    }
    // Threads look a little beyond the last arc.
    graph.arcs() > u32::MAX as usize - (1 << 12)
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
    /// Adds an array of them.
    pub(crate) fn plan(plan: &mut Plan, what: &str, length: u64, wide: bool) {
        if wide { plan_array::<u64>(plan, what, length) } else { plan_array::<u32>(plan, what, length) }
    }

    /// Cuts off an array of them. Its contents are undefined.
    pub(crate) fn take(pool: &mut Pool, length: u64, wide: bool) -> Result<Self> {
        Ok(if wide { Offsets::Wide(pool.take(length)?) } else { Offsets::Narrow(pool.take(length)?) })
    }

    /// Cuts off an array and fills it with those of a graph.
    ///
    /// # Panics
    ///
    /// If there are too many arcs for 32 bits, and these are asked for.
    pub(crate) fn upload(pool: &mut Pool, csr: &Csr, wide: bool) -> Result<Self> {
        Ok(if wide {
            Offsets::Wide(pool.take_filled(csr.offsets())?)
        } else {
            Offsets::Narrow(upload_narrow_offsets(pool, csr)?)
        })
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
