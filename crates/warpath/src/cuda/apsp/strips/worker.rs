//! One device of those that work on strips: its memory, its kernels, its queues.
//!
//! *Invariants.* A kernel gets the argument that it declares; blocks are within their strips, and the slots have room
//! for what is written. What is copied to the host is read after its event has passed.

use std::sync::Arc;

use super::super::matrix::{MatrixArgument, Range, Survey, THREADS as READERS};
use super::super::tiles::{SHARED_BYTES, THREADS, Workspace};
use super::super::{Cell, DenseTask};
use super::cut::{Cut, word};
use crate::Result;
use crate::algorithms::Parameters;
use crate::cuda::device::memory::{DeviceSlice, Pinned, Pool};
use crate::cuda::device::{Argument, Device, Event, Function, LaunchShape, Stream, arguments, images};

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
    block: DeviceSlice<u8>,
    columns: DeviceSlice<u8>,
    greatest: DeviceSlice<u64>,
    workspace: Workspace,
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

/// Room for a strip.
#[derive(Debug)]
pub(super) struct Slot {
    pub(super) cells: DeviceSlice<u8>,
    /// It has come.
    pub(super) came: Event,
    /// Nothing has to be done with it any more.
    pub(super) done: Event,
    /// Another may come.
    pub(super) free: Event,
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
    from: u64,
    to: u64,
    above: u64,
    rows: u64,
    depth: u64,
}

