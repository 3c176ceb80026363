//! GPUs through the CUDA driver, which is looked for when the program runs: nothing of CUDA is needed to build it.
//!
//! Its functions are in [`library`]: none of them panics, whatever the driver is like. Each [`Driver`] has a
//! context of its own, not the process's primary one, so that a context that a kernel has ruined can be thrown away and
//! a fresh one made beside whatever else the process does with CUDA. Every call makes the context current, and the
//! caller's own one again when it returns: it is a matter of nanoseconds, the device may then be used from any thread, and
//! a program that uses CUDA itself notices nothing.
//!
//! *Invariants.* Every call gets handles that the driver has given for this context, which lives as long as they do,
//! and pointers to live values of the type that the driver writes. Callers of the unsafe functions vouch for addresses
//! and lengths (see `Device`).

use std::any::Any;
use std::collections::HashMap;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUfunction_attribute as FunctionAttribute, CUresult};

use super::images::{self, FatBinary, Kind};
use super::library::{self, Status};
use super::staging::Staging;
use super::{Device, Event, Function, Image, LaunchShape, Properties, STREAMS, Stream};
use crate::{Error, Result};

/// The oldest driver that loads the images, as CUDA counts: 1000 x major + 10 x minor.
const OLDEST_VERSION: i32 = 13_000;

/// How many lanes copies have, and how many bytes a piece. At 10 GB/s a thread, these keep the bus busy; a piece is a
/// large page of the host, and takes the bus 40 microseconds.
const LANES: (usize, usize) = (8, 2 << 20);

/// Why there is no driver; `None` if there is one, working or not.
pub(crate) fn absent() -> Option<&'static str> {
    library::absent()
}

/// The version of CUDA that the driver supports, as 1000 x major + 10 x minor, after initializing it.
///
/// # Errors
///
/// [`Error::NoDevice`] with the reason if there is no driver, or an old one, or no device.
pub(crate) fn version() -> Result<i32> {
    static VERSION: OnceLock<std::result::Result<i32, String>> = OnceLock::new();
    let version = VERSION.get_or_init(|| {
        if let Some(reason) = absent() {
            return Err(reason.into());
        }
        let mut version = 0;
        // SAFETY: the pointer is to a live integer.
        let result = unsafe { library::cuDriverGetVersion(&raw mut version) };
        // An old driver lacks functions, too: that it is old says more.
        if result == Status::SUCCESS && version < OLDEST_VERSION {
            return Err(format!(
                "the CUDA driver is too old: it supports CUDA {}, and {} is needed, which is driver 580 or newer",
                show_version(version),
                show_version(OLDEST_VERSION)
            ));
        }
        if let Some(function) = library::missing() {
            return Err(format!("the CUDA driver is incomplete: it has no function {function}"));
        }
        if result != Status::SUCCESS {
            return Err(format!("the CUDA driver does not tell its version: {}", describe(result)));
        }
        // SAFETY: no preconditions.
        let result = unsafe { library::cuInit(0) };
        if result == Status::SUCCESS {
            Ok(version)
        } else if result == CUresult::CUDA_ERROR_NO_DEVICE {
            Err(no_gpu())
        } else {
            Err(format!("the CUDA driver does not start: {}{}", describe(result), visible_devices()))
        }
    });
    version.clone().map_err(Error::NoDevice)
}

/// What is said where the driver has nothing to drive.
fn no_gpu() -> String {
    format!("there is a CUDA driver, but no GPU{}", visible_devices())
}

/// What limits the devices that the driver shows, as the end of a sentence.
pub(crate) fn visible_devices() -> String {
    const NAME: &str = "CUDA_VISIBLE_DEVICES";
    std::env::var_os(NAME).map_or_else(String::new, |list| format!("; {NAME} is `{}`", list.display()))
}

