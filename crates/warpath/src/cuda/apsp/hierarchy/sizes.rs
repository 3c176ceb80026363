//! How large the arrays of sweeps over a hierarchy are: exactly, or as is usual on roads where there is no hierarchy yet.

use super::super::searches::SearchesTask;
use super::arguments::{BATCH, COLUMNS, COLUMNS_A_BLOCK, GATHERED, NARROW_COLUMNS, OFFSET_SOURCES, SOURCES, parts_of};
use crate::algorithms::{Parameter, Unset, Values};
use crate::cuda::sssp::many_sources;
use crate::hierarchy::{Hierarchy, Pieces, Rounds, rounds};
use crate::{Error, Result};

/// Where shortcuts are.
pub(crate) const SHORTCUTS: Parameter = Parameter {
    name: "shortcuts",
    summary: "where shortcuts are: on the device; those of fronts there, and the others in the host's memory; or all there",
    values: Values::Or(
        &Values::OneOf(&["device", FRONTS, HOST]),
        Unset::InWords(|| "as far as there is room on the device".into()),
    ),
};
/// Those of fronts on the device.
pub(crate) const FRONTS: &str = "fronts";
/// All in the host's memory.
pub(crate) const HOST: &str = "host";

/// Distances from row to row of so many columns: whole cache lines.
fn stride_of(columns: usize) -> u64 {
    const LINE: u64 = 32;
    (columns as u64).max(1).next_multiple_of(LINE)
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    pub(super) vertices: u64,
    pub(super) shortcuts: u64,
    pub(super) height: u64,
    pub(super) fronts: u64,
    pub(super) front_vertices: u64,
    /// The sum of the boundaries of all fronts, and that with their columns.
    pub(super) boundaries: u64,
    pub(super) targets: u64,
    pub(super) parts: u64,
    /// Lengths upwards and downwards.
    pub(super) up_lengths: u64,
    pub(super) down_lengths: u64,
    pub(super) tiles: u64,
    pub(super) columns: u64,
    /// The columns in rounds: of vertices of tiles, blocks, rounds, parts of lists, and fours of labels.
    pub(super) columns_of_tiles: u64,
    pub(super) blocks: u64,
    pub(super) rounds: u64,
    pub(super) parts_of_lists: u64,
    pub(super) fours: u64,
    pub(super) loads: u64,
    pub(super) steps: u64,
    /// Words of a distance.
    pub(super) words: u64,
    pub(super) rows: u64,
    pub(super) row_stride: u64,
    /// Whether facts about rows are wanted, and no rows.
    pub(super) facts: bool,
    /// Whether distances of tiles may have 16 bits.
    pub(super) offsets: bool,
    /// Whether lengths upwards and downwards may differ.
    pub(super) directed: bool,
    /// Whether the host keeps the shortcuts of tiles, and those of fronts.
    pub(super) tiles_on_host: bool,
    pub(super) fronts_on_host: bool,
}

