//! What answers by one semiring: the lengths of shortcuts, and what is known of them.

use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::customization::{Elsewhere, Lengths, any, customize};
use super::destination::{Destination, Visited};
use super::labels::Labels;
use super::selection::Selection;
use super::sweep::Swept;
use super::{Hierarchy, Shared, one_source, query};
use crate::error::NegativeCycle;
use crate::graph::{
    Adjacency, Distance, DistanceValue, Distances, Graph, MinPlus, VertexId, Weight, WeightKind, Weights, with_min_plus,
};
use crate::memory::{available_memory, spendable, with_capacity};
use crate::problems::{Facts, Path, RowFacts};
use crate::{Error, Result, parallel};

/// For so many rows labels pay: they take as long as they save then. In tests for more than are asked for at first.
pub(crate) const ROWS_FOR_LABELS: usize = if cfg!(test) { 48 } else { 256 };

/// What is done with the distances from the source at a place in the list: `None` where one may be too great.
pub(super) type Visit<'v> = dyn Fn(usize, Option<&Distances>) -> Result<()> + Sync + 'v;

/// The same with facts about these distances.
pub(super) type VisitFacts<'v> = dyn Fn(usize, Option<&RowFacts>) -> Result<()> + Sync + 'v;

/// Where distances from each source are wanted.
#[derive(Clone, Copy)]
pub(super) enum Targets<'t> {
    /// To all vertices. Labels may take so many bytes; [`u64::MAX`] if nobody has said so.
    All(u64),
    /// To these, in their order.
    These(&'t [VertexId]),
}

