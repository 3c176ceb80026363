//! What a search leaves on a device, and the predecessors derived from it there.
//!
//! The predecessor of a vertex is the least tail, one level above it, of the arcs to it, as on the CPU
//! (`problems/predecessors.rs`): the same tree whatever found the levels. Arcs are pushed, so the arcs by head are not
//! needed; warps take equal shares of the arcs, so hubs do no harm. O(V + E) work: one pass over the arcs, with two
//! random accesses each, to levels and predecessors.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr` or from `resident/adoption.rs`, which have checked them, or from
//! sources that were checked.

use crate::Result;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{LaunchShape, arguments, images};
use crate::cuda::graph::Arcs;
use crate::graph::{NO_VERTEX, VertexId};

/// What the last search has found.
#[derive(Debug, Clone)]
pub(crate) struct DeviceLevels<'p> {
    /// The memory of everything here, but what is on further devices.
    pub(crate) pool: &'p Pool,
    /// The level of each vertex, all ones where there is none; perhaps a little longer, if there is a derivation.
    pub(crate) levels: DeviceSlice<u32>,
    /// The graph, and room for the predecessor of each vertex, that the next search may use for something else; `None` if the
    /// device has no room for that, and the host derives predecessors.
    pub(crate) derivation: Option<(Arcs, DeviceSlice<VertexId>)>,
    /// The levels of the vertices after these, where further devices have them.
    pub(crate) further: Vec<(&'p Pool, DeviceSlice<u32>)>,
}

impl<'p> DeviceLevels<'p> {
    /// These levels and nothing else.
    pub(crate) fn of(pool: &'p Pool, levels: DeviceSlice<u32>) -> Self {
        DeviceLevels { pool, levels, derivation: None, further: Vec::new() }
    }

    /// These levels, and what derives predecessors from them.
    pub(crate) fn with_arcs(
        pool: &'p Pool,
        levels: DeviceSlice<u32>,
        derivation: (Arcs, DeviceSlice<VertexId>),
    ) -> Self {
        DeviceLevels { derivation: Some(derivation), ..Self::of(pool, levels) }
    }

    /// The levels, [`UNREACHED`](crate::problems::UNREACHED) where there is none.
    pub(crate) fn levels(&self) -> Result<Vec<u32>> {
        let vertices = self.derivation.map_or(self.levels.length(), |(_, predecessors)| predecessors.length());
        let mut arrays = vec![(self.pool, self.levels.part(0, vertices))];
        arrays.extend(&self.further);
        Pool::read_all(&arrays)
    }

    /// Derives the predecessors, and waits until that is done; returns where they are, [`NO_VERTEX`] where there is none, or
    /// `None` if the device cannot derive them.
    pub(crate) fn derive_predecessors(&self) -> Result<Option<DeviceSlice<VertexId>>> {
        let Some((arcs, predecessors)) = self.derivation else { return Ok(None) };
        let device = self.pool.device();
        self.pool.fill(predecessors, NO_VERTEX)?;
        let kernel = if arcs.offsets.is_wide() { "bfs_predecessors_64" } else { "bfs_predecessors_32" };
        let kernel = device.function(&images::BFS_PREDECESSORS, kernel)?;
        let threads = device.properties().threads_per_block.min(512);
        let shape = LaunchShape::line(device.blocks_at_once(kernel, threads, 0)?.max(1), threads);
        let Arcs { offsets, targets, .. } = arcs;
        let vertices = predecessors.length() as u32;
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe {
            let arguments = arguments![offsets, targets, self.levels, vertices, predecessors];
            device.launch(kernel, &shape, arguments)?;
        }
        device.synchronize()?;
        Ok(Some(predecessors))
    }
}
