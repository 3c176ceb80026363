//! `warpath apsp --engine mpi`: every rank has the graph, and solves and writes its share of the rows; or it has a block of the matrix, and no
//! rank has the graph.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use serde::Serialize;
use warpath::formats::{PartialFile, check_output};
use warpath::graph::WeightKind;
use warpath::problems::RowReductions;
use warpath::{Apsp, Control, Decision, Engine, Error, Solver};
use warpath_mpi::{
    AllPairs, FLOYD_WARSHALL, MatrixFile, Outcome, Pairs, PredictedMatrix, RankDevices, RankMessages, RankPlan,
    RankSeconds, Rows, SharedMatrix, Source, World, all_pairs, check_matrix, decide_rows, floyd_warshall,
    predict_matrix, same_graph,
};

use super::{Scores, reduced, refuse_matrix_of_reduction};
use crate::answer::{GraphFacts, PeakBytes, Times, timed};
use crate::arguments::ApspArguments;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::output::{Output, OutputKind};
use crate::print::{self, Available, Table};
use crate::ranks::{self, Options, SecondsOfRanks};
use crate::setup::{Prepared, Setup, inputs, start_threads};
use crate::table;
use crate::vertex_lists::read_vertices;

/// The answer as JSON.
#[derive(Debug, Serialize)]
struct RanksAnswer {
    engine: &'static str,
    engine_reason: &'static str,
    algorithm: String,
    reason: String,
    number_type: &'static str,
    repeated_wide: bool,
    threads: usize,
    graph: GraphFacts,
    source_count: u64,
    finite_pairs: u64,
    distance_sum: serde_json::Value,
    max_distance: Option<serde_json::Value>,
    /// The reduction, one object per row, if no file is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    reduction: Option<serde_json::Value>,
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
    /// How many rows an interrupted run had left.
    resumed_rows: u64,
    /// Seconds that rank 0 waited for the others.
    wait: f64,
    /// That all of them sent while they solved.
    bytes: u64,
    /// Where the time of solving went, with that of checking and writing rows.
    #[serde(flatten)]
    seconds: SecondsOfRanks,
}

pub(super) fn run(arguments: &ApspArguments) -> Result<ExitCode, Failure> {
    let (engine, as_json) = (&arguments.solving.engine.engine, arguments.solving.common.json);
    if let Some(count) = arguments.solving.plan.ranks {
        plan_absent(arguments, &Options::of(engine)?, count)?;
        return Ok(ExitCode::SUCCESS);
    }
    ranks::run(engine, as_json, |world, control, options| on_ranks(arguments, world, control, options))
}

/// Prints what each of so many ranks would take and send that share a matrix, none of which is started.
fn plan_absent(arguments: &ApspArguments, options: &Options, count: u32) -> Result<(), Failure> {
    check(arguments)?;
    if arguments.algorithm.algorithm.as_deref() != Some(FLOYD_WARSHALL.name) {
        return Err(Failure::usage(format!(
            "`--ranks` plans for `--algorithm {}`; ranks that share rows out take what one machine takes for them, and send next to nothing",
            FLOYD_WARSHALL.name
        )));
    }
    options.refuse_those_of_searches("all pairs")?;
    refuse_gpus(options.devices)?;
    ranks::refuse(&arguments.graph, &of_shared_matrix(arguments))?;
    /// The model looks at each of them.
    const MOST: u32 = 1 << 20;
    if count > MOST {
        return Err(Failure::usage(format!("`--ranks {count}`: a matrix is planned for up to {MOST} ranks")));
    }
    let source = ranks::source_of_absent(&arguments.graph)?;
    check_matrix(&source)?;
    let plan = RankPlan::matrix_for(&source, count.into(), arguments.verify);
    let cell = source.matrix_cell_bytes();
    let PredictedMatrix { bytes, messages, meetings } = predict_matrix(source.vertices(), count as usize, cell);
    let memory = arguments.solving.common.memory.unwrap_or_else(warpath::available_memory);
    let available = Available { memory, device: None, disk: None };
    let [bytes, messages, meetings] = [bytes, messages, meetings].map(|number| number as u64);
    if arguments.solving.common.json {
        let traffic = serde_json::json!({"bytes": bytes, "messages": messages, "meetings": meetings});
        print::plan_with_traffic(None, &plan, available, true, Some(traffic))?;
    } else {
        let mut table = Table::new();
        table.row("ranks", format!("{}; below is what each takes", print::grouped(count.into())));
        let messages = print::count(messages, "message", "messages");
        table.row(
            "sends",
            format!("{} in {messages}, while it solves, if distances fit {cell} bytes", print::bytes(bytes)),
        );
        table.row("meets", format!("{} times", print::grouped(meetings.into())));
        table.print()?;
        print::plan(None, &plan, available, false)?;
    }
    plan.check(memory).map_err(|error| Failure::from(error).after_the_answer())
}

