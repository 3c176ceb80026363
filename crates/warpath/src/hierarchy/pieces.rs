//! The elimination tree in pieces, for sweeps of many sources at once on a device.
//!
//! A sweep needs the distances of all ancestors of a vertex before its own. Going down vertex after vertex, as the CPU does,
//! leaves a device with a step for each of the hundreds or thousands of levels of the tree. So the tree is cut into
//! connected pieces, each of which is worked on in one step. All that a piece needs from outside are the distances of the
//! later neighbours of its topmost vertex: the *boundary*.
//!
//! - **Subtrees** are whole subtrees at the bottom, as large as a few dozen vertices and their boundary. They hold nearly
//!   all vertices, and depend on nothing but what is above: one step for all of them.
//! - **Fronts** are chains of up to [`COLUMNS`] vertices above them, of which each is the parent of the one before. Nearly
//!   every vertex of a chain has a shortcut to nearly all of the boundary, as in the supernodes of sparse elimination (Liu,
//!   Ng, Peyton, *On finding supernodes for sparse matrix computations*, 1993), so a front is a small dense matrix of
//!   lengths. Fronts are in *levels*: those of a level need only those of the levels before.

use super::elimination::{Elimination, ROOT};
use crate::Result;
use crate::memory::{filled, with_capacity};

/// The most vertices of a front.
pub(crate) const COLUMNS: usize = 8;

/// How large a subtree may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Its vertices.
    pub(crate) vertices: usize,
    /// Its height and its boundary: how many distances are there at a time, since those below a vertex need no others.
    pub(crate) slots: usize,
    /// Its arcs, of each vertex an even number: arcs are read two at a time, and the last one may be there twice.
    pub(crate) arcs: usize,
}

/// Ranks that follow each other, and are connected in the tree. The last of them is above all others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) first: u32,
    pub(crate) count: u32,
}

impl Piece {
    /// The topmost rank.
    pub(crate) fn top(self) -> usize {
        (self.first + self.count) as usize - 1
    }

    /// From the top down.
    pub(crate) fn ranks(self) -> impl Iterator<Item = usize> {
        (self.first as usize..=self.top()).rev()
    }
}

/// All pieces of a tree. Each rank is in one of them.
#[derive(Debug)]
pub(crate) struct Pieces {
    /// Level after level.
    pub(crate) fronts: Vec<Piece>,
    /// Where each level begins among the fronts, and their number.
    pub(crate) levels: Vec<u32>,
    pub(crate) subtrees: Vec<Piece>,
    /// The sum of the boundaries of all fronts.
    pub(crate) front_boundary: u64,
    /// The longest boundary of a front in each level.
    pub(crate) longest: Vec<u32>,
    /// The sum of the boundaries of all subtrees.
    pub(crate) subtree_boundary: u64,
    /// The arcs of all subtrees, of each vertex an even number.
    pub(crate) subtree_arcs: u64,
    /// The most height and boundary of a subtree.
    pub(crate) slots: usize,
    /// The most arcs of a subtree, of each vertex an even number.
    pub(crate) arcs: usize,
}

