//! How a matrix is cut into pages, and what they take.

use super::super::Cell;
use super::super::strips::Room;
use super::program::{pair_bytes, side_of_blocks};
use crate::algorithms::{Parameter, Parameters, Unset, Values};
use crate::cuda::device::arena::{Arena, plan_of};
use crate::cuda::device::memory::DeviceSlice;
use crate::plan::Plan;

/// How many rows and columns a page has.
pub(in crate::cuda::apsp) const PAGE: Parameter = Parameter {
    name: "page",
    summary: "rows and columns of a page, made a multiple of `block`; setting it forces pages",
    values: Values::Or(
        &Values::AtLeast(1.0),
        Unset::InWords(|| {
            "without it, pages only on several devices, or where one is too small: as large as fit, with as many for each \
             device"
                .into()
        }),
    ),
};

/// Pages on a device at a time: the current one, the one in its row and the one in its column.
const PAGES_THERE: u64 = 3;
/// Bytes left for the flag, and for arrays to begin where they should.
const SPARE_BYTES: u64 = 2048;

/// A matrix in square pages of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cuda::apsp) struct Paging {
    pub(super) cell: Cell,
    pub(super) vertices: u64,
    /// Rows and columns of a block.
    pub(super) block: u64,
    /// Rows and columns of a page, a multiple of a block's.
    pub(super) side: u64,
    /// Pages from left to right, and from top to bottom.
    pub(super) across: u64,
    /// How many devices have work.
    pub(super) devices: u64,
}

/// The arrays of a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    /// In the order of [`Page`](super::program::Page): current, column, row.
    pub(super) pages: [DeviceSlice<u8>; PAGES_THERE as usize],
    pub(super) stopped: DeviceSlice<u32>,
}

impl Paging {
    /// How to cut a matrix; `None` to leave it in one piece on the first device, where it takes this many bytes.
    pub(in crate::cuda::apsp) fn choose(
        cell: Cell,
        vertices: u64,
        parameters: &Parameters,
        room: &Room,
        in_one_piece: u64,
    ) -> Option<Self> {
        let block = u64::from(side_of_blocks(parameters));
        let vertices = vertices.max(1);
        if let Some(asked) = parameters.get(PAGE.name) {
            return Some(Paging::of_side(cell, vertices, block, asked as u64, room));
        }
        if room.devices <= 1 && in_one_piece <= room.device_bytes {
            return None;
        }
        let cells = room.device_bytes.saturating_sub(SPARE_BYTES) / (PAGES_THERE * pair_bytes(cell));
        let largest = (cells.isqrt() / block * block).max(block);
        let mut across = vertices.div_ceil(largest);
        if room.devices > 1 {
            // Then the second and the third pass have a multiple of as many pages as there are devices.
            across = 1 + (across - 1).max(1).next_multiple_of(room.devices);
        }
        Some(Paging::of_side(cell, vertices, block, vertices.div_ceil(across), room))
    }

    /// Pages of this many rows, or as many more as make whole blocks.
    fn of_side(cell: Cell, vertices: u64, block: u64, side: u64, room: &Room) -> Self {
        let side = side.clamp(1, vertices).next_multiple_of(block);
        let across = vertices.div_ceil(side);
        // No pass has more pages than this.
        let most = ((across - 1).saturating_mul((across - 1).max(2))).max(1);
        Paging { cell, vertices, block, side, across, devices: room.devices.clamp(1, most) }
    }

    /// How many pages there are.
    pub(super) fn pages(&self) -> u64 {
        self.across.saturating_mul(self.across)
    }

    /// The bytes of a page.
    pub(super) fn page_bytes(&self) -> u64 {
        self.side.saturating_mul(self.side).saturating_mul(pair_bytes(self.cell))
    }

    /// The rows of a page.
    pub(in crate::cuda::apsp) fn rows_of_pages(&self) -> u64 {
        self.side
    }

    /// Blocks of a page from left to right.
    pub(super) fn blocks(&self) -> u32 {
        (self.side / self.block) as u32
    }

    /// Takes room for the arrays on each device.
    pub(super) fn layout(&self, arena: &mut Arena<'_>) -> Arrays {
        let mut page = |what: &str| arena.take(what, self.page_bytes());
        Arrays {
            pages: [page("page"), page("page of its row"), page("page of its column")],
            stopped: arena.take("flag", 1),
        }
    }

    /// What it takes of each device and of the host.
    pub(in crate::cuda::apsp) fn plan(&self) -> Plan {
        let mut plan = plan_of(|arena| self.layout(arena));
        plan.memory("pages of the matrix", self.page_bytes().saturating_mul(self.pages()));
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(devices: u64, device_bytes: u64) -> Room {
        Room { devices, device_bytes, host_bytes: u64::MAX, multiprocessors: 4 }
    }

    fn choose(cell: Cell, vertices: u64, room: &Room, in_one_piece: u64) -> Option<Paging> {
        Paging::choose(cell, vertices, &Parameters::default(), room, in_one_piece)
    }

    #[test]
    fn pages_are_as_large_as_fit() {
        let whole = |n: u64| 12 * n * n;
        assert_eq!(choose(Cell::U32, 10_000, &room(1, 2 << 30), whole(10_000)), None);
        for (cell, n, bytes) in [
            (Cell::U32, 10_000, 1 << 30),
            (Cell::U32, 100_000, 1 << 30),
            (Cell::F64, 100_000, 1 << 30),
            (Cell::I32, 1_000, 1 << 20),
        ] {
            let paging = choose(cell, n, &room(1, bytes), whole(n)).unwrap();
            assert!(paging.plan().device_bytes() <= bytes && paging.side.is_multiple_of(18), "{paging:?}");
            assert!(paging.side * paging.across >= n && paging.side * (paging.across - 1) < n, "{paging:?}");
            // One page less from left to right has no room.
            let fewer = Paging { side: n.div_ceil(paging.across - 1).next_multiple_of(18), ..paging };
            assert!(fewer.plan().device_bytes() > bytes, "{fewer:?}");
        }
    }

    #[test]
    fn several_devices_have_as_many_pages_each() {
        for devices in [2, 3, 4] {
            for bytes in [1 << 26, 1 << 30, 1 << 36] {
                let paging = choose(Cell::U32, 11_264, &room(devices, bytes), 0).unwrap();
                assert!(paging.plan().device_bytes() <= bytes, "{paging:?}");
                assert!(paging.across > 1 && (paging.across - 1).is_multiple_of(devices), "{paging:?}");
                assert_eq!(paging.devices, devices);
            }
        }
        // One page, which one device works on.
        assert_eq!(
            choose(Cell::U32, 18, &room(2, 1 << 30), 0).map(|paging| (paging.across, paging.devices)),
            Some((1, 1))
        );
    }

    #[test]
    fn nothing_wraps_however_many_vertices_there_are() {
        for n in [1_u64 << 31, u64::from(u32::MAX)] {
            for bytes in [0, 1 << 20, u64::MAX] {
                for cell in [Cell::U32, Cell::F64] {
                    let paging = choose(cell, n, &room(2, bytes), u64::MAX).unwrap();
                    assert!(paging.plan().memory_bytes() >= n.saturating_mul(n), "{paging:?}");
                }
            }
        }
    }
}
