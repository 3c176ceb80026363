//! How long all-pairs shortest paths are predicted to take on each engine: what `auto` decides by. The bench prints what is
//! predicted beside what is measured.

use super::{Table, by_searches, has_exact_floats, on_cuda};
use crate::Engine;
use crate::algorithms::Parameters;
use crate::cuda::apsp::strips::Room;
use crate::cuda::apsp::{self as cuda, ApspAlgorithm, Cell, MatrixAlgorithm, batched, johnson, tiled_floyd_warshall};
use crate::cuda::bfs::many_sources;
use crate::graph::{Graph, WeightKind};
use crate::solver::place::{COPYING, OPENING};
use crate::solver::{Solver, sssp};

/// Seconds of one thread of the CPU for a relaxation, for an arc and a source of a weighted graph, and of one without
/// weights.
const CPU_RELAXATION: f64 = 0.02e-9;
const CPU_ARC: f64 = 0.8e-9;
const CPU_UNIT_ARC: f64 = 0.1e-9;

/// What an algorithm of the CPU is predicted to take in seconds: one on the matrix, and one by searches.
pub(super) fn on_cpu(solver: &Solver<'_>, table: &Table) -> [f64; 2] {
    let graph = solver.graph;
    let (vertices, sources) = (graph.vertices() as f64, table.sources.len() as f64);
    let threads = solver.team.threads() as f64;
    let of_arc = if graph.weight_kind() == WeightKind::Unit { CPU_UNIT_ARC } else { CPU_ARC };
    [vertices.powi(3) * CPU_RELAXATION / threads, sources * (graph.arcs() as f64 + vertices) * of_arc / threads]
}

/// What an algorithm is predicted to keep a device busy for, in seconds.
pub(super) fn on_device(algorithm: &ApspAlgorithm, parameters: &Parameters, graph: &Graph, sources: usize) -> f64 {
    match algorithm {
        ApspAlgorithm::OnMatrix(algorithm) => on_matrix(algorithm, parameters, graph),
        ApspAlgorithm::BySearches(algorithm)
            if [batched::ALGORITHM.info.name, johnson::ALGORITHM.info.name].contains(&algorithm.info.name) =>
        {
            in_batches(parameters, graph, sources)
        }
        ApspAlgorithm::BySearches(_) => {
            /// Arcs that one search after another looks at in a second, and what each takes at least.
            const ARCS: f64 = 1e9;
            const SEARCH: f64 = 400e-6;
            sources as f64 * (SEARCH + graph.arcs() as f64 / ARCS)
        }
    }
}

/// Relaxations of all triples of vertices; stages, whose diagonals follow each other, go on beside them, and are what there
/// is to wait for where matrices are small.
fn on_matrix(algorithm: &MatrixAlgorithm, parameters: &Parameters, graph: &Graph) -> f64 {
    /// Seconds of a stage.
    const STAGE: f64 = 75e-6;
    let cell = on_cuda::first_cell(algorithm, parameters, graph);
    let rate = match cell {
        Cell::U16 => 28.9e12,
        Cell::U32 | Cell::I32 => 14.9e12,
        Cell::F32 if graph.has_negative_weights() => 11.2e12,
        Cell::F32 => 14e12,
        Cell::I64 => 2.8e12,
        Cell::F64 => 3.8e12,
    };
    let vertices = graph.vertices() as f64;
    // Rates of the papers' algorithms, in 32 bits, beside that. A thread that has a row takes as long for each of its
    // relaxations however many threads there are, until the memory has enough to do.
    let by_rows = (vertices / 35e-9).min(0.5e12);
    let others = [("blocked-floyd-warshall", 2.2e12), ("floyd-warshall", 0.4e12), ("floyd-warshall-rows", by_rows)];
    let relaxations = vertices.powi(3);
    match others.iter().find(|(name, _)| *name == algorithm.info.name) {
        Some((_, rate)) => relaxations / rate * cell.bytes() as f64 / 4.0,
        None => {
            let stages = graph.vertices().div_ceil(if cell.bytes() == 8 { 64 } else { 128 }) as f64;
            (relaxations / rate).hypot(stages * STAGE)
        }
    }
}

