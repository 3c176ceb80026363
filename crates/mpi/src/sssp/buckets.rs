//! Vertices by the interval that their distance lies in.

use std::collections::BTreeMap;

use warpath::graph::DistanceValue;

/// What stands for a bucket where none holds anything.
pub(super) const NOTHING: u64 = u64::MAX;

/// The width of buckets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width {
    delta: f64,
    inverse: f64,
}

impl Width {
    /// A width above 0.
    pub(super) fn new(delta: f64) -> Self {
        Width { delta, inverse: (1.0 / delta).min(f64::MAX) }
    }

    pub(super) fn delta(self) -> f64 {
        self.delta
    }

    /// The bucket of a distance. It never falls as the distance grows.
    #[inline]
    pub(super) fn bucket_of<D: DistanceValue>(self, distance: D) -> u64 {
        ((distance.to_f64() * self.inverse) as u64).min(NOTHING - 1)
    }

    /// The least distance of a later bucket; `UNREACHABLE` if there is none. It has to be looked for, since the bucket of a distance is rounded.
    pub(super) fn end_of<D: DistanceValue>(self, bucket: u64) -> D {
        let is_later = |distance: D| self.bucket_of(distance) > bucket;
        if !is_later(D::UNREACHABLE) {
            return D::UNREACHABLE;
        }
        // Distances of 0 or more order as their bits do.
        let bits_of = |distance: D| {
            let mut bytes = [0; 8];
            bytes[..size_of::<D>()].copy_from_slice(bytemuck::bytes_of(&distance));
            u64::from_le_bytes(bytes)
        };
        let of_bits = |bits: u64| bytemuck::pod_read_unaligned::<D>(&bits.to_le_bytes()[..size_of::<D>()]);
        let (mut not_later, mut later) = (bits_of(D::ZERO), bits_of(D::UNREACHABLE));
        if is_later(D::ZERO) {
            return D::ZERO;
        }
        while later - not_later > 1 {
            let middle = not_later + (later - not_later) / 2;
            if is_later(of_bits(middle)) { later = middle } else { not_later = middle }
        }
        of_bits(later)
    }
}

/// Buckets of equal width. A vertex may be in several, or in one twice: whoever takes it compares its distance.
#[derive(Debug)]
pub(super) struct Buckets {
    width: Width,
    filled: BTreeMap<u64, Vec<u32>>,
}

impl Buckets {
    pub(super) fn new(width: Width) -> Self {
        Buckets { width, filled: BTreeMap::new() }
    }

    /// The bucket of a distance.
    #[inline]
    pub(super) fn of<D: DistanceValue>(&self, distance: D) -> u64 {
        self.width.bucket_of(distance)
    }

    /// The least distance of a later bucket, as [`Width::end_of`].
    pub(super) fn end_of<D: DistanceValue>(&self, bucket: u64) -> D {
        self.width.end_of(bucket)
    }

    /// Adds a vertex at a distance.
    #[inline]
    pub(super) fn put<D: DistanceValue>(&mut self, distance: D, vertex: u32) {
        self.filled.entry(self.of(distance)).or_default().push(vertex);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_are_exact<D: DistanceValue>(before: impl Fn(D) -> D) {
        for delta in [1e-30, 0.1, 0.3, 1.0, 7.0, 1e9, 1e30] {
            let width = Width::new(delta);
            for bucket in [0, 1, 2, 9, 1000, 123_456_789] {
                let end: D = width.end_of(bucket);
                assert!(width.bucket_of(end) > bucket || end == D::UNREACHABLE, "{delta} {bucket}");
                assert!(end == D::ZERO || width.bucket_of(before(end)) <= bucket, "{delta} {bucket} {end}");
            }
        }
    }

    #[test]
    fn the_end_of_a_bucket_is_the_least_distance_of_a_later_one() {
        ends_are_exact::<u32>(|end| end - 1);
        ends_are_exact::<u64>(|end| end - 1);
        ends_are_exact::<i64>(|end| end - 1);
        ends_are_exact::<f32>(f32::next_down);
        ends_are_exact::<f64>(f64::next_down);
    }
}
