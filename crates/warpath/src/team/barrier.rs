//! The barrier at which the workers of a team meet.
//!
//! `crates/models` checks it under every order in which threads can run.

use crate::sync::{AtomicBool, AtomicUsize, Ordering, Patience};

/// A barrier of generations: the last to arrive opens it for all.
#[derive(Debug)]
pub(crate) struct Barrier {
    count: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
    broken: AtomicBool,
}

impl Barrier {
    /// A barrier for this many threads.
    pub(crate) fn new(count: usize) -> Self {
        Barrier { count, arrived: AtomicUsize::new(0), generation: AtomicUsize::new(0), broken: AtomicBool::new(false) }
    }

    /// Waits until as many threads are here as the barrier counts. Everything they wrote before is visible to all of
    /// them after.
    ///
    /// # Panics
    ///
    /// If the barrier is broken.
    #[inline]
    pub(crate) fn wait(&self) {
        if self.count == 1 {
            return;
        }
        let generation = self.generation.load(Ordering::Relaxed);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut patience = Patience::default();
        while self.generation.load(Ordering::Acquire) == generation {
            self.wait_a_little(&mut patience);
        }
    }

    /// Waits a little, longer each time.
    ///
    /// # Panics
    ///
    /// If the barrier is broken.
    #[inline]
    pub(crate) fn wait_a_little(&self, patience: &mut Patience) {
        assert!(!self.broken.load(Ordering::Relaxed), "another worker of the team panicked");
        patience.wait();
    }
}

/// Breaks the barrier when its worker unwinds, so that the others do not wait for ever.
pub(crate) struct ReleaseOnPanic<'a>(&'a Barrier);

impl<'a> ReleaseOnPanic<'a> {
    /// A guard that lives as long as a worker of this barrier works.
    pub(crate) fn of(barrier: &'a Barrier) -> Self {
        ReleaseOnPanic(barrier)
    }
}

impl Drop for ReleaseOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Ordering::Relaxed);
        }
    }
}
