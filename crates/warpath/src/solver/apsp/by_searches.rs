//! All-pairs shortest paths by searches on a GPU: the size of a batch, the loop over batches, and how rows are handed
//! out while the next batch is searched.

use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::ran::Ran;
use super::table::Table;
use crate::algorithms::{Parameters, Statistics, add_counters};
use crate::all_pairs::potentials::potentials;
use crate::all_pairs::{ApspOutput, ApspTask};
use crate::cpu::apsp::MinPlusOnCpu;
use crate::cuda::apsp::MinPlusOnDevice;
use crate::cuda::apsp::batched::ROWS;
use crate::cuda::apsp::outgoing::{Outgoing, RawFacts, Wanted};
use crate::cuda::apsp::searches::{BATCH_BYTES, Searches, SearchesAlgorithm, SearchesTask};
use crate::cuda::device::Device;
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::{Csr, Distance, DistanceValue, Graph, I32ToI64, Labels, VertexId, WeightKind, Weights};
use crate::hierarchy::Hierarchy;
use crate::plan::Plan;
use crate::problems::{DistanceSum, RowFacts};
use crate::solver::Solver;
use crate::{Error, Result, memory};

/// How many rows are worth a batch.
const WORTH_A_BATCH: u64 = 64;

/// How many rows a batch has, and the plan with them.
struct Batch {
    rows: u64,
    plan: Plan,
}

impl Batch {
    /// As many rows as are asked for, or else as fit this memory, but at least one.
    fn of(
        algorithm: &SearchesAlgorithm,
        parameters: &Parameters,
        graph: &Graph,
        table: &Table,
        semiring: DeviceSemiring,
        hierarchy: Option<&Hierarchy>,
        available: u64,
    ) -> Self {
        let targets = table.targets_alone(algorithm, graph);
        let columns = targets.map_or(graph.vertices(), <[_]>::len) as u64;
        let row_bytes = (columns * 4 * semiring.words()).max(1);
        let asked = parameters.get(ROWS.name).map(|rows| rows as u64);
        let most = (table.sources.len() as u64).max(1);
        // There is more than the rows.
        let batch_bytes = (available / 8).clamp(BATCH_BYTES, algorithm.batch_bytes);
        let mut rows = asked.unwrap_or((batch_bytes / row_bytes).max(WORTH_A_BATCH)).clamp(1, most);
        loop {
            // Searches that share their reads are best if they fill whole words.
            if asked.is_none() && rows > WORTH_A_BATCH && rows < most {
                rows -= rows % WORTH_A_BATCH;
            }
            let task = SearchesTask { graph, semiring, parameters, rows, targets, hierarchy, metric: None };
            let mut plan = (algorithm.plan)(&task);
            table.wanted(algorithm, graph, semiring, rows).plan(&mut plan);
            if plan.device_bytes() <= available || asked.is_some() || rows == 1 {
                return Batch { rows, plan };
            }
            rows /= 2;
        }
    }
}

impl Table {
    /// The targets, if rows have no other columns. Potentials are those of vertices.
    fn targets_alone(&self, algorithm: &SearchesAlgorithm, graph: &Graph) -> Option<&[VertexId]> {
        let has_potentials = graph.weight_kind() == WeightKind::I32;
        self.targets.as_deref().filter(|_| algorithm.targets_alone && !has_potentials)
    }

    fn wanted(&self, algorithm: &SearchesAlgorithm, graph: &Graph, semiring: DeviceSemiring, rows: u64) -> Wanted<'_> {
        Wanted {
            semiring,
            rows,
            columns: self.columns,
            targets: self.targets.as_deref().filter(|_| self.targets_alone(algorithm, graph).is_none()),
            potentials: (graph.weight_kind() == WeightKind::I32).then_some(graph.vertices() as u64),
            facts: self.facts,
        }
    }

    /// The semirings that searches by weights of this type try, one after another.
    fn semirings_of_searches(&self, kind: WeightKind) -> &'static [DeviceSemiring] {
        match kind {
            WeightKind::Unit => &[DeviceSemiring::Narrow],
            // Distances take four bytes where they cannot leave the narrow semiring.
            WeightKind::U32 if self.distance_bytes == 4 => &[DeviceSemiring::Narrow],
            WeightKind::U32 | WeightKind::I32 => &[DeviceSemiring::Narrow, DeviceSemiring::Wide],
            WeightKind::F32 => &[DeviceSemiring::Single],
            WeightKind::F64 => &[DeviceSemiring::Double],
        }
    }
}

