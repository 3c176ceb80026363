//! Rows over a hierarchy: sixteen sources share a sweep over the shortcuts, from the roots down.
//!
//! The hierarchy and its lengths are there before ([`crate::hierarchy`] has the method). Work O(shortcuts) a source, whatever
//! the weights, below 0 too; with targets O(shortcuts of the targets' ancestors). Memory: for each thread 16 arrays of distances,
//! and rows of 16 distances for a part of the vertices that fits the cache.
//! Integers only, as [`the search`](crate::cpu::sssp::hierarchy) from one source.
//!
//! Source: Delling, Goldberg, Nowatzyk, Werneck, "PHAST", 2013; Dibbelt, Strasser, Wagner, "Customizable contraction
//! hierarchies", 2016.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cpu::sssp::hierarchy as search;
use crate::graph::{DistanceValue, Distances, MinPlus};
use crate::hierarchy::{Metric, bytes_of_sweep};
use crate::problems::Problem;
use crate::{Error, Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: search::ALGORITHM.info.name,
        summary: "sweeps over shortcuts that are made once, 16 sources each; integers, on graphs with small separators",
        source: search::ALGORITHM.info.source,
        parameters: &[],
        negative_weights: true,
        seconds: search::ALGORITHM.info.seconds,
    },
    needs_matrix: false,
    ends_at_targets: false,
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
    let done = AtomicU64::new(0);
    match output {
        ApspOutput::Matrix(matrix) => fill(task, metric, &order, matrix, &done)?,
        ApspOutput::Blocks(consumer) => {
            let have = consumer.start(&order)?.min(order.len());
            done.store(have as u64, Ordering::Relaxed);
            let share = search::SHARED * task.team.threads();
            task.hand_out(&order[have..], share, consumer, |block, values| fill(task, metric, block, values, &done))?;
        }
    }
    Ok(vec![("shortcuts", metric.hierarchy().shortcuts())])
}

/// Fills rows, whose cells lie one row after another.
fn fill<L: MinPlus>(
    task: &ApspTask<'_, L>,
    metric: &Metric,
    rows: &[usize],
    cells: &mut [L::Distance],
    done: &AtomicU64,
) -> Result<()> {
    if task.columns() == 0 {
        return Ok(());
    }
    let sources = memory::listed("the sources of a block", rows.iter().map(|&row| task.sources[row]))?;
    let cells = cells.chunks_exact_mut(task.columns()).map(Mutex::new);
    let cells = memory::listed("the rows of a block", cells)?;
    let failed = Mutex::new(None);
    let visit = |place: usize, found: &Distances| {
        let mut row = cells[place].lock().unwrap_or_else(PoisonError::into_inner);
        let all = || match task.targets {
            Some(_) => metric.distances_from(sources[place]).map(Some),
            None => Ok(None),
        };
        let written = write_row::<L>(found, &mut row, all).and_then(|()| {
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            task.control.progress("solve", done, task.sources.len() as u64)
        });
        if let Err(error) = written {
            *failed.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
        }
    };
    task.team.install(|| match task.targets {
        None => metric.distances_from_each(&sources, visit),
        Some(targets) => metric.distances_between(&sources, targets, visit),
    })?;
    failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// Writes distances into a row; an error if one has left the range of the semiring. Once a distance does not fit 32 bits, a
/// hierarchy answers in 64. If all targets have a distance in range, those beyond do not matter: otherwise `all` tells, which
/// finds the distances to all vertices if the row does not have them.
fn write_row<L: MinPlus>(
    found: &Distances,
    row: &mut [L::Distance],
    all: impl FnOnce() -> Result<Option<Distances>>,
) -> Result<()> {
    if let Some(found) = L::Distance::of(found) {
        row.copy_from_slice(found);
        return Ok(());
    }
    let in_range = |found: &Distances| -> Result<Option<Vec<L::Distance>>> {
        let narrow = search::in_type_of::<L>(found.clone())?;
        let is_lost = |(place, &distance): (usize, &L::Distance)| {
            distance == L::Distance::UNREACHABLE && found.get(place).is_some()
        };
        Ok((!narrow.iter().enumerate().any(is_lost)).then_some(narrow))
    };
    let overflow = || Error::DistanceOverflow { semiring: L::NAME };
    let narrow = in_range(found)?.ok_or_else(overflow)?;
    if narrow.contains(&L::Distance::UNREACHABLE)
        && let Some(all) = all()?
    {
        in_range(&all)?.ok_or_else(overflow)?;
    }
    row.copy_from_slice(&narrow);
    Ok(())
}
