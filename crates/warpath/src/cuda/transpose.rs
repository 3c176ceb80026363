//! The arcs of a graph by head, made on the device from those by tail.
//!
//! Four launches: one counts how many arcs each vertex is the head of, with an atomic for each arc; two turn the counts
//! into places, by sums over blocks and then within them; the last puts the tail of each arc into the row of its head,
//! at a place that another atomic yields. Work O(V + E), span O(greatest number of arcs with one head). The
//! time goes into two random accesses for each arc: on large graphs far less than the upload of the arcs took,
//! where the host takes a multiple of it.
//!
//! **The rows are not sorted**: whoever comes first has the first place, so they differ from run to run. Searches only ask
//! which tails are in a row.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr` or from `resident/adoption.rs`, which have checked them, or from
//! sources that were checked.

use super::device::arena::Arena;
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, Function, LaunchShape, arguments, images};
use super::graph::{Arcs, Extent, Offsets, has_wide_offsets};
use crate::Result;
use crate::graph::VertexId;

/// The most blocks that sum up counts: each has a sum of its own.
const MOST_BLOCKS: u64 = 1024;

/// The arrays of the arcs by head.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Transpose {
    /// The arcs by head: where those of each vertex begin, and their tails, in any order.
    pub(crate) arcs: Arcs,
    sums: Offsets,
}

impl Transpose {
    /// Takes room for those of a graph.
    pub(crate) fn layout(arena: &mut Arena<'_>, graph: &impl Extent) -> Self {
        let (vertices, wide) = (graph.vertices() as u64, has_wide_offsets(graph));
        let offsets = Offsets::layout(arena, "offsets of the arcs by head", vertices + 1, wide);
        let targets = arena.take("tails of the arcs", graph.arcs() as u64);
        Transpose { arcs: Arcs { offsets, targets }, sums: Counting::layout_sums(arena, graph) }
    }

    /// Makes the arcs by head from those by tail, in stream order.
    pub(crate) fn make(&self, pool: &Pool, by_tail: Arcs) -> Result<()> {
        let Arcs { offsets, targets } = by_tail;
        let Arcs { offsets: by_head, targets: tails } = self.arcs;
        let counting = Counting { offsets: by_head, sums: self.sums };
        counting.count(pool, targets)?;
        counting.place(pool)?;
        let scatter = counting.kernel(pool, "scatter")?;
        let (vertices, arcs, places) = ((offsets.length() - 1) as u32, targets.length(), by_head.address_of_second());
        let shape = shape_for(&**pool.device(), scatter)?;
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe { pool.device().launch(scatter, &shape, arguments![offsets, targets, vertices, arcs, places, tails]) }
    }
}

/// Where rows begin, found by counting: the offsets hold counts first, then where rows begin, and, once everything is in its
/// place, where they end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counting {
    pub(crate) offsets: Offsets,
    pub(crate) sums: Offsets,
}

impl Counting {
    /// Takes room for the sums of the blocks.
    pub(crate) fn layout_sums(arena: &mut Arena<'_>, graph: &impl Extent) -> Offsets {
        Offsets::layout(arena, "sums of the blocks", MOST_BLOCKS, has_wide_offsets(graph))
    }

    fn kernel(&self, pool: &Pool, name: &str) -> Result<Function> {
        let bits = if self.offsets.is_wide() { 64 } else { 32 };
        pool.device().function(&images::TRANSPOSE, &format!("transpose_{name}_{bits}"))
    }

    /// Begins to count: how often each vertex is among these.
    pub(crate) fn count(&self, pool: &Pool, ids: DeviceSlice<VertexId>) -> Result<()> {
        self.offsets.fill_with_zeros(pool)?;
        let count = self.kernel(pool, "count")?;
        let (length, places) = (ids.length(), self.offsets.address_of_second());
        let shape = shape_for(&**pool.device(), count)?;
        // SAFETY: the arguments are the kernel's, and all arrays have the lengths that it expects.
        unsafe { pool.device().launch(count, &shape, arguments![ids, length, places]) }
    }

