//! Breadth-first search that changes its direction: where the frontier is large, every vertex that is not reached looks for a
//! neighbor in it, and stops at the first.
//!
//! Small frontiers are expanded as in [`super::top_down`]. For a step the other way, each rank has to know which of its ghosts are
//! in the frontier. Their owners tell it: a bit for each ghost, in the order of the ghosts, or the places of those that are there,
//! whichever is shorter; from GPU to GPU it is always the bits. Each rank looks through its arcs of a hub that is not reached, and the ranks reduce what they found. The
//! arcs have to be symmetric, since a vertex looks along the arcs that leave it.
//!
//! The direction changes as S. Beamer, K. Asanović and D. Patterson have it: away from the frontier when its arcs are more than a
//! share of those of unreached vertices, back when it has fewer vertices than a share of all. All ranks decide from the same sums; while
//! frontiers are far from the first share, they do not meet to count arcs.
//!
//! Work O(V + E) for all ranks, most often far less; in a step the other way a rank sends at most one bit for each ghost that another
//! rank has of its vertices.
//!
//! Sources: Beamer, Asanović, Patterson, Direction-optimizing breadth-first search, SC 2012; Beamer, Buluç, Asanović, Patterson,
//! Distributed memory breadth-first search revisited, MTAAP 2013.

use warpath::Result;
use warpath::graph::Unit;

use super::{Mail, Search, top_down};
use crate::algorithm::RankAlgorithm;
use crate::graph::{PartOfGraph, subset};
use crate::world::{Outcome, World};

pub(super) const INFO: RankAlgorithm = RankAlgorithm {
    name: "direction-optimizing",
    source: "Beamer et al. 2012 and 2013, 1-D, with hubs as in Pearce et al. 2014",
    undirected_only: true,
};

/// Beamer's alpha and beta: the shares at which the direction changes.
pub(crate) const ARCS_SHARE: u64 = 14;
pub(crate) const VERTICES_SHARE: u64 = 24;

/// How many times more arcs a small frontier may have than as many vertices have on average.
pub(crate) const TIMES_MORE_ARCS: f64 = 8.0;

pub(super) fn run(world: &World, search: &mut Search<'_>) -> Outcome<()> {
    let graph = search.graph;
    let mut unexplored = graph.arcs();
    let mut upward = false;
    let mut before = 0;
    loop {
        match search.bound(world)? {
            Some(0) => return Ok(()),
            Some(bound) if !upward && is_small(bound, unexplored, graph) => {
                search.pass();
                before = bound;
                let expanded = top_down::expand(world, search);
                search.advance(world, expanded);
                continue;
            }
            _ => {}
        }
        let (size, passed) = search.size(world)?;
        if size.vertices == 0 {
            return Ok(());
        }
        unexplored -= (size.arcs + passed).min(unexplored);
        upward = if upward {
            size.vertices >= graph.vertices() / VERTICES_SHARE || size.vertices > before
        } else {
            size.arcs > unexplored / ARCS_SHARE && size.vertices > before
        };
        before = size.vertices;
        let expanded = if upward { look_up(world, search) } else { top_down::expand(world, search) };
        search.advance(world, expanded);
    }
}

/// Whether so many vertices are too few for a step toward the frontier, even if they have some times more arcs than others: then nobody has to count
/// the arcs.
fn is_small(vertices: u64, unexplored: u64, graph: &PartOfGraph<Unit>) -> bool {
    let arcs = vertices as f64 * graph.arcs() as f64 / graph.vertices().max(1) as f64;
    arcs * TIMES_MORE_ARCS < (unexplored / ARCS_SHARE) as f64
}

/// Finds the next level from the vertices that are not reached.
fn look_up(world: &World, search: &mut Search<'_>) -> Result<()> {
    if let Some(linked) = search.local.linked() {
        return linked.look_up(world);
    }
    let Mail { bits, outgoing, incoming } = &mut search.mail;
    let told = search.local.tell_frontier(bits).and_then(|()| subset::as_messages(bits, outgoing));
    world.exchange_mail(told, outgoing, incoming)?;
    search.local.look_up(&subset::of_ghosts(search.graph, incoming)?)
}
