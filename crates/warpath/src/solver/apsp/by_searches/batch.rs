//! How many rows a batch of searches has, and what it takes.

use crate::algorithms::Parameters;
use crate::cuda::apsp::batched::ROWS;
use crate::cuda::apsp::searches::{BATCH_BYTES, SearchesAlgorithm, SearchesTask};
use crate::cuda::sssp::DeviceSemiring;
use crate::graph::Graph;
use crate::hierarchy::Hierarchy;
use crate::memory::available_memory;
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
    /// What is on the device, as one of the algorithm's layouts says it; empty for the first.
    pub(in crate::solver::apsp) layout: &'static str,
    pub(in crate::solver::apsp) plan: Plan,
    /// How many rows fit, before they are shared out evenly; `None` if not even one does.
    pub(super) fitting: Option<u64>,
}

impl Batch {
    /// As many rows as are asked for, or else as each of so many devices has its share of and fit this memory, but at least one. If too few fit to be worth a
    /// batch, an algorithm that can leave something to the host does so, if the host has room for it, and unless the caller has said where that is to be.
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
        let room = (devices, available);
        let [first, others @ ..] = &algorithm.layouts(graph.weight_kind(), parameters)[..] else {
            return Self::with(algorithm, parameters.clone(), graph, table, semiring, hierarchy, room);
        };
        let mut best = Self::with(algorithm, first.1.clone(), graph, table, semiring, hierarchy, room);
        for (layout, parameters) in others {
            if best.fitting >= Some(few) {
                break;
            }
            let batch = Self::with(algorithm, parameters.clone(), graph, table, semiring, hierarchy, room);
            // What fits nowhere is refused with the least that it would take.
            let is_better = batch.fitting > best.fitting || best.fitting.is_none();
            let on_host = batch.plan.memory_bytes().saturating_mul(devices as u64);
            if is_better && on_host <= available_memory() {
                best = Batch { layout, ..batch };
            }
        }
        best
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
        let asked = parameters.get(ROWS.name).map(|rows| (rows as u64).clamp(1, most));
        let usual = (batch_bytes / row_bytes).clamp(WORTH_A_BATCH, MOST_ROWS).min(most);
        let (rows, mut plan) = match asked {
            Some(rows) => (rows, plan_of(rows)),
            None => as_many_as_fit(usual, most, available, plan_of),
        };
        let fitting = (plan.device_bytes() <= available).then_some(rows);
        let even = even_share(table.sources.len() as u64, devices as u64, rows);
        let rows = if asked.is_none() && even != rows {
            plan = plan_of(even);
            even
        } else {
            rows
        };
        Batch { rows, parameters, layout: "", plan, fitting }
    }
}

/// As many rows as fit the memory, up to this `usual` number, and their plan; one, if none fits. All that are wanted are `most`.
fn as_many_as_fit(usual: u64, most: u64, available: u64, plan_of: impl Fn(u64) -> Plan) -> (u64, Plan) {
    // Searches that share their reads are best if they fill whole words.
    let whole_words = |rows: u64| if rows > WORTH_A_BATCH && rows < most { rows - rows % WORTH_A_BATCH } else { rows };
    let mut rows = whole_words(usual);
    let mut plan = plan_of(rows);
    if plan.device_bytes() <= available || rows == 1 {
        return (rows, plan);
    }
    let one = plan_of(1);
    let Some(left) = available.checked_sub(one.device_bytes()) else { return (1, one) };
    // Rows take about as much each.
    let each = (plan.device_bytes().saturating_sub(one.device_bytes()) / (rows - 1)).max(1);
    rows = whole_words((1 + left / each).min(rows - 1));
    loop {
        plan = plan_of(rows);
        if plan.device_bytes() <= available || rows == 1 {
            return (rows, plan);
        }
        rows = whole_words((rows - rows.div_ceil(16)).max(1));
    }
}
