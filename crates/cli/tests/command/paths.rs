//! `path`: many pairs, the k shortest, and the files that paths are written to.

use crate::common::Folder;
use serde_json::{Value, json};

/// Names with commas and blanks, a parallel edge, and a part that can't be reached.
fn towns() -> Folder {
    let folder = Folder::new();
    let edges = "from,to,km\n\"Bath, Somerset\",New York,5\n\"Bath, Somerset\",New York,7\nNew York,Rio,4\n\
                 \"Bath, Somerset\",Rio,20\nRio,Oslo,1\nLima,Rio,2\n";
    folder.file("g.csv", edges);
    folder
}

const GRAPH: &str = "path g.csv --weights km --keep-parallel-edges";

#[test]
fn pairs_have_a_line_each_in_their_order() {
    let folder = towns();
    folder.file(
        "pairs.csv",
        "source,target\nNew York,Oslo\n\n# a comment\n\"Bath, Somerset\",Rio\nRio,Lima\nNew York,Oslo\n",
    );
    let expected = "source,target,distance\nNew York,Oslo,5\n\"Bath, Somerset\",Rio,9\nRio,Lima,\nNew York,Oslo,5\n";
    assert_eq!(folder.run(&format!("{GRAPH} --pairs pairs.csv --verify")).ok(), expected);
    let text = folder.read("pairs.csv");
    assert_eq!(folder.run_with(&format!("{GRAPH} --pairs -"), text).ok(), expected);
    let found = folder.run(&format!("{GRAPH} --pairs pairs.csv --json")).json();
    assert_eq!((&found["command"], &found["reachable"]), (&json!("path"), &json!(3)));
    let pair = json!({"from": "Rio", "to": "Lima", "reachable": false, "length": null});
    assert_eq!((&found["pairs"][2], &found["pairs"][1]["length"]), (&pair, &json!(9)));
    assert_eq!(folder.run(&format!("{GRAPH} --pairs pairs.csv --quiet")).ok(), "");
    assert_eq!(folder.run(&format!("{GRAPH} --pairs pairs.csv --plan --json")).json()["fits"], json!(true));
}

#[test]
fn pairs_may_be_separated_by_blanks_tabs_or_semicolons() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 7\n");
    for list in ["1 3\n2 3\n", "1\t3\r\n2\t3\r\n", "1;3\n2;3", "1, 3\n2, 3\n"] {
        let text = folder.run_with("path g.txt --pairs -", list).ok();
        assert_eq!(text, "source,target,distance\n1,3,12\n2,3,7\n", "{list:?}");
    }
}

#[test]
fn bad_pairs_name_file_line_and_text() {
    let folder = towns();
    for (list, message) in [
        ("New York,Rio\nNew York\n", "pairs.csv:2"),
        ("New York,Rio\nNew York,Rio,Oslo\n", "a pair is two vertices"),
        ("Rio,Olso\n", "`Olso`"),
        ("\"Rio,Oslo\n", "a quote is not closed"),
        ("# nothing\n", "there are no pairs in it"),
    ] {
        folder.file("pairs.csv", list);
        folder.run(&format!("{GRAPH} --pairs pairs.csv --output x.csv")).fails(2, message);
    }
    folder.file("pairs.csv", b"Rio,\xff\n");
    folder.run(&format!("{GRAPH} --pairs pairs.csv")).fails(2, "not UTF-8");
    folder.run(&format!("{GRAPH} --pairs nowhere.csv")).fails(2, "nowhere.csv");
    folder.run("path - --pairs -").fails(2, "standard input");
    folder.run(&format!("{GRAPH} Rio --pairs pairs.csv")).fails(2, "cannot be used with");
    folder.run(&format!("{GRAPH} Rio")).fails(2, "<TO>");
    folder.run(&format!("{GRAPH} --pairs pairs.csv --output pairs.csv")).fails(2, "pairs.csv");
    assert_eq!(folder.names(), ["g.csv", "pairs.csv"]);
}