/// The plan of the algorithm on the device, in the widest semiring that may become necessary.
pub(super) fn device_plan(
    algorithm: &SearchesAlgorithm,
    parameters: &Parameters,
    solver: &Solver,
    table: &Table,
    available: u64,
) -> Plan {
    let (graph, hierarchy) = (&*solver.graph, solver.hierarchy_there());
    let semirings = table.semirings_of_searches(graph.weight_kind()).iter();
    let plans =
        semirings.map(|&semiring| Batch::of(algorithm, parameters, graph, table, semiring, hierarchy, available).plan);
    plans.max_by_key(Plan::device_bytes).unwrap_or_default()
}

/// Adds the memory that the algorithm takes.
pub(super) fn plan(
    algorithm: &SearchesAlgorithm,
    parameters: &Parameters,
    solver: &Solver,
    table: &Table,
    plan: &mut Plan,
) {
    let graph = &*solver.graph;
    if graph.vertices() == 0 {
        return;
    }
    // Without a device nobody knows how much fits.
    let available = solver.allowed_on_device().unwrap_or(u64::MAX);
    for item in device_plan(algorithm, parameters, solver, table, available).device_items() {
        plan.device(item.what.clone(), item.bytes);
    }
    if algorithm.needs_metric {
        solver.plan_hierarchy(false, plan);
    } else if graph.weight_kind() == WeightKind::I32 {
        let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
        plan.memory("potentials, and weights that they have changed", 16 * vertices + 8 * arcs);
    }
}

/// Runs an algorithm into `output`.
pub(super) fn run<L: MinPlusOnCpu + MinPlusOnDevice>(
    solver: &Solver,
    algorithm: &SearchesAlgorithm,
    task: &ApspTask<'_, L>,
    table: &Table,
    mut output: ApspOutput<'_, L::Distance>,
) -> Result<Ran> {
    let mut ran = Ran::on("cuda");
    let order = memory::listed("the order of rows", 0..task.sources.len())?;
    let have = output.start(&order)?;
    let is_empty = task.columns() == 0 && matches!(output, ApspOutput::Matrix(_));
    if have == order.len() || is_empty {
        return Ok(ran);
    }
    let available = solver.allowed_on_device()?;
    let device = {
        let mut state = solver.device();
        state.give_up_prepared();
        state.device(&solver.engine)?
    };
    ran.engine = format!("cuda:{}", device.properties().ordinal);
    let mut work = Work { algorithm, task, table, device, available, order: &order, done: have, ran, output };
    work.in_each_semiring()?;
    Ok(work.ran)
}

/// A table in the making.
struct Work<'a, 'o, L: MinPlusOnCpu> {
    algorithm: &'a SearchesAlgorithm,
    task: &'a ApspTask<'a, L>,
    table: &'a Table,
    device: Arc<dyn Device>,
    /// Bytes of the device's memory.
    available: u64,
    order: &'a [usize],
    /// Rows that have been handed out.
    done: usize,
    ran: Ran,
    output: ApspOutput<'o, L::Distance>,
}

/// How a pass over the sources ended.
#[derive(PartialEq)]
enum Ended {
    Complete,
    /// The rows of the next batch don't fit the semiring.
    OutOfRange,
}

