//! What sweeps over a hierarchy have on a device: its arrays, and the arguments of the kernels.

use super::super::searches::SearchesTask;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::sssp::many_sources;
use crate::hierarchy::{BATCH as STEPS, COLUMNS as FRONT, Hierarchy, Pieces, ROOT, Rounds, rounds};
use crate::{Error, Result};

kernel_header! {
    path: "apsp/hierarchy";
    namespace: apsp_hierarchy;
    constants {
        /// Sources of a warp: two for each thread.
        pub(super) const SOURCES: u32 = 64;
        /// Sources of a warp that takes a tile in 16 bits: four for each thread.
        pub(super) const OFFSET_SOURCES: u32 = 128;
        /// Sources of a block that climbs from where their ways have met.
        pub(super) const CLIMBING_TOGETHER: u32 = 32;
        /// Warps of it.
        pub(super) const CLIMBING_WARPS: u32 = 16;
        /// The most vertices of a front.
        pub(super) const MOST_COLUMNS: u32 = 32;
        /// The most vertices of a part of a front.
        pub(super) const COLUMNS: u32 = 8;
        /// The vertices of a part that is read as one of so many.
        pub(super) const NARROW_COLUMNS: u32 = 4;
        /// Arcs of a tile that are worked on at once.
        pub(super) const BATCH: u32 = 4;
        /// Columns that a block makes of some rows, its warps, and the bytes of its distances from a hub.
        pub(super) const COLUMNS_A_BLOCK: u32 = 128;
        pub(super) const ROW_WARPS: u32 = 8;
        pub(super) const BYTES_A_HUB: u32 = 256;
        /// What a round has at most: hubs, lengths of labels in fours, and lists in parts of 16 bytes.
        pub(super) const MOST_HUBS: u32 = 63;
        pub(super) const MOST_FOURS: u32 = 256;
        pub(super) const MOST_PARTS: u32 = 96;
        /// Numbers of a round, and lengths that are read at once.
        pub(super) const ROUND_WORDS: u32 = 72;
        pub(super) const FOUR: u32 = 4;
        /// Counters of a source, to which blocks add by turns, and how many numbers each of them has.
        pub(super) const COUNTERS_A_SOURCE: u32 = 16;
        pub(super) const COUNTED: u32 = 4;
        /// Warps of a block that gathers lengths, and how many of a column's a warp takes.
        pub(super) const GATHERING_WARPS: u32 = 8;
        pub(super) const GATHERED: u32 = 256;
        /// The parent of a root.
        pub(super) const NO_PARENT: u32 = 4294967295;
    }

    /// A vertex on the way up.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Node {
        /// Where its arcs to later neighbours begin.
        pub(super) arcs: u32,
        pub(super) parent: u32,
    }

    /// The subtree of a rank, which ends with it, and how many ancestors it has.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Position {
        pub(super) first: u32,
        pub(super) depth: u32,
    }

    /// Where the ways up of sources meet: the first front, and the first rank there, that is above all of them.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Meeting {
        pub(super) front: u32,
        pub(super) rank: u32,
    }

    /// Ranks from `first` on, of which each is the parent of the one before, for climbs.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Front {
        pub(super) first: u32,
        pub(super) columns: u32,
        /// Of the first.
        pub(super) depth: u32,
        /// Where the depths of its targets begin: of its boundary and of its columns.
        pub(super) depths: u32,
        pub(super) targets: u32,
        /// Where its lengths begin, in rows of eight.
        pub(super) lengths: u32,
        /// The parent of the topmost column, and its front.
        pub(super) parent: u32,
        pub(super) parent_front: u32,
    }

    /// Up to eight columns of a front, for the sweep down.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Part {
        /// Where the boundary of the front begins among those of all fronts.
        pub(super) boundary: u32,
        pub(super) boundary_count: u32,
        /// Where its lengths begin, in rows of four.
        pub(super) lengths: u32,
        /// The ranks of the front.
        pub(super) first: u32,
        pub(super) columns: u32,
        /// The place of its first column among the vertices of all fronts, and how many it has.
        pub(super) place: u32,
        pub(super) count: u32,
        pub(super) unused: u32,
    }

    /// Subtrees that a warp works on.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Tile {
        /// The ranks are among these.
        pub(super) first: u32,
        pub(super) last: u32,
        pub(super) loads: u32,
        pub(super) load_count: u32,
        pub(super) batches: u32,
        pub(super) batch_count: u32,
        /// Where the ranks of its first slots begin, and how many they are.
        pub(super) ranks: u32,
        pub(super) count: u32,
    }

    /// A slot of a tile, and the place that its distances are read from.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Load {
        pub(super) slot: u32,
        pub(super) place: u32,
    }

    /// A tile and the sources of a warp.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Visit {
        pub(super) tile: u32,
        pub(super) group: u32,
    }

    /// The argument of the kernels that make the lengths of fronts.
    pub(super) struct Closing<Lane> {
        /// As those of [`Climb`].
        pub(super) nodes: DevicePtr<Node>,
        pub(super) arcs: DevicePtr<cpp::Step>,
        pub(super) fronts: DevicePtr<Front>,
        pub(super) depths: DevicePtr<u32>,
        /// The lengths of shortcuts downwards, if they differ.
        pub(super) down: DevicePtr<cpp::Distance>,
        /// Where the lengths downwards of each front begin, in rows of four.
        pub(super) down_rows: DevicePtr<u32>,
        pub(super) up_lengths: DeviceMutPtr<cpp::Distance>,
        pub(super) down_lengths: DeviceMutPtr<cpp::Distance>,
        /// Blocks of a front.
        pub(super) parts: u32,
        pub(super) is_directed: u32,
        /// Whether targets are columns, or vertices of the boundary.
        pub(super) is_inside: u32,
        pub(super) unused: u32,
    }

    /// The argument of the kernels that walk up from each source.
    pub(super) struct Climb<Lane> {
        /// One more than there are ranks.
        pub(super) nodes: DevicePtr<Node>,
        /// The depth of each later neighbour, and the length of the way there.
        pub(super) arcs: DevicePtr<cpp::Step>,
        pub(super) positions: DevicePtr<Position>,
        /// Their ranks, which ascend.
        pub(super) sources: DevicePtr<u32>,
        /// Of sources that climb together.
        pub(super) meetings: DevicePtr<Meeting>,
        pub(super) fronts: DevicePtr<Front>,
        pub(super) depths: DevicePtr<u32>,
        /// Of each front, for eight targets at a time, from each of its columns to them.
        pub(super) lengths: DevicePtr<cpp::Distance>,
        /// For each depth a distance for each source.
        pub(super) above: DeviceMutPtr<cpp::Distance>,
        /// From depth to depth.
        pub(super) stride: u64,
        pub(super) count: u32,
        /// Whether the distances of all ancestors of a source fit the shared memory of a block.
        pub(super) in_shared: u32,
    }

    /// The argument of the kernels that sweep down.
    pub(super) struct Sweep<Lane> {
        pub(super) positions: DevicePtr<Position>,
        /// The ranks of sources, which ascend, and beyond their number the greatest number.
        pub(super) sources: DevicePtr<u32>,
        pub(super) above: DevicePtr<cpp::Distance>,
        /// For each vertex of a front, by its place, a distance for each source.
        pub(super) by_place: DeviceMutPtr<cpp::Distance>,
        pub(super) parts: DevicePtr<Part>,
        /// The places of the boundaries of fronts.
        pub(super) boundaries: DevicePtr<u32>,
        /// Of each part, from each vertex of its boundary and from each column of its front to each of its columns.
        pub(super) lengths: DevicePtr<cpp::Distance>,
        pub(super) tiles: DevicePtr<Tile>,
        pub(super) loads: DevicePtr<Load>,
        /// The slot of the tail, in the lowest byte, and the length of the way from there. For the last arc of a vertex one more
        /// than its slot in the other bytes.
        pub(super) arcs: DevicePtr<cpp::Step>,
        /// Of the slots of tiles.
        pub(super) ranks: DevicePtr<u32>,
        /// Whether a distance from a source may have been lost; zero.
        pub(super) is_doubtful: DeviceMutPtr<u32>,
        /// Where only sums are wanted, for each counter the numbers of a fact, for each source: zero.
        pub(super) counters: DeviceMutPtr<u64>,
        /// For each tile how much the distances of its boundary may differ, if offsets from the least are to fit 16 bits; 0 if
        /// they never do.
        pub(super) spans: DevicePtr<u32>,
        /// As `arcs`: the slot of the tail, in the lowest byte, whether it is the last arc of a vertex, in the next, and in the
        /// upper half the length.
        pub(super) short_arcs: DevicePtr<u32>,
        /// The tiles that do not fit 16 bits, and how many there are: zero.
        pub(super) left: DeviceMutPtr<Visit>,
        pub(super) left_count: DeviceMutPtr<u32>,
        /// Where the columns of each slot of a tile begin, in the order of `ranks`, their numbers, and where the label of each begins,
        /// in fours.
        pub(super) column_offsets: DevicePtr<u32>,
        pub(super) columns_of: DevicePtr<u32>,
        pub(super) label_of: DevicePtr<u32>,
        pub(super) labels: DeviceMutPtr<cpp::Distance>,
        /// The greatest length of a label: zero.
        pub(super) greatest: DeviceMutPtr<u64>,
        /// The tiles of sources.
        pub(super) visits: DevicePtr<Visit>,
        /// The row of each source.
        pub(super) row_of: DevicePtr<u32>,
        pub(super) rows: DeviceMutPtr<cpp::Distance>,
        /// From row to row.
        pub(super) row_stride: u64,
        /// From place to place, and from depth to depth.
        pub(super) stride: u64,
        /// A distance from which on others may have been lost.
        pub(super) doubtful: u64,
        /// How many warps it takes for all sources.
        pub(super) groups: u32,
        /// The first part of the level.
        pub(super) level: u32,
        pub(super) tile_count: u32,
        /// The most slots of a tile, and the most of its arcs.
        pub(super) most_slots: u32,
        pub(super) most_arcs: u32,
        /// For how many of them there is room.
        pub(super) most_left: u32,
        /// How many tiles a block takes for sums.
        pub(super) tiles_a_block: u32,
        pub(super) unused: u32,
    }

    /// What there is to say of a row, as [`RawFacts`](crate::cuda::apsp::outgoing::RawFacts) has it.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Facts {
        pub(super) reached: u64,
        pub(super) greatest: u64,
        pub(super) low: u64,
        pub(super) high: u64,
    }

    /// The argument of the kernel that adds up counters.
    pub(super) struct Sums<Lane> {
        pub(super) counters: DevicePtr<u64>,
        /// The row of each source.
        pub(super) row_of: DevicePtr<u32>,
        pub(super) facts: DeviceMutPtr<Facts>,
        /// From number to number.
        pub(super) stride: u64,
        pub(super) count: u32,
        pub(super) unused: u32,
    }

    /// How a round begins; the places of its hubs follow.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Round {
        /// Where its lists begin, and how many parts they have.
        pub(super) lists: u32,
        pub(super) parts: u32,
        /// Where its labels begin, and how many fours they have.
        pub(super) labels: u32,
        pub(super) fours: u32,
        pub(super) shares: u32,
        pub(super) hub_count: u32,
        /// The next round of the block, or 0.
        pub(super) next: u32,
        pub(super) unused: u32,
    }

    /// Columns of a round with the same hubs, or of hubs themselves if it has none. Its places are those of numbers of 16 bits.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Share {
        pub(super) columns: u16,
        pub(super) column_count: u16,
        pub(super) hubs: u16,
        pub(super) hub_count: u16,
        /// Where its labels begin, in fours.
        pub(super) labels: u32,
        pub(super) unused: u32,
    }

    /// The argument of the kernel that makes rows.
    pub(super) struct Rows<Lane> {
        pub(super) by_place: DevicePtr<cpp::Distance>,
        pub(super) rounds: DevicePtr<u32>,
        pub(super) lists: DevicePtr<[u32; 4]>,
        pub(super) labels: DevicePtr<cpp::Distance>,
        /// The row of each source.
        pub(super) row_of: DevicePtr<u32>,
        pub(super) rows: DeviceMutPtr<cpp::Distance>,
        /// From place to place.
        pub(super) stride: u64,
        /// From row to row.
        pub(super) row_stride: u64,
        pub(super) columns: u32,
        /// Blocks of columns.
        pub(super) blocks: u32,
        /// Sources, and how many blocks it takes for all of them.
        pub(super) count: u32,
        pub(super) groups: u32,
    }
}

