//! Compressed sparse rows: for each vertex, the heads of its arcs, one after another.
//!
//! *Invariants.* A slice of `Unit`, which takes no bytes, may have any length.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::survey::{Survey, check_offsets, survey, survey_weighted};
use super::{Labels, MAX_VERTICES, VertexId, Weight, WeightKind, Weights, with_weights};
use crate::apart::apart;
use crate::checksum::{checksum, checksum_of_array};
use crate::instructions::with_widest_instructions;
use crate::{Error, Result, parallel};

/// Compressed sparse rows: `targets[offsets[v]..offsets[v + 1]]` are the heads of the arcs that leave `v`, ascending,
/// and `weights` holds the weight of each arc at the same place.
///
/// All three arrays are memory of the graph's own, checked once and never changed: unsafe code in algorithms relies on
/// that. No file is mapped.
#[derive(Debug, Clone)]
pub struct Csr {
    offsets: Vec<u64>,
    targets: Vec<VertexId>,
    weights: Weights,
}

impl Csr {
    /// Puts three arrays together after checking, in parallel and in O(V + E), everything that algorithms rely on:
    /// offsets start at 0, never fall and end at the number of arcs; heads are vertices and ascend within a row;
    /// float weights are finite and not -0.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] with the first of these that does not hold.
    pub fn new(offsets: Vec<u64>, targets: Vec<VertexId>, weights: Weights) -> Result<Self> {
        let invalid = |message: String| Err(Error::invalid(message));
        let Some(vertices) = offsets.len().checked_sub(1) else {
            return invalid("the array of offsets is empty; it has one entry more than there are vertices".into());
        };
        if vertices as u64 > MAX_VERTICES {
            return invalid(format!("{vertices} vertices are too many; at most {MAX_VERTICES} are possible"));
        }
        if offsets[0] != 0 || offsets[vertices] != targets.len() as u64 || weights.len() != targets.len() {
            return invalid(format!(
                "offsets run from {} to {}, but there are {} arcs and {} weights",
                offsets[0],
                offsets[vertices],
                targets.len(),
                weights.len()
            ));
        }
        check_offsets(&offsets)?;
        let csr = Csr { offsets, targets, weights };
        csr.survey(false).check(&csr.offsets, &csr.targets)?;
        csr.weights.check()?;
        Ok(csr)
    }

    /// Looks at all heads once, in parallel; with `fingerprint` at all weights, too. Offsets have to be right.
    pub(crate) fn survey(&self, fingerprint: bool) -> Survey {
        if fingerprint {
            survey_weighted(&self.offsets, &self.targets, &self.weights)
        } else {
            survey(&self.offsets, &self.targets)
        }
    }

    /// Whether every arc has its reverse, of equal weight and as often.
    pub(crate) fn is_symmetric(&self) -> bool {
        self.survey(true).asymmetry == 0
    }

    /// Puts together arrays that are right by construction.
    pub(crate) fn trusted(offsets: Vec<u64>, targets: Vec<VertexId>, weights: Weights) -> Self {
        debug_assert_eq!(offsets.last().copied(), Some(targets.len() as u64));
        Csr { offsets, targets, weights }
    }

    /// Offsets, targets and weights.
    pub(crate) fn into_arrays(self) -> (Vec<u64>, Vec<VertexId>, Weights) {
        (self.offsets, self.targets, self.weights)
    }

    /// Number of vertices.
    #[inline]
    pub fn vertices(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of arcs.
    #[inline]
    pub fn arcs(&self) -> usize {
        self.targets.len()
    }

    /// The offsets, one more than there are vertices.
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The heads of all arcs.
    pub fn targets(&self) -> &[VertexId] {
        &self.targets
    }

    /// The weights of all arcs.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The arcs of `v`, as indices into targets and weights.
    #[inline]
    pub fn row(&self, v: VertexId) -> Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    /// The heads of the arcs that leave `v`.
    #[inline]
    pub fn neighbors(&self, v: VertexId) -> &[VertexId] {
        &self.targets[self.row(v)]
    }

    /// A view with typed weights; `None` if they have another type.
    pub fn adjacency<W: Weight>(&self) -> Option<Adjacency<'_, W>> {
        Some(Adjacency { offsets: &self.offsets, targets: &self.targets, weights: W::of(&self.weights)? })
    }

