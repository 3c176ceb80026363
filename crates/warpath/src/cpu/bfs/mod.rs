//! Breadth-first search on the CPU.

pub mod multi_source;
pub mod sequential;

use super::{AlgorithmInfo, Parameters, Statistics, Team};
use crate::graph::{Graph, VertexId};
use crate::{Control, Result};

/// The distance, in edges, of a vertex that was not reached.
pub const UNREACHED: u32 = u32::MAX;

/// Everything a breadth-first search needs to know.
#[derive(Debug, Clone, Copy)]
pub struct BfsTask<'a> {
    /// The graph; its transpose has been made if the algorithm asks for it.
    pub graph: &'a Graph,
    /// At least one vertex; none twice.
    pub sources: &'a [VertexId],
    /// If not empty, the search may stop when all of these are settled.
    pub targets: &'a [VertexId],
    /// The search may stop beyond this level.
    pub cutoff: u32,
    /// What was set by the caller.
    pub parameters: &'a Parameters,
    /// The threads to run on.
    pub team: &'a Team,
    /// Who may cancel.
    pub control: &'a Control,
}

/// Levels by vertex, [`UNREACHED`] where there is none, and counters.
///
/// Every vertex up to the cutoff or the farthest target has its final level; others may have theirs or none: the
/// solver removes them.
#[derive(Debug, Clone)]
pub struct BfsOutcome {
    /// The least number of edges from a source.
    pub levels: Vec<u32>,
    /// What the algorithm counted.
    pub statistics: Statistics,
}

/// A breadth-first search algorithm.
#[derive(Debug, Clone, Copy)]
pub struct BfsAlgorithm {
    /// What is known of it before it runs.
    pub info: AlgorithmInfo,
    /// Whether it reads the transpose of a directed graph.
    pub needs_transpose: bool,
    /// Runs it.
    pub solve: fn(&BfsTask<'_>) -> Result<BfsOutcome>,
}

/// Every breadth-first search algorithm of this engine.
pub static ALGORITHMS: &[BfsAlgorithm] = &[sequential::ALGORITHM];
