//! The certificate of a search, which `verify` checks in O(V + E) without knowing how the result was made.
//!
//! - Sources are at 0, or nearer where negative weights lead there from other sources.
//! - No arc can be relaxed.
//! - Every reached vertex can be reached from a source at 0 through tight arcs, so its distance is the length of a
//!   walk.
//! - Predecessors, if there are any, are tails of tight arcs and form a tree.
//!
//! With a bound (a cutoff, or the distance of the farthest target) this holds for the vertices within it, and every arc
//! that leaves them arrives beyond it. Distances are compared bit by bit, except where float weights are negative: see
//! `problems/slack.rs`.

use super::{Slack, starts};
use crate::graph::{Adjacency, DistanceValue, MinPlus, NO_VERTEX, VertexId};
use crate::{Error, Result, memory, parallel};

/// Checks distances and, if given, predecessors. `bound` is `UNREACHABLE` if the result covers all reachable vertices.
pub(crate) fn verify_search<L: MinPlus>(
    graph: Adjacency<'_, L::Weight>,
    sources: &[VertexId],
    distances: &[L::Distance],
    predecessors: Option<&[VertexId]>,
    bound: L::Distance,
) -> Result<()> {
    let fail = |message: String| Err(Error::NotVerified(message));
    let unreachable = L::Distance::UNREACHABLE;
    if distances.len() != graph.vertices() || predecessors.is_some_and(|p| p.len() != graph.vertices()) {
        return fail("the result is for a graph with another number of vertices".into());
    }
    let is_near = |&source: &VertexId| distances.get(source as usize).is_some_and(|&d| d <= L::Distance::ZERO);
    if let Some(source) = sources.iter().find(|source| !is_near(source)) {
        return fail(format!("source {source} is not at distance 0"));
    }
    let mut listed = memory::with_capacity("the list of sources", sources.len())?;
    listed.extend(starts::<L>(sources, distances));
    let sources = &listed;
    let slack = Slack::of::<L>(graph, distances);
    let relaxable = |u: VertexId| {
        let from = distances[u as usize];
        if from == unreachable {
            return None;
        }
        if bound < from {
            return Some(format!("vertex {u} is reported beyond the bound {bound}"));
        }
        graph.edges(u).find_map(|(v, weight)| {
            let (through, to) = (L::extend(from, weight), distances[v as usize]);
            // A sum past the range of the semiring is `UNREACHABLE`: beyond any bound, but without a bound it proves
            // nothing.
            let allowed = if to == unreachable { bound < through } else { !slack.is_shorter(through, to) };
            (!allowed).then(|| format!("the arc from {u} to {v} can be relaxed: {from} + {weight} < {to}"))
        })
    };
    const AT_ONCE: usize = 1024;
    let of_some = |some: usize| {
        (some * AT_ONCE..graph.vertices().min((some + 1) * AT_ONCE)).find_map(|u| relaxable(u as VertexId))
    };
    let found = parallel::find_first(graph.vertices().div_ceil(AT_ONCE), &|some| of_some(some).is_some());
    if let Some(message) = found.and_then(of_some) {
        return fail(message);
    }
    reach_through_tight_arcs::<L>(graph, sources, distances, slack)?;
    match predecessors {
        Some(predecessors) => verify_tree::<L>(graph, sources, distances, predecessors, slack),
        None => Ok(()),
    }
}

/// Checks that every vertex with a distance is reached from a source through tight arcs.
fn reach_through_tight_arcs<L: MinPlus>(
    graph: Adjacency<'_, L::Weight>,
    sources: &[VertexId],
    distances: &[L::Distance],
    slack: Slack,
) -> Result<()> {
    let mut reached: Vec<bool> = memory::zeroed("the marks of vertices", distances.len())?;
    let mut stack = memory::with_capacity("the stack of vertices", distances.len().max(sources.len()))?;
    stack.extend_from_slice(sources);
    sources.iter().for_each(|&source| reached[source as usize] = true);
    while let Some(u) = stack.pop() {
        for (v, weight) in graph.edges(u) {
            let to = distances[v as usize];
            let through = L::extend(distances[u as usize], weight);
            if !reached[v as usize] && to != L::Distance::UNREACHABLE && slack.is_tight(through, to) {
                reached[v as usize] = true;
                stack.push(v);
            }
        }
    }
    match (0..distances.len()).find(|&v| !reached[v] && distances[v] != L::Distance::UNREACHABLE) {
        Some(v) => Err(Error::NotVerified(format!("no walk from a source to {v} has its distance {}", distances[v]))),
        None => Ok(()),
    }
}

