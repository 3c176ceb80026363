//! Answers from customized lengths.
//!
//! A shortest path can be taken to go up the elimination tree first and down from there: every vertex on the way that lies
//! below both of its neighbours was eliminated before them, and a shortcut bridges it. The ways up lead to ancestors alone,
//! so a search is a walk along the ancestors of the source, a few hundred vertices, and then one sweep from the roots down,
//! in which each vertex takes the best of its ancestors (Delling et al., *PHAST*, 2013; Buchhold, Sanders, Wagner,
//! *Real-time traffic assignment using engineered customizable contraction hierarchies*, 2019, for the tree in the place of
//! a priority queue).

use super::customization::Lengths;
use super::elimination::{Elimination, ROOT};
use crate::Result;
use crate::graph::{DistanceValue, MinPlus, VertexId};
use crate::memory::filled;

/// Lowers `value` to `other`.
#[inline(always)]
fn lower<D: PartialOrd>(value: &mut D, other: D) {
    if other < *value {
        *value = other;
    }
}

/// The distances to all vertices from the nearest of `sources`, by vertex, in O(shortcuts).
pub(super) fn from<S: MinPlus>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    sources: &[VertexId],
) -> Result<Vec<S::Distance>> {
    let mut by_rank = filled("distances", elimination.count(), S::Distance::UNREACHABLE)?;
    for &source in sources {
        let mut rank = elimination.ranks[source as usize];
        lower(&mut by_rank[rank as usize], S::Distance::ZERO);
        while rank != ROOT {
            let here = by_rank[rank as usize];
            for arc in elimination.row(rank as usize) {
                lower(&mut by_rank[elimination.heads[arc] as usize], S::join(here, lengths.up[arc]));
            }
            rank = elimination.parents[rank as usize];
        }
    }
    let down = lengths.down();
    for rank in (0..elimination.count()).rev() {
        let mut least = by_rank[rank];
        for arc in elimination.row(rank) {
            lower(&mut least, S::join(by_rank[elimination.heads[arc] as usize], down[arc]));
        }
        by_rank[rank] = least;
    }
    let mut distances = filled("distances", elimination.count(), S::Distance::UNREACHABLE)?;
    for (&v, &distance) in elimination.vertices.iter().zip(&by_rank) {
        distances[v as usize] = distance;
    }
    Ok(distances)
}

/// The distances between a vertex and its ancestors, by their depth.
pub(super) fn climb<S: MinPlus>(elimination: &Elimination, lengths: &[S::Distance], start: u32) -> Vec<S::Distance> {
    let mut distances = vec![S::Distance::UNREACHABLE; elimination.depths[start as usize] as usize + 1];
    distances[elimination.depths[start as usize] as usize] = S::Distance::ZERO;
    let mut rank = start;
    while rank != ROOT {
        let here = distances[elimination.depths[rank as usize] as usize];
        for arc in elimination.row(rank as usize) {
            let depth = elimination.depths[elimination.heads[arc] as usize];
            lower(&mut distances[depth as usize], S::join(here, lengths[arc]));
        }
        rank = elimination.parents[rank as usize];
    }
    distances
}

/// The shortest way between two vertices.
pub(super) struct Way<D> {
    pub(super) length: D,
    /// The rank of the last ancestor.
    top: u32,
    /// The distances from the source, and those to the target, of the ancestors by their depth.
    from: Vec<D>,
    to: Vec<D>,
}

