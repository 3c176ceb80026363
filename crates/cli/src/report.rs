//! Failures as people see them, negative cycles as JSON, and exit codes.

use std::io::IsTerminal;
use std::process::ExitCode;

use miette::{GraphicalReportHandler, GraphicalTheme};
use serde::Serialize;
use warpath::problems::NegativeCycle;
use warpath::{Error, ErrorKind};

use crate::failure::Failure;
use crate::print;

/// Prints the error on standard error. A negative cycle is an answer, so it is also printed as JSON if `json_problem`
/// names the problem. Returns the exit code.
pub(crate) fn report(failure: &Failure, json_problem: Option<&'static str>) -> ExitCode {
    if let (Some(problem), Error::NegativeCycle(cycle)) = (json_problem, failure.error())
        && let Err(unwritable) = print::json(&CycleFound::new(problem, cycle))
    {
        return report(&unwritable, None);
    }
    let code = match failure.error().kind() {
        ErrorKind::Answer => 1,
        ErrorKind::Usage => 2,
        ErrorKind::Resources => 3,
        ErrorKind::Interrupted => 130,
    };
    let person = std::io::stderr().is_terminal();
    let theme = if person { GraphicalTheme::unicode() } else { GraphicalTheme::none() };
    // A program reads the message, so it stays on one line.
    let width = if person { 100 } else { usize::MAX / 4 };
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(width);
    if handler.render_report(&mut text, failure).is_err() {
        text = failure.to_string();
    }
    print::to_stderr(text.trim_end());
    ExitCode::from(code)
}

/// A negative cycle as JSON.
#[derive(Debug, Serialize)]
struct CycleFound<'a> {
    problem: &'static str,
    negative_cycle: Cycle<'a>,
}

#[derive(Debug, Serialize)]
struct Cycle<'a> {
    length: serde_json::Value,
    edges: usize,
    /// Each vertex once: the last edge leads back to the first.
    vertices: &'a [String],
}

impl<'a> CycleFound<'a> {
    fn new(problem: &'static str, cycle: &'a NegativeCycle) -> Self {
        let length = cycle.length();
        // Show integers that a float holds exactly as integers.
        let is_integer = length.fract() == 0.0 && length.abs() < (1_u64 << 53) as f64;
        let length = if is_integer { (length as i64).into() } else { length.into() };
        CycleFound { problem, negative_cycle: Cycle { length, edges: cycle.edges().len(), vertices: cycle.names() } }
    }
}