/// The version of the driver itself, as the Linux kernel has it; `None` elsewhere.
pub(crate) fn release() -> Option<String> {
    release_in(&std::fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// The version in what the driver says of its kernel module: the first word of numbers with dots between them.
fn release_in(text: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix("NVRM version:"))?;
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    line.split_whitespace().find(|word| word.contains('.') && word.split('.').all(is_number)).map(str::to_owned)
}

/// A version as people write it.
pub(crate) fn show_version(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

/// What is known of every device of this machine.
///
/// # Errors
///
/// [`Error::NoDevice`] with the reason if there is none.
pub(crate) fn devices() -> Result<Vec<Properties>> {
    version()?;
    let mut count = 0;
    // SAFETY: the driver is initialized, and the pointer is to a live integer.
    checked("counting the devices", unsafe { library::cuDeviceGetCount(&raw mut count) })?;
    if count <= 0 {
        return Err(Error::NoDevice(no_gpu()));
    }
    (0..count).map(|ordinal| Ok(properties(ordinal)?.1)).collect()
}

fn properties(ordinal: c_int) -> Result<(sys::CUdevice, Properties)> {
    let mut handle = 0;
    // SAFETY: the driver is initialized, and the pointer is to a live integer.
    checked("finding a device", unsafe { library::cuDeviceGet(&raw mut handle, ordinal) })?;
    let get = |attribute| {
        let mut value = 0;
        // SAFETY: the device was just found, and the pointer is to a live integer.
        checked("asking a device", unsafe { library::cuDeviceGetAttribute(&raw mut value, attribute, handle) })?;
        Ok::<u32, Error>(value.max(0) as u32)
    };
    let mut name = [0; 256];
    // SAFETY: the name is written within the buffer, with a zero at its end.
    checked("asking a device's name", unsafe {
        library::cuDeviceGetName(name.as_mut_ptr(), name.len() as c_int, handle)
    })?;
    // SAFETY: the driver has ended the name with a zero.
    let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
    let mut memory = 0;
    // SAFETY: the pointer is to a live integer.
    checked("asking a device's memory", unsafe { library::cuDeviceTotalMem_v2(&raw mut memory, handle) })?;
    let compute_capability = (
        get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
        get(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
    );
    let clusters = match (get(Attribute::CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)?, compute_capability.0) {
        (0, _) => 0,
        // Data-center chips take twice the portable size.
        (_, 9 | 10) => 16,
        _ => 8,
    };
    let properties = Properties {
        name,
        ordinal: ordinal as u32,
        memory_bytes: memory as u64,
        compute_capability,
        multiprocessors: get(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        shared_bytes_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        threads_per_block: get(Attribute::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
        l2_bytes: u64::from(get(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        clusters,
    };
    Ok((handle, properties))
}

/// A GPU, opened.
#[derive(Debug)]
pub(crate) struct Driver {
    properties: Properties,
    context: Arc<Context>,
    loaded: Mutex<Loaded>,
    staging: Staging,
    /// The contexts that copies to them are ready for.
    peers: Mutex<Vec<usize>>,
}

/// The images and kernels that have been asked for.
#[derive(Debug, Default)]
struct Loaded {
    /// Modules, by the name of their image, with the code that they were loaded from: the driver may put off reading it.
    modules: HashMap<&'static str, (usize, FatBinary)>,
    functions: HashMap<(&'static str, String), Function>,
}

/// A context with its streams. Handles are kept as numbers: the driver lets any thread use them.
#[derive(Debug)]
struct Context {
    ordinal: u32,
    handle: usize,
    streams: [usize; STREAMS],
    /// What ruined it, if something did.
    lost: OnceLock<String>,
}

/// A context is current on this thread until this is dropped; then that is which was before.
struct Entered {
    /// What is current is a matter of each thread.
    stays_here: PhantomData<*const ()>,
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
        let flags = sys::CUctx_flags::CU_CTX_SCHED_AUTO as u32 | sys::CUctx_flags::CU_CTX_MAP_HOST as u32;
        // SAFETY: no parameters are given, which is allowed, and the device exists. The context becomes current.
        let made = unsafe { library::cuCtxCreate_v4(&raw mut handle, std::ptr::null_mut(), flags, device) };
        checked(&format!("opening cuda:{ordinal}"), made)?;
        let mut context = Context { ordinal, handle: handle as usize, streams: [0; STREAMS], lost: OnceLock::new() };
        let entered = Entered { stays_here: PhantomData };
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

    /// The same, copying with up to so many threads at once.
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

    /// Has copies to another device, from now on, take the shortest way. The context is current.
    fn meet(&self, peer: &Driver) {
        let mut peers = self.peers.lock().unwrap_or_else(PoisonError::into_inner);
        if !peers.contains(&peer.context.handle) {
            // SAFETY: both contexts are alive, and this one is current. Where it fails, copies go through the host.
            let _ = unsafe { library::cuCtxEnablePeerAccess(peer.context.handle as sys::CUcontext, 0) };
            peers.push(peer.context.handle);
        }
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        let mut popped = std::ptr::null_mut();
        // SAFETY: the pointer is to a live handle. What is popped is what was pushed when this was made: everything that
        // was pushed since then has been popped. It fails only where no context is of any use any more.
        let _ = unsafe { library::cuCtxPopCurrent_v2(&raw mut popped) };
    }
}

impl Context {
    /// Makes the context current on this thread, as long as what is returned lives.
    ///
    /// # Errors
    ///
    /// If the context is lost.
    fn enter(&self) -> Result<Entered> {
        if let Some(reason) = self.lost.get() {
            let ordinal = self.ordinal;
            return Err(Error::Device(format!("cuda:{ordinal} is lost, and has to be opened again, since {reason}")));
        }
        // SAFETY: the context lives until `self` is dropped.
        let pushed = unsafe { library::cuCtxPushCurrent_v2(self.handle as sys::CUcontext) };
        self.check("entering the context", pushed)?;
        Ok(Entered { stays_here: PhantomData })
    }

    fn stream(&self, stream: Stream) -> sys::CUstream {
        self.streams[stream as usize] as sys::CUstream
    }

    /// The error in a result, with what was being done; after some errors the context is lost.
    fn check(&self, doing: &str, result: Status) -> Result<()> {
        if result == Status::SUCCESS {
            return Ok(());
        }
        let message = format!("{doing} failed: {}", describe(result));
        if is_sticky(result) {
            // The first reason stays.
            let _ = self.lost.set(message.clone());
        }
        Err(Error::Device(format!("cuda:{}: {message}", self.ordinal)))
    }

    fn synchronize(&self) -> Result<()> {
        let _entered = self.enter()?;
        let wait = |stream| {
            // SAFETY: the stream is of this context, which is current.
            let result = unsafe { library::cuStreamSynchronize(stream as sys::CUstream) };
            self.check("waiting for the device", result)
        };
        // All of them are waited for, whatever one says: memory that they use may go next.
        self.streams.map(wait).into_iter().fold(Ok(()), Result::and)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: nothing that belongs to the context is used after it: events hold it, and so does the device, which
        // memory holds. It is current on no thread, and takes its streams, modules and pinned pieces along. An error means
        // that there is nothing left to destroy.
        let _ = unsafe { library::cuCtxDestroy_v2(self.handle as sys::CUcontext) };
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
            unsafe { library::cuMemcpyPeerAsync(to, theirs, from, mine, bytes, self.context.stream(Stream::Across)) };
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
                let mut module = std::ptr::null_mut();
                let binary = image.unpack(images::kind_for(self.properties.compute_capability))?;
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

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// The error in a result, with what was being done.
fn checked(doing: &str, result: Status) -> Result<()> {
    match result {
        Status::SUCCESS => Ok(()),
        other => Err(Error::Device(format!("{doing} failed: {}", describe(other)))),
    }
}

/// An error in words, with its name.
fn describe(result: Status) -> String {
    let text = |get: unsafe fn(c_uint, *mut *const c_char) -> Status| {
        let mut text = std::ptr::null();
        // SAFETY: the pointer is to a live pointer.
        let known = unsafe { get(result.0, &raw mut text) } == Status::SUCCESS && !text.is_null();
        // SAFETY: the driver's texts are constants that end with a zero.
        known.then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    };
    match (text(library::cuGetErrorString), text(library::cuGetErrorName)) {
        (Some(words), Some(name)) => format!("{words} ({name})"),
        _ => format!("error {}", result.0),
    }
}

/// After these errors nothing works in a context any more.
const STICKY: [CUresult; 16] = [
    CUresult::CUDA_ERROR_DEINITIALIZED,
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUresult::CUDA_ERROR_CONTAINED,
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
    CUresult::CUDA_ERROR_EXTERNAL_DEVICE,
    CUresult::CUDA_ERROR_UNKNOWN,
];

/// Whether nothing works in a context any more after this error.
fn is_sticky(result: Status) -> bool {
    STICKY.iter().any(|error| result == *error)
}

#[cfg(test)]
mod hazards;
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_driver_has_a_version_of_its_own() {
        let closed = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n\
                      GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n";
        assert_eq!(release_in(closed).as_deref(), Some("535.104.05"));
        let open = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release Build  (root@host)\n";
        assert_eq!(release_in(open).as_deref(), Some("580.65.06"));
        for other in ["", "GCC version:  gcc version 11.4.0", "NVRM version: unknown 5. .5 v1.2"] {
            assert_eq!(release_in(other), None, "{other}");
        }
    }

    #[test]
    fn no_driver_is_an_error_and_no_panic() {
        match devices() {
            Ok(devices) => assert!(!devices.is_empty()),
            Err(Error::NoDevice(reason)) => assert!(reason.contains("driver"), "{reason}"),
            Err(other) => panic!("{other}"),
        }
        assert!(matches!(Driver::open(4_000_000_000), Err(Error::NoDevice(_))));
        assert_eq!(show_version(13_020), "13.2");
    }

    /// A program may use CUDA itself, in the same thread.
    #[test]
    fn the_context_of_the_caller_stays() {
        let current = || {
            let mut handle = std::ptr::null_mut();
            // SAFETY: the pointer is to a live handle.
            assert_eq!(unsafe { library::cuCtxGetCurrent(&raw mut handle) }, Status::SUCCESS);
            handle as usize
        };
        let Ok(outer) = Driver::open(0) else { return };
        assert_eq!(current(), 0);
        let entered = outer.context.enter().unwrap();
        {
            let inner: Arc<dyn Device> = Arc::new(Driver::open(0).unwrap());
            assert_eq!(current(), outer.context.handle);
            let mut pool = super::super::memory::Pool::new(&inner, 1 << 24).unwrap();
            let values: Vec<u32> = (0..1 << 22).collect();
            let there = pool.take_filled(&values).unwrap();
            assert_eq!(pool.read(there).unwrap(), values);
            assert!(inner.allocate(u64::MAX / 2).is_err());
            assert_eq!(current(), outer.context.handle);
        }
        assert_eq!(current(), outer.context.handle);
        drop(entered);
        assert_eq!(current(), 0);
    }

    #[test]
    #[ignore = "takes all contexts of the process with it: run it alone, on a machine with a GPU"]
    fn a_ruined_device_says_so() {
        let device = Driver::open(0).unwrap();
        let kernel = device.function(&images::BFS_QUEUE, "bfs_queue").unwrap();
        let nowhere = 8_u64;
        let shape = LaunchShape::line(1, 32);
        // SAFETY: none at all: the kernel reads at an address that is not there, which is what is tested.
        let launched = unsafe {
            device.launch(
                kernel,
                &shape,
                super::super::arguments!(nowhere, nowhere, nowhere, nowhere, nowhere, nowhere, 1_u32, 1_u32),
            )
        };
        launched.unwrap();
        assert!(matches!(device.synchronize(), Err(Error::Device(_))));
        let Err(Error::Device(message)) = device.allocate(256) else { panic!("the device is lost") };
        assert!(message.contains("is lost"), "{message}");
        drop(device);
        // Since the driver takes a bad address as a fault of the process, a new context may not be had in it, either: that
        // is an error as well, and no crash.
        if let Err(error) = Driver::open(0) {
            assert!(matches!(error, Error::Device(_) | Error::NoDevice(_)), "{error}");
        }
    }
}
