//! `--engine mpi`: every rank of an MPI run runs the command, and one of them prints.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::Duration;

use warpath::formats::PartialFile;
use warpath::{Control, Error};
use warpath_mpi::{DEFAULT_TIMEOUT, Failed, Outcome, World};

use crate::arguments::{ShowProgress, SolvingArguments};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::progress;

/// Starts MPI, and does work that all ranks do together. Ranks but the one that reports an error end silently, with the same code.
pub(crate) fn run(
    solving: &SolvingArguments,
    work: impl FnOnce(&World, &Control) -> Outcome<()>,
) -> Result<ExitCode, Failure> {
    let control = progress::control(ShowProgress::Never);
    // A mistake here is an error of the ranks together, so that one of them prints it.
    let timeout = timeout(&solving.engine.engine).map_err(Failure::into_error);
    let world = World::start(timeout.as_ref().copied().unwrap_or(DEFAULT_TIMEOUT), &control)?;
    let done = world.agree(timeout).and_then(|_| check_equal(&world)).and_then(|()| work(&world, &control));
    match done {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Failed::Here(error)) => Err(error.into()),
        Err(Failed::Elsewhere(kind)) => Ok(ExitCode::of(kind)),
    }
}

/// Creates a file that all ranks will write.
pub(crate) fn create(path: &Path, control: &Control) -> Result<PartialFile, Error> {
    let file = PartialFile::create(path, control)?;
    match file.partial_path() {
        Some(_) => Ok(file),
        None => {
            Err(Error::invalid(format!("`{}` is no regular file, so ranks can't write parts of it", path.display())))
        }
    }
}

/// The time that ranks wait for each other, from the name of the engine: `mpi` or `mpi:timeout=SECONDS`.
fn timeout(engine: &str) -> Result<Duration, Failure> {
    let Some((_, option)) = engine.split_once(':') else { return Ok(DEFAULT_TIMEOUT) };
    match option.strip_prefix("timeout=").and_then(|seconds| seconds.parse().ok()) {
        Some(seconds) if seconds > 0 => Ok(Duration::from_secs(seconds)),
        _ => {
            Err(Failure::usage(format!("`{engine}` is not `mpi` or `mpi:timeout=SECONDS` with a whole number from 1")))
        }
    }
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
