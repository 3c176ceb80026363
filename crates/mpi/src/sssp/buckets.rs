//! Vertices by the interval that their distance lies in.

use std::collections::BTreeMap;

use warpath::graph::DistanceValue;

/// What stands for a bucket where none holds anything.
pub(super) const NOTHING: u64 = u64::MAX;

/// Buckets of equal width. A vertex may be in several, or in one twice: whoever takes it compares its distance.
#[derive(Debug)]
pub(super) struct Buckets {
    inverse: f64,
    filled: BTreeMap<u64, Vec<u32>>,
}

impl Buckets {
    /// Buckets of a width above 0.
    pub(super) fn new(delta: f64) -> Self {
        Buckets { inverse: (1.0 / delta).min(f64::MAX), filled: BTreeMap::new() }
    }

    /// The bucket of a distance. It never falls as the distance grows.
    #[inline]
    pub(super) fn of<D: DistanceValue>(&self, distance: D) -> u64 {
        ((distance.to_f64() * self.inverse) as u64).min(NOTHING - 1)
    }

    #[inline]
    pub(super) fn put(&mut self, bucket: u64, vertex: u32) {
        self.filled.entry(bucket).or_default().push(vertex);
    }

    /// The lowest bucket that holds anything; [`NOTHING`] if none does.
    pub(super) fn lowest(&self) -> u64 {
        self.filled.keys().next().copied().unwrap_or(NOTHING)
    }

    /// Empties a bucket.
    pub(super) fn take(&mut self, bucket: u64) -> Vec<u32> {
        self.filled.remove(&bucket).unwrap_or_default()
    }
}
