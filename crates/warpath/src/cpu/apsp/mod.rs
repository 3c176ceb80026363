//! All-pairs shortest paths on the CPU.
//!
//! An algorithm fills rows, one a source, and hands them out in blocks ([`RowConsumer`]) or straight into a matrix. It
//! may take the sources in any order it likes, as long as the order depends on nothing but the graph and the request,
//! never on threads or memory: so a file of rows can be continued after a kill.

pub(crate) mod batched;
pub(crate) mod floyd_warshall;
pub(crate) mod hierarchy;
pub(crate) mod johnson;
pub(crate) mod repeated_dijkstra;
pub(crate) mod repeated_searches;
pub(crate) mod tiled_floyd_warshall;

use batched::{ArcWeight, Ladder, Renumbered};
use tiled_floyd_warshall::Cell;

use crate::Result;
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
pub(crate) use crate::all_pairs::{ApspOutput, ApspTask};
use crate::graph::{F32ToF32, F64ToF64, I32ToI64, MinPlus, U32ToU32, U32ToU64, UnitToU32};

/// A semiring that this engine compiles its all-pairs algorithms for.
pub(crate) trait MinPlusOnCpu: MinPlus<Weight: ArcWeight, Distance: Cell> {
    /// The cells of half a distance's width; distances themselves where there are none.
    type Half: Cell + TryFrom<Self::Distance> + Into<Self::Distance>;
    /// The types of labels of `batched`.
    fn ladder<'g>(
        graph: &'g Renumbered,
        weights: &'g [Self::Weight],
        sources: usize,
        negative: bool,
    ) -> Ladder<'g, Self::Distance>;
    /// Runs `batched`.
    fn batched(task: &ApspTask<'_, Self>, output: ApspOutput<'_, Self::Distance>) -> Result<Statistics> {
        batched::solve(task, output)
    }
    /// Runs `johnson`.
    fn johnson(task: &ApspTask<'_, Self>, output: ApspOutput<'_, Self::Distance>) -> Result<Statistics> {
        Self::batched(task, output)
    }
    /// Runs `repeated-searches`.
    fn repeated_searches(task: &ApspTask<'_, Self>, output: ApspOutput<'_, Self::Distance>) -> Result<Statistics> {
        repeated_searches::solve(task, output)
    }
}

/// A row of the table: the semiring, its half cells, its labels with the sources of a batch, and algorithms of its own.
macro_rules! on_cpu {
    ($semiring:ident, $half:ty, [$($label:ty: $batch:literal),*] $(, $algorithm:ident: $function:path)*) => {
        impl MinPlusOnCpu for $semiring {
            type Half = $half;
            fn ladder<'g>(
                graph: &'g Renumbered,
                weights: &'g [Self::Weight],
                sources: usize,
                negative: bool,
            ) -> Ladder<'g, Self::Distance> {
                Ladder::new(Self::NAME, sources, negative)$(.rung::<$label, $batch, _>(graph, weights))*
            }
            $(
                fn $algorithm(task: &ApspTask<'_, Self>, output: ApspOutput<'_, Self::Distance>) -> Result<Statistics> {
                    $function(task, output)
                }
            )*
        }
    };
}
on_cpu!(UnitToU32, u16, [u8: 128, u16: 128, u32: 64], batched: batched::solve_unit,
        repeated_searches: repeated_searches::solve_unit);
on_cpu!(U32ToU32, u16, [u8: 128, u16: 128, u32: 64]);
on_cpu!(U32ToU64, u64, [u8: 128, u16: 128, u32: 64, u64: 32]);
on_cpu!(I32ToI64, i32, [u8: 128, u16: 128, u32: 64, i64: 32], johnson: johnson::solve);
on_cpu!(F32ToF32, f32, [f32: 64]);
on_cpu!(F64ToF64, f64, [f64: 32]);

/// The function that an algorithm runs.
#[derive(Debug, Clone, Copy)]
enum Function {
    Batched,
    TiledFloydWarshall,
    Johnson,
    FloydWarshall,
    Hierarchy,
    RepeatedDijkstra,
    RepeatedSearches,
}

/// An all-pairs algorithm.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ApspAlgorithm {
    /// The facts known before it runs.
    pub(crate) info: AlgorithmInfo,
    /// Whether it works on the square matrix of all vertices, whatever rows and columns are asked for.
    pub(crate) needs_matrix: bool,
    /// Whether the search from a source ends when its targets are settled.
    pub(crate) ends_at_targets: bool,
    /// Predicts the seconds until its searches begin, which do not depend on how much they reach.
    pub(crate) seconds_before: fn(&Workload<'_>) -> f64,
    /// How many rows share work on each thread.
    pub(crate) rows_together: usize,
    /// Bytes it takes beyond the result, given the numbers of vertices, arcs, threads, and bytes a distance.
    pub workspace_bytes: fn(vertices: u64, arcs: u64, threads: u64, distance_bytes: u64) -> u64,
    function: Function,
}

impl ApspAlgorithm {
    /// Whether the task needs a hierarchy.
    pub(crate) fn needs_metric(&self) -> bool {
        matches!(self.function, Function::Hierarchy)
    }

    /// Runs it.
    ///
    /// # Errors
    ///
    /// If the task names a missing vertex, arcs of another graph or room of the wrong size, there is a negative cycle,
    /// a distance is out of range, memory does not suffice, or the caller cancels.
    pub(crate) fn solve<L: MinPlusOnCpu>(
        &self,
        task: &ApspTask<'_, L>,
        output: ApspOutput<'_, L::Distance>,
    ) -> Result<Statistics> {
        match self.function {
            Function::Batched => L::batched(task, output),
            Function::TiledFloydWarshall => tiled_floyd_warshall::solve(task, output),
            Function::Johnson => L::johnson(task, output),
            Function::FloydWarshall => floyd_warshall::solve(task, output),
            Function::Hierarchy => hierarchy::solve(task, output),
            Function::RepeatedDijkstra => repeated_dijkstra::solve(task, output),
            Function::RepeatedSearches => L::repeated_searches(task, output),
        }
    }
}

/// Every all-pairs algorithm of this engine.
pub(crate) static ALGORITHMS: &[ApspAlgorithm] = &[
    batched::ALGORITHM,
    tiled_floyd_warshall::ALGORITHM,
    johnson::ALGORITHM,
    floyd_warshall::ALGORITHM,
    repeated_dijkstra::ALGORITHM,
    repeated_searches::ALGORITHM,
    hierarchy::ALGORITHM,
];
