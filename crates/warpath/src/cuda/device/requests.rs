//! A request for every algorithm of the engine, for tests of devices that fail, or have little memory.

use crate::algorithms::AlgorithmInfo;
use crate::problems::Problem;
#[cfg(emulator)]
use crate::testing::Random;
use crate::{Apsp, Bfs, Closure, DistanceMatrix, Graph, Reachability, Result, ShortestPathTree, Solver, Sssp, cuda};

/// Every algorithm of the engine for a problem, but those that are wrong as their papers print them, and that which makes sums for a sink in place of
/// an answer.
pub(super) fn algorithms(problem: Problem) -> impl Iterator<Item = &'static AlgorithmInfo> {
    let is_right = |info: &AlgorithmInfo| {
        let is_wrong = info.name.contains("as-printed") || info.name.contains("unsynchronized");
        !is_wrong && info.name != cuda::level_sums::INFO.name
    };
    cuda::algorithms().filter(move |info| info.problem == problem && is_right(info))
}

/// The algorithm as text, with few threads: each block has one of the operating system.
#[cfg(emulator)]
pub(super) fn small(info: &AlgorithmInfo) -> String {
    let has = |name: &str| info.parameters.iter().any(|parameter| parameter.name == name);
    let mut text = info.name.to_owned();
    for (name, value) in [("threads", "32"), ("launch", "32x2"), ("blocks", "2"), ("width", "2"), ("rows", "9")] {
        if has(name) {
            text += &format!("{}{name}={value}", if text.contains(':') { ',' } else { ':' });
        }
    }
    text
}

/// Some arcs between so many vertices, at random, and one from the first to the last.
#[cfg(emulator)]
pub(super) fn random_graph(vertices: u64, arcs: u64) -> Graph {
    let mut random = Random(vertices);
    let mut vertex = || random.below(vertices) as u32;
    let mut arcs: Vec<_> = (0..arcs).map(|weight| (vertex(), vertex(), weight as u32 % 50)).collect();
    arcs.push((0, vertices as u32 - 1, 60));
    Graph::from_edges(arcs).unwrap()
}

/// What a solver found.
#[derive(Debug)]
pub(super) enum Answer {
    Tree(ShortestPathTree),
    Matrix(DistanceMatrix),
    Closure(Reachability),
}

impl Answer {
    /// Has a solver answer a request for this problem; the algorithm is its own choice if none is asked for.
    pub(super) fn of(solver: &Solver, problem: Problem, algorithm: Option<&str>) -> Result<Self> {
        let asked = |name: &str| name.to_owned();
        Ok(match problem {
            Problem::Bfs => Answer::Tree(solver.solve(Bfs { algorithm: algorithm.map(asked), ..Bfs::from(0) })?),
            Problem::Sssp => Answer::Tree(solver.solve(Sssp { algorithm: algorithm.map(asked), ..Sssp::from(0) })?),
            Problem::Apsp => Answer::Matrix(solver.solve(Apsp { algorithm: algorithm.map(asked), ..Apsp::all() })?),
            Problem::Closure => {
                Answer::Closure(solver.solve(Closure { algorithm: algorithm.map(asked), ..Closure::new() })?)
            }
        })
    }

    /// The engine that it came from.
    pub(super) fn engine(&self) -> &str {
        match self {
            Answer::Tree(tree) => &tree.report().engine,
            Answer::Matrix(matrix) => &matrix.report().engine,
            Answer::Closure(reachability) => &reachability.report().engine,
        }
    }

    /// Checks it.
    pub(super) fn verify(mut self, graph: &Graph) -> Result<()> {
        match &mut self {
            Answer::Tree(tree) => tree.verify(graph),
            Answer::Matrix(matrix) => matrix.verify(graph),
            Answer::Closure(reachability) => reachability.verify(graph),
        }
    }
}