    /// A view that ignores the weights.
    pub fn unweighted(&self) -> Adjacency<'_, super::Unit> {
        Adjacency { offsets: &self.offsets, targets: &self.targets, weights: unit_slice(self.targets.len()) }
    }

    pub(crate) fn owned_bytes(&self) -> u64 {
        (self.offsets.capacity() * size_of::<u64>() + self.targets.capacity() * size_of::<VertexId>()) as u64
            + self.weights.owned_bytes()
    }
}

/// A slice of `length` unit weights, which takes no memory.
fn unit_slice(length: usize) -> &'static [super::Unit] {
    // SAFETY: `Unit` takes no bytes, so a dangling, aligned pointer is valid for any number of them.
    unsafe { std::slice::from_raw_parts(std::ptr::NonNull::dangling().as_ptr(), length) }
}

/// A borrowed view of compressed sparse rows with weights of one type, as algorithms read it.
#[derive(Debug)]
pub struct Adjacency<'a, W> {
    /// One more than there are vertices.
    pub offsets: &'a [u64],
    /// The heads of the arcs.
    pub targets: &'a [VertexId],
    /// The weights of the arcs.
    pub weights: &'a [W],
}

impl<W> Clone for Adjacency<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<W> Copy for Adjacency<'_, W> {}

impl<'a, W: Copy> Adjacency<'a, W> {
    /// Number of vertices.
    #[inline]
    pub fn vertices(self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Number of arcs.
    #[inline]
    pub fn arcs(self) -> usize {
        self.targets.len()
    }

    /// The arcs of `v`, as indices into targets and weights.
    #[inline]
    pub fn row(self, v: VertexId) -> Range<usize> {
        self.offsets[v as usize] as usize..self.offsets[v as usize + 1] as usize
    }

    /// The number of arcs that leave `v`.
    #[inline]
    pub fn degree(self, v: VertexId) -> usize {
        self.row(v).len()
    }

    /// The heads of the arcs that leave `v`.
    #[inline]
    pub fn neighbors(self, v: VertexId) -> &'a [VertexId] {
        &self.targets[self.row(v)]
    }

    /// The arcs that leave `v`: heads and weights.
    #[inline]
    pub fn edges(self, v: VertexId) -> impl ExactSizeIterator<Item = (VertexId, W)> + use<'a, W> {
        let row = self.row(v);
        self.targets[row.clone()].iter().copied().zip(self.weights[row].iter().copied())
    }
}

/// What the input of a graph held before loops and parallel arcs were treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InputCounts {
    /// Lines, arcs or edges in the input.
    pub lines: u64,
    /// How many of them were self-loops.
    pub self_loops: u64,
    /// Arcs that repeat another arc with the same ends, after symmetrization.
    pub parallel: u64,
}

/// An immutable graph: arcs in compressed sparse rows, weights, direction, and the names of the vertices.
///
/// An undirected graph stores each edge as two arcs (a self-loop as one).
///
/// ```
/// use warpath::Graph;
/// let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
/// assert_eq!(graph.vertices(), 3);
/// assert_eq!(graph.neighbors(0), [1, 2]);
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug)]
pub struct Graph {
    csr: Csr,
    directed: bool,
    labels: Labels,
    counts: InputCounts,
    transpose: OnceLock<Box<Csr>>,
    /// Held by the thread that makes the transpose.
    transposing: Mutex<()>,
    weight_range: OnceLock<(f64, f64)>,
}

impl Clone for Graph {
    /// Copies everything but the cached transpose.
    fn clone(&self) -> Self {
        Graph::from_parts(self.csr.clone(), self.directed, self.labels.clone(), self.counts)
    }
}

impl Graph {
    /// A graph from compressed sparse rows, as SciPy's `csr_matrix` has them, checked in O(V + E).
    ///
    /// With `directed` false the rows must be symmetric; a fingerprint of all arcs tells.
    ///
    /// # Errors
    ///
    /// If there are not as many names as vertices, or the rows are not symmetric and should be.
    pub fn from_csr(csr: Csr, directed: bool, labels: Labels) -> Result<Self> {
        if labels.len() != csr.vertices() as u64 {
            return Err(Error::invalid(format!("{} names for {} vertices", labels.len(), csr.vertices())));
        }
        let Survey { self_loops, asymmetry, .. } = csr.survey(!directed);
        if asymmetry != 0 {
            return Err(Error::invalid("the graph is undirected, but some arc lacks its reverse"));
        }
        let lines = if directed { csr.arcs() as u64 } else { (csr.arcs() as u64 - self_loops) / 2 + self_loops };
        Ok(Graph::from_parts(csr, directed, labels, InputCounts { lines, self_loops, parallel: 0 }))
    }

