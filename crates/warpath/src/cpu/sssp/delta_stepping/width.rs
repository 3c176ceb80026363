//! The width of the buckets: the choice of delta, unless it was set, and the bucket of a distance.

use crate::cpu::sssp::SsspTask;
use crate::graph::{DistanceValue, Growth, MinPlus, Weight, WeightKind};

/// A width for which buckets are large enough to share and small enough to visit few vertices twice: about 1 % of a
/// weight at 30 arcs a vertex, a few weights at 2 or 3 (fitted to Kronecker, uniform and road graphs); up to twice that where many threads would have
/// too few vertices in a bucket.
pub(super) fn choose_delta<L: MinPlus>(task: &SsspTask<'_, L>) -> f64 {
    let in_weights = 40.0 / average_degree(task).powf(2.5);
    let delta = typical_weight(task) * in_weights * widening(task, in_weights);
    let whole_numbers = !matches!(L::Weight::KIND, WeightKind::F32 | WeightKind::F64);
    if whole_numbers { delta.max(1.0) } else { delta.max(f64::MIN_POSITIVE) }
}

/// How many times as wide buckets are for so many threads, if they would be so many typical weights wide for two: on 16 threads the roads of New York and a grid of a million
/// vertices were searched soonest with some 2,000 vertices a bucket.
fn widening<L: MinPlus>(task: &SsspTask<'_, L>, in_weights: f64) -> f64 {
    const OF_A_THREAD: f64 = 128.0;
    const MOST: f64 = 2.0;
    /// The most arcs a vertex: with more, only arcs up to a limit are relaxed, which was not tried with wider buckets.
    const SHORT_ROWS: f64 = 8.0;
    /// Few, since it takes a moment before every search.
    const SAMPLES: usize = 8;
    /// The greatest distance, in typical weights, by the root of the vertices: 0.9 on a grid, 1.5 and 2.9 on roads.
    const ACROSS: f64 = 1.7;
    // Widths were fitted on two threads.
    if task.team.threads() <= 2 {
        return 1.0;
    }
    let in_a_bucket = (task.adjacency.vertices() as f64).sqrt() * in_weights / ACROSS;
    let widening = (OF_A_THREAD * task.team.threads() as f64 / in_a_bucket.max(1.0)).clamp(1.0, MOST);
    let has_short_rows = average_degree(task) < SHORT_ROWS;
    let is_plane = || Growth::on_a_plane(task.graph, SAMPLES).is_some();
    if widening > 1.0 && has_short_rows && is_plane() { widening } else { 1.0 }
}

/// About the median of the weights, above 0 if any weight is.
pub(super) fn typical_weight<L: MinPlus>(task: &SsspTask<'_, L>) -> f64 {
    const SAMPLES: usize = 1024;
    let weights = task.adjacency.weights;
    let step = (weights.len() / SAMPLES).max(1);
    let mut sample: Vec<f64> = weights.iter().step_by(step).map(|weight| weight.to_f64()).collect();
    let middle = sample.len() / 2;
    let median = if sample.is_empty() { 1.0 } else { *sample.select_nth_unstable_by(middle, f64::total_cmp).1 };
    if median > 0.0 { median } else { task.graph.weight_range().1 / 2.0 }
}

/// Arcs a vertex, at least 1.
pub(super) fn average_degree<L: MinPlus>(task: &SsspTask<'_, L>) -> f64 {
    (task.adjacency.arcs() as f64 / task.adjacency.vertices().max(1) as f64).max(1.0)
}

/// The width of the buckets, which decides the bucket of a distance.
#[derive(Debug, Clone, Copy)]
pub(super) struct Width {
    inverse: f64,
}

impl Width {
    pub(super) fn new(delta: f64) -> Self {
        Width { inverse: (1.0 / delta).min(f64::MAX) }
    }

    /// The bucket of a distance, less than 2^22. It never falls as the distance grows, which is all that the algorithm
    /// relies on.
    #[inline(always)]
    pub(super) fn bucket<D: DistanceValue>(self, distance: D) -> u64 {
        /// Up to here all buckets are equally wide; beyond, their width is a thousandth of the distance.
        const EQUAL: f64 = (1 << 20) as f64;
        /// Leaves ten bits of the mantissa.
        const DROPPED_BITS: u32 = 42;
        let widths = distance.to_f64() * self.inverse;
        if widths < EQUAL {
            widths as u64
        } else {
            EQUAL as u64 + ((widths.to_bits() - EQUAL.to_bits()) >> DROPPED_BITS)
        }
    }
}
