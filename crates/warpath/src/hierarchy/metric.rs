//! A hierarchy with the lengths of its shortcuts, and what it answers.

use std::any::Any;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::customization::{Elsewhere, Lengths, any, customize};
use super::labels::Labels;
use super::selection::Selection;
use super::sweep::Swept;
use super::{Hierarchy, Shared, one_source, query};
use crate::error::NegativeCycle;
use crate::graph::{
    Adjacency, Distance, DistanceValue, Distances, Graph, MinPlus, VertexId, Weight, WeightKind, Weights, with_min_plus,
};
use crate::memory::{available_memory, listed, spendable, with_capacity};
use crate::problems::{Facts, Path, RowFacts};
use crate::{Error, Result};

/// A hierarchy with lengths: answers for one kind of weights. Made by [`Hierarchy::customize`]; threads may share it.
///
/// Distances of integers are exact, the same as those of every search. Shortcuts add floats in another order than a search
/// does, so distances of floats may differ from its in the last digits.
pub struct Metric {
    pub(super) hierarchy: Hierarchy,
    pub(super) weights: Weights,
    pub(super) narrow: Box<dyn Answers>,
    /// Of unsigned weights, with 64-bit distances, for answers that 32 bits can't hold.
    pub(super) wide: OnceLock<Box<dyn Answers>>,
    /// The most bytes of labels; [`u64::MAX`] if nobody has said so.
    room_for_labels: AtomicU64,
}

impl std::fmt::Debug for Metric {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Metric").field("weights", &self.weights.kind()).finish_non_exhaustive()
    }
}

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
pub(super) trait Answers: Send + Sync {
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

impl Metric {
    /// For so many rows labels pay: they take as long as they save then. In tests for more than are asked for at first.
    pub(crate) const ROWS_FOR_LABELS: usize = if cfg!(test) { 48 } else { 256 };

    pub(super) fn new(hierarchy: &Hierarchy, weights: &Weights, elsewhere: Option<&dyn Elsewhere>) -> Result<Self> {
        let metrics = Self::all(hierarchy, std::slice::from_ref(weights), elsewhere)?;
        Ok(metrics.into_iter().next().expect("there is one for each of the weights"))
    }

    /// A metric for each of these weights. Those that follow each other and have the same type are customized together.
    /// `elsewhere` may settle the lengths of those that are alone.
    pub(super) fn all(
        hierarchy: &Hierarchy,
        weights: &[Weights],
        elsewhere: Option<&dyn Elsewhere>,
    ) -> Result<Vec<Self>> {
        let arcs = hierarchy.graph().arcs();
        for weights in weights {
            if weights.len() != arcs {
                let given = weights.len();
                return Err(Error::invalid(format!("there are {given} weights, and the graph has {arcs} arcs")));
            }
            weights.check()?;
        }
        let mut metrics = with_capacity("metrics", weights.len())?;
        for weights in weights.chunk_by(|a, b| a.kind() == b.kind()) {
            for (narrow, weights) in customized(hierarchy, weights, false, elsewhere)?.into_iter().zip(weights) {
                let hierarchy = hierarchy.clone();
                let (weights, wide) = (weights.clone(), OnceLock::new());
                let metric = Metric { hierarchy, weights, narrow, wide, room_for_labels: AtomicU64::new(u64::MAX) };
                if !metric.narrow.is_whole() {
                    metric.wide_by(elsewhere)?;
                }
                metrics.push(metric);
            }
        }
        Ok(metrics)
    }

    /// From now on no labels are made that take more bytes.
    pub(crate) fn limit_labels(&self, bytes: u64) {
        self.room_for_labels.store(bytes, Ordering::Relaxed);
    }

    /// The hierarchy.
    pub fn hierarchy(&self) -> &Hierarchy {
        &self.hierarchy
    }

    /// The distances from `source` to all vertices, by vertex. O(shortcuts), without a queue, on all threads of the pool.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there is no such vertex; [`Error::DistanceOverflow`]; [`Error::OutOfMemory`].
    pub fn distances_from(&self, source: VertexId) -> Result<Distances> {
        self.distances_from_nearest(&[source])
    }

    /// The distances to all vertices from the nearest of `sources`, by vertex; none is reached if there are no sources.
    /// O(shortcuts), however many sources there are, and for each source O(shortcuts of its ancestors).
    ///
    /// # Errors
    ///
    /// As [`Metric::distances_from`].
    pub fn distances_from_nearest(&self, sources: &[VertexId]) -> Result<Distances> {
        self.distances_from_nearest_on(rayon::current_num_threads(), sources)
    }

    /// [`Metric::distances_from_nearest`] on so many threads: on the calling one alone, or on all of its pool.
    pub(crate) fn distances_from_nearest_on(&self, threads: usize, sources: &[VertexId]) -> Result<Distances> {
        self.hierarchy.graph().check_vertices(sources, "source")?;
        self.answer(|answers, shared| answers.distances_from(shared, sources, threads))
    }