    pub(crate) fn from_parts(csr: Csr, directed: bool, labels: Labels, counts: InputCounts) -> Self {
        debug_assert_eq!(labels.len(), csr.vertices() as u64);
        let (transpose, transposing, weight_range) = Default::default();
        Graph { csr, directed, labels, counts, transpose, transposing, weight_range }
    }

    pub(crate) fn into_parts(self) -> (Csr, Labels) {
        (self.csr, self.labels)
    }

    /// Number of vertices.
    #[inline]
    pub fn vertices(&self) -> usize {
        self.csr.vertices()
    }

    /// Number of arcs stored; an undirected edge is two.
    #[inline]
    pub fn arcs(&self) -> usize {
        self.csr.arcs()
    }

    /// Whether arcs have a direction.
    pub fn is_directed(&self) -> bool {
        self.directed
    }

    /// What the input held before loops and parallel arcs were treated.
    pub fn input_counts(&self) -> InputCounts {
        self.counts
    }

    /// The arcs by tail.
    pub fn csr(&self) -> &Csr {
        &self.csr
    }

    /// The arcs by head: row `v` holds the tails of the arcs that enter `v`. Made on the first call, in O(V + E), and
    /// kept; an undirected graph is its own transpose.
    ///
    /// # Errors
    ///
    /// If there is no memory for it, or the operating system gives no threads to make it. A later call tries again.
    pub fn transpose(&self) -> Result<&Csr> {
        if !self.directed {
            return Ok(&self.csr);
        }
        if let Some(made) = self.transpose.get() {
            return Ok(made);
        }
        // The holder of the lock takes up no other work meanwhile, since that work might want the lock.
        let _making = self.transposing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = self.transpose.get() {
            return Ok(made);
        }
        let made = apart(rayon::current_num_threads(), false, || self.csr.transposed())??;
        Ok(self.transpose.get_or_init(|| Box::new(made)))
    }

    /// The bytes that [`Graph::transpose`] takes of a directed graph.
    pub(crate) fn transpose_bytes(&self) -> u64 {
        8 * self.vertices() as u64 + self.arcs() as u64 * (4 + self.weight_kind().bytes())
    }

    /// The graph whose arcs by tail are this one's arcs by head, if these are made. What were its arcs by tail are kept
    /// as arcs by head if `keep` says so.
    pub(super) fn with_arcs_turned(mut self, keep: bool) -> Graph {
        if let Some(mut by_head) = self.transpose.take() {
            std::mem::swap(&mut self.csr, &mut by_head);
            self.transpose = if keep { OnceLock::from(by_head) } else { OnceLock::new() };
        }
        self
    }

    /// A checksum of the arcs and their weights, by which copies of a graph are told from others. O(vertices + arcs), in parallel.
    pub fn fingerprint(&self) -> u64 {
        let csr = &self.csr;
        let mut parts = vec![
            checksum_of_array(bytemuck::cast_slice(csr.offsets())),
            checksum_of_array(bytemuck::cast_slice(csr.targets())),
            checksum(csr.weights().kind().name().as_bytes()),
        ];
        if !matches!(csr.weights(), Weights::Unit(_)) {
            parts.push(with_weights!(csr.weights(), values => checksum_of_array(bytemuck::cast_slice(values))));
        }
        checksum(bytemuck::cast_slice(&parts))
    }

    /// An error unless all of these are vertices.
    pub(crate) fn check_vertices(&self, vertices: &[VertexId], role: &str) -> Result<()> {
        match vertices.iter().find(|&&v| v as usize >= self.vertices()) {
            None => Ok(()),
            Some(v) => {
                let count = self.vertices();
                let vertices = if count == 1 { "vertex" } else { "vertices" };
                Err(Error::invalid(format!("{role} {v} is not a vertex: the graph has {count} {vertices}")))
            }
        }
    }

