//! Rows over a hierarchy on a GPU: some steps for a thousand sources at once, whatever the graph.
//!
//! [`crate::hierarchy`] has the method: the distances from a source to its ancestors in the elimination tree, then one sweep
//! from the roots down, in which each vertex takes the best of its later neighbours. The work is the same for every source,
//! in the same order. So a warp takes 64 sources, two a thread, and reads each shortcut once for them; no thread waits for
//! another, and distances of neighbouring sources lie side by side.
//!
//! What is left is the order. The tree has hundreds or thousands of levels, too many for a step each. It is cut into pieces
//! ([`Pieces`]), and all warps of a launch take a piece and a group of 64 sources each:
//! - *Climbs,* two launches. The sources of a batch are sorted by their places in the tree, so 32 neighbours soon have the same
//!   ancestors. Until then a block walks up from each source by itself, with the distances of all ancestors in shared memory, or
//!   where the tree is too high for it, in the memory that they go to. From a few sources the host climbs instead: it takes some
//!   ten microseconds, a device's chain of steps a hundred.
//!   From there a block goes up with all 32, one a lane, a front at a time: what it reads serves them all.
//! - *Fronts,* a launch a level. The lengths of a chain of up to 32 vertices are closed beforehand (`upload.rs`), so that all its
//!   vertices follow from the boundary by one product. A block takes eight of them, whose sixteen distances are in the registers
//!   of each thread: one distance is read, eight lengths, sixteen relaxations made. The warps of a block share a long
//!   boundary and put the minima together.
//! - *Rows,* up to two launches ([`rows`]). A block makes 128 columns of 64 rows, in the order of vertices, or of the targets of a table, from
//!   distances of fronts and the *labels* of its vertices: the lengths from the boundary of the subtree that a vertex is in. Sources in
//!   subtrees are looked after by a warp for each subtree.
//! - *Sums,* one launch. Where only facts about rows are wanted, how many vertices have a distance, the greatest and the sum of all, a warp
//!   reads the distances above some subtrees, a *tile*, into shared memory and works out those of their vertices, four arcs at a
//!   time, of which each waits for none of the others. It counts as it goes, over several tiles. Most do with 16 bits ([`offsets`]).
//!
//! A row of NY takes 0.79 us among 4,096 sources on an H200: 0.2 in climbs and fronts, 0.6 in columns, of which writing alone would
//! be 0.26. Searches take 32.5. Sums take 0.53 us among 16,384 sources. docs/performance.md has the table, docs/experiments.md what was
//! tried.
//!
//! Range: lengths of half the type's greatest value and above count as no way, so no sum wraps. If a sweep has lost a distance by
//! that, the source has another one of at least that value less the greatest length. If a label has, a hub of it has one of at least
//! that value less the longest label; were a label longer than that value less the greatest length, it might itself have lost one,
//! and all distances would count as doubtful. Then the batch is repeated by kernels that look at every sum, and so are the batches
//! after it. What these may have lost is looked at by [`RowsOnDevice::leaves_range`].
//!
//! Memory: the shortcuts three to five times, labels, and the rows of a batch. Where the device has too little, the shortcuts of
//! subtrees stay in pinned memory of the host, and then all of them: a block reads those of its piece in order, as the bus
//! likes it, once for the sources of its warps. Integers of 0 or more only. Work O(shortcuts) a source. It wins where
//! separators are small, if the hierarchy is there or many sources pay for it.
//!
//! Source: Delling, Goldberg, Nowatzyk, Werneck, "PHAST", 2013; Dibbelt, Strasser, Wagner, "Customizable contraction
//! hierarchies", 2016; Sao, Kannan, Gera, Vuduc, "A supernodal all-pairs shortest path algorithm", 2020.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ranks in them come from an elimination, or from sources that the solver has checked.

mod answers;
pub(in crate::cuda) mod arguments;
mod arrays;
mod batch;
mod facts;
mod offsets;
mod rows;
mod sizes;
mod upload;

use std::sync::Arc;

use answers::Answers;
use arguments::{
    CLIMBING_TOGETHER, CLIMBING_WARPS, COLUMNS, Climb, OFFSET_SOURCES, Rows, SOURCES, Sums, Sweep, parts_of,
};
use arrays::{Arrays, layout};
use batch::Batch;
use facts::FactKernels;
use offsets::OffsetKernels;
use rows::RowKernels;
pub(crate) use sizes::SHORTCUTS;
use sizes::Sizes;
use upload::{Length, lengths_of, upload};