    /// Hands the distances from each of `sources`, by vertex, to `visit` with the source's place in the list. `visit` is
    /// called from all threads of the pool, for each source once, in any order. O(shortcuts) for each source, of which
    /// sixteen share each look at memory; each thread takes memory for 16 arrays of distances
    /// and for 16 distances of each vertex of a part that fits the cache.
    ///
    /// Once some hundred rows were asked for and weights are integers, the metric keeps labels of all vertices if memory has room: about
    /// as many lengths as there are shortcuts. From then on a source takes O(V + labels), in half of the time on road networks.
    ///
    /// ```
    /// let graph = warpath::generate("roads:2000")?;
    /// let hierarchy = warpath::hierarchy::Hierarchy::new(graph)?;
    /// let metric = hierarchy.customize(hierarchy.graph().weights())?;
    /// let reached = std::sync::atomic::AtomicUsize::new(0);
    /// metric.distances_from_each(&[0, 7, 1999], |_, distances| {
    ///     let there = (0..distances.len()).filter(|&v| distances.get(v).is_some()).count();
    ///     reached.fetch_add(there, std::sync::atomic::Ordering::Relaxed);
    /// })?;
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Metric::distances_from`]; some sources may have been visited then.
    pub fn distances_from_each(&self, sources: &[VertexId], visit: impl Fn(usize, &Distances) + Sync) -> Result<()> {
        let targets = Targets::All(self.room_for_labels.load(Ordering::Relaxed));
        self.each(sources, &visit, |answers, sources, visit| {
            answers.distances_from_each(&self.hierarchy.shared, sources, targets, visit)
        })
    }

    /// Hands the distances from each of `sources` to all `targets`, in their order, to `visit`, as
    /// [`Metric::distances_from_each`] does. O(V + shortcuts of the targets' ancestors) once, and then O(shortcuts of the
    /// targets' and the source's ancestors) for each source.
    ///
    /// ```
    /// let graph = warpath::generate("roads:2000")?;
    /// let hierarchy = warpath::hierarchy::Hierarchy::new(graph)?;
    /// let metric = hierarchy.customize(hierarchy.graph().weights())?;
    /// metric.distances_between(&[0, 7], &[1999, 3, 7], |source, distances| {
    ///     assert_eq!(distances.get(2).is_some_and(|d| d.to_f64() == 0.0), source == 1);
    /// })?;
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Metric::distances_from_each`].
    pub fn distances_between(
        &self,
        sources: &[VertexId],
        targets: &[VertexId],
        visit: impl Fn(usize, &Distances) + Sync,
    ) -> Result<()> {
        self.hierarchy.graph().check_vertices(targets, "target")?;
        self.each(sources, &visit, |answers, sources, visit| {
            answers.distances_from_each(&self.hierarchy.shared, sources, Targets::These(targets), visit)
        })
    }

    /// Hands the facts about the distances from each of `sources` to all vertices to `visit`, as [`Metric::distances_from_each`]
    /// hands out the distances. Up to 64 sources share each look at memory.
    ///
    /// # Errors
    ///
    /// As [`Metric::distances_from_each`].
    pub(crate) fn facts_of_each(&self, sources: &[VertexId], visit: impl Fn(usize, &RowFacts) + Sync) -> Result<()> {
        self.each(sources, &visit, |answers, sources, visit| {
            answers.facts_of_each(&self.hierarchy.shared, sources, visit)
        })
    }

    /// Hands what `ask` finds for each of `sources` to `visit`: first by the narrow semiring, and by the wide one where that does
    /// not suffice.
    fn each<T>(
        &self,
        sources: &[VertexId],
        visit: &(dyn Fn(usize, &T) + Sync),
        ask: impl Fn(&dyn Answers, &[VertexId], &(dyn Fn(usize, Option<&T>) -> Result<()> + Sync)) -> Result<()>,
    ) -> Result<()> {
        self.hierarchy.graph().check_vertices(sources, "source")?;
        let answers = if self.narrow.is_whole() && self.wide.get().is_none() { &*self.narrow } else { self.wide()? };
        let doubtful = Mutex::new(Vec::new());
        ask(answers, sources, &|place, found| {
            match found {
                Some(found) => visit(place, found),
                None => doubtful.lock().unwrap_or_else(PoisonError::into_inner).push(place),
            }
            Ok(())
        })?;
        let doubtful = doubtful.into_inner().unwrap_or_else(PoisonError::into_inner);
        if doubtful.is_empty() {
            return Ok(());
        }
        let again = listed("sources of distances beyond 32 bits", doubtful.iter().map(|&place| sources[place]))?;
        ask(self.wide()?, &again, &|index, found| {
            visit(doubtful[index], found.ok_or(Error::DistanceOverflow { semiring: self.widest() })?);
            Ok(())
        })
    }

    /// The distance from `source` to `target`, `None` if there is no path. O(shortcuts between the ancestors of both):
    /// microseconds on roads.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there is no such vertex; [`Error::DistanceOverflow`]; [`Error::OutOfMemory`].
    pub fn distance(&self, source: VertexId, target: VertexId) -> Result<Option<Distance>> {
        self.hierarchy.graph().check_vertices(&[source, target], "vertex")?;
        self.answer(|answers, shared| Ok(answers.distance(shared, source, target)))
    }

    /// A shortest path from `source` to `target`, `None` if there is none. As [`Metric::distance`], and then for each
    /// shortcut on the way the time of a look at its triangles.
    ///
    /// # Errors
    ///
    /// As [`Metric::distance`].
    pub fn path(&self, source: VertexId, target: VertexId) -> Result<Option<Path>> {
        self.hierarchy.graph().check_vertices(&[source, target], "vertex")?;
        self.answer(|answers, shared| answers.path(shared, source, target))
    }

    /// An answer by the narrow semiring, or, where that does not suffice, by the wide one.
    fn answer<T>(&self, ask: impl Fn(&dyn Answers, &Shared) -> Result<Option<T>>) -> Result<T> {
        if self.narrow.is_whole()
            && self.wide.get().is_none()
            && let Some(answer) = ask(&*self.narrow, &self.hierarchy.shared)?
        {
            return Ok(answer);
        }
        let overflow = Error::DistanceOverflow { semiring: self.widest() };
        ask(self.wide()?, &self.hierarchy.shared)?.ok_or(overflow)
    }

    /// The types of weight and distance that answers have had to be in so far, such as `u32->u32`.
    pub(crate) fn number_types(&self) -> &'static str {
        let wide = self.wide.get().is_some();
        with_min_plus!(self.weights.kind(), wide, S => S::NAME)
    }

    /// The lengths of all shortcuts, if distances of this type are those of these weights.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`].
    pub(crate) fn lengths<D: DistanceValue>(&self) -> Result<Option<&Lengths<D>>> {
        if let Some(lengths) = self.narrow.lengths().downcast_ref() {
            return Ok(Some(lengths));
        }
        Ok(self.wide()?.lengths().downcast_ref())
    }

