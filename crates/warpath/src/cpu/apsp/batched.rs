//! Many sources at once, sharing the adjacency reads.
//!
//! A batch of 16 to 128 sources keeps its labels (tentative distances) vertex by vertex: `labels[v][lane]` is the label
//! of `v` for the source in that lane. Reading an arc once then serves all lanes, and a relaxation of all lanes is a
//! few vector instructions. Each thread works on a batch of its own; nothing is shared but the graph.
//!
//! *Pulling.* The labels of `v` are recomputed from the tails of its incoming arcs, in registers, with one store at the
//! end and no branch inside; pushing along outgoing arcs would load and store every head and mispredict on each
//! (measured: half the speed). If any lane improved, the heads of `v`'s outgoing arcs are marked in a bitmap. Rounds
//! over the bitmap go on until it is empty: a label-correcting method, so every label ends as the least length, rounded
//! left to right, over all walks, whatever the order was, and equals what any other search finds, bit for bit. Labels
//! are updated in place, so an improvement travels along ascending numbers within one round.
//!
//! *Numbering.* Vertices are renumbered in breadth-first order. Neighbours then share cache lines, and the sources of
//! a batch, which are consecutive in this order, have wavefronts that coincide.
//!
//! *Narrow labels.* Integer labels are 8 bits wide, then 16, 32 and 64: the first width that holds the batch's
//! distances is kept. Sums saturate at the greatest value, which means unreachable; a batch is repeated in the next
//! width if a label could have been lost that way, which is the case exactly if some arc leads from a reached vertex
//! to an unreached one. Too narrow a width fails early, since saturated labels do not travel on.
//!
//! Work: per source, as many relaxations as the wavefronts of a batch differ in time, some 10 E on random graphs
//! and 60 E on roads, at 0.04 to 0.1 ns each. It wins where E is well below V², on everything but roads so large that
//! labels leave the cache. Memory: 128 to 256 bytes a vertex and thread, and a second copy of the graph.
//!
//! *Unit weights* need no labels at all: there the rows come from the bit-parallel
//! [`multi_source`] search.
//!
//! Negative weights are fine as long as no negative cycle can be reached, which is looked for first.
//!
//! Source: Then et al. 2014, "The more the merrier" (sharing reads between searches); Bellman 1958 (label-correcting).
//!
//! *Invariants.* A function that was compiled for more instructions is called only where the processor has been found
//! to have them.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use super::potentials::potentials;
use super::{ApspAlgorithm, ApspLane, ApspOutput, ApspTask, for_every_lane};
use crate::algorithms::{AlgorithmInfo, Statistics};
use crate::cpu::Team;
use crate::cpu::bfs::multi_source;
use crate::graph::{
    Adjacency, DistanceValue, F32Lane, F64Lane, I32Lane, Lane, U32Narrow, U32Wide, Unit, UnitLane, VertexId,
};
use crate::instructions::InstructionSet;
use crate::memory::allocation::{bytes_of, refused};
use crate::problems::Problem;
use crate::{Control, Error, Result, memory};

/// This algorithm's line in the table.
pub const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "batched",
        summary: "up to 128 sources at once in vector registers; for sparse graphs",
        source: "label-correcting search, reads shared as in Then et al. 2014",
        parameters: &[],
        negative_weights: true,
    },
    needs_matrix: false,
    workspace_bytes,
    solve: {
        let mut solvers = for_every_lane!(solve);
        solvers.unit = solve_unit;
        solvers
    },
};

/// Bits for so many bytes are always allowed to unweighted searches.
const SMALL_BYTES: u64 = 16 << 20;
/// The most lanes a batch has.
const LANES: usize = 128;
/// At most so many sources are searched in few lanes.
const FEW_LANES: usize = 16;

pub(super) fn workspace_bytes(vertices: u64, arcs: u64, threads: u64, distance_bytes: u64) -> u64 {
    let graph = vertices * 24 + arcs * (8 + 8 + distance_bytes);
    let labels = threads * vertices * 256;
    graph.saturating_add(labels)
}

