//! Predicts what ranks send in a search by random weights.
//!
//! A ghost is reported in each round in which one of a rank's arcs leads to it by a path that is shorter than all that the rank has found before. So its
//! messages are the records among the lengths of these paths, in the order of the buckets of their last tails.
//!
//! A graph is taken as random arcs between classes (`classes.rs`), and weights as numbers between two bounds. A vertex with `d` expected arcs
//! is nearer than `t` with probability `1 - exp(-a(t))`, where `a(t)` is the number of its arcs by which something arrives before `t`: it grows by the arcs whose tails are nearer by
//! one of the possible weights. To a ghost, paths arrive as a Poisson process in two dimensions, the bucket of the tail and the length; a bucket has a record if its shortest path is shorter than those
//! of all buckets before. Rounds within a bucket are left out. Where ghosts are told that they are settled (`sssp/delta_stepping.rs`), a path to one that paths of
//! other ranks have settled is none, and so is the arc back to where the path of its tail came from.
//!
//! Work O(classes * (classes + steps) * steps), some hundreds of steps.

use warpath::generate::{Recipe, WeightRange};
use warpath::{Error, Result};

use super::classes::{Class, Divided};
use crate::sssp::{PRUNING_SHARE, width_of};

/// The most buckets of the greatest weight.
const MOST_BUCKETS: f64 = 2048.0;

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
/// assert!(predicted.bytes < 8.0 * predicted.ghosts);
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
    if !(low >= 0.0 && high < MOST && high - low >= 4.0 * width && high <= MOST_BUCKETS * width) {
        return Err(Error::invalid(
            "by weights, what ranks send is predicted where the greatest weight is below 2^28, and 4 to 2,048 buckets wide",
        ));
    }
    let weights = Weights::of((low, high), width);
    let nearer = graph.nearer(weights, source_degree.max(1.0));
    let prunings = graph.prunings(&nearer, weights);
    let mut told = vec![Told::default(); prunings.len()];
    for (class, nearer_of) in graph.classes.iter().zip(&nearer) {
        let (pairs, records) = (graph.pairs(class), graph.records(class, &nearer, weights, &prunings));
        // A path is of no use if one of another rank has come before the end of the bucket that was last told of.
        let wanted = |step: usize| pairs * (1.0 - nearer_of[step]).powf((graph.ranks - 1.0) / graph.ranks);
        for ((told, records), pruning) in told.iter_mut().zip(records).zip(&prunings) {
            told.by_light += wanted(pruning.before) * records.by_light;
            told.by_heavy += wanted(pruning.after) * records.by_heavy;
        }
    }
    let tails = graph.tails(&nearer, weights);
    let of_prunings: f64 = prunings.iter().map(|pruning| pruning.words).sum();
    let pruned = prunings.iter().filter(|pruning| pruning.words > 0.0).count();
    Ok(PredictedByWeights {
        ghosts: graph.ghosts(),
        hubs: graph.hubs,
        load_bytes: graph.drawn_for_others() * 16.0,
        bytes: 8.0 * told.iter().map(|told| told.by_light + told.by_heavy).sum::<f64>() + 4.0 * of_prunings,
        messages: told.iter().zip(&tails).map(|(told, tails)| graph.messages_in(told, tails, weights)).sum::<f64>()
            + pruned as f64 * (graph.ranks - 1.0),
    })
}

/// What ghosts were told before the light arcs of a bucket, and before its heavy ones: that those are settled which are nearer than the end of a step.
#[derive(Debug, Clone, Copy)]
struct Pruning {
    before: usize,
    after: usize,
    /// What a rank tells the others in between.
    words: f64,
}

/// The vertices that a rank settles in a bucket.
#[derive(Debug, Clone, Copy)]
struct Tails {
    count: f64,
    /// How many light arcs to other ranks each has.
    light_arcs: f64,
}

