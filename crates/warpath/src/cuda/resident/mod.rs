//! Graphs that live on a GPU: made of arrays that other libraries have there, with answers that stay there.
//!
//! Programs that work on a GPU anyway, with CuPy, PyTorch or the CUDA runtime, have the arrays of their graph in its memory,
//! and want distances there. A [`ResidentGraph`] takes such arrays as they are, by their addresses, checks and copies them on
//! the device, and answers with a [`ResidentTree`] or a [`ResidentTable`], whose arrays are on the device, too. Neither the arcs nor the answers pass
//! through the host; what does are the sources, and a few words and samples by which searches are steered.
//!
//! Searches are those of the [`Solver`](crate::Solver), with the same distances and the same predecessors: `multi-hop` on long thin
//! graphs, from the second search on, else `direction-optimizing` breadth-first search and `near-far`. Where weights are floats and all of them whole numbers,
//! as CuPy's sparse matrices have them for want of integers, `multi-hop` searches by integers if distances stay exact as floats, too. For
//! everything else [`ResidentGraph::to_graph`] copies the graph to the host.
//!
//! Everything is in the process's primary context, which is the one that the CUDA runtime uses.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. Ids were checked when the graph was made ([`adoption`]), and sources are when a search begins.

mod adoption;
mod arrays;
mod sample;
mod table;
mod tree;

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use adoption::{Rows, Size, WeightFacts, launch, words_of};
pub use arrays::{DeviceArray, Element, ForeignArray, HostArray};
use sample::Sample;
pub use table::ResidentTable;
pub use tree::ResidentTree;

use super::bfs::{self, PreparedBfs, direction_optimizing};
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, LaunchShape, arguments, images};
use super::graph::{Arcs, Offsets};
use super::neighborhoods;
use super::sssp::near_far::{self, ArcSample};
use super::sssp::pairs::Pairs;
use super::sssp::{self, PreparedSssp};
use crate::algorithms::{GraphFacts, Parameters};
use crate::formats::ReadOptions;
use crate::graph::{Direction, Graph, VertexId, WeightKind};
use crate::{Control, Error, Result};

/// A graph in the memory of a GPU: see the [module](self).
///
/// It may be asked from several threads, which take turns. Its arcs take 4 bytes for each vertex and 4 for each arc, and 4 or 8
/// more for each weight; a search takes about as much again, neighborhoods of long thin graphs several times as much, and keeps it.
pub struct ResidentGraph {
    device: Arc<dyn Device>,
    rows: Rows,
    is_directed: bool,
    facts: OnceLock<GraphFacts>,
    prepared: Mutex<Prepared>,
}

/// The searches that have been made ready.
///
/// To make neighborhoods takes as long as a few searches without them. So the first one does without: whoever has only one is served
/// sooner, and whoever has many hardly later.
#[derive(Debug, Default)]
struct Prepared {
    /// By levels.
    bfs: Option<Box<dyn PreparedBfs>>,
    /// By neighborhoods, on long thin graphs.
    bfs_by_hops: Option<Box<dyn PreparedBfs>>,
    /// By whole numbers, on long thin graphs.
    by_hops: Option<Box<dyn PreparedSssp>>,
    by_thresholds: Option<Box<dyn PreparedSssp>>,
    /// Some distances were too great for whole numbers to stand for floats.
    has_rounded: bool,
    /// There was no memory for neighborhoods.
    has_no_room: bool,
}

impl Prepared {
    /// Gives up all searches, but not what has been learned.
    fn give_up(&mut self) {
        let Prepared { has_rounded, has_no_room, .. } = *self;
        *self = Prepared { has_rounded, has_no_room, ..Prepared::default() };
    }
}

impl fmt::Debug for ResidentGraph {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let device = self.device();
        let (vertices, arcs, weights) = (self.vertices(), self.arcs(), self.weight_kind().name());
        write!(out, "ResidentGraph {{ cuda:{device}, {vertices} vertices, {arcs} arcs, weights {weights} }}")
    }
}

/// What is there, or else is made now.
fn made<T>(place: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    Ok(match place {
        Some(there) => there,
        None => place.insert(make()?),
    })
}