fn solve<L: ApspLane>(task: &ApspTask<'_, L>, output: ApspOutput<'_, L::Distance>) -> Result<Statistics> {
    task.check(&output)?;
    let negative = task.graph.has_negative_weights();
    if negative {
        potentials::<L>(task.adjacency, task.graph, task.sources, task.control)?;
    }
    let graph = Renumbered::new(task.adjacency, task.adjacency.weights)?;
    let ladder = L::ladder(&graph, task.adjacency.weights, task.sources.len() <= FEW_LANES, negative);
    search::<L>(task, &graph, &ladder, output, &|_, _| Ok(()))
}

/// What is done to a row once it is there: its source and its distances by column.
pub(super) type Finish<'f, D> = dyn Fn(VertexId, &mut [D]) -> Result<()> + Sync + 'f;

/// Fills all rows, batch by batch, in the order of the renumbered sources.
pub(super) fn search<L: ApspLane>(
    task: &ApspTask<'_, L>,
    graph: &Renumbered,
    ladder: &Ladder<'_, L::Distance>,
    output: ApspOutput<'_, L::Distance>,
    finish: &Finish<'_, L::Distance>,
) -> Result<Statistics> {
    let number_of = |targets: &[VertexId]| {
        memory::listed("the list of columns", targets.iter().map(|&target| graph.number[target as usize]))
    };
    let selected: Option<Vec<u32>> = task.targets.map(number_of).transpose()?;
    let columns = selected.as_deref().unwrap_or(&graph.number);
    let batches = Batches { graph, ladder, columns, sources: task.sources, finish, control: task.control };
    fill_in_order(task, &graph.number, LANES, output, |rows, slices, progress| {
        batches.fill(task.team, rows, slices, progress)
    })?;
    let relaxations = ladder.rungs.iter().map(|rung| rung.relaxations()).sum();
    let bits = ladder.rungs[ladder.current()].bits();
    Ok(vec![("label_bits", bits), ("pulled_arcs", relaxations)])
}

/// Unit weights need no labels: [`multi_source`] search keeps a bit for each source and vertex.
fn solve_unit(task: &ApspTask<'_, UnitLane>, output: ApspOutput<'_, u32>) -> Result<Statistics> {
    task.check(&output)?;
    let threads = task.team.threads();
    let bytes = workspace_bytes(task.graph.vertices() as u64, task.graph.arcs() as u64, threads as u64, 4);
    let width = multi_source::batch_width(task.graph, task.sources.len(), threads, bytes.max(SMALL_BYTES));
    let (number, _) = breadth_first_numbers(task.adjacency)?;
    fill_in_order(task, &number, width.max(1), output, |rows, slices, progress| {
        let sources = memory::listed("the list of sources", rows.iter().map(|&row| task.sources[row]))?;
        let slices: Vec<Mutex<&mut [u32]>> = memory::listed("the list of rows", slices.into_iter().map(Mutex::new))?;
        multi_source::levels_of_many(task.graph, &sources, width, task.team, task.control, &|index, levels| {
            let mut row = slices[index].lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            match task.targets {
                None => row.copy_from_slice(levels),
                Some(targets) => row.iter_mut().zip(targets).for_each(|(cell, &v)| *cell = levels[v as usize]),
            }
            progress.add(1)
        })
    })?;
    Ok(vec![("batch_width", width as u64)])
}

