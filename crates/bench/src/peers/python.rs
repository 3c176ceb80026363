//! Python packages, through `runner.py`, which is part of this program.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::json;
use warpath::Error;
use warpath::graph::Weights;
use warpath::problems::Problem;

use super::{Answer, Peered, Tools, process};
use crate::digest::Digest;
use crate::measure::{References, Task, Watch};

/// A line that the runner prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Missing { missing: String },
    Prepared { version: String, prepare: f64 },
    Search { source: usize, seconds: f64, reached: u64, sum: serde_json::Number, greatest: serde_json::Number },
}

pub(super) fn run(task: &Task<'_>, package: &str, tools: &Tools, references: &mut References, watch: &Watch) -> Answer {
    let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), error))?;
    write_job(task, package, folder.path()).map_err(|error| Error::io(folder.path(), error))?;
    let mut command = Command::new(&tools.python);
    command.arg(folder.path().join("runner.py")).arg(folder.path());
    // Reading and preparing the graph in Python is slow, so the runner gets twice the time limit.
    let seconds = 2.0 * task.limits.timeout + task.limits.budget + 5.0;
    let ended = match process::run(&mut command, seconds, &watch.control) {
        Err(Error::Io { .. }) => return Ok(Some(Err(format!("there is no {}", tools.python.display())))),
        ended => ended?,
    };
    let Some(ended) = ended else { return Ok(None) };
    let mut peered =
        Peered { name: package.to_owned(), prepare: 0.0, samples: Vec::new(), answers: Vec::new(), detail: None };
    for line in ended.output.lines() {
        match serde_json::from_str(line) {
            Ok(Line::Missing { missing }) => return Ok(Some(Err(format!("not installed: {missing}")))),
            Ok(Line::Prepared { version, prepare }) => {
                peered.name = format!("{package} {version}");
                peered.prepare = prepare;
            }
            Ok(Line::Search { source, seconds, reached, sum, greatest }) => {
                if seconds > task.limits.timeout {
                    return Ok(None);
                }
                let vertex = task.sources.get(source).copied();
                let expected = watch.allow(3.0 * task.limits.timeout, || references.get(task, vertex, watch))?;
                let digest = Digest { reached, sum: sum.to_string(), greatest: Some(greatest.to_string()), hash: None };
                if !digest.agrees_with(&expected) {
                    return Err(Error::NotVerified(digest.difference(&expected)));
                }
                if source == peered.samples.len() {
                    peered.samples.push(Vec::new());
                    peered.answers.push(digest);
                }
                if let Some(last) = peered.samples.last_mut() {
                    last.push(seconds);
                }
            }
            // Ignore what packages print.
            Err(_) => {}
        }
    }
    if !ended.status.success() {
        let last = ended.errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no word of why");
        return Err(Error::invalid(format!("{package} failed: {last}")));
    }
    let whole: usize = peered.samples.iter().map(Vec::len).sum();
    let wanted = task.sources.len() * task.repeats;
    if whole < wanted {
        peered.detail = Some(format!("{whole} of {wanted} searches: the time for this case was used up"));
    }
    Ok(Some(Ok(peered)))
}

fn write_job(task: &Task<'_>, package: &str, folder: &Path) -> std::io::Result<()> {
    let graph = task.graph;
    let csr = graph.csr();
    let weighted = task.problem == Problem::Sssp;
    let job = json!({
        "package": package,
        "problem": task.problem.name(),
        "vertices": graph.vertices(),
        "directed": graph.is_directed(),
        "weighted": weighted,
        "sources": task.sources,
        "repeats": task.repeats,
        "warm_ups": task.case.experiment.warm_ups,
        "budget": task.limits.budget,
    });
    fs::write(folder.join("runner.py"), include_str!("runner.py"))?;
    fs::write(folder.join("job.json"), job.to_string())?;
    let bytes_of = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let offsets: Vec<u8> = csr.offsets().iter().flat_map(|offset| offset.to_le_bytes()).collect();
    fs::write(folder.join("offsets"), offsets)?;
    fs::write(folder.join("targets"), bytes_of(csr.targets()))?;
    if let (true, Weights::U32(weights)) = (weighted, csr.weights()) {
        fs::write(folder.join("weights"), bytes_of(weights))?;
    }
    Ok(())
}
