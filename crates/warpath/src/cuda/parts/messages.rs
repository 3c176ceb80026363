//! Messages between devices that something outside of this crate carries, such as an MPI that takes addresses of devices.
//!
//! *Invariants.* Addresses and lengths are those that a link tells its carrier.

use std::fmt::Debug;
use std::mem::MaybeUninit;

use crate::Result;
use crate::cuda::device::carrier::Carrier;
use crate::cuda::device::{Device, Stream};

pub use crate::cuda::device::carrier::Piece;

/// What carries words between the device of this process and those of others.
pub trait DeviceMessages: Debug {
    /// Sends pieces of the device's memory to other parts, and receives pieces from them into that memory; returns when both are done. What one sends
    /// to another, that one receives, in the same order.
    ///
    /// # Safety
    ///
    /// The pieces are memory of the device that this thread uses, which nothing else touches meanwhile, and those received overlap nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Device`](crate::Error::Device) if it is not possible.
    unsafe fn exchange(&self, sent: &[Piece], received: &[Piece]) -> Result<()>;

    /// Replaces each number by the least that any part has at the same place.
    ///
    /// # Errors
    ///
    /// [`Error::Device`](crate::Error::Device) if it is not possible.
    fn least(&self, numbers: &mut [u64]) -> Result<()>;
}

/// Such messages as a carrier. Numbers are reduced on the hosts: there are few, and MPICH 4.0 compares unsigned numbers as if they were signed.
#[derive(Debug)]
pub(super) struct Between(pub(super) Box<dyn DeviceMessages>);

impl Carrier for Between {
    unsafe fn exchange(&self, device: &dyn Device, sent: &[Piece], received: &[Piece]) -> Result<()> {
        // What is sent has to be there.
        device.synchronize()?;
        // SAFETY: the caller's promise.
        device.within(&mut || unsafe { self.0.exchange(sent, received) })
    }

    unsafe fn least(&self, device: &dyn Device, of: u64, to: u64, count: usize, words: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        let mine = unsafe { words_at(device, of, count * words) }?;
        let mut numbers: Vec<u64> = mine
            .chunks_exact(words)
            .map(|words| u64::from(words[0]) | words.get(1).map_or(0, |&high| u64::from(high) << 32))
            .collect();
        self.0.least(&mut numbers)?;
        let halves = |number: u64| [number as u32, (number >> 32) as u32].into_iter().take(words);
        let least: Vec<u32> = numbers.into_iter().flat_map(halves).collect();
        // SAFETY: the caller's promise.
        unsafe { write_words(device, to, &least) }
    }
}

/// Reads words of a device.
///
/// # Safety
///
/// The device has that many words there.
pub(super) unsafe fn words_at(device: &dyn Device, address: u64, words: usize) -> Result<Vec<u32>> {
    let mut read = vec![MaybeUninit::<u32>::uninit(); words];
    // SAFETY: the caller's promise.
    unsafe { device.staging().download(device, &mut read, address, Stream::Work)? };
    // SAFETY: they have been written.
    Ok(read.into_iter().map(|word| unsafe { word.assume_init() }).collect())
}

/// Writes words to a device, and waits until they are there.
///
/// # Safety
///
/// The device has room for them there.
pub(super) unsafe fn write_words(device: &dyn Device, address: u64, words: &[u32]) -> Result<()> {
    let copy = |range: std::ops::Range<usize>, piece: &mut [u32]| piece.copy_from_slice(&words[range]);
    // SAFETY: the caller's promise.
    unsafe { device.staging().upload(device, address, words.len(), &copy)? };
    device.synchronize()
}
