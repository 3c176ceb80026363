//! The host's side of `kernels/apsp/tiles.cuh`: tiles in registers, all phases of many stages in one launch. The essay is in
//! [`tiled_floyd_warshall`](super::tiled_floyd_warshall).
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::Ended;
use crate::algorithms::{Parameter, Parameters, Statistics, Values};
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Argument, Device, Function, LaunchShape, arguments};
use crate::cuda::graph::plan_array;
use crate::plan::Plan;
use crate::{Control, Result};

/// How far a stage runs ahead of what needs it.
pub(in crate::cuda) const HEAD_START: Parameter = Parameter {
    name: "head-start",
    summary: "tiles worked on between the diagonal of the next stage and what needs it; twice as many as at once",
    values: Values::AtLeast(0.0),
};
/// How long a launch is.
pub(in crate::cuda) const STAGES: Parameter = Parameter {
    name: "stages",
    summary: "blocks of vertices in a launch; as many as take some tens of milliseconds, or in strips all of a strip",
    values: Values::AtLeast(1.0),
};

/// As in the kernel: threads of a block, bytes of a row of a tile, and of shared memory.
pub(super) const THREADS: u32 = 256;
const ROW_BYTES: u64 = 512;
pub(super) const SHARED_BYTES: u32 = 3 * 2 * 16 * ROW_BYTES as u32;
/// That for bits: the columns, and the tables of 4 groups of 4 rows, twice where there is room for that.
fn shared_bytes_of_bits(capability: (u32, u32)) -> u32 {
    let tables = if capability < (8, 0) { 1 } else { 2 };
    tables * 4 * 16 * ROW_BYTES as u32 + 128 * 16
}

/// Relaxations of words in a launch.
const WORK_OF_LAUNCH: u64 = 1 << 40;

/// A matrix in tiles.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) struct Tiles {
    /// Bytes of a word.
    word: u64,
    down: u64,
    across: u64,
    has_bits: bool,
}

impl Tiles {
    /// Rows and words of a tile, for words of so many bytes.
    pub(in crate::cuda) fn side(word: u64) -> u64 {
        ROW_BYTES / word
    }

    /// A matrix of so many rows of so many words of so many bytes, multiples of a tile's.
    pub(in crate::cuda) fn new(rows: u64, words: u64, word: u64) -> Self {
        let (down, across) = (rows / Self::side(word), words / Self::side(word));
        Tiles { word, down, across, has_bits: false }
    }

    /// A matrix of bits, of so many rows of so many words of 32 bits, multiples of a tile's.
    pub(in crate::cuda) fn of_bits(rows: u64, words: u64) -> Self {
        Tiles { has_bits: true, ..Tiles::new(rows, words, 4) }
    }

    fn tile_bytes(self) -> u64 {
        ROW_BYTES * Self::side(self.word)
    }

    /// Adds what the work takes beside the matrix.
    pub(in crate::cuda) fn plan(self, plan: &mut Plan) {
        plan_array::<u8>(plan, "columns of two stages", 2 * self.down * self.tile_bytes());
        plan_array::<u8>(plan, "diagonals of two stages", 2 * self.tile_bytes());
        plan_array::<u32>(plan, "stages done of each tile", self.down * self.across);
        plan_array::<u32>(plan, "tasks done of each stage", self.down);
        plan_array::<u64>(plan, "tasks taken", 1);
        plan_array::<u32>(plan, "flag", 1);
    }

    /// Takes what was planned.
    pub(in crate::cuda) fn take(self, pool: &mut Pool) -> Result<Workspace> {
        Ok(Workspace {
            columns: pool.take(2 * self.down * self.tile_bytes())?,
            diagonal: pool.take(2 * self.tile_bytes())?,
            stages_done: pool.take(self.down * self.across)?,
            tasks_done: pool.take(self.down)?,
            tickets: pool.take(1)?,
            stopped: pool.take(1)?,
        })
    }

    /// Does the work on the matrix at this address, which is in the pool; that has room for what was planned.
    pub(in crate::cuda) fn eliminate(
        self,
        pool: &mut Pool,
        matrix: u64,
        function: Function,
        parameters: &Parameters,
        control: &Control,
    ) -> Result<(Ended, Statistics)> {
        let Tiles { down, across, .. } = self;
        let workspace = self.take(pool)?;
        let device: Arc<dyn Device> = pool.device().clone();
        let of_stage = down * across * Self::side(self.word).pow(3);
        let stages = parameters.get(STAGES.name).map_or(WORK_OF_LAUNCH / of_stage, |stages| stages as u64).max(1);

        let (before, after) = (device.event()?, device.event()?);
        device.record(&before)?;
        let mut launches = Launches::new(self, pool, matrix, function, workspace, parameters)?;
        let (mut stage, mut count) = (0, 0);
        let mut ended = Ended::Complete;
        while stage < down && ended == Ended::Complete {
            stage = stage.saturating_add(stages).min(down);
            launches.up_to(pool, stage)?;
            device.record(&after)?;
            count += 1;
            if stage < down {
                ended = Ended::by(pool, workspace.stopped)?;
                control.progress("solve", stage, down)?;
            }
        }
        let seconds = device.seconds_between(&before, &after)?;
        if ended == Ended::Complete {
            ended = Ended::by(pool, workspace.stopped)?;
        }
        let nanoseconds = ("device_nanoseconds", (seconds * 1e9) as u64);
        Ok((ended, vec![nanoseconds, ("stages", stage), ("kernel_launches", count)]))
    }

