//! The certificate that there are no shortest paths: a cycle whose weights add up to less than zero.

use crate::error::NegativeCycle;
use crate::graph::{Graph, NO_VERTEX, VertexId, Weight, Weights, with_weights};
use crate::{Error, Result, memory};

impl NegativeCycle {
    /// The cycle through these vertices, in order; the edge from the last to the first closes it. `None` if an edge is
    /// missing or the exact sum is not negative; of parallel edges, the least weight counts.
    pub(crate) fn through(graph: &Graph, vertices: &[VertexId]) -> Option<Self> {
        let successors = vertices.iter().cycle().skip(1);
        let edges: Vec<_> = vertices.iter().copied().zip(successors.copied()).collect();
        let length = exact_sum(graph, &edges)?;
        let names = vertices.iter().map(|&v| graph.name(v).into_owned()).collect();
        (length < 0.0).then_some(NegativeCycle { edges, names, length })
    }

    /// Checks, against the graph alone, that this is a cycle and that the exact sum of its weights is negative.
    ///
    /// # Errors
    ///
    /// [`Error::NotVerified`] if not.
    pub fn verify(&self, graph: &Graph) -> Result<()> {
        let chained = (self.edges.iter()).zip(self.edges.iter().cycle().skip(1)).all(|(edge, next)| edge.1 == next.0);
        if self.edges.is_empty() || !chained {
            return Err(Error::NotVerified("the edges do not form a cycle".into()));
        }
        match exact_sum(graph, &self.edges) {
            Some(sum) if sum < 0.0 => Ok(()),
            Some(sum) => Err(Error::NotVerified(format!("the cycle has length {sum}, not less than 0"))),
            None => Err(Error::NotVerified("the cycle uses an edge that the graph does not have".into())),
        }
    }
}

/// The cycles of a graph in which every vertex has at most one predecessor, each in the direction of its arcs.
///
/// # Errors
///
/// If there is no memory for the marks of vertices.
pub(crate) fn cycles_of_predecessors(predecessors: &[VertexId]) -> Result<Vec<Vec<VertexId>>> {
    const UNSEEN: u32 = u32::MAX;
    let mut seen_from = memory::filled("the marks of vertices", predecessors.len(), UNSEEN)?;
    let mut cycles = Vec::new();
    for start in 0..predecessors.len() as VertexId {
        let mut at = start;
        while at != NO_VERTEX && seen_from[at as usize] == UNSEEN {
            seen_from[at as usize] = start;
            at = predecessors[at as usize];
        }
        if at != NO_VERTEX && seen_from[at as usize] == start {
            let entry = at;
            let mut cycle = vec![entry];
            at = predecessors[at as usize];
            while at != entry {
                cycle.push(at);
                at = predecessors[at as usize];
            }
            cycle.reverse();
            cycles.push(cycle);
        }
    }
    Ok(cycles)
}

/// The sum of the least weights of these edges with the sign of the exact sum; `None` if an edge is missing.
fn exact_sum(graph: &Graph, edges: &[(VertexId, VertexId)]) -> Option<f64> {
    let csr = graph.csr();
    let least_arc = |&(u, v): &(VertexId, VertexId)| {
        if u as usize >= csr.vertices() {
            return None;
        }
        let row = csr.row(u);
        let heads = &csr.targets()[row.clone()];
        let first = heads.partition_point(|&head| head < v);
        let arcs = row.start + first..row.start + heads.partition_point(|&head| head <= v);
        arcs.min_by(|&a, &b| {
            with_weights!(csr.weights(), values => values[a].partial_cmp(&values[b]).unwrap_or(std::cmp::Ordering::Equal))
        })
    };
    let arcs: Option<Vec<usize>> = edges.iter().map(least_arc).collect();
    let arcs = arcs?;
    Some(match csr.weights() {
        Weights::Unit(_) => arcs.len() as f64,
        Weights::U32(values) => arcs.iter().map(|&arc| i128::from(values[arc])).sum::<i128>() as f64,
        Weights::I32(values) => arcs.iter().map(|&arc| i128::from(values[arc])).sum::<i128>() as f64,
        weights => {
            with_weights!(weights, values => exact_float_sum(arcs.iter().map(|&arc| values[arc].to_f64())))
        }
    })
}

/// A float near the exact sum, and with its sign. Partial sums are kept as non-overlapping floats (Shewchuk 1997,
/// "grow-expansion"). Huge weights are scaled down so that no partial sum overflows.
fn exact_float_sum(values: impl Iterator<Item = f64>) -> f64 {
    // Scaling by a power of two is exact except for subnormal results, which only weights below 2^-958 have.
    const SCALE: f64 = 1.0 / (1_u64 << 63) as f64;
    let mut values: Vec<f64> = values.collect();
    let huge = values.iter().any(|value| value.abs() > 1e280);
    if huge {
        values.iter_mut().for_each(|value| *value *= SCALE);
    }
    let mut parts: Vec<f64> = Vec::new();
    for value in values {
        let mut carry = value;
        let mut kept = 0;
        for index in 0..parts.len() {
            let (big, small) =
                if carry.abs() < parts[index].abs() { (parts[index], carry) } else { (carry, parts[index]) };
            let sum = big + small;
            let rest = small - (sum - big);
            if rest != 0.0 {
                parts[kept] = rest;
                kept += 1;
            }
            carry = sum;
        }
        parts.truncate(kept);
        parts.push(carry);
    }
    // The parts do not overlap and grow, so the last non-zero one decides the sign.
    let sum = parts.iter().sum::<f64>();
    let leading = parts.iter().rev().find(|part| **part != 0.0).copied().unwrap_or(0.0);
    let sum = if sum.signum() == leading.signum() && sum != 0.0 { sum } else { leading };
    if huge { sum / SCALE } else { sum }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_of_predecessors_are_found() {
        let none = NO_VERTEX;
        assert_eq!(cycles_of_predecessors(&[none, 0, 1]).unwrap(), Vec::<Vec<u32>>::new());
        assert_eq!(cycles_of_predecessors(&[2, 0, 1, 0]).unwrap(), [[1, 2, 0]]);
        assert_eq!(cycles_of_predecessors(&[0, none, 3, 2]).unwrap(), [vec![0], vec![3, 2]]);
    }

    #[test]
    fn float_sums_have_the_sign_of_the_exact_sum() {
        assert!(exact_float_sum([1e300, 1.0, -1e300, -1.0 - f64::EPSILON].into_iter()) < 0.0);
        assert_eq!(exact_float_sum([0.1, 0.2, -0.1, -0.2].into_iter()), 0.0);
        assert!(exact_float_sum([f64::MAX, f64::MAX, -f64::MAX, -f64::MAX].into_iter()) == 0.0);
        // Rounded left to right, this sum is -2.8e-17; exactly, it is positive.
        assert!(exact_float_sum([0.3, -0.1, -0.2].into_iter()) < 0.0 || 0.3 - 0.1 - 0.2 != 0.0);
    }
}
