//! Where a sample of a graph finds arcs.

use super::{Graph, VertexId, Weights};

/// The arcs that leave each vertex, for whoever looks at a few of them: a graph on the host, or one that lies elsewhere, of which
/// rows are fetched.
pub(crate) trait Rows {
    /// How many vertices there are.
    fn vertices(&self) -> usize;
    /// How many arcs.
    fn arcs(&self) -> usize;
    /// Says that the rows of these vertices will be asked for.
    fn expect(&self, _soon: &mut dyn Iterator<Item = VertexId>) {}
    /// Says that so many vertices around each of these, the nearest by arcs, will be looked at.
    fn expect_around(&self, _middles: &[VertexId], _count: usize) {}
    /// Calls `each` with the head and the weight of each arc that leaves `v`; 1 where weights are no integers of 0 or more.
    fn for_arcs(&self, v: VertexId, each: impl FnMut(VertexId, u32));
}

impl Rows for Graph {
    fn vertices(&self) -> usize {
        self.vertices()
    }

    fn arcs(&self) -> usize {
        self.arcs()
    }

    fn for_arcs(&self, v: VertexId, mut each: impl FnMut(VertexId, u32)) {
        let row = self.csr().row(v);
        let heads = &self.csr().targets()[row.clone()];
        match self.weights() {
            Weights::U32(weights) => heads.iter().zip(&weights[row]).for_each(|(&head, &weight)| each(head, weight)),
            _ => heads.iter().for_each(|&head| each(head, 1)),
        }
    }
}

/// Vertices spread over all of them evenly, in no step with the rows of a grid: at most so many.
pub(crate) fn spread_over(vertices: usize, count: usize) -> Vec<VertexId> {
    /// Its multiples are spread so.
    const GOLDEN_RATIO: u64 = 0x9e37_79b9_7f4a_7c15;
    let place = |index: u64| ((u128::from(index.wrapping_mul(GOLDEN_RATIO)) * vertices as u128) >> 64) as VertexId;
    (0..count.min(vertices) as u64).map(place).collect()
}
