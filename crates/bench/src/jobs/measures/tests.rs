use std::sync::Arc;

use warpath::{Control, Error, Graph};

use super::*;
use crate::jobs::tests::{quick, quick_on};
use crate::results::Row;

/// Two components without weights, one of them with vertices that lie between others.
fn graph() -> Arc<Graph> {
    let edges = [(0, 1), (1, 2), (2, 3), (3, 4), (1, 5), (5, 3), (6, 7), (7, 8)];
    Arc::new(Graph::from_edges(edges).unwrap())
}

fn wanted(measure: Job) -> Wanted {
    Wanted { measure, sources: vec![0, 6], steps: 2 }
}

const MEASURES: [Job; 6] =
    [Job::Closeness, Job::Harmonic, Job::Eccentricity, Job::Betweenness, Job::BetweennessFrom, Job::Neighborhoods];

#[test]
fn every_measure_is_found() {
    let results = quick("centralities", "/nowhere/python");
    let by_warpath: Vec<&Row> = results.rows.iter().filter(|row| row.series == "Warpath on the CPU").collect();
    for row in &by_warpath {
        assert_eq!(row.status, Status::Measured, "{}: {:?}", row.key(), row.detail);
        assert!(row.median().unwrap() > 0.0 && row.answers[0].reached > 0, "{}", row.key());
    }
    for measure in MEASURES {
        assert!(by_warpath.iter().any(|row| row.problem == measure.name()), "{}", measure.name());
    }
    for row in results.rows.iter().filter(|row| row.engine == "peer") {
        assert_eq!(row.status, Status::Unavailable, "{}", row.key());
        assert_eq!(row.detail.as_deref(), Some("there is no /nowhere/python"), "{}", row.key());
    }
}

#[test]
fn scores_may_differ_by_rounding_alone() {
    let expected = [0.0, 0.25, 3e9];
    compare(&expected, &[0.0, 0.25 * (1.0 + 1e-12), 3e9]).unwrap();
    for (found, told) in [
        (vec![0.0, 0.25 * (1.0 + 1e-8), 3e9], "vertex 1 has 0.2500000025 instead of 0.25; 1 of 3"),
        (vec![1e-15, 0.25, 3e9], "vertex 0 has"),
        (vec![0.0, f64::NAN, 3e9 + 4.0], "vertex 1 has NaN instead of 0.25; 2 of 3"),
        (vec![0.0, 0.25], "2 scores of 3 vertices"),
    ] {
        let error = compare(&expected, &found).unwrap_err();
        assert!(matches!(&error, Error::NotVerified(text) if text.starts_with(told)), "{error}");
    }
}

#[test]
fn a_wrong_reference_is_found() {
    let (graph, control) = (graph(), Control::new());
    let solver = warpath::Solver::new(graph.clone()).unwrap();
    for measure in MEASURES {
        let wanted = wanted(measure);
        let mut scores = engines::find(&solver, &wanted, None).unwrap().scores;
        let check = |scores: &[f64]| match measure {
            Job::Betweenness | Job::BetweennessFrom => reference::check_sum(&solver, &wanted, scores),
            _ => reference::check_some(&graph, &wanted, scores, &control),
        };
        check(&scores).unwrap();
        scores[3] += 1.0;
        let error = check(&scores).unwrap_err();
        assert!(matches!(error, Error::NotVerified(_)), "{}: {error}", measure.name());
    }
}

#[test]
fn distances_count_towards_a_vertex_or_from_it() {
    // 0 reaches all, and nobody reaches 0.
    let solver = warpath::Solver::new(graph()).unwrap();
    let scores = |measure| engines::find(&solver, &wanted(measure), None).unwrap().scores;
    assert_eq!([scores(Job::Closeness)[0], scores(Job::Harmonic)[0]], [0.0, 0.0]);
    assert_eq!([scores(Job::Eccentricity)[0], scores(Job::Neighborhoods)[0]], [4.0, 4.0]);
    // From 0 there are 1, 2, 5, 3 and 4, of which 1, the two ways to 3, and 3 lie on paths; from 6 only 7 does.
    assert_eq!(scores(Job::BetweennessFrom), [0.0, 4.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0]);
}

#[cfg(unix)]
mod packages {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// The rows of igraph in place of which this shell script ran, which gets the runner's folder as `$2`.
    fn rows_of_igraph(script: &str) -> Vec<Row> {
        let folder = tempfile::tempdir().unwrap();
        let python = folder.path().join("python");
        std::fs::write(&python, format!("#!/bin/sh\necho '{{\"version\": \"7\", \"prepare\": 0.1}}'\n{script}\n"))
            .unwrap();
        std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).unwrap();
        // All measures are found on this graph.
        let rows = quick_on(&["enron"], "centralities", python.to_str().unwrap()).rows;
        let rows: Vec<Row> = rows.into_iter().filter(|row| row.series == "igraph").collect();
        assert!(!rows.is_empty());
        rows
    }

    #[test]
    fn a_wrong_score_is_a_row_without_a_time() {
        let one = r#"head -c 8 /dev/zero > "$2/one"; echo '{"scores": "one", "seconds": 0.1}'"#;
        for row in rows_of_igraph(one) {
            assert_eq!(row.status, Status::Wrong, "{}: {:?}", row.key(), row.detail);
            assert!(row.seconds.is_none() && row.detail.unwrap().contains("1 scores of "), "{}", row.experiment);
        }
        // As many zeros as there are vertices: the offsets have one number more.
        let zeros = r#"
            bytes=$(($(wc -c < "$2/offsets") - 8))
            head -c $bytes /dev/zero > "$2/zeros"
            echo '{"scores": "zeros", "seconds": 0.1}'"#;
        for row in rows_of_igraph(zeros) {
            assert_eq!(row.status, Status::Wrong, "{}: {:?}", row.key(), row.detail);
            assert!(row.seconds.is_none() && row.detail.unwrap().contains("scores differ"), "{}", row.experiment);
        }
    }

    #[test]
    fn scores_that_are_missing_or_cut_off_are_a_failure() {
        for script in [
            "",
            r#"echo '{"scores": "nowhere", "seconds": 0.1}'"#,
            r#"head -c 12 /dev/zero > "$2/some"; echo '{"scores": "some", "seconds": 0.1}'"#,
            "exit 3",
        ] {
            for row in rows_of_igraph(script) {
                assert_eq!(row.status, Status::Failed, "{script}: {}: {:?}", row.key(), row.detail);
            }
        }
        let slow = r#"echo '{"scores": "nowhere", "seconds": 21}'"#;
        assert!(rows_of_igraph(slow).iter().all(|row| row.status == Status::Timeout));
    }
}
