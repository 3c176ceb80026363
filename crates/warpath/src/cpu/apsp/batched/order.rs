//! Rows in the order of their sources' numbers, into a matrix or block by block.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::cpu::apsp::{ApspOutput, ApspTask, MinPlusOnCpu};
use crate::{Control, Result, memory};

/// Calls `fill` on rows in the order of their sources' numbers, in a matrix or block by block; blocks are whole batches
/// for every thread where memory allows.
pub(super) fn fill_in_order<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    number: &[u32],
    batch: usize,
    output: ApspOutput<'_, L::Distance>,
    fill: impl Fn(&[usize], Vec<&mut [L::Distance]>, &RowProgress<'_>) -> Result<()>,
) -> Result<()> {
    let mut order = memory::listed("the order of rows", 0..task.sources.len())?;
    // Sorting in place: rows of one source come in the order in which they were asked for.
    order.sort_unstable_by_key(|&row| (number[task.sources[row] as usize], row));
    let columns = task.columns();
    let progress = RowProgress::new(task.control, order.len());
    match output {
        ApspOutput::Matrix(_) if columns == 0 => Ok(()),
        ApspOutput::Matrix(matrix) => {
            let mut rows = memory::listed("the list of rows", matrix.chunks_exact_mut(columns).map(Some))?;
            let mut in_order = memory::with_capacity("the list of rows", rows.len())?;
            in_order.extend(order.iter().filter_map(|&row| rows[row].take()));
            fill(&order, in_order, &progress)
        }
        ApspOutput::Blocks(consumer) => {
            let have = consumer.start(&order)?.min(order.len());
            progress.add(have)?;
            task.hand_out(&order[have..], batch * task.team.threads(), consumer, |rows, values| {
                let slices = match columns {
                    0 => memory::listed("the list of rows", rows.iter().map(|_| Default::default()))?,
                    width => memory::listed("the list of rows", values.chunks_exact_mut(width))?,
                };
                fill(rows, slices, &progress)
            })
        }
    }
}

/// Counts finished rows and tells the watcher.
pub(super) struct RowProgress<'c> {
    control: &'c Control,
    done: AtomicU64,
    total: u64,
}

impl<'c> RowProgress<'c> {
    fn new(control: &'c Control, total: usize) -> Self {
        RowProgress { control, done: AtomicU64::new(0), total: total as u64 }
    }

    pub(super) fn add(&self, rows: usize) -> Result<()> {
        let done = self.done.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        self.control.progress("solve", done, self.total)
    }
}
