//! `convert`: every format comes back as the same graph, from files and through pipes.

use crate::common::Folder;
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

/// The same graph, as other programs write it: LIS to OPO in 55, OPO to MAD in 70.
const OF_OTHERS: [(&str, &str); 4] = [
    (
        "g.graphml",
        "<?xml version='1.0' encoding='utf-8'?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n\
         <key id=\"d0\" for=\"edge\" attr.name=\"weight\" attr.type=\"long\"/>\n<graph edgedefault=\"directed\">\n\
         <node id=\"LIS\"/><node id=\"OPO\"/><node id=\"MAD\"/>\n\
         <edge source=\"LIS\" target=\"OPO\"><data key=\"d0\">55</data></edge>\n\
         <edge source=\"OPO\" target=\"MAD\"><data key=\"d0\">70</data></edge>\n</graph></graphml>\n",
    ),
    (
        "g.gml",
        "graph [\n  directed 1\n  node [ id 0 label \"LIS\" ]\n  node [ id 1 label \"OPO\" ]\n  node [ id 2 label \"MAD\" ]\n  \
         edge [ source 0 target 1 weight 55 ]\n  edge [ source 1 target 2 weight 70 ]\n]\n",
    ),
    ("g.net", "*Vertices 3\n1 \"LIS\"\n2 \"OPO\"\n3 \"MAD\"\n*Arcs\n1 2 55\n2 3 70\n"),
    (
        "g.json",
        "{\"directed\": true, \"nodes\": [{\"id\": \"LIS\"}, {\"id\": \"OPO\"}, {\"id\": \"MAD\"}],\n\
         \"links\": [{\"source\": \"LIS\", \"target\": \"OPO\", \"weight\": 55}, {\"source\": \"OPO\", \"target\": \"MAD\", \"weight\": 70}]}",
    ),
];

#[test]
fn graphs_of_other_programs_are_read() {
    let folder = Folder::new();
    for (name, text) in OF_OTHERS {
        folder.file(name, text);
        let distances = folder.run(&format!("sssp {name} --source LIS --output -")).ok();
        assert_eq!(distances, "vertex,distance\nLIS,0\nOPO,55\nMAD,125\n", "{name}");
        assert_eq!(folder.run_with("sssp - --source LIS --output -", text).ok(), distances, "{name} from a pipe");
        // The content goes before the extension.
        folder.file("x.csv", text);
        assert_eq!(folder.run("sssp x.csv --source LIS --output -").ok(), distances, "{name} as .csv");
        folder.run(&format!("convert {name} x.wpg --quiet")).ok();
        assert_eq!(folder.run("sssp x.wpg --source LIS --output -").ok(), distances, "{name} converted");
        let by_hops = folder.run(&format!("sssp {name} --source LIS --weights unit --target MAD --json")).json();
        assert_eq!(by_hops["targets"][0]["distance"], 2, "{name}");
        folder.run(&format!("info {name} --separator tab")).fails(2, "`--separator` is for edge lists");
        let extension = name.rsplit('.').next().unwrap();
        folder.run(&format!("convert x.wpg y.{extension}")).fails(2, "are only read; edge-list, dimacs,");
        folder.file(&format!("cut.{extension}"), &text[..text.len() - 3]);
        folder.run(&format!("info cut.{extension}")).fails(2, &format!("cut.{extension}:"));
    }
    folder.run("convert x.wpg y.txt --output-format graphml").fails(2, "invalid value 'graphml'");
    assert!(!folder.names().iter().any(|name| name.starts_with('y')), "{:?}", folder.names());
    folder.file("none.gml", OF_OTHERS[1].1.replace(" weight 70", " km 70"));
    folder.run("sssp none.gml --source LIS").fails(2, "none.gml:7:3: this edge has no attribute `weight`");
    folder.file("km.gml", OF_OTHERS[1].1.replace("weight", "km"));
    let run = folder.run("info km.gml");
    assert!(run.stderr.contains("`--weights NAME` takes another one of: km"), "{run:?}");
    assert_eq!(
        folder.run("sssp km.gml --source LIS --weights km --target MAD --json").json()["targets"][0]["distance"],
        125
    );
}
