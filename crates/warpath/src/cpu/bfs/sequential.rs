//! Breadth-first search by the textbook: one queue, one thread.
//!
//! Each vertex enters the queue once, when it is first seen; the queue holds the levels one after another, so it is
//! also the order of discovery. Work O(V + E), span the same. It wins on small graphs and on long thin ones (roads),
//! whose levels are too short to share; it loses on everything with a wide frontier.
//!
//! Source: Moore 1959, "The shortest path through a maze"; Cormen et al., *Introduction to Algorithms*, sect. 22.2.

use super::{BfsAlgorithm, BfsOutcome, BfsTask, UNREACHED};
use crate::Result;
use crate::cpu::AlgorithmInfo;
use crate::problems::Problem;

/// This algorithm's line in the table.
pub const ALGORITHM: BfsAlgorithm = BfsAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Bfs,
        name: "sequential",
        summary: "one queue, one thread; wins on small graphs and on long thin ones",
        source: "Moore 1959",
        parameters: &[],
        negative_weights: true,
    },
    needs_transpose: false,
    solve,
};

fn solve(task: &BfsTask<'_>) -> Result<BfsOutcome> {
    const VERTICES_BETWEEN_CHECKS: usize = 1 << 16;
    let graph = task.graph.csr();
    let mut levels = vec![UNREACHED; graph.vertices()];
    let mut queue = Vec::with_capacity(graph.vertices());
    let mut unsettled_targets = task.targets.len();
    let mut is_target = vec![false; if task.targets.is_empty() { 0 } else { graph.vertices() }];
    task.targets.iter().for_each(|&target| is_target[target as usize] = true);
    for &source in task.sources {
        levels[source as usize] = 0;
        queue.push(source);
    }
    let mut head = 0;
    while head < queue.len() {
        if head % VERTICES_BETWEEN_CHECKS == 0 {
            task.control.check()?;
        }
        let u = queue[head];
        head += 1;
        let level = levels[u as usize];
        if !task.targets.is_empty() && is_target[u as usize] {
            unsettled_targets -= 1;
            if unsettled_targets == 0 {
                break;
            }
        }
        if level >= task.cutoff {
            break;
        }
        for &v in graph.neighbors(u) {
            if levels[v as usize] == UNREACHED {
                levels[v as usize] = level + 1;
                queue.push(v);
            }
        }
    }
    Ok(BfsOutcome { levels, statistics: vec![("visited", queue.len() as u64)] })
}
