//! PASGAL, a library of parallel graph algorithms: X. Dong, Y. Gu, Y. Sun, L. Wang, PASGAL: Parallel and scalable graph algorithm library, SPAA 2024,
//! with the shortest paths of X. Dong, Y. Gu, Y. Sun, Y. Zhang, Efficient stepping algorithms and implementations for parallel shortest paths,
//! SPAA 2021. <https://github.com/ucrparlay/PASGAL>
//!
//! A run of its programs is one untimed search and five timed ones, whatever is asked for.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use warpath::graph::{Weight, with_weights};
use warpath::problems::Problem;
use warpath::{Error, Result, VertexId};

use super::{Programs, Searches, deltas};
use crate::digest::Digest;
use crate::measure::Task;

pub(super) struct Pasgal;

/// Where `sssp` writes distances.
const DISTANCES: &str = "sssp.out";

impl Programs for Pasgal {
    fn name(&self) -> &'static str {
        "PASGAL"
    }

    fn named_by(&self) -> &'static str {
        "--pasgal or $PASGAL"
    }

    fn program(&self, problem: Problem) -> Option<[&'static str; 2]> {
        Some(if problem == Problem::Bfs { ["src/BFS/bfs", "bfs"] } else { ["src/SSSP/sssp", "sssp"] })
    }

    fn write(&self, task: &Task<'_>, folder: &Path) -> Result<PathBuf> {
        let is_bfs = task.problem == Problem::Bfs;
        let file = folder.join(if is_bfs { "graph.bin" } else { "graph.adj" });
        let written = File::create(&file).and_then(|created| {
            let mut out = BufWriter::with_capacity(1 << 20, created);
            if is_bfs {
                write_binary(task, &mut out)?
            } else {
                write_adjacency(task, &mut out)?
            }
            out.flush()
        });
        written.map_err(|error| Error::io(&file, error))?;
        Ok(file)
    }

    fn parameters(&self, task: &Task<'_>) -> Vec<Vec<String>> {
        if task.problem == Problem::Bfs {
            return Vec::new();
        }
        let words = |of: [&str; 4]| of.map(str::to_owned).to_vec();
        let rho = words(["-a", "rho-stepping", "-p", "1048576"]);
        let delta = |delta: &String| words(["-a", "delta-stepping", "-p", delta]);
        std::iter::once(rho).chain(deltas(task).iter().map(delta)).collect()
    }

    fn arguments(&self, search: &Searches<'_>) -> Vec<String> {
        let mut words =
            vec!["-i".to_owned(), search.file.display().to_string(), "-r".into(), search.source.to_string()];
        if !search.task.graph.is_directed() {
            words.push("-s".into());
        }
        if search.verify {
            words.push("-v".into());
            words.extend((search.task.problem == Problem::Sssp).then(|| "-d".to_owned()));
        }
        words
    }

    fn times(&self, output: &str) -> (f64, Vec<f64>) {
        // It does not tell how long reading takes.
        let rounds = output.lines().filter_map(|line| line.strip_prefix("Round ")?.split_once(": "));
        let rounds: Vec<f64> = rounds.filter_map(|(_, seconds)| seconds.trim().parse().ok()).collect();
        (0.0, rounds)
    }

    fn runs(&self, _: usize) -> usize {
        5
    }

    fn agrees(&self, output: &str, folder: &Path, problem: Problem, expected: &Digest) -> Result<bool> {
        if problem == Problem::Bfs || !output.contains("Passed!") {
            return Ok(output.contains("Passed!"));
        }
        let file = folder.join(DISTANCES);
        let text = std::fs::read_to_string(&file).map_err(|error| Error::io(&file, error))?;
        std::fs::remove_file(&file).map_err(|error| Error::io(&file, error))?;
        let all = text.split_ascii_whitespace().map(str::parse::<u32>);
        let all = all.collect::<std::result::Result<Vec<u32>, _>>();
        let all = all.map_err(|_| Error::invalid("PASGAL's distances are no integers"))?;
        let found = || all.iter().filter(|&&distance| distance != u32::MAX);
        let sum = found().map(|&distance| u64::from(distance)).sum::<u64>();
        let greatest = found().max().map(ToString::to_string);
        let numbers = (found().count() as u64, sum.to_string(), greatest);
        Ok(numbers == (expected.reached, expected.sum.clone(), expected.greatest.clone()))
    }

    fn comparison(&self) -> &'static str {
        "its own clock and verifier; by weights the number of vertices reached, the sum and the greatest distance are compared"
    }
}

/// The binary format of GBBS: numbers of vertices, arcs and bytes, offsets, heads.
fn write_binary(task: &Task<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let csr = task.graph.csr();
    let (vertices, arcs) = (task.graph.vertices() as u64, task.graph.arcs() as u64);
    for number in [vertices, arcs, 3 * 8 + (vertices + 1) * 8 + arcs * 4] {
        out.write_all(&number.to_le_bytes())?;
    }
    let mut end = 0_u64;
    out.write_all(&end.to_le_bytes())?;
    for vertex in 0..vertices {
        end += csr.neighbors(vertex as VertexId).len() as u64;
        out.write_all(&end.to_le_bytes())?;
    }
    csr.targets().iter().try_for_each(|head| out.write_all(&head.to_le_bytes()))
}

/// The text of the Problem Based Benchmark Suite: numbers of vertices and arcs, where rows begin, heads, weights.
fn write_adjacency(task: &Task<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let csr = task.graph.csr();
    writeln!(out, "WeightedAdjacencyGraph\n{}\n{}", task.graph.vertices(), task.graph.arcs())?;
    for vertex in 0..task.graph.vertices() {
        writeln!(out, "{}", csr.row(vertex as VertexId).start)?;
    }
    csr.targets().iter().try_for_each(|head| writeln!(out, "{head}"))?;
    with_weights!(csr.weights(), weights => weights.iter().try_for_each(|weight| writeln!(out, "{}", weight.to_f64())))
}
