//! Facts about rows, without the rows: how many vertices have a distance, the greatest and the sum of all.
//!
//! Warps count as they sweep over tiles, and a last launch adds up what they have counted. Most tiles do with 16 bits, if the
//! device has instructions for those ([`offsets`](super::offsets)).
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they
//! expect.

use super::arguments::{OFFSET_SOURCES, SOURCES, Sums, Sweep};
use super::offsets::{OffsetKernels, warps_of_tiles};
use super::{WARP, shape};
use crate::Result;
use crate::cuda::device::{Device, Function, arguments};
use crate::hierarchy::Pieces;

/// Threads of a block that adds up counters.
const ADDING: u32 = 128;

/// The kernels that sweep over tiles and count.
#[derive(Debug)]
pub(super) struct FactKernels {
    tile: Function,
    add_up: Function,
    /// Warps of a block for a tile, and its shared memory.
    tile_warps: (u32, u32),
}

impl FactKernels {
    /// Those functions, for distances of so many bytes.
    pub(super) fn new(
        device: &dyn Device,
        [tile, add_up]: [Function; 2],
        distance: u64,
        pieces: &Pieces,
    ) -> Result<Self> {
        let tiles = &pieces.tiles;
        let arcs = tiles.most_steps as u64 * 2 * distance;
        let slots = tiles.slots as u64 * u64::from(SOURCES) * distance;
        Ok(FactKernels { tile, add_up, tile_warps: warps_of_tiles(device, arcs, slots)? })
    }

    /// Has facts about the rows of this many sources gathered, in stream order.
    pub(super) fn launch(
        &self,
        device: &dyn Device,
        offsets: Option<&OffsetKernels>,
        sweep: Sweep,
        sums: Sums,
    ) -> Result<()> {
        let count = sums.count;
        let of_offsets = offsets.filter(|_| sweep.tile_count > 0);
        if sweep.tile_count > 0 {
            let (tile, (warps, bytes), groups) = match of_offsets {
                Some(offsets) => (offsets.tile, offsets.tile_warps, count.div_ceil(OFFSET_SOURCES)),
                None => (self.tile, self.tile_warps, sweep.groups),
            };
            let parts = groups.div_ceil(warps);
            let tiles_a_block = tiles_of_sums(sweep.tile_count, parts, device.properties().multiprocessors);
            let down = Sweep { groups, tiles_a_block, ..sweep };
            let blocks = u64::from(down.tile_count.div_ceil(tiles_a_block)) * u64::from(parts);
            let shape = shape(blocks, warps.min(groups), bytes)?;
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
            unsafe { device.launch(tile, &shape, arguments![down])? };
        }
        if let Some(offsets) = of_offsets {
            let (blocks, bytes) = offsets.left_blocks;
            let shape = shape(blocks.into(), 1, bytes)?;
            // SAFETY: as above.
            unsafe { device.launch(offsets.left, &shape, arguments![sweep])? };
        }
        let shape = shape(count.div_ceil(ADDING).into(), ADDING / WARP, 0)?;
        // SAFETY: as above.
        unsafe { device.launch(self.add_up, &shape, arguments![sums]) }
    }
}

/// Tiles that a block takes one after another for sums of so many parts of the sources: it adds to the counters once. Fewer where the
/// device would have too little to do.
fn tiles_of_sums(tiles: u32, parts: u32, multiprocessors: u32) -> u32 {
    const MOST: u64 = 8;
    /// Blocks of a multiprocessor: several times as many as it has room for.
    const BLOCKS: u64 = 32;
    (u64::from(tiles) * u64::from(parts) / (BLOCKS * u64::from(multiprocessors).max(1))).clamp(1, MOST) as u32
}
