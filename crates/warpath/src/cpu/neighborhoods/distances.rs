//! Dijkstra's algorithm from one source, which ends at a distance and counts what it has settled.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::graph::{Adjacency, Csr, DistanceValue, MinPlus, VertexId};
use crate::{Control, Error, Result, memory};

/// Vertices between two looks at whether the work is cancelled.
const BETWEEN_CHECKS: usize = 1 << 14;

/// A search that is run again and again.
pub(super) struct ByWeights<'a, L: MinPlus> {
    graph: Adjacency<'a, L::Weight>,
    distances: Vec<L::Distance>,
    is_settled: Vec<bool>,
    /// The vertices that have a distance.
    touched: Vec<VertexId>,
    heap: BinaryHeap<Reverse<(<L::Distance as DistanceValue>::Key, VertexId)>>,
}

impl<'a, L: MinPlus> ByWeights<'a, L> {
    /// The bytes that it takes at most: each arc may put its head into the heap, which has room for up to twice as many.
    pub(super) fn bytes(graph: &Csr) -> u64 {
        let for_a_vertex = size_of::<L::Distance>() + size_of::<bool>() + size_of::<VertexId>();
        let for_an_arc = size_of::<Reverse<(<L::Distance as DistanceValue>::Key, VertexId)>>();
        graph.vertices() as u64 * for_a_vertex as u64 + 2 * graph.arcs() as u64 * for_an_arc as u64
    }

    pub(super) fn new(graph: Adjacency<'a, L::Weight>) -> Result<Self> {
        let count = graph.vertices();
        Ok(ByWeights {
            graph,
            distances: memory::filled("the distances of a search", count, L::Distance::UNREACHABLE)?,
            is_settled: memory::zeroed("marks of settled vertices", count)?,
            touched: memory::with_capacity("the list of vertices", count)?,
            heap: BinaryHeap::new(),
        })
    }

    /// How many vertices the source reaches within this distance.
    pub(super) fn run(&mut self, source: VertexId, cutoff: L::Distance, control: &Control) -> Result<u64> {
        let found = self.search(source, cutoff, control);
        self.heap.clear();
        for v in self.touched.drain(..) {
            self.distances[v as usize] = L::Distance::UNREACHABLE;
            self.is_settled[v as usize] = false;
        }
        found
    }

    fn search(&mut self, source: VertexId, cutoff: L::Distance, control: &Control) -> Result<u64> {
        let ByWeights { graph, distances, is_settled, touched, heap } = self;
        distances[source as usize] = L::Distance::ZERO;
        touched.push(source);
        heap.push(Reverse((L::Distance::ZERO.key(), source)));
        let (mut settled, mut has_left_range) = (0_usize, false);
        while let Some(Reverse((_, u))) = heap.pop() {
            if std::mem::replace(&mut is_settled[u as usize], true) {
                continue;
            }
            settled += 1;
            if settled.is_multiple_of(BETWEEN_CHECKS) {
                control.check()?;
            }
            let distance = distances[u as usize];
            memory::reserve("the heap of vertices", heap, graph.degree(u))?;
            for (v, weight) in graph.edges(u) {
                let through = L::extend(distance, weight);
                has_left_range |= through == L::Distance::UNREACHABLE;
                let there = &mut distances[v as usize];
                // What is out of range is beyond every bound, and never less.
                if through < *there && through <= cutoff {
                    if *there == L::Distance::UNREACHABLE {
                        touched.push(v);
                    }
                    *there = through;
                    heap.push(Reverse((through.key(), v)));
                }
            }
        }
        // Without a bound such a vertex counts, if no other path leads there.
        if has_left_range && cutoff == L::Distance::UNREACHABLE {
            let is_reached = |v: &VertexId| distances[*v as usize] != L::Distance::UNREACHABLE;
            if !touched.iter().all(|&u| graph.neighbors(u).iter().all(is_reached)) {
                return Err(Error::DistanceOverflow { semiring: L::NAME });
            }
        }
        Ok(settled as u64)
    }
}
