//! Memory and disk space, planned before they are taken.

use std::path::Path;

use crate::{Bytes, Error, Result};

/// The memory and disk space that a piece of work will take, item by item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    memory: Vec<PlanItem>,
    device: Vec<PlanItem>,
    devices: usize,
    disk: Vec<PlanItem>,
}

/// One thing that takes space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanItem {
    /// What it is.
    pub what: String,
    /// How many bytes it takes.
    pub bytes: u64,
}

impl Plan {
    /// A plan that takes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds memory for something. Sums saturate: a plan that exceeds 64 bits is refused like any that is too large.
    pub fn memory(&mut self, what: impl Into<String>, bytes: u64) {
        self.memory.push(PlanItem { what: what.into(), bytes });
    }

    /// Adds memory of the device for something.
    pub fn device(&mut self, what: impl Into<String>, bytes: u64) {
        self.device.push(PlanItem { what: what.into(), bytes });
    }

    /// Says that each of so many devices needs what is planned for a device.
    pub fn on_each_of(&mut self, devices: usize) {
        self.devices = devices;
    }

    /// How many devices need what is planned for a device: at least 1.
    pub fn devices(&self) -> usize {
        self.devices.max(1)
    }

    /// Adds disk space for something.
    pub fn disk(&mut self, what: impl Into<String>, bytes: u64) {
        self.disk.push(PlanItem { what: what.into(), bytes });
    }

    /// The items in memory.
    pub fn memory_items(&self) -> &[PlanItem] {
        &self.memory
    }

    /// The items in the memory of the device, or of each device; none where the work runs on the CPU.
    pub fn device_items(&self) -> &[PlanItem] {
        &self.device
    }

    /// The items on disk.
    pub fn disk_items(&self) -> &[PlanItem] {
        &self.disk
    }

    /// Bytes of memory in all.
    pub fn memory_bytes(&self) -> u64 {
        total(&self.memory)
    }

    /// Bytes of the memory of the device, or of each device, in all.
    pub fn device_bytes(&self) -> u64 {
        total(&self.device)
    }

    /// Bytes of disk space in all.
    pub fn disk_bytes(&self) -> u64 {
        total(&self.disk)
    }

    /// An error if more memory is planned than is available.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], naming the largest item.
    pub fn check(&self, available: u64) -> Result<()> {
        check("the work", &self.memory, available)
    }

    /// An error if more memory of the device is planned than is available there.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`], naming the largest item.
    pub fn check_device(&self, available: u64) -> Result<()> {
        check("the work on the device", &self.device, available)
    }

    /// An error if more disk space is planned than is free where `output` will be.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfDisk`], or [`Error::Io`] if the free space of the folder is unknown.
    pub fn check_disk(&self, output: &Path) -> Result<()> {
        let needed = self.disk_bytes();
        let available = available_disk(output)?;
        if needed <= available {
            return Ok(());
        }
        Err(Error::OutOfDisk { what: format!("`{}`", output.display()), needed, available })
    }
}

fn check(work: &str, items: &[PlanItem], available: u64) -> Result<()> {
    let needed = total(items);
    if needed <= available {
        return Ok(());
    }
    let largest = items.iter().max_by_key(|item| item.bytes);
    let what = largest.map_or(String::new(), |item| format!("{work} ({}, {}, and more)", item.what, Bytes(item.bytes)));
    Err(Error::OutOfMemory { what, needed, available })
}

fn total(items: &[PlanItem]) -> u64 {
    items.iter().fold(0, |sum, item| sum.saturating_add(item.bytes))
}

/// Bytes of disk space that are free where `output` is or will be.
///
/// # Errors
///
/// If its folder does not tell, or does not exist.
pub fn available_disk(output: &Path) -> Result<u64> {
    let folder = output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs4::available_space(folder).map_err(|error| Error::io(folder, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_refused_with_the_numbers() {
        let mut plan = Plan::new();
        plan.memory("matrix", 100);
        plan.memory("rest", u64::MAX);
        assert!(matches!(plan.check(99), Err(Error::OutOfMemory { needed: u64::MAX, available: 99, .. })));
        assert!(plan.check(u64::MAX).is_ok() && plan.check_device(0).is_ok());
        plan.device("graph", 5);
        assert!(matches!(plan.check_device(4), Err(Error::OutOfMemory { needed: 5, available: 4, .. })));
        assert!(plan.check_device(5).is_ok());
    }
}
