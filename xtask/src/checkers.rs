//! Runs tests under checkers that see what a test does not: Miri, the sanitizers and loom.
//!
//! Each builds into its own folder below `target`, since it compiles everything with other options.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs a command from the root; fails unless the command succeeds.
fn run(root: &Path, command: &mut Command) -> Result<(), String> {
    let shown = format!("{command:?}");
    let status = command.current_dir(root).status().map_err(|error| format!("{shown} can't be started: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{shown} failed: {status}")) }
}

/// Fails with what to install, unless this command of a nightly toolchain works.
fn expect(arguments: &[&str], what: &str, install: &str) -> Result<(), String> {
    let mut command = Command::new("cargo");
    let works = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success());
    if works { Ok(()) } else { Err(format!("{what} is not there; `{install}` installs it")) }
}

/// Fails with what to install, unless the nightly toolchain has the source of the standard library.
fn expect_source(install: &str) -> Result<(), String> {
    let printed = Command::new("rustc").args(["+nightly", "--print", "sysroot"]).output();
    let sysroot = printed.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).unwrap_or_default();
    if Path::new(&sysroot).join("lib/rustlib/src/rust/library").is_dir() {
        return Ok(());
    }
    Err(format!("the source of a nightly toolchain's standard library is not there; `{install}` installs it"))
}

/// Runs the library's own code for graphs, files, results and threads in Miri, which checks every access and detects
/// races.
///
/// Left out is what Miri does not support: file locks, signals, advice on pages, the processor of a thread, the driver
/// of a GPU. So are NumPy archives: the crate zlib-rs frees memory through a pointer that the model of borrows forbids.
/// Tests are cut to small sizes.
pub(crate) fn miri(root: &Path, filters: &[String]) -> Result<(), String> {
    const DEFAULT: [&str; 6] = ["apart::", "formats::", "graph::", "memory::", "problems::", "team::"];
    // Isolation would hide the clock, the number of processors and the memory size. The other three flags are for
    // rayon's queues, from the crates crossbeam-epoch and crossbeam-deque: they reach a whole block through a pointer
    // to its first field, which the stricter model of borrows forbids, and they make pointers from integers. The
    // workers of a pool outlive the tests, with the memory they hold.
    const FLAGS: &str = "-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-permissive-provenance -Zmiri-ignore-leaks";
    let install = "rustup toolchain install nightly --component miri --component rust-src";
    expect(&["+nightly", "miri", "--version"], "Miri", install)?;
    expect_source(install)?;
    let mut command = Command::new("cargo");
    command
        .args(["+nightly", "miri", "test", "--package", "warpath", "--lib", "--no-default-features"])
        .args(["--target-dir", "target/miri", "--"])
        .env("MIRIFLAGS", FLAGS);
    command.args(["--skip", "formats::npz::"]);
    if filters.is_empty() {
        command.args(DEFAULT)
    } else {
        command.args(filters)
    };
    run(root, &mut command)
}

/// Checks the CPU engine, its results and the public interface for races between every pair of accesses.
///
/// The standard library is built with it: a lock that ThreadSanitizer does not see would look like no lock.
pub(crate) fn thread_sanitizer(root: &Path, filters: &[String]) -> Result<(), String> {
    const DEFAULT: [&str; 7] = ["all_pairs::", "apart::", "cpu::", "graph::", "problems::", "solver::", "team::"];
    let install = "rustup toolchain install nightly --component rust-src";
    expect(&["+nightly", "--version"], "A nightly toolchain", install)?;
    expect_source(install)?;
    let suppressions = root.join("xtask/thread-sanitizer.txt");
    let library = |filters: Vec<_>| [vec!["--lib", "--"], filters].concat();
    let runs = match filters {
        // Every test counts in `concurrent_requests`: requests from many threads at once.
        [] => vec![library(DEFAULT.to_vec()), vec!["--test", "concurrent_requests"]],
        filters => vec![library(filters.iter().map(String::as_str).collect())],
    };
    for tests in runs {
        let mut command = Command::new("cargo");
        command
            .args(["+nightly", "test", "-Zbuild-std", "--target"])
            // Naming the target keeps the flags away from build scripts and procedural macros.
            .arg(format!("{}-unknown-linux-gnu", std::env::consts::ARCH))
            .args(["--target-dir", "target/thread-sanitizer", "--package", "warpath", "--no-default-features"])
            .args(tests)
            .env("RUSTFLAGS", "-Zsanitizer=thread")
            .env("TSAN_OPTIONS", format!("halt_on_error=1:suppressions={}", suppressions.display()));
        run(root, &mut command)?;
    }
    Ok(())
}

/// Runs the kernels and their host loops in the emulator, where AddressSanitizer and UndefinedBehaviorSanitizer see every access of
/// a kernel. Graphs of some shapes are left out, since it takes twice as long.
pub(crate) fn address_sanitizer(root: &Path, filters: &[String]) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command
        .args(["test", "--package", "warpath", "--all-features", "--lib", "--target-dir", "target/address-sanitizer"])
        // The time goes to kernels, which this leaves as they are: what compiles soonest will do for the library.
        .args(["--config", "profile.dev.package.warpath.opt-level=0", "--"])
        .env("WARPATH_SANITIZE", "address,undefined")
        .env("ASAN_OPTIONS", "detect_leaks=0");
    if filters.is_empty() {
        command.arg("cuda::")
    } else {
        command.args(filters)
    };
    run(root, &mut command)
}

/// Runs the models of `crates/models` in every order in which their threads can run.
pub(crate) fn loom(root: &Path) -> Result<(), String> {
    let mut command = Command::new("cargo");
    command.args(["test", "--package", "warpath-models", "--lib", "--target-dir", "target/loom"]);
    run(root, command.env("RUSTFLAGS", "--cfg loom"))
}
