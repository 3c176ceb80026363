//! GPUs through the CUDA driver, which is looked for when the program runs: nothing of CUDA is needed to build it.
//!
//! Its functions are in [`library`]: none of them panics, whatever the driver is like. Each [`Driver`] has a
//! context of its own, not the process's primary one, so that a context that a kernel has ruined can be thrown away and
//! a fresh one made beside whatever else the process does with CUDA. Every call makes the context current, and the
//! caller's own one again when it returns: it is a matter of nanoseconds, the device may then be used from any thread, and
//! a program that uses CUDA itself notices nothing. Only who exchanges arrays with other libraries of the process, or may have NCCL carry them, needs
//! the primary context, in which these have them ([`Driver::shared`]).
//!
//! *Invariants.* Every call gets handles that the driver has given for this context, which lives as long as they do,
//! and pointers to live values of the type that the driver writes. Callers of the unsafe functions vouch for addresses
//! and lengths (see `Device`).

mod context;
mod joined;
mod probe;
mod status;

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CString, c_int, c_void};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::{self, CUfunction_attribute as FunctionAttribute, CUresult};

use super::carrier::{Carrier, CarrierKey};
use super::images::{self, FatBinary, Kind};
use super::library;
use super::staging::Staging;
use super::{Device, Event, Function, Image, LaunchShape, Properties, STREAMS, Stream};
use crate::{Error, Result};

use context::{Context, Entered};
pub(crate) use joined::{carrier_available, carrier_key};
use probe::properties;
pub(crate) use probe::{absent, device_of, devices, release, show_version, version, visible_devices};
use status::checked;

/// How many workers copies have, and how many bytes a piece. A worker waits for its piece to be copied, 20 microseconds, before it fills it again, and what
/// it fills it with may take some work; so there are as many as keep the bus busy all the same.
const LANES: (usize, usize) = (16, 1 << 20);

/// A GPU, opened.
#[derive(Debug)]
pub(crate) struct Driver {
    properties: Properties,
    context: Arc<Context>,
    loaded: Mutex<Loaded>,
    staging: Staging,
    /// The contexts that copies to them are ready for, and whether kernels reach their memory.
    peers: Mutex<Vec<(usize, bool)>>,
}

/// The images and kernels that have been asked for.
#[derive(Debug, Default)]
struct Loaded {
    /// Modules, by the name of their image, with the code that they were loaded from: the driver may put off reading it.
    modules: HashMap<&'static str, (usize, FatBinary)>,
    functions: HashMap<(&'static str, String), Function>,
}

/// An event of a context.
#[derive(Debug)]
struct DriverEvent {
    handle: usize,
    context: Arc<Context>,
}

impl Driver {
    /// Opens a device, in a fresh context.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] with the reason if there is no such device, or no image for it; [`Error::Device`] if it
    /// can't be opened.
    pub(crate) fn open(ordinal: u32) -> Result<Self> {
        Self::open_in(ordinal, false)
    }

