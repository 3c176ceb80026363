//! Mail for other parts: outboxes on the device, packed into messages.
//!
//! Messages go through the host, or straight to the devices of other parts (`link.rs`). What comes from there lies where the outboxes are, which are empty by
//! then, in pieces if it is too much.
//!
//! *Invariants.* A part's outbox has room for each of its ghosts, and kernels post a ghost once before the mail is collected.

use super::link::{Announced, PartLink};
use super::{PartExtent, PartRows};
use crate::Result;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, kernel_header};

kernel_header! {
    path: "parts";
    namespace: parts;
    /// What is on its way to other parts.
    pub(super) struct Mail {
        /// Where the ghosts of each part begin, and where the last ones end; so do the outboxes.
        starts: DevicePtr<u32>,
        /// Where the messages of each part begin in the mail, and where the last ones end.
        packed: DevicePtr<u32>,
        /// The number of each ghost in its own part.
        numbers: DevicePtr<u32>,
        /// How many ghosts of each part were posted.
        posted: DeviceMutPtr<u32>,
        outbox: DeviceMutPtr<u32>,
        /// The mail: messages of a few words each.
        words: DeviceMutPtr<u32>,
        parts: u32,
    }
}

/// Messages for all parts, in 32-bit words: those for one part after those for another. It keeps its memory for the next ones.
#[derive(Debug, Clone, Default)]
pub struct PartMail {
    /// Perhaps more than there are messages.
    words: Vec<u32>,
    /// Where the words for each part end.
    ends: Vec<usize>,
}

impl PartMail {
    /// For how many parts there are words, or none.
    pub fn parts(&self) -> usize {
        self.ends.len()
    }

    /// The words for a part.
    ///
    /// # Panics
    ///
    /// If there is no such part.
    pub fn of(&self, part: usize) -> &[u32] {
        let start = part.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.words[start..self.ends[part]]
    }

    /// All words.
    pub fn words(&self) -> &[u32] {
        &self.words[..self.end()]
    }

    fn end(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Takes out everything: there are no parts then.
    pub fn clear(&mut self) {
        self.ends.clear();
    }

    /// Adds the words for one more part.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn add(&mut self, words: impl IntoIterator<Item = u32>) -> Result<()> {
        let words = words.into_iter();
        self.words.truncate(self.end());
        crate::memory::grow("messages", &mut self.words, words.size_hint().0)?;
        self.words.extend(words);
        self.ends.push(self.words.len());
        Ok(())
    }

    /// Room for so many words for each part. What they are is left open.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub fn make_room(&mut self, lengths: impl IntoIterator<Item = usize>) -> Result<&mut [u32]> {
        self.ends.clear();
        let mut end = 0;
        self.ends.extend(lengths.into_iter().map(|length| {
            end += length;
            end
        }));
        if let Some(more) = end.checked_sub(self.words.len()) {
            crate::memory::grow("messages", &mut self.words, more)?;
            self.words.resize(end, 0);
        }
        Ok(&mut self.words[..end])
    }
}

/// The mail and the outboxes are at least so many words long, so that what comes is taken in by pieces that are worth a launch. Tests want several pieces.
const LEAST_WORDS: u64 = if cfg!(test) { 1 << 7 } else { 1 << 16 };

/// The arrays of the mail.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mailbox {
    starts: DeviceSlice<u32>,
    packed: DeviceSlice<u32>,
    numbers: DeviceSlice<u32>,
    posted: DeviceSlice<u32>,
    /// Takes what comes from other devices.
    pub(super) outbox: DeviceSlice<u32>,
    /// Takes what comes from the host.
    pub(super) words: DeviceSlice<u32>,
    parts: u32,
    words_of_message: usize,
}

impl Mailbox {
    pub(super) fn layout(arena: &mut Arena<'_>, extent: PartExtent, words_of_message: usize) -> Self {
        // What is told of hubs goes through it, too.
        let most = extent.ghosts.max(extent.hubs);
        let words = most.saturating_mul(words_of_message as u64).max(LEAST_WORDS);
        Mailbox {
            starts: arena.take("where the vertices of other parts begin", extent.parts + 1),
            packed: arena.take("where messages begin", extent.parts + 1),
            numbers: arena.take("numbers of vertices of other parts", extent.ghosts),
            posted: arena.take("lengths of the outboxes", extent.parts),
            outbox: arena.take("outboxes", extent.ghosts.max(LEAST_WORDS)),
            words: arena.take("messages", words),
            parts: extent.parts as u32,
            words_of_message,
        }
    }

