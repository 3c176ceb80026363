//! Rows over a hierarchy on a GPU: some steps for a thousand sources at once, whatever the graph.
//!
//! [`crate::hierarchy`] has the method: the distances from a source to its ancestors in the elimination tree, then one sweep
//! from the roots down, in which each vertex takes the best of its later neighbours. The work is the same for every source,
//! in the same order. So a warp takes 64 sources, two a thread, and reads each shortcut once for them; no thread waits for
//! another, and distances of neighbouring sources lie side by side.
//!
//! What is left is the order. The tree has hundreds or thousands of levels, too many for a step each. It is cut into pieces
//! ([`Pieces`]), and all warps of a launch take a piece and a group of 64 sources each:
//! - *Climb:* a block a source walks up the ancestors, whose distances it keeps in shared memory. While it works on a vertex, the
//!   arcs of the next one are on their way.
//! - *Fronts,* a launch a level. A chain of eight vertices has its sixteen distances in the registers of each thread, and
//!   takes the boundary as a product: one distance is read, eight lengths, sixteen relaxations made. The warps of a block
//!   share a long boundary and put the minima together. The eight vertices among each other then are 28 relaxations.
//! - *Subtrees,* one launch. A warp reads the distances of the boundary into shared memory and goes down the few dozen
//!   vertices, each of which leaves its distances there for those below. They come in the order of a walk through the tree, so
//!   that a stack of the ancestors' distances is enough.
//! - *Transposition:* the distances are by rank, with those of all sources side by side; a last launch makes rows of them, in
//!   the order of vertices.
//!
//! Floors on an H200 for the roads of NY, 264,346 vertices and 1.26 M shortcuts. Writing the rows takes 0.25 us a source at 4.26
//! TB/s, and the transposition, which reads and writes them again, 0.5 us. The shared memory of subtrees gives 32 relaxations a
//! cycle and multiprocessor: 0.18 us. A batch of a thousand sources takes 42 launches of some microseconds, 0.13 us a source, and
//! its climbs as much. So 1 to 1.3 us a source were predicted. A first version took 2.4 to 2.8 us there; searches take 36. This
//! one takes 2.1 us on an H100, which has 0.7 of the bandwidth. Fronts wait for memory one access after another, and so does a warp with a
//! subtree. docs/performance.md has the table, docs/experiments.md what was tried.
//!
//! Range: lengths of half the type's greatest value and above count as no way, so no sum wraps. If a distance was lost by
//! that, the source has another one of at least that value less the greatest length. Then the batch is repeated by kernels
//! that look at every sum, and so are the batches after it. What these may have lost is looked at by
//! [`RowsOnDevice::leaves_range`].
//!
//! Memory: the shortcuts two to three times, the distances of a batch twice. Integers of 0 or more only. Work O(shortcuts) a
//! source. It wins where separators are small, if the hierarchy is there or many sources pay for it.
//!
//! Source: Delling, Goldberg, Nowatzyk, Werneck, "PHAST", 2013; Dibbelt, Strasser, Wagner, "Customizable contraction
//! hierarchies", 2016; Sao, Kannan, Gera, Vuduc, "A supernodal all-pairs shortest path algorithm", 2020.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ranks in them come from an elimination, or from sources that the solver has checked.

pub(in crate::cuda) mod arrays;

use std::sync::Arc;

use arrays::{
    Arrays, COLUMNS, Climb, Length, MOST_VERTICES, SOURCES, Sizes, Sweep, TRANSPOSED, TRANSPOSING, Transposition,
    layout, ranks_of,
};

use super::batched::ROWS;
use super::searches::{Finished, RowsOnDevice, Searches, SearchesAlgorithm, SearchesTask};
use crate::algorithms::{AlgorithmInfo, Workload};
use crate::cuda::device::arena::plan_of;
use crate::cuda::device::memory::Pool;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::launch::Waiting;
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::VertexId;
use crate::hierarchy::{Hierarchy, Limits, Metric, Pieces};
use crate::problems::Problem;
use crate::{Control, Error, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SearchesAlgorithm = SearchesAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "hierarchy",
        summary: "sweeps over shortcuts that are made once, a thousand sources at a time; integers, on graphs with small \
                  separators",
        source: "Delling et al. 2013, Dibbelt et al. 2016, Sao et al. 2020",
        parameters: &[ROWS],
        negative_weights: false,
        seconds,
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide],
    needs_metric: true,
    plan: |task| {
        // What has no room on the host is refused when it is prepared.
        let cut = task.hierarchy.and_then(|hierarchy| Some((hierarchy, pieces_of(hierarchy).ok()?)));
        let cut = cut.as_ref().map(|(hierarchy, pieces)| (*hierarchy, &**pieces));
        plan_of(|arena| layout(arena, &Sizes::of(task, cut)))
    },
    prepare: |device, task| Ok(Box::new(Sweeps::new(device, task)?)),
};

