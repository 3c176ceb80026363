//! Chores of the workspace: `cargo xtask --help`.

mod checkers;
mod gpu_archive;
mod kernels;
mod package;
mod structure;
#[cfg(unix)]
mod torture;
mod unsafe_count;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use clap::Parser;

/// Chores of the workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
enum Chore {
    /// Run every fuzz target, one after another (needs a nightly toolchain and cargo-fuzz).
    Fuzz {
        /// Seconds that each target runs.
        #[arg(long, default_value_t = 600)]
        seconds: u32,
        /// The targets to run [default: all].
        targets: Vec<String>,
    },
    /// Compile the CUDA kernels to the images that the library embeds, with a pinned toolchain that it installs itself.
    Kernels {
        /// Compare with the existing images, byte for byte, and change nothing.
        #[arg(long)]
        check: bool,
        /// Compare all images with the record of what they were made from, and this many of them, other ones each day, byte for byte.
        #[arg(long, value_name = "NUMBER", conflicts_with_all = ["check", "images"])]
        check_some: Option<usize>,
        /// A folder with the toolchain, a Python environment [default: `$WARPATH_CUDA_TOOLCHAIN`, else `.cuda`].
        #[arg(long)]
        toolchain: Option<PathBuf>,
        /// The images, such as `bfs_queue` [default: all, and those that no source belongs to are removed].
        images: Vec<String>,
    },
    /// Count `unsafe` in each file, and compare with `xtask/unsafe.txt`.
    UnsafeCount {
        /// Compare, and change nothing: the default.
        #[arg(long, conflicts_with = "write")]
        check: bool,
        /// Write the table anew.
        #[arg(long)]
        write: bool,
    },
    /// Check that imports go one way, without circles, and the lengths of files and functions (`xtask/structure.toml`).
    Structure,
    /// Run tests of the library in Miri, which checks every access (needs a nightly toolchain with miri and rust-src).
    Miri {
        /// Run only tests with these strings in their names.
        filters: Vec<String>,
    },
    /// Run tests of the CPU engine under ThreadSanitizer, which finds races (needs a nightly toolchain with rust-src).
    ThreadSanitizer {
        /// Run only tests with these strings in their names.
        filters: Vec<String>,
    },
    /// Run the kernels in the emulator under AddressSanitizer and UndefinedBehaviorSanitizer.
    AddressSanitizer {
        /// Run only tests with these strings in their names.
        filters: Vec<String>,
    },
    /// Run the loom models of hand-written synchronization, in every order in which the threads can run.
    Loom,
    /// Put the command, the tests and a script in one folder, to run on a machine with a GPU and without Rust.
    GpuArchive {
        /// The folder to write.
        #[arg(default_value = "target/gpu-archive")]
        directory: PathBuf,
    },
    /// Package the crates that are published, in their order, and check their files, metadata and sizes.
    Package {
        /// Build each crate from its package, too: takes minutes.
        #[arg(long)]
        verify: bool,
    },
    /// Attack the command with damaged files, kills, races of writers, little memory, and files that change under it.
    ///
    /// Prints for each program the number of cases and how the processes ended. Reports each failed case with its seed,
    /// and keeps its files.
    #[cfg(unix)]
    Torture(torture::Options),
}

fn main() -> ExitCode {
    let done = match Chore::parse() {
        Chore::Fuzz { seconds, targets } => fuzz(seconds, &targets),
        Chore::Kernels { check_some: Some(count), toolchain, .. } => kernels::check_some(root(), count, toolchain),
        Chore::Kernels { check, toolchain, images, .. } => kernels::run(root(), check, toolchain, &images),
        Chore::UnsafeCount { check: _, write } => unsafe_count::run(root(), write),
        Chore::Structure => structure::run(root()),
        Chore::Miri { filters } => checkers::miri(root(), &filters),
        Chore::ThreadSanitizer { filters } => checkers::thread_sanitizer(root(), &filters),
        Chore::AddressSanitizer { filters } => checkers::address_sanitizer(root(), &filters),
        Chore::Loom => checkers::loom(root()),
        Chore::Package { verify } => package::run(root(), verify),
        Chore::GpuArchive { directory } => gpu_archive::run(root(), &directory),
        #[cfg(unix)]
        Chore::Torture(options) => torture::run(root(), &options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the whole workspace.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

fn fuzz(seconds: u32, targets: &[String]) -> Result<(), String> {
    let run = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        // The leak checker would report memory that pool threads keep until they end.
        command.current_dir(root()).args(["+nightly", "fuzz"]).args(arguments).env("ASAN_OPTIONS", "detect_leaks=0");
        command.output().map_err(|error| format!("cargo can't be started: {error}"))
    };
    let listed = run(&["list"])?;
    let names = String::from_utf8_lossy(&listed.stdout).into_owned();
    if !listed.status.success() {
        return Err(String::from_utf8_lossy(&listed.stderr).into_owned() + "`cargo install cargo-fuzz` may help");
    }
    for name in names.lines().filter(|name| targets.is_empty() || targets.iter().any(|target| target == name)) {
        println!("{name}: {seconds} seconds");
        let limit = format!("-max_total_time={seconds}");
        let bounds = ["-max_len=4096", "-timeout=20", "-rss_limit_mb=2048", "-detect_leaks=0"];
        let output = run(&[&["run", name, "--", &limit], &bounds[..]].concat())?;
        let log = String::from_utf8_lossy(&output.stderr);
        println!("{}", log.lines().rev().find(|line| line.contains("DONE") || line.contains("runs in")).unwrap_or(""));
        if !output.status.success() {
            return Err(format!("{name} failed:\n{log}"));
        }
    }
    Ok(())
}
