//! Labels: the distances of all vertices, in the order of vertices, from those of a few.
//!
//! A row has its distances in the order of vertices, and a sweep finds them in that of the tree. If a sweep goes over all vertices,
//! somebody has to put them in order, and that costs more than the sweep. So here the sweep goes over the *fronts* alone, the vertices
//! whose subtrees are not small: one vertex in ten of a road network. Each small subtree is a *tile*. All that it needs from outside
//! are the distances of its *hubs*, the later neighbours of its topmost vertex, which are in fronts. The *label* of a vertex has the
//! lengths of the shortest ways from its hubs down the tree. They depend on no source, and so they are made once. From hubs and labels
//! the distances of neighbouring vertices are found where they are wanted.
//!
//! (Labels of hubs are those of Cohen, Halperin, Kaplan, Zwick, *Reachability and distance queries via 2-hop labels*, 2002; here they
//! stop at the hubs next to a vertex. [`rounds`](super::rounds) has the same for a device.)

use std::ops::Range;

use super::elimination::{Elimination, ROOT};
use super::query::lower;
use super::selection::Selection;
use super::transposition::COLUMNS;
use crate::graph::{DistanceValue, MinPlus};
use crate::memory::{filled, grow, with_capacity};
use crate::{Result, parallel};

/// The most vertices of a tile, and the most hubs.
const MOST_VERTICES: u64 = if cfg!(test) { 8 } else { 128 };
const MOST_HUBS: u64 = u8::MAX as u64;

/// What a vertex of a front takes once: as much work as so many shortcuts or lengths of labels.
const ONCE: u64 = 64;

/// The columns of a part: neighbouring vertices, a multiple of [`COLUMNS`].
pub(super) const PART: usize = if cfg!(test) { 2 * COLUMNS } else { 16 * COLUMNS };

/// The most columns of a share.
pub(super) const SHARED: usize = 4;

/// Parts that a thread makes at once.
const TOGETHER: usize = 64;

/// What memory of these is short of.
const WHAT: &str = "the labels of a hierarchy";

/// The labels of all vertices in the order of vertices.
pub(super) struct Labels<D> {
    /// The vertices of no tile.
    pub(super) fronts: Selection<D>,
    all: Lists<D>,
    /// Where each part begins in the lists, and their ends.
    parts: Vec<Place>,
}

/// The labels of some vertices: [`COLUMNS`] after another [`COLUMNS`].
struct Lists<D> {
    shares: Vec<Share>,
    hubs: Vec<u32>,
    lengths: Vec<D>,
}

/// A place in lists.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    shares: usize,
    hubs: usize,
    lengths: usize,
}

/// The labels of [`PART`] vertices that follow each other, or of the last ones.
#[derive(Clone, Copy)]
pub(super) struct Part<'a, D> {
    /// [`COLUMNS`] vertices after another [`COLUMNS`].
    pub(super) shares: &'a [Share],
    /// The hubs of each share, by their places among the fronts.
    pub(super) hubs: &'a [u32],
    /// For each hub of a share its length from each of the share's columns.
    pub(super) lengths: &'a [D],
}

/// Vertices with the same hubs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Share {
    /// How many hubs they have.
    pub(super) hubs: u8,
    /// How many vertices these are.
    pub(super) width: u8,
    /// Which ones they are of [`COLUMNS`] vertices: a bit for each.
    pub(super) columns: u16,
}

