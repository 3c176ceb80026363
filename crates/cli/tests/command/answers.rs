//! What answers say: numbers with the same digits everywhere, what limits leave out, directions, errors as JSON.

use std::io::BufRead;

use crate::common::Folder;
use serde_json::{Value, json};

/// A chain of diamonds: 2^links shortest paths lead from 0 to 3 * links.
fn diamonds(links: u32) -> String {
    let link = |k| [(0, 1), (0, 2), (1, 3), (2, 3)].map(|(u, v)| format!("{} {}\n", 3 * k + u, 3 * k + v)).concat();
    (0..links).map(link).collect()
}

#[test]
fn path_counts_beyond_64_bits_are_marked_as_such() {
    let folder = Folder::new();
    folder.file("63.txt", diamonds(63));
    folder.file("65.txt", diamonds(65));
    let counts = |graph: &str| folder.run(&format!("bfs {graph} --source 0 --count-paths --output -")).ok();
    assert!(counts("63.txt").ends_with("\n189,126,9223372036854775808\n") && !counts("63.txt").contains('>'));
    assert!(counts("65.txt").ends_with(",>=18446744073709551615\n195,130,>=18446744073709551615\n"));
    let found = |graph: &str| {
        let found = folder.run(&format!("bfs {graph} --source 0 --count-paths --json --verify")).json();
        found["path_counts"].clone()
    };
    assert_eq!(found("63.txt"), json!({"greatest": 1_u64 << 63, "saturated_vertices": 0}));
    // The end of the 64th diamond, and the three other vertices of the 65th.
    assert_eq!(found("65.txt"), json!({"greatest": u64::MAX, "saturated_vertices": 4}));
    let said = |graph: &str| folder.run(&format!("bfs {graph} --source 0 --count-paths")).ok();
    assert!(said("63.txt").contains("paths   at most 9,223,372,036,854,775,808 shortest ones"));
    assert!(said("65.txt").contains("paths   18,446,744,073,709,551,615 or more shortest ones to 4 vertices"));
    let plain = folder.run("bfs 65.txt --source 0 --json").json();
    assert!(plain.get("path_counts").is_none());
}

/// Distances of 32 and 64 bits, centralities, and the range of the weights.
#[test]
fn a_number_has_the_same_digits_everywhere() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 0.1\n2 3 0.2\n3 4 0.7\n1 4 1.7\n4 1 0.3\n4 5 0.9\n5 2 1e-5\n");
    folder.file("f32.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 2\n1 2 0.1\n2 3 0.2\n");
    folder.run("convert g.txt g.wpg --quiet").ok();
    for graph in ["g.txt", "g.wpg"] {
        for reduce in ["closeness", "harmonic", "eccentricity"] {
            let written = folder.run(&format!("apsp {graph} --reduce {reduce} --output -")).ok();
            let said = folder.run(&format!("apsp {graph} --reduce {reduce} --json")).json();
            for (line, row) in written.lines().skip(1).zip(said["reduction"].as_array().unwrap()) {
                let number = line.split(',').nth(1).unwrap();
                assert_eq!(number.parse::<f64>().ok(), row[reduce].as_f64(), "{line}: {row}");
                assert_eq!(number, row[reduce].as_f64().unwrap().to_string(), "{line}: {row}");
            }
        }
    }
    let written = folder.run("sssp g.txt --source 1 --target 5 --output -").ok();
    let said = folder.run("sssp g.txt --source 1 --target 5 --json").json();
    let last = written.lines().last().unwrap();
    assert_eq!(last, format!("5,{}", said["targets"][0]["distance"]));
    let text = folder.run("sssp g.txt --source 1 --target 5").ok();
    assert!(text.contains(&format!("to 5    {}\n", said["targets"][0]["distance"])), "{text}");
}

