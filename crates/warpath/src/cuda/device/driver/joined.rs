//! Devices of several processes, joined by NCCL.
//!
//! *Invariants.* NCCL is called with the context current that its communicator was made in, and with a stream of it.

use std::sync::Arc;

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
    Ok(Box::new(Joined { communicator, context: context.clone() }))
}

/// Devices of several processes in one communicator of NCCL, seen from one of them.
#[derive(Debug)]
struct Joined {
    communicator: Communicator,
    context: Arc<Context>,
}

impl Joined {
    /// Does something in the context and the stream for work, and waits until it is done.
    fn in_work(&self, device: &dyn Device, work: impl FnOnce(usize) -> Result<()>) -> Result<()> {
        let same =
            device.as_any().downcast_ref().filter(|driver: &&Driver| Arc::ptr_eq(&driver.context, &self.context));
        let driver = same.ok_or_else(|| Error::Device("another device than the one that joined".into()))?;
        let entered = self.context.enter()?;
        work(self.context.streams[Stream::Work as usize])?;
        drop(entered);
        driver.synchronize()
    }
}

impl Carrier for Joined {
    unsafe fn exchange(&self, device: &dyn Device, sent: &[Piece], received: &[Piece]) -> Result<()> {
        // SAFETY: the caller's promise; the context is current, and it is waited until the stream has come past.
        self.in_work(device, |stream| unsafe { self.communicator.exchange(stream, sent, received) })
    }

    unsafe fn least(&self, device: &dyn Device, of: u64, to: u64, count: usize, words: usize) -> Result<()> {
        // SAFETY: as above.
        self.in_work(device, |stream| unsafe { self.communicator.least(stream, of, to, count, words) })
    }
}
