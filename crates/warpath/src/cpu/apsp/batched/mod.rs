//! Many sources at once, sharing the adjacency reads.
//!
//! A batch of 16 to 128 sources keeps its labels (tentative distances) vertex by vertex: `labels[v][slot]` is the label
//! of `v` for the source in that slot. Reading an arc once then serves all slots, and a relaxation of all slots is a
//! few vector instructions. Each thread works on a batch of its own; nothing is shared but the graph.
//!
//! *Pulling.* The labels of `v` are recomputed from the tails of its incoming arcs, in registers, with one store at the
//! end and no branch inside; pushing along outgoing arcs would load and store every head and mispredict on each
//! (measured: half the speed). If any slot improved, the heads of `v`'s outgoing arcs are marked in a bitmap. Rounds
//! over the bitmap go on until it is empty: a label-correcting method, so every label ends as the least length, rounded
//! left to right, over all walks, whatever the order was, and equals the distance that any other search finds, bit for
//! bit. Labels are updated in place, so an improvement travels along ascending numbers within one round.
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
//! Negative weights are fine as long as no negative cycle can be reached; the algorithm looks for one first.
//!
//! Source: Then et al. 2014, "The more the merrier" (sharing reads between searches); Bellman 1958 (label-correcting).
//!
//! *Parts.* `order` fills rows in the order of their sources, `renumbered` is the graph that batches read, `labels` the
//! types of labels, `ladder` which of them is in use; `batch` searches one batch.

mod batch;
mod labels;
mod ladder;
mod order;
mod renumbered;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

pub(crate) use labels::ArcWeight;
pub(crate) use ladder::Ladder;
use order::{RowProgress, fill_in_order};
pub(crate) use renumbered::Renumbered;
use renumbered::breadth_first_numbers;

use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload};
use crate::all_pairs::potentials::potentials;
use crate::cpu::Team;
use crate::cpu::bfs::multi_source;
use crate::graph::{DistanceValue, UnitToU32, VertexId, WeightKind};
use crate::problems::Problem;
use crate::{Control, Result, memory};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "batched",
        summary: "up to 128 sources at once in vector registers; for sparse graphs",
        source: "label-correcting search, reads shared as in Then et al. 2014",
        parameters: &[],
        negative_weights: true,
        seconds,
    },
    needs_matrix: false,
    ends_at_targets: false,
    seconds_before: seconds_before_batches,
    rows_together: LANES,
    workspace_bytes,
    function: Function::Batched,
};

fn seconds(work: &Workload<'_>) -> f64 {
    /// What each thread costs.
    const START: f64 = 10e-6;
    if work.searches == 0 {
        return 0.0;
    }
    let threads = work.threads.max(1) as f64;
    let most = if work.graph.weight_kind == WeightKind::Unit { MOST_WITHOUT_WEIGHTS } else { LANES };
    // The searches that a batch has, and the batches that follow each other on a thread.
    let searches = work.searches as f64;
    let together = (searches / threads).clamp(1.0, most as f64);
    let in_turn = (searches / together / threads).max(1.0);
    let batch = if work.graph.weight_kind == WeightKind::Unit {
        seconds_without_weights(work, together)
    } else {
        seconds_with_weights(work, together)
    };
    threads * START + in_turn * batch
}

/// Predicted seconds until batches of weighted searches begin: the graph is renumbered, and each thread takes memory for its labels.
pub(super) fn seconds_before_batches(work: &Workload<'_>) -> f64 {
    /// A vertex or an arc that gets a number, and the labels of a vertex.
    const NUMBER: f64 = 40e-9;
    const LABELS: f64 = 40e-9;
    if work.graph.weight_kind == WeightKind::Unit {
        return 0.0;
    }
    let threads = work.threads.min(work.searches) as f64;
    (work.vertices() + work.arcs()) * NUMBER + work.vertices() * threads * LABELS
}

/// Searches that share a batch without weights.
const MOST_WITHOUT_WEIGHTS: usize = 512;

/// Predicts a batch of this many searches without weights: the levels of each have to be written for every vertex.
fn seconds_without_weights(work: &Workload<'_>, together: f64) -> f64 {
    /// A vertex for each search, where levels are few and where they are many.
    const VERTEX: f64 = 8e-9;
    const OF_SHORT_LEVELS: f64 = 30e-9;
    /// An arc for each search, and for the batch.
    const ARC: f64 = 0.15e-9;
    const ARC_OF_BATCH: f64 = 5e-9;
    let vertex = if work.graph.has_short_levels() { OF_SHORT_LEVELS } else { VERTEX };
    together * (work.vertices() * vertex + work.arcs() * ARC) + work.arcs() * ARC_OF_BATCH
}

