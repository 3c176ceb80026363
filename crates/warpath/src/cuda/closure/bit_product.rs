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
//! Before compute capability 8.0 there is no such instruction, and the kernel counts by itself, to be right and not quick. From 10.0 on
//! machine code emulates the instruction. There [`bit_warshall`](super::bit_warshall) is the choice.
//!
//! Sources: Warshall 1962; Katz and Kider 2008, "All-pairs shortest-paths for large graphs on the GPU", sect. 4.3 (blocks); Munro 1971,
//! "Efficient determination of the transitive closure of a directed graph" (closure by products).
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with matrices whose sides are
//! multiples of [`SIDE`], all in one pool of device memory.

use super::{Bits, ClosureAlgorithm, ClosureTask, Work};
use crate::Result;
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::DeviceSlice;
use crate::cuda::device::{Function, LaunchShape, arguments, images};
use crate::cuda::kernel_header::{DeviceMutPtr, DevicePtr, kernel_header};
use crate::problems::Problem;

/// How long a product is, where there are products.
pub(super) const BLOCK: Parameter = Parameter {
    name: "block",
    summary: "vertices of a block, a multiple of 512, and at most 4096",
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
    layout: |vertices, arena| Work::Products(Workspace::layout(vertices.next_multiple_of(SIDE), arena)),
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

/// What the work takes beside the matrix.
#[derive(Debug, Clone, Copy)]
pub(super) struct Workspace {
    /// Packed rows.
    left: DeviceSlice<u32>,
    /// Packed columns.
    right: DeviceSlice<u32>,
    /// For each square of a block, whether it changed anything.
    changed: DeviceSlice<u32>,
}

impl Workspace {
    fn layout(rows: u64, arena: &mut Arena<'_>) -> Self {
        let words = rows.saturating_mul(MOST.min(rows) / 32);
        Workspace {
            left: arena.take("rows packed for products", words),
            right: arena.take("columns packed for products", words),
            changed: arena.take("flags", SQUARES),
        }
    }
}

/// The vertices of a block, for a matrix of so many rows.
fn block_of(rows: u64, parameters: &Parameters) -> u64 {
    let by_itself = if rows >= 16_384 { MOST } else { MOST / 2 };
    let asked = parameters.get(BLOCK.name).map(|block| (block as u64).clamp(1, MOST).next_multiple_of(SIDE));
    asked.unwrap_or(by_itself).min(rows)
}

fn close(bits: &Bits, task: &ClosureTask<'_>) -> Result<Statistics> {
    let Work::Products(workspace) = bits.work else { unreachable!("the layout is for products") };
    let device = bits.pool.device();
    let products = Products::new(bits, workspace)?;
    let block = block_of(bits.rows, task.parameters);
    let (before, after) = (device.event()?, device.event()?);
    device.record(&before)?;
    let mut not_waited_for = 0;
    for first in (0..bits.rows).step_by(block as usize) {
        products.admit(first, block.min(bits.rows - first))?;
        device.record(&after)?;
        not_waited_for += bits.rows * bits.rows * block;
        if not_waited_for > UNTIL_WAIT {
            device.wait(&after)?;
            not_waited_for = 0;
        }
        task.control.progress("solve", (first + block).min(bits.rows), bits.rows)?;
    }
    let seconds = device.seconds_between(&before, &after)?;
    Ok(vec![("device_nanoseconds", (seconds * 1e9) as u64), ("stages", bits.rows.div_ceil(block))])
}

/// Which side of a product a matrix is packed for.
#[derive(Debug, Clone, Copy)]
enum Packed {
    Rows,
    Columns,
}

/// A part of the matrix: its first vertex, and how many there are.
type Vertices = (u64, u64);

/// The kernels, ready to work on a matrix.
struct Products<'a> {
    bits: &'a Bits,
    workspace: Workspace,
    multiply: Function,
    pack_rows: Function,
    pack_columns: Function,
    shared_bytes: u32,
    /// Blocks of a product that run at once.
    at_once: u32,
}

impl<'a> Products<'a> {
    fn new(bits: &'a Bits, workspace: Workspace) -> Result<Self> {
        let device = bits.pool.device();
        let function = |name| device.function(&images::CLOSURE_BIT_PRODUCT, name);
        let multiply = function("closure_bit_product")?;
        let slabs = if device.properties().compute_capability < (8, 0) { SLABS_OF_OLD } else { SLABS };
        let shared_bytes = slabs * (ROWS_A_TILE + COLUMNS_A_TILE) * SLAB_BITS / 8;
        Ok(Products {
            bits,
            workspace,
            multiply,
            pack_rows: function("closure_pack_rows")?,
            pack_columns: function("closure_pack_columns")?,
            shared_bytes,
            at_once: device.blocks_at_once(multiply, THREADS, shared_bytes)?,
        })
    }

