//! Wasp, shortest paths by threads that steal work by priority: M. D'Antonio, T. S. Mai, P. Tsigas, H. Vandierendonck, Wasp: Efficient asynchronous
//! single-source shortest path on multicore systems via work stealing, SC 2025. <https://github.com/DIPSA-QUB/wasp>, built in `build/` there.

use std::path::{Path, PathBuf};

use warpath::Result;
use warpath::problems::Problem;

use super::gap::{agrees, arguments, write_gap};
use super::{Programs, Searches, deltas, values};
use crate::digest::Digest;
use crate::measure::Task;

pub(super) struct Wasp;

impl Programs for Wasp {
    fn name(&self) -> &'static str {
        "Wasp"
    }

    fn named_by(&self) -> &'static str {
        "--wasp or $WASP"
    }

    fn program(&self, problem: Problem) -> Option<[&'static str; 2]> {
        (problem == Problem::Sssp).then_some(["build/src/sssp-int32", "sssp"])
    }

    fn write(&self, task: &Task<'_>, folder: &Path) -> Result<PathBuf> {
        write_gap(task, folder)
    }

    fn parameters(&self, task: &Task<'_>) -> Vec<Vec<String>> {
        deltas(task).map(|delta| vec!["-d".to_owned(), delta]).into()
    }

    fn arguments(&self, search: &Searches<'_>) -> Vec<String> {
        arguments(search)
    }

    fn times(&self, output: &str) -> (f64, Vec<f64>) {
        (values(output, "Read Time:").iter().sum(), values(output, "External Trial Time:"))
    }

    fn agrees(&self, output: &str, _: &Path, _: Problem, expected: &Digest) -> Result<bool> {
        let greatest = expected.greatest.as_deref().unwrap_or("0");
        Ok(agrees(output, expected) && output.lines().any(|line| line.trim() == format!("Max dist {greatest}")))
    }

    fn comparison(&self) -> &'static str {
        "its own clock and verifier; the number of vertices reached and the greatest distance are compared"
    }
}
