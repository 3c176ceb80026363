//! `--engine mpi`: every rank of an MPI run runs the command, and one of them prints.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;
use warpath::formats::{PartialFile, StoredRows};
use warpath::generate::{DEFAULT_SEED, RandomWeights, Recipe};
use warpath::{Control, Error, ReadOptions};
use warpath_mpi::{
    DEFAULT_TIMEOUT, Failed, Outcome, Parts, RankDevices, RankMessages, RankPlan, RankSeconds, Source, Weighting, World,
};

use crate::arguments::{GraphArguments, ShowProgress};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print::{self, Available, Table};
use crate::progress;
use crate::report::report;
use crate::setup::options_for;

/// What the name of the engine says beside `mpi`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Options {
    /// How long ranks wait for each other.
    timeout: Duration,
    /// What they search on.
    pub(crate) devices: RankDevices,
    /// What carries messages between GPUs.
    pub(crate) messages: RankMessages,
    /// How vertices are shared out while they are searched.
    pub(crate) parts: Parts,
}

/// What the name of the engine may be.
const FORMS: &str = "`mpi`, or `mpi:` with `cpu` or `cuda`, `messages=` with `mpi`, `cuda-aware` or `nccl`, `parts=consecutive` or `parts=N` for blocks of N vertices, a power of two, and `timeout=SECONDS`, a whole number from 1, separated by commas";

impl Options {
    /// Those in the name of an engine.
    pub(crate) fn of(engine: &str) -> Result<Self, Failure> {
        let (devices, messages, parts) = (RankDevices::Auto, RankMessages::Auto, Parts::Auto);
        let mut options = Options { timeout: DEFAULT_TIMEOUT, devices, messages, parts };
        let Some((_, listed)) = engine.split_once(':') else { return Ok(options) };
        let listed: Vec<&str> = listed.split(',').collect();
        let kind = |option: &str| option.split_once('=').map(|(name, _)| name.to_owned());
        for (index, &option) in listed.iter().enumerate() {
            if let Some(other) = listed[..index].iter().find(|other| kind(other) == kind(option)) {
                return Err(Failure::usage(format!("`{engine}` says both `{other}` and `{option}`")));
            }
            let number = |name: &str| option.strip_prefix(name).and_then(|number| number.parse::<u64>().ok());
            let block = number("parts=").and_then(|vertices| Parts::blocks(vertices).ok());
            match (option, number("timeout="), block) {
                ("cpu", ..) => options.devices = RankDevices::Cpu,
                ("cuda", ..) => options.devices = RankDevices::Cuda,
                ("messages=mpi", ..) => options.messages = RankMessages::Mpi,
                ("messages=cuda-aware", ..) => options.messages = RankMessages::CudaAware,
                ("messages=nccl", ..) => options.messages = RankMessages::Nccl,
                ("parts=consecutive", ..) => options.parts = Parts::Consecutive,
                (_, _, Some(blocks)) => options.parts = blocks,
                (_, Some(seconds), _) if seconds > 0 => options.timeout = Duration::from_secs(seconds),
                _ => return Err(Failure::usage(format!("`{engine}` is not {FORMS}"))),
            }
        }
        let between_gpus = matches!(options.messages, RankMessages::CudaAware | RankMessages::Nccl);
        if between_gpus && options.devices != RankDevices::Cuda {
            return Err(Failure::usage(format!(
                "`{engine}`: messages go from GPU to GPU on ranks with GPUs, which `cuda` asks for"
            )));
        }
        Ok(options)
    }

    /// An error if something is said that only searches look at. `whatever` names what is asked for instead.
    pub(crate) fn refuse_those_of_searches(self, whatever: &str) -> Result<(), Error> {
        let said = match (self.messages, self.parts) {
            (RankMessages::Mpi, _) => "messages=mpi",
            (RankMessages::CudaAware, _) => "messages=cuda-aware",
            (RankMessages::Nccl, _) => "messages=nccl",
            (RankMessages::Auto, Parts::Consecutive | Parts::Blocks(_)) => "parts=",
            (RankMessages::Auto, Parts::Auto) => return Ok(()),
        };
        Err(Error::invalid(format!("`{said}` is for searches, not for {whatever}")))
    }
}

