//! Breadth-first search: the table of its algorithms, and what they share.

mod direction_optimizing;
mod top_down;

pub(crate) use direction_optimizing::{ARCS_SHARE, VERTICES_SHARE};
use warpath::graph::Unit;
use warpath::{Error, Result};

use crate::algorithm::RankAlgorithm;
use crate::allocation::{filled, with_capacity};
use crate::bits::Bits;
use crate::graph::PartOfGraph;
use crate::world::{Outcome, Reduction, World};

/// The algorithms of breadth-first search, the preferred ones first.
pub(crate) const ALGORITHMS: &[RankAlgorithm] = &[direction_optimizing::INFO, top_down::INFO];

/// The mark of vertices that are not reached.
const UNREACHED: u32 = u32::MAX;

/// Levels of all vertices with state but ghosts, from the sources on.
pub(crate) fn search(
    world: &World,
    graph: &PartOfGraph<Unit>,
    algorithm: &RankAlgorithm,
    sources: &[u64],
) -> Outcome<Vec<u32>> {
    let mut search = world.agree(Search::new(graph, sources))?;
    if algorithm.name == direction_optimizing::INFO.name {
        direction_optimizing::run(world, &mut search)?;
    } else {
        top_down::run(world, &mut search)?;
    }
    Ok(search.levels)
}

/// The state of a search.
struct Search<'g> {
    graph: &'g PartOfGraph<Unit>,
    /// The level of each owned vertex and each hub.
    levels: Vec<u32>,
    /// The owned vertices of the level that is expanded next, and the hubs, which are the same on all ranks.
    frontier: Vec<u32>,
    hubs: Vec<u32>,
    next: Vec<u32>,
    /// The hubs that this rank found in a level.
    found_hubs: Bits,
    /// The ghosts that were reported to their owners, or are known to be found.
    known_ghosts: Bits,
    level: u32,
    /// Why the last level could not be expanded here.
    failure: Option<Error>,
}

/// The size of a frontier on all ranks.
#[derive(Debug, Clone, Copy, Default)]
struct Size {
    vertices: u64,
    /// The arcs that leave these vertices.
    arcs: u64,
}

impl<'g> Search<'g> {
    fn new(graph: &'g PartOfGraph<Unit>, sources: &[u64]) -> Result<Self> {
        let mut search = Search {
            graph,
            levels: filled("levels of vertices", graph.rows(), UNREACHED)?,
            frontier: with_capacity("the frontier", graph.owned_count())?,
            hubs: with_capacity("the hubs of the frontier", graph.hubs())?,
            next: with_capacity("the next frontier", graph.owned_count())?,
            found_hubs: Bits::new("the hubs found", graph.hubs())?,
            known_ghosts: Bits::new("the known vertices of other ranks", graph.ghosts())?,
            level: 0,
            failure: None,
        };
        for source in sources.iter().filter_map(|&source| graph.number_of(source)) {
            if std::mem::replace(&mut search.levels[source], 0) == UNREACHED {
                let is_hub = source >= graph.owned_count();
                if is_hub { &mut search.hubs } else { &mut search.frontier }.push(source as u32);
            }
        }
        Ok(search)
    }

    /// The vertices of the frontier that have rows here.
    fn active(&self) -> impl Iterator<Item = usize> {
        self.frontier.iter().chain(&self.hubs).map(|&vertex| vertex as usize)
    }

    /// The size of the frontier on all ranks, if all could find it. A hub counts once, its arcs where they lie.
    fn size(&mut self, world: &World) -> Outcome<Size> {
        let hubs = self.hubs.iter().filter(|&&hub| self.graph.answers_for(hub as usize)).count();
        let arcs = self.active().map(|vertex| self.graph.heads(vertex).len() as u64).sum();
        let mut sums = [(self.frontier.len() + hubs) as u64, arcs, u64::from(self.failure.is_some())];
        world.reduce_all(Reduction::Sum, &mut sums);
        if sums[2] > 0 {
            world.agree(self.failure.take().map_or(Ok(()), Err))?;
        }
        Ok(Size { vertices: sums[0], arcs: sums[1] })
    }

    /// Notes an owned vertex at the next level, unless it has a level.
    #[inline]
    fn reach(&mut self, vertex: usize) {
        if self.levels[vertex] == UNREACHED {
            self.levels[vertex] = self.level + 1;
            self.next.push(vertex as u32);
        }
    }

    /// The next level, which was looked for, becomes the frontier, with the hubs that any rank found.
    fn advance(&mut self, world: &World, expanded: Result<()>) {
        self.failure = expanded.err();
        let owned = self.graph.owned_count();
        if self.graph.hubs() > 0 {
            world.reduce_all(Reduction::Or, self.found_hubs.words_mut());
        }
        self.hubs.clear();
        for hub in self.found_hubs.iter().map(|hub| owned + hub) {
            self.levels[hub] = self.level + 1;
            self.hubs.push(hub as u32);
        }
        self.found_hubs.clear();
        self.frontier.clear();
        std::mem::swap(&mut self.frontier, &mut self.next);
        self.level += 1;
    }
}
