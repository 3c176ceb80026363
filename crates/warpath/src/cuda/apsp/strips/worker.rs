//! One device of those that work on strips: its memory, its kernels, its queues.
//!
//! *Invariants.* A kernel gets the argument that it declares; blocks are within their strips, and the slots have room
//! for the cells that it writes. Cells copied to the host are read after their event has passed.

use std::sync::Arc;

use super::super::matrix::{MatrixArgument, Range, Survey, THREADS as READERS};
use super::super::{Cell, DenseTask};
use super::cut::{Arrays, Cut, word};
use crate::Result;
use crate::algorithms::Parameters;
use crate::cuda::device::memory::{DeviceSlice, Pinned, Pool};
use crate::cuda::device::{Device, Event, Function, LaunchShape, Stream, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::matrix::homes::Slot;
use crate::cuda::matrix::tiles::{SHARED_BYTES, THREADS};

/// How many strips the host has queued at a device beyond the one that is worked on.
const AHEAD: usize = 2;

/// A device, and what it has for its strips.
#[derive(Debug)]
pub(super) struct Worker {
    pub(super) pool: Pool,
    cut: Cut,
    kernels: Kernels,
    pub(super) slots: Vec<Slot>,
    pub(super) pivots: [Pivot; 2],
    arrays: Arrays,
    /// What the diagonal block's kernel says about negative cycles, once `told` has passed.
    stopped: Pinned<u32>,
    pub(super) told: Event,
    /// The last stage that was queued as a whole is done.
    pub(super) stage_done: Event,
    pub(super) first: Event,
    pub(super) last: Event,
    /// Strips that were queued last, in turn.
    recent: Vec<Event>,
    queued: usize,
    next_slot: usize,
    pub(super) launches: u64,
}

/// The strip that all paths of a stage pass through.
#[derive(Debug)]
pub(super) struct Pivot {
    pub(super) cells: DeviceSlice<u8>,
    /// It has been made here.
    pub(super) ready: Event,
    /// It has gone to the host.
    pub(super) kept: Event,
    /// It has gone to all other devices.
    pub(super) sent: Event,
}

#[derive(Debug)]
struct Kernels {
    product: Function,
    turn: Function,
    cut: Function,
    close: Function,
    survey: Function,
    /// How many blocks of each run at once.
    products: u32,
    others: u32,
}

impl Kernels {
    fn of(device: &dyn Device, cell: Cell, is_signed: bool) -> Result<Self> {
        let name = cell.name();
        let suffix = if cell == Cell::F32 && !is_signed { "_non_negative" } else { "" };
        let of_strips = |name: &str| device.function(&images::APSP_STRIPS, name);
        let product = of_strips(&format!("apsp_strips_product_{name}{suffix}"))?;
        let turn = of_strips(&format!("apsp_strips_turn_{name}"))?;
        Ok(Kernels {
            product,
            turn,
            cut: of_strips("apsp_strips_cut")?,
            close: device.function(&images::APSP_TILED_FLOYD_WARSHALL, &format!("apsp_tiled_{name}{suffix}"))?,
            survey: device.function(&images::APSP_MATRIX, &format!("apsp_matrix_survey_{name}"))?,
            products: device.blocks_at_once(product, THREADS, SHARED_BYTES)?,
            others: device.blocks_at_once(turn, THREADS, 0)?,
        })
    }
}

/// What a product is of: two strips here, and which strip is above.
#[derive(Debug, Clone, Copy)]
struct Factors {
    from: DeviceSlice<u8>,
    to: DeviceSlice<u8>,
    above: DeviceSlice<u8>,
    rows: u64,
    depth: u64,
}

impl Worker {
    /// Takes what a cut needs.
    pub(super) fn new(device: &Arc<dyn Device>, cut: Cut, task: &DenseTask<'_>) -> Result<Self> {
        let (pool, arrays) = Pool::lay_out(device, |arena| cut.layout(arena))?;
        let strip = cut.bytes(cut.height);
        let slot = |index: u64| Slot::new(&**device, arrays.strips.part(index * strip, strip));
        let pivot = |index: u64| {
            let cells = arrays.pivots.part(index * strip, strip);
            Ok::<_, crate::Error>(Pivot { cells, ready: device.event()?, kept: device.event()?, sent: device.event()? })
        };
        pool.fill(arrays.greatest, 0)?;
        Ok(Worker {
            cut,
            kernels: Kernels::of(&**device, cut.cell, task.graph.has_negative_weights())?,
            slots: (0..cut.slots()).map(slot).collect::<Result<_>>()?,
            pivots: [pivot(0)?, pivot(1)?],
            arrays,
            stopped: Pinned::new(device, 1)?,
            told: device.event()?,
            stage_done: device.event()?,
            first: device.event()?,
            last: device.event()?,
            recent: (0..AHEAD).map(|_| device.event()).collect::<Result<_>>()?,
            queued: 0,
            next_slot: 0,
            launches: 0,
            pool,
        })
    }

    pub(super) fn device(&self) -> &Arc<dyn Device> {
        self.pool.device()
    }

    /// The slot whose turn it is.
    pub(super) fn turn_of_slot(&mut self) -> usize {
        let slot = self.next_slot;
        self.next_slot = (slot + 1) % self.slots.len();
        slot
    }

    /// Waits until no more strips are queued than should be.
    pub(super) fn keep_pace(&mut self) -> Result<()> {
        self.device().wait(&self.recent[self.queued % AHEAD])
    }

    /// Queues what becomes of a strip, in a slot, by paths through the strip that is the pivot of a stage.
    pub(super) fn update(&mut self, slot: usize, rows: u64, stage: usize) -> Result<()> {
        let depth = self.cut.rows(stage);
        let (cells, above) = (self.slots[slot].cells, self.pivots[stage % 2].cells);
        self.turn(self.of_stage(cells, stage), self.cut.side, rows, depth)?;
        self.product(Factors { from: cells, to: cells, above, rows, depth })?;
        self.device().record(&self.recent[self.queued % AHEAD])?;
        self.queued += 1;
        Ok(())
    }

    /// Queues what becomes of the strip in a slot as the pivot of a stage, by paths through its own vertices.
    pub(super) fn make_pivot(&mut self, slot: usize, stage: usize, parameters: &Parameters) -> Result<()> {
        let rows = self.cut.rows(stage);
        let (cells, pivot) = (self.slots[slot].cells, self.pivots[stage % 2].cells);
        let width = rows * self.cut.cell.bytes() / VECTOR;
        let pitch = self.cut.pitch_bytes() / VECTOR;
        let Arrays { block, workspace, .. } = self.arrays;
        let (from, to) = (self.of_stage(cells, stage).as_ptr().cast(), block.as_mut_ptr().cast());
        let argument = Block { from, pitch, to, rows: rows as u32, width: width as u32 };
        let shape = LaunchShape::line(self.kernels.others.min(rows as u32), THREADS);
        // SAFETY: the argument is the kernel's, the block is in the strip, and there is room for it.
        unsafe { self.device().launch(self.kernels.cut, &shape, arguments![argument])? };
        let launches =
            self.cut.block(rows).enqueue(&self.pool, to.cast(), self.kernels.close, workspace, parameters)?;
        self.launches += 1 + launches;
        self.turn(block, rows, rows, rows)?;
        self.product(Factors { from: cells, to: pivot, above: cells, rows, depth: rows })
    }

    /// Queues a look at whether a negative cycle was found when a pivot was made.
    pub(super) fn ask_for_cycles(&self, stage: usize) -> Result<()> {
        let device = self.device();
        device.follow(Stream::Download, &self.pivots[stage % 2].ready)?;
        let from = self.arrays.workspace.stopped.address();
        // SAFETY: both are of one word; the host reads it when `told` has passed.
        unsafe { device.download_in(Stream::Download, self.stopped.address() as *mut u8, from, size_of::<u32>())? };
        device.record_in(Stream::Download, &self.told)
    }

    /// Waits for the answer.
    pub(super) fn has_cycles(&self) -> Result<bool> {
        self.device().wait(&self.told)?;
        Ok(self.stopped.get(0) != 0)
    }

    /// Queues a look for the greatest distance among some rows.
    pub(super) fn survey(&mut self, cells: DeviceSlice<u8>, rows: u64, range: Range) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let Cut { side, vertices, .. } = self.cut;
        let cells = cells.as_ptr().cast();
        let matrix = MatrixArgument { cells, pitch: side, vertices, threshold: range.threshold };
        let argument = Survey { matrix, rows, greatest: self.arrays.greatest.as_mut_ptr() };
        let shape = LaunchShape::line(self.kernels.others.min(rows as u32), READERS);
        self.launches += 1;
        // SAFETY: the argument is the kernel's, and there are as many rows as it says.
        unsafe { self.device().launch(self.kernels.survey, &shape, arguments![argument]) }
    }

    /// The key of the greatest distance that all surveys have found.
    pub(super) fn greatest(&self) -> Result<u64> {
        Ok(self.pool.read_array::<u64, 1>(self.arrays.greatest)?[0])
    }

    /// Where the columns of a stage begin in a strip.
    fn of_stage(&self, strip: DeviceSlice<u8>, stage: usize) -> DeviceSlice<u8> {
        let start = stage as u64 * self.cut.height * self.cut.cell.bytes();
        strip.part(start, strip.length() - start)
    }

    /// Queues turning a block into columns.
    fn turn(&mut self, from: DeviceSlice<u8>, pitch: u64, rows: u64, columns: u64) -> Result<()> {
        let (from, to) = (from.as_ptr().cast(), self.arrays.columns.as_mut_ptr().cast());
        let argument = Turn { from, pitch, to, rows: rows as u32, columns: columns as u32 };
        let squares = rows / u64::from(SQUARE) * (columns / u64::from(SQUARE));
        let shape = LaunchShape::line(u64::from(self.kernels.others).min(squares) as u32, THREADS);
        self.launches += 1;
        // SAFETY: the argument is the kernel's, the block is where it says, and there is room for its columns.
        unsafe { self.device().launch(self.kernels.turn, &shape, arguments![argument]) }
    }

    /// Queues a product, of the columns and the cells above.
    fn product(&mut self, factors: Factors) -> Result<()> {
        let Factors { from, to, above, rows, depth } = factors;
        let (down, across) = self.cut.tiles_of(rows);
        let argument = Product {
            from: from.as_mut_ptr().cast(),
            to: to.as_mut_ptr().cast(),
            left: self.arrays.columns.as_ptr().cast(),
            above: above.as_ptr().cast(),
            pitch: (self.cut.pitch_bytes() / word(self.cut.cell)) as u32,
            tiles_down: down as u32,
            tiles_across: across as u32,
            depth: depth as u32,
            one: 1,
        };
        let blocks = u64::from(self.kernels.products).min(down * across) as u32;
        let shape = LaunchShape { shared_bytes: SHARED_BYTES, ..LaunchShape::line(blocks, THREADS) };
        self.launches += 1;
        // SAFETY: the argument is the kernel's; strips and columns are as large as it says, and `above` is not `to`.
        unsafe { self.device().launch(self.kernels.product, &shape, arguments![argument]) }
    }
}

