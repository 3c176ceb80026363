//! One source after another: V searches by Dijkstra's algorithm with a binary heap, whose rows make the table.
//!
//! Each search is that of `dijkstra`, and knows nothing of the others. With one thread this is the sequential baseline
//! of the papers; with several, each takes the next source. Work O(V (V + E) log V), span that of the longest search.
//! It wins nowhere: `batched` reads an arc once for many sources. Memory: for each thread a row of distances, and a
//! heap that can get an entry for each arc.
//!
//! Source: Dijkstra 1959, repeated from all vertices as in Harish and Narayanan 2007, sect. 3.4, and Pathak et al.
//! 2022, sect. 5.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu};
use crate::algorithms::{AlgorithmInfo, Statistics, add_counters};
use crate::cpu::Team;
use crate::cpu::sssp::{SsspTask, dijkstra};
use crate::graph::{DistanceValue, VertexId};
use crate::problems::Problem;
use crate::{Error, Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "repeated-dijkstra",
        summary: "one source after another, each by `dijkstra`",
        source: "Dijkstra 1959; Harish & Narayanan 2007, sect. 3.4; Pathak et al. 2022, sect. 5",
        parameters: &[],
        negative_weights: false,
        seconds: |work| (dijkstra::ALGORITHM.info.seconds)(work),
    },
    needs_matrix: false,
    workspace_bytes,
    function: Function::RepeatedDijkstra,
};

fn workspace_bytes(vertices: u64, arcs: u64, threads: u64, distance_bytes: u64) -> u64 {
    // A heap takes twice the room when it is full, and an entry has a distance and a vertex.
    let heap = arcs.saturating_mul(2 * 2 * distance_bytes);
    threads.saturating_mul(heap.saturating_add(vertices.saturating_mul(distance_bytes)))
}

pub(super) fn solve<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
) -> Result<Statistics> {
    task.check(&output)?;
    if task.graph.has_negative_weights() {
        return Err(Error::invalid("`repeated-dijkstra` needs weights of 0 or more"));
    }
    let order = memory::listed("the order of rows", 0..task.sources.len())?;
    // A shortest path has fewer arcs than there are vertices.
    let longest = task.graph.weight_range().1 * task.graph.vertices() as f64;
    let searches = Searches {
        task,
        may_leave_range: longest.is_nan() || longest >= L::Distance::LIMIT,
        done: AtomicU64::new(0),
        statistics: Mutex::default(),
    };
    match output {
        ApspOutput::Matrix(matrix) => searches.fill(&order, matrix)?,
        ApspOutput::Blocks(consumer) => {
            let have = consumer.start(&order)?.min(order.len());
            searches.done.store(have as u64, Ordering::Relaxed);
            let threads = task.team.threads();
            task.hand_out(&order[have..], threads, consumer, |rows, values| searches.fill(rows, values))?;
        }
    }
    Ok(searches.statistics.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The state that all searches share.
struct Searches<'a, L: MinPlusOnCpu> {
    task: &'a ApspTask<'a, L>,
    /// Whether a distance can be too great for its type.
    may_leave_range: bool,
    /// The rows that are finished.
    done: AtomicU64,
    statistics: Mutex<Statistics>,
}

impl<L: MinPlusOnCpu> Searches<'_, L> {
    /// Fills rows, whose cells lie one row after another; threads take row after row.
    fn fill(&self, rows: &[usize], cells: &mut [L::Distance]) -> Result<()> {
        let columns = self.task.columns();
        if columns == 0 {
            return Ok(());
        }
        self.task.team.install(|| {
            let rows = rows.par_iter().zip(cells.par_chunks_exact_mut(columns)).with_max_len(1);
            rows.try_for_each(|(&row, cells)| self.search(self.task.sources[row], cells))
        })
    }

    /// Fills the row of a source.
    fn search(&self, source: VertexId, cells: &mut [L::Distance]) -> Result<()> {
        let ApspTask { adjacency, graph, targets, parameters, control, .. } = *self.task;
        let outcome = dijkstra::ALGORITHM.solve::<L>(&SsspTask {
            adjacency,
            graph,
            sources: &[source],
            targets: &[],
            cutoff: L::Distance::UNREACHABLE,
            parameters,
            team: &Team::alone(),
            control,
        })?;
        if self.may_leave_range && graph.has_left_range(&outcome.distances) {
            return Err(Error::DistanceOverflow { semiring: L::NAME });
        }
        match targets {
            None => cells.copy_from_slice(&outcome.distances),
            Some(targets) => {
                cells.iter_mut().zip(targets).for_each(|(cell, &target)| *cell = outcome.distances[target as usize]);
            }
        }
        add_counters(&mut self.statistics.lock().unwrap_or_else(PoisonError::into_inner), outcome.statistics);
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        control.progress("solve", done, self.task.sources.len() as u64)
    }
}
