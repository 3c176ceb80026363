//! The launches of Katz and Kider's program: three passes for each block of vertices, on a page by itself or with others.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order. Every page has as many rows
//! and cells of a row as it says, and pages that a kernel reads beside the one it writes are not written meanwhile.

use super::super::Cell;
use crate::Result;
use crate::algorithms::{Parameter, Parameters, Unset, Values};
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};

/// The rows and columns of a block, unless they are set: the paper's best.
const USUAL_SIDE: u32 = 18;
/// The parameter that sets the rows and columns of a block.
pub(in crate::cuda::apsp) const BLOCK: Parameter = Parameter {
    name: "block",
    summary: "rows and columns of a block, from 8 to 32",
    values: Values::Or(&crate::cuda::matrix::blocks::SIDES, Unset::Number(USUAL_SIDE as f64)),
};

/// How many rows and columns a block has.
pub(in crate::cuda::apsp) fn side_of_blocks(parameters: &Parameters) -> u32 {
    parameters.word(BLOCK.name).and_then(|word| word.parse().ok()).unwrap_or(USUAL_SIDE)
}

/// The bytes of a cell of two values.
pub(super) fn pair_bytes(cell: Cell) -> u64 {
    2 * cell.bytes()
}

kernel_header! {
    path: "apsp/katz_kider";
    namespace: katz_kider;

    /// The argument of a pass.
    struct KernelArgument<Cell> {
        /// The page with the cells that may change.
        current: DeviceMutPtr<cpp::Word>,
        /// The page with d_ik.
        column: DevicePtr<cpp::Word>,
        /// The page with d_kj.
        row: DevicePtr<cpp::Word>,
        /// Cells from row to row of every page.
        pitch: u64,
        stopped: DeviceMutPtr<u32>,
        /// The first vertex of the stage.
        first: u32,
        /// The number of the primary block.
        stage: u32,
        /// The block to skip from left to right, and from top to bottom; a number beyond all blocks for none.
        center_x: u32,
        center_y: u32,
        /// Which row of the second pass's grid comes first.
        line: u32,
    }

    /// Distances, and the same as cells of two values.
    struct Conversion<Cell> {
        distances: DeviceMutPtr<cpp::Number>,
        distances_pitch: u64,
        pairs: DeviceMutPtr<cpp::Word>,
        /// Rows, and cells of a row.
        pitch: u64,
        vertices: u64,
    }
}

/// The kernels of the three passes, for blocks of one size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Program {
    first: Function,
    second: Function,
    third: Function,
    side: u32,
    bytes: u32,
}

/// Where a page is, seen from the primary page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It is the primary page.
    Primary,
    /// In the same row of pages.
    InRow,
    /// In the same column of pages.
    InColumn,
    /// In neither.
    Elsewhere,
}

/// A page on a device, with what a stage needs beside it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Page {
    pub(super) role: Role,
    /// The page itself.
    pub(super) current: DeviceSlice<u8>,
    /// The page with d_ik: itself, the primary page, or the one of its row in the primary page's column.
    pub(super) column: DeviceSlice<u8>,
    /// The page with d_kj: itself, the primary page, or the one of its column in the primary page's row.
    pub(super) row: DeviceSlice<u8>,
    /// Cells from row to row.
    pub(super) pitch: u64,
    /// Blocks of a row or a column.
    pub(super) blocks: u32,
    /// The first vertex of the primary page.
    pub(super) first: u64,
    /// 1 where a negative cycle has been found.
    pub(super) stopped: DeviceSlice<u32>,
}

impl Program {
    /// The kernels for these cells.
    pub(super) fn of(device: &dyn Device, cell: Cell, parameters: &Parameters) -> Result<Self> {
        let pass =
            |pass: &str| device.function(&images::APSP_KATZ_KIDER, &format!("apsp_katz_kider_{pass}_{}", cell.name()));
        let (first, second, third) = (pass("first")?, pass("second")?, pass("third")?);
        Ok(Program { first, second, third, side: side_of_blocks(parameters), bytes: pair_bytes(cell) as u32 })
    }

