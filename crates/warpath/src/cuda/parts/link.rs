//! Links between the devices of parts: messages go from one to the other by NCCL, or by what the caller has for that, such as an MPI that takes
//! addresses of devices.
//!
//! Before each exchange the parts *announce*, by what their hosts have, how many words go to each other part, and how many of them they take at a time.
//! So two parts cut what goes between them into the same pieces, each of which goes in one round. A part that failed announces that it takes
//! none, and gets none.
//!
//! *Invariants.* What a carrier is told to send, and where it writes, are slices of the pool that the part's device has.

use std::sync::Arc;

use super::PartDevice;
use super::messages::{Between, DeviceMessages};
use crate::cuda::device::Device;
use crate::cuda::device::carrier::{Carrier, KEY_BYTES, Piece};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::{Error, Result};

pub use crate::cuda::device::carrier::CarrierKey;

impl CarrierKey {
    /// A fresh key. One part makes it, and tells the others.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if NCCL (`libnccl.so.2`) is not there; [`Error::Device`] if it fails.
    pub fn new() -> Result<Self> {
        crate::cuda::carrier_key()
    }

    /// Its bytes, as 64-bit words.
    pub fn words(&self) -> Vec<u64> {
        bytemuck::pod_collect_to_vec(&self.0)
    }

    /// The key of these words; all zeros beyond them.
    pub fn of_words(words: &[u64]) -> Self {
        let mut key = [0; KEY_BYTES];
        let bytes: &[u8] = bytemuck::cast_slice(words);
        key.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
        CarrierKey(key)
    }
}

/// The devices of all parts, seen from one of them.
#[derive(Debug)]
pub struct PartLink {
    carrier: Box<dyn Carrier>,
    parts: usize,
}

impl PartLink {
    /// The most parts that are linked: the outboxes of each have room for pieces from all others.
    pub const MOST_PARTS: usize = 1 << 13;

    /// An error unless devices can be linked by NCCL here.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`], which says why not.
    pub fn available() -> Result<()> {
        crate::cuda::carrier_available()
    }

    /// Links the device of one of so many parts by NCCL with those of the others, each of which has to do this with the same key; waits for them.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if NCCL is not there, or there are too many parts; [`Error::Device`] if it fails, as where two parts have the same device.
    pub fn open(device: PartDevice, key: &CarrierKey, part: usize, parts: usize) -> Result<Self> {
        Self::check(parts)?;
        Ok(Self::by(joined(&device.open()?, key, part, parts)?, parts))
    }

    /// Links the devices of so many parts by something that takes addresses of them.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there are too many parts.
    pub fn through(messages: Box<dyn DeviceMessages>, parts: usize) -> Result<Self> {
        Self::check(parts)?;
        Ok(Self::by(Box::new(Between(messages)), parts))
    }

    fn check(parts: usize) -> Result<()> {
        let most = Self::MOST_PARTS;
        if parts > most {
            return Err(Error::NoDevice(format!("at most {most} parts on devices are linked, not {parts}")));
        }
        Ok(())
    }

    pub(super) fn by(carrier: Box<dyn Carrier>, parts: usize) -> Self {
        PartLink { carrier, parts }
    }

    /// Exchanges as announced. The words for all parts lie one after another; what comes from a part goes to `place(part, before)` in `room`, where
    /// `before` is how many words of lower parts come in this round. `take` is told after each round how many words came.
    pub(super) fn exchange(
        &self,
        pool: &Pool,
        words: DeviceSlice<u32>,
        [announced, coming]: [&[Announced]; 2],
        room: DeviceSlice<u32>,
        place: impl Fn(usize, usize) -> usize,
        mut take: impl FnMut(usize) -> Result<()>,
    ) -> Result<()> {
        if announced.len() != self.parts || coming.len() != self.parts {
            return Err(Error::invalid("a part exchanges words with each of the parts"));
        }
        // A part says how much it takes to those that send.
        let sent = || announced.iter().zip(coming).map(|(to, from)| (to.words, from.room));
        let received = || coming.iter().zip(announced).map(|(from, to)| (from.words, to.room));
        let rounds = sent().chain(received()).filter(|&(_, most)| most > 0).map(|(words, most)| words.div_ceil(most));
        for round in 0..rounds.max().unwrap_or(0) {
            let piece = |words: usize, most: usize| {
                round.saturating_mul(most).min(words)..(round + 1).saturating_mul(most).min(words)
            };
            let mut begin = 0;
            let mut pieces = [Vec::new(), Vec::new()];
            for (peer, (length, most)) in sent().enumerate() {
                let piece = piece(length, most);
                let from = words.part((begin + piece.start) as u64, piece.len() as u64);
                pieces[0].push(Piece { peer, address: from.address(), words: piece.len() });
                begin += length;
            }
            let mut before = 0;
            for (peer, (length, most)) in received().enumerate() {
                let length = piece(length, most).len();
                let to = room.part(place(peer, before) as u64, length as u64);
                pieces[1].push(Piece { peer, address: to.address(), words: length });
                before += length;
            }
            let [sent, received] = pieces.map(|mut pieces| {
                pieces.retain(|piece| piece.words > 0);
                pieces
            });
            // SAFETY: the slices are memory of the pool's device; pieces that are received lie one after another, or where `place` has room for them.
            unsafe { self.carrier.exchange(&**pool.device(), &sent, &received) }?;
            take(before)?;
        }
        Ok(())
    }

    /// Writes to `to` for each place of `of` the least of the numbers that the parts have there; each has so many words, 1 or 2.
    pub(super) fn least(&self, pool: &Pool, of: DeviceSlice<u32>, to: DeviceSlice<u32>, words: usize) -> Result<()> {
        let to = to.part(0, of.length());
        // SAFETY: both are memory of the pool's device, of the same length, and different arrays.
        unsafe {
            let count = of.length() as usize / words;
            self.carrier.least(&**pool.device(), of.address(), to.address(), count, words)
        }
    }
}

/// What joins a device with those that have the same key. NCCL makes ways between devices when they are first used, so they are used once here: the
/// first search does not wait for them.
fn joined(device: &Arc<dyn Device>, key: &CarrierKey, part: usize, parts: usize) -> Result<Box<dyn Carrier>> {
    let carrier = device.join(key, part, parts)?;
    let (pool, [sent, received]) =
        Pool::lay_out(device, |arena| arena.take_two::<u32>(["words to send", "words received"], parts as u64))?;
    pool.fill(sent, 0)?;
    let others = |words: DeviceSlice<u32>| {
        let word = |peer: usize| Piece { peer, address: words.part(peer as u64, 1).address(), words: 1 };
        (0..parts).filter(|&peer| peer != part).map(word).collect::<Vec<_>>()
    };
    // SAFETY: both are memory of the pool's device, a word for each part.
    unsafe {
        carrier.exchange(&**device, &others(sent), &others(received))?;
        carrier.least(&**device, sent.address(), received.address(), parts, 1)?;
    }
    Ok(carrier)
}

/// What a part tells another before they exchange words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Announced {
    /// How many words it sends there.
    pub words: usize,
    /// How many it takes from there at a time.
    pub room: usize,
}
