//! The contents of the library's `sync`, provided by loom.

pub use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub use loom::sync::{Condvar, Mutex, MutexGuard};
pub use std::sync::PoisonError;

/// Waits for another thread by letting it run next.
#[derive(Debug, Default)]
pub struct Patience;

impl Patience {
    /// Lets other threads run.
    pub fn wait(&mut self) {
        loom::thread::yield_now();
    }
}
