//! A device that is none: the kernels run on the CPU, under the emulator of `kernels/emulator`.
//!
//! It is for tests. Everything is done when the call returns, so stream order is the order of calls. Device memory is the
//! heap's, which makes bad accesses visible to sanitizers, and holds a pattern until it is written. Every launch has a
//! seed of its own, counted up from the device's: the same program sees the same schedules again.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::{Device, Event, Function, Image, LaunchShape, Properties};
use crate::{Error, Result};

unsafe extern "C" {
    fn warpath_emulator_has(kernel: *const c_char) -> c_int;
    fn warpath_emulator_launch(
        kernel: *const c_char,
        grid: *const c_uint,
        block: *const c_uint,
        shared_bytes: c_uint,
        cluster_blocks: c_uint,
        cooperative: c_int,
        seed: u64,
        arguments: *mut *mut c_void,
        message: *mut c_char,
        message_bytes: usize,
    ) -> c_int;
}

/// What memory holds before it is written.
const UNWRITTEN: u8 = 0xa5;

/// As of real devices: vector loads of anything are aligned.
const ALIGNMENT: usize = 256;

/// How many threads one multiprocessor holds at once: few, so that grids stay small.
const THREADS_OF_MULTIPROCESSOR: u32 = 1024;

/// The emulated device.
#[derive(Debug)]
pub(crate) struct Emulator {
    properties: Properties,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    next_seed: u64,
    /// The sizes of all allocations, by address.
    allocated: HashMap<usize, Layout>,
    /// The bytes of device memory among them.
    used_bytes: u64,
    /// The kernels that were asked for; a [`Function`] is a place in this list.
    kernels: Vec<CString>,
    /// Why no call succeeds any more.
    lost: Option<String>,
}

