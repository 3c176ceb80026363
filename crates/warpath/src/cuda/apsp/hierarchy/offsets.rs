//! Sums over tiles whose distances fit 16 bits.
//!
//! The vertices of a tile are near each other, so their distances from a source differ little. A warp takes the least distance of
//! the tile's boundary as the *base* of each source, less a margin, and works with *offsets* from there. Two offsets fit a word. One
//! instruction adds a length to both of them and takes both minima, and a warp takes 128 sources in the shared memory that 64 would
//! need. Sources inside of a tile have the base 0 there.
//!
//! *Nothing wraps.* Let B be the greatest distance from the boundary to a vertex of the tile, where the boundary's own distances
//! count as 0. If all distances of the boundary are at most S = 2^15 - 2 - B above the base, the *span* of the tile, then all of the
//! tile's are at most 2^15 - 2 above it. So lengths may be cut off at 2^15 - 1: ways with longer ones are never the shortest. The sum
//! of two such numbers fits 16 bits.
//!
//! *Nothing is lost.* A warp looks at every distance of the boundary. Where one is not within the span, or some can be reached and
//! others can't, or a distance may be beyond the range of its type, it puts the tile and its sources on a list, for a kernel that
//! works in the whole type. If the list is full, the batch is repeated without offsets, and later ones have none. The same holds
//! from the beginning where many tiles never fit, for batches of at most 64 sources, and for devices before compute capability 9.0,
//! which have no such instruction.

use rayon::prelude::*;

use super::super::searches::SearchesTask;
use super::WARP;
use super::arguments::{OFFSET_SOURCES, SHARE_LEFT, SOURCES};
use super::arrays::Arrays;
use super::upload::{Length, lengths_of};
use crate::cuda::device::memory::Pool;
use crate::cuda::device::{Device, Function, images};
use crate::cuda::sssp::DeviceSemiring;
use crate::hierarchy::{BATCH, Metric, NO_ARC, Pieces, Step, Tile, Tiles};
use crate::memory::{filled, with_capacity};
use crate::{Error, Result};

/// The greatest length, and more than the greatest offset.
pub(super) const MOST: u64 = (1 << 15) - 1;

/// What memory of these is short of.
const WHAT: &str = "the shortcuts of tiles in 16 bits";

/// The kernels for tiles in 16 bits, and how they are launched.
#[derive(Debug)]
pub(super) struct OffsetKernels {
    pub(super) tile: Function,
    pub(super) left: Function,
    /// Warps of a block for tiles, and its shared memory.
    pub(super) tile_warps: (u32, u32),
    /// Blocks of a warp, and their shared memory, for what does not fit.
    pub(super) left_blocks: (u32, u32),
}

impl OffsetKernels {
    fn new(device: &dyn Device, semiring: DeviceSemiring, pieces: &Pieces) -> Result<Self> {
        let function = |name: &str| {
            semiring.function(device, &images::APSP_HIERARCHY_OFFSETS, &format!("apsp_hierarchy_offsets_{name}"))
        };
        let arcs = pieces.tiles.most_steps as u64 * 4;
        let slots = pieces.tiles.slots as u64;
        let left = function("left_sums")?;
        let bytes_of_left = (slots * u64::from(SOURCES) * 4 * semiring.words()) as u32;
        Ok(OffsetKernels {
            tile: function("tile_sums")?,
            left,
            tile_warps: warps_of_tiles(device, arcs, slots * u64::from(OFFSET_SOURCES) * 2)?,
            left_blocks: (device.blocks_at_once(left, WARP, bytes_of_left)?, bytes_of_left),
        })
    }
}

/// The most warps of a block for a tile of which two blocks run at once, or one, and their shared memory: `shared` bytes for all of them
/// and `own` for each.
pub(super) fn warps_of_tiles(device: &dyn Device, shared: u64, own: u64) -> Result<(u32, u32)> {
    /// The most warps that share the arcs of a tile.
    const MOST_WARPS: u64 = 4;
    let room = u64::from(device.properties().shared_bytes_per_block);
    let bytes = |warps: u64| shared + warps * own;
    let fits = |limit: u64| (1..=MOST_WARPS).rev().find(|&warps| bytes(warps) <= limit);
    let warps = fits(room / 2)
        .or_else(|| fits(room))
        .ok_or_else(|| Error::invalid("the device has too little shared memory for the tiles of a hierarchy"))?;
    Ok((warps as u32, bytes(warps) as u32))
}

/// Makes tiles ready for 16 bits, if most of them fit those.
pub(super) fn prepare<D: Length>(
    arrays: &mut Arrays,
    pool: &Pool,
    metric: &Metric,
    pieces: &Pieces,
    task: &SearchesTask<'_>,
) -> Result<Option<OffsetKernels>> {
    let (down, infinity) = (lengths_of::<D>(metric)?.down(), D::infinity(false));
    if !upload(arrays, pool, &pieces.tiles, down, infinity)? {
        return Ok(None);
    }
    OffsetKernels::new(&**pool.device(), task.semiring, pieces).map(Some)
}

