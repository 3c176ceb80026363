//! `--engine mpi`: a search by all ranks of an MPI run. Every rank runs the command; rank 0 prints.

mod absent;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde::{Serialize, Serializer};
use warpath::formats::{PartialFile, check_output};
use warpath::graph::{Distances, Labels, VertexId};
use warpath::problems::Cutoff;
use warpath::tables::{csv_field, write_npy, write_npy_part};
use warpath::{Control, Error, ReadOptions};
use warpath_mpi::{
    Failed, Found, Names, Outcome, PartFacts, Problem, RankMessages, RankSeconds, Search, SharedFile, Source, World,
};

use super::SearchCommand;
use super::found::{EachSearch, Found as Shown};
use crate::answer::{GraphFacts, PeakBytes, Times};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::OutputKind;
use crate::print::{self, Table};
use crate::ranks::{self, Options, SecondsOfRanks};
use crate::setup::{inputs, start_threads};
use crate::vertex_lists::{for_each_name, unknown};

/// Runs the search on all ranks.
pub(super) fn run(command: &SearchCommand<'_>, algorithm: Option<&str>) -> Result<ExitCode, Failure> {
    if let Some(count) = command.solving.plan.ranks {
        check(command)?;
        let source = turned(command, ranks::source_of_absent(command.graph)?);
        let options = Options::of(&command.solving.engine.engine)?;
        let search = Search { algorithm: algorithm.map(str::to_owned), ..request(command, options, Vec::new()) };
        absent::print_plan(command, &search, &source, count)?;
        return Ok(ExitCode::SUCCESS);
    }
    let (engine, as_json) = (&command.solving.engine.engine, command.solving.common.json);
    ranks::run(engine, as_json, |world, control, options| on_ranks(command, algorithm, world, control, options))
}

fn on_ranks(
    command: &SearchCommand<'_>,
    algorithm: Option<&str>,
    world: &World,
    control: &Control,
    options: Options,
) -> Outcome<()> {
    let is_first = world.rank() == 0;
    world.agree(check(command))?;
    world.agree(start_threads(Some(1)).map_err(Failure::into_error))?;
    let created = command.search.output.as_deref().filter(|_| is_first).map(|path| create(command, path, control));
    let file = world.agree(created.transpose())?;
    let (memory, ignores) = (command.solving.common.memory, command.ignores_weights);
    let source = turned(command, ranks::source(world, command.graph, memory, ignores, control)?);
    let names = Names::load(world, &source)?;
    let find = |list: &[String]| list.iter().map(|name| names.find(world, name)).collect::<Outcome<Vec<u64>>>();
    let (sources, targets) = (find(&command.search.source)?, find(&command.search.target)?);
    let listed =
        command.search.sources.as_deref().map(|file| Listed::read(world, &names, file, control)).transpose()?;
    let search = Search {
        targets: targets.clone(),
        cutoff: world.agree(cutoff(command))?,
        algorithm: algorithm.map(str::to_owned),
        ..request(command, options, sources)
    };
    if command.solving.plan.plan {
        world.agree(search.check(&source))?;
        let planned = search.plan(world, &source)?;
        return ranks::print_plan(world, &planned, command.solving.common.json);
    }
    let mut file = match command.search.output {
        Some(_) => Some(SharedFile::new(world, file)?),
        None => None,
    };
    let (mut results, mut seconds, mut last) = (Vec::new(), Times::default(), None);
    let mut handle = |found: Found| {
        let start = Instant::now();
        let reached = found.distances_of(world, &targets)?;
        let nearest = if command.search.names_nearest() { Some(found.nearest_sources(world)?) } else { None };
        let of_targets = match &nearest {
            Some(nearest) => nearest_of(world, &names, &found, nearest, &targets)?,
            None => vec![None; targets.len()],
        };
        let source = listed.as_ref().map(|listed| &*listed.names[results.len()]);
        if let Some(file) = &mut file {
            let is_begun = !results.is_empty();
            write(command, world, &names, &found, Origin { source, nearest: nearest.as_deref() }, file, is_begun)?;
        }
        seconds.add(&warpath::problems::Seconds {
            solve: found.seconds.solve,
            predecessors: found.seconds.predecessors,
            ..Default::default()
        });
        seconds.load += found.seconds.load;
        seconds.verify += found.seconds.verify;
        seconds.write += start.elapsed().as_secs_f64();
        let sources = source.map_or_else(|| command.search.source.clone(), |source| vec![source.to_owned()]);
        let targets = command.search.target.iter().cloned().zip(reached.into_iter().zip(of_targets));
        results.push(Shown::of_ranks(sources, &found, targets));
        let ranks = Ranks::of(world, &found)?;
        // What is large is not needed any more.
        last = Some((Found { distances: Distances::U32(Vec::new()), predecessors: None, ..found }, ranks));
        Ok(())
    };
    match &listed {
        Some(listed) => search.run_each(world, &source, &listed.vertices, &mut handle)?,
        None => handle(search.run(world, &source)?)?,
    }
    if let Some(file) = file {
        file.finish(world)?;
    }
    let Some((found, ranks)) = last else { return Ok(()) };
    world.agree(if is_first {
        let kind = if command.ignores_weights { "unit" } else { source.weight_kind().name() };
        let graph = GraphFacts::new(source.vertices(), found.arcs, source.is_directed(), kind);
        print_found(command, algorithm.is_some(), graph, &found, results, &ranks, seconds)
    } else {
        Ok(())
    })
}

