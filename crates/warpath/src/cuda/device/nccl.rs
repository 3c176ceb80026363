//! NCCL, NVIDIA's library that carries arrays between GPUs of several processes. It is looked for when it is first needed; nothing of it is
//! needed to build this, and nothing else needs it.
//!
//! Types, constants and signatures are those of its header `nccl.h`, version 2.
//!
//! *Invariants.* As in `library.rs`: each function has the type that the header gives it, and the library stays loaded.

use std::error::Error as _;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use libloading::Library;

use super::carrier::{CarrierKey, KEY_BYTES, Piece};
use crate::{Error, Result};

const NAMES: &[&str] = &["libnccl.so.2"];

/// `ncclUniqueId`.
#[repr(C)]
#[derive(Clone, Copy)]
struct UniqueId([u8; KEY_BYTES]);

/// `ncclDataType_t`.
const UINT32: c_int = 3;
const UINT64: c_int = 5;
/// `ncclRedOp_t`.
const MIN: c_int = 3;

/// The functions that are called.
#[derive(Debug)]
struct Functions {
    get_unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    comm_init_rank: unsafe extern "C" fn(*mut *mut c_void, c_int, UniqueId, c_int) -> c_int,
    comm_abort: unsafe extern "C" fn(*mut c_void) -> c_int,
    error_string: unsafe extern "C" fn(c_int) -> *const c_char,
    group_start: unsafe extern "C" fn() -> c_int,
    group_end: unsafe extern "C" fn() -> c_int,
    send: unsafe extern "C" fn(*const c_void, usize, c_int, c_int, *mut c_void, *mut c_void) -> c_int,
    receive: unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, *mut c_void, *mut c_void) -> c_int,
    all_reduce:
        unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, c_int, *mut c_void, *mut c_void) -> c_int,
    /// What they are in.
    _library: Library,
}

impl Functions {
    fn load() -> std::result::Result<Self, String> {
        let mut reason = "NCCL (libnccl.so.2) is not where the system looks for libraries".to_owned();
        for name in NAMES {
            // SAFETY: it only loads the library, whose initializers are its own.
            match unsafe { Library::new(*name) } {
                Ok(library) => return Self::of(library).map_err(|error| format!("NCCL lacks a function: {error}")),
                Err(error) => {
                    let error = error.source().map_or_else(|| error.to_string(), ToString::to_string);
                    if !error.contains("No such file") {
                        reason = format!("NCCL can't be loaded: {error}");
                    }
                }
            }
        }
        Err(reason)
    }

    fn of(library: Library) -> std::result::Result<Self, libloading::Error> {
        /// A function by its name.
        macro_rules! function {
            ($name:literal) => {{
                // SAFETY: the field that it becomes has the type of the function of this name, and the library is kept with it.
                let symbol = unsafe { library.get(concat!($name, "\0").as_bytes()) }?;
                *symbol
            }};
        }
        Ok(Functions {
            get_unique_id: function!("ncclGetUniqueId"),
            comm_init_rank: function!("ncclCommInitRank"),
            comm_abort: function!("ncclCommAbort"),
            error_string: function!("ncclGetErrorString"),
            group_start: function!("ncclGroupStart"),
            group_end: function!("ncclGroupEnd"),
            send: function!("ncclSend"),
            receive: function!("ncclRecv"),
            all_reduce: function!("ncclAllReduce"),
            _library: library,
        })
    }

    /// The error that a function returned, if it did.
    fn check(&self, what: &str, status: c_int) -> Result<()> {
        if status == 0 {
            return Ok(());
        }
        // SAFETY: it takes any number, and returns a constant.
        let text = unsafe { (self.error_string)(status) };
        let text = if text.is_null() {
            format!("error {status}")
        } else {
            // SAFETY: the text ends with 0.
            unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
        };
        Err(Error::Device(format!("{what} by NCCL: {text}")))
    }
}