/// Weights of 32 bits come from arrays of NumPy: a graph of one arc of weight 0.1, as SciPy stores it.
#[test]
fn floats_of_32_bits_have_the_digits_of_32_bits() {
    let folder = Folder::new();
    let npy = |kind: &str, shape: usize, bytes: &[u8]| {
        let mut array = warpath::tables::npy_header(kind, &[shape]);
        array.extend(bytes);
        array
    };
    let integers = |values: &[i32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let parts = [
        ("format.npy", {
            let mut array = warpath::tables::npy_header("|S3", &[]);
            array.extend(b"csr");
            array
        }),
        ("shape.npy", npy("<i8", 2, &[2_i64, 2].iter().flat_map(|side| side.to_le_bytes()).collect::<Vec<u8>>())),
        ("indptr.npy", npy("<i4", 3, &integers(&[0, 1, 1]))),
        ("indices.npy", npy("<i4", 1, &integers(&[1]))),
        ("data.npy", npy("<f4", 1, &0.1_f32.to_le_bytes())),
    ];
    folder.file("g.npz", stored(&parts));
    let said = folder.run("sssp g.npz --source 0 --json").json();
    assert_eq!((&said["number_type"], said["max_distance"].to_string()), (&json!("f32->f32"), "0.1".into()));
    assert_eq!(folder.run("sssp g.npz --source 0 --output -").ok(), "vertex,distance\n0,0\n1,0.1\n");
    assert_eq!(folder.run("info g.npz --json").json()["weight_range"].to_string(), "[0.1,0.1]");
    assert!(folder.run("info g.npz").ok().contains("f32 from 0.1 to 0.1"));
}

/// A zip archive of stored files.
fn stored(files: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let mut facts = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0];
        facts.extend(crc.sum().to_le_bytes());
        facts.extend([bytes.len() as u32; 2].iter().flat_map(|size| size.to_le_bytes()));
        facts.extend((name.len() as u16).to_le_bytes());
        facts.extend([0, 0]);
        directory.extend(b"PK\x01\x02\x14\x00");
        directory.extend(&facts);
        directory.extend([0; 10]);
        directory.extend((archive.len() as u32).to_le_bytes());
        directory.extend(name.as_bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(&facts);
        archive.extend(name.as_bytes());
        archive.extend(bytes);
    }
    let start = archive.len() as u32;
    archive.extend(&directory);
    archive.extend(b"PK\x05\x06\x00\x00\x00\x00");
    archive.extend([files.len() as u16; 2].iter().flat_map(|count| count.to_le_bytes()));
    archive.extend([directory.len() as u32, start].iter().flat_map(|number| number.to_le_bytes()));
    archive.extend([0, 0]);
    archive
}

#[test]
fn the_distance_to_a_target_is_told() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 5\n9 1 1\n");
    let found = folder.run("sssp g.txt --source 1 --target 3 9 --json").json();
    assert_eq!(found["targets"], json!([{"vertex": "3", "distance": 10}, {"vertex": "9", "distance": null}]));
    let text = folder.run("sssp g.txt --source 1 -t 3 9").ok();
    assert!(text.contains("\nto 3    10\n") && text.contains("\nto 9    not reachable\n"), "{text}");
    folder.file("sources.txt", "1\n9\n");
    let found = folder.run("sssp g.txt --sources sources.txt --target 3 --json").json();
    let distances: Vec<&Value> =
        found["results"].as_array().unwrap().iter().map(|result| &result["targets"][0]["distance"]).collect();
    assert_eq!(distances, [&json!(10), &json!(11)]);
    assert!(folder.run("sssp g.txt --source 1 --json").json().get("targets").is_none());
}

#[test]
fn all_rows_are_for_a_csv_of_a_limited_search() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 5\n9 1 1\n");
    folder.run("sssp g.txt --source 1 --all-rows --output x.csv").fails(2, "`--all-rows` adds the rows");
    folder.run("sssp g.txt --source 1 --target 2 --all-rows --output x.npy").fails(2, "`--all-rows` needs a .csv");
    // A search without limits has a row for every vertex, reachable or not.
    assert_eq!(folder.run("sssp g.txt --source 1 --output -").ok(), "vertex,distance\n1,0\n2,5\n3,10\n9,\n");
    assert_eq!(folder.names(), ["g.txt"]);
}