/// The way from one vertex to another, in O(shortcuts of their ancestors); `None` if there is none.
pub(super) fn between<S: MinPlus>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    source: VertexId,
    target: VertexId,
) -> Option<Way<S::Distance>> {
    let ranks = [source, target].map(|v| elimination.ranks[v as usize]);
    let from = climb::<S>(elimination, &lengths.up, ranks[0]);
    let to = climb::<S>(elimination, lengths.down(), ranks[1]);
    // The lowest ancestor of both, by walking up from the deeper one.
    let [mut a, mut b] = ranks;
    while a != b {
        let (depth_a, depth_b) = (elimination.depths[a as usize], elimination.depths[b as usize]);
        if depth_a >= depth_b {
            a = elimination.parents[a as usize];
        }
        if depth_b >= depth_a {
            b = elimination.parents[b as usize];
        }
        if a == ROOT || b == ROOT {
            return None;
        }
    }
    let mut best: Option<(S::Distance, u32)> = None;
    while a != ROOT {
        let depth = elimination.depths[a as usize] as usize;
        let length = S::join(from[depth], to[depth]);
        if length != S::Distance::UNREACHABLE && best.is_none_or(|(least, _)| length < least) {
            best = Some((length, a));
        }
        a = elimination.parents[a as usize];
    }
    best.map(|(length, top)| Way { length, top, from, to })
}

impl<D: DistanceValue> Way<D> {
    /// The vertices of the way, by unpacking its shortcuts.
    pub(super) fn vertices<S: MinPlus<Distance = D>>(
        &self,
        elimination: &Elimination,
        lengths: &Lengths<D>,
        source: VertexId,
        target: VertexId,
    ) -> Vec<VertexId> {
        // The vertices on the way up from the source, and on the way down to the target, from the top on.
        let chain = |start: VertexId, distances: &[D], upward: bool| {
            let start = elimination.ranks[start as usize];
            let mut chain = vec![self.top];
            let mut at = self.top;
            while at != start {
                at = step::<S>(elimination, lengths, start, at, distances, upward);
                chain.push(at);
            }
            chain
        };
        let mut ranks = chain(source, &self.from, true);
        ranks.reverse();
        ranks.extend(chain(target, &self.to, false).into_iter().skip(1));
        let mut path = vec![elimination.vertices[ranks[0] as usize]];
        for pair in ranks.windows(2) {
            unpack::<S>(elimination, lengths, pair[0], pair[1], &mut path);
        }
        path
    }
}

/// The vertex before `at` on the way between `start` and its ancestor `at`: one that `start`'s distances prove.
fn step<S: MinPlus>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    start: u32,
    at: u32,
    distances: &[S::Distance],
    upward: bool,
) -> u32 {
    let values = if upward { &lengths.up[..] } else { lengths.down() };
    let wanted = distances[elimination.depths[at as usize] as usize];
    let mut rank = start;
    while rank != at {
        let here = distances[elimination.depths[rank as usize] as usize];
        let row = elimination.row(rank as usize);
        if let Ok(place) = elimination.heads[row.clone()].binary_search(&at)
            && S::join(here, values[row.start + place]) == wanted
        {
            return rank;
        }
        rank = elimination.parents[rank as usize];
    }
    unreachable!("a distance to an ancestor comes from a vertex on the way")
}

/// Adds the vertices on the way along the arc or shortcut from rank `from` to rank `to`, without the first.
pub(super) fn unpack<S: MinPlus>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    from: u32,
    to: u32,
    path: &mut Vec<VertexId>,
) {
    let down = lengths.down();
    let mut pending = vec![(from, to)];
    while let Some((from, to)) = pending.pop() {
        let (low, high) = (from.min(to), from.max(to));
        let arc = |low: u32, high: u32| {
            let row = elimination.row(low as usize);
            elimination.heads[row.clone()].binary_search(&high).ok().map(|place| row.start + place)
        };
        let length = arc(low, high).map(|arc| if from < to { lengths.up[arc] } else { down[arc] });
        let through = elimination.lower(low as usize).iter().find(|&&(middle, first)| {
            // `first` is the arc from the middle to the lower end.
            let Some(second) = arc(middle, high) else { return false };
            let (into, out) = if from < to {
                (down[first as usize], lengths.up[second])
            } else {
                (down[second], lengths.up[first as usize])
            };
            let joined = S::join(into, out);
            joined != S::Distance::UNREACHABLE && Some(joined) == length
        });
        match through {
            Some(&(middle, _)) => pending.extend([(middle, to), (from, middle)]),
            None => path.push(elimination.vertices[to as usize]),
        }
    }
}
