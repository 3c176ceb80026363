//! Transitive closure by strongly connected components on a GPU: the host finds the components, the device closes the
//! matrix of bits between them.
//!
//! Vertices of one component reach the same, so one row and one column of bits serve them all. With `C` components that
//! leaves `C^3` pairs of `V^3`, and `C^2` bits of memory. The components come numbered in reverse topological order: an arc leads to a
//! smaller number. So the matrix is a triangle. [`bit_product`](super::bit_product), where tensor cores serve, works on a sixth of the
//! pairs: rows after a block, columns up to its end. [`bit_warshall`](super::bit_warshall) leaves out tile rows above a stage, which have
//! no bits in its columns: half of them.
//!
//! # When it pays
//!
//! Finding components is a walk of one thread over all arcs, some nanoseconds for each: a second for 10^8 of them. What it
//! saves is at most the closure between vertices, `V^3` at some 10^15 a second: a third of a second for 65,536 vertices. So
//! it is picked where there are few arcs for the vertices, whatever the components turn out to be; with one for each vertex
//! it still saves half.
//!
//! # Left out
//!
//! Going through the components in topological order, a row is the union of its successors' rows: `E_C * C` bits for
//! `E_C` arcs between components, where Warshall's algorithm has `C^3 / 2`, but at the rate of memory, some 3 * 10^13
//! bits a second, not at the rate of tables in shared memory: with an average degree below `C / 60` it has less to do.
//! But then the CPU's `condensation`, which does just that and leaves out redundant arcs, takes milliseconds to a
//! second, too, and a path of components is a chain of `C` steps that wait for each other, half a microsecond each on a
//! GPU at best.
//!
//! Sources: those of the CPU's `condensation`, of `bit-product` and of `bit-warshall`.

use rayon::prelude::*;

use super::bit_product::BLOCK;
use super::{ClosureAlgorithm, bit_warshall};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cuda::matrix::tiles::{HEAD_START, STAGES};
use crate::graph::{Graph, NO_VERTEX, VertexId, strongly_connected_components, weakly_connected_components};
use crate::plan::Plan;
use crate::problems::{BitMatrix, CondensedBits};
use crate::{Result, memory};

/// This algorithm's line in the table.
pub(super) const ALGORITHM: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        name: "condensation",
        summary: "strongly connected components on the CPU, bits between them by bit-product or bit-warshall; for sparse graphs",
        source: "Purdom 1970; Warshall 1962",
        parameters: &[HEAD_START, STAGES, BLOCK],
        seconds: |work| (work.vertices() + work.arcs()) * OF_ARC + (bit_warshall::ALGORITHM.info.seconds)(work),
        ..bit_warshall::ALGORITHM.info
    },
    condenses: true,
    ..bit_warshall::ALGORITHM
};

/// Seconds of the host for a vertex or an arc of the graph whose components are looked for.
const OF_ARC: f64 = 10e-9;
/// Pairs of vertices, for each that is admitted, a second of a device.
const PAIRS: f64 = 8e14;

/// Whether it is picked: where finding components takes much less than the closure between vertices.
pub(crate) fn pays(graph: &Graph) -> bool {
    let components = (graph.vertices() + graph.arcs()) as f64 * OF_ARC;
    2.0 * components < (graph.vertices() as f64).powi(3) / PAIRS
}

/// What it takes on the host, but for the matrix.
pub(super) fn plan(graph: &Graph, components: u64, plan: &mut Plan) {
    plan.memory("components", graph.vertices() as u64 * 36 + components * 17);
}

/// How many components there are.
pub(super) fn count(graph: &Graph) -> Result<usize> {
    Ok(Condensation::components(graph)?.count)
}

/// The graph of components.
pub(super) struct Condensation<'a> {
    graph: &'a Graph,
    component: Vec<u32>,
    sizes: Vec<u64>,
    /// The vertices of each component, one after another.
    members: Vec<VertexId>,
    /// Where those of each begin.
    starts: Vec<usize>,
}

impl<'a> Condensation<'a> {
    fn components(graph: &Graph) -> Result<crate::graph::Components> {
        if graph.is_directed() { strongly_connected_components(graph) } else { weakly_connected_components(graph) }
    }

    pub(super) fn of(graph: &'a Graph) -> Result<Self> {
        let components = Self::components(graph)?;
        let sizes = components.sizes()?;
        let mut starts = memory::with_capacity("the offsets of components", sizes.len() + 1)?;
        starts.push(0);
        starts.extend(sizes.iter().scan(0, |sum, &size| {
            *sum += size as usize;
            Some(*sum)
        }));
        let mut next = memory::copied("the offsets of components", &starts)?;
        let mut members = memory::filled("the list of vertices by component", components.of.len(), NO_VERTEX)?;
        for (v, &component) in components.of.iter().enumerate() {
            members[next[component as usize]] = v as VertexId;
            next[component as usize] += 1;
        }
        Ok(Condensation { graph, component: components.of, sizes, members, starts })
    }

    pub(super) fn count(&self) -> usize {
        self.sizes.len()
    }

    /// Calls `set` with every component that an arc from this one leads to, and with itself: repeats are possible.
    pub(super) fn row(&self, component: usize, mut set: impl FnMut(usize)) {
        set(component);
        for &member in &self.members[self.starts[component]..self.starts[component + 1]] {
            self.graph.neighbors(member).iter().for_each(|&head| set(self.component[head as usize] as usize));
        }
    }

    /// The result, with the closed bits between components, all of which reach themselves there; none where no arc leads
    /// from one to another.
    pub(super) fn close(self, irreflexive: bool, bits: Option<BitMatrix>) -> Result<(CondensedBits, Statistics)> {
        let largest = self.sizes.iter().copied().max().unwrap_or(0);
        let statistics = vec![("components", self.count() as u64), ("largest_component", largest)];
        let has_loop = |&v: &VertexId| self.graph.neighbors(v).contains(&v);
        let is_cyclic = |component: usize| match &self.members[self.starts[component]..self.starts[component + 1]] {
            [vertex] => has_loop(vertex),
            _ => true,
        };
        let each = (0..self.count()).into_par_iter().map(|component| !irreflexive || is_cyclic(component));
        let reaches_itself = memory::collected("the marks of components", each)?;
        let bits = bits.map(|mut bits| {
            (0..self.count()).filter(|&c| !reaches_itself[c]).for_each(|c| bits.set(c, c, false));
            bits
        });
        Ok((CondensedBits { component: self.component, sizes: self.sizes, reaches_itself, bits }, statistics))
    }
}
