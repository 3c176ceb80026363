//! Signals: the first ends the work, with exit code 130 and without a trace; the second ends it at once.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Folder;

fn command(folder: &Folder, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder.path()).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

fn warpath() -> PathBuf {
    assert_cmd::cargo::cargo_bin("warpath")
}

/// Starts the command, and waits until it handles signals.
fn start(folder: &Folder, arguments: &str) -> Child {
    ready(command(folder, warpath().to_str().unwrap()).args(arguments.split(' ')).spawn().unwrap())
}

/// Waits for a condition, up to a time limit.
fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what} does not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Waits until the system reports that a process handles SIGTERM; on other systems, waits a while.
fn ready(child: Child) -> Child {
    const SIGTERM: u32 = 15;
    let status = format!("/proc/{}/status", child.id());
    if !std::path::Path::new(&status).exists() {
        std::thread::sleep(Duration::from_secs(2));
        return child;
    }
    wait_until("the handler of signals", || {
        let status = std::fs::read_to_string(&status).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("what is caught");
        u64::from_str_radix(caught.trim(), 16).unwrap() >> (SIGTERM - 1) & 1 == 1
    });
    child
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

fn length(folder: &Folder, name: &str) -> u64 {
    folder.path().join(name).metadata().map_or(0, |metadata| metadata.len())
}

fn pipe(folder: &Folder, name: &str) -> PathBuf {
    let path = folder.path().join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}

/// Asserts that the process ends with this code.
#[track_caller]
fn ends(mut child: Child, code: i32, what: &str) {
    // A process that would wait for ever is a failure, not a hang.
    let start = Instant::now();
    let status = loop {
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None if start.elapsed() > Duration::from_secs(60) => {
                child.kill().unwrap();
                panic!("{what}: does not end");
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert_eq!(status.code(), Some(code), "{what}: {status:?}");
}

#[test]
fn ctrl_c_ends_with_130_and_leaves_no_output() {
    let folder = Folder::new();
    for arguments in ["apsp kron:15 --weights random:1..99 --output x.csv --memory 100G", "generate kron:22 x.txt"] {
        let child = start(&folder, arguments);
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, "-INT");
        ends(child, 130, arguments);
        assert!(folder.names().is_empty(), "{arguments}: {:?}", folder.names());
    }
}

/// The output takes long enough after its first bytes to be interrupted.
#[test]
fn ctrl_c_ends_writing() {
    let folder = Folder::new();
    for (arguments, partial) in [
        ("generate kron:16 x.txt.xz --quiet", "x.txt.xz.partial"),
        ("apsp uniform:12 --output x.csv --quiet", "x.csv.partial"),
    ] {
        for signals in [&["-INT"][..], &["-TERM"], &["-INT", "-INT"], &["-HUP", "-TERM"]] {
            let mut child = start(&folder, arguments);
            wait_until("the first bytes", || {
                assert!(child.try_wait().unwrap().is_none(), "{arguments}: ended before its first bytes");
                length(&folder, partial) > 0
            });
            signals.iter().for_each(|name| signal(&child, name));
            ends(child, 130, arguments);
            assert!(folder.names().is_empty(), "{arguments}, {signals:?}: {:?}", folder.names());
        }
    }
}

#[test]
fn ctrl_c_ends_waiting_for_standard_input() {
    let folder = Folder::new();
    let mut child = start(&folder, "info -");
    // Waiting for the child would close its standard input, and end the input.
    let _open = child.stdin.take();
    signal(&child, "-INT");
    ends(child, 130, "standard input");
}

#[test]
fn ctrl_c_ends_waiting_for_the_other_end_of_a_pipe() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n");
    pipe(&folder, "pipe.csv");
    for arguments in [
        "info pipe.csv",
        "bfs g.txt --sources pipe.csv",
        "apsp g.txt --targets pipe.csv --output x.npy",
        "bfs g.txt --source 1 --output pipe.csv",
        "convert g.txt pipe.csv",
    ] {
        let child = start(&folder, arguments);
        // The process may not continue, whether or not it waits already.
        std::thread::sleep(Duration::from_millis(100));
        signal(&child, "-INT");
        ends(child, 130, arguments);
        assert_eq!(folder.names(), ["g.txt", "pipe.csv"], "{arguments}");
    }
}

/// Whether this process was started with SIGHUP ignored, as `nohup` does. A shell can't undo that for the processes
/// started from here.
fn hanging_up_is_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0");
    u64::from_str_radix(ignored.trim(), 16).unwrap() & 1 == 1
}