fn on_ranks(arguments: &ApspArguments, world: &World, control: &Control, options: Options) -> Outcome<()> {
    let (solving, devices, is_first) = (&arguments.solving, options.devices, world.rank() == 0);
    world.agree(check(arguments))?;
    world.agree(options.refuse_those_of_searches("all pairs"))?;
    let plans = solving.plan.plan;
    let output = arguments.output.as_deref().filter(|_| is_first && !plans);
    let (of_matrix, of_table) = if arguments.reduce.is_some() { (None, output) } else { (output, None) };
    let file = world.agree(of_matrix.map(|path| create(arguments, path, control)).transpose())?;
    let table = of_table.map(|path| create_table(arguments, path, control)).transpose();
    let table = world.agree(table.map_err(Failure::into_error))?;
    let matrix = SharedMatrix {
        verify: arguments.verify,
        memory: solving.common.memory,
        file: None,
        writes: arguments.output.is_some() && arguments.reduce.is_none(),
    };
    if arguments.algorithm.algorithm.as_deref() == Some(FLOYD_WARSHALL.name) {
        return share_matrix(arguments, world, control, devices, SharedMatrix { file, ..matrix });
    }
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
    same_graph(world, &graph)?;
    let list = |file: &Option<PathBuf>| {
        let read = file.as_deref().map(|file| read_vertices(&setup, &graph, file));
        world.agree(read.transpose().map_err(Failure::into_error))
    };
    let (sources, targets) = (list(&arguments.sources)?, list(&arguments.targets)?);
    let pairs = Pairs { sources: sources.as_deref(), targets: targets.as_deref() };
    // The same list, however it is written.
    world.agree(if world.are_equal(fingerprint_of(pairs)) {
        Ok(())
    } else {
        Err(Error::invalid("the ranks have different lists of sources or targets"))
    })?;
    let opened = timed(|| setup.solver(&graph, hierarchy)).map_err(Failure::into_error);
    let (solver, opening) = world.agree(opened)?;
    let mut request = Apsp::all();
    if let Some(algorithm) = &arguments.algorithm.algorithm {
        request = request.algorithm(algorithm);
    }
    if arguments.verify {
        request = request.verified();
    }
    let source = Source::of(&graph);
    let is_shared = world.ranks() > 1 && gpu.is_none() && suits_a_shared_matrix(&solver, &request, arguments);
    // All ranks have to decide the same.
    let is_shared = world.are_equal(is_shared.into()) && is_shared && {
        let planned = RankPlan::of_matrix(world, &source, solving.common.memory, arguments.verify)?;
        let fits = world.total(planned.check().is_err().into()) == 0;
        if plans && fits {
            return ranks::print_plan(world, &planned, solving.common.json);
        }
        fits
    };
    let mut reductions = None;
    let (found, reason) = if is_shared {
        let (found, _) = floyd_warshall(world, &source, SharedMatrix { file, ..matrix })?;
        (found, "each rank would make the whole matrix for its rows alone")
    } else {
        let rows = match arguments.reduce {
            Some(how) => Rows::Reduced(reductions.insert(RowReductions::new([how.into()]))),
            None => Rows::Matrix(MatrixFile { file, writes: matrix.writes, resume: arguments.resume }),
        };
        if plans {
            let decision = world.agree(decide_rows(world, &solver, &request, pairs, rows))?;
            return print_plan_of_rows(world, &setup, &solver, &decision, arguments);
        }
        (all_pairs(world, &solver, &request, pairs, rows)?, "what one machine takes for the rows of a rank")
    };
    let seconds = Times { load: load + found.load, prepare: opening, ..times_of(&found) };
    let (split, bytes) = (SecondsOfRanks::gather(world, seconds_of(&found))?, world.total(found.traffic.bytes));
    let print = || {
        let both = arguments.reduce.zip(reductions.as_ref());
        let scores = both.map(|(how, found)| reduced(&graph, found, how, pairs.sources, pairs.targets));
        let answer = RanksFound {
            found,
            split,
            bytes,
            facts: GraphFacts::of(&graph),
            pairs: pairs.shape(&graph),
            scores,
            table,
        };
        print(arguments, world, answer, (seconds, reason.to_owned()), gpu.is_some())
    };
    world.agree(if is_first { print() } else { Ok(()) })
}

