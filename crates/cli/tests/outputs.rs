//! Outputs are complete or absent, found unwritable before the work, and refused with the bytes where they do not fit.

#![allow(missing_docs)]

mod common;

use common::Folder;

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
    folder.run("apsp uniform:20,edges-per-vertex=1 --output x.npy").fails(3, "`x.npy` needs 4.0 TiB of disk space");
    folder.run("closure uniform:20,edges-per-vertex=1 --output x.npy").fails(3, "needs 1.0 TiB of disk space");
    assert!(folder.names().is_empty(), "{:?}", folder.names());
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
