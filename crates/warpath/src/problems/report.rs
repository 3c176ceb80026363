//! How a result was made: engine, algorithm, semiring, times, counters.

use crate::graph::VertexId;

/// How a result was made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// The engine, such as `cpu` or `cuda:0`.
    pub engine: String,
    /// Why this engine.
    pub engine_reason: String,
    /// The algorithm, with parameters if any were given.
    pub algorithm: String,
    /// Why this algorithm.
    pub reason: String,
    /// The types of weight and distance, such as `u32->u32`.
    pub semiring: &'static str,
    /// Whether the solve was repeated in the wide semiring because the narrow semiring could have overflowed.
    pub repeated_wide: bool,
    /// Where the time went.
    pub seconds: Seconds,
    /// How many bytes of the device's memory the work took; 0 on the CPU.
    pub device_bytes: u64,
    /// Counters that the algorithm keeps, such as rounds or relaxations.
    pub statistics: Vec<(&'static str, u64)>,
    /// How many vertices each of the first 1,024 rounds began with, if the algorithm records it and statistics were
    /// requested (see [`SolverBuilder::statistics`](crate::SolverBuilder::statistics)).
    pub frontiers: Vec<u32>,
    /// The order in which a search expanded vertices, if the algorithm can record it and was asked to by its parameter
    /// `order`. It may differ from run to run where vertices are expanded at once.
    pub order: Vec<VertexId>,
}

/// Where the time went, in seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Work done once for a graph that this result had to wait for: transposing, choosing parameters.
    pub prepare: f64,
    /// From the request to final distances.
    pub solve: f64,
    /// Deriving predecessors from distances; 0 where a search finds them on its way.
    pub predecessors: f64,
    /// Copying distances from the device.
    pub download: f64,
    /// Verifying the result, if the request asks for it.
    pub verify: f64,
    /// Handing rows to a sink, which may write them.
    pub write: f64,
}
