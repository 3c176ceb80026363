//! The distances from one source, or from the nearest of several: one sweep.
//!
//! The walk from a source up the tree gives the distances of its ancestors ([`climb`](super::query::climb)). Then each vertex, from
//! the roots down, takes the best of its later neighbours, which are all ancestors of it. Ranks are in postorder, so a sweep from
//! the last to the first needs the distances of a stack of ancestors alone, by their depths: they stay in the first cache.
//! Disjoint subtrees are swept by threads of their own, once the vertices above them are.
//!
//! Most vertices of a road network have two to eight later neighbours, and a loop over so few mostly ends where the processor does not
//! expect it. So the shortcuts of up to [`SOME`] ranks are one stream, without a branch at the end of a vertex: after every
//! shortcut, the least distance so far goes to the place of its vertex, and it is forgotten where a vertex ends. Vertices with
//! many later neighbours are worth a loop of their own, and so are those that a stream has no way to begin: ancestors of sources,
//! roots, and vertices whose ancestors have been swept before.

use std::ops::Range;

use super::customization::Lengths;
use super::elimination::{Elimination, ROOT};
use super::query::{RUN, climb, first_of_run, lower};
use crate::graph::{DistanceKey, DistanceValue, MinPlus, VertexId};
use crate::instructions::with_widest_instructions;
use crate::memory::filled;
use crate::{Result, parallel};

/// How many ranks are swept before their distances are stored by vertex.
const SOME: usize = if cfg!(test) { 1 << 4 } else { 1 << 8 };

/// The most later neighbours of a vertex whose shortcuts are part of a stream.
const NARROW: usize = if cfg!(test) { 3 } else { 16 };

/// Where a sweep from the roots down begins: an ancestor of a source, and the distance between them.
type Start<D> = (u32, D);

/// The distances to all vertices from the nearest of `sources`, by vertex, in O(shortcuts), on this thread or on all of the pool.
pub(super) fn from<S: MinPlus>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    sources: &[VertexId],
    threads: usize,
) -> Result<Vec<S::Distance>> {
    /// Fewer vertices are not worth threads.
    const WORTH_THREADS: usize = if cfg!(test) { 100 } else { 1 << 15 };
    let mut starts = Vec::new();
    for &source in sources {
        let mut rank = elimination.ranks[source as usize];
        let distances = climb::<S>(elimination, &lengths.up, rank);
        while rank != ROOT {
            starts.push((rank, distances[elimination.depths[rank as usize] as usize]));
            rank = elimination.parents[rank as usize];
        }
    }
    starts.sort_unstable_by(|a, b| a.partial_cmp(b).expect("distances are numbers"));
    // The nearest source comes first.
    starts.dedup_by_key(|start| start.0);
    let mut distances = filled("distances", elimination.count(), S::Distance::UNREACHABLE)?;
    let sweep = Sweep::<S> {
        elimination,
        down: lengths.down(),
        starts: &starts,
        found: <S::Distance as DistanceValue>::Key::atomics(bytemuck::cast_slice_mut(&mut distances)),
    };
    let stack = || filled("the distances of ancestors", elimination.height(), S::Distance::UNREACHABLE);
    if elimination.count() < WORTH_THREADS || threads == 1 {
        sweep.down(0..elimination.count(), &mut stack()?);
        return Ok(distances);
    }
    let subtrees = elimination.subtrees.first().map_or(&[][..], |level| level);
    let mut end = elimination.count();
    let mut ancestors = stack()?;
    for subtree in subtrees.iter().rev() {
        sweep.down(subtree.end..end, &mut ancestors);
        end = subtree.start;
    }
    sweep.down(0..end, &mut ancestors);
    parallel::try_for_each(subtrees.len(), &|subtree| {
        sweep.down(subtrees[subtree].clone(), &mut stack()?);
        Ok(())
    })?;
    Ok(distances)
}

/// A sweep from the roots down.
struct Sweep<'a, S: MinPlus> {
    elimination: &'a Elimination,
    down: &'a [S::Distance],
    /// By rank.
    starts: &'a [Start<S::Distance>],
    /// The distances found so far, by vertex, as bits.
    found: &'a [<<S::Distance as DistanceValue>::Key as DistanceKey>::Atomic],
}

