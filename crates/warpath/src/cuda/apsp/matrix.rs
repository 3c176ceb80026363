//! A matrix of distances on a device: made from the arcs of a graph, worked on by an algorithm, read by rows.
//!
//! It is row-major, with rows and columns beyond the vertices as the algorithm wants them, which have no arcs. Rows are
//! made by several threads of the host in the pinned pieces that they are sent from, and come back through a buffer on
//! the device, in which they have the type of the semiring and no gaps.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use bytemuck::Pod;

use super::successors::{Distances, Room};
use super::{Cell, DenseTask, MatrixAlgorithm, MinPlusOnDevice};
use crate::algorithms::Statistics;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use crate::cuda::matrix::tiles::Workspace;
use crate::graph::{Graph, VertexId, Weight, with_weights};
use crate::instructions::with_widest_instructions;
use crate::{Error, Result, parallel};

/// How many bytes the buffer has that rows come back through, unless one row is more.
const BUFFER_BYTES: u64 = 32 << 20;

/// Threads of a block that reads the matrix.
pub(super) const THREADS: u32 = 256;

/// A matrix of distances on a device.
#[derive(Debug)]
pub(crate) struct Matrix {
    pub(super) pool: Pool,
    pub(super) arrays: Arrays,
    /// What the cells are.
    pub(super) cell: Cell,
    /// Rows, with those beyond the vertices.
    pub(super) rows: u64,
    /// Cells in a row, with those beyond the vertices.
    pub(super) pitch: u64,
    pub(super) vertices: u64,
    pub(super) range: Range,
    /// What turns cells into distances.
    to_rows: String,
    unreachable: u64,
}

/// The arrays of a matrix, and of the work on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Arrays {
    /// The cells.
    pub(super) cells: DeviceSlice<u8>,
    buffer: DeviceSlice<u8>,
    /// One value for the survey.
    greatest: DeviceSlice<u64>,
    /// What successors are derived from, if they are wanted.
    pub(super) room: Option<Room>,
    pub(super) work: Work,
}

/// What algorithms take beside the matrix.
#[derive(Debug, Clone, Copy)]
pub(in crate::cuda) enum Work {
    /// A flag that says why they have stopped before their end.
    Flag(DeviceSlice<u32>),
    /// What tiles need.
    Tiles(Workspace),
    /// Cells of two values, and a flag.
    Pairs(DeviceSlice<u8>, DeviceSlice<u32>),
}

impl Work {
    /// A flag.
    pub(super) fn flag(arena: &mut Arena<'_>) -> Self {
        Work::Flag(arena.take("flag", 1))
    }

    /// 1 where the work has stopped before its end.
    pub(super) fn stopped(&self) -> DeviceSlice<u32> {
        match self {
            Work::Flag(stopped) | Work::Pairs(_, stopped) => *stopped,
            Work::Tiles(workspace) => workspace.stopped,
        }
    }
}

/// What has to be known of the weights to judge a result: see [`super`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Range {
    /// Integers from here on are no distances; 0 for floats.
    pub(super) threshold: i64,
    /// The greatest weight, at least 0.
    heaviest: f64,
}

impl Range {
    /// Of the arcs that take part; `None` if the cells are too narrow from the start.
    pub(super) fn of(task: &DenseTask<'_>, cell: Cell) -> Option<Self> {
        let heaviest = task.graph.weight_range().1.max(0.0);
        if cell.is_float() {
            return Some(Range { threshold: 0, heaviest });
        }
        let below_zero = if task.graph.has_negative_weights() {
            with_weights!(task.graph.weights(), w => below_zero(task, w))
        } else {
            0
        };
        let threshold = i128::from(cell.infinity()) - below_zero;
        (threshold > 0 && heaviest < threshold as f64).then_some(Range { threshold: threshold as i64, heaviest })
    }