/// Passes a result on, and notes whether there was too little memory.
fn noting<T>(has_no_room: &mut bool, result: Result<T>) -> Result<T> {
    *has_no_room |= matches!(result, Err(Error::OutOfMemory { .. }));
    result
}

/// The device that has these arrays.
fn device_of(first: ForeignArray, heads: ForeignArray, weights: Option<ForeignArray>) -> Result<Arc<dyn Device>> {
    let arrays = [Some(first), Some(heads), weights].into_iter().flatten();
    let mut ordinals = arrays.filter(|array| array.length > 0).map(|array| super::device_of(array.address));
    let first = ordinals.next().unwrap_or(Ok(0))?;
    for other in ordinals {
        let other = other?;
        if other != first {
            return Err(Error::invalid(format!(
                "the arrays of a graph are on one device, not on cuda:{first} and cuda:{other}"
            )));
        }
    }
    super::open_shared(first, usize::MAX)
}

impl ResidentGraph {
    /// A graph of compressed sparse rows in the memory of a GPU: `heads[offsets[v]..offsets[v + 1]]` are the heads of the arcs that
    /// leave `v`, in any order, and `weights` has the weight of each arc, 1 if there are none. Of parallel arcs the shortest counts.
    /// Unless `directed`, arcs lead both ways, whether or not their reverses are there. The arrays are copied: O(V + E) on the
    /// device.
    ///
    /// # Errors
    ///
    /// If there is no such device or no memory for it; if lengths or types don't fit, offsets fall, heads are no vertices, or
    /// weights are below 0, not finite, or integers of 2^32 or more.
    ///
    /// # Safety
    ///
    /// Each array is in the memory of a GPU, in the primary context, has as many elements as it says, and nobody writes to it
    /// before this returns. Work on it that was queued before may still be under way.
    pub unsafe fn from_rows(
        offsets: ForeignArray,
        heads: ForeignArray,
        weights: Option<ForeignArray>,
        directed: bool,
    ) -> Result<Self> {
        let device = device_of(offsets, heads, weights)?;
        // SAFETY: the caller's promise.
        let rows = unsafe { Rows::of_rows(&device, offsets, heads, weights, directed)? };
        Ok(Self::of(device, rows, directed))
    }

    /// A graph of edges in the memory of a GPU, in any order: their tails, heads and weights. Without a number of `vertices`
    /// there are as many as the greatest one needs. As [`ResidentGraph::from_rows`] otherwise.
    ///
    /// # Errors
    ///
    /// As of [`ResidentGraph::from_rows`].
    ///
    /// # Safety
    ///
    /// As of [`ResidentGraph::from_rows`].
    pub unsafe fn from_edges(
        vertices: Option<u64>,
        tails: ForeignArray,
        heads: ForeignArray,
        weights: Option<ForeignArray>,
        directed: bool,
    ) -> Result<Self> {
        let device = device_of(tails, heads, weights)?;
        // SAFETY: the caller's promise.
        let rows = unsafe { Rows::of_edges(&device, vertices, tails, heads, weights, directed)? };
        Ok(Self::of(device, rows, directed))
    }

    /// A graph of the host, copied to this device.
    ///
    /// # Errors
    ///
    /// If there is no such device or no memory for it, or a weight is below 0.
    pub fn from_graph(graph: &Graph, device: u32) -> Result<Self> {
        Self::from_graph_on(super::open_shared(device, usize::MAX)?, graph)
    }

    fn from_graph_on(device: Arc<dyn Device>, graph: &Graph) -> Result<Self> {
        let rows = Rows::of_graph(&device, graph)?;
        Ok(Self::of(device, rows, graph.is_directed()))
    }

    fn of(device: Arc<dyn Device>, rows: Rows, is_directed: bool) -> Self {
        ResidentGraph { device, rows, is_directed, facts: OnceLock::new(), prepared: Mutex::default() }
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.rows.size.vertices as usize
    }

    /// The number of arcs, parallel ones included; an undirected edge is two.
    pub fn arcs(&self) -> usize {
        self.rows.size.arcs as usize
    }

    /// Whether arcs have a direction.
    pub fn is_directed(&self) -> bool {
        self.is_directed
    }

