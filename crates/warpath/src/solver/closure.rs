//! Transitive closure: choosing the algorithm, running it, making the result.

use std::time::Instant;

use super::place::{Place, Placed, only_on_cuda};
use super::{Request, Solver};
use crate::algorithms::{Parameters, Statistics, parse_algorithm};
use crate::cpu::closure::{ALGORITHMS, ClosureAlgorithm, ClosureBits, ClosureTask, condensation};
use crate::cuda::closure as cuda;
use crate::plan::Plan;
use crate::problems::{
    BitMatrix, Closure, ClosureCounts, Reachability, ReachabilityBits, ReachableCounts, Report, Seconds,
};
use crate::{Error, Result};

/// The algorithm for a request, its parameters, and why.
struct Choice {
    algorithm: Chosen,
    parameters: Parameters,
    name: String,
    reason: String,
    engine_reason: String,
}

/// An algorithm of one of the engines.
#[derive(Clone, Copy)]
enum Chosen {
    Cpu(&'static ClosureAlgorithm),
    Cuda(&'static cuda::ClosureAlgorithm),
}

impl Chosen {
    /// Whether it is the CPU's `condensation`, which has counts without a matrix.
    fn counts_without_matrix(&self) -> bool {
        matches!(self, Chosen::Cpu(algorithm) if algorithm.info.name == condensation::ALGORITHM.info.name)
    }
}

fn choose(closure: &Closure, solver: &Solver<'_>) -> Result<Choice> {
    let asked = closure.algorithm.as_deref();
    let on_cpu = |name: &str| parse_algorithm(ALGORITHMS, |entry| &entry.info, name);
    let on_cuda = |name: &str| parse_algorithm(cuda::ALGORITHMS, |entry| &entry.info, name);
    let only = || only_on_cuda(asked, ALGORITHMS, |entry| &entry.info, cuda::ALGORITHMS, |entry| &entry.info);
    let placed = Placed::of(&solver.engine, only, || {
        Err(solver.no_device().unwrap_or_else(|| "components are found on the CPU".into()))
    });
    let (name, reason) = match (asked, placed.engine) {
        (Some(name), _) => (name, "asked for"),
        (None, Place::Cuda) if cuda::condensation::pays(solver.graph) => {
            (condensation::ALGORITHM.info.name, "components are found sooner than the whole matrix is closed")
        }
        (None, Place::Cuda) => (cuda::ALGORITHMS[0].info.name, "a GPU works on the whole matrix"),
        (None, Place::Cpu) if solver.graph.is_directed() => (
            condensation::ALGORITHM.info.name,
            "one row of bits for each strongly connected component, and none of their arcs twice",
        ),
        (None, Place::Cpu) => {
            (condensation::ALGORITHM.info.name, "in an undirected graph, components are all there is to find")
        }
    };
    let (algorithm, parameters) = match placed.engine {
        Place::Cpu => on_cpu(name).map(|(algorithm, parameters)| (Chosen::Cpu(algorithm), parameters))?,
        Place::Cuda => on_cuda(name).map(|(algorithm, parameters)| (Chosen::Cuda(algorithm), parameters))?,
    };
    let (name, reason) = (name.to_owned(), reason.to_owned());
    Ok(Choice { algorithm, parameters, name, reason, engine_reason: placed.reason })
}

fn report(choice: Choice, seconds: Seconds, statistics: Statistics) -> Report {
    Report {
        engine: "cpu".into(),
        engine_reason: choice.engine_reason,
        algorithm: choice.name,
        reason: choice.reason,
        lane: "bits",
        seconds,
        statistics,
        ..Default::default()
    }
}

/// Works on a device.
fn solve_on_cuda(
    closure: &Closure,
    solver: &Solver<'_>,
    algorithm: &cuda::ClosureAlgorithm,
    choice: Choice,
) -> Result<(ReachabilityBits, Report)> {
    let graph = solver.graph;
    if graph.vertices() == 0 {
        let report = report(choice, Seconds::default(), Vec::new());
        return Ok((ReachabilityBits::Matrix(BitMatrix::new(0, 0)?), Report { engine: "cuda".into(), ..report }));
    }
    let mut state = solver.cuda();
    let device = state.device(&solver.engine)?;
    state.give_up_prepared();
    let task = cuda::ClosureTask {
        graph,
        irreflexive: closure.irreflexive,
        parameters: &choice.parameters,
        control: &solver.control,
    };
    let closed = match solver.team.install(|| algorithm.solve(&device, &task)) {
        Ok(closed) => closed,
        Err(error) => {
            // A device may be lost after an error: the next request opens it again.
            if matches!(error, Error::Device(_)) {
                state.close();
            }
            return Err(error);
        }
    };
    let [prepare, solve, download] = closed.seconds;
    let seconds = Seconds { prepare, solve, download, ..Default::default() };
    let report = report(choice, seconds, closed.statistics);
    let engine = format!("cuda:{}", device.properties().ordinal);
    Ok((closed.bits, Report { engine, device_bytes: closed.device_bytes, ..report }))
}

impl Request for Closure {
    type Answer = Reachability;

    /// An upper bound if that fits in the memory allowed; otherwise the components are counted, in O(V + E).
    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        Ok(match choose(self, solver)?.algorithm {
            Chosen::Cpu(algorithm) => (algorithm.plan)(solver.graph, &solver.team, solver.memory),
            Chosen::Cuda(algorithm) => algorithm.plan(solver.graph)?,
        })
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<Reachability> {
        let choice = choose(&self, solver)?;
        let (vertices, irreflexive) = (solver.graph.vertices(), self.irreflexive);
        let algorithm = match choice.algorithm {
            Chosen::Cpu(algorithm) => algorithm,
            Chosen::Cuda(algorithm) => {
                let (bits, report) = solve_on_cuda(&self, solver, algorithm, choice)?;
                return Ok(Reachability { vertices, irreflexive, bits, report });
            }
        };
        let start = Instant::now();
        let outcome = (algorithm.solve)(&ClosureTask {
            graph: solver.graph,
            irreflexive,
            parameters: &choice.parameters,
            team: &solver.team,
            control: &solver.control,
        })?;
        let seconds = Seconds { solve: start.elapsed().as_secs_f64(), ..Default::default() };
        let report = report(choice, seconds, outcome.statistics);
        let bits = match outcome.bits {
            ClosureBits::Matrix(bits) => ReachabilityBits::Matrix(bits),
            ClosureBits::Condensed(condensed) => ReachabilityBits::Condensed(condensed),
        };
        Ok(Reachability { vertices, irreflexive, bits, report })
    }
}

impl Request for ClosureCounts {
    type Answer = ReachableCounts;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        let choice = choose(&self.closure, solver)?;
        if !choice.algorithm.counts_without_matrix() {
            let mut plan = self.closure.plan(solver)?;
            plan.memory("counts", solver.graph.vertices() as u64 * 8);
            return Ok(plan);
        }
        Ok(condensation::plan_counts(solver.graph, &solver.team, solver.graph.vertices()))
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ReachableCounts> {
        let irreflexive = self.closure.irreflexive;
        let choice = choose(&self.closure, solver)?;
        if !choice.algorithm.counts_without_matrix() {
            let reachability = self.closure.solve_on(solver)?;
            let counts = solver.team.install(|| reachability.reachable_counts())?;
            return Ok(ReachableCounts { counts, irreflexive, report: reachability.report });
        }
        let start = Instant::now();
        let (counts, statistics) = condensation::count(&ClosureTask {
            graph: solver.graph,
            irreflexive,
            parameters: &choice.parameters,
            team: &solver.team,
            control: &solver.control,
        })?;
        let seconds = Seconds { solve: start.elapsed().as_secs_f64(), ..Default::default() };
        let report = report(choice, seconds, statistics);
        Ok(ReachableCounts { counts, irreflexive, report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Graph};

    #[test]
    fn memory_is_what_the_components_ask_for() {
        // One large component, and a matrix between vertices of 32 MB that nobody needs.
        let cycle = Graph::from_edges((0..16_000).map(|v| (v, (v + 1) % 16_000))).unwrap();
        let path = Graph::from_edges((0..15_999).map(|v| (v, v + 1))).unwrap();
        let solver = |graph, memory| Solver::builder(graph).threads(2).memory(memory).open().unwrap();
        assert_eq!(solver(&cycle, 8 << 20).solve(Closure::new()).unwrap().reachable_pairs(), 16_000 * 16_000);
        let refused = solver(&path, 8 << 20).solve(Closure::new());
        assert!(matches!(refused, Err(Error::OutOfMemory { needed, .. }) if needed > 32_000_000));
        let refused = solver(&cycle, 8 << 20).solve(Closure::new().algorithm("bit-warshall"));
        assert!(matches!(refused, Err(Error::OutOfMemory { .. })));
        let counts = solver(&path, 8 << 20).solve(Closure::new().counts_only()).unwrap();
        assert_eq!(counts.reachable_pairs(), 16_000 * 16_001 / 2);
        counts.verify(&path).unwrap();
    }

    #[test]
    fn it_can_be_cancelled_and_watched() {
        let graph = Graph::from_edges((0..2_000).map(|v| (v, v + 1))).unwrap();
        for algorithm in ALGORITHMS {
            let stopper = Control::new();
            let canceller = stopper.clone();
            let control = stopper.watched_by(move |progress| {
                if progress.done >= 1 {
                    canceller.cancel();
                }
            });
            let solver = Solver::builder(&graph).threads(2).control(control).open().unwrap();
            let request = Closure::new().algorithm(algorithm.info.name);
            assert!(matches!(solver.solve(request), Err(Error::Interrupted)), "{}", algorithm.info.name);
        }
        assert!(Solver::new(&graph).unwrap().solve(Closure::new().algorithm("dijkstra")).is_err());
        assert!(Solver::new(&graph).unwrap().solve(Closure::new().algorithm("auto")).is_err());
    }
}