/// A signal that `nohup` ignores stays ignored.
#[test]
fn a_signal_that_was_ignored_stays_ignored() {
    let folder = Folder::new();
    let graph = pipe(&folder, "graph.txt");
    for (ignored, sent, code) in [("HUP", "-HUP", 0), ("INT", "-INT", 0), ("HUP", "-INT", 130), ("INT", "-HUP", 130)] {
        if code != 0 && sent == "-HUP" && hanging_up_is_ignored() {
            println!("skipped: {sent} is ignored, as whoever started this test wished");
            continue;
        }
        let script = format!("trap '' {ignored}; exec \"$0\" info graph.txt --quiet");
        let mut child = ready(command(&folder, "sh").args(["-c", &script]).arg(warpath()).spawn().unwrap());
        signal(&child, sent);
        std::thread::sleep(Duration::from_millis(300));
        if code == 0 {
            // If it had ended, nothing would read what is written next.
            assert!(child.try_wait().unwrap().is_none(), "{ignored} is ignored, and it ended");
            std::fs::write(&graph, "1 2\n").unwrap();
        }
        ends(child, code, &format!("{ignored} is ignored, {sent} is sent"));
    }
}

#[test]
fn a_killed_table_is_resumed_and_ends_up_the_same() {
    let folder = Folder::new();
    let table = "apsp kron:12 --weights random:1..99 --quiet --threads 1 --memory 8M --output";
    let mut child = start(&folder, &format!("{table} x.npy"));
    // The journal has a header of 24 bytes, and 16 bytes for each block of rows written.
    wait_until("the first block", || {
        assert!(child.try_wait().unwrap().is_none(), "ended before its first block: {:?}", folder.names());
        length(&folder, "x.npy.partial.journal") >= 40
    });
    // A stopped process keeps its output locked.
    signal(&child, "-STOP");
    folder.run(&format!("{table} x.npy")).fails(2, "`x.npy.partial` is being written by another process");
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

/// An interruption tells how to continue, where something is kept to continue from.
#[test]
fn an_interrupted_table_says_that_it_can_be_resumed() {
    let folder = Folder::new();
    let table = "apsp kron:12 --weights random:1..99 --threads 1 --memory 8M --output";
    for (output, journal, says) in [("x.npy", "x.npy.partial.journal", true), ("x.csv", "x.csv.partial", false)] {
        let mut command = command(&folder, warpath().to_str().unwrap());
        let table = if says { table.to_owned() } else { table.replace("--memory 8M", "--json --memory 100M") };
        let child = command.args(format!("{table} {output}").split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = ready(child.spawn().unwrap());
        wait_until("the first block", || {
            assert!(child.try_wait().unwrap().is_none(), "ended before its first block: {:?}", folder.names());
            length(&folder, journal) >= 40
        });
        signal(&child, "-INT");
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(130), "{said}");
        assert_eq!(said.contains("the same command with `--resume` continues"), says, "{said}");
        let json = String::from_utf8(output.stdout).unwrap();
        assert_eq!(json.contains(r#""kind":"interrupted","exit_code":130"#), !says, "{json}");
    }
    assert_eq!(folder.names(), ["x.npy.partial", "x.npy.partial.journal"]);
}

#[test]
fn what_a_killed_process_left_stands_in_nobodys_way() {
    let folder = Folder::new();
    pipe(&folder, "graph.txt");
    folder.file("g.txt", "1 2\n");
    for output in ["x.csv", "x.npy"] {
        // The process waits for its graph, and already holds its output.
        let mut child = start(&folder, &format!("apsp graph.txt --output {output}"));
        wait_until("the output", || folder.names().contains(&format!("{output}.partial")));
        std::thread::sleep(Duration::from_millis(300));
        let second = format!("apsp g.txt --quiet --output {output}");
        folder.run(&second).fails(2, &format!("`{output}.partial` is being written by another process"));
        signal(&child, "-KILL");
        child.wait().unwrap();
        assert!(folder.names().contains(&format!("{output}.partial")));
        folder.run(&second).ok();
        assert!(!folder.names().contains(&format!("{output}.partial")));
    }
}

/// Writing beyond the file-size limit is an error like a full disk, and the partial output is removed.
#[test]
fn a_limit_of_the_size_of_files_is_exit_code_3() {
    let folder = Folder::new();
    for arguments in ["generate uniform:12 x.txt", "apsp uniform:8 --output x.csv", "apsp uniform:8 --output x.npy"] {
        let script = format!("ulimit -f 16; exec \"$0\" {arguments} --quiet");
        let status = command(&folder, "sh").args(["-c", &script]).arg(warpath()).status().unwrap();
        assert_eq!(status.code(), Some(3), "{arguments}: {status:?}");
        assert!(folder.names().is_empty(), "{arguments}: {:?}", folder.names());
    }
}