/// Has rows filled in the order of their sources' numbers, in a matrix or block by block; blocks are whole batches for
/// every thread where memory allows.
fn fill_in_order<L: ApspLane>(
    task: &ApspTask<'_, L>,
    number: &[u32],
    batch: usize,
    output: ApspOutput<'_, L::Distance>,
    fill: impl Fn(&[usize], Vec<&mut [L::Distance]>, &RowProgress<'_>) -> Result<()>,
) -> Result<()> {
    let mut order = memory::listed("the order of rows", 0..task.sources.len())?;
    // Sorting in place: rows of one source come in the order in which they were asked for.
    order.sort_unstable_by_key(|&row| (number[task.sources[row] as usize], row));
    let columns = task.columns();
    let progress = RowProgress::new(task.control, order.len());
    match output {
        ApspOutput::Matrix(_) if columns == 0 => Ok(()),
        ApspOutput::Matrix(matrix) => {
            let mut rows = memory::listed("the list of rows", matrix.chunks_exact_mut(columns).map(Some))?;
            let mut in_order = memory::with_capacity("the list of rows", rows.len())?;
            in_order.extend(order.iter().filter_map(|&row| rows[row].take()));
            fill(&order, in_order, &progress)
        }
        ApspOutput::Blocks(consumer) => {
            let have = consumer.start(&order)?.min(order.len());
            progress.add(have)?;
            let share = batch * task.team.threads();
            let row_bytes = (columns * size_of::<L::Distance>()).max(1) as u64;
            let fitting = (task.block_bytes / row_bytes).clamp(1, order.len().max(1) as u64) as usize;
            let block = if fitting > share { fitting / share * share } else { fitting };
            let mut values = Vec::new();
            for rows in order[have..].chunks(block) {
                memory::resize("a block of rows", &mut values, rows.len() * columns, L::Distance::UNREACHABLE)?;
                let slices = match columns {
                    0 => memory::listed("the list of rows", rows.iter().map(|_| Default::default()))?,
                    width => memory::listed("the list of rows", values.chunks_exact_mut(width))?,
                };
                fill(rows, slices, &progress)?;
                values = consumer.rows(rows, values)?;
            }
            Ok(())
        }
    }
}

/// Counts finished rows and tells the watcher.
struct RowProgress<'c> {
    control: &'c Control,
    done: AtomicU64,
    total: u64,
}

impl<'c> RowProgress<'c> {
    fn new(control: &'c Control, total: usize) -> Self {
        RowProgress { control, done: AtomicU64::new(0), total: total as u64 }
    }

    fn add(&self, rows: usize) -> Result<()> {
        let done = self.done.fetch_add(rows as u64, Ordering::Relaxed) + rows as u64;
        self.control.progress("solve", done, self.total)
    }
}

/// What all batches share.
struct Batches<'a, D> {
    graph: &'a Renumbered,
    ladder: &'a Ladder<'a, D>,
    /// The number of the target of each column.
    columns: &'a [u32],
    sources: &'a [VertexId],
    finish: &'a Finish<'a, D>,
    control: &'a Control,
}

/// A batch: which rows it is, and where they go.
type Batch<'a, 'r, D> = (&'a [usize], Vec<&'r mut [D]>);

impl<D: DistanceValue> Batches<'_, D> {
    /// Fills the slices, which belong to `rows` in order; threads take batch after batch.
    fn fill(&self, team: &Team, rows: &[usize], slices: Vec<&mut [D]>, progress: &RowProgress<'_>) -> Result<()> {
        let width = rows.len().div_ceil(team.threads()).clamp(1, LANES);
        let mut slices = slices.into_iter();
        let batches =
            rows.chunks(width).map(|rows| Mutex::new(Some((rows, slices.by_ref().take(rows.len()).collect()))));
        let work: Vec<Mutex<Option<Batch<'_, '_, D>>>> = memory::listed("the list of batches", batches)?;
        let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let results = team.run(|_| -> Result<()> {
            while !failed.load(Ordering::Relaxed) {
                let Some(slot) = work.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                let Some((rows, mut slices)) = slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take()
                else {
                    continue;
                };
                let done = self.solve_batch(rows, &mut slices).and_then(|()| progress.add(rows.len()));
                if done.is_err() {
                    failed.store(true, Ordering::Relaxed);
                    return done;
                }
            }
            Ok(())
        });
        results.into_iter().collect()
    }

    fn solve_batch(&self, rows: &[usize], slices: &mut [&mut [D]]) -> Result<()> {
        let numbers: Vec<u32> = rows.iter().map(|&row| self.graph.number[self.sources[row] as usize]).collect();
        let mut done = 0;
        while done < rows.len() {
            let at = self.ladder.current();
            let rung = &self.ladder.rungs[at];
            let part = done..rows.len().min(done + rung.lanes());
            if rung.solve(&numbers[part.clone()], &mut slices[part.clone()], self.columns, self.control)? {
                done = part.end;
            } else {
                self.ladder.climb_above(at)?;
            }
        }
        for (&row, slice) in rows.iter().zip(slices) {
            (self.finish)(self.sources[row], slice)?;
        }
        Ok(())
    }
}

