//! Predecessors from final distances: the tree that one machine finds, by the rule in `problems/predecessors.rs` of the library.
//!
//! The predecessor of a vertex is the smallest tail of a tight arc from a lesser distance. A rank looks at the arcs that it has, keeps
//! the least tail for each head, and sends those of ghosts to their owners. Vertices without one lie at the end of tight arcs between
//! equal distances (their weight is 0, or rounding absorbs it). They are found level by level from those that have one, and of several
//! tails of the same level the smallest wins.
//!
//! Work O(V + E) for all ranks; a rank sends each ghost's tail once, and fetches the distances of its ghosts once.

use warpath::Result;
use warpath::graph::{DistanceValue, MinPlus, Weight};

use crate::allocation::{filled, with_capacity};
use crate::graph::PartOfGraph;
use crate::reduced::Reduced;
use crate::words::{pull, push};
use crate::world::{Outcome, Reduction, World};

/// The mark for "no predecessor".
pub(crate) const NO_PREDECESSOR: u64 = u64::MAX;

/// The predecessor of each owned vertex and each hub: [`NO_PREDECESSOR`] for sources and vertices that are not reached. `distances`
/// has all states: those of ghosts were fetched.
pub(crate) fn derive<L: MinPlus>(
    world: &World,
    graph: &PartOfGraph<L::Weight>,
    sources: &[u64],
    distances: &[L::Distance],
) -> Outcome<Vec<u64>>
where
    <L::Distance as DistanceValue>::Key: Reduced,
{
    let unreachable = L::Distance::UNREACHABLE;
    let mut tails = world.agree(filled("predecessors", graph.states(), NO_PREDECESSOR))?;
    for vertex in (0..graph.rows()).filter(|&vertex| distances[vertex] != unreachable) {
        let (tail, from) = (graph.vertex_of(vertex), distances[vertex]);
        for (head, weight) in graph.edges(vertex) {
            let to = distances[head];
            if from < to && to != unreachable && L::extend(from, weight) == to {
                tails[head] = tails[head].min(tail);
            }
        }
    }
    let ghosts = (graph.rows()..graph.states()).filter(|&ghost| tails[ghost] != NO_PREDECESSOR);
    let ghosts: Vec<usize> = ghosts.collect();
    combine(world, graph, &mut tails, &ghosts)?;
    let mut settled = world.agree(filled("marks of vertices", graph.rows(), false))?;
    (0..graph.rows()).for_each(|vertex| settled[vertex] = tails[vertex] != NO_PREDECESSOR);
    sources.iter().filter_map(|&source| graph.number_of(source)).for_each(|source| settled[source] = true);
    let unexplained = |&vertex: &usize| !settled[vertex] && distances[vertex] != unreachable;
    // A hidden vertex's state is that of its hub, and is not reached.
    if world.any((0..graph.rows()).any(|vertex| unexplained(&vertex))) {
        descend_plateaus::<L>(world, graph, distances, &mut tails, &mut settled)?;
    }
    tails.truncate(graph.rows());
    Ok(tails)
}

/// Follows tight arcs between equal distances, level by level.
fn descend_plateaus<L: MinPlus>(
    world: &World,
    graph: &PartOfGraph<L::Weight>,
    distances: &[L::Distance],
    tails: &mut [u64],
    settled: &mut [bool],
) -> Outcome<()> {
    let mut level: Vec<u32> = world.agree(with_capacity("active vertices", graph.rows()))?;
    level.extend((0..graph.rows() as u32).filter(|&vertex| settled[vertex as usize]));
    let mut found = world.agree(filled("predecessors of a level", graph.states(), NO_PREDECESSOR))?;
    // The vertices whose entries in `found` are to be looked at and cleared; the hubs always are.
    let mut touched: Vec<usize> = Vec::new();
    let hubs = graph.owned_count()..graph.rows();
    while world.any(!level.is_empty()) {
        for &vertex in &level {
            let (tail, from) = (graph.vertex_of(vertex as usize), distances[vertex as usize]);
            if from == L::Distance::UNREACHABLE {
                continue;
            }
            for (head, weight) in graph.edges(vertex as usize) {
                let may_need = head >= graph.rows() || !settled[head];
                if may_need && distances[head] == from && L::extend(from, weight) == from {
                    if found[head] == NO_PREDECESSOR {
                        touched.push(head);
                    }
                    found[head] = found[head].min(tail);
                }
            }
        }
        let ghosts: Vec<usize> = touched.iter().copied().filter(|&head| head >= graph.rows()).collect();
        touched.extend(combine(world, graph, &mut found, &ghosts)?);
        level.clear();
        for vertex in touched.iter().copied().filter(|&vertex| vertex < hubs.start).chain(hubs.clone()) {
            if found[vertex] != NO_PREDECESSOR && !std::mem::replace(&mut settled[vertex], true) {
                tails[vertex] = found[vertex];
                level.push(vertex as u32);
            }
        }
        touched.drain(..).chain(hubs.clone()).for_each(|vertex| found[vertex] = NO_PREDECESSOR);
    }
    Ok(())
}

/// Makes the least tail that any rank found for a vertex the tail at its owner, and for a hub everywhere. Sends the tails of these
/// ghosts; returns the vertices that came from other ranks.
fn combine<W: Weight>(
    world: &World,
    graph: &PartOfGraph<W>,
    tails: &mut [u64],
    ghosts: &[usize],
) -> Outcome<Vec<usize>> {
    let exchanged = exchange(world, graph, tails, ghosts);
    let came = world.agree(exchanged)?;
    graph.reduce_hubs(world, Reduction::Least, tails);
    Ok(came)
}

fn exchange<W: Weight>(
    world: &World,
    graph: &PartOfGraph<W>,
    tails: &mut [u64],
    ghosts: &[usize],
) -> Result<Vec<usize>> {
    const WORDS: usize = 3;
    let mut outgoing: Vec<Vec<u32>> = vec![Vec::new(); world.ranks()];
    for &ghost in ghosts {
        let (owner, number) = graph.owner_of(ghost);
        outgoing[owner].push(number);
        push(&mut outgoing[owner], tails[ghost]);
    }
    let incoming = world.exchange(Ok(outgoing))?;
    let mut came = with_capacity("vertices with predecessors", incoming.words().len() / WORDS)?;
    for message in incoming.words().chunks_exact(WORDS) {
        let (vertex, tail) = (message[0] as usize, pull::<u64>(&message[1..]));
        tails[vertex] = tails[vertex].min(tail);
        came.push(vertex);
    }
    Ok(came)
}