/// The vertices of a list of sources, and their names.
struct Listed {
    vertices: Vec<u64>,
    names: Vec<String>,
}

impl Listed {
    /// Reads the list on every rank.
    fn read(world: &World, names: &Names, file: &Path, control: &Control) -> Outcome<Self> {
        let options = ReadOptions::new().control(control.clone());
        let mut lines = Vec::new();
        let read = for_each_name(&options, control, file, |line, name| {
            lines.push((line, name.to_owned()));
            Ok(())
        });
        world.agree(read.map_err(Failure::into_error))?;
        let mut hasher = DefaultHasher::new();
        lines.hash(&mut hasher);
        let wrong = match (world.are_equal(hasher.finish()), lines.is_empty()) {
            (false, _) => Some("the list is another one on another host"),
            (true, true) => Some("there are no vertices in it"),
            (true, false) => None,
        };
        let error = wrong.map(|what| Error::invalid(format!("{}: {what}", file.display())));
        world.agree(error.map_or(Ok(()), Err))?;
        let mut listed = Listed { vertices: Vec::new(), names: Vec::new() };
        for (line, name) in lines {
            let vertex = names.find(world, &name).map_err(|failed| match failed {
                Failed::Here(error) => Failed::Here(unknown(error, line, file)),
                elsewhere => elsewhere,
            })?;
            listed.vertices.push(vertex);
            listed.names.push(name);
        }
        Ok(listed)
    }
}

/// Where the distances of a table are from, if it has a column for that.
#[derive(Clone, Copy)]
struct Origin<'a> {
    /// The one source of this search among several searches.
    source: Option<&'a str>,
    /// The nearest of several sources, for each vertex.
    nearest: Option<&'a [Option<u64>]>,
}

/// What is asked for beside targets, a cutoff and an algorithm.
fn request(command: &SearchCommand<'_>, options: Options, sources: Vec<u64>) -> Search {
    let problem = if command.ignores_weights { Problem::Bfs } else { Problem::Sssp };
    Search {
        predecessors: command.search.needs_predecessors(),
        verify: command.search.verify,
        memory: command.solving.common.memory,
        devices: options.devices,
        parts: options.parts,
        ..Search::new(problem, sources)
    }
}

fn cutoff(command: &SearchCommand<'_>) -> Result<Option<Cutoff>, Error> {
    command.search.cutoff.as_deref().map(str::parse).transpose()
}

/// An error for options that ranks do not have.
fn check(command: &SearchCommand<'_>) -> Result<(), Error> {
    let search = command.search;
    ranks::refuse(
        command.graph,
        &[
            ("--count-paths", command.count_paths),
            ("--isochrones", command.isochrones.is_some()),
            ("--plot", search.map.plot.is_some()),
            ("--coordinates", search.map.coordinates.is_some()),
            ("--statistics", command.solving.statistics),
            ("--threads", command.solving.common.threads.is_some()),
        ],
    )
}

fn create(command: &SearchCommand<'_>, path: &Path, control: &Control) -> Result<PartialFile, Error> {
    let search = command.search;
    let is_limited = search.cutoff.is_some() || !search.target.is_empty();
    if search.all_rows && !is_limited {
        return Err(Error::invalid(
            "`--all-rows` adds the rows that `--cutoff` or `--target` leaves out, and neither is given",
        ));
    }
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npy") if search.sources.is_some() => {
            Err(Error::invalid("one result for each source does not fit a .npy of distances; a .csv has rows for each"))
        }
        Some("npy") if command.search.predecessors => Err(Error::invalid(
            "a .npy holds the distances of all vertices and nothing else; `--predecessors` needs a .csv",
        )),
        Some("npy" | "csv") => {
            check_output(path, &inputs(command.graph, &[&search.sources]))?;
            ranks::create(path, control)
        }
        _ => Err(Error::invalid(format!("`{}`: ranks write a .csv or a .npy", path.display()))),
    }
}

