//! Hierarchies: an order of the vertices and shortcuts, made once, from which every further question is answered with a
//! fraction of the work of a search.
//!
//! # The method, for a reader who knows Dijkstra's algorithm
//!
//! Dijkstra's algorithm looks at every vertex that is nearer than the target. Most of that work is the same for every
//! source: the way from one end of a town to the other does not depend on where a journey began. So take the vertices out of
//! the graph, one after another, and keep what they did for the others: when `v` goes, each pair of its neighbours gets a
//! *shortcut* as long as the way through `v`. What is left has the same distances as before. This is elimination, as of the
//! unknowns of a system of equations, with minimum and addition in the place of addition and multiplication.
//!
//! How many shortcuts come about depends on the order. If the last vertices are a small set whose removal divides the
//! graph, a *separator*, then nothing on one side ever gets a shortcut to the other side. Each side is ordered in the same
//! way. On roads, meshes and other graphs with small separators the shortcuts are two to twenty times as many as the edges
//! (`order`, `elimination`).
//!
//! After that, every path can be replaced by one of the same length that first only goes to later vertices and then only to
//! earlier ones. All later vertices that can be reached in this way from `v` are `v`'s *ancestors* in a tree, a few hundred
//! even among millions of vertices. So:
//!
//! - one pair: walk from both ends up the tree, and take the best ancestor that both have (`query`). Microseconds.
//! - one source: walk up from the source, then let each vertex, from the roots down, take the best of its ancestors: one pass
//!   over memory in a fixed order, without a queue (`one_source`).
//! - many sources: sixteen share the pass (`sweep`), and their distances leave it in parts that fit the cache (`windows`); sixty-four
//!   where only facts about the distances are wanted, which are added up on the way. Once some hundred were asked for, the pass goes
//!   over the upper part of the tree alone, and all other distances come from *labels*: lengths from a few vertices next to
//!   each (`labels`, `rows`).
//! - a table of sources and targets: the pass goes over the targets' ancestors alone (`selection`).
//!
//! The order depends on the graph's edges alone. The lengths of shortcuts depend on the weights, and are found by looking
//! once at every triangle of shortcuts: milliseconds, so that other weights, such as the traffic of the next minute, need no
//! new order (`customization`). So a hierarchy is worth a file: a `.wpg` holds it beside its graph (`stored`).
//!
//! Sources: George 1973 (nested dissection); Dibbelt, Strasser, Wagner, *Customizable contraction hierarchies*, 2016;
//! Delling, Goldberg, Nowatzyk, Werneck, *PHAST*, 2013.

mod arcs;
mod builder;
mod customization;
mod customized;
mod destination;
mod earlier;
mod elimination;
mod fronts;
mod labels;
mod metric;
mod one_source;
mod order;
mod pieces;
mod query;
pub(crate) mod rounds;
mod rows;
mod selection;
mod stored;
mod sweep;
#[cfg(test)]
mod tests;
mod tiles;
mod transposition;
mod update;
#[cfg(test)]
mod update_tests;
mod windows;

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::Result;
use crate::control::Control;
use crate::graph::{Graph, VertexId, Weights};
use crate::memory::filled;

pub(crate) use customization::{Elsewhere, Lengths, Unsettled};
pub(crate) use customized::ROWS_FOR_LABELS;
use earlier::Earlier;
pub(crate) use elimination::{Elimination, ROOT};
pub(crate) use pieces::{COLUMNS, Pieces};
pub(crate) use query::climb;
pub(crate) use rounds::Rounds;
pub(crate) use sweep::bytes_of_sweep;
pub(crate) use tiles::{BATCH, Limits, NO_ARC, NO_SLOT, Piece, Step, Tile, Tiles};

pub use builder::{HierarchyBuilder, nested_dissection};
pub use metric::Metric;
pub use order::Estimate;

/// An order of the vertices of a graph and the shortcuts that it leads to, whatever the weights.
///
/// ```
/// let graph = warpath::generate("grid:30x30,weights=1..100")?;
/// let hierarchy = warpath::hierarchy::Hierarchy::new(graph)?;
/// let metric = hierarchy.customize(hierarchy.graph().weights())?;
/// let distances = metric.distances_from(0)?;
/// assert_eq!(metric.distance(0, 899)?, distances.get(899));
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Hierarchy {
    graph: Arc<Graph>,
    shared: Arc<Shared>,
}

/// What does not depend on weights, shared by the hierarchies of a graph with these weights and those.
#[derive(Debug)]
struct Shared {
    elimination: Elimination,
    /// Which arcs of the graph run along each shortcut.
    arcs: arcs::Arcs,
    /// The tree in pieces, for all limits that somebody has asked for: there are few.
    pieces: Mutex<Vec<(Limits, Arc<Pieces>)>>,
    /// The columns of rows of all vertices, and those of the targets that were asked for last.
    rounds: Mutex<Vec<KeptRounds>>,
    /// Once somebody has asked for them.
    earlier: OnceLock<Earlier>,
}

