//! Outputs are whole or not there, found unwritable before the work, and refused with the bytes where they do not fit.

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
        // The graph does not exist either, but is looked at later.
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
    folder.run("apsp g.txt --resume --output x.csv").fails(2, "`--resume` goes on with a .npy");
    assert_eq!(folder.names(), ["g.txt"]);
}

#[test]
fn results_that_do_not_fit_are_refused_with_the_bytes() {
    let folder = Folder::new();
    folder.run("apsp kron:10 --memory 1M --output x.csv").fails(3, "of memory, 1048576 are available");
    folder
        .run("apsp uniform:20,edges-per-vertex=1 --output x.npy")
        .fails(3, "`x.npy` needs 4398046511232 bytes of disk space");
    folder.run("closure uniform:20,edges-per-vertex=1 --output x.npy").fails(3, "1099511627776 bytes of disk space");
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

#[cfg(unix)]
mod interrupted {
    use super::*;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    fn start(folder: &Folder, arguments: &str) -> Child {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("warpath"));
        command.current_dir(folder.path()).args(arguments.split(' '));
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    }

    fn signal(child: &Child, name: &str) {
        assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
    }

    #[test]
    fn ctrl_c_ends_with_130_and_leaves_no_output() {
        let folder = Folder::new();
        for arguments in ["apsp kron:15 --weights random:1..99 --output x.csv --memory 100G", "generate kron:22 x.txt"]
        {
            let mut child = start(&folder, arguments);
            std::thread::sleep(Duration::from_millis(700));
            signal(&child, "-INT");
            assert_eq!(child.wait().unwrap().code(), Some(130), "{arguments}");
            assert!(folder.names().is_empty(), "{arguments}: {:?}", folder.names());
        }
    }

    #[test]
    fn ctrl_c_ends_waiting_for_standard_input() {
        let folder = Folder::new();
        let mut child = start(&folder, "info -");
        // Waiting for the child would close it, and end the input.
        let _open = child.stdin.take();
        std::thread::sleep(Duration::from_millis(500));
        signal(&child, "-INT");
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }

    #[test]
    fn a_killed_table_is_resumed_and_ends_up_the_same() {
        let folder = Folder::new();
        let table = "apsp kron:10 --weights random:1..99 --quiet --threads 1 --memory 2M --output";
        let mut child = start(&folder, &format!("{table} x.npy"));
        // The journal has a header of 24 bytes and 16 for each block of rows that is written.
        let journal = folder.path().join("x.npy.partial.journal");
        while journal.metadata().map_or(0, |metadata| metadata.len()) < 40 {
            assert!(child.try_wait().unwrap().is_none(), "ended before its first block: {:?}", folder.names());
            std::thread::sleep(Duration::from_millis(1));
        }
        signal(&child, "-KILL");
        assert_eq!(child.wait().unwrap().code(), None);
        assert!(!folder.names().contains(&"x.npy".to_owned()), "{:?}", folder.names());
        folder.run("apsp kron:9 --output x.npy --resume").fails(2, "was begun for another graph");
        folder.run(&format!("{table} x.npy --resume")).ok();
        assert_eq!(folder.names(), ["x.npy"]);
        folder.run(&format!("{table} y.npy")).ok();
        let read = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
        assert!(read("x.npy") == read("y.npy"));
    }
}
