//! All-pairs shortest paths by searches on GPUs: the size of a batch, the loop over batches, and how rows are handed
//! out while the next batch is searched.
//!
//! Several devices share the sources: a thread for each takes the next batch, and makes it ready, when its device begins one. The thread
//! that asked hands the rows out, in order.

mod batch;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use batch::Batch;

use super::ran::Ran;
use super::table::Table;
use crate::algorithms::{Parameters, Statistics, add_counters};
use crate::all_pairs::potentials::potentials;
use crate::all_pairs::{ApspOutput, ApspTask};
use crate::cpu::apsp::MinPlusOnCpu;
use crate::cuda::apsp::MinPlusOnDevice;
use crate::cuda::apsp::outgoing::{Outgoing, RawFacts, Wanted};
use crate::cuda::apsp::rows::RowsOnDevice;
use crate::cuda::apsp::searches::{SearchesAlgorithm, SearchesTask};
use crate::cuda::bfs::needs_transpose;
use crate::cuda::device::Device;
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::{Csr, Distance, DistanceValue, Graph, I32ToI64, Labels, VertexId, WeightKind, Weights};
use crate::plan::Plan;
use crate::problems::{DistanceSum, RowFacts, Seconds};
use crate::solver::Solver;
use crate::{Engine, Error, Result, available_memory, memory};

impl Table {
    /// The targets, if rows have no other columns. Potentials are those of vertices.
    fn targets_alone(&self, algorithm: &SearchesAlgorithm, graph: &Graph) -> Option<&[VertexId]> {
        let has_potentials = graph.weight_kind() == WeightKind::I32;
        self.targets.as_deref().filter(|_| algorithm.targets_alone && !has_potentials)
    }

    /// Whether the algorithm makes no rows, since only facts about whole ones are wanted.
    fn facts_alone(&self, algorithm: &SearchesAlgorithm) -> bool {
        self.facts_of_whole_rows() && algorithm.facts_alone.is_some()
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

/// A batch of the algorithm on the device, in the widest semiring that may become necessary.
pub(super) fn widest_batch(
    algorithm: &SearchesAlgorithm,
    parameters: &Parameters,
    solver: &Solver,
    table: &Table,
    available: u64,
) -> Batch {
    let (graph, hierarchy) = (&*solver.graph, solver.prepared_hierarchy());
    let room = (table.devices(), available);
    let of = |semiring| Batch::of(algorithm, parameters, graph, table, semiring, hierarchy, room);
    let [narrowest, wider @ ..] = table.semirings_of_searches(graph.weight_kind()) else {
        unreachable!("searches have a semiring for each type of weights")
    };
    wider.iter().map(|&semiring| of(semiring)).fold(of(*narrowest), larger)
}

/// The batch that takes more of the device, with the memory of the one that takes more of the host: a wider semiring may leave more to it.
fn larger(one: Batch, other: Batch) -> Batch {
    let (more, less) = if other.plan.device_bytes() >= one.plan.device_bytes() { (other, one) } else { (one, other) };
    if less.plan.memory_bytes() <= more.plan.memory_bytes() {
        return more;
    }
    let mut plan = Plan::new();
    more.plan.device_items().iter().for_each(|item| plan.device(item.what.clone(), item.bytes));
    less.plan.memory_items().iter().for_each(|item| plan.memory(item.what.clone(), item.bytes));
    Batch { plan, layout: less.layout, parameters: less.parameters, ..more }
}

/// Adds the memory that the algorithm takes; returns the layout, if it leaves something to the host.
pub(super) fn plan(
    algorithm: &SearchesAlgorithm,
    parameters: &Parameters,
    solver: &Solver,
    table: &Table,
    plan: &mut Plan,
) -> &'static str {
    let graph = &*solver.graph;
    if graph.vertices() == 0 {
        return "";
    }
    // Without a device nobody knows how much fits.
    let available = solver.allowed_on_each_of(table.devices()).unwrap_or(u64::MAX);
    let Batch { parameters, plan: planned, layout, .. } = widest_batch(algorithm, parameters, solver, table, available);
    for item in planned.device_items() {
        plan.device(item.what.clone(), item.bytes);
    }
    for item in planned.memory_items() {
        plan.memory(item.what.clone(), item.bytes.saturating_mul(table.devices() as u64));
    }
    plan.on_each_of(table.devices());
    if !graph.has_transpose() && needs_transpose(&parameters) {
        plan.memory("the arcs by head", graph.transpose_bytes());
    }
    if algorithm.needs_metric {
        solver.plan_hierarchy(false, plan);
    } else if graph.weight_kind() == WeightKind::I32 {
        let (vertices, arcs) = (graph.vertices() as u64, graph.arcs() as u64);
        plan.memory("potentials, and weights that they have changed", 16 * vertices + 8 * arcs);
    }
    layout
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
    let (devices, available) = solver.devices_and_memory(table.devices())?;
    solver.device().give_up_prepared();
    let devices = &devices[..devices.len().min(task.sources.len()).max(1)];
    ran.engine = Engine::Cuda(devices.iter().map(|device| device.properties().ordinal).collect()).to_string();
    let mut work = Work { algorithm, task, table, devices, available, order: &order, done: have, ran, output };
    work.in_each_semiring()?;
    Ok(work.ran)
}

/// A table in the making.
struct Work<'a, 'o, L: MinPlusOnCpu> {
    algorithm: &'a SearchesAlgorithm,
    task: &'a ApspTask<'a, L>,
    table: &'a Table,
    devices: &'a [Arc<dyn Device>],
    /// Bytes of the memory of each device.
    available: u64,
    order: &'a [usize],
    /// Rows that have been handed out.
    done: usize,
    ran: Ran,
    output: ApspOutput<'o, L::Distance>,
}

/// How a pass over the sources ended.
#[derive(Debug, PartialEq)]
enum Ended {
    Complete,
    /// The rows of some batch don't fit the semiring.
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

