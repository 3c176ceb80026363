//! The devices that tests run on: the emulator, and the GPUs if there are any. With the environment variable
//! `WARPATH_TEST_GPUS_ALONE`, which the archive of tests for GPUs sets, the emulator is left out.

use std::sync::Arc;
#[cfg(feature = "cuda")]
use std::sync::{Mutex, PoisonError};

use super::Device;
#[cfg(feature = "cuda")]
use super::driver::Driver;
#[cfg(emulator)]
use super::emulator::Emulator;

/// One device of each available kind: the emulator under this seed, and the first GPU if there is one.
pub(crate) fn devices(seed: u64) -> Vec<Arc<dyn Device>> {
    several(1, seed).into_iter().flatten().collect()
}

/// This many devices of each available kind: if there are fewer GPUs, several contexts on the last one.
pub(crate) fn several(count: usize, seed: u64) -> Vec<Vec<Arc<dyn Device>>> {
    let mut kinds: Vec<Vec<Arc<dyn Device>>> = Vec::new();
    #[cfg(emulator)]
    if std::env::var_os("WARPATH_TEST_GPUS_ALONE").is_none() {
        let emulated = |ordinal| Arc::new(Emulator::numbered(seed + u64::from(ordinal), ordinal)) as Arc<dyn Device>;
        kinds.push((0..count as u32).map(emulated).collect());
    }
    #[cfg(feature = "cuda")]
    if let Some(last) = crate::cuda::devices().ok().and_then(|there| there.len().checked_sub(1)) {
        let ordinals = (0..count as u32).map(|ordinal| ordinal.min(last as u32));
        kinds.push(ordinals.map(gpu).collect());
    }
    let _ = (count, seed);
    kinds
}

/// A GPU in a context that nobody else has. Contexts take long to make, so those that other tests are done with are taken again.
#[cfg(feature = "cuda")]
fn gpu(ordinal: u32) -> Arc<dyn Device> {
    static OPENED: Mutex<Vec<Arc<Driver>>> = Mutex::new(Vec::new());
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let left = opened.iter().find(|driver| driver.properties().ordinal == ordinal && Arc::strong_count(driver) == 1);
    if let Some(driver) = left.filter(|driver| driver.synchronize().is_ok()) {
        return driver.clone();
    }
    let driver = Arc::new(Driver::open(ordinal).unwrap());
    opened.push(driver.clone());
    driver
}
