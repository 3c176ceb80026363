//! One source after another: V single-source searches, whose rows make the table.
//!
//! The searches are those of `mask`, as the papers have it: two launches a round, and a word to the host after each. A
//! search has only the parallelism of its own frontier, and every round of each costs a trip to the host: what many
//! searches at once ([`batched`](super::batched)) would share or hide. Work: V times the work of `mask`; span: V times
//! its rounds. On a graph of 10,000 vertices and 20 rounds that is some 20 x 20 microseconds a source, 4 s in all.
//!
//! It wins nowhere; it is there to be compared with.
//!
//! [`NEAR_FAR`] does the same with the quickest search of a graph of short paths, [`near_far`]: one launch, of which the whole
//! device does its part. It wins where a graph is large and sources are few: 64 sources of a Kronecker graph of 128
//! million arcs take 0.2 s, where `batched`, a block for each search, takes 22. Floor: that of 64 searches.
//!
//! [`ZERO_COPY`] searches by [`zero_copy`] instead, whose arcs stay in the host's memory: that is for graphs of which a device has no room
//! for all arcs. A search alone keeps the bus busy, so nothing is gained by several at once, and memory is better spent on short
//! rows than on wide batches. Floor: the arcs, 8 bytes each, over the bus at 51 GB/s for each source.
//!
//! Source: Harish and Narayanan 2007, algorithm 7; Pathak et al. 2022, algorithm 13.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use std::sync::Arc;

use super::batched::ROWS;
use super::rows::RowsOnDevice;
use super::searches::{BATCH_BYTES, Finished, Searches, SearchesAlgorithm, SearchesTask};
use crate::algorithms::{AlgorithmInfo, Parameter, Parameters, Statistics, Unset, Values, add_counters};
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::device::{Device, Event};
use crate::cuda::launch::THREADS;
use crate::cuda::sssp::mask::{self, COARSENING, STRIDE};
use crate::cuda::sssp::short_rows::SHORT_ROWS;
use crate::cuda::sssp::{
    DeviceSemiring, NON_NEGATIVE, PreparedSssp, SsspAlgorithm, SsspTask, many_sources, near_far, zero_copy,
};
use crate::cuda::zero_copy::{OFFSETS, WINDOW};
use crate::graph::{Graph, VertexId};
use crate::plan::Plan;
use crate::problems::Problem;
use crate::{Control, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SearchesAlgorithm = SearchesAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "repeated-sssp",
        summary: "one source after another, each by `mask`",
        source: "Harish & Narayanan 2007, alg. 7; Pathak et al. 2022, alg. 13",
        parameters: &[ROWS, COARSENING, STRIDE, THREADS],
        negative_weights: false,
        seconds: |work| work.in_turn(400e-6 + work.arcs() / 1e9),
    },
    semirings: NON_NEGATIVE,
    needs_metric: false,
    targets_alone: false,
    facts_alone: None,
    layouts: |_, _| &["repeated-sssp"],
    few_rows: 1,
    searches_at_start: true,
    batch_bytes: BATCH_BYTES,
    plan: |task| plan(&mask::ALGORITHM, task, task.parameters),
    prepare: |device, task| prepare(&mask::ALGORITHM, device, task, task.parameters),
};

/// The line of searches that are quickest alone on graphs of short paths.
pub(crate) const NEAR_FAR: SearchesAlgorithm = SearchesAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: near_far::ALGORITHM.info.name,
        summary: "one source after another, in one launch each; for some sources of large graphs of short paths",
        parameters: &[ROWS],
        ..near_far::ALGORITHM.info
    },
    semirings: near_far::ALGORITHM.semirings,
    layouts: |_, _| &["near-far"],
    plan: |task| plan(&near_far::ALGORITHM, task, &Parameters::default()),
    prepare: |device, task| prepare(&near_far::ALGORITHM, device, task, &Parameters::default()),
    ..ALGORITHM
};

/// The line of searches whose arcs stay in the host's memory.
pub(crate) const ZERO_COPY: SearchesAlgorithm = SearchesAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: zero_copy::ALGORITHM.info.name,
        summary: "one source after another; arcs stay in the host's memory: for graphs larger than the device's memory",
        parameters: &[
            ROWS,
            Parameter { values: Values::Or(&OFFSETS.values, IF_THERE_IS_ROOM), ..OFFSETS },
            WINDOW,
            Parameter { values: Values::Or(&SHORT_ROWS.values, AS_LONG_AS_THERE_IS_ROOM), ..SHORT_ROWS },
            zero_copy::DELTA,
            zero_copy::BATCH_OF_ARCS,
            zero_copy::THREADS,
            zero_copy::BLOCKS,
        ],
        ..zero_copy::ALGORITHM.info
    },
    semirings: zero_copy::ALGORITHM.semirings,
    // Fewer than a search alone tries: each takes a look at all rows of the graph.
    layouts: |_, _| {
        &[
            "zero-copy:short-rows=128",
            "zero-copy:short-rows=32",
            "zero-copy:short-rows=8",
            "zero-copy",
            "zero-copy:offsets=host",
        ]
    },
    plan: |task| plan(&zero_copy::ALGORITHM, task, &zero_copy::in_one_semiring(task.semiring, task.parameters)),
    prepare: |device, task| {
        let parameters = zero_copy::in_one_semiring(task.semiring, task.parameters);
        prepare(&zero_copy::ALGORITHM, device, task, &parameters)
    },
    ..ALGORITHM
};

