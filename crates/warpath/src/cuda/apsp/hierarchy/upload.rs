//! A hierarchy as the kernels read it.
//!
//! The lengths of a front are closed: a length from its boundary to a column is that of the best way over other columns, too.
//! So the distances of all columns come from the boundary alone, without waiting for each other, and a climb takes a front in
//! one step. That costs C²/2 additions for each vertex of the boundary of C columns, once.

use bytemuck::Pod;
use rayon::prelude::*;

use super::arrays::{Arrays, COLUMNS, Front, Load, NO_PARENT, Node, Part, Position, Tile, parts_of};
use crate::Result;
use crate::cuda::device::memory::Pool;
use crate::graph::{DistanceValue, MinPlus, U32ToU32, U32ToU64, VertexId};
use crate::hierarchy::{COLUMNS as FRONT, Elimination, Lengths, NO_ARC, NO_FRONT, NO_SLOT, Piece, Pieces, ROOT};
use crate::instructions::with_widest_instructions;
use crate::memory::{filled, with_capacity, zeroed};

/// A length on a device.
pub(super) trait Length: DistanceValue + Pod + Ord + From<u32> + Into<u64> + TryFrom<u64> + Send + Sync {
    /// The semiring of these distances.
    type Semiring: MinPlus<Distance = Self>;

    /// The length of a way that there is not, for kernels that use all numbers of the type, or half of them.
    fn infinity(full: bool) -> Self;

    /// That of two ways one after the other, up to infinity.
    fn join(self, other: Self, infinity: Self) -> Self;
}

impl Length for u32 {
    type Semiring = U32ToU32;

    fn infinity(full: bool) -> u32 {
        if full { u32::MAX } else { u32::MAX / 2 }
    }

    #[inline(always)]
    fn join(self, other: u32, infinity: u32) -> u32 {
        self.saturating_add(other).min(infinity)
    }
}

impl Length for u64 {
    type Semiring = U32ToU64;

    fn infinity(full: bool) -> u64 {
        if full { u64::MAX } else { u64::MAX / 2 }
    }

    #[inline(always)]
    fn join(self, other: u64, infinity: u64) -> u64 {
        self.saturating_add(other).min(infinity)
    }
}

impl Arrays {
    /// Fills all that is the same for every batch.
    pub(super) fn upload<D: Length>(
        &self,
        pool: &Pool,
        elimination: &Elimination,
        pieces: &Pieces,
        lengths: &Lengths<D>,
        infinity: D,
    ) -> Result<()> {
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
        pool.upload_with(self.up_arcs.cast::<[D; 2]>(), lengths.up.len(), |range, to| {
            to.iter_mut().zip(range).for_each(|(to, arc)| {
                let depth = elimination.depths[elimination.heads[arc] as usize];
                *to = [depth.into(), lengths.up[arc].min(infinity)];
            });
        })?;
        self.upload_fronts(pool, elimination, pieces)?;
        self.upload_lengths(pool, elimination, pieces, lengths, infinity)?;
        self.upload_tiles(pool, pieces, lengths.down(), infinity)
    }