    /// The type of the weights: unit, `u32`, `f32` or `f64`.
    pub fn weight_kind(&self) -> WeightKind {
        self.rows.size.weights
    }

    /// The number of the device it is on.
    pub fn device(&self) -> u32 {
        self.device.properties().ordinal
    }

    /// The same graph on the host, where of parallel arcs only the shortest is left. O(V + E), and as much over the bus.
    ///
    /// # Errors
    ///
    /// If the device fails, or the host has no memory for it.
    pub fn to_graph(&self) -> Result<Graph> {
        let (offsets, heads, weights) = self.rows.to_host()?;
        let direction = if self.is_directed { Direction::Directed } else { Direction::Undirected };
        ReadOptions::new().direction(direction).graph_of_rows(offsets, heads, weights)
    }

    /// Breadth-first search from a source, or from the nearest of several: distances are numbers of arcs.
    ///
    /// # Errors
    ///
    /// If a source is no vertex or there is none, the device fails or has no memory for it, or `control` has been cancelled.
    pub fn bfs(&self, sources: &[VertexId], predecessors: bool, control: &Control) -> Result<ResidentTree> {
        let sources = self.checked(sources)?;
        self.having_prepared(|prepared| {
            let is_first = prepared.bfs.is_none() && prepared.bfs_by_hops.is_none();
            let search = if is_first || prepared.has_no_room || !self.has_levels_to_hop()? {
                made(&mut prepared.bfs, || self.prepared_bfs())?
            } else {
                prepared.bfs = None;
                let Prepared { bfs_by_hops, has_no_room, .. } = &mut *prepared;
                made(bfs_by_hops, || noting(has_no_room, self.prepared_bfs_by_hops()))?
            };
            ResidentTree::of_bfs(&self.device, &mut **search, &sources, self.vertices(), predecessors, control)
        })
    }

    /// Shortest paths from a source, or from the nearest of several. Without weights a breadth-first search does.
    ///
    /// # Errors
    ///
    /// As of [`ResidentGraph::bfs`].
    pub fn sssp(&self, sources: &[VertexId], predecessors: bool, control: &Control) -> Result<ResidentTree> {
        if self.weight_kind() == WeightKind::Unit {
            return self.bfs(sources, predecessors, control);
        }
        let sources = self.checked(sources)?;
        self.having_prepared(|prepared| {
            let ask = |search: &mut dyn PreparedSssp, size: &Size, floats| {
                ResidentTree::of_sssp(&self.device, search, size, floats, &sources, predecessors, control)
            };
            let is_first = prepared.by_hops.is_none() && prepared.by_thresholds.is_none();
            let may_hop = !is_first && !prepared.has_rounded && !prepared.has_no_room;
            if may_hop && self.has_short_levels()? {
                let Prepared { by_hops, has_no_room, .. } = &mut *prepared;
                let search = made(by_hops, || noting(has_no_room, self.prepared_by_hops()))?;
                let size = Size { weights: WeightKind::U32, ..self.rows.size };
                let floats = match self.weight_kind() {
                    WeightKind::F32 => Some(Element::F32),
                    WeightKind::F64 => Some(Element::F64),
                    _ => None,
                };
                if let Some(tree) = ask(&mut **search, &size, floats)? {
                    prepared.by_thresholds = None;
                    return Ok(tree);
                }
                (prepared.by_hops, prepared.has_rounded) = (None, true);
            }
            let search = made(&mut prepared.by_thresholds, || self.prepared_by_thresholds())?;
            let tree = ask(&mut **search, &self.rows.size, None)?;
            tree.ok_or_else(|| Error::Device("a search has found no distances".into()))
        })
    }

    /// The distances from each of the sources, which may repeat, to each of the targets, or to all vertices: a search for each source,
    /// many of them at once.
    ///
    /// # Errors
    ///
    /// As of [`ResidentGraph::bfs`], but there may be no source; also if a target is no vertex.
    pub fn table(
        &self,
        sources: &[VertexId],
        targets: Option<&[VertexId]>,
        control: &Control,
    ) -> Result<ResidentTable> {
        self.check_vertices("source", sources)?;
        self.check_vertices("target", targets.unwrap_or(&[]))?;
        self.having_prepared(|_| ResidentTable::of(self, sources, targets, control))
    }