    /// Has the device do all the work, in stream order; how many launches that takes, which is one if nothing else is asked
    /// for. The matrix may be smaller than the one that the workspace was taken for.
    pub(super) fn enqueue(
        self,
        pool: &Pool,
        matrix: u64,
        function: Function,
        workspace: Workspace,
        parameters: &Parameters,
    ) -> Result<u64> {
        let stages = parameters.get(STAGES.name).map_or(self.down, |stages| stages as u64).max(1);
        let mut launches = Launches::new(self, pool, matrix, function, workspace, parameters)?;
        let (mut stage, mut count) = (0, 0);
        while stage < self.down {
            stage = stage.saturating_add(stages).min(self.down);
            launches.up_to(pool, stage)?;
            count += 1;
        }
        Ok(count)
    }
}

/// What the work takes beside the matrix.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) struct Workspace {
    columns: DeviceSlice<u8>,
    diagonal: DeviceSlice<u8>,
    stages_done: DeviceSlice<u32>,
    tasks_done: DeviceSlice<u32>,
    tickets: DeviceSlice<u64>,
    /// 1 where the search has stopped before its end.
    pub(super) stopped: DeviceSlice<u32>,
}

/// Launches that each go on where the one before has ended.
struct Launches {
    tiles: Tiles,
    function: Function,
    launch: LaunchShape,
    tickets: DeviceSlice<u64>,
    search: Search,
}

impl Launches {
    /// The first begins with stage 0.
    fn new(
        tiles: Tiles,
        pool: &Pool,
        matrix: u64,
        function: Function,
        workspace: Workspace,
        parameters: &Parameters,
    ) -> Result<Self> {
        let Tiles { down, across, .. } = tiles;
        let Workspace { columns, diagonal, stages_done, tasks_done, tickets, stopped } = workspace;
        let device = pool.device();
        let capability = device.properties().compute_capability;
        let shared_bytes = if tiles.has_bits { shared_bytes_of_bits(capability) } else { SHARED_BYTES };
        let at_once = device.blocks_at_once(function, THREADS, shared_bytes)?;
        // Where there are few tiles they wait for each other most of the time: a block that has a multiprocessor to
        // itself is done sooner.
        let few = down * across < 2 * u64::from(at_once);
        let at_once = if few { at_once.min(device.properties().multiprocessors) } else { at_once };
        let blocks = u64::from(at_once).min(down * across) as u32;
        let head_start = parameters.get(HEAD_START.name).unwrap_or(2.0 * f64::from(blocks));
        pool.fill(stages_done, 0)?;
        pool.fill(tasks_done, 0)?;
        pool.fill(stopped, 0)?;
        let search = Search {
            matrix,
            columns: columns.address(),
            diagonal: diagonal.address(),
            stages_done: stages_done.address(),
            tasks_done: tasks_done.address(),
            tickets: tickets.address(),
            stopped: stopped.address(),
            first_task: 0,
            end_task: 0,
            tiles_down: down as u32,
            tiles_across: across as u32,
            head_start: head_start as u32,
            one: 1,
        };
        let launch = LaunchShape { shared_bytes, ..LaunchShape::line(blocks, THREADS) };
        Ok(Launches { tiles, function, launch, tickets, search })
    }

    /// Launches all stages up to this one that have not been launched.
    fn up_to(&mut self, pool: &Pool, stage: u64) -> Result<()> {
        let Tiles { down, across, .. } = self.tiles;
        // The panels of the first stage, then for each stage as many tasks as tiles: its rest, and the next one's panels.
        let panels = down + across - 1;
        let end = if stage == down { down * down * across } else { panels + stage * down * across };
        self.search.first_task = std::mem::replace(&mut self.search.end_task, end);
        pool.fill(self.tickets, 0)?;
        let search = self.search;
        // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
        unsafe { pool.device().launch(self.function, &self.launch, arguments![search]) }
    }
}

/// The kernel's argument.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Search {
    matrix: u64,
    columns: u64,
    diagonal: u64,
    stages_done: u64,
    tasks_done: u64,
    tickets: u64,
    stopped: u64,
    first_task: u64,
    end_task: u64,
    tiles_down: u32,
    tiles_across: u32,
    head_start: u32,
    one: u32,
}

// SAFETY: it is laid out as in the kernels.
unsafe impl Argument for Search {}
