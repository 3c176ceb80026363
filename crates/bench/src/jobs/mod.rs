//! Asks programs that prepare a graph for many questions: what preparing costs, and what each question costs then.
//!
//! [`engines`] runs the algorithms of Warpath, [`linked`] and [`python`] those of other packages. All of them get the same
//! graph, the same questions, and as many threads as there are. A program answers questions in their order, as many at once
//! as it likes (rows of the problem `sssp` one at a time), until all are answered or the budget of the case is used up; then it begins again, as often as the experiment
//! says. The time of a row is that of one question: the seconds of the program's own calls, by the number of questions
//! that they answered. Turning answers into numbers, and comparing them, is outside the clock.
//!
//! Some answers, spread over all questions, are compared with searches whose certificates were checked; all others with
//! those of the program that answered first. A path is checked against the graph, and its length likewise.
//!
//! [`measures`] asks for a score of each vertex, which is one question, and compares the scores themselves.

mod answers;
mod engines;
mod linked;
mod measures;
#[cfg(feature = "peers")]
pub(crate) mod packages;
mod python;

use std::collections::BTreeSet;
use std::ops::Range;

use warpath::graph::WeightKind;
use warpath::problems::Problem;
use warpath::{Engine, Error, Result};

pub(crate) use self::answers::Questions;
use self::answers::{Answer, Expected, compare};
pub(crate) use self::measures::{Wanted, score};
use crate::measure::{Outcome, Task, Watch};
use crate::peers::messages::{self, Ready};
use crate::peers::{Tools, Workers};
use crate::results::{Spread, Status, Times};
use crate::suite::Job;

/// What programs have made of one graph, and what is expected of them.
#[derive(Default)]
pub(crate) struct Programs {
    hierarchy: Option<engines::Built>,
    /// The linked packages that took too long to prepare it.
    too_slow: BTreeSet<String>,
    expected: Expected,
    references: measures::References,
}

/// The answers to some questions.
type Reply = messages::Reply<Answer>;

/// Where a case stands.
struct Asking<'a> {
    task: &'a Task<'a>,
    questions: &'a Questions,
    expected: &'a mut [Option<Answer>],
    watch: &'a Watch,
    /// The answers of the first pass.
    answers: Vec<Answer>,
    /// The answered questions and the seconds of each pass.
    passes: Vec<(usize, f64)>,
}

/// The nanoseconds of a counter.
fn nanoseconds(seconds: f64) -> u64 {
    (seconds * 1e9) as u64
}

/// Measures a case with a job.
pub(crate) fn measure(
    task: &Task<'_>,
    engine: Option<Engine>,
    questions: &Questions,
    tools: &Tools,
    workers: &mut Workers,
    programs: &mut Programs,
) -> Result<Outcome> {
    let unavailable = |text: &str| Ok(Outcome::without_times(Status::Unavailable, text));
    if task.graph.weight_kind() != WeightKind::U32 {
        return unavailable("programs are compared with weights that are whole numbers without sign");
    }
    let watch = Watch::new(task.control);
    settle(task, attempt(task, engine, questions, tools, (workers, programs), &watch))
}

/// The outcome of a case that may have ended with an error. Only the user's interruption stays one.
fn settle(task: &Task<'_>, ended: Result<Outcome>) -> Result<Outcome> {
    match ended {
        Ok(outcome) => Ok(outcome),
        Err(_) if task.control.is_cancelled() => Err(Error::Interrupted),
        Err(Error::Interrupted) => Ok(too_long(task)),
        Err(error @ (Error::NoDevice(_) | Error::OutOfMemory { .. })) => {
            Ok(Outcome::without_times(Status::Unavailable, error.to_string()))
        }
        Err(error @ Error::NotVerified(_)) => Ok(Outcome::without_times(Status::Wrong, error.to_string())),
        Err(error) => Ok(Outcome::without_times(Status::Failed, error.to_string())),
    }
}

fn too_long(task: &Task<'_>) -> Outcome {
    Outcome::without_times(Status::Timeout, format!("a call took more than {} s", task.limits.timeout))
}

