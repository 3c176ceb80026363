//! What the driver's functions return.
//!
//! *Invariants.* The driver's texts are constants that end with a zero.

use std::ffi::{CStr, c_char, c_uint};

use cudarc::driver::sys::CUresult;

use super::super::library::{self, Status};
use crate::{Error, Result};

/// The error in a result, with the name of the operation.
pub(super) fn checked(doing: &str, result: Status) -> Result<()> {
    match result {
        Status::SUCCESS => Ok(()),
        other => Err(Error::Device(format!("{doing} failed: {}", describe(other)))),
    }
}

/// An error in words, with its name.
pub(super) fn describe(result: Status) -> String {
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
pub(super) fn is_sticky(result: Status) -> bool {
    STICKY.iter().any(|error| result == *error)
}