/// Checks that every reached vertex except the sources has a tight predecessor, and that following predecessors ends
/// at a source.
fn verify_tree<L: MinPlus>(
    graph: Adjacency<'_, L::Weight>,
    sources: &[VertexId],
    distances: &[L::Distance],
    predecessors: &[VertexId],
    slack: Slack,
) -> Result<()> {
    let fail = |message: String| Err(Error::NotVerified(message));
    let mut ends_at_source: Vec<bool> = memory::zeroed("the marks of vertices", distances.len())?;
    for &source in sources {
        ends_at_source[source as usize] = true;
        if predecessors[source as usize] != NO_VERTEX {
            return fail(format!("source {source} has a predecessor"));
        }
    }
    let mut chain = memory::with_capacity("the chain of predecessors", distances.len())?;
    for v in 0..distances.len() {
        let mut at = v;
        while !ends_at_source[at] && predecessors[at] != NO_VERTEX {
            let tail = predecessors[at] as usize;
            if tail >= distances.len() || distances[tail] == L::Distance::UNREACHABLE || chain.len() > distances.len() {
                return fail(format!("the predecessors of {v} lead nowhere or run in a circle"));
            }
            let row = graph.row(tail as VertexId);
            let heads = &graph.targets[row.clone()];
            let first = row.start + heads.partition_point(|&head| (head as usize) < at);
            let tight = (first..row.end)
                .take_while(|&arc| graph.targets[arc] as usize == at)
                .any(|arc| slack.is_tight(L::extend(distances[tail], graph.weights[arc]), distances[at]));
            if !tight {
                return fail(format!("the arc from {tail} to {at}, its predecessor's, is not tight or not there"));
            }
            chain.push(at);
            at = tail;
        }
        if !ends_at_source[at] && (distances[v] != L::Distance::UNREACHABLE || !chain.is_empty()) {
            return fail(format!("the predecessors of {v} do not lead to a source"));
        }
        if distances[v] == L::Distance::UNREACHABLE && predecessors[v] != NO_VERTEX {
            return fail(format!("{v} has a predecessor but no distance"));
        }
        chain.drain(..).for_each(|vertex| ends_at_source[vertex] = true);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::graph::{Distances, NO_VERTEX};
    use crate::{Graph, ShortestPathTree, Solver, Sssp};

    /// Verifies a right result after `change` has spoiled it.
    fn planted(change: impl FnOnce(&mut Vec<u32>, &mut Vec<u32>)) -> crate::Result<()> {
        // Edges of weight 0 join 2 and 3; 5 is not reachable.
        let edges = [(0, 1, 4_u32), (1, 2, 3), (0, 2, 9), (2, 3, 0), (3, 2, 0), (3, 4, 1), (5, 0, 1)];
        let graph = Graph::from_edges(edges).unwrap();
        let mut tree: ShortestPathTree =
            Solver::builder(graph.clone()).threads(1).open().unwrap().solve(Sssp::from(0)).unwrap();
        let (Distances::U32(distances), Some(predecessors)) = (&mut tree.distances, &mut tree.predecessors) else {
            panic!("other types");
        };
        change(distances, predecessors);
        tree.verify(&graph)
    }

    /// Source 1 is nearer from source 0, so it has a predecessor and is no start.
    #[test]
    fn a_source_may_be_nearer_from_another() {
        let edges = [(0, 1, -4_i32), (1, 2, 3), (3, 0, 7), (1, 4, 1), (2, 4, -9)];
        let graph = Graph::from_edges(edges).unwrap();
        let solver = Solver::builder(graph.clone()).threads(1).open().unwrap();
        let tree = solver.solve(Sssp::from([0, 1, 3])).unwrap();
        tree.verify(&graph).unwrap();
        let distances: Vec<_> = (0..5).map(|v| tree.distance(v).unwrap().to_f64()).collect();
        assert_eq!(distances, [0.0, -4.0, -1.0, 0.0, -10.0]);
        assert_eq!(tree.predecessors().unwrap(), [NO_VERTEX, 0, 1, NO_VERTEX, 2]);
        let mut wrong = tree.clone();
        wrong.predecessors = Some(vec![NO_VERTEX, NO_VERTEX, 1, NO_VERTEX, 2]);
        assert!(wrong.verify(&graph).is_err());
        let Distances::I64(distances) = &mut wrong.distances else { panic!("another type") };
        distances.iter_mut().for_each(|distance| *distance -= 1);
        assert!(wrong.verify(&graph).is_err());
    }

    #[test]
    fn the_right_result_is_accepted_and_planted_wrong_ones_are_not() {
        planted(|_, _| ()).unwrap();
        for v in 0..5 {
            assert!(planted(|distances, _| distances[v] += 1).is_err(), "{v} too far");
            assert!(planted(|distances, _| distances[v] = distances[v].wrapping_sub(1)).is_err(), "{v} too near");
            assert!(planted(|distances, _| distances[v] = u32::MAX).is_err(), "{v} not reached");
        }
        assert!(planted(|_, predecessors| predecessors[2] = 0).is_err(), "an arc that is not tight");
        assert!(planted(|_, predecessors| predecessors[4] = 2).is_err(), "an arc that is not there");
        assert!(planted(|_, predecessors| predecessors[4] = 77).is_err(), "a vertex that is not there");
        assert!(planted(|_, predecessors| predecessors[2] = 3).is_err(), "a circle of weight 0");
        assert!(planted(|_, predecessors| predecessors[4] = NO_VERTEX).is_err(), "no predecessor");
        assert!(planted(|_, predecessors| predecessors[0] = 5).is_err(), "a source with a predecessor");
        assert!(planted(|distances, _| distances[5] = 3).is_err(), "reached, though nothing leads there");
        assert!(planted(|_, predecessors| predecessors[5] = 4).is_err(), "a predecessor without a distance");
        let shrunk = planted(|distances, predecessors| {
            // A cycle of weight 0 that claims to be nearer than it is: each vertex explains the other's distance.
            (distances[2], distances[3], distances[4]) = (1, 1, 2);
            (predecessors[2], predecessors[3]) = (3, 2);
        });
        assert!(shrunk.is_err());
    }
}
