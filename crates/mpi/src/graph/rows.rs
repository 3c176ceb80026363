//! From arcs in any order to rows that ascend, parallel arcs merged.

use warpath::Result;
use warpath::graph::Weight;

use crate::allocation::filled;
use crate::words::{pull, push, words_of};

/// Rows with heads that are vertices of the graph.
pub(super) struct WideRows<W> {
    pub(super) offsets: Vec<u64>,
    pub(super) heads: Vec<u64>,
    pub(super) weights: Vec<W>,
}

/// How many words an arc takes in a message: the number of its row, its head, and its weight.
pub(super) const fn words_of_arc<W>() -> usize {
    3 + words_of::<W>()
}

/// Adds an arc to a message.
#[inline]
pub(super) fn push_arc<W: Weight>(words: &mut Vec<u32>, row: u32, head: u64, weight: W) {
    words.push(row);
    push(words, head);
    push(words, weight);
}

impl<W: Weight> WideRows<W> {
    /// The rows of arcs from messages; of parallel arcs the one of least weight stays. O(arcs log(degree)).
    pub(super) fn sorted(rows: usize, arcs: &[u32]) -> Result<Self> {
        let arcs = || arcs.chunks_exact(words_of_arc::<W>());
        let mut offsets = filled("offsets of vertices", rows + 1, 0_u64)?;
        arcs().for_each(|arc| offsets[arc[0] as usize + 1] += 1);
        for row in 0..rows {
            offsets[row + 1] += offsets[row];
        }
        let count = offsets[rows] as usize;
        let mut heads = filled("heads of arcs", count, 0_u64)?;
        let mut weights = filled("weights of arcs", count, W::default())?;
        let mut ends = filled("ends of rows", rows, 0_u64)?;
        ends.copy_from_slice(&offsets[..rows]);
        for arc in arcs() {
            let end = &mut ends[arc[0] as usize];
            heads[*end as usize] = pull(&arc[1..]);
            weights[*end as usize] = pull(&arc[3..]);
            *end += 1;
        }
        let mut rows = WideRows { offsets, heads, weights };
        rows.sort();
        Ok(rows)
    }

    /// Sorts each row, and closes the gaps that merged arcs leave.
    fn sort(&mut self) {
        let mut row: Vec<(u64, W)> = Vec::new();
        let (mut first, mut end) = (0, 0);
        for index in 0..self.offsets.len() - 1 {
            let next = self.offsets[index + 1] as usize;
            row.clear();
            row.extend(self.heads[first..next].iter().copied().zip(self.weights[first..next].iter().copied()));
            let by_head_and_weight = |a: &(u64, W), b: &(u64, W)| {
                a.0.cmp(&b.0).then(a.1.partial_cmp(&b.1).unwrap_or(std::cmp::Ordering::Equal))
            };
            if !row.is_sorted_by(|a, b| by_head_and_weight(a, b).is_le()) {
                row.sort_unstable_by(by_head_and_weight);
            }
            row.dedup_by_key(|(head, _)| *head);
            for &(head, weight) in &row {
                (self.heads[end], self.weights[end]) = (head, weight);
                end += 1;
            }
            self.offsets[index + 1] = end as u64;
            first = next;
        }
        self.heads.truncate(end);
        self.weights.truncate(end);
        self.heads.shrink_to_fit();
        self.weights.shrink_to_fit();
    }

    /// The arcs of a row.
    pub(super) fn row(&self, row: usize) -> impl ExactSizeIterator<Item = (u64, W)> {
        let row = self.offsets[row] as usize..self.offsets[row + 1] as usize;
        self.heads[row.clone()].iter().copied().zip(self.weights[row].iter().copied())
    }

    /// How many arcs a row has.
    pub(super) fn degree(&self, row: usize) -> u64 {
        self.offsets[row + 1] - self.offsets[row]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_ascend_and_the_least_of_parallel_arcs_stays() {
        let mut words = Vec::new();
        for (row, head, weight) in
            [(2, 7, 4.0_f64), (0, 1 << 40, 1.0), (2, 3, 2.0), (2, 7, 1.5), (0, 5, 9.0), (2, 7, 3.0)]
        {
            push_arc(&mut words, row, head, weight);
        }
        let rows = WideRows::<f64>::sorted(4, &words).unwrap();
        assert_eq!(rows.offsets, [0, 2, 2, 4, 4]);
        assert!(rows.row(0).eq([(5, 9.0), (1 << 40, 1.0)]));
        assert!(rows.row(2).eq([(3, 2.0), (7, 1.5)]));
        assert_eq!((rows.degree(1), rows.degree(2)), (0, 2));
    }
}