    /// Turns the counts into where rows begin.
    pub(crate) fn place(&self, pool: &Pool) -> Result<()> {
        let device = pool.device();
        let (sum, place, sums) = (self.kernel(pool, "sum")?, self.kernel(pool, "place")?, self.sums);
        let (vertices, places) = ((self.offsets.length() - 1) as u32, self.offsets.address_of_second());
        let shape = shape_for(&**device, place)?;
        // SAFETY: the arguments are the kernels', and all arrays have the lengths that they expect: both have the same shape,
        // with no more blocks than sums.
        unsafe {
            device.launch(sum, &shape, arguments![places, vertices, sums])?;
            device.launch(place, &shape, arguments![places, vertices, sums])
        }
    }
}

/// As many blocks as run at once, and have sums.
fn shape_for(device: &dyn Device, kernel: Function) -> Result<LaunchShape> {
    let threads = device.properties().threads_per_block.min(512);
    let blocks = device.blocks_at_once(kernel, threads, 0)?.clamp(1, MOST_BLOCKS as u32);
    Ok(LaunchShape::line(blocks, threads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cuda::device::testing::devices;
    use crate::cuda::graph::WIDE_OFFSETS;
    use crate::graph::{Graph, GraphBuilder, ParallelEdges, Unit};
    use crate::testing::{Random, graphs_of_every_shape};

    fn check(name: &str, graph: &Graph, seed: u64) {
        let expected = graph.transpose().unwrap();
        for device in devices(seed) {
            for wide in [false, true] {
                WIDE_OFFSETS.set(wide);
                let layout = |arena: &mut Arena<'_>| (Arcs::layout(arena, graph), Transpose::layout(arena, graph));
                let (pool, (arcs, transpose)) = Pool::lay_out(&device, layout).unwrap();
                WIDE_OFFSETS.set(false);
                arcs.upload(&pool, graph.csr()).unwrap();
                transpose.make(&pool, arcs).unwrap();
                let Arcs { offsets: by_head, targets: tails } = transpose.arcs;
                assert_eq!(by_head.is_wide(), wide);
                let by_head: Vec<u64> = match by_head {
                    Offsets::Narrow(offsets) => pool.read(offsets).unwrap().into_iter().map(u64::from).collect(),
                    Offsets::Wide(offsets) => pool.read(offsets).unwrap(),
                };
                assert_eq!(by_head, expected.offsets(), "{name}, wide: {wide}, seed {seed}");
                let tails = pool.read(tails).unwrap();
                for (vertex, row) in by_head.windows(2).enumerate() {
                    let sorted = |tails: &[VertexId]| {
                        let mut tails = tails[row[0] as usize..row[1] as usize].to_vec();
                        tails.sort_unstable();
                        tails
                    };
                    assert_eq!(sorted(&tails), sorted(expected.targets()), "{name}, row {vertex}, seed {seed}");
                }
            }
        }
    }

    #[test]
    fn graphs_of_every_shape_are_transposed() {
        for seed in [1, 2] {
            for (name, graph) in graphs_of_every_shape::<Unit>(seed) {
                if graph.vertices() <= 1000 && graph.arcs() <= 6000 {
                    check(&name, &graph, seed);
                }
            }
        }
    }

    /// Rows longer than what a warp takes, many empty ones between them, and parallel arcs.
    #[test]
    fn rows_of_all_lengths_are_transposed() {
        let mut random = Random(3);
        let mut arcs = Vec::new();
        for (tail, count) in [(0, 1), (3, 2500), (4, 31), (5, 33), (700, 1), (1400, 1200), (1401, 1)] {
            arcs.extend((0..count).map(|_| (tail, random.below(1500) as VertexId)));
        }
        arcs.push((1, 1499));
        let graph = GraphBuilder::new().parallel_edges(ParallelEdges::Keep).build_from(arcs).unwrap();
        check("rows of all lengths", &graph, 4);
    }
}