const _: () = assert!(
    FRONT == MOST_COLUMNS as usize && STEPS == BATCH as usize && ROOT == NO_PARENT,
    "the kernels see the same tree"
);
const _: () = assert!(
    rounds::COLUMNS_A_BLOCK == COLUMNS_A_BLOCK as usize
        && rounds::HUBS == MOST_HUBS as usize
        && rounds::FOURS == MOST_FOURS as usize
        && rounds::PARTS == MOST_PARTS as usize
        && rounds::ROUND == ROUND_WORDS as usize,
    "the kernels see the same rounds"
);

/// The columns of each part of a front of this many, and how many it is read as.
pub(super) fn parts_of(columns: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..columns).step_by(COLUMNS as usize).map(move |first| {
        let count = (columns - first).min(COLUMNS);
        (count, if count <= NARROW_COLUMNS { NARROW_COLUMNS } else { COLUMNS })
    })
}

/// Offsets pay unless more than one of so many tiles never fits: those are tried in vain.
pub(super) const SHARE_LEFT: u64 = 3;

/// Distances from row to row of so many columns: whole cache lines.
fn stride_of(columns: usize) -> u64 {
    const LINE: u64 = 32;
    (columns as u64).max(1).next_multiple_of(LINE)
}

/// How much there is of everything.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    vertices: u64,
    shortcuts: u64,
    height: u64,
    fronts: u64,
    front_vertices: u64,
    /// The sum of the boundaries of all fronts, and that with their columns.
    boundaries: u64,
    targets: u64,
    parts: u64,
    /// Lengths upwards and downwards.
    up_lengths: u64,
    down_lengths: u64,
    tiles: u64,
    columns: u64,
    /// The columns in rounds: of vertices of tiles, blocks, rounds, parts of lists, and fours of labels.
    columns_of_tiles: u64,
    blocks: u64,
    rounds: u64,
    parts_of_lists: u64,
    fours: u64,
    loads: u64,
    steps: u64,
    /// Words of a distance.
    words: u64,
    rows: u64,
    row_stride: u64,
    /// Whether facts about rows are wanted, and no rows.
    facts: bool,
    /// Whether distances of tiles may have 16 bits.
    offsets: bool,
    /// Whether lengths upwards and downwards may differ.
    directed: bool,
}

