//! All-pairs shortest paths on the CPU.
//!
//! An algorithm fills rows, one a source, and hands them out in blocks ([`RowConsumer`]) or straight into a matrix. It
//! may take the sources in any order it likes, as long as the order depends on nothing but the graph and the request,
//! never on threads or memory: so a file of rows can be continued after a kill.

pub(crate) mod batched;
pub(crate) mod floyd_warshall;
pub(crate) mod johnson;
pub(crate) mod tiled_floyd_warshall;

use crate::Result;
use crate::algorithms::{AlgorithmInfo, Statistics};
pub(crate) use crate::all_pairs::{ApspOutput, ApspTask};
use crate::graph::{F32Lane, F64Lane, I32Lane, Lane, U32Narrow, U32Wide, UnitLane};

/// Runs an algorithm in a lane.
pub(crate) type Solve<L> = fn(&ApspTask<'_, L>, ApspOutput<'_, <L as Lane>::Distance>) -> Result<Statistics>;

/// One algorithm, compiled for every lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApspSolvers {
    /// Unit weights.
    pub(crate) unit: Solve<UnitLane>,
    /// Unsigned weights, 32-bit distances.
    pub(crate) narrow: Solve<U32Narrow>,
    /// Unsigned weights, 64-bit distances.
    pub(crate) wide: Solve<U32Wide>,
    /// Signed weights.
    pub(crate) signed: Solve<I32Lane>,
    /// 32-bit floats.
    pub(crate) single: Solve<F32Lane>,
    /// 64-bit floats.
    pub(crate) double: Solve<F64Lane>,
}

/// The [`ApspSolvers`] of a function that is generic over the lane.
macro_rules! for_every_lane {
    ($solve:ident) => {
        $crate::cpu::apsp::ApspSolvers {
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
pub(crate) trait ApspLane:
    Lane<Distance: tiled_floyd_warshall::Dense> + batched::BatchLane + floyd_warshall::DenseLane
{
    /// The function for this lane.
    fn pick(solvers: &ApspSolvers) -> Solve<Self>;
}

macro_rules! apsp_lane {
    ($lane:ident, $field:ident) => {
        impl ApspLane for $lane {
            fn pick(solvers: &ApspSolvers) -> Solve<Self> {
                solvers.$field
            }
        }
    };
}
apsp_lane!(UnitLane, unit);
apsp_lane!(U32Narrow, narrow);
apsp_lane!(U32Wide, wide);
apsp_lane!(I32Lane, signed);
apsp_lane!(F32Lane, single);
apsp_lane!(F64Lane, double);

/// An all-pairs algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApspAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// Whether it works on the square matrix of all vertices, whatever rows and columns are asked for.
    pub(crate) needs_matrix: bool,
    /// Bytes it takes beyond the result, given the numbers of vertices, arcs, threads, and bytes a distance.
    pub(crate) workspace_bytes: fn(vertices: u64, arcs: u64, threads: u64, distance_bytes: u64) -> u64,
    /// Runs it, in each lane.
    pub(crate) solve: ApspSolvers,
}

/// Every all-pairs algorithm of this engine.
pub(crate) static ALGORITHMS: &[ApspAlgorithm] =
    &[batched::ALGORITHM, tiled_floyd_warshall::ALGORITHM, johnson::ALGORITHM, floyd_warshall::ALGORITHM];
