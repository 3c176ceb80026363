//! Customization of a hierarchy on a GPU: the lengths of all shortcuts from those of the graph's arcs.
//!
//! Eliminating a vertex offers ways through it to the shortcuts between its later neighbours
//! ([`crate::hierarchy`] has the method). On the CPU these ways are handed on from front to front. Here each goes to its shortcut at
//! once, by an atomic minimum: the device has rate enough for all of them, and nothing waits but what must.
//!
//! - *Tiles,* one launch: a warp takes some small subtrees, and eliminates vertex after vertex, a later neighbour in each lane.
//! - *Fronts,* three launches a level, from the leaves up. A front is a chain of up to 32 vertices with nearly the same later
//!   neighbours. First their lengths are *gathered* in a panel: a row for each column, with a cell for each later neighbour. Then
//!   blocks *settle* the panel. A thread has the lengths of one vertex of the boundary to all columns in registers, and needs those
//!   between columns alone, from shared memory. At last warps *offer* the ways over all columns: for each pair of vertices
//!   of the boundary the least of up to 32 sums, one atomic operation.
//! - The panels keep the settled lengths, which one more launch brings to their shortcuts.
//!
//! Small fronts are quicker on the CPU, which needs no launches: [`seconds`] says when it pays.
//!
//! Floors for Enron's 3.2 M shortcuts and 4 G triangles on an H200: 0.3 ms of additions, 1 ms of instructions for them, 0.6 ms to bring
//! lengths there and back; some 90 levels of three launches 2 ms. It takes 12.8 ms.
//!
//! Range: the same types as on the CPU, 32 or 64 bits, and sums that stay at the greatest number. Integers of 0 or more. Memory: the
//! shortcuts, and panels, which have a cell for each pair of a column and a target.
//!
//! Source: Dibbelt, Strasser, Wagner, "Customizable contraction hierarchies", 2016; Duff, Reid, "The multifrontal solution of
//! indefinite sparse symmetric linear equations", 1983.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, and with arrays of the lengths that they expect. All
//! arrays are taken from one pool of device memory; the ranks and places in them come from an elimination.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytemuck::Pod;

use super::device::arena::{Arena, plan_of};
use super::device::memory::{DeviceSlice, Pool};
use super::device::{Device, LaunchShape, arguments, images};
use super::kernel_header::{DeviceMutPtr, DevicePtr, cpp, kernel_header};
use super::sssp::DeviceSemiring;
use crate::hierarchy::{COLUMNS, Elimination, Elsewhere, Hierarchy, Limits, Pieces, Unsettled};
use crate::memory::with_capacity;
use crate::{Error, Result};

kernel_header! {
    path: "apsp/customization";
    namespace: apsp_customization;
    constants {
        /// The most columns of a front.
        pub(super) const MOST_COLUMNS: u32 = 32;
        /// Warps of a block that gathers, scatters, offers, or works on tiles.
        pub(super) const WARPS_A_BLOCK: u32 = 8;
        /// Shortcuts or vertices of a boundary that a warp takes.
        pub(super) const A_WARP: u32 = 256;
    }

    /// The ranks of some subtrees, each after its parent.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Tile {
        pub(super) ranks: u32,
        pub(super) count: u32,
    }

    /// Ranks from `first` on, of which each is the parent of the one before.
    #[derive(bytemuck::Pod, bytemuck::Zeroable)]
    pub(super) struct Front {
        /// Where its panel begins.
        pub(super) panel: u64,
        pub(super) first: u32,
        pub(super) columns: u32,
        /// The place of the later neighbours of its topmost column among `heads`, and how many there are.
        pub(super) boundary_first: u32,
        pub(super) boundary: u32,
        pub(super) unused: u64,
    }

    /// The argument of all kernels.
    pub(super) struct Customization<Lane> {
        /// Where the later neighbours of each rank begin, ascending.
        pub(super) offsets: DevicePtr<u32>,
        pub(super) heads: DevicePtr<u32>,
        /// The lengths to later neighbours, and back.
        pub(super) up: DeviceMutPtr<cpp::Distance>,
        pub(super) down: DeviceMutPtr<cpp::Distance>,
        pub(super) tiles: DevicePtr<Tile>,
        pub(super) ranks: DevicePtr<u32>,
        pub(super) fronts: DevicePtr<Front>,
        /// Those of fronts, from each column to each of its later neighbours, and back; without a way the greatest number.
        pub(super) up_panels: DeviceMutPtr<cpp::Distance>,
        pub(super) down_panels: DeviceMutPtr<cpp::Distance>,
        pub(super) tile_count: u32,
        /// The first front of the level.
        pub(super) level: u32,
        /// Blocks of a front that share rows, and how many share each row.
        pub(super) rows: u32,
        pub(super) parts: u32,
        /// Whether the two directions differ.
        pub(super) is_directed: u32,
        pub(super) unused: u32,
    }
}

