//! The `warpath` command: arguments in, answers out.
//!
//! Each command has a file in `commands/`. The other modules are shared: [`arguments`] (the command line), `setup`
//! (loading a graph), `answer` (what answers share), `vertex_lists`, `progress` and `signals` (Ctrl-C), `output` (files and standard output), `geojson`, `plot` (pictures), `print` (tables
//! and JSON), `failure` (errors), `report` (error messages and exit codes) and [`out_of_memory`] (the exit code where a
//! small allocation fails). With the feature `mpi`, `ranks` runs a command on the ranks of an MPI run.

// `println!` and `eprintln!` panic if the stream can't be written.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod answer;
pub mod arguments;
mod commands;
mod exit_code;
mod failure;
mod geojson;
pub mod out_of_memory;
mod output;
mod plot;
mod print;
mod progress;
#[cfg(feature = "mpi")]
mod ranks;
mod report;
mod setup;
mod signals;
mod table;
mod vertex_lists;

use std::ffi::OsString;
use std::io::Write;

use clap::{CommandFactory, Parser};

use arguments::{Cli, Command};
use exit_code::ExitCode;

/// Runs the command with these arguments, of which the first is the program's name, and returns the code for the process to end with.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    signals::prepare();
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return tell(&error, &arguments).0,
    };
    let (name, as_json) = cli.command.name_and_json();
    print::json_names(name);
    match run(cli.command) {
        Ok(code) => code.0,
        Err(failure) => report::report(&failure, as_json).0,
    }
}

/// Prints the requested help or version, or what is wrong with the arguments.
fn tell(error: &clap::Error, arguments: &[OsString]) -> ExitCode {
    let code = u8::try_from(error.exit_code()).unwrap_or(2);
    // Arguments that can't be parsed may still ask for JSON.
    let as_json = error.use_stderr() && arguments.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    if as_json {
        let text = error.render().to_string();
        let text = text.split("\n\nUsage:").next().unwrap_or_default();
        let message = text.strip_prefix("error: ").unwrap_or(text).trim_end().to_owned();
        if let Err(unwritable) = report::usage_as_json(message, code) {
            return report::report(&unwritable, false);
        }
    }
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    match printed {
        // If standard error can't be written either, only the exit code can tell.
        Err(unwritable) if !error.use_stderr() && unwritable.kind() != std::io::ErrorKind::BrokenPipe => {
            report::report(&warpath::Error::io("<stdout>", unwritable).into(), false)
        }
        _ => ExitCode(code),
    }
}

/// The description of the command line, from which man pages and completions are made.
pub fn command() -> clap::Command {
    Cli::command()
}

fn run(command: Command) -> Result<ExitCode, failure::Failure> {
    match command {
        Command::Bfs(arguments) => commands::search::bfs(arguments),
        Command::Sssp(arguments) => commands::search::sssp(arguments),
        Command::Apsp(arguments) => commands::apsp::run(arguments),
        Command::Table(arguments) => commands::apsp::run_table(arguments),
        Command::Centrality(arguments) => commands::centrality::run(arguments),
        Command::Closure(arguments) => commands::closure::run(arguments),
        Command::Path(arguments) => commands::path::run(arguments),
        Command::Components(arguments) => commands::components::run(arguments),
        Command::Info(arguments) => commands::info::run(arguments),
        Command::Convert(arguments) => commands::convert::convert(arguments),
        Command::Prepare(arguments) => commands::prepare::run(arguments),
        Command::Generate(arguments) => commands::convert::generate(arguments),
        Command::Devices(arguments) => commands::devices::run(arguments),
        #[cfg(feature = "bench")]
        Command::Bench(arguments) => commands::bench::run(arguments),
        #[cfg(feature = "bench")]
        Command::Datasets(arguments) => commands::datasets::run(arguments),
        Command::Completions(arguments) => commands::completions::run(arguments),
    }
}
