//! Symbolic elimination: which vertices get a shortcut between them, whatever the weights.
//!
//! Eliminating a vertex joins its neighbours that come later by shortcuts, so that paths through it survive. The vertices'
//! later neighbours, shortcuts included, are the rows of a chordal graph. The first of them is the vertex's *parent*; the
//! parents make the *elimination tree*, and all later neighbours of a vertex are its ancestors (Schreiber, *A new
//! implementation of sparse Gaussian elimination*, 1982).
//!
//! Vertices are numbered again in postorder of the tree, which changes nothing about the shortcuts: children come before
//! their parent, and a subtree is a range of numbers, its root the last. A number is called a *rank*.

use std::ops::Range;

use rayon::prelude::*;

use super::order::Pattern;
use super::windows::Windows;
use crate::control::Control;
use crate::graph::VertexId;
use crate::memory::{collected, filled, listed, with_capacity};
use crate::{Error, Result};

/// The mark for a rank that has no parent.
pub(crate) const ROOT: u32 = u32::MAX;

/// The most arcs: their places have 32 bits.
pub(super) const MOST_ARCS: u64 = u32::MAX as u64;

/// The elimination tree and the chordal graph.
#[derive(Debug)]
pub(crate) struct Elimination {
    /// The vertex of each rank.
    pub(crate) vertices: Vec<VertexId>,
    /// The rank of each vertex.
    pub(crate) ranks: Vec<u32>,
    /// The parent of each rank, [`ROOT`] if it has none.
    pub(crate) parents: Vec<u32>,
    /// How many ancestors each rank has.
    pub(crate) depths: Vec<u32>,
    /// Where each rank's later neighbours begin in `heads`.
    pub(crate) offsets: Vec<u64>,
    /// The later neighbours of each rank, ascending.
    pub(crate) heads: Vec<u32>,
    /// The greatest number of vertices on a path from a root.
    pub(super) height: usize,
    /// The most later neighbours of any rank, and how many pairs of them there are in all.
    width: usize,
    triangles: u64,
    /// Levels of ranges of ranks, ascending, that depend on none of each other: whole subtrees, or several that follow each other.
    /// A range is part of one of the next level.
    pub(super) subtrees: Vec<Vec<Range<usize>>>,
    /// The depths of `heads`.
    pub(super) head_depths: Vec<u32>,
    /// The vertices of each window of ranks.
    pub(super) windows: Windows,
}

impl Elimination {
    /// Eliminates the vertices in this order, in O(shortcuts x log) time.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there were more than `limit` arcs, or 2^32; [`Error::OutOfMemory`];
    /// [`Error::Interrupted`].
    pub(super) fn new(pattern: &Pattern, order: &[VertexId], limit: u64, control: &Control) -> Result<Self> {
        let rows = Rows::new(pattern, order, limit.min(MOST_ARCS), control)?;
        rows.in_postorder(order)
    }

    /// The elimination whose ranks have these vertices, and these later neighbours: `heads` from one of `offsets` to the
    /// next. The rows are those of a chordal graph, numbered in postorder of its tree. O(arcs).
    pub(super) fn of_rows(vertices: Vec<VertexId>, offsets: Vec<u64>, heads: Vec<u32>) -> Result<Self> {
        let count = vertices.len();
        let mut ranks = filled("a hierarchy", count, 0)?;
        for (rank, &v) in vertices.iter().enumerate() {
            ranks[v as usize] = rank as u32;
        }
        let parent = |row: &[u64]| if row[0] == row[1] { ROOT } else { heads[row[0] as usize] };
        let parents = listed("a hierarchy", offsets.windows(2).map(parent))?;
        let mut depths = filled("a hierarchy", count, 0)?;
        for rank in (0..count).rev() {
            if parents[rank] != ROOT {
                depths[rank] = depths[parents[rank] as usize] + 1;
            }
        }
        let head_depths = collected("a hierarchy", heads.par_iter().map(|&head| depths[head as usize]))?;
        let height = depths.iter().max().map_or(0, |&deepest| deepest as usize + 1);
        let windows = Windows::new(count, &ranks)?;
        let lengths = offsets.par_windows(2).map(|row| row[1] - row[0]);
        let width = lengths.clone().max().unwrap_or(0) as usize;
        // There are fewer than 2^32 arcs, so fewer than 2^63 pairs.
        let triangles = lengths.map(|length| length * length.saturating_sub(1) / 2).sum();
        let mut result = Elimination {
            vertices,
            ranks,
            parents,
            depths,
            offsets,
            heads,
            height,
            width,
            triangles,
            subtrees: Vec::new(),
            head_depths,
            windows,
        };
        result.divide()?;
        Ok(result)
    }

    /// Number of vertices.
    pub(crate) fn count(&self) -> usize {
        self.vertices.len()
    }

