//! `bfs`, `sssp` and `path`: what they print and write.

use crate::common::{Folder, MANY_VERTICES};
use serde_json::{Value, json};

fn keys(object: &Value) -> Vec<&str> {
    object.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn json_has_the_documented_shape() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 7\n9 1 1\n");
    let found = folder.run("sssp g.txt --source 1 --verify --json").json();
    assert_eq!(found["graph"], json!({"vertices": 4, "arcs": 3, "directed": true, "weights": "u32"}));
    assert_eq!(
        (&found["command"], &found["engine"], &found["number_type"]),
        (&json!("sssp"), &json!("cpu"), &json!("u32->u32"))
    );
    assert_eq!((&found["sources"], &found["verified"]), (&json!(["1"]), &json!(true)));
    assert_eq!(
        (&found["reached"], &found["max_distance"], &found["distance_sum"]),
        (&json!(3), &json!(12), &json!(17))
    );
    let mut times = keys(&found["seconds"]);
    times.sort_unstable();
    assert_eq!(times, ["download", "load", "predecessors", "prepare", "solve", "verify", "write"]);
    assert_eq!(keys(&found["peak_bytes"]).len(), 2);
}

#[test]
fn csv_has_the_files_names_in_its_order_and_nothing_where_unreachable() {
    let folder = Folder::new();
    folder.file("g.csv", "alice,\"Carol, Duchess\"\n\"Carol, Duchess\",bob\nzoe,alice\n");
    let expected =
        "vertex,distance,predecessor\nalice,0,\n\"Carol, Duchess\",1,alice\nbob,2,\"Carol, Duchess\"\nzoe,,\n";
    assert_eq!(folder.run("bfs g.csv --source alice --predecessors --output -").ok(), expected);
    folder.run("bfs g.csv --source alice --predecessors --output x.csv --quiet").ok();
    assert_eq!(folder.read("x.csv"), expected);
}

#[test]
fn several_sources_mean_the_nearest_and_a_file_one_result_each() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n2 3\n3 4\n");
    let expected = "source,vertex,distance\n1,1,0\n1,2,1\n3,3,0\n3,4,1\n";
    assert_eq!(folder.run("bfs g.txt --source 1 3 --output -").ok(), expected);
    let found = folder.run("bfs g.txt --source 1 3 --target 2 4 --json --verify").json();
    assert_eq!(found["sources"], json!(["1", "3"]));
    let targets = json!([{"vertex": "2", "distance": 1, "source": "1"}, {"vertex": "4", "distance": 1, "source": "3"}]);
    assert_eq!(found["targets"], targets);
    folder.file("sources.txt", "3\r\n1\r\n");
    let found = folder.run("bfs g.txt --sources sources.txt --json --verify").json();
    let reached: Vec<_> =
        found["results"].as_array().unwrap().iter().map(|result| (&result["source"], &result["reached"])).collect();
    assert_eq!(reached, [(&json!("3"), &json!(2)), (&json!("1"), &json!(4))]);
    let text = folder.run("bfs g.txt --sources sources.txt --output -").ok();
    assert!(text.starts_with("source,vertex,distance\n3,1,\n3,2,\n3,3,0\n3,4,1\n1,1,0\n"), "{text}");
}

#[test]
fn targets_and_cutoffs_limit_what_is_reported() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 5\n3 4 5\n");
    for limit in ["--target 3", "--cutoff 10", "--cutoff 14.9"] {
        let text = folder.run(&format!("sssp g.txt --source 1 {limit} --verify --output -")).ok();
        assert_eq!(text, "vertex,distance\n1,0\n2,5\n3,10\n", "{limit}");
        let text = folder.run(&format!("sssp g.txt --source 1 {limit} --all-rows --output -")).ok();
        assert_eq!(text, "vertex,distance\n1,0\n2,5\n3,10\n4,\n", "{limit}");
    }
}

#[test]
fn distances_beyond_32_bits_are_repeated_in_64() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 4294967295\n2 3 4294967295\n");
    let found = folder.run("sssp g.txt --source 1 --json --verify").json();
    assert_eq!((&found["number_type"], &found["max_distance"]), (&json!("u32->u64"), &json!(8_589_934_590_u64)));
}

