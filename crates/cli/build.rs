//! The version that `warpath --version` prints: that of the package, with the commit and the features it is built from.

use std::path::Path;
use std::process::Command;

fn main() {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // A package that was unpacked inside another repository has no commit of that one.
    let here = std::env::var("CARGO_MANIFEST_DIR").unwrap_or_default();
    let is_own = git(&["rev-parse", "--show-toplevel"])
        .is_some_and(|top| Path::new(&top).join("crates/cli") == Path::new(&here));
    let commit = git(&["rev-parse", "--short=10", "HEAD"]).filter(|_| is_own);
    // The commit changes with the branch that is checked out, and with what that branch points to.
    for path in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", path]).filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    println!("cargo::rerun-if-changed=build.rs");
    // The CUDA engine is a default feature of the library, which this package does not turn off.
    let features = [("CUDA", "cuda"), ("LAB", "lab"), ("PEERS", "peers")];
    let features = features
        .iter()
        .filter(|(name, _)| *name == "CUDA" || std::env::var_os(format!("CARGO_FEATURE_{name}")).is_some());
    let features: Vec<&str> = features.map(|(_, feature)| *feature).collect();
    let commit = commit.map_or(String::new(), |commit| format!("commit {commit}, "));
    println!("cargo::rustc-env=WARPATH_VERSION={version} ({commit}features: {})", features.join(", "));
}

/// What a git command prints; `None` outside a repository, or without git.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
