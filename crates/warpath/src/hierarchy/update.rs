//! Other weights for a few arcs: settles what that changes, and no more.
//!
//! The length of a shortcut is the least of the graph's arcs along it and of its lower triangles. So it can only change if
//! one of these does. Shortcuts are settled in ascending order of their places, in which the two other sides of a lower
//! triangle come first. A length that has changed is handed on to the third side of each triangle above it, if that side
//! was as long as the way through the old one, or is longer than the way through the new one (Dibbelt, Strasser, Wagner,
//! *Customizable contraction hierarchies*, 2016, sect. 7.5).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use std::sync::OnceLock;

use super::Hierarchy;
use super::arcs::{Arcs, Direction};
use super::customization::{Lengths, any, asymmetric};
use super::customized::{Customized, is_lost, negative_cycle, negative_shortcut};
use super::earlier::Earlier;
use super::elimination::Elimination;
use super::metric::Metric;
use crate::graph::{DistanceValue, MinPlus, VertexId, Weight, Weights};
use crate::memory::{grow, listed, reserve, with_capacity};
use crate::{Error, Result};

/// A shortcut whose lengths have changed.
pub(super) struct Change<D> {
    pub(super) place: usize,
    /// The rank of its lower end.
    pub(super) low: u32,
    /// Its lengths upwards and downwards before.
    pub(super) before: [D; 2],
}

/// What shortcuts are settled with.
#[derive(Clone, Copy)]
pub(super) struct Settling<'a, S: MinPlus> {
    pub(super) elimination: &'a Elimination,
    pub(super) earlier: &'a Earlier,
    pub(super) arcs: &'a Arcs,
    pub(super) weights: &'a [S::Weight],
}

fn lower<D: PartialOrd>(value: &mut D, other: D) {
    if other < *value {
        *value = other;
    }
}

impl<S: MinPlus> Settling<'_, S> {
    /// The least of the arcs along a shortcut, upwards and downwards.
    pub(super) fn of_arcs(self, place: usize) -> [S::Distance; 2] {
        let least = |direction: &Direction| {
            let mut least = S::Distance::UNREACHABLE;
            for &(_, arc) in direction.at(place) {
                lower(&mut least, S::extend(S::Distance::ZERO, self.weights[arc as usize]));
            }
            least
        };
        [least(&self.arcs.up), least(&self.arcs.down)]
    }

    /// The lengths of a shortcut by its arcs and lower triangles.
    fn settled(self, lengths: &Lengths<S::Distance>, place: usize, low: u32) -> [S::Distance; 2] {
        let elimination = self.elimination;
        let mut settled = self.of_arcs(place);
        for &(middle, first) in self.earlier.of(low) {
            if let Some(second) = elimination.place(middle, elimination.heads[place]) {
                let ([up, down], [on, back]) = (lengths.at(first as usize), lengths.at(second));
                lower(&mut settled[0], S::join(down, on));
                lower(&mut settled[1], S::join(back, up));
            }
        }
        settled
    }

    /// Settles the shortcuts at these places, and all others that change with them, and lists those that have changed in
    /// ascending order. O(triangles of the shortcuts that change, x log).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory); `changes` are those so far.
    pub(super) fn settle(
        self,
        lengths: &mut Lengths<S::Distance>,
        places: &[(u32, u32)],
        changes: &mut Vec<Change<S::Distance>>,
    ) -> Result<()> {
        const WHAT: &str = "the shortcuts that change";
        let mut pending = BinaryHeap::new();
        reserve(WHAT, &mut pending, places.len())?;
        pending.extend(places.iter().copied().map(Reverse));
        let mut last = None;
        while let Some(Reverse((place, low))) = pending.pop() {
            if last.replace(place) == Some(place) {
                continue;
            }
            let place = place as usize;
            let (before, now) = (lengths.at(place), self.settled(lengths, place, low));
            if now == before {
                continue;
            }
            grow(WHAT, changes, 1)?;
            changes.push(Change { place, low, before });
            lengths.set(place, now);
            for other in self.elimination.row(low as usize) {
                if other != place
                    && let Some(third) = self.third(lengths, place, other, before)
                {
                    reserve(WHAT, &mut pending, 1)?;
                    pending.push(Reverse(third));
                }
            }
        }
        Ok(())
    }

    /// The place of the third side of a triangle and the rank of its lower end, if the change of the side at `place` can
    /// matter to it.
    fn third(
        self,
        lengths: &Lengths<S::Distance>,
        place: usize,
        other: usize,
        before: [S::Distance; 2],
    ) -> Option<(u32, u32)> {
        let (head, end) = (self.elimination.heads[place], self.elimination.heads[other]);
        let low = head.min(end);
        let third = self.elimination.place(low, head.max(end)).expect("later neighbours of a vertex are neighbours");
        let [up, down] = lengths.at(other);
        // The ways from the head of the one side to that of the other, and back.
        let ways = |side: [S::Distance; 2]| [S::join(side[1], up), S::join(down, side[0])];
        let (old, new) = (ways(before), ways(lengths.at(place)));
        let mut lengths = lengths.at(third);
        if end < head {
            lengths.reverse();
        }
        let matters = |way: usize| old[way] != new[way] && (old[way] == lengths[way] || new[way] < lengths[way]);
        (matters(0) || matters(1)).then_some((third as u32, low))
    }
}

