//! The `warpath` command: arguments in, answers out.
//!
//! One file a command in `commands/`; what they share is here: [`arguments`] (what can be said), `setup` (loading a
//! graph, progress, Ctrl-C, times), `print` (people's tables and JSON) and `failure` (errors and exit codes).

pub mod arguments;
mod commands;
mod failure;
mod output;
mod print;
mod progress;
mod setup;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Cli, Command};

/// Runs the command with the arguments of this process.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let json_problem = cli.command.json_problem();
    match run(cli.command) {
        Ok(code) => code,
        Err(failure) => failure.report(json_problem),
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
        Command::Closure(arguments) => commands::closure::run(arguments),
        Command::Path(arguments) => commands::path::run(arguments),
        Command::Info(arguments) => commands::info::run(arguments),
        Command::Convert(arguments) => commands::convert::convert(arguments),
        Command::Generate(arguments) => commands::convert::generate(arguments),
        Command::Devices(arguments) => commands::devices::run(arguments),
        Command::Bench(arguments) => commands::bench::run(arguments),
        Command::Datasets(arguments) => commands::datasets::run(arguments),
        Command::Completions(arguments) => commands::completions::run(arguments),
    }
}