impl Worker {
    /// Takes all that was planned.
    pub(super) fn new(device: &Arc<dyn Device>, cut: Cut, task: &DenseTask<'_>, bytes: u64) -> Result<Self> {
        let mut pool = Pool::new(device, bytes)?;
        let slot = |pool: &mut Pool| {
            let cells = pool.take(cut.bytes(cut.height))?;
            Ok(Slot { cells, came: device.event()?, done: device.event()?, free: device.event()? })
        };
        let pivot = |pool: &mut Pool| {
            let cells = pool.take(cut.bytes(cut.height))?;
            Ok::<_, crate::Error>(Pivot { cells, ready: device.event()?, kept: device.event()?, sent: device.event()? })
        };
        let slots = (0..cut.slots()).map(|_| slot(&mut pool)).collect::<Result<_>>()?;
        let pivots = [pivot(&mut pool)?, pivot(&mut pool)?];
        let block = pool.take(cut.height * cut.height * cut.cell.bytes())?;
        let columns = pool.take(cut.height * cut.height * word(cut.cell))?;
        let greatest = pool.take(1)?;
        let workspace = cut.block(cut.height).take(&mut pool)?;
        pool.fill(greatest, 0)?;
        Ok(Worker {
            cut,
            kernels: Kernels::of(&**device, cut.cell, task.graph.has_negative_weights())?,
            slots,
            pivots,
            block,
            columns,
            greatest,
            workspace,
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
        let (cells, above) = (self.slots[slot].cells.address(), self.pivots[stage % 2].cells.address());
        self.turn(self.of_stage(cells, stage), self.cut.side, rows, depth)?;
        self.product(Factors { from: cells, to: cells, above, rows, depth })?;
        self.device().record(&self.recent[self.queued % AHEAD])?;
        self.queued += 1;
        Ok(())
    }

    /// Queues what becomes of the strip in a slot as the pivot of a stage, by paths through its own vertices.
    pub(super) fn make_pivot(&mut self, slot: usize, stage: usize, parameters: &Parameters) -> Result<()> {
        let rows = self.cut.rows(stage);
        let (cells, pivot) = (self.slots[slot].cells.address(), self.pivots[stage % 2].cells.address());
        let width = rows * self.cut.cell.bytes() / VECTOR;
        let pitch = self.cut.pitch_bytes() / VECTOR;
        let (from, to) = (self.of_stage(cells, stage), self.block.address());
        let argument = CutArgument { from, pitch, to, rows: rows as u32, width: width as u32 };
        let shape = LaunchShape::line(self.kernels.others.min(rows as u32), THREADS);
        // SAFETY: the argument is the kernel's, the block is in the strip, and there is room for it.
        unsafe { self.device().launch(self.kernels.cut, &shape, arguments![argument])? };
        let launches = self.cut.block(rows).enqueue(&self.pool, to, self.kernels.close, self.workspace, parameters)?;
        self.launches += 1 + launches;
        self.turn(to, rows, rows, rows)?;
        self.product(Factors { from: cells, to: pivot, above: cells, rows, depth: rows })
    }

    /// Queues a look at whether a negative cycle was found when a pivot was made.
    pub(super) fn ask_for_cycles(&self, stage: usize) -> Result<()> {
        let device = self.device();
        device.follow(Stream::Back, &self.pivots[stage % 2].ready)?;
        let from = self.workspace.stopped.address();
        // SAFETY: both are of one word; the host reads it when `told` has passed.
        unsafe { device.download_in(Stream::Back, self.stopped.address() as *mut u8, from, size_of::<u32>())? };
        device.record_in(Stream::Back, &self.told)
    }

    /// Waits for the answer.
    pub(super) fn has_cycles(&self) -> Result<bool> {
        self.device().wait(&self.told)?;
        Ok(self.stopped.get(0) != 0)
    }

    /// Queues a look for the greatest distance among some rows.
    pub(super) fn survey(&mut self, cells: u64, rows: u64, range: Range) -> Result<()> {
        if rows == 0 {
            return Ok(());
        }
        let Cut { side, vertices, .. } = self.cut;
        let matrix = MatrixArgument { cells, pitch: side, vertices, threshold: range.threshold };
        let argument = Survey { matrix, rows, greatest: self.greatest.address() };
        let shape = LaunchShape::line(self.kernels.others.min(rows as u32), READERS);
        self.launches += 1;
        // SAFETY: the argument is the kernel's, and there are as many rows as it says.
        unsafe { self.device().launch(self.kernels.survey, &shape, arguments![argument]) }
    }

    /// The key of the greatest distance that all surveys have found.
    pub(super) fn greatest(&self) -> Result<u64> {
        Ok(self.pool.read_array::<u64, 1>(self.greatest)?[0])
    }

    /// Where the columns of a stage begin in a strip.
    fn of_stage(&self, strip: u64, stage: usize) -> u64 {
        strip + stage as u64 * self.cut.height * self.cut.cell.bytes()
    }

    /// Queues turning a block into columns.
    fn turn(&mut self, from: u64, pitch: u64, rows: u64, columns: u64) -> Result<()> {
        let argument = Turn { from, pitch, to: self.columns.address(), rows: rows as u32, columns: columns as u32 };
        let squares = rows / SQUARE * (columns / SQUARE);
        let shape = LaunchShape::line(u64::from(self.kernels.others).min(squares) as u32, THREADS);
        self.launches += 1;
        // SAFETY: the argument is the kernel's, the block is where it says, and there is room for its columns.
        unsafe { self.device().launch(self.kernels.turn, &shape, arguments![argument]) }
    }

    /// Queues a product, of the columns and what is above.
    fn product(&mut self, factors: Factors) -> Result<()> {
        let Factors { from, to, above, rows, depth } = factors;
        let (down, across) = self.cut.tiles_of(rows);
        let argument = Product {
            from,
            to,
            left: self.columns.address(),
            above,
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

/// As in the kernels: rows of the squares that are turned, and bytes that are moved at once.
const SQUARE: u64 = 32;
const VECTOR: u64 = 16;

#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Product {
    from: u64,
    to: u64,
    left: u64,
    above: u64,
    pitch: u32,
    tiles_down: u32,
    tiles_across: u32,
    depth: u32,
    one: u32,
}
// SAFETY: it is laid out as in the kernels.
unsafe impl Argument for Product {}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Turn {
    from: u64,
    pitch: u64,
    to: u64,
    rows: u32,
    columns: u32,
}
// SAFETY: it is laid out as in the kernels.
unsafe impl Argument for Turn {}

#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct CutArgument {
    from: u64,
    pitch: u64,
    to: u64,
    rows: u32,
    width: u32,
}
// SAFETY: it is laid out as in the kernels.
unsafe impl Argument for CutArgument {}
