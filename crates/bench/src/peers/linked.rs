//! Searches of linked packages, each in a worker, which is killed where a search takes too long.

use serde::{Deserialize, Serialize};
use serde_json::json;
use warpath::problems::Problem;
use warpath::{Error, Result, VertexId};

use super::messages::{Case, Ready};
use super::worker::{Worker, Workers};
use super::{Answer, Peered, Tools, not_built_in};
use crate::digest::Digest;
use crate::measure::{References, Task, Watch};

/// What a package is asked.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Questions {
    /// The name of the problem.
    pub(super) problem: String,
    pub(super) sources: Vec<VertexId>,
}

pub(super) fn run(
    task: &Task<'_>,
    peer: &str,
    tools: &Tools,
    workers: &mut Workers,
    (references, watch): (&mut References, &Watch),
) -> Answer {
    let Some(program) = &tools.worker else { return Ok(Some(Err(not_built_in(peer)))) };
    if (peer, task.problem) == ("graph", Problem::Bfs) {
        return Ok(Some(Err("graph has no breadth-first search".into())));
    }
    // Six searches choose the delta of `graph`.
    let limit = task.limits.timeout * if peer == "graph" { 7.0 } else { 1.0 };
    let questions = Questions { problem: task.problem.name().to_owned(), sources: task.sources.to_vec() };
    let case = Case { package: peer.to_owned(), questions: json!(questions) };
    let converse = |ready: Ready, worker: &mut Worker| search(task, peer, ready, worker, (references, watch));
    workers.run(task, program, case, limit, watch, converse).map(|(done, _)| done)
}

/// Searches until all repeats are done or the budget is used up.
fn search(
    task: &Task<'_>,
    peer: &str,
    ready: Ready,
    worker: &mut Worker,
    (references, watch): (&mut References, &Watch),
) -> Answer {
    let Ready { name, prepare, .. } = ready;
    let mut peered = Peered { name, prepare, samples: Vec::new(), answers: Vec::new(), detail: None };
    let mut spent = 0.0;
    for (index, &source) in task.sources.iter().enumerate() {
        let expected = watch.allow(3.0 * task.limits.timeout, || references.get(task, Some(source), watch))?;
        if peer == "graph" && expected.greatest.as_ref().and_then(|d| d.parse().ok()).is_none_or(|d: u64| d > 1 << 24) {
            return Ok(Some(Err("its distances are 32-bit floats, too narrow for these".into())));
        }
        let mut samples = Vec::new();
        let warm_ups = if index == 0 { task.case.experiment.warm_ups } else { 0 };
        for repeat in 0..warm_ups + task.repeats {
            watch.control.check()?;
            if spent > task.limits.budget && (index > 0 || repeat > 0) {
                peered.detail = Some("the time for this case was used up".into());
                if repeat <= warm_ups && index == 0 {
                    // There was only time for the warm-up search.
                    samples.push(spent);
                }
                break;
            }
            let (seconds, digest) = watch.allow(task.limits.timeout, || one(worker, index, watch))?;
            spent += seconds;
            if seconds > task.limits.timeout {
                return Ok(None);
            }
            if !digest.agrees_with(&expected) {
                return Err(Error::NotVerified(digest.difference(&expected)));
            }
            if repeat >= warm_ups {
                samples.push(seconds);
            }
        }
        if samples.is_empty() {
            break;
        }
        peered.samples.push(samples);
        peered.answers.push(expected);
    }
    Ok(Some(Ok(peered)))
}

/// The seconds and the answer of a search from the source of this number.
fn one(worker: &mut Worker, index: usize, watch: &Watch) -> Result<(f64, Digest)> {
    let mut reply = worker.ask(index..index + 1, &watch.control)?;
    let digest = reply.answers.pop().ok_or_else(|| Error::invalid("no answer"))?;
    Ok((reply.seconds, digest))
}
