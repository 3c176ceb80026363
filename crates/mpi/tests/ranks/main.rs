//! Starts itself under `mpirun`, with several numbers of ranks on this machine.
//!
//! The process that `cargo test` starts is the launcher. What it starts are ranks: they either search and compare
//! ([`searches`]), or are the command ([`command`], [`pairs`], [`others`]). `MPIRUN` names another launcher than `mpirun`.

mod command;
#[cfg(target_os = "linux")]
mod hosts;
mod launcher;
mod others;
mod pairs;
mod searches;
mod traffic;

use std::process::ExitCode;

use launcher::{Role, launch};

fn main() -> ExitCode {
    match Role::of_this_process() {
        Some(Role::Searches) => searches::as_rank(),
        Some(Role::Traffic) => traffic::as_rank(),
        Some(Role::Command) => return ExitCode::from(warpath_cli::main(std::env::args_os())),
        None => launch_all(),
    }
    ExitCode::SUCCESS
}

/// Runs the tests whose names have a word of the arguments in them, or all.
fn launch_all() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let searches = [1, 2, 3, 4].map(|ranks| (format!("searches_on_{ranks}_ranks"), ranks));
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    for (name, ranks) in searches.iter().filter(|(name, _)| wanted(name)) {
        let status = launch(Role::Searches, *ranks, &[]).status().expect("the launcher starts");
        assert!(status.success(), "{name}: {status}");
        println!("test {name} ... ok");
    }
    for ranks in [2, 4, 8, 16] {
        let name = format!("traffic_of_{ranks}_ranks_is_as_predicted");
        if wanted(&name) {
            let status = launch(Role::Traffic, ranks, &[]).status().expect("the launcher starts");
            assert!(status.success(), "{name}: {status}");
            println!("test {name} ... ok");
        }
    }
    let of_command = command::TESTS.iter().chain(pairs::TESTS).chain(others::TESTS);
    for (name, test) in of_command.filter(|(name, _)| wanted(name)) {
        test();
        println!("test {name} ... ok");
    }
    #[cfg(target_os = "linux")]
    on_hosts(wanted);
}

/// Runs the tests that need several hosts, where this machine can act as such.
#[cfg(target_os = "linux")]
fn on_hosts(wanted: impl Fn(&str) -> bool) {
    let tests: Vec<_> = hosts::TESTS.iter().filter(|(name, _)| wanted(name)).collect();
    if tests.is_empty() {
        return;
    }
    match hosts::Hosts::make() {
        Ok(hosts) => tests.iter().for_each(|(name, test)| {
            test(&hosts);
            println!("test {name} ... ok");
        }),
        Err(why) => tests.iter().for_each(|(name, _)| println!("test {name} ... SKIPPED, no hosts: {why}")),
    }
}
