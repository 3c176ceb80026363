//! A large array in pinned memory of the host: kernels read it over the bus, or devices take it from there and bring it back.
//!
//! *Invariants.* The memory stays where it is, and pinned, until all devices are done with it: who has parts waits for
//! the devices before the parts go.

use std::sync::Arc;

use bytemuck::Pod;

use super::Device;
use crate::cuda::kernel_header::DevicePtr;
use crate::huge_pages::on_huge_pages;
use crate::{Result, memory};

/// As long, and as aligned, as the widest type that kernels read from memory of the host.
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(32))]
struct Wide([u64; 4]);

/// An array in pinned memory of the host, such as a part of a matrix.
#[derive(Debug)]
pub(in crate::cuda) struct HostPart {
    /// The last one may be more than the array.
    words: Vec<Wide>,
    bytes: usize,
    device: Arc<dyn Device>,
}

impl HostPart {
    /// A part of this many bytes: zeros that `fill` has changed. Only then is it pinned: the system hands memory over to
    /// several threads at once more quickly than to one that pins it.
    pub(in crate::cuda) fn new(
        device: &Arc<dyn Device>,
        what: &'static str,
        bytes: u64,
        fill: impl FnOnce(&mut [u64]) -> Result<()>,
    ) -> Result<Self> {
        let length = bytes.div_ceil(size_of::<Wide>() as u64).max(1) as usize;
        let mut words: Vec<Wide> = on_huge_pages(memory::zeroed(what, length)?);
        let bytes = bytes.next_multiple_of(size_of::<u64>() as u64) as usize;
        fill(&mut bytemuck::cast_slice_mut(&mut words)[..bytes / size_of::<u64>()])?;
        // SAFETY: the memory lives as long as the part, which unpins it.
        unsafe { device.pin(words.as_mut_ptr().cast(), size_of_val(&*words))? };
        Ok(HostPart { words, bytes, device: device.clone() })
    }

    /// How many bytes it has, a multiple of eight.
    pub(in crate::cuda) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Where it is, for a copy to a device.
    pub(in crate::cuda) fn as_ptr(&self) -> *const u8 {
        self.words.as_ptr().cast()
    }

    /// Where it is, for a copy from a device.
    pub(in crate::cuda) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// Where it is, for a kernel that reads it.
    pub(in crate::cuda) fn as_device_ptr<T>(&self) -> DevicePtr<T> {
        DevicePtr::new(self.address())
    }

    /// The devices' address of it.
    pub(in crate::cuda) fn address(&self) -> u64 {
        self.words.as_ptr().expose_provenance() as u64
    }

    /// Its cells, which no device is writing to.
    pub(in crate::cuda) fn cells<T: Pod>(&self) -> &[T] {
        bytemuck::cast_slice(&bytemuck::cast_slice::<Wide, u8>(&self.words)[..self.bytes])
    }

    /// Its cells, which no device uses.
    pub(in crate::cuda) fn cells_mut<T: Pod>(&mut self) -> &mut [T] {
        let bytes = self.bytes;
        bytemuck::cast_slice_mut(&mut bytemuck::cast_slice_mut::<Wide, u8>(&mut self.words)[..bytes])
    }
}

impl Drop for HostPart {
    fn drop(&mut self) {
        // SAFETY: it was pinned by this device. All devices are done with it: who has parts waits for them before the parts go.
        unsafe { self.device.unpin(self.words.as_mut_ptr().cast()) }
    }
}
