//! Sums over breadth-first searches, where a sink takes these in place of rows: the decision, and the work.

use std::sync::Arc;
use std::time::Instant;

use super::table::Table;
use super::{Algorithm, Choice, is_by_target, predicted};
use crate::algorithms::Parameters;
use crate::cpu::level_sums as cpu;
use crate::cuda::level_sums::{self, Wanted};
use crate::graph::{Distances, MinPlus, UnitToU32, WeightKind};
use crate::problems::{Apsp, ApspSummary, LevelSums, Report, RowSink, Seconds, TableFacts, TableShape, WantedSums};
use crate::solver::Solver;
use crate::solver::costs::{COPYING, Predicted, in_words};
use crate::solver::decision::{Decision, Manner, Place, Placed, number_types};
use crate::team::Team;
use crate::{Engine, Error, Plan, Result, memory};

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

/// Decides on sums, which were asked for; on the CPU if `on_cpu` gives a reason.
pub(super) fn decide_as_asked(
    request: &Apsp,
    solver: &Solver,
    sink: Option<&dyn RowSink>,
    table: Table,
    on_cpu: Option<String>,
) -> Result<Decision<Choice>> {
    let (Some(wanted), Some(sink)) = (wanted(request, solver, sink), sink) else { return Err(no_rows()) };
    let reason = "asked for".to_owned();
    let placed = match (on_cpu, &solver.engine) {
        (Some(why), _) => Placed::on_cpu(why),
        (None, Engine::Cpu) => Placed::on_cpu("asked for".into()),
        (None, Engine::Cuda(_)) => Placed { engine: Place::Cuda, reason: "asked for".into(), optional: false },
        (None, Engine::Auto) => match on_cuda_if_quicker(solver, &table, wanted, seconds_here(solver, &table), false) {
            Ok((placed, _)) => placed,
            Err(why) => Placed::on_cpu(why),
        },
    };
    let available = match placed.engine {
        Place::Cuda => solver.closing_a_lost_device(solver.allowed_on_device())?,
        Place::Cpu => 0,
    };
    Ok(decide(solver, sink, Arc::new(table), Found { placed, reason, wanted, available }))
}

/// The same decision, or sums in place of rows, where they are predicted to be there sooner: on the CPU, or if it may be on a GPU.
pub(super) fn decide_if_quicker(
    request: &Apsp,
    solver: &Solver,
    sink: &dyn RowSink,
    rows: Decision<Choice>,
    may_be_on_cuda: bool,
) -> Decision<Choice> {
    let Some(wanted) = wanted(request, solver, Some(sink)) else { return rows };
    let (table, is_on_cuda) = (rows.choice.table.clone(), rows.placed.is_on_cuda());
    let of_rows = predicted::seconds_of_rows(solver, &table, is_on_cuda);
    let reason = |seconds| format!("{} predicted, {} with rows", in_words(seconds), in_words(of_rows));
    let (mut best, mut least) = (rows, of_rows);
    let here = seconds_here(solver, &table);
    if !matches!(solver.engine, Engine::Cuda(_)) && here < least {
        let of_threads = plan_on_cpu(solver, &table, wanted).memory_bytes();
        if of_threads <= solver.memory / 2 {
            let placed = match is_on_cuda {
                true => {
                    Placed::on_cpu(format!("sums over searches there are quicker than rows on a GPU: {}", reason(here)))
                }
                false => best.placed.clone(),
            };
            let found = Found { placed, reason: reason(here), wanted, available: 0 };
            (best, least) = (decide(solver, sink, table.clone(), found), here);
        }
    }
    if solver.engine == Engine::Cpu || !may_be_on_cuda {
        return best;
    }
    let Ok((placed, seconds)) = on_cuda_if_quicker(solver, &table, wanted, least, is_on_cuda) else {
        return best;
    };
    let Ok(available) = solver.closing_a_lost_device(solver.allowed_on_device()) else { return best };
    // Where a GPU was asked for, or has the rows, it stays.
    let placed = if best.placed.is_on_cuda() { best.placed.clone() } else { placed };
    decide(solver, sink, table, Found { placed, reason: reason(seconds), wanted, available })
}

/// Predicted seconds on the CPU.
fn seconds_here(solver: &Solver, table: &Table) -> f64 {
    let parameters = Parameters::default();
    (cpu::INFO.seconds)(&solver.workload(solver.graph_facts(), &parameters, table.sources.len()))
}

