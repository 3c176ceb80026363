//! Customization: the lengths of all shortcuts for given weights.
//!
//! The lower triangles of an arc from `a` to a later vertex `b` are the vertices `v` before both that have arcs to both.
//! Eliminating `v` offers the way from `a` through `v` to `b`. So the length of the arc is the least of the graph's own arcs
//! and of all its lower triangles. A vertex's arcs are settled once those of all its descendants in the elimination tree
//! are (`fronts`), so disjoint subtrees are settled at the same time (Dibbelt, Strasser, Wagner, *Customizable contraction
//! hierarchies*, 2016, sect. 5): small ones first, then those that have these in them, up to the roots.

use std::any::TypeId;
use std::ops::Range;

use super::arcs::Arcs;
use super::elimination::Elimination;
use super::fronts::{Eliminating, Front, Rows};
use crate::graph::{DistanceValue, MinPlus};
use crate::memory::{copied, with_capacity};
use crate::{Error, Result, parallel};

/// The lengths of arcs and shortcuts, by their places in [`Elimination::heads`].
#[derive(Debug)]
pub(crate) struct Lengths<D> {
    /// From each vertex to its later neighbours.
    pub(crate) up: Vec<D>,
    /// The other way, if any length differs.
    down: Option<Vec<D>>,
    /// Whether one may be less than zero.
    pub(super) may_be_negative: bool,
}

impl<D: DistanceValue> Lengths<D> {
    fn new(up: Vec<D>, down: Option<Vec<D>>) -> Self {
        let is_negative = |values: &Vec<D>| any(values, |&value| value < D::ZERO);
        let may_be_negative = is_negative(&up) || down.as_ref().is_some_and(is_negative);
        Lengths { up, down, may_be_negative }
    }

    /// From later neighbours to each vertex.
    pub(crate) fn down(&self) -> &[D] {
        self.down.as_deref().unwrap_or(&self.up)
    }

    /// The lengths of a shortcut, upwards and downwards.
    pub(super) fn at(&self, place: usize) -> [D; 2] {
        [self.up[place], self.down()[place]]
    }

    /// Changes the lengths of a shortcut; those of one direction count where both have the same.
    pub(super) fn set(&mut self, place: usize, [up, down]: [D; 2]) {
        self.up[place] = up;
        if let Some(all) = &mut self.down {
            all[place] = down;
        }
    }

    /// Whether both directions have the same lengths, and share an array.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.down.is_none()
    }

    /// Gives each direction an array of its own.
    pub(super) fn divide(&mut self) -> Result<()> {
        if self.down.is_none() {
            self.down = Some(copied("the lengths of a hierarchy", &self.up)?);
        }
        Ok(())
    }

    /// The greatest length that is one.
    pub(crate) fn greatest(&self) -> D {
        let greater = |a: D, b: D| if a < b { b } else { a };
        let among = |values: &[D]| {
            let finite = |value: D| if value == D::UNREACHABLE { D::ZERO } else { value };
            values.iter().fold(D::ZERO, |greatest, &value| greater(greatest, finite(value)))
        };
        let finite =
            |values: &[D]| parallel::collect_taken(values.chunks(SOME), among).into_iter().fold(D::ZERO, greater);
        let (up, down) = (finite(&self.up), self.down.as_deref().map_or(D::ZERO, finite));
        greater(up, down)
    }

    /// An arc from a vertex to a later one whose way back makes a negative cycle with it, by its ranks.
    pub(super) fn negative<S: MinPlus<Distance = D>>(&self, elimination: &Elimination) -> Option<(u32, u32)> {
        if !self.may_be_negative {
            return None;
        }
        let down = self.down();
        let negative = |rank| elimination.row(rank).find(|&arc| S::join(self.up[arc], down[arc]) < D::ZERO);
        let rank = parallel::find_first(elimination.count(), &|rank| negative(rank).is_some())?;
        negative(rank).map(|arc| (rank as u32, elimination.heads[arc]))
    }
}

