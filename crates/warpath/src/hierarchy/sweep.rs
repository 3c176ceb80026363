//! Distances from many sources: one sweep for sixteen of them.
//!
//! A sweep from the roots down looks at every shortcut once, and waits for memory more than it computes. Sixteen sources share
//! the looks: each vertex has a row of sixteen distances, a line of cache if they have 32 bits, and a shortcut lowers the row
//! of one vertex by that of another in a few vector instructions. The rows are in the order of ranks, so they are written one
//! after another; the distances of each source are picked out of them at the end, in the order of the vertices.
//!
//! *Invariants.* A function compiled for more instructions is called only where the processor was asked for them.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::customization::Lengths;
use super::elimination::{Elimination, ROOT};
use crate::Result;
use crate::graph::{DistanceValue, MinPlus, VertexId};
use crate::instructions::InstructionSet;
use crate::memory::filled;

/// How many sources share a sweep.
pub(super) const LANES: usize = 16;

/// The distances of a vertex from each source.
type Row<D> = [D; LANES];

/// Where a sweep begins: an ancestor of a source, the source's lane, and the distance between them. Descending ranks.
type Start<D> = (u32, usize, D);

/// Hands the distances from each source to `visit` with the source's place in the list, on all threads; `visit` gives the
/// array back. O(shortcuts) for each source, and memory for [`LANES`] rows of distances for each thread.
pub(super) fn from_each<S: MinPlus>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    sources: &[VertexId],
    visit: &(dyn Fn(usize, Vec<S::Distance>) -> Result<Vec<S::Distance>> + Sync),
) -> Result<()> {
    let blocks = sources.len().div_ceil(LANES);
    let next = AtomicUsize::new(0);
    (0..rayon::current_num_threads().min(blocks)).into_par_iter().try_for_each(|_| -> Result<()> {
        let unreachable = S::Distance::UNREACHABLE;
        let mut rows = filled("the distances of a sweep", elimination.count(), [unreachable; LANES])?;
        let lanes = LANES.min(sources.len());
        let distances = (0..lanes).map(|_| filled("distances", elimination.count(), unreachable));
        let mut distances = distances.collect::<Result<Vec<_>>>()?;
        loop {
            let first = next.fetch_add(1, Ordering::Relaxed) * LANES;
            let Some(block) = sources.get(first..).filter(|rest| !rest.is_empty()) else { return Ok(()) };
            let block = &block[..block.len().min(LANES)];
            sweep::<S>(elimination, lengths.down(), &starts::<S>(elimination, &lengths.up, block), &mut rows);
            let distances = &mut distances[..block.len()];
            for (v, &rank) in elimination.ranks.iter().enumerate() {
                for (distances, &distance) in distances.iter_mut().zip(&rows[rank as usize]) {
                    distances[v] = distance;
                }
            }
            for (lane, distances) in distances.iter_mut().enumerate() {
                *distances = visit(first + lane, std::mem::take(distances))?;
            }
        }
    })
}

/// The ancestors of the sources, with their distances on the way up.
fn starts<S: MinPlus>(elimination: &Elimination, up: &[S::Distance], sources: &[VertexId]) -> Vec<Start<S::Distance>> {
    let mut starts = Vec::new();
    for (lane, &source) in sources.iter().enumerate() {
        let mut rank = elimination.ranks[source as usize];
        let distances = super::query::climb::<S>(elimination, up, rank);
        while rank != ROOT {
            let distance = distances[elimination.depths[rank as usize] as usize];
            if distance != S::Distance::UNREACHABLE {
                starts.push((rank, lane, distance));
            }
            rank = elimination.parents[rank as usize];
        }
    }
    starts.sort_unstable_by_key(|&(rank, lane, _)| (std::cmp::Reverse(rank), lane));
    starts
}

/// Fills the rows from the roots down, with the widest vector instructions that there are.
fn sweep<S: MinPlus>(
    elimination: &Elimination,
    down: &[S::Distance],
    starts: &[Start<S::Distance>],
    rows: &mut [Row<S::Distance>],
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
        fn avx512<S: MinPlus>(
            elimination: &Elimination,
            down: &[S::Distance],
            starts: &[Start<S::Distance>],
            rows: &mut [Row<S::Distance>],
        ) {
            sweep_anywhere::<S>(elimination, down, starts, rows);
        }
        #[target_feature(enable = "avx2")]
        fn avx2<S: MinPlus>(
            elimination: &Elimination,
            down: &[S::Distance],
            starts: &[Start<S::Distance>],
            rows: &mut [Row<S::Distance>],
        ) {
            sweep_anywhere::<S>(elimination, down, starts, rows);
        }
        match InstructionSet::detect() {
            // SAFETY: this processor has these instructions.
            InstructionSet::Avx512 => return unsafe { avx512::<S>(elimination, down, starts, rows) },
            // SAFETY: this processor has these instructions.
            InstructionSet::Avx2 => return unsafe { avx2::<S>(elimination, down, starts, rows) },
            InstructionSet::Portable => {}
        }
    }
    sweep_anywhere::<S>(elimination, down, starts, rows);
}

#[inline(always)]
fn sweep_anywhere<S: MinPlus>(
    elimination: &Elimination,
    down: &[S::Distance],
    starts: &[Start<S::Distance>],
    rows: &mut [Row<S::Distance>],
) {
    let mut starts = starts.iter().peekable();
    for rank in (0..elimination.count()).rev() {
        let mut row = [S::Distance::UNREACHABLE; LANES];
        while let Some(&(_, lane, distance)) = starts.next_if(|start| start.0 as usize == rank) {
            row[lane] = distance;
        }
        let arcs = elimination.row(rank);
        for (&head, &length) in elimination.heads[arcs.clone()].iter().zip(&down[arcs]) {
            for (mine, &theirs) in row.iter_mut().zip(&rows[head as usize]) {
                let distance = S::join(theirs, length);
                *mine = if distance < *mine { distance } else { *mine };
            }
        }
        rows[rank] = row;
    }
}
