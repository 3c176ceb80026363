//! Measures of all vertices: closeness, harmonic centrality, eccentricity, betweenness, and sizes of neighborhoods.
//!
//! A measure of a graph is one question, whose answer is a score for each vertex. [`engines`] asks Warpath, [`python`] other
//! packages. Scores are floats that programs add up in different orders, so that hashes of them would differ. Instead every
//! score of every program, in every repeat, is held against that of a [reference](References), which is checked by itself.
//! The digest in a row is that of the reference.

mod engines;
mod python;
mod reference;
mod scores;

use warpath::graph::WeightKind;
use warpath::{Engine, Result, VertexId};

pub(crate) use self::reference::References;
use self::scores::{compare, digest};
use super::{Programs, settle};
use crate::measure::{Outcome, Task, Watch};
use crate::peers::Tools;
use crate::peers::messages::Ready;
use crate::results::{Spread, Status, Times};
use crate::suite::Job;

/// Which measure is wanted.
#[derive(Debug, Clone)]
pub(crate) struct Wanted {
    pub(crate) measure: Job,
    /// Where the paths of [`Job::BetweennessFrom`] begin; of any other measure, none.
    pub(crate) sources: Vec<VertexId>,
    /// Of neighborhoods, the steps within which their vertices lie.
    pub(crate) steps: u32,
}

/// Where a case stands.
struct Scoring<'a> {
    task: &'a Task<'a>,
    wanted: &'a Wanted,
    expected: &'a [f64],
    watch: &'a Watch,
    /// The seconds of each timed request.
    samples: Vec<f64>,
}

/// Measures a case whose job is a measure of all vertices.
pub(crate) fn score(
    task: &Task<'_>,
    engine: Option<Engine>,
    wanted: &Wanted,
    tools: &Tools,
    programs: &mut Programs,
) -> Result<Outcome> {
    if !matches!(task.graph.weight_kind(), WeightKind::Unit | WeightKind::U32) {
        let text = "programs are compared without weights, or with whole numbers without sign";
        return Ok(Outcome::without_times(Status::Unavailable, text));
    }
    let watch = Watch::new(task.control);
    settle(task, attempt(task, engine, wanted, tools, &mut programs.references, &watch))
}

fn attempt(
    task: &Task<'_>,
    engine: Option<Engine>,
    wanted: &Wanted,
    tools: &Tools,
    references: &mut References,
    watch: &Watch,
) -> Result<Outcome> {
    let experiment = &task.case.experiment.id;
    // Checking the reference takes longer than finding it.
    let allowed = 8.0 * task.limits.timeout;
    let expected = watch.allow(allowed, || references.of(experiment, task.graph, wanted, &watch.control))?;
    let scoring = Scoring { task, wanted, expected, watch, samples: Vec::new() };
    match engine {
        Some(engine) => engines::run(scoring, engine),
        None => python::run(scoring, task.case.algorithm.as_deref().unwrap_or_default(), tools),
    }
}

impl Scoring<'_> {
    /// Whether one more request is to be timed.
    fn goes_on(&self) -> bool {
        let is_left = self.samples.iter().sum::<f64>() <= self.task.limits.budget;
        self.samples.is_empty() || (self.samples.len() < self.task.repeats && is_left)
    }

    /// Compares scores, and counts the time that they took.
    fn take(&mut self, seconds: f64, scores: &[f64]) -> Result<()> {
        compare(self.expected, scores)?;
        self.samples.push(seconds);
        Ok(())
    }

    fn outcome(self, ready: Ready) -> Outcome {
        let (count, wanted) = (self.samples.len(), self.task.repeats);
        if count == 0 {
            return Outcome::without_times(Status::Failed, "it found no scores");
        }
        let cut_short = count < wanted;
        let samples = vec![self.samples];
        let solve = Spread::of(&samples);
        Outcome {
            status: Status::Measured,
            detail: cut_short.then(|| format!("{count} of {wanted} repeats: the time for this case was used up")),
            algorithm: Some(ready.name),
            ran_on: ready.ran_on,
            seconds: Some(Times {
                clock: ready.clock,
                prepare: ready.prepare,
                solve,
                host: solve.median,
                download: 0.0,
                samples,
                host_samples: Vec::new(),
            }),
            answers: vec![digest(self.expected)],
            counters: ready.counters,
            device_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests;
