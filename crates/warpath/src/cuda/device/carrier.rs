//! Carriers: what takes arrays from the device of one process to those of others, without the memory of a host that is known here.
//!
//! Every process that has the key joins, at a place of its own. What one sends to a place, that one has to receive, as many words in the same
//! order; and what all do together, all have to do.
//!
//! *Invariants.* Callers vouch for addresses and lengths, as to a `Device`.

use std::fmt::Debug;

use super::Device;
use crate::Result;

/// How many bytes a key has.
pub(crate) const KEY_BYTES: usize = 128;

/// What devices of several processes have in common that are to be linked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CarrierKey(pub [u8; KEY_BYTES]);

/// Words that go to a place, or come from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The place.
    pub peer: usize,
    /// Where they are on the device.
    pub address: u64,
    /// How many 32-bit words.
    pub words: usize,
}

/// What processes that joined have in common, seen from one of them.
pub(crate) trait Carrier: Debug {
    /// Sends and receives; returns when both are done. What the device was given before is done first.
    ///
    /// # Safety
    ///
    /// The pieces are memory of this device, which has joined, and those received overlap nothing.
    unsafe fn exchange(&self, device: &dyn Device, sent: &[Piece], received: &[Piece]) -> Result<()>;

    /// Writes to `to` for each place of an array the least number that any process has there. A number has `words` words, 1 or 2; returns when it is done.
    ///
    /// # Safety
    ///
    /// Both are memory of this device, which has joined, for `count` such numbers, and do not overlap.
    unsafe fn least(&self, device: &dyn Device, of: u64, to: u64, count: usize, words: usize) -> Result<()>;
}