use super::batched::ROWS;
use super::outgoing::RawFacts;
use super::rows::RowsOnDevice;
use super::searches::{Finished, Searches, SearchesAlgorithm, SearchesTask};
use crate::algorithms::{AlgorithmInfo, Workload};
use crate::cuda::device::memory::Pool;
use crate::cuda::device::{Device, Function, LaunchShape, arguments, images};
use crate::cuda::launch::Waiting;
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::VertexId;
use crate::hierarchy::{Hierarchy, Limits, Metric, Pieces, Rounds, climb, rounds};
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
        parameters: &[ROWS, SHORTCUTS],
        negative_weights: false,
        seconds,
    },
    semirings: &[DeviceSemiring::Narrow, DeviceSemiring::Wide],
    needs_metric: true,
    targets_alone: true,
    facts_alone: Some(FACTS_SHARE),
    layouts: |_, _| &["hierarchy", "hierarchy:shortcuts=fronts", "hierarchy:shortcuts=host"],
    few_rows: 32,
    searches_at_start: false,
    batch_bytes: GREAT_BATCH_BYTES,
    plan: |task| {
        // What has no room on the host is refused when it is prepared.
        let cut = task.hierarchy.and_then(|hierarchy| Some((hierarchy, Cut::new(hierarchy, task).ok()?)));
        let cut = cut.as_ref().map(|(hierarchy, cut)| (*hierarchy, &*cut.pieces, cut.rounds.as_deref()));
        let sizes = Sizes::of(task, cut);
        let mut plan = arrays::plan(&sizes);
        Answers::plan(&mut plan, &sizes);
        plan
    },
    prepare: |device, task| Ok(Box::new(Sweeps::new(device, task)?)),
};

/// How large tiles are where they are swept: their distances for 64 sources take up to 8 KB of shared memory, so that many warps fit.
pub(in crate::cuda) const LIMITS: Limits = Limits { slots: 32, arcs: 512, together: true };

/// How large tiles are whose vertices have labels. Larger ones leave fewer vertices to fronts, and have longer labels.
const LABELLED: Limits = Limits { slots: 48, arcs: 2048, together: false };
const _: () = assert!(LABELLED.slots <= rounds::HUBS + 1, "a round has room for the hubs of a vertex");

/// A tree in pieces, and the columns of rows, if rows are wanted.
#[derive(Debug)]
struct Cut {
    pieces: Arc<Pieces>,
    rounds: Option<Arc<Rounds>>,
}

impl Cut {
    fn new(hierarchy: &Hierarchy, task: &SearchesTask<'_>) -> Result<Self> {
        if task.facts {
            return Ok(Cut { pieces: hierarchy.pieces(LIMITS)?, rounds: None });
        }
        let pieces = hierarchy.pieces(LABELLED)?;
        let rounds = hierarchy.rounds(LABELLED, task.targets)?;
        Ok(Cut { pieces, rounds: Some(rounds) })
    }
}

/// Where nobody wants rows, a source takes about so much less memory: the distances of vertices in fronts, one in four or fewer, mostly in 16 bits. The
/// others are in shared memory alone.
const FACTS_SHARE: u64 = 8;

/// Bytes of the rows of a batch, where the device has eight times as many: batches share launches and what is read.
const GREAT_BATCH_BYTES: u64 = 8 << 30;

/// Predicted seconds of sweeps over a tree of this many shortcuts, this height and this width, for rows of this many columns, or for facts
/// about rows alone.
pub(crate) fn seconds_of_sweeps(
    shortcuts: f64,
    [height, width]: [f64; 2],
    columns: f64,
    facts: bool,
    work: &Workload<'_>,
) -> f64 {
    /// The fewest sources of a batch.
    const FEWEST: f64 = 64.0;
    /// The launches beside those of levels; a level of fronts, and what it takes longer for each vertex of a boundary.
    const BATCH: f64 = 1e-4;
    const LEVEL: f64 = 2e-5;
    const BOUNDARY: f64 = 8e-9;
    /// Ancestors that a level has of its front.
    const OF_A_LEVEL: f64 = 24.0;
    /// A shortcut; a column, which is worked out from a label and written; and a vertex that is added up.
    const SHORTCUT: f64 = 0.22e-12;
    const WRITTEN: f64 = 1.6e-12;
    const ADDED: f64 = 0.8e-12;
    let sources = work.searches as f64;
    let each = if facts { work.vertices() * ADDED } else { columns * WRITTEN };
    let row = if facts { work.vertices() / FACTS_SHARE as f64 } else { columns };
    let of_a_batch = (GREAT_BATCH_BYTES as f64 / (4.0 * row.max(1.0))).max(FEWEST);
    let batch = BATCH + height / OF_A_LEVEL * (LEVEL + width * BOUNDARY);
    (sources / of_a_batch).ceil() * batch + sources * (shortcuts * SHORTCUT + each)
}

