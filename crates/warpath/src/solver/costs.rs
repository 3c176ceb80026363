//! The costs that every prediction adds to the work of an algorithm: opening a device, copying, handing over. Each
//! algorithm's entry in its table predicts the work itself (`AlgorithmInfo::seconds`).

use super::Solver;
use crate::Bytes;

/// Opening a device, in seconds.
pub(super) const OPENING: f64 = 0.4;
/// Bytes a second, to the device and back, from ordinary memory.
pub(super) const COPYING: f64 = 8e9;
/// Vertices a second when a tree is handed over, in new memory, and summed up.
pub(super) const HANDING_OVER: f64 = 1e9;

/// Predicted seconds on each engine.
#[derive(Debug, Clone, Copy)]
pub(super) struct Predicted {
    pub(super) gpu: f64,
    pub(super) cpu: f64,
}

impl Predicted {
    /// Whether the GPU is quicker and has the memory, and why, or why not. The device is opened only if it is quicker.
    pub(super) fn gpu_pays(self, solver: &Solver, bytes: u64) -> Result<String, String> {
        let predicted = format!("{} there is predicted, {} on the CPU", in_words(self.gpu), in_words(self.cpu));
        if self.gpu >= self.cpu {
            return Err(format!("a GPU does not pay: {predicted}"));
        }
        match solver.closing_a_lost_device(solver.allowed_on_device()) {
            Ok(available) if bytes <= available => Ok(format!("a GPU pays: {predicted}")),
            Ok(available) => {
                Err(format!("the GPU has {} of memory to give; the search takes {}", Bytes(available), Bytes(bytes)))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Whether work that takes so many seconds on one device, and so many on several, is done sooner by these although that many of them
/// must be opened first. They are to be a fifth quicker: they keep each other from other work.
pub(super) fn several_pay(on_one: f64, on_several: f64, to_open: usize) -> bool {
    const GAIN: f64 = 1.2;
    (on_several + OPENING * to_open as f64) * GAIN < on_one
}

impl Solver {
    /// Predicted seconds until the device is open and has these bytes of the graph, prepared for this algorithm.
    pub(super) fn seconds_until_ready(&self, algorithm: &str, bytes: f64) -> f64 {
        let is_prepared = self.device().has_prepared(algorithm);
        if is_prepared { 0.0 } else { bytes / COPYING + self.seconds_until_open() }
    }

    /// Predicted seconds until the device is open.
    pub(super) fn seconds_until_open(&self) -> f64 {
        if self.device().is_open() { 0.0 } else { OPENING }
    }
}

/// A time, written for people.
pub(super) fn in_words(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_devices_pay_for_their_opening_by_long_work() {
        assert!(!several_pay(0.5, 0.25, 1));
        assert!(several_pay(2.0, 1.0, 1));
        assert!(!several_pay(2.0, 1.0, 7));
        assert!(several_pay(0.002, 0.001, 0));
        assert!(!several_pay(0.001, 0.001, 0));
    }
}
