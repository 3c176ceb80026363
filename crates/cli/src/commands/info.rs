//! `warpath info`: what a graph looks like, and what it takes to solve problems on it.

use std::process::ExitCode;

use serde::Serialize;

use crate::arguments::InfoArguments;
use crate::failure::Failure;
use crate::print::{self, Table};
use crate::session::{PeakBytes, Session, Times, timed};

pub(crate) fn run(_arguments: InfoArguments) -> Result<ExitCode, Failure> {
    Err(Failure::usage("later"))
}
