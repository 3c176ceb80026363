//! The pinned memory through which devices exchange that do not reach each other's memory.
//!
//! *Invariants.* Whoever has it drops it after all kernels that were told its addresses have ended.

use std::sync::Arc;

use crate::Result;
use crate::cuda::device::Device;
use crate::cuda::device::host_part::HostPart;

/// Letters for each device, and what each publishes.
#[derive(Debug)]
pub(super) struct HostMail {
    letters: HostPart,
    /// Bytes of the letters for one device.
    letters_of_one: u64,
    /// The arrays of each device, one after another.
    _published: Vec<HostPart>,
    /// Where they begin.
    begins: Vec<Vec<u64>>,
}

impl HostMail {
    /// Memory for letters, of so many bytes for each device, and for arrays of so many words of each device; all zeros.
    pub(super) fn new(devices: &[Arc<dyn Device>], letters_of_one: u64, words: &[Vec<u64>]) -> Result<Self> {
        const WHAT: &str = "what devices exchange";
        // Wide loads are aligned.
        let bytes = |words: u64| (4 * words).next_multiple_of(16);
        let part = |device, bytes| HostPart::new(device, WHAT, bytes, |_| Ok(()));
        let letters = part(&devices[0], letters_of_one * devices.len() as u64)?;
        let (mut published, mut begins) = (Vec::new(), Vec::new());
        for (device, words) in devices.iter().zip(words) {
            let part = part(device, words.iter().map(|&words| bytes(words)).sum())?;
            let begin_of = |array| part.address() + words[..array].iter().map(|&words| bytes(words)).sum::<u64>();
            begins.push((0..words.len()).map(begin_of).collect());
            published.push(part);
        }
        Ok(HostMail { letters, letters_of_one, _published: published, begins })
    }

    /// The address of the letters for a device.
    pub(super) fn letters_for(&self, place: usize) -> u64 {
        self.letters.address() + place as u64 * self.letters_of_one
    }

    /// The addresses of the arrays that a device publishes.
    pub(super) fn published_by(&self, place: usize) -> &[u64] {
        &self.begins[place]
    }
}
