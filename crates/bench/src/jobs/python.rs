//! Python packages, through `runner.py`, which puts many questions in one call of a package.

use serde::Deserialize;
use serde_json::json;
use warpath::{Error, Result};

use super::answers::Answer;
use super::{Asking, Reply, too_long};
use crate::measure::Outcome;
use crate::peers::messages::Ready;
use crate::peers::{Tools, runner};
use crate::results::{Clock, Status};
use crate::suite::Job;

/// A line that the runner prints.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Missing { missing: String },
    Prepared { version: String, prepare: f64 },
    Answers { pass: usize, first: usize, seconds: f64, answers: Vec<(u64, u64, u64)> },
}

/// The most sources in one call of a package.
const AT_ONCE: usize = 16;

pub(super) fn run(asking: &mut Asking<'_>, package: &str, tools: &Tools) -> Result<Outcome> {
    let (task, questions) = (asking.task, asking.questions);
    let unavailable = |text: String| Ok(Outcome::without_times(Status::Unavailable, text));
    if !matches!(questions.job, Job::Rows | Job::Table) {
        return unavailable(format!("{package} prepares nothing, and is compared in rows and tables alone"));
    }
    let job = json!({
        "package": package,
        "at_once": asking.most_at_once().min(AT_ONCE),
        "sources": questions.sources,
        "columns": questions.columns(),
        "repeats": task.repeats,
        "budget": task.limits.budget,
    });
    let ended = match runner::run(task, true, job, tools, asking.watch) {
        Ok(Some(Ok(ended))) => ended,
        Ok(Some(Err(absent))) => return unavailable(absent),
        Ok(None) => return Ok(too_long(task)),
        Err(error) => return Err(error),
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
            Ok(Line::Answers { pass, first, seconds, answers }) => {
                if seconds > task.limits.timeout {
                    return Ok(too_long(task));
                }
                let answer = |(reached, sum, greatest): (u64, u64, u64)| Answer {
                    reached,
                    sum: sum.into(),
                    greatest,
                    hash: None,
                };
                if first + answers.len() > questions.count() {
                    return Err(Error::invalid(format!("{package} answered more than it was asked")));
                }
                asking.take(pass, first, &Reply { seconds, answers: answers.into_iter().map(answer).collect() })?;
            }
            // Ignore what packages print.
            Err(_) => {}
        }
    }
    if !ended.status.success() {
        return Err(runner::failure(package, &ended));
    }
    Ok(asking.outcome(ready))
}
