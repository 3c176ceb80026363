//! CUDA drivers that are too old, incomplete, without a device or failing: a clear error, or the CPU, and no panic.
//!
//! The tests build these drivers from `cuda_drivers.c`; the loader finds them before any other.

use std::process::Command;
use std::time::Duration;

use crate::common::{Folder, Run};

/// The source of all drivers, in C.
const SOURCE: &str = include_str!("cuda_drivers.c");

/// A folder with a driver.
struct Driver(Folder);

impl Driver {
    /// Builds a driver from the source lines for which `stays` holds; `None`, with a message, without a C compiler.
    fn with(stays: impl Fn(&str) -> bool) -> Option<Self> {
        let folder = Folder::new();
        let lines: Vec<&str> = SOURCE.lines().filter(|line| function(line).is_none_or(&stays)).collect();
        folder.file("driver.c", lines.join("\n"));
        let arguments = ["-shared", "-fPIC", "-w", "-o", "libcuda.so.1", "driver.c"];
        match Command::new("cc").current_dir(folder.path()).args(arguments).output() {
            Err(error) => {
                eprintln!("skipped: there is no C compiler: {error}");
                None
            }
            Ok(output) => {
                assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
                Some(Driver(folder))
            }
        }
    }

    fn whole() -> Option<Self> {
        Self::with(|_| true)
    }

    /// Runs the program with this driver and these variables for it. The program neither panics nor hangs.
    #[track_caller]
    fn run(&self, arguments: &str, variables: &[(&str, &str)]) -> Run {
        let mut command = self.0.command(arguments);
        let output = command
            .env("LD_LIBRARY_PATH", self.0.path())
            .env_remove("CUDA_VISIBLE_DEVICES")
            .envs(variables.iter().copied())
            .timeout(Duration::from_secs(120))
            .output()
            .unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let run = Run { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) };
        assert!(run.code.is_some_and(|code| code <= 3), "{arguments}, {variables:?}: {run:?}");
        assert!(!run.stderr.contains("panicked"), "{arguments}, {variables:?}: {run:?}");
        run
    }

    /// Asserts that every command finds no device for this reason, and that the CPU works without one.
    #[track_caller]
    fn has_no_device(&self, variables: &[(&str, &str)], reason: &str) {
        self.run("bfs grid:5x5 --source 0 --engine cuda", variables).fails(3, reason);
        let devices = self.run("devices", variables).ok();
        assert!(devices.contains(reason), "{reason}\nis not in\n{devices}");
        let found = self.run("bfs grid:5x5 --source 0 --engine auto --verify --verbose", variables).ok();
        assert!(found.contains("on cpu") && found.contains("verified"), "{found}");
    }
}

/// The function that a line defines.
fn function(line: &str) -> Option<&str> {
    line.strip_prefix("F(")?.split(',').next()
}

/// The functions of the driver that the program calls.
fn functions() -> impl Iterator<Item = &'static str> {
    SOURCE.lines().filter_map(function)
}

#[test]
fn a_driver_that_is_too_old_says_which_one_is_needed() {
    let Some(driver) = Driver::whole() else { return };
    let reason = "the CUDA driver is too old: it supports CUDA 12.0, and 13.0 is needed, which is driver 580 or newer";
    driver.has_no_device(&[("STUB_VERSION", "12000")], reason);
    // A real old driver lacks some functions.
    let new = ["cuCtxCreate_v4", "cuEventElapsedTime_v2", "cuLaunchKernelEx"];
    let Some(driver) = Driver::with(|name| !new.contains(&name)) else { return };
    driver.has_no_device(&[("STUB_VERSION", "12000")], reason);
}

#[test]
fn a_driver_without_some_function_says_which_one() {
    for left_out in functions().filter(|name| *name != "cuCtxGetCurrent").step_by(5).chain(["cuInit"]) {
        let Some(driver) = Driver::with(|name| name != left_out) else { return };
        driver.has_no_device(&[], &format!("the CUDA driver is incomplete: it has no function {left_out}"));
    }
    let half: Vec<&str> = functions().step_by(2).collect();
    let Some(driver) = Driver::with(|name| half.contains(&name)) else { return };
    driver.has_no_device(&[], "the CUDA driver is incomplete");
    let Some(driver) = Driver::with(|_| false) else { return };
    driver.has_no_device(&[], "the CUDA driver is incomplete");
}