impl<D: DistanceValue> Labels<D> {
    /// Labels by these lengths downwards, if they pay and take no more than `room` bytes. O(V + lengths x shortcuts of a vertex), in parallel.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new<S: MinPlus<Distance = D>>(
        elimination: &Elimination,
        down: &[D],
        room: u64,
    ) -> Result<Option<Self>> {
        let tops = tops(elimination)?;
        let count = Count::new(elimination, &tops);
        if !count.pays(elimination) || count.bytes::<D>(tops.len()) > room {
            return Ok(None);
        }
        let by_rank = ByRank::new::<S>(elimination, down, &tops)?;
        let is_front = |rank: &usize| tops[*rank] == ROOT;
        let fronts = (0..elimination.count()).filter(is_front);
        let mut vertices = with_capacity(WHAT, fronts.clone().count())?;
        vertices.extend(fronts.map(|rank| elimination.vertices[rank]));
        let fronts = Selection::new(elimination, down, &vertices)?;
        let make = |some: &[u32]| Made::new(elimination, &tops, &by_rank, &fronts, some);
        let made = parallel::collect_taken(elimination.ranks.chunks(PART * TOGETHER), make);
        let made: Vec<Made<D>> = made.into_iter().collect::<Result<_>>()?;
        drop((by_rank, tops));
        let all = Lists { shares: Vec::new(), hubs: Vec::new(), lengths: Vec::new() };
        let mut labels = Labels { fronts, all, parts: vec![Place::default()] };
        let total = |count: fn(&Lists<D>) -> usize| made.iter().map(|made| count(&made.lists)).sum();
        labels.all.shares = with_capacity(WHAT, total(|lists| lists.shares.len()))?;
        labels.all.hubs = with_capacity(WHAT, total(|lists| lists.hubs.len()))?;
        labels.all.lengths = with_capacity(WHAT, total(|lists| lists.lengths.len()))?;
        made.into_iter().try_for_each(|made| labels.append(made))?;
        Ok(Some(labels))
    }

    fn append(&mut self, mut made: Made<D>) -> Result<()> {
        let Lists { shares, hubs, lengths } = &mut self.all;
        let before = Place { shares: shares.len(), hubs: hubs.len(), lengths: lengths.len() };
        // There is room for the lists of all.
        shares.append(&mut made.lists.shares);
        hubs.append(&mut made.lists.hubs);
        lengths.append(&mut made.lists.lengths);
        grow(WHAT, &mut self.parts, made.ends.len())?;
        self.parts.extend(made.ends.iter().map(|end| Place {
            shares: before.shares + end.shares,
            hubs: before.hubs + end.hubs,
            lengths: before.lengths + end.lengths,
        }));
        Ok(())
    }

    /// The parts, in the order of vertices.
    pub(super) fn parts(&self) -> impl Iterator<Item = Part<'_, D>> {
        self.parts.windows(2).map(|places| Part {
            shares: &self.all.shares[places[0].shares..places[1].shares],
            hubs: &self.all.hubs[places[0].hubs..places[1].hubs],
            lengths: &self.all.lengths[places[0].lengths..places[1].lengths],
        })
    }
}

/// The topmost rank of the tile of each rank, [`ROOT`] if it is in a front. A subtree is a tile if its labels are less work than a sweep
/// over its topmost vertex and the best of what is below.
fn tops(elimination: &Elimination) -> Result<Vec<u32>> {
    let count = elimination.count();
    let first = elimination.first_descendants()?;
    let hubs = |rank: usize| elimination.row(rank).len() as u64;
    let as_tile = |rank: usize| {
        let vertices = rank as u64 + 1 - u64::from(first[rank]);
        let may_be = vertices <= MOST_VERTICES && hubs(rank) <= MOST_HUBS;
        if may_be { vertices * hubs(rank) } else { u64::MAX }
    };
    // The least work of each subtree: first what is below its topmost vertex alone.
    let mut least = filled(WHAT, count, 0_u64)?;
    let mut tops = filled(WHAT, count, ROOT)?;
    for rank in 0..count {
        let as_front = least[rank] + hubs(rank) + ONCE;
        if as_tile(rank) <= as_front {
            tops[rank] = rank as u32;
        }
        least[rank] = as_front.min(as_tile(rank));
        if elimination.parents[rank] != ROOT {
            least[elimination.parents[rank] as usize] += least[rank];
        }
    }
    for rank in (0..count).rev() {
        if elimination.parents[rank] != ROOT && tops[elimination.parents[rank] as usize] != ROOT {
            tops[rank] = tops[elimination.parents[rank] as usize];
        }
    }
    Ok(tops)
}

