//! `warpath completions`: completions for shells, and man pages.

use std::process::ExitCode;

use clap_complete::{Shell, generate};
use warpath::Error;

use crate::arguments::{Completion, CompletionsArguments};
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
            let directory = &arguments.directory;
            clap_mangen::generate_to(crate::command(), directory).map_err(|error| Error::io(directory, error))?;
            return Ok(ExitCode::SUCCESS);
        }
    };
    let mut text = Vec::new();
    generate(shell, &mut crate::command(), "warpath", &mut text);
    print::to_stdout(&String::from_utf8_lossy(&text))?;
    Ok(ExitCode::SUCCESS)
}
