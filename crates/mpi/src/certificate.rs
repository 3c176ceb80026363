//! The certificate of a search, checked by all ranks together without knowing how the result was made.
//!
//! - Sources are at 0.
//! - No arc can be relaxed.
//! - Every reached vertex can be reached from a source through tight arcs, so its distance is the length of a walk. If there are
//!   predecessors, only the arcs from them count, so they form a tree.
//!
//! Work O(V + E) for all ranks; the third part meets once for each arc of the longest of these walks.

use warpath::graph::{DistanceValue, MinPlus};
use warpath::{Error, Result};

use crate::allocation::with_capacity;
use crate::bits::Bits;
use crate::graph::PartOfGraph;
use crate::predecessors::NO_PREDECESSOR;
use crate::world::{Outcome, Reduction, World};

/// Checks distances and, if given, predecessors, of owned vertices and hubs.
pub(crate) fn verify<L: MinPlus>(
    world: &World,
    graph: &PartOfGraph<L::Weight>,
    sources: &[u64],
    distances: &[L::Distance],
    predecessors: Option<&[u64]>,
) -> Outcome<()> {
    let all = graph.with_ghosts(world, "distances", distances)?;
    let far = sources.iter().find(|&&source| graph.number_of(source).is_some_and(|s| all[s] != L::Distance::ZERO));
    world.agree(match far {
        Some(source) => not_verified(format!("source {source} is not at distance 0")),
        None => Ok(()),
    })?;
    world.agree(no_arc_can_be_relaxed::<L>(graph, &all))?;
    walks_exist::<L>(world, graph, sources, &all, predecessors)
}

fn not_verified<T>(message: String) -> Result<T> {
    Err(Error::NotVerified(message))
}

fn no_arc_can_be_relaxed<L: MinPlus>(graph: &PartOfGraph<L::Weight>, distances: &[L::Distance]) -> Result<()> {
    for vertex in (0..graph.rows()).filter(|&vertex| distances[vertex] != L::Distance::UNREACHABLE) {
        let from = distances[vertex];
        for (head, weight) in graph.edges(vertex) {
            // A sum past the range of the distances proves nothing; whoever searched has looked at that.
            if L::extend(from, weight) < distances[head] {
                let tail = graph.vertex_of(vertex);
                return not_verified(format!(
                    "an arc of weight {weight} from vertex {tail}, at {from}, can be relaxed"
                ));
            }
        }
    }
    Ok(())
}

/// Walks from the sources through tight arcs, and looks whether all reached vertices are met.
fn walks_exist<L: MinPlus>(
    world: &World,
    graph: &PartOfGraph<L::Weight>,
    sources: &[u64],
    distances: &[L::Distance],
    predecessors: Option<&[u64]>,
) -> Outcome<()> {
    let tree = match predecessors {
        Some(predecessors) => {
            let tree = graph.with_ghosts(world, "predecessors", predecessors)?;
            let spoiled = sources.iter().find(|&&s| graph.number_of(s).is_some_and(|s| tree[s] != NO_PREDECESSOR));
            world.agree(match spoiled {
                Some(source) => not_verified(format!("source {source} has a predecessor")),
                None => Ok(()),
            })?;
            Some(tree)
        }
        None => None,
    };
    let (owned, rows) = (graph.owned_count(), graph.rows());
    let mut met = world.agree(Bits::new("vertices that walks meet", rows))?;
    let mut known_ghosts = world.agree(Bits::new("vertices of other ranks that walks meet", graph.ghosts()))?;
    let mut found_hubs = world.agree(Bits::new("hubs that walks meet", graph.hubs()))?;
    let mut active: Vec<u32> = world.agree(with_capacity("active vertices", rows))?;
    let mut next: Vec<u32> = world.agree(with_capacity("active vertices", rows))?;
    for source in sources.iter().filter_map(|&source| graph.number_of(source)) {
        if met.insert(source) {
            active.push(source as u32);
        }
    }
    while world.any(!active.is_empty()) {
        let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
        for &vertex in &active {
            let (tail, from) = (graph.vertex_of(vertex as usize), distances[vertex as usize]);
            for (head, weight) in graph.edges(vertex as usize) {
                let follows = tree.as_ref().is_none_or(|tree| tree[head] == tail);
                if !follows || distances[head] == L::Distance::UNREACHABLE || L::extend(from, weight) != distances[head]
                {
                    continue;
                }
                if head >= rows {
                    if known_ghosts.insert(head - rows) {
                        let (owner, number) = graph.owner_of(head);
                        outgoing[owner].push(number);
                    }
                } else if head >= owned {
                    if !met.contains(head) {
                        found_hubs.insert(head - owned);
                    }
                } else if met.insert(head) {
                    next.push(head as u32);
                }
            }
        }
        let incoming = world.agree(world.exchange(Ok(outgoing)))?;
        next.extend(incoming.words().iter().filter(|&&vertex| met.insert(vertex as usize)));
        if graph.hubs() > 0 {
            world.reduce_all(Reduction::Or, found_hubs.words_mut());
        }
        next.extend(found_hubs.iter().map(|hub| owned + hub).filter(|&hub| met.insert(hub)).map(|hub| hub as u32));
        found_hubs.clear();
        active.clear();
        std::mem::swap(&mut active, &mut next);
    }
    world.agree(all_are_met::<L>(graph, distances, tree.as_deref(), &met))
}

