//! Which arcs are relaxed for now, and the steps once everything below the limit is settled.

use std::sync::atomic::Ordering;

use super::ThreadSearch;
use super::relaxation::prefetch_slice;
use super::width::{average_degree, typical_weight};
use crate::cpu::Worker;
use crate::cpu::sssp::SsspTask;
use crate::graph::{DistanceKey, DistanceValue, MinPlus, VertexId};

/// Which arcs are relaxed for now: those that lead to a distance below `limit`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scope<D> {
    pub(super) limit: D,
    /// How far the limit was moved last.
    width: f64,
    /// The arcs of the vertices that were settled then.
    settled_arcs: u64,
}

impl<D: DistanceValue> Scope<D> {
    /// The scope of the first buckets. With random weights up to about twice the typical one, the number of vertices
    /// within reach grows e-fold in twice the typical weight over the degree; this is two such steps.
    pub(super) fn first<L: MinPlus<Distance = D>>(task: &SsspTask<'_, L>, delta: f64) -> Self {
        /// From this degree on, a look at the weights alone is much cheaper than a look at the heads, too.
        const DENSE: f64 = 8.0;
        let degree = average_degree(task);
        let width = (4.0 * typical_weight(task) / degree).max(delta);
        let limit = D::at_most_float(width);
        // A limit of 0 would leave out the sources.
        if task.graph.is_directed() || degree < DENSE || limit <= D::ZERO {
            return Scope { limit: D::UNREACHABLE, width: f64::INFINITY, settled_arcs: 0 };
        }
        Scope { limit, width, settled_arcs: 0 }
    }

    pub(super) fn is_everything(self) -> bool {
        self.limit == D::UNREACHABLE
    }

    /// The scope after this one, when vertices with this many arcs are settled.
    fn next(self, settled_arcs: u64, greatest_weight: f64) -> Self {
        // Nothing at all may have been settled: the sources may have no arcs.
        let width = if settled_arcs <= 2 * self.settled_arcs { 4.0 * self.width } else { self.width };
        let limit = D::at_most_float(self.limit.to_f64() + width);
        let everything = width > greatest_weight || limit <= self.limit;
        Scope { limit: if everything { D::UNREACHABLE } else { limit }, width, settled_arcs }
    }
}

impl<L: MinPlus, const ALONE: bool> ThreadSearch<'_, L, ALONE> {
    /// Everything below the limit is settled: moves the limit, and catches up on the arcs that this allows.
    pub(super) fn widen_scope(&mut self, worker: &Worker<'_>) {
        const BLOCK: usize = 1024;
        /// Pull when the settled vertices have this many times the arcs of the others.
        const PULL: u64 = 4;
        let (shared, vertices) = (self.shared, self.graph.vertices());
        shared.settled_arcs.fetch_add(std::mem::take(&mut self.visited_arcs), Ordering::Relaxed);
        if worker.index == 0 {
            shared.scanned.store(0, Ordering::Relaxed);
        }
        worker.barrier();
        let settled_arcs = shared.settled_arcs.load(Ordering::Relaxed);
        let other_arcs = (self.graph.arcs() as u64).saturating_sub(settled_arcs);
        let pull = PULL * other_arcs <= settled_arcs;
        let floor = self.scope.limit;
        self.scope = self.scope.next(settled_arcs, self.task.graph.weight_range().1);
        if pull {
            self.scope.limit = L::Distance::UNREACHABLE;
        }
        let mut chunk = Vec::with_capacity(BLOCK);
        while !self.task.control.is_cancelled() {
            let start = shared.scanned.fetch_add(BLOCK, Ordering::Relaxed).min(vertices);
            if start == vertices {
                break;
            }
            let block = start as VertexId..vertices.min(start + BLOCK) as VertexId;
            chunk.clear();
            chunk.extend(block.filter(|&v| (self.distance(v) < floor) != pull && self.graph.degree(v) > 0));
            if pull {
                self.pull_chunk(&chunk, floor);
            } else {
                self.relax_chunk::<true>(&mut chunk, Some(floor), None);
            }
        }
        // Until here, the thread that pulls a distance stores it, and no thread lowers it.
        worker.barrier();
    }

    /// Gives each of these vertices, none of which is settled, its distance by way of settled neighbours, whose
    /// distances are below `floor`. Relies on the graph being undirected.
    fn pull_chunk(&mut self, chunk: &[VertexId], floor: L::Distance) {
        const AHEAD: usize = 8;
        let graph = self.graph;
        for (index, &v) in chunk.iter().enumerate() {
            if let Some(&later) = chunk.get(index + AHEAD) {
                let row = graph.row(later);
                prefetch_slice(&graph.targets[row.clone()]);
                prefetch_slice(&graph.weights[row]);
            }
            let mut least = L::Distance::UNREACHABLE;
            let mut enclosed = true;
            for (u, weight) in graph.edges(v) {
                let from = self.distance(u);
                let through = L::extend(from, weight);
                least = if through < least { through } else { least };
                enclosed &= from < floor;
            }
            if least < L::Distance::UNREACHABLE && least <= self.task.cutoff {
                DistanceKey::store(&self.distances[v as usize], least.key());
                self.counts.improvements += 1;
                if !enclosed {
                    self.push(v, self.width.bucket(least));
                }
            }
        }
    }
}