/// The graph with its vertices in breadth-first order: heads by tail, and tails by head.
#[derive(Debug)]
pub struct Renumbered {
    /// The number of each vertex.
    number: Vec<u32>,
    out_offsets: Vec<usize>,
    heads: Vec<u32>,
    in_offsets: Vec<usize>,
    tails: Vec<u32>,
    /// For each entry of `tails`, which arc of the graph it is.
    arcs: Vec<u64>,
    greatest_weight: f64,
}

impl Renumbered {
    /// Renumbers a graph whose arcs have these weights, which may differ from its own. O(V + E).
    ///
    /// # Errors
    ///
    /// If there is no memory for it.
    pub(super) fn new<W: Copy, A: ArcWeight>(graph: Adjacency<'_, W>, weights: &[A]) -> Result<Self> {
        let (number, vertices) = breadth_first_numbers(graph)?;
        let mut out_offsets = memory::with_capacity("the offsets of renumbered vertices", graph.vertices() + 1)?;
        out_offsets.push(0);
        let mut heads = memory::with_capacity("the renumbered arcs", graph.arcs())?;
        let mut in_offsets: Vec<usize> = memory::zeroed("the offsets of renumbered vertices", graph.vertices() + 1)?;
        for &v in &vertices {
            for &head in graph.neighbors(v) {
                let head = number[head as usize];
                heads.push(head);
                in_offsets[head as usize + 1] += 1;
            }
            out_offsets.push(heads.len());
        }
        (1..in_offsets.len()).for_each(|v| in_offsets[v] += in_offsets[v - 1]);
        let mut cursors = memory::copied("the offsets of renumbered vertices", &in_offsets)?;
        let mut tails = memory::zeroed("the renumbered arcs", graph.arcs())?;
        let mut arcs = memory::zeroed("the renumbered arcs", graph.arcs())?;
        for (tail, &v) in vertices.iter().enumerate() {
            for arc in graph.row(v) {
                let cursor = &mut cursors[number[graph.targets[arc] as usize] as usize];
                tails[*cursor] = tail as u32;
                arcs[*cursor] = arc as u64;
                *cursor += 1;
            }
        }
        let greatest_weight = weights.iter().map(|weight| weight.to_f64()).fold(0.0, f64::max);
        Ok(Renumbered { number, out_offsets, heads, in_offsets, tails, arcs, greatest_weight })
    }
}

/// The position of each vertex in breadth-first order from the vertices of least id, and the vertices in that order.
fn breadth_first_numbers<W: Copy>(graph: Adjacency<'_, W>) -> Result<(Vec<u32>, Vec<VertexId>)> {
    let mut number = memory::filled("the numbers of vertices", graph.vertices(), u32::MAX)?;
    let mut vertices: Vec<VertexId> = memory::with_capacity("the queue of vertices", graph.vertices())?;
    let mut scanned = 0;
    for start in 0..graph.vertices() as VertexId {
        if number[start as usize] != u32::MAX {
            continue;
        }
        number[start as usize] = vertices.len() as u32;
        vertices.push(start);
        while scanned < vertices.len() {
            for &head in graph.neighbors(vertices[scanned]) {
                if number[head as usize] == u32::MAX {
                    number[head as usize] = vertices.len() as u32;
                    vertices.push(head);
                }
            }
            scanned += 1;
        }
    }
    Ok((number, vertices))
}

/// The weight of an arc, as labels are made from it.
pub trait ArcWeight: Copy + Send + Sync {
    /// As an integer; floats are never asked.
    fn to_i64(self) -> i64;
    /// As a float, rounded if it has more than 53 bits.
    fn to_f64(self) -> f64;
}

macro_rules! arc_weight {
    ($type:ty, $integer:expr, $float:expr) => {
        impl ArcWeight for $type {
            fn to_i64(self) -> i64 {
                let convert: fn($type) -> i64 = $integer;
                convert(self)
            }
            fn to_f64(self) -> f64 {
                let convert: fn($type) -> f64 = $float;
                convert(self)
            }
        }
    };
}
arc_weight!(Unit, |_| 1, |_| 1.0);
arc_weight!(u32, i64::from, f64::from);
arc_weight!(i32, i64::from, f64::from);
arc_weight!(i64, |w| w, |w| w as f64);
arc_weight!(f32, |w| w as i64, f64::from);
arc_weight!(f64, |w| w as i64, |w| w);

