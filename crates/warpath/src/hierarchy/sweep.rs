//! Distances from many sources: one sweep for sixteen of them.
//!
//! A sweep from the roots down looks at every shortcut once, and waits for memory more than it computes. Sixteen sources share
//! the looks: each vertex has a row of sixteen distances, a line of cache if they have 32 bits, and a shortcut lowers the row
//! of one vertex by that of another in a few vector instructions.
//!
//! Ranks are in postorder. So a sweep from the last rank to the first comes to a vertex while all of its ancestors are open,
//! and the rows of the ancestors are a stack, by their depths: small enough for the cache. The rows of all other vertices are
//! needed only for their distances, which go to the arrays of the sources after each window of ranks ([`windows`]). Where only
//! facts about all distances from each source are wanted, they are added up after each few ranks, and more sources can share a
//! sweep, since nothing else is written.
//!
//! A sweep to some targets goes over their ancestors alone ([`Selection`]), whose *places* stand for ranks.
//!
//! [`windows`]: super::windows

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::customization::Lengths;
use super::destination::{Destination, LANES};
use super::elimination::{Elimination, ROOT};
use super::selection::Selection;
use super::windows::{WINDOW, Windows};
use crate::graph::{DistanceValue, MinPlus, VertexId};
use crate::instructions::with_widest_instructions;
use crate::memory::filled;
use crate::problems::{Facts, RowFacts, RowsByColumn};
use crate::{Result, parallel};

/// How many distances of a source are written at once where their columns follow each other, and how many rows add up their facts
/// at once.
const TOGETHER: usize = crate::problems::TOGETHER;

/// What memory of these is short of.
const WHAT: &str = "the distances of a sweep";

/// How many sources share a sweep for facts alone, if there are enough of them for all threads.
const MANY: usize = 64;

/// How many places a sweep for facts goes down before it adds up: their rows from 64 sources take 64 KiB.
const SOME: usize = if cfg!(test) { 1 << 4 } else { 1 << 8 };

/// The distances of a vertex from each source.
pub(super) type Row<D, const L: usize> = [D; L];

/// Where a sweep begins: the place of an ancestor of a source, the source's lane, and the distance between them. Descending
/// places.
pub(super) type Start<D> = (u32, usize, D);

/// The ancestors of the sources of a sweep.
pub(super) struct Starts<D, const L: usize> {
    /// Those that are selected, in descending order.
    pub(super) selected: Vec<Start<D>>,
    /// All others, unless what is swept is selected, by sources, with ascending ranks in the place of places.
    pub(super) others: Vec<Start<D>>,
    /// Which sources are certain to have lost no distance on the way up.
    pub(super) certain: [bool; L],
}

/// The bytes that a thread works on for each of the sources of a sweep: their distances, and rows of a window and of a
/// vertex's ancestors, which are taken to be no more than a window has.
pub(crate) fn bytes_of_sweep(vertices: u64, distance_bytes: u64) -> u64 {
    let rows = vertices.min(WINDOW as u64).saturating_mul(2);
    vertices.saturating_add(rows).saturating_mul(distance_bytes)
}

/// Shortcuts downwards, to places from ancestors, which have greater places.
#[derive(Clone, Copy)]
pub(super) struct Tree<'a, D> {
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

impl<'a, D: DistanceValue> Tree<'a, D> {
    pub(super) fn of(selection: &'a Selection<D>) -> Self {
        Tree {
            offsets: &selection.offsets,
            depths: &selection.depths,
            head_depths: &selection.head_depths,
            down: &selection.down,
            columns: &selection.targets,
            windows: &selection.windows,
        }
    }
}

