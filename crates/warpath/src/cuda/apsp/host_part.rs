//! A part of a matrix in pinned memory of the host, from where devices take it, and where they bring it back.
//!
//! *Invariants.* The memory stays where it is, and pinned, until all devices are done with it: who has parts waits for
//! the devices before the parts go.

use std::sync::Arc;

use bytemuck::Pod;

use crate::cuda::device::Device;
use crate::huge_pages::on_huge_pages;
use crate::{Result, memory};

/// A part of a matrix in pinned memory of the host.
#[derive(Debug)]
pub(super) struct HostPart {
    words: Vec<u64>,
    device: Arc<dyn Device>,
}

impl HostPart {
    /// A part of this many bytes: zeros that `fill` has changed. Only then is it pinned: the system hands memory over to
    /// several threads at once more quickly than to one that pins it.
    pub(super) fn new(
        device: &Arc<dyn Device>,
        what: &'static str,
        bytes: u64,
        fill: impl FnOnce(&mut [u64]) -> Result<()>,
    ) -> Result<Self> {
        let mut words = on_huge_pages(memory::zeroed(what, bytes.div_ceil(size_of::<u64>() as u64) as usize)?);
        fill(&mut words)?;
        // SAFETY: the memory lives as long as the part, which unpins it.
        unsafe { device.pin(words.as_mut_ptr().cast(), size_of_val(&*words))? };
        Ok(HostPart { words, device: device.clone() })
    }

    /// How many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }

    /// Where it is, for a copy to a device.
    pub(super) fn as_ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }

    /// Where it is, for a copy from a device.
    pub(super) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// Its cells, which no device is writing to.
    pub(super) fn cells<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&self.words)
    }
}

impl Drop for HostPart {
    fn drop(&mut self) {
        // SAFETY: it was pinned by this device. All devices are done with it: a matrix waits for them before its parts go.
        unsafe { self.device.unpin(self.words.as_mut_ptr().cast()) }
    }
}
