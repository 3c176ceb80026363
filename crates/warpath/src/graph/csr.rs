//! Compressed sparse rows: for each vertex, the heads of its arcs, one after another.
//!
//! *Invariants.* A slice of `Unit`, which takes no bytes, may have any length. A function that was compiled for AVX2 is
//! called only where the processor has been found to have it.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::{GraphBuilder, Labels, MAX_VERTICES, Weight, WeightKind, Weights, builder::Edge, with_weights};
use crate::apart::apart;
use crate::{Error, Result};

/// A vertex: an index from 0 to the number of vertices minus 1. Names are in [`Labels`].
pub type VertexId = u32;

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
        csr.survey().check(&csr)?;
        csr.weights.check()?;
        Ok(csr)
    }

    /// Puts together arrays that are right by construction.
    pub(crate) fn trusted(offsets: Vec<u64>, targets: Vec<VertexId>, weights: Weights) -> Self {
        debug_assert_eq!(offsets.last().copied(), Some(targets.len() as u64));
        Csr { offsets, targets, weights }
    }

    /// Looks at all heads once, in parallel; offsets have to be right.
    pub(crate) fn survey(&self) -> Survey {
        survey(&self.offsets, &self.targets)
    }

    /// Whether every arc has its reverse, of equal weight and as often.
    pub(crate) fn is_symmetric(&self) -> bool {
        is_symmetric(self)
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

/// An error if offsets fall somewhere.
pub(crate) fn check_offsets(offsets: &[u64]) -> Result<()> {
    match offsets.par_windows(2).with_min_len(1 << 14).position_any(|pair| pair[0] > pair[1]) {
        Some(v) => Err(Error::invalid(format!("the offset of vertex {} is below the one before it", v + 1))),
        None => Ok(()),
    }
}

/// What one look at all rows finds: enough to know whether they are in order, and what there is to tidy up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Survey {
    /// The greatest head, 0 if there is none.
    pub(crate) greatest: VertexId,
    /// How often a head is below the one before it in its row.
    pub(crate) descents: u64,
    /// How often a head equals the one before it in its row.
    pub(crate) repeats: u64,
    /// Arcs from a vertex to itself.
    pub(crate) self_loops: u64,
}

/// Counts, in parallel and without a branch for each arc. `offsets` must not fall, and end at the number of targets.
pub(crate) fn survey(offsets: &[u64], targets: &[VertexId]) -> Survey {
    let vertices = offsets.len() - 1;
    (0..vertices)
        .into_par_iter()
        .with_min_len(1024)
        .fold(Survey::default, |mut sum, v| {
            let row = &targets[offsets[v] as usize..offsets[v + 1] as usize];
            let Some(&last) = row.last() else { return sum };
            let tail = v as VertexId;
            let (mut disorder, mut loops) = (0_u32, u32::from(row[0] == tail));
            for (&head, &before) in row[1..].iter().zip(row) {
                disorder |= u32::from(head <= before);
                loops += u32::from(head == tail);
            }
            sum.self_loops += u64::from(loops);
            // Heads of a row that ascends strictly are at most its last.
            sum.greatest = sum.greatest.max(last);
            if disorder != 0 {
                let pairs = || row.windows(2);
                sum.greatest = row.iter().copied().fold(sum.greatest, VertexId::max);
                sum.descents += pairs().filter(|pair| pair[1] < pair[0]).count() as u64;
                sum.repeats += pairs().filter(|pair| pair[1] == pair[0]).count() as u64;
            }
            sum
        })
        .reduce(Survey::default, |a, b| Survey {
            greatest: a.greatest.max(b.greatest),
            descents: a.descents + b.descents,
            repeats: a.repeats + b.repeats,
            self_loops: a.self_loops + b.self_loops,
        })
}

