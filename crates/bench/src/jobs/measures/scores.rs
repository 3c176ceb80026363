//! Scores of vertices: how far two programs may differ, and a digest for the record.

use warpath::{Error, Result};

use crate::digest::{Digest, hash_row, hexadecimal};

/// The greatest difference between two scores of a vertex, as a share of the expected one. What is expected to be 0 has to be 0.
const TOLERANCE: f64 = 1e-9;

/// Whether two scores are the same but for rounding. What is no number agrees with nothing.
fn agree(expected: f64, found: f64) -> bool {
    (expected - found).abs() <= TOLERANCE * expected.abs()
}

/// Compares the scores of all vertices with those expected.
///
/// # Errors
///
/// [`Error::NotVerified`] with the first vertex whose scores differ, and how many do.
pub(super) fn compare(expected: &[f64], found: &[f64]) -> Result<()> {
    if found.len() != expected.len() {
        return Err(Error::NotVerified(format!("{} scores of {} vertices", found.len(), expected.len())));
    }
    let mut differing =
        expected.iter().zip(found).enumerate().filter(|(_, (expected, found))| !agree(**expected, **found));
    let Some((vertex, (wanted, score))) = differing.next() else { return Ok(()) };
    let (differ, all) = (1 + differing.count(), expected.len());
    Err(Error::NotVerified(format!("vertex {vertex} has {score} instead of {wanted}; {differ} of {all} scores differ")))
}

/// A digest of scores: how many are above 0, their sum, the greatest of them, and a hash of all.
pub(super) fn digest(scores: &[f64]) -> Digest {
    let distances = warpath::graph::Distances::F64(scores.to_vec());
    Digest {
        reached: scores.iter().filter(|score| **score > 0.0).count() as u64,
        sum: scores.iter().sum::<f64>().to_string(),
        greatest: scores.iter().copied().max_by(f64::total_cmp).map(|greatest| greatest.to_string()),
        hash: Some(hexadecimal(hash_row(&distances, 0, scores.len(), 0))),
    }
}