const _: () = assert!(COLUMNS == MOST_COLUMNS as usize, "the kernels see the same fronts");

/// How large tiles are: a vertex has fewer later neighbours than a warp has lanes.
const LIMITS: Limits = crate::cuda::apsp::hierarchy::LIMITS;
const _: () = assert!(LIMITS.slots <= 32, "a later neighbour in each lane");

/// Threads of a block that settles.
const SETTLING: u32 = 128;

/// Threads of a block of any other kernel.
const THREADS: u32 = WARPS_A_BLOCK * 32;

/// Predicted seconds for a hierarchy of so many vertices, this many shortcuts, this height and so many triangles; `again` if weights
/// change, so that the kernels and the pieces of the tree are there or pay later.
pub(crate) fn seconds(vertices: f64, shortcuts: f64, height: f64, triangles: f64, again: bool) -> f64 {
    /// The kernels, whose image has to be loaded once; a vertex of the tree, which has to be cut into pieces; a level of fronts, of
    /// which each has this many ancestors; a shortcut's way there and back; a triangle.
    const ALL: f64 = 20e-3;
    const VERTEX: f64 = 60e-9;
    const LEVEL: f64 = 40e-6;
    const OF_A_LEVEL: f64 = 24.0;
    const SHORTCUT: f64 = 1.6e-9;
    const TRIANGLE: f64 = 1e-12;
    let once = if again { 0.0 } else { ALL + vertices * VERTEX };
    once + height / OF_A_LEVEL * LEVEL + shortcuts * SHORTCUT + triangles * TRIANGLE
}

/// A device that settles lengths.
#[derive(Debug)]
pub(crate) struct CustomizingDevice {
    device: Arc<dyn Device>,
    hierarchy: Hierarchy,
    /// How much memory it may take.
    bytes: u64,
    /// Whether it has failed.
    is_lost: AtomicBool,
    /// How long its kernels took, by its own clock.
    nanoseconds: AtomicU64,
}

impl CustomizingDevice {
    /// For lengths of this hierarchy, in so many bytes of the device's memory.
    pub(crate) fn new(device: Arc<dyn Device>, hierarchy: Hierarchy, bytes: u64) -> Self {
        CustomizingDevice { device, hierarchy, bytes, is_lost: AtomicBool::new(false), nanoseconds: AtomicU64::new(0) }
    }

    /// Whether the device has failed, and is to be closed.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// The nanoseconds that its kernels took by its own clock, without copies; 0 if it has settled nothing.
    pub(crate) fn nanoseconds(&self) -> u64 {
        self.nanoseconds.load(Ordering::Relaxed)
    }

    fn try_to_settle(&self, lengths: Unsettled<'_>) -> Result<()> {
        match lengths {
            Unsettled::Narrow(up, down) => self.settle_as(DeviceSemiring::Narrow, up, down),
            Unsettled::Wide(up, down) => self.settle_as(DeviceSemiring::Wide, up, down),
        }
    }
}

impl Elsewhere for CustomizingDevice {
    fn settle(&self, lengths: Unsettled<'_>) -> bool {
        let settled = self.try_to_settle(lengths);
        self.is_lost.fetch_or(matches!(settled, Err(Error::Device(_))), Ordering::Relaxed);
        settled.is_ok()
    }
}

/// The arrays.
struct Arrays<D> {
    offsets: DeviceSlice<u32>,
    heads: DeviceSlice<u32>,
    up: DeviceSlice<D>,
    down: DeviceSlice<D>,
    tiles: DeviceSlice<Tile>,
    ranks: DeviceSlice<u32>,
    fronts: DeviceSlice<Front>,
    up_panels: DeviceSlice<D>,
    down_panels: DeviceSlice<D>,
}