#[test]
fn searches_go_backwards_on_request() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 7\n4 2 1\n3 5 1\n");
    let text = folder.run("sssp g.txt --source 3 --reverse --predecessors --verify --output -").ok();
    assert_eq!(text, "vertex,distance,successor\n1,12,2\n2,7,3\n3,0,\n4,8,2\n5,,\n");
    let forwards = folder.run("sssp g.txt --source 1 --target 3 --json").json();
    assert_eq!((&forwards["reverse"], &forwards["targets"][0]["distance"]), (&json!(false), &json!(12)));
    let backwards = folder.run("bfs g.txt --source 3 5 --target 4 --reverse --json --verify").json();
    let target = json!([{"vertex": "4", "distance": 2, "source": "3"}]);
    assert_eq!((&backwards["reverse"], &backwards["targets"]), (&json!(true), &target));
    let text = folder.run("sssp g.txt --source 3 --target 4 --reverse").ok();
    assert!(text.contains("\nto 3    reached ") && text.contains("\nfrom 4  8\n"), "{text}");
    // A cycle is shown as the graph has it.
    folder.file("cycle.txt", "1 2 1\n2 3 -5\n3 1 1\n");
    let found = folder.run("sssp cycle.txt --source 1 --reverse --json").json_with(1);
    let cycle = &found["negative_cycle"]["vertices"];
    assert!([json!(["1", "2", "3"]), json!(["2", "3", "1"]), json!(["3", "1", "2"])].contains(cycle), "{cycle}");
    // Every arc of an undirected graph has its reverse.
    let undirected = |reverse| folder.run(&format!("sssp g.txt --source 3 --undirected {reverse} --output -")).ok();
    assert_eq!(undirected("--reverse"), undirected(""));
}

#[test]
fn errors_are_json_objects_too() {
    let folder = Folder::new();
    folder.file("bad.gr", "p sp 2 1\na 1 x 5\n");
    folder.file("g.txt", "1 2\n");
    let found = folder.run("sssp bad.gr --source 1 --json").json_with(2);
    let error = &found["error"];
    assert_eq!((&error["kind"], &error["exit_code"]), (&json!("usage"), &json!(2)));
    assert_eq!((&error["file"], &error["line"]), (&json!("bad.gr"), &json!(2)));
    let found = folder.run("bfs g.txt --source 7 --json").json_with(2);
    assert!(found["error"]["message"].as_str().unwrap().contains("no vertex named `7`"), "{found}");
    let found = folder.run("closure kron:10 --memory 64K --json").json_with(3);
    let error = &found["error"];
    assert_eq!((&error["kind"], &error["available_bytes"]), (&json!("resources"), &json!(1 << 16)));
    assert!(error["needed_bytes"].as_u64() > Some(1 << 16) && error["help"].is_string(), "{error}");
    for arguments in ["bfs g.txt --json", "bfs g.txt --json --source 1 --no-such-option", "bsf g.txt --json"] {
        let found = folder.run(arguments).json_with(2);
        assert_eq!(found["error"]["kind"], json!("usage"), "{found}");
        assert!(!found["error"]["message"].as_str().unwrap().contains("\n"), "{found}");
    }
    // Without --json, nothing is on standard output.
    assert_eq!(folder.run("bfs g.txt --source 7").stdout, "");
}

