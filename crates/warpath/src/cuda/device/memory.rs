//! Memory of a device with types and owners: one pool for each prepared graph, and buffers on the host.
//!
//! A [`Pool`] is one allocation, taken when a graph is prepared, with the arrays of a layout ([`arena`](super::arena))
//! one after another. Nothing is given back before the whole pool is. So what a solver takes is known before it takes it,
//! and no query allocates.
//! What goes there and comes back goes through the pinned memory of [`staging`](super::staging).
//!
//! *Invariants.* Every `DeviceSlice` lies within the pool that gave it, which frees its memory only when it is dropped,
//! after the device is done. Elements are plain data, of which any bytes are a value.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Arc;
use std::thread;

use bytemuck::Pod;

use super::arena::{Arena, plan_of};
use super::slice::ALIGNMENT;
pub(crate) use super::slice::DeviceSlice;
#[cfg(test)]
use super::slice::room;
use super::{Device, Stream};
#[cfg(test)]
use crate::Error;
use crate::cuda::kernel_header::DevicePtr;
use crate::huge_pages::on_huge_pages;
use crate::plan::Plan;
use crate::{Result, memory};

/// One allocation on a device, cut into arrays.
#[derive(Debug)]
pub(crate) struct Pool {
    device: Arc<dyn Device>,
    address: u64,
    #[cfg(test)]
    bytes: u64,
    used: u64,
}

impl Pool {
    /// Takes that many bytes: the sum of [`room`] over all arrays to come.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) with the numbers if the device does not have them.
    pub(crate) fn new(device: &Arc<dyn Device>, bytes: u64) -> Result<Self> {
        let bytes = bytes.max(ALIGNMENT);
        let address = device.allocate(bytes)?;
        Ok(Pool {
            device: device.clone(),
            address,
            #[cfg(test)]
            bytes,
            used: 0,
        })
    }