/// The fronts, level after level, and how many cells their panels have.
fn fronts_of(elimination: &Elimination, pieces: &Pieces) -> Result<(Vec<Front>, u64)> {
    let mut fronts = with_capacity("the fronts of a hierarchy", pieces.fronts.len())?;
    let mut cells = 0;
    for &front in &pieces.fronts {
        let row = elimination.row(front.top());
        fronts.push(Front {
            panel: cells,
            first: front.first,
            columns: front.count,
            boundary_first: row.start as u32,
            boundary: row.len() as u32,
            unused: 0,
        });
        cells += u64::from(front.count) * (row.len() as u64 + u64::from(front.count));
    }
    Ok((fronts, cells))
}

impl CustomizingDevice {
    /// Settles the lengths of all shortcuts. Both directions are the same if `down` is empty.
    fn settle_as<D: Pod + Send + Sync>(&self, semiring: DeviceSemiring, up: &mut [D], down: &mut [D]) -> Result<()> {
        let (device, elimination) = (&self.device, self.hierarchy.elimination());
        assert_eq!(up.len(), elimination.heads.len(), "lengths are those of the hierarchy");
        let pieces = self.hierarchy.pieces(LIMITS)?;
        let (count, shortcuts) = (elimination.count(), up.len() as u64);
        // Kernels look for shortcuts a little beyond the end of a row.
        if shortcuts + u64::from(pieces.longest_boundary + 2 * A_WARP) > u32::MAX.into() {
            return Err(Error::invalid("the hierarchy is too large for a device"));
        }
        let (fronts, cells) = fronts_of(elimination, &pieces)?;
        let tiles = &pieces.tiles;
        let is_directed = !down.is_empty();
        let if_directed = |length: u64| if is_directed { length } else { 0 };
        let layout = |arena: &mut Arena<'_>| Arrays::<D> {
            offsets: arena.take("the elimination tree", count as u64 + 1),
            heads: arena.take("later neighbours", shortcuts),
            up: arena.take("lengths of shortcuts upwards", shortcuts),
            down: arena.take("lengths of shortcuts downwards", if_directed(shortcuts)),
            tiles: arena.take("tiles", tiles.tiles.len() as u64),
            ranks: arena.take("the ranks of tiles", tiles.ranks.len() as u64),
            fronts: arena.take("fronts", fronts.len() as u64),
            up_panels: arena.take("the panels of fronts upwards", cells),
            down_panels: arena.take("the panels of fronts downwards", if_directed(cells)),
        };
        plan_of(layout).check_device(self.bytes)?;
        let (pool, arrays) = Pool::lay_out(device, layout)?;
        pool.upload_with(arrays.offsets, count + 1, |range, to| {
            to.iter_mut().zip(&elimination.offsets[range]).for_each(|(to, &offset)| *to = offset as u32);
        })?;
        pool.upload(arrays.heads, &elimination.heads)?;
        pool.upload(arrays.up, up)?;
        pool.upload(arrays.down, down)?;
        pool.upload_with(arrays.tiles, tiles.tiles.len(), |range, to| {
            for (to, tile) in to.iter_mut().zip(&tiles.tiles[range]) {
                *to = Tile { ranks: tile.ranks, count: tile.rank_count };
            }
        })?;
        pool.upload(arrays.ranks, &tiles.ranks)?;
        pool.upload(arrays.fronts, &fronts)?;
        pool.fill(arrays.up_panels, u32::MAX)?;
        pool.fill(arrays.down_panels, u32::MAX)?;
        let all = Customization {
            offsets: arrays.offsets.as_ptr(),
            heads: arrays.heads.as_ptr(),
            up: arrays.up.as_mut_ptr().cast(),
            down: arrays.down.as_mut_ptr().cast(),
            tiles: arrays.tiles.as_ptr(),
            ranks: arrays.ranks.as_ptr(),
            fronts: arrays.fronts.as_ptr(),
            up_panels: arrays.up_panels.as_mut_ptr().cast(),
            down_panels: arrays.down_panels.as_mut_ptr().cast(),
            tile_count: tiles.tiles.len() as u32,
            level: 0,
            rows: 1,
            parts: 1,
            is_directed: is_directed.into(),
            unused: 0,
        };
        let launch = |name: &str, argument: Customization, blocks: u64, threads: u32| {
            if blocks == 0 {
                return Ok(());
            }
            let function =
                semiring.function(&**device, &images::APSP_CUSTOMIZATION, &format!("apsp_customization_{name}"))?;
            let shape = LaunchShape::line_if_possible(blocks, threads);
            let shape = shape.ok_or_else(|| Error::invalid("the hierarchy is too large for a device"))?;
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
            unsafe { device.launch(function, &shape, arguments![argument]) }
        };
        let [before, after] = [device.event()?, device.event()?];
        device.record(&before)?;
        launch("tiles", all, u64::from(all.tile_count.div_ceil(WARPS_A_BLOCK)), THREADS)?;
        let groups = u64::from(MOST_COLUMNS / WARPS_A_BLOCK);
        let longest = |fronts: &[Front]| fronts.iter().map(|front| front.boundary).max().unwrap_or(0);
        let parts_of_rows = |fronts: &[Front]| (longest(fronts) + MOST_COLUMNS).div_ceil(A_WARP);
        for level in pieces.levels.windows(2).rev() {
            let of_level = &fronts[level[0] as usize..level[1] as usize];
            let (number, longest) = (of_level.len() as u64, longest(of_level));
            let all = Customization { level: level[0], ..all };
            let parts = parts_of_rows(of_level);
            launch("gather", Customization { parts, ..all }, number * groups * u64::from(parts), THREADS)?;
            let parts = longest.div_ceil(SETTLING).max(1);
            launch("settle", Customization { parts, ..all }, number * u64::from(parts), SETTLING)?;
            // The last of a boundary has nobody to offer to.
            let (rows, parts) = (longest.saturating_sub(1).div_ceil(WARPS_A_BLOCK), longest.div_ceil(A_WARP));
            let blocks = number * u64::from(rows) * u64::from(parts);
            launch("offer", Customization { rows, parts, ..all }, blocks, THREADS)?;
        }
        let parts = parts_of_rows(&fronts);
        launch("scatter", Customization { parts, ..all }, fronts.len() as u64 * groups * u64::from(parts), THREADS)?;
        device.record(&after)?;
        let seconds = device.seconds_between(&before, &after)?;
        self.nanoseconds.fetch_add((seconds * 1e9) as u64, Ordering::Relaxed);
        pool.read_into(arrays.up, up)?;
        pool.read_into(arrays.down, down)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::cuda::device::testing::devices;
    use crate::graph::{Direction, DistanceValue, Graph, GraphBuilder, Unit, VertexId};
    use crate::hierarchy::Metric;
    use crate::testing::{Random, graphs_of_every_shape, one_of_every_shape};

