//! `cargo xtask torture`: attacks on the `warpath` command, for as long as one likes.
//!
//! Each of five programs, one file each, runs cases until its share of the time is over. A seed determines a case, so a
//! failed case can be run again (`--program NAME --case SEED`), except for timing: when a signal or a change of a file
//! reaches the process. A case runs the command in its own folder, and checks how each process ended and what it
//! answered. The folder of a failed case is kept, with the files, the output of each process, and `case.txt`: the
//! commands in order.

mod cgroup;
mod changed_file;
mod kill_and_resume;
mod mutate;
mod process;
mod random;
mod small_memory;
mod writers;

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};

use crate::kernels::{at, output_of};
use process::{Limits, Outcome, Process};
use random::Random;

/// The most failures of a program to report and keep; more are only counted.
const MOST_KEPT: usize = 20;

/// The arguments of `cargo xtask torture`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Minutes to run, shared among the programs.
    #[arg(long, default_value_t = 5.0)]
    minutes: f64,
    /// The seed of the cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run only this program; may be repeated [default: all].
    #[arg(long = "program", value_enum)]
    programs: Vec<ProgramName>,
    /// Run only the case with this seed, of one program.
    #[arg(long, value_name = "SEED", requires = "programs", conflicts_with = "minutes")]
    case: Option<u64>,
    /// The number of programs that run at once.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// The command to attack [default: a release build].
    #[arg(long)]
    binary: Option<PathBuf>,
    /// The folder for the work and for kept failures [default: `torture` in the target folder].
    #[arg(long)]
    directory: Option<PathBuf>,
}

/// The programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ProgramName {
    /// Damaged files of all formats and compressions: an error, or an answer that verifies.
    Mutate,
    /// Kills in the middle of writing: nothing is half-written, and resumed work equals an undisturbed run's.
    KillAndResume,
    /// Several processes that write one file: it is the complete file of one of them.
    Writers,
    /// Limits of memory: an error, or the same answer.
    SmallMemory,
    /// Graphs changed under their readers: an error, or the answer of the graph as it was opened.
    ChangedFile,
}

impl ProgramName {
    fn text(self) -> &'static str {
        match self {
            ProgramName::Mutate => "mutate",
            ProgramName::KillAndResume => "kill-and-resume",
            ProgramName::Writers => "writers",
            ProgramName::SmallMemory => "small-memory",
            ProgramName::ChangedFile => "changed-file",
        }
    }

    fn prepare(self, shop: Workshop) -> Result<Box<dyn Program>, String> {
        Ok(match self {
            ProgramName::Mutate => Box::new(mutate::Mutate::prepare(shop)?),
            ProgramName::KillAndResume => Box::new(kill_and_resume::KillAndResume::prepare(shop)),
            ProgramName::Writers => Box::new(writers::Writers::prepare(shop)),
            ProgramName::SmallMemory => Box::new(small_memory::SmallMemory::prepare(shop)?),
            ProgramName::ChangedFile => Box::new(changed_file::ChangedFile::prepare(shop)?),
        })
    }
}

/// A program that makes and runs cases.
trait Program {
    /// Runs one case.
    ///
    /// # Errors
    ///
    /// If the command has a fault.
    fn case(&self, case: &mut Case<'_>) -> Result<(), String>;
}

/// Makes the files that a program's cases begin with, each on first request and once.
struct Workshop {
    binary: PathBuf,
    folder: PathBuf,
}

impl Workshop {
    /// Runs the command undisturbed, which has to succeed; returns its output and the time it took.
    fn run(&self, arguments: &str) -> Result<(String, Duration), String> {
        let process =
            Process::start(&self.binary, &words(arguments), &self.folder, "prepare", None, Limits::default())?;
        let outcome = process.wait()?;
        let failed = |error| format!("preparing: {}: {error}\n{}", outcome.line, outcome.stderr);
        outcome.expect(&[0]).map_err(failed)?;
        Ok((outcome.stdout, outcome.ended - outcome.began))
    }

    fn read(&self, name: &str) -> Result<Vec<u8>, String> {
        let path = self.folder.join(name);
        fs::read(&path).map_err(at(&path))
    }
}

/// A running case.
struct Case<'a> {
    random: Random,
    folder: &'a Path,
    binary: &'a Path,
    /// The commands, how each ended, and what was done between them.
    log: Vec<String>,
    outcomes: BTreeMap<String, u64>,
    started: usize,
}

