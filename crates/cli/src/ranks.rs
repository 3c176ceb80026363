//! `--engine mpi`: every rank of an MPI run runs the command, and one of them prints.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

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
    let world = World::start(timeout(&solving.engine.engine)?, &control)?;
    let done = check_equal(&world).and_then(|()| work(&world, &control));
    match done {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Failed::Here(error)) => Err(error.into()),
        Err(Failed::Elsewhere(kind)) => Ok(ExitCode::of(kind)),
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
