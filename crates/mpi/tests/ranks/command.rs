//! The command on ranks: its files are those of one machine, and its failures end all ranks.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use warpath::graph::{Labels, StringLabels};
use warpath::{GraphBuilder, ReadOptions};

use crate::launcher::{self, Role, alone, launch};

/// All tests with their names.
pub(crate) const TESTS: &[(&str, fn())] = &[
    ("files_are_those_of_one_machine", files_are_those_of_one_machine),
    ("lists_of_edges_are_shared_out", lists_of_edges_are_shared_out),
    ("answers_are_printed_once", answers_are_printed_once),
    ("bad_requests_get_one_error", bad_requests_get_one_error),
    ("graph500_has_the_edges_of_one_machine", graph500_has_the_edges_of_one_machine),
    ("ranks_take_gpus_if_asked", ranks_take_gpus_if_asked),
    ("a_rank_that_dies_ends_all", a_rank_that_dies_ends_all),
    ("a_silent_rank_ends_all", a_silent_rank_ends_all),
    ("a_rank_that_is_silent_over_its_rows_ends_all", a_rank_that_is_silent_over_its_rows_ends_all),
    ("interrupted_ranks_leave_nothing", interrupted_ranks_leave_nothing),
    ("killed_ranks_are_resumed", killed_ranks_are_resumed),
];

/// What a command prints. Objects of JSON have to be as docs/warpath.schema.json describes them.
#[track_caller]
pub(crate) fn output_of(command: &mut Command) -> (Output, String, String) {
    let output = command.output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, error) = (text(&output.stdout), text(&output.stderr));
    out.lines().filter(|line| line.starts_with('{')).for_each(check_object);
    (output, out, error)
}

#[track_caller]
fn check_object(text: &str) {
    static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
        let schema = include_str!("../../../../docs/warpath.schema.json");
        jsonschema::draft202012::new(&serde_json::from_str(schema).expect("JSON")).expect("a schema")
    });
    let object = serde_json::from_str(text).expect("JSON");
    let faults: Vec<String> = SCHEMA.iter_errors(&object).map(|error| error.to_string()).collect();
    assert!(faults.is_empty(), "{text}\nis not as the schema has it: {faults:#?}");
}

/// Runs a command on ranks, and on one machine; both write a file, and the files are equal.
pub(crate) fn compare(folder: &Path, ranks: usize, arguments: &[&str], extension: &str) {
    let [one, other] = ["ranks", "alone"].map(|name| folder.join(format!("{name}.{extension}")));
    let to = |path: &Path| ["--output".to_owned(), path.display().to_string(), "--quiet".to_owned()];
    let with = |engine: &str, path: &Path| {
        let mut all: Vec<String> = arguments.iter().map(|&word| word.to_owned()).collect();
        all.extend(["--engine".to_owned(), engine.to_owned()]);
        all.extend(to(path));
        all
    };
    let words = with("mpi", &one);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (output, _, error) = output_of(&mut launch(Role::Command, ranks, &words));
    assert!(output.status.success(), "{arguments:?} on {ranks} ranks: {error}");
    let words = with("cpu", &other);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    assert!(alone(&words).status().expect("it starts").success());
    let bytes = [one, other].map(|path| std::fs::read(path).expect("a file"));
    assert!(bytes[0] == bytes[1], "{arguments:?} on {ranks} ranks");
}