    /// Whether some lengths may have been too great for 32 bits.
    pub(crate) fn may_have_lost_lengths(&self) -> bool {
        !self.narrow.is_whole()
    }

    fn widest(&self) -> &'static str {
        with_min_plus!(self.weights.kind(), true, S => S::NAME)
    }

    fn wide(&self) -> Result<&dyn Answers> {
        self.wide_by(None)
    }

    fn wide_by(&self, elsewhere: Option<&dyn Elsewhere>) -> Result<&dyn Answers> {
        if self.wide.get().is_none() {
            let wide = customized(&self.hierarchy, std::slice::from_ref(&self.weights), true, elsewhere)?;
            // Another thread may have been quicker; both are the same.
            wide.into_iter().for_each(|wide| drop(self.wide.set(wide)));
        }
        Ok(&**self.wide.get().expect("it was set"))
    }
}

/// The lengths for each of these weights, which have the same type, by the narrow or the wide semiring.
fn customized(
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
        let is_negative = |&v: &VertexId| {
            let loops = arcs.edges(v).filter(|&(head, _)| head == v);
            loops.map(|(_, weight)| S::extend(S::Distance::ZERO, weight)).any(|length| length < S::Distance::ZERO)
        };
        if any(values[lane], |&weight| S::extend(S::Distance::ZERO, weight) < S::Distance::ZERO)
            && let Some(v) = (0..csr.vertices() as VertexId).into_par_iter().find_first(is_negative)
        {
            return Err(negative_cycle(&hierarchy.graph, weights[lane], vec![v]));
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
        match targets {
            Targets::All(room) => match self.labels(shared, sources.len(), room) {
                Some(labels) => self.swept(shared, None).rows_by_labels(labels, sources, &take),
                None => self.swept(shared, None).sweep_each(sources, &take),
            },
            Targets::These(targets) => {
                let selection = Selection::new(&shared.elimination, self.lengths.down(), targets)?;
                self.swept(shared, Some(&selection)).sweep_each(sources, &take)
            }
        }
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
        if are_floats || room == 0 || before.saturating_add(rows) < Metric::ROWS_FOR_LABELS {
            return None;
        }
        // Nobody waits while another thread makes them: its rows come from sweeps.
        let _making = self.making.try_lock().ok()?;
        let room = if room == u64::MAX { spendable(available_memory()) / 8 } else { room };
        let make = || Labels::new::<S>(&shared.elimination, self.lengths.down(), room).ok().flatten();
        // Rows come without labels, too, if the system has no memory for them.
        self.labels.get_or_init(make).as_ref()
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
