//! `warpath completions`: completions for shells, and man pages.

use std::io::Write;
use std::path::Path;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use warpath::{Engine, Error};
#[cfg(feature = "bench")]
use warpath_bench::datasets;

use crate::arguments::{Completion, CompletionsArguments};
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::print;

pub(crate) fn run(arguments: CompletionsArguments) -> Result<ExitCode, Failure> {
    let shell = match arguments.what {
        Completion::Bash => Shell::Bash,
        Completion::Zsh => Shell::Zsh,
        Completion::Fish => Shell::Fish,
        Completion::Powershell => Shell::PowerShell,
        Completion::Elvish => Shell::Elvish,
        Completion::Man => {
            let mut command = with_names();
            command.build();
            write_pages(&command, &arguments.directory)?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let mut text = Vec::new();
    generate(shell, &mut with_names(), "warpath", &mut text);
    #[cfg(feature = "bench")]
    if shell == Shell::Fish {
        text.extend(datasets_in_fish().into_bytes());
    }
    print::to_stdout(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}

/// The names of datasets for `warpath datasets get`: `clap_complete` gives fish the values of options, and none of arguments.
#[cfg(feature = "bench")]
fn datasets_in_fish() -> String {
    let line = |dataset: datasets::Dataset| {
        let title = dataset.title.replace('\\', "\\\\").replace('\'', "\\'");
        format!(
            "complete -c warpath -n \"__fish_warpath_using_subcommand datasets; and __fish_seen_subcommand_from get\" -f -a \
             \"{}\" -d '{title}'\n",
            dataset.name
        )
    };
    datasets::all().into_iter().map(line).collect()
}

/// The command line, with the names that options take which the parser leaves to the library.
fn with_names() -> clap::Command {
    let mut command = crate::command();
    for (name, problem) in
        [("bfs", "bfs"), ("sssp", "sssp"), ("apsp", "apsp"), ("table", "apsp"), ("closure", "closure")]
    {
        let names = PossibleValuesParser::new(algorithms(problem));
        command = command.mut_subcommand(name, |command| command.mut_arg("algorithm", |arg| arg.value_parser(names)));
    }
    for name in ["bfs", "sssp", "apsp", "table", "closure", "path", "info"] {
        let engines = PossibleValuesParser::new(["auto", "cpu", "cuda", "cuda:all"]);
        command = command.mut_subcommand(name, |command| command.mut_arg("engine", |arg| arg.value_parser(engines)));
    }
    #[cfg(feature = "bench")]
    {
        let names = datasets::all().into_iter().map(|dataset| PossibleValue::new(dataset.name).help(dataset.title));
        let names = PossibleValuesParser::new(names);
        command = command.mut_subcommand("datasets", |command| {
            command.mut_subcommand("get", |command| command.mut_arg("name", |arg| arg.value_parser(names)))
        });
    }
    command
}

/// The names of the algorithms for a problem on either engine, with their summaries.
fn algorithms(problem: &str) -> Vec<PossibleValue> {
    let mut values: Vec<PossibleValue> = Vec::new();
    for engine in [Engine::Cpu, Engine::Cuda(Vec::new())] {
        for info in engine.algorithms().into_iter().filter(|info| info.problem.name() == problem) {
            if !values.iter().any(|value| value.get_name() == info.name) {
                values.push(PossibleValue::new(info.name).help(info.summary));
            }
        }
    }
    values
}

/// Writes the man page of a command, and those of its subcommands.
fn write_pages(command: &clap::Command, directory: &Path) -> Result<(), Error> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let path = directory.join(format!("{name}.1"));
    let mut page = Vec::new();
    write_page(command, &name, &mut page)
        .and_then(|()| std::fs::write(&path, page))
        .map_err(|error| Error::io(&path, error))?;
    let visible = command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    visible.into_iter().try_for_each(|command| write_pages(command, directory))
}

/// A man page. Its synopsis is the usage line of the help, which names the values that options take.
fn write_page(command: &clap::Command, name: &str, page: &mut Vec<u8>) -> std::io::Result<()> {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ").replace('\\', "\\\\").replace('-', "\\-");
    let man = Man::new(command.clone()).title(name);
    man.render_title(page)?;
    man.render_name_section(page)?;
    writeln!(page, ".SH SYNOPSIS")?;
    for line in usage.lines().map(str::trim) {
        writeln!(page, ".br\n{line}")?;
    }
    man.render_description_section(page)?;
    man.render_options_section(page)?;
    if command.has_subcommands() {
        man.render_subcommands_section(page)?;
    }
    if command.get_after_long_help().or(command.get_after_help()).is_some() {
        man.render_extra_section(page)?;
    }
    man.render_version_section(page)
}
