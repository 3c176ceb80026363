//! Shortest paths by weights: the table of its algorithms.
//!
//! What a rank does by itself in a search is a [`Local`] search, on one core (`cores.rs`) or on a GPU (`device.rs`).

mod buckets;
mod cores;
mod delta_stepping;
mod device;

pub(crate) use delta_stepping::{PRUNING_SHARE, search, width_of};
use device::Linked;
use warpath::Result;
use warpath::graph::MinPlus;
use warpath::parts::PartMail;

use crate::algorithm::RankAlgorithm;

/// The algorithms of shortest paths by weights.
pub(crate) const ALGORITHMS: &[RankAlgorithm] = &[delta_stepping::INFO];

/// What a rank does by itself in a search, in buckets of one width. Vertices are numbers of states.
trait Local<L: MinPlus> {
    /// Whether some arcs are left until a bucket is settled.
    fn leaves_heavy(&self) -> bool;

    /// Relaxes the arcs of the vertices in a bucket that are not left until later, and of those that fall into it.
    fn relax_light(&mut self, bucket: u64) -> Result<()>;

    /// Of the vertices that were settled in this bucket: for how many other ranks each is a ghost, added up. 0 where ghosts are not told that they are
    /// settled.
    fn newly_settled(&self) -> u64 {
        0
    }

    /// Fills `bits` with a bit for each owned vertex that a rank has as a ghost, for each rank: whether it was settled since this was last told.
    fn tell_settled(&mut self, bits: &mut PartMail) -> Result<()> {
        bits.clear();
        Ok(())
    }

    /// Takes in which ghosts are nearer than the end of a bucket, from the messages of their owners: no path that is as long needs to be told.
    fn hear_settled(&mut self, _bucket: u64, _messages: &PartMail) -> Result<()> {
        Ok(())
    }

    /// The bucket is settled on all ranks: relaxes what was left.
    fn leave_bucket(&mut self) -> Result<()>;

    /// Fills `mail` with the ghosts that came nearer since they were last sent: the number of each at its rank, and its distance.
    fn collect(&mut self, mail: &mut PartMail) -> Result<()>;

    /// The same as [`Local::news`] before messages are taken in that others have collected: a bucket that a message leads to counts here. `None`
    /// if that takes as long as a meeting.
    fn early_news(&mut self) -> Option<(u64, bool)> {
        None
    }

    /// Takes in such messages.
    fn receive(&mut self, messages: &[u32]) -> Result<()>;

    /// The lowest bucket that holds anything here, or [`NOTHING`](buckets::NOTHING), and whether a hub came nearer here since this was last asked.
    fn news(&mut self) -> Result<(u64, bool)>;

    /// The distances of the hubs, as this rank has them.
    fn hub_distances(&mut self) -> Result<Vec<L::Distance>>;

    /// Takes in the least distances of hubs on all ranks.
    fn receive_hubs(&mut self, distances: &[L::Distance]) -> Result<()>;

    /// The distances of vertices with rows.
    fn distances(&mut self) -> Result<Vec<L::Distance>>;

    /// The search on a device that is linked with those of the other ranks: messages go from one to the other.
    fn linked(&mut self) -> Option<Linked<'_, L>> {
        None
    }
}
