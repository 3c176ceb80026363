//! The elimination tree in pieces, for sweeps of many sources at once on a device.
//!
//! A sweep needs the distances of all ancestors of a vertex before its own. Going down vertex after vertex, as the CPU does,
//! leaves a device with a step for each of the hundreds or thousands of levels of the tree. So the tree is cut into
//! connected pieces, each of which is worked on in one step. All that a piece needs from outside are the distances of the
//! later neighbours of its topmost vertex: the *boundary*.
//!
//! - **Subtrees** are whole subtrees at the bottom, as large as a few dozen vertices and their boundary. They hold nearly
//!   all vertices, and depend on nothing but what is above. [`Tiles`] has them in packs that are worked on at once.
//! - **Fronts** are chains of up to [`COLUMNS`] vertices above them, of which each is the parent of the one before. Nearly
//!   every vertex of a chain has a shortcut to nearly all of the boundary, as in the supernodes of sparse elimination (Liu,
//!   Ng, Peyton, *On finding supernodes for sparse matrix computations*, 1993), so a front is a small dense matrix of
//!   lengths. Fronts are in *levels*: those of a level need only those of the levels before.

use super::elimination::{Elimination, ROOT};
use super::tiles::{Limits, Piece, Tiles};
use crate::Result;
use crate::memory::{filled, grow, listed, with_capacity};

/// The most vertices of a front.
pub(crate) const COLUMNS: usize = 32;

/// What is no front.
pub(super) const NO_FRONT: u32 = u32::MAX;

/// What memory of these is short of.
const WHAT: &str = "pieces of a hierarchy";

/// All pieces of a tree. Each rank is in one of them.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// Level after level.
    pub(crate) fronts: Vec<Piece>,
    /// Where each level begins among the fronts, and their number.
    pub(crate) levels: Vec<u32>,
    /// How many vertices the fronts before each have, and all of them.
    pub(crate) places: Vec<u32>,
    /// The front of each rank, or [`NO_FRONT`].
    pub(crate) front_of: Vec<u32>,
    pub(crate) tiles: Tiles,
    /// The most vertices of the boundary of a front.
    pub(crate) longest_boundary: u32,
}

impl Pieces {
    /// Cuts a tree. O(V log V), and memory for a few numbers a vertex.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(elimination: &Elimination, limits: Limits) -> Result<Self> {
        let count = elimination.count();
        let first = elimination.first_descendants()?;
        let is_small = is_small(elimination, &first, limits)?;
        let mut subtrees = Vec::new();
        // The level of the front of each rank that is in one.
        let mut level_of = filled(WHAT, count, 0_u32)?;
        let mut in_levels: Vec<(u32, Piece)> = Vec::new();
        let mut end = count;
        while end > 0 {
            let top = end - 1;
            if is_small[top] {
                end = first[top] as usize;
                grow(WHAT, &mut subtrees, 1)?;
                subtrees.push(Piece { first: first[top], count: (top + 1 - end) as u32 });
                continue;
            }
            let level = match elimination.parents[top] {
                ROOT => 0,
                parent => level_of[parent as usize] + 1,
            };
            let mut bottom = top;
            while bottom > 0
                && top - bottom + 1 < COLUMNS
                && elimination.parents[bottom - 1] as usize == bottom
                && !is_small[bottom - 1]
            {
                bottom -= 1;
            }
            level_of[bottom..=top].fill(level);
            grow(WHAT, &mut in_levels, 1)?;
            in_levels.push((level, Piece { first: bottom as u32, count: (top - bottom + 1) as u32 }));
            end = bottom;
        }
        drop(level_of);
        subtrees.reverse();
        in_levels.sort_by_key(|&(level, _)| level);
        let mut front_of = filled(WHAT, count, NO_FRONT)?;
        let mut places = with_capacity(WHAT, in_levels.len() + 1)?;
        places.push(0);
        let mut levels = vec![0];
        for (index, &(level, front)) in in_levels.iter().enumerate() {
            front_of[front.first as usize..=front.top()].fill(index as u32);
            places.push(places[index] + front.count);
            grow(WHAT, &mut levels, 1)?;
            levels.resize(level as usize + 2, index as u32);
            levels[level as usize + 1] = index as u32 + 1;
        }
        let fronts = listed(WHAT, in_levels.into_iter().map(|(_, front)| front))?;
        let longest_boundary = fronts.iter().map(|front| elimination.row(front.top()).len() as u32).max().unwrap_or(0);
        let tiles = Tiles::new(elimination, &subtrees, limits)?;
        Ok(Pieces { fronts, levels, places, front_of, tiles, longest_boundary })
    }

    /// The fronts of each level.
    pub(crate) fn by_level(&self) -> impl Iterator<Item = &[Piece]> {
        self.levels.windows(2).map(|level| &self.fronts[level[0] as usize..level[1] as usize])
    }

    /// The place of a rank among the vertices of all fronts. It has to be in one.
    pub(crate) fn place(&self, rank: u32) -> u32 {
        let front = self.front_of[rank as usize] as usize;
        self.places[front] + rank - self.fronts[front].first
    }

    /// The lowest front above all of these ranks, which ascend, and the lowest rank there that is above all.
    pub(crate) fn meeting(&self, elimination: &Elimination, ranks: &[u32]) -> Option<(u32, u32)> {
        let (&lowest, &highest) = (ranks.first()?, ranks.last()?);
        let mut rank = lowest;
        // In this order an ancestor of the lowest is one of the highest, too, if it does not come before it.
        while rank < highest || self.front_of[rank as usize] == NO_FRONT {
            // A front is a chain, which ends at its top.
            let front = self.fronts.get(self.front_of[rank as usize] as usize);
            let top = front.map_or(rank, |front| front.top() as u32);
            if front.is_some() && highest <= top {
                rank = highest;
                break;
            }
            rank = elimination.parents[top as usize];
            if rank == ROOT {
                return None;
            }
        }
        Some((self.front_of[rank as usize], rank))
    }
}