#[test]
fn paths_are_written_with_distances_and_weights() {
    let folder = towns();
    folder.file("pairs.csv", "\"Bath, Somerset\",Oslo\nRio,Lima\nRio,Rio\n");
    let table = folder.run(&format!("{GRAPH} --pairs pairs.csv --output x.csv --verify")).ok();
    assert!(table.contains("2 of 3 pairs, verified"), "{table}");
    let bath = "\"Bath, Somerset\",Oslo";
    let expected = format!(
        "source,target,vertex,distance,weight\n{bath},\"Bath, Somerset\",0,\n{bath},New York,5,5\n{bath},Rio,9,4\n\
         {bath},Oslo,10,1\nRio,Lima,,,\nRio,Rio,Rio,0,\n"
    );
    assert_eq!(folder.read("x.csv"), expected);
    assert_eq!(folder.run(&format!("{GRAPH} --pairs pairs.csv --output -")).ok(), expected);
    folder.file("g.txt", "1 2 0.5\n2 3 0.25\n");
    let text = folder.run("path g.txt 1 3 --output -").ok();
    assert_eq!(text, "vertex,distance,weight\n1,0,\n2,0.5,0.5\n3,0.75,0.25\n");
    assert_eq!(folder.run("path g.txt 3 1 --output -").ok(), "vertex,distance,weight\n");
    folder.run("path g.txt 1 3 --output x.npy").fails(2, "can be .csv, .tsv, .parquet or .geojson");
    folder.run("path g.txt 1 3 --output g.txt").fails(2, "g.txt");
    let found = folder.run("path g.txt 1 3 --json").json();
    assert_eq!((&found["vertices"], &found["weights"]), (&json!(["1", "2", "3"]), &json!([0.5, 0.25])));
}

#[test]
fn names_with_blanks_stay_apart() {
    let folder = towns();
    let mut command = folder.command(GRAPH);
    let output = command.args(["Bath, Somerset", "Oslo"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("\"Bath, Somerset\" \"New York\" Rio Oslo\n"), "{text}");
}

#[test]
fn the_k_shortest_paths_come_in_order() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 1\n2 4 1\n1 3 1\n3 4 2\n2 3 5\n4 4 1\n");
    let found = folder.run("path g.txt 1 4 --k 9 --verify --json").json();
    let lengths: Vec<&Value> = found["paths"].as_array().unwrap().iter().map(|path| &path["length"]).collect();
    assert_eq!(lengths, [&json!(2), &json!(3), &json!(8)]);
    assert_eq!((&found["length"], &found["paths"][2]["vertices"]), (&json!(2), &json!(["1", "2", "3", "4"])));
    assert_eq!((&found["paths"][2]["weights"], &found["algorithm"]), (&json!([1, 5, 2]), &json!("yen")));
    assert!(folder.run("path g.txt 1 4 --k 9").ok().contains("there are no more: 9 were asked for"));
    let text = folder.run("path g.txt 1 4 --k 2 --output -").ok();
    assert_eq!(text, "path,vertex,distance,weight\n1,1,0,\n1,2,1,1\n1,4,2,1\n2,1,0,\n2,3,1,1\n2,4,3,2\n");
    let found = folder.run("path g.txt 4 1 --k 3 --json").json();
    assert_eq!((&found["reachable"], &found["paths"]), (&json!(false), &json!([])));
    assert_eq!(folder.run("path g.txt 1 4 --k 3 --plan --json").json()["algorithm"], json!("yen"));
    folder.run("path g.txt 1 4 --k 0").fails(2, "--k");
    folder.run("path g.txt 1 4 --k 2 --pairs x").fails(2, "cannot be used with");
    folder.file("negative.txt", "1 2 -1\n");
    folder.run("path negative.txt 1 2 --k 2").fails(2, "weights of 0 or more");
}