/// The highest tree that is certain to be climbed in the shared memory of a block, of any device.
pub(crate) const HIGHEST: usize = 6000;

/// How large subtrees are: their distances for 64 sources take up to 10 KB of shared memory.
const LIMITS: Limits = Limits { vertices: MOST_VERTICES as usize, slots: 40, arcs: 512 };

/// Lengths inside a front.
const INNER: usize = (COLUMNS * COLUMNS) as usize;

fn pieces_of(hierarchy: &Hierarchy) -> Result<Arc<Pieces>> {
    hierarchy.pieces(LIMITS)
}

/// Predicted seconds of sweeps over a tree of this many shortcuts, this height and this width.
pub(crate) fn seconds_of_sweeps(shortcuts: f64, height: f64, width: f64, work: &Workload<'_>) -> f64 {
    /// Bytes of the distances of a batch, and the fewest sources that it has.
    const BATCH_BYTES: f64 = (1 << 30) as f64;
    const FEWEST: f64 = 64.0;
    /// A launch, and what a level of fronts takes longer for each vertex of a boundary.
    const LAUNCH: f64 = 8e-6;
    const BOUNDARY: f64 = 45e-9;
    /// A climb looks at shortcuts one ancestor after another.
    const CLIMBED: f64 = 2e-9;
    /// A shortcut, and a vertex, which is written and transposed.
    const SHORTCUT: f64 = 0.5e-12;
    const VERTEX: f64 = 4e-12;
    let sources = work.searches as f64;
    let of_a_batch = (BATCH_BYTES / (4.0 * work.vertices().max(1.0))).max(FEWEST);
    let levels = height / f64::from(COLUMNS);
    let batch = 12.0 * LAUNCH + levels * (LAUNCH + width * BOUNDARY) + height * width * CLIMBED;
    (sources / of_a_batch).ceil() * batch + sources * (shortcuts * SHORTCUT + work.vertices() * VERTEX)
}

fn seconds(work: &Workload<'_>) -> f64 {
    /// As high and wide as on roads.
    const HEIGHT: f64 = 512.0;
    const WIDTH: f64 = 200.0;
    seconds_of_sweeps(work.usual_shortcuts(), HEIGHT, WIDTH, work)
}

/// A hierarchy on a device, and room for a batch.
#[derive(Debug)]
struct Sweeps<'g> {
    metric: &'g Metric,
    semiring: DeviceSemiring,
    /// The sources of the batch that was begun last.
    sources: Vec<VertexId>,
    /// Whether the kernels use all numbers of the type.
    full: bool,
    pieces: Arc<Pieces>,
    pool: Pool,
    arrays: Arrays,
    sizes: Sizes,
    climb: Climb,
    sweep: Sweep,
    transposition: Transposition,
    kernels: Kernels,
    waiting: Waiting,
    /// A greatest distance from which on another one may have been lost.
    doubtful: u64,
}

/// The kernels, and how they are launched.
#[derive(Debug)]
struct Kernels {
    climb: Function,
    front: Function,
    subtree: Function,
    transpose: Function,
    /// Warps of a block that climbs, and its shared memory.
    climbers: (u32, u32),
    /// The same of a block for a subtree.
    subtree_warps: (u32, u32),
    /// Bytes of a distance.
    distance: u32,
}

/// Threads of a warp.
const WARP: u32 = 32;
/// Rows of a block that transposes.
const TRANSPOSED_ROWS: u32 = 64;

/// Warps of a block that climbs a tree of this width.
fn warps_of_climbs(width: usize) -> u32 {
    /// Later neighbours of the widest vertex that are worth a warp.
    const SHARE: usize = 64;
    width.div_ceil(SHARE).next_power_of_two().clamp(1, 16) as u32
}

