//! How a matrix is cut into strips, where they are, and what that takes.

use super::super::Cell;
use crate::algorithms::Parameters;
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::matrix::tiles::{Tiles, Workspace};
use crate::plan::Plan;

/// Rows of a strip, if not as many as suit the devices and their memory.
const MOST_ROWS: u64 = 5120;
/// Rows of a strip that stays on its device: few, so that several devices have as much to do, but not so few that the
/// pivots hold everyone up.
const FEWEST_ROWS: u64 = 1024;
/// A matrix that stays on several devices is cut into this many strips.
const STRIPS: u64 = 32;
/// From this many rows a strip on, copies between device and host are hidden by the work.
const HIDING_ROWS: f64 = 1500.0;
/// Strips of a device at a time: one comes, one is worked on, one goes.
const SLOTS: u64 = 3;

/// What there is to put a matrix in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// How many devices there are.
    pub(crate) devices: u64,
    /// How many bytes may be taken of each.
    pub(crate) device_bytes: u64,
    /// How many bytes may be taken of the host.
    pub(crate) host_bytes: u64,
    /// How many multiprocessors each has.
    pub(crate) multiprocessors: u32,
}

/// A matrix in strips of full rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cut {
    pub(super) cell: Cell,
    pub(super) vertices: u64,
    /// Rows, and cells of a row, with those beyond the vertices.
    pub(super) side: u64,
    /// Rows of every strip but the last, which may have fewer: it is a multiple of [`multiple`] too.
    pub(super) height: u64,
    pub(super) devices: u64,
    /// Whether the strips are in the host's memory, and come and go.
    pub(super) streamed: bool,
}

/// The arrays of a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    pub(super) strips: DeviceSlice<u8>,
    pub(super) pivots: DeviceSlice<u8>,
    pub(super) block: DeviceSlice<u8>,
    pub(super) columns: DeviceSlice<u8>,
    pub(super) greatest: DeviceSlice<u64>,
    pub(super) workspace: Workspace,
}

/// Bytes of the word that a cell is in.
pub(super) fn word(cell: Cell) -> u64 {
    cell.bytes().max(4)
}

/// What the sides of a block of strips are multiples of: cells of a tile's row.
fn multiple(cell: Cell) -> u64 {
    Tiles::side(word(cell)) * word(cell) / cell.bytes()
}

/// The most rows that a strip of this many cells a row may have: offsets within a strip have 32 bits.
fn most_rows(cell: Cell, side: u64) -> u64 {
    let multiple = multiple(cell);
    let words = side.saturating_mul(cell.bytes()) / word(cell);
    (u64::from(u32::MAX) / words).min(side) / multiple * multiple
}

impl Cut {
    /// How to cut a matrix; `None` to leave it in one piece on the first device, where it takes this many bytes.
    pub(crate) fn choose(cell: Cell, vertices: u64, asked: Asked, room: &Room, in_one_piece: u64) -> Option<Self> {
        let multiple = multiple(cell);
        let side = vertices.max(1).next_multiple_of(multiple);
        let fits = in_one_piece <= room.device_bytes;
        let several = room.devices > 1 && side >= STRIPS / 2 * FEWEST_ROWS;
        if asked == Asked::default() && fits && !several {
            return None;
        }
        if let Some(rows) = asked.rows {
            return Some(Cut::of_rows(cell, vertices, rows, asked.on_host, room));
        }
        let cut = |height: u64, streamed| Cut::new(cell, vertices, height, room, streamed);
        let fits = |cut: &Cut| cut.device_bytes() <= room.device_bytes;
        let most = most_rows(cell, side);
        let wanted = (side / STRIPS).clamp(FEWEST_ROWS, MOST_ROWS);
        let heights = (wanted * 3 / 4..=wanted * 5 / 4).filter(|height| height % multiple == 0 && *height <= most);
        let there = heights.map(|height| cut(height, false)).filter(fits);
        let evenness = |cut: &Cut| cut.evenness(room) * cut.balance();
        let there = there.max_by(|a, b| evenness(a).total_cmp(&evenness(b)));
        if let Some(cut) = there.filter(|_| !asked.on_host) {
            return Some(cut);
        }
        let heights = (1..=most.min(MOST_ROWS) / multiple).map(|count| cut(count * multiple, true));
        let largest = heights.take_while(|cut| fits(cut)).last().unwrap_or(cut(multiple, true));
        let heights = (largest.height / 2 + 1..=largest.height).filter(|height| height % multiple == 0);
        let share = |cut: &Cut| cut.evenness(room) * (cut.height as f64 / HIDING_ROWS).min(1.0);
        let there = heights.map(|height| cut(height, true));
        Some(there.max_by(|a, b| share(a).total_cmp(&share(b))).unwrap_or(largest))
    }

