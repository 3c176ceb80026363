//! Tests under programs that see what a test does not: Miri, ThreadSanitizer and loom.
//!
//! Each builds into a folder of its own below `target`, since everything is compiled otherwise.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a command from the root; an error unless it succeeds.
fn run(root: &Path, command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    let status = command.current_dir(root).status().map_err(|error| format!("{shown} can't be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown} failed: {status}")) }
}

/// An error that says what to install, unless this command of a nightly toolchain works.
fn expect(arguments: &[&str], what: &str, install: &str) -> Result<(), String> {
    let mut command = Command::new("cargo");
    let works = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    if works { Ok(()) } else { Err(format!("{what} is not there; `{install}` installs it")) }
}

/// The library's own code for graphs, files, results and threads, interpreted: every access checked, and every race seen.
///
/// What Miri can't do is left out: files and their maps, signals, the driver of a GPU. Tests are cut to small sizes.
pub(crate) fn miri(root: &Path, filters: &[String]) -> Result<(), String> {
    const DEFAULT: [&str; 6] = ["graph::", "problems::", "formats::", "cpu::team::", "apart::", "cpu::bfs::sequential"];
    let install = "rustup toolchain install nightly --component miri --component rust-src";
    expect(&["+nightly", "miri", "--version"], "Miri", install)?;
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "miri", "test", "--package", "warpath", "--lib", "--no-default-features"])
        .args(["--target-dir", "target/miri", "--"])
        // The clock, and the number of processors. The workers of a pool outlive the tests, with what they hold; and the
        // queues of rayon's workers keep pointers to parts of blocks by way of pointers to the whole.
        .env("MIRIFLAGS", "-Zmiri-disable-isolation -Zmiri-ignore-leaks -Zmiri-tree-borrows");
    if filters.is_empty() {
        command.args(DEFAULT)
    } else {
        command.args(filters)
    };
    run(root, &mut command)
}

/// The CPU engine, what it finds and the face of the library, with every pair of accesses checked for a race.
pub(crate) fn thread_sanitizer(root: &Path, filters: &[String]) -> Result<(), String> {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    const DEFAULT: [&str; 5] = ["apart::", "cpu::", "graph::", "problems::", "solver::"];
    let install = "rustup toolchain install nightly --component rust-src";
    expect(&["+nightly", "--version"], "A nightly toolchain", install)?;
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "test", "-Zbuild-std", "--target", TARGET, "--target-dir", "target/thread-sanitizer"])
        .args(["--package", "warpath", "--lib", "--test", "concurrent_requests", "--no-default-features", "--"])
        .env("RUSTFLAGS", "-Zsanitizer=thread")
        .env("TSAN_OPTIONS", "halt_on_error=1");
    if filters.is_empty() {
        command.args(DEFAULT);
    } else {
        command.args(filters);
    }
    run(root, &mut command)
}

/// The models of `crates/models`, in every order in which their threads can run.
pub(crate) fn loom(root: &Path) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["test", "--package", "warpath-models", "--lib", "--target-dir", "target/loom"]);
    run(root, command.env("RUSTFLAGS", "--cfg loom"))
}
