//! Shortest paths in graphs that are larger than one machine: every process of an MPI run, a *rank*, has a part of the graph, and
//! all of them search together.
//!
//! MPI launches, connects and carries; whatever a cluster has for it serves (Open MPI, MPICH and those made from it). Distances and
//! predecessors are those of one machine, bit by bit.
//!
//! ```no_run
//! use warpath_mpi::{Problem, Search, Source, World};
//! let world = World::start(warpath_mpi::DEFAULT_TIMEOUT, &warpath::Control::new()).unwrap();
//! let source = Source::open("kron:24".as_ref(), Default::default()).unwrap();
//! let search = Search::new(Problem::Bfs, vec![0]).verified();
//! let found = search.run(&world, &source).unwrap();
//! if world.rank() == 0 {
//!     println!("{} of {} vertices", found.reached, source.vertices());
//! }
//! ```
//!
//! `world` has the messages, `graph` what a rank has of a graph, `bfs` and `sssp` an algorithm a file.

mod algorithm;
mod all_pairs;
mod allocation;
mod bfs;
mod bits;
mod certificate;
mod components;
mod cuda_aware;
mod device;
mod facts;
mod floyd_warshall;
mod graph;
mod graph500;
mod grid;
mod journal;
mod list;
mod listed_edges;
mod matrix_file;
mod messages;
mod model;
mod names;
mod nearest;
mod output;
mod path;
mod plan;
mod predecessors;
mod reduced;
mod search;
mod seconds;
mod source;
mod sssp;
mod statistics;
mod watch;
mod words;
mod world;

pub use algorithm::RankAlgorithm;
pub use all_pairs::{AllPairs, MatrixFile, Pairs, Rows, all_pairs, decide_rows, same_graph};
pub use components::{RankComponents, components};
pub use cuda_aware::CudaAware;
pub use device::{RankDevices, RankGpu};
pub use floyd_warshall::{FLOYD_WARSHALL, SharedMatrix, check_matrix, floyd_warshall};
pub use graph::{PartOfGraph, Partition, Parts};
pub use graph500::{Graph500, RankKernel, graph500};
pub use listed_edges::{ListedEdges, VertexNames};
pub use messages::RankMessages;
pub use model::{
    Predicted, PredictedByWeights, PredictedComponents, PredictedMatrix, predict, predict_by_weights,
    predict_components, predict_matrix,
};
pub use names::Names;
pub use output::{SharedFile, write_together};
pub use plan::RankPlan;
pub use search::{Found, PartFacts, Problem, RankFacts, Search, Seconds};
pub use seconds::RankSeconds;
pub use source::{Source, Weighting};
pub use statistics::{RankStatistics, statistics};
pub use world::{DEFAULT_TIMEOUT, Failed, Outcome, Traffic, World};

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use warpath::Control;

    use super::*;

    /// What needs a world is one test: a process starts MPI once.
    #[test]
    fn certificates_find_what_is_wrong() {
        let world = World::start(Duration::from_secs(60), &Control::new()).unwrap();
        certificate::tests::wrong_answers_do_not_verify(&world);
        floyd_warshall::tests::wrong_cells_do_not_verify(&world);
    }
}
