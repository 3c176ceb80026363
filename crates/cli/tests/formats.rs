//! `convert`: every format comes back as the same graph, from files and through pipes.

#![allow(missing_docs)]

mod common;

use common::Folder;
use serde_json::Value;

const EXTENSIONS: [&str; 9] = ["txt", "csv", "tsv", "gr", "graph", "mtx", "npz", "wsg", "wpg"];

/// The facts that do not depend on the names of the vertices.
fn facts(folder: &Folder, graph: &str) -> [Value; 4] {
    let found = folder.run(&format!("apsp {graph} --undirected --json")).json();
    let facts = found["graph"].clone();
    [facts["vertices"].clone(), facts["arcs"].clone(), found["finite_pairs"].clone(), found["distance_sum"].clone()]
}

#[test]
fn every_format_gives_the_graph_back_compressed_or_not() {
    let folder = Folder::new();
    folder.run("generate kron:6,seed=3 k.wpg --weights random:1..9 --quiet").ok();
    let expected = facts(&folder, "k.wpg");
    for (index, extension) in EXTENSIONS.into_iter().enumerate() {
        let compression = ["", ".gz", ".zst", ".bz2", ".xz"][index % 5];
        for name in [format!("x.{extension}"), format!("y.{extension}{compression}")] {
            folder.run(&format!("convert k.wpg {name} --quiet")).ok();
            assert_eq!(facts(&folder, &name), expected, "{name}");
            folder.run(&format!("convert {name} back.wpg --undirected --quiet")).ok();
            assert_eq!(facts(&folder, "back.wpg"), expected, "{name} and back");
        }
    }
}

#[test]
fn names_survive_where_the_format_has_them() {
    let folder = Folder::new();
    folder.file("g.csv", "alice,\"Carol, Duchess\"\n\"Carol, Duchess\",bob smith\n");
    let expected = folder.run("bfs g.csv --source alice --output -").ok();
    for extension in ["csv", "tsv", "txt", "wpg", "csv.gz"] {
        folder.run(&format!("convert g.csv x.{extension} --quiet")).ok();
        assert_eq!(folder.run(&format!("bfs x.{extension} --source alice --output -")).ok(), expected, "{extension}");
    }
    folder.run("convert g.csv x.graph").fails(2, "METIS files hold undirected graphs only");
}

#[test]
fn lost_names_are_told_of() {
    let folder = Folder::new();
    folder.file("names.txt", "# Undirected graph\nalice bob\n");
    folder.file("numbers.txt", "# Undirected graph\n1 2\n2 3\n");
    for (name, first, kept) in [
        ("x.gr", 1, true),
        ("x.tw", 1, true),
        ("x.graph", 1, true),
        ("x.mtx", 1, true),
        ("x.npz", 0, false),
        ("x.sg", 0, false),
    ] {
        let note = format!("files hold no names: the vertices are numbered from {first}, in the same order");
        let run = folder.run(&format!("convert names.txt {name}"));
        assert!(run.code == Some(0) && run.stderr.contains(&note) && run.stderr.lines().count() == 1, "{run:?}");
        let run = folder.run(&format!("convert numbers.txt {name}"));
        assert!(run.code == Some(0) && run.stderr.contains(&note) != kept, "{run:?}");
        folder.run(&format!("convert names.txt {name} --quiet")).ok();
        let names = folder.run(&format!("bfs {name} --source {first} --output -")).ok();
        assert_eq!(names, format!("vertex,distance\n{first},0\n{},1\n", first + 1), "{name}");
    }
    folder.run("convert names.txt x.csv").ok();
    folder.run("convert names.txt x.wpg").ok();
}

#[test]
fn gap_files_have_weights_by_their_extension() {
    let folder = Folder::new();
    folder.file("g.txt", "0 1 5\n1 2 6\n");
    folder.run("convert g.txt x.sg --quiet").ok();
    folder.run("convert g.txt x.wsg --quiet").ok();
    let weights = |name: &str| folder.run(&format!("info {name} --json")).json()["weights"].clone();
    assert_eq!((weights("x.sg"), weights("x.wsg")), ("unit".into(), "u32".into()));
}

#[test]
fn graphs_go_through_pipes() {
    let folder = Folder::new();
    let text = folder.run("convert grid:3x3 - --output-format edge-list").ok();
    assert_eq!(folder.run_with("info - --json", text).json()["arcs"], 24);
    folder.run("convert grid:3x3 -").fails(2, "the extension names no format");
    folder.run("convert grid:3x3 - --output-format wpg --json").fails(2, "both want standard output");
    assert!(folder.names().is_empty());
    assert_eq!(folder.run_with("info - --json", "p tw 3 2\n1 2\n2 3\n").json()["directed"], false);
    assert_eq!(folder.run_with("info - --json --directed", "p tw 3 2\n1 2\n2 3\n").json()["arcs"], 2);
}

#[test]
fn the_first_line_is_what_one_says() {
    let folder = Folder::new();
    folder.file("g.txt", "3 2\n1 2\n2 3\n");
    let lines = |first: &str| folder.run(&format!("info g.txt --first-line {first} --json")).json()["lines"].clone();
    assert_eq!((lines("counts"), lines("edge"), lines("header")), (2.into(), 3.into(), 2.into()));
    folder.file("bad.txt", "1 1\n2 3\n");
    folder.run("info bad.txt --first-line counts").fails(2, "bad.txt:2:1: a vertex is out of range");
}
