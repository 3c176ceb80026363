//! `warpath path`: the shortest path between two vertices, the k shortest, or the paths of many pairs.

mod many;
mod pair_list;
#[cfg(feature = "mpi")]
mod ranks;
mod routes;

use std::sync::Arc;

use serde::Serialize;
use warpath::problems::{KShortestPaths, PathStep, Report};
use warpath::{Distance, Error, Graph, Path, Solver, Sssp, VertexId};

use crate::answer::{Answer, PeakBytes, Times, timed};
use crate::arguments::{PathArguments, SolvingArguments};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::geojson::{self, Places};
use crate::plot::{PathsShown, Plot};
use crate::print::{self, Table};
use crate::setup::{Prepared, Setup, inputs};
use routes::{Field, NUMBER, Route, RouteWriter};

#[derive(Debug, Serialize)]
struct PathFound {
    #[serde(flatten)]
    answer: Answer,
    from: String,
    to: String,
    reachable: bool,
    length: Option<serde_json::Value>,
    edges: Option<usize>,
    vertices: Option<Vec<String>>,
    /// The weight of each edge.
    weights: Option<Vec<serde_json::Value>>,
    /// All paths, if several are asked for; the fields above are those of the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    paths: Option<Vec<PathShown>>,
    verified: Option<bool>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

/// A path as JSON.
#[derive(Debug, Serialize)]
struct PathShown {
    length: serde_json::Value,
    edges: usize,
    vertices: Vec<String>,
    weights: Vec<serde_json::Value>,
}

impl PathShown {
    fn of(graph: &Graph, path: &Path, steps: &[PathStep]) -> Self {
        PathShown {
            length: print::number(path.length()),
            edges: path.edges().len(),
            vertices: steps.iter().map(|step| graph.name(step.vertex).into_owned()).collect(),
            weights: steps.iter().filter_map(|step| step.weight).map(print::number).collect(),
        }
    }
}

pub(crate) fn run(arguments: PathArguments) -> Result<ExitCode, Failure> {
    if arguments.solving.engine.is_mpi() {
        return run_on_ranks(&arguments);
    }
    match (&arguments.from, &arguments.to) {
        (Some(from), Some(to)) => between(&arguments, from, to),
        _ => many::run(&arguments),
    }
}

#[cfg(feature = "mpi")]
fn run_on_ranks(arguments: &PathArguments) -> Result<ExitCode, Failure> {
    ranks::run(arguments)
}

#[cfg(not(feature = "mpi"))]
fn run_on_ranks(_: &PathArguments) -> Result<ExitCode, Failure> {
    Err(Failure::without_mpi())
}

/// The path, or the paths, from one vertex to another.
fn between(arguments: &PathArguments, from_name: &str, to_name: &str) -> Result<ExitCode, Failure> {
    let solving = &arguments.solving;
    let SolvingArguments { plan, .. } = solving;
    let setup = Setup::to_solve(solving)?;
    let fields: &[&str] = if arguments.k.is_some() { &[NUMBER] } else { &[] };
    let lists = [&arguments.map.coordinates];
    let inputs = inputs(&arguments.graph, &lists);
    let output = arguments.output.as_deref();
    check_map(arguments)?;
    let create = |path| RouteWriter::create(path, fields, &inputs, arguments, &setup.control);
    let mut writer = output.map(create).transpose()?;
    let draw = |path| Plot::create(path, &inputs, output, &solving.common, &setup.control);
    let plot = arguments.map.plot.as_deref().map(draw).transpose()?;
    let Prepared { graph, hierarchy, seconds: load } = setup.load_with_hierarchy(&arguments.graph)?;
    let places = places(arguments, &setup, &graph)?;
    writer.iter_mut().for_each(|writer| writer.locate(places.as_ref()));
    let (from, to) = (graph.vertex(from_name)?, graph.vertex(to_name)?);
    let (solver, opening) = timed(|| setup.solver(&graph, hierarchy))?;
    let several = arguments.k.map(|most| KShortestPaths::between(from, to).at_most(most as usize));
    if plan.plan {
        let decision = match &several {
            Some(request) => solver.decide(request)?,
            None => solver.decide(&Sssp::from(from).to(to))?,
        };
        setup.print_plan(&solver, &decision, places.as_deref().map(|places| &places.coordinates), |_| (), None)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (paths, report) = match several {
        Some(request) => {
            let found = solver.solve(request)?;
            (found.paths().to_vec(), found.report().clone())
        }
        None => {
            let (path, report) = solver.path_and_report(from, to)?;
            (path.into_iter().collect(), report)
        }
    };
    let ((), verify) = timed(|| if arguments.verify { verify_paths(&solver, from, to, &paths) } else { Ok(()) })?;
    let ((), write) = timed(|| {
        if let Some((plot, places)) = plot.zip(places.as_deref()) {
            let shown = PathsShown { graph_name: arguments.graph.name(), ends: [from, to], paths: &paths };
            plot.write_paths(&graph, places, &shown)?;
        }
        let Some(mut writer) = writer else { return Ok(()) };
        for (index, path) in paths.iter().enumerate() {
            let number = arguments.k.map(|_| (NUMBER, Field::Number(index as u64 + 1)));
            writer.write(&graph, Route { fields: number.into_iter().collect(), path: Some(path) })?;
        }
        Ok(writer.finish(&graph)?)
    })?;
    let seconds = Times { verify, write, ..Times::of(&report, load, opening) };
    print_paths(arguments, &solver, (from_name, to_name), &paths, &report, seconds)
}

/// Whether a picture or a map needs to know where the vertices lie.
fn needs_places(arguments: &PathArguments) -> bool {
    arguments.map.plot.is_some() || arguments.output.as_deref().is_some_and(geojson::is_wanted)
}

/// An error if there are coordinates, and nothing needs them.
fn check_map(arguments: &PathArguments) -> Result<(), Failure> {
    if arguments.map.coordinates.is_some() && !needs_places(arguments) {
        return Err(Failure::usage("`--coordinates` are for `--plot` or an output in .geojson"));
    }
    Ok(())
}

/// Where the vertices lie, if a picture or a map needs it.
fn places(arguments: &PathArguments, setup: &Setup<'_>, graph: &Graph) -> Result<Option<Arc<Places>>, Failure> {
    let find = || Places::find(setup, &arguments.graph, arguments.map.coordinates.as_deref(), graph);
    Ok(if needs_places(arguments) { Some(Arc::new(find()?)) } else { None })
}

fn print_paths(
    arguments: &PathArguments,
    solver: &Solver,
    (from, to): (&str, &str),
    paths: &[Path],
    report: &Report,
    seconds: Times,
) -> Result<ExitCode, Failure> {
    let (solving, graph) = (&arguments.solving, solver.graph());
    let shown = |path: &Path| Ok(PathShown::of(graph, path, &path.steps(graph)?));
    let first = paths.first().map(shown).transpose()?;
    let answer = Answer::new("path", solver, report, solving);
    if solving.common.json {
        let all = arguments.k.map(|_| paths.iter().map(shown).collect::<Result<_, Failure>>()).transpose()?;
        let (mut edges, mut length, mut vertices, mut weights) = (None, None, None, None);
        if let Some(path) = first {
            (edges, length) = (Some(path.edges), Some(path.length));
            (vertices, weights) = (Some(path.vertices), Some(path.weights));
        }
        print::json(&PathFound {
            answer,
            from: from.to_owned(),
            to: to.to_owned(),
            reachable: !paths.is_empty(),
            length,
            edges,
            vertices,
            weights,
            paths: all,
            verified: arguments.verify.then_some(true),
            seconds,
            peak_bytes: PeakBytes::of([report]),
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let to_standard_output = arguments.output.as_deref().is_some_and(|path| path.as_os_str() == "-");
    if solving.common.quiet || to_standard_output {
        return Ok(ExitCode::SUCCESS);
    }
    const SHOWN: usize = 20;
    let mut table = Table::new();
    answer.rows(&mut table, solving);
    for path in paths.iter().take(SHOWN) {
        let edges = print::count(path.edges().len(), "edge", "edges");
        let verified = if arguments.verify { ", verified" } else { "" };
        table.row("length", format!("{} over {edges}{verified}", print::digits(&print::number(path.length()))));
        let names: Vec<String> = path.vertices().iter().map(|&v| shown_name(&graph.name(v))).collect();
        table.row("vertices", names.join(" "));
    }
    if paths.len() > SHOWN {
        table.row("", format!("and {}", print::count(paths.len() - SHOWN, "more path", "more paths")));
    }
    if paths.is_empty() {
        table.row("path", format!("no path leads from {from} to {to}"));
    } else if let Some(most) = arguments.k.filter(|&most| (paths.len() as u64) < u64::from(most)) {
        table.row("", format!("there are no more: {most} were asked for"));
    }
    if let Some(path) = &arguments.output {
        table.row("written", path.display().to_string());
    }
    if let Some(plot) = &arguments.map.plot {
        table.row("drawn", plot.display().to_string());
    }
    table.row("time", seconds.text());
    table.print()?;
    Ok(ExitCode::SUCCESS)
}

/// A name in a list that blanks separate: in quotes if it has blanks or quotes itself.
fn shown_name(name: &str) -> String {
    if name.is_empty() || name.contains([' ', '\t', '"', ',']) {
        return format!("\"{}\"", name.replace('"', "\"\""));
    }
    name.to_owned()
}

/// Checks that the paths lead from one vertex to the other, differ, visit no vertex twice and ascend, and that the
/// first is as long as a search from the source to all vertices says, whose certificate is valid.
fn verify_paths(solver: &Solver, from: VertexId, to: VertexId, paths: &[Path]) -> Result<(), Failure> {
    let graph = solver.graph();
    let wrong = |message: String| Err(Error::NotVerified(message).into());
    let tree = solver.solve(Sssp::from(from))?;
    tree.verify(graph)?;
    let length = paths.first().map(Path::length);
    if tree.distance(to) != length {
        let text = |distance: Option<Distance>| distance.map_or("none".to_owned(), |d| d.to_string());
        let (found, right) = (text(length), text(tree.distance(to)));
        return wrong(format!("the path has length {found}; the shortest has {right}"));
    }
    for (index, path) in paths.iter().enumerate() {
        let number = index + 1;
        let steps = path.steps(graph)?;
        if (path.vertices().first(), path.vertices().last()) != (Some(&from), Some(&to)) {
            return wrong(format!("path {number} does not lead from the source to the target"));
        }
        // The sums of a search from both ends are exact, since it is for integers.
        if steps.last().map(|step| step.distance) != Some(path.length()) {
            return wrong(format!("the weights of path {number} do not add up to its length"));
        }
        let mut sorted = path.vertices().to_vec();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            return wrong(format!("path {number} visits a vertex twice"));
        }
    }
    if !paths.windows(2).all(|pair| pair[0].length() <= pair[1].length()) {
        return wrong("the lengths of the paths do not ascend".to_owned());
    }
    let mut sorted: Vec<&[VertexId]> = paths.iter().map(Path::vertices).collect();
    sorted.sort_unstable();
    if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
        return wrong("two paths have the same vertices".to_owned());
    }
    Ok(())
}