impl Case<'_> {
    /// The full path of a file of the case.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<(), String> {
        let path = self.path(name);
        fs::write(&path, bytes).map_err(at(&path))
    }

    /// The content of a file; `None` if there is no such file.
    fn read(&self, name: &str) -> Result<Option<Vec<u8>>, String> {
        let path = self.path(name);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(at(&path)(error)),
        }
    }

    /// Adds an action to the log.
    fn note(&mut self, text: impl Into<String>) {
        self.log.push(format!("# {}", text.into()));
    }

    /// Starts the command in the folder of the case.
    fn start(&mut self, arguments: &[String], limits: Limits<'_>) -> Result<Process, String> {
        self.started += 1;
        Process::start(self.binary, arguments, self.folder, &self.started.to_string(), None, limits)
    }

    /// Waits for a process, and counts how it ended.
    fn finish(&mut self, process: Process) -> Result<Outcome, String> {
        let outcome = process.wait()?;
        *self.outcomes.entry(outcome.describe()).or_default() += 1;
        self.log.push(format!("{}   # {}", outcome.line, outcome.describe()));
        Ok(outcome)
    }

    fn run(&mut self, arguments: &[String], limits: Limits<'_>) -> Result<Outcome, String> {
        let process = self.start(arguments, limits)?;
        self.finish(process)
    }

    /// Runs the command with a file of the case as its standard input.
    fn run_with_input(&mut self, arguments: &[String], input: &str, limits: Limits<'_>) -> Result<Outcome, String> {
        self.started += 1;
        let (name, input) = (self.started.to_string(), Path::new(input));
        let process = Process::start(self.binary, arguments, self.folder, &name, Some(input), limits)?;
        self.finish(process)
    }

    /// The other files in a file's folder whose names begin with its name.
    fn beside(&self, name: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        for entry in fs::read_dir(self.folder).map_err(at(self.folder))? {
            let other = entry.map_err(at(self.folder))?.file_name().to_string_lossy().into_owned();
            // A hidden name may be a temporary file.
            if other != name && other.trim_start_matches('.').starts_with(name) {
                found.push(other);
            }
        }
        found.sort();
        Ok(found)
    }
}

/// Makes a value on first request.
fn once<T>(made: &OnceCell<T>, make: impl FnOnce() -> Result<T, String>) -> Result<&T, String> {
    match made.get() {
        Some(made) => Ok(made),
        None => {
            let value = make()?;
            Ok(made.get_or_init(|| value))
        }
    }
}

/// The command's answer without the way to it: JSON, except engine, algorithm, times and memory.
fn answer_of(json: &str) -> Result<String, String> {
    let parsed: Result<serde_json::Value, _> = serde_json::from_str(json);
    let mut value = parsed.map_err(|error| format!("not JSON: {error}: {json}"))?;
    if let Some(fields) = value.as_object_mut() {
        let of_the_run = [
            "engine",
            "engine_reason",
            "algorithm",
            "reason",
            "number_type",
            "repeated_wide",
            "threads",
            "threads_asked_for",
            "seconds",
        ];
        let of_memory = ["peak_bytes", "memory_bytes", "graph_bytes", "bytes", "output"];
        for name in of_the_run.into_iter().chain(of_memory) {
            fields.remove(name);
        }
    }
    Ok(value.to_string())
}

/// Splits words into arguments.
fn words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// The result of a program.
#[derive(Default)]
struct Report {
    cases: u64,
    failures: usize,
    outcomes: BTreeMap<String, u64>,
    seconds: f64,
}