/// The lengths for each of these weights, by the semiring `S`. `directed` is whether the two directions may differ.
///
/// # Errors
///
/// [`Error::InvalidRequest`] if they differ in an undirected graph; [`Error::OutOfMemory`].
pub(super) fn customize<S: MinPlus, const L: usize>(
    elimination: &Elimination,
    arcs: &Arcs,
    weights: [&[S::Weight]; L],
    directed: bool,
    elsewhere: Option<&dyn Elsewhere>,
) -> Result<[Lengths<S::Distance>; L]> {
    let shortcuts = elimination.heads.len();
    let mut up = Vec::with_capacity(L);
    let mut down = Vec::with_capacity(L);
    for weights in weights {
        up.push(arcs.up.lengths::<S>(shortcuts, weights)?);
        down.push(arcs.down.lengths::<S>(shortcuts, weights)?);
    }
    let symmetric = up.iter().zip(&down).all(|(up, down)| are_equal(up, down));
    if !symmetric && !directed {
        return Err(asymmetric());
    }
    if symmetric {
        down.iter_mut().for_each(|down| *down = Vec::new());
    }
    let lengths = elsewhere.filter(|_| L == 1).zip(unsettled(&mut up[0], &mut down[0]));
    if !lengths.is_some_and(|(elsewhere, lengths)| elsewhere.settle(lengths)) {
        eliminate::<S, L>(elimination, &mut up, &mut down, !symmetric)?;
    }
    let mut lengths = up.into_iter().zip(down);
    Ok(std::array::from_fn(|_| {
        let (up, down) = lengths.next().expect("there are so many");
        Lengths::new(up, (!symmetric).then_some(down))
    }))
}

/// Lengths of the graph's arcs that are to become those of shortcuts, upwards and downwards; those downwards are empty if they are the
/// same.
pub(crate) enum Unsettled<'a> {
    Narrow(&'a mut [u32], &'a mut [u32]),
    Wide(&'a mut [u64], &'a mut [u64]),
}