/// A tentative distance, as narrow as may be.
pub trait Label: Copy + PartialOrd + Send + Sync + 'static {
    /// The label of a source.
    const ZERO: Self;
    /// The label of a vertex not reached; greater than all others.
    const UNREACHED: Self;
    /// How many bits it has.
    const BITS: u64;
    /// Sums below this can't have saturated.
    const LIMIT: f64;
    /// The label plus a weight, `UNREACHED` where that would be too much.
    fn extend(self, weight: Self) -> Self;
    /// The label of an arc's weight, `UNREACHED` if it is too much.
    fn weight(weight: impl ArcWeight) -> Self;
    /// For comparisons with [`Label::LIMIT`].
    fn to_f64(self) -> f64;
    /// Whether it is less than all numbers: what floats below 0 come to that leave their range.
    fn is_below_all(self) -> bool {
        self.to_f64() == f64::NEG_INFINITY
    }
}

macro_rules! label {
    ($type:ty, $unreached:expr, |$label:ident, $weight:ident| $extend:expr, |$arc:ident| $from_arc:expr) => {
        impl Label for $type {
            const ZERO: Self = 0 as $type;
            const UNREACHED: Self = $unreached;
            const BITS: u64 = <$type>::MAX.to_le_bytes().len() as u64 * 8;
            const LIMIT: f64 = <$type>::MAX as f64 * (1.0 - 1e-6);
            #[inline(always)]
            fn extend(self, $weight: Self) -> Self {
                let $label = self;
                $extend
            }
            fn weight($arc: impl ArcWeight) -> Self {
                $from_arc
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    };
}
label!(u8, u8::MAX, |d, w| d.saturating_add(w), |arc| arc.to_i64().try_into().unwrap_or(u8::MAX));
label!(u16, u16::MAX, |d, w| d.saturating_add(w), |arc| arc.to_i64().try_into().unwrap_or(u16::MAX));
// `saturating_add` compiles to more instructions than this.
label!(
    u32,
    u32::MAX,
    |d, w| {
        let room = u32::MAX - w;
        (if d < room { d } else { room }) + w
    },
    |arc| arc.to_i64().try_into().unwrap_or(u32::MAX)
);
label!(u64, u64::MAX, |d, w| d.saturating_add(w), |arc| arc.to_i64().try_into().unwrap_or(u64::MAX));
// A path has fewer than 2^32 arcs of less than 2^31: nothing but `UNREACHED` could overflow.
label!(i64, i64::MAX, |d, w| if d == i64::MAX { d } else { d.wrapping_add(w) }, |arc| arc.to_i64());
label!(f32, f32::INFINITY, |d, w| d + w, |arc| arc.to_f64() as f32);
label!(f64, f64::INFINITY, |d, w| d + w, |arc| arc.to_f64());

/// A label that becomes a distance of type `D`.
pub trait LabelOf<D>: Label {
    /// The distance; `UNREACHED` becomes `UNREACHABLE`.
    fn distance(self) -> D;
}
macro_rules! label_of {
    ($($label:ty => $distance:ty),*) => {$(
        impl LabelOf<$distance> for $label {
            #[inline(always)]
            fn distance(self) -> $distance {
                if self == Self::UNREACHED { <$distance as DistanceValue>::UNREACHABLE } else { self as $distance }
            }
        }
    )*};
}
label_of!(u8 => u32, u16 => u32, u32 => u32, u8 => u64, u16 => u64, u32 => u64, u64 => u64);
label_of!(u8 => i64, u16 => i64, u32 => i64, i64 => i64, f32 => f32, f64 => f64);

/// Label types from narrow to wide: batches are solved in the current one, which only ever gets wider.
#[derive(Debug)]
pub struct Ladder<'g, D> {
    rungs: Vec<Box<dyn Rung<D> + 'g>>,
    current: AtomicUsize,
    lane: &'static str,
}

impl<D> Ladder<'_, D> {
    fn current(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    /// The labels of this rung were too narrow.
    fn climb_above(&self, rung: usize) -> Result<()> {
        if rung + 1 == self.rungs.len() {
            return Err(Error::DistanceOverflow { lane: self.lane });
        }
        self.current.fetch_max(rung + 1, Ordering::Relaxed);
        Ok(())
    }
}

/// A lane that batches are compiled for.
pub trait BatchLane: Lane<Weight: ArcWeight> {
    /// Label types for these weights, in batches of few or many lanes. Only the widest may become negative.
    fn ladder<'g>(
        graph: &'g Renumbered,
        weights: &'g [Self::Weight],
        few: bool,
        negative: bool,
    ) -> Ladder<'g, Self::Distance>;
}