#[test]
fn negative_weights_are_solved_and_negative_cycles_shown() {
    let folder = Folder::new();
    folder.file("integers.txt", "1 2 1\n2 3 -2147483648\n3 4 -2147483648\n");
    folder.file("decimals.txt", "1 2 1.5\n2 3 -0.25\n3 4 -0.125\n1 4 7\n");
    for (graph, length) in [("integers.txt", json!(-4_294_967_295_i64)), ("decimals.txt", json!(1.125))] {
        assert_eq!(folder.run(&format!("sssp {graph} --source 1 --verify --json")).json()["verified"], json!(true));
        assert_eq!(folder.run(&format!("apsp {graph} --verify --json")).json()["finite_pairs"], json!(10));
        let path = folder.run(&format!("path {graph} 1 4 --verify --json")).json();
        assert_eq!((&path["length"], &path["vertices"]), (&length, &json!(["1", "2", "3", "4"])));
    }
    folder.file("cycle.txt", "1 2 1\n2 3 -2\n3 1 0\n0 1 1\n");
    for command in ["sssp cycle.txt --source 0", "apsp cycle.txt", "path cycle.txt 0 3"] {
        let run = folder.run(command);
        assert_eq!((run.code, run.stdout.as_str()), (Some(1), ""), "{run:?}");
        assert!(run.stderr.contains("a cycle of negative length -1 over 3 edges"), "{run:?}");
        let mut found = folder.run(&format!("{command} --json")).json_with(1);
        assert_eq!((&found["command"], &found["error"]["kind"]), (&json!(command[..4].trim_end()), &json!("answer")));
        let cycle = found["negative_cycle"].take();
        assert_eq!((&cycle["length"], &cycle["edges"]), (&json!(-1), &json!(3)));
        let names: Vec<_> = cycle["vertices"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
        assert!(["1 2 3", "2 3 1", "3 1 2"].contains(&names.join(" ").as_str()), "{names:?}");
    }
    assert_eq!(folder.run("bfs cycle.txt --source 0 --json").json()["reached"], json!(4));
}

#[test]
fn a_path_says_how_it_was_found() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n2 -3\n4 1\n");
    let path = folder.run("path g.txt 1 -3 --json --verify").json();
    assert_eq!((&path["algorithm"], &path["vertices"]), (&json!("sequential"), &json!(["1", "2", "-3"])));
    let path = folder.run("path g.txt 1 -3 --undirected --json").json();
    assert_eq!((&path["algorithm"], &path["length"]), (&json!("bidirectional"), &json!(2)));
    let path = folder.run("path g.txt 1 4 --json").json();
    assert_eq!((&path["reachable"], &path["length"]), (&json!(false), &json!(null)));
}

#[test]
fn a_path_tells_what_every_answer_tells() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 3\n2 3 4\n4 1 1\n");
    for (direction, both_ends) in [("--directed", false), ("--undirected", true)] {
        let command = format!("path g.txt 1 3 {direction} --threads 1 --engine cpu");
        let found = folder.run(&format!("{command} --json --statistics")).json();
        assert_eq!((&found["command"], &found["engine"]), (&json!("path"), &json!("cpu")));
        assert_eq!((&found["engine_reason"], &found["length"]), (&json!("asked for"), &json!(7)));
        assert!(found["number_type"].as_str().unwrap().starts_with("u32->u"), "{found}");
        assert!(found["statistics"]["settled"].as_u64().unwrap() > 0, "{found}");
        assert_eq!(found["algorithm"] == "bidirectional", both_ends, "{found}");
        assert!(
            found["seconds"]["prepare"].as_f64().unwrap() > 0.0 && found["seconds"]["solve"].as_f64().unwrap() > 0.0
        );
        assert_eq!(found["peak_bytes"]["device"], json!(0));
        assert!(!keys(&folder.run(&format!("{command} --json")).json()).contains(&"statistics"));
        let text = folder.run(&format!("{command} --verbose --statistics")).ok();
        for row in ["because ", "on cpu ", "settled "] {
            assert!(text.lines().any(|line| line.starts_with(row)), "{row} is not in\n{text}");
        }
    }
}