    /// An error unless so many values are one for each vertex.
    pub(crate) fn check_length(&self, length: usize, values: &str) -> Result<()> {
        if length == self.vertices() {
            return Ok(());
        }
        Err(Error::invalid(format!("{length} {values} are not one for each of {} vertices", self.vertices())))
    }

    /// An error unless these arcs are the graph's own.
    pub(crate) fn check_arcs<W>(&self, adjacency: Adjacency<'_, W>) -> Result<()> {
        let same =
            std::ptr::eq(adjacency.offsets, self.csr.offsets()) && std::ptr::eq(adjacency.targets, self.csr.targets());
        if same && adjacency.weights.len() == self.arcs() {
            return Ok(());
        }
        Err(Error::invalid("the arcs to search belong to another graph"))
    }

    /// Whether a shortest distance has left its range: an arc leads from a vertex with a distance in the row to a
    /// vertex without, or a distance is below all numbers. A walk whose length leaves the range proves nothing, since
    /// there may be a shorter walk. O(V) nearly always, since no arc leaves the range if the greatest distance and the
    /// greatest weight together don't; else O(V + E).
    pub(crate) fn has_left_range<D: super::DistanceValue>(&self, row: &[D]) -> bool {
        let reached = row.iter().copied().filter(|distance| *distance != D::UNREACHABLE);
        let greatest = reached.fold(D::ZERO, |a, b| if a < b { b } else { a });
        if row
            .iter()
            .map(|distance| distance.to_f64())
            .any(|distance| distance.is_nan() || distance == f64::NEG_INFINITY)
        {
            return true;
        }
        if greatest.to_f64() + self.weight_range().1 < D::LIMIT {
            return false;
        }
        let is_reached = |v: VertexId| row[v as usize] != D::UNREACHABLE;
        (0..self.vertices() as VertexId).any(|u| is_reached(u) && !self.neighbors(u).iter().all(|&v| is_reached(v)))
    }

    /// Whether [`Graph::transpose`] would answer without work.
    pub fn has_transpose(&self) -> bool {
        !self.directed || self.transpose.get().is_some()
    }

    /// The heads of the arcs that leave `v`, ascending.
    ///
    /// # Panics
    ///
    /// If `v` is not below [`Graph::vertices`].
    #[inline]
    pub fn neighbors(&self, v: VertexId) -> &[VertexId] {
        self.csr.neighbors(v)
    }

    /// The number of arcs that leave `v`.
    ///
    /// # Panics
    ///
    /// If `v` is not below [`Graph::vertices`].
    #[inline]
    pub fn degree(&self, v: VertexId) -> usize {
        self.csr.row(v).len()
    }

    /// The weights of the arcs.
    pub fn weights(&self) -> &Weights {
        self.csr.weights()
    }

    /// The type of the weights.
    pub fn weight_kind(&self) -> WeightKind {
        self.csr.weights().kind()
    }

    /// The least and the greatest weight, `(0, 0)` without arcs. Found on the first call in O(E) and kept.
    pub fn weight_range(&self) -> (f64, f64) {
        /// Fewer weights are looked at sooner than threads for them start.
        const WORTH_THREADS: usize = if cfg!(test) { 100 } else { 1 << 24 };
        const CHUNK: usize = if cfg!(test) { 40 } else { 1 << 16 };
        /// As many weights as processors compare together.
        const LANES: usize = 16;
        fn range<W: Weight>(weights: &[W]) -> (W, W) {
            with_widest_instructions!([W: Weight] [W] (weights: &[W] = weights) -> (W, W) {
                let (mut low, mut high) = ([weights[0]; LANES], [weights[0]; LANES]);
                let mut look = |lane: usize, w: W| {
                    low[lane] = if w < low[lane] { w } else { low[lane] };
                    high[lane] = if w > high[lane] { w } else { high[lane] };
                };
                let (groups, rest) = weights.as_chunks::<LANES>();
                groups.iter().for_each(|group| (0..LANES).for_each(|lane| look(lane, group[lane])));
                rest.iter().for_each(|&w| look(0, w));
                let (low, high) = (low.into_iter(), high.into_iter());
                let least = low.reduce(|a, b| if b < a { b } else { a }).unwrap_or_default();
                (least, high.reduce(|a, b| if b > a { b } else { a }).unwrap_or_default())
            })
        }
        fn shared_out<W: Weight>(weights: &[W]) -> (W, W) {
            let chunk = |chunk: usize| range(&weights[chunk * CHUNK..weights.len().min((chunk + 1) * CHUNK)]);
            let wider = |a: (W, W), b: (W, W)| (range(&[a.0, b.0]).0, range(&[a.1, b.1]).1);
            let ranges = parallel::collect(weights.len().div_ceil(CHUNK), chunk);
            ranges.into_iter().fold((weights[0], weights[0]), wider)
        }
        *self.weight_range.get_or_init(|| {
            if self.arcs() == 0 {
                return (0.0, 0.0);
            }
            with_weights!(self.weights(), values => {
                // If no threads start, this thread does all the work, since it must not take up other work.
                let apart = (values.len() >= WORTH_THREADS).then(|| apart(rayon::current_num_threads(), false, || shared_out(values)));
                let (low, high) = apart.and_then(Result::ok).unwrap_or_else(|| range(values));
                (low.to_f64(), high.to_f64())
            })
        })
    }

