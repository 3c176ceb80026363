//! `warpath apsp`: distances between all pairs, or a table of some.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use warpath::formats::check_output;
use warpath::problems::{ApspSummary, DistanceMatrix, NpyWriter, RowReductions, RowSink};
use warpath::tables::csv_field;
use warpath::{Apsp, Decision, Error, Graph, Solver, VertexId};

use crate::arguments::{ApspArguments, Layout, Reduction, SolvingArguments};
use crate::failure::Failure;
use crate::output::{Output, OutputKind};
use crate::print::{self, Table};
use crate::setup::{Answer, PeakBytes, Setup, Times, inputs, timed};
use crate::vertex_lists::read_vertices;

#[derive(Debug, Serialize)]
struct ApspFound {
    #[serde(flatten)]
    answer: Answer,
    source_count: u64,
    finite_pairs: u64,
    distance_sum: serde_json::Value,
    max_distance: Option<serde_json::Value>,
    /// The reduction, one object per row, if no file is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction: Option<serde_json::Value>,
    verified: Option<bool>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

/// Where the rows go.
enum Destination {
    /// They are only counted.
    Nowhere(()),
    /// A .npy file, row by row.
    Npy(NpyWriter),
    /// A .csv of the whole matrix, which is kept in memory for it.
    Csv(Option<Output>, Layout),
    /// A reduction, and the file it is written to.
    Reduction(RowReductions, Reduction, Option<Output>),
}

pub(crate) fn run(arguments: ApspArguments) -> Result<ExitCode, Failure> {
    let solving = &arguments.solving;
    let SolvingArguments { common, plan, .. } = solving;
    let setup = Setup::to_solve(solving)?;
    let mut destination = destination(&arguments, &setup)?;
    let (graph, load) = setup.load(&arguments.graph)?;
    let list =
        |file: &Option<std::path::PathBuf>| file.as_deref().map(|file| read_vertices(&setup, &graph, file)).transpose();
    let (sources, targets) = (list(&arguments.sources)?, list(&arguments.targets)?);
    let (solver, opening) = timed(|| setup.solver(&graph, None))?;
    let mut request = Apsp::all();
    if let Some(sources) = &sources {
        request = request.from(sources.as_slice());
    }
    if let Some(targets) = &targets {
        request = request.to(targets.as_slice());
    }
    if let Some(algorithm) = &arguments.algorithm.algorithm {
        request = request.algorithm(algorithm);
    }
    if arguments.verify {
        request = request.verified();
    }
    if arguments.successors {
        request = request.with_successors();
    }
    if plan.plan {
        let decision = destination.decide(&solver, request)?;
        setup.print_plan(&solver, &decision, None, |_| (), arguments.output.as_deref())?;
        return Ok(ExitCode::SUCCESS);
    }
    let solved = destination.solve(&solver, request, sources.as_deref(), targets.as_deref());
    let (summary, write) = solved.map_err(|failure| destination.advise(failure))?;
    let reduction = match &destination {
        Destination::Reduction(reductions, how, None) if arguments.output.is_none() => {
            Some(reduction_rows(&graph, reductions, *how, sources.as_deref(), targets.as_deref()))
        }
        _ => None,
    };
    let mut seconds = Times::of(summary.report(), load, opening);
    seconds.write += write;
    let found = ApspFound {
        answer: Answer::new("apsp", &solver, summary.report(), solving),
        source_count: summary.sources(),
        finite_pairs: summary.finite_pairs(),
        distance_sum: print::sum(summary.distance_sum()),
        max_distance: summary.max_distance().map(print::number),
        reduction: reduction.as_deref().filter(|_| common.json).map(rows_as_json),
        verified: arguments.verify.then_some(true),
        seconds,
        peak_bytes: PeakBytes::of([summary.report()]),
    };
    if common.json {
        return print::json(&found).map(|()| ExitCode::SUCCESS);
    }
    if !common.quiet && arguments.output.as_deref().is_none_or(|path| path.as_os_str() != "-") {
        let mut table = Table::new();
        found.answer.rows(&mut table, solving);
        let columns = targets.as_ref().map_or(graph.vertices(), Vec::len) as u128;
        let pairs = u128::from(found.source_count) * columns;
        let mut text =
            format!("{} of {}", print::grouped(found.finite_pairs.into()), print::count(pairs, "pair", "pairs"));
        if let Some(farthest) = &found.max_distance {
            text += &format!(", farthest {}, sum {}", print::digits(farthest), print::digits(&found.distance_sum));
        }
        table.row("reachable", text + if arguments.verify { ", verified" } else { "" });
        if let Some(path) = &arguments.output {
            table.row("written", path.display().to_string());
        } else if let Some(rows) = &reduction {
            show_rows(&mut table, rows);
        }
        table.row("time", found.seconds.text());
        table.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn destination(arguments: &ApspArguments, setup: &Setup<'_>) -> Result<Destination, Failure> {
    let output = arguments.output.as_deref();
    let inputs = inputs(&arguments.graph, &[&arguments.sources, &arguments.targets]);
    let create = |path| Output::create(path, &inputs, &arguments.solving.common, &setup.control);
    let kind = output.map(OutputKind::of).transpose()?;
    if arguments.resume && kind != Some(OutputKind::Npy) {
        return Err(Failure::usage("`--resume` continues a .npy; other outputs begin anew"));
    }
    if arguments.successors && kind != Some(OutputKind::Csv) {
        return Err(Failure::usage("`--successors` are written to a .csv"));
    }
    if arguments.layout.is_some() && kind != Some(OutputKind::Csv) {
        return Err(Failure::usage("`--layout` is for a .csv; a .npy is a matrix"));
    }
    if let Some(how) = arguments.reduce {
        if kind == Some(OutputKind::Npy) {
            return Err(Failure::usage("a reduction is written to a .csv"));
        }
        let output = output.map(create).transpose()?;
        let wanted = match how {
            Reduction::Eccentricity => warpath::problems::Reduction::Eccentricity,
            Reduction::Closeness => warpath::problems::Reduction::Closeness,
            Reduction::Harmonic => warpath::problems::Reduction::Harmonic,
            Reduction::Histogram => warpath::problems::Reduction::Histogram,
        };
        return Ok(Destination::Reduction(RowReductions::new([wanted]), how, output.map(|(output, _)| output)));
    }
    match (output, kind) {
        (Some(path), Some(OutputKind::Npy)) => {
            check_output(path, &inputs)?;
            let mut writer = NpyWriter::new(path).resume(arguments.resume);
            writer.reserve()?;
            Ok(Destination::Npy(writer))
        }
        (Some(path), _) => Ok(Destination::Csv(Some(create(path)?.0), arguments.layout.unwrap_or(Layout::Long))),
        (None, _) => Ok(Destination::Nowhere(())),
    }
}

impl Destination {
    fn decide(&mut self, solver: &Solver, request: Apsp) -> Result<Decision, Failure> {
        Ok(match self {
            Destination::Csv(..) => solver.decide(&request)?,
            Destination::Nowhere(sink) => solver.decide(&request.into_sink(sink))?,
            Destination::Npy(sink) => solver.decide(&request.into_sink(sink))?,
            Destination::Reduction(sink, ..) => solver.decide(&request.into_sink(sink))?,
        })
    }

    /// Adds the advice to resume, if rows are kept for that.
    fn advise(&self, failure: Failure) -> Failure {
        match self {
            Destination::Npy(writer) if writer.can_be_resumed() => {
                failure.help("the finished part is kept: the same command with `--resume` continues from there")
            }
            _ => failure,
        }
    }

    /// Solves and writes the output; returns the seconds that writing took beyond the solve.
    fn solve(
        &mut self,
        solver: &Solver,
        request: Apsp,
        sources: Option<&[VertexId]>,
        targets: Option<&[VertexId]>,
    ) -> Result<(ApspSummary, f64), Failure> {
        let graph = solver.graph();
        match self {
            Destination::Nowhere(sink) => Ok((solver.solve(request.into_sink(sink))?, 0.0)),
            Destination::Npy(sink) => Ok((solver.solve(request.into_sink(sink))?, 0.0)),
            Destination::Csv(output, layout) => {
                let matrix = solver.solve(request)?;
                let Some(mut output) = output.take() else { return Ok((matrix.summary(), 0.0)) };
                let ((), write) = timed(|| {
                    let write = if *layout == Layout::Wide { write_wide } else { write_long };
                    let written = write(&mut output, graph, &matrix, targets);
                    written.map_err(|error| Error::io(output.path(), error))?;
                    Ok(output.finish()?)
                })?;
                Ok((matrix.summary(), write))
            }
            Destination::Reduction(sink, how, output) => {
                let summary = solver.solve(request.into_sink(sink))?;
                let Some(mut output) = output.take() else { return Ok((summary, 0.0)) };
                let ((), write) = timed(|| {
                    let rows = reduction_rows(graph, sink, *how, sources, targets);
                    (rows.iter().try_for_each(|(name, value)| writeln!(output, "{},{value}", csv_field(name))))
                        .map_err(|error| Error::io(output.path(), error))?;
                    Ok(output.finish()?)
                })?;
                Ok((summary, write))
            }
        }
    }
}

/// Writes a line for each source, with a column for each target.
fn write_wide(
    out: &mut Output,
    graph: &Graph,
    matrix: &DistanceMatrix,
    targets: Option<&[VertexId]>,
) -> std::io::Result<()> {
    write!(out, "source")?;
    for j in 0..matrix.columns() {
        let target = targets.map_or(j as VertexId, |targets| targets[j]);
        write!(out, ",{}", csv_field(&graph.name(target)))?;
    }
    writeln!(out)?;
    for (i, &source) in matrix.sources().iter().enumerate() {
        write!(out, "{}", csv_field(&graph.name(source)))?;
        for j in 0..matrix.columns() {
            match matrix.distance(i, j) {
                Some(distance) => write!(out, ",{distance}")?,
                None => write!(out, ",")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes a line for each source and target.
fn write_long(
    out: &mut Output,
    graph: &Graph,
    matrix: &DistanceMatrix,
    targets: Option<&[VertexId]>,
) -> std::io::Result<()> {
    let successors = matrix.found_successors();
    writeln!(out, "source,target,distance{}", if successors.is_some() { ",successor" } else { "" })?;
    for (i, &source) in matrix.sources().iter().enumerate() {
        for j in 0..matrix.columns() {
            let target = targets.map_or(j as VertexId, |targets| targets[j]);
            write!(out, "{},{},", csv_field(&graph.name(source)), csv_field(&graph.name(target)))?;
            if let Some(distance) = matrix.distance(i, j) {
                write!(out, "{distance}")?;
            }
            if let Some(successors) = successors {
                let target = targets.map_or(j, |targets| targets[j] as usize);
                let name = successors.get(i, target).map(|vertex| graph.name(vertex));
                write!(out, ",{}", name.as_deref().map(csv_field).unwrap_or_default())?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// The reduction as rows of names and values, the header first.
fn reduction_rows(
    graph: &Graph,
    reductions: &RowReductions,
    how: Reduction,
    sources: Option<&[VertexId]>,
    targets: Option<&[VertexId]>,
) -> Vec<(String, String)> {
    let name = |list: Option<&[VertexId]>, index: usize| {
        let vertex = list.map_or(index as VertexId, |list| list[index]);
        graph.name(vertex).into_owned()
    };
    let header = |first: &str, second: &str| (first.to_owned(), second.to_owned());
    match how {
        Reduction::Eccentricity => std::iter::once(header("vertex", "eccentricity"))
            .chain(reductions.eccentricities().iter().enumerate().map(|(index, eccentricity)| {
                (name(sources, index), eccentricity.map_or(String::new(), |distance| distance.to_string()))
            }))
            .collect(),
        Reduction::Closeness => std::iter::once(header("vertex", "closeness"))
            .chain(
                reductions
                    .closeness()
                    .iter()
                    .enumerate()
                    .map(|(index, value)| (name(targets, index), value.to_string())),
            )
            .collect(),
        Reduction::Harmonic => std::iter::once(header("vertex", "harmonic"))
            .chain(
                reductions
                    .harmonic()
                    .iter()
                    .enumerate()
                    .map(|(index, value)| (name(targets, index), value.to_string())),
            )
            .collect(),
        Reduction::Histogram => std::iter::once(header("distance", "pairs"))
            .chain(reductions.histogram().bins().map(|(from, count)| (from.to_string(), count.to_string())))
            .collect(),
    }
}

/// The rows as objects keyed by the header; `null` stands for a missing number.
fn rows_as_json(rows: &[(String, String)]) -> serde_json::Value {
    let [(first, second), rows @ ..] = rows else { return serde_json::Value::Null };
    let number =
        |text: &str| serde_json::from_str::<serde_json::Number>(text).map_or(serde_json::Value::Null, Into::into);
    let object = |(name, value): &(String, String)| {
        // Histogram rows start with a distance, all other rows with a vertex name.
        let name = if first == "distance" { number(name) } else { name.as_str().into() };
        serde_json::Value::Object([(first.clone(), name), (second.clone(), number(value))].into_iter().collect())
    };
    rows.iter().map(object).collect()
}

/// Shows the first rows of a reduction that is not written to a file.
fn show_rows(table: &mut Table, rows: &[(String, String)]) {
    const SHOWN: usize = 20;
    for (name, value) in rows.iter().take(SHOWN + 1) {
        table.row(name.as_str(), value.as_str());
    }
    if rows.len() > SHOWN + 1 {
        table.row("", format!("and {} more; --output FILE.csv has them all", rows.len() - SHOWN - 1));
    }
}
