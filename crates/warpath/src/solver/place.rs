//! Which engine a search goes to, and why.

use super::Solver;
use crate::algorithms::{AlgorithmInfo, parse_algorithm};
use crate::{Engine, Error};

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
        match solver.allowed_on_device() {
            Ok(available) if bytes <= available => Ok(format!("a GPU pays: {predicted}")),
            Ok(available) => Err(format!("the GPU has {available} bytes of memory to give; the search takes {bytes}")),
            Err(error) => {
                let reason = error.to_string();
                solver.cuda().avoid(&reason);
                Err(reason)
            }
        }
    }
}

/// Whether the CPU may do what a device failed at with this error.
pub(super) fn leaves_it_to_the_cpu(error: &Error) -> bool {
    matches!(error, Error::Device(_) | Error::NoDevice(_) | Error::OutOfMemory { .. })
}

/// Whether the CUDA engine alone has the algorithm asked for, with these parameters, or by its name if neither engine takes
/// them: the error is then told by the engine that knows the algorithm.
pub(super) fn only_on_cuda<C, G>(
    asked: Option<&str>,
    on_cpu: &[C],
    info_on_cpu: impl Fn(&C) -> &AlgorithmInfo,
    on_cuda: &[G],
    info_on_cuda: impl Fn(&G) -> &AlgorithmInfo,
) -> bool {
    let Some(text) = asked else { return false };
    let name = text.split(':').next().unwrap_or(text);
    let cpu_knows = on_cpu.iter().any(|entry| info_on_cpu(entry).name == name);
    let cuda_knows = on_cuda.iter().any(|entry| info_on_cuda(entry).name == name);
    let cpu_takes = parse_algorithm(on_cpu, info_on_cpu, text).is_ok();
    let cuda_takes = parse_algorithm(on_cuda, info_on_cuda, text).is_ok();
    !cpu_takes && (cuda_takes || cuda_knows && !cpu_knows)
}

/// A time as a person says it.
pub(super) fn in_words(seconds: f64) -> String {
    if seconds < 1.0 { format!("{:.1} ms", seconds * 1e3) } else { format!("{seconds:.1} s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Parameter, Values};
    use crate::problems::Problem;

    const fn info(name: &'static str, parameters: &'static [Parameter]) -> AlgorithmInfo {
        AlgorithmInfo { problem: Problem::Bfs, name, summary: "", source: "", parameters, negative_weights: false }
    }

    const WIDTH: Parameter = Parameter { name: "width", summary: "", values: Values::AtLeast(1.0) };
    const DELTA: Parameter = Parameter { name: "delta", summary: "", values: Values::AtLeast(1.0) };
    const ON_CPU: [AlgorithmInfo; 2] = [info("both", &[DELTA]), info("cpu-only", &[])];
    const ON_CUDA: [AlgorithmInfo; 2] = [info("both", &[DELTA, WIDTH]), info("cuda-only", &[WIDTH])];

    #[test]
    fn parameters_decide_where_names_do_not() {
        let only = |asked| only_on_cuda(asked, &ON_CPU, |info| info, &ON_CUDA, |info| info);
        for there in ["cuda-only", "cuda-only:width=3", "cuda-only:delta=3", "both:width=2", "both:delta=2,width=2"] {
            assert!(only(Some(there)), "{there}");
        }
        for not in ["both", "both:delta=2", "both:width=0", "both:x=1", "cpu-only", "cpu-only:width=2", "nowhere", ""] {
            assert!(!only(Some(not)), "{not}");
        }
        assert!(!only(None));
    }
}