    /// Whether cells were wide enough, if this is the key that a survey has found: see [`super`].
    pub(super) fn has_room(self, cell: Cell, key: u64) -> bool {
        let Range { threshold, heaviest } = self;
        match cell {
            // Both terms are exact: distances are below 2^62, weights below 2^32.
            _ if !cell.is_float() => i128::from((key ^ (1 << 63)) as i64) + (heaviest as i128) < i128::from(threshold),
            Cell::F32 => (float_of(key) as f32 + heaviest as f32).is_finite(),
            _ => (float_of(key) + heaviest).is_finite(),
        }
    }
}

/// The sum over all rows of what their least weights are below 0.
fn below_zero<W: Weight>(task: &DenseTask<'_>, weights: &[W]) -> i128 {
    let csr = task.graph.csr();
    let of_row = |u: VertexId| {
        let least = weights[csr.row(u)].iter().fold(0.0, |least, weight| f64::min(least, weight.to_f64()));
        -(least as i128)
    };
    let takes_part = |u: &VertexId| task.takes_part.is_none_or(|takes_part| takes_part[*u as usize]);
    const AT_ONCE: usize = 1024;
    let vertices = task.graph.vertices();
    let of_some = |some: usize| -> i128 {
        let some = some * AT_ONCE..vertices.min((some + 1) * AT_ONCE);
        some.map(|u| u as VertexId).filter(takes_part).map(of_row).sum()
    };
    parallel::collect(vertices.div_ceil(AT_ONCE), of_some).into_iter().sum()
}

/// A number that is a cell.
pub(super) trait Number: Pod + PartialOrd + Send + Sync {
    /// No path.
    const INFINITY: Self;
    /// The length of an arc: exact, or infinity.
    fn of(weight: f64) -> Self;
    /// The distance that it is; `None` if it is none.
    fn distance<L: MinPlusOnDevice>(self, threshold: i64) -> Option<L::Distance>;
    /// What a survey compares, as `key_of` of the kernels has it; 0 if it is no distance.
    fn key(self, threshold: i64) -> u64;
}
macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const INFINITY: Self = <$type>::MAX / 2;
            fn of(weight: f64) -> Self {
                // Casts saturate.
                (weight as $type).min(Self::INFINITY)
            }
            fn distance<L: MinPlusOnDevice>(self, threshold: i64) -> Option<L::Distance> {
                (i64::from(self) < threshold).then(|| L::of_integer(self.into()))
            }
            fn key(self, threshold: i64) -> u64 {
                let number = i64::from(self);
                if number < threshold { number as u64 ^ (1 << 63) } else { 0 }
            }
        }
    )*};
}
integer!(u16, u32, i32, i64);
macro_rules! float {
    ($($type:ty),*) => {$(
        impl Number for $type {
            const INFINITY: Self = <$type>::INFINITY;
            fn of(weight: f64) -> Self {
                weight as $type
            }
            fn distance<L: MinPlusOnDevice>(self, _: i64) -> Option<L::Distance> {
                (self < Self::INFINITY).then(|| L::of_float(self.into()))
            }
            fn key(self, _: i64) -> u64 {
                let bits = f64::from(self).to_bits();
                match self {
                    _ if self == Self::INFINITY => 0,
                    // Below all numbers: a distance that has left its range.
                    _ if self == -Self::INFINITY => u64::MAX,
                    _ if bits >> 63 != 0 => !bits,
                    _ => bits ^ (1 << 63),
                }
            }
        }
    )*};
}
float!(f32, f64);

/// Runs an expression with `$number` as the type of a matrix's cells.
macro_rules! with_number {
    ($cell:expr, $number:ident => $body:expr) => {
        match $cell {
            Cell::U16 => {
                type $number = u16;
                $body
            }
            Cell::U32 => {
                type $number = u32;
                $body
            }
            Cell::I32 => {
                type $number = i32;
                $body
            }
            Cell::I64 => {
                type $number = i64;
                $body
            }
            Cell::F32 => {
                type $number = f32;
                $body
            }
            Cell::F64 => {
                type $number = f64;
                $body
            }
        }
    };
}

pub(super) use with_number;

