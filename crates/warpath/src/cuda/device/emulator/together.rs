//! Kernels on several emulated devices at once, under one schedule, which see each other's memory as late as they may.
//!
//! *Invariants.* The function of the emulator in C++ has the signature declared here, and its structs the same layout. What devices
//! have allocated stays allocated while the kernels run: the call returns when they are done.

use std::ffi::{c_char, c_int, c_uint, c_void};

use super::{Emulator, host};
use crate::cuda::device::Launch;
use crate::{Error, Result};

unsafe extern "C" {
    fn warpath_emulator_launch_together(
        launches: *const WarpathLaunch,
        count: usize,
        memory: *const WarpathMemory,
        memory_count: usize,
        seed: u64,
        message: *mut c_char,
        message_bytes: usize,
    ) -> c_int;
}

/// As in C++.
#[repr(C)]
struct WarpathLaunch {
    kernel: *const c_char,
    grid: *const c_uint,
    block: *const c_uint,
    shared_bytes: c_uint,
    cluster_blocks: c_uint,
    cooperative: c_int,
    arguments: *mut *mut c_void,
}

/// As in C++.
#[repr(C)]
struct WarpathMemory {
    begin: *mut u8,
    bytes: usize,
    launch: usize,
}

/// Runs them to their ends.
///
/// # Safety
///
/// As of [`Device::launch_together`](crate::cuda::device::Device::launch_together).
pub(super) unsafe fn launch(launches: &mut [Launch<'_>]) -> Result<()> {
    let devices = launches.iter().map(|launch| launch.device.as_any().downcast_ref::<Emulator>());
    let devices: Option<Vec<&Emulator>> = devices.collect();
    let devices = devices.ok_or_else(|| Error::Device("a device of another kind".into()))?;
    let (mut kernels, mut memory, mut seed) = (Vec::new(), Vec::new(), 0);
    for (place, (launch, device)) in launches.iter().zip(&devices).enumerate() {
        let (kernel, seed_of_device) = device.begin(launch.function, &launch.shape)?;
        kernels.push(kernel);
        seed ^= seed_of_device.rotate_left(8 * place as u32);
        let state = device.state();
        let allocated = state.allocated.iter();
        memory.extend(allocated.map(|(&address, layout)| WarpathMemory {
            begin: host(address as u64),
            bytes: layout.size(),
            launch: place,
        }));
    }
    let wanted: Vec<WarpathLaunch> = launches
        .iter_mut()
        .zip(&kernels)
        .map(|(launch, kernel)| WarpathLaunch {
            kernel: kernel.as_ptr(),
            grid: launch.shape.grid.as_ptr(),
            block: launch.shape.block.as_ptr(),
            shared_bytes: launch.shape.shared_bytes,
            cluster_blocks: launch.shape.cluster,
            cooperative: c_int::from(launch.shape.cooperative),
            arguments: launch.arguments.as_mut_ptr(),
        })
        .collect();
    let mut message = [0_u8; 4096];
    // SAFETY: all arrays have the lengths that the function is told or always expects; the caller vouches for the arguments, and
    // the memory is what the devices have allocated.
    let failed = unsafe {
        warpath_emulator_launch_together(
            wanted.as_ptr(),
            wanted.len(),
            memory.as_ptr(),
            memory.len(),
            seed,
            message.as_mut_ptr().cast(),
            message.len(),
        )
    };
    Emulator::ended(failed, seed, &message, &devices)
}