    /// Adds the paths through `depth` vertices from `first` on, in stream order.
    fn admit(&self, first: u64, depth: u64) -> Result<()> {
        let (block, all) = ((first, depth), (0, self.bits.rows));
        let changed = self.workspace.changed;
        self.bits.pool.fill(changed, 0)?;
        let mut before = DevicePtr::NULL;
        // A square finds all paths of twice as many arcs. One through all vertices of a block may lead back to where it began.
        for square in 0..u64::from(depth.next_power_of_two().ilog2()) {
            let changed = changed.part(square, 1);
            self.pack(Packed::Rows, block, block, before)?;
            self.pack(Packed::Columns, block, block, before)?;
            self.multiply(block, block, (0, 0), depth, before, changed.as_mut_ptr())?;
            before = changed.as_ptr();
        }
        if depth == self.bits.rows {
            return Ok(());
        }
        let (always, for_nobody) = (DevicePtr::NULL, DeviceMutPtr::NULL);
        // In a triangle, the block leads to no later vertices, and no earlier ones lead to it.
        let (rows, columns, left_out) = match self.bits.is_triangle {
            true => ((first + depth, self.bits.rows - first - depth), (0, first + depth), (0, 0)),
            // The rows of the block are what they will be.
            false => (all, all, block),
        };
        self.pack(Packed::Rows, block, block, always)?;
        self.pack(Packed::Columns, block, columns, always)?;
        self.multiply(block, columns, (0, 0), depth, always, for_nobody)?;
        self.pack(Packed::Columns, block, columns, always)?;
        self.pack(Packed::Rows, rows, block, always)?;
        self.multiply(rows, columns, left_out, depth, always, for_nobody)
    }

    /// The words from this vertex's row and that vertex's column on.
    fn part(&self, row: u64, column: u64) -> DeviceSlice<u32> {
        let start = row * self.bits.pitch + column / 32;
        self.bits.words.part(start, self.bits.rows * self.bits.pitch - start)
    }

    /// Packs these rows and columns of the matrix for one side of a product.
    fn pack(&self, packed: Packed, rows: Vertices, columns: Vertices, before: DevicePtr<u32>) -> Result<()> {
        let (to, function, blocks) = match packed {
            Packed::Rows => (
                self.workspace.left,
                self.pack_rows,
                rows.1 / u64::from(PACKED_ROWS) * (columns.1 / u64::from(SLAB_BITS)),
            ),
            Packed::Columns => {
                (self.workspace.right, self.pack_columns, rows.1 / u64::from(SQUARE) * (columns.1 / u64::from(SQUARE)))
            }
        };
        if blocks == 0 {
            return Ok(());
        }
        let packing = Packing {
            from: self.part(rows.0, columns.0).as_ptr(),
            pitch: self.bits.pitch,
            to: to.as_mut_ptr(),
            before,
            rows: rows.1 as u32,
            columns: columns.1 as u32,
        };
        // Blocks take more, if there is more.
        const MOST_BLOCKS: u64 = 1 << 16;
        let shape = LaunchShape::line(blocks.min(MOST_BLOCKS) as u32, THREADS);
        // SAFETY: the argument is the kernel's. Both sides are multiples of a square's and of a slab, and what is packed has room, since one
        // of the sides is at most a block.
        unsafe { self.bits.pool.device().launch(function, &shape, arguments![packing]) }
    }

    /// Adds the product of what is packed to these rows and columns of the matrix, but for the rows of `left_out`.
    fn multiply(
        &self,
        rows: Vertices,
        columns: Vertices,
        left_out: Vertices,
        depth: u64,
        before: DevicePtr<u32>,
        changed: DeviceMutPtr<u32>,
    ) -> Result<()> {
        let [down, across] = [u64::from(ROWS_A_TILE), u64::from(COLUMNS_A_TILE)];
        let (tiles_down, tiles_across) = ((rows.1 - left_out.1) / down, columns.1 / across);
        if tiles_down == 0 {
            return Ok(());
        }
        let product = Product {
            left: self.workspace.left.as_ptr(),
            right: self.workspace.right.as_ptr(),
            to: self.part(rows.0, columns.0).as_mut_ptr(),
            pitch: self.bits.pitch,
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
        unsafe { self.bits.pool.device().launch(self.multiply, &shape, arguments![product]) }
    }
}
