//! How many rows a batch of searches has, and what it takes.

use crate::algorithms::Parameters;
use crate::cuda::apsp::batched::ROWS;
use crate::cuda::apsp::searches::{BATCH_BYTES, SearchesAlgorithm, SearchesTask};
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::Graph;
use crate::hierarchy::Hierarchy;
use crate::plan::Plan;
use crate::solver::apsp::table::Table;

/// How many rows are worth a batch.
pub(super) const WORTH_A_BATCH: u64 = 64;

/// The most rows of a batch, unless their number is asked for: the host makes a batch ready while the device works on the one before, and nobody works
/// while it makes the first one ready.
const MOST_ROWS: u64 = 1 << 16;

/// Rows of a batch, where `most` fit one, so that batches have about as many of `all` rows each, and devices as many batches.
pub(super) fn even_share(all: u64, devices: u64, most: u64) -> u64 {
    let batches = all.div_ceil(most).next_multiple_of(devices).max(1);
    let share = all.div_ceil(batches).max(1);
    // Whole words, if that is no more than fits.
    Some(share.next_multiple_of(WORTH_A_BATCH)).filter(|&whole| whole <= most).unwrap_or(share)
}

/// How many rows a batch has, with which parameters, and the plan with them.
pub(in crate::solver::apsp) struct Batch {
    pub(in crate::solver::apsp) rows: u64,
    pub(in crate::solver::apsp) parameters: Parameters,
    pub(in crate::solver::apsp) plan: Plan,
}

impl Batch {
    /// As many rows as are asked for, or else as each of so many devices has its share of and fit this memory, but at least one. If too few fit to be worth a
    /// batch, an algorithm that can leave something to the host does so, unless the caller has said where that is to be.
    pub(super) fn of(
        algorithm: &SearchesAlgorithm,
        parameters: &Parameters,
        graph: &Graph,
        table: &Table,
        semiring: DeviceSemiring,
        hierarchy: Option<&Hierarchy>,
        (devices, available): (usize, u64),
    ) -> Self {
        let few = algorithm.few_rows.min(table.sources.len().div_ceil(devices) as u64);
        let few = if parameters.get(ROWS.name).is_some() { 1 } else { few };
        let mut best: Option<(Option<u64>, Batch)> = None;
        for parameters in algorithm.layouts(graph.weight_kind(), parameters) {
            let room = (devices, available);
            let batch = Self::with(algorithm, parameters, graph, table, semiring, hierarchy, room);
            let rows = (batch.plan.device_bytes() <= available).then_some(batch.rows);
            // What does not fit has none.
            if best.as_ref().is_none_or(|(most, _)| rows > *most || most.is_none()) {
                best = Some((rows, batch));
            }
            if rows >= Some(few) {
                break;
            }
        }
        match best {
            Some((_, batch)) => batch,
            None => Self::with(algorithm, parameters.clone(), graph, table, semiring, hierarchy, (devices, available)),
        }
    }

    fn with(
        algorithm: &SearchesAlgorithm,
        parameters: Parameters,
        graph: &Graph,
        table: &Table,
        semiring: DeviceSemiring,
        hierarchy: Option<&Hierarchy>,
        (devices, available): (usize, u64),
    ) -> Self {
        let targets = table.targets_alone(algorithm, graph);
        let columns = targets.map_or(graph.vertices(), <[_]>::len) as u64;
        let facts = table.facts_alone(algorithm);
        let share = if facts { algorithm.facts_alone.unwrap_or(1) } else { 1 };
        let row_bytes = (columns * 4 * semiring.words() / share).max(1);
        let asked = parameters.get(ROWS.name).map(|rows| rows as u64);
        let most = (table.sources.len().div_ceil(devices) as u64).max(1);
        // There is more than the rows.
        let batch_bytes = (available / 8).clamp(BATCH_BYTES, algorithm.batch_bytes);
        let plan_of = |rows: u64| {
            let parameters = &parameters;
            let task =
                SearchesTask { graph, semiring, parameters, rows, first: &[], targets, facts, hierarchy, metric: None };
            let mut plan = (algorithm.plan)(&task);
            if !facts {
                table.wanted(algorithm, graph, semiring, rows).plan(&mut plan);
            }
            plan
        };
        if let Some(rows) = asked {
            let rows = rows.clamp(1, most);
            let plan = plan_of(rows);
            return Batch { rows, parameters, plan };
        }
        let mut rows = (batch_bytes / row_bytes).clamp(WORTH_A_BATCH, MOST_ROWS).min(most);
        loop {
            // Searches that share their reads are best if they fill whole words.
            if rows > WORTH_A_BATCH && rows < most {
                rows -= rows % WORTH_A_BATCH;
            }
            let plan = plan_of(rows);
            if plan.device_bytes() <= available || rows == 1 {
                let even = even_share(table.sources.len() as u64, devices as u64, rows);
                let plan = if even == rows { plan } else { plan_of(even) };
                return Batch { rows: even, parameters, plan };
            }
            // If no row fits, nobody needs to know it of more.
            rows = if plan_of(1).device_bytes() <= available { rows / 2 } else { 1 };
        }
    }
}