kernel_header! {
    path: "apsp/matrix";
    namespace: apsp_matrix;

    /// A matrix, of which the first rows and columns are those of vertices.
    pub(super) struct MatrixArgument {
        pub(super) cells: DevicePtr<cpp::Void>,
        /// Cells from row to row.
        pub(super) pitch: u64,
        pub(super) vertices: u64,
        /// Integers from here on are no distances.
        pub(super) threshold: i64,
    }

    /// The argument of the kernels that look for the greatest distance.
    pub(super) struct Survey {
        pub(super) matrix: MatrixArgument,
        /// So many of its rows are surveyed.
        pub(super) rows: u64,
        /// As `key_of` has it.
        pub(super) greatest: DeviceMutPtr<u64>,
    }

    /// The argument of the kernels that make rows.
    struct Rows {
        matrix: MatrixArgument,
        first: u64,
        count: u64,
        /// The bits of what stands for no distance.
        unreachable: u64,
        to: DeviceMutPtr<cpp::Void>,
    }
}

/// Rows and cells of a row, for this many vertices.
pub(super) fn sides(vertices: u64, (rows, columns): (u64, u64)) -> (u64, u64) {
    (vertices.max(1).next_multiple_of(rows), vertices.max(1).next_multiple_of(columns))
}

/// The bits of a distance.
fn bits_of(distance: impl bytemuck::Pod) -> u64 {
    let mut bytes = [0; 8];
    bytes[..size_of_val(&distance)].copy_from_slice(bytemuck::bytes_of(&distance));
    u64::from_le_bytes(bytes)
}

fn buffer_bytes<L: MinPlusOnDevice>(vertices: u64) -> u64 {
    let row = vertices.saturating_mul(size_of::<L::Distance>() as u64);
    BUFFER_BYTES.min(row.saturating_mul(vertices)).max(row)
}

impl Matrix {
    /// Takes room for a matrix of such cells, for the successors of this many sources, and for the work of an
    /// algorithm.
    pub(super) fn layout<L: MinPlusOnDevice>(
        arena: &mut Arena<'_>,
        algorithm: &MatrixAlgorithm,
        cell: Cell,
        vertices: u64,
        successors_of: Option<u64>,
    ) -> Arrays {
        let (rows, pitch) = sides(vertices, (algorithm.multiples)(cell));
        let bytes = rows.saturating_mul(pitch).saturating_mul(cell.bytes());
        let successors_of = successors_of.filter(|_| !cell.is_float());
        Arrays {
            cells: arena.take("matrix", bytes),
            buffer: arena.take("rows on their way", buffer_bytes::<L>(vertices)),
            greatest: arena.take("the greatest distance", 1),
            room: successors_of.map(|sources| Room::layout(arena, cell, vertices, bytes, sources)),
            work: (algorithm.layout)(cell, vertices, arena),
        }
    }

    /// Takes room for the work of an algorithm, and fills the matrix with the weights of arcs.
    pub(super) fn upload<L: MinPlusOnDevice>(
        device: &Arc<dyn Device>,
        task: &DenseTask<'_>,
        cell: Cell,
        range: Range,
        algorithm: &MatrixAlgorithm,
    ) -> Result<Self> {
        let vertices = task.graph.vertices() as u64;
        let (rows, pitch) = sides(vertices, (algorithm.multiples)(cell));
        let sources = task.successors_of.map(|sources| sources.len() as u64);
        let layout = |arena: &mut Arena<'_>| Self::layout::<L>(arena, algorithm, cell, vertices, sources);
        let (pool, arrays) = Pool::lay_out(device, layout)?;
        if let (Some(room), Some(sources)) = (&arrays.room, task.successors_of) {
            pool.upload(room.sources, sources)?;
        }
        let matrix = Matrix {
            pool,
            arrays,
            cell,
            rows,
            pitch,
            vertices,
            range,
            to_rows: format!("apsp_matrix_rows_{}_{}", cell.name(), L::NAME.rsplit('>').next().unwrap_or_default()),
            unreachable: bits_of(<L::Distance as crate::graph::DistanceValue>::UNREACHABLE),
        };
        match cell {
            Cell::U16 => matrix.fill::<u16>(task)?,
            Cell::U32 => matrix.fill::<u32>(task)?,
            Cell::I32 => matrix.fill::<i32>(task)?,
            Cell::I64 => matrix.fill::<i64>(task)?,
            Cell::F32 => matrix.fill::<f32>(task)?,
            Cell::F64 => matrix.fill::<f64>(task)?,
        }
        if let Some(room) = &arrays.room {
            matrix.pool.copy(room.weights, arrays.cells)?;
        }
        device.synchronize()?;
        Ok(matrix)
    }