/// Starts MPI, and does work that all ranks do together. If it fails, one rank reports the error, and all end with the same code: only after
/// the report, since a launcher kills the others once one has ended so.
pub(crate) fn run(
    engine: &str,
    as_json: bool,
    work: impl FnOnce(&World, &Control, Options) -> Outcome<()>,
) -> Result<ExitCode, Failure> {
    let control = progress::control(ShowProgress::Never);
    // A mistake here is an error of the ranks together, so that one of them prints it.
    let options = Options::of(engine).map_err(Failure::into_error);
    let timeout = options.as_ref().map_or(DEFAULT_TIMEOUT, |options| options.timeout);
    let world = World::start(timeout, &control)?;
    let agreed = world.agree(options).and_then(|options| check_equal(&world).map(|()| options));
    let done = agreed.and_then(|options| {
        world.carry_by(options.messages);
        work(&world, &control, options)
    });
    let code = match done {
        Ok(()) => return Ok(ExitCode::SUCCESS),
        Err(Failed::Here(error)) => report(&error.into(), as_json),
        Err(Failed::Elsewhere(kind)) => ExitCode::of(kind),
    };
    world.meet();
    Ok(code)
}

/// What the ranks search on, in a table.
pub(crate) fn text(count: usize, on_gpus: bool, carried_by: RankMessages) -> String {
    let ranks = print::count(count, "rank", "ranks");
    match (on_gpus, count, carried_by) {
        (false, ..) => ranks,
        (true, 1, _) => format!("{ranks} with a GPU"),
        (true, _, RankMessages::Nccl) => format!("{ranks} with a GPU each, linked by NCCL"),
        (true, _, RankMessages::CudaAware) => format!("{ranks} with a GPU each, linked by MPI"),
        (true, ..) => format!("{ranks} with a GPU each"),
    }
}

/// Where the time of all ranks went, as JSON has it.
#[derive(Debug, Serialize)]
pub(crate) struct SecondsOfRanks {
    /// On average.
    mean_seconds: Split,
    /// The rank that computed longest.
    slowest: Slowest,
}

/// The seconds of a rank.
#[derive(Debug, Default, Clone, Copy, Serialize)]
struct Split {
    compute: f64,
    exchange: f64,
    wait: f64,
}

#[derive(Debug, Serialize)]
struct Slowest {
    rank: usize,
    #[serde(flatten)]
    seconds: Split,
}

impl SecondsOfRanks {
    /// Of these ranks.
    pub(crate) fn of(all: &[RankSeconds]) -> Self {
        let split = |&RankSeconds { compute, exchange, wait }: &RankSeconds| Split { compute, exchange, wait };
        let mean = |of: fn(&RankSeconds) -> f64| all.iter().map(of).sum::<f64>() / all.len().max(1) as f64;
        let compute_longer = |(_, a): &(usize, Split), (_, b): &(usize, Split)| a.compute.total_cmp(&b.compute);
        let (rank, seconds) = all.iter().map(split).enumerate().max_by(compute_longer).unwrap_or_default();
        SecondsOfRanks {
            mean_seconds: Split {
                compute: mean(|seconds| seconds.compute),
                exchange: mean(|seconds| seconds.exchange),
                wait: mean(|seconds| seconds.wait),
            },
            slowest: Slowest { rank, seconds },
        }
    }

    /// Of all ranks, where this one has such seconds.
    pub(crate) fn gather(world: &World, mine: RankSeconds) -> Outcome<Self> {
        mine.of_all(world).map(|all| Self::of(&all))
    }

    /// The slowest rank in words.
    pub(crate) fn slowest(&self) -> String {
        let Slowest { rank, seconds: Split { compute, exchange, wait } } = self.slowest;
        let [compute, exchange, wait] = [compute, exchange, wait].map(print::seconds);
        format!("rank {rank}: compute {compute}, exchange {exchange}, wait {wait}")
    }
}

/// Prints the plan of rank 0, with what all ranks have in common; an error if a rank's plan does not fit.
pub(crate) fn print_plan(world: &World, planned: &RankPlan, as_json: bool) -> Outcome<()> {
    let device = planned.gpu.map(|gpu| gpu.available);
    let available = Available { memory: planned.available, device, disk: None };
    let print = || {
        if !as_json {
            let mut table = Table::new();
            let on = text(world.ranks(), planned.gpu.is_some(), RankMessages::Mpi);
            table.row("ranks", format!("{on}; below is the plan of rank 0"));
            table.row("most arcs", format!("{:.2} times the average", planned.imbalance));
            table.row("most memory", format!("{} on one rank", print::bytes(planned.greatest_bytes)));
            table.print()?;
        }
        print::plan(None, &planned.plan, available, as_json)
    };
    world.agree(if world.rank() == 0 { print().map_err(Failure::into_error) } else { Ok(()) })?;
    world.agree(planned.check())
}

/// Creates a file that all ranks will write.
pub(crate) fn create(path: &Path, control: &Control) -> Result<PartialFile, Error> {
    of_parts(path, PartialFile::create(path, control)?)
}

/// The same, with what an interrupted run has left of it.
pub(crate) fn resume(path: &Path, control: &Control) -> Result<PartialFile, Error> {
    of_parts(path, PartialFile::resume(path, control)?)
}

