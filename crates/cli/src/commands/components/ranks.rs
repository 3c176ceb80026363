//! `warpath components --engine mpi`: the ranks of an MPI run find the components together.

use std::path::Path;
use std::time::Instant;

use serde::Serialize;
use warpath::formats::{PartialFile, check_output};
use warpath::graph::{Distances, Unit, VertexId};
use warpath::tables::{csv_field, write_npy, write_npy_part};
use warpath::{Control, Error};
use warpath_mpi::{
    Names, Outcome, PartOfGraph, Parts, PredictedComponents, RankComponents, RankDevices, RankPlan, RankSeconds, World,
    components, predict_components, write_together,
};

use super::{ComponentsFound, OfSize, show};
use crate::answer::{GraphFacts, PeakBytes, Times};
use crate::arguments::ComponentsArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::OutputKind;
use crate::print::{self, Available, Table};
use crate::ranks::{self, Options, SecondsOfRanks};
use crate::setup::{inputs, start_threads};

/// The answer as JSON.
#[derive(Debug, Serialize)]
struct RanksAnswer {
    engine: &'static str,
    #[serde(flatten)]
    found: ComponentsFound,
    ranks: RanksFacts,
}

/// What the ranks did.
#[derive(Debug, Serialize)]
struct RanksFacts {
    count: usize,
    /// How often they told each other labels.
    rounds: u64,
    /// That all of them sent.
    bytes: u64,
    /// Where the time of finding the components went.
    #[serde(flatten)]
    seconds: SecondsOfRanks,
}

pub(super) fn run(arguments: &ComponentsArguments) -> Result<ExitCode, Failure> {
    if let Some(count) = arguments.plan.ranks {
        check(arguments, Options::of(&arguments.engine)?)?;
        print_plan_of_absent(arguments, count)?;
        return Ok(ExitCode::SUCCESS);
    }
    ranks::run(&arguments.engine, arguments.common.json, |world, control, options| {
        on_ranks(arguments, world, control, options)
    })
}

/// An error for options that ranks do not have.
fn check(arguments: &ComponentsArguments, options: Options) -> Result<(), Error> {
    options.refuse_those_of_searches("components")?;
    if options.devices == RankDevices::Cuda {
        return Err(Error::invalid("ranks find components on their cores, not on GPUs"));
    }
    let others = [("--strong", arguments.strong), ("--threads", arguments.common.threads.is_some())];
    ranks::refuse(&arguments.graph, &others)
}

/// Prints what one of so many ranks would take and send, of which none is started.
fn print_plan_of_absent(arguments: &ComponentsArguments, count: u32) -> Result<(), Failure> {
    let source = ranks::source_of_absent(&arguments.graph)?;
    let plan = RankPlan::components_for(&source, count.into());
    let memory = arguments.common.memory.unwrap_or_else(warpath::available_memory);
    let available = Available { memory, device: None, disk: None };
    let predicted = predict_components(&arguments.graph.graph.to_string_lossy(), count as usize).ok();
    if arguments.common.json {
        let traffic = predicted.map(|PredictedComponents { ghosts, hubs, load_bytes, bytes, rounds }| {
            let [ghosts, hubs, load_bytes, bytes, rounds] = [ghosts, hubs, load_bytes, bytes, rounds].map(|n| n as u64);
            serde_json::json!({"ghosts": ghosts, "hubs": hubs, "load_bytes": load_bytes, "bytes": bytes, "rounds": rounds})
        });
        print::plan_with_traffic(None, &plan, available, true, traffic)?;
    } else {
        let mut table = Table::new();
        table.row("ranks", format!("{}; below is what each takes", print::grouped(count.into())));
        if let Some(PredictedComponents { ghosts, hubs, load_bytes, bytes, rounds }) = predicted {
            let [load, labels] = [load_bytes, bytes].map(|bytes| print::bytes(bytes as u64));
            let rounds = print::count(rounds as u64, "round", "rounds");
            table.row("sends", format!("{load} while loading, {labels} of labels in {rounds}"));
            let [ghosts, hubs] = [ghosts, hubs].map(|count| print::grouped(count as u128));
            table.row("knows", format!("{ghosts} vertices of other ranks, {hubs} hubs"));
        }
        table.print()?;
        print::plan(None, &plan, available, false)?;
    }
    plan.check(memory).map_err(|error| Failure::from(error).after_the_answer())
}

