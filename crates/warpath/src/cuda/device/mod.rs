//! What every device can do, whether the driver runs it or the emulator: memory, copies, launches, events.
//!
//! Host loops are written against [`Device`] and nothing else, so the same loop runs on a GPU and, in tests, on the CPU.
//! Everything that is "in stream order" happens one after another, in the stream for work, and the host waits only where
//! it says so. Copies may go on beside that in streams of their own ([`Stream`]), which wait for each other, and for those
//! of other devices, by events. Addresses are plain numbers here; [`memory`] gives them types and owners.
//!
//! Everything can fail, and failures are values. Some failures of a kernel (a bad address, a trap) take the whole
//! context with them: then the device is lost, every later call says so, and it has to be opened again.
//!
//! *Invariants.* Devices take addresses on trust, as `Device` says; callers pass only what came from the same device
//! and is as long as they say. An `Argument` is laid out as the kernel's parameter:
//! [`kernel_header`](super::kernel_header) defines those that are structs, for both.

use std::any::Any;
use std::ffi::c_void;
use std::fmt::Debug;

use crate::{Error, Result};

pub(crate) mod arena;
pub(crate) mod carrier;
#[cfg(feature = "cuda")]
pub(crate) mod driver;
#[cfg(all(test, emulator))]
pub(crate) mod emulator;
#[cfg(all(test, emulator))]
pub(crate) mod failing;
pub(crate) mod host_part;
pub(crate) mod images;
#[cfg(feature = "cuda")]
mod library;
#[cfg(all(test, emulator))]
mod little_memory;
pub(crate) mod memory;
#[cfg(feature = "cuda")]
mod nccl;
#[cfg(all(test, any(emulator, feature = "cuda")))]
#[cfg_attr(not(feature = "cuda"), allow(dead_code))]
mod requests;
mod slice;
pub(crate) mod staging;
#[cfg(test)]
pub(crate) mod testing;

use carrier::{Carrier, CarrierKey};
use staging::Staging;

/// The properties of a device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Properties {
    /// Its name, as its maker has it.
    pub(crate) name: String,
    /// Its number in this machine, from 0.
    pub(crate) ordinal: u32,
    /// A number that no other device has, on any machine.
    pub(crate) uuid: u128,
    /// How much memory it has, in bytes; some of it may be in use.
    pub(crate) memory_bytes: u64,
    /// Major and minor number of what it can do.
    pub(crate) compute_capability: (u32, u32),
    /// How many multiprocessors it has.
    pub(crate) multiprocessors: u32,
    /// The most shared memory that one block can have, static and dynamic together, in bytes.
    pub(crate) shared_bytes_per_block: u32,
    /// The most threads that one block can have.
    pub(crate) threads_per_block: u32,
    /// The size of its second-level cache, in bytes.
    pub(crate) l2_bytes: u64,
    /// The most blocks that one cluster can have; 0 if there are no clusters.
    pub(crate) clusters: u32,
}

/// Compiled kernels, as they are shipped.
#[derive(Debug)]
pub(crate) struct Image {
    /// Its name, such as `bfs_queue`.
    pub(crate) name: &'static str,
    /// Machine code and PTX, in parts for kinds of device, packed by xz; empty where there is none.
    pub(crate) parts: &'static [&'static [u8]],
}

/// A kernel on one device, ready to launch; valid as long as the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Function(pub(crate) usize);

/// The streams of a device. Each goes through what it was given in order; they wait for each other only by
/// [`Device::follow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Whatever does not name a stream.
    Work,
    /// Copies to the device, beside the work.
    Upload,
    /// Copies to the host, beside the work.
    Download,
    /// Copies to peers: other devices.
    Peer,
}

/// How many streams a device has.
pub(crate) const STREAMS: usize = 4;

/// A mark for a point in a device's stream. What it holds is the device's affair.
#[derive(Debug)]
pub(crate) struct Event(pub(crate) Box<dyn AnyEvent>);

/// What an [`Event`] may hold.
pub(crate) trait AnyEvent: Any + Send + Sync + Debug {}
impl<T: Any + Send + Sync + Debug> AnyEvent for T {}

impl Event {
    /// What it holds, if it is of this type: an event of another kind of device is not.
    pub(crate) fn get<T: 'static>(&self) -> Result<&T> {
        let inner: &dyn Any = &*self.0;
        inner.downcast_ref().ok_or_else(|| Error::Device("an event of another device".into()))
    }
}

