//! Dijkstra's algorithm: settle vertices in the order of their distance, from a binary heap.
//!
//! A vertex enters the heap each time its distance falls; entries that are no longer current are skipped when they come
//! out ("lazy deletion"), which is faster than moving entries about. Work O((V + E) log V), span the same. It does the
//! fewest relaxations of all, and loses to delta-stepping where several threads have work.
//!
//! Source: Dijkstra 1959, "A note on two problems in connexion with graphs".

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Function, SsspAlgorithm, SsspTask};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::graph::{DistanceValue, MinPlus};
use crate::problems::Problem;
use crate::{Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "dijkstra",
        summary: "a binary heap, one thread; the least work, no parallelism",
        source: "Dijkstra 1959",
        parameters: &[],
        negative_weights: false,
        seconds,
    },
    uses_team: false,
    function: Function::Dijkstra,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// A vertex with its place in the heap, and an arc, where both are in the cache.
    const VERTEX: f64 = 60e-9;
    const ARC: f64 = 4e-9;
    let misses = if work.graph.has_short_levels() { 1.0 } else { work.cache_misses(12.0) };
    work.side_by_side((work.vertices() * VERTEX + work.arcs() * ARC) * misses)
}

pub(super) fn solve<L: MinPlus>(task: &SsspTask<'_, L>, distances: &mut [L::Distance]) -> Result<Statistics> {
    const SETTLED_BETWEEN_CHECKS: u64 = 1 << 14;
    let graph = task.adjacency;
    let with_marks = if task.targets.is_empty() { 0 } else { graph.vertices() };
    let mut is_target: Vec<bool> = memory::zeroed("the marks of targets", with_marks)?;
    task.targets.iter().for_each(|&target| is_target[target as usize] = true);
    let mut cutoff = task.cutoff;
    let mut unsettled_targets = task.targets.len();
    let mut heap = BinaryHeap::from(memory::with_capacity("the heap of vertices", task.sources.len())?);
    for &source in task.sources {
        distances[source as usize] = L::Distance::ZERO;
        heap.push(Reverse((L::Distance::ZERO.key(), source)));
    }
    let (mut settled, mut relaxations) = (0_u64, 0_u64);
    while let Some(Reverse((key, u))) = heap.pop() {
        let distance = L::Distance::from_key(key);
        if distances[u as usize] < distance {
            continue;
        }
        if cutoff < distance {
            break;
        }
        settled += 1;
        if settled % SETTLED_BETWEEN_CHECKS == 0 {
            task.control.check()?;
        }
        if !task.targets.is_empty() && is_target[u as usize] {
            is_target[u as usize] = false;
            unsettled_targets -= 1;
            if unsettled_targets == 0 {
                // Other vertices at the same distance count as well, and an arc of weight 0 may still lead to some of
                // them.
                cutoff = distance;
            }
        }
        memory::reserve("the heap of vertices", &mut heap, graph.degree(u))?;
        for (v, weight) in graph.edges(u) {
            relaxations += 1;
            let through = L::extend(distance, weight);
            if through < distances[v as usize] {
                distances[v as usize] = through;
                heap.push(Reverse((through.key(), v)));
            }
        }
    }
    Ok(vec![("settled", settled), ("relaxations", relaxations)])
}