/// The graph, turned round if that was asked for.
fn turned<'s>(command: &SearchCommand<'_>, source: Source<'s>) -> Source<'s> {
    if command.search.reverse { source.reversed() } else { source }
}

/// The names of the sources that are nearest to some vertices, on rank 0.
fn nearest_of(
    world: &World,
    names: &Names,
    found: &Found,
    nearest: &[Option<u64>],
    vertices: &[u64],
) -> Outcome<Vec<Option<String>>> {
    let here = |vertex: &u64| {
        let owned = found.owned.contains(vertex).then(|| nearest[(vertex - found.owned.start) as usize]);
        // Only the owner knows more than nothing.
        owned.flatten().map_or(0, |source| source + 1)
    };
    let sources = world.greatest_of_each(vertices.iter().map(here).collect());
    let reached: Vec<u64> = sources.iter().filter_map(|source| source.checked_sub(1)).collect();
    let mut named = names.of(world, if world.rank() == 0 { &reached } else { &[] })?.into_iter();
    Ok(sources.iter().map(|&source| if source > 0 { named.next() } else { None }).collect())
}

/// Writes the distances of all ranks to one file, in the order of the vertices.
fn write(
    command: &SearchCommand<'_>,
    world: &World,
    names: &Names,
    found: &Found,
    origin: Origin<'_>,
    file: &mut SharedFile,
    is_begun: bool,
) -> Outcome<()> {
    let path = command.search.output.as_deref().unwrap_or(Path::new(""));
    let kind = world.agree(OutputKind::of(path).map_err(Failure::into_error))?;
    let is_first = world.rank() == 0;
    if !kind.is_table() {
        let vertices = world.total(found.distances.len() as u64) as usize;
        return file.append(world, |out| {
            if is_first {
                return write_npy(out, &[vertices], &found.distances);
            }
            write_npy_part(out, &found.distances)
        });
    }
    let named = |vertices: Option<&[Option<u64>]>| match vertices {
        Some(vertices) => {
            let some: Vec<u64> = vertices.iter().flatten().copied().collect();
            let mut names = names.of(world, &some)?.into_iter();
            Ok(Some(vertices.iter().map(|vertex| vertex.and_then(|_| names.next())).collect::<Vec<_>>()))
        }
        None => Ok(None),
    };
    let tails = named(found.predecessors.as_deref().filter(|_| command.search.predecessors))?;
    let nearest = named(origin.nearest)?;
    let is_limited = command.search.cutoff.is_some() || !command.search.target.is_empty();
    let all_rows = command.search.all_rows || !is_limited;
    file.append(world, |out| {
        if is_first && !is_begun {
            let parent = match (&tails, command.search.reverse) {
                (None, _) => "",
                (_, false) => ",predecessor",
                (_, true) => ",successor",
            };
            let source = if nearest.is_some() || origin.source.is_some() { "source," } else { "" };
            writeln!(out, "{source}vertex,distance{parent}")?;
        }
        write_rows(out, names.own(), found, (origin.source, &nearest, &tails), all_rows)
    })
}

/// For each vertex the name of another one, if it has that.
type NamedVertices = Option<Vec<Option<String>>>;

