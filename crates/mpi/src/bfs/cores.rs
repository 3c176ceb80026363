//! A rank's part of a breadth-first search, on one core.

use warpath::Result;
use warpath::graph::Unit;
use warpath::parts::PartMail;

use super::{Local, Size};
use crate::allocation::{filled, with_capacity};
use crate::bits::Bits;
use crate::graph::{GhostsToTell, PartOfGraph, subset};

/// The mark of vertices that are not reached.
const UNREACHED: u32 = u32::MAX;

/// The state of a search.
struct OnCores<'g> {
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
    /// Those that were met in a level for the first time.
    met: GhostsToTell,
    /// The frontier as bits, with ghosts; empty until it is asked for.
    frontier_bits: Bits,
    level: u32,
}

/// Begins a search.
pub(super) fn start<'g>(graph: &'g PartOfGraph<Unit>, sources: &[u64]) -> Result<Box<dyn Local + 'g>> {
    let mut search = OnCores {
        graph,
        levels: filled("levels of vertices", graph.rows(), UNREACHED)?,
        frontier: with_capacity("the frontier", graph.owned_count())?,
        hubs: with_capacity("the hubs of the frontier", graph.hubs())?,
        next: with_capacity("the next frontier", graph.owned_count())?,
        found_hubs: Bits::new("the hubs found", graph.hubs())?,
        known_ghosts: Bits::new("the known vertices of other ranks", graph.ghosts())?,
        met: GhostsToTell::new(graph.ghosts())?,
        frontier_bits: Bits::new("the frontier as bits", graph.states())?,
        level: 0,
    };
    for source in sources.iter().filter_map(|&source| graph.number_of(source)) {
        if std::mem::replace(&mut search.levels[source], 0) == UNREACHED {
            let is_hub = source >= graph.owned_count();
            if is_hub { &mut search.hubs } else { &mut search.frontier }.push(source as u32);
        }
    }
    Ok(Box::new(search))
}

impl OnCores<'_> {
    /// The vertices of the frontier that have rows here.
    fn active(&self) -> impl Iterator<Item = usize> {
        self.frontier.iter().chain(&self.hubs).map(|&vertex| vertex as usize)
    }

    /// Notes an owned vertex at the next level, unless it has a level.
    #[inline]
    fn reach(&mut self, vertex: usize) {
        if self.levels[vertex] == UNREACHED {
            self.levels[vertex] = self.level + 1;
            self.next.push(vertex as u32);
        }
    }
}

impl Local for OnCores<'_> {
    fn size(&mut self) -> Result<Size> {
        let hubs = self.hubs.iter().filter(|&&hub| self.graph.answers_for(hub as usize)).count();
        let arcs = self.active().map(|vertex| self.graph.heads(vertex).len() as u64).sum();
        Ok(Size { vertices: (self.frontier.len() + hubs) as u64, arcs })
    }

    fn expand(&mut self, mail: &mut PartMail) -> Result<()> {
        let graph = self.graph;
        let (owned, rows) = (graph.owned_count(), graph.rows());
        let (frontier, hubs) = (std::mem::take(&mut self.frontier), std::mem::take(&mut self.hubs));
        for &vertex in frontier.iter().chain(&hubs) {
            for &head in graph.heads(vertex as usize) {
                let head = head as usize;
                if head < owned {
                    self.reach(head);
                } else if head < rows {
                    if self.levels[head] == UNREACHED {
                        self.found_hubs.insert(head - owned);
                    }
                } else if self.known_ghosts.insert(head - rows) {
                    self.met.insert(head - rows);
                }
            }
        }
        (self.frontier, self.hubs) = (frontier, hubs);
        self.met.tell(graph, 1, mail, |_, _| {})
    }

    fn found(&self) -> Option<u64> {
        Some(self.next.len() as u64)
    }

    fn receive(&mut self, vertices: &[u32]) -> Result<()> {
        vertices.iter().for_each(|&vertex| self.reach(vertex as usize));
        Ok(())
    }

    fn tell_frontier(&mut self, mail: &mut PartMail) -> Result<()> {
        self.frontier_bits.clear();
        for &vertex in self.frontier.iter().chain(&self.hubs) {
            self.frontier_bits.insert(vertex as usize);
        }
        subset::of_subscribed(self.graph, mail, |vertex| self.frontier_bits.contains(vertex as usize))
    }

    fn look_up(&mut self, ghosts: &[u32]) -> Result<()> {
        let graph = self.graph;
        let rows = graph.rows();
        self.frontier_bits.join(rows, ghosts);
        self.known_ghosts.join(0, ghosts);
        let frontier = std::mem::take(&mut self.frontier_bits);
        let has_neighbor = |vertex| graph.heads(vertex).iter().any(|&head| frontier.contains(head as usize));
        for vertex in 0..graph.owned_count() {
            if self.levels[vertex] == UNREACHED && has_neighbor(vertex) {
                self.reach(vertex);
            }
        }
        for hub in graph.owned_count()..rows {
            if self.levels[hub] == UNREACHED && has_neighbor(hub) {
                self.found_hubs.insert(hub - graph.owned_count());
            }
        }
        self.frontier_bits = frontier;
        Ok(())
    }

    fn found_hubs(&mut self) -> Result<Vec<u64>> {
        Ok(self.found_hubs.words_mut().to_vec())
    }

    fn advance(&mut self, hubs: &[u64]) -> Result<()> {
        let owned = self.graph.owned_count();
        self.found_hubs.words_mut().copy_from_slice(hubs);
        self.hubs.clear();
        for hub in self.found_hubs.iter().map(|hub| owned + hub) {
            self.levels[hub] = self.level + 1;
            self.hubs.push(hub as u32);
        }
        self.found_hubs.clear();
        self.frontier.clear();
        std::mem::swap(&mut self.frontier, &mut self.next);
        self.level += 1;
        Ok(())
    }

    fn levels(&mut self) -> Result<Vec<u32>> {
        Ok(std::mem::take(&mut self.levels))
    }
}