    /// Everything of fronts but their lengths.
    fn upload_fronts(&self, pool: &Pool, elimination: &Elimination, pieces: &Pieces) -> Result<()> {
        const WHAT: &str = "the fronts of a hierarchy";
        let mut fronts = with_capacity(WHAT, pieces.fronts.len())?;
        let mut parts = with_capacity(WHAT, self.parts.length() as usize)?;
        let mut boundaries = with_capacity(WHAT, self.boundaries.length() as usize)?;
        let mut depths = with_capacity(WHAT, self.depths.length() as usize)?;
        let (mut up, mut down) = (0, 0);
        for (&front, &place) in pieces.fronts.iter().zip(&pieces.places) {
            let boundary = &elimination.heads[elimination.row(front.top())];
            let targets = boundary.len() as u32 + front.count;
            let mut place = place;
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
                down += targets * (width / super::arrays::NARROW_COLUMNS);
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
        pool.upload(self.boundaries, &boundaries)?;
        pool.upload(self.depths, &depths)
    }

    /// The lengths of fronts.
    fn upload_lengths<D: Length>(
        &self,
        pool: &Pool,
        elimination: &Elimination,
        pieces: &Pieces,
        lengths: &Lengths<D>,
        infinity: D,
    ) -> Result<()> {
        const WHAT: &str = "the lengths of fronts";
        let (up, down) = (self.up_lengths.cast::<D>(), self.down_lengths.cast::<D>());
        // Whichever thread fills a front is the first to touch its memory.
        let mut upwards: Vec<D> = zeroed(WHAT, up.length() as usize)?;
        let mut downwards: Vec<D> = zeroed(WHAT, down.length() as usize)?;
        let eighth = COLUMNS as usize;
        let up_rooms =
            in_rooms(elimination, pieces, &mut upwards, |targets, columns| targets.next_multiple_of(eighth) * columns)?;
        let widths = |columns: usize| parts_of(columns as u32).map(|(_, width)| width as usize).sum::<usize>();
        let down_rooms = in_rooms(elimination, pieces, &mut downwards, |targets, columns| targets * widths(columns))?;
        up_rooms.into_par_iter().zip(down_rooms).try_for_each(|((front, up_room), (_, mut down_room))| {
            let columns = front.count as usize;
            let mut closed = closed(elimination, front, &lengths.up, infinity)?;
            let targets = closed.len() / columns;
            up_room.fill(infinity);
            down_room.fill(infinity);
            for (column, row) in closed.chunks_exact(targets).enumerate() {
                for (eight, lengths) in row.chunks(eighth).enumerate() {
                    up_room[(eight * columns + column) * eighth..][..lengths.len()].copy_from_slice(lengths);
                }
            }
            if !lengths.is_symmetric() {
                closed = self::closed(elimination, front, lengths.down(), infinity)?;
            }
            let mut rows = closed.chunks_exact(targets);
            for (count, width) in parts_of(front.count) {
                let (part, others) = down_room.split_at_mut(targets * width as usize);
                for (column, row) in rows.by_ref().take(count as usize).enumerate() {
                    part[column..].iter_mut().step_by(width as usize).zip(row).for_each(|(to, &length)| *to = length);
                }
                down_room = others;
            }
            Ok::<_, crate::Error>(())
        })?;
        pool.upload(up, &upwards)?;
        pool.upload(down, &downwards)
    }

    fn upload_tiles<D: Length>(&self, pool: &Pool, pieces: &Pieces, down: &[D], infinity: D) -> Result<()> {
        let tiles = &pieces.tiles;
        pool.upload_with(self.loads, tiles.loads.len(), |range, to| {
            for (to, from) in to.iter_mut().zip(&tiles.loads[range]) {
                *to = Load { slot: from.slot, place: pieces.place(from.rank) };
            }
        })?;
        pool.upload(self.ranks, &tiles.ranks)?;
        let last_slot = tiles.slots as u32 - 1;
        pool.upload_with(self.arcs.cast::<[D; 2]>(), tiles.steps.len(), |range, to| {
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

/// The tiles that have some of the columns, or all, and the place of each column.
pub(super) struct Written {
    pub(super) tiles: Vec<Tile>,
    places: Vec<u32>,
}

impl Written {
    /// O(V). A vertex may be a target more than once.
    pub(super) fn new(elimination: &Elimination, pieces: &Pieces, targets: Option<&[VertexId]>) -> Result<Self> {
        const WHAT: &str = "the columns of rows";
        let tiles = &pieces.tiles;
        // Of each rank that is in a tile.
        let mut places = filled(WHAT, elimination.count(), 0)?;
        let mut is_wanted = filled(WHAT, elimination.count(), targets.is_none())?;
        targets.into_iter().flatten().for_each(|&v| is_wanted[elimination.ranks[v as usize] as usize] = true);
        let mut next = pieces.places.last().copied().unwrap_or(0);
        let mut kept = with_capacity(WHAT, tiles.tiles.len())?;
        for tile in &tiles.tiles {
            let ranks = &tiles.ranks[tile.ranks as usize..][..tile.rank_count as usize];
            if !ranks.iter().any(|&rank| is_wanted[rank as usize]) {
                continue;
            }
            kept.push(Tile {
                first: tile.first,
                last: tile.last,
                loads: tile.loads,
                load_count: tile.load_count,
                batches: tile.batches,
                batch_count: tile.batch_count,
                ranks: tile.ranks,
                place: next,
            });
            for &rank in ranks {
                places[rank as usize] = next;
                next += 1;
            }
        }
        let is_front = |rank: u32| pieces.front_of[rank as usize] != NO_FRONT;
        let place_of = |rank: u32| if is_front(rank) { pieces.place(rank) } else { places[rank as usize] };
        let places = match targets {
            Some(targets) => {
                crate::memory::listed(WHAT, targets.iter().map(|&v| place_of(elimination.ranks[v as usize])))?
            }
            None => crate::memory::listed(WHAT, elimination.ranks.iter().map(|&rank| place_of(rank)))?,
        };
        Ok(Written { tiles: kept, places })
    }

    pub(super) fn upload(&self, pool: &Pool, arrays: &Arrays) -> Result<()> {
        pool.upload(arrays.tiles, &self.tiles)?;
        // Where there are no rows, they have no columns.
        pool.upload(arrays.places, &self.places[..arrays.places.length() as usize])
    }
}

/// Each front with its part of all values.
fn in_rooms<'a, D>(
    elimination: &Elimination,
    pieces: &Pieces,
    values: &'a mut [D],
    room: impl Fn(usize, usize) -> usize,
) -> Result<Vec<(Piece, &'a mut [D])>> {
    let mut rooms = with_capacity("the lengths of fronts", pieces.fronts.len())?;
    let mut left = values;
    for &front in &pieces.fronts {
        let targets = elimination.row(front.top()).len() + front.count as usize;
        let (mine, others) = left.split_at_mut(room(targets, front.count as usize));
        rooms.push((front, mine));
        left = others;
    }
    Ok(rooms)
}

/// The lengths between each column of a front and each of its targets, by ways over its columns: a row for each column, with the
/// lengths of the vertices of the boundary, and then of the columns. Columns have ways to those above them, or from them. O(columns)
/// for each length.
fn closed<D: Length>(elimination: &Elimination, front: Piece, lengths: &[D], infinity: D) -> Result<Vec<D>> {
    let boundary = &elimination.heads[elimination.row(front.top())];
    let (columns, count) = (front.count as usize, boundary.len());
    let targets = count + columns;
    let mut found = filled("the lengths of fronts", columns * targets, infinity)?;
    for ((column, rank), row) in front.ranks().rev().enumerate().zip(found.chunks_exact_mut(targets)) {
        let mut place = 0;
        for arc in elimination.row(rank) {
            let head = elimination.heads[arc];
            let target = if head as usize <= front.top() {
                count + (head - front.first) as usize
            } else {
                // Both ascend.
                while boundary[place] < head {
                    place += 1;
                }
                place
            };
            row[target] = lengths[arc].min(infinity);
        }
        row[count + column] = D::ZERO;
    }
    with_widest_instructions!(
        [D: Length] [D]
        (found: &mut [D] = &mut found, columns: usize = columns, infinity: D = infinity) -> () {
            close(found, columns, infinity)
        }
    );
    Ok(found)
}

/// Lowers the lengths of each column, from the topmost down, to those of the ways over the columns above it, which have all of their
/// ways.
#[inline(always)]
fn close<D: Length>(found: &mut [D], columns: usize, infinity: D) {
    let targets = found.len() / columns;
    for column in (0..columns).rev() {
        let (row, above) = found[column * targets..].split_at_mut(targets);
        let mut steps = [infinity; FRONT];
        let own = &row[targets - columns + column + 1..];
        steps[..own.len()].copy_from_slice(own);
        for (&step, over) in steps.iter().zip(above.chunks_exact(targets)).filter(|&(&step, _)| step < infinity) {
            for (length, &on) in row.iter_mut().zip(over) {
                *length = step.join(on, infinity).min(*length);
            }
        }
    }
}
