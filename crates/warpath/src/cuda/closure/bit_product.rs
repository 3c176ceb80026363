//! Transitive closure by products of matrices of bits, on the tensor cores of a GPU.
//!
//! Warshall's algorithm in blocks of thousands of vertices. `M` has a bit for each pair with a path whose inner vertices are all in
//! the blocks before. For the next block, with its rows `R` and its columns `C` of `M`, and `D` where they cross:
//! - `D` is closed: all paths within the block, by squaring until nothing changes, at most once for each bit of its size.
//! - `R` becomes `R | D R`: paths that begin in the block.
//! - `M` becomes `M | C R`: paths through the block, any number of times.
//!
//! So all of it is one routine, `to |= left * right`: a bit of the product says that a row of `left` and a column of `right` have a bit in
//! common. A tensor core counts common bits: of 16 rows and 8 columns, 256 bits each, in an instruction. That is 4,850 T pairs of bits a
//! second on an H200 with two warps a scheduler. The look-ups of [`bit_warshall`](super::bit_warshall) come to 715 T.
//!
//! # Why blocks are large
//!
//! An instruction adds to counts in registers, and 32 counts have to be made one word at the end of a product: a seventh of the time where
//! it has 4,096 bits, a quarter where it has 2,048. A longer block costs more for `D R`, `block / n` of the whole, and for squares.
//!
//! # Why matrices are packed first
//!
//! A multiprocessor works on 128 rows and 256 columns at a time, and for 512 bits of each needs 24 KiB: 4 TB/s for all of them, which only
//! whole lines of the cache give, copied in order. So `C` and `R` are copied to where they lie as products read them, `R` with columns
//! for rows. That takes a thirtieth of the time.
//!
//! # Why it may be done in place
//!
//! A bit is only ever set, and only where there is a path. Rows that are packed, and then written, may be packed again as they come.
//! A word has one writer, the block of its tile.
//!
//! # Work, memory
//!
//! Work: `n^3` pairs of bits and the squares, 12 or less for each block, whatever the arcs are; a sixth of that between components in
//! topological order, where the matrix is a triangle. Memory: the matrix of `n^2 / 8` bytes, and
//! two times `n block / 8` for packed rows and columns. For 65,536 vertices the floor on an H200 is 62 ms; it takes 109. What is between:
//! counted at full rates, shared memory is read for three fifths of the time that the products take, and copied to for a fifth.
//!
//! Beyond the memory of a device, and on several devices, it works on [`strips`].
//!
//! Before compute capability 8.0 there is no such instruction, and the kernel counts by itself, to be right and not quick. From 10.0 on
//! machine code emulates the instruction. There [`bit_warshall`](super::bit_warshall) is the choice.
//!
//! Sources: Warshall 1962; Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.3 (blocks); Munro 1971,
//! "Efficient determination of the transitive closure of a directed graph" (closure by products).
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with matrices whose sides are
//! multiples of [`SIDE`].

pub(super) mod strips;

use super::{Bits, ClosureAlgorithm, ClosureTask, Work};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, kernel_header};
use crate::problems::Problem;

/// How long a product is, where there are products.
pub(super) const BLOCK: Parameter = Parameter {
    name: "block",
    summary: "vertices of a block, a multiple of 512, and at most 4096; fewer where memory asks for lower strips",
    values: Values::Or(&Values::AtLeast(1.0), Unset::InWords(|| "4096 from 16384 vertices on, else 2048".into())),
};

/// This algorithm's line in the table.
pub(super) const ALGORITHM: ClosureAlgorithm = ClosureAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Closure,
        name: "bit-product",
        summary: "Warshall in blocks of thousands of vertices, by products of bits on tensor cores",
        source: "Warshall 1962; Munro 1971; Katz & Kider 2008, sect. 4.3",
        parameters: &[BLOCK],
        negative_weights: true,
        seconds: |work| 0.3e-3 + work.vertices() * 0.06e-6 + work.triples() / 2_700e12,
    },
    condenses: false,
    kernel: (&images::CLOSURE_BIT_PRODUCT, "closure_bit_product"),
    multiples: (SIDE, SIDE / 32),
    layout: |vertices, arena| {
        let rows = vertices.next_multiple_of(SIDE);
        let block = MOST.min(rows);
        Work::Products(Workspace::layout(rows, block, arena), columns_for(rows, block, arena))
    },
    close,
};

