//! placeholder
use std::process::ExitCode;
use crate::failure::Failure;
pub(crate) fn run(_arguments: crate::arguments::ApspArguments) -> Result<ExitCode, Failure> { Err(Failure::usage("later")) }