/// Answers by one semiring; `None` where a distance may be too great for it.
pub(super) trait Answers: Any + Send + Sync {
    fn distances_from(&self, shared: &Shared, sources: &[VertexId], threads: usize) -> Result<Option<Distances>>;
    /// Visits the distances from each source with its place in the list.
    fn distances_from_each(
        &self,
        shared: &Shared,
        sources: &[VertexId],
        targets: Targets<'_>,
        visit: &Visit<'_>,
    ) -> Result<()>;
    /// Visits the facts about the distances from each source to all vertices with its place in the list.
    fn facts_of_each(&self, shared: &Shared, sources: &[VertexId], visit: &VisitFacts<'_>) -> Result<()>;
    fn distance(&self, shared: &Shared, source: VertexId, target: VertexId) -> Option<Option<Distance>>;
    fn path(&self, shared: &Shared, source: VertexId, target: VertexId) -> Result<Option<Option<Path>>>;
    /// Settles what changes with the weights of these arcs, which are new; as before after an error.
    fn update(&mut self, hierarchy: &Hierarchy, weights: &Weights, arcs: &[usize]) -> Result<()>;
    /// Whether no length was too great.
    fn is_whole(&self) -> bool;
    /// The [`Lengths`].
    fn lengths(&self) -> &dyn Any;
}

/// Lengths by the semiring `S`.
pub(super) struct Customized<S: MinPlus> {
    pub(super) lengths: Lengths<S::Distance>,
    /// The greatest length that is one.
    pub(super) greatest: S::Distance,
    /// Whether a weight is itself out of range.
    pub(super) has_lost_weights: bool,
    /// If a distance or more was lost by an overflow, one of the same source is greater than this.
    safe: S::Distance,
    /// Whether no distance at all can overflow.
    always_safe: bool,
    /// Once so many rows were asked for that they pay.
    labels: OnceLock<Option<Labels<S::Distance>>>,
    /// Held while they are made.
    making: Mutex<()>,
    /// How many rows were asked for.
    rows: AtomicUsize,
}
/// The lengths for each of these weights, which have the same type, by the narrow or the wide semiring.
pub(super) fn customized(
    hierarchy: &Hierarchy,
    weights: &[Weights],
    wide: bool,
    elsewhere: Option<&dyn Elsewhere>,
) -> Result<Vec<Box<dyn Answers>>> {
    let Some(first) = weights.first() else { return Ok(Vec::new()) };
    let mut all: Vec<Box<dyn Answers>> = with_capacity("metrics", weights.len())?;
    with_min_plus!(first.kind(), wide, S => {
        let eights = weights.chunks_exact(EIGHT);
        let others = eights.remainder();
        for eight in eights {
            let eight = customized_by::<S, EIGHT>(hierarchy, std::array::from_fn(|lane| &eight[lane]), None)?;
            all.extend(eight.into_iter().map(|one| Box::new(one) as Box<dyn Answers>));
        }
        // Fewer are worth the work of eight if there are several.
        if others.len() > 2 {
            let eight = std::array::from_fn(|lane| &others[lane.min(others.len() - 1)]);
            let eight = customized_by::<S, EIGHT>(hierarchy, eight, None)?;
            all.extend(eight.into_iter().take(others.len()).map(|one| Box::new(one) as Box<dyn Answers>));
        } else {
            for weights in others {
                let [one] = customized_by::<S, 1>(hierarchy, [weights], elsewhere)?;
                all.push(Box::new(one));
            }
        }
    });
    Ok(all)
}

/// How many metrics are customized together: as many as 32-bit lengths fill a vector of 256 bits.
const EIGHT: usize = 8;

fn customized_by<S: MinPlus, const L: usize>(
    hierarchy: &Hierarchy,
    weights: [&Weights; L],
    elsewhere: Option<&dyn Elsewhere>,
) -> Result<[Customized<S>; L]> {
    let (csr, shared) = (hierarchy.graph.csr(), &hierarchy.shared);
    let elimination = &shared.elimination;
    let values = weights.map(|weights| S::Weight::of(weights).expect("the semiring is for these weights"));
    for lane in 0..L {
        let arcs = Adjacency { offsets: csr.offsets(), targets: csr.targets(), weights: values[lane] };
        let is_negative = |v: usize| {
            let loops = arcs.edges(v as VertexId).filter(|&(head, _)| head as usize == v);
            loops.map(|(_, weight)| S::extend(S::Distance::ZERO, weight)).any(|length| length < S::Distance::ZERO)
        };
        if any(values[lane], |&weight| S::extend(S::Distance::ZERO, weight) < S::Distance::ZERO)
            && let Some(v) = parallel::find_first(csr.vertices(), &is_negative)
        {
            return Err(negative_cycle(&hierarchy.graph, weights[lane], vec![v as VertexId]));
        }
    }
    let all = customize::<S, L>(elimination, &shared.arcs, values, hierarchy.graph.is_directed(), elsewhere)?;
    for (lengths, weights) in all.iter().zip(weights) {
        if let Some(ends) = lengths.negative::<S>(elimination) {
            return Err(negative_shortcut::<S>(hierarchy, weights, lengths, ends));
        }
    }
    let mut values = values.into_iter();
    Ok(all.map(|lengths| {
        let values = values.next().expect("there are as many");
        let (greatest, has_lost_weights) = (lengths.greatest(), any(values, |&weight| is_lost::<S>(weight)));
        let mut customized = Customized {
            lengths,
            greatest,
            has_lost_weights,
            safe: S::Distance::ZERO,
            always_safe: false,
            labels: OnceLock::new(),
            making: Mutex::new(()),
            rows: AtomicUsize::new(0),
        };
        customized.find_limits(elimination.height());
        customized
    }))
}

/// Whether a weight is itself out of range.
pub(super) fn is_lost<S: MinPlus>(weight: S::Weight) -> bool {
    S::extend(S::Distance::ZERO, weight) == S::Distance::UNREACHABLE
}

/// The negative cycle of a shortcut and its way back, by the ranks of its ends.
pub(super) fn negative_shortcut<S: MinPlus>(
    hierarchy: &Hierarchy,
    weights: &Weights,
    lengths: &Lengths<S::Distance>,
    (low, high): (u32, u32),
) -> Error {
    let elimination = &hierarchy.shared.elimination;
    let earlier = match hierarchy.shared.earlier() {
        Ok(earlier) => earlier,
        Err(error) => return error,
    };
    let mut walk = Vec::new();
    query::unpack::<S>(elimination, earlier, lengths, low, high, &mut walk);
    query::unpack::<S>(elimination, earlier, lengths, high, low, &mut walk);
    negative_cycle(&hierarchy.graph, weights, walk)
}

/// The negative cycle in a closed walk of negative length.
pub(super) fn negative_cycle(graph: &Graph, weights: &Weights, walk: Vec<VertexId>) -> Error {
    let graph = match graph.reweighted(weights.clone()) {
        Ok(graph) => graph,
        Err(error) => return error,
    };
    // Cut off each circle when the walk comes back to a vertex; the lengths of all circles add up to the walk's.
    let mut open: Vec<VertexId> = Vec::new();
    for v in walk {
        if let Some(place) = open.iter().position(|&u| u == v) {
            if let Some(cycle) = NegativeCycle::through(&graph, &open[place..]) {
                return Error::NegativeCycle(Box::new(cycle));
            }
            open.truncate(place);
        }
        open.push(v);
    }
    match NegativeCycle::through(&graph, &open) {
        Some(cycle) => Error::NegativeCycle(Box::new(cycle)),
        None => Error::invalid("the weights have a cycle whose sum rounds to less than zero"),
    }
}

impl<S: MinPlus> Answers for Customized<S>
where
    S::Distance: Facts,
{
    fn distances_from(&self, shared: &Shared, sources: &[VertexId], threads: usize) -> Result<Option<Distances>> {
        let distances = one_source::from::<S>(&shared.elimination, &self.lengths, sources, threads)?;
        Ok(self.are_right(&distances).then(|| S::Distance::into_distances(distances)))
    }

    fn distances_from_each(
        &self,
        shared: &Shared,
        sources: &[VertexId],
        targets: Targets<'_>,
        visit: &Visit<'_>,
    ) -> Result<()> {
        let take = |place: usize, distances: Vec<S::Distance>, certain: bool| {
            if !certain {
                visit(place, None)?;
                return Ok(distances);
            }
            let distances = S::Distance::into_distances(distances);
            visit(place, Some(&distances))?;
            Ok(S::Distance::into_vec(distances).expect("they have this type"))
        };
        self.put_rows(shared, sources, targets, &Visited(&take))
    }

    fn facts_of_each(&self, shared: &Shared, sources: &[VertexId], visit: &VisitFacts<'_>) -> Result<()> {
        self.swept(shared, None)
            .facts_of_each(sources, &|place, facts, certain| visit(place, certain.then_some(&facts)))
    }

    fn distance(&self, shared: &Shared, source: VertexId, target: VertexId) -> Option<Option<Distance>> {
        let length = query::length::<S>(&shared.elimination, &self.lengths, source, target);
        self.is_right(length).then(|| length.distance())
    }

    fn path(&self, shared: &Shared, source: VertexId, target: VertexId) -> Result<Option<Option<Path>>> {
        let earlier = shared.earlier()?;
        let found = query::path::<S>(&shared.elimination, earlier, &self.lengths, source, target);
        let Some((length, vertices)) = found else { return Ok(self.always_safe.then_some(None)) };
        Ok(self.is_right(length).then(|| length.distance().map(|length| Path::new(vertices, length))))
    }

    fn update(&mut self, hierarchy: &Hierarchy, weights: &Weights, arcs: &[usize]) -> Result<()> {
        self.labels = OnceLock::new();
        *self.rows.get_mut() = 0;
        self.settle(hierarchy, weights, arcs)
    }

    fn is_whole(&self) -> bool {
        !self.has_lost_weights && S::join(self.greatest, self.greatest) != S::Distance::UNREACHABLE
    }

    fn lengths(&self) -> &dyn Any {
        &self.lengths
    }
}

impl<S: MinPlus> Customized<S> {
    /// Finds out which distances are safe from overflows. A shortest way goes up the tree and down again, by at most twice
    /// `height` arcs.
    pub(super) fn find_limits(&mut self, height: usize) {
        let greatest = self.greatest.to_f64().abs();
        self.safe = S::Distance::at_most_float(S::Distance::LIMIT - greatest);
        self.always_safe = 2.0 * height as f64 * greatest < S::Distance::LIMIT;
    }