    /// The places of a rank's later neighbours in `heads`.
    pub(crate) fn row(&self, rank: usize) -> Range<usize> {
        self.offsets[rank] as usize..self.offsets[rank + 1] as usize
    }

    /// The ranks of two vertices, ascending.
    pub(super) fn low_and_high(&self, a: VertexId, b: VertexId) -> [u32; 2] {
        let (a, b) = (self.ranks[a as usize], self.ranks[b as usize]);
        [a.min(b), a.max(b)]
    }

    /// The place of the arc between two ranks in `heads`, if they are neighbours. O(log(width)).
    pub(super) fn place(&self, low: u32, high: u32) -> Option<usize> {
        let row = self.row(low as usize);
        self.heads[row.clone()].binary_search(&high).ok().map(|at| row.start + at)
    }

    /// The first rank of the subtree of each rank, which ends with the rank itself.
    pub(crate) fn first_descendants(&self) -> Result<Vec<u32>> {
        let mut first = listed("a hierarchy", 0..self.count() as u32)?;
        for rank in 0..self.count() {
            if self.parents[rank] != ROOT {
                let parent = self.parents[rank] as usize;
                first[parent] = first[parent].min(first[rank]);
            }
        }
        Ok(first)
    }

    /// The greatest number of vertices on a path from a root.
    pub(crate) fn height(&self) -> usize {
        self.height
    }

    /// The most later neighbours of any vertex.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// How many triangles of shortcuts there are: pairs of later neighbours of a vertex.
    pub(super) fn triangles(&self) -> u64 {
        self.triangles
    }
}

/// The rows in the order of elimination.
struct Rows {
    parents: Vec<u32>,
    offsets: Vec<u64>,
    heads: Vec<u32>,
}

impl Rows {
    fn new(pattern: &Pattern, order: &[VertexId], limit: u64, control: &Control) -> Result<Self> {
        /// As many vertices are eliminated in a moment, unless their rows are long.
        const SOME: usize = 1 << 10;
        let count = order.len();
        let mut place = filled("an elimination", count, 0)?;
        for (at, &v) in order.iter().enumerate() {
            place[v as usize] = at as u32;
        }
        let mut rows = Rows {
            parents: with_capacity("an elimination tree", count)?,
            offsets: with_capacity("an elimination", count + 1)?,
            heads: with_capacity("an elimination", pattern.heads.len())?,
        };
        rows.offsets.push(0);
        // The children of each vertex as a list: the first, and the next of each.
        let mut first_child = filled("an elimination tree", count, ROOT)?;
        let mut next_child = filled("an elimination tree", count, ROOT)?;
        let mut seen = filled("an elimination", count, ROOT)?;
        let mut row: Vec<u32> = Vec::new();
        for at in 0..count {
            if at % SOME == 0 || row.len() > SOME {
                control.progress("eliminate", at as u64, count as u64)?;
            }
            row.clear();
            let mut add = |head: u32| {
                if head as usize > at && std::mem::replace(&mut seen[head as usize], at as u32) != at as u32 {
                    row.push(head);
                }
            };
            pattern.neighbors(order[at]).iter().for_each(|&u| add(place[u as usize]));
            let mut child = first_child[at];
            while child != ROOT {
                let range = rows.offsets[child as usize] as usize..rows.offsets[child as usize + 1] as usize;
                rows.heads[range].iter().for_each(|&head| add(head));
                child = next_child[child as usize];
            }
            row.sort_unstable();
            if (rows.heads.len() + row.len()) as u64 > limit {
                return Err(Error::invalid(format!(
                    "the graph has no small separators: after {at} of {count} vertices, elimination has made more than \
                     {limit} arcs of {} edges",
                    pattern.heads.len() / 2
                )));
            }
            crate::memory::grow("an elimination", &mut rows.heads, row.len())?;
            rows.heads.extend_from_slice(&row);
            rows.offsets.push(rows.heads.len() as u64);
            let parent = row.first().copied().unwrap_or(ROOT);
            rows.parents.push(parent);
            if parent != ROOT {
                next_child[at] = std::mem::replace(&mut first_child[parent as usize], at as u32);
            }
        }
        Ok(rows)
    }

