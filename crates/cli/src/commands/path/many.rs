//! `warpath path --pairs`: the distances and paths of many pairs.

use serde::Serialize;
use warpath::problems::PathsOfPairs;
use warpath::{Graph, Pairs};

use super::pair_list::read_pairs;
use super::routes::{Field, Route, RouteWriter};
use super::{check_map, places};
use crate::answer::{Answer, PeakBytes, Times, timed};
use crate::arguments::PathArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{Output, OutputKind};
use crate::print::{self, Table};
use crate::setup::{Prepared, Setup, inputs};
use crate::table::{self, Names, distance_type};

#[derive(Debug, Serialize)]
struct PairsFound {
    #[serde(flatten)]
    answer: Answer,
    reachable: usize,
    pairs: Vec<PairShown>,
    verified: Option<bool>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

#[derive(Debug, Serialize)]
struct PairShown {
    from: String,
    to: String,
    reachable: bool,
    length: Option<serde_json::Value>,
}

/// Finds what a file of pairs asks for: the paths if they are written to a file, else the distances.
pub(super) fn run(arguments: &PathArguments) -> Result<ExitCode, Failure> {
    let solving = &arguments.solving;
    let common = &solving.common;
    let Some(file) = &arguments.pairs else { return Err(Failure::usage("there are no vertices to go between")) };
    if file.as_os_str() == "-" && arguments.graph.graph.as_os_str() == "-" {
        return Err(Failure::usage("the graph and the pairs can't both come from standard input"));
    }
    let setup = Setup::to_solve(solving)?;
    let list = arguments.pairs.clone().map(|file| if file.as_os_str() == "-" { "/dev/stdin".into() } else { file });
    let lists = [&list, &arguments.map.coordinates];
    check_map(arguments)?;
    if arguments.map.plot.is_some() {
        return Err(Failure::usage("`--plot` shows the paths between two vertices; `--pairs` asks for many"));
    }
    let inputs = inputs(&arguments.graph, &lists);
    let output = arguments.output.as_deref();
    let create = |path| RouteWriter::create(path, &["source", "target"], &inputs, arguments, &setup.control);
    let mut writer = output.map(create).transpose()?;
    let Prepared { graph, hierarchy, seconds: load } = setup.load_with_hierarchy(&arguments.graph)?;
    let places = places(arguments, &setup, &graph)?;
    writer.iter_mut().for_each(|writer| writer.locate(places.as_ref()));
    let pairs = read_pairs(&setup, &graph, file)?;
    let (solver, opening) = timed(|| setup.solver(&graph, hierarchy))?;
    let mut request = Pairs::of(pairs);
    if writer.is_none() {
        request = request.distances_only();
    }
    if arguments.verify {
        request = request.verified();
    }
    if solving.plan.plan {
        let coordinates = places.as_deref().map(|places| &places.coordinates);
        setup.print_plan(&solver, &solver.decide(&request)?, coordinates, |_| (), None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let found = solver.solve(request)?;
    let ((), write) = timed(|| match writer {
        Some(writer) => write_paths(writer, &graph, &found),
        None if common.json || common.quiet => Ok(()),
        None => write_distances(Output::standard(&setup.control), &graph, &found),
    })?;
    let report = found.report();
    let seconds = Times { write, ..Times::of(report, load, opening) };
    let answer = Answer::new("path", &solver, report, solving);
    if common.json {
        print::json(&PairsFound {
            answer,
            reachable: found.reachable(),
            pairs: shown(&graph, &found),
            verified: arguments.verify.then_some(true),
            seconds,
            peak_bytes: PeakBytes::of([report]),
        })?;
    } else if let Some(path) = output.filter(|path| path.as_os_str() != "-" && !common.quiet) {
        let mut table = Table::new();
        answer.rows(&mut table, solving);
        let (reachable, all) = (print::grouped(found.reachable() as u128), found.pairs().len());
        let verified = if arguments.verify { ", verified" } else { "" };
        table.row("reachable", format!("{reachable} of {}{verified}", print::count(all as u128, "pair", "pairs")));
        table.row("written", path.display().to_string());
        table.row("time", seconds.text());
        table.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

fn shown(graph: &Graph, found: &PathsOfPairs) -> Vec<PairShown> {
    let pairs = found.pairs().iter().enumerate();
    let shown = pairs.map(|(pair, &(from, to))| PairShown {
        from: graph.name(from).into_owned(),
        to: graph.name(to).into_owned(),
        reachable: found.distance(pair).is_some(),
        length: found.distance(pair).map(print::number),
    });
    shown.collect()
}

fn write_paths(mut writer: RouteWriter, graph: &Graph, found: &PathsOfPairs) -> Result<(), Failure> {
    for (pair, &(from, to)) in found.pairs().iter().enumerate() {
        let fields = vec![("source", Field::Vertex(from)), ("target", Field::Vertex(to))];
        writer.write(graph, Route { fields, path: found.path(pair) })?;
    }
    Ok(writer.finish(graph)?)
}

fn write_distances(out: Output, graph: &Graph, found: &PathsOfPairs) -> Result<(), Failure> {
    let mut table = table::Table::new(out, OutputKind::Csv);
    let names = Names::of(graph);
    table.begin(&[("source", names.column), ("target", names.column), ("distance", distance_type(graph))])?;
    for (pair, &(from, to)) in found.pairs().iter().enumerate() {
        table.push_row(&[names.cell(from), names.cell(to), found.distance(pair).into()])?;
    }
    Ok(table.finish()?)
}
