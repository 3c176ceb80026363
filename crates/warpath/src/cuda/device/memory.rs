//! Memory of a device with types and owners: one pool for each prepared graph, and buffers on the host.
//!
//! A [`Pool`] is one allocation, taken when a graph is prepared, of which arrays are cut off one after another. Nothing
//! is given back before the whole pool is. So what a solver takes is known before it takes it, and no query allocates.

use std::marker::PhantomData;
use std::sync::Arc;

use bytemuck::Pod;

use super::{Argument, Device};
use crate::{Error, Result};

/// Arrays begin at multiples of this, so that any vector load is aligned and no two share a cache line.
const ALIGNMENT: u64 = 256;

/// What an array of so many values takes in a pool.
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
    /// How many values it has.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Its address on the device.
    pub(crate) fn address(&self) -> u64 {
        self.address
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

/// One allocation on a device, cut into arrays.
#[derive(Debug)]
pub(crate) struct Pool {
    device: Arc<dyn Device>,
    address: u64,
    bytes: u64,
    used: u64,
}

impl Pool {
    /// Takes that many bytes: the sum of [`room`] over all arrays to come.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`] with the numbers if the device does not have them.
    pub(crate) fn new(device: &Arc<dyn Device>, bytes: u64) -> Result<Self> {
        let address = device.allocate(bytes.max(ALIGNMENT))?;
        Ok(Pool { device: device.clone(), address, bytes: bytes.max(ALIGNMENT), used: 0 })
    }

    /// The device it is on.
    pub(crate) fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Cuts off an array. Its contents are undefined.
    ///
    /// # Errors
    ///
    /// If the pool was planned too small.
    pub(crate) fn take<T: Pod>(&mut self, length: u64) -> Result<DeviceSlice<T>> {
        let (needed, available) = (room::<T>(length), self.bytes - self.used);
        if needed > available {
            return Err(Error::OutOfMemory { what: "an array on the device".into(), needed, available });
        }
        let address = self.address + self.used;
        self.used += needed;
        Ok(DeviceSlice { address, length, holds: PhantomData })
    }

    /// Cuts off an array and fills it from the host.
    pub(crate) fn take_filled<T: Pod>(&mut self, values: &[T]) -> Result<DeviceSlice<T>> {
        let slice = self.take(values.len() as u64)?;
        self.upload(slice, values)?;
        Ok(slice)
    }

    /// Copies values to the beginning of an array; returns when `values` may be reused.
    pub(crate) fn upload<T: Pod>(&self, slice: DeviceSlice<T>, values: &[T]) -> Result<()> {
        self.check(slice, values.len());
        // SAFETY: the values are there, and the array is in this pool and has room for them.
        unsafe { self.device.upload(slice.address, values.as_ptr().cast(), size_of_val(values)) }
    }

    /// Copies the beginning of an array to the host; returns when that is done.
    pub(crate) fn download<T: Pod>(&self, slice: DeviceSlice<T>, values: &mut [T]) -> Result<()> {
        self.check(slice, values.len());
        // SAFETY: the array is in this pool and has that many values; any bytes are values of a `Pod` type.
        unsafe { self.device.download(values.as_mut_ptr().cast(), slice.address, size_of_val(values)) }
    }

    /// The values of an array.
    pub(crate) fn read<T: Pod>(&self, slice: DeviceSlice<T>) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); slice.length as usize];
        self.download(slice, &mut values)?;
        Ok(values)
    }

    /// Writes one value to every 32-bit word of an array, in stream order.
    ///
    /// # Panics
    ///
    /// If the array does not consist of whole words.
    pub(crate) fn fill<T: Pod>(&self, slice: DeviceSlice<T>, word: u32) -> Result<()> {
        self.check(slice, 0);
        let bytes = slice.length as usize * size_of::<T>();
        assert!(bytes.is_multiple_of(4) && slice.address.is_multiple_of(4), "only whole words are filled");
        // SAFETY: the array is in this pool, and has that many words.
        unsafe { self.device.fill(slice.address, word, bytes / 4) }
    }

    /// Copies an array to another of the same length, in stream order.
    ///
    /// # Panics
    ///
    /// If the lengths differ, or the arrays overlap.
    pub(crate) fn copy<T: Pod>(&self, to: DeviceSlice<T>, from: DeviceSlice<T>) -> Result<()> {
        self.check(to, from.length as usize);
        self.check(from, to.length as usize);
        let bytes = from.length * size_of::<T>() as u64;
        assert!(to.address.abs_diff(from.address) >= bytes, "arrays to copy overlap");
        // SAFETY: both arrays are in this pool, have that many bytes and do not overlap.
        unsafe { self.device.copy(to.address, from.address, bytes as usize) }
    }

    /// That the array is in this pool and has `length` values.
    fn check<T>(&self, slice: DeviceSlice<T>, length: usize) {
        let end = slice.address + slice.length * size_of::<T>() as u64;
        assert!(slice.address >= self.address && end <= self.address + self.used, "an array of another pool");
        assert!(length as u64 <= slice.length, "more values than the array has");
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Kernels may still use the memory; a device that failed uses nothing any more.
        let _ = self.device.synchronize();
        // SAFETY: the address is that of the allocation, and all work is done.
        unsafe { self.device.free(self.address) }
    }
}

/// An array in host memory that the device can reach, too: what comes back from it, or tells it to stop.
#[derive(Debug)]
pub(crate) struct Pinned<T> {
    device: Arc<dyn Device>,
    memory: *mut T,
    length: usize,
}

// SAFETY: it owns its memory, as a `Vec` does.
unsafe impl<T: Send> Send for Pinned<T> {}

impl<T: Pod> Pinned<T> {
    /// An array of zeros.
    pub(crate) fn new(device: &Arc<dyn Device>, length: usize) -> Result<Self> {
        let bytes = length.saturating_mul(size_of::<T>()).max(1);
        let memory: *mut T = device.allocate_pinned(bytes)?.cast();
        // SAFETY: that many bytes were just allocated.
        unsafe { memory.cast::<u8>().write_bytes(0, bytes) };
        Ok(Pinned { device: device.clone(), memory, length })
    }

    /// The device's address of it.
    pub(crate) fn address(&self) -> u64 {
        self.memory as u64
    }

    /// The value at an index, read afresh: a kernel may be writing it.
    ///
    /// # Panics
    ///
    /// If there is no such index.
    pub(crate) fn get(&self, index: usize) -> T {
        assert!(index < self.length, "index beyond the end of a pinned array");
        // SAFETY: the index is within the allocation, which is initialized, and any bytes are a `T`.
        unsafe { self.memory.add(index).read_volatile() }
    }

    /// Sets the value at an index; a kernel that reads it sees it soon.
    ///
    /// # Panics
    ///
    /// If there is no such index.
    pub(crate) fn set(&self, index: usize, value: T) {
        assert!(index < self.length, "index beyond the end of a pinned array");
        // SAFETY: the index is within the allocation. Other threads only read and write it like this.
        unsafe { self.memory.add(index).write_volatile(value) }
    }

    /// The values. Nothing on the device may be writing them.
    pub(crate) fn as_slice(&self) -> &[T] {
        // SAFETY: the allocation has that many values, all initialized.
        unsafe { std::slice::from_raw_parts(self.memory, self.length) }
    }

    /// The values, to be changed. Nothing on the device may be using them.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [T] {
        // SAFETY: as above, and it is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.memory, self.length) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        let _ = self.device.synchronize();
        // SAFETY: the address is that of the allocation, and all work is done.
        unsafe { self.device.free_pinned(self.memory.cast()) }
    }
}