fn all_are_met<L: MinPlus>(
    graph: &PartOfGraph<L::Weight>,
    distances: &[L::Distance],
    tree: Option<&[u64]>,
    met: &Bits,
) -> Result<()> {
    for vertex in (0..graph.rows()).filter(|&vertex| !met.contains(vertex)) {
        let name = graph.vertex_of(vertex);
        if distances[vertex] != L::Distance::UNREACHABLE {
            let distance = distances[vertex];
            let of = if tree.is_some() { "of predecessors " } else { "" };
            return not_verified(format!(
                "no walk {of}from a source leads to vertex {name} at its distance {distance}"
            ));
        }
        if tree.is_some_and(|tree| tree[vertex] != NO_PREDECESSOR) {
            return not_verified(format!("vertex {name} has a predecessor but no distance"));
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use warpath::Graph;
    use warpath::graph::U32ToU32;

    use super::*;
    use crate::Source;
    use crate::graph::Parts;
    use crate::world::Failed;

    pub(crate) fn wrong_answers_do_not_verify(world: &World) {
        for parts in [Parts::Consecutive, Parts::Blocks(1), Parts::Blocks(2)] {
            verify_wrong_answers(world, parts);
        }
    }

    fn verify_wrong_answers(world: &World, parts: Parts) {
        const FAR: u32 = u32::MAX;
        const NONE: u64 = NO_PREDECESSOR;
        // Arcs of weight 0 join 2 and 3; 5 is not reachable.
        let edges = [(0, 1, 4_u32), (1, 2, 3), (0, 2, 9), (2, 3, 0), (3, 2, 0), (3, 4, 1), (5, 0, 1)];
        let graph = Graph::from_edges(edges).unwrap();
        let part = PartOfGraph::<u32>::load(world, &Source::of(&graph), parts).unwrap();
        let fault = |distances: [u32; 6], tails: Option<[u64; 6]>| {
            let tails = tails.as_ref().map(|tails| &tails[..]);
            match verify::<U32ToU32>(world, &part, &[0], &distances, tails) {
                Ok(()) => String::new(),
                Err(Failed::Here(error)) => error.to_string(),
                Err(failed) => panic!("{failed:?}"),
            }
        };
        let (right, tree) = ([0, 4, 7, 7, 8, FAR], [NONE, 0, 1, 2, 3, NONE]);
        assert_eq!(fault(right, None) + &fault(right, Some(tree)), "");
        for (distances, tails, message) in [
            ([1, 5, 8, 8, 9, FAR], None, "source 0 is not at distance 0"),
            ([0, 5, 7, 7, 8, FAR], None, "an arc of weight 4 from vertex 0, at 0, can be relaxed"),
            ([0, 4, 7, 7, FAR, FAR], None, "an arc of weight 1 from vertex 3, at 7, can be relaxed"),
            ([0, 4, 6, 6, 7, FAR], None, "no walk from a source leads to vertex 2 at its distance 6"),
            ([0, 4, 7, 7, 8, 3], None, "no walk from a source leads to vertex 5 at its distance 3"),
            (right, Some([1, 0, 1, 2, 3, NONE]), "source 0 has a predecessor"),
            (right, Some([NONE, 0, 0, 2, 3, NONE]), "no walk of predecessors from a source leads to vertex 2"),
            (right, Some([NONE, 0, 3, 2, 3, NONE]), "no walk of predecessors from a source leads to vertex 2"),
            (right, Some([NONE, 0, 1, 2, NONE, NONE]), "no walk of predecessors from a source leads to vertex 4"),
            (right, Some([NONE, 0, 1, 2, 3, 0]), "vertex 5 has a predecessor but no distance"),
        ] {
            let found = fault(distances, tails);
            assert!(found.contains(message), "{message}: {found}");
        }
    }
}