impl<L: MinPlusOnCpu + MinPlusOnDevice> Work<'_, '_, L> {
    /// Works in the semiring `L`. If that is signed, the searches work on unsigned distances, first in 32 bits.
    fn in_each_semiring(&mut self) -> Result<()> {
        let start = Instant::now();
        let changed = match L::ON_DEVICE {
            DeviceSemiring::Signed => Some(Changed::of(self.task)?),
            _ => None,
        };
        self.ran.seconds.prepare += start.elapsed().as_secs_f64();
        let semirings =
            if changed.is_some() { &[DeviceSemiring::Narrow, DeviceSemiring::Wide][..] } else { &[L::ON_DEVICE] };
        for &semiring in semirings {
            if self.in_semiring(semiring, changed.as_ref())? == Ended::Complete {
                return Ok(());
            }
            self.ran.statistics.retain(|(name, _)| *name != "repeated_in_wider_lane");
            self.ran.statistics.push(("repeated_in_wider_lane", 1));
        }
        Err(Error::DistanceOverflow { semiring: L::NAME })
    }

    fn in_semiring(&mut self, semiring: DeviceSemiring, changed: Option<&Changed>) -> Result<Ended> {
        let start = Instant::now();
        self.algorithm.check(semiring)?;
        let task = self.task;
        let graph = changed.map_or(task.graph, |changed| &changed.graph);
        let hierarchy = task.metric.map(|metric| metric.hierarchy());
        let Batch { rows, plan } =
            Batch::of(self.algorithm, task.parameters, task.graph, self.table, semiring, hierarchy, self.available);
        plan.check_device(self.available)?;
        self.ran.device_bytes = self.ran.device_bytes.max(plan.device_bytes());
        let targets = self.table.targets_alone(self.algorithm, task.graph);
        let to_prepare = SearchesTask {
            graph,
            semiring,
            parameters: task.parameters,
            rows,
            targets,
            hierarchy,
            metric: task.metric,
        };
        let mut searches = task.team.install(|| (self.algorithm.prepare)(&self.device, &to_prepare))?;
        let wanted = self.table.wanted(self.algorithm, task.graph, semiring, rows);
        let outgoing = Outgoing::new(&self.device, &wanted, changed.map_or(&[], |changed| &changed.potentials))?;
        self.ran.seconds.prepare += start.elapsed().as_secs_f64();
        self.batches(&mut *searches, &outgoing, rows as usize, semiring, graph)
    }

    /// Works batch after batch. While the device searches one batch, the rows of the batch before are handed out.
    fn batches(
        &mut self,
        searches: &mut dyn Searches,
        outgoing: &Outgoing,
        rows: usize,
        semiring: DeviceSemiring,
        graph: &Graph,
    ) -> Result<Ended> {
        let task = self.task;
        let batch_from = |first: usize| first..task.sources.len().min(first + rows);
        let mut start = Instant::now();
        let mut now = batch_from(self.done);
        searches.start(&task.sources[now.clone()], task.control)?;
        while !now.is_empty() {
            let finished = task.team.install(|| searches.finish(task.control))?;
            self.count(finished.statistics, now.len());
            let found = searches.rows();
            // Nothing shows whether a row that lacks vertices lacks distances, too, unless all distances fit.
            let is_partial = self.table.targets_alone(self.algorithm, task.graph).is_some();
            for &row in &finished.out_of_range {
                let is_lost = if is_partial {
                    self.table.distance_bytes > 4
                } else {
                    task.team.install(|| found.leaves_range(row, semiring, graph))?
                };
                if is_lost {
                    self.ran.seconds.solve += start.elapsed().as_secs_f64();
                    return Ok(Ended::OutOfRange);
                }
            }
            outgoing.pack(searches.rows(), &task.sources[now.clone()])?;
            let next = batch_from(now.end);
            if !next.is_empty() {
                searches.start(&task.sources[next.clone()], task.control)?;
            }
            // Some algorithms search as they start. Nobody waits for the device's work while rows are handed out.
            self.ran.seconds.solve += start.elapsed().as_secs_f64();
            self.hand_out(outgoing, now)?;
            self.done = next.start;
            task.control.progress("solve", self.done as u64, task.sources.len() as u64)?;
            now = next;
            start = Instant::now();
        }
        Ok(Ended::Complete)
    }

