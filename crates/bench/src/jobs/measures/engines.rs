//! Measures by Warpath's engines.
//!
//! The clock runs from the request to a score for each vertex. The first request, outside the clock, makes what all later
//! ones share.

use std::time::Instant;

use warpath::problems::{Reduction, Report, RowReductions};
use warpath::{Apsp, Betweenness, Engine, Neighborhoods, Result, Solver};

use super::{Scoring, Wanted};
use crate::jobs::nanoseconds;
use crate::measure::{Outcome, elsewhere};
use crate::peers::messages::Ready;
use crate::results::{Clock, Status};
use crate::suite::Job;

/// The scores that a request found.
pub(super) struct Found {
    pub(super) scores: Vec<f64>,
    seconds: f64,
    report: Report,
}

pub(super) fn run(mut scoring: Scoring<'_>, engine: Engine) -> Result<Outcome> {
    let (task, wanted, watch) = (scoring.task, scoring.wanted, scoring.watch);
    let ask =
        |solver: &Solver| watch.allow(task.limits.timeout, || find(solver, wanted, task.case.algorithm.as_deref()));
    let start = Instant::now();
    let builder = Solver::builder(task.graph.clone()).engine(engine.clone()).control(watch.control.clone());
    let solver = builder.threads(task.case.entry.threads.unwrap_or(0)).open()?;
    let first = ask(&solver)?;
    let opened = start.elapsed().as_secs_f64();
    if let Some(detail) = elsewhere(&engine, &first.report.engine) {
        return Ok(Outcome::without_times(Status::Unavailable, detail));
    }
    super::compare(scoring.expected, &first.scores)?;
    while scoring.goes_on() {
        let found = ask(&solver)?;
        scoring.take(found.seconds, &found.scores)?;
    }
    let ready = Ready {
        name: first.report.algorithm,
        ran_on: Some(first.report.engine),
        clock: Clock::Host,
        prepare: opened,
        counters: vec![("first_nanoseconds".to_owned(), nanoseconds(opened))],
        at_once: 1,
    };
    Ok(scoring.outcome(ready))
}

/// The scores of all vertices, with rows of distances, if the measure takes any, by this algorithm.
pub(super) fn find(solver: &Solver, wanted: &Wanted, algorithm: Option<&str>) -> Result<Found> {
    let start = Instant::now();
    let (scores, report) = match wanted.measure {
        Job::Betweenness | Job::BetweennessFrom => {
            let request = Betweenness::new();
            let is_of_all = wanted.measure == Job::Betweenness;
            let request = if is_of_all { request } else { request.from(&wanted.sources[..]) };
            let found = solver.solve(request)?;
            (found.scores(), found.report().clone())
        }
        Job::Neighborhoods => {
            let found = solver.solve(Neighborhoods::within(wanted.steps))?;
            (found.sizes().iter().map(|&size| size as f64).collect(), found.report().clone())
        }
        measure => by_rows(solver, measure, algorithm)?,
    };
    Ok(Found { scores, seconds: start.elapsed().as_secs_f64(), report })
}

fn by_rows(solver: &Solver, measure: Job, algorithm: Option<&str>) -> Result<(Vec<f64>, Report)> {
    let reduction = match measure {
        Job::Closeness => Reduction::Closeness,
        Job::Harmonic => Reduction::Harmonic,
        _ => Reduction::Eccentricity,
    };
    let mut rows = RowReductions::new([reduction]);
    let request = algorithm.into_iter().fold(Apsp::all(), Apsp::algorithm);
    let report = solver.solve(request.into_sink(&mut rows))?.report().clone();
    let scores = match reduction {
        Reduction::Closeness => rows.closeness(),
        Reduction::Harmonic => rows.harmonic().to_vec(),
        _ => rows.eccentricities().iter().map(|greatest| greatest.map_or(0.0, |greatest| greatest.to_f64())).collect(),
    };
    Ok((scores, report))
}
