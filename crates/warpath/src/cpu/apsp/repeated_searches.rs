//! A search of its own for each source: the rows of the table come from single searches, which know nothing of each
//! other.
//!
//! Each search is the one that a single source gets: breadth-first without weights, else `delta-stepping`, `dijkstra`
//! on small graphs, `bellman-ford` with weights below 0. A search ends when its targets are settled, unless weights are
//! below 0. Each thread takes the next source, so searches need no barriers; a source that comes alone has all threads.
//!
//! It wins where searches have little to share: where sources are few, since [`batched`](super::batched) search works
//! on all slots of its vectors, used or not, and where levels are many and short, as on roads, since there the
//! wavefronts of a batch do not coincide. Work: that of the searches. Memory: for each thread the arrays of a search.
//!
//! Source: the algorithms of the searches, in `cpu/bfs` and `cpu/sssp`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{ApspAlgorithm, ApspOutput, ApspTask, Function, MinPlusOnCpu};
use crate::algorithms::{AlgorithmInfo, Statistics, Workload, add_counters};
use crate::cpu::Team;
use crate::cpu::bfs::{self, BfsTask};
use crate::cpu::sssp::{self, SsspAlgorithm, SsspTask};
use crate::graph::{DistanceValue, UnitToU32, VertexId, WeightKind};
use crate::problems::Problem;
use crate::{Error, Result, memory, parallel};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: ApspAlgorithm = ApspAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "repeated-searches",
        summary: "a search of its own for each source, until its targets are settled; for few sources, and for roads",
        source: "the searches of `bfs` and `sssp`, repeated",
        parameters: &[],
        negative_weights: true,
        seconds,
    },
    needs_matrix: false,
    ends_at_targets: true,
    seconds_before: |_| 0.0,
    rows_together: 1,
    workspace_bytes,
    function: Function::RepeatedSearches,
};

fn seconds(work: &Workload<'_>) -> f64 {
    let graph = &work.graph;
    if graph.weight_kind == WeightKind::Unit {
        return (bfs::choose_by(graph.vertices, graph.arcs, 1).info.seconds)(work);
    }
    (sssp::choose(graph.vertices, graph.arcs, graph.has_negative_weights()).0.info.seconds)(work)
}

fn workspace_bytes(vertices: u64, arcs: u64, threads: u64, distance_bytes: u64) -> u64 {
    // Distances, marks and queues of a search; of its buckets or heap, an entry for an arc in four at a time.
    let search =
        vertices.saturating_mul(distance_bytes + 13).saturating_add(arcs.saturating_mul(distance_bytes + 4) / 4);
    threads.saturating_mul(search)
}

pub(super) fn solve<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
) -> Result<Statistics> {
    let graph = task.graph;
    let (algorithm, _) = sssp::choose(graph.vertices(), graph.arcs(), graph.has_negative_weights());
    solve_by(task, output, algorithm)
}

/// Fills the table by searches of this algorithm.
pub(super) fn solve_by<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
    algorithm: &SsspAlgorithm,
) -> Result<Statistics> {
    let ApspTask { adjacency, graph, parameters, control, .. } = *task;
    let search = |source, targets: &[VertexId], team: &Team, distances: &mut [L::Distance]| {
        let search = SsspTask {
            adjacency,
            graph,
            sources: &[source],
            targets,
            cutoff: L::Distance::UNREACHABLE,
            parameters,
            metric: None,
            team,
            control,
        };
        algorithm.solve_into::<L>(&search, distances)
    };
    fill(task, output, algorithm.blank::<L>(), &search)
}

/// Unit weights need no heap and no buckets: breadth-first searches.
pub(super) fn solve_unit(task: &ApspTask<'_, UnitToU32>, output: ApspOutput<'_, u32>) -> Result<Statistics> {
    let ApspTask { graph, parameters, control, .. } = *task;
    let algorithm = bfs::choose_by(graph.vertices(), graph.arcs(), 1);
    let search = |source, targets: &[VertexId], team: &Team, levels: &mut [u32]| {
        let cutoff = u32::UNREACHABLE;
        algorithm.solve_into(
            &BfsTask { graph, sources: &[source], targets, cutoff, parameters, metric: None, team, control },
            levels,
        )
    };
    fill(task, output, u32::UNREACHABLE, &search)
}

/// How many rows of a block each thread fills at least, if there is the memory.
const ROWS_A_THREAD: usize = 8;
/// A block may always have this many bytes.
const SMALL_BLOCK: u64 = 8 << 20;

/// Searches from a source until these targets, if there are any, are settled, in an array that is blank.
type Search<'a, D> = dyn Fn(VertexId, &[VertexId], &Team, &mut [D]) -> Result<Statistics> + Sync + 'a;

