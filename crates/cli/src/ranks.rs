//! `--engine mpi`: every rank of an MPI run runs the command, and one of them prints.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use warpath::formats::{PartialFile, StoredRows};
use warpath::generate::{DEFAULT_SEED, RandomWeights, Recipe};
use warpath::{Control, Error, ReadOptions};
use warpath_mpi::{DEFAULT_TIMEOUT, Failed, Outcome, RankDevices, RankMessages, Source, Weighting, World};

use crate::arguments::{GraphArguments, ShowProgress};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print;
use crate::progress;
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
}

impl Options {
    /// Those in the name of an engine: `mpi`, or `mpi:` with `cpu` or `cuda`, `messages=mpi` or `messages=nccl`, and `timeout=SECONDS`, separated by
    /// commas.
    pub(crate) fn of(engine: &str) -> Result<Self, Failure> {
        let (devices, messages) = (RankDevices::Auto, RankMessages::Mpi);
        let mut options = Options { timeout: DEFAULT_TIMEOUT, devices, messages };
        let Some((_, listed)) = engine.split_once(':') else { return Ok(options) };
        let listed: Vec<&str> = listed.split(',').collect();
        let kind = |option: &str| option.split_once('=').map(|(name, _)| name.to_owned());
        for (index, &option) in listed.iter().enumerate() {
            if let Some(other) = listed[..index].iter().find(|other| kind(other) == kind(option)) {
                return Err(Failure::usage(format!("`{engine}` says both `{other}` and `{option}`")));
            }
            let seconds = option.strip_prefix("timeout=").and_then(|seconds| seconds.parse().ok());
            match (option, seconds) {
                ("cpu", _) => options.devices = RankDevices::Cpu,
                ("cuda", _) => options.devices = RankDevices::Cuda,
                ("messages=mpi", _) => options.messages = RankMessages::Mpi,
                ("messages=nccl", _) => options.messages = RankMessages::Nccl,
                (_, Some(seconds)) if seconds > 0 => options.timeout = Duration::from_secs(seconds),
                _ => {
                    return Err(Failure::usage(format!(
                        "`{engine}` is not `mpi`, or `mpi:` with `cpu` or `cuda`, `messages=mpi` or `messages=nccl`, and `timeout=SECONDS`, a whole number from 1, separated by commas"
                    )));
                }
            }
        }
        if options.messages == RankMessages::Nccl && options.devices != RankDevices::Cuda {
            return Err(Failure::usage(format!(
                "`{engine}`: NCCL carries messages between GPUs, which `cuda` asks for"
            )));
        }
        Ok(options)
    }
}

/// Starts MPI, and does work that all ranks do together. Ranks but the one that reports an error end silently, with the same code.
pub(crate) fn run(
    engine: &str,
    work: impl FnOnce(&World, &Control, RankDevices) -> Outcome<()>,
) -> Result<ExitCode, Failure> {
    let control = progress::control(ShowProgress::Never);
    // A mistake here is an error of the ranks together, so that one of them prints it.
    let options = Options::of(engine).map_err(Failure::into_error);
    let timeout = options.as_ref().map_or(DEFAULT_TIMEOUT, |options| options.timeout);
    let world = World::start(timeout, &control)?;
    let agreed = world.agree(options).and_then(|options| check_equal(&world).map(|()| options));
    let done = agreed.and_then(|options| {
        world.carry_by(options.messages);
        work(&world, &control, options.devices)
    });
    match done {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Failed::Here(error)) => Err(error.into()),
        Err(Failed::Elsewhere(kind)) => Ok(ExitCode::of(kind)),
    }
}

/// What the ranks search on, in a table.
pub(crate) fn text(count: usize, on_gpus: bool, are_linked: bool) -> String {
    let ranks = print::count(count, "rank", "ranks");
    match (on_gpus, count) {
        (false, _) => ranks,
        (true, 1) => format!("{ranks} with a GPU"),
        (true, _) if are_linked => format!("{ranks} with a GPU each, linked by NCCL"),
        (true, _) => format!("{ranks} with a GPU each"),
    }
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
