//! `apsp` and `closure`: tables, reductions and counts.

use crate::common::Folder;
use serde_json::json;

fn path_of_four() -> Folder {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n2 3\n3 4\n");
    folder.file("sources.txt", "1\n3\n");
    folder.file("targets.txt", "4\n2\n");
    folder
}

#[test]
fn a_table_has_the_rows_and_columns_asked_for() {
    let folder = path_of_four();
    let text = folder.run("apsp g.txt --sources sources.txt --targets targets.txt --verify --output -").ok();
    assert_eq!(text, "source,target,distance\n1,4,3\n1,2,1\n3,4,1\n3,2,\n");
    folder.run("apsp g.txt --sources sources.txt --targets targets.txt --output x.npy --quiet").ok();
    let bytes = std::fs::read(folder.path().join("x.npy")).unwrap();
    let cells: Vec<u32> =
        bytes[bytes.len() - 16..].chunks(4).map(|cell| u32::from_ne_bytes(cell.try_into().unwrap())).collect();
    assert_eq!(cells, [3, 1, 1, u32::MAX]);
    let text = folder.run("apsp g.txt --sources sources.txt --targets targets.txt --successors --output -").ok();
    assert_eq!(text, "source,target,distance,successor\n1,4,3,2\n1,2,1,2\n3,4,1,4\n3,2,,\n");
    folder.run("apsp g.txt --successors --output x.npy").fails(2, "written to a .csv");
    let found = folder.run("apsp g.txt --json --verify").json();
    assert_eq!((&found["source_count"], &found["finite_pairs"]), (&json!(4), &json!(10)));
    assert_eq!((&found["distance_sum"], &found["max_distance"]), (&json!(10), &json!(3)));
}

#[test]
fn table_is_apsp_with_two_lists() {
    let folder = path_of_four();
    let lists = "--sources sources.txt --targets targets.txt";
    let text = folder.run(&format!("table g.txt {lists} --verify")).ok();
    assert_eq!(text, "source,target,distance\n1,4,3\n1,2,1\n3,4,1\n3,2,\n");
    assert_eq!(folder.run(&format!("table g.txt {lists} --layout wide")).ok(), "source,4,2\n1,3,1\n3,1,\n");
    let found = folder.run(&format!("table g.txt {lists} --json --verify")).json();
    assert_eq!(found["command"], "table");
    assert_eq!((&found["sources"], &found["targets"]), (&json!(["1", "3"]), &json!(["4", "2"])));
    assert_eq!(found["distances"], json!([[3, 1], [1, null]]));
    assert!(found["time"].as_str().unwrap().contains("solve"), "{found}");
    let found = folder.run(&format!("table g.txt {lists} --json --output x.csv")).json();
    assert_eq!((&found["distances"], &found["finite_pairs"]), (&serde_json::Value::Null, &json!(3)));
    assert_eq!(folder.read("x.csv"), text);
    folder.run(&format!("table g.txt {lists} --json --layout wide")).fails(2, "a list for each source");
    folder.run("table g.txt --sources sources.txt").fails(2, "--targets <FILE>");
    // From a prepared file, too.
    folder.run("prepare g.txt --weights unit --output g.wpg --quiet").ok();
    assert_eq!(folder.run(&format!("table g.wpg {lists} --algorithm hierarchy")).ok(), text);
    assert!(folder.run(&format!("table g.wpg {lists} --plan")).ok().contains("memory"));
}

#[test]
fn reductions_are_the_same_printed_written_and_as_json() {
    let folder = path_of_four();
    let lists = "--sources sources.txt --targets targets.txt";
    for (how, text, object) in [
        (
            "eccentricity",
            "vertex,eccentricity\n1,3\n3,1\n",
            json!([{"vertex": "1", "eccentricity": 3}, {"vertex": "3", "eccentricity": 1}]),
        ),
        (
            "harmonic",
            "vertex,harmonic\n4,1.3333333333333333\n2,1\n",
            json!([{"vertex": "4", "harmonic": 1.333_333_333_333_333_3}, {"vertex": "2", "harmonic": 1}]),
        ),
        (
            "closeness",
            "vertex,closeness\n4,0.5\n2,0.5\n",
            json!([{"vertex": "4", "closeness": 0.5}, {"vertex": "2", "closeness": 0.5}]),
        ),
        ("histogram", "distance,pairs\n1,2\n3,1\n", json!([{"distance": 1, "pairs": 2}, {"distance": 3, "pairs": 1}])),
    ] {
        assert_eq!(folder.run(&format!("apsp g.txt {lists} --reduce {how} --output -")).ok(), text);
        assert_eq!(folder.run(&format!("apsp g.txt {lists} --reduce {how} --json")).json()["reduction"], object);
        let table = folder.run(&format!("apsp g.txt {lists} --reduce {how}")).ok();
        for line in text.lines() {
            let (name, value) = line.split_once(',').unwrap();
            let words = [name, value].into_iter().filter(|word| !word.is_empty());
            assert!(table.lines().any(|row| row.split_whitespace().eq(words.clone())), "{line}\n{table}");
        }
    }
}

#[test]
fn every_algorithm_gives_the_same_table() {
    let folder = Folder::new();
    folder.run("generate kron:7 g.wpg --weights random:1..9 --quiet").ok();
    let facts = |algorithm: &str| {
        let found = folder.run(&format!("apsp g.wpg --algorithm {algorithm} --verify --json")).json();
        (found["finite_pairs"].clone(), found["distance_sum"].clone(), found["max_distance"].clone())
    };
    let expected = facts("floyd-warshall");
    for algorithm in ["tiled-floyd-warshall", "batched", "johnson"] {
        assert_eq!(facts(algorithm), expected, "{algorithm}");
    }
}

#[test]
fn closure_counts_ordered_pairs() {
    let folder = path_of_four();
    for algorithm in ["warshall", "bit-warshall", "condensation"] {
        let pairs = |options: &str| {
            folder.run(&format!("closure g.txt --algorithm {algorithm} --verify --json {options}")).json()["reachable_pairs"].clone()
        };
        assert_eq!((pairs(""), pairs("--irreflexive")), (json!(10), json!(6)), "{algorithm}");
    }
    assert_eq!(folder.run("closure g.txt --output -").ok(), "vertex,reachable\n1,4\n2,3\n3,2\n4,1\n");
    folder.run("closure g.txt --output x.npy --quiet").ok();
    let bytes = std::fs::read(folder.path().join("x.npy")).unwrap();
    assert_eq!(bytes[bytes.len() - 16..], [1, 1, 1, 1, 0, 1, 1, 1, 0, 0, 1, 1, 0, 0, 0, 1]);
}
