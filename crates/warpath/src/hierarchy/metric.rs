//! A hierarchy with the lengths of its shortcuts, and what it answers.

use std::any::Any;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::customization::{Elsewhere, Lengths};
use super::customized::{Answers, Customized, Targets, customized};
use super::destination::Filled;
use super::{Hierarchy, Shared};
use crate::graph::{Distance, DistanceValue, Distances, MinPlus, VertexId, Weights, with_min_plus};
use crate::memory::{listed, with_capacity};
use crate::problems::{Path, RowFacts};
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

impl Metric {
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

    /// Fills `cells` with the distances from each of `sources` to all vertices or to `targets`, one row after another, and calls `done` with
    /// the place of each source whose row is there. Returns the places of all others: of those with distances that may be beyond the
    /// range of the semiring, or of all sources if this metric answers by another one. As [`Metric::distances_from_each`] and
    /// [`Metric::distances_between`] otherwise, but nothing is copied.
    ///
    /// # Errors
    ///
    /// As [`Metric::distances_from_each`]; [`Error::InvalidRequest`] if there are not as many cells as rows need; an error of
    /// `done`, after which no more sources are begun.
    pub(crate) fn fill<S: MinPlus>(
        &self,
        sources: &[VertexId],
        targets: Option<&[VertexId]>,
        cells: &mut [S::Distance],
        done: impl Fn(usize) -> Result<()> + Sync,
    ) -> Result<Vec<usize>> {
        let graph = self.hierarchy.graph();
        graph.check_vertices(sources, "source")?;
        graph.check_vertices(targets.unwrap_or_default(), "target")?;
        let columns = targets.map_or(graph.vertices(), <[VertexId]>::len);
        if sources.len().checked_mul(columns) != Some(cells.len()) {
            let (rows, given) = (sources.len(), cells.len());
            return Err(Error::invalid(format!("{given} cells are no table of {rows} rows and {columns} columns")));
        }
        if columns == 0 {
            // Rows without cells are there.
            (0..sources.len()).try_for_each(done)?;
            return Ok(Vec::new());
        }
        let answers: &dyn Any = self.narrow_or_wide()?;
        let Some(answers) = answers.downcast_ref::<Customized<S>>() else {
            return listed("the rows of many sources", 0..sources.len());
        };
        let targets = match targets {
            Some(targets) => Targets::These(targets),
            None => Targets::All(self.room_for_labels.load(Ordering::Relaxed)),
        };
        let to = Filled::new(columns, cells, &done)?;
        answers.put_rows(&self.hierarchy.shared, sources, targets, &to)?;
        Ok(to.doubtful())
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
        let answers = self.narrow_or_wide()?;
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

    /// Who answers first: the wide semiring once that was needed.
    fn narrow_or_wide(&self) -> Result<&dyn Answers> {
        if self.narrow.is_whole() && self.wide.get().is_none() { Ok(&*self.narrow) } else { self.wide() }
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
