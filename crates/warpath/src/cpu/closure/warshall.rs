//! Transitive closure by the textbook: Warshall's three loops over a matrix of bytes.
//!
//! After round `k` the entry `(i, j)` is set if there is a path from `i` to `j` whose inner vertices are all at most
//! `k`; round `k` therefore joins every path that ends in `k` with every path that begins there. Started from the arcs
//! alone, the diagonal ends up telling who is on a cycle; the reflexive closure sets all of it.
//!
//! Work O(V^3) at worst, O(V^2 + V * reachable pairs) as here, where a row that does not reach `k` is skipped; one
//! thread; V^2 bytes. It wins nowhere: the other algorithms are compared with it.
//!
//! Sources: S. Warshall, A theorem on Boolean matrices, J. ACM 1962; Katz & Kider 2008, sect. 3.2, algorithm 1.

use super::{ClosureAlgorithm, ClosureBits, ClosureOutcome, ClosureTask};
use crate::algorithms::AlgorithmInfo;
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::{BitMatrix, Problem};
use crate::{Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Closure,
        name: "warshall",
        summary: "three loops over a matrix of bytes, one thread; for comparison",
        source: "Warshall 1962; Katz & Kider 2008, sect. 3.2",
        parameters: &[],
        negative_weights: true,
        seconds: |work| work.triples() * 0.018e-9,
    },
    plan: |graph, _, _| plan(graph),
    solve,
};

fn plan(graph: &Graph) -> Plan {
    let vertices = graph.vertices();
    let mut plan = Plan::new();
    plan.memory("matrix of bytes", (vertices as u64).saturating_mul(vertices as u64));
    plan.memory("matrix of bits", BitMatrix::bytes(vertices, vertices));
    plan
}

fn solve(task: &ClosureTask<'_>) -> Result<ClosureOutcome> {
    let vertices = task.graph.vertices();
    let mut reaches: Vec<u8> = memory::zeroed("the matrix of bytes", vertices.saturating_mul(vertices))?;
    for (u, row) in reaches.chunks_exact_mut(vertices.max(1)).enumerate() {
        task.graph.neighbors(u as VertexId).iter().for_each(|&v| row[v as usize] = 1);
        if !task.irreflexive {
            row[u] = 1;
        }
    }
    let mut through: Vec<u8> = memory::zeroed("a row of bytes", vertices)?;
    for k in 0..vertices {
        task.control.progress("solve", k as u64, vertices as u64)?;
        through.copy_from_slice(&reaches[k * vertices..(k + 1) * vertices]);
        for row in reaches.chunks_exact_mut(vertices).filter(|row| row[k] != 0) {
            row.iter_mut().zip(&through).for_each(|(entry, joined)| *entry |= joined);
        }
    }
    let mut bits = BitMatrix::new(vertices, vertices)?;
    for (u, row) in reaches.chunks_exact(vertices.max(1)).enumerate() {
        (0..vertices).filter(|&v| row[v] != 0).for_each(|v| bits.set(u, v, true));
    }
    Ok(ClosureOutcome { bits: ClosureBits::Matrix(bits), statistics: vec![("rounds", vertices as u64)] })
}
