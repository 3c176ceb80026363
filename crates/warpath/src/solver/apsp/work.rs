//! All-pairs shortest paths: carries out the decision and makes the result.

use std::time::Instant;

use super::super::hierarchy::room_for_labels;
use super::on_matrix::Beside;
use super::output::{Rows, SinkRows};
use super::ran::Ran;
use super::table::block_bytes;
use super::{Algorithm, Choice, by_searches, on_matrix, predicted, sums};
use crate::all_pairs::{ApspOutput, ApspTask};
use crate::cpu::apsp::MinPlusOnCpu;
use crate::cuda::apsp::MinPlusOnDevice;
use crate::graph::{DistanceValue, Distances, MinPlus, NO_VERTEX};
use crate::huge_pages::on_huge_pages;
use crate::problems::{
    Apsp, ApspIntoSink, ApspSummary, DistanceMatrix, Intermediates, KeptState, Report, RowSink, Seconds, Successors,
};
use crate::solver::Solver;
use crate::solver::decision::Decision;
use crate::solver::semirings::{in_semiring, other_weights};
use crate::team::Team;
use crate::{Error, Result, memory};

/// The matrix of distances, verified and with successors if they are wanted.
pub(super) fn matrix(
    request: &Apsp,
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
) -> Result<DistanceMatrix> {
    let mut matrix = in_semiring!(solver.graph, L, wide => matrix_in::<L>(request, solver, team, decision, wide))?;
    if request.verified {
        let start = Instant::now();
        team.install(|| matrix.verify(&solver.graph))?;
        matrix.verified = true;
        matrix.report.seconds.verify = start.elapsed().as_secs_f64();
    }
    if request.successors && matrix.successors.is_none() {
        let start = Instant::now();
        matrix.successors = Some(team.install(|| matrix.successors(&solver.graph))?);
        matrix.report.seconds.predecessors = start.elapsed().as_secs_f64();
    }
    Ok(matrix)
}

fn matrix_in<L: MinPlusOnCpu + MinPlusOnDevice>(
    request: &Apsp,
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
    wide: bool,
) -> Result<DistanceMatrix> {
    let table = &*decision.choice.table;
    let vertices = solver.graph.vertices();
    // Some algorithms make rows in less time than the system needs for their small pages.
    let mut distances = on_huge_pages(memory::zeroed("the matrix of distances", table.cells() as usize)?);
    let mut hops = match request.successors {
        true => Some(on_huge_pages(memory::filled("successors", table.sources.len() * vertices, NO_VERTEX)?)),
        false => None,
    };
    let pairs = vertices.saturating_mul(vertices);
    let mut over = match request.intermediates {
        true => Some(on_huge_pages(memory::filled("intermediate vertices", pairs, NO_VERTEX)?)),
        false => None,
    };
    let output = ApspOutput::Matrix(&mut distances);
    let beside = Beside { successors: hops.as_deref_mut(), intermediates: over.as_deref_mut() };
    let ran = run::<L>(solver, team, decision, output, beside)?;
    let hops = hops.filter(|_| ran.has_successors);
    Ok(DistanceMatrix {
        sources: memory::copied("the list of sources", &table.sources)?,
        targets: request.targets.clone(),
        columns: table.columns as usize,
        distances: L::Distance::into_distances(distances),
        successors: hops.map(|hops| Successors::new(hops, vertices)),
        intermediates: over.map(|over| Intermediates::new(over, vertices)),
        reassociated: reassociates::<L>(&decision.choice),
        verified: false,
        report: report::<L>(decision, wide, ran),
    })
}

/// Hands the rows to the sink.
pub(super) fn rows(
    request: &mut ApspIntoSink<'_>,
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
) -> Result<ApspSummary> {
    let ApspIntoSink { request, sink, begun } = request;
    sink.reserve()?;
    if let Algorithm::Sums(wanted) = decision.choice.algorithm {
        *begun = false;
        return sums::run(solver, team, decision, &mut **sink, wanted);
    }
    let verified = request.verified;
    let solved = in_semiring!(solver.graph, L, wide => {
        rows_in::<L>(solver, team, decision, verified, &mut **sink, begun, wide)
    });
    if let Err(Error::NegativeCycle(_)) = solved {
        sink.discard();
    }
    solved
}