    /// A device that may not fail, and how often it was asked.
    struct Reliable(CustomizingDevice, AtomicUsize);

    impl Elsewhere for Reliable {
        fn settle(&self, lengths: Unsettled<'_>) -> bool {
            self.1.fetch_add(1, Ordering::Relaxed);
            self.0.try_to_settle(lengths).unwrap();
            true
        }
    }

    /// Whether two metrics have the same lengths of this type.
    fn have_equal<D: DistanceValue>(a: &Metric, b: &Metric) -> bool {
        match [a, b].map(|metric| metric.lengths::<D>().unwrap()) {
            [Some(a), Some(b)] => a.up == b.up && a.down() == b.down(),
            [a, b] => a.is_none() && b.is_none(),
        }
    }

    #[derive(Clone, Copy)]
    enum Order {
        Dissection,
        LateHubs,
    }
    const ORDERS: [Order; 2] = [Order::Dissection, Order::LateHubs];

    /// Lengths from each device against those of the CPU, by nested dissection or by a late hub's order. Returns how long the longest
    /// boundary of a front is.
    fn check(name: &str, graph: &Graph, order: Order) -> u32 {
        let hubs_late: Vec<_> = (0..graph.vertices() as VertexId).rev().collect();
        let hierarchy = match order {
            Order::Dissection => Hierarchy::new(graph.clone()),
            Order::LateHubs => Hierarchy::with_order(graph.clone(), &hubs_late),
        };
        let hierarchy = hierarchy.unwrap();
        let here = hierarchy.customize(graph.weights()).unwrap();
        for device in devices(11) {
            let device = CustomizingDevice::new(device, hierarchy.clone(), u64::MAX);
            let device = Reliable(device, AtomicUsize::new(0));
            let there = hierarchy.customize_elsewhere(graph.weights(), Some(&device)).unwrap();
            assert_eq!(device.1.into_inner(), 1 + usize::from(there.may_have_lost_lengths()), "{name}");
            assert_eq!(here.may_have_lost_lengths(), there.may_have_lost_lengths(), "{name}");
            assert!(have_equal::<u32>(&here, &there), "{name}: in 32 bits");
            if here.may_have_lost_lengths() {
                assert!(have_equal::<u64>(&here, &there), "{name}: in 64 bits");
            }
        }
        hierarchy.pieces(LIMITS).unwrap().longest_boundary
    }

