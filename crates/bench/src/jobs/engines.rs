//! Warpath's own algorithms: over a hierarchy, or by searches.
//!
//! A hierarchy is made by the library's builder on the CPU, and its lengths by [`Hierarchy::customize`]. Questions are
//! requests to a [`Solver`] that has the hierarchy; the first one, outside the clock, makes what all later ones share:
//! the lengths of shortcuts, and arrays on a device. A request has as many questions as fit some memory with their answers.

use std::ops::Range;
use std::time::Instant;

use warpath::hierarchy::{Hierarchy, Metric};
use warpath::problems::{Problem, Report};
use warpath::{Apsp, Engine, Error, Pairs, Result, Solver, Sssp};

use super::answers::{Answer, Questions, length_of_path, with_other_weights};
use super::{Asking, Reply, nanoseconds};
use crate::measure::{Outcome, elsewhere};
use crate::peers::messages::Ready;
use crate::results::{Clock, Status};
use crate::suite::Job;

/// A hierarchy, and the seconds that it took.
pub(super) struct Built {
    hierarchy: Hierarchy,
    seconds: f64,
}

impl Built {
    fn new(asking: &Asking<'_>) -> Result<Self> {
        let start = Instant::now();
        let hierarchy = Hierarchy::with_control(asking.task.graph.clone(), &asking.watch.control)?;
        Ok(Built { hierarchy, seconds: start.elapsed().as_secs_f64() })
    }
}

const HIERARCHY: &str = "hierarchy";

pub(super) fn run(asking: &mut Asking<'_>, engine: Engine, built: &mut Option<Built>) -> Result<Outcome> {
    match asking.questions.job {
        Job::Build => build(asking, built),
        Job::Customize => customize(asking, built),
        _ => answer(asking, engine, built),
    }
}

/// The hierarchy of the graph, made if it is not there.
fn there<'b>(asking: &Asking<'_>, built: &'b mut Option<Built>) -> Result<&'b Built> {
    if built.is_none() {
        *built = Some(asking.watch.allow(asking.task.limits.timeout, || Built::new(asking))?);
    }
    Ok(built.as_ref().expect("it was made"))
}

/// What prepares, on the CPU.
fn ready() -> Ready {
    let ran_on = Some("cpu".to_owned());
    Ready { name: HIERARCHY.to_owned(), ran_on, clock: Clock::Host, prepare: 0.0, counters: Vec::new(), at_once: 1 }
}

fn build(asking: &mut Asking<'_>, built: &mut Option<Built>) -> Result<Outcome> {
    let (task, questions, watch) = (asking.task, asking.questions, asking.watch);
    let mut shortcuts = 0;
    let mut outcome = asking.ask(ready(), &mut |_| {
        let start = Instant::now();
        let hierarchy = Hierarchy::with_control(task.graph.clone(), &watch.control)?;
        let seconds = start.elapsed().as_secs_f64();
        shortcuts = hierarchy.shortcuts();
        let metric = hierarchy.customize(task.graph.weights())?;
        *built = Some(Built { hierarchy, seconds });
        Ok(Reply { seconds, answers: vec![probe(&metric, questions)?] })
    })?;
    outcome.counters.push(("shortcuts".to_owned(), shortcuts));
    Ok(outcome)
}

fn customize(asking: &mut Asking<'_>, built: &mut Option<Built>) -> Result<Outcome> {
    let built = there(asking, built)?;
    let other = with_other_weights(asking.task.graph)?;
    let questions = asking.questions;
    let ready = Ready { prepare: built.seconds, ..ready() };
    asking.ask(ready, &mut |_| {
        let start = Instant::now();
        let metric = built.hierarchy.customize(other.weights())?;
        let seconds = start.elapsed().as_secs_f64();
        Ok(Reply { seconds, answers: vec![probe(&metric, questions)?] })
    })
}

/// The distances that show whether what was prepared is right.
fn probe(metric: &Metric, questions: &Questions) -> Result<Answer> {
    let mut found = Vec::new();
    for (source, target) in questions.probes() {
        found.extend(metric.distance(source, target)?);
    }
    Ok(Answer::of(found.into_iter()))
}