    /// The same graph, whose least and greatest weight the caller has seen: nobody looks for them any more.
    #[doc(hidden)]
    #[must_use]
    pub fn with_known_weight_range(self, (least, greatest): (f64, f64)) -> Self {
        debug_assert_eq!(Graph::clone(&self).weight_range(), (least, greatest));
        self.weight_range.get_or_init(|| (least, greatest));
        self
    }

    /// Whether any weight is below zero.
    pub fn has_negative_weights(&self) -> bool {
        match self.weight_kind() {
            WeightKind::Unit | WeightKind::U32 => false,
            _ => self.weight_range().0 < 0.0,
        }
    }

    /// The same graph with other names for its vertices. O(1).
    ///
    /// ```
    /// use warpath::graph::Labels;
    /// let graph = warpath::Graph::from_edges([(0, 1, 5)])?.with_labels(Labels::Integers(vec![70, 90]))?;
    /// assert_eq!(graph.vertex("90")?, 1);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if there are not as many names as vertices.
    pub fn with_labels(self, labels: Labels) -> Result<Self> {
        if labels.len() != self.vertices() as u64 {
            return Err(Error::invalid(format!("{} names for {} vertices", labels.len(), self.vertices())));
        }
        Ok(Graph { labels, ..self })
    }

    /// The names of the vertices.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// The vertex of this name.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownVertex`], with the nearest names, if there is none.
    pub fn vertex(&self, name: &str) -> Result<VertexId> {
        self.labels.find(name).ok_or_else(|| Error::UnknownVertex {
            name: name.to_owned(),
            nearest: self.labels.nearest(name),
            numbers: self.labels.numbers(),
        })
    }

    /// The name of `v`.
    ///
    /// # Panics
    ///
    /// If `v` is not below [`Graph::vertices`].
    pub fn name(&self, v: VertexId) -> Cow<'_, str> {
        self.labels.name(v)
    }

    /// Bytes of memory that the graph owns, the cached transpose included.
    pub fn owned_bytes(&self) -> u64 {
        self.csr.owned_bytes() + self.transpose.get().map_or(0, |csr| csr.owned_bytes()) + self.labels.owned_bytes()
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{TestWeight, graphs_of_every_shape};

    fn ranges_are_those_of_a_look_at_each<W: TestWeight>(seed: u64) {
        for (name, graph) in graphs_of_every_shape::<W>(seed) {
            let weights = || graph.edges().map(|(_, _, weight)| weight);
            let right = (weights().fold(f64::INFINITY, f64::min), weights().fold(f64::NEG_INFINITY, f64::max));
            let right = if graph.arcs() == 0 { (0.0, 0.0) } else { right };
            assert_eq!(graph.weight_range(), right, "{name}");
        }
    }

    #[test]
    fn ranges_of_weights() {
        ranges_are_those_of_a_look_at_each::<super::super::Unit>(31);
        ranges_are_those_of_a_look_at_each::<u32>(32);
        ranges_are_those_of_a_look_at_each::<i32>(33);
        ranges_are_those_of_a_look_at_each::<f32>(34);
        ranges_are_those_of_a_look_at_each::<f64>(35);
    }
}