    /// Queues the passes of a stage on a page; says how many launches these are. Passes without blocks are none.
    pub(super) fn queue(&self, device: &dyn Device, page: &Page, stage: u32) -> Result<u64> {
        /// Beyond all blocks, and one more is a number, too.
        const NONE: u32 = u32::MAX - 1;
        let (all, others) = (page.blocks, page.blocks - 1);
        // The grids of the second and the third pass.
        let (second, third, center_x, center_y, line) = match page.role {
            Role::Primary => ([others, 2], [others, others], stage, stage, 0),
            Role::InRow => ([all, 1], [all, others], NONE, stage, 0),
            Role::InColumn => ([all, 1], [others, all], stage, NONE, 1),
            Role::Elsewhere => ([0, 0], [all, all], NONE, NONE, 0),
        };
        // In the second pass, blocks count from left to right in a row, and from top to bottom in a column.
        let first = if page.role == Role::Primary { [1, 1] } else { [0, 0] };
        let search = KernelArgument {
            current: page.current.as_mut_ptr().cast(),
            column: page.column.as_ptr().cast(),
            row: page.row.as_ptr().cast(),
            pitch: page.pitch,
            stopped: page.stopped.as_mut_ptr(),
            first: (page.first + u64::from(stage) * u64::from(self.side)) as u32,
            stage,
            center_x,
            center_y,
            line,
        };
        let mut launches = 0;
        let of_block = self.side * self.side * self.bytes;
        for (function, grid, blocks_there) in [(self.first, first, 1), (self.second, second, 2), (self.third, third, 3)]
        {
            if grid[0] > 0 && grid[1] > 0 {
                let shape = LaunchShape {
                    grid: [grid[0], grid[1], 1],
                    block: [self.side, self.side, 1],
                    shared_bytes: blocks_there * of_block,
                    ..LaunchShape::line(1, 1)
                };
                // SAFETY: the argument is the kernels', and the pages have that many blocks.
                unsafe { device.launch(function, &shape, arguments![search])? };
                launches += 1;
            }
        }
        Ok(launches)
    }
}

/// Distances and cells of two values on a device.
#[derive(Debug, Clone, Copy)]
pub(super) struct BothForms {
    pub(super) cell: Cell,
    pub(super) distances: DeviceSlice<u8>,
    pub(super) distances_pitch: u64,
    pub(super) pairs: DeviceSlice<u8>,
    /// Rows of the cells of two values, and cells of a row.
    pub(super) pitch: u64,
    pub(super) vertices: u64,
}

impl BothForms {
    /// Queues making cells of two values from distances.
    pub(super) fn join(&self, device: &dyn Device) -> Result<()> {
        self.convert(device, "join")
    }

    /// Queues the reverse.
    pub(super) fn split(&self, device: &dyn Device) -> Result<()> {
        self.convert(device, "split")
    }

    fn convert(&self, device: &dyn Device, way: &str) -> Result<()> {
        const THREADS: u32 = 256;
        let kernel = format!("apsp_katz_kider_{way}_{}", self.cell.name());
        let function = device.function(&images::APSP_KATZ_KIDER, &kernel)?;
        let conversion = Conversion {
            distances: self.distances.as_mut_ptr().cast(),
            distances_pitch: self.distances_pitch,
            pairs: self.pairs.as_mut_ptr().cast(),
            pitch: self.pitch,
            vertices: self.vertices,
        };
        let most = u64::from(device.properties().multiprocessors) * 8;
        let shape = LaunchShape::line(self.pitch.min(most) as u32, THREADS);
        // SAFETY: the argument is the kernel's, and both forms have as many cells as it says.
        unsafe { device.launch(function, &shape, arguments![conversion]) }
    }
}
