//! Breadth-first search that changes its direction: where the frontier is large, every vertex that is not reached looks for a
//! neighbor in it, and stops at the first.
//!
//! Small frontiers are expanded as in [`super::top_down`]. For a step the other way, each rank has to know which of its ghosts are
//! in the frontier. Their owners tell it: a bit for each ghost, in the order of the ghosts, or the places of those that are there,
//! whichever is shorter. Each rank looks through its arcs of a hub that is not reached, and the ranks reduce what they found. The
//! arcs have to be symmetric, since a vertex looks along the arcs that leave it.
//!
//! The direction changes as S. Beamer, K. Asanović and D. Patterson have it: away from the frontier when its arcs are more than a
//! share of those of unreached vertices, back when it has fewer vertices than a share of all. All ranks decide from the same sums.
//!
//! Work O(V + E) for all ranks, most often far less; in a step the other way a rank sends at most one bit for each ghost that another
//! rank has of its vertices.
//!
//! Sources: Beamer, Asanović, Patterson, Direction-optimizing breadth-first search, SC 2012; Beamer, Buluç, Asanović, Patterson,
//! Distributed memory breadth-first search revisited, MTAAP 2013.

use warpath::Result;

use super::{Search, UNREACHED, top_down};
use crate::algorithm::RankAlgorithm;
use crate::allocation::with_capacity;
use crate::bits::Bits;
use crate::world::{Outcome, World};

pub(super) const INFO: RankAlgorithm = RankAlgorithm {
    name: "direction-optimizing",
    source: "Beamer et al. 2012 and 2013, 1-D, with hubs as in Pearce et al. 2014",
    undirected_only: true,
};

/// Beamer's alpha and beta: the shares at which the direction changes.
pub(crate) const ARCS_SHARE: u64 = 14;
pub(crate) const VERTICES_SHARE: u64 = 24;

/// The kinds of messages about a frontier.
const AS_BITS: u32 = 0;
const AS_PLACES: u32 = 1;

pub(super) fn run(world: &World, search: &mut Search<'_>) -> Outcome<()> {
    let graph = search.graph;
    let mut frontier = world.agree(Bits::new("the frontier as bits", graph.states()))?;
    let mut unexplored = graph.arcs();
    let mut upward = false;
    let mut before = 0;
    loop {
        let size = search.size(world)?;
        if size.vertices == 0 {
            return Ok(());
        }
        unexplored -= size.arcs.min(unexplored);
        upward = if upward {
            size.vertices >= graph.vertices() / VERTICES_SHARE || size.vertices > before
        } else {
            size.arcs > unexplored / ARCS_SHARE && size.vertices > before
        };
        before = size.vertices;
        let expanded = if upward { look_up(world, search, &mut frontier) } else { top_down::expand(world, search) };
        search.advance(world, expanded);
    }
}

/// Finds the next level from the vertices that are not reached.
fn look_up(world: &World, search: &mut Search<'_>, frontier: &mut Bits) -> Result<()> {
    let graph = search.graph;
    frontier.clear();
    for vertex in search.active() {
        frontier.insert(vertex);
    }
    tell_subscribers(world, search, frontier)?;
    let has_neighbor = |vertex| graph.heads(vertex).iter().any(|&head| frontier.contains(head as usize));
    for vertex in 0..graph.owned_count() {
        if search.levels[vertex] == UNREACHED && has_neighbor(vertex) {
            search.reach(vertex);
        }
    }
    for hub in graph.owned_count()..graph.rows() {
        if search.levels[hub] == UNREACHED && has_neighbor(hub) {
            search.found_hubs.insert(hub - graph.owned_count());
        }
    }
    Ok(())
}

/// Adds the ghosts to the frontier that their owners have in it.
fn tell_subscribers(world: &World, search: &mut Search<'_>, frontier: &mut Bits) -> Result<()> {
    let graph = search.graph;
    let told = |rank: usize| {
        let wanted = graph.subscribed_by(rank);
        let there = || wanted.iter().enumerate().filter(|&(_, &vertex)| frontier.contains(vertex as usize));
        let (places, words) = (there().count(), wanted.len().div_ceil(32));
        let mut message: Vec<u32> = with_capacity("a message to another rank", 1 + places.min(words))?;
        if places > 0 && places < words {
            message.push(AS_PLACES);
            message.extend(there().map(|(place, _)| place as u32));
        } else if places > 0 {
            message.push(AS_BITS);
            message.resize(1 + words, 0);
            there().for_each(|(place, _)| message[1 + place / 32] |= 1 << (place % 32));
        }
        Ok(message)
    };
    let outgoing = (0..world.ranks()).map(told).collect();
    let incoming = world.exchange(outgoing)?;
    let rows = graph.rows();
    for rank in 0..world.ranks() {
        let first = graph.ghosts_of(rank).start;
        let mut note = |place: usize| {
            frontier.insert(first + place);
            search.known_ghosts.insert(first + place - rows);
        };
        match incoming.from(rank) {
            [] => {}
            [AS_PLACES, places @ ..] => places.iter().for_each(|&place| note(place as usize)),
            [_, words @ ..] => {
                for (index, &word) in words.iter().enumerate() {
                    let mut rest = word;
                    while rest != 0 {
                        note(index * 32 + rest.trailing_zeros() as usize);
                        rest &= rest - 1;
                    }
                }
            }
        }
    }
    Ok(())
}
