//! Distances from many sources: one sweep for sixteen of them.
//!
//! A sweep from the roots down looks at every shortcut once, and waits for memory more than it computes. Sixteen sources share
//! the looks: each vertex has a row of sixteen distances, a line of cache if they have 32 bits, and a shortcut lowers the row
//! of one vertex by that of another in a few vector instructions.
//!
//! Ranks are in postorder. So a sweep from the last rank to the first comes to a vertex while all of its ancestors are open,
//! and the rows of the ancestors are a stack, by their depths: small enough for the cache. The rows of all other vertices are
//! needed only for their distances, which go to the arrays of the sources after each window of ranks ([`windows`]).
//!
//! A sweep to some targets goes over their ancestors alone ([`Selection`]), whose *places* stand for ranks.
//!
//! *Invariants.* A function compiled for more instructions is called only where the processor was asked for them.
//!
//! [`windows`]: super::windows

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::customization::Lengths;
use super::elimination::{Elimination, ROOT};
use super::selection::Selection;
use super::windows::{WINDOW, Windows};
use crate::Result;
use crate::graph::{DistanceValue, MinPlus, VertexId};
use crate::instructions::InstructionSet;
use crate::memory::filled;

/// How many sources share a sweep.
pub(super) const LANES: usize = 16;

/// How many distances of a source are written at once where their columns follow each other.
const TOGETHER: usize = 8;

/// The distances of a vertex from each source.
type Row<D> = [D; LANES];

/// Where a sweep begins: the place of an ancestor of a source, the source's lane, and the distance between them. Descending
/// places.
type Start<D> = (u32, usize, D);

/// The bytes that a thread works on for each of the sources of a sweep: their distances, and rows of a window and of a
/// vertex's ancestors, which are taken to be no more than a window has.
pub(crate) fn bytes_of_sweep(vertices: u64, distance_bytes: u64) -> u64 {
    let rows = vertices.min(WINDOW as u64).saturating_mul(2);
    vertices.saturating_add(rows).saturating_mul(distance_bytes)
}

/// Shortcuts downwards, to places from ancestors, which have greater places.
#[derive(Clone, Copy)]
struct Tree<'a, D> {
    offsets: &'a [u64],
    /// How many ancestors each place has.
    depths: &'a [u32],
    /// The depths of the ancestors.
    head_depths: &'a [u32],
    down: &'a [D],
    /// The place of each column of the result.
    columns: &'a [u32],
    windows: &'a Windows,
}

/// Takes the distances from the source at a place in the list, and whether they are certain; gives the array back.
pub(super) type Visit<'v, D> = dyn Fn(usize, Vec<D>, bool) -> Result<Vec<D>> + Sync + 'v;

/// What is swept.
pub(super) struct Swept<'a, S: MinPlus> {
    pub(super) elimination: &'a Elimination,
    pub(super) lengths: &'a Lengths<S::Distance>,
    /// The ancestors that matter, if those of some targets do.
    pub(super) selection: Option<&'a Selection<S::Distance>>,
    /// If one of the distances from a source is greater, another one may be lost; nothing is ever lost if it is not given.
    pub(super) safe: Option<S::Distance>,
}

