//! The host's side of `kernels/apsp/tiles.cuh`: tiles in registers, all phases of many stages in one launch. The essay is in
//! [`tiled_floyd_warshall`](super::super::apsp::tiled_floyd_warshall).
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::Ended;
use crate::algorithms::{Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments};
use crate::cuda::kernel_header::{DeviceMutPtr, cpp, kernel_header};
use crate::{Control, Result};

/// How far a stage runs ahead of what needs it.
pub(in crate::cuda) const HEAD_START: Parameter = Parameter {
    name: "head-start",
    summary: "tiles worked on between the diagonal of the next stage and the tiles that need it",
    values: Values::Or(&Values::AtLeast(0.0), Unset::InWords(|| "twice as many as at once".into())),
};
/// How long a launch is.
pub(in crate::cuda) const STAGES: Parameter = Parameter {
    name: "stages",
    summary: "blocks of vertices in a launch",
    values: Values::Or(
        &Values::AtLeast(1.0),
        Unset::InWords(|| "as many as take some tens of milliseconds, or in strips all of a strip".into()),
    ),
};

kernel_header! {
    path: "apsp/tiles";
    namespace: tiles;
    constants {
        /// Threads of a block.
        pub(in crate::cuda) const THREADS: u32 = 256;
        /// So many vertices of a stage are in shared memory at a time: a slab.
        const SLAB: u32 = 16;
        /// So many slabs: one is worked on, the others are on their way.
        const SLABS_THERE: u32 = 3;
        /// Bytes of a row, or a column, of a tile.
        const ROW_BYTES: u32 = 512;
        /// Bytes of a slab, of columns and of rows.
        const SLAB_BYTES: u32 = 2 * SLAB * ROW_BYTES;
        /// Of bits: vertices of a group,
        const GROUP: u32 = 4;
        /// unions of their rows,
        const UNIONS: u32 = 1 << GROUP;
        /// and how many groups have tables at a time.
        const GROUPS: u32 = 4;
    }

    /// The argument.
    struct KernelArgument<Cell> {
        matrix: DeviceMutPtr<cpp::Word>,
        /// Those of all tile rows, for two stages.
        columns: DeviceMutPtr<cpp::Word>,
        /// Closed diagonal blocks, their columns one after another, for two stages.
        diagonal: DeviceMutPtr<cpp::Word>,
        /// Of each tile.
        stages_done: DeviceMutPtr<u32>,
        /// Of each stage.
        tasks_done: DeviceMutPtr<u32>,
        /// How many tasks of this launch have been taken.
        tickets: DeviceMutPtr<u64>,
        stopped: DeviceMutPtr<u32>,
        /// Of this launch.
        first_task: u64,
        end_task: u64,
        /// As many as stages.
        tiles_down: u32,
        tiles_across: u32,
        /// Tasks of the rest between the diagonal of the next stage and its rows and columns.
        head_start: u32,
        one: u32,
    }
}

/// Bytes of shared memory.
pub(in crate::cuda) const SHARED_BYTES: u32 = SLABS_THERE * SLAB_BYTES;
/// That for bits: the columns, one vector of each row, and the tables, twice where there is room for that.
fn shared_bytes_of_bits(capability: (u32, u32)) -> u32 {
    let tables = if capability < (8, 0) { 1 } else { 2 };
    tables * GROUPS * UNIONS * ROW_BYTES + 128 * 16
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
    /// Rows and words of a tile, for words of this many bytes.
    pub(in crate::cuda) fn side(word: u64) -> u64 {
        u64::from(ROW_BYTES) / word
    }

    /// A matrix with these numbers of rows, words of a row, and bytes of a word; the first two are multiples of a
    /// tile's.
    pub(in crate::cuda) fn new(rows: u64, words: u64, word: u64) -> Self {
        let (down, across) = (rows / Self::side(word), words / Self::side(word));
        Tiles { word, down, across, has_bits: false }
    }

    /// A matrix of bits with these numbers of rows and of 32-bit words in a row, multiples of a tile's.
    pub(in crate::cuda) fn of_bits(rows: u64, words: u64) -> Self {
        Tiles { has_bits: true, ..Tiles::new(rows, words, 4) }
    }

    fn tile_bytes(self) -> u64 {
        u64::from(ROW_BYTES) * Self::side(self.word)
    }

    /// Takes room for what the work needs beside the matrix.
    pub(in crate::cuda) fn layout(self, arena: &mut Arena<'_>) -> Workspace {
        Workspace {
            columns: arena.take("columns of two stages", 2 * self.down * self.tile_bytes()),
            diagonal: arena.take("diagonals of two stages", 2 * self.tile_bytes()),
            stages_done: arena.take("stages done of each tile", self.down * self.across),
            tasks_done: arena.take("tasks done of each stage", self.down),
            tickets: arena.take("tasks taken", 1),
            stopped: arena.take("flag", 1),
        }
    }

    /// Does the work on a matrix, which is in the pool with what it needs beside.
    pub(in crate::cuda) fn eliminate(
        self,
        pool: &Pool,
        matrix: DeviceMutPtr<cpp::Word>,
        workspace: Workspace,
        function: Function,
        parameters: &Parameters,
        control: &Control,
    ) -> Result<(Ended, Statistics)> {
        let Tiles { down, across, .. } = self;
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
            ended = Ended::by(pool, workspace.stopped)?;
            control.progress("solve", stage, down)?;
        }
        let seconds = device.seconds_between(&before, &after)?;
        let nanoseconds = ("device_nanoseconds", (seconds * 1e9) as u64);
        Ok((ended, vec![nanoseconds, ("stages", stage), ("kernel_launches", count)]))
    }

    /// Has the device do all the work, in stream order; how many launches that takes, which is one if nothing else is asked
    /// for. The matrix may be smaller than the one that the workspace was taken for.
    pub(in crate::cuda) fn enqueue(
        self,
        pool: &Pool,
        matrix: DeviceMutPtr<cpp::Word>,
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
    pub(in crate::cuda) stopped: DeviceSlice<u32>,
}

/// Launches that each go on where the one before has ended.
struct Launches {
    tiles: Tiles,
    function: Function,
    launch: LaunchShape,
    tickets: DeviceSlice<u64>,
    search: KernelArgument,
}

impl Launches {
    /// The first begins with stage 0.
    fn new(
        tiles: Tiles,
        pool: &Pool,
        matrix: DeviceMutPtr<cpp::Word>,
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
        let search = KernelArgument {
            matrix,
            columns: columns.as_mut_ptr().cast(),
            diagonal: diagonal.as_mut_ptr().cast(),
            stages_done: stages_done.as_mut_ptr(),
            tasks_done: tasks_done.as_mut_ptr(),
            tickets: tickets.as_mut_ptr(),
            stopped: stopped.as_mut_ptr(),
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
