//! `warpath bench` and `warpath datasets`, run as commands.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Folder;
use serde_json::Value;

const SINGH: &str = "bench --suite singh --quick --engine cpu";

fn records(folder: &Folder, name: &str) -> Vec<Value> {
    folder.read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn of_kind<'a>(records: &'a [Value], kind: &str) -> Vec<&'a Value> {
    records.iter().filter(|record| record["record"] == kind).collect()
}

#[test]
fn a_quick_run_leaves_results_tables_and_a_report() {
    let folder = Folder::new();
    let told = folder.run(&format!("{SINGH} --output out --quiet")).ok();
    assert_eq!(told, "");
    let records = records(&folder, "out/results.jsonl");
    let [run] = of_kind(&records, "run")[..] else { panic!("not one run") };
    assert_eq!(
        (run["suite"].as_str(), run["quick"].as_bool(), run["schema"].as_u64()),
        (Some("singh"), Some(true), Some(1))
    );
    let graphs = of_kind(&records, "graph");
    let counts: Vec<_> =
        graphs.iter().map(|graph| (graph["vertices"].as_u64(), graph["frontiers"].as_array().unwrap().len())).collect();
    assert_eq!(counts, [(Some(5), 3), (Some(10), 5), (Some(22), 7), (Some(64), 13)]);
    let rows = of_kind(&records, "row");
    assert_eq!(rows.len(), 9);
    for row in &rows {
        assert_eq!(row["status"], "measured", "{row}");
        assert!(row["seconds"]["solve"]["median"].as_f64().unwrap() > 0.0);
        assert_eq!(row["seconds"]["clock"], "host");
    }
    // Experiment 4: the costs 0 1 1 2 2.
    let fourth = rows.iter().find(|row| row["experiment"] == "experiment4").unwrap();
    assert_eq!((&fourth["answers"][0]["reached"], &fourth["answers"][0]["sum"]), (&5.into(), &"6".into()));
    let tables = folder.read("out/tables.md");
    assert!(
        tables.contains("2.71 ms") && tables.contains("stand") && tables.contains("9 measured, 0 wrong"),
        "{tables}"
    );
    let report = folder.read("out/report.html");
    assert!(
        report.contains("prefers-color-scheme: dark") && !report.contains("http://") && !report.contains("https://")
    );
}

#[test]
fn rows_of_gpus_say_that_they_need_one() {
    if warpath::devices().is_ok_and(|found| !found.is_empty()) {
        return;
    }
    let folder = Folder::new();
    folder.run("bench --suite singh --quick --quiet --output out").ok();
    let records = records(&folder, "out/results.jsonl");
    let rows = of_kind(&records, "row");
    let needing: Vec<_> = rows.iter().filter(|row| row["engine"] == "cuda").collect();
    assert!(needing.len() > 5);
    assert!(needing.iter().all(|row| row["status"] == "unavailable" && row["detail"] == "needs a GPU"));
    folder.run("bench --suite singh --engine cuda").fails(3, "--engine auto");
}