/// Weights in steps.
#[derive(Debug, Clone, Copy)]
struct Weights {
    least: usize,
    /// How many there are, from the least one on.
    span: usize,
    /// Steps of a bucket.
    bucket: usize,
    /// Which part of the weights, whole numbers, is light.
    light: f64,
}

impl Weights {
    /// Those of a range, in buckets of this width.
    fn of((low, high): (f64, f64), width: f64) -> Self {
        /// The work grows with the square of the steps of all weights. Where these would be more than so many, a bucket has fewer.
        const MANY: f64 = 8192.0;
        const STEPS: [usize; 2] = [12, 4];
        let bucket = STEPS[usize::from(high / width * STEPS[0] as f64 > MANY)];
        let steps = |weight: f64| ((weight / width * bucket as f64).round() as usize).max(1);
        let light = ((width - low + 1.0) / (high - low + 1.0)).clamp(0.0, 1.0);
        Weights { least: steps(low), span: steps(high - low), bucket, light }
    }
}

impl Divided {
    /// For each class, with which probability a vertex is nearer than the end of each step.
    fn nearer(&self, Weights { least, span, .. }: Weights, source_degree: f64) -> Vec<Vec<f64>> {
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

    /// What ghosts are told in each bucket.
    fn prunings(&self, nearer: &[Vec<f64>], Weights { bucket, .. }: Weights) -> Vec<Pruning> {
        let (steps, ghosts) = (nearer[0].len() - 1, self.ghosts());
        let nearer_than = |step: usize| {
            let of_class = |(class, nearer): (&Class, &Vec<f64>)| self.ghosts_in(class) * nearer[step];
            self.classes.iter().zip(nearer).map(of_class).sum::<f64>()
        };
        let mut told = 0;
        let prunings = (0..steps).step_by(bucket).map(|begin| {
            let (before, end) = (told, steps.min(begin + bucket));
            let is_told = nearer_than(end) - nearer_than(begin) >= ghosts / PRUNING_SHARE as f64;
            told = if is_told { end } else { told };
            let fewer = (nearer_than(end) - nearer_than(before)).min(ghosts / 32.0);
            let words = if is_told { fewer + self.ranks - 1.0 } else { 0.0 };
            Pruning { before, after: told, words }
        });
        prunings.collect()
    }

    /// The vertices that a rank settles in each bucket. Hubs are apart: ranks have their arcs to their own vertices.
    fn tails(&self, nearer: &[Vec<f64>], Weights { bucket, light, .. }: Weights) -> Vec<Tails> {
        let steps = nearer[0].len() - 1;
        let of_bucket = |begin: usize| {
            let end = steps.min(begin + bucket);
            let (mut count, mut arcs) = (0.0, 0.0);
            for (class, nearer) in self.classes.iter().zip(nearer) {
                let settled = class.vertices * (1.0 - class.hubs) / self.ranks * (nearer[end] - nearer[begin]);
                count += settled;
                arcs += settled * self.arcs_to(class) * (self.ranks - 1.0);
            }
            Tails { count, light_arcs: arcs * light / count.max(f64::MIN_POSITIVE) }
        };
        (0..steps).step_by(bucket).map(of_bucket).collect()
    }

    /// How many messages a rank sends in a bucket. Light arcs are relaxed first, those of vertices that light arcs have led into the bucket after others, and
    /// then the heavy ones. Paths of `k` light arcs, of which all but the last end in the bucket, are in proportion to the `k`th power of the light arcs of a vertex
    /// over `k!`, and fewer where the least weight leaves less room.
    fn messages_in(
        &self,
        &Told { by_light, by_heavy }: &Told,
        tails: &Tails,
        Weights { least, bucket, .. }: Weights,
    ) -> f64 {
        /// Longer paths have next to nothing to tell.
        const ROUNDS: u32 = 8;
        let taken = least as f64 / bucket as f64;
        let paths = |of_length: &mut f64, length: u32| {
            *of_length *= tails.light_arcs * (1.0 - f64::from(length) * taken).max(0.0) / f64::from(length + 1);
            Some(*of_length)
        };
        let of_rounds: Vec<f64> = (0..ROUNDS).scan(1.0, paths).collect();
        let all = of_rounds.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let in_rounds = of_rounds.iter().map(|paths| self.messages_with(by_light * paths / all));
        // Without a tail a rank has nothing to tell; each has so much for the others.
        let of_tail = self.messages_with(by_heavy / tails.count.max(f64::MIN_POSITIVE));
        in_rounds.sum::<f64>() + self.messages_with(tails.count * of_tail)
    }

    /// With which probability a rank finds a shorter path than before, in each bucket, to a vertex of this class that it does not own.
    fn records(
        &self,
        class: &Class,
        nearer: &[Vec<f64>],
        Weights { least, span, bucket: width, .. }: Weights,
        prunings: &[Pruning],
    ) -> Vec<Told> {
        let steps = nearer[0].len() - 1;
        let arcs: Vec<f64> = self.arcs_from(class).collect();
        // Of the arcs of a vertex that is reached, one leads back to where its path came from.
        let others: Vec<f64> = arcs
            .iter()
            .zip(&self.classes)
            .map(|(arcs, tail)| arcs * (1.0 + (-tail.degree).exp_m1() / tail.degree.max(f64::MIN_POSITIVE)))
            .collect();
        // The arcs whose tails are reached in each step.
        let reached = |step: usize, arcs: &[f64]| {
            arcs.iter().zip(nearer).map(|(arcs, of)| arcs * (of[step + 1] - of[step])).sum::<f64>()
        };
        // How many paths of earlier buckets are shorter than each number of steps.
        let mut shorter = vec![0.0; steps + width + least + span + 1];
        let mut all = Vec::with_capacity(steps.div_ceil(width));
        for (bucket, pruning) in (0..steps).step_by(width).zip(prunings) {
            // That vertex is settled, and it is known where ghosts are told so.
            let arcs = if pruning.after > 0 { &others } else { &arcs };
            let tails: f64 = (bucket..steps.min(bucket + width)).map(|step| reached(step, arcs)).sum();
            let first = bucket + width / 2 + least;
            let (mut last, mut records) = (0.0, Told::default());
            for (length, shorter) in shorter.iter_mut().enumerate().skip(first) {
                let own = tails * ((length - first) as f64 / span as f64).min(1.0);
                // The shortest of the bucket is this long, and none before is shorter.
                let told = (own - last) * (-(own + last) / 2.0 - *shorter).exp();
                let is_light = length < first + width;
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
    fn ghosts_that_are_settled_are_told_of_seldom() {
        let weights = WeightRange { low: 1, high: 255 };
        // Counted by hand on 2^16 vertices, with all distances known: 1.96, 0.82 and 0.59 messages for each ghost.
        for (ranks, counted) in [(2, 1.96), (16, 0.82), (64, 0.59)] {
            let predicted = predict_by_weights("uniform:16", ranks, 32.0, weights).unwrap();
            let messages = predicted.bytes / 8.0 / predicted.ghosts;
            assert!((messages / counted - 1.0_f64).abs() < 0.15, "{ranks} ranks: {messages}");
        }
        assert!(predict_by_weights("grid:9x9", 2, 4.0, weights).is_err());
        assert!(predict_by_weights("uniform:20", 2, 32.0, WeightRange { low: 1, high: 2 }).is_err());
        // Buckets of one weight, which would be millions.
        let wide = WeightRange { low: 1, high: 1 << 27 };
        assert!(predict_by_weights("uniform:20,edges-per-vertex=5000", 2, 32.0, wide).is_err());
        let high = WeightRange { low: 1_000_000, high: 1_001_000 };
        assert!(predict_by_weights("uniform:20,edges-per-vertex=500", 2, 32.0, high).is_err());
    }
}
