//! One rule for all outputs, checked before any work: other writers, files that would be replaced, targets of links.

use std::fs::File;

use crate::common::Folder;

/// A graph, and one command for each way to write a file.
const WRITERS: [(&str, &str); 6] = [
    ("apsp g.txt --output", "x.npy"),
    ("apsp g.txt --output", "x.csv"),
    ("bfs g.txt --source 1 --output", "x.csv"),
    ("closure g.txt --output", "x.npy"),
    ("convert g.txt", "x.wpg"),
    ("generate grid:2x2", "x.gr.gz"),
];

#[test]
fn only_one_writes_an_output() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n");
    for (command, output) in WRITERS {
        let partial = folder.file(&format!("{output}.partial"), "of another process");
        let other = File::options().write(true).open(&partial).unwrap();
        other.try_lock().unwrap();
        let writing = format!("{command} {output} --quiet");
        folder.run(&writing).fails(2, &format!("`{output}.partial` is being written by another process"));
        assert_eq!(std::fs::read(&partial).unwrap(), b"of another process", "{writing}");
        drop(other);
        folder.run(&writing).ok();
        assert_eq!(folder.names(), ["g.txt", output], "{writing}");
        std::fs::remove_file(folder.path().join(output)).unwrap();
    }
}

#[test]
fn an_output_does_not_replace_an_input() {
    let folder = Folder::new();
    for name in ["g.txt", "g.csv", "x.csv.partial", "y.npy.partial.journal"] {
        folder.file(name, "1 2\n2 1\n");
    }
    let names = folder.names();
    let replaced = "would replace the input";
    let made = "while it is made";
    for (arguments, message) in [
        ("convert g.txt g.txt", replaced),
        ("convert g.txt ./g.txt", replaced),
        ("bfs g.csv --source 1 --output g.csv", replaced),
        ("sssp g.txt --sources g.csv --output g.csv", replaced),
        ("apsp g.txt --targets g.csv --output g.csv", replaced),
        ("closure g.csv --output g.csv", replaced),
        ("bfs x.csv.partial --source 1 --output x.csv", made),
        ("bfs missing.csv.partial --source 1 --output missing.csv", made),
        ("apsp g.txt --sources x.csv.partial --output x.csv", made),
        ("apsp y.npy.partial.journal --output y.npy", made),
        ("apsp y.npy.partial.journal --output y.npy --plan", made),
    ] {
        folder.run(arguments).fails(2, message);
        assert_eq!(folder.names(), names, "{arguments}");
        assert!(names.iter().all(|name| folder.read(name) == "1 2\n2 1\n"), "{arguments}");
    }
    // A generator's name is not a file name.
    folder.run("generate grid:2x2 grid:2x2 --output-format edge-list --quiet").ok();
}

#[test]
fn folders_are_refused_before_the_work() {
    let folder = Folder::new();
    for name in ["x.npy", "x.csv"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
        // The graph does not exist either, but is opened later.
        for command in ["apsp nowhere", "bfs nowhere --source 1", "closure nowhere"] {
            folder.run(&format!("{command} --output {name}")).fails(2, &format!("{name}: is a directory"));
        }
    }
}

#[test]
fn a_list_is_read_as_graphs_are() {
    let folder = Folder::new();
    folder.file("g.txt", "1 2\n2 3\n");
    folder.file("long.txt", format!("1\n{}\n", "2".repeat(100_000)));
    folder.run("bfs g.txt --sources long.txt").fails(2, "long.txt:2: no name of a vertex is so long");
    folder.file("some.txt", "# none\n\n 1 \n3\n");
    let found = folder.run("bfs g.txt --sources some.txt --json").json();
    assert_eq!(found["results"].as_array().unwrap().len(), 2);
}

#[cfg(unix)]
mod unix {
    use std::os::unix::fs::symlink;
    use std::process::{Command, Stdio};

    use super::*;