    /// Whether `multi-hop` is right for shortest paths: found when first asked.
    fn has_short_levels(&self) -> Result<bool> {
        let WeightFacts { least, greatest, are_whole } = self.rows.of_weights;
        if !are_whole || self.rows.arcs.offsets.is_wide() {
            return Ok(false);
        }
        let facts = GraphFacts { weight_kind: WeightKind::U32, weight_range: (least, greatest), ..self.facts()? };
        Ok(sssp::multi_hop::suits(&facts).is_some())
    }

    /// The facts about the graph without its weights, found when first asked.
    fn facts(&self) -> Result<GraphFacts> {
        if let Some(facts) = self.facts.get() {
            return Ok(*facts);
        }
        let sample = Sample::of(&self.rows, None);
        let facts = GraphFacts::of_rows(&sample, self.rows.longest as usize);
        sample.check()?;
        Ok(*self.facts.get_or_init(|| facts))
    }

    /// Whether `multi-hop` is right for breadth-first search.
    fn has_levels_to_hop(&self) -> Result<bool> {
        Ok(!self.rows.arcs.offsets.is_wide() && neighborhoods::suits(&self.facts()?).is_some())
    }

    fn prepared_bfs(&self) -> Result<Box<dyn PreparedBfs>> {
        let fill = |pool: &Pool, to| self.copy_arcs(pool, to);
        direction_optimizing::with_arcs(&self.device, &self.rows.size, &Parameters::default(), fill)
    }

    fn prepared_bfs_by_hops(&self) -> Result<Box<dyn PreparedBfs>> {
        let sample = Sample::of(&self.rows, None);
        let shape = (bfs::multi_hop::Shape::of(&sample, None), self.rows.longest);
        sample.check()?;
        let fill = |pool: &Pool, offsets, targets| self.copy_arcs(pool, Arcs::narrow(offsets, targets));
        bfs::multi_hop::with_arcs(&self.device, &self.rows.size, &Parameters::default(), shape, fill)
    }

    fn prepared_by_hops(&self) -> Result<Box<dyn PreparedSssp>> {
        let (whole, weights) = self.whole_weights()?;
        let sample = Sample::of(&self.rows, Some((&whole, weights)));
        let shape = sssp::multi_hop::Shape::of(&sample, None);
        sample.check()?;
        let size = Size { weights: WeightKind::U32, ..self.rows.size };
        let fill_arcs = |pool: &Pool, offsets, targets| self.copy_arcs(pool, Arcs::narrow(offsets, targets));
        let fill_weights = |pool: &Pool, to| pool.copy_from(to, &whole, weights);
        let greatest = self.rows.of_weights.greatest;
        let parameters = Parameters::default();
        sssp::multi_hop::with_arcs(&self.device, &size, &parameters, (shape, Some(greatest)), fill_arcs, fill_weights)
    }

    fn prepared_by_thresholds(&self) -> Result<Box<dyn PreparedSssp>> {
        let delta = self.first_delta()?;
        let fill = |pool: &Pool, offsets: Offsets, pairs: Pairs| self.copy_pairs(pool, offsets, pairs);
        Ok(Box::new(near_far::with_arcs(&self.device, &self.rows.size, &Parameters::default(), delta, fill)?))
    }

    /// The first threshold of searches by weights.
    fn first_delta(&self) -> Result<f64> {
        Ok(near_far::delta_for(&self.rows.size, self.sample()?, || self.rows.of_weights.greatest))
    }

    /// The weights, which are whole numbers, as such.
    fn whole_weights(&self) -> Result<(Pool, DeviceSlice<u32>)> {
        let count = self.rows.size.arcs;
        let (pool, to) = Pool::lay_out(&self.device, |arena| arena.take("whole weights", count))?;
        let Some(from) = self.rows.weights else { return Err(Error::invalid("there are no weights")) };
        match self.weight_kind() {
            WeightKind::F32 => launch!(&self.device, "resident_whole_f32", count, [from, count, to])?,
            WeightKind::F64 => launch!(&self.device, "resident_whole_f64", count, [from, count, to])?,
            _ => pool.copy_from(to, &self.rows.pool, from)?,
        }
        Ok((pool, to))
    }

