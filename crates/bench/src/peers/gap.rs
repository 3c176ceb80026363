//! The programs of the GAP benchmark suite, if `$GAPBS` or `--gap` names their folder.
//!
//! They time themselves and verify their own answers; Warpath compares the number of vertices they reach. The delta of
//! `sssp` is the best of six values for the first source. The programs do not report a version: the commit of their
//! folder, or the program's checksum, stands for it.

use std::path::Path;
use std::process::Command;

use sha2::{Digest as _, Sha256};
use warpath::problems::Problem;
use warpath::{Error, Format, Result, VertexId, WriteOptions};

use super::{Answer, Peered, Tools, process};
use crate::measure::{References, Task, Watch};

pub(super) fn run(task: &Task<'_>, tools: &Tools, references: &mut References, watch: &Watch) -> Answer {
    let Some(folder) = &tools.gap else {
        return Ok(Some(Err("--gap or $GAPBS names no folder with GAP's programs".into())));
    };
    let (name, extension) = if task.problem == Problem::Bfs { ("bfs", "sg") } else { ("sssp", "wsg") };
    let program = folder.join(name);
    if !program.is_file() {
        return Ok(Some(Err(format!("there is no {}", program.display()))));
    }
    let temporary = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), error))?;
    let file = temporary.path().join(format!("graph.{extension}"));
    WriteOptions::new().format(Format::Gap).write(task.graph, &file)?;
    let mut deltas = vec![None];
    if task.problem == Problem::Sssp {
        let greatest = task.graph.weight_range().1;
        deltas = [0.005, 0.01, 0.03, 0.3, 1.0, 3.0].map(|share| Some((greatest * share).max(1.0).round())).to_vec();
    }
    let one = Job { task, program: &program, file: &file, watch };
    let mut best: Option<(f64, Option<f64>)> = None;
    if let [_, _, ..] = deltas.as_slice() {
        let Some(&source) = task.sources.first() else { return Ok(None) };
        for &delta in &deltas {
            let Some(told) = one.search(source, delta, 1, None)? else { continue };
            if best.is_none_or(|(least, _)| told.trials[0] < least) {
                best = Some((told.trials[0], delta));
            }
        }
        let Some((_, delta)) = best else { return Ok(None) };
        deltas = vec![delta];
    }
    let delta = deltas[0];
    let version = version(folder, &program);
    let mut peered = Peered {
        name: format!("GAP {name} {version}{}", delta.map_or_else(String::new, |delta| format!(", delta {delta}"))),
        prepare: 0.0,
        samples: Vec::new(),
        answers: Vec::new(),
        detail: Some("its own clock and verifier; the number of vertices reached is compared".into()),
    };
    for &source in task.sources {
        let expected = watch.allow(3.0 * task.limits.timeout, || references.get(task, Some(source), watch))?;
        let Some(told) = one.search(source, delta, task.repeats, Some(expected.reached))? else { return Ok(None) };
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
    task: &'a Task<'a>,
    program: &'a Path,
    file: &'a Path,
    watch: &'a Watch,
}

impl Job<'_> {
    /// The times of some searches; `None` if they took too long.
    fn search(
        &self,
        source: VertexId,
        delta: Option<f64>,
        repeats: usize,
        reached: Option<u64>,
    ) -> Result<Option<Told>> {
        let mut command = Command::new(self.program);
        command.arg("-f").arg(self.file).args(["-a", "-n", &repeats.to_string(), "-r", &source.to_string()]);
        if let Some(delta) = delta {
            command.args(["-d", &delta.to_string()]);
        }
        if reached.is_some() {
            command.arg("-v");
        }
        let seconds = self.task.limits.timeout * repeats as f64 + self.task.limits.timeout;
        let Some(ended) = process::run(&mut command, seconds, &self.watch.control)? else { return Ok(None) };
        let text = ended.output;
        let verified = !text.contains("FAIL") && reached.is_none_or(|count| text.contains(&format!(" {count} nodes")));
        if !verified {
            return Err(Error::NotVerified(format!("GAP's answer from {source} does not hold")));
        }
        let times = |name: &str| -> Vec<f64> {
            let values = text.lines().filter_map(|line| line.trim().strip_prefix(name));
            values.filter_map(|time| time.trim().parse().ok()).collect()
        };
        let trials = times("Trial Time:");
        if !ended.status.success() || trials.len() != repeats {
            return Err(Error::invalid(format!("GAP's program failed: {}", ended.errors.trim())));
        }
        let prepare = ["Read Time:", "Build Time:"].into_iter().flat_map(times).sum();
        Ok(Some(Told { prepare, trials }))
    }
}