fn rows_in<L: MinPlusOnCpu + MinPlusOnDevice>(
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
    verified: bool,
    sink: &mut dyn RowSink,
    begun: &mut bool,
    wide: bool,
) -> Result<ApspSummary> {
    let choice = &decision.choice;
    let rows = Rows {
        graph: &solver.graph,
        table: &choice.table,
        algorithm: choice.algorithm.info().name,
        rounding: rounding::<L>(solver, decision, sink.kept_state().as_ref())?,
        verified,
        reassociated: reassociates::<L>(choice),
    };
    let mut rows = SinkRows::<L>::new(rows, sink, begun);
    let mut ran = run::<L>(solver, team, decision, ApspOutput::Blocks(&mut rows), Beside::default())?;
    // The CPU's algorithms hand out rows while they work.
    if matches!(choice.algorithm, Algorithm::Cpu(_)) {
        ran.seconds.solve -= rows.verifying + rows.writing;
    }
    rows.finish()?;
    (ran.seconds.verify, ran.seconds.write) = (rows.verifying, rows.writing);
    Ok(ApspSummary { facts: rows.facts, verified, report: report::<L>(decision, wide, ran) })
}

/// Runs the algorithm into `output`, and writes what else is wanted, as far as it finds that, into `beside`.
fn run<L: MinPlusOnCpu + MinPlusOnDevice>(
    solver: &Solver,
    team: &Team,
    decision: &Decision<Choice>,
    output: ApspOutput<'_, L::Distance>,
    beside: Beside<'_>,
) -> Result<Ran> {
    let graph = &*solver.graph;
    let (table, parameters) = (&*decision.choice.table, &decision.parameters);
    let start = Instant::now();
    let metric = decision.choice.algorithm.needs_metric().then(|| solver.metric()).transpose()?;
    if let Some(metric) = metric {
        metric.limit_labels(room_for_labels(&decision.plan));
    }
    let prepare = start.elapsed().as_secs_f64();
    let task = ApspTask::<L> {
        adjacency: graph.csr().adjacency::<L::Weight>().ok_or_else(other_weights)?,
        graph,
        sources: &table.sources,
        targets: table.targets.as_deref(),
        block_bytes: block_bytes(solver, table, decision.choice.algorithm.rows_together()),
        parameters,
        metric,
        team,
        control: &solver.control,
    };
    let mut ran = match decision.choice.algorithm {
        Algorithm::Cpu(algorithm) => {
            let start = Instant::now();
            let statistics = algorithm.solve(&task, output)?;
            let seconds = Seconds { prepare, solve: start.elapsed().as_secs_f64(), ..Default::default() };
            return Ok(Ran { seconds, statistics, ..Ran::on("cpu") });
        }
        Algorithm::OnMatrix(algorithm) => on_matrix::run(solver, algorithm, &task, table, output, beside)?,
        Algorithm::BySearches(algorithm) => by_searches::run(solver, algorithm, &task, table, output)?,
        Algorithm::Sums(_) => return Err(sums::no_rows()),
    };
    ran.seconds.prepare += prepare;
    let seconds = predicted::on_device(decision.choice.algorithm.info(), parameters, solver, table);
    ran.statistics.push(("predicted_nanoseconds", (seconds * 1e9) as u64));
    if let Some(nanoseconds) = solver.hierarchy.nanoseconds_on_device().filter(|_| task.metric.is_some()) {
        ran.statistics.push(("customization_device_nanoseconds", nanoseconds));
    }
    Ok(ran)
}

fn report<L: MinPlus>(decision: &Decision<Choice>, wide: bool, ran: Ran) -> Report {
    Report {
        engine: ran.engine,
        semiring: L::NAME,
        repeated_wide: wide,
        seconds: ran.seconds,
        statistics: ran.statistics,
        device_bytes: ran.device_bytes,
        ..decision.report()
    }
}

/// Whether this algorithm adds floats up in another order than along the path.
fn reassociates<L: MinPlus>(choice: &Choice) -> bool {
    (choice.algorithm.needs_matrix() || choice.algorithm.needs_metric())
        && matches!(L::Distance::into_distances(Vec::new()), Distances::F32(_) | Distances::F64(_))
}

/// A text for everything that decides how floats are rounded.
fn rounding<L: MinPlusOnDevice>(
    solver: &Solver,
    decision: &Decision<Choice>,
    state: Option<&KeptState>,
) -> Result<String> {
    match decision.choice.algorithm {
        Algorithm::OnMatrix(algorithm) => {
            on_matrix::rounding::<L>(algorithm, &decision.parameters, solver, &decision.choice.table, state)
        }
        Algorithm::BySearches(algorithm) => Ok(format!("cuda {}", algorithm.info.name)),
        Algorithm::Sums(_) => Err(sums::no_rows()),
        Algorithm::Cpu(algorithm) => Ok(format!("cpu {}", algorithm.info.name)),
    }
}
