//! Lack of memory: exit code 3 with the bytes, whatever limit is met and wherever; never a crash.

use std::process::{Command, Output, Stdio};

use crate::common::Folder;

/// Runs the program with its address space limited to this many kilobytes.
fn limited(folder: &Folder, kilobytes: u64, arguments: &str) -> Output {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v $0 && exec \"$@\"", &kilobytes.to_string()]);
    command.arg(assert_cmd::cargo::cargo_bin("warpath")).args(arguments.split_whitespace());
    command.current_dir(folder.path()).stdin(Stdio::null()).output().unwrap()
}

#[test]
fn a_limit_on_addresses_is_exit_code_3_at_any_size() {
    let folder = Folder::new();
    let numbers: String = (0..20_000).map(|v| format!("{v} {} 3\n", (v * 7919) % 20_011)).collect();
    folder.file("g.txt", numbers);
    let mut codes = Vec::new();
    // The program does not start with less memory than it takes itself.
    let starts = |&kilobytes: &u64| limited(&folder, kilobytes, "--version").status.success();
    for kilobytes in [30_000, 60_000, 90_000, 130_000, 200_000, 400_000, 1_000_000].into_iter().filter(starts) {
        for arguments in [
            "bfs kron:17 --source 0 --threads 4",
            "sssp g.txt --source 1 --threads 4",
            "apsp kron:11 --reduce closeness --threads 4",
            "closure uniform:12 --threads 4",
            "convert g.txt x.wpg --threads 4",
            "generate grid:100x100 y.gr.xz --threads 4",
            "path g.txt 1 9 --threads 16",
            "info g.txt --threads 4",
        ] {
            let output = limited(&folder, kilobytes, arguments);
            let code = output.status.code();
            assert!(matches!(code, Some(0 | 2 | 3)), "{kilobytes} KB, {arguments}: {output:?}");
            // Code 2 means that the input needs correcting, such as a missing vertex; none of these commands has such a
            // fault.
            assert_ne!(code, Some(2), "{kilobytes} KB, {arguments}: {output:?}");
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(code == Some(0) || !said.trim().is_empty(), "{kilobytes} KB, {arguments}: nothing is said");
            assert!(!said.contains("panicked"), "{kilobytes} KB, {arguments}: {said}");
            codes.push(code);
        }
    }
    assert!(codes.contains(&Some(0)) && codes.contains(&Some(3)), "{codes:?}");
}

#[test]
fn the_plan_knows_a_limit_on_addresses() {
    let folder = Folder::new();
    let output = limited(&folder, 1_000_000, "bfs kron:10 --source 0 --plan --json --threads 1");
    let plan: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let available = plan["memory_available"].as_u64().unwrap();
    assert!(available < 1_000_000 << 10, "{plan}");
}

#[test]
fn a_packed_file_that_unpacks_beyond_memory_is_exit_code_3() {
    use std::io::Write;
    let folder = Folder::new();
    // 1 GiB of comments: a few hundred kilobytes packed.
    let file = std::fs::File::create(folder.path().join("bomb.txt.gz")).unwrap();
    let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    let line = vec![b'#'; 1 << 20];
    for _ in 0..1024 {
        packer.write_all(&line).unwrap();
    }
    packer.finish().unwrap();
    for output in [
        limited(&folder, 600_000, "info bomb.txt.gz --threads 1"),
        limited(&folder, 8_000_000, "info bomb.txt.gz --threads 1 --memory 300M"),
    ] {
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{output:?}");
        assert!(said.contains("the input, unpacked, needs"), "{said}");
    }
}

#[test]
fn headers_that_promise_are_refused_and_kept_to_memory() {
    let folder = Folder::new();
    folder.file("x.gr", "p sp 1000000000 1\na 1 2 3\n");
    folder.file("x.mtx", "%%MatrixMarket matrix coordinate pattern general\n1000000000 1000000000 1\n1 2\n");
    for file in ["x.gr", "x.mtx"] {
        let info = format!("info {file}");
        folder.run(&info).fails(2, "1000000000 vertices are announced");
        folder.run(&info).fails(2, "`--allow-isolated`");
        folder.run(&format!("sssp {file} --source 1 --allow-isolated --memory 1G")).fails(3, "14.9 GiB of memory");
    }
    folder.file("few.gr", "p sp 2000000 1\na 1 2 3\n");
    folder.run("info few.gr").fails(2, "2000000 vertices are announced");
    folder.run("info few.gr --allow-isolated").ok();
    folder.run("bfs kron:5 --source 0 --allow-isolated").fails(2, "is for files");
}
