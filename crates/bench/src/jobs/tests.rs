use std::sync::Arc;

use warpath::{Control, Graph, VertexId};

use super::answers::length_of_path;
use super::*;
use crate::results::{Clock, Results, Row};
use crate::suite::Limits;
use crate::{Options, Suite, run};

pub(super) fn quick(suite: &str, python: &str) -> Results {
    quick_on(&[], suite, python)
}

/// A quick run on these graphs, or on all if there are none.
pub(super) fn quick_on(graphs: &[&str], suite: &str, python: &str) -> Results {
    let options = Options {
        quick: true,
        engine: Engine::Cpu,
        scale: None,
        timeout: None,
        budget: None,
        experiments: Vec::new(),
        graphs: graphs.iter().map(|graph| (*graph).to_owned()).collect(),
        data: None,
        output: None,
        resume: false,
        tools: Tools::for_tests(python.into(), None),
    };
    run(&Suite::named(suite).unwrap(), &options, &Control::new(), &mut |_| ()).unwrap()
}

#[test]
fn every_job_is_measured_and_all_programs_agree() {
    for suite in ["hierarchies", "hierarchies-large"] {
        let results = quick(suite, "/nowhere/python");
        let mut compared = 0;
        for row in &results.rows {
            let detail = row.detail.as_deref().unwrap_or_default();
            let expected = match row.series.as_str() {
                "SciPy" | "igraph" => Status::Unavailable,
                "RoutingKit" | "fast_paths" if cfg!(not(feature = "peers")) => Status::Unavailable,
                _ => Status::Measured,
            };
            assert_eq!(row.status, expected, "{}: {detail}", row.key());
            assert!(row.status == Status::Measured || !detail.is_empty(), "{}", row.key());
            if row.status != Status::Measured {
                continue;
            }
            assert!(row.median().unwrap() > 0.0 && row.counters["answered"] > 0, "{}", row.key());
            let same = |other: &&Row| {
                (&other.experiment, &other.graph) == (&row.experiment, &row.graph)
                    && other.counters.get("answered") == row.counters.get("answered")
            };
            for other in results.rows.iter().filter(same) {
                compared += usize::from(other.series != row.series);
                assert!(other.answers[0].agrees_with(&row.answers[0]), "{} and {}", row.key(), other.key());
            }
        }
        assert!(compared > 0, "{suite}");
    }
}

#[cfg(feature = "peers")]
#[test]
fn linked_programs_name_their_versions() {
    let results = quick("hierarchies", "/nowhere/python");
    let lock = include_str!("../../../../Cargo.lock");
    for peer in ["fast_paths", "routingkit-cch"] {
        let (_, rest) = lock.split_once(&format!("name = \"{peer}\"\nversion = \"")).unwrap();
        let named = format!("{peer} {}", rest.split('"').next().unwrap());
        for job in ["build", "customize", "table", "pairs", "paths"] {
            let is_there = |row: &Row| row.problem == job && row.algorithm.starts_with(&named);
            assert!(results.rows.iter().any(is_there), "{named}: {job}");
        }
    }
}

