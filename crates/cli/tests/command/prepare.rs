//! `warpath prepare`: a hierarchy beside its graph, what `info` and `convert` make of it, and orders that are none.

use crate::common::Folder;

/// A square of four vertices with a tail, undirected.
const SQUARE: &str = "a b\nb c\nc d\nd a\nd e\n";

#[test]
fn a_prepared_graph_is_the_graph_with_its_hierarchy() {
    let folder = Folder::new();
    folder.file("square.txt", SQUARE);
    let prepared = folder.run("prepare square.txt --undirected --output square.wpg --json").json();
    assert_eq!((&prepared["command"], &prepared["output"]), (&"prepare".into(), &"square.wpg".into()));
    assert_eq!(prepared["bytes"].as_u64(), Some(folder.path().join("square.wpg").metadata().unwrap().len()));
    assert_eq!(prepared["graph"]["arcs"], 10);
    // Five edges, and one shortcut across the square.
    let hierarchy = &prepared["hierarchy"];
    assert_eq!((&hierarchy["shortcuts"], &hierarchy["edges"], &hierarchy["width"]), (&6.into(), &5.into(), &2.into()));
    assert_eq!(folder.run("info square.wpg --json").json()["hierarchy"], *hierarchy);
    assert!(folder.run("info square.wpg").ok().contains("6 shortcuts, 1.20 times the edges; height"));
    assert!(folder.run("info square.txt --json").json().get("hierarchy").is_none());
    // Every command reads the graph in it.
    let distance = folder.run("path square.wpg b e --json").json()["length"].clone();
    assert_eq!(distance, folder.run("path square.txt --undirected b e --json").json()["length"]);
    let shown = folder.run("prepare square.txt --undirected --output shown.wpg --progress always").ok();
    for part in ["hierarchy", "6 shortcuts", "written", "shown.wpg", "order", "eliminate"] {
        assert!(shown.contains(part), "{shown}");
    }
    assert_eq!(folder.run("prepare grid:9x9 --output quiet.wpg --quiet").ok(), "");
}

#[test]
fn every_source_and_every_output_will_do() {
    let folder = Folder::new();
    folder.file("square.txt", SQUARE);
    folder.run("prepare square.txt --output packed.wpg.zst").ok();
    assert!(folder.run("info packed.wpg.zst").ok().contains("hierarchy"));
    folder.run_with("prepare - --undirected --output piped.wpg", SQUARE).ok();
    assert_eq!(folder.run("info piped.wpg --json").json()["hierarchy"]["edges"], 5);
    let streamed = folder.command("prepare square.txt --output -").output().unwrap();
    assert!(streamed.status.success() && streamed.stderr.is_empty());
    folder.file("streamed.wpg", streamed.stdout);
    assert!(folder.run("info streamed.wpg").ok().contains("hierarchy"));
    folder.file("empty.txt", "");
    folder.run("prepare grid:1x1 --output one.wpg").ok();
    assert_eq!(folder.run("info one.wpg --json").json()["hierarchy"]["shortcuts"], 0);
    folder.run("prepare roads:2000 --weights random:1..9 --largest-component --output roads.wpg").ok();
    assert_eq!(folder.run("info roads.wpg --json").json()["weights"], "u32");
}

#[test]
fn convert_keeps_a_hierarchy() {
    let folder = Folder::new();
    folder.file("square.txt", format!("{SQUARE}x y\n"));
    folder.run("prepare square.txt --undirected --output square.wpg").ok();
    let hierarchy = folder.run("info square.wpg --json").json()["hierarchy"].clone();
    folder.run("convert square.wpg again.wpg.gz").ok();
    assert_eq!(folder.run("info again.wpg.gz --json").json()["hierarchy"], hierarchy);
    // Another direction and other weights change no edge.
    folder.run("convert square.wpg other.wpg --directed --weights random:1..9").ok();
    assert_eq!(folder.run("info other.wpg --json").json()["hierarchy"], hierarchy);
    let part = folder.run("convert square.wpg part.wpg --largest-component");
    assert!(part.stderr.contains("note: the hierarchy in the file is that of the whole graph"), "{part:?}");
    assert!(folder.run("info part.wpg --json").json().get("hierarchy").is_none());
    folder.run("convert square.wpg square.csv").ok();
    folder.run("convert square.csv plain.wpg").ok();
    assert!(folder.run("info plain.wpg --json").json().get("hierarchy").is_none());
}

