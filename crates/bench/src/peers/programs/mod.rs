//! Programs in folders that the user names: they are built there, and found on a run by an option or a variable of the environment.
//!
//! Each program times itself and verifies its own answers; what it tells of them beside that is compared. Its parameters are the
//! best of several for the first source. The programs do not report a version: the commit of their folder, or the program's checksum,
//! stands for it.

mod gap;
mod pasgal;
mod wasp;

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};
use warpath::problems::Problem;
use warpath::{Error, Result, VertexId};

use super::{Answer, Peered, Tools, process};
use crate::digest::Digest;
use crate::measure::{References, Task, Watch};

/// The programs of one project.
trait Programs {
    /// As rows name the project.
    fn name(&self) -> &'static str;

    /// The option and the variable of the environment that name the folder.
    fn named_by(&self) -> &'static str;

    /// The program for a problem: its place in the folder, and its name in rows; `None` if there is none.
    fn program(&self, problem: Problem) -> Option<[&'static str; 2]>;

    /// Writes the graph of a task as the program reads it, into a folder. Returns the file.
    fn write(&self, task: &Task<'_>, folder: &Path) -> Result<PathBuf>;

    /// The parameters that are tried, each as the program takes it; none if there is nothing to choose.
    fn parameters(&self, task: &Task<'_>) -> Vec<Vec<String>>;

    /// The arguments of searches from a source, and of verifying them.
    fn arguments(&self, search: &Searches<'_>) -> Vec<String>;

    /// The seconds of preparing the graph, and of each search, in what the program printed.
    fn times(&self, output: &str) -> (f64, Vec<f64>);

    /// How many searches the program runs if it is asked for so many.
    fn runs(&self, asked: usize) -> usize {
        asked
    }

    /// Whether what the program printed, and left in its folder, agrees with an answer to a problem.
    fn agrees(&self, output: &str, folder: &Path, problem: Problem, expected: &Digest) -> Result<bool>;

    /// How answers are compared.
    fn comparison(&self) -> &'static str;
}

/// What a program is asked for.
struct Searches<'a> {
    task: &'a Task<'a>,
    file: &'a Path,
    source: VertexId,
    repeats: usize,
    verify: bool,
}

/// The deltas that are tried, as shares of the greatest weight.
const DELTAS: [f64; 6] = [0.005, 0.01, 0.03, 0.3, 1.0, 3.0];

/// The deltas that are tried for a task.
fn deltas(task: &Task<'_>) -> [String; 6] {
    let greatest = task.graph.weight_range().1;
    DELTAS.map(|share| (greatest * share).max(1.0).round().to_string())
}

/// The values of lines that begin with a name.
fn values(output: &str, name: &str) -> Vec<f64> {
    let values = output.lines().filter_map(|line| line.trim().strip_prefix(name));
    values.filter_map(|value| value.trim().parse().ok()).collect()
}

/// Measures a task with the programs that a case names; `None` if it names no programs.
pub(super) fn run(
    task: &Task<'_>,
    peer: &str,
    tools: &Tools,
    references: &mut References,
    watch: &Watch,
) -> Option<Answer> {
    let (programs, folder): (&dyn Programs, _) = match peer {
        "gap" => (&gap::Gap, &tools.gap),
        "wasp" => (&wasp::Wasp, &tools.wasp),
        "pasgal" => (&pasgal::Pasgal, &tools.pasgal),
        _ => return None,
    };
    Some(measure(task, programs, folder.as_deref(), references, watch))
}

fn measure(
    task: &Task<'_>,
    programs: &dyn Programs,
    folder: Option<&Path>,
    references: &mut References,
    watch: &Watch,
) -> Answer {
    let Some(folder) = folder else {
        let (named_by, name) = (programs.named_by(), programs.name());
        return Ok(Some(Err(format!("{named_by} names no folder with {name}'s programs"))));
    };
    let Some([place, name]) = programs.program(task.problem) else {
        return Ok(Some(Err(format!("{} has no program for this", programs.name()))));
    };
    let program = folder.join(place);
    if !program.is_file() {
        return Ok(Some(Err(format!("there is no {}", program.display()))));
    }
    // The program runs in another folder.
    let program = program.canonicalize().map_err(|error| Error::io(&program, error))?;
    let temporary = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), error))?;
    let file = programs.write(task, temporary.path())?;
    let job = Job { programs, program: &program, folder: temporary.path(), watch };
    let search = |source, repeats, verify| Searches { task, file: &file, source, repeats, verify };
    let mut parameter = Vec::new();
    let mut best = None;
    for tried in programs.parameters(task) {
        let Some(&source) = task.sources.first() else { return Ok(None) };
        let Some(told) = job.search(&search(source, 1, false), &tried, None)? else { continue };
        let least = told.trials.iter().copied().fold(f64::INFINITY, f64::min);
        if best.is_none_or(|best| least < best) {
            (best, parameter) = (Some(least), tried);
        }
    }
    let shown = parameter.iter().map(|word| word.trim_start_matches('-')).collect::<Vec<_>>().join(" ");
    let shown = shown.strip_prefix("d ").map_or(shown.clone(), |delta| format!("delta {delta}"));
    let version = version(folder, &program);
    let mut peered = Peered {
        name: format!("{} {name} {version}{}{shown}", programs.name(), if shown.is_empty() { "" } else { ", " }),
        prepare: 0.0,
        samples: Vec::new(),
        answers: Vec::new(),
        detail: Some(programs.comparison().into()),
    };
    for &source in task.sources {
        let expected = watch.allow(3.0 * task.limits.timeout, || references.get(task, Some(source), watch))?;
        let told = job.search(&search(source, task.repeats, true), &parameter, Some(&expected))?;
        let Some(told) = told else { return Ok(None) };
        if peered.samples.is_empty() {
            peered.prepare = told.prepare;
        }
        peered.samples.push(told.trials);
        peered.answers.push(expected);
    }
    Ok(Some(Ok(peered)))
}

