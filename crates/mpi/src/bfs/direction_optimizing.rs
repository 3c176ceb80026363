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
use warpath::parts::PartMail;

use super::{Mail, Search, top_down};
use crate::algorithm::RankAlgorithm;
use crate::allocation::filled;
use crate::graph::PartOfGraph;
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

/// The kinds of messages about a frontier.
const AS_BITS: u32 = 0;
const AS_PLACES: u32 = 1;

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
    let told = search.local.tell_frontier(bits).and_then(|()| {
        outgoing.clear();
        (0..bits.parts()).try_for_each(|rank| add_message(outgoing, bits.of(rank)))
    });
    world.exchange_mail(told, outgoing, incoming)?;
    let graph = search.graph;
    let mut ghosts = filled("the frontier on other ranks", graph.ghosts().div_ceil(32), 0_u32)?;
    for rank in 0..world.ranks() {
        let first = graph.ghosts_of(rank).start - graph.rows();
        match incoming.of(rank) {
            [] => {}
            [AS_PLACES, places @ ..] => places.iter().for_each(|&place| {
                let ghost = first + place as usize;
                ghosts[ghost / 32] |= 1 << (ghost % 32);
            }),
            [_, words @ ..] => join(&mut ghosts, first, words),
        }
    }
    search.local.look_up(&ghosts)
}

/// Adds bits as a message to the next rank: nothing if none is set; the places of those that are, if that is shorter.
fn add_message(mail: &mut PartMail, bits: &[u32]) -> Result<()> {
    let places: usize = bits.iter().map(|word| word.count_ones() as usize).sum();
    if places == 0 {
        mail.add([])
    } else if places < bits.len() {
        let places = (0..).zip(bits).flat_map(|(index, &word)| {
            let rest = std::iter::successors((word != 0).then_some(word), |rest| {
                Some(rest & (rest - 1)).filter(|&rest| rest != 0)
            });
            rest.map(move |rest| index * 32 + rest.trailing_zeros())
        });
        mail.add(std::iter::once(AS_PLACES).chain(places))
    } else {
        mail.add(std::iter::once(AS_BITS).chain(bits.iter().copied()))
    }
}

/// Adds bits to a set from a place on. Those beyond the end of the set are 0.
fn join(set: &mut [u32], first: usize, words: &[u32]) {
    let shift = first % 32;
    for (index, &word) in (first / 32..).zip(words) {
        let wide = u64::from(word) << shift;
        for (index, half) in [(index, wide as u32), (index + 1, (wide >> 32) as u32)] {
            if half != 0 {
                set[index] |= half;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_the_shorter_of_bits_and_places() {
        let mut mail = PartMail::default();
        for bits in [&[0, 0][..], &[0, 1 << 3, 0], &[5, 0], &[5, 0, 0, 1 << 31]] {
            add_message(&mut mail, bits).unwrap();
        }
        let messages: Vec<&[u32]> = (0..mail.parts()).map(|rank| mail.of(rank)).collect();
        assert_eq!(messages, [&[][..], &[AS_PLACES, 35], &[AS_BITS, 5, 0], &[AS_PLACES, 0, 2, 127]]);
    }

    #[test]
    fn bits_are_joined_at_any_place() {
        for first in [0, 1, 31, 32, 40] {
            let mut set = [0_u32; 4];
            join(&mut set, first, &[0x8000_0001, 1]);
            let is_set = |place: usize| set[place / 32] >> (place % 32) & 1 == 1;
            let expected = [first, first + 31, first + 32];
            assert!((0..128).all(|place| is_set(place) == expected.contains(&place)), "{first}");
        }
    }
}
