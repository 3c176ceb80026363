//! `warpath apsp`: distances between all pairs, or a table of some; and `warpath table`, which is `apsp` with two lists.

#[cfg(feature = "mpi")]
mod ranks;

use serde::Serialize;
use warpath::formats::check_output;
use warpath::problems::{ApspSummary, DistanceMatrix, NpyWriter, RowReductions, RowSink};
use warpath::tables::{Cell, ColumnType};
use warpath::{Apsp, Decision, Error, Graph, Solver, VertexId};

use super::scores::Scores;
use crate::answer::{Answer, PeakBytes, Times, timed};
use crate::arguments::{ApspArguments, Layout, Reduction, SolvingArguments, TableArguments};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{Output, OutputKind};
use crate::print::{self, Table};
use crate::setup::{Prepared, Setup, inputs};
use crate::table::{self, Names, distance_type};
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
    /// The table, if no file is written.
    #[serde(flatten)]
    cells: Option<Cells>,
    /// The seconds of a table as a person reads them.
    #[serde(skip_serializing_if = "Option::is_none")]
    time: Option<String>,
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
    /// A table of the whole matrix, which is kept in memory for it.
    Table(Option<table::Table>, Layout),
    /// The table, for a JSON object.
    Cells(Option<Cells>),
    /// A reduction, and the file it is written to.
    Reduction(RowReductions, Reduction, Option<table::Table>),
}

/// A table, with names of vertices.
#[derive(Debug, Serialize)]
struct Cells {
    sources: Vec<String>,
    targets: Vec<String>,
    /// A row for each source; `null` stands for a target that is not reached.
    distances: Vec<Vec<Option<serde_json::Value>>>,
}

impl Cells {
    fn of(graph: &Graph, matrix: &DistanceMatrix, targets: Option<&[VertexId]>) -> Self {
        let name = |v: VertexId| graph.name(v).into_owned();
        let target = |j: usize| targets.map_or(j as VertexId, |targets| targets[j]);
        let row = |i: usize| (0..matrix.columns()).map(|j| matrix.distance(i, j).map(print::number)).collect();
        Cells {
            sources: matrix.sources().iter().map(|&source| name(source)).collect(),
            targets: (0..matrix.columns()).map(|j| name(target(j))).collect(),
            distances: (0..matrix.rows()).map(row).collect(),
        }
    }
}

pub(crate) fn run_table(arguments: TableArguments) -> Result<ExitCode, Failure> {
    let TableArguments { graph, sources, targets, output, layout, verify, algorithm, solving } = arguments;
    let to_standard_output = !solving.common.json && !solving.plan.plan;
    let output = output.or_else(|| to_standard_output.then(|| "-".into()));
    if solving.common.json && output.is_none() && layout.is_some() {
        return Err(Failure::usage("`--layout` is for a .csv; a JSON object has a list for each source"));
    }
    let arguments = ApspArguments {
        graph,
        sources: Some(sources),
        targets: Some(targets),
        reduce: None,
        output,
        layout,
        resume: false,
        successors: false,
        verify,
        algorithm,
        solving,
    };
    solve("table", arguments)
}

pub(crate) fn run(arguments: ApspArguments) -> Result<ExitCode, Failure> {
    if arguments.solving.engine.is_mpi() {
        return run_on_ranks(&arguments);
    }
    solve("apsp", arguments)
}

#[cfg(feature = "mpi")]
fn run_on_ranks(arguments: &ApspArguments) -> Result<ExitCode, Failure> {
    ranks::run(arguments)
}

#[cfg(not(feature = "mpi"))]
fn run_on_ranks(_: &ApspArguments) -> Result<ExitCode, Failure> {
    Err(Failure::without_mpi())
}

