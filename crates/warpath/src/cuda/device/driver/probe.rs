//! What there is to be opened: the driver, its version, and the GPUs of the machine.
//!
//! *Invariants.* The driver is initialized before it is asked for devices, and gets pointers to live values of the type
//! that it writes.

use std::ffi::{CStr, c_int};
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};

use super::super::Properties;
use super::super::library::{self, Status};
use super::status::{checked, describe};
use crate::{Error, Result};

/// The oldest driver that loads the images, as CUDA counts: 1000 x major + 10 x minor.
const OLDEST_VERSION: i32 = 13_000;

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

/// The error where the driver has nothing to drive.
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

/// The properties of every device of this machine.
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

/// The number of the device that has the memory of this address.
///
/// # Errors
///
/// If no device has it, or there is none.
pub(crate) fn device_of(address: u64) -> Result<u32> {
    devices()?;
    let mut ordinal: c_int = 0;
    let asked = sys::CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    // SAFETY: the driver is initialized, and the pointer is to a live integer, as which it writes this attribute.
    let found = unsafe { library::cuPointerGetAttribute((&raw mut ordinal).cast(), asked, address) };
    checked(&format!("looking for the device with the memory at {address:#x}"), found)?;
    Ok(ordinal.max(0) as u32)
}

pub(super) fn properties(ordinal: c_int) -> Result<(sys::CUdevice, Properties)> {
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
    let mut uuid = sys::CUuuid { bytes: [0; 16] };
    // SAFETY: the pointer is to a live value of the type.
    checked("asking a device's number", unsafe { library::cuDeviceGetUuid_v2(&raw mut uuid, handle) })?;
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
        uuid: u128::from_be_bytes(uuid.bytes.map(|byte| byte as u8)),
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
}