macro_rules! batch_lane {
    ($lane:ident: $($label:ty, $lanes:expr);*) => {
        impl BatchLane for $lane {
            fn ladder<'g>(
                graph: &'g Renumbered,
                weights: &'g [Self::Weight],
                few: bool,
                negative: bool,
            ) -> Ladder<'g, Self::Distance> {
                ladder!($lane, graph, weights, few, negative, $($label, $lanes);*)
            }
        }
    };
}
/// Boxes a rung for each label type.
macro_rules! ladder {
    ($lane:ident, $graph:expr, $weights:expr, $few:expr, $negative:expr, $($label:ty, $lanes:expr);*) => {{
        let rungs: Vec<Box<dyn Rung<_>>> = if $few {
            vec![$(Box::new(LabelRung::<$label, FEW_LANES, _>::new($graph, $weights))),*]
        } else {
            vec![$(Box::new(LabelRung::<$label, $lanes, _>::new($graph, $weights))),*]
        };
        let first = if $negative { rungs.len() - 1 } else { 0 };
        Ladder { rungs, current: AtomicUsize::new(first), lane: $lane::NAME }
    }};
}
batch_lane!(UnitLane: u8, 128; u16, 128; u32, 64);
batch_lane!(U32Narrow: u8, 128; u16, 128; u32, 64);
batch_lane!(U32Wide: u8, 128; u16, 128; u32, 64; u64, 32);
batch_lane!(I32Lane: u8, 128; u16, 128; u32, 64; i64, 32);
batch_lane!(F32Lane: f32, 64);
batch_lane!(F64Lane: f64, 32);

/// Weights that `johnson` has made non-negative: too wide for any lane, but the distances are signed.
pub(super) struct Johnson;

impl Johnson {
    const NAME: &'static str = I32Lane::NAME;

    /// Label types for reweighted arcs.
    pub(super) fn ladder<'g>(graph: &'g Renumbered, weights: &'g [i64], sources: usize) -> Ladder<'g, i64> {
        ladder!(Johnson, graph, weights, sources <= FEW_LANES, false, u8, 128; u16, 128; u32, 64; i64, 32)
    }
}

/// Batches with labels of one type.
trait Rung<D>: Send + Sync + std::fmt::Debug {
    /// How many sources at once.
    fn lanes(&self) -> usize;
    /// Bits a label has.
    fn bits(&self) -> u64;
    /// How many incoming arcs were read, each for all lanes.
    fn relaxations(&self) -> u64;
    /// Fills the rows of these sources (numbers, not ids); false if the labels are too narrow.
    fn solve(&self, sources: &[u32], rows: &mut [&mut [D]], columns: &[u32], control: &Control) -> Result<bool>;
}

/// Labels of type `T` in batches of `B`, from weights of type `A`.
struct LabelRung<'g, T, const B: usize, A> {
    graph: &'g Renumbered,
    arc_weights: &'g [A],
    /// The weights as labels, by entry of `tails`; made when this rung is first used, `None` if there is no memory for them.
    weights: OnceLock<Option<Vec<T>>>,
    /// Workspaces not in use: at most one a thread.
    idle: Mutex<Vec<Workspace<T, B>>>,
    relaxations: AtomicU64,
}

/// What one batch works on.
struct Workspace<T, const B: usize> {
    labels: Vec<[T; B]>,
    /// A bit for each vertex whose tails have changed.
    marked: Vec<u64>,
}

impl<T, const B: usize, A> std::fmt::Debug for LabelRung<'_, T, B, A> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "LabelRung of {B} lanes of {}", std::any::type_name::<T>())
    }
}