    /// How to cut a matrix into strips of this many rows, or as many more as make whole tiles. They are in the host's
    /// memory if that was asked for, or if the devices have no room for all of them.
    pub(super) fn of_rows(cell: Cell, vertices: u64, rows: u64, on_host: bool, room: &Room) -> Self {
        let multiple = multiple(cell);
        let side = vertices.max(1).next_multiple_of(multiple);
        // Where not even one tile a strip has offsets of 32 bits, no machine has the memory for all.
        let height = rows.clamp(1, most_rows(cell, side).max(1)).next_multiple_of(multiple);
        let there = Cut::new(cell, vertices, height, room, false);
        let stays = !on_host && there.device_bytes() <= room.device_bytes;
        Cut { streamed: !stays, ..there }
    }

    fn new(cell: Cell, vertices: u64, height: u64, room: &Room, streamed: bool) -> Self {
        let side = vertices.max(1).next_multiple_of(multiple(cell));
        let devices = room.devices.min(side.div_ceil(height));
        Cut { cell, vertices, side, height, devices, streamed }
    }

    /// What share of the multiprocessors has something to do while a strip is worked on: tiles come in whole waves.
    fn evenness(&self, room: &Room) -> f64 {
        let (down, across) = self.tiles_of(self.height);
        let waves = (down * across) as f64 / (2.0 * f64::from(room.multiprocessors));
        waves / waves.ceil()
    }

    /// What share of four devices has something to do: some have a strip more than others. Four whatever there are: what
    /// floats are rounded to depends on how strips are cut.
    fn balance(&self) -> f64 {
        const DEVICES: usize = 4;
        let of_device =
            |device: usize| (device..self.strips()).step_by(DEVICES).map(|strip| self.rows(strip)).sum::<u64>();
        let most = (0..DEVICES).map(of_device).max().unwrap_or(0);
        self.side as f64 / (DEVICES as u64 * most) as f64
    }

    /// How many strips there are.
    pub(super) fn strips(&self) -> usize {
        self.side.div_ceil(self.height) as usize
    }

    /// Rows of every strip but the last.
    pub(in crate::cuda::apsp) fn rows_of_strips(&self) -> u64 {
        self.height
    }

    /// Rows of a strip.
    pub(super) fn rows(&self, strip: usize) -> u64 {
        self.height.min(self.side - strip as u64 * self.height)
    }

    /// Rows of a strip that are those of vertices.
    pub(super) fn vertices_of(&self, strip: usize) -> u64 {
        self.vertices.saturating_sub(strip as u64 * self.height).min(self.rows(strip))
    }

    /// Bytes from row to row.
    pub(super) fn pitch_bytes(&self) -> u64 {
        self.side * self.cell.bytes()
    }

    /// Bytes of this many rows.
    pub(super) fn bytes(&self, rows: u64) -> u64 {
        rows.saturating_mul(self.pitch_bytes())
    }

    /// Tiles of this many rows, down and across.
    pub(super) fn tiles_of(&self, rows: u64) -> (u64, u64) {
        let side = Tiles::side(word(self.cell));
        (rows / side, self.pitch_bytes() / word(self.cell) / side)
    }

    /// A diagonal block of this many rows, as a matrix of its own.
    pub(super) fn block(&self, rows: u64) -> Tiles {
        Tiles::new(rows, rows * self.cell.bytes() / word(self.cell), word(self.cell))
    }

    /// How many strips there is room for on a device.
    pub(super) fn slots(&self) -> u64 {
        let strips = self.strips() as u64;
        if self.streamed { SLOTS.min(strips) } else { strips.div_ceil(self.devices) }
    }

    pub(super) fn device_bytes(&self) -> u64 {
        plan_of(|arena| self.layout(arena)).device_bytes()
    }

    /// Takes room for the arrays on each device.
    pub(super) fn layout(&self, arena: &mut Arena<'_>) -> Arrays {
        let height = self.height;
        let strip = self.bytes(height);
        Arrays {
            // Each begins where the one before ends: rows are whole tiles.
            strips: arena.take("strips of the matrix", strip.saturating_mul(self.slots())),
            pivots: arena.take("strips that others pass through", strip.saturating_mul(2)),
            block: arena.take("block on the diagonal", height * height * self.cell.bytes()),
            columns: arena.take("columns of a strip", height * height * word(self.cell)),
            greatest: arena.take("the greatest distance", 1),
            workspace: self.block(height).layout(arena),
        }
    }

    /// What it takes of each device, of the host, and of the disk if the state is kept.
    pub(crate) fn plan(&self) -> Plan {
        let mut plan = plan_of(|arena| self.layout(arena));
        if self.streamed {
            plan.memory("strips of the matrix", self.bytes(self.side));
        }
        plan.disk("state of the work", self.state_bytes());
        plan
    }

    /// What two states of the work take on disk, but for checksums.
    pub(super) fn state_bytes(&self) -> u64 {
        self.bytes(self.side).saturating_mul(2)
    }
}

/// What was said of strips.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// How many rows a strip is to have.
    pub(super) rows: Option<u64>,
    /// Whether strips are to come from the host's memory even if the devices have room for all of them.
    pub(super) on_host: bool,
}

/// What these parameters say of strips.
pub(crate) fn asked(parameters: &Parameters) -> Asked {
    Asked {
        rows: parameters.get(super::STRIP.name).map(|rows| rows as u64),
        on_host: parameters.word(super::HOME.name) == Some(super::ON_HOST),
    }
}
