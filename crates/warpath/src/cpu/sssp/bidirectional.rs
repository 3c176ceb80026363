//! Bidirectional search for one path: Dijkstra's algorithm forwards from the source and backwards from the target.
//!
//! Each step settles the nearest vertex of the side whose next distance is smaller. Whenever an arc is relaxed whose
//! head the other side has reached, the two distances and the arc make a path, and the best is kept. The search ends
//! when the next distance forwards and the next backwards add up to at least the best path: a shorter one would have
//! to contain a vertex that both sides have settled. On road networks each side grows to half the radius, so about
//! half the vertices are settled; on small-world graphs it is far fewer. Without weights the queues of a breadth-first
//! search take the place of the heaps, by whole levels.
//!
//! Work O((V + E) log V), span the same; one thread. Distances backwards are sums from the other end, so this is for
//! integers: floats would be rounded in another order than a forward search rounds them.
//!
//! Source: Pohl 1971, "Bi-directional search"; when to stop: Nicholson 1966, "Finding the shortest route between two
//! points in a network".

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

use crate::graph::{Adjacency, DistanceValue, MinPlus, NO_VERTEX, VertexId};
use crate::memory::allocation::refused;
use crate::{Control, Result, memory};

type HashMap<K, V> = std::collections::HashMap<K, V>;

const SETTLED_BETWEEN_CHECKS: u64 = 1 << 12;

/// A shortest path between two vertices, and how many vertices were settled to find it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PathOutcome<D> {
    /// The vertices of the path and its length; `None` if there is no path.
    pub(crate) path: Option<(Vec<VertexId>, D)>,
    /// How many vertices were settled.
    pub(crate) settled: u64,
}

/// One direction of the search: the vertices that it has reached, each with its distance and the neighbour on the way
/// back.
struct Side<'a, L: MinPlus> {
    graph: Adjacency<'a, L::Weight>,
    reached: HashMap<VertexId, (L::Distance, VertexId)>,
    heap: BinaryHeap<Reverse<(<L::Distance as DistanceValue>::Key, VertexId)>>,
}

impl<'a, L: MinPlus> Side<'a, L> {
    fn new(graph: Adjacency<'a, L::Weight>, start: VertexId) -> Self {
        Side {
            graph,
            reached: HashMap::from([(start, (L::Distance::ZERO, NO_VERTEX))]),
            heap: BinaryHeap::from([Reverse((L::Distance::ZERO.key(), start))]),
        }
    }

    /// The distance of the vertex that is settled next; drops entries that are no longer current.
    fn next_distance(&mut self) -> Option<L::Distance> {
        while let Some(&Reverse((key, v))) = self.heap.peek() {
            let distance = L::Distance::from_key(key);
            if self.reached[&v].0 == distance {
                return Some(distance);
            }
            self.heap.pop();
        }
        None
    }

    /// Settles the next vertex; returns the best path over an arc to a vertex that the other side has reached.
    fn settle(&mut self, other: &Self) -> Result<(L::Distance, VertexId)> {
        let mut best = (L::Distance::UNREACHABLE, NO_VERTEX);
        let Some(Reverse((key, u))) = self.heap.pop() else { return Ok(best) };
        let from = L::Distance::from_key(key);
        let degree = self.graph.degree(u);
        memory::reserve("the heap of vertices", &mut self.heap, degree)?;
        self.reached.try_reserve(degree).map_err(|_| {
            let entries = (self.reached.len() + degree) as u64;
            refused("the table of vertices", entries * size_of::<(VertexId, (L::Distance, VertexId))>() as u64)
        })?;
        for (v, weight) in self.graph.edges(u) {
            let through = L::extend(from, weight);
            if through == L::Distance::UNREACHABLE {
                continue;
            }
            match self.reached.entry(v) {
                Entry::Occupied(entry) if entry.get().0 <= through => continue,
                Entry::Occupied(mut entry) => _ = entry.insert((through, u)),
                Entry::Vacant(entry) => _ = entry.insert((through, u)),
            }
            self.heap.push(Reverse((through.key(), v)));
            if let Some(&(rest, _)) = other.reached.get(&v) {
                let whole = L::join(through, rest);
                if whole < best.0 {
                    best = (whole, v);
                }
            }
        }
        Ok(best)
    }