/// Whether each rank has a subtree that fits into a tile. If it has one, so have all vertices below: their boundary is at most
/// their ancestors in the subtree and its boundary.
fn is_small(elimination: &Elimination, first: &[u32], limits: Limits) -> Result<Vec<bool>> {
    let count = elimination.count();
    let mut before = with_capacity(WHAT, count + 1)?;
    before.push(0_u64);
    (0..count).for_each(|rank| before.push(before[rank] + Tiles::most_arcs(elimination, rank)));
    listed(
        WHAT,
        (0..count).map(|rank| {
            let vertices = rank + 1 - first[rank] as usize;
            vertices + elimination.row(rank).len() <= limits.slots
                && before[rank + 1] - before[first[rank] as usize] <= limits.arcs as u64
        }),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Unit;
    use crate::hierarchy::Hierarchy;
    use crate::testing::graphs_of_every_shape;

    /// Whether the pieces keep to their definition.
    fn check(name: &str, elimination: &Elimination, limits: Limits) {
        let pieces = Pieces::new(elimination, limits).unwrap();
        let levels = pieces.levels.len() - 1;
        // The step in which each rank has its distance.
        let mut step = vec![levels; elimination.count()];
        let mut place = 0;
        for (level, fronts) in pieces.by_level().enumerate() {
            assert!(!fronts.is_empty(), "{name}");
            for front in fronts {
                assert!((1..=COLUMNS).contains(&(front.count as usize)), "{name}");
                for rank in front.ranks().rev() {
                    assert_eq!(std::mem::replace(&mut step[rank], level), levels, "{name}: {rank} is in two fronts");
                    assert_eq!(pieces.place(rank as u32), place, "{name}");
                    place += 1;
                }
            }
        }
        assert_eq!(pieces.places.last(), Some(&place), "{name}");
        for front in &pieces.fronts {
            let boundary = elimination.row(front.top());
            for rank in front.ranks() {
                for arc in elimination.row(rank) {
                    let head = elimination.heads[arc];
                    let inside = head as usize <= front.top();
                    assert!(
                        inside || elimination.heads[boundary.clone()].contains(&head),
                        "{name}: beyond the boundary"
                    );
                    assert!(inside || step[head as usize] < step[rank], "{name}: {rank} before its ancestor {head}");
                }
            }
        }
        pieces.tiles.check(name, elimination, limits, &|rank| pieces.front_of[rank as usize] != NO_FRONT);
        check_meetings(name, elimination, &pieces);
    }

    /// Meetings against all ancestors.
    fn check_meetings(name: &str, elimination: &Elimination, pieces: &Pieces) {
        let ancestors = |rank: u32| {
            std::iter::successors(Some(rank), |&rank| {
                Some(elimination.parents[rank as usize]).filter(|&parent| parent != ROOT)
            })
        };
        let count = elimination.count() as u32;
        let mut random = crate::testing::Random(5);
        for _ in 0..50.min(count) {
            let mut ranks: Vec<u32> = (0..3).map(|_| random.below(count.into()) as u32).collect();
            ranks.sort_unstable();
            let expected = ancestors(ranks[0])
                .find(|&rank| {
                    pieces.front_of[rank as usize] != NO_FRONT
                        && ranks.iter().all(|&of| ancestors(of).any(|ancestor| ancestor == rank))
                })
                .map(|rank| (pieces.front_of[rank as usize], rank));
            assert_eq!(pieces.meeting(elimination, &ranks), expected, "{name}: {ranks:?}");
        }
    }

    /// A clique in which a leaf hangs on each vertex: the clique is one chain of parents.
    #[test]
    fn a_chain_is_in_few_fronts_whatever_hangs_on_it() {
        const CHAIN: u32 = 64;
        let clique = (0..CHAIN).flat_map(|u| (0..u).map(move |v| (u, v)));
        let edges: Vec<_> = clique.chain((0..CHAIN).map(|v| (v, v + CHAIN))).collect();
        let graph = crate::Graph::from_edges(edges).unwrap();
        let order: Vec<_> = (CHAIN..2 * CHAIN).chain(0..CHAIN).collect();
        let hierarchy = Hierarchy::with_order(graph, &order).unwrap();
        assert_eq!(hierarchy.height(), CHAIN as usize + 1);
        let pieces =
            Pieces::new(&hierarchy.shared.elimination, Limits { slots: 32, arcs: 512, together: true }).unwrap();
        assert_eq!(pieces.by_level().map(<[_]>::len).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn pieces_hold_each_vertex_once_and_depend_on_pieces_above() {
        for (name, graph) in graphs_of_every_shape::<Unit>(3) {
            let hierarchy = Hierarchy::new(graph).unwrap();
            for (slots, arcs, together) in
                [(64, 1024, true), (1, 1, true), (9, 20, true), (250, 100_000, true), (64, 2048, false)]
            {
                check(&name, &hierarchy.shared.elimination, Limits { slots, arcs, together });
            }
        }
    }
}