/// How much there is of labels.
#[derive(Default)]
struct Count {
    fronts: u64,
    /// Of fronts.
    shortcuts: u64,
    lengths: u64,
}

impl Count {
    fn new(elimination: &Elimination, tops: &[u32]) -> Self {
        let mut count = Count::default();
        for (rank, &top) in tops.iter().enumerate() {
            if top == ROOT {
                count.fronts += 1;
                count.shortcuts += elimination.row(rank).len() as u64;
            } else {
                count.lengths += elimination.row(top as usize).len() as u64;
            }
        }
        count
    }

    /// Whether rows come sooner from labels than from a sweep over all vertices, whose distances have to be put in order. In tests they
    /// always do.
    fn pays(&self, elimination: &Elimination) -> bool {
        /// For sixteen sources, in tenths of the time of a shortcut: fitted to roads, where labels take half of the time of sweeps, and to
        /// meshes, where they take a tenth more.
        const LENGTH: u64 = 7;
        const SHORTCUT: u64 = 10;
        const FRONT: u64 = 400;
        const PUT_IN_ORDER: u64 = 70;
        let labels = self.lengths * LENGTH + self.shortcuts * SHORTCUT + self.fronts * FRONT;
        let sweep = elimination.heads.len() as u64 * SHORTCUT + elimination.count() as u64 * PUT_IN_ORDER;
        // A gain of less than a tenth was lost where the distances of fronts did not fit the cache.
        cfg!(test) || labels * 10 <= sweep * 9
    }

    /// The most bytes that labels take while they are made: lengths twice, with their hubs, shortcuts of fronts, and each vertex in a few
    /// lists.
    fn bytes<D>(&self, vertices: usize) -> u64 {
        const LISTS: u64 = 32;
        let (distance, place) = (size_of::<D>() as u64, size_of::<u32>() as u64);
        vertices as u64 * LISTS + self.lengths * (2 * distance + place) + self.shortcuts * (distance + place)
    }
}

/// The labels by rank.
struct ByRank<D> {
    /// Where that of each rank begins, and their number. Those of fronts are empty.
    offsets: Vec<u64>,
    lengths: Vec<D>,
}

impl<D: DistanceValue> ByRank<D> {
    fn new<S: MinPlus<Distance = D>>(elimination: &Elimination, down: &[D], tops: &[u32]) -> Result<Self> {
        /// At least as many ranks are worked on at once.
        const AT_ONCE: usize = 1 << 10;
        let hubs = |rank: usize| if tops[rank] == ROOT { 0 } else { elimination.row(tops[rank] as usize).len() };
        let mut offsets = with_capacity(WHAT, tops.len() + 1)?;
        offsets.push(0);
        let mut end = 0;
        offsets.extend((0..tops.len()).map(|rank| {
            end += hubs(rank) as u64;
            end
        }));
        let mut lengths = filled(WHAT, end as usize, D::UNREACHABLE)?;
        let mut works = Vec::new();
        let (mut begin, mut rest) = (0, &mut lengths[..]);
        for rank in 0..tops.len() {
            let is_last = tops[rank] == ROOT || tops[rank] as usize == rank;
            if is_last && rank + 1 - begin >= AT_ONCE || rank + 1 == tops.len() {
                let some = rest.split_off_mut(..(offsets[rank + 1] - offsets[begin]) as usize);
                grow(WHAT, &mut works, 1)?;
                works.push((begin..rank + 1, some.expect("they are among the rest")));
                begin = rank + 1;
            }
        }
        let fill = |(ranks, lengths): (_, &mut [D])| fill::<S>(elimination, down, tops, &offsets, ranks, lengths);
        parallel::for_each_taken(works, fill);
        Ok(ByRank { offsets, lengths })
    }

    fn label(&self, rank: u32) -> &[D] {
        &self.lengths[self.offsets[rank as usize] as usize..self.offsets[rank as usize + 1] as usize]
    }
}