    /// Opens a device, in a context of its own or in the process's primary one.
    fn open_in(ordinal: u32, is_primary: bool) -> Result<Self> {
        let count = devices()?.len();
        if ordinal as usize >= count {
            return Err(crate::cuda::no_such_device(ordinal, count));
        }
        let (device, properties) = properties(ordinal as c_int)?;
        if images::kind_for(properties.compute_capability) == Kind::None {
            let (major, minor) = properties.compute_capability;
            return Err(Error::NoDevice(format!(
                "cuda:{ordinal} ({}) has compute capability {major}.{minor}, and 7.5 or more is needed",
                properties.name
            )));
        }
        let mut handle = std::ptr::null_mut();
        let made = if is_primary {
            // SAFETY: the device exists, and the pointer is to a live handle.
            unsafe { library::cuDevicePrimaryCtxRetain(&raw mut handle, device) }
        } else {
            let flags = sys::CUctx_flags::CU_CTX_SCHED_AUTO as u32 | sys::CUctx_flags::CU_CTX_MAP_HOST as u32;
            // SAFETY: no parameters are given, which is allowed, and the device exists. The context becomes current.
            unsafe { library::cuCtxCreate_v4(&raw mut handle, std::ptr::null_mut(), flags, device) }
        };
        checked(&format!("opening cuda:{ordinal}"), made)?;
        let (handle, lost) = (handle as usize, OnceLock::new());
        let mut context = Context { ordinal, handle, is_primary, streams: [0; STREAMS], lost };
        let entered = if is_primary { context.enter()? } else { Entered { stays_here: PhantomData } };
        for place in 0..STREAMS {
            let mut stream = std::ptr::null_mut();
            let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
            // SAFETY: the context is current, and the pointer is to a live handle.
            context.check("making a stream", unsafe { library::cuStreamCreate(&raw mut stream, flags) })?;
            context.streams[place] = stream as usize;
        }
        drop(entered);
        let (context, loaded, peers) = (Arc::new(context), Mutex::default(), Mutex::default());
        let mut driver = Driver { properties, context, loaded, staging: Staging::default(), peers };
        driver.staging = Staging::new(&driver, LANES.0, LANES.1)?;
        Ok(driver)
    }

    /// The device of this number in the process's primary context, which is opened once and stays open as long as the process
    /// runs, unless a kernel has ruined the context: then it is tried afresh. Whoever opens it decides how many threads copy at once.
    ///
    /// # Errors
    ///
    /// As of [`Driver::open`].
    pub(crate) fn shared(ordinal: u32, threads: usize) -> Result<Arc<Self>> {
        static OPEN: Mutex<Vec<Arc<Driver>>> = Mutex::new(Vec::new());
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|driver| driver.context.lost.get().is_none());
        if let Some(driver) = open.iter().find(|driver| driver.context.ordinal == ordinal) {
            return Ok(driver.clone());
        }
        let driver = Arc::new(Self::open_in(ordinal, true)?.with_threads(threads));
        open.push(driver.clone());
        Ok(driver)
    }

    /// The same device, copying with up to this many threads at once.
    pub(crate) fn with_threads(mut self, threads: usize) -> Self {
        self.staging.limit_threads(threads);
        self
    }

    /// Starts a kernel, in the order of a stream.
    ///
    /// # Safety
    ///
    /// As of [`Device::launch`].
    unsafe fn launch_in(
        &self,
        stream: Stream,
        function: Function,
        shape: &LaunchShape,
        arguments: &mut [*mut c_void],
    ) -> Result<()> {
        let _entered = self.context.enter()?;
        let cooperative = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { cooperative: 1 },
        };
        // Both, or only one of the two.
        let mut attributes = [cooperative; 2];
        let mut count = u32::from(shape.cooperative);
        if shape.cluster > 1 {
            let attribute = &mut attributes[count as usize];
            attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
            // SAFETY: all-zero bytes are a value of this union of numbers.
            attribute.value = unsafe { std::mem::zeroed() };
            attribute.value.clusterDim.x = shape.cluster;
            attribute.value.clusterDim.y = 1;
            attribute.value.clusterDim.z = 1;
            count += 1;
        }
        let config = sys::CUlaunchConfig {
            gridDimX: shape.grid[0],
            gridDimY: shape.grid[1],
            gridDimZ: shape.grid[2],
            blockDimX: shape.block[0],
            blockDimY: shape.block[1],
            blockDimZ: shape.block[2],
            sharedMemBytes: shape.shared_bytes,
            hStream: self.context.stream(stream),
            attrs: attributes.as_mut_ptr(),
            numAttrs: count,
        };
        // SAFETY: the function and the stream are of this context; the arguments are the caller's promise. The driver
        // copies all of them before it returns.
        let result = unsafe {
            library::cuLaunchKernelEx(
                &raw const config,
                function.0 as sys::CUfunction,
                arguments.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        };
        self.context.check("launching a kernel", result)
    }