/// Bytes that are moved at once.
const VECTOR: u64 = size_of::<[u32; 4]>() as u64;

kernel_header! {
    path: "apsp/strips";
    namespace: strips;
    constants {
        /// Squares with this many rows pass through shared memory, so that both sides are accessed in whole lines.
        const SQUARE: u32 = 32;
    }

    /// `to = min(from, left x above)`: one block of threads works on a tile, through the whole depth.
    struct Product<Cell> {
        /// A strip of rows.
        from: DeviceMutPtr<cpp::Word>,
        /// Likewise; it may be the same one.
        to: DeviceMutPtr<cpp::Word>,
        /// For each row of tiles, columns one after another, as many as the product is deep.
        left: DevicePtr<cpp::Word>,
        /// A strip of as many rows, which is not written to.
        above: DevicePtr<cpp::Word>,
        /// Words from row to row in all three strips; a strip has fewer than 2^32.
        pitch: u32,
        /// Of the strip.
        tiles_down: u32,
        tiles_across: u32,
        /// Vertices, a multiple of a tile's.
        depth: u32,
        one: u32,
    }

    /// A block of columns, one after another for each row of tiles, every number everywhere in a word.
    struct Turn<Cell> {
        /// The first number of the block.
        from: DevicePtr<cpp::Number>,
        /// Numbers from row to row.
        pitch: u64,
        to: DeviceMutPtr<cpp::Word>,
        /// Multiples of a tile's.
        rows: u32,
        columns: u32,
    }

    /// A block of a strip as a matrix of its own.
    struct Block {
        from: DevicePtr<[u32; 4]>,
        /// Vectors from row to row.
        pitch: u64,
        to: DeviceMutPtr<[u32; 4]>,
        rows: u32,
        /// Vectors of a row.
        width: u32,
    }
}
