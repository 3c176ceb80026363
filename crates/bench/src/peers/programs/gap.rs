//! The GAP benchmark suite: S. Beamer, K. Asanović, D. Patterson, The GAP Benchmark Suite, arXiv:1508.03619. <https://github.com/sbeamer/gapbs>

use std::path::{Path, PathBuf};

use warpath::problems::Problem;
use warpath::{Format, Result, WriteOptions};

use super::{Programs, Searches, deltas, values};
use crate::digest::Digest;
use crate::measure::Task;

pub(super) struct Gap;

impl Programs for Gap {
    fn name(&self) -> &'static str {
        "GAP"
    }

    fn named_by(&self) -> &'static str {
        "--gap or $GAPBS"
    }

    fn program(&self, problem: Problem) -> Option<[&'static str; 2]> {
        Some(if problem == Problem::Bfs { ["bfs", "bfs"] } else { ["sssp", "sssp"] })
    }

    fn write(&self, task: &Task<'_>, folder: &Path) -> Result<PathBuf> {
        write_gap(task, folder)
    }

    fn parameters(&self, task: &Task<'_>) -> Vec<Vec<String>> {
        match task.problem {
            Problem::Bfs => Vec::new(),
            _ => deltas(task).map(|delta| vec!["-d".to_owned(), delta]).into(),
        }
    }

    fn arguments(&self, search: &Searches<'_>) -> Vec<String> {
        arguments(search)
    }

    fn times(&self, output: &str) -> (f64, Vec<f64>) {
        let prepare = ["Read Time:", "Build Time:"].into_iter().flat_map(|name| values(output, name)).sum();
        (prepare, values(output, "Trial Time:"))
    }

    fn agrees(&self, output: &str, _: &Path, _: Problem, expected: &Digest) -> Result<bool> {
        Ok(agrees(output, expected))
    }

    fn comparison(&self) -> &'static str {
        "its own clock and verifier; the number of vertices reached is compared"
    }
}

/// Writes the graph in GAP's format.
pub(super) fn write_gap(task: &Task<'_>, folder: &Path) -> Result<PathBuf> {
    let file = folder.join(if task.problem == Problem::Bfs { "graph.sg" } else { "graph.wsg" });
    WriteOptions::new().format(Format::Gap).write(task.graph, &file)?;
    Ok(file)
}

/// The arguments that GAP's programs have, and those that are made from them.
pub(super) fn arguments(search: &Searches<'_>) -> Vec<String> {
    let file = search.file.display().to_string();
    let mut words = vec!["-f".to_owned(), file, "-a".into(), "-n".into(), search.repeats.to_string()];
    words.extend(["-r".into(), search.source.to_string()]);
    words.extend(search.verify.then(|| "-v".to_owned()));
    words
}

/// Whether GAP's verifier, which these programs share, agrees, and the number of vertices.
pub(super) fn agrees(output: &str, expected: &Digest) -> bool {
    !output.contains("FAIL") && output.contains(&format!(" {} nodes", expected.reached))
}
