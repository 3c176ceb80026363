//! Bad input gets one message that names file, line and text, and exit code 2; a lack of resources gets 3.

use crate::common::Folder;

#[test]
fn an_edge_list_says_which_line_is_wrong() {
    for (text, message) in [
        ("1 2\n2 3\n3 4 5\n", "g.txt:3:1: 2 columns are expected, as on the first line, but there are 3: `3 4 5`"),
        ("1 2\n2\n", "g.txt:2:1: 2 columns are expected, as on the first line, but there is 1: `2`"),
        ("1 2 nan\n", "g.txt:1:5: a weight has to be a finite number"),
        ("1 2 1\n2 3 inf\n", "g.txt:2:5: a weight has to be a finite number"),
        ("1 2 1e999\n", "g.txt:1:5: a weight has to be a finite number"),
        ("1 2 9007199254740993\n", "g.txt:1:5: a weight is beyond 2^53"),
        ("1 2 -1\n2 3 9007199254740993\n", "g.txt:2:5: a weight is beyond 2^53"),
    ] {
        let folder = Folder::new();
        folder.file("g.txt", text);
        folder.run("sssp g.txt --source 1").fails(2, message);
    }
}

#[test]
fn names_that_are_not_utf8_are_refused() {
    let folder = Folder::new();
    folder.file("g.txt", b"a\xff b\nb c\n");
    folder.run("bfs g.txt --source b").fails(2, "g.txt:1:1: the name of a vertex has to be UTF-8 text");
    folder.file("good.txt", "a b\n");
    folder.file("sources.txt", b"a\n\xff\n");
    folder.run("bfs good.txt --sources sources.txt").fails(2, "sources.txt:2: not UTF-8");
}

#[test]
fn counts_and_ids_that_disagree_with_the_header_are_refused() {
    for (name, text, message) in [
        ("g.gr", "p sp 3 3\na 1 2 5\na 2 3 1\n", "g.gr:1:1: the header announces 3 edges, but the file has 2"),
        ("g.gr", "p sp 3 1\na 1 4 5\n", "g.gr:2:5: a vertex from 1 to 3 is expected: `4`"),
        ("g.gr", "p sp 3 1\na 1 0 5\n", "g.gr:2:5: a vertex from 1 to 3 is expected: `0`"),
        ("g.gr", "p sp 4294967296 1\na 1 2 3\n", "g.gr:1:6: at most 4294967294 vertices are possible"),
        ("g.gr", "p tw 3 3\n1 2\n2 3\n", "g.gr:1:1: the header announces 3 edges, but the file has 2"),
        ("g.gr", "c nothing\n", "g.gr:2:1: the header line `p KIND VERTICES EDGES` is missing"),
        ("g.graph", "3 5\n2\n1 3\n2\n", "g.graph:1:3: 5 edges are announced, but there are 4 neighbours"),
        ("g.graph", "3 2\n2\n1 4\n2\n", "g.graph:3:3: a neighbour is a vertex from 1 to 3: `4`"),
        ("g.graph", "3 2\n2\n1 3\n2\n1\n", "g.graph:5:1: there are more lines than the 3 vertices announced"),
        (
            "g.mtx",
            "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n",
            "g.mtx:2:1: 2 entries are announced",
        ),
        ("g.mtx", "%%MatrixMarket matrix coordinate pattern general\n3 4 1\n1 2\n", "g.mtx:2:1: the matrix of a graph"),
        ("g.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 nan\n", "g.mtx:3:5: a value has to be"),
        ("g.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 0\n", "g.mtx:1:34: the type of values"),
    ] {
        let folder = Folder::new();
        folder.file(name, text);
        folder.run(&format!("sssp {name} --source 1")).fails(2, message);
    }
}

#[test]
fn a_declared_number_of_vertices_beyond_memory_is_lacking_memory() {
    let folder = Folder::new();
    folder.file("g.gr", "p sp 4294967294 1\na 1 2 3\n");
    let run = folder.run("sssp g.gr --source 1 --allow-isolated");
    assert!(run.code == Some(3) && run.stderr.contains(" of memory (available: ") || run.code == Some(0), "{run:?}");
    folder.run("bfs dense:99999999 --source 0").fails(3, " of memory (available: ");
}