impl<S: MinPlus> Sweep<'_, S> {
    fn found(&self, rank: usize) -> S::Distance {
        let vertex = self.elimination.vertices[rank] as usize;
        bytemuck::cast(<S::Distance as DistanceValue>::Key::load(&self.found[vertex]))
    }

    /// Finds the distances of these ranks; those of their ancestors among others are there. `ancestors` has room for as many
    /// distances as the tree is high.
    fn down(&self, ranks: Range<usize>, ancestors: &mut [S::Distance]) {
        with_widest_instructions!(
            [S: MinPlus] [S]
            (sweep: &Sweep<'_, S> = self, ranks: Range<usize> = ranks, ancestors: &mut [S::Distance] = ancestors)
                -> () { sweep.down_anywhere(ranks, ancestors) }
        )
    }

    #[inline(always)]
    fn down_anywhere(&self, ranks: Range<usize>, ancestors: &mut [S::Distance]) {
        let Elimination { vertices, parents, depths, offsets, .. } = self.elimination;
        let mut starts = &self.starts[..self.starts.partition_point(|start| (start.0 as usize) < ranks.end)];
        // The ancestor outside whose distance the stack has on top.
        let mut outside = ROOT;
        let mut kept = [S::Distance::UNREACHABLE; SOME];
        let mut ends = [false; SOME * NARROW];
        let mut end = ranks.end;
        while end > ranks.start {
            let first = end.saturating_sub(SOME).max(ranks.start);
            let kept = &mut kept[..end - first];
            let mut rank = end;
            while rank > first {
                // The ranks of a stream, which ends above the next start of a source.
                let start = starts.last().map_or(first, |start| first.max(start.0 as usize + 1));
                let streams = |rank: &usize| {
                    let arcs = offsets[rank + 1] - offsets[*rank];
                    (parents[*rank] as usize) < ranks.end && arcs <= NARROW as u64
                };
                let stream = rank - (start.min(rank)..rank).rev().take_while(streams).count()..rank;
                if !stream.is_empty() {
                    rank = stream.start;
                    self.stream(
                        stream.clone(),
                        ancestors,
                        &mut kept[stream.start - first..stream.end - first],
                        &mut ends,
                    );
                    continue;
                }
                rank -= 1;
                let parent = parents[rank];
                if parent != ROOT && parent as usize >= ranks.end && parent != outside {
                    outside = parent;
                    let mut above = parent;
                    while above != ROOT {
                        ancestors[depths[above as usize] as usize] = self.found(above as usize);
                        above = parents[above as usize];
                    }
                }
                let mut least = S::Distance::UNREACHABLE;
                if let Some((&start, below)) = starts.split_last()
                    && start.0 as usize == rank
                {
                    (least, starts) = (start.1, below);
                }
                let row = self.elimination.row(rank);
                let head_depths = &self.elimination.head_depths[row.clone()];
                lower(&mut least, nearest::<S>(ancestors, head_depths, &self.down[row]));
                ancestors[depths[rank] as usize] = least;
                kept[rank - first] = least;
            }
            for (&vertex, &distance) in vertices[first..end].iter().zip(&*kept) {
                <S::Distance as DistanceValue>::Key::store(&self.found[vertex as usize], bytemuck::cast(distance));
            }
            end = first;
        }
    }

    /// Finds the distances of these ranks, which have ancestors in the stack, and at most [`NARROW`] later neighbours each. The
    /// distances go to `kept`, and to the stack. `ends` has room for a mark for each shortcut.
    #[inline(always)]
    fn stream(&self, ranks: Range<usize>, ancestors: &mut [S::Distance], kept: &mut [S::Distance], ends: &mut [bool]) {
        let Elimination { depths, offsets, head_depths, .. } = self.elimination;
        let arcs = offsets[ranks.start] as usize..offsets[ranks.end] as usize;
        // Whether a shortcut is the first of its vertex, and so the last to be looked at.
        let ends = &mut ends[..arcs.len()];
        ends.fill(false);
        offsets[ranks.clone()].iter().for_each(|&offset| ends[offset as usize - arcs.start] = true);
        let depths = &depths[ranks];
        let mut rank = depths.len() - 1;
        let mut least = S::Distance::UNREACHABLE;
        for ((&depth, &length), &ends) in head_depths[arcs.clone()].iter().zip(&self.down[arcs]).zip(&*ends).rev() {
            let distance = S::join(ancestors[depth as usize], length);
            least = if distance < least { distance } else { least };
            ancestors[depths[rank] as usize] = least;
            kept[rank] = least;
            least = if ends { S::Distance::UNREACHABLE } else { least };
            rank = rank.saturating_sub(usize::from(ends));
        }
    }
}

/// The least of the ways through ancestors at these descending depths, with these lengths from there.
#[inline(always)]
fn nearest<S: MinPlus>(ancestors: &[S::Distance], depths: &[u32], lengths: &[S::Distance]) -> S::Distance {
    let mut least = S::Distance::UNREACHABLE;
    let (depth_runs, depths) = depths.as_chunks::<RUN>();
    let (length_runs, lengths) = lengths.as_chunks::<RUN>();
    if !depth_runs.is_empty() {
        let mut of_runs = [S::Distance::UNREACHABLE; RUN];
        for (depths, lengths) in depth_runs.iter().zip(length_runs) {
            match first_of_run(depths).and_then(|first| ancestors[first..].first_chunk::<RUN>()) {
                Some(ancestors) => (0..RUN).for_each(|place| {
                    let distance = S::join(ancestors[place], lengths[RUN - 1 - place]);
                    of_runs[place] = if distance < of_runs[place] { distance } else { of_runs[place] };
                }),
                None => (0..RUN).for_each(|place| {
                    let distance = S::join(ancestors[depths[place] as usize], lengths[place]);
                    of_runs[place] = if distance < of_runs[place] { distance } else { of_runs[place] };
                }),
            }
        }
        of_runs.into_iter().for_each(|distance| lower(&mut least, distance));
    }
    for (&depth, &length) in depths.iter().zip(lengths) {
        lower(&mut least, S::join(ancestors[depth as usize], length));
    }
    least
}