fn files_are_those_of_one_machine() {
    let folder = tempfile::tempdir().expect("a folder");
    let kron = ["bfs", "kron:9", "--source", "3"];
    compare(folder.path(), 3, &kron, "npy");
    let roads = ["sssp", "roads:900", "--source", "5", "--predecessors", "--verify"];
    compare(folder.path(), 4, &roads, "csv");
    let random = ["sssp", "grid:20x20", "--weights", "random:0..3,seed=4", "--source", "7", "--source", "390"];
    compare(folder.path(), 2, &random, "npy");
    compare(folder.path(), 3, &random, "csv");
    let several = [
        "bfs",
        "crawl:800,reciprocity=0.5",
        "--source",
        "700",
        "--source",
        "3",
        "--predecessors",
        "--reverse",
        "--all-rows",
        "--cutoff",
        "3",
    ];
    compare(folder.path(), 4, &several, "csv");
    // Buckets so narrow that their numbers meet the end of the range, and one that holds all.
    let lattice = ["sssp", "grid:20x20", "--weights", "random:1..100", "--source", "0", "--verify", "--quiet"];
    for delta in ["delta-stepping:delta=1e-20", "delta-stepping:delta=1e20"] {
        let mut words = lattice.to_vec();
        words.extend(["--engine", "mpi", "--algorithm", delta]);
        let (ended, _, error) = output_of(&mut launch(Role::Command, 2, &words));
        assert!(ended.status.success(), "{delta}: {error}");
    }
    let near = [
        "sssp",
        "crawl:900",
        "--weights",
        "random:1..9",
        "--source",
        "5",
        "--reverse",
        "--predecessors",
        "--cutoff",
        "12",
    ];
    compare(folder.path(), 3, &near, "csv");
    let list = folder.path().join("sources.txt");
    std::fs::write(&list, "5\n# none\n\n7\n5\n399\n").expect("a file");
    let list = list.display().to_string();
    let each = ["sssp", "grid:20x20,weights=0..9", "--sources", &list, "--predecessors", "--cutoff", "20"];
    compare(folder.path(), 3, &each, "csv");
    compare(folder.path(), 2, &["bfs", "crawl:600", "--sources", &list, "--all-rows", "--target", "9"], "csv");
    let to =
        ["bfs", "grid:30x30", "--source", "5", "--target", "99", "--target", "420", "--predecessors", "--all-rows"];
    compare(folder.path(), 2, &to, "csv");
    compare(folder.path(), 3, &["components", "kron:9"], "npy");
    compare(folder.path(), 4, &["components", "crawl:700"], "csv");
    let empty = folder.path().join("empty.wpg");
    warpath::write(&GraphBuilder::new().vertices(0).build_from::<(u32, u32)>([]).expect("a graph"), &empty)
        .expect("a file");
    compare(folder.path(), 2, &["apsp", &empty.display().to_string()], "npy");
    // Names that are words, with commas, and names that are numbers with gaps.
    let mut words = StringLabels::new();
    let mut numbers = Vec::new();
    for vertex in 0..60_u64 {
        words.intern(&format!("v{}, {}", vertex % 7, vertex)).expect("a name");
        numbers.push(vertex * vertex);
    }
    for (labels, source) in [(Labels::Strings(words), "v3, 10"), (Labels::Integers(numbers), "100")] {
        let edges = (0..59).map(|v| (v, (v * 7 + 1) % 60, v % 4 + 1));
        let graph = GraphBuilder::new().labels(labels).build_from(edges).expect("a graph");
        let path = folder.path().join("named.wpg");
        warpath::write(&graph, &path).expect("a file");
        assert_eq!(ReadOptions::new().read(&path).expect("a graph").vertices(), 60);
        let path = path.display().to_string();
        compare(folder.path(), 3, &["sssp", &path, "--source", source, "--predecessors"], "csv");
        compare(folder.path(), 2, &["components", &path], "csv");
    }
}