    /// The vertices from `v` back to where this side started, both included.
    fn trace(&self, mut v: VertexId) -> Vec<VertexId> {
        let mut vertices = Vec::new();
        while v != NO_VERTEX {
            vertices.push(v);
            v = self.reached[&v].1;
        }
        vertices
    }
}

/// A shortest path from `source` to `target`. `backward` is the transpose of `forward`; weights are integers of 0 or
/// more.
///
/// # Errors
///
/// If the caller cancels.
pub(crate) fn shortest_path<L: MinPlus>(
    forward: Adjacency<'_, L::Weight>,
    backward: Adjacency<'_, L::Weight>,
    source: VertexId,
    target: VertexId,
    control: &Control,
) -> Result<PathOutcome<L::Distance>> {
    let mut sides = [Side::<L>::new(forward, source), Side::<L>::new(backward, target)];
    let mut settled = 0;
    let mut best = (L::Distance::UNREACHABLE, NO_VERTEX);
    if source == target {
        best = (L::Distance::ZERO, source);
    }
    let [ahead, behind] = &mut sides;
    while let (Some(a), Some(b)) = (ahead.next_distance(), behind.next_distance()) {
        if best.0 <= L::join(a, b) {
            break;
        }
        settled += 1;
        if settled % SETTLED_BETWEEN_CHECKS == 0 {
            control.check()?;
        }
        let found = if a <= b { ahead.settle(behind)? } else { behind.settle(ahead)? };
        if found.0 < best.0 {
            best = found;
        }
    }
    let path = (best.1 != NO_VERTEX).then(|| {
        let mut vertices = ahead.trace(best.1);
        vertices.reverse();
        vertices.extend_from_slice(&behind.trace(best.1)[1..]);
        (vertices, best.0)
    });
    Ok(PathOutcome { path, settled })
}

/// A path with the fewest arcs: both sides grow by whole levels, the one with fewer vertices in its level first.
///
/// # Errors
///
/// If the caller cancels.
pub(crate) fn fewest_arcs<W: Copy>(
    forward: Adjacency<'_, W>,
    backward: Adjacency<'_, W>,
    source: VertexId,
    target: VertexId,
    control: &Control,
) -> Result<PathOutcome<u32>> {
    let mut settled = 0;
    if source == target {
        return Ok(PathOutcome { path: Some((vec![source], 0)), settled });
    }
    let mut reached = [HashMap::from([(source, NO_VERTEX)]), HashMap::from([(target, NO_VERTEX)])];
    let mut levels = [vec![source], vec![target]];
    while !levels[0].is_empty() && !levels[1].is_empty() {
        control.check()?;
        let side = usize::from(levels[1].len() < levels[0].len());
        let graph = if side == 0 { forward } else { backward };
        let level = std::mem::take(&mut levels[side]);
        for u in level {
            settled += 1;
            for &v in graph.neighbors(u) {
                // Both levels are complete, so the first meeting is over a path of the fewest arcs.
                if reached[1 - side].contains_key(&v) {
                    reached[side].entry(v).or_insert(u);
                    let trace = |mut v: VertexId, side: usize| {
                        let mut vertices = Vec::new();
                        while v != NO_VERTEX {
                            vertices.push(v);
                            v = reached[side][&v];
                        }
                        vertices
                    };
                    let mut vertices = trace(v, 0);
                    vertices.reverse();
                    vertices.extend_from_slice(&trace(v, 1)[1..]);
                    let length = vertices.len() as u32 - 1;
                    return Ok(PathOutcome { path: Some((vertices, length)), settled });
                }
                if let Entry::Vacant(entry) = reached[side].entry(v) {
                    entry.insert(u);
                    levels[side].push(v);
                }
            }
        }
    }
    Ok(PathOutcome { path: None, settled })
}
