//! Breadth-first search from tails to heads: every rank expands its vertices of the frontier, level by level.
//!
//! A head that the rank owns gets its level at once. A ghost is reported to its owner the first time it is met; a message is one
//! word, the number of the vertex at its owner, and no rank reports a vertex twice. A hub is marked in a set of bits that the ranks
//! reduce. So a rank sends at most one word for each ghost in the whole search, and meets the others once a level on cores: with the words
//! goes what each found. With hubs it meets them three times, on GPUs twice.
//!
//! Work O(V + E) for all ranks; O(ghosts) words sent by a rank, O(levels) meetings.
//!
//! Source: A. Buluç, K. Madduri, Parallel breadth-first search on distributed memory systems, SC 2011, section 3.1 (1-D), with the
//! delegates of Pearce et al. 2014.

use warpath::Result;

use super::{Mail, Search, Told};
use crate::algorithm::RankAlgorithm;
use crate::world::{Outcome, World};

pub(super) const INFO: RankAlgorithm = RankAlgorithm {
    name: "top-down",
    source: "Buluç and Madduri 2011, 1-D, with hubs as in Pearce et al. 2014",
    undirected_only: false,
};

pub(super) fn run(world: &World, search: &mut Search<'_>) -> Outcome<()> {
    loop {
        let vertices = match search.bound(world)? {
            Some(bound) => bound,
            None => search.size(world)?.0.vertices,
        };
        if vertices == 0 {
            return Ok(());
        }
        let expanded = expand(world, search);
        search.advance(world, expanded);
    }
}

/// Finds the next level from the frontier.
pub(super) fn expand(world: &World, search: &mut Search<'_>) -> Result<()> {
    if let Some(linked) = search.local.linked() {
        return linked.expand(world);
    }
    let Mail { outgoing, incoming, .. } = &mut search.mail;
    let expanded = search.local.expand(outgoing);
    let Some(found) = search.local.found() else {
        world.exchange_mail(expanded, outgoing, incoming)?;
        return search.local.receive(incoming.words());
    };
    let reported = if expanded.is_ok() { outgoing.words().len() as u64 } else { 0 };
    let failed = expanded.is_err() || search.failure.is_some();
    let (all, carried) =
        world.exchange_with_news(expanded, outgoing, incoming, [found + reported, u64::from(failed), 0]);
    search.told =
        Some(Told { vertices: all.iter().map(|news| news[0]).sum(), failed: all.iter().any(|news| news[1] > 0) });
    carried?;
    search.local.receive(incoming.words())
}