fn answer(asking: &mut Asking<'_>, engine: Engine, built: &mut Option<Built>) -> Result<Outcome> {
    let (task, questions) = (asking.task, asking.questions);
    let algorithm = task.case.algorithm.as_deref();
    let control = asking.watch.control.clone();
    let mut builder = Solver::builder(task.graph.clone()).engine(engine.clone()).control(control);
    let (mut prepare, mut counters) = (0.0, Vec::new());
    if algorithm.is_some_and(|named| named.split(':').next() == Some(HIERARCHY)) {
        let built = there(asking, built)?;
        builder = builder.hierarchy(built.hierarchy.clone());
        prepare = built.seconds;
        counters.push(("build_nanoseconds".to_owned(), nanoseconds(built.seconds)));
    }
    let start = Instant::now();
    let solver = builder.threads(task.case.entry.threads.unwrap_or(0)).open()?;
    let asked = Asked { solver, questions, problem: task.problem, algorithm };
    let (_, report) = asking.watch.allow(task.limits.timeout, || asked.solve(0..1))?;
    let opened = start.elapsed().as_secs_f64();
    if let Some(detail) = elsewhere(&engine, &report.engine) {
        return Ok(Outcome::without_times(Status::Unavailable, detail));
    }
    counters.push(("first_nanoseconds".to_owned(), nanoseconds(opened)));
    let ready = Ready {
        name: report.algorithm,
        ran_on: Some(report.engine),
        clock: Clock::Host,
        prepare: prepare + opened,
        counters,
        at_once: asked.at_once(),
    };
    asking.ask(ready, &mut |range| Ok(asked.solve(range)?.0))
}

/// A solver and what it is asked.
struct Asked<'a> {
    solver: Solver,
    questions: &'a Questions,
    problem: Problem,
    algorithm: Option<&'a str>,
}

impl Asked<'_> {
    /// How many questions a request has: as many as fit with distances of 64 bits.
    fn at_once(&self) -> usize {
        const ANSWERS: u64 = 2 << 30;
        let room = ANSWERS.min(warpath::available_memory() / 4);
        let each = 8 * match self.questions.job {
            Job::Rows => self.solver.graph().vertices() as u64,
            Job::Table => self.questions.targets.len() as u64,
            _ => return self.questions.count(),
        };
        (room / each.max(1)).max(1) as usize
    }

    fn solve(&self, range: Range<usize>) -> Result<(Reply, Report)> {
        match (self.questions.job, self.problem) {
            (Job::Pairs | Job::Paths, _) => self.pairs(range),
            (Job::Rows, Problem::Sssp) => self.tree(range.start),
            _ => self.matrix(range),
        }
    }

    fn matrix(&self, range: Range<usize>) -> Result<(Reply, Report)> {
        let request = Apsp::all().from(&self.questions.sources[range.clone()]);
        let request = self.algorithm.into_iter().fold(request, Apsp::algorithm);
        let request = self.questions.columns().into_iter().fold(request, Apsp::to);
        let start = Instant::now();
        let matrix = self.solver.solve(request)?;
        let seconds = start.elapsed().as_secs_f64();
        let answers = Answer::of_rows(matrix.distances(), matrix.columns(), range.start);
        Ok((Reply { seconds, answers }, matrix.report().clone()))
    }

    fn tree(&self, question: usize) -> Result<(Reply, Report)> {
        let request = Sssp::from(self.questions.sources[question]).distances_only();
        let request = self.algorithm.into_iter().fold(request, Sssp::algorithm);
        let start = Instant::now();
        let tree = self.solver.solve(request)?;
        let seconds = start.elapsed().as_secs_f64();
        let answer = Answer::of_row(tree.distances(), 0, tree.distances().len(), question);
        Ok((Reply { seconds, answers: vec![answer] }, tree.report().clone()))
    }

    fn pairs(&self, range: Range<usize>) -> Result<(Reply, Report)> {
        let pairs = self.questions.pairs(range);
        let request = Pairs::of(pairs.iter().copied());
        let request = self.algorithm.into_iter().fold(request, Pairs::algorithm);
        let with_paths = self.questions.job == Job::Paths;
        let request = if with_paths { request } else { request.distances_only() };
        let start = Instant::now();
        let found = self.solver.solve(request)?;
        let seconds = start.elapsed().as_secs_f64();
        let mut answers = Vec::with_capacity(pairs.len());
        for (index, &(source, target)) in pairs.iter().enumerate() {
            let distance = found.distance(index);
            if with_paths {
                let path = found.path(index).map(|path| path.vertices());
                let length = path.and_then(|path| length_of_path(self.solver.graph(), path, source, target));
                if length.map(|length| length as f64) != distance.map(|distance| distance.to_f64()) {
                    return Err(Error::NotVerified(format!(
                        "the path from {source} to {target} is none of its length"
                    )));
                }
            }
            answers.push(Answer::of(distance.into_iter()));
        }
        Ok((Reply { seconds, answers }, found.report().clone()))
    }
}
