//! Rows over a hierarchy: sixteen sources share a sweep over the shortcuts, from the roots down; sixty-four where only facts about
//! rows are wanted, which are added up on the way.
//!
//! The hierarchy and its lengths are there before ([`crate::hierarchy`] has the method). Work O(shortcuts) a source, whatever
//! the weights, below 0 too; with targets O(shortcuts of the targets' ancestors). Memory: for each thread rows of 16 distances for
//! a part of the vertices that fits the cache, and 16 arrays of distances if some may be beyond 32 bits, or for facts about rows to
//! targets. Some hundred rows of integers come from labels ([`Metric::distances_from_each`]).
//! Floats of 0 or more come out within a tolerance, since shortcuts add them in another order than walks; where distances are so
//! great that some may be out of range, all count as out of range, since there is no wider type to try.
//! [the search](crate::cpu::sssp::hierarchy) from one source takes integers alone.
//!
//! Source: Delling, Goldberg, Nowatzyk, Werneck, "PHAST", 2013; Dibbelt, Strasser, Wagner, "Customizable contraction
//! hierarchies", 2016.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cpu::sssp::hierarchy as search;
use crate::graph::{Distance, DistanceValue, Distances, MinPlus, VertexId};
use crate::hierarchy::{Metric, bytes_of_sweep};
use crate::problems::{Problem, RowFacts};
use crate::{Error, Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: search::ALGORITHM.info.name,
        summary: "sweeps over shortcuts that are made once, 16 sources each; on graphs with small separators; floats within a tolerance",
        source: search::ALGORITHM.info.source,
        parameters: &[],
        negative_weights: true,
        seconds: search::ALGORITHM.info.seconds,
    },
    needs_matrix: false,
    ends_at_targets: false,
    seconds_before: |_| 0.0,
    rows_together: search::SHARED,
    workspace_bytes: |vertices, _, threads, distance_bytes| {
        threads.saturating_mul(search::SHARED as u64).saturating_mul(bytes_of_sweep(vertices, distance_bytes))
    },
    function: Function::Hierarchy,
};

pub(super) fn solve<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
) -> Result<Statistics> {
    task.check(&output)?;
    let metric = task.metric.ok_or_else(|| Error::invalid("rows over a hierarchy need one"))?;
    let order = memory::listed("the order of rows", 0..task.sources.len())?;
    let rows = Rows { task, metric, done: AtomicU64::new(0) };
    let share = search::SHARED * task.team.threads();
    match output {
        ApspOutput::Matrix(matrix) => rows.fill(&order, matrix)?,
        ApspOutput::Blocks(consumer) => {
            let have = consumer.start(&order)?.min(order.len());
            rows.done.store(have as u64, Ordering::Relaxed);
            if consumer.wants_facts_alone() {
                let shares = (FEW_VERTICES / task.graph.vertices().max(1)).clamp(1, MOST_SHARES);
                for some in order[have..].chunks(share.saturating_mul(shares)) {
                    consumer.facts(some, &rows.facts(some)?)?;
                }
            } else {
                task.hand_out(&order[have..], share, consumer, |block, values| rows.fill(block, values))?;
            }
        }
    }
    Ok(vec![("shortcuts", metric.hierarchy().shortcuts())])
}

/// So many sweeps of each thread may follow each other before anybody asks whether the work is cancelled, so that threads seldom
/// wait for each other; fewer on graphs with more vertices than an eighth of these.
const MOST_SHARES: usize = 8;
const FEW_VERTICES: usize = 1 << 24;

/// The rows of a table.
struct Rows<'a, L: MinPlus> {
    task: &'a ApspTask<'a, L>,
    metric: &'a Metric,
    /// How many there are so far.
    done: AtomicU64,
}

