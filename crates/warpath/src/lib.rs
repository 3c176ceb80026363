//! Warpath finds shortest paths and reachability in large graphs: breadth-first search, single-source and all-pairs
//! shortest paths, transitive closure, on all cores of the CPU and on NVIDIA GPUs.
//!
//! ```
//! let graph = warpath::Graph::from_edges([(0, 1, 5_u32), (1, 2, 7), (0, 2, 20)])?;
//! let solver = warpath::Solver::new(graph)?;
//! let tree = solver.sssp(0)?;
//! let path = tree.path_to(2).expect("2 is reachable");
//! println!("{} over {} edges", path.length(), path.edges().len());
//! tree.verify(solver.graph())?;
//! # Ok::<(), warpath::Error>(())
//! ```

#[cfg(not(target_pointer_width = "64"))]
compile_error!("Warpath needs a 64-bit machine: graphs have more than 2^32 bytes");

pub mod algorithms;
mod all_pairs;
mod apart;
mod bytes;
mod cancellable;
mod checksum;
mod control;
mod cpu;
mod cuda;
mod engine;
mod error;
pub mod formats;
pub mod generate;
pub mod graph;
pub mod hierarchy;
mod huge_pages;
mod instructions;
mod memory;
mod parallel;
mod partial;
mod past_cache;
mod plan;
mod prefetch;
pub mod problems;
mod solver;
mod sync;
pub mod tables;
mod team;
#[cfg(test)]
mod testing;

pub use bytes::Bytes;
pub use cancellable::{CancellableReader, CancellableWriter};
pub use control::{Control, Progress};
pub use cpu::apsp::tiled_floyd_warshall::blocks;
pub use cuda::{DeviceInfo, devices, parts, resident};
pub use engine::Engine;
pub use error::{Error, ErrorKind, InputError, Result};
pub use formats::{Format, ReadOptions, WriteOptions, read, write};
pub use generate::generate;
pub use graph::{Distance, Graph, GraphBuilder, VertexId};
#[doc(hidden)]
pub use huge_pages::on_huge_pages;
pub use memory::available_memory;
pub use plan::{Plan, PlanItem, available_disk};
pub use problems::{
    Apsp, Betweenness, Bfs, Closure, ClosureCounts, DistanceMatrix, KShortestPaths, NeighborhoodSizes, Neighborhoods,
    Pairs, Path, Reachability, ReachableCounts, ShortestPathTree, Sssp,
};
pub use solver::{Decision, Request, Search, Solver, SolverBuilder};