impl Kernels {
    fn new(
        device: &dyn Device,
        semiring: DeviceSemiring,
        full: bool,
        hierarchy: &Hierarchy,
        sizes: &Sizes,
        pieces: &Pieces,
    ) -> Result<Self> {
        let kind = if full { "full_" } else { "" };
        let function =
            |name: &str| semiring.function(device, &images::APSP_HIERARCHY, &format!("apsp_hierarchy_{kind}{name}"));
        let distance = 4 * semiring.words();
        // The most warps whose shared memory is a third of what a block can have, so that some blocks run at once.
        let room = u64::from(device.properties().shared_bytes_per_block);
        let warps = |each: u64, all: u64, most: u32| -> Option<(u32, u32)> {
            let bytes = |warps: u32| all + each * u64::from(warps);
            let halves = (0..).map(|power| most >> power).take_while(|&warps| warps > 0);
            let fits = |limit: u64| move |&warps: &u32| bytes(warps) <= limit;
            let found = halves.clone().find(fits(room / 3)).or_else(|| halves.clone().find(fits(room)))?;
            Some((found, bytes(found) as u32))
        };
        let ancestors = sizes.height() * distance;
        if ancestors > room {
            let what = format!(
                "a climb up an elimination tree of {} vertices, in the shared memory of a block",
                sizes.height()
            );
            return Err(Error::OutOfMemory { what, needed: ancestors, available: room });
        }
        let climbers = (warps_of_climbs(hierarchy.width()), ancestors as u32);
        let slots = pieces.slots as u64 * u64::from(SOURCES) * distance;
        let staged = pieces.arcs.next_multiple_of(2) as u64 * 2 * distance + 4 * u64::from(MOST_VERTICES);
        let subtree_warps = warps(slots, staged.next_multiple_of(16), 4)
            .ok_or_else(|| Error::invalid("the device has too little shared memory for the subtrees of a hierarchy"))?;
        Ok(Kernels {
            climb: function("climb")?,
            front: function("front")?,
            subtree: function("subtree")?,
            transpose: function("transpose")?,
            climbers,
            subtree_warps,
            distance: distance as u32,
        })
    }
}

/// Warps of a block for a launch of this many blocks, with boundaries up to this long: as many as the boundary is worth, but
/// no more than the device has room for at once.
fn warps_of_fronts(longest: u32, blocks: u64, multiprocessors: u32) -> u32 {
    /// Vertices of a boundary that are worth a warp.
    const SHARE: u32 = 16;
    /// Warps of a block, and of a multiprocessor, at most.
    const MOST: u64 = 16;
    const RESIDENT: u64 = 64;
    let room = (RESIDENT * u64::from(multiprocessors) / blocks.max(1)).clamp(1, MOST);
    longest.div_ceil(SHARE).next_power_of_two().clamp(1, 1 << room.ilog2())
}

/// Makes the lengths ready; the first distance from which on another one may have been lost.
fn upload<D: Length>(arrays: &Arrays, pool: &Pool, metric: &Metric, pieces: &Pieces, full: bool) -> Result<u64> {
    let other = || Error::invalid("the hierarchy has weights of another type");
    let lengths = metric.lengths::<D>()?.ok_or_else(other)?;
    let infinity = D::infinity(full);
    arrays.upload(pool, metric.hierarchy().elimination(), pieces, lengths, infinity)?;
    let is_narrow = size_of::<D>() == size_of::<u32>();
    if is_narrow && metric.may_have_lost_lengths() {
        return Ok(0);
    }
    Ok(infinity.into().saturating_sub(lengths.greatest().into()))
}