/// Prints the plan for the rows of rank 0, and on how many ranks that is.
fn print_plan_of_rows(
    world: &World,
    setup: &Setup<'_>,
    solver: &Solver,
    decision: &Decision,
    arguments: &ApspArguments,
) -> Outcome<()> {
    if world.rank() > 0 {
        return world.agree(Ok(()));
    }
    let print = || {
        if !arguments.solving.common.json {
            let mut table = Table::new();
            let on = ranks::text(world.ranks(), !decision.plan().device_items().is_empty(), RankMessages::Mpi);
            table.row("ranks", format!("{on}, which share the rows out; below is the plan of rank 0"));
            table.print()?;
        }
        setup.print_plan(solver, decision, None, |_| (), arguments.output.as_deref())
    };
    world.agree(print().map_err(Failure::into_error))
}

/// A number that lists of sources and targets have in common if they are equal.
fn fingerprint_of(pairs: Pairs<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    (pairs.sources, pairs.targets).hash(&mut hasher);
    hasher.finish()
}

/// Whether one machine would make a matrix, which ranks can share.
fn suits_a_shared_matrix(solver: &Solver, request: &Apsp, arguments: &ApspArguments) -> bool {
    let is_matrix = || {
        solver.decide(request).is_ok_and(|decision| {
            decision.engine() == "cpu" && ["tiled-floyd-warshall", "floyd-warshall"].contains(&decision.algorithm())
        })
    };
    let graph = solver.graph();
    let is_float = matches!(graph.weight_kind(), WeightKind::F32 | WeightKind::F64);
    let least = if arguments.verify { 1.0 } else { 0.0 };
    let has_weights_for_it = graph.weight_kind() == WeightKind::Unit || graph.weight_range().0 >= least;
    // Such a matrix can't be resumed, and a rank has one thread for it.
    let threads = arguments.solving.common.threads.unwrap_or(1);
    let is_whole = arguments.sources.is_none() && arguments.targets.is_none() && arguments.reduce.is_none();
    !arguments.resume
        && is_whole
        && threads == 1
        && arguments.algorithm.algorithm.is_none()
        && !is_float
        && has_weights_for_it
        && is_matrix()
}

fn times_of(found: &AllPairs) -> Times {
    Times { load: found.load, solve: found.seconds, verify: found.verify, write: found.write, ..Default::default() }
}

/// Where the time of this rank went. Words are carried while it waits or works.
fn seconds_of(found: &AllPairs) -> RankSeconds {
    RankSeconds { compute: found.compute, exchange: 0.0, wait: found.wait }
}

fn refuse_gpus(devices: RankDevices) -> Result<(), Error> {
    match devices {
        RankDevices::Cuda => Err(Error::invalid(format!("`{}` runs on cores, not on GPUs", FLOYD_WARSHALL.name))),
        RankDevices::Auto | RankDevices::Cpu => Ok(()),
    }
}

/// The options that a shared matrix has not, and whether they are given.
fn of_shared_matrix(arguments: &ApspArguments) -> [(&'static str, bool); 5] {
    [
        ("--threads", arguments.solving.common.threads.is_some()),
        ("--resume", arguments.resume),
        ("--sources", arguments.sources.is_some()),
        ("--targets", arguments.targets.is_some()),
        ("--reduce", arguments.reduce.is_some()),
    ]
}

/// Solves on a matrix that all ranks share, of a graph that none has as a whole.
fn share_matrix(
    arguments: &ApspArguments,
    world: &World,
    control: &Control,
    devices: RankDevices,
    matrix: SharedMatrix,
) -> Outcome<()> {
    let common = &arguments.solving.common;
    world.agree(refuse_gpus(devices))?;
    world.agree(ranks::refuse(&arguments.graph, &of_shared_matrix(arguments)))?;
    world.agree(start_threads(Some(1)).map_err(Failure::into_error))?;
    let source = ranks::source(world, &arguments.graph, common.memory, false, control)?;
    if arguments.solving.plan.plan {
        let planned = RankPlan::of_matrix(world, &source, common.memory, arguments.verify)?;
        return ranks::print_plan(world, &planned, common.json);
    }
    let (found, arcs) = floyd_warshall(world, &source, matrix)?;
    let graph = GraphFacts::new(source.vertices(), arcs, source.is_directed(), source.weight_kind().name());
    let seconds = times_of(&found);
    let (split, bytes) = (SecondsOfRanks::gather(world, seconds_of(&found))?, world.total(found.traffic.bytes));
    let length = source.vertices() as usize;
    let answer = RanksFound { found, split, bytes, facts: graph, pairs: [length; 2], scores: None, table: None };
    let print = || print(arguments, world, answer, (seconds, "asked for".to_owned()), false);
    world.agree(if world.rank() == 0 { print() } else { Ok(()) })
}

/// An error for options that ranks do not have.
fn check(arguments: &ApspArguments) -> Result<(), Error> {
    let absent = [
        ("--layout", arguments.layout.is_some()),
        ("--successors", arguments.successors),
        ("--statistics", arguments.solving.statistics),
    ];
    match absent.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Error::invalid(format!("`{option}` is not possible with `--engine mpi`"))),
        None => Ok(()),
    }
}

