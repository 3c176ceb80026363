//! `centrality`: each measure, printed, written and as JSON; estimates from samples; what does not go together.

use crate::common::Folder;
use serde_json::{Value, json};

/// A square with a tail, both ways.
fn square() -> Folder {
    let folder = Folder::new();
    folder.file("g.txt", "a b\na c\nb d\nc d\nd e\n");
    folder
}

#[test]
fn measures_are_the_same_printed_written_and_as_json() {
    let folder = square();
    for (options, text) in [
        ("betweenness", "vertex,betweenness\na,0.5\nb,1\nc,1\nd,3.5\ne,0\n"),
        ("betweenness --endpoints", "vertex,betweenness\na,4.5\nb,5\nc,5\nd,7.5\ne,4\n"),
        ("betweenness --edges", "source,target,betweenness\na,b,2.5\na,c,2.5\nb,d,3.5\nc,d,3.5\nd,e,4\n"),
        ("harmonic --verify", "vertex,harmonic\na,2.833333333333333\nb,3\nc,3\nd,3.5\ne,2.333333333333333\n"),
        ("neighborhood --within 0", "vertex,neighborhood\na,1\nb,1\nc,1\nd,1\ne,1\n"),
        ("neighborhood --within 1.5", "vertex,neighborhood\na,3\nb,3\nc,3\nd,4\ne,2\n"),
        ("neighborhood --within 2", "vertex,neighborhood\na,4\nb,5\nc,5\nd,5\ne,4\n"),
        ("neighborhood --within inf", "vertex,neighborhood\na,5\nb,5\nc,5\nd,5\ne,5\n"),
        ("eccentricity", "vertex,eccentricity\na,3\nb,2\nc,2\nd,2\ne,3\n"),
        (
            "closeness --algorithm batched",
            "vertex,closeness\na,0.5714285714285714\nb,0.6666666666666666\nc,0.6666666666666666\nd,0.8\ne,0.5\n",
        ),
    ] {
        let command = format!("centrality g.txt --undirected --measure {options}");
        let written = folder.run(&format!("{command} --output -")).ok();
        let lines = |text: &str| -> Vec<Vec<String>> {
            text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
        };
        for (found, wanted) in lines(&written).iter().zip(lines(text)) {
            let numbers = found.last().unwrap().parse::<f64>().ok().zip(wanted.last().unwrap().parse::<f64>().ok());
            assert!(*found == wanted || numbers.is_some_and(|(a, b)| (a - b).abs() < 1e-12), "{written}");
        }
        assert_eq!(written.lines().count(), text.lines().count());
        folder.run(&format!("{command} --output x.csv --quiet")).ok();
        assert_eq!(folder.read("x.csv"), written);
        let found = folder.run(&format!("{command} --json")).json();
        assert_eq!((&found["command"], &found["source_count"]), (&json!("centrality"), &json!(5)));
        assert_eq!(found["verified"], if options.contains("verify") { json!(true) } else { Value::Null });
        let scores = found["scores"].as_array().unwrap();
        let written = lines(&written);
        assert_eq!(scores.len() + 1, written.len());
        for (row, score) in written[1..].iter().zip(scores) {
            for (title, cell) in written[0].iter().zip(row) {
                let said = score[title].as_str().map_or_else(|| score[title].to_string(), str::to_owned);
                assert_eq!(said.trim_end_matches(".0"), cell, "{score}");
            }
        }
        assert!(folder.run(&command).ok().lines().any(|line| line.split_whitespace().eq(written[1].iter())));
        assert!(folder.run(&format!("{command} --plan")).ok().contains("memory"));
    }
    let shares = folder.run("centrality g.txt --undirected --measure betweenness --normalized --output -").ok();
    assert!(shares.contains("\nd,0.583333333333333"), "{shares}");
    let shares = folder.run("centrality g.txt --undirected --measure betweenness --edges --normalized --output -").ok();
    assert!(shares.contains("\nd,e,0.4\n"), "{shares}");
    // One way only, and by weights.
    let one_way = folder.run("centrality g.txt --directed --measure betweenness --output -").ok();
    assert_eq!(one_way, "vertex,betweenness\na,0\nb,1\nc,1\nd,3\ne,0\n");
    folder.file("w.txt", "a b 1\na c 1\nb d 1\nc d 2\nd e 1\n");
    let weighted = folder.run("centrality w.txt --directed --measure betweenness --output -").ok();
    assert_eq!(weighted, "vertex,betweenness\na,0\nb,2\nc,0\nd,3\ne,0\n");
    let near = folder.run("centrality w.txt --directed --measure neighborhood --within 2 --output -").ok();
    assert_eq!(near, "vertex,neighborhood\na,4\nb,3\nc,2\nd,2\ne,1\n");
    let found = folder.run("centrality w.txt --directed --measure neighborhood --within 2 --json").json();
    assert_eq!((&found["within"], &found["algorithm"]), (&json!(2), &json!("dijkstra")));
}

