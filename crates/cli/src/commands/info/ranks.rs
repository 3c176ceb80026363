//! `warpath info --engine mpi`: the ranks of an MPI run look at a graph together.

use std::collections::BTreeMap;

use serde::Serialize;
use warpath::Error;
use warpath_mpi::{Problem, RankDevices, RankSeconds, RankStatistics, Search, statistics};

use super::{Components, Degrees};
use crate::answer::{PeakBytes, Times};
use crate::arguments::InfoArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print::{self, Table};
use crate::ranks::{self, SecondsOfRanks};
use crate::setup::start_threads;

/// The answer as JSON: as one machine gives it, without what ranks do not count.
#[derive(Debug, Serialize)]
struct RanksAnswer {
    engine: &'static str,
    vertices: u64,
    /// An undirected edge is two arcs.
    arcs: u64,
    directed: bool,
    weights: &'static str,
    weight_range: Option<(f64, f64)>,
    degrees: Degrees,
    components: Components,
    estimated_diameter: u64,
    /// Memory that the rank which needs most takes for a search, the graph included.
    memory_bytes: BTreeMap<&'static str, u64>,
    seconds: Times,
    peak_bytes: PeakBytes,
    ranks: RanksFacts,
}

#[derive(Debug, Serialize)]
struct RanksFacts {
    count: usize,
    /// Where the time of loading and looking went.
    #[serde(flatten)]
    seconds: SecondsOfRanks,
}

pub(super) fn run(arguments: &InfoArguments) -> Result<ExitCode, Failure> {
    let (engine, as_json) = (&arguments.engine.engine, arguments.common.json);
    ranks::run(engine, as_json, |world, control, options| {
        world.agree(options.refuse_those_of_searches("statistics"))?;
        world.agree(match options.devices {
            RankDevices::Cuda => Err(Error::invalid("ranks find statistics on their cores, not on GPUs")),
            RankDevices::Auto | RankDevices::Cpu => Ok(()),
        })?;
        world.agree(ranks::refuse(&arguments.graph, &[("--threads", arguments.common.threads.is_some())]))?;
        world.agree(start_threads(Some(1)).map_err(Failure::into_error))?;
        let memory = arguments.common.memory;
        let source = ranks::source(world, &arguments.graph, memory, false, control)?;
        let (directed, weights) = (source.is_directed(), source.weight_kind().name());
        let mut memory_bytes = BTreeMap::new();
        for (name, problem) in [("bfs", Problem::Bfs), ("sssp", Problem::Sssp)] {
            let search = Search { memory, devices: RankDevices::Cpu, ..Search::new(problem, Vec::new()) };
            memory_bytes.insert(name, search.plan(world, &source)?.greatest_bytes);
        }
        let before = world.traffic();
        let found = statistics(world, source, memory)?;
        let mine = RankSeconds::of(found.seconds.iter().sum(), &world.traffic().since(&before));
        let ranks = RanksFacts { count: world.ranks(), seconds: SecondsOfRanks::gather(world, mine)? };
        let answer = RanksAnswer::of(found, directed, weights, memory_bytes, ranks);
        world.agree(if world.rank() == 0 { answer.print(arguments) } else { Ok(()) })
    })
}

impl RanksAnswer {
    fn of(
        found: RankStatistics,
        directed: bool,
        weights: &'static str,
        memory_bytes: BTreeMap<&'static str, u64>,
        ranks: RanksFacts,
    ) -> Self {
        let [load, solve] = found.seconds;
        RanksAnswer {
            engine: "mpi",
            vertices: found.vertices,
            arcs: found.arcs,
            directed,
            weights,
            weight_range: found.weight_range.map(|(least, greatest)| super::shown_range(weights, least, greatest)),
            degrees: Degrees {
                least: found.least_degree,
                mean: if found.vertices > 0 { found.arcs as f64 / found.vertices as f64 } else { 0.0 },
                greatest: found.greatest_degree,
                isolated: found.isolated,
                histogram: found.histogram,
            },
            components: Components { count: found.components, largest: found.largest_component },
            estimated_diameter: found.estimated_diameter,
            memory_bytes,
            seconds: Times { load, solve, ..Default::default() },
            peak_bytes: PeakBytes::of_host(),
            ranks,
        }
    }

    fn print(&self, arguments: &InfoArguments) -> Result<(), Error> {
        if arguments.common.json {
            return print::json(self).map_err(Failure::into_error);
        }
        if arguments.common.quiet {
            return Ok(());
        }
        let mut table = Table::new();
        super::show_size(&mut table, (self.vertices, self.arcs, self.directed), self.weights, self.weight_range);
        super::show_shape(&mut table, &self.degrees, &self.components, None, self.estimated_diameter);
        for (problem, bytes) in &self.memory_bytes {
            table.row(format!("{problem} takes"), format!("{} on one rank, with the graph", print::bytes(*bytes)));
        }
        table.row("ranks", print::count(self.ranks.count, "rank", "ranks"));
        table.row("time", self.seconds.text());
        table.print().map_err(Failure::into_error)
    }
}
