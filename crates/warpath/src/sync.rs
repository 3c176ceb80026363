//! Primitives for synchronizing threads. `crates/models` replaces them by its own, which try every order of execution.

pub(crate) use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub(crate) use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Waiting for another worker: spinning at first, since it is nearly always there within a microsecond; then yielding;
/// then sleeping now and then. Two workers that the scheduler has put on one core would otherwise wait out each other's
/// time slices, 4 ms each; a sleeper is put on an idle core when it wakes.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    waits: u32,
}

impl Patience {
    /// Waits a little, longer each time.
    #[inline]
    pub(crate) fn wait(&mut self) {
        const SPINS: u32 = 2_000;
        const YIELDS: u32 = 50;
        const SLEEP: std::time::Duration = std::time::Duration::from_micros(20);
        self.waits += 1;
        if self.waits < SPINS {
            std::hint::spin_loop();
        } else if self.waits < SPINS + YIELDS {
            std::thread::yield_now();
        } else {
            self.waits = 0;
            std::thread::sleep(SLEEP);
        }
    }
}
