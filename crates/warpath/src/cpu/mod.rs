//! The engine for all cores of the CPU: one folder a problem, one file an algorithm.
//!
//! Each folder exports one table, `ALGORITHMS`. Parser, help, documents and `auto` are fed from it, so that an
//! algorithm is added in one place: its file, and its line in the table.

pub mod bfs;
mod parameters;
pub mod sssp;
mod team;

pub(crate) use parameters::parse_algorithm;
pub use parameters::{AlgorithmInfo, Parameter, Parameters};
pub use team::{Team, Worker};

/// The counters an algorithm keeps: name and value.
pub type Statistics = Vec<(&'static str, u64)>;