/// The rows of a .csv, as one machine writes them.
fn write_rows(
    out: &mut dyn Write,
    names: &Labels,
    found: &Found,
    (source, nearest, tails): (Option<&str>, &NamedVertices, &NamedVertices),
    all_rows: bool,
) -> std::io::Result<()> {
    let name_of = |names: &NamedVertices, vertex: usize| {
        names.as_ref().map(|names| names[vertex].as_deref().map_or(String::new(), |name| csv_field(name).into()))
    };
    for vertex in 0..found.distances.len() {
        if !all_rows && found.distances.get(vertex).is_none() {
            continue;
        }
        if let Some(source) = name_of(nearest, vertex).or_else(|| source.map(|source| csv_field(source).into())) {
            write!(out, "{source},")?;
        }
        out.write_all(csv_field(&names.name(vertex as VertexId)).as_bytes())?;
        out.write_all(b",")?;
        if let Some(distance) = found.distances.get(vertex) {
            write!(out, "{distance}")?;
        }
        if let Some(tail) = name_of(tails, vertex) {
            write!(out, ",{tail}")?;
        }
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// The answer as JSON: as one machine gives it, and what the ranks did.
#[derive(Debug, Serialize)]
struct RanksAnswer<'a> {
    engine: &'static str,
    engine_reason: &'static str,
    algorithm: &'a str,
    reason: &'static str,
    number_type: &'static str,
    repeated_wide: bool,
    threads: usize,
    graph: GraphFacts,
    reverse: bool,
    #[serde(flatten)]
    found: Option<Shown>,
    /// Of searches from a list of sources, one for each; the facts about ranks are those of the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    results: Option<Vec<EachSearch>>,
    seconds: Times,
    peak_bytes: PeakBytes,
    ranks: &'a Ranks,
}

/// What the ranks did.
#[derive(Debug, Serialize)]
struct Ranks {
    count: usize,
    /// Whether each rank has a GPU.
    on_gpus: bool,
    /// What carried the messages in the end.
    #[serde(serialize_with = "as_name")]
    carried_by: RankMessages,
    /// The vertices of each of the blocks that the ranks searched in turn; none if they searched consecutive vertices.
    block: Option<u64>,
    /// Where the time of the search went.
    #[serde(flatten)]
    seconds: SecondsOfRanks,
    /// Of all ranks, during the search.
    bytes: u64,
    messages: u64,
    /// Bytes that each rank gave to reductions.
    reduced_bytes: u64,
    /// How often all ranks met.
    meetings: u64,
    hubs: u64,
    /// Of all ranks: vertices that a rank knows and another one owns.
    ghosts: u64,
    /// How many times the average the rank with most arcs has.
    imbalance: f64,
}

fn as_name<S: Serializer>(messages: &RankMessages, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(messages.name())
}

impl Ranks {
    fn of(world: &World, found: &Found) -> Outcome<Self> {
        let all = found.of_all_ranks(world)?;
        let seconds: Vec<RankSeconds> = all.iter().map(|found| RankSeconds::of(found.solve, &found.traffic)).collect();
        let sum = |of: fn(&PartFacts) -> u64| all.iter().map(|found| of(&found.part)).sum::<u64>();
        let most = all.iter().map(|found| found.part.arcs).max().unwrap_or(0);
        let arcs = sum(|part| part.arcs);
        Ok(Ranks {
            count: all.len(),
            on_gpus: found.gpu.is_some(),
            carried_by: if found.gpu.is_some() { world.carried_by() } else { RankMessages::Mpi },
            block: found.block,
            seconds: SecondsOfRanks::of(&seconds),
            bytes: all.iter().map(|found| found.traffic.bytes).sum(),
            messages: all.iter().map(|found| found.traffic.messages).sum(),
            reduced_bytes: found.traffic.reduced_bytes,
            meetings: found.traffic.meetings,
            hubs: found.part.hubs,
            ghosts: sum(|part| part.ghosts),
            imbalance: if arcs > 0 { most as f64 * all.len() as f64 / arcs as f64 } else { 1.0 },
        })
    }
}

fn print_found(
    command: &SearchCommand<'_>,
    was_asked_for: bool,
    graph: GraphFacts,
    found: &Found,
    mut results: Vec<Shown>,
    told: &Ranks,
    seconds: Times,
) -> Result<(), Error> {
    let (common, reverse) = (&command.solving.common, command.search.reverse);
    let many = command.search.sources.is_some();
    if common.json {
        let answer = RanksAnswer {
            engine: "mpi",
            engine_reason: "it was asked for",
            algorithm: &found.algorithm,
            reason: if was_asked_for { "it was asked for" } else { "the first that fits the graph" },
            number_type: found.number_type,
            repeated_wide: found.repeated_wide,
            threads: 1,
            graph,
            reverse,
            found: if many { None } else { results.pop() },
            results: many.then(|| results.into_iter().map(EachSearch::from).collect()),
            seconds,
            peak_bytes: PeakBytes::of_host(),
            ranks: told,
        };
        return print::json(&answer).map_err(Failure::into_error);
    }
    if common.quiet {
        return Ok(());
    }
    const SHOWN: usize = 20;
    let mut table = Table::new();
    table.row("graph", graph.text());
    let wide = if found.repeated_wide { ", repeated with 64-bit distances" } else { "" };
    let on = ranks::text(told.count, told.on_gpus, told.carried_by);
    table.row(command.problem, format!("{} on {on}, {}{wide}", found.algorithm, found.number_type));
    for shown in results.iter().take(SHOWN) {
        shown.rows(&mut table, graph.vertices() as usize, reverse);
    }
    if results.len() > SHOWN {
        table.row("", format!("and {}", print::count(results.len() - SHOWN, "more source", "more sources")));
    }
    let of_last = if many { ", in the last search" } else { "" };
    table.row("slowest", told.seconds.slowest() + of_last);
    let messages = print::count(told.messages, "message", "messages");
    let meetings = print::grouped(told.meetings.into());
    let sent = print::bytes(told.bytes);
    table.row("sent", format!("{sent} in {messages}; the ranks met {meetings} times{of_last}"));
    if let Some(output) = &command.search.output {
        table.row("written", output.display().to_string());
    }
    table.row("time", seconds.text());
    table.print().map_err(Failure::into_error)
}