#[test]
fn an_order_of_ones_own_is_taken() {
    let folder = Folder::new();
    folder.file("star.txt", "hub a\nhub b\nhub c\nhub d\n");
    folder.file("good.txt", "# leaves first\na\n\nb\nc\nd\nhub\n");
    folder.file("bad.txt.gz", {
        // The hub first makes a clique of the leaves.
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        std::io::Write::write_all(&mut packer, b"hub\r\na\r\nb\r\nc\r\nd").unwrap();
        packer.finish().unwrap()
    });
    let shortcuts = |order: &str| {
        let prepared = folder.run(&format!("prepare star.txt --order {order} --output star.wpg --json")).json();
        prepared["hierarchy"]["shortcuts"].as_u64()
    };
    assert_eq!((shortcuts("good.txt"), shortcuts("bad.txt.gz")), (Some(4), Some(10)));
}

#[test]
fn what_is_no_order_is_refused_by_its_line() {
    let folder = Folder::new();
    folder.file("square.txt", SQUARE);
    for (order, message) in [
        ("a\nb\nz\n", "order.txt:3: the graph has no vertex named `z`"),
        ("a\nb\n# a\n\na\n", "order.txt:5: the order has this vertex in line 1 already"),
        ("a\nb\nc\nd\n", "order.txt: the order lacks 1 vertex: `e`"),
        ("e\nb\n", "order.txt: the order lacks 3 vertices, of which the first is `a`"),
        ("", "order.txt: the order lacks 5 vertices, of which the first is `a`"),
        ("a\n\u{e4}\n", "order.txt:2: the graph has no vertex named"),
    ] {
        folder.file("order.txt", order);
        folder.run("prepare square.txt --order order.txt --output x.wpg").fails(2, message);
    }
    folder.run("prepare square.txt --order none.txt --output x.wpg").fails(2, "none.txt: No such file");
    assert_eq!(folder.names(), ["order.txt", "square.txt"]);
}

#[test]
fn outputs_are_checked_before_the_work() {
    let folder = Folder::new();
    folder.file("square.wpg", "");
    folder.run("prepare nowhere --output x.gr").fails(2, "`x.gr`: a hierarchy is written to a .wpg");
    folder.run("prepare nowhere --output x").fails(2, "`x`: a hierarchy is written to a .wpg");
    folder.run("prepare nowhere --output none/x.wpg").fails(2, "none/x.wpg: No such file");
    folder.run("prepare nowhere --output x.wpg").fails(2, "nowhere: No such file");
    folder.run("prepare nowhere --output x.wpg --order x.wpg").fails(2, "`x.wpg` would replace the input `x.wpg`");
    folder.run("prepare square.wpg --output square.wpg").fails(2, "square.wpg");
    folder.run("prepare nowhere --output - --json").fails(2, "both want standard output");
    assert_eq!(folder.names(), ["square.wpg"]);
}

#[test]
fn a_graph_without_separators_is_refused() {
    let folder = Folder::new();
    folder.run("prepare kron:10 --memory 10K --output x.wpg").fails(3, "of memory (available: 10.0 KiB)");
    folder.run("prepare kron:10 --memory 1M --output x.wpg").fails(2, "the graph has no small separators");
    assert!(folder.names().is_empty());
}

