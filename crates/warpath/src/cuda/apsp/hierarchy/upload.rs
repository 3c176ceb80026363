//! A hierarchy as the kernels read it.
//!
//! The lengths of a front are closed: a length from its boundary to a column is that of the best way over other columns, too.
//! So the distances of all columns come from the boundary alone, without waiting for each other, and a climb takes a front in
//! one step. That costs C²/2 additions for each vertex of the boundary of C columns, once. The device makes them: it *gathers* the
//! lengths of shortcuts in their fronts, and then a thread *closes* those between a vertex of the boundary and all columns, which it
//! has in registers.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the lengths that they
//! expect. The ranks and places in these come from an elimination.

use bytemuck::Pod;

use super::WARP;
use super::arguments::{
    COLUMNS, Closing, Front, GATHERED, GATHERING_WARPS, Load, MOST_COLUMNS, NO_PARENT, Node, Part, Position, Tile,
    parts_of,
};
use super::arrays::Arrays;
use crate::cuda::device::memory::Pool;
use crate::cuda::device::{LaunchShape, arguments, images};
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::{DistanceValue, MinPlus, U32ToU32, U32ToU64};
use crate::hierarchy::{Elimination, Lengths, Metric, NO_ARC, NO_SLOT, Pieces, ROOT};
use crate::memory::with_capacity;
use crate::{Error, Result};

/// Threads of a block that closes lengths.
const CLOSING: u32 = 128;

/// A length on a device.
pub(super) trait Length: DistanceValue + Pod + Ord + From<u32> + Into<u64> + Send + Sync {
    /// The semiring of these distances.
    type Semiring: MinPlus<Distance = Self>;

    /// The length of a way that there is not, for kernels that use all numbers of the type, or half of them.
    fn infinity(full: bool) -> Self;
}

impl Length for u32 {
    type Semiring = U32ToU32;

    fn infinity(full: bool) -> u32 {
        if full { u32::MAX } else { u32::MAX / 2 }
    }
}

impl Length for u64 {
    type Semiring = U32ToU64;

    fn infinity(full: bool) -> u64 {
        if full { u64::MAX } else { u64::MAX / 2 }
    }
}

/// The lengths of a metric in this type.
pub(super) fn lengths_of<D: Length>(metric: &Metric) -> Result<&Lengths<D>> {
    metric.lengths::<D>()?.ok_or_else(|| Error::invalid("the hierarchy has weights of another type"))
}

/// Makes the lengths ready; the first distance from which on another one may have been lost.
pub(super) fn upload<D: Length>(
    arrays: &mut Arrays,
    pool: &Pool,
    metric: &Metric,
    pieces: &Pieces,
    semiring: DeviceSemiring,
    full: bool,
) -> Result<u64> {
    let lengths = lengths_of::<D>(metric)?;
    arrays.upload(pool, metric.hierarchy().elimination(), pieces, lengths, semiring, full)?;
    let infinity = D::infinity(full);
    let is_narrow = size_of::<D>() == size_of::<u32>();
    if is_narrow && metric.may_have_lost_lengths() {
        return Ok(0);
    }
    Ok(infinity.into().saturating_sub(lengths.greatest().into()))
}

impl Arrays {
    /// Fills all that is the same for every batch.
    fn upload<D: Length>(
        &mut self,
        pool: &Pool,
        elimination: &Elimination,
        pieces: &Pieces,
        lengths: &Lengths<D>,
        semiring: DeviceSemiring,
        full: bool,
    ) -> Result<()> {
        let infinity = D::infinity(full);
        let count = elimination.count();
        let first = elimination.first_descendants()?;
        let node = |rank: usize| Node {
            arcs: elimination.offsets[rank] as u32,
            parent: if rank < count { elimination.parents[rank] } else { NO_PARENT },
        };
        pool.upload_with(self.nodes, count + 1, |range, to| {
            to.iter_mut().zip(range).for_each(|(to, rank)| *to = node(rank));
        })?;
        pool.upload_with(self.positions, count, |range, to| {
            to.iter_mut()
                .zip(range)
                .for_each(|(to, rank)| *to = Position { first: first[rank], depth: elimination.depths[rank] });
        })?;
        self.fill_with(pool, self.up_arcs.cast::<[D; 2]>(), lengths.up.len(), |range, to| {
            to.iter_mut().zip(range).for_each(|(to, arc)| {
                let depth = elimination.depths[elimination.heads[arc] as usize];
                *to = [depth.into(), lengths.up[arc].min(infinity)];
            });
        })?;
        self.upload_fronts(pool, elimination, pieces)?;
        self.close_lengths(pool, pieces, lengths, semiring, full)?;
        self.upload_tiles(pool, pieces, lengths.down(), infinity)
    }