#[test]
fn a_run_that_was_stopped_goes_on() {
    let folder = Folder::new();
    folder.run(&format!("{SINGH} --output out --quiet")).ok();
    let whole = folder.read("out/results.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    // The run stopped in the middle of the fourth line from the end.
    let kept = lines.len() - 4;
    let cut = lines[..kept].join("\n") + "\n" + &lines[kept][..30];
    std::fs::write(folder.path().join("out/results.jsonl"), cut).unwrap();
    std::fs::remove_file(folder.path().join("out/report.html")).unwrap();
    folder.run(&format!("{SINGH} --output out")).fails(2, "--resume");
    folder.run("bench --suite singh --engine cpu --output out --resume").fails(2, "its extent is `quick`");
    folder.run("bench --suite gap --quick --engine cpu --output out --resume").fails(2, "its suite is `singh`");
    folder.run(&format!("{SINGH} --output out --resume --budget 3")).fails(2, "its limit is");
    folder.run(&format!("{SINGH} --output out --resume --data .")).fails(2, "its data folder is `absent`, not `there`");
    let run = folder.run(&format!("{SINGH} --output out --resume"));
    assert_eq!(run.code, Some(0), "{run:?}");
    assert!(run.stderr.contains("there already"), "{}", run.stderr);
    let records = records(&folder, "out/results.jsonl");
    assert_eq!(of_kind(&records, "row").len(), 9, "every row once");
    assert!(folder.read("out/results.jsonl").starts_with(&(lines[..kept].join("\n") + "\n")), "what was there stays");
    assert!(folder.read("out/report.html").contains("</html>"));
}

#[test]
#[cfg(unix)]
fn ctrl_c_leaves_what_is_done() {
    let folder = Folder::new();
    let out = folder.path().join("out");
    // The whole suite takes minutes.
    let mut child = Command::new(env!("CARGO_BIN_EXE_warpath"))
        .args(["bench", "--suite", "katz-kider", "--engine", "cpu", "--quiet", "--output"])
        .arg(&out)
        .spawn()
        .unwrap();
    let rows = || std::fs::read_to_string(out.join("results.jsonl")).unwrap_or_default().matches("\"row\"").count();
    let start = std::time::Instant::now();
    while rows() < 2 && start.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(rows() >= 2);
    assert!(folder.read("out/report.html").contains("</html>"));
    assert!(folder.read("out/tables.md").contains("measured"));
}

#[test]
#[cfg(feature = "peers")]
fn linked_packages_are_run_in_workers() {
    let folder = Folder::new();
    folder.run("bench --suite hierarchies --quick --engine cpu --experiment pairs --output out --quiet").ok();
    let records = records(&folder, "out/results.jsonl");
    let rows = of_kind(&records, "row");
    for peer in ["fast_paths", "RoutingKit"] {
        let of_peer: Vec<_> = rows.iter().filter(|row| row["series"] == peer).collect();
        assert!(!of_peer.is_empty() && of_peer.iter().all(|row| row["status"] == "measured"), "{of_peer:?}");
    }
    let help = folder.run("bench --help");
    assert!(!help.stdout.contains("worker"), "{help:?}");
}

#[test]
fn a_search_that_takes_too_long_is_a_row_that_says_so() {
    let folder = Folder::new();
    let run = folder.run("bench --suite katz-kider --quick --engine cpu --timeout 0.000001 --output out --quiet");
    assert_eq!(run.code, Some(0), "{run:?}");
    let records = records(&folder, "out/results.jsonl");
    let rows = of_kind(&records, "row");
    let late: Vec<_> = rows.iter().filter(|row| row["status"] == "timeout").collect();
    assert!(!late.is_empty());
    assert!(late.iter().all(|row| row["seconds"].is_null()));
}

#[test]
fn two_runs_are_compared() {
    let folder = Folder::new();
    folder.run(&format!("{SINGH} --output a --quiet")).ok();
    let same = folder.run("bench compare a/results.jsonl a/results.jsonl").ok();
    assert!(same.contains("0 slower, 0 faster, 9 within the noise, 0 lost, 0 new, 0 wrong now"), "{same}");
    // The same run, but one row took ten times as long.
    let slower = |mut record: Value| {
        if record["graph"] == "n64" && record["series"] == "CPU, sequential queue" {
            let median = record["seconds"]["solve"]["median"].as_f64().unwrap();
            record["seconds"]["solve"]["median"] = (1000.0 * median).into();
        }
        record.to_string() + "\n"
    };
    let text: String = records(&folder, "a/results.jsonl").into_iter().map(slower).collect();
    folder.file("b.jsonl", text);
    let told = folder.run("bench compare a/results.jsonl b.jsonl").ok();
    assert!(
        told.lines().any(|line| line.starts_with("slower") && line.contains("fig8/n64/CPU, sequential queue")),
        "{told}"
    );
    assert!(told.contains("1 slower, 0 faster, 8 within"), "{told}");
    let told = folder.run("bench compare a/results.jsonl b.jsonl --fail-on slower");
    assert!(told.code == Some(1) && told.stdout.contains("1 slower") && told.stderr.is_empty(), "{told:?}");
    folder.run("bench compare b.jsonl a/results.jsonl --fail-on slower").ok();
    folder.run("bench compare a/results.jsonl a/results.jsonl --fail-on slower").ok();
    folder.run("bench compare a/results.jsonl b.jsonl --fail-on faster").fails(2, "faster");
    std::fs::remove_file(folder.path().join("a/report.html")).unwrap();
    folder.run("bench report a").ok();
    assert!(folder.read("a/report.html").contains("</html>"));
    folder.run("bench report .").fails(2, "results.jsonl");
    // A row that is wrong now, whatever it was before.
    let wrong = |mut record: Value| {
        if record["graph"] == "n64" && record["record"] == "row" {
            (record["status"], record["seconds"]) = ("wrong".into(), Value::Null);
        }
        record.to_string() + "\n"
    };
    let text: String = records(&folder, "a/results.jsonl").into_iter().map(wrong).collect();
    std::fs::create_dir(folder.path().join("wrong")).unwrap();
    folder.file("wrong/results.jsonl", text);
    let told = folder.run("bench compare a/results.jsonl wrong/results.jsonl");
    assert!(told.code == Some(1) && told.stdout.contains("wrong now"), "{told:?}");
    folder.run("bench compare wrong/results.jsonl a/results.jsonl").ok();
    let told = folder.run("bench report wrong");
    assert!(told.code == Some(1) && told.stdout.contains("report.html"), "{told:?}");
    // The same suite on other graphs.
    let other = |mut record: Value| {
        if record["record"] == "graph" && record["id"] == "n64" {
            record["arcs"] = 1.into();
        }
        record.to_string() + "\n"
    };
    folder.file("other.jsonl", records(&folder, "a/results.jsonl").into_iter().map(other).collect::<String>());
    let told = folder.run("bench compare a/results.jsonl other.jsonl").ok();
    assert!(told.contains("not the same graph") && told.contains("0 slower, 0 faster"), "{told}");
    folder.file("c.jsonl", "nothing\n");
    folder.run("bench compare a/results.jsonl c.jsonl").fails(2, "c.jsonl");
    folder.run("bench compare a/results.jsonl missing.jsonl").fails(2, "missing.jsonl");
}

#[test]
fn folders_of_runs_are_compared() {
    let folder = Folder::new();
    folder.run(&format!("{SINGH} --output before/cpu/singh --quiet")).ok();
    let text = folder.read("before/cpu/singh/results.jsonl");
    for place in ["after/cpu/singh", "after/new", "before/gone", "other/elsewhere"] {
        std::fs::create_dir_all(folder.path().join(place)).unwrap();
    }
    let slower = |mut record: Value| {
        if record["record"] == "row" && record["seconds"].is_object() {
            let median = record["seconds"]["solve"]["median"].as_f64().unwrap();
            record["seconds"]["solve"]["median"] = (1000.0 * median).into();
        }
        record.to_string() + "\n"
    };
    let all: String = records(&folder, "before/cpu/singh/results.jsonl").into_iter().map(slower).collect();
    folder.file("after/cpu/singh/results.jsonl", all);
    folder.file("after/new/results.jsonl", &text);
    folder.file("before/gone/results.jsonl", &text);
    folder.file("other/elsewhere/results.jsonl", &text);
    let told = folder.run("bench compare before after").ok();
    assert!(told.starts_with("cpu/singh/results.jsonl\n") && told.contains("9 slower, 0 faster"), "{told}");
    assert!(told.contains("note: only after has new/results.jsonl of the suite singh"), "{told}");
    assert!(told.contains("note: only before has gone/results.jsonl of the suite singh"), "{told}");
    assert_eq!(folder.run("bench compare before after --fail-on slower").code, Some(1));
    assert_eq!(folder.run("bench compare before before --fail-on slower").code, Some(0));
    folder.run("bench compare before other").fails(2, "at the same place");
    folder.run("bench compare before after/new/results.jsonl").fails(2, "two files or two folders");
    folder.file("after/new/results.jsonl", "nothing\n");
    folder.run("bench compare before after").fails(2, "results.jsonl");
    // Of the same place, but not of the same suite.
    folder.file("after/new/results.jsonl", &text);
    std::fs::create_dir_all(folder.path().join("gap/cpu/singh")).unwrap();
    folder.file("gap/cpu/singh/results.jsonl", text.replace("\"suite\":\"singh\"", "\"suite\":\"gap\""));
    folder.run("bench compare before gap").fails(2, "at the same place");
}

/// Every suite's files, graphs and algorithms work together, not only where they are read.
#[test]
fn recorded_times_are_held_against_predicted_ones() {
    let recorded = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/cpu/gap/results.jsonl");
    let folder = Folder::new();
    std::fs::copy(recorded, folder.path().join("results.jsonl")).unwrap();
    let told = folder.run("bench predictions results.jsonl").ok();
    assert!(told.contains("| bfs cpu direction-optimizing | 5 |"), "{told}");
    assert!(told.lines().last().unwrap().starts_with("The worst factor is "), "{told}");
    folder.run("bench predictions results.jsonl none.jsonl").fails(2, "none.jsonl");
}

#[test]
fn every_suite_runs_on_the_cpu() {
    let folder = Folder::new();
    let listed = folder.run("bench --list").ok();
    let suites: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(suites.len() >= 7, "{listed}");
    // That one has rules of its own.
    for suite in suites.into_iter().filter(|suite| *suite != "graph500") {
        // The matrices of katz-kider take a while; other tests run them.
        let part = if suite == "katz-kider" { " --experiment as" } else { "" };
        let options = "--quick --engine cpu --budget 0.01 --python /nowhere/python --quiet";
        folder.run(&format!("bench --suite {suite}{part} {options} --output {suite}")).ok();
        let records = records(&folder, &format!("{suite}/results.jsonl"));
        let rows = of_kind(&records, "row");
        let measured = rows.iter().filter(|row| row["status"] == "measured").count();
        assert!(measured >= 2, "{suite}");
        for row in rows.iter().filter(|row| row["status"] != "measured") {
            let told = row["detail"].as_str().is_some_and(|detail| !detail.is_empty());
            assert!(row["status"] == "unavailable" && told, "{suite}: {row}");
        }
        for row in rows.iter().filter(|row| row["status"] == "measured" && row["engine"] == "cpu") {
            assert_eq!(row["ran_on"], "cpu", "{suite}: {row}");
        }
        assert!(folder.read(&format!("{suite}/tables.md")).contains(&format!("{measured} measured, 0 wrong")));
        assert!(folder.read(&format!("{suite}/report.html")).ends_with("</html>\n"), "{suite}");
    }
}

#[test]
fn graph500_prints_its_statistics() {
    let folder = Folder::new();
    let told = folder.run("bench --suite graph500 --scale 8 --quick --engine cpu --quiet").ok();
    let value = |name: &str| {
        let line = told.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {told}"));
        line.rsplit_once(' ').unwrap().1.parse::<f64>().unwrap()
    };
    assert_eq!((value("SCALE:"), value("edgefactor:"), value("NBFS:")), (8.0, 16.0, 8.0));
    for kernel in ["bfs ", "sssp"] {
        assert!(value(&format!("{kernel} harmonic_mean_TEPS:")) > 0.0);
        assert!(value(&format!("{kernel} min_time:")) <= value(&format!("{kernel} max_time:")));
    }
    // Nearly all of 4,096 edges are in one component.
    assert!((3000.0..=4096.0).contains(&value("max_nedge:")), "{told}");
    let listed = folder.run("bench --suite graph500 --scale 8 --list").ok();
    assert!(listed.contains("kron:8"), "{listed}");
    folder.run("bench --suite graph500 --budget 1").fails(2, "`--budget` is not possible with `--suite graph500`");
}

/// The lab's algorithms are in the program, so that the bench has their rows, but only their names select them.
#[test]
#[cfg(feature = "lab")]
fn algorithms_of_the_lab_are_there_by_name() {
    let folder = Folder::new();
    folder.file("graph.txt", "0 1\n1 2\n");
    let run = folder.run("bfs graph.txt --source 0 --engine auto --algorithm vertex-parallel-as-printed");
    if warpath::devices().is_ok_and(|found| !found.is_empty()) {
        assert_eq!(run.code, Some(0), "{run:?}");
    } else {
        run.fails(3, "there is");
    }
    folder.run("bfs graph.txt --source 0 --algorithm vertex-parallel-as-drawn").fails(2, "no algorithm");
}

#[test]
fn suites_are_listed() {
    let folder = Folder::new();
    let listed = folder.run("bench --list").ok();
    for suite in
        ["harish-narayanan", "katz-kider", "singh", "rejaud", "pathak", "gap", "peers", "hierarchies", "centralities"]
    {
        assert!(listed.contains(suite), "{listed}");
    }
    let listed = folder.run("bench --suite rejaud --list").ok();
    assert!(listed.contains("bellman-ford:sync=outcore,launch=1024x2,edge-order=source"), "{listed}");
    folder.run("bench --suite nothing").fails(2, "nothing");
    folder.run("bench").fails(2, "--suite");
    folder.run("bench --suite singh --experiment fig9").fails(2, "fig8, experiment4");
    let some = folder.run(&format!("{SINGH} --quiet --experiment experiment4")).ok();
    assert!(some.contains("Experiment 4") && !some.contains("Fig. 8: times"), "{some}");
    folder.run("bench --suite singh --graph n6").fails(2, "no graph `n6`; there are n5, n10");
    let some = folder.run(&format!("{SINGH} --quiet --graph n5")).ok();
    assert!(some.contains("| 5 vertices") && !some.contains("| 10 vertices"), "{some}");
    folder.run("bench --suite singh --budget 0").fails(2, "the budget is not");
    folder.run("bench --suite singh --scale 10").fails(2, "no scale");
}

/// A dataset is read from the data folder; without it, a generator stands in.
#[test]
fn a_dataset_that_is_there_is_used() {
    let folder = Folder::new();
    let rows: String = (0..512).map(|v| format!("a {} {} 3\na {} {} 3\n", v + 1, v + 2, v + 2, v + 1)).collect();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    folder.file("data/USA-road-d.NY.gr", format!("p sp 513 1024\n{rows}"));
    let listed = folder.run("datasets --data data --json").json();
    let found: Vec<_> = listed["datasets"].as_array().unwrap().iter().filter(|d| !d["file"].is_null()).collect();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["name"], "road-ny");
    let list = folder.run("datasets").ok();
    assert!(list.contains("absent") && list.contains("no SHA-256 is known") && !list.contains("http:"), "{list}");
    // Arcs of weight -1 among the first thousand numbers; 1 and 2 are providers of 3, and 3 of 4.
    folder.file("data/20110116.as-rel.txt", "# relationships\n3|1|1\n1|3|-1\n2|3|-1\n3|4|-1\n1|2|0\n");
    let suite = "bench --suite katz-kider --experiment as --quick --engine cpu --quiet";
    folder.run(&format!("{suite} --data data --output with")).ok();
    folder.run(&format!("{suite} --output without")).ok();
    // A run is not resumed on another graph.
    let whole = folder.read("with/results.jsonl");
    let cut: String = whole.lines().take(whole.lines().count() - 1).map(|line| format!("{line}\n")).collect();
    let packed = folder.path().join("data/20110116.as-rel.txt");
    let relations = std::fs::read_to_string(&packed).unwrap();
    folder.file("with/results.jsonl", &cut);
    std::fs::remove_file(&packed).unwrap();
    let resumed = folder.run(&format!("{suite} --data data --output with --resume"));
    resumed.fails(2, "is another graph in the results that are there");
    std::fs::write(&packed, relations).unwrap();
    folder.run(&format!("{suite} --data data --output with --resume")).ok();
    let graph = |name| of_kind(&records(&folder, name), "graph")[0].clone();
    let (with, without) = (graph("with/results.jsonl"), graph("without/results.jsonl"));
    assert_eq!(
        (&with["vertices"], &with["arcs"], &with["origin"]),
        (&4.into(), &3.into(), &"20110116.as-rel.txt".into())
    );
    assert!(with["stand_in"].as_str().unwrap().contains("three years later"), "{with}");
    assert_eq!(without["vertices"], 1000);
    assert!(without["stand_in"].as_str().unwrap().contains("absent"), "{without}");
}