fn solve(command: &'static str, arguments: ApspArguments) -> Result<ExitCode, Failure> {
    let is_table = command == "table";
    let solving = &arguments.solving;
    let SolvingArguments { common, plan, .. } = solving;
    let setup = Setup::to_solve(solving)?;
    let mut destination = match is_table && arguments.output.is_none() {
        true => Destination::Cells(None),
        false => destination(&arguments, &setup)?,
    };
    let Prepared { graph, hierarchy, seconds: load } = setup.load_with_hierarchy(&arguments.graph)?;
    let list =
        |file: &Option<std::path::PathBuf>| file.as_deref().map(|file| read_vertices(&setup, &graph, file)).transpose();
    let (sources, targets) = (list(&arguments.sources)?, list(&arguments.targets)?);
    let (solver, opening) = timed(|| setup.solver(&graph, hierarchy))?;
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
            Some(reduced(&graph, reductions, *how, sources.as_deref(), targets.as_deref()))
        }
        _ => None,
    };
    let mut seconds = Times::of(summary.report(), load, opening);
    seconds.write += write;
    let found = ApspFound {
        answer: Answer::new(command, &solver, summary.report(), solving),
        source_count: summary.sources(),
        finite_pairs: summary.finite_pairs(),
        distance_sum: print::sum(summary.distance_sum()),
        max_distance: summary.max_distance().map(print::number),
        reduction: reduction.as_ref().filter(|_| common.json).map(Scores::as_json),
        cells: match &mut destination {
            Destination::Cells(cells) => cells.take(),
            _ => None,
        },
        time: is_table.then(|| seconds.text()),
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
            rows.show(&mut table);
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
    let is_table = kind.is_some_and(OutputKind::is_table);
    let create_table = |path| create(path).map(|(output, kind)| table::Table::new(output, kind));
    if arguments.resume && kind != Some(OutputKind::Npy) {
        return Err(Failure::usage("`--resume` continues a .npy; other outputs begin anew"));
    }
    if arguments.successors && !is_table {
        return Err(Failure::usage("`--successors` are written to a .csv"));
    }
    if arguments.layout.is_some() && !is_table {
        return Err(Failure::usage("`--layout` is for a .csv; a .npy is a matrix"));
    }
    if let Some(how) = arguments.reduce {
        kind.map_or(Ok(()), refuse_matrix_of_reduction)?;
        let output = output.map(create_table).transpose()?;
        return Ok(Destination::Reduction(RowReductions::new([how.into()]), how, output));
    }
    match (output, kind) {
        (Some(path), Some(OutputKind::Npy)) => {
            check_output(path, &inputs)?;
            let mut writer = NpyWriter::new(path).resume(arguments.resume);
            writer.reserve()?;
            Ok(Destination::Npy(writer))
        }
        (Some(path), _) => Ok(Destination::Table(Some(create_table(path)?), arguments.layout.unwrap_or(Layout::Long))),
        (None, _) => Ok(Destination::Nowhere(())),
    }
}

/// An error if a reduction is to go where matrices go.
fn refuse_matrix_of_reduction(kind: OutputKind) -> Result<(), Failure> {
    if kind == OutputKind::Npy { Err(Failure::usage("a reduction is written to a .csv")) } else { Ok(()) }
}

