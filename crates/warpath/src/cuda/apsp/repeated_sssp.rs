//! One source after another: V single-source searches, whose rows make the table.
//!
//! The searches are those of `mask`, as the papers have it: two launches a round, and a word to the host after each. A
//! search has only the parallelism of its own frontier, and every round of each costs a trip to the host: what many
//! searches at once ([`batched`](super::batched)) would share or hide. Work: V times the work of `mask`; span: V times
//! its rounds. On a graph of 10,000 vertices and 20 rounds that is some 20 x 20 microseconds a source, 4 s in all.
//!
//! It wins nowhere; it is there to be compared with.
//!
//! Source: Harish and Narayanan 2007, algorithm 7; Pathak et al. 2022, algorithm 13.
//!
//! *Invariants.* Kernels are launched with the arguments that they declare, in their order, and with arrays of the
//! lengths that they expect. All arrays are taken from one pool of device memory, which lives as long as what is
//! prepared here; the ids in them come from a `Csr`, which has checked them, or from sources that the solver has
//! checked.

use super::rows::RowsOnDevice;
use super::searches::{BATCH_BYTES, Finished, Searches, SearchesAlgorithm, SearchesTask};
use crate::algorithms::{AlgorithmInfo, Statistics, add_counters};
use crate::cuda::device::Event;
use crate::cuda::device::arena::Arena;
use crate::cuda::device::memory::{DeviceSlice, Pool};
use crate::cuda::launch::THREADS;
use crate::cuda::sssp::mask::{self, COARSENING, STRIDE};
use crate::cuda::sssp::{DeviceSemiring, NON_NEGATIVE, PreparedSssp, SsspTask, many_sources};
use crate::graph::{Graph, VertexId};
use crate::problems::Problem;
use crate::{Control, Result};

/// This algorithm's line in the table.
pub(crate) const ALGORITHM: SearchesAlgorithm = SearchesAlgorithm {
    info: AlgorithmInfo {
        problem: Problem::Apsp,
        name: "repeated-sssp",
        summary: "one source after another, each by `mask`",
        source: "Harish & Narayanan 2007, alg. 7; Pathak et al. 2022, alg. 13",
        parameters: &[super::batched::ROWS, COARSENING, STRIDE, THREADS],
        negative_weights: false,
        seconds: |work| work.in_turn(400e-6 + work.arcs() / 1e9),
    },
    semirings: NON_NEGATIVE,
    needs_metric: false,
    targets_alone: false,
    facts_alone: None,
    batch_bytes: BATCH_BYTES,
    plan: |task| {
        let mut plan = (mask::ALGORITHM.plan)(task.graph, task.parameters);
        layout(&mut Arena::counting(&mut plan), task);
        plan
    },
    prepare: |device, task| {
        let (pool, rows) = Pool::lay_out(device, |arena| layout(arena, task))?;
        Ok(Box::new(RepeatedSssp {
            graph: task.graph,
            semiring: task.semiring,
            search: (mask::ALGORITHM.prepare)(device, task.graph, task.parameters)?,
            pool,
            rows,
            marks: [device.event()?, device.event()?],
            statistics: Vec::new(),
            out_of_range: Vec::new(),
        }))
    },
};

fn layout(arena: &mut Arena<'_>, task: &SearchesTask<'_>) -> DeviceSlice<u32> {
    let words = many_sources::stride(task.graph).saturating_mul(task.semiring.words()).saturating_mul(task.rows);
    arena.take(format!("distances of {} searches", task.rows), words)
}

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
            add_counters(&mut self.statistics, outcome.statistics);
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
        statistics.push(("device_nanoseconds", (seconds * 1e9) as u64));
        Ok(Finished { statistics, out_of_range: std::mem::take(&mut self.out_of_range) })
    }

    fn rows(&self) -> RowsOnDevice<'_> {
        RowsOnDevice { pool: &self.pool, words: self.rows, stride: many_sources::stride(self.graph) }
    }
}