    /// Labels, if they are there or pay: for integers, whose sums do not depend on their order, once there are so many rows with these that
    /// are asked for now; and if memory has room.
    fn labels(&self, shared: &Shared, rows: usize, room: u64) -> Option<&Labels<S::Distance>> {
        if let Some(there) = self.labels.get() {
            return there.as_ref();
        }
        let are_floats = matches!(S::Weight::KIND, WeightKind::F32 | WeightKind::F64);
        let before = self.rows.fetch_add(rows, Ordering::Relaxed);
        if are_floats || room == 0 || before.saturating_add(rows) < ROWS_FOR_LABELS {
            return None;
        }
        // Nobody waits while another thread makes them: its rows come from sweeps.
        let _making = self.making.try_lock().ok()?;
        let room = if room == u64::MAX { spendable(available_memory()) / 8 } else { room };
        let make = || Labels::new::<S>(&shared.elimination, self.lengths.down(), room).ok().flatten();
        // Rows come without labels, too, if the system has no memory for them.
        self.labels.get_or_init(make).as_ref()
    }

    /// Puts the distances from each source where they go.
    pub(super) fn put_rows(
        &self,
        shared: &Shared,
        sources: &[VertexId],
        targets: Targets<'_>,
        to: &impl Destination<S::Distance>,
    ) -> Result<()> {
        match targets {
            Targets::All(room) => match self.labels(shared, sources.len(), room) {
                Some(labels) => self.swept(shared, None).rows_by_labels(labels, sources, to),
                None => self.swept(shared, None).sweep_each(sources, to),
            },
            Targets::These(targets) => {
                let selection = Selection::new(&shared.elimination, self.lengths.down(), targets)?;
                self.swept(shared, Some(&selection)).sweep_each(sources, to)
            }
        }
    }

    /// What is swept: all ancestors, or those that matter.
    fn swept<'a>(&'a self, shared: &'a Shared, selection: Option<&'a Selection<S::Distance>>) -> Swept<'a, S> {
        let safe = (!self.always_safe).then_some(self.safe);
        Swept { elimination: &shared.elimination, lengths: &self.lengths, selection, safe }
    }

    /// Whether no distance from a source was lost by an overflow.
    fn are_right(&self, distances: &[S::Distance]) -> bool {
        let too_great = |&distance: &S::Distance| distance != S::Distance::UNREACHABLE && self.safe < distance;
        self.always_safe || !distances.iter().any(too_great)
    }

    /// Whether the length of a shortest way was not lost by an overflow.
    fn is_right(&self, length: S::Distance) -> bool {
        self.always_safe || length != S::Distance::UNREACHABLE && length <= self.safe
    }
}
