//! Vertices in ascending order, and the place of each.

use warpath::Result;

use crate::allocation::filled;

/// Ascending vertices, found by their leading bits and then by halving.
#[derive(Debug, Clone)]
pub(crate) struct SortedIds {
    ids: Vec<u64>,
    /// For each value of the leading bits, how many vertices have a lesser one; then the number of vertices.
    before: Vec<u32>,
    shift: u32,
}

impl SortedIds {
    /// Of ascending vertices below `bound`, fewer than 2^32.
    pub(crate) fn new(ids: Vec<u64>, bound: u64) -> Result<Self> {
        let bits = u64::BITS - bound.saturating_sub(1).leading_zeros();
        // About as many values of the leading bits as vertices.
        let shift = bits.saturating_sub((ids.len() as u64 + 1).next_power_of_two().trailing_zeros());
        let buckets = (bound.saturating_sub(1) >> shift) as usize + 1;
        let mut before = filled("where vertices of other ranks are listed", buckets + 1, 0_u32)?;
        for id in &ids {
            before[(id >> shift) as usize + 1] += 1;
        }
        for bucket in 0..buckets {
            before[bucket + 1] += before[bucket];
        }
        Ok(SortedIds { ids, before, shift })
    }

    pub(crate) fn ids(&self) -> &[u64] {
        &self.ids
    }

    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }

    /// The place of a vertex, if it is there.
    #[inline]
    pub(crate) fn find(&self, id: u64) -> Option<u32> {
        let bucket = (id >> self.shift) as usize;
        let first = self.before[bucket];
        let place = self.ids[first as usize..self.before[bucket + 1] as usize].binary_search(&id).ok()?;
        Some(first + place as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed_vertices_are_found_and_others_are_not() {
        for bound in [1_u64, 2, 100, 1 << 20, 1 << 40] {
            for step in [1, 3, 1 << 14, 1 << 35] {
                let ids: Vec<u64> = (0..bound).step_by(step).take(1000).collect();
                let sorted = SortedIds::new(ids.clone(), bound).unwrap();
                for id in (0..bound).step_by((bound / 4096).max(1) as usize).chain(ids.iter().copied()) {
                    assert_eq!(sorted.find(id).map(|place| ids[place as usize]), ids.contains(&id).then_some(id));
                }
            }
        }
        assert_eq!(SortedIds::new(Vec::new(), 0).unwrap().len(), 0);
    }
}