fn on_ranks(arguments: &ComponentsArguments, world: &World, control: &Control, options: Options) -> Outcome<()> {
    let is_first = world.rank() == 0;
    world.agree(check(arguments, options))?;
    world.agree(start_threads(Some(1)).map_err(Failure::into_error))?;
    let output = arguments.output.as_deref().filter(|_| is_first && !arguments.plan.plan);
    let created = output.map(|path| create(arguments, path, control));
    let file = world.agree(created.transpose())?;
    let source = ranks::source(world, &arguments.graph, arguments.common.memory, true, control)?;
    let planned = RankPlan::of_components(world, &source, arguments.common.memory)?;
    if arguments.plan.plan {
        return ranks::print_plan(world, &planned, arguments.common.json);
    }
    world.agree(planned.check())?;
    let start = Instant::now();
    let graph = PartOfGraph::<Unit>::load(world, &source, Parts::Consecutive)?;
    let load = start.elapsed().as_secs_f64();
    let found = components(world, &graph)?;
    let start = Instant::now();
    if let Some(path) = &arguments.output {
        let names = Names::load(world, &source)?;
        write(path, world, &names, &found, file)?;
    }
    let seconds = Times { load, solve: found.seconds, write: start.elapsed().as_secs_f64(), ..Default::default() };
    let facts = GraphFacts::new(graph.vertices(), graph.arcs(), graph.is_directed(), "unit");
    let split = SecondsOfRanks::gather(world, RankSeconds::of(found.seconds, &found.traffic))?;
    let bytes = world.total(found.traffic.bytes);
    let ranks = RanksFacts { count: world.ranks(), rounds: found.rounds, bytes, seconds: split };
    let sizes = found.sizes.iter().map(|&(vertices, components)| OfSize { vertices, components }).collect();
    let found = ComponentsFound {
        graph: facts,
        strong: false,
        count: found.count,
        largest: found.sizes.last().map_or(0, |&(vertices, _)| vertices),
        sizes,
        seconds,
        peak_bytes: PeakBytes::of_host(),
    };
    world.agree(if is_first { print(arguments, found, ranks) } else { Ok(()) })
}

fn create(arguments: &ComponentsArguments, path: &Path, control: &Control) -> Result<PartialFile, Error> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy" | "csv") => {
            check_output(path, &inputs(&arguments.graph, &[]))?;
            ranks::create(path, control)
        }
        _ => Err(Error::invalid(format!("`{}`: ranks write a .csv or a .npy", path.display()))),
    }
}

/// Writes the components of all ranks to one file, as one machine writes them.
fn write(path: &Path, world: &World, names: &Names, found: &RankComponents, file: Option<PartialFile>) -> Outcome<()> {
    let kind = world.agree(OutputKind::of(path).map_err(Failure::into_error))?;
    let is_first = world.rank() == 0;
    if kind.is_table() {
        return write_together(world, file, |out| {
            if is_first {
                writeln!(out, "vertex,component")?;
            }
            for (vertex, component) in found.of.iter().enumerate() {
                writeln!(out, "{},{component}", csv_field(&names.own().name(vertex as VertexId)))?;
            }
            Ok(())
        });
    }
    let numbers = match u32::try_from(found.count) {
        Ok(_) => Distances::U32(found.of.iter().map(|&component| component as u32).collect()),
        Err(_) => Distances::U64(found.of.clone()),
    };
    let vertices = world.total(found.of.len() as u64) as usize;
    write_together(world, file, |out| {
        if is_first { write_npy(out, &[vertices], &numbers) } else { write_npy_part(out, &numbers) }
    })
}

fn print(arguments: &ComponentsArguments, found: ComponentsFound, ranks: RanksFacts) -> Result<(), Error> {
    if arguments.common.json {
        return print::json(&RanksAnswer { engine: "mpi", found, ranks }).map_err(Failure::into_error);
    }
    if arguments.common.quiet {
        return Ok(());
    }
    let mut table = show(&found, arguments);
    let (on, rounds) = (print::count(ranks.count, "rank", "ranks"), print::count(ranks.rounds, "round", "rounds"));
    table.row("ranks", format!("{on}, which sent {} in {rounds}", print::bytes(ranks.bytes)));
    table.print().map_err(Failure::into_error)
}