impl Sizes {
    /// Of this hierarchy; what is usual on roads if there is none yet.
    pub(super) fn of(task: &SearchesTask<'_>, pieces: Option<(&Hierarchy, &Pieces, Option<&Rounds>)>) -> Self {
        /// Shortcuts of an arc, and ancestors, as many as there are on roads.
        const OF_AN_ARC: u64 = 4;
        const HEIGHT: u64 = 512;
        let vertices = task.graph.vertices() as u64;
        let shortcuts = OF_AN_ARC.saturating_mul(task.graph.arcs() as u64);
        let columns = if task.facts { 0 } else { task.targets.map_or(vertices, |targets| targets.len() as u64) };
        let usual = Sizes {
            vertices,
            shortcuts,
            height: HEIGHT.min(vertices),
            fronts: vertices / 64,
            front_vertices: vertices / 8,
            boundaries: vertices / 8,
            targets: vertices / 4,
            parts: vertices / 32,
            up_lengths: shortcuts,
            down_lengths: shortcuts,
            tiles: vertices / 32,
            columns,
            columns_of_tiles: columns,
            blocks: columns.div_ceil(COLUMNS_A_BLOCK.into()),
            rounds: columns / 64,
            parts_of_lists: columns,
            fours: 2 * columns,
            loads: vertices / 2,
            steps: shortcuts.saturating_add(vertices),
            words: task.semiring.words(),
            rows: task.rows,
            row_stride: task
                .targets
                .map_or_else(|| many_sources::stride(task.graph), |targets| stride_of(targets.len())),
            facts: task.facts,
            offsets: task.facts && task.rows > SOURCES.into(),
            directed: task.graph.is_directed(),
            tiles_on_host: matches!(task.parameters.word(SHORTCUTS.name), Some(FRONTS | HOST)),
            fronts_on_host: task.parameters.word(SHORTCUTS.name) == Some(HOST),
        };
        let usual = if task.facts { Sizes { row_stride: 0, ..usual } } else { usual };
        let Some((hierarchy, pieces, rounds)) = pieces else { return usual };
        let mut sizes = Sizes {
            shortcuts: hierarchy.shortcuts(),
            height: hierarchy.height() as u64,
            fronts: pieces.fronts.len() as u64,
            front_vertices: pieces.places.last().copied().unwrap_or(0).into(),
            boundaries: 0,
            targets: 0,
            parts: 0,
            up_lengths: 0,
            down_lengths: 0,
            tiles: pieces.tiles.tiles.len() as u64,
            loads: pieces.tiles.loads.len() as u64,
            steps: pieces.tiles.steps.len() as u64,
            ..usual
        };
        if let Some(rounds) = rounds {
            sizes.columns_of_tiles = rounds.columns.len() as u64;
            sizes.blocks = rounds.blocks as u64;
            sizes.rounds = (rounds.rounds.len() / rounds::ROUND) as u64;
            sizes.parts_of_lists = rounds.lists.len() as u64;
            sizes.fours = rounds.fours as u64;
        }
        for front in &pieces.fronts {
            let boundary = hierarchy.elimination().row(front.top()).len() as u64;
            let (columns, targets) = (u64::from(front.count), boundary + u64::from(front.count));
            sizes.boundaries += boundary;
            sizes.targets += targets;
            sizes.up_lengths += targets.next_multiple_of(COLUMNS.into()) * columns;
            for (_, width) in parts_of(front.count) {
                sizes.parts += 1;
                sizes.down_lengths += targets * u64::from(width);
            }
        }
        sizes
    }

    /// The height of the tree.
    pub(super) fn height(&self) -> u64 {
        self.height
    }

    /// An error if a place in some array does not fit 32 bits.
    pub(super) fn check(&self) -> Result<()> {
        let rows = self.down_lengths / u64::from(NARROW_COLUMNS) + self.up_lengths / u64::from(COLUMNS);
        // Kernels look for shortcuts a little beyond the end of a row.
        let shortcuts = self.shortcuts.saturating_add(self.height + 2 * u64::from(GATHERED));
        let greatest = rows.max(self.targets).max(self.steps / u64::from(BATCH)).max(shortcuts);
        if greatest < u32::MAX.into() { Ok(()) } else { Err(Error::invalid("the hierarchy is too large for a device")) }
    }

    /// Distances from row to row.
    pub(super) fn row_stride(&self) -> u64 {
        self.row_stride
    }

    /// Distances of a vertex of a front: whole warps.
    pub(super) fn stride(&self) -> u64 {
        self.rows.next_multiple_of(if self.offsets { OFFSET_SOURCES } else { SOURCES }.into())
    }

    /// Whether distances of tiles may have 16 bits: only facts about rows are wanted, there are enough sources, and tiles can be
    /// counted in 32 bits.
    pub(super) fn has_offsets(&self) -> bool {
        self.offsets && self.all_tiles() < u32::MAX.into()
    }

    /// All tiles, once for each warp of sources.
    fn all_tiles(&self) -> u64 {
        self.tiles.saturating_mul(self.stride() / u64::from(OFFSET_SOURCES))
    }

    /// How many of them may not fit 16 bits: more than those that never do.
    pub(super) fn most_left(&self) -> u64 {
        if self.has_offsets() { self.all_tiles() / 2 + 1 } else { 0 }
    }
}