    /// Has copies to another device, from now on, take the shortest way; whether kernels reach its memory. The context is current.
    fn meet(&self, peer: &Driver) -> bool {
        let handle = peer.context.handle;
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(&(_, is_reached)) = peers.iter().find(|(there, _)| *there == handle) {
            return is_reached;
        }
        // SAFETY: both contexts are alive, and this one is current. Where it fails, copies go through the host.
        let enabled = unsafe { library::cuCtxEnablePeerAccess(handle as sys::CUcontext, 0) };
        let is_reached =
            enabled == CUresult::CUDA_SUCCESS || enabled == CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
        peers.push((handle, is_reached));
        is_reached
    }
}

impl Drop for DriverEvent {
    fn drop(&mut self) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the event is of this context, which is current, and nobody else has its handle.
            let _ = unsafe { library::cuEventDestroy_v2(self.handle as sys::CUevent) };
        }
    }
}

impl Device for Driver {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn free_bytes(&self) -> Result<u64> {
        let _entered = self.context.enter()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: the pointers are to live integers.
        let status = unsafe { library::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
        self.context.check("asking for free memory", status)?;
        Ok(free as u64)
    }

    fn allocate(&self, bytes: u64) -> Result<u64> {
        let _entered = self.context.enter()?;
        let mut address = 0;
        // SAFETY: the pointer is to a live integer.
        let result = unsafe { library::cuMemAlloc_v2(&raw mut address, bytes as usize) };
        if result != CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            return self.context.check("taking memory", result).map(|()| address);
        }
        let (ordinal, available) = (self.properties.ordinal, self.free_bytes()?);
        if available >= bytes {
            return Err(Error::Device(format!(
                "cuda:{ordinal} had no {bytes} bytes of memory in one piece when they were wanted, and has {available} \
                 now: other programs use it, too"
            )));
        }
        Err(Error::OutOfMemory {
            what: format!("the work on cuda:{ordinal} ({})", self.properties.name),
            needed: bytes,
            available,
        })
    }

