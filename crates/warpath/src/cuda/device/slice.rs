//! An array in the memory of a device: where it is, how long, and of what type.
//!
//! *Invariants.* A kernel that takes such an array takes its address, the field that the argument points to.

use std::marker::PhantomData;

use super::Argument;
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr};

/// Arrays begin at multiples of this, so that any vector load is aligned and no two share a cache line.
pub(super) const ALIGNMENT: u64 = 256;

/// The bytes that an array of this many values takes in a pool.
pub(crate) fn room<T>(length: u64) -> u64 {
    length.saturating_mul(size_of::<T>() as u64).checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX)
}

/// An array in the memory of a device: a typed address. The pool it was cut from owns the memory.
#[derive(Debug)]
pub(crate) struct DeviceSlice<T> {
    address: u64,
    length: u64,
    holds: PhantomData<T>,
}

impl<T> Clone for DeviceSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for DeviceSlice<T> {}

// SAFETY: a kernel takes the address, which is the field pointed to.
unsafe impl<T> Argument for DeviceSlice<T> {
    fn pointer(&self) -> *mut std::ffi::c_void {
        self.address.pointer()
    }
}

impl<T> DeviceSlice<T> {
    /// This many values from an address on.
    pub(in crate::cuda) fn new(address: u64, length: u64) -> Self {
        DeviceSlice { address, length, holds: PhantomData }
    }

    /// How many values it has.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Its address on the device.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Its address, for a kernel that reads it.
    pub(crate) fn as_ptr(&self) -> DevicePtr<T> {
        DevicePtr::new(self.address)
    }

    /// Its address, for a kernel that may write to it.
    pub(crate) fn as_mut_ptr(&self) -> DeviceMutPtr<T> {
        DeviceMutPtr::new(self.address)
    }

    /// The same memory as 32-bit words.
    ///
    /// # Panics
    ///
    /// If it does not consist of whole words.
    pub(crate) fn words(&self) -> DeviceSlice<u32> {
        assert!(size_of::<T>().is_multiple_of(4), "only whole words are words");
        DeviceSlice { address: self.address, length: self.length * (size_of::<T>() as u64 / 4), holds: PhantomData }
    }

    /// The same memory as values of another type, as many as there is room for.
    ///
    /// # Panics
    ///
    /// If its address is not aligned for such a value.
    pub(crate) fn cast<U>(&self) -> DeviceSlice<U> {
        assert!(self.address.is_multiple_of(align_of::<U>() as u64), "a device array with another alignment");
        let length = self.length * size_of::<T>() as u64 / size_of::<U>() as u64;
        DeviceSlice { address: self.address, length, holds: PhantomData }
    }

    /// The values from `start`, `length` of them.
    ///
    /// # Panics
    ///
    /// If there are not that many.
    pub(crate) fn part(&self, start: u64, length: u64) -> Self {
        assert!(start <= self.length && length <= self.length - start, "a part beyond the end of a device array");
        DeviceSlice { address: self.address + start * size_of::<T>() as u64, length, holds: PhantomData }
    }
}
