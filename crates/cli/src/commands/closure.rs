//! `warpath closure`: which vertices can reach which.

use serde::Serialize;
use warpath::problems::{ReachableCounts, Report};
use warpath::tables::{Cell, ColumnType};
use warpath::{Closure, Error, Graph, Plan, VertexId};

use crate::answer::{Answer, PeakBytes, Times, timed};
use crate::arguments::{ClosureArguments, SolvingArguments};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{Output, OutputKind};
use crate::print::{self, Table};
use crate::setup::{Setup, inputs};
use crate::table::{self, Names};

#[derive(Debug, Serialize)]
struct ClosureFound {
    #[serde(flatten)]
    answer: Answer,
    irreflexive: bool,
    reachable_pairs: u64,
    verified: Option<bool>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

pub(crate) fn run(arguments: ClosureArguments) -> Result<ExitCode, Failure> {
    let solving = &arguments.solving;
    let SolvingArguments { common, plan, .. } = solving;
    let setup = Setup::to_solve(solving)?.ignoring_weights(true);
    let create = |path| Output::create(path, &inputs(&arguments.graph, &[]), common, &setup.control);
    let mut output = arguments.output.as_deref().map(create).transpose()?;
    let (graph, load) = setup.load(&arguments.graph)?;
    let (solver, opening) = timed(|| setup.solver(&graph, None))?;
    let mut request = Closure::new();
    if arguments.irreflexive {
        request = request.irreflexive();
    }
    if let Some(algorithm) = &arguments.algorithm.algorithm {
        request = request.algorithm(algorithm);
    }
    let wants_matrix = matches!(output, Some((_, OutputKind::Npy)));
    if plan.plan {
        let decision = if wants_matrix { solver.decide(&request)? } else { solver.decide(&request.counts_only())? };
        let disk = |plan: &mut Plan| {
            if wants_matrix {
                plan.disk("the matrix", (graph.vertices() as u64).saturating_pow(2));
            }
        };
        setup.print_plan(&solver, &decision, None, disk, arguments.output.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    let written =
        |result: std::io::Result<()>, output: &Output| result.map_err(|error| Error::io(output.path(), error));
    let (reachable_pairs, report, verify, write): (u64, Report, f64, f64);
    // Make the matrix only if it is written: the counts alone take far less memory.
    if let Some((output, OutputKind::Npy)) = &mut output {
        let mut space = warpath::Plan::new();
        space.disk("the matrix", (graph.vertices() as u64).saturating_pow(2));
        space.check_disk(output.path())?;
        let reachability = solver.solve(request)?;
        verify = timed(|| if arguments.verify { Ok(reachability.verify(&graph)?) } else { Ok(()) })?.1;
        write = timed(|| {
            let result = reachability.write_npy(output);
            Ok(written(result, output)?)
        })?
        .1;
        reachable_pairs = reachability.reachable_pairs();
        report = reachability.report().clone();
    } else {
        let counts = solver.solve(request.counts_only())?;
        verify = timed(|| if arguments.verify { Ok(counts.verify(&graph)?) } else { Ok(()) })?.1;
        write = timed(|| match output.take() {
            Some((output, kind)) => Ok(write_counts(table::Table::new(output, kind), &graph, &counts)?),
            None => Ok(()),
        })?
        .1;
        reachable_pairs = counts.reachable_pairs();
        report = counts.report().clone();
    }
    let ((), finishing) = timed(|| Ok(output.map_or(Ok(()), |(output, _)| output.finish())?))?;
    let seconds = Times { verify, write: write + finishing, ..Times::of(&report, load, opening) };
    let found = ClosureFound {
        answer: Answer::new("closure", &solver, &report, solving),
        irreflexive: arguments.irreflexive,
        reachable_pairs,
        verified: arguments.verify.then_some(true),
        seconds,
        peak_bytes: PeakBytes::of([&report]),
    };
    if common.json {
        return print::json(&found).map(|()| ExitCode::SUCCESS);
    }
    if !common.quiet && arguments.output.as_deref().is_none_or(|path| path.as_os_str() != "-") {
        let mut table = Table::new();
        found.answer.rows(&mut table, solving);
        let all = (graph.vertices() as u128).pow(2);
        let share = if all == 0 { 0.0 } else { 100.0 * reachable_pairs as f64 / all as f64 };
        let verified = if arguments.verify { ", verified" } else { "" };
        let pairs = print::grouped(reachable_pairs.into());
        let all = print::count(all, "ordered pair", "ordered pairs");
        table.row("reachable", format!("{pairs} of {all} ({share:.3} %){verified}"));
        if let Some(path) = &arguments.output {
            table.row("written", path.display().to_string());
        }
        table.row("time", found.seconds.text());
        table.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes how many vertices each vertex reaches.
fn write_counts(mut table: table::Table, graph: &Graph, counts: &ReachableCounts) -> Result<(), Error> {
    let names = Names::of(graph);
    table.begin(&[("vertex", names.column), ("reachable", ColumnType::U64)])?;
    for v in 0..graph.vertices() as VertexId {
        table.push_row(&[names.cell(v), Cell::Unsigned(counts.count(v))])?;
    }
    table.finish()
}