fn seconds(work: &Workload<'_>) -> f64 {
    /// As high and wide as on roads.
    const HEIGHT: f64 = 512.0;
    const WIDTH: f64 = 200.0;
    seconds_of_sweeps(work.usual_shortcuts(), [HEIGHT, WIDTH], work.vertices(), false, work)
}

/// A hierarchy on a device, and room for a batch.
#[derive(Debug)]
pub(crate) struct Sweeps {
    metric: Arc<Metric>,
    semiring: DeviceSemiring,
    /// The batch that was begun last.
    sources: Vec<VertexId>,
    batch: Option<Batch>,
    /// The sources that are expected next, made ready.
    expected: Option<(Vec<VertexId>, Batch)>,
    /// Whether the kernels use all numbers of the type.
    full: bool,
    cut: Cut,
    /// The launches that sweep down the fronts.
    levels: Vec<Level>,
    /// Dropped before the arrays, of which the host may have some: that waits for the device.
    pool: Pool,
    arrays: Arrays,
    sizes: Sizes,
    climb: Climb,
    sweep: Sweep,
    rows: Rows,
    sums: Sums,
    kernels: Kernels,
    /// The kernels for tiles in 16 bits, if most tiles fit those, and how many the last batch has left, once for each warp of sources.
    offsets: Option<OffsetKernels>,
    left: u32,
    /// Launches for the last batch, and those of its repetitions.
    launches: u64,
    answers: Answers,
    waiting: Waiting,
}

/// Fronts that are worked on at once.
#[derive(Debug, Clone, Copy)]
struct Level {
    /// Its parts.
    first: u32,
    count: u32,
    /// The longest boundary of a front.
    longest: u32,
}

fn levels_of(hierarchy: &Hierarchy, pieces: &Pieces) -> Result<Vec<Level>> {
    let mut levels = crate::memory::with_capacity("the levels of fronts", pieces.levels.len())?;
    let mut first = 0;
    for fronts in pieces.by_level() {
        let count = fronts.iter().map(|front| parts_of(front.count).count() as u32).sum();
        let boundary = |front: &crate::hierarchy::Piece| hierarchy.elimination().row(front.top()).len() as u32;
        levels.push(Level { first, count, longest: fronts.iter().map(boundary).max().unwrap_or(0) });
        first += count;
    }
    Ok(levels)
}

/// The kernels, and how they are launched.
#[derive(Debug)]
struct Kernels {
    climb_alone: Function,
    climb_together: Function,
    front: Function,
    /// Those that make rows, or those that gather facts about them.
    then: RowsOrFacts,
    /// Warps of a block that climbs alone, and its shared memory if the distances of all ancestors fit.
    climbers: (u32, Option<u32>),
    /// Bytes of a distance.
    distance: u32,
}

/// What follows fronts.
#[derive(Debug)]
enum RowsOrFacts {
    Rows(RowKernels),
    Facts(FactKernels),
}

/// Threads of a warp.
const WARP: u32 = 32;