/// The library.
///
/// # Errors
///
/// [`Error::NoDevice`] if there is none.
fn functions() -> Result<&'static Functions> {
    static FUNCTIONS: OnceLock<std::result::Result<Functions, String>> = OnceLock::new();
    FUNCTIONS.get_or_init(Functions::load).as_ref().map_err(|reason| Error::NoDevice(reason.clone()))
}

/// A fresh key, for all who join.
///
/// # Errors
///
/// [`Error::NoDevice`] without NCCL; [`Error::Device`] if it fails.
pub(super) fn key() -> Result<CarrierKey> {
    let functions = functions()?;
    let mut id = UniqueId([0; KEY_BYTES]);
    // SAFETY: the pointer is to a live key.
    functions.check("making a key", unsafe { (functions.get_unique_id)(&raw mut id) })?;
    Ok(CarrierKey(id.0))
}

/// Whether there is an NCCL.
///
/// # Errors
///
/// [`Error::NoDevice`], which says why not.
pub(super) fn available() -> Result<()> {
    functions().map(drop)
}

/// What joined processes have in common, seen from one of them. It may be used from any thread, by one at a time, and is dropped in its context.
#[derive(Debug)]
pub(super) struct Communicator(usize);

impl Communicator {
    /// Joins the others that have the key; waits for all of them. The context of the device is current.
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] without NCCL; [`Error::Device`] if it fails, as where two processes have the same device.
    pub(super) fn join(key: &CarrierKey, place: usize, count: usize) -> Result<Self> {
        let functions = functions()?;
        let mut handle = std::ptr::null_mut();
        let (place, count) = (place as c_int, count as c_int);
        // SAFETY: the pointer is to a live handle.
        let joined = unsafe { (functions.comm_init_rank)(&raw mut handle, count, UniqueId(key.0), place) };
        functions.check("joining GPUs", joined)?;
        Ok(Communicator(handle as usize))
    }

    /// Sends and receives, in the order of a stream.
    ///
    /// # Safety
    ///
    /// The addresses are of the device whose context is current, for that many words until the stream has come past, and so is the stream. What is received overlaps nothing.
    pub(super) unsafe fn exchange(&self, stream: usize, sent: &[Piece], received: &[Piece]) -> Result<()> {
        let functions = functions()?;
        let (handle, stream) = (self.0 as *mut c_void, stream as *mut c_void);
        // SAFETY: every start has an end.
        functions.check("sending", unsafe { (functions.group_start)() })?;
        let mut result = Ok(());
        for &Piece { peer, address, words } in sent {
            // SAFETY: the caller's promise.
            let status =
                unsafe { (functions.send)(address as *const c_void, words, UINT32, peer as c_int, handle, stream) };
            result = result.and(functions.check("sending", status));
        }
        for &Piece { peer, address, words } in received {
            // SAFETY: the caller's promise.
            let status =
                unsafe { (functions.receive)(address as *mut c_void, words, UINT32, peer as c_int, handle, stream) };
            result = result.and(functions.check("receiving", status));
        }
        // SAFETY: it was started.
        result.and(functions.check("sending", unsafe { (functions.group_end)() }))
    }

    /// For each place the least number of all processes, of so many 32-bit words each, in the order of a stream.
    ///
    /// # Safety
    ///
    /// As of [`Communicator::exchange`].
    pub(super) unsafe fn least(&self, stream: usize, of: u64, to: u64, count: usize, words: usize) -> Result<()> {
        let functions = functions()?;
        let kind = if words == 1 { UINT32 } else { UINT64 };
        let (handle, stream) = (self.0 as *mut c_void, stream as *mut c_void);
        // SAFETY: the caller's promise.
        let status =
            unsafe { (functions.all_reduce)(of as *const c_void, to as *mut c_void, count, kind, MIN, handle, stream) };
        functions.check("reducing", status)
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if let Ok(functions) = functions() {
            // Nothing is under way unless something failed; to end otherwise waits for the others.
            // SAFETY: the handle is a communicator's, which nobody uses any more. An error leaves nothing to do.
            let _ = unsafe { (functions.comm_abort)(self.0 as *mut c_void) };
        }
    }
}