impl Metric {
    /// Gives some arcs of the graph, by their places in its rows, other weights, which are of the type of the metric's
    /// weights and in the order of `arcs`. Answers are then those of a metric that was customized for the new weights. If an
    /// arc is there twice, the last weight counts. O(x log) of the triangles of the shortcuts that change.
    ///
    /// ```
    /// use warpath::graph::Weights;
    /// let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
    /// let hierarchy = warpath::hierarchy::Hierarchy::new(graph)?;
    /// let mut metric = hierarchy.customize(hierarchy.graph().weights())?;
    /// // A jam on the way from 0 to 1, the first arc.
    /// metric.update(&[0], &Weights::U32(vec![50]))?;
    /// assert_eq!(metric.distance(0, 2)?.map(|distance| distance.to_f64()), Some(20.0));
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there is no such arc, if there are not as many weights as arcs, if they are of another
    /// type, or if the graph is undirected and the two directions of an edge would differ; [`Error::NegativeCycle`];
    /// [`Error::OutOfMemory`]. The metric is as before then.
    pub fn update(&mut self, arcs: &[usize], weights: &Weights) -> Result<()> {
        let all = self.weights.len();
        if weights.len() != arcs.len() || weights.kind() != self.weights.kind() {
            let (given, kind, wanted) = (weights.len(), weights.kind(), self.weights.kind());
            let message = format!("there are {given} weights of type {kind}, for {} arcs of type {wanted}", arcs.len());
            return Err(Error::invalid(message));
        }
        if let Some(arc) = arcs.iter().find(|&&arc| arc >= all) {
            return Err(Error::invalid(format!("there is no arc {arc}: the graph has {all}")));
        }
        weights.check()?;
        let old = selected(&self.weights, arcs)?;
        assign(&mut self.weights, arcs, weights);
        let hierarchy = &self.hierarchy;
        if let Err(error) = self.narrow.update(hierarchy, &self.weights, arcs) {
            assign(&mut self.weights, arcs, &old);
            return Err(error);
        }
        // Wide lengths are made again where they are wanted.
        if let Some(wide) = self.wide.get_mut()
            && wide.update(hierarchy, &self.weights, arcs).is_err()
        {
            self.wide = OnceLock::new();
        }
        Ok(())
    }
}

/// The weights of these arcs.
fn selected(weights: &Weights, arcs: &[usize]) -> Result<Weights> {
    fn pick<W: Copy>(values: &[W], arcs: &[usize]) -> Result<Vec<W>> {
        listed("weights", arcs.iter().map(|&arc| values[arc]))
    }
    Ok(match weights {
        Weights::Unit(values) => Weights::Unit(pick(values, arcs)?),
        Weights::U32(values) => Weights::U32(pick(values, arcs)?),
        Weights::I32(values) => Weights::I32(pick(values, arcs)?),
        Weights::F32(values) => Weights::F32(pick(values, arcs)?),
        Weights::F64(values) => Weights::F64(pick(values, arcs)?),
    })
}