    /// Everything of fronts but their lengths.
    fn upload_fronts(&self, pool: &Pool, elimination: &Elimination, pieces: &Pieces) -> Result<()> {
        const WHAT: &str = "the fronts of a hierarchy";
        let mut fronts = with_capacity(WHAT, pieces.fronts.len())?;
        let mut parts = with_capacity(WHAT, self.parts.length() as usize)?;
        let mut boundaries = with_capacity(WHAT, self.boundaries.length() as usize)?;
        let mut depths = with_capacity(WHAT, self.depths.length() as usize)?;
        let mut down_rows = with_capacity(WHAT, pieces.fronts.len())?;
        let (mut up, mut down) = (0, 0);
        for (&front, &place) in pieces.fronts.iter().zip(&pieces.places) {
            let boundary = &elimination.heads[elimination.row(front.top())];
            let targets = boundary.len() as u32 + front.count;
            let mut place = place;
            down_rows.push(down);
            for (count, width) in parts_of(front.count) {
                parts.push(Part {
                    boundary: boundaries.len() as u32,
                    boundary_count: boundary.len() as u32,
                    lengths: down,
                    first: front.first,
                    columns: front.count,
                    place,
                    count,
                    unused: 0,
                });
                place += count;
                down += targets * (width / super::arguments::NARROW_COLUMNS);
            }
            let parent = elimination.parents[front.top()];
            fronts.push(Front {
                first: front.first,
                columns: front.count,
                depth: elimination.depths[front.first as usize],
                depths: depths.len() as u32,
                targets,
                lengths: up,
                parent,
                parent_front: if parent == ROOT { NO_PARENT } else { pieces.front_of[parent as usize] },
            });
            up += targets.div_ceil(COLUMNS) * front.count;
            boundaries.extend(boundary.iter().map(|&rank| pieces.place(rank)));
            let columns = front.first..front.first + front.count;
            depths.extend(boundary.iter().copied().chain(columns).map(|rank| elimination.depths[rank as usize]));
        }
        pool.upload(self.fronts, &fronts)?;
        pool.upload(self.parts, &parts)?;
        pool.upload(self.down_rows, &down_rows)?;
        pool.upload(self.boundaries, &boundaries)?;
        pool.upload(self.depths, &depths)
    }

    /// Has the lengths of fronts made from those of shortcuts, in stream order.
    fn close_lengths<D: Length>(
        &mut self,
        pool: &Pool,
        pieces: &Pieces,
        lengths: &Lengths<D>,
        semiring: DeviceSemiring,
        full: bool,
    ) -> Result<()> {
        if pieces.fronts.is_empty() {
            return Ok(());
        }
        let is_directed = !lengths.is_symmetric();
        if is_directed {
            let down = lengths.down();
            self.fill_with(pool, self.down.cast::<D>(), down.len(), |range, to| to.copy_from_slice(&down[range]))?;
        }
        // No way, until one is found.
        for array in [self.up_lengths, self.down_lengths] {
            self.fill_with(pool, array, array.length() as usize, |_, to| to.fill(u32::MAX))?;
        }
        let device = &**pool.device();
        let kind = if full { "full_" } else { "" };
        let function = |name: &str| {
            semiring.function(device, &images::APSP_HIERARCHY_LENGTHS, &format!("apsp_hierarchy_lengths_{kind}{name}"))
        };
        let closing = Closing {
            nodes: self.nodes.as_ptr(),
            arcs: self.up_arcs.as_ptr().cast(),
            fronts: self.fronts.as_ptr(),
            depths: self.depths.as_ptr(),
            down: self.down.as_ptr().cast(),
            down_rows: self.down_rows.as_ptr(),
            up_lengths: self.up_lengths.as_mut_ptr().cast(),
            down_lengths: self.down_lengths.as_mut_ptr().cast(),
            parts: 1,
            is_directed: is_directed.into(),
            is_inside: 0,
            unused: 0,
        };
        let launch = |function, argument: Closing, blocks: u64, threads: u32| {
            let shape = LaunchShape::line_if_possible(blocks, threads);
            let shape = shape.ok_or_else(|| Error::invalid("the hierarchy is too large for a device"))?;
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
            unsafe { device.launch(function, &shape, arguments![argument]) }
        };
        let fronts = pieces.fronts.len() as u64;
        let parts = (pieces.longest_boundary + MOST_COLUMNS).div_ceil(GATHERED);
        let groups = u64::from(MOST_COLUMNS / GATHERING_WARPS);
        let gathering = Closing { parts, ..closing };
        launch(function("gather")?, gathering, fronts * groups * u64::from(parts), GATHERING_WARPS * WARP)?;
        let close = function("close")?;
        let parts = pieces.longest_boundary.div_ceil(CLOSING);
        if parts > 0 {
            launch(close, Closing { parts, ..closing }, fronts * u64::from(parts), CLOSING)?;
        }
        // Boundaries need the lengths between columns as they are. There are a few more targets than columns at most.
        launch(close, Closing { is_inside: 1, ..closing }, fronts, (MOST_COLUMNS + COLUMNS).next_multiple_of(WARP))
    }

    fn upload_tiles<D: Length>(&mut self, pool: &Pool, pieces: &Pieces, down: &[D], infinity: D) -> Result<()> {
        let tiles = &pieces.tiles;
        pool.upload_with(self.tiles, tiles.tiles.len(), |range, to| {
            for (to, tile) in to.iter_mut().zip(&tiles.tiles[range]) {
                *to = Tile {
                    first: tile.first,
                    last: tile.last,
                    loads: tile.loads,
                    load_count: tile.load_count,
                    batches: tile.batches,
                    batch_count: tile.batch_count,
                    ranks: tile.ranks,
                    count: tile.rank_count,
                };
            }
        })?;
        pool.upload_with(self.loads, tiles.loads.len(), |range, to| {
            for (to, from) in to.iter_mut().zip(&tiles.loads[range]) {
                *to = Load { slot: from.slot, place: pieces.place(from.rank) };
            }
        })?;
        pool.upload(self.ranks, &tiles.ranks)?;
        let last_slot = tiles.slots as u32 - 1;
        self.fill_with(pool, self.arcs.cast::<[D; 2]>(), tiles.steps.len(), |range, to| {
            for (to, step) in to.iter_mut().zip(&tiles.steps[range]) {
                *to = if step.arc == NO_ARC {
                    [(step.slots - NO_SLOT + last_slot).into(), infinity]
                } else {
                    [step.slots.into(), down[step.arc as usize].min(infinity)]
                };
            }
        })
    }
}