/// Where sums are on a GPU, and the seconds that they take there, if these are less than otherwise; or why not. Its opening counts unless it is opened for rows anyway.
fn on_cuda_if_quicker(
    solver: &Solver,
    table: &Table,
    wanted: WantedSums,
    otherwise: f64,
    is_on_cuda: bool,
) -> std::result::Result<(Placed, f64), String> {
    let (graph, parameters) = (&*solver.graph, Parameters::default());
    if !is_on_cuda && let Some(why) = solver.no_quicker_device(otherwise) {
        return Err(why);
    }
    let work = solver.workload(solver.graph_facts(), &parameters, table.sources.len());
    let opening = if is_on_cuda { 0.0 } else { solver.seconds_until_open() };
    let copied = (graph.arcs() * 4 + graph.vertices() * 32) as f64;
    let gpu = (level_sums::INFO.seconds)(&work) + copied / COPYING + opening;
    // The fewest searches at once need the least room; more go at once where there is more.
    let bytes = level_sums::plan(graph, Wanted::sums(wanted), 0).device_bytes();
    let reason = Predicted { gpu, cpu: otherwise }.gpu_pays(solver, bytes)?;
    Ok((Placed { engine: Place::Cuda, reason, optional: true }, gpu))
}

/// What it takes on the CPU.
fn plan_on_cpu(solver: &Solver, table: &Table, wanted: WantedSums) -> Plan {
    let mut plan = Plan::new();
    let threads = solver.team.threads().min(table.sources.len().max(1)) as u64;
    plan.memory("searches and sums of all threads", threads * cpu::memory_of_a_thread(solver.graph.csr(), wanted));
    plan
}

/// What was found to be best.
struct Found {
    placed: Placed,
    reason: String,
    wanted: WantedSums,
    /// Bytes of the device's memory, if sums are there.
    available: u64,
}

fn decide(solver: &Solver, sink: &dyn RowSink, table: Arc<Table>, found: Found) -> Decision<Choice> {
    let Found { placed, reason, wanted, available } = found;
    let graph = &*solver.graph;
    let mut plan = match placed.engine {
        Place::Cuda => level_sums::plan(graph, Wanted::sums(wanted), available),
        Place::Cpu => plan_on_cpu(solver, &table, wanted),
    };
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
        rounding: "level-sums",
    };
    sink.begin(&shape, &mut |_| Err(no_rows()))?;
    let (sums, report) = match decision.placed.engine {
        Place::Cuda => on_cuda(solver, team, decision, wanted)?,
        Place::Cpu => on_cpu(solver, team, decision, wanted)?,
    };
    sink.sums(&sums)?;
    sink.finish()?;
    let facts = TableFacts::of_levels(table.sources.len(), &sums.by_level);
    Ok(ApspSummary { facts, verified: false, report })
}

fn on_cpu(
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
    wanted: WantedSums,
) -> Result<(LevelSums, Report)> {
    let start = Instant::now();
    let sources = &decision.choice.table.sources;
    let sums = cpu::solve(solver.graph.csr(), sources, wanted, team, &solver.control)?;
    let seconds = Seconds { solve: start.elapsed().as_secs_f64(), ..Default::default() };
    let statistics = vec![("searches", sources.len() as u64)];
    Ok((sums, Report { semiring: UnitToU32::NAME, seconds, statistics, ..decision.report() }))
}

fn on_cuda(
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
    wanted: WantedSums,
) -> Result<(LevelSums, Report)> {
    let mut state = solver.device();
    let device = state.device(&solver.engine)?;
    state.give_up_prepared();
    let (sources, bytes) = (&decision.choice.table.sources, decision.plan.device_bytes());
    let wanted = Wanted::sums(wanted);
    let outcome =
        team.install(|| level_sums::solve(&device, &solver.graph, sources, wanted, bytes, &solver.control))?;
    let [prepare, solve, download] = outcome.seconds;
    let report = Report {
        engine: format!("cuda:{}", device.properties().ordinal),
        semiring: UnitToU32::NAME,
        seconds: Seconds { prepare, solve, download, ..Default::default() },
        statistics: outcome.statistics,
        device_bytes: bytes,
        ..decision.report()
    };
    Ok((outcome.sums, report))
}

#[cfg(test)]
mod tests;