#[test]
fn unknown_and_damaged_binaries_are_refused() {
    let folder = Folder::new();
    folder.file("x.bin", b"\x7fELF\x01\x00\x02\x03");
    folder.run("info x.bin").fails(2, "x.bin: the format is unknown: neither the content nor the extension tells");
    folder.file("x.wpg", "1 2\n");
    folder.run("info x.wpg").fails(2, "x.wpg: not a `.wpg` file");
    folder.file("x.npz", "1 2\n");
    folder.run("info x.npz").fails(2, "x.npz: not a whole zip archive");
    for name in ["k.wpg", "k.npz", "k.wsg"] {
        folder.run(&format!("generate kron:6 {name} --weights random:1..9 --quiet")).ok();
        let whole = std::fs::read(folder.path().join(name)).unwrap();
        for length in [whole.len() - 1, whole.len() / 2, 20] {
            folder.file(name, &whole[..length]);
            let run = folder.run(&format!("info {name}"));
            assert_eq!(run.code, Some(2), "{name} cut to {length} bytes: {run:?}");
            assert!(run.stderr.contains(&format!("{name}: ")), "{run:?}");
        }
    }
}

#[test]
fn corrupt_and_truncated_compression_is_refused() {
    for extension in ["gz", "zst", "bz2", "xz"] {
        let folder = Folder::new();
        let name = format!("k.txt.{extension}");
        folder.run(&format!("generate kron:8 {name} --quiet")).ok();
        let whole = std::fs::read(folder.path().join(&name)).unwrap();
        let mut damaged = whole.clone();
        damaged[whole.len() / 2..whole.len() / 2 + 8].fill(0xff);
        for bytes in [&whole[..whole.len() - 3], &whole[..whole.len() / 2], &damaged] {
            folder.file(&name, bytes);
            let message = format!("{name}: the packed data ({extension}) are corrupt or cut short");
            folder.run(&format!("bfs {name} --source 0")).fails(2, &message);
        }
        for bytes in [&b"1 2\n"[..], b"", &whole[..1], &whole[..3], &whole[..5], &whole[..9]] {
            folder.file(&name, bytes);
            let run = folder.run(&format!("bfs {name} --source 0"));
            let messages = [format!("is named .{extension} but is not "), "are corrupt or cut short".to_owned()];
            assert!(run.code == Some(2) && messages.iter().any(|m| run.stderr.contains(m)), "{bytes:?}: {run:?}");
        }
    }
}

#[test]
fn unknown_vertices_come_with_the_nearest_names() {
    let folder = Folder::new();
    folder.file("g.txt", "alice bob\nbob carol\n");
    folder.run("bfs g.txt --source alicf").fails(2, "no vertex named `alicf`; the nearest names are alice");
    folder.run("path g.txt alice karol").fails(2, "no vertex named `karol`; the nearest names are carol");
    folder.file("numbers.txt", "1 2\n2 34\n");
    folder.run("bfs numbers.txt --source alice").fails(2, "named `alice`; its vertices are numbered 1..34");
    folder.run("bfs numbers.txt --source -1").fails(2, "named `-1`; its vertices are numbered 1..34");
    folder.run("bfs numbers.txt --source 33").fails(2, "named `33`; the nearest names are 34, 2");
    folder.file("sources.txt", "# mine\nalice\n\ndave\n");
    folder.run("apsp g.txt --sources sources.txt").fails(2, "sources.txt:4: the graph has no vertex named `dave`");
    folder.file("none.txt", "# nobody\n");
    folder.run("apsp g.txt --targets none.txt").fails(2, "none.txt: there are no vertices in it");
}