impl Sizes {
    /// Of this hierarchy; what is usual on roads if there is none yet.
    pub(super) fn of(task: &SearchesTask<'_>, pieces: Option<(&Hierarchy, &Pieces, Option<&Rounds>)>) -> Self {
        /// Shortcuts of an arc, and ancestors, as many as there are on roads.
        const SHORTCUTS: u64 = 4;
        const HEIGHT: u64 = 512;
        let vertices = task.graph.vertices() as u64;
        let shortcuts = SHORTCUTS.saturating_mul(task.graph.arcs() as u64);
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
    fn most_left(&self) -> u64 {
        if self.has_offsets() { self.all_tiles() / 2 + 1 } else { 0 }
    }
}

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
}

pub(super) fn layout(arena: &mut Arena<'_>, sizes: &Sizes) -> Arrays {
    let Sizes { words, vertices, .. } = *sizes;
    let if_offsets = |length: u64| if sizes.offsets { length } else { 0 };
    let if_rows = |length: u64| if sizes.facts { 0 } else { length };
    let product = |factors: &[u64]| factors.iter().fold(words, |product, &factor| product.saturating_mul(factor));
    Arrays {
        nodes: arena.take("the elimination tree", vertices + 1),
        positions: arena.take("the subtree of each vertex", vertices),
        up_arcs: arena.take("shortcuts upwards", product(&[2, sizes.shortcuts])),
        fronts: arena.take("fronts", sizes.fronts),
        depths: arena.take("the depths of boundaries", sizes.targets),
        up_lengths: arena.take("the lengths of fronts upwards", product(&[sizes.up_lengths])),
        parts: arena.take("parts of fronts", sizes.parts),
        boundaries: arena.take("the boundaries of fronts", sizes.boundaries),
        down_lengths: arena.take("the lengths of fronts downwards", product(&[sizes.down_lengths])),
        tiles: arena.take("tiles", sizes.tiles),
        loads: arena.take("the boundaries of tiles", sizes.loads),
        arcs: arena.take("the shortcuts of tiles", product(&[2, sizes.steps])),
        ranks: arena.take("the ranks of tiles", vertices),
        column_offsets: arena.take("where the columns of vertices begin", if_rows(vertices + 1)),
        columns_of: arena.take("the columns of vertices", sizes.columns_of_tiles),
        label_of: arena.take("where the label of each column begins", sizes.columns),
        labels: arena.take("labels", product(&[FOUR.into(), sizes.fours])),
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
        short_arcs: arena.take("the shortcuts of tiles in 16 bits", if_offsets(sizes.steps)),
        left: arena.take("tiles that do not fit 16 bits", sizes.most_left()),
        left_count: arena.take("how many they are", if_offsets(1)),
        down: arena.take("shortcuts downwards", if sizes.directed { product(&[sizes.shortcuts]) } else { 0 }),
        down_rows: arena.take("where the lengths of fronts downwards begin", sizes.fronts),
    }
}

impl Arrays {
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