impl<L: MinPlus> Rows<'_, L> {
    /// Fills rows, whose cells lie one row after another.
    fn fill(&self, rows: &[usize], cells: &mut [L::Distance]) -> Result<()> {
        let sources = self.sources(rows)?;
        let fill = || self.metric.fill::<L>(&sources, self.task.targets, cells, |_| self.count());
        let left = self.task.team.install(fill)?;
        if left.is_empty() {
            return Ok(());
        }
        let cells = memory::listed("the rows of a block", cells.chunks_exact_mut(self.task.columns()).map(Mutex::new))?;
        let again = memory::listed("rows that are left", left.iter().map(|&place| rows[place]))?;
        self.each(&again, |index, found| {
            let mut row = cells[left[index]].lock().unwrap_or_else(PoisonError::into_inner);
            match L::Distance::of(found) {
                Some(found) => row.copy_from_slice(found),
                None => row.copy_from_slice(&search::in_type_of::<L>(found.clone())?),
            }
            Ok(())
        })
    }

    /// The facts about rows.
    fn facts(&self, rows: &[usize]) -> Result<Vec<RowFacts>> {
        let facts = memory::listed("facts about rows", rows.iter().map(|_| Mutex::new(None)))?;
        let keep = |place: usize, found: RowFacts| {
            *facts[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
            Ok(())
        };
        if self.task.targets.is_some() {
            self.each(rows, |place, found| keep(place, RowFacts::of(found)))?;
        } else {
            let sources = self.sources(rows)?;
            let failed = Failed::default();
            let visit = |place: usize, found: &RowFacts| {
                failed.note(Self::check_greatest(found).and_then(|()| keep(place, *found)).and_then(|()| self.count()));
            };
            self.task.team.install(|| self.metric.facts_of_each(&sources, visit))?;
            failed.result()?;
        }
        let facts = facts.into_iter().map(|facts| facts.into_inner().unwrap_or_else(PoisonError::into_inner));
        facts.map(|facts| facts.ok_or_else(|| Error::invalid("a sweep left out a source"))).collect()
    }

    /// An error if the greatest distance has left the range of the semiring.
    fn check_greatest(found: &RowFacts) -> Result<()> {
        let is_narrow = size_of::<L::Distance>() < size_of::<u64>();
        match found.greatest {
            Some(Distance::Unsigned(greatest)) if is_narrow && greatest >= u32::MAX.into() => {
                Err(Error::DistanceOverflow { semiring: L::NAME })
            }
            _ => Ok(()),
        }
    }

    fn sources(&self, rows: &[usize]) -> Result<Vec<VertexId>> {
        memory::listed("the sources of a block", rows.iter().map(|&row| self.task.sources[row]))
    }

    /// Counts one more row.
    fn count(&self) -> Result<()> {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.task.control.progress("solve", done, self.task.sources.len() as u64)
    }

    /// Calls `take` with the place of each of these rows in the list, and its distances, which are in the range of the semiring.
    fn each(&self, rows: &[usize], take: impl Fn(usize, &Distances) -> Result<()> + Sync) -> Result<()> {
        let sources = self.sources(rows)?;
        let failed = Failed::default();
        let visit = |place: usize, found: &Distances| {
            failed
                .note(self.check(sources[place], found).and_then(|()| take(place, found)).and_then(|()| self.count()));
        };
        self.task.team.install(|| match self.task.targets {
            None => self.metric.distances_from_each(&sources, visit),
            Some(targets) => self.metric.distances_between(&sources, targets, visit),
        })?;
        failed.result()
    }

    /// An error if a distance from this source has left the range of the semiring. Once one does not fit 32 bits, a hierarchy
    /// answers in 64. If all targets have a distance in range, those to other vertices do not matter; otherwise they do.
    fn check(&self, source: VertexId, found: &Distances) -> Result<()> {
        if L::Distance::of(found).is_some() {
            return Ok(());
        }
        let in_range = |found: &Distances| -> Result<Vec<L::Distance>> {
            let narrow = search::in_type_of::<L>(found.clone())?;
            let is_lost = |(place, &distance): (usize, &L::Distance)| {
                distance == L::Distance::UNREACHABLE && found.get(place).is_some()
            };
            match narrow.iter().enumerate().any(is_lost) {
                true => Err(Error::DistanceOverflow { semiring: L::NAME }),
                false => Ok(narrow),
            }
        };
        if in_range(found)?.contains(&L::Distance::UNREACHABLE) && self.task.targets.is_some() {
            in_range(&self.metric.distances_from(source)?)?;
        }
        Ok(())
    }
}

/// What went wrong while rows were visited, on whatever thread.
#[derive(Default)]
struct Failed(Mutex<Option<Error>>);

impl Failed {
    fn note(&self, result: Result<()>) {
        if let Err(error) = result {
            *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    }

    fn result(self) -> Result<()> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}
