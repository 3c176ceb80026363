//! The arrays of sweeps over a hierarchy on a device.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;

use super::arguments::{
    CLIMBING_TOGETHER, COUNTED, COUNTERS_A_SOURCE, Climb, FOUR, Facts, Front, Load, Meeting, Node, Part, Position,
    ROUND_WORDS, Rows, Sums, Sweep, Tile, Visit,
};
use super::sizes::Sizes;
use crate::cuda::device::Device;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::host_part::HostPart;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::hierarchy::Pieces;
use crate::plan::Plan;
use crate::{Result, parallel};

/// The arrays. Those of distances are of words.
#[derive(Debug)]
pub(super) struct Arrays {
    pub(super) nodes: DeviceSlice<Node>,
    pub(super) positions: DeviceSlice<Position>,
    pub(super) up_arcs: DeviceSlice<u32>,
    pub(super) fronts: DeviceSlice<Front>,
    pub(super) depths: DeviceSlice<u32>,
    pub(super) up_lengths: DeviceSlice<u32>,
    pub(super) parts: DeviceSlice<Part>,
    pub(super) boundaries: DeviceSlice<u32>,
    pub(super) down_lengths: DeviceSlice<u32>,
    pub(super) tiles: DeviceSlice<Tile>,
    pub(super) loads: DeviceSlice<Load>,
    pub(super) arcs: DeviceSlice<u32>,
    pub(super) ranks: DeviceSlice<u32>,
    pub(super) column_offsets: DeviceSlice<u32>,
    pub(super) columns_of: DeviceSlice<u32>,
    pub(super) label_of: DeviceSlice<u32>,
    labels: DeviceSlice<u32>,
    pub(super) greatest: DeviceSlice<u64>,
    pub(super) visits: DeviceSlice<Visit>,
    pub(super) rounds: DeviceSlice<u32>,
    pub(super) lists: DeviceSlice<[u32; 4]>,
    pub(super) sources: DeviceSlice<u32>,
    pub(super) row_of: DeviceSlice<u32>,
    pub(super) meetings: DeviceSlice<Meeting>,
    pub(super) is_doubtful: DeviceSlice<u32>,
    pub(super) above: DeviceSlice<u32>,
    by_place: DeviceSlice<u32>,
    pub(super) rows: DeviceSlice<u32>,
    pub(super) counters: DeviceSlice<u64>,
    pub(super) facts: DeviceSlice<Facts>,
    pub(super) spans: DeviceSlice<u32>,
    pub(super) short_arcs: DeviceSlice<u32>,
    left: DeviceSlice<Visit>,
    pub(super) left_count: DeviceSlice<u32>,
    pub(super) down: DeviceSlice<u32>,
    pub(super) down_rows: DeviceSlice<u32>,
    /// The memory of the arrays that the host keeps.
    host: Vec<HostPart>,
}

/// Takes words of the device, or leaves them to the host.
fn take_words(arena: &mut Arena<'_>, on_host: bool, what: &str, length: u64) -> DeviceSlice<u32> {
    if on_host { DeviceSlice::new(0, length) } else { arena.take(what, length) }
}

