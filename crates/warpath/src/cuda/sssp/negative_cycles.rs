//! Cycles of negative length, found on the host from the distances of an unfinished search.
//!
//! Every distance that was ever lowered was lowered through some arc whose tail has only fallen since: so every vertex
//! but a source at 0 has arcs with `d(u) + w <= d(v)`. Following the one with the least `d(u) + w` backwards runs in a
//! circle as soon as a walk around a negative cycle has shaped the distances, and the length of that circle is at most
//! 0. That is looked at while the search goes on, each time it has done twice as many rounds: work O(V + E) for every
//! look.
//!
//! Circles of length 0 can hide negative ones from that. So where it is certain that there is a negative cycle, since a
//! distance fell in the last round that shortest paths can need, the host relaxes on until predecessors that were
//! recorded close a circle; such a one is always negative, whatever the distances were at the beginning (Cherkassky &
//! Goldberg 1999, "Negative-cycle detection algorithms", sect. 4).

use std::collections::VecDeque;

use crate::graph::{Adjacency, DistanceValue, Graph, I32ToI64, MinPlus, NO_VERTEX, VertexId};
use crate::problems::{NegativeCycle, cycles_of_predecessors};
use crate::{Control, Result, memory};

/// The next look at a search.
#[derive(Debug)]
pub(super) struct Looks {
    next: u64,
}

impl Looks {
    pub(super) fn new() -> Self {
        /// Before this round there is no look.
        const FIRST: u64 = 16;
        Looks { next: FIRST }
    }

    /// Whether this is the round to look.
    pub(super) fn is_due(&mut self, round: u64) -> bool {
        let due = round >= self.next;
        if due {
            self.next *= 2;
        }
        due
    }
}

/// A negative cycle that shaped these distances, if it shows at once.
pub(super) fn look(graph: &Graph, sources: &[VertexId], distances: &[i64]) -> Result<Option<NegativeCycle>> {
    let Some(adjacency) = graph.csr().adjacency::<i32>() else { return Ok(None) };
    let mut least = memory::copied("the array of distances", distances)?;
    let mut predecessors = memory::filled("the array of predecessors", distances.len(), NO_VERTEX)?;
    // A source at 0 was not lowered; tight arcs lead there from circles of length 0 alone.
    sources.iter().filter(|&&source| distances[source as usize] == 0).for_each(|&source| least[source as usize] = -1);
    for u in 0..distances.len() as VertexId {
        if distances[u as usize] == i64::UNREACHABLE {
            continue;
        }
        for (v, weight) in adjacency.edges(u) {
            let through = I32ToI64::extend(distances[u as usize], weight);
            let first = predecessors[v as usize] == NO_VERTEX && through == least[v as usize];
            if through < least[v as usize] || first {
                least[v as usize] = through;
                predecessors[v as usize] = u;
            }
        }
    }
    cycle_among(graph, &predecessors)
}

/// A negative cycle, if there is one that can be reached: relaxes until it closes.
pub(super) fn find(graph: &Graph, mut distances: Vec<i64>, control: &Control) -> Result<Option<NegativeCycle>> {
    if let Some(adjacency) = graph.csr().adjacency::<i32>() {
        let mut predecessors = memory::filled("the array of predecessors", distances.len(), NO_VERTEX)?;
        let all = memory::listed("the queue of vertices", 0..distances.len() as VertexId)?;
        let mut queue = VecDeque::from(all);
        let mut is_queued = memory::filled("the marks of vertices", distances.len(), true)?;
        let mut work_since_check = 0;
        while let Some(u) = queue.pop_front() {
            is_queued[u as usize] = false;
            work_since_check += 1 + adjacency.degree(u);
            for v in fallen(adjacency, u, &mut distances) {
                predecessors[v as usize] = u;
                if !std::mem::replace(&mut is_queued[v as usize], true) {
                    queue.push_back(v);
                }
            }
            if work_since_check > distances.len() {
                control.check()?;
                work_since_check = 0;
                if let Some(cycle) = cycle_among(graph, &predecessors)? {
                    return Ok(Some(cycle));
                }
            }
        }
    }
    Ok(None)
}

/// Relaxes the arcs of a vertex; the heads whose distance fell.
fn fallen(graph: Adjacency<'_, i32>, u: VertexId, distances: &mut [i64]) -> Vec<VertexId> {
    if distances[u as usize] == i64::UNREACHABLE {
        return Vec::new();
    }
    let falls = |(v, weight): (VertexId, i32)| {
        let through = I32ToI64::extend(distances[u as usize], weight);
        let falls = through < distances[v as usize];
        if falls {
            distances[v as usize] = through;
        }
        falls.then_some(v)
    };
    graph.edges(u).filter_map(falls).collect()
}

/// A negative one of the cycles of predecessors.
fn cycle_among(graph: &Graph, predecessors: &[VertexId]) -> Result<Option<NegativeCycle>> {
    Ok(cycles_of_predecessors(predecessors)?.iter().find_map(|cycle| NegativeCycle::through(graph, cycle)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Random;

    /// Distances after this many rounds of Bellman-Ford, each computed from the distances of the round before.
    fn after(graph: &Graph, rounds: usize) -> Vec<i64> {
        let mut distances = vec![i64::UNREACHABLE; graph.vertices()];
        distances[0] = 0;
        let adjacency = graph.csr().adjacency::<i32>().unwrap();
        for _ in 0..rounds {
            let before = distances.clone();
            for u in (0..before.len() as VertexId).filter(|&u| before[u as usize] != i64::UNREACHABLE) {
                for (v, weight) in adjacency.edges(u) {
                    distances[v as usize] = distances[v as usize].min(before[u as usize] + i64::from(weight));
                }
            }
        }
        distances
    }

    #[test]
    fn cycles_are_found_from_unfinished_distances_and_only_where_they_are() {
        let mut random = Random(9);
        let (mut seen, mut cycles, mut none) = (0, 0, 0);
        for trial in 0..300 {
            let vertices = 2 + random.below(30);
            let low = [0, 2, 10, 40][trial % 4];
            let edges: Vec<(u32, u32, i32)> = (0..random.below(4 * vertices))
                .map(|_| {
                    let weight = random.below(100) as i32 - low;
                    (random.below(vertices) as u32, random.below(vertices) as u32, weight)
                })
                .chain([(0, vertices as u32 - 1, 5), (vertices as u32 - 1, 1, -3), (0, 0, 0)])
                .collect();
            let graph = Graph::from_edges(edges).unwrap();
            let enough = after(&graph, graph.vertices() - 1);
            let falls = after(&graph, graph.vertices()) != enough;
            let found = find(&graph, enough.clone(), &Control::new()).unwrap();
            assert_eq!(found.is_some(), falls);
            let looked = look(&graph, &[0], &enough).unwrap();
            assert!(falls || looked.is_none());
            (seen, cycles, none) =
                (seen + usize::from(looked.is_some()), cycles + usize::from(falls), none + usize::from(!falls));
            for cycle in found.iter().chain(&looked) {
                cycle.verify(&graph).unwrap();
            }
        }
        assert!(cycles > 50 && none > 50 && seen * 10 > cycles * 9, "{seen} of {cycles} seen; {none}");
    }
}
