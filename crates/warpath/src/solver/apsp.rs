//! All-pairs shortest paths: the decision.

mod by_searches;
mod on_matrix;
mod output;
mod predicted;
mod ran;
mod sums;
mod table;
mod work;

use std::sync::Arc;

use self::table::{Table, block_bytes};
use super::decision::{Decision, Manner, Placed, leaves_it_to_the_cpu, number_types, only_on_cuda};
use super::{Request, Solver};
use crate::algorithms::{AlgorithmInfo, parse_algorithm};
use crate::cpu::apsp::{ALGORITHMS, ApspAlgorithm};
use crate::cuda::apsp as cuda;
use crate::cuda::apsp::{MatrixAlgorithm, searches::SearchesAlgorithm, tiled_floyd_warshall};
use crate::cuda::bfs::many_sources;
use crate::cuda::level_sums;
use crate::graph::{Graph, WeightKind};
use crate::problems::{Apsp, ApspIntoSink, ApspSummary, DistanceMatrix, RowSink, Tolerance, WantedSums};
use crate::team::Team;
use crate::{Error, Plan, Result};

/// The algorithm that was decided on, and the table whose distances it finds.
#[derive(Debug, Clone)]
pub struct Choice {
    algorithm: Algorithm,
    table: Arc<Table>,
}

