//! The short rows of a graph on a device, for a search whose arcs stay in the host's memory.
//!
//! The bus brings 128 bytes for a row of two arcs as for one of sixteen, so it is short rows that the device's memory is best spent on:
//! all rows of up to so many arcs, one after another.

use rayon::prelude::*;

use super::pairs::Pairs;
use crate::algorithms::{Parameter, Parameters, Unset, Values};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::Pool;
use crate::cuda::graph::{Offsets, has_wide_offsets};
use crate::cuda::kernel_header::{DevicePtr, cpp};
use crate::cuda::zero_copy::PIECE;
use crate::graph::Graph;
use crate::{Result, memory};

/// Which rows the device has.
pub(in crate::cuda) const SHORT_ROWS: Parameter = Parameter {
    name: "short-rows",
    summary: "the device keeps rows of up to so many arcs, and of 256 at most",
    values: Values::Or(
        &Values::AtLeast(0.0),
        Unset::InWords(|| "none, but as long ones as there is room for if no algorithm is asked for".into()),
    ),
};

/// Rows of at most so many arcs; none if that is 0. Longer ones than these are cut into pieces, which are no rows.
fn most_arcs(parameters: &Parameters) -> u32 {
    (parameters.get(SHORT_ROWS.name).unwrap_or(0.0) as u32).min(PIECE)
}

/// Where short rows are.
#[derive(Debug, Clone, Copy)]
pub(super) struct ShortRows {
    /// The most arcs of a short row.
    pub(super) most_arcs: u32,
    /// For each vertex, where its row begins if it is short.
    begins: Offsets,
    arcs: Pairs,
}

impl ShortRows {
    /// Takes room for those that `parameters` ask for, if there are any. O(V) work.
    pub(super) fn layout(arena: &mut Arena<'_>, graph: &Graph, parameters: &Parameters) -> Option<Self> {
        let most_arcs = most_arcs(parameters);
        let kept = |row: &[u64]| short(row[1] - row[0], most_arcs);
        let arcs = match most_arcs {
            0 => 0,
            _ => graph.csr().offsets().par_windows(2).with_min_len(1 << 16).map(kept).sum(),
        };
        (arcs > 0).then(|| ShortRows {
            most_arcs,
            begins: Offsets::layout(arena, "begins of short rows", graph.vertices() as u64, has_wide_offsets(graph)),
            arcs: Pairs::layout_some(arena, "heads and weights of short rows", graph, arcs),
        })
    }

    /// Copies them there, in stream order. O(V + arcs of short rows) work.
    pub(super) fn upload(&self, pool: &Pool, graph: &Graph) -> Result<()> {
        let mut begins = memory::with_capacity("begins of short rows", graph.vertices())?;
        let mut all = 0;
        for arcs in rows(graph) {
            begins.push(all);
            all += short(arcs, self.most_arcs);
        }
        self.begins.upload_values(pool, &begins)?;
        let offsets = graph.csr().offsets();
        self.arcs.upload_from(pool, graph.csr(), all as usize, &|places, copy| {
            // The last row that begins there or before is not empty.
            let mut vertex = begins.partition_point(|&begin| begin <= places.start as u64) - 1;
            let mut at = places.start;
            while at < places.end {
                let skipped = at - begins[vertex] as usize;
                let [begin, end] = [offsets[vertex], offsets[vertex + 1]];
                let length = (short(end - begin, self.most_arcs) as usize - skipped).min(places.end - at);
                let first = begin as usize + skipped;
                copy(first..first + length);
                at += length;
                vertex += 1;
            }
        })
    }

    /// Where they begin, for a kernel.
    pub(super) fn begins(&self) -> DevicePtr<cpp::Offset> {
        self.begins.as_ptr()
    }

    /// Their arcs, for a kernel.
    pub(super) fn arcs(&self) -> DevicePtr<cpp::Arc> {
        self.arcs.as_ptr()
    }
}

/// The numbers of arcs of all rows.
fn rows(graph: &Graph) -> impl Iterator<Item = u64> {
    graph.csr().offsets().windows(2).map(|row| row[1] - row[0])
}

/// What the device keeps of a row of so many arcs.
fn short(arcs: u64, most: u32) -> u64 {
    if arcs <= u64::from(most) { arcs } else { 0 }
}