    fn fill<T: Number>(&self, task: &DenseTask<'_>) -> Result<()> {
        let pitch = self.pitch as usize;
        let count = self.rows as usize * pitch;
        self.pool
            .upload_with(self.arrays.cells.cast::<T>(), count, |range, piece| write_cells(task, pitch, range, piece))
    }

    /// What the device's memory is.
    pub(super) fn device(&self) -> &Arc<dyn Device> {
        self.pool.device()
    }

    fn argument(&self) -> MatrixArgument {
        let Matrix { arrays, pitch, vertices, range, .. } = self;
        MatrixArgument {
            cells: arrays.cells.as_ptr().cast(),
            pitch: *pitch,
            vertices: *vertices,
            threshold: range.threshold,
        }
    }

    /// Blocks for this many rows.
    fn shape(&self, rows: u64) -> LaunchShape {
        let most = u64::from(self.device().properties().multiprocessors) * 16;
        LaunchShape::line(rows.clamp(1, most) as u32, THREADS)
    }

    /// Whether the cells were wide enough: see [`super`].
    pub(super) fn is_in_range(&self) -> Result<bool> {
        let device = self.device();
        let function = device.function(&images::APSP_MATRIX, &format!("apsp_matrix_survey_{}", self.cell.name()))?;
        let greatest = self.arrays.greatest;
        self.pool.fill(greatest, 0)?;
        let argument = Survey { matrix: self.argument(), rows: self.vertices, greatest: greatest.as_mut_ptr() };
        // SAFETY: the argument is the kernel's, and the matrix has as many cells as it says.
        unsafe { device.launch(function, &self.shape(self.vertices), arguments![argument])? };
        let [key] = self.pool.read_array::<u64, 1>(greatest)?;
        Ok(self.range.has_room(self.cell, key))
    }

    /// Rows from `first` on, as many as `to` has room for, as distances of the semiring that the matrix was made for.
    pub(crate) fn read_rows<D: Pod + Send>(&self, first: u64, to: &mut [D]) -> Result<()> {
        if to.is_empty() {
            return Ok(());
        }
        let device = self.device();
        let function = device.function(&images::APSP_MATRIX, &self.to_rows)?;
        let (row, buffer) = (self.vertices as usize, self.arrays.buffer);
        let at_once = (buffer.length() / (row * size_of::<D>()) as u64) as usize;
        let mut first = first;
        for rows in to.chunks_mut(at_once * row) {
            let count = (rows.len() / row) as u64;
            if first + count > self.vertices {
                return Err(Error::invalid("rows beyond the end of a matrix"));
            }
            let (unreachable, to) = (self.unreachable, buffer.as_mut_ptr().cast());
            let argument = Rows { matrix: self.argument(), first, count, unreachable, to };
            // SAFETY: the argument is the kernel's, and the buffer has room for that many rows.
            unsafe { device.launch(function, &self.shape(count), arguments![argument])? };
            self.pool.read_into(buffer.cast::<D>().part(0, rows.len() as u64), rows)?;
            first += count;
        }
        Ok(())
    }
}

impl Matrix {
    /// Derives the successors, if they are wanted and there is room for them, from the distances that the matrix has now.
    pub(super) fn derive_successors(&self, task: &DenseTask<'_>) -> Result<Statistics> {
        let Matrix { pool, arrays, cell, pitch, vertices, range, .. } = self;
        let Some(room) = &arrays.room else { return Ok(Vec::new()) };
        let (cells, threshold) = (arrays.cells, range.threshold);
        room.derive(&Distances { pool, cells, cell: *cell, pitch: *pitch, vertices: *vertices, threshold }, task)
    }

