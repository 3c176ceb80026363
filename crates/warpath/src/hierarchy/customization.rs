//! Customization: the lengths of all shortcuts for given weights.
//!
//! The lower triangles of an arc from `a` to a later vertex `b` are the vertices `v` before both that have arcs to both.
//! Eliminating `v` offers the way from `a` through `v` to `b`. So the length of the arc is the least of the graph's own arcs
//! and of all its lower triangles. A vertex's arcs are settled once those of all its descendants in the elimination tree
//! are, so disjoint subtrees are settled at the same time (Dibbelt, Strasser, Wagner, *Customizable contraction
//! hierarchies*, 2016, sect. 5).

use rayon::prelude::*;

use super::elimination::{Elimination, ROOT};
use crate::graph::{Adjacency, DistanceValue, MinPlus, VertexId};
use crate::memory::filled;
use crate::{Error, Result};

/// The lengths of arcs and shortcuts, by their places in [`Elimination::heads`].
#[derive(Debug)]
pub(crate) struct Lengths<D> {
    /// From each vertex to its later neighbours.
    pub(crate) up: Vec<D>,
    /// The other way, where it differs.
    down: Option<Vec<D>>,
}

impl<D: DistanceValue> Lengths<D> {
    /// From later neighbours to each vertex.
    pub(crate) fn down(&self) -> &[D] {
        self.down.as_deref().unwrap_or(&self.up)
    }

    /// The greatest length that is one.
    pub(crate) fn greatest(&self) -> D {
        let finite = |values: &[D]| {
            let reachable = values.par_iter().copied().filter(|&value| value != D::UNREACHABLE);
            reachable.reduce(|| D::ZERO, |a, b| if a < b { b } else { a })
        };
        let (up, down) = (finite(&self.up), self.down.as_deref().map_or(D::ZERO, finite));
        if up < down { down } else { up }
    }

    /// An arc from a vertex to a later one whose way back makes a negative cycle with it, by its ranks.
    pub(super) fn negative<S: MinPlus<Distance = D>>(&self, elimination: &Elimination) -> Option<(u32, u32)> {
        let down = self.down();
        (0..elimination.count()).into_par_iter().find_map_first(|rank| {
            let mut row = elimination.row(rank);
            row.find(|&arc| S::join(self.up[arc], down[arc]) < D::ZERO).map(|arc| (rank as u32, elimination.heads[arc]))
        })
    }
}

/// Which lengths the arcs of a graph have before any elimination.
fn of_arcs<S: MinPlus>(
    elimination: &Elimination,
    places: &[u32],
    arcs: Adjacency<'_, S::Weight>,
) -> Result<Lengths<S::Distance>> {
    let shortcuts = elimination.heads.len();
    let mut up = filled("the lengths of a hierarchy", shortcuts, S::Distance::UNREACHABLE)?;
    let mut down = filled("the lengths of a hierarchy", shortcuts, S::Distance::UNREACHABLE)?;
    for tail in 0..elimination.count() as VertexId {
        for arc in arcs.row(tail) {
            let head = arcs.targets[arc];
            if head == tail {
                continue;
            }
            let upward = elimination.ranks[tail as usize] < elimination.ranks[head as usize];
            let length = &mut if upward { &mut up } else { &mut down }[places[arc] as usize];
            let weight = S::extend(S::Distance::ZERO, arcs.weights[arc]);
            if weight < *length {
                *length = weight;
            }
        }
    }
    Ok(Lengths { up, down: Some(down) })
}

