//! The library of the CUDA driver, looked for when the first function is called.
//!
//! Only types and constants are `cudarc`'s. Its functions panic where the library or one of its symbols is missing, and
//! take what they return for a Rust enum, which no other number may be: a newer driver may have errors that were unknown
//! when this was built. Here a function that is missing returns an error as any other failure does, [`missing`] says which
//! one that is, and a [`Status`] is any number.
//!
//! *Invariants.* Each function has the type that the driver's header gives it under this name. The library stays loaded
//! until the process ends, so that functions found in it stay valid.

use std::error::Error;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use cudarc::driver::sys::{
    CUcontext, CUctxCreateParams, CUdevice, CUdevice_attribute, CUdeviceptr, CUevent, CUfunction, CUfunction_attribute,
    CUlaunchConfig, CUmodule, CUpointer_attribute, CUresult, CUstream, CUuuid,
};
use libloading::Library;

/// The names that the library has on one system or another.
const NAMES: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };

/// What a function of the driver returns.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status(pub(super) c_uint);

impl Status {
    /// It did what it was asked.
    pub(super) const SUCCESS: Status = Status::of(CUresult::CUDA_SUCCESS);

    /// One that has a name.
    pub(super) const fn of(result: CUresult) -> Self {
        Status(result as c_uint)
    }
}

impl PartialEq<CUresult> for Status {
    fn eq(&self, other: &CUresult) -> bool {
        *self == Status::of(*other)
    }
}

