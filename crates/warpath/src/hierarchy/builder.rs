//! How a hierarchy is made: by which order, in how much memory, under whose control.

use std::sync::Arc;

use super::arcs::Arcs;
use super::elimination::{Elimination, MOST_ARCS};
use super::order::{self, Pattern};
use super::{Hierarchy, Shared};
use crate::control::Control;
use crate::graph::{Graph, VertexId};
use crate::memory::{available_memory, filled, spendable};
use crate::{Error, Result};

/// What a shortcut takes while the hierarchy is made, customized and asked for paths: its head and the head's depth, its place among
/// the earlier neighbours, and two lengths of 64 bits.
const BYTES_A_SHORTCUT: u64 = 4 + 4 + 8 + 16;

/// Choices for making a [`Hierarchy`]; see [`Hierarchy::builder`].
#[derive(Debug, Clone)]
pub struct HierarchyBuilder {
    graph: Arc<Graph>,
    order: Option<Vec<VertexId>>,
    memory: Option<u64>,
    control: Control,
}

impl HierarchyBuilder {
    pub(super) fn new(graph: Arc<Graph>) -> Self {
        HierarchyBuilder { graph, order: None, memory: None, control: Control::new() }
    }

    /// Eliminates the vertices in this order, the first one first, instead of that of [`nested_dissection`]. Distances
    /// don't depend on the order; the number of shortcuts does.
    pub fn order(mut self, order: Vec<VertexId>) -> Self {
        self.order = Some(order);
        self
    }

    /// How many bytes the shortcuts may take while they are made and customized: 32 each. By default, most of the
    /// available memory.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = Some(bytes);
        self
    }

    /// A handle to watch and cancel the work with. The stages are `order` and `eliminate`.
    pub fn control(mut self, control: Control) -> Self {
        self.control = control;
        self
    }

    /// Orders the vertices, unless the order is given, and eliminates them. O(shortcuts x log) after the order.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if the given order does not have each vertex once, or if the graph has no small
    /// separators: if there are 2^32 shortcuts or more, or more than memory has room for, of which the first separators tell
    /// where there are far more; [`Error::OutOfMemory`]; [`Error::Interrupted`].
    pub fn build(self) -> Result<Hierarchy> {
        if let Some(order) = &self.order {
            check_order(&self.graph, order)?;
        }
        let pattern = Pattern::new(&self.graph)?;
        let room = self.memory.unwrap_or(u64::MAX).min(spendable(available_memory()));
        let limit = (room / BYTES_A_SHORTCUT).min(MOST_ARCS);
        let order = match self.order {
            Some(order) => order,
            None => order::nested_dissection(pattern.clone(), limit, &self.control)?,
        };
        let elimination = Elimination::new(&pattern, &order, limit, &self.control)?;
        drop(pattern);
        Hierarchy::of(self.graph, elimination)
    }
}

/// An error unless `order` has each vertex of the graph once.
fn check_order(graph: &Graph, order: &[VertexId]) -> Result<()> {
    let (given, wanted) = (order.len(), graph.vertices());
    if given != wanted {
        return Err(Error::invalid(format!("the order has {given} vertices, and the graph {wanted}")));
    }
    graph.check_vertices(order, "vertex of the order")?;
    let mut seen = filled("an order", wanted, false)?;
    for &v in order {
        if std::mem::replace(&mut seen[v as usize], true) {
            return Err(Error::invalid(format!("the order has the vertex {} twice", graph.name(v))));
        }
    }
    Ok(())
}

impl Hierarchy {
    /// The hierarchy of an elimination: finds the arcs along each shortcut. O(E log(E)).
    ///
    /// # Errors
    ///
    /// [`Error::InvalidRequest`] if an edge has no shortcut: the elimination is that of another graph;
    /// [`Error::OutOfMemory`].
    pub(super) fn of(graph: Arc<Graph>, elimination: Elimination) -> Result<Self> {
        let arcs = Arcs::new(&graph, &elimination)?;
        let shared = Shared {
            elimination,
            arcs,
            pieces: Default::default(),
            rounds: Default::default(),
            earlier: Default::default(),
        };
        Ok(Hierarchy { graph, shared: Arc::new(shared) })
    }
}

/// An order of the vertices in which few shortcuts come about where the graph has small separators: the first is eliminated
/// first. It depends on the edges alone, and is the same on every machine, whatever the number of threads. About
/// O(V log V) for graphs with small separators. George, *Nested dissection of a regular finite element mesh*, 1973.
///
/// # Errors
///
/// [`Error::InvalidRequest`] if both directions of all edges are 2^32 or more; [`Error::OutOfMemory`];
/// [`Error::Interrupted`] if `control` is cancelled.
pub fn nested_dissection(graph: &Graph, control: &Control) -> Result<Vec<VertexId>> {
    order::nested_dissection(Pattern::new(graph)?, u64::MAX, control)
}