impl<S: MinPlus> Swept<'_, S> {
    /// Hands the distances from each source to `visit` with the source's place in the list, on all threads: by vertex, or to
    /// the targets in their order. O(shortcuts that matter) for each source, and for each thread memory for the distances
    /// from [`LANES`] sources and for as many rows as a window and the tree's height have places.
    pub(super) fn sweep_each(&self, sources: &[VertexId], visit: &Visit<'_, S::Distance>) -> Result<()> {
        let blocks = sources.len().div_ceil(LANES);
        let next = AtomicUsize::new(0);
        (0..rayon::current_num_threads().min(blocks)).into_par_iter().try_for_each(|_| -> Result<()> {
            let tree = self.tree();
            let distances = (0..LANES.min(sources.len()))
                .map(|_| filled("distances", tree.columns.len(), S::Distance::UNREACHABLE));
            let mut distances = distances.collect::<Result<Vec<_>>>()?;
            let mut rows = Rows::new(tree, self.elimination.height())?;
            loop {
                let first = next.fetch_add(1, Ordering::Relaxed) * LANES;
                let Some(block) = sources.get(first..).filter(|rest| !rest.is_empty()) else { return Ok(()) };
                let block = &block[..block.len().min(LANES)];
                let (starts, mut certain) = self.starts(block);
                let distances = &mut distances[..block.len()];
                let greatest = rows.sweep::<S>(tree, &starts, distances);
                if let Some(safe) = self.safe {
                    certain.iter_mut().zip(greatest).for_each(|(certain, greatest)| *certain &= greatest <= safe);
                }
                for (lane, distances) in distances.iter_mut().enumerate() {
                    *distances = visit(first + lane, std::mem::take(distances), certain[lane])?;
                }
            }
        })
    }

    fn tree(&self) -> Tree<'_, S::Distance> {
        let elimination = self.elimination;
        match self.selection {
            None => Tree {
                offsets: &elimination.offsets,
                depths: &elimination.depths,
                head_depths: &elimination.head_depths,
                down: self.lengths.down(),
                columns: &elimination.ranks,
                windows: &elimination.windows,
            },
            Some(selection) => Tree {
                offsets: &selection.offsets,
                depths: &selection.depths,
                head_depths: &selection.head_depths,
                down: &selection.down,
                columns: &selection.targets,
                windows: &selection.windows,
            },
        }
    }

    /// The ancestors of the sources, with their distances on the way up, and which sources are certain to have lost none.
    fn starts(&self, sources: &[VertexId]) -> (Vec<Start<S::Distance>>, [bool; LANES]) {
        let (mut starts, mut certain) = (Vec::new(), [true; LANES]);
        for (lane, &source) in sources.iter().enumerate() {
            let mut rank = self.elimination.ranks[source as usize];
            let distances = super::query::climb::<S>(self.elimination, &self.lengths.up, rank);
            while rank != ROOT {
                let distance = distances[self.elimination.depths[rank as usize] as usize];
                let place = self.selection.map_or(rank, |selection| selection.places[rank as usize]);
                if distance != S::Distance::UNREACHABLE {
                    certain[lane] &= self.safe.is_none_or(|safe| distance <= safe);
                    if place != ROOT {
                        starts.push((place, lane, distance));
                    }
                }
                rank = self.elimination.parents[rank as usize];
            }
        }
        starts.sort_unstable_by_key(|&(place, lane, _)| (std::cmp::Reverse(place), lane));
        (starts, certain)
    }
}

/// The rows that a sweep works on.
struct Rows<D> {
    /// Those of the ancestors of the place that the sweep has come to, by their depths.
    ancestors: Vec<Row<D>>,
    /// Those of a window.
    window: Vec<Row<D>>,
}

impl<D: DistanceValue> Rows<D> {
    fn new(tree: Tree<'_, D>, height: usize) -> Result<Self> {
        let rows = |count| filled("the distances of a sweep", count, [D::UNREACHABLE; LANES]);
        Ok(Rows { ancestors: rows(height)?, window: rows(tree.windows.most_places())? })
    }

    /// Fills the arrays of distances, one for each source, and tells the greatest distance from each that has one.
    fn sweep<S: MinPlus<Distance = D>>(
        &mut self,
        tree: Tree<'_, D>,
        mut starts: &[Start<D>],
        distances: &mut [Vec<D>],
    ) -> Row<D> {
        let mut greatest = [D::ZERO; LANES];
        for (places, columns) in tree.windows.descending() {
            let ahead = starts.partition_point(|start| start.0 as usize >= places.start);
            let here;
            (here, starts) = starts.split_at(ahead);
            self.sweep_window::<S>(tree, places.clone(), here, &mut greatest);
            self.hand_out(tree, places.start, columns, distances);
        }
        greatest
    }

