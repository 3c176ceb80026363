//! Forked processes: a child has a copy of its parent's memory, and none of its threads.
//!
//! Work that the parent's pools of threads would do waits without end in the child. So the child gets pools of its own: one that all
//! work runs in, because the library uses the global pool outside of searches, and a new solver for each graph that it asks.

use std::process;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};
use warpath::{Error, Result};

/// The process in which the module was first used.
static FIRST: OnceLock<u32> = OnceLock::new();
/// The pool of a forked process, and which one's it is.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// The number of this process. The first one to ask is the one whose global pool may be used.
pub(crate) fn this_process() -> u32 {
    let this = process::id();
    FIRST.get_or_init(|| this);
    this
}

/// Runs work where its parallel loops find threads.
pub(crate) fn with_threads<T: Send>(work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
    let this = this_process();
    if FIRST.get() == Some(&this) {
        return work();
    }
    let pool = {
        let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
        match &*pool {
            Some((owner, pool)) if *owner == this => pool.clone(),
            _ => {
                let threads = ThreadPoolBuilder::new().build();
                let threads = threads.map_err(|error| Error::NoThreads(format!("in a forked process: {error}")))?;
                let threads = Arc::new(threads);
                // The pool of a parent can't be closed here: its threads are not there to hear of it.
                std::mem::forget(pool.replace((this, threads.clone())));
                threads
            }
        }
    };
    pool.install(work)
}