#[test]
fn every_one_of_many_results_has_its_counters() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 7\n");
    folder.file("sources.txt", "1\n3\n");
    folder.file("one.txt", "1\n");
    for (file, settled) in [("sources.txt", vec![3, 1]), ("one.txt", vec![3])] {
        let command = format!("sssp g.txt --sources {file} --algorithm dijkstra --engine cpu");
        let found = folder.run(&format!("{command} --statistics --json")).json();
        assert!(!keys(&found).contains(&"statistics"), "{found}");
        let counted: Vec<_> =
            found["results"].as_array().unwrap().iter().map(|result| &result["statistics"]["settled"]).collect();
        assert_eq!(counted, settled);
        let without = folder.run(&format!("{command} --json")).json();
        assert!(!keys(&without["results"][0]).contains(&"statistics"), "{without}");
        let text = folder.run(&format!("{command} --statistics")).ok();
        assert_eq!(text.lines().filter(|line| line.starts_with("settled ")).count(), settled.len(), "{text}");
    }
}

#[test]
fn weights_come_from_columns_names_units_or_chance() {
    let folder = Folder::new();
    folder.file("g.csv", "from,to,cost,time\r\n1,2,5,1.5\r\n2,3,6,0.25\r\n");
    let farthest =
        |weights: &str| folder.run(&format!("sssp g.csv --source 1 --json {weights}")).json()["max_distance"].clone();
    assert_eq!(farthest(""), json!(11));
    assert_eq!(farthest("--weights cost"), json!(11));
    assert_eq!(farthest("--weights 4"), json!(1.75));
    assert_eq!(farthest("--weights time"), json!(1.75));
    assert_eq!(farthest("--weights unit"), json!(2));
    assert_eq!(farthest("--weights random:7..7"), json!(14));
    folder
        .run("sssp g.csv --source 1 --weights Cost")
        .fails(2, "there is no column `Cost`; there are from, to, cost, time");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = Folder::new();
    let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("warpath"));
    command.current_dir(folder.path()).args(["bfs", "uniform:17", "--source", "0", "--output", "-"]);
    let mut child = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_plan_changes_nothing() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n");
    for command in ["bfs g.txt --source 1", "sssp g.txt --source 1", "apsp g.txt", "closure g.txt"] {
        let plan = folder.run(&format!("{command} --plan --json --output x.npy")).json();
        assert_eq!(plan["fits"], json!(true));
        assert!(plan["memory_bytes"].as_u64().unwrap() > 0);
        // The plan is that of the run: by the same algorithm, for the same reasons.
        let run = folder.run(&format!("{command} --json")).json();
        for key in ["engine", "engine_reason", "algorithm", "reason"] {
            assert_eq!(plan[key], run[key], "{command}: {key}");
        }
        let types = plan["number_types"].as_array().unwrap();
        assert!(types.is_empty() || types.contains(&run["number_type"]), "{command}: {types:?}");
    }
    assert_eq!(folder.run("path g.txt 1 2 --plan --json").json()["fits"], json!(true));
    assert_eq!(folder.run("components g.txt --strong --output x.csv --plan --json").json()["fits"], json!(true));
    assert_eq!(folder.names(), ["g.txt"]);
}

#[test]
fn a_plan_that_does_not_fit_is_printed_and_lacks_memory() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n2 3\n");
    folder.run("generate grid:800x800 g.wpg").ok();
    for (arguments, message) in [
        ("apsp kron:10 --algorithm batched --memory 1M", "the work needs"),
        ("components g.wpg --strong --memory 20M", "the work (the path of the search,"),
        // Nothing is generated.
        ("sssp kron:31,edges-per-vertex=4000 --source 1", "generating `kron:31,edges-per-vertex=4000` needs"),
        ("bfs kron:24 --source 0 --memory 1M", "generating `kron:24` needs"),
    ] {
        let run = folder.run(&format!("{arguments} --plan --json"));
        assert!(run.stderr.contains(message), "{run:?}");
        let plan = run.json_with(3);
        assert_eq!(plan["fits"], json!(false), "{plan}");
        assert!(plan["memory_bytes"].as_u64() > plan["memory_available"].as_u64(), "{plan}");
        let run = folder.run(&format!("{arguments} --plan"));
        assert!(run.code == Some(3) && run.stdout.contains("it does not fit"), "{run:?}");
        folder.run(arguments).fails(3, " of memory (available: ");
    }
}