/// Gives these arcs weights of the same type.
fn assign(weights: &mut Weights, arcs: &[usize], new: &Weights) {
    fn put<W: Copy>(values: &mut [W], arcs: &[usize], new: &[W]) {
        arcs.iter().zip(new).for_each(|(&arc, &weight)| values[arc] = weight);
    }
    match (weights, new) {
        (Weights::U32(values), Weights::U32(new)) => put(values, arcs, new),
        (Weights::I32(values), Weights::I32(new)) => put(values, arcs, new),
        (Weights::F32(values), Weights::F32(new)) => put(values, arcs, new),
        (Weights::F64(values), Weights::F64(new)) => put(values, arcs, new),
        // Unit weights are all the same, and other pairs of types have been refused.
        _ => {}
    }
}

impl<S: MinPlus> Customized<S> {
    /// Settles what changes with the weights of these arcs, which are new; as before after an error.
    pub(super) fn settle(&mut self, hierarchy: &Hierarchy, weights: &Weights, arcs: &[usize]) -> Result<()> {
        let values = S::Weight::of(weights).expect("the semiring is for these weights");
        let shared = &*hierarchy.shared;
        let elimination = &shared.elimination;
        let settling = Settling::<S> { elimination, earlier: shared.earlier()?, arcs: &shared.arcs, weights: values };
        let places = self.places(hierarchy, weights, arcs)?;
        if self.lengths.is_symmetric() {
            let differ = |&(place, _): &(u32, u32)| {
                let [up, down] = settling.of_arcs(place as usize);
                up != down
            };
            if places.iter().any(differ) {
                if !hierarchy.graph.is_directed() {
                    return Err(asymmetric());
                }
                self.lengths.divide()?;
            }
        }
        let mut changes = Vec::new();
        let may_be_negative = self.lengths.may_be_negative;
        let settled = settling.settle(&mut self.lengths, &places, &mut changes).and_then(|()| {
            let negative =
                |change: &Change<S::Distance>| self.lengths.at(change.place).iter().any(|&d| d < S::Distance::ZERO);
            self.lengths.may_be_negative |= changes.iter().any(negative);
            let is_negative = |change: &&Change<S::Distance>| {
                let [up, down] = self.lengths.at(change.place);
                S::join(up, down) < S::Distance::ZERO
            };
            let Some(change) = changes.iter().find(is_negative) else { return Ok(()) };
            let ends = (change.low, shared.elimination.heads[change.place]);
            Err(negative_shortcut::<S>(hierarchy, weights, &self.lengths, ends))
        });
        if let Err(error) = settled {
            changes.iter().for_each(|change| self.lengths.set(change.place, change.before));
            self.lengths.may_be_negative = may_be_negative;
            return Err(error);
        }
        if changes.iter().any(|change| change.before.contains(&self.greatest)) {
            self.greatest = self.lengths.greatest();
        }
        for change in &changes {
            for length in self.lengths.at(change.place) {
                if length != S::Distance::UNREACHABLE && self.greatest < length {
                    self.greatest = length;
                }
            }
        }
        self.has_lost_weights = if self.has_lost_weights {
            any(values, |&weight| is_lost::<S>(weight))
        } else {
            arcs.iter().any(|&arc| is_lost::<S>(values[arc]))
        };
        self.find_limits(shared.elimination.height());
        Ok(())
    }

    /// The places of the shortcuts along which these arcs run, with the ranks of their lower ends.
    ///
    /// # Errors
    ///
    /// [`Error::NegativeCycle`] if one is a loop of negative weight; [`Error::OutOfMemory`].
    fn places(&self, hierarchy: &Hierarchy, weights: &Weights, arcs: &[usize]) -> Result<Vec<(u32, u32)>> {
        let (csr, elimination) = (hierarchy.graph.csr(), &hierarchy.shared.elimination);
        let values = S::Weight::of(weights).expect("the semiring is for these weights");
        let mut places = with_capacity("the shortcuts that change", arcs.len())?;
        for &arc in arcs {
            let tail = csr.offsets().partition_point(|&offset| offset <= arc as u64) as VertexId - 1;
            let head = csr.targets()[arc];
            if head != tail {
                let [low, high] = elimination.low_and_high(tail, head);
                let place = elimination.place(low, high).expect("every arc has a shortcut");
                places.push((place as u32, low));
            } else if S::extend(S::Distance::ZERO, values[arc]) < S::Distance::ZERO {
                return Err(negative_cycle(&hierarchy.graph, weights, vec![tail]));
            }
        }
        Ok(places)
    }
}