/// Rows and columns of a matrix are multiples of this: of a tile's sides, and of a slab.
const SIDE: u64 = SLAB_BITS as u64;
/// The longest block.
const MOST: u64 = 4096;
/// So many squares close a block.
const SQUARES: u64 = MOST.ilog2() as u64;
/// Pairs of bits, after which the host waits: some ten milliseconds' work.
const UNTIL_WAIT: u64 = 1 << 44;

kernel_header! {
    path: "closure/bit_product";
    namespace: bit_product;
    constants {
        /// Threads of a block.
        const THREADS: u32 = 256;
        /// Rows of a tile,
        const ROWS_A_TILE: u32 = 128;
        /// and its columns.
        const COLUMNS_A_TILE: u32 = 256;
        /// The part of a row that is in shared memory at a time: a slab.
        const SLAB_BITS: u32 = 512;
        /// So many slabs: one is worked on, the others are on their way.
        const SLABS: u32 = 4;
        /// The same before compute capability 8.0.
        const SLABS_OF_OLD: u32 = 2;
        /// Rows that are packed together.
        const PACKED_ROWS: u32 = 128;
        /// Rows, and columns, that a block packs at a time where columns become rows.
        const SQUARE: u32 = 256;
    }

    /// The argument of a product.
    struct Product {
        /// Packed rows.
        left: DevicePtr<u32>,
        /// Packed columns.
        right: DevicePtr<u32>,
        /// What the product is added to,
        to: DeviceMutPtr<u32>,
        /// and the words of its rows.
        pitch: u64,
        /// Nothing is done if this is there and 0.
        before: DevicePtr<u32>,
        /// Set if this is there and a bit is new.
        changed: DeviceMutPtr<u32>,
        /// Those that are worked on.
        tiles_down: u32,
        tiles_across: u32,
        /// From this row of tiles on,
        left_out_from: u32,
        /// so many are left out.
        left_out: u32,
        /// The length of packed rows and columns, in slabs.
        depth: u32,
    }

    /// The argument of the kernels that pack a matrix.
    struct Packing {
        from: DevicePtr<u32>,
        pitch: u64,
        to: DeviceMutPtr<u32>,
        /// As for a product.
        before: DevicePtr<u32>,
        rows: u32,
        columns: u32,
    }
}

/// Whether it is quicker than look-ups, on a device with this compute capability.
pub(super) fn pays(vertices: usize, capability: Option<(u32, u32)>) -> bool {
    const FROM: usize = 2_048;
    vertices >= FROM && capability.is_some_and(|capability| ((8, 0)..(10, 0)).contains(&capability))
}

/// What products take beside the matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Workspace {
    /// Packed rows.
    left: DeviceSlice<u32>,
    /// For each square of a block, whether it changed anything.
    changed: DeviceSlice<u32>,
}

impl Workspace {
    /// For this many rows that are packed at a time, of this many bits.
    fn layout(rows: u64, bits: u64, arena: &mut Arena<'_>) -> Self {
        Workspace {
            left: arena.take("rows packed for products", rows.saturating_mul(bits / 32)),
            changed: arena.take("flags", SQUARES),
        }
    }
}

/// Room for packed columns: this many, of this many bits.
fn columns_for(columns: u64, bits: u64, arena: &mut Arena<'_>) -> DeviceSlice<u32> {
    arena.take("columns packed for products", columns.saturating_mul(bits / 32))
}

/// The vertices of a block, for a matrix of so many rows.
fn block_of(rows: u64, parameters: &Parameters) -> u64 {
    let by_itself = if rows >= 16_384 { MOST } else { MOST / 2 };
    let asked = parameters.get(BLOCK.name).map(|block| (block as u64).clamp(1, MOST).next_multiple_of(SIDE));
    asked.unwrap_or(by_itself).min(rows)
}

