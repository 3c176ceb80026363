//! Watching and stopping long work from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// How far a stage of the work has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// The name of the stage, such as `"load"` or `"solve"`.
    pub stage: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all; 0 where nobody knows.
    pub total: u64,
}

type Watcher = dyn Fn(Progress) + Send + Sync;

/// A handle on work that takes long: anyone holding a clone can cancel it, and a watcher hears how far it has come.
///
/// The default does neither and costs nothing.
#[derive(Clone, Default)]
pub struct Control {
    cancelled: Arc<AtomicBool>,
    watcher: Option<Arc<Watcher>>,
}

impl Control {
    /// A handle that nobody watches.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same handle, telling `watcher` about progress. It is called from worker threads and has to be quick.
    pub fn watched_by(mut self, watcher: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.watcher = Some(Arc::new(watcher));
        self
    }

    /// Asks the work to end; it returns [`Error::Interrupted`] soon after. Safe to call from a signal handler.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Takes a cancellation back, so that later work with this handle runs. Work that has not noticed the cancellation goes on.
    pub fn reset(&self) {
        self.cancelled.store(false, Ordering::Relaxed);
    }

    /// Whether somebody has called [`Control::cancel`].
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Whether to go on.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if the work was cancelled.
    pub fn check(&self) -> Result<()> {
        if self.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) }
    }

    /// Tells the watcher how far `stage` has come, and checks for cancellation.
    ///
    /// # Errors
    ///
    /// [`Error::Interrupted`] if the work was cancelled.
    pub fn progress(&self, stage: &'static str, done: u64, total: u64) -> Result<()> {
        if let Some(watcher) = &self.watcher {
            watcher(Progress { stage, done, total });
        }
        self.check()
    }
}

impl std::fmt::Debug for Control {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Control").field("cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}
