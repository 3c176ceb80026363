//! Tells the program which commit it is made of, so that results can say so.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
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