#[test]
fn samples_estimate() {
    let folder = Folder::new();
    folder.run("generate scale-free:400 g.wpg --quiet").ok();
    let scores = |options: &str| -> (Value, Vec<f64>) {
        let found = folder.run(&format!("centrality g.wpg --json --measure {options}")).json();
        let title = found["measure"].as_str().unwrap().to_owned();
        let scores = found["scores"].as_array().unwrap().iter().map(|row| row[&title].as_f64().unwrap()).collect();
        (found, scores)
    };
    for measure in ["betweenness", "closeness", "harmonic"] {
        let (_, exact) = scores(measure);
        let (all, from_all) = scores(&format!("{measure} --sample 1000"));
        assert_eq!(all["source_count"], 400);
        let (some, estimated) = scores(&format!("{measure} --sample 200 --seed 3"));
        assert_eq!(some["source_count"], 200);
        let greatest = exact.iter().copied().fold(0.0, f64::max);
        for ((exact, all), estimated) in exact.iter().zip(from_all).zip(estimated) {
            assert!((exact - all).abs() <= 1e-9 * greatest, "{measure}");
            assert!((exact - estimated).abs() < 0.2 * greatest, "{measure}: {exact} {estimated}");
        }
        let error = |found: &Value| found.get("error").and_then(Value::as_f64);
        assert_eq!(error(&all), (measure == "betweenness").then_some(0.0));
        assert!(measure != "betweenness" || error(&some).is_some_and(|error| (0.01..0.5).contains(&error)));
    }
}

#[test]
fn what_does_not_go_together_is_an_error() {
    let folder = square();
    for (options, message) in [
        ("", "--measure <MEASURE>"),
        ("--measure degree", "possible values"),
        ("--measure betweenness --verify", "no certificate"),
        ("--measure betweenness --algorithm x", "one algorithm"),
        ("--measure closeness --edges", "`--edges` is for betweenness"),
        ("--measure harmonic --normalized", "`--normalized` is for betweenness"),
        ("--measure eccentricity --endpoints", "`--endpoints` is for betweenness"),
        ("--measure eccentricity --sample 2", "no estimate"),
        ("--measure neighborhood", "needs a distance: `--within DISTANCE`"),
        ("--measure neighborhood --within -1", "'-1' found"),
        ("--measure neighborhood --within=-1", "not a number of 0 or more"),
        ("--measure neighborhood --within x", "`x` is not a number of 0 or more"),
        ("--measure neighborhood --within 2 --sample 1", "no estimate of neighborhoods"),
        ("--measure neighborhood --within 2 --verify", "without rows"),
        ("--measure neighborhood --within 2 --edges", "`--edges` is for betweenness"),
        ("--measure neighborhood --within 2 --algorithm batched", "one algorithm on each engine"),
        ("--measure closeness --within 2", "`--within` is for the measure `neighborhood`"),
        ("--measure betweenness --sample 0", "0 is not in"),
        ("--measure harmonic --sample 1", "2 or more"),
        ("--measure betweenness --seed 2", "--sample <N>"),
        ("--measure betweenness --edges --endpoints", "cannot be used with"),
        ("--measure betweenness --output x.npy", "written to a .csv"),
    ] {
        folder.run(&format!("centrality g.txt --undirected {options}")).fails(2, message);
        assert!(!folder.path().join("x.npy").exists());
    }
    folder.file("zero.txt", "a b 0\nb c 1\n");
    folder.run("centrality zero.txt --undirected --measure betweenness").fails(2, "weights above 0");
}