/// How many threads run a kernel, in which groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaunchShape {
    /// Blocks in x, y and z.
    pub(crate) grid: [u32; 3],
    /// Threads of a block in x, y and z.
    pub(crate) block: [u32; 3],
    /// Bytes of dynamic shared memory for each block.
    pub(crate) shared_bytes: u32,
    /// Blocks in a cluster, along x; 1 for none.
    pub(crate) cluster: u32,
    /// Whether all blocks run at once, so that they can wait for each other.
    pub(crate) cooperative: bool,
}

impl LaunchShape {
    /// This many blocks of this many threads, in a line.
    pub(crate) fn line(blocks: u32, threads: u32) -> Self {
        LaunchShape { grid: [blocks, 1, 1], block: [threads, 1, 1], shared_bytes: 0, cluster: 1, cooperative: false }
    }

    /// This many blocks of this many threads, if a launch can have so many.
    pub(crate) fn line_if_possible(blocks: u64, threads: u32) -> Option<Self> {
        (blocks <= i32::MAX as u64).then(|| Self::line(blocks as u32, threads))
    }

    /// Enough blocks of this many threads for one thread an item, but at least one block.
    pub(crate) fn covering(items: u64, threads: u32) -> Self {
        let blocks = items.div_ceil(u64::from(threads)).clamp(1, i32::MAX as u64);
        Self::line(blocks as u32, threads)
    }
}

/// A kernel for one of several devices that work together.
#[derive(Debug)]
pub(crate) struct Launch<'a> {
    pub(crate) device: &'a dyn Device,
    pub(crate) function: Function,
    pub(crate) shape: LaunchShape,
    pub(crate) arguments: &'a mut [*mut c_void],
}

/// Anything that runs kernels.
///
/// The unsafe functions take addresses on trust. An address must come from this device and be allocated for as many
/// bytes as are named, until the work that uses it is done, which [`Device::synchronize`] tells.
pub(crate) trait Device: Send + Sync + Debug {
    /// Its properties.
    fn properties(&self) -> &Properties;

    /// How many bytes of its memory are free now.
    fn free_bytes(&self) -> Result<u64>;

    /// Takes memory; its address, a multiple of 256. [`Error::OutOfMemory`] if there is not enough.
    fn allocate(&self, bytes: u64) -> Result<u64>;

    /// Gives memory back.
    ///
    /// # Safety
    ///
    /// The address is from [`Device::allocate`], and neither host nor device uses it any more.
    unsafe fn free(&self, address: u64);

    /// Takes host memory that the device can reach, under the same address. It is freed with the device
    /// unless it is given back.
    fn allocate_pinned(&self, bytes: usize) -> Result<*mut u8>;

    /// Gives host memory back.
    ///
    /// # Safety
    ///
    /// The address is from [`Device::allocate_pinned`], and neither host nor device uses it any more.
    unsafe fn free_pinned(&self, memory: *mut u8);

    /// What large arrays go through, and those in ordinary memory.
    fn staging(&self) -> &Staging;

    /// Makes ordinary host memory pinned, like memory from [`Device::allocate_pinned`], for this device and all others.
    ///
    /// # Safety
    ///
    /// The memory is there until it is unpinned.
    unsafe fn pin(&self, memory: *mut u8, bytes: usize) -> Result<()>;

    /// Makes it ordinary again.
    ///
    /// # Safety
    ///
    /// The address was pinned by this device, and no device uses the memory any more.
    unsafe fn unpin(&self, memory: *mut u8);