#[test]
fn a_damaged_hierarchy_is_refused_where_it_is_read() {
    let folder = Folder::new();
    folder.run("prepare grid:400x400 --output grid.wpg").ok();
    let mut bytes = std::fs::read(folder.path().join("grid.wpg")).unwrap();
    let place = bytes.len() - (1 << 20);
    bytes[place] ^= 1;
    folder.file("grid.wpg", bytes);
    folder.run("info grid.wpg").fails(2, "grid.wpg: the `.wpg` file is damaged: the checksum of the block");
    folder.run("convert grid.wpg x.wpg").fails(2, "grid.wpg: the `.wpg` file is damaged");
    // The graph is whole.
    assert!(folder.run("bfs grid.wpg --source 0 --json").json()["reached"] == 160_000);
}

#[test]
fn searches_and_pairs_are_answered_from_the_hierarchy() {
    let folder = Folder::new();
    folder.run("convert roads:3000 roads.gr --largest-component --weights random:1..100").ok();
    folder.run("prepare roads.gr --output roads.wpg").ok();
    let vertices = folder.run("info roads.gr --json").json()["vertices"].as_u64().unwrap();
    folder.file("sources.txt", (1..=60).map(|v| format!("{v}\n")).collect::<String>());
    folder.file("pairs.txt", (1..=200).map(|v| format!("{v} {}\n", vertices - v)).collect::<String>());
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for (options, output) in [
        ("sssp GRAPH --source 5 --verify --predecessors", "tree"),
        ("sssp GRAPH --source 5 --reverse --predecessors", "reversed"),
        ("sssp GRAPH --source 5 --source 70 --verify", "nearest"),
        ("sssp GRAPH --sources sources.txt --verify", "each"),
    ] {
        let (right, found) = (format!("{output}-right.csv"), format!("{output}-found.csv"));
        folder.run(&format!("{} --output {right}", options.replace("GRAPH", "roads.gr"))).ok();
        let by = format!("{} --algorithm hierarchy --output {found} --json", options.replace("GRAPH", "roads.wpg"));
        assert_eq!(folder.run(&by).json()["algorithm"], "hierarchy", "{options}");
        assert_eq!(text(&found), text(&right), "{options}");
        // The hierarchy is made where the file has none.
        folder.run(&by.replace("roads.wpg", "roads.gr")).json();
        assert_eq!(text(&found), text(&right), "{options}");
    }
    assert_eq!(folder.run("sssp roads.wpg --sources sources.txt --json").json()["algorithm"], "hierarchy");
    let found = folder.run("path roads.wpg --pairs pairs.txt --json").json();
    assert_eq!(found["algorithm"], "hierarchy");
    assert_eq!(found["pairs"], folder.run("path roads.gr --pairs pairs.txt --json").json()["pairs"]);
    folder.file("targets.txt", "7\n70\n700\n");
    for options in
        ["--sources sources.txt --targets targets.txt --verify", "--sources sources.txt", "--reduce eccentricity"]
    {
        folder.run(&format!("apsp roads.gr {options} --output right.csv")).ok();
        let table =
            folder.run(&format!("apsp roads.wpg {options} --algorithm hierarchy --output found.csv --json")).json();
        assert_eq!(table["algorithm"], "hierarchy", "{options}");
        assert_eq!(text("found.csv"), text("right.csv"), "{options}");
    }
    assert_eq!(
        folder.run("apsp roads.wpg --sources sources.txt --targets targets.txt --json").json()["algorithm"],
        "hierarchy"
    );
    // Other weights need no other hierarchy; floats are not for it.
    let options = "roads.wpg --weights random:1..9 --source 5 --verify";
    let other = folder.run(&format!("sssp {options} --algorithm hierarchy --json")).json();
    assert_eq!(other["farthest"], folder.run(&format!("sssp {options} --json")).json()["farthest"]);
    folder.file("floats.txt", "a b 0.5\nb c 1.5\n");
    folder.run("sssp floats.txt --source a --algorithm hierarchy").fails(2, "weights that are integers");
    folder.run("bfs roads.wpg --source 5 --verify").ok();
}
