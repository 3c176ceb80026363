//! Which rank owns which vertices: consecutive ones, in the order of the ranks.

use std::ops::Range;

/// Consecutive vertices for each rank. A rank may have none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// The first vertex of each rank, and then the number of vertices.
    starts: Vec<u64>,
}

impl Partition {
    /// Equally many vertices for each rank, but for the last ones.
    pub(crate) fn equal(vertices: u64, ranks: usize) -> Self {
        let share = vertices.div_ceil(ranks as u64);
        Partition { starts: (0..=ranks as u64).map(|rank| vertices.min(rank * share)).collect() }
    }

    /// Ranges that begin at these vertices, of which the first is 0; the last is their number.
    pub(crate) fn at(starts: Vec<u64>) -> Self {
        Partition { starts }
    }

    /// The first vertex of each rank, and then the number of vertices.
    pub(crate) fn starts(&self) -> &[u64] {
        &self.starts
    }

    /// How many ranks there are.
    pub(crate) fn ranks(&self) -> usize {
        self.starts.len() - 1
    }

    /// The number of vertices of all ranks.
    pub fn vertices(&self) -> u64 {
        self.starts[self.starts.len() - 1]
    }

    /// The vertices of a rank.
    pub fn range(&self, rank: usize) -> Range<u64> {
        self.starts[rank]..self.starts[rank + 1]
    }

    /// The rank that owns a vertex. O(log ranks).
    #[inline]
    pub fn owner(&self, vertex: u64) -> usize {
        self.starts.partition_point(|&start| start <= vertex).min(self.starts.len() - 1) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_vertex_has_one_owner() {
        for (vertices, ranks) in [(0, 3), (1, 3), (2, 3), (7, 3), (9, 3), (100, 1), (5, 8)] {
            let partition = Partition::equal(vertices, ranks);
            assert_eq!(partition.vertices(), vertices);
            let all: Vec<u64> = (0..ranks).flat_map(|rank| partition.range(rank)).collect();
            assert!(all.iter().copied().eq(0..vertices), "{vertices} on {ranks}");
            for rank in 0..ranks {
                assert!(partition.range(rank).all(|v| partition.owner(v) == rank), "{vertices} on {ranks}");
            }
        }
        let partition = Partition::at(vec![0, 0, 4, 4, 9]);
        assert_eq!([0, 3, 4, 8].map(|v| partition.owner(v)), [1, 1, 3, 3]);
    }
}