/// Who may settle lengths in the place of this CPU.
pub(crate) trait Elsewhere: Sync {
    /// Settles all of them, those of the hierarchy that this was made for; `false` if it can't. Then each is as it was, or settled.
    fn settle(&self, lengths: Unsettled<'_>) -> bool;
}

/// These lengths, if they are integers of 0 or more.
fn unsettled<'a, D: DistanceValue>(up: &'a mut [D], down: &'a mut [D]) -> Option<Unsettled<'a>> {
    use bytemuck::cast_slice_mut;
    let kind = TypeId::of::<D>();
    if kind == TypeId::of::<u32>() {
        Some(Unsettled::Narrow(cast_slice_mut(up), cast_slice_mut(down)))
    } else if kind == TypeId::of::<u64>() {
        Some(Unsettled::Wide(cast_slice_mut(up), cast_slice_mut(down)))
    } else {
        None
    }
}

fn slices<D, const L: usize>(arrays: &mut [Vec<D>]) -> [&mut [D]; L] {
    let mut arrays = arrays.iter_mut();
    std::array::from_fn(|_| &mut arrays.next().expect("there are so many")[..])
}

/// The error of an undirected graph's weights that are not those of one.
pub(super) fn asymmetric() -> Error {
    Error::invalid("the graph is undirected, but these weights differ in the two directions of an edge")
}

/// How many lengths a thread looks at before it asks whether others have found something.
const SOME: usize = 1 << 14;

/// Whether one of the values is such, asked by all threads.
pub(super) fn any<T: Sync>(values: &[T], is_such: impl Fn(&T) -> bool + Sync) -> bool {
    let is_none = |chunk: usize| !values[chunk * SOME..].iter().take(SOME).any(&is_such);
    !parallel::all(values.len().div_ceil(SOME), &is_none)
}

/// Whether two arrays are equal, asked by all threads.
fn are_equal<D: PartialEq + Sync>(a: &[D], b: &[D]) -> bool {
    let is_same = |chunk: usize| {
        let part = chunk * SOME..a.len().min((chunk + 1) * SOME);
        a[part.clone()] == b[part]
    };
    a.len() == b.len() && parallel::all(a.len().div_ceil(SOME), &is_same)
}

/// Settles all lengths.
fn eliminate<S: MinPlus, const L: usize>(
    elimination: &Elimination,
    up: &mut [Vec<S::Distance>],
    down: &mut [Vec<S::Distance>],
    directed: bool,
) -> Result<()> {
    let rows = Rows { start: 0, up: slices(up), down: slices(down) };
    settle::<S, L>(elimination, directed, &elimination.subtrees, 0..elimination.count(), rows).map(drop)
}

/// Settles the lengths of these ranks: of the last level's subtrees among them at the same time, and then of the others. Returns the
/// fronts that wait for vertices above.
fn settle<S: MinPlus, const L: usize>(
    elimination: &Elimination,
    directed: bool,
    levels: &[Vec<Range<usize>>],
    ranks: Range<usize>,
    mut rows: Rows<'_, S::Distance, L>,
) -> Result<Vec<Front<S::Distance, L>>> {
    let (subtrees, levels) = levels.split_last().map_or((&[][..], levels), |(last, levels)| (&last[..], levels));
    let inside = |end: usize| subtrees.partition_point(|subtree| subtree.start < end);
    let subtrees = &subtrees[inside(ranks.start)..inside(ranks.end)];
    let mut tasks = with_capacity("the subtrees of a hierarchy", subtrees.len())?;
    let mut rest = [&mut rows.up, &mut rows.down].map(|arrays| arrays.each_mut().map(|array| &mut **array));
    let mut at = rows.start;
    for subtree in subtrees {
        let [start, end] = [subtree.start, subtree.end].map(|rank| elimination.offsets[rank] as usize);
        let [up, down] = rest.each_mut().map(|arrays| arrays.each_mut().map(|array| cut(array, start - at, end - at)));
        tasks.push((subtree.clone(), Rows { start, up, down }));
        at = end;
    }
    let settle_inside = |(subtree, rows)| settle::<S, L>(elimination, directed, levels, subtree, rows);
    let fronts = parallel::collect_taken(tasks, settle_inside).into_iter().collect::<Result<Vec<_>>>()?;
    // Other threads have nothing else to do near the roots.
    let mut eliminating = Eliminating::new(elimination, directed, !subtrees.is_empty());
    let mut next = ranks.start;
    for (subtree, fronts) in subtrees.iter().zip(fronts) {
        eliminating.eliminate::<S>(next..subtree.start, &mut rows)?;
        fronts.into_iter().for_each(|front| eliminating.take_up(front));
        next = subtree.end;
    }
    eliminating.eliminate::<S>(next..ranks.end, &mut rows)?;
    Ok(eliminating.open)
}

/// Takes a range out of the front of a slice, and what is before it; of an empty slice, nothing.
pub(super) fn cut<'a, D>(values: &mut &'a mut [D], start: usize, end: usize) -> &'a mut [D] {
    if values.is_empty() {
        return Default::default();
    }
    let (front, rest) = std::mem::take(values).split_at_mut(end);
    *values = rest;
    &mut front[start..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Direction, F64ToF64, Graph, GraphBuilder, I32ToI64, U32ToU32, UnitToU32, VertexId, Weight};
    use crate::hierarchy::Hierarchy;
    use crate::hierarchy::fronts::has_wide_chain;
    use crate::hierarchy::tests::random_order;
    use crate::testing::{Random, TestWeight, one_of_every_shape, size};

    /// A random graph, whose separators are large, and a hub in it with leaves, of which some have another neighbour, and with
    /// neighbours of some degree.
    fn with_large_separators<W: TestWeight>(direction: Direction, random: &mut Random) -> Graph {
        let inner = size(120, 30);
        let hub = inner as VertexId;
        let mut edges = Vec::new();
        let mut any = || random.below(inner) as VertexId;
        (0..3 * inner).for_each(|_| edges.push((any(), any())));
        (0..inner / 2).for_each(|_| edges.push((hub, any())));
        for leaf in hub + 1..2 * hub {
            edges.push((hub, leaf));
            if leaf % 3 == 0 {
                edges.push((leaf, any()));
            }
        }
        for neighbor in 2 * hub..3 * hub {
            edges.push((hub, neighbor));
            (0..12).for_each(|_| edges.push((neighbor, any())));
        }
        let weighted = edges.iter().map(|&(u, v)| (u, v, W::draw(random))).collect::<Vec<_>>();
        GraphBuilder::new().direction(direction).build_from(weighted).unwrap()
    }

    /// The lengths by all lower triangles of each vertex, upwards and downwards.
    fn by_triangles<S: MinPlus>(hierarchy: &Hierarchy, weights: &[S::Weight]) -> [Vec<S::Distance>; 2] {
        let (elimination, arcs) = (&hierarchy.shared.elimination, &hierarchy.shared.arcs);
        let own = [&arcs.up, &arcs.down].map(|arcs| arcs.lengths::<S>(elimination.heads.len(), weights).unwrap());
        let [mut up, mut down] = own;
        for rank in 0..elimination.count() {
            for low in elimination.row(rank) {
                for high in low + 1..elimination.row(rank).end {
                    let place = elimination.place(elimination.heads[low], elimination.heads[high]).unwrap();
                    let ways = [S::join(down[low], up[high]), S::join(down[high], up[low])];
                    for (length, way) in [&mut up[place], &mut down[place]].into_iter().zip(ways) {
                        if way < *length {
                            *length = way;
                        }
                    }
                }
            }
        }
        [up, down]
    }

    /// Checks lengths that are settled alone and with seven others, and says whether some were settled in wide chains.
    fn check<S: MinPlus>(name: &str, hierarchy: &Hierarchy, random: &mut Random) -> bool
    where
        S::Weight: TestWeight,
    {
        let (elimination, arcs) = (&hierarchy.shared.elimination, &hierarchy.shared.arcs);
        let graph = hierarchy.graph();
        let own = S::Weight::of(graph.weights()).unwrap();
        // An undirected graph has the same weights in both directions.
        let draw = |random: &mut Random| -> Vec<S::Weight> {
            if graph.is_directed() { own.iter().map(|_| S::Weight::draw(random)).collect() } else { own.to_vec() }
        };
        let others: [_; 8] = std::array::from_fn(|lane| if lane == 3 { own.to_vec() } else { draw(random) });
        let all = others.each_ref().map(|weights| &weights[..]);
        let [alone] = customize::<S, 1>(elimination, arcs, [own], graph.is_directed(), None).unwrap();
        let together = customize::<S, 8>(elimination, arcs, all, graph.is_directed(), None).unwrap();
        let [up, down] = by_triangles::<S>(hierarchy, own);
        assert!(alone.up == up, "{name}: upwards");
        assert!(alone.down() == down, "{name}: downwards");
        for (one, weights) in together.iter().zip(all) {
            let [alone] = customize::<S, 1>(elimination, arcs, [weights], graph.is_directed(), None).unwrap();
            assert!(one.up == alone.up && one.down() == alone.down(), "{name}: of eight");
        }
        has_wide_chain(elimination)
    }

    fn check_all<S: MinPlus>(seed: u64)
    where
        S::Weight: TestWeight,
    {
        let mut random = Random(seed);
        let mut graphs = one_of_every_shape::<S::Weight>(seed);
        graphs.retain(|(_, graph)| graph.vertices() < 200);
        for direction in [Direction::Directed, Direction::Undirected] {
            let graph = with_large_separators::<S::Weight>(direction, &mut random);
            graphs.push((format!("a hub in a random graph, {direction:?}"), graph));
        }
        let mut wide = 0;
        for (name, graph) in graphs {
            let order = random_order(graph.vertices(), &mut random);
            let hubs_late: Vec<_> = (0..graph.vertices() as VertexId).rev().collect();
            let by_order = [order, hubs_late].map(|order| Hierarchy::with_order(graph.clone(), &order));
            for hierarchy in std::iter::once(Hierarchy::new(graph.clone())).chain(by_order) {
                wide += usize::from(check::<S>(&name, &hierarchy.unwrap(), &mut random));
            }
        }
        assert!(wide > size(3, 0), "{wide}");
    }

    #[test]
    fn lengths_are_the_least_of_all_triangles() {
        check_all::<UnitToU32>(81);
        check_all::<U32ToU32>(82);
        check_all::<I32ToI64>(83);
        check_all::<F64ToF64>(84);
    }
}
