//! Predicts what ranks send in a search by random weights.
//!
//! A ghost is reported in each round in which one of a rank's arcs leads to it by a path that is shorter than all that the rank has found before. So its
//! messages are the records among the lengths of these paths, in the order of the buckets of their last tails.
//!
//! A graph is taken as random arcs between classes (`classes.rs`), and weights as numbers between two bounds. A vertex with `d` expected arcs
//! is nearer than `t` with probability `1 - exp(-a(t))`, where `a(t)` is the number of its arcs by which something arrives before `t`: it grows by the arcs whose tails are nearer by
//! one of the possible weights. To a ghost, paths arrive as a Poisson process in two dimensions, the bucket of the tail and the length; a bucket has a record if its shortest path is shorter than those
//! of all buckets before. Rounds within a bucket, and that the arc back to a ghost may have brought its tail, are left out.
//!
//! Work O(classes * (classes + steps) * steps), some hundreds of steps.

use warpath::generate::{Recipe, WeightRange};
use warpath::{Error, Result};

use super::classes::{Class, Divided};
use crate::sssp::width_of;

/// Steps of a bucket.
const STEPS: usize = 4;

/// The most steps of the greatest weight: the work grows with their square.
const MOST_STEPS: usize = 1 << 13;

/// Sums of a few weights below it fit 32 bits.
const MOST: f64 = (1_u32 << 28) as f64;

/// What one rank sends, on average.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictedByWeights {
    /// Ghosts of a rank.
    pub ghosts: f64,
    /// Hubs of all ranks.
    pub hubs: f64,
    /// Bytes that a rank sends while the graph is loaded.
    pub load_bytes: f64,
    /// Bytes that a rank sends in exchanges during a search.
    pub bytes: f64,
    /// Messages with words that a rank sends in exchanges during a search.
    pub messages: f64,
}

/// How many ghosts are told of in a bucket, by light and by heavy arcs.
#[derive(Debug, Clone, Copy, Default)]
struct Told {
    by_light: f64,
    by_heavy: f64,
}

/// Predicts a search by delta-stepping with the width that ranks choose, on a generated graph with random weights of 32 bits, from a source of
/// this degree, on cores.
///
/// ```
/// let weights = warpath::generate::WeightRange { low: 1, high: 255 };
/// let predicted = warpath_mpi::predict_by_weights("uniform:30", 64, 32.0, weights)?;
/// assert!(predicted.bytes > 8.0 * predicted.ghosts);
/// # Ok::<(), warpath::Error>(())
/// ```
///
/// # Errors
///
/// [`Error::InvalidRequest`] if the specification is wrong, or not one of `kron` and `uniform`; if buckets are as wide as a quarter of the weights: then most of what is sent is sent
/// again within a bucket; if weights are thousands of buckets wide; or if they are so great that distances may leave 32 bits.
pub fn predict_by_weights(
    specification: &str,
    ranks: usize,
    source_degree: f64,
    weights: WeightRange,
) -> Result<PredictedByWeights> {
    let recipe = Recipe::beyond_one_machine(specification)?;
    let name = specification.split(':').next().unwrap_or(specification);
    let graph = Divided::of(&recipe, name, ranks)?;
    let (low, high) = (weights.low as f64, weights.high as f64);
    let width = width_of((low, high), graph.arcs / graph.vertices, true, ranks, false);
    let step = width / STEPS as f64;
    // In steps: the least weight, and how many there are.
    let [least, span] = [low / step, (high - low) / step].map(|steps| (steps.round() as usize).max(1));
    if !(low >= 0.0 && high < MOST && span >= 4 * STEPS && least.saturating_add(span) <= MOST_STEPS) {
        return Err(Error::invalid(
            "by weights, what ranks send is predicted where the greatest weight is below 2^28, and 4 to 2,048 buckets wide",
        ));
    }
    let weights = Weights { least, span };
    let nearer = graph.nearer(weights, source_degree.max(1.0));
    let mut told = vec![Told::default(); nearer[0].len().div_ceil(STEPS)];
    for class in &graph.classes {
        let (pairs, records) = (graph.pairs(class), graph.records(class, &nearer, weights));
        for (told, records) in told.iter_mut().zip(records) {
            told.by_light += pairs * records.by_light;
            told.by_heavy += pairs * records.by_heavy;
        }
    }
    Ok(PredictedByWeights {
        ghosts: graph.ghosts(),
        hubs: graph.hubs,
        load_bytes: graph.drawn_for_others() * 16.0,
        bytes: 8.0 * told.iter().map(|told| told.by_light + told.by_heavy).sum::<f64>(),
        messages: told.iter().map(|told| graph.messages_in(told)).sum(),
    })
}

/// Weights in steps.
#[derive(Debug, Clone, Copy)]
struct Weights {
    least: usize,
    /// How many there are, from the least one on.
    span: usize,
}

