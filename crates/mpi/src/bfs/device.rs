//! A rank's part of a breadth-first search, on a GPU: every step is one of [`BfsPart`]. Where its GPU is linked with those of the others, messages go
//! from one to the other.

use warpath::Result;
use warpath::graph::Unit;
use warpath::parts::{BfsPart, PartLink, PartMail};

use super::{Local, Size};
use crate::device::Placed;
use crate::graph::PartOfGraph;
use crate::world::World;

/// Begins a search in a part that is on the device.
pub(super) fn start<'a>(
    placed: Placed<'a, BfsPart>,
    graph: &PartOfGraph<Unit>,
    sources: &[u64],
) -> Result<Box<dyn Local + 'a>> {
    placed.part.start(&graph.rows_of(sources))?;
    Ok(Box::new(placed))
}

/// A search on a device that is linked with those of the other ranks.
pub(super) struct Linked<'a> {
    part: &'a mut BfsPart,
    link: &'a PartLink,
}

impl Linked<'_> {
    /// Finds the next level from the frontier.
    pub(super) fn expand(self, world: &World) -> Result<()> {
        let packed = self.part.expand_packed();
        world.exchange_by(packed, |announced| self.part.exchange_met(self.link, announced))
    }

    /// Finds the next level from the vertices that are not reached.
    pub(super) fn look_up(self, world: &World) -> Result<()> {
        let packed = self.part.tell_packed();
        world.exchange_by(packed, |announced| self.part.exchange_told(self.link, announced))
    }
}

impl Local for Placed<'_, BfsPart> {
    fn size(&mut self) -> Result<Size> {
        let (vertices, arcs) = self.part.frontier()?;
        Ok(Size { vertices, arcs })
    }

    fn expand(&mut self, mail: &mut PartMail) -> Result<()> {
        self.part.expand(mail)
    }

    fn receive(&mut self, vertices: &[u32]) -> Result<()> {
        self.part.receive(vertices)
    }

    fn tell_frontier(&mut self, mail: &mut PartMail) -> Result<()> {
        self.part.tell_frontier(mail)
    }

    fn look_up(&mut self, ghosts: &[u32]) -> Result<()> {
        self.part.look_up(ghosts)
    }

    fn found_hubs(&mut self) -> Result<Vec<u64>> {
        self.part.found_hubs()
    }

    fn advance(&mut self, hubs: &[u64]) -> Result<()> {
        self.part.advance(hubs)
    }

    fn levels(&mut self) -> Result<Vec<u32>> {
        self.part.levels()
    }

    fn linked(&mut self) -> Option<Linked<'_>> {
        self.link.map(|link| Linked { part: self.part, link })
    }
}