impl<'g, T: Label, const B: usize, A: ArcWeight> LabelRung<'g, T, B, A> {
    fn new(graph: &'g Renumbered, arc_weights: &'g [A]) -> Self {
        let idle = Mutex::new(Vec::new());
        LabelRung { graph, arc_weights, weights: OnceLock::new(), idle, relaxations: AtomicU64::new(0) }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Workspace<T, B>>> {
        self.idle.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<D: DistanceValue, T: LabelOf<D>, const B: usize, A: ArcWeight> Rung<D> for LabelRung<'_, T, B, A> {
    fn lanes(&self) -> usize {
        B
    }

    fn bits(&self) -> u64 {
        T::BITS
    }

    fn relaxations(&self) -> u64 {
        self.relaxations.load(Ordering::Relaxed)
    }

    fn solve(&self, sources: &[u32], rows: &mut [&mut [D]], columns: &[u32], control: &Control) -> Result<bool> {
        let graph = self.graph;
        let as_label = |&arc: &u64| T::weight(self.arc_weights[arc as usize]);
        let what = "the array of weights as labels";
        let weights = self.weights.get_or_init(|| memory::listed(what, graph.arcs.iter().map(as_label)).ok());
        let weights = weights.as_ref().ok_or_else(|| refused(what, bytes_of::<T>(graph.arcs.len())))?;
        let vertices = graph.number.len();
        let spare = self.idle().pop();
        let mut workspace = match spare {
            Some(workspace) => workspace,
            None => Workspace {
                labels: memory::filled("the labels of a batch", vertices, [T::UNREACHED; B])?,
                marked: memory::zeroed("the marks of vertices", vertices.div_ceil(64))?,
            },
        };
        let mut search = BatchSearch { graph, weights, workspace: &mut workspace, pulled: 0 };
        for (lane, &source) in sources.iter().enumerate() {
            search.workspace.labels[source as usize][lane] = T::ZERO;
            search.mark_heads(source as usize);
        }
        // With non-negative weights, or no negative cycle, rounds end by themselves; but rounding may shrink a cycle of
        // floats for ever whose exact length is 0.
        for _ in 0..=vertices {
            control.check()?;
            if !search.round() {
                break;
            }
        }
        let fits = search.labels_suffice();
        if fits {
            search.extract(rows, columns);
        }
        self.relaxations.fetch_add(search.pulled, Ordering::Relaxed);
        workspace.labels.fill([T::UNREACHED; B]);
        workspace.marked.fill(0);
        self.idle().push(workspace);
        Ok(fits)
    }
}

struct BatchSearch<'a, T, const B: usize> {
    graph: &'a Renumbered,
    weights: &'a [T],
    workspace: &'a mut Workspace<T, B>,
    pulled: u64,
}

impl<T: Label, const B: usize> BatchSearch<'_, T, B> {
    #[inline(always)]
    fn mark_heads(&mut self, u: usize) {
        for &head in &self.graph.heads[self.graph.out_offsets[u]..self.graph.out_offsets[u + 1]] {
            self.workspace.marked[head as usize / 64] |= 1 << (head % 64);
        }
    }

    /// Pulls every marked vertex, those marked meanwhile included as far as they come later; whether there were any.
    #[inline(always)]
    fn round_anywhere(&mut self) -> bool {
        let mut any = false;
        for word in 0..self.workspace.marked.len() {
            while self.workspace.marked[word] != 0 {
                let bit = self.workspace.marked[word].trailing_zeros() as usize;
                self.workspace.marked[word] &= self.workspace.marked[word] - 1;
                any = true;
                if self.pull(word * 64 + bit) {
                    self.mark_heads(word * 64 + bit);
                }
            }
        }
        any
    }

    /// Recomputes the labels of `v` from its tails; whether any fell.
    #[inline(always)]
    fn pull(&mut self, v: usize) -> bool {
        let row = self.graph.in_offsets[v]..self.graph.in_offsets[v + 1];
        self.pulled += row.len() as u64;
        let labels = &mut self.workspace.labels;
        let before = labels[v];
        let mut best = before;
        for (&tail, &weight) in self.graph.tails[row.clone()].iter().zip(&self.weights[row]) {
            let from = &labels[tail as usize];
            for lane in 0..B {
                let through = from[lane].extend(weight);
                best[lane] = if through < best[lane] { through } else { best[lane] };
            }
        }
        let mut better = false;
        for lane in 0..B {
            better |= best[lane] < before[lane];
        }
        if better {
            labels[v] = best;
        }
        better
    }

