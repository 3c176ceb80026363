//! Starts `runner.py`, which is part of this program, with a graph and what to do with it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use warpath::graph::Weights;
use warpath::{Error, Result};

use super::Tools;
use super::process::{self, Ended};
use crate::measure::{Task, Watch};

/// Runs a package: nothing if it took too long, or the reason why there is no Python, or what it printed.
///
/// `job` says what to do; the facts of the graph, with weights if it is `weighted`, are added.
pub(crate) fn run(
    task: &Task<'_>,
    weighted: bool,
    job: Value,
    tools: &Tools,
    watch: &Watch,
) -> Result<Option<std::result::Result<Ended, String>>> {
    let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), error))?;
    run_in(folder.path(), task, weighted, job, tools, watch)
}

/// The same in a folder that is there, where files that the runner writes stay.
pub(crate) fn run_in(
    folder: &Path,
    task: &Task<'_>,
    weighted: bool,
    job: Value,
    tools: &Tools,
    watch: &Watch,
) -> Result<Option<std::result::Result<Ended, String>>> {
    write_job(task, weighted, job, folder).map_err(|error| Error::io(folder, error))?;
    let mut command = Command::new(&tools.python);
    command.arg(folder.join("runner.py")).arg(folder);
    // Reading and preparing the graph in Python is slow, so the runner gets twice the time limit.
    let seconds = 2.0 * task.limits.timeout + task.limits.budget + 5.0;
    match process::run(&mut command, seconds, &watch.control) {
        Err(Error::Io { .. }) => Ok(Some(Err(format!("there is no {}", tools.python.display())))),
        ended => Ok(ended?.map(Ok)),
    }
}

/// The error of a package that did not end well.
pub(crate) fn failure(package: &str, ended: &Ended) -> Error {
    let last = ended.errors.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no word of why");
    Error::invalid(format!("{package} failed: {last}"))
}

fn write_job(task: &Task<'_>, weighted: bool, mut job: Value, folder: &Path) -> std::io::Result<()> {
    let graph = task.graph;
    let csr = graph.csr();
    job["problem"] = json!(task.problem.name());
    job["vertices"] = json!(graph.vertices());
    job["directed"] = json!(graph.is_directed());
    job["weighted"] = json!(weighted);
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
