//! Requests and results: paths, trees, matrices, and the certificates that verify them.
//!
//! Nothing here knows how a problem is solved; the modules `cpu` and `cuda` have the engines.

mod apsp;
mod betweenness;
mod bfs;
mod bit_matrix;
mod certificate;
mod closure;
mod closure_bits;
mod closure_certificate;
mod distance_matrix;
mod facts;
mod intermediates;
mod isochrones;
mod k_shortest_paths;
mod level_sums;
mod negative_cycle;
mod neighborhoods;
mod npy;
mod pairs;
mod path;
mod path_counts;
mod predecessors;
mod report;
mod row_reductions;
mod rows;
mod slack;
mod sssp;
mod sums;
mod tree;

pub use crate::checksum::checksum;
pub use apsp::{Apsp, ApspIntoSink};
pub(crate) use betweenness::{BETWEENNESS_SEGMENT, Sources};
pub use betweenness::{Betweenness, VertexBetweenness};
pub use bfs::{Bfs, UNREACHED};
pub use bit_matrix::{BitMatrix, Line};
pub use closure::{Closure, ClosureCounts, Reachability, ReachableCounts};
pub use closure_bits::CondensedBits;
pub use distance_matrix::{DistanceMatrix, Successors};
pub use facts::{DistanceSum, RowFacts};
pub use intermediates::Intermediates;
pub use isochrones::{Isochrone, Isochrones, Polygon};
pub use k_shortest_paths::{KShortestPaths, ShortestPaths};
pub use level_sums::{LevelSums, WantedSums};
pub(crate) use negative_cycle::cycles_of_predecessors;
pub use neighborhoods::{NeighborhoodSizes, Neighborhoods};
pub use npy::NpyWriter;
pub use pairs::{Pairs, PathsOfPairs};
pub use path::{Path, PathStep};
pub use path_counts::PathCounts;
pub use report::{Report, Seconds};
pub use row_reductions::{Histogram, Reduction, RowProcesses, RowReductions};
pub use rows::{ApspSummary, KeptState, RowBlock, RowSink, TableShape};
pub use sssp::{Cutoff, Sssp};
pub use tree::ShortestPathTree;

pub(crate) use certificate::verify_search;
pub(crate) use closure_bits::ReachabilityBits;
pub(crate) use distance_matrix::{Tolerance, verify_rows};
pub(crate) use facts::{Facts, RowsByColumn, TOGETHER};
pub(crate) use npy::disk_space_of;
pub(crate) use path_counts::{count_shortest_paths, verify_path_counts};
pub(crate) use predecessors::{derive_bfs_predecessors, derive_predecessors, starts};
pub(crate) use rows::TableFacts;
pub(crate) use slack::{Slack, greatest_weight, relative as relative_slack};
pub(crate) use sums::Sums;

pub use crate::error::NegativeCycle;
use crate::graph::VertexId;

/// One of the problems that Warpath solves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Problem {
    /// Breadth-first search: distances in edges.
    Bfs,
    /// Single-source shortest paths.
    Sssp,
    /// All-pairs shortest paths.
    Apsp,
    /// Transitive closure.
    Closure,
}

impl Problem {
    /// The name: `bfs`, `sssp`, `apsp` or `closure`.
    pub fn name(self) -> &'static str {
        match self {
            Problem::Bfs => "bfs",
            Problem::Sssp => "sssp",
            Problem::Apsp => "apsp",
            Problem::Closure => "closure",
        }
    }
}

/// One vertex or several, as sources or targets of a request.
pub trait VertexSet {
    /// The vertices.
    fn into_vertices(self) -> Vec<VertexId>;
}

impl VertexSet for VertexId {
    fn into_vertices(self) -> Vec<VertexId> {
        vec![self]
    }
}
impl VertexSet for Vec<VertexId> {
    fn into_vertices(self) -> Vec<VertexId> {
        self
    }
}
impl VertexSet for &[VertexId] {
    fn into_vertices(self) -> Vec<VertexId> {
        self.to_vec()
    }
}
impl<const N: usize> VertexSet for [VertexId; N] {
    fn into_vertices(self) -> Vec<VertexId> {
        self.to_vec()
    }
}
