//! Facts about the distances of all ranks: how many there are, the greatest one, and their sum.

use std::hint::select_unpredictable;

use warpath::Distance;
use warpath::graph::DistanceValue;
use warpath::problems::DistanceSum;

use crate::reduced::Reduced;
use crate::words::{pull, push};
use crate::world::{Outcome, Reduction, World};

/// How many vertices are reached, the greatest distance and the sum of all ranks.
pub(crate) fn facts<D: DistanceValue>(world: &World, distances: &[D]) -> (u64, Option<Distance>, DistanceSum)
where
    D::Key: Reduced,
{
    let reached = || distances.iter().filter(|distance| **distance != D::UNREACHABLE);
    let count = world.reduce(Reduction::Sum, reached().count() as u64);
    let mut greatest = [greatest_reached(distances).key()];
    world.reduce_all(Reduction::Greatest, &mut greatest);
    let max_distance = if count > 0 { D::from_key(greatest[0]).distance() } else { None };
    let sum = match D::ZERO.distance() {
        Some(Distance::Single(_) | Distance::Double(_)) => {
            DistanceSum::Float(reached().map(|distance| distance.to_f64()).sum::<f64>())
        }
        _ => {
            let total = reached().map(|distance| match distance.distance() {
                Some(Distance::Unsigned(value)) => i128::from(value),
                Some(Distance::Signed(value)) => i128::from(value),
                _ => 0,
            });
            DistanceSum::Integer(total.sum())
        }
    };
    (count, max_distance, combined_sum(world, sum))
}

/// The greatest distance that is none of an unreached vertex; 0 if there is none. Without a branch for each, since which are reached is hard to predict.
pub(crate) fn greatest_reached<D: DistanceValue>(distances: &[D]) -> D {
    let (zero, unreachable) = (D::ZERO.key(), D::UNREACHABLE.key());
    let keys = distances.iter().map(|distance| distance.key());
    D::from_key(keys.fold(zero, |greatest, key| greatest.max(select_unpredictable(key == unreachable, zero, key))))
}

/// The sum of the sums of all ranks. A rank without distances may have a sum of integers where others have one of floats.
pub(crate) fn combined_sum(world: &World, sum: DistanceSum) -> DistanceSum {
    let (whole, float) = match sum {
        DistanceSum::Integer(sum) => (sum, 0.0),
        DistanceSum::Float(sum) => (0, sum),
    };
    if world.any(matches!(sum, DistanceSum::Float(_))) {
        let mut sums = [float];
        world.reduce_all(Reduction::Sum, &mut sums);
        return DistanceSum::Float(sums[0]);
    }
    // In pieces whose sums over all ranks have room; the last one has the sign.
    let mut pieces = [(whole & 0xffff_ffff) as i64, (whole >> 32 & 0xffff_ffff) as i64, (whole >> 64) as i64];
    world.reduce_all(Reduction::Sum, &mut pieces);
    let [low, middle, high] = pieces.map(i128::from);
    DistanceSum::Integer(low + (middle << 32) + (high << 64))
}

/// The greatest of the distances of all ranks, which have one type.
pub(crate) fn combined_max(world: &World, mine: Option<Distance>) -> Outcome<Option<Distance>> {
    let mut words = Vec::new();
    push(&mut words, Distance::to_words(mine));
    let all = world.agree(world.gather(&words))?;
    let distances = (0..world.ranks()).filter_map(|rank| Distance::of_words(pull(all.of(rank))));
    Ok(distances.fold(None, |greatest, distance| match greatest {
        Some(greatest) if greatest >= distance => Some(greatest),
        _ => Some(distance),
    }))
}