fn of_parts(path: &Path, file: PartialFile) -> Result<PartialFile, Error> {
    match file.partial_path() {
        Some(_) => Ok(file),
        None => {
            Err(Error::invalid(format!("`{}` is no regular file, so ranks can't write parts of it", path.display())))
        }
    }
}

/// An error for the first of these options that is given, and for those of reading a graph that ranks never have.
pub(crate) fn refuse(graph: &GraphArguments, options: &[(&str, bool)]) -> Result<(), Error> {
    let of_reading =
        [("--keep-parallel-edges", graph.keep_parallel_edges), ("--largest-component", graph.largest_component)];
    match options.iter().chain(&of_reading).find(|(_, given)| *given) {
        Some((option, _)) => Err(Error::invalid(format!("`{option}` is not possible with `--engine mpi`"))),
        None => Ok(()),
    }
}

/// The graph, of which each rank takes its part. It may take so many bytes of memory on each rank, or the rank's share. `ignores_weights` is
/// whether nobody will ask for the weights.
pub(crate) fn source(
    world: &World,
    graph: &GraphArguments,
    memory: Option<u64>,
    ignores_weights: bool,
    control: &Control,
) -> Outcome<Source<'static>> {
    let weighting = world.agree(weighting(graph))?;
    let memory = memory.unwrap_or_else(|| warpath::available_memory() / world.ranks_on_host());
    let options = ReadOptions::new().control(control.clone()).memory(memory).leave_weights(ignores_weights);
    let options = world.agree(options_for(graph, options).map_err(Failure::into_error))?;
    // A column of weights is one of a list.
    let source = Source::open_together(world, &graph.graph, weighting.unwrap_or_default(), &options)?;
    world.agree(if source.is_list() { Ok(()) } else { refuse_of_lists(graph, weighting.is_none()) })?;
    Ok(source)
}

/// The same for ranks that are not there, so that nothing but its size is known: a generated graph, or a file of rows.
pub(crate) fn source_of_absent(graph: &GraphArguments) -> Result<Source<'static>, Error> {
    let weighting = weighting(graph)?;
    refuse_of_lists(graph, weighting.is_none())?;
    let name = &graph.graph;
    let is_recipe = name.to_str().is_some_and(|text| Recipe::looks_like(text) && !name.exists());
    if !is_recipe && !StoredRows::is_one(name)? {
        return Err(Error::invalid(format!(
            "{}: the size of a list is not known before it is read, so `--ranks` plans for generated graphs and for .wpg, .sg and .wsg files",
            name.display()
        )));
    }
    Source::open(name, weighting.unwrap_or_default())
}

/// An error for options that are for lists of edges alone.
fn refuse_of_lists(graph: &GraphArguments, has_column: bool) -> Result<(), Error> {
    let options = [
        ("--weights COLUMN", has_column),
        ("--from", graph.from_column.is_some()),
        ("--directed", graph.directed),
        ("--undirected", graph.undirected),
        ("--format", graph.format.is_some()),
        ("--first-line", graph.first_line.is_some()),
        ("--separator", graph.separator.is_some()),
        ("--decimal", graph.decimal.is_some()),
        ("--drop-self-loops", graph.drop_self_loops),
        ("--allow-isolated", graph.allow_isolated),
    ];
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Error::invalid(format!(
            "with `--engine mpi`, `{option}` is for lists of edges, and this graph is none"
        ))),
        None => Ok(()),
    }
}

/// The weights that are asked for; `None` if they are in a column of a list.
fn weighting(graph: &GraphArguments) -> Result<Option<Weighting>, Error> {
    let name = &graph.graph;
    Ok(Some(match graph.weights.as_deref() {
        None => Weighting::AsStored,
        Some("unit") => Weighting::Unit,
        Some(text) => match text.strip_prefix("random:") {
            Some(random) => {
                let RandomWeights { range, seed } = random.parse()?;
                let of_recipe = name.to_str().filter(|text| Recipe::looks_like(text) && !name.exists());
                let own = of_recipe.map(Recipe::beyond_one_machine).transpose()?.map_or(DEFAULT_SEED, |r| r.seed());
                Weighting::Random(range, seed.unwrap_or(own))
            }
            None => return Ok(None),
        },
    }))
}

/// An error if some ranks are of another version, or got other arguments.
fn check_equal(world: &World) -> Outcome<()> {
    let mut hasher = DefaultHasher::new();
    env!("WARPATH_VERSION").hash(&mut hasher);
    std::env::args_os().skip(1).for_each(|argument| argument.hash(&mut hasher));
    world.agree(if world.are_equal(hasher.finish()) {
        Ok(())
    } else {
        Err(Error::invalid("the ranks were started with different arguments, or have different versions of Warpath"))
    })
}