pub(super) fn layout(arena: &mut Arena<'_>, sizes: &Sizes) -> Arrays {
    let Sizes { words, vertices, tiles_on_host, fronts_on_host, .. } = *sizes;
    let if_offsets = |length: u64| if sizes.offsets { length } else { 0 };
    let if_rows = |length: u64| if sizes.facts { 0 } else { length };
    let product = |factors: &[u64]| factors.iter().fold(words, |product, &factor| product.saturating_mul(factor));
    Arrays {
        nodes: arena.take("the elimination tree", vertices + 1),
        positions: arena.take("the subtree of each vertex", vertices),
        up_arcs: take_words(arena, tiles_on_host, "shortcuts upwards", product(&[2, sizes.shortcuts])),
        fronts: arena.take("fronts", sizes.fronts),
        depths: arena.take("the depths of boundaries", sizes.targets),
        up_lengths: take_words(arena, fronts_on_host, "the lengths of fronts upwards", product(&[sizes.up_lengths])),
        parts: arena.take("parts of fronts", sizes.parts),
        boundaries: arena.take("the boundaries of fronts", sizes.boundaries),
        down_lengths: take_words(
            arena,
            fronts_on_host,
            "the lengths of fronts downwards",
            product(&[sizes.down_lengths]),
        ),
        tiles: arena.take("tiles", sizes.tiles),
        loads: arena.take("the boundaries of tiles", sizes.loads),
        arcs: take_words(arena, tiles_on_host, "the shortcuts of tiles", product(&[2, sizes.steps])),
        ranks: arena.take("the ranks of tiles", vertices),
        column_offsets: arena.take("where the columns of vertices begin", if_rows(vertices + 1)),
        columns_of: arena.take("the columns of vertices", sizes.columns_of_tiles),
        label_of: arena.take("where the label of each column begins", sizes.columns),
        labels: take_words(arena, tiles_on_host, "labels", product(&[FOUR.into(), sizes.fours])),
        greatest: arena.take("the greatest length of a label", if_rows(1)),
        visits: arena.take("the tiles of sources", if_rows(sizes.stride())),
        rounds: arena.take("rounds of columns", sizes.rounds.saturating_mul(ROUND_WORDS.into())),
        lists: arena.take("lists of rounds", sizes.parts_of_lists),
        sources: arena.take("sources", sizes.stride()),
        row_of: arena.take("the row of each source", sizes.stride()),
        meetings: arena.take("where climbs meet", sizes.stride().div_ceil(CLIMBING_TOGETHER.into())),
        is_doubtful: arena.take("which rows may lack distances", sizes.stride()),
        above: arena.take("distances of ancestors", product(&[sizes.height, sizes.stride()])),
        by_place: arena.take(
            format!("distances of {} sources, by place", sizes.stride()),
            product(&[sizes.front_vertices, sizes.stride()]),
        ),
        rows: arena.take(format!("distances of {} searches", sizes.rows), product(&[sizes.row_stride, sizes.rows])),
        counters: {
            let each = if sizes.facts { u64::from(COUNTERS_A_SOURCE * COUNTED) } else { 0 };
            arena.take("counters of sources", each * sizes.stride())
        },
        facts: arena.take("facts about rows", if sizes.facts { sizes.rows } else { 0 }),
        spans: arena.take("the spans of tiles", if_offsets(sizes.tiles)),
        short_arcs: take_words(arena, tiles_on_host, "the shortcuts of tiles in 16 bits", if_offsets(sizes.steps)),
        left: arena.take("tiles that do not fit 16 bits", sizes.most_left()),
        left_count: arena.take("how many they are", if_offsets(1)),
        down: take_words(
            arena,
            fronts_on_host,
            "shortcuts downwards",
            if sizes.directed { product(&[sizes.shortcuts]) } else { 0 },
        ),
        down_rows: arena.take("where the lengths of fronts downwards begin", sizes.fronts),
        host: Vec::new(),
    }
}

/// What the arrays take, on the device and in pinned memory of the host.
pub(super) fn plan(sizes: &Sizes) -> Plan {
    let mut plan = Plan::new();
    let mut arrays = layout(&mut Arena::counting(&mut plan), sizes);
    let words = arrays.on_host(sizes).into_iter().fold(0_u64, |sum, array| sum.saturating_add(array.length()));
    if words > 0 {
        plan.memory("shortcuts in pinned memory", words.saturating_mul(4));
    }
    plan
}

impl Arrays {
    /// The arrays that the host keeps.
    fn on_host(&mut self, sizes: &Sizes) -> Vec<&mut DeviceSlice<u32>> {
        let Arrays { up_arcs, arcs, labels, short_arcs, up_lengths, down_lengths, down, .. } = self;
        let mut arrays = Vec::new();
        if sizes.tiles_on_host {
            arrays.extend([up_arcs, arcs, labels, short_arcs]);
        }
        if sizes.fronts_on_host {
            arrays.extend([up_lengths, down_lengths, down]);
        }
        arrays.retain(|array| array.length() > 0);
        arrays
    }

    /// Takes memory of the host for the arrays that it keeps.
    pub(super) fn take_host_memory(&mut self, device: &Arc<dyn Device>, sizes: &Sizes) -> Result<()> {
        let mut host = Vec::new();
        for array in self.on_host(sizes) {
            let part = HostPart::new(device, "shortcuts in pinned memory", 4 * array.length(), |words| {
                // The system hands out pages as they are written, to all threads at once.
                parallel::for_each_chunk(words, 1 << 16, |_, words| words.fill(0));
                Ok(())
            })?;
            *array = DeviceSlice::new(part.address(), array.length());
            host.push(part);
        }
        self.host = host;
        Ok(())
    }

