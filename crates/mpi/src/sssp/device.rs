//! A rank's part of a search by delta-stepping, on a GPU: every step is one of [`SsspPart`], which relaxes all arcs of a vertex at once.

use warpath::Result;
use warpath::graph::MinPlus;
use warpath::parts::{PartMail, SsspPart};

use super::Local;
use super::buckets::{NOTHING, Width};
use crate::graph::PartOfGraph;

/// Begins a search in a part that is on the device.
pub(super) fn start<'a, L: MinPlus>(
    part: &'a mut SsspPart<L>,
    graph: &PartOfGraph<L::Weight>,
    width: Width,
    step: f64,
    sources: &[u64],
) -> Result<Box<dyn Local<L> + 'a>> {
    part.start(&graph.rows_of(sources))?;
    Ok(Box::new(OnDevice { part, width, step }))
}

struct OnDevice<'a, L: MinPlus> {
    part: &'a mut SsspPart<L>,
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
}
