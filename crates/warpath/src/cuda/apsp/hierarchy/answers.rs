//! What a batch tells the host beside its rows: which of these may lack distances, how many tiles did not fit 16 bits, and facts.
//!
//! It comes into pinned memory in stream order, behind the kernels. So nobody waits for copies, one after another, once a batch is done: that took
//! some tenths of a millisecond.
//!
//! *Invariants.* Answers are asked for once the device has come past their copies.

use std::sync::Arc;

use super::arrays::Arrays;
use super::sizes::Sizes;
use crate::Result;
use crate::cuda::apsp::outgoing::RawFacts;
use crate::cuda::device::Device;
use crate::cuda::device::memory::{Pinned, Pool};
use crate::plan::Plan;

/// Room for what a batch tells.
#[derive(Debug)]
pub(super) struct Answers {
    is_doubtful: Pinned<u32>,
    left_count: Pinned<u32>,
    facts: Pinned<RawFacts>,
}

impl Answers {
    /// Room for the largest batch.
    pub(super) fn new(device: &Arc<dyn Device>, arrays: &Arrays) -> Result<Self> {
        Ok(Answers {
            is_doubtful: Pinned::new(device, arrays.is_doubtful.length() as usize)?,
            left_count: Pinned::new(device, 1)?,
            facts: Pinned::new(device, arrays.facts.length() as usize)?,
        })
    }

    /// Adds that to a plan.
    pub(super) fn plan(plan: &mut Plan, sizes: &Sizes) {
        let facts = if sizes.facts { sizes.rows.saturating_mul(size_of::<RawFacts>() as u64) } else { 0 };
        plan.memory("what a batch tells, in pinned memory", sizes.stride().saturating_mul(4).saturating_add(facts));
    }

    /// Has the answers about so many sources come, in stream order.
    ///
    /// # Safety
    ///
    /// Nobody asks for answers until the device has come past this.
    pub(super) unsafe fn fetch(&self, pool: &Pool, arrays: &Arrays, sources: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { pool.fetch(arrays.is_doubtful.part(0, sources as u64), &self.is_doubtful)? };
        if arrays.left_count.length() > 0 {
            // SAFETY: as above.
            unsafe { pool.fetch(arrays.left_count, &self.left_count)? };
        }
        if arrays.facts.length() > 0 {
            // SAFETY: as above.
            unsafe { pool.fetch(arrays.facts.cast().part(0, sources as u64), &self.facts)? };
        }
        Ok(())
    }

    /// How many tiles did not fit 16 bits, once the device has come there.
    pub(super) fn left_count(&self) -> u32 {
        self.left_count.get(0)
    }

    /// Whether the row of the source at this place may lack distances, once the device has come there.
    pub(super) fn is_doubtful(&self, place: usize) -> bool {
        self.is_doubtful.get(place) != 0
    }

    /// The facts about so many rows, once the device has come there.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory).
    pub(super) fn facts(&self, rows: usize) -> Result<Vec<RawFacts>> {
        crate::memory::listed("facts about rows", (0..rows).map(|row| self.facts.get(row)))
    }
}