    /// An error if one of these is not a vertex.
    fn check_vertices(&self, what: &str, vertices: &[VertexId]) -> Result<()> {
        let count = self.vertices();
        match vertices.iter().find(|&&v| v as usize >= count) {
            Some(v) => Err(Error::invalid(format!("{what} {v} is not a vertex: the graph has {count}"))),
            None => Ok(()),
        }
    }

    /// The sources in order, without repeats.
    fn checked(&self, sources: &[VertexId]) -> Result<Vec<VertexId>> {
        if sources.is_empty() {
            return Err(Error::invalid("a search needs a source"));
        }
        self.check_vertices("source", sources)?;
        let mut sources = sources.to_vec();
        sources.sort_unstable();
        sources.dedup();
        Ok(sources)
    }

    /// Does what needs a search, which `work` prepares. If there is no memory for it, what is prepared is given up, and `work` is
    /// done once more.
    fn having_prepared<T>(&self, mut work: impl FnMut(&mut Prepared) -> Result<T>) -> Result<T> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        let done = match work(&mut prepared) {
            Err(Error::OutOfMemory { .. }) => {
                prepared.give_up();
                work(&mut prepared)
            }
            done => done,
        };
        if done.is_err() {
            // What a failed search has left may be half done.
            prepared.give_up();
        }
        done
    }

    /// Copies the arcs to where a search has them.
    fn copy_arcs(&self, pool: &Pool, to: Arcs) -> Result<()> {
        self.copy_offsets(pool, to.offsets)?;
        pool.copy_from(to.targets, &self.rows.pool, self.rows.arcs.targets)
    }

    fn copy_offsets(&self, pool: &Pool, to: Offsets) -> Result<()> {
        match (to, self.rows.arcs.offsets) {
            (Offsets::Narrow(to), Offsets::Narrow(from)) => pool.copy_from(to, &self.rows.pool, from),
            (Offsets::Wide(to), Offsets::Wide(from)) => pool.copy_from(to, &self.rows.pool, from),
            _ => Err(Error::Device("offsets of another width".into())),
        }
    }

    /// The same with the weights beside the heads.
    fn copy_pairs(&self, pool: &Pool, offsets: Offsets, pairs: Pairs) -> Result<()> {
        self.copy_offsets(pool, offsets)?;
        let (heads, weights, is_wide) = self.arcs_for_kernels();
        let (arcs, pairs) = (self.rows.size.arcs, pairs.address());
        launch!(&self.device, "resident_pairs", arcs, [heads, weights, is_wide, arcs, pairs])
    }

    /// Where heads and weights are, and whether weights have 64 bits.
    fn arcs_for_kernels(&self) -> (u64, u64, u32) {
        let weights = self.rows.weights.map_or(0, |weights| weights.address());
        (self.rows.arcs.targets.address(), weights, u32::from(words_of(self.weight_kind()) == 2))
    }

    /// Some arcs.
    fn sample(&self) -> Result<ArcSample> {
        let (step, count) = ArcSample::spread_over(self.arcs());
        let layout = |arena: &mut super::device::arena::Arena<'_>| {
            arena.take_two::<u64>(["weights of a sample", "degrees of a sample"], count as u64)
        };
        let (pool, [weights, degrees]) = Pool::lay_out(&self.device, layout)?;
        let (heads, of_arcs, is_wide) = self.arcs_for_kernels();
        let (step, length, offsets) = (step as u64, count as u64, self.rows.arcs.offsets);
        let name = if offsets.is_wide() { "resident_sample_64" } else { "resident_sample_32" };
        launch!(&self.device, name, length, [offsets, heads, of_arcs, is_wide, step, length, weights, degrees])?;
        let kind = self.weight_kind();
        let weights = pool.read(weights)?.into_iter().map(|bits| adoption::weight_of_bits(bits, kind)).collect();
        let degree_of_heads = pool.read(degrees)?.iter().sum::<u64>() as f64 / count.max(1) as f64;
        Ok(ArcSample { weights, degree_of_heads })
    }
}

#[cfg(test)]
mod tests;
