//! How far apart two distances may be and still count as equal.
//!
//! Without negative weights, not at all: rounded addition of a non-negative weight is monotone and never decreases, so
//! distances are exact fixed points, floats included. Where float weights are negative, rounding can put a cycle of
//! length 0 a little below 0, and the distances on it would sink for ever. So an improvement within the rounding error
//! of the greatest value in the graph does not count, and an arc within that error is tight.

use crate::graph::{Adjacency, DistanceValue, MinPlus, Weight, WeightKind};
use crate::parallel;

/// The tolerance covers sums in which this many terms are all rounded in the same direction.
const TERMS: f64 = 2048.0;

/// The tolerance of a comparison; 0 for everything but floats with negative weights.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Slack(f64);

impl Slack {
    /// The tolerance for distances in a graph; O(V + E) for float weights, O(1) for others.
    pub(crate) fn of<L: MinPlus>(graph: Adjacency<'_, L::Weight>, distances: &[L::Distance]) -> Self {
        if relative::<L>() == 0.0 || !has_negative(graph.weights) {
            return Slack(0.0);
        }
        let finite = distances.iter().map(|d| d.to_f64().abs()).filter(|d| d.is_finite());
        let greatest = finite.fold(greatest_weight::<L>(graph), f64::max);
        Slack(greatest * relative::<L>())
    }

    /// Whether `through` is shorter than `to` by more than the tolerance.
    #[inline]
    pub(crate) fn is_shorter<D: DistanceValue>(self, through: D, to: D) -> bool {
        if self.0 == 0.0 { through < to } else { through.to_f64() < to.to_f64() - self.0 }
    }

    /// Whether the two are equal within the tolerance.
    #[inline]
    pub(crate) fn is_tight<D: DistanceValue>(self, through: D, to: D) -> bool {
        if self.0 == 0.0 { through == to } else { (through.to_f64() - to.to_f64()).abs() <= self.0 }
    }
}

/// The greatest absolute value of a weight.
pub(crate) fn greatest_weight<L: MinPlus>(graph: Adjacency<'_, L::Weight>) -> f64 {
    let greatest = |weights: &[L::Weight]| weights.iter().map(|weight| weight.to_f64().abs()).fold(0.0, f64::max);
    let parts = parallel::collect(graph.weights.len().div_ceil(AT_ONCE), |part| greatest(part_of(graph.weights, part)));
    parts.into_iter().fold(0.0, f64::max)
}

/// What a thread looks at before it asks for more.
const AT_ONCE: usize = 1 << 14;

fn part_of<T>(values: &[T], part: usize) -> &[T] {
    &values[part * AT_ONCE..values.len().min((part + 1) * AT_ONCE)]
}

fn has_negative<W: Weight>(weights: &[W]) -> bool {
    let is_there = |part| part_of(weights, part).iter().any(|weight| weight.is_negative());
    parallel::find_first(weights.len().div_ceil(AT_ONCE), &is_there).is_some()
}

/// The tolerance relative to the greatest value; 0 for integers.
pub(crate) fn relative<L: MinPlus>() -> f64 {
    match L::Weight::KIND {
        WeightKind::F32 => TERMS * f64::from(f32::EPSILON),
        WeightKind::F64 => TERMS * f64::EPSILON,
        _ => 0.0,
    }
}
