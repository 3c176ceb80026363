//! What the kernels of sweeps over a hierarchy are given.

use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::hierarchy::{BATCH as STEPS, COLUMNS as FRONT, ROOT, rounds};

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
