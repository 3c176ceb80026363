//! Single-source shortest paths on the CPU.

pub mod bellman_ford;
pub mod bidirectional;
pub mod delta_stepping;
pub mod dijkstra;

use super::{AlgorithmInfo, Parameters, Statistics, Team};
use crate::graph::{Adjacency, F32Lane, F64Lane, Graph, I32Lane, Lane, U32Narrow, U32Wide, UnitLane, VertexId};
use crate::{Control, Result};

/// Everything a shortest-path search needs to know.
#[derive(Debug)]
pub struct SsspTask<'a, L: Lane> {
    /// The arcs, by tail.
    pub adjacency: Adjacency<'a, L::Weight>,
    /// The graph behind them, for what is cached there: the range of its weights, its transpose, names.
    pub graph: &'a Graph,
    /// At least one vertex; none twice.
    pub sources: &'a [VertexId],
    /// If not empty, the search may stop when all of these are settled.
    pub targets: &'a [VertexId],
    /// The search may stop beyond this distance; `UNREACHABLE` for none.
    pub cutoff: L::Distance,
    /// What was set by the caller.
    pub parameters: &'a Parameters,
    /// The threads to run on.
    pub team: &'a Team,
    /// Who may cancel.
    pub control: &'a Control,
}

/// Distances by vertex, `UNREACHABLE` where there is none, and counters.
///
/// Every vertex up to the cutoff or the farthest target has its final distance; others may have theirs, a greater one,
/// or none: the solver removes them.
#[derive(Debug, Clone)]
pub struct SsspOutcome<D> {
    /// The distances.
    pub distances: Vec<D>,
    /// What the algorithm counted.
    pub statistics: Statistics,
}

/// Runs an algorithm in a lane.
pub type Solve<L> = fn(&SsspTask<'_, L>) -> Result<SsspOutcome<<L as Lane>::Distance>>;

/// One algorithm, compiled for every lane.
#[derive(Debug, Clone, Copy)]
pub struct SsspSolvers {
    /// Unit weights.
    pub unit: Solve<UnitLane>,
    /// Unsigned weights, 32-bit distances.
    pub narrow: Solve<U32Narrow>,
    /// Unsigned weights, 64-bit distances.
    pub wide: Solve<U32Wide>,
    /// Signed weights.
    pub signed: Solve<I32Lane>,
    /// 32-bit floats.
    pub single: Solve<F32Lane>,
    /// 64-bit floats.
    pub double: Solve<F64Lane>,
}

/// The [`SsspSolvers`] of a function that is generic over the lane.
macro_rules! for_every_lane {
    ($solve:ident) => {
        $crate::cpu::sssp::SsspSolvers {
            unit: $solve::<$crate::graph::UnitLane>,
            narrow: $solve::<$crate::graph::U32Narrow>,
            wide: $solve::<$crate::graph::U32Wide>,
            signed: $solve::<$crate::graph::I32Lane>,
            single: $solve::<$crate::graph::F32Lane>,
            double: $solve::<$crate::graph::F64Lane>,
        }
    };
}
pub(crate) use for_every_lane;

/// A lane that this engine compiles its algorithms for.
pub trait SsspLane: Lane {
    /// The function for this lane.
    fn pick(solvers: &SsspSolvers) -> Solve<Self>;
}

macro_rules! sssp_lane {
    ($lane:ident, $field:ident) => {
        impl SsspLane for $lane {
            fn pick(solvers: &SsspSolvers) -> Solve<Self> {
                solvers.$field
            }
        }
    };
}
sssp_lane!(UnitLane, unit);
sssp_lane!(U32Narrow, narrow);
sssp_lane!(U32Wide, wide);
sssp_lane!(I32Lane, signed);
sssp_lane!(F32Lane, single);
sssp_lane!(F64Lane, double);

/// A shortest-path algorithm.
#[derive(Debug, Clone, Copy)]
pub struct SsspAlgorithm {
    /// What is known of it before it runs.
    pub info: AlgorithmInfo,
    /// Runs it, in each lane.
    pub solve: SsspSolvers,
}

/// Every single-source shortest-path algorithm of this engine.
pub static ALGORITHMS: &[SsspAlgorithm] = &[delta_stepping::ALGORITHM, dijkstra::ALGORITHM, bellman_ford::ALGORITHM];
