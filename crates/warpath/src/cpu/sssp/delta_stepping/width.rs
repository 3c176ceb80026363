//! The width of the buckets: the choice of delta, unless it was set, and the bucket of a distance.

use crate::cpu::sssp::SsspTask;
use crate::graph::{DistanceValue, Growth, MinPlus, Weight, WeightKind};

/// A width for which buckets are large enough to share and small enough to visit few vertices twice: about 1 % of a
/// weight at 30 arcs a vertex, a few weights at 2 or 3 (fitted to Kronecker, uniform and road graphs on two threads); wider where many threads
/// would have too few vertices in a bucket.
pub(super) fn choose_delta<L: MinPlus>(task: &SsspTask<'_, L>) -> f64 {
    let delta = typical_weight(task) * 40.0 / average_degree(task).powf(2.5) * widening(task);
    let whole_numbers = !matches!(L::Weight::KIND, WeightKind::F32 | WeightKind::F64);
    if whole_numbers { delta.max(1.0) } else { delta.max(f64::MIN_POSITIVE) }
}

/// How many times as wide buckets are for more than two threads, on which widths were fitted. Each bucket costs a meeting, so on a plane each thread gets some vertices of it: on 16
/// threads the roads of New York, a grid and random points were searched soonest with some 2,000 vertices a bucket.
fn widening<L: MinPlus>(task: &SsspTask<'_, L>) -> f64 {
    const OF_A_THREAD: f64 = 128.0;
    /// The most, where each vertex that is visited again looks at few arcs, and where many arcs keep distances short.
    const MOST: [f64; 2] = [2.0, 8.0];
    const MANY_ARCS: f64 = 8.0;
    /// Few, since it takes a moment before every search.
    const SAMPLES: usize = 8;
    let threads = task.team.threads();
    if threads <= 2 {
        return 1.0;
    }
    // Across a plane it is some 8 sqrt(V) / d^1.5 typical weights with d arcs a vertex, and a bucket is 40 / d^2.5 of them wide.
    let degree = average_degree(task);
    let in_a_bucket = 5.0 * (task.adjacency.vertices() as f64).sqrt() / degree;
    let most = MOST[usize::from(degree >= MANY_ARCS)];
    let widening = (OF_A_THREAD * threads as f64 / in_a_bucket.max(1.0)).clamp(1.0, most);
    if widening > 1.0 && Growth::on_a_plane(task.graph, SAMPLES).is_some() { widening } else { 1.0 }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Control;
    use crate::algorithms::Parameters;
    use crate::cpu::Team;
    use crate::graph::U32ToU32;

    fn delta_on(recipe: &str, threads: usize) -> f64 {
        let graph = crate::generate(recipe).unwrap();
        let (team, parameters, control) = (Team::new(threads).unwrap(), Parameters::default(), Control::new());
        choose_delta(&SsspTask::<U32ToU32> {
            adjacency: graph.csr().adjacency().unwrap(),
            graph: &graph,
            sources: &[0],
            targets: &[],
            cutoff: u32::MAX,
            parameters: &parameters,
            metric: None,
            team: &team,
            control: &control,
        })
    }

    #[test]
    fn buckets_are_wider_for_many_threads_on_planes_alone() {
        for (recipe, wider) in [
            ("rgg:13,weights=1..100000", 8.0),
            ("grid:100x100,weights=1..100000", 2.0),
            ("kron:11,weights=1..100000", 1.0),
            ("uniform:12,edges-per-vertex=2,weights=1..100000", 1.0),
        ] {
            let on_two = delta_on(recipe, 2);
            assert!(on_two > 1.0, "{recipe}: {on_two}");
            assert_eq!(delta_on(recipe, 1), on_two, "{recipe}");
            let times = delta_on(recipe, 16) / on_two;
            assert!((times - wider).abs() < 1e-9, "{recipe}: {times} times");
        }
    }
}