    /// Copies to the device, in stream order. It returns before that is done.
    ///
    /// # Safety
    ///
    /// `from` is pinned memory, which nobody writes to until it is done, and `to` is device memory, for that many bytes.
    unsafe fn upload(&self, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.upload_in(Stream::Work, to, from, bytes) }
    }

    /// The same, in the order of this stream.
    ///
    /// # Safety
    ///
    /// As of [`Device::upload`].
    unsafe fn upload_in(&self, stream: Stream, to: u64, from: *const u8, bytes: usize) -> Result<()>;

    /// Copies to the host, in the order of a stream. It returns before that is done.
    ///
    /// # Safety
    ///
    /// `to` is pinned memory, which nobody uses until it is done, and `from` is device memory, for that many bytes.
    unsafe fn download_in(&self, stream: Stream, to: *mut u8, from: u64, bytes: usize) -> Result<()>;

    /// Copies from the memory of this device to another device of the same kind, in [`Stream::Peer`] of this one. The
    /// first copy between two devices takes longer; it may be one of no bytes.
    ///
    /// # Safety
    ///
    /// `to` is memory of `device` and `from` of this one, for that many bytes.
    unsafe fn send(&self, device: &dyn Device, to: u64, from: u64, bytes: usize) -> Result<()>;

    /// Writes one value to this many 32-bit words, in stream order.
    ///
    /// # Safety
    ///
    /// `to` is device memory for that many words, and a multiple of 4.
    unsafe fn fill(&self, to: u64, value: u32, words: usize) -> Result<()>;

    /// Copies from device memory to device memory, in stream order.
    ///
    /// # Safety
    ///
    /// Both are device memory for that many bytes, and do not overlap.
    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()>;

    /// A kernel of an image by name. The image is loaded once. The kernel may use as much dynamic shared memory and as
    /// large clusters as the device has.
    fn function(&self, image: &'static Image, name: &str) -> Result<Function>;

    /// How many blocks of this kernel the whole device holds at once, which is as many as a cooperative launch can have.
    fn blocks_at_once(&self, function: Function, threads: u32, shared_bytes: u32) -> Result<u32>;

    /// Starts a kernel, in stream order. `arguments!` makes the list of arguments.
    ///
    /// # Safety
    ///
    /// The arguments are those of the kernel, in number, order and type, and the kernel keeps to memory that it may use.
    unsafe fn launch(&self, function: Function, shape: &LaunchShape, arguments: &mut [*mut c_void]) -> Result<()>;

    /// Whether kernels of this device can access the memory of that one, which is of the same kind, from now on.
    fn reaches(&self, peer: &dyn Device) -> Result<bool>;

    /// Starts a kernel on each of several devices of the same kind, in the order of its stream for work. The kernels run at once,
    /// and may wait for each other. After an error some of them may have started.
    ///
    /// # Safety
    ///
    /// As of [`Device::launch`], of all of them.
    unsafe fn launch_together(&self, launches: &mut [Launch<'_>]) -> Result<()> {
        launches.iter_mut().try_for_each(|launch| {
            // SAFETY: the caller's promise.
            unsafe { launch.device.launch(launch.function, &launch.shape, launch.arguments) }
        })
    }

    /// Makes an event. It has passed until it is recorded.
    fn event(&self) -> Result<Event>;

    /// Has an event mark this point of the stream for work, and no other any more.
    fn record(&self, event: &Event) -> Result<()> {
        self.record_in(Stream::Work, event)
    }

    /// Has an event of this device mark this point of a stream, and no other any more.
    fn record_in(&self, stream: Stream, event: &Event) -> Result<()>;

    /// Has a stream go on only when everything is done that is before an event, of this device or another of the same
    /// kind, as it is recorded now.
    fn follow(&self, stream: Stream, event: &Event) -> Result<()>;

    /// Whether everything before an event is done.
    fn has_passed(&self, event: &Event) -> Result<bool>;

    /// Waits until everything before an event is done.
    fn wait(&self, event: &Event) -> Result<()>;

    /// Waits until the device has come to `to`, and says how long it took from `from`.
    fn seconds_between(&self, from: &Event, to: &Event) -> Result<f64>;

    /// Waits until all work is done, in all streams; the error, if any of it failed.
    fn synchronize(&self) -> Result<()>;

    /// The same, and until everything is done that other parts of the process have given to the device in the same context.
    fn synchronize_with_others(&self) -> Result<()> {
        self.synchronize()
    }

    /// Joins the devices of other processes that have the key, at this place of so many; waits for all of them.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if nothing carries between devices of this kind; [`Error::Device`] if it fails.
    fn join(&self, _key: &CarrierKey, _place: usize, _count: usize) -> Result<Box<dyn Carrier>> {
        Err(Error::NoDevice(format!("nothing carries from {} to other processes", self.properties().name)))
    }

    /// Does work with the device's context current on this thread: libraries that take addresses of the device expect that.
    ///
    /// # Errors
    ///
    /// Those of the work, and [`Error::Device`] if the device can't be used any more.
    fn within(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        work()
    }

    /// What it really is.
    fn as_any(&self) -> &dyn Any;
}

/// A value that a kernel can take as an argument.
///
/// # Safety
///
/// What `pointer` points to has the size of the kernel's parameter: and belongs to `self`.
pub(crate) unsafe trait Argument {
    /// Where the value is.
    fn pointer(&self) -> *mut c_void {
        std::ptr::from_ref(self).cast::<c_void>().cast_mut()
    }
}

// SAFETY: they are their own values.
unsafe impl Argument for u32 {}
// SAFETY: as above.
unsafe impl Argument for u64 {}
// SAFETY: as above.
unsafe impl Argument for i32 {}
// SAFETY: as above.
unsafe impl Argument for f32 {}

/// The arguments of a kernel as [`Device::launch`] takes them: variables that are numbers, addresses or device slices.
/// The list points to them, so they have to live until the launch.
macro_rules! arguments {
    ($($value:expr),* $(,)?) => {
        &mut [$($crate::cuda::device::Argument::pointer(&$value)),*]
    };
}
pub(crate) use arguments;