/// The features of a file, each as its geometry and its properties.
fn features(folder: &Folder, name: &str) -> Vec<(Value, Value)> {
    let collection: Value = serde_json::from_str(&folder.read(name)).unwrap();
    assert_eq!(collection["type"], json!("FeatureCollection"));
    let features = collection["features"].as_array().unwrap();
    features.iter().map(|feature| (feature["geometry"].clone(), feature["properties"].clone())).collect()
}

#[test]
fn paths_and_trees_are_drawn_on_a_map() {
    let folder = towns();
    folder
        .file("places.csv", "vertex,x,y\n\"Bath, Somerset\",-2.4,51.4\nNew York,-74,40.7\nRio,-43,-23\nOslo,10.7,60\n");
    folder.file("pairs.csv", "\"Bath, Somerset\",Rio\nRio,Lima\nRio,Rio\n");
    folder.run(&format!("{GRAPH} --pairs pairs.csv --output x.geojson --coordinates places.csv --quiet")).ok();
    let found = features(&folder, "x.geojson");
    let line = json!({"type": "LineString", "coordinates": [[-2.4, 51.4], [-74.0, 40.7], [-43.0, -23.0]]});
    let properties = json!({"source": "Bath, Somerset", "target": "Rio", "length": 9, "edges": 2});
    assert_eq!(found[0], (line, properties));
    assert_eq!((&found[1].0, &found[1].1["length"]), (&json!(null), &json!(null)));
    assert_eq!(found[2].0, json!({"type": "Point", "coordinates": [-43.0, -23.0]}));
    let sssp = "sssp g.csv --weights km --coordinates places.csv --quiet --source";
    folder.run(&format!("{sssp} Rio --output near.geojson --cutoff 1")).ok();
    let point = json!({"type": "Point", "coordinates": [10.7, 60.0]});
    assert_eq!(features(&folder, "near.geojson")[1], (point, json!({"vertex": "Oslo", "distance": 1})));
    folder.run(&format!("{sssp} Rio --output tree.geojson --predecessors")).ok();
    let line = json!({"type": "LineString", "coordinates": [[-43.0, -23.0], [10.7, 60.0]]});
    let properties = json!({"vertex": "Oslo", "distance": 1, "predecessor": "Rio"});
    assert_eq!(features(&folder, "tree.geojson"), [(line, properties)]);
    // Nothing is half-written.
    folder.run(&format!("{sssp} Lima --output lima.geojson")).fails(2, "no coordinates of vertex `Lima`");
    folder.run(&format!("{GRAPH} Rio Oslo --output y.geojson")).fails(2, "where the vertices lie");
    folder.run(&format!("{GRAPH} Rio Oslo --output y.csv --coordinates places.csv")).fails(2, "in .geojson");
    folder.run(&format!("{GRAPH} Rio Oslo --output places.csv --coordinates places.csv")).fails(2, "in .geojson");
    folder.file("bad.csv", "Rio,1,2\nOslo,3\n");
    folder.run(&format!("{GRAPH} Rio Oslo --output y.geojson --coordinates bad.csv")).fails(2, "bad.csv:2");
    folder.run(&format!("{GRAPH} Rio Oslo --output y.geojson --coordinates bad.txt")).fails(2, ".co or .csv");
    let names = ["bad.csv", "g.csv", "near.geojson", "pairs.csv", "places.csv", "tree.geojson", "x.geojson"];
    assert_eq!(folder.names(), names);
}

