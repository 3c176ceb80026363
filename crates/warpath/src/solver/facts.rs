//! Facts about a graph, found once, when a decision first needs them. Each takes a pass over the graph, or a sample of
//! it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::prelude::*;

use super::Solver;
use crate::algorithms::{GraphFacts, Parameters, Workload};
use crate::cuda::bfs::BfsAlgorithm;
use crate::cuda::sssp::SsspAlgorithm;
use crate::graph::{Graph, VertexId, Weights};
use crate::{Plan, Result};

/// The facts that are known.
#[derive(Debug, Default)]
pub(super) struct Facts {
    narrow_is_certain: OnceLock<bool>,
    graph: OnceLock<GraphFacts>,
    /// Algorithms for breadth-first searches on a device.
    pub(super) bfs: Known<BfsAlgorithm>,
    /// Algorithms for shortest-path searches on a device.
    pub(super) sssp: Known<SsspAlgorithm>,
}

/// An algorithm of the CUDA engine for one graph.
#[derive(Debug)]
pub(super) struct OnDevice<A: 'static> {
    /// The algorithm, with parameters, as text.
    pub(super) name: String,
    /// Why this algorithm.
    pub(super) reason: String,
    pub(super) algorithm: &'static A,
    pub(super) parameters: Parameters,
    /// The memory that it takes.
    pub(super) plan: Plan,
}

/// Algorithms of the CUDA engine for one graph, by the text that was asked for; `None` stands for the algorithm
/// predicted fastest.
#[derive(Debug)]
pub(super) struct Known<A: 'static>(Mutex<HashMap<Option<String>, Arc<OnDevice<A>>>>);

impl<A> Default for Known<A> {
    fn default() -> Self {
        Known(Mutex::default())
    }
}

impl<A> Known<A> {
    /// The algorithm that was asked for, found by `find` if it is not known.
    pub(super) fn get(
        &self,
        asked: Option<&str>,
        find: impl FnOnce() -> Result<OnDevice<A>>,
    ) -> Result<Arc<OnDevice<A>>> {
        let asked = asked.map(str::to_owned);
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known().get(&asked) {
            return Ok(found.clone());
        }
        // No lock is held while this samples the graph; at worst two threads do it.
        let found = Arc::new(find()?);
        known().insert(asked, found.clone());
        Ok(found)
    }
}

impl Solver {
    /// Whether no distance can leave the narrow semiring: a path leaves each vertex once at most, by its heaviest arc
    /// at worst.
    pub(super) fn narrow_is_certain(&self) -> bool {
        let Weights::U32(weights) = self.graph.weights() else { return false };
        once(&self.facts.narrow_is_certain, || {
            let heaviest = |v: VertexId| weights[self.graph.csr().row(v)].iter().max().copied().map_or(0, u64::from);
            let vertices = 0..self.graph.vertices() as VertexId;
            let bound: u64 = self.team.install(|| vertices.into_par_iter().with_min_len(4096).map(heaviest).sum());
            bound < u64::from(u32::MAX)
        })
    }

    /// The facts about the graph, without its weights.
    pub(super) fn graph_facts(&self) -> GraphFacts {
        once(&self.facts.graph, || GraphFacts::without_weights(&self.graph))
    }

    /// The facts about the graph and its weights.
    pub(super) fn weighted_facts(&self) -> GraphFacts {
        self.graph_facts().with_weights_of(&self.graph)
    }

    /// The work of an algorithm on a graph with these facts: this many searches, on the solver's threads.
    pub(super) fn workload<'a>(&self, graph: GraphFacts, parameters: &'a Parameters, searches: usize) -> Workload<'a> {
        Workload { graph, parameters, searches, threads: self.team.threads() }
    }
}

/// The fact, found now if it is not known. No thread waits for another one that is finding it.
fn once<T: Copy>(fact: &OnceLock<T>, find: impl FnOnce() -> T) -> T {
    match fact.get() {
        Some(&known) => known,
        None => {
            let found = find();
            *fact.get_or_init(|| found)
        }
    }
}

/// The bytes that [`Graph::transpose`] takes.
pub(super) fn transpose_bytes(graph: &Graph) -> u64 {
    8 * graph.vertices() as u64 + graph.arcs() as u64 * (4 + graph.weight_kind().bytes())
}