/// A launch of so many blocks of so many warps.
fn shape(blocks: u64, warps: u32, shared_bytes: u32) -> Result<LaunchShape> {
    let shape = LaunchShape::line_if_possible(blocks, warps * WARP);
    let shape = shape.ok_or_else(|| Error::invalid("the batch is too large: set `rows` to fewer"))?;
    Ok(LaunchShape { shared_bytes, ..shape })
}

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
        cut: &Cut,
    ) -> Result<Self> {
        let kind = if full { "full_" } else { "" };
        let function =
            |name: &str| semiring.function(device, &images::APSP_HIERARCHY, &format!("apsp_hierarchy_{kind}{name}"));
        let distance = 4 * semiring.words();
        let room = u64::from(device.properties().shared_bytes_per_block);
        let ancestors = Some(sizes.height() * distance).filter(|&bytes| bytes <= room);
        let climbers = (warps_of_climbs(hierarchy.width()), ancestors.map(|bytes| bytes as u32));
        let (front, then) = if cut.rounds.is_some() {
            ("front", RowsOrFacts::Rows(RowKernels::new(device, semiring, full, &cut.pieces)?))
        } else {
            let functions = [function("tile_sums")?, function("add_up")?];
            ("front_sums", RowsOrFacts::Facts(FactKernels::new(device, functions, distance, &cut.pieces)?))
        };
        Ok(Kernels {
            climb_alone: function("climb_alone")?,
            climb_together: function("climb_together")?,
            front: function(front)?,
            then,
            climbers,
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

/// The length of a way that there is not.
fn infinity(semiring: DeviceSemiring, full: bool) -> u64 {
    match semiring {
        DeviceSemiring::Narrow => u32::infinity(full).into(),
        _ => u64::infinity(full),
    }
}

/// The distance of a vertex of a front from which on others may have been lost, where the longest label is this long. `doubtful` is the
/// first one from which on a shortcut may lead beyond the type. If a label may have lost a length, every distance is doubtful.
fn doubtful_with_labels(doubtful: u64, infinity: u64, longest: u64) -> u64 {
    if longest < doubtful { doubtful.min(infinity - longest) } else { 0 }
}

impl Sweeps {
    /// Allocates the planned memory and makes everything ready, and meanwhile the first batch, if another core is free.
    pub(crate) fn new(device: &Arc<dyn Device>, task: &SearchesTask<'_>) -> Result<Self> {
        let metric = task.metric.cloned().ok_or_else(|| Error::invalid("rows over a hierarchy need one"))?;
        let hierarchy = metric.hierarchy().clone();
        let cut = Cut::new(&hierarchy, task)?;
        let sizes = Sizes::of(task, Some((&hierarchy, &cut.pieces, cut.rounds.as_deref())));
        sizes.check()?;
        let (pieces, has_rows, places) = (cut.pieces.clone(), cut.rounds.is_some(), sizes.stride());
        let (sweeps, batch) = rayon::join(
            || Sweeps::without_batches(device, task, metric, cut, sizes),
            || Batch::new(hierarchy.elimination(), &pieces, has_rows, task.first, places),
        );
        let first = crate::memory::copied("the sources of a batch", task.first)?;
        Ok(Sweeps { expected: Some((first, batch?)), ..sweeps? })
    }

    fn without_batches(
        device: &Arc<dyn Device>,
        task: &SearchesTask<'_>,
        metric: Arc<Metric>,
        cut: Cut,
        sizes: Sizes,
    ) -> Result<Self> {
        let hierarchy = metric.hierarchy().clone();
        let pieces = &*cut.pieces;
        let levels = levels_of(&hierarchy, pieces)?;
        let kernels = Kernels::new(&**device, task.semiring, false, &hierarchy, &sizes, &cut)?;
        // If something fails, the pool goes first, and waits for what reads the arrays of the host.
        let (mut arrays, pool) = {
            let (pool, arrays) = Pool::lay_out(device, |arena| layout(arena, &sizes))?;
            (arrays, pool)
        };
        arrays.take_host_memory(device, &sizes)?;
        if let Some(rounds) = &cut.rounds {
            rows::upload(&pool, &arrays, rounds)?;
        }
        let (climb, mut sweep, rows, sums) = arrays.arguments(&sizes, pieces);
        sweep.doubtful = match task.semiring {
            DeviceSemiring::Narrow => upload::<u32>(&mut arrays, &pool, &metric, pieces, task.semiring, false)?,
            _ => upload::<u64>(&mut arrays, &pool, &metric, pieces, task.semiring, false)?,
        };
        if let RowsOrFacts::Rows(kernels) = &kernels.then {
            let longest = kernels.make_labels(&pool, &arrays, sweep)?;
            sweep.doubtful = doubtful_with_labels(sweep.doubtful, infinity(task.semiring, false), longest);
        }
        // Older ones take many instructions for the halves of a word.
        let has_pairs = device.properties().compute_capability >= (9, 0);
        let offsets = match task.semiring {
            _ if !has_pairs || !sizes.has_offsets() || sweep.doubtful <= offsets::MOST => None,
            DeviceSemiring::Narrow => offsets::prepare::<u32>(&mut arrays, &pool, &metric, pieces, task)?,
            _ => offsets::prepare::<u64>(&mut arrays, &pool, &metric, pieces, task)?,
        };
        let (answers, waiting) = (Answers::new(device, &arrays)?, Waiting::new(device)?);
        device.synchronize()?;
        Ok(Sweeps {
            metric,
            semiring: task.semiring,
            sources: Vec::new(),
            batch: None,
            expected: None,
            full: false,
            cut,
            levels,
            pool,
            arrays,
            sizes,
            climb,
            sweep,
            rows,
            sums,
            kernels,
            offsets,
            left: 0,
            launches: 0,
            answers,
            waiting,
        })
    }

    /// From now on by kernels that use all numbers of the type.
    fn use_all_numbers(&mut self) -> Result<()> {
        let device = self.pool.device().clone();
        self.full = true;
        self.offsets = None;
        let hierarchy = self.metric.hierarchy();
        self.kernels = Kernels::new(&*device, self.semiring, true, hierarchy, &self.sizes, &self.cut)?;
        let (arrays, pool) = (&mut self.arrays, &self.pool);
        self.sweep.doubtful = upload::<u32>(arrays, pool, &self.metric, &self.cut.pieces, self.semiring, true)?;
        if let RowsOrFacts::Rows(kernels) = &self.kernels.then {
            let longest = kernels.make_labels(pool, arrays, self.sweep)?;
            self.sweep.doubtful = doubtful_with_labels(self.sweep.doubtful, infinity(self.semiring, true), longest);
        }
        device.synchronize()
    }

    /// Makes a batch of these sources ready.
    fn batch_of(&self, sources: &[VertexId]) -> Result<Batch> {
        let elimination = self.metric.hierarchy().elimination();
        Batch::new(elimination, &self.cut.pieces, self.cut.rounds.is_some(), sources, self.sizes.stride())
    }

    /// Begins the batch.
    fn begin(&mut self, control: &Control) -> Result<()> {
        let batch = match self.expected.take_if(|(sources, _)| *sources == self.sources) {
            Some((_, batch)) => batch,
            None => self.batch_of(&self.sources)?,
        };
        let has_rows = self.cut.rounds.is_some();
        batch.upload(&self.pool, &self.arrays)?;
        if self.climbs_on_host() {
            match self.semiring {
                DeviceSemiring::Narrow => self.climb::<u32>(&batch)?,
                _ => self.climb::<u64>(&batch)?,
            }
        }
        self.batch = Some(batch);
        self.pool.fill(self.arrays.is_doubtful, 0)?;
        self.pool.fill(self.arrays.counters, 0)?;
        self.pool.fill(self.arrays.left_count, 0)?;
        let climbs = if self.climbs_on_host() { 0 } else { 2 };
        let of_tiles = if self.offsets.is_some() { 2 } else { 1 };
        let of_facts = if self.sweep.tile_count > 0 { of_tiles + 1 } else { 1 };
        let visits = self.batch.as_ref().map_or(0, Batch::visits);
        let of_rows = u64::from(self.rows.blocks > 0) + u64::from(visits > 0);
        self.launches += self.levels.len() as u64 + climbs + if has_rows { of_rows } else { of_facts };
        self.waiting.start(self.pool.device(), control, || {
            self.launch(self.sources.len() as u32)?;
            // SAFETY: whoever asks for answers has waited for the batch.
            unsafe { self.answers.fetch(&self.pool, &self.arrays, self.sources.len()) }
        })
    }

    /// Whether the host works out the distances of the ancestors: it is quicker for few sources, since each of them is a long chain of
    /// steps.
    fn climbs_on_host(&self) -> bool {
        const FEW: usize = 4;
        // What the host fills and sends is as wide as a batch.
        self.sources.len() <= FEW && self.sizes.stride() <= SOURCES.into()
    }

    /// Has the host climb from each source.
    fn climb<D: Length>(&self, batch: &Batch) -> Result<()> {
        let lengths = lengths_of::<D>(&self.metric)?;
        let elimination = self.metric.hierarchy().elimination();
        let (infinity, stride) = (D::infinity(self.full), self.sizes.stride() as usize);
        let mut above =
            crate::memory::filled("distances of ancestors", self.sizes.height() as usize * stride, infinity)?;
        for (index, &rank) in batch.ranks().iter().enumerate().take(self.sources.len()) {
            for (depth, distance) in climb::<D::Semiring>(elimination, &lengths.up, rank).into_iter().enumerate() {
                above[depth * stride + index] = distance.min(infinity);
            }
        }
        self.pool.upload(self.arrays.above.cast(), &above)
    }

    /// Waits for the batch; the seconds that it took, and the rows that may have lost a distance.
    fn wait(&mut self, control: &Control) -> Result<(f64, Vec<usize>)> {
        let mut seconds = self.waiting.finish(self.pool.device(), control)?;
        if self.offsets.is_some() {
            self.left = self.answers.left_count();
            if self.left > self.sweep.most_left {
                self.offsets = None;
                self.begin(control)?;
                seconds += self.waiting.finish(self.pool.device(), control)?;
            }
        }
        let rows_of = |batch: &Batch| batch.rows_where(self.sources.len(), |place| self.answers.is_doubtful(place));
        Ok((seconds, self.batch.as_ref().map_or_else(Vec::new, rows_of)))
    }

    /// How many warps take the sources of a batch in 16 bits.
    fn groups_of_offsets(&self) -> u64 {
        (self.sources.len() as u64).div_ceil(OFFSET_SOURCES.into())
    }

    /// Has the rows of this many sources made, in stream order.
    fn launch(&self, count: u32) -> Result<()> {
        let device = self.pool.device();
        let Kernels { climb_alone, climb_together, front, ref then, climbers, distance } = self.kernels;
        let groups = match &self.offsets {
            Some(_) => count.div_ceil(OFFSET_SOURCES) * (OFFSET_SOURCES / SOURCES),
            None => count.div_ceil(SOURCES),
        };
        let (warps, bytes) = climbers;
        let up = Climb { count, in_shared: bytes.is_some().into(), ..self.climb };
        if !self.climbs_on_host() {
            let alone = shape(count.into(), warps, bytes.unwrap_or(0))?;
            // SAFETY: the argument is the kernel's, and all arrays have the lengths that it expects.
            unsafe { device.launch(climb_alone, &alone, arguments![up])? };
            let together = shape(count.div_ceil(CLIMBING_TOGETHER).into(), CLIMBING_WARPS, 0)?;
            // SAFETY: as above.
            unsafe { device.launch(climb_together, &together, arguments![up])? };
        }
        for level in &self.levels {
            let down = Sweep { groups, level: level.first, ..self.sweep };
            let blocks = u64::from(level.count) * u64::from(groups);
            let mut warps = warps_of_fronts(level.longest, blocks, device.properties().multiprocessors);
            let bytes = |warps: u32| warps * COLUMNS * SOURCES * distance;
            while bytes(warps) > device.properties().shared_bytes_per_block {
                warps /= 2;
            }
            let shape = shape(blocks, warps, bytes(warps))?;
            // SAFETY: as above.
            unsafe { device.launch(front, &shape, arguments![down])? };
        }
        match then {
            RowsOrFacts::Rows(kernels) => {
                let visits = self.batch.as_ref().map_or(0, Batch::visits);
                kernels.launch(&**device, self.sweep, Rows { count, ..self.rows }, visits)
            }
            RowsOrFacts::Facts(kernels) => {
                let sums = Sums { count, ..self.sums };
                kernels.launch(&**device, self.offsets.as_ref(), Sweep { groups, ..self.sweep }, sums)
            }
        }
    }
}

impl Searches for Sweeps {
    fn start(&mut self, sources: &[VertexId], control: &Control) -> Result<()> {
        self.sources = crate::memory::copied("the sources of a batch", sources)?;
        self.launches = 0;
        self.begin(control)
    }

    fn expect(&mut self, sources: &[VertexId]) -> Result<()> {
        let batch = self.batch_of(sources)?;
        self.expected = Some((crate::memory::copied("the sources of a batch", sources)?, batch));
        Ok(())
    }

    fn finish(&mut self, control: &Control) -> Result<Finished> {
        let (mut seconds, mut doubtful) = self.wait(control)?;
        if !doubtful.is_empty() && !self.full && self.semiring == DeviceSemiring::Narrow {
            self.use_all_numbers()?;
            self.begin(control)?;
            let again = self.wait(control)?;
            (seconds, doubtful) = (seconds + again.0, again.1);
        }
        let mut statistics = vec![
            ("shortcuts", self.metric.hierarchy().shortcuts()),
            ("kernel_launches", self.launches),
            ("device_nanoseconds", (seconds * 1e9) as u64),
        ];
        if self.offsets.is_some() {
            let tiles = u64::from(self.sweep.tile_count) * self.groups_of_offsets();
            statistics.extend([("tiles_in_16_bits", tiles - u64::from(self.left)), ("tiles_left", self.left.into())]);
        }
        Ok(Finished { statistics, out_of_range: doubtful })
    }

    fn rows(&self) -> RowsOnDevice<'_> {
        RowsOnDevice { pool: &self.pool, words: self.arrays.rows, stride: self.sizes.row_stride() }
    }

    fn facts(&self, rows: usize) -> Result<Vec<RawFacts>> {
        self.answers.facts(rows)
    }
}
