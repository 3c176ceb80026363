//! Shortest paths over a hierarchy: one sweep over its shortcuts, from the roots down, without a queue.
//!
//! The hierarchy and its lengths are there before the search ([`crate::hierarchy`] has the method), so this pays where they
//! were made before, or where many searches share them. Work O(shortcuts), whatever the weights, below 0 too (then a
//! negative cycle is an error wherever it is); targets and cutoffs save nothing. Shortcuts add floats in another order than walks do, and a distance would not be the length of any
//! walk to the last digit: only integers.
//!
//! Source: Delling, Goldberg, Nowatzyk, Werneck, "PHAST", 2013; Dibbelt, Strasser, Wagner, "Customizable contraction
//! hierarchies", 2016.

use super::{Function, SsspAlgorithm, SsspTask};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::graph::{DistanceValue, Distances, MinPlus};
use crate::problems::Problem;
use crate::{Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SsspAlgorithm = SsspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Sssp,
        name: "hierarchy",
        summary: "one sweep over shortcuts that are made once for all sources; integers, on graphs with small separators",
        source: "Delling et al. 2013, Dibbelt et al. 2016",
        parameters: &[],
        negative_weights: true,
        seconds,
    },
    uses_team: true,
    function: Function::Hierarchy,
};

/// How many sources share a sweep.
pub(crate) const SHARED: usize = 16;

/// The seconds of all sweeps over this many shortcuts of a tree of this height, whose results have so many columns, or are facts about
/// rows alone.
pub(crate) fn seconds_of_sweeps(shortcuts: f64, height: f64, columns: f64, facts: bool, work: &Workload<'_>) -> f64 {
    /// Looking at a shortcut for one source, by at most so many threads, and the power of their number with which it becomes quicker.
    const ALONE: f64 = 2.2e-9;
    const THREADS_ALONE: usize = 16;
    const SPEEDUP_ALONE: f64 = 0.5;
    /// Looking at a shortcut for one of the sources that share a sweep for rows; writing a distance; and the power of the number
    /// of threads with which writing becomes slower, since they share the memory.
    const TOGETHER: f64 = 0.4e-9;
    const WRITTEN: f64 = 1.2e-9;
    const SHARED_WRITES: f64 = 0.5;
    /// The same for facts alone, where distances are added up instead, and all of it becomes slower.
    const FOR_FACTS: f64 = 0.07e-9;
    const ADDED_UP: f64 = 0.55e-9;
    const SHARED_READS: f64 = 0.2;
    /// So many rows of ancestors are in a fast cache.
    const FEW_ANCESTORS: f64 = 700.0;
    if work.searches < 2 {
        return shortcuts * ALONE / (work.threads.clamp(1, THREADS_ALONE) as f64).powf(SPEEDUP_ALONE);
    }
    let threads = work.threads.min(work.searches.div_ceil(SHARED)).max(1) as f64;
    let one = match facts {
        true => {
            let looking = shortcuts * FOR_FACTS * (height / FEW_ANCESTORS).max(1.0);
            (looking + columns * ADDED_UP) * threads.powf(SHARED_READS)
        }
        false => shortcuts * TOGETHER + columns * WRITTEN * threads.powf(SHARED_WRITES),
    };
    // Lanes without a source cost as much as those with one.
    work.searches.next_multiple_of(SHARED) as f64 * one / threads
}

fn seconds(work: &Workload<'_>) -> f64 {
    /// As on roads.
    const HEIGHT: f64 = 500.0;
    seconds_of_sweeps(work.usual_shortcuts(), HEIGHT, work.vertices(), false, work)
}

/// The distances in the type of this semiring. Once a distance does not fit 32 bits, a hierarchy answers in 64: those that
/// do not fit count as overflowed here, as in a search.
pub(crate) fn in_type_of<L: MinPlus>(found: Distances) -> Result<Vec<L::Distance>> {
    let found = match found {
        Distances::U64(wide) if size_of::<L::Distance>() < size_of::<u64>() => {
            Distances::U32(wide.into_iter().map(|distance| u32::try_from(distance).unwrap_or(u32::MAX)).collect())
        }
        found => found,
    };
    L::Distance::into_vec(found).ok_or_else(|| Error::invalid("the hierarchy has weights of another type"))
}

pub(super) fn solve<L: MinPlus>(task: &SsspTask<'_, L>, distances: &mut [L::Distance]) -> Result<Statistics> {
    let metric = task.metric.ok_or_else(|| Error::invalid("a search over a hierarchy needs one"))?;
    task.control.check()?;
    let found = task.team.install(|| metric.distances_from_nearest_on(task.team.threads(), task.sources))?;
    distances.copy_from_slice(&in_type_of::<L>(found)?);
    Ok(vec![("shortcuts", metric.hierarchy().shortcuts())])
}