#[test]
fn a_plan_that_exceeds_the_disk_does_not_fit() {
    let folder = Folder::new();
    folder.file("many.mtx", MANY_VERTICES);
    let command = "apsp many.mtx --engine cpu --output x.npy --plan";
    let run = folder.run(&format!("{command} --json"));
    assert!(run.stderr.contains("`x.npy` needs 4.0 TiB of disk space (free: "), "{run:?}");
    let plan = run.json_with(3);
    assert_eq!((&plan["fits"], &plan["disk_bytes"]), (&json!(false), &json!(4_398_046_511_232_u64)));
    assert!(plan["disk_available"].as_u64() < plan["disk_bytes"].as_u64(), "{plan}");
    assert!(plan["memory_bytes"].as_u64() <= plan["memory_available"].as_u64(), "{plan}");
    let run = folder.run(command);
    let line = run.stdout.lines().find(|line| line.contains("of disk space")).unwrap_or_default();
    assert!(run.code == Some(3) && line.ends_with("it does not fit"), "{run:?}");
    folder.file("g.txt", "1 2\n2 3\n");
    for command in ["apsp g.txt", "closure g.txt"] {
        let plan = folder.run(&format!("{command} --output x.npy --plan --json")).json();
        assert!(plan["fits"] == true && plan["disk_available"].as_u64() > plan["disk_bytes"].as_u64(), "{plan}");
        // Without an output file, the plan does not look at a disk.
        assert!(!keys(&folder.run(&format!("{command} --plan --json")).json()).contains(&"disk_available"));
    }
    assert_eq!(folder.names(), ["g.txt", "many.mtx"]);
}

#[test]
fn one_of_anything_is_singular() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n1 1\n1 2\n");
    let text: String = ["info g.txt", "path g.txt 1 2", "bfs g.txt --source 1 --target 1"]
        .map(|arguments| folder.run(arguments).ok())
        .concat();
    for expected in ["1 self-loop,", "1 parallel arc\n", "about 1 edge ", "1 over 1 edge\n", "2 vertices, 2 arcs,"] {
        assert!(text.contains(expected), "{expected} is not in\n{text}");
    }
    folder.file("loop.txt", "1 1 -1\n");
    let run = folder.run("sssp loop.txt --source 1");
    assert!(run.stderr.contains("over 1 edge: 1 -> 1"), "{run:?}");
    assert!(folder.run("apsp loop.txt --weights unit").ok().contains("1 vertex, 1 arc,"));
    assert!(folder.run("closure loop.txt --weights unit").ok().contains("1 of 1 ordered pair "));
}

/// The order in which vertices were expanded is there by name, and only if it is asked for.
#[test]
fn the_order_of_a_search_is_printed_if_it_is_asked_for() {
    let folder = Folder::new();
    folder.file("g.txt", "7 5\n5 9\n");
    assert!(!keys(&folder.run("bfs g.txt --source 7 --engine cpu --json").json()).contains(&"order"));
    let asked = "bfs g.txt --source 7 --engine auto --algorithm singh-bfs:order=true";
    if warpath::devices().is_ok_and(|found| !found.is_empty()) {
        assert_eq!(folder.run(&format!("{asked} --json")).json()["order"], json!(["7", "5", "9"]));
        assert!(folder.run(asked).ok().contains("7 5 9"));
        let unasked = asked.replace(":order=true", " --json");
        assert!(!keys(&folder.run(&unasked).json()).contains(&"order"));
    } else {
        folder.run(asked).fails(3, "there is");
    }
}
