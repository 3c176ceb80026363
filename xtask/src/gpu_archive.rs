//! `cargo xtask gpu-archive`: puts everything to run on a machine with a GPU and without Rust in one folder.
//!
//! The folder holds the command, the tests of the library and the bench, each packed by gzip, and the script `run.sh`.
//! The script unpacks them and runs the tests, the tests of outside events that hit a GPU, searches with less memory than their
//! graphs take and on all devices, all algorithms on small graphs under each tool of compute-sanitizer, and the bench. It prints one
//! table.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::kernels::{at, output_of};

/// The most bytes of the folder.
const MOST_BYTES: u64 = 60_000_000;

pub(crate) fn run(root: &Path, directory: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = |arguments: &[&str]| {
        let mut command = Command::new(&cargo);
        command.current_dir(root);
        if arguments[0] != "bench" {
            command.arg(arguments[0]).arg("--release").args(&arguments[1..]);
        } else {
            command.args(arguments);
        }
        command.args(["--locked", "--message-format=json-render-diagnostics"]);
        executables(&output_of(&mut command)?)
    };
    let mut built = build(&["build", "--package", "warpath-cli", "--bin", "warpath"])?;
    built.extend(build(&["test", "--no-run", "--package", "warpath", "--lib", "--features", "lab"])?);
    built.extend(build(&["bench", "--no-run", "--package", "warpath", "--bench", "gpu"])?);
    let is_ours =
        directory.join("run.sh").exists() || fs::read_dir(directory).is_ok_and(|mut files| files.next().is_none());
    if directory.exists() && !is_ours {
        return Err(format!("{} is no archive of this kind; it would be replaced", directory.display()));
    }
    if directory.exists() {
        fs::remove_dir_all(directory).map_err(at(directory))?;
    }
    fs::create_dir_all(directory).map_err(at(directory))?;
    let mut files = Vec::new();
    for (name, path) in built {
        let to = directory.join(name);
        fs::copy(&path, &to).map_err(at(&path))?;
        // Pack the program for the transfer: that is little more than half of the size.
        output_of(Command::new("gzip").arg("-9n").arg(&to))?;
        files.push(to.with_extension("gz"));
    }
    let script = directory.join("run.sh");
    fs::copy(root.join("xtask/src/gpu_archive.sh"), &script).map_err(at(&script))?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).map_err(at(&script))?;
    }
    files.push(script);
    let mut total = 0;
    for file in &files {
        let bytes = fs::metadata(file).map_err(at(file))?.len();
        println!("{bytes:>12} {}", file.display());
        total += bytes;
    }
    println!("{total:>12} bytes in all");
    if total > MOST_BYTES {
        return Err(format!("the archive has {total} bytes; at most {MOST_BYTES} travel"));
    }
    Ok(())
}

/// The programs that cargo reports as built: each one's name in the archive, and its path.
fn executables(messages: &str) -> Result<Vec<(&'static str, PathBuf)>, String> {
    let mut found = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: serde_json::Value = serde_json::from_str(line).map_err(|error| format!("cargo said {error}"))?;
        let Some(path) = message["executable"].as_str() else { continue };
        let is = |kind: &str| message["target"]["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|k| k == kind));
        let name = match (is("bench"), is("bin")) {
            (true, _) => "warpath-bench",
            (_, true) => "warpath",
            _ => "warpath-tests",
        };
        found.push((name, PathBuf::from(path)));
    }
    if found.is_empty() { Err("cargo has built no program".into()) } else { Ok(found) }
}