    /// The child of each vertex that comes first and the one that comes last; the others are between them, in the order of their
    /// numbers. The largest subtree comes first, so that few fronts wait for others while it is worked on, and the second
    /// largest last. If that one has a few vertices only, the largest comes last: a long chain of parents has ranks that follow
    /// each other, whatever hangs on it. ([`Pieces`](super::pieces::Pieces) makes fronts of chains.)
    fn outer_children(&self, sizes: &[u32]) -> Result<[Vec<u32>; 2]> {
        /// The most vertices of a subtree that is worth nothing as the last one.
        const FEW: u32 = 1000;
        let size_of = |at: u32| if at == ROOT { 0 } else { sizes[at as usize] };
        let mut largest = filled("an elimination tree", sizes.len(), ROOT)?;
        let mut second = filled("an elimination tree", sizes.len(), ROOT)?;
        for at in 0..sizes.len() as u32 {
            let parent = self.parents[at as usize] as usize;
            if parent == ROOT as usize {
                continue;
            }
            if size_of(largest[parent]) < sizes[at as usize] {
                second[parent] = std::mem::replace(&mut largest[parent], at);
            } else if size_of(second[parent]) < sizes[at as usize] {
                second[parent] = at;
            }
        }
        for (largest, second) in largest.iter_mut().zip(&mut second) {
            if size_of(*second) <= FEW {
                *second = std::mem::replace(largest, ROOT);
            }
        }
        Ok([largest, second])
    }

    /// Numbers the vertices in postorder of the tree.
    fn in_postorder(self, order: &[VertexId]) -> Result<Elimination> {
        let count = order.len();
        // Subtree sizes give each vertex its range.
        let mut sizes = filled("an elimination tree", count, 1_u32)?;
        for at in 0..count {
            if self.parents[at] != ROOT {
                sizes[self.parents[at] as usize] += sizes[at];
            }
        }
        let [first, last] = self.outer_children(&sizes)?;
        // Ancestors before descendants, each vertex takes an end of what is free in its parent's range.
        let mut ranks = filled("an elimination tree", count, 0_u32)?;
        let mut free = filled("an elimination tree", count, 0_u32)?;
        let mut free_of_roots = count as u32;
        for at in (0..count).rev() {
            let parent = self.parents[at] as usize;
            let rank = if parent == ROOT as usize {
                free_of_roots -= sizes[at];
                free_of_roots + sizes[at] - 1
            } else if first[parent] as usize == at {
                ranks[parent] - (sizes[parent] - sizes[at])
            } else if last[parent] as usize == at {
                ranks[parent] - 1
            } else {
                free[parent] -= sizes[at];
                free[parent] + sizes[at] - 1
            };
            ranks[at] = rank;
            // The range of the last child is not free.
            free[at] = rank - if last[at] == ROOT { 0 } else { sizes[last[at] as usize] };
        }
        let mut place = filled("an elimination tree", count, 0_u32)?;
        for (at, &rank) in ranks.iter().enumerate() {
            place[rank as usize] = at as u32;
        }
        let mut vertices = with_capacity("a hierarchy", count)?;
        let mut offsets = with_capacity("a hierarchy", count + 1)?;
        let mut heads = with_capacity("a hierarchy", self.heads.len())?;
        offsets.push(0);
        for &at in &place {
            vertices.push(order[at as usize]);
            let row = self.offsets[at as usize] as usize..self.offsets[at as usize + 1] as usize;
            // Ancestors keep their order: the rows stay ascending.
            heads.extend(self.heads[row].iter().map(|&head| ranks[head as usize]));
            offsets.push(heads.len() as u64);
        }
        drop(self);
        Elimination::of_rows(vertices, offsets, heads)
    }
}

impl Elimination {
    /// Finds independent subtrees, of at most a thirty-second of the vertices: enough for every thread. And then those twice as
    /// large, and so on.
    fn divide(&mut self) -> Result<()> {
        /// Smaller subtrees are not worth a task.
        const FEWEST: usize = if cfg!(test) { 10 } else { 1000 };
        let first = self.first_descendants()?;
        let mut most = (self.count() / 32).max(FEWEST);
        while most < self.count() || self.subtrees.is_empty() {
            let level = self.small_subtrees(&first, most);
            if self.subtrees.last() != Some(&level) {
                self.subtrees.push(level);
            }
            most *= 2;
        }
        Ok(())
    }

    /// The largest subtrees of at most `most` ranks, or several that follow each other. No range of the level before is divided.
    fn small_subtrees(&self, first: &[u32], most: usize) -> Vec<Range<usize>> {
        let before = self.subtrees.last().map_or(&[][..], |level| level);
        let is_small = |rank: usize| rank + 1 - first[rank] as usize <= most;
        let mut found: Vec<Range<usize>> = Vec::new();
        for (root, &parent) in self.parents.iter().enumerate() {
            if !is_small(root) || parent != ROOT && is_small(parent as usize) {
                continue;
            }
            let (mut start, mut end) = (first[root] as usize, root + 1);
            let inside =
                before.partition_point(|range| range.end <= start)..before.partition_point(|range| range.start < end);
            if let (Some(first), Some(last)) = (before[inside.clone()].first(), before[inside].last()) {
                (start, end) = (start.min(first.start), end.max(last.end));
            }
            match found.last_mut() {
                Some(last) if start < last.end || start == last.end && end - last.start <= most => {
                    last.end = end;
                }
                _ => found.push(start..end),
            }
        }
        found
    }
}