    /// Shares the sources that are left out among the devices, and hands their rows out in order.
    fn in_semiring(&mut self, semiring: DeviceSemiring, changed: Option<&Changed>) -> Result<Ended> {
        self.algorithm.check(semiring)?;
        let task = self.task;
        let columns = task.columns();
        let hierarchy = task.metric.map(|metric| metric.hierarchy());
        let Batch { rows, parameters, plan, .. } = Batch::of(
            self.algorithm,
            task.parameters,
            task.graph,
            self.table,
            semiring,
            hierarchy,
            (self.devices.len(), self.available),
        );
        plan.check_device(self.available)?;
        plan.check(available_memory() / self.devices.len() as u64)?;
        self.ran.device_bytes = self.ran.device_bytes.max(plan.device_bytes());
        let first = self.done;
        let (matrix, mut sink) = match &mut self.output {
            ApspOutput::Matrix(matrix) => (Some(&mut matrix[first * columns..]), None),
            ApspOutput::Blocks(sink) => (None, Some(&mut **sink)),
        };
        let pass = Pass {
            algorithm: self.algorithm,
            task,
            table: self.table,
            semiring,
            changed,
            rows,
            parameters,
            unclaimed: Mutex::new(Unclaimed { first, matrix }),
            is_stopped: AtomicBool::new(false),
        };
        // Not once for each device.
        if let Some(metric) = task.metric.filter(|_| semiring == DeviceSemiring::Wide) {
            task.team.install(|| metric.lengths::<u64>().map(drop))?;
        }
        let (ready, from_devices) = mpsc::channel();
        let (order, ran) = (self.order, &mut self.ran);
        let mut done = first;
        let ended = thread::scope(|scope| {
            let mut handed_out = Vec::new();
            let mut workers = Vec::new();
            for (index, device) in self.devices.iter().enumerate() {
                let (tell, told) = mpsc::channel();
                handed_out.push(tell);
                let (pass, ready) = (&pass, ready.clone());
                let serve = move || {
                    // Sent when it is dropped, unless all is well: whoever gets it waits for nothing more.
                    let mut unfinished = Unfinished { pass, ready: &ready, is_complete: false };
                    let served = pass.serve(device, index, &ready, &told);
                    unfinished.is_complete = matches!(served, Ok(Served { ended: Ended::Complete, .. }));
                    served
                };
                let started = thread::Builder::new().spawn_scoped(scope, serve);
                // The threads that run already stop when they hear of it.
                workers.push(started.map_err(|error| {
                    pass.is_stopped.store(true, Ordering::Relaxed);
                    memory::no_threads(1, error)
                })?);
            }
            drop(ready);
            let handed = hand_out_in_order(&from_devices, &handed_out, first, |rows, batch| {
                match (batch, &mut sink) {
                    (Found::Facts(facts), Some(sink)) => sink.facts(&order[rows.clone()], &facts)?,
                    (Found::Packed(outgoing), Some(sink)) => {
                        task.hand_out(&order[rows.clone()], 1, *sink, |block, values| {
                            let start = Instant::now();
                            let read = outgoing.read((block[0] - rows.start) as u64, values);
                            ran.seconds.download += start.elapsed().as_secs_f64();
                            read
                        })?;
                    }
                    // The rows are in the matrix.
                    (_, _) => {}
                }
                done = rows.end;
                task.control.progress("solve", done as u64, task.sources.len() as u64)
            });
            // Whoever searches for more rows, or waits for them to be handed out, stops.
            pass.is_stopped.store(done < task.sources.len(), Ordering::Relaxed);
            drop(handed_out);
            let served = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            let served = served.collect::<Result<Vec<_>>>()?;
            handed?;
            Ok::<_, Error>(served)
        })?;
        self.done = done;
        let longest = |of: fn(&Served) -> f64| ended.iter().map(of).fold(0.0, f64::max);
        self.ran.seconds.prepare += longest(|served| served.seconds.prepare);
        self.ran.seconds.solve += longest(|served| served.seconds.solve);
        self.ran.seconds.download += longest(|served| served.seconds.download);
        let is_complete = ended.iter().all(|served| served.ended == Ended::Complete);
        ended.into_iter().for_each(|served| add_counters(&mut self.ran.statistics, served.statistics));
        Ok(if is_complete { Ended::Complete } else { Ended::OutOfRange })
    }
}

/// What a device has of a batch.
enum Found {
    /// The rows are in the matrix.
    Written,
    Facts(Vec<RowFacts>),
    /// Rows to be read, before the device packs others.
    Packed(Arc<Outgoing>),
}

/// A batch that can be handed out.
struct Ready {
    /// The place of its device.
    device: usize,
    rows: Range<usize>,
    found: Found,
}

/// Hands batches out in the order of their rows, whichever device has them first, and tells the device. Ends after the last one, or
/// when a device has stopped.
fn hand_out_in_order(
    from_devices: &Receiver<Option<Ready>>,
    to_devices: &[Sender<()>],
    first: usize,
    mut hand_out: impl FnMut(Range<usize>, Found) -> Result<()>,
) -> Result<()> {
    let (mut early, mut next) = (BTreeMap::new(), first);
    while let Ok(Some(ready)) = from_devices.recv() {
        early.insert(ready.rows.start, ready);
        while let Some(Ready { device, rows, found }) = early.remove(&next) {
            next = rows.end;
            hand_out(rows, found)?;
            // It may have been the last of that device.
            let _ = to_devices[device].send(());
        }
    }
    Ok(())
}

/// How a device has served.
struct Served {
    ended: Ended,
    seconds: Seconds,
    statistics: Statistics,
}

/// The sources that no device has taken yet, and their part of the matrix if there is one.
struct Unclaimed<'m, T> {
    first: usize,
    matrix: Option<&'m mut [T]>,
}