/// Fills the labels of these ranks, of whole tiles, which are [`DistanceValue::UNREACHABLE`] before.
fn fill<S: MinPlus>(
    elimination: &Elimination,
    down: &[S::Distance],
    tops: &[u32],
    offsets: &[u64],
    ranks: Range<usize>,
    lengths: &mut [S::Distance],
) {
    let place = |rank: usize| (offsets[rank] - offsets[ranks.start]) as usize;
    for rank in ranks.clone().rev().filter(|&rank| tops[rank] != ROOT) {
        let top = tops[rank] as usize;
        let hubs = &elimination.heads[elimination.row(top)];
        let (below, above) = lengths.split_at_mut(place(rank + 1));
        let label = &mut below[place(rank)..];
        let mut hub = 0;
        for arc in elimination.row(rank) {
            let (head, length) = (elimination.heads[arc], down[arc]);
            if head as usize <= top {
                let theirs = &above[place(head as usize) - place(rank + 1)..][..hubs.len()];
                label.iter_mut().zip(theirs).for_each(|(mine, &theirs)| lower(mine, S::join(theirs, length)));
            } else {
                // Both are ascending, and each neighbour beyond the tile is a hub.
                hub += hubs[hub..].iter().take_while(|&&hub| hub != head).count();
                lower(&mut label[hub], length);
            }
        }
    }
}

/// Some parts.
struct Made<D> {
    lists: Lists<D>,
    /// Where each ends.
    ends: Vec<Place>,
}

impl<D: DistanceValue> Made<D> {
    /// The parts with vertices of these ranks.
    fn new(
        elimination: &Elimination,
        tops: &[u32],
        by_rank: &ByRank<D>,
        fronts: &Selection<D>,
        ranks: &[u32],
    ) -> Result<Self> {
        let ends = with_capacity(WHAT, ranks.len().div_ceil(PART))?;
        let mut made = Made { lists: Lists { shares: Vec::new(), hubs: Vec::new(), lengths: Vec::new() }, ends };
        let Lists { shares, hubs, lengths } = &mut made.lists;
        let mut sorted = with_capacity(WHAT, COLUMNS)?;
        for part in ranks.chunks(PART) {
            for ranks in part.chunks(COLUMNS) {
                // By tiles; each vertex of a front is on its own.
                sorted.clear();
                sorted.extend(ranks.iter().zip(0..).map(|(&rank, column)| {
                    let top = tops[rank as usize];
                    (top, if top == ROOT { rank } else { 0 }, column, rank)
                }));
                sorted.sort_unstable();
                let of_same = sorted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
                for share in of_same.flat_map(|same| same.chunks(SHARED)) {
                    let (top, _, _, rank) = share[0];
                    let alone = [rank];
                    let of_share = match top {
                        ROOT => &alone[..],
                        top => &elimination.heads[elimination.row(top as usize)],
                    };
                    grow(WHAT, hubs, of_share.len())?;
                    hubs.extend(of_share.iter().map(|&hub| fronts.places[hub as usize]));
                    grow(WHAT, lengths, of_share.len() * share.len())?;
                    let before = lengths.len();
                    lengths.resize(before + of_share.len() * share.len(), D::ZERO);
                    if top != ROOT {
                        for (column, &(.., rank)) in share.iter().enumerate() {
                            let places = lengths[before..].iter_mut().skip(column).step_by(share.len());
                            places.zip(by_rank.label(rank)).for_each(|(place, &length)| *place = length);
                        }
                    }
                    let columns = share.iter().fold(0, |columns, (_, _, column, _)| columns | 1 << column);
                    grow(WHAT, shares, 1)?;
                    shares.push(Share { hubs: of_share.len() as u8, width: share.len() as u8, columns });
                }
            }
            made.ends.push(Place { shares: shares.len(), hubs: hubs.len(), lengths: lengths.len() });
        }
        Ok(made)
    }
}