#[test]
fn an_empty_graph_has_no_source() {
    let folder = Folder::new();
    folder.file("g.txt", "# nothing\n");
    folder.run("bfs g.txt --source 1").fails(2, "no vertex named `1`; it has no vertices at all");
    assert_eq!(folder.run("apsp g.txt --json").json()["finite_pairs"], 0);
    assert_eq!(folder.run("closure g.txt --json --verify").json()["reachable_pairs"], 0);
    assert_eq!(folder.run("info g.txt --json").json()["vertices"], 0);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n2 3\n");
    for (arguments, message) in [
        ("sssp g.txt --source 1 --cutoff -1", "the cutoff `-1` is not a number of 0 or more"),
        ("sssp g.txt --source 1 --cutoff nan", "the cutoff `nan` is not a number of 0 or more"),
        ("bfs g.txt --source 1 --cutoff 1.5", "the cutoff `1.5` is not a number of edges"),
        ("bfs g.txt --source 1 --threads 0", "0 is not in 1..=1024"),
        ("bfs g.txt --source 1 --threads -1", "-1 is not in 1..=1024"),
        ("bfs g.txt --source 1 --memory 0", "`0` is not a number of bytes"),
        ("bfs g.txt --source 1 --memory -5", "`-5` is not a number of bytes"),
        ("bfs g.txt --source 1 --memory 5X", "`5X` is not a number of bytes"),
        ("bfs g.txt --source 1 --engine gpu", "`gpu` is not an engine"),
        ("bfs g.txt --source 1 --algorithm dijkstra", "there is no algorithm `dijkstra` here; there are sequential"),
        (
            "sssp g.txt --source 1 --algorithm delta-stepping:delta=0",
            "`delta=0` of `delta-stepping` is not a number above 0",
        ),
        ("sssp g.txt --source 1 --algorithm delta-stepping:", "`delta-stepping:` ends where a parameter is expected"),
        ("sssp g.txt --source 1 --algorithm delta-stepping:size=1", "has no parameter `size`; its parameters: delta"),
        ("sssp g.txt --source 1 --weights 3", "g.txt: there is no column 3 to take weights from"),
        ("sssp g.txt --source 1 --weights cost", "g.txt: there is no header line to find the column `cost` in"),
        ("sssp g.txt --source 1 --weights 0", "columns are counted from 1"),
        ("sssp g.txt --source 1 --weights random:9..1", "weights 9..1 are none"),
        ("sssp g.txt --source 1 --weights random:0..4294967296", "do not fit 32 bits"),
        ("sssp g.txt", "required arguments were not provided"),
        ("bfs g.txt --source 1 --sources g.txt", "cannot be used with"),
        ("info g.txt --directed --undirected", "cannot be used with"),
        ("info g.txt --format excel", "invalid value 'excel'"),
        ("bfs kron:99 --source 0", "`99` is not a scale from 0 to 31"),
        ("bfs kron:5,size=3 --source 0", "there is no option `size`"),
        ("bfs kron:5 --source 0 --first-line counts", "`--first-line` is for files"),
        ("generate g.txt h.txt", "`g.txt` is not a generator"),
        ("closure g.txt --algorithm auto", "there is no algorithm `auto` here; there are "),
        ("bfs nowhere.txt --source 1", "nowhere.txt: No such file"),
        ("bfs . --source 1", "is a directory"),
    ] {
        folder.run(arguments).fails(2, message);
    }
    // Options are refused if they would have no effect.
    for (command, options) in [
        ("info g.txt", ["--plan", "--statistics", "--verbose"].as_slice()),
        ("convert g.txt h.txt", &["--engine=cpu", "--statistics", "--verbose"]),
        ("generate kron:4 h.txt", &["--engine=cpu", "--statistics", "--verbose"]),
    ] {
        for option in options {
            let name = option.split('=').next().unwrap();
            folder.run(&format!("{command} {option}")).fails(2, &format!("unexpected argument '{name}' found"));
        }
    }
    for options in ["--quiet --verbose", "--quiet --json"] {
        folder.run(&format!("closure g.txt {options}")).fails(2, "cannot be used with");
    }
    if warpath::devices().is_err() {
        folder.run("bfs g.txt --source 1 --engine cuda").fails(3, "there is");
        folder.run("apsp g.txt --engine cuda:all").fails(3, "there is");
        // Only the GPU engine has this parameter.
        let asked = "bfs g.txt --source 1 --algorithm direction-optimizing:bottom-up=0.1";
        folder.run(asked).fails(3, "there is");
    }
    folder.run("bfs g.txt --source 1 --engine cuda:4000000000").fails(3, "there is");
}

#[cfg(unix)]
#[test]
fn paths_need_not_be_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let folder = Folder::new();
    let name = std::ffi::OsStr::from_bytes(b"g\xff.txt");
    // Some file systems have UTF-8 names only.
    if std::fs::write(folder.path().join(name), "1 2\n").is_ok() {
        let output = folder.command("info --json").arg(name).output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
}