#[test]
fn generated_graphs_know_their_coordinates() {
    let folder = Folder::new();
    folder.run("generate grid:2x3 grid.gr --coordinates-output grid.co --quiet").ok();
    assert_eq!(folder.read("grid.co").lines().nth(6), Some("v 6 2000000 1000000"));
    folder.run("path grid.gr 1 2 --output file.geojson --coordinates grid.co --quiet").ok();
    folder.run("path grid:2x3 0 1 --output known.geojson --quiet").ok();
    assert_eq!(folder.read("file.geojson"), folder.read("known.geojson"));
    assert_eq!(features(&folder, "known.geojson")[0].0["coordinates"], json!([[0.0, 0.0], [1.0, 0.0]]));
    folder.run("generate roads:200 roads.wpg --coordinates-output roads.csv --quiet").ok();
    assert_eq!(folder.read("roads.csv").lines().count(), 201);
    folder.run("generate roads:200 roads.wpg --coordinates-output packed.csv.gz --quiet").ok();
    assert!(std::fs::read(folder.path().join("packed.csv.gz")).unwrap().starts_with(b"\x1f\x8b"));
    let map = |coordinates: &str| {
        folder.run(&format!("path roads.wpg 0 9 --coordinates {coordinates} --output map.geojson --quiet")).ok();
        folder.read("map.geojson")
    };
    assert_eq!(map("packed.csv.gz"), map("roads.csv"));
    folder.run("generate kron:5 k.wpg --coordinates-output k.csv").fails(2, "grid, rgg and roads");
    folder.run("generate grid:2x3 x.csv --coordinates-output x.csv").fails(2, "x.csv");
    folder.run("generate grid:2x3 x.wpg --coordinates-output x.txt").fails(2, ".co or .csv");
    assert!(
        !folder.names().iter().any(|name| name.starts_with('x') || name.starts_with('k') && name != "known.geojson")
    );
}

#[test]
fn the_places_of_a_component_are_those_of_the_whole_graph() {
    let folder = Folder::new();
    let graph = "rgg:8,radius=0.05";
    let text = folder.run(&format!("convert {graph} - --output-format edge-list --largest-component --quiet")).ok();
    let edge = text.lines().find(|line| !line.starts_with('#')).unwrap();
    let (from, to) = edge.split_once(' ').unwrap();
    assert_ne!(from, "0", "the component has to have other numbers than the graph");
    for (name, option) in [("whole", ""), ("part", "--largest-component")] {
        folder.run(&format!("bfs {graph} {option} --source {from} --output {name}.geojson --quiet")).ok();
        folder.run(&format!("path {graph} {option} {from} {to} --output path-{name}.geojson --quiet")).ok();
        folder.run(&format!("generate {graph} {option} {name}.wpg --coordinates-output {name}.csv --quiet")).ok();
    }
    assert_eq!(folder.read("part.geojson"), folder.read("whole.geojson"));
    assert_eq!(folder.read("path-part.geojson"), folder.read("path-whole.geojson"));
    let whole = folder.read("whole.csv");
    let part = folder.read("part.csv");
    assert!(part.lines().count() > 2 && part.lines().all(|line| whole.lines().any(|other| other == line)), "{part}");
}

#[test]
fn the_plan_has_the_paths_and_the_coordinates() {
    let folder = Folder::new();
    folder.file("pairs.csv", "0,9999\n5,77\n77,5\n");
    let bytes = |arguments: &str, what: &str| -> Option<u64> {
        let found = folder.run(&format!("{arguments} --plan --json")).json();
        let items = found["plan"].as_array().unwrap().clone();
        let item = items.iter().find(|item| item["what"].as_str().unwrap().starts_with(what))?;
        assert!(found["memory_bytes"].as_u64() >= item["bytes"].as_u64());
        item["bytes"].as_u64()
    };
    let pairs = "path grid:100x100 --pairs pairs.csv";
    // On a square of 100 x 100 vertices, 150 edges are expected: for each path 151 vertices of four bytes.
    assert_eq!(bytes(&format!("{pairs} --output x.csv"), "the paths"), Some(3 * 151 * 4));
    assert_eq!(bytes(pairs, "the paths"), None);
    let places = "the coordinates";
    for arguments in [pairs, "path grid:100x100 0 7", "bfs grid:100x100 --source 0"] {
        assert_eq!(bytes(&format!("{arguments} --output x.geojson"), places), Some(10_000 * 24), "{arguments}");
        assert_eq!(bytes(&format!("{arguments} --output x.csv"), places), None, "{arguments}");
    }
}
