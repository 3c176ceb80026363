//! How input is understood: separators, headers, columns, line ends, foreign formats; and what is said about it.

use crate::common::Folder;
use serde_json::Value;

/// The edges that `convert` writes, without its comments.
fn edges(folder: &Folder, arguments: &str) -> Vec<String> {
    let text = folder.run(&format!("convert {arguments} - --output-format edge-list --quiet")).ok();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn semicolons_may_come_with_decimal_commas() {
    let folder = Folder::new();
    folder.file("plain.csv", "1;2;1,5\n2;3;2\n");
    folder.file("header.csv", "from;to;km\nKöln;Bonn;27,5\nBonn;Köln;27,5\n");
    assert_eq!(edges(&folder, "plain.csv"), ["1 2 1.5", "2 3 2.0"]);
    assert_eq!(edges(&folder, "header.csv"), ["Köln Bonn 27.5", "Bonn Köln 27.5"]);
    let run = folder.run("info plain.csv");
    assert!(run.stderr.contains("weights such as `1,5` are read with a decimal comma"), "{run:?}");
    folder.run("info plain.csv --decimal point").fails(2, "plain.csv:1:5: a weight has to be a finite number");
    folder.file("tabs.tsv", "1\t2\t1,5\n");
    folder.run("info tabs.tsv").fails(2, "`--decimal comma`");
    assert_eq!(edges(&folder, "tabs.tsv --decimal comma"), ["1 2 1.5"]);
}

#[test]
fn what_can_be_read_in_two_ways_is_refused_with_the_options() {
    let folder = Folder::new();
    folder.file("g.txt", "alice bob\t3\ncarol dave\t4\n");
    let message = "`carol` and `dave` and `4` with `--separator blank`, `carol dave` and `4` with `--separator tab`";
    folder.run("info g.txt").fails(2, message);
    assert_eq!(edges(&folder, "g.txt --separator blank"), ["alice bob 3", "carol dave 4"]);
    assert_eq!(edges(&folder, "g.txt --separator tab"), ["\"alice bob\",\"3\"", "\"carol dave\",\"4\""]);
    folder.file("commas.csv", "1,5;2,5\n");
    folder.run("info commas.csv").fails(2, "the separator of columns is unclear");
    folder.file("uv.txt", "u v\nx y\n");
    folder.run("info uv.txt").fails(2, "uv.txt:1:1: this line may be a header or an edge: `--first-line header`");
    assert_eq!(edges(&folder, "uv.txt --first-line header"), ["x y"]);
    assert_eq!(edges(&folder, "uv.txt --first-line edge"), ["u v", "x y"]);
}

#[test]
fn a_first_edge_is_no_header() {
    let folder = Folder::new();
    for weight in ["nan", "inf", "NA", "-inf", "null"] {
        folder.file("g.txt", format!("a b {weight}\nb c 3\n"));
        folder.run("sssp g.txt --source b").fails(2, "g.txt:1:5: a weight has to be a finite number");
    }
    folder.file("mixed.txt", "a b\t2\nb\tc\t3\n");
    assert_eq!(edges(&folder, "mixed.txt"), ["a b 2", "b c 3"]);
    // A name far below the first lines shows that the first is no header.
    let mut text = "start stop weight\n".to_owned();
    (0..500).for_each(|v| text += &format!("v{v} v{} 1\n", v + 1));
    folder.file("late.txt", &text);
    let run = folder.run("info late.txt");
    assert!(run.stderr.contains("the first line is read as a header: edges lead from `start` to `stop`"), "{run:?}");
    folder.file("late.txt", text + "stop v7 1\n");
    folder.run("info late.txt").fails(2, "late.txt:1:1: this line may be a header or an edge");
    assert_eq!(folder.run("info late.txt --first-line header --json").json()["lines"], 501);
}

#[test]
fn a_header_tells_which_columns_hold_what() {
    let folder = Folder::new();
    folder.file("g.csv", "id,source,target,minutes\n1,LIS,OPO,55\n2,OPO,MAD,70\n");
    assert_eq!(edges(&folder, "g.csv"), ["LIS OPO 55", "OPO MAD 70"]);
    let run = folder.run("info g.csv");
    let note = "edges lead from `source` to `target`, the weights are `minutes`";
    assert!(run.stderr.contains(note), "{run:?}");
    assert_eq!(folder.run("info g.csv --quiet").stderr, "");
    folder.file("w.csv", "weight,source,target\n5,a,b\n");
    assert_eq!(edges(&folder, "w.csv"), ["a b 5"]);
    folder.file("arcs.csv", "head,tail\nb,a\n");
    assert_eq!(edges(&folder, "arcs.csv"), ["a b"]);
    folder.file("unclear.csv", "id,x,y,minutes\n1,a,b,5\n");
    folder.run("info unclear.csv").fails(2, "`--from COLUMN --to COLUMN`");
    assert_eq!(edges(&folder, "unclear.csv --from x --to 3"), ["a b 5"]);
    assert_eq!(edges(&folder, "unclear.csv --from y --to x --weights id"), ["b a 1"]);
    folder.run("info unclear.csv --from x").fails(2, "required arguments were not provided");
    folder.run("info unclear.csv --from x --to z").fails(2, "there is no column `z`; there are id, x, y, minutes");
    folder.run("info unclear.csv --from 0 --to 1").fails(2, "columns are counted from 1");
    folder.run("info grid:3x3 --from 1 --to 2").fails(2, "`--from` is for files");
    // Positions of `path` are vertices, not columns.
    assert!(folder.run("path unclear.csv a b --from x --to y").ok().contains("a"));
    folder.file("bare.txt", "7 1 2 5\n8 2 3 6\n");
    assert_eq!(edges(&folder, "bare.txt --from 2 --to 3"), ["1 2 5", "2 3 6"]);
    folder.run("convert bare.txt x.gr --from 2 --to 3 --quiet").ok();
    folder.run("info x.gr --from 1 --to 2").fails(2, "`--from` is for edge lists, but this is read as dimacs");
}

#[test]
fn carriage_returns_alone_end_lines_or_are_refused() {
    let folder = Folder::new();
    folder.file("mac.txt", "# from a Mac\r1 2\r2 3\r3 4\r");
    assert_eq!(edges(&folder, "mac.txt"), ["1 2", "2 3", "3 4"]);
    folder.file("mac.gr", "c from a Mac\rp sp 3 2\ra 1 2 5\ra 2 3 6\r");
    assert_eq!(folder.run("info mac.gr --json").json()["arcs"], 2);
    folder.file("mixed.txt", "1 2\n2 3\r3 4\n");
    folder.run("info mixed.txt").fails(2, "mixed.txt:2:4: a carriage return stands inside a line");
}

#[test]
fn what_is_no_graph_is_named() {
    let folder = Folder::new();
    for (name, content, kind) in [
        ("g.json", &b"{\"elements\": {}}"[..], "JSON without nodes and links"),
        ("g.txt", b"[[1, 2], [2, 3]]\n", "JSON"),
        ("g.graphml", b"<?xml version=\"1.0\"?>\n<gexf></gexf>", "GEXF"),
        ("g.gml", b"<?xml version=\"1.0\"?>\n<gml:FeatureCollection/>", "XML"),
        ("g.xlsx", b"PK\x03\x04....[Content_Types].xml....xl/workbook.xml", "a workbook of Excel"),
        ("old", b"FEA1\0\0\0\0", "a Feather file of version 1"),
        ("g.pdf", b"%PDF-1.7\n%more\n", "a PDF document"),
        ("404.txt", b"<!DOCTYPE html>\n<html>not found</html>", "an HTML page"),
        ("u.csv", b"\xff\xfe1\x00,\x002\x00\n\x00", "text in UTF-16"),
    ] {
        folder.file(name, content);
        folder.run(&format!("info {name}")).fails(2, &format!("{name}: this looks like {kind}"));
    }
}

#[test]
fn large_integers_are_weights() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5000000000\n2 3 4294967296\n");
    let run = folder.run("sssp g.txt --source 1 --verify");
    assert!(run.stderr.contains("so all are read as 64-bit floats"), "{run:?}");
    assert!(run.ok().contains("farthest 9294967296"));
    folder.file("g.txt", "1 2 9007199254740993\n");
    folder.run("sssp g.txt --source 1").fails(2, "g.txt:1:5: a weight is beyond 2^53");
}

