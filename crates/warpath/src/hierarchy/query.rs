//! Answers from customized lengths.
//!
//! A shortest path can be taken to go up the elimination tree first and down from there: every vertex on the way that lies
//! below both of its neighbours was eliminated before them, and a shortcut bridges it. The ways up lead to ancestors alone,
//! so a search is a walk along the ancestors of the source, a few hundred vertices, and then one sweep from the roots down,
//! in which each vertex takes the best of its ancestors (Delling et al., *PHAST*, 2013; Buchhold, Sanders, Wagner,
//! *Real-time traffic assignment using engineered customizable contraction hierarchies*, 2019, for the tree in the place of
//! a priority queue).
//!
//! Here are the walks, and what two of them tell of a pair; sweeps follow in [`one_source`](super::one_source) and
//! [`sweep`](super::sweep).

use super::customization::Lengths;
use super::earlier::Earlier;
use super::elimination::{Elimination, ROOT};
use crate::graph::{DistanceValue, MinPlus, VertexId};
use crate::instructions::with_widest_instructions;

/// Lowers `value` to `other`.
#[inline(always)]
pub(super) fn lower<D: PartialOrd>(value: &mut D, other: D) {
    if other < *value {
        *value = other;
    }
}

/// The later neighbours of a vertex that are in the same separator have depths that follow each other: so many distances are worked
/// on at once.
pub(super) const RUN: usize = 8;

/// The least of these descending depths if they follow each other.
#[inline(always)]
pub(super) fn first_of_run<const N: usize>(depths: &[u32; N]) -> Option<usize> {
    let last = depths[N - 1];
    (depths[0].wrapping_sub(last) == N as u32 - 1).then_some(last as usize)
}

/// The distances between a vertex and its ancestors, by their depth.
pub(crate) fn climb<S: MinPlus>(elimination: &Elimination, lengths: &[S::Distance], start: u32) -> Vec<S::Distance> {
    with_widest_instructions!(
        [S: MinPlus] [S]
        (elimination: &Elimination = elimination, lengths: &[S::Distance] = lengths, start: u32 = start)
            -> Vec<S::Distance>
        {
            let mut climb = Climb::<_, false>::new(elimination, start);
            while climb.at != ROOT {
                climb.step::<S>(elimination, lengths, S::Distance::UNREACHABLE);
            }
            climb.distances
        }
    )
}

/// A walk from a vertex up the tree.
struct Climb<D, const PATH: bool> {
    /// The next vertex on the way, and its depth.
    at: u32,
    depth: usize,
    /// The distances of all ancestors, by their depth; those of `at` and of what is below it are final.
    distances: Vec<D>,
    /// The vertex before each ancestor on the way there, if paths are wanted.
    before: Vec<u32>,
}

impl<D: DistanceValue, const PATH: bool> Climb<D, PATH> {
    fn new(elimination: &Elimination, start: u32) -> Self {
        let depth = elimination.depths[start as usize] as usize;
        let mut distances = vec![D::UNREACHABLE; depth + 1];
        distances[depth] = D::ZERO;
        Climb { at: start, depth, distances, before: vec![start; if PATH { depth + 1 } else { 0 }] }
    }

    /// Goes on to the parent. Ways through a vertex as far as `bound` are left out.
    #[inline(always)]
    fn step<S: MinPlus<Distance = D>>(&mut self, elimination: &Elimination, lengths: &[D], bound: D) {
        let here = self.distances[self.depth];
        if here < bound {
            let row = elimination.row(self.at as usize);
            let (depth_runs, depths) = elimination.head_depths[row.clone()].as_chunks();
            let (length_runs, lengths) = lengths[row].as_chunks();
            for (depths, lengths) in depth_runs.iter().zip(length_runs) {
                if !self.offer_run::<S, RUN>(depths, here, lengths) {
                    self.offer_by_halves::<S>(depths, here, lengths);
                }
            }
            self.offer_by_halves::<S>(depths, here, lengths);
        }
        self.at = elimination.parents[self.at as usize];
        self.depth = self.depth.saturating_sub(1);
    }

