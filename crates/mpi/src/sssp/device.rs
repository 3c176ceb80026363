//! A rank's part of a search by delta-stepping, on a GPU: every step is one of [`SsspPart`], which relaxes all arcs of a vertex at once. Where its GPU is
//! linked with those of the others, messages and distances of hubs go from one to the other.

use warpath::Result;
use warpath::graph::MinPlus;
use warpath::parts::{PartLink, PartMail, SsspPart};

use super::Local;
use super::buckets::{NOTHING, Width};
use crate::device::Placed;
use crate::graph::PartOfGraph;
use crate::world::World;

/// Begins a search in a part that is on the device.
pub(super) fn start<'a, L: MinPlus>(
    Placed { part, link }: Placed<'a, SsspPart<L>>,
    graph: &PartOfGraph<L::Weight>,
    width: Width,
    step: f64,
    sources: &[u64],
) -> Result<Box<dyn Local<L> + 'a>> {
    part.start(&graph.rows_of(sources))?;
    Ok(Box::new(OnDevice { part, link, width, step }))
}

/// A search on a device that is linked with those of the other ranks.
pub(super) struct Linked<'a, L: MinPlus> {
    part: &'a mut SsspPart<L>,
    link: &'a PartLink,
}

impl<L: MinPlus> Linked<'_, L> {
    /// Tells the owners of ghosts that came nearer, after arcs were relaxed.
    pub(super) fn exchange(self, world: &World, relaxed: Result<()>) -> Result<()> {
        let packed = relaxed.and_then(|()| self.part.pack_mail());
        world.exchange_by(packed, |announced| self.part.exchange_mail(self.link, announced))
    }

    /// Gives each hub the least distance that any rank found for it; there are so many.
    pub(super) fn reduce_hubs(self, world: &World, hubs: usize) {
        world.reduce_by((hubs * size_of::<L::Distance>()) as u64, || self.part.exchange_hubs(self.link));
    }
}

struct OnDevice<'a, L: MinPlus> {
    part: &'a mut SsspPart<L>,
    link: Option<&'a PartLink>,
    width: Width,
    /// The first step in a bucket.
    step: f64,
}

impl<L: MinPlus> Local<L> for OnDevice<'_, L> {
    fn leaves_heavy(&self) -> bool {
        false
    }

    fn relax_light(&mut self, bucket: u64) -> Result<()> {
        self.part.relax(self.width.end_of(bucket), self.step)
    }

    fn leave_bucket(&mut self) -> Result<()> {
        Ok(())
    }

    fn collect(&mut self, mail: &mut PartMail) -> Result<()> {
        self.part.collect_mail(mail)
    }

    fn receive(&mut self, messages: &[u32]) -> Result<()> {
        self.part.receive(messages)
    }

    fn news(&mut self) -> Result<(u64, bool)> {
        let (least, hub_came_nearer) = self.part.news()?;
        Ok((least.map_or(NOTHING, |distance| self.width.bucket_of(distance)), hub_came_nearer))
    }

    fn hub_distances(&mut self) -> Result<Vec<L::Distance>> {
        self.part.hub_distances()
    }

    fn receive_hubs(&mut self, distances: &[L::Distance]) -> Result<()> {
        self.part.receive_hubs(distances)
    }

    fn distances(&mut self) -> Result<Vec<L::Distance>> {
        self.part.distances()
    }

    fn linked(&mut self) -> Option<Linked<'_, L>> {
        self.link.map(|link| Linked { part: self.part, link })
    }
}