/// The lengths for these weights, by the semiring `S`. `directed` is whether the two directions may differ.
///
/// # Errors
///
/// [`Error::InvalidRequest`] if they differ in an undirected graph; [`Error::OutOfMemory`].
pub(super) fn customize<S: MinPlus>(
    elimination: &Elimination,
    places: &[u32],
    arcs: Adjacency<'_, S::Weight>,
    directed: bool,
) -> Result<Lengths<S::Distance>> {
    let mut lengths = of_arcs::<S>(elimination, places, arcs)?;
    if !directed {
        if lengths.down.as_ref() != Some(&lengths.up) {
            return Err(Error::invalid(
                "the graph is undirected, but these weights differ in the two directions of an edge",
            ));
        }
        lengths.down = None;
    }
    let subtrees = independent_subtrees(elimination);
    let mut tasks = Vec::with_capacity(subtrees.len());
    let (mut up, mut down) = (&mut lengths.up[..], lengths.down.as_deref_mut().unwrap_or_default());
    let mut at = 0;
    for subtree in &subtrees {
        let (start, end) = (elimination.offsets[subtree.start] as usize, elimination.offsets[subtree.end] as usize);
        let mine = cut(&mut up, start - at, end - at);
        let back = if directed { cut(&mut down, start - at, end - at) } else { Default::default() };
        tasks.push((subtree.clone(), start, mine, back));
        at = end;
    }
    tasks.into_par_iter().try_for_each(|(subtree, start, up, down)| -> Result<()> {
        let mut settling = Settling::new(elimination, start)?;
        subtree.for_each(|rank| settling.settle::<S>(rank, up, down));
        Ok(())
    })?;
    let mut settling = Settling::new(elimination, 0)?;
    let down = lengths.down.as_deref_mut().unwrap_or_default();
    let mut next = 0;
    for subtree in &subtrees {
        (next..subtree.start).for_each(|rank| settling.settle::<S>(rank, &mut lengths.up, down));
        next = subtree.end;
    }
    (next..elimination.count()).for_each(|rank| settling.settle::<S>(rank, &mut lengths.up, down));
    Ok(lengths)
}

/// Takes a range out of the front of a slice, and what is before it.
fn cut<'a, D>(values: &mut &'a mut [D], start: usize, end: usize) -> &'a mut [D] {
    let (front, rest) = std::mem::take(values).split_at_mut(end);
    *values = rest;
    &mut front[start..]
}

/// Disjoint subtrees, ascending, that have about an eighth of a thread's share of the vertices each.
fn independent_subtrees(elimination: &Elimination) -> Vec<std::ops::Range<usize>> {
    let count = elimination.count();
    let most = (count / (8 * rayon::current_num_threads())).max(1000) as u32;
    let mut sizes = vec![1_u32; count];
    for rank in 0..count {
        if elimination.parents[rank] != ROOT {
            sizes[elimination.parents[rank] as usize] += sizes[rank];
        }
    }
    let is_whole = |&rank: &usize| {
        let parent = elimination.parents[rank];
        sizes[rank] <= most && (parent == ROOT || sizes[parent as usize] > most)
    };
    (0..count).filter(is_whole).map(|rank| rank + 1 - sizes[rank] as usize..rank + 1).collect()
}

/// Settles the arcs of one vertex after another.
struct Settling<'a> {
    elimination: &'a Elimination,
    /// The place of the first arc of the slices of lengths.
    start: usize,
    /// The place of the arc to each ancestor, by its depth.
    places: Vec<u32>,
}

impl<'a> Settling<'a> {
    fn new(elimination: &'a Elimination, start: usize) -> Result<Self> {
        let places = filled("the places of ancestors", elimination.height(), 0)?;
        Ok(Settling { elimination, start, places })
    }

    /// Settles the arcs between `rank` and its later neighbours. `down` is empty where it does not differ from `up`.
    fn settle<S: MinPlus>(&mut self, rank: usize, up: &mut [S::Distance], down: &mut [S::Distance]) {
        let (elimination, start) = (self.elimination, self.start);
        let row = elimination.row(rank);
        for arc in row.clone() {
            self.places[elimination.depths[elimination.heads[arc] as usize] as usize] = (arc - row.start) as u32;
        }
        let (settled_up, mine_up) = up.split_at_mut(row.start - start);
        let directed = !down.is_empty();
        let (settled_down, mine_down) =
            if directed { down.split_at_mut(row.start - start) } else { Default::default() };
        let settled_down: &[S::Distance] = if directed { settled_down } else { settled_up };
        for &(lower, arc) in elimination.lower(rank) {
            // From this vertex to the lower one and back.
            let (there, back) = (settled_down[arc as usize - start], settled_up[arc as usize - start]);
            for other in arc as usize + 1..elimination.offsets[lower as usize + 1] as usize {
                let head = elimination.heads[other];
                let place = self.places[elimination.depths[head as usize] as usize] as usize;
                let length = S::join(there, settled_up[other - start]);
                if length < mine_up[place] {
                    mine_up[place] = length;
                }
                if directed {
                    let length = S::join(settled_down[other - start], back);
                    if length < mine_down[place] {
                        mine_down[place] = length;
                    }
                }
            }
        }
    }
}
