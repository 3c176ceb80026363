//! All-pairs shortest paths on the CPU.
//!
//! An algorithm fills rows, one a source, and hands them out in blocks ([`RowConsumer`]) or straight into a matrix. It
//! may take the sources in any order it likes, as long as the order depends on nothing but the graph and the request,
//! never on threads or memory: that is what lets a file of rows be continued after a kill.

pub mod batched;
pub mod floyd_warshall;
pub mod johnson;
pub(crate) mod potentials;
pub mod tiled_floyd_warshall;

use super::Team;
use crate::algorithms::{AlgorithmInfo, Parameters, Statistics};
use crate::graph::{Adjacency, F32Lane, F64Lane, Graph, I32Lane, Lane, U32Narrow, U32Wide, UnitLane, VertexId};
use crate::problems::KeptState;
use crate::{Control, Error, Result};

/// Everything an all-pairs search needs to know.
#[derive(Debug)]
pub struct ApspTask<'a, L: Lane> {
    /// The arcs, by tail.
    pub adjacency: Adjacency<'a, L::Weight>,
    /// The graph behind them.
    pub graph: &'a Graph,
    /// The source of each row; repeats are allowed.
    pub sources: &'a [VertexId],
    /// The target of each column; `None` for every vertex.
    pub targets: Option<&'a [VertexId]>,
    /// How many bytes the block of rows that is handed out at a time should take at most.
    pub block_bytes: u64,
    /// What was set by the caller.
    pub parameters: &'a Parameters,
    /// The threads to run on.
    pub team: &'a Team,
    /// Who watches and may cancel.
    pub control: &'a Control,
}

impl<L: Lane> ApspTask<'_, L> {
    /// An error unless all sources and targets are vertices, the arcs those of the graph, and the output has room for the
    /// table.
    fn check(&self, output: &ApspOutput<'_, L::Distance>) -> Result<()> {
        self.graph.check_arcs(self.adjacency)?;
        self.graph.check_vertices(self.sources, "source")?;
        self.graph.check_vertices(self.targets.unwrap_or_default(), "target")?;
        match output {
            ApspOutput::Matrix(matrix) if self.sources.len().checked_mul(self.columns()) != Some(matrix.len()) => {
                let (rows, columns) = (self.sources.len(), self.columns());
                Err(Error::invalid(format!("{} cells are no table of {rows} rows and {columns} columns", matrix.len())))
            }
            _ => Ok(()),
        }
    }

    /// Distances in a row.
    pub fn columns(&self) -> usize {
        self.targets.map_or(self.graph.vertices(), <[VertexId]>::len)
    }

    /// Whether every vertex is a source and a target, in order: the result is the square matrix.
    pub fn is_square(&self) -> bool {
        self.targets.is_none()
            && self.sources.len() == self.graph.vertices()
            && self.sources.iter().enumerate().all(|(row, &source)| row == source as usize)
    }
}

/// Takes rows as they get ready.
pub trait RowConsumer<D> {
    /// Told, once and before the work, in which order the rows will come; says how many of them it has already.
    fn start(&mut self, order: &[usize]) -> Result<usize>;
    /// Takes a block: `values` holds the rows `rows` one after another. Gives the memory back.
    fn rows(&mut self, rows: &[usize], values: Vec<D>) -> Result<Vec<D>>;
    /// Where an algorithm that has no row before it has all of them may keep its state.
    fn kept_state(&self) -> Option<KeptState> {
        None
    }
}

/// Where rows go.
pub enum ApspOutput<'a, D> {
    /// Into a matrix of `sources` rows; whatever its cells hold is overwritten.
    Matrix(&'a mut [D]),
    /// To whoever takes them.
    Blocks(&'a mut dyn RowConsumer<D>),
}

/// Runs an algorithm in a lane.
pub type Solve<L> = fn(&ApspTask<'_, L>, ApspOutput<'_, <L as Lane>::Distance>) -> Result<Statistics>;

/// One algorithm, compiled for every lane.
#[derive(Debug, Clone, Copy)]
pub struct ApspSolvers {
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
pub trait ApspLane:
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
pub struct ApspAlgorithm {
    /// What is known of it before it runs.
    pub info: AlgorithmInfo,
    /// Whether it works on the square matrix of all vertices, whatever rows and columns are asked for.
    pub needs_matrix: bool,
    /// Bytes it takes beyond the result, for so many vertices, arcs and threads and bytes a distance.
    pub workspace_bytes: fn(vertices: u64, arcs: u64, threads: u64, distance_bytes: u64) -> u64,
    /// Runs it, in each lane.
    pub solve: ApspSolvers,
}

/// Every all-pairs algorithm of this engine.
pub static ALGORITHMS: &[ApspAlgorithm] =
    &[batched::ALGORITHM, tiled_floyd_warshall::ALGORITHM, johnson::ALGORITHM, floyd_warshall::ALGORITHM];
