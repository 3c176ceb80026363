//! Rows that searches have left on a device, on their way to the host: packed with the columns asked for, as distances of
//! the semiring that was asked for; or facts about them, where those are all that is wanted.
//!
//! Packed rows are copied to the host beside the stream, while the next searches run. It stays as it is until the host
//! has the next rows packed, so there is need for one buffer only.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use bytemuck::Pod;

use super::rows::RowsOnDevice;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Event, Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::VertexId;
use crate::plan::Plan;
use crate::{Result, memory};

/// Threads of a block.
const THREADS: u32 = 256;

/// What goes out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The semiring of the searches.
    pub(crate) semiring: DeviceSemiring,
    /// Rows of a batch, at most.
    pub(crate) rows: u64,
    /// Columns of a row.
    pub(crate) columns: u64,
    /// The vertex of each column; `None` where that is its number.
    pub(crate) targets: Option<&'a [VertexId]>,
    /// Whether distances are signed: then potentials of this many vertices change them.
    pub(crate) potentials: Option<u64>,
    /// Whether facts about rows are all that is wanted; not of floats.
    pub(crate) facts: bool,
}

kernel_header! {
    path: "apsp/search_rows";
    namespace: apsp_search_rows;

    /// What there is to say of a row.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(crate) struct RawFacts {
        /// How many vertices have a distance.
        pub(crate) reached: u64,
        /// The greatest distance; of signed ones with the top bit flipped; 0 if nothing was reached.
        pub(crate) greatest: u64,
        /// The sum is low + high * 2^32: of the lower halves of the distances,
        low: u64,
        /// and of the upper ones, which may be below zero.
        high: u64,
    }

    /// Rows of numbers; the greatest of their type stands for no distance.
    struct Rows {
        numbers: DevicePtr<cpp::Void>,
        /// From row to row.
        stride: u64,
        count: u64,
        columns: u64,
        /// The vertex of each column; null where that is its number.
        targets: DevicePtr<VertexId>,
        /// The vertex of each row.
        sources: DevicePtr<VertexId>,
        /// Of each vertex; distances are those of weights that these have changed.
        potentials: DevicePtr<i64>,
        to: DeviceMutPtr<cpp::Void>,
    }
}

impl RawFacts {
    /// The sum of all distances.
    pub(crate) fn sum(&self) -> i128 {
        (i128::from(self.high as i64) << 32) + i128::from(self.low)
    }
}

/// The arrays of what goes out.
#[derive(Debug, Clone, Copy)]
struct Arrays {
    targets: Option<DeviceSlice<VertexId>>,
    potentials: Option<DeviceSlice<i64>>,
    sources: DeviceSlice<VertexId>,
    /// Packed rows, or facts.
    packed: DeviceSlice<u64>,
}

/// Where rows go out.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pool: Pool,
    kernel: Function,
    columns: u64,
    arrays: Arrays,
    /// When they are packed.
    done: Event,
}

impl Wanted<'_> {
    /// Bytes of a distance, as it goes out.
    fn bytes(&self) -> u64 {
        if self.potentials.is_some() { 8 } else { 4 * self.semiring.words() }
    }

    /// Words of 64 bits of all that goes out at once.
    fn words(&self) -> u64 {
        const FACTS: u64 = size_of::<RawFacts>() as u64 / 8;
        if self.facts {
            return self.rows.saturating_mul(FACTS);
        }
        self.rows.saturating_mul(self.columns).saturating_mul(self.bytes()).div_ceil(8)
    }

    fn layout(&self, arena: &mut Arena<'_>) -> Arrays {
        Arrays {
            targets: self.targets.map(|targets| arena.take("targets", targets.len() as u64)),
            potentials: self.potentials.map(|vertices| arena.take("potentials", vertices)),
            sources: arena.take("sources of the rows", self.rows),
            packed: {
                let what = if self.facts { "facts about the rows" } else { "rows on their way" };
                arena.take(what, self.words())
            },
        }
    }

    /// Adds what it takes.
    pub(crate) fn plan(&self, plan: &mut Plan) {
        self.layout(&mut Arena::counting(plan));
    }
}

