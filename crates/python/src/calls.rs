//! Work without the interpreter: other threads of Python go on, Ctrl-C ends what takes long, and a bar shows how far it is.
//!
//! Searches are told to end, and do so soon. Nobody tells a reader of files or a generator: a call gives up waiting for it, and what it
//! makes is dropped when it is done.

use std::panic::resume_unwind;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use warpath::{Control, Error, Progress, Result};

use crate::errors::exception;
use crate::forks::with_threads;

/// How long a Ctrl-C waits until somebody looks, and how often a bar moves.
const LOOK: Duration = Duration::from_millis(50);

/// What the calls of one graph share: the handle that ends them, and how far the last of them is.
pub(crate) struct Calls {
    control: Control,
    progress: Arc<Mutex<Option<Progress>>>,
}

/// Runs work that can't be told to end on a thread of its own while other threads of Python run, too. This thread looks for signals
/// meanwhile: after an exception of a handler the work goes on without anybody who waits for it.
pub(crate) fn run_apart<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> PyResult<T> {
    let (tell, told) = mpsc::channel();
    let worker = thread::Builder::new().name("warpath-call".into()).spawn(move || {
        // Nobody listens any more if a signal has come.
        let _ = tell.send(with_threads(work));
    });
    let worker = worker.map_err(|error| exception(Error::NoThreads(format!("no thread for the call: {error}"))))?;
    py.detach(move || {
        loop {
            match told.recv_timeout(LOOK) {
                Ok(done) => return done.map_err(exception),
                Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
                // The thread has gone without an answer: it panicked.
                Err(RecvTimeoutError::Disconnected) => {
                    resume_unwind(worker.join().expect_err("a thread that ends in order has answered"))
                }
            }
        }
    })
}

impl Calls {
    pub(crate) fn new() -> Self {
        let progress = Arc::new(Mutex::new(None));
        let shown = progress.clone();
        // Whoever finds the lock taken leaves it: the next report comes soon.
        let watch = move |progress| {
            if let Ok(mut shown) = shown.try_lock() {
                *shown = Some(progress);
            }
        };
        Calls { control: Control::new().watched_by(watch), progress }
    }

    /// The handle for a solver whose work these calls are.
    pub(crate) fn control(&self) -> Control {
        self.control.clone()
    }

    /// Runs work that is done soon while other threads of Python run, too.
    pub(crate) fn run_short<T: Send>(&self, py: Python<'_>, work: impl Fn() -> Result<T> + Sync) -> PyResult<T> {
        py.detach(|| with_threads(&work)).map_err(exception)
    }

    /// Runs work on a thread of its own while other threads of Python run, too. This thread looks for signals meanwhile, whose
    /// handlers run on the main thread alone: an exception of a handler cancels the work. With `show` a bar tells how far it is.
    ///
    /// All requests of a graph share the control: one that another thread's Ctrl-C has ended begins again.
    pub(crate) fn run<T: Send>(&self, py: Python<'_>, show: bool, work: impl Fn() -> Result<T> + Sync) -> PyResult<T> {
        let bar = if show { Some(py.import("warpath._progress")?.call_method0("bar")?.unbind()) } else { None };
        let done = py.detach(|| {
            loop {
                match self.run_watched(bar.as_ref(), &work)? {
                    Err(Error::Interrupted) => {}
                    done => return done.map_err(exception),
                }
            }
        });
        if let Some(bar) = bar {
            bar.call_method0(py, "close")?;
        }
        done
    }

    /// The work's result, or what a handler of a signal raised.
    fn run_watched<T: Send>(
        &self,
        bar: Option<&Py<PyAny>>,
        work: &(impl Fn() -> Result<T> + Sync),
    ) -> PyResult<Result<T>> {
        thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let worker = thread::Builder::new().name("warpath-call".into()).spawn_scoped(scope, move || {
                // Nobody listens any more if a signal has come.
                let _ = tell.send(with_threads(work));
            });
            let worker = match worker {
                Ok(worker) => worker,
                Err(error) => return Ok(Err(Error::NoThreads(format!("no thread for the call: {error}")))),
            };
            loop {
                match told.recv_timeout(LOOK) {
                    Ok(done) => return Ok(done),
                    Err(RecvTimeoutError::Timeout) => {
                        let looked = Python::attach(|py| py.check_signals().and_then(|()| self.show(py, bar)));
                        if let Err(raised) = looked {
                            self.control.cancel();
                            let _ = worker.join();
                            self.control.reset();
                            return Err(raised);
                        }
                    }
                    // The thread has gone without an answer: it panicked.
                    Err(RecvTimeoutError::Disconnected) => {
                        let panic = worker.join().expect_err("a thread that ends in order has answered");
                        resume_unwind(panic)
                    }
                }
            }
        })
    }

    fn show(&self, py: Python<'_>, bar: Option<&Py<PyAny>>) -> PyResult<()> {
        let progress = *self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(bar), Some(Progress { stage, done, total })) = (bar, progress) {
            bar.call_method1(py, "show", (stage, done, total))?;
        }
        Ok(())
    }
}