/// Predicts a batch of this many searches with weights: in how many waves distances arrive at a vertex, which has to be pulled
/// in each. A vector costs the same however many of its slots are used.
fn seconds_with_weights(work: &Workload<'_>, together: f64) -> f64 {
    /// A vertex or an arc in one wave, on one thread alone.
    const WAVE: f64 = 35e-9;
    /// The power of the number of threads with which each becomes slower: they share the memory.
    const SHARED_MEMORY: f64 = 0.3;
    /// Vertices whose labels are in the cache, and how much longer than these the labels of a great graph take.
    const CACHED: f64 = (1 << 15) as f64;
    const MOST_MISSES: f64 = 8.0;
    /// Waves of one search with equal weights, and more for each factor of e between the least and the greatest weight, because a
    /// distance falls more often: where levels are short, where some vertices have far more arcs than most, and elsewhere.
    const OF_SHORT_LEVELS: (f64, f64) = (0.4, 0.53);
    const SKEWED: (f64, f64) = (0.32, 0.29);
    const EVEN: (f64, f64) = (0.45, 0.75);
    /// Elsewhere so many times the least weight makes no more waves.
    const NARROW: f64 = 100.0;
    /// The power of the number of searches with which waves grow, where levels are short and elsewhere.
    const MORE_OF_SHORT_LEVELS: f64 = 0.7;
    const MORE: f64 = 0.2;
    /// The power of a batch's share of all searches with which waves grow, where levels are short. Sources are shared out in
    /// breadth-first order: the more of them there are, the closer together are those of a batch.
    const SHARE: f64 = 0.1;
    let spread = work.graph.spread_of_weights().ln();
    let waves = if work.graph.has_short_levels() {
        let (least, more) = OF_SHORT_LEVELS;
        let share = together / (work.searches as f64).max(together);
        (least + more * spread) * together.powf(MORE_OF_SHORT_LEVELS) * share.powf(SHARE)
    } else {
        let ((least, more), spread) = match work.graph.is_skewed() {
            true => (SKEWED, spread),
            false => (EVEN, (spread - NARROW.ln()).max(0.0)),
        };
        (least + more * spread) * together.powf(MORE)
    };
    let misses = (work.vertices() / CACHED).sqrt().clamp(1.0, MOST_MISSES);
    let slower = (work.threads.max(1) as f64).powf(SHARED_MEMORY);
    (work.vertices() + work.arcs()) * WAVE * waves * misses * slower
}

/// Unweighted searches may always have this many bytes of bits.
const SMALL_BYTES: u64 = 16 << 20;
/// The most slots a batch has.
const LANES: usize = 128;

pub(super) fn workspace_bytes(vertices: u64, arcs: u64, threads: u64, distance_bytes: u64) -> u64 {
    let graph = vertices * 24 + arcs * (8 + 8 + distance_bytes);
    let labels = threads * vertices * 256;
    graph.saturating_add(labels)
}

pub(super) fn solve<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
) -> Result<Statistics> {
    task.check(&output)?;
    let negative = task.graph.has_negative_weights();
    if negative {
        potentials::<L>(task.adjacency, task.graph, task.sources, task.control)?;
    }
    let graph = Renumbered::new(task.adjacency, task.adjacency.weights)?;
    let ladder = L::ladder(&graph, task.adjacency.weights, task.sources.len(), negative);
    search::<L>(task, &graph, &ladder, output, &|_, _| Ok(()))
}

/// The last step on a finished row, given its source and its distances by column.
pub(super) type Finish<'f, D> = dyn Fn(VertexId, &mut [D]) -> Result<()> + Sync + 'f;

/// Fills all rows, batch by batch, in the order of the renumbered sources.
pub(super) fn search<L: MinPlusOnCpu>(
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
pub(super) fn solve_unit(task: &ApspTask<'_, UnitToU32>, output: ApspOutput<'_, u32>) -> Result<Statistics> {
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

/// The state that all batches share.
struct Batches<'a, D> {
    graph: &'a Renumbered,
    ladder: &'a Ladder<'a, D>,
    /// The number of the target of each column.
    columns: &'a [u32],
    sources: &'a [VertexId],
    finish: &'a Finish<'a, D>,
    control: &'a Control,
}

/// A batch: its rows, and where they go.
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
            let part = done..rows.len().min(done + rung.slots());
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
