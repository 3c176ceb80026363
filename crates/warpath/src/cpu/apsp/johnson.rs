//! Johnson's algorithm: negative weights on sparse graphs.
//!
//! Bellman and Ford's algorithm finds potentials `h`, from a virtual vertex with an arc of weight 0 to every source;
//! the weights `w + h(u) - h(v)` are then 0 or more and have the same shortest paths. [`batched`] search finds all
//! pairs under these, in labels as narrow as the new weights allow, and `h(v) - h(s)` is added back. Work: one
//! Bellman-Ford, O(V E) at worst, and the batched search.
//!
//! Integers are exact. Floats would be rounded by reweighting, so for negative floats the batched search runs on the
//! weights as they are: that is Bellman and Ford's algorithm for many sources at once, and its distances equal any
//! other search's, bit for bit. Without negative weights there is nothing to reweight.
//!
//! Source: Johnson 1977, "Efficient algorithms for shortest paths in sparse networks".

use super::batched::{self, Ladder, Renumbered};
use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::all_pairs::potentials::potentials;
use crate::graph::{DistanceValue, I32ToI64, MinPlus, VertexId};
use crate::problems::Problem;
use crate::{Error, Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "johnson",
        summary: "reweights so that no weight is negative, then `batched`; for negative integers on sparse graphs",
        source: "Johnson 1977",
        parameters: &[],
        negative_weights: true,
        seconds: |work| (super::batched::ALGORITHM.info.seconds)(work),
    },
    needs_matrix: false,
    ends_at_targets: false,
    seconds_before: batched::seconds_before_batches,
    rows_together: batched::ALGORITHM.rows_together,
    workspace_bytes: |vertices, arcs, threads, distance_bytes| {
        batched::workspace_bytes(vertices, arcs, threads, distance_bytes).saturating_add(arcs * 8 + vertices * 8)
    },
    function: Function::Johnson,
};

pub(super) fn solve(task: &ApspTask<'_, I32ToI64>, output: ApspOutput<'_, i64>) -> Result<Statistics> {
    task.check(&output)?;
    if !task.graph.has_negative_weights() {
        return I32ToI64::batched(task, output);
    }
    let potentials = potentials::<I32ToI64>(task.adjacency, task.graph, task.sources, task.control)?;
    // An arc whose tail no source reaches is never taken; its weight may be anything that is not negative.
    let mut weights: Vec<i64> = memory::zeroed("the new weights of arcs", task.adjacency.arcs())?;
    for u in 0..task.graph.vertices() as VertexId {
        let from = potentials[u as usize];
        if from == i64::UNREACHABLE {
            continue;
        }
        for arc in task.adjacency.row(u) {
            // Potentials are lengths of paths of fewer than 2^32 arcs: within 2^63, but their difference may not be.
            let reweighted = i64::from(task.adjacency.weights[arc])
                .checked_add(from)
                .and_then(|sum| sum.checked_sub(potentials[task.adjacency.targets[arc] as usize]));
            weights[arc] = reweighted.ok_or(Error::DistanceOverflow { semiring: I32ToI64::NAME })?;
        }
    }
    let graph = Renumbered::new(task.adjacency, &weights)?;
    // The new weights are too wide for any semiring, but the distances are signed.
    let ladder = Ladder::new(I32ToI64::NAME, task.sources.len(), false)
        .rung::<u8, 128, _>(&graph, &weights)
        .rung::<u16, 128, _>(&graph, &weights)
        .rung::<u32, 64, _>(&graph, &weights)
        .rung::<i64, 32, _>(&graph, &weights);
    batched::search::<I32ToI64>(task, &graph, &ladder, output, &|source, row| {
        let from = potentials[source as usize];
        for (column, cell) in row.iter_mut().enumerate() {
            if *cell != i64::UNREACHABLE {
                let target = task.targets.map_or(column, |targets| targets[column] as usize);
                *cell = cell
                    .checked_add(potentials[target])
                    .and_then(|sum| sum.checked_sub(from))
                    .ok_or(Error::DistanceOverflow { semiring: I32ToI64::NAME })?;
            }
        }
        Ok(())
    })
}
