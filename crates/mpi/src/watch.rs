//! Ends the process when it waits too long for other ranks: a rank that died without a word, or a link that was cut. Also when the
//! work is cancelled, as by Ctrl-C.
//!
//! A wait in MPI can't be broken off from within. So a thread looks at the clock and at the handle of the work, and ends the
//! process; the launcher takes that for a failure and ends the other ranks.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use warpath::{Control, Error, Result};

/// The code that a process ends with when other ranks are silent: resources are missing.
const SILENT_RANKS: i32 = 3;
/// The code of a process that was interrupted.
const INTERRUPTED: i32 = 130;
/// How often the thread looks.
const INTERVAL: Duration = Duration::from_millis(100);

/// Knows since when a rank waits.
pub(crate) struct Watch {
    start: Instant,
    /// Milliseconds from `start` to the beginning of a wait, plus 1; 0 while nothing is waited for.
    since: Arc<AtomicU64>,
    /// So many milliseconds may be waited beyond the timeout.
    patience: Arc<AtomicU64>,
}

/// A wait, which ends when this is dropped.
pub(crate) struct Waiting<'a>(&'a AtomicU64);

impl Watch {
    /// Starts the thread, which never ends: it is idle while nothing is waited for.
    ///
    /// # Errors
    ///
    /// [`Error::NoThreads`] if the system refuses the thread.
    pub(crate) fn start(timeout: Duration, control: &Control, rank: usize) -> Result<Self> {
        let (since, patience) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let watch = Watch { start: Instant::now(), since: since.clone(), patience: patience.clone() };
        let (start, control) = (watch.start, control.clone());
        let look = move || loop {
            std::thread::sleep(INTERVAL);
            if control.is_cancelled() {
                end(INTERRUPTED);
            }
            // The patience first: a wait that begins in between has only just begun, whatever its patience.
            let patience = Duration::from_millis(patience.load(Ordering::SeqCst));
            let began = since.load(Ordering::SeqCst);
            let waited = Duration::from_millis((start.elapsed().as_millis() as u64 + 1).saturating_sub(began));
            let most = timeout.saturating_add(patience);
            if began > 0 && waited > most {
                let seconds = most.as_secs();
                let message = format!(
                    "error: rank {rank} waited {seconds} s for other ranks: one of them, or a link, has failed\n"
                );
                let _ = std::io::stderr().lock().write_all(message.as_bytes());
                end(SILENT_RANKS);
            }
        };
        let started = std::thread::Builder::new().name("watch".into()).spawn(look);
        started.map_err(|error| {
            Error::NoThreads(format!("the thread that watches the ranks can't be started: {error}"))
        })?;
        Ok(watch)
    }

    /// Begins a wait.
    pub(crate) fn waits(&self) -> Waiting<'_> {
        self.waits_longer(Duration::ZERO)
    }

    /// The same, for so long beyond the timeout.
    pub(crate) fn waits_longer(&self, patience: Duration) -> Waiting<'_> {
        self.patience.store(patience.as_millis() as u64, Ordering::SeqCst);
        self.since.store(self.start.elapsed().as_millis() as u64 + 1, Ordering::SeqCst);
        Waiting(&self.since)
    }
}

/// Ends the process at once, without unfinished files.
fn end(code: i32) -> ! {
    warpath::formats::remove_partial_files();
    std::process::exit(code)
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.store(0, Ordering::SeqCst);
    }
}