fn lists_of_edges_are_shared_out() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("list.txt");
    let name = path.display().to_string();
    let lines = |count: u64, line: &dyn Fn(u64) -> String| (0..count).map(line).collect::<String>();
    // Consecutive names, names with gaps, isolated vertices, a header; weights of each type.
    let texts = [
        lines(300, &|k| format!("{} {}\n", 5 + k * 7 % 50, 5 + k * k % 50)),
        lines(300, &|k| format!("{} {} {}\n", k * k % 97 * 1000, k * 31 % 97 * 1000, k % 9)),
        format!("# Undirected graph\n# Nodes: 90 Edges: 80\n{}", lines(80, &|k| format!("{} {}\n", k % 7, k % 31))),
        format!("# Node: 77777\n{}", lines(80, &|k| format!("{} {} 0.{}\n", k % 13 * 3, k % 31 * 3, k % 10))),
        format!("from,minutes,to\n{}", lines(90, &|k| format!("{},{},{}\n", k % 17, k, k % 13))),
        "0 0\n".into(),
    ];
    for (turn, text) in texts.iter().enumerate() {
        std::fs::write(&path, text).expect("a file");
        let first = ["5", "0", "0", "0", "0", "0"][turn];
        let ranks = 2 + turn % 3;
        compare(folder.path(), ranks, &["sssp", &name, "--source", first, "--predecessors"], "csv");
        compare(folder.path(), ranks + 1, &["bfs", &name, "--source", first, "--undirected"], "npy");
    }
    compare(folder.path(), 3, &["components", &name], "csv");
    // Words as names, in the order in which they appear; some only in comments, or in the lines of some ranks.
    let words = [
        lines(200, &|k| format!("v{} v{} {}\n", k * k % 97, k * 31 % 97, k % 9)),
        format!("# Undirected graph\n# Node: alone\n{}", lines(90, &|k| format!("a{} 07{}\n", k % 7, k % 31))),
        format!("from,to\n{}", lines(90, &|k| format!("\"x, {}\",{}\n", k % 17, if k == 80 { "Zürich" } else { "5" }))),
        lines(60, &|k| format!("{k} {}\n", if k == 59 { "the end".replace(' ', "_") } else { (k + 1).to_string() })),
    ];
    for ((turn, text), source) in words.iter().enumerate().zip(["v1", "alone", "x, 3", "0"]) {
        std::fs::write(&path, text).expect("a file");
        let ranks = 1 + turn % 4;
        compare(folder.path(), ranks + 1, &["sssp", &name, "--source", source, "--predecessors", "--verify"], "csv");
        compare(folder.path(), ranks, &["bfs", &name, "--source", source, "--undirected"], "npy");
        compare(folder.path(), 3, &["components", &name], "csv");
    }
    std::fs::write(&path, &texts[4]).expect("a file");
    compare(folder.path(), 3, &["sssp", &name, "--source", "0", "--weights", "random:1..9"], "csv");
    compare(
        folder.path(),
        3,
        &["sssp", &name, "--source", "0", "--from", "to", "--to", "from", "--drop-self-loops"],
        "csv",
    );
}