fn fill<L: MinPlusOnCpu>(
    task: &ApspTask<'_, L>,
    output: ApspOutput<'_, L::Distance>,
    blank: L::Distance,
    search: &Search<'_, L::Distance>,
) -> Result<Statistics> {
    task.check(&output)?;
    let order = memory::listed("the order of rows", 0..task.sources.len())?;
    // Paths that come back from beyond a target may be shorter if weights are below 0.
    let ends = task.targets.filter(|_| !task.graph.has_negative_weights()).unwrap_or_default();
    let mut ends = memory::copied("the list of targets", ends)?;
    ends.sort_unstable();
    ends.dedup();
    let (done, idle, statistics) = (AtomicU64::new(0), Mutex::default(), Mutex::default());
    let rows = Rows { task, search, blank, ends, idle, done, statistics };
    match output {
        ApspOutput::Matrix(matrix) => rows.fill(&order, matrix)?,
        ApspOutput::Blocks(consumer) => {
            let have = consumer.start(&order)?.min(order.len());
            rows.done.store(have as u64, Ordering::Relaxed);
            // A block is fresh memory the first time, so it is no greater than the threads need to stay busy.
            let some = (ROWS_A_THREAD * task.team.threads() * task.columns() * size_of::<L::Distance>()) as u64;
            let block_bytes = task.block_bytes.min(some.max(SMALL_BLOCK));
            let task = ApspTask { block_bytes, ..*task };
            task.hand_out(&order[have..], 1, consumer, |block, values| rows.fill(block, values))?;
        }
    }
    Ok(rows.statistics.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// The state that all searches share.
struct Rows<'a, L: MinPlusOnCpu> {
    task: &'a ApspTask<'a, L>,
    search: &'a Search<'a, L::Distance>,
    /// What an array of distances is filled with before a search.
    blank: L::Distance,
    /// Where a search may end; if there are none, it goes on to the end.
    ends: Vec<VertexId>,
    /// Arrays of distances not in use, at most one a thread: for searches whose row has only some of the distances.
    idle: Mutex<Vec<Vec<L::Distance>>>,
    /// The rows that are finished.
    done: AtomicU64,
    statistics: Mutex<Statistics>,
}

impl<L: MinPlusOnCpu> Rows<'_, L> {
    /// Fills rows, whose cells lie one row after another; threads take row after row, and a single row has them all.
    fn fill(&self, rows: &[usize], cells: &mut [L::Distance]) -> Result<()> {
        let (columns, sources) = (self.task.columns(), self.task.sources);
        if columns == 0 {
            return Ok(());
        }
        if let &[row] = rows {
            return self.fill_row(sources[row], cells, self.task.team);
        }
        self.task.team.install(|| {
            parallel::try_for_each_chunk(cells, columns, |index, cells| {
                self.fill_row(sources[rows[index]], cells, &Team::alone())
            })
        })
    }

    /// Fills the row of a source.
    fn fill_row(&self, source: VertexId, cells: &mut [L::Distance], team: &Team) -> Result<()> {
        match self.task.targets {
            // The row is the array that the search works in.
            None => {
                team.fill(cells, self.blank);
                self.search(source, cells, team)?;
            }
            Some(targets) => {
                let spare = self.idle().pop();
                let mut distances = match spare {
                    Some(mut distances) => {
                        team.fill(&mut distances, self.blank);
                        distances
                    }
                    None => team.filled("the array of distances", self.task.graph.vertices(), || self.blank)?,
                };
                self.search(source, &mut distances, team)?;
                cells.iter_mut().zip(targets).for_each(|(cell, &target)| *cell = distances[target as usize]);
                self.idle().push(distances);
            }
        }
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.task.control.progress("solve", done, self.task.sources.len() as u64)
    }

    /// Searches from a source in an array that is blank.
    fn search(&self, source: VertexId, distances: &mut [L::Distance], team: &Team) -> Result<()> {
        let statistics = (self.search)(source, &self.ends, team, distances)?;
        let is_reached = |&v: &VertexId| distances[v as usize] != L::Distance::UNREACHABLE;
        // A distance that was found is right, whatever walks have left the range: these are longer.
        let has_ended = !self.ends.is_empty() && self.ends.iter().all(is_reached);
        if !has_ended && self.task.graph.has_left_range(distances) {
            return Err(Error::DistanceOverflow { semiring: L::NAME });
        }
        add_counters(&mut self.statistics.lock().unwrap_or_else(PoisonError::into_inner), statistics);
        Ok(())
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Vec<L::Distance>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
