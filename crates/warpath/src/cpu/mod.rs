//! The engine for all cores of the CPU: one folder a problem, one file an algorithm.
//!
//! Each folder exports one table, `ALGORITHMS`. Parser, help, documents and `auto` are fed from it, so that an
//! algorithm is added in one place: its file, and its line in the table.

pub(crate) mod apsp;
pub(crate) mod betweenness;
pub(crate) mod bfs;
pub(crate) mod closure;
pub(crate) mod level_sums;
pub(crate) mod neighborhoods;
pub(crate) mod sssp;

use crate::algorithms::AlgorithmInfo;
pub(crate) use crate::team::{Team, Worker};

/// The facts about every algorithm of this engine, by problem.
pub(crate) fn algorithms() -> impl Iterator<Item = &'static AlgorithmInfo> {
    let searches =
        bfs::ALGORITHMS.iter().map(|entry| &entry.info).chain(sssp::ALGORITHMS.iter().map(|entry| &entry.info));
    let all_pairs = apsp::ALGORITHMS.iter().map(|entry| &entry.info).chain([&level_sums::INFO]);
    searches.chain(all_pairs).chain(closure::ALGORITHMS.iter().map(|entry| &entry.info))
}
