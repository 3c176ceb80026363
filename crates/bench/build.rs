//! Tells the program its commit and the versions of the linked peers, so that results can record them.

use std::path::Path;
use std::process::Command;

/// The peers that are linked in.
const PEERS: [&str; 5] = ["petgraph", "rustworkx-core", "graph", "fast_paths", "routingkit-cch"];

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The versions of a package in a `Cargo.lock`.
fn versions<'a>(lock: &'a str, package: &str) -> Vec<&'a str> {
    let name = format!("name = \"{package}\"");
    let of_package = |table: &&str| table.lines().any(|line| line == name);
    let version =
        |table: &'a str| table.lines().find_map(|line| Some(line.strip_prefix("version = ")?.trim_matches('"')));
    lock.split("[[package]]").filter(of_package).filter_map(version).collect()
}

/// The version of a package that this one depends on; if the lock has several, the dependency names one.
fn locked(lock: &str, package: &str) -> Option<String> {
    let all = versions(lock, package);
    if let [one] = all[..] {
        return Some(one.to_owned());
    }
    let ours = lock.split("[[package]]").find(|table| table.contains("name = \"warpath-bench\""))?;
    let named = |version: &&str| ours.contains(&format!("\"{package} {version}\""));
    all.into_iter().find(named).map(str::to_owned)
}

fn main() {
    // The package's current place: a build folder may have moved since this was compiled.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo names the package's folder");
    let lock = Path::new(&package).join("../../Cargo.lock");
    println!("cargo:rerun-if-changed={}", lock.display());
    let lock = std::fs::read_to_string(lock).unwrap_or_default();
    for peer in PEERS {
        let version = locked(&lock, peer).unwrap_or_else(|| "of unknown version".to_owned());
        println!("cargo:rustc-env=WARPATH_PEER_{}={version}", peer.to_uppercase().replace('-', "_"));
    }
    println!("cargo:rerun-if-env-changed=WARPATH_COMMIT");
    let given = std::env::var("WARPATH_COMMIT").ok();
    let commit = given.or_else(|| {
        // The log grows with each commit.
        let log = git(&["rev-parse", "--path-format=absolute", "--git-path", "logs/HEAD"])?;
        println!("cargo:rerun-if-changed={log}");
        let changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
        let suffix = if changed.is_empty() { "" } else { " and changes" };
        Some(git(&["rev-parse", "--short=12", "HEAD"])? + suffix)
    });
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rustc-env=WARPATH_COMMIT={}", commit.as_deref().unwrap_or("unknown"));
}