    /// Fills the first `count` values of an array, wherever it is, with what `write` puts into slices for every range of indices, in stream order. Several
    /// threads may ask it at once, in any order.
    pub(super) fn fill_with<T: Pod + Send>(
        &mut self,
        pool: &Pool,
        array: DeviceSlice<T>,
        count: usize,
        write: impl Fn(Range<usize>, &mut [T]) + Sync,
    ) -> Result<()> {
        /// Values that a thread writes at least.
        const MIN: usize = 1 << 14;
        match self.host.iter_mut().find(|part| part.address() == array.address()) {
            // An empty array is nowhere.
            _ if count == 0 => Ok(()),
            Some(part) => {
                pool.device().synchronize()?;
                parallel::for_each_chunk(&mut part.cells_mut::<T>()[..count], MIN, |chunk, to| {
                    write(chunk * MIN..chunk * MIN + to.len(), to);
                });
                Ok(())
            }
            None => pool.upload_with(array, count, write),
        }
    }

    /// The arguments of the kernels, for no source.
    pub(super) fn arguments(&self, sizes: &Sizes, pieces: &Pieces) -> (Climb, Sweep, Rows, Sums) {
        let (stride, sources) = (sizes.stride(), self.sources.as_ptr());
        let climb = Climb {
            nodes: self.nodes.as_ptr(),
            arcs: self.up_arcs.as_ptr().cast(),
            positions: self.positions.as_ptr(),
            sources,
            meetings: self.meetings.as_ptr(),
            fronts: self.fronts.as_ptr(),
            depths: self.depths.as_ptr(),
            lengths: self.up_lengths.as_ptr().cast(),
            above: self.above.as_mut_ptr().cast(),
            stride,
            count: 0,
            in_shared: 0,
        };
        let sweep = Sweep {
            positions: self.positions.as_ptr(),
            sources,
            above: self.above.as_ptr().cast(),
            by_place: self.by_place.as_mut_ptr().cast(),
            parts: self.parts.as_ptr(),
            boundaries: self.boundaries.as_ptr(),
            lengths: self.down_lengths.as_ptr().cast(),
            tiles: self.tiles.as_ptr(),
            loads: self.loads.as_ptr(),
            arcs: self.arcs.as_ptr().cast(),
            ranks: self.ranks.as_ptr(),
            is_doubtful: self.is_doubtful.as_mut_ptr(),
            counters: self.counters.as_mut_ptr(),
            spans: self.spans.as_ptr(),
            short_arcs: self.short_arcs.as_ptr(),
            left: self.left.as_mut_ptr(),
            left_count: self.left_count.as_mut_ptr(),
            column_offsets: self.column_offsets.as_ptr(),
            columns_of: self.columns_of.as_ptr(),
            label_of: self.label_of.as_ptr(),
            labels: self.labels.as_mut_ptr().cast(),
            greatest: self.greatest.as_mut_ptr(),
            visits: self.visits.as_ptr(),
            row_of: self.row_of.as_ptr(),
            rows: self.rows.as_mut_ptr().cast(),
            row_stride: sizes.row_stride,
            stride,
            doubtful: 0,
            groups: 0,
            level: 0,
            tile_count: pieces.tiles.tiles.len() as u32,
            most_slots: pieces.tiles.slots as u32,
            most_arcs: pieces.tiles.most_steps as u32,
            most_left: sizes.most_left() as u32,
            tiles_a_block: 1,
            unused: 0,
        };
        let rows = Rows {
            by_place: self.by_place.as_ptr().cast(),
            rounds: self.rounds.as_ptr(),
            lists: self.lists.as_ptr(),
            labels: self.labels.as_ptr().cast(),
            row_of: self.row_of.as_ptr(),
            rows: self.rows.as_mut_ptr().cast(),
            stride,
            row_stride: sizes.row_stride,
            columns: sizes.columns as u32,
            blocks: sizes.blocks as u32,
            count: 0,
            groups: 0,
        };
        let sums = Sums {
            counters: self.counters.as_ptr(),
            row_of: self.row_of.as_ptr(),
            facts: self.facts.as_mut_ptr(),
            stride,
            count: 0,
            unused: 0,
        };
        (climb, sweep, rows, sums)
    }
}
