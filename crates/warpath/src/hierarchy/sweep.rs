//! Distances from many sources: one sweep for sixteen of them.
//!
//! A sweep from the roots down looks at every shortcut once, and waits for memory more than it computes. Sixteen sources share
//! the looks: each vertex has a row of sixteen distances, a line of cache if they have 32 bits, and a shortcut lowers the row
//! of one vertex by that of another in a few vector instructions. The rows are in the order of ranks, so they are written one
//! after another; the distances of each source are picked out of them at the end, in the order of the vertices. A sweep to some
//! targets goes over their ancestors alone ([`Selection`]), whose *places* stand for ranks.
//!
//! *Invariants.* A function compiled for more instructions is called only where the processor was asked for them.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::customization::Lengths;
use super::elimination::{Elimination, ROOT};
use super::selection::Selection;
use crate::Result;
use crate::graph::{DistanceValue, MinPlus, VertexId};
use crate::instructions::InstructionSet;
use crate::memory::filled;

/// How many sources share a sweep.
pub(super) const LANES: usize = 16;

/// The distances of a vertex from each source.
type Row<D> = [D; LANES];

/// Where a sweep begins: the place of an ancestor of a source, the source's lane, and the distance between them. Descending
/// places.
type Start<D> = (u32, usize, D);

/// Shortcuts downwards, to places from ancestors, which have greater places.
#[derive(Clone, Copy)]
struct Tree<'a, D> {
    offsets: &'a [u64],
    heads: &'a [u32],
    down: &'a [D],
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
    /// the targets in their order. O(shortcuts that matter) for each source, and memory for [`LANES`] rows of distances for
    /// each thread.
    pub(super) fn sweep_each(&self, sources: &[VertexId], visit: &Visit<'_, S::Distance>) -> Result<()> {
        let blocks = sources.len().div_ceil(LANES);
        let next = AtomicUsize::new(0);
        (0..rayon::current_num_threads().min(blocks)).into_par_iter().try_for_each(|_| -> Result<()> {
            let unreachable = S::Distance::UNREACHABLE;
            let tree = self.tree();
            let mut rows = filled("the distances of a sweep", tree.offsets.len() - 1, [unreachable; LANES])?;
            let columns = self.selection.map_or(rows.len(), |selection| selection.targets.len());
            let distances = (0..LANES.min(sources.len())).map(|_| filled("distances", columns, unreachable));
            let mut distances = distances.collect::<Result<Vec<_>>>()?;
            loop {
                let first = next.fetch_add(1, Ordering::Relaxed) * LANES;
                let Some(block) = sources.get(first..).filter(|rest| !rest.is_empty()) else { return Ok(()) };
                let block = &block[..block.len().min(LANES)];
                let (starts, mut certain) = self.starts(block);
                sweep::<S>(tree, &starts, &mut rows);
                self.doubt(&rows, &mut certain);
                let distances = &mut distances[..block.len()];
                let places = self.selection.map_or(&self.elimination.ranks, |selection| &selection.targets);
                for (column, &place) in places.iter().enumerate() {
                    for (distances, &distance) in distances.iter_mut().zip(&rows[place as usize]) {
                        distances[column] = distance;
                    }
                }
                for (lane, distances) in distances.iter_mut().enumerate() {
                    *distances = visit(first + lane, std::mem::take(distances), certain[lane])?;
                }
            }
        })
    }

    fn tree(&self) -> Tree<'_, S::Distance> {
        match self.selection {
            None => {
                Tree { offsets: &self.elimination.offsets, heads: &self.elimination.heads, down: self.lengths.down() }
            }
            Some(selection) => Tree { offsets: &selection.offsets, heads: &selection.heads, down: &selection.down },
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

    /// Takes back certainty where a distance is too great.
    fn doubt(&self, rows: &[Row<S::Distance>], certain: &mut [bool; LANES]) {
        let Some(safe) = self.safe else { return };
        for row in rows {
            for (certain, &distance) in certain.iter_mut().zip(row) {
                *certain &= distance == S::Distance::UNREACHABLE || distance <= safe;
            }
        }
    }
}

/// Fills the rows from the roots down, with the widest vector instructions that there are.
fn sweep<S: MinPlus>(tree: Tree<'_, S::Distance>, starts: &[Start<S::Distance>], rows: &mut [Row<S::Distance>]) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
        fn avx512<S: MinPlus>(
            tree: Tree<'_, S::Distance>,
            starts: &[Start<S::Distance>],
            rows: &mut [Row<S::Distance>],
        ) {
            sweep_anywhere::<S>(tree, starts, rows);
        }
        #[target_feature(enable = "avx2")]
        fn avx2<S: MinPlus>(tree: Tree<'_, S::Distance>, starts: &[Start<S::Distance>], rows: &mut [Row<S::Distance>]) {
            sweep_anywhere::<S>(tree, starts, rows);
        }
        match InstructionSet::detect() {
            // SAFETY: this processor has these instructions.
            InstructionSet::Avx512 => return unsafe { avx512::<S>(tree, starts, rows) },
            // SAFETY: this processor has these instructions.
            InstructionSet::Avx2 => return unsafe { avx2::<S>(tree, starts, rows) },
            InstructionSet::Portable => {}
        }
    }
    sweep_anywhere::<S>(tree, starts, rows);
}

#[inline(always)]
fn sweep_anywhere<S: MinPlus>(
    tree: Tree<'_, S::Distance>,
    starts: &[Start<S::Distance>],
    rows: &mut [Row<S::Distance>],
) {
    let mut starts = starts.iter().peekable();
    for place in (0..rows.len()).rev() {
        let mut row = [S::Distance::UNREACHABLE; LANES];
        while let Some(&(_, lane, distance)) = starts.next_if(|start| start.0 as usize == place) {
            row[lane] = distance;
        }
        let arcs = tree.offsets[place] as usize..tree.offsets[place + 1] as usize;
        for (&head, &length) in tree.heads[arcs.clone()].iter().zip(&tree.down[arcs]) {
            for (mine, &theirs) in row.iter_mut().zip(&rows[head as usize]) {
                let distance = S::join(theirs, length);
                *mine = if distance < *mine { distance } else { *mine };
            }
        }
        rows[place] = row;
    }
}