/// A pass over all sources in one semiring, batch after batch on each device.
struct Pass<'a, 'm, L: MinPlusOnCpu> {
    algorithm: &'a SearchesAlgorithm,
    task: &'a ApspTask<'a, L>,
    table: &'a Table,
    semiring: DeviceSemiring,
    changed: Option<&'a Changed>,
    /// Rows of a batch, at most.
    rows: u64,
    parameters: Parameters,
    unclaimed: Mutex<Unclaimed<'m, L::Distance>>,
    /// Whether nobody wants more rows.
    is_stopped: AtomicBool,
}

/// A device that has not served to the end.
struct Unfinished<'a, 'm, L: MinPlusOnCpu> {
    pass: &'a Pass<'a, 'm, L>,
    ready: &'a Sender<Option<Ready>>,
    is_complete: bool,
}

impl<L: MinPlusOnCpu> Drop for Unfinished<'_, '_, L> {
    fn drop(&mut self) {
        if !self.is_complete {
            self.pass.is_stopped.store(true, Ordering::Relaxed);
            let _ = self.ready.send(None);
        }
    }
}

/// The rows of a batch, and their part of the matrix.
type Claim<'m, T> = (Range<usize>, Option<&'m mut [T]>);

impl<'m, L: MinPlusOnCpu + MinPlusOnDevice> Pass<'_, 'm, L> {
    /// Takes the next batch; an empty one if there are no more.
    fn claim(&self) -> Claim<'m, L::Distance> {
        let mut unclaimed = self.unclaimed.lock().unwrap_or_else(PoisonError::into_inner);
        let rows = unclaimed.first..self.task.sources.len().min(unclaimed.first + self.rows as usize);
        unclaimed.first = rows.end;
        let matrix = unclaimed.matrix.take().map(|matrix| {
            let (mine, others) = matrix.split_at_mut(rows.len() * self.task.columns());
            unclaimed.matrix = Some(others);
            mine
        });
        (rows, matrix)
    }

    /// Searches batch after batch on this device, and tells `ready` of each. While the device searches one batch, the rows of the
    /// batch before are copied or handed out; `handed_out` says when that is done.
    fn serve(
        &self,
        device: &Arc<dyn Device>,
        index: usize,
        ready: &Sender<Option<Ready>>,
        handed_out: &Receiver<()>,
    ) -> Result<Served> {
        let (task, semiring) = (self.task, self.semiring);
        let mut served = Served { ended: Ended::Complete, seconds: Seconds::default(), statistics: Statistics::new() };
        let (mut now, mut matrix) = self.claim();
        if now.is_empty() {
            return Ok(served);
        }
        let start = Instant::now();
        let graph = self.changed.map_or(task.graph, |changed| &changed.graph);
        let to_prepare = SearchesTask {
            graph,
            semiring,
            parameters: &self.parameters,
            rows: self.rows,
            first: &task.sources[now.clone()],
            targets: self.table.targets_alone(self.algorithm, task.graph),
            facts: self.table.facts_alone(self.algorithm),
            hierarchy: task.metric.map(|metric| metric.hierarchy()),
            metric: task.metric,
        };
        let mut searches = task.team.install(|| (self.algorithm.prepare)(device, &to_prepare))?;
        let wanted = self.table.wanted(self.algorithm, task.graph, semiring, self.rows);
        let potentials = self.changed.map_or(&[][..], |changed| &changed.potentials);
        let outgoing = match to_prepare.facts {
            true => None,
            false => Some(Arc::new(Outgoing::new(device, &wanted, potentials)?)),
        };
        served.seconds.prepare = start.elapsed().as_secs_f64();
        let mut start = Instant::now();
        searches.start(&task.sources[now.clone()], task.control)?;
        let mut has_packed = false;
        while !now.is_empty() {
            let (next, next_matrix) = self.claim();
            if !next.is_empty() {
                searches.expect(&task.sources[next.clone()])?;
            }
            let finished = searches.finish(task.control)?;
            served.count(finished.statistics, now.len());
            for &row in &finished.out_of_range {
                if self.is_lost(searches.rows(), row, graph)? {
                    served.seconds.solve += start.elapsed().as_secs_f64();
                    served.ended = Ended::OutOfRange;
                    return Ok(served);
                }
            }
            // Rows that were packed before have to be handed out.
            let is_stopped = self.is_stopped.load(Ordering::Relaxed);
            if is_stopped || has_packed && handed_out.recv().is_err() {
                return Ok(served);
            }
            let counted = match &outgoing {
                Some(outgoing) => {
                    outgoing.pack(searches.rows(), &task.sources[now.clone()])?;
                    None
                }
                None => Some(searches.facts(now.len())?),
            };
            if !next.is_empty() {
                searches.start(&task.sources[next.clone()], task.control)?;
            }
            // Some algorithms search as they start. Nobody waits for the device's work while rows are copied.
            served.seconds.solve += start.elapsed().as_secs_f64();
            start = Instant::now();
            let of_rows = |raw: Vec<RawFacts>| Found::Facts(raw.iter().map(facts::<L>).collect());
            let found = match (matrix, outgoing.clone(), counted) {
                (_, _, Some(counted)) => of_rows(counted),
                (Some(matrix), Some(outgoing), _) => {
                    outgoing.read(0, matrix)?;
                    Found::Written
                }
                (None, Some(outgoing), _) if self.table.facts => of_rows(outgoing.facts(now.len())?),
                (None, Some(outgoing), _) => Found::Packed(outgoing),
                (_, None, None) => return Err(Error::Device("the rows of a batch are nowhere".into())),
            };
            served.seconds.download += start.elapsed().as_secs_f64();
            has_packed = matches!(found, Found::Packed(_));
            if ready.send(Some(Ready { device: index, rows: now, found })).is_err() {
                return Ok(served);
            }
            (now, matrix) = (next, next_matrix);
            start = Instant::now();
        }
        Ok(served)
    }

    /// Whether a distance of this row does not fit the semiring. Nothing shows whether a row that lacks vertices, or is
    /// not there, lacks distances, unless all distances fit.
    fn is_lost(&self, found: RowsOnDevice<'_>, row: usize, graph: &Graph) -> Result<bool> {
        let is_partial = self.table.targets_alone(self.algorithm, self.task.graph).is_some();
        if is_partial || self.table.facts_alone(self.algorithm) {
            return Ok(self.table.distance_bytes > 4);
        }
        self.task.team.install(|| found.leaves_range(row, self.semiring, graph))
    }
}

impl Served {
    /// Adds the counters of a batch of this many rows.
    fn count(&mut self, mut statistics: Statistics, rows: usize) {
        // The numbers of searches at once don't add up.
        statistics.retain(|(name, _)| !matches!(*name, "searches_in_a_batch" | "searches_in_flight"));
        add_counters(&mut self.statistics, statistics);
        add_counters(&mut self.statistics, vec![("batches", 1), ("searches", rows as u64)]);
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
