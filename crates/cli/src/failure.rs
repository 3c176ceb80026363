//! Errors as people see them, and exit codes.

use std::io::IsTerminal;
use std::process::ExitCode;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use serde::Serialize;
use warpath::problems::NegativeCycle;
use warpath::{Error, ErrorKind};

use crate::print;

/// Why the command could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    error: Error,
    help: Option<String>,
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure { error, help: None }
    }
}

impl Failure {
    /// A mistake in the arguments that the parser can't see.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Error::invalid(message).into()
    }

    /// The same failure, with advice.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Prints the error on standard error, and a negative cycle, which is an answer, also as JSON if that is wanted of
    /// `json_problem`; returns the exit code.
    pub(crate) fn report(self, json_problem: Option<&'static str>) -> ExitCode {
        if let (Some(problem), Error::NegativeCycle(cycle)) = (json_problem, &self.error)
            && let Err(unwritable) = print::json(&CycleFound::new(problem, cycle))
        {
            return unwritable.report(None);
        }
        let code = match self.error.kind() {
            ErrorKind::Answer => 1,
            ErrorKind::Usage => 2,
            ErrorKind::Resources => 3,
            ErrorKind::Interrupted => 130,
        };
        let person = std::io::stderr().is_terminal();
        let theme = if person { GraphicalTheme::unicode() } else { GraphicalTheme::none() };
        // A program that reads the message finds it on one line.
        let width = if person { 100 } else { usize::MAX / 4 };
        let mut text = String::new();
        let handler = GraphicalReportHandler::new_themed(theme).with_width(width);
        if handler.render_report(&mut text, &self).is_err() {
            text = self.to_string();
        }
        print::to_stderr(text.trim_end());
        ExitCode::from(code)
    }
}

/// What JSON says of a negative cycle.
#[derive(Debug, Serialize)]
struct CycleFound<'a> {
    problem: &'static str,
    negative_cycle: Cycle<'a>,
}

#[derive(Debug, Serialize)]
struct Cycle<'a> {
    length: serde_json::Value,
    edges: usize,
    /// Each once: the last edge leads back to the first.
    vertices: &'a [String],
}

impl<'a> CycleFound<'a> {
    fn new(problem: &'static str, cycle: &'a NegativeCycle) -> Self {
        let length = cycle.length();
        // Integers that a float holds exactly are shown as such.
        let is_integer = length.fract() == 0.0 && length.abs() < (1_u64 << 53) as f64;
        let length = if is_integer { (length as i64).into() } else { length.into() };
        CycleFound { problem, negative_cycle: Cycle { length, edges: cycle.edges().len(), vertices: cycle.names() } }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.error)
    }
}

impl std::error::Error for Failure {}

impl Diagnostic for Failure {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        if let Some(help) = &self.help {
            return Some(Box::new(help));
        }
        match &self.error {
            Error::OutOfMemory { .. } => {
                Some(Box::new("`--plan` shows where the memory goes; `--memory` sets how much may be taken"))
            }
            Error::NegativeCycle(_) => {
                Some(Box::new("going round the cycle again and again, every path can get shorter"))
            }
            _ => None,
        }
    }
}
