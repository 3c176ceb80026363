//! Compressed sparse rows: for each vertex, the heads of its arcs, one after another.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use rayon::prelude::*;

use super::{GraphBuilder, Labels, MAX_VERTICES, Storage, Weight, WeightKind, Weights, builder::Edge, with_weights};
use crate::{Error, Result};

/// A vertex: an index from 0 to the number of vertices minus 1. Names are in [`Labels`].
pub type VertexId = u32;

/// Compressed sparse rows: `targets[offsets[v]..offsets[v + 1]]` are the heads of the arcs that leave `v`, ascending,
/// and `weights` holds the weight of each arc at the same place.
///
/// Offsets are always in owned memory; targets and weights may be windows into a mapped file.
#[derive(Debug, Clone)]
pub struct Csr {
    offsets: Vec<u64>,
    targets: Storage<VertexId>,
    weights: Weights,
}

impl Csr {
    /// Puts three arrays together after checking, in parallel and in O(V + E), everything that algorithms rely on:
    /// offsets start at 0, never fall and end at the number of arcs; heads are vertices and ascend within a row;
    /// float weights are finite and not -0.
    pub fn new(offsets: Vec<u64>, targets: Storage<VertexId>, weights: Weights) -> Result<Self> {
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
        if let Some(v) = offsets.par_windows(2).position_any(|pair| pair[0] > pair[1]) {
            return invalid(format!("the offset of vertex {} is below the one before it", v + 1));
        }
        let csr = Csr { offsets, targets, weights };
        let bad_row = (0..vertices as VertexId).into_par_iter().with_min_len(1024).find_any(|&v| {
            let row = csr.neighbors(v);
            row.last().is_some_and(|&last| last as usize >= vertices) || row.windows(2).any(|pair| pair[0] > pair[1])
        });
        if let Some(v) = bad_row {
            return invalid(format!("the neighbours of vertex {v} are not ascending ids below {vertices}"));
        }
        let bad_weight = match &csr.weights {
            Weights::F32(values) => values.par_iter().position_any(|w| !w.is_finite() || w.to_bits() == 1 << 31),
            Weights::F64(values) => values.par_iter().position_any(|w| !w.is_finite() || w.to_bits() == 1 << 63),
            _ => None,
        };
        match bad_weight {
            Some(arc) => invalid(format!("the weight of arc {arc} is NaN, infinite or -0")),
            None => Ok(csr),
        }
    }

    /// Puts together arrays that are right by construction.
    pub(crate) fn trusted(offsets: Vec<u64>, targets: impl Into<Storage<VertexId>>, weights: Weights) -> Self {
        let targets = targets.into();
        debug_assert_eq!(offsets.last().copied(), Some(targets.len() as u64));
        Csr { offsets, targets, weights }
    }

