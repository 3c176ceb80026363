//! The emulator and the tests' kernels under AddressSanitizer and UndefinedBehaviorSanitizer, as a C++ program of their
//! own (`kernels/tests/sanitized.cpp`): sanitizers have to run from a program's first moment.
//!
//! To run everything else that uses the emulator under sanitizers, set `WARPATH_SANITIZE` (see `build.rs`).

#![cfg(feature = "emulator")]

/// Builds the program once, and runs it with each argument.
#[cfg(emulator)]
#[test]
fn sanitizers_find_planted_bugs_and_nothing_else() -> Result<(), Box<dyn std::error::Error>> {
    use std::path::Path;
    use std::process::Command;

    let folder = tempfile::tempdir()?;
    let program = folder.path().join("sanitized");
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("kernels");
    let compiler = |sanitizers: &[&str]| {
        let mut command = Command::new(env!("WARPATH_CXX"));
        command.args(["-std=c++20", "-O1", "-g", "-DWARPATH_EMULATOR", "-pthread", "-Wno-unknown-pragmas"]);
        command.args(sanitizers).arg("-fno-strict-aliasing").arg("-I").arg(&kernels).arg("-o").arg(&program);
        command
    };
    let sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

    let empty = folder.path().join("empty.cpp");
    std::fs::write(&empty, "int main() {}\n")?;
    if !compiler(&sanitizers).arg(&empty).status()?.success() || !Command::new(&program).status()?.success() {
        eprintln!("skipped: the C++ compiler has no sanitizers");
        return Ok(());
    }

    let mut build = compiler(&sanitizers);
    for file in std::fs::read_dir(kernels.join("emulator"))? {
        let file = file?.path();
        if file.extension().is_some_and(|extension| extension == "cpp") {
            build.arg(file);
        }
    }
    build.arg(kernels.join("tests/sanitized.cpp")).args(["-x", "c++"]);
    for kernel in ["barriers.cu", "collectives.cu", "memory.cu"] {
        build.arg(kernels.join("tests").join(kernel));
    }
    assert!(build.status()?.success(), "the program must compile");

    let run = |arguments: &[&str]| {
        let output = Command::new(&program).args(arguments).env("ASAN_OPTIONS", "detect_leaks=0").output()?;
        let text = [output.stdout, output.stderr].concat();
        std::io::Result::Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
    };
    let (is_clean, text) = run(&[])?;
    assert!(is_clean, "{text}");
    for bug in ["bug_out_of_bounds", "bug_shared_overrun"] {
        let (is_clean, text) = run(&[bug])?;
        assert!(!is_clean && text.contains("heap-buffer-overflow") && text.contains(bug), "{text}");
    }
    Ok(())
}
