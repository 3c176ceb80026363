//! Outputs are complete or absent, found unwritable before the work, and refused with the bytes where they do not fit.

use crate::common::{Folder, MANY_VERTICES};

#[test]
fn unwritable_outputs_are_found_first() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("d.csv")).unwrap();
    folder.file("g.txt", "1 2\n");
    for (output, message) in [
        ("none/x.csv", "none/x.csv: No such file"),
        ("d.csv", "d.csv: is a directory"),
        ("x.foo", "`x.foo` names no format for a result"),
        ("x", "`x` names no format for a result"),
    ] {
        // The graph does not exist either, but is opened later.
        for command in ["bfs nowhere --source 1", "sssp nowhere --source 1", "apsp nowhere", "closure nowhere"] {
            folder.run(&format!("{command} --output {output}")).fails(2, message);
        }
    }
    folder.run("convert nowhere none/x.wpg").fails(2, "none/x.wpg: No such file");
    folder.run("convert nowhere x.foo").fails(2, "`x.foo`: the extension names no format");
    assert_eq!(folder.names(), ["d.csv", "g.txt"]);
}

#[test]
fn a_npy_takes_distances_only() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n");
    for (arguments, message) in [
        ("bfs g.txt --source 1 --predecessors", "`--predecessors` needs a .csv"),
        ("bfs g.txt --source 1 --count-paths", "`--count-paths` needs a .csv"),
        ("bfs g.txt --sources g.txt", "one result for each source does not fit a .npy"),
        ("apsp g.txt --reduce histogram", "a reduction is written to a .csv"),
    ] {
        folder.run(&format!("{arguments} --output x.npy")).fails(2, message);
    }
    folder.run("apsp g.txt --resume --output x.csv").fails(2, "`--resume` continues a .npy");
    assert_eq!(folder.names(), ["g.txt"]);
}

#[test]
fn results_that_do_not_fit_are_refused_with_the_bytes() {
    let folder = Folder::new();
    folder.run("apsp kron:10 --memory 1M --output x.csv").fails(3, "of memory (available: 1.0 MiB)");
    folder.file("many.mtx", MANY_VERTICES);
    folder.run("apsp many.mtx --output x.npy").fails(3, "`x.npy` needs 4.0 TiB of disk space");
    folder.run("closure many.mtx --output x.npy").fails(3, "needs 1.0 TiB of disk space");
    assert_eq!(folder.names(), ["many.mtx"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_exit_code_3() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n");
    folder.run("convert g.txt /dev/full --output-format edge-list").fails(3, "No space left on device");
    for arguments in
        ["bfs g.txt --source 1", "bfs g.txt --source 1 --json", "bfs g.txt --source 1 --output -", "info g.txt"]
    {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let mut command = std::process::Command::new(assert_cmd::cargo::cargo_bin("warpath"));
        let output = command.current_dir(folder.path()).args(arguments.split(' ')).stdout(full).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{arguments}: {output:?}");
    }
}

#[test]
fn a_table_may_be_wide() {
    let folder = Folder::new();
    folder.file("g.csv", "source,target,km\n\"Bath, Somerset\",Rio,3\nRio,Oslo,4\n");
    folder.file("from.txt", "Bath, Somerset\nOslo\n");
    folder.file("to.txt", "Oslo\nBath, Somerset\nRio\n");
    let lists = "apsp g.csv --sources from.txt --targets to.txt";
    let wide = "source,Oslo,\"Bath, Somerset\",Rio\n\"Bath, Somerset\",7,0,3\nOslo,0,,\n";
    assert_eq!(folder.run(&format!("{lists} --output - --layout wide")).ok(), wide);
    folder.run(&format!("{lists} --output x.tsv --layout wide --quiet")).ok();
    assert_eq!(
        folder.read("x.tsv"),
        "source\tOslo\t\"Bath, Somerset\"\tRio\n\"Bath, Somerset\"\t7\t0\t3\nOslo\t0\t\t\n"
    );
    assert_eq!(
        folder.run(&format!("{lists} --output - --layout long")).ok(),
        folder.run(&format!("{lists} --output -")).ok()
    );
    let all = folder.run("apsp g.csv --layout wide --output -").ok();
    assert_eq!(all, "source,\"Bath, Somerset\",Rio,Oslo\n\"Bath, Somerset\",0,3,7\nRio,,0,4\nOslo,,,0\n");
    folder.run(&format!("{lists} --output x.npy --layout wide")).fails(2, "`--layout` is for a .csv");
    folder.run(&format!("{lists} --layout wide")).fails(2, "required arguments were not provided");
    folder.run(&format!("{lists} --output x.csv --layout wide --successors")).fails(2, "cannot be used with");
    folder.run(&format!("{lists} --output x.csv --layout wide --reduce histogram")).fails(2, "cannot be used with");
}

#[test]
fn every_table_may_be_packed_or_have_tabs() {
    let folder = Folder::new();
    folder.file("g.csv", "source,target,km\n\"a, b\",c,3\nc,d,4\n");
    folder.file("pairs.csv", "\"a, b\",d\n");
    let commands = [
        "bfs g.csv --source c",
        "sssp g.csv --source c --predecessors",
        "apsp g.csv",
        "apsp g.csv --reduce harmonic",
        "closure g.csv",
        "components g.csv",
        "path g.csv c d",
        "path g.csv --pairs pairs.csv",
    ];
    for command in commands {
        let expected = folder.run(&format!("{command} --output -")).ok();
        let unpacked = |name: &str| {
            folder.run(&format!("{command} --output {name} --quiet")).ok();
            let bytes = warpath::ReadOptions::new().read_text(folder.path().join(name)).unwrap();
            (std::fs::read(folder.path().join(name)).unwrap() != bytes, String::from_utf8(bytes).unwrap())
        };
        for name in ["x.csv", "x.csv.gz", "x.csv.zst", "x.csv.bz2", "x.csv.xz"] {
            assert_eq!(unpacked(name), (name != "x.csv", expected.clone()), "{command}: {name}");
        }
        let rows = |text: &str| -> Vec<Vec<String>> {
            text.lines().map(|line| warpath::tables::csv_fields(line).unwrap()).collect()
        };
        for name in ["x.tsv", "x.tsv.gz"] {
            let (is_packed, text) = unpacked(name);
            assert_eq!((is_packed, rows(&text)), (name != "x.tsv", rows(&expected)), "{command}: {name}");
            assert!(text.lines().next().unwrap().contains('\t'), "{command}: {text}");
        }
    }
    folder.run("apsp g.csv --output x.npy.gz").fails(2, "`x.npy.gz` names no format for a result");
}