macro_rules! functions {
    ($($(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*);)*) => {
        /// The library with its functions, those that it has.
        #[allow(non_snake_case)]
        #[derive(Debug)]
        struct Functions {
            $($(#[$attribute])* $name: Option<unsafe extern "C" fn($($type),*) -> Status>,)*
            /// What they are in.
            _library: Library,
        }

        impl Functions {
            fn of(library: Library) -> Self {
                Functions {
                    $($(#[$attribute])* $name: {
                        // SAFETY: the type belongs to the driver's function of this name. It is called only as long as
                        // the library is there, which is kept with it.
                        let symbol = unsafe { library.get(concat!(stringify!($name), "\0").as_bytes()) };
                        symbol.ok().map(|symbol| *symbol)
                    },)*
                    _library: library,
                }
            }

            /// The name of a function that the library does not have.
            fn missing(&self) -> Option<&'static str> {
                $($(#[$attribute])* if self.$name.is_none() {
                    return Some(stringify!($name));
                })*
                None
            }
        }

        $(
            /// The driver's function of this name, whose preconditions it has.
            $(#[$attribute])*
            #[allow(non_snake_case)]
            pub(super) unsafe fn $name($($argument: $type),*) -> Status {
                match functions().and_then(|functions| functions.$name) {
                    // SAFETY: the caller's promise.
                    Some(function) => unsafe { function($($argument),*) },
                    None => Status::of(CUresult::CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND),
                }
            }
        )*
    };
}

functions! {
    fn cuCtxCreate_v4(context: *mut CUcontext, parameters: *mut CUctxCreateParams, flags: c_uint, device: CUdevice);
    fn cuCtxDestroy_v2(context: CUcontext);
    fn cuCtxEnablePeerAccess(peer: CUcontext, flags: c_uint);
    #[cfg(test)] fn cuCtxGetCurrent(context: *mut CUcontext);
    fn cuCtxPopCurrent_v2(context: *mut CUcontext);
    fn cuCtxPushCurrent_v2(context: CUcontext);
    fn cuCtxSynchronize();
    fn cuDeviceGet(device: *mut CUdevice, ordinal: c_int);
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: CUdevice_attribute, device: CUdevice);
    fn cuDeviceGetCount(count: *mut c_int);
    fn cuDeviceGetName(name: *mut c_char, length: c_int, device: CUdevice);
    fn cuDeviceGetUuid_v2(uuid: *mut CUuuid, device: CUdevice);
    fn cuDevicePrimaryCtxRetain(context: *mut CUcontext, device: CUdevice);
    fn cuDeviceTotalMem_v2(bytes: *mut usize, device: CUdevice);
    fn cuDriverGetVersion(version: *mut c_int);
    fn cuEventCreate(event: *mut CUevent, flags: c_uint);
    fn cuEventDestroy_v2(event: CUevent);
    fn cuEventElapsedTime_v2(milliseconds: *mut f32, start: CUevent, end: CUevent);
    fn cuEventQuery(event: CUevent);
    fn cuEventRecord(event: CUevent, stream: CUstream);
    fn cuEventSynchronize(event: CUevent);
    fn cuFuncGetAttribute(value: *mut c_int, attribute: CUfunction_attribute, function: CUfunction);
    fn cuFuncSetAttribute(function: CUfunction, attribute: CUfunction_attribute, value: c_int);
    fn cuGetErrorName(error: c_uint, text: *mut *const c_char);
    fn cuGetErrorString(error: c_uint, text: *mut *const c_char);
    fn cuInit(flags: c_uint);
    fn cuLaunchKernelEx(
        config: *const CUlaunchConfig,
        function: CUfunction,
        parameters: *mut *mut c_void,
        extra: *mut *mut c_void
    );
    fn cuMemAlloc_v2(address: *mut CUdeviceptr, bytes: usize);
    fn cuMemFreeHost(memory: *mut c_void);
    fn cuMemFree_v2(address: CUdeviceptr);
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize);
    fn cuMemHostAlloc(memory: *mut *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemHostRegister_v2(memory: *mut c_void, bytes: usize, flags: c_uint);
    fn cuMemHostUnregister(memory: *mut c_void);
    fn cuMemcpyDtoDAsync_v2(to: CUdeviceptr, from: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemcpyDtoHAsync_v2(to: *mut c_void, from: CUdeviceptr, bytes: usize, stream: CUstream);
    fn cuMemcpyHtoDAsync_v2(to: CUdeviceptr, from: *const c_void, bytes: usize, stream: CUstream);
    fn cuMemcpyPeerAsync(
        to: CUdeviceptr,
        to_context: CUcontext,
        from: CUdeviceptr,
        from_context: CUcontext,
        bytes: usize,
        stream: CUstream
    );
    fn cuMemsetD32Async(to: CUdeviceptr, value: c_uint, words: usize, stream: CUstream);
    fn cuModuleGetFunction(function: *mut CUfunction, module: CUmodule, name: *const c_char);
    fn cuModuleLoadData(module: *mut CUmodule, image: *const c_void);
    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(
        blocks: *mut c_int,
        function: CUfunction,
        threads: c_int,
        shared_bytes: usize
    );
    fn cuPointerGetAttribute(value: *mut c_void, attribute: CUpointer_attribute, address: CUdeviceptr);
    fn cuStreamCreate(stream: *mut CUstream, flags: c_uint);
    fn cuStreamSynchronize(stream: CUstream);
    fn cuStreamWaitEvent(stream: CUstream, event: CUevent, flags: c_uint);
}

/// The library, or why there is none.
fn library() -> &'static Result<Functions, String> {
    static FUNCTIONS: OnceLock<Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(|| {
        let mut reason = "there is no CUDA driver on this machine".to_owned();
        for name in NAMES {
            // SAFETY: it only loads the library, whose initializers are the driver's own.
            match unsafe { Library::new(*name) } {
                Ok(library) => return Ok(Functions::of(library)),
                Err(error) => {
                    let error = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                    // As the loader of Linux says that there is no such file.
                    let is_missing = error.starts_with(name) && error.contains("No such file");
                    if cfg!(target_os = "linux") && !is_missing {
                        reason = format!("the CUDA driver can't be loaded: {error}");
                    }
                }
            }
        }
        Err(reason)
    })
}

fn functions() -> Option<&'static Functions> {
    library().as_ref().ok()
}

/// Why there is no library; `None` if there is one, whole or not.
pub(super) fn absent() -> Option<&'static str> {
    library().as_ref().err().map(String::as_str)
}

/// The name of a function that the library, which there is, does not have.
pub(super) fn missing() -> Option<&'static str> {
    functions().and_then(Functions::missing)
}
