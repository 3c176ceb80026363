//! Sums over breadth-first searches on a GPU, where a sink takes these in place of rows: the decision, and the work.

use std::sync::Arc;

use super::table::Table;
use super::{Algorithm, Choice, is_by_target, predicted};
use crate::algorithms::Parameters;
use crate::cuda::level_sums::{self, Wanted};
use crate::graph::{Distances, MinPlus, UnitToU32, WeightKind};
use crate::problems::{Apsp, ApspSummary, Report, RowSink, Seconds, TableFacts, TableShape, WantedSums};
use crate::solver::Solver;
use crate::solver::costs::{COPYING, Predicted, in_words};
use crate::solver::decision::{Decision, Manner, Place, Placed, number_types};
use crate::team::Team;
use crate::{Engine, Error, Result, memory};

/// The error of whoever asks for rows.
pub(super) fn no_rows() -> Error {
    Error::invalid(format!(
        "`{}` makes no rows: it is for eccentricities, closeness, harmonic centrality or a histogram of graphs without weights, to all vertices, and without a check",
        level_sums::INFO.name
    ))
}

/// Which sums do for a request; `None` if it needs rows.
fn wanted(request: &Apsp, solver: &Solver, sink: Option<&dyn RowSink>) -> Option<WantedSums> {
    let graph = &*solver.graph;
    let has_rows = graph.weight_kind() != WeightKind::Unit || request.targets.is_some() || request.verified;
    let sink = sink.filter(|_| !has_rows && graph.vertices() > 0)?;
    sink.wanted_sums(false).or_else(|| sink.wanted_sums(true).filter(|_| is_by_target(request, solver)))
}

/// Decides on sums, which were asked for.
pub(super) fn decide_as_asked(
    request: &Apsp,
    solver: &Solver,
    sink: Option<&dyn RowSink>,
    table: Table,
) -> Result<Decision<Choice>> {
    let (Some(wanted), Some(sink)) = (wanted(request, solver, sink), sink) else { return Err(no_rows()) };
    if solver.engine == Engine::Cpu {
        return Err(Error::invalid(format!("only a GPU has `{}`", level_sums::INFO.name)));
    }
    let available = solver.closing_a_lost_device(solver.allowed_on_device())?;
    let placed = Placed { engine: Place::Cuda, reason: "only there is this algorithm".into(), optional: false };
    let found = Found { placed, reason: "asked for".into(), wanted, available };
    Ok(decide(solver, sink, Arc::new(table), found))
}

/// The same decision, or sums in place of rows, where they are predicted to be there sooner.
pub(super) fn decide_if_quicker(
    request: &Apsp,
    solver: &Solver,
    sink: &dyn RowSink,
    rows: Decision<Choice>,
) -> Decision<Choice> {
    let Some(wanted) = wanted(request, solver, Some(sink)).filter(|_| solver.engine != Engine::Cpu) else {
        return rows;
    };
    let (graph, table, is_on_cuda) = (&*solver.graph, rows.choice.table.clone(), rows.placed.is_on_cuda());
    let parameters = Parameters::default();
    let work = solver.workload(solver.graph_facts(), &parameters, table.sources.len());
    let copied = (graph.arcs() * 4 + graph.vertices() * 32) as f64;
    let opening = if is_on_cuda { 0.0 } else { solver.seconds_until_open() };
    let sums = (level_sums::INFO.seconds)(&work) + copied / COPYING + opening;
    let others = predicted::seconds_of_rows(solver, &table, is_on_cuda);
    if sums >= others || !is_on_cuda && solver.no_quicker_device(others).is_some() {
        return rows;
    }
    let Ok(available) = solver.closing_a_lost_device(solver.allowed_on_device()) else { return rows };
    let bytes = level_sums::plan(graph, Wanted::sums(wanted), available).device_bytes();
    let placed = match rows.placed.engine {
        Place::Cuda if bytes <= available => rows.placed.clone(),
        Place::Cuda => return rows,
        Place::Cpu => match (Predicted { gpu: sums, cpu: others }).gpu_pays(solver, bytes) {
            Ok(reason) => Placed { engine: Place::Cuda, reason, optional: true },
            Err(_) => return rows,
        },
    };
    let reason = format!("{} predicted, {} with rows", in_words(sums), in_words(others));
    decide(solver, sink, table, Found { placed, reason, wanted, available })
}

/// What was found to be best.
struct Found {
    placed: Placed,
    reason: String,
    wanted: WantedSums,
    /// Bytes of the device's memory.
    available: u64,
}

fn decide(solver: &Solver, sink: &dyn RowSink, table: Arc<Table>, found: Found) -> Decision<Choice> {
    let Found { placed, reason, wanted, available } = found;
    let graph = &*solver.graph;
    let mut plan = level_sums::plan(graph, Wanted::sums(wanted), available);
    plan.memory("sums", 24 * graph.vertices() as u64);
    plan.memory("the order of the rows", 8 * table.sources.len() as u64);
    sink.plan(table.sources.len() as u64, table.columns, table.distance_bytes, &mut plan);
    Decision {
        fallback: placed.optional,
        placed,
        algorithm: level_sums::INFO.name.into(),
        reason,
        parameters: Parameters::default(),
        number_types: number_types(graph, true),
        plan,
        manner: Manner::InTurn,
        devices: 1,
        choice: Choice { algorithm: Algorithm::Sums(wanted), table },
    }
}

/// Hands the sums to the sink.
pub(super) fn run(
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
    sink: &mut dyn RowSink,
    wanted: WantedSums,
) -> Result<ApspSummary> {
    let (graph, table) = (&*solver.graph, &*decision.choice.table);
    let order: Vec<usize> = memory::listed("the order of the rows", 0..table.sources.len())?;
    let shape = TableShape {
        graph,
        sources: &table.sources,
        targets: None,
        order: &order,
        semiring: UnitToU32::NAME,
        distances: &Distances::U32(Vec::new()),
        algorithm: level_sums::INFO.name,
        rounding: "cuda level-sums",
    };
    sink.begin(&shape, &mut |_| Err(no_rows()))?;
    let mut state = solver.device();
    let device = state.device(&solver.engine)?;
    state.give_up_prepared();
    let bytes = decision.plan.device_bytes();
    let outcome = team
        .install(|| level_sums::solve(&device, graph, &table.sources, Wanted::sums(wanted), bytes, &solver.control))?;
    drop(state);
    sink.sums(&outcome.sums)?;
    sink.finish()?;
    let [prepare, solve, download] = outcome.seconds;
    let report = Report {
        engine: format!("cuda:{}", device.properties().ordinal),
        semiring: UnitToU32::NAME,
        seconds: Seconds { prepare, solve, download, ..Default::default() },
        statistics: outcome.statistics,
        device_bytes: bytes,
        ..decision.report()
    };
    let facts = TableFacts::of_levels(table.sources.len(), &outcome.sums.by_level);
    Ok(ApspSummary { facts, verified: false, report })
}

#[cfg(test)]
mod tests;
