//! Strips of a matrix that are in the host's memory, and come to a device and go back beside its work.
//!
//! A device has room for a few strips, its *slots*: one comes, one is worked on, one goes. Events tell each stream when it may go on, so the
//! host only queues.
//!
//! *Invariants.* The host's strips stay where they are, and pinned, until all devices are done with them: whoever has slots waits for
//! the devices before strips go.

use crate::Result;
use crate::cuda::device::host_part::HostPart;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Event, Stream};

/// Room for a strip on a device.
#[derive(Debug)]
pub(in crate::cuda) struct Slot {
    pub(in crate::cuda) cells: DeviceSlice<u8>,
    /// It has come.
    came: Event,
    /// Nothing has to be done with it any more.
    done: Event,
    /// Another may come.
    pub(in crate::cuda) free: Event,
}

/// What a strip has in the host's memory.
#[derive(Debug)]
pub(in crate::cuda) struct Home {
    /// Nothing if it stays on its device, or was not yet made.
    pub(in crate::cuda) cells: Option<HostPart>,
    /// It is back.
    back: Event,
}

impl Slot {
    /// This room on a device, which is free.
    pub(in crate::cuda) fn new(device: &dyn Device, cells: DeviceSlice<u8>) -> Result<Self> {
        Ok(Slot { cells, came: device.event()?, done: device.event()?, free: device.event()? })
    }

    /// Queues a strip's way here, once the slot is free and the strip is back. Work that is queued next waits for it. Returns how many bytes come.
    pub(in crate::cuda) fn bring(&self, device: &dyn Device, home: &Home) -> Result<u64> {
        let Some(strip) = &home.cells else { return Ok(0) };
        let bytes = strip.bytes();
        assert!(bytes as u64 <= self.cells.length(), "a slot has no room for the strip");
        device.follow(Stream::Upload, &self.free)?;
        device.follow(Stream::Upload, &home.back)?;
        // SAFETY: both have that many bytes; nobody uses either until the events pass that are recorded for them.
        unsafe { device.upload_in(Stream::Upload, self.cells.address(), strip.as_ptr(), bytes)? };
        device.record_in(Stream::Upload, &self.came)?;
        device.follow(Stream::Work, &self.came)?;
        Ok(bytes as u64)
    }

    /// Queues the strip's way back, once all is done that is queued. Returns how many bytes go.
    pub(in crate::cuda) fn send_home(&self, device: &dyn Device, home: &mut Home) -> Result<u64> {
        device.record(&self.done)?;
        device.follow(Stream::Download, &self.done)?;
        let bytes = home.bring_back(device, self.cells)?;
        device.record_in(Stream::Download, &self.free)?;
        Ok(bytes)
    }
}

impl Home {
    /// That of a strip that a device works on.
    pub(in crate::cuda) fn new(device: &dyn Device) -> Result<Self> {
        Ok(Home { cells: None, back: device.event()? })
    }

    /// Has a strip come back from where it is on a device, in the order of its stream for downloads. Returns how many bytes come.
    pub(in crate::cuda) fn bring_back(&mut self, device: &dyn Device, from: DeviceSlice<u8>) -> Result<u64> {
        let Some(strip) = &mut self.cells else { return Ok(0) };
        let bytes = strip.bytes();
        assert!(bytes as u64 <= from.length(), "the strip has more than that");
        // SAFETY: both have that many bytes; nobody uses the strip until `back` has passed.
        unsafe { device.download_in(Stream::Download, strip.as_mut_ptr(), from.address(), bytes)? };
        device.record_in(Stream::Download, &self.back)?;
        Ok(bytes as u64)
    }
}