impl Destination {
    fn decide(&mut self, solver: &Solver, request: Apsp) -> Result<Decision, Failure> {
        Ok(match self {
            Destination::Table(..) | Destination::Cells(_) => solver.decide(&request)?,
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
            Destination::Table(output, layout) => {
                let matrix = solver.solve(request)?;
                let Some(mut output) = output.take() else { return Ok((matrix.summary(), 0.0)) };
                let ((), write) = timed(|| {
                    let write = if *layout == Layout::Wide { write_wide } else { write_long };
                    write(&mut output, graph, &matrix, targets)?;
                    Ok(output.finish()?)
                })?;
                Ok((matrix.summary(), write))
            }
            Destination::Cells(cells) => {
                let matrix = solver.solve(request)?;
                *cells = Some(Cells::of(graph, &matrix, targets));
                Ok((matrix.summary(), 0.0))
            }
            Destination::Reduction(sink, how, output) => {
                let summary = solver.solve(request.into_sink(sink))?;
                let Some(output) = output.take() else { return Ok((summary, 0.0)) };
                let ((), write) = timed(|| Ok(reduced(graph, sink, *how, sources, targets).write(output)?))?;
                Ok((summary, write))
            }
        }
    }
}

/// Writes a row for each source, with a column for each target.
fn write_wide(
    table: &mut table::Table,
    graph: &Graph,
    matrix: &DistanceMatrix,
    targets: Option<&[VertexId]>,
) -> Result<(), Error> {
    let names = Names::of(graph);
    let target = |j: usize| targets.map_or(j as VertexId, |targets| targets[j]);
    let titles: Vec<String> = (0..matrix.columns()).map(|j| graph.name(target(j)).into_owned()).collect();
    let distance = ColumnType::from(matrix.distances());
    let mut columns = vec![("source", names.column)];
    columns.extend(titles.iter().map(|title| (title.as_str(), distance)));
    table.begin(&columns)?;
    let mut cells = Vec::new();
    for (i, &source) in matrix.sources().iter().enumerate() {
        cells.clear();
        cells.push(names.cell(source));
        cells.extend((0..matrix.columns()).map(|j| Cell::from(matrix.distance(i, j))));
        table.push_row(&cells)?;
    }
    Ok(())
}

/// Writes a row for each source and target.
fn write_long(
    table: &mut table::Table,
    graph: &Graph,
    matrix: &DistanceMatrix,
    targets: Option<&[VertexId]>,
) -> Result<(), Error> {
    let names = Names::of(graph);
    let successors = matrix.found_successors();
    let mut columns = vec![("source", names.column), ("target", names.column)];
    columns.push(("distance", ColumnType::from(matrix.distances())));
    columns.extend(successors.map(|_| ("successor", names.column)));
    table.begin(&columns)?;
    for (i, &source) in matrix.sources().iter().enumerate() {
        for j in 0..matrix.columns() {
            let target = targets.map_or(j as VertexId, |targets| targets[j]);
            let cells = [names.cell(source), names.cell(target), matrix.distance(i, j).into()];
            match successors {
                None => table.push_row(&cells)?,
                Some(successors) => {
                    let [source, target_name, distance] = cells;
                    let successor = names.cell_of(successors.get(i, target as usize));
                    table.push_row(&[source, target_name, distance, successor])?;
                }
            }
        }
    }
    Ok(())
}

/// A reduction as a table of two columns.
fn reduced<'g>(
    graph: &'g Graph,
    reductions: &RowReductions,
    how: Reduction,
    sources: Option<&[VertexId]>,
    targets: Option<&[VertexId]>,
) -> Scores<'g> {
    let names = Names::of(graph);
    let name = |list: Option<&[VertexId]>, index: usize| names.cell(list.map_or(index as VertexId, |list| list[index]));
    let of_targets = |title, values: &[f64]| Scores {
        columns: vec![("vertex", names.column), (title, ColumnType::F64)],
        cells: values.iter().enumerate().flat_map(|(j, &value)| [name(targets, j), Cell::Double(value)]).collect(),
    };
    match how {
        Reduction::Eccentricity => {
            let values = reductions.eccentricities();
            Scores {
                columns: vec![("vertex", names.column), ("eccentricity", distance_type(graph))],
                cells: values.iter().enumerate().flat_map(|(i, &value)| [name(sources, i), value.into()]).collect(),
            }
        }
        Reduction::Closeness => of_targets("closeness", &reductions.closeness()),
        Reduction::Harmonic => of_targets("harmonic", reductions.harmonic()),
        Reduction::Histogram => Scores {
            columns: vec![("distance", ColumnType::F64), ("pairs", ColumnType::U64)],
            cells: (reductions.histogram().bins())
                .flat_map(|(from, count)| [Cell::Double(from), Cell::Unsigned(count)])
                .collect(),
        },
    }
}