    /// Fills the rows of a window, with the widest vector instructions that there are.
    fn sweep_window<S: MinPlus<Distance = D>>(
        &mut self,
        tree: Tree<'_, D>,
        places: Range<usize>,
        starts: &[Start<D>],
        greatest: &mut Row<D>,
    ) {
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
            fn avx512<S: MinPlus>(
                rows: &mut Rows<S::Distance>,
                tree: Tree<'_, S::Distance>,
                places: Range<usize>,
                starts: &[Start<S::Distance>],
                greatest: &mut Row<S::Distance>,
            ) {
                rows.sweep_anywhere::<S>(tree, places, starts, greatest);
            }
            #[target_feature(enable = "avx2")]
            fn avx2<S: MinPlus>(
                rows: &mut Rows<S::Distance>,
                tree: Tree<'_, S::Distance>,
                places: Range<usize>,
                starts: &[Start<S::Distance>],
                greatest: &mut Row<S::Distance>,
            ) {
                rows.sweep_anywhere::<S>(tree, places, starts, greatest);
            }
            match InstructionSet::detect() {
                // SAFETY: this processor has these instructions.
                InstructionSet::Avx512 => return unsafe { avx512::<S>(self, tree, places, starts, greatest) },
                // SAFETY: this processor has these instructions.
                InstructionSet::Avx2 => return unsafe { avx2::<S>(self, tree, places, starts, greatest) },
                InstructionSet::Portable => {}
            }
        }
        self.sweep_anywhere::<S>(tree, places, starts, greatest);
    }

    #[inline(always)]
    fn sweep_anywhere<S: MinPlus<Distance = D>>(
        &mut self,
        tree: Tree<'_, D>,
        places: Range<usize>,
        mut starts: &[Start<D>],
        greatest: &mut Row<D>,
    ) {
        let mut most = *greatest;
        for (place, kept) in places.clone().zip(&mut self.window).rev() {
            let mut row = [D::UNREACHABLE; LANES];
            if starts.first().is_some_and(|start| start.0 as usize == place) {
                row = first_row(&mut starts);
            }
            let arcs = tree.offsets[place] as usize..tree.offsets[place + 1] as usize;
            for (&depth, &length) in tree.head_depths[arcs.clone()].iter().zip(&tree.down[arcs]) {
                for (mine, &theirs) in row.iter_mut().zip(&self.ancestors[depth as usize]) {
                    let distance = S::join(theirs, length);
                    *mine = if distance < *mine { distance } else { *mine };
                }
            }
            self.ancestors[tree.depths[place] as usize] = row;
            *kept = row;
            for (most, &distance) in most.iter_mut().zip(&row) {
                let distance = if distance == D::UNREACHABLE { D::ZERO } else { distance };
                *most = if *most < distance { distance } else { *most };
            }
        }
        *greatest = most;
    }

    /// Writes the rows of a window, whose places begin with `first`, to the arrays of distances.
    fn hand_out(&self, tree: Tree<'_, D>, first: usize, columns: &[u32], distances: &mut [Vec<D>]) {
        let row = |column: u32| &self.window[tree.columns[column as usize] as usize - first];
        let mut rest = columns;
        while let Some(&column) = rest.first() {
            let start = column as usize;
            match rest.get(TOGETHER - 1) {
                Some(&last) if last - column == TOGETHER as u32 - 1 => {
                    let rows: [&Row<D>; TOGETHER] = std::array::from_fn(|i| row(column + i as u32));
                    for (lane, distances) in distances.iter_mut().enumerate() {
                        let together: [D; TOGETHER] = rows.map(|row| row[lane]);
                        distances[start..start + TOGETHER].copy_from_slice(&together);
                    }
                    rest = &rest[TOGETHER..];
                }
                _ => {
                    for (distances, &distance) in distances.iter_mut().zip(row(column)) {
                        distances[start] = distance;
                    }
                    rest = &rest[1..];
                }
            }
        }
    }
}

/// The row of the place of the first starts, before anything comes from its ancestors, and the starts of places below. Apart,
/// so that rows of other places stay in registers.
#[inline(never)]
fn first_row<D: DistanceValue>(starts: &mut &[Start<D>]) -> Row<D> {
    let mut row = [D::UNREACHABLE; LANES];
    if let Some(&(place, ..)) = starts.first() {
        let (here, below) = starts.split_at(starts.partition_point(|start| start.0 >= place));
        here.iter().for_each(|&(_, lane, distance)| row[lane] = distance);
        *starts = below;
    }
    row
}