fn attempt(
    task: &Task<'_>,
    engine: Option<Engine>,
    questions: &Questions,
    tools: &Tools,
    (workers, programs): (&mut Workers, &mut Programs),
    watch: &Watch,
) -> Result<Outcome> {
    let experiment = &task.case.experiment.id;
    let expected = watch
        .allow(8.0 * task.limits.timeout, || programs.expected.of(experiment, task.graph, questions, &watch.control))?;
    let (answers, passes) = (Vec::new(), Vec::new());
    let mut asking = Asking { task, questions, expected, watch, answers, passes };
    let algorithm = task.case.algorithm.as_deref().unwrap_or_default();
    match (engine, algorithm) {
        (Some(engine), _) => engines::run(&mut asking, engine, &mut programs.hierarchy),
        (None, "fast_paths" | "routingkit-cch") => {
            linked::run(&mut asking, algorithm, tools, workers, &mut programs.too_slow)
        }
        (None, package) => python::run(&mut asking, package, tools),
    }
}

impl Asking<'_> {
    /// The most questions at once: a row of the problem `sssp` is a search of its own.
    fn most_at_once(&self) -> usize {
        let alone = self.questions.job == Job::Rows && self.task.problem == Problem::Sssp;
        if alone { 1 } else { usize::MAX }
    }

    /// Puts the questions, pass after pass, until the budget is used up.
    fn ask(&mut self, ready: Ready, answer: &mut dyn FnMut(Range<usize>) -> Result<Reply>) -> Result<Outcome> {
        let limits = self.task.limits;
        let count = self.questions.count();
        let at_once = ready.at_once.clamp(1, self.most_at_once());
        let mut spent = 0.0;
        'passes: for pass in 0..self.task.repeats {
            let mut next = 0;
            while next < count {
                self.watch.control.check()?;
                if spent > limits.budget && (pass > 0 || next > 0) {
                    break 'passes;
                }
                let range = next..count.min(next.saturating_add(at_once));
                next = range.end;
                let reply = self.watch.allow(limits.timeout, || answer(range.clone()))?;
                if reply.seconds > limits.timeout {
                    return Ok(too_long(self.task));
                }
                spent += reply.seconds;
                self.take(pass, range.start, &reply)?;
            }
        }
        Ok(self.outcome(ready))
    }

    /// Compares the answers to the questions from `first` on, and counts their time.
    fn take(&mut self, pass: usize, first: usize, reply: &Reply) -> Result<()> {
        compare(self.expected, first, &reply.answers)?;
        if pass == 0 {
            self.answers.extend(&reply.answers);
        }
        if pass == self.passes.len() {
            self.passes.push((0, 0.0));
        }
        if let Some((answered, seconds)) = self.passes.last_mut() {
            *answered += reply.answers.len();
            *seconds += reply.seconds;
        }
        Ok(())
    }

    /// The outcome: the whole passes count, or the first one if it was cut short.
    fn outcome(&self, ready: Ready) -> Outcome {
        let count = self.questions.count();
        let whole = self.passes.iter().filter(|(answered, _)| *answered == count).count();
        let counted = &self.passes[..whole.max(1).min(self.passes.len())];
        let samples: Vec<f64> = counted.iter().map(|(answered, seconds)| seconds / (*answered).max(1) as f64).collect();
        if samples.is_empty() {
            return Outcome::without_times(Status::Failed, "there was nothing to ask");
        }
        let answered = self.answers.len();
        let cut_short = answered < count;
        let detail = cut_short.then(|| format!("{answered} of {count} questions: the time for this case was used up"));
        let mut counters: Vec<(String, u64)> = vec![("answered".to_owned(), answered as u64)];
        counters.extend(ready.counters);
        let samples = vec![samples];
        let solve = Spread::of(&samples);
        Outcome {
            status: Status::Measured,
            detail,
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
            answers: vec![Answer::digest(&self.answers)],
            counters,
            device_bytes: 0,
        }
    }
}

#[cfg(test)]
mod tests;