impl Survey {
    /// An error, naming a row, unless the rows ascend and hold vertices only.
    pub(crate) fn check(&self, csr: &Csr) -> Result<()> {
        let vertices = csr.vertices();
        if self.descents == 0 && (csr.arcs() == 0 || (self.greatest as usize) < vertices) {
            return Ok(());
        }
        let bad = (0..vertices as VertexId).find(|&v| {
            let row = csr.neighbors(v);
            row.iter().any(|&head| head as usize >= vertices) || row.windows(2).any(|pair| pair[0] > pair[1])
        });
        let bad = bad.unwrap_or_default();
        Err(Error::invalid(format!("the neighbours of vertex {bad} are not ascending ids below {vertices}")))
    }
}

/// As many unit weights as wanted, in no memory.
fn unit_slice(length: usize) -> &'static [super::Unit] {
    // SAFETY: `Unit` takes no bytes, so a dangling, aligned pointer is valid for any number of them.
    unsafe { std::slice::from_raw_parts(std::ptr::NonNull::dangling().as_ptr(), length) }
}

/// A borrowed view of compressed sparse rows with weights of one type: what algorithms read.
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
    /// Held by whoever makes the transpose.
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
    /// A directed graph from pairs `(from, to)` or triples `(from, to, weight)`, parallel arcs merged by minimum.
    /// It has as many vertices as the greatest id asks for; [`GraphBuilder`] has every other choice.
    ///
    /// # Errors
    ///
    /// If an id or a weight is none, or there are too many vertices.
    pub fn from_edges<E: Edge>(edges: impl IntoIterator<Item = E>) -> Result<Self> {
        GraphBuilder::new().build_from(edges)
    }

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
        if !directed && !is_symmetric(&csr) {
            return Err(Error::invalid("the graph is said to be undirected, but some arc lacks its reverse"));
        }
        let self_loops = csr.survey().self_loops;
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
        // Whoever holds the lock takes up no other work meanwhile, which might want the lock.
        let _making = self.transposing.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = self.transpose.get() {
            return Ok(made);
        }
        let made = apart(rayon::current_num_threads(), false, || self.csr.transposed())??;
        Ok(self.transpose.get_or_init(|| Box::new(made)))
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

    /// An error unless these arcs are the graph's own.
    pub(crate) fn check_arcs<W>(&self, adjacency: Adjacency<'_, W>) -> Result<()> {
        let same =
            std::ptr::eq(adjacency.offsets, self.csr.offsets()) && std::ptr::eq(adjacency.targets, self.csr.targets());
        if same && adjacency.weights.len() == self.arcs() {
            return Ok(());
        }
        Err(Error::invalid("the arcs to be searched are not those of the graph"))
    }

    /// Whether some arc leads from a vertex that has a distance in a row to one that has none there, or a distance is below
    /// all numbers: then a shortest distance has left its range. That the length of a walk did says little, since there may
    /// be a shorter one.
    pub(crate) fn has_left_range<D: super::DistanceValue>(&self, row: &[D]) -> bool {
        let is_reached = |v: VertexId| row[v as usize] != D::UNREACHABLE;
        row.iter().map(|distance| distance.to_f64()).any(|distance| distance.is_nan() || distance == f64::NEG_INFINITY)
            || (0..self.vertices() as VertexId)
                .any(|u| is_reached(u) && !self.neighbors(u).iter().all(|&v| is_reached(v)))
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
        /// A chunk of weights; fewer are not shared out.
        const CHUNK: usize = 1 << 16;
        fn range<W: Weight>(chunk: &[W]) -> (W, W) {
            chunk.iter().fold((chunk[0], chunk[0]), |(low, high), &w| {
                (if w < low { w } else { low }, if w > high { w } else { high })
            })
        }
        fn shared_out<W: Weight>(weights: &[W]) -> (W, W) {
            let ranges = weights.par_chunks(CHUNK).map(range);
            let wider = |a: (W, W), b: (W, W)| (range(&[a.0, b.0]).0, range(&[a.1, b.1]).1);
            ranges.reduce(|| (weights[0], weights[0]), wider)
        }
        *self.weight_range.get_or_init(|| {
            if self.arcs() == 0 {
                return (0.0, 0.0);
            }
            with_weights!(self.weights(), values => {
                // Where there are no threads, this one does it all, since it must not take up other work.
                let apart = (values.len() > CHUNK).then(|| apart(rayon::current_num_threads(), false, || shared_out(values)));
                let (low, high) = apart.and_then(Result::ok).unwrap_or_else(|| range(values));
                (low.to_f64(), high.to_f64())
            })
        })
    }

    /// Whether any weight is below zero.
    pub fn has_negative_weights(&self) -> bool {
        match self.weight_kind() {
            WeightKind::Unit | WeightKind::U32 => false,
            _ => self.weight_range().0 < 0.0,
        }
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

/// Whether every arc has its reverse, of equal weight and as often.
///
/// Arcs `(u, v)` of weight `w` add `g(w) (a(u) b(v) - a(v) b(u))` to a sum modulo 2^64, with `a`, `b` and `g` hash
/// functions. An arc and its reverse cancel; if some arc lacks its reverse, the sum is a polynomial in the hashes that is
/// not zero, and vanishes by accident with a probability around 2^-64. The factors of `u` are taken out of the sum over
/// its row. What is left for each arc are products of 32-bit numbers, which vector units have, so that this takes about as
/// long as reading the arcs.
fn is_symmetric(csr: &Csr) -> bool {
    let difference = match csr.weights() {
        Weights::Unit(values) => asymmetry(csr, values, |_| 1),
        Weights::U32(values) => asymmetry(csr, values, |w| u64::from(hash_weight(w))),
        Weights::I32(values) => asymmetry(csr, values, |w| u64::from(hash_weight(w as u32))),
        Weights::F32(values) => asymmetry(csr, values, |w| u64::from(hash_weight(w.to_bits()))),
        Weights::F64(values) => asymmetry(csr, values, |w| {
            let (low, high) = (w.to_bits() as u32, (w.to_bits() >> 32) as u32);
            u64::from(hash_weight(low)) << 32 ^ u64::from(hash_weight(high)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
        }),
    };
    difference == 0
}

/// The sum that [`is_symmetric`] tests.
fn asymmetry<W: Copy + Sync>(csr: &Csr, weights: &[W], factor: impl Fn(W) -> u64 + Copy + Sync) -> u64 {
    const ROWS: usize = 4096;
    let (offsets, targets, vertices) = (csr.offsets(), csr.targets(), csr.vertices());
    let block = |index: usize| {
        let rows = index * ROWS..vertices.min((index + 1) * ROWS);
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has what the function was compiled for.
            return unsafe { asymmetry_of_rows_avx2(offsets, targets, weights, rows, factor) };
        }
        asymmetry_of_rows(offsets, targets, weights, rows, factor)
    };
    (0..vertices.div_ceil(ROWS)).into_par_iter().map(block).reduce(|| 0, u64::wrapping_add)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn asymmetry_of_rows_avx2<W: Copy>(
    offsets: &[u64],
    targets: &[VertexId],
    weights: &[W],
    rows: Range<usize>,
    factor: impl Fn(W) -> u64,
) -> u64 {
    asymmetry_of_rows(offsets, targets, weights, rows, factor)
}

#[inline(always)]
fn asymmetry_of_rows<W: Copy>(
    offsets: &[u64],
    targets: &[VertexId],
    weights: &[W],
    rows: Range<usize>,
    factor: impl Fn(W) -> u64,
) -> u64 {
    let mut sum = 0_u64;
    for u in rows {
        let row = offsets[u] as usize..offsets[u + 1] as usize;
        let (mut first, mut second) = (0_u64, 0_u64);
        for (&v, &w) in targets[row.clone()].iter().zip(&weights[row]) {
            let (a, b) = hash_vertex(v);
            let g = factor(w);
            first = first.wrapping_add(g.wrapping_mul(a));
            second = second.wrapping_add(g.wrapping_mul(b));
        }
        let (a, b) = hash_vertex(u as VertexId);
        sum = sum.wrapping_add(a.wrapping_mul(second).wrapping_sub(b.wrapping_mul(first)));
    }
    sum
}

/// Two hashes of 64 bits. The second is close to linear, the first is far from it; see [`is_symmetric`].
#[inline(always)]
fn hash_vertex(v: VertexId) -> (u64, u64) {
    let mixed = u64::from(v).wrapping_mul(0x9e37_79b1).wrapping_add(0xbf58_476d_1ce4_e5b9);
    let mixed = mixed ^ mixed >> 29;
    let squared = (mixed & 0xffff_ffff).wrapping_mul((mixed >> 32) | 1);
    (squared ^ mixed << 19, mixed)
}

/// A permutation of 32-bit numbers, so that no two weights are confused.
#[inline(always)]
fn hash_weight(bits: u32) -> u32 {
    let mixed = (bits ^ 0x85eb_ca6b).wrapping_mul(0xc2b2_ae35);
    mixed ^ mixed >> 15
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Random, TestWeight, graphs_of_every_shape, size};

    /// The definition: the arcs are the same multiset when turned round.
    fn is_symmetric_by_sorting(csr: &Csr) -> bool {
        let weight = |arc: usize| with_weights!(csr.weights(), values => values[arc].to_f64());
        let arcs = || {
            (0..csr.vertices() as VertexId)
                .flat_map(|u| csr.row(u).map(move |arc| (u, csr.targets()[arc], weight(arc).to_bits())))
        };
        let mut forwards: Vec<_> = arcs().collect();
        let mut backwards: Vec<_> = arcs().map(|(u, v, w)| (v, u, w)).collect();
        forwards.sort_unstable();
        backwards.sort_unstable();
        forwards == backwards
    }

    #[test]
    fn the_fingerprint_tells_symmetric_graphs() {
        fn check<W: TestWeight>() {
            for seed in 0..size(4, 1) {
                for (name, graph) in graphs_of_every_shape::<W>(seed) {
                    assert_eq!(is_symmetric(graph.csr()), is_symmetric_by_sorting(graph.csr()), "{name}");
                }
            }
        }
        check::<super::super::Unit>();
        check::<u32>();
        check::<i32>();
        check::<f32>();
        check::<f64>();
    }

    #[test]
    fn the_fingerprint_notices_one_arc() {
        let mut random = Random(1);
        for (name, graph) in graphs_of_every_shape::<u32>(7).into_iter().filter(|(_, graph)| graph.arcs() > 0) {
            if graph.is_directed() {
                continue;
            }
            let (csr, _) = graph.into_parts();
            let (offsets, targets, weights) = csr.into_arrays();
            let Weights::U32(weights) = weights else { panic!("{name}") };
            let mut weights = weights.to_vec();
            let at = random.below(weights.len() as u64) as usize;
            weights[at] = weights[at].wrapping_add(1 << random.below(32));
            let changed = Csr::trusted(offsets, targets, Weights::U32(weights));
            assert_eq!(is_symmetric(&changed), is_symmetric_by_sorting(&changed), "{name}");
        }
        // Regular structures: what is close to linear in the ids must not cancel.
        for step in 1..size(20, 3_u32) {
            let edges = (0..400_u32).flat_map(|v| [(v, (v + step) % 400), (v, (v + 2 * step) % 400)]);
            assert!(!is_symmetric(Graph::from_edges(edges).unwrap().csr()), "step {step}");
            let edges = (0..400_u32).flat_map(|v| [(v, (v + step) % 400, 2_u32), ((v + 2 * step) % 400, v, 1)]);
            assert!(!is_symmetric(Graph::from_edges(edges).unwrap().csr()), "step {step}");
        }
    }

    #[test]
    fn a_survey_counts_what_there_is() {
        let found = survey(&[0, 4, 4, 9], &[0, 2, 2, 1, 2, 2, 2, 1, 0]);
        assert_eq!(found, Survey { greatest: 2, descents: 3, repeats: 3, self_loops: 4 });
        assert_eq!(survey(&[0], &[]), Survey::default());
    }
}