const IF_THERE_IS_ROOM: Unset = Unset::InWords(|| "device if there is room".into());
const AS_LONG_AS_THERE_IS_ROOM: Unset = Unset::InWords(|| "as long ones as there is room for".into());

fn plan(search: &SsspAlgorithm, task: &SearchesTask<'_>, parameters: &Parameters) -> Plan {
    let mut plan = (search.plan)(task.graph, parameters);
    layout(&mut Arena::counting(&mut plan), task);
    plan
}

fn prepare<'g>(
    search: &SsspAlgorithm,
    device: &Arc<dyn Device>,
    task: &SearchesTask<'g>,
    parameters: &Parameters,
) -> Result<Box<dyn Searches + 'g>> {
    let (pool, rows) = Pool::lay_out(device, |arena| layout(arena, task))?;
    Ok(Box::new(RepeatedSssp {
        graph: task.graph,
        semiring: task.semiring,
        search: (search.prepare)(device, task.graph, parameters)?,
        pool,
        rows,
        marks: [device.event()?, device.event()?],
        statistics: Vec::new(),
        out_of_range: Vec::new(),
    }))
}

fn layout(arena: &mut Arena<'_>, task: &SearchesTask<'_>) -> DeviceSlice<u32> {
    let words = many_sources::stride(task.graph).saturating_mul(task.semiring.words()).saturating_mul(task.rows);
    arena.take(format!("distances of {} searches", task.rows), words)
}

/// The counter of the time between both marks.
const DEVICE_NANOSECONDS: &str = "device_nanoseconds";

/// A graph on a device, and room for rows.
#[derive(Debug)]
struct RepeatedSssp<'g> {
    graph: &'g Graph,
    semiring: DeviceSemiring,
    search: Box<dyn PreparedSssp>,
    pool: Pool,
    rows: DeviceSlice<u32>,
    /// Before the searches and after them.
    marks: [Event; 2],
    statistics: Statistics,
    /// Rows in which walks were too long.
    out_of_range: Vec<usize>,
}

impl Searches for RepeatedSssp<'_> {
    fn start(&mut self, sources: &[VertexId], control: &Control) -> Result<()> {
        self.statistics.clear();
        self.out_of_range.clear();
        let device = self.pool.device().clone();
        device.record(&self.marks[0])?;
        let stride = self.rows().stride;
        for (row, source) in sources.iter().enumerate() {
            let task = SsspTask {
                graph: Some(self.graph),
                semiring: self.semiring,
                sources: std::slice::from_ref(source),
                targets: &[],
                cutoff: self.semiring.unreachable(),
                control,
                statistics: false,
            };
            let outcome = self.search.solve(&task)?;
            if outcome.out_of_range {
                self.out_of_range.push(row);
            }
            let is_of_all = |(name, _): &(&str, u64)| *name != DEVICE_NANOSECONDS;
            add_counters(&mut self.statistics, outcome.statistics.into_iter().filter(is_of_all).collect());
            let from = self.search.device_distances().distances;
            let to = self.rows.part(row as u64 * stride * self.semiring.words(), from.length());
            // SAFETY: both arrays are of this device and in use only here, and have that many words.
            unsafe { device.copy(to.address(), from.address(), 4 * from.length() as usize)? };
        }
        device.record(&self.marks[1])
    }

    fn finish(&mut self, _: &Control) -> Result<Finished> {
        let [before, after] = &self.marks;
        let seconds = self.pool.device().seconds_between(before, after)?;
        let mut statistics = std::mem::take(&mut self.statistics);
        statistics.push((DEVICE_NANOSECONDS, (seconds * 1e9) as u64));
        Ok(Finished { statistics, out_of_range: std::mem::take(&mut self.out_of_range) })
    }

    fn rows(&self) -> RowsOnDevice<'_> {
        RowsOnDevice { pool: &self.pool, words: self.rows, stride: many_sources::stride(self.graph) }
    }
}