    unsafe fn free(&self, address: u64) {
        // A lost context frees its memory when it is destroyed.
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the caller's promise.
            let _ = unsafe { library::cuMemFree_v2(address) };
        }
    }

    fn allocate_pinned(&self, bytes: usize) -> Result<*mut u8> {
        let _entered = self.context.enter()?;
        let mut memory = std::ptr::null_mut();
        // Addresses are the same on both sides on every 64-bit system. Not write-combined: the host reads it.
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP;
        // SAFETY: the pointer is to a live pointer.
        let result = unsafe { library::cuMemHostAlloc(&raw mut memory, bytes, flags) };
        if result == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
            let (needed, available) = (bytes as u64, crate::available_memory());
            // The system may refuse to pin what it has.
            if available < needed {
                return Err(Error::OutOfMemory { what: "pinned host memory".into(), needed, available });
            }
        }
        self.context.check("taking pinned memory", result).map(|()| memory.cast())
    }

    unsafe fn free_pinned(&self, memory: *mut u8) {
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the caller's promise.
            let _ = unsafe { library::cuMemFreeHost(memory.cast()) };
        }
    }

    unsafe fn pin(&self, memory: *mut u8, bytes: usize) -> Result<()> {
        let _entered = self.context.enter()?;
        // SAFETY: the caller's promise.
        let result = unsafe { library::cuMemHostRegister_v2(memory.cast(), bytes, sys::CU_MEMHOSTREGISTER_PORTABLE) };
        self.context.check("pinning memory", result)
    }

    unsafe fn unpin(&self, memory: *mut u8) {
        // A lost context lets go of it when it is destroyed.
        if let Ok(_entered) = self.context.enter() {
            // SAFETY: the caller's promise.
            let _ = unsafe { library::cuMemHostUnregister(memory.cast()) };
        }
    }

    fn staging(&self) -> &Staging {
        &self.staging
    }

    unsafe fn upload_in(&self, stream: Stream, to: u64, from: *const u8, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.context.enter()?;
        // SAFETY: the caller's promise, which holds until the stream has come here.
        let result = unsafe { library::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, self.context.stream(stream)) };
        self.context.check("copying to the device", result)
    }

    unsafe fn download_in(&self, stream: Stream, to: *mut u8, from: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.context.enter()?;
        // SAFETY: the caller's promise, which holds until the stream has come here.
        let result = unsafe { library::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, self.context.stream(stream)) };
        self.context.check("copying from the device", result)
    }

    unsafe fn fill(&self, to: u64, value: u32, words: usize) -> Result<()> {
        if words == 0 {
            return Ok(());
        }
        let _entered = self.context.enter()?;
        // SAFETY: the caller's promise.
        let result = unsafe { library::cuMemsetD32Async(to, value, words, self.context.stream(Stream::Work)) };
        self.context.check("filling memory", result)
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<()> {
        if bytes == 0 {
            return Ok(());
        }
        let _entered = self.context.enter()?;
        // SAFETY: the caller's promise.
        let result = unsafe { library::cuMemcpyDtoDAsync_v2(to, from, bytes, self.context.stream(Stream::Work)) };
        self.context.check("copying on the device", result)
    }

    unsafe fn send(&self, device: &dyn Device, to: u64, from: u64, bytes: usize) -> Result<()> {
        let Some(peer) = device.as_any().downcast_ref::<Driver>() else {
            return Err(Error::Device("a device of another kind".into()));
        };
        let _entered = self.context.enter()?;
        self.meet(peer);
        if bytes == 0 {
            return Ok(());
        }
        let (mine, theirs) = (self.context.handle as sys::CUcontext, peer.context.handle as sys::CUcontext);
        // SAFETY: the contexts are alive; the rest is the caller's promise.
        let result =
            unsafe { library::cuMemcpyPeerAsync(to, theirs, from, mine, bytes, self.context.stream(Stream::Peer)) };
        self.context.check("copying to another device", result)
    }

    fn function(&self, image: &'static Image, name: &str) -> Result<Function> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(function) = loaded.functions.get(&(image.name, name.to_owned())) {
            return Ok(*function);
        }
        let _entered = self.context.enter()?;
        let module = match loaded.modules.get(image.name) {
            Some((module, _)) => *module,
            None => {
                let binary = image.unpack(images::kind_for(self.properties.compute_capability))?;
                let mut module = std::ptr::null_mut();
                // SAFETY: the image was built by the CUDA toolkit and says itself how long it is.
                let result = unsafe { library::cuModuleLoadData(&raw mut module, binary.as_ptr().cast()) };
                self.context.check(&format!("loading the kernels `{}`", image.name), result)?;
                loaded.modules.insert(image.name, (module as usize, binary));
                module as usize
            }
        };
        let finding = || format!("finding the kernel `{name}` in `{}`", image.name);
        let symbol = CString::new(name).map_err(|_| Error::Device(format!("{} failed", finding())))?;
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is of this context, and the name ends with a zero.
        let result =
            unsafe { library::cuModuleGetFunction(&raw mut function, module as sys::CUmodule, symbol.as_ptr()) };
        self.context.check(&finding(), result)?;
        let mut used = 0;
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
        // SAFETY: the function was just found, and the pointer is to a live integer.
        self.context.check(&finding(), unsafe { library::cuFuncGetAttribute(&raw mut used, attribute, function) })?;
        let most = self.properties.shared_bytes_per_block as c_int - used;
        let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        // SAFETY: the function was just found.
        self.context.check(&finding(), unsafe { library::cuFuncSetAttribute(function, attribute, most) })?;
        if self.properties.clusters > 8 {
            let attribute = FunctionAttribute::CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED;
            // SAFETY: the function was just found.
            self.context.check(&finding(), unsafe { library::cuFuncSetAttribute(function, attribute, 1) })?;
        }
        let function = Function(function as usize);
        loaded.functions.insert((image.name, name.to_owned()), function);
        Ok(function)
    }

    fn blocks_at_once(&self, function: Function, threads: u32, shared_bytes: u32) -> Result<u32> {
        let _entered = self.context.enter()?;
        let mut blocks = 0;
        // SAFETY: the function is of this context, and the pointer is to a live integer.
        let result = unsafe {
            library::cuOccupancyMaxActiveBlocksPerMultiprocessor(
                &raw mut blocks,
                function.0 as sys::CUfunction,
                threads as c_int,
                shared_bytes as usize,
            )
        };
        self.context.check("asking how many blocks fit", result)?;
        Ok(blocks.max(0) as u32 * self.properties.multiprocessors)
    }

    unsafe fn launch(&self, function: Function, shape: &LaunchShape, arguments: &mut [*mut c_void]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_in(Stream::Work, function, shape, arguments) }
    }

    fn reaches(&self, peer: &dyn Device) -> Result<bool> {
        let Some(peer) = peer.as_any().downcast_ref::<Driver>() else { return Ok(false) };
        let _entered = self.context.enter()?;
        Ok(peer.context.handle == self.context.handle || self.meet(peer))
    }

    fn event(&self) -> Result<Event> {
        let _entered = self.context.enter()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the context is current, and the pointer is to a live handle.
        let result = unsafe { library::cuEventCreate(&raw mut handle, sys::CUevent_flags::CU_EVENT_DEFAULT as u32) };
        self.context.check("making an event", result)?;
        Ok(Event(Box::new(DriverEvent { handle: handle as usize, context: self.context.clone() })))
    }

    fn record_in(&self, stream: Stream, event: &Event) -> Result<()> {
        let _entered = self.context.enter()?;
        let handle = event.get::<DriverEvent>()?.handle as sys::CUevent;
        // SAFETY: the event is alive, and the stream is of this context; the driver refuses an event of another one.
        self.context.check("recording an event", unsafe { library::cuEventRecord(handle, self.context.stream(stream)) })
    }

    fn follow(&self, stream: Stream, event: &Event) -> Result<()> {
        let _entered = self.context.enter()?;
        let handle = event.get::<DriverEvent>()?.handle as sys::CUevent;
        // SAFETY: the event is alive, of whatever context, and the stream is of this one. The driver keeps what it needs
        // of the event.
        let result = unsafe { library::cuStreamWaitEvent(self.context.stream(stream), handle, 0) };
        self.context.check("waiting for an event", result)
    }

    fn has_passed(&self, event: &Event) -> Result<bool> {
        let _entered = self.context.enter()?;
        let handle = event.get::<DriverEvent>()?.handle as sys::CUevent;
        // SAFETY: the event is alive.
        let result = unsafe { library::cuEventQuery(handle) };
        if result == CUresult::CUDA_ERROR_NOT_READY {
            return Ok(false);
        }
        self.context.check("waiting for an event", result).map(|()| true)
    }

    fn wait(&self, event: &Event) -> Result<()> {
        let _entered = self.context.enter()?;
        let handle = event.get::<DriverEvent>()?.handle as sys::CUevent;
        // SAFETY: the event is alive.
        self.context.check("waiting for an event", unsafe { library::cuEventSynchronize(handle) })
    }

    fn seconds_between(&self, from: &Event, to: &Event) -> Result<f64> {
        self.wait(to)?;
        let _entered = self.context.enter()?;
        let handle = |event: &Event| Ok::<_, Error>(event.get::<DriverEvent>()?.handle as sys::CUevent);
        let (from, to) = (handle(from)?, handle(to)?);
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive, and the pointer is to a live number.
        let result = unsafe { library::cuEventElapsedTime_v2(&raw mut milliseconds, from, to) };
        self.context.check("reading an event", result)?;
        Ok(f64::from(milliseconds) / 1000.0)
    }

    fn synchronize(&self) -> Result<()> {
        self.context.synchronize()
    }

    fn synchronize_with_others(&self) -> Result<()> {
        self.context.synchronize_with_others()
    }

    fn join(&self, key: &CarrierKey, place: usize, count: usize) -> Result<Box<dyn Carrier>> {
        joined::join(&self.context, key, place, count)
    }

    fn within(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        let _entered = self.context.enter()?;
        work()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod hazards;
#[cfg(test)]
mod tests;
