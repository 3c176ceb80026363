//! Rows of distances from those of the vertices of fronts.
//!
//! Rows have their distances in the order of vertices, fronts and tiles in that of elimination. Whoever works out the distances of a tile
//! writes them to many parts of rows that are shorter than a sector of memory, which took twice as long on roads as writing them by
//! place and transposing all of them; and a transposition reads and writes each distance once more. So tiles are not swept. A block
//! works out 128 neighbouring columns for 64 sources, wherever their vertices are in the tree, and writes whole lines of rows.
//!
//! It can, because the distances of a tile need not wait for each other. The *label* of a vertex has the lengths of the shortest ways from
//! its *hubs*, the boundary of its tile, to it. One sweep over the tile makes them, once for all sources. A distance is the least sum of
//! one of a hub, which is there after the fronts, and a length of the label: some seven additions on roads. What neighbouring
//! columns share is read once: [`rounds`](crate::hierarchy::rounds) says how. A source in a tile has ways that no hub is on; a
//! warp sweeps over that tile alone, for the sources in it, and overwrites what labels gave.
//!
//! Floors on an H200 for NY, a source: 0.26 us to write its row, 0.15 for the 2 M additions of padded labels, 0.2 to read hubs and labels
//! from the L2 cache. The kernel takes 0.60, since a block loads, adds and writes one after another, and four of them at a time do not
//! hide all of that.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they
//! expect.

use super::arguments::{
    BYTES_A_HUB, COLUMNS_A_BLOCK, FOUR, MOST_FOURS, MOST_HUBS, MOST_PARTS, ROW_WARPS, Rows, SOURCES, Sweep,
};
use super::arrays::Arrays;
use super::shape;
use crate::cuda::device::memory::Pool;
use crate::cuda::device::{Device, Function, arguments, images};
use crate::cuda::sssp::DeviceSemiring;
use crate::hierarchy::{Pieces, Rounds};
use crate::{Error, Result};

/// Bytes of a part of lists.
const PART_BYTES: u32 = 16;

/// The kernels, and the shared memory of their blocks.
#[derive(Debug)]
pub(super) struct RowKernels {
    labels: Function,
    rows: Function,
    own_tiles: Function,
    row_bytes: u32,
    tile_bytes: u32,
    /// Sources of a block that makes rows.
    sources: u32,
}

impl RowKernels {
    pub(super) fn new(device: &dyn Device, semiring: DeviceSemiring, full: bool, pieces: &Pieces) -> Result<Self> {
        let kind = if full { "full_" } else { "" };
        let function = |name: &str| {
            semiring.function(device, &images::APSP_HIERARCHY_ROWS, &format!("apsp_hierarchy_rows_{kind}{name}"))
        };
        let distance = 4 * semiring.words() as u32;
        let sources = BYTES_A_HUB / distance;
        let row_bytes = MOST_PARTS * PART_BYTES
            + MOST_FOURS * FOUR * distance
            + (MOST_HUBS + 1) * BYTES_A_HUB
            + COLUMNS_A_BLOCK * (sources + 1) * distance;
        let tile_bytes = pieces.tiles.slots as u32 * SOURCES * distance;
        if row_bytes.max(tile_bytes) > device.properties().shared_bytes_per_block {
            return Err(Error::invalid("the device has too little shared memory for rows over a hierarchy"));
        }
        let (labels, rows, own_tiles) = (function("labels")?, function("rows")?, function("own_tiles")?);
        Ok(RowKernels { labels, rows, own_tiles, row_bytes, tile_bytes, sources })
    }

    /// Has labels made, and waits for them; their greatest length.
    pub(super) fn make_labels(&self, pool: &Pool, arrays: &Arrays, sweep: Sweep) -> Result<u64> {
        pool.fill(arrays.greatest.cast::<u32>(), 0)?;
        if sweep.tile_count > 0 {
            let shape = shape(sweep.tile_count.into(), 1, self.tile_bytes)?;
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
            unsafe { pool.device().launch(self.labels, &shape, arguments![sweep])? };
        }
        let [greatest] = pool.read_array(arrays.greatest)?;
        Ok(greatest)
    }

    /// Has rows made, in stream order, for sources that are in so many tiles.
    pub(super) fn launch(&self, device: &dyn Device, sweep: Sweep, rows: Rows, visits: u32) -> Result<()> {
        let groups = rows.count.div_ceil(self.sources);
        let blocks = u64::from(rows.blocks) * u64::from(groups);
        if blocks > 0 {
            let shape = shape(blocks, ROW_WARPS, self.row_bytes)?;
            // SAFETY: as above.
            unsafe { device.launch(self.rows, &shape, arguments![Rows { groups, ..rows }])? };
        }
        if visits > 0 {
            let shape = shape(visits.into(), 1, self.tile_bytes)?;
            // SAFETY: as above.
            unsafe { device.launch(self.own_tiles, &shape, arguments![sweep])? };
        }
        Ok(())
    }
}

/// Fills what says which columns there are.
pub(super) fn upload(pool: &Pool, arrays: &Arrays, rounds: &Rounds) -> Result<()> {
    pool.upload(arrays.column_offsets, &rounds.offsets)?;
    pool.upload(arrays.columns_of, &rounds.columns)?;
    pool.upload(arrays.label_of, &rounds.label_of)?;
    pool.upload(arrays.rounds, &rounds.rounds)?;
    pool.upload(arrays.lists, &rounds.lists)
}