/// Starts a server that answers every request with these bytes.
fn server(answer: Vec<u8>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(&answer);
        }
    });
    format!("http://{address}")
}

#[test]
fn datasets_are_downloaded_and_checked() {
    let folder = Folder::new();
    let text = "p sp 4413 1\na 1 2 7\n";
    let answer = |text: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{text}", text.len()).into_bytes();
    let whole = server(answer(text));
    let told = folder.run(&format!("datasets get gene-network --data data --from {whole}/genes.gr")).ok();
    assert!(told.contains("bio-HS-CX.edges,") && told.contains("none is known to compare it with"), "{told}");
    let told = folder.run(&format!("info {}", folder.path().join("data/bio-HS-CX.edges").display())).ok();
    assert!(told.contains("4,413"), "what is not packed has no name that says so: {told}");
    let other = folder.run(&format!("datasets get road-ny --data data --from {whole}/ny.gr"));
    other.fails(1, "it has 4413 vertices, the published one 264346");
    let page = server(answer("<!DOCTYPE html><html>Moved</html>"));
    folder.run(&format!("datasets get road-ny --data data --from {page}/ny.gr")).fails(2, "is a web page");
    let wrong = folder.run(&format!("datasets get facebook --data data --from {whole}/facebook.txt.gz"));
    wrong.fails(1, "SHA-256");
    let cut = server(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf".to_vec());
    folder.run(&format!("datasets get pokec --data data --from {cut}/x")).fails(2, "cut off");
    folder.run("datasets get nothing --data data").fails(2, "no dataset `nothing`");
    folder.run("datasets get human-genes --data data").fails(2, "by hand");
    let names: Vec<_> =
        std::fs::read_dir(folder.path().join("data")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["bio-HS-CX.edges"], "nothing else was kept");
    #[cfg(target_os = "linux")]
    {
        let body = vec![b'x'; 1 << 18];
        let header = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        let large = server([header.as_bytes(), &body].concat());
        let output = folder.path().join("data/soc-pokec-relationships.txt");
        std::os::unix::fs::symlink("/dev/full", output).unwrap();
        folder.run(&format!("datasets get pokec --data data --from {large}/x")).fails(3, "No space left");
    }
}

#[test]
fn a_run_of_the_peers_is_drawn_as_one_picture() {
    let folder = Folder::new();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
    let results = std::fs::read_to_string(format!("{root}/results/xeon/peers/results.jsonl")).unwrap();
    folder.file("results.jsonl", &results);
    assert_eq!(folder.run("bench chart results.jsonl --output speed.svg").ok(), "written  speed.svg\n");
    let picture = folder.read("speed.svg");
    assert!(picture.starts_with("<svg xmlns=") && picture.contains(">SciPy 1.18.1</text>"), "{picture}");
    assert!(picture.contains("no GPU") && !picture.contains("pylibcugraph"), "{picture}");
    folder.run("bench chart results.jsonl --output results.jsonl").fails(2, "would replace the input");
    assert!(folder.read("results.jsonl") == results);
    folder.file("other.jsonl", results.lines().next().unwrap());
    folder.run("bench chart other.jsonl --output other.svg").fails(2, "the suite `peers` measures them");
    assert!(!folder.path().join("other.svg").exists());
}

#[test]
fn figures_on_pages_are_compared_and_written() {
    let folder = Folder::new();
    folder.run(&format!("{SINGH} --output results/here/singh --quiet")).ok();
    let page = "A queue takes ?<!--= here/singh fig8/n64 \"CPU, sequential queue\" -->.\n\n\
                <!-- table here/singh fig8; columns \"CPU, sequential queue\", vertices -->\n<!-- end -->\n";
    folder.file("page.md", page);
    let command = "bench figures page.md --results results";
    let run = folder.run(command);
    assert_eq!(run.code, Some(1), "{run:?}");
    assert!(run.stdout.contains("page.md, line 1: `?` is") && run.stdout.contains("page.md, line 3: "), "{run:?}");
    assert_eq!(folder.read("page.md"), page, "nothing is written unless asked for");
    let told = folder.run(&format!("{command} --write")).ok();
    assert!(told.contains("written    2 figures and tables"), "{told}");
    let written = folder.read("page.md");
    assert!(written.contains("s<!--=") && !written.contains("?<") && written.contains("|---|--:|--:|"), "{written}");
    let told = folder.run(command).ok();
    assert!(told.contains("differing  0 figures and tables"), "{told}");
    folder.file("page.md", written.replace("fig8/n64", "fig8/n65"));
    let run = folder.run(&format!("{command} --write"));
    assert_eq!(run.code, Some(1), "what cannot be mended: {run:?}");
    assert!(run.stdout.contains("there is no graph `n65`"), "{run:?}");
    folder.run("bench figures page.md --results nowhere").fails(2, "nowhere");
    folder.run("bench figures absent.md --results results").fails(2, "absent.md");
    folder.run("bench figures page.md --results results/here").fails(2, "MACHINE/SUITE/results.jsonl");
}

/// Chromium, if it is installed.
fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    folders.iter().flat_map(|folder| names.map(|name| folder.join(name))).find(|program| program.is_file())
}