#[test]
fn a_table_is_written_as_one_and_reads_back() {
    let folder = Folder::new();
    let text = "from,to,km\n\"Bonn, Hbf\",\"say \"\"hi\"\"\",1.5\n\"say \"\"hi\"\"\",\"1,5\",2\n\"1,5\",New York,3\n";
    folder.file("g.csv", text);
    for (name, first) in [("x.csv", "source,target,weight"), ("x.tsv", "source\ttarget\tweight")] {
        folder.run(&format!("convert g.csv {name} --quiet")).ok();
        let written = folder.read(name);
        assert_eq!(written.lines().next(), Some(first));
        assert!(!written.contains('#') && written.lines().count() == 4, "{written}");
        assert_eq!(edges(&folder, name), edges(&folder, "g.csv"));
    }
    assert!(folder.read("x.csv").contains("\n\"Bonn, Hbf\",\"say \"\"hi\"\"\",1.5\n"));
    for name in ["x.csv.gz", "x.csv.zst", "x.tsv.xz"] {
        folder.run(&format!("convert g.csv {name} --undirected --quiet")).ok();
        let facts = |arguments: &str| {
            let found = folder.run(&format!("apsp {arguments} --json")).json();
            [found["graph"].clone(), found["distance_sum"].clone()]
        };
        assert_eq!(facts(name), facts("g.csv --undirected"), "{name}");
    }
}

