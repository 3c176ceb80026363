//! `devices`: what this machine offers, and every algorithm of both engines.

use crate::common::Folder;

#[test]
fn every_engine_has_algorithms_for_every_problem() {
    let devices = Folder::new().run("devices --json").json();
    let algorithms = devices["algorithms"].as_array().unwrap();
    for problem in ["bfs", "sssp", "apsp", "closure"] {
        for engine in ["cpu", "cuda"] {
            let there = algorithms.iter().any(|info| info["problem"] == problem && info["engine"] == engine);
            assert!(there, "{problem} on {engine}");
        }
    }
    for (problem, name) in [("apsp", "tiled-floyd-warshall"), ("apsp", "johnson"), ("closure", "bit-warshall")] {
        let there =
            |info: &&serde_json::Value| info["problem"] == problem && info["name"] == name && info["engine"] == "cpu";
        assert_eq!(algorithms.iter().filter(there).count(), 1, "{problem} {name}");
    }
}

#[test]
fn every_algorithm_that_is_listed_can_be_asked_for() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 7\n");
    let devices = folder.run("devices --json").json();
    for info in devices["algorithms"].as_array().unwrap().iter().filter(|info| info["engine"] == "cpu") {
        let (problem, name) = (info["problem"].as_str().unwrap(), info["name"].as_str().unwrap());
        let more = match (problem, name) {
            ("bfs" | "sssp", _) => "--source 1",
            // It makes sums and no rows.
            (_, "level-sums") => "--weights unit --reduce closeness",
            _ => "",
        };
        let found = folder.run(&format!("{problem} g.txt {more} --algorithm {name} --engine cpu --json")).json();
        assert_eq!((&found["command"], &found["algorithm"]), (&problem.into(), &name.into()));
    }
}