    /// Offsets, targets and weights.
    pub(crate) fn into_arrays(self) -> (Vec<u64>, Storage<VertexId>, Weights) {
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

    pub(crate) fn is_damaged(&self) -> bool {
        self.targets.is_damaged() || self.weights.is_damaged()
    }

    pub(crate) fn owned_bytes(&self) -> u64 {
        (self.offsets.capacity() * size_of::<u64>()) as u64 + self.targets.owned_bytes() + self.weights.owned_bytes()
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
        self.offsets.len() - 1
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
    pub fn from_edges<E: Edge>(edges: impl IntoIterator<Item = E>) -> Result<Self> {
        GraphBuilder::new().build_from(edges)
    }

    /// A graph from compressed sparse rows, as SciPy's `csr_matrix` has them, checked in O(V + E).
    ///
    /// With `directed` false the rows must be symmetric; a fingerprint of all arcs tells.
    pub fn from_csr(csr: Csr, directed: bool, labels: Labels) -> Result<Self> {
        if labels.len() != csr.vertices() as u64 {
            return Err(Error::invalid(format!("{} names for {} vertices", labels.len(), csr.vertices())));
        }
        if !directed && !is_symmetric(&csr) {
            return Err(Error::invalid("the graph is said to be undirected, but some arc lacks its reverse"));
        }
        let self_loops = (0..csr.vertices() as VertexId)
            .into_par_iter()
            .with_min_len(1024)
            .map(|v| {
                let row = csr.neighbors(v);
                let first = row.partition_point(|&u| u < v);
                row[first..].iter().take_while(|&&u| u == v).count() as u64
            })
            .sum();
        let lines = if directed { csr.arcs() as u64 } else { (csr.arcs() as u64 - self_loops) / 2 + self_loops };
        Ok(Graph::from_parts(csr, directed, labels, InputCounts { lines, self_loops, parallel: 0 }))
    }

    pub(crate) fn from_parts(csr: Csr, directed: bool, labels: Labels, counts: InputCounts) -> Self {
        debug_assert_eq!(labels.len(), csr.vertices() as u64);
        Graph { csr, directed, labels, counts, transpose: OnceLock::new(), weight_range: OnceLock::new() }
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
    pub fn transpose(&self) -> &Csr {
        if self.directed { self.transpose.get_or_init(|| Box::new(self.csr.transposed())) } else { &self.csr }
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
        *self.weight_range.get_or_init(|| {
            if self.arcs() == 0 {
                return (0.0, 0.0);
            }
            with_weights!(self.weights(), values => {
                fn smaller<W: PartialOrd>(a: W, b: W) -> W { if b < a { b } else { a } }
                fn greater<W: PartialOrd>(a: W, b: W) -> W { if b > a { b } else { a } }
                let (low, high) = values
                    .par_chunks(1 << 16)
                    .map(|chunk| chunk.iter().fold((chunk[0], chunk[0]), |(low, high), &w| (smaller(low, w), greater(high, w))))
                    .reduce(|| (values[0], values[0]), |a, b| (smaller(a.0, b.0), greater(a.1, b.1)));
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
        self.labels
            .find(name)
            .ok_or_else(|| Error::UnknownVertex { name: name.to_owned(), nearest: self.labels.nearest(name) })
    }

    /// The name of `v`.
    ///
    /// # Panics
    ///
    /// If `v` is not below [`Graph::vertices`].
    pub fn name(&self, v: VertexId) -> Cow<'_, str> {
        self.labels.name(v)
    }

    /// Bytes of memory that the graph owns, the cached transpose included; mapped files are not counted.
    pub fn owned_bytes(&self) -> u64 {
        self.csr.owned_bytes() + self.transpose.get().map_or(0, |csr| csr.owned_bytes()) + self.labels.owned_bytes()
    }

    /// An error if the file that the graph is mapped from was cut short since: whatever was computed is worthless.
    pub fn check_intact(&self) -> Result<()> {
        if self.csr.is_damaged() {
            return Err(
                crate::InputError::new("the file was cut short or became unreadable while it was in use").into()
            );
        }
        Ok(())
    }
}

/// Whether every arc has its reverse, of equal weight and as often; by comparing a fingerprint of the multiset of
/// arcs with the one of the reversed arcs (wrong with a probability around 2^-64).
fn is_symmetric(csr: &Csr) -> bool {
    let weight_bits = |arc: usize| match csr.weights() {
        Weights::Unit(_) => 0,
        Weights::U32(values) => u64::from(values[arc]),
        Weights::I32(values) => u64::from(values[arc] as u32),
        Weights::F32(values) => u64::from(values[arc].to_bits()),
        Weights::F64(values) => values[arc].to_bits(),
    };
    let mix = |from: VertexId, to: VertexId, weight: u64| {
        let mut hash = (u64::from(from) << 32 | u64::from(to)) ^ weight.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        hash ^ hash >> 31
    };
    let difference = (0..csr.vertices() as VertexId)
        .into_par_iter()
        .with_min_len(1024)
        .map(|u| {
            csr.row(u).fold(0_u64, |sum, arc| {
                let (v, weight) = (csr.targets()[arc], weight_bits(arc));
                sum.wrapping_add(mix(u, v, weight)).wrapping_sub(mix(v, u, weight))
            })
        })
        .reduce(|| 0, u64::wrapping_add);
    difference == 0
}