    /// Makes the outboxes ready, and empty.
    pub(super) fn fill(&self, pool: &Pool, rows: &PartRows<'_>) -> Result<()> {
        pool.upload(self.starts, &ends_of(rows.ghosts.iter().map(Vec::len)))?;
        let mut begin = 0;
        for numbers in &rows.ghosts {
            pool.upload(self.numbers.part(begin, numbers.len() as u64), numbers)?;
            begin += numbers.len() as u64;
        }
        pool.fill(self.posted, 0)
    }

    pub(super) fn argument(&self) -> Mail {
        Mail {
            starts: self.starts.as_ptr(),
            packed: self.packed.as_ptr(),
            numbers: self.numbers.as_ptr(),
            posted: self.posted.as_mut_ptr(),
            outbox: self.outbox.as_mut_ptr(),
            words: self.words.as_mut_ptr(),
            parts: self.parts,
        }
    }

    /// Packs the messages to each part; how many words there are for each. `post` starts the kernel that posts ghosts, and `pack` the one that packs
    /// so many of them.
    pub(super) fn pack(
        &self,
        pool: &Pool,
        post: impl FnOnce() -> Result<()>,
        pack: impl FnOnce(u32) -> Result<()>,
    ) -> Result<Vec<usize>> {
        if self.numbers.length() == 0 {
            return Ok(vec![0; self.parts as usize]);
        }
        post()?;
        let posted = pool.read(self.posted)?;
        let packed = ends_of(posted.iter().map(|&count| count as usize));
        let count = packed[posted.len()];
        if count > 0 {
            pool.upload(self.packed, &packed)?;
            pack(count)?;
            pool.fill(self.posted, 0)?;
        }
        Ok(posted.iter().map(|&count| count as usize * self.words_of_message).collect())
    }

    /// Fills `mail` with the messages that were packed, so many words for each part.
    pub(super) fn read(&self, pool: &Pool, packed: Vec<usize>, mail: &mut PartMail) -> Result<()> {
        let room = mail.make_room(packed)?;
        match room.len() as u64 {
            0 => Ok(()),
            words => pool.read_into(self.words.part(0, words), room),
        }
    }

    /// What is announced of so many words for each part.
    pub(super) fn announce(&self, packed: Vec<usize>) -> Vec<Announced> {
        let unit = self.words_of_message;
        let room = self.outbox.length() as usize / self.parts as usize / unit * unit;
        packed.into_iter().map(|words| Announced { words, room }).collect()
    }

    /// Sends the messages that were packed, and receives others, as announced. `take` starts the kernel that takes in so many messages.
    pub(super) fn exchange(
        &self,
        pool: &Pool,
        link: &PartLink,
        announced: [&[Announced]; 2],
        take: impl Fn(DeviceSlice<u32>, u32) -> Result<()>,
    ) -> Result<()> {
        link.exchange(
            pool,
            self.words,
            announced,
            self.outbox,
            |_, before| before,
            |words| match (words / self.words_of_message) as u32 {
                0 => Ok(()),
                count => take(self.outbox, count),
            },
        )
    }

    /// Takes in messages: `take` starts the kernel for so many that lie in the mail, one piece after another.
    pub(super) fn deliver(&self, pool: &Pool, messages: &[u32], mut take: impl FnMut(u32) -> Result<()>) -> Result<()> {
        let most = self.words.length() as usize / self.words_of_message * self.words_of_message;
        messages.chunks(most).try_for_each(|piece| {
            pool.upload(self.words, piece)?;
            take((piece.len() / self.words_of_message) as u32)
        })
    }
}

/// 0, and where lists of these lengths end that follow each other. There are fewer than 2^32 states.
pub(super) fn ends_of(lengths: impl Iterator<Item = usize>) -> Vec<u32> {
    let ends = lengths.scan(0, |end, length| {
        *end += length as u32;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}
