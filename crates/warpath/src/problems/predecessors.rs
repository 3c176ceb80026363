//! Predecessors from final distances: the same tree on every engine, in whatever order the distances were found.
//!
//! An arc `(u, v)` is *tight* if `d(u) + w = d(v)`. The predecessor of `v` is the smallest tight `u` with
//! `(d(u), h(u)) < (d(v), h(v))`. Here `h(v)` is 0 for sources at 0 and for vertices with a tight arc from a smaller
//! distance. Otherwise it is one more than the least `h` over tight arcs, which then all come from the same distance
//! (their weight is 0, or rounding absorbs it). `(d, h)` falls with every step to a predecessor, so they form a tree.
//!
//! Where weights are negative, distances may fall along tight arcs. Then `h` alone decides: the least number of tight
//! arcs from a source at 0. Float arcs are then tight within a tolerance: see `problems/slack.rs`.
//!
//! Work O(V + E), without a transpose: each tail updates its heads, and an atomic minimum keeps the smallest tail.

use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::Slack;
use crate::graph::{Adjacency, Csr, DistanceValue, MinPlus, NO_VERTEX, VertexId};
use crate::prefetch::prefetch;
use crate::{Result, memory, parallel};

/// The predecessor of every vertex after a breadth-first search, given the arcs by head. Rows ascend, so it is the
/// first neighbour one level above, and the rest of the row is not read. Levels are looked up at random: if all fit
/// into bytes, a copy in bytes stays in a faster cache.
///
/// # Errors
///
/// If there is no memory for the predecessors.
pub(crate) fn derive_bfs_predecessors(transpose: &Csr, levels: &[u32]) -> Result<Vec<VertexId>> {
    const UNREACHED: u32 = u32::MAX;
    const MANY: usize = 1 << 16;
    const DEEPEST: u32 = u8::MAX as u32 - 1;
    let shallow = levels.par_iter().with_min_len(MANY).all(|&level| level <= DEEPEST || level == UNREACHED);
    if levels.len() < MANY || !shallow {
        return first_neighbors_above(transpose, levels, 0, UNREACHED, |level| level - 1);
    }
    let narrow = levels.par_iter().with_min_len(MANY).map(|&level| level as u8);
    let levels = memory::collected("the levels in bytes", narrow)?;
    first_neighbors_above(transpose, &levels, 0, u8::MAX, |level| level - 1)
}

/// For every vertex that is neither at `start` nor `unreached`, the first neighbour at the level `above` its own.
fn first_neighbors_above<T: Copy + PartialEq + Sync>(
    transpose: &Csr,
    levels: &[T],
    start: T,
    unreached: T,
    above: impl Fn(T) -> T + Sync,
) -> Result<Vec<VertexId>> {
    const AHEAD: usize = 16;
    let (offsets, last) = (transpose.offsets(), levels.len().saturating_sub(1));
    let predecessor = |v: usize| {
        prefetch(transpose.targets(), offsets[last.min(v + AHEAD)] as usize);
        if levels[v] == start || levels[v] == unreached {
            return NO_VERTEX;
        }
        let above = above(levels[v]);
        let found = transpose.neighbors(v as VertexId).iter().find(|&&u| levels[u as usize] == above);
        found.copied().unwrap_or(NO_VERTEX)
    };
    memory::collected(
        "the array of predecessors",
        (0..levels.len()).into_par_iter().with_min_len(4096).map(predecessor),
    )
}

/// The sources that are not nearer from another source: all of them, unless weights are negative.
pub(crate) fn starts<L: MinPlus>(sources: &[VertexId], distances: &[L::Distance]) -> impl Iterator<Item = VertexId> {
    sources.iter().copied().filter(|&source| distances[source as usize] == L::Distance::ZERO)
}

/// The predecessor of every vertex, [`NO_VERTEX`] for [`starts`] and unreached vertices.
pub(crate) fn derive_predecessors<L: MinPlus>(
    graph: Adjacency<'_, L::Weight>,
    sources: &[VertexId],
    distances: &[L::Distance],
    negative_weights: bool,
) -> Result<Vec<VertexId>> {
    let none = (0..distances.len()).map(|_| AtomicU32::new(NO_VERTEX));
    let predecessors: Vec<AtomicU32> = memory::listed("the array of predecessors", none)?;
    let mut is_start: Vec<bool> = memory::zeroed("the marks of sources", distances.len())?;
    starts::<L>(sources, distances).for_each(|start| is_start[start as usize] = true);
    if !negative_weights {
        let lead_on = |u: VertexId| {
            let from = distances[u as usize];
            if from == L::Distance::UNREACHABLE {
                return;
            }
            for (v, weight) in graph.edges(u) {
                let to = distances[v as usize];
                // A sum past the range of the semiring would look like a tight arc to an unreached vertex.
                let rises = from < to && to != L::Distance::UNREACHABLE;
                if rises && L::extend(from, weight) == to && u < predecessors[v as usize].load(Ordering::Relaxed) {
                    predecessors[v as usize].fetch_min(u, Ordering::Relaxed);
                }
            }
        };
        parallel::for_each_range(distances.len(), &|vertices| vertices.for_each(|u| lead_on(u as VertexId)));
    }
    let mut predecessors: Vec<VertexId> = predecessors.into_iter().map(AtomicU32::into_inner).collect();
    let unexplained = (0..distances.len())
        .any(|v| predecessors[v] == NO_VERTEX && !is_start[v] && distances[v] != L::Distance::UNREACHABLE);
    if unexplained {
        let slack = Slack::of::<L>(graph, distances);
        descend_plateaus::<L>(graph, &is_start, distances, &mut predecessors, slack)?;
    }
    Ok(predecessors)
}

/// Follows tight arcs level by level to vertices without a predecessor: level `h` is complete before level `h + 1`
/// begins, and of several tails in the same level the smallest wins.
fn descend_plateaus<L: MinPlus>(
    graph: Adjacency<'_, L::Weight>,
    is_start: &[bool],
    distances: &[L::Distance],
    predecessors: &mut [VertexId],
    slack: Slack,
) -> Result<()> {
    let is_settled = (predecessors.iter().zip(is_start)).map(|(&p, &start)| p != NO_VERTEX || start);
    let mut settled: Vec<bool> = memory::listed("the marks of vertices", is_settled)?;
    let mut level: Vec<VertexId> = memory::with_capacity("the list of active vertices", distances.len())?;
    level.extend((0..distances.len() as VertexId).filter(|&v| settled[v as usize]));
    let mut next = memory::with_capacity("the list of active vertices", distances.len())?;
    while !level.is_empty() {
        for &u in &level {
            for (v, weight) in graph.edges(u) {
                let (from, to) = (distances[u as usize], distances[v as usize]);
                let fits = !settled[v as usize] && to != L::Distance::UNREACHABLE;
                if fits && slack.is_tight(L::extend(from, weight), to) {
                    if predecessors[v as usize] == NO_VERTEX {
                        next.push(v);
                    }
                    predecessors[v as usize] = predecessors[v as usize].min(u);
                }
            }
        }
        next.iter().for_each(|&v| settled[v as usize] = true);
        level.clear();
        std::mem::swap(&mut level, &mut next);
    }
    Ok(())
}