/// Makes the tiles ready for offsets; tells whether most of them can have them. O(steps of tiles), in parallel.
fn upload<D: Length>(arrays: &mut Arrays, pool: &Pool, tiles: &Tiles, down: &[D], infinity: D) -> Result<bool> {
    let mut arcs = filled(WHAT, tiles.steps.len(), 0_u32)?;
    let mut rooms = with_capacity(WHAT, tiles.tiles.len())?;
    let mut left = &mut arcs[..];
    for tile in &tiles.tiles {
        let (mine, others) = left.split_at_mut(steps_of(tiles, tile).len());
        rooms.push((tile, mine));
        left = others;
    }
    let mut spans = filled(WHAT, tiles.tiles.len(), 0_u32)?;
    let length = |step: &Step| {
        let length = down.get(step.arc as usize).filter(|_| step.arc != NO_ARC);
        length.filter(|&&length| length < infinity).map(|&length| length.into())
    };
    rooms.into_par_iter().zip(&mut spans).for_each(|((tile, arcs), span)| {
        let steps = steps_of(tiles, tile);
        *span = span_of(steps, &length);
        for (arc, step) in arcs.iter_mut().zip(steps) {
            // Arcs that only fill a batch lead from the last slot.
            let tail = if step.arc == NO_ARC { tiles.slots - 1 } else { step.tail() } as u32;
            let is_last = u32::from(step.ends().is_some());
            *arc = tail | is_last << 8 | (length(step).unwrap_or(MOST).min(MOST) as u32) << 16;
        }
    });
    arrays.fill_with(pool, arrays.short_arcs, arcs.len(), |range, to| to.copy_from_slice(&arcs[range]))?;
    pool.upload(arrays.spans, &spans)?;
    let never = spans.iter().filter(|&&span| span == 0).count() as u64;
    Ok(never * SHARE_LEFT <= spans.len() as u64)
}

fn steps_of<'a>(tiles: &'a Tiles, tile: &Tile) -> &'a [Step] {
    &tiles.steps[tile.batches as usize * BATCH..][..tile.batch_count as usize * BATCH]
}

/// The span of a tile; 0 if its distances do not fit 16 bits, or would hardly ever. `length` is that of the arc of a step, if there is
/// a way.
fn span_of(steps: &[Step], length: &dyn Fn(&Step) -> Option<u64>) -> u32 {
    // How far the vertex of each slot is from the boundary at most.
    let mut farthest = [0_u64; 1 << 8];
    let (mut least, mut greatest) = (u64::MAX, 0);
    for step in steps {
        if let Some(length) = length(step) {
            least = least.min(farthest[step.tail()].saturating_add(length));
        }
        if let Some(slot) = step.ends() {
            farthest[slot] = least;
            greatest = greatest.max(least);
            least = u64::MAX;
        }
    }
    // Vertices of the boundary are about as far from each other as they are from what is between them: a span of less than that would
    // hardly ever do.
    match (MOST - 1).checked_sub(greatest) {
        Some(span) if span >= greatest => span as u32,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Steps from slots with lengths to the next slot, for each vertex.
    fn span(vertices: &[&[(u32, Option<u64>)]]) -> u32 {
        let mut lengths = Vec::new();
        let mut steps = Vec::new();
        for (slot, arcs) in (0..).zip(vertices) {
            for (place, &(tail, length)) in arcs.iter().enumerate() {
                let last = if place + 1 == arcs.len() { (slot + 1) << 8 } else { 0 };
                steps.push(Step { slots: tail | last, arc: lengths.len() as u32 });
                lengths.push(length);
            }
        }
        span_of(&steps, &|step| lengths[step.arc as usize])
    }

    #[test]
    fn a_span_leaves_room_for_the_tile_below() {
        // Slots 8 and 9 are of the boundary.
        assert_eq!(span(&[&[(8, Some(5))]]), 0x7ffe - 5);
        assert_eq!(span(&[&[(8, Some(5)), (9, Some(3))], &[(0, Some(4)), (9, Some(100))]]), 0x7ffe - 7);
        assert_eq!(span(&[&[(8, Some(0x3fff))]]), 0x3fff);
        // Too far, and out of reach.
        assert_eq!(span(&[&[(8, Some(0x4000))]]), 0);
        assert_eq!(span(&[&[(8, Some(u64::MAX))]]), 0);
        assert_eq!(span(&[&[(8, None)]]), 0);
        assert_eq!(span(&[&[(8, Some(1)), (9, None)], &[(0, None)]]), 0);
    }
}