impl Pieces {
    /// Cuts a tree. O(V), and memory for a few numbers a vertex.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn new(elimination: &Elimination, limits: Limits) -> Result<Self> {
        let count = elimination.count();
        let boundary = |rank: usize| elimination.row(rank).len();
        let first = elimination.first_descendants()?;
        // Rows are made even.
        let mut before = with_capacity("pieces of a hierarchy", count + 1)?;
        before.push(0_u64);
        (0..count).for_each(|rank| before.push(before[rank] + (boundary(rank) as u64).next_multiple_of(2)));
        let arcs = |rank: usize| (before[rank + 1] - before[first[rank] as usize]) as usize;
        let vertices = |rank: usize| rank + 1 - first[rank] as usize;
        let mut heights = filled("pieces of a hierarchy", count, 1_usize)?;
        for rank in 0..count {
            if elimination.parents[rank] != ROOT {
                let parent = elimination.parents[rank] as usize;
                heights[parent] = heights[parent].max(heights[rank] + 1);
            }
        }
        let slots = |rank: usize| heights[rank] + boundary(rank);
        // If this holds for a vertex, it holds for its children: their boundary is at most the vertex and its boundary.
        let is_small =
            |rank: usize| vertices(rank) <= limits.vertices && slots(rank) <= limits.slots && arcs(rank) <= limits.arcs;
        let mut pieces = Pieces {
            fronts: Vec::new(),
            levels: vec![0],
            subtrees: with_capacity("pieces of a hierarchy", count / limits.vertices.max(1) + 1)?,
            front_boundary: 0,
            longest: Vec::new(),
            subtree_boundary: 0,
            subtree_arcs: 0,
            slots: 1,
            arcs: 1,
        };
        // The level of the front of each rank that is in one.
        let mut level_of = filled("pieces of a hierarchy", count, 0_u32)?;
        let mut fronts: Vec<(u32, Piece)> = Vec::new();
        let mut end = count;
        while end > 0 {
            let top = end - 1;
            if is_small(top) {
                let piece = Piece { first: first[top], count: vertices(top) as u32 };
                crate::memory::grow("pieces of a hierarchy", &mut pieces.subtrees, 1)?;
                pieces.subtrees.push(piece);
                pieces.slots = pieces.slots.max(slots(top));
                pieces.arcs = pieces.arcs.max(arcs(top));
                pieces.subtree_boundary += boundary(top) as u64;
                pieces.subtree_arcs += arcs(top) as u64;
                end = piece.first as usize;
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
                && !is_small(bottom - 1)
            {
                bottom -= 1;
            }
            level_of[bottom..=top].fill(level);
            crate::memory::grow("pieces of a hierarchy", &mut fronts, 1)?;
            fronts.push((level, Piece { first: bottom as u32, count: (top - bottom + 1) as u32 }));
            end = bottom;
        }
        fronts.sort_by_key(|&(level, _)| level);
        for (place, &(level, front)) in fronts.iter().enumerate() {
            while pieces.longest.len() <= level as usize {
                pieces.longest.push(0);
                pieces.levels.push(place as u32);
            }
            let boundary = boundary(front.top());
            pieces.front_boundary += boundary as u64;
            let longest = &mut pieces.longest[level as usize];
            *longest = (*longest).max(boundary as u32);
            *pieces.levels.last_mut().expect("there is one") = place as u32 + 1;
        }
        pieces.fronts = crate::memory::listed("pieces of a hierarchy", fronts.into_iter().map(|(_, front)| front))?;
        Ok(pieces)
    }
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
        // The step in which each rank has its distance.
        let mut step = vec![None; elimination.count()];
        let mut put = |piece: Piece, at: usize| {
            for rank in piece.ranks() {
                assert_eq!(step[rank].replace(at), None, "{name}: rank {rank} is in two pieces");
            }
        };
        let levels = pieces.longest.len();
        assert_eq!(pieces.levels.len(), levels + 1, "{name}");
        for level in 0..levels {
            for front in &pieces.fronts[pieces.levels[level] as usize..pieces.levels[level + 1] as usize] {
                assert!((1..=COLUMNS).contains(&(front.count as usize)), "{name}");
                assert!(elimination.row(front.top()).len() <= pieces.longest[level] as usize, "{name}");
                put(*front, level);
            }
        }
        assert_eq!(*pieces.levels.last().unwrap() as usize, pieces.fronts.len(), "{name}");
        for subtree in &pieces.subtrees {
            let (boundary, depth) = (elimination.row(subtree.top()).len(), elimination.depths[subtree.top()]);
            let lowest = subtree.ranks().map(|rank| elimination.depths[rank]).max().unwrap();
            let height = (lowest - depth + 1) as usize;
            assert!(subtree.count as usize <= limits.vertices && boundary + height <= pieces.slots, "{name}");
            assert!(pieces.slots <= limits.slots.max(1) && pieces.arcs <= limits.arcs.max(1), "{name}");
            put(*subtree, levels);
        }
        let pieces_of = pieces.fronts.iter().chain(&pieces.subtrees);
        for piece in pieces_of {
            let top = elimination.row(piece.top());
            for rank in piece.ranks() {
                for arc in elimination.row(rank) {
                    let head = elimination.heads[arc];
                    let inside = head as usize <= piece.top();
                    assert!(inside || elimination.heads[top.clone()].contains(&head), "{name}: beyond the boundary");
                    assert!(inside || step[head as usize] < step[rank], "{name}: {rank} before its ancestor {head}");
                }
            }
        }
        assert!(step.iter().all(Option::is_some), "{name}");
    }

    #[test]
    fn pieces_hold_each_vertex_once_and_depend_on_pieces_above() {
        for (name, graph) in graphs_of_every_shape::<Unit>(3) {
            let hierarchy = Hierarchy::new(graph).unwrap();
            for (vertices, slots, arcs) in [(48, 96, 1024), (1, 1, 0), (5, 9, 20), (1000, 2000, 100_000)] {
                check(&name, &hierarchy.shared.elimination, Limits { vertices, slots, arcs });
            }
        }
    }
}
