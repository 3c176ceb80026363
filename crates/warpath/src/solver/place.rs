//! Which engine a search goes to, and why.

use super::Solver;
use crate::Engine;

/// The engine a search goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Cpu,
    Cuda,
}

/// An engine, and why.
pub(super) struct Placed {
    pub(super) engine: Place,
    pub(super) reason: String,
    /// Whether the other engine would do, too.
    pub(super) optional: bool,
}

/// Seconds that something takes on each engine, as predicted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Predicted {
    pub(super) gpu: f64,
    pub(super) cpu: f64,
}

/// Opening a device, in seconds.
pub(super) const OPENING: f64 = 0.3;
/// Bytes a second, to the device and back, from ordinary memory.
pub(super) const COPYING: f64 = 8e9;
/// Vertices a second of a tree that is handed over, in new memory, and summed up.
pub(super) const HANDING_OVER: f64 = 1e9;

impl Placed {
    /// Where a search goes. `only_on_cuda` says that the algorithm asked for is nowhere else, `gpu_pays` why or why not a
    /// GPU is predicted to be quicker.
    pub(super) fn of(
        engine: &Engine,
        only_on_cuda: impl FnOnce() -> bool,
        gpu_pays: impl FnOnce() -> Result<String, String>,
    ) -> Self {
        let placed = |engine, reason: &str| Placed { engine, reason: reason.to_owned(), optional: false };
        match engine {
            Engine::Cpu => placed(Place::Cpu, "asked for"),
            Engine::Cuda(_) => placed(Place::Cuda, "asked for"),
            Engine::Auto if only_on_cuda() => placed(Place::Cuda, "only there is this algorithm"),
            Engine::Auto => match gpu_pays() {
                Ok(reason) => Placed { engine: Place::Cuda, reason, optional: true },
                Err(reason) => placed(Place::Cpu, &reason),
            },
        }
    }
}

impl Predicted {
    /// Whether the GPU is quicker and has the memory, and why, or why not. The device is opened only if it is quicker.
    pub(super) fn gpu_pays(self, solver: &Solver<'_>, bytes: u64) -> Result<String, String> {
        let predicted = format!("{} there is predicted, {} on the CPU", in_words(self.gpu), in_words(self.cpu));
        if self.gpu >= self.cpu {
            return Err(format!("a GPU does not pay: {predicted}"));
        }
        match solver.device_memory() {
            Ok(available) if bytes <= available => Ok(format!("a GPU pays: {predicted}")),
            Ok(available) => Err(format!("the GPU has {available} bytes of memory to give; the search takes {bytes}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A time as a person says it.
pub(super) fn in_words(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}