impl Emulator {
    /// A device with 4 multiprocessors, whose first launch has this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self::with_multiprocessors(seed, 4)
    }

    /// A device with so many multiprocessors, whose first launch has this seed.
    pub(crate) fn with_multiprocessors(seed: u64, multiprocessors: u32) -> Self {
        let properties = Properties {
            name: "emulator".into(),
            ordinal: 0,
            memory_bytes: 1 << 30,
            compute_capability: (9, 0),
            multiprocessors,
            shared_bytes_per_block: 227 << 10,
            threads_per_block: 1024,
            l2_bytes: 1 << 20,
            clusters: 16,
        };
        let state =
            State { next_seed: seed, allocated: HashMap::new(), used_bytes: 0, kernels: Vec::new(), lost: None };
        Emulator { properties, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The state, unless the device is lost.
    fn working(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.state();
        match &state.lost {
            Some(why) => Err(Error::Device(format!("the device is lost: {why}"))),
            None => Ok(state),
        }
    }
}

impl State {
    fn allocate(&mut self, bytes: usize) -> Result<*mut u8> {
        let out_of_memory =
            || Error::OutOfMemory { what: "the emulated device".into(), needed: bytes as u64, available: 0 };
        let layout = Layout::from_size_align(bytes.max(1), ALIGNMENT).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not 0.
        let memory = unsafe { alloc(layout) };
        if memory.is_null() {
            return Err(out_of_memory());
        }
        // SAFETY: it was just allocated with this size.
        unsafe { memory.write_bytes(UNWRITTEN, layout.size()) };
        self.allocated.insert(memory.addr(), layout);
        Ok(memory)
    }

    /// How many bytes were freed.
    ///
    /// # Safety
    ///
    /// Nobody uses the memory any more.
    unsafe fn free(&mut self, memory: *mut u8) -> u64 {
        let Some(layout) = self.allocated.remove(&memory.addr()) else { return 0 };
        // SAFETY: `allocate` got it with this layout, and the caller vouches that nobody uses it.
        unsafe { dealloc(memory, layout) };
        layout.size() as u64
    }
}

/// Device memory as the host sees it.
fn host(address: u64) -> *mut u8 {
    std::ptr::with_exposed_provenance_mut(address as usize)
}

impl Device for Emulator {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_bytes(&self) -> Result<u64> {
        Ok(self.properties.memory_bytes - self.working()?.used_bytes)
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        let mut state = self.working()?;
        let available = self.properties.memory_bytes - state.used_bytes;
        if bytes > available {
            return Err(Error::OutOfMemory { what: "the emulated device".into(), needed: bytes, available });
        }
        let memory = state.allocate(bytes as usize)?;
        state.used_bytes += bytes.max(1);
        Ok(memory.expose_provenance() as u64)
    }

    unsafe fn free(&self, address: u64) {
        let mut state = self.state();
        // SAFETY: the caller vouches for it.
        let bytes = unsafe { state.free(host(address)) };
        state.used_bytes -= bytes;
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<*mut u8> {
        let memory = self.working()?.allocate(bytes)?;
        memory.expose_provenance();
        Ok(memory)
    }

    unsafe fn free_pinned(&self, memory: *mut u8) {
        // SAFETY: the caller vouches for it.
        unsafe { self.state().free(memory) };
    }

    unsafe fn upload(&self, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        drop(self.working()?);
        // SAFETY: the caller vouches for both.
        unsafe { host(to).copy_from_nonoverlapping(from, bytes) };
        Ok(())
    }

    unsafe fn download(&self, to: *mut u8, from: u64, bytes: usize) -> Result<()> {
        drop(self.working()?);
        // SAFETY: the caller vouches for both.
        unsafe { to.copy_from_nonoverlapping(host(from), bytes) };
        Ok(())
    }

    unsafe fn fill(&self, to: u64, value: u32, words: usize) -> Result<()> {
        drop(self.working()?);
        // SAFETY: the caller vouches for the memory and that it is aligned.
        unsafe { std::slice::from_raw_parts_mut(host(to).cast::<std::mem::MaybeUninit<u32>>(), words) }
            .fill(std::mem::MaybeUninit::new(value));
        Ok(())
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        drop(self.working()?);
        // SAFETY: the caller vouches for both.
        unsafe { host(to).copy_from_nonoverlapping(host(from), bytes) };
        Ok(())
    }

    fn function(&self, image: &'static Image, name: &str) -> Result<Function> {
        let mut state = self.working()?;
        let missing = || Error::Device(format!("the image {} has no kernel named {name}", image.name));
        let kernel = CString::new(name).map_err(|_| missing())?;
        // SAFETY: the name is ended by a zero.
        if unsafe { warpath_emulator_has(kernel.as_ptr()) } == 0 {
            return Err(missing());
        }
        let known = state.kernels.iter().position(|known| *known == kernel);
        Ok(Function(known.unwrap_or_else(|| {
            state.kernels.push(kernel);
            state.kernels.len() - 1
        })))
    }

    fn blocks_at_once(&self, _: Function, threads: u32, shared_bytes: u32) -> Result<u32> {
        drop(self.working()?);
        if threads == 0 || threads > self.properties.threads_per_block {
            return Ok(0);
        }
        let by_threads = THREADS_OF_MULTIPROCESSOR / threads;
        let by_memory = self.properties.shared_bytes_per_block.checked_div(shared_bytes).unwrap_or(u32::MAX);
        // No more than two, however small the blocks are: each has an operating system thread.
        Ok(by_threads.min(by_memory).min(2) * self.properties.multiprocessors)
    }

    unsafe fn launch(&self, function: Function, shape: &LaunchShape, arguments: &mut [*mut c_void]) -> Result<()> {
        let threads = shape.block.iter().product();
        let blocks: u64 = shape.grid.iter().map(|&blocks| u64::from(blocks)).product();
        if shape.cooperative && blocks > u64::from(self.blocks_at_once(function, threads, shape.shared_bytes)?) {
            return Err(Error::Device(format!("{blocks} blocks are too many for a cooperative launch")));
        }
        let (kernel, seed) = {
            let mut state = self.working()?;
            let kernel = state.kernels.get(function.0).cloned();
            let kernel = kernel.ok_or_else(|| Error::Device("a kernel of another device".into()))?;
            state.next_seed = state.next_seed.wrapping_add(1);
            (kernel, state.next_seed.wrapping_sub(1))
        };
        let mut message = [0_u8; 4096];
        // SAFETY: all arrays have the length that the emulator is told or always expects; the caller vouches for the
        // arguments.
        let failed = unsafe {
            warpath_emulator_launch(
                kernel.as_ptr(),
                shape.grid.as_ptr(),
                shape.block.as_ptr(),
                shape.shared_bytes,
                shape.cluster,
                c_int::from(shape.cooperative),
                seed,
                arguments.as_mut_ptr(),
                message.as_mut_ptr().cast(),
                message.len(),
            )
        };
        if failed == 0 {
            return Ok(());
        }
        let end = message.iter().position(|&byte| byte == 0).unwrap_or(message.len());
        let why = format!("{} (seed {seed})", String::from_utf8_lossy(&message[..end]));
        self.state().lost = Some(why.clone());
        Err(Error::Device(why))
    }

    fn record(&self) -> Result<Event> {
        drop(self.working()?);
        Ok(Event(Box::new(Instant::now())))
    }

    fn seconds_between(&self, from: &Event, to: &Event) -> Result<f64> {
        Ok(to.get::<Instant>()?.saturating_duration_since(*from.get()?).as_secs_f64())
    }

    fn synchronize(&self) -> Result<()> {
        drop(self.working()?);
        Ok(())
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        let mut state = self.state();
        for (address, layout) in std::mem::take(&mut state.allocated) {
            // SAFETY: `allocate` got it with this layout; whoever holds memory of a device holds the device.
            unsafe { dealloc(std::ptr::with_exposed_provenance_mut(address), layout) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::arguments;
    use super::*;

    static IMAGE: Image = Image { name: "tests", bytes: &[] };

    fn address_of(device: &Emulator, words: &[u32]) -> u64 {
        let address = device.allocate(size_of_val(words) as u64).expect("there is memory");
        // SAFETY: both have that many bytes.
        unsafe { device.upload(address, words.as_ptr().cast(), size_of_val(words)) }.expect("it works");
        address
    }

    #[test]
    fn kernels_run_on_device_memory() -> Result<()> {
        let device = Emulator::new(1);
        let values: Vec<u32> = (0..200).collect();
        let address = address_of(&device, &values);
        let shape = LaunchShape { shared_bytes: 400, ..LaunchShape::line(2, 100) };
        let function = device.function(&IMAGE, "test_dynamic_shared")?;
        let start = device.record()?;
        // SAFETY: the kernel takes one pointer, to as many words as there are threads.
        unsafe { device.launch(function, &shape, arguments![address]) }?;
        device.synchronize()?;
        assert!(device.seconds_between(&start, &device.record()?)? > 0.0);
        let mut reversed = vec![0_u32; 200];
        // SAFETY: both have 800 bytes.
        unsafe { device.download(reversed.as_mut_ptr().cast(), address, 800) }?;
        assert!(reversed[..100].iter().rev().eq(&values[..100]) && reversed[100..].iter().rev().eq(&values[100..]));
        // SAFETY: the memory has 200 words.
        unsafe { device.fill(address, 7, 200) }?;
        // SAFETY: both have 800 bytes.
        unsafe { device.download(reversed.as_mut_ptr().cast(), address, 800) }?;
        assert!(reversed.iter().all(|word| *word == 7));
        // SAFETY: nobody uses it any more.
        unsafe { device.free(address) };
        assert_eq!(device.free_bytes()?, 1 << 30);
        assert!(matches!(device.allocate(1 << 40), Err(Error::OutOfMemory { .. })));
        assert!(device.function(&IMAGE, "no such kernel").is_err());
        Ok(())
    }

    #[test]
    fn a_kernel_that_fails_takes_the_device_with_it() -> Result<()> {
        let device = Emulator::with_multiprocessors(5, 1);
        let address = address_of(&device, &[0; 64]);
        let nothing = device.function(&IMAGE, "test_nothing")?;
        assert_eq!((device.blocks_at_once(nothing, 1024, 0)?, device.blocks_at_once(nothing, 64, 0)?), (1, 2));
        let shape = LaunchShape { cooperative: true, ..LaunchShape::line(3, 64) };
        // SAFETY: the kernel takes nothing.
        assert!(unsafe { device.launch(nothing, &shape, arguments![]) }.is_err(), "only two blocks fit at once");
        // SAFETY: as above.
        unsafe { device.launch(nothing, &LaunchShape::line(3, 64), arguments![]) }?;

        let bug = device.function(&IMAGE, "bug_divergent_barrier")?;
        // SAFETY: the kernel takes one pointer, to as many words as there are threads.
        let error = unsafe { device.launch(bug, &LaunchShape::line(1, 64), arguments![address]) };
        let error = error.expect_err("the bug is caught").to_string();
        assert!(error.contains("divergent code") && error.contains("(seed 6)"), "{error}");
        assert!(device.synchronize().is_err_and(|later| later.to_string().contains("lost")));
        Ok(())
    }
}
