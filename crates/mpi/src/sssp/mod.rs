//! Shortest paths by weights: the table of its algorithms.

mod buckets;
mod delta_stepping;

pub(crate) use delta_stepping::search;

use crate::algorithm::RankAlgorithm;

/// The algorithms of shortest paths by weights.
pub(crate) const ALGORITHMS: &[RankAlgorithm] = &[delta_stepping::INFO];
