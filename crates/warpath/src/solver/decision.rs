//! The decision on a request, made before any work.

use crate::algorithms::{AlgorithmInfo, Parameters, parse_algorithm};
use crate::graph::{Graph, semirings_of};
use crate::problems::Report;
use crate::{Engine, Error, Plan};

/// How a request will be answered: engine, algorithm, number types and memory, and why. [`Solver::decide`] returns it
/// beforehand; [`Solver::solve`] makes it once and carries it out.
///
/// [`Solver::decide`]: crate::Solver::decide
/// [`Solver::solve`]: crate::Solver::solve
#[derive(Debug, Clone)]
pub struct Decision<C = ()> {
    pub(super) placed: Placed,
    /// The algorithm, with its parameters, as text.
    pub(super) algorithm: String,
    /// Why this algorithm.
    pub(super) reason: String,
    pub(super) parameters: Parameters,
    pub(super) number_types: &'static [&'static str],
    pub(super) plan: Plan,
    /// Whether the CPU takes over if the device fails.
    pub(super) fallback: bool,
    /// The manner in which several searches are done.
    pub(super) manner: Manner,
    /// How many devices may share many searches.
    pub(super) devices: usize,
    /// The data that the problem's own code needs.
    pub(super) choice: C,
}

/// The manner in which several searches are done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// One after another.
    InTurn,
    /// As many at once as the CPU has threads, each on one of them.
    SideBySide,
    /// In batches that share work.
    InBatches,
}

impl<C> Decision<C> {
    /// The engine: `cpu` or `cuda`.
    pub fn engine(&self) -> &'static str {
        match self.placed.engine {
            Place::Cpu => "cpu",
            Place::Cuda => "cuda",
        }
    }

    /// Why this engine.
    pub fn engine_reason(&self) -> &str {
        &self.placed.reason
    }

    /// The algorithm, with its parameters if any are set.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// Why this algorithm.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The types of weight and distance, such as `u32->u32`. If there are several, a later one is for distances that
    /// overflow in the one before.
    pub fn number_types(&self) -> &'static [&'static str] {
        self.number_types
    }

    /// The memory and disk space that the answer takes, beyond the graph itself; for many searches, at any one time.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The same decision with another choice.
    pub(super) fn with<D>(self, choice: impl FnOnce(C) -> D) -> Decision<D> {
        let Decision { placed, algorithm, reason, parameters, number_types, plan, fallback, manner, devices, .. } =
            self;
        let choice = choice(self.choice);
        Decision { placed, algorithm, reason, parameters, number_types, plan, fallback, manner, devices, choice }
    }

    /// The part that callers see.
    pub(super) fn without_choice(self) -> Decision {
        self.with(|_| ())
    }

    /// The report, as far as it is known before the work.
    pub(super) fn report(&self) -> Report {
        Report {
            engine: self.engine().into(),
            engine_reason: self.placed.reason.clone(),
            algorithm: self.algorithm.clone(),
            reason: self.reason.clone(),
            ..Default::default()
        }
    }
}

/// The types of weight and distance in which the shortest paths of a graph are found, one after another until one does.
pub(super) fn number_types(graph: &Graph, narrow_is_certain: bool) -> &'static [&'static str] {
    let names = semirings_of(graph.weight_kind());
    if narrow_is_certain { &names[..1] } else { names }
}

/// The engine that a request goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Cpu,
    Cuda,
}

/// An engine, and why.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) engine: Place,
    pub(super) reason: String,
    /// Whether the other engine would do, too.
    pub(super) optional: bool,
}

impl Placed {
    /// Where a request goes. `only_on_cuda` tells whether the requested algorithm is on no other engine, `gpu_pays` why
    /// a GPU is predicted to be quicker, or why not.
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
                Err(reason) => Placed::on_cpu(reason),
            },
        }
    }

    /// Whether the request goes to a device.
    pub(super) fn is_on_cuda(&self) -> bool {
        self.engine == Place::Cuda
    }

    /// On the CPU, for this reason.
    pub(super) fn on_cpu(reason: String) -> Self {
        Placed { engine: Place::Cpu, reason, optional: false }
    }
}

/// Whether the CPU may take over where a device failed with this error.
pub(super) fn leaves_it_to_the_cpu(error: &Error) -> bool {
    matches!(error, Error::Device(_) | Error::NoDevice(_) | Error::OutOfMemory { .. })
}

/// Whether only the CUDA engine has the requested algorithm with these parameters. If neither engine takes them, the
/// name decides, so that the engine that knows the algorithm reports the error.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Parameter, Values};
    use crate::problems::Problem;

    const fn info(name: &'static str, parameters: &'static [Parameter]) -> AlgorithmInfo {
        let (summary, source, negative_weights) = ("", "", false);
        AlgorithmInfo { problem: Problem::Bfs, name, summary, source, parameters, negative_weights, seconds: |_| 0.0 }
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