fn open(browser: &Path, folder: &Folder, page: &Path) -> (String, String) {
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"])
        .args(["--enable-logging=stderr", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_report_opens_in_a_browser_without_an_error() {
    let Some(browser) = browser() else {
        assert!(std::env::var_os("WARPATH_NEEDS_BROWSER").is_none(), "there is no Chromium to open the report with");
        eprintln!(
            "skipped: there is no Chromium here, so that the report was not opened; $WARPATH_NEEDS_BROWSER asks for one"
        );
        return;
    };
    let folder = Folder::new();
    folder.run(&format!("{SINGH} --output out --quiet")).ok();
    let report = folder.path().join("out/report.html");
    let (page, log) = open(&browser, &folder, &report);
    assert!(!log.contains("CONSOLE"), "{log}");
    // A figure for each experiment, speed-ups, ceilings, and two for each graph.
    assert!(page.matches("<svg").count() >= 12, "{} pictures", page.matches("<svg").count());
    assert!(page.contains("data-value"));
    // The script runs: a click on a header sorts.
    let clicked = folder.read("out/report.html").replace(
        "</body>",
        "<script>document.querySelector('#fig8-numbers th:nth-child(3) button').click();\
         document.title = 'sorted ' + document.querySelector('#fig8-numbers th:nth-child(3)').ariaSort;</script></body>",
    );
    let clicked = folder.file("clicked.html", clicked);
    let (page, log) = open(&browser, &folder, &clicked);
    assert!(page.contains("<title>sorted ascending</title>"), "{log}");
    // Make sure that this test notices an error in a page.
    let broken = folder.file("broken.html", "<script>nothing.there()</script>");
    assert!(open(&browser, &folder, &broken).1.contains("CONSOLE"));
}