#[test]
fn random_weights_have_a_seed() {
    let folder = Folder::new();
    let sum = |graph: &str, weights: &str| -> Value {
        folder.run(&format!("apsp {graph} --weights random:{weights} --json")).json()["distance_sum"].clone()
    };
    let graph = "grid:9x9";
    assert_eq!(sum(graph, "1..1000000"), sum(graph, "1..1000000,seed=1"));
    assert_ne!(sum(graph, "1..1000000"), sum(graph, "1..1000000,seed=2"));
    // The seed of a generator chooses the weights as well.
    assert_ne!(sum("grid:9x9,seed=3", "1..1000000"), sum(graph, "1..1000000"));
    assert_eq!(sum("grid:9x9,seed=3", "1..1000000"), sum(graph, "1..1000000,seed=3"));
    folder.run("convert grid:9x9 g.txt --quiet").ok();
    assert_eq!(sum("g.txt", "1..1000000,seed=3"), sum(graph, "1..1000000,seed=3"));
    folder.run("info g.txt --weights random:1..9,seed=x").fails(2, "`seed=x` is not `seed=N`");
}

#[test]
fn a_direction_that_may_be_none_is_asked_about() {
    let folder = Folder::new();
    // Each edge from the lower to the higher vertex: one edge less is taken for an example without cycles.
    let list = |edges: u32| (0..edges).map(|v| format!("{} {}\n", v / 2, v + 1)).collect::<String>();
    folder.file("few.txt", list(99));
    assert_eq!(folder.run("info few.txt").stderr, "");
    folder.file("once.txt", list(100));
    let note = "`--undirected` takes the edges both ways";
    assert!(folder.run("info once.txt").stderr.contains(note));
    for arguments in ["once.txt --directed", "once.txt --undirected"] {
        assert_eq!(folder.run(&format!("info {arguments}")).stderr, "", "{arguments}");
    }
    folder.file("both.txt", list(100) + "1 0\n");
    assert_eq!(folder.run("info both.txt").stderr, "");
    folder.file("said.txt", "# Directed graph: citations\n".to_owned() + &list(100));
    assert_eq!(folder.run("info said.txt").stderr, "");
}

#[test]
fn a_third_column_is_said_to_be_the_weights() {
    let folder = Folder::new();
    folder.file("g.txt", "0 1 7\n1 0 7\n");
    let note =
        "note: column 3 is read as the weights; `--weights COLUMN` takes another column, `--weights unit` none\n";
    assert_eq!(folder.run("sssp g.txt --source 0").stderr, note);
    for arguments in
        ["sssp g.txt --source 0 --weights 3", "sssp g.txt --source 0 --weights unit", "bfs g.txt --source 0"]
    {
        assert_eq!(folder.run(arguments).stderr, "", "{arguments}");
    }
}

#[test]
fn a_search_without_weights_takes_any_third_column() {
    let folder = Folder::new();
    folder.file("streets.txt", "1 2 Elm\n2 1 Elm\n2 3 Oak\n");
    folder.file("streets.csv", "source,target,street\n1,2,Elm\n2,1,Elm\n2,3,Oak\n");
    for file in ["streets.txt", "streets.csv"] {
        let run = folder.run(&format!("bfs {file} --source 1 --target 3 --json"));
        let note = "note: column 3 holds no numbers; it is not read, for no weights are needed\n";
        assert!(run.stderr.ends_with(note), "{run:?}");
        assert_eq!(run.json()["reached"], 3, "{file}");
        folder.run(&format!("components {file} --strong")).ok();
        folder.run(&format!("bfs {file} --source 1 --weights 3")).fails(2, "a weight has to be a finite number");
        folder.run(&format!("sssp {file} --source 1")).fails(2, "a weight has to be a finite number");
    }
    // Numbers are weights, which nobody needs: there is nothing to say.
    folder.file("lengths.txt", "1 2 7\n2 1 7\n2 3 9\n");
    assert_eq!(folder.run("bfs lengths.txt --source 1").stderr, "");
}

#[test]
fn a_first_line_unlike_the_others_is_noted() {
    let folder = Folder::new();
    folder.file("courses.csv", "course,requires\nalgebra,logic\ncalculus,algebra\n");
    let note = "no other line has one of its names, `course` and `requires`; if it is a header, `--first-line header`";
    for command in ["info courses.csv", "bfs courses.csv --source logic"] {
        let run = folder.run(command);
        assert!(run.stderr.contains(note), "{run:?}");
        run.ok();
    }
    assert_eq!(folder.run("info courses.csv --first-line header --json").json()["vertices"], 3);
    for (name, text) in [
        ("told.csv", "--first-line edge"),
        ("one.csv", ""),
        ("numbers.csv", ""),
        ("shared.csv", ""),
        ("weights.csv", ""),
    ] {
        let list = match name {
            "told.csv" => "course,requires\nalgebra,logic\n",
            "one.csv" => "course,requires\n",
            "numbers.csv" => "1,2\n3,4\n",
            "shared.csv" => "course,requires\nalgebra,logic\nlogic,course\n",
            _ => "course,requires,1\nalgebra,logic,2\n",
        };
        folder.file(name, list);
        let run = folder.run(&format!("info {name} {text}"));
        assert!(!run.stderr.contains("no other line"), "{run:?}");
        run.ok();
    }
}