fn answers_are_printed_once() {
    let search = ["bfs", "grid:9x9", "--source", "0", "--target", "80", "--engine", "mpi", "--verify"];
    let (output, out, error) = output_of(&mut launch(Role::Command, 3, &search));
    assert!(output.status.success(), "{error}");
    assert!(out.contains("bfs      direction-optimizing on 3 ranks, u32->u32"), "{out}");
    assert!(out.contains("reached 81 of 81, farthest 16, sum 648, verified"), "{out}");
    assert!(out.contains("to 80    16"), "{out}");
    let (_, out, _) = output_of(launch(Role::Command, 2, &search).arg("--json"));
    assert_eq!(out.lines().count(), 1, "{out}");
    for part in ["\"engine\":\"mpi\"", "\"ranks\":{\"count\":2,", "\"reached\":81,", "\"verified\":true"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (output, out, _) = output_of(launch(Role::Command, 2, &search).arg("--plan"));
    assert!(output.status.success());
    assert!(out.contains("ranks        2 ranks; below is the plan of rank 0"), "{out}");
    assert!(out.contains("it fits"), "{out}");
    for (words, beside) in [
        ("path grid:9x9,weights=1..1 0 10", "2 ranks; below is the plan of rank 0"),
        ("apsp grid:60x60,weights=1..9", "2 ranks, which share the rows out"),
        ("apsp kron:8,weights=1..9 --reduce closeness", "2 ranks, which share the rows out"),
        ("apsp dense:200", "2 ranks; below is the plan of rank 0"),
        ("apsp grid:9x9 --algorithm floyd-warshall-2d", "2 ranks; below is the plan of rank 0"),
        ("components grid:9x9", "2 ranks; below is the plan of rank 0"),
    ] {
        let words: Vec<&str> = words.split(' ').chain(["--engine", "mpi", "--plan"]).collect();
        let (output, out, error) = output_of(&mut launch(Role::Command, 2, &words));
        assert!(output.status.success(), "{words:?}: {error}");
        assert!(out.contains(beside) && out.contains("it fits"), "{words:?}: {out}");
        let (output, out, error) = output_of(launch(Role::Command, 2, &words).arg("--json"));
        assert!(output.status.success() && out.contains("\"plan\":["), "{words:?}: {out}{error}");
    }
    for (graph, code, fits) in [("kron:22", 0, "it fits"), ("kron:38", 3, "it does not fit")] {
        let planned = ["bfs", graph, "--source", "0", "--engine", "mpi", "--plan", "--ranks", "1024"];
        let (output, out, _) = output_of(&mut alone(&planned));
        assert_eq!(output.status.code(), Some(code));
        for part in ["1,024; below is what each takes", "times in a search of", fits] {
            assert!(out.contains(part), "{part}: {out}");
        }
        let (_, out, _) = output_of(alone(&planned).arg("--json"));
        assert!(out.contains("\"traffic\":{\"bytes\":"), "{out}");
    }
    let matrix = ["apsp", "grid:300x400,weights=1..9", "--engine", "mpi", "--algorithm", "floyd-warshall-2d", "--plan"];
    let (output, out, error) = output_of(alone(&matrix).args(["--ranks", "4096"]));
    assert!(output.status.success(), "{error}");
    // 120,000 rows: each rank tells its block of 1,875 x 1,875 cells of two bytes twice, and crossings.
    for part in ["4,096; below is what each takes", "its block of the matrix", "13.5 MiB in ", "it fits"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let sets = ["components", "kron:20", "--engine", "mpi", "--plan", "--ranks", "4"];
    let (output, out, error) = output_of(&mut alone(&sets));
    assert!(output.status.success() && out.contains("of labels in 2 rounds"), "{out}{error}");
    let (_, out, error) = output_of(alone(&sets).arg("--json"));
    assert!(out.contains("\"rounds\":2"), "{out}{error}");
    let (_, out, error) = output_of(alone(&matrix).args(["--ranks", "4096", "--json"]));
    assert!(out.contains("\"traffic\":{\"bytes\":"), "{out}{error}");
    let two = ["bfs", "grid:9x9", "--source", "0", "--source", "80", "--target", "79", "--engine", "mpi"];
    let (_, out, error) = output_of(&mut launch(Role::Command, 3, &two));
    assert!(out.contains("1, from 80\n"), "{out}{error}");
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("sources.txt");
    std::fs::write(&list, "0\n80\n").expect("a file");
    let list = list.display().to_string();
    let each = ["bfs", "grid:9x9", "--sources", &list, "--target", "1", "--engine", "mpi", "--json"];
    let (_, out, error) = output_of(&mut launch(Role::Command, 3, &each));
    assert!(out.contains("\"source\":\"80\",\"reached\":80,") && out.contains("\"distance\":15"), "{out}{error}");
    let path = ["path", "grid:9x9,weights=1..1", "0", "10", "--engine", "mpi", "--verify"];
    let (_, out, error) = output_of(&mut launch(Role::Command, 3, &path));
    assert!(out.contains("length    2 over 2 edges, verified\n") && out.contains("vertices  0 1 10\n"), "{out}{error}");
    let (_, out, error) = output_of(&mut launch(Role::Command, 2, &["components", "grid:9x9", "--engine", "mpi"]));
    assert!(out.contains("1 weakly connected") && out.contains("1 of 81 vertices"), "{out}{error}");
    assert!(out.contains("2 ranks, which sent "), "{out}{error}");
    let info = ["info", "grid:9x9,weights=2..2", "--engine", "mpi"];
    let (_, out, error) = output_of(&mut launch(Role::Command, 3, &info));
    for part in [
        "vertices    81\n",
        "u32 from 2 to 2",
        "2 to 4, 3.56 on average, 0 vertices isolated",
        "about 16 edges",
        "3 ranks",
    ] {
        assert!(out.contains(part), "{part}: {out}{error}");
    }
    for other in [&path[..], &["components", "grid:9x9", "--engine", "mpi"], &["apsp", "grid:5x5", "--engine", "mpi"]] {
        let (output, out, error) = output_of(launch(Role::Command, 2, other).arg("--json"));
        assert!(output.status.success() && out.contains("\"ranks\":{\"count\":2"), "{out}{error}");
    }
    let (_, out, error) = output_of(launch(Role::Command, 2, &info).arg("--json"));
    for part in ["\"engine\":\"mpi\"", "\"components\":{\"count\":1,\"largest\":81}", "\"estimated_diameter\":16"] {
        assert!(out.contains(part), "{part}: {out}{error}");
    }
    let pairs = ["apsp", "grid:5x5", "--engine", "mpi", "--verify"];
    let (_, out, error) = output_of(&mut launch(Role::Command, 2, &pairs));
    assert!(out.contains("625 of 625 pairs, farthest 8, sum 2000, verified"), "{out}{error}");
}

/// The lines of a Graph500 run that do not tell times.
fn edges_of_graph500(command: &mut Command) -> Vec<String> {
    let (output, out, error) = output_of(command);
    assert!(output.status.success(), "{error}");
    let lines = out.lines().filter(|line| ["SCALE", "NBFS", "nedge"].iter().any(|name| line.contains(name)));
    lines.map(str::to_owned).collect()
}

fn graph500_has_the_edges_of_one_machine() {
    let words = |engine| ["bench", "--suite", "graph500", "--quick", "--scale", "9", "--quiet", "--engine", engine];
    let expected = edges_of_graph500(&mut alone(&words("cpu")));
    assert_eq!(expected.len(), 5, "{expected:?}");
    assert_eq!(edges_of_graph500(&mut launch(Role::Command, 3, &words("mpi"))), expected);
}

fn bad_requests_get_one_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let [text, words] = ["graph.gml", "words.txt"].map(|name| folder.path().join(name));
    std::fs::write(&text, "graph [\n]\n").expect("a file");
    std::fs::write(&words, "0 1\n1 b\n2\n").expect("a file");
    let words = words.display().to_string();
    let (text, missing) = (text.display().to_string(), folder.path().join("no.wpg").display().to_string());
    let csv = folder.path().join("out.csv").display().to_string();
    let search = |graph: &str, more: &[&str]| {
        let mut words: Vec<String> = ["bfs", graph, "--source", "0", "--engine", "mpi"].map(str::to_owned).into();
        words.extend(more.iter().map(|&word| word.to_owned()));
        words
    };
    let words_of = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<String>>();
    let check = |command: &mut Command, words: &[String], code: i32, message: &str| {
        let (output, out, error) = output_of(command);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {error}");
        assert_eq!(error.matches(message).count(), 1, "{words:?}: {error}");
        assert_eq!(out, "", "{words:?}");
    };
    for (words, code, message) in [
        (search("grid:3x3", &["--source", "9"]), 2, "no vertex named `9`; its vertices are numbered 0..8"),
        (search("kron:12", &["--memory", "100K", "--output", &csv]), 3, "needs "),
        (search(&text, &[]), 2, "share out .wpg, .sg, .wsg and edge lists"),
        (search(&words, &[]), 2, "words.txt:3:1: "),
        (search("grid:3x3", &["--undirected"]), 2, "`--undirected` is for lists of edges"),
    ] {
        let list: Vec<&str> = words.iter().map(String::as_str).collect();
        check(&mut launch(Role::Command, 3, &list), &words, code, message);
    }
    // One rank without a launcher takes less time.
    for (words, message) in [
        (search("grid:3x3", &["--algorithm", "x"]), "ranks have no algorithm `x`"),
        (search("dense:9", &["--algorithm", "direction-optimizing"]), "needs a graph without directions"),
        (search("grid:3x3", &["--count-paths"]), "`--count-paths` is not possible with `--engine mpi`"),
        (search("kron:99", &[]), "`99` is not a scale from 0 to 48"),
        (search(&missing, &[]), "No such file or directory"),
        (search("grid:3x3", &["--output", "x.txt"]), "ranks write a .csv or a .npy"),
        (search("grid:3x3", &["--output", "/dev/null"]), "ranks write a .csv or a .npy"),
        (search("grid:3x3", &["--plan", "--ranks", "2", "--algorithm", "x"]), "ranks have no algorithm `x`"),
        (
            words_of("apsp grid:3x3 --engine mpi:cuda,messages=nccl"),
            "`messages=nccl` is for searches, not for all pairs",
        ),
        (words_of("info grid:3x3 --engine mpi:messages=fax"), "`messages=` with `mpi`, `cuda-aware` or `nccl`"),
        (words_of("info grid:3x3 --engine mpi:cuda"), "ranks find statistics on their cores"),
        (words_of("components grid:3x3 --engine mpi:parts=4"), "`parts=` is for searches, not for components"),
        (
            words_of("bfs grid:3x3 --source 0 --engine mpi:parts=3"),
            "`parts=N` for blocks of N vertices, a power of two",
        ),
        (words_of("components grid:3x3 --strong --engine mpi"), "`--strong` is not possible with `--engine mpi`"),
        (words_of("components grid:3x3 --engine cuda"), "components are found by `cpu` or `mpi`, not by `cuda`"),
        (
            words_of("apsp grid:3x3 --engine mpi --plan --ranks 4"),
            "`--ranks` plans for `--algorithm floyd-warshall-2d`",
        ),
        (words_of("apsp grid:3x3 --engine mpi --reduce histogram --output x.npy"), "a reduction is written to a .csv"),
        (
            words_of("apsp grid:3x3 --engine mpi --plan --ranks 4 --algorithm floyd-warshall-2d --threads 2"),
            "`--threads` is not possible with `--engine mpi`",
        ),
        (words_of("path grid:3x3 0 8 --engine mpi --plan --ranks 4"), "`--ranks` is for `warpath bfs`"),
        (words_of("path grid:3x3 0 8 --k 2 --engine mpi"), "`--k` is not possible with `--engine mpi`"),
        (words_of("bench --suite peers --engine mpi"), "`--engine mpi` is for `--suite graph500`"),
    ] {
        let list: Vec<&str> = words.iter().map(String::as_str).collect();
        check(&mut alone(&list), &words, 2, message);
    }
    assert!(!Path::new(&csv).exists() && std::fs::read_dir(folder.path()).expect("a folder").count() == 2);
    let (output, _, error) = output_of(&mut alone(&["bfs", "grid:3x3", "--source", "0", "--engine", "mpi:timeout=x"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("`mpi:timeout=x` is not `mpi`, or `mpi:` with `cpu` or `cuda`"), "{error}");
    let both = ["bfs", "grid:3x3", "--source", "0", "--engine", "mpi:cpu,timeout=9,cuda"];
    let (output, _, error) = output_of(&mut alone(&both));
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("says both `cpu` and `cuda`"), "{error}");
    for messages in ["nccl", "cuda-aware"] {
        let engine = format!("mpi:messages={messages}");
        let (output, _, error) = output_of(&mut alone(&["bfs", "grid:3x3", "--source", "0", "--engine", &engine]));
        assert_eq!(output.status.code(), Some(2));
        assert!(error.contains("from GPU to GPU on ranks with GPUs, which `cuda` asks for"), "{error}");
    }
    let (output, _, error) = output_of(&mut alone(&["components", "grid:3x3", "--engine", "mpi:cuda"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("ranks find components on their cores"), "{error}");
    let (output, _, error) = output_of(&mut alone(&["closure", "grid:3x3", "--engine", "mpi"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("`--engine mpi` is for `warpath bfs`, `sssp`"), "{error}");
}

/// Ranks search on GPUs if they are asked to; where there is none, one of them says so.
fn ranks_take_gpus_if_asked() {
    let search = |engine: &'static str| ["bfs", "grid:40x40", "--source", "0", "--json", "--engine", engine];
    let (output, text, error) = output_of(&mut launch(Role::Command, 2, &search("mpi:cuda")));
    match warpath::devices() {
        Ok(_) => {
            assert_eq!(output.status.code(), Some(0), "{error}");
            assert!(text.contains("\"on_gpus\":true"), "{text}");
        }
        Err(_) => {
            assert_eq!(output.status.code(), Some(3), "{error}");
            assert_eq!(error.matches("CUDA").count(), 1, "{error}");
        }
    }
    let (output, text, error) = output_of(&mut alone(&search("mpi:timeout=60,cpu")));
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(text.contains("\"on_gpus\":false"), "{text}");
    // A plan has the memory of devices that are not here.
    let plan = ["bfs", "kron:24", "--source", "0", "--engine", "mpi:cuda", "--plan", "--ranks", "64"];
    let (output, text, error) = output_of(&mut alone(&plan));
    assert_eq!(output.status.code(), Some(0), "{error}");
    assert!(text.contains("the device"), "{text}");
}

/// A search that takes some seconds, and an output that must not be there when it fails.
struct Long {
    folder: tempfile::TempDir,
    launcher: Child,
}

impl Long {
    fn start(timeout: u64) -> Self {
        let engine = format!("mpi:timeout={timeout}");
        let long = Long::of(&["sssp", "grid:2500x2500,weights=1..9", "--source", "0", "--verify", "--engine", &engine]);
        // By now MPI has started: a launcher that is interrupted gives ranks a second to clean up.
        std::thread::sleep(Duration::from_millis(800));
        long
    }

    fn of(words: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let output = folder.path().join("out.npy").display().to_string();
        let mut command = launch(Role::Command, 2, words);
        command.args(["--output", &output]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let launcher = command.spawn().expect("the launcher starts");
        let long = Long { folder, launcher };
        // The file in the making is there before MPI is.
        let deadline = Instant::now() + Duration::from_secs(60);
        while std::fs::read_dir(long.folder.path()).expect("a folder").count() == 0 {
            assert!(Instant::now() < deadline, "the ranks did not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        long
    }

    /// The processes of the ranks: the launcher's children that are this program, or those of its proxy, which MPICH has.
    fn ranks(&self) -> Vec<String> {
        let name = std::env::current_exe().expect("a path");
        let launcher = self.launcher.id().to_string();
        let processes = std::fs::read_dir("/proc").expect("processes").flatten();
        let ids = processes.filter_map(|entry| entry.file_name().into_string().ok());
        let is_rank = |id: &String| {
            let above = launcher::parent_of(id);
            (above == launcher || launcher::parent_of(&above) == launcher)
                && std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|program| program == name)
        };
        ids.filter(is_rank).collect()
    }

    /// The code and the errors, once all have ended; it must not take long.
    fn ended(self) -> (Option<i32>, String) {
        let start = Instant::now();
        let output = self.launcher.wait_with_output().expect("it ends");
        assert!(start.elapsed() < Duration::from_secs(30), "it took {:?} to end", start.elapsed());
        let left: Vec<_> = std::fs::read_dir(self.folder.path()).expect("a folder").flatten().collect();
        assert!(left.is_empty(), "{left:?}");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn signal(name: &str, process: &str) {
    assert!(Command::new("kill").args([name, process]).status().expect("kill starts").success());
}

fn a_rank_that_dies_ends_all() {
    let long = Long::start(20);
    let ranks = long.ranks();
    assert_eq!(ranks.len(), 2);
    signal("-KILL", &ranks[1]);
    let (code, error) = long.ended();
    assert_ne!(code, Some(0), "{error}");
}

fn a_silent_rank_ends_all() {
    let long = Long::start(2);
    let ranks = long.ranks();
    signal("-STOP", &ranks[1]);
    let (code, error) = long.ended();
    assert_eq!(code, Some(3), "{error}");
    assert!(error.contains("waited 2 s for other ranks: one of them, or a link, has failed"), "{error}");
}

/// Waits until rank 0 has entered rows of a matrix with so many vertices and distances of so many bytes.
fn wait_for_rows(partial: &Path, vertices: u64, distance_bytes: u64) {
    use std::io::{Read, Seek, SeekFrom};
    let deadline = Instant::now() + Duration::from_secs(60);
    // Behind the matrix and what a journal begins with, the first entry of rank 0 has the rows that are there.
    let entry = 128 + vertices * vertices * distance_bytes + 24;
    let has_rows = || {
        let mut bytes = [0; 8];
        let mut file = std::fs::File::open(partial)?;
        file.seek(SeekFrom::Start(entry))?;
        file.read_exact(&mut bytes)?;
        std::io::Result::Ok(bytes != [0; 8])
    };
    while !has_rows().unwrap_or(false) {
        assert!(Instant::now() < deadline, "no rows were written");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// A rank falls silent while it has rows to solve: the other one has done its share, and does not wait for ever. Nor would it if rows were
/// resumed.
fn a_rank_that_is_silent_over_its_rows_ends_all() {
    let words = ["apsp", "kron:13", "--weights", "random:1..9", "--memory", "64M", "--engine", "mpi:timeout=3"];
    let long = Long::of(&[&words[..], &["--resume"]].concat());
    wait_for_rows(&long.folder.path().join("out.npy.partial"), 1 << 13, 4);
    signal("-STOP", &long.ranks()[1]);
    let Long { folder, launcher } = long;
    let output = launcher.wait_with_output().expect("it ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{error}");
    assert!(error.contains(" s for other ranks") && error.contains("or a link, has failed"), "{error}");
    assert!(!folder.path().join("out.npy").exists());
}

/// Ranks that are killed while they write a matrix are resumed, and the file becomes that of one machine; also where they had come to 64 bits.
fn killed_ranks_are_resumed() {
    let near = ["random:1..9", "random:1..8"];
    killed_and_resumed("kron:12", 1 << 12, near, 4);
    killed_and_resumed("grid:60x60", 3600, ["random:2000000000..4000000000", "random:2000000000..3999999999"], 8);
}

/// Of a graph with so many vertices, weights and others, and distances of so many bytes.
fn killed_and_resumed(graph: &str, vertices: u64, [weights, other_weights]: [&str; 2], distance_bytes: u64) {
    let folder = tempfile::tempdir().expect("a folder");
    let name = |name: &str| folder.path().join(name).display().to_string();
    let (alone, together) = (name("alone.npy"), name("together.npy"));
    let run = |ranks: usize, weights: &str, more: &[&str]| {
        let mut all = vec!["apsp", graph, "--weights", weights];
        all.extend(more);
        output_of(&mut launch(Role::Command, ranks, &all))
    };
    let (ended, _, error) = run(1, weights, &["--output", &alone, "--quiet"]);
    assert!(ended.status.success(), "{error}");
    // With little memory, rows come in several blocks.
    let on_ranks = ["--engine", "mpi", "--output", &together, "--json", "--memory", "64M"];
    let mut all = vec!["apsp", graph, "--weights", weights];
    all.extend(on_ranks);
    let mut command = launch(Role::Command, 2, &all);
    let launcher = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the launcher starts");
    let mut long = Long { folder: tempfile::tempdir().expect("a folder"), launcher };
    let partial = folder.path().join("together.npy.partial");
    wait_for_rows(&partial, vertices, distance_bytes);
    let ranks = long.ranks();
    ranks.iter().for_each(|rank| signal("-KILL", rank));
    let ended = long.launcher.wait().expect("it ends");
    assert!(!ended.success() && partial.exists());
    // The launcher does not wait for them, and they have the file locked until they are gone.
    while ranks.iter().any(|rank| std::fs::read_link(format!("/proc/{rank}/exe")).is_ok()) {
        std::thread::sleep(Duration::from_millis(2));
    }
    // Rows of other weights are not taken for these, and stay.
    let mut more = on_ranks.to_vec();
    more.push("--resume");
    let (ended, _, error) = run(2, other_weights, &more);
    assert_eq!(ended.status.code(), Some(2), "{error}");
    assert!(error.contains("was begun for another graph") && partial.exists(), "{error}");
    let others = [&on_ranks[..], &["--output", &together], &["--output", &together, "--resume"]];
    let others = if distance_bytes == 4 { &others[..] } else { &[] };
    // Nor are those of another number of ranks, or of one machine, and none of these replaces them.
    if !others.is_empty() {
        let (ended, _, error) = run(3, weights, &more);
        assert_eq!(ended.status.code(), Some(2), "{error}");
        assert!(error.contains("on another number of ranks"), "{error}");
    }
    for others in others {
        let (ended, _, error) = run(1, weights, others);
        assert_eq!(ended.status.code(), Some(2), "{error}");
        assert!(error.contains("interrupted") && partial.exists(), "{error}");
    }
    let (ended, out, error) = run(2, weights, &more);
    assert!(ended.status.success(), "{error}");
    let resumed = out.split("\"resumed_rows\":").nth(1).and_then(|rest| rest.split(',').next()).unwrap_or("");
    let resumed: u64 = resumed.parse().unwrap_or_else(|_| panic!("{out}"));
    assert!((1..vertices).contains(&resumed), "{resumed}");
    assert!(std::fs::read(&alone).unwrap() == std::fs::read(&together).unwrap());
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

fn interrupted_ranks_leave_nothing() {
    let long = Long::start(20);
    signal("-INT", &long.launcher.id().to_string());
    let (code, error) = long.ended();
    assert_ne!(code, Some(0), "{error}");
}
