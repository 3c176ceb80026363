//! Johnson's algorithm: [`batched`](super::batched) for integer weights below zero.
//!
//! The host finds potentials `h` with Bellman and Ford's algorithm; the weights `w + h(u) - h(v)` are 0 or more, and have the
//! same shortest paths. The device searches with these, and adds `h(v) - h(s)` to the distances while it packs them
//! ([`outgoing`](super::outgoing)). Weights that then exceed 32 bits are left to the CPU.
//!
//! Work: the work of `batched`, and O(V E) at worst on one thread of the host for the potentials.
//!
//! Source: Johnson 1977, "Efficient algorithms for shortest paths in sparse networks".

use super::batched;
use super::searches::SearchesAlgorithm;
use crate::algorithms::AlgorithmInfo;

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SearchesAlgorithm = SearchesAlgorithm {
    info: AlgorithmInfo {
        name: "johnson",
        summary: "reweights on the host so that no weight is negative, then `batched`; for integers",
        source: "Johnson 1977",
        negative_weights: true,
        ..batched::ALGORITHM.info
    },
    layouts: |_, _| &["johnson"],
    ..batched::ALGORITHM
};
