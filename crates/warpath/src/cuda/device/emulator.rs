//! A device that is none: the kernels run on the CPU, under the emulator of `kernels/emulator`.
//!
//! It is for tests. Everything but copies is done when the call returns, so stream order is the order of calls. Copies
//! between host and device, and between devices, are done as late as they may be: who doesn't wait for them, or doesn't
//! have another stream wait for them, is found out. Device memory is the heap's, which makes bad accesses visible to sanitizers, and holds a pattern until it is written. Every launch has a
//! seed of its own, counted up from the device's: the same program sees the same schedules again.
//!
//! *Invariants.* Addresses of the device are those of memory of the host, which stays allocated until it is freed by
//! whoever asked for it; the unsafe functions pass on what their callers vouch for. The functions of the emulator in
//! C++ have the signatures declared here.

mod together;

use std::alloc::{Layout, alloc, dealloc};
use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use super::staging::Staging;
use super::{Device, Event, Function, Image, Launch, LaunchShape, Properties, STREAMS, Stream};
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

/// How many workers copies have, and how few bytes a piece: any array takes several.
const LANES: (usize, usize) = (3, 1024);

/// The emulated device.
#[derive(Debug)]
pub(crate) struct Emulator {
    properties: Properties,
    state: Mutex<State>,
    queues: [Arc<Mutex<Queue>>; STREAMS],
    staging: Staging,
    /// Whether others have access to its memory, and it to theirs.
    reaches_others: bool,
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

/// A stream.
#[derive(Debug, Default)]
struct Queue {
    /// What has not been done yet.
    steps: VecDeque<Step>,
    /// How many steps there ever were.
    ever: u64,
}

#[derive(Debug)]
enum Step {
    /// A copy between host and device, or two devices.
    Copy { to: usize, from: usize, bytes: usize },
    /// It goes on when another stream has come to a mark.
    Follow(Mark),
}

/// A point of a stream, and when it was marked.
#[derive(Debug, Clone)]
struct Mark {
    queue: Arc<Mutex<Queue>>,
    steps: u64,
    time: Instant,
}

/// What an event holds.
type Marked = Mutex<Option<Mark>>;

/// Whoever does steps, of whatever device, does them alone.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

impl Queue {
    /// Does this many steps; before each, the steps of other streams that it waits for.
    fn come_to(queue: &Mutex<Queue>, steps: u64) {
        let _alone = lock(&ONE_AT_A_TIME);
        Self::come_to_alone(queue, steps);
    }