impl Outgoing {
    /// Allocates the planned memory.
    pub(crate) fn new(device: &Arc<dyn Device>, wanted: &Wanted<'_>, potentials: &[i64]) -> Result<Self> {
        let (pool, arrays) = Pool::lay_out(device, |arena| wanted.layout(arena))?;
        if let (Some(to), Some(targets)) = (arrays.targets, wanted.targets) {
            pool.upload(to, targets)?;
        }
        if let Some(to) = arrays.potentials {
            pool.upload(to, potentials)?;
        }
        let number = if wanted.semiring.words() == 1 { "u32" } else { "u64" };
        let out = if wanted.potentials.is_some() { "i64" } else { number };
        let what = if wanted.facts { "sum_up" } else { "pack" };
        Ok(Outgoing {
            kernel: device.function(&images::APSP_SEARCH_ROWS, &format!("apsp_{what}_{number}_{out}"))?,
            columns: wanted.columns,
            arrays,
            done: device.event()?,
            pool,
        })
    }

    /// Has the rows of these sources packed, or summed up, in stream order. Rows packed before must be on the host.
    pub(crate) fn pack(&self, rows: RowsOnDevice<'_>, sources: &[VertexId]) -> Result<()> {
        let device = self.pool.device();
        let Arrays { targets, potentials, sources: of_rows, packed } = self.arrays;
        if potentials.is_some() {
            self.pool.upload(of_rows, sources)?;
        }
        let argument = Rows {
            numbers: rows.words.as_ptr().cast(),
            stride: rows.stride,
            count: sources.len() as u64,
            columns: self.columns,
            targets: targets.map_or(DevicePtr::NULL, |targets| targets.as_ptr()),
            sources: of_rows.as_ptr(),
            potentials: potentials.map_or(DevicePtr::NULL, |potentials| potentials.as_ptr()),
            to: packed.as_mut_ptr().cast(),
        };
        let most = u64::from(device.properties().multiprocessors) * 16;
        let shape = LaunchShape::line((sources.len() as u64).clamp(1, most) as u32, THREADS);
        // SAFETY: the argument is the kernel's; there are as many rows and as much room as were planned.
        unsafe { device.launch(self.kernel, &shape, arguments![argument])? };
        device.record(&self.done)
    }

    /// Brings packed rows home, from the `first` on, as many as `to` has room for, while the device goes on.
    pub(crate) fn read<D: Pod + Send>(&self, first: u64, to: &mut [D]) -> Result<()> {
        let part = self.arrays.packed.cast::<D>().part(first * self.columns, to.len() as u64);
        self.pool.device().wait(&self.done)?;
        // SAFETY: they have been packed, and the next ones are not before this returns.
        unsafe { self.pool.read_beside(part, to) }
    }

    /// Copies packed rows, from the first on, to an array of the same device, in stream order.
    pub(crate) fn copy(&self, pool: &Pool, to: DeviceSlice<u32>) -> Result<()> {
        pool.copy_from(to, &self.pool, self.arrays.packed.cast::<u32>().part(0, to.length()))
    }

    /// Copies the facts about this many rows to the host, while the device goes on.
    pub(crate) fn facts(&self, rows: usize) -> Result<Vec<RawFacts>> {
        let none = RawFacts { reached: 0, greatest: 0, low: 0, high: 0 };
        let mut facts = memory::filled("the facts about rows", rows, none)?;
        let part = self.arrays.packed.cast::<RawFacts>().part(0, rows as u64);
        self.pool.device().wait(&self.done)?;
        // SAFETY: as above.
        unsafe { self.pool.read_beside(part, &mut facts)? };
        Ok(facts)
    }
}