#[test]
fn every_command_prints_an_object_of_the_schema() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 7\n3 1 1\n");
    folder.file("two.txt", "1\n2\n");
    folder.file("pairs.txt", "1 3\n3 2\n");
    for arguments in [
        "bfs g.txt --source 1 --count-paths --statistics",
        "sssp g.txt --sources two.txt --target 3 --statistics --verify",
        "apsp g.txt --verify --statistics",
        "apsp g.txt --reduce histogram",
        "apsp g.txt --reduce eccentricity",
        "closure g.txt --irreflexive",
        "path g.txt 1 3",
        "path g.txt 1 3 --k 2",
        "path g.txt --pairs pairs.txt",
        "info g.txt",
        "info g.txt --undirected",
        "convert g.txt g.wpg",
        "convert g.txt h.wpg --plan",
        "generate grid:3x3 grid.txt",
        "devices",
        "datasets",
        "bfs g.txt --source 1 --plan",
    ] {
        let found = folder.run(&format!("{arguments} --json")).json();
        assert_eq!((&found["schema"], found["command"].as_str()), (&json!(1), arguments.split(' ').next()));
    }
}

#[test]
fn components_are_found_weak_and_strong() {
    let folder = Folder::new();
    folder.file("g.csv", "a,b\nb,a\nb,c\n\"x, y\",z\nq,q\n");
    let text = folder.run("components g.csv --output -").ok();
    assert_eq!(text, "vertex,component\na,0\nb,0\nc,0\n\"x, y\",1\nz,1\nq,2\n");
    let text = folder.run("components g.csv --strong --output -").ok();
    let of: Vec<&str> = text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    // Only `a` and `b` reach each other; arcs lead to lower numbers.
    assert!(of[0] == of[1] && of[2] < of[0] && of[4] < of[3], "{text}");
    assert_eq!(of.iter().collect::<std::collections::HashSet<_>>().len(), 5, "{text}");
    let found = folder.run("components g.csv --json").json();
    assert_eq!((&found["strong"], &found["count"], &found["largest"]), (&json!(false), &json!(3), &json!(3)));
    let sizes = json!([1, 2, 3].map(|vertices| json!({"vertices": vertices, "components": 1})));
    assert_eq!(found["sizes"], sizes);
    let found = folder.run("components g.csv --strong --json").json();
    assert_eq!(found["sizes"], json!([{"vertices": 1, "components": 4}, {"vertices": 2, "components": 1}]));
    let text = folder.run("components g.csv --strong").ok();
    assert!(text.contains("5 strongly connected\n") && text.contains("1 of 2 vertices\n"), "{text}");
    folder.run("components g.csv --output x.npy --quiet").ok();
    let bytes = std::fs::read(folder.path().join("x.npy")).unwrap();
    let cells: Vec<u32> =
        bytes[bytes.len() - 24..].chunks(4).map(|cell| u32::from_ne_bytes(cell.try_into().unwrap())).collect();
    assert_eq!(cells, [0, 0, 0, 1, 1, 2]);
}

#[test]
fn the_largest_component_can_be_kept_alone() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n7 8 1\n8 9 2\n9 7 3\n4 4 1\n");
    let text = folder.run("sssp g.txt --source 7 --largest-component --output -").ok();
    assert_eq!(text, "vertex,distance\n7,0\n8,1\n9,3\n");
    let text = folder.run("sssp g.txt --source 7 --largest-component --reverse --output -").ok();
    assert_eq!(text, "vertex,distance\n7,0\n8,5\n9,3\n");
    folder.run("sssp g.txt --source 1 --largest-component").fails(2, "no vertex named `1`");
    for command in ["info", "apsp", "closure", "components"] {
        let found = folder.run(&format!("{command} g.txt --largest-component --json")).json();
        let graph = found.get("graph").unwrap_or(&found);
        assert_eq!((&graph["vertices"], &graph["arcs"]), (&json!(3), &json!(3)), "{command}");
    }
    folder.run("convert g.txt h.csv --largest-component --quiet").ok();
    assert_eq!(folder.run("components h.csv --json").json()["count"], json!(1));
    assert_eq!(folder.run("info grid:3x3 --largest-component --json").json()["vertices"], json!(9));
}