    /// Takes what a layout needs; the pool, and the arrays.
    ///
    /// # Errors
    ///
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) with the numbers if the device does not have it.
    ///
    /// # Panics
    ///
    /// If the layout takes other arrays when it is run again.
    pub(crate) fn lay_out<A>(device: &Arc<dyn Device>, layout: impl Fn(&mut Arena<'_>) -> A) -> Result<(Self, A)> {
        let planned = plan_of(&layout);
        let mut pool = Pool::new(device, planned.device_bytes())?;
        let mut taken = Plan::new();
        let arrays = layout(&mut Arena::at(pool.address, &mut taken));
        assert_eq!(taken, planned, "a layout took other arrays than it had planned");
        pool.used = taken.device_bytes();
        Ok((pool, arrays))
    }

    /// The device it is on.
    pub(crate) fn device(&self) -> &Arc<dyn Device> {
        &self.device
    }

    /// How many bytes its arrays take.
    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.used
    }

    /// Cuts off an array. Its contents are undefined.
    ///
    /// # Errors
    ///
    /// If the pool is too small.
    #[cfg(test)]
    pub(crate) fn take<T: Pod>(&mut self, length: u64) -> Result<DeviceSlice<T>> {
        let (needed, available) = (room::<T>(length), self.bytes - self.used);
        if needed > available {
            return Err(Error::OutOfMemory { what: "an array on the device".into(), needed, available });
        }
        let address = self.address + self.used;
        self.used += needed;
        Ok(DeviceSlice::new(address, length))
    }

    /// Cuts off an array and fills it from the host.
    #[cfg(test)]
    pub(crate) fn take_filled<T: Pod + Sync>(&mut self, values: &[T]) -> Result<DeviceSlice<T>> {
        let slice = self.take(values.len() as u64)?;
        self.upload(slice, values)?;
        Ok(slice)
    }

    /// Copies values to the beginning of an array, in stream order; returns when `values` may be reused.
    pub(crate) fn upload<T: Pod + Sync>(&self, slice: DeviceSlice<T>, values: &[T]) -> Result<()> {
        self.upload_with(slice, values.len(), |range, piece| piece.copy_from_slice(&values[range]))
    }

    /// Fills the first `count` values of an array, in stream order, with what `write` puts into slices of that length
    /// for every range of indices. Several threads may ask it at once, in any order; it must not use the device.
    pub(crate) fn upload_with<T: Pod>(
        &self,
        slice: DeviceSlice<T>,
        count: usize,
        write: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) -> Result<()> {
        self.check(slice, count);
        // SAFETY: the array is in this pool and has room for the values.
        unsafe { self.device.staging().upload(&*self.device, slice.address(), count, &write) }
    }

    /// The values of an array, once the device has come here.
    pub(crate) fn read<T: Pod + Send>(&self, slice: DeviceSlice<T>) -> Result<Vec<T>> {
        Pool::read_all(&[(self, slice)])
    }

    /// The values of arrays one after another, once their devices have come here. Several devices copy at once.
    pub(crate) fn read_all<T: Pod + Send>(arrays: &[(&Pool, DeviceSlice<T>)]) -> Result<Vec<T>> {
        let length = arrays.iter().map(|(_, slice)| slice.length() as usize).sum();
        let mut values = on_huge_pages(memory::with_capacity("an array from the device", length)?);
        let mut room = &mut values.spare_capacity_mut()[..length];
        let read = |pool: &Pool, slice: DeviceSlice<T>, room: &mut [MaybeUninit<T>]| {
            pool.check(slice, 0);
            // SAFETY: the array is in this pool and has that many values.
            unsafe { pool.device.staging().download(&*pool.device, room, slice.address(), Stream::Work) }
        };
        let reads = arrays.iter().map(|&(pool, slice)| {
            let here = room.split_off_mut(..slice.length() as usize).unwrap_or_default();
            move || read(pool, slice, here)
        });
        at_once(reads.collect())?;
        // SAFETY: all of them have been written.
        unsafe { values.set_len(length) };
        Ok(values)
    }

    /// Has `take` turn rows of an array into those of `to`, once the device has come here. In the array rows begin `pitch` values apart; there
    /// and in `to` they have `row`. `take` gets a row at a time, or a part of one.
    ///
    /// # Panics
    ///
    /// If the array does not end with the pitch of the last row.
    pub(crate) fn read_rows<T: Pod, U: Send>(
        &self,
        slice: DeviceSlice<T>,
        [row, pitch]: [usize; 2],
        to: &mut [U],
        take: &(impl Fn(&[T], &mut [U]) + Sync),
    ) -> Result<()> {
        self.check(slice, 0);
        assert_eq!(slice.length() as usize, to.len().div_ceil(row) * pitch, "the array has another length");
        // SAFETY: the array is in this pool, and has all rows.
        unsafe { self.device.staging().download_rows(&*self.device, to, [row, pitch], slice.address(), take) }
    }

    /// Copies an array to `to`, which is as long, once the device has come here.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    pub(crate) fn read_into<T: Pod + Send>(&self, slice: DeviceSlice<T>, to: &mut [T]) -> Result<()> {
        // SAFETY: the copy comes in stream order.
        unsafe { self.read_in(slice, to, Stream::Work) }
    }

    /// Copies an array to `to`, which is as long, at once, whatever the device is at.
    ///
    /// # Panics
    ///
    /// If the lengths differ.
    ///
    /// # Safety
    ///
    /// The device has written the array, and does not write to it before this returns.
    pub(crate) unsafe fn read_beside<T: Pod + Send>(&self, slice: DeviceSlice<T>, to: &mut [T]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.read_in(slice, to, Stream::Download) }
    }

    /// # Safety
    ///
    /// Beside the stream, the array is not written to.
    unsafe fn read_in<T: Pod + Send>(&self, slice: DeviceSlice<T>, to: &mut [T], stream: Stream) -> Result<()> {
        self.check(slice, to.len());
        assert_eq!(slice.length(), to.len() as u64, "the array has another length");
        // SAFETY: any bytes are values of a `Pod` type, so it does not matter which of them have been written.
        let to = unsafe { std::slice::from_raw_parts_mut(to.as_mut_ptr().cast::<MaybeUninit<T>>(), to.len()) };
        // SAFETY: the array is in this pool and has that many values; the rest is the caller's promise.
        unsafe { self.device.staging().download(&*self.device, to, slice.address(), stream) }
    }

    /// The first few values of an array, once the device has come here.
    pub(crate) fn read_array<T: Pod + Send, const N: usize>(&self, slice: DeviceSlice<T>) -> Result<[T; N]> {
        self.check(slice, N);
        let mut values = [MaybeUninit::<T>::uninit(); N];
        // SAFETY: the array is in this pool and has that many values.
        unsafe { self.device.staging().download(&*self.device, &mut values, slice.address(), Stream::Work)? };
        // SAFETY: it has been written.
        Ok(values.map(|value| unsafe { value.assume_init() }))
    }

    /// Has an array copied to the beginning of pinned memory, in stream order. It returns before that is done.
    ///
    /// # Panics
    ///
    /// If the pinned memory has no room, or is another device's.
    ///
    /// # Safety
    ///
    /// Nobody reads or writes the pinned memory until the device has come past the copy.
    pub(crate) unsafe fn fetch<T: Pod>(&self, slice: DeviceSlice<T>, to: &Pinned<T>) -> Result<()> {
        self.check(slice, 0);
        assert!(slice.length() <= to.length as u64, "the pinned array has no room");
        assert!(Arc::ptr_eq(&self.device, &to.device), "pinned memory of another device");
        let bytes = slice.length() as usize * size_of::<T>();
        // SAFETY: the array is in this pool. The pinned memory has room, and goes once the device is done; the rest is the caller's promise.
        unsafe { self.device.download_in(Stream::Work, to.memory.cast(), slice.address(), bytes) }
    }

    /// Writes one value to every 32-bit word of an array, in stream order.
    ///
    /// # Panics
    ///
    /// If the array does not consist of whole words.
    pub(crate) fn fill<T: Pod>(&self, slice: DeviceSlice<T>, word: u32) -> Result<()> {
        self.check(slice, 0);
        let bytes = slice.length() as usize * size_of::<T>();
        assert!(bytes.is_multiple_of(4) && slice.address().is_multiple_of(4), "only whole words are filled");
        // SAFETY: the array is in this pool, and has that many words.
        unsafe { self.device.fill(slice.address(), word, bytes / 4) }
    }

    /// Copies an array to another of the same length, in stream order.
    ///
    /// # Panics
    ///
    /// If the lengths differ, or the arrays overlap.
    pub(crate) fn copy<T: Pod>(&self, to: DeviceSlice<T>, from: DeviceSlice<T>) -> Result<()> {
        self.check(to, from.length() as usize);
        self.check(from, to.length() as usize);
        let bytes = from.length() * size_of::<T>() as u64;
        assert!(to.address().abs_diff(from.address()) >= bytes, "arrays to copy overlap");
        // SAFETY: both arrays are in this pool, have that many bytes and do not overlap.
        unsafe { self.device.copy(to.address(), from.address(), bytes as usize) }
    }

    /// Copies an array of another pool of the same device to one of this pool, of the same length, in stream order.
    ///
    /// # Panics
    ///
    /// If the lengths differ, or the other pool is on another device.
    pub(crate) fn copy_from<T: Pod>(&self, to: DeviceSlice<T>, other: &Pool, from: DeviceSlice<T>) -> Result<()> {
        self.check(to, from.length() as usize);
        other.check(from, to.length() as usize);
        assert!(Arc::ptr_eq(&self.device, &other.device), "an array of another device");
        // SAFETY: both arrays have that many bytes, in pools of their own on this device.
        unsafe { self.device.copy(to.address(), from.address(), from.length() as usize * size_of::<T>()) }
    }

    /// That the array is in this pool and has `length` values.
    fn check<T>(&self, slice: DeviceSlice<T>, length: usize) {
        let end = slice.address() + slice.length() * size_of::<T>() as u64;
        assert!(slice.address() >= self.address && end <= self.address + self.used, "an array of another pool");
        assert!(length as u64 <= slice.length(), "more values than the array has");
    }
}