    /// Whether no label was lost to saturation: nearly always because the greatest one plus the greatest weight is in
    /// range, else because no arc leads from a reached vertex to an unreached one. None may be below all numbers.
    #[inline(always)]
    fn labels_suffice_anywhere(&self) -> bool {
        let labels = &self.workspace.labels;
        let mut greatest = [T::ZERO; B];
        for label in labels {
            for lane in 0..B {
                let reached = label[lane] < T::UNREACHED;
                greatest[lane] = if reached && greatest[lane] < label[lane] { label[lane] } else { greatest[lane] };
            }
        }
        if labels.iter().any(|label| label.iter().any(|label| label.is_below_all())) {
            return false;
        }
        let greatest = greatest.iter().map(|label| label.to_f64()).fold(0.0, f64::max);
        if greatest + self.graph.greatest_weight < T::LIMIT {
            return true;
        }
        labels.iter().enumerate().all(|(v, to)| {
            let row = self.graph.in_offsets[v]..self.graph.in_offsets[v + 1];
            self.graph.tails[row].iter().all(|&tail| {
                let from = &labels[tail as usize];
                let mut lost = false;
                for lane in 0..B {
                    lost |= from[lane] < T::UNREACHED && to[lane] == T::UNREACHED;
                }
                !lost
            })
        })
    }

    /// Turns labels by vertex into rows by source, a tile at a time.
    #[inline(always)]
    fn extract_anywhere<D: DistanceValue>(&self, rows: &mut [&mut [D]], columns: &[u32])
    where
        T: LabelOf<D>,
    {
        const TILE: usize = 64;
        for (tile, columns) in columns.chunks(TILE).enumerate() {
            let mut window = [&self.workspace.labels[0]; TILE];
            for (labels, &column) in window.iter_mut().zip(columns) {
                *labels = &self.workspace.labels[column as usize];
            }
            for (lane, row) in rows.iter_mut().enumerate() {
                for (cell, labels) in row[tile * TILE..].iter_mut().zip(&window[..columns.len()]) {
                    *cell = labels[lane].distance();
                }
            }
        }
    }
}

/// Compiles a method for every instruction set and calls the right one.
macro_rules! vectorized {
    ($name:ident, $anywhere:ident, ($($argument:ident: $type:ty),*), $result:ty, [$($generic:tt)*] [$($bound:tt)*]) => {
        impl<T: Label, const B: usize> BatchSearch<'_, T, B> {
            fn $name<$($generic)*>(&mut self, $($argument: $type),*) -> $result where $($bound)* {
                #[cfg(target_arch = "x86_64")]
                {
                    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
                    fn avx512<T, const B: usize, $($generic)*>(
                        search: &mut BatchSearch<'_, T, B>, $($argument: $type),*
                    ) -> $result where T: Label, $($bound)* {
                        search.$anywhere($($argument),*)
                    }
                    #[target_feature(enable = "avx2")]
                    fn avx2<T, const B: usize, $($generic)*>(
                        search: &mut BatchSearch<'_, T, B>, $($argument: $type),*
                    ) -> $result where T: Label, $($bound)* {
                        search.$anywhere($($argument),*)
                    }
                    match InstructionSet::detect() {
                        // SAFETY: this processor has these instructions.
                        InstructionSet::Avx512 => return unsafe { avx512(self, $($argument),*) },
                        // SAFETY: this processor has these instructions.
                        InstructionSet::Avx2 => return unsafe { avx2(self, $($argument),*) },
                        InstructionSet::Portable => {}
                    }
                }
                self.$anywhere($($argument),*)
            }
        }
    };
}
vectorized!(round, round_anywhere, (), bool, [] []);
vectorized!(labels_suffice, labels_suffice_anywhere, (), bool, [] []);
vectorized!(extract, extract_anywhere, (rows: &mut [&mut [D]], columns: &[u32]), (), [D: DistanceValue] [T: LabelOf<D>]);