impl Divided {
    /// For each class, with which probability a vertex is nearer than the end of each step.
    fn nearer(&self, Weights { least, span }: Weights, source_degree: f64) -> Vec<Vec<f64>> {
        /// A search ends where no class comes nearer by this part in a step.
        const SLOW: f64 = 1e-6;
        /// At the latest after so many times the greatest weight.
        const MOST_SPANS: usize = 64;
        let mut nearer = vec![vec![0.0]; self.classes.len()];
        let mut arrived = vec![0.0; self.classes.len()];
        for step in 0..MOST_SPANS * (least + span) {
            // The tails that are nearer by the least weight, and not by the greatest.
            let before = |of: &[f64], steps: usize| step.checked_sub(steps).map_or(0.0, |at| of[at]);
            let tails: Vec<f64> =
                nearer.iter().map(|of| (before(of, least) - before(of, least + span)) / span as f64).collect();
            let of_source =
                if (least..least + span).contains(&step) { source_degree / self.arcs / span as f64 } else { 0.0 };
            let mut is_slow = step > 2 * (least + span);
            for ((class, arrived), nearer) in self.classes.iter().zip(&mut arrived).zip(&mut nearer) {
                let by_tails: f64 = class.arcs_to.iter().zip(&tails).map(|(arcs, share)| arcs * share).sum();
                *arrived += by_tails + class.degree * of_source;
                let (now, last) = (-(-*arrived).exp_m1(), nearer[nearer.len() - 1]);
                is_slow = is_slow && now - last <= SLOW * now;
                nearer.push(now);
            }
            if is_slow {
                break;
            }
        }
        nearer
    }

    /// How many messages a rank sends in a bucket. Light arcs are relaxed first, those that lead into the bucket again and again, and then the heavy ones.
    fn messages_in(&self, &Told { by_light, by_heavy }: &Told) -> f64 {
        /// Later ones have next to nothing to tell.
        const ROUNDS: i32 = 8;
        // Of those that fall into the bucket, a rank has relaxed its own at once.
        let of_others = (self.ranks - 1.0) / self.ranks;
        let again = by_light / (by_light + by_heavy).max(f64::MIN_POSITIVE) * of_others;
        let of_light = (0..ROUNDS).map(|round| self.messages_with(by_light * again.powi(round)));
        of_light.sum::<f64>() + self.messages_with(by_heavy)
    }

    /// With which probability a rank finds a shorter path than before, in each bucket, to a vertex of this class that it does not own.
    fn records(&self, class: &Class, nearer: &[Vec<f64>], Weights { least, span }: Weights) -> Vec<Told> {
        let steps = nearer[0].len() - 1;
        let arcs: Vec<f64> = self.arcs_from(class).collect();
        // The arcs whose tails are reached in each step.
        let reached =
            |step: usize| arcs.iter().zip(nearer).map(|(arcs, of)| arcs * (of[step + 1] - of[step])).sum::<f64>();
        // How many paths of earlier buckets are shorter than each number of steps.
        let mut shorter = vec![0.0; steps + STEPS + least + span + 1];
        let mut all = Vec::with_capacity(steps.div_ceil(STEPS));
        for bucket in (0..steps).step_by(STEPS) {
            let tails: f64 = (bucket..steps.min(bucket + STEPS)).map(reached).sum();
            let first = bucket + STEPS / 2 + least;
            let (mut last, mut records) = (0.0, Told::default());
            for (length, shorter) in shorter.iter_mut().enumerate().skip(first) {
                let own = tails * ((length - first) as f64 / span as f64).min(1.0);
                // The shortest of the bucket is this long, and none before is shorter.
                let told = (own - last) * (-(own + last) / 2.0 - *shorter).exp();
                let is_light = length < first + STEPS;
                *(if is_light { &mut records.by_light } else { &mut records.by_heavy }) += told;
                *shorter += own;
                last = own;
            }
            all.push(records);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ghost_is_reported_at_least_once_where_all_is_reached() {
        let weights = WeightRange { low: 1, high: 255 };
        for ranks in [2, 16, 1000] {
            let predicted = predict_by_weights("uniform:20", ranks, 32.0, weights).unwrap();
            let messages = predicted.bytes / 8.0 / predicted.ghosts;
            assert!((1.0..3.4).contains(&messages), "{ranks} ranks: {messages}");
        }
        // A rank that has one arc to each ghost has one message for it.
        let predicted = predict_by_weights("uniform:20", 100_000, 32.0, weights).unwrap();
        assert!((predicted.bytes / 8.0 / predicted.ghosts - 1.0).abs() < 0.01);
        assert!(predict_by_weights("grid:9x9", 2, 4.0, weights).is_err());
        assert!(predict_by_weights("uniform:20", 2, 32.0, WeightRange { low: 1, high: 2 }).is_err());
        // Buckets of one weight, which would be millions.
        let wide = WeightRange { low: 1, high: 1 << 27 };
        assert!(predict_by_weights("uniform:20,edges-per-vertex=5000", 2, 32.0, wide).is_err());
        let high = WeightRange { low: 1_000_000, high: 1_001_000 };
        assert!(predict_by_weights("uniform:20,edges-per-vertex=500", 2, 32.0, high).is_err());
    }
}
