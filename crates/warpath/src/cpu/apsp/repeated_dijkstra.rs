//! One source after another: V searches by Dijkstra's algorithm with a binary heap, whose rows make the table.
//!
//! Each search is that of `dijkstra`, and knows nothing of the others. With one thread this is the sequential baseline
//! of the papers; with several, each takes the next source. Work O(V (V + E) log V), span that of the longest search.
//! It wins nowhere: [`repeated_searches`](super::repeated_searches) does the same by quicker searches. Memory: for each
//! thread a row of distances, and a heap that can get an entry for each arc.
//!
//! Source: Dijkstra 1959, repeated from all vertices as in Harish and Narayanan 2007, sect. 3.4, and Pathak et al.
//! 2022, sect. 5.

use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu, repeated_searches};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cpu::sssp::dijkstra;
use crate::problems::Problem;
use crate::{Error, Result};

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
    ends_at_targets: true,
    seconds_before: |_| 0.0,
    rows_together: 1,
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
    if task.graph.has_negative_weights() {
        return Err(Error::invalid("`repeated-dijkstra` needs weights of 0 or more"));
    }
    repeated_searches::solve_by(task, output, &dijkstra::ALGORITHM)
}
