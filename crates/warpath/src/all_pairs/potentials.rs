//! Bellman and Ford's algorithm from several sources at once: the potentials that make negative weights disappear, or
//! the negative cycle that makes shortest paths disappear.
//!
//! All sources start at 0, as if a virtual vertex had an arc of weight 0 to each. If the distances `h` exist, then
//! `w + h(u) - h(v) >= 0` for every arc that can be reached, and shortest paths stay shortest under these weights.
//! Rounds go over the vertices that changed in the round before; after each, the graph of parents is searched for a
//! cycle, which exists exactly where a cycle of negative length was found. Work O(V E) at worst, usually a few rounds.
//!
//! Source: Bellman 1958; Ford 1956; Cherkassky & Goldberg 1999, "Negative-cycle detection algorithms" (searching the
//! graph of parents).

use crate::graph::{Adjacency, DistanceValue, Graph, MinPlus, NO_VERTEX, VertexId};
use crate::problems::NegativeCycle;
use crate::{Control, Error, Result, memory};

/// Least distances from any of the sources, `UNREACHABLE` where there is none.
///
/// # Errors
///
/// [`Error::NegativeCycle`] if one can be reached. With floats, rounding may make a cycle shrink whose exact length is
/// not negative: then the distances are those after V + 1 rounds.
pub(crate) fn potentials<L: MinPlus>(
    adjacency: Adjacency<'_, L::Weight>,
    graph: &Graph,
    sources: &[VertexId],
    control: &Control,
) -> Result<Vec<L::Distance>> {
    let vertices = graph.vertices();
    let mut distances = memory::filled("the array of potentials", vertices, L::Distance::UNREACHABLE)?;
    let mut parents = memory::filled("the array of predecessors", vertices, NO_VERTEX)?;
    let mut queued: Vec<bool> = memory::zeroed("the marks of vertices", vertices)?;
    let mut current = memory::with_capacity("the list of active vertices", vertices)?;
    for &source in sources {
        distances[source as usize] = L::Distance::ZERO;
        if !std::mem::replace(&mut queued[source as usize], true) {
            current.push(source);
        }
    }
    let mut next = memory::with_capacity("the list of active vertices", vertices)?;
    for _ in 0..=vertices {
        control.check()?;
        if current.is_empty() {
            break;
        }
        for &u in &current {
            queued[u as usize] = false;
            for (v, weight) in adjacency.edges(u) {
                let through = L::extend(distances[u as usize], weight);
                if through < distances[v as usize] {
                    distances[v as usize] = through;
                    parents[v as usize] = u;
                    if !std::mem::replace(&mut queued[v as usize], true) {
                        next.push(v);
                    }
                }
            }
        }
        if let Some(vertices) = cycle_of_parents(&parents)?
            && let Some(cycle) = NegativeCycle::through(graph, &vertices)
        {
            return Err(Error::NegativeCycle(Box::new(cycle)));
        }
        current.clear();
        std::mem::swap(&mut current, &mut next);
    }
    Ok(distances)
}

/// The vertices of a cycle of parents, in the direction of the arcs.
fn cycle_of_parents(parents: &[VertexId]) -> Result<Option<Vec<VertexId>>> {
    // `walk[v]` is the number of the walk that came through `v` first.
    let mut walk: Vec<u32> = memory::zeroed("the marks of vertices", parents.len())?;
    for start in 0..parents.len() {
        let number = start as u32 + 1;
        let mut at = start as VertexId;
        while at != NO_VERTEX && walk[at as usize] == 0 {
            walk[at as usize] = number;
            at = parents[at as usize];
        }
        if at != NO_VERTEX && walk[at as usize] == number {
            let mut cycle = vec![at];
            let mut before = parents[at as usize];
            while before != at {
                cycle.push(before);
                before = parents[before as usize];
            }
            cycle.reverse();
            return Ok(Some(cycle));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{F64ToF64, I32ToI64};

    #[test]
    fn cycles_are_found_only_where_sources_reach_them() {
        let graph = Graph::from_edges([(0, 1, 5), (1, 2, -3), (2, 0, -1), (3, 4, 2), (4, 5, -7), (5, 3, 4), (3, 0, 1)])
            .unwrap();
        let adjacency = graph.csr().adjacency::<i32>().unwrap();
        let run = |sources: &[VertexId]| potentials::<I32ToI64>(adjacency, &graph, sources, &Control::new());
        assert_eq!(run(&[0, 1]).unwrap()[..3], [-4, 0, -3]);
        match run(&[3]) {
            Err(Error::NegativeCycle(cycle)) => {
                cycle.verify(&graph).unwrap();
                assert_eq!(cycle.length(), -1.0);
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn rounding_alone_makes_no_negative_cycle() {
        // Exactly, 0.3 - 0.1 - 0.2 is positive or zero in doubles; rounded left to right it may be below.
        let graph = Graph::from_edges([(0, 1, 0.3), (1, 2, -0.1), (2, 0, -0.2)]).unwrap();
        let adjacency = graph.csr().adjacency::<f64>().unwrap();
        let result = potentials::<F64ToF64>(adjacency, &graph, &[0, 1, 2], &Control::new());
        let exact = NegativeCycle::through(&graph, &[0, 1, 2]);
        assert_eq!(result.is_err(), exact.is_some());
    }
}