/// What distinguishes this program from others of the same name.
fn version(folder: &Path, program: &Path) -> String {
    commit(folder).or_else(|| checksum(program)).unwrap_or_else(|| "of unknown version".to_owned())
}

/// The commit of a folder that is a repository itself, not a folder within another repository.
fn commit(folder: &Path) -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(folder).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let is_top = Path::new(&top).canonicalize().ok()? == folder.canonicalize().ok()?;
    let commit = git(&["rev-parse", "--short=12", "HEAD"]).filter(|_| is_top)?;
    Some(format!("(commit {commit})"))
}

fn checksum(program: &Path) -> Option<String> {
    let digest = Sha256::digest(std::fs::read(program).ok()?);
    let digits: String = digest.iter().take(6).map(|byte| format!("{byte:02x}")).collect();
    Some(format!("(SHA-256 {digits})"))
}

/// The times that a program reported.
struct Told {
    /// Seconds for reading and building the graph, as far as the program reports them.
    prepare: f64,
    trials: Vec<f64>,
}

struct Job<'a> {
    programs: &'a dyn Programs,
    program: &'a Path,
    /// Where the program runs.
    folder: &'a Path,
    watch: &'a Watch,
}

impl Job<'_> {
    /// The times of some searches, whose answers are compared with `expected` if it is there; `None` if they took too long.
    fn search(&self, asked: &Searches<'_>, parameter: &[String], expected: Option<&Digest>) -> Result<Option<Told>> {
        let name = self.programs.name();
        let mut command = Command::new(self.program);
        command.current_dir(self.folder).args(self.programs.arguments(asked)).args(parameter);
        let runs = self.programs.runs(asked.repeats);
        let seconds = asked.task.limits.timeout * (runs as f64 + 1.0);
        let Some(ended) = process::run(&mut command, seconds, &self.watch.control)? else { return Ok(None) };
        let agrees = match expected {
            Some(expected) if ended.status.success() => {
                self.programs.agrees(&ended.output, self.folder, asked.task.problem, expected)?
            }
            _ => true,
        };
        if !agrees {
            return Err(Error::NotVerified(format!("{name}'s answer from {} does not hold", asked.source)));
        }
        let (prepare, trials) = self.programs.times(&ended.output);
        if !ended.status.success() || trials.len() != runs {
            return Err(Error::invalid(format!("{name}'s program failed: {}", ended.errors.trim())));
        }
        Ok(Some(Told { prepare, trials }))
    }
}