/// Does work for several devices at once, each on a thread; one of the errors, if there was any.
pub(crate) fn at_once(works: Vec<impl FnOnce() -> Result<()> + Send>) -> Result<()> {
    let mut works = works.into_iter();
    let Some(first) = works.next() else { return Ok(()) };
    thread::scope(|scope| {
        let spawn = |work| thread::Builder::new().spawn_scoped(scope, work);
        let others = works.map(|work| spawn(work).map_err(|error| memory::no_threads(1, error)));
        let others = others.collect::<Result<Vec<_>>>()?;
        let done = first();
        let others =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        others.fold(done, Result::and)
    })
}

impl Drop for Pool {
    fn drop(&mut self) {
        // Kernels may still use the memory; a device that failed uses nothing any more.
        let _ = self.device.synchronize();
        // SAFETY: the address is the allocation's, and all work is done.
        unsafe { self.device.free(self.address) }
    }
}

/// An array in host memory that the device can reach, too: what tells it to stop, for one.
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

    /// The same, for a kernel that reads it.
    pub(crate) fn as_ptr(&self) -> DevicePtr<T> {
        DevicePtr::new(self.address())
    }

    /// The value at an index, which no device is writing to.
    ///
    /// # Panics
    ///
    /// If there is no such index.
    pub(crate) fn get(&self, index: usize) -> T {
        assert!(index < self.length, "index beyond the end of a pinned array");
        // SAFETY: the index is within the allocation, which was filled when it was made.
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
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        let _ = self.device.synchronize();
        // SAFETY: the address is the allocation's, and all work is done.
        unsafe { self.device.free_pinned(self.memory.cast()) }
    }
}
