//! What the library's `sync` has, by loom.

pub use loom::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
pub use loom::sync::{Condvar, Mutex, MutexGuard};
pub use std::sync::PoisonError;

/// Waiting for another thread: it runs next.
#[derive(Debug, Default)]
pub struct Patience;

impl Patience {
    /// Lets others run.
    pub fn wait(&mut self) {
        loom::thread::yield_now();
    }
}