/// An algorithm of one of the engines.
#[derive(Debug, Clone, Copy)]
pub(super) enum Algorithm {
    Cpu(&'static ApspAlgorithm),
    /// On a GPU, on the matrix of all pairs.
    OnMatrix(&'static MatrixAlgorithm),
    /// On a GPU, by searches.
    BySearches(&'static SearchesAlgorithm),
    /// On either engine, sums over searches in place of rows.
    Sums(WantedSums),
}

impl Algorithm {
    fn on_cuda(algorithm: &'static cuda::ApspAlgorithm) -> Self {
        match algorithm {
            cuda::ApspAlgorithm::OnMatrix(algorithm) => Algorithm::OnMatrix(algorithm),
            cuda::ApspAlgorithm::BySearches(algorithm) => Algorithm::BySearches(algorithm),
        }
    }

    fn info(&self) -> &'static AlgorithmInfo {
        match self {
            Algorithm::Cpu(algorithm) => &algorithm.info,
            Algorithm::OnMatrix(algorithm) => &algorithm.info,
            Algorithm::BySearches(algorithm) => &algorithm.info,
            Algorithm::Sums(_) => &level_sums::INFO,
        }
    }

    /// Whether it finds intermediate vertices.
    fn has_intermediates(&self) -> bool {
        matches!(self, Algorithm::OnMatrix(algorithm) if algorithm.has_intermediates())
    }

    /// Whether a hierarchy answers.
    fn needs_metric(&self) -> bool {
        match self {
            Algorithm::Cpu(algorithm) => algorithm.needs_metric(),
            Algorithm::OnMatrix(_) | Algorithm::Sums(_) => false,
            Algorithm::BySearches(algorithm) => algorithm.needs_metric,
        }
    }

    /// How many rows share work on each thread.
    fn rows_together(&self) -> usize {
        match self {
            Algorithm::Cpu(algorithm) => algorithm.rows_together,
            Algorithm::OnMatrix(_) | Algorithm::BySearches(_) | Algorithm::Sums(_) => 0,
        }
    }

    /// Whether it works on the square matrix of all vertices.
    fn needs_matrix(&self) -> bool {
        match self {
            Algorithm::Cpu(algorithm) => algorithm.needs_matrix,
            Algorithm::OnMatrix(_) => true,
            Algorithm::BySearches(_) | Algorithm::Sums(_) => false,
        }
    }
}

impl Request for Apsp {
    type Answer = DistanceMatrix;
    type Choice = Choice;

    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<Choice>> {
        decide(self, solver, None, None)
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<Choice>> {
        decide(self, solver, None, Some(reason))
    }

    fn decide_again(
        &self,
        solver: &Solver,
        _: Option<usize>,
        failed: &Decision<Choice>,
        error: Error,
    ) -> Result<Decision<Choice>> {
        decide_again(self, solver, None, failed, error)
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<Choice>) -> Result<DistanceMatrix> {
        work::matrix(self, solver, team, decision)
    }
}

impl Request for ApspIntoSink<'_> {
    type Answer = ApspSummary;
    type Choice = Choice;

    fn decide(&self, solver: &Solver, _: Option<usize>) -> Result<Decision<Choice>> {
        decide(&self.request, solver, Some(&*self.sink), None)
    }

    fn decide_on_cpu(&self, solver: &Solver, _: Option<usize>, reason: String) -> Result<Decision<Choice>> {
        decide(&self.request, solver, Some(&*self.sink), Some(reason))
    }

    /// Another algorithm has rows in another order, so nothing else is tried once the sink has rows.
    fn decide_again(
        &self,
        solver: &Solver,
        _: Option<usize>,
        failed: &Decision<Choice>,
        error: Error,
    ) -> Result<Decision<Choice>> {
        let failed = Decision { fallback: failed.fallback && !self.begun, ..failed.clone() };
        decide_again(&self.request, solver, Some(&*self.sink), &failed, error)
    }

    fn has_sink(&self) -> bool {
        true
    }

    fn run(&mut self, solver: &Solver, team: &Team, decision: &Decision<Choice>) -> Result<ApspSummary> {
        work::rows(self, solver, team, decision)
    }
}

/// An algorithm, and why.
struct Picked {
    placed: Placed,
    algorithm: String,
    reason: String,
}

/// Decides on a matrix, or on rows for a sink; on the CPU if `on_cpu` gives a reason.
fn decide(
    request: &Apsp,
    solver: &Solver,
    sink: Option<&dyn RowSink>,
    on_cpu: Option<String>,
) -> Result<Decision<Choice>> {
    let table = table(request, solver, sink)?;
    if request.algorithm.as_deref() == Some(level_sums::INFO.name) {
        return sums::decide_as_asked(request, solver, sink, table, on_cpu);
    }
    let may_be_on_cuda = on_cpu.is_none();
    let placed = match on_cpu {
        Some(reason) => Placed::on_cpu(reason),
        None => {
            let asked = request.algorithm.as_deref();
            let only =
                || only_on_cuda(asked, ALGORITHMS, |entry| &entry.info, cuda::ALGORITHMS, cuda::ApspAlgorithm::info);
            Placed::of(&solver.engine, only, || predicted::pays(request, solver, &table))
        }
    };
    let (algorithm, reason) = match &request.algorithm {
        Some(name) => (name.clone(), "asked for".to_owned()),
        None if placed.is_on_cuda() => predicted::pick(solver, &table),
        None => predicted::pick_on_cpu(solver, &table),
    };
    let decided = decide_on(request, solver, sink, table, Picked { placed, algorithm, reason })?;
    Ok(match sink.filter(|_| request.algorithm.is_none()) {
        Some(sink) => sums::decide_if_quicker(request, solver, sink, decided, may_be_on_cuda),
        None => decided,
    })
}

/// Whether the distances to a vertex are those from it, and all are asked for.
fn is_by_target(request: &Apsp, solver: &Solver) -> bool {
    request.sources.is_none() && request.targets.is_none() && solver.is_symmetric()
}

fn table(request: &Apsp, solver: &Solver, sink: Option<&dyn RowSink>) -> Result<Table> {
    if sink.is_some() && request.successors {
        return Err(Error::invalid("rows that go into a sink have no successors: ask for a matrix"));
    }
    if sink.is_some() && request.intermediates {
        return Err(Error::invalid("rows that go into a sink have no intermediate vertices: ask for a matrix"));
    }
    let facts_do =
        sink.is_some_and(|sink| sink.takes_facts(false) || sink.takes_facts(true) && is_by_target(request, solver));
    Table::new(request, solver, facts_do)
}

/// Decides on this algorithm.
fn decide_on(
    request: &Apsp,
    solver: &Solver,
    sink: Option<&dyn RowSink>,
    table: Table,
    picked: Picked,
) -> Result<Decision<Choice>> {
    let Picked { placed, algorithm: name, reason } = picked;
    let graph = &*solver.graph;
    let (algorithm, parameters) = if placed.is_on_cuda() {
        let (algorithm, parameters) = parse_algorithm(cuda::ALGORITHMS, cuda::ApspAlgorithm::info, &name)?;
        (Algorithm::on_cuda(algorithm), parameters)
    } else {
        let (algorithm, parameters) = parse_algorithm(ALGORITHMS, |entry| &entry.info, &name)?;
        (Algorithm::Cpu(algorithm), parameters)
    };
    if graph.has_negative_weights() && !algorithm.info().negative_weights {
        return Err(Error::invalid(format!("`{}` needs weights of 0 or more", algorithm.info().name)));
    }
    if graph.weight_kind() != WeightKind::Unit && many_sources::are_on_host(&parameters) {
        return Err(Error::invalid("`arcs=host` is for searches without weights; `zero-copy` is for weights"));
    }
    let mut reason = if algorithm.needs_metric() { in_its_order(graph, algorithm, reason)? } else { reason };
    if request.intermediates && !algorithm.has_intermediates() {
        return Err(on_matrix::without_intermediates(algorithm.info().name));
    }
    if placed.is_on_cuda() {
        let _ = table.devices.set(predicted::devices(&algorithm, &parameters, solver, &table));
    }
    let mut plan = Plan::new();
    match sink {
        None => table.plan_result(request, solver, &mut plan),
        Some(_) => {
            let all = table.cells().saturating_mul(table.distance_bytes);
            plan.memory("blocks of rows", block_bytes(solver, &table, algorithm.rows_together()).min(all));
        }
    }
    match algorithm {
        Algorithm::OnMatrix(algorithm) => {
            let state = sink.and_then(RowSink::kept_state);
            on_matrix::plan(algorithm, &parameters, solver, &table, state.as_ref(), &mut plan)?;
        }
        Algorithm::BySearches(algorithm) => {
            let layout = by_searches::plan(algorithm, &parameters, solver, &table, &mut plan);
            if !layout.is_empty() {
                reason = format!("{reason}; as `{layout}`, since devices have too little memory for more");
            }
        }
        // They are planned where they are decided on.
        Algorithm::Sums(_) => {}
        Algorithm::Cpu(algorithm) => {
            table.plan_on_cpu(algorithm, request, solver, &mut plan, sink.is_none());
            if algorithm.needs_metric() {
                solver.plan_hierarchy(false, &mut plan);
            }
        }
    }
    if let Some(sink) = sink {
        sink.plan(table.sources.len() as u64, table.columns, table.distance_bytes, &mut plan);
    }
    // What is not needed comes last, if there is room.
    let is_swept = matches!(algorithm, Algorithm::Cpu(algorithm) if algorithm.needs_metric());
    if is_swept && table.targets.is_none() && !table.facts_of_whole_rows() {
        solver.plan_labels(table.sources.len(), false, &mut plan);
    }
    Ok(Decision {
        fallback: placed.optional,
        placed,
        algorithm: name,
        reason,
        parameters,
        number_types: number_types(graph, table.distance_bytes == 4),
        plan,
        manner: Manner::InTurn,
        devices: 1,
        choice: Choice { algorithm, table: Arc::new(table) },
    })
}

/// The reason, with what there is to say of floats, which a hierarchy adds in another order; an error if it does not take the weights.
fn in_its_order(graph: &Graph, algorithm: Algorithm, reason: String) -> Result<String> {
    let floats = matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
    if !matches!(algorithm, Algorithm::Cpu(_)) && (floats || graph.weight_kind() == WeightKind::I32) {
        return Err(Error::invalid(super::hierarchy::SIGNED));
    }
    if !floats {
        return Ok(reason);
    }
    if graph.has_negative_weights() {
        let name = algorithm.info().name;
        return Err(Error::invalid(format!(
            "`{name}` takes floats of 0 or more: rounding could make a cycle negative"
        )));
    }
    let tolerance = Tolerance::of_reassociated(graph);
    Ok(format!(
        "{reason}; it adds floats in another order than searches, so distances may differ by {tolerance:.1e} of theirs"
    ))
}

/// Decides on the CPU if a device has failed that was only predicted to be quicker. If the device was asked for, an
/// algorithm on the matrix takes weights that are too great for searches, if there is room.
fn decide_again(
    request: &Apsp,
    solver: &Solver,
    sink: Option<&dyn RowSink>,
    failed: &Decision<Choice>,
    error: Error,
) -> Result<Decision<Choice>> {
    if failed.fallback {
        // Floats added up in another order may leave their range, or make a cycle negative, where sums along paths do
        // not; and weights made 0 or more may be too great for a device.
        let graph = &*solver.graph;
        let floats = matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64) || graph.has_negative_weights();
        let is_about_floats = matches!(error, Error::DistanceOverflow { .. } | Error::InvalidRequest(_)) && floats;
        if leaves_it_to_the_cpu(&error) || is_about_floats {
            return decide(request, solver, sink, Some(error.to_string()));
        }
        return Err(error);
    }
    let are_picked = request.algorithm.is_none() && matches!(failed.choice.algorithm, Algorithm::BySearches(_));
    match error {
        // This is known before there are rows, except those of an earlier run, which are in the order of the matrix.
        Error::InvalidRequest(reason) if are_picked && reason == by_searches::TOO_GREAT => {
            let (placed, algorithm) = (failed.placed.clone(), tiled_floyd_warshall::ALGORITHM.info.name.to_owned());
            let picked = Picked { placed, algorithm, reason };
            decide_on(request, solver, sink, table(request, solver, sink)?, picked)
        }
        Error::OutOfMemory { .. } if failed.reason == by_searches::TOO_GREAT => {
            Err(Error::invalid(by_searches::TOO_GREAT))
        }
        error => Err(error),
    }
}

/// Whether some weights are floats below 0: their cycles are exact only if lengths are added up along paths.
fn has_exact_floats(graph: &Graph) -> bool {
    graph.has_negative_weights() && matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64)
}

#[cfg(test)]
mod tests;