/// Columns of rows, and what they are of.
#[derive(Debug)]
struct KeptRounds {
    limits: Limits,
    targets: Option<Vec<VertexId>>,
    rounds: Arc<Rounds>,
}

impl Shared {
    /// The earlier neighbours of each rank. The first call lists them, in O(shortcuts).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    fn earlier(&self) -> Result<&Earlier> {
        if let Some(earlier) = self.earlier.get() {
            return Ok(earlier);
        }
        let listed = Earlier::new(&self.elimination)?;
        Ok(self.earlier.get_or_init(|| listed))
    }
}

impl Hierarchy {
    /// Orders the vertices by nested dissection and eliminates them. The same graph gives the same hierarchy on every
    /// machine, whatever the number of threads. About O(V log V) for graphs with small separators.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) if the graph has no small separators: if there are 2^32 shortcuts or more, or more than
    /// memory has room for; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn new(graph: impl Into<Arc<Graph>>) -> Result<Self> {
        Self::builder(graph).build()
    }

    /// As [`Hierarchy::new`], and stops if `control` is cancelled.
    ///
    /// # Errors
    ///
    /// As [`HierarchyBuilder::build`].
    pub fn with_control(graph: impl Into<Arc<Graph>>, control: &Control) -> Result<Self> {
        Self::builder(graph).control(control.clone()).build()
    }

    /// Eliminates the vertices in an order of the caller's, the first one first. Distances don't depend on the order; the
    /// number of shortcuts does.
    ///
    /// # Errors
    ///
    /// As [`HierarchyBuilder::build`].
    pub fn with_order(graph: impl Into<Arc<Graph>>, order: &[VertexId]) -> Result<Self> {
        Self::builder(graph).order(order.to_vec()).build()
    }

    /// A hierarchy with choices.
    ///
    /// ```
    /// use warpath::hierarchy::Hierarchy;
    /// let graph = warpath::generate("grid:30x30")?;
    /// let hierarchy = Hierarchy::builder(graph).memory(8 << 20).build()?;
    /// assert!(hierarchy.shortcuts() < 20_000);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    pub fn builder(graph: impl Into<Arc<Graph>>) -> HierarchyBuilder {
        HierarchyBuilder::new(graph.into())
    }

    /// Estimates what [`Hierarchy::new`] would lead to, on large graphs in a tenth to a half of the time of its order. A hierarchy pays where
    /// the shortcuts are a few times the edges, as on roads and meshes; where they are fifty times as many, as in social
    /// networks, every search is faster. docs/experiments.md holds estimates beside what came about.
    ///
    /// ```
    /// use warpath::{Control, hierarchy::Hierarchy};
    /// let [roads, social] = ["roads:20000", "kron:12"].map(|recipe| {
    ///     let graph = warpath::generate(recipe).unwrap();
    ///     let estimate = Hierarchy::estimate(&graph, &Control::new()).unwrap();
    ///     estimate.shortcuts / estimate.edges
    /// });
    /// assert!(roads < 5 && social > 5);
    /// ```
    ///
    /// # Errors
    ///
    /// As [`nested_dissection`].
    pub fn estimate(graph: &Graph, control: &Control) -> Result<Estimate> {
        order::estimate(order::Pattern::new(graph)?, control)
    }

    /// The graph.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The same hierarchy for a graph of the same arcs with other weights. O(1).
    pub(crate) fn reweighted(&self, graph: Arc<Graph>) -> Self {
        debug_assert_eq!(self.graph.csr().targets(), graph.csr().targets(), "arcs are the same");
        Hierarchy { graph, shared: self.shared.clone() }
    }

    /// The same hierarchy for the same graph with other names of its vertices ([`Graph::with_labels`]). O(E).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`](crate::Error::InvalidRequest) if the graph has other arcs.
    pub fn of_renamed(&self, graph: Arc<Graph>) -> Result<Self> {
        let (mine, other) = (self.graph.csr(), graph.csr());
        let are_same = mine.offsets() == other.offsets() && mine.targets() == other.targets();
        if !are_same || self.graph.is_directed() != graph.is_directed() {
            return Err(crate::Error::invalid("the graph has other arcs than that of the hierarchy"));
        }
        Ok(self.reweighted(graph))
    }

    /// Whether this is a hierarchy of the very graph that the caller has.
    pub(crate) fn is_of(&self, graph: &Arc<Graph>) -> bool {
        Arc::ptr_eq(&self.graph, graph)
    }

    /// The elimination tree and its shortcuts.
    pub(crate) fn elimination(&self) -> &Elimination {
        &self.shared.elimination
    }

    /// The tree in pieces, for a device.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(crate) fn pieces(&self, limits: Limits) -> Result<Arc<Pieces>> {
        let kept = || self.shared.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, pieces)) = kept().iter().find(|(of, _)| *of == limits) {
            return Ok(pieces.clone());
        }
        // Nobody holds the lock while threads work: they might take up other work that waits for it.
        let pieces = Arc::new(Pieces::new(&self.shared.elimination, limits)?);
        let mut kept = kept();
        if !kept.iter().any(|(of, _)| *of == limits) {
            kept.push((limits, pieces.clone()));
        }
        Ok(pieces)
    }

    /// The columns of rows of all vertices, or of these targets, over the pieces of these limits. Those of all vertices are kept, and
    /// those of the last targets.
    ///
    /// # Errors
    ///
    /// Those of [`Rounds::new`].
    pub(crate) fn rounds(&self, limits: Limits, targets: Option<&[VertexId]>) -> Result<Arc<Rounds>> {
        let is_this = |kept: &KeptRounds| kept.limits == limits && kept.targets.as_deref() == targets;
        let kept = || self.shared.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = kept().iter().find(|kept| is_this(kept)) {
            return Ok(kept.rounds.clone());
        }
        // Nobody holds the lock meanwhile, as above.
        let rounds = Arc::new(Rounds::new(&self.shared.elimination, &*self.pieces(limits)?, targets)?);
        let targets = targets.map(|targets| crate::memory::copied("the targets of a table", targets)).transpose()?;
        let mut kept = kept();
        kept.retain(|kept| kept.targets.is_some() != targets.is_some());
        kept.push(KeptRounds { limits, targets, rounds: rounds.clone() });
        Ok(rounds)
    }

    /// How many triangles of shortcuts there are: what customization looks at.
    pub(crate) fn triangles(&self) -> f64 {
        self.shared.elimination.triangles() as f64
    }

    /// The vertices in the order of their elimination.
    pub fn order(&self) -> &[VertexId] {
        &self.shared.elimination.vertices
    }

    /// The number of arcs between vertices that are neighbours after elimination, shortcuts included, each pair counted
    /// once. A search from one source looks at each of them once.
    pub fn shortcuts(&self) -> u64 {
        self.shared.elimination.heads.len() as u64
    }

    /// How many of the shortcuts are edges of the graph: pairs of vertices with an arc between them, in either direction.
    /// O(E + shortcuts).
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn edges(&self) -> Result<u64> {
        let arcs = &self.shared.arcs;
        let mut is_edge = filled("the edges of a hierarchy", self.shared.elimination.heads.len(), false)?;
        arcs.up.arcs.iter().chain(&arcs.down.arcs).for_each(|&(place, _)| is_edge[place as usize] = true);
        Ok(is_edge.iter().filter(|&&is_edge| is_edge).count() as u64)
    }

    /// The most vertices on a path from a root of the elimination tree: what a walk up the tree visits at most.
    pub fn height(&self) -> usize {
        self.shared.elimination.height()
    }

    /// The most later neighbours of any vertex.
    pub fn width(&self) -> usize {
        self.shared.elimination.width()
    }

    /// The lengths of all shortcuts for these weights, which are those of the arcs of the graph in their order: its own, or
    /// others, such as times of travel beside lengths. O(triangles of shortcuts), on all threads.
    ///
    /// # Errors
    ///
    /// [`Error::NegativeCycle`](crate::Error::NegativeCycle); [`Error::InvalidRequest`](crate::Error::InvalidRequest) if there are not as many weights as arcs, or if the graph is
    /// undirected and the two directions of an edge have other weights; [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn customize(&self, weights: &Weights) -> Result<Metric> {
        Metric::new(self, weights, None)
    }

    /// [`Hierarchy::customize`], with lengths settled by `elsewhere` where it takes their type and does not fail.
    pub(crate) fn customize_elsewhere(&self, weights: &Weights, elsewhere: Option<&dyn Elsewhere>) -> Result<Metric> {
        Metric::new(self, weights, elsewhere)
    }

    /// As [`Hierarchy::customize`] for each of these weights, such as lengths, times and tolls. Up to eight that follow each
    /// other and have the same type are customized together, and share each look at a triangle.
    ///
    /// ```
    /// use warpath::graph::Weights;
    /// let graph = warpath::generate("grid:30x30,weights=1..100")?;
    /// let hierarchy = warpath::hierarchy::Hierarchy::new(graph)?;
    /// let hops = Weights::unit(hierarchy.graph().arcs());
    /// let metrics = hierarchy.customize_all(&[hierarchy.graph().weights().clone(), hops])?;
    /// assert!(metrics[1].distance(0, 899)? < metrics[0].distance(0, 899)?);
    /// # Ok::<(), warpath::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`Hierarchy::customize`], for any of the weights.
    pub fn customize_all(&self, weights: &[Weights]) -> Result<Vec<Metric>> {
        Metric::all(self, weights, None)
    }
}
