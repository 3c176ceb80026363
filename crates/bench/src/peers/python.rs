//! Python packages, one search at a time.

use serde::Deserialize;
use serde_json::json;
use warpath::Error;
use warpath::problems::Problem;

use super::{Answer, Peered, Tools, runner};
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
    let job = json!({
        "package": package,
        "sources": task.sources,
        "repeats": task.repeats,
        "warm_ups": task.case.experiment.warm_ups,
        "budget": task.limits.budget,
    });
    let ended = match runner::run(task, task.problem == Problem::Sssp, job, tools, watch)? {
        Some(Ok(ended)) => ended,
        Some(Err(absent)) => return Ok(Some(Err(absent))),
        None => return Ok(None),
    };
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
        return Err(runner::failure(package, &ended));
    }
    let whole: usize = peered.samples.iter().map(Vec::len).sum();
    let wanted = task.sources.len() * task.repeats;
    if whole < wanted {
        peered.detail = Some(format!("{whole} of {wanted} searches: the time for this case was used up"));
    }
    Ok(Some(Ok(peered)))
}