    /// The successors, row by row, as many as `to` has; false if they are not derived here.
    pub(crate) fn read_successors(&self, to: &mut [VertexId]) -> Result<bool> {
        match &self.arrays.room {
            Some(room) if !to.is_empty() => self.pool.read_into(room.successors, to).map(|()| true),
            _ => Ok(false),
        }
    }
}

/// The double that a key stands for, at least 0.
fn float_of(key: u64) -> f64 {
    if key >> 63 != 0 { f64::from_bits(key ^ (1 << 63)) } else { 0.0 }
}

/// Writes the lengths of arcs to a piece of a matrix, which has these of its cells.
pub(super) fn write_cells<T: Number>(
    task: &DenseTask<'_>,
    pitch: usize,
    range: std::ops::Range<usize>,
    piece: &mut [T],
) {
    piece.fill(T::INFINITY);
    for row in range.start / pitch..range.end.div_ceil(pitch) {
        // The part of the row that is in the piece.
        let (start, end) = ((row * pitch).max(range.start), ((row + 1) * pitch).min(range.end));
        let part = &mut piece[start - range.start..end - range.start];
        write_row(task, row, start - row * pitch, part);
    }
}

/// Writes the arcs of a row to the part of it that begins at a column, and that has no paths yet.
pub(super) fn write_row<T: Number>(task: &DenseTask<'_>, row: usize, first: usize, part: &mut [T]) {
    let graph: &Graph = task.graph;
    if row >= graph.vertices() {
        return;
    }
    if let Some(cell) = row.checked_sub(first).and_then(|column| part.get_mut(column)) {
        *cell = T::of(0.0);
    }
    if task.takes_part.is_some_and(|takes_part| !takes_part[row]) {
        return;
    }
    let arcs = graph.csr().row(row as VertexId);
    let heads = &graph.csr().targets()[arcs.clone()];
    with_weights!(graph.weights(), weights => write_arcs(heads, &weights[arcs], first, part));
}

/// Writes arcs to the part of their row that begins at a column. Consecutive heads, as dense graphs have them, are compared with their cells many at a time.
fn write_arcs<W: Weight, T: Number>(heads: &[VertexId], weights: &[W], first: usize, part: &mut [T]) {
    const RUN: usize = 16;
    with_widest_instructions!(
        [W: Weight, T: Number] [W, T]
        (heads: &[VertexId] = heads, weights: &[W] = weights, first: usize = first, part: &mut [T] = part) -> () {
            let lower = |cell: &mut T, weight: W| {
                let length = T::of(weight.to_f64());
                *cell = if length < *cell { length } else { *cell };
            };
            let scattered = |part: &mut [T], heads: &[VertexId], weights: &[W]| {
                for (&head, &weight) in heads.iter().zip(weights) {
                    if let Some(cell) = (head as usize).checked_sub(first).and_then(|column| part.get_mut(column)) {
                        lower(cell, weight);
                    }
                }
            };
            let (runs, rest) = heads.as_chunks::<RUN>();
            let (weights_of_runs, weights_of_rest) = weights.as_chunks::<RUN>();
            for (heads, weights) in runs.iter().zip(weights_of_runs) {
                let is_next = |place: usize| heads[place] == heads[0].wrapping_add(place as VertexId);
                let is_run = (1..RUN).fold(true, |is_run, place| is_run & is_next(place));
                let column = (heads[0] as usize).checked_sub(first).filter(|_| is_run);
                match column.and_then(|column| part.get_mut(column..column + RUN)) {
                    Some(cells) => (0..RUN).for_each(|place| lower(&mut cells[place], weights[place])),
                    None => scattered(part, heads, weights),
                }
            }
            scattered(part, rest, weights_of_rest);
        }
    );
}
