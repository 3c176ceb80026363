//! `warpath path --engine mpi`: the ranks of an MPI run find the path between two vertices of a graph that none of them has as a whole.

use std::time::Instant;

use serde::Serialize;
use warpath::{Control, Error};
use warpath_mpi::{Found, Names, Outcome, Problem, RankSeconds, Search, World};

use super::shown_name;
use crate::answer::{GraphFacts, PeakBytes, Times};
use crate::arguments::PathArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print::{self, Table};
use crate::ranks::{self, Options, SecondsOfRanks};
use crate::setup::start_threads;

/// The answer as JSON.
#[derive(Debug, Serialize)]
struct RanksAnswer<'a> {
    engine: &'static str,
    algorithm: &'a str,
    number_type: &'static str,
    graph: GraphFacts,
    from: &'a str,
    to: &'a str,
    reachable: bool,
    length: Option<serde_json::Value>,
    edges: Option<usize>,
    vertices: Option<Vec<String>>,
    verified: Option<bool>,
    seconds: Times,
    peak_bytes: PeakBytes,
    ranks: RanksFacts,
}

/// What the ranks did.
#[derive(Debug, Serialize)]
struct RanksFacts {
    count: usize,
    /// Where the time of the search went.
    #[serde(flatten)]
    seconds: SecondsOfRanks,
}

pub(super) fn run(arguments: &PathArguments) -> Result<ExitCode, Failure> {
    let (Some(from), Some(to)) = (&arguments.from, &arguments.to) else {
        return Err(Failure::usage("`--pairs` is not possible with `--engine mpi`"));
    };
    let (engine, as_json) = (&arguments.solving.engine.engine, arguments.solving.common.json);
    ranks::run(engine, as_json, |world, control, options| on_ranks(arguments, (from, to), world, control, options))
}

fn on_ranks(
    arguments: &PathArguments,
    (from, to): (&str, &str),
    world: &World,
    control: &Control,
    options: Options,
) -> Outcome<()> {
    world.agree(check(arguments))?;
    world.agree(start_threads(Some(1)).map_err(Failure::into_error))?;
    let source = ranks::source(world, &arguments.graph, arguments.solving.common.memory, false, control)?;
    let names = Names::load(world, &source)?;
    let ends = [names.find(world, from)?, names.find(world, to)?];
    let search = Search {
        targets: vec![ends[1]],
        predecessors: true,
        verify: arguments.verify,
        memory: arguments.solving.common.memory,
        devices: options.devices,
        parts: options.parts,
        ..Search::new(Problem::Sssp, vec![ends[0]])
    };
    if arguments.solving.plan.plan {
        world.agree(search.check(&source))?;
        return ranks::print_plan(world, &search.plan(world, &source)?, arguments.solving.common.json);
    }
    let found = search.run(world, &source)?;
    let start = Instant::now();
    let length = found.distances_of(world, &ends[1..])?[0];
    // Each rank asks for the names of its part.
    let path = match found.path_to(world, ends[1])? {
        Some(vertices) => Some(named(world, &names, &vertices)?),
        None => None,
    };
    let writing = start.elapsed().as_secs_f64();
    let graph = GraphFacts::new(source.vertices(), found.arcs, source.is_directed(), source.weight_kind().name());
    let split = SecondsOfRanks::gather(world, RankSeconds::of(found.seconds.solve, &found.traffic))?;
    let ranks = RanksFacts { count: world.ranks(), seconds: split };
    let is_first = world.rank() == 0;
    world.agree(if is_first {
        print(arguments, ranks, graph, &found, (from, to), length, path, writing)
    } else {
        Ok(())
    })
}

/// The names of vertices on rank 0.
fn named(world: &World, names: &Names, vertices: &[u64]) -> Outcome<Vec<String>> {
    names.of(world, if world.rank() == 0 { vertices } else { &[] })
}

/// An error for options that ranks do not have.
fn check(arguments: &PathArguments) -> Result<(), Error> {
    if arguments.solving.plan.ranks.is_some() {
        return Err(Error::invalid("`--ranks` is for `warpath bfs`, `sssp` and `apsp`"));
    }
    ranks::refuse(
        &arguments.graph,
        &[
            ("--k", arguments.k.is_some()),
            ("--output", arguments.output.is_some()),
            ("--plot", arguments.map.plot.is_some()),
            ("--coordinates", arguments.map.coordinates.is_some()),
            ("--statistics", arguments.solving.statistics),
            ("--threads", arguments.solving.common.threads.is_some()),
        ],
    )
}

#[allow(clippy::too_many_arguments)]
fn print(
    arguments: &PathArguments,
    ranks: RanksFacts,
    graph: GraphFacts,
    found: &Found,
    (from, to): (&str, &str),
    length: Option<warpath::Distance>,
    path: Option<Vec<String>>,
    walking: f64,
) -> Result<(), Error> {
    let seconds = Times {
        load: found.seconds.load,
        solve: found.seconds.solve,
        predecessors: found.seconds.predecessors + walking,
        verify: found.seconds.verify,
        ..Default::default()
    };
    let common = &arguments.solving.common;
    let edges = path.as_ref().map(|vertices| vertices.len().saturating_sub(1));
    if common.json {
        let answer = RanksAnswer {
            engine: "mpi",
            algorithm: &found.algorithm,
            number_type: found.number_type,
            graph,
            from,
            to,
            reachable: path.is_some(),
            length: length.map(print::number),
            edges,
            vertices: path,
            verified: arguments.verify.then_some(true),
            seconds,
            peak_bytes: PeakBytes::of_host(),
            ranks,
        };
        return print::json(&answer).map_err(Failure::into_error);
    }
    if common.quiet {
        return Ok(());
    }
    let mut table = Table::new();
    table.row("graph", graph.text());
    let on = print::count(ranks.count, "rank", "ranks");
    table.row("path", format!("{} on {on}, {}", found.algorithm, found.number_type));
    match (path, length) {
        (Some(vertices), Some(length)) => {
            let edges = print::count(vertices.len() - 1, "edge", "edges");
            let verified = if arguments.verify { ", verified" } else { "" };
            table.row("length", format!("{} over {edges}{verified}", print::digits(&print::number(length))));
            let names: Vec<String> = vertices.iter().map(|name| shown_name(name)).collect();
            table.row("vertices", names.join(" "));
        }
        _ => table.row("path", format!("no path leads from {from} to {to}")),
    }
    table.row("time", seconds.text());
    table.print().map_err(Failure::into_error)
}
