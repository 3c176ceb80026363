//! Failures as people see them and as JSON, and exit codes.

use std::io::IsTerminal;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use serde::Serialize;
use warpath::problems::NegativeCycle;
use warpath::{Error, ErrorKind};

use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print;

/// Prints the error on standard error and, if `as_json`, as one JSON object on standard output. Returns the exit code.
pub(crate) fn report(failure: &Failure, as_json: bool) -> ExitCode {
    let ExitCode(code) = ExitCode::of(failure.error().kind());
    let kind = match failure.error().kind() {
        ErrorKind::Answer => "answer",
        ErrorKind::Usage => "usage",
        ErrorKind::Resources => "resources",
        ErrorKind::Interrupted => "interrupted",
    };
    if as_json
        && !failure.is_after_the_answer()
        && let Err(unwritable) = print::json(&ErrorShown::new(failure, kind, code))
    {
        return report(&unwritable, false);
    }
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
    ExitCode(code)
}

/// Prints as JSON what is wrong with the arguments.
pub(crate) fn usage_as_json(message: String, code: u8) -> Result<(), Failure> {
    let mut error = ErrorObject::new("usage", code, message);
    if let Some((message, help)) = error.message.split_once("\n\n") {
        error.help = Some(one_line(help));
        error.message = message.to_owned();
    }
    error.message = one_line(&error.message);
    print::json(&ErrorShown { error, negative_cycle: None })
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A failure as JSON.
#[derive(Debug, Serialize)]
struct ErrorShown<'a> {
    error: ErrorObject,
    #[serde(skip_serializing_if = "Option::is_none")]
    negative_cycle: Option<Cycle<'a>>,
}

#[derive(Debug, Default, Serialize)]
struct ErrorObject {
    /// Who can do something about it: `usage`, `answer`, `resources` or `interrupted`.
    kind: &'static str,
    exit_code: u8,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<String>,
    /// The place in an input.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// Memory or disk space, where there is too little.
    #[serde(skip_serializing_if = "Option::is_none")]
    needed_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    available_bytes: Option<u64>,
}

impl ErrorObject {
    fn new(kind: &'static str, exit_code: u8, message: String) -> Self {
        ErrorObject { kind, exit_code, message, ..Default::default() }
    }
}

/// A cycle of negative length, which is the answer.
#[derive(Debug, Serialize)]
struct Cycle<'a> {
    length: serde_json::Value,
    edges: usize,
    /// Each vertex once: the last edge leads back to the first.
    vertices: &'a [String],
}

impl<'a> ErrorShown<'a> {
    fn new(failure: &'a Failure, kind: &'static str, code: u8) -> Self {
        let mut error = ErrorObject::new(kind, code, failure.to_string());
        error.help = failure.help().map(|help| help.to_string());
        let mut negative_cycle = None;
        match failure.error() {
            Error::Input(input) => {
                let given = |text: &String| (!text.is_empty()).then(|| text.clone());
                (error.file, error.text) = (given(&input.file), given(&input.text));
                (error.line, error.column) = (input.line, input.column);
            }
            Error::Io { path, .. } => error.file = Some(path.display().to_string()),
            Error::OutOfMemory { needed, available, .. } | Error::OutOfDisk { needed, available, .. } => {
                (error.needed_bytes, error.available_bytes) = (Some(*needed), Some(*available));
            }
            Error::NegativeCycle(cycle) => negative_cycle = Some(Cycle::of(cycle)),
            _ => {}
        }
        ErrorShown { error, negative_cycle }
    }
}

impl<'a> Cycle<'a> {
    fn of(cycle: &'a NegativeCycle) -> Self {
        // Show integers that a float holds exactly as integers.
        let length = print::whole_or_float(cycle.length());
        Cycle { length, edges: cycle.edges().len(), vertices: cycle.names() }
    }
}
