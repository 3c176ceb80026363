//! Transitive closure: the decision and the work.

use std::time::Instant;

use super::decision::{Decision, Manner, Placed, only_on_cuda};
use super::{Request, Solver};
use crate::algorithms::parse_algorithm;
use crate::cpu::closure::{ALGORITHMS, ClosureAlgorithm, ClosureBits, ClosureTask, condensation};
use crate::cuda::closure as cuda;
use crate::problems::{
    BitMatrix, Closure, ClosureCounts, Reachability, ReachabilityBits, ReachableCounts, Report, Seconds,
};
use crate::team::Team;
use crate::{Engine, Error, Plan, Result};

/// The algorithm that a closure was decided on.
#[derive(Debug, Clone, Copy)]
pub struct Choice(Algorithm);

/// An algorithm of either engine.
#[derive(Debug, Clone, Copy)]
enum Algorithm {
    /// An algorithm of the CPU.
    Cpu(&'static ClosureAlgorithm),
    /// The CPU's `condensation` without a matrix, for counts.
    Counts,
    /// An algorithm of the CUDA engine, on up to so many devices.
    Cuda(&'static cuda::ClosureAlgorithm, usize),
}

impl Request for Closure {
    type Answer = Reachability;
    type Choice = Choice;

    /// The plan is an upper bound if that fits in the memory allowed; otherwise the components are counted, in O(V +
    /// E).
    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<Choice>> {
        self.decide_placed(solver, self.place(solver), false)
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<Choice>> {
        self.decide_placed(solver, Placed::on_cpu(reason), false)
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<Choice>) -> Result<Reachability> {
        let report = Report { semiring: decision.number_types[0], ..decision.report() };
        let (bits, report) = match decision.choice.0 {
            Algorithm::Cuda(algorithm, devices) => self.run_on_cuda(solver, decision, algorithm, devices, report)?,
            Algorithm::Cpu(algorithm) => {
                let start = Instant::now();
                let outcome = (algorithm.solve)(&self.task(solver, team))?;
                let seconds = Seconds { solve: start.elapsed().as_secs_f64(), ..Default::default() };
                let bits = match outcome.bits {
                    ClosureBits::Matrix(bits) => ReachabilityBits::Matrix(bits),
                    ClosureBits::Condensed(condensed) => ReachabilityBits::Condensed(condensed),
                };
                (bits, Report { seconds, statistics: outcome.statistics, ..report })
            }
            Algorithm::Counts => return Err(Error::invalid("counts were decided on")),
        };
        Ok(Reachability { vertices: solver.graph.vertices(), irreflexive: self.irreflexive, bits, report })
    }
}

impl Request for ClosureCounts {
    type Answer = ReachableCounts;
    type Choice = Choice;

    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<Choice>> {
        self.closure.decide_placed(solver, self.closure.place(solver), true)
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<Choice>> {
        self.closure.decide_placed(solver, Placed::on_cpu(reason), true)
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<Choice>) -> Result<ReachableCounts> {
        let irreflexive = self.closure.irreflexive;
        if !matches!(decision.choice.0, Algorithm::Counts) {
            let reachability = self.closure.run(solver, team, decision)?;
            let counts = team.install(|| reachability.reachable_counts())?;
            return Ok(ReachableCounts { counts, irreflexive, report: reachability.report });
        }
        let start = Instant::now();
        let (counts, statistics) = condensation::count(&self.closure.task(solver, team))?;
        let seconds = Seconds { solve: start.elapsed().as_secs_f64(), ..Default::default() };
        let report = Report { semiring: decision.number_types[0], seconds, statistics, ..decision.report() };
        Ok(ReachableCounts { counts, irreflexive, report })
    }
}

impl Closure {
    /// Where a request goes: to a device only if it was asked for, or is the only place with the algorithm.
    fn place(&self, solver: &Solver) -> Placed {
        let asked = self.algorithm.as_deref();
        let only = || only_on_cuda(asked, ALGORITHMS, |entry| &entry.info, cuda::ALGORITHMS, |entry| &entry.info);
        let why_not = || solver.no_device().unwrap_or_else(|| "components are found on the CPU".into());
        Placed::of(&solver.engine, only, || Err(why_not()))
    }

    /// Decides on an algorithm of this engine, for the closure or only for its `counts`.
    fn decide_placed(&self, solver: &Solver, placed: Placed, counts: bool) -> Result<Decision<Choice>> {
        let graph = &*solver.graph;
        let is_there = placed.is_on_cuda();
        let (name, reason) = match self.algorithm.as_deref() {
            Some(name) => (name, "asked for"),
            None if is_there && cuda::condensation::pays(graph) => {
                (condensation::ALGORITHM.info.name, "components are found sooner than the whole matrix is closed")
            }
            None if is_there => {
                let (algorithm, reason) = cuda::for_matrix(graph.vertices(), room(solver, 1));
                (algorithm.info.name, reason)
            }
            None if graph.is_directed() => (
                condensation::ALGORITHM.info.name,
                "one row of bits for each strongly connected component, and none of their arcs twice",
            ),
            None => (condensation::ALGORITHM.info.name, "in an undirected graph, components are all there is to find"),
        };
        let (choice, parameters) = if is_there {
            let (algorithm, parameters) = parse_algorithm(cuda::ALGORITHMS, |entry| &entry.info, name)?;
            let seconds = (algorithm.info.seconds)(&solver.workload(solver.graph_facts(), &parameters, 1));
            let may_be_shared = algorithm.may_be_shared(graph);
            let devices = if may_be_shared { solver.devices_worth(|devices| seconds / devices as f64) } else { 1 };
            (Algorithm::Cuda(algorithm, devices), parameters)
        } else {
            let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, name)?;
            let without_matrix = counts && algorithm.info.name == condensation::ALGORITHM.info.name;
            (if without_matrix { Algorithm::Counts } else { Algorithm::Cpu(algorithm) }, parameters)
        };
        let mut plan: Plan = match choice {
            Algorithm::Counts => condensation::plan_counts(graph, &solver.team, graph.vertices()),
            Algorithm::Cpu(algorithm) => (algorithm.plan)(graph, &solver.team, solver.memory),
            Algorithm::Cuda(algorithm, devices) => algorithm.plan(graph, &parameters, room(solver, devices))?,
        };
        if counts && !matches!(choice, Algorithm::Counts) {
            plan.memory("counts", graph.vertices() as u64 * 8);
        }
        Ok(Decision {
            placed,
            algorithm: name.to_owned(),
            reason: reason.to_owned(),
            parameters,
            number_types: &["bits"],
            plan,
            fallback: false,
            manner: Manner::InTurn,
            devices: 1,
            choice: Choice(choice),
        })
    }

    fn task<'a>(&self, solver: &'a Solver, team: &'a Team) -> ClosureTask<'a> {
        ClosureTask { graph: &solver.graph, irreflexive: self.irreflexive, team, control: &solver.control }
    }

    fn run_on_cuda(
        &self,
        solver: &Solver,
        decision: &Decision<Choice>,
        algorithm: &cuda::ClosureAlgorithm,
        devices: usize,
        report: Report,
    ) -> Result<(ReachabilityBits, Report)> {
        let graph = &*solver.graph;
        if graph.vertices() == 0 {
            return Ok((ReachabilityBits::Matrix(BitMatrix::new(0, 0)?), report));
        }
        let (devices, available) = solver.devices_and_memory(devices)?;
        // The devices are this request's until it is done.
        let mut state = solver.device();
        state.give_up_prepared();
        let task = cuda::ClosureTask {
            graph,
            irreflexive: self.irreflexive,
            parameters: &decision.parameters,
            control: &solver.control,
        };
        let closed = solver.team.install(|| algorithm.solve(&devices, &task, available))?;
        drop(state);
        let used = devices[..closed.devices].iter().map(|device| device.properties().ordinal);
        let [prepare, solve, download] = closed.seconds;
        let report = Report {
            engine: Engine::Cuda(used.collect()).to_string(),
            device_bytes: closed.device_bytes,
            seconds: Seconds { prepare, solve, download, ..Default::default() },
            statistics: closed.statistics,
            ..report
        };
        Ok((closed.bits, report))
    }
}

/// The room for a matrix on so many devices, which are opened if they are not yet. Where that fails, the run says why.
fn room(solver: &Solver, devices: usize) -> cuda::Room {
    match solver.devices_and_memory(devices) {
        Ok((devices, device_bytes)) => {
            let capability = devices.iter().map(|device| device.properties().compute_capability).min();
            cuda::Room { devices: devices.len(), device_bytes, capability }
        }
        Err(_) => cuda::Room { devices: 1, device_bytes: solver.limit.unwrap_or(u64::MAX), capability: None },
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
        let solver = |graph: &Graph, memory| Solver::builder(graph.clone()).threads(2).memory(memory).open().unwrap();
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
            let solver = Solver::builder(graph.clone()).threads(2).control(control).open().unwrap();
            let request = Closure::new().algorithm(algorithm.info.name);
            assert!(matches!(solver.solve(request), Err(Error::Interrupted)), "{}", algorithm.info.name);
        }
        assert!(Solver::new(graph.clone()).unwrap().solve(Closure::new().algorithm("dijkstra")).is_err());
        assert!(Solver::new(graph.clone()).unwrap().solve(Closure::new().algorithm("auto")).is_err());
    }
}