    #[test]
    fn lengths_of_every_shape_are_those_of_the_cpu() {
        // Of the two graphs of a shape, one has one order and one has the other; with the next shape it is the other way round.
        for (turn, (name, graph)) in graphs_of_every_shape::<u32>(61).into_iter().enumerate() {
            check(&name, &graph, ORDERS[(turn + turn / 2) % 2]);
        }
        for (turn, (name, graph)) in one_of_every_shape::<Unit>(62).into_iter().enumerate() {
            check(&name, &graph, ORDERS[(turn + turn / 2) % 2]);
        }
    }

    /// Fronts of all widths, and in both types and directions boundaries with more vertices than a block has threads and than a warp
    /// takes.
    #[test]
    fn lengths_of_large_fronts_are_those_of_the_cpu() {
        for recipe in ["grid:30x30,weights=1..9", "roads:900,weights=1..1000"] {
            check(recipe, &crate::generate(recipe).unwrap(), Order::Dissection);
        }
        let mut random = Random(5);
        for (direction, greatest) in [(Direction::Directed, 100), (Direction::Undirected, u32::MAX)] {
            let mut any = |below: u64| random.below(below) as u32;
            let edges: Vec<(VertexId, VertexId, u32)> =
                (0..2250).map(|_| (any(450), any(450), any(u64::from(greatest)))).collect();
            let graph = GraphBuilder::new().direction(direction).build_from(edges).unwrap();
            let longest = ORDERS.map(|order| check(&format!("{direction:?}, up to {greatest}"), &graph, order));
            assert!(longest[0].max(longest[1]) > A_WARP + 32, "{longest:?}");
        }
    }

    #[test]
    fn without_memory_on_a_device_the_cpu_settles() {
        let graph = crate::generate("grid:20x20,weights=1..9").unwrap();
        let hierarchy = Hierarchy::new(graph.clone()).unwrap();
        let here = hierarchy.customize(graph.weights()).unwrap();
        for device in devices(12) {
            let device = CustomizingDevice::new(device, hierarchy.clone(), 1000);
            let there = hierarchy.customize_elsewhere(graph.weights(), Some(&device)).unwrap();
            assert!(have_equal::<u32>(&here, &there) && !device.is_lost());
        }
    }

    /// A device that fails at each of its calls in turn, the last copies among them, until it is done before.
    #[cfg(emulator)]
    #[test]
    fn where_a_device_fails_the_cpu_settles() {
        use crate::cuda::device::failing::{Failing, Fault};
        // Both directions have lengths.
        let arcs: Vec<(VertexId, VertexId, u32)> = (0..60).map(|i| (i * 7 % 20, i * 11 % 19, i % 13)).collect();
        let graph = GraphBuilder::new().direction(Direction::Directed).build_from(arcs).unwrap();
        let hierarchy = Hierarchy::new(graph.clone()).unwrap();
        let here = hierarchy.customize(graph.weights()).unwrap();
        let mut lost = 0;
        for call in 1.. {
            let failing = Arc::new(Failing::new(1, Fault::Lost, call));
            let device = CustomizingDevice::new(failing.clone(), hierarchy.clone(), u64::MAX);
            let there = hierarchy.customize_elsewhere(graph.weights(), Some(&device)).unwrap();
            assert!(have_equal::<u32>(&here, &there), "call {call}");
            // Memory that is not there, or can't be given back, does not tell.
            assert!(failing.has_failed() || !device.is_lost(), "call {call}");
            lost += usize::from(device.is_lost());
            if !failing.has_failed() {
                assert!(lost > 10, "{lost}");
                return;
            }
        }
    }
}