    /// Lowers the distances of the ancestors at these depths to those of the ways through the vertex that the walk is at, if the
    /// depths follow each other; tells whether they do.
    #[inline(always)]
    fn offer_run<S: MinPlus<Distance = D>, const N: usize>(
        &mut self,
        depths: &[u32; N],
        here: D,
        lengths: &[D; N],
    ) -> bool {
        let Some(first) = first_of_run(depths) else { return false };
        let Some(distances) = self.distances[first..].first_chunk_mut::<N>() else { return false };
        // Depths descend.
        let joined: [D; N] = std::array::from_fn(|place| S::join(here, lengths[N - 1 - place]));
        if PATH && let Some(before) = self.before[first..].first_chunk_mut::<N>() {
            for place in 0..N {
                before[place] = if joined[place] < distances[place] { self.at } else { before[place] };
            }
        }
        for place in 0..N {
            distances[place] = if joined[place] < distances[place] { joined[place] } else { distances[place] };
        }
        true
    }

    /// The same with runs half as long, and depth by depth where there are none.
    #[inline(always)]
    fn offer_by_halves<S: MinPlus<Distance = D>>(&mut self, depths: &[u32], here: D, lengths: &[D]) {
        let (depth_runs, depths) = depths.as_chunks::<{ RUN / 2 }>();
        let (length_runs, lengths) = lengths.as_chunks();
        for (depths, lengths) in depth_runs.iter().zip(length_runs) {
            if !self.offer_run::<S, _>(depths, here, lengths) {
                depths.iter().zip(lengths).for_each(|(&depth, &length)| self.offer::<S>(depth, here, length));
            }
        }
        depths.iter().zip(lengths).for_each(|(&depth, &length)| self.offer::<S>(depth, here, length));
    }

    /// Lowers the distance of the ancestor at this depth to that of the way through the vertex that the walk is at.
    #[inline(always)]
    fn offer<S: MinPlus<Distance = D>>(&mut self, depth: u32, here: D, length: D) {
        let distance = S::join(here, length);
        if PATH {
            if distance < self.distances[depth as usize] {
                self.distances[depth as usize] = distance;
                self.before[depth as usize] = self.at;
            }
        } else {
            lower(&mut self.distances[depth as usize], distance);
        }
    }

    /// The vertices from an ancestor down to the start.
    fn chain(&self, elimination: &Elimination, start: u32, top: u32) -> Vec<u32> {
        let mut chain = vec![top];
        let mut at = top;
        while at != start {
            at = self.before[elimination.depths[at as usize] as usize];
            chain.push(at);
        }
        chain
    }
}

/// The length of the shortest way between two vertices; `UNREACHABLE` if there is none. O(shortcuts of their ancestors).
pub(super) fn length<S: MinPlus>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    source: VertexId,
    target: VertexId,
) -> S::Distance {
    let ranks = [source, target].map(|v| elimination.ranks[v as usize]);
    meet::<S, false>(elimination, lengths, ranks).0
}

/// The length of a way, the rank of its top, which is the last of its vertices, and the walks to there from both ends.
type Met<D, const PATH: bool> = (D, u32, [Climb<D, PATH>; 2]);

/// The shortest way between two vertices.
fn meet<S: MinPlus, const PATH: bool>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    ranks: [u32; 2],
) -> Met<S::Distance, PATH> {
    with_widest_instructions!(
        [S: MinPlus, const PATH: bool] [S, PATH]
        (elimination: &Elimination = elimination, lengths: &Lengths<S::Distance> = lengths, ranks: [u32; 2] = ranks)
            -> Met<S::Distance, PATH> { meet_anywhere::<S, PATH>(elimination, lengths, ranks) }
    )
}