    fn come_to_alone(queue: &Mutex<Queue>, steps: u64) {
        loop {
            let step = {
                let mut queue = lock(queue);
                if queue.ever - queue.steps.len() as u64 >= steps { None } else { queue.steps.pop_front() }
            };
            match step {
                None => return,
                Some(Step::Follow(mark)) => Self::come_to_alone(&mark.queue, mark.steps),
                // SAFETY: whoever asked for the copy vouched for both, until the copy is done.
                Some(Step::Copy { to, from, bytes }) => unsafe {
                    host(to as u64).copy_from_nonoverlapping(host(from as u64), bytes);
                },
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Emulator {
    /// A device with 4 multiprocessors, whose first launch has this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self::with_multiprocessors(seed, 4)
    }

    /// One of several devices, with this number.
    pub(crate) fn numbered(seed: u64, ordinal: u32) -> Self {
        let mut emulator = Self::new(seed);
        emulator.properties.ordinal = ordinal;
        emulator
    }

    /// The same, of devices that do not reach each other's memory.
    pub(crate) fn out_of_reach(seed: u64, ordinal: u32) -> Self {
        let mut emulator = Self::numbered(seed, ordinal);
        emulator.reaches_others = false;
        emulator
    }

    /// The same device with this much memory.
    #[cfg(test)]
    pub(crate) fn with_memory(mut self, bytes: u64) -> Self {
        self.properties.memory_bytes = bytes;
        self
    }

    /// A device with this many multiprocessors, whose first launch has this seed.
    pub(crate) fn with_multiprocessors(seed: u64, multiprocessors: u32) -> Self {
        let properties = Properties {
            name: "emulator".into(),
            ordinal: 0,
            uuid: 0,
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
        let (state, queues) = (Mutex::new(state), Default::default());
        let mut emulator = Emulator { properties, state, queues, staging: Staging::default(), reaches_others: true };
        emulator.staging = Staging::new(&emulator, LANES.0, LANES.1).expect("there is memory for a few pieces");
        emulator
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The state, unless the device is lost.
    fn working(&self) -> Result<MutexGuard<'_, State>> {
        let state = self.state();
        match &state.lost {
            Some(why) => Err(Error::Device(format!("the device is lost: {why}"))),
            None => Ok(state),
        }
    }

    /// The state, with everything done that the stream for work was given.
    fn in_order(&self) -> Result<MutexGuard<'_, State>> {
        drop(self.working()?);
        Queue::come_to(&self.queues[Stream::Work as usize], u64::MAX);
        self.working()
    }

    /// When the event was recorded, with everything done that was asked for before.
    fn come_to(&self, event: &Event) -> Result<Option<Instant>> {
        drop(self.working()?);
        let mark = lock(event.get::<Marked>()?).clone();
        Ok(mark.map(|mark| {
            Queue::come_to(&mark.queue, mark.steps);
            mark.time
        }))
    }

    fn ask_for(&self, stream: Stream, step: Step) -> Result<()> {
        drop(self.working()?);
        let mut queue = lock(&self.queues[stream as usize]);
        queue.steps.push_back(step);
        queue.ever += 1;
        Ok(())
    }
}

impl Emulator {
    /// The kernel of a launch and its seed, with everything done that comes before it.
    fn begin(&self, function: Function, shape: &LaunchShape) -> Result<(CString, u64)> {
        let threads = shape.block.iter().product();
        let blocks: u64 = shape.grid.iter().map(|&blocks| u64::from(blocks)).product();
        if shape.cooperative && blocks > u64::from(self.blocks_at_once(function, threads, shape.shared_bytes)?) {
            return Err(Error::Device(format!("{blocks} blocks are too many for a cooperative launch")));
        }
        let mut state = self.in_order()?;
        let kernel = state.kernels.get(function.0).cloned();
        let kernel = kernel.ok_or_else(|| Error::Device("a kernel of another device".into()))?;
        state.next_seed = state.next_seed.wrapping_add(1);
        Ok((kernel, state.next_seed.wrapping_sub(1)))
    }

    /// How a launch on these devices has ended: after a failure they are lost.
    fn ended(failed: c_int, seed: u64, message: &[u8], devices: &[&Emulator]) -> Result<()> {
        if failed == 0 {
            return Ok(());
        }
        let end = message.iter().position(|&byte| byte == 0).unwrap_or(message.len());
        let why = format!("{} (seed {seed})", String::from_utf8_lossy(&message[..end]));
        devices.iter().for_each(|device| device.state().lost = Some(why.clone()));
        Err(Error::Device(why))
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

    fn staging(&self) -> &Staging {
        &self.staging
    }

    unsafe fn pin(&self, memory: *mut u8, _: usize) -> Result<()> {
        memory.expose_provenance();
        self.working().map(drop)
    }

    unsafe fn unpin(&self, _: *mut u8) {}

    unsafe fn upload_in(&self, stream: Stream, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        self.ask_for(stream, Step::Copy { to: to as usize, from: from.expose_provenance(), bytes })
    }

    unsafe fn download_in(&self, stream: Stream, to: *mut u8, from: u64, bytes: usize) -> Result<()> {
        self.ask_for(stream, Step::Copy { to: to.expose_provenance(), from: from as usize, bytes })
    }

    unsafe fn send(&self, device: &dyn Device, to: u64, from: u64, bytes: usize) -> Result<()> {
        if !device.as_any().is::<Emulator>() {
            return Err(Error::Device("a device of another kind".into()));
        }
        self.ask_for(Stream::Peer, Step::Copy { to: to as usize, from: from as usize, bytes })
    }

    unsafe fn fill(&self, to: u64, value: u32, words: usize) -> Result<()> {
        drop(self.in_order()?);
        // SAFETY: the caller vouches for the memory and that it is aligned.
        unsafe { std::slice::from_raw_parts_mut(host(to).cast::<std::mem::MaybeUninit<u32>>(), words) }
            .fill(std::mem::MaybeUninit::new(value));
        Ok(())
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        drop(self.in_order()?);
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
        let (kernel, seed) = self.begin(function, shape)?;
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
        Self::ended(failed, seed, &message, &[self])
    }

    fn reaches(&self, peer: &dyn Device) -> Result<bool> {
        Ok(self.reaches_others && peer.as_any().downcast_ref().is_some_and(|peer: &Emulator| peer.reaches_others))
    }

    unsafe fn launch_together(&self, launches: &mut [Launch<'_>]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { together::launch(launches) }
    }

    fn event(&self) -> Result<Event> {
        drop(self.working()?);
        Ok(Event(Box::new(Marked::default())))
    }

    fn record_in(&self, stream: Stream, event: &Event) -> Result<()> {
        drop(self.working()?);
        let queue = self.queues[stream as usize].clone();
        let steps = lock(&queue).ever;
        *lock(event.get::<Marked>()?) = Some(Mark { queue, steps, time: Instant::now() });
        Ok(())
    }

    fn follow(&self, stream: Stream, event: &Event) -> Result<()> {
        let mark = lock(event.get::<Marked>()?).clone();
        mark.map_or(Ok(()), |mark| self.ask_for(stream, Step::Follow(mark)))
    }

    fn has_passed(&self, event: &Event) -> Result<bool> {
        self.wait(event).map(|()| true)
    }

    fn wait(&self, event: &Event) -> Result<()> {
        self.come_to(event).map(drop)
    }

    fn seconds_between(&self, from: &Event, to: &Event) -> Result<f64> {
        let (Some(from), Some(to)) = (self.come_to(from)?, self.come_to(to)?) else {
            return Err(Error::Device("an event that was never recorded".into()));
        };
        Ok(to.saturating_duration_since(from).as_secs_f64())
    }

    fn synchronize(&self) -> Result<()> {
        drop(self.working()?);
        self.queues.iter().for_each(|queue| Queue::come_to(queue, u64::MAX));
        Ok(())
    }

    fn as_any(&self) -> &dyn Any {
        self
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
    use std::sync::Arc;

    use super::super::arguments;
    use super::super::memory::Pool;
    use super::*;

    static IMAGE: Image = Image { name: "tests", parts: &[] };

    #[test]
    fn kernels_run_on_device_memory() -> Result<()> {
        let device: Arc<dyn Device> = Arc::new(Emulator::new(1));
        let mut pool = Pool::new(&device, 1024)?;
        let values: Vec<u32> = (0..200).collect();
        let words = pool.take_filled(&values)?;
        let shape = LaunchShape { shared_bytes: 400, ..LaunchShape::line(2, 100) };
        let function = device.function(&IMAGE, "test_dynamic_shared")?;
        let (before, after) = (device.event()?, device.event()?);
        assert!(device.has_passed(&before)? && device.seconds_between(&before, &after).is_err());
        device.record(&before)?;
        // SAFETY: the kernel takes one pointer, to as many words as there are threads.
        unsafe { device.launch(function, &shape, arguments![words]) }?;
        device.record(&after)?;
        device.synchronize()?;
        assert!(device.seconds_between(&before, &after)? > 0.0);
        let reversed = pool.read(words)?;
        assert!(reversed[..100].iter().rev().eq(&values[..100]) && reversed[100..].iter().rev().eq(&values[100..]));
        pool.fill(words, 7)?;
        assert_eq!(pool.read(words)?, [7; 200]);
        drop(pool);
        assert_eq!(device.free_bytes()?, 1 << 30);
        assert!(matches!(device.allocate(1 << 40), Err(Error::OutOfMemory { .. })));
        assert!(device.function(&IMAGE, "no such kernel").is_err());
        Ok(())
    }

    /// Copies are late: before an event has passed, nothing has come.
    #[test]
    fn copies_are_done_when_somebody_waits() -> Result<()> {
        let device = Emulator::new(1);
        let (address, event) = (device.allocate(4)?, device.event()?);
        let (there, back) = (device.allocate_pinned(4)?.cast::<u32>(), device.allocate_pinned(4)?.cast::<u32>());
        // SAFETY: all four are of four bytes, aligned, and in use only here.
        unsafe {
            there.write(5);
            device.upload(address, there.cast(), 4)?;
            there.write(6);
            device.download_in(Stream::Work, back.cast(), address, 4)?;
            device.record(&event)?;
            assert_eq!(back.read(), u32::from_ne_bytes([UNWRITTEN; 4]));
            device.wait(&event)?;
            assert_eq!(back.read(), 6, "the first was overwritten before it had gone");
        }
        Ok(())
    }

    /// Streams run apart, those of two devices, too, and wait only for events.
    #[test]
    fn streams_wait_where_they_are_told_to() -> Result<()> {
        let (here, there) = (Emulator::new(1), Emulator::new(2));
        let (ours, theirs) = (here.allocate(4)?, there.allocate(4)?);
        let (from, back) = (here.allocate_pinned(4)?.cast::<u32>(), there.allocate_pinned(4)?.cast::<u32>());
        let (arrived, sent) = (here.event()?, here.event()?);
        // SAFETY: all four are of four bytes, aligned, and in use only here.
        unsafe {
            from.write(5);
            here.upload_in(Stream::Upload, ours, from.cast(), 4)?;
            here.synchronize()?;
            here.send(&there, theirs, ours, 4)?;
            here.synchronize()?;
            there.download_in(Stream::Work, back.cast(), theirs, 4)?;
            there.synchronize()?;
            assert_eq!(back.read(), 5);
            from.write(6);
            here.upload_in(Stream::Upload, ours, from.cast(), 4)?;
            here.send(&there, theirs, ours, 4)?;
            here.record_in(Stream::Peer, &sent)?;
            there.follow(Stream::Download, &sent)?;
            there.download_in(Stream::Download, back.cast(), theirs, 4)?;
            there.synchronize()?;
            assert_eq!(back.read(), 5, "nothing had the copy wait for the upload");
            here.record_in(Stream::Upload, &arrived)?;
            here.follow(Stream::Peer, &arrived)?;
            here.send(&there, theirs, ours, 4)?;
            here.record_in(Stream::Peer, &sent)?;
            there.follow(Stream::Download, &sent)?;
            there.download_in(Stream::Download, back.cast(), theirs, 4)?;
            there.synchronize()?;
            assert_eq!(back.read(), 6);
        }
        Ok(())
    }

    #[test]
    fn a_kernel_that_fails_takes_the_device_with_it() -> Result<()> {
        let device: Arc<dyn Device> = Arc::new(Emulator::with_multiprocessors(5, 1));
        let mut pool = Pool::new(&device, 256)?;
        let address = pool.take_filled(&[0_u32; 64])?;
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