/// A file for what is reduced from rows.
fn create_table(arguments: &ApspArguments, path: &Path, control: &Control) -> Result<table::Table, Failure> {
    refuse_matrix_of_reduction(OutputKind::of(path)?)?;
    let inputs = inputs(&arguments.graph, &[&arguments.sources, &arguments.targets]);
    let (output, kind) = Output::create(path, &inputs, &arguments.solving.common, control)?;
    Ok(table::Table::new(output, kind))
}

fn create(arguments: &ApspArguments, path: &Path, control: &Control) -> Result<PartialFile, Error> {
    match OutputKind::of(path).map_err(Failure::into_error)? {
        OutputKind::Npy => {
            check_output(path, &inputs(&arguments.graph, &[&arguments.sources, &arguments.targets]))?;
            if arguments.resume { ranks::resume(path, control) } else { ranks::create(path, control) }
        }
        _ => Err(Error::invalid(format!("`{}`: ranks write all pairs to a .npy", path.display()))),
    }
}

/// What ranks have found, for rank 0 to print.
struct RanksFound<'g> {
    found: AllPairs,
    split: SecondsOfRanks,
    /// That all ranks sent.
    bytes: u64,
    facts: GraphFacts,
    /// Rows and columns.
    pairs: [usize; 2],
    /// What is reduced from rows, and the file that it goes into, if there is one.
    scores: Option<Scores<'g>>,
    table: Option<table::Table>,
}

fn print(
    arguments: &ApspArguments,
    world: &World,
    answer: RanksFound<'_>,
    (mut seconds, reason): (Times, String),
    on_gpus: bool,
) -> Result<(), Error> {
    let RanksFound { found, split, bytes, facts: graph, pairs: [sources, targets], mut scores, table } = answer;
    let common = &arguments.solving.common;
    if let (Some(scores), Some(table)) = (scores.take_if(|_| table.is_some()), table) {
        let ((), write) = timed(|| Ok(scores.write(table)?)).map_err(Failure::into_error)?;
        seconds.write += write;
    }
    let (resumed_rows, wait) = (found.resumed_rows, found.wait);
    let facts = RanksFacts { count: world.ranks(), on_gpus, resumed_rows, wait, bytes, seconds: split };
    if common.json {
        let answer = RanksAnswer {
            engine: "mpi",
            engine_reason: "it was asked for",
            algorithm: found.algorithm,
            reason,
            number_type: found.number_type,
            repeated_wide: found.repeated_wide,
            threads: common.threads.unwrap_or(1) as usize,
            graph,
            source_count: sources as u64,
            finite_pairs: found.finite_pairs,
            distance_sum: print::sum(found.distance_sum),
            max_distance: found.max_distance.map(print::number),
            reduction: scores.as_ref().map(Scores::as_json),
            verified: arguments.verify.then_some(true),
            seconds,
            peak_bytes: PeakBytes::of_host(),
            ranks: facts,
        };
        return print::json(&answer).map_err(Failure::into_error);
    }
    if common.quiet || arguments.output.as_deref().is_some_and(|path| path.as_os_str() == "-") {
        return Ok(());
    }
    let mut table = Table::new();
    table.row("graph", graph.text());
    let on = ranks::text(world.ranks(), on_gpus, RankMessages::Mpi);
    table.row("apsp", format!("{} on {on}, {}", found.algorithm, found.number_type));
    let pairs = sources as u128 * targets as u128;
    let mut text = format!("{} of {}", print::grouped(found.finite_pairs.into()), print::count(pairs, "pair", "pairs"));
    if let Some(farthest) = found.max_distance.map(print::number) {
        text += &format!(", farthest {}, sum {}", print::digits(&farthest), print::sum(found.distance_sum));
    }
    table.row("reachable", text + if arguments.verify { ", verified" } else { "" });
    if let Some(output) = &arguments.output {
        table.row("written", output.display().to_string());
    } else if let Some(scores) = &scores {
        scores.show(&mut table);
    }
    if facts.resumed_rows > 0 {
        table.row("resumed", print::count(facts.resumed_rows, "row", "rows"));
    }
    table.row("time", format!("{}, wait {}", seconds.text(), print::seconds(facts.wait)));
    table.print().map_err(Failure::into_error)
}
