//! Measures by Python packages, through `runner.py`, which writes scores to files.

use std::path::Path;

use serde::Deserialize;
use serde_json::json;
use warpath::graph::WeightKind;
use warpath::{Error, Result};

use super::Scoring;
use crate::jobs::too_long;
use crate::measure::Outcome;
use crate::peers::messages::Ready;
use crate::peers::{Tools, runner};
use crate::results::{Clock, Status};

/// A line that the runner prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Missing {
        missing: String,
    },
    Prepared {
        version: String,
        prepare: f64,
    },
    /// The name of a file in the runner's folder, and the seconds that its scores took.
    Scores {
        scores: String,
        seconds: f64,
    },
}

pub(super) fn run(mut scoring: Scoring<'_>, package: &str, tools: &Tools) -> Result<Outcome> {
    let (task, wanted) = (scoring.task, scoring.wanted);
    let unavailable = |text: String| Ok(Outcome::without_times(Status::Unavailable, text));
    let job = json!({
        "package": package,
        "measure": wanted.measure.name(),
        "sources": wanted.sources,
        "steps": wanted.steps,
        "repeats": task.repeats,
        "budget": task.limits.budget,
    });
    let folder = tempfile::tempdir().map_err(|error| Error::io(std::env::temp_dir(), error))?;
    let is_weighted = task.graph.weight_kind() != WeightKind::Unit;
    let ended = match runner::run_in(folder.path(), task, is_weighted, job, tools, scoring.watch)? {
        Some(Ok(ended)) => ended,
        Some(Err(absent)) => return unavailable(absent),
        None => return Ok(too_long(task)),
    };
    let (ran_on, clock) = (None, Clock::Peer);
    let mut ready = Ready { name: package.to_owned(), ran_on, clock, prepare: 0.0, counters: Vec::new(), at_once: 1 };
    for line in ended.output.lines() {
        match serde_json::from_str(line) {
            Ok(Line::Missing { missing }) => return unavailable(format!("not installed: {missing}")),
            Ok(Line::Prepared { version, prepare }) => {
                ready.name = format!("{package} {version}");
                ready.prepare = prepare;
            }
            Ok(Line::Scores { seconds, .. }) if seconds > task.limits.timeout => return Ok(too_long(task)),
            Ok(Line::Scores { scores, seconds }) => scoring.take(seconds, &read(&folder.path().join(scores))?)?,
            // Ignore what packages print.
            Err(_) => {}
        }
    }
    if !ended.status.success() {
        return Err(runner::failure(package, &ended));
    }
    Ok(scoring.outcome(ready))
}

/// Reads a file of floats of 64 bits.
fn read(path: &Path) -> Result<Vec<f64>> {
    let bytes = std::fs::read(path).map_err(|error| Error::io(path, error))?;
    let (floats, rest) = bytes.as_chunks();
    if !rest.is_empty() {
        return Err(Error::invalid(format!("{} bytes of scores are not whole floats", bytes.len())));
    }
    Ok(floats.iter().map(|float| f64::from_le_bytes(*float)).collect())
}
