//! A rank's part of a breadth-first search, on a GPU: every step is one of [`BfsPart`].

use warpath::Result;
use warpath::graph::Unit;
use warpath::parts::{BfsPart, PartMail};

use super::{Local, Size};
use crate::graph::PartOfGraph;

/// Begins a search in a part that is on the device.
pub(super) fn start<'a>(
    part: &'a mut BfsPart,
    graph: &PartOfGraph<Unit>,
    sources: &[u64],
) -> Result<Box<dyn Local + 'a>> {
    part.start(&graph.rows_of(sources))?;
    Ok(Box::new(part))
}

impl Local for &mut BfsPart {
    fn size(&mut self) -> Result<Size> {
        let (vertices, arcs) = self.frontier()?;
        Ok(Size { vertices, arcs })
    }

    fn expand(&mut self, mail: &mut PartMail) -> Result<()> {
        BfsPart::expand(self, mail)
    }

    fn receive(&mut self, vertices: &[u32]) -> Result<()> {
        BfsPart::receive(self, vertices)
    }

    fn tell_frontier(&mut self, mail: &mut PartMail) -> Result<()> {
        BfsPart::tell_frontier(self, mail)
    }

    fn look_up(&mut self, ghosts: &[u32]) -> Result<()> {
        BfsPart::look_up(self, ghosts)
    }

    fn found_hubs(&mut self) -> Result<Vec<u64>> {
        BfsPart::found_hubs(self)
    }

    fn advance(&mut self, hubs: &[u64]) -> Result<()> {
        BfsPart::advance(self, hubs)
    }

    fn levels(&mut self) -> Result<Vec<u32>> {
        BfsPart::levels(self)
    }
}