/// Takes the facts about the distances from the source at a place in the list, and whether they are certain.
pub(super) type VisitFacts<'v> = dyn Fn(usize, RowFacts, bool) -> Result<()> + Sync + 'v;

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
    /// Puts the distances from each source where they go, on all threads: by vertex, or to the targets in their order. O(shortcuts that
    /// matter) for each source, and for each thread memory for as many rows as a window and the tree's height have places.
    pub(super) fn sweep_each(&self, sources: &[VertexId], to: &impl Destination<S::Distance>) -> Result<()> {
        let tree = self.tree();
        self.in_blocks::<LANES, _>(
            sources,
            || {
                let rows = filled(WHAT, tree.windows.most_places(), [S::Distance::UNREACHABLE; LANES])?;
                Ok((rows, to.prepare(tree.columns.len())?))
            },
            |(rows, own), ancestors, first, block| {
                let Starts { selected, mut certain, .. } = self.starts::<LANES>(block, self.selection);
                to.rows(own, first, block.len(), |distances| {
                    let mut starts = &selected[..];
                    for (places, columns) in tree.windows.descending() {
                        let rows = &mut rows[..places.len()];
                        starts = ancestors.sweep::<S>(tree, places.clone(), starts, rows);
                        if self.safe.is_some() {
                            for row in &*rows {
                                let distances = certain.iter_mut().zip(row);
                                distances.for_each(|(certain, &distance)| *certain &= self.is_certain(distance));
                            }
                        }
                        hand_out(tree, places.start, columns, rows, distances);
                    }
                    certain
                })
            },
        )
    }

    /// Hands the facts about the distances from each source to all vertices to `visit` with the source's place in the list, on
    /// all threads. O(shortcuts) for each source, and for each thread memory for as many rows as the tree's height has places.
    pub(super) fn facts_of_each(&self, sources: &[VertexId], visit: &VisitFacts<'_>) -> Result<()>
    where
        S::Distance: Facts,
    {
        if sources.len().div_ceil(MANY) >= rayon::current_num_threads() {
            self.facts_in_blocks::<MANY>(sources, visit)
        } else {
            self.facts_in_blocks::<LANES>(sources, visit)
        }
    }

    fn facts_in_blocks<const L: usize>(&self, sources: &[VertexId], visit: &VisitFacts<'_>) -> Result<()>
    where
        S::Distance: Facts,
    {
        let tree = self.tree();
        self.in_blocks::<L, _>(
            sources,
            || filled(WHAT, SOME.min(tree.depths.len()), [S::Distance::UNREACHABLE; L]),
            |rows, ancestors, first, block| {
                let Starts { selected, certain, .. } = self.starts::<L>(block, self.selection);
                let mut starts = &selected[..];
                let mut facts = [RowsByColumn::new(); MANY / TOGETHER];
                let facts = &mut facts[..L / TOGETHER];
                let mut end = tree.depths.len();
                while end > 0 {
                    let places = end.saturating_sub(SOME)..end;
                    end = places.start;
                    let rows = &mut rows[..places.len()];
                    starts = ancestors.sweep::<S>(tree, places, starts, rows);
                    add_up(rows, facts);
                }
                for (lane, certain) in certain[..block.len()].iter().enumerate() {
                    let (facts, row) = (&facts[lane / TOGETHER], lane % TOGETHER);
                    let is_safe = |safe: S::Distance| facts.greatest(row).is_none_or(|greatest| greatest <= safe);
                    visit(first + lane, facts.facts(row), *certain && self.safe.is_none_or(is_safe))?;
                }
                Ok(())
            },
        )
    }

    /// Calls `work` with each block of as many sources as share a sweep, and the place of the first, on all threads. Each thread has
    /// a stack of ancestors, and what `prepare` makes.
    pub(super) fn in_blocks<const L: usize, T>(
        &self,
        sources: &[VertexId],
        prepare: impl Fn() -> Result<T> + Sync,
        work: impl Fn(&mut T, &mut Ancestors<S::Distance, L>, usize, &[VertexId]) -> Result<()> + Sync,
    ) -> Result<()> {
        let blocks = sources.len().div_ceil(L);
        let next = AtomicUsize::new(0);
        parallel::on_threads(blocks, &|| {
            let mut own = prepare()?;
            let mut ancestors = Ancestors::new(self.elimination.height())?;
            loop {
                let first = next.fetch_add(1, Ordering::Relaxed) * L;
                let Some(block) = sources.get(first..).filter(|rest| !rest.is_empty()) else { return Ok(()) };
                work(&mut own, &mut ancestors, first, &block[..block.len().min(L)])?;
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
            Some(selection) => Tree::of(selection),
        }
    }

    /// The ancestors of the sources, with their distances on the way up.
    pub(super) fn starts<const L: usize>(
        &self,
        sources: &[VertexId],
        selection: Option<&Selection<S::Distance>>,
    ) -> Starts<S::Distance, L> {
        let mut starts = Starts { selected: Vec::new(), others: Vec::new(), certain: [true; L] };
        for (lane, &source) in sources.iter().enumerate() {
            let mut rank = self.elimination.ranks[source as usize];
            let distances = super::query::climb::<S>(self.elimination, &self.lengths.up, rank);
            while rank != ROOT {
                let distance = distances[self.elimination.depths[rank as usize] as usize];
                let place = selection.map_or(rank, |selection| selection.places[rank as usize]);
                starts.certain[lane] &= self.is_certain(distance);
                match place {
                    ROOT if self.selection.is_none() => starts.others.push((rank, lane, distance)),
                    ROOT => {}
                    _ if distance != S::Distance::UNREACHABLE => starts.selected.push((place, lane, distance)),
                    _ => {}
                }
                rank = self.elimination.parents[rank as usize];
            }
        }
        starts.selected.sort_unstable_by_key(|&(place, lane, _)| (std::cmp::Reverse(place), lane));
        starts
    }

    /// Whether a distance shows that none was lost before it.
    pub(super) fn is_certain(&self, distance: S::Distance) -> bool {
        distance == S::Distance::UNREACHABLE || self.safe.is_none_or(|safe| distance <= safe)
    }
}

/// The rows of the ancestors of the place that a sweep has come to, by their depths.
pub(super) struct Ancestors<D, const L: usize>(Vec<Row<D, L>>);

impl<D: DistanceValue, const L: usize> Ancestors<D, L> {
    fn new(height: usize) -> Result<Self> {
        Ok(Ancestors(filled(WHAT, height, [D::UNREACHABLE; L])?))
    }

    /// Goes on to places that follow each other below those before, and fills their rows, with the widest vector instructions that
    /// there are. Returns the starts below.
    pub(super) fn sweep<'s, S: MinPlus<Distance = D>>(
        &mut self,
        tree: Tree<'_, D>,
        places: Range<usize>,
        starts: &'s [Start<D>],
        rows: &mut [Row<D, L>],
    ) -> &'s [Start<D>] {
        let ahead = starts.partition_point(|start| start.0 as usize >= places.start);
        let (starts, below) = starts.split_at(ahead);
        with_widest_instructions!(
            [S: MinPlus, const L: usize] [S, L]
            (
                ancestors: &mut [Row<S::Distance, L>] = &mut self.0,
                tree: Tree<'_, S::Distance> = tree,
                places: Range<usize> = places,
                starts: &[Start<S::Distance>] = starts,
                rows: &mut [Row<S::Distance, L>] = rows,
            ) -> () { sweep_anywhere::<S, L>(ancestors, tree, places, starts, rows) }
        );
        below
    }
}

#[inline(always)]
fn sweep_anywhere<S: MinPlus, const L: usize>(
    ancestors: &mut [Row<S::Distance, L>],
    tree: Tree<'_, S::Distance>,
    places: Range<usize>,
    mut starts: &[Start<S::Distance>],
    rows: &mut [Row<S::Distance, L>],
) {
    for (place, kept) in places.zip(rows).rev() {
        let mut row = [S::Distance::UNREACHABLE; L];
        if starts.first().is_some_and(|start| start.0 as usize == place) {
            row = first_row(&mut starts);
        }
        let arcs = tree.offsets[place] as usize..tree.offsets[place + 1] as usize;
        for (&depth, &length) in tree.head_depths[arcs.clone()].iter().zip(&tree.down[arcs]) {
            for (mine, &theirs) in row.iter_mut().zip(&ancestors[depth as usize]) {
                let distance = S::join(theirs, length);
                *mine = if distance < *mine { distance } else { *mine };
            }
        }
        ancestors[tree.depths[place] as usize] = row;
        *kept = row;
    }
}

/// Adds the facts of these rows of places to those of the sources, with the widest vector instructions that there are.
fn add_up<D: Facts, const L: usize>(rows: &[Row<D, L>], facts: &mut [RowsByColumn<D>]) {
    with_widest_instructions!(
        [D: Facts, const L: usize] [D, L] (rows: &[Row<D, L>] = rows, facts: &mut [RowsByColumn<D>] = facts) -> () {
            for (group, facts) in facts.iter_mut().enumerate() {
                facts.add(rows.iter().map(|row| &row.as_chunks().0[group]));
            }
        }
    );
}

/// Writes the rows of a window, whose places begin with `first`, to the arrays of distances.
fn hand_out<D: DistanceValue>(
    tree: Tree<'_, D>,
    first: usize,
    columns: &[u32],
    rows: &[Row<D, LANES>],
    distances: &mut [&mut [D]],
) {
    let row = |column: u32| &rows[tree.columns[column as usize] as usize - first];
    let mut rest = columns;
    while let Some(&column) = rest.first() {
        let start = column as usize;
        match rest.get(TOGETHER - 1) {
            Some(&last) if last - column == TOGETHER as u32 - 1 => {
                let rows: [&Row<D, LANES>; TOGETHER] = std::array::from_fn(|i| row(column + i as u32));
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

/// The row of the place of the first starts, before anything comes from its ancestors, and the starts of places below. Apart,
/// so that rows of other places stay in registers.
#[inline(never)]
fn first_row<D: DistanceValue, const L: usize>(starts: &mut &[Start<D>]) -> Row<D, L> {
    let mut row = [D::UNREACHABLE; L];
    if let Some(&(place, ..)) = starts.first() {
        let (here, below) = starts.split_at(starts.partition_point(|start| start.0 >= place));
        here.iter().for_each(|&(_, lane, distance)| row[lane] = distance);
        *starts = below;
    }
    row
}
