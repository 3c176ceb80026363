//! `warpath info`: what a graph looks like, and what it takes to solve problems on it.

#[cfg(feature = "mpi")]
mod ranks;

use std::collections::BTreeMap;

use serde::Serialize;
use warpath::graph::{ComponentSizes, Statistics, WeightKind};
use warpath::{Apsp, Bfs, Closure, Decision, Graph, Solver, Sssp};

use crate::answer::{PeakBytes, Times, timed};
use crate::arguments::InfoArguments;
use crate::commands::prepare::HierarchyFacts;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print::{self, Table};
use crate::setup::{Prepared, Setup};

#[derive(Debug, Serialize)]
struct Info {
    vertices: u64,
    /// An undirected edge is two arcs.
    arcs: u64,
    directed: bool,
    weights: &'static str,
    weight_range: Option<(f64, f64)>,
    lines: u64,
    self_loops: u64,
    parallel: u64,
    degrees: Degrees,
    components: Components,
    strong_components: Option<Components>,
    estimated_diameter: u64,
    graph_bytes: u64,
    /// Of the hierarchy that the file holds beside the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    hierarchy: Option<HierarchyFacts>,
    /// Memory for solving beyond the graph; absent for a graph without vertices, where there is nothing to solve.
    memory_bytes: BTreeMap<&'static str, u64>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

#[derive(Debug, Serialize)]
struct Degrees {
    least: u64,
    mean: f64,
    greatest: u64,
    isolated: u64,
    /// Vertices of degree 0, 1, 2..3, 4..7 and so on.
    histogram: Vec<u64>,
}

#[derive(Debug, Serialize)]
struct Components {
    count: u64,
    largest: u64,
}

impl From<ComponentSizes> for Components {
    fn from(sizes: ComponentSizes) -> Self {
        Components { count: sizes.count, largest: sizes.largest }
    }
}

pub(crate) fn run(arguments: InfoArguments) -> Result<ExitCode, Failure> {
    if arguments.engine.is_mpi() {
        return run_on_ranks(&arguments);
    }
    let common = &arguments.common;
    let setup = Setup::on_engine(common, &arguments.engine)?;
    let Prepared { graph, hierarchy, seconds: load } = setup.load_with_hierarchy(&arguments.graph)?;
    let (statistics, solve) = timed(|| Ok(graph.statistics(&setup.control)?))?;
    let facts = hierarchy.as_ref().map(HierarchyFacts::of).transpose()?;
    let solver = setup.solver(&graph, hierarchy)?;
    let info = Info {
        vertices: statistics.vertices,
        arcs: statistics.arcs,
        directed: statistics.directed,
        weights: statistics.weight_kind.name(),
        weight_range: statistics.weight_range.map(|(low, high)| shown_range(statistics.weight_kind.name(), low, high)),
        lines: statistics.input.lines,
        self_loops: statistics.input.self_loops,
        parallel: statistics.input.parallel,
        degrees: Degrees {
            least: statistics.degrees.least,
            mean: statistics.degrees.mean,
            greatest: statistics.degrees.greatest,
            isolated: statistics.degrees.isolated,
            histogram: statistics.degrees.histogram.clone(),
        },
        components: statistics.weak_components.into(),
        strong_components: statistics.strong_components.map(Into::into),
        estimated_diameter: statistics.estimated_diameter,
        graph_bytes: statistics.bytes,
        hierarchy: facts,
        memory_bytes: memory_needs(&graph, &solver),
        seconds: Times { load, solve, ..Default::default() },
        peak_bytes: PeakBytes::of_host(),
    };
    if common.json {
        print::json(&info)?;
    } else if !common.quiet {
        show(&info, &statistics).print()?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "mpi")]
fn run_on_ranks(arguments: &InfoArguments) -> Result<ExitCode, Failure> {
    ranks::run(arguments)
}

#[cfg(not(feature = "mpi"))]
fn run_on_ranks(_: &InfoArguments) -> Result<ExitCode, Failure> {
    Err(Failure::without_mpi())
}

/// The memory that each problem takes beyond the graph, as the solver plans it.
fn memory_needs(graph: &Graph, solver: &Solver) -> BTreeMap<&'static str, u64> {
    let mut needs = BTreeMap::new();
    let mut add = |name, decision: warpath::Result<Decision>| {
        if let Ok(decision) = decision {
            needs.insert(name, decision.plan().memory_bytes());
        }
    };
    if graph.vertices() > 0 {
        add("bfs", solver.decide(&Bfs::from(0)));
        add("sssp", solver.decide(&Sssp::from(0)));
    }
    add("apsp", solver.decide(&Apsp::all()));
    add("closure", solver.decide(&Closure::new()));
    add("closure counts", solver.decide(&Closure::new().counts_only()));
    needs
}

fn show(info: &Info, statistics: &Statistics) -> Table {
    let mut table = Table::new();
    show_size(&mut table, (info.vertices, info.arcs, info.directed), info.weights, info.weight_range);
    let loops = print::count(info.self_loops, "self-loop", "self-loops");
    let parallel = print::count(info.parallel, "parallel arc", "parallel arcs");
    table.row("lines", format!("{}, {loops}, {parallel}", print::grouped(info.lines.into())));
    let strong = info.strong_components.as_ref();
    show_shape(&mut table, &info.degrees, &info.components, strong, info.estimated_diameter);
    if let Some(hierarchy) = &info.hierarchy {
        table.row("hierarchy", hierarchy.text());
    }
    table.row("the graph takes", print::bytes(statistics.bytes));
    for (problem, bytes) in &info.memory_bytes {
        table.row(format!("{problem} takes"), format!("{} more", print::bytes(*bytes)));
    }
    table.row("time", info.seconds.text());
    table
}

/// A range of weights of a type, by its name. It has 64 bits; what is shown has the digits that the weights have in their own type.
fn shown_range(weights: &str, low: f64, high: f64) -> (f64, f64) {
    let is_single = weights == WeightKind::F32.name();
    let digits = |weight: f64| if is_single { print::shortest(weight as f32) } else { weight };
    (digits(low), digits(high))
}

/// Vertices, arcs and whether they have directions, and weights.
fn show_size(
    table: &mut Table,
    (vertices, arcs, directed): (u64, u64, bool),
    weights: &str,
    range: Option<(f64, f64)>,
) {
    table.row("vertices", print::grouped(vertices.into()));
    let direction = if directed { "directed" } else { "undirected, each edge twice" };
    table.row("arcs", format!("{} ({direction})", print::grouped(arcs.into())));
    let range = range.map_or(String::new(), |(low, high)| format!(" from {low} to {high}"));
    table.row("weights", format!("{weights}{range}"));
}

/// Degrees, components and the diameter.
fn show_shape(
    table: &mut Table,
    degrees: &Degrees,
    components: &Components,
    strong: Option<&Components>,
    estimated_diameter: u64,
) {
    let number = |value: u64| print::grouped(value.into());
    let (least, greatest) = (number(degrees.least), number(degrees.greatest));
    table.row(
        "degrees",
        format!(
            "{least} to {greatest}, {:.2} on average, {} isolated",
            degrees.mean,
            print::count(degrees.isolated, "vertex", "vertices")
        ),
    );
    let text = |sizes: &Components| {
        format!("{}, the largest of {}", number(sizes.count), print::count(sizes.largest, "vertex", "vertices"))
    };
    table.row("components", text(components));
    if let Some(sizes) = strong {
        table.row("strong components", text(sizes));
    }
    let diameter = print::count(estimated_diameter, "edge", "edges");
    table.row("diameter", format!("about {diameter} (at least; directions ignored)"));
}