/// Runs a case of `job` on a small grid with whatever `ask` does.
fn with_asking(
    job: Job,
    budget: f64,
    ask: impl FnOnce(&mut Asking<'_>, &Arc<Graph>) -> Result<Outcome>,
) -> Result<Outcome> {
    let suite = Suite::named("hierarchies").unwrap();
    let cases = suite.cases(false);
    let case = cases.iter().find(|case| case.experiment.job == Some(job)).unwrap();
    let graph = Arc::new(warpath::generate("grid:20x30,weights=1..9").unwrap());
    let control = Control::new();
    let limits = Limits { timeout: 60.0, budget, searches: 1, once: None };
    let problem = case.experiment.problem().unwrap();
    let task = Task { case, problem, graph: &graph, sources: &[], repeats: 3, limits, control: &control };
    let sources: Vec<VertexId> = (0..40).map(|index| index * 15).collect();
    let targets = sources.iter().map(|source| 599 - source).collect();
    let questions = Questions { job, sources, targets };
    let mut expected = Expected::default();
    let expected = expected.of("x", &graph, &questions, &control)?;
    let watch = Watch::new(&control);
    let (answers, passes) = (Vec::new(), Vec::new());
    ask(&mut Asking { task: &task, questions: &questions, expected, watch: &watch, answers, passes }, &graph)
}

fn ready(at_once: usize) -> Ready {
    let counters = Vec::new();
    Ready { name: "x".into(), ran_on: None, clock: Clock::Host, prepare: 0.0, counters, at_once }
}

/// The true answers to some pairs, in this many seconds.
fn reply(asking: &Questions, graph: &Arc<Graph>, range: Range<usize>, seconds: f64) -> Reply {
    let found = warpath::Solver::new(graph.clone()).unwrap().solve(warpath::Pairs::of(asking.pairs(range.clone())));
    let found = found.unwrap();
    let answers = (0..range.len()).map(|index| Answer::of(found.distance(index).into_iter())).collect();
    Reply { seconds, answers }
}

#[test]
fn a_row_has_the_time_of_one_question() {
    let outcome = with_asking(Job::Pairs, 100.0, |asking, graph| {
        let questions = asking.questions;
        asking.ask(ready(16), &mut |range| Ok(reply(questions, graph, range.clone(), 2.0 * range.len() as f64)))
    });
    let outcome = outcome.unwrap();
    assert_eq!((outcome.status, outcome.detail), (Status::Measured, None));
    // The budget ends the second pass, which then does not count.
    assert_eq!(outcome.seconds.unwrap().samples, [vec![2.0]]);
    assert_eq!(outcome.counters, [("answered".to_owned(), 40)]);
}

#[test]
fn the_budget_cuts_the_first_pass_short() {
    let outcome = with_asking(Job::Pairs, 1.0, |asking, graph| {
        let questions = asking.questions;
        asking.ask(ready(10), &mut |range| Ok(reply(questions, graph, range, 0.8)))
    });
    let outcome = outcome.unwrap();
    assert!(outcome.detail.unwrap().contains("20 of 40 questions"));
    assert_eq!(outcome.seconds.unwrap().samples, [vec![0.08]]);
    assert_eq!(outcome.counters, [("answered".to_owned(), 20)]);
}

#[test]
fn a_call_that_takes_too_long_is_a_timeout() {
    let outcome = with_asking(Job::Pairs, 1.0, |asking, graph| {
        let questions = asking.questions;
        asking.ask(ready(10), &mut |range| Ok(reply(questions, graph, range, 61.0)))
    });
    let outcome = outcome.unwrap();
    assert!(outcome.status == Status::Timeout && outcome.seconds.is_none());
}

#[test]
fn a_wrong_answer_is_found_whether_searched_before_or_not() {
    // Every fifth question is answered by a search before; of the others the first answer counts.
    for (wrong, pass) in [(0, 0), (5, 0), (7, 1)] {
        let outcome = with_asking(Job::Pairs, 100.0, |asking, graph| {
            let questions = asking.questions;
            let mut passes = 0;
            asking.ask(ready(40), &mut |range| {
                let mut reply = reply(questions, graph, range, 0.1);
                reply.answers[wrong].sum += u128::from(passes == pass);
                passes += 1;
                Ok(reply)
            })
        });
        let error = outcome.unwrap_err();
        assert!(
            matches!(&error, Error::NotVerified(text) if text.starts_with(&format!("question {wrong}:"))),
            "{error}"
        );
    }
}

#[test]
fn rows_are_compared_distance_by_distance() {
    let result = with_asking(Job::Rows, 100.0, |asking, graph| {
        let questions = asking.questions;
        asking.ask(ready(1), &mut |range| {
            let tree = warpath::Solver::new(graph.clone())?.sssp(questions.sources[range.start])?;
            let warpath::graph::Distances::U32(mut row) = tree.distances().clone() else { unreachable!() };
            // The same sum, at other vertices.
            row.swap(100, 101);
            let answers = Answer::of_rows(&warpath::graph::Distances::U32(row), graph.vertices(), range.start);
            Ok(Reply { seconds: 0.1, answers })
        })
    });
    assert!(matches!(result, Err(Error::NotVerified(_))), "{result:?}");
}

#[test]
fn a_path_is_followed_through_the_graph() {
    let graph = Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)]).unwrap();
    assert_eq!(length_of_path(&graph, &[0, 1, 2], 0, 2), Some(12));
    assert_eq!(length_of_path(&graph, &[0, 2], 0, 2), Some(20));
    assert_eq!(length_of_path(&graph, &[1], 1, 1), Some(0));
    for (path, source, target) in [(&[0, 1][..], 0, 2), (&[1, 2], 0, 2), (&[0, 2, 1], 0, 1), (&[], 0, 0)] {
        assert_eq!(length_of_path(&graph, path, source, target), None, "{path:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_package_in_python_is_compared_likewise() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let python = folder.path().join("python");
    let lies = r#"#!/bin/sh
        echo '{"version": "7", "prepare": 0.1}'
        echo '{"pass": 0, "first": 0, "seconds": 0.1, "answers": [[1, 2, 3]]}'"#;
    std::fs::write(&python, lies).unwrap();
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
    let results = quick("hierarchies", python.to_str().unwrap());
    let of_scipy: Vec<&Row> = results.rows.iter().filter(|row| row.series == "SciPy").collect();
    assert!(!of_scipy.is_empty());
    for row in of_scipy {
        assert_eq!(row.status, Status::Wrong, "{}: {:?}", row.key(), row.detail);
        assert!(row.seconds.is_none());
    }
}
