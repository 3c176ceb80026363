//! Dijkstra's algorithm from one source, with counts of paths, and back.
//!
//! An arc is tight if the distances at its ends differ by its weight *and* its head was settled after its tail. The second condition
//! matters for floats alone: a small weight can be lost beside a large distance.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::counts::Counted;
use super::{BETWEEN_CHECKS, Found, Search};
use crate::graph::{Adjacency, Csr, DistanceValue, MinPlus, VertexId};
use crate::problems::BETWEENNESS_SEGMENT;
use crate::{Control, Error, Result, memory};

/// The rank of a vertex that is not settled.
const UNSETTLED: u32 = u32::MAX;

/// What a search knows of a vertex.
#[derive(Debug, Clone, Copy)]
struct Vertex<D, C> {
    /// On the way out the number of shortest paths, on the way back c(v).
    value: C,
    distance: D,
    /// How many vertices were settled before.
    rank: u32,
}

/// A search that is run again and again.
pub(super) struct ByWeights<'a, L: MinPlus, C> {
    graph: Adjacency<'a, L::Weight>,
    vertices: Vec<Vertex<L::Distance, C>>,
    /// Vertices in the order in which they were settled.
    order: Vec<VertexId>,
    heap: BinaryHeap<Reverse<(<L::Distance as DistanceValue>::Key, VertexId)>>,
}

impl<'a, L: MinPlus, C: Counted> ByWeights<'a, L, C> {
    const UNREACHED: Vertex<L::Distance, C> =
        Vertex { value: C::ZERO, distance: L::Distance::UNREACHABLE, rank: UNSETTLED };

    /// The bytes that it takes at most: each arc may put its head into the heap, which has room for up to twice as many.
    pub(super) fn bytes(graph: &Csr) -> u64 {
        let for_a_vertex = (size_of::<Vertex<L::Distance, C>>() + size_of::<VertexId>()) as u64;
        let for_an_arc = size_of::<Reverse<(<L::Distance as DistanceValue>::Key, VertexId)>>() as u64;
        graph.vertices() as u64 * for_a_vertex + 2 * graph.arcs() as u64 * for_an_arc
    }

    pub(super) fn new(graph: Adjacency<'a, L::Weight>) -> Result<Self> {
        let count = graph.vertices();
        Ok(ByWeights {
            graph,
            vertices: memory::filled("the counts of paths", count, Self::UNREACHED)?,
            order: memory::with_capacity("the order of vertices", count)?,
            heap: BinaryHeap::new(),
        })
    }
}

impl<L: MinPlus, C: Counted> Search for ByWeights<'_, L, C> {
    fn run(&mut self, source: VertexId, found: &mut Found<'_>, control: &Control) -> Result<bool> {
        let ByWeights { graph, vertices, order, heap } = self;
        vertices.fill(Self::UNREACHED);
        order.clear();
        heap.clear();
        vertices[source as usize] = Vertex { value: C::ONE, distance: L::Distance::ZERO, rank: UNSETTLED };
        heap.push(Reverse((L::Distance::ZERO.key(), source)));
        let mut has_left_range = false;
        while let Some(Reverse((_, u))) = heap.pop() {
            let Vertex { value, distance, rank } = vertices[u as usize];
            if rank != UNSETTLED {
                continue;
            }
            if !value.is_in_range() {
                return Ok(false);
            }
            vertices[u as usize].rank = order.len() as u32;
            order.push(u);
            if order.len().is_multiple_of(BETWEEN_CHECKS) {
                control.check()?;
            }
            memory::reserve("the heap of vertices", heap, graph.degree(u))?;
            for (v, weight) in graph.edges(u) {
                let there = &mut vertices[v as usize];
                let through = L::extend(distance, weight);
                if through == L::Distance::UNREACHABLE {
                    has_left_range = true;
                } else if through < there.distance {
                    *there = Vertex { value, distance: through, rank: UNSETTLED };
                    heap.push(Reverse((through.key(), v)));
                } else if through == there.distance && there.rank == UNSETTLED {
                    there.value = there.value.plus(value);
                }
            }
        }
        // It does not matter if another path leads there.
        let is_settled = |v: VertexId| vertices[v as usize].rank != UNSETTLED;
        if has_left_range && !order.iter().all(|&u| graph.neighbors(u).iter().all(|&v| is_settled(v))) {
            return Err(Error::DistanceOverflow { semiring: L::NAME });
        }
        let mut reached = 0.0;
        for (walked, &u) in order.iter().rev().enumerate() {
            if walked.is_multiple_of(BETWEEN_CHECKS) {
                control.check()?;
            }
            let Vertex { value, distance, rank } = vertices[u as usize];
            let (mut sum, mut piece) = (C::ZERO, C::ZERO);
            for (arc, (v, weight)) in graph.row(u).zip(graph.edges(u)) {
                if arc.is_multiple_of(BETWEENNESS_SEGMENT) {
                    sum = sum.plus(std::mem::replace(&mut piece, C::ZERO));
                }
                let there = vertices[v as usize];
                if there.rank > rank && there.rank < UNSETTLED && there.distance == L::extend(distance, weight) {
                    piece = piece.plus(there.value);
                    if let Some(arcs) = &mut found.arcs {
                        arcs.add(arc, value.times(there.value).to_f64());
                    }
                }
            }
            let dependency = value.times(sum.plus(piece)).to_f64();
            let is_target = found.is_target(u);
            vertices[u as usize].value = C::from_f64(is_target + dependency).over(value);
            reached += is_target;
            found.add(u, source, if u == source { reached - is_target } else { dependency });
        }
        Ok(true)
    }
}
