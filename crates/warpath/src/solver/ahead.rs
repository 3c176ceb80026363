//! Devices that a thread opens while the program does something else.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use super::device::ordinals;
use crate::cuda::device::Device;
use crate::team::at_most_cores;
use crate::{Engine, Error, Result, cuda};

/// The GPUs of an engine, which a thread of its own opens beside other work, such as reading the graph.
///
/// The driver takes some 0.3 s to start and to make a context. A solver that is [given them](crate::SolverBuilder::devices_ahead) waits for
/// the rest of that time when a request needs a device.
///
/// ```
/// use warpath::{DevicesAhead, Engine, Solver};
/// let engine = Engine::Auto;
/// let ahead = DevicesAhead::open(&engine, 0)?;
/// let graph = warpath::generate("grid:100x100")?;
/// let solver = Solver::builder(graph).engine(engine).devices_ahead(ahead).open()?;
/// # Ok::<(), warpath::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct DevicesAhead(Arc<Mutex<Opening>>);

/// The thread, until somebody has asked for what it has opened.
#[derive(Debug)]
struct Opening(Option<JoinHandle<Result<Vec<Arc<dyn Device>>>>>);

impl DevicesAhead {
    /// Begins to open the GPUs that an engine names, for a solver with this many threads, 0 for one per core. Nothing is opened for
    /// [`Engine::Auto`], which may find that the CPU is quicker, nor for [`Engine::Cpu`].
    ///
    /// # Errors
    ///
    /// [`Error::NoDevice`] if there is no driver. Whatever else is wrong is an error of the first request that needs a device.
    pub fn open(engine: &Engine, threads: usize) -> Result<Self> {
        if !matches!(engine, Engine::Cuda(_)) {
            return Ok(DevicesAhead(Arc::new(Mutex::new(Opening(None)))));
        }
        if let Some(why) = cuda::plainly_absent() {
            return Err(Error::NoDevice(why));
        }
        let engine = engine.clone();
        let open_all = move || {
            engine.check()?;
            ordinals(&engine)?.into_iter().map(|ordinal| cuda::open(ordinal, at_most_cores(threads))).collect()
        };
        // Without a thread they are opened when they are needed.
        let thread = thread::Builder::new().name("opening devices".into()).spawn(open_all).ok();
        Ok(DevicesAhead(Arc::new(Mutex::new(Opening(thread)))))
    }

    /// The devices, once they are open; none if nothing was to be opened, or if somebody has them.
    pub(super) fn take(&self) -> Result<Vec<Arc<dyn Device>>> {
        let thread = self.0.lock().unwrap_or_else(PoisonError::into_inner).0.take();
        let Some(thread) = thread else { return Ok(Vec::new()) };
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Whether devices are open or about to be.
    pub(super) fn is_under_way(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.is_some()
    }
}

impl Drop for Opening {
    /// A process must not end while a thread is in the driver.
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // Nobody needs the devices, or what is wrong with them.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn engines_that_name_no_device_open_none() {
        for engine in [Engine::Auto, Engine::Cpu] {
            let ahead = DevicesAhead::open(&engine, 1).unwrap();
            assert!(!ahead.is_under_way() && ahead.take().unwrap().is_empty());
        }
    }

    #[test]
    fn what_is_wrong_is_an_error_once_and_devices_are_handed_over_once() {
        let engine = Engine::Cuda(vec![0]);
        match DevicesAhead::open(&engine, 1) {
            Err(error) => assert!(matches!(error, Error::NoDevice(_)) && cuda::plainly_absent().is_some()),
            Ok(ahead) => {
                assert!(ahead.is_under_way() && cuda::plainly_absent().is_none());
                match ahead.clone().take() {
                    Ok(devices) => assert_eq!(devices.len(), 1),
                    Err(error) => assert!(matches!(error, Error::NoDevice(_) | Error::Device(_)), "{error}"),
                }
                assert!(!ahead.is_under_way() && ahead.take().unwrap().is_empty());
                // Nobody waits for this one.
                drop(DevicesAhead::open(&Engine::Cuda(vec![77]), 1));
            }
        }
    }
}