fn close(bits: &Bits, task: &ClosureTask<'_>) -> Result<Statistics> {
    let Work::Products(workspace, right) = bits.work else { unreachable!("the layout is for products") };
    let device = bits.pool.device();
    let products = Products::new(&**device, workspace, bits.rows, bits.is_triangle)?;
    let matrix = Rows { pool: &bits.pool, words: bits.words, pitch: bits.pitch, first: 0 };
    let length = block_of(bits.rows, task.parameters);
    let (before, after) = (device.event()?, device.event()?);
    device.record(&before)?;
    let mut not_waited_for = 0;
    for first in (0..bits.rows).step_by(length as usize) {
        let block = (first, length.min(bits.rows - first));
        let end = first + block.1;
        products.close_block(&matrix, block, right)?;
        // The rows of the block are what they will be. In a triangle no earlier ones lead to it.
        let (rows, left_out) =
            if bits.is_triangle { ((end, bits.rows - end), (0, 0)) } else { ((0, bits.rows), block) };
        products.pass_through(&matrix, rows, left_out, block, right)?;
        device.record(&after)?;
        not_waited_for += bits.rows * bits.rows * length;
        if not_waited_for > UNTIL_WAIT {
            device.wait(&after)?;
            not_waited_for = 0;
        }
        task.control.progress("solve", end, bits.rows)?;
    }
    let seconds = device.seconds_between(&before, &after)?;
    Ok(vec![("device_nanoseconds", (seconds * 1e9) as u64), ("stages", bits.rows.div_ceil(length))])
}

/// Which side of a product a matrix is packed for.
#[derive(Debug, Clone, Copy)]
enum Packed {
    Rows,
    Columns,
}

/// A part of the matrix: its first vertex, and how many there are.
type Vertices = (u64, u64);

/// Rows of the matrix in the memory of a device: all, or a strip.
#[derive(Debug, Clone, Copy)]
struct Rows<'a> {
    pool: &'a Pool,
    words: DeviceSlice<u32>,
    /// Words in a row.
    pitch: u64,
    /// The vertex of the first row.
    first: u64,
}

impl Rows<'_> {
    /// The words from this vertex's row and that vertex's column on.
    fn from(&self, row: u64, column: u64) -> DeviceSlice<u32> {
        let start = (row - self.first) * self.pitch + column / 32;
        self.words.part(start, self.words.length() - start)
    }
}

/// The kernels, ready to work on a matrix on a device.
#[derive(Debug)]
struct Products {
    workspace: Workspace,
    /// The rows and columns of the whole matrix.
    side: u64,
    is_triangle: bool,
    multiply: Function,
    pack_rows: Function,
    pack_columns: Function,
    shared_bytes: u32,
    /// Blocks of a product that run at once.
    at_once: u32,
}

impl Products {
    fn new(device: &dyn Device, workspace: Workspace, side: u64, is_triangle: bool) -> Result<Self> {
        let function = |name| device.function(&images::CLOSURE_BIT_PRODUCT, name);
        let multiply = function("closure_bit_product")?;
        let slabs = if device.properties().compute_capability < (8, 0) { SLABS_OF_OLD } else { SLABS };
        let shared_bytes = slabs * (ROWS_A_TILE + COLUMNS_A_TILE) * SLAB_BITS / 8;
        Ok(Products {
            workspace,
            side,
            is_triangle,
            multiply,
            pack_rows: function("closure_pack_rows")?,
            pack_columns: function("closure_pack_columns")?,
            shared_bytes,
            at_once: device.blocks_at_once(multiply, THREADS, shared_bytes)?,
        })
    }

    /// The columns that paths through a block lead to: in a triangle, none of later vertices.
    fn columns_of(&self, (first, depth): Vertices) -> Vertices {
        (0, if self.is_triangle { first + depth } else { self.side })
    }

    /// Queues the paths of a block's rows through the block, and leaves the rows in `right`, packed as columns.
    fn close_block(&self, matrix: &Rows<'_>, block: Vertices, right: DeviceSlice<u32>) -> Result<()> {
        let (depth, columns) = (block.1, self.columns_of(block));
        let changed = self.workspace.changed;
        matrix.pool.fill(changed, 0)?;
        let mut before = DevicePtr::NULL;
        // A square finds all paths of twice as many arcs. One through all vertices of a block may lead back to where it began.
        for square in 0..u64::from(depth.next_power_of_two().ilog2()) {
            let changed = changed.part(square, 1);
            self.pack(matrix, Packed::Rows, block, block, right, before)?;
            self.pack(matrix, Packed::Columns, block, block, right, before)?;
            self.multiply(matrix, (block, block), (0, 0), right, depth, (before, changed.as_mut_ptr()))?;
            before = changed.as_ptr();
        }
        if depth == self.side {
            return Ok(());
        }
        self.pack(matrix, Packed::Rows, block, block, right, DevicePtr::NULL)?;
        self.pack(matrix, Packed::Columns, block, columns, right, DevicePtr::NULL)?;
        self.multiply(matrix, (block, columns), (0, 0), right, depth, ALWAYS)?;
        self.pack(matrix, Packed::Columns, block, columns, right, DevicePtr::NULL)
    }

