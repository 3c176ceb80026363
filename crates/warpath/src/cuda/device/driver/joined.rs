//! Devices of several processes, joined by NCCL.
//!
//! *Invariants.* NCCL is called with the context current that its communicator was made in, and with a stream of it.

use std::sync::{Arc, Mutex, PoisonError};

use super::super::carrier::{Carrier, CarrierKey, Piece};
use super::super::nccl::{self, Communicator};
use super::super::{Device, Stream};
use super::Driver;
use super::context::Context;
use crate::{Error, Result};

/// A key for devices of several processes that are to join.
///
/// # Errors
///
/// [`Error::NoDevice`] without NCCL; [`Error::Device`] if it fails.
pub(crate) fn carrier_key() -> Result<CarrierKey> {
    nccl::key()
}

/// Whether devices of several processes can be joined.
///
/// # Errors
///
/// [`Error::NoDevice`], which says why not.
pub(crate) fn carrier_available() -> Result<()> {
    nccl::available()
}

/// Joins the devices of other processes that have the key.
///
/// # Errors
///
/// As of [`Device::join`].
pub(super) fn join(context: &Arc<Context>, key: &CarrierKey, place: usize, count: usize) -> Result<Box<dyn Carrier>> {
    // NCCL works there alone.
    if !context.is_primary {
        return Err(Error::Device("a device joins others in the primary context of the process".into()));
    }
    let entered = context.enter()?;
    let communicator = Communicator::join(key, place, count)?;
    drop(entered);
    Ok(Box::new(Joined { communicator: Mutex::new(Some(communicator)), context: context.clone() }))
}

/// Devices of several processes in one communicator of NCCL, seen from one of them.
#[derive(Debug)]
struct Joined {
    /// Used by one thread at a time; none after a failure.
    communicator: Mutex<Option<Communicator>>,
    context: Arc<Context>,
}

impl Joined {
    /// Does something in the context and the stream for work, and waits until it is done. If it fails, nothing that was begun goes on.
    fn in_work(&self, device: &dyn Device, work: impl FnOnce(&Communicator, usize) -> Result<()>) -> Result<()> {
        let same =
            device.as_any().downcast_ref().filter(|driver: &&Driver| Arc::ptr_eq(&driver.context, &self.context));
        let driver = same.ok_or_else(|| Error::Device("another device than the one that joined".into()))?;
        let mut communicator = self.communicator.lock().unwrap_or_else(PoisonError::into_inner);
        let entered = self.context.enter()?;
        let Some(joined) = &*communicator else {
            return Err(Error::Device("what joined the devices has failed before".into()));
        };
        let begun = work(joined, self.context.streams[Stream::Work as usize]);
        if begun.is_err() {
            *communicator = None;
        }
        drop(entered);
        begun.and(driver.synchronize())
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        // The communicator is ended in its context.
        let entered = self.context.enter();
        *self.communicator.get_mut().unwrap_or_else(PoisonError::into_inner) = None;
        drop(entered);
    }
}

impl Carrier for Joined {
    unsafe fn exchange(&self, device: &dyn Device, sent: &[Piece], received: &[Piece]) -> Result<()> {
        // SAFETY: the caller's promise; the context is current, and it is waited until the stream has come past.
        self.in_work(device, |joined, stream| unsafe { joined.exchange(stream, sent, received) })
    }

    unsafe fn least(&self, device: &dyn Device, of: u64, to: u64, count: usize, words: usize) -> Result<()> {
        // SAFETY: as above.
        self.in_work(device, |joined, stream| unsafe { joined.least(stream, of, to, count, words) })
    }
}