#[inline(always)]
fn meet_anywhere<S: MinPlus, const PATH: bool>(
    elimination: &Elimination,
    lengths: &Lengths<S::Distance>,
    [source, target]: [u32; 2],
) -> Met<S::Distance, PATH> {
    let unreachable = S::Distance::UNREACHABLE;
    let (up, down) = (&lengths.up[..], lengths.down());
    let mut from = Climb::new(elimination, source);
    let mut to = Climb::new(elimination, target);
    // Up to the first ancestor of both.
    while from.at != to.at {
        let (depth, other) = (from.depth, to.depth);
        if from.at != ROOT && (depth >= other || to.at == ROOT) {
            from.step::<S>(elimination, up, unreachable);
        }
        if to.at != ROOT && (other >= depth || from.at == ROOT) {
            to.step::<S>(elimination, down, unreachable);
        }
    }
    let (mut least, mut top) = (unreachable, ROOT);
    while from.at != ROOT {
        let length = S::join(from.distances[from.depth], to.distances[to.depth]);
        if length < least {
            (least, top) = (length, from.at);
        }
        // Where no length is negative, nothing good comes of a vertex as far away as the target.
        let bound = if lengths.may_be_negative { unreachable } else { least };
        from.step::<S>(elimination, up, bound);
        to.step::<S>(elimination, down, bound);
    }
    (least, top, [from, to])
}

/// The vertices of the shortest way between two vertices, and its length; `None` if there is none. As [`length`], and then
/// for each shortcut on the way a look at the earlier neighbours of its lower end.
pub(super) fn path<S: MinPlus>(
    elimination: &Elimination,
    earlier: &Earlier,
    lengths: &Lengths<S::Distance>,
    source: VertexId,
    target: VertexId,
) -> Option<(S::Distance, Vec<VertexId>)> {
    let ranks = [source, target].map(|v| elimination.ranks[v as usize]);
    let (length, top, [from, to]) = meet::<S, true>(elimination, lengths, ranks);
    if top == ROOT {
        return None;
    }
    let mut chain = from.chain(elimination, ranks[0], top);
    chain.reverse();
    chain.extend(&to.chain(elimination, ranks[1], top)[1..]);
    let mut path = vec![source];
    for pair in chain.windows(2) {
        unpack::<S>(elimination, earlier, lengths, pair[0], pair[1], &mut path);
    }
    Some((length, path))
}

/// Adds the vertices on the way along the arc or shortcut from rank `from` to rank `to`, without the first.
pub(super) fn unpack<S: MinPlus>(
    elimination: &Elimination,
    earlier: &Earlier,
    lengths: &Lengths<S::Distance>,
    from: u32,
    to: u32,
    path: &mut Vec<VertexId>,
) {
    let place = elimination.place(from.min(to), from.max(to)).expect("there is a shortcut");
    let mut pending = vec![(from, to, place)];
    while let Some((from, to, place)) = pending.pop() {
        match middle::<S>(elimination, earlier, lengths, from, to, place) {
            Some((middle, first, second)) => pending.extend([(middle, to, second), (from, middle, first)]),
            None => path.push(elimination.vertices[to as usize]),
        }
    }
}

/// A vertex before both ends of a shortcut on a way that is as short, and the places of the arcs there and on; `None` if
/// only an arc of the graph is.
fn middle<S: MinPlus>(
    elimination: &Elimination,
    earlier: &Earlier,
    lengths: &Lengths<S::Distance>,
    from: u32,
    to: u32,
    place: usize,
) -> Option<(u32, usize, usize)> {
    // From the middle to the lower end goes up, or down, and the same to the higher end.
    let (low, high) = (from.min(to), from.max(to));
    let upward = from < to;
    let (to_low, to_high) = if upward { (lengths.down(), &lengths.up[..]) } else { (&lengths.up[..], lengths.down()) };
    let length = to_high[place];
    earlier.of(low).iter().find_map(|&(middle, first)| {
        let part = to_low[first as usize];
        if part == S::Distance::UNREACHABLE || !lengths.may_be_negative && length < part {
            return None;
        }
        let second = elimination.place(middle, high)?;
        let other = to_high[second];
        let joined = if upward { S::join(part, other) } else { S::join(other, part) };
        let arcs = if upward { (first as usize, second) } else { (second, first as usize) };
        (joined == length && joined != S::Distance::UNREACHABLE).then_some((middle, arcs.0, arcs.1))
    })
}
