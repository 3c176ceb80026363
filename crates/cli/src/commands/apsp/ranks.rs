//! `warpath apsp --engine mpi`: every rank has the graph, and solves and writes its share of the rows.

use std::path::Path;

use serde::Serialize;
use warpath::formats::{PartialFile, check_output};
use warpath::{Apsp, Control, Engine, Error};
use warpath_mpi::{AllPairs, Outcome, RankDevices, World, all_pairs};

use crate::answer::{GraphFacts, PeakBytes, Times, timed};
use crate::arguments::ApspArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::OutputKind;
use crate::print::{self, Table};
use crate::ranks;
use crate::setup::{Prepared, Setup, inputs};

/// The answer as JSON.
#[derive(Debug, Serialize)]
struct RanksAnswer {
    engine: &'static str,
    engine_reason: &'static str,
    algorithm: String,
    reason: &'static str,
    number_type: &'static str,
    repeated_wide: bool,
    threads: usize,
    graph: GraphFacts,
    source_count: u64,
    finite_pairs: u64,
    distance_sum: serde_json::Value,
    max_distance: Option<serde_json::Value>,
    verified: Option<bool>,
    seconds: Times,
    peak_bytes: PeakBytes,
    ranks: RanksFacts,
}

/// What the ranks did.
#[derive(Debug, Serialize)]
struct RanksFacts {
    count: usize,
    /// Whether each rank has a GPU.
    on_gpus: bool,
    /// Seconds that rank 0 waited for the others at the end.
    wait: f64,
}

pub(super) fn run(arguments: &ApspArguments) -> Result<ExitCode, Failure> {
    ranks::run(&arguments.solving.engine.engine, |world, control, devices| on_ranks(arguments, world, control, devices))
}

fn on_ranks(arguments: &ApspArguments, world: &World, control: &Control, devices: RankDevices) -> Outcome<()> {
    let (solving, is_first) = (&arguments.solving, world.rank() == 0);
    world.agree(check(arguments))?;
    let created = arguments.output.as_deref().filter(|_| is_first).map(|path| create(arguments, path, control));
    let file = world.agree(created.transpose())?;
    let on_host = world.ranks_on_host();
    // A GPU has other algorithms than the cores, and takes some time to open: only those who ask get one.
    let gpu = match devices {
        RankDevices::Cuda => world.gpu(devices, None, || 0)?,
        RankDevices::Auto | RankDevices::Cpu => None,
    };
    let engine = gpu.map_or(Engine::Cpu, |gpu| Engine::Cuda(vec![gpu.device.ordinal]));
    let setup = world.agree(Setup::on_rank(solving, engine, on_host, control).map_err(Failure::into_error))?;
    let loaded = setup.load_with_hierarchy(&arguments.graph).map_err(Failure::into_error);
    let Prepared { graph, hierarchy, seconds: load } = world.agree(loaded)?;
    let opened = timed(|| setup.solver(&graph, hierarchy)).map_err(Failure::into_error);
    let (solver, opening) = world.agree(opened)?;
    let mut request = Apsp::all();
    if let Some(algorithm) = &arguments.algorithm.algorithm {
        request = request.algorithm(algorithm);
    }
    if arguments.verify {
        request = request.verified();
    }
    let found = all_pairs(world, &solver, &request, file, arguments.output.is_some())?;
    let seconds = Times { load, prepare: opening, solve: found.seconds, ..Default::default() };
    let graph = GraphFacts::of(&graph);
    world.agree(if is_first { print(arguments, world, found, graph, seconds, gpu.is_some()) } else { Ok(()) })
}

/// An error for options that ranks do not have.
fn check(arguments: &ApspArguments) -> Result<(), Error> {
    let absent = [
        ("--sources", arguments.sources.is_some()),
        ("--targets", arguments.targets.is_some()),
        ("--reduce", arguments.reduce.is_some()),
        ("--layout", arguments.layout.is_some()),
        ("--resume", arguments.resume),
        ("--successors", arguments.successors),
        ("--plan", arguments.solving.plan.plan),
        ("--statistics", arguments.solving.statistics),
    ];
    match absent.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Error::invalid(format!("`{option}` is not possible with `--engine mpi`"))),
        None => Ok(()),
    }
}

fn create(arguments: &ApspArguments, path: &Path, control: &Control) -> Result<PartialFile, Error> {
    match OutputKind::of(path).map_err(Failure::into_error)? {
        OutputKind::Npy => {
            check_output(path, &inputs(&arguments.graph, &[]))?;
            ranks::create(path, control)
        }
        _ => Err(Error::invalid(format!("`{}`: ranks write all pairs to a .npy", path.display()))),
    }
}

fn print(
    arguments: &ApspArguments,
    world: &World,
    found: AllPairs,
    graph: GraphFacts,
    seconds: Times,
    on_gpus: bool,
) -> Result<(), Error> {
    let common = &arguments.solving.common;
    let vertices = graph.vertices();
    let facts = RanksFacts { count: world.ranks(), on_gpus, wait: found.wait };
    if common.json {
        let answer = RanksAnswer {
            engine: "mpi",
            engine_reason: "it was asked for",
            algorithm: found.algorithm,
            reason: "what one machine takes for the rows of a rank",
            number_type: found.number_type,
            repeated_wide: found.repeated_wide,
            threads: common.threads.unwrap_or(1) as usize,
            graph,
            source_count: vertices,
            finite_pairs: found.finite_pairs,
            distance_sum: print::sum(found.distance_sum),
            max_distance: found.max_distance.map(print::number),
            verified: arguments.verify.then_some(true),
            seconds,
            peak_bytes: PeakBytes::of_host(),
            ranks: facts,
        };
        return print::json(&answer).map_err(Failure::into_error);
    }
    if common.quiet {
        return Ok(());
    }
    let mut table = Table::new();
    table.row("graph", graph.text());
    let on = ranks::text(world.ranks(), on_gpus);
    table.row("apsp", format!("{} on {on}, {}", found.algorithm, found.number_type));
    let pairs = u128::from(vertices) * u128::from(vertices);
    let mut text = format!("{} of {}", print::grouped(found.finite_pairs.into()), print::count(pairs, "pair", "pairs"));
    if let Some(farthest) = found.max_distance.map(print::number) {
        text += &format!(", farthest {}, sum {}", print::digits(&farthest), print::sum(found.distance_sum));
    }
    table.row("reachable", text + if arguments.verify { ", verified" } else { "" });
    if let Some(output) = &arguments.output {
        table.row("written", output.display().to_string());
    }
    table.row("time", format!("{}, wait {}", seconds.text(), print::seconds(facts.wait)));
    table.print().map_err(Failure::into_error)
}