impl<'g> Sweeps<'g> {
    fn new(device: &Arc<dyn Device>, task: &SearchesTask<'g>) -> Result<Self> {
        let metric = task.metric.ok_or_else(|| Error::invalid("rows over a hierarchy need one"))?;
        let hierarchy = metric.hierarchy();
        let pieces = pieces_of(hierarchy)?;
        let sizes = Sizes::of(task, Some((hierarchy, &pieces)));
        let kernels = Kernels::new(&**device, task.semiring, false, hierarchy, &sizes, &pieces)?;
        let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, &sizes))?;
        let doubtful = match task.semiring {
            DeviceSemiring::Narrow => upload::<u32>(&arrays, &pool, metric, &pieces, false)?,
            _ => upload::<u64>(&arrays, &pool, metric, &pieces, false)?,
        };
        let (climb, sweep, transposition) = arrays.arguments(&sizes, &pieces);
        let waiting = Waiting::new(device)?;
        device.synchronize()?;
        Ok(Sweeps {
            metric,
            semiring: task.semiring,
            sources: Vec::new(),
            full: false,
            pieces,
            pool,
            arrays,
            sizes,
            climb,
            sweep,
            transposition,
            kernels,
            waiting,
            doubtful,
        })
    }

    /// From now on by kernels that use all numbers of the type.
    fn use_all_numbers(&mut self) -> Result<()> {
        let device = self.pool.device().clone();
        self.full = true;
        self.kernels = Kernels::new(&*device, self.semiring, true, self.metric.hierarchy(), &self.sizes, &self.pieces)?;
        self.doubtful = upload::<u32>(&self.arrays, &self.pool, self.metric, &self.pieces, true)?;
        device.synchronize()
    }

    /// Begins the batch.
    fn begin(&self, control: &Control) -> Result<()> {
        let (pool, elimination) = (&self.pool, self.metric.hierarchy().elimination());
        pool.upload(self.arrays.sources, &ranks_of(elimination, &self.sources, self.sizes.stride())?)?;
        pool.fill(self.arrays.greatest, 0)?;
        self.waiting.start(pool.device(), control, || self.launch(self.sources.len() as u32))
    }

    /// Waits for the batch; the seconds that it took, and the rows that may have lost a distance.
    fn wait(&self, control: &Control) -> Result<(f64, Vec<usize>)> {
        let seconds = self.waiting.finish(self.pool.device(), control)?;
        let greatest = self.pool.read(self.arrays.greatest.part(0, self.sources.len() as u64))?;
        let doubtful = greatest.iter().enumerate().filter(|(_, greatest)| **greatest >= self.doubtful);
        Ok((seconds, doubtful.map(|(row, _)| row).collect()))
    }

    /// Has the rows of this many sources made, in stream order.
    fn launch(&self, count: u32) -> Result<()> {
        let device = self.pool.device();
        let Kernels { climb, front, subtree, transpose, climbers, subtree_warps, distance } = self.kernels;
        let groups = count.div_ceil(SOURCES);
        let shape = |blocks: u64, warps: u32, shared_bytes: u32| {
            let blocks = u32::try_from(blocks).ok().filter(|&blocks| blocks <= i32::MAX as u32);
            let blocks = blocks.ok_or_else(|| Error::invalid("the batch is too large: set `rows` to fewer"))?;
            Ok::<_, Error>(LaunchShape { shared_bytes, ..LaunchShape::line(blocks, warps * WARP) })
        };
        let (warps, bytes) = climbers;
        let climbing = shape(count.into(), warps, bytes)?;
        // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
        unsafe { device.launch(climb, &climbing, arguments![self.climb])? };
        for (level, &longest) in self.pieces.levels.windows(2).zip(&self.pieces.longest) {
            let down = Sweep { groups, level: level[0], ..self.sweep };
            let blocks = u64::from(level[1] - level[0]) * u64::from(groups);
            let mut warps = warps_of_fronts(longest, blocks, device.properties().multiprocessors);
            let bytes = |warps: u32| {
                let found = if warps > 1 { warps * COLUMNS * SOURCES } else { 0 };
                (found + INNER as u32) * distance
            };
            while bytes(warps) > device.properties().shared_bytes_per_block {
                warps /= 2;
            }
            let bytes = bytes(warps);
            let shape = shape(blocks, warps, bytes)?;
            // SAFETY: as above.
            unsafe { device.launch(front, &shape, arguments![down])? };
        }
        if !self.pieces.subtrees.is_empty() {
            let down = Sweep { groups, ..self.sweep };
            let (warps, bytes) = subtree_warps;
            let blocks = self.pieces.subtrees.len() as u64 * u64::from(groups.div_ceil(warps));
            let shape = shape(blocks, warps, bytes)?;
            // SAFETY: as above.
            unsafe { device.launch(subtree, &shape, arguments![down])? };
        }
        let rows = Transposition { count, ..self.transposition };
        let blocks = u64::from(rows.vertices.div_ceil(TRANSPOSED)) * u64::from(count.div_ceil(TRANSPOSED_ROWS));
        let shape = shape(blocks, TRANSPOSING / WARP, 0)?;
        // SAFETY: as above.
        unsafe { device.launch(transpose, &shape, arguments![rows]) }
    }
}

impl Searches for Sweeps<'_> {
    fn start(&mut self, sources: &[VertexId], control: &Control) -> Result<()> {
        self.sources = crate::memory::copied("the sources of a batch", sources)?;
        self.begin(control)
    }

    fn finish(&mut self, control: &Control) -> Result<Finished> {
        let (mut seconds, mut doubtful) = self.wait(control)?;
        let mut launches = self.pieces.longest.len() as u64 + 2 + u64::from(!self.pieces.subtrees.is_empty());
        if !doubtful.is_empty() && !self.full && self.semiring == DeviceSemiring::Narrow {
            self.use_all_numbers()?;
            self.begin(control)?;
            let again = self.wait(control)?;
            (seconds, doubtful) = (seconds + again.0, again.1);
            launches *= 2;
        }
        let statistics = vec![
            ("shortcuts", self.metric.hierarchy().shortcuts()),
            ("kernel_launches", launches),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ];
        Ok(Finished { statistics, out_of_range: doubtful })
    }

    fn rows(&self) -> RowsOnDevice<'_> {
        RowsOnDevice { pool: &self.pool, words: self.arrays.rows, stride: self.sizes.row_stride() }
    }
}