/// Each source counts what it reaches, so every component of a graph has its own eccentricities.
#[test]
fn eccentricities_are_those_of_the_component() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 1\n8 9 2\n4 4 1\n");
    let text = folder.run("apsp g.txt --undirected --reduce eccentricity --output -").ok();
    assert_eq!(text, "vertex,eccentricity\n1,6\n2,5\n3,6\n4,0\n8,2\n9,2\n");
}

#[test]
fn completions_and_man_pages_know_names_and_values() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish"] {
        let text = folder.run(&format!("completions {shell}")).ok();
        let dataset = cfg!(feature = "bench").then_some("road-ny");
        for name in
            ["delta-stepping", "direction-optimizing", "tiled-floyd-warshall", "cuda:all"].into_iter().chain(dataset)
        {
            let name = if shell == "zsh" { name.replace(':', "\\:") } else { name.to_owned() };
            assert!(text.contains(&name), "{shell}: {name}");
        }
    }
    folder.run("completions man").ok();
    let page = folder.read("warpath-sssp.1").replace('\\', "");
    for text in ["warpath sssp [OPTIONS] ", "<VERTEX>", "<GRAPH>", "delta-stepping", "Exit codes"] {
        assert_eq!(page.contains(text), text != "Exit codes", "{text}");
    }
    assert!(folder.read("warpath.1").contains("Exit codes"));
    let names = folder.names();
    for page in ["warpath-bench-compare.1", "warpath-components.1", "warpath-datasets-get.1", "warpath.1"] {
        if !cfg!(feature = "bench") && (page.contains("bench") || page.contains("datasets")) {
            continue;
        }
        assert!(names.contains(&page.to_owned()), "{names:?}");
    }
    assert!(!names.iter().any(|name| name.contains("help")), "{names:?}");
}

#[test]
fn threads_beyond_the_cores_are_not_started() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2 5\n2 3 7\n");
    let cores = std::thread::available_parallelism().unwrap().get();
    let capped = folder.run("sssp g.txt --source 1 --threads 1024 --json").json();
    assert_eq!((&capped["threads"], &capped["threads_asked_for"]), (&json!(cores), &json!(1024)));
    let text = folder.run("sssp g.txt --source 1 --threads 1024 --verbose").ok();
    assert!(text.contains(&format!("{cores}, one for each core; 1024 were asked for")), "{text}");
    let one = folder.run("sssp g.txt --source 1 --threads 1 --json").json();
    assert_eq!((&one["threads"], one.get("threads_asked_for")), (&json!(1), None));
}

#[test]
fn the_version_tells_the_features() {
    let folder = Folder::new();
    let version = folder.run("--version").ok();
    assert!(version.starts_with(concat!("warpath ", env!("CARGO_PKG_VERSION"), " (")), "{version}");
    assert!(version.contains("features: cuda"), "{version}");
    assert_eq!(version.contains("lab"), cfg!(feature = "lab"), "{version}");
    assert_eq!(folder.run("bfs --version").ok().split_once(' ').unwrap().1, version.split_once(' ').unwrap().1);
}

/// Where standard error is no terminal, there are lines only if they are asked for.
#[test]
fn progress_is_lines_where_there_is_no_terminal() {
    let folder = Folder::new();
    let start = |progress: &str| {
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("warpath"));
        command
            .args("apsp uniform:17 --threads 1 --engine cpu --memory 4G".split(' '))
            .args(progress.split_whitespace());
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let mut shown = start("--progress always");
    let mut line = String::new();
    std::io::BufReader::new(shown.stderr.take().unwrap()).read_line(&mut line).unwrap();
    shown.kill().unwrap();
    shown.wait().unwrap();
    assert!(line.starts_with("progress: ") && line.contains(" after ") && line.ends_with('\n'), "{line:?}");
    let unshown = ["", "--progress auto", "--progress never", "--quiet"].map(start);
    std::thread::sleep(std::time::Duration::from_secs(3));
    for mut child in unshown {
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (None, ""));
    }
    folder.run("bfs grid:2x2 --source 0 --quiet --progress always").fails(2, "cannot be used with");
}