    fn warpath(folder: &Folder, arguments: &str) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin("warpath"));
        command.current_dir(folder.path()).args(arguments.split(' '));
        command
    }

    #[test]
    fn a_link_is_followed_and_stays() {
        let folder = Folder::new();
        folder.file("g.txt", "1 2\n");
        std::fs::create_dir(folder.path().join("there")).unwrap();
        for (command, output) in WRITERS {
            let (link, target) = (folder.path().join(output), folder.path().join("there").join(output));
            symlink(format!("there/{output}"), &link).unwrap();
            for round in ["made", "replaced"] {
                folder.run(&format!("{command} {output} --quiet")).ok();
                assert!(link.is_symlink() && target.is_file() && !target.is_symlink(), "{command}, {round}");
                assert_eq!(std::fs::read_dir(folder.path().join("there")).unwrap().count(), 1, "{command}, {round}");
            }
            std::fs::remove_file(link).unwrap();
            std::fs::remove_file(target).unwrap();
        }
        assert_eq!(folder.names(), ["g.txt", "there"]);
    }

    #[test]
    fn a_link_in_the_place_of_what_is_made_is_refused() {
        let folder = Folder::new();
        folder.file("g.txt", "1 2\n");
        folder.file("victim", "precious");
        for (command, output) in WRITERS {
            let link = folder.path().join(format!("{output}.partial"));
            symlink("victim", &link).unwrap();
            let writing = format!("{command} {output}");
            folder.run(&writing).fails(2, &format!("{output}.partial: a symbolic link is in the way"));
            assert!(link.is_symlink(), "{writing}");
            std::fs::remove_file(&link).unwrap();
        }
        symlink("victim", folder.path().join("x.npy.partial.journal")).unwrap();
        for resume in ["", " --resume"] {
            let run = folder.run(&format!("apsp g.txt --output x.npy{resume}"));
            run.fails(2, "x.npy.partial.journal: a symbolic link is in the way");
        }
        assert_eq!(folder.read("victim"), "precious");
        assert_eq!(folder.names(), ["g.txt", "victim", "x.npy.partial.journal"]);
    }

    #[test]
    fn an_input_that_leads_to_the_output_is_refused() {
        let folder = Folder::new();
        let graph = folder.file("g.txt", "1 2\n");
        symlink("g.txt", folder.path().join("link.txt")).unwrap();
        std::fs::hard_link(&graph, folder.path().join("same.txt")).unwrap();
        for arguments in ["convert link.txt g.txt", "convert g.txt link.txt", "convert same.txt g.txt"] {
            folder.run(arguments).fails(2, "would replace the input");
        }
        if std::path::Path::new("/dev/stdin").exists() {
            let mut reading = warpath(&folder, "convert - g.txt --format edge-list");
            let output = reading.stdin(File::open(&graph).unwrap()).output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{output:?}");
        }
        assert_eq!(folder.read("g.txt"), "1 2\n");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_no_file_is_written_directly_or_refused_before_the_work() {
        let folder = Folder::new();
        folder.file("g.txt", "1 2\n");
        for name in ["full.csv", "full.npy"] {
            symlink("/dev/full", folder.path().join(name)).unwrap();
        }
        for arguments in [
            "bfs g.txt --source 1 --output full.csv",
            "bfs g.txt --source 1 --output full.npy",
            "apsp g.txt --output full.csv",
            "closure g.txt --output full.npy",
        ] {
            folder.run(arguments).fails(3, "No space left on device");
        }
        folder.run("apsp nowhere --output full.npy").fails(2, "`full.npy` is no regular file");
        assert!(folder.path().join("full.csv").is_symlink() && folder.path().join("full.npy").is_symlink());
        assert_eq!(folder.names(), ["full.csv", "full.npy", "g.txt"]);
    }

    /// The reader of a pipe gets everything, and one end of the stream.
    #[test]
    fn a_pipe_gets_what_a_file_would() {
        let folder = Folder::new();
        folder.file("g.txt", "1 2\n2 3\n");
        for (arguments, name) in [("bfs g.txt --source 1 --quiet --output", "x.csv"), ("convert g.txt --quiet", "x.gr")]
        {
            folder.run(&format!("{arguments} {name}")).ok();
            let expected = folder.read(name);
            let path = folder.path().join(name);
            std::fs::remove_file(&path).unwrap();
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            let reader = {
                let path = path.clone();
                std::thread::spawn(move || std::fs::read_to_string(path).unwrap())
            };
            folder.run(&format!("{arguments} {name}")).ok();
            assert_eq!(reader.join().unwrap(), expected);
            std::fs::remove_file(path).unwrap();
        }
        // A list of vertices can come from a pipe, too.
        let path = folder.path().join("list");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let writer = std::thread::spawn(move || std::fs::write(path, "1\n3\n").unwrap());
        let found = folder.run("bfs g.txt --sources list --json").json();
        assert_eq!(found["results"].as_array().unwrap().len(), 2);
        writer.join().unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn an_endless_list_ends_with_memory() {
        let folder = Folder::new();
        folder.file("g.txt", "1 2\n");
        for arguments in ["bfs g.txt --sources", "sssp g.txt --sources", "apsp g.txt --sources", "apsp g.txt --targets"]
        {
            folder.run(&format!("{arguments} /dev/zero --memory 20M")).fails(3, "the input `/dev/zero`");
        }
    }

    /// A message that can't be written is dropped, and the exit code stays the same.
    #[cfg(target_os = "linux")]
    #[test]
    fn unwritable_standard_streams_change_no_exit_code() {
        let folder = Folder::new();
        folder.file("named.txt", "a b\n");
        let full = || Stdio::from(File::options().write(true).open("/dev/full").unwrap());
        for (arguments, code) in [
            ("bfs nowhere --source 1", 2),
            ("bfs", 2),
            ("bfs named.txt --source c", 2),
            ("apsp kron:10 --memory 1M --output x.csv", 3),
            // This command has a note to print.
            ("convert named.txt x.mtx", 0),
            ("bench --suite no-such-suite", 2),
        ] {
            let status = warpath(&folder, arguments).stdout(Stdio::null()).stderr(full()).status().unwrap();
            assert_eq!(status.code(), Some(code), "{arguments}: {status:?}");
        }
        for arguments in ["--help", "--version", "bfs --help", "bfs named.txt --source a", "devices"] {
            let status = warpath(&folder, arguments).stdout(full()).stderr(full()).status().unwrap();
            assert_eq!(status.code(), Some(3), "{arguments}: {status:?}");
        }
    }
}