    /// Queues the paths of these rows, but for those of `left_out`, through a block whose rows are in `right`.
    fn pass_through(
        &self,
        matrix: &Rows<'_>,
        rows: Vertices,
        left_out: Vertices,
        block: Vertices,
        right: DeviceSlice<u32>,
    ) -> Result<()> {
        if block.1 == self.side {
            return Ok(());
        }
        self.pack(matrix, Packed::Rows, rows, block, right, DevicePtr::NULL)?;
        self.multiply(matrix, (rows, self.columns_of(block)), left_out, right, block.1, ALWAYS)
    }

    /// Packs these rows and columns of the matrix for one side of a product: rows beside the matrix, columns into `right`. Nothing is done if `before` is there and 0.
    fn pack(
        &self,
        matrix: &Rows<'_>,
        packed: Packed,
        rows: Vertices,
        columns: Vertices,
        right: DeviceSlice<u32>,
        before: DevicePtr<u32>,
    ) -> Result<()> {
        let (to, function, [rows_at_once, columns_at_once]) = match packed {
            Packed::Rows => (self.workspace.left, self.pack_rows, [PACKED_ROWS, SLAB_BITS]),
            Packed::Columns => (right, self.pack_columns, [SQUARE, SQUARE]),
        };
        let blocks = rows.1 / u64::from(rows_at_once) * (columns.1 / u64::from(columns_at_once));
        if blocks == 0 {
            return Ok(());
        }
        assert!(rows.1 * columns.1 / 32 <= to.length(), "there is no room for what is packed");
        let packing = Packing {
            from: matrix.from(rows.0, columns.0).as_ptr(),
            pitch: matrix.pitch,
            to: to.as_mut_ptr(),
            before,
            rows: rows.1 as u32,
            columns: columns.1 as u32,
        };
        // Blocks take more, if there is more.
        const MOST_BLOCKS: u64 = 1 << 16;
        let shape = LaunchShape::line(blocks.min(MOST_BLOCKS) as u32, THREADS);
        // SAFETY: the argument is the kernel's. Both sides are multiples of a square's and of a slab, and what is packed has room.
        unsafe { matrix.pool.device().launch(function, &shape, arguments![packing]) }
    }

    /// Adds the product of what is packed to these rows and columns of the matrix, but for the rows of `left_out`. Nothing is done if the first flag is there and 0; the
    /// second one is set if a bit is new.
    fn multiply(
        &self,
        matrix: &Rows<'_>,
        (rows, columns): (Vertices, Vertices),
        left_out: Vertices,
        right: DeviceSlice<u32>,
        depth: u64,
        (before, changed): (DevicePtr<u32>, DeviceMutPtr<u32>),
    ) -> Result<()> {
        let [down, across] = [u64::from(ROWS_A_TILE), u64::from(COLUMNS_A_TILE)];
        let (tiles_down, tiles_across) = ((rows.1 - left_out.1) / down, columns.1 / across);
        if tiles_down == 0 {
            return Ok(());
        }
        let product = Product {
            left: self.workspace.left.as_ptr(),
            right: right.as_ptr(),
            to: matrix.from(rows.0, columns.0).as_mut_ptr(),
            pitch: matrix.pitch,
            before,
            changed,
            tiles_down: tiles_down as u32,
            tiles_across: tiles_across as u32,
            left_out_from: (left_out.0 / down) as u32,
            left_out: (left_out.1 / down) as u32,
            depth: (depth / u64::from(SLAB_BITS)) as u32,
        };
        let blocks = (tiles_down * tiles_across).min(u64::from(self.at_once)) as u32;
        let shape = LaunchShape { shared_bytes: self.shared_bytes, ..LaunchShape::line(blocks, THREADS) };
        // SAFETY: the argument is the kernel's. All sides are multiples of a tile's and a slab's, and the matrices that large.
        unsafe { matrix.pool.device().launch(self.multiply, &shape, arguments![product]) }
    }
}

/// For a product that nothing depends on, and that is made whatever was before.
const ALWAYS: (DevicePtr<u32>, DeviceMutPtr<u32>) = (DevicePtr::NULL, DeviceMutPtr::NULL);
