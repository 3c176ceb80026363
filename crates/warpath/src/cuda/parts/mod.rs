//! Searches of one part of a graph on a GPU, for programs that divide a graph among processes, as those of an MPI run do.
//!
//! A part has the rows of the vertices that it *owns*, and of *hubs*: vertices of high degree that all parts know, of which each has
//! some of the arcs. Vertices of other parts at the heads of its arcs are *ghosts*. States are numbered: owned vertices, hubs, ghosts;
//! the ghosts of one part come after those of another. [`PartRows`] is what all this is made of.
//!
//! A search goes step by step. A step puts what the other parts have to know into a [`PartMail`], or takes in what they
//! said. What carries the messages is the caller's affair, and so are the order of the steps and the reduction of what parts found of hubs. A
//! [`PartLink`] carries them from device to device, by NCCL or by what the caller has for that.
//!
//! Everything lies in one allocation, which [`PartExtent`] plans.

mod breadth_first;
mod by_weights;
mod link;
mod mail;
mod messages;
#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::Arc;

pub use breadth_first::BfsPart;
#[cfg(test)]
pub(in crate::cuda) use breadth_first::header as bfs_header;
pub use by_weights::SsspPart;
#[cfg(test)]
pub(in crate::cuda) use by_weights::header as sssp_header;
pub use link::{Announced, CarrierKey, PartLink};
pub use mail::PartMail;
#[cfg(test)]
pub(in crate::cuda) use mail::header as mail_header;
pub use messages::{DeviceMessages, Piece};

use super::device::{Device, Function, LaunchShape};
use super::frontier::most_pieces_of;
use crate::{Error, Result};

/// The rows of a part of a graph, and which of its vertices other parts have as ghosts.
#[derive(Debug, Clone)]
pub struct PartRows<'a> {
    /// How many vertices the part owns.
    pub owned: usize,
    /// Which hubs it answers for: exactly one part does for each.
    pub own_hubs: Range<usize>,
    /// Where the arcs of each row begin, owned vertices first, then hubs, and where the last ones end.
    pub offsets: &'a [u64],
    /// The heads of the arcs, as numbers of states.
    pub heads: &'a [u32],
    /// For each part the numbers that its owned vertices have there that are ghosts here, in the order of the ghosts.
    pub ghosts: Vec<Vec<u32>>,
    /// For each part the owned vertices that are ghosts there, in the order of those ghosts.
    pub subscribers: Vec<&'a [u32]>,
}

/// How large a part is: all that its memory on a device depends on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PartExtent {
    /// Parts of the whole graph.
    pub parts: u64,
    /// Vertices that the part owns.
    pub owned: u64,
    /// Hubs of all parts.
    pub hubs: u64,
    /// Vertices of other parts.
    pub ghosts: u64,
    /// Arcs of the part.
    pub arcs: u64,
    /// Owned vertices that are ghosts elsewhere, once for each part that has them.
    pub subscriptions: u64,
}

impl PartExtent {
    /// How many vertices have rows.
    fn rows(&self) -> u64 {
        self.owned.saturating_add(self.hubs)
    }

    /// How many have state.
    fn states(&self) -> u64 {
        self.rows().saturating_add(self.ghosts)
    }

    /// The most pieces of long rows that a frontier can have.
    fn most_pieces(&self) -> u64 {
        most_pieces_of(self.arcs, self.rows())
    }
}

impl PartRows<'_> {
    /// How large it is.
    pub fn extent(&self) -> PartExtent {
        let rows = self.offsets.len().saturating_sub(1) as u64;
        PartExtent {
            parts: self.ghosts.len() as u64,
            owned: self.owned as u64,
            hubs: rows.saturating_sub(self.owned as u64),
            ghosts: self.ghosts.iter().map(|of_part| of_part.len() as u64).sum(),
            arcs: self.heads.len() as u64,
            subscriptions: self.subscribers.iter().map(|of_part| of_part.len() as u64).sum(),
        }
    }

    /// An error unless every number is in its range: kernels rely on it. O(arcs + states).
    fn check(&self) -> Result<()> {
        /// Threads count a little beyond the last vertex.
        const MOST_STATES: u64 = u32::MAX as u64 - (1 << 20);
        let extent = self.extent();
        let (rows, states) = (extent.rows(), extent.states());
        let ascend = self.offsets.windows(2).all(|pair| pair[0] <= pair[1]);
        let spans = self.offsets.first() == Some(&0) && self.offsets.last() == Some(&(self.heads.len() as u64));
        let has_hubs = self.own_hubs.start <= self.own_hubs.end && self.own_hubs.end as u64 <= extent.hubs;
        let are_owned = |list: &[u32]| list.iter().all(|&vertex| (vertex as usize) < self.owned);
        if !ascend || !spans || rows < extent.owned || !has_hubs || self.ghosts.len() != self.subscribers.len() {
            return Err(Error::invalid("the rows of the part do not fit each other"));
        }
        for (what, count) in [("vertices", states), ("vertices that other parts know", extent.subscriptions)] {
            if count > MOST_STATES {
                return Err(Error::invalid(format!(
                    "a part has up to {MOST_STATES} {what} on a device; this one has {count}"
                )));
            }
        }
        if !self.heads.iter().all(|&head| u64::from(head) < states)
            || !self.subscribers.iter().all(|list| are_owned(list))
        {
            return Err(Error::invalid("a number in the rows of the part is no vertex"));
        }
        Ok(())
    }
}

/// A GPU, and what of the host it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartDevice {
    /// Its number, from 0, as in `cuda:0`.
    pub ordinal: u32,
    /// Threads of the host that copy to it and from it, unless the process has opened it before in the context that its libraries share.
    pub threads: usize,
}

impl PartDevice {
    /// The device, in the context that it is linked in.
    fn open(self) -> Result<Arc<dyn Device>> {
        super::open_shared(self.ordinal, self.threads)
    }
}

/// As many blocks as run at once.
fn everywhere(device: &dyn Device, function: Function) -> Result<LaunchShape> {
    const MOST_THREADS: u32 = 512;
    let threads = device.properties().threads_per_block.min(MOST_THREADS);
    Ok(LaunchShape::line(device.blocks_at_once(function, threads, 0)?.max(1), threads))
}

/// Numbers of vertices from another part, which rely on nothing.
fn check_numbers(mut numbers: impl Iterator<Item = u32>, end: usize) -> Result<()> {
    match numbers.find(|&number| number as usize >= end) {
        Some(number) => Err(Error::invalid(format!("another part told of vertex {number}, and this one has {end}"))),
        None => Ok(()),
    }
}