#[test]
fn a_driver_that_does_not_load_or_start_says_why() {
    let Some(driver) = Driver::whole() else { return };
    for (failure, reason) in [
        ("cuInit=999", "the CUDA driver does not start: planted (CUDA_ERROR_PLANTED)"),
        ("cuInit=803", "the CUDA driver does not start: planted"),
        ("cuInit=123456", "the CUDA driver does not start: error 123456"),
        ("cuInit=100", "there is a CUDA driver, but no GPU"),
        ("cuDriverGetVersion=1", "the CUDA driver does not tell its version: planted"),
    ] {
        driver.has_no_device(&[("STUB_FAILS", failure)], reason);
    }
    driver.has_no_device(&[("STUB_DEVICES", "0")], "there is a CUDA driver, but no GPU");
    let hidden = [("STUB_FAILS", "cuInit=100"), ("CUDA_VISIBLE_DEVICES", "abc")];
    driver.has_no_device(&hidden, "there is a CUDA driver, but no GPU; CUDA_VISIBLE_DEVICES is `abc`");
    driver.0.file("libcuda.so.1", "no library");
    driver.has_no_device(&[], "the CUDA driver can't be loaded: ");
}

#[test]
fn a_device_that_is_not_there_is_an_error() {
    let Some(driver) = Driver::whole() else { return };
    for (devices, visible, there) in [
        ("1", "0", "only cuda:0; CUDA_VISIBLE_DEVICES is `0`"),
        ("4", "", "cuda:0 to cuda:3; CUDA_VISIBLE_DEVICES is ``"),
    ] {
        let variables = [("STUB_DEVICES", devices), ("CUDA_VISIBLE_DEVICES", visible)];
        for engine in ["cuda:7", "cuda:0,7", "cuda:4294967295"] {
            let run = driver.run(&format!("bfs grid:5x5 --source 0 --engine {engine}"), &variables);
            let missing = engine.split([':', ',']).next_back().unwrap();
            run.fails(3, &format!("there is no device cuda:{missing}; there is {there}"));
        }
    }
}

/// Every function fails: with known errors, with errors that destroy the context, or with unknown ones. The kernels of
/// this driver compute nothing; their output never passes for an answer.
#[test]
fn a_driver_that_fails_anywhere_is_an_error() {
    let Some(driver) = Driver::whole() else { return };
    for (index, name) in functions().enumerate() {
        for (problem, options) in [("bfs", "--source 0"), ("sssp", "--source 0 --weights random:1..9"), ("apsp", "")] {
            let error = ["1", "2", "719", "123456"][(index + problem.len()) % 4];
            let failure = format!("{name}={error}");
            let arguments = format!("{problem} grid:5x5 {options} --engine cuda --verify");
            let run = driver.run(&arguments, &[("STUB_FAILS", &failure)]);
            assert!(matches!(run.code, Some(1 | 3)), "{failure}, {arguments}: {run:?}");
            assert_eq!(run.stdout, "", "{failure}, {arguments}");
            assert!(!run.stderr.is_empty(), "{failure}, {arguments}");
        }
        driver.run("devices", &[("STUB_FAILS", &format!("{name}=719"))]).ok();
    }
}

/// A device is opened because it is predicted to be faster, and fails: the CPU answers, and a message says so.
#[test]
fn where_the_device_fails_the_cpu_answers() {
    let Some(driver) = Driver::whole() else { return };
    // Enough sources that a GPU pays off even though it has to be opened first.
    let sources: Vec<String> = (0..1200).map(|source| source.to_string()).collect();
    driver.0.file("sources.txt", sources.join("\n"));
    let arguments =
        "sssp uniform:12 --sources sources.txt --threads 1 --engine auto --weights random:1..9 --verify --verbose";
    for (failure, reason) in [
        ("cuCtxCreate_v4=2", "opening cuda:0 failed: planted"),
        ("cuMemGetInfo_v2=719", "cuda:0: asking for free memory failed: planted"),
        ("cuLaunchKernelEx=719", "cuda:0: launching a kernel failed: planted"),
    ] {
        let found = driver.run(arguments, &[("STUB_FAILS", failure)]).ok();
        assert!(found.contains("on cpu") && found.contains("verified") && found.contains(reason), "{failure}: {found}");
    }
}
