//! `warpath components`: which vertices belong together.

#[cfg(feature = "mpi")]
mod ranks;

use std::collections::BTreeMap;

use serde::Serialize;
use warpath::graph::{Components, Distances};
use warpath::tables::{Cell, ColumnType, write_npy};
use warpath::{Error, Graph, VertexId};

use crate::answer::{GraphFacts, PeakBytes, Times, timed};
use crate::arguments::{ComponentsArguments, is_mpi};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{Output, OutputKind};
use crate::print::{self, Table};
use crate::setup::{Setup, inputs};
use crate::table::{self, Names};

#[derive(Debug, Serialize)]
struct ComponentsFound {
    graph: GraphFacts,
    strong: bool,
    count: u64,
    /// The number of vertices of the largest component.
    largest: u64,
    /// How many components have how many vertices, the smallest first.
    sizes: Vec<OfSize>,
    seconds: Times,
    peak_bytes: PeakBytes,
}

#[derive(Debug, Serialize)]
struct OfSize {
    vertices: u64,
    components: u64,
}

pub(crate) fn run(arguments: ComponentsArguments) -> Result<ExitCode, Failure> {
    let common = &arguments.common;
    match arguments.engine.as_str() {
        "auto" | "cpu" => {}
        engine if is_mpi(engine) => return run_on_ranks(&arguments),
        engine => return Err(Failure::usage(format!("components are found by `cpu` or `mpi`, not by `{engine}`"))),
    }
    #[cfg(feature = "mpi")]
    if arguments.plan.ranks.is_some() {
        return Err(Failure::usage("`--ranks` is for `--engine mpi`"));
    }
    let setup = Setup::without_engine(common, arguments.plan.plan)?.ignoring_weights(true);
    if arguments.plan.plan {
        let (graph, _) = setup.load(&arguments.graph)?;
        setup.print_plan_of_graph(&graph, Components::plan(&graph, arguments.strong))?;
        return Ok(ExitCode::SUCCESS);
    }
    let create = |path| Output::create(path, &inputs(&arguments.graph, &[]), common, &setup.control);
    let output = arguments.output.as_deref().map(create).transpose()?;
    let (graph, load) = setup.load(&arguments.graph)?;
    if let Some(limit) = common.memory {
        // Without a limit, nobody is refused for the worst that might be.
        Components::plan(&graph, arguments.strong).check(limit)?;
    }
    let find = if arguments.strong { Components::strong } else { Components::weak };
    let (components, solve) = timed(|| Ok(find(&graph, &setup.control)?))?;
    setup.control.check()?;
    let sizes = sizes(&components)?;
    let (count, largest) = (components.count as u64, sizes.last().map_or(0, |of_size| of_size.vertices));
    let ((), write) = timed(|| match output {
        None => Ok(()),
        Some((output, kind)) => Ok(write(output, kind, &graph, components)?),
    })?;
    let found = ComponentsFound {
        graph: GraphFacts::of(&graph),
        strong: arguments.strong,
        count,
        largest,
        sizes,
        seconds: Times { load, solve, write, ..Default::default() },
        peak_bytes: PeakBytes::of_host(),
    };
    if common.json {
        print::json(&found)?;
    } else if !common.quiet && arguments.output.as_deref().is_none_or(|path| path.as_os_str() != "-") {
        show(&found, &arguments).print()?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(feature = "mpi")]
fn run_on_ranks(arguments: &ComponentsArguments) -> Result<ExitCode, Failure> {
    ranks::run(arguments)
}

#[cfg(not(feature = "mpi"))]
fn run_on_ranks(_: &ComponentsArguments) -> Result<ExitCode, Failure> {
    Err(Failure::without_mpi())
}

/// How many components there are of each size.
fn sizes(components: &Components) -> Result<Vec<OfSize>, Error> {
    let mut of_size = BTreeMap::new();
    for vertices in components.sizes()? {
        *of_size.entry(vertices).or_insert(0) += 1;
    }
    Ok(of_size.into_iter().map(|(vertices, components)| OfSize { vertices, components }).collect())
}

fn write(mut output: Output, kind: OutputKind, graph: &Graph, components: Components) -> Result<(), Error> {
    if kind == OutputKind::Npy {
        let written = write_npy(&mut output, &[components.of.len()], &Distances::U32(components.of));
        written.map_err(|error| Error::io(output.path(), error))?;
        return output.finish();
    }
    let mut table = table::Table::new(output, kind);
    let names = Names::of(graph);
    table.begin(&[("vertex", names.column), ("component", ColumnType::U32)])?;
    for (v, &component) in (0..graph.vertices() as VertexId).zip(&components.of) {
        table.push_row(&[names.cell(v), Cell::Unsigned(component.into())])?;
    }
    table.finish()
}

fn show(found: &ComponentsFound, arguments: &ComponentsArguments) -> Table {
    const SHOWN: usize = 10;
    let mut table = Table::new();
    table.row("graph", found.graph.text());
    let kind = if found.strong { "strongly connected" } else { "weakly connected" };
    table.row("components", format!("{} {kind}", print::grouped(found.count.into())));
    for OfSize { vertices, components } in found.sizes.iter().rev().take(SHOWN) {
        let vertices = print::count(*vertices, "vertex", "vertices");
        table.row("", format!("{} of {vertices}", print::grouped(u128::from(*components))));
    }
    if let Some(more) = found.sizes.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        table.row("", format!("and smaller ones of {}", print::count(more, "size", "sizes")));
    }
    if let Some(path) = &arguments.output {
        table.row("written", path.display().to_string());
    }
    table.row("time", found.seconds.text());
    table
}
