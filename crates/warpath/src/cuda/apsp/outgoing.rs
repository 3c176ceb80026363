//! Rows that searches have left on a device, on their way to the host: packed with the columns asked for, as distances of
//! the lane that was asked for; or facts about them, where those are all that is wanted.
//!
//! What was packed is brought to the host beside the stream, while the next searches run. It stays as it is until the host
//! has the next rows packed, so there is need for one buffer only.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use bytemuck::Pod;

use super::searches::RowsOnDevice;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Argument, Device, Event, Function, LaunchShape, arguments, images};
use crate::cuda::graph::plan_array;
use crate::cuda::sssp::DeviceLane;
use crate::graph::VertexId;
use crate::plan::Plan;
use crate::{Result, memory};

/// Threads of a block.
const THREADS: u32 = 256;

/// What goes out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The lane of the searches.
    pub(crate) lane: DeviceLane,
    /// Rows of a batch, at most.
    pub(crate) rows: u64,
    /// Columns of a row.
    pub(crate) columns: u64,
    /// The vertex of each column; `None` where that is its number.
    pub(crate) targets: Option<&'a [VertexId]>,
    /// Whether distances are signed: then potentials of so many vertices change them.
    pub(crate) potentials: Option<u64>,
    /// Whether facts about rows are all that is wanted; not of floats.
    pub(crate) facts: bool,
}

/// Facts about a row, as the kernel has them.
#[repr(C)]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct RawFacts {
    /// How many vertices have a distance.
    pub(crate) reached: u64,
    /// The greatest distance; of signed ones with the top bit flipped.
    pub(crate) greatest: u64,
    low: u64,
    high: i64,
}

impl RawFacts {
    /// The sum of all distances.
    pub(crate) fn sum(&self) -> i128 {
        (i128::from(self.high) << 32) + i128::from(self.low)
    }
}

/// The kernels' argument.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Rows {
    numbers: u64,
    stride: u64,
    count: u64,
    columns: u64,
    targets: u64,
    sources: u64,
    potentials: u64,
    to: u64,
}

// SAFETY: it is laid out as in the kernels.
unsafe impl Argument for Rows {}

/// Where rows go out.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pool: Pool,
    kernel: Function,
    columns: u64,
    targets: Option<DeviceSlice<VertexId>>,
    sources: DeviceSlice<VertexId>,
    potentials: Option<DeviceSlice<i64>>,
    /// Packed rows, or facts.
    packed: DeviceSlice<u64>,
    /// When they are packed.
    done: Event,
}

impl Wanted<'_> {
    /// Bytes of a distance, as it goes out.
    fn bytes(&self) -> u64 {
        if self.potentials.is_some() { 8 } else { 4 * self.lane.words() }
    }

    /// Words of 64 bits of all that goes out at once.
    fn words(&self) -> u64 {
        const FACTS: u64 = size_of::<RawFacts>() as u64 / 8;
        if self.facts {
            return self.rows.saturating_mul(FACTS);
        }
        self.rows.saturating_mul(self.columns).saturating_mul(self.bytes()).div_ceil(8)
    }

    /// Adds what it takes.
    pub(crate) fn plan(&self, plan: &mut Plan) {
        if let Some(targets) = self.targets {
            plan_array::<VertexId>(plan, "targets", targets.len() as u64);
        }
        if let Some(vertices) = self.potentials {
            plan_array::<i64>(plan, "potentials", vertices);
        }
        plan_array::<VertexId>(plan, "sources of the rows", self.rows);
        let what = if self.facts { "facts about the rows" } else { "rows on their way" };
        plan_array::<u64>(plan, what, self.words());
    }
}

impl Outgoing {
    /// Takes what was planned.
    pub(crate) fn new(device: &Arc<dyn Device>, wanted: &Wanted<'_>, potentials: &[i64]) -> Result<Self> {
        let mut plan = Plan::new();
        wanted.plan(&mut plan);
        let mut pool = Pool::new(device, plan.device_bytes())?;
        let number = if wanted.lane.words() == 1 { "u32" } else { "u64" };
        let out = if wanted.potentials.is_some() { "i64" } else { number };
        let what = if wanted.facts { "sum_up" } else { "pack" };
        Ok(Outgoing {
            kernel: device.function(&images::APSP_SEARCH_ROWS, &format!("apsp_{what}_{number}_{out}"))?,
            columns: wanted.columns,
            targets: wanted.targets.map(|targets| pool.take_filled(targets)).transpose()?,
            potentials: wanted.potentials.map(|_| pool.take_filled(potentials)).transpose()?,
            sources: pool.take(wanted.rows)?,
            packed: pool.take(wanted.words())?,
            done: device.event()?,
            pool,
        })
    }

    /// Has the rows of these sources packed, or summed up, in stream order. What was packed before must be on the host.
    pub(crate) fn pack(&self, rows: RowsOnDevice<'_>, sources: &[VertexId]) -> Result<()> {
        let device = self.pool.device();
        if self.potentials.is_some() {
            self.pool.upload(self.sources, sources)?;
        }
        let argument = Rows {
            numbers: rows.words.address(),
            stride: rows.stride,
            count: sources.len() as u64,
            columns: self.columns,
            targets: self.targets.map_or(0, |targets| targets.address()),
            sources: self.sources.address(),
            potentials: self.potentials.map_or(0, |potentials| potentials.address()),
            to: self.packed.address(),
        };
        let most = u64::from(device.properties().multiprocessors) * 16;
        let shape = LaunchShape::line((sources.len() as u64).clamp(1, most) as u32, THREADS);
        // SAFETY: the argument is the kernel's; there are as many rows and as much room as were planned.
        unsafe { device.launch(self.kernel, &shape, arguments![argument])? };
        device.record(&self.done)
    }

    /// Brings packed rows home, from the `first` on, as many as `to` has room for, while the device goes on.
    pub(crate) fn read<D: Pod + Send>(&self, first: u64, to: &mut [D]) -> Result<()> {
        let part = self.packed.cast::<D>().part(first * self.columns, to.len() as u64);
        self.pool.device().wait(&self.done)?;
        // SAFETY: they have been packed, and the next ones are not before this returns.
        unsafe { self.pool.read_beside(part, to) }
    }

    /// Brings facts about so many rows home, while the device goes on.
    pub(crate) fn facts(&self, rows: usize) -> Result<Vec<RawFacts>> {
        let none = RawFacts { reached: 0, greatest: 0, low: 0, high: 0 };
        let mut facts = memory::filled("the facts about rows", rows, none)?;
        let part = self.packed.cast::<RawFacts>().part(0, rows as u64);
        self.pool.device().wait(&self.done)?;
        // SAFETY: as above.
        unsafe { self.pool.read_beside(part, &mut facts)? };
        Ok(facts)
    }
}