    /// Adds the counters of a batch of this many rows.
    fn count(&mut self, mut statistics: Statistics, rows: usize) {
        // The numbers of searches at once don't add up.
        statistics.retain(|(name, _)| !matches!(*name, "searches_in_a_batch" | "searches_in_flight"));
        add_counters(&mut self.ran.statistics, statistics);
        add_counters(&mut self.ran.statistics, vec![("batches", 1), ("searches", rows as u64)]);
    }

    /// Copies the rows of a batch, or facts about them, to the host and hands them out.
    fn hand_out(&mut self, outgoing: &Outgoing, batch: Range<usize>) -> Result<()> {
        let columns = self.task.columns();
        let start = Instant::now();
        match &mut self.output {
            ApspOutput::Matrix(matrix) => {
                outgoing.read(0, &mut matrix[batch.start * columns..batch.end * columns])?;
                self.ran.seconds.download += start.elapsed().as_secs_f64();
            }
            ApspOutput::Blocks(sink) if self.table.facts => {
                let facts: Vec<RowFacts> = outgoing.facts(batch.len())?.iter().map(facts::<L>).collect();
                self.ran.seconds.download += start.elapsed().as_secs_f64();
                sink.facts(&self.order[batch], &facts);
            }
            ApspOutput::Blocks(sink) => {
                let (task, download) = (self.task, &mut self.ran.seconds.download);
                task.hand_out(&self.order[batch.clone()], 1, *sink, |rows, values| {
                    let start = Instant::now();
                    let read = outgoing.read((rows[0] - batch.start) as u64, values);
                    *download += start.elapsed().as_secs_f64();
                    read
                })?;
            }
        }
        Ok(())
    }
}

/// Facts about a row of integers.
fn facts<L: MinPlusOnDevice>(raw: &RawFacts) -> RowFacts {
    let greatest = match L::ON_DEVICE {
        DeviceSemiring::Signed => Distance::Signed((raw.greatest ^ 1 << 63) as i64),
        _ => Distance::Unsigned(raw.greatest),
    };
    let greatest = (raw.reached > 0).then_some(greatest);
    RowFacts { reached: raw.reached, greatest, sum: DistanceSum::Integer(raw.sum()) }
}

/// Why some graphs with signed weights are not searched here.
pub(super) const TOO_GREAT: &str = "weights of 0 or more in place of those below 0 exceed 32 bits; \
                                    `tiled-floyd-warshall` takes them, and so does the engine cpu";

/// A graph with signed weights, changed into a graph with weights of 0 or more and the same shortest paths.
struct Changed {
    graph: Graph,
    /// The potentials of vertices: a path's length has shrunk by the difference between the potentials of its ends.
    potentials: Vec<i64>,
}

impl Changed {
    fn of<L: MinPlusOnCpu>(task: &ApspTask<'_, L>) -> Result<Self> {
        let csr = task.graph.csr();
        let Some(adjacency) = csr.adjacency::<i32>() else {
            return Err(Error::invalid("the graph has weights of another type"));
        };
        let mut weights: Vec<u32> = memory::zeroed("the new weights of arcs", csr.arcs())?;
        let potentials = if task.graph.has_negative_weights() {
            potentials::<I32ToI64>(adjacency, task.graph, task.sources, task.control)?
        } else {
            memory::zeroed("the array of potentials", csr.vertices())?
        };
        for u in 0..csr.vertices() as VertexId {
            let from = potentials[u as usize];
            // An arc whose tail no source reaches is never taken.
            if from == i64::UNREACHABLE {
                continue;
            }
            for arc in csr.row(u) {
                let to = potentials[csr.targets()[arc] as usize];
                let weight = i128::from(adjacency.weights[arc]) + i128::from(from) - i128::from(to);
                weights[arc] = weight.try_into().map_err(|_| Error::invalid(TOO_GREAT))?;
            }
        }
        let offsets = memory::copied("offsets of vertices", csr.offsets())?;
        let targets = memory::copied("heads of arcs", csr.targets())?;
        let csr = Csr::trusted(offsets, targets, Weights::U32(weights));
        let labels = Labels::range(0, csr.vertices() as u64);
        Ok(Changed { graph: Graph::from_parts(csr, true, labels, Default::default()), potentials })
    }
}

#[cfg(test)]
mod tests;
