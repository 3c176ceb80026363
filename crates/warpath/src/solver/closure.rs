//! Transitive closure: choosing the algorithm, running it, making the result.

use std::time::Instant;

use super::{Request, Solver};
use crate::Result;
use crate::algorithms::{Parameters, Statistics, parse_algorithm};
use crate::cpu::closure::{ALGORITHMS, ClosureAlgorithm, ClosureBits, ClosureTask, condensation};
use crate::plan::Plan;
use crate::problems::{
    Closure, ClosureCounts, Problem, Reachability, ReachabilityBits, ReachableCounts, Report, Seconds,
};

/// The algorithm for a request, its parameters, and why.
struct Choice {
    algorithm: &'static ClosureAlgorithm,
    parameters: Parameters,
    name: String,
    reason: String,
    engine_reason: String,
}

fn choose(closure: &Closure, solver: &Solver<'_>) -> Result<Choice> {
    let engine_reason = solver.only_on_cpu(Problem::Closure)?;
    let parse = |name: &str| parse_algorithm(ALGORITHMS, |entry| &entry.info, name);
    if let Some(name) = closure.algorithm.as_deref().filter(|&name| name != "auto") {
        let (algorithm, parameters) = parse(name)?;
        return Ok(Choice {
            algorithm,
            parameters,
            name: name.to_owned(),
            reason: "as asked for".into(),
            engine_reason,
        });
    }
    let reason = if solver.graph.is_directed() {
        "one row of bits for each strongly connected component, and none of their arcs twice"
    } else {
        "in an undirected graph, components are all there is to find"
    };
    let (algorithm, parameters) = parse(condensation::ALGORITHM.info.name)?;
    Ok(Choice { algorithm, parameters, name: algorithm.info.name.to_owned(), reason: reason.into(), engine_reason })
}

fn report(choice: Choice, solve: f64, statistics: Statistics) -> Report {
    Report {
        engine: "cpu".into(),
        engine_reason: choice.engine_reason,
        algorithm: choice.name,
        reason: choice.reason,
        lane: "bits",
        seconds: Seconds { solve, ..Seconds::default() },
        statistics,
        ..Default::default()
    }
}

impl Request for Closure {
    type Answer = Reachability;

    /// An upper bound if that fits in the memory allowed; otherwise the components are counted, in O(V + E).
    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        let choice = choose(self, solver)?;
        Ok((choice.algorithm.plan)(solver.graph, &solver.team, solver.memory))
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<Reachability> {
        let choice = choose(&self, solver)?;
        let start = Instant::now();
        let outcome = (choice.algorithm.solve)(&ClosureTask {
            graph: solver.graph,
            irreflexive: self.irreflexive,
            parameters: &choice.parameters,
            team: &solver.team,
            control: &solver.control,
        })?;
        let report = report(choice, start.elapsed().as_secs_f64(), outcome.statistics);
        let bits = match outcome.bits {
            ClosureBits::Matrix(bits) => ReachabilityBits::Matrix(bits),
            ClosureBits::Condensed(condensed) => ReachabilityBits::Condensed(condensed),
        };
        Ok(Reachability { vertices: solver.graph.vertices(), irreflexive: self.irreflexive, bits, report })
    }
}

impl Request for ClosureCounts {
    type Answer = ReachableCounts;

    fn plan(&self, solver: &Solver<'_>) -> Result<Plan> {
        let choice = choose(&self.closure, solver)?;
        if choice.algorithm.info.name != condensation::ALGORITHM.info.name {
            let mut plan = self.closure.plan(solver)?;
            plan.memory("counts", solver.graph.vertices() as u64 * 8);
            return Ok(plan);
        }
        Ok(condensation::plan_counts(solver.graph, &solver.team, solver.graph.vertices()))
    }

    fn solve_on(self, solver: &Solver<'_>) -> Result<ReachableCounts> {
        let irreflexive = self.closure.irreflexive;
        let choice = choose(&self.closure, solver)?;
        if choice.algorithm.info.name != condensation::ALGORITHM.info.name {
            let reachability = self.closure.solve_on(solver)?;
            let counts = solver.team.install(|| reachability.reachable_counts());
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
        let report = report(choice, start.elapsed().as_secs_f64(), statistics);
        Ok(ReachableCounts { counts, irreflexive, report })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Control, Error, Graph};

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
    }
}