fn in_batches(parameters: &Parameters, graph: &Graph, sources: usize) -> f64 {
    match graph.weight_kind() {
        WeightKind::Unit => many_sources::seconds_on_device(graph, parameters, sources),
        _ => sssp::seconds_together(graph, sources),
    }
}

/// An algorithm of the CUDA engine that may be picked, and what is predicted of it.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) algorithm: &'static ApspAlgorithm,
    /// Seconds on the device, with all copies but without opening it.
    pub(super) seconds: f64,
    /// Bytes of the device's memory.
    pub(super) bytes: u64,
}

/// What can be picked for a request, with what each is predicted to take, the quickest first.
pub(super) fn candidates(solver: &Solver<'_>, table: &Table, available: u64) -> Vec<Candidate> {
    let graph = solver.graph;
    let may_be_picked = |algorithm: &&ApspAlgorithm| {
        let name = algorithm.info().name;
        if name == tiled_floyd_warshall::ALGORITHM.info.name {
            return !has_exact_floats(graph);
        }
        let signed = graph.has_negative_weights();
        let by_batches = if signed { johnson::ALGORITHM.info.name } else { batched::ALGORITHM.info.name };
        name == by_batches && (!signed || graph.weight_kind() == WeightKind::I32)
    };
    let picked = cuda::ALGORITHMS.iter().filter(may_be_picked);
    let mut candidates: Vec<Candidate> =
        picked.map(|algorithm| candidate(algorithm, &Parameters::default(), solver, table, available)).collect();
    candidates.sort_by(|a, b| a.seconds.total_cmp(&b.seconds));
    candidates
}

/// What is predicted of an algorithm.
pub(super) fn candidate(
    algorithm: &'static ApspAlgorithm,
    parameters: &Parameters,
    solver: &Solver<'_>,
    table: &Table,
    available: u64,
) -> Candidate {
    let graph = solver.graph;
    let vertices = graph.vertices() as f64;
    let work = on_device(algorithm, parameters, graph, table.sources.len());
    let back = if table.facts { 0.0 } else { table.cells() as f64 * table.distance_bytes as f64 / COPYING };
    let (seconds, plan) = match algorithm {
        ApspAlgorithm::OnMatrix(algorithm) => {
            let there = vertices * vertices * on_cuda::first_cell(algorithm, parameters, graph).bytes() as f64;
            // Facts come from rows on the host.
            let back = table.cells() as f64 * table.distance_bytes as f64 / COPYING;
            // Beyond the device's memory it takes that of the host, and is worked on only where a GPU is asked for.
            let device_bytes = if matches!(solver.engine, Engine::Cuda(_)) { available } else { u64::MAX };
            let room = Room { devices: 1, device_bytes, host_bytes: u64::MAX, multiprocessors: 1 };
            let plan = on_cuda::plan_matrix(algorithm, parameters, graph, &room, None, table.successors_of());
            (there / COPYING + work + back, plan.unwrap_or_default())
        }
        // Rows come back while others are searched for.
        ApspAlgorithm::BySearches(algorithm) => {
            let there = 8.0 * (graph.arcs() as f64 + vertices);
            let plan = by_searches::device_plan(algorithm, parameters, graph, table, available);
            (there / COPYING + work.max(back), plan)
        }
    };
    Candidate { algorithm, seconds, bytes: plan.device_bytes() }
}

/// The quickest for a request that fits; `None` if none does.
pub(super) fn quickest(solver: &Solver<'_>, table: &Table, available: u64) -> Option<Candidate> {
    candidates(solver, table, available).into_iter().find(|candidate| candidate.bytes <= available)
}

/// What opening the device takes, unless it is open.
pub(super) fn opening(solver: &Solver<'_>) -> f64 {
    if solver.cuda().is_open() { 0.0 } else { OPENING }
}