/// Runs the programs; fails if any case failed.
pub(crate) fn run(root: &Path, options: &Options) -> Result<(), String> {
    let binary = match &options.binary {
        Some(binary) => fs::canonicalize(binary).map_err(at(binary))?,
        None => build(root)?,
    };
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    let directory = options.directory.clone().unwrap_or_else(|| root.join(target).join("torture"));
    fs::create_dir_all(&directory).map_err(at(&directory))?;
    let directory = fs::canonicalize(&directory).map_err(at(&directory))?;
    if options.case.is_some() && options.programs.len() != 1 {
        return Err("`--case` is of one program: `--program NAME`".into());
    }
    let all = ProgramName::value_variants();
    let programs = if options.programs.is_empty() { all } else { &options.programs };
    let share = Duration::from_secs_f64((options.minutes * 60.0).max(0.0) / programs.len() as f64);
    let next = AtomicUsize::new(0);
    let reports = Mutex::new(Vec::new());
    let workers = options.jobs.clamp(1, programs.len());
    // Processes end with the thread that started them; these threads last until all have ended.
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(&program) = programs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let report = run_program(program, &binary, &directory, share.mul_f64(workers as f64), options);
                    reports.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((program, report));
                }
            });
        }
    });
    let reports = reports.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let mut failures = 0;
    for (program, report) in reports {
        let name = program.text();
        let report = match report {
            Ok(report) => report,
            Err(error) => {
                println!("{name}: {error}");
                failures += 1;
                continue;
            }
        };
        let outcomes: Vec<String> = report.outcomes.iter().map(|(what, count)| format!("{what}: {count}")).collect();
        println!(
            "{name:<16} {:>8} cases in {:.0} s; {}; {} failed",
            report.cases,
            report.seconds,
            outcomes.join(", "),
            report.failures
        );
        failures += report.failures;
    }
    match failures {
        0 => Ok(()),
        _ => Err(format!("{failures} cases failed; their files are in {}", directory.join("failed").display())),
    }
}

/// Builds the command in release.
fn build(root: &Path) -> Result<PathBuf, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["build", "--release", "--locked", "--package", "warpath-cli", "--bin", "warpath"]);
    let messages = output_of(command.arg("--message-format=json-render-diagnostics"))?;
    let executable = messages.lines().find_map(|line| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        message["executable"].as_str().map(PathBuf::from)
    });
    executable.ok_or_else(|| "cargo has built no program".to_owned())
}

fn run_program(
    program: ProgramName,
    binary: &Path,
    directory: &Path,
    share: Duration,
    options: &Options,
) -> Result<Report, String> {
    let began = Instant::now();
    let name = program.text();
    let work = tempfile::Builder::new().prefix(name).tempdir_in(directory).map_err(at(directory))?;
    let inputs = work.path().join("inputs");
    fs::create_dir(&inputs).map_err(at(&inputs))?;
    let made = program.prepare(Workshop { binary: binary.to_owned(), folder: inputs })?;
    let mut report = Report::default();
    let mut seeds = Random::new(options.seed);
    while options.case.is_some() || began.elapsed() < share {
        let seed = options.case.unwrap_or_else(|| seeds.next());
        let folder = work.path().join("case");
        fs::create_dir(&folder).map_err(at(&folder))?;
        let (random, outcomes) = (Random::new(seed), std::mem::take(&mut report.outcomes));
        let mut case = Case { random, folder: &folder, binary, log: Vec::new(), outcomes, started: 0 };
        let result = made.case(&mut case);
        report.cases += 1;
        let log = std::mem::take(&mut case.log);
        report.outcomes = case.outcomes;
        if options.case.is_some() {
            println!("{}", log.join("\n"));
        }
        match result {
            Ok(()) => fs::remove_dir_all(&folder).map_err(at(&folder))?,
            Err(what) => {
                report.failures += 1;
                if report.failures <= MOST_KEPT {
                    let kept = keep(&folder, directory, name, seed, &log, &what)?;
                    println!("{name}: {what}\n    --program {name} --case {seed}; {}", kept.display());
                } else {
                    fs::remove_dir_all(&folder).map_err(at(&folder))?;
                }
            }
        }
        if options.case.is_some() {
            break;
        }
    }
    report.seconds = began.elapsed().as_secs_f64();
    Ok(report)
}

/// Keeps the folder of a failed case, and adds the log.
fn keep(folder: &Path, directory: &Path, name: &str, seed: u64, log: &[String], what: &str) -> Result<PathBuf, String> {
    let failed = directory.join("failed");
    let kept = failed.join(format!("{name}-{seed}"));
    if kept.exists() {
        fs::remove_dir_all(&kept).map_err(at(&kept))?;
    }
    fs::create_dir_all(&failed).map_err(at(&failed))?;
    fs::rename(folder, &kept).map_err(at(&kept))?;
    let story = kept.join("case.txt");
    fs::write(&story, format!("{}\n# {what}\n", log.join("\n"))).map_err(at(&story))?;
    Ok(kept)
}
